"""The workers of a command: this process, several processes, or a Dask cluster.

A worker process is started with ``python -c`` and reads its tasks from a pipe. So it never runs the script or
the notebook of its parent again, and it ends as soon as the pipe is closed, even if the parent was killed.
"""

import concurrent.futures
import contextlib
import itertools
import math
import os
import pickle
import queue
import subprocess
import sys
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, TypeVar

from podium.child import clean, cluster, forked, late, overheard
from podium.child.supervised import (
    ENDLESS,
    WORK,
    Child,
    Patience,
    Voice,
    WorkerLostError,
    new_token,
    words,
)
from podium.common.options import by_command, is_command

TASKS_PER_WORKER = 3  # tasks under way for each worker, so that no worker waits
SECONDS_TO_CLOSE = 0.1
SECONDS_TO_WAKE = 1.0

T = TypeVar("T")
R = TypeVar("R")

START = """import sys
sys.path[:] = {path!r}
from podium.child.workers import serve
serve({has_command})
"""


@dataclass
class Workers:
    """The workers of a command."""

    executor: concurrent.futures.Executor | None  # hands out the tasks; with None, this process does them
    number: int  # how many tasks are worked on at once
    patience: Patience = ENDLESS  # with one task
    # What a process does before it forks for each task, because a custom metric gets a submission in it;
    # without it, a process does one task after the other.
    ready: Callable[[], object] | None = None
    key: str = field(default_factory=lambda: uuid.uuid4().hex)  # marks the processes of this command


# ---- The side of the command ----------------------------------------------------------------------------


@contextmanager
def start_workers(
    jobs: int,
    most: int,
    apart: bool = False,
    idle: float = math.inf,
    ready: Callable[[], object] | None = None,
) -> Iterator[Workers]:
    """Start workers on this machine, at most one for each of so many tasks, and end them when all is done.

    A single one is this process, unless the work has to be done `apart` from it because it may crash. Whoever
    uses no processor time for so long (`idle`) is ended, and its task is lost. For `ready` see `Workers`.
    """
    number = min(jobs or os.cpu_count() or 1, max(1, most))
    if number == 1 and not apart:
        yield Workers(None, 1, ready=ready)
        return
    executor = concurrent.futures.ThreadPoolExecutor(number)
    workers = Workers(executor, number, Patience(idle), ready)
    try:
        yield workers
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        closing = threading.Thread(target=executor.shutdown)
        closing.start()
        while closing.is_alive():  # a thread that waits for its process is told that it has ended
            end_processes(workers.key)
            closing.join(SECONDS_TO_CLOSE)
        end_processes(workers.key)


@contextmanager
def dask_workers(
    address: str,
    idle: float,
    ready: Callable[[], object] | None,
    probe: Callable[..., dict[str, str]],
    *arguments: Any,
) -> Iterator[Workers]:
    """Connect to a Dask cluster after each of its workers has answered a probe with its versions."""
    with cluster.connected(address) as client:
        cluster.check(client, probe, *arguments)
        executor, threads = client.get_executor(pure=False), sum(client.nthreads().values())
        workers = Workers(executor, threads, Patience(idle), ready)
        try:
            yield workers
        finally:
            with contextlib.suppress(Exception):  # workers may have left the cluster
                client.run(end_processes, workers.key)


def spread(
    workers: Workers, work: Callable[[T], R], tasks: Iterable[T], window: int | None = None
) -> Iterator[tuple[T, R | Exception]]:
    """Let workers do tasks, and yield each with its answer, or with what went wrong, as soon as it is done."""
    if workers.executor is None:
        for task in tasks:
            try:
                yield task, work(task) if workers.ready is None else alone(work, task)
            except Exception as problem:
                yield task, problem
        return
    window = window or workers.number * TASKS_PER_WORKER
    waiting = iter(tasks)
    under_way: dict[concurrent.futures.Future[R], T] = {}
    while True:
        for task in itertools.islice(waiting, window - len(under_way)):
            future = workers.executor.submit(
                in_process, workers.key, workers.patience, work, task, workers.ready
            )
            under_way[future] = task
        if not under_way:
            return
        # Ctrl-C may reach another thread than this one, which handles it as soon as it wakes up.
        done, _ = concurrent.futures.wait(
            under_way, SECONDS_TO_WAKE, return_when=concurrent.futures.FIRST_COMPLETED
        )
        for future in done:
            failure = future.exception()
            if failure is not None and not isinstance(failure, Exception):
                raise failure
            yield under_way.pop(future), future.result() if failure is None else failure


