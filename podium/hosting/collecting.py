"""Collect the submissions of a closed competition from what its site gives to the host.

    entries = of_codabench(…) or of_evalai(…)    every row and file of the export, with why it is not taken
    collected = write(entries, out)              out/submissions/…, out/manifest.csv, out/collected.csv

Archives and tables are strangers' files.  No path in them is used for writing: a file goes into a folder that
is named by the number of its submission.
"""

import functools
import io
import re
import shutil
import stat
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pandas as pd

from podium.hosting.bundles import judge
from podium.hosting.folders import new_folder
from podium.metric.contract import Progress
from podium.tables import names
from podium.tables.files import MOST_BYTES, read_bytes
from podium.tables.formats import read_table, read_texts, table_bytes
from podium.words.errors import HostError, ToolError, UsageError
from podium.words.wording import counted, listed, printable

SITES = ("codabench", "evalai", "kaggle")
MANIFEST, COLLECTED, LEADERBOARD = "manifest.csv", "collected.csv", "leaderboard.csv"
SUBMISSIONS = "submissions"
TAKEN = "taken"
MOST_MEMBERS = 1_000  # of the archive of one submission
TRIES, SECONDS = 3, 60.0  # for the download of one file

# Codabench names an entry {id}_{owner}_PhaseId{phase}_{date}:{minute}-{second}_{file}; browsers write _ for the
# colon.  An owner may have underscores, and may even be called PhaseId8, so the last place that fits counts.
ENTRY = re.compile(
    r"(?P<id>\d+)_(?P<team>.*)_PhaseId(?P<phase>\d+)_(?P<day>\d{4}-\d\d-\d\d)[:_]\d\d-\d\d_.*", re.DOTALL
)
FAILED = re.compile(r"(?m)^(\d+)_.* \((.*)\)\s*$")
TABLE_OF_CODABENCH = ("Submission ID", "Owner", "Created When", "Status", "Phase")
TABLE_OF_EVALAI = ("id", "Team Name", "Challenge Phase", "Status", "Submitted File", "Submitted At")


class Entry(NamedTuple):
    """A submission as its site lists it."""

    number: str  # the site's number of the submission, which names its folder
    source: str  # its name in the export
    team: str
    submitted_at: str = ""
    phase: str = ""
    reason: str = ""  # why it is not taken; empty if it is
    read: Callable[[], tuple[str, bytes]] | None = None  # the name and the content of its file


class LeftOut(Exception):
    """An entry is left out; the text is the reason."""


class Collected(NamedTuple):
    """What `collect` found."""

    manifest: pd.DataFrame  # the files that were taken, as `podium.rank` reads them
    entries: pd.DataFrame  # every row and file of the export, and what became of it

    def __repr__(self) -> str:
        teams = counted(self.manifest["team"].nunique(), "team") if len(self.manifest) else "no team"
        left = len(self.entries) - len(self.manifest)
        return f"{counted(len(self.manifest), 'file')} of {teams}" + (f", {left:,} left out" if left else "")


def collect(
    site: str,
    *exports: str | Path,
    out: str | Path,
    phase: str | None = None,
    files: str | Path | None = None,
    progress: Progress | None = None,
) -> Collected:
    """Collect the submissions of a closed competition into a folder with a manifest for `podium.rank`.

    Parameters
    ----------
    site : {"codabench", "evalai", "kaggle"}
        The platform.
    *exports : str or Path
        For Codabench ``bulk_submissions.zip`` or the folder into which it was unpacked and, if there is one,
        the table of submissions. For EvalAI the table of all submissions of a phase. For Kaggle the name of the
        competition, whose leaderboard is fetched.
    out : str or Path
        The folder to write: ``submissions/``, ``manifest.csv`` and ``collected.csv``. If it is there already,
        only what is new is taken.
    phase : str, optional
        The name or the number of the phase. Exports of several phases need it.
    files : str or Path, optional
        For EvalAI, a folder with the downloaded files. Without it they are fetched over https.
    progress : function, optional
        It is called with the number of entries that are done and their number.

    Returns
    -------
    Collected
        The ``manifest`` and all ``entries`` (tables).

    Raises
    ------
    podium.words.errors.UsageError
        An export is not there or is none of this site, or a phase has to be chosen.
    podium.words.errors.HostError
        A table of the export is damaged.

    Examples
    --------
    >>> exports = "bulk_submissions.zip", "submissions.csv"
    >>> collect("codabench", *exports, out="c", phase="Final")  # doctest: +SKIP
    4 files of 3 teams, 3 left out
    """
    if site not in SITES:
        raise UsageError(f"expected one of the sites {', '.join(SITES)}; found {site!r:.40}")
    if not exports:
        raise UsageError(f"collect {site}: expected what the site exports, found nothing")
    out = Path(out)
    known = _known(out)
    if site == "kaggle":
        return _of_kaggle([str(export) for export in exports], out)
    if site == "codabench":
        entries = of_codabench([Path(export) for export in exports])
    else:
        entries = of_evalai([Path(export) for export in exports], None if files is None else Path(files))
    return write(_checked(_of_phase(entries, phase)), out, known, progress)


