"""Sums of statistics: over all items, over some, and over items drawn with replacement.

The letters in shapes are those of `podium.statistics`.
"""

import dataclasses
from collections.abc import Callable
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Bools, Floats, Ints
from podium.common.errors import UsageError
from podium.metric.contract import Measured

CELLS_AT_ONCE = 2**24  # numbers in one block, which takes 128 MB
M = TypeVar("M", bound=Measured)
NEARBY = 1e-6  # relative step of the differences that approximate derivatives


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
        The sums. They are added one after the other in the order of the items, as the metrics do it. So they
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


def measures(prepared: Measured, statistics: Floats) -> dict[str, float]:
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
        The measures by name, "score" first. A measure that is undefined is NaN.
    """
    values = prepared.measures(sums(statistics, prepared.groups))
    return dict(zip(prepared.measure_names, values.tolist()))


def part(prepared: M, kept: Bools) -> M:
    """Reduce a prepared solution to some of its items.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution, which is a dataclass.
    kept : ndarray of bool, shape (n,)
        Which items are kept. At least one must be.

    Returns
    -------
    Prepared
        What the metric's ``prepare`` would make of these items alone.
    """
    occurring, groups = np.unique(prepared.groups[:, kept], return_inverse=True)
    whole: Any = prepared
    reduced: M = dataclasses.replace(
        whole,
        items=[item for item, keep in zip(prepared.items, kept.tolist()) if keep],
        labels=[prepared.labels[group] for group in occurring.tolist()],
        groups=groups.reshape(len(prepared.groups), -1),
    )
    return reduced


def check_draws(resamples: int | None, seed: int) -> None:
    """Make sure that a number of draws, or None for the default, and the seed of their numbers are such."""
    for name, value in {"resamples": resamples or 0, "seed": seed}.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
            raise UsageError(f"{name}: expected a whole number that is at least 0, found {value!r:.40}")


def draw(
    items: int, resamples: int, seed: int, *, together: npt.ArrayLike | None = None
) -> npt.NDArray[np.uint16]:
    """Draw as many items as there are, with replacement, many times.

    Every item has the same probability in every draw. The groups of items play no part.

    Parameters
    ----------
    items : int
        The number of items, at least 1.
    resamples : int
        The number of draws.
    seed : int
        The seed of the random numbers, at least 0.
    together : array-like, shape (items,), optional
        What each item belongs to, such as its prompt or its patient. Items with the same value are drawn
        together: as many values as there are are drawn, and each one with all its items. If it is missing,
        each item is drawn alone.

    Returns
    -------
    ndarray of uint16, shape (resamples, items)
        How often each item was drawn. A larger number of resamples adds rows and leaves the first ones as they
        are.

    Raises
    ------
    ValueError
        ``together`` does not have one value for each item.

    Examples
    --------
    >>> draw(4, 2, seed=0).sum(axis=1).tolist()
    [4, 4]

    Two items belong to each of two patients:

    >>> draw(4, 3, seed=0, together=["a", "a", "b", "b"])[:, [0, 2]].sum(axis=1).tolist()
    [2, 2, 2]
    """
    number, of_item = items, np.arange(items)
    if together is not None:
        if np.shape(together) != (items,):
            raise ValueError(f"together: expected shape ({items},), found {np.shape(together)}")
        codes, values = pd.factorize(np.asarray(together), use_na_sentinel=False)
        number, of_item = len(values), codes
    random = np.random.default_rng(seed)
    weights = np.empty((resamples, items), dtype=np.uint16)
    for row in weights:
        row[:] = np.bincount(random.integers(number, size=number), minlength=number)[of_item]
    return weights


def resample(prepared: Measured, statistics: Floats, weights: npt.NDArray[Any]) -> Floats:
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
        The measures. They do not depend on the order of the items, not even in the last bit.
    """
    samples: Floats = prepared.measures(weighted_sums(weights, prepared.groups)(rounded(statistics)).T)
    return samples


