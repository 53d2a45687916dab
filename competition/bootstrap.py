"""How much of a score is luck of the draw: bootstrap over the items of a metric.

One draw takes as many items (essays, claims, documents) as there are, with replacement.  An evaluation that
offers `resample` (see `competition.metric_file`) says what its measures would have been.  Submissions to the
same solution are compared on the same draws.
"""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["LEVEL", "draw", "interval", "measures", "rows_at_once"]

LEVEL = 0.95
CELLS_AT_ONCE = 2**22

Floats = npt.NDArray[np.float64]


def draw(items: int, resamples: int, seed: int) -> npt.NDArray[np.uint16]:
    """How often each item occurs in each draw.

    Parameters
    ----------
    items, resamples : int, above 0
    seed : int, at least 0

    Returns
    -------
    (resamples, items) uint16
        Every row sums to `items`.  The first rows are the same for any number of resamples.

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


def measures(evaluation: Any, weights: npt.NDArray[Any]) -> Floats:
    """The evaluation's measures on every draw, (resamples, measures), a few draws at a time."""
    rows = rows_at_once(weights.shape[1])
    parts = [evaluation.resample(weights[start : start + rows]) for start in range(0, len(weights), rows)]
    return np.concatenate(parts)


def rows_at_once(items: int) -> int:
    """How many draws to hand to an evaluation at a time: they fit into 32 MB as floats."""
    return max(1, CELLS_AT_ONCE // items)


def interval(samples: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The percentile interval that holds 95% of the samples, over the first axis.

    NaN samples do not count; where all are NaN, so is the interval.

    Examples
    --------
    >>> low, high = interval(np.arange(101) / 100)
    >>> round(float(low), 6), round(float(high), 6)
    (0.025, 0.975)
    """
    tail = (1 - LEVEL) / 2
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        low, high = np.nanquantile(np.asarray(samples, dtype=np.float64), [tail, 1 - tail], axis=0)
    return low, high
