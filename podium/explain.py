"""Tables from a companion's explanation: what became of every row, and where the points went."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

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


def column(explanation: Explanation, role: str) -> str | None:
    """The column of the explanation's rows that has a role: "item", "label" or "outcome"; None without one."""
    name, table = explanation.roles.get(role), explanation.rows
    return name if name in table else None


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """numerator / denominator, element by element; NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(numerator, denominator)
    quotient = np.full(a.shape, np.nan)
    np.divide(a, b, out=quotient, where=b != 0)
    return quotient


def groups_of_items(evaluation: Evaluation) -> pd.DataFrame:
    """The attributes (columns) of each item (index)."""
    prepared = evaluation.prepared
    columns = {prepared.labels[of[0]][0]: [prepared.labels[group][1] for group in of] for of in prepared.groups}
    columns.pop("(all)", None)
    return pd.DataFrame(columns, index=pd.Index(prepared.items))


def rows(evaluation: Evaluation) -> pd.DataFrame:
    """What became of every row, with the groups of its item.

    A group's column is named "attribute of item" where the explanation has a column of that name.
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
    """The rejection of a submission, with what to write instead in front of it, where the companion knows it.

    Parameters
    ----------
    solution : Solution
    submission : DataFrame
    problem : SubmissionRejected
        What the metric says.  It never tells of the solution; the cure may, so it is for those who have it.
    """
    diagnose = solution.metric.companion.diagnose
    cure = None if diagnose is None else diagnose(solution, submission)
    return problem if cure is None else SubmissionRejected(f"{cure}. The metric says: {problem}")


def points_by_cause(explanation: Any) -> pd.DataFrame:
    """Where the points went: a row per cause with its points, the rows that lost some, and its share."""
    losses: pd.DataFrame = explanation.losses
    points = losses.sum()
    table = pd.DataFrame({"points": points, "rows": (losses != 0).sum(), "share": ratio(points, points.sum())})
    table = table.rename_axis("cause").reset_index()
    return table.sort_values("points", ascending=False, kind="stable", ignore_index=True)


def points_by_label(explanation: Any) -> pd.DataFrame:
    """The points of each cause (columns), by label (index)."""
    labels = explanation.rows[column(explanation, "label")]
    table: pd.DataFrame = explanation.losses.groupby(labels.to_numpy(), sort=False).sum()
    return table


def points_by_item(evaluation: Evaluation) -> "pd.Series[float]":
    """The points of each item, the most first."""
    table = evaluation.explanation.rows
    points: pd.Series[float] = table.groupby(column(evaluation.explanation, "item"))["points_lost"].sum()
    points = points.reindex(evaluation.prepared.items, fill_value=0.0)
    return points.sort_values(ascending=False, kind="stable")
