"""Draws of the score that a submission may have on the whole population from which the items were drawn.

The scores of bootstrap draws are not such draws if the metric compares groups. In a softmin, for example, the
group that happens to be the worst counts most. This happens once in the sample, and again in each draw from
the sample. So the score of a draw is usually below that of the sample, which is usually below that of the
population.

Therefore the groups of each draw are first moved towards each other, as far as their differences may be noise.
``docs/explanation/statistics.md`` describes the model and its constants.
"""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.common.arrays import Floats, Ints
from podium.metric.contract import Grouped, Measured
from podium.statistics.sampling import rounded, slopes, sums, weighted_sums

# The stream of random numbers; the draws of items, of new competitions and of runtimes have others.
STREAM = 3

# The share B takes so many values on a grid from 0 to 1. Its prior density has these powers of B and of 1 - B.
# A flat prior of the standard deviation has -0.5 as the second one: then 91% in place of 97% of the intervals
# of scores hold where items have two attributes (160 test sets).
SHARES = 200
SHARE_POWERS = (-1.5, -0.9)

# The distance in standard errors at which one group may be far off. Without such a group, one that is far
# below the others draws these apart: with one low group of 5%, scores are told .047 too high in place of .023,
# and 87% in place of 92% of their intervals hold (480 intervals). Half or three times the distance changes
# nothing of that.
FAR_OFF = 10.0

# Standard deviations up to this one, relative to the score, are rounding.
LEAST_DEVIATION = 1e-12

# Up to this share of sums is moved between groups, so many times, to see whether the score changes by more than
# rounding.
MOST_MOVED, MOVES, SAME = 0.2, 4, 1e-9


class Groups(NamedTuple):
    """What submissions say about the g groups."""

    scores: Floats  # the mean score in each group, (g,)
    variances: Floats  # the mean variance of these scores on the draws, (g,)


def mean_of_groups(groups: Sequence[Groups]) -> Groups:
    """Compute the mean of what several submissions say about the groups."""
    return Groups(*(np.mean(of_all, axis=0) for of_all in zip(*groups)))


class Drawn(NamedTuple):
    """A submission on r bootstrap draws."""

    sums: Floats  # the sums of its statistics over each group, (g, k)
    sums_of_draws: Floats  # the same on each draw, (k, g, r)


class Scores(NamedTuple):
    """Draws of the scores of submissions, each (r, t), or (r,) for one submission.

    The three differ only if the score is made of scores of groups.
    """

    population: Floats  # the scores that the submissions may have on the whole population
    # How the middle of these draws would vary with other test sets.
    of_middle: Floats
    # How the scores vary from one test set to another.
    of_test_set: Floats


class Attribute(NamedTuple):
    """How the model moves the groups of an attribute towards their common mean, on r draws."""

    groups: slice
    kept: Floats  # the share of a group's distance from the common mean that is kept, (g, r)
    weights: Floats  # the weight of a group in the common mean, (g, r)
    spread: Floats  # the factor of its noise there, which adds the variance between true scores, (g, r)


class PopulationModel(NamedTuple):
    """What submissions that are compared share: how the groups of each attribute are moved."""

    attributes: list[Attribute]
    others: Ints  # for each draw, the one from which the noise of the common mean comes


