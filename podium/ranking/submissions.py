"""The files that are ranked: those in a folder, at a URL, or in a manifest."""

import os
import posixpath
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium.metric import hosted
from podium.tables import names
from podium.tables.files import TABLE_SUFFIXES, check_address, is_url
from podium.tables.schema import REMARK, TEXT, TIME, Table, number, one_of
from podium.words.errors import HostError, UsageError
from podium.words.wording import listed

__all__ = [
    "Submission", "absolute", "errors_of_boost", "find", "is_manifest", "read_failed",
]  # fmt: skip

MANIFEST = Table(
    team=TEXT,
    path=TEXT,
    submission=TEXT.optional,
    submitted_at=TIME.optional,
    public_score=number("a number").optional._replace(is_text=True),
    side=TEXT.optional,
    selected=one_of("yes").optional,
)
LISTED = Table(key=["team", "submission"], team=TEXT, submission=TEXT)
SAID = REMARK._replace(is_filled=False)  # by podium run of a model, in the model's own words
FAILED = Table(team=TEXT, model=SAID, reason=SAID)
# Files with these endings lie in folders and are not submissions to any metric.  Workbooks and archives are not
# among them.  A participant may have taken one for a submission, and its rejection says what to do.
NO_TABLES = frozenset(
    {
        ".bak", ".db", ".doc", ".docx", ".gif", ".htm", ".html", ".ini", ".ipynb", ".jpeg", ".jpg", ".lnk",
        ".log", ".md", ".odt", ".part", ".pdf", ".png", ".py", ".rst", ".sh", ".svg", ".tmp", ".yaml", ".yml",
    }
)  # fmt: skip
NO_TABLES_BY_NAME = frozenset({"license", "readme", "sha256sums"})


class Submission(NamedTuple):
    """A file to score.  Texts are "" if nothing is known."""

    team: str  # the name of the team
    name: str  # the name of the file among the files of the team
    path: str  # an absolute path or a URL
    size: int = 0  # the size of the file in bytes, or 0 if it is not known
    submitted_at: str = ""  # the time of submission, as a manifest has it
    public_score: str = ""  # the Public score, as a manifest has it
    selected: str = ""  # "yes" if it is one of those that the team selected, as a manifest has it
    account: str = ""  # the team that sent the file, if a jury has found that it is another one, too
    side: str = ""  # the path of the host's file beside it, see `podium.contest.reading.add_side`
    # The hashes of what was scored, see `podium.ranking.job.digests_of`. They are compared if the file is read
    # again.
    digests: str = ""


def find(source: str, side: str | None = None) -> list[Submission]:
    """Find the submissions in a folder, at a URL, or in a manifest.

    A manifest has the columns ``team`` and ``path``.  It may have ``submission``, ``submitted_at``,
    ``public_score``, ``selected`` and ``side``, too.  Its paths are relative to the folder in which it is.

    What the system leaves in folders, and what is no table by its name, is left out with a warning.
    """
    submissions = _of_manifest(source) if is_manifest(source) else _of_files(source, *_listed(source))
    if not submissions:
        raise UsageError(f"there are no submissions in {source}")
    names.check_names((each.team for each in submissions), "team", source)
    of_team: dict[str, list[str]] = {}
    for each in submissions:
        of_team.setdefault(each.team, []).append(each.name)
    for files in of_team.values():
        names.check_names(files, "file", source)
    if side is not None:
        submissions = _with_sides(submissions, side)
    return sorted(submissions, key=lambda each: (each.team, each.name))


def is_manifest(source: str) -> bool:
    """Tell a manifest from a folder."""
    return source.lower().endswith(TABLE_SUFFIXES) and not Path(source).is_dir()


def _with_sides(submissions: list[Submission], folder: str) -> list[Submission]:
    """Add the paths of the host's files to submissions."""
    if any(each.side for each in submissions):
        raise UsageError(f"--side {folder}: expected a manifest without the column side")
    root, files = _listed(folder)
    present = {name for name, _ in files}
    files_of_team = Counter(each.team for each in submissions)
    paths, lacking = [], []
    for each in submissions:
        stems = [f"{each.team}/{names.without_ending(each.name)}"]
        if files_of_team[each.team] == 1:
            stems.insert(0, each.team)
        candidates = [stem + suffix for stem in stems for suffix in TABLE_SUFFIXES]
        paths.append(next((f"{root}/{name}" for name in candidates if name in present), ""))
        lacking += [] if paths[-1] else [candidates[0]]
    if lacking:
        raise UsageError(f"--side {folder}: expected a file for every submission, found no {listed(lacking)}")
    return [each._replace(side=path) for each, path in zip(submissions, paths)]


def _listed(source: str) -> tuple[str, list[tuple[str, int]]]:
    """List a folder: its root, and the relative name and the size of each file.

    A folder in which nothing is looked for is listed with a slash at the end of its name.
    """
    if is_url(source):
        import fsspec

        check_address(source)
        try:
            system, root = fsspec.core.url_to_fs(source)
            about_files = system.find(root, detail=True)
        except Exception as problem:  # every client has exceptions of its own
            raise UsageError(f"cannot list {source}: {type(problem).__name__}: {problem}") from None
        sizes = {
            posixpath.relpath(name, root): int(about.get("size") or 0) for name, about in about_files.items()
        }
        return source.rstrip("/"), list(sizes.items())
    if not Path(source).is_dir():
        raise UsageError(f"there is no folder {source}")
    root, files, folders = absolute(source), [], [""]
    while folders:
        folder = folders.pop()
        entries = list(os.scandir(os.path.join(root, folder)))
        if folder and not entries:
            files.append((folder, 0))
        for entry in entries:
            is_file_s = folder and names.without_ending(entry.name) != entry.name  # such as A/submission.csv
            if not entry.is_dir(follow_symlinks=False) or is_file_s:
                # What is no file is listed, too, and says so when it is read. A link could lead anywhere.
                files.append((folder + entry.name, _size_of(entry)))
            elif names.is_of_system(entry.name, is_folder=True):
                files.append((f"{folder}{entry.name}/", 0))
            else:
                folders.append(f"{folder}{entry.name}/")
    return root, files


