"""Intervals of measures and of differences, for the population from which the items were drawn.

The letters in shapes are those of `podium.statistics`.
"""

import functools
import warnings
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Bools, Floats, Ints
from podium.common.errors import UsageError
from podium.metric.contract import Measured, ScoredSubmission
from podium.statistics import halves
from podium.statistics.compared import RESAMPLES, Comparison, Difference
from podium.statistics.doubts import (
    FEWEST_DECIDING,
    FEWEST_ITEMS,
    FEWEST_ON_A_BOARD,
    Doubt,
    Reason,
    Units,
    doubt_of_detecting,
    doubt_of_difference,
    doubt_of_score,
    notes,
    reaction,
)
from podium.statistics.places import LEVEL, may_be_best
from podium.statistics.population import LEAST_DEVIATION, Resampler, names_of_groups, sizes_of_groups
from podium.statistics.sampling import check_draws, contributions, draw, gains_by_item, slopes

TAIL = (1 - LEVEL) / 2

# A true difference of 2.80 standard errors is detectable: its interval excludes 0 in this share of test sets.
# An interval reaches 1.96 standard errors to either side.
POWER = 0.8
DETECTABLE = 1 + NormalDist().inv_cdf(POWER) / NormalDist().inv_cdf(1 - TAIL)

# Degrees of freedom for each item that counts, if all of them count equally. In 3,000 test sets in which about
# five items count, 95% of the intervals hold. They would be 98% with 1 here, 92% with 4, and 91% unwidened.
FREEDOM = 2.0

# If scores are made of groups, intervals of one submission are wider by this factor. With eight equal groups,
# 93% of the intervals of scores hold, and without this factor 87% (30 boards).
MARGIN = 1.1

# Intervals that hold together are wider by this factor at most. Without the limit, intervals of groups are
# twice as wide as single ones, although all of them hold with it.
MOST_JOINTLY = 1.7

# At most so many teams above a border, and below it, might as well stand there. They are nearer than so many
# standard deviations of the difference at the border. With all teams, a board of 10,000 would need 240 MB more,
# and intervals would hold as often.
NEIGHBORS, NEAR = 20, 3.0

# The range of most measures, and that of their differences.
UNIT = (0.0, 1.0)
UNIT_OF_DIFFERENCES = (-1.0, 1.0)
UNBOUNDED = (-np.inf, np.inf)

# A gain up to this one, relative to the largest, is rounding.
SAME = 1e-9


def intervals(
    evaluation: ScoredSubmission, resamples: int | None = None, seed: int = 0, *, items: str = "", jobs: int = 0
) -> pd.DataFrame:
    """Compute the 95% intervals of all measures, for the population from which the items were drawn.

    The interval of the score may lie above the score. If the worst of several groups counts most, a small
    sample usually scores lower than the population.

    Parameters
    ----------
    evaluation : podium.scoring.evaluating.Evaluation
        What `podium.score` returned.
    resamples : int, optional
        The number of draws. The default is 1000. For a metric with ``score()`` alone, it is as many of
        them as fit into ten minutes, and nothing is drawn if these are fewer than 200.
    seed : int
        The seed of the random numbers.
    items : str, optional
        A column of the solution. Items with the same value in it, such as those of a prompt, a patient or a
        query, are drawn together. Without it, each item is drawn alone.
    jobs : int
        For a metric with ``score()`` alone: how many processes score at once. The default, 0, is one per core.

    Returns
    -------
    DataFrame
        A row per measure with its name (``measure``), its ``value``, the ends ``low`` and ``high`` of its
        interval, and a ``note``. The note is empty if the interval can be relied on.

    Raises
    ------
    TypeError
        This is not what `podium.score` returned.
    UsageError
        The number of draws or the seed is no whole number, or negative.

    Notes
    -----
    The interval of the score is made of draws of the score on the population, see `Resampler`. The intervals
    of all other measures are made of their bootstrap draws. Both are widened, see `widening`.

    A measure has no interval if it is undefined, if it belongs to a group of fewer than 10 items, or if fewer
    than 2 items raise it or lower it. The score has none, too, if groups of fewer than 10 items decide more
    than a fifth of it, or if a few very large items decide.
    """
    _check([evaluation], resamples, seed)
    if evaluation.statistics is None:
        asked = halves.Asked(evaluation.solution, halves.WHOLE, items, seed)
        return _interval_of_halves(asked, evaluation, resamples, jobs)
    together = evaluation.solution.together(halves.WHOLE, items)
    number = resamples or RESAMPLES
    return intervals_of(evaluation.prepared, evaluation.statistics, number, seed, together=together)


