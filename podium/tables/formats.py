"""Read and write tables: CSV and Parquet, from people one trusts and from strangers.

Every command reads tables through this module, so that a bad one is described in the same words everywhere. A
stranger's file may be made to exhaust the machine. Therefore the columns and the values are counted before
anything is built from them, as `podium.tables.files` counts the expanded bytes.

For wrong content the caller gives the type of the error: `podium.common.errors.HostError` for the host's files,
`podium.common.errors.SubmissionRejected` for submissions.
"""

import contextlib
import csv
import gzip
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, NamedTuple, TextIO

import numpy as np
import pandas as pd

from podium.child import limits
from podium.common.errors import ToolError, UsageError
from podium.common.wording import counted, listed, printable, spreadsheet_safe
from podium.tables.files import (
    AS_CSV,
    MOST_BYTES,
    TABLE_SUFFIXES,
    Location,
    expanded,
    megabytes,
    most_expanded,
    not_utf_8,
    read_bytes,
    write_atomically,
)

# A million columns fit into 2 MB, and take minutes and gigabytes to read.
MOST_COLUMNS = 5_000
# The part of a CSV, in bytes, in which its columns are counted.
BEGINNING = 2**20
BYTES_PER_VALUE = 8  # the memory that a number takes

NO_NAMES = ("", "Unnamed: 0")  # of an index that pandas wrote as a first column
PARQUET = b"PAR1"
WITH_PANDAS = "write it with to_csv or to_parquet"
AS_PARQUET = "copy it again, write it with to_parquet, or name it by what it is"
WITH_GZIP = "pack it with gzip"
COMMAS = "commas between the columns"
FIRST_LINE = "the names of the columns in the first line"
WITH_COMMAS = "read it with pandas.read_csv(…, {}) and write it with to_csv"
# No text in UTF-8 begins with such a byte, as a pickle, HDF5, numpy's arrays and xz do, and no table with the
# words of Feather, SQLite, bzip2, 7z, zstd and PDF.
OF_OTHERS = rb"[\x80-\xc1\xf5-\xff]|ARROW1|SQLite format|BZh\d|7z\xbc|\x28\xb5\x2f|%PDF"
# A cell such as 0,5 has the decimal comma of some countries.
DECIMAL_COMMA = rb"(?s)[^,\n]*;[^,\n]*(?=\n).*?[;\n]-?\d+,\d+[;\r\n]"


class Sign(NamedTuple):
    """How a content begins that is not a CSV with commas."""

    pattern: bytes  # matches the beginning and the end of the content
    form: str  # what it is
    advice: str
    expected: str = ""  # instead of a CSV or Parquet table


# The first sign that fits counts.
SIGNS = (
    Sign(rb"\xd0\xcf\x11\xe0", "an Excel workbook", AS_CSV),
    Sign(rb"\xff\xfe|\xfe\xff", "UTF-16", AS_CSV),
    Sign(rb"PAR1", "Parquet", WITH_PANDAS),
    Sign(rb"PK\x03\x04", "a zip", "unpack it"),
    Sign(rb"\x1f\x8b", "a file packed twice", "pack it once"),
    Sign(OF_OTHERS, "a pickle, a packed file or another form of bytes", f"{WITH_PANDAS}, or {WITH_GZIP}"),
    Sign(rb"(?s).{257}ustar", "a tar archive", "unpack it"),
    Sign(rb"(?s).*\x00", "null bytes, as in UTF-16", AS_CSV),
    Sign(rb"(?i)\s*<(!doctype|html)", "a page in HTML", "was it downloaded whole?"),
    Sign(rb"(?s)\s*[{\[].*[}\]]\s*\Z", "JSON", WITH_PANDAS),
    Sign(rb"(\xef\xbb\xbf)?\"?sep=", "sep=, which Excel alone reads", "delete that line", FIRST_LINE),
    Sign(DECIMAL_COMMA, "semicolons", WITH_COMMAS.format("sep=';', decimal=','"), COMMAS),
    Sign(rb"[^,\n]*;[^,\n]*(\n|\Z)", "semicolons", WITH_COMMAS.format("sep=';'"), COMMAS),
    Sign(rb"[^,\n]*\t[^,\n]*(\n|\Z)", "tabs", WITH_COMMAS.format(r"sep='\t'"), COMMAS),
    Sign(rb"[^,\n]*\|[^,\n]*(\n|\Z)", "pipes", WITH_COMMAS.format("sep='|'"), COMMAS),
)
# pyarrow aborts its process where it lacks memory for a CSV, so it is not asked if a limit leaves less than so
# many times the file; pandas raises an error.
TIMES_IN_ARROW = 6
ROOM_FOR_THREADS = 2**30  # bytes; near a limit of memory no thread can be started
# Decimals are read exactly. pyarrow and pandas 3 do so by default.
EXACT: Any = {"float_precision": "round_trip"} if int(pd.__version__.partition(".")[0]) < 3 else {}


