"""What a board says about chance: who would be first again, who may be the best, and the differences at prizes.

All three statements are computed from the same draws of the scores that submissions may have on the whole
population (see `podium.statistics.Resampler`), and of runtimes that could have been measured as well.

In shapes, t stands for teams, r for draws, n for items, k for the statistics of an item, and m for measures.
"""

import functools
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.metric import hosted
from podium.metric.contract import Measured, Prepared
from podium.ranking import robustness, similarity, speed, store
from podium.ranking.jury import Prizes
from podium.ranking.rewards import is_boosted
from podium.ranking.rules import Rules
from podium.scoring.evaluating import Solution
from podium.statistics import Difference, Doubt, Drawn, Scores
from podium.statistics.doubts import (
    FEWEST_ON_A_BOARD,
    Reaction,
    Units,
    doubt_of_detecting,
    doubt_of_difference,
    doubt_of_score,
    notes,
    reaction,
)
from podium.statistics.inference import (
    difference_of_draws,
    interval,
    widening_jointly,
    widening_of_borders,
    widening_of_one,
)
from podium.statistics.population import Groups, stacked
from podium.statistics.sampling import influences
from podium.words.arrays import Bools, Floats, Ints

T = TypeVar("T")

RESAMPLED_AT_ONCE = 16  # submissions for which the weights of a draw are read once
SHARED_BY = 100  # teams that are drawn first, because all teams share the variances that these have


class How(NamedTuple):
    """How the items of a solution are drawn."""

    part: str  # the part that decides
    resamples: int = 0  # the number of draws
    seed: int = 0
    column: str = ""  # items with the same value in it are drawn together; if it is "", each is drawn alone


class Detail(NamedTuple):
    """What the statistics of a team's chosen submission say about the part of the solution that decides."""

    measures: Floats  # the measures of the submission, the score first
    scores: Scores  # draws of the score, (r,) each
    reaction: Reaction  # how the score reacts to the groups
    doubt: Doubt | None  # why the interval of the score cannot be relied on
    influence: npt.NDArray[np.float32]  # how fast the score grows with the weight of each item
    variants: dict[str, float]  # the score under other measures, by the name of the variant
    fingerprint: npt.NDArray[np.uint32]  # a hash of each item's statistics


