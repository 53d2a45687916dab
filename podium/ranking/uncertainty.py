"""How sure a board is: scores, boosts and ranks are computed again on every draw of items and of runs.

There is only one kind of draws on a board.  They are the scores that the submissions may have on the whole
population (see `podium.statistics.resampler`).  Intervals, rank sets, shares of prizes and the probability of
being ahead are all computed from them.  So no two figures of a page contradict each other.

In shapes, t stands for teams, r for draws, n for items, k for the statistics of an item, and m for measures.
"""

import functools
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.ranking import robustness, speed, store, work
from podium.ranking.job import Job, solution_of
from podium.ranking.rules import Rules
from podium.ranking.workers import Workers

RESAMPLED_AT_ONCE = 16  # submissions for which the weights of a draw are read once
PAIRS_WITH_P = 100  # neighbors from the top that are compared by swaps, see `pairs_with_p`

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Uncertainty(NamedTuple):
    """A board on r draws.

    Attributes
    ----------
    ranks, last_ranks : ndarray of int, shape (r, t)
        The first and the last rank of each team on each draw, counted from 1.  They differ where teams are tied
        on a draw, because these teams share several ranks.
    scores, boosted : ndarray of float, shape (r, t)
        The scores that the submissions may have on the population, before and after rewards for speed.
    eligible_share : ndarray of float, shape (t,), or None
        The share of draws on which each team is eligible for a reward.  None if speed is not rewarded.
    """

    ranks: Ints
    last_ranks: Ints
    scores: Floats
    boosted: Floats
    eligible_share: Floats | None = None


class Detail(NamedTuple):
    """What the statistics of a team's chosen submission say about the part of the solution that decides.

    Attributes
    ----------
    measures : ndarray of float, shape (m,)
        The measures of the submission.  The first one is the score.
    scores : ndarray of float, shape (r,)
        Draws of the score that the submission may have on the population.
    certainty : Certainty
        How many items decide the score.
    note : str
        Why the interval of the score cannot be relied on, or empty.
    influence : ndarray of float32, shape (n,)
        How fast the score grows with the weight of each item.
    variants : dict of str to float
        The score under other measures, by the name of the variant.
    fingerprint : ndarray of uint32, shape (n,)
        A hash of each item's statistics.
    """

    measures: Floats
    scores: Floats
    certainty: statistics.Certainty
    note: str
    influence: npt.NDArray[np.float32]
    variants: dict[str, float]
    fingerprint: npt.NDArray[np.uint32]


def detail(
    job: Job, part: str, resamples: int, seed: int, entries: Sequence[tuple[int, bytes]]
) -> list[tuple[int, Detail]]:
    """Compute the details of some entries of the store, in a worker.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.
    part : str
        The name of the solution's part that decides.
    resamples : int
        The number of draws.  With 0, the details have no draws.
    seed : int
        The seed of the random numbers.
    entries : sequence of (int, bytes)
        The numbers of submissions, each with its entry in the store.

    Returns
    -------
    list of (int, Detail)
        The numbers of the submissions, each with its details.
    """
    solution = solution_of(job)
    prepared, items = solution.prepared[part], solution.items[part]
    answers = []
    for first in range(0, len(entries), RESAMPLED_AT_ONCE):
        some = entries[first : first + RESAMPLED_AT_ONCE]
        of_part = [_of_items(entry, items) for _, entry in some]
        drawn = [np.empty(0)] * len(some)
        if resamples:
            drawn = [each.scores for each in _resampler(job, part, resamples, seed)(*of_part)]
        for (number, _), numbers, scores in zip(some, of_part, drawn):
            total = statistics.sums(numbers, prepared.groups)
            certainty = statistics.certainty(prepared, numbers, total)
            answers.append(
                (
                    number,
                    Detail(
                        measures=prepared.measures(total),
                        scores=scores,
                        certainty=certainty,
                        note=statistics.note_of_score(prepared, certainty),
                        influence=statistics.influences(prepared, numbers, total).astype(np.float32),
                        variants={
                            name: float(other.measures(total)[0])
                            for name, other in robustness.of_measures(job, part).items()
                        },
                        fingerprint=robustness.fingerprint(numbers),
                    ),
                )
            )
    return answers


