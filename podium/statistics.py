"""How sure a score is: resampling, swapping, intervals and p-values, for any metric.

``prepared`` is what the metric's ``prepare`` made of a solution, ``statistics``, (n, k), are numbers of each
item, of whose sums all measures are (`podium.hosted`).
"""

import dataclasses
import math
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "LEVEL",
    "RESAMPLES",
    "Resampled",
    "compare",
    "draw",
    "gains_by_item",
    "influences",
    "interval",
    "interval_notes",
    "intervals",
    "measures",
    "part",
    "rank_sets",
    "resample",
    "resampler",
    "sums",
    "swap",
    "widening",
]

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
RESAMPLES = 1000
CELLS_AT_ONCE = 2**24  # 128 MB of floats
ROUNDING = 1e-12  # by which sums in another order differ
MOST_STEPS = 10  # of the step-down
STEPS_UP_TO = 500  # competitors
DRAWS_AT_ONCE = 64  # fit a cache
FEW = 10  # items, of which an interval promises too much
SHARES = 200  # of the variance of scores of groups that may be noise
UNKNOWN = 100.0
FAR_OFF = 10.0  # standard errors
NEARBY = 1e-6  # of a sum, of how fast scores change

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def sums(statistics: Floats, groups: npt.NDArray[np.int64]) -> Floats:
    """Sums over each group of items, (g, k), added in the order of the items."""
    number = int(groups.max()) + 1
    columns = [
        sum(np.bincount(members, column, minlength=number) for members in groups) for column in statistics.T
    ]
    return np.stack(columns, axis=-1)


def measures(prepared: Any, statistics: Floats) -> dict[str, float]:
    """The measures of a submission by name, "score" first; NaN where undefined."""
    values = prepared.measures(sums(statistics, prepared.groups))
    return dict(zip(prepared.measure_names, values.tolist()))


def part(prepared: Any, kept: Bools) -> Any:
    """``prepared`` of some of the items, (n,) bool."""
    occurring, groups = np.unique(prepared.groups[:, kept], return_inverse=True)
    return dataclasses.replace(
        prepared,
        items=[item for item, keep in zip(prepared.items, kept.tolist()) if keep],
        labels=[prepared.labels[group] for group in occurring.tolist()],
        groups=groups.reshape(len(prepared.groups), -1),
    )


def draw(items: int, resamples: int, seed: int) -> npt.NDArray[np.uint16]:
    """How often each item occurs in each bootstrap draw, (resamples, items); the first are always the same."""
    random = np.random.default_rng(seed)
    weights = np.empty((resamples, items), dtype=np.uint16)
    for row in weights:
        row[:] = np.bincount(random.integers(items, size=items), minlength=items)
    return weights


def resample(prepared: Any, statistics: Floats, weights: npt.NDArray[Any]) -> Floats:
    """The measures, (r, m), if item i occurred ``weights[r, i]`` times, (r, n)."""
    samples: Floats = prepared.measures(_weighted_sums(weights, prepared.groups)(_rounded(statistics)).T)
    return samples


class Resampled(NamedTuple):
    """``sums`` of a submission's statistics, (g, k), and on draws ``samples`` of its measures, (r, m).

    ``scores``, (r,), are such as the whole population may have: by a softmin, the group that happens to be
    worst counts most, in the sample and once more in each draw (`_plausible`).
    """

    sums: Floats
    samples: Floats
    scores: Floats


