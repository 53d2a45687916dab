"""How sure a board is: scores, boosts and ranks again on every bootstrap draw of items and of runs."""

import functools
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.ranking import robustness, speed, store, work
from podium.ranking.rules import Rules
from podium.ranking.work import Job

RESAMPLED_AT_ONCE = 16  # submissions, by one reading of a draw's weights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Uncertainty(NamedTuple):
    """A board on r draws, (r, t) each; ``plausible`` are scores that the whole population may have."""

    ranks: Ints
    plausible: Floats
    plausible_boosted: Floats


class Detail(NamedTuple):
    """What a chosen submission's statistics tell, of the part that decides."""

    measures: Floats
    scores: Floats  # (r, 2): of each draw, and as the whole population may have it
    influence: npt.NDArray[np.float32]
    variants: dict[str, float]  # the score under other measures
    fingerprint: npt.NDArray[np.uint32]


def detail(
    job: Job, part: str, resamples: int, seed: int, entries: Sequence[tuple[int, bytes]]
) -> list[tuple[int, Detail]]:
    """Details of some entries of the store, in a worker."""
    solution = work.prepared(job)
    prepared, items = solution.prepared[part], solution.items[part]
    answers = []
    for first in range(0, len(entries), RESAMPLED_AT_ONCE):
        some = entries[first : first + RESAMPLED_AT_ONCE]
        of_part = [_of_items(entry, items) for _, entry in some]
        if resamples:
            drawn = _resampler(job, part, resamples, seed)(*of_part)
        else:
            none = np.empty((0, 1))
            drawn = [
                statistics.Resampled(statistics.sums(each, prepared.groups), none, none[:, 0])
                for each in of_part
            ]
        for (number, _), numbers, (total, samples, plausible) in zip(some, of_part, drawn):
            scores = np.stack([samples[:, 0], plausible], axis=1)
            variants = {
                name: float(other.measures(total)[0])
                for name, other in robustness.of_measures(job, part).items()
            }
            fingerprint = robustness.fingerprint(numbers)
            influence = statistics.influences(prepared, numbers, total).astype(np.float32)
            answers.append((number, Detail(prepared.measures(total), scores, influence, variants, fingerprint)))
    return answers


def _of_items(entry: bytes, items: npt.NDArray[np.bool_]) -> Floats:
    numbers = store.decode(entry)[1]
    assert numbers is not None
    return numbers.T.compress(items, axis=1).T  # column by column, as in the store


@functools.lru_cache(maxsize=1)
def _resampler(job: Job, part: str, resamples: int, seed: int) -> Any:
    prepared = work.prepared(job).prepared[part]
    return statistics.resampler(prepared, statistics.draw(len(prepared.items), resamples, seed))


def of_board(
    leaderboard: pd.DataFrame,
    draws: Floats,
    runtimes: pd.DataFrame | None,
    rules: Rules,
    higher_is_better: bool,
) -> Uncertainty:
    """Boosts and ranks on every draw, (r, t, 2)."""
    scores, plausible = draws[..., 0], draws[..., 1]
    boost, board, is_boosted = robustness.parsed(leaderboard, rules, higher_is_better)
    factor = np.ones_like(scores)
    if is_boosted:
        seconds = speed.draw(leaderboard, runtimes, len(scores), rules.seed)
        factor += boost.boost_fractions(scores, seconds, **rules.of_boost)[2]
    ranks = boost.ranks(board, scores * factor, higher_is_better)
    return Uncertainty(ranks, plausible, plausible * factor)


def tables(
    leaderboard: pd.DataFrame,
    sure: Uncertainty,
    influences: Sequence[npt.NDArray[np.float32]],
    prizes: int,
    higher_is_better: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Intervals of scores and sets of ranks (all_ranks_…: of all teams at once), and neighbours' differences.

    prize_1 … are the shares of draws on which a team has that rank.
    """
    intervals = leaderboard[["rank", "team", "score", "boosted_score"]].copy()
    for name, samples in (("score", sure.plausible), ("boosted_score", sure.plausible_boosted)):
        intervals[f"{name}_low"], intervals[f"{name}_high"] = statistics.interval(samples)
    sign = 1 if higher_is_better else -1
    boosted = sure.plausible_boosted
    together, alone = statistics.rank_sets(sign * leaderboard["boosted_score"], sign * boosted)
    intervals[["rank_low", "rank_high"]] = alone
    intervals[["all_ranks_low", "all_ranks_high"]] = together
    for place in range(1, prizes + 1):
        intervals[f"prize_{place}"] = (sure.ranks == place).mean(axis=0)

    low, high = statistics.interval(
        boosted[:, :-1] - boosted[:, 1:], _widening_of_neighbours(leaderboard, influences)
    )
    neighbours = pd.DataFrame(
        {
            "rank": leaderboard["rank"][:-1],
            "team": leaderboard["team"][:-1],
            "next_team": leaderboard["team"][1:].to_numpy(),
            "difference": -np.diff(leaderboard["boosted_score"]),
            "low": low,
            "high": high,
            "probability_ahead": (sure.ranks[:, :-1] < sure.ranks[:, 1:]).mean(axis=0),
        }
    )
    return intervals, neighbours


def _widening_of_neighbours(leaderboard: pd.DataFrame, influences: Sequence[npt.NDArray[np.float32]]) -> Floats:
    factor = (leaderboard["boosted_score"] / leaderboard["score"]).fillna(1).tolist()
    scaled = (of_team * times for of_team, times in zip(influences, factor))
    return np.array([float(statistics.widening(mine - theirs)) for mine, theirs in itertools.pairwise(scaled)])
