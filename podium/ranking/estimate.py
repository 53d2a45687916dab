"""What another runtime of one team would change on the final board, if all else stays equal.

The results are as exact as the board itself. If a team gets slower, it never gains on a rival, because the
rival's boost grows or stays the same. So each rival is behind the team up to one runtime and ahead of it from
there on. At that runtime the boosted scores are equal, so it is the solution of an equation. A rank is then
the number of such runtimes that the team exceeds, plus one.
"""

import bisect
import difflib
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.errors import UsageError
from podium.metric import hosted
from podium.ranking.submissions import errors_of_boost

__all__ = ["Estimate", "break_even_runtimes", "estimate", "runtimes_around", "what_if"]

TEAMS_SHOWN, CHARACTERS_SHOWN = 3, 40
# Multiples of the fastest rival's runtime to try. Below 1/1.2 and above 1.2, nothing changes.
SLOWDOWNS = tuple(Fraction(percent, 100) for percent in range(80, 130, 5))

boost = hosted.module("boost")


# Measured by benchmarks/promises.py.
CHANCE = (
    "These are exact for the scores of this board. If it is a Public board, the final scores are those of "
    "other essays: in simulations, 20 to 60 of 100 gains of a rank that a Public board promised came true."
)
TITLES = {
    "now": "The team now",
    "what_if": "With other runtimes, all else equal",
    "break_even_runtimes": "Runtimes at which its rank changes",
}
# What to do where a table has no rows.
NONE = {"what_if": "none; write the runtimes of other teams into the board, or try some with --runtimes"}


class Estimate(NamedTuple):
    """What another runtime would change for a team, as `estimate` returns it; shows itself as three tables."""

    now: pd.DataFrame  # the team's row of the final board
    what_if: pd.DataFrame  # its boost, boosted score and rank for each runtime that was tried
    break_even_runtimes: pd.DataFrame  # the runtimes at which its rank changes

    def _shown(self) -> dict[str, pd.DataFrame]:
        now = self.now if self.now["note"].any() else self.now.drop(columns="note")
        return self._asdict() | {"now": now}

    def __repr__(self) -> str:
        parts = []
        for name, table in self._shown().items():
            rows = table.to_string(index=False, na_rep="", float_format="{:.10g}".format)
            parts.append(f"{TITLES[name]}\n{rows if len(table) else NONE.get(name, 'none')}")
        return "\n\n".join([*parts, CHANCE])

    def _repr_html_(self) -> str:
        parts = [
            f"<h4>{TITLES[name]}</h4>{table.to_html(index=False, border=0, na_rep='')}"
            for name, table in self._shown().items()
        ]
        return f"{''.join(parts)}<p>{CHANCE}</p>"