def compare(
    mine: ScoredSubmission,
    theirs: ScoredSubmission,
    resamples: int | None = None,
    seed: int = 0,
    *,
    items: str = "",
    jobs: int = 0,
    part: str = halves.WHOLE,
) -> Comparison:
    """Compare two submissions to the same solution, in all measures.

    Parameters
    ----------
    mine, theirs : podium.scoring.evaluating.Evaluation
        What `podium.score` returned for the two submissions.
    resamples : int, optional
        The number of draws. Both submissions get the same ones. The default is that of `intervals`.
    seed : int
        The seed of the random numbers.
    items : str, optional
        A column of the solution. Items with the same value in it, such as those of a prompt, a patient or a
        query, are drawn together. Without it, each item is drawn alone.
    jobs : int
        For a metric with ``score()`` alone: how many processes score at once. The default, 0, is one per core.
    part : str
        The part of the solution on which to compare them: "Public" or "Private". The default is all of it.

    Returns
    -------
    Comparison
        The difference between the scores with its interval, the share of draws in which the first submission is
        ahead, and a table of all measures.

    Raises
    ------
    TypeError
        One of them is not what `podium.score` returned.
    UsageError
        The submissions were scored by different metrics or parameters, or on different solutions; or the
        number of draws or the seed is no whole number, or negative.

    Notes
    -----
    The intervals are made of the differences between the draws of the two submissions. For the score these are
    draws for the population, see `Resampler`, and for all other measures they are bootstrap draws. They are
    widened by the `widening` of the items' gains. An item's gain is the change if the second submission takes
    the first one's answer to it, minus the change the other way round.

    The difference between the scores has no interval if groups of fewer than 10 items decide more than a fifth
    of either score, or if fewer than 2 items decide the difference. That of another measure has none if it is
    undefined, if it belongs to a group of fewer than 10 items, or if fewer than 2 items change it.

    A true difference is ``detectable`` if it is 2.80 standard errors (1.96 + 0.84, the normal quantiles of
    97.5% and 80%). The standard error is that of the interval.
    """
    _check([mine, theirs], resamples, seed)
    solution = mine.solution
    if part not in solution.rows:
        raise UsageError(f"compare: expected part to be one of {', '.join(solution.rows)}, found {part}")
    if mine.statistics is None or theirs.statistics is None:
        asked = halves.Asked(solution, part, items, seed)
        return _difference_of_halves(asked, mine, theirs, resamples, jobs)
    of_part = solution.items[part]
    both = mine.statistics[of_part], theirs.statistics[of_part]
    number = resamples or RESAMPLES
    together = solution.together(part, items)
    found = difference(
        solution.prepared[part], *both, solution.higher_is_better, number, seed, together=together
    )
    return replace(found, of=mine)


class Leading(NamedTuple):
    """Which of several submissions may be the best, and which measures say the same."""

    may_be_best: Bools  # whether a submission cannot be excluded as the best in a measure, (t, m)
    is_repeated: Bools  # whether a measure is the score under another name, (m,)


def leading(
    evaluations: Sequence[ScoredSubmission], resamples: int | None = None, seed: int = 0, *, items: str = ""
) -> Leading:
    """Find the submissions that cannot be excluded as the best with 95% confidence, in each measure.

    The rule is that of a board, `podium.statistics.may_be_best`. If a score that may be the best is in doubt
    there, no submission is excluded.
    """
    _check(evaluations, resamples, seed)
    solution = evaluations[0].solution
    better = functools.partial(may_be_best, higher_is_better=solution.higher_is_better)
    numbers = [each.statistics for each in evaluations if each.statistics is not None]
    if not numbers:
        drawn, _ = _halves(halves.Asked(solution, halves.WHOLE, items, seed), evaluations, resamples, 0)
        has_draws = all(len(each.draws) for each in drawn)
        found = better(np.stack([each.draws for each in drawn], axis=1)) if has_draws else [True] * len(drawn)
        return Leading(np.array(found)[:, np.newaxis], np.array([False]))
    prepared, together = evaluations[0].prepared, solution.together(halves.WHOLE, items)
    weights = draw(len(prepared.items), resamples or RESAMPLES, seed, together=together)
    resampler = Resampler(prepared, weights, seed)
    of_draws = resampler.draw(*numbers)
    on_draws = np.stack([resampler.measures(each) for each in of_draws], axis=1)  # (r, t, m)
    is_score = (on_draws == on_draws[..., :1]).all(axis=(0, 1)) & (np.ptp(on_draws[..., 0], axis=0) > 0).any()
    model = resampler.model(resampler.groups(*of_draws))
    on_draws[..., 0] = np.stack([resampler.population(each, model) for each in of_draws], axis=1)
    found = np.stack([better(column) for column in np.moveaxis(on_draws, 2, 0)], axis=1)
    for row in np.flatnonzero(found[:, 0]).tolist():
        to_groups = reaction(prepared, numbers[row], of_draws[row].sums, together)
        if doubt_of_score(Units(prepared, together), to_groups, FEWEST_ON_A_BOARD) is not None:
            found[:, 0] = True
    return Leading(found, is_score & (np.arange(len(is_score)) > 0))