# ---- Codabench -------------------------------------------------------------------------------------------


def of_codabench(exports: Sequence[Path]) -> list[Entry]:
    """List the entries of Codabench's bulk download, with its table of submissions if there is one."""
    bulks = [path for path in exports if path.is_dir() or path.suffix == ".zip"]
    if len(bulks) != 1:
        raise UsageError(f"expected one bulk_submissions.zip or its folder, found {len(bulks)}")
    rows = _table_of_codabench(path for path in exports if path not in bulks)
    entries, failed, seen = list[Entry](), dict[str, str](), set[str]()
    for name, read in _members_of_bulk(bulks[0]):
        if name == "failed.txt":
            failed = dict(FAILED.findall(read().decode("utf-8", "replace")))
            continue
        match = ENTRY.fullmatch(name)
        if match is None:
            entries.append(Entry("", name, "", reason="its name is not that of an entry of Codabench"))
            continue
        number, team, phase, day = match.groups()
        seen.add(number)
        made = Entry(number, name, team, day, phase, read=functools.partial(_sent_in, name, read))
        if number in rows:
            made = made._replace(**_row_of_codabench(rows[number]))
        elif rows:
            made = made._replace(reason="it is not in the table of submissions")
        entries.append(made)
    for number, row in rows.items():
        if number not in seen:
            reason = "it was not downloaded" + (f" ({failed[number]})" if number in failed else "")
            made = Entry(number, f"submission {number}", "")
            entries.append(made._replace(**_row_of_codabench(row) | {"reason": reason}))
    return entries


def _table_of_codabench(exports: Iterable[Path]) -> dict[str, Mapping[Any, Any]]:
    """The rows of the table of submissions, by the numbers of these; empty if it is not among the exports."""
    rows: dict[str, Mapping[Any, Any]] = {}
    for path in exports:
        table = read_texts(path, HostError).fillna("")
        if "Username" in table:  # the leaderboard, which podium rank --site-board reads
            continue
        _check_columns(table, TABLE_OF_CODABENCH, path)
        rows = {str(row["Submission ID"]): row for row in table.to_dict("records")}
    return rows


def _row_of_codabench(row: Mapping[Any, Any]) -> dict[str, Any]:
    """What the table of submissions says of an entry."""
    status = str(row["Status"])
    return {
        "team": str(row["Owner"]),
        "submitted_at": str(row["Created When"]),
        "phase": str(row["Phase"]),
        "reason": "" if status == "Finished" else f"its status is {status}",
    }


