"""Sums of statistics: over all items, over some, over items drawn with replacement, and after swaps.

The letters in shapes are those of `podium.statistics`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

CELLS_AT_ONCE = 2**24  # numbers in one block, which takes 128 MB
NEARBY = 1e-6  # relative step of the differences that approximate derivatives
SAME_UNIT_WITHIN = 16  # columns whose largest values differ by fewer bits may share a unit

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def sums(statistics: Floats, groups: Ints) -> Floats:
    """Sum the statistics over each group of items.

    Parameters
    ----------
    statistics : ndarray of float, shape (n, k)
        The statistics of a submission.
    groups : ndarray of int, shape (attributes, n)
        The group of each item under each attribute, numbered from 0.

    Returns
    -------
    ndarray of float, shape (g, k)
        The sums.  They are added one after the other in the order of the items, as the metrics do it.  So they
        equal the sums of the metrics to the last bit.

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

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    statistics : ndarray of float, shape (n, k)
        The statistics of the submission.

    Returns
    -------
    dict of str to float
        The measures by name, "score" first.  A measure that is undefined is NaN.
    """
    values = prepared.measures(sums(statistics, prepared.groups))
    return dict(zip(prepared.measure_names, values.tolist()))


def part(prepared: Any, kept: Bools) -> Any:
    """Reduce a prepared solution to some of its items.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution, which is a dataclass.
    kept : ndarray of bool, shape (n,)
        Which items are kept.  At least one must be.

    Returns
    -------
    Prepared
        What the metric's ``prepare`` would make of these items alone.
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

    Every item has the same probability in every draw.  The groups of items play no part.

    Parameters
    ----------
    items : int
        The number of items, at least 1.
    resamples : int
        The number of draws.
    seed : int
        The seed of the random numbers, at least 0.

    Returns
    -------
    ndarray of uint16, shape (resamples, items)
        How often each item was drawn.  A larger number of resamples adds rows and leaves the first ones as they
        are.

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
    """Compute the measures of a submission on each draw.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    statistics : ndarray of float, shape (n, k)
        The statistics of the submission.
    weights : ndarray of int, shape (r, n)
        How often each item occurs in each draw, as `draw` returns it.

    Returns
    -------
    ndarray of float, shape (r, m)
        The measures.  They do not depend on the order of the items, not even in the last bit.
    """
    samples: Floats = prepared.measures(weighted_sums(weights, prepared.groups)(rounded(statistics)).T)
    return samples


