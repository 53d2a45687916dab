"""What a system says about processes, and how the ones that others have left are ended."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator

# The numbers of Linux's prctl: orphans come to this process, and a signal when the parent dies.
SUBREAPER, SIGNAL_OF_PARENT = 36, 1
# The places of what /proc tells of a process, counted from its state.
STATE, PARENT, SESSION, USER_TICKS, TICKS = 0, 1, 3, slice(11, 15, 2), slice(11, 15)
STOPPED = -19  # the exit code of a process that has stopped itself (SIGSTOP) and is ended therefore
LOOKS_STOPPED = 3  # in a row; a machine that pauses everything lets one process go on before the other


def ending(code: int) -> str:
    """Say how a process has ended, from its exit code, which is the negative number of a signal.

    >>> ending(3), ending(-11)
    ('exit code 3', 'signal 11 (SIGSEGV)')
    """
    if code >= 0:
        return f"exit code {code}"
    name = signal_name(-code)
    return f"signal {-code} ({name})" if name else f"signal {-code}"


def signal_name(number: int) -> str:
    """The name of a signal, "" if it has none."""
    return signal.Signals(number).name if number in {*signal.Signals} else ""


def end_session(process: int) -> bool:
    """End a process with all of the session that it has begun; tell if anybody was left of it."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process, signal.SIGKILL)
            return True
        os.kill(process, signal.SIGTERM)  # which Windows does not let it refuse
    except OSError:
        pass
    return False


@contextlib.contextmanager
def adopting() -> Iterator[Callable[[], bool]]:
    """Let orphans among the descendants of this process come to it, where Linux can do that.

    Yield the function that ends them and tells whether there were any. What was there before stays, and what is
    of the session of this process, which has begun it itself.
    """
    before, session = descendants(os.getpid()), str(os.getsid(0)) if hasattr(os, "getsid") else ""
    prctl(SUBREAPER, 1)
    try:
        yield lambda: end_descendants(lambda pid, fields: pid in before or fields[SESSION] == session)
    finally:
        prctl(SUBREAPER, 0)


def end_descendants(is_spared: Callable[[int, list[str]], bool] = lambda *_: False) -> bool:
    """End what this process has begun and what that has begun, except what is spared; tell if there was any."""
    is_any = False
    while left := [pid for pid, fields in descendants(os.getpid()).items() if not is_spared(pid, fields)]:
        is_any = True
        kill(left)
        for pid in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.005)
    return is_any


def kill(those: Iterable[int]) -> None:
    """End processes that may have ended already."""
    for pid in those:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


# ---- Linux ------------------------------------------------------------------------------------------------


def prctl(option: int, value: int) -> None:
    """Ask Linux for something about this process; elsewhere nothing happens."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def is_stopped(process: int) -> bool:
    """Whether a process was stopped by a signal and waits for another one to go on."""
    return _fields(process)[STATE : STATE + 1] == ["T"]


def processor_seconds(process: int) -> tuple[float, float] | None:
    """The processor time of a process and of all that it has begun, and that outside the kernel alone."""
    if not os.path.isdir("/proc/self"):
        return None
    everyone, hertz = [_fields(process), *descendants(process).values()], os.sysconf("SC_CLK_TCK")
    both, user = (
        sum(int(each) for fields in everyone for each in fields[ticks]) / hertz for ticks in (TICKS, USER_TICKS)
    )
    return both, user


def _fields(process: int | str) -> list[str]:
    """The fields behind the name of a process: its state, its parent, and so on; none if it has gone."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def descendants(process: int) -> dict[int, list[str]]:
    """The fields of all processes that a process has begun, and those that these have begun."""
    names = os.listdir("/proc") if os.path.isdir("/proc") else []
    everything = {int(name): fields for name in names if name.isdigit() and (fields := _fields(name))}
    found: dict[int, list[str]] = {}
    some = {process}
    while some:
        some = {pid for pid, fields in everything.items() if int(fields[PARENT]) in some and pid not in found}
        found |= {pid: everything[pid] for pid in some}
    return found
