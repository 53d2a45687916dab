"""How much faster is one row per essay?

    python -m benchmarks.packed [FOLDER]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair; without it, made-up
essays of the same number and size are scored.  Both formats hold the same segments; the probabilities once
with four digits and once with all that a float has.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import metric
from benchmarks.measure import machine, print_table, seconds_of
from competition.errors import HostError
from competition.files import read_csv
from competition.row_formats import pack
from tests.essays import make_competition

ESSAYS = 15_594
REPEATS = 15

Frames = tuple[pd.DataFrame, pd.DataFrame]


def main(folder: Path | None) -> None:
    warnings.simplefilter("ignore", metric.TruthOverlapWarning)
    if folder is None:
        solution, submission = make_competition(ESSAYS)
    else:
        solution, submission = (
            read_csv(folder / f"{name}.csv.gz", {"essay_id", *metric.TEXT_COLUMNS}, HostError)
            for name in ("solution", "submission")
        )
    print(machine())
    print(f"{len(solution):,} true and {len(submission):,} predicted segments")
    rows = []
    for digits, frame in (("4", submission), ("all", with_all_digits(submission))):
        long, short = (solution, frame), (pack(solution)[0], pack(frame)[0])
        assert metric.score(*long, "row_id") == metric.score(*short, "essay_id")
        of_long, of_short = seconds_in_turns(long, short)
        rows.append(["one row per segment", digits, f"{of_long:.3f}", "1.00"])
        rows.append(["one row per essay", digits, f"{of_short:.3f}", f"{of_short / of_long:.2f}"])
    print_table("score() on frames, median seconds", ["format", "digits of d[1]", "seconds", "times"], rows)


def seconds_in_turns(long: Frames, short: Frames) -> tuple[float, float]:
    """Median seconds of score() on either format; in turns, so that a slow spell of the machine hits both."""
    times = [
        (
            seconds_of(lambda: metric.score(*long, "row_id")),
            seconds_of(lambda: metric.score(*short, "essay_id")),
        )
        for _ in range(REPEATS)
    ]
    of_long, of_short = np.median(times, axis=0).tolist()
    return of_long, of_short


def with_all_digits(submission: pd.DataFrame) -> pd.DataFrame:
    random = np.random.default_rng(0)
    d1 = random.random(len(submission))
    return submission.assign(**dict(zip(metric.PROBABILITY_COLUMNS, (1 - d1, d1))))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
