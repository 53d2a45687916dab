"""Bring the kernel's page cache into the same state before every run.

A model that remembers its first run can be as fast as it likes in later ones.  The sandbox leaves it one place
to remember anything: the machine's memory, which all runs of a model share.  Which pages of a file are cached
passes bits from one run to the next.

Therefore podium reads all files of the model and of the data before every run.  If they are too large to be
kept in memory, it drops them all from the cache instead.  When podium runs as root, it first drops everything
that the machine has cached.  Then it starts Python once, because every model would otherwise wait for the disk.
"""

import contextlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

__all__ = ["equalize", "regular_files"]

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
EVERYTHING = "3"  # drops cached pages, folders and inodes: "drop_caches" in the kernel's admin-guide/sysctl/vm

LARGEST_SHARE = 0.25  # of the memory: larger files are dropped from the cache instead of read into it
BLOCK = 2**20  # bytes that are read at once
WARM_UP = "import numpy, pandas"  # what most models import


def equalize(folders: Iterable[Path]) -> str:
    """Bring the caches into the same state as before every other run.

    Parameters
    ----------
    folders : iterable of Path
        The model's folder and the folder with the data.

    Returns
    -------
    str
        "read" if the files in these folders are now in the cache, "dropped" if they are not.
    """
    files = [file for folder in folders for file in regular_files(folder)]
    fits = sum(size for _, size in files) <= LARGEST_SHARE * _memory()
    if _dropped_as_a_whole():
        subprocess.run([sys.executable, "-c", WARM_UP], capture_output=True)
    (_read if fits else _drop)(files)
    return "read" if fits else "dropped"


def regular_files(folder: Path) -> Iterator[tuple[str, int]]:
    """List every regular file in a folder and in the folders within it; links are not followed.

    Parameters
    ----------
    folder : Path
        The folder.  Whatever cannot be read in it is left out.

    Yields
    ------
    (str, int)
        The path of a file and its size in bytes.
    """
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif stat.S_ISREG((about := entry.stat(follow_symlinks=False)).st_mode):
                    yield entry.path, about.st_size


def _dropped_as_a_whole() -> bool:
    """Drop everything that the machine has cached; whether podium had the permission to do so."""
    if not (DROP_CACHES.exists() and os.access(DROP_CACHES, os.W_OK)):
        return False
    os.sync()  # only what is on the disk can be dropped
    try:
        DROP_CACHES.write_text(EVERYTHING)
    except OSError:  # in a container the file is there, but closed
        return False
    return True


def _read(files: Iterable[tuple[str, int]]) -> None:
    """Read files to their ends, so that their pages are in the cache."""
    block = bytearray(BLOCK)

    def read_all(file: int) -> None:
        while os.readv(file, [block]):
            pass

    _with_each(files, read_all)


def _drop(files: Iterable[tuple[str, int]]) -> None:
    """Remove these files' pages from the cache."""
    _with_each(files, lambda file: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED))


def _with_each(files: Iterable[tuple[str, int]], do: Callable[[int], None]) -> None:
    """Open each file that is not empty, without following links and without waiting for pipes."""
    if sys.platform != "linux":  # other systems have no sandbox either
        return
    for path, size in files:
        if size:
            with contextlib.suppress(OSError):
                file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    do(file)
                finally:
                    os.close(file)


def _memory() -> int:
    """The size of the machine's memory in bytes, 0 if it is unknown."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
