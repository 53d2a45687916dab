"""Read a leaderboard: one with podium's columns, or the export of a platform.

Sources: the columns of Kaggle's download, of Kaggle's client and of EvalAI's leaderboard are those that they
write; Codabench's are those that `results` in ``api/views/competitions.py`` of its repository writes.
"""

import re

import pandas as pd

from podium.common.errors import HostError
from podium.common.wording import listed
from podium.ranking.jury import BASELINE
from podium.tables.files import Location, read_bytes
from podium.tables.formats import parse_texts

# A line that Kaggle's client may print first.
TOKEN = re.compile(rb"\A(\xef\xbb\xbf)?Next Page Token = [^\n]*\n")
# What platforms call the columns, without case, spaces and other signs.
NAMES = {
    "team": (
        "teamname",
        "username",
        "participantteam",
        "participantteamname",
        "submissionparticipantteamteamname",
    ),
    "score": ("filteringscore",),
    "submitted_at": ("submittedat", "lastsubmissiondate", "submissiondate", "submissionsubmittedat"),
    "runtime": (),
}
RUNTIME = re.compile(
    "(?i)run.?time|(time|seconds|secs|duration|elapsed|wall.?(clock|time))(_?(s|ms|sec|min))?$"
)
NEEDED = {"team": "the names of the teams", "score": "the scores"}
OF_CODABENCH = re.compile(r".+\(\d+\)-.+")  # the name of a task with its number, and of a measure
BENCHMARK = "0"  # the rank that Kaggle's download gives to the host's benchmark


def read_board(path: Location) -> tuple[pd.DataFrame, list[str]]:
    """Read a leaderboard, and tell what was left out; cells are texts, as a team may be named NA or 007."""
    name = "standard input" if path == "-" else str(path)
    board, columns = _parsed(path, name)
    _check_needed(board, name)
    notices = []
    if {"Rank", "TeamId"} <= set(columns):
        is_benchmark = board["Rank"] == BENCHMARK
        if is_benchmark.any():
            left = listed(board.loc[is_benchmark, "team"].tolist())
            notices = [f"{name}: left out, as rank 0 is the host's benchmark and no team: {left}"]
        board = board[~is_benchmark].drop(columns="Rank").reset_index(drop=True)
    if "status" in columns and (is_baseline := board["status"] == BASELINE).any():
        left = listed(board.loc[is_baseline, "team"].tolist())
        notices.append(f"{name}: left out, as a baseline does not compete: {left}")
        board = board[~is_baseline].reset_index(drop=True)
    _refuse_histories(board, name)
    return _told_apart(board), [*notices, *_unused_runtimes(columns, board, name)]


def read_site(path: Location) -> tuple[str, pd.DataFrame, list[str]]:
    """Read a site's board: the name of the site, its rows, and the columns that may have the scores."""
    board, columns = _parsed(path, str(path))
    of_scores = [name for name in columns if OF_CODABENCH.fullmatch(name)]
    site = "Codabench" if of_scores else "Kaggle" if {"TeamId", "team_id"} & set(columns) else "the site"
    if of_scores:
        board.columns = [name if name in of_scores else new for name, new in zip(columns, board)]
    else:
        _check_needed(board, str(path))
        of_scores = ["score"]
    if "Rank" in board:
        board = board[board["Rank"] != BENCHMARK].reset_index(drop=True)
    return site, _told_apart(board), of_scores


def _parsed(path: Location, name: str) -> tuple[pd.DataFrame, list[str]]:
    """Read a leaderboard with podium's names of columns, and list the names that the columns had."""
    board = parse_texts(TOKEN.sub(b"", read_bytes(path)), name, HostError).fillna("")
    columns = list(map(str, board.columns))
    return board.set_axis([_meaning(column, columns) or column for column in columns], axis=1), columns


def _meaning(column: str, columns: list[str]) -> str | None:
    """Tell which of podium's columns a platform's column is, unless the table has that one itself."""
    plain = re.sub("[^a-z0-9]", "", column.lower())
    for meant, names in NAMES.items():
        if meant not in columns and (
            plain in (meant, *names) or (meant == "score" and column.endswith("-score"))
        ):
            return meant
    return None


def _check_needed(board: pd.DataFrame, name: str) -> None:
    """Say which columns to rename if the teams or the scores are not found, or are found twice."""
    columns = list(board.columns)
    if {"Owner", "Status", "Phase"} <= set(columns) and "score" not in columns:
        raise HostError(
            f"{name} is Codabench's list of submissions, which has no scores: export the leaderboard instead"
        )
    for needed, what in NEEDED.items():
        if columns.count(needed) != 1:
            found = ", ".join(f"{column!r:.40}" for column in columns[:10])
            raise HostError(f"{name}: rename the column with {what} to {needed}. It has the columns {found}")
    if board.empty:
        raise HostError(f"{name}: expected a row for every team, found none")


def _refuse_histories(board: pd.DataFrame, name: str) -> None:
    """Refuse Kaggle's older leaderboards, which have a row for each improvement of a team."""
    if "TeamId" in board and (repeated := board["TeamId"].duplicated(keep=False)).any():
        teams = listed(sorted({*board.loc[repeated, "team"]}), 3)
        raise HostError(
            f"{name}: expected one row for each team, found several for {teams}: Kaggle's older leaderboards "
            "have a row for each improvement; keep the last row of each team"
        )


def _unused_runtimes(columns: list[str], board: pd.DataFrame, name: str) -> list[str]:
    """Say which column may have the runtimes if none is called so."""
    found = [column for column in columns if RUNTIME.match(column)]
    if "runtime" in board or not found:
        return []
    return [
        f"{name}: no speed is rewarded, because there is no column runtime; if {listed(found)} has runtimes, "
        "give them in seconds in a column runtime"
    ]


def _told_apart(board: pd.DataFrame) -> pd.DataFrame:
    """Add their ids to the names of teams that Kaggle shows under the same name."""
    ids = next((column for column in ("TeamId", "teamId") if column in board), None)
    same = board["team"].duplicated(keep=False)
    if ids is None or not same.any():
        return board
    return board.assign(team=board["team"].where(~same, board["team"] + " (" + board[ids] + ")"))
