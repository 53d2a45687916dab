"""Trials: hold a metric to the contract by scoring again, and the one list of what every command asks for.

A check looks at one thing and yields a `Finding` for each slip, or nothing. To add one, write a function that
takes a scored submission, and add it to `CHECKS` with the first `Use` that it is for. What can be seen without
scoring again is in `podium.metric.shapes`. What needs the text of the file or a process of its own is told by
the platform that refuses it, in `podium.hosting.kaggle.acceptance`.
"""

import contextlib
import enum
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium import statistics
from podium.common.arrays import Bools, Floats
from podium.common.errors import CompanionError, MetricError, SubmissionRejected, ToolError
from podium.common.wording import counted, listed
from podium.metric import adapted, hosted
from podium.metric.contract import Metric, Prepared
from podium.metric.guard import is_refusal
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
from podium.scoring import evaluating
from podium.scoring.evaluating import Evaluation

MOST_COLUMN_TRIALS = 60  # of columns that a metric may not need
MOST_TRIALS = 3  # of a score that should be the same again
CLEARLY_WORSE = 1e-9  # a difference between two scores
ROUNDING = 1e-6  # relative to the sum of absolute values, also for numbers of single precision
STATELESS = "use no random numbers, no clock, and nothing that an earlier call left"

NAMES_OF_PARTS = ("usage", "split", "set", "part")  # of columns that may mean Usage

Tables = tuple[pd.DataFrame, pd.DataFrame]  # a solution and a submission, as score() gets them

Platform = Callable[[Evaluation], Iterable[Finding]]  # what a platform thinks of a metric

# ---- What a scored submission shows ------------------------------------------------------------------------


