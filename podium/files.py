"""Read and write tables and texts: CSV, Parquet and JSON, from people one trusts and from strangers.

Every command reads through this module, so that a bad file is described in the same words everywhere. A
stranger's file may be made to exhaust the machine. Therefore the expanded bytes, the columns and the values are
counted before anything is built from them.

A file that cannot be read or written is a `UsageError`. For wrong content the caller gives the type of the
error: `podium.errors.HostError` for the host's files, `podium.errors.SubmissionRejected` for submissions.
"""

import contextlib
import csv
import errno
import gc
import gzip
import io
import itertools
import json
import os
import re
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from podium.errors import NotAFile, ToolError, UsageError
from podium.parquet_pages import chunks_of
from podium.wording import FORMULA_STARTS, counted, listed, printable, spreadsheet_safe

TABLE_SUFFIXES = (".csv", ".csv.gz", ".parquet")

# ---- Limits: each is far above any table that we have seen, and far below what stops a machine -------------

# The size of a file once it is expanded.
MOST_BYTES = 2**31
# Every packed file may expand to this size. A larger one may expand to MOST_RATIO times its packed size: real
# tables reach a ratio of 10, and a file of zeros reaches 1,000.
BYTES_AT_ANY_RATIO = 2**26
MOST_RATIO = 100
# A million columns fit into 2 MB, and take minutes and gigabytes to read.
MOST_COLUMNS = 5_000
# The size of a CSV's first row, in bytes.
MOST_HEADER = 2**20
# The number of values in a JSON file. Each takes up to 100 bytes of memory.
MOST_VALUES = 10_000_000
# The size of a zip's list of files, in bytes.
MOST_DIRECTORY = 2**16
# The memory that a number takes, or the position of a text.
BYTES_PER_VALUE = 8

# Encodings of Parquet's pages, numbered as in parquet.thrift.
DELTA_BYTE_ARRAY, DICTIONARIES = 7, frozenset({2, 8})

PARQUET = b"PAR1"
GZIP = b"\x1f\x8b"
ZIP = b"PK\3\4"
ZIP_END, ZIP64_END = b"PK\5\6", b"PK\6\7"
AS_CSV = "in Excel, save as CSV UTF-8"
WITH_PANDAS = "write it with to_csv or to_parquet"
# How a file that is not a CSV begins, what it is, and what to do with it.
OTHER_FORMS = (
    (b"\xd0\xcf\x11\xe0", "an Excel workbook", AS_CSV),
    (b"\xff\xfe", "UTF-16", AS_CSV),
    (b"\xfe\xff", "UTF-16", AS_CSV),
    *((b"\x80" + bytes([protocol]), "a pickle", WITH_PANDAS) for protocol in range(2, 6)),
    (b"ARROW1", "a Feather file", WITH_PANDAS),
    (b"\x93NUMPY", "an array of numpy", WITH_PANDAS),
    (b"\x89HDF", "an HDF5 file", WITH_PANDAS),
    (PARQUET, "Parquet", WITH_PANDAS),
    (ZIP, "a zip", "unpack it"),
    (GZIP, "a file packed twice", "pack it once"),
    (b"SQLite format 3", "a database", WITH_PANDAS),
    (b"%PDF", "a PDF", WITH_PANDAS),
    (b"BZh", "a file packed by bzip2", "pack it with gzip"),
    (b"\xfd7zXZ", "a file packed by xz", "pack it with gzip"),
    (b"7z\xbc\xaf", "a file packed by 7z", "pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", "a file packed by zstd", "pack it with gzip"),
)
EMPTY_LINES = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*+[\r\n]++)*+")
# Quotation marks count only at the beginning of a cell.
CELL = re.compile(rb'(?:"(?:[^"]++|"")*+"?)?[^,\r\n]*+')
HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a surrogate pair, as JSON may write it
# Decimals are read exactly. pyarrow and pandas 3 do so by default.
EXACT: Any = {"float_precision": "round_trip"} if int(pd.__version__.partition(".")[0]) < 3 else {}


# ---- Bytes -------------------------------------------------------------------------------------------------


def is_url(path: str | os.PathLike[str]) -> bool:
    """Tell a URL from a local path.

    Parameters
    ----------
    path : str or path
        A path or a URL.

    Returns
    -------
    bool
        True if it names a protocol.

    Examples
    --------
    >>> is_url("s3://bucket/file.csv"), is_url("file.csv")
    (True, False)
    """
    return "://" in str(path)


