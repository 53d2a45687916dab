"""Make tables of a companion's explanation: what became of every row, and where points were lost."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted
from podium.contract import Explanation
from podium.errors import SubmissionRejected
from podium.scoring import Evaluation, Solution

__all__ = [
    "column",
    "groups_of_items",
    "points_by_cause",
    "points_by_item",
    "points_by_label",
    "ratio",
    "rows",
    "with_cure",
]

LONGEST_MESSAGE = 280  # of a rejection, in characters; longer ones are cut, as on Kaggle


def column(explanation: Explanation, role: str) -> str | None:
    """Find the column of an explanation's rows that has a role.

    Parameters
    ----------
    explanation : podium.contract.Explanation
        What a companion tells about a submission.
    role : {"item", "label", "outcome"}
        The role; see `podium.contract.Explanation`.

    Returns
    -------
    str or None
        The name of the column, or None if no column has that role.
    """
    name, table = explanation.roles.get(role), explanation.rows
    return name if name in table else None


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Divide element by element.

    Parameters
    ----------
    numerator, denominator : array-like of float
        Numbers whose shapes can be broadcast to one shape.

    Returns
    -------
    ndarray of float
        The quotients, in the common shape; NaN where the denominator is 0.

    Examples
    --------
    >>> ratio([1, 2], [0, 4])
    array([nan, 0.5])
    """
    a, b = np.broadcast_arrays(numerator, denominator)
    quotient = np.full(a.shape, np.nan)
    np.divide(a, b, out=quotient, where=b != 0)
    return quotient


def groups_of_items(evaluation: Evaluation) -> pd.DataFrame:
    """List the groups of each item.

    Parameters
    ----------
    evaluation : podium.scoring.Evaluation
        A scored submission.

    Returns
    -------
    DataFrame
        One row per item (the index) and one column per attribute, such as "ell_status". It has no columns if
        the metric knows no sub-populations.
    """
    prepared = evaluation.prepared
    columns = {prepared.labels[of[0]][0]: [prepared.labels[group][1] for group in of] for of in prepared.groups}
    columns.pop("(all)", None)
    return pd.DataFrame(columns, index=pd.Index(prepared.items))


def rows(evaluation: Evaluation) -> pd.DataFrame:
    """Tell what became of every row, with the groups of its item.

    Parameters
    ----------
    evaluation : podium.scoring.Evaluation
        A scored submission.

    Returns
    -------
    DataFrame
        The rows of the explanation, then those of its levels, and a column for each attribute. If the
        explanation already has a column of the attribute's name, the new one is called "ATTRIBUTE of ITEM".
    """
    explanation = evaluation.explanation
    table: pd.DataFrame = explanation.rows
    item = column(explanation, "item")
    for level, values in explanation.details.items():
        table = pd.concat([table, values.assign(level=level)], ignore_index=True)
    if item is None:
        return table
    groups = groups_of_items(evaluation)
    groups = groups.rename(columns={name: f"{name} of {item}" for name in groups if name in table})
    return table.join(groups, on=item)


def with_cure(solution: Solution, submission: pd.DataFrame, problem: SubmissionRejected) -> SubmissionRejected:
    """Add to a rejection what to write instead, if the metric's companion knows it.

    The metric's own message never tells anything about the solution. The added sentence may do so, so the
    result is only for people who have the solution.

    Parameters
    ----------
    solution : podium.scoring.Solution
        The solution against which the submission was to be scored.
    submission : DataFrame
        The submission that was rejected.
    problem : SubmissionRejected
        The metric's rejection.

    Returns
    -------
    SubmissionRejected
        The same rejection, or one that begins with what to write instead. It has at most 280 characters.
    """
    diagnose = solution.metric.companion.diagnose
    if diagnose is None:
        return problem
    with hosted.errors_explained(solution.metric, companion=True):
        cure = diagnose(solution, submission)
    if cure is None:
        return problem
    text = f"{cure}. The metric says: {problem}"
    return SubmissionRejected(text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 1]}…")


def points_by_cause(explanation: Any) -> pd.DataFrame:
    """Sum up the lost points by cause.

    Parameters
    ----------
    explanation : podium.contract.Explanation
        An explanation whose `losses` is not None.

    Returns
    -------
    DataFrame
        One row per cause, in descending order of the points lost. The columns are cause, points, rows (how many
        rows lost points by this cause) and share (of all points lost).
    """
    losses: pd.DataFrame = explanation.losses
    points = losses.sum()
    table = pd.DataFrame({"points": points, "rows": (losses != 0).sum(), "share": ratio(points, points.sum())})
    table = table.rename_axis("cause").reset_index()
    return table.sort_values("points", ascending=False, kind="stable", ignore_index=True)


def points_by_label(explanation: Any) -> pd.DataFrame:
    """Sum up the lost points by label and cause.

    Parameters
    ----------
    explanation : podium.contract.Explanation
        An explanation whose `losses` is not None and whose rows have a label.

    Returns
    -------
    DataFrame
        The points lost, with one row per label (the index) and one column per cause.
    """
    labels = explanation.rows[column(explanation, "label")]
    table: pd.DataFrame = explanation.losses.groupby(labels.to_numpy(), sort=False).sum()
    return table


def points_by_item(evaluation: Evaluation) -> "pd.Series[float]":
    """Sum up the lost points by item.

    Parameters
    ----------
    evaluation : podium.scoring.Evaluation
        A scored submission whose explanation has rows with an item and the column points_lost.

    Returns
    -------
    Series of float
        The points lost by each item (the index) of the solution, in descending order.
    """
    table = evaluation.explanation.rows
    points: pd.Series[float] = table.groupby(column(evaluation.explanation, "item"))["points_lost"].sum()
    points = points.reindex(evaluation.prepared.items, fill_value=0.0)
    return points.sort_values(ascending=False, kind="stable")
