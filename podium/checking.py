"""Hold a metric to the contract: one list of checks, each a small function with a name.

A check looks at one thing and yields a `Finding` for each slip, or nothing. It looks at a scored submission and
tries the metric with it once more, in this process. `findings` runs all checks, for ``podium check``. `hold`
runs the quick ones, and every command calls it before it shows the first number of a metric that is not
podium's own. What can be seen without scoring again is in `podium.demands`.

To add a check, write a function that takes an evaluation and yields findings, and add it to `CHECKS`. A check
that needs a process of its own, or only the text of a file, belongs to `podium.hosting.kaggle.acceptance`. It
makes findings of the same class.
"""

import contextlib
import dataclasses
import inspect
import math
import time
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.contract import REQUIRED, Metric
from podium.demands import (
    AGAIN,
    COLUMNS,
    COMPANION,
    DIRECTION,
    FINITE,
    PARAMETERS,
    STATISTICS,
    Demand,
    Finding,
    Level,
    demand,
    failure,
    first_unmet,
    made_submission,
    note,
    where,
)
from podium.errors import HostError, MetricError, SubmissionRejected, ToolError
from podium.guard import is_refusal
from podium.scoring import Evaluation

SECONDS_FOR_PARAMETERS = 30.0  # for trying parameters with other values
CLEARLY_WORSE = 1e-9  # a difference between two scores

Floats = npt.NDArray[np.float64]

# ---- What a scored submission shows ------------------------------------------------------------------------