def estimate(
    leaderboard: pd.DataFrame,
    team: str,
    runtimes: npt.ArrayLike | None = None,
    *,
    max_boost: float = 0.05,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> Estimate:
    """Estimate what another runtime of a team would change on the final board, if all else stays equal.

    This is the command ``podium estimate``. The results are as exact as the board itself.

    Parameters
    ----------
    leaderboard : DataFrame
        The board, with the columns ``team``, ``score``, ``runtime`` (seconds) and, to break ties,
        ``submitted_at``.
    team : str
        A team on the board.
    runtimes : array-like of float, optional
        The runtimes to try, in seconds. The default is 0.8 to 1.25 times the fastest eligible runtime of the
        other teams.
    max_boost, eligibility_ratio, slowdown_limit : float
        The parameters of the rewards, see ``boost.py``.

    Returns
    -------
    Estimate
        Three tables: where the team stands ``now``, ``what_if`` it had other runtimes, and its
        ``break_even_runtimes``.

    Raises
    ------
    podium.common.errors.UsageError
        The team is not on the board, or a runtime is not a number above 0.
    podium.common.errors.HostError
        The board is wrong.

    Examples
    --------
    >>> board = pd.DataFrame({"team": ["Red", "Blue"], "score": [0.6, 0.595], "runtime": [50, 45]})
    >>> estimate(board, "Red").break_even_runtimes.round(3).to_dict("records")
    [{'runtime': 46.575, 'rank_below': 1, 'rank_above': 2}]
    """
    of_boost = {
        "max_boost": max_boost,
        "eligibility_ratio": eligibility_ratio,
        "slowdown_limit": slowdown_limit,
    }
    with errors_of_boost():
        final = boost.boost(leaderboard, **of_boost).set_index("rank").reset_index()
        tried = runtimes_around(final, team) if runtimes is None else runtimes
        curve = what_if(leaderboard, team, tried, **of_boost)
        changes = break_even_runtimes(leaderboard, team, **of_boost)
    return Estimate(final[final["team"] == team], curve, changes)


def what_if(
    leaderboard: pd.DataFrame, team: object, runtimes: npt.ArrayLike, **parameters: float
) -> pd.DataFrame:
    """Compute what a team would get with other runtimes.

    A team that becomes the fastest one takes boost from the others.

    In Table 2 of the memo, Red has the best score and is slow. It would be first again with a runtime of 45 s,
    and with 38 s it would have the whole boost:

    >>> table_2 = pd.DataFrame({
    ...     "team": ["Red", "Blue", "Green", "Yellow"],
    ...     "score": [0.6, 0.595, 0.59, 0.58],
    ...     "runtime": [50, 45, 48, 40],
    ... })
    >>> print(what_if(table_2, "Red", [38, 45, 46, 50]).to_string(index=False))
     runtime  slowdown   boost  boosted_score  rank
        38.0     1.000 0.05000        0.63000     1
        45.0     1.125 0.01875        0.61125     1
        46.0     1.150 0.01250        0.60750     2
        50.0     1.250 0.00000        0.60000     3
    """
    race = _race(leaderboard, team, **parameters)
    board, own, tried = race.board, race.own, _seconds(runtimes)
    times = np.tile(board.runtimes, (len(tried), 1))
    times[:, own] = tried
    _, slowdown, fraction = boost.boost_fractions(board.scores, times, **parameters)
    overtaken = sorted(race.overtaken)
    return pd.DataFrame(
        {
            "runtime": boost.floats(tried),
            "slowdown": boost.floats(slowdown[:, own]),
            "boost": boost.floats(fraction[:, own]),
            "boosted_score": boost.floats(board.scores[own] * (1 + fraction[:, own])),
            "rank": np.array([1 + bisect.bisect(overtaken, (time, 0)) for time in tried], dtype=np.int64),
        }
    )


def break_even_runtimes(leaderboard: pd.DataFrame, team: object, **parameters: float) -> pd.DataFrame:
    """Find the runtimes at which a team's rank changes, if all else stays equal."""
    race = _race(leaderboard, team, **parameters)
    runtime, rivals = np.unique(boost.floats(time for time, _ in race.overtaken), return_counts=True)
    rank_above = 1 + np.cumsum(rivals)
    changes = pd.DataFrame({"runtime": runtime, "rank_below": rank_above - rivals, "rank_above": rank_above})
    return changes[(runtime > 0) & (runtime < math.inf)].reset_index(drop=True)


def runtimes_around(final: pd.DataFrame, team: object) -> list[float]:
    """List runtimes that are worth trying for a team.

    >>> final = boost.boost(pd.DataFrame({"team": ["A", "B"], "score": [0.6, 0.6], "runtime": [40, 50]}))
    >>> runtimes_around(final, "A")
    [40.0, 42.5, 45.0, 47.5, 50.0, 52.5, 55.0, 57.5, 60.0, 62.5]
    """
    # Compared one by one: a name from the command line may have bytes that a column of text cannot hold.
    is_another = np.array([str(name) != str(team) for name in final["team"]], bool)
    eligible = final.loc[final["eligible"] & is_another, "runtime"]
    fastest = (final["runtime"] if eligible.empty else eligible).min()
    tried = [] if pd.isna(fastest) else [boost.exact(fastest) * slowdown for slowdown in SLOWDOWNS]
    return list(boost.floats(tried).tolist())


class _Race(NamedTuple):
    """A team against all others."""

    board: Any  # the leaderboard as ``boost.py`` parses it
    own: int  # the row of the team
    # For each rival the runtime in seconds from which on it is ahead of the team. It is 0 if the rival is
    # always ahead and infinite if it never is. The second number says who is ahead at exactly that runtime: 1
    # for the team and 0 for the rival.
    overtaken: list[tuple[Any, int]]


def _race(
    leaderboard: pd.DataFrame,
    team: object,
    max_boost: float = 0.05,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> _Race:
    """Solve for the runtimes at which rivals overtake the team.

    Let s be the fastest runtime of the eligible rivals. If the team needs more than s, the rivals' boosted
    scores are constant, and its own falls until slowdown_limit·s. If it needs less, its own boosted score is
    constant, and those of the rivals grow with its runtime.
    """
    board = boost.parse(leaderboard)
    own = _row_of(board.teams, str(team))
    if any(score < 0 for score in board.scores):
        raise boost.LeaderboardError("score", "at least 0 where runtimes are rewarded, found less")
    times = np.tile(board.runtimes, (2, 1))
    times[:, own] = 1, math.nan
    (with_own, eligible), _, (_, fraction) = boost.boost_fractions(
        board.scores, times, max_boost, eligibility_ratio, slowdown_limit
    )
    scores = np.where(pd.isna(board.scores), -math.inf, board.scores)
    runtimes = np.where(pd.isna(board.runtimes), math.inf, board.runtimes)
    boosted = scores * (1 + fraction)
    fastest = min(runtimes[eligible], default=math.inf)
    most, limit = boost.exact(max_boost), boost.exact(slowdown_limit)
    score, highest = scores[own], scores[own] * (1 + most if with_own[own] else 1)

    def slowdown_of(fraction: Fraction) -> Any:
        """The slowdown for which the formula gives this boost."""
        return limit - fraction / most * (limit - 1)

    def last_runtime(ahead: Callable[[Any, Any], bool], rival: int) -> Any:
        """The longest runtime with which the team's boosted score is ahead of the rival's."""
        if ahead(score, boosted[rival]):
            return math.inf
        if ahead(highest, boosted[rival]):
            return fastest * slowdown_of(boosted[rival] / score - 1)
        # Here the rival is eligible, and so is the team, because its score is not lower.
        if ahead(highest, scores[rival]):
            return runtimes[rival] / slowdown_of(highest / scores[rival] - 1)
        return 0

    rivals = [rival for rival in range(len(board.teams)) if rival != own]
    last = [(last_runtime(operator.gt, rival), last_runtime(operator.ge, rival)) for rival in rivals]
    return _Race(board, own, [_overtaken(board, own, rival, *each) for rival, each in zip(rivals, last)])


def _overtaken(board: Any, own: int, rival: int, higher: Any, at_least: Any) -> tuple[Any, int]:
    """Find the runtime at which a rival overtakes the team, and who is ahead at that runtime.

    The team's boosted score is higher up to one runtime, and at least as high up to another. Between them the
    scores are equal, and the rule for ties decides.
    """
    theirs = math.inf if pd.isna(board.runtimes[rival]) else board.runtimes[rival]
    mine, other = board.submitted_at[own], board.submitted_at[rival]
    runtime = min(max(theirs, higher), at_least)
    if mine != other:
        runtime = at_least if mine < other else higher
    return runtime, int((mine, runtime, board.teams[own]) < (other, theirs, board.teams[rival]))


def _row_of(teams: list[str], team: str) -> int:
    if team not in teams:
        like = difflib.get_close_matches(team, teams, TEAMS_SHOWN) or teams[:TEAMS_SHOWN]
        expected = ", ".join(map(_shown, like))
        raise UsageError(f"expected a team of the leaderboard, such as {expected}; found {_shown(team)}")
    return teams.index(team)


def _seconds(runtimes: npt.ArrayLike) -> list[Fraction]:
    """Check runtimes, and keep all their digits."""
    exactly: list[Fraction] = []
    for cell in np.ravel(np.asarray(runtimes)):
        seconds = boost.exact(cell)
        if seconds is None or not seconds > 0:
            raise UsageError(f"runtimes: expected seconds, finite numbers above 0, found {_shown(cell)}")
        exactly.append(seconds)
    return exactly


def _shown(value: object) -> str:
    """Quote the beginning of a value."""
    return repr(str(value)[:CHARACTERS_SHOWN])
