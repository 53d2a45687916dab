"""Which rows of a submission count against a solution, and in which order the metric gets them.

Each `solution` is one that `podium.scoring.evaluating.prepare` has made.
"""

from typing import Any

import numpy as np
import pandas as pd

from podium.common.arrays import Bools
from podium.common.errors import HostError, SubmissionRejected
from podium.tables import ids

__all__ = ["OTHER_ROWS", "aligned", "answers_for", "answers_to", "comparable", "names_of_rows"]

OTHER_ROWS = (
    "if submissions may have other rows than the solution, the metric file says COMPLETE_SUBMISSION = True"
)


def answers_for(solution: Any, submission: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Select the rows of a submission that count, and tell which ids the solution writes otherwise.

    Without statistics, they are in the order of the solution. Everybody who scores asks here, and nobody else
    looks for the ids of a submission.
    """
    submission, told = _with_known_ids(solution, submission)
    if not solution.prepared:
        return _rows_for(solution, submission), told
    if solution.metric.is_built_in or solution.metric.complete_submission:
        return answers_to(solution, submission, solution.counts), told
    # A custom metric's statistics get the same rows as its score.
    return solution.tables(submission)[1], told


def _with_known_ids(solution: Any, submission: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Write ids as the whole solution does, and leave out the answers to rows that it has lost."""
    whole = solution.frame if solution.narrowed_from is None else solution.narrowed_from
    columns = ids.columns_of(solution.arguments)
    known = ids.as_in(whole, submission, columns)
    told = ids.otherwise_written(submission, known, columns)
    return known if whole is solution.frame else _narrowed_alike(solution, whole, known), told


def comparable(solution: Any, submission: pd.DataFrame) -> pd.DataFrame:
    """A submission with known ids, without the answers to rows that this part of a solution lacks."""
    submission, _ = _with_known_ids(solution, submission)
    row_id = solution.arguments["row_id_column_name"]
    if not solution.is_one_part or list(submission).count(row_id) != 1 or row_id not in solution.frame:
        return submission
    known = ids.texts(submission[row_id]).isin(ids.texts(solution.frame[row_id]))
    return submission[known] if known.any() else submission


def _rows_for(solution: Any, submission: pd.DataFrame) -> pd.DataFrame:
    """Put a submission into the order of the solution, as platforms do before they call a metric.

    A metric without statistics needs all rows in this order. With ``COMPLETE_SUBMISSION`` it matches the rows
    itself.
    """
    if solution.metric.complete_submission:
        return submission
    row_id = solution.arguments["row_id_column_name"]
    _check_row_ids(solution, row_id)
    if solution.is_one_part and row_id in submission:
        submission = submission[ids.texts(submission[row_id]).isin(ids.texts(solution.frame[row_id]))]
    return aligned(solution.frame, submission, row_id)


def aligned(frame: pd.DataFrame, submission: pd.DataFrame, row_id: str) -> pd.DataFrame:
    """Put the rows of a submission into the order of a solution; tell the host what other rows need."""
    try:
        return ids.in_order(frame, submission, row_id)
    except SubmissionRejected as problem:
        if row_id in submission and sorted(ids.texts(frame[row_id])) != sorted(ids.texts(submission[row_id])):
            problem.for_host = OTHER_ROWS
        raise


def _check_row_ids(solution: Any, row_id: str) -> None:
    """Make sure that a solution has the column that names its rows."""
    if row_id not in solution.frame:
        columns = ", ".join(map(str, solution.frame.columns))
        raise HostError(f"the solution has no column {row_id}; it has {columns}")


def answers_to(solution: Any, submission: pd.DataFrame, rows: Bools) -> pd.DataFrame:
    """Select the rows of a submission that the metric gets for some rows of the solution, as Kaggle does."""
    row_id = solution.arguments["row_id_column_name"]
    is_clear = all(list(table.columns).count(row_id) == 1 for table in (solution.frame, submission))
    if solution.metric.complete_submission or rows.all() or not is_clear:
        return submission
    others = ids.texts(solution.frame[row_id])[~rows]
    answers: pd.DataFrame = submission[~ids.texts(submission[row_id]).isin(others)]
    return answers


def _narrowed_alike(solution: Any, everything: pd.DataFrame, submission: pd.DataFrame) -> pd.DataFrame:
    """Leave out answers to rows that a solution has lost, and keep those that answer no row at all."""
    row_id = solution.arguments["row_id_column_name"]
    # A metric that matches complete submissions by other ids, such as those of essays, names rows as it likes.
    others = [name for name in everything if name != row_id and solution.metric.complete_submission]
    column = next((name for name in [*others, row_id] if name in everything and name in submission), None)
    if column is None or list(submission.columns).count(column) > 1:
        return submission
    known, left = (set(ids.texts(table[column])) for table in (everything, solution.frame))
    narrower: pd.DataFrame = submission[~ids.texts(submission[column]).isin(known - left)]
    return narrower


def names_of_rows(solution: Any) -> "pd.Series[Any]":
    """Name the item of each row that counts: as its metric says, or each row by its id."""
    counts, row_id = solution.counts, solution.arguments["row_id_column_name"]
    if solution.prepared:
        prepared = solution.prepared["All"]
        items = np.array([*map(str, prepared.items)], dtype=object)[prepared.item_of_row]
        return pd.Series(items, index=solution.frame.index[counts])
    _check_row_ids(solution, row_id)
    names: pd.Series[Any] = ids.texts(solution.frame[row_id])[counts]
    return names
