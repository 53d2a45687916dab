"""The door for metrics: what a metric file and its companion define is wrapped here, once, when it is loaded.

`guarded` returns a metric whose functions can be called like podium's own. They raise podium's errors, which
name the file and the line, and return what `podium.metric.shapes` asks for. Whoever calls them need not know
that a stranger wrote them. The same holds for the steps of a prepared solution. Of a built-in metric, which
podium's tests hold to the contract, only the exceptions about a solution and a submission become podium's.
"""

import copy
import dataclasses
import functools
import linecache
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol, TypeVar

from podium.child import clean
from podium.child.overheard import caught
from podium.common.errors import CompanionError, HostError, MetricError, SubmissionRejected, ToolError
from podium.metric import adapted, shapes
from podium.metric.contract import VISIBLE_ERRORS, Metric, Prepared, Variants
from podium.metric.shapes import demand

# Each folder becomes a package below this one, and its files become modules of that package.
PACKAGE = "podium_metrics"
# Metrics do not import podium, so their exceptions are known by these names.
VISIBLE: dict[str, type[ToolError]] = dict(zip(VISIBLE_ERRORS, (SubmissionRejected, HostError)))
LONGEST_TEXT = 1000  # characters of an unexpected exception's text

Function = Callable[..., Any]
T = TypeVar("T")
Told = Callable[[BaseException, str], ToolError]  # what an exception and its description become


def guarded(metric: Metric) -> Metric:
    """The metric whose functions, and those of a stranger's companion, raise podium's errors."""
    prepare = metric.prepare and _around_prepare(metric, metric.prepare)
    metric = dataclasses.replace(metric, score=_around_score(metric), prepare=prepare)
    if metric.is_built_in:  # podium's tests hold it to the contract
        return metric
    return dataclasses.replace(
        metric,
        direction=metric.direction and _around(metric, metric.direction, _of_solution, shapes.one_truth),
        companion=_guarded_companion(metric, metric.companion),
    )


def is_refusal(problem: BaseException) -> bool:
    """Whether a metric itself says that the submission, the solution or a parameter is wrong."""
    return type(problem.__cause__).__name__ in VISIBLE


def _around(
    metric: Metric, function: Function, told: Told, returned: Callable[[Metric, Any], Any] | None = None
) -> Function:
    """Guard a function; `returned` makes of its result what the caller gets."""

    @functools.wraps(function, updated=())
    def guarded_function(*arguments: Any, **named: Any) -> Any:
        with entered(metric.path, told):
            result = function(*arguments, **named)
            return result if returned is None else returned(metric, result)

    return guarded_function


def _around_score(metric: Metric) -> Function:
    """Guard ``score``."""
    score = metric.score

    @functools.wraps(score, updated=())
    def guarded_score(*arguments: Any, **named: Any) -> float:
        with submission_given(metric):
            return shapes.one_float(metric, score(*arguments, **named))

    return guarded_score


def _around_prepare(metric: Metric, prepare: Function) -> Function:
    """Guard ``prepare``, and the steps of the prepared solution."""

    @functools.wraps(prepare, updated=())
    def guarded_prepare(solution: Any, *arguments: Any, **named: Any) -> Any:
        with entered(metric.path, _of_solution, metric.is_built_in):
            prepared = prepare(solution, *arguments, **named)
            if metric.is_built_in and hasattr(prepared, "labels"):
                return prepared
            prepared = adapted.in_form(metric, prepared, len(solution))
            return prepared if metric.is_built_in else _with_guarded_steps(metric, prepared)

    return guarded_prepare


def _guarded_companion(metric: Metric, companion: Any) -> Any:
    """A companion, or its variants, whose functions are guarded; a class may stand where one is expected."""
    guarded_fields: dict[str, Any] = {}
    for name, value in vars(companion).items():
        if isinstance(value, Variants):
            guarded_fields[name] = _guarded_companion(metric, value)
        elif callable(value):
            returned = shapes.one_explanation if name == "explain" else None
            guarded_fields[name] = _around(metric, value, _of_companion, returned)
    return dataclasses.replace(companion, **guarded_fields)


# ---- The steps of a prepared solution ----------------------------------------------------------------------


class Guarded(Prepared, Protocol):
    """A prepared solution of a custom metric in a class with guarded steps."""

    _guarded_metric: Metric


def _with_guarded_steps(metric: Metric, prepared: T) -> T:
    """Copy a prepared solution into a class with guarded steps; `dataclasses.replace` keeps this class."""
    copied = copy.copy(prepared)
    object.__setattr__(copied, "__class__", _class_with_guarded_steps(metric, type(prepared)))
    return copied


