"""How fast are the TREC Incident Streams metrics, and do they stay linear in the tweets?

    python -m benchmarks.trec_is

Tweets, labels and runs are made up.  The literal transcription of the tests is timed in the same run.  As a
process on two cores of another machine, the track's own script took 2.0 s for 6,868 tweets and 4.5 s for
17,741.
"""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from benchmarks.measure import machine, print_table, processor_seconds
from podium import hosted, scoring
from tests.support import trec_is_data, trec_is_transcription

SIZES = ((6_868, 7), (17_741, 20), (100_000, 75), (400_000, 75))  # tweets, events
COMPARED = 20_000  # the transcription scores at most this many tweets
REPEATS = 3

loaded = hosted.load("trec_is")
trec_is: Any = loaded.module
companion: Any = hosted.module("trec_is", "companion")


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", companion.OfficialFileWarning)
    print(machine())
    header = [
        *("tweets", "podium score, a process", "import pandas, a process", "reading label and run file"),
        *("score()", "a further run, solution prepared", "explained", "score(), µs per tweet"),
        "literal transcription",
    ]
    print_table(
        f"Least processor time of {REPEATS}, in seconds",
        header,
        [time(tweets, events) for tweets, events in SIZES],
    )


def time(tweets: int, events: int) -> list[str]:
    """Time everything on a competition of this size."""
    solution, submission = trec_is_data.competition(tweets, events)
    prepared = trec_is.prepare(solution, "tweet_id")
    evaluation = scoring.evaluate(scoring.prepare(loaded, solution, {}), submission)
    with tempfile.TemporaryDirectory() as folder:
        labels, run = Path(folder, "labels.json"), Path(folder, "run.txt")
        labels.write_text(trec_is_data.label_file(solution), encoding="utf-8")
        run.write_text(trec_is_data.run_file(submission), encoding="utf-8")
        arguments = ["-m", "podium", "score", "--metric", "trec_is", "--bare", str(labels), str(run)]
        work = [
            lambda: start(*arguments),
            lambda: start("-c", "import pandas"),
            lambda: (companion.read_solution(labels), companion.read_submission(run)),
            lambda: trec_is.score(solution, submission, "tweet_id"),
            lambda: prepared.statistics(submission),
            lambda: companion.Explanation(evaluation).rows,
        ]
        seconds = processor_seconds(work, REPEATS)
    row = [f"{tweets:,}", *(f"{taken:.3f}" for taken in seconds), f"{1e6 * seconds[3] / tweets:.1f}"]
    if tweets > COMPARED:
        return [*row, ""]
    [literal] = processor_seconds([lambda: trec_is_transcription.evaluate(solution, submission)], 1)
    return [*row, f"{literal:.2f}"]


def start(*arguments: str) -> None:
    """Run Python in a process of its own."""
    subprocess.run(
        [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


if __name__ == "__main__":
    main()
