"""The same state of the page cache before every run.

A model that remembers its first run can be as fast as it likes in later ones, and the one place that all runs
of a model share is the machine's memory: which pages of a file are cached tells bits from one run to the next.
So before every run all files of the model and of the data are read, or, where they are too large for that, all
are dropped.  Root drops everything that the machine has cached before that, and then starts Python once, since
every model would otherwise wait for the disk.
"""

import contextlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

__all__ = ["equalise", "regular_files"]

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
EVERYTHING = "3"  # pages, and what is known of folders and files
LARGEST_SHARE = 0.25  # of the memory; more is dropped instead of read
BLOCK = 2**20
WARM_UP = "import numpy, pandas"  # what most models import


def equalise(folders: Iterable[Path]) -> str:
    """Bring the caches into the same state as before every other run.

    Parameters
    ----------
    folders : iterable of Path
        A model's folder and the data.

    Returns
    -------
    str
        What was done with their files: "read" or "dropped".
    """
    files = [file for folder in folders for file in regular_files(folder)]
    fits = sum(size for _, size in files) <= LARGEST_SHARE * _memory()
    if _dropped_as_a_whole():
        subprocess.run([sys.executable, "-c", WARM_UP], capture_output=True)
    (_read if fits else _drop)(files)
    return "read" if fits else "dropped"


def regular_files(folder: Path) -> Iterator[tuple[str, int]]:
    """Path and size in bytes of every regular file in a folder; links are not followed.

    Parameters
    ----------
    folder : Path
        However deep; what cannot be read is left out.
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
    """Drop all that the machine has cached, where we may."""
    if not (DROP_CACHES.exists() and os.access(DROP_CACHES, os.W_OK)):
        return False
    os.sync()  # only what is on the disk can be dropped
    try:
        DROP_CACHES.write_text(EVERYTHING)
    except OSError:  # in a container the file is there, but closed
        return False
    return True


def _read(files: Iterable[tuple[str, int]]) -> None:
    """Read files to their ends."""
    block = bytearray(BLOCK)

    def read_all(file: int) -> None:
        while os.readv(file, [block]):
            pass

    _with_each(files, read_all)


def _drop(files: Iterable[tuple[str, int]]) -> None:
    """Drop what is cached of these files."""
    _with_each(files, lambda file: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED))


def _with_each(files: Iterable[tuple[str, int]], do: Callable[[int], None]) -> None:
    """Open each file that is not empty; no link is followed, and nothing waited for."""
    if sys.platform != "linux":  # elsewhere there is no sandbox either
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
    """Bytes of the machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