class Resampler:
    """Draws of the scores of submissions to the same solution.

    All submissions get the same draws, so that the draws of two submissions can be subtracted.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution.
    weights : ndarray of int, shape (r, n)
        How often each item occurs in each draw, see `podium.statistics.draw`.
    seed : int
        The seed of the random numbers of the model. The weights have a seed of their own.

    Examples
    --------
    >>> import dataclasses
    >>> from podium import statistics
    >>> @dataclasses.dataclass
    ... class Mean:
    ...     items = ["a", "b", "c", "d"]
    ...     labels = [("(all)", "(all)")]
    ...     groups = np.zeros((1, 4), dtype=int)
    ...     measure_names = ["score"]
    ...     def measures(self, sums):
    ...         return sums[..., 0, :1] / 4
    >>> resampler = Resampler(Mean(), statistics.draw(4, 3, seed=0))
    >>> resampler.scores(np.array([[0.0], [1.0], [1.0], [1.0]])).population.round(2).tolist()
    [[1.0], [0.25], [0.75]]
    """

    def __init__(self, prepared: Measured, weights: npt.NDArray[Any], seed: int = 0) -> None:
        self.prepared, self.seed = prepared, seed
        self._columns = columns_of_groups(prepared)
        self._sums_of_draws = weighted_sums(weights, prepared.groups)
        ones = np.ones((weights.shape[1], 1))
        self._sizes = sums(ones, prepared.groups)[:, 0]
        self._sizes_of_draws = self._sums_of_draws(ones.T)[0]

    def draw(self, *submissions: Floats) -> list[Drawn]:
        """Compute the sums of submissions, each (n, k), on each draw.

        Several at once take less time.
        """
        drawn = np.split(self._sums_of_draws(*map(rounded, submissions)), len(submissions))
        observed = [sums(each, self.prepared.groups) for each in submissions]
        return [Drawn(*both) for both in zip(observed, drawn)]

    def measures(self, drawn: Drawn) -> Floats:
        """Compute the measures of a submission on each draw, (r, m)."""
        measures: Floats = self.prepared.measures(drawn.sums_of_draws.T)
        return measures

    def groups(self, *submissions: Drawn) -> Groups | None:
        """Collect what several submissions say about the groups.

        Submissions that are compared share these numbers. Then their draws do not differ merely because their
        groups are taken to differ by different amounts. It is None if the score is not made of groups.
        """
        if not any(is_made_of_groups(self.prepared, each.sums) for each in submissions):
            return None
        scores = [self.prepared.measures(each.sums)[self._columns] for each in submissions]
        with warnings.catch_warnings():
            # A group whose score is undefined on every draw has the variance NaN.
            warnings.filterwarnings("ignore", "Degrees of freedom", RuntimeWarning)
            variances = [np.nanvar(self.measures(each)[:, self._columns], axis=0) for each in submissions]
        return mean_of_groups([Groups(*both) for both in zip(scores, variances)])

    def model(self, groups: Groups | None) -> PopulationModel | None:
        """Draw how far the groups of each attribute are moved towards each other, or None if none are.

        All attributes describe the same items, so they have the same order of draws. Therefore an attribute
        that occurs twice changes nothing.
        """
        if groups is None:
            return None
        random = np.random.default_rng([self.seed, STREAM])
        order, others = (random.permutation(self._sizes_of_draws.shape[-1]) for _ in range(2))
        attributes = []
        for of in attributes_of(self.prepared):
            known = _known(groups.scores[of], groups.variances[of], self._sizes[of])
            if known is not None:
                differing, precision = _draw_differing(*known, order)
                variances = known[1][:, np.newaxis]
                kept = differing / (variances + differing)
                weights = precision / precision.sum(axis=0)
                attributes.append(Attribute(of, kept, weights, np.sqrt(1 + differing / variances)))
        return PopulationModel(attributes, others)

    def population(self, drawn: Drawn, model: PopulationModel | None) -> Floats:
        """Draw the score that a submission may have on the whole population, (r,).

        A score is almost linear in the means of its group's statistics. So the model of the scores is applied
        to these means. Their noise is their deviation on the draws, and that of the common mean is their
        deviation on other draws.
        """
        if model is None:
            return self.measures(drawn)[:, 0]
        means, noise = self._means(drawn)
        plausible = means + noise
        for of, kept, weights, spread in model.attributes:
            others = noise[:, of].take(model.others, axis=-1)
            others *= weights * spread
            common = others.sum(axis=1, keepdims=True) + (means[:, of, 0] @ weights)[:, np.newaxis]
            moved = np.subtract(means[:, of], common, out=others)
            moved *= kept
            moved += common
            moved += np.sqrt(kept) * noise[:, of]
            plausible[:, of] = moved
        return self._score(plausible, drawn)

    def scores_of(self, drawn: Drawn, model: PopulationModel | None) -> Scores:
        """Draw the score of a submission with the noise of its middle and that of a test set, (r,) each.

        The middle of the draws for the population moves with the draws as far as the model keeps the distances
        of groups. On another test set, groups have their whole noise, around means that are moved.
        """
        population = self.population(drawn, model)
        if model is None:
            return Scores(population, population, population)
        means, noise = self._means(drawn)
        middle = means + noise
        test_set = middle.copy()
        for of, kept, weights, _ in model.attributes:
            share, weight = kept.mean(axis=1)[:, np.newaxis], weights.mean(axis=1)[:, np.newaxis]
            for of_groups, moved in ((middle[:, of], middle), (means[:, of], test_set)):
                moved[:, of] -= (1 - share) * (of_groups - (of_groups * weight).sum(axis=1, keepdims=True))
        return Scores(population, self._score(middle, drawn), self._score(test_set, drawn))

    def scores(self, *submissions: Floats) -> Scores:
        """Draw the scores of compared submissions.

        Parameters
        ----------
        *submissions : ndarray of float, shape (n, k)
            The statistics of the submissions.

        Returns
        -------
        Scores
            Three arrays with a column of draws for each submission, (r, t). The first one, ``population``, has
            the scores that the submissions may have on the whole population.
        """
        drawn = self.draw(*submissions)
        model = self.model(self.groups(*drawn))
        return stacked([self.scores_of(each, model) for each in drawn])

    def _means(self, drawn: Drawn) -> tuple[Floats, Floats]:
        """Compute the means of each group's statistics, (k, g, 1), and their deviations on draws, (k, g, r)."""
        means = (drawn.sums / self._sizes[:, np.newaxis]).T[..., np.newaxis]
        noise = drawn.sums_of_draws / np.maximum(self._sizes_of_draws, 1)
        noise -= means
        noise[:, self._sizes_of_draws == 0] = 0.0
        return means, noise

    def _score(self, means: Floats, drawn: Drawn) -> Floats:
        """Compute the score from draws of the means of each group's statistics, (k, g, r)."""
        if (drawn.sums >= 0).all():
            np.maximum(means, 0, out=means)
        means *= self._sizes[:, np.newaxis]
        score: Floats = self.prepared.measures(means.T)[:, 0]
        return score


