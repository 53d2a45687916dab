"""Rank sets: the ranks that competitors may truly have, for all at once or of each one alone.

Numbers about pairs of competitors are kept once for each pair.  Each competitor has a row with one number for
every competitor after it, in single precision.  So they take four bytes per pair, or 200 MB for 10,000
competitors.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from podium.statistics.inference import LEVEL

ROUNDING = 1e-12  # how much sums in another order differ, relative to the values
MOST_STEPS = 10  # steps of the step-down
STEPS_UP_TO = 500  # competitors; with more of them, steps change next to nothing
DRAWS_AT_ONCE = 64
ROWS_AT_ONCE = 256
PAIRS_AT_ONCE = 2048  # pairs of one competitor; with DRAWS_AT_ONCE draws of each they fit a core's cache

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def rank_sets(values: npt.ArrayLike, samples: Floats) -> tuple[Ints, Ints]:
    """Compute rank sets, which hold the true ranks with 95% confidence.

    The method is that of M. Mogstad, J. Romano, A. Shaikh and D. Wilhelm ("Inference for Ranks", Review of
    Economic Studies 91, 2024, doi 10.1093/restud/rdad006).  It tests all differences between two competitors at
    once.  The rank set of a competitor begins after those that are certainly better and ends before those that
    are certainly worse.  The Notes give the steps.

    Parameters
    ----------
    values : array-like of float, shape (t,)
        The observed value of each of t competitors.  A higher value is better.
    samples : ndarray of float, shape (r, t)
        Draws of these values.  All competitors share the same r draws.

    Returns
    -------
    together : ndarray of int, shape (t, 2)
        The first and the last rank of each competitor's set, counted from 1.  With 95% confidence the sets of
        all competitors hold their true ranks at once.
    alone : ndarray of int, shape (t, 2)
        The same for one competitor that was named in advance.  With 95% confidence its own set holds its rank.

    Notes
    -----
    The error of a difference on a draw is the difference on that draw minus the mean over all draws.  It is
    measured in units of the difference's scale.  A minus B and B minus A are two differences.

    1. On each draw, take the largest absolute error of all differences.
    2. The 95% quantile of these largest errors is the critical value.  A difference is certain if it exceeds
       the critical value times its scale.
    3. For ``together``, step down: repeat with the differences that are not certain yet, until no further one
       becomes certain.  There are at most ten such steps, and none with more than 500 competitors.
    4. For ``alone``, the largest error is taken over the differences of that one competitor, without steps.

    The scale of a difference is its standard deviation on the draws plus the median of all such deviations.
    Without the median, differences that hardly ever change would decide alone, because a few draws with a jump
    lie many deviations away.  The idea of adding a constant to every deviation is that of SAM (V. Tusher, R.
    Tibshirani and G. Chu, PNAS 98, 2001).  SAM chooses a quantile of the deviations by another criterion.

    A difference that is the same on all draws has no scale.  It is certain unless it is 0.

    Examples
    --------
    >>> values = np.array([3.0, 2.0, 1.9])
    >>> samples = values + np.random.default_rng(0).normal(0, 0.1, (200, 3))
    >>> rank_sets(values, samples)[0].tolist()
    [[1, 1], [2, 3], [2, 3]]
    """
    values = np.asarray(values, dtype=np.float64)
    errors = samples - samples.mean(axis=0)
    scales = _scales(errors, ROUNDING * (1 + np.abs(values).max(initial=0)))
    singles = errors.astype(np.float32)
    del errors

    largest = _largest_errors(singles, values, scales, np.inf)
    marginal = _sets(values, scales, np.quantile(largest, LEVEL, axis=0))
    critical = float(np.quantile(largest.max(axis=1), LEVEL))
    for _ in range(MOST_STEPS if len(values) <= STEPS_UP_TO else 0):
        left = float(np.quantile(_largest_errors(singles, values, scales, critical).max(axis=1), LEVEL))
        if not any(((left < ratio) & (ratio <= critical)).any() for ratio in _both_ways(values, scales)):
            break
        critical = left
    return _sets(values, scales, np.full(len(values), critical)), marginal


def _scales(errors: Floats, nothing: float) -> list[Singles]:
    """Compute the scale of each pair, in one row per competitor with the competitors after it.

    Parameters
    ----------
    errors : ndarray of float, shape (r, t)
        The draws minus their means.
    nothing : float
        A standard deviation up to this one is rounding, and the scale of its pair is 0.
    """
    draws, teams = errors.shape
    variance = (errors**2).mean(axis=0)
    rows: list[Singles] = []
    for first in range(0, teams, ROWS_AT_ONCE):
        covariance = errors[:, first : first + ROWS_AT_ONCE].T @ errors[:, first:] / draws
        for number, row in enumerate(covariance):
            team = first + number
            squares = variance[team] + variance[team + 1 :] - 2 * row[number + 1 :]
            deviation = np.sqrt(np.maximum(squares, 0))
            rows.append(np.where(deviation <= nothing, 0, deviation).astype(np.float32))
    every = np.concatenate(rows) if rows else np.empty(0, dtype=np.float32)
    every = every[every > 0]
    if len(every):
        median = np.median(every, overwrite_input=True)
        for scale in rows:
            scale[scale > 0] += median
    return rows


def _ratios(values: Floats, team: int, scale: Singles) -> Floats:
    """Divide the differences between a competitor and those after it by their scale.

    Where the scale is 0 there is no noise: a difference counts as infinite, and the ratio of equal values is 0.
    """
    difference = values[team] - values[team + 1 :]
    without_noise = np.where(difference == 0, 0, np.copysign(np.inf, difference))
    ratios: Floats = np.divide(difference, scale, out=without_noise, where=scale > 0)
    return ratios


def _both_ways(values: Floats, scales: list[Singles]) -> Iterator[Floats]:
    """Yield the ratios of each competitor to those after it, and then with the opposite sign."""
    for team, scale in enumerate(scales):
        ratio = _ratios(values, team, scale)
        yield ratio
        yield -ratio


def _sets(values: Floats, scales: list[Singles], thresholds: npt.NDArray[np.floating]) -> Ints:
    """Turn differences into first and last ranks, shape (t, 2).

    A difference is certain for a competitor if it exceeds the competitor's own threshold; there are t of them.
    """
    better, worse = np.zeros((2, len(values)), dtype=np.int64)
    for team, scale in enumerate(scales):
        ratio, after = _ratios(values, team, scale), slice(team + 1, None)
        worse[team] += (ratio > thresholds[team]).sum()
        better[team] += (-ratio > thresholds[team]).sum()
        better[after] += ratio > thresholds[after]
        worse[after] += -ratio > thresholds[after]
    return np.stack([1 + better, len(values) - worse], axis=1)


def _largest_errors(errors: Singles, values: Floats, scales: list[Singles], critical: float) -> Singles:
    """Find, on each draw, the largest error among the differences of each competitor, in units of their scale.

    Parameters
    ----------
    errors : ndarray of float32, shape (r, t)
        The draws minus their means.
    values : ndarray of float, shape (t,)
        The observed values.
    scales : list of ndarray of float32
        The rows that `_scales` computed.
    critical : float
        The critical value of the step before, in units of the scale.  The errors of differences that exceed it
        no longer count, because these differences are certain.  It is infinite in the first step.

    Returns
    -------
    ndarray of float32, shape (r, t)
    """
    draws, teams = errors.shape

    def of_some(first: int) -> Singles:
        some = np.ascontiguousarray(errors[first : first + DRAWS_AT_ONCE].T)
        largest = np.zeros_like(some)
        for team, scale in enumerate(scales):
            factor = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
            is_left = np.ones((2, len(factor)), dtype=bool)
            if critical < np.inf:
                ratio = _ratios(values, team, scale)
                is_left = np.stack([ratio <= critical, -ratio <= critical])
            for start in range(team + 1, teams, PAIRS_AT_ONCE):
                after = slice(start, start + PAIRS_AT_ONCE)
                in_row = slice(start - team - 1, start - team - 1 + PAIRS_AT_ONCE)
                error = some[team] - some[after]
                error *= factor[in_row, np.newaxis]
                if is_left[:, in_row].all():
                    np.abs(error, out=error)
                else:
                    ways = is_left[:, in_row, np.newaxis]
                    error = np.maximum(error * ways[0], -error * ways[1])
                np.maximum(largest[team], error.max(axis=0), out=largest[team])
                np.maximum(largest[after], error, out=largest[after])
        return np.ascontiguousarray(largest.T)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.concatenate(list(pool.map(of_some, range(0, draws, DRAWS_AT_ONCE))))
