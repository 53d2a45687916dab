"""What chance may have done to a board of a metric with ``score()`` alone.

Its chosen files are read once more and scored on halves of the items (`podium.statistics.halves`).  These draws
are kept in the store, under a hash of everything on which they depend.  Their number is fixed before the first
one.  So an interrupted run goes on where it stopped, and another run or a cluster gives the same bits.
"""

import dataclasses
import functools
import operator
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.child.workers import TASKS_PER_WORKER, Workers
from podium.contest import way
from podium.ranking import passes, store
from podium.ranking.decisions import Prizes
from podium.ranking.job import Job, contents_of, entry_name, frame_of, sha256, solution_of
from podium.ranking.passes import Scored
from podium.ranking.robustness import check_unchanged
from podium.ranking.submissions import Submission
from podium.ranking.uncertainty import Detail
from podium.statistics import Doubt, Reason, halves
from podium.statistics.doubts import FEWEST_ITEMS, Reaction
from podium.statistics.population import Scores
from podium.tables import ids
from podium.words.arrays import Floats, Ints

TIMED = 2  # files that are scored to find out how long a draw takes


@dataclasses.dataclass(frozen=True)
class Rows:
    """The items of a metric without statistics: they are one group, whose score nobody knows from sums."""

    items: range
    labels: tuple[tuple[str, str], ...] = (("(all)", "(all)"),)
    measure_names: tuple[str, ...] = ("score",)

    @property
    def groups(self) -> Ints:
        """All items are in the only group."""
        return np.zeros((1, len(self.items)), dtype=np.int64)


class Question(NamedTuple):
    """What is asked about the chosen files."""

    job: Job
    column: str  # rows with the same value in it stay together
    seed: int

    @property
    def part(self) -> str:
        """The part of the solution that decides."""
        return solution_of(self.job).deciding

    def context(self, number: int) -> str:
        """A hash of everything beside the file on which so many draws depend."""
        return sha256(repr((self.job.context, self.part, self.column, self.seed, number)).encode())


class Halves(NamedTuple):
    """What half-samples say about the chosen files."""

    number: int  # of draws, which is 0 if nothing is drawn
    details: list[Detail]  # in the order of the board; empty if nothing can be said
    prepared: Rows
    doubt: str = ""  # why nothing can be said


# ---- In a worker ------------------------------------------------------------------------------------------


def _read(question: Question, submission: Submission) -> tuple[halves.Asked, pd.DataFrame]:
    """Read a chosen file again, which must not have changed."""
    solution = solution_of(question.job)
    contents = contents_of(submission)
    check_unchanged(submission, contents)
    evaluation = way.unjudged(solution, frame_of(question.job, submission, contents))
    return halves.Asked(solution, question.part, question.column, question.seed), evaluation.submission


def _time(question: Question, submissions: Sequence[tuple[int, Submission]]) -> list[tuple[int, float]]:
    """Measure how long one draw of some files takes."""
    return [(number, halves.seconds_of_one(*_read(question, submission))) for number, submission in submissions]


def _draw(
    question: Question, number: int, tasks: Sequence[tuple[int, tuple[Submission, range]]]
) -> list[tuple[int, Floats]]:
    """Score files on some of so many half-samples; behind the last one stands what a file says of each item."""
    answers = []
    for key, (submission, numbers) in tasks:
        asked, frame = _read(question, submission)
        draws = halves.scores(asked, frame, numbers)
        if numbers.stop == number:
            draws = np.append(draws, _fingerprint(asked, frame))
        answers.append((key, draws))
    return answers


def _fingerprint(asked: halves.Asked, submission: pd.DataFrame) -> Floats:
    """Hash what a file says of each item, in numbers that are floats without rounding."""
    solution: Any = asked.solution
    items = solution.items_of(asked.part, asked.column)
    row_id = solution.arguments["row_id_column_name"]
    of_row = items.of_row
    if solution.metric.complete_submission and row_id in submission and row_id in solution.frame:
        known = pd.Series(of_row, index=ids.texts(solution.frame[row_id])).groupby(level=0).first()
        of_row = known.reindex(ids.texts(submission[row_id]), fill_value=-1).to_numpy()
    hashes = pd.util.hash_pandas_object(submission.astype(str), index=False).to_numpy()
    sums = np.zeros(len(items.stratum) + 1, dtype=np.uint64)  # the last one is for rows of no item
    if len(of_row) == len(hashes):
        np.add.at(sums, of_row, hashes)
    return (sums[:-1] >> np.uint64(32)).astype(np.float64)


# ---- In the command ---------------------------------------------------------------------------------------