def gains_by_item(prepared: Measured, mine: Floats, theirs: Floats) -> Floats:
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


def slopes(prepared: Measured, total: Floats) -> Floats:
    """Estimate how fast each measure grows with each sum.

    The partial derivatives, (m, g, k), are approximated by forward differences. A step is `NEARBY` times the
    sum, or times a g-th of the largest sum in the same column, whichever is larger. So the columns may have
    any scale.
    """
    of_column = np.abs(total).max(axis=0)
    step = NEARBY * np.maximum(np.abs(total), np.where(of_column > 0, of_column / len(total), 1))
    near = total + step * np.eye(total.size).reshape(-1, *total.shape)
    rise: Floats = prepared.measures(near) - prepared.measures(total)
    steepness: Floats = np.divide(rise.T.reshape(-1, *total.shape), step)
    return steepness


def influences(prepared: Measured, statistics: Floats, total: Floats) -> Floats:
    """Estimate how fast the score grows with the weight of each item, (n,), from the sums over groups, (g, k).

    If an item occurs w times in a draw, it changes the score by about w - 1 times its influence.
    """
    influence: Floats = contributions(prepared.groups, statistics, slopes(prepared, total)[0]).sum(axis=0)
    return influence


def contributions(groups: Ints, statistics: Floats, of_sums: Floats) -> Floats:
    """Split the influence of each item on a measure by attribute, (attributes, n).

    An item belongs to one group of each attribute, and it changes the measure through each of these groups.
    """
    of_groups = statistics @ of_sums.T
    split: Floats = np.take_along_axis(of_groups, groups.T, axis=1).T
    return split


def weighted_sums(weights: npt.NDArray[Any], groups: Ints) -> Callable[..., Floats]:
    """Make a function that sums columns of statistics, (k, n), over groups of weighted items, (k, g, r).

    Items that belong to the same group of every attribute form a cell, and each group is a union of cells. So
    each item is multiplied only once, whatever the number of attributes. The sums are exact if the columns
    are `rounded`.
    """
    cells, cell = np.unique(groups, axis=1, return_inverse=True)
    order = np.argsort(cell.ravel(), kind="stable")
    bounds = np.searchsorted(cell.ravel()[order], np.arange(cells.shape[1] + 1)).tolist()
    counts = weights.take(order, axis=1)
    rows = max(1, CELLS_AT_ONCE // max(len(order), 1))

    def sums_of_draws(*statistics: Floats) -> Floats:
        columns = np.concatenate([each.take(order, axis=1) for each in statistics])
        total = np.zeros((len(columns), int(groups.max()) + 1, len(weights)))
        for first in range(0, len(weights), rows):
            draws = slice(first, first + rows)
            block = counts[draws].astype(np.float64).T
            for of_cell, start, stop in zip(cells.T, bounds, bounds[1:]):
                total[:, of_cell, draws] += (columns[:, start:stop] @ block[start:stop])[:, np.newaxis]
        return total

    return sums_of_draws


def rounded(statistics: Floats) -> Floats:
    """Round each column so coarsely that its sums over any draw of n items are exact in any order, (k, n).

    Every number becomes a multiple of its column's unit, a power of two. The unit is so large that a sum over
    a draw has at most 53 bits.

    >>> rounded(np.array([[1e9, 1e-5], [1.0, 2e-5]]))[1].round(12).tolist()
    [1e-05, 2e-05]
    """
    largest = np.abs(statistics).max(axis=0, initial=0)
    exponents = np.frexp(np.where(largest > 0, largest, 1) * max(len(statistics), 1))[1]
    # A unit smaller than the smallest normal number would become 0.
    units = np.exp2(np.maximum(exponents - 52.0, -1022.0))[:, np.newaxis]
    columns: Floats = np.rint(statistics.T / units) * units
    return columns


def is_close_to_none(values: Floats, scale: float = 1e-9) -> Bools:
    """Tell which values differ from zero by no more than rounding."""
    close: Bools = np.abs(values) <= scale * np.abs(values).max(initial=0)
    return close
