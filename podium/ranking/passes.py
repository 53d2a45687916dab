"""Score many submissions, and answer questions about them from the store.

Each submission is read once. What can become of it:

- It has scores. They are kept in the store.
- It is *rejected*, because its own content is wrong. That is kept, too.
- It exceeds a limit of time or memory, or the metric fails with an unexpected error. The next run tries it
  again, because it may have other limits, run on another machine or have a mended metric.
- It cannot be scored through no fault of its own, because a file cannot be read or a worker is lost. It is
  tried a second time, alone. If it fails again, the command ends.
"""

import functools
import math
import operator
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from podium.child.limits import LimitExceededError, within
from podium.child.supervised import WorkerLostError
from podium.child.workers import TASKS_PER_WORKER, Workers, spread
from podium.contest import way
from podium.judge import trials
from podium.metric import hosted
from podium.metric.shapes import ContractError
from podium.ranking import store
from podium.ranking.job import (
    Contents,
    Job,
    contents_of,
    digests_in,
    digests_of,
    entry_name,
    frame_of,
    new_solution_of,
    sha256,
    solution_of,
    table_of,
    with_side,
)
from podium.ranking.submissions import Submission
from podium.scoring import evaluating
from podium.scoring.answers import given_by, pack
from podium.scoring.explain import mistakes_of
from podium.tables.sameness import fingerprint
from podium.words.errors import (
    CompanionError,
    HostError,
    MetricError,
    NotAFile,
    SubmissionRejected,
    ToolError,
    UsageError,
)
from podium.words.progress import track
from podium.words.wording import counted

BYTES_AT_ONCE = 2**22  # of submissions in one task
BYTES_OF_ENTRIES = 2**24  # of entries, because entries of real size are resampled 16 at a time
MOST_AT_ONCE = 200
MOST_OF_STRANGERS = 8  # submissions in one task for a stranger's metric, which is loaded anew for it
FEWEST_TASKS = 12  # for a stranger's metric, if there are so many submissions
SECONDS_BEFORE_RETRY = 1.0
SIZE = operator.attrgetter("size")  # the bytes of a submission, or 0 if they are not known
FAULTS_SHOWN = 20
STREAM = 7  # of random numbers
# What a machine raises that lacks memory, a file or a library. What else a metric raises is a slip.
MACHINE = (MemoryError, OSError, ImportError)

T = TypeVar("T")
R = TypeVar("R")


class Scored(NamedTuple):
    """What became of a submission."""

    digest: str  # the SHA-256 of its file
    side_digest: str  # the SHA-256 of the host's file beside it, or "" if there is none
    fingerprint: str  # of its table, see `podium.tables.sameness`; the SHA-256 of a file that is none
    entry: str  # the name of its entry in the store
    scores: dict[str, float] | None  # the score on each part of the solution, if it has any
    rejected: str | None  # the reason why the submission was rejected
    failed: str | None  # the unexpected error of the metric
    measured: str | None  # the `Job.measured` with which the scores were computed
    has_statistics: bool  # whether the entry contains statistics beside the scores
    is_exact: bool  # whether the scores are those of the sums of the statistics, to the last bit
    mistakes: tuple[tuple[str, str], ...] = ()  # kinds and sentences, as the metric's companion tells them

    @property
    def digests(self) -> str:
        """The hashes of the file and of the host's file beside it, in one text."""
        return digests_of(self.digest, self.side_digest)


class Fault(NamedTuple):
    """Why a submission could not be scored, through no fault of its own."""

    text: str  # the reason in one line
    is_of_host: bool  # whether the metric, a parameter or a table is certainly wrong, and not the machine
    died: str = ""  # how the process ended in which it was scored; empty if it did not
    is_killed: bool = False  # whether somebody has killed it, perhaps because the machine lacked memory
    error: str = ""  # of the metric, if this submission alone may have caused it
    breaks_contract: bool = False  # whether the metric breaks the contract, which no other try settles


# ---- In a worker ----------------------------------------------------------------------------------------


class _Unjudged(NamedTuple):
    """A submission that has scores, before its metric was judged with it."""

    header: dict[str, Any]  # of its entry, as far as it is known
    evaluation: evaluating.Evaluation


