"""The verdict on a metric: the one list of what every command asks for.

A check looks at one thing and yields a `Finding` for each slip, or nothing. To add one, write a function that
takes a scored submission, and add it to `CHECKS` with the first `Use` that it is for. What can be seen without
a submission is in `podium.metric.shapes`. What needs the text of the file or a process of its own is told by
the platform that refuses it, in `podium.hosting.kaggle.acceptance`.
"""

import enum
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from podium.common.errors import CompanionError, ToolError
from podium.metric import adapted
from podium.metric.contract import Metric
from podium.metric.parameters import higher_is_better
from podium.metric.shapes import (
    AGAIN,
    BOTH_PARTS,
    COLUMNS,
    COMPANION,
    DIRECTION,
    FINITE,
    SIGNATURE,
    STATISTICS,
    TRUTH,
    Finding,
    Level,
    demand,
    failure,
    note,
    where,
)
from podium.scoring import sums, trials, truths
from podium.scoring.evaluating import Evaluation

Platform = Callable[[Evaluation], Iterable[Finding]]  # what a platform thinks of a metric


def parts_are_finite(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the score of every part is a finite number."""
    wrong = {part: score for part, score in evaluation.scores.items() if not math.isfinite(score)}
    if wrong:
        found = ", ".join(f"{score} in {part}" for part, score in wrong.items())
        place = where(evaluation.solution.metric)
        yield failure(FINITE, f"{place}: expected a finite float for every part of the solution, found {found}")


def explains(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the companion's explanation can be made; it is held to the contract where it is made."""
    try:
        _ = evaluation.explanation
    except CompanionError as problem:
        yield failure(COMPANION, str(problem))


def takes_row_ids(evaluation: Evaluation) -> Iterator[Finding]:
    """Tell how the name of the row ids reaches a metric whose parameters are not those of platforms."""
    return adapted.check_row_ids(evaluation.solution.metric)


class Use(enum.IntEnum):
    """What a verdict is for. Each use has the checks of those before it."""

    EACH = 0  # a submission is scored with a metric that was held to the contract before
    SCORE = 1  # a submission is scored for the first time
    KEEP = 2  # something is made that stays, such as a folder or a board
    CHECK = 3  # the host wants to know everything, which may take long


class Check(NamedTuple):
    """One check in the list."""

    name: str  # what the metric should do; some checks share a name, of which those below rely on those above
    run: Callable[[Evaluation], Iterable[Finding]]
    use: Use = Use.SCORE  # from which on it is made


CHECKS = (
    Check(SIGNATURE, takes_row_ids, Use.KEEP),
    Check(TRUTH, truths.has_no_empty_cells, Use.KEEP),
    Check(TRUTH, truths.keeps_classes_apart, Use.KEEP),
    Check(BOTH_PARTS, truths.names_its_parts, Use.KEEP),
    Check(AGAIN, trials.keeps_nothing),
    Check(AGAIN, trials.matches_by_ids),
    Check(STATISTICS, sums.are_the_scores, Use.EACH),
    Check(STATISTICS, sums.are_the_score_of_half),
    Check(FINITE, parts_are_finite, Use.EACH),
    Check(COLUMNS, trials.ignores_further_columns),
    Check(DIRECTION, trials.knows_direction),
    Check(COMPANION, explains, Use.CHECK),
)
QUIET = (SIGNATURE, TRUTH, BOTH_PARTS)  # a list of findings has no line that all is well there
# Podium's tests hold its own metrics to the contract, but not the data, on which these depend.
OF_DATA = (BOTH_PARTS, FINITE)


def verdict(evaluation: Evaluation, use: Use, platform: Platform | None = None) -> list[Finding]:
    """Tell what speaks for and against a metric, with a scored submission.

    Every command asks here, and none has a rule of its own about what a fit metric is. `platform` tells what a
    platform thinks of the file.
    """
    metric = evaluation.solution.metric
    said = says_direction(metric, evaluation.solution.arguments, use)
    if _fails(said):
        return said  # Other checks compare scores by it.
    of_name = {DIRECTION: said} if said else {}
    for check in CHECKS:
        has_all = check.name != STATISTICS or evaluation.statistics is not None
        if use < check.use or not has_all or (metric.is_built_in and check.name not in OF_DATA):
            continue
        if _fails(of_name.setdefault(check.name, [])):
            continue
        for finding in check.run(evaluation):
            of_name.setdefault(finding.name, []).append(finding)
        if _fails(of_name.get(AGAIN, ())):
            break  # Nothing can be learned from the scores of a metric that remembers something.
    passed = {name: [] if name in QUIET else [Finding(name)] for name in of_name}
    found = [each for name, those in of_name.items() for each in those or passed[name]]
    return found if platform is None or metric.is_built_in else [*found, *platform(evaluation)]


def _fails(found: Iterable[Finding]) -> bool:
    return any(finding.level is Level.FAIL for finding in found)


def says_direction(metric: Metric, arguments: Mapping[str, Any], use: Use) -> list[Finding]:
    """Ask whether higher is better, so that a slip there is known before the work and not at its end."""
    try:
        higher_is_better(metric, arguments)
    except ToolError as problem:
        return [failure(DIRECTION, str(problem))]
    if metric.direction is None and use >= Use.KEEP:
        return [note(DIRECTION, "higher is better is assumed; define higher_is_better()")]
    return []


def most_calls(metric: Metric) -> int:
    """How often the checks of a scored submission may call ``score``."""
    again, half = 2 * trials.MOST_TRIALS + 1, 1 if metric.prepare else 0
    return again + half + 1 + 4 + 1  # in another order, with further columns, and of the truth


def hold(evaluation: Evaluation) -> None:
    """Hold a metric to the contract with a submission, before anybody sees a number."""
    solution = evaluation.solution
    if not solution.metric.is_built_in:
        demand(verdict(evaluation, Use.EACH if solution.is_held else Use.SCORE))
        solution.is_held = True


def first_failure(found: Iterable[Finding]) -> str:
    """The text of the first failure, or "" if there is none."""
    return next((finding.text for finding in found if finding.level is Level.FAIL), "")
