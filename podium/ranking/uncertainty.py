"""How sure a board is: scores, boosts and ranks again on every draw of items and of runs.

There is one kind of draws on a board: the scores that the submissions may have on the whole population
(`podium.statistics.resampler`).  Intervals, sets of ranks, shares of prizes and the probability of being ahead
are all computed from them, so that no two figures of a page contradict each other.
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
from podium.ranking.rules import Rules
from podium.ranking.work import Job, Workers

RESAMPLED_AT_ONCE = 16  # submissions, by one reading of a draw's weights
PAIRS_WITH_P = 100  # neighbors from the top that are compared by swaps: a tenth of a second each at full size

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Uncertainty(NamedTuple):
    """A board on r draws.

    Attributes
    ----------
    ranks, last_ranks : (r, t) integers, the first and the last rank of each team on each draw; they differ
        where teams are tied, which share these ranks
    scores, boosted : (r, t) floats, the scores that the population may give, before and after rewards
    eligible_share : (t,) floats, the share of draws on which each team is eligible for a reward; None without
        rewards
    """

    ranks: Ints
    last_ranks: Ints
    scores: Floats
    boosted: Floats
    eligible_share: Floats | None = None


class Detail(NamedTuple):
    """What the statistics of a chosen submission tell, of the part that decides.

    Attributes
    ----------
    measures : (m,) floats
    scores : (r,) floats, draws of the score that the population may give
    certainty : how many items decide the score
    note : why the interval of the score cannot be relied on, or empty
    influence : (n,) how fast the score grows with each item's weight
    variants : the score under other measures, by name
    fingerprint : (n,) hashes of each item's statistics
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
    job : what is scored, and with which metric
    part : the part of the solution that decides
    resamples : number of draws, 0 for none
    seed : of the random numbers
    entries : numbers of submissions with their entries

    Returns
    -------
    list of the numbers with their details
    """
    solution = work.prepared(job)
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
    numbers = store.decode(entry)[1]
    assert numbers is not None
    return numbers.T.compress(items, axis=1).T  # column by column, as in the store


@functools.lru_cache(maxsize=1)
def _resampler(job: Job, part: str, resamples: int, seed: int) -> Any:
    prepared = work.prepared(job).prepared[part]
    return statistics.resampler(prepared, statistics.draw(len(prepared.items), resamples, seed), seed)


def p_values(job: Job, part: str, rules: Rules, entries: Sequence[str], folder: Path, place: Workers) -> Floats:
    """Compute the p-value of the difference between each of the first teams and the next one.

    It is that of the scores before rewards: swapping answers says nothing about runtimes.

    Parameters
    ----------
    job : what is scored, and with which metric
    part : the part of the solution that decides
    rules : of the board, for its number of resamples and its seed
    entries : names in the store of the teams' submissions, in the order of the board
    folder : of the store
    place : where the work is done

    Returns
    -------
    (t - 1,) floats, NaN beyond the first `PAIRS_WITH_P` pairs
    """
    pairs = dict(enumerate(itertools.islice(itertools.pairwise(entries), PAIRS_WITH_P)))
    compared = functools.partial(_p_values, job, part, rules.resamples, rules.seed)
    answers = work.pairs_from_store(place, compared, pairs, folder, "comparing neighbors")
    values = np.full(max(len(entries) - 1, 0), np.nan)
    for number, value in answers.items():
        values[number] = value
    return values


def _p_values(
    job: Job, part: str, resamples: int, seed: int, pairs: Sequence[tuple[int, tuple[bytes, bytes]]]
) -> list[tuple[int, float]]:
    """In a worker: the p-value of each pair of entries."""
    items = work.prepared(job).items[part]
    of_pair = _swapper(job, part, resamples, seed)
    return [(number, float(of_pair(*(_of_items(each, items) for each in pair))[0])) for number, pair in pairs]


@functools.lru_cache(maxsize=1)
def _swapper(job: Job, part: str, resamples: int, seed: int) -> Any:
    """The function that compares two submissions, once per process."""
    _resampler.cache_clear()  # its draws are as large, and needed no more
    prepared = work.prepared(job).prepared[part]
    return statistics.swapper(prepared, len(prepared.items), resamples, seed)


def of_board(
    leaderboard: pd.DataFrame,
    draws: Floats,
    runtimes: pd.DataFrame | None,
    rules: Rules,
    higher_is_better: bool,
) -> Uncertainty:
    """Compute boosts and ranks on every draw.

    Parameters
    ----------
    leaderboard : the board, a row per team
    draws : (r, t) floats, of the scores
    runtimes : as `podium.ranking.speed.read` gives them, or None
    rules : of the board
    higher_is_better : whether a higher score is better
    """
    boost, _, is_boosted = robustness.parsed(leaderboard, rules, higher_is_better)
    boosted, eligible_share = draws, None
    if is_boosted:
        seconds = speed.draw(leaderboard, runtimes, len(draws), rules.seed)
        eligible, _, fractions = boost.boost_fractions(draws, seconds, **rules.of_boost)
        boosted, eligible_share = draws * (1 + fractions), eligible.mean(axis=0)
    return Uncertainty(*_ranks(boosted if higher_is_better else -boosted), draws, boosted, eligible_share)


def _ranks(scores: Floats) -> tuple[Ints, Ints]:
    """First and last rank of each team on each draw, (r, t); higher is better, and NaN is last."""
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
    """Compute the share of draws on which each team has a certain rank.

    Where teams are tied on a draw, each of them has an equal part of their ranks.

    Parameters
    ----------
    sure : the board on draws
    prize : the rank, from 1

    Returns
    -------
    (t,) floats that add up to 1
    """
    has_it = (sure.ranks <= prize) & (prize <= sure.last_ranks)
    shares: Floats = (has_it / (sure.last_ranks - sure.ranks + 1)).mean(axis=0)
    return shares


def ahead(sure: Uncertainty, teams: int) -> Floats:
    """Compute how often each of the first teams is ahead of each other one; ties count half.

    Parameters
    ----------
    sure : the board on draws
    teams : how many of them

    Returns
    -------
    (teams, teams) floats, the share of draws on which the team of a row is ahead of that of a column
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
    """Make the tables of intervals and of neighbors' differences.

    Parameters
    ----------
    leaderboard : the board, a row per team
    sure : the board on draws
    details : of each team's submission
    p : (t - 1,) floats, see `p_values`
    prepared : the solution's part that decides
    prizes : number of ranks whose probability is given
    higher_is_better : whether a higher score is better

    Returns
    -------
    intervals : DataFrame of ``rank``, ``team``, ``score``, ``boosted_score``, their intervals (``score_low``
        …), the sets of ranks of each team alone (``rank_low``, ``rank_high``) and of all teams at once
        (``all_ranks_low`` …), the share of draws on which the team has a rank (``prize_1`` …), where speed is
        rewarded that on which it is eligible (``eligible_share``), and ``note``, which is empty where the
        intervals of the scores can be relied on
    neighbors : DataFrame of ``rank``, ``team``, ``next_team``, ``difference`` of boosted scores, its interval
        (``low``, ``high``), ``p`` of the scores before rewards, ``probability_ahead`` and ``note``
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
    for prize in range(1, prizes + 1):
        table[f"prize_{prize}"] = prize_shares(sure, prize)
    if sure.eligible_share is not None:
        table["eligible_share"] = sure.eligible_share
    table["note"] = notes.to_numpy()
    return table, _neighbors(leaderboard, sure, details, p, prepared)


def _neighbors(
    leaderboard: pd.DataFrame, sure: Uncertainty, details: Sequence[Detail], p: Floats, prepared: Any
) -> pd.DataFrame:
    """The table of each team and the next one."""
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
    """Ends of intervals, NaN where the note refuses them."""
    return np.where(notes.str.startswith(statistics.NO_INTERVAL), np.nan, ends)