# ---- Reading -----------------------------------------------------------------------------------------------


def read_table(path: Location, text_columns: Collection[str], error: type[ToolError]) -> pd.DataFrame:
    """Read a table from a file."""
    return parse_table(read_bytes(path), str(path), text_columns, error)


def parse_table(
    content: bytes,
    name: str,
    text_columns: Collection[str] | None,
    error: type[ToolError],
    most_bytes: int = MOST_BYTES,
    number_columns: Collection[str] = (),
    first_is_text: bool = False,
) -> pd.DataFrame:
    """Read a table from the content of a file.

    Without `text_columns`, every column has texts. Then no row may end early, and no name may occur twice.
    """
    content = expanded(content, name, error, most_bytes)
    if content.startswith(PARQUET):
        table = _read_parquet(content, name, text_columns, error, most_bytes)
        return _without_index(table, name, error)
    header, first_row = _check_csv(content, name, error, most_bytes)
    _refuse_longer(header, first_row, name, error)
    _refuse_cut(content, len(header), name, error)
    are_texts = text_columns is None
    if text_columns is None:
        _refuse_repeated(header, name, error)
        text_columns = header
    if first_is_text:
        text_columns = {*text_columns, *[column for column in header if column not in NO_NAMES][:1]}
    frame = _read_with_pyarrow(content, text_columns)
    if frame is None:
        if fault := not_utf_8(io.BytesIO(content)):
            raise error(f"{name}: {fault}; {AS_CSV}")
        if are_texts and (fault := _fault_in(content, may_end_early=False)):
            raise error(f"{name} is not a CSV table: {fault}")
        frame = _read_with_pandas(content, name, text_columns, error)
    if are_texts:
        frame.columns = pd.Index(header)  # pandas gives a column without a name another one
    for column in frame.columns.intersection(list(number_columns)):
        with contextlib.suppress(ValueError):  # The cell is not a number.
            # If that is one of the first cells, the others need not become Python objects, which takes long.
            pd.to_numeric(frame[column].head(100).astype(object))
            frame[column] = pd.to_numeric(frame[column].astype(object))
    return _without_index(frame, name, error)


def _without_index(frame: pd.DataFrame, name: str, error: type[ToolError]) -> pd.DataFrame:
    """Drop an index 0, 1, 2, … that pandas wrote as a first column without a name.

    Rows without any value, which spreadsheets leave at the end, are refused.
    """
    if len(frame.columns) < 2:
        return frame
    first = frame.iloc[:, 0]
    if first.isna().any() and len(empty := np.flatnonzero(frame.isna().all(axis=1))):
        found = f"{counted(len(empty), 'empty row')}, the first one as row number {empty[0] + 1:,}"
        raise error(
            f"{name}: expected values in every row, found {found}; delete {'it' if len(empty) == 1 else 'them'}"
        )
    is_index = (
        frame.columns[0] in NO_NAMES
        and pd.api.types.is_integer_dtype(first)
        and np.array_equal(first.to_numpy(), np.arange(len(first)))
    )
    return frame.iloc[:, 1:] if is_index else frame


def csv_of(content: bytes, name: str, error: type[ToolError]) -> bytes:
    """Expand and check a CSV, for a caller that reads its cells itself."""
    content = expanded(content, name, error, MOST_BYTES)
    _check_csv(content, name, error, MOST_BYTES)
    return content