def visit(
    job: Job, known: bytes, submissions: Sequence[tuple[int, Submission]]
) -> list[tuple[int, str, bytes | Fault | None]]:
    """Score some submissions, and return for each its hashes and its entry, or None if the store has it.

    Their metric is judged with each of them. Without statistics it is loaded once more and scores them in the
    reverse order, so none of them has the same calls before it.
    """
    names = np.frombuffer(known, f"S{store.NAME_LENGTH}")
    solution = new_solution_of(job)
    scored = [(number, *_visited(job, solution, names, submission)) for number, submission in submissions]
    has_statistics = bool(solution.prepared) or solution.metric.is_own
    again = None if has_statistics else hosted.anew(solution.metric)
    answers = [
        (number, digests, _judged(job, answer, again) if isinstance(answer, _Unjudged) else answer)
        for number, digests, answer in reversed(scored)
    ]
    return answers[::-1]


def _visited(
    job: Job, solution: evaluating.Solution, names: Any, submission: Submission
) -> tuple[str, bytes | Fault | _Unjudged | None]:
    """Score a submission that is not among those with these names of entries; return its hashes, too."""
    digests = ""
    try:
        contents = contents_of(submission)
        digests = digests_in(contents)
        name = entry_name(job.context, digests).encode()
        position = int(names.searchsorted(name))
        is_known = position < len(names) and names[position] == name
        return digests, None if is_known else _score(job, solution, submission, contents, digests)
    except NotAFile as problem:
        # It has no content that could be hashed, so what was found instead of one gets hashed.
        digests = sha256(problem.found.encode())
        return digests, store.encode(_header(job, digests) | {"rejected": problem.fault}, None)
    except Exception as problem:
        return digests, _fault(problem)


def _header(job: Job, digests: str) -> dict[str, Any]:
    """Begin the header of an entry with the two hashes that give it its name."""
    return {"context": job.context, "sha256": digests}


def _fault(problem: Exception) -> Fault:
    """Describe why a submission could not be scored, through no fault of its own."""
    is_of_host = isinstance(problem, HostError) and _is_slip(problem)
    is_of_machine = any(isinstance(each, MACHINE) for each in _led_to(problem))
    error = problem.error if isinstance(problem, MetricError) and not is_of_machine else ""
    return Fault(describe(problem), is_of_host, error=error)


def _score(
    job: Job,
    solution: evaluating.Solution,
    submission: Submission,
    contents: Contents,
    digests: str,
) -> bytes | _Unjudged:
    """Score a submission; make its entry for the store if it has no score."""
    header = _header(job, digests)
    try:
        with within(job.limits):
            table = table_of(solution, submission, contents[0])
            header["fingerprint"] = fingerprint(table)
            evaluation = way.unjudged(solution, with_side(solution, submission, table, contents[1]))
    except LimitExceededError as problem:
        header |= {"rejected": str(problem), store.UNSURE: True}
    except SubmissionRejected as problem:
        header["rejected"] = str(problem)
    except ContractError as problem:  # what the metric returned for this submission cannot be used
        header |= {"failed": str(problem), store.UNSURE: True}
    except MetricError as problem:
        if not _is_slip(problem):
            raise
        header |= {"failed": problem.error, store.UNSURE: True}
    else:
        if all(map(math.isfinite, evaluation.scores.values())):
            return _Unjudged(header, evaluation)
        header["rejected"] = _not_finite(evaluation.scores)
    return store.encode(header, None)


def _judged(job: Job, unjudged: _Unjudged, again: hosted.Metric | None) -> bytes | Fault:
    """Make the entry of a submission that has scores, or a fault if its metric breaks the contract with it."""
    header, evaluation = unjudged
    try:
        with within(job.limits):
            found = trials.verdict(evaluation, trials.Use.EACH)
            if again is not None:
                found += trials.same_again(evaluation, again)
        if text := trials.first_failure(found):
            return Fault(text, is_of_host=True, breaks_contract=True)
        return _entry(job, header, evaluation)
    except LimitExceededError as problem:
        return store.encode(header | {"rejected": str(problem), store.UNSURE: True}, None)
    except Exception as problem:
        return _fault(problem)