def statistics_repeat(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the statistics are the same for a second time, and for rows in another order."""
    place = f"{evaluation.solution.metric.path.name}: statistics(): expected the same numbers"
    submission = evaluation.submission
    for rows, when, cure in (
        (
            submission,
            "whenever it is called with the same submission, found others the second time",
            "draw no random numbers, or draw them with a fixed seed",
        ),
        (
            submission.iloc[::-1],
            "whatever the order of the submission's rows, found others for the rows in reverse",
            "match rows by their ids",
        ),
    ):
        numbers = evaluation.prepared.statistics(rows)
        if not np.array_equal(_numbers(evaluation), numbers, equal_nan=True):
            yield failure(STATISTICS, f"{place} {when}; {cure}")
            return


def repeats(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that a metric gives the same number again, after it has scored another submission in between."""
    metric = evaluation.solution.metric
    frame, answers = evaluation.solution.tables(evaluation.submission)
    first = evaluation.score if evaluation.statistics is None else _score(evaluation, (frame, answers))
    other = _with_answers_exchanged(answers, evaluation.solution.arguments["row_id_column_name"])
    with contextlib.suppress(ToolError):  # The metric may refuse these answers.
        _score(evaluation, (frame, other))
    again = _score(evaluation, (frame, answers))
    if not _same(first, again):
        yield failure(
            AGAIN,
            f"{where(metric)}: expected the same number whenever it is called with the same tables, found "
            f"{first!r} and then {again!r}; use no random numbers, no clock, and nothing that an earlier call "
            "left",
        )


def ignores_order(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that a score without statistics does not depend on the order of rows."""
    if evaluation.statistics is not None:
        return
    metric = evaluation.solution.metric
    frame, answers = evaluation.solution.tables(evaluation.submission)
    reverse = frame.iloc[::-1].reset_index(drop=True), answers.iloc[::-1].reset_index(drop=True)
    try:
        backward = _score(evaluation, reverse)
    except ToolError:
        return  # The metric may rightly refuse rows in another order.
    score = evaluation.score
    if np.isfinite(score) and not np.isclose(backward, score, rtol=1e-6, atol=1e-9):
        yield note(
            AGAIN,
            f"{where(metric)}: the score depends on the order of the rows: {score:.6f}, and {backward:.6f} "
            "with the rows of both tables in reverse. Match rows by their ids, unless the order has a meaning",
        )


def is_finite(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the score is a finite number; where there are statistics, `measures_stack` does so."""
    if evaluation.statistics is None and not np.isfinite(evaluation.score):
        yield note(
            FINITE,
            f"{where(evaluation.solution.metric)}: expected one finite float, found {evaluation.score}, which "
            "platforms refuse",
        )


def numbers_are_finite(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that all statistics are finite numbers."""
    place = f"{evaluation.solution.metric.path.name}: statistics()"
    are_finite = bool(np.isfinite(_numbers(evaluation)).all())
    return first_unmet(STATISTICS, place, [(are_finite, "finite floats", "numbers that are not finite")])


def measures_stack(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that ``measures`` gives finite scores of the right shape, for one sum and for several at once."""
    place = f"{evaluation.solution.metric.path.name}: measures()"
    sums = statistics.sums(_numbers(evaluation), evaluation.prepared.groups)
    return first_unmet(STATISTICS, place, _demands_on_measures(evaluation.prepared, sums))


def _demands_on_measures(prepared: Any, sums: Floats) -> Iterator[Demand]:
    values = np.asarray(prepared.measures(sums))
    stacked = np.asarray(prepared.measures(np.stack([sums, sums])))
    is_same = np.array_equal(stacked, np.stack([values, values]), equal_nan=True)
    expected = f"the measures of each of two stacked sums, shape (2, {len(values)})"
    yield is_same, expected, "other values than for one sum; let it work on the last two axes"
    yield bool(np.isfinite(values[0])), "a finite score from finite sums", values[0]


def sums_are_the_score(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that ``score()`` is the first measure of the sums to the last bit, on all items and every second
    one.
    """
    solution, prepared = evaluation.solution, evaluation.prepared
    for kept in (np.ones(len(prepared.items), dtype=bool), np.arange(len(prepared.items)) % 2 == 0):
        part, numbers = statistics.part(prepared, kept), _numbers(evaluation)[kept]
        measured = float(np.asarray(part.measures(statistics.sums(numbers, part.groups)))[0])
        try:
            scored = _score(evaluation, solution.tables(evaluation.submission, kept))
        except ToolError as problem:
            if not kept.all() and is_refusal(problem):
                continue  # Half a solution may lack what the metric needs, and the metric says so.
            raise
        if not _same(measured, scored):
            what = "all items" if kept.all() else f"{int(kept.sum())} of {len(kept)} items"
            yield failure(
                STATISTICS,
                f"{solution.metric.path.name}: expected score() to be, to the last bit, the first of the "
                f"measures of the sums; on {what} score() gives {scored!r} and the sums give {measured!r}"
                f"{_why_they_differ(scored, measured, bool(kept.all()))}",
            )
            return


def _why_they_differ(scored: float, measured: float, is_whole: bool) -> str:
    """Guess the slip that makes ``score`` and the sums differ, as the end of a sentence, or ""."""
    if math.isclose(scored, measured, rel_tol=1e-9):
        return "; add the items one by one, in their order, as np.cumsum does"
    return "" if is_whole else "; does item_of_row name the item of each row?"


def ignores_further_columns(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that a submission may carry further columns, such as the solution's own, and gains nothing by it.

    A metric that joins the two tables may take a column of the submission for one of the solution. Then a
    natural export ends in a KeyError, or a participant chooses the weights of the score.
    """
    frame, answers = evaluation.solution.tables(evaluation.submission)
    further = [name for name in frame.columns if name not in answers]
    if not further or not len(frame):
        return
    wider = answers.assign(**{str(name): np.resize(frame[name].to_numpy(), len(answers)) for name in further})
    expected = _score(evaluation, (frame, answers))
    place = f"{where(evaluation.solution.metric)}: expected the same score for a submission with"
    columns = f"further columns ({', '.join(map(str, further)):.60})"
    try:
        scored = _score(evaluation, (frame, wider))
    except ToolError as problem:
        if is_refusal(problem):
            return  # The metric says that it wants no other columns.
        found = problem.error if isinstance(problem, MetricError) else str(problem)
    else:
        if _same(expected, scored):
            return
        found = f"{scored!r} instead of {expected!r}"
    cure = "select the columns that you need before you join tables"
    yield failure(COLUMNS, f"{place} {columns}, found {found}; {cure}")


def knows_direction(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the truth, given as a submission, does not score worse than the submission."""
    truth, answers = evaluation.solution.tables(evaluation.submission)
    if evaluation.solution.metric.companion.perfect_submission or not {*answers} <= {*truth}:
        return  # `companion_submissions` tries the best submission that the companion makes.
    try:
        best = _score(evaluation, (truth, truth[list(answers)]))
    except ToolError:
        return
    if _is_worse(best, evaluation.score, evaluation.solution.higher_is_better):
        yield note(
            DIRECTION,
            f"the solution itself scores {best:.6f}, and the given submission {evaluation.score:.6f}, which "
            "counts as better: is that meant?",
        )


def empty_groups_are_left_out(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the score is defined if a group has no item, as in parts and when items are drawn."""
    prepared = evaluation.prepared
    sums = statistics.sums(_numbers(evaluation), prepared.groups)
    for number, (attribute, value) in enumerate(prepared.labels if len(prepared.labels) > 1 else []):
        without = sums.copy()
        without[number] = 0
        with np.errstate(all="ignore"):
            score = np.asarray(prepared.measures(without))[0]
        if np.isnan(score):
            yield note(
                STATISTICS,
                f"measures(): the score is NaN if no item of {attribute} = {value} is there, as on some draws: "
                "leave out a group whose sums are 0",
            )
            return


def measure_parameters_leave_statistics(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the statistics do not depend on the parameters in ``MEASURE_PARAMETERS``.

    A board is ranked again with other values of these parameters, from statistics that were stored. So each
    parameter is tried with `other_values`, unless the metric refuses them.
    """
    solution = evaluation.solution
    metric, arguments = solution.metric, solution.arguments
    assert metric.prepare is not None
    frame, _ = solution.tables(evaluation.submission)
    for name in metric.measure_parameters:
        value = arguments.get(name, inspect.signature(metric.score).parameters[name].default)
        for other in other_values(metric, name, value):
            try:
                others = metric.prepare(frame, **{**arguments, name: other}).statistics(evaluation.submission)
            except ToolError:
                continue  # The parameter has a range, and this value is outside of it.
            if not np.array_equal(_numbers(evaluation), others):
                yield failure(
                    STATISTICS,
                    f"{metric.path.name}: MEASURE_PARAMETERS: expected parameters on which the statistics do "
                    f"not depend, found {name!r}: they differ between {name}={value} and {name}={other}",
                )
                return


def parameters_matter(evaluation: Evaluation) -> Iterator[Finding]:
    """Try every parameter with other values. The contract has to hold for them, and the score should change."""
    solution = evaluation.solution
    end = time.monotonic() + SECONDS_FOR_PARAMETERS
    parameters = list(inspect.signature(solution.metric.score).parameters.values())[len(REQUIRED) :]
    late = []
    for parameter in parameters:
        name, value = parameter.name, solution.arguments.get(parameter.name, parameter.default)
        tried = []
        for other in other_values(solution.metric, name, value):
            if time.monotonic() > end:
                late.append(name)
                break
            try:
                changed = evaluation.under(**{name: other})
                slips = [] if changed.statistics is None else list(sums_are_the_score(changed))
            except (HostError, SubmissionRejected):
                continue  # The metric refuses the value.
            yield from (
                dataclasses.replace(slip, text=f"{slip.text} (with {name}={other!r})") for slip in slips
            )
            tried.append(other)
            if changed.score != evaluation.score:
                break
        else:
            if tried:
                values = ", ".join(map(repr, tried))
                yield Finding(PARAMETERS, Level.NOTE, f"{name} changes nothing (tried: {values})")
    if late:
        yield Finding(PARAMETERS, Level.SKIPPED, f"no time was left to try {', '.join(late)}")


def other_values(metric: Metric, name: str, value: Any) -> list[Any]:
    """List other values with which a parameter of ``score`` can be tried."""
    try:
        annotation = typing.get_type_hints(metric.score).get(name)
    except (NameError, TypeError):
        annotation = None
    allowed = typing.get_args(annotation)
    others: list[Any] = [None] if type(None) in allowed else []
    if isinstance(value, bool):
        return [not value, *others]
    if isinstance(value, int):
        return [value * 2 + 1, value // 2, *others]
    if isinstance(value, float):
        return [value * 2 + 1, value / 2, *others]
    if isinstance(value, str):
        return [f"{value}x", "", *others]
    common: dict[Any, list[Any]] = {float: [0.5, 2.0], int: [1, 2], bool: [True, False]}
    return [other for kind in allowed for other in common.get(kind, [])] if value is None else others


def companion_submissions(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the submissions that a companion makes get a score, and the perfect one the best score."""
    solution = evaluation.solution
    companion = solution.metric.companion
    truth, _ = solution.tables(evaluation.submission)
    scores = {}
    for make in (companion.sample_submission, companion.perfect_submission):
        if make is None:
            continue
        name = "perfect_submission" if make is companion.perfect_submission else "sample_submission"
        try:
            scores[name] = evaluation.of(made_submission(name, make(truth.copy()))).score
        except SubmissionRejected as problem:
            yield failure(
                COMPANION,
                f"companion.py: {name}(): expected a submission that gets a score, found one that is rejected: "
                f"{problem}",
            )
    best = scores.get("perfect_submission")
    if best is not None and _is_worse(best, evaluation.score, solution.higher_is_better):
        yield failure(
            COMPANION,
            f"companion.py: perfect_submission(): expected the best score, found {best:.6f} where the given "
            f"submission has {evaluation.score:.6f}; is higher_is_better() right?",
        )


def _numbers(evaluation: Evaluation) -> Floats:
    """The statistics of a submission, for a check that needs them."""
    assert evaluation.statistics is not None
    return evaluation.statistics


def _score(evaluation: Evaluation, tables: tuple[pd.DataFrame, pd.DataFrame]) -> float:
    """Call ``score()`` with these tables, as a platform does."""
    solution = evaluation.solution
    return solution.metric.score(*(table.copy() for table in tables), **solution.arguments)


def _with_answers_exchanged(answers: pd.DataFrame, row_id: str) -> pd.DataFrame:
    """Give each row of a submission the answers of another row."""
    exchanged: pd.DataFrame = answers.iloc[::-1].set_axis(answers.index)
    return exchanged.assign(**{row_id: answers[row_id]}) if row_id in answers else exchanged


def _same(first: float, second: float) -> bool:
    """Whether two scores are equal to the last bit, or both undefined."""
    return first == second or bool(np.isnan(first) and np.isnan(second))


def _is_worse(first: float, second: float, higher: bool) -> bool:
    """Whether a score is clearly worse than another one."""
    return (second - first if higher else first - second) > CLEARLY_WORSE


# ---- The list ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """One check in the list."""

    name: str  # what the metric should do; some checks share a name
    run: Callable[[Evaluation], Iterator[Finding]]
    needs_statistics: bool = False  # whether it looks at part two of the contract
    is_for_hosts: bool = False  # whether only podium check runs it, because it takes long


CHECKS = (
    Check(STATISTICS, numbers_are_finite, needs_statistics=True),
    Check(STATISTICS, statistics_repeat, needs_statistics=True),
    Check(AGAIN, repeats),
    Check(AGAIN, ignores_order),
    Check(FINITE, is_finite),
    Check(STATISTICS, measures_stack, needs_statistics=True),
    Check(STATISTICS, sums_are_the_score, needs_statistics=True),
    Check(STATISTICS, measure_parameters_leave_statistics, needs_statistics=True),
    Check(COLUMNS, ignores_further_columns),
    Check(DIRECTION, knows_direction),
    Check(STATISTICS, empty_groups_are_left_out, needs_statistics=True, is_for_hosts=True),
    Check(COMPANION, companion_submissions, is_for_hosts=True),
    Check(PARAMETERS, parameters_matter, is_for_hosts=True),
)


def before_first_number(evaluation: Evaluation) -> list[Finding]:
    """Run the quick checks up to the first failure, before anybody sees a number of a stranger's metric."""
    found: list[Finding] = []
    for check in _checks_of(evaluation):
        if not check.is_for_hosts:
            found.extend(check.run(evaluation))
        if any(finding.level is Level.FAIL for finding in found):
            break
    return found


def hold(evaluation: Evaluation) -> None:
    """Hold a metric to the contract with its first submission, before anybody sees a number.

    Podium's own metrics are not held here, because podium's tests do so.
    """
    solution = evaluation.solution
    if not (solution.metric.is_own or solution.is_held):
        demand(before_first_number(evaluation))
        solution.is_held = True


def findings(evaluation: Evaluation) -> list[Finding]:
    """Run all checks of the list. A name of which nothing is found has one finding that says so."""
    found: dict[str, list[Finding]] = {}
    for check in _checks_of(evaluation):
        of_name = found.setdefault(check.name, [])
        if all(finding.level is not Level.FAIL for finding in of_name):  # Later ones rely on earlier ones.
            for finding in check.run(evaluation):
                found.setdefault(finding.name, []).append(finding)
    return [finding for name, of_name in found.items() for finding in of_name or [Finding(name)]]


def _checks_of(evaluation: Evaluation) -> list[Check]:
    """List the checks that can be made of a submission, which may have no statistics."""
    return [check for check in CHECKS if evaluation.statistics is not None or not check.needs_statistics]
