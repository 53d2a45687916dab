"""The tables among the files for participants, so that they can be searched.

A table is known by its name: CSV, JSON, JSON Lines and Parquet, perhaps packed by gzip. The files in a zip are
looked at like others; a further archive within it is not opened.
"""

import contextlib
import functools
import gzip
import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple

import pandas as pd

from podium.tables.files import GZIP, parse_json

ROWS = 50_000  # of a table that are in memory together
BLOCK = 1 << 20  # bytes that are read at once
LONGEST_HEADER = 100_000  # bytes of a first line that may name columns
MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
WHOLE = re.compile(r"^(-?\d+)\.0$")
DELIMITERS = "\t;|,"


class PublicFile(NamedTuple):
    """A file for participants, or a file in a zip."""

    path: str  # of the file, or of the zip
    name: str  # the same, and the name in the zip behind it
    opened: Callable[[], Any]  # opens it as it is

    @contextlib.contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open it to read its bytes; those of a file packed by gzip are unpacked."""
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(self.opened())
            is_packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            unpacked: Any = stack.enter_context(gzip.open(file)) if is_packed else file
            yield unpacked

    def fingerprint(self) -> tuple[int, bytes]:
        """Its size and the digest of its bytes."""
        size, digest = 0, hashlib.sha256()
        with self.open() as stream:
            while block := stream.read(BLOCK):
                size += len(block)
                digest.update(block)
        return size, digest.digest()

    def is_table(self) -> bool:
        return self._kind in READERS

    def tables(self) -> Iterator[pd.DataFrame]:
        """The tables in it, whose cells are str; a long one comes in parts. Each library has its own errors."""
        with self.open() as stream:
            yield from READERS[self._kind](stream)

    @property
    def _kind(self) -> str:
        return PurePosixPath(self.name.lower().removesuffix(".gz")).suffix


def files_in(name: str, path: Path) -> Iterator[PublicFile]:
    """The file at a path, or those in a zip, each of which has to be read before the next one is taken."""
    if path.suffix.lower() == ".zip":
        with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if not member.is_dir():
                    yield PublicFile(name, f"{name}/{member.filename}", functools.partial(archive.open, member))
            return
    yield PublicFile(name, name, functools.partial(path.open, "rb"))


def _from_lines(stream: BinaryIO) -> Iterator[pd.DataFrame]:
    """The table of lines with the delimiters of the first one, or spaces between words."""
    start = stream.read(LONGEST_HEADER)
    stream.seek(0)
    encoding = "utf-16" if start.startswith(MARKS_OF_UTF_16) else "utf-8-sig"
    head = start.decode(encoding, "replace").lstrip().partition("\n")[0]
    delimiter = max(DELIMITERS, key=head.count)
    options: Any = {"encoding": encoding, "encoding_errors": "replace", "dtype": object, "na_filter": False}
    separator = delimiter if delimiter in head else r"\s+"
    with pd.read_csv(stream, sep=separator, chunksize=ROWS, **options) as parts:
        for part in parts:
            # Cells beyond those of the header make pandas take the first ones for an index.
            yield part if isinstance(part.index, pd.RangeIndex) else part.reset_index().astype(str)


def _from_json(stream: BinaryIO) -> Iterator[pd.DataFrame]:
    """The tables in a JSON value, or that of a value on each line."""
    content = stream.read()
    try:
        value = parse_json(content)
    except ValueError:
        value = [parse_json(line) for line in content.splitlines() if line.strip()]
    if not isinstance(value, dict | list):
        raise ValueError("it has no rows")
    yield from tables_of(value)


def tables_of(value: dict[str, Any] | list[Any]) -> Iterator[pd.DataFrame]:
    """The tables in a value of JSON: by rows, by columns, by names, or as the fields of an object."""
    if isinstance(value, list):
        yield _by_rows(value)
        return
    with contextlib.suppress(ValueError, TypeError):  # the values are not columns of one length
        yield _as_texts(pd.DataFrame(value))
    yield _by_rows([{"name": name, "value": each} for name, each in value.items()])
    yield from (_by_rows(each) for each in value.values() if isinstance(each, list))


def _by_rows(rows: list[Any]) -> pd.DataFrame:
    """The table of a list of lists, or of objects whose fields may be objects in turn."""
    if all(isinstance(row, list) for row in rows):
        return _as_texts(pd.DataFrame(zip(*zip_longest(*rows))))
    return _as_texts(pd.json_normalize([row if isinstance(row, dict) else {"value": row} for row in rows]))


def _from_parquet(stream: BinaryIO) -> Iterator[pd.DataFrame]:
    """A Parquet file, with its index, which may tell something, too."""
    from pyarrow import parquet

    with parquet.ParquetFile(stream) as file:
        for batch in file.iter_batches(ROWS):
            yield _as_texts(batch.to_pandas(ignore_metadata=True))


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


READERS: dict[str, Callable[[BinaryIO], Iterator[pd.DataFrame]]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), _from_lines),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), _from_json),
    ".parquet": _from_parquet,
}
