"""Score many submissions in this process, in several processes, or on a Dask cluster.

Each submission is read once.  If its own content is wrong, that is a *rejection*: it is kept in the store, and
the file is not read again.  Everything else that goes wrong is a *fault*, and the submission is tried again.

The file of a stranger is read and scored within `Limits`.  A submission that exceeds them is rejected, with a
reason that names the limit.  The next run does not keep to that rejection, because it may have other limits or
run on another machine.
"""

import concurrent.futures
import contextlib
import dataclasses
import functools
import hashlib
import importlib.metadata
import itertools
import math
import multiprocessing
import multiprocessing.connection
import os
import pickle
import platform
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

import podium
from podium import hosted, scoring
from podium.errors import NotAFile, SubmissionRejected, ToolError, UsageError, missing_extra
from podium.files import BYTES_AT_ANY_RATIO, is_url, read_bytes
from podium.progress import track
from podium.ranking import store
from podium.ranking.submissions import Submission, absolute
from podium.wording import counted

FAULTS_SHOWN = 20
BYTES_AT_ONCE = 2**22  # of submissions or entries in one task
MOST_AT_ONCE = 200
SECONDS_BEFORE_RETRY = 1.0
PROBE_SECONDS = 30
TASKS_PER_WORKER = 3  # tasks under way for each worker, so that no worker waits
PREPARING = threading.RLock()  # a Dask worker has several threads
TIMES_THE_SOLUTION = 10  # an expanded submission larger than this many solutions is rejected

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment,unused-ignore]

T = TypeVar("T")
R = TypeVar("R")


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


class Job(NamedTuple):
    """What is scored, and how.

    Attributes
    ----------
    metric : str
        The name of the metric, or the path of its file.
    solution : str
        The path or URL of the solution.
    parameters : tuple of (str, object)
        The names and values of the parameters of the metric's ``score``, sorted by name.
    metric_digest, solution_digest : str
        The SHA-256 of the two files.
    context : str
        A hash of everything beside the submission on which its statistics depend.
    measured : str
        A hash of the parameters that change measures but not statistics.
    limits : Limits
        What reading and scoring one submission may take.
    """

    metric: str
    solution: str
    parameters: tuple[tuple[str, Any], ...]
    metric_digest: str
    solution_digest: str
    context: str
    measured: str
    limits: Limits = Limits()


class Scored(NamedTuple):
    """What became of a submission.

    Attributes
    ----------
    digest : str
        The SHA-256 of its file.
    side_digest : str
        The SHA-256 of the host's file beside it, or "" if there is none.
    entry : str
        The name of its entry in the store.
    scores : dict of str to float, or None
        The score on each part of the solution.  None if the submission was rejected.
    rejected : str or None
        The reason why the submission was rejected.
    measured : str or None
        The `Job.measured` with which the scores were computed.
    has_statistics : bool
        Whether the entry contains statistics beside the scores.
    """

    digest: str
    side_digest: str
    entry: str
    scores: dict[str, float] | None
    rejected: str | None
    measured: str | None
    has_statistics: bool


def versions() -> dict[str, str]:
    """List the versions of podium, of Python and of the libraries on which scores depend.

    Returns
    -------
    dict of str to str
        The versions by name.
    """
    packages = {name: importlib.metadata.version(name) for name in ("numpy", "pandas", "pyarrow", "scipy")}
    return {"podium": podium.__version__, "python": platform.python_version(), **packages}


def digest(path: str) -> str:
    """Hash the content of a file, or the names and contents of all files in a folder.

    Parameters
    ----------
    path : str
        The path or URL of a file, or the path of a folder.

    Returns
    -------
    str
        The SHA-256 as 64 hexadecimal digits.
    """
    if is_url(path) or not os.path.isdir(path):
        return _sha256(read_bytes(path))
    files = sorted(file for file in Path(path).rglob("*") if file.is_file())
    parts = [f"{file.relative_to(path).as_posix()}\0{digest(str(file))}" for file in files]
    return _hash("\n".join(parts))


