"""Draws of the scores that a submission may have on the whole population, of which the items are a sample.

The measures of bootstrap draws are not that where groups are compared.  By a softmin, the group that happens to
be worst counts most, in the sample and once more in each draw of it.  So the scores of draws lie below the
sample's, which lies below the population's.  Here the groups of each draw are first moved towards each other,
as far as their differences may be noise.  docs/explanation/statistics.md describes the model in full.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.statistics.sampling import rounded, sums, weighted_sums

STREAM = 3  # of random numbers, beside those of draws, swaps and runtimes
SHARES = 200  # of the variance of the groups' scores that may be noise: a grid from 0 to 1
SHARE_POWERS = (-1.5, -0.9)  # of the prior density of that share B: B^-1.5 · (1 - B)^-0.9
FAR_OFF = 10.0  # standard errors by which one group may be far off
UNKNOWN = 100.0  # times the variance of the others has a group whose score is undefined
LEAST_DEVIATION = 1e-12  # relative to the score, so much is rounding

Floats = npt.NDArray[np.float64]


class Resampled(NamedTuple):
    """What draws tell of a submission.

    Attributes
    ----------
    sums : (g, k) floats, of its statistics over each group
    samples : (r, m) floats, its measures on each bootstrap draw
    scores : (r,) floats, draws of its score on the whole population.  They are the first column of ``samples``
        where the metric has no scores of groups.
    """

    sums: Floats
    samples: Floats
    scores: Floats


def resampler(prepared: Any, weights: npt.NDArray[Any], seed: int = 0) -> Callable[..., list[Resampled]]:
    """Make the function that draws the scores of submissions, the one kind of draws used everywhere.

    Intervals, sets of ranks, shares of prizes and "ahead" are all computed from ``scores`` of what it returns.
    Every submission gets the same draws, so that draws of two submissions may be subtracted.

    Parameters
    ----------
    prepared : a prepared solution
    weights : (r, n) integers, how often each item occurs in each draw, see `podium.statistics.draw`
    seed : of the random numbers that the draws of items do not decide

    Returns
    -------
    function of any number of submissions' statistics, (n, k) floats each, giving a `Resampled` for each.
    Several at once take less time.  With ``compared=True`` they share what is not known of the groups: how much
    groups differ is then no difference between submissions.
    """
    sums_of_draws = weighted_sums(weights, prepared.groups)
    columns = columns_of_groups(prepared)
    ones = np.ones((weights.shape[1], 1))
    sizes, observed_sizes = sums_of_draws(ones.T)[0], sums(ones, prepared.groups)

    def of_draws(*submissions: Floats, compared: bool = False) -> list[Resampled]:
        drawn = np.split(sums_of_draws(*map(rounded, submissions)), len(submissions))
        samples: list[Floats] = [prepared.measures(each.T) for each in drawn]
        observed = [sums(each, prepared.groups) for each in submissions]
        if columns is None:
            return [Resampled(total, each, each[:, 0]) for total, each in zip(observed, samples)]
        scores = np.stack([prepared.measures(each)[columns] for each in observed])
        variances = np.stack([np.nanvar(each[:, columns], axis=0) for each in samples])
        if compared:
            scores[:], variances[:] = scores.mean(axis=0), variances.mean(axis=0)
        plausible = [
            prepared.measures(_plausible(prepared, observed_sizes, sizes, *of_one, seed).T)[:, 0]
            for of_one in zip(observed, drawn, scores, variances)
        ]
        return [Resampled(*of_one) for of_one in zip(observed, samples, plausible)]

    return of_draws


def columns_of_groups(prepared: Any) -> list[int] | None:
    """Find the measures that are scores of groups, in the order of the groups.

    Returns
    -------
    list of g columns; None where there is one group, or where a group has no score of its own
    """
    columns = [
        prepared.measure_names.index(name)
        for attribute, value in prepared.labels
        if (name := f"{attribute} = {value}") in prepared.measure_names
    ]
    return columns if len(columns) == len(prepared.labels) > 1 else None


def _plausible(
    prepared: Any,
    observed_sizes: Floats,
    sizes: Floats,
    observed: Floats,
    drawn: Floats,
    scores: Floats,
    variances: Floats,
    seed: int,
) -> Floats:
    """Draw sums of the statistics over each group as the whole population may have them.

    What the model says of scores is done to the means of statistics, of which scores are almost linear.

    Parameters
    ----------
    prepared : a prepared solution
    observed_sizes, sizes : (g, 1) and (g, r) floats, sizes of the groups, observed and on the draws
    observed, drawn : (g, k) and (k, g, r) floats, sums of the statistics over the groups, likewise
    scores, variances : (g,) floats, of the groups; of submissions that are compared, means over these
    seed : of the random numbers

    Returns
    -------
    (k, g, r) floats
    """
    resamples = drawn.shape[-1]
    random = np.random.default_rng([seed, STREAM])
    means = (observed / observed_sizes).T[..., np.newaxis]
    plausible = drawn / np.maximum(sizes, 1)
    plausible -= means
    plausible[:, sizes == 0] = 0.0
    attributes = [attribute for attribute, _ in prepared.labels]
    for attribute in dict.fromkeys(attributes):
        first = attributes.index(attribute)
        of = slice(first, first + attributes.count(attribute))
        noise, mean = plausible[:, of], means[:, of]
        known = _known(scores[of], variances[of], observed_sizes[of, 0])
        if known is None:
            noise += mean
            continue
        differing, precision = _draw_differing(*known, resamples, random)
        variance = known[1]
        kept = (differing / (variance + differing)).T
        weight = (precision / precision.sum(axis=1, keepdims=True)).T
        # The noise of μ is that of another draw, with what the groups differ by.
        others = noise[..., random.permutation(resamples)]
        others *= weight * np.sqrt(1 + differing / variance).T
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


def _known(scores: Floats, variances: Floats, sizes: Floats) -> tuple[Floats, Floats] | None:
    """The scores and variances of an attribute's groups, as the model takes them; None if nothing varies.

    The variance of an item's share in the score is taken for the same in all groups, since a small group tells
    too little of its own: one without a single error would seem to be certain.
    """
    defined = np.isfinite(scores) & np.isfinite(variances)
    deviates = defined & (variances > (LEAST_DEVIATION * np.maximum(np.abs(scores), 1)) ** 2)
    if not deviates.any():
        return None
    pooled = (sizes * variances)[defined].mean() / sizes
    return (
        np.where(defined, scores, scores[defined].mean()),
        np.where(defined, pooled, pooled.max() * UNKNOWN),
    )


def _draw_differing(
    scores: Floats, variances: Floats, resamples: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw how much the true scores of an attribute's groups differ, from what their scores tell of it.

    The scores are s_g ~ N(θ_g, σ_g²) around true ones, θ_g ~ N(μ, ω_g²).  ω_g is the same for all groups or,
    as likely, one of them is far off.

    Returns
    -------
    (r, g) floats each, ω_g² and the precisions 1 / (σ_g² + ω_g²)
    """
    number = len(scores)
    share = (np.arange(SHARES) + 0.5) / SHARES
    alone = np.concatenate([np.zeros((1, number)), np.eye(number)])[:, np.newaxis] * FAR_OFF**2
    typical = number / np.sum(1 / variances)
    # (models, shares, groups), then (models · shares, groups)
    differing = (typical * ((1 - share) / share)[:, np.newaxis] + typical * alone).reshape(-1, number)
    precision = 1 / (variances + differing)
    total = precision.sum(axis=1)
    center = (precision * scores).sum(axis=1) / total
    misfit = (precision * (scores - center[:, np.newaxis]) ** 2).sum(axis=1)
    log_density = (np.log(precision).sum(axis=1) - misfit - np.log(total)) / 2
    low, high = SHARE_POWERS
    log_density += np.tile(low * np.log(share) + high * np.log(1 - share), len(alone))
    log_density[SHARES:] -= np.log(number)
    cumulated = np.cumsum(np.exp(log_density - log_density.max()))
    # Evenly spread quantiles, and the same ones for each submission, vary less than independent draws.
    quantiles = (np.arange(resamples) + 0.5) / resamples * cumulated[-1]
    chosen = random.permutation(np.searchsorted(cumulated, quantiles))
    return differing[chosen], precision[chosen]
