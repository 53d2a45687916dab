"""Collect the submissions of a closed competition from what its site gives to the host.

    entries = of_codabench(…)          every row and file of the export, with why it is not taken
    collected = write(entries, out)    out/submissions/…, out/manifest.csv, out/collected.csv

Archives and tables are strangers' files. No path in them is used for writing: a file goes into a folder that
is named by the number of its submission, and one function writes everything. A later call adds what is new,
and deletes nothing.
"""

import contextlib
import functools
import io
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pandas as pd

from podium.common.errors import HostError, ToolError, UsageError
from podium.common.options import as_option
from podium.common.wording import counted, listed, printable
from podium.hosting.bundles import evaluator
from podium.hosting.folders import new_folder
from podium.metric.contract import Progress
from podium.tables import archives, names
from podium.tables.files import (
    MOST_BYTES,
    alone_in,
    below,
    is_below,
    megabytes,
    most_expanded,
    open_regular,
    read_bytes,
    write_atomically,
)
from podium.tables.formats import read_texts, table_bytes
from podium.tables.schema import TEXT, Cells, Table

SITES = ("codabench",)
MANIFEST, COLLECTED = "manifest.csv", "collected.csv"
NEW_MANIFEST = "manifest.new.csv"  # what a later call finds, where the manifest was edited since
SUBMISSIONS = "submissions"
TAKEN = "taken"
MOST_MEMBERS = 1_000  # of the archive of one submission
# An entry may expand to this many times its size; what is more than that must be at most MOST_BYTES together.
USUAL_RATIO = 20

# Codabench names an entry {id}_{owner}_PhaseId{phase}_{date}:{minute}-{second}_{file}; browsers write _ for the
# colon. An owner may have underscores, and may even be called PhaseId8, so the last place that fits counts.
ENTRY = re.compile(
    r"(?P<id>\d+)_(?P<team>.*)_PhaseId(?P<phase>\d+)_(?P<day>\d{4}-\d\d-\d\d)[:_]\d\d-\d\d_.*",
    re.DOTALL | re.ASCII,
)
NUMBER = re.compile("[0-9]{1,18}")  # of a submission, which names its folder
DOCUMENTS = (".json", ".json.gz")  # the endings of files of one document each
PLAIN = re.compile(r"([\w-][\w .-]{0,79}/){0,3}[\w-][\w .-]{0,79}")  # the name of a document below its archive
FAILED = re.compile(r"(?m)^(\d+)_.* \((.*)\)\s*$")
ANY = TEXT._replace(is_filled=False)
NUMBERS = Cells("1 to 18 digits", lambda cells: cells.map(lambda cell: bool(NUMBER.fullmatch(str(cell)))))


def _columns(*names_of_columns: str) -> dict[str, Any]:
    """Columns of texts, any of which may be empty."""
    return dict.fromkeys(names_of_columns, ANY)


OF_CODABENCH = _columns("Submission ID", "Owner", "Created When", "Status", "Phase")
OF_CODABENCH["On Leaderboard"] = ANY.optional
TABLE_OF_CODABENCH = Table(key=["Submission ID"], **OF_CODABENCH)
TABLE_OF_COLLECTED = Table(
    number=NUMBERS._replace(is_filled=False),
    **_columns("source", "team", "phase", "submitted_at", "path", "outcome"),
    selected=ANY.optional,
)


class Entry(NamedTuple):
    """A submission as its site lists it."""

    number: str  # the site's number of the submission, which names its folder; "" if its file has none
    source: str  # its name in the export
    team: str
    submitted_at: str = ""
    phase: str = ""
    selected: str = ""  # "yes" if it is the one on the site's leaderboard
    reason: str = ""  # why it is not taken; empty if it is
    read: "Callable[[], Sent] | None" = None


