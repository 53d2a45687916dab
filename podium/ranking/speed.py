"""What is known about the submissions' runtimes: how they were measured, how noisy they are, and draws of them.

A runtime is a time in seconds. Its noise says how far a second measurement would be from it. The noise is
known from its standard error, or not at all. A runtime that was measured once is never taken for certain. It
is drawn with the noise that the other runtimes show.
"""

import math
import warnings
from collections.abc import Collection, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Floats
from podium.common.errors import HostError
from podium.common.options import as_option
from podium.common.statements import Statement
from podium.common.wording import listed
from podium.ranking.submissions import Submission
from podium.tables import names
from podium.tables.files import Location
from podium.tables.schema import TEXT, TIME, Table, number

KEYS = ["team", "submission"]
ERROR = "runtime_error"
# The table of runtimes. `submission` is there if there is a runtime for each file and not for each team;
# `runtime_error` is the standard error of the runtime, and `marks` is what `podium run` says about it.
RUNTIMES = Table(
    key=KEYS,
    team=TEXT,
    submission=TEXT._replace(is_needed=False),
    runtime=number("seconds", above=0)._replace(is_filled=False),
    runtime_error=number("seconds", 0).optional,
    runs=number("a number of runs", 1).optional,
    marks=TEXT.optional,
    provisional=TEXT.optional,  # true if the runtime has to be measured again
    state=TEXT.optional,  # of the machine
    engine=TEXT.optional,  # what isolated the model
    submitted_at=TIME.optional,
)
STREAM = 5  # of random numbers; the draws of items and of scores have others
CERTAIN = 2  # standard errors beyond which a difference between two runtimes is certain
FAR_BELOW = 5  # a runtime this many times below the median may be in minutes, which is 60 times below
FAR_ABOVE = 50  # a runtime so many times the median is suspicious, because it may be in milliseconds


class Noise(NamedTuple):
    """How the runtimes of a board were measured. The t teams are in the order of the board."""

    errors: Floats  # the standard error of each runtime in seconds, NaN where it is not known
    # The standard deviation of one run, relative to the runtime. It is pooled over all teams for which it is
    # known, and NaN if it is known for none.
    of_one_run: float
    once: Bools  # which runtimes were measured once, as far as is known

    @property
    def is_known(self) -> bool:
        """Whether any runtime says something about noise."""
        return not math.isnan(self.of_one_run)


def _numbers(table: pd.DataFrame, column: str) -> Floats:
    """Read the numbers in a column, with NaN for a cell or a column without any."""
    cells = table[column] if column in table else pd.Series(np.nan, index=table.index)
    return pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)