class Certainty(NamedTuple):
    """What a board says about chance.

    The columns of ``intervals``:

    - ``rank``, ``team``, ``score``, ``boosted_score``: as on the board;
    - ``first_again``, ``prize_again``: the share of new competitions in which the team's file would be the
      first, and among those that win a prize; over all files they add up to 1, and to the number of prizes; NaN
      if the number is withheld, or if speed is rewarded and the noise of runtimes is unknown;
    - ``may_be_best``: whether the team cannot be excluded as the best with 95% confidence;
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
    withheld: Doubt | None = None  # why nobody is said to be first again, or to win a prize again


class Examined(NamedTuple):
    """What the files that count say, in the order of the board."""

    resamples: int  # the number of draws
    details: list[Detail]  # empty if nothing can be said
    units: Units  # what is drawn
    prepared: Prepared | None = None  # the solution of which these are the statistics; None of half-samples
    silence: str = ""  # why nothing can be said about chance, if that is so


def shared_by(order: Sequence[T]) -> list[T]:
    """Choose the teams whose variances all teams share: all of them, or 100 that are spread over the board.

    >>> shared_by([5, 3, 4]), len(shared_by(range(2000))), shared_by(range(2000))[-1]
    ([5, 3, 4], 100, 1980)
    """
    step = max(1, len(order) / SHARED_BY)
    return [order[int(number * step)] for number in range(min(len(order), SHARED_BY))]


def groups(how: How, solution: Solution, entries: Sequence[bytes]) -> list[Groups | None]:
    """Find out what some entries of the store say about the groups of items, in a worker.

    It is None for a score that is not made of groups.
    """
    items = solution.items[how.part]
    draws, kept = resampler(solution, how)
    answers = []
    for first in range(0, len(entries), RESAMPLED_AT_ONCE):
        some = entries[first : first + RESAMPLED_AT_ONCE]
        for entry, drawn in zip(some, draws.draw(*(of_items(entry, items) for entry in some))):
            kept[_key(entry)] = drawn
            answers.append(draws.groups(drawn))
    return answers


def detail(how: How, shared: Groups | None, solution: Solution, entries: Sequence[bytes]) -> list[Detail]:
    """Compute the details of some entries of the store, in a worker."""
    together = solution.together(how.part, how.column)
    prepared, items = solution.prepared[how.part], solution.items[how.part]
    others = robustness.of_measures(solution, how.part)
    answers = []
    for first in range(0, len(entries), RESAMPLED_AT_ONCE):
        some = entries[first : first + RESAMPLED_AT_ONCE]
        of_part = [of_items(entry, items) for entry in some]
        scores = [Scores(*[np.empty(0)] * 3)] * len(some)
        if how.resamples:
            draws, kept = resampler(solution, how)
            model = draws.model(shared)
            drawn = _drawn(draws, kept, [_key(entry) for entry in some], of_part)
            scores = [draws.scores_of(each, model) for each in drawn]
        for numbers, of_draws in zip(of_part, scores):
            answers.append(_detail(prepared, others, numbers, of_draws, together))
    return answers


def _detail(
    prepared: Prepared, others: Mapping[str, Measured], numbers: Floats, scores: Scores, together: Ints | None
) -> Detail:
    """Compute the details of a submission from its statistics (n, k) and the draws of its score (r,)."""
    total, units = statistics.sums(numbers, prepared.groups), Units(prepared, together)
    of_groups = reaction(prepared, numbers, total, together)
    return Detail(
        measures=prepared.measures(total),
        scores=scores,
        reaction=of_groups,
        doubt=doubt_of_score(units, of_groups),
        influence=units.sums(influences(prepared, numbers, total)).astype(np.float32),
        variants={name: float(other.measures(total)[0]) for name, other in others.items()},
        fingerprint=similarity.fingerprint(numbers),
    )


def of_items(entry: bytes, items: Bools) -> Floats:
    """Read the statistics of some items, shape (n, k), from an entry of the store."""
    numbers = store.decode(entry)
    assert numbers is not None
    return numbers.T.compress(items, axis=1).T  # column by column, as in the store


def _drawn(
    draws: statistics.Resampler, kept: dict[bytes, Drawn], keys: list[bytes], submissions: list[Floats]
) -> list[Drawn]:
    """Draw submissions, each (n, k), but for those that are kept since `groups` has drawn them."""
    known = {key: kept.pop(key) for key in set(keys) if key in kept}
    new = [number for number, key in enumerate(keys) if key not in known]
    drawn = dict(zip(new, draws.draw(*(submissions[number] for number in new)))) if new else {}
    return [drawn[number] if number in drawn else known[key] for number, key in enumerate(keys)]


def _key(entry: bytes) -> bytes:
    """Make a short name of an entry of the store from its bytes."""
    return hashlib.blake2b(entry, digest_size=16).digest()


@functools.lru_cache(maxsize=1)
def resampler(solution: Solution, how: How) -> tuple[statistics.Resampler, dict[bytes, Drawn]]:
    """Make the draws of the items, once per process, and a place for submissions that are drawn."""
    prepared, together = solution.prepared[how.part], solution.together(how.part, how.column)
    weights = statistics.draw(len(prepared.items), how.resamples, how.seed, together=together)
    return statistics.Resampler(prepared, weights, how.seed), {}


def of_teams(
    leaderboard: pd.DataFrame,
    details: Sequence[Detail],
    runtimes: pd.DataFrame | None,
    rules: Rules,
    units: Units,
    higher_is_better: bool,
    prizes: Prizes,
) -> Certainty:
    """Say what a board with these draws says about chance.  The details are in the order of the board."""
    of_board = stacked([each.scores for each in details])
    draws = of_board.population
    rewards = _rewards(leaderboard, runtimes, rules, len(draws))
    boosted = draws if rewards is None else draws * (1 + rewards.boost(draws, rewards.drawn))
    may_win = np.isin(np.arange(len(details)), prizes.may_win)
    doubt = withheld(details, prizes, units)
    table = leaderboard[["rank", "team", "score", "boosted_score"]].copy()
    table[["first_again", "prize_again"]] = np.nan
    table["may_be_best"] = _may_be_among(1, boosted, units, higher_is_better)
    table["may_win_prize"] = False
    among = _may_be_among(max(prizes.number, 1), boosted[:, may_win], units, higher_is_better)
    table.loc[may_win, "may_win_prize"] = among
    if doubt is None and (rewards is None or speed.noise_of(leaderboard, runtimes).is_known):
        files = pd.factorize(np.array([each.fingerprint.tobytes() for each in details], dtype=object))[0]
        how: dict[str, Any] = {"files": files, "rewards": rewards, "seed": rules.seed}
        table["first_again"] = statistics.first_again(of_board, higher_is_better=higher_is_better, **how)
        if prizes.number:
            table["prize_again"] = statistics.first_again(
                of_board, prizes.number, who=may_win, higher_is_better=higher_is_better, **how
            )
    for name, samples in (("score", draws), ("boosted_score", boosted)):
        ends = _intervals(details, samples, table["may_win_prize"].to_numpy())
        table[[f"{name}_low", f"{name}_high"]] = ends.T
    doubts = [each.doubt for each in details]
    table["note"] = notes(doubts)
    steps = differences(leaderboard, boosted, details, prizes, units, higher_is_better)
    return Certainty(table, steps, doubts, doubt)


def _may_be_among(places: int, draws: Floats, units: Units, higher_is_better: bool) -> Bools:
    """Who cannot be excluded from the first places; where all items are few, draws of them exclude nobody."""
    if units.sizes(is_of_groups=False).sum() < FEWEST_ON_A_BOARD:
        return np.ones(draws.shape[1], dtype=bool)
    return statistics.may_be_best(draws, places, higher_is_better=higher_is_better)


def _intervals(details: Sequence[Detail], samples: Floats, may_win_prize: Bools) -> Floats:
    """Compute the ends of the teams' intervals, (2, t); those of teams that may win a prize hold together."""
    wider = [float(widening_of_one(each.reaction.is_of_groups, each.influence)) for each in details]
    jointly = np.where(may_win_prize, widening_jointly(samples[:, may_win_prize]), 1)
    ends = np.stack(interval(samples, jointly * np.array(wider)))
    ends[:, [each.doubt is not None and not each.doubt.has_interval for each in details]] = np.nan
    return ends