def is_table_name(path: str | os.PathLike[str]) -> bool:
    """Tell by its name whether a file is a table, or may be an official file that a metric's companion reads.

    Parameters
    ----------
    path : str or path
        The name of the file.

    Returns
    -------
    bool
        True if the name ends like that of a table, such as .csv or .parquet.
    """
    return str(path).endswith((*TABLE_SUFFIXES, ".zip"))


def read_bytes(path: str | os.PathLike[str], follow_links: bool = True) -> bytes:
    """Read the content of a file.

    Parameters
    ----------
    path : str or path
        A local file, a URL that fsspec can open, or ``"-"`` for standard input.
    follow_links : bool
        Whether a symbolic link is followed. Give False for a stranger's file, because a link could point at the
        solution.

    Returns
    -------
    bytes
        The content as it is, packed or not.

    Raises
    ------
    NotAFile
        There is something else under that name, such as a pipe, which might never end.
    UsageError
        The file cannot be read, or has more than `MOST_BYTES` bytes.
    """
    content: bytes | None
    try:
        if str(path) == "-":
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        elif is_url(path):
            import fsspec

            with fsspec.open(str(path), "rb") as file:
                content = file.read(MOST_BYTES + 1)
        else:
            with open_regular(path, follow_links) as file:
                size = os.fstat(file.fileno()).st_size
                content = file.read() if size <= MOST_BYTES else None
    except ToolError:
        raise
    except Exception as problem:  # The client of a URL may raise anything.
        reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        if isinstance(problem, FileNotFoundError) and reason in str(path):
            reason = os.strerror(errno.ENOENT)
        raise UsageError(f"cannot read {path}: {reason}") from None
    if content is None or len(content) > MOST_BYTES:
        raise UsageError(f"cannot read {path}: expected at most {_megabytes(MOST_BYTES)}, found more")
    return content


