"""Questions about submissions, which workers answer from their statistics in the store or from the files.

A question is a function of the prepared solution and of some entries or submissions, with an answer for each.
"""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from podium.child.workers import Workers
from podium.ranking import passes, store
from podium.ranking.job import Job, solution_of
from podium.ranking.submissions import Submission
from podium.scoring.evaluating import Solution

__all__ = ["Desk"]

T = TypeVar("T")
R = TypeVar("R")
Question = Callable[[Solution, Sequence[T]], list[R]]


class Desk(NamedTuple):
    """Where questions are asked, and what every step of a ranking needs beside its tables."""

    job: Job  # from which a worker prepares the solution
    solution: Solution  # as it is prepared here
    store: Path  # the folder that keeps what is found out about submissions
    workers: Workers

    def ask(self, question: Question[bytes, R], entries: Sequence[str], title: str) -> list[R]:
        """Ask about entries of the store, which are given by their names."""
        work = functools.partial(_answered, self.job, question)
        answers = passes.from_store(self.workers, work, dict(enumerate(entries)), self.store, title)
        return [answers[number] for number in range(len(entries))]

    def read_again(
        self, question: Question[Submission, R], submissions: Sequence[Submission], title: str
    ) -> list[R]:
        """Ask about submissions whose files are read again, for what the store does not know of them."""
        work = functools.partial(_answered, self.job, question)
        answers = passes.once_more(self.workers, work, dict(enumerate(submissions)), title)
        return [answers[number] for number in range(len(submissions))]

    def load(self, entry: str) -> bytes | None:
        """Read an entry of the store."""
        return store.load(self.store, entry)


def _answered(job: Job, question: Question[T, R], numbered: Sequence[tuple[int, T]]) -> list[tuple[int, R]]:
    """Answer a question about some numbered things, in a worker."""
    answers = question(solution_of(job), [thing for _, thing in numbered])
    return [(number, answer) for (number, _), answer in zip(numbered, answers, strict=True)]
