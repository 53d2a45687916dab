"""Find the thresholds that maximize the metric on out-of-fold predictions, and apply them.

    podium tune solution.csv candidates.csv --out thresholds.csv
    podium tune solution.csv candidates.csv --apply others.csv --out submission.csv
    podium tune --thresholds thresholds.csv --apply others.csv --out submission.csv

PREDICTIONS has one row for each candidate segment, with the columns of a submission. A further column,
probability, says how sure the model is of it; the model must not have seen the essay. For the nested score, the
thresholds of each essay were found on other essays. It is what to expect for new essays.
"""

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from podium.cli import arguments
from podium.cli.arguments import OfParameters, not_negative, positive, probability
from podium.common.errors import SubmissionRejected, UsageError

if TYPE_CHECKING:
    import pandas as pd

    from podium.scoring.evaluating import Solution
    from podium.spans.tuning import Tuning


@dataclass(frozen=True)
class Options(OfParameters):
    """The options of ``podium tune``.

    Parameters
    ----------
    solution : SOLUTION
        The right answers: .csv, .csv.gz or .parquet.
    predictions : PREDICTIONS
        The candidate segments, in the same formats; - for standard input.
    apply : CANDIDATES
        Apply the thresholds to the candidates of other essays; --out is then their submission.
    out : CSV
        Write the thresholds into this CSV, one row for each type, or the submission of --apply.
    json : bool
        Print JSON instead of tables.

    Other Parameters
    ----------------
    thresholds : CSV
        Apply these thresholds, which an earlier --out wrote, instead of finding some: with --apply, and without
        SOLUTION and PREDICTIONS.
    folds : N
        How many folds the nested score has.
    effectiveness : P
        Give every segment this probability of effective, to tune the segmentation alone (default: what the
        candidates say).
    seed : SEED
        A number that decides what is drawn at random (default: 0).
    """

    solution: str | None = None
    predictions: str | None = None
    _: KW_ONLY
    apply: str | None = None
    out: str | None = None
    json: bool = False
    thresholds: str | None = None
    folds: Annotated[int, positive] = 5
    effectiveness: Annotated[float | None, probability] = None
    seed: Annotated[int, not_negative] = 0


def run(options: Options) -> None:
    """Find the thresholds, and print, write or apply them."""
    _check(options)

    from podium.cli import console
    from podium.common.wording import counted
    from podium.contest import pipeline, reading, recorded
    from podium.spans import tuning
    from podium.tables.formats import check_table_name, write_table

    if options.out is not None:
        check_table_name(options.out)
    metric, parameters, _ = recorded.completed(options.solution, "unified", options.set)
    known, others = None, None
    if options.solution is not None and options.predictions is not None:
        solution = pipeline.opened(metric, options.solution, parameters, submission=options.predictions)
        parameters = solution.arguments
        known = solution, reading.read_submission(metric, options.predictions, parameters)
    if options.apply is not None:  # before the search, which may take minutes
        candidates = reading.read_submission(metric, options.apply, parameters)
        try:
            others = tuning.Others.of(metric, parameters, candidates, options.effectiveness)
        except SubmissionRejected as problem:
            raise SubmissionRejected(f"{options.apply}: {problem}") from None
    table: Any = options.thresholds  # a file, or what is found
    notices, number = list[str](), ""
    if known is not None:
        table, notices = _tuned(*known, options)
    if others is not None:
        table, more = others.submission(table)
        notices, number = [*notices, *more], f": {counted(len(table), 'segment')}"
    if options.out is not None:
        write_table(table, options.out)
        if not options.json:
            print(f"written to {options.out}{number}")
    console.warn(notices)


def _tuned(
    solution: "Solution", predictions: "pd.DataFrame", options: Options
) -> tuple["pd.DataFrame", list[str]]:
    """Find the thresholds, print how good they are, and return them with the notices that are left to tell."""
    from podium.cli import console
    from podium.metric.parameters import signature_of
    from podium.spans import tuning

    how = options.folds, options.seed
    tuned = tuning.tune(solution, predictions, *how, effectiveness=options.effectiveness)
    signature = signature_of(solution.metric, solution.arguments, tuned.further)
    notices = [*solution.notices, *tuned.notices]
    if options.json:
        names = ("before", "searches", "folds", "comparison", "thresholds")
        values = {name: getattr(tuned, name) for name in names}
        console.print_json(values | {"signature": signature, "warnings": notices})
        return tuned.thresholds, []
    print_tuned(tuned, options)
    print(f"\n{signature}")
    return tuned.thresholds, notices


def _check(options: Options) -> None:
    """Check which arguments go together."""
    if options.thresholds is None and options.predictions is None:
        raise UsageError("name SOLUTION and PREDICTIONS, or give --thresholds with --apply")
    if options.thresholds is not None and (options.solution is not None or options.apply is None):
        raise UsageError("--thresholds needs --apply, and neither SOLUTION nor PREDICTIONS")
    if options.apply is not None and options.out is None:
        raise UsageError("--apply needs --out, the file for the submission")
    inputs = [options.solution, options.predictions, options.thresholds, options.apply]
    arguments.check_outputs([options.out], inputs)


def print_tuned(tuned: "Tuning", options: Options) -> None:
    """Print the scores, the tables, and the thresholds as a notebook takes them."""
    from podium.cli import console

    print(tuned)
    if len(tuned.searches) > 1:
        console.print_table("Searches", tuned.searches)
    console.print_table(f"Nested against before, {options.folds} folds, seed {options.seed}", tuned.comparison)
    console.print_table("Folds, each with the thresholds found on the others", tuned.folds)
    console.print_table("Thresholds", tuned.thresholds)
    print("\nFor the notebook, in the order of podium.spans.select:\n")
    for name, value in tuned.options.items():
        print(f"{name.upper()} = {value}")