def open_regular(path: str | os.PathLike[str], follow_links: bool = True) -> BinaryIO:
    """Open a regular file to read its bytes, and nothing but a regular file.

    Parameters
    ----------
    path : str or path
        A local file.
    follow_links : bool
        Whether the last part of the path may be a symbolic link.

    Returns
    -------
    binary file
        The file, opened for reading.

    Raises
    ------
    NotAFile
        The path leads to a folder, a link, a pipe, a device or a socket.
    OSError
        The file cannot be opened.

    Notes
    -----
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


def _refuse_other_kinds(path: str | os.PathLike[str], mode: int) -> None:
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


def _most_expanded(packed: int, most: int) -> int:
    """Compute how many bytes a file may have once expanded, from its packed size."""
    return min(most, max(BYTES_AT_ANY_RATIO, MOST_RATIO * packed))


def _megabytes(number: int) -> str:
    return f"{max(1, number >> 20):,} MB"


def _unpacked(content: bytes, name: str, error: type[ToolError], most: int = MOST_BYTES) -> bytes:
    """Expand a gzip file, up to the limit; return another file as it is."""
    if not content.startswith(GZIP):
        return content
    limit = _most_expanded(len(content), most)
    try:
        expanded = gzip.GzipFile(fileobj=io.BytesIO(content)).read(limit + 1)
    except (OSError, EOFError, zlib.error) as problem:
        raise error(f"{name}: expected a file packed by gzip, found {problem}") from None
    if len(expanded) > limit:
        raise error(f"{name}: expected at most {_megabytes(limit)} once expanded, found more")
    return expanded


def _unzipped(content: bytes, name: str, error: type[ToolError], most: int) -> bytes:
    """Expand the one table in a zip. The sizes that the zip states are not trusted."""
    end = content.rfind(ZIP_END, max(0, len(content) - 2**16 - 22))
    if end < 0:
        raise error(f"{name}: expected a table or a whole zip file, found a zip without its end")
    size_of_directory = int.from_bytes(content[end + 12 : end + 16], "little")
    if size_of_directory > MOST_DIRECTORY or content[max(0, end - 20) : end].startswith(ZIP64_END):
        raise error(f"{name}: expected a zip with one table, found too many files in it")
    limit = _most_expanded(len(content), most)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # ZipInfo.is_dir() fails on an empty name.
            members = [each for each in archive.infolist() if not each.filename.endswith("/")]
            if any(each.filename.startswith("xl/") for each in members):
                raise error(f"{name}: expected a CSV table, found an Excel workbook; {AS_CSV}")
            # macOS adds files whose names begin with a dot.
            tables = [each for each in members if not each.filename.rpartition("/")[2].startswith(".")]
            if len(tables) != 1:
                names = listed([printable(each.filename)[:40] for each in tables], 3) or "none"
                raise error(f"{name}: expected a zip with one table, found {len(tables)} files: {names}")
            if tables[0].flag_bits & 1:
                raise error(f"{name}: expected a zip without a password, found an encrypted file")
            if tables[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise error(f"{name}: expected a zip packed by deflate, found another method")
            with archive.open(tables[0]) as file:
                expanded = file.read(limit + 1)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, zlib.error) as problem:
        raise error(f"{name}: expected a whole zip file, found a fault: {problem}") from None
    if len(expanded) > limit:
        raise error(f"{name}: expected at most {_megabytes(limit)} once expanded, found more")
    return expanded


# ---- Texts -------------------------------------------------------------------------------------------------


def read_text(path: str | os.PathLike[str], error: type[ToolError], else_encoding: str | None = None) -> str:
    """Read the text of a file, packed by gzip or not.

    Parameters
    ----------
    path : str or path
        The file, as for `read_bytes`.
    error : type of ToolError
        The error to raise for wrong content, which says whose fault it is.
    else_encoding : str, optional
        The encoding of a text that is not UTF-8. Without it, such a text is an error.

    Returns
    -------
    str
        The text, without a byte order mark.

    Raises
    ------
    UsageError
        The file cannot be read.
    `error`
        The content is not text in the expected encoding, is damaged, or expands beyond the limit.
    """
    content = _unpacked(read_bytes(path), str(path), error)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if else_encoding is not None:
            return content.decode(else_encoding)
        fault = f"{problem.reason} at byte {problem.start + 1}"
        raise error(f"{path}: expected UTF-8 text, found {fault}") from None


def read_lines(
    path: str | os.PathLike[str],
    read: Callable[[str], Any],
    expected: str,
    error: type[ToolError],
    else_encoding: str | None = None,
) -> list[Any]:
    """Read each line of a text file with a function. Empty lines are skipped.

    Parameters
    ----------
    path : str or path
        The file, as for `read_bytes`.
    read : function of str
        It turns a line into a value. If the line is wrong, it raises a ValueError that says why, as
        `parse_json` does.
    expected : str
        What the file should contain, for the message.
    error : type of ToolError
        The error to raise for wrong content, which says whose fault it is.
    else_encoding : str, optional
        The encoding of a text that is not UTF-8, as for `read_text`.

    Returns
    -------
    list
        What the function returned for each line.

    Raises
    ------
    UsageError
        The file cannot be read.
    `error`
        Some lines are wrong. The message counts them and names the first one.
    """
    results, faults = [], []
    # splitlines() would also split at characters such as U+2028, which a text in JSON may contain.
    lines = io.StringIO(read_text(path, error, else_encoding), newline="\n")
    with collection_paused():
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    results.append(read(line.removesuffix("\n")))
                except ValueError as fault:
                    faults.append(f"line {number} ({fault})")
    if faults:
        where = f"Wrong in {counted(len(faults), 'line')}: {listed(faults, 1)}"
        raise error(f"{Path(path).name}: expected {expected}. {where}")
    return results


def parse_json(text: str | bytes) -> Any:
    """Parse a text in JSON that may be a stranger's.

    Parameters
    ----------
    text : str or bytes
        The text; bytes must be UTF-8.

    Returns
    -------
    object
        The value that the text describes.

    Raises
    ------
    ValueError
        The text is not JSON, has more than `MOST_VALUES` values, or is nested too deeply. Or it has half of a
        surrogate pair, which no file in UTF-8 can hold.

    Notes
    -----
    The number of values is bounded before any value is built: ``[]`` takes two bytes in a file and 64 in
    memory. Python bounds the depth of the nesting.

    Examples
    --------
    >>> parse_json('{"a": [1, null]}')
    {'a': [1, None]}
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    ValueError: it is nested too deeply
    """
    if isinstance(text, bytes):
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
    """Pause the garbage collector, which would look at all objects again and again while many are made.

    Yields
    ------
    None
        Nothing; the collector is paused during the ``with`` block.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# ---- Tables ------------------------------------------------------------------------------------------------


