"""What chance may have done to a board of a metric with ``score()`` alone.

Its chosen files are read once more and scored on halves of the items (`podium.statistics.halves`). These draws
are kept in the store, under a hash of everything on which they depend. Their number is fixed before the first
one. So an interrupted run goes on where it stopped, and another run or a cluster gives the same bits.
"""

import dataclasses
import functools
import math
import operator
import sys
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd

from podium.common.arrays import Floats, Ints
from podium.common.options import as_option
from podium.common.wording import counted
from podium.ranking import store
from podium.ranking.examining import MOST_TEAMS, Detail, Examined, How
from podium.ranking.job import Job, frame_of, sha256
from podium.ranking.jury import Prizes
from podium.ranking.passes import Scored
from podium.ranking.questions import Pool
from podium.ranking.submissions import Submission
from podium.scoring.alignment import answers_for
from podium.scoring.evaluating import Solution
from podium.statistics import Doubt, Reason, halves
from podium.statistics.doubts import FEWEST_ITEMS, Reaction, Units
from podium.statistics.population import Scores
from podium.tables import ids
from podium.tables.sameness import row_hashes

SECONDS_WORTH_TELLING = 30.0  # of work, of which is said beforehand how long it takes
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


# ---- In a worker ------------------------------------------------------------------------------------------


def _read(how: How, solution: Solution, submission: Submission) -> tuple[halves.Asked, pd.DataFrame]:
    """Read a chosen file again, which must not have changed."""
    answers, _ = answers_for(solution, frame_of(solution, submission))
    return halves.Asked(solution, how.part, how.column, how.seed), answers


def _time(how: How, solution: Solution, submissions: Sequence[Submission]) -> list[float]:
    """Measure how long one draw of some files takes."""
    return [halves.seconds_of_one(*_read(how, solution, file)) for file in submissions]


def _draw(how: How, solution: Solution, tasks: Sequence[tuple[Submission, range]]) -> list[Floats]:
    """Score files on some of the half-samples; behind the last one stands what a file says of each item."""
    results = []
    for submission, numbers in tasks:
        asked, frame = _read(how, solution, submission)
        draws = halves.scores(asked, frame, numbers)
        if numbers.stop == how.resamples:
            draws = np.append(draws, _fingerprint(how, solution, frame))
        results.append(draws)
    return results


def _fingerprint(how: How, solution: Solution, submission: pd.DataFrame) -> Floats:
    """Hash what a file says of each item, in numbers that are floats without rounding."""
    items = solution.items_of(how.part, how.column)
    row_id = solution.arguments["row_id_column_name"]
    of_row = items.of_row
    if solution.metric.complete_submission and row_id in submission and row_id in solution.frame:
        known = pd.Series(of_row, index=ids.texts(solution.frame[row_id])).groupby(level=0).first()
        of_row = known.reindex(ids.texts(submission[row_id]), fill_value=-1).to_numpy()
    hashes = row_hashes(pd.DataFrame({name: ids.texts(column) for name, column in submission.items()}))
    sums = np.zeros(len(items.stratum) + 1, dtype=np.uint64)  # the last one is for rows of no item
    if len(of_row) == len(hashes):
        np.add.at(sums, of_row, hashes)
    return (sums[:-1] >> np.uint64(32)).astype(np.float64)


# ---- In the command ---------------------------------------------------------------------------------------


