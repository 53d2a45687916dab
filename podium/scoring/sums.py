"""Whether the score of a metric is the first measure of the sums of its statistics, up to rounding."""

import math

import numpy as np

from podium import statistics
from podium.common.arrays import Floats
from podium.common.errors import ToolError
from podium.metric.contract import Prepared
from podium.metric.guard import is_refusal
from podium.metric.shapes import STATISTICS, Finding, failure
from podium.scoring import evaluating
from podium.scoring.evaluating import Evaluation
from podium.scoring.trials import ROUNDING, same, score_of


def are_the_scores(evaluation: Evaluation) -> list[Finding]:
    """Check that what ``score()`` gave for each part is the first measure of the sums."""
    solution, numbers = evaluation.solution, _numbers(evaluation)
    for part, scored in evaluation.scores.items():
        prepared, what = solution.prepared[part], "all" if part == evaluating.ALL else f"the {part}"
        if found := _difference(evaluation, prepared, numbers[solution.items[part]], scored, what):
            return found
    return []


def are_the_score_of_half(evaluation: Evaluation) -> list[Finding]:
    """Check the same on every second item: the rows of each item must be those that its numbers are of."""
    solution, prepared = evaluation.solution, evaluation.prepared
    kept = np.arange(len(prepared.items)) % 2 == 0
    rows = solution.rows[evaluating.ALL].copy()
    rows[rows] = kept[prepared.item_of_row]
    try:
        scored = score_of(evaluation, solution.tables(evaluation.submission, rows))
    except ToolError as problem:
        if is_refusal(problem):
            return []  # Half a solution may lack what the metric needs, and the metric says so.
        raise
    half, what = statistics.part(prepared, kept), f"{int(kept.sum())} of {len(kept)}"
    hint = "; does item_of_row name the item of each row?"
    return _difference(evaluation, half, _numbers(evaluation)[kept], scored, what, hint)


def _difference(
    evaluation: Evaluation, prepared: Prepared, numbers: Floats, scored: float, what: str, hint: str = ""
) -> list[Finding]:
    """Tell that a score is not the first measure of the sums of some numbers."""
    sums, least = (statistics.sums(each, prepared.groups) for each in (numbers, np.abs(numbers)))
    moved = sums + ROUNDING * least * np.eye(sums.shape[-1])[:, np.newaxis]  # one column each
    with np.errstate(all="ignore"):
        measured, *others = np.asarray(prepared.measures(np.array([sums, *moved])))[:, 0].tolist()
    # Sums of numbers of both signs can be small where the numbers are not, and rounding is relative to these.
    rounding = np.nansum(np.abs(np.array(others) - measured))
    is_close = math.isclose(measured, scored, rel_tol=ROUNDING) or abs(measured - scored) <= rounding
    if is_close or same(measured, scored):
        return []
    text = (
        f"{evaluation.solution.metric.path.name}: expected score() to be, up to rounding, the first of the "
        f"measures of the sums; on {what} items score() gives {scored!r} and the sums give {measured!r}{hint}"
    )
    return [failure(STATISTICS, text)]


def _numbers(evaluation: Evaluation) -> Floats:
    """The statistics of a submission, for a check that needs them."""
    assert evaluation.statistics is not None
    return evaluation.statistics
