"""Rank a leaderboard again, with rewards for short runtimes.

    python boost.py leaderboard.csv

The leaderboard has the columns team and score. It can also have the columns runtime (in seconds) and
submitted_at. The final leaderboard is printed. The exit code is 0, 2 (wrong usage) or 4 (the leaderboard is
wrong). The formula comes from section 4 of R. Abboud's memo "Shovel-Ready Competition - Unified Metric"
(23 January 2024):

    eligible     best / score <= 1.05, where best is the highest score on the board
    slowdown     t / s, where s is the fastest eligible runtime
    boost        0.05 - 0.25·(t / s - 1) for the eligible, 0 from t / s = 1.2 on
    boosted      score·(1 + boost), by which the board is ranked

Where the memo is silent, this file decides, and a test holds each decision:

* A number is the decimal that is written or printed, so 0.63 / 0.60 is 1.05. Limits and ties are decided
  exactly, and the results are the nearest floats.
* Equal scores, boosted or not, are ranked by the earlier submission (UTC unless it says otherwise). Then
  the shorter runtime decides, and then the text of the team's name. A missing time counts as the latest,
  and a missing runtime as the longest.
* A team without a runtime is not eligible, but its score may be the best one by which others are judged. A
  team without a score is ranked last. If the best score is 0, nobody is eligible. The column ``note`` says
  so.
* On a board without any runtime, scores may be negative, and lower may be better.
"""

import argparse
import csv
import io
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "Board", "LeaderboardError", "boost", "boost_fractions", "exact", "floats", "parse", "ranks",
    "read_leaderboard", "show",
]  # fmt: skip

__version__ = "2.0.0"

# Rounding moves best / score by 1e-15; decimals of six digits that are not at 1.05 miss it by 1e-8.
RELATIVE_TOLERANCE = 1e-12

NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
LONGEST_NUMBER = 1_000  # characters; a float written out has at most 767 digits
BEYOND_FLOATS = 2**1024 - 2**970
NOTHING = {"None", "nan", "NaN", "NaT", "<NA>"}  # what missing values print as
START, LATEST = datetime(1970, 1, 1, tzinfo=UTC), 2**63 - 1
ROWS_SHOWN, CHARACTERS_SHOWN, LONGEST_MESSAGE = 3, 40, 280
LEADERBOARD = "the leaderboard"

Numbers = npt.NDArray[Any]  # of float64, or of Fraction (dtype object) with a float NaN where missing


class LeaderboardError(ValueError):
    """The leaderboard or a parameter is wrong; the text says where, in at most 280 characters."""

    def __init__(self, what: str, expected: str, rows: int = 0, found: str = "") -> None:
        super().__init__(what, expected, rows, found)

    def __str__(self) -> str:
        what, expected, rows, found = self.args
        wrong = f". Wrong in {rows:,} row{'s' if rows > 1 else ''} of {LEADERBOARD}: {found}" if rows else ""
        text = f"{what}: expected {expected}{wrong}"
        return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


# ---- The board -------------------------------------------------------------------------------------------