def read_table(
    path: str | os.PathLike[str], text_columns: Collection[str], error: type[ToolError]
) -> pd.DataFrame:
    """Read a table from a file.

    Parameters
    ----------
    path : str or path
        A CSV, a CSV packed by gzip, a Parquet file, or a zip with one of them. It may be anything that
        `read_bytes` reads.
    text_columns : collection of str
        Columns whose values are kept as text, such as ids ("007").
    error : type of ToolError
        The error to raise for wrong content, which says whose fault it is.

    Returns
    -------
    DataFrame
        The table, with an index that counts its rows. Other columns than `text_columns` become numbers if they
        can. In a CSV only empty cells are missing; "NA" is a text. An index without a name that pandas wrote is
        left out.

    Raises
    ------
    UsageError
        The file cannot be read.
    `error`
        The file is not such a table, or exceeds the limits of this module. The message says what it is.
    """
    return parse_table(read_bytes(path), str(path), text_columns, error)


def parse_table(
    content: bytes,
    name: str,
    text_columns: Collection[str],
    error: type[ToolError],
    most_bytes: int = MOST_BYTES,
    number_columns: Collection[str] = (),
) -> pd.DataFrame:
    """Read a table from the content of a file.

    Parameters
    ----------
    content : bytes
        The content of the file, packed or not.
    name : str
        The name of the file, for messages.
    text_columns : collection of str
        Columns whose values are kept as text, as for `read_table`.
    error : type of ToolError
        The error to raise for wrong content, which says whose fault it is.
    most_bytes : int
        The largest number of bytes that the table may have once expanded.
    number_columns : collection of str
        Columns of `text_columns` that become numbers if every cell of a CSV is one, as platforms read it. They
        find the number 3 in "3", "3.0" and "03", unless another cell is a text such as "3 4".

    Returns
    -------
    DataFrame
        The table, as `read_table` returns it.

    Raises
    ------
    `error`
        The content is not such a table, or exceeds the limits.
    """
    content = _expanded(content, name, error, most_bytes)
    if content.startswith(PARQUET):
        return _without_index(_read_parquet(content, name, text_columns, error, most_bytes))
    _check_csv(content, name, error, most_bytes)
    frame = _read_with_pyarrow(content, text_columns)
    if frame is None:
        frame = _read_with_pandas(content, name, text_columns, error)
    for column in frame.columns.intersection(list(number_columns)):
        with contextlib.suppress(ValueError):  # A cell is no number.
            # If that is one of the first cells, the others need not become Python objects, which takes long.
            pd.to_numeric(frame[column].head(100).astype(object))
            frame[column] = pd.to_numeric(frame[column].astype(object))
    return _without_index(frame)


def csv_of(content: bytes, name: str, error: type[ToolError], most_bytes: int = MOST_BYTES) -> bytes:
    """Expand and check a CSV, for a caller that reads its cells itself.

    Parameters
    ----------
    content : bytes
        The content of the file, packed or not.
    name : str
        The name of the file, for messages.
    error : type of ToolError
        The error to raise for wrong content, which says whose fault it is.
    most_bytes : int
        The largest number of bytes that the CSV may have once expanded.

    Returns
    -------
    bytes
        The CSV, expanded. Its bytes and columns are within the limits, and it is in no other known format.

    Raises
    ------
    `error`
        The content exceeds the limits, is damaged, or is in another format.
    """
    content = _expanded(content, name, error, most_bytes)
    _check_csv(content, name, error, most_bytes)
    return content


def _check_csv(content: bytes, name: str, error: type[ToolError], most: int) -> None:
    """Check the size, the format and the header of a CSV."""
    if len(content) > most:
        raise error(f"{name}: expected at most {_megabytes(most)}, found more")
    _refuse_other_forms(content, name, error)
    _check_header(content, name, error)


