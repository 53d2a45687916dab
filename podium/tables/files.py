"""Read and write files: bytes, texts and JSON, from people one trusts and from strangers.

Every command reads through this module, so that a bad file is described in the same words everywhere. A
stranger's file may be made to exhaust the machine. Therefore the expanded bytes and the values of JSON are
counted before anything is built from them. `podium.tables.formats` does the same for tables.

A file that cannot be read or written is a `UsageError`. For wrong content the caller gives the type of the
error: `HostError` for the host's files, `SubmissionRejected` for submissions.
"""

import contextlib
import functools
import gc
import gzip
import hashlib
import io
import json
import os
import re
import stat
import sys
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from podium.common.errors import NotAFile, ToolError, UsageError
from podium.common.wording import counted, listed, printable
from podium.tables.names import is_of_system

TABLE_SUFFIXES = (".csv", ".csv.gz", ".parquet")

Location = str | os.PathLike[str]  # a path, a `ReadFile` or a `ReadFolder`

# ---- Limits: each is far above any table that we have seen, and far below what stops a machine -------------

# The size of a file once it is expanded.
MOST_BYTES = 2**31
# Every packed file may expand to this size. A larger one may expand to MOST_RATIO times its packed size: real
# tables reach a ratio of 10, and a file of zeros reaches 1,000.
BYTES_AT_ANY_RATIO = 2**26
MOST_RATIO = 100
# The number of values in a JSON file. Each takes up to 100 bytes of memory.
MOST_VALUES = 10_000_000

GZIP = b"\x1f\x8b"
ZIP = b"PK\3\4"
EMPTY_ZIP = b"PK\5\6"
AS_CSV = "in Excel, save as CSV UTF-8"
HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a surrogate pair, as JSON may write it


# ---- Bytes -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadFile(os.PathLike[str]):
    """A file that was read. Whoever gets it instead of a path has the same bytes, and reads it no more."""

    path: str
    content: bytes = field(repr=False)

    def __fspath__(self) -> str:
        return self.path

    __str__ = __fspath__

    @functools.cached_property
    def sha256(self) -> str:
        """The hash of its content."""
        return hashlib.sha256(self.content).hexdigest()

    @classmethod
    def of(cls, path: Location) -> "ReadFile":
        """Read a file, but for one that was read."""
        return path if isinstance(path, cls) else cls(str(path), read_bytes(path))


@dataclass(frozen=True)
class ReadFolder(os.PathLike[str]):
    """A folder that was read: the content of each of its files, by the file's name below the folder."""

    path: str
    files: Mapping[str, bytes] = field(repr=False)

    def __fspath__(self) -> str:
        return self.path

    __str__ = __fspath__


def read_once(path: Location) -> Location:
    """Read a table for all who get it instead of its path; an official file or a folder stays a path."""
    return ReadFile.of(path) if is_table_name(path) else path


def is_url(path: Location) -> bool:
    """Tell a URL from a local path.

    >>> is_url("s3://bucket/file.csv"), is_url("file.csv")
    (True, False)
    """
    return "://" in str(path)


def refuse_url(path: Location) -> None:
    """Refuse a URL, because podium reads what is on this machine."""
    if is_url(path):
        cure = "download it first (curl -LO, aws s3 sync)"
        raise UsageError(f"cannot read {printable(str(path))[:100]}: it is an address; {cure}")


def is_table_name(path: Location) -> bool:
    """Tell by its name whether a file is a table, or may be an official file that a metric's companion
    reads.
    """
    return str(path).lower().endswith((*TABLE_SUFFIXES, ".zip"))


def read_bytes(path: Location, follow_links: bool = True) -> bytes:
    """Read the content of a file."""
    if isinstance(path, ReadFile):
        return path.content
    content: bytes | None
    refuse_url(path)
    try:
        if str(path) == "-":
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with open_regular(path, follow_links) as file:
                size = os.fstat(file.fileno()).st_size
                content = file.read() if size <= MOST_BYTES else None
    except (OSError, ValueError) as problem:  # a ValueError for a path with a character of the code 0
        raise UsageError(f"cannot read {path}: {getattr(problem, 'strerror', None) or problem}") from None
    if content is None or len(content) > MOST_BYTES:
        raise NotAFile(path, "more", f"at most {megabytes(MOST_BYTES)}")
    return content


def open_regular(path: Location, follow_links: bool = True) -> BinaryIO:
    """Open a regular file to read its bytes, and nothing but a regular file.

    The kind of the file is checked before it is opened, because opening a device can have an effect. It is
    checked again afterwards, because the file may have been exchanged in between. A pipe without a writer does
    not block.
    """
    _refuse_other_kinds(path, os.stat(path, follow_symlinks=follow_links).st_mode)
    flags = ("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", *([] if follow_links else ["O_NOFOLLOW"]))
    descriptor = os.open(path, sum(getattr(os, flag, 0) for flag in flags))
    file = os.fdopen(descriptor, "rb")
    try:
        _refuse_other_kinds(path, os.fstat(descriptor).st_mode)
    except NotAFile:
        file.close()
        raise
    return file