def make_job(metric: str, solution: str, parameters: dict[str, Any], limits: Limits | None = None) -> Job:
    """Describe what is scored, with the hashes by which the store knows it.

    Parameters
    ----------
    metric : str
        The name of a metric, or the path of its file or folder.
    solution : str
        The path or URL of the solution.
    parameters : dict of str to object
        The parameters of the metric's ``score``.
    limits : Limits, optional
        What reading and scoring one submission may take.

    Returns
    -------
    Job
        The description, which can be sent to other processes.
    """
    loaded = hosted.load(metric)
    metric = metric if metric in hosted.names() else absolute(metric)
    of_measures = set(loaded.measure_parameters)
    metric_digest, solution = digest(str(hosted.find(metric))), absolute(solution)
    solution_digest = digest(solution)
    items = tuple(sorted(parameters.items()))
    of_statistics = [item for item in items if item[0] not in of_measures]
    known = [store.FORMAT, metric_digest, solution_digest, of_statistics, sorted(versions().items())]
    measured = [item for item in items if item[0] in of_measures]
    digests = (metric_digest, solution_digest, _hash(repr(known)), _hash(repr(measured)))
    return Job(metric, solution, items, *digests, limits or Limits())


def _hash(text: str) -> str:
    return _sha256(text.encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def entry_name(context: str, digests: str) -> str:
    """Name the entry of a submission in the store.

    Parameters
    ----------
    context : str
        A hash of everything beside the submission on which its statistics depend, see `Job`.
    digests : str
        The SHA-256 of the submission and of the host's file beside it, see `digests_of`.

    Returns
    -------
    str
        A name of `podium.ranking.store.NAME_LENGTH` hexadecimal digits.
    """
    return _hash(context + digests)[: store.NAME_LENGTH]


def digests_of(digest: str, side_digest: str) -> str:
    """Join the SHA-256 of a submission and, if there is one, that of the host's file beside it.

    Parameters
    ----------
    digest : str
        The SHA-256 of the submission.
    side_digest : str
        The SHA-256 of the host's file, or "".

    Returns
    -------
    str
        Both, with a plus sign between them.
    """
    return f"{digest}+{side_digest}" if side_digest else digest


def prepared(job: Job) -> scoring.Solution:
    """Prepare the solution once per process.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.

    Returns
    -------
    Solution
        The prepared solution with all its parts.

    Raises
    ------
    UsageError
        The metric or the solution has changed since the job was described, or differs on this machine.
    """
    with PREPARING:
        return _prepared(job)


@functools.lru_cache(maxsize=2)
def _prepared(job: Job) -> scoring.Solution:
    """Prepare the solution, or unpack the one that this process received, after a look at both files."""
    metric = hosted.load(job.metric)
    for what, path, expected in (
        ("metric", str(hosted.find(job.metric)), job.metric_digest),
        ("solution", job.solution, job.solution_digest),
    ):
        if digest(path) != expected:
            raise UsageError(f"{what}: {path} has different content on {platform.node()} or has just changed")
    if job in _handed_over:
        solution: scoring.Solution = pickle.loads(_handed_over[job])
        return dataclasses.replace(solution, metric=metric)
    parameters = dict(job.parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the prepared solution keeps its notices
        return scoring.prepare(metric, scoring.read_solution(metric, job.solution, parameters), parameters)


# Prepared solutions that the process which started this one handed over to it.
_handed_over: dict[Job, bytes] = {}


def _to_hand_over(job: Job) -> dict[Job, bytes]:
    """Pack the prepared solution for new processes, which read it faster than they would prepare it again."""
    try:
        # The metric is a module, which cannot be packed: the new process loads it.
        return {job: pickle.dumps(dataclasses.replace(prepared(job), metric=None), protocol=5)}  # type: ignore[arg-type]
    except (pickle.PicklingError, AttributeError, TypeError):  # a stranger's metric may hold anything
        return {}


@functools.lru_cache(maxsize=2)
def _most_bytes(job: Job) -> int:
    """Compute how many bytes a submission may have once it is expanded."""
    size = int(prepared(job).frame.memory_usage(index=False, deep=True).sum())
    return max(BYTES_AT_ANY_RATIO, TIMES_THE_SOLUTION * size)


def contents_of(submission: Submission) -> tuple[bytes, bytes | None]:
    """Read the content of a submission and of the host's file beside it.

    Parameters
    ----------
    submission : Submission
        The submission.  Its file must not be a link.

    Returns
    -------
    submission : bytes
        The content of the submission.
    side : bytes or None
        The content of the host's file, or None if there is none.

    Raises
    ------
    NotAFile
        The submission is a link, a pipe or a device.
    """
    side = read_bytes(submission.side) if submission.side else None
    return read_bytes(submission.path, follow_links=False), side


def frame_of(job: Job, submission: Submission, contents: tuple[bytes, bytes | None]) -> pd.DataFrame:
    """Read the table of a submission and add the columns of the host's file beside it.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.
    submission : Submission
        The submission.
    contents : tuple of (bytes, bytes or None)
        The contents of both files, as `contents_of` returns them.

    Returns
    -------
    DataFrame
        A row per row of the submission.

    Raises
    ------
    SubmissionRejected
        The content is not a table that the metric can read, or it is too large.
    """
    solution, (content, side) = prepared(job), contents
    parameters = dict(job.parameters)
    frame = scoring.parse_submission(solution.metric, content, submission.name, parameters, _most_bytes(job))
    return frame if side is None else scoring.add_side(solution, frame, submission.side, side)


def visit(
    job: Job, known: bytes, submissions: Sequence[tuple[int, Submission]]
) -> list[tuple[int, str, bytes | str | None]]:
    """Score some submissions, in a worker.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.
    known : bytes
        The sorted names of all entries in the store, joined without a separator.
    submissions : sequence of (int, Submission)
        The numbers of the submissions, and the submissions.

    Returns
    -------
    list of (int, str, bytes or str or None)
        For each submission its number, its `digests_of` and what became of it.  That is its entry for the
        store, None if ``known`` contains the entry, or a text that describes a fault.
    """
    names = np.frombuffer(known, f"S{store.NAME_LENGTH}")
    answers: list[tuple[int, str, bytes | str | None]] = []
    for number, submission in submissions:
        digests = ""
        try:
            contents = contents_of(submission)
            content, side = contents
            digests = digests_of(_sha256(content), "" if side is None else _sha256(side))
            entry = entry_name(job.context, digests).encode()
            position = int(names.searchsorted(entry))
            if position < len(names) and names[position] == entry:
                answers.append((number, digests, None))
            else:
                answers.append((number, digests, _score(job, submission, contents, digests)))
        except NotAFile as problem:
            # It has no content, so the kind of thing that it is gets hashed.
            digests = _sha256(problem.kind.encode())
            rejected = f"expected a regular file, found {problem.kind}"
            answers.append(
                (number, digests, store.encode(_header(job, digests) | {"rejected": rejected}, None))
            )
        except Exception as problem:
            answers.append((number, digests, _fault(problem)))
    return answers


def _fault(problem: BaseException) -> str:
    """Describe a fault in one line."""
    text = " ".join(str(problem).split())
    return text if isinstance(problem, ToolError) else f"{type(problem).__name__}: {text}"


def _header(job: Job, digests: str) -> dict[str, Any]:
    """Begin the header of an entry with the two hashes that give it its name."""
    return {"context": job.context, "sha256": digests}


def _score(job: Job, submission: Submission, contents: tuple[bytes, bytes | None], digests: str) -> bytes:
    """Score a submission and make its entry for the store."""
    header = _header(job, digests)
    statistics = None
    solution = prepared(job)
    try:
        with _time_limited(job.limits.seconds), _memory_limited(job.limits.memory):
            evaluation = scoring.evaluate(solution, frame_of(job, submission, contents))
    except SubmissionRejected as problem:
        # The entry stands for every file with this content, whatever its name.
        header["rejected"] = str(problem).replace(submission.name, "the file")
    except _TimeExceededError:
        header |= {
            "rejected": f"takes more than {job.limits.seconds:g} s of processor time",
            store.UNSURE: True,
        }
    except Exception as problem:
        if not (_lacks_memory(problem) and _available_memory() > job.limits.memory):
            raise
        rejected = f"takes more than {job.limits.memory / 2**20:,.0f} MB of memory"
        header |= {"rejected": rejected, store.UNSURE: True}
    else:
        scores = {part: float(score) for part, score in evaluation.scores.items()}
        if all(map(math.isfinite, scores.values())):
            header |= {"scores": scores, "measured": job.measured}
            statistics = evaluation.statistics
        else:
            header["rejected"] = f"the score is not a finite number: {scores}"
    return store.encode(header, statistics)


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


def measure(job: Job, entries: Sequence[tuple[int, bytes]]) -> list[tuple[int, dict[str, float]]]:
    """Compute the scores on each part from the statistics in entries, in a worker.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.
    entries : sequence of (int, bytes)
        The numbers of submissions, each with its entry in the store.

    Returns
    -------
    list of (int, dict of str to float)
        For each submission its number and its scores by part.  Entries without statistics are left out.
    """
    return [
        (number, scoring.scores_of(prepared(job), numbers))
        for number, entry in entries
        if (numbers := store.decode(entry)[1]) is not None
    ]


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


def _start_worker(handed_over: dict[Job, bytes]) -> None:
    """Set up a new process: who ends it, and which prepared solutions it has received."""
    # Ctrl-C reaches every process of a terminal.  Only the first one acts on it, and ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _handed_over.update(handed_over)


def _end_with_parent() -> None:
    """End this process when its parent has ended, even if the parent was killed and could not say so."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)


@contextmanager
def workers(jobs: int, dask: str | None, job: Job, submissions: Sequence[Submission]) -> Iterator[Workers]:
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
    with _one_thread_each():
        if pool.number > 1:
            pool.handed_over = _to_hand_over(job)
            pool.renew()
        try:
            yield pool
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


def score(job: Job, submissions: Sequence[Submission], folder: Path, pool: Workers) -> list[Scored]:
    """Score all submissions whose contents the store does not know yet.

    What is found out about a submission is kept in the store at once, so that an interrupted command loses
    nothing.  A submission with a fault is tried a second time, alone.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.
    submissions : sequence of Submission
        The submissions.
    folder : Path
        The folder of the store.
    pool : Workers
        Where the work is done.

    Returns
    -------
    list of Scored
        What became of each submission, in the same order.

    Raises
    ------
    UsageError
        Some submissions could not be scored twice in a row, through no fault of theirs.
    """
    results: dict[int, Scored] = {}
    faults: dict[int, str] = {}
    damaged: list[int] = []
    at_first = frozenset(store.names(folder))
    kept = set(at_first)

    def run(numbers: Sequence[int], title: str, at_once: int = MOST_AT_ONCE, window: int | None = None) -> None:
        work = functools.partial(visit, job, b"".join(name.encode() for name in sorted(kept)))
        of_these = {number: submissions[number] for number in numbers}
        batches = _batches(of_these, lambda submission: submission.size, pool, at_once)

        def finished() -> Iterator[None]:
            for batch, answers in spread(pool, work, batches, window):
                if isinstance(answers, BaseException):
                    answers = [(number, "", _fault(answers)) for number, _ in batch]
                for number, digests, answer in answers:
                    name = entry_name(job.context, digests)
                    if isinstance(answer, str):
                        faults[number] = answer
                    elif answer is not None:
                        store.save(folder, name, answer, store.UNSURE in store.header_of(answer))
                        results[number] = _scored(answer)
                    elif entry := _load(folder, name):
                        results[number] = _scored(entry)
                    else:
                        damaged.append(number)
                        kept.discard(name)
                    yield

        for _ in track(finished(), title, len(numbers)):
            pass

    run(range(len(submissions)), "scoring")
    if before := sum(result.entry in at_first for result in results.values()):
        print(f"already in the store: {before:,} of {len(submissions):,}", file=sys.stderr)
    if damaged:
        again, damaged = damaged, []
        run(again, "scoring again, because the store is damaged")
    if faults:
        time.sleep(SECONDS_BEFORE_RETRY)
        again = sorted(faults)
        faults.clear()
        run(again, "trying again after faults", at_once=1, window=1)
    if faults or damaged:
        faults |= dict.fromkeys(damaged, "the store cannot be read")
        lines = [
            f"  {submissions[number].team}/{submissions[number].name}: {text}"
            for number, text in sorted(faults.items())
        ]
        number = counted(len(lines), "submission")
        title = f"{number} could not be scored, through no fault of their own (nothing is lost):"
        raise UsageError("\n".join([title, *_first(lines)]))
    return _measured(job, results, folder, pool)


def stored(job: Job, contents: Sequence[str], folder: Path, pool: Workers) -> list[Scored]:
    """Read from the store what became of submissions, without their files.

    Parameters
    ----------
    job : Job
        What was scored, and with which metric.
    contents : sequence of str
        The `digests_of` each submission.
    folder : Path
        The folder of the store.
    pool : Workers
        Where the work is done.

    Returns
    -------
    list of Scored
        What became of each submission, in the same order.

    Raises
    ------
    UsageError
        The store lacks some of the submissions.
    """
    names = {number: entry_name(job.context, content) for number, content in enumerate(contents)}
    results = from_store(pool, _scored_before, names, folder, "reading the store")
    return _measured(job, results, folder, pool)


def _scored_before(entries: Sequence[tuple[int, bytes]]) -> list[tuple[int, Scored]]:
    """Read what became of some submissions from their numbered entries."""
    return [(number, _scored(entry)) for number, entry in entries]


def _scored(entry: bytes) -> Scored:
    """Read what became of a submission from its entry."""
    header = store.header_of(entry)
    digest, _, side_digest = header["sha256"].partition("+")
    return Scored(
        digest,
        side_digest,
        entry_name(header["context"], header["sha256"]),
        header.get("scores"),
        header.get("rejected"),
        header.get("measured"),
        "shape" in header,
    )


def _first(lines: list[str]) -> list[str]:
    """Keep the first lines of a long list, and say how many more there are."""
    more = len(lines) - FAULTS_SHOWN
    return [*lines[:FAULTS_SHOWN], *([f"  and {more:,} more"] if more > 0 else [])]


def _measured(job: Job, results: dict[int, Scored], folder: Path, pool: Workers) -> list[Scored]:
    """Put the results in order, and compute scores again that were computed with other parameters."""
    names = {
        number: each.entry for number, each in results.items() if each.measured not in (None, job.measured)
    }
    scores = from_store(pool, functools.partial(measure, job), names, folder, "measuring")
    for number, new in scores.items():
        if all(map(math.isfinite, new.values())):
            results[number] = results[number]._replace(scores=new)
        else:
            rejected = f"the score is not a finite number: {new}"
            results[number] = results[number]._replace(scores=None, rejected=rejected)
    return [results[number] for number in range(len(results))]


def from_store(
    pool: Workers,
    work: Callable[[list[tuple[int, bytes]]], list[tuple[int, R]]],
    names: dict[int, str],
    folder: Path,
    title: str,
) -> dict[int, R]:
    """Let workers answer a question about entries of the store.

    Parameters
    ----------
    pool : Workers
        Where the work is done.
    work : function of a list of (int, bytes)
        Takes numbered entries, and returns a list of (number, answer).
    names : dict of int to str
        The name of the entry for each number.
    folder : Path
        The folder of the store.
    title : str
        The title of the progress display.

    Returns
    -------
    dict of int to object
        The answer for each number.

    Raises
    ------
    UsageError
        The store lacks some of the entries, or the work failed twice.
    """

    def size_of(name: str) -> int:
        path = store.path_of(folder, name)
        return path.stat().st_size if path.is_file() else 0

    batches = _batches(names, size_of, pool)
    if pool.is_cluster:  # its machines may not see the folder, so the entries are read here
        answers = _answers(pool, work, (_entries(folder, batch) for batch in batches), title, len(names))
    else:
        answers = _answers(pool, functools.partial(_read_first, work, folder), batches, title, len(names))
    if len(answers) < len(names):
        raise UsageError(
            f"the store {folder} lacks {len(names) - len(answers):,} of {len(names):,} submissions, or "
            "they were scored by other versions: rank the submissions once more"
        )
    return answers


def pairs_from_store(
    pool: Workers,
    work: Callable[[list[tuple[int, tuple[bytes, bytes]]]], list[tuple[int, R]]],
    pairs: dict[int, tuple[str, str]],
    folder: Path,
    title: str,
) -> dict[int, R]:
    """Let workers answer a question about pairs of entries, which this process reads for them.

    Parameters
    ----------
    pool : Workers
        Where the work is done.
    work : function of a list of (int, (bytes, bytes))
        Takes numbered pairs of entries, and returns a list of (number, answer).
    pairs : dict of int to (str, str)
        The names of the two entries for each number.
    folder : Path
        The folder of the store.
    title : str
        The title of the progress display.

    Returns
    -------
    dict of int to object
        The answer for each number.

    Raises
    ------
    UsageError
        The store lacks an entry, or the work failed twice.
    """
    read = functools.lru_cache(maxsize=2)(functools.partial(_load, folder))

    def batches() -> Iterator[list[tuple[int, tuple[bytes, bytes]]]]:
        for number, names in pairs.items():
            one, other = map(read, names)
            if one is None or other is None:
                raise UsageError(f"the store {folder} has changed: rank the submissions once more")
            yield [(number, (one, other))]

    return _answers(pool, work, batches(), title, len(pairs))


def _read_first(
    work: Callable[[list[tuple[int, bytes]]], list[tuple[int, R]]], folder: Path, names: list[tuple[int, str]]
) -> list[tuple[int, R]]:
    """Read the named entries, in a worker, and do the work with them."""
    return work(_entries(folder, names))


def _entries(folder: Path, names: list[tuple[int, str]]) -> list[tuple[int, bytes]]:
    """Read the named entries, and leave out those that the store lacks."""
    return [(number, entry) for number, name in names if (entry := _load(folder, name)) is not None]


def _load(folder: Path, name: str) -> bytes | None:
    """Read the entry of that name.  It is None, too, if the file holds the entry of another submission."""
    entry = store.load(folder, name)
    if entry is None:
        return None
    header = store.header_of(entry)
    return entry if name == entry_name(str(header.get("context")), str(header.get("sha256"))) else None


def once_more(
    pool: Workers,
    work: Callable[[list[tuple[int, Submission]]], list[tuple[int, R]]],
    submissions: dict[int, Submission],
) -> dict[int, R]:
    """Read submissions a second time, for what the store does not know about them.

    Parameters
    ----------
    pool : Workers
        Where the work is done.
    work : function of a list of (int, Submission)
        Takes numbered submissions, and returns a list of (number, answer).
    submissions : dict of int to Submission
        The submission for each number.

    Returns
    -------
    dict of int to object
        The answer for each number.

    Raises
    ------
    UsageError
        The work failed twice.
    """
    batches = _batches(submissions, lambda submission: submission.size, pool)
    return _answers(pool, work, batches, "variants", len(submissions))


def _answers(
    pool: Workers,
    work: Callable[[list[tuple[int, T]]], list[tuple[int, R]]],
    batches: Iterable[list[tuple[int, T]]],
    title: str,
    total: int,
) -> dict[int, R]:
    """Collect the answers of all batches by number.  A batch that fails is tried once more."""

    def finished() -> Iterator[tuple[int, R]]:
        for batch, answers in spread(pool, work, batches):
            if isinstance(answers, BaseException):
                time.sleep(SECONDS_BEFORE_RETRY)
                ((_, answers),) = spread(pool, work, [batch])
            if isinstance(answers, BaseException):
                raise answers if isinstance(answers, ToolError) else UsageError(_fault(answers))
            yield from answers

    return dict(track(finished(), title, total)) if total else {}


def _batches(
    things: dict[int, T], size_of: Callable[[T], int], pool: Workers, most: int = MOST_AT_ONCE
) -> Iterator[list[tuple[int, T]]]:
    """Group numbered things into tasks of about equal size."""
    most = max(1, min(most, len(things) // (pool.number * TASKS_PER_WORKER)))
    batch: list[tuple[int, T]] = []
    size = 0
    for number, thing in things.items():
        its_size = size_of(thing) or BYTES_AT_ONCE // 4
        if batch and (len(batch) == most or size + its_size > BYTES_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append((number, thing))
        size += its_size
    if batch:
        yield batch


@contextmanager
def _cluster(address: str, job: Job, submissions: Sequence[Submission]) -> Iterator[Workers]:
    """Connect to a Dask cluster after each of its workers has answered a probe."""
    try:
        from distributed import Client
    except ImportError:
        raise missing_extra("--dask", "the package distributed", "dask") from None
    try:
        client: Any = Client(address, timeout="10s", set_as_default=False)  # type: ignore[no-untyped-call]
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
            from podium.ranking import work
        except ImportError as problem:
            return f"cannot import podium: {problem}"
        return work._probe(*pickle.loads(task))

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
            problem = _fault(raised)
        if problem:
            problems.append(f"  {name}: {problem}")
    if problems:
        for future in futures.values():
            future.cancel()
        raise UsageError("\n".join(["Dask workers that cannot work:", *_first(problems)]))
    try:  # the scheduler unpacks the tasks that it hands out
        client.submit(len, [job], pure=False).result(timeout=PROBE_SECONDS)
    except Exception as raised:
        raise UsageError(f"the Dask scheduler cannot work; can it import podium? {_fault(raised)}") from None


def _probe(job: Job, submission: Submission) -> dict[str, str] | str:
    """Tell which versions this worker has, or why it cannot work."""
    try:
        prepared(job)
        contents_of(submission)
    except Exception as problem:
        return _fault(problem)
    return versions()


def _difference(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """List the versions of a worker that differ from ours, or return an empty text."""
    return ", ".join(
        f"expected {name} {version}, found {theirs.get(name)}"
        for name, version in ours.items()
        if theirs.get(name) != version
    )