def resampler(prepared: Any, weights: npt.NDArray[Any]) -> Callable[..., list[Resampled]]:
    """A function of several submissions' statistics, ``compared`` for differences: what draws, (r, n), tell."""
    sums_of_draws = _weighted_sums(weights, prepared.groups)
    group_of = [
        [prepared.measure_names.index(name), number]
        for number, (attribute, value) in enumerate(prepared.labels)
        if (name := f"{attribute} = {value}") in prepared.measure_names
    ]
    is_grouped = len(group_of) == len(prepared.labels) > 1
    columns = [column for column, _ in group_of]
    ones = np.ones((weights.shape[1], 1))
    sizes, observed_sizes = sums_of_draws(ones.T)[0], sums(ones, prepared.groups)

    def of_draws(*submissions: Floats, compared: bool = False) -> list[Resampled]:
        drawn = np.split(sums_of_draws(*map(_rounded, submissions)), len(submissions))
        samples: list[Floats] = [prepared.measures(each.T) for each in drawn]
        observed = [sums(each, prepared.groups) for each in submissions]
        if not is_grouped:
            return [Resampled(total, each, each[:, 0]) for total, each in zip(observed, samples)]
        scores = np.stack([prepared.measures(each)[columns] for each in observed])
        variances = np.stack([np.nanvar(each[:, columns], axis=0) for each in samples])
        if compared:  # how much groups differ is then no difference
            scores[:], variances[:] = scores.mean(axis=0), variances.mean(axis=0)
        plausible = [
            prepared.measures(_plausible(prepared, observed_sizes, sizes, *of_one).T)[:, 0]
            for of_one in zip(observed, drawn, scores, variances)
        ]
        return [Resampled(*of_one) for of_one in zip(observed, samples, plausible)]

    return of_draws


def _plausible(
    prepared: Any,
    observed_sizes: Floats,
    sizes: Floats,
    observed: Floats,
    drawn: Floats,
    scores: Floats,
    variances: Floats,
) -> Floats:
    """Sums of the statistics over each group, (k, g, r), as the whole population may have them.

    For each attribute the scores of its groups are taken for normal, s_g ~ N(θ_g, σ_g²), σ_g from the draws,
    around true ones, θ_g ~ N(μ, ω²).  ω is drawn from what the scores tell of it, μ and θ_g given ω; the draws'
    noise is scaled to the posterior variances.

    The prior of B = σ²/(σ² + ω²) is B^-1.5·(1 - B)^-0.9; as likely as not, one of the groups is far off: its
    ω² is larger by (10·σ)².  These numbers were chosen by coverage (benchmarks/coverage.py).

    ``sizes`` are (g, 1) and (g, r), the statistics' sums (g, k) and (k, g, r), ``scores`` and ``variances``
    (g,).
    """
    resamples = drawn.shape[-1]
    random = np.random.default_rng(resamples)
    means = (observed / observed_sizes).T[..., np.newaxis]
    plausible = drawn / np.maximum(sizes, 1)
    plausible -= means
    plausible[:, sizes == 0] = 0.0
    attributes = [attribute for attribute, _ in prepared.labels]
    share = (np.arange(SHARES) + 0.5) / SHARES
    for attribute in dict.fromkeys(attributes):
        first = attributes.index(attribute)
        of = slice(first, first + attributes.count(attribute))
        score, variance, noise, mean = scores[of], variances[of], plausible[:, of], means[:, of]
        known = np.isfinite(score) & (variance > ROUNDING**2)
        if not known.any():
            noise += mean
            continue
        # A group that tells nothing of itself is like the others.
        score = np.where(known, score, score[known].mean())
        variance = np.where(known, variance, variance[known].max() * UNKNOWN)
        alone = np.concatenate([np.zeros((1, len(score))), np.eye(len(score))])[:, np.newaxis] * FAR_OFF**2
        typical = len(variance) / np.sum(1 / variance)
        # (models, shares, groups), then (models · shares, groups)
        differing = (typical * ((1 - share) / share)[:, np.newaxis] + typical * alone).reshape(-1, len(score))
        precision = 1 / (variance + differing)
        total = precision.sum(axis=1)
        centre = (precision * score).sum(axis=1) / total
        misfit = (precision * (score - centre[:, np.newaxis]) ** 2).sum(axis=1)
        log_density = (np.log(precision).sum(axis=1) - misfit - np.log(total)) / 2
        log_density += np.tile(-1.5 * np.log(share) - 0.9 * np.log(1 - share), len(alone))
        log_density[SHARES:] -= np.log(len(score))
        cumulated = np.cumsum(np.exp(log_density - log_density.max()))
        place = (np.arange(resamples) + 0.5) / resamples * cumulated[-1]
        chosen = random.permutation(np.searchsorted(cumulated, place))

        kept = (differing[chosen] / (variance + differing[chosen])).T
        weight = (precision[chosen] / total[chosen, np.newaxis]).T
        # The noise of μ is that of another draw, with what the groups differ by.
        others = noise[..., random.permutation(resamples)]
        others *= weight * np.sqrt(1 + differing[chosen] / variance).T
        common = others.sum(axis=1, keepdims=True) + (mean[..., 0] @ weight)[:, np.newaxis]
        np.subtract(mean, common, out=others)
        others *= kept
        noise *= np.sqrt(kept)
        noise += common
        noise += others
    if (observed >= 0).all():
        np.maximum(plausible, 0, out=plausible)
    plausible *= observed_sizes
    return plausible


