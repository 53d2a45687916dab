"""What became of every row and where the points went, as tables made of what a companion offers.

A point is one unit of the score.  How an explanation offers ``rows``, ``losses`` and ``roles`` is written down
in `podium.companions`.
"""

from typing import Any

import pandas as pd

from podium.scoring import Evaluation

__all__ = ["column", "groups_of_items", "points_by_cause", "points_by_item", "points_by_label", "rows"]


def column(explanation: Any, role: str) -> str | None:
    """The column of the explanation's rows that has a role, if there is one."""
    name: str | None = getattr(explanation, "roles", {"outcome": "outcome"}).get(role)
    return name if name in getattr(explanation, "rows", ()) else None


def groups_of_items(evaluation: Evaluation) -> pd.DataFrame:
    """The value of each attribute (columns) of each item (index)."""
    prepared = evaluation.prepared
    columns = {prepared.labels[of[0]][0]: [prepared.labels[group][1] for group in of] for of in prepared.groups}
    columns.pop("(all)", None)
    return pd.DataFrame(columns, index=pd.Index(prepared.items))


def rows(evaluation: Evaluation) -> pd.DataFrame:
    """The explanation's rows, with the groups of each one's item as further columns.

    A group whose attribute is named like a column of the rows is called "attribute of item".
    """
    explanation = evaluation.explanation
    table: pd.DataFrame = explanation.rows
    item = column(explanation, "item")
    if item is None:
        return table
    groups = groups_of_items(evaluation)
    groups = groups.rename(columns={name: f"{name} of {item}" for name in groups if name in table})
    return table.join(groups, on=item)


def points_by_cause(explanation: Any) -> pd.DataFrame:
    """The points lost, over all rows.

    Returns
    -------
    DataFrame, sorted by points
        cause; points; rows: how many rows lost by it; share: of all points lost, NaN if these are 0.
    """
    losses: pd.DataFrame = explanation.losses
    points = losses.sum()
    table = pd.DataFrame(
        {
            "cause": losses.columns,
            "points": points.to_numpy(),
            "rows": (losses != 0).sum().to_numpy(),
            "share": (points / points.sum() if points.sum() else points * float("nan")).to_numpy(),
        }
    )
    return table.sort_values("points", ascending=False, kind="stable", ignore_index=True)


def points_by_label(explanation: Any) -> pd.DataFrame:
    """The points lost by cause (columns) of each label (index), in order of appearance."""
    labels = explanation.rows[column(explanation, "label")]
    table: pd.DataFrame = explanation.losses.groupby(labels.to_numpy(), sort=False).sum()
    return table


def points_by_item(evaluation: Evaluation) -> "pd.Series[float]":
    """The points lost in each item (index), the most first."""
    table = evaluation.explanation.rows
    points: pd.Series[float] = table.groupby(column(evaluation.explanation, "item"))["points_lost"].sum()
    points = points.reindex(evaluation.prepared.items, fill_value=0.0)
    return points.sort_values(ascending=False, kind="stable")
