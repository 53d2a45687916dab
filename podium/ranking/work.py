"""Score many submissions, and answer questions about them from the store.

Each submission is read once.  If its own content is wrong, that is a *rejection*: it is kept in the store, and
the file is not read again.  Everything else that goes wrong is a *fault*, and the submission is tried again.

The file of a stranger is read and scored within `podium.ranking.limits.Limits`.  A submission that exceeds them
is rejected, with a reason that names the limit.  The next run does not keep to that rejection, because it may
have other limits or run on another machine.
"""

import functools
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from podium import scoring
from podium.errors import HostError, NotAFile, SubmissionRejected, ToolError, UsageError
from podium.progress import track
from podium.ranking import store
from podium.ranking.job import Job, contents_of, digests_of, entry_name, frame_of, sha256, solution_of
from podium.ranking.limits import LimitExceededError, within
from podium.ranking.submissions import Submission
from podium.ranking.workers import (
    TASKS_PER_WORKER,
    Fault,
    Workers,
    describe_fault,
    fault_of,
    first_lines,
    spread,
)
from podium.wording import counted

BYTES_AT_ONCE = 2**22  # of submissions or entries in one task
# To hand out a task costs most on a cluster.  Only the paths of the submissions travel to its workers.
BYTES_ON_A_CLUSTER = 2**27
MOST_AT_ONCE = 200
SECONDS_BEFORE_RETRY = 1.0

T = TypeVar("T")
R = TypeVar("R")


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


def visit(
    job: Job, known: bytes, submissions: Sequence[tuple[int, Submission]]
) -> list[tuple[int, str, bytes | Fault | None]]:
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
    list of (int, str, bytes or Fault or None)
        For each submission its number, its `digests_of` and what became of it.  That is its entry for the
        store, None if ``known`` contains the entry, or a fault.
    """
    names = np.frombuffer(known, f"S{store.NAME_LENGTH}")
    answers: list[tuple[int, str, bytes | Fault | None]] = []
    for number, submission in submissions:
        digests = ""
        try:
            contents = contents_of(submission)
            content, side = contents
            digests = digests_of(sha256(content), "" if side is None else sha256(side))
            entry = entry_name(job.context, digests).encode()
            position = int(names.searchsorted(entry))
            if position < len(names) and names[position] == entry:
                answers.append((number, digests, None))
            else:
                answers.append((number, digests, _score(job, submission, contents, digests)))
        except NotAFile as problem:
            # It has no content, so the kind of thing that it is gets hashed.
            digests = sha256(problem.kind.encode())
            rejected = f"expected a regular file, found {problem.kind}"
            answers.append(
                (number, digests, store.encode(_header(job, digests) | {"rejected": rejected}, None))
            )
        except Exception as problem:
            answers.append((number, digests, fault_of(problem)))
    return answers


def _header(job: Job, digests: str) -> dict[str, Any]:
    """Begin the header of an entry with the two hashes that give it its name."""
    return {"context": job.context, "sha256": digests}


def _score(job: Job, submission: Submission, contents: tuple[bytes, bytes | None], digests: str) -> bytes:
    """Score a submission and make its entry for the store."""
    header = _header(job, digests)
    statistics = None
    solution = solution_of(job)
    try:
        with within(job.limits):
            evaluation = scoring.evaluate(solution, frame_of(job, submission, contents))
    except SubmissionRejected as problem:
        # The entry stands for every file with this content, whatever its name.
        header["rejected"] = str(problem).replace(submission.name, "the file")
    except LimitExceededError as problem:
        header |= {"rejected": str(problem), store.UNSURE: True}
    else:
        scores = {part: float(score) for part, score in evaluation.scores.items()}
        if all(map(math.isfinite, scores.values())):
            header |= {"scores": scores, "measured": job.measured}
            statistics = evaluation.statistics
        else:
            header["rejected"] = f"the score is not a finite number: {scores}"
    return store.encode(header, statistics)


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
        (number, scoring.scores_of(solution_of(job), numbers))
        for number, entry in entries
        if (numbers := store.decode(entry)[1]) is not None
    ]


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
    HostError
        The same, and the metric, a parameter or a table is certainly to blame.  Each of these submissions
        failed both times with the same slip of the host.
    """
    results: dict[int, Scored] = {}
    faults: dict[int, Fault] = {}
    damaged: list[int] = []
    at_first = frozenset(store.names(folder))
    kept = set(at_first)

    def run(numbers: Sequence[int], title: str, at_once: int = MOST_AT_ONCE, window: int | None = None) -> None:
        work = functools.partial(visit, job, b"".join(name.encode() for name in sorted(kept)))
        of_these = {number: submissions[number] for number in numbers}
        batches = _batches_of_files(of_these, pool, at_once)

        def finished() -> Iterator[None]:
            for batch, answers in spread(pool, work, batches, window):
                if isinstance(answers, BaseException):
                    fault = Fault(describe_fault(answers), is_of_host=False)
                    answers = [(number, "", fault) for number, _ in batch]
                for number, digests, answer in answers:
                    name = entry_name(job.context, digests)
                    if isinstance(answer, Fault):
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
    at_first_try = dict(faults)
    if faults:
        time.sleep(SECONDS_BEFORE_RETRY)
        faults.clear()
        run(sorted(at_first_try), "trying again after faults", at_once=1, window=1)
    if faults or damaged:
        is_of_host = not damaged and all(
            fault.is_of_host and fault == at_first_try[number] for number, fault in faults.items()
        )
        texts = {submissions[number]: fault.text for number, fault in sorted(faults.items())}
        texts |= dict.fromkeys([submissions[number] for number in damaged], "the store cannot be read")
        raise (HostError if is_of_host else UsageError)(_list_of_faults(texts))
    return _measured(job, results, folder, pool)


def _list_of_faults(texts: dict[Submission, str]) -> str:
    """List the submissions that could not be scored, each with the reason."""
    lines = [f"  {each.team}/{each.name}: {text}" for each, text in texts.items()]
    number = counted(len(lines), "submission")
    whose = "its" if len(lines) == 1 else "their"
    title = f"{number} could not be scored, through no fault of {whose} own (nothing is lost):"
    return "\n".join([title, *first_lines(lines)])


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
    batches = _batches_of_files(submissions, pool)
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
                raise answers if isinstance(answers, ToolError) else UsageError(describe_fault(answers))
            yield from answers

    return dict(track(finished(), title, total)) if total else {}


def _batches_of_files(
    submissions: dict[int, Submission], pool: Workers, most: int = MOST_AT_ONCE
) -> Iterator[list[tuple[int, Submission]]]:
    """Group numbered submissions, whose files workers read, into tasks of about equal size."""
    most_bytes = BYTES_ON_A_CLUSTER if pool.is_cluster else BYTES_AT_ONCE
    return _batches(submissions, lambda submission: submission.size, pool, most, most_bytes)


def _batches(
    things: dict[int, T],
    size_of: Callable[[T], int],
    pool: Workers,
    most: int = MOST_AT_ONCE,
    most_bytes: int = BYTES_AT_ONCE,
) -> Iterator[list[tuple[int, T]]]:
    """Group numbered things into tasks of about equal size."""
    most = max(1, min(most, len(things) // (pool.number * TASKS_PER_WORKER)))
    batch: list[tuple[int, T]] = []
    size = 0
    for number, thing in things.items():
        its_size = size_of(thing) or BYTES_AT_ONCE // 4
        if batch and (len(batch) == most or size + its_size > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append((number, thing))
        size += its_size
    if batch:
        yield batch
