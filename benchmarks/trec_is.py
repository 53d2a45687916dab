"""How fast are the TREC Incident Streams metrics, and do they stay linear in the tweets?

    python -m benchmarks.trec_is

Tweets, labels and runs are made up.  The track's own script took 2.0 s for 6,868 tweets and 4.5 s for 17,741,
on two cores of another machine; the literal transcription of the tests is timed in the same run instead.
"""

import tempfile
import warnings
from pathlib import Path

from benchmarks.measure import machine, print_table, seconds_of
from competition import metric_file
from tests import trec_is_data, trec_is_transcription

METRIC = metric_file.load(Path(__file__).parents[1] / "metrics" / "trec_is.py")
SIZES = ((6_868, 7), (17_741, 20), (100_000, 75), (1_000_000, 75))  # tweets, events
TRANSCRIBED = 20_000  # tweets that the transcription is asked to score at most
REPEATS = 5


def main() -> None:
    warnings.simplefilter("ignore", METRIC.UnlistedTypeWarning)
    print(machine())
    print_table(
        "Median seconds",
        [
            "tweets",
            "reading label and run file",
            "score()",
            "µs per tweet",
            "a further run, solution prepared",
            "literal transcription",
            "times score()",
        ],
        [time(tweets, events) for tweets, events in SIZES],
    )


def time(tweets: int, events: int) -> list[str]:
    """The row of a competition of this size."""
    solution, submission = trec_is_data.competition(tweets, events)
    with tempfile.TemporaryDirectory() as folder:
        labels, run = Path(folder, "labels.json"), Path(folder, "run.txt")
        labels.write_text(trec_is_data.label_file(solution), encoding="utf-8")
        run.write_text(trec_is_data.run_file(submission), encoding="utf-8")
        reading = seconds_of(lambda: (METRIC.read_solution(labels), METRIC.read_submission(run)), REPEATS)
    score = seconds_of(lambda: METRIC.score(solution, submission, "tweet_id"), REPEATS)
    prepared = METRIC.prepare(solution, "tweet_id")
    further = seconds_of(lambda: prepared.evaluate(submission), REPEATS)
    row = [f"{tweets:,}", f"{reading:.3f}", f"{score:.3f}", f"{1e6 * score / tweets:.1f}", f"{further:.3f}"]
    if tweets > TRANSCRIBED:
        return [*row, "", ""]
    slow = seconds_of(lambda: trec_is_transcription.evaluate(solution, submission))
    return [*row, f"{slow:.2f}", f"{slow / score:.0f}"]


if __name__ == "__main__":
    main()
