"""What chance may have done to the score of any metric: score halves of the items, and see how scores differ.

A metric with ``score()`` alone says nothing about single items. So it is called again on *half-samples*: half
of the items of each part, drawn without replacement, in both tables. Unlike in a bootstrap, nothing is
repeated, so the tables are such as the metric gets for the Public part. A mean varies over half-samples as
much as over new items: the variance of a mean of n/2 of n items is (1 − 1/2)·σ²/(n/2) = σ²/n (W. Cochran,
*Sampling Techniques*, 1977, theorem 2.2). The draws are moved so that their mean is the score.

Each draw depends on the seed and its own number alone, and all submissions get the same ones. So any process
can compute any of them.
"""

import functools
import itertools
import math
import os
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from podium.child.workers import alone, nothing, spread, start_workers
from podium.common import progress
from podium.common.arrays import Bools, Floats, Ints
from podium.common.errors import ToolError
from podium.metric.contract import PreparedSolution, ScoredSubmission
from podium.statistics.doubts import FEWEST_ITEMS, Doubt, Reason

FEWEST_DRAWS, MOST_DRAWS = 200, 1000  # if so few do not fit into the time, nothing is said
SECONDS = 600.0  # that draws may take, unless their number is given
MOST_FAILED = 0.05  # of the draws
FARTHEST = 0.25  # standard deviations between the score and the mean of the draws
# On quarters of the items, a score that depends on a fixed number of the best ones is farther away.
QUARTERS, FARTHEST_ON_QUARTERS = 50, 0.75
FEWEST_DECIDING = 4.0  # items, told by the kurtosis of the draws
CERTAIN = 3.0  # standard errors of that kurtosis
ROUNDING = 1e-9
TRIED = 3  # draws that are timed
AT_ONCE = 100  # draws in one task, in which a metric may meet what it did for an earlier one
SECONDS_TO_START = 10.0  # of work for which no process is started, which loads all libraries again
WHOLE = "All"  # the whole solution
STREAM = 6  # of random numbers


class Items(NamedTuple):
    """The items of a part of a solution."""

    of_row: Ints  # the item of each row of the solution, or -1 for a row of another part
    stratum: Ints  # the part to which each item belongs; half of each is drawn


