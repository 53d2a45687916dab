"""How sure a board is: scores, boosts and ranks again on every bootstrap draw of items and of runs."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted, statistics
from podium.errors import HostError
from podium.ranking import store, work
from podium.ranking.work import Job

if TYPE_CHECKING:
    from podium.ranking.board import Rules

__all__ = ["Detail", "Uncertainty", "detail", "of_board", "parse_runs", "tables"]

RUNTIMES_STREAM = 2  # of random numbers, beside those of draws and swaps

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Uncertainty(NamedTuple):
    """A board on r draws, of t teams in the order of the board.

    Attributes
    ----------
    scores, boosted : (r, t) float
    ranks : (r, t) int
    plausible, plausible_boosted : (r, t) float, scores that the whole population may have
    """

    scores: Floats
    boosted: Floats
    ranks: Ints
    plausible: Floats
    plausible_boosted: Floats


class Detail(NamedTuple):
    """What a chosen submission's statistics tell, of the part that decides.

    Attributes
    ----------
    measures : (m,) float
    scores : (resamples, 2) float, by draw the score of the draw and one that the population may have
        (`podium.statistics.resampler`)
    variants : dict of float, the score by what else could be measured
    fingerprint : (n,) uint32, see `podium.ranking.robustness`
    """

    measures: Floats
    scores: Floats
    variants: dict[str, float]
    fingerprint: npt.NDArray[np.uint32]


def detail(
    job: Job, part: str, resamples: int, seed: int, entries: Sequence[tuple[int, bytes]]
) -> list[tuple[int, Detail]]:
    """Details of some entries of the store, in a worker."""
    from podium.ranking import robustness

    solution = work.prepared(job)
    prepared, items = solution.prepared[part], solution.items[part]
    answers = []
    for number, entry in entries:
        _, numbers = store.decode(entry)
        assert numbers is not None
        of_part = numbers[items]
        total = statistics.sums(of_part, prepared.groups)
        scores = np.empty((0, 2))
        if resamples:
            samples, plausible = _resampler(job, part, resamples, seed)(of_part)
            scores = np.stack([samples[:, 0], plausible], axis=1)
        variants = {
            name: float(other.measures(total)[0]) for name, other in robustness.of_measures(job, part).items()
        }
        answers.append(
            (number, Detail(prepared.measures(total), scores, variants, robustness.fingerprint(of_part)))
        )
    return answers


@functools.lru_cache(maxsize=1)
def _resampler(job: Job, part: str, resamples: int, seed: int) -> Any:
    prepared = work.prepared(job).prepared[part]
    return statistics.resampler(prepared, statistics.draw(len(prepared.items), resamples, seed))


def of_board(
    leaderboard: pd.DataFrame,
    draws: Floats,
    runtimes: pd.DataFrame | None,
    rules: "Rules",
    higher_is_better: bool,
) -> Uncertainty:
    """Boosts and ranks on every draw, by the parser and the rules of the board.

    Parameters
    ----------
    leaderboard : DataFrame, (t,) rows
    draws : (r, t, 2) float, as `detail` returns them
    """
    scores, plausible = draws[..., 0], draws[..., 1]
    boost = hosted.module("boost")
    is_boosted = rules.boost and higher_is_better and leaderboard["runtime"].notna().any()
    board = boost.parse(leaderboard if is_boosted else leaderboard.drop(columns="runtime"))
    factor = np.ones_like(scores)
    if is_boosted:
        seconds = draw_runtimes(leaderboard, runtimes, len(scores), rules.seed)
        factor += boost.boost_fractions(scores, seconds, **rules.of_boost)[2]
    boosted = scores * factor
    ranks = boost.ranks(board, boosted, higher_is_better)
    return Uncertainty(scores, boosted, ranks, plausible, plausible * factor)


def parse_runs(runtimes: pd.DataFrame) -> list[Floats | None]:
    """Of each row its measured runs: `runs`, or lowest, median and highest; None where there are none.

    Raises
    ------
    HostError
    """
    if "runs" in runtimes:
        found = []
        for number, text in enumerate(runtimes["runs"], 1):
            try:
                runs = np.array(str(text or "").split(), dtype=np.float64)
                if not np.all((runs > 0) & np.isfinite(runs)):
                    raise ValueError
            except ValueError:
                raise HostError(
                    f"runs: expected seconds above 0 separated by spaces, found {text!r} in row number "
                    f"{number} of the runtimes"
                ) from None
            found.append(runs if len(runs) > 1 else None)
        return found
    if {"runtime_low", "runtime_high"} <= set(runtimes):
        three = (
            runtimes[["runtime_low", "runtime", "runtime_high"]].apply(pd.to_numeric).to_numpy(dtype=np.float64)
        )
        return [row if np.isfinite(row).all() else None for row in three]
    return [None] * len(runtimes)


def draw_runtimes(
    leaderboard: pd.DataFrame, runtimes: pd.DataFrame | None, resamples: int, seed: int
) -> Floats:
    """Runtimes of the teams, (resamples, t): medians of runs drawn with replacement, where runs are known."""
    seconds = np.tile(leaderboard["runtime"].to_numpy(dtype=np.float64), (resamples, 1))
    if runtimes is None:
        return seconds
    keys = [name for name in ("team", "submission") if name in runtimes]
    row_of = {tuple(key): row for row, key in enumerate(runtimes[keys].itertuples(index=False, name=None))}
    runs = parse_runs(runtimes)
    random = np.random.default_rng([seed, RUNTIMES_STREAM])
    for team, key in enumerate(leaderboard[keys].itertuples(index=False, name=None)):
        measured = runs[row_of[key]] if key in row_of else None
        if measured is not None:
            seconds[:, team] = np.median(random.choice(measured, (resamples, len(measured))), axis=1)
    return seconds


def tables(
    leaderboard: pd.DataFrame, sure: Uncertainty, prizes: int, higher_is_better: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Intervals of scores, sets of ranks, and the differences between neighbours.

    Returns
    -------
    intervals : DataFrame
        rank_low and rank_high hold a team's true rank with 95% confidence, all_ranks_low and all_ranks_high
        those of all teams at once; prize_1 … are the shares of draws on which a team has that rank.
    neighbours : DataFrame
    """
    intervals = leaderboard[["rank", "team", "score", "boosted_score"]].copy()
    for name, samples in (("score", sure.plausible), ("boosted_score", sure.plausible_boosted)):
        intervals[f"{name}_low"], intervals[f"{name}_high"] = statistics.interval(samples)
    sign = 1 if higher_is_better else -1
    together, alone = statistics.rank_sets(sign * leaderboard["boosted_score"], sign * sure.boosted)
    intervals[["rank_low", "rank_high"]] = alone
    intervals[["all_ranks_low", "all_ranks_high"]] = together
    for place in range(1, prizes + 1):
        intervals[f"prize_{place}"] = (sure.ranks == place).mean(axis=0)

    low, high = statistics.interval(sure.boosted[:, :-1] - sure.boosted[:, 1:])
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
