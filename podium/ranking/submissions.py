"""Which files are ranked: those of a folder, of a URL, or of a manifest."""

import os
import posixpath
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium import hosted
from podium.errors import HostError, UsageError
from podium.files import is_url, read_table
from podium.wording import listed

MANIFEST_COLUMNS = {"team", "submission", "path", "submitted_at", "public_score", "side"}


class Submission(NamedTuple):
    """A file to score; "" where nothing is known."""

    team: str
    name: str
    path: str  # absolute, or a URL
    size: int = 0
    submitted_at: str = ""  # as a manifest has it
    public_score: str = ""
    side: str = ""  # path of the host's file beside it, see `podium.scoring.add_side`


def find(source: str) -> list[Submission]:
    """The submissions of a folder or URL (a file per team, or a folder per team), or of a manifest.

    Paths in a manifest are relative to it.  Hidden files are left out.
    """
    if source.endswith((".csv", ".csv.gz", ".parquet")) and not Path(source).is_dir():
        submissions = _of_manifest(source)
    else:
        submissions = _of_files(source, *_listed(source))
    if not submissions:
        raise UsageError(f"there are no submissions in {source}")
    return sorted(submissions, key=lambda each: (each.team, each.name))


def _listed(source: str) -> tuple[str, list[tuple[str, int]]]:
    """Root, and the relative name and size of each file."""
    if is_url(source):
        import fsspec

        try:
            system, root = fsspec.core.url_to_fs(source)
            found = system.find(root, detail=True)
        except Exception as problem:  # every client has exceptions of its own
            raise UsageError(f"cannot list {source}: {type(problem).__name__}: {problem}") from None
        sizes = {posixpath.relpath(name, root): int(about.get("size") or 0) for name, about in found.items()}
        return source.rstrip("/"), list(sizes.items())
    if not Path(source).is_dir():
        raise UsageError(f"there is no folder {source}")
    root, files, folders = absolute(source), [], [""]
    while folders:
        folder = folders.pop()
        entries = list(os.scandir(os.path.join(root, folder)))
        if folder and not entries:
            warnings.warn(f"the folder of team {folder.rstrip('/')} is empty", stacklevel=2)
        for entry in entries:
            if entry.is_dir():
                folders += [] if entry.name.startswith(".") else [f"{folder}{entry.name}/"]
            else:  # a broken link, too: it is said when it cannot be read
                files.append((folder + entry.name, entry.stat().st_size if entry.is_file() else 0))
    return root, files


def _of_files(source: str, root: str, files: Iterable[tuple[str, int]]) -> list[Submission]:
    submissions: list[Submission] = []
    homes: dict[str, str] = {}
    for name, size in files:
        parts = name.split("/")
        if any(part.startswith(".") for part in parts):
            continue
        if len(parts) > 2:
            raise HostError(f"{source}: expected files, or a folder per team with files, found {name}")
        team = parts[0] if len(parts) == 2 else Path(name.removesuffix(".gz")).stem
        if homes.setdefault(team, parts[0]) != parts[0]:
            raise HostError(f"team {team} has two places: {' and '.join(sorted((homes[team], parts[0])))}")
        path = f"{root}/{name}" if is_url(root) else os.path.join(root, *parts)
        submissions.append(Submission(team, parts[-1], path, size))
    return submissions


def _of_manifest(source: str) -> list[Submission]:
    keys = ["team", "path"]
    table = read_named(source, keys, keys, MANIFEST_COLUMNS)
    names = [f"{number + 1}: {team}" for number, team in enumerate(table["team"])]
    columns = {"team": names, "score": table.get("public_score"), "submitted_at": table.get("submitted_at")}
    with errors_of_boost(source, score="public_score") as boost:  # before any work
        boost.parse(pd.DataFrame(columns))
    base = source.rpartition("/")[0] if is_url(source) else os.path.dirname(absolute(source))

    def place_of(path: str) -> str:
        if is_url(path):
            return path
        return f"{base}/{path}" if is_url(base) else os.path.join(base, path)

    submissions = []
    for row in table.to_dict("records"):
        path = place_of(str(row["path"]))
        given = {name: str(row.get(name) or "") for name in ("submitted_at", "public_score")}
        name = str(row.get("submission") or path.replace("\\", "/").rpartition("/")[2])
        size = 0 if is_url(path) or not os.path.isfile(path) else os.path.getsize(path)
        side = place_of(str(row["side"])) if row.get("side") else ""
        submissions.append(Submission(str(row["team"]), name, path, size, **given, side=side))
    check_unique([f"{each.team}/{each.name}" for each in submissions], source)
    return submissions


@contextmanager
def errors_of_boost(board: str = "the leaderboard", **columns: str) -> Iterator[Any]:
    """boost.py, whose errors become the host's, with his names of board and columns."""
    boost = hosted.module("boost")
    try:
        yield boost
    except boost.LeaderboardError as problem:
        column, colon, text = str(problem).replace("the leaderboard", board).partition(":")
        raise HostError(columns.get(column, column) + colon + text) from None


def read_named(source: str, required: list[str], filled: list[str], text: set[str]) -> pd.DataFrame:
    """A table of the host, with required columns and some, if there, without an empty cell."""
    table = read_table(source, text, HostError)
    for column in required:
        if column not in table:
            raise HostError(f"{source} lacks the column {column}; it has {', '.join(map(str, table.columns))}")
    for column in filled:
        if column in table and table[column].isna().any():
            row = int(table[column].isna().to_numpy().argmax()) + 1
            raise HostError(f"{source} has no {column} in row number {row}")
    return table.astype(object).where(table.notna(), None)


def check_unique(names: Iterable[str], source: str) -> None:
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise HostError(f"{source} has several rows for {listed(repeated)}")


def absolute(path: str | os.PathLike[str]) -> str:
    """A path that means the same in every folder; a URL as it is."""
    return str(path) if is_url(path) else os.path.abspath(path)
