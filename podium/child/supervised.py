"""The one child in which foreign code runs: started, heard, limited, seen to end, ended with what it leaves.

A metric can end its process, crash it or stop it, wait for ever, write where nobody expects it, or leave
threads and processes behind. So what a stranger wrote runs in a child. The child has no terminal: what podium
itself prints there, and what it answers, come through one pipe, each word behind a token that only the two
know. Whatever else is written into that pipe is nobody's word. This guards against accidents and stray
writes, not against a metric that reads the memory of its own process.

A child begins in one of three ways. `supervised` forks a command before pandas is imported, which takes a few
milliseconds; Windows has no fork, so there a command runs in its own process. A worker is a new interpreter
that does one task after the other, see `podium.child.workers`. And a process that has loaded a metric forks
for each file, see `podium.child.forked`.
"""

import atexit
import binascii
import contextlib
import functools
import io
import math
import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, NamedTuple, NoReturn

from podium.child import clean, late, overheard, processes
from podium.common.errors import HostError, UsageError, exit_code_of

if TYPE_CHECKING:
    import subprocess

SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_TO_END = 2.0  # for a child that has given its answer or closed its pipe
# For a command that was interrupted, which cleans up; a library may have lost the signal.
SECONDS_TO_LEAVE = 10.0
BUSY = 0.005  # of the time; to wait for another process takes a little, too
ENDED_BY = (signal.SIGTERM, signal.SIGHUP) if hasattr(signal, "SIGHUP") else (signal.SIGTERM,)
WISHES = (signal.SIGINT, *ENDED_BY)  # that end a command

# The kinds of words: a task or its answer, what is printed, which prints of metrics were told, which modules a
# fork has loaded, and that nothing will be said any more.
WORK, STDOUT, STDERR, TOLD, LATE, END = b"w", b"o", b"e", b"t", b"l", b""
REMEMBERED: dict[bytes, Callable[[Any], None]] = {TOLD: overheard.remember, LATE: late.remember}


class Patience(NamedTuple):
    """How long a child may take for its answer, in seconds."""

    idle: float = 60.0  # without any processor time
    processor: float = math.inf  # of processor time
    whole: float = math.inf  # by the clock


ENDLESS = Patience(math.inf)


class WorkerLostError(Exception):
    """A child has ended before it had an answer, or will have none; then its `code` is None."""

    def __init__(self, ending: str, code: int | None = None) -> None:
        super().__init__(ending, code)
        self.ending, self.code = ending, code  # how it has ended, in words

    def __str__(self) -> str:
        return f"a worker process is lost: {self.ending}"


# ---- The side of the parent -------------------------------------------------------------------------------


class Child:
    """A child: what it says, what it answers, and how it ends."""

    def __init__(
        self,
        process: "Forked | subprocess.Popen[bytes]",
        pipe: IO[bytes],
        token: bytes,
        printed: IO[bytes] | None = None,  # where its descriptors 1 and 2 lead, unless it has those of this one
        tasks: IO[bytes] | None = None,
    ) -> None:
        self.process, self.printed, self._token, self._tasks = process, printed, token, tasks
        self._words: queue.SimpleQueue[tuple[bytes, bytes]] = queue.SimpleQueue()
        threading.Thread(target=self._hear, args=(pipe,), daemon=True).start()

    def _hear(self, pipe: IO[bytes]) -> None:
        """Put what the child says into the queue."""
        with pipe:
            for word in words(pipe, self._token):
                self._words.put(word)
        self._words.put((END, b""))

    def give(self, task: bytes) -> None:
        """Give a task to a worker; if it has ended, there will be no answer."""
        assert self._tasks is not None
        with contextlib.suppress(OSError):
            Voice(self._tasks, self._token).say(WORK, task)

    def answer(self, patience: Patience) -> bytes:
        """Print what the child says until it answers; `WorkerLostError` is raised if it never will."""
        watch = Watch(self.process.pid, patience)
        while True:
            has_ended = self.process.poll() is not None  # while others may hold its end of the pipe
            try:
                kind, content = self._words.get(timeout=SECONDS_TO_END if has_ended else SECONDS_BETWEEN_LOOKS)
            except queue.Empty:
                kind, content = (END if has_ended else STDERR), b""  # nothing was said
            if kind == WORK:
                return content
            if kind == END:
                code = self.wait(SECONDS_TO_END)
                ending = "it closed its connection" if code is None else processes.ending(code)
                raise WorkerLostError(ending, code)
            if kind in REMEMBERED:
                REMEMBERED[kind](pickle.loads(content))
            else:
                _print(sys.stdout if kind == STDOUT else sys.stderr, content)
            watch.look()

    def wait(self, seconds: float) -> int | None:
        """The exit code of a child that ends within some seconds; None if it does not."""
        until = time.monotonic() + seconds
        while (code := self.process.poll()) is None and time.monotonic() < until:
            time.sleep(0.001)
        return code

    def kill(self) -> None:
        """End the child with all of its session or group."""
        processes.end_session(self.process.pid)
        self.process.kill()  # which may not have begun its session yet
        self.wait(math.inf)

    def end(self) -> None:
        """End the child and what it has begun, and tell what it has written last."""
        begun = processes.descendants(self.process.pid)  # forks have groups of their own
        self.kill()
        processes.kill(begun)
        if self.printed is not None:
            with contextlib.suppress(ValueError), self.printed:  # another thread may have told it already
                overheard.tell_rest(self.printed)
        if self._tasks is not None:
            with contextlib.suppress(OSError):  # what is left in the pipe cannot be sent any more
                self._tasks.close()