def stacked(scores: Sequence[Scores]) -> Scores:
    """Put the draws of several submissions side by side."""
    return Scores(*(np.stack(each, axis=1) for each in zip(*scores)))


def is_made_of_groups(prepared: Measured, total: Floats) -> bool:
    """Tell whether the score is made of scores of groups, from the sums of a submission over groups, (g, k).

    Groups may also be measures that are only reported, beside a score of all items. Such a score stays as it
    is when statistics move from one group to another of the same attribute, since their total does.
    """
    if columns_of_groups(prepared) is None:
        return False
    total = np.array(total, dtype=np.float64)
    largest = np.abs(total).sum(axis=0).argmax()
    # Numbers that are 0 everywhere, such as the errors of a perfect submission, would move nothing.
    total[:, ~total.any(axis=0)] = total[:, [largest]] / 2 if total.any() else 1.0
    # Every group gives a part of its own of each sum to the next one.
    parts = np.random.default_rng(STREAM).uniform(0.01, MOST_MOVED, (MOVES, *total.shape)) * total
    moved = total - parts
    for of in attributes_of(prepared):
        moved[:, of] += np.roll(parts[:, of], 1, axis=1)
    with np.errstate(all="ignore"):
        scores = prepared.measures(np.concatenate([total[np.newaxis], moved]))[:, 0]
    before, after = scores[0], scores[1:][np.isfinite(scores[1:])]
    if not np.isfinite(before) or not len(after):
        return True
    return not np.allclose(after, before, rtol=SAME, atol=LEAST_DEVIATION)


def attributes_of(prepared: Measured) -> list[slice]:
    """Find the groups of each attribute, which stand together."""
    names = [attribute for attribute, _ in prepared.labels]
    return [slice(names.index(name), names.index(name) + names.count(name)) for name in dict.fromkeys(names)]


def columns_of_groups(prepared: Measured) -> list[int] | None:
    """Find the measures that are scores of groups, in the order of the groups."""
    known = prepared.measure_names
    columns = [known.index(name) for name in names_of_groups(prepared) if name in known]
    return columns if len(columns) == len(prepared.labels) > 1 else None


def names_of_groups(prepared: Grouped) -> list[str]:
    """Name the groups of items as the measures of their scores are named."""
    return [f"{attribute} = {value}" for attribute, value in prepared.labels]


def sizes_of_groups(prepared: Measured) -> dict[str, int]:
    """Count the items of each group, by the name that its measure has."""
    sizes = np.bincount(np.ravel(prepared.groups), minlength=len(prepared.labels)).tolist()
    return dict(zip(names_of_groups(prepared), sizes))


def group_slopes(prepared: Measured, total: Floats) -> Floats | None:
    """Estimate how fast the score rises with the score of each group.

    Parameters
    ----------
    prepared : podium.metric.contract.Prepared
        A prepared solution with g groups.
    total : ndarray of float, shape (g, k)
        The sums of a submission's statistics over the items of each group.

    Returns
    -------
    ndarray of float, shape (g,), or None
        The slopes. It is None if groups have no scores of their own, and NaN for a group whose score is
        undefined or does not depend on its sums.

    Notes
    -----
    Both the score and the group's score change with the group's sums. Where the score
    depends on them through the group's score, the two gradients are proportional, and their ratio is the slope.
    For the softmin ν of scores s with weights β and temperature α it is β·(1 − α·(s − ν)), which is below 0 for
    a group that is more than 1/α above the score.
    """
    columns = columns_of_groups(prepared)
    if columns is None:
        return None
    steepness = slopes(prepared, total)
    groups = np.arange(len(columns))
    own, of_score = steepness[columns, groups], steepness[0, groups]
    square = (own * own).sum(axis=1)
    ratio: Floats = np.divide(
        (own * of_score).sum(axis=1), square, out=np.full(len(square), np.nan), where=square > 0
    )
    return ratio


def _known(scores: Floats, variances: Floats, sizes: Floats) -> tuple[Floats, Floats] | None:
    """Prepare the scores and variances of an attribute's groups for the model; None if no score varies.

    The variances are pooled, because a small group says too little about its own variance. A group without a
    single error would seem to be certain. So the variance that one item contributes to the score of its group
    is taken to be the same in all groups. A group whose score is undefined gets their mean score.
    """
    defined = np.isfinite(scores) & np.isfinite(variances)
    deviates = defined & (variances > (LEAST_DEVIATION * np.maximum(np.abs(scores), 1)) ** 2)
    if not deviates.any():
        return None
    pooled: Floats = (sizes * variances)[defined].mean() / sizes
    return np.where(defined, scores, scores[defined].mean()), pooled


def _draw_differing(scores: Floats, variances: Floats, order: Ints) -> tuple[Floats, Floats]:
    """Draw from the posterior of the variances between true scores, with their precisions, (groups, r)."""
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
    quantiles = (np.arange(len(order)) + 0.5) / len(order) * cumulated[-1]
    chosen = np.searchsorted(cumulated, quantiles)[order]
    return differing[chosen].T, precision[chosen].T
