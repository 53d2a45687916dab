"""A fork of this process for one task alone, which leaves nothing behind that the next task could meet.

What a custom metric does to pandas, numpy, the locale or itself while it scores one file would stay for the
next one, and platforms score each file in a new process. A process that has loaded the metric and is still
clean (see `podium.child.clean`) forks for each task, which takes milliseconds.
"""

import contextlib
import itertools
import math
import os
import pickle
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

from podium.child import late, limits, overheard, processes
from podium.child.supervised import (
    LATE,
    SECONDS_BETWEEN_LOOKS,
    SECONDS_TO_END,
    TOLD,
    WORK,
    Forked,
    Patience,
    Voice,
    Watch,
    WorkerLostError,
    new_token,
    words,
)

__all__ = ["CannotTravelError", "answer_of", "packed", "unpacked"]

BYTES_AT_ONCE = 1 << 16
LONGEST_CHAIN = 10  # of errors, each of which led to the one before
NO_PATIENCE = Patience(math.inf)  # whoever waits for this process has it

T = TypeVar("T")
R = TypeVar("R")


class CannotTravelError(Exception):
    """The result of a task has objects that pickle cannot take to another process."""


# ---- Answers ------------------------------------------------------------------------------------------------


def answer_of(work: Callable[[T], R], task: T, caught: type[BaseException] = Exception) -> bytes:
    """Do a task, and pack its result or its error."""
    try:
        result = work(task)
    except caught as problem:
        return pickle.dumps((False, _chain(problem)))
    try:
        return pickle.dumps((True, result), protocol=5)
    except Exception as problem:  # a stranger's object may raise anything
        return pickle.dumps((False, [CannotTravelError(f"{type(problem).__name__}: {problem}")]))


def unpacked(answer: bytes) -> Any:
    """The result in an answer; its error is raised."""
    is_right, value = pickle.loads(answer)
    if not is_right:
        raise _linked(value)
    return value


def _chain(problem: BaseException | None) -> list[BaseException]:
    """An error and those that led to it, which pickle would leave out."""
    chain = list[BaseException]()
    while problem is not None and len(chain) < LONGEST_CHAIN:
        chain.append(_portable(problem))
        problem = problem.__cause__ or problem.__context__
    return chain


def _linked(chain: list[BaseException]) -> BaseException:
    """The error that a chain begins with, led to by the others."""
    for problem, cause in itertools.pairwise(chain):
        problem.__cause__ = cause
    return chain[0]


def _portable(problem: BaseException) -> BaseException:
    """An error as it is, or its text if it cannot be packed and unpacked."""
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:
        return RuntimeError(f"{type(problem).__name__}: {problem}")
    return problem


# ---- The side that asks -------------------------------------------------------------------------------------


def packed(work: Callable[[T], R], task: T) -> bytes:
    """Do a task in a fork, end what that leaves behind, and return its packed answer."""
    reading, writing = os.pipe()
    token, asking = new_token(), os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    with limits.shared() as begun, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork needs none of podium's threads
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            _do(work, task, Voice(os.fdopen(writing, "wb"), token), asking, begun)
        os.close(writing)
        child = Forked(pid)
        try:
            return _heard(reading, child, token)
        finally:
            os.close(reading)
            processes.end_session(pid)
            child.kill()
            while child.poll() is None:
                time.sleep(0.001)


def _heard(reading: int, child: Forked, token: bytes) -> bytes:
    """Wait for the answer of a fork."""
    for kind, content in words(_lines(reading, child), token):
        if kind == TOLD:
            overheard.remember(pickle.loads(content))
        elif kind == LATE:
            late.remember(pickle.loads(content))
        else:
            _wait(child)
            return content
    _wait(child)
    code = child.poll()
    raise WorkerLostError("it closed its connection" if code is None else processes.ending(code), code)


def _lines(reading: int, child: Forked) -> Iterator[bytes]:
    """The lines that a fork writes, until it has ended or closed its end of the pipe."""
    watch, ready, begun = Watch(child.pid, NO_PATIENCE), select.poll(), bytearray()
    ready.register(reading, select.POLLIN)
    while True:
        has_ended = child.poll() is not None  # while others may hold its end of the pipe
        if ready.poll(1000 * (SECONDS_TO_END if has_ended else SECONDS_BETWEEN_LOOKS)):
            content = os.read(reading, BYTES_AT_ONCE)
            if not content:
                return
            begun += content
            if b"\n" in content:
                *whole, rest = begun.split(b"\n")
                begun = bytearray(rest)
                yield from (bytes(line) + b"\n" for line in whole)
        elif has_ended:
            return
        watch.look()


def _wait(child: Forked) -> None:
    """Let a fork end that has said its last word."""
    until = time.monotonic() + SECONDS_TO_END
    while child.poll() is None and time.monotonic() < until:
        time.sleep(0.0005)


# ---- The side of the fork -----------------------------------------------------------------------------------


def _do(work: Callable[[T], R], task: T, voice: Voice, asking: int, begun: tuple[float, float]) -> NoReturn:
    """Do the task in a process group of its own, say the answer, and end without waiting for anybody."""
    code = 1
    try:
        processes.prctl(processes.SIGNAL_OF_PARENT, signal.SIGKILL)
        os.setpgid(0, 0)
        limits.resume(begun)
        told, loaded = overheard.number_told(), {*sys.modules}
        answer = answer_of(work, task, BaseException) if os.getppid() == asking else b""
        with contextlib.suppress(OSError, ValueError):  # a metric may have closed everything
            sys.stdout.flush()
            sys.stderr.flush()
        if overheard.number_told() > told:
            voice.say(TOLD, pickle.dumps(overheard.all_told()))
        if names := late.since(loaded):
            voice.say(LATE, pickle.dumps(names))
        voice.say(WORK, answer)
        code = 0
    finally:
        os._exit(code)