def new_token() -> bytes:
    """A token that stands before the words of one child."""
    return os.urandom(16).hex().encode()


def words(pipe: Iterable[bytes], token: bytes) -> Iterator[tuple[bytes, bytes]]:
    """What comes through a pipe behind a token, a word on each line; all else is nobody's word."""
    for line in pipe:
        _, is_said, word = line.rpartition(token)
        if is_said and word.endswith(b"\n"):
            yield word[:1], binascii.a2b_base64(word[1:])


def _print(stream: Any, content: bytes) -> None:
    """Print what was made printable in the child."""
    stream = getattr(stream, "plain", stream)
    if hasattr(stream, "buffer"):
        stream.flush()
        stream.buffer.write(content)
    else:  # that of a notebook
        stream.write(content.decode("utf-8", "replace"))
    stream.flush()


class Watch:
    """How long a child has been waited for, and what it has used meanwhile."""

    def __init__(self, pid: int, patience: Patience) -> None:
        self.pid, self.patience = pid, patience
        self.pause = min(1.0, patience.idle / 4, patience.processor / 4)
        self.began = self.looked_at = self.busy_at = time.monotonic()
        self.busy, self.stopped = 0.0, 0

    def look(self) -> None:
        """Raise an error if the child was stopped, or if the patience is at its end."""
        now = time.monotonic()
        if now < self.looked_at + self.pause:
            return
        self.looked_at = now
        self.stopped = self.stopped + 1 if processes.is_stopped(self.pid) else 0
        if self.stopped == processes.LOOKS_STOPPED:
            raise WorkerLostError(processes.ending(processes.STOPPED), processes.STOPPED)
        if now > self.began + self.patience.whole:
            raise WorkerLostError("it did not end")
        if min(self.patience.idle, self.patience.processor) < math.inf:
            self._measure(now)

    def _measure(self, now: float) -> None:
        """Compare what the child has used with the patience."""
        if (seconds := processes.processor_seconds(self.pid)) is None:
            return
        spent, _ = seconds
        if spent > self.busy + BUSY * (now - self.busy_at):
            self.busy, self.busy_at = spent, now
        idle, processor, _ = self.patience
        if spent > processor:
            raise WorkerLostError(f"it has used more than {processor:g} s of processor time (--time-limit)")
        if now > self.busy_at + idle:
            raise WorkerLostError(f"it has used no processor time for {idle:g} s (--idle-limit)")


# ---- The side of the child --------------------------------------------------------------------------------


class Voice:
    """The end of a pipe at which words are said."""

    def __init__(self, pipe: IO[bytes], token: bytes) -> None:
        self._pipe, self._token, self._owner = pipe, token, os.getpid()
        self._lock = threading.Lock()  # a bar of progress has a thread of its own

    def say(self, kind: bytes, content: bytes) -> None:
        """Say a word; only the process that was asked answers, and no copy that a metric has made of it."""
        if kind == WORK and os.getpid() != self._owner:
            os._exit(1)
        with self._lock:
            self._pipe.write(self._token + kind + binascii.b2a_base64(content))
            self._pipe.flush()

    def lead(self, printed: IO[bytes]) -> None:
        """Lead podium's own streams to the parent, and the descriptors 1 and 2 into a file that both have."""
        for number, name, kind in ((1, "stdout", STDOUT), (2, "stderr", STDERR)):
            before = getattr(sys, name)
            before.flush()
            said: Any = _Said(functools.partial(self.say, kind), number, before.isatty())
            setattr(sys, name, io.TextIOWrapper(said, before.encoding, before.errors, line_buffering=True))
            os.dup2(printed.fileno(), number)
        overheard.lie_over(printed)


class _Said(io.RawIOBase):
    """What is written here is said; programs write to a descriptor instead."""

    def __init__(self, say: Callable[[bytes], None], descriptor: int, is_terminal: bool) -> None:
        self._say, self._descriptor, self._is_terminal = say, descriptor, is_terminal

    def fileno(self) -> int:
        """The number of the descriptor to which programs write."""
        return self._descriptor

    def writable(self) -> bool:
        """Tell that something can be written, as a TextIOWrapper asks."""
        return True

    def isatty(self) -> bool:
        """Whether all ends on a terminal."""
        return self._is_terminal

    def write(self, content: Any) -> int:
        """Say some bytes."""
        self._say(bytes(content))
        return len(content)


