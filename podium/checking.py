"""Hold a metric to the contract: one list of checks, each a small function with a name.

A check looks at one thing and yields a `Finding` for each slip, or nothing. There are two kinds.

Some checks are made wherever podium meets a stranger's metric, because everything else builds on what they look
at: `check_signature`, `check_prepared`, `check_numbers`, `one_float` and `check_explanation`. `demand` turns
what they find into an error.

All others are in `CHECKS`. They look at a scored submission (`podium.scoring.Evaluation`) and try the metric
with it once more, in this process. `findings` runs all of them, for ``podium check``. `before_first_number`
runs the quick ones, and every command calls it (by `podium.scoring.hold`) before it shows the first number of a
metric that is not podium's own.

To add a check, write a function that takes an evaluation and yields findings, and add it to `CHECKS`. A check
that needs a process of its own, or only the text of a file, belongs to `podium.hosting.kaggle.acceptance`. It
makes findings of the same class.
"""

import contextlib
import dataclasses
import enum
import inspect
import itertools
import math
import time
import typing
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.contract import REQUIRED, VISIBLE_ERRORS, Explanation, Metric
from podium.errors import CompanionError, ContractWarning, HostError, SubmissionRejected

if TYPE_CHECKING:
    from podium.scoring import Evaluation

# What a metric should do, as podium check prints it.
SIGNATURE = "takes solution, submission, row_id_column_name first"
STATISTICS = "has statistics whose sums are its score"
AGAIN = "gives the same score again, and for rows in another order"
COLUMNS = "ignores columns that it does not ask for"
FINITE = "returns a finite float"
DIRECTION = "says whether higher is better"
PARAMETERS = "has only parameters that change the score"
COMPANION = "has a companion that explains the score"

SECONDS_FOR_PARAMETERS = 30.0  # for trying parameters with other values
CLEARLY_WORSE = 1e-9  # a difference between two scores

Floats = npt.NDArray[np.float64]
Demand = tuple[bool, str, object]  # whether it holds, what is expected, and what was found


class Level(enum.Enum):
    """How bad a finding is. The values are the words that ``podium check`` prints."""

    OK = "pass"
    NOTE = "note"  # Platforms accept it. The host should know it.
    FAIL = "FAIL"  # Scores cannot be trusted, or a platform refuses the file.
    SKIPPED = "----"  # It could not be tried.


@dataclass(frozen=True)
class Finding:
    """What a check has found."""

    name: str  # what the metric should do
    level: Level = Level.OK
    text: str = ""  # the reason of the level, for the host


