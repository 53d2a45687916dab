"""Which files are ranked: those of a folder, of a URL, or of a manifest."""

import os
import posixpath
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from podium import hosted
from podium.errors import HostError, UsageError
from podium.files import is_url, read_table
from podium.wording import listed

__all__ = ["MANIFEST_COLUMNS", "Submission", "absolute", "find", "read_named", "team_of"]

MANIFEST_COLUMNS = {"team", "submission", "path", "submitted_at", "public_score", "side"}


class Submission(NamedTuple):
    """A file to score.

    Attributes
    ----------
    team : name of the team
    name : name of the file within the team's folder, or the file itself
    path : where it is: absolute, or a URL
    size : bytes, 0 where unknown
    submitted_at, public_score : text, as a manifest has them; "" where unknown
    side : where the host's file beside it is (`podium.scoring.add_side`), as `path`; "" where there is none
    """

    team: str
    name: str
    path: str
    size: int = 0
    submitted_at: str = ""
    public_score: str = ""
    side: str = ""


def find(source: str) -> list[Submission]:
    """The submissions of a folder or URL (a file per team, or a folder per team), or of a manifest.

    A manifest is a CSV with the columns team and path (relative to the manifest, or a URL) and, as far as
    known, submission (else the file's name), submitted_at, public_score and side (a path, too).  Hidden files
    are left out.

    Raises
    ------
    UsageError
        There is no such folder or nothing in it.
    HostError
        A team occurs as file and folder, a folder is too deep, or the manifest is wrong.
    """
    if str(source).endswith((".csv", ".csv.gz", ".parquet")) and not Path(source).is_dir():
        submissions = _of_manifest(str(source))
    else:
        submissions = _of_files(source, *_listed(source))
    if not submissions:
        raise UsageError(f"there are no submissions in {source}")
    return sorted(submissions, key=lambda submission: (submission.team, submission.name))


def _listed(source: str) -> tuple[str, list[tuple[str, int]]]:
    """Where the files are, and each one's relative name and size."""
    if is_url(source):
        import fsspec

        try:
            system, root = fsspec.core.url_to_fs(source)
            found = system.find(root, detail=True)
        except Exception as problem:  # every client has exceptions of its own
            raise UsageError(f"cannot list {source}: {type(problem).__name__}: {problem}") from None
        files = [(posixpath.relpath(name, root), int(about.get("size") or 0)) for name, about in found.items()]
        return source.rstrip("/"), files
    if not Path(source).is_dir():
        raise UsageError(f"there is no folder {source}")
    root, files = absolute(source), []
    folders = [""]
    while folders:
        folder = folders.pop()
        entries = list(os.scandir(os.path.join(root, folder)))
        if folder and not entries:
            warnings.warn(f"the folder of team {folder.rstrip('/')} is empty", stacklevel=2)
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                folders.append(f"{folder}{entry.name}/")
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
        team = parts[0] if len(parts) == 2 else team_of(name)
        if homes.setdefault(team, parts[0]) != parts[0]:
            raise HostError(f"team {team} has two places: {' and '.join(sorted((homes[team], parts[0])))}")
        path = f"{root}/{name}" if is_url(root) else os.path.join(root, *parts)
        submissions.append(Submission(team, parts[-1], path, size))
    return submissions


def _of_manifest(source: str) -> list[Submission]:
    table = read_named(source, ["team", "path"], MANIFEST_COLUMNS)
    _check_times_and_scores(table, source)
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
    _check_unique([f"{each.team}/{each.name}" for each in submissions], source)
    return submissions


def _check_times_and_scores(table: pd.DataFrame, source: str) -> None:
    """Before any work, by the parser of the board."""
    boost = hosted.module("boost")
    names = [f"{number + 1}: {team}" for number, team in enumerate(table["team"])]
    columns = {"team": names, "score": table.get("public_score"), "submitted_at": table.get("submitted_at")}
    try:
        boost.parse(pd.DataFrame(columns))
    except boost.LeaderboardError as problem:
        text = str(problem).replace("the leaderboard", source)
        raise HostError(f"public_{text}" if text.startswith("score") else text) from None


def read_named(source: str, required: list[str], text: set[str]) -> pd.DataFrame:
    """A table of the host with some required columns, none of whose cells are empty; missing text is None.

    Raises
    ------
    HostError
    """
    table = read_table(source, text, HostError)
    for column in required:
        if column not in table:
            raise HostError(f"{source} lacks the column {column}; it has {', '.join(map(str, table.columns))}")
        absent = table[column].isna()
        if absent.any():
            raise HostError(f"{source} has no {column} in row number {int(absent.to_numpy().argmax()) + 1}")
    return table.astype(object).where(table.notna(), None)


def _check_unique(names: list[str], source: str) -> None:
    repeated = pd.Series(names)[pd.Series(names).duplicated()].unique()
    if len(repeated):
        raise HostError(f"{source} has several rows for {listed(sorted(repeated))}")


def absolute(path: str | os.PathLike[str]) -> str:
    """A path that means the same in every folder; a URL as it is."""
    return str(path) if is_url(path) else os.path.abspath(path)


def team_of(name: str) -> str:
    """The team whose only file has a name.

    >>> team_of("Red Pen.csv.gz")
    'Red Pen'
    """
    return Path(name.removesuffix(".gz")).stem
