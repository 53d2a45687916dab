"""Files in a zip or a folder, read the same way: one member after the other, each with a limit of its size.

Archives are strangers' files. What an archive says of a member is a claim, so a member is read up to a limit,
no link is followed, and no name leads to a place.
"""

import functools
import stat
import zipfile
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
    try:
        with zipfile.ZipFile(path) as archive:
            listed = archive.infolist()
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror or problem}") from None
    except (zipfile.BadZipFile, UnicodeDecodeError) as problem:
        cure = "download it again, or unpack it and name the folder"
        raise HostError(f"{path}: expected a whole zip, found a fault: {problem}; {cure}") from None
    for member in listed:
        packed = min(member.compress_size, path.stat().st_size)  # what an archive says of itself may be false
        if not member.is_dir() and "__MACOSX" not in member.filename:
            name = PurePosixPath(member.filename).name
            yield Member(name, packed, functools.partial(_read, path, member, packed))


def _read(path: Path, member: zipfile.ZipInfo, packed: int) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return content(archive, member, packed)


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
