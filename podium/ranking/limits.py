"""What reading and scoring one submission may take, so that no stranger's file takes the machine down."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from podium.errors import SubmissionRejected

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment,unused-ignore]


class Limits(NamedTuple):
    """What reading and scoring one submission may take.

    The limits hold where a process does its work in one thread.  They do not hold on the workers of a Dask
    cluster, which have limits of their own.

    Attributes
    ----------
    memory : int
        Bytes beyond those that the process had before.
    seconds : float
        Seconds of processor time, so that no submission is rejected because the machine is busy.
    """

    memory: int = 4 * 2**30
    seconds: float = 600.0


class LimitExceededError(Exception):
    """The work has exceeded a limit; the text names it."""


@contextmanager
def within(limits: Limits) -> Iterator[None]:
    """Hold the work of this process to limits.

    Parameters
    ----------
    limits : Limits
        What the work may take.

    Yields
    ------
    None
        The work is done inside of the ``with`` statement.

    Raises
    ------
    LimitExceededError
        The work takes more.
    """
    try:
        with _time_limited(limits.seconds), _memory_limited(limits.memory):
            yield
    except SubmissionRejected:
        raise
    except _TimeExceededError:
        raise LimitExceededError(f"takes more than {limits.seconds:g} s of processor time") from None
    except Exception as problem:
        if not (_lacks_memory(problem) and _available_memory() > limits.memory):
            raise
        raise LimitExceededError(f"takes more than {limits.memory / 2**20:,.0f} MB of memory") from None


class _TimeExceededError(BaseException):
    """The processor time is used up.

    It does not derive from Exception, so that a metric's ``except Exception`` does not catch it.
    """


@contextmanager
def _time_limited(seconds: float) -> Iterator[None]:
    """Raise `_TimeExceededError` after so many seconds of processor time, whatever Python is doing."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise _TimeExceededError

    before = signal.signal(signal.SIGPROF, stop)
    try:
        # It is raised again every second, in case a metric catches it.
        signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _memory_limited(memory: int) -> Iterator[None]:
    """Let the process have so many bytes more than it has now; beyond that, MemoryError is raised.

    Without the means to measure or to limit memory, as on Windows, nothing is limited.
    """
    statm = Path("/proc/self/statm")
    is_alone = threading.current_thread() is threading.main_thread()
    if resource is None or not is_alone or not statm.exists():
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    held = int(statm.read_text().split()[0]) * resource.getpagesize()
    ends = [end for end in (soft, hard, held + memory) if end != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(ends), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _lacks_memory(problem: BaseException | None) -> bool:
    """Tell whether an error, or one that led to it, is a MemoryError."""
    return problem is not None and (
        isinstance(problem, MemoryError) or _lacks_memory(problem.__cause__ or problem.__context__)
    )


def _available_memory() -> int:
    """Read how many bytes of memory the machine has left, or 0 if it does not say.

    If the machine itself is short of memory, a MemoryError is a fault and no rejection.
    """
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")), 0)