def of_board(
    pool: Pool,
    how: How,
    is_fixed: bool,
    files: Sequence[Submission],
    chosen: Sequence[Scored],
    prizes: Prizes,
) -> Examined:
    """Draw the scores of the files that count on half-samples, in the order of the board.

    There are as many draws as `how` says or, unless their number `is_fixed`, as many as fit into ten minutes.
    """
    files, items = files[:MOST_TEAMS], len(pool.solution.items_of(how.part, how.column).stratum)
    units = Units(Rows(range(items)))
    if not how.resamples:
        return Examined(0, [], units)
    if items < FEWEST_ITEMS:
        few = Doubt(Reason.FEW_ITEMS, items)
        return Examined(how.resamples if is_fixed else halves.MOST_DRAWS, [], units, silence=str(few))
    if not is_fixed:
        number, doubt = _number_of(pool, how, files)
        if not number:
            cure = f"{as_option('resamples', halves.FEWEST_DRAWS)} draws them"
            warnings.warn(f"{doubt}, so nothing is said about chance: {cure}", stacklevel=2)
            return Examined(0, [], units)
        how = how._replace(resamples=number)
    drawn = _draws_of(pool, how, files)
    number = how.resamples
    scores = [(each.scores or {})[how.part] for each in chosen]
    centered = [halves.centered(score, of_file[:number]) for score, of_file in zip(scores, drawn)]
    details = [_detail(*each) for each in zip(scores, centered, (of_file[number:] for of_file in drawn))]
    doubt = _doubt_of_board([one.doubt for one in centered], prizes)
    return Examined(number, [] if doubt else details, units, silence=str(doubt or ""))


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


def _context(job: Job, how: How) -> str:
    """A hash of everything beside the file on which the draws depend."""
    return sha256(repr((job.context, how.part, how.column, how.seed, how.resamples)).encode())


def _number_of(pool: Pool, how: How, files: Sequence[Submission]) -> tuple[int, Doubt | None]:
    """Find out how many draws fit, once for each set of files: the answer is kept in the store."""
    kept = [_context(pool.job, how._replace(resamples=0)), sorted(each.digests for each in files)]
    context = sha256(repr(kept).encode())
    if entry := pool.load(store.name_of(context, "")):
        return int(entry.header["draws"]), None
    distinct = list({file.digests: file for file in files}.values())
    timed = distinct[:TIMED]
    times = dict(pool.one_by_one(functools.partial(_time, how), dict(enumerate(timed))))
    seconds = sum(times.values()) / len(times) * len(distinct)
    number = halves.number_of_draws(seconds, pool.workers.number)
    if not number:
        return 0, halves.too_slow(seconds, pool.workers.number)
    _say_how_long(seconds * number / pool.workers.number, number, len(distinct))
    header = {"context": context, "sha256": "", "draws": number}
    store.save(pool.store, store.encode(header))
    return number, None


def _say_how_long(seconds: float, number: int, files: int) -> None:
    """Say before long work how long it will take, and how to do without it."""
    if seconds >= SECONDS_WORTH_TELLING:
        print(
            f"scoring {counted(files, 'file')} on {number:,} halves of the items takes about "
            f"{counted(math.ceil(seconds / 60), 'minute')}; {as_option('resamples', 0)} leaves it out",
            file=sys.stderr,
            flush=True,
        )


def _draws_of(pool: Pool, how: How, files: Sequence[Submission]) -> list[Floats]:
    """Load or compute the draws of files, each followed by its fingerprint."""
    context, number = _context(pool.job, how), how.resamples
    drawn: dict[str, Floats] = {}  # by the hashes of the files
    distinct = {file.digests: file for file in files}
    for digests in distinct:
        entry = pool.load(store.name_of(context, digests))
        if entry and entry.statistics is not None:
            drawn[digests] = entry.statistics[:, 0]
    missing = [file for digests, file in distinct.items() if digests not in drawn]
    pieces = halves.pieces(number)
    tasks = {at * number + each.start: (file, each) for at, file in enumerate(missing) for each in pieces}
    waiting: list[dict[int, Floats]] = [{} for _ in missing]
    draw = functools.partial(_draw, how)
    for key, result in pool.one_by_one(draw, tasks, "scoring halves of the items"):
        at, first = divmod(key, number)
        waiting[at][first] = result
        if len(waiting[at]) == len(pieces):
            digests = missing[at].digests
            drawn[digests] = np.concatenate([waiting[at].pop(each.start) for each in pieces])
            header = {"context": context, "sha256": digests}
            store.save(pool.store, store.encode(header, drawn[digests][:, np.newaxis]))
    return [drawn[file.digests] for file in files]