def _check(evaluations: Sequence[ScoredSubmission], resamples: int | None, seed: int) -> None:
    """Make sure that these are scored submissions that belong to the same solution, and can be drawn from."""
    check_draws(resamples, seed)
    for each in evaluations:
        if not hasattr(each, "solution"):
            raise TypeError(f"expected what podium.score returned, found {type(each).__name__}")
    first = evaluations[0]
    for each in evaluations:
        if each.signature != first.signature:
            raise UsageError(
                f"compare: expected the same metric and parameters, found {first.signature} "
                f"and {each.signature}"
            )
        if first.statistics is None:
            is_same = each.solution.frame.equals(first.solution.frame)
        else:
            is_same = list(each.prepared.items) == list(first.prepared.items)
        if not is_same:
            raise UsageError("compare: expected two submissions to the same solution, found different items")


# ---- Half-samples, for a metric with score() alone ---------------------------------------------------------


def _halves(
    asked: halves.Asked, evaluations: Sequence[ScoredSubmission], resamples: int | None, jobs: int
) -> tuple[list[halves.Centered], Floats]:
    """Draw the scores of submissions on half-samples, and return them with what each item adds, 1."""
    number = len(asked.solution.items_of(asked.part, asked.column).stratum)
    return halves.of_submissions(asked, evaluations, resamples, jobs), np.ones(number)


def _interval_of_halves(
    asked: halves.Asked, evaluation: ScoredSubmission, resamples: int | None, jobs: int
) -> pd.DataFrame:
    """Compute the interval of a score from half-samples."""
    (drawn,), gains = _halves(asked, [evaluation], resamples, jobs)
    low, high = (np.nan, np.nan) if drawn.doubt else interval(drawn.draws, widening(gains))
    table = {"measure": ["score"], "value": evaluation.scores[asked.part], "low": low, "high": high}
    return pd.DataFrame(table | {"note": notes([drawn.doubt])})


def _difference_of_halves(
    asked: halves.Asked, mine: ScoredSubmission, theirs: ScoredSubmission, resamples: int | None, jobs: int
) -> Comparison:
    """Compare two submissions on half-samples."""
    (ours, others), gains = _halves(asked, [mine, theirs], resamples, jobs)
    of_mine, of_theirs = mine.scores[asked.part], theirs.scores[asked.part]
    value = of_mine - of_theirs
    doubt = halves.doubt_of_difference(value, ours, others)
    score = difference_of_draws(value, ours.draws, others.draws, gains, doubt, mine.solution.higher_is_better)
    table = {"measure": ["score"], "value": of_mine, "other": of_theirs, "difference": value}
    ends = {"low": score.low, "high": score.high, "note": notes([doubt])}
    return Comparison(score, pd.DataFrame(table | ends), (), len(ours.draws), of=mine)


# ---- Functions of arrays -----------------------------------------------------------------------------------


