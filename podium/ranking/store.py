"""The store keeps what was found out about each submission, to the last bit.

It has a Parquet file for each content, which is called an *entry*. The columns are the statistics. The metadata
has the *header*, which are the scores or the reason of a rejection, what the submission answers to each thing
of the solution, and the SHA-256 of the whole file.
"""

import base64
import functools
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from podium.common.arrays import Floats
from podium.tables.files import write_atomically

FORMAT = 5
NAME_LENGTH = 32  # hexadecimal digits of an entry's name
# Marks a result that another run may not repeat, in the header and at the end of the file's name.
UNSURE = "limit"
# The keys of the metadata, and what stands in the place of the SHA-256 while it is computed.
HEADER, ANSWERS, DIGEST, NO_DIGEST = b"header", b"answers", b"sha256", b"?" * 64
COMPRESSION_LEVEL = 6
WHOLE = (np.int8, np.int16, np.int32, np.int64)
MOST_WHOLE = 2.0**53  # up to here every whole number is a float


def name_of(context: str, digests: str) -> str:
    """Name the entry of a submission: by what its scoring depends on, and by the hashes of its files."""
    return hashlib.sha256((context + digests).encode()).hexdigest()[:NAME_LENGTH]


class StoreEntry:
    """What the store keeps of a submission; each part is read from the file's content where it is asked for."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __reduce__(self) -> tuple[type["StoreEntry"], tuple[bytes]]:
        """What was read of it stays in its process."""
        return StoreEntry, (self.content,)

    @functools.cached_property
    def _metadata(self) -> dict[bytes, bytes]:
        metadata: dict[bytes, bytes] = self._about.metadata
        return metadata

    @functools.cached_property
    def _about(self) -> pq.FileMetaData:
        return pq.read_metadata(pa.BufferReader(self.content))

    @functools.cached_property
    def header(self) -> dict[str, Any]:
        """The scores or the reason of a rejection, and what else was found out."""
        header: dict[str, Any] = json.loads(self._metadata[HEADER])
        return header

    @property
    def name(self) -> str:
        """The name under which the store keeps it."""
        return name_of(str(self.header.get("context")), str(self.header.get("sha256")))

    @property
    def answers(self) -> bytes:
        """The packed answers, which are empty if it has none."""
        return base64.b85decode(self._metadata.get(ANSWERS, b""))

    @property
    def has_statistics(self) -> bool:
        """Whether it has statistics."""
        return bool(self._about.num_columns)

    @functools.cached_property
    def statistics(self) -> Floats | None:
        """The statistics (n, k), if it has any."""
        if not self.has_statistics:
            return None
        table = pq.ParquetFile(pa.BufferReader(self.content)).read(use_threads=False)
        return np.stack([column.to_numpy().astype(np.float64) for column in table.columns]).T

    @property
    def is_whole(self) -> bool:
        """Whether it is as it was written."""
        try:
            digest = self._metadata[DIGEST]
        except (pa.ArrowException, OSError, KeyError, TypeError):  # the file is damaged
            return False
        return _digest(self.content.replace(digest, NO_DIGEST)) == digest


def path_of(folder: Path, name: str) -> Path:
    """Find the file of an entry."""
    return folder / name[:2] / name[2:]


def names(folder: Path) -> list[str]:
    """List all entries that the next run can use."""
    return sorted(
        file.parent.name + file.name
        for file in folder.glob("[0-9a-f][0-9a-f]/*")
        if len(file.name) == NAME_LENGTH - 2
    )


def save(folder: Path, entry: StoreEntry) -> None:
    """Write an entry, whole or not at all."""
    name = f"{entry.name}.{UNSURE}" if UNSURE in entry.header else entry.name
    write_atomically(path_of(folder, name), lambda path: path.write_bytes(entry.content))


def load(folder: Path, name: str) -> StoreEntry | None:
    """Read an entry. It is None if there is none, or it is damaged or that of another submission."""
    for each in (name, f"{name}.{UNSURE}"):
        try:
            entry = StoreEntry(path_of(folder, each).read_bytes())
        except OSError:
            continue
        if entry.is_whole:
            return entry if entry.name == name else None
    return None


def encode(header: dict[str, Any], statistics: Floats | None = None, answers: bytes = b"") -> StoreEntry:
    """Make an entry from a header, statistics (n, k) and packed answers."""
    columns = {} if statistics is None else {str(number): _narrow(of) for number, of in enumerate(statistics.T)}
    metadata = {HEADER: json.dumps(header, ensure_ascii=False).encode(), DIGEST: NO_DIGEST}
    table, file = pa.table(columns).replace_schema_metadata(metadata), io.BytesIO()
    with pq.ParquetWriter(
        file,
        table.schema,
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=False,  # fractions hardly repeat, so a dictionary of them would only take space
        write_statistics=False,
    ) as writer:
        writer.write_table(table)
        if answers:  # which would stand there twice as a part of the schema
            writer.add_key_value_metadata({ANSWERS: base64.b85encode(answers)})
    content = file.getvalue()
    return StoreEntry(content.replace(NO_DIGEST, _digest(content)))


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _narrow(column: Floats) -> npt.NDArray[Any]:
    """Turn a column of whole numbers into the smallest integers that hold it."""
    # The sign of -0.0 would be lost.
    is_whole = (
        (np.abs(column) < MOST_WHOLE) & (column == np.rint(column)) & ~((column == 0) & np.signbit(column))
    )
    if not is_whole.all():
        return column
    low, high = column.min(initial=0), column.max(initial=0)
    kind = next(kind for kind in WHOLE if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return column.astype(kind)
