"""How fast are the TREC Incident Streams metrics, and do they stay linear in the tweets?

    python -m benchmarks.trec_is

Tweets, labels and runs are made up.  The track's own script took 2.0 s for 6,868 tweets and 4.5 s for 17,741 as
a process, on two cores of another machine; the literal transcription of the tests is timed in the same run.
"""

import sys
import tempfile
import warnings
from pathlib import Path

from benchmarks.measure import machine, print_table, seconds_of, seconds_of_processes
from podium import hosted
from podium.companions import trec_is as companion
from tests.support import trec_is_data, trec_is_transcription

SIZES = ((6_868, 7), (17_741, 20), (100_000, 75), (400_000, 75))  # tweets, events
COMPARED = 20_000  # tweets that the transcription is asked to score at most
REPEATS = 3

trec_is = hosted.module("trec_is")


def main() -> None:
    warnings.simplefilter("ignore", companion.OfficialFileWarning)
    print(machine())
    header = [
        *("tweets", "podium score, a process", "import pandas, a process", "reading label and run file"),
        *("score()", "µs per tweet", "a further run, solution prepared", "explained", "literal transcription"),
    ]
    print_table("Median seconds", header, [time(tweets, events) for tweets, events in SIZES])


def time(tweets: int, events: int) -> list[str]:
    """The row of a competition of this size."""
    solution, submission = trec_is_data.competition(tweets, events)
    with tempfile.TemporaryDirectory() as folder:
        labels, run = Path(folder, "labels.json"), Path(folder, "run.txt")
        labels.write_text(trec_is_data.label_file(solution), encoding="utf-8")
        run.write_text(trec_is_data.run_file(submission), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "podium",
            "score",
            "--metric",
            "trec_is",
            "--bare",
            str(labels),
            str(run),
        ]
        process, pandas = seconds_of_processes([command, [sys.executable, "-c", "import pandas"]], REPEATS)
        reading = seconds_of(lambda: (companion.read_solution(labels), companion.read_submission(run)), REPEATS)
    score = seconds_of(lambda: trec_is.score(solution, submission, "tweet_id"), REPEATS)
    prepared = trec_is.prepare(solution, "tweet_id")
    further = seconds_of(lambda: prepared.statistics(submission), REPEATS)
    numbers = prepared.statistics(submission)
    explained = seconds_of(lambda: companion.explain(trec_is, prepared, submission, numbers).rows, REPEATS)
    row = [f"{tweets:,}", f"{process:.2f}", f"{pandas:.2f}", f"{reading:.3f}", f"{score:.3f}"]
    row += [f"{1e6 * score / tweets:.1f}", f"{further:.3f}", f"{explained:.3f}"]
    if tweets > COMPARED:
        return [*row, ""]
    return [*row, f"{seconds_of(lambda: trec_is_transcription.evaluate(solution, submission)):.2f}"]


if __name__ == "__main__":
    main()
