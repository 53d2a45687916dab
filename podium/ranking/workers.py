"""The workers of a command: this process, several processes, or a Dask cluster."""

import concurrent.futures
import contextlib
import dataclasses
import itertools
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from podium.contract import VISIBLE_ERRORS
from podium.errors import HostError, ToolError, UsageError, missing_extra
from podium.ranking.job import Job, contents_of, receive, solution_of, to_hand_over, versions
from podium.ranking.submissions import Submission

FAULTS_SHOWN = 20
PROBE_SECONDS = 30
TASKS_PER_WORKER = 3  # tasks under way for each worker, so that no worker waits
# What a slip in a metric or a table raises.  A machine that lacks memory, a library or a thread raises others.
SLIPS = (
    ArithmeticError, AssertionError, AttributeError, HostError, LookupError, NameError, NotImplementedError,
    TypeError, ValueError,
)  # fmt: skip

T = TypeVar("T")
R = TypeVar("R")


@dataclass
class Workers:
    """The workers of a command: this process, several processes, or a Dask cluster.

    Attributes
    ----------
    executor : Executor or None
        Does the work.  With None, this process does it.
    number : int
        How many tasks are worked on at once.
    is_cluster : bool
        Whether the workers belong to a Dask cluster.
    handed_over : dict of Job to bytes
        The packed prepared solutions that new processes receive.
    """

    executor: concurrent.futures.Executor | None
    number: int
    is_cluster: bool = False
    handed_over: dict[Job, bytes] = dataclasses.field(default_factory=dict)

    def renew(self) -> None:
        """Start new processes in place of the present ones."""
        if self.executor is not None:
            self.executor.shutdown(wait=False, cancel_futures=True)
        # A forked process would wait forever for locks that another thread held at the fork.
        context = multiprocessing.get_context("spawn")
        starting = (_start_worker, (self.handed_over,))
        self.executor = concurrent.futures.ProcessPoolExecutor(self.number, context, *starting)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back for a moment, also in the processes that are started meanwhile.

    Such a process would print a traceback if it were interrupted before `_start_worker`, while it imports. It
    would also print one if this process were interrupted before it has told the new one what to do.
    """
    interrupts: list[int] = []
    # Blocking the signal is not enough here: it then reaches another thread, perhaps one of a library, and
    # Python lets the main thread handle it.
    in_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number)) if in_main else None
    # New processes inherit the blocked signal, but not the handler.
    can_block = hasattr(signal, "pthread_sigmask")  # not on Windows
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if can_block else set()
    try:
        yield
    finally:
        if can_block:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if in_main:
            signal.signal(signal.SIGINT, handler)
        if interrupts:
            signal.raise_signal(signal.SIGINT)


def _start_worker(handed_over: dict[Job, bytes]) -> None:
    """Set up a new process: who ends it, and which prepared solutions it has received."""
    # Ctrl-C reaches every process of a terminal.  Only the first one acts on it, and ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    receive(handed_over)


def _end_with_parent() -> None:
    """End this process when its parent has ended, even if the parent was killed and could not say so."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)


