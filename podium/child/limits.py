"""What reading and scoring one submission may take, so that no stranger's file takes the machine down.

A Parquet file of a few kilobytes can expand to many gigabytes. Whoever reads a submission does so within
limits::

    with limits.within(Limits()):
        submission, notices = pipeline.submitted(solution, path)
        evaluation = pipeline.scored(solution, submission)
"""

import math
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from podium.common.errors import SubmissionRejected

if sys.platform == "linux":
    import resource


STATUS = Path("/proc/self/status")


class Limits(NamedTuple):
    """What reading and scoring one submission may take."""

    memory: int = 4 * 2**30  # bytes beyond those that the process had before
    # Seconds of processor time, so that no submission is rejected because the machine is busy
    seconds: float = 600.0
    idle: float = math.inf  # seconds without any processor time, which the parent of a worker watches


class LimitExceededError(SubmissionRejected):
    """The submission takes more than a limit allows; the text names the limit."""


@contextmanager
def within(limits: Limits) -> Iterator[None]:
    """Hold the work of this process to limits; LimitExceededError is raised if it exceeds one.

    The limits are those of the whole process. Outside of the main thread they are therefore not set. Memory is
    limited on Linux alone, and time wherever there are timers, which excludes Windows.
    """
    in_main = threading.current_thread() is threading.main_thread()
    try:
        with _time_limited(limits.seconds, in_main), _memory_limited(limits.memory, in_main):
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
def _time_limited(seconds: float, in_main: bool) -> Iterator[None]:
    """Raise `_TimeExceededError` after so much processor time."""
    if not (in_main and hasattr(signal, "setitimer")):
        yield
        return

    def stop(number: int, _: object) -> None:
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
def shared() -> Iterator[tuple[float, float]]:
    """Let the processor time of a fork count as that of this process; yield what is left, for `resume`."""
    left = _timer()
    spent = _spent_by_children()
    try:
        yield left
    finally:
        if left[0]:
            resume((max(_timer()[0] - (_spent_by_children() - spent), 0.001), left[1]))


def resume(left: tuple[float, float]) -> None:
    """Set the timer of processor time, which a fork does not have, unless there is none."""
    if left[0]:
        signal.setitimer(signal.ITIMER_PROF, *left)


def _timer() -> tuple[float, float]:
    """What is left of the processor time, and how often more is refused; zeros without a limit."""
    return signal.getitimer(signal.ITIMER_PROF) if hasattr(signal, "getitimer") else (0.0, 0.0)


def _spent_by_children() -> float:
    """The processor time of those children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


@contextmanager
def _memory_limited(memory: int, in_main: bool) -> Iterator[None]:
    """Let the process have so many bytes more than it has now; beyond that, MemoryError is raised.

    RLIMIT_DATA counts what can be written. RLIMIT_AS would also count what pyarrow's threads only reserve,
    which is gigabytes on a machine with many cores.
    """
    if sys.platform != "linux" or not in_main or not STATUS.exists():
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    ends = [end for end in (soft, hard, _held() + memory) if end != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(ends), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def room() -> float:
    """How many bytes of memory this process may still take; infinite if nothing limits it."""
    if sys.platform != "linux":
        return math.inf
    end, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return math.inf if end == resource.RLIM_INFINITY else end - _held()


def _held() -> int:
    """The bytes that this process can write, as Linux counts them for its limit."""
    return int(STATUS.read_text().partition("VmData:")[2].split()[0]) * 1024


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