def _entry(job: Job, header: dict[str, Any], evaluation: evaluating.Evaluation) -> bytes:
    """Make the entry of a submission that has scores."""
    scores = {part: float(score) for part, score in evaluation.scores.items()}
    header |= {"scores": scores, "measured": job.measured, "mistakes": mistakes_of(evaluation)}
    if evaluation.statistics is not None:
        header["exact"] = evaluating.scores_of(evaluation.solution, evaluation.statistics) == scores
    packed = b""
    # Answers that cannot be compared, or a companion that fails, are no fault of a submission.
    with suppress(CompanionError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        if (given := given_by(evaluation)) is not None:
            header["answered"], packed = given.columns, pack(given)
    return store.encode(header, evaluation.statistics, packed)


def _not_finite(scores: dict[str, float]) -> str:
    """Say that a submission is rejected for its scores."""
    found = ", ".join(f"{score} for {part}" for part, score in scores.items() if not math.isfinite(score))
    return f"the metric gives no finite score: {found}"


def hashed(submissions: Sequence[tuple[int, Submission]]) -> list[tuple[int, str]]:
    """Hash some submissions, to see which of them are equal; "" stands for one that cannot be read."""
    answers = []
    for number, submission in submissions:
        digests = ""
        with suppress(Exception):  # whoever scores it tells why
            digests = digests_in(contents_of(submission))
        answers.append((number, digests))
    return answers


def held(job: Job, submissions: Sequence[tuple[int, Submission]]) -> list[tuple[int, str]]:
    """Hold the metric to the whole contract with some submissions, and say how it breaks it, or ""."""
    answers = []
    for number, submission in submissions:
        try:
            solution = new_solution_of(job)
            evaluation = way.unjudged(solution, frame_of(solution, submission, contents_of(submission)))
            text = trials.first_failure(trials.verdict(evaluation, trials.Use.SCORE))
        except HostError as problem:
            text = describe(problem)
        answers.append((number, text))
    return answers


def measure(job: Job, entries: Sequence[tuple[int, bytes]]) -> list[tuple[int, dict[str, float]]]:
    """Compute the scores on each part from the statistics in entries."""
    return [
        (number, evaluating.scores_of(solution_of(job), numbers))
        for number, entry in entries
        if (numbers := store.decode(entry)) is not None
    ]


def describe(problem: BaseException) -> str:
    """Describe a fault in one line."""
    text = " ".join(str(problem).split())
    return text if isinstance(problem, ToolError) else f"{type(problem).__name__}: {text}"


def _is_slip(problem: BaseException) -> bool:
    """Tell whether an exception and all that led to it are those of a slip in a metric or a table."""
    # RuntimeError itself is what is raised for a lack of threads, and by many libraries for a wrong input.
    return not any(isinstance(each, MACHINE) or type(each) is RuntimeError for each in _led_to(problem))


def _led_to(problem: BaseException | None) -> Iterator[BaseException]:
    """List an exception and all that led to it."""
    if problem is not None:
        yield problem
        yield from _led_to(problem.__cause__)
        yield from _led_to(problem.__context__)


# ---- In the command -------------------------------------------------------------------------------------


def score(
    job: Job, submissions: Sequence[Submission], folder: Path, workers: Workers, seed: int
) -> list[Scored]:
    """Score all submissions whose contents the store does not know yet; equal ones are scored once.

    What is found out about a submission is kept in the store at once, so that an interrupted command loses
    nothing. With one that is drawn from the seed, a stranger's metric is held to the whole contract.
    """
    kept = frozenset(store.names(folder))
    everything = dict(enumerate(submissions))
    equal = _equal(everything, workers)
    results = _scored_once(job, {n: each for n, each in everything.items() if n not in equal}, folder, workers)
    if not solution_of(job).metric.is_own:
        # With other parameters, only score() knows the score to the last bit.
        other = {n: everything[n] for n, each in results.items() if each.measured not in (None, job.measured)}
        results |= _scored_once(job, other, folder, workers, frozenset()) if other else {}
    for number, first in equal.items():
        results[number] = results[first]
    if before := sum(result.entry in kept for result in results.values()):
        print(f"already in the store: {before:,} of {len(submissions):,}", file=sys.stderr)
    _check_that_any_has_a_score(submissions, results)
    measured = _measured(job, results, folder, workers)
    _hold(job, submissions, measured, folder, workers, seed)
    return measured


def _equal(submissions: dict[int, Submission], workers: Workers) -> dict[int, int]:
    """Find the submissions that are equal to an earlier one, which can only be those of the same size."""
    sizes = Counter(each.size for each in submissions.values())
    some = {number: each for number, each in submissions.items() if each.size and sizes[each.size] > 1}
    digests = _answers(workers, hashed, _batches(some, SIZE, workers), "comparing", len(some))
    first: dict[str, int] = {}
    return {
        number: first[digest]
        for number, digest in digests.items()
        if digest and first.setdefault(digest, number) != number
    }


def _scored_once(
    job: Job,
    submissions: dict[int, Submission],
    folder: Path,
    workers: Workers,
    kept: frozenset[str] | None = None,
) -> dict[int, Scored]:
    """Score submissions; try those again, alone, that could not be scored through no fault of their own."""
    kept = frozenset(store.names(folder)) if kept is None else kept
    results, faults = _round(job, submissions, kept, folder, workers, "scoring")
    tried = {number: fault for number, fault in faults.items() if not fault.breaks_contract}
    left: dict[int, Fault] = {}
    if tried:
        time.sleep(SECONDS_BEFORE_RETRY)
        some = {number: submissions[number] for number in sorted(tried)}
        again, left = _round(job, some, frozenset(), folder, workers, "trying again after faults", at_once=1)
        results |= again
    broken = {number: fault for number, fault in (faults | left).items() if fault.breaks_contract}
    if broken:
        texts = {submissions[number]: fault.text for number, fault in sorted(broken.items())}
        raise HostError(_list_of_faults(texts, "on which the metric breaks the contract", "no board was made"))
    if left:
        _of_those_left(job, submissions, (tried, left), results, (folder, workers))
    return results


def _of_those_left(
    job: Job,
    submissions: dict[int, Submission],
    faults: tuple[dict[int, Fault], dict[int, Fault]],
    results: dict[int, Scored],
    where: tuple[Path, Workers],
) -> None:
    """Add to the results what became of submissions with faults in two tries; raise an error for the others."""
    first, left = faults
    crashed = {number: fault for number, fault in left.items() if fault.died and first[number].died}
    by_itself = {number: fault.died for number, fault in crashed.items() if not fault.is_killed}
    told = {number: f"the metric crashed on it twice: {died}" for number, died in by_itself.items()}
    if any(each.scores is not None for each in results.values()):
        told |= {number: fault.error for number, fault in left.items() if fault.error and first[number].error}
    killed = [number for number in crashed if number not in by_itself]
    if killed:
        survived, of_killed = _killed(job, submissions, killed, [*results], where)
        results |= survived
        told |= of_killed
        left = {number: fault for number, fault in left.items() if number not in survived}
    results |= _rejected_by_crash(job, submissions, told, where[0])
    left = {number: fault for number, fault in left.items() if number not in told}
    if left:
        is_of_host = all(fault.is_of_host and first[number].is_of_host for number, fault in left.items())
        texts = {submissions[number]: fault.text for number, fault in sorted(left.items())}
        raise (HostError if is_of_host else UsageError)(_list_of_faults(texts))


def _round(
    job: Job,
    submissions: dict[int, Submission],
    kept: frozenset[str],
    folder: Path,
    workers: Workers,
    title: str,
    at_once: int = MOST_AT_ONCE,
) -> tuple[dict[int, Scored], dict[int, Fault]]:
    """Score submissions that are not kept in the store, and return what became of them, or the faults."""
    results: dict[int, Scored] = {}
    faults: dict[int, Fault] = {}
    work = functools.partial(visit, job, b"".join(name.encode() for name in sorted(kept)))
    most = at_once if solution_of(job).metric.is_own else min(at_once, _most_of_strangers(len(submissions)))
    batches = _batches(submissions, SIZE, workers, most, is_fixed=not solution_of(job).metric.is_own)

    def finished() -> Iterator[None]:
        for batch, answers in spread(workers, work, batches, window=1 if at_once == 1 else None):
            if isinstance(answers, Exception):
                fault = _of_worker(answers)
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
                    faults[number] = Fault("its entry in the store is damaged", is_of_host=False)
                yield

    for _ in track(finished(), title, len(submissions)):
        pass
    return results, faults


def _most_of_strangers(number: int) -> int:
    """How many of so many submissions a stranger's metric scores one after the other.

    It does not depend on the number of workers, and neither do the calls that a metric has behind it.
    """
    return max(1, min(MOST_OF_STRANGERS, number // FEWEST_TASKS))


def _of_worker(problem: Exception) -> Fault:
    """The fault of a submission for which a worker gave no answer."""
    if not isinstance(problem, WorkerLostError):
        return Fault(describe(problem), is_of_host=False)
    is_killed = problem.code == -signal.SIGKILL
    return Fault(describe(problem), is_of_host=False, died=problem.ending, is_killed=is_killed)


def _killed(
    job: Job,
    submissions: dict[int, Submission],
    killed: Sequence[int],
    scored: Sequence[int],
    where: tuple[Path, Workers],
) -> tuple[dict[int, Scored], dict[int, str]]:
    """Try submissions a third time whose process was killed twice, and say on which it is killed once more.

    Nothing runs beside a third try.  If another submission does not survive there either, it is the machine.
    """
    time.sleep(SECONDS_BEFORE_RETRY)
    some = {number: submissions[number] for number in [*killed, *scored[:1]]}
    survived, left = _round(job, some, frozenset(), *where, "trying a third time", at_once=1)
    if not scored or scored[0] in left:
        return survived, {}
    told = (
        "the process was killed on it three times, the last time with nothing beside it; it is not certain that"
    )
    return survived, {number: f"{told} this file is at fault" for number in killed if number in left}


def _rejected_by_crash(
    job: Job, submissions: Mapping[int, Submission], told: Mapping[int, str], folder: Path
) -> dict[int, Scored]:
    """Note in the store that the metric crashed on submissions every time, at last with nothing beside them.

    So a submission that crashes native code stops nobody else.
    """
    results = {}
    for number, failed in told.items():
        digests = digests_in(contents_of(submissions[number]))
        entry = store.encode(_header(job, digests) | {"failed": failed, store.UNSURE: True}, None)
        store.save(folder, entry_name(job.context, digests), entry, True)
        results[number] = _scored(entry)
    return results


def _list_of_faults(
    texts: dict[Submission, str],
    what: str = "could not be scored, through no fault of {whose} own",
    comfort: str = "nothing is lost",
) -> str:
    """List submissions, each with the reason."""
    lines = [f"  {each.team}/{each.name}: {text}" for each, text in texts.items()]
    number = counted(len(lines), "submission")
    whose = "its" if len(lines) == 1 else "their"
    more = len(lines) - FAULTS_SHOWN
    title = f"{number} {what.format(whose=whose)} ({comfort}):"
    return "\n".join([title, *lines[:FAULTS_SHOWN], *([f"  and {more:,} more"] if more > 0 else [])])


def _check_that_any_has_a_score(submissions: Sequence[Submission], results: dict[int, Scored]) -> None:
    """End the command if the metric failed for submissions and no other one has a score."""
    failed = {submissions[number]: each.failed for number, each in sorted(results.items()) if each.failed}
    if failed and all(each.scores is None for each in results.values()):
        raise HostError(_list_of_faults(failed))


def _hold(
    job: Job,
    submissions: Sequence[Submission],
    results: Sequence[Scored],
    folder: Path,
    workers: Workers,
    seed: int,
) -> None:
    """Hold a stranger's metric to the whole contract, with one submission that the seed draws.

    Its entry notes that the metric has passed.
    """
    of_digests = {each.digests: number for number, each in enumerate(results) if each.scores is not None}
    if solution_of(job).metric.is_own or not of_digests:
        return
    drawn = sorted(of_digests)[np.random.default_rng([seed, STREAM]).integers(len(of_digests))]
    number = of_digests[drawn]
    entry = _load(folder, results[number].entry)
    header = {} if entry is None else store.header_of(entry)
    if entry is None or header.get("held") == job.measured:
        return
    (text,) = once_more(
        workers, functools.partial(held, job), {number: submissions[number]}, "judging"
    ).values()
    if text:
        each = submissions[number]
        raise HostError(f"{each.team}/{each.name}: {text}")
    passed = store.encode(header | {"held": job.measured}, store.decode(entry), store.packed_of(entry))
    store.save(folder, results[number].entry, passed)


def stored(job: Job, contents: Sequence[str], folder: Path, workers: Workers) -> list[Scored]:
    """Read from the store what became of submissions, without their files."""
    names = {number: entry_name(job.context, content) for number, content in enumerate(contents)}
    here = Workers(None, 1)  # to read the headers costs less than to send the entries to workers
    results = from_store(here, _scored_before, names, folder, "reading the store")
    return _measured(job, results, folder, workers)


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
        header.get("fingerprint", digest),
        entry_name(header["context"], header["sha256"]),
        header.get("scores"),
        header.get("rejected"),
        header.get("failed"),
        header.get("measured"),
        store.has_statistics(entry),
        header.get("exact", False),
        tuple((kind, sentence) for kind, sentence in header.get("mistakes", [])),
    )


def _measured(job: Job, results: dict[int, Scored], folder: Path, workers: Workers) -> list[Scored]:
    """Put the results in order, and compute scores again that were computed with other parameters."""
    other = {number: each for number, each in results.items() if each.measured not in (None, job.measured)}
    if not solution_of(job).metric.is_own and not all(each.is_exact for each in other.values()):
        raise UsageError(
            f"--again with other parameters: the scores of {Path(job.metric).name} are those of its sums only "
            "up to rounding, so rank the submissions again"
        )
    names = {number: each.entry for number, each in other.items()}
    scores = from_store(workers, functools.partial(measure, job), names, folder, "measuring")
    for number, new in scores.items():
        if all(map(math.isfinite, new.values())):
            results[number] = results[number]._replace(scores=new)
        else:
            results[number] = results[number]._replace(scores=None, rejected=_not_finite(new))
    return [results[number] for number in range(len(results))]


def from_store(
    workers: Workers,
    work: Callable[[list[tuple[int, bytes]]], list[tuple[int, R]]],
    names: dict[int, str],
    folder: Path,
    title: str,
) -> dict[int, R]:
    """Let workers answer a question about entries of the store, which are read here.

    The machines of a cluster may not see the folder.
    """

    def size_of(name: str) -> int:
        path = store.path_of(folder, name)
        return path.stat().st_size if path.is_file() else 0

    groups = _batches(names, size_of, workers, size=BYTES_OF_ENTRIES)
    batches = (_entries(folder, group) for group in groups)
    answers = _answers(workers, work, batches, title, len(names))
    if len(answers) < len(names):
        raise UsageError(
            f"the store {folder} lacks {len(names) - len(answers):,} of {len(names):,} submissions, or "
            "they were scored by other versions: rank the submissions once more"
        )
    return answers


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
    workers: Workers,
    work: Callable[[list[tuple[int, Submission]]], list[tuple[int, R]]],
    submissions: dict[int, Submission],
    title: str = "variants",
) -> dict[int, R]:
    """Read submissions a second time, for what the store does not know about them."""
    return _answers(workers, work, _batches(submissions, SIZE, workers), title, len(submissions))


def _answers(
    workers: Workers,
    work: Callable[[list[tuple[int, T]]], list[tuple[int, R]]],
    batches: Iterable[list[tuple[int, T]]],
    title: str,
    total: int,
) -> dict[int, R]:
    """Collect all answers in the order of their numbers, so that sums over them are repeatable."""
    answers = track(_finished(workers, work, batches), title, total)
    return dict(sorted(answers, key=lambda answer: answer[0])) if total else {}


def finished(
    workers: Workers,
    work: Callable[[list[tuple[int, T]]], list[tuple[int, R]]],
    batches: Sequence[list[tuple[int, T]]],
    title: str = "",
) -> Iterator[tuple[int, R]]:
    """Yield the answers of all batches, each as soon as it is there."""
    answers = _finished(workers, work, batches)
    return track(answers, title, sum(map(len, batches))) if title and batches else answers


def _finished(
    workers: Workers,
    work: Callable[[list[tuple[int, T]]], list[tuple[int, R]]],
    batches: Iterable[list[tuple[int, T]]],
) -> Iterator[tuple[int, R]]:
    """Yield the answers of all batches.  A batch that fails is tried once more."""
    for batch, answers in spread(workers, work, batches):
        if isinstance(answers, Exception):
            time.sleep(SECONDS_BEFORE_RETRY)
            ((_, answers),) = spread(workers, work, [batch])
        if isinstance(answers, Exception):
            raise answers if isinstance(answers, ToolError) else UsageError(describe(answers))
        yield from answers


def _batches(
    things: dict[int, T],
    size_of: Callable[[T], int],
    workers: Workers,
    most: int = MOST_AT_ONCE,
    size: int = BYTES_AT_ONCE,
    is_fixed: bool = False,
) -> Iterator[list[tuple[int, T]]]:
    """Group numbered things into tasks of about equal size; fixed ones are the same for any workers."""
    if not is_fixed:
        most = max(1, min(most, len(things) // (workers.number * TASKS_PER_WORKER)))
    batch: list[tuple[int, T]] = []
    filled = 0
    for number, thing in things.items():
        its_size = size_of(thing) or size // 4
        if batch and (len(batch) == most or filled + its_size > size):
            yield batch
            batch, filled = [], 0
        batch.append((number, thing))
        filled += its_size
    if batch:
        yield batch