def _keys(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """List the team of each row, and its submission if there is a runtime for each submission."""
    return list(table[[name for name in KEYS if name in table]].itertuples(index=False, name=None))


def read(
    path: Location, submissions: Sequence[Submission], failed: Collection[str] = (), has_failed: bool = True
) -> pd.DataFrame:
    """Read the runtimes, and compare their teams with those of the submissions and of models that failed.

    `has_failed` tells whether there is a table of these, which `podium run` writes beside its runtimes.
    """
    runtimes = RUNTIMES.read(path)
    keys = _keys(runtimes)
    known = {each[:2] for each in submissions} | {each[:1] for each in submissions}
    if nearly := names.near_misses(keys, known):
        raise HostError(f"the runtimes: expected exactly the names of the submissions, found {listed(nearly)}")
    unknown = ["/".join(key) for key in keys if key not in known and key[0] not in {*failed}]
    if unknown:
        warnings.warn(f"runtimes without a submission: {listed(sorted(unknown))}", stacklevel=2)
    if not has_failed and "provisional" in runtimes:
        cure = (
            f"give the folder of podium run in place of its submissions and runtimes, or {as_option('failed')}"
        )
        warnings.warn(
            f"no failed.csv is beside {path}, so the board names no model that failed: {cure}", stacklevel=2
        )
    return runtimes


def noise_of(leaderboard: pd.DataFrame, runtimes: pd.DataFrame | None) -> Noise:
    """Find out how the runtimes of a board were measured, and how noisy they are.

    The relative variance of one run is estimated for each team, and averaged. It is the squared relative
    error times the number of runs. Its weight is the number of runs minus 1, but at least 1.
    """
    seconds = leaderboard["runtime"].to_numpy(dtype=np.float64)
    measured = leaderboard[KEYS]
    if runtimes is not None:
        measured = measured.merge(runtimes, on=[name for name in KEYS if name in runtimes], how="left")
    errors, counts = _numbers(measured, ERROR), _numbers(measured, "runs")
    several = np.nan_to_num(counts)
    variances = (errors / seconds) ** 2 * np.maximum(several, 1)
    known = np.isfinite(variances)
    of_one_run = math.nan
    if known.any():
        of_one_run = math.sqrt(np.average(variances[known], weights=np.maximum(several - 1, 1)[known]))
    once = np.isfinite(seconds) & ~(counts > 1) & ~(np.isnan(counts) & (errors >= 0))
    return Noise(errors, of_one_run, once)


def draw(leaderboard: pd.DataFrame, runtimes: pd.DataFrame | None, resamples: int, seed: int) -> Floats:
    """Draw runtimes that could have been measured as well.

    A draw is the runtime times exp(e·z), where z is standard normal and e is the relative standard error. For
    a runtime that was measured once, e is the noise of one run, pooled over the other teams. If no noise is
    known, a draw is the runtime itself.
    """
    runtime = leaderboard["runtime"].to_numpy(dtype=np.float64)
    seconds: Floats = np.tile(runtime, (resamples, 1))
    noise = noise_of(leaderboard, runtimes)
    spread = np.nan_to_num(noise.errors / runtime)
    if noise.is_known:
        spread = np.where(noise.once & ~(spread > 0), noise.of_one_run, spread)
    drawn = spread > 0
    if drawn.any():
        normal = np.random.default_rng([seed, STREAM]).standard_normal(seconds.shape)
        seconds[:, drawn] *= np.exp(spread[drawn] * normal[:, drawn])
    return seconds


def ties(
    leaderboard: pd.DataFrame, noise: Noise, entries: Sequence[int], borders: Sequence[tuple[int, int]]
) -> list[Statement]:
    """Name the prizes for which a runtime decides between equal scores, and another run may turn it around.

    The difference counts as certain if it is more than twice its standard error.
    """
    seconds, score = (leaderboard[name].to_numpy(dtype=np.float64) for name in ("runtime", "score"))
    boosted = leaderboard["boosted_score"].to_numpy(dtype=np.float64)
    of_one = noise.of_one_run * seconds
    errors = np.where(noise.once | np.isnan(noise.errors), of_one, noise.errors)
    when = leaderboard["submitted_at"].tolist() if "submitted_at" in leaderboard else [None] * len(seconds)
    found = []
    for row, next_row in borders:
        both = [row, next_row]
        faster, slower = sorted(seconds[both])
        is_tie = score[row] == score[next_row] and faster < slower
        by_time = boosted[row] == boosted[next_row] and when[row] != when[next_row]
        if not is_tie or by_time or slower - faster > CERTAIN * np.hypot(*errors[both]):
            continue
        one, other = leaderboard["team"].iloc[both]
        facts = {"place": leaderboard["rank"].iloc[row], "faster": faster, "slower": slower, "team": one}
        sent = "sent the same file" if entries[row] == entries[next_row] else "have the same score"
        found.append(Statement("decided_by_runtime", **facts, other=other, sent=sent))
    return found


def moves_prizes(leaderboard: pd.DataFrame, may_win: Sequence[int], prizes: int) -> bool:
    """Tell whether rewards for speed decide which of the teams that may win the prizes get them, or in which
    order.
    """
    before = leaderboard["rank_before"].iloc[list(may_win)].to_list()
    return before[:prizes] != sorted(before)[:prizes]


def notices(leaderboard: pd.DataFrame, runtimes: pd.DataFrame | None) -> list[Statement]:
    """List what a reader should know about the runtimes of a board; what concerns prizes comes first."""
    known = leaderboard.dropna(subset=["runtime"])
    if known.empty:
        return []
    found = [] if runtimes is None else _provisional(known, runtimes)
    noise = noise_of(leaderboard, runtimes)
    if noise.once.any():
        found.append(_measured_once(leaderboard, noise))
    # What podium run has measured is in seconds.
    measured = (
        set() if runtimes is None or "runs" not in runtimes else set(runtimes.dropna(subset="runs")["team"])
    )
    fastest, median = known.iloc[int(known["runtime"].argmin())], known["runtime"].median()
    if fastest["team"] not in measured and FAR_BELOW * fastest["runtime"] <= median:
        found.append(Statement("shortest_runtime", **fastest[["runtime", "team"]], median=median))
    slowest = known.iloc[int(known["runtime"].argmax())]
    if slowest["team"] not in measured and slowest["runtime"] >= FAR_ABOVE * median:
        facts = {**slowest[["runtime", "team"]], "median": median}
        found.append(Statement("longest_runtime", times=FAR_ABOVE, **facts))
    if runtimes is not None:
        found += _marks(known, runtimes)
    return found


def _measured_once(leaderboard: pd.DataFrame, noise: Noise) -> Statement:
    """Tell which runtimes come from a single run, and what is known about how much they vary."""
    once, number = leaderboard[noise.once], int(leaderboard["runtime"].notna().sum())
    which = Statement("all_measured_once")
    if len(once) < number:
        teams = _undecided_first(once)["team"].tolist()
        which = Statement("some_measured_once", once=len(once), number=number, teams=teams)
    if not noise.is_known:
        return Statement("noise_unknown", which=which)
    return Statement("noise_assumed", which=which, noise=noise.of_one_run)


def _undecided_first(board: pd.DataFrame) -> pd.DataFrame:
    """Put the teams whose runtime may decide a prize first: prize winners, then boosted and eligible teams."""
    keys = [board["prize"].isna(), ~(board["boost"] > 0), ~board["eligible"].astype(bool), board["rank"]]
    return board.iloc[np.lexsort(keys[::-1])]


def _marks(leaderboard: pd.DataFrame, runtimes: pd.DataFrame) -> list[Statement]:
    """Name the runtimes of these teams that `podium run` has marked."""
    rows = _rows_of(leaderboard, runtimes)
    marked = [f"{row['team']} ({row['marks']})" for row in rows if row.get("marks")]
    return [Statement("runtimes_marked", marked=marked)] if marked else []


def _rows_of(leaderboard: pd.DataFrame, runtimes: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """What is known about the runtimes of these teams, those first that may decide a prize."""
    of_key = dict(zip(_keys(runtimes), runtimes.to_dict("records")))
    order = _keys(_undecided_first(leaderboard)[[name for name in KEYS if name in runtimes]])
    return [of_key[key] for key in order if key in of_key]


def _provisional(leaderboard: pd.DataFrame, runtimes: pd.DataFrame) -> list[Statement]:
    """Say which runtimes of these teams were measured on a machine that was not quiet."""
    rows, found = _rows_of(leaderboard, runtimes), list[Statement]()
    if provisional := [row for row in rows if str(row.get("provisional") or "").lower() == "true"]:
        those = "all" if len(provisional) == len(rows) else f"{len(provisional):,} of {len(rows):,}"
        states = sorted({str(row["state"]) for row in provisional if row.get("state")})
        found.append(Statement("provisional", those=those, states=f" ({listed(states)})" if states else ""))
    return found
