"""Group and sum the rows of arrays: by a number, in ranges, and in stretches that belong together."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def by_essay(numbers: Ints) -> Iterator[tuple[int, Ints]]:
    """Group rows by a number, such as that of their essay.

    >>> [(number, rows.tolist()) for number, rows in by_essay(np.array([7, 3, 7]))]
    [(3, [1]), (7, [0, 2])]
    """
    order = np.argsort(numbers, kind="stable")
    occurring, begins = np.unique(numbers[order], return_index=True)
    return zip(occurring.tolist(), np.split(order, begins[1:]))


def ranges(first: Ints, size: Ints) -> tuple[Ints, Ints]:
    """List the numbers of several ranges, each from `first` on, and say to which range each number belongs.

    >>> [each.tolist() for each in ranges(np.array([5, 8]), np.array([2, 3]))]
    [[0, 0, 1, 1, 1], [5, 6, 8, 9, 10]]
    """
    before = np.cumsum(size) - size
    return np.repeat(np.arange(len(size)), size), np.arange(size.sum()) + np.repeat(first - before, size)


def differs(*columns: Ints) -> Bools:
    """Tell which elements have in any of the columns another value than the element before; the first one has.

    >>> differs(np.array([3, 3, 5])).tolist()
    [True, False, True]
    """
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return new


def stretches(inside: Bools, goes_on: Bools) -> tuple[Ints, Ints]:
    """Find the first and the last element of each stretch of elements that are `inside`.

    `goes_on` tells for every element but the first whether it continues the one before it.

    >>> first, last = stretches(np.array([True, True, False, True]), np.array([True, False, False]))
    >>> first.tolist(), last.tolist()
    ([0, 3], [1, 3])
    """
    first = np.flatnonzero(inside & ~np.append(False, goes_on))
    last = np.flatnonzero(inside & ~np.append(goes_on, False))
    return first, last


def means(values: Floats, first: Ints, last: Ints) -> Floats:
    """Compute the mean of the values in each stretch, at most 1."""
    bounds = np.stack([first, last + 1], axis=1).ravel()
    # reduceat needs an element for the bound after the last one.
    sums: Floats = np.add.reduceat(np.append(values, 0.0), bounds)[::2]
    return (sums / (last - first + 1)).clip(0, 1)