def of_board(
    question: Question,
    submissions: Sequence[Submission],
    scored: Mapping[int, Scored],
    prizes: Prizes,
    number: int | None,
    folder: Path,
    workers: Workers,
) -> Halves:
    """Draw the scores of the chosen files on half-samples, so many or as many as fit into ten minutes.

    ``scored`` has what became of the chosen files by their numbers, in the order of the board.
    """
    items = solution_of(question.job).items_of(question.part, question.column)
    rows = Rows(range(len(items.stratum)))
    if len(rows.items) < FEWEST_ITEMS:
        few = Doubt(Reason.FEW_ITEMS, len(rows.items))
        return Halves(halves.MOST_DRAWS if number is None else number, [], rows, str(few))
    chosen = passes.as_scored(submissions, scored)
    if number is None:
        number, doubt = _number_of(question, chosen, folder, workers)
        if not number:
            return Halves(0, [], rows, str(doubt))
    drawn = _draws_of(question, chosen, number, folder, workers)
    if drawn is None:
        why = "the draws of some files are not in the store, so the submissions have to be ranked once more"
        return Halves(number, [], rows, why)
    scores = {at: (each.scores or {})[question.part] for at, each in scored.items()}
    centered = {at: halves.centered(score, drawn[at][:number]) for at, score in scores.items()}
    details = [_detail(scores[at], one, drawn[at][number:]) for at, one in centered.items()]
    doubt = _doubt_of_board([one.doubt for one in centered.values()], prizes)
    return Halves(number, [] if doubt else details, rows, str(doubt or ""))


def _detail(score: float, drawn: halves.Centered, fingerprint: Floats) -> Detail:
    """Collect what a board asks about a file."""
    number = len(fingerprint)
    return Detail(
        measures=np.array([score]),
        scores=Scores(drawn.draws, drawn.draws, drawn.draws),
        reaction=Reaction(np.ones(1), np.array([number])),
        doubt=drawn.doubt,
        influence=np.ones(number, dtype=np.float32),
        variants={},
        fingerprint=fingerprint.astype(np.uint32),
    )


def _doubt_of_board(doubts: Sequence[Doubt | None], prizes: Prizes) -> Doubt | None:
    """Say why nothing can be said about a board, or None.

    The metric fails too often for a file, or its draws are far from the score of a team at a prize or of most.
    """
    failed = [doubt for doubt in doubts if doubt is not None and doubt.reason is Reason.FAILED]
    if failed:
        return max(failed, key=operator.attrgetter("share"))
    doubted = [doubt for doubt in doubts if doubt is not None]
    at_prizes = [row for row in prizes.may_win[: prizes.number + 1] if row < len(doubts)]
    of_prizes = [doubts[row] for row in at_prizes if doubts[row] is not None]
    return doubted[0] if of_prizes or len(doubted) * 2 > len(doubts) else None


def _number_of(
    question: Question, chosen: dict[int, Submission], folder: Path, workers: Workers
) -> tuple[int, Doubt | None]:
    """Find out how many draws fit, once for each set of files: the answer is kept in the store."""
    context = sha256(repr([question.context(0), sorted(each.digests for each in chosen.values())]).encode())
    name = entry_name(context, "")
    if (entry := store.load(folder, name)) is not None:
        return int(store.header_of(entry)["draws"]), None
    distinct = {file.digests: file for file in chosen.values()}
    timed = dict(enumerate(list(distinct.values())[:TIMED]))
    if not all(each.path for each in timed.values()):
        return 0, Doubt(Reason.TOO_SLOW)
    work = functools.partial(_time, question)
    times = dict(passes.finished(workers, work, [[each] for each in timed.items()]))
    seconds = sum(times.values()) / len(times) * len(distinct)
    number = halves.number_of_draws(seconds, workers.number)
    if not number:
        return 0, halves.too_slow(seconds, workers.number)
    store.save(folder, name, store.encode({"context": context, "sha256": "", "draws": number}, None))
    return number, None


def _draws_of(
    question: Question, chosen: dict[int, Submission], number: int, folder: Path, workers: Workers
) -> dict[int, Floats] | None:
    """Load or compute the draws of files, each followed by its fingerprint; None if a file cannot be read."""
    context = question.context(number)
    drawn: dict[str, Floats] = {}  # by the hashes of the files
    distinct = {file.digests: file for file in chosen.values()}
    for digests in distinct:
        entry = store.load(folder, entry_name(context, digests))
        if entry is not None and (kept := store.decode(entry)) is not None:
            drawn[digests] = kept[:, 0]
    missing = [file for digests, file in distinct.items() if digests not in drawn]
    if not all(file.path for file in missing):
        return None
    # So many pieces of each file that every worker has several.
    pieces = halves.pieces(number, workers.number * TASKS_PER_WORKER // max(1, len(missing)))
    tasks = [[(at * number + each.start, (file, each))] for at, file in enumerate(missing) for each in pieces]
    waiting: list[dict[int, Floats]] = [{} for _ in missing]
    work = functools.partial(_draw, question, number)
    for key, answer in passes.finished(workers, work, tasks, "scoring halves of the items"):
        at, first = divmod(key, number)
        waiting[at][first] = answer
        if len(waiting[at]) == len(pieces):
            digests = missing[at].digests
            drawn[digests] = np.concatenate([waiting[at].pop(each.start) for each in pieces])
            header = {"context": context, "sha256": digests}
            entry = store.encode(header, drawn[digests][:, np.newaxis])
            store.save(folder, entry_name(context, digests), entry)
    return {at: drawn[file.digests] for at, file in chosen.items()}
