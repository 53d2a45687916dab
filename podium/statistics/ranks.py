"""Sets that hold the true ranks of competitors."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from podium.statistics.inference import LEVEL

ROUNDING = 1e-12  # relative to the values, by which sums in another order differ
MOST_STEPS = 10  # of the step-down
STEPS_UP_TO = 500  # competitors; of more, steps change next to nothing
DRAWS_AT_ONCE = 64  # whose differences with all competitors fit a cache

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def rank_sets(values: npt.ArrayLike, samples: Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Sets that hold true ranks with 95% confidence, of all competitors at once and of each one alone.

    From values, (t,), higher is better, and samples of them, (r, t): first and last ranks, (t, 2) each.

    All differences are tested at once, by the largest error of one on the draws, in units of its deviation
    plus the deviations' median, step down (Mogstad, Romano, Shaikh, Wilhelm, doi 10.1093/restud/rdad006).
    """
    values = np.asarray(values, dtype=np.float64)
    teams = len(values)
    errors = samples - samples.mean(axis=0)
    covariance = errors.T @ errors / len(errors)
    variance = np.diag(covariance)
    deviation = np.sqrt(np.maximum(variance[:, np.newaxis] + variance - 2 * covariance, 0))
    certain = deviation <= ROUNDING * (1 + np.abs(values).max(initial=0))
    # The median, so that differences that seldom jump and are the same else do not decide alone.
    deviation = np.where(certain, 0, deviation + np.median(deviation[~certain]) if not certain.all() else 0)
    difference = values[:, np.newaxis] - values
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without noise, any difference is certain, and none is not.
        ratio = np.where(difference == 0, 0, difference / deviation)
        scale = np.where(deviation > 0, 1 / deviation, 0).astype(np.float32)
    errors = np.ascontiguousarray(errors, dtype=np.float32)

    largest, of_each = _largest_errors(errors, scale)
    alone = np.quantile(of_each, LEVEL, axis=0)
    marginal = _ranks_from(ratio > alone[:, np.newaxis], -ratio > alone[:, np.newaxis])
    certain = ratio > np.quantile(largest, LEVEL)
    for _ in range(MOST_STEPS if teams <= STEPS_UP_TO else 0):
        left = np.where(certain, 0, scale)
        larger = certain | (ratio > np.quantile(_largest_errors(errors, left)[0], LEVEL))
        if (larger == certain).all():
            break
        certain = larger
    return _ranks_from(certain, certain.T), marginal


def _ranks_from(better: Bools, worse: Bools) -> npt.NDArray[np.int64]:
    """First and last ranks from who is certainly better and worse, (t, t)."""
    return np.stack([1 + worse.sum(axis=1), len(better) - better.sum(axis=1)], axis=1)


def _largest_errors(
    errors: npt.NDArray[np.float32], scale: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """On each draw the largest error of a difference times its scale, (t, t): (r,), and of each, (r, t)."""
    draws, teams = errors.shape
    opposite = np.ascontiguousarray(-scale.T)

    def of_some(first: int) -> npt.NDArray[np.float32]:
        some = np.ascontiguousarray(errors[first : first + DRAWS_AT_ONCE].T)
        largest = np.zeros_like(some)
        for team in range(teams - 1):
            others = slice(team + 1, None)
            difference = some[team] - some[others]
            either = difference * opposite[team, others, np.newaxis]
            difference *= scale[team, others, np.newaxis]
            np.maximum(either, difference, out=either)
            np.maximum(largest[team], either.max(axis=0), out=largest[team])
            np.maximum(largest[others], either, out=largest[others])
        return largest

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        of_each = np.concatenate(list(pool.map(of_some, range(0, draws, DRAWS_AT_ONCE))), axis=1)
    return of_each.max(axis=0), of_each.T
