"""Run a command whose metric a stranger wrote in a child of this process, and see how the child ends.

A metric can end its process, crash it, wait for ever, or leave threads and processes behind.  So the parent
says what happened if the child has not said its result itself, and ends whatever is left.  The child is forked
before pandas is imported, which takes a few milliseconds.  Windows has no fork, so there a command runs in its
own process.
"""

import atexit
import contextlib
import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from typing import IO, NamedTuple, NoReturn

from podium.child.overheard import file_for_descriptors, keep_apart, tell_rest
from podium.words.errors import HostError, UsageError, complain

__all__ = ["Patience", "adopting", "busy_seconds", "end_session", "ending", "run_and_end", "supervised"]

SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_TO_END = 2.0  # for a child that has said its result
SECONDS_TO_LEAVE = 10.0  # for a child that was interrupted, which cleans up; a library may have lost the signal
# The numbers of Linux's prctl: orphans come to this process, and a signal when the parent dies.
SUBREAPER, SIGNAL_OF_PARENT = 36, 1
SESSION = 3  # the place of the session's number among the fields of a process
ENDED_BY = (signal.SIGTERM, signal.SIGHUP) if hasattr(signal, "SIGHUP") else (signal.SIGTERM,)
WISHES = (signal.SIGINT, *ENDED_BY)  # that end a command


class Patience(NamedTuple):
    """How long a command may take whose metric a stranger wrote, in seconds."""

    idle: float = 60.0  # without any processor time
    processor: float = math.inf  # of processor time


class _EndedError(BaseException):
    """Somebody wants this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def supervised(work: Callable[[], int], patience: Patience) -> int:
    """Do some work, which returns an exit code, in a child; return its code or that of what became of it."""
    if not hasattr(os, "fork"):
        return work()
    _prctl(SUBREAPER, 1)
    with file_for_descriptors() as printed:
        try:
            return _in_child(work, patience, printed)
        finally:
            tell_rest(printed)


def _in_child(work: Callable[[], int], patience: Patience, printed: IO[bytes]) -> int:
    """Fork a child that does the work, and return its exit code or that of what became of it."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, WISHES)  # until both know what to do about one
    child = os.fork()
    if child == 0:
        os.close(reading)
        keep_apart(printed)
        _do(work, writing)
    os.close(writing)
    try:
        with _signals_raised():
            return _watched(child, reading, patience)
    except _EndedError as wish:
        _end_all(child)
        signal.signal(wish.number, signal.SIG_DFL)
        os.kill(os.getpid(), wish.number)
        raise
    finally:
        _end_all(child)
        os.close(reading)


@contextlib.contextmanager
def adopting() -> Iterator[Callable[[], bool]]:
    """Let orphans among the descendants of this process come to it, where Linux can do that.

    Yield the function that ends them and tells whether there were any. What was there before stays, and what is
    of the session of this process, which has begun it itself.
    """
    before, session = _descendants(os.getpid()), str(os.getsid(0)) if hasattr(os, "getsid") else ""
    _prctl(SUBREAPER, 1)
    try:
        yield lambda: _end_descendants(lambda pid, fields: pid in before or fields[SESSION] == session)
    finally:
        _prctl(SUBREAPER, 0)


def ending(code: int) -> str:
    """Say how a process has ended, from its exit code, which is the negative number of a signal.

    >>> ending(3), ending(-11)
    ('exit code 3', 'signal 11 (SIGSEGV)')
    """
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in {*signal.Signals} else ""
    return f"signal {-code} ({name})" if name else f"signal {-code}"


def end_session(process: subprocess.Popen[bytes]) -> None:
    """End a process that has a session of its own, with all that it has started there."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):  # nobody of its session is left
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def run_and_end(
    command: list[str], folder: str | os.PathLike[str], seconds: float | None = None
) -> tuple[int | None, bytes, bytes]:
    """Run a command in a folder, and end what it leaves behind; return its exit code and what it printed.

    The code is None if it takes longer than so long.  What it prints goes into files, because a child that it
    leaves behind would keep pipes open.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        code = None
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(seconds)
        finally:
            end_session(process)
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


# ---- The child --------------------------------------------------------------------------------------------


def _do(work: Callable[[], int], writing: int) -> NoReturn:
    """Do the work in a session of its own, tell the exit code, and end without waiting for anybody."""
    code = 1
    try:
        os.setsid()  # so that the terminal's signals reach the parent alone, which passes them on
        _prctl(SIGNAL_OF_PARENT, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WISHES)
        code = work()
    except SystemExit as wish:  # of argparse
        code = wish.code if isinstance(wish.code, int) else 1
    except KeyboardInterrupt:  # before the command could answer it itself
        print("interrupted", file=sys.stderr)
        code = 128 + signal.SIGINT
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(OSError, ValueError):  # a metric may have closed everything
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(writing, bytes([code]))
    atexit._run_exitfuncs()
    os._exit(code)