def _class_with_guarded_steps(metric: Metric, kind: type) -> Any:
    """A subclass of a class of prepared solutions, in which the steps are guarded."""
    there = {name: formed for name, formed in STEPS.items() if hasattr(kind, name)}
    body: dict[str, Any] = {name: _step(kind, name, formed) for name, formed in there.items()}
    body |= {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__slots__": ()}
    body |= {"_guarded_metric": metric, "__reduce_ex__": _reduced}
    return type(kind.__name__, (kind,), body)


def _step(kind: type, name: str, formed: Callable[[Guarded, Any, Any], Any]) -> Function:
    """A step of a class of prepared solutions, guarded, whose result is brought into form."""

    @functools.wraps(getattr(kind, name), updated=())
    def step(prepared: Guarded, given: Any, **named: Any) -> Any:
        original = getattr(super(type(prepared), prepared), name)
        with entered(prepared._guarded_metric.path, _of_submission):
            return formed(prepared, given, original(given, **named))

    return step


def _numbers(prepared: Guarded, submission: Any, returned: Any) -> Any:
    numbers = adapted.as_numbers(returned)
    demand(shapes.check_numbers(prepared._guarded_metric, prepared, numbers))
    return numbers


def _measures(prepared: Guarded, sums: Any, returned: Any) -> Any:
    measures = adapted.as_measures(returned, sums)
    demand(shapes.check_measures(prepared._guarded_metric, prepared, sums, measures))
    return measures


STEPS = {"statistics": _numbers, "count": _numbers, "measures": _measures}


def _reduced(prepared: Guarded, protocol: int) -> tuple[Any, ...]:
    """Tell pickle to make a prepared solution of its own class, and to guard it again."""
    kind = type(prepared)
    reduced = super(kind, prepared).__reduce_ex__(protocol)
    return _guarded_again, (prepared._guarded_metric, kind.__base__), *reduced[2:]


def _guarded_again(metric: Metric, kind: type) -> Any:
    """Make a prepared solution that pickle fills."""
    subclass = _class_with_guarded_steps(metric, kind)
    return subclass.__new__(subclass)


# ---- Errors ------------------------------------------------------------------------------------------------


def _of_solution(problem: BaseException, description: str) -> ToolError:
    """What becomes of an error of the metric where it looks at the solution alone."""
    if type(problem).__name__ in VISIBLE:
        return VISIBLE[type(problem).__name__](_short(" ".join(str(problem).split())))
    return MetricError(description, _hint(problem))


def _hint(problem: BaseException) -> str:
    """What to do about an error that a platform's habits explain, as the end of a message, or ""."""
    if isinstance(problem, FileNotFoundError):
        return ". A metric file is uploaded alone, so it cannot read other files"
    if shapes.misses_usage(type(problem).__name__, str(problem)):
        return f". {shapes.WITHOUT_USAGE}"
    return ""


def _of_submission(problem: BaseException, description: str) -> ToolError:
    """What becomes of an error of the metric where it has a submission."""
    told = _of_solution(problem, description)
    if isinstance(told, MetricError) and not _hint(problem):
        return MetricError(
            description, ". If the submission is at fault, raise ParticipantVisibleError for such input"
        )
    return told


def _of_companion(problem: BaseException, description: str) -> ToolError:
    """What becomes of an error of the companion of a custom metric."""
    return CompanionError(f"the companion raised an unexpected error: {description}")


@contextmanager
def entered(file: Path, told: Told, is_built_in: bool = False) -> Iterator[None]:
    """Run a part of a file, and raise what `told` makes of its exception and a description of it.

    What a custom metric's file prints goes to stderr, so that it does not mix with what a command prints.
    """
    try:
        with nullcontext() if is_built_in else _of_stranger(file):
            yield
    except ToolError:
        raise
    except BaseException as problem:
        if not _is_of_the_file(problem):  # the user's Ctrl+C, or a limit of processor time
            raise
        raise told(problem, _described(problem, file.parent)) from problem


@contextmanager
def submission_given(metric: Metric) -> Iterator[None]:
    """Run steps of a metric that get a submission, after which no other file is scored in this process."""
    with entered(metric.path, _of_submission, metric.is_built_in):
        if not metric.is_built_in:
            clean.soil()
        yield


@contextmanager
def _of_stranger(file: Path) -> Iterator[None]:
    """Run a part of a custom metric's file; a copy that it makes of this process ends where it would return."""
    process = os.getpid()
    with clean.threads_watched(), caught(file):
        try:
            yield
        finally:
            if os.getpid() != process:
                os._exit(1)


def _is_of_the_file(problem: BaseException) -> bool:
    """Tell whether a metric's file raised an exception, and not somebody who wants to end the process."""
    kind = type(problem)
    # A library in Rust, such as polars, panics with an exception that is not an Exception.
    is_panic = kind is BaseException or kind.__name__ == "PanicException"
    return isinstance(problem, Exception | SystemExit) or is_panic or kind.__module__.startswith(PACKAGE)


def _short(text: str) -> str:
    """Cut a text of the metric, which may be filled with tables."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def _described(problem: BaseException, folder: Path) -> str:
    """Describe an exception, with the line in a file of this folder that raised it."""
    text = f"{type(problem).__name__}: {' '.join(str(problem).split())}".removesuffix(": ")
    text = _short(text)
    # The folder may be relative. The names of frames are not, except those of no file, such as "<string>".
    here = folder.resolve()
    files = [
        frame
        for frame in traceback.extract_tb(problem.__traceback__)
        if Path(frame.filename).is_absolute() and Path(frame.filename).resolve().parent == here
    ]
    if not files or files[-1].lineno is None:
        return text
    file, number = files[-1].filename, files[-1].lineno
    return f"{text} ({Path(file).name}, line {number}: {linecache.getline(file, number).strip()})"
