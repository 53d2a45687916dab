"""From the files of a competition to a score, in three steps that every command takes.

    solution = pipeline.opened(metric, "solution.csv", parameters)
    submission, notices = pipeline.submitted(solution, "submission.csv")
    evaluation = pipeline.scored(solution, submission)

Give a table instead of a path if you have read the file already. Call `prepared` if you have all parameters,
and `unjudged` if the metric need not be checked. What only one command does, such as choosing essays or
drawing a part, stands between two of these steps. The steps call `podium.contest.reading` to read files,
`podium.scoring.evaluating` to prepare and score, and `podium.scoring.verdicts` to check the metric. No other
module calls `evaluating.prepare` and `evaluating.evaluate`.
"""

import copy
import functools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pandas as pd

from podium.child import limits
from podium.child.forked import CannotTravelError
from podium.child.workers import alone
from podium.common.errors import (
    CompanionError,
    ContractWarning,
    HostError,
    MetricError,
    SubmissionRejected,
    ToolError,
    UsageError,
)
from podium.common.wording import listed
from podium.contest import reading
from podium.metric.contract import Metric, Progress
from podium.metric.shapes import FINITE, ContractError, demand
from podium.scoring import evaluating, misfits, verdicts
from podium.scoring.alignment import comparable
from podium.scoring.evaluating import Evaluation, Solution
from podium.scoring.verdicts import Platform, Use
from podium.tables.files import Location

LONGEST_MESSAGE = 280  # of a rejection, in characters; longer ones are cut, as on Kaggle
PIPED = "-"  # the standard input, which cannot be read twice

Source = Location | pd.DataFrame  # a file, or what was read of it


def opened(
    metric: Metric,
    source: Source,
    parameters: dict[str, Any],
    show: Progress | None = None,
    submission: Source = PIPED,
    texts: Location | None = None,
) -> Solution:
    """Read and prepare a solution like `prepared`; an error says so if the two files are in the wrong order."""
    try:
        return prepared(metric, source, parameters, show, texts=texts)
    except HostError:
        if not any(isinstance(each, str) and each == PIPED for each in (source, submission)):
            _refuse_exchanged(metric, parameters, submission)
        raise


def prepared(
    metric: Metric,
    source: Source,
    parameters: dict[str, Any],
    show: Progress | None = None,
    part: str = "",
    texts: Location | None = None,
) -> Solution:
    """Read and prepare a solution, or one part of it, with exactly these parameters; add texts, if any."""
    table = source
    if not isinstance(table, pd.DataFrame):
        table = reading.read_solution(metric, table, parameters, texts)
    if part:
        table = evaluating.only_part(table, part)
    try:
        solution = evaluating.prepare(metric, table, parameters, show)
    except HostError as problem:
        if not {reading.SHAPE, reading.PARTLY} & set(table.attrs):
            raise
        raise HostError(reading.with_account(str(problem), table)) from problem
    solution.further.update({"part": part} if part else {})
    return solution


