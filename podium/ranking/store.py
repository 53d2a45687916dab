"""The store keeps what was found out about each submission, to the last bit.

It has a Parquet file for each content, which is called an *entry*. The columns are the statistics. The metadata
has the *header*, which are the scores or the reason of a rejection, what the submission answers to each thing
of the solution, and the SHA-256 of the whole file.
"""

import base64
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


def save(folder: Path, name: str, entry: bytes, is_unsure: bool = False) -> None:
    """Write an entry, whole or not at all."""
    path = path_of(folder, f"{name}.{UNSURE}" if is_unsure else name)
    write_atomically(path, lambda path: path.write_bytes(entry))


def load(folder: Path, name: str) -> bytes | None:
    """Read an entry. It is None if there is none or it is damaged."""
    for each in (name, f"{name}.{UNSURE}"):
        try:
            entry = path_of(folder, each).read_bytes()
        except OSError:
            continue
        if _is_whole(entry):
            return entry
    return None


def encode(header: dict[str, Any], statistics: Floats | None, answers: bytes = b"") -> bytes:
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
    return content.replace(NO_DIGEST, _digest(content))


def header_of(entry: bytes) -> dict[str, Any]:
    """Read the header of an entry."""
    header: dict[str, Any] = json.loads(pq.read_metadata(io.BytesIO(entry)).metadata[HEADER])
    return header


def packed_of(entry: bytes) -> bytes:
    """Read the packed answers of an entry, which are empty if it has none."""
    return base64.b85decode(pq.read_metadata(io.BytesIO(entry)).metadata.get(ANSWERS, b""))


def has_statistics(entry: bytes) -> bool:
    """Tell whether an entry has statistics."""
    return bool(pq.read_metadata(io.BytesIO(entry)).num_columns)


def decode(entry: bytes) -> Floats | None:
    """Read the statistics (n, k) of an entry."""
    table = pq.ParquetFile(pa.BufferReader(entry)).read(use_threads=False)
    if not table.num_columns:
        return None
    return np.stack([column.to_numpy().astype(np.float64) for column in table.columns]).T


def _is_whole(entry: bytes) -> bool:
    """Tell whether an entry is as it was written."""
    try:
        digest: bytes = pq.read_metadata(io.BytesIO(entry)).metadata[DIGEST]
    except (pa.ArrowException, OSError, KeyError, TypeError):  # the file is damaged
        return False
    return _digest(entry.replace(digest, NO_DIGEST)) == digest


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
