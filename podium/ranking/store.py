"""The store keeps the statistics of each scored submission, to the last bit, in a compact file.

Such a file is an *entry*.  It consists of the SHA-256 of the rest, a line of JSON (the *header*), and the
compressed statistics.  If two columns add up to whole numbers, only one of them is kept in full.  For the other
one the entry keeps the sums.  It also keeps by how many units in the last place the column differs from the sum
minus the first.
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

# Marks a rejection that another run may not repeat, in the header and at the end of the file's name.
UNSURE = "limit"
MOST_WHOLE = 2.0**31
NEARLY_WHOLE = 1e-9
ZSTANDARD = pa.Codec("zstd", compression_level=6)

Floats = npt.NDArray[np.float64]


def path_of(folder: Path, name: str) -> Path:
    """Find the file of an entry.

    Parameters
    ----------
    folder : Path
        The store.
    name : str
        The name of the entry.

    Returns
    -------
    Path
        The file, which need not exist.
    """
    return folder / name[:2] / name[2:]


def _unsure_path_of(folder: Path, name: str) -> Path:
    """Find the file of an entry whose result another run may not repeat."""
    return path_of(folder, f"{name}.{UNSURE}")


def names(folder: Path) -> list[str]:
    """List all entries that the next run can use.

    Parameters
    ----------
    folder : Path
        The store.

    Returns
    -------
    list of str
        Their names, sorted.
    """
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
        The name of the entry: `NAME_LENGTH` hexadecimal digits.
    entry : bytes
        The entry, as `encode` makes it.
    is_unsure : bool
        Whether another run may come to another result.  `load` finds such an entry, and `names` leaves it out.
    """
    path = _unsure_path_of(folder, name) if is_unsure else path_of(folder, name)
    write_atomically(path, lambda path: path.write_bytes(entry))


def load(folder: Path, name: str) -> bytes | None:
    """Read an entry.

    Parameters
    ----------
    folder : Path
        The store.
    name : str
        The name of the entry.

    Returns
    -------
    bytes or None
        The entry.  None if there is no such file, or if it is not what `save` wrote.
    """
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
    """Make an entry from a header and statistics.

    Parameters
    ----------
    header : dict of str to object
        The header, with values that JSON can write.
    statistics : ndarray of float, shape (n, k), or None
        The statistics.  `decode` returns every number to the last bit, even the sign of a zero and the bits of
        a NaN.

    Returns
    -------
    bytes
        The entry.
    """
    body = b""
    if statistics is not None:
        with np.errstate(all="ignore"):  # infinity and NaN are kept like all other numbers
            facts, body = _pack(np.ascontiguousarray(statistics.T, dtype=np.float64))
        header = header | facts
    rest = json.dumps(header, ensure_ascii=False).encode() + b"\n" + body
    return hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest


def header_of(entry: bytes) -> dict[str, Any]:
    """Read the header of an entry.

    Parameters
    ----------
    entry : bytes
        The entry.

    Returns
    -------
    dict of str to object
        The header, with the facts that decoding needs.
    """
    header: dict[str, Any] = json.loads(entry.split(b"\n", 2)[1])
    return header


def decode(entry: bytes) -> tuple[dict[str, Any], Floats | None]:
    """Read an entry.

    Parameters
    ----------
    entry : bytes
        The entry.

    Returns
    -------
    header : dict of str to object
        The header.
    statistics : ndarray of float, shape (n, k), or None
        The statistics, if the entry has any.
    """
    header = header_of(entry)
    return header, _unpack(header, entry.split(b"\n", 2)[2]) if "shape" in header else None


def _pack(columns: Floats) -> tuple[dict[str, Any], bytes]:
    """Pack statistics, shape (k, n), and return the facts that `_unpack` needs together with the bytes."""
    # -0.0 does not count as a whole number here, because its sign would be lost.
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
        whole[column] = np.rint(columns[column] + columns[partner]) + 0.0  # adding 0.0 avoids -0.0
        first_guess = whole[column] - columns[partner]
        missed.append(columns[column].view(np.int64) - first_guess.view(np.int64))
    units = np.array(missed, dtype=np.int64)
    fractions = columns[alone][~is_whole[alone]]
    kinds = [_smallest(whole), _smallest(units)]
    small = [whole.astype(kinds[0]), np.packbits(is_whole[alone]), units.astype(kinds[1])]
    # First come the first bytes of all fractions, then all second bytes, and so on: the last ones compress.
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
    """Tell whether two columns add up to whole numbers, up to rounding.

    A single cell, which is looked at first, excludes most columns that do not.
    """
    cell = int(is_whole[column].argmin())
    for cells in (slice(cell, cell + 1), slice(None)):
        total = columns[column, cells] + columns[other, cells]
        if not (np.all(np.abs(total) < MOST_WHOLE) and np.all(np.abs(total - np.rint(total)) < NEARLY_WHOLE)):
            return False
    return True


def _unpack(header: dict[str, Any], body: bytes) -> Floats:
    """Undo `_pack`, and return the statistics with shape (n, k)."""
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
    """Compress bytes."""
    compressed: bytes = ZSTANDARD.compress(content, asbytes=True)
    return compressed


def _expanded(content: bytes, size: int) -> memoryview:
    """Expand compressed bytes to the given size."""
    return memoryview(ZSTANDARD.decompress(content, size) if size else b"")


def _smallest(whole: npt.NDArray[Any]) -> str:
    """Name the smallest type of integers that can hold all these numbers."""
    low, high = (whole.min(), whole.max()) if whole.size else (0, 0)
    return next(
        kind
        for kind in ("u1", "i1", "<u2", "<i2", "<i4", "<i8")
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max
    )
