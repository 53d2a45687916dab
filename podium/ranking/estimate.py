"""What another runtime would change on the final board, all else equal, as exactly as the board itself.

A slower team never gains on a rival, whose own boost grows or stays.  So each rival is behind it up to one
runtime, solved for by equal boosted scores, and ahead from there on; a rank is a look into a sorted list.
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

from podium import hosted
from podium.errors import UsageError

__all__ = ["break_even_runtimes", "runtimes_around", "what_if"]

TEAMS_SHOWN, CHARACTERS_SHOWN = 3, 40
# Multiples of the fastest rival's runtime to try: beyond 1/1.2 and 1.2, nothing changes.
SLOWDOWNS = tuple(Fraction(percent, 100) for percent in range(80, 130, 5))

boost = hosted.module("boost")


def what_if(
    leaderboard: pd.DataFrame, team: object, runtimes: npt.ArrayLike, **parameters: float
) -> pd.DataFrame:
    """What a team would get had it run in other times; a new fastest one takes boost from the others.

    Parameters
    ----------
    leaderboard : DataFrame
        As `boost.boost` takes it.
    team : object
        A team on it; its own runtime has no influence and may be missing.
    runtimes : array_like
        Seconds to try, above 0; of text all digits are kept.
    **parameters : float
        Of the formula: ``max_boost``, ``eligibility_ratio``, ``slowdown_limit``.

    Returns
    -------
    DataFrame
        A row per runtime, in the order given: ``runtime`` and, as `boost.boost` would give them to the team,
        ``slowdown``, ``boost``, ``boosted_score`` and ``rank``.

    Raises
    ------
    UsageError
        The team is not on the leaderboard, or a runtime is none.
    LeaderboardError
        The leaderboard or a parameter is wrong.

    Examples
    --------
    In Table 2 of the memo Red, best but slow, would be first again at 45 s; at 38 s Blue would get nothing:

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
    board, tried = race.board, _seconds(runtimes)
    # Only the best score and the fastest eligible rival bear on the team's boost.
    best = np.argmax(np.where(pd.isna(board.scores), -1, board.scores))
    rows = sorted({race.own, int(best), int(np.argmin(np.where(race.eligible, board.runtimes, math.inf)))})
    own = rows.index(race.own)
    times = np.tile(board.runtimes[rows], (len(tried), 1))
    times[:, own] = tried
    _, slowdown, fraction = boost.boost_fractions(board.scores[rows], times, **parameters)
    overtaken = sorted(race.overtaken)
    return pd.DataFrame(
        {
            "runtime": boost.floats(tried),
            "slowdown": boost.floats(slowdown[:, own]),
            "boost": boost.floats(fraction[:, own]),
            "boosted_score": boost.floats(board.scores[race.own] * (1 + fraction[:, own])),
            "rank": np.array([1 + bisect.bisect(overtaken, (time, 0)) for time in tried], dtype=np.int64),
        }
    )


def break_even_runtimes(leaderboard: pd.DataFrame, team: object, **parameters: float) -> pd.DataFrame:
    """The runtimes at which a team's rank changes, all else equal.

    Parameters
    ----------
    leaderboard, team, **parameters
        As for `what_if`.

    Returns
    -------
    DataFrame
        Ascending: ``runtime`` in seconds, and the ranks for just shorter runtimes (``rank_below``) and for just
        longer ones (``rank_above``).  At the runtime itself the rule for ties decides.

    Raises
    ------
    UsageError, LeaderboardError
        As `what_if`.
    """
    race = _race(leaderboard, team, **parameters)
    runtime, rivals = np.unique(boost.floats(time for time, _ in race.overtaken), return_counts=True)
    rank_above = 1 + np.cumsum(rivals)
    changes = pd.DataFrame({"runtime": runtime, "rank_below": rank_above - rivals, "rank_above": rank_above})
    return changes[(runtime > 0) & (runtime < math.inf)].reset_index(drop=True)