def boost(
    leaderboard: pd.DataFrame,
    max_boost: float = 0.05,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
    higher_is_better: bool = True,
) -> pd.DataFrame:
    """Reward short runtimes and rank the leaderboard by boosted score [4].

    Parameters
    ----------
    leaderboard : DataFrame
        One row per team, with these columns. All cells but names may be empty. Numbers may be text, as they
        are read from a file.

        ``team``
            The name of the team. Each name occurs once.
        ``score``
            A number. On a board with runtimes it is at least 0.
        ``runtime``
            Seconds, above 0. The column may be missing.
        ``submitted_at``
            A time in ISO 8601, in UTC unless it says otherwise. A date alone is the end of its day.
            The column may be missing.
    max_boost : float, from 0 to 1
        The boost of the fastest eligible team, as a fraction of its score.
    eligibility_ratio : float, at least 1
        A team is eligible if the best score divided by its score is at most this.
    slowdown_limit : float, above 1
        The boost falls linearly from `max_boost` at slowdown 1 to 0 at this slowdown.
    higher_is_better : bool
        Whether the highest score is ranked first. It can be False only on a board without runtimes.

    Returns
    -------
    DataFrame
        The final leaderboard, sorted by rank. It has the columns of `leaderboard`, with ``score`` and
        ``runtime`` as floats, and these columns:

        ``eligible``
            Whether the team takes part in the rewards.
        ``slowdown``
            Its runtime divided by the fastest eligible runtime. A team that is not eligible has one, too,
            which may be below 1. It is NaN if the team has no runtime, or if nobody is eligible.
        ``boost``
            The fraction of its score that is added, from 0 to `max_boost`.
        ``boosted_score``
            score·(1 + boost).
        ``rank``, ``rank_before``
            The ranks by boosted score and by score, from 1. No two teams share a rank.
        ``note``
            The reason why the team cannot be eligible, or "".

    Raises
    ------
    LeaderboardError
        A column is missing, a team occurs twice, or a cell or a parameter is wrong.

    Examples
    --------
    In table 2 of the memo, Yellow is the fastest and goes from the fourth rank to the first:

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

    The note says what is missing:

    >>> boost(table_2.replace({"runtime": {40: None}}))["note"].tolist()
    ['', '', '', 'no runtime, so not eligible']
    """
    board = parse(leaderboard)
    if not isinstance(higher_is_better, bool) or not (higher_is_better or pd.isna(board.runtimes).all()):
        found = f"{type(higher_is_better).__name__} '{_shown(higher_is_better)}'"
        raise LeaderboardError("higher_is_better", f"True, or False without any runtime, found {found}")
    eligible, slowdown, fraction = boost_fractions(
        board.scores, board.runtimes, max_boost, eligibility_ratio, slowdown_limit
    )
    boosted = board.scores * (1 + fraction)
    nobody = "" if any(score > 0 for score in board.scores) else "best score 0, so nobody is eligible"
    results: dict[str, Any] = {
        "eligible": eligible,
        "slowdown": floats(slowdown),
        "boost": floats(fraction),
        "boosted_score": floats(boosted),
        "rank": ranks(board, boosted, higher_is_better),
        "rank_before": ranks(board, board.scores, higher_is_better),
        "note": [_note(*row) or nobody for row in zip(board.scores, board.runtimes)],
    }
    final = leaderboard.drop(columns=list(results), errors="ignore")
    final = final.assign(score=floats(board.scores), runtime=floats(board.runtimes), **results)
    return final.iloc[np.argsort(results["rank"])].reset_index(drop=True)


def _note(score: Any, runtime: Any) -> str:
    """Say what a team lacks and what follows from it, or "" if it lacks nothing."""
    if math.isnan(score):
        lacks = "no score and no runtime" if math.isnan(runtime) else "no score"
        return f"{lacks}, so ranked last and not eligible"
    return "no runtime, so not eligible" if math.isnan(runtime) else ""


