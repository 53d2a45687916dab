"""Sums of statistics: of all items, of some, of items drawn with replacement, and of swapped answers."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

CELLS_AT_ONCE = 2**24  # numbers in one block: 128 MB of floats
NEARBY = 1e-6  # relative step of the differences that stand for derivatives
SAME_UNIT_WITHIN = 16  # bits between the largest values of columns that are rounded alike

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def sums(statistics: Floats, groups: Ints) -> Floats:
    """Sum the statistics over each group of items.

    Parameters
    ----------
    statistics : (n, k) floats
    groups : (attributes, n) integers, the groups of each item

    Returns
    -------
    (g, k) floats, added one after the other in the order of the items, as the metrics do

    Examples
    --------
    >>> sums(np.array([[1.0], [2], [4]]), np.array([[0, 1, 0], [2, 2, 2]])).tolist()
    [[5.0], [2.0], [7.0]]
    """
    number = int(groups.max()) + 1
    columns = [
        sum(np.bincount(members, column, minlength=number) for members in groups) for column in statistics.T
    ]
    return np.stack(columns, axis=-1)


def measures(prepared: Any, statistics: Floats) -> dict[str, float]:
    """Compute the measures of a submission.

    Returns
    -------
    dict of floats by name, "score" first; NaN where a measure is undefined
    """
    values = prepared.measures(sums(statistics, prepared.groups))
    return dict(zip(prepared.measure_names, values.tolist()))


def part(prepared: Any, kept: Bools) -> Any:
    """Reduce a prepared solution to some of its items.

    Parameters
    ----------
    prepared : a prepared solution, a dataclass
    kept : (n,) booleans, at least one of them true

    Returns
    -------
    what the metric's ``prepare`` would make of these items alone
    """
    occurring, groups = np.unique(prepared.groups[:, kept], return_inverse=True)
    return dataclasses.replace(
        prepared,
        items=[item for item, keep in zip(prepared.items, kept.tolist()) if keep],
        labels=[prepared.labels[group] for group in occurring.tolist()],
        groups=groups.reshape(len(prepared.groups), -1),
    )


def draw(items: int, resamples: int, seed: int) -> npt.NDArray[np.uint16]:
    """Draw as many items as there are, with replacement, many times.

    Parameters
    ----------
    items : their number, above 0
    resamples : number of draws
    seed : of the random numbers, at least 0

    Returns
    -------
    (resamples, items) integers, how often each item was drawn; the first rows are the same for any number of
    resamples

    Examples
    --------
    >>> draw(4, 2, seed=0).sum(axis=1).tolist()
    [4, 4]
    """
    random = np.random.default_rng(seed)
    weights = np.empty((resamples, items), dtype=np.uint16)
    for row in weights:
        row[:] = np.bincount(random.integers(items, size=items), minlength=items)
    return weights


def resample(prepared: Any, statistics: Floats, weights: npt.NDArray[Any]) -> Floats:
    """Compute the measures on each draw.

    Parameters
    ----------
    prepared : a prepared solution
    statistics : (n, k) floats of a submission
    weights : (r, n) integers, how often each item occurs in each draw, see `draw`

    Returns
    -------
    (r, m) floats, the same to the last bit whatever the order of the items
    """
    samples: Floats = prepared.measures(weighted_sums(weights, prepared.groups)(rounded(statistics)).T)
    return samples


def swap(prepared: Any, mine: Floats, theirs: Floats, swapped: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """Compute the measures of two submissions that swap some of their answers.

    Parameters
    ----------
    prepared : a prepared solution
    mine, theirs : (n, k) floats of two submissions
    swapped : (r, n) integers, 1 where the submissions swap their answers to an item, else 0

    Returns
    -------
    (r, m) floats of mine and of theirs
    """
    return swap_by(weighted_sums(swapped, prepared.groups), prepared, mine, theirs)


def swap_by(
    sums_of_swaps: Callable[..., Floats], prepared: Any, mine: Floats, theirs: Floats
) -> tuple[Floats, Floats]:
    """As `swap`, by the function that `weighted_sums` made of the swaps."""
    moved = sums_of_swaps(rounded(theirs - mine)).T
    return (
        prepared.measures(sums(mine, prepared.groups) + moved),
        prepared.measures(sums(theirs, prepared.groups) - moved),
    )


def gains_by_item(prepared: Any, mine: Floats, theirs: Floats) -> Floats:
    """Compute what each item's answers of mine alone would add to the measures of theirs.

    Parameters
    ----------
    prepared : a prepared solution
    mine, theirs : (n, k) floats of two submissions

    Returns
    -------
    (n, m) floats: the measures of theirs with one item's answers of mine, minus those of theirs
    """
    before = sums(theirs, prepared.groups)
    after = np.repeat(before[np.newaxis], len(mine), axis=0)
    items = np.arange(len(mine))
    for members in prepared.groups:
        after[items, members] += mine - theirs
    gains: Floats = prepared.measures(after) - prepared.measures(before)
    return gains


def slopes(prepared: Any, total: Floats) -> Floats:
    """Estimate how fast each measure grows with each sum.

    The derivatives are differences between the measures of nearby sums.  The step is relative to the sum, or to
    the largest one of the same column where the sum is small, so that columns may have any scale.

    Parameters
    ----------
    prepared : a prepared solution
    total : (g, k) floats, the sums of a submission

    Returns
    -------
    (m, g, k) floats
    """
    of_column = np.abs(total).max(axis=0)
    step = NEARBY * np.maximum(np.abs(total), np.where(of_column > 0, of_column / len(total), 1))
    near = total + step * np.eye(total.size).reshape(-1, *total.shape)
    rise: Floats = prepared.measures(near) - prepared.measures(total)
    steepness: Floats = np.divide(rise.T.reshape(-1, *total.shape), step)
    return steepness


def influences(prepared: Any, statistics: Floats, total: Floats) -> Floats:
    """Estimate how fast the score grows with the weight of each item.

    On a draw the score changes by about the sum of the influences of the items that were drawn.

    Parameters
    ----------
    prepared : a prepared solution
    statistics : (n, k) floats of a submission
    total : (g, k) floats, its sums

    Returns
    -------
    (n,) floats
    """
    influence: Floats = contributions(prepared.groups, statistics, slopes(prepared, total)[0]).sum(axis=0)
    return influence


def contributions(groups: Ints, statistics: Floats, of_sums: Floats) -> Floats:
    """Split the influence of each item on a measure by the attributes to whose groups it belongs.

    Parameters
    ----------
    groups : (attributes, n) integers
    statistics : (n, k) floats of a submission
    of_sums : (g, k) floats, the measure's slopes, see `slopes`

    Returns
    -------
    (attributes, n) floats
    """
    of_groups = statistics @ of_sums.T
    split: Floats = np.take_along_axis(of_groups, groups.T, axis=1).T
    return split


def weighted_sums(weights: npt.NDArray[Any], groups: Ints) -> Callable[..., Floats]:
    """Make a function that sums statistics over groups of weighted items.

    Items that belong to the same groups by every attribute make one cell, and a group is a sum of cells.  So
    each item is multiplied once, whatever the number of attributes.

    Parameters
    ----------
    weights : (r, n) integers
    groups : (attributes, n) integers

    Returns
    -------
    function of any number of (k, n) arrays that went through `rounded`, giving (all k, g, r) floats.  The sums
    are exact.  Single precision, where it is exact, takes half the time.
    """
    cells, cell = np.unique(groups, axis=1, return_inverse=True)
    order = np.argsort(cell.ravel(), kind="stable")
    bounds = np.searchsorted(cell.ravel()[order], np.arange(cells.shape[1] + 1)).tolist()
    counts = weights.take(order, axis=1)
    is_small = counts.size <= CELLS_AT_ONCE
    arranged = {kind: counts.astype(kind) if is_small else counts for kind in (np.float32, np.float64)}
    rows = max(1, CELLS_AT_ONCE // max(len(order), 1))

    def sums_of_draws(*statistics: Floats) -> Floats:
        columns: list[npt.NDArray[Any]] = []
        added: dict[int, int] = {}
        for each in statistics:
            _add_mostly_whole(each.take(order, axis=1), columns, added)
        total = np.zeros((len(columns), int(groups.max()) + 1, len(weights)))
        for kind, of_kind in arranged.items():
            numbers = [number for number, column in enumerate(columns) if column.dtype == kind]
            if not numbers:
                continue
            values = np.stack([columns[number] for number in numbers])
            for first in range(0, len(weights), rows):
                block = of_kind[first : first + rows].astype(kind, copy=False).T
                of_block = np.zeros((len(values), total.shape[1], block.shape[1]))
                for of_cell, start, stop in zip(cells.T, bounds, bounds[1:]):
                    of_block[:, of_cell] += (values[:, start:stop] @ block[start:stop])[:, np.newaxis]
                total[numbers, :, first : first + rows] = of_block
        for number, other in added.items():
            total[number] -= total[other]
        return total

    return sums_of_draws


def _add_mostly_whole(more: Floats, columns: list[npt.NDArray[Any]], added: dict[int, int]) -> None:
    """Append columns, small whole ones in single precision.

    Hits and misses may be fractions that add up to whole numbers.  Then the sum is appended in place of the
    second one, and ``added`` tells which column to subtract again.
    """
    fraction = None
    for column in more:
        is_whole = _is_whole(column)
        if not is_whole and fraction is not None:
            together = column + columns[fraction]
            if _is_whole(together) and (together - columns[fraction] == column).all():
                added[len(columns)] = fraction
                column, is_whole = together, True
        if not is_whole:
            fraction = len(columns)
        is_small = is_whole and max(column.max(), -column.min()) * len(column) < 2**24
        columns.append(column.astype(np.float32) if is_small else column)


def _is_whole(column: Floats) -> bool:
    return bool((column == np.rint(column)).all())


def rounded(statistics: Floats) -> Floats:
    """Round each column to so few bits that its sums weighted by n in all are exact in any order.

    A column of 1e-5 beside one of 1e9 keeps its digits, since each column has its own unit.  Columns of similar
    size share one, so that hits and misses that add up to whole numbers still do.

    Parameters
    ----------
    statistics : (n, k) floats

    Returns
    -------
    (k, n) floats

    Examples
    --------
    >>> rounded(np.array([[1e9, 1e-5], [1.0, 2e-5]]))[1].round(12).tolist()
    [1e-05, 2e-05]
    """
    largest = np.abs(statistics).max(axis=0, initial=0)
    exponents = np.frexp(np.where(largest > 0, largest, 1) * max(len(statistics), 1))[1]
    # Not each column's own exponent: steps down from the largest one.
    below = (exponents.max(initial=0) - exponents) // SAME_UNIT_WITHIN * SAME_UNIT_WITHIN
    # Smaller units than the smallest normal number would be 0.
    units = np.exp2(np.maximum(exponents.max(initial=0) - below - 52.0, -1022.0))[:, np.newaxis]
    columns: Floats = np.rint(statistics.T / units) * units
    return columns


def is_close_to_none(values: Floats, scale: float = 1e-9) -> Bools:
    """Tell which values are zero but for rounding, relative to the largest one."""
    close: Bools = np.abs(values) <= scale * np.abs(values).max(initial=0)
    return close