def swap(prepared: Any, mine: Floats, theirs: Floats, swapped: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """The measures, (r, m) each, of two submissions that swap their answers where ``swapped``, (r, n), is 1."""
    moved = _weighted_sums(swapped, prepared.groups)(_rounded(theirs - mine)).T
    return (
        prepared.measures(sums(mine, prepared.groups) + moved),
        prepared.measures(sums(theirs, prepared.groups) - moved),
    )


def gains_by_item(prepared: Any, mine: Floats, theirs: Floats) -> Floats:
    """What each item's answers of mine alone would add to their measures, (n, m)."""
    before = sums(theirs, prepared.groups)
    after = np.repeat(before[np.newaxis], len(mine), axis=0)
    items = np.arange(len(mine))
    for members in prepared.groups:
        after[items, members] += mine - theirs
    gains: Floats = prepared.measures(after) - prepared.measures(before)
    return gains


def influences(prepared: Any, statistics: Floats, total: Floats) -> Floats:
    """How fast the score grows with each item's weight, (n,), at ``total``, the sums."""
    step = NEARBY * np.maximum(np.abs(total), 1)
    near = total + step * np.eye(total.size).reshape(-1, *total.shape)
    slopes = (prepared.measures(near)[:, 0] - prepared.measures(total)[0]).reshape(total.shape) / step
    of_groups = statistics @ slopes.T
    influence: Floats = np.take_along_axis(of_groups, prepared.groups.T, axis=1).sum(axis=1)
    return influence


def _weighted_sums(weights: npt.NDArray[Any], groups: npt.NDArray[np.int64]) -> Callable[..., Floats]:
    """From columns of rounded statistics, (k, n) each, to weighted sums over each group's items, (all k, g, r).

    Items of the same groups make one cell.  Single precision, where it is exact, takes half the time.
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
    """Add columns, (k, n), small whole ones in single precision, as sums of hits and misses are."""
    fraction = None
    for column in more:
        is_whole = _is_whole(column)
        if not is_whole and fraction is not None and _is_whole(together := column + columns[fraction]):
            added[len(columns)] = fraction
            column, is_whole = together, True
        if not is_whole:
            fraction = len(columns)
        is_small = is_whole and max(column.max(), -column.min()) * len(column) < 2**24
        columns.append(column.astype(np.float32) if is_small else column)


def _is_whole(column: Floats) -> bool:
    return bool((column == np.rint(column)).all())


def _rounded(statistics: Floats) -> Floats:
    """The columns, (k, n), to so few bits that sums weighted by n in all are exact in any order."""
    largest = float(max(statistics.max(initial=1), -statistics.min(initial=-1)))
    unit = 2.0 ** (math.ceil(math.log2(largest * max(len(statistics), 1))) - 52)
    return np.rint(statistics.T * (1 / unit)) * unit


def interval(samples: npt.ArrayLike, widening: npt.ArrayLike = 1.0) -> tuple[Floats, Floats]:
    """The interval of 95% of the samples but NaN, over the first axis, wider around the median by a factor."""
    samples = np.asarray(samples, dtype=np.float64)
    if not samples.size:
        return np.full(samples.shape[1:], np.nan), np.full(samples.shape[1:], np.nan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        low, median, high = np.nanquantile(samples, [TAIL, 0.5, 1 - TAIL], axis=0)
    more = np.asarray(widening) - 1
    return low - more * (median - low), high + more * (high - median)


def widening(gains: npt.ArrayLike) -> Floats:
    """The factor, from 1, by which the interval of a difference that few items decide is to be wider.

    Of gains g by item, (n, ...), it is that of Student's t with ν = 3·(Σg²)²/Σg⁴ degrees of freedom (T.
    Hesterberg, "What Teachers Should Know About the Bootstrap", 2015).
    """
    from scipy import special  # takes long to import

    gains = np.asarray(gains, dtype=np.float64)
    squares, fourths = (gains**2).sum(axis=0), (gains**4).sum(axis=0)
    freedom = np.divide(3 * squares**2, fourths, out=np.full_like(fourths, np.inf), where=fourths > 0)
    factors: Floats = special.stdtrit(freedom, TAIL) / special.ndtri(TAIL)
    return factors


def intervals(prepared: Any, statistics: Floats, resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """The 95% intervals of all measures, for the whole population from which the items were drawn.

    The score's may lie above it: where the worst of several groups counts most, a small sample scores lower
    than the population.  Where a measure tells too little there is none: the note says why.
    """
    value = measures(prepared, statistics)
    ((_, samples, scores),) = resampler(prepared, draw(len(statistics), resamples, seed))(statistics)
    low, high = interval(samples)
    low[0], high[0] = interval(scores)
    notes = interval_notes(prepared)
    none = np.array(["no interval" in note for note in notes])
    low, high = np.where(none, np.nan, low), np.where(none, np.nan, high)
    return pd.DataFrame(
        {"measure": list(value), "value": list(value.values()), "low": low, "high": high, "note": notes}
    )


def interval_notes(prepared: Any) -> list[str]:
    """Of each measure why it has no interval, or why its interval promises too much, else ""."""
    sizes = np.bincount(prepared.groups.ravel(), minlength=len(prepared.labels)).tolist()
    size_of = {f"{attribute} = {value}": size for (attribute, value), size in zip(prepared.labels, sizes)}
    items = len(prepared.items)
    if items < 2:
        return ["no interval: only one item"] * len(prepared.measure_names)
    others = f"beware: fewer than {FEW} items" if items < FEW else ""
    return [
        f"no interval: fewer than {FEW} items" if size_of.get(name, FEW) < FEW else others
        for name in prepared.measure_names
    ]


def compare(
    prepared: Any, mine: Floats, theirs: Floats, resamples: int = RESAMPLES, seed: int = 0
) -> pd.DataFrame:
    """The differences between two submissions to the same solution, in all measures.

    The interval is of the same draws, wider where few items decide (`widening`).  The p-value is that of
    approximate randomisation (E. Noreen, 1989), two-sided: (c + 1) / (n + 1) where c of n random swaps of
    answers make the absolute difference as large.
    """
    of_draws = resampler(prepared, draw(len(mine), resamples, seed))
    (_, ours, score), (_, others, other_score) = of_draws(mine, theirs, compared=True)
    # The same from either side.
    wider = widening(gains_by_item(prepared, mine, theirs) - gains_by_item(prepared, theirs, mine))
    low, high = interval(ours - others, wider)
    low[0], high[0] = interval(score - other_score, wider[0])
    value, other = (np.array(list(measures(prepared, each).values())) for each in (mine, theirs))
    return pd.DataFrame(
        {
            "measure": prepared.measure_names,
            "value": value,
            "other": other,
            "difference": value - other,
            "low": low,
            "high": high,
            "p": _p_values(np.abs(value - other), prepared, mine, theirs, resamples, seed),
        }
    )


def _p_values(
    observed: Floats, prepared: Any, mine: Floats, theirs: Floats, resamples: int, seed: int
) -> Floats:
    random = np.random.default_rng([seed, 1])  # not the stream of the draws
    rows = max(1, CELLS_AT_ONCE // len(mine))
    as_large = np.zeros(len(observed))
    least = observed * (1 - ROUNDING) - ROUNDING
    for start in range(0, resamples, rows):
        size = (min(rows, resamples - start), len(mine))
        ours, others = swap(prepared, mine, theirs, random.integers(0, 2, size, dtype=np.uint8))
        as_large += (np.abs(ours - others) >= least).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, (as_large + 1) / (resamples + 1))


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
