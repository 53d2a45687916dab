"""What is scored, and how: the job, its hashes, its prepared solution and the tables of its submissions."""

import functools
import hashlib
import importlib.metadata
import os
import platform
import threading
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from podium.child.limits import Limits
from podium.common.errors import NotAFile, UsageError
from podium.common.version import __version__
from podium.common.wording import printable
from podium.contest import pipeline, reading
from podium.metric import executed, hosted
from podium.ranking import leaving_out, store
from podium.ranking.rules import Options
from podium.ranking.submissions import MOST_FILES, Submission, absolute, is_manifest
from podium.scoring import evaluating
from podium.tables.files import (
    BYTES_AT_ANY_RATIO,
    MOST_BYTES,
    Location,
    ReadFile,
    ReadFolder,
    megabytes,
    read_bytes,
    read_once,
)

PREPARING = threading.RLock()  # a Dask worker has several threads
TIMES_THE_SOLUTION = 10  # an expanded submission larger than this many solutions is rejected


@dataclass(frozen=True)
class Job:
    """What is scored, and how; where it was prepared, with the solution."""

    metric: str  # the name of the metric, or the path of its file
    solution_path: str
    parameters: tuple[tuple[str, Any], ...]  # of the metric's ``score``, sorted by name
    metric_digests: tuple[tuple[str, str], ...]  # the SHA-256 of each file that the metric executes, by names
    solution_digest: str
    context: str  # a hash of everything beside the submission on which its statistics depend
    measured: str  # a hash of the parameters that change measures but not statistics
    limits: Limits  # what reading and scoring one submission may take
    part: str  # the only part of the solution that counts; "" for all of it
    left_out: tuple[str, ...]  # the items that count for nobody
    prepared: evaluating.Solution | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Nothing is prepared, and no metric executed, where a task only passes by."""
        return vars(self) | {"prepared": None}

    @property
    def solution(self) -> evaluating.Solution:
        """The solution, which the command has prepared, and any other process prepares once."""
        return solution_of(self) if self.prepared is None else self.prepared


PREPARED: dict[Job, evaluating.Solution] = {}  # of this process, the latest ones
MOST_PREPARED = 2


def versions() -> dict[str, str]:
    """List the versions of podium, of Python and of the libraries on which scores depend."""
    packages = {name: importlib.metadata.version(name) for name in ("numpy", "pandas", "pyarrow", "scipy")}
    return {"podium": __version__, "python": platform.python_version(), **packages}


Content = bytes | Mapping[str, bytes]  # of a file, or of each file of a folder by its name below it


def content_digest(path: Location) -> str:
    """Hash the content of a file, or the names and contents of all files in a folder."""
    if isinstance(path, ReadFile):
        return path.sha256
    if not os.path.isdir(path):
        return sha256(read_bytes(path))
    files = (file for file in Path(path).rglob("*") if file.is_file())
    return _digest_of_all({file.relative_to(path).as_posix(): content_digest(str(file)) for file in files})


def _digest_of_all(digests: Mapping[str, str]) -> str:
    """Hash the names and the hashes of files."""
    return sha256("\n".join(f"{name}\0{digest}" for name, digest in sorted(digests.items())).encode())


def digest_of(content: Content) -> str:
    """Hash what was read of a submission."""
    if isinstance(content, bytes):
        return sha256(content)
    return _digest_of_all({name: sha256(each) for name, each in content.items()})


# What is read of the host's tables.
TABLES = ("runtimes", "failed", "teams", "site_board", "left_out", "again")


def opened(options: Options) -> Options:
    """The same options with the files that they name, each of which is read once for all who use it."""
    read: dict[str, Any] = {
        name: ReadFile.of(path) for name in TABLES if (path := getattr(options, name)) is not None
    }
    if is_manifest(options.submissions):
        read["submissions"] = ReadFile.of(options.submissions)
    solution = options.solution
    if not isinstance(solution, ReadFile):
        solution = read_once(absolute(solution))
    return replace(options, solution=solution, **read)


def make_job(options: Options, without: Iterable[str]) -> Job:
    """Describe what is scored, without some items, with the hashes by which the store knows it."""
    solution, part = absolute(options.solution), options.part
    metric = absolute(options.metric) if options.metric not in hosted.names() else str(options.metric)
    loaded = hosted.load(metric)
    of_measures = set(loaded.measure_parameters)
    metric_digests, solution_digest = (
        (*executed.digests(loaded.files).items(),),
        content_digest(options.solution),
    )
    (_, metric_digest), *others = metric_digests
    items = tuple(sorted(options.metric_parameters.items()))
    of_statistics = [item for item in items if item[0] not in of_measures]
    known = [store.FORMAT, metric_digest, solution_digest, of_statistics, sorted(versions().items())]
    left_out = tuple(sorted(without))
    known += [part] if part else []
    known += [("left out", *left_out)] if left_out else []
    known += [others] if others else []
    measured = [item for item in items if item[0] in of_measures]
    digests = (solution_digest, sha256(repr(known).encode()), sha256(repr(measured).encode()))
    return Job(metric, solution, items, metric_digests, *digests, options.limits, part, left_out)


def sha256(content: bytes) -> str:
    """Hash some bytes."""
    return hashlib.sha256(content).hexdigest()


def digests_of(digest: str, side_digest: str) -> str:
    """Join the SHA-256 of a submission and, if there is one, that of the host's file beside it."""
    return f"{digest}+{side_digest}" if side_digest else digest


