"""The files that are ranked: those in a folder or in a manifest."""

import glob
import os
import re
import tempfile
import warnings
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium.common.errors import HostError, UsageError
from podium.common.options import as_option
from podium.common.wording import listed
from podium.metric import hosted
from podium.ranking import team_names
from podium.ranking.rules import Options
from podium.tables import archives, names
from podium.tables.files import (
    GZIP,
    TABLE_SUFFIXES,
    Location,
    is_table_name,
    is_url,
    open_regular,
    refuse_url,
)
from podium.tables.schema import REMARK, TEXT, TIME, Cells, Table, number, one_of

PATH = Cells("a path on this machine (download it first)", lambda cells: ~cells.map(str).map(is_url))
MANIFEST = Table(
    what="a folder of submissions, or a manifest",
    team=TEXT,
    path=PATH,
    submission=TEXT.optional,
    submitted_at=TIME.optional,
    public_score=number("a number").optional._replace(is_text=True),
    side=PATH.optional,
    selected=one_of("yes").optional,
)
LISTED = Table(key=["team", "submission"], team=TEXT, submission=TEXT)
SAID = REMARK._replace(is_filled=False)  # by podium run of a model, in the model's own words
FAILED = Table(team=TEXT, model=SAID, reason=SAID)
NOTHING_FAILED = pd.DataFrame(columns=[*FAILED.columns])
# Files with these endings lie in folders and are not submissions to any metric. Workbooks and archives are not
# among them. A participant may have taken one for a submission, and its rejection says what to do.
NO_TABLES = frozenset(
    {
        ".bak", ".db", ".doc", ".docx", ".gif", ".htm", ".html", ".ini", ".ipynb", ".jpeg", ".jpg", ".lnk",
        ".log", ".md", ".odt", ".part", ".pdf", ".png", ".py", ".rst", ".sh", ".svg", ".tmp", ".yaml", ".yml",
    }
)  # fmt: skip
# An empty folder, such as A/submission.csv/, that has the name of a submission.
EMPTY_SUBMISSION = re.compile(rf"[^/]+/[^/]+({'|'.join(map(re.escape, TABLE_SUFFIXES))})/", re.IGNORECASE)
MOST_FILES = 100_000  # in what a team has sent: a stranger's record could name the whole disk
SHORT = 2**10  # bytes that tell a list from an object
NO_TABLES_BY_NAME = frozenset({"license", "readme", "sha256sums"})


class Submission(NamedTuple):
    """A file to score. Texts are "" if nothing is known."""

    team: str  # the name of the team
    name: str  # the name of the file among the files of the team
    path: str  # an absolute path
    size: int = 0  # the size of the file in bytes, or 0 if it is not known
    submitted_at: str = ""  # the time of submission, as a manifest has it
    public_score: str = ""  # the Public score, as a manifest has it
    selected: str = ""  # "yes" if it is one of those that the team selected, as a manifest has it
    side: str = ""  # the path of the host's file beside it, see `podium.contest.reading.add_side`
    files: tuple[str, ...] = ()  # the documents below the path, if it is a folder of them
    is_missing: bool = False  # whether a manifest names it and it is not there, so that it is rejected
    # The hashes of what was scored, see `podium.ranking.job.digests_of`. They are compared if the file is read
    # again.
    digests: str = ""


@contextmanager
def unzipped(source: Location) -> Iterator[str | None]:
    """Unpack a zip, or all zips that a pattern such as "downloads/*.zip" names, into a temporary folder.

    What is no zip stays where it is.
    """
    zips = zips_at(source)
    if not zips:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in zips:
            left_out = archives.unpack(path, Path(folder), MOST_FILES)
            if told := [f"{names.shown(name)} ({reason})" for name, reason in left_out.items()]:
                warnings.warn(f"{path}: left out: {listed(told)}", stacklevel=3)
        yield folder


def zips_at(source: Location) -> list[Path]:
    """The zips that stand for a folder; none if it is a folder."""
    text = str(source)
    if not text.lower().endswith(".zip") or is_url(source):
        return []
    if os.path.isfile(text):
        return [Path(text)]
    return [Path(path) for path in sorted(glob.glob(text)) if os.path.isfile(path)]


def find_for(options: Options, documents: Iterable[str], place: str | None) -> list[Submission]:
    """Find the submissions of a board."""
    inputs = options.paths.values()
    return find(options.submissions, options.side, documents, options.team_from, place, inputs)