def read_rows(
    path: str | os.PathLike[str], error: type[ToolError], show: Callable[[int, int], None] | None = None
) -> Iterator[list[str]]:
    """Read the rows of a CSV one by one, so that a large corpus does not have to fit into memory.

    Parameters
    ----------
    path : str or path
        A local file, packed by gzip or not.
    error : type of ToolError
        The error to raise for wrong content, which says whose fault it is.
    show : function of (int, int), optional
        It is called now and then with the bytes read and the bytes of the whole file.

    Yields
    ------
    list of str
        The cells of a row as text, the header first. Empty lines are skipped.

    Raises
    ------
    UsageError
        The file cannot be read.
    `error`
        The file is not a CSV table in UTF-8.
    """
    csv.field_size_limit(2**31 - 1)
    try:
        with open_regular(path) as raw:
            size = os.fstat(raw.fileno()).st_size
            beginning = raw.read(1024)
            raw.seek(0)
            is_packed = beginning.startswith(GZIP)
            if not is_packed:
                _refuse_other_forms(beginning, str(path), error)
            binary: Any = gzip.GzipFile(fileobj=raw) if is_packed else raw
            with io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as file:
                for number, row in enumerate(csv.reader(file, strict=True)):
                    if show is not None and number % 10_000 == 0:
                        show(raw.tell(), size)
                    if row:
                        yield row
    except UnicodeDecodeError as problem:
        raise error(f"{path} is not UTF-8 text: {problem}; {AS_CSV}") from None
    except (csv.Error, EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise error(f"{path} is not a CSV table: {problem}") from None
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror or problem}") from None


def _expanded(content: bytes, name: str, error: type[ToolError], most: int) -> bytes:
    """Expand a gzip or zip file; return another file as it is."""
    if content.startswith((ZIP, ZIP_END)):
        return _unzipped(content, name, error, most)
    return _unpacked(content, name, error, most)


def _refuse_other_forms(content: bytes, name: str, error: type[ToolError]) -> None:
    """Refuse a content that is neither CSV nor Parquet, and name its format."""
    expected = "Parquet" if name.endswith(".parquet") else "CSV"
    beginning = content[:1024].lstrip().lower()
    if b"\0" in beginning and not any(content.startswith(start) for start, *_ in OTHER_FORMS):
        raise error(f"{name}: expected a {expected} table, found null bytes, as in UTF-16; {AS_CSV}")
    for start, form, cure in OTHER_FORMS:
        if content.startswith(start):
            raise error(f"{name}: expected a {expected} table, found {form}; {cure}")
    if beginning.startswith((b"<!doctype", b"<html")):
        raise error(f"{name}: expected a {expected} table, found a page in HTML; was it downloaded whole?")
    if beginning.startswith((b"{", b"[")) and content[-1024:].rstrip().endswith((b"}", b"]")):
        raise error(f"{name}: expected a {expected} table, found JSON; {WITH_PANDAS}")
    if expected == "Parquet":
        form = "an empty file" if not content else "another form"
        raise error(f"{name} is not a Parquet table: found {form}; {WITH_PANDAS}")
    if not content:
        raise error(f"{name} is not a CSV table: it is empty")
    header = content[: content.find(b"\n")]
    for separator, form in ((";", "semicolons"), ("\t", "tabs")):
        if separator.encode() in header and b"," not in header:
            # A cell such as 0,5 has the decimal comma of some countries.
            has_commas = re.search(rb"[;\t\n]-?\d+,\d+[;\t\r\n]", content[: 1 << 16])
            how = f"sep={separator!r}, decimal=','" if has_commas else f"sep={separator!r}"
            cure = f"read it with pandas.read_csv(…, {how}) and write it with to_csv"
            raise error(f"{name}: expected commas between the columns, found {form}; {cure}")


def _check_header(content: bytes, name: str, error: type[ToolError]) -> None:
    """Check the columns of the first two rows before anything is built, because each takes kilobytes of memory.

    If the second row is longer than the header, pandas takes the cells beyond it for an index. With a million
    such cells it would work for minutes.
    """
    columns, end = _cells_of_row(content, 0)
    if columns > MOST_COLUMNS:
        raise error(f"{name}: expected at most {MOST_COLUMNS:,} columns, found {columns:,} or more")
    if end > MOST_HEADER:
        raise error(f"{name} is not a CSV table: its header has more than {_megabytes(MOST_HEADER)}")
    if _cells_of_row(content, end)[0] > columns > 0:
        raise error(f"{name} is not a CSV table: its rows have more fields than its header")


