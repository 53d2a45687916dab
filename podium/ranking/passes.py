"""Score many submissions, each of which is kept in the store with what became of it.

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
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.child.limits import LimitExceededError, within
from podium.child.supervised import WorkerLostError
from podium.child.workers import spread
from podium.common.errors import (
    CompanionError,
    HostError,
    MetricError,
    NotAFile,
    SubmissionRejected,
    ToolError,
    UsageError,
)
from podium.common.progress import track
from podium.common.wording import counted
from podium.contest import pipeline
from podium.metric.shapes import ContractError
from podium.ranking import questions, store
from podium.ranking.job import (
    Contents,
    Job,
    contents_of,
    digests_in,
    digests_of,
    frame_of,
    sha256,
    table_of,
    with_side,
)
from podium.ranking.questions import SIZE, Pool, batches_of, describe
from podium.ranking.store import StoreEntry
from podium.ranking.submissions import Submission
from podium.scoring import evaluating, misfits, trials, verdicts
from podium.scoring.answers import given_by, pack
from podium.scoring.explain import mistakes_of
from podium.tables.sameness import fingerprint

FAULTS_SHOWN = 20
KILLED = (
    "the process was killed on it twice, the second time with nothing beside it; it is not certain that this "
    "file is at fault"
)
STREAM = 7  # of random numbers
# What a machine raises that lacks memory, a file or a library. What else a metric raises is a slip.
MACHINE = (MemoryError, OSError, ImportError)


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


def visit(
    job: Job, known: frozenset[str], submissions: Sequence[tuple[int, Submission]]
) -> list[tuple[int, str, StoreEntry | Fault | None]]:
    """Score some submissions, and return for each its hashes and its entry, or None if the store has it."""
    solution = job.solution
    return [(number, *_visited(job, solution, known, submission)) for number, submission in submissions]


def _visited(
    job: Job, solution: evaluating.Solution, known: frozenset[str], submission: Submission
) -> tuple[str, StoreEntry | Fault | None]:
    """Score a submission that is not among those with these names of entries; return its hashes, too."""
    digests = ""
    try:
        contents = contents_of(submission)
        digests = digests_in(contents)
        is_known = store.name_of(job.context, digests) in known
        return digests, None if is_known else _score(job, solution, submission, contents, digests)
    except NotAFile as problem:
        # It has no content that could be hashed, so what was found instead of one gets hashed.
        digests = sha256(problem.found.encode())
        return digests, store.encode(_header(job, digests) | {"rejected": problem.fault})
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
) -> StoreEntry | Fault:
    """Score a submission, judge its metric with it, and make its entry for the store."""
    header = _header(job, digests)
    table = None
    try:
        with within(job.limits):
            table = table_of(solution, submission, contents[0])
            header["fingerprint"] = fingerprint(table)
            table = with_side(solution, submission, table, contents[1])
            evaluation = pipeline.unjudged(solution, table)
            if not all(map(math.isfinite, evaluation.scores.values())):
                raise SubmissionRejected(_not_finite(evaluation.scores))
    except LimitExceededError as problem:
        header |= {"rejected": str(problem), store.UNSURE: True}
    except (SubmissionRejected, ContractError, MetricError) as problem:
        if isinstance(problem, MetricError) and not _is_slip(problem):
            raise
        header |= _refused(problem, "" if table is None else _differences(job, solution, table, problem))
    else:
        return _judged(job, header, evaluation)
    return store.encode(header)


def _differences(job: Job, solution: evaluating.Solution, table: pd.DataFrame, problem: ToolError) -> str:
    """How a submission that has no score differs from the solution, as everybody may read it."""
    with suppress(LimitExceededError), within(job.limits):
        return misfits.explanation(pipeline.differences(solution, table, problem), for_host=False)
    return ""


def _refused(problem: ToolError, why: str) -> dict[str, Any]:
    """Describe why a submission has no score: in the metric's words, and by how it differs from the solution.

    An error of the metric, or what it returns that cannot be used, is tried again the next time.
    """
    if isinstance(problem, SubmissionRejected):
        return {"rejected": f"{str(problem).rstrip('.')}. {why}" if why else str(problem)}
    if why:
        return {"rejected": str(pipeline.rejection(why, problem)), store.UNSURE: True}
    says = problem.error if isinstance(problem, MetricError) else str(problem)
    return {"failed": says, store.UNSURE: True}


def _judged(job: Job, header: dict[str, Any], evaluation: evaluating.Evaluation) -> StoreEntry | Fault:
    """Make the entry of a submission that has scores, or a fault if its metric breaks the contract with it."""
    try:
        with within(job.limits):
            found = verdicts.verdict(evaluation, verdicts.Use.EACH)
            if evaluation.statistics is None and not evaluation.solution.metric.is_built_in:
                found += trials.same_again(evaluation)
        if text := verdicts.first_failure(found):
            return Fault(text, is_of_host=True, breaks_contract=True)
        return _entry(job, header, evaluation)
    except LimitExceededError as problem:
        return store.encode(header | {"rejected": str(problem), store.UNSURE: True})
    except Exception as problem:
        return _fault(problem)


def _entry(job: Job, header: dict[str, Any], evaluation: evaluating.Evaluation) -> StoreEntry:
    """Make the entry of a submission that has scores."""
    scores = {part: float(score) for part, score in evaluation.scores.items()}
    header |= {"scores": scores, "measured": job.measured, "mistakes": mistakes_of(evaluation)}
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


def hashed(_: evaluating.Solution, submissions: Sequence[Submission]) -> list[str]:
    """Hash some submissions, to see which of them are equal; "" stands for one that cannot be read."""
    results = []
    for submission in submissions:
        results.append("")
        with suppress(Exception):  # whoever scores it tells why
            results[-1] = digests_in(contents_of(submission))
    return results


def held(solution: evaluating.Solution, submissions: Sequence[Submission]) -> list[str]:
    """Hold the metric to the whole contract with some submissions, and say how it breaks it, or ""."""
    results = []
    for submission in submissions:
        try:
            evaluation = pipeline.unjudged(solution, frame_of(solution, submission))
            text = verdicts.first_failure(verdicts.verdict(evaluation, verdicts.Use.SCORE))
        except HostError as problem:
            text = describe(problem)
        results.append(text)
    return results


def measure(solution: evaluating.Solution, entries: Sequence[StoreEntry]) -> list[dict[str, float]]:
    """Compute the scores on each part from the statistics in entries, which have some."""
    numbers = [entry.statistics for entry in entries]
    return [evaluating.scores_of(solution, each) for each in numbers if each is not None]


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


def score(pool: Pool, submissions: Sequence[Submission], seed: int) -> list[Scored]:
    """Score all submissions whose contents the store does not know yet.

    What is found out about a submission is kept in the store at once, so that an interrupted command loses
    nothing. A custom metric, which may be slow, scores equal ones once, and is held to the whole contract
    with one that is drawn from the seed.
    """
    kept = frozenset(store.names(pool.store))
    everything = dict(enumerate(submissions))
    equal = {} if pool.solution.metric.is_built_in else _equal(pool, everything)
    results = _scored_once(pool, {n: each for n, each in everything.items() if n not in equal}, kept)
    results |= {number: results[first] for number, first in equal.items()}
    if before := sum(result.entry in kept for result in results.values()):
        print(f"already in the store: {before:,} of {len(submissions):,}", file=sys.stderr)
    _check_that_any_has_a_score(submissions, results)
    measured = _measured(pool, results)
    if not pool.solution.metric.is_built_in:
        _hold(pool, submissions, measured, seed)
    return measured


def _equal(pool: Pool, submissions: dict[int, Submission]) -> dict[int, int]:
    """Find the submissions that are equal to an earlier one, which can only be those of the same size."""
    sizes = Counter(each.size for each in submissions.values())
    some = {number: each for number, each in submissions.items() if each.size and sizes[each.size] > 1}
    first: dict[str, int] = {}
    return {
        number: first[digests]
        for number, digests in zip(some, pool.without_forks.read_again(hashed, [*some.values()], "comparing"))
        if digests and first.setdefault(digests, number) != number
    }


def _scored_once(pool: Pool, submissions: dict[int, Submission], kept: frozenset[str]) -> dict[int, Scored]:
    """Score submissions; try those again, alone, that could not be scored through no fault of their own.

    A process may be killed because the machine lacks memory. Then it is on a submission that has a score, too.
    """
    results, faults = _round(pool, submissions, kept, "scoring")
    tried = {number: fault for number, fault in faults.items() if not fault.breaks_contract}
    left, is_of_machine = dict[int, Fault](), False
    if tried:
        time.sleep(questions.SECONDS_BEFORE_RETRY)
        others = [*results][:1] if any(fault.is_killed for fault in tried.values()) else []
        some = {number: submissions[number] for number in [*sorted(tried), *others]}
        again, left = _round(pool, some, frozenset(), "trying again after faults", is_alone=True)
        results |= again
        is_of_machine = not others or left.pop(others[0], None) is not None
    broken = {number: fault for number, fault in (faults | left).items() if fault.breaks_contract}
    if broken:
        texts = {submissions[number]: fault.text for number, fault in sorted(broken.items())}
        raise HostError(_list_of_faults(texts, "on which the metric breaks the contract", "no board was made"))
    if left:
        told = _told_of(tried, left, results, is_of_machine)
        results |= _rejected_by_crash(pool, submissions, told)
        _refuse(submissions, tried, {number: fault for number, fault in left.items() if number not in told})
    return results


def _told_of(
    first: Mapping[int, Fault], left: Mapping[int, Fault], results: Mapping[int, Scored], is_of_machine: bool
) -> dict[int, str]:
    """Say what the metric did on submissions with faults in two tries, so that they stop nobody else."""
    told = {}
    for number, fault in left.items():
        if fault.died and first[number].died and not (fault.is_killed and is_of_machine):
            told[number] = KILLED if fault.is_killed else f"it gave no result twice: {fault.died}"
    if any(each.scores is not None for each in results.values()):
        told |= {number: fault.error for number, fault in left.items() if fault.error and first[number].error}
    return told


def _refuse(
    submissions: Mapping[int, Submission], first: Mapping[int, Fault], left: Mapping[int, Fault]
) -> None:
    """End the command if submissions are left that could not be scored in two tries."""
    if left:
        is_of_host = all(fault.is_of_host and first[number].is_of_host for number, fault in left.items())
        texts = {submissions[number]: fault.text for number, fault in sorted(left.items())}
        raise (HostError if is_of_host else UsageError)(_list_of_faults(texts))


def _round(
    pool: Pool,
    submissions: dict[int, Submission],
    kept: frozenset[str],
    title: str,
    is_alone: bool = False,
) -> tuple[dict[int, Scored], dict[int, Fault]]:
    """Score submissions that are not kept in the store, and return what became of them, or the faults.

    Nothing runs beside one that is scored alone.
    """
    results: dict[int, Scored] = {}
    faults: dict[int, Fault] = {}
    work = functools.partial(visit, pool.job, kept)
    at_once = 1 if is_alone else pool.files_at_once
    batches = batches_of(submissions, SIZE, pool.workers, at_once)

    def finished() -> Iterator[None]:
        for batch, outcomes in spread(pool.workers, work, batches, window=1 if is_alone else None):
            if isinstance(outcomes, Exception):
                fault = _of_worker(outcomes)
                outcomes = [(number, "", fault) for number, _ in batch]
            for number, digests, outcome in outcomes:
                if isinstance(outcome, Fault):
                    faults[number] = outcome
                elif outcome is not None:
                    store.save(pool.store, outcome)
                    results[number] = _scored(outcome)
                elif entry := pool.load(store.name_of(pool.job.context, digests)):
                    results[number] = _scored(entry)
                else:
                    faults[number] = Fault("its entry in the store is damaged", is_of_host=False)
                yield

    for _ in track(finished(), title, len(submissions)):
        pass
    return results, faults


def _of_worker(problem: Exception) -> Fault:
    """The fault of a submission for which a worker gave no answer."""
    if not isinstance(problem, WorkerLostError):
        return Fault(describe(problem), is_of_host=False)
    is_killed = problem.code == -signal.SIGKILL
    return Fault(describe(problem), is_of_host=False, died=problem.ending, is_killed=is_killed)


def _rejected_by_crash(
    pool: Pool, submissions: Mapping[int, Submission], told: Mapping[int, str]
) -> dict[int, Scored]:
    """Note in the store that the metric crashed on submissions every time, at last with nothing beside them.

    So a submission that crashes native code stops nobody else.
    """
    results = {}
    for number, failed in told.items():
        digests = digests_in(contents_of(submissions[number]))
        entry = store.encode(_header(pool.job, digests) | {"failed": failed, store.UNSURE: True})
        store.save(pool.store, entry)
        results[number] = _scored(entry)
    return results


def _list_of_faults(
    texts: dict[Submission, str],
    what: str = "could not be scored, through no fault of {whose} own",
    comfort: str = "nothing is lost",
) -> str:
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


def _hold(pool: Pool, submissions: Sequence[Submission], results: Sequence[Scored], seed: int) -> None:
    """Hold a custom metric to the whole contract, with one submission that the seed draws.

    Its entry notes that the metric has passed.
    """
    of_digests = {each.digests: number for number, each in enumerate(results) if each.scores is not None}
    if not of_digests:
        return
    drawn = sorted(of_digests)[np.random.default_rng([seed, STREAM]).integers(len(of_digests))]
    number = of_digests[drawn]
    entry = pool.load(results[number].entry)
    if entry is None or entry.header.get("held") == pool.job.measured:
        return
    (text,) = pool.read_again(held, [submissions[number]], "judging")
    if text:
        each = submissions[number]
        raise HostError(f"{each.team}/{each.name}: {text}")
    header = entry.header | {"held": pool.job.measured}
    store.save(pool.store, store.encode(header, entry.statistics, entry.answers))


def _scored(entry: StoreEntry) -> Scored:
    """Read what became of a submission from its entry."""
    header = entry.header
    digest, _, side_digest = header["sha256"].partition("+")
    return Scored(
        digest,
        side_digest,
        header.get("fingerprint", digest),
        entry.name,
        header.get("scores"),
        header.get("rejected"),
        header.get("failed"),
        header.get("measured"),
        entry.has_statistics,
        tuple((kind, sentence) for kind, sentence in header.get("mistakes", [])),
    )


def _measured(pool: Pool, results: dict[int, Scored]) -> list[Scored]:
    """Put the results in order, and compute scores again that were computed with other parameters."""
    other = [number for number, each in results.items() if each.measured not in (None, pool.job.measured)]
    for number, new in zip(other, pool.ask(measure, [results[number].entry for number in other], "measuring")):
        if all(map(math.isfinite, new.values())):
            results[number] = results[number]._replace(scores=new)
        else:
            results[number] = results[number]._replace(scores=None, rejected=_not_finite(new))
    return [results[number] for number in range(len(results))]