def digests_in(contents: "Contents") -> str:
    """Hash what was read of a submission and of the host's file beside it."""
    content, side = contents
    return digests_of(digest_of(content), "" if side is None else sha256(side))


def solution_of(job: Job, source: Location | None = None) -> evaluating.Solution:
    """Prepare the solution once per process; `source` is what was read and hashed of it, if it was."""
    with PREPARING:
        if job not in PREPARED:
            source = _source_of(job) if source is None else source
            for other in [*PREPARED][: 1 - MOST_PREPARED]:
                del PREPARED[other]
            PREPARED[job] = _prepared(job, hosted.load(job.metric), source)
        return PREPARED[job]


def _source_of(job: Job) -> Location:
    """Read the solution, after making sure that both files are those of the job."""
    source = read_once(job.solution_path)
    there = {
        "metric": (job.metric, executed.digests(hosted.files_of(job.metric)) == dict(job.metric_digests)),
        "solution": (job.solution_path, content_digest(source) == job.solution_digest),
    }
    for what, (path, is_same) in there.items():
        if not is_same:
            raise UsageError(f"{what}: {path} has different content on {platform.node()} or has just changed")
    return source


def _prepared(job: Job, metric: hosted.Metric, source: pipeline.Source) -> evaluating.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the prepared solution keeps its notices
        return leaving_out.narrowed(
            pipeline.prepared(metric, source, dict(job.parameters), part=job.part), job.left_out
        )


def probe(job: Job | None = None, submission: Submission | None = None) -> dict[str, str]:
    """Make sure that this worker can read the files, and tell which versions it has."""
    if job is not None and submission is not None:
        solution_of(job)
        with suppress(NotAFile):  # which is the submission's fault
            contents_of(submission)
    return versions()


@functools.lru_cache(maxsize=2)
def _most_bytes(solution: evaluating.Solution) -> int:
    """Compute how many bytes a submission may have once it is expanded."""
    size = int(solution.frame.memory_usage(index=False, deep=True).sum())
    return max(BYTES_AT_ANY_RATIO, TIMES_THE_SOLUTION * size)


Contents = tuple[Content, bytes | None]  # of a submission and of the host's file beside it


def contents_of(submission: Submission) -> Contents:
    """Read the content of a submission and of the host's file beside it."""
    if submission.is_missing:
        raise NotAFile(submission.path, "nothing", "a file")
    side = read_bytes(submission.side) if submission.side else None
    if submission.path.endswith("/"):
        raise NotAFile(submission.path, "a folder")
    if submission.files:
        return _documents_of(submission), side
    return read_bytes(submission.path, follow_links=False), side


def _documents_of(submission: Submission) -> dict[str, bytes]:
    """Read the documents of a folder that is a submission."""
    contents: dict[str, bytes] = {}
    left = MOST_BYTES
    for name in submission.files:
        called = f"called {printable(name)[:60]} in it"
        if any("\udc80" <= character <= "\udcff" for character in name):
            raise NotAFile(submission.path, f"a file {called}, which is no name in UTF-8")
        try:
            contents[name] = read_bytes(f"{submission.path}/{name}", follow_links=False)
        except NotAFile as problem:
            raise NotAFile(submission.path, f"{problem.found} {called}") from None
        left -= len(contents[name])
        if left < 0 or len(submission.files) > MOST_FILES:
            raise NotAFile(submission.path, "more", f"at most {MOST_FILES:,} files and {megabytes(MOST_BYTES)}")
    return contents


def frame_of(solution: evaluating.Solution, submission: Submission) -> pd.DataFrame:
    """Read a submission, which must be the one that was scored if it was, with the host's file beside it."""
    content, side = contents = contents_of(submission)
    if submission.digests and (now := digests_in(contents)) != submission.digests:
        raise UsageError(
            f"{submission.team}/{submission.name} has changed since it was scored: its SHA-256 was "
            f"{submission.digests}, now it is {now}; rank again"
        )
    return with_side(solution, submission, table_of(solution, submission, content), side)


def with_side(
    solution: evaluating.Solution, submission: Submission, table: pd.DataFrame, side: bytes | None
) -> pd.DataFrame:
    """Add the columns of the host's file beside a submission, if there is one."""
    return table if side is None else reading.add_side(solution, table, submission.side, side)


def table_of(solution: evaluating.Solution, submission: Submission, content: Content) -> pd.DataFrame:
    """Read the table of a submission.

    What is found out stands for every file with this content, so messages do not say the file's name.
    """
    source: Location
    if isinstance(content, bytes):
        name = "the file"
        if solution.metric.companion.read_submission is not None:  # the ending tells official files from tables
            name += "".join(Path(submission.name).suffixes[-2:])
        source = ReadFile(name, content)
    else:
        source = ReadFolder("the folder", content)
    return reading.read_submission(solution.metric, source, solution.arguments, _most_bytes(solution))
