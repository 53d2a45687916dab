"""Who would be first again on new items, and who may be the best: statements about a board, made from draws.

The letters in shapes are those of `podium.statistics`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from podium.common.arrays import Bools, Floats, Ints
from podium.statistics.population import Scores

LEVEL = 0.95

# The stream of random numbers; the draws of items, runtimes and the population have others.
STREAM = 4

# Each team is compared with so many others at most, and with all of them for so many teams. Without this
# limit, a board of 2,000 teams takes 23 seconds in place of half a second, and 4% fewer may be the best.
RIVALS, TYPICAL = 100, 10

# Standard deviations up to this one, relative to the scores, are rounding.
ROUNDING = 1e-12


class Rewards(NamedTuple):
    """How speed is rewarded, and what is known about the runtimes of t teams."""

    drawn: Floats  # draws of the runtimes, (r, t), with NaN for a team without one
    measured: Floats  # the runtimes that were measured, (t,)
    boost: Callable[[Floats, Floats], Floats]  # the boosts of scores with such runtimes, (r, t)


def first_again(
    draws: Scores | npt.ArrayLike,
    places: int = 1,
    *,
    who: npt.ArrayLike | None = None,
    files: npt.ArrayLike | None = None,
    rewards: Rewards | None = None,
    higher_is_better: bool = True,
    seed: int = 0,
) -> Floats:
    """Estimate how often each team would be among the first again on new items of the same kind.

    Parameters
    ----------
    draws : Scores, or array-like of float, shape (r, t)
        Draws of the teams' scores before rewards, see `podium.statistics.Resampler.scores`. All teams share
        the same r draws. An array has the bootstrap draws of a metric that compares no groups.
    places : int
        The number of places that count: 1 for "first again", and 3 for "among the first three again".
    who : array-like of bool, shape (t,), optional
        The teams that can take a place, such as those that may win a prize. The others are drawn like them,
        and decide about rewards, but they take no place. If it is missing, all teams can.
    files : array-like, shape (t,), optional
        What each team submitted, such as the hash of its file. Teams with the same file get the same number:
        how often one of them is among the first. If it is missing, all files differ.
    rewards : Rewards, optional
        How speed is rewarded, if it is.
    higher_is_better : bool
        Whether a higher score is better.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    ndarray of float, shape (t,)
        The share of simulated competitions in which each team is among the first. A file takes one place, and
        files that are tied for the last of these places share it. So the shares of all files add up to the
        number of places, or to that of files if there are fewer. A team whose score is undefined gets 0. A
        team that can take no place gets NaN, and all get it if no draw is defined for all other teams.

    Notes
    -----
    The share of draws in which the leading team is first would promise too much, because a part of its lead is
    luck, and because the results on two test sets differ by the noise of both. So scores on new items are
    simulated: true scores have a normal distribution, which is as wide as this field is without its noise.
    ``docs/explanation/statistics.md`` describes it.

    Examples
    --------
    Of three teams, the first one leads by one standard deviation of the noise:

    >>> noise = np.random.default_rng(0).normal(0, 0.01, (1000, 3))
    >>> first_again(noise + [0.75, 0.74, 0.7]).round(2).tolist()
    [0.66, 0.34, 0.0]
    """
    of_board = draws if isinstance(draws, Scores) else Scores(*[np.asarray(draws, dtype=np.float64)] * 3)
    drawn = [each if higher_is_better else -each for each in of_board]
    teams, rows = _defined(*drawn)
    can = np.ones(len(teams), dtype=bool) if who is None else np.asarray(who, dtype=bool)
    if not teams.any() or not rows.any():
        return np.where(teams | ~can, np.nan, 0.0)
    of_files = np.arange(len(teams)) if files is None else np.unique(np.asarray(files), return_inverse=True)[1]
    # A file counts once, however many teams have sent it.
    _, chosen, file_of = np.unique(of_files[teams], return_index=True, return_inverse=True)
    random = np.random.default_rng([seed, STREAM])
    scores = np.full((int(rows.sum()), len(teams)), -np.inf)
    once = Scores(*(each[rows][:, np.flatnonzero(teams)[chosen]] for each in drawn))
    scores[:, teams] = _on_new_items(once, random)[:, file_of]
    if rewards is not None:
        runtimes = _measured_again(rewards.measured, rewards.drawn[rows], random)
        known = np.where(teams, scores, np.nan)
        scores[:, teams] *= (1 + rewards.boost(known, runtimes))[:, teams]
    shares = np.full(len(teams), np.nan)
    if can.any():
        some = np.unique(of_files[can], return_inverse=True)[1]
        shares[can] = _among_first(scores[:, can], places, some)[some]
    shares[can & ~teams] = 0.0
    return shares


def may_be_best(draws: Scores | npt.ArrayLike, places: int = 1, *, higher_is_better: bool = True) -> Bools:
    """Find the teams that cannot be excluded as the best, or from the first places, with 95% confidence.

    Parameters
    ----------
    draws : Scores, or array-like of float, shape (r, t)
        Draws of what decides the board: scores, or an array of scores with rewards. All teams share the same
        r draws.
    places : int
        The number of places that count: 1 for the best team, and 3 for those that may be among the first three.
    higher_is_better : bool
        Whether a higher score is better.

    Returns
    -------
    ndarray of bool, shape (t,)
        Whether each team may be the best, or among the first places. A team whose score is undefined may not.

    Notes
    -----
    The method is the comparison with the best of J. Hsu ("Simultaneous Confidence Intervals for all Distances
    from the 'Best'", The Annals of Statistics 9, 1981), studentized and computed from draws. Let c_i be the
    mean of the draws of team i, e_i their deviations from it, and d_ij the standard deviation of e_i - e_j.
    Team j is excluded if as many teams i as there are places are ahead of it by more than q_j·d_ij. Here q_j
    is the 95% quantile over the draws of the largest (e_i - e_j) / d_ij of all teams i.

    On a board of more than 100 teams, i is one of 100 teams: the 50 leading ones, and others that are spread
    over the board. Then q_j is multiplied by how much larger it is with all teams, for ten teams j.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (1000, 3))
    >>> may_be_best(noise + [0.75, 0.74, 0.7]).tolist()
    [True, True, False]
    """
    of_population = draws.population if isinstance(draws, Scores) else draws
    drawn = np.asarray(of_population, dtype=np.float64) * (1 if higher_is_better else -1)
    teams, rows = _defined(drawn)
    numbers = np.flatnonzero(teams)
    drawn = drawn[rows][:, numbers]
    if not drawn.size:
        return teams
    centers = drawn.mean(axis=0)
    errors = drawn - centers
    nothing = ROUNDING * max(np.abs(centers).max(initial=0), 1)
    rivals = _rivals(centers)
    of_rivals = errors[:, rivals]
    wider = 1.0
    if len(rivals) < len(centers):
        some = range(0, len(centers), -(-len(centers) // TYPICAL))
        limits = [[_limit(each, errors[:, [k]], nothing)[0] for each in (errors, of_rivals)] for k in some]
        wider = max([1.0, *(with_all / with_rivals for with_all, with_rivals in limits if with_rivals > 0)])
    for team in range(len(centers)):
        behind = centers[rivals] - centers[team]
        quantile, deviation = _limit(of_rivals, errors[:, [team]], nothing)
        limit = np.where(deviation > nothing, wider * quantile * deviation, nothing)
        teams[numbers[team]] = (behind > limit).sum() < places
    return teams


def _limit(errors: Floats, own: Floats, nothing: float) -> tuple[float, Floats]:
    """Compute how far teams come to be ahead of a team by chance, from the deviations of their draws, (r, i).

    The first result is the 95% quantile of the largest lead, in units of the second one, the standard deviation
    of the lead of each team, (i,).
    """
    ahead = errors - own
    deviation = np.sqrt((ahead**2).mean(axis=0))
    noisy = deviation > nothing
    largest = (ahead[:, noisy] / deviation[noisy]).max(axis=1, initial=0)
    return float(np.quantile(largest, LEVEL)), deviation


def _rivals(centers: Floats) -> Ints:
    """Choose the teams with which all are compared: all of them, or the leading ones and some of the others."""
    order = np.argsort(-centers, kind="stable")
    if len(order) <= RIVALS:
        return order
    leading, others = order[: RIVALS // 2], order[RIVALS // 2 :]
    return np.concatenate([leading, others[:: -(-len(others) // (RIVALS - len(leading)))]])


def _defined(*draws: Floats) -> tuple[Bools, Bools]:
    """Find the teams whose score is defined on any draw, and the draws on which all of them have a score."""
    known: Bools = np.logical_and.reduce([np.isfinite(each) for each in draws])
    teams = np.asarray(known.any(axis=0))
    return teams, np.asarray(known[:, teams].all(axis=1))


def _on_new_items(draws: Scores, random: np.random.Generator) -> Floats:
    """Draw scores on new items, as the Notes of `first_again` describe, shape (r, t)."""

    def apart(of_draws: Floats) -> Floats:
        """The deviations of teams, without what all of them share on a draw."""
        errors = of_draws - of_draws.mean(axis=0)
        return np.asarray(errors - errors.mean(axis=1, keepdims=True))

    scores = _true_scores(draws.population.mean(axis=0), apart(draws.of_middle))
    scores += apart(draws.of_test_set)[random.permutation(len(scores))]
    return scores


def _measured_again(measured: Floats, drawn: Floats, random: np.random.Generator) -> Floats:
    """Draw runtimes of another measurement, (r, t), from those that could have been measured as well, (r, t).

    The fastest model is partly lucky, as the best one is. So the logarithms of true runtimes are drawn as true
    scores are, and measured with the noise of another draw.
    """
    again = np.full(drawn.shape, np.nan)
    known = np.flatnonzero(np.isfinite(measured))
    centers = np.log(measured[known])
    noise = np.log(drawn[:, known]) - centers
    again[:, known] = np.exp(_true_scores(centers, noise) + noise[random.permutation(len(noise))])
    return again


def _true_scores(centers: Floats, errors: Floats) -> Floats:
    """Draw true scores, (r, t), from centers, (t,), and deviations on draws, (r, t).

    True scores have a normal distribution, whose spread is that of the field without its noise.
    """
    if len(centers) < 2:
        return centers + errors
    noise = errors.var(axis=0)
    spread = max(float(centers.var(ddof=1) - noise.mean()), 0.0)
    kept = np.divide(spread, spread + noise, out=np.ones_like(noise), where=noise > 0)
    # Scores without noise are themselves, to the last bit.
    true_scores: Floats = centers - (1 - kept) * (centers - centers.mean()) + np.sqrt(kept) * errors
    return true_scores


def _among_first(scores: Floats, places: int, files: Ints) -> Floats:
    """Compute how often each file is among the first, from the scores of teams and the number of its file."""
    order = np.argsort(files, kind="stable")
    starts = np.searchsorted(files[order], np.arange(files.max() + 1))
    best = np.maximum.reduceat(scores[:, order], starts, axis=1)
    last = max(len(starts) - places, 0)
    least = np.partition(best, last, axis=1)[:, [last]]
    tied = best == least
    left = min(places, len(starts)) - (best > least).sum(axis=1, keepdims=True)
    shares: Floats = np.where(tied, left / tied.sum(axis=1, keepdims=True), best > least).mean(axis=0)
    return shares
