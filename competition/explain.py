"""What became of every item and where the points went, as tables made of what an evaluation offers.

A point is one unit of the score.  How an evaluation offers ``segments``, ``losses``, ``groups`` and ``roles``
is written down in `competition.metric_file`.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from competition.files import write_atomically

__all__ = ["column", "points_by_cause", "points_by_item", "points_by_label", "segments", "write_segments"]


def column(evaluation: Any, role: str) -> str | None:
    """The column of the evaluation's segments that has a role, if there is one."""
    name: str | None = getattr(evaluation, "roles", {"outcome": "outcome"}).get(role)
    return name if name in evaluation.segments else None


def segments(evaluation: Any) -> pd.DataFrame:
    """The evaluation's segments, with the groups of each one's item as further columns.

    A group whose attribute is named like a column of the segments is called "attribute of item".
    """
    table: pd.DataFrame = evaluation.segments
    item = column(evaluation, "item")
    if item is None or not hasattr(evaluation, "groups"):
        return table
    groups: pd.DataFrame = evaluation.groups
    groups = groups.rename(columns={name: f"{name} of {item}" for name in groups if name in table})
    return table.join(groups, on=item)


def write_segments(evaluation: Any, path: Path) -> None:
    """Write `segments` to a .csv or .csv.gz, all of it or nothing."""
    table = segments(evaluation)
    write_atomically(path, lambda part: table.to_csv(part, index=False, lineterminator="\n"))


def points_by_cause(evaluation: Any) -> pd.DataFrame:
    """The points lost, over all rows.

    Returns
    -------
    DataFrame, sorted by points
        cause; points; segments: how many rows lost by it; share: of all points lost, NaN if these are 0.
    """
    losses: pd.DataFrame = evaluation.losses
    points = losses.sum()
    table = pd.DataFrame(
        {
            "cause": losses.columns,
            "points": points.to_numpy(),
            "segments": (losses != 0).sum().to_numpy(),
            "share": (points / points.sum() if points.sum() else points * float("nan")).to_numpy(),
        }
    )
    return table.sort_values("points", ascending=False, kind="stable", ignore_index=True)


def points_by_label(evaluation: Any) -> pd.DataFrame:
    """The points lost by cause (columns) of each label (index), in order of appearance."""
    labels = evaluation.segments[column(evaluation, "label")]
    table: pd.DataFrame = evaluation.losses.groupby(labels.to_numpy(), sort=False).sum()
    return table


def points_by_item(evaluation: Any) -> "pd.Series[float]":
    """The points lost in each of the evaluation's items (index), the most first."""
    table = evaluation.segments
    points: pd.Series[float] = table.groupby(column(evaluation, "item"))["points_lost"].sum()
    points = points.reindex(evaluation.items, fill_value=0.0)
    return points.sort_values(ascending=False, kind="stable")