def runtimes_around(final: pd.DataFrame, team: object) -> list[float]:
    """Runtimes worth trying.

    Parameters
    ----------
    final : DataFrame
        As `boost.boost` returns it.
    team : object
        The team that is to be faster or slower.

    Returns
    -------
    list of float
        0.8 to 1.25 times the fastest runtime of the team's eligible rivals, or of all where none is eligible.

    Examples
    --------
    >>> final = boost.boost(pd.DataFrame({"team": ["A", "B"], "score": [0.6, 0.6], "runtime": [40, 50]}))
    >>> runtimes_around(final, "A")
    [40.0, 42.5, 45.0, 47.5, 50.0, 52.5, 55.0, 57.5, 60.0, 62.5]
    """
    eligible = final.loc[final["eligible"] & (final["team"].astype(str) != str(team)), "runtime"]
    fastest = (final["runtime"] if eligible.empty else eligible).min()
    tried = [] if pd.isna(fastest) else [boost.exact(fastest) * slowdown for slowdown in SLOWDOWNS]
    return list(boost.floats(tried).tolist())


class _Race(NamedTuple):
    """A team against all others.

    Attributes
    ----------
    board : boost.Board
    own : int
        The team's row.
    eligible : (teams,) bool
        Which rivals are.
    overtaken : list of (Fraction or float, int)
        Of each rival the runtime from which on it is ahead of the team (0 for always, infinity for never), and
        1 if at that runtime the team still is, else 0.
    """

    board: Any
    own: int
    eligible: npt.NDArray[np.bool_]
    overtaken: list[tuple[Any, int]]


def _race(
    leaderboard: pd.DataFrame,
    team: object,
    max_boost: float = 0.05,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> _Race:
    """Solve for the runtimes at which rivals overtake the team.

    Let s be the fastest eligible runtime of the rivals.  From s on their boosted scores are constant and the
    team's falls until slowdown_limit·s; below, its own is constant, and theirs grow with its runtime.
    """
    board = boost.parse(leaderboard)
    own = _row_of(board.teams, str(team))
    if any(score < 0 for score in board.scores):
        raise boost.LeaderboardError("score: expected at least 0 where runtimes are rewarded, found less")
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
        return limit - fraction / most * (limit - 1)

    def last_runtime(ahead: Callable[[Any, Any], bool], rival: int) -> Any:
        """Up to which runtime the team's boosted score is ahead of the rival's."""
        if ahead(score, boosted[rival]):
            return math.inf
        if ahead(highest, boosted[rival]):
            return fastest * slowdown_of(boosted[rival] / score - 1)
        if ahead(highest, scores[rival]):  # which is eligible, and so is the team, whose score is no lower
            return runtimes[rival] / slowdown_of(highest / scores[rival] - 1)
        return 0

    def overtaken(rival: int) -> tuple[Any, int]:
        # Where the boosted scores are equal for a while, the rule for ties decides.
        higher, at_least = last_runtime(operator.gt, rival), last_runtime(operator.ge, rival)
        ours, theirs = board.submitted_at[own], board.submitted_at[rival]
        runtime = min(max(runtimes[rival], higher), at_least)
        if ours != theirs:
            runtime = at_least if ours < theirs else higher
        ahead = (ours, runtime, board.teams[own]) < (theirs, runtimes[rival], board.teams[rival])
        return runtime, int(ahead)

    return _Race(board, own, eligible, [overtaken(rival) for rival in range(len(board.teams)) if rival != own])


def _row_of(teams: list[str], team: str) -> int:
    if team not in teams:
        like = difflib.get_close_matches(team, teams, TEAMS_SHOWN) or teams[:TEAMS_SHOWN]
        expected = ", ".join(map(_shown, like))
        raise UsageError(f"expected a team of the leaderboard, such as {expected}; found {_shown(team)}")
    return teams.index(team)


def _seconds(runtimes: npt.ArrayLike) -> list[Fraction]:
    exactly: list[Fraction] = []
    for cell in np.ravel(np.asarray(runtimes)):
        seconds = boost.exact(cell)
        if seconds is None or not seconds > 0:
            raise UsageError(f"runtimes: expected seconds, finite numbers above 0, found {_shown(cell)}")
        exactly.append(seconds)
    return exactly


def _shown(value: object) -> str:
    return repr(str(value)[:CHARACTERS_SHOWN])
