"""Made-up teams with submissions to the sample solution: the example of `podium rank` and of boosts.

``python -m tests.support.teams`` writes the submissions and runtimes in notebooks/example/.

Most teams have one compressed file. One team has a folder with two files, one has no runtime, and the file of
one is rejected. Their predictions are the sample submission with some segments left out and the probabilities
changed. So, like real competitors, they find the same essays hard.
"""

import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from tests.support.essays import SUBMISSION_SAMPLE

EXAMPLE = Path("notebooks/example")
SUBMISSIONS, RUNTIMES = "submissions", "runtimes.csv"


class Team(NamedTuple):
    """A team with its files and its runtime.

    For each file there are two numbers from 0 to 1: the share of segments that it has, and how sure it is of
    their effectiveness. A certainty of 1 is that of the sample, and 0 is none. Then follow the runtime in
    seconds and the time of submission.
    """

    files: dict[str, tuple[float, float]]
    runtime: float | None
    submitted_at: str


TEAMS = {
    "Comma Splice": Team({"Comma Splice.csv.gz": (1.0, 1.3)}, 1460.0, "2024-03-04 09:12:45"),
    "Dangling Modifier": Team({"Dangling Modifier.csv.gz": (1.0, 1.0)}, 1180.0, "2024-03-05 21:40:02"),
    "Footnote": Team({"Footnote.csv.gz": (0.99, 1.2)}, 1265.5, "2024-03-05 23:58:31"),
    "Marginalia": Team({"Marginalia.csv.gz": (0.97, 1.1)}, None, "2024-03-01 07:30:00"),
    "Red Pen": Team({"Red Pen.csv.gz": (0.97, 1.0)}, 1090.0, "2024-03-03 18:05:19"),
    "Second Draft": Team(
        {"Second Draft/first.csv.gz": (0.8, 0.5), "Second Draft/second.csv.gz": (0.98, 1.1)},
        1320.0,
        "2024-03-05 16:20:10",
    ),
    "Topic Sentence": Team({"Topic Sentence.csv.gz": (0.9, 0.5)}, 720.0, "2024-02-27 11:11:11"),
    "Word Salad": Team({"Word Salad.csv.gz": (0.75, 0.0)}, 480.0, "2024-02-20 20:02:20"),
}
REJECTED = "Off by One.csv.gz"


def write_example(folder: Path, sample: pd.DataFrame) -> None:
    """Write the teams' submissions and runtimes."""
    files = {name: quality for team in TEAMS.values() for name, quality in team.files.items()}
    for seed, (name, (share, certainty)) in enumerate(files.items()):
        write_compressed(make_submission(sample, share, certainty, seed), folder / SUBMISSIONS / name)
    wrong = sample.copy()
    wrong.loc[3, "predictionstring"] = "12 13 15"
    write_compressed(wrong, folder / SUBMISSIONS / REJECTED)
    runtimes = pd.DataFrame(
        [(name, team.runtime, team.submitted_at) for name, team in TEAMS.items()],
        columns=["team", "runtime", "submitted_at"],
    )
    runtimes.to_csv(folder / RUNTIMES, index=False, lineterminator="\n")


def make_submission(sample: pd.DataFrame, share: float, certainty: float, seed: int) -> pd.DataFrame:
    """The predictions of a better or worse model, made from the sample submission."""
    kept = sample[np.random.default_rng(seed).random(len(sample)) < share]
    d1 = (0.5 + certainty * (kept["score_discourse_effectiveness_1"] - 0.5)).clip(0, 1).round(4)
    return kept.assign(score_discourse_effectiveness_0=(1 - d1).round(4), score_discourse_effectiveness_1=d1)


def write_compressed(frame: pd.DataFrame, path: Path) -> None:
    """Write a .csv.gz whose bytes do not depend on the time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = frame.to_csv(index=False, lineterminator="\n")
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    write_example(EXAMPLE, pd.read_csv(SUBMISSION_SAMPLE))