def boost_fractions(
    scores: npt.ArrayLike,
    runtimes: npt.ArrayLike,
    max_boost: float = 0.05,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> tuple[npt.NDArray[np.bool_], Numbers, Numbers]:
    """Compute eligibility, slowdown and boost for many leaderboards at once by the formula [4].

    Parameters
    ----------
    scores, runtimes : (..., teams) array_like
        The last axis is a leaderboard, with NaN where a value is missing. Fractions (dtype object) give exact
        results. Floats are fast, as bootstraps need it. A relative tolerance of 1e-12 makes sure that
        rounding excludes nobody from eligibility. Signs are not checked.
    max_boost, eligibility_ratio, slowdown_limit : float
        The parameters of `boost`.

    Returns
    -------
    eligible : (..., teams) bool
        Whether each team takes part in the rewards.
    slowdown : (..., teams) float or Fraction
        The runtime divided by the fastest eligible one. It is NaN where nobody is eligible or the runtime is
        missing.
    fraction : (..., teams) float or Fraction
        The boost, from 0 to `max_boost`.

    Raises
    ------
    LeaderboardError
        A parameter is out of range.

    Examples
    --------
    The score of the fastest team is too low, so the second fastest counts as the fastest eligible team:

    >>> eligible, slowdown, fraction = boost_fractions([0.63, 0.6, 0.59], [46, 40, 20])
    >>> eligible.tolist(), slowdown.tolist(), fraction.round(6).tolist()
    ([True, True, False], [1.15, 1.0, 0.5], [0.0125, 0.05, 0.0])
    """
    most = _parameter("max_boost", max_boost, lambda number: 0 <= number <= 1, "from 0 to 1")
    ratio = _parameter("eligibility_ratio", eligibility_ratio, lambda number: number >= 1, "from 1")
    limit = _parameter("slowdown_limit", slowdown_limit, lambda number: number > 1, "above 1")
    exactly = np.asarray(scores).dtype == object
    score: Numbers = np.asarray(scores, dtype=object if exactly else np.float64)
    runtime: Numbers = np.asarray(runtimes, dtype=score.dtype)
    if not exactly:
        most, ratio, limit = float(most), float(ratio) * (1 + RELATIVE_TOLERANCE), float(limit)

    known = np.where(pd.isna(score), 0, score)
    best = np.max(known, axis=-1, keepdims=True, initial=0)
    eligible = (known > 0) & (best <= ratio * known) & ~pd.isna(runtime)
    fastest = np.where(eligible, runtime, math.inf).min(axis=-1, keepdims=True, initial=math.inf)
    slowdown = runtime / np.where(fastest < math.inf, fastest, math.nan)
    # The fastest eligible team has a quotient of exactly 1, also in floats, and so gets exactly max_boost.
    share = (limit - np.where(eligible, slowdown, limit)) / (limit - 1)
    return eligible, slowdown, most * np.maximum(share, 0)


def ranks(board: "Board", scores: npt.ArrayLike, higher_is_better: bool = True) -> npt.NDArray[np.int64]:
    """Rank teams by scores.

    Among equal scores, the earlier submission comes first, then the shorter runtime, then the name.

    Parameters
    ----------
    board : Board
        The teams with their times and runtimes, as `parse` returns them.
    scores : array-like of float or Fraction, shape (..., teams)
        The scores that decide, of one board or of several boards with these teams.
    higher_is_better : bool
        Whether a higher score is better.

    Returns
    -------
    ndarray of int64, shape (..., teams)
        The ranks from 1. A missing score, NaN, is last.

    Examples
    --------
    >>> board = parse(pd.DataFrame({"team": ["b", "a", "c"], "score": [1, 1, 2]}))
    >>> ranks(board, board.scores).tolist()
    [3, 2, 1]
    """
    best_first = -np.asarray(scores) if higher_is_better else np.asarray(scores)
    best_first = np.where(pd.isna(best_first), math.inf, best_first)
    fastest_first = np.where(pd.isna(board.runtimes), math.inf, board.runtimes)
    # Floats are compared quickly, and the exact runtimes only where floats are equal.
    keys = list(zip(board.submitted_at.tolist(), floats(fastest_first), fastest_first, board.teams))
    ties = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    order = ties[np.argsort(best_first[..., ties], axis=-1, kind="stable")]
    return np.argsort(order, axis=-1) + 1


# ---- Input -----------------------------------------------------------------------------------------------


class Board(NamedTuple):
    """A leaderboard, checked and exact, in the order of its rows."""

    teams: list[str]
    scores: Numbers
    runtimes: Numbers  # in seconds
    submitted_at: npt.NDArray[np.int64]  # microseconds since 1970 (UTC); a missing time is the latest


def parse(leaderboard: pd.DataFrame) -> Board:
    """Check a leaderboard and take its values exactly; `boost` describes the columns.

    >>> try:
    ...     parse(pd.DataFrame({"team": ["Red"], "score": [""], "runtime": [0]}))
    ... except LeaderboardError as error:
    ...     print(error)
    runtime: expected seconds, a finite number above 0, or nothing. Wrong in 1 row of the leaderboard: Red ('0')
    """
    if not isinstance(leaderboard, pd.DataFrame):
        raise LeaderboardError(LEADERBOARD, f"a DataFrame, found {type(leaderboard).__name__}")
    names = [name for name in leaderboard.columns if isinstance(name, str)]
    for name, required in {"team": True, "score": True, "runtime": False, "submitted_at": False}.items():
        if not required <= names.count(name) <= 1:
            found = ", ".join(map(_shown, names)) or "none"
            raise LeaderboardError(LEADERBOARD, f"one column {name}, found the columns {found}")

    def column(name: str, expected: str, value: Callable[..., Any], is_wrong: Callable[..., bool]) -> list[Any]:
        """Read the values of a column's cells; the error names the first wrong ones."""
        cells = leaderboard[name].to_numpy() if name in names else [None] * len(leaderboard)
        values = [value(cell) for cell in cells]
        wrong = [row for row, value in enumerate(values) if value is None or is_wrong(value)]
        if wrong:
            found = ", ".join(f"{_shown(rows[row])} ('{_shown(cells[row])}')" for row in wrong[:ROWS_SHOWN])
            raise LeaderboardError(name, expected, len(wrong), found)
        return values

    rows = [f"row number {row + 1}" for row in range(len(leaderboard))]
    times = Counter(map(_text, leaderboard["team"].to_numpy()))
    rows = column("team", "a name in every row, and every team once", _name, lambda team: times[team] > 1)
    runtimes = column("runtime", "seconds, a finite number above 0, or nothing", exact, lambda time: time <= 0)
    rewarded = not all(map(math.isnan, runtimes))
    limit = ", at least 0 where there are runtimes (without any, the score alone ranks)" if rewarded else ""
    expected = f"a finite number{limit}, or nothing"
    scores = column("score", expected, exact, lambda score: rewarded and score < 0)
    expected = "a time in ISO 8601, such as 2024-01-23 14:05:33, or nothing"
    submitted_at = np.array(column("submitted_at", expected, _microseconds, lambda time: False), dtype=np.int64)
    return Board(rows, np.array(scores, dtype=object), np.array(runtimes, dtype=object), submitted_at)


def exact(cell: object) -> Fraction | float | None:
    """A cell's number, exactly as it is written or printed: NaN if it is empty, None if it is not finite.

    As decimals, 0.63 / 0.6 is exactly the memo's limit of 1.05, which floats miss:

    >>> exact("0.63") / exact(0.6), exact(" "), exact("1e999999999")
    (Fraction(21, 20), nan, None)
    """
    text = _text(cell).strip()
    if not text:
        return math.nan
    if len(text) > LONGEST_NUMBER or not NUMBER.fullmatch(text) or math.isinf(float(text)):
        return None
    # A number that is 0 as a float may have an exponent that a fraction would take forever to write out.
    return Fraction(text) if float(text) else Fraction(0)


def floats(numbers: Iterable[Any]) -> npt.NDArray[np.float64]:
    """The nearest floats of exact numbers; infinity for a number beyond all floats."""
    return np.array([math.inf if n >= BEYOND_FLOATS else float(n) for n in numbers], dtype=np.float64)


def _parameter(name: str, value: object, fits: Callable[[Any], bool], wanted: str) -> Any:
    """Check a parameter and return its exact value."""
    number = None if isinstance(value, str) else exact(value)
    if number is None or not fits(number):
        found = f"{type(value).__name__} '{_shown(value) or value}'"
        raise LeaderboardError(name, f"a finite number {wanted}, found {found}")
    return number


def _name(cell: object) -> str | None:
    """A team's name, or None."""
    text = _text(cell)
    holds = pd.api.types.is_scalar(cell) and text.encode(errors="ignore").decode() == text
    return text if holds and text.strip() else None


def _microseconds(cell: object) -> int | None:
    """A cell's time since 1970, or None."""
    text = _text(cell).strip()
    if not text:
        return LATEST
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) <= len("2024-01-23"):  # a date alone must not come before a time of its day
        time += timedelta(days=1, microseconds=-1)
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - START) // timedelta(microseconds=1)