class Sent(NamedTuple):
    """The file of an entry, or the documents in its folder."""

    name: str
    files: Mapping[str, bytes]  # the contents by the names below that one; of a file by no name
    packed: int  # its size as it was sent


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
    progress: Progress | None = None,
) -> Collected:
    """Collect the submissions of a closed competition into a folder with a manifest for `podium.rank`.

    Parameters
    ----------
    site : {"codabench"}
        The platform.
    *exports : str or Path
        ``bulk_submissions.zip`` or the folder into which it was unpacked, also several, and, if there is one,
        the table of submissions.
    out : str or Path
        The folder to write: ``submissions/``, ``manifest.csv`` and ``collected.csv``. If it is there already,
        only what is new is taken, nothing is deleted, and a manifest that was edited stays as it is.
    phase : str, optional
        The name or the number of the phase. Exports of several phases need it.
    progress : function, optional
        It is called with the number of entries that are done and their number.

    Returns
    -------
    Collected
        The ``manifest`` and all ``entries`` (tables).

    Raises
    ------
    podium.common.errors.UsageError
        An export is not there or is none of this site, or a phase has to be chosen.
    podium.common.errors.HostError
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
    entries = of_codabench([Path(export) for export in exports])
    return write(_checked(_of_phase(entries, phase)), out, known, progress)


# ---- Codabench -------------------------------------------------------------------------------------------


def of_codabench(exports: Sequence[Path]) -> list[Entry]:
    """List the entries of Codabench's bulk download, with its table of submissions if there is one."""
    bulks = [path for path in exports if path.is_dir() or path.suffix == ".zip"]
    if not bulks:
        raise UsageError("expected bulk_submissions.zip or its folder, found none")
    rows = _table_of_codabench([path for path in exports if path not in bulks])
    entries, failed, seen = list[Entry](), dict[str, str](), set[str]()
    for name, packed, read in _members_of_all(bulks):
        if name == "failed.txt":
            failed |= dict(FAILED.findall(read().decode("utf-8", "replace")))
            continue
        match = ENTRY.fullmatch(name)
        if match is None:
            entries.append(Entry("", name, "", reason="its name is not that of an entry of Codabench"))
            continue
        number, team, phase, day = match.groups()
        seen.add(number)
        made = Entry(number, name, team, day, phase, read=functools.partial(_sent_in, name, packed, read))
        if number in rows:
            made = made._replace(**_row_of_codabench(rows[number]))
        elif rows:
            made = made._replace(reason="it is not in the table of submissions")
        entries.append(made)
    if not (seen or failed):
        raise _no_download(bulks, entries)
    if rows and seen and seen.isdisjoint(rows):
        raise _other_table(min(seen), next(iter(rows)))
    for number, row in rows.items():
        if number not in seen:
            reason = "it was not downloaded" + (f" ({failed[number]})" if number in failed else "")
            made = Entry(number, f"submission {number}", "")
            entries.append(made._replace(**_row_of_codabench(row) | {"reason": reason}))
    if seen and not rows:
        warnings.warn(
            f"there is no table of submissions, so a failed entry cannot be told from another: "
            f"{counted(len(seen), 'entry')} of unknown status; give submissions.csv, too",
            stacklevel=4,
        )
    return entries


def _no_download(bulks: Sequence[Path], others: Sequence[Entry]) -> UsageError:
    """What is said of downloads that neither have an entry nor say why they lack one."""
    found = listed([printable(each.source)[:60] for each in others], 3) or "nothing"
    expected = "entries of Codabench, such as 101_ada_PhaseId8_2027-03-02:20-30_sub.zip"
    return UsageError(f"{listed([*map(str, bulks)])}: expected {expected}, found {found}")


def _other_table(expected: str, found: str) -> HostError:
    """What is said of a table that has none of the entries."""
    return HostError(
        f"Submission ID: expected the numbers of the entries, such as {expected}, found others, such as "
        f"{printable(found)[:40]!r}: is it the table of this download?"
    )


def _members_of_all(bulks: Sequence[Path]) -> Iterator[archives.Member]:
    """List the files of several downloads; of those with one name and the same content, only the first."""
    seen: dict[str, list[str]] = {}
    for bulk in bulks:
        for member in archives.members(bulk):
            if len(bulks) > 1 and member.name != "failed.txt":
                same = seen.setdefault(member.name.replace(":", "_"), [])  # as browsers write it
                digest = _digest_of(member)
                if digest in same:
                    continue
                same.append(digest)
            yield member


def _digest_of(member: archives.Member) -> str:
    """Hash a file, or what is wrong with it."""
    try:
        return sha256(member.read()).hexdigest()
    except Exception as problem:  # a damaged archive leads to errors of many classes
        return str(problem)