def intervals_of(
    prepared: Measured,
    statistics: Floats,
    resamples: int = RESAMPLES,
    seed: int = 0,
    *,
    together: Ints | None = None,
) -> pd.DataFrame:
    """Compute what `intervals` does, from a prepared solution and the statistics of a submission.

    Parameters
    ----------
    prepared : podium.metric.contract.Prepared
        A prepared solution with n items.
    statistics : ndarray of float, shape (n, k)
        The statistics of the submission, as ``prepared.statistics(submission)`` returns them.
    resamples : int
        The number of draws.
    seed : int
        A number that decides what is drawn.
    together : ndarray of int, shape (n,), optional
        Items with the same number are drawn together. If it is missing, each one is drawn alone.

    Returns
    -------
    DataFrame
        A row per measure with ``measure``, ``value``, ``low``, ``high`` and ``note``, see `intervals`.
    """
    units = Units(prepared, together)
    resampler = Resampler(prepared, draw(len(statistics), resamples, seed, together=together), seed)
    (drawn,) = resampler.draw(statistics)
    total, values = drawn.sums, prepared.measures(drawn.sums)
    influence = np.stack(
        [contributions(prepared.groups, statistics, each).sum(axis=0) for each in slopes(prepared, total)],
        axis=1,
    )
    influence = units.sums(influence)
    of_groups = reaction(prepared, statistics, total, together)
    wider = widening_of_one(of_groups.is_of_groups, influence)
    on_draws = resampler.measures(drawn)
    low, high = interval(on_draws, wider)
    model = resampler.model(resampler.groups(drawn))
    of_population = interval(resampler.population(drawn, model), wider[0])
    low[0], high[0] = within(on_draws[:, 0], *of_population, UNIT)
    above, below = (_number_of(side * influence) for side in (1, -1))
    doubts = _doubts_of_measures(units, values, np.minimum(above, below), doubt_of_score(units, of_groups))
    none = [each is not None for each in doubts]
    return _table(units, {"value": values}, np.where(none, np.nan, [low, high]), doubts)


def difference(
    prepared: Measured,
    mine: Floats,
    theirs: Floats,
    higher_is_better: bool = True,
    resamples: int = RESAMPLES,
    seed: int = 0,
    *,
    together: Ints | None = None,
) -> Comparison:
    """Compute what `compare` does, from a prepared solution and the statistics of two submissions.

    Parameters
    ----------
    prepared : podium.metric.contract.Prepared
        A prepared solution with n items.
    mine, theirs : ndarray of float, shape (n, k)
        The statistics of both submissions.
    higher_is_better : bool
        Whether a higher score is better.
    resamples : int
        The number of draws.
    seed : int
        A number that decides what is drawn.
    together : ndarray of int, shape (n,), optional
        Items with the same number are drawn together. If it is missing, each one is drawn alone.

    Returns
    -------
    Comparison
        The difference of the scores and of all measures, each with its 95% interval, see `compare`.
    """
    units = Units(prepared, together)
    resampler = Resampler(prepared, draw(len(mine), resamples, seed, together=together), seed)
    first, second = drawn = resampler.draw(mine, theirs)
    model = resampler.model(resampler.groups(*drawn))
    ours, others = (resampler.population(each, model) for each in drawn)
    # Taken from both sides, gains only change their sign if the submissions change places.
    gains = units.sums(gains_by_item(prepared, mine, theirs) - gains_by_item(prepared, theirs, mine))
    value, other = (prepared.measures(each.sums) for each in drawn)
    differing = (mine != theirs).any(axis=1)
    # Equal submissions differ by exactly 0 on the population, too.
    counts = _number_of(np.abs(gains)) if differing.any() else np.full(len(value), len(mine))
    to_groups = (
        reaction(prepared, mine, first.sums, together),
        reaction(prepared, theirs, second.sums, together),
    )
    of_score = doubt_of_difference(units, differing, *to_groups)
    doubts = _doubts_of_measures(units, value - other, counts, of_score)
    own = float(value[0] - other[0])
    score = difference_of_draws(own, ours, others, gains[:, 0], doubts[0], higher_is_better)
    is_nowhere_better = min(_number_of(side * gains[:, 0]) for side in (1, -1)) < FEWEST_DECIDING
    if is_nowhere_better and counts[0] * 2 < len(gains):
        # The noise of the difference shrinks with it.
        score = score._replace(detectable=np.nan)
    if not np.isnan(score.detectable) and (hidden := doubt_of_detecting(units, *to_groups)):
        score = score._replace(detectable=np.nan, hidden=hidden)
    on_draws = [resampler.measures(each) for each in drawn]
    ends = np.stack(interval(on_draws[0] - on_draws[1], widening(gains), UNIT_OF_DIFFERENCES))
    ends[:, [each is not None for each in doubts]] = np.nan
    ends[:, 0] = score.low, score.high
    table = _table(units, {"value": value, "other": other, "difference": value - other}, ends, doubts)
    return Comparison(score, table, _large_groups(prepared), resamples)


def _table(
    units: Units, columns: dict[str, Floats], ends: Floats, doubts: Sequence[Doubt | None]
) -> pd.DataFrame:
    """Make a table with a row per measure from the ends of its intervals, (2, m), and the doubts about them."""
    low, high = ends
    named = {"measure": units.prepared.measure_names, **columns}
    return pd.DataFrame(named | {"low": low, "high": high, "note": notes(doubts)})


