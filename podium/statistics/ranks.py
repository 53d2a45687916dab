"""Sets that hold the true ranks of competitors, of all at once and of each one alone.

Pairs of competitors are kept as one row per competitor with those after it, in single precision: four bytes per
pair of two, or 200 MB for 10,000 competitors.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from podium.statistics.inference import LEVEL

ROUNDING = 1e-12  # relative to the values, by which sums in another order differ
MOST_STEPS = 10  # of the step-down
STEPS_UP_TO = 500  # competitors; of more, steps change next to nothing
DRAWS_AT_ONCE = 64
ROWS_AT_ONCE = 256
PAIRS_AT_ONCE = 2048  # of one competitor: with the draws at once, they fit a core's cache

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def rank_sets(values: npt.ArrayLike, samples: Floats) -> tuple[Ints, Ints]:
    """Compute sets of ranks that hold the true ranks with 95% confidence.

    All differences of two competitors are tested at once, by the largest error of any of them on the draws, in
    units of its scale, step down (M. Mogstad, J. Romano, A. Shaikh and D. Wilhelm, "Inference for Ranks",
    Review of Economic Studies 91, 2024, doi 10.1093/restud/rdad006).  A competitor's set begins after those
    that are certainly better and ends before those that are certainly worse.

    The scale is the deviation of the difference on the draws plus the median of all deviations.  Without it,
    differences that hardly ever change would decide alone: a few draws with a jump are many deviations away.
    The idea of adding a constant to every deviation is that of SAM (V. Tusher, R. Tibshirani and G. Chu, PNAS
    98, 2001), which chooses a quantile of the deviations by another criterion.

    Parameters
    ----------
    values : (t,) floats, higher is better
    samples : (r, t) floats, draws of the values

    Returns
    -------
    together : (t, 2) integers, first and last ranks; with 95% confidence all true ranks lie in them at once
    alone : (t, 2) integers, first and last ranks; with 95% confidence for each competitor by itself

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
    """The scale of each pair, a row per competitor with those after it; 0 where the draws do not differ."""
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
    """The differences between a competitor and those after it, in units of their scale.

    Without noise any difference is certain, and none is not.
    """
    difference = values[team] - values[team + 1 :]
    without_noise = np.where(difference == 0, 0, np.copysign(np.inf, difference))
    ratios: Floats = np.divide(difference, scale, out=without_noise, where=scale > 0)
    return ratios


def _both_ways(values: Floats, scales: list[Singles]) -> Iterator[Floats]:
    for team, scale in enumerate(scales):
        ratio = _ratios(values, team, scale)
        yield ratio
        yield -ratio


def _sets(values: Floats, scales: list[Singles], thresholds: npt.NDArray[np.floating]) -> Ints:
    """First and last ranks from differences beyond each competitor's threshold, (t,): (t, 2)."""
    better, worse = np.zeros((2, len(values)), dtype=np.int64)
    for team, scale in enumerate(scales):
        ratio, after = _ratios(values, team, scale), slice(team + 1, None)
        worse[team] += (ratio > thresholds[team]).sum()
        better[team] += (-ratio > thresholds[team]).sum()
        better[after] += ratio > thresholds[after]
        worse[after] += -ratio > thresholds[after]
    return np.stack([1 + better, len(values) - worse], axis=1)


def _largest_errors(errors: Singles, values: Floats, scales: list[Singles], critical: float) -> Singles:
    """On each draw each competitor's largest error of a difference with another one, in units of its scale.

    Parameters
    ----------
    errors : (r, t)
    values : (t,)
    scales : from `_scales`
    critical : differences beyond it are certain, and their errors count no more

    Returns
    -------
    (r, t)
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
