"""Where the dots, labels and ticks of the page's plots are, from 0 to 1 in both directions."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Floats
from podium.ranking import sentences
from podium.ranking.rules import Rules

TEAMS_DRAWN = 30  # in the plot of scores and runtimes
RANKS_SHOWN = 10  # so many first teams, and those that win a prize, have their rank in their mark
LINEAR_UP_TO = 40  # with more ranks, their axis is logarithmic
TICKS = (1, 3, 10, 30, 100, 300, 1000)  # far enough from each other on a phone
LOGARITHMIC_FROM = 4  # ratio of the slowest to the fastest runtime from which their axis is logarithmic
MOST_TICKS = 6
MARGIN = 0.06  # of an axis, beyond the outermost dots
WORST_LEFT_OUT = 0.05  # of the teams may lie beyond the axis of intervals
LABEL_CHARACTERS, FIRST_NAMED = 18, 3
APART = 9 / 350  # as much higher or lower is a label than others on its side: a line on a phone

Ticks = list[tuple[Any, float]]


def records(table: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Turn the rows of a table into dicts. Without a table there are none."""
    of_rows: list[Any] = [] if table is None else table.to_dict("records")
    return of_rows


# ---- Scores with their intervals --------------------------------------------------------------------------


def intervals(rows: Sequence[dict[str, Any]], higher_is_better: bool) -> Ticks:
    """Place the score and the interval of each row on one axis, in ``drawn``, and return its ticks.

    A few scores that are far worse than all others lie beyond the axis.
    """
    ends = np.array([_ends(row) for row in rows], dtype=np.float64)
    if not len(ends):
        return []
    low, high = ends.min(), ends.max()
    if higher_is_better:
        low = np.quantile(ends[:, 0], WORST_LEFT_OUT, method="lower")
    else:
        high = np.quantile(ends[:, 2], 1 - WORST_LEFT_OUT, method="higher")
    low, high = _with_margin([low, high])
    width = high - low
    for row, places in zip(rows, (ends - low) / width):
        row["drawn"] = np.clip(places, 0, 1).tolist() if 0 <= places[1] <= 1 else None
    return _ticks_between(low, high)


def borders(steps: Sequence[dict[str, Any]]) -> Ticks:
    """Place intervals of differences on one axis that has 0, in ``drawn``, and return its ticks."""
    ends = [end for step in steps for end in (step["low"], step["high"]) if not math.isnan(end)]
    low, high = _with_margin([0.0, *ends])
    for step in steps:
        places = tuple((step[name] - low) / (high - low) for name in ("low", "high"))
        step["drawn"] = None if math.isnan(step["low"]) else places
    return _ticks_between(low, high)


def _ends(row: dict[str, Any]) -> tuple[float, float, float]:
    """The low end of a row's interval, its score, and the high end; all are the score without an interval."""
    score, chance = row["boosted_score"], row["chance"]
    if chance is None or not chance["boosted_score_low"] <= chance["boosted_score_high"]:
        return score, score, score
    return min(score, chance["boosted_score_low"]), score, max(score, chance["boosted_score_high"])


# ---- Scores and runtimes ----------------------------------------------------------------------------------


def score_and_runtime(leaderboard: pd.DataFrame, rules: Rules) -> dict[str, Any] | None:
    """Place the first teams by score and runtime, with the borders of the reward.

    It is None where no two runtimes differ, because then speed has nothing to show.
    """
    board = leaderboard.dropna(subset=["score", "runtime"]).head(TEAMS_DRAWN)
    if board["runtime"].nunique() < 2:
        return None
    seconds, score, top = (board[name].to_numpy(np.float64) for name in ("runtime", "score", "boosted_score"))
    eligible = leaderboard[leaderboard["eligible"]]
    slowest, lowest = math.nan, math.nan
    if len(eligible):
        slowest = rules.slowdown_limit * float(eligible["runtime"].min())
        lowest = float(leaderboard["score"].max()) / rules.eligibility_ratio
    scale = np.log if seconds.max() >= LOGARITHMIC_FROM * seconds.min() else np.asarray
    left, right = _with_margin(scale(np.append(seconds, slowest)))
    bottom, high = _with_margin(np.concatenate([score, top, [lowest]]))

    def across(values: npt.ArrayLike) -> Floats:
        return np.asarray((scale(np.asarray(values, dtype=np.float64)) - left) / (right - left))

    def down(values: npt.ArrayLike) -> Floats:
        return np.asarray((high - np.asarray(values, dtype=np.float64)) / (high - bottom))

    places = zip(across(seconds).tolist(), down(top).tolist(), down(score).tolist())
    ticks = _logarithmic_ticks if scale is np.log else _ticks_between
    exact = [tick for tick, _ in ticks(float(seconds.min()), float(seconds.max()))]
    return {
        "marks": _marks(board, places),
        "slowest": float(across(slowest)),
        "lowest": float(down(lowest)),
        "limits": (lowest, slowest),
        "x": list(zip(exact, across(exact).tolist())),
        "y": [(tick, 1 - place) for tick, place in _ticks_between(bottom, high)],
    }