def difference_of_draws(
    value: float,
    mine: Floats,
    theirs: Floats,
    gains: Floats,
    doubt: Doubt | None,
    higher_is_better: bool = True,
    jointly: tuple[float, float] = (1.0, 1.0),
) -> Difference:
    """Compute the interval of a difference from draws of both scores, (r,), and what each item adds, (n,).

    The interval alone is wider by the factors ``jointly``, see `widening_of_borders`.
    """
    drawn = mine - theirs
    known = drawn[np.isfinite(drawn)] * (1 if higher_is_better else -1)
    ahead = float(((known > 0) + (known == 0) / 2).mean()) if len(known) else np.nan
    if doubt is not None:
        return Difference(value, np.nan, np.nan, ahead, doubt)
    near, far = (interval(drawn, factor * widening(gains), UNBOUNDED) for factor in jointly)
    ends = (near[0], far[1]) if value > 0 else (far[0], near[1])
    low, high = map(float, within(drawn, *ends, UNIT_OF_DIFFERENCES))
    half = float(near[1] - near[0]) / 2 / jointly[0]
    is_rounding = half <= LEAST_DEVIATION * float(np.nanmax(np.abs(mine), initial=1))
    return Difference(value, low, high, ahead, None, np.nan if is_rounding else DETECTABLE * half)