def _check_csv(content: bytes, name: str, error: type[ToolError], most: int) -> list[list[str]]:
    """Check the size, the format and the number of columns of a CSV; return its header and its first row."""
    if len(content) > most:
        raise error(f"{name}: expected at most {megabytes(most)}, found more")
    expected = "Parquet" if name.endswith(".parquet") else "CSV"
    sample = content[:1024] + content[max(1024, len(content) - 64) :]
    if not content:
        raise error(f"{name} is not a {expected} table: it is empty")
    sign = next((each for each in SIGNS if re.match(each.pattern, sample)), None)
    if expected == "Parquet":
        found = sign.form if sign else "another form"
        raise error(f"{name}: expected a Parquet table, found {found}; {AS_PARQUET}")
    if sign:
        raise error(f"{name}: expected {sign.expected or 'a CSV table'}, found {sign.form}; {sign.advice}")
    # Columns are counted before anything is built, because each takes kilobytes of memory. If the second row is
    # longer than the header, pandas takes the cells beyond it for an index, with a million of them for minutes.
    beginning = io.StringIO(content[:BEGINNING].decode("utf-8-sig", errors="replace"), newline="")
    rows = list(itertools.islice(filter(None, _rows_of(beginning, strict=False)), 2))
    width = max(map(len, rows), default=0)
    if width > MOST_COLUMNS:
        raise error(f"{name}: expected at most {MOST_COLUMNS:,} columns, found {width:,} or more")
    return [*rows, [], []][:2]


def _refuse_longer(header: list[str], row: list[str], name: str, error: type[ToolError]) -> None:
    """Refuse a first row that is longer than the header: pandas would take its first cells for an index."""
    if len(row) > len(header):
        cure = WITH_COMMAS.format("index_col=False") if not any(row[len(header) :]) else WITH_PANDAS
        expected = f"{counted(len(header), 'cell')} in every row, as in the header"
        behind = " with a comma behind each row" if not row[-1] else ""
        raise error(f"{name}: expected {expected}, found {len(row)}{behind}; {cure}")


def _refuse_cut(content: bytes, cells: int, name: str, error: type[ToolError]) -> None:
    """Refuse a table that ends within a row, as when a copy was interrupted; missing cells would be empty."""
    last = content[content.rfind(b"\n") + 1 :]
    found = last.count(b",") + 1
    if last.strip() and b'"' not in last and found < cells:
        raise error(f"{name}: the last line was cut: expected {counted(cells, 'cell')}, found {found}")


def parse_rows(
    content: bytes, name: str, error: type[ToolError], show: Callable[[int, int], None] | None = None
) -> Iterator[list[str]]:
    """Take the rows of a CSV one by one from a file's content, without interpreting any cell."""
    expanded = csv_of(content, name, error)
    return _rows_in(io.BytesIO(expanded), name, error, show, len(expanded))


def stream_rows(file: BinaryIO, name: str, error: type[ToolError]) -> Iterator[list[str]]:
    """Take the rows of an expanded CSV one by one from an open file, which may be larger than the memory."""
    _check_csv(file.read(BEGINNING), name, error, MOST_BYTES)
    file.seek(0)
    return _rows_in(file, name, error)


def _rows_in(
    raw: BinaryIO,
    name: str,
    error: type[ToolError],
    show: Callable[[int, int], None] | None = None,
    size: int = 0,
) -> Iterator[list[str]]:
    """Take the rows of an expanded CSV one by one; empty lines are skipped."""
    try:
        with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            try:
                for number, row in enumerate(_rows_of(text)):
                    if show is not None and number % 10_000 == 0:
                        show(raw.tell(), size)
                    if row:
                        yield row
            except UnicodeDecodeError:
                raise error(f"{name}: {not_utf_8(raw)}; {AS_CSV}") from None
    except csv.Error as problem:
        raise error(f"{name} is not a CSV table: {problem}") from None


def read_texts(path: Location, error: type[ToolError]) -> pd.DataFrame:
    """Read a table whose cells are texts, as they stand in the file; an empty cell is None."""
    return parse_texts(read_bytes(path), str(path), error)


def parse_texts(content: bytes, name: str, error: type[ToolError]) -> pd.DataFrame:
    """Take the texts of a table from a file's content."""
    frame = parse_table(content, name, None, error)
    del content  # which may be large
    return pd.DataFrame({column: _shared(frame.pop(column)) for column in [*frame]}, dtype=object)


def _shared(cells: pd.Series) -> pd.Series:
    """Texts of which equal ones are one object in memory; None where a cell is empty."""
    codes, texts = pd.factorize(cells)
    once = np.array([*(text or None for text in texts), None], dtype=object)
    return pd.Series(once[codes], index=cells.index, dtype=object)


def _rows_of(file: TextIO, strict: bool = True) -> Any:
    """Make a reader of the rows of a CSV; a cell may have any length."""
    csv.field_size_limit(2**31 - 1)
    return csv.reader(file, strict=strict)


