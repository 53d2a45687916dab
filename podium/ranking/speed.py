"""What is known of the submissions' runtimes, and draws of it."""

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.errors import HostError
from podium.ranking.submissions import Submission, check_unique, errors_of_boost, read_named
from podium.wording import listed

KEYS = ["team", "submission"]
TEXT_COLUMNS = {*KEYS, "submitted_at", "runs"}
SECONDS = ["runtime_low", "runtime", "runtime_high"]
COLUMNS = [*KEYS, *SECONDS, "runs", "submitted_at"]
STREAM = 2  # of random numbers, beside those of draws and swaps

Floats = npt.NDArray[np.float64]


def read(path: str) -> pd.DataFrame:
    """Runtimes: team, runtime in seconds and, as far as known, the other `COLUMNS`."""
    table = read_named(path, ["team", "runtime"], KEYS, TEXT_COLUMNS)
    table = table[[name for name in COLUMNS if name in table]]
    names = ["/".join(key) for key in _keys(table)]
    check_unique(names, path)
    given = {"team": names, "score": 1, "submitted_at": table.get("submitted_at")}
    for column in SECONDS:
        if column in table:
            with errors_of_boost("the runtimes", runtime=column) as boost:
                boost.parse(pd.DataFrame(given | {"runtime": table[column]}))
    parse_runs(table)
    return table


def _keys(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """Of each row the team and, where runtimes are a submission's, that."""
    return list(table[[name for name in KEYS if name in table]].itertuples(index=False, name=None))


def check(runtimes: pd.DataFrame | None, submissions: Sequence[Submission]) -> None:
    """Warn of runtimes for which there is no submission."""
    if runtimes is None:
        return
    known = {each[:2] for each in submissions} | {each[:1] for each in submissions}
    unknown = ["/".join(key) for key in _keys(runtimes) if key not in known]
    if unknown:
        warnings.warn(f"runtimes without a submission: {listed(sorted(unknown))}", stacklevel=2)


def parse_runs(runtimes: pd.DataFrame) -> list[Floats | None]:
    """Of each row its measured runs: `runs`, or lowest, median and highest; None where there are none."""
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
    if set(SECONDS) <= set(runtimes):
        three = runtimes[SECONDS].apply(pd.to_numeric).to_numpy(np.float64)
        return [row if np.isfinite(row).all() else None for row in three]
    return [None] * len(runtimes)


def draw(leaderboard: pd.DataFrame, runtimes: pd.DataFrame | None, resamples: int, seed: int) -> Floats:
    """Runtimes of the teams, (resamples, t): medians of runs drawn with replacement, where runs are known."""
    seconds = np.tile(leaderboard["runtime"].to_numpy(dtype=np.float64), (resamples, 1))
    if runtimes is None:
        return seconds
    runs = dict(zip(_keys(runtimes), parse_runs(runtimes)))
    random = np.random.default_rng([seed, STREAM])
    for team, key in enumerate(_keys(leaderboard[leaderboard.columns.intersection(runtimes.columns)])):
        measured = runs.get(key)
        if measured is not None:
            seconds[:, team] = np.median(random.choice(measured, (resamples, len(measured))), axis=1)
    return seconds