def _table_of_codabench(exports: Sequence[Path]) -> dict[str, Mapping[Any, Any]]:
    """The rows of the table of submissions by the numbers of these, with "" for empty cells.

    The leaderboard, which has a column Username, may lie beside it. `podium rank --site-board` reads that.
    """
    read = {path: table for path in exports if "Username" not in (table := read_texts(path, HostError))}
    if not read:
        return {}
    table = pd.concat(read.values()).drop_duplicates()
    rows = TABLE_OF_CODABENCH.checked(table, listed([*map(str, read)])).fillna("").to_dict("records")
    return {row["Submission ID"]: row for row in rows}


def _row_of_codabench(row: Mapping[Any, Any]) -> dict[str, Any]:
    """What the table of submissions says of an entry."""
    return {
        "team": row["Owner"],
        "submitted_at": row["Created When"],
        "phase": row["Phase"],
        "selected": "yes" if row.get("On Leaderboard", "").lower() in ("yes", "true", "1") else "",
        "reason": "" if row["Status"] == "Finished" else f"its status is {row['Status']}",
    }


def _sent_in(name: str, packed: int, read: Callable[[], bytes]) -> Sent:
    """Read the one file in the zip of an entry, found as the scoring program finds it."""
    content = read()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        if name.lower().endswith(".zip"):
            raise archives.LeftOut("it is damaged: its content is no zip")
        return Sent(name, {"": content}, packed)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) > MOST_MEMBERS:
            raise archives.LeftOut(f"it has {len(members):,} files, more than {MOST_MEMBERS:,}")
        sent = [member for member in members if evaluator.counts(PurePosixPath(member.filename))]
        if len(sent) > 1 and all(each.filename.lower().endswith(DOCUMENTS) for each in sent):
            return _documents_in(archive, sent, packed)
        if len(sent) != 1:
            found = listed([printable(each.filename)[:40] for each in sent], 3) or "none"
            raise archives.LeftOut(f"expected one file, found {counted(len(sent), 'candidate')}: {found}")
        if ".." in PurePosixPath(sent[0].filename).parts or sent[0].filename.startswith(("/", "\\")):
            raise archives.LeftOut("its file has a path that leads out of the archive")
        return Sent(
            PurePosixPath(sent[0].filename).name, {"": archives.content(archive, sent[0], packed)}, packed
        )


def _documents_in(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], packed: int) -> Sent:
    """Read the documents of an entry, whose names stay, as they may be those of what they annotate."""
    files: dict[str, bytes] = {}
    for member in members:
        name, left = member.filename, most_expanded(packed, MOST_BYTES) - sum(map(len, files.values()))
        if not PLAIN.fullmatch(name):
            raise archives.LeftOut(f"expected plain names of its documents, found {printable(name)[:60]}")
        files[name] = archives.content(archive, member, packed)
        if len(files[name]) > left:
            raise archives.LeftOut("its documents are too large once expanded")
    folders = {folder.as_posix() for name in files for folder in PurePosixPath(name).parents}
    if len(files) < len(members) or names.alike([*files, *folders]) or folders & files.keys():
        raise archives.LeftOut("two of its documents have the same name, or names that look alike")
    return Sent("documents", files, packed)


# ---- All sites -------------------------------------------------------------------------------------------


def _of_phase(entries: Sequence[Entry], phase: str | None) -> list[Entry]:
    """All entries, of which those of other phases are not taken; one has to be named if there are several."""
    # The names of files have the numbers of phases, and the table, which may lack some files, has their names.
    matches = [(ENTRY.fullmatch(entry.source), entry.phase) for entry in entries]
    name_of = {match["phase"]: name for match, name in matches if match and name != match["phase"]}
    entries = [entry._replace(phase=name_of.get(entry.phase, entry.phase)) for entry in entries]
    chosen = _chosen_phase(sorted({entry.phase for entry in entries if entry.phase}), name_of, phase)

    def taken(entry: Entry) -> Entry:
        if entry.phase in ("", chosen):
            return entry
        return entry._replace(reason=f"it belongs to phase {entry.phase}", read=None)

    return [taken(entry) for entry in entries]


def _chosen_phase(phases: Sequence[str], name_of: Mapping[str, str], phase: str | None) -> str | None:
    """The name of the phase that was asked for by its name or number, or of the only one; None without any."""
    if phase is None:
        if len(phases) > 1:
            cure = f"name one with {as_option('phase')}: {listed(phases, 20)}"
            raise UsageError(f"the export has several phases, so {cure}")
        return phases[0] if phases else None
    chosen = name_of.get(phase, phase)
    if chosen not in phases:
        there = listed(phases, 20) or "no phase"
        raise UsageError(f"{as_option('phase', phase)}: expected one of {there}")
    return chosen