def _members_of_bulk(path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The entries of a bulk download by their names, packed or unpacked."""
    if path.is_dir():
        for file in sorted(path.iterdir()):
            if not file.name.startswith(".") and not file.is_dir():
                yield file.name, functools.partial(read_bytes, file, follow_links=False)
        return
    try:
        archive = zipfile.ZipFile(path)
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror or problem}") from None
    except zipfile.BadZipFile as problem:
        raise HostError(f"{path}: expected a whole zip, found a fault: {problem}") from None
    with archive:
        members = archive.infolist()
    for member in members:
        name = PurePosixPath(member.filename).name
        if not member.is_dir() and "__MACOSX" not in member.filename:
            yield name, functools.partial(_packed, path, member)


def _packed(path: Path, member: zipfile.ZipInfo) -> bytes:
    """The content of an entry of a bulk download."""
    with zipfile.ZipFile(path) as archive:
        return _content(archive, member)


def _sent_in(name: str, read: Callable[[], bytes]) -> tuple[str, bytes]:
    """Read the one file in the zip of an entry, found as the scoring program finds it."""
    content = read()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return name, content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) > MOST_MEMBERS:
            raise LeftOut(f"it has {len(members):,} files, more than {MOST_MEMBERS:,}")
        sent = [member for member in members if judge.counts(PurePosixPath(member.filename))]
        if len(sent) != 1:
            found = listed([printable(each.filename)[:40] for each in sent], 3) or "none"
            raise LeftOut(f"expected one file, found {counted(len(sent), 'candidate')}: {found}")
        if ".." in PurePosixPath(sent[0].filename).parts or sent[0].filename.startswith(("/", "\\")):
            raise LeftOut("its file has a path that leads out of the archive")
        return PurePosixPath(sent[0].filename).name, _content(archive, sent[0])


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The content of a member of an archive, up to the limit."""
    if stat.S_ISLNK(member.external_attr >> 16):
        raise LeftOut("it is a link")
    with archive.open(member) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise LeftOut(f"it has more than {MOST_BYTES >> 20:,} MB once expanded")
    return content


# ---- EvalAI ----------------------------------------------------------------------------------------------


def of_evalai(exports: Sequence[Path], files: Path | None) -> list[Entry]:
    """List the entries of EvalAI's tables of all submissions; members and addresses in them go nowhere."""
    if files is not None and not files.is_dir():
        raise UsageError(f"there is no folder {files}")
    entries = []
    for path in exports:
        table = read_texts(path, HostError).fillna("")
        _check_columns(table, TABLE_OF_EVALAI, path)
        for row in table.to_dict("records"):
            number, address = str(row["id"]), str(row["Submitted File"] or "")
            status = str(row["Status"])
            reason = "" if address else "it has no file"
            if status != "finished":
                reason = f"its status is {status}"
            fetch = functools.partial(_fetched, address)
            read = fetch if files is None else functools.partial(_found, files, number)
            about = str(row["Team Name"]), str(row["Submitted At"] or ""), str(row["Challenge Phase"] or "")
            entries.append(Entry(number, f"submission {number}", *about, reason, None if reason else read))
    return entries


def _found(folder: Path, number: str) -> tuple[str, bytes]:
    """Read the file of a submission that lies below a folder submission_NUMBER."""
    below = [path for path in sorted(folder.rglob("*")) if f"submission_{number}" in path.parent.parts]
    sent = [path for path in below if path.is_file() and judge.counts(PurePosixPath(path.name))]
    if len(sent) != 1:
        found = listed([printable(each.name)[:40] for each in sent], 3) or "none"
        raise LeftOut(f"expected one file below submission_{number}, found {found}")
    return sent[0].name, read_bytes(sent[0], follow_links=False)


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follow a redirection only within https and the host that the table names."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        old, new = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if (new.scheme, new.hostname) != ("https", old.hostname):
            raise LeftOut(f"its address leads to another host, {printable(new.hostname or '')[:60]}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetched(address: str) -> tuple[str, bytes]:
    """Fetch a file over https."""
    parts = urllib.parse.urlsplit(address)
    if parts.scheme != "https" or not parts.hostname:
        raise LeftOut(f"expected an address that begins with https://, found {printable(address)[:60]}")
    opener = urllib.request.build_opener(_SameHost)
    for left in range(TRIES, 0, -1):
        try:
            with opener.open(address, timeout=SECONDS) as answer:
                content = answer.read(MOST_BYTES + 1)
            break
        except OSError as problem:
            if left == 1:
                raise LeftOut(f"it could not be fetched: {printable(str(problem))[:100]}") from None
    if len(content) > MOST_BYTES:
        raise LeftOut(f"it has more than {MOST_BYTES >> 20:,} MB")
    return PurePosixPath(parts.path).name, content


# ---- Kaggle ----------------------------------------------------------------------------------------------


def _of_kaggle(competitions: Sequence[str], out: Path) -> Collected:
    """Fetch the leaderboard, which is all that Kaggle gives to a host without the models."""
    from podium.hosting.kaggle import client

    if len(competitions) != 1:
        raise UsageError(f"expected the name of one competition, found {listed(list(competitions))}")
    board = client.fetch_leaderboard(competitions[0])
    with new_folder(out, replaces=True) as fresh:
        (fresh / LEADERBOARD).write_bytes(table_bytes(board))
    entries = board.assign(outcome="its score is on the leaderboard")
    return Collected(pd.DataFrame(columns=["team", "path"]), entries)


# ---- All sites -------------------------------------------------------------------------------------------


def _check_columns(table: pd.DataFrame, needed: Iterable[str], path: Path) -> None:
    """Refuse a table that is another one than the site exports."""
    lacking = [name for name in needed if name not in table]
    if lacking:
        columns = ", ".join(needed)
        raise HostError(
            f"{path}: expected the table of submissions, with the columns {columns}; "
            f"it has no {listed(lacking)}"
        )


def _of_phase(entries: Sequence[Entry], phase: str | None) -> list[Entry]:
    """The entries of one phase, which has to be named if there are several."""
    # The names of files have the numbers of phases, and the table, which may lack some files, has their names.
    matches = [(ENTRY.fullmatch(entry.source), entry.phase) for entry in entries]
    named = {match["phase"]: name for match, name in matches if match and name != match["phase"]}
    entries = [entry._replace(phase=named.get(entry.phase, entry.phase)) for entry in entries]
    phases = sorted({entry.phase for entry in entries if entry.phase})
    if phase is None and len(phases) > 1:
        raise UsageError(f"the export has several phases, so name one with --phase: {listed(phases, 20)}")
    chosen = phases[0] if phase is None and phases else named.get(phase or "", phase)
    if chosen is not None and chosen not in phases:
        raise UsageError(f"--phase {phase}: expected one of {listed(phases, 20) or 'no phase'}")
    return [
        entry._replace(reason=f"it belongs to phase {entry.phase}", read=None)
        if entry.phase and entry.phase != chosen
        else entry
        for entry in entries
    ]


def _checked(entries: Sequence[Entry]) -> list[Entry]:
    """Leave out entries whose team cannot be published, or looks like another team."""
    teams = sorted({entry.team for entry in entries if not entry.reason})
    reasons = {}
    for team in teams:
        try:
            names.check_names([team], "team", "the export")
        except HostError:
            reasons[team] = "the name of its team cannot be published; give the team another one in the table"
    for group in names.alike(team for team in teams if team not in reasons):
        for team in group:
            others = listed([names.shown(each) for each in group if each != team])
            reasons[team] = f"the name of its team looks like {others}; give it another one in the table"
    return [entry._replace(reason=entry.reason or reasons.get(entry.team, "")) for entry in entries]


def _known(out: Path) -> dict[str, str]:
    """What an earlier call has taken, by the number of the submission."""
    if not out.exists():
        return {}
    if not (out / COLLECTED).is_file():
        if out.is_dir() and (not any(out.iterdir()) or (out / LEADERBOARD).is_file()):
            return {}
        raise UsageError(f"{out}: expected a new folder, or one that podium collect has written")
    table = read_table(out / COLLECTED, {"number", "source", "team", "path", "outcome"}, HostError).fillna("")
    taken = table[table["outcome"] == TAKEN]
    return dict(zip(taken["number"], taken["path"]))


def write(
    entries: Sequence[Entry], out: Path, known: dict[str, str], progress: Progress | None = None
) -> Collected:
    """Write the files of all entries that can be taken, a manifest, and what became of each entry."""
    rows = []
    with new_folder(out, replaces=True) as fresh:
        for done, entry in enumerate(entries, 1):
            path, outcome = _taken(entry, known.get(entry.number), out, fresh)
            about = entry.number, entry.source, entry.team, entry.phase, entry.submitted_at
            rows.append((*about, path, outcome))
            if progress is not None:
                progress(done, len(entries))
        columns = ["number", "source", "team", "phase", "submitted_at", "path", "outcome"]
        table = pd.DataFrame(rows, columns=columns, dtype=object)
        taken = table[table["outcome"] == TAKEN].reset_index(drop=True)
        # Two files of a team may have one name, so the number of the submission is part of it.
        names_of_files = [path.removeprefix(f"{SUBMISSIONS}/") for path in taken["path"]]
        manifest = taken[["team", "path", "submitted_at"]].assign(submission=names_of_files)
        for name, of_all in ((MANIFEST, manifest), (COLLECTED, table)):
            (fresh / name).write_bytes(table_bytes(of_all))
    return Collected(manifest, table)


def _taken(entry: Entry, before: str | None, out: Path, fresh: Path) -> tuple[str, str]:
    """Write the file of an entry below a new folder: its path and what became of it."""
    if not entry.reason and before is not None:
        (fresh / before).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(out / before, fresh / before)
        return before, TAKEN
    if entry.read is None:
        return "", entry.reason
    told = ""
    try:
        name, content = entry.read()
    except (LeftOut, ToolError) as problem:
        told = str(problem)
    except Exception as problem:  # a damaged archive leads to errors of many classes
        told = f"it is damaged: {printable(str(problem))[:100]}"
    if reasons := list(filter(None, [entry.reason, told])):
        return "", "; ".join(reasons)
    path = f"{SUBMISSIONS}/{entry.number}/{_safe_name(name)}"
    (fresh / path).parent.mkdir(parents=True, exist_ok=True)
    (fresh / path).write_bytes(content)
    return path, TAKEN


def _safe_name(name: str) -> str:
    """A name for a file that every system and every board can have."""
    plain = re.sub(r"[^\w.-]", "_", name).lstrip(".")[-80:]
    return plain or "submission"
