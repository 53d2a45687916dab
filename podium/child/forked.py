"""A fork of this process for one task alone, which leaves nothing behind that the next task could meet.

What a custom metric does to pandas, numpy, the locale or itself while it scores one file would stay for the
next one, and platforms score each file in a new process. A process that has loaded the metric and is still
clean (see `podium.child.clean`) forks for each task, which takes milliseconds.
"""

import functools
import itertools
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from podium.child import late, limits, overheard
from podium.child.supervised import ENDLESS, LATE, TOLD, Voice, fork

LONGEST_CHAIN = 10  # of errors, each of which led to the one before

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
        return failure(problem)
    try:
        return pickle.dumps((True, result), protocol=5)
    except Exception as problem:  # a stranger's object may raise anything
        return failure(CannotTravelError(f"{type(problem).__name__}: {problem}"))


def failure(problem: BaseException) -> bytes:
    """Pack an error, which is what became of a task."""
    return pickle.dumps((False, _chain(problem)))


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


# ---- Forks --------------------------------------------------------------------------------------------------


def packed(work: Callable[[T], R], task: T) -> bytes:
    """Do a task in a fork, end what that leaves behind, and return its packed answer."""
    with limits.shared() as begun:
        child = fork(functools.partial(_do, work, task, os.getpid(), begun))
        try:
            return child.answer(ENDLESS)  # whoever waits for this process has the patience
        finally:
            child.kill()


def _do(work: Callable[[T], R], task: T, asking: int, begun: tuple[float, float], voice: Voice) -> bytes:
    """Do the task in a process group of its own, and tell what else happened there."""
    os.setpgid(0, 0)
    limits.resume(begun)
    told, loaded = overheard.number_told(), {*sys.modules}
    answer = answer_of(work, task, BaseException) if os.getppid() == asking else b""
    if overheard.number_told() > told:
        voice.say(TOLD, pickle.dumps(overheard.all_told()))
    if names := late.since(loaded):
        voice.say(LATE, pickle.dumps(names))
    return answer
