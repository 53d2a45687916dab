"""Draws of the score that a submission may have on the whole population from which the items were drawn.

The scores of bootstrap draws are not such draws if the metric compares groups.  In a softmin, for example, the
group that happens to be the worst counts most.  This happens once in the sample, and again in each draw from
the sample.  So the score of a draw is usually below that of the sample, which is usually below that of the
population.

Therefore the groups of each draw are first moved towards each other, as far as their differences may be noise.
The Notes of `resampler` describe the model, and ``docs/explanation/statistics.md`` discusses its constants.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.statistics.sampling import rounded, sums, weighted_sums

# The stream of random numbers; draws, swaps and runtimes have others.
STREAM = 3

# The share B takes so many values on a grid from 0 to 1.  Its prior density has these powers of B and of 1 - B.
SHARES = 200
SHARE_POWERS = (-1.5, -0.9)

# The distance in standard errors at which one group may be far off.
FAR_OFF = 10.0

# A group whose score is undefined gets this many times the largest variance of the others.
UNKNOWN = 100.0

# Standard deviations up to this one, relative to the score, are rounding.
LEAST_DEVIATION = 1e-12

Floats = npt.NDArray[np.float64]


class Resampled(NamedTuple):
    """What the draws say about a submission.

    Attributes
    ----------
    sums : ndarray of float, shape (g, k)
        The sums of its statistics over each group.
    samples : ndarray of float, shape (r, m)
        Its measures on each bootstrap draw.
    scores : ndarray of float, shape (r,)
        Draws of its score on the whole population.  If the metric has no scores of groups, they are the first
        column of ``samples``.
    """

    sums: Floats
    samples: Floats
    scores: Floats


def resampler(prepared: Any, weights: npt.NDArray[Any], seed: int = 0) -> Callable[..., list[Resampled]]:
    """Make the function that draws the scores of submissions.

    Intervals of scores, rank sets, shares of prizes and the probability of being ahead are all computed from
    ``Resampled.scores``.  All submissions get the same draws, so that the draws of two submissions can be
    subtracted.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    weights : ndarray of int, shape (r, n)
        How often each item occurs in each draw, see `podium.statistics.draw`.
    seed : int
        The seed of the random numbers of the model.  The weights have a seed of their own.

    Returns
    -------
    function
        It takes the statistics of any number of submissions, each an ndarray of float with shape (n, k).  It
        returns a `Resampled` for each of them.  Several submissions at once take less time.  With
        ``compared=True`` the submissions share the scores and variances from which ω is drawn (see the Notes).
        Then their draws do not differ merely because their groups are taken to differ by different amounts.

    Notes
    -----
    The model is the hierarchical normal model of A. Gelman et al. (*Bayesian Data Analysis*, 3rd edition,
    section 5.4).  It is applied to each attribute by itself.  The groups g = 1, …, G of an attribute have the
    observed scores s_g, the true scores θ_g and a common mean μ:

        s_g ~ N(θ_g, σ_g²)      σ_g² is the variance of the observed score
        θ_g ~ N(μ, ω_g²)        ω_g² is the variance between true scores; μ has a flat prior

    *Variances.*  σ_g² is the variance of the group's score on the bootstrap draws.  It is pooled: the mean over
    the groups of n_g·σ_g², divided by n_g, where n_g is the size of the group.  A group without a defined score
    gets the mean score of the others and 100 times the largest variance.

    *Prior.*  Let σ² be the harmonic mean of the σ_g².  Then B = σ²/(σ² + ω²) is the share of noise in the
    variance between observed scores.  Its prior density is B^-1.5 · (1 - B)^-0.9 on a grid of 200 values.  With
    probability one half, ω_g² = ω² for all groups.  Otherwise one of the groups, each equally likely, has the
    variance ω² + 10²·σ² instead.

    *Posterior of ω.*  Let p_g = 1/(σ_g² + ω_g²), P the sum of the p_g, and c = Σ p_g·s_g / P.  The posterior
    density is the prior times sqrt(Π p_g / P) · exp(-Σ p_g·(s_g - c)² / 2).  The r draws from it are evenly
    spaced quantiles in a random order.

    *Posterior of μ and θ_g.*  Given ω_g², the common mean is drawn from N(c, 1/P).  Given both, θ_g is drawn
    with the mean κ_g·s_g + (1 - κ_g)·μ and the variance κ_g·σ_g², where κ_g = ω_g²/(σ_g² + ω_g²).

    *From scores to sums.*  A score is almost linear in the means of its group's statistics.  So the same
    formulas are applied to these means in place of the s_g.  The noise of θ_g is the deviation of the group's
    means on the bootstrap draw, times sqrt(κ_g).  The noise of μ is made of the deviations on another draw,
    chosen by a random permutation and scaled to the variance 1/P.  Means times group sizes are sums, and the
    metric computes a score from these.  If all observed statistics are at least 0, negative sums become 0.

    If no score of an attribute's groups varies on the draws, these groups keep their bootstrap draws.
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
        with warnings.catch_warnings():
            # A group whose score is undefined on every draw has the variance NaN.
            warnings.filterwarnings("ignore", "Degrees of freedom", RuntimeWarning)
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

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.

    Returns
    -------
    list of int, or None
        The index of each group's score among the measures.  None if there is only one group, or if a group has
        no score of its own.
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

    The Notes of `resampler` describe the model.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    observed_sizes : ndarray of float, shape (g, 1)
        The number of items in each group.
    sizes : ndarray of float, shape (g, r)
        The number of items in each group on each draw.
    observed : ndarray of float, shape (g, k)
        The sums of the statistics over each group.
    drawn : ndarray of float, shape (k, g, r)
        The sums of the statistics over each group on each draw.
    scores, variances : ndarray of float, shape (g,)
        The scores of the groups and their variances on the draws.  For submissions that are compared, they are
        means over these submissions.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    ndarray of float, shape (k, g, r)
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
        # The noise of μ comes from another draw.  The factor adds the variance between the true scores.
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
    """Prepare the scores and variances of an attribute's groups for the model; None if no score varies.

    The variances are pooled, because a small group says too little about its own variance.  A group without a
    single error would seem to be certain.  So the variance that one item contributes to the score of its group
    is taken to be the same in all groups.
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
    """Draw from the posterior of ω_g² in the model that the Notes of `resampler` describe.

    Parameters
    ----------
    scores, variances : ndarray of float, shape (g,)
        The observed scores s_g of one attribute's groups and their variances σ_g².
    resamples : int
        The number of draws.
    random : numpy.random.Generator
        The source of random numbers.

    Returns
    -------
    differing : ndarray of float, shape (r, g)
        Draws of ω_g².
    precision : ndarray of float, shape (r, g)
        1 / (σ_g² + ω_g²) for each draw.
    """
    number = len(scores)
    share = (np.arange(SHARES) + 0.5) / SHARES
    alone = np.concatenate([np.zeros((1, number)), np.eye(number)])[:, np.newaxis] * FAR_OFF**2
    typical = number / np.sum(1 / variances)
    # The shape is (models, shares, groups), and then (models · shares, groups).
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
    # Evenly spaced quantiles, and the same ones for each submission, vary less than independent draws.
    quantiles = (np.arange(resamples) + 0.5) / resamples * cumulated[-1]
    chosen = random.permutation(np.searchsorted(cumulated, quantiles))
    return differing[chosen], precision[chosen]