def _of_items(entry: bytes, items: npt.NDArray[np.bool_]) -> Floats:
    """Read the statistics of some items, shape (n, k), from an entry of the store."""
    numbers = store.decode(entry)[1]
    assert numbers is not None
    return numbers.T.compress(items, axis=1).T  # column by column, as in the store


@functools.lru_cache(maxsize=1)
def _resampler(job: Job, part: str, resamples: int, seed: int) -> Any:
    """Make the function that draws the scores of submissions, once per process."""
    prepared = solution_of(job).prepared[part]
    return statistics.resampler(prepared, statistics.draw(len(prepared.items), resamples, seed), seed)


def pairs_with_p(teams: int, prizes: int) -> int:
    """Count the pairs of neighbors that get a p-value: the first 100, and all where a prize is decided.

    A comparison takes about 0.05 s of processor time for 1,000 essays and 0.1 to 0.4 s for 15,594.  For all
    neighbors of 2,000 teams that would be more than everything else on the board together.

    Parameters
    ----------
    teams : int
        The number of teams.
    prizes : int
        The number of places that win a prize.

    Returns
    -------
    int
        The number of pairs, counted from the top.

    Examples
    --------
    >>> pairs_with_p(34, 3), pairs_with_p(2000, 3), pairs_with_p(2000, 150)
    (33, 100, 150)
    """
    return max(0, min(teams - 1, max(PAIRS_WITH_P, prizes)))


def p_values(
    job: Job, part: str, rules: Rules, entries: Sequence[str], folder: Path, workers: Workers
) -> Floats:
    """Compute the p-value of the difference between each of the first teams and the next one.

    The p-values compare scores before rewards, because swapping answers says nothing about runtimes.  See
    `podium.statistics.p_values` for the method.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.
    part : str
        The name of the solution's part that decides.
    rules : Rules
        The rules of the board, which say the number of resamples and the seed.
    entries : sequence of str
        The name in the store of each team's submission, in the order of the board.
    folder : Path
        The folder of the store.
    workers : Workers
        Where the work is done.

    Returns
    -------
    ndarray of float, shape (t - 1,)
        The p-value of each team and the next one, NaN beyond the first pairs, see `pairs_with_p`.
    """
    number_of_pairs = pairs_with_p(len(entries), rules.prizes)
    pairs = dict(enumerate(itertools.islice(itertools.pairwise(entries), number_of_pairs)))
    compared = functools.partial(_p_values, job, part, rules.resamples, rules.seed)
    answers = work.pairs_from_store(workers, compared, pairs, folder, "comparing neighbors")
    values = np.full(max(len(entries) - 1, 0), np.nan)
    for number, value in answers.items():
        values[number] = value
    return values


def _p_values(
    job: Job, part: str, resamples: int, seed: int, pairs: Sequence[tuple[int, tuple[bytes, bytes]]]
) -> list[tuple[int, float]]:
    """Compute the p-value of each pair of entries, in a worker."""
    items = solution_of(job).items[part]
    of_pair = _swapper(job, part, resamples, seed)
    return [(number, float(of_pair(*(_of_items(each, items) for each in pair))[0])) for number, pair in pairs]


@functools.lru_cache(maxsize=1)
def _swapper(job: Job, part: str, resamples: int, seed: int) -> Any:
    """Make the function that compares two submissions, once per process."""
    _resampler.cache_clear()  # its draws take as much memory, and nobody needs them anymore
    prepared = solution_of(job).prepared[part]
    return statistics.swapper(prepared, len(prepared.items), resamples, seed)