def _cells_of_row(content: bytes, start: int) -> tuple[int, int]:
    """Count the cells of the next row that is not empty, up to the limit, and return its end as well."""
    before = EMPTY_LINES.match(content, start)
    cells, position = 0, before.end() if before else start
    while position < len(content) and cells <= MOST_COLUMNS:
        cells += 1
        cell = CELL.match(content, position)
        position = cell.end() if cell else len(content)
        if content[position : position + 1] != b",":
            break
        position += 1
    return cells, position


def _without_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Drop an index 0, 1, 2, … that pandas wrote as a first column without a name."""
    if len(frame.columns) < 2 or frame.columns[0] not in ("", "Unnamed: 0"):
        return frame
    first = frame.iloc[:, 0]
    is_index = pd.api.types.is_integer_dtype(first) and np.array_equal(first.to_numpy(), np.arange(len(first)))
    return frame.iloc[:, 1:] if is_index else frame


def _read_parquet(
    content: bytes, name: str, text_columns: Collection[str], error: type[ToolError], most: int
) -> pd.DataFrame:
    """Read a Parquet table, once all that its footer tells of its size is checked."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(f"{name}: reading Parquet needs pyarrow: pip install pyarrow") from None
    limit = _most_expanded(len(content), most)
    try:
        source = pyarrow.BufferReader(content)
        with parquet.ParquetFile(source, thrift_container_size_limit=len(content)) as file:
            packed = _columns_of_unknown_size(file, content, name, error, limit)
            schema = file.schema_arrow
        with parquet.ParquetFile(source, read_dictionary=packed) as file:
            table = file.read()
        _check_texts(table, name, error, limit)
        for position, field in enumerate(schema):
            column = table.column(position)
            if packed and column.type != field.type:
                column = column.cast(field.type)
            if field.name in text_columns and pyarrow.types.is_list(field.type):
                column = _joined(column)
            table = table.set_column(position, field.name, column)
        frame: pd.DataFrame = table.to_pandas()
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as problem:
        raise error(f"{name} is not a Parquet table: {' '.join(str(problem).split())}") from None
    # An index with a name, such as ids, becomes a column. An index without a name is dropped.
    named = [level for level in frame.index.names if level is not None]
    return frame.reset_index(level=named).reset_index(drop=True) if named else frame.reset_index(drop=True)


def _columns_of_unknown_size(
    file: Any, content: bytes, name: str, error: type[ToolError], limit: int
) -> list[str]:
    """Check the sizes of a Parquet file's pages; return the columns of texts whose size they do not tell.

    A dictionary holds each text once, no matter how many rows have it. So 287 bytes can stand for gigabytes. A
    column packed by common beginnings (DELTA_BYTE_ARRAY) can do the same, and nothing tells its size.
    """
    leaves = file.metadata.num_columns
    if max(leaves, len(file.schema_arrow)) > MOST_COLUMNS:
        raise error(f"{name}: expected at most {MOST_COLUMNS:,} columns, found {leaves:,}")
    rows, groups = chunks_of(content)
    values = sum(chunk.values for group in groups for chunk in group)  # lists have more values than rows
    size, packed = max(rows * leaves, values) * BYTES_PER_VALUE, set()
    columns = [file.schema.column(number) for number in range(leaves)]
    for chunk, column in itertools.chain.from_iterable(zip(group, columns) for group in groups):
        if column.physical_type == "FIXED_LEN_BYTE_ARRAY":
            size += chunk.values * column.length
        elif column.physical_type == "BYTE_ARRAY":
            size += chunk.size
            if DELTA_BYTE_ARRAY in chunk.encodings and chunk.values * chunk.size > limit:
                raise error(
                    f"{name}: expected texts in the encoding PLAIN or in a dictionary, found {column.path} in "
                    f"DELTA_BYTE_ARRAY, of which nothing tells how large it becomes; {WITH_PANDAS}"
                )
            if not DICTIONARIES.isdisjoint(chunk.encodings):
                packed.add(column.path)
        else:
            size += max(0, chunk.size - chunk.values * BYTES_PER_VALUE)
    if size > limit:
        raise error(
            f"{name}: expected at most {_megabytes(limit)} once expanded, found {_megabytes(size)} in "
            f"{rows:,} rows"
        )
    return sorted(packed)


