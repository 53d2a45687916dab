"""What is known of the submissions' runtimes, and draws of it."""

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted
from podium.errors import HostError
from podium.ranking.submissions import Submission, read_named
from podium.wording import listed

__all__ = ["check", "draw", "parse_runs", "read"]

TEXT_COLUMNS = {"team", "submission", "submitted_at", "runs"}
COLUMNS = ("team", "submission", "runtime", "runtime_low", "runtime_high", "runs", "submitted_at")
STREAM = 2  # of random numbers, beside those of draws and swaps

Floats = npt.NDArray[np.float64]


def read(path: str) -> pd.DataFrame:
    """Runtimes: team, runtime (seconds) and, as far as known, submission, submitted_at, runtime_low and
    runtime_high, or runs (single runs, separated by spaces).

    Raises
    ------
    HostError
    """
    table = read_named(path, ["team"], TEXT_COLUMNS)
    if "runtime" not in table:
        raise HostError(f"{path} lacks the column runtime; it has {', '.join(map(str, table.columns))}")
    table = table[[name for name in COLUMNS if name in table]]
    keys = [name for name in ("team", "submission") if name in table]
    for key in keys:
        absent = table[key].isna().to_numpy()
        if absent.any():
            raise HostError(f"{path} has no {key} in row number {int(absent.argmax()) + 1}")
    repeated = table.loc[table.duplicated(keys), keys].agg("/".join, axis=1)
    if len(repeated):
        raise HostError(f"{path} has several rows for {listed(sorted(set(repeated)))}")
    boost = hosted.module("boost")
    names = table[keys].agg("/".join, axis=1)
    for column in ("runtime", "runtime_low", "runtime_high"):
        if column in table:
            times = table.get("submitted_at")
            try:
                boost.parse(
                    pd.DataFrame({"team": names, "score": 1, "runtime": table[column], "submitted_at": times})
                )
            except boost.LeaderboardError as problem:
                text = str(problem).replace("the leaderboard", "the runtimes")
                raise HostError(text if column == "runtime" else f"{column}, {text}") from None
    parse_runs(table)
    return table


def check(runtimes: pd.DataFrame | None, submissions: Sequence[Submission]) -> None:
    """Warn of runtimes for which there is no submission."""
    if runtimes is None:
        return
    keys = [name for name in ("team", "submission") if name in runtimes]
    known = {(each.team, each.name)[: len(keys)] for each in submissions}
    unknown = ["/".join(key) for key in runtimes[keys].itertuples(index=False) if tuple(key) not in known]
    if unknown:
        warnings.warn(f"runtimes without a submission: {listed(sorted(unknown))}", stacklevel=2)


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


def draw(leaderboard: pd.DataFrame, runtimes: pd.DataFrame | None, resamples: int, seed: int) -> Floats:
    """Runtimes of the teams, (resamples, t): medians of runs drawn with replacement, where runs are known."""
    seconds = np.tile(leaderboard["runtime"].to_numpy(dtype=np.float64), (resamples, 1))
    if runtimes is None:
        return seconds
    keys = [name for name in ("team", "submission") if name in runtimes]
    row_of = {tuple(key): row for row, key in enumerate(runtimes[keys].itertuples(index=False, name=None))}
    runs = parse_runs(runtimes)
    random = np.random.default_rng([seed, STREAM])
    for team, key in enumerate(leaderboard[keys].itertuples(index=False, name=None)):
        measured = runs[row_of[key]] if key in row_of else None
        if measured is not None:
            seconds[:, team] = np.median(random.choice(measured, (resamples, len(measured))), axis=1)
    return seconds
