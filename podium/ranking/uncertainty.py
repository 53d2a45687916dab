"""What a board says about chance: who would be first again, who may be the best, and the differences at prizes.

All three statements are computed from the same draws of the scores that submissions may have on the whole
population (see `podium.statistics.Resampler`), and of runtimes that could have been measured as well.

In shapes, t stands for teams, r for draws, n for items, k for the statistics of an item, and m for measures.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.common.arrays import Bools, Floats
from podium.metric import hosted
from podium.ranking import speed
from podium.ranking.examining import Detail
from podium.ranking.jury import Prizes
from podium.ranking.rewards import is_boosted
from podium.ranking.rules import Rules
from podium.statistics import Doubt, Reason, Rewards, Scores
from podium.statistics.doubts import (
    FEWEST_ON_A_BOARD,
    ROUNDED_TO,
    Units,
    doubt_of_detecting,
    doubt_of_difference,
    doubt_of_score,
    notes,
)
from podium.statistics.inference import (
    UNIT,
    difference_of_draws,
    interval,
    widening_jointly,
    widening_of_borders,
    widening_of_one,
)
from podium.statistics.population import names_of_groups, stacked


class Decisive(NamedTuple):
    """The groups from which nearly all of the score of prize winners comes, if they have few of the items."""

    items: int  # of all these groups
    groups: list[str]


class Certainty(NamedTuple):
    """What a board says about chance.

    The columns of ``intervals``:

    - ``rank``, ``team``, ``score``, ``boosted_score``: as on the board;
    - ``first_again``, ``prize_again``: the share of new competitions in which the team's file would be the
      first, and among those that win a prize; over all files they add up to 1, and to the number of prizes; NaN
      if the number is withheld, or if speed is rewarded and the noise of runtimes is unknown;
    - ``may_be_best``: whether the team cannot be excluded as the best with 95% confidence; if numbers are
      withheld, nobody can;
    - ``may_win_prize``: whether it cannot be excluded from the places that win a prize; like ``prize_again``,
      only among the teams that may win one;
    - ``score_low``, ``score_high``, ``boosted_score_low``, ``boosted_score_high``: the 95% intervals; those of
      the teams that may win a prize hold together, so that they also hold for the winner;
    - ``note``: why the intervals are missing or cannot be relied on, or empty.

    The columns of ``differences``:

    - ``rank``, ``team``, ``next_team``: the team above the border, with its rank, and the one below it;
    - ``difference``, ``low``, ``high``: the difference of what decides the board, and its interval; with 95%
      confidence all of them hold together;
    - ``detectable``: the true difference that four of five such test sets would show; ``detectable_note`` says
      why it is missing if small groups decide it;
    - ``note``: why the interval is missing, or empty.
    """

    intervals: pd.DataFrame  # a row per team
    differences: pd.DataFrame  # a row per border between prizes
    doubts: list[Doubt | None]  # about the score of each team
    withheld: Doubt | None = None  # why nobody is said to win again, and nobody is excluded as the best
    doubted: int = 0  # the row of the team whose score is in doubt, if numbers are withheld
    decisive: Decisive | None = None


class Field(NamedTuple):
    """The teams of a board, in its order, as other items and other runs of the models might have made them."""

    scores: Scores  # draws before rewards, (r, t) each
    decides: Floats  # draws of what decides the board, (r, t)
    influence: Sequence[
        npt.NDArray[Any]
    ]  # how fast the score of each team grows with the weight of each item, (n,)
    is_of_groups: Sequence[bool]  # whether the score of each team is made of scores of groups
    higher_is_better: bool
    limits: tuple[float, float] = UNIT  # of the score


AGAIN = ["first_again", "prize_again"]
ENDS = ["score_low", "score_high", "boosted_score_low", "boosted_score_high"]
LEAST_SHARE = 0.05  # of new competitions, in which teams in doubt would take a place: the shares depend on them
NEARLY_ALL, MOST_DECISIVE = 0.9, 0.5  # of a score, and of the items from which it comes if they are few
Doubts = tuple[Doubt | None, str]  # about a difference, and why what is detectable is not said


def of_teams(
    leaderboard: pd.DataFrame,
    details: Sequence[Detail],
    runtimes: pd.DataFrame | None,
    rules: Rules,
    units: Units,
    higher_is_better: bool,
    prizes: Prizes,
) -> Certainty:
    """Say what a board with these draws says about chance. The details are in the order of the board."""
    scores, rewards = drawn(leaderboard, details, runtimes, rules)
    of_groups = [each.reaction.is_of_groups for each in details]
    influence = [each.influence for each in details]
    field = Field(scores, rewarded(scores.population, rewards), influence, of_groups, higher_is_better)
    again: dict[str, Any] | None = None
    if rewards is None or speed.noise_of(leaderboard, runtimes).is_known:
        files = pd.factorize(np.array([each.fingerprint.tobytes() for each in details], dtype=object))[0]
        again = {"files": files, "rewards": rewards, "seed": rules.seed}
    table = intervals(leaderboard, field, prizes, again)
    doubts = [each.doubt for each in details]

    def doubt_of(row: int) -> Doubt | None:
        return details[row].doubt or doubt_of_score(units, details[row].reaction, FEWEST_ON_A_BOARD)

    doubted, doubt = withheld(table, prizes, doubt_of)
    is_heavy = doubt is not None and doubt.reason is Reason.HEAVY_TAIL
    if doubt is not None:
        table[AGAIN], table["may_be_best"] = np.nan, True
        table["may_win_prize"] = np.isin(np.arange(len(table)), prizes.may_win)
    if is_heavy:
        # The others have no such items, perhaps by chance, and the lucky ones lead.
        doubts = [each or doubt for each in doubts]
    table.loc[[each is not None for each in doubts], ENDS] = np.nan

    def doubts_of(row: int, other: int) -> Doubts:
        one, two = details[row], details[other]
        differing = one.fingerprint != two.fingerprint
        of_both = one.reaction, two.reaction
        about = doubt_of_difference(units, differing, *of_both, FEWEST_ON_A_BOARD)
        if is_heavy and differing.any():
            about = about or doubt
        return about, "" if about else str(doubt_of_detecting(units, *of_both) or "")

    steps = differences(leaderboard, field, prizes, doubts_of)
    few = decisive(details, prizes, units)
    return Certainty(table.assign(note=notes(doubts)), steps, doubts, doubt, doubted, few)


def intervals(board: pd.DataFrame, field: Field, prizes: Prizes, again: dict[str, Any] | None) -> pd.DataFrame:
    """Tabulate what is said about each team, as `Certainty` has it, but for the note.

    ``again`` has the arguments of `first_again`, or is None if nothing is said about new competitions.
    """
    may_win = np.isin(np.arange(len(board)), prizes.may_win)
    table = board[["rank", "team", "score", "boosted_score"]].copy()
    table[AGAIN] = np.nan
    may_be_among = functools.partial(statistics.may_be_best, higher_is_better=field.higher_is_better)
    table["may_be_best"] = may_be_among(field.decides)
    table["may_win_prize"] = False
    table.loc[may_win, "may_win_prize"] = may_be_among(field.decides[:, may_win], max(prizes.number, 1))
    if again is not None:
        how = {"higher_is_better": field.higher_is_better, **again}
        table["first_again"] = statistics.first_again(field.scores, **how)
        if prizes.number:
            table["prize_again"] = statistics.first_again(field.scores, prizes.number, who=may_win, **how)
    may_win_prize = table["may_win_prize"].to_numpy()
    alone = np.array([float(widening_of_one(*each)) for each in zip(field.is_of_groups, field.influence)])
    for name, samples in (("score", field.scores.population), ("boosted_score", field.decides)):
        wider = np.where(may_win_prize, widening_jointly(samples[:, may_win_prize]), 1) * alone
        table[f"{name}_low"], table[f"{name}_high"] = interval(samples, wider, field.limits)
    return table


def differences(
    board: pd.DataFrame, field: Field, prizes: Prizes, doubts_of: Callable[[int, int], Doubts]
) -> pd.DataFrame:
    """Compute the difference at each border between prizes, in what decides the board."""
    teams = len(field.influence)
    borders = [(row, other) for row, other in prizes.borders if other < teams]
    decides = board["boosted_score"].to_numpy()
    rewards = (board["boosted_score"] / board["score"]).fillna(1).tolist()
    may_win = [row for row in prizes.may_win if row < teams]
    jointly = widening_of_borders(field.decides[:, may_win], len(borders)) if borders else (1.0, 1.0)
    doubts = [doubts_of(*border) for border in borders]
    steps = [
        difference_of_draws(
            float(decides[row] - decides[other]),
            field.decides[:, row],
            field.decides[:, other],
            field.influence[row] * rewards[row] - field.influence[other] * rewards[other],
            doubt,
            field.higher_is_better,
            jointly,
        )
        for (row, other), (doubt, _) in zip(borders, doubts)
    ]
    table = board[["rank", "team"]].iloc[[row for row, _ in borders]].reset_index(drop=True)
    return table.assign(
        next_team=board["team"].iloc[[other for _, other in borders]].tolist(),
        difference=[each.value for each in steps],
        low=[each.low for each in steps],
        high=[each.high for each in steps],
        detectable=[np.nan if why else each.detectable for each, (_, why) in zip(steps, doubts)],
        detectable_note=[why for _, why in doubts],
        note=notes([doubt for doubt, _ in doubts]),
    )


def withheld(
    table: pd.DataFrame, prizes: Prizes, doubt_of: Callable[[int], Doubt | None]
) -> tuple[int, Doubt | None]:
    """Say whose score is in doubt, and why, so that nothing is said about winning again, or (0, None).

    The doubt is about a prize winner, or about others that would take a place in so many new competitions that
    the shares of all teams depend on them.
    """
    if len(table) == 1:
        return 0, None
    known = table[AGAIN].notna().any(axis=1)
    # Where nothing is known about new competitions, those count that may be among the first.
    takes = (
        table[AGAIN].max(axis=1).where(known, table[["may_be_best", "may_win_prize"]].any(axis=1).astype(float))
    )
    winners = [row for row in prizes.winners or (0,) if row < len(table)]
    others = [row for row in np.argsort(-takes.to_numpy(), kind="stable").tolist() if takes[row] > 0]
    doubts = {}
    for row in dict.fromkeys([*winners, *others]):
        if (about := doubt_of(row)) is not None:
            doubts[row] = about
            if row in winners or round(sum(takes[other] for other in doubts), ROUNDED_TO) >= LEAST_SHARE:
                return row, about
    return 0, None


def decisive(details: Sequence[Detail], prizes: Prizes, units: Units) -> Decisive | None:
    """Find the groups from which nearly all of the winners' score comes, if they have few of the items."""
    winners = [details[row].reaction for row in prizes.winners or (0,) if row < len(details)]
    if not winners or not all(each.is_of_groups for each in winners):
        return None
    shares = np.mean([each.shares for each in winners], axis=0)
    order = np.argsort(-shares.round(ROUNDED_TO), kind="stable")
    number = int((np.cumsum(shares[order]).round(ROUNDED_TO) < NEARLY_ALL).sum()) + 1
    groups, together = units.prepared.groups, units.together
    is_in: Bools = np.asarray(np.isin(groups, order[:number]).any(axis=0))
    all_of = np.arange(len(is_in)) if together is None else together
    items = np.unique(all_of[is_in]).size
    if items > MOST_DECISIVE * np.unique(all_of).size:
        return None
    names = names_of_groups(units.prepared)
    return Decisive(items, [names[group] for group in order[:number].tolist()])


def drawn(
    leaderboard: pd.DataFrame, details: Sequence[Detail], runtimes: pd.DataFrame | None, rules: Rules
) -> tuple[Scores, Rewards | None]:
    """Collect the draws of the scores, (r, t) each, and draw the runtimes, if speed is rewarded."""
    of_board = stacked([each.scores for each in details])
    if not is_boosted(leaderboard, rules):
        return of_board, None
    boost = hosted.module("boost")

    def fractions(scores: Floats, seconds: Floats) -> Floats:
        boosts: Floats = boost.boost_fractions(scores, seconds, **rules.of_boost)[2]
        return boosts

    of_runtimes = speed.draw(leaderboard, runtimes, len(of_board.population), rules.seed)
    return of_board, Rewards(of_runtimes, leaderboard["runtime"].to_numpy(dtype=np.float64), fractions)


def rewarded(draws: Floats, rewards: Rewards | None) -> Floats:
    """Add rewards for drawn runtimes to draws of scores, (r, t)."""
    return draws if rewards is None else draws * (1 + rewards.boost(draws, rewards.drawn))