def _checked(entries: Sequence[Entry]) -> list[Entry]:
    """Leave out entries whose number, name or team cannot be used, or cannot be told from those of others."""
    times = Counter(entry.number for entry in entries)
    faults = [_fault(entry, times) for entry in entries]
    teams = sorted({entry.team for entry, fault in zip(entries, faults) if not (fault or entry.reason)})
    reasons = {}
    for team in teams:
        if names.fault_of_name(team):
            reasons[team] = "the name of its team cannot be published; give the team another one in the table"
    for group in names.alike(team for team in teams if team not in reasons):
        for team in group:
            others = listed([names.shown(each) for each in group if each != team])
            reasons[team] = f"the name of its team looks like {others}; give it another one in the table"
    return [
        _told(entry._replace(reason=fault, read=None) if fault else entry, reasons.get(entry.team, ""))
        for entry, fault in zip(entries, faults)
    ]


def _fault(entry: Entry, times: Mapping[str, int]) -> str:
    """Say why nothing of an entry can be used, if there is a reason."""
    if entry.reason and not entry.number:  # it is no entry at all
        return entry.reason
    if not NUMBER.fullmatch(entry.number):
        return f"expected a number of 1 to 18 digits, found {printable(entry.number)[:40]!r}"
    if times[entry.number] > 1:
        return f"{times[entry.number]} entries have the number {entry.number}"
    return ""


def _told(entry: Entry, of_team: str) -> Entry:
    """An entry as it is written, with the reason that its team gives for leaving it out."""

    def written(text: str) -> str:
        """A text in UTF-8; a name on this system may be none."""
        return text.encode(errors="backslashreplace").decode()

    number = entry.number if NUMBER.fullmatch(entry.number) else ""
    source, team, phase = written(entry.source), written(entry.team), written(entry.phase)
    made = entry._replace(number=number, source=source, team=team, phase=phase)
    return made._replace(reason=entry.reason or of_team)


# ---- The folder ------------------------------------------------------------------------------------------


def _known(out: Path) -> pd.DataFrame:
    """What an earlier call has written into collected.csv, which is checked like everything else."""
    if not (out / COLLECTED).is_file():
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise UsageError(f"{out}: expected a new folder, or one that podium collect has written")
        return pd.DataFrame(columns=list(TABLE_OF_COLLECTED.columns), dtype=object)
    columns = list(TABLE_OF_COLLECTED.columns)
    table = TABLE_OF_COLLECTED.read(out / COLLECTED).reindex(columns=columns).astype(object).fillna("")
    for number, path, outcome in table[["number", "path", "outcome"]].itertuples(index=False, name=None):
        if outcome == TAKEN and path != _path_of(number, PurePosixPath(path).name):
            expected = f"the path {SUBMISSIONS}/{number}/FILE"
            raise HostError(f"{out / COLLECTED}: expected {expected}, found {printable(path)[:100]!r}")
    return table


def _path_of(number: str, name: str) -> str:
    """Where the file of an entry lies, under a name that every system and every board can have."""
    plain = re.sub(r"[^\w.-]", "_", name).encode()[-80:].decode(errors="ignore").lstrip(".")
    return f"{SUBMISSIONS}/{number}/{plain or 'submission'}"


@contextlib.contextmanager
def _opened(out: Path) -> Iterator[Path]:
    """Open the folder to write: a new one appears when it is complete, and an earlier one gets what is new."""
    if out.is_dir() and any(out.iterdir()):
        with alone_in(out):
            yield out
    else:
        with new_folder(out) as fresh:
            yield fresh


def _digest(path: Path) -> str:
    """Hash a file, or what lies in a folder of documents."""
    files = sorted(file for file in path.rglob("*") if not file.is_dir()) if path.is_dir() else [path]
    contents = (sha256(read_bytes(file, follow_links=False)).hexdigest() for file in files)
    told = "\n".join(f"{file.relative_to(path)} {content}" for file, content in zip(files, contents))
    return sha256(told.encode(errors="surrogateescape")).hexdigest()