class ContractError(HostError):
    """A metric does not keep to the contract."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.text)
        self.finding = finding


def demand(found: Iterable[Finding]) -> None:
    """Raise an error for the first failure, and warn of what is worth a note."""
    for finding in found:
        if finding.level is Level.FAIL and finding.name == COMPANION:
            raise CompanionError(finding.text)
        if finding.level is Level.FAIL:
            raise ContractError(finding)
        if finding.level is Level.NOTE:
            warnings.warn(finding.text, ContractWarning, stacklevel=2)


def _failure(name: str, text: str) -> Finding:
    return Finding(name, Level.FAIL, text)


def _note(name: str, text: str) -> Finding:
    return Finding(name, Level.NOTE, text)


def _first_unmet(name: str, place: str, demands: Iterable[Demand]) -> Iterator[Finding]:
    """Find the first demand that does not hold. Later ones may rely on it, so they are not looked at."""
    for holds, expected, found in demands:
        if not holds:
            yield Finding(name, Level.FAIL, f"{place}: expected {expected}, found {found}")
            return


# ---- What everything else builds on ------------------------------------------------------------------------


def check_signature(metric: Metric) -> Iterator[Finding]:
    """Check that ``score`` is a plain function that takes the two tables and the name of the row ids first.

    Exchanged names would exchange truths and predictions, and many scores would not show it.
    """
    return _first_unmet(SIGNATURE, where(metric), _demands_on_score(metric))


def _demands_on_score(metric: Metric) -> Iterator[Demand]:
    kind = "async def" if inspect.iscoroutinefunction(metric.score) else type(metric.score).__name__
    is_plain = inspect.isfunction(metric.score) and not inspect.iscoroutinefunction(metric.score)
    yield is_plain, "a function that def defines", kind
    parameters = list(inspect.signature(metric.score).parameters.values())
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters[: len(REQUIRED)]]
    fits = names == list(REQUIRED) and all(each.kind in by_position for each in parameters[:2])
    can_be_named = fits and parameters[2].kind is not inspect.Parameter.POSITIONAL_ONLY
    found = ", ".join(map(str, parameters)) or "none"
    yield can_be_named, f"the parameters {', '.join(REQUIRED)} first", f"{found:.160}"


def check_prepare(metric: Metric) -> Iterator[Finding]:
    """Check that ``prepare`` takes the parameters of ``score``, with the same defaults.

    Otherwise the score and the statistics would be computed with different parameters.
    """
    if metric.prepare is None:
        return
    accepted = inspect.signature(metric.prepare).parameters
    takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in accepted.values())
    for parameter in list(inspect.signature(metric.score).parameters.values())[len(REQUIRED) :]:
        other = accepted.get(parameter.name)
        is_passed_on = takes_all and other is None
        if parameter.kind is inspect.Parameter.VAR_KEYWORD or is_passed_on:
            continue
        if other is None or repr(other.default) != repr(parameter.default):
            found = "without it" if other is None else f"with {other}"
            yield _failure(
                STATISTICS,
                f"{metric.path.name}: prepare(): expected the parameter {parameter!s:.60}, as score() has it, "
                f"found prepare() {found:.60}",
            )


def check_prepared(metric: Metric, prepared: Any, rows: int) -> Iterator[Finding]:
    """Check what ``prepare`` returned for a solution of so many rows."""
    demands = itertools.chain(
        _demands_on_class(prepared),
        _demands_on_items(prepared, rows),
        _demands_on_groups(prepared),
        _demands_on_names(prepared),
    )
    return _first_unmet(STATISTICS, f"{metric.path.name}: prepare()", demands)


def _demands_on_class(prepared: Any) -> Iterator[Demand]:
    kind = type(prepared).__name__
    yield dataclasses.is_dataclass(prepared), "a frozen dataclass", kind
    frozen = prepared.__dataclass_params__.frozen
    yield frozen, "a frozen dataclass", f"{kind}, which is not frozen"
    for name in ("items", "item_of_row", "labels", "groups", "measure_names", "statistics", "measures"):
        yield hasattr(prepared, name), f"an object with {name}", f"{kind} without it"


def _demands_on_items(prepared: Any, rows: int) -> Iterator[Demand]:
    items, item_of_row = prepared.items, np.asarray(prepared.item_of_row)
    are_texts = isinstance(items, list) and bool(items) and all(isinstance(item, str) for item in items)
    found: object = f"{type(items).__name__} {_shortened(items)}"
    yield are_texts, "items to be a list of texts with at least one", found
    descents = [f"{one!r} before {next_!r}" for one, next_ in itertools.pairwise(items) if one >= next_]
    yield not descents, "items to be sorted and to differ from each other", "".join(descents[:1])
    fits = item_of_row.shape == (rows,) and item_of_row.dtype.kind in "iu"
    expected = f"item_of_row to be whole numbers of shape ({rows},), one for each row of the solution"
    yield fits, expected, f"{item_of_row.dtype} of shape {item_of_row.shape}"
    values = np.unique(item_of_row)
    expected = f"item_of_row to hold each index from 0 to {len(items) - 1} of the items"
    found = f"{len(values)} different values from {values[0]} to {values[-1]}" if rows else "no row"
    yield np.array_equal(values, np.arange(len(items))), expected, found


def _demands_on_groups(prepared: Any) -> Iterator[Demand]:
    labels, groups, items = prepared.labels, np.asarray(prepared.groups), len(prepared.items)
    are_pairs = isinstance(labels, list) and bool(labels) and all(map(_is_label, labels))
    yield are_pairs, "labels to be a list of (attribute, value) of texts", _shortened(labels)
    fits = groups.ndim == 2 and groups.shape[1] == items and groups.dtype.kind in "iu"
    found = f"{groups.dtype} of shape {groups.shape}"
    yield fits, f"groups to be whole numbers of shape (attributes, {items})", found
    attributes = list(dict.fromkeys(attribute for attribute, _ in labels))
    expected = f"groups to have one row for each of the {len(attributes)} attributes of the labels"
    yield len(attributes) == len(groups), expected, len(groups)
    are_indices = int(groups.min()) >= 0 and int(groups.max()) < len(labels)
    expected = f"groups to be indices from 0 to {len(labels) - 1} of the labels"
    yield are_indices, expected, f"{groups.min()} to {groups.max()}"
    for number, attribute in enumerate(attributes):
        others = {labels[group][0] for group in np.unique(groups[number]).tolist()} - {attribute}
        yield not others, f"row {number} of groups to name groups of {attribute}", f"some of {others}"
    empty = len(labels) - len(np.unique(groups))
    yield empty == 0, "every group of the labels to have an item", f"{empty} without"


def _demands_on_names(prepared: Any) -> Iterator[Demand]:
    names = prepared.measure_names
    fits = isinstance(names, list) and names[:1] == ["score"] and len(set(names)) == len(names)
    expected = 'measure_names to be a list of different texts that begins with "score"'
    yield fits, expected, _shortened(names)


def check_numbers(metric: Metric, prepared: Any, numbers: Any) -> Iterator[Finding]:
    """Check the kind and the shape of a submission's statistics."""
    expected = f"an array of shape ({len(prepared.items)}, k), one row per item"
    is_array = isinstance(numbers, np.ndarray)
    fits = is_array and numbers.ndim == 2 and len(numbers) == len(prepared.items)
    is_numeric = fits and numbers.dtype.kind in "fiub"
    demands = [
        (fits, expected, f"shape {numbers.shape}" if is_array else type(numbers).__name__),
        (is_numeric, "finite floats", numbers.dtype if fits else ""),
    ]
    return _first_unmet(STATISTICS, f"{metric.path.name}: statistics()", demands)