def _check_texts(table: Any, name: str, error: type[ToolError], limit: int) -> None:
    """Check how many bytes the texts of dictionaries would take, before they become texts."""
    import pyarrow
    import pyarrow.compute as compute

    def size(array: Any) -> int:
        kind = array.type
        if pyarrow.types.is_dictionary(kind):
            if pyarrow.types.is_nested(kind.value_type) or not len(array.dictionary):
                return size(array.dictionary)
            texts = array.dictionary.cast(pyarrow.large_binary(), safe=False)
            return compute.sum(compute.binary_length(texts).take(array.indices)).as_py() or 0
        if pyarrow.types.is_struct(kind):
            return sum(size(array.field(number)) for number in range(kind.num_fields))
        return size(array.flatten()) if pyarrow.types.is_nested(kind) else int(array.nbytes)

    total = sum(size(chunk) for column in table.columns for chunk in column.chunks)
    if total > limit:
        raise error(f"{name}: expected at most {_megabytes(limit)} once expanded, found {_megabytes(total)}")


def _joined(column: Any) -> Any:
    """Turn lists of positions, such as [3, 4, 5], into texts, such as "3 4 5"; keep other lists."""
    import pyarrow
    import pyarrow.compute as compute

    with contextlib.suppress(pyarrow.ArrowInvalid):  # The numbers are not whole.
        if pyarrow.types.is_floating(column.type.value_type):
            column = column.cast(pyarrow.list_(pyarrow.int64()))
        if pyarrow.types.is_integer(column.type.value_type):
            return compute.binary_join(column.cast(pyarrow.list_(pyarrow.string())), " ")
    return column