def _write(home: Path, path: str, content: bytes) -> None:
    """Write a file below a folder, and refuse what leads out of it."""
    write_atomically(below(home, path), lambda part: part.write_bytes(content))


def _is_there(home: Path, path: str) -> bool:
    """Whether a file, or a folder of documents, that an earlier call has taken still lies there."""
    if not is_below(home, path):
        return False
    if (home / path).is_dir():
        return any((home / path).iterdir())
    try:
        with open_regular(home / path, follow_links=False):
            return True
    except (OSError, UsageError):
        return False


def write(
    entries: Sequence[Entry], out: Path, known: pd.DataFrame, progress: Progress | None = None
) -> Collected:
    """Write the files of all entries that can be taken, a manifest, and what became of each entry."""
    rows, spare, choices = [], MOST_BYTES, set[tuple[str, str]]()
    taken = known[known["outcome"] == TAKEN]
    before = dict(zip(taken["number"], taken["path"]))
    with _opened(out) as folder:
        for done, entry in enumerate(entries, 1):
            path, outcome, spare = _taken(entry, before.get(entry.number, ""), folder, spare)
            selected = entry.selected if path else ""
            if selected:  # several entries of a team with one file are one choice
                choice = entry.team, _digest(folder / path)
                selected = "" if choice in choices else selected
                choices.add(choice)
            about = entry.number, entry.source, entry.team, entry.phase, entry.submitted_at
            rows.append((*about, path, outcome, selected))
            if progress is not None:
                progress(done, len(entries))
        table = pd.DataFrame(rows, columns=list(TABLE_OF_COLLECTED.columns), dtype=object)
        manifest = _manifest(table)
        _write_manifest(folder, table_bytes(manifest), table_bytes(_manifest(known)))
        _write(folder, COLLECTED, table_bytes(table))
    return Collected(manifest, table)


def _manifest(table: pd.DataFrame) -> pd.DataFrame:
    """The manifest of what was taken, as `podium.rank` reads it."""
    taken = table[table["outcome"] == TAKEN].reset_index(drop=True)
    # Two files of a team may have one name, so the number of the submission is part of it.
    names_of_files = [path.removeprefix(f"{SUBMISSIONS}/") for path in taken["path"]]
    manifest = taken[["team", "path", "submitted_at"]].assign(submission=names_of_files)
    return manifest.assign(selected=taken["selected"]) if taken["selected"].any() else manifest


def _write_manifest(folder: Path, manifest: bytes, before: bytes) -> None:
    """Write the manifest; if somebody has edited that of an earlier call, write it beside that and say so."""
    path = folder / MANIFEST
    if not path.exists() or read_bytes(path) == before:
        _write(folder, MANIFEST, manifest)
    elif manifest not in (before, read_bytes(path)):
        _write(folder, NEW_MANIFEST, manifest)
        warnings.warn(
            f"{MANIFEST} was edited and stays as it is; what was collected now stands in {NEW_MANIFEST}, from "
            "where you can copy what is new",
            stacklevel=4,
        )


def _taken(entry: Entry, before: str, folder: Path, spare: int) -> tuple[str, str, int]:
    """Write the file of an entry: its path, what became of it, and how much others may expand unusually.

    What an earlier call has taken stays as it is, because it may have been edited, and because the entry may be
    damaged now.
    """
    if not entry.reason and before and _is_there(folder, before):
        return before, TAKEN, spare
    if entry.read is None:
        return "", entry.reason, spare
    told = ""
    try:
        sent = entry.read()
        size = sum(map(len, sent.files.values()))
        left = spare - max(0, size - USUAL_RATIO * sent.packed)
        if left < 0:
            more = f"{USUAL_RATIO} times their size, by {megabytes(MOST_BYTES)} in all"
            raise archives.LeftOut(f"it and other entries expand to more than {more}")
    except (archives.LeftOut, ToolError) as problem:
        told = str(problem)
    except Exception as problem:  # a damaged archive leads to errors of many classes
        told = f"it is damaged: {printable(str(problem))[:100]}"
    if reasons := list(filter(None, [entry.reason, told])):
        return "", "; ".join(reasons), spare
    path = _path_of(entry.number, sent.name)
    for name, content in sent.files.items():
        _write(folder, f"{path}/{name}" if name else path, content)
    return path, TAKEN, left