def swap(prepared: Any, mine: Floats, theirs: Floats, swapped: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """Compute the measures of two submissions after they have swapped some of their answers.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    mine, theirs : ndarray of float, shape (n, k)
        The statistics of the two submissions.
    swapped : ndarray of int, shape (r, n)
        For each of r trials, 1 where the submissions swap their answers to an item, and 0 elsewhere.

    Returns
    -------
    mine, theirs : ndarray of float, shape (r, m)
        The measures of the first and of the second submission after each trial.
    """
    return swap_by(weighted_sums(swapped, prepared.groups), prepared, mine, theirs)


def swap_by(
    sums_of_swaps: Callable[..., Floats], prepared: Any, mine: Floats, theirs: Floats
) -> tuple[Floats, Floats]:
    """Compute what `swap` does, with swaps that are used for several pairs.

    Parameters
    ----------
    sums_of_swaps : function
        What `weighted_sums` made of the swaps.
    prepared : Prepared
        A prepared solution.
    mine, theirs : ndarray of float, shape (n, k)
        The statistics of the two submissions.

    Returns
    -------
    mine, theirs : ndarray of float, shape (r, m)
        The measures of the first and of the second submission after each trial.
    """
    moved = sums_of_swaps(rounded(theirs - mine)).T
    return (
        prepared.measures(sums(mine, prepared.groups) + moved),
        prepared.measures(sums(theirs, prepared.groups) - moved),
    )


def gains_by_item(prepared: Any, mine: Floats, theirs: Floats) -> Floats:
    """Compute how the measures of one submission change if it takes the other's answers to a single item.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    mine, theirs : ndarray of float, shape (n, k)
        The statistics of the two submissions.

    Returns
    -------
    ndarray of float, shape (n, m)
        For each item, the measures of ``theirs`` with the answers of ``mine`` to that item alone, minus the
        measures of ``theirs``.
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

    The partial derivatives are approximated by forward differences.  A step is `NEARBY` times the sum, or times
    a g-th of the largest sum in the same column, whichever is larger.  So the columns may have any scale.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    total : ndarray of float, shape (g, k)
        The sums of a submission over each group.

    Returns
    -------
    ndarray of float, shape (m, g, k)
        The derivative of each measure with respect to each sum.
    """
    of_column = np.abs(total).max(axis=0)
    step = NEARBY * np.maximum(np.abs(total), np.where(of_column > 0, of_column / len(total), 1))
    near = total + step * np.eye(total.size).reshape(-1, *total.shape)
    rise: Floats = prepared.measures(near) - prepared.measures(total)
    steepness: Floats = np.divide(rise.T.reshape(-1, *total.shape), step)
    return steepness


def influences(prepared: Any, statistics: Floats, total: Floats) -> Floats:
    """Estimate how fast the score grows with the weight of each item.

    If an item occurs w times in a draw, it changes the score by about w - 1 times its influence.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    statistics : ndarray of float, shape (n, k)
        The statistics of a submission.
    total : ndarray of float, shape (g, k)
        Its sums over each group.

    Returns
    -------
    ndarray of float, shape (n,)
        The derivative of the score with respect to the weight of each item.
    """
    influence: Floats = contributions(prepared.groups, statistics, slopes(prepared, total)[0]).sum(axis=0)
    return influence


def contributions(groups: Ints, statistics: Floats, of_sums: Floats) -> Floats:
    """Split the influence of each item on a measure by attribute.

    An item belongs to one group of each attribute, and it changes the measure through each of these groups.

    Parameters
    ----------
    groups : ndarray of int, shape (attributes, n)
        The group of each item under each attribute.
    statistics : ndarray of float, shape (n, k)
        The statistics of a submission.
    of_sums : ndarray of float, shape (g, k)
        The slopes of the measure, see `slopes`.

    Returns
    -------
    ndarray of float, shape (attributes, n)
        The influence of each item through its group of each attribute.  The sum over the attributes is its
        whole influence.
    """
    of_groups = statistics @ of_sums.T
    split: Floats = np.take_along_axis(of_groups, groups.T, axis=1).T
    return split


def weighted_sums(weights: npt.NDArray[Any], groups: Ints) -> Callable[..., Floats]:
    """Make a function that sums statistics over groups of weighted items.

    Items that belong to the same group of every attribute form a cell, and each group is a union of cells.  So
    each item is multiplied only once, whatever the number of attributes.

    Parameters
    ----------
    weights : ndarray of int, shape (r, n)
        The weight of each item in each draw.
    groups : ndarray of int, shape (attributes, n)
        The group of each item under each attribute.

    Returns
    -------
    function
        It takes any number of arrays of shape (k, n) that `rounded` returned.  It returns their sums, an
        ndarray of float with shape (all k together, g, r).

    Notes
    -----
    The sums are exact, because `rounded` leaves enough bits free.  Columns of small whole numbers are added in
    single precision, which is exact for them and takes half the time.
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
    """Append columns, and those of small whole numbers in single precision.

    Hits and misses may be fractions that add up to whole numbers.  Then their sum is appended in place of the
    second column, because it is faster to add.  ``added`` tells which column has to be subtracted again.
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
    """Tell whether a column has only whole numbers."""
    return bool((column == np.rint(column)).all())


def rounded(statistics: Floats) -> Floats:
    """Round each column so coarsely that its sums over any draw of n items are exact in any order.

    Every number becomes a multiple of its column's unit, a power of two.  The unit is so large that a sum over
    a draw has at most 53 bits.  Columns of similar size share a unit, so that hits and misses that add up to
    whole numbers still do after rounding.  A column of 1e-5 beside one of 1e9 keeps its digits, because its
    unit is smaller.

    Parameters
    ----------
    statistics : ndarray of float, shape (n, k)
        The statistics of a submission.

    Returns
    -------
    ndarray of float, shape (k, n)
        The rounded statistics, column by column.

    Examples
    --------
    >>> rounded(np.array([[1e9, 1e-5], [1.0, 2e-5]]))[1].round(12).tolist()
    [1e-05, 2e-05]
    """
    largest = np.abs(statistics).max(axis=0, initial=0)
    exponents = np.frexp(np.where(largest > 0, largest, 1) * max(len(statistics), 1))[1]
    # Exponents go down from the largest one in steps of 16, so that columns of similar size share a unit.
    below = (exponents.max(initial=0) - exponents) // SAME_UNIT_WITHIN * SAME_UNIT_WITHIN
    # A unit smaller than the smallest normal number would become 0.
    units = np.exp2(np.maximum(exponents.max(initial=0) - below - 52.0, -1022.0))[:, np.newaxis]
    columns: Floats = np.rint(statistics.T / units) * units
    return columns


def is_close_to_none(values: Floats, scale: float = 1e-9) -> Bools:
    """Tell which values differ from zero by no more than rounding.

    Parameters
    ----------
    values : ndarray of float
        The values, of any shape.
    scale : float
        A value is close to zero up to this share of the largest absolute value.

    Returns
    -------
    ndarray of bool
        Whether each value is close to zero, in the shape of ``values``.
    """
    close: Bools = np.abs(values) <= scale * np.abs(values).max(initial=0)
    return close
