"""Questions about submissions, which workers answer from their statistics in the store or from the files.

A question is a function of the prepared solution and of some entries or submissions, with a result for each.
"""

import functools
import operator
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from podium.child.workers import TASKS_PER_WORKER, Workers, spread
from podium.common.errors import ToolError, UsageError
from podium.common.progress import track
from podium.ranking import store
from podium.ranking.job import Job
from podium.ranking.store import StoreEntry
from podium.ranking.submissions import Submission
from podium.scoring.evaluating import Solution

BYTES_AT_ONCE = 2**22  # of submissions in one task
BYTES_OF_ENTRIES = 2**24  # of entries, because entries of real size are resampled 16 at a time
MOST_AT_ONCE = 200
SECONDS_BEFORE_RETRY = 1.0
SIZE = operator.attrgetter("size")  # the bytes of a submission, or 0 if they are not known

T = TypeVar("T")
R = TypeVar("R")
Question = Callable[[Solution, Sequence[T]], list[R]]
Work = Callable[[list[tuple[int, T]]], list[tuple[int, R]]]  # on numbered things


class Pool(NamedTuple):
    """The workers that answer questions, and what every step of a ranking needs beside its tables."""

    job: Job  # what is scored, and how
    store: Path  # the folder that keeps what is found out about submissions
    workers: Workers

    @property
    def solution(self) -> Solution:
        """The solution as it is prepared here."""
        return self.job.solution

    @property
    def without_forks(self) -> "Pool":
        """The same for questions in which the metric gets no submission, so that nothing can stay of one."""
        return self._replace(workers=replace(self.workers, ready=None))

    @property
    def files_at_once(self) -> int:
        """How many files a task may have at most: one if each is scored in a process of its own."""
        return MOST_AT_ONCE if self.workers.ready is None else 1

    def ask(self, question: Question[StoreEntry, R], entries: Sequence[str], title: str) -> list[R]:
        """Ask about entries of the store, which are given by their names.

        They are read here, because the machines of a cluster may not see the folder.
        """

        def size_of(name: str) -> int:
            path = store.path_of(self.store, name)
            return path.stat().st_size if path.is_file() else 0

        groups = batches_of(dict(enumerate(entries)), size_of, self.workers, size=BYTES_OF_ENTRIES)
        read = ([(number, entry) for number, name in group if (entry := self.load(name))] for group in groups)
        work = functools.partial(_results, self.job, question)
        results = collected(self.workers, work, read, title, len(entries))
        if lacking := len(entries) - len(results):
            raise UsageError(
                f"the store {self.store} has lost {lacking:,} of {len(entries):,} submissions while they were "
                "ranked; run the command again"
            )
        return [*results.values()]

    def read_again(
        self, question: Question[Submission, R], submissions: Sequence[Submission], title: str
    ) -> list[R]:
        """Ask about submissions whose files are read again, for what the store does not know of them."""
        batches = batches_of(dict(enumerate(submissions)), SIZE, self.workers, self.files_at_once)
        work = functools.partial(_results, self.job, question)
        return [*collected(self.workers, work, batches, title, len(submissions)).values()]

    def one_by_one(
        self, question: Question[T, R], things: Mapping[int, T], title: str = ""
    ) -> Iterator[tuple[int, R]]:
        """Ask about each of some numbered things alone, and yield the results as soon as they are there."""
        work = functools.partial(_results, self.job, question)
        results = _finished(self.workers, work, [[each] for each in things.items()])
        return track(results, title, len(things)) if title and things else results

    def load(self, name: str) -> StoreEntry | None:
        """Read the entry of that name, if the store has it."""
        return store.load(self.store, name)


def _results(job: Job, question: Question[T, R], numbered: Sequence[tuple[int, T]]) -> list[tuple[int, R]]:
    """Answer a question about some numbered things, in a worker."""
    results = question(job.solution, [thing for _, thing in numbered])
    return [(number, result) for (number, _), result in zip(numbered, results, strict=True)]


def collected(
    workers: Workers, work: Work[T, R], batches: Iterable[list[tuple[int, T]]], title: str, total: int
) -> dict[int, R]:
    """Collect all results in the order of their numbers, so that sums over them are repeatable."""
    results = track(_finished(workers, work, batches), title, total)
    return dict(sorted(results, key=lambda result: result[0])) if total else {}


def _finished(
    workers: Workers, work: Work[T, R], batches: Iterable[list[tuple[int, T]]]
) -> Iterator[tuple[int, R]]:
    """Yield the results of all batches. A batch that fails is tried once more."""
    for batch, results in spread(workers, work, batches):
        if isinstance(results, Exception):
            time.sleep(SECONDS_BEFORE_RETRY)
            ((_, results),) = spread(workers, work, [batch])
        if isinstance(results, Exception):
            raise results if isinstance(results, ToolError) else UsageError(describe(results))
        yield from results


def batches_of(
    things: Mapping[int, T],
    size_of: Callable[[T], int],
    workers: Workers,
    most: int = MOST_AT_ONCE,
    size: int = BYTES_AT_ONCE,
) -> Iterator[list[tuple[int, T]]]:
    """Group numbered things into tasks of about equal size."""
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


def describe(problem: BaseException) -> str:
    """Describe a fault in one line."""
    text = " ".join(str(problem).split())
    return text if isinstance(problem, ToolError) else f"{type(problem).__name__}: {text}"