def one_float(metric: Metric, result: object) -> float:
    """Return what ``score()`` returned, if it is a number.

    Whether the number is finite is another question, because it may depend on the submission. Where submissions
    are ranked, one that leads to infinity is rejected.
    """
    if isinstance(result, float):
        return float(result)
    cure = "end it with return" if result is None else "return float(…)"
    found = f"{type(result).__name__} {' '.join(repr(result).split()):.40}; {cure}"
    raise ContractError(_failure(FINITE, f"{where(metric)}: expected one finite float, found {found}"))


def where(metric: Metric) -> str:
    """Name ``score()`` of a metric in a message, with the line where it begins."""
    code = getattr(inspect.unwrap(metric.score), "__code__", None)
    line = "" if code is None else f", line {code.co_firstlineno}"
    return f"{metric.path.name}{line}: score()"


# ---- What a scored submission shows ------------------------------------------------------------------------


def statistics_repeat(evaluation: "Evaluation") -> Iterator[Finding]:
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
            yield _failure(STATISTICS, f"{place} {when}; {cure}")
            return


def repeats(evaluation: "Evaluation") -> Iterator[Finding]:
    """Check that a metric gives the same number again, after it has scored another submission in between."""
    metric = evaluation.solution.metric
    frame, answers = evaluation.solution.tables(evaluation.submission)
    first = evaluation.score if evaluation.statistics is None else _score(evaluation, (frame, answers))
    other = _with_answers_exchanged(answers, evaluation.solution.arguments["row_id_column_name"])
    with contextlib.suppress(Exception):  # The metric may refuse these answers.
        _score(evaluation, (frame, other))
    again = _score(evaluation, (frame, answers))
    if not _same(first, again):
        yield _failure(
            AGAIN,
            f"{where(metric)}: expected the same number whenever it is called with the same tables, found "
            f"{first!r} and then {again!r}; use no random numbers, no clock, and nothing that an earlier call "
            "left",
        )


