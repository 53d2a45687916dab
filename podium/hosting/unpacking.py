"""Unpack and decode files of any kind, and find the tables in them, so that they can be searched."""

import bz2
import contextlib
import gzip
import io
import lzma
import re
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, BinaryIO, cast

import pandas as pd

from podium.tables.files import parse_json

MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # characters that control something else
TEXT_PICKLE = re.compile(rb"\([dl]p?\d*\n|c[\w.]+\n[\w.]+\n|[VS].*\np\d+\n")  # of protocol 0
MOST_FIELDS = 80  # an object of JSON with more fields is a table by itself
PIECE = 1 << 24  # bytes of a file that are in memory together
LONGEST_HEADER = 100_000  # bytes of a first line that may name columns
WHOLE = re.compile(r"^(-?\d+)\.0$")
DELIMITERS = "\t;|,"
MOST_LINES = 200  # that a cell of a table may have


def unpacked(name: str, file: BinaryIO) -> Iterator[tuple[str, bytes | None]]:
    """All files in a file, however they are packed, with their names; the file itself if it is not packed.

    A large one comes in pieces. What cannot be unpacked, such as a damaged file or one with a password, has no
    content.
    """
    try:
        inner = _inside(name, file)
        for called, stream in inner or ():
            yield from unpacked(called, stream)
        for piece in _pieces(file) if inner is None else ():
            yield name, piece
    except MemoryError:
        raise
    except Exception:  # each library has its own for a damaged file
        yield name, None


def _inside(name: str, file: BinaryIO) -> Iterator[tuple[str, BinaryIO]] | None:
    """The files that are packed in a file; None if it is not packed."""
    head = file.read(4096)
    file.seek(0)
    if head.startswith(b"PAR1"):
        return iter([(name, _of_parquet(file))])
    for start, unpack in PACKED.items():
        if head.startswith(start):
            return iter([(name, unpack(file))])
    if head.startswith(b"PK\3\4"):
        with zipfile.ZipFile(file) as archive:
            is_excel = "xl/workbook.xml" in archive.namelist()  # whose parts tell nothing one by one
        file.seek(0)
        return None if is_excel else _of_zip(name, file)
    return _of_tar(name, file) if head[257:262] == b"ustar" else None


def _of_zip(name: str, file: BinaryIO) -> Iterator[tuple[str, BinaryIO]]:
    """The files in a zip archive."""
    with zipfile.ZipFile(file) as archive:
        for each in archive.namelist():
            if not each.endswith("/"):
                with archive.open(each) as member:
                    yield f"{name}/{each}", cast(BinaryIO, member)


def _of_tar(name: str, file: BinaryIO) -> Iterator[tuple[str, BinaryIO]]:
    """The files in a tar archive."""
    with tarfile.open(fileobj=file) as tape:
        for member in tape:
            content = tape.extractfile(member)
            if content is not None:
                yield f"{name}/{member.name}", cast(BinaryIO, content)


def _of_parquet(file: BinaryIO) -> BinaryIO:
    """A Parquet file as CSV, with its index, which may tell something, too."""
    # Lines that end in \r\n are what lets Python before 3.11.9 put a lone \r in quotes.
    return io.BytesIO(pd.read_parquet(file).to_csv(lineterminator="\r\n").encode())


PACKED: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """A content in pieces of whole lines, each below the first line, which may name the columns.

    What has no such lines stays in one piece, unless it is no text at all.
    """
    rest = file.read(PIECE)
    header = rest[: rest.find(b"\n", 0, LONGEST_HEADER) + 1]
    is_text = decoded(rest[:4096]) is not None
    if is_text and not _has_rows(rest, header):
        rest += file.read()
    top = b""
    while more := file.read(PIECE):
        end = _end_of_rows(rest) if is_text else len(rest)
        yield top + rest[:end]
        top, rest = header if is_text else b"", rest[end:] + more
    yield top + rest


def _has_rows(content: bytes, header: bytes) -> bool:
    """Whether lines can be read without those before them, as in CSV and JSON Lines, but not in JSON."""
    if content.lstrip()[:1] in (b"{", b"["):
        with contextlib.suppress(ValueError):
            return isinstance(parse_json(header.decode()), dict | list)
        return False
    return 0 not in content[:4096]  # as in UTF-16


