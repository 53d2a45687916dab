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
from podium.common.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


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
    from podium.contest import reading, recorded
    from podium.tables.formats import check_table_name, read_table, write_table

    if options.out is not None:
        check_table_name(options.out)
    metric, given, _ = recorded.completed(options.solution, "unified", options.set)
    notices: list[str] = []
    if options.thresholds is not None:
        thresholds = read_table(options.thresholds, set(), UsageError)
    else:
        thresholds, notices, given = _tuned(metric, given, options)
    told = None if options.out is None else f"written to {options.out}"
    if options.apply is not None and options.out is not None:
        candidates = reading.read_submission(metric, options.apply, given)
        submission, of_submission = _applied(metric, given, thresholds, candidates, options.effectiveness)
        write_table(submission, options.out)
        notices += of_submission
        told = f"{told}: {len(submission):,} segments"
    elif options.out is not None:
        write_table(thresholds, options.out)
    if told is not None and not options.json:
        print(told)
    console.warn(notices)


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


def _tuned(
    metric: Any, given: dict[str, Any], options: Options
) -> tuple["pd.DataFrame", list[str], dict[str, Any]]:
    """Find the thresholds and print them; return them with the warnings, unless these were printed as JSON, and
    with the arguments of ``score``.
    """
    from podium.cli import console
    from podium.contest import pipeline, reading
    from podium.metric import hosted
    from podium.spans import tuning

    assert options.solution is not None
    assert options.predictions is not None
    solution = pipeline.opened(metric, options.solution, given, submission=options.predictions)
    candidates = reading.read_submission(metric, options.predictions, solution.arguments)
    tuned = tuning.tune(solution, candidates, options.folds, options.seed, effectiveness=options.effectiveness)
    notices = [*solution.notices, *tuned.notices]
    signature = hosted.signature(metric, solution.arguments, tuned.further)
    if options.json:
        names = ("before", "searches", "folds", "comparison", "thresholds")
        values = {name: getattr(tuned, name) for name in names}
        console.print_json(values | {"signature": signature, "warnings": notices})
        return tuned.thresholds, [], solution.arguments
    print(tuned)
    if len(tuned.searches) > 1:
        console.print_table("Searches", tuned.searches)
    console.print_table(f"Nested against before, {options.folds} folds, seed {options.seed}", tuned.comparison)
    console.print_table("Folds, each with the thresholds found on the others", tuned.folds)
    console.print_table("Thresholds", tuned.thresholds)
    print("\nFor the notebook, in the order of podium.spans.select:\n")
    for name, value in tuned.options.items():
        print(f"{name.upper()} = {value}")
    print(f"\n{signature}")
    return tuned.thresholds, notices, solution.arguments


def _applied(
    metric: Any,
    parameters: dict[str, Any],
    thresholds: "pd.DataFrame",
    candidates: "pd.DataFrame",
    probability: float | None,
) -> tuple["pd.DataFrame", list[str]]:
    """Make the submission of the other candidates."""
    from podium.spans.tuning import applied

    row_id = parameters.get("row_id_column_name", "row_id")
    candidates, notices = metric.companion.recognize(candidates, row_id, probability)
    essay_id = parameters.get("essay_id_column_name", "essay_id")
    submission, gone = applied(thresholds, candidates, essay_id)
    return submission.rename(columns={"row_id": row_id}), [*notices, *gone]