def ignores_order(evaluation: "Evaluation") -> Iterator[Finding]:
    """Check that a score without statistics does not depend on the order of rows."""
    if evaluation.statistics is not None:
        return
    metric = evaluation.solution.metric
    frame, answers = evaluation.solution.tables(evaluation.submission)
    reverse = frame.iloc[::-1].reset_index(drop=True), answers.iloc[::-1].reset_index(drop=True)
    try:
        backward = _score(evaluation, reverse)
    except Exception:
        return  # The metric may rightly refuse rows in another order.
    score = evaluation.score
    if np.isfinite(score) and not np.isclose(backward, score, rtol=1e-6, atol=1e-9):
        yield _note(
            AGAIN,
            f"{where(metric)}: the score depends on the order of the rows: {score:.6f}, and {backward:.6f} "
            "with the rows of both tables in reverse. Match rows by their ids, unless the order has a meaning",
        )


def is_finite(evaluation: "Evaluation") -> Iterator[Finding]:
    """Check that the score is a finite number; where there are statistics, `measures_stack` does so."""
    if evaluation.statistics is None and not np.isfinite(evaluation.score):
        yield _note(
            FINITE,
            f"{where(evaluation.solution.metric)}: expected one finite float, found {evaluation.score}, which "
            "platforms refuse",
        )


def numbers_are_finite(evaluation: "Evaluation") -> Iterator[Finding]:
    """Check that all statistics are finite numbers."""
    place = f"{evaluation.solution.metric.path.name}: statistics()"
    are_finite = bool(np.isfinite(_numbers(evaluation)).all())
    return _first_unmet(STATISTICS, place, [(are_finite, "finite floats", "numbers that are not finite")])


def measures_stack(evaluation: "Evaluation") -> Iterator[Finding]:
    """Check that ``measures`` gives finite scores of the right shape, for one sum and for several at once."""
    place = f"{evaluation.solution.metric.path.name}: measures()"
    sums = statistics.sums(_numbers(evaluation), evaluation.prepared.groups)
    return _first_unmet(STATISTICS, place, _demands_on_measures(evaluation.prepared, sums))


def _demands_on_measures(prepared: Any, sums: Floats) -> Iterator[Demand]:
    number = len(prepared.measure_names)
    values = np.asarray(prepared.measures(sums))
    expected = f"shape ({number},), as there are {number} measure_names, for sums of shape {sums.shape}"
    yield values.shape == (number,), expected, values.shape
    stacked = np.asarray(prepared.measures(np.stack([sums, sums])))
    fits = stacked.shape == (2, number)
    is_same = fits and np.array_equal(stacked, np.stack([values, values]), equal_nan=True)
    expected = f"the measures of each of two stacked sums, shape (2, {number})"
    found = "other values than for one sum" if fits else f"shape {stacked.shape}"
    yield is_same, expected, f"{found}; let it work on the last two axes"
    yield bool(np.isfinite(values[0])), "a finite score from finite sums", values[0]


