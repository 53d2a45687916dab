"""Tables from a companion's explanation: what became of every row, and where the points went."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.contract import Explanation
from podium.scoring import Evaluation

__all__ = ["column", "groups_of_items", "points_by_cause", "points_by_item", "points_by_label", "ratio", "rows"]


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
    """The explanation's rows with their items' groups, "attribute of item" where a name is taken."""
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


def points_by_cause(explanation: Any) -> pd.DataFrame:
    losses: pd.DataFrame = explanation.losses
    points = losses.sum()
    table = pd.DataFrame({"points": points, "rows": (losses != 0).sum(), "share": ratio(points, points.sum())})
    table = table.rename_axis("cause").reset_index()
    return table.sort_values("points", ascending=False, kind="stable", ignore_index=True)


def points_by_label(explanation: Any) -> pd.DataFrame:
    labels = explanation.rows[column(explanation, "label")]
    table: pd.DataFrame = explanation.losses.groupby(labels.to_numpy(), sort=False).sum()
    return table


def points_by_item(evaluation: Evaluation) -> "pd.Series[float]":
    """The points of each item, the most first."""
    table = evaluation.explanation.rows
    points: pd.Series[float] = table.groupby(column(evaluation.explanation, "item"))["points_lost"].sum()
    points = points.reindex(evaluation.prepared.items, fill_value=0.0)
    return points.sort_values(ascending=False, kind="stable")
