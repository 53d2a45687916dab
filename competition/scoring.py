"""Score submissions with a metric file: on the whole solution, and on its Public and Private parts."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from competition.errors import HostError, SubmissionRejected, ToolError, UsageError
from competition.files import read_csv
from competition.metric_file import Metric, errors_explained, text_columns

__all__ = [
    "ALL",
    "PARTS",
    "Prepared",
    "Result",
    "evaluate",
    "prepare",
    "read_solution",
    "read_submission",
]

USAGE = "Usage"
ALL = "All"
PARTS = ("Public", "Private")
IGNORED = "Ignored"


class Prepared(NamedTuple):
    """A solution, as a whole and part by part, ready to score submissions against.

    Attributes
    ----------
    metric : the metric file
    arguments : dict, the keyword arguments of its `score`
    solutions : dict of part to frame, or to what the metric's `prepare` made of it
    row_ids : dict of part to the texts of its row ids; empty where rows are free
    """

    metric: Metric
    arguments: dict[str, Any]
    solutions: dict[str, Any]
    row_ids: dict[str, set[str]]


class Result(NamedTuple):
    """What scoring gave, by part.

    Attributes
    ----------
    scores : dict of part to float
    evaluations : dict of part to what the metric's `evaluate` returned; empty where it has none
    """

    scores: dict[str, float]
    evaluations: dict[str, Any]


def read_solution(metric: Metric, path: str | Path, parameters: dict[str, Any]) -> pd.DataFrame:
    """Read a solution by the metric file's own reader for this kind of file, else as CSV."""
    return _read(metric, "read_solution", path, parameters, HostError)


def read_submission(metric: Metric, path: str | Path, parameters: dict[str, Any]) -> pd.DataFrame:
    """Read a submission by the metric file's own reader for this kind of file, else as CSV."""
    return _read(metric, "read_submission", path, parameters, SubmissionRejected)


def _read(
    metric: Metric,
    reader: str,
    path: str | Path,
    parameters: dict[str, Any],
    error: type[ToolError],
) -> pd.DataFrame:
    path = Path(path)
    if path.name.endswith((".csv", ".csv.gz")) or not hasattr(metric, reader):
        return read_csv(path, text_columns(metric, parameters), error)
    if not path.exists():
        raise UsageError(f"cannot read {path}: No such file or directory")
    with errors_explained():
        frame: pd.DataFrame = getattr(metric, reader)(path)
    return frame


def rows_of_parts(solution: pd.DataFrame) -> dict[str, npt.NDArray[np.bool_]]:
    """Which rows of a solution make up which part.

    Returns
    -------
    dict of str to (n,) bool
        Under "All" every row but the ignored ones; under "Public" and "Private" the rows of each, where
        the solution has ``Usage`` and the part has rows.

    Raises
    ------
    HostError
        ``Usage`` has another value.
    """
    if USAGE not in solution:
        return {ALL: np.ones(len(solution), dtype=bool)}
    codes, values = pd.factorize(solution[USAGE])
    names = np.array([*values, "missing"], dtype=object)  # code -1 is the last
    unknown = ~np.isin(names, [*PARTS, IGNORED])[codes]
    if unknown.any():
        row = int(unknown.argmax())
        raise HostError(
            f"{USAGE} is {names[codes[row]]!r} in row number {row + 1} of the solution; "
            f"expected {', '.join(PARTS)} or {IGNORED}"
        )
    parts = {part: (names == part)[codes] for part in PARTS}
    return {ALL: (names != IGNORED)[codes]} | {part: rows for part, rows in parts.items() if rows.any()}


def prepare(metric: Metric, solution: pd.DataFrame, parameters: dict[str, Any]) -> Prepared:
    """Prepare a solution and its parts, to score many submissions.

    Parameters
    ----------
    metric : a module as `competition.metric_file.load` returns it
    solution : DataFrame
        Kaggle removes its column ``Usage`` before it calls the metric, and so does this.
    parameters : keyword arguments for `score`
        Without ``row_id_column_name``, the first column of the solution is the row id.

    Raises
    ------
    HostError
    """
    if not len(solution.columns):
        raise HostError("the solution has no columns")
    arguments = {"row_id_column_name": str(solution.columns[0])} | parameters
    parts = rows_of_parts(solution)
    rows = solution.drop(columns=USAGE, errors="ignore")
    solutions: dict[str, Any] = {}
    if hasattr(metric, "prepare"):
        with errors_explained():
            whole = metric.prepare(rows, **arguments)
            solutions = {part: whole if mask.all() else whole.part(mask) for part, mask in parts.items()}
    else:
        solutions = {part: rows[mask] for part, mask in parts.items()}
    ids = {}
    row_id = arguments["row_id_column_name"]
    if not getattr(metric, "FREE_ROWS", False) and row_id in rows:
        ids = {part: set(rows.loc[mask, row_id].astype(str)) for part, mask in parts.items() if part != ALL}
    return Prepared(metric, arguments, solutions, ids)


def evaluate(prepared: Prepared, submission: pd.DataFrame) -> Result:
    """Score a submission against every part.

    Raises
    ------
    SubmissionRejected, HostError
    """
    metric, arguments, solutions, row_ids = prepared
    if getattr(metric, "FREE_ROWS", False) and hasattr(metric, "prepare"):
        with errors_explained():
            submission = solutions[ALL].read(submission)
    scores: dict[str, float] = {}
    evaluations: dict[str, Any] = {}
    for part, solution in solutions.items():
        rows = submission
        if part in row_ids and arguments["row_id_column_name"] in submission:
            rows = submission[submission[arguments["row_id_column_name"]].astype(str).isin(row_ids[part])]
        with errors_explained():
            if hasattr(metric, "prepare"):
                evaluations[part] = solution.evaluate(rows)
            elif hasattr(metric, "evaluate"):
                evaluations[part] = metric.evaluate(solution, rows, **arguments)
            else:
                scores[part] = metric.score(solution, rows, **arguments)
    return Result(scores or {part: evaluation.score for part, evaluation in evaluations.items()}, evaluations)