def _end_of_rows(content: bytes) -> int:
    """Where the last line ends that is not within the quotes of a cell."""
    end, quotes = len(content), content.count(b'"')
    for _ in range(MOST_LINES):
        line = content.rfind(b"\n", 0, end)
        quotes -= content.count(b'"', line + 1, end)
        if line < 0 or quotes % 2 == 0:
            break
        end = line
    else:
        line = content.rfind(b"\n")
    return line + 1 or len(content)


def decoded(content: bytes) -> str | None:
    """The text in a file, whatever its encoding; None if it has none, as a picture.

    >>> decoded("a,b\\n".encode("utf-16-le")), decoded(b"\\x89PNG\\x0d\\x0a\\x1a\\x0a\\x00\\x00")
    ('a,b\\n', None)
    """
    head = content[:4096]
    encoding = next((name for mark, name in MARKS.items() if head.startswith(mark)), "")
    if not encoding and head[1::2].count(0) > len(head) / 5 and not head[::2].count(0):
        encoding = "utf-16-le"
    if encoding:
        return content.decode(encoding, "replace")
    if NO_TEXT.search(head) or TEXT_PICKLE.match(head):
        return None
    with contextlib.suppress(UnicodeDecodeError):
        return content.decode("utf-8")
    return content.decode("cp1252", "replace")


def tables_of(text: str) -> list[pd.DataFrame]:
    """The tables in a text, whose cells are str: JSON, JSON Lines, and lines with delimiters."""
    tables = [table for table in _tables_in(_from_json(text)) if len(table)]
    return tables or list(_from_lines(text))


def is_plain(text: str, columns: int) -> bool:
    """Whether a text has as many cells in each line as a table that was read from it has columns."""
    lines = text.rstrip("\n").split("\n")
    return '"' not in text and any(
        all(line.count(delimiter) == columns - 1 for line in lines) for delimiter in DELIMITERS
    )


def _from_lines(text: str) -> Iterator[pd.DataFrame]:
    """The table of a text whose lines have the delimiters of its first line, or spaces between words."""
    head = text.lstrip()[:100_000].partition("\n")[0]
    delimiter = max(DELIMITERS, key=head.count)
    separator = delimiter if delimiter in head else r"\s+"
    with contextlib.suppress(ValueError), warnings.catch_warnings(action="ignore"):  # it may be no table
        file = io.BytesIO(text.encode())
        yield pd.read_csv(
            file, sep=separator, dtype=object, na_filter=False, index_col=False, on_bad_lines="skip"
        )


def _from_json(text: str) -> Any:
    """The content of a JSON text, or of its lines as a list; None for other texts."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return parse_json(text)
    except ValueError:
        with contextlib.suppress(ValueError):
            return [parse_json(line) for line in text.splitlines() if line.strip()]
    return None


def _tables_in(content: Any) -> Iterator[pd.DataFrame]:
    """The tables in a value of JSON: by rows, by columns, or by names; also in the fields of an object."""
    if isinstance(content, list):
        yield _by_rows(content)
    if isinstance(content, dict):
        with contextlib.suppress(ValueError, TypeError):  # the values are not columns of one length
            yield _as_texts(pd.DataFrame(content))
        objects = {name: value for name, value in content.items() if isinstance(value, dict)}
        large = {name for name, value in objects.items() if len(value) > MOST_FIELDS}
        yield _by_rows([{"name": name, "value": content[name]} for name in content if name not in large])
        if len(content) <= MOST_FIELDS:
            yield from (_by_rows(value) for value in content.values() if isinstance(value, list))
            for value in objects.values():
                yield from _tables_in(value)


def _by_rows(rows: list[Any]) -> pd.DataFrame:
    """The table of a list of lists, or of objects whose fields may be objects in turn."""
    if all(isinstance(row, list) for row in rows):
        return _as_texts(pd.DataFrame(zip(*zip_longest(*rows))))
    return _as_texts(pd.json_normalize([row if isinstance(row, dict) else {"value": row} for row in rows]))


def _as_texts(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose cells are str; missing cells are empty, and 7.0, as pandas writes 7 beside them, is 7."""
    cells = [
        [
            "" if nothing else WHOLE.sub(r"\1", str(cell))
            for cell, nothing in zip(column.tolist(), column.isna())
        ]
        for _, column in table.items()
    ]
    return pd.DataFrame(dict(enumerate(cells)), dtype=object).set_axis(table.columns, axis=1)