def submitted(
    solution: Solution, path: Location, probability: float | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Read a submission; the notices say which columns were read under other names."""
    given = reading.read_submission(solution.metric, path, solution.arguments)
    if not solution.metric.is_built_in:  # whose own columns tell
        reading.check_order([evaluating.USAGE] if len(solution.rows) > 1 else [], given.columns, path)
    table, notices = recognized(solution, given, probability)
    add_texts, row_id = solution.metric.companion.add_texts, solution.arguments["row_id_column_name"]
    if add_texts is not None and {row_id, "text"} <= set(solution.frame) and row_id in table:
        table = add_texts(table, solution.frame)
    if renamed := sorted(map(str, set(given) - set(table))):
        notices.append(f"platforms and podium rank refuse such names of columns: rename {listed(renamed)}")
    return table, notices


def recognized(
    solution: Solution, table: pd.DataFrame, probability: float | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Rename the columns of a submission that has those of another competition, with a notice for each."""
    recognize = solution.metric.companion.recognize
    if recognize is not None:
        return recognize(table, solution.arguments["row_id_column_name"], probability)
    if probability is not None:
        raise UsageError(f"--effectiveness: {solution.metric.path.name} does not judge effectiveness")
    return table, []


def scored(solution: Solution, submission: pd.DataFrame, show: Progress | None = None) -> Evaluation:
    """Score a submission for somebody who has the solution, and hold its metric to the contract."""
    with cured(solution, submission):
        evaluation = unjudged(solution, submission, show)
        verdicts.hold(evaluation)
        return evaluation


def scored_alone(solution: Solution, submission: pd.DataFrame, show: Progress | None = None) -> Evaluation:
    """Score a submission like `scored`, in a process of its own if the metric is a custom one."""
    if solution.metric.is_built_in:
        return scored(solution, submission, show)
    try:
        evaluation, warned = alone(functools.partial(_without_solution, solution), submission)
    except CannotTravelError:
        return scored(solution, submission, show)
    for each in warned:
        warnings.warn(each, stacklevel=2)
    vars(evaluation)["solution"] = solution
    solution.is_held = True
    return evaluation


def _without_solution(solution: Solution, submission: pd.DataFrame) -> tuple[Evaluation, list[Warning]]:
    """Score a submission within limits, and return its warnings, too, for a process that has the solution."""
    with warnings.catch_warnings(record=True) as warned, limits.within(limits.Limits()):
        evaluation = copy.copy(scored(solution, submission))
        _ = evaluation.of_constant  # which calls score(), and is kept
    vars(evaluation)["solution"] = None
    return evaluation, [each.message for each in warned if isinstance(each.message, Warning)]


def unjudged(solution: Solution, submission: pd.DataFrame, show: Progress | None = None) -> Evaluation:
    """Score a submission without checking its metric, which has been checked or is checked next."""
    return evaluating.evaluate(solution, submission, show)


def of_host(
    solution: Solution,
    submission: pd.DataFrame,
    name: str,
    platform: Platform | None = None,
    goes_to: str = "",
    use: Use = Use.KEEP,
) -> Evaluation:
    """Score a submission of the host, after the metric was checked with the solution and this submission."""
    with warnings.catch_warnings():
        if platform is not None:
            warnings.simplefilter("ignore")  # the host knows what the metric says about the host's own file
            warnings.simplefilter("always", ContractWarning)
        try:
            evaluation = unjudged(solution, submission)
            demand(verdicts.verdict(evaluation, use, platform), goes_to)
        except SubmissionRejected as problem:
            told = f"{str(problem).rstrip('.')}: {problem.for_host}" if problem.for_host else problem
            raise HostError(f"{name}: {told}") from None
        except ContractError as problem:
            if problem.finding.name != FINITE:
                raise
            raise HostError(f"{name}: {problem}") from None
    return evaluation


@contextmanager
def cured(solution: Solution, submission: pd.DataFrame) -> Iterator[None]:
    """Add to an error what is wrong with the submission, and what to write instead, if that can be seen.

    The metric's own message reveals nothing about the solution. What is added may do so, so the result is only
    for people who have the solution.
    """
    try:
        yield
    except (SubmissionRejected, MetricError, ContractError) as problem:
        rejected = _diagnosed(solution, submission, problem) or _compared(solution, submission, problem)
        if rejected is None:
            raise
        raise rejected from problem


def _diagnosed(solution: Solution, submission: pd.DataFrame, problem: ToolError) -> SubmissionRejected | None:
    """A rejection with what the companion says about it, followed by the metric's own message."""
    diagnose = solution.metric.companion.diagnose
    if diagnose is None or not isinstance(problem, SubmissionRejected):
        return None
    with suppress(CompanionError):  # The rejection matters more than what cannot be said of it.
        if (cure := diagnose(solution, submission)) is not None:
            return rejection(cure, problem)
    return None


def _compared(solution: Solution, submission: pd.DataFrame, problem: ToolError) -> SubmissionRejected | None:
    """A rejection that says how the two tables differ, if a metric refuses, fails, or gives no finite number.

    A message that the participant would read anyway comes first.
    """
    why = differences(solution, submission, problem)
    if not why:
        return None
    if not isinstance(problem, SubmissionRejected):
        return rejection(misfits.explanation(why), problem)
    return for_host(why, problem)


def for_host(why: Sequence[misfits.Misfit], problem: ToolError) -> SubmissionRejected:
    """Reject a submission in the same words, and tell the host how it differs from the solution."""
    rejected = SubmissionRejected(str(problem))
    rejected.for_host = misfits.explanation(why)
    if problem.for_host and misfits.are_other_rows(why):
        rejected.for_host += f"; {problem.for_host}"
    return rejected


def differences(solution: Solution, submission: pd.DataFrame, problem: ToolError) -> list[misfits.Misfit]:
    """How a submission that a custom metric refuses, or for which it fails, differs from the solution."""
    is_other = isinstance(problem, ContractError) and problem.finding.name != FINITE
    if solution.metric.is_built_in or is_other or isinstance(problem.__cause__, MemoryError):
        return []
    given = comparable(solution, submission)
    accepts = None if isinstance(problem, SubmissionRejected) else _accepts(solution)
    return misfits.found(solution, given, accepts)


def _accepts(solution: Solution) -> Callable[[pd.DataFrame], bool]:
    """Tell whether a metric takes a submission and gives a finite number."""

    def accepts(submission: pd.DataFrame) -> bool:
        try:
            return math.isfinite(unjudged(solution, submission).score)
        except ToolError:
            return False

    return accepts


def rejection(cure: str, problem: ToolError) -> SubmissionRejected:
    """Reject a submission with what to write instead, and then with the words of the metric."""
    says = problem.error if isinstance(problem, MetricError) else problem
    text = f"{cure}. The metric says: {says}"
    return SubmissionRejected(text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 1]}…")


def _refuse_exchanged(metric: Metric, parameters: dict[str, Any], submission: Source) -> None:
    """Raise an error if the `submission` is a solution and cannot be a submission."""
    if metric.prepare is None:
        return
    what = "the second table" if isinstance(submission, pd.DataFrame) else submission
    try:
        solution = prepared(metric, submission, parameters)
    except ToolError:
        return
    try:  # A table of empty predictions can be both, so it proves nothing.
        if not isinstance(submission, pd.DataFrame):
            submission = reading.read_submission(metric, submission, parameters)
        unjudged(solution, submission)
    except ToolError:
        raise HostError(f"give the solution first, then the submission: {what} is a solution") from None