def sums_are_the_score(evaluation: "Evaluation") -> Iterator[Finding]:
    """Check that ``score()`` is the first measure of the sums to the last bit, on all items and every second
    one.
    """
    solution, prepared = evaluation.solution, evaluation.prepared
    for kept in (np.ones(len(prepared.items), dtype=bool), np.arange(len(prepared.items)) % 2 == 0):
        part, numbers = statistics.part(prepared, kept), _numbers(evaluation)[kept]
        measured = float(np.asarray(part.measures(statistics.sums(numbers, part.groups)))[0])
        try:
            scored = _score(evaluation, solution.tables(evaluation.submission, kept))
        except Exception as problem:
            if not kept.all() and type(problem).__name__ in VISIBLE_ERRORS:
                continue  # Half a solution may lack what the metric needs, and the metric says so.
            raise
        if not _same(measured, scored):
            what = "all items" if kept.all() else f"{int(kept.sum())} of {len(kept)} items"
            yield _failure(
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


def ignores_further_columns(evaluation: "Evaluation") -> Iterator[Finding]:
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
    except Exception as problem:
        if type(problem).__name__ in VISIBLE_ERRORS:
            return  # The metric says that it wants no other columns.
        found = f"{type(problem).__name__}: {problem!s:.80}"
    else:
        if _same(expected, scored):
            return
        found = f"{scored!r} instead of {expected!r}"
    cure = "select the columns that you need before you join tables"
    yield _failure(COLUMNS, f"{place} {columns}, found {found}; {cure}")


def knows_direction(evaluation: "Evaluation") -> Iterator[Finding]:
    """Check that the truth, given as a submission, does not score worse than the submission."""
    truth, answers = evaluation.solution.tables(evaluation.submission)
    if evaluation.solution.metric.companion.perfect_submission or not {*answers} <= {*truth}:
        return  # `companion_submissions` tries the best submission that the companion makes.
    try:
        best = _score(evaluation, (truth, truth[list(answers)]))
    except Exception:
        return
    if _is_worse(best, evaluation.score, evaluation.solution.higher_is_better):
        yield _note(
            DIRECTION,
            f"the solution itself scores {best:.6f}, and the given submission {evaluation.score:.6f}, which "
            "counts as better: is that meant?",
        )


def empty_groups_are_left_out(evaluation: "Evaluation") -> Iterator[Finding]:
    """Check that the score is defined if a group has no item, as in parts and when items are drawn."""
    prepared = evaluation.prepared
    sums = statistics.sums(_numbers(evaluation), prepared.groups)
    for number, (attribute, value) in enumerate(prepared.labels if len(prepared.labels) > 1 else []):
        without = sums.copy()
        without[number] = 0
        with np.errstate(all="ignore"):
            score = np.asarray(prepared.measures(without))[0]
        if np.isnan(score):
            yield _note(
                STATISTICS,
                f"measures(): the score is NaN if no item of {attribute} = {value} is there, as on some draws: "
                "leave out a group whose sums are 0",
            )
            return


def measure_parameters_leave_statistics(evaluation: "Evaluation") -> Iterator[Finding]:
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
            except Exception:
                continue  # The parameter has a range, and this value is outside of it.
            if not np.array_equal(_numbers(evaluation), others):
                yield _failure(
                    STATISTICS,
                    f"{metric.path.name}: MEASURE_PARAMETERS: expected parameters on which the statistics do "
                    f"not depend, found {name!r}: they differ between {name}={value} and {name}={other}",
                )
                return


def parameters_matter(evaluation: "Evaluation") -> Iterator[Finding]:
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


def companion_submissions(evaluation: "Evaluation") -> Iterator[Finding]:
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
            yield _failure(
                COMPANION,
                f"companion.py: {name}(): expected a submission that gets a score, found one that is rejected: "
                f"{problem}",
            )
    best = scores.get("perfect_submission")
    if best is not None and _is_worse(best, evaluation.score, solution.higher_is_better):
        yield _failure(
            COMPANION,
            f"companion.py: perfect_submission(): expected the best score, found {best:.6f} where the given "
            f"submission has {evaluation.score:.6f}; is higher_is_better() right?",
        )


def made_submission(name: str, submission: object) -> pd.DataFrame:
    """Return the submission that a function of a companion has made, if it is a table."""
    if not isinstance(submission, pd.DataFrame):
        raise CompanionError(f"companion.py: {name}(): expected a table, found {type(submission).__name__}")
    return submission


def _numbers(evaluation: "Evaluation") -> Floats:
    """The statistics of a submission, for a check that needs them."""
    assert evaluation.statistics is not None
    return evaluation.statistics


def _score(evaluation: "Evaluation", tables: tuple[pd.DataFrame, pd.DataFrame]) -> float:
    """Call ``score()`` with these tables, as a platform does."""
    solution = evaluation.solution
    copies = [table.copy() for table in tables]
    return one_float(solution.metric, solution.metric.score(*copies, **solution.arguments))


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
    run: Callable[["Evaluation"], Iterator[Finding]]
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


def before_first_number(evaluation: "Evaluation") -> list[Finding]:
    """Run the quick checks up to the first failure, before anybody sees a number of a stranger's metric."""
    found: list[Finding] = []
    for check in _checks_of(evaluation):
        if not check.is_for_hosts:
            found.extend(check.run(evaluation))
        if any(finding.level is Level.FAIL for finding in found):
            break
    return found


def findings(evaluation: "Evaluation") -> list[Finding]:
    """Run all checks of the list. A name of which nothing is found has one finding that says so."""
    found: dict[str, list[Finding]] = {}
    for check in _checks_of(evaluation):
        of_name = found.setdefault(check.name, [])
        if all(finding.level is not Level.FAIL for finding in of_name):  # Later ones rely on earlier ones.
            for finding in check.run(evaluation):
                found.setdefault(finding.name, []).append(finding)
    return [finding for name, of_name in found.items() for finding in of_name or [Finding(name)]]


def _checks_of(evaluation: "Evaluation") -> list[Check]:
    """List the checks that can be made of a submission, which may have no statistics."""
    return [check for check in CHECKS if evaluation.statistics is not None or not check.needs_statistics]


# ---- What a companion tells --------------------------------------------------------------------------------

TOLD = ("tables", "notices", "rows", "details", "losses", "groups", "confusion", "forecasts", "histograms")
COLUMNS_OF = {"groups": ("attribute", "value", "score", "weight"), "forecasts": ("probability", "happened")}


def check_explanation(explanation: Any) -> Iterator[Finding]:
    """Check an explanation of a companion, by computing everything that it can tell."""
    for property_, holds, expected, found in _demands_on_explanation(explanation):
        if not holds:
            place = f"{property_}: " if property_ else ""
            yield Finding(COMPANION, Level.FAIL, f"companion.py: {place}expected {expected}, found {found}")
            return


def _demands_on_explanation(explanation: Any) -> Iterator[tuple[str, bool, str, object]]:
    kind = type(explanation).__name__
    for name in ("roles", *TOLD):
        # hasattr() of the object would compute a property. An AttributeError in it would look like its absence.
        is_there = hasattr(type(explanation), name) or name in getattr(explanation, "__dict__", {})
        yield "", is_there, "explain to return a podium.contract.Explanation", f"{kind} without {name}"
    told = {name: getattr(explanation, name) for name in TOLD}
    for name in ("tables", "details"):
        fits = _is_mapping_of(told[name], pd.DataFrame)
        yield name, fits, "a dict of tables by their titles", _kinds(told[name])
    notices = told["notices"]
    are_texts = isinstance(notices, list | tuple) and all(isinstance(each, str) for each in notices)
    yield "notices", are_texts, "a list of sentences", _kinds(notices)
    yield "histograms", isinstance(told["histograms"], Mapping), "a dict", _kinds(told["histograms"])
    for name in ("rows", "forecasts"):
        yield name, isinstance(told[name], pd.DataFrame), "a table", _kinds(told[name])
    for name in ("losses", "groups", "confusion"):
        is_table = told[name] is None or isinstance(told[name], pd.DataFrame)
        yield name, is_table, "a table or None", _kinds(told[name])
    rows = told["rows"]
    for role, column in explanation.roles.items() if len(rows.columns) else ():
        is_there = column in rows or (role, column) in Explanation.roles.items()  # the default promises nothing
        found = f"{column!r}; rows has {', '.join(map(str, rows))}"
        yield "roles", is_there, f"the {role} to be a column of rows", found
    if "points_lost" in rows:
        finite = rows["points_lost"].dtype.kind in "iuf" and np.isfinite(rows["points_lost"]).all()
        yield "rows", bool(finite), "finite numbers in points_lost", "others"
    losses = told["losses"]
    if losses is not None:
        yield "losses", len(losses) == len(rows), f"{len(rows)} rows, as rows has", len(losses)
    for name, columns in COLUMNS_OF.items():
        table = told[name]
        if table is not None and len(table.columns):
            are_there = all(column in table for column in columns)
            yield name, are_there, f"the columns {', '.join(columns)}", ", ".join(map(str, table))


def _is_mapping_of(value: object, kind: type) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(each, kind) for name, each in value.items()
    )


def _kinds(value: object) -> str:
    """What a value is, and what is in it, for a message.

    >>> _kinds([1]), _kinds({}), _kinds(None)
    ('list of int', 'dict', 'NoneType')
    """
    inside: Iterable[object] = ()
    if isinstance(value, Mapping):
        inside = value.values()
    elif isinstance(value, list | tuple):
        inside = value
    kinds = sorted({type(each).__name__ for each in inside})
    return type(value).__name__ + (f" of {', '.join(kinds)}" if kinds else "")


def _is_label(label: object) -> bool:
    return isinstance(label, tuple) and len(label) == 2 and all(isinstance(text, str) for text in label)


def _shortened(value: object, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + "…"