def keeps_nothing(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that nothing of an earlier call changes a score.

    The loaded metric scores the submission, then others, then the first ones again. The same file, loaded a
    second time, scores them in the reverse order, so none of them has the same calls before it.
    """
    metric, arguments = evaluation.solution.metric, evaluation.solution.arguments
    trials = _trials(evaluation)
    used = [(trial, _outcome(metric, trials[trial], arguments)) for trial in (*range(len(trials)), 0)]
    again = hosted.anew(metric)
    fresh = [_outcome(again, tables, arguments) for tables in reversed(trials)][::-1]
    for trial, (score, numbers) in [(0, (evaluation.score, evaluation.statistics)), *used]:
        first, first_numbers = fresh[trial]
        if score is not None and first is not None and not _same(first, score):
            yield failure(
                AGAIN,
                f"{where(metric)}: expected the same number whenever it is called with the same tables, found "
                f"{first!r} and then {score!r}; {STATELESS}",
            )
            return
        if first_numbers is None or numbers is None:
            continue
        if not np.array_equal(first_numbers, numbers, equal_nan=True):
            expected = "expected the same numbers whenever it is called with the same tables, found others"
            yield failure(AGAIN, f"{metric.path.name}: statistics(): {expected}; {STATELESS}")
            return


def _trials(evaluation: Evaluation) -> list[Tables]:
    """The submission, and others to be scored between two calls with it: one with the truth, and a half."""
    frame, answers = evaluation.solution.tables(evaluation.submission)
    row_id = evaluation.solution.arguments["row_id_column_name"]
    others = answers.iloc[::-1].set_axis(answers.index)
    kept = {row_id: answers[row_id]} if row_id in answers else {}
    if not len(frame) == len(answers) > 1:
        return [(frame, answers), (frame, others.assign(**kept))]
    columns: dict[str, Any] = {str(name): cells / 2 for name, cells in answers.select_dtypes("number").items()}
    columns |= {str(name): frame[name].to_numpy() for name in answers if name in frame}
    half = len(frame) // 2
    return [
        (frame, answers),
        (frame, others.assign(**columns | kept)),
        (frame.iloc[:half], answers.iloc[:half]),
    ]


def _outcome(
    metric: Metric, tables: Tables, arguments: Mapping[str, Any]
) -> tuple[float | None, Floats | None]:
    """The score and the statistics of two tables; None for each that there is not, or that is refused."""
    score, numbers = None, None
    with contextlib.suppress(ToolError):
        score = metric.score(*(table.copy() for table in tables), **arguments)
    if metric.prepare is not None:
        with contextlib.suppress(ToolError):
            numbers = metric.prepare(tables[0].copy(), **arguments).statistics(tables[1].copy())
    return score, numbers


def matches_by_ids(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that rows of a complete submission, which nobody brings into order, are matched by their ids."""
    metric = evaluation.solution.metric
    frame, answers = evaluation.solution.tables(evaluation.submission)
    if not metric.complete_submission:
        return
    with contextlib.suppress(ToolError):  # The metric may rightly refuse rows in another order.
        backward = _score(evaluation, (frame, answers.iloc[::-1].reset_index(drop=True)))
        if not np.isclose(backward, evaluation.score, rtol=ROUNDING, atol=CLEARLY_WORSE, equal_nan=True):
            yield note(
                AGAIN,
                f"{where(metric)}: the score depends on the order of a submission's rows: "
                f"{evaluation.score:.6f}, and {backward:.6f} with the last one first. Match rows by their ids, "
                "unless the order has a meaning",
            )


def parts_are_finite(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the score of every part is a finite number."""
    wrong = {part: score for part, score in evaluation.scores.items() if not math.isfinite(score)}
    if wrong:
        found = ", ".join(f"{score} in {part}" for part, score in wrong.items())
        place = where(evaluation.solution.metric)
        yield failure(FINITE, f"{place}: expected a finite float for every part of the solution, found {found}")


def measures_stack(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that ``measures`` gives the same for one sum and for several at once."""
    prepared = evaluation.prepared
    sums = statistics.sums(_numbers(evaluation), prepared.groups)
    values = np.asarray(prepared.measures(sums))
    if not np.array_equal(prepared.measures(np.stack([sums] * 2)), np.stack([values] * 2), equal_nan=True):
        yield failure(
            STATISTICS,
            f"{evaluation.solution.metric.path.name}: measures(): expected the measures of each of two stacked "
            f"sums, shape (2, {len(values)}), found other values than for one sum; let it work on the last two "
            "axes",
        )


def sums_are_the_scores(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that what ``score()`` gave for each part is the first measure of the sums, up to rounding."""
    solution, numbers = evaluation.solution, _numbers(evaluation)
    for part, scored in evaluation.scores.items():
        of_part = numbers[solution.items[part]]
        if text := _difference(evaluation, solution.prepared[part], of_part, scored):
            what = "all items" if part == evaluating.ALL else f"the {part} items"
            yield failure(STATISTICS, f"{text[0]} on {what} {text[1]}")
            return


def sums_are_the_score_of_half(evaluation: Evaluation) -> Iterator[Finding]:
    """Check the same on every second item: the rows of each item must be those that its numbers are of."""
    solution, prepared = evaluation.solution, evaluation.prepared
    kept = np.arange(len(prepared.items)) % 2 == 0
    try:
        rows = solution.rows[evaluating.ALL].copy()
        rows[rows] = kept[prepared.item_of_row]
        scored = _score(evaluation, solution.tables(evaluation.submission, rows))
    except ToolError as problem:
        if is_refusal(problem):
            return  # Half a solution may lack what the metric needs, and the metric says so.
        raise
    if text := _difference(evaluation, statistics.part(prepared, kept), _numbers(evaluation)[kept], scored):
        what = f"{int(kept.sum())} of {len(kept)} items"
        yield failure(STATISTICS, f"{text[0]} on {what} {text[1]}; does item_of_row name the item of each row?")


def _difference(
    evaluation: Evaluation, prepared: Prepared, numbers: Floats, scored: float
) -> tuple[str, str] | None:
    """Say how a score differs from the first measure of some sums, before and after what both are of."""
    sums = statistics.sums(numbers, prepared.groups)
    measured = float(np.asarray(prepared.measures(sums))[0])
    if _same(measured, scored) or math.isclose(measured, scored, rel_tol=ROUNDING):
        return None
    if abs(measured - scored) <= _rounding(prepared, numbers, sums, measured):
        return None
    expected = "expected score() to be, up to rounding, the first of the measures of the sums;"
    return (
        f"{evaluation.solution.metric.path.name}: {expected}",
        f"score() gives {scored!r} and the sums give {measured!r}",
    )


def _rounding(prepared: Prepared, numbers: Floats, sums: Floats, measured: float) -> float:
    """How far a measure moves if each of the sums does, by a tiny part of the sum of absolute values.

    Sums of numbers of both signs can be small where the numbers are not, and rounding is relative to these.
    """
    steps = ROUNDING * statistics.sums(np.abs(numbers), prepared.groups)
    moved = [sums + steps * (np.arange(steps.shape[-1]) == column) for column in range(steps.shape[-1])]
    with np.errstate(all="ignore"):
        measures = [float(np.asarray(prepared.measures(each))[0]) for each in moved]
    return float(np.nansum(np.abs(np.array(measures) - measured)))


def same_again(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that a second call gives the same score."""
    scored = None
    with contextlib.suppress(ToolError):
        tables = evaluation.solution.tables(evaluation.submission)
        scored = evaluation.solution.metric.score(*tables, **evaluation.solution.arguments)
    if scored is None or not _same(scored, evaluation.score):
        found = f"{evaluation.score!r} and then {'a rejection' if scored is None else repr(scored)}"
        expected = "expected the same score when it is called again, found"
        yield failure(AGAIN, f"{where(evaluation.solution.metric)}: {expected} {found}; {STATELESS}")


def ignores_further_columns(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that a submission may carry further columns, such as the solution's own, and gains nothing by it.

    A metric that joins the two tables may take a column of the submission for one of the solution. Then a
    participant chooses the truth, or the weights of the score.
    """
    frame, answers = evaluation.solution.tables(evaluation.submission)
    if not len(frame):
        return
    further = [str(name) for name in frame.columns if name not in answers]
    try:
        found = _gained(evaluation, frame[further], frame, answers) if further else None
    except SubmissionRejected:
        found = None  # The metric says that it wants no other columns.
    except ToolError as problem:
        error = problem.error if isinstance(problem, MetricError) else str(problem)
        yield note(
            COLUMNS,
            f"{where(evaluation.solution.metric)}: it does not score a submission with further columns "
            f"{_named(further)}: {error}; participants are not told why",
        )
        return
    if found is None:
        yield from _takes_the_place(evaluation, frame, answers)
        return
    expected, scored, columns = found
    place = (
        f"{where(evaluation.solution.metric)}: expected the same score for a submission with further columns"
    )
    text = f"{place} {_named(further)}, found {scored!r} instead of {expected!r}"
    foreign = {f"{name} of nobody": cells for name, cells in columns.items()}
    with contextlib.suppress(ToolError):
        if _same(scored, _score(evaluation, (frame, _with(answers, foreign)))):
            yield note(COLUMNS, f"{text}, and the same with such columns of any other name")
            return
    yield failure(COLUMNS, f"{text}; select the columns that you need before you join tables")


def _named(columns: Iterable[str]) -> str:
    """List columns in brackets."""
    return f"({', '.join(columns):.60})"


def _with(answers: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Add new columns all at once, because pandas adds them one by one in quadratic time."""
    return pd.concat([answers, pd.DataFrame(columns, index=answers.index)], axis=1)


def _gained(
    evaluation: Evaluation, further: pd.DataFrame, frame: pd.DataFrame, answers: pd.DataFrame
) -> tuple[float, float, dict[str, Any]] | None:
    """Find columns that change a score: the score without them, the one with them, and what they are."""
    expected = _score(evaluation, (frame, answers))
    for columns in _further_columns(further, len(answers)):
        scored = _score(evaluation, (frame, _with(answers, columns)))
        if not _same(expected, scored):
            return expected, scored, columns
    return None


def by_halves(columns: list[str], is_settled: Callable[[list[str]], bool]) -> None:
    """Ask about all columns together, and then about halves of those that are not settled, in few trials."""
    groups = [columns]
    for _ in range(MOST_COLUMN_TRIALS):
        group = groups.pop(0) if groups else []
        if group and not is_settled(group) and len(group) > 1:
            groups += [group[: len(group) // 2], group[len(group) // 2 :]]


def _takes_the_place(evaluation: Evaluation, frame: pd.DataFrame, answers: pd.DataFrame) -> Iterator[Finding]:
    """Check the columns that the submission has already and the metric does not ask for.

    One of them may be a voluntary answer. It takes the place of the solution's if what the solution says there
    does not matter any more.
    """
    row_id = evaluation.solution.arguments["row_id_column_name"]
    found = dict[str, tuple[float, float, Any]]()

    def are_harmless(names: list[str]) -> bool:
        """Whether the metric does not ask for these columns, and its score is the same with others of them."""
        with contextlib.suppress(ToolError):
            gained = _gained(evaluation, frame[names], frame, answers.drop(columns=names))
            if gained and len(names) == 1:
                found[names[0]] = gained
            return gained is None
        return False

    by_halves([str(name) for name in frame.columns if name in answers and name != row_id], are_harmless)
    for name, gained in found.items():
        scored = _score(evaluation, (frame, answers))
        with contextlib.suppress(ToolError):
            changed = [frame.assign(**cells) for cells in _further_columns(frame[[name]], len(frame))]
            if all(_same(scored, _score(evaluation, (each, answers))) for each in changed):
                expected = f"expected the column {name} of the solution to count"
                instead = f"found that the submission's takes its place: {gained[1]!r} instead of {gained[0]!r}"
                cure = "select the columns that you need before you join tables"
                yield failure(COLUMNS, f"{where(evaluation.solution.metric)}: {expected}, {instead}; {cure}")
                return


def _further_columns(columns: pd.DataFrame, rows: int) -> Iterator[dict[str, Any]]:
    """Columns of the solution for a submission: in other rows, and of one value each."""
    cells = {str(name): columns[name].to_numpy() for name in columns}
    yield {name: np.resize(np.roll(each, shift), rows) for shift, (name, each) in enumerate(cells.items(), 1)}
    for row in (0, -1):  # Some scores do not change where cells are exchanged.
        yield {name: np.resize(each[[row]], rows) for name, each in cells.items()}


def knows_direction(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the truth, given as a submission, does not score worse than the submission."""
    truth, answers = evaluation.solution.tables(evaluation.submission)
    if not {*answers} <= {*truth}:
        return
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
        value = arguments[name]
        for other in other_values(value):
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


def other_values(value: Any) -> list[Any]:
    """List other values with which a parameter of ``score`` can be tried.

    >>> other_values(4), other_values(2.0), other_values(True), other_values("ab"), other_values(None)
    ([9, 2], [5.0, 1.0], [False], ['abx', ''], [])
    """
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value * 2 + 1, value // 2]
    if isinstance(value, float):
        return [value * 2 + 1, value / 2]
    return [f"{value}x", ""] if isinstance(value, str) else []


def explains(evaluation: Evaluation) -> Iterator[Finding]:
    """Check that the companion's explanation can be made; it is held to the contract where it is made."""
    try:
        _ = evaluation.explanation
    except CompanionError as problem:
        yield failure(COMPANION, str(problem))


def has_no_empty_cells(evaluation: Evaluation) -> Iterator[Finding]:
    """Look for empty cells in the truth, which many metrics leave out and no submission may have."""
    solution = evaluation.solution
    empty: Bools = solution.frame.isna().to_numpy() & solution.rows[evaluating.ALL][:, np.newaxis]
    columns = [str(name) for number, name in enumerate(solution.frame) if empty[:, number].any()]
    if columns:
        numbers = listed([f"{row + 1:,}" for row in np.flatnonzero(empty.any(axis=1)).tolist()])
        found = f"{counted(int(empty.sum()), 'empty cell')} in {listed(columns)}, in row number {numbers}"
        cure = (
            "; platforms refuse an empty answer, so nobody can give it: write a sign for it, such as -, in the "
            "solution and in submissions, unless the metric leaves such cells out"
        )
        is_answer = any(name in evaluation.submission for name in columns)
        yield note(TRUTH, f"the solution: {found}{cure if is_answer else ''}")


def keeps_classes_apart(evaluation: Evaluation) -> Iterator[Finding]:
    """Look for classes in the truth that differ only in case or spaces."""
    solution = evaluation.solution
    row_id = solution.arguments.get("row_id_column_name")
    answers = [name for name in solution.frame if name in evaluation.submission and name != row_id]
    for name in answers:
        cells = solution.frame[name][solution.rows[evaluating.ALL]].dropna()
        values = [value for value in cells.unique().tolist() if isinstance(value, str)]
        if len(values) <= len(cells) / 2:  # Others are texts and no classes.
            for said in evaluating.alike(str(name), values, "classes"):
                yield note(TRUTH, f"the solution: {said}")


def names_its_parts(evaluation: Evaluation) -> Iterator[Finding]:
    """Tell a solution with one board alone, and a column that looks like parts but has another name."""
    solution = evaluation.solution
    if evaluating.PARTS[0] in solution.rows and evaluating.PARTS[1] not in solution.rows:
        yield note(BOTH_PARTS, "no row is Private, so there is one board, which everybody sees and can climb")
    for name, cells in solution.frame.items():
        if str(name).casefold() in NAMES_OF_PARTS:
            values = {str(cell).strip().casefold() for cell in cells.dropna().unique()}
            if values and values <= {"public", "private", "ignored"}:
                cure = f"if so, call the column {evaluating.USAGE}, as platforms do"
                yield note(BOTH_PARTS, f"the column {name} of the solution looks like its parts: {cure}")


def takes_row_ids(evaluation: Evaluation) -> Iterator[Finding]:
    """Tell how the name of the row ids reaches a metric whose parameters are not those of platforms."""
    return adapted.check_row_ids(evaluation.solution.metric)


def _numbers(evaluation: Evaluation) -> Floats:
    """The statistics of a submission, for a check that needs them."""
    assert evaluation.statistics is not None
    return evaluation.statistics


def _score(evaluation: Evaluation, tables: Tables) -> float:
    """Call ``score()`` with these tables, as a platform does."""
    solution = evaluation.solution
    return solution.metric.score(*(table.copy() for table in tables), **solution.arguments)


def _same(first: float, second: float) -> bool:
    """Whether two scores are equal to the last bit, or both undefined."""
    return first == second or bool(np.isnan(first) and np.isnan(second))


def _is_worse(first: float, second: float, higher: bool) -> bool:
    """Whether a score is clearly worse than another one."""
    return (second - first if higher else first - second) > CLEARLY_WORSE


# ---- The list ----------------------------------------------------------------------------------------------


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
    Check(TRUTH, has_no_empty_cells, Use.KEEP),
    Check(TRUTH, keeps_classes_apart, Use.KEEP),
    Check(BOTH_PARTS, names_its_parts, Use.KEEP),
    Check(AGAIN, keeps_nothing),
    Check(AGAIN, matches_by_ids),
    Check(STATISTICS, measures_stack),
    Check(STATISTICS, sums_are_the_scores, Use.EACH),
    Check(STATISTICS, sums_are_the_score_of_half),
    Check(FINITE, parts_are_finite, Use.EACH),
    Check(STATISTICS, measure_parameters_leave_statistics),
    Check(COLUMNS, ignores_further_columns),
    Check(DIRECTION, knows_direction),
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
        hosted.higher_is_better(metric, arguments)
    except ToolError as problem:
        return [failure(DIRECTION, str(problem))]
    if metric.direction is None and use >= Use.KEEP:
        return [note(DIRECTION, "higher is better is assumed; define higher_is_better()")]
    return []


def most_calls(metric: Metric) -> int:
    """How often the checks of a scored submission may call ``score``, those of other parameters aside."""
    again, statistics_alone = 2 * MOST_TRIALS + 1, 2 if metric.prepare else 0
    return again + statistics_alone + 1 + 4 + 1  # in another order, with further columns, and of the truth


def hold(evaluation: Evaluation) -> None:
    """Hold a metric to the contract with a submission, before anybody sees a number."""
    solution = evaluation.solution
    if not solution.metric.is_built_in:
        demand(verdict(evaluation, Use.EACH if solution.is_held else Use.SCORE))
        solution.is_held = True


def first_failure(found: Iterable[Finding]) -> str:
    """The text of the first failure, or "" if there is none."""
    return next((finding.text for finding in found if finding.level is Level.FAIL), "")
