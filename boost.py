"""Runtime rewards: who is boosted by how much, and what another runtime would change.

Once a competition is closed, fast submissions among the good ones are rewarded.  This file follows
section 4 of R. Abboud's memo "Shovel-Ready Competition - Unified Metric" (23 January 2024):

    eligible     best / score <= 1.05, where best is the highest score on the board
    slowdown     t / s, where s is the fastest eligible runtime
    boost        0.05 - 0.25·(t / s - 1) for the eligible, 0 from t / s = 1.2 on
    boosted      score·(1 + boost), by which the board is ranked

``boost`` turns a leaderboard into the final one, ``what_if`` answers what a team would get for other
runtimes, and ``break_even_runtimes`` at which runtimes its rank changes.  ``boost_fractions`` is the
formula itself, on arrays of any shape.  In a notebook:

    from boost import boost, break_even_runtimes, read_leaderboard, what_if
    board = read_leaderboard("leaderboard.csv")        # columns team, score, runtime[, submitted_at]
    boost(board)
    what_if(board, "Blue", range(30, 60))
    break_even_runtimes(board, "Blue")

On the command line, which exits with 0, 2 (wrong usage) or 4 (the leaderboard is wrong):

    python boost.py leaderboard.csv [--what-if TEAM] [--json]

Where the memo is silent, this file decides (each decision has a test):

* A number is the decimal it is written as: 0.63 / 0.60 is 1.05, although no binary fraction is any of
  the three.  Limits and ties are decided exactly; the results are the nearest floats.
* Equal boosted scores are ranked by the earlier submission, then the shorter runtime, then the team's
  name; a missing time of submission is the latest, a missing runtime the longest.  The order of the rows
  never counts.  The same rule ranks the board before the boost.
* A team without a runtime is ranked by its score, and its score may be the best that others are measured
  by, but it is not eligible.  A team without a score is ranked last.  The column ``note`` says so.
* Where the best score is 0, nobody is eligible, and ``note`` says so.
* Teams are the same if their names are the same text.
* A time of submission without a time zone is in UTC.
"""

import argparse
import csv
import difflib
import io
import json
import math
import operator
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "LeaderboardError",
    "UnknownTeamError",
    "boost",
    "boost_fractions",
    "break_even_runtimes",
    "read_leaderboard",
    "what_if",
]

__version__ = "1.0.0"

# ---------------------------------------------------------------------------------------------
# Constants
# ---------------------------------------------------------------------------------------------

# Rounding moves best / score by less than 1e-15, while two decimals of six digits whose ratio is not
# 1.05 miss it by 1e-8 at least: floats within this tolerance are at the limit.
RELATIVE_TOLERANCE = 1e-12

# What the command line tries, as multiples of the fastest eligible runtime of the other teams.  Faster
# than 1/1.2 of it the others get nothing, slower than 1.2 the team: beyond the ends nothing changes.
SLOWDOWNS_SHOWN = tuple(Fraction(percent, 100) for percent in range(80, 130, 5))

NUMBER = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
LATEST = datetime.max.replace(tzinfo=UTC)

ITEMS_SHOWN = 5
COLUMNS_SHOWN = 20
CHARACTERS_SHOWN = 40

WRONG_USAGE = 2
WRONG_DATA = 4
TITLES = {
    "leaderboard": "Final leaderboard",
    "now": "The team now",
    "what_if": "With other runtimes, all else equal",
    "break_even_runtimes": "Runtimes at which its rank changes",
}

