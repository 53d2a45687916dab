"""Whether this process is *clean*, so that it may fork for a file that a custom metric scores.

It is not any more when a metric has had a submission in it, or has left threads: these do not come along, and
what they hold at that moment is held for ever in the fork. Threads that end themselves for a fork do no harm:
OpenBLAS, which numpy and SciPy load, ends its own before each fork and starts them again when it needs them.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

THREADS = "/proc/self/task"

# Only Linux tells the threads of a process, and other systems have libraries that do not survive a fork.
_is_clean = sys.platform == "linux" and os.path.isdir(THREADS)
_is_of_command = False
_started = set[str]()  # the threads that a metric has started in this fork while it scored a submission


def offer() -> None:
    """Note that this process is that of a command, which may fork, and not one of somebody's own."""
    global _is_of_command
    _is_of_command = True


def is_of_command() -> bool:
    """Whether this process is that of a command or of a worker."""
    return _is_of_command


def soil() -> None:
    """Note that a custom metric gets a submission in this process, or has left something in it."""
    global _is_clean
    _is_clean = False


def is_clean() -> bool:
    """Whether this process may fork."""
    return _is_clean


@contextmanager
def threads_watched() -> Iterator[None]:
    """Note whether a part of a custom metric's file, such as its ``prepare()``, leaves threads behind."""
    before = _threads() if _is_clean else set()
    try:
        yield
    finally:
        started = _threads() - before if before else set()
        if not _is_clean:
            _started.update(started)
        elif _left_of(started):
            soil()


def has_left_threads() -> bool:
    """Whether a metric has left threads in this fork while it scored a submission."""
    return bool(_left_of(_started))


def _left_of(threads: set[str]) -> set[str]:
    """Those of some threads that run and do not end themselves for a fork."""
    if threads & _threads():
        _fork_for_nothing()
    return threads & _threads()


def _threads() -> set[str]:
    """The numbers of the threads of this process."""
    return {*os.listdir(THREADS)}


def _fork_for_nothing() -> None:
    """Fork, so that libraries end those of their threads that would be in the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
        if pid == 0:
            os._exit(0)
    os.waitpid(pid, 0)