def half(items: Items, seed: int, number: int, parts: int = 2) -> Bools:
    """Draw half of the items, or another part of so many, and tell which rows of the solution are theirs.

    Of an odd number of items the draw has, at random, one item more or less than half.
    """
    random = np.random.default_rng([seed, STREAM, number])
    order = random.permutation(len(items.stratum))
    is_kept = np.zeros(len(order) + 1, dtype=bool)  # the last one is for rows of other parts
    for stratum in range(int(items.stratum.max(initial=0)) + 1):
        members = order[items.stratum[order] == stratum]
        is_kept[members[: (len(members) + int(random.integers(parts))) // parts]] = True
    return is_kept[items.of_row]


class Asked(NamedTuple):
    """Which scores of half-samples are asked for."""

    solution: PreparedSolution
    part: str
    column: str  # rows with the same value in it stay together; with "", those with the same id
    seed: int


class Piece(NamedTuple):
    """Some draws that are made in one task."""

    parts: int  # two for halves of the items, four for quarters
    numbers: range


def scores(asked: Asked, submission: pd.DataFrame, numbers: Sequence[int], parts: int = 2) -> Floats:
    """Score a submission on the half-samples with some numbers; a draw that raises an error is NaN."""
    items = asked.solution.items_of(asked.part, asked.column)
    drawn = np.full(len(numbers), np.nan)
    for at, number in enumerate(numbers):
        try:
            kept = half(items, asked.seed, number, parts)
            drawn[at] = asked.solution.score_some(submission, asked.part, kept)
        except ToolError:  # a half may lack a class, for example
            continue
    drawn[~np.isfinite(drawn)] = np.nan
    return drawn


def seconds_of_one(asked: Asked, submission: pd.DataFrame) -> float:
    """Measure how long one draw takes, as the shortest of a few, because libraries load parts of them late."""
    times = [time.perf_counter()]
    for number in range(TRIED):
        scores(asked, submission, [number])
        times.append(time.perf_counter())
    return min(end - start for start, end in itertools.pairwise(times))


def number_of_draws(seconds: float, processes: int) -> int:
    """Find out how many draws fit into the time, from the seconds that one takes; 0 if there would be too few.

    >>> number_of_draws(0.03, 2), number_of_draws(2.0, 2), number_of_draws(9.0, 2)
    (1000, 600, 0)
    """
    number = min(MOST_DRAWS, int(SECONDS * processes / max(seconds, 1e-9)))
    return number - number % 100 if number >= FEWEST_DRAWS else 0


def too_slow(seconds: float, processes: int) -> Doubt:
    """Say how many minutes the fewest draws would take."""
    return Doubt(Reason.TOO_SLOW, math.ceil(FEWEST_DRAWS * seconds / processes / 60))


NOTHING: Floats = np.empty(0)


class Centered(NamedTuple):
    """Draws of a score, (r,), whose mean is the score."""

    draws: Floats  # NaN where a draw failed
    doubt: Doubt | None  # why they say nothing
    drawn: Floats = NOTHING  # the draws before they were moved
    quarters: Floats | None = None  # those of quarters of the items


def centered(score: float, drawn: Floats, quarters: Floats | None = None) -> Centered:
    """Move draws so that their mean is the score, and say why they, or those of quarters, say nothing."""
    known = drawn[np.isfinite(drawn)]
    if len(known) < (1 - MOST_FAILED) * len(drawn) or not len(known):
        return Centered(drawn, Doubt(Reason.FAILED, share=1 - len(known) / max(len(drawn), 1)), drawn, quarters)
    looks = [(FARTHEST, known)]
    if quarters is not None and np.isfinite(quarters).any():
        looks.append((FARTHEST_ON_QUARTERS, quarters[np.isfinite(quarters)]))
    rounding = ROUNDING * max(abs(score), 1.0)
    is_far = any(
        abs(float(draws.mean()) - score) > max(farthest * float(known.std()), rounding)
        for farthest, draws in looks
    )
    doubt = Doubt(Reason.FAR) if is_far else _few_decide(known)
    return Centered(drawn - known.mean() + score, doubt, drawn, quarters)


def doubt_of_difference(value: float, mine: Centered, theirs: Centered) -> Doubt | None:
    """Say why draws say nothing about a difference, whose own distance from its draws counts, or None.

    What moves both scores on halves of the items, as where few items leave a group too small, is not in it.
    """
    if mine.quarters is None or theirs.quarters is None or not len(mine.drawn):
        return mine.doubt or theirs.doubt  # nothing was drawn
    return centered(value, mine.drawn - theirs.drawn, mine.quarters - theirs.quarters).doubt


def _few_decide(draws: Floats) -> Doubt | None:
    """Doubt draws if few items decide them, as where errors have heavy tails.

    Each item is in a half or not, as a coin falls. So the excess kurtosis of draws is −2·Σg⁴/(Σg²)² for what
    the items add, g, and −2/k if k items decide alike.
    """
    deviations = draws - draws.mean()
    variance = float((deviations**2).mean())
    if variance <= (ROUNDING * max(1.0, float(np.abs(draws).max()))) ** 2:
        return None
    excess = float((deviations**4).mean()) / variance**2 - 3
    if excess >= -max(2 / FEWEST_DECIDING, CERTAIN * math.sqrt(24 / len(draws))):
        return None
    return Doubt(Reason.FEW_ITEMS, round(-2 / excess))


def pieces(number: int) -> list[range]:
    """Cut the numbers of draws into tasks, which do not depend on who does them."""
    return [range(number)[first : first + AT_ONCE] for first in range(0, number, AT_ONCE)]


def of_submissions(
    asked: Asked, evaluations: Sequence[ScoredSubmission], number: int | None, jobs: int
) -> list[Centered]:
    """Draw the scores of submissions on so many half-samples, or on as many as fit into ten minutes."""
    items = len(asked.solution.items_of(asked.part, asked.column).stratum)
    if items < FEWEST_ITEMS:
        return [Centered(np.empty(0), Doubt(Reason.FEW_ITEMS, items)) for _ in evaluations]
    time_one, first = functools.partial(seconds_of_one, asked), evaluations[0].submission
    seconds = time_one(first) if asked.solution.metric.is_built_in else alone(time_one, first)
    seconds, processes = seconds * len(evaluations), jobs or os.cpu_count() or 1
    if number is None and not (number := number_of_draws(seconds, processes)):
        return [Centered(np.empty(0), too_slow(seconds, processes)) for _ in evaluations]
    wanted = [Piece(2, each) for each in pieces(number)] + [Piece(4, each) for each in pieces(QUARTERS)]
    drawn = [each.drawn.setdefault((asked.part, asked.column, asked.seed), {}) for each in evaluations]
    missing = [
        Task(each.submission, piece, at)
        for at, each in enumerate(evaluations)
        for piece in wanted
        if piece not in drawn[at]
    ]
    jobs = processes if seconds * number >= SECONDS_TO_START else 1
    ready = None if asked.solution.metric.is_built_in else nothing
    title = "scoring parts of the items"
    with start_workers(jobs, len(missing), ready=ready) as workers, progress.shown(title) as show:
        answers = spread(workers, functools.partial(_draw, asked), missing)
        for done, (task, answer) in enumerate(answers, 1):
            if isinstance(answer, Exception):
                raise answer
            drawn[task.at][task.piece] = answer
            show(done, len(missing))
    draws = (np.concatenate([of_one[piece] for piece in wanted]) for of_one in drawn)
    return [
        centered(each.scores[asked.part], *np.split(of_one, [number]))
        for each, of_one in zip(evaluations, draws)
    ]


class Task(NamedTuple):
    """A piece of the draws of a submission."""

    submission: pd.DataFrame
    piece: Piece
    at: int  # the place of the submission among those that are asked for


def _draw(asked: Asked, task: Task) -> Floats:
    """Score a submission on some halves or quarters of the items, in a worker."""
    return scores(asked, task.submission, task.piece.numbers, task.piece.parts)
