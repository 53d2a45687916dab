"""The workers of a command: this process, several processes, or a Dask cluster.

A worker process is started with ``python -c`` and reads its tasks from a pipe. So it never runs the script or
the notebook of its parent again, and it ends as soon as the pipe is closed, even if the parent was killed.
"""

import concurrent.futures
import contextlib
import itertools
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

from podium.child import cluster, limits, overheard
from podium.child.supervised import end_session, ending
from podium.words.errors import UsageError

TASKS_PER_WORKER = 3  # tasks under way for each worker, so that no worker waits
SECONDS_TO_CLOSE = 0.1
SECONDS_TO_END = 1.0  # for a process that has closed its pipes
SECONDS_TO_WAKE = 1.0
SIZE_BYTES = 8  # of the number that says how long a message is

T = TypeVar("T")
R = TypeVar("R")

START = """import sys
sys.path[:] = {path!r}
from podium.child.workers import serve
serve()
"""


@dataclass
class Workers:
    """The workers of a command."""

    executor: concurrent.futures.Executor | None  # hands out the tasks; with None, this process does them
    number: int  # how many tasks are worked on at once
    key: str = field(default_factory=lambda: uuid.uuid4().hex)  # marks the processes of this command


class WorkerLostError(Exception):
    """A worker process has ended before it had an answer; its `code` is None if it had to be killed."""

    def __init__(self, text: str, code: int | None = None) -> None:
        super().__init__(text, code)
        self.text, self.code = text, code

    def __str__(self) -> str:
        return self.text

    @property
    def ending(self) -> str:
        """How the process has ended, in words."""
        if self.code == limits.IDLE:
            return "it used no processor time and could not be interrupted"
        return "it closed its connection" if self.code is None else ending(self.code)


# ---- The side of the command ----------------------------------------------------------------------------


@contextmanager
def start_workers(jobs: int, most: int, apart: bool = False) -> Iterator[Workers]:
    """Start workers on this machine, at most one for each of so many tasks, and end them when all is done.

    A single one is this process, unless the work has to be done `apart` from it because it may crash.
    """
    number = min(jobs or os.cpu_count() or 1, max(1, most))
    if number == 1 and not apart:
        yield Workers(None, 1)
        return
    executor = concurrent.futures.ThreadPoolExecutor(number)
    workers = Workers(executor, number)
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
def dask_workers(address: str, probe: Callable[..., dict[str, str]], *arguments: Any) -> Iterator[Workers]:
    """Connect to a Dask cluster after each of its workers has answered a probe with its versions."""
    with cluster.connected(address) as client:
        ours = probe()
        problems = [
            f"  {name}: {difference}"
            for name, theirs in cluster.probe(client, probe, *arguments).items()
            if (difference := _difference(ours, theirs))
        ]
        if problems:
            raise UsageError("\n".join(["Dask workers that cannot work:", *problems]))
        executor, threads = client.get_executor(pure=False), sum(client.nthreads().values())
        workers = Workers(executor, threads)
        try:
            yield workers
        finally:
            with contextlib.suppress(Exception):  # workers may have left the cluster
                client.run(end_processes, workers.key)