def find(
    source: Location,
    side: Location | None = None,
    documents: Iterable[str] = (),
    team_from: str = "",
    place: str | None = None,
    inputs: Iterable[Location | None] = (),
) -> list[Submission]:
    """Find the submissions in a folder, which may be `unzipped` at another place, or in a manifest.

    A manifest has the columns ``team`` and ``path``. It may have ``submission``, ``submitted_at``,
    ``public_score``, ``selected`` and ``side``, too. Its paths are relative to the folder in which it is.

    What the system leaves in folders, what is no table by its name, and what is one of the other `inputs`, such
    as the solution in the same folder, is left out with a warning. A folder
    of files with an ending of ``documents`` can be one submission; see `_parts_of`.

    A name at the top of a folder is that of a team, unless `team_from` says where in it the team stands.
    """
    manifest, source, endings = source, os.fspath(source), tuple(documents)
    if is_manifest(source):
        if team_from:
            raise UsageError(
                f"{as_option('team_from')} is for a folder, and the manifest {source} names its teams"
            )
        submissions = _of_manifest(manifest, endings)
    else:
        others = {os.path.realpath(each) for each in inputs if each is not None}
        submissions = _with_teams(_of_files(source, *_listed(place or source), endings, others), team_from)
    if not submissions:
        raise UsageError(f"there are no submissions in {source}")
    names.check_names((each.team for each in submissions), "team", source)
    of_team: dict[str, list[str]] = {}
    for each in submissions:
        of_team.setdefault(each.team, []).append(each.name)
    for files in of_team.values():
        names.check_names(files, "file", source)
    if side is not None:
        submissions = _with_sides(submissions, os.fspath(side))
    return sorted(submissions, key=lambda each: (each.team, each.name))


def is_manifest(source: Location) -> bool:
    """Tell a manifest from a folder."""
    return str(source).lower().endswith(TABLE_SUFFIXES) and not Path(source).is_dir()


def _with_teams(submissions: list[Submission], team_from: str) -> list[Submission]:
    """Take teams out of the names in a folder; without a pattern, tell if one would part them."""
    if not team_from:
        if told := team_names.proposal(sorted({each.team for each in submissions})):
            warnings.warn(told, stacklevel=3)
        return submissions
    pattern = team_names.pattern_of(team_from)
    sent = []
    for each in submissions:
        found, stem = team_names.named(pattern, each.team), names.without_ending(each.name)
        is_file = stem == each.team and bool(found.submission)
        name = found.submission + each.name[len(stem) :] if is_file else each.name
        sent.append(each._replace(team=found.team, name=name, submitted_at=found.submitted_at))
    times = Counter((each.team, each.name) for each in sent)
    return [
        each if times[each.team, each.name] == 1 else each._replace(name=_below(before))
        for each, before in zip(sent, submissions)
    ]


def _below(sent: Submission) -> str:
    """The whole name of a file below the folder that was read."""
    return sent.name if names.without_ending(sent.name) == sent.team else f"{sent.team}/{sent.name}"


def _with_sides(submissions: list[Submission], folder: str) -> list[Submission]:
    """Add the paths of the host's files to submissions."""
    if any(each.side for each in submissions):
        raise UsageError(f"{as_option('side', folder)}: expected a manifest without the column side")
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
        raise UsageError(
            f"{as_option('side', folder)}: expected a file for every submission, found no {listed(lacking)}"
        )
    return [each._replace(side=path) for each, path in zip(submissions, paths)]


def _listed(source: str, is_of_one: bool = False) -> tuple[str, list[tuple[str, int]]]:
    """List a folder, which one team may have sent: its root, and the relative name and the size of each file.

    A folder in which nothing is looked for is listed with a slash at the end of its name.
    """
    refuse_url(source)
    if Path(source).is_file():
        raise UsageError(f"{source}: expected a folder, found a file")
    if not Path(source).is_dir():
        raise UsageError(f"there is no folder {source}")
    root, files, folders, found = absolute(source), [], [""], Counter[str]()
    while folders:
        folder = folders.pop()
        home = "" if is_of_one else folder.partition("/")[0]
        try:
            entries = list(os.scandir(os.path.join(root, folder))) if found[home] <= MOST_FILES else None
        except OSError as problem:
            if not folder:
                raise UsageError(f"cannot list {source}: {problem.strerror or problem}") from None
            entries = None
        if entries is None:  # it is closed to the user, lies too deep, or its team has too many files already
            files.append((folder.rstrip("/"), 0))
            continue
        found[home] += len(entries)
        if folder and not entries:
            files.append((folder, 0))
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
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


