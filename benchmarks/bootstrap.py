"""How long do intervals and the comparison of two submissions take, beside the scoring?

    python -m benchmarks.bootstrap [FOLDER]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair; without it, made-up
essays of the same number and size are scored.  The other submission lacks a tenth of the rows.
"""

import sys
import warnings
from pathlib import Path

import metric
from benchmarks.measure import machine, print_table, seconds_of
from competition import bootstrap, compare
from competition.errors import HostError
from competition.files import read_csv
from tests.essays import make_competition

REAL_ESSAYS = 15_594
RESAMPLES = 1000
REPEATS = 5


def main(folder: Path | None) -> None:
    warnings.simplefilter("ignore", metric.TruthOverlapWarning)
    if folder is None:
        solution, submission = make_competition(REAL_ESSAYS)
    else:
        solution, submission = (
            read_csv(folder / f"{name}.csv.gz", {"essay_id", *metric.TEXT_COLUMNS}, HostError)
            for name in ("solution", "submission")
        )
    prepared = metric.prepare(solution, "row_id")
    evaluation = prepared.evaluate(submission)
    other = prepared.evaluate(submission.sample(frac=0.9, random_state=0))
    items = len(evaluation.items)
    weights = bootstrap.draw(items, RESAMPLES, 0)
    work = {
        "score()": lambda: metric.score(solution, submission, "row_id"),
        "the draws": lambda: bootstrap.draw(items, RESAMPLES, 0),
        "the measures on the draws": lambda: bootstrap.measures(evaluation, weights),
        "--bootstrap: draws, measures, intervals": lambda: compare.intervals(evaluation, RESAMPLES),
        "--compare: both submissions, swaps, p-values": lambda: compare.compare(evaluation, other, RESAMPLES),
    }
    rows = [(name, seconds_of(part, REPEATS)) for name, part in work.items()]
    print(machine())
    print_table(
        f"{RESAMPLES:,} resamples of {items:,} essays, median seconds of {REPEATS}",
        ["work", "seconds", "times score()"],
        [[name, f"{seconds:.2f}", f"{seconds / rows[0][1]:.2f}"] for name, seconds in rows],
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
