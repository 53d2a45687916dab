"""What is known about the submissions' runtimes: how they were measured, how noisy they are, and draws of them.

A runtime is a time in seconds.  Its noise says how far a second measurement would be from it.  The noise is
known from its standard error, or from its single runs, or not at all.  A runtime that was measured once is
never taken for certain.  It is drawn with the noise that the other runtimes show.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import names
from podium.errors import HostError
from podium.ranking.submissions import Submission, check_unique, errors_of_boost, read_named
from podium.wording import counted, listed

__all__ = ["KEYS", "Noise", "check_teams", "draw", "noise_of", "notices", "parse_runs", "read"]

KEYS = ["team", "submission"]
SECONDS = ["runtime_low", "runtime", "runtime_high"]
ERROR = "runtime_error"
TEXT_COLUMNS = {*KEYS, "submitted_at", "runs", "marks", "provisional", "state"}
COLUMNS = [*KEYS, *SECONDS, ERROR, "runs", "marks", "provisional", "state", "submitted_at"]
# Streams of random numbers.  The draws of items and the swaps of answers have others.
STREAM_OF_RUNS, STREAM_OF_NOISE = 2, 3
FAR_BELOW = 5  # a runtime this many times below the median may be in minutes, which is 60 times below
FAR_ABOVE = 50  # a runtime so many times the median is suspicious, because it may be in milliseconds

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Noise(NamedTuple):
    """How the runtimes of a board were measured.  The t teams are in the order of the board."""

    # the k measured runs of each team in seconds, or None if there are fewer than two
    runs: list[Floats | None]
    errors: Floats  # the standard error of each runtime in seconds, NaN where it is not known
    # The standard deviation of one run, relative to the runtime. It is pooled over all teams for which it is
    # known, and NaN if it is known for none.
    of_one_run: float
    once: Bools  # which runtimes were measured once, as far as is known

    @property
    def is_known(self) -> bool:
        """Whether any runtime says something about noise."""
        return not math.isnan(self.of_one_run)


def read(path: str) -> pd.DataFrame:
    """Read the table of runtimes and check it.

    Further columns say more about the runtimes, as far as it is known:

    - ``submission``: the file that was run, if there is a runtime for each file and not for each team;
    - ``runtime_low``, ``runtime_high``: the shortest and the longest of three runs, in seconds;
    - ``runtime_error``: the standard error of the runtime, in seconds;
    - ``runs``: all runs in seconds, separated by spaces; their number if there is a ``runtime_error``;
    - ``marks``: what `podium run` has to say about the measurement;
    - ``provisional``: true if it has to be repeated;
    - ``state``: the state of the machine;
    - ``submitted_at``: when the team submitted, in ISO 8601.
    """
    table = read_named(path, ["team", "runtime"], KEYS, TEXT_COLUMNS)
    table = table[[name for name in COLUMNS if name in table]]
    rows = ["/".join(key) for key in _keys(table)]
    check_unique(rows, path)
    given = {"team": rows, "score": 1, "submitted_at": table.get("submitted_at")}
    for column in SECONDS:
        if column in table:
            with errors_of_boost("the runtimes", runtime=column) as boost:
                boost.parse(pd.DataFrame(given | {"runtime": table[column]}))
    if ERROR in table:
        _check_errors(table[ERROR])
        _counts(table)
    else:
        parse_runs(table)
    return table


def _check_errors(cells: "pd.Series[Any]") -> None:
    """Make sure that standard errors are seconds or empty."""
    errors = pd.to_numeric(cells, errors="coerce")
    wrong = cells.notna() & ~((errors >= 0) & (errors < math.inf))
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        raise HostError(
            f"{ERROR}: expected seconds of at least 0 or an empty cell, found {str(cells.iloc[row])!r} in row "
            f"number {row + 1} of the runtimes"
        )


def _counts(runtimes: pd.DataFrame) -> list[int | None]:
    """Read how many runs each row stands for, from a column ``runs`` that contains numbers of runs."""
    counts: list[int | None] = []
    for number, text in enumerate(runtimes.get("runs", [None] * len(runtimes)), 1):
        cell = str(text or "").strip()
        if cell and not (cell.isdecimal() and int(cell) > 0):
            raise HostError(
                f"runs: expected the number of runs, as there is a column {ERROR}, found {text!r} in row "
                f"number {number} of the runtimes"
            )
        counts.append(int(cell) if cell else None)
    return counts


def _keys(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """List the team of each row, and its submission if there is a runtime for each submission."""
    return list(table[[name for name in KEYS if name in table]].itertuples(index=False, name=None))


def check_teams(runtimes: pd.DataFrame | None, submissions: Sequence[Submission]) -> None:
    """Compare the teams of the runtimes with those of the submissions."""
    if runtimes is None:
        return
    keys = _keys(runtimes)
    known = {each[:2] for each in submissions} | {each[:1] for each in submissions}
    if nearly := names.near_misses(keys, known):
        raise HostError(f"the runtimes: expected exactly the names of the submissions, found {listed(nearly)}")
    unknown = ["/".join(key) for key in keys if key not in known]
    if unknown:
        warnings.warn(f"runtimes without a submission: {listed(sorted(unknown))}", stacklevel=2)


def parse_runs(runtimes: pd.DataFrame) -> list[Floats | None]:
    """Read the measured runs of each row."""
    if "runs" in runtimes:
        of_rows = []
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
            of_rows.append(runs if len(runs) > 1 else None)
        return of_rows
    if set(SECONDS) <= set(runtimes):
        three = runtimes[SECONDS].apply(pd.to_numeric).to_numpy(np.float64)
        return [row if np.isfinite(row).all() else None for row in three]
    return [None] * len(runtimes)


def noise_of(leaderboard: pd.DataFrame, runtimes: pd.DataFrame | None) -> Noise:
    """Find out how the runtimes of a board were measured, and how noisy they are.

    The relative variance of one run is estimated for each team, and averaged.  With single runs it is the
    sample variance of their logarithms, and its weight is the number of runs minus 1.  With a standard error it
    is the squared relative error times the number of runs, with the same weight but at least 1.
    """
    seconds = leaderboard["runtime"].to_numpy(dtype=np.float64)
    teams = len(leaderboard)
    runs: list[Floats | None] = [None] * teams
    errors, counts = np.full(teams, np.nan), np.full(teams, np.nan)
    if runtimes is not None:
        rows = {key: row for row, key in enumerate(_keys(runtimes))}
        own = _keys(leaderboard[[name for name in KEYS if name in runtimes]])
        row_of = [rows.get(key) for key in own]
        if ERROR in runtimes:
            error_of = pd.to_numeric(runtimes[ERROR], errors="coerce").to_numpy(np.float64)
            count_of = _counts(runtimes)
            for team, row in enumerate(row_of):
                if row is not None:
                    errors[team], counts[team] = error_of[row], count_of[row] or np.nan
        else:
            runs_of = parse_runs(runtimes)
            runs = [None if row is None else runs_of[row] for row in row_of]
    relative, weights = [], []
    for measured, error, count, runtime in zip(runs, errors, counts, seconds):
        if measured is not None:
            relative.append(float(np.var(np.log(measured), ddof=1)))
            weights.append(len(measured) - 1)
        elif error >= 0:
            relative.append((error / runtime) ** 2 * max(1, np.nan_to_num(count)))
            weights.append(max(1, np.nan_to_num(count) - 1))
    of_one_run = math.sqrt(np.average(relative, weights=weights)) if relative else math.nan
    several = np.array([measured is not None for measured in runs], dtype=bool)
    once = np.isfinite(seconds) & ~several & ~(counts > 1) & ~(np.isnan(counts) & (errors >= 0))
    return Noise(runs, errors, of_one_run, once)


def draw(leaderboard: pd.DataFrame, runtimes: pd.DataFrame | None, resamples: int, seed: int) -> Floats:
    """Draw runtimes that could have been measured as well.

    How a runtime is drawn depends on what is known about it:

    - from its runs: the median of as many runs, drawn from them with replacement;
    - from its standard error: the runtime times exp(e·z), where e is the relative error and z standard normal;
    - measured once: the same, where e is the noise of one run, pooled over the other teams;
    - if no noise is known: the runtime itself.
    """
    runtime = leaderboard["runtime"].to_numpy(dtype=np.float64)
    seconds: Floats = np.tile(runtime, (resamples, 1))
    noise = noise_of(leaderboard, runtimes)
    random = np.random.default_rng([seed, STREAM_OF_RUNS])
    for team, measured in enumerate(noise.runs):
        if measured is not None:
            seconds[:, team] = np.median(random.choice(measured, (resamples, len(measured))), axis=1)
    spread = np.nan_to_num(noise.errors / runtime)
    if noise.is_known:
        spread = np.where(noise.once & ~(spread > 0), noise.of_one_run, spread)
    drawn = spread > 0
    if drawn.any():
        normal = np.random.default_rng([seed, STREAM_OF_NOISE]).standard_normal(seconds.shape)
        seconds[:, drawn] *= np.exp(spread[drawn] * normal[:, drawn])
    return seconds


def notices(leaderboard: pd.DataFrame, runtimes: pd.DataFrame | None) -> list[str]:
    """Say what a reader should know about the runtimes of a board."""
    known = leaderboard.dropna(subset=["runtime"])
    if known.empty:
        return []
    sentences = []
    noise = noise_of(leaderboard, runtimes)
    once = int(noise.once.sum())
    if once:
        were = "was" if once == 1 else "were"
        those = "all runtimes were" if once == len(known) else f"{once:,} of {len(known):,} runtimes {were}"
        how = (
            f", so {'it is' if once == 1 else 'they are'} drawn with the noise of one run of the other models "
            f"({noise.of_one_run:.1%})"
            if noise.is_known
            else "; how much they vary is not known, so nobody knows who would be first again"
        )
        sentences.append(f"{those} measured once{how}")
    fastest, median = known.iloc[int(known["runtime"].argmin())], known["runtime"].median()
    if FAR_BELOW * fastest["runtime"] <= median:
        sentences.append(
            f"the shortest runtime, {fastest['runtime']:g} s of {fastest['team']}, is less than a fifth of the "
            f"median, {median:g} s: make sure that it is in seconds"
        )
    slowest = known.iloc[int(known["runtime"].argmax())]
    if slowest["runtime"] >= FAR_ABOVE * median:
        sentences.append(
            f"the longest runtime, {slowest['runtime']:g} s of {slowest['team']}, is at least {FAR_ABOVE} "
            f"times the median, {median:g} s: make sure that it is in seconds and not in milliseconds"
        )
    if runtimes is not None:
        sentences += _marks(known, runtimes)
    return sentences


def _marks(leaderboard: pd.DataFrame, runtimes: pd.DataFrame) -> list[str]:
    """Collect what `podium run` said about the runtimes of these teams."""
    keys = set(_keys(leaderboard[[name for name in KEYS if name in runtimes]]))
    rows = [row for key, row in zip(_keys(runtimes), runtimes.to_dict("records")) if key in keys]
    sentences = []
    if marked := [f"{row['team']} ({row['marks']})" for row in rows if row.get("marks")]:
        sentences.append(f"{counted(len(marked), 'runtime')} marked: {listed(marked)}")
    if provisional := [row for row in rows if str(row.get("provisional") or "").lower() == "true"]:
        those = (
            "all runtimes are"
            if len(provisional) == len(rows)
            else f"{len(provisional):,} of {len(rows):,} runtimes are"
        )
        states = sorted({str(row["state"]) for row in provisional if row.get("state")})
        sentences.append(f"{those} provisional{f' ({listed(states)})' if states else ''}: measure them again")
    return sentences
