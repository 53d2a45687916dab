"""How fast are the TREC Incident Streams metrics, and do they stay linear in the tweets?

    python -m benchmarks.trec_is

Tweets, labels and runs are made up. The literal transcription of the tests is timed in the same run. As a
process on two cores of another machine, the track's own script took 2.0 s for 6,868 tweets and 4.5 s for
17,741.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.measure import machine, print_table, processor_seconds
from podium.metric import hosted
from podium.scoring import evaluating
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
    evaluation = evaluating.evaluate(evaluating.prepare(loaded, solution, {}), submission)
    with tempfile.TemporaryDirectory() as folder:
        labels, run = official_files(Path(folder), solution, submission)
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


def official_files(folder: Path, solution: pd.DataFrame, submission: pd.DataFrame) -> tuple[Path, Path]:
    """Write a solution as a label file and a submission as a run file."""
    names = {"tweet_id": "postID", "priority": "postPriority", "categories": "postCategories"}
    tweets = solution.assign(categories=solution["categories"].str.split()).rename(columns=names)
    events = [
        {"eventid": event, "tweets": of_event[[*names.values()]].to_dict("records")}
        for event, of_event in tweets.groupby("event_id", sort=False)
    ]
    lines = [
        f"{event}\tQ0\t{tweet}\t{rank}\t{priority}\t{json.dumps(categories.split())}\tsample\n"
        for tweet, event, rank, priority, categories in submission.to_numpy().tolist()
    ]
    labels, run = folder / "labels.json", folder / "run.txt"
    labels.write_text(json.dumps({"events": events}), encoding="utf-8")
    run.write_text("".join(lines), encoding="utf-8")
    return labels, run


def start(*arguments: str) -> None:
    """Run Python in a process of its own."""
    subprocess.run(
        [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


if __name__ == "__main__":
    main()
