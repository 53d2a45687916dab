"""What is kept of a scored submission: its statistics, to the last bit, in a compact file.

An entry is the SHA-256 of the rest, a line of JSON (the *header*), and the statistics, compressed: of two
columns that add up to whole numbers only one, and by how many units the other differs.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from podium.files import write_atomically

FORMAT = 2
NAME_LENGTH = 32  # hexadecimal digits of an entry's name
UNSURE = (
    "limit"  # in the header, and at the end of the file's name, of a rejection that another run may not repeat
)
MOST_WHOLE = 2.0**31
NEARLY_WHOLE = 1e-9
ZSTANDARD = pa.Codec("zstd", compression_level=6)

Floats = npt.NDArray[np.float64]


def path_of(folder: Path, name: str) -> Path:
    """The file of an entry."""
    return folder / name[:2] / name[2:]


def _unsure_path_of(folder: Path, name: str) -> Path:
    return path_of(folder, f"{name}.{UNSURE}")


def names(folder: Path) -> list[str]:
    """The names of all entries that count for the next run, sorted."""
    return sorted(
        file.parent.name + file.name
        for file in folder.glob("[0-9a-f][0-9a-f]/*")
        if len(file.name) == NAME_LENGTH - 2
    )


def save(folder: Path, name: str, entry: bytes, is_unsure: bool = False) -> None:
    """Write an entry, whole or not at all.

    Parameters
    ----------
    folder : Path
        The store.
    name : str
        `NAME_LENGTH` hexadecimal digits.
    entry : bytes
        As `encode` makes it.
    is_unsure : bool
        Whether another run may come to another result: `load` gives it, `names` does not name it.
    """
    path = _unsure_path_of(folder, name) if is_unsure else path_of(folder, name)
    write_atomically(path, lambda path: path.write_bytes(entry))


def load(folder: Path, name: str) -> bytes | None:
    """An entry; None if there is none, or not what `save` wrote."""
    for path in (path_of(folder, name), _unsure_path_of(folder, name)):
        try:
            entry = path.read_bytes()
        except OSError:
            continue
        digest, _, rest = entry.partition(b"\n")
        if hashlib.sha256(rest).hexdigest().encode() == digest:
            return entry
    return None


def encode(header: dict[str, Any], statistics: Floats | None) -> bytes:
    """An entry, from a header and statistics.

    Parameters
    ----------
    header : dict
        Of JSON's types.
    statistics : (n, k) float, or None
        Every number comes back to the last bit, the sign of zero and the bits of a NaN included.
    """
    body = b""
    if statistics is not None:
        with np.errstate(all="ignore"):  # infinity and NaN are as good as other numbers
            facts, body = _pack(np.ascontiguousarray(statistics.T, dtype=np.float64))
        header = header | facts
    rest = json.dumps(header, ensure_ascii=False).encode() + b"\n" + body
    return hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest


def header_of(entry: bytes) -> dict[str, Any]:
    """The header of an entry, with what decoding needs."""
    header: dict[str, Any] = json.loads(entry.split(b"\n", 2)[1])
    return header


def decode(entry: bytes) -> tuple[dict[str, Any], Floats | None]:
    """Header and (n, k) statistics of an entry; None where it has none."""
    header = header_of(entry)
    return header, _unpack(header, entry.split(b"\n", 2)[2]) if "shape" in header else None


def _pack(columns: Floats) -> tuple[dict[str, Any], bytes]:
    """(k, n) statistics as bytes, and what `_unpack` needs."""
    # -0.0 is no whole number here: its sign would be lost.
    is_whole = (
        (np.abs(columns) < MOST_WHOLE) & (columns == np.rint(columns)) & ~((columns == 0) & np.signbit(columns))
    )
    whole = np.where(is_whole, columns, 0)
    partners: dict[int, int] = {}
    alone: list[int] = []
    missed = []
    for column in np.flatnonzero(~is_whole.all(axis=1)).tolist():
        partner = next((other for other in reversed(alone) if _add_up(columns, column, other, is_whole)), None)
        if partner is None:
            alone.append(column)
            continue
        partners[column] = partner
        whole[column] = np.rint(columns[column] + columns[partner]) + 0.0  # which is never -0.0
        first_guess = whole[column] - columns[partner]
        missed.append(columns[column].view(np.int64) - first_guess.view(np.int64))
    units = np.array(missed, dtype=np.int64)
    fractions = columns[alone][~is_whole[alone]]
    kinds = [_smallest(whole), _smallest(units)]
    small = [whole.astype(kinds[0]), np.packbits(is_whole[alone]), units.astype(kinds[1])]
    # The first bytes of all fractions, then the second ones …: the last ones compress.
    planes = np.ascontiguousarray(fractions.astype("<f8").view(np.uint8).reshape(-1, 8).T)
    packed = _compressed(b"".join(part.tobytes() for part in small))
    facts = {
        "shape": list(columns.shape[::-1]),
        "kinds": kinds,
        "alone": alone,
        "partners": list(partners.items()),
        "sizes": [len(packed), len(fractions)],
    }
    return facts, packed + _compressed(planes.tobytes())


def _add_up(columns: Floats, column: int, other: int, is_whole: npt.NDArray[np.bool_]) -> bool:
    """Whether two columns have whole sums, up to rounding; one cell tells most that have not."""
    cell = int(is_whole[column].argmin())
    for cells in (slice(cell, cell + 1), slice(None)):
        total = columns[column, cells] + columns[other, cells]
        if not (np.all(np.abs(total) < MOST_WHOLE) and np.all(np.abs(total - np.rint(total)) < NEARLY_WHOLE)):
            return False
    return True


def _unpack(header: dict[str, Any], body: bytes) -> Floats:
    items, number = header["shape"]
    cells, units_of, alone = items * number, len(header["partners"]) * items, header["alone"]
    packed, fractions = header["sizes"]
    sizes = [
        cells * np.dtype(header["kinds"][0]).itemsize,
        (len(alone) * items + 7) // 8,
        units_of * np.dtype(header["kinds"][1]).itemsize,
    ]
    small = _expanded(body[:packed], sum(sizes))
    parts = [small[start : start + size] for start, size in zip([0, *np.cumsum(sizes).tolist()], sizes)]
    columns = np.frombuffer(parts[0], header["kinds"][0]).astype(np.float64).reshape(number, items)
    planes = _expanded(body[packed:], 8 * fractions)
    if alone:
        bits = np.unpackbits(np.frombuffer(parts[1], np.uint8), count=len(alone) * items)
        values = columns[alone]
        values[bits.reshape(values.shape) == 0] = (
            np.ascontiguousarray(np.frombuffer(planes, np.uint8).reshape(8, -1).T).view("<f8").ravel()
        )
        columns[alone] = values
    units = np.frombuffer(parts[2], header["kinds"][1]).reshape(len(header["partners"]), items)
    for (column, partner), missed in zip(header["partners"], units):
        columns[column] = ((columns[column] - columns[partner]).view(np.int64) + missed).view(np.float64)
    return columns.T


def _compressed(content: bytes) -> bytes:
    compressed: bytes = ZSTANDARD.compress(content, asbytes=True)
    return compressed


def _expanded(content: bytes, size: int) -> memoryview:
    return memoryview(ZSTANDARD.decompress(content, size) if size else b"")


def _smallest(whole: npt.NDArray[Any]) -> str:
    low, high = (whole.min(), whole.max()) if whole.size else (0, 0)
    return next(
        kind
        for kind in ("u1", "i1", "<u2", "<i2", "<i4", "<i8")
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max
    )