def _difference(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """List the versions of a worker that differ from ours, or return an empty text."""
    return ", ".join(
        f"expected {name} {version}, found {theirs.get(name)}"
        for name, version in ours.items()
        if theirs.get(name) != version
    )


def spread(
    workers: Workers, work: Callable[[T], list[R]], tasks: Iterable[T], window: int | None = None
) -> Iterator[tuple[T, list[R] | Exception]]:
    """Let workers do tasks, and yield each with its answer, or with what went wrong, as soon as it is done."""
    if workers.executor is None:
        for task in tasks:
            try:
                yield task, work(task)
            except Exception as problem:
                yield task, problem
        return
    window = window or workers.number * TASKS_PER_WORKER
    waiting = iter(tasks)
    under_way: dict[concurrent.futures.Future[list[R]], T] = {}
    while True:
        for task in itertools.islice(waiting, window - len(under_way)):
            future = workers.executor.submit(in_process, workers.key, work, task)
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

_of_thread = threading.local()  # the process of each thread
_processes: dict[str, set["subprocess.Popen[bytes]"]] = {}  # the processes of each command


def in_process(key: str, work: Callable[[T], R], task: T) -> R:
    """Do a task in the process that belongs to this thread and command, which is started if there is none.

    Also a worker of Dask does its tasks in such a process, because limits of memory and time hold for a process
    and its main thread, and because a file that crashes a library must not take the worker away.
    """
    of_thread: dict[str, subprocess.Popen[bytes]] = _of_thread.__dict__
    if key not in of_thread:
        of_thread[key] = _start(key)
    process = of_thread[key]
    try:
        _send(process.stdin, (work, task))
        is_right, answer = pickle.loads(_receive(process.stdout))
    except (EOFError, OSError):
        del of_thread[key]
        code = _own_end(process)
        raise WorkerLostError(f"a worker process has ended, with exit code {_ended(process)}", code) from None
    if is_right:
        result: R = answer
        return result
    raise answer


def _start(key: str) -> "subprocess.Popen[bytes]":
    """Start a process for tasks."""
    # There is a process for each core, so each one multiplies matrices with one thread. Each has a session of
    # its own, so that Ctrl-C in the terminal reaches the parent alone, which ends the others.
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    process = subprocess.Popen(
        [sys.executable, "-c", START.format(path=sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=overheard.podiums_stderr(),
        env=os.environ | one_thread,
        start_new_session=True,
    )
    _processes.setdefault(key, set()).add(process)
    return process


def end_processes(key: str) -> None:
    """End the processes of a command. Nobody waits for what they have begun, as they write no files."""
    for process in _processes.pop(key, ()):
        _ended(process)


def _own_end(process: "subprocess.Popen[bytes]") -> int | None:
    """The exit code of a process that has closed its pipes; None if it does not end by itself."""
    try:
        return process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        return None


def _ended(process: "subprocess.Popen[bytes]") -> int:
    """End a process with all that it has started, close its pipes, and return its exit code."""
    end_session(process)
    code = process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # what is left in the pipe cannot be sent any more
                pipe.close()
    return code


def serve() -> None:
    """Do the tasks that come through standard input, until it is closed."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a metric prints is told on stderr, and whoever reads standard input finds nothing.
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    warnings.simplefilter("ignore")  # those of a metric's libraries; who asks for answers tells what matters
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_tasks, args=(tasks, waiting), daemon=True).start()
    with overheard.file_for_descriptors() as printed:
        overheard.keep_apart(printed)
        while True:
            try:
                work, task = pickle.loads(waiting.get())
                answer = True, work(task)
                packed = pickle.dumps(answer, protocol=5)
            except Exception as problem:
                packed = _packed_error(problem)
            _send_packed(answers, packed)


def _packed_error(problem: Exception) -> bytes:
    """Pack an error, or its text if it cannot be packed and unpacked."""
    try:
        packed = pickle.dumps((False, problem))
        pickle.loads(packed)
    except Exception:
        return pickle.dumps((False, RuntimeError(f"{type(problem).__name__}: {problem}")))
    return packed


def _read_tasks(tasks: IO[bytes], waiting: "queue.SimpleQueue[bytes]") -> None:
    """Read tasks while the main thread works. When the parent has closed the pipe or was killed, all ends."""
    while True:
        try:
            waiting.put(_receive(tasks))
        except (EOFError, OSError):
            os._exit(1)


def _send(pipe: IO[bytes] | None, value: object) -> None:
    """Send something through a pipe."""
    _send_packed(pipe, pickle.dumps(value, protocol=5))


def _send_packed(pipe: IO[bytes] | None, packed: bytes) -> None:
    """Send bytes through a pipe, after their number."""
    assert pipe is not None
    pipe.write(len(packed).to_bytes(SIZE_BYTES, "little"))
    pipe.write(packed)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> bytes:
    """Receive the bytes that `_send_packed` has sent."""
    assert pipe is not None
    size = pipe.read(SIZE_BYTES)
    packed = pipe.read(int.from_bytes(size, "little"))
    if len(size) < SIZE_BYTES or len(packed) < int.from_bytes(size, "little"):
        raise EOFError
    return packed