def _refuse_other_kinds(path: Location, mode: int) -> None:
    """Raise `NotAFile` unless this mode, from `os.stat`, is that of a regular file."""
    kinds = {
        stat.S_ISDIR: "a folder",
        stat.S_ISLNK: "a link",
        stat.S_ISFIFO: "a pipe",
        stat.S_ISSOCK: "a socket",
        stat.S_ISBLK: "a device",
        stat.S_ISCHR: "a device",
    }
    if not stat.S_ISREG(mode):
        kind = next((name for is_kind, name in kinds.items() if is_kind(mode)), "something else")
        raise NotAFile(path, kind)


def most_expanded(packed: int, most: int) -> int:
    """Compute how many bytes a file may have once expanded, from its packed size."""
    return min(most, max(BYTES_AT_ANY_RATIO, MOST_RATIO * packed))


def megabytes(number: int) -> str:
    return f"{max(1, number >> 20):,} MB"


def expanded(content: bytes, name: str, error: type[ToolError], most: int) -> bytes:
    """Expand a gzip or zip file, up to the limit; return another file as it is."""
    limit = most_expanded(len(content), most)
    if content.startswith((ZIP, EMPTY_ZIP)):
        content = _unzipped(content, name, error, limit)
    elif content.startswith(GZIP):
        try:
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(limit + 1)
        except (OSError, EOFError, zlib.error) as problem:
            raise error(f"{name}: expected a file packed by gzip, found {problem}") from None
    else:
        return content
    if len(content) > limit:
        raise error(f"{name}: expected at most {megabytes(limit)} once expanded, found more")
    return content


def _unzipped(content: bytes, name: str, error: type[ToolError], limit: int) -> bytes:
    """Expand the one table in a zip, up to a byte over the limit; the sizes that it states may be false."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [each for each in archive.namelist() if not each.endswith("/")]
            tables = [each for each in members if not any(map(is_of_system, each.split("/")))]
            if len(named := [each for each in tables if each.lower().endswith(TABLE_SUFFIXES)]) == 1:
                tables = named  # platforms pack metadata and notes beside it
            if any(each.startswith("xl/") for each in members):
                raise error(f"{name}: expected a CSV table, found an Excel workbook; {AS_CSV}")
            if len(tables) != 1:
                names = listed([printable(each)[:40] for each in tables], 3) or "none"
                hint = ". If it is a packed folder, unpack it" if tables else ""
                found = f"{len(tables)} files: {names}{hint}"
                raise error(f"{name}: expected a zip with one table, found {found}")
            with archive.open(tables[0]) as file:
                return file.read(limit + 1)
    except (ToolError, MemoryError):
        raise
    except Exception as problem:  # A damaged file leads to errors of many classes.
        raise error(f"{name}: expected a whole zip file, found a fault: {problem}") from None


# ---- Texts -------------------------------------------------------------------------------------------------


def read_text(path: Location, error: type[ToolError], else_encoding: str | None = None) -> str:
    """Read the text of a file, packed by gzip or not.

    What is wrong in it is told with its name and not its path, which may be that of a temporary copy.
    """
    name = Path(path).name
    content = read_bytes(path)
    if content.startswith(GZIP):
        content = expanded(content, name, error, MOST_BYTES)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if else_encoding is not None:
            return content.decode(else_encoding)
        raise error(f"{name}: {not_utf_8(io.BytesIO(content))}") from None


def not_utf_8(file: BinaryIO) -> str:
    """Say where the text in a file is not UTF-8, or an empty text if it is.

    A decoder tells the place from wherever its piece of the file begins.
    """
    file.seek(0)
    for number, line in enumerate(file, start=1):
        try:
            line.decode()
        except UnicodeDecodeError as problem:
            return f"expected UTF-8 text, found the byte 0x{line[problem.start]:02x} in line {number:,}"
    return ""


def read_lines(
    path: Location,
    read: Callable[[str], Any],
    expected: str,
    error: type[ToolError],
    else_encoding: str | None = None,
) -> list[Any]:
    """Read each line of a text, or each entry of a list in JSON, with a function. Empty lines are skipped."""
    results, faults = [], []
    text, what = read_text(path, error, else_encoding), "line"
    # splitlines() would also split at characters such as U+2028, which a text in JSON may contain.
    lines: Iterable[str] = io.StringIO(text, newline="\n")
    if text[:64].lstrip().startswith("["):
        with contextlib.suppress(ValueError):
            lines, what = [json.dumps(entry) for entry in parse_json(text)], "entry"
    with collection_paused():
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    results.append(read(line.removesuffix("\n")))
                except ValueError as fault:
                    faults.append(f"{what} {number} ({fault})")
    if faults:
        where = f"Wrong in {counted(len(faults), what)}: {listed(faults, 1)}"
        raise error(f"{Path(path).name}: expected {expected}. {where}")
    return results


def parse_json(text: str | bytes) -> Any:
    """Parse a text in JSON that may be a stranger's.

    The number of values is bounded before any value is built: ``[]`` takes two bytes in a file and 64 in
    memory. Python bounds the depth of the nesting.

    >>> parse_json('{"a": [1, null]}')
    {'a': [1, None]}
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    ValueError: it is nested too deeply
    """
    if isinstance(text, bytes):
        if fault := not_utf_8(io.BytesIO(text)):
            raise ValueError(fault)
        text = text.decode("utf-8-sig")
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES:,} values")
    try:
        with collection_paused():
            value = json.loads(text)
            if HALF.search(text):
                json.dumps(value, ensure_ascii=False).encode()
            return value
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it has half of a character, written as \\ud800 to \\udfff") from None


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the garbage collector, which would look at all objects again and again while many are made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# ---- Writing -----------------------------------------------------------------------------------------------


def write_atomically(path: Location, write: Callable[[Path], Any]) -> None:
    """Let a function write a file under a temporary name, and rename it at the end.

    So nobody ever sees half a file. A new one gets the permissions that the user's umask leaves, and one that
    is replaced keeps its own.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # pandas chooses the compression by the ending of the name.
        part = path.with_name(f".{uuid.uuid4().hex}{''.join(path.suffixes[-2:])}")
        try:
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            if path.is_file():
                part.chmod(stat.S_IMODE(path.stat().st_mode) | stat.S_IWUSR)
            write(part)
            keep_mode(path, part)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as problem:
        raise UsageError(f"cannot write {path}: {problem.strerror or problem}") from None