def _is_of_system(name: str) -> bool:
    """Tell whether a file, or a folder on the way to it, is one that a system or a program leaves."""
    *folders, last = name.split("/")
    return any(names.is_of_system(each, is_folder=True) for each in folders) or names.is_of_system(last)


def _is_no_submission(name: str) -> bool:
    """Tell by its name whether something is nobody's submission: a folder, of the system, or no table."""
    if _is_of_system(name) or name.endswith("/"):
        return not EMPTY_SUBMISSION.fullmatch(name)
    lower = name.rpartition("/")[2].lower()
    if lower.startswith("~$") or lower.endswith("~"):  # Excel's mark of an open file, and a copy by an editor
        return True
    return lower.removesuffix(".txt") in NO_TABLES_BY_NAME or Path(lower).suffix in NO_TABLES


def _is_among(inputs: Container[str], root: str, name: str) -> bool:
    """Tell whether a file, or a folder on the way to it, is one of some inputs."""
    paths = [_joined(root, name), *(_joined(root, str(each)) for each in Path(name).parents[:-1])]
    return any(os.path.realpath(path) in inputs for path in paths)


Sizes = Mapping[str, int]  # the sizes of the files below a path, by their names; that of the path itself is ""


def _of_files(
    source: str,
    root: str,
    files: Iterable[tuple[str, int]],
    documents: tuple[str, ...],
    inputs: Container[str] = frozenset(),
) -> list[Submission]:
    """Pick the submissions among the files that `_listed` lists."""
    homes: dict[str, dict[str, int]] = {}  # what lies at each name at the top, as `Sizes`
    left_out = []
    for name, size in files:
        if _is_no_submission(name) or _is_among(inputs, root, name):
            left_out.append(name)
        else:
            home, _, below = name.partition("/")
            homes.setdefault(home, {})[below] = size
    submissions: list[Submission] = []
    home_of: dict[str, str] = {}
    for home, inside in homes.items():
        team = names.without_ending(home) if "" in inside else home
        if home_of.setdefault(team, home) != home:
            both = " and ".join(sorted((home_of[team], home)))
            raise HostError(f"team {team}: expected one file or one folder, found {both}")
        path = _joined(root, home)
        for name, part in _parts_of(path, inside, documents).items():
            sent = _submission(team, name or home, _joined(path, name), part, documents)
            submissions.append(sent)
            left_out += ["/".join(filter(None, (home, name, each))) for each in _passed_by(sent, part)]
    _tell_left_out(source, left_out, {*homes})
    return submissions


def _joined(path: str, name: str) -> str:
    """A path with a name below it."""
    return os.path.join(path, *name.split("/")) if name else path


def _parts_of(path: str, inside: Sizes, documents: tuple[str, ...]) -> dict[str, Sizes]:
    """Divide what a team has sent into submissions, by their names; the name of the whole is "".

    Each file and each folder in the folder of a team is a submission, unless all of it is one folder of
    documents. Two of its folders with a document of the same name are two submissions.
    """
    parts: dict[str, dict[str, int]] = {}
    for name, size in inside.items():
        first, _, rest = name.partition("/")
        parts.setdefault(first, {})[rest] = size
    rests = [rest for part in parts.values() for rest in part if rest.lower().endswith(documents)]
    is_one = len(rests) == len({*rests}) and _documents_among(path, inside, documents)
    return {"": inside} if is_one or "" in inside else {**parts}


def _submission(team: str, name: str, path: str, files: Sizes, documents: tuple[str, ...]) -> Submission:
    """The submission at a path: a file, a folder of documents, or a folder that says so when it is read."""
    if [*files] == [""]:
        return Submission(team, name, path, files[""])
    if ours := _documents_among(path, files, documents):
        return Submission(team, name, path, sum(files[each] for each in ours), files=ours)
    return Submission(team, name, f"{path}/")


def _passed_by(sent: Submission, files: Sizes) -> set[str]:
    """What lies beside the documents in a folder that is a submission."""
    return {*files} - {*sent.files} if sent.files else set()