def withheld(details: Sequence[Detail], prizes: Prizes, units: Units) -> Doubt | None:
    """Say why nothing is said about winning again: few items decide the score of a team that wins a prize."""
    if len(details) == 1:
        return None
    winners = [details[row] for row in prizes.winners or (0,) if row < len(details)]
    doubts = [doubt_of_score(units, each.reaction, FEWEST_ON_A_BOARD) for each in winners]
    return next((doubt for doubt in doubts if doubt is not None), None)


def with_rewards(
    leaderboard: pd.DataFrame, details: Sequence[Detail], runtimes: pd.DataFrame | None, rules: Rules
) -> Scores:
    """Draw what decides a board: the scores with rewards for drawn runtimes, (r, t) each."""
    of_board = stacked([each.scores for each in details])
    rewards = _rewards(leaderboard, runtimes, rules, len(of_board.population))
    if rewards is None:
        return of_board
    return Scores(*(each * (1 + rewards.boost(each, rewards.drawn)) for each in of_board))


def _rewards(
    leaderboard: pd.DataFrame,
    runtimes: pd.DataFrame | None,
    rules: Rules,
    resamples: int,
) -> statistics.Rewards | None:
    """Draw the runtimes, if speed is rewarded."""
    if not is_boosted(leaderboard, rules):
        return None
    boost = hosted.module("boost")

    def fractions(scores: Floats, seconds: Floats) -> Floats:
        boosts: Floats = boost.boost_fractions(scores, seconds, **rules.of_boost)[2]
        return boosts

    drawn = speed.draw(leaderboard, runtimes, resamples, rules.seed)
    return statistics.Rewards(drawn, leaderboard["runtime"].to_numpy(dtype=np.float64), fractions)


def differences(
    leaderboard: pd.DataFrame,
    boosted: Floats,
    details: Sequence[Detail],
    prizes: Prizes,
    units: Units,
    higher_is_better: bool,
) -> pd.DataFrame:
    """Compute the difference at each border between prizes, in what decides the board."""
    borders = [(row, other) for row, other in prizes.borders if other < len(details)]
    decides = leaderboard["boosted_score"].to_numpy()
    rewards = (leaderboard["boosted_score"] / leaderboard["score"]).fillna(1).tolist()
    may_win = [row for row in prizes.may_win if row < len(details)]
    jointly = widening_of_borders(boosted[:, may_win], len(borders)) if borders else (1.0, 1.0)
    steps, hidden = [], []
    for row, next_row in borders:
        one, other = details[row], details[next_row]
        differing = one.fingerprint != other.fingerprint
        found = difference_of_draws(
            float(decides[row] - decides[next_row]),
            boosted[:, row],
            boosted[:, next_row],
            one.influence * rewards[row] - other.influence * rewards[next_row],
            doubt_of_difference(units, differing, one.reaction, other.reaction, FEWEST_ON_A_BOARD),
            higher_is_better,
            jointly,
        )
        hidden.append(None if found.doubt else doubt_of_detecting(units, one.reaction, other.reaction))
        steps.append(found)
    return table_of_borders(leaderboard, borders, steps, notes(hidden))


def table_of_borders(
    board: pd.DataFrame, borders: Sequence[tuple[int, int]], steps: Sequence[Difference], hidden: Sequence[str]
) -> pd.DataFrame:
    """Tabulate the differences at borders, as `Certainty` has them, with why what is detectable is not said."""
    table = board[["rank", "team"]].iloc[[row for row, _ in borders]].reset_index(drop=True)
    return table.assign(
        next_team=board["team"].iloc[[other for _, other in borders]].tolist(),
        difference=[each.value for each in steps],
        low=[each.low for each in steps],
        high=[each.high for each in steps],
        detectable=[np.nan if why else each.detectable for each, why in zip(steps, hidden)],
        detectable_note=hidden,
        note=notes([each.doubt for each in steps]),
    )