def _text(cell: object) -> str:
    """A cell's text, "" where it is missing."""
    text = str(cell)
    return "" if text in NOTHING and not isinstance(cell, str) else text


def _shown(value: object) -> str:
    """A value as a message shows it: escaped, and not too long."""
    text = repr(_text(value)[: CHARACTERS_SHOWN + 1])[1:-1]
    return text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"


# ---- Files and the command line --------------------------------------------------------------------------


def read_leaderboard(path: str | Path) -> pd.DataFrame:
    """Read a leaderboard from a CSV file in UTF-8 as text, because a team may be named "NA" or "007"."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            rows = [(reader.line_num, cells) for cells in reader if cells]
    except (UnicodeDecodeError, csv.Error) as error:
        raise LeaderboardError(LEADERBOARD, f"a CSV file in UTF-8. {error}") from error
    columns = rows[0][1] if rows else []
    odd = [(line, len(cells)) for line, cells in rows if len(cells) != len(columns)]
    if odd or len(rows) < 2:
        found = f"{odd[0][1]:,} of {len(columns):,} in line {odd[0][0]:,}" if odd else "no team"
        raise LeaderboardError(LEADERBOARD, f"a cell per column in a line per team, found {found}")
    return pd.DataFrame([cells for _, cells in rows[1:]], columns=columns, dtype=object)


def show(board: pd.DataFrame) -> None:
    """Print a board that `boost` has made."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # so that every name can be printed
    board = board.set_index("rank").reset_index()
    board = board if board["note"].any() else board.drop(columns="note")
    text = board.to_string(index=False, na_rep="", float_format="{:.10g}".format)
    # What a name has for a terminal, such as colors, becomes visible.
    print("".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in text))


def main(arguments: list[str] | None = None) -> int:
    """Run `python boost.py`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("leaderboard", help="CSV file with the columns team, score[, runtime, submitted_at]")
    options = parser.parse_args(arguments)
    try:
        board = boost(read_leaderboard(options.leaderboard))
    except (OSError, LeaderboardError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, OSError) else 4
    show(board)
    return 0


# A cell of a notebook into which this file is pasted is __main__ too, but no file.
if __name__ == "__main__" and "__file__" in globals():
    sys.exit(main())