def _read_parquet(
    content: bytes, name: str, text_columns: Collection[str] | None, error: type[ToolError], most: int
) -> pd.DataFrame:
    """Read a Parquet table; without `text_columns`, every column has texts.

    A dictionary holds each text once, no matter how many rows have it. So a few hundred bytes can stand for
    gigabytes, and nothing in the file tells it. A stranger's file is therefore read within
    `podium.child.limits`.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        source = pyarrow.BufferReader(content)
        with parquet.ParquetFile(source, thrift_container_size_limit=len(content)) as file:
            _check_shape(file, name, error, most_expanded(len(content), most))
            table = file.read(use_threads=limits.room() > ROOM_FOR_THREADS)
        table.validate(full=True)
        for position, field in enumerate(table.schema):
            if text_columns is None or field.name in text_columns:
                table = table.set_column(position, field.name, _as_in_csv(table.column(position)))
        frame: pd.DataFrame = _with_plain_types(table).to_pandas(use_threads=limits.room() > ROOM_FOR_THREADS)
        # An index with a name, such as ids, becomes a column. An index without a name is dropped.
        named = [level for level in frame.index.names if level is not None]
        frame = frame.reset_index(level=named).reset_index(drop=True)
    except (MemoryError, ToolError):
        raise
    except Exception:  # Damaged metadata leads to errors of any class, whose texts help nobody.
        found = "one that is damaged or has columns of another library"
        cure = f"copy it again, or {WITH_PANDAS}"
        raise error(
            f"{name}: expected a whole Parquet file that pandas can read, found {found}; {cure}"
        ) from None
    names = list(map(str, frame.columns))
    _refuse_repeated(names, name, error)
    if text_columns is None:
        frame = frame.astype(object).where(frame.notna(), "").astype(str)
    return frame.set_axis(names, axis=1)


def _refuse_repeated(columns: list[str], name: str, error: type[ToolError]) -> None:
    """Raise an error if several columns have the same name."""
    if repeated := [printable(each)[:40] for each, times in Counter(columns).items() if times > 1]:
        raise error(f"{name}: expected every column once, found several called {listed(repeated, 3)}")


def _with_plain_types(table: Any) -> Any:
    """Let pandas make its usual columns of a table that says that its columns were those of Arrow.

    pandas cannot read what it writes there for columns of lists.
    """
    about = table.schema.metadata or {}
    kept = re.sub(rb'"numpy_type": "[^"]*\[pyarrow\]"', b'"numpy_type": "object"', about.get(b"pandas", b""))
    return table.replace_schema_metadata(about | {b"pandas": kept}) if kept else table


def _check_shape(file: Any, name: str, error: type[ToolError], limit: int) -> None:
    """Check the number of columns and the size that a Parquet file states."""
    about = file.metadata
    if about.num_columns > MOST_COLUMNS:
        raise error(f"{name}: expected at most {MOST_COLUMNS:,} columns, found {about.num_columns:,}")
    groups = (about.row_group(number).total_byte_size for number in range(about.num_row_groups))
    size = max(sum(groups), about.num_rows * about.num_columns * BYTES_PER_VALUE)
    if size > limit:
        raise error(
            f"{name}: expected at most {megabytes(limit)} once expanded, found {megabytes(size)} in "
            f"{about.num_rows:,} rows"
        )


def _as_in_csv(column: Any) -> Any:
    """Turn what pandas would change, or a CSV cannot hold, into the texts that a CSV has.

    Positions, such as [3, 4, 5] or ["3", "4", "5"], become "3 4 5"; other lists are kept. Beside a missing
    cell, pandas would make 7 a float, which is written as 7.0.
    """
    import pyarrow
    import pyarrow.compute as compute
    from pyarrow import types

    if not (types.is_nested(column.type) and hasattr(column.type, "value_type")):  # no list, of whatever kind
        has_gaps = types.is_integer(column.type) and column.null_count
        return column.cast(pyarrow.string()) if has_gaps else column
    value, whole = column.type.value_type, pyarrow.list_(pyarrow.int64())
    with contextlib.suppress(pyarrow.ArrowInvalid):  # The numbers are not whole.
        if types.is_floating(value):
            column = column.cast(whole)
        elif types.is_string(value) or types.is_large_string(value):
            column.cast(whole)  # fails unless each text is a whole number
        elif not types.is_integer(value):
            return column
        return compute.binary_join(column.cast(pyarrow.list_(pyarrow.string())), " ")
    return column


def _read_with_pyarrow(content: bytes, text_columns: Collection[str]) -> pd.DataFrame | None:
    """Read a CSV with pyarrow, which is fast. None if pandas should read it or say what is wrong in it."""
    quotes = content.count(b'"')
    if quotes % 2:  # One may be never closed, as in a file that was cut off. pyarrow would close it at the end.
        return None
    if limits.room() < TIMES_IN_ARROW * len(content):
        return None
    import pyarrow
    import pyarrow.csv as arrow_csv

    try:
        table = arrow_csv.read_csv(
            pyarrow.BufferReader(content),
            # Several threads take more processor time, and hardly less time, for files of usual sizes.
            arrow_csv.ReadOptions(use_threads=False),
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
    frame: pd.DataFrame = table.to_pandas(use_threads=limits.room() > ROOM_FOR_THREADS)
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
    except pd.errors.ParserError:
        fault = _fault_in(content)
        if not fault:
            raise MemoryError from None  # pandas has no class of its own for it
        raise error(f"{name} is not a CSV table: {fault}") from None
    except (ValueError, OSError) as problem:
        raise error(f"{name} is not a CSV table: {problem}") from None
    return frame


def _fault_in(content: bytes, may_end_early: bool = True) -> str:
    """Say what is wrong in the rows of a CSV in UTF-8; an empty text if nothing is."""
    rows = _rows_of(io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline=""))
    width = line = 0
    try:
        for row in rows:
            width = width or len(row)
            if len(row) > width or (row and len(row) < width and not may_end_early):
                expected = counted(width, "field")
                return f"expected {expected} in line {rows.line_num}, as in the header, found {len(row)}"
            line = rows.line_num
    except csv.Error:
        return (
            f"the row that begins in line {line + 1} seems to have a quotation mark that is never closed: was "
            "the file downloaded whole?"
        )
    return ""


# ---- Writing -----------------------------------------------------------------------------------------------


def write_table(table: pd.DataFrame, path: Location) -> None:
    """Write a table, whole or not at all.

    The same table always gives the same bytes. In a CSV, texts that a spreadsheet would execute get an
    apostrophe in front; see `podium.common.wording.spreadsheet_safe`.
    """
    check_table_name(path)

    def write(part: Path) -> None:
        if part.suffix == ".parquet":
            table.to_parquet(part, index=False)
            return
        content = table_bytes(table)
        part.write_bytes(gzip.compress(content, mtime=0) if part.suffix == ".gz" else content)

    write_atomically(path, write)


def check_table_name(path: Location) -> None:
    """Check before the work is done that `write_table` can write a table under this name."""
    if not str(path).endswith(TABLE_SUFFIXES):
        raise UsageError(f"cannot write {path}: expected a name that ends in {listed(TABLE_SUFFIXES)}")


def table_bytes(table: pd.DataFrame) -> bytes:
    r"""Write a table as a CSV, in which no text is a formula for a spreadsheet.

    >>> table_bytes(pd.DataFrame({"team": ["=1+1", None], "score": [-0.5, 1.0]}))
    b"team,score\n'=1+1,-0.5\n,1.0\n"
    """
    columns = [_cells(table.iloc[:, number]) for number in range(len(table.columns))]
    return csv_bytes([map(_safe, table), *zip(*columns)])


def _cells(column: pd.Series) -> list[Any]:
    """The cells of a column as a CSV has them; a missing one is None."""
    cells = column.astype(object).where(column.notna(), None).tolist()
    return cells if pd.api.types.is_numeric_dtype(column) else list(map(_safe, cells))


def _safe(cell: object) -> object:
    return spreadsheet_safe(cell) if isinstance(cell, str) else cell


def csv_bytes(rows: Iterable[Iterable[Any]]) -> bytes:
    r"""Write rows as a CSV, so that every text reads back the same. Nothing else in the package writes one.

    A number has the shortest form that reads back as the same number, and a missing cell is empty.

    >>> csv_bytes([["id", "score"], ["a\rb", 0.1 + 0.2], ["01", None]])
    b'id,score\n"a\rb",0.30000000000000004\n01,\n'
    """
    # The csv module quotes a lone \r only if its own lines end in \r\n. So they do, and the \r is cut off here.
    lines: list[str] = []
    csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n").writerows(rows)
    return "".join([f"{line[:-2]}\n" for line in lines]).encode("utf-8", "backslashreplace")
