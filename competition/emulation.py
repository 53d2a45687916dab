"""What Kaggle would do with a submission, and show of it, as far as is known.

Kaggle reads both files with pandas, checks the rows, splits them by ``Usage`` and calls `score` for the
Public and for the Private part.  Participants see the text of an exception whose class is named
``ParticipantVisibleError``; anything else looks the same to them: `UNEXPECTED`.
"""

import csv
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from competition.errors import HostError, SubmissionRejected, ToolError, UsageError
from competition.fresh import read_source, run_fresh
from competition.scoring import ALL, USAGE, rows_of_parts

__all__ = ["UNEXPECTED", "PartScore", "emulate", "read_as_kaggle"]

UNEXPECTED = "Evaluation metric raised an unexpected error"


class PartScore(NamedTuple):
    """What one call of `score` gave.

    Attributes
    ----------
    part : "Public" or "Private"; "All" where the solution has no ``Usage``
    score : float
    seconds : float, wall time of the call
    memory, memory_before : int, bytes
        Peak of the process, and what of it Python, the libraries and the two frames took.
    """

    part: str
    score: float
    seconds: float
    memory: int
    memory_before: int


def emulate(
    path: Path,
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    arguments: dict[str, Any],
    free_rows: bool = False,
) -> list[PartScore]:
    """Score a submission as Kaggle would, every part in a fresh process.

    Parameters
    ----------
    path : the metric file
    solution, submission : DataFrame, as `read_as_kaggle` reads them
    arguments : dict
        The further arguments of `score`, ``row_id_column_name`` among them.
    free_rows : bool
        The competition lets submissions have other rows than the solution.  Then every part is scored
        with the whole submission, else with the rows whose ids are the part's.

    Raises
    ------
    SubmissionRejected
        With the text that the participant would see.
    HostError
        With what the participant would see in the first line, and below what only the host sees.
    """
    source = read_source(path)
    row_id = arguments["row_id_column_name"]
    if row_id not in solution:
        raise HostError(f"the solution has no column {row_id}; it has {', '.join(map(str, solution.columns))}")
    check_rows(solution, submission, row_id, free_rows)
    parts = rows_of_parts(solution)
    named = [part for part in parts if part != ALL] or [ALL]
    scores = []
    for part in named:
        rows = solution[parts[part]].drop(columns=USAGE, errors="ignore").reset_index(drop=True)
        theirs = submission if free_rows else submission[submission[row_id].isin(rows[row_id])]
        answer = run_part(source, rows, theirs.reset_index(drop=True), arguments)
        scores.append(PartScore(part, **answer))
    return scores


def read_as_kaggle(path: Path, error: type[ToolError]) -> pd.DataFrame:
    """Read a CSV file with pandas' defaults: the text "NA" is missing, and "0012" is the number 12."""
    try:
        return pd.read_csv(path, low_memory=False)
    except OSError as problem:
        if path.is_file() and not problem.errno:
            raise error(f"{path} is not a CSV table: {problem}") from None
        raise UsageError(f"cannot read {path}: {problem.strerror}") from None
    except (ValueError, EOFError, csv.Error, zlib.error) as problem:
        raise error(f"{path} is not a CSV table: {' '.join(str(problem).split())}") from None


def check_rows(solution: pd.DataFrame, submission: pd.DataFrame, row_id: str, free_rows: bool) -> None:
    """Kaggle's own checks, with its texts.

    Raises
    ------
    SubmissionRejected
    """
    if row_id not in submission:
        raise SubmissionRejected(f"ID column {row_id} not found in submission")
    if not free_rows:
        if len(submission) != len(solution):
            raise SubmissionRejected(
                f"Submission has {len(submission)} rows but {len(solution)} were expected."
            )
        if sorted(map(str, submission[row_id])) != sorted(map(str, solution[row_id])):
            raise SubmissionRejected(f"Solution and submission values for {row_id} do not match")
    if submission.isna().to_numpy().any():
        raise SubmissionRejected("Submission contains null values")


def run_part(
    source: str, solution: pd.DataFrame, submission: pd.DataFrame, arguments: dict[str, Any]
) -> dict[str, Any]:
    """One call of `score` in a fresh process."""
    try:
        answer = run_fresh(
            "score", source=source, solution=solution, submission=submission, arguments=arguments
        )
    except HostError as problem:
        raise HostError(f"{UNEXPECTED}\nhost only: {problem}") from None
    if "error" not in answer:
        return answer
    if answer["error"] == "ParticipantVisibleError":
        raise SubmissionRejected(answer["text"])
    place = f" ({answer['place']})" if answer["place"] and answer["error"] != "HostVisibleError" else ""
    raise HostError(f"{UNEXPECTED}\nhost only: {answer['error']}: {answer['text']}{place}")
