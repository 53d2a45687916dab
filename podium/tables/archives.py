"""Files in a zip or a folder, read the same way: one member after the other, each with a limit of its size.

Archives are strangers' files. What an archive says of a member is a claim, so a member is read up to a limit,
no link is followed, and no name leads to a place.
"""

import functools
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from podium.common.errors import HostError, UsageError
from podium.tables.files import MOST_BYTES, megabytes, most_expanded, read_bytes


class LeftOut(Exception):
    """A member cannot be taken; the text is the reason."""


class Member(NamedTuple):
    """A file in an archive or in a folder."""

    name: str  # without folders
    packed: int  # its size as it was sent, in bytes
    read: Callable[[], bytes]  # which raises LeftOut if it must not be read


def members(path: Path) -> Iterator[Member]:
    """List the files of a zip, or of a folder into which it was unpacked."""
    if path.is_dir():
        for file in sorted(path.iterdir()):
            if not file.name.startswith(".") and not file.is_dir():
                read = functools.partial(read_bytes, file, follow_links=False)
                yield Member(file.name, file.lstat().st_size, read)
        return
    with _opened(path) as archive:
        listed = archive.infolist()
    for member in listed:
        packed = min(member.compress_size, path.stat().st_size)  # what an archive says of itself may be false
        if not member.is_dir() and "__MACOSX" not in member.filename:
            name = PurePosixPath(member.filename).name
            yield Member(name, packed, functools.partial(_read, path, member, packed))


def _opened(path: Path) -> zipfile.ZipFile:
    """Open a zip."""
    try:
        return zipfile.ZipFile(path)
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror or problem}") from None
    except (zipfile.BadZipFile, UnicodeDecodeError) as problem:
        cure = "download it again, or unpack it and name the folder"
        raise HostError(f"{path}: expected a whole zip, found a fault: {problem}; {cure}") from None


def _read(path: Path, member: zipfile.ZipInfo, packed: int) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return content(archive, member, packed)


def unpack(path: Path, folder: Path, most: int) -> dict[str, str]:
    """Write the files of a zip, at most so many, below a folder.

    Returns why others are not there, by their names.  A folder with the name of the zip, in which all of its
    files are, is the zip itself.
    """
    left_out: dict[str, str] = {}
    with _opened(path) as archive:
        listed = [each for each in archive.infolist() if not each.is_dir() and "__MACOSX" not in each.filename]
        if len(listed) > most:
            raise HostError(f"{path}: expected at most {most:,} files, found {len(listed):,}")
        parts = [_parts(each.filename) for each in listed]
        is_wrapped = all(len(each) > 1 and each[0] == path.stem for each in parts)
        for member, names in zip(listed, parts):
            try:
                read = content(archive, member, min(member.compress_size, path.stat().st_size))
                _write(read, folder, names[is_wrapped:])
            except LeftOut as problem:
                left_out[member.filename] = str(problem)
            except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as problem:
                left_out[member.filename] = (
                    f"it cannot be read: {problem}"  # a RuntimeError if it has a password
                )
    return left_out


def _parts(name: str) -> tuple[str, ...]:
    """The folders and the file in the name of a member, which Windows may have written."""
    return PurePosixPath(name.replace("\\", "/")).parts


def _write(read: bytes, folder: Path, parts: tuple[str, ...]) -> None:
    """Write a file at a place below a folder where none is, or the same."""
    if not parts or ".." in parts or parts[0].startswith("/") or parts[0].endswith(":"):
        raise LeftOut("its name leads out of the zip")
    target = folder.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and target.read_bytes() != read:
        raise LeftOut("another file has the same name")
    target.write_bytes(read)


def content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, packed: int) -> bytes:
    """The content of a member, up to the limit for what was sent in so many bytes."""
    if stat.S_ISLNK(member.external_attr >> 16):
        raise LeftOut("it is a link")
    limit = most_expanded(packed, MOST_BYTES)
    with archive.open(member) as file:
        read = file.read(limit + 1)
    if len(read) > limit:
        raise LeftOut(f"it has more than {megabytes(limit)} once expanded")
    return read
