"""Statistics of a metric that gives each row some numbers and computes the score from their sums."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Floats, Ints
from podium.common.errors import HostError
from podium.metric.adapted import Form
from podium.metric.contract import ALL_ITEMS
from podium.tables import ids

MISSING = "(missing)"  # the value of a group for rows that name none

Numbers = Callable[[pd.DataFrame, pd.DataFrame], npt.ArrayLike]
Formula = Callable[[Floats], npt.ArrayLike]


@dataclass(frozen=True, eq=False, repr=False)
class ItemWise(Form):
    """A prepared solution that `item_wise` has made."""

    solution: pd.DataFrame  # the rows of the solution, numbered from 0
    row_id: str
    numbers: Numbers
    formula: Formula
    names: tuple[str, ...]  # of what the formula gives

    @property
    def measure_names(self) -> list[str]:
        """The names of what the formula gives, and of the score of each group."""
        return [*self.names, *(f"{attribute} = {value}" for attribute, value in self._named_groups())]

    def _named_groups(self) -> list[tuple[str, str]]:
        """The groups that are scored apart: none if all items are in one."""
        return [label for label in self.labels if label != ALL_ITEMS]

    def statistics(self, submission: pd.DataFrame) -> Floats:
        """Return the numbers of each item, (n, k): the sums over its rows."""
        answers = ids.in_order(self.solution, submission, self.row_id).reset_index(drop=True)
        numbers = np.asarray(self.numbers(self.solution.copy(), answers))
        if numbers.ndim != 2 or len(numbers) != len(self.solution):
            name = getattr(self.numbers, "__name__", "the function of numbers")
            expected = f"an array of shape ({len(self.solution)}, k), some numbers for each row"
            raise ValueError(f"{name}: expected {expected}, found shape {numbers.shape}")
        columns = numbers.T.astype(np.float64)
        of_items = [np.bincount(self.item_of_row, column, minlength=len(self.items)) for column in columns]
        return np.stack(of_items, axis=1)

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute what the formula gives for all items, and the score of each group, from (…, g, k)."""
        of_groups = np.asarray(sums, dtype=np.float64)
        first = [number for number, label in enumerate(self.labels) if label[0] == self.labels[0][0]]
        with np.errstate(divide="ignore", invalid="ignore"):  # A group without items has no score.
            whole = self._columns(sum(of_groups[..., group, :] for group in first))
            if not self._named_groups():
                return whole
            return np.concatenate([whole, self._columns(of_groups)[..., 0]], axis=-1)

    def _columns(self, sums: Any) -> Floats:
        """Apply the formula to sums, (…, k), so that there is a column for each name, (…, names)."""
        values = np.asarray(self.formula(sums), dtype=np.float64)
        return values[..., np.newaxis] if len(self.names) == 1 and values.ndim < np.ndim(sums) else values