def of_board(
    leaderboard: pd.DataFrame,
    draws: Floats,
    runtimes: pd.DataFrame | None,
    rules: Rules,
    higher_is_better: bool,
) -> Uncertainty:
    """Compute boosts and ranks on every draw.

    Where speed is rewarded, the runtime of each team is drawn as well (see `podium.ranking.speed.draw`).

    Parameters
    ----------
    leaderboard : DataFrame
        The board, with a row per team.
    draws : ndarray of float, shape (r, t)
        The scores of the teams on each draw.
    runtimes : DataFrame, or None
        The runtimes, as `podium.ranking.speed.read` returns them.
    rules : Rules
        The rules of the board.
    higher_is_better : bool
        Whether a higher score is better.

    Returns
    -------
    Uncertainty
        The board on all draws.
    """
    boost, _, is_boosted = robustness.parsed(leaderboard, rules, higher_is_better)
    boosted, eligible_share = draws, None
    if is_boosted:
        seconds = speed.draw(leaderboard, runtimes, len(draws), rules.seed)
        eligible, _, fractions = boost.boost_fractions(draws, seconds, **rules.of_boost)
        boosted, eligible_share = draws * (1 + fractions), eligible.mean(axis=0)
    return Uncertainty(*_ranks(boosted if higher_is_better else -boosted), draws, boosted, eligible_share)