def _documents_among(path: str, files: Sizes, documents: tuple[str, ...]) -> tuple[str, ...]:
    """The files that are documents of one submission, if there is no table and no list among them.

    A list in JSON is the export of a tool with all documents. The first document stands for the others.
    """
    visible = [name for name in files if not f"/{name}".count("/.") and not _is_of_system(name)]
    ours = tuple(sorted(name for name in visible if name.lower().endswith(documents)))
    if not ours or any(map(is_table_name, visible)) or _is_list(_joined(path, ours[0])):
        return ()
    return ours


def _is_list(path: str) -> bool:
    """Tell whether a file, which may be packed by gzip, begins like a list in JSON."""
    try:
        with open_regular(path, follow_links=False) as file:
            start = file.read(SHORT)
        if start.startswith(GZIP):
            start = zlib.decompressobj(31).decompress(start, SHORT)
    except Exception:  # whoever reads the file says what is wrong
        return False
    return bool(start.removeprefix(BOM_UTF8).lstrip().startswith(b"["))


def _tell_left_out(source: str, left_out: Iterable[str], homes: Iterable[str] = ()) -> None:
    """Warn of what is no submission, and of teams that have nothing else, so that no entry vanishes."""
    tops = {name.partition("/")[0] for name in left_out if "/" in name} - {*homes}
    teams = sorted(team for team in tops if homes and not names.is_of_system(team, is_folder=True))
    if teams:
        warnings.warn(
            f"{source}: teams without any submission: {listed([*map(names.shown, teams)])}", stacklevel=3
        )
    if files := {name.rstrip("/") for name in left_out} - {*teams}:
        warnings.warn(names.left_out(files, source, "submissions"), stacklevel=3)


def _of_manifest(manifest: Location, documents: tuple[str, ...]) -> list[Submission]:
    table, source = MANIFEST.read(manifest), os.fspath(manifest)
    base = os.path.dirname(absolute(source))
    submissions, left_out = [], list[str]()
    for row in table.to_dict("records"):
        path = _located(base, str(row["path"]))
        at, score, selected = (
            str(row.get(name) or "") for name in ("submitted_at", "public_score", "selected")
        )
        name = str(row.get("submission") or path.replace("\\", "/").rpartition("/")[2])
        side = _located(base, str(row["side"])) if row.get("side") else ""
        files = _files_at(path)
        sent = _submission(str(row["team"]), name, path, files, documents)
        left_out += [f"{row['path']}/{other}" for other in _passed_by(sent, files)]
        sent = sent._replace(submitted_at=at, public_score=score, selected=selected, side=side)
        submissions.append(sent._replace(is_missing=_is_missing(path)))
    LISTED.checked(pd.DataFrame([each[:2] for each in submissions], columns=LISTED.key), source)
    _tell_left_out(source, left_out)
    if missing := [names.shown(f"{each.team}/{each.name}") for each in submissions if each.is_missing]:
        warnings.warn(f"{source}: these files are not there and are rejected: {listed(missing)}", stacklevel=3)
    return submissions


def _located(base: str, path: str) -> str:
    """The place of a path in a manifest, which may be written with the backslashes of Windows."""
    place = os.path.join(base, path)
    plain = os.path.join(base, path.replace("\\", "/"))
    return plain if _is_missing(place) and not _is_missing(plain) else place


def _is_missing(path: str) -> bool:
    """Tell whether nothing is at a path; what only this user cannot see is not missing."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _files_at(path: str) -> Sizes:
    """What lies at a path in a manifest."""
    if os.path.islink(path) or not os.path.isdir(path):
        return {"": os.path.getsize(path) if os.path.isfile(path) else 0}
    return dict(_listed(path, is_of_one=True)[1])


def read_failed(source: Location, submissions: Iterable[Submission]) -> pd.DataFrame:
    """Read the models that failed, as `podium run` lists them in failed.csv."""
    table = FAILED.read(source).fillna("")
    names.check_names(table["team"], "team", str(source))
    nearly = names.near_misses(((team,) for team in table["team"]), ((each.team,) for each in submissions))
    if nearly:
        raise HostError(f"the failed models: expected exactly the names of the teams, found {listed(nearly)}")
    return table


@contextmanager
def errors_of_boost() -> Iterator[Any]:
    """Use boost.py, and turn its errors into errors of the host."""
    boost = hosted.module("boost")
    try:
        yield boost
    except boost.LeaderboardError as problem:
        raise HostError(str(problem)) from None


def absolute(path: Location) -> str:
    """Make a path absolute, so that it means the same in every working folder."""
    refuse_url(path)
    return os.path.abspath(path)