# ---- The worker processes -------------------------------------------------------------------------------

_of_thread = threading.local()  # the child of each thread
_children: dict[str, set[Child]] = {}  # the children of each command


def alone(work: Callable[[T], R], task: T) -> R:
    """Do a task in which a custom metric gets a submission in a process of its own.

    That is a fork of this process, or a new one if this one is not clean. A process that is none of podium's
    own, in which somebody has called a function, does the task itself.
    """
    if not clean.is_of_command():
        return work(task)
    result: R = forked.unpacked(_alone(work, task))
    return result


def forked_if_clean(work: Callable[[T], R], task: T) -> R:
    """Do a task in a fork if this process may, and else here."""
    if not (clean.is_of_command() and _may_fork()):
        return work(task)
    result: R = forked.unpacked(forked.packed(work, task))
    return result


def _may_fork() -> bool:
    """Whether this process may fork; what earlier forks have loaded is loaded here before."""
    late.load()
    return clean.is_clean()


def nothing() -> None:
    """What a process does before it forks if the tasks bring their metric along; see `Workers.ready`."""


def _alone(work: Callable[[T], R], task: T) -> bytes:
    """Do a task in a process of its own, and return its packed answer."""
    if _may_fork():
        return forked.packed(work, task)
    child = _start(key := uuid.uuid4().hex)
    try:
        child.give(pickle.dumps((None, work, task), protocol=5))
        return child.answer(ENDLESS)
    finally:
        end_processes(key)


def in_process(
    key: str,
    patience: Patience,
    work: Callable[[T], R],
    task: T,
    ready: Callable[[], object] | None = None,
) -> R:
    """Do a task in the child that belongs to this thread and command, which is started if there is none.

    Also a worker of Dask does its tasks in such a child, because limits of memory and time hold for a process
    and its main thread, and because a file that crashes a library must not take the worker away.
    """
    of_thread: dict[str, Child] = _of_thread.__dict__
    if key not in of_thread:
        of_thread[key] = _start(key)
    child = of_thread[key]
    try:
        child.give(pickle.dumps((ready, work, task), protocol=5))
        answer = child.answer(patience)
    except WorkerLostError:
        del of_thread[key]
        child.end()
        raise
    result: R = forked.unpacked(answer)
    return result


def _start(key: str) -> Child:
    """Start a child for tasks."""
    # There is a process for each core, so each one multiplies matrices with one thread. Each has a session of
    # its own, so that Ctrl-C in the terminal reaches the parent alone, which ends the others.
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    token, printed = new_token(), overheard.file_for_prints()
    process = subprocess.Popen(
        [sys.executable, "-c", START.format(path=sys.path, has_command=is_command())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=printed,
        env=os.environ | one_thread,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.write(token + b"\n")
    child = Child(process, process.stdout, token, printed, process.stdin)
    _children.setdefault(key, set()).add(child)
    return child


def end_processes(key: str) -> None:
    """End the processes of a command. Nobody waits for what they have begun, as they write no files."""
    for child in _children.pop(key, ()):
        child.end()


def serve(has_command: bool) -> None:
    """Do the tasks that come through standard input, until it is closed.

    Messages name options as those of the process that has started this one.
    """
    tasks = os.fdopen(os.dup(0), "rb")
    token = tasks.readline().strip()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # whoever reads standard input finds nothing
    voice, printed = Voice(os.fdopen(os.dup(1), "wb"), token), os.fdopen(os.dup(2), "r+b", 0)
    voice.lead(printed)
    clean.offer()
    warnings.simplefilter("ignore")  # those of a metric's libraries; who asks for answers tells what matters
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_tasks, args=(tasks, token, waiting), daemon=True).start()
    with by_command(has_command):
        while True:
            voice.say(WORK, _answer(waiting.get()))


def _answer(asked: bytes) -> bytes:
    """Do a task of a worker, and return its packed answer."""
    try:
        ready, work, task = pickle.loads(asked)
        if ready is not None:
            ready()
            return _alone(work, task)
    except Exception as problem:
        return forked.failure(problem)
    return forked.answer_of(work, task)


def _read_tasks(tasks: IO[bytes], token: bytes, waiting: "queue.SimpleQueue[bytes]") -> None:
    """Read tasks while the main thread works. When the parent has closed the pipe or was killed, all ends."""
    for _, task in words(tasks, token):
        waiting.put(task)
    os._exit(1)