def _ranks(scores: Floats) -> tuple[Ints, Ints]:
    """Find the first and the last rank of each team on each draw, shape (r, t).

    A higher score is better, NaN comes last, and teams with equal scores share their ranks.
    """
    order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    number = np.arange(1, scores.shape[1] + 1)
    starts = np.ones(scores.shape, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    ends = np.roll(starts, -1, axis=1)
    first, last = np.empty((2, *scores.shape), dtype=np.int64)
    np.put_along_axis(first, order, np.maximum.accumulate(np.where(starts, number, 0), axis=1), axis=1)
    backwards = np.where(ends, number, len(number))[:, ::-1]
    np.put_along_axis(last, order, np.minimum.accumulate(backwards, axis=1)[:, ::-1], axis=1)
    return first, last


def prize_shares(sure: Uncertainty, prize: int) -> Floats:
    """Compute the share of draws on which each team has a given rank.

    Where teams are tied on a draw, each of them gets an equal part of the ranks that they share.

    Parameters
    ----------
    sure : Uncertainty
        The board on all draws.
    prize : int
        The rank, counted from 1.

    Returns
    -------
    ndarray of float, shape (t,)
        The share of draws of each team, from 0 to 1.  The shares of all teams add up to 1.
    """
    has_it = (sure.ranks <= prize) & (prize <= sure.last_ranks)
    shares: Floats = (has_it / (sure.last_ranks - sure.ranks + 1)).mean(axis=0)
    return shares


def ahead(sure: Uncertainty, teams: int) -> Floats:
    """Compute how often each of the first teams is ahead of each other one.

    Parameters
    ----------
    sure : Uncertainty
        The board on all draws.
    teams : int
        How many teams are compared, from the top of the board.

    Returns
    -------
    ndarray of float, shape (teams, teams)
        The share of draws on which the team of a row is ahead of the team of a column.  A tie counts as half.
    """
    ranks = sure.ranks[:, :teams]
    shares = np.empty((ranks.shape[1],) * 2)
    for team, of_team in enumerate(ranks.T):
        better, same = of_team[:, np.newaxis] < ranks, of_team[:, np.newaxis] == ranks
        shares[team] = better.mean(axis=0) + same.mean(axis=0) / 2
    return shares


def tables(
    leaderboard: pd.DataFrame,
    sure: Uncertainty,
    details: Sequence[Detail],
    p: Floats,
    prepared: Any,
    prizes: int,
    higher_is_better: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make the table of intervals and the table of the differences between neighbors.

    Parameters
    ----------
    leaderboard : DataFrame
        The board, with a row per team.
    sure : Uncertainty
        The board on all draws.
    details : sequence of Detail
        The details of each team's submission, in the order of the board.
    p : ndarray of float, shape (t - 1,)
        The p-values of each team and the next one, see `p_values`.
    prepared : Prepared
        The prepared part of the solution that decides.
    prizes : int
        The number of ranks, from the first, whose probability is computed for each team.
    higher_is_better : bool
        Whether a higher score is better.

    Returns
    -------
    intervals : DataFrame
        A row per team.  The Notes list the columns.
    neighbors : DataFrame
        A row per team and the next one.  The Notes list the columns.

    Notes
    -----
    The columns of ``intervals``:

    - ``rank``, ``team``, ``score``, ``boosted_score``: as on the board;
    - ``score_low``, ``score_high``, ``boosted_score_low``, ``boosted_score_high``: the 95% intervals;
    - ``rank_low``, ``rank_high``: the rank set of the team alone;
    - ``all_ranks_low``, ``all_ranks_high``: the rank set that holds for all teams at once;
    - ``prize_1``, ``prize_2`` and so on: the share of draws on which the team has that rank;
    - ``eligible_share``: the share of draws on which it is eligible, only where speed is rewarded;
    - ``note``: why the intervals of the scores cannot be relied on, or empty.

    The columns of ``neighbors``:

    - ``rank``, ``team``, ``next_team``: the team, with its rank, and the one below it;
    - ``difference``, ``low``, ``high``: the difference of their boosted scores and its 95% interval;
    - ``p``: the p-value of the difference of their scores before rewards;
    - ``probability_ahead``: the share of draws on which the team is ahead, where a tie counts as half;
    - ``note``: why the interval of the difference cannot be relied on, or empty.
    """
    table = leaderboard[["rank", "team", "score", "boosted_score"]].copy()
    notes = pd.Series([each.note for each in details], dtype=str)
    wider = np.array([float(statistics.widening_of_one(prepared, each.influence)) for each in details])
    for name, samples in (("score", sure.scores), ("boosted_score", sure.boosted)):
        low, high = statistics.interval(samples, wider)
        table[f"{name}_low"], table[f"{name}_high"] = _reliable(low, notes), _reliable(high, notes)
    sign = 1 if higher_is_better else -1
    together, alone = statistics.rank_sets(sign * leaderboard["boosted_score"], sign * sure.boosted)
    table[["rank_low", "rank_high"]] = alone
    table[["all_ranks_low", "all_ranks_high"]] = together
    shares = {f"prize_{prize}": prize_shares(sure, prize) for prize in range(1, prizes + 1)}
    table = pd.concat([table, pd.DataFrame(shares, index=table.index)], axis=1)
    if sure.eligible_share is not None:
        table["eligible_share"] = sure.eligible_share
    table["note"] = notes.to_numpy()
    return table, _neighbors(leaderboard, sure, details, p, prepared)


def _neighbors(
    leaderboard: pd.DataFrame, sure: Uncertainty, details: Sequence[Detail], p: Floats, prepared: Any
) -> pd.DataFrame:
    """Make the table of each team and the next one, as `tables` describes it."""
    rewards = (leaderboard["boosted_score"] / leaderboard["score"]).fillna(1).tolist()
    wider, notes = [], []
    for (mine, reward), (theirs, other_reward) in itertools.pairwise(zip(details, rewards)):
        wider.append(float(statistics.widening(mine.influence * reward - theirs.influence * other_reward)))
        differing = mine.fingerprint != theirs.fingerprint
        of_pair = statistics.note_of_difference(prepared, differing, mine.certainty, theirs.certainty)
        notes.append(of_pair if differing.any() else "")
    low, high = statistics.interval(sure.boosted[:, :-1] - sure.boosted[:, 1:], np.array(wider))
    first, second = sure.ranks[:, :-1], sure.ranks[:, 1:]
    note = pd.Series(notes, dtype=str)
    return pd.DataFrame(
        {
            "rank": leaderboard["rank"][:-1],
            "team": leaderboard["team"][:-1],
            "next_team": leaderboard["team"][1:].to_numpy(),
            "difference": -np.diff(leaderboard["boosted_score"]),
            "low": _reliable(low, note),
            "high": _reliable(high, note),
            "p": p,
            "probability_ahead": ((first < second) + (first == second) / 2).mean(axis=0),
            "note": note.to_numpy(),
        }
    )


def _reliable(ends: Floats, notes: "pd.Series[str]") -> Floats:
    """Replace the ends of intervals by NaN where the note says that there is no interval."""
    return np.where(notes.str.startswith(statistics.NO_INTERVAL), np.nan, ends)