def _size_of(entry: "os.DirEntry[str]") -> int:
    """The size of a file in bytes; 0 for what is none, such as a link that points at itself."""
    try:
        return entry.stat().st_size if entry.is_file() else 0
    except OSError:
        return 0


def _is_no_table(name: str) -> bool:
    """Tell by its name whether a file is one that no team would submit."""
    lower = name.lower()
    if lower.startswith("~$") or lower.endswith("~"):  # Excel's mark of an open file, and a copy by an editor
        return True
    return lower in NO_TABLES_BY_NAME or Path(lower).suffix in NO_TABLES


def _of_files(source: str, root: str, files: Iterable[tuple[str, int]]) -> list[Submission]:
    """Pick the submissions among the files that `_listed` lists."""
    submissions: list[Submission] = []
    homes: dict[str, str] = {}
    no_tables, of_system, empty = [], [], []
    for name, size in files:
        *folders, last = parts = name.split("/")
        if any(names.is_of_system(each, is_folder=True) for each in folders) or names.is_of_system(last):
            of_system.append(name)
            continue
        if not last:
            empty.append(name)
            continue
        if _is_no_table(parts[-1]):
            no_tables.append(name)
            continue
        if len(parts) > 2:
            raise HostError(f"{source}: expected files, or a folder per team with files, found {name}")
        team = parts[0] if len(parts) == 2 else names.without_ending(name)
        if homes.setdefault(team, parts[0]) != parts[0]:
            both = " and ".join(sorted((homes[team], parts[0])))
            raise HostError(f"team {team}: expected one file or one folder, found {both}")
        path = f"{root}/{name}" if is_url(root) else os.path.join(root, *parts)
        submissions.append(Submission(team, parts[-1], path, size))
    _tell_left_out(source, no_tables, of_system, empty, {*homes.values()})
    return submissions


def _tell_left_out(
    source: str, no_tables: list[str], of_system: list[str], empty: list[str], homes: set[str]
) -> None:
    """Warn of what is no submission, and of teams that have nothing else, so that no entry vanishes."""
    tops = {name.partition("/")[0] for name in (*no_tables, *of_system, *empty) if "/" in name}
    for team in sorted(team for team in tops - homes if not names.is_of_system(team, is_folder=True)):
        warnings.warn(f"the folder of team {names.shown(team)} has no submission", stacklevel=3)
    if of_system:
        warnings.warn(names.left_out(sorted(of_system), source), stacklevel=3)
    if within := [name for name in sorted(empty) if name.count("/") > 1]:
        folders = listed([names.shown(name.rstrip("/")) for name in within])
        warnings.warn(f"{source}: these folders are empty: {folders}", stacklevel=3)
    if no_tables:
        files_left_out = listed([names.shown(name) for name in sorted(no_tables)])
        warnings.warn(f"{source}: these files are not tables and are left out: {files_left_out}", stacklevel=3)


def _of_manifest(source: str) -> list[Submission]:
    """Read the submissions that a manifest lists."""
    table = MANIFEST.read(source)
    base = source.rpartition("/")[0] if is_url(source) else os.path.dirname(absolute(source))

    def resolved(path: str) -> str:
        """A path or URL that is not relative to the manifest any more."""
        if is_url(path):
            return path
        return f"{base}/{path}" if is_url(base) else os.path.join(base, path)

    submissions = []
    for row in table.to_dict("records"):
        path = resolved(str(row["path"]))
        given = {name: str(row.get(name) or "") for name in ("submitted_at", "public_score", "selected")}
        name = str(row.get("submission") or path.replace("\\", "/").rpartition("/")[2])
        size = 0 if is_url(path) or not os.path.isfile(path) else os.path.getsize(path)
        side = resolved(str(row["side"])) if row.get("side") else ""
        submissions.append(Submission(str(row["team"]), name, path, size, **given, side=side))
    LISTED.checked(pd.DataFrame([each[:2] for each in submissions], columns=LISTED.key), source)
    return submissions


def read_failed(source: str | None) -> pd.DataFrame:
    """Read the models that failed, as `podium run` lists them in failed.csv; without a file there are none."""
    if source is None:
        return pd.DataFrame(columns=[*FAILED.columns])
    table = FAILED.read(source).fillna("")
    names.check_names(table["team"], "team", source)
    return table


@contextmanager
def errors_of_boost(board: str = "the leaderboard", **columns: str) -> Iterator[Any]:
    """Use boost.py, and turn its errors into errors of the host."""
    boost = hosted.module("boost")
    try:
        yield boost
    except boost.LeaderboardError as problem:
        words = {boost.LEADERBOARD: board, **columns}
        raise HostError(problem.told(words.get(problem.what, problem.what), board)) from None


def absolute(path: str | os.PathLike[str]) -> str:
    """Make a path absolute, so that it means the same in every working folder."""
    return str(path) if is_url(path) else os.path.abspath(path)