def _read_with_pyarrow(content: bytes, text_columns: Collection[str]) -> pd.DataFrame | None:
    """Read a CSV with pyarrow, which is fast. None if pandas should read it or say what is wrong in it."""
    quotes = content.count(b'"')
    if quotes % 2:  # One may be never closed, as in a file that was cut off. pyarrow would close it at the end.
        return None
    try:
        import pyarrow
        import pyarrow.csv as arrow_csv

        table = arrow_csv.read_csv(
            pyarrow.BufferReader(content),
            # Looking for line ends within values, and for faults in UTF-8, takes time. Only values in quotes
            # contain line ends, and ASCII is UTF-8.
            parse_options=arrow_csv.ParseOptions(newlines_in_values=quotes > 0),
            convert_options=arrow_csv.ConvertOptions(
                check_utf8=not content.isascii(),
                column_types=dict.fromkeys(text_columns, pyarrow.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except ImportError:  # Some platforms have no pyarrow.
        return None
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError):
        return None
    # pyarrow reads values that are not UTF-8 as bytes, and accepts a name twice. pandas reports both.
    try:
        is_repeated = len(set(table.column_names)) < len(table.column_names)
    except UnicodeDecodeError:  # A name is not UTF-8.
        return None
    if is_repeated or any(map(pyarrow.types.is_binary, table.schema.types)):
        return None
    # A date such as 2024-01-23 stays text, as with pandas.
    dates = [field.name for field in table.schema if pyarrow.types.is_temporal(field.type)]
    if dates:
        return _read_with_pyarrow(content, [*text_columns, *dates])
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _read_with_pandas(
    content: bytes, name: str, text_columns: Collection[str], error: type[ToolError]
) -> pd.DataFrame:
    """Read a CSV with pandas, or say what is wrong in it."""
    try:
        frame: pd.DataFrame = pd.read_csv(
            io.BytesIO(content),
            dtype=dict.fromkeys(text_columns, str),
            keep_default_na=False,
            na_values=[""],
            low_memory=False,
            **EXACT,
        )
    except UnicodeDecodeError as problem:
        raise error(f"{name} is not UTF-8 text: {problem}; {AS_CSV}") from None
    except (ValueError, EOFError, OSError, csv.Error) as problem:
        if "out of memory" in str(problem):
            raise MemoryError(str(problem)) from None
        why = " ".join(str(problem).split()).removeprefix("Error tokenizing data. C error: ")
        if why.startswith("EOF inside string"):
            why = "a quotation mark is never closed; was it downloaded whole?"
        raise error(f"{name} is not a CSV table: {why}") from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise error(f"{name} is not a CSV table: its rows have more fields than its header")
    return frame


# ---- Writing -----------------------------------------------------------------------------------------------


def write_table(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table, whole or not at all.

    Parameters
    ----------
    table : DataFrame
        The table. Its index is not written.
    path : str or path
        A name that ends in .csv, .csv.gz or .parquet.

    Raises
    ------
    UsageError
        The name ends otherwise, or the file cannot be written.

    Notes
    -----
    The same table always gives the same bytes. A CSV has numbers in the shortest form that reads back the same,
    so 1.0 is written as "1". If at least one text needs quotes, all texts have them. Texts that a spreadsheet
    would execute get an apostrophe in front; see `podium.wording.spreadsheet_safe`.
    """
    check_table_name(path)

    def write(part: Path) -> None:
        if part.suffix == ".parquet":
            table.to_parquet(part, index=False)
        else:
            _write_csv(table, part)
            if part.suffix == ".gz":
                part.write_bytes(gzip.compress(part.read_bytes(), mtime=0))

    write_atomically(path, write)


def check_table_name(path: str | os.PathLike[str]) -> None:
    """Check before the work is done that `write_table` can write a table under this name.

    Parameters
    ----------
    path : str or path
        The name of the file.

    Raises
    ------
    UsageError
        The name does not end in .csv, .csv.gz or .parquet.
    """
    if not str(path).endswith(TABLE_SUFFIXES):
        raise UsageError(f"cannot write {path}: expected a name that ends in {listed(TABLE_SUFFIXES)}")


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a CSV with pyarrow, which takes a tenth of the time that pandas takes."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    columns = [_csv_column(table.iloc[:, number]) for number in range(len(table.columns))]
    rows = pyarrow.table(columns, names=list(map(str, range(len(columns)))))
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(table.columns)
    for quoting in ("none", "needed"):
        options = arrow_csv.WriteOptions(include_header=False, quoting_style=quoting, batch_size=2**13)
        with contextlib.suppress(pyarrow.ArrowInvalid), pyarrow.OSFile(str(path), "wb") as file:
            file.write(header.getvalue().encode("utf-8", "backslashreplace"))
            arrow_csv.write_csv(rows, file, options)
            return  # Otherwise pyarrow has raised an error, because a text needs quotes.


def _csv_column(column: "pd.Series[Any]") -> Any:
    """Turn a column into numbers or safe texts, which pyarrow can write."""
    import pyarrow
    from pyarrow import compute

    try:
        array = pyarrow.array(column, from_pandas=True)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):  # The values have several types.
        array = pyarrow.array(column.map(str, na_action="ignore").astype(object), from_pandas=True)
    kind = array.type
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_null(kind):
        return array
    if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
        texts = column.astype(object).map(str, na_action="ignore")
        array = pyarrow.array(texts, pyarrow.string(), from_pandas=True)
    starts = compute.utf8_slice_codeunits(compute.unique(array), 0, 1)
    if not compute.any(compute.is_in(starts, pyarrow.array(list(FORMULA_STARTS)))).as_py():
        return array
    safe = [text if text is None else spreadsheet_safe(text) for text in array.to_pylist()]
    return pyarrow.array(safe, pyarrow.string())


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], Any]) -> None:
    """Let a function write a file under a temporary name, and rename it at the end.

    So nobody ever sees half a file.

    Parameters
    ----------
    path : str or path
        The name of the file. Missing folders are made.
    write : function of Path
        It writes the file with the given path, whose name has the same ending as `path`.

    Raises
    ------
    UsageError
        The file cannot be written.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # pandas chooses the compression by the ending of the name.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix="".join(path.suffixes[-2:]))
        os.close(handle)
        part = Path(name)
        try:
            write(part)
            part.chmod(0o644)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as problem:
        raise UsageError(f"cannot write {path}: {problem.strerror or problem}") from None


@contextmanager
def alone_in(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Allow only one run at a time in a folder. To be used in a ``with`` statement.

    If the process dies, its lock ends with it.

    Parameters
    ----------
    folder : str or path
        The folder, which is made if it is missing.

    Yields
    ------
    None
        Nothing; the folder is locked during the ``with`` block.

    Raises
    ------
    UsageError
        Another run is at work in the folder, or the folder cannot be written into.
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