def keep_mode(path: Path, successor: Path) -> None:
    """Give a file that will replace another one the permissions of that."""
    if path.is_file():
        successor.chmod(stat.S_IMODE(path.stat().st_mode))


def check_apart(out: Location, inputs: Iterable[object]) -> None:
    """Refuse to write where an input is: into it, or into a folder that holds it.

    >>> check_apart("subs/board", ["solution.csv", "subs"])
    Traceback (most recent call last):
    ...
    podium.common.errors.UsageError: cannot write subs/board: it lies in the input subs, which it would change
    """
    written = os.path.realpath(out)
    for each in inputs:
        if each is None:
            continue
        read = os.path.realpath(str(each))
        if written == read:
            raise UsageError(f"cannot write {out}: it is an input; give another --out")
        if written.startswith(read + os.sep):
            raise UsageError(f"cannot write {out}: it lies in the input {each}, which it would change")
        if read.startswith(written + os.sep) and os.path.isdir(read):
            raise UsageError(f"cannot write {out}: the input {each} lies in it; give another --out")


def left_folders(folder: Path, prefix: str) -> list[Path]:
    """The folders that killed commands of this user may have left in a folder.

    `prefix` is a pattern, after which ``tempfile`` has chosen the rest of the name. A link to a folder is none.
    """
    named = re.compile(f"{prefix}[a-z0-9_]{{8}}")
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if named.fullmatch(entry.name)]
    own = getattr(os, "geteuid", lambda: 0)()
    return [
        Path(each.path)
        for each in found
        if each.is_dir(follow_symlinks=False) and each.stat(follow_symlinks=False).st_uid == own
    ]


def is_below(home: Path, path: str) -> bool:
    """Whether a path with slashes lies below a folder, and no link on it leads elsewhere."""
    return os.path.realpath(home / path) == os.path.join(os.path.realpath(home), *path.split("/"))


def below(home: Path, path: str) -> Path:
    """The place of a path below a folder; a path that leads out of it is refused."""
    if not is_below(home, path):
        raise UsageError(f"cannot write {printable(str(home / path))}: it leads out of {home}")
    return home / path


@contextmanager
def alone_in(folder: Location) -> Iterator[None]:
    """Allow only one run at a time in a folder. To be used in a ``with`` statement.

    If the process dies, its lock ends with it.
    """
    import filelock

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(Path(folder) / ".lock")
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise UsageError(f"another run is at work in {folder}") from None
    except OSError as problem:
        raise UsageError(f"cannot write into {folder}: {problem.strerror or problem}") from None
    try:
        yield
    finally:
        # The file is removed while it is locked. A process that has opened it just before gets the lock of a
        # file without a name, which filelock notices and refuses. Windows cannot remove an open file.
        with contextlib.suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()
