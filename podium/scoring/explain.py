"""Make tables of a companion's explanation: what became of every row, and where points were lost."""

import inspect
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Floats
from podium.common.errors import CompanionError
from podium.metric.contract import Explanation, Prepared
from podium.scoring import misfits
from podium.scoring.evaluating import Evaluation
from podium.statistics.compared import noun_of
from podium.tables import ids

# The score of a group with fewer items depends much on chance.
SMALL_SUBPOPULATION = 50
OTHER_CELLS = "cells that are not those of the solution"  # a kind of mistakes


def column(explanation: Explanation, role: str) -> str | None:
    """Find the column of an explanation's rows that has a role."""
    name, table = explanation.roles.get(role), explanation.rows
    return name if name in table else None


def rows_of(explanation: Explanation) -> pd.DataFrame:
    """The rows of an explanation, with the names of items as texts, which a companion may give as numbers."""
    table, item = explanation.rows, column(explanation, "item")
    if item is None or table[item].dtype.kind not in "iuf":
        return table
    return table.assign(**{item: ids.texts(table[item])})


def mistakes_of(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The mistakes that a companion sees in a submission, or how it differs from a stranger's solution."""
    if other := evaluation.other_cells:
        return [(OTHER_CELLS, misfits.explanation(other, for_host=False))]
    explain = evaluation.solution.metric.companion.explain
    looks_for = getattr(explain and inspect.unwrap(explain), "mistakes", Explanation.mistakes)
    if looks_for is Explanation.mistakes:  # to explain everything may take long
        return []
    try:
        return list(evaluation.explanation.mistakes)
    except CompanionError:
        return []


def item_noun(evaluation: Evaluation) -> str:
    """Name an item, such as “essay”."""
    return noun_of(evaluation.explanation)


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """Divide element by element.

    >>> ratio([1, 2], [0, 4])
    array([nan, 0.5])
    """
    a, b = np.broadcast_arrays(numerator, denominator)
    quotient = np.full(a.shape, np.nan)
    np.divide(a, b, out=quotient, where=b != 0)
    return quotient


def groups_of_items(prepared: Prepared) -> pd.DataFrame:
    """List the groups of each item."""
    columns = {prepared.labels[of[0]][0]: [prepared.labels[group][1] for group in of] for of in prepared.groups}
    columns.pop("(all)", None)
    return pd.DataFrame(columns, index=pd.Index(prepared.items))


def rows(evaluation: Evaluation) -> pd.DataFrame:
    """Tell what became of every row, with the groups of its item."""
    explanation = evaluation.explanation
    table = rows_of(explanation)
    item = column(explanation, "item")
    for level, values in explanation.details.items():
        table = pd.concat([table, values.assign(level=level)], ignore_index=True)
    if item is None:
        return table
    groups = groups_of_items(evaluation.prepared)
    groups = groups.rename(columns={name: f"{name} of {item}" for name in groups if name in table})
    return table.join(groups, on=item)


def gains_by_cause(explanation: Any) -> pd.DataFrame:
    """List what correcting each cause alone would gain, its share, and the number of its rows."""
    gain = explanation.gains.loc["(all)"]
    table = pd.DataFrame(
        {"gain": gain, "share": shares(gain), "rows": (explanation.losses != 0).sum().reindex(gain.index)}
    )
    table = table.rename_axis("cause").reset_index()
    return table.sort_values("gain", ascending=False, kind="stable", ignore_index=True)


def shares(gains: "pd.Series[float]") -> "pd.Series[float]":
    """Divide gains by the sum of those above 0."""
    gains = gains.clip(lower=0.0)
    return gains / (gains.sum() or np.nan)


def points_by_item(evaluation: Evaluation) -> "pd.Series[float]":
    """Sum up the lost points by item."""
    table = rows_of(evaluation.explanation)
    points: pd.Series[float] = table.groupby(column(evaluation.explanation, "item"))["points_lost"].sum()
    points = points.reindex(evaluation.prepared.items, fill_value=0.0)
    return points.sort_values(ascending=False, kind="stable")
