"""What is scored, and how: the job, its hashes, its prepared solution and the tables of its submissions."""

import dataclasses
import functools
import hashlib
import importlib.metadata
import os
import pickle
import platform
import threading
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import podium
from podium import hosted, scoring
from podium.errors import UsageError
from podium.files import BYTES_AT_ANY_RATIO, is_url, read_bytes
from podium.ranking import store
from podium.ranking.limits import Limits
from podium.ranking.submissions import Submission, absolute

PREPARING = threading.RLock()  # a Dask worker has several threads
TIMES_THE_SOLUTION = 10  # an expanded submission larger than this many solutions is rejected


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


def versions() -> dict[str, str]:
    """List the versions of podium, of Python and of the libraries on which scores depend.

    Returns
    -------
    dict of str to str
        The versions by name.
    """
    packages = {name: importlib.metadata.version(name) for name in ("numpy", "pandas", "pyarrow", "scipy")}
    return {"podium": podium.__version__, "python": platform.python_version(), **packages}


def content_digest(path: str) -> str:
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
        return sha256(read_bytes(path))
    files = sorted(file for file in Path(path).rglob("*") if file.is_file())
    parts = [f"{file.relative_to(path).as_posix()}\0{content_digest(str(file))}" for file in files]
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
    metric_digest, solution = content_digest(str(hosted.find(metric))), absolute(solution)
    solution_digest = content_digest(solution)
    items = tuple(sorted(parameters.items()))
    of_statistics = [item for item in items if item[0] not in of_measures]
    known = [store.FORMAT, metric_digest, solution_digest, of_statistics, sorted(versions().items())]
    measured = [item for item in items if item[0] in of_measures]
    digests = (metric_digest, solution_digest, _hash(repr(known)), _hash(repr(measured)))
    return Job(metric, solution, items, *digests, limits or Limits())


def _hash(text: str) -> str:
    return sha256(text.encode())


def sha256(content: bytes) -> str:
    """Hash some bytes.

    Parameters
    ----------
    content : bytes
        The bytes.

    Returns
    -------
    str
        Their SHA-256 as 64 hexadecimal digits.
    """
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


def solution_of(job: Job) -> scoring.Solution:
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
        return _solution_of(job)


@functools.lru_cache(maxsize=2)
def _solution_of(job: Job) -> scoring.Solution:
    """Prepare the solution, or unpack the one that this process received, after a look at both files."""
    metric = hosted.load(job.metric)
    for what, path, expected in (
        ("metric", str(hosted.find(job.metric)), job.metric_digest),
        ("solution", job.solution, job.solution_digest),
    ):
        if content_digest(path) != expected:
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


def to_hand_over(job: Job) -> dict[Job, bytes]:
    """Pack the prepared solution for new processes, which read it faster than they would prepare it again.

    Parameters
    ----------
    job : Job
        What is scored, and with which metric.

    Returns
    -------
    dict of Job to bytes
        The packed solution of the job.  It is empty if the metric prepares something that cannot be packed.
    """
    try:
        # The metric is a module, which cannot be packed: the new process loads it.
        return {job: pickle.dumps(dataclasses.replace(solution_of(job), metric=None), protocol=5)}  # type: ignore[arg-type]
    except (pickle.PicklingError, AttributeError, TypeError):  # a stranger's metric may hold anything
        return {}


def receive(handed_over: dict[Job, bytes]) -> None:
    """Keep prepared solutions that the parent of this process has packed.

    Parameters
    ----------
    handed_over : dict of Job to bytes
        What `to_hand_over` returned in the parent.
    """
    _handed_over.update(handed_over)


@functools.lru_cache(maxsize=2)
def _most_bytes(job: Job) -> int:
    """Compute how many bytes a submission may have once it is expanded."""
    size = int(solution_of(job).frame.memory_usage(index=False, deep=True).sum())
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
    solution, (content, side) = solution_of(job), contents
    parameters = dict(job.parameters)
    frame = scoring.parse_submission(solution.metric, content, submission.name, parameters, _most_bytes(job))
    return frame if side is None else scoring.add_side(solution, frame, submission.side, side)