@contextmanager
def start_workers(
    jobs: int, dask: str | None, job: Job, submissions: Sequence[Submission]
) -> Iterator[Workers]:
    """Start the workers of a command, and end them when it is done.

    Parameters
    ----------
    jobs : int
        The number of processes, or 0 for one per core.
    dask : str or None
        The address of a Dask scheduler, whose workers are used in place of processes.
    job : Job
        What is scored, and with which metric.  The solution is prepared for the new processes.
    submissions : sequence of Submission
        The submissions.  Every worker of a Dask cluster must be able to read the first one.

    Yields
    ------
    Workers
        The workers.

    Raises
    ------
    UsageError
        There is no such Dask cluster, or one of its workers cannot work.
    """
    if dask is not None:
        with _cluster(dask, job, submissions) as pool:
            yield pool
        return
    pool = Workers(None, min(jobs or os.cpu_count() or 1, max(1, len(submissions))))
    others = set(multiprocessing.active_children())
    with _one_thread_each():
        if pool.number > 1:
            pool.handed_over = to_hand_over(job)
            pool.renew()
        try:
            yield pool
        except KeyboardInterrupt:
            # Nobody waits for what workers have begun, as they write no files.  Nor does anybody wait for the
            # executor's thread: if a worker was killed while it sent an answer, it waits forever for the rest.
            for process in set(multiprocessing.active_children()) - others:
                process.kill()
            if pool.executor is not None:
                pool.executor.shutdown(wait=False, cancel_futures=True)
                pool.executor = None
            raise
        finally:
            if pool.executor is not None:
                pool.executor.shutdown(cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let new processes multiply matrices with one thread each, because there is a process per core."""
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    before = {name: os.environ[name] for name in names if name in os.environ}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name in names:
            del os.environ[name]
        os.environ.update(before)


def spread(
    pool: Workers, work: Callable[[T], list[R]], tasks: Iterable[T], window: int | None = None
) -> Iterator[tuple[T, list[R] | BaseException]]:
    """Let workers do tasks, and yield each task as soon as it is done.

    Parameters
    ----------
    pool : Workers
        Where the work is done.
    work : function of a task
        Returns a list of answers.
    tasks : iterable
        The tasks.  Each is taken when a worker has room for it.
    window : int, optional
        How many tasks are under way at once; by default `TASKS_PER_WORKER` for each worker.

    Yields
    ------
    task : object
        One of the tasks, in the order in which they are done.
    answers : list, or BaseException
        What ``work`` returned for it, or what went wrong.
    """
    window = window or pool.number * TASKS_PER_WORKER
    if pool.executor is None:
        for task in tasks:
            try:
                yield task, work(task)
            except Exception as problem:
                yield task, problem
        return
    waiting = iter(tasks)
    under_way: dict[concurrent.futures.Future[list[R]], T] = {}
    while True:
        for task in itertools.islice(waiting, window - len(under_way)):
            try:
                with _interrupts_held():
                    future = pool.executor.submit(work, task)
            except BrokenProcessPool as problem:
                future = concurrent.futures.Future()
                future.set_exception(problem)
            under_way[future] = task
        if not under_way:
            return
        done, _ = concurrent.futures.wait(under_way, return_when=concurrent.futures.FIRST_COMPLETED)
        if not pool.is_cluster and any(isinstance(each.exception(), BrokenProcessPool) for each in done):
            done, _ = concurrent.futures.wait(under_way)  # all other tasks of a broken pool fail, too
            pool.renew()
        for future in done:
            failure = future.exception()
            yield under_way.pop(future), future.result() if failure is None else failure


@contextmanager
def _cluster(address: str, job: Job, submissions: Sequence[Submission]) -> Iterator[Workers]:
    """Connect to a Dask cluster after each of its workers has answered a probe."""
    try:
        from distributed import Client
    except ImportError:
        raise missing_extra("--dask", "the package distributed", "dask") from None
    try:
        client: Any = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as problem:
        raise UsageError(f"no Dask scheduler at {address}: {problem}") from None
    with client:
        _probe_all(client, job, submissions[0])
        client.run(_switch_profiler, on=False)
        try:
            yield Workers(client.get_executor(pure=False), sum(client.nthreads().values()), is_cluster=True)
        finally:
            with contextlib.suppress(Exception):  # workers may have left the cluster
                client.run(_switch_profiler, on=True)


def _switch_profiler(dask_worker: Any, on: bool) -> None:
    """Switch the profiler of a Dask worker on or off.

    It looks at the worker's stack a hundred times a second, which takes processor time.
    """
    profiler = dask_worker.periodic_callbacks.get("profile")
    if profiler is not None:
        (profiler.start if on else profiler.stop)()


def _probe_all(client: Any, job: Job, submission: Submission) -> None:
    """Make sure, within 30 seconds, that every worker can import podium and read the files.

    Raises
    ------
    UsageError
        Names the workers that cannot work, each with its reason.
    """
    deadline = time.monotonic() + PROBE_SECONDS
    try:
        client.wait_for_workers(1, timeout=PROBE_SECONDS)
    except TimeoutError:
        raise UsageError(f"the Dask cluster has no worker after {PROBE_SECONDS} seconds") from None

    def probe(task: bytes) -> dict[str, str] | str:
        # A function that no module defines is sent by value.  So it answers even where podium is missing.
        try:
            from podium.ranking.workers import probe_worker
        except ImportError as problem:
            return f"cannot import podium: {problem}"
        return probe_worker(*pickle.loads(task))

    task = pickle.dumps((job, submission))
    futures = {
        name: client.submit(probe, task, workers=[name], allow_other_workers=False, pure=False, retries=0)
        for name in client.nthreads()
    }
    problems = []
    for name, future in futures.items():
        try:
            answer = future.result(timeout=max(0.1, deadline - time.monotonic()))
            problem = answer if isinstance(answer, str) else _difference(versions(), answer)
        except (TimeoutError, concurrent.futures.TimeoutError):
            problem = f"no answer within {PROBE_SECONDS} seconds"
        except Exception as raised:
            problem = describe_fault(raised)
        if problem:
            problems.append(f"  {name}: {problem}")
    if problems:
        for future in futures.values():
            future.cancel()
        raise UsageError("\n".join(["Dask workers that cannot work:", *first_lines(problems)]))
    try:  # the scheduler unpacks the tasks that it hands out
        client.submit(len, [job], pure=False).result(timeout=PROBE_SECONDS)
    except Exception as raised:
        raise UsageError(
            f"the Dask scheduler cannot work; can it import podium? {describe_fault(raised)}"
        ) from None


def probe_worker(job: Job, submission: Submission) -> dict[str, str] | str:
    """Tell which versions this worker has, or why it cannot work.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.
    submission : Submission
        A submission that the worker must be able to read.

    Returns
    -------
    dict of str to str, or str
        The versions as `podium.ranking.job.versions` lists them, or a text that describes the fault.
    """
    try:
        solution_of(job)
        contents_of(submission)
    except Exception as problem:
        return describe_fault(problem)
    return versions()


def _difference(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """List the versions of a worker that differ from ours, or return an empty text."""
    return ", ".join(
        f"expected {name} {version}, found {theirs.get(name)}"
        for name, version in ours.items()
        if theirs.get(name) != version
    )


def describe_fault(problem: BaseException) -> str:
    """Describe a fault in one line.

    Parameters
    ----------
    problem : BaseException
        What was raised.

    Returns
    -------
    str
        The text of one of podium's own errors; of any other one, its type and its text.
    """
    text = " ".join(str(problem).split())
    return text if isinstance(problem, ToolError) else f"{type(problem).__name__}: {text}"


class Fault(NamedTuple):
    """Why a submission could not be scored, through no fault of its own.

    Attributes
    ----------
    text : str
        The reason in one line.
    is_of_host : bool
        Whether the metric, a parameter or a table is certainly wrong, and not the machine.
    """

    text: str
    is_of_host: bool


def fault_of(problem: BaseException) -> Fault:
    """Tell what went wrong with a submission, and whether that is certainly in what the host gave.

    Parameters
    ----------
    problem : BaseException
        What was raised.

    Returns
    -------
    Fault
        The fault.  It is the host's if podium found a slip of the host and every exception that led to it is
        that of a slip (`SLIPS`).  The metric may have turned a lack of memory into a ValueError, for example.
    """
    return Fault(describe_fault(problem), isinstance(problem, HostError) and _is_slip(problem))


def _is_slip(problem: BaseException | None) -> bool:
    """Tell whether an exception and all that led to it are those of a slip in a metric or a table."""
    if problem is None:
        return True
    is_slip = isinstance(problem, SLIPS) or type(problem).__name__ in VISIBLE_ERRORS
    return is_slip and _is_slip(problem.__cause__) and _is_slip(problem.__context__)


def first_lines(lines: list[str]) -> list[str]:
    """Keep the first lines of a long list, and say how many more there are.

    Parameters
    ----------
    lines : list of str
        The lines.

    Returns
    -------
    list of str
        At most `FAULTS_SHOWN` of them, and one that counts the others.
    """
    more = len(lines) - FAULTS_SHOWN
    return [*lines[:FAULTS_SHOWN], *([f"  and {more:,} more"] if more > 0 else [])]
