"""What Kaggle would do with a submission, and show of it, as far as is known."""

import csv
import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium import hosted, scoring
from podium.errors import HostError, SubmissionRejected, ToolError, UsageError
from podium.files import csv_of, read_bytes
from podium.hosting import check, fresh, kernel, unloaded
from podium.hosting.folders import as_texts
from podium.hosting.judge import UNEXPECTED
from podium.scoring import ALL, USAGE


class PartScore(NamedTuple):
    """What the site would give for one part.

    Attributes
    ----------
    part : str
        "All" where the solution has no `Usage`.
    score : float
    seconds : float
        That `score` took.
    memory, memory_before : int or None
        The peak in bytes, and what Python, the libraries and the tables took before; None where the system does
        not tell.
    """

    part: str
    score: float
    seconds: float
    memory: int | None
    memory_before: int | None


def emulate(
    metric: hosted.Metric,
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    arguments: dict[str, Any],
    complete_submission: bool,
) -> list[PartScore]:
    """Score every part in a process of its own, as the site does.

    Parameters
    ----------
    metric : Metric
        As `unloaded.metric` gives it.
    solution, submission : DataFrame
    arguments : dict
        Of `score`, ``row_id_column_name`` among them.
    complete_submission : bool
        Whether either part gets the whole submission.

    Raises
    ------
    SubmissionRejected
        With the text that participants would see.
    HostError
        Participants would see its first line alone.
    UsageError
        The metric needs a library that is not installed here.
    """
    source = fresh.read_source(metric.path)
    row_id = arguments["row_id_column_name"]
    if row_id not in solution:
        raise HostError(f"the solution has no column {row_id}; it has {', '.join(map(str, solution.columns))}")
    check_rows(solution, submission, row_id, complete_submission)
    if not complete_submission:
        submission = aligned(solution, submission, row_id)
    parts = scoring.rows_of_parts(solution)
    check_usage(metric, solution, submission, parts, arguments)
    seconds_left = fresh.TIME_LIMIT
    scores = []
    for part in [part for part in parts if part != ALL] or [ALL]:
        rows = solution[parts[part]].drop(columns=USAGE, errors="ignore")
        theirs = submission if complete_submission else submission[parts[part]]
        frames = {"solution": fresh.columns_of(rows), "submission": fresh.columns_of(theirs)}
        answer = run_part(seconds_left, source=source, arguments=arguments, **frames)
        scores.append(PartScore(part, **answer))
        seconds_left -= scores[-1].seconds
    return scores


def load(metric: str | Path) -> hosted.Metric:
    """Load a metric that may import Kaggle's helpers, for which a stand-in is there."""
    sys.modules.setdefault(kernel.UTILITIES, kernel.metric_utilities())
    return hosted.load(metric)


def read_solution(metric: hosted.Metric, path: Path) -> pd.DataFrame:
    """A solution as Kaggle reads it; an official file by the metric's companion."""
    official = metric.companion.read_solution
    return _read(None if official is None else scoring.read_solution, metric, path, HostError)


def read_submission(metric: hosted.Metric, path: Path) -> pd.DataFrame:
    """A submission as Kaggle reads it; an official file by the metric's companion."""
    official = metric.companion.read_submission
    return _read(None if official is None else scoring.read_submission, metric, path, SubmissionRejected)


def inputs(
    metric: str | Path,
    solution: Path,
    submission: Path,
    parameters: Callable[[hosted.Metric], dict[str, Any]],
) -> tuple[hosted.Metric, pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """What `emulate` takes, from paths; a stranger's metric file is read and not run.

    Parameters
    ----------
    metric : str or Path
        A file, a folder or a name.
    solution, submission : Path
    parameters : function of a Metric
        Gives the parameters of `score`.
    """
    unrun = unloaded.metric(hosted.find(metric))
    frames = read_solution(unrun, solution), read_submission(unrun, submission)
    arguments = {"row_id_column_name": str(frames[0].columns[0])}
    return unrun, *frames, arguments | parameters(unrun)


def _read(
    official: Callable[..., pd.DataFrame] | None, metric: hosted.Metric, path: Path, error: type[ToolError]
) -> pd.DataFrame:
    file: io.BytesIO | io.StringIO
    if official is not None and not path.name.endswith((".csv", ".csv.gz")):
        # The site gets it as CSV, in which a space stands for an empty text.
        file = io.StringIO(as_texts(official(metric, path, {})).to_csv(index=False))
    else:
        file = io.BytesIO(csv_of(read_bytes(path), str(path), error))
    try:
        return pd.read_csv(file, low_memory=False)
    except UnicodeDecodeError as problem:
        raise error(f"{path} is not UTF-8 text: {problem}") from None
    except (ValueError, csv.Error) as problem:
        raise error(f"{path} is not a CSV table: {' '.join(str(problem).split())}") from None


def check_rows(
    solution: pd.DataFrame, submission: pd.DataFrame, row_id: str, complete_submission: bool
) -> None:
    """Kaggle's own checks, which come before the metric; `SubmissionRejected` has its words."""
    if row_id not in submission:
        raise SubmissionRejected(f"ID column {row_id} not found in submission")
    if not complete_submission:
        given, expected = len(submission), len(solution)
        if given != expected:
            raise SubmissionRejected(f"Submission has {given} rows but {expected} were expected.")
        if sorted(map(str, submission[row_id])) != sorted(map(str, solution[row_id])):
            raise SubmissionRejected(f"Solution and submission values for {row_id} do not match")
    if submission.isna().to_numpy().any():
        raise SubmissionRejected("Submission contains null values")


def check_usage(
    metric: hosted.Metric,
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    parts: dict[str, Any],
    arguments: dict[str, Any],
) -> None:
    """No item is in several parts; a stranger's statistics keep to the contract."""
    if metric.prepare is None:
        return
    if not metric.is_own:
        slip = check.contract_slips(metric, solution, submission, arguments).get("slip")
        if slip:
            raise HostError(slip)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            prepared = metric.prepare(solution[parts[ALL]].drop(columns=USAGE, errors="ignore"), **arguments)
        except Exception:
            return  # `score` says it, too
    for part, rows in parts.items():
        scoring.items_of(prepared, rows[parts[ALL]], part)


def aligned(solution: pd.DataFrame, submission: pd.DataFrame, row_id: str) -> pd.DataFrame:
    """The submission's rows in the order of the solution's."""
    ids = solution[row_id].astype(str)
    if not ids.is_unique:
        raise HostError(
            f"{row_id}: expected one row per id in the solution, as Kaggle aligns by it. "
            f"{ids[ids.duplicated()].iloc[0]!r} is there twice: is it for --complete-submission?"
        )
    return submission.set_axis(submission[row_id].astype(str)).loc[ids.tolist()]


def run_part(seconds: float, **task: Any) -> dict[str, Any]:
    """The score of one part, with its time and memory."""
    try:
        answer = fresh.run_fresh("score", seconds=seconds, **task)
    except HostError as problem:
        raise HostError(f"{UNEXPECTED}\nhost only: {problem}") from None
    if "error" not in answer:
        return answer
    if answer["error"] == "ParticipantVisibleError":
        raise SubmissionRejected(answer["text"][: kernel.LONGEST_MESSAGE])
    if answer["library"]:
        library = answer["library"]
        raise UsageError(
            f"the metric needs {library}, which is not installed here: pip install it and try again"
        )
    line = f" ({answer['line']})" if answer["line"] else ""
    raise HostError(f"{UNEXPECTED}\nhost only: {answer['error']}: {answer['text']}{line}")
