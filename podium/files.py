"""Tables in and out: CSV (.gz) and Parquet; local paths and URLs; whole or not at all.

`UsageError` says what cannot be read or written, the caller's `error` what is wrong in it.
"""

import csv
import errno
import gzip
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from podium.errors import ToolError, UsageError
from podium.wording import counted, listed

GZIP = b"\x1f\x8b"
MOST_BYTES = 2**31  # once expanded
# As pyarrow reads decimals, and pandas 3 by itself.
EXACT: Any = {"float_precision": "round_trip"} if int(pd.__version__.partition(".")[0]) < 3 else {}


def read_table(
    path: str | os.PathLike[str], text_columns: Collection[str], error: type[ToolError]
) -> pd.DataFrame:
    """A table in which only empty cells are missing, and all but `text_columns` are numbers where they can."""
    return parse_table(read_bytes(path), str(path), text_columns, error)


def is_url(path: str | os.PathLike[str]) -> bool:
    return "://" in str(path)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file, a URL, or standard input ("-")."""
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read()
        if not is_url(path):
            return Path(path).read_bytes()
        import fsspec

        with fsspec.open(str(path), "rb") as file:
            content: bytes = file.read()
            return content
    except Exception as problem:  # of a URL's client
        reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        if isinstance(problem, FileNotFoundError) and reason in str(path):
            reason = os.strerror(errno.ENOENT)
        raise UsageError(f"cannot read {path}: {reason}") from None


def read_text(path: str | os.PathLike[str], error: type[ToolError], else_encoding: str | None = None) -> str:
    """The text of a file (.gz), in UTF-8 or else another encoding."""
    content = _unpacked(read_bytes(path), str(path), error)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if else_encoding is not None:
            return content.decode(else_encoding)
        found = f"{problem.reason} at byte {problem.start + 1}"
        raise error(f"{path}: expected UTF-8 text, found {found}") from None


def read_lines(
    path: str | os.PathLike[str],
    read: Callable[[str], Any],
    expected: str,
    error: type[ToolError],
    else_encoding: str | None = None,
) -> list[Any]:
    """What `read`, which may raise ValueErrors, makes of each line that is not empty."""
    results, faults = [], []
    # splitlines() would split texts in JSON.
    for number, line in enumerate(read_text(path, error, else_encoding).split("\n"), start=1):
        if line.strip():
            try:
                results.append(read(line))
            except ValueError as fault:
                faults.append(f"line {number} ({fault})")
    if faults:
        where = f"Wrong in {counted(len(faults), 'line')}: {listed(faults, 1)}"
        raise error(f"{Path(path).name}: expected {expected}. {where}")
    return results


def _unpacked(content: bytes, name: str, error: type[ToolError]) -> bytes:
    if not content.startswith(GZIP):
        return content
    try:
        expanded = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as problem:
        raise error(f"{name}: expected a file packed by gzip, found {problem}") from None
    if len(expanded) > MOST_BYTES:
        raise error(f"{name}: expected at most {MOST_BYTES >> 20:,} MB once expanded, found more")
    return expanded


def parse_table(
    content: bytes, name: str, text_columns: Collection[str], error: type[ToolError]
) -> pd.DataFrame:
    """As `read_table`, of a file's content."""
    if name.endswith(".parquet"):
        return _read_parquet(content, name, error)
    content = _unpacked(content, name, error)
    _check_form(content, name, error)
    frame = _read_with_pyarrow(content, text_columns)
    return _read_with_pandas(content, name, text_columns, error) if frame is None else frame


def _check_form(content: bytes, name: str, error: type[ToolError]) -> None:
    for start, found in ((b"PK\3\4", "an Excel workbook"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16")):
        if content.startswith(start):
            raise error(f"{name}: expected a CSV table, found {found}; in Excel, save as CSV UTF-8")
    header = content[: content.find(b"\n")]
    for separator, found in ((b";", "semicolons"), (b"\t", "tabs")):
        if separator in header and b"," not in header:
            raise error(f"{name}: expected commas between the columns, found {found}")


def _read_parquet(content: bytes, name: str, error: type[ToolError]) -> pd.DataFrame:
    import pyarrow
    import pyarrow.parquet

    try:
        frame: pd.DataFrame = pyarrow.parquet.read_table(io.BytesIO(content)).to_pandas()
    except (pyarrow.ArrowException, OSError, ValueError) as problem:
        raise error(f"{name} is not a Parquet table: {' '.join(str(problem).split())}") from None
    return frame


def _read_with_pyarrow(content: bytes, text_columns: Collection[str]) -> pd.DataFrame | None:
    """None where pandas is to decide."""
    try:
        import pyarrow
        import pyarrow.csv as arrow_csv

        table = arrow_csv.read_csv(
            pyarrow.BufferReader(content),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(text_columns, pyarrow.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except ImportError:  # on another platform
        return None
    except (pyarrow.ArrowException, OSError):
        return None
    # pyarrow takes for bytes what is not UTF-8, and lets names repeat.
    is_repeated = len(set(table.column_names)) < len(table.column_names)
    if is_repeated or any(map(pyarrow.types.is_binary, table.schema.types)):
        return None
    # 2024-01-23 is text, as pandas has it.
    dates = [field.name for field in table.schema if pyarrow.types.is_temporal(field.type)]
    if dates:
        return _read_with_pyarrow(content, [*text_columns, *dates])
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _read_with_pandas(
    content: bytes, name: str, text_columns: Collection[str], error: type[ToolError]
) -> pd.DataFrame:
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
        raise error(f"{name} is not UTF-8 text: {problem}") from None
    except (ValueError, EOFError, OSError, csv.Error) as problem:
        raise error(f"{name} is not a CSV table: {' '.join(str(problem).split())}") from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise error(f"{name} is not a CSV table: its rows have more fields than its header")
    return frame


def write_table(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write .csv, .csv.gz or .parquet; the same table gives the same bytes."""

    def write(part: Path) -> None:
        if part.suffix == ".parquet":
            table.to_parquet(part, index=False)
        else:
            compression: Any = {"method": "gzip", "mtime": 0} if part.suffix == ".gz" else None
            table.to_csv(part, index=False, lineterminator="\n", compression=compression)

    write_atomically(path, write)


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], Any]) -> None:
    """Let `write` fill a file that moves to `path` at the end."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # pandas chooses compression by the suffix.
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
    """Refuse a second run in a folder, until the first one ends."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        lock = (Path(folder) / ".lock").open("a")
    except OSError as problem:
        raise UsageError(f"cannot write into {folder}: {problem.strerror or problem}") from None
    with lock:
        try:
            if os.name == "nt":
                import msvcrt

                msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            else:
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"another run is at work in {folder}") from None
        yield
