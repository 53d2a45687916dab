"""Unpack and decode files of any kind, so that they can be searched."""

import bz2
import contextlib
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator

from podium.errors import HostError

DAMAGES = (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, RuntimeError, OSError, EOFError, zlib.error)
MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}


def unpacked(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """All files in a file, however they are packed, with their names; the file itself if it is not packed."""
    try:
        inner = _inside(name, content)
    except DAMAGES as problem:
        raise HostError(f"{name}: expected a file that can be unpacked, found {problem}") from None
    if inner is None:
        yield name, content
    for called, data in inner or ():
        yield from unpacked(called, data)


def _inside(name: str, content: bytes) -> list[tuple[str, bytes]] | None:
    """The files that are packed in a file; None if it is not packed."""
    for start, unpack in PACKED.items():
        if content.startswith(start):
            return [(name, unpack(content))]
    if content.startswith(b"PK\3\4"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [each for each in archive.namelist() if not each.endswith("/")]
            is_excel = "xl/workbook.xml" in names  # whose parts tell nothing one by one
            return None if is_excel else [(f"{name}/{each}", archive.read(each)) for each in names]
    if content[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(content)) as tape:
            files = [(f"{name}/{member.name}", tape.extractfile(member)) for member in tape if member.isfile()]
            return [(called, file.read()) for called, file in files if file is not None]
    return None


def _of_parquet(content: bytes) -> bytes:
    """A Parquet file as CSV."""
    from pyarrow import ArrowException, BufferReader, parquet

    try:
        table = parquet.read_table(BufferReader(content))
    except ArrowException as problem:
        raise OSError(problem) from None
    return bytes(table.to_pandas(ignore_metadata=True).to_csv(index=False).encode())


PACKED = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ\0": lzma.decompress,
    b"PAR1": _of_parquet,
}


def decoded(content: bytes) -> str | None:
    """The text in a file, whatever its encoding; None if it has none, as a picture.

    >>> decoded("a,b\\n".encode("utf-16-le")), decoded(b"\\x89PNG\\x0d\\x0a\\x1a\\x0a\\x00\\x00")
    ('a,b\\n', None)
    """
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    head = content[:4096]
    for zeros, encoding in ((head[1::2], "utf-16-le"), (head[::2], "utf-16-be")):
        if zeros.count(0) > len(head) / 5 > 0:
            return content.decode(encoding, "replace") if head.count(0) == zeros.count(0) else None
    if any(code < 32 and code not in b"\t\n\r\f\x1b" for code in head):
        return None
    with contextlib.suppress(UnicodeDecodeError):
        return content.decode("utf-8")
    return content.decode("cp1252", "replace")