def item_wise(
    solution: pd.DataFrame,
    row_id_column_name: str,
    numbers: Numbers,
    formula: Formula,
    *,
    item: str | None = None,
    groups: Sequence[str] = (),
    names: Sequence[str] = ("score",),
) -> ItemWise:
    """Prepare a solution for a metric that gives each row some numbers and computes the score from their sums.

    A metric's ``prepare`` returns what this function makes. As platforms do, podium refuses a submission that
    has other ids than the solution or an empty cell, and brings its rows into the order of the solution.

    Parameters
    ----------
    solution : DataFrame
        The right answers, as ``prepare`` gets them.
    row_id_column_name : str
        The column that names the rows.
    numbers : function
        It gets the solution and a submission with the same rows, and returns k numbers for each row, in an
        array with shape (rows, k). Define it by ``def`` at the top of the file, so that other processes find
        it; `functools.partial` gives it parameters.
    formula : function
        It gets sums of the numbers, (…, k), and returns the score, (…). With `names` it returns all measures,
        (…, m). In front there may be any axes, because resampling asks for many scores at once.
    item : str, optional
        The column of the solution that names the items, if several rows belong together, such as those of a
        patient. The default is that each row is an item.
    groups : sequence of str
        Columns of the solution whose values are groups that are also scored apart, such as ``["site"]``; one
        may stand alone.
    names : sequence of str
        The names of what `formula` returns, "score" first.

    Returns
    -------
    ItemWise
        The prepared solution, as `podium.metric.contract.Prepared` describes it.

    Raises
    ------
    podium.common.errors.HostError
        The solution lacks a column, or it has an id twice.

    Notes
    -----
    The score has to be the formula of the sums up to rounding, so ``score`` may add the numbers in any order.

    Podium alone calls ``prepare``. So the import of this function stands there, and the rest of the file runs
    where podium is not installed.

    Examples
    --------
    The accuracy, also at each site:

    >>> def right(solution, submission):
    ...     return np.column_stack([solution["label"] == submission["label"], np.ones(len(solution))])
    >>> def share(sums):
    ...     return sums[..., 0] / sums[..., 1]
    >>> solution = pd.DataFrame({"id": ["a", "b", "c"], "label": [1, 2, 1], "site": ["x", "x", "y"]})
    >>> prepared = item_wise(solution, "id", right, share, groups=["site"])
    >>> numbers = prepared.statistics(pd.DataFrame({"id": ["c", "a", "b"], "label": [1, 1, 1]}))
    >>> numbers.tolist()
    [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]
    >>> from podium import statistics
    >>> {name: round(value, 3) for name, value in statistics.measures(prepared, numbers).items()}
    {'score': 0.667, 'site = x': 0.5, 'site = y': 1.0}
    """
    groups = [groups] if isinstance(groups, str) else groups
    needed = [row_id_column_name, *([] if item is None else [item]), *groups]
    missing = [name for name in needed if name not in solution]
    if missing:
        raise HostError(
            f"the solution: expected a column {missing[0]}, found {', '.join(map(str, solution.columns))}"
        )
    rows = solution.reset_index(drop=True)
    names_of_rows = ids.texts(rows[row_id_column_name])
    if not names_of_rows.is_unique:
        twice = names_of_rows[names_of_rows.duplicated()].iloc[0]
        raise HostError(f"the solution: {row_id_column_name}: expected each id once, found {twice!r} twice")
    item_of_row, items = pd.factorize(names_of_rows if item is None else rows[item].astype(str), sort=True)
    labels, members = _groups(rows, item_of_row, items.tolist(), groups)
    return ItemWise(
        items.tolist(), item_of_row, labels, members, rows, row_id_column_name, numbers, formula, tuple(names)
    )


def _groups(
    rows: pd.DataFrame, item_of_row: Ints, items: Sequence[str], columns: Sequence[str]
) -> tuple[list[tuple[str, str]], Ints]:
    """List the groups that some columns name, and tell the group of each item, (columns, n)."""
    if not columns:
        return [ALL_ITEMS], np.zeros((1, len(items)), dtype=np.int64)
    labels: list[tuple[str, str]] = []
    members = np.zeros((len(columns), len(items)), dtype=np.int64)
    for number, column in enumerate(columns):
        cells = rows[column].astype(object).where(rows[column].notna(), MISSING).astype(str)
        codes, values = pd.factorize(cells, sort=True)
        members[number, item_of_row] = codes
        torn = np.flatnonzero(members[number, item_of_row] != codes)
        if len(torn):
            row = int(torn[0])
            of_item = items[item_of_row[row]]
            raise HostError(
                f"the solution: {column}: expected one value for all rows of an item, found {cells[row]!r} and "
                f"another one in those of {of_item!r}, as in row {row + 1}: leave {column} out "
                "of the groups, or let each row be an item"
            )
        members[number] += len(labels)
        labels += [(column, value) for value in values.tolist()]
    return labels, members