def _marks(board: pd.DataFrame, places: Iterable[tuple[float, float, float]]) -> list[dict[str, Any]]:
    """Make a mark for each team, the last one first, so that the better one of two lies above the other.

    The first teams and those that win a prize have their rank in it. Those at the same place share a mark.
    """
    marks: dict[Any, dict[str, Any]] = {}
    for row, (x, top, own) in zip(records(board), places):
        is_ranked = row["rank"] <= RANKS_SHOWN or not pd.isna(row.get("prize"))
        place = (round(x, 2), round(top, 2)) if is_ranked else row["team"]
        kind = _kind(row["eligible"], row["boost"])
        new: dict[str, Any] = {"x": x, "top": top, "y": own, "kind": kind, "is_ranked": is_ranked, "teams": []}
        marks.setdefault(place, new)["teams"].append(row)
    for mark in marks.values():
        ranks = [row["rank"] for row in mark["teams"]]
        is_range = len(ranks) > 2 and ranks[-1] - ranks[0] == len(ranks) - 1
        mark["label"] = f"{ranks[0]}–{ranks[-1]}" if is_range else ", ".join(map(str, ranks))
    return list(marks.values())[::-1]


def _kind(is_eligible: bool, boost: float) -> str:
    """Say what a dot is, in a word that is a class of the page's style."""
    return "boosted" if boost > 0 else "eligible" if is_eligible else "other"


def _with_margin(values: npt.ArrayLike) -> tuple[float, float]:
    """The ends of an axis, with a margin beyond the outermost values."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = MARGIN * ((high - low) or abs(high) or 1.0)
    return low - margin, high + margin


def _ticks_between(low: float, high: float) -> Ticks:
    """Choose round numbers between the ends of an axis, with their places from 0 to 1.

    >>> [tick for tick, _ in _ticks_between(0.263, 0.56)]
    [0.3, 0.35, 0.4, 0.45, 0.5, 0.55]
    """
    if not high > low:
        return [(low, 0.0)]
    power = 10.0 ** math.floor(math.log10(high - low) - 1)
    step = next(step for times in (1, 2, 5, 10, 20, 50) if (high - low) / (step := times * power) <= MOST_TICKS)
    ticks = [round(number * step, 12) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [(tick, (tick - low) / (high - low)) for tick in ticks]


def _logarithmic_ticks(low: float, high: float) -> Ticks:
    """Choose numbers such as 200 and 500 between the ends of a logarithmic axis, without their places."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [round(times * 10.0**power, 12) for power in powers for times in (1, 2, 5)]
    return [(tick, math.nan) for tick in ticks if low <= tick <= high]


# ---- Public and Private ranks -----------------------------------------------------------------------------


def shake_up(board: pd.DataFrame, most: int) -> list[Any]:
    """Place teams by Public and Private rank before rewards, and name the first ones and those that win.

    A name that another one would cover is left out.
    """
    if "public_rank" not in board:
        return []
    teams = len(board)
    board = board[board["rank_before"] <= most]
    public, private = board["public_rank"].astype(float), board["rank_before"].astype(float)
    is_named = (private <= FIRST_NAMED) | board["prize"].notna()
    across, down = rank_axis(public, teams).tolist(), rank_axis(private, teams).tolist()
    named: list[tuple[bool, float]] = []  # the side and the height of each name
    drawn = []
    for team, is_first, x, y, *ranks in zip(board["team"], is_named, across, down, public, private):
        is_free = all(side != (x > 0.5) or abs(y - other) >= APART for side, other in named)
        name = team if is_first and is_free else None
        named += [(x > 0.5, y)] if name else []
        drawn.append((x, y, name, name and sentences.cut(name, LABEL_CHARACTERS), *map(int, ranks)))
    return drawn


def rank_axis(ranks: npt.ArrayLike, teams: int) -> Floats:
    """Place ranks on an axis, which is logarithmic if there are many teams."""
    ranks = np.asarray(ranks, dtype=np.float64)
    if teams <= LINEAR_UP_TO:
        return np.asarray((ranks - 1) / max(teams - 1, 1))
    return np.asarray(np.log(ranks) / math.log(teams))


def rank_ticks(teams: int) -> Ticks:
    """List the ranks at the ticks of an axis, with their positions."""
    if teams <= LINEAR_UP_TO:
        ranks = [1, *range(5, teams - 2, 5)] if teams > 12 else list(range(1, teams))
    else:
        ranks = [rank for rank in TICKS if 3 * rank <= teams]
    return list(zip([*ranks, teams], rank_axis([*ranks, teams], teams).tolist()))