# ---- The parent -------------------------------------------------------------------------------------------


def _watched(child: int, reading: int, patience: Patience) -> int:
    """Wait until the child has told its exit code, has ended, or has used up the patience."""
    busy, busy_at, leave_at = 0.0, time.monotonic(), math.inf
    while True:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, WISHES)
            told = _told(reading)
            if told is not None:
                _wait(child, SECONDS_TO_END)
                return told
            if (code := _wait(child, 0)) is not None:
                return 128 + signal.SIGINT if leave_at < math.inf else _said(_of_end(code))
            if time.monotonic() > leave_at:
                print("interrupted", file=sys.stderr)
                return 128 + signal.SIGINT
            if (spent := busy_seconds(os.getpid())) is None:
                continue
            now = time.monotonic()
            if spent > busy:
                busy, busy_at = spent, now
            if spent > patience.processor:
                limit = f"more than {patience.processor:g} s of processor time: --time-limit gives it more"
                return _said(HostError(f"the metric takes {limit}"))
            if now - busy_at > patience.idle:
                waits = (
                    f"no processor time for {patience.idle:g} s, so it was ended: --idle-limit gives it more"
                )
                return _said(HostError(f"the metric has used {waits}"))
        except KeyboardInterrupt:
            if leave_at < math.inf:
                return 128 + signal.SIGINT
            leave_at = time.monotonic() + SECONDS_TO_LEAVE
            os.kill(child, signal.SIGINT)


def _told(reading: int) -> int | None:
    """The exit code that the child has told; None if it has not told any yet."""
    if not select.select([reading], [], [], SECONDS_BETWEEN_LOOKS)[0]:
        return None
    code = os.read(reading, 1)
    if not code:  # a child that has closed its end may still work
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return code[0] if code else None


def _of_end(code: int) -> HostError | UsageError:
    """The error for a child that has ended without a result."""
    if code == -signal.SIGKILL:
        return UsageError(
            "the process of the metric was killed (signal 9), perhaps because the machine has too little memory"
        )
    verb = "ended" if code >= 0 else "crashed"
    return HostError(f"the metric {verb} its process before there was a result: {ending(code)}")


def _said(error: HostError | UsageError) -> int:
    """Print an error, and return its exit code."""
    complain(error)
    return error.exit_code


def _wait(child: int, seconds: float) -> int | None:
    """The exit code of a child that ends within some seconds; None if it does not."""
    until = time.monotonic() + seconds
    while True:
        with contextlib.suppress(ChildProcessError):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= until:
            return None
        time.sleep(0.005)


def _end_all(child: int) -> None:
    """End the child and whatever it has left behind."""
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    _end_descendants(lambda *_: False)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)


def _end_descendants(is_spared: Callable[[int, list[str]], bool]) -> bool:
    """End what this process has begun and what that has begun, except what is spared; tell if there was any."""
    is_any = False
    while left := [pid for pid, fields in _descendants(os.getpid()).items() if not is_spared(pid, fields)]:
        is_any = True
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.005)
    return is_any


@contextlib.contextmanager
def _signals_raised() -> Iterator[None]:
    """Raise `_EndedError` for signals that end a process."""

    def stop(number: int, _: object) -> None:
        raise _EndedError(number)

    before = {number: signal.signal(number, stop) for number in ENDED_BY}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# ---- Linux ------------------------------------------------------------------------------------------------


def _prctl(option: int, value: int) -> None:
    """Ask Linux for something about this process; elsewhere nothing happens."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _processes() -> dict[int, list[str]]:
    """The fields of all processes behind their names, by number: the state, the parent, and so on."""
    found = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if name.isdigit():
            with (
                contextlib.suppress(OSError),
                open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file,
            ):
                found[int(name)] = file.read().rpartition(")")[2].split()
    return found


def _descendants(process: int) -> dict[int, list[str]]:
    """The fields of all processes that a process has begun, and those that these have begun."""
    everything = _processes()
    found: dict[int, list[str]] = {}
    some = {process}
    while some:
        some = {pid for pid, fields in everything.items() if int(fields[1]) in some and pid not in found}
        found |= {pid: everything[pid] for pid in some}
    return found


def busy_seconds(process: int) -> float | None:
    """The processor time of all that a process has begun, also of what has ended; None where nobody knows."""
    if not os.path.isdir("/proc/self"):
        return None
    ticks = sum(int(each) for fields in _descendants(process).values() for each in fields[11:15])
    return float(ticks / os.sysconf("SC_CLK_TCK"))