def interval(
    samples: npt.ArrayLike, wider: npt.ArrayLike = 1.0, limits: tuple[float, float] = UNIT
) -> tuple[Floats, Floats]:
    """Compute the interval that holds the middle 95% of samples, and move its ends away from the median.

    Samples lie along the first axis, and NaN is left out. The distance of both ends from the median is
    multiplied by ``wider``, see `widening`. An end passes one of the `limits` only if a sample does, because
    most measures cannot be below 0 or above 1.

    >>> low, high = interval([[1.0], [2.0], [float("nan")], [3.0]])
    >>> low.tolist(), high.tolist()
    ([1.05], [2.95])
    """
    samples = np.asarray(samples, dtype=np.float64)
    if not samples.size:
        return np.full(samples.shape[1:], np.nan), np.full(samples.shape[1:], np.nan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        low, median, high = np.nanquantile(samples, [TAIL, 0.5, 1 - TAIL], axis=0)
    more = np.asarray(wider) - 1
    return within(samples, low - more * (median - low), high + more * (high - median), limits)


def within(samples: Floats, low: Floats, high: Floats, limits: tuple[float, float]) -> tuple[Floats, Floats]:
    """Move the ends of intervals to the limits that they pass, unless samples pass them, too."""
    least, most = limits
    low = np.where((samples < least).any(axis=0), low, np.maximum(low, least))
    high = np.where((samples > most).any(axis=0), high, np.minimum(high, most))
    return low, high


def widening(gains: npt.ArrayLike) -> Floats:
    """Compute the factor by which an interval is widened because few items decide it.

    The quantiles of bootstrap draws lie too close together if the sample is small. T. Hesterberg therefore
    expands percentile intervals ("What Teachers Should Know About the Bootstrap", The American Statistician 69,
    2015). Then the interval of a mean becomes that of Student's t with n - 1 degrees of freedom.

    The factor here is t(0.975, f) / z(0.975), the ratio of the quantiles of Student's t and of the normal
    distribution. The degrees of freedom are f = 2·(Σg²)²/Σg⁴ for the gains g of the items, (n, ...), because
    many of the n items may count for nothing. If the items that count do so equally, f is twice their number.
    This formula is our own.

    All of 1,000 items count, or only four of them:

    >>> float(widening(np.ones(1000)).round(3))
    1.001
    >>> float(widening(np.arange(1000) < 4).round(2))
    1.18
    """
    from scipy import special  # takes long to import

    gains = np.asarray(gains, dtype=np.float64)
    largest = np.abs(gains).max(axis=0, initial=0)
    squares = (gains / np.where(largest > 0, largest, 1)) ** 2
    # The square of a square takes much less time than a fourth power.
    second, fourth = squares.sum(axis=0), (squares * squares).sum(axis=0)
    freedom = np.divide(FREEDOM * second**2, fourth, out=np.full_like(fourth, np.inf), where=fourth > 0)
    factors: Floats = special.stdtrit(freedom, TAIL) / special.ndtri(TAIL)
    return factors


def widening_of_one(is_of_groups: bool, influence: npt.ArrayLike) -> Floats:
    """Compute the factor by which intervals of one submission's measures are widened.

    It is the `widening` of the items' influence. If the score is made of groups, it is multiplied by 1.1,
    because the draws and the model of the population miss some of the noise. This margin was chosen by
    measured coverage. Intervals of differences have no margin, because much of what is missed is the same for
    both submissions.
    """
    factors: Floats = (MARGIN if is_of_groups else 1) * widening(influence)
    return factors


def widening_jointly(samples: Floats) -> float:
    """Compute the factor by which intervals are widened so that those of all columns, (r, k), hold together.

    It compares the 95% quantile of the largest deviation of all columns, in standard deviations, with the mean
    of such quantiles of single columns. It is 1 for a single column, and at most `MOST_JOINTLY`.
    """
    samples = samples[:, np.isfinite(samples).any(axis=0)]
    known = samples[np.isfinite(samples).all(axis=1)]
    deviations = np.abs(known - known.mean(axis=0)) if len(known) else np.zeros((1, 0))
    scale = np.sqrt((deviations**2).mean(axis=0))
    noisy = scale > LEAST_DEVIATION * float(np.abs(known).max(initial=1))
    if not noisy.any():
        return 1.0
    scaled = deviations[:, noisy] / scale[noisy]
    alone = np.quantile(scaled, LEVEL, axis=0).mean()
    return min(MOST_JOINTLY, float(np.quantile(scaled.max(axis=1), LEVEL) / alone))


def widening_of_borders(draws: Floats, borders: int) -> tuple[float, float]:
    """Compute two factors for the intervals at the first borders of a board from draws in its order, (r, t).

    With the first one, the intervals hold together. The second one is for the ends away from 0. At a gap, the
    team above is there because of bad luck and the one below because of good luck, so their true difference
    tends to be larger. Therefore these ends hold for the teams, too, that might as well stand there.
    """
    of_draws = pd.DataFrame(draws)  # its means leave out NaN
    centers = of_draws.mean().tolist()
    leads = [of_draws[row] - of_draws[row + 1] for row in range(borders)]
    others = []
    for above, lead in enumerate(leads):
        below, near = above + 1, NEAR * lead.std()
        for team in range(max(0, above - NEIGHBORS), below):  # which may stand directly above the gap
            if abs(centers[team] - centers[above]) < near:
                others.append(of_draws[team] - of_draws[below])
        for team in range(below, min(below + NEIGHBORS + 1, len(centers))):  # or directly below it
            if abs(centers[team] - centers[below]) < near:
                others.append(of_draws[above] - of_draws[team])
    jointly, with_others = np.column_stack(leads), np.column_stack([*leads, *others])
    return widening_jointly(jointly), widening_jointly(with_others)


def _number_of(gains: Floats) -> Ints:
    """Count the items whose gain is above rounding, for each measure, (n, m)."""
    least = SAME * np.abs(gains).max(axis=0, initial=0)
    number: Ints = (gains > least).sum(axis=0)
    return number


def _doubts_of_measures(
    units: Units, values: Floats, counts: Ints, of_score: Doubt | None
) -> list[Doubt | None]:
    """Find the doubts about all measures, from the number of items that decide each of them, (m,)."""
    prepared, (number, *_) = units.prepared, units.sizes(is_of_groups=False).tolist()
    size_of = dict(zip(names_of_groups(prepared), units.sizes().tolist()))
    doubts: list[Doubt | None] = []
    for name, value, count in zip(prepared.measure_names, values.tolist(), counts.tolist()):
        size = size_of.get(name, number)
        if np.isnan(value):
            doubts.append(Doubt(Reason.UNDEFINED))
        elif size < FEWEST_ITEMS:
            doubts.append(Doubt(Reason.SMALL_GROUPS, size, 1.0))
        elif count < FEWEST_DECIDING:
            doubts.append(Doubt(Reason.FEW_ITEMS, count))
        elif name in size_of and of_score is not None and of_score.reason is Reason.HEAVY_TAIL:
            # A sample of some items says even less about those that it lacks.
            doubts.append(of_score)
        else:
            doubts.append(None)
    return doubts if np.isnan(values[0]) else [of_score, *doubts[1:]]


def _large_groups(prepared: Measured) -> tuple[str, ...]:
    """List the measures that are scores of groups with enough items."""
    known = set(prepared.measure_names)
    sizes = sizes_of_groups(prepared).items()
    return tuple(name for name, size in sizes if name in known and size >= FEWEST_ITEMS)