# ---- Forks ------------------------------------------------------------------------------------------------


class Forked:
    """A process that was forked, with what `subprocess.Popen` has and podium needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """The exit code of the process, or None if it runs."""
        if self._code is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def kill(self) -> None:
        """End the process, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def fork(
    work: Callable[["Voice"], bytes], printed: IO[bytes] | None = None, at_end: Callable[[], object] = bool
) -> Child:
    """Fork a child that gives the result of some work as its answer, and ends without waiting for anybody."""
    reading, writing = os.pipe()
    token = new_token()
    sys.stdout.flush()
    sys.stderr.flush()
    # A signal would interrupt what libraries do in a fork's first moment, and Python would print where.
    held, pid = signal.pthread_sigmask(signal.SIG_BLOCK, WISHES), -1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork needs none of podium's threads
            pid = os.fork()
    finally:
        if pid:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
    if pid == 0:
        os.close(reading)
        _answer(work, Voice(os.fdopen(writing, "wb"), token), at_end, held)
    os.close(writing)
    return Child(Forked(pid), os.fdopen(reading, "rb"), token, printed)


def _answer(
    work: Callable[["Voice"], bytes],
    voice: "Voice",
    at_end: Callable[[], object],
    held: Iterable[int],
) -> NoReturn:
    """Do the work of a fork, in which these signals are held back, give its result, and end."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        processes.prctl(processes.SIGNAL_OF_PARENT, signal.SIGKILL)
        answer = work(voice)
        with contextlib.suppress(OSError, ValueError):  # a metric may have closed everything
            sys.stdout.flush()
            sys.stderr.flush()
        voice.say(WORK, answer)
        code = 0
    finally:
        at_end()
        os._exit(code)


# ---- Commands ---------------------------------------------------------------------------------------------


def supervised(work: Callable[[], None], patience: Patience) -> int:
    """Do a command's work in a child, and return its exit code or that of what became of it."""
    if not hasattr(os, "fork"):
        clean.offer()
        return exit_code_of(work)
    processes.prctl(processes.SUBREAPER, 1)
    codes: list[int] = []
    printed = overheard.file_for_prints()
    signal.pthread_sigmask(signal.SIG_BLOCK, WISHES)  # until both know what to do about a signal
    child = fork(functools.partial(_do, work, printed), printed, atexit._run_exitfuncs)

    def end(number: int, _: object) -> None:
        _end_all(child)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in ENDED_BY:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, end)
    try:
        failed = exit_code_of(lambda: codes.append(_code_of(child, patience)))
    finally:
        _end_all(child)
    return codes[0] if codes else failed


def _end_all(child: Child) -> None:
    """End the child of a command and whatever it has left behind."""
    child.end()
    processes.end_descendants()


def _code_of(child: Child, patience: Patience) -> int:
    """Wait for the exit code that a command tells."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WISHES)
        code = child.answer(patience)[0]
        child.wait(SECONDS_TO_END)
        return code
    except KeyboardInterrupt:
        with contextlib.suppress(OSError, WorkerLostError):
            os.kill(child.process.pid, signal.SIGINT)
            return child.answer(Patience(math.inf, whole=SECONDS_TO_LEAVE))[0]
        raise
    except WorkerLostError as lost:
        raise _error_of(lost) from None


def _error_of(lost: WorkerLostError) -> HostError | UsageError:
    """The error for a command whose child has no result."""
    if lost.code == -signal.SIGKILL:
        return UsageError(
            "the process of the metric was killed (signal 9), perhaps because the machine has too little memory"
        )
    if lost.code is None:
        return HostError(f"the metric gave no result: {lost.ending}")
    verb = "stopped" if lost.code == processes.STOPPED else "ended" if lost.code >= 0 else "crashed"
    return HostError(f"the metric {verb} its process before there was a result: {lost.ending}")


def _do(work: Callable[[], None], printed: IO[bytes], voice: Voice) -> bytes:
    """Do the work in a session of its own, and return the exit code."""

    def begun() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WISHES)
        try:
            work()
        except WorkerLostError as lost:  # of the process in which the metric got a submission
            raise _error_of(lost) from None

    os.setsid()  # so that the terminal's signals reach the parent alone, which passes them on
    voice.lead(printed)
    clean.offer()
    _only_read_terminal()
    try:
        return bytes([exit_code_of(begun)])
    except BaseException:
        traceback.print_exc()
        return bytes([1])


def _only_read_terminal() -> None:
    """Let nobody write through standard input, which terminals open for both."""
    with contextlib.suppress(OSError):  # it may be closed
        if os.isatty(0):
            os.dup2(os.open(os.ttyname(0), os.O_RDONLY | os.O_NOCTTY), 0)