T = TypeVar("T")
Numbers = npt.NDArray[Any]  # of float64, or of Fraction (dtype object) with a float NaN where missing
Exact = npt.NDArray[np.object_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
SortKey = tuple[Any, datetime, Any, str]


# ---------------------------------------------------------------------------------------------
# Errors
# ---------------------------------------------------------------------------------------------


class LeaderboardError(ValueError):
    """The leaderboard or a parameter is wrong; the text says what, in which teams, and what was expected."""


class UnknownTeamError(LeaderboardError):
    """The team is not on the leaderboard."""


# ---------------------------------------------------------------------------------------------
# Public API
# ---------------------------------------------------------------------------------------------


def boost(
    leaderboard: pd.DataFrame,
    max_boost: float = 0.05,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> pd.DataFrame:
    """The final leaderboard: runtime rewards applied, ranked by boosted score [4].

    Parameters
    ----------
    leaderboard : DataFrame, one row per team
        ``team`` (each once), ``score`` (at least 0, higher is better), ``runtime`` (seconds, above 0) and, if
        ties are to be broken by it, ``submitted_at`` (ISO 8601, such as 2024-01-23 14:05:33).  Score,
        runtime and time of submission may be missing.  Numbers may be text, as read from a file.
    max_boost : float, at least 0
        The boost of the fastest eligible team, as a fraction of its score.
    eligibility_ratio : float, at least 1
        Eligible are the teams for which best score / score is at most this.
    slowdown_limit : float, above 1
        The boost falls linearly from `max_boost` at slowdown 1 to 0 at this slowdown.

    Returns
    -------
    DataFrame, one row per team, sorted by rank
        All columns of `leaderboard`, with ``score`` and ``runtime`` as floats, and (in place of columns of
        these names, if there are any):

        ``eligible``: whether the team takes part in the rewards.
        ``slowdown``: its runtime / the fastest eligible runtime; also of teams that are not eligible, whose
        slowdown may be below 1; NaN without a runtime or where nobody is eligible.
        ``boost``: the fraction of its score that is added, from 0 to `max_boost`.
        ``boosted_score``: score·(1 + boost).
        ``rank``: from 1, by boosted score; no two teams share a rank.
        ``rank_before``: the same by score.
        ``note``: that score or runtime is missing, or that the best score is 0, and what follows; else "".

    Raises
    ------
    LeaderboardError
        A column is missing, a team repeated, a value not what is described above, or a parameter out of
        range.

    References
    ----------
    R. Abboud, "Shovel-Ready Competition - Unified Metric", 2024, section 4.

    Examples
    --------
    Table 2 of the memo.  Everybody is eligible; Yellow, the fastest, goes from fourth to first:

    >>> table_2 = pd.DataFrame({
    ...     "team": ["Red", "Blue", "Green", "Yellow"],
    ...     "score": [0.6, 0.595, 0.59, 0.58],
    ...     "runtime": [50, 45, 48, 40],
    ... })
    >>> print(boost(table_2).drop(columns="note").to_string(index=False))
      team  score  runtime  eligible  slowdown   boost  boosted_score  rank  rank_before
    Yellow  0.580     40.0      True     1.000 0.05000       0.609000     1            4
      Blue  0.595     45.0      True     1.125 0.01875       0.606156     2            2
       Red  0.600     50.0      True     1.250 0.00000       0.600000     3            1
     Green  0.590     48.0      True     1.200 0.00000       0.590000     4            3

    Table 3.  Only Red and Green are eligible, so Green is the fastest of them, and Red stays first:

    >>> table_3 = pd.DataFrame({
    ...     "team": ["Red", "Green", "Blue", "Yellow"],
    ...     "score": [0.6, 0.59, 0.55, 0.25],
    ...     "runtime": [50.4, 48, 45, 5],
    ... })
    >>> print(boost(table_3).drop(columns="note").to_string(index=False))
      team  score  runtime  eligible  slowdown  boost  boosted_score  rank  rank_before
       Red   0.60     50.4      True  1.050000 0.0375         0.6225     1            1
     Green   0.59     48.0      True  1.000000 0.0500         0.6195     2            2
      Blue   0.55     45.0     False  0.937500 0.0000         0.5500     3            3
    Yellow   0.25      5.0     False  0.104167 0.0000         0.2500     4            4

    What is missing is said, what is wrong is an error:

    >>> boost(table_2.replace({"runtime": {40: None}}))["note"].tolist()
    ['', '', '', 'no runtime, so not eligible']
    >>> try:
    ...     boost(table_2.replace({"runtime": {40: -40}}))
    ... except LeaderboardError as error:
    ...     print(error)
    runtime is wrong in 1 row of the leaderboard: Yellow ('-40'). Expected seconds, a finite number above 0, \
or nothing where it is missing.
    """
    board = _read(leaderboard)
    eligible, slowdown, fraction = boost_fractions(
        board.scores, board.runtimes, max_boost, eligibility_ratio, slowdown_limit
    )
    boosted = board.scores * (1 + fraction)
    order = _order(_sort_keys(board, boosted, board.runtimes))
    return (
        leaderboard.assign(
            score=_floats(board.scores),
            runtime=_floats(board.runtimes),
            eligible=eligible,
            slowdown=_floats(slowdown),
            boost=_floats(fraction),
            boosted_score=_floats(boosted),
            rank=_ranks(order),
            rank_before=_ranks(_order(_sort_keys(board, board.scores, board.runtimes))),
            note=_notes(board),
        )
        .iloc[order]
        .reset_index(drop=True)
    )


def what_if(
    leaderboard: pd.DataFrame,
    team: object,
    runtimes: npt.ArrayLike,
    max_boost: float = 0.05,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> pd.DataFrame:
    """What a team would get had it run in other times, all else equal.

    A runtime below all eligible ones also slows the others down, who then lose boost.

    Parameters
    ----------
    leaderboard : DataFrame
        As for `boost`, which also explains the last three parameters.
    team : str
        A team of the leaderboard; its own runtime has no influence and may be missing.
    runtimes : array_like of float
        Seconds, above 0.

    Returns
    -------
    DataFrame, one row per runtime, in the order given
        ``runtime``, and of the team ``slowdown``, ``boost``, ``boosted_score`` and ``rank``, as `boost` gives
        them.

    Raises
    ------
    UnknownTeamError
        The team is not on the leaderboard.
    LeaderboardError
        The leaderboard, a runtime or a parameter is wrong.

    Examples
    --------
    In Table 2 of the memo Red, best but slow, would be first again at 46 s; at 38 s Blue would get nothing:

    >>> table_2 = pd.DataFrame({
    ...     "team": ["Red", "Blue", "Green", "Yellow"],
    ...     "score": [0.6, 0.595, 0.59, 0.58],
    ...     "runtime": [50, 45, 48, 40],
    ... })
    >>> print(what_if(table_2, "Red", [38, 46, 47, 50]).to_string(index=False))
     runtime  slowdown   boost  boosted_score  rank
        38.0     1.000 0.05000        0.63000     1
        46.0     1.150 0.01250        0.60750     2
        47.0     1.175 0.00625        0.60375     3
        50.0     1.250 0.00000        0.60000     3
    """
    board = _read(leaderboard)
    own = _row_of(board, team)
    tried = np.tile(board.runtimes, (np.size(runtimes), 1))
    tried[:, own] = _runtimes(runtimes)
    _, slowdown, fraction = boost_fractions(board.scores, tried, max_boost, eligibility_ratio, slowdown_limit)
    boosted = board.scores * (1 + fraction)
    keys_of_runtime = [_sort_keys(board, *row) for row in zip(boosted, tried)]
    return pd.DataFrame(
        {
            "runtime": _floats(tried[:, own]),
            "slowdown": _floats(slowdown[:, own]),
            "boost": _floats(fraction[:, own]),
            "boosted_score": _floats(boosted[:, own]),
            "rank": np.array(
                [1 + sum(key < keys[own] for key in keys) for keys in keys_of_runtime], dtype=np.int64
            ),
        }
    )


def break_even_runtimes(
    leaderboard: pd.DataFrame,
    team: object,
    max_boost: float = 0.05,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> pd.DataFrame:
    """The runtimes at which a team's rank changes, all else equal.

    A slower team never gains on a rival: its own boost falls or stays, the rival's grows or stays.  So each
    rival is behind the team up to one runtime and ahead of it from there on; it is found by solving for the
    runtime at which their boosted scores are equal, not by trying.

    Parameters
    ----------
    leaderboard, team, max_boost, eligibility_ratio, slowdown_limit
        As for `what_if`.

    Returns
    -------
    DataFrame, one row per break-even runtime, ascending
        ``runtime`` in seconds, ``rank_below`` for runtimes just shorter, ``rank_above`` for runtimes just
        longer.  At the runtime itself the boosted scores are equal, and the rule for ties decides.

    Raises
    ------
    UnknownTeamError
        The team is not on the leaderboard.
    LeaderboardError
        The leaderboard or a parameter is wrong.

    Examples
    --------
    In Table 2 of the memo Red falls behind Yellow above 45.6 s, behind Blue above 46.36 s:

    >>> table_2 = pd.DataFrame({
    ...     "team": ["Red", "Blue", "Green", "Yellow"],
    ...     "score": [0.6, 0.595, 0.59, 0.58],
    ...     "runtime": [50, 45, 48, 40],
    ... })
    >>> print(break_even_runtimes(table_2, "Red").to_string(index=False))
      runtime  rank_below  rank_above
    45.600000           1           2
    46.358333           2           3
    """
    board = _read(leaderboard)
    own = _row_of(board, team)
    thresholds = _floats(_thresholds(board, own, max_boost, eligibility_ratio, slowdown_limit))
    runtime, rivals = np.unique(thresholds, return_counts=True)
    rank_above = 1 + np.cumsum(rivals)
    changes = pd.DataFrame({"runtime": runtime, "rank_below": rank_above - rivals, "rank_above": rank_above})
    return changes[(runtime > 0) & (runtime < math.inf)].reset_index(drop=True)


def boost_fractions(
    scores: npt.ArrayLike,
    runtimes: npt.ArrayLike,
    max_boost: float = 0.05,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> tuple[Bools, Numbers, Numbers]:
    """Eligibility, slowdown and boost of many leaderboards at once [4].

    The formula behind `boost`, for arrays of floats or of `fractions.Fraction` (dtype object).  Fractions are
    computed exactly.  Floats are fast, for resampling; best / score may exceed the eligibility ratio by
    `RELATIVE_TOLERANCE`, so that rounding excludes nobody.

    Parameters
    ----------
    scores, runtimes : (..., teams)
        At least 0 and above 0 (not checked); NaN where missing.  They are broadcast against each other.
    max_boost, eligibility_ratio, slowdown_limit : float
        As for `boost`.

    Returns
    -------
    eligible : (..., teams) bool
    slowdown : (..., teams)
        NaN without a runtime or where nobody is eligible.
    boost : (..., teams)

    Raises
    ------
    LeaderboardError
        A parameter is out of range.

    Examples
    --------
    >>> eligible, slowdown, fraction = boost_fractions([0.63, 0.6, 0.59], [46, 40, 20])
    >>> eligible.tolist(), slowdown.tolist(), fraction.round(6).tolist()
    ([True, True, False], [1.15, 1.0, 0.5], [0.0125, 0.05, 0.0])
    """
    _check_parameters(max_boost, eligibility_ratio, slowdown_limit)
    exact = np.asarray(scores).dtype == object
    score: Numbers = np.asarray(scores, dtype=object if exact else np.float64)
    runtime: Numbers = np.asarray(runtimes, dtype=score.dtype)
    number: Callable[[float], Any] = _exact if exact else float
    most, ratio, limit = map(number, (max_boost, eligibility_ratio, slowdown_limit))
    if not exact:
        ratio *= 1 + RELATIVE_TOLERANCE

    known = np.where(pd.isna(score), 0, score)
    best = np.max(known, axis=-1, keepdims=True, initial=0)
    eligible = (known > 0) & (best <= ratio * known) & ~pd.isna(runtime)
    fastest = np.min(
        np.broadcast_to(runtime, eligible.shape), axis=-1, keepdims=True, initial=math.inf, where=eligible
    )
    slowdown = runtime / np.where(fastest < math.inf, fastest, math.nan)
    # Of the fastest the quotient is exactly 1, also in floats: it gets exactly max_boost.
    share = (limit - np.where(eligible, slowdown, limit)) / (limit - 1)
    return eligible, slowdown, most * np.maximum(share, 0)


def read_leaderboard(path: str | os.PathLike[str]) -> pd.DataFrame:
    """A leaderboard from a CSV file (UTF-8, comma-separated), every cell as the text it is.

    So a team may be named "NA" or "007", and no digit of a score is lost.  `boost` takes the numbers from
    their text, and an empty cell for a missing value.

    Raises
    ------
    LeaderboardError
        The file is no such CSV, or has no teams.
    OSError
        There is no such file, or it may not be read.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            numbered = [(reader.line_num, cells) for cells in reader if cells]
    except (UnicodeDecodeError, csv.Error) as error:
        raise LeaderboardError(f"the leaderboard is no CSV file in UTF-8: {error}.") from error
    if len(numbered) < 2:
        raise LeaderboardError(
            "the leaderboard has no teams. Expected a line of column names and one per team."
        )
    (_, header), *lines = numbered
    for number, cells in lines:
        if len(cells) != len(header):
            raise LeaderboardError(
                f"line {number} of the leaderboard has {_counted(len(cells), 'cell')}. "
                f"Expected {len(header)}, as in its first line."
            )
    return pd.DataFrame([cells for _, cells in lines], columns=header, dtype=object)


# ---------------------------------------------------------------------------------------------
# Input
# ---------------------------------------------------------------------------------------------


class _Board(NamedTuple):
    """A leaderboard, checked, as columns of equal length."""

    teams: list[str]
    scores: Exact
    runtimes: Exact
    submitted: list[datetime]


def _read(leaderboard: pd.DataFrame) -> _Board:
    """Check a leaderboard and take its values exactly."""
    found = [str(name) for name in leaderboard.columns]
    required = ("team", "score", "runtime")
    lacking = [name for name in required if name not in found]
    if lacking:
        raise LeaderboardError(
            f"the leaderboard lacks columns: {', '.join(lacking)}. "
            f"It has: {_listed([_short(name) for name in found], COLUMNS_SHOWN)}."
        )
    repeated = [name for name in (*required, "submitted_at") if found.count(name) > 1]
    if repeated:
        raise LeaderboardError(f"the leaderboard has more than one column named {', '.join(repeated)}.")

    teams = _texts(leaderboard["team"])
    times = Counter(teams)
    _parse(
        "team",
        teams,
        [f"row number {number}" for number in range(1, len(teams) + 1)],
        lambda team: team if team.strip() and times[team] == 1 else None,
        "a name in every row, and every team once",
    )
    scores = _parse(
        "score",
        _texts(leaderboard["score"]),
        teams,
        _score,
        "a finite number, at least 0, or nothing where it is missing",
    )
    runtimes = _parse(
        "runtime",
        _texts(leaderboard["runtime"]),
        teams,
        _seconds,
        "seconds, a finite number above 0, or nothing where it is missing",
    )
    submitted = _parse(
        "submitted_at",
        _texts(leaderboard["submitted_at"]) if "submitted_at" in found else [""] * len(teams),
        teams,
        _time,
        "a time in ISO 8601, such as 2024-01-23 14:05:33, or nothing where it is missing",
    )
    return _Board(teams, np.array(scores, dtype=object), np.array(runtimes, dtype=object), submitted)


def _texts(column: pd.Series) -> list[str]:
    """The cells' texts, "" where missing."""
    return ["" if absent else str(cell) for cell, absent in zip(column.to_numpy(), column.isna())]


def _parse(
    column: str, texts: list[str], names: list[str], parse: Callable[[str], T | None], expected: str
) -> list[T]:
    """The values of a column's texts; an error that names the rows for which `parse` gives None."""
    values = [parse(text) for text in texts]
    wrong = [
        f"{_short(name)} ({_quoted(text) if text else 'missing'})"
        for name, text, value in zip(names, texts, values)
        if value is None
    ]
    if wrong:
        raise LeaderboardError(
            f"{column} is wrong in {_counted(len(wrong), 'row')} of the leaderboard: {_listed(wrong)}. "
            f"Expected {expected}."
        )
    return [value for value in values if value is not None]


def _number(text: str) -> Fraction | float | None:
    """The number a text stands for, NaN if it is blank, None if it is no finite number."""
    if not text.strip():
        return math.nan
    if not NUMBER.fullmatch(text) or math.isinf(float(text)):
        return None
    return _exact(float(text))


def _score(text: str) -> Fraction | float | None:
    """`_number`, or None if it is no score."""
    number = _number(text)
    return None if number is None or number < 0 else number


def _seconds(text: str) -> Fraction | float | None:
    """`_number`, or None if it is no runtime."""
    number = _number(text)
    return None if number is None or number <= 0 else number


def _time(text: str) -> datetime | None:
    """The time a text stands for, `LATEST` if there is none, None if it is no time."""
    if not text.strip():
        return LATEST
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _runtimes(runtimes: npt.ArrayLike) -> list[Fraction]:
    """The runtimes to try, exactly."""
    exact = []
    for text in _texts(pd.Series(np.ravel(runtimes))):
        number = _seconds(text)
        if not isinstance(number, Fraction):
            raise LeaderboardError(
                f"runtimes holds {_quoted(text) if text else 'a missing value'}. "
                "Expected seconds, finite numbers above 0."
            )
        exact.append(number)
    return exact


def _row_of(board: _Board, team: object) -> int:
    """The row of a team."""
    name = str(team)
    if name not in board.teams:
        like = difflib.get_close_matches(name, board.teams) or board.teams
        raise UnknownTeamError(
            f"{_quoted(name)} is no team of the leaderboard. "
            f"Expected one of its teams, such as {_listed([_short(team) for team in like])}."
        )
    return board.teams.index(name)


def _check_parameters(max_boost: float, eligibility_ratio: float, slowdown_limit: float) -> None:
    if not 0 <= max_boost < math.inf:
        raise LeaderboardError(f"max_boost is {max_boost}; expected a finite number, at least 0.")
    if not 1 <= eligibility_ratio < math.inf:
        raise LeaderboardError(
            f"eligibility_ratio is {eligibility_ratio}; expected a finite number, at least 1."
        )
    if not 1 < slowdown_limit < math.inf:
        raise LeaderboardError(f"slowdown_limit is {slowdown_limit}; expected a finite number above 1.")


def _short(value: object) -> str:
    """A value as messages show it: on one line and not long."""
    text = str(value)
    text = text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"
    return repr(text)[1:-1]


def _quoted(value: object) -> str:
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(items: list[str], shown: int = ITEMS_SHOWN) -> str:
    """The first items, and how many more there are."""
    return ", ".join(items[:shown]) + (f" and {len(items) - shown:,} more" if len(items) > shown else "")


# ---------------------------------------------------------------------------------------------
# Exact numbers
# ---------------------------------------------------------------------------------------------


def _exact(number: float) -> Fraction:
    """The shortest decimal that stands for a float."""
    return Fraction(repr(float(number)))


def _floats(numbers: Iterable[Any]) -> Floats:
    """The nearest floats; infinity where there is none."""

    def nearest(number: Any) -> float:
        try:
            return float(number)
        except OverflowError:
            return math.inf

    return np.array([nearest(number) for number in numbers], dtype=np.float64)


# ---------------------------------------------------------------------------------------------
# Ranking
# ---------------------------------------------------------------------------------------------


def _sort_keys(board: _Board, scores: Exact, runtimes: Exact) -> list[SortKey]:
    """By what teams are sorted: the higher score, the earlier submission, the shorter runtime, the name."""
    highest_first = -np.where(pd.isna(scores), -math.inf, scores)
    fastest_first = np.where(pd.isna(runtimes), math.inf, runtimes)
    return list(zip(highest_first, board.submitted, fastest_first, board.teams))


def _order(keys: list[SortKey]) -> list[int]:
    """Rows by rank."""
    return sorted(range(len(keys)), key=keys.__getitem__)


def _ranks(order: list[int]) -> Ints:
    """The rank of each row, from 1."""
    return np.argsort(np.array(order, dtype=np.int64)) + 1


def _notes(board: _Board) -> list[str]:
    """Why a team cannot be eligible, "" if it can."""
    no_score, no_runtime = pd.isna(board.scores), pd.isna(board.runtimes)
    all_zero = not np.any(board.scores[~no_score] > 0)
    notes = np.select(
        [no_score & no_runtime, no_score, no_runtime, np.full(len(no_score), all_zero)],
        [
            "no score and no runtime, so ranked last and not eligible",
            "no score, so ranked last and not eligible",
            "no runtime, so not eligible",
            "best score 0, so nobody is eligible",
        ],
        "",
    )
    return [str(note) for note in notes]


# ---------------------------------------------------------------------------------------------
# Break-even runtimes
# ---------------------------------------------------------------------------------------------


def _thresholds(
    board: _Board, own: int, max_boost: float, eligibility_ratio: float, slowdown_limit: float
) -> list[Any]:
    """For each rival the runtime up to which the team in row `own` is ahead of it; 0 for never.

    Let s be the fastest eligible runtime of the rivals.  While the team is no faster than s, the rivals'
    boosted scores are constant and its own falls until slowdown_limit·s; while it is faster, its own is
    constant, and theirs grow with its runtime.  Each part is solved for equality.
    """
    tried = np.tile(board.runtimes, (2, 1))
    tried[:, own] = 1, math.nan
    eligible, _, fraction = boost_fractions(board.scores, tried, max_boost, eligibility_ratio, slowdown_limit)
    scores = np.where(pd.isna(board.scores), -math.inf, board.scores)
    runtimes = np.where(pd.isna(board.runtimes), math.inf, board.runtimes)
    boosted = scores * (1 + fraction[1])
    fastest = min(runtimes[eligible[1]], default=math.inf)
    most, limit = _exact(max_boost), _exact(slowdown_limit)
    score, highest = scores[own], scores[own] * (1 + most if eligible[0, own] else 1)

    def slowdown_of(fraction: Fraction) -> Fraction:
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

    def threshold(rival: int) -> Any:
        higher, at_least = last_runtime(operator.gt, rival), last_runtime(operator.ge, rival)
        # Where the boosted scores are equal in between, the rule for ties decides.
        if board.submitted[own] != board.submitted[rival]:
            return at_least if board.submitted[own] < board.submitted[rival] else higher
        return min(max(runtimes[rival], higher), at_least)

    return [threshold(rival) for rival in range(len(board.teams)) if rival != own]


# ---------------------------------------------------------------------------------------------
# Command line
# ---------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """`python boost.py`; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="boost.py",
        description="Apply runtime rewards to a leaderboard and print the final one, sorted by rank.",
        epilog="Exit codes: 0, 2 for wrong usage, 4 if the leaderboard is wrong.",
    )
    parser.add_argument(
        "leaderboard", metavar="leaderboard.csv", help="columns team, score, runtime (seconds)[, submitted_at]"
    )
    parser.add_argument("--what-if", metavar="TEAM", help="print what TEAM would get for other runtimes")
    parser.add_argument("--json", action="store_true", help="print JSON, with all digits")
    options = parser.parse_args(arguments)
    try:
        leaderboard = read_leaderboard(options.leaderboard)
        board = boost(leaderboard)
        board.insert(0, "rank", board.pop("rank"))
        if options.what_if is None:
            tables = {"leaderboard": board}
        else:
            tables = {
                "now": board[board["team"] == options.what_if],
                "what_if": what_if(leaderboard, options.what_if, _runtimes_to_try(board, options.what_if)),
                "break_even_runtimes": break_even_runtimes(leaderboard, options.what_if),
            }
    except OSError as error:
        return _fail(f"{options.leaderboard} cannot be read: {error.strerror}.", WRONG_USAGE)
    except UnknownTeamError as error:
        return _fail(str(error), WRONG_USAGE)
    except LeaderboardError as error:
        return _fail(str(error), WRONG_DATA)

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr has it: no name is unprintable
    for note, teams in board[board["note"] != ""].groupby("note")["team"]:
        print(f"warning: {note}: {_listed([_short(team) for team in teams])}", file=sys.stderr)
    if options.json:
        records = {name: _records(table) for name, table in tables.items()}
        print(json.dumps({"version": __version__, **records}, indent=2))
    else:
        print("\n\n".join(_as_text(name, table) for name, table in tables.items()))
    return 0


def _fail(message: str, exit_code: int) -> int:
    print(f"error: {message}", file=sys.stderr)
    return exit_code


def _runtimes_to_try(board: pd.DataFrame, team: str) -> Floats:
    """Runtimes around the fastest eligible of the other teams; failing that, of the board."""
    eligible = board.loc[board["eligible"] & (board["team"] != team), "runtime"]
    fastest = (board["runtime"] if eligible.empty else eligible).min()
    return _floats([] if pd.isna(fastest) else [_exact(fastest) * slowdown for slowdown in SLOWDOWNS_SHOWN])


def _records(table: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """A table's rows for JSON, which knows no NaN."""
    return [
        {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in row.items()
        }
        for row in table.to_dict("records")
    ]


def _as_text(name: str, table: pd.DataFrame) -> str:
    """A table for people, under its title."""
    if "note" in table and not table["note"].any():
        table = table.drop(columns="note")
    text = table.to_string(index=False, na_rep="", float_format="{:.10g}".format) if len(table) else "none"
    return f"{TITLES[name]}\n{text}"


# A cell of a notebook into which this file is pasted is __main__ too, but no file.
if __name__ == "__main__" and "__file__" in globals():
    sys.exit(main())
