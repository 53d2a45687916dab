"""The door for metrics: what a metric file and its companion define is wrapped here, once, when it is loaded.

`guarded` returns a metric whose functions can be called like podium's own. They raise podium's errors, which
name the file and the line, and return what `podium.demands` asks for. Whoever calls them need not know that a
stranger wrote them. The same holds for what these functions hand out: the steps of a prepared solution, and the
variants of a companion.
"""

import contextvars
import copy
import dataclasses
import functools
import linecache
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

from podium import demands
from podium.contract import VISIBLE_ERRORS, Companion, Metric
from podium.demands import demand
from podium.errors import CompanionError, HostError, MetricError, SubmissionRejected, ToolError

# Each folder becomes a package below this one, and its files become modules of that package.
PACKAGE = "podium_metrics"
# Metrics do not import podium, so their exceptions are known by these names.
VISIBLE: dict[str, type[ToolError]] = dict(zip(VISIBLE_ERRORS, (SubmissionRejected, HostError)))
LONGEST_TEXT = 1000  # characters of an unexpected exception's text
STEPS = ("read", "compare", "count", "statistics", "measures")  # of a prepared solution

Function = Callable[..., Any]
# What an exception and its description become; None if the exception is to be raised as it is.
Told = Callable[[BaseException, str], ToolError | None]

_inside: contextvars.ContextVar[object] = contextvars.ContextVar("_inside", default=None)


def guarded(metric: Metric) -> Metric:
    """The metric whose functions, and those of its companion, raise podium's errors."""
    door = _Door(metric)
    door.metric = door.guarded()
    return door.metric


def is_refusal(problem: BaseException) -> bool:
    """Whether a metric itself says that the submission, the solution or a parameter is wrong."""
    return type(problem.__cause__).__name__ in VISIBLE


class _Door:
    """The guards of one metric."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.is_own = metric.is_own  # podium's tests hold podium's own metrics to the contract
        self.folder = metric.path.parent

    def guarded(self) -> Metric:
        """The metric with every function wrapped."""
        metric = self.metric
        return dataclasses.replace(
            metric,
            score=self._of_metric(metric.score, self._one_float),
            prepare=metric.prepare and self._of_metric(metric.prepare, self._prepared, _of_solution),
            direction=metric.direction and self._of_metric(metric.direction, self._one_truth, _of_solution),
            companion=self._companion(metric.companion),
        )

    def _of_metric(self, function: Function, check: Function, told: Told | None = None) -> Function:
        """Wrap a function of the metric; `check` gets its result and first argument, and returns the result."""

        @functools.wraps(function, updated=())
        def guarded_function(*arguments: Any, **named: Any) -> Any:
            # What the metric's functions call of each other keeps its exceptions, because they may catch them.
            if _inside.get() is self:
                return function(*arguments, **named)
            token = _inside.set(self)
            try:
                with entered(self.folder, told or _of_submission, self.is_own):
                    first = next(iter([*arguments, *named.values()]), None)
                    return check(function(*arguments, **named), first)
            finally:
                _inside.reset(token)

        return guarded_function

    def _one_float(self, result: Any, _: Any) -> float:
        return demands.one_float(self.metric, result)

    def _one_truth(self, answer: Any, _: Any) -> bool:
        return demands.one_truth(self.metric, answer)

    def _prepared(self, prepared: Any, solution: Any) -> Any:
        """Check what ``prepare`` returned, and guard its steps."""
        if not self.is_own:
            demand(demands.check_prepared(self.metric, prepared, len(solution)))
        return self.with_guarded_steps(prepared)

    def with_guarded_steps(self, prepared: Any) -> Any:
        """Copy a prepared solution into a class with guarded steps; `dataclasses.replace` keeps this class."""
        if hasattr(type(prepared), "_door"):
            return prepared
        copied = copy.copy(prepared)
        object.__setattr__(copied, "__class__", self.class_with_guarded_steps(type(prepared)))
        return copied

    def class_with_guarded_steps(self, kind: type) -> Any:
        """A subclass of a class of prepared solutions, in which the steps are guarded."""
        body = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__slots__": ()}
        steps = {name: self._step(name) for name in STEPS if hasattr(kind, name)}
        return type(kind.__name__, (kind,), body | steps | {"_door": self, "__reduce_ex__": _reduced})

    def _step(self, name: str) -> property:
        """A step of a prepared solution, guarded: what its own class has under this name."""

        def step(prepared: Any) -> Function:
            check = functools.partial(self._result_of_step, prepared, name)
            return self._of_metric(getattr(super(type(prepared), prepared), name), check)

        return property(step)

    def _result_of_step(self, prepared: Any, name: str, result: Any, first: Any) -> Any:
        """Check the shape of what a step returned."""
        if not self.is_own and name in ("statistics", "count"):
            demand(demands.check_numbers(self.metric, prepared, result))
        elif not self.is_own and name == "measures":
            demand(demands.check_measures(self.metric, prepared, first, result))
        return result

    def _companion(self, companion: Companion) -> Companion:
        """Guard every function of a companion."""
        variants = companion.variants and self._with_guarded_fields(companion.variants)
        explain = companion.explain and self._of_companion(companion.explain, self._explanation)
        guarded_companion: Companion = self._with_guarded_fields(companion)
        return dataclasses.replace(guarded_companion, variants=variants, explain=explain)

    def _with_guarded_fields(self, holder: Any) -> Any:
        """Guard every function among the fields of a dataclass, whatever kind of callable it is."""
        values = {field.name: getattr(holder, field.name) for field in dataclasses.fields(holder)}
        functions = {name: value for name, value in values.items() if callable(value)}
        return dataclasses.replace(
            holder, **{name: self._of_companion(each, self._handed_out) for name, each in functions.items()}
        )

    def _of_companion(self, function: Function, check: Function) -> Function:
        """Wrap a function of the companion; `check` gets its result, and returns what the caller gets."""

        @functools.wraps(function, updated=())
        def guarded_function(*arguments: Any, **named: Any) -> Any:
            told = _of_own_companion if self.is_own else _of_companion
            with entered(self.folder, told, self.is_own):
                return check(function(*arguments, **named))

        return guarded_function

    def _explanation(self, explanation: Any) -> Any:
        """Check an explanation."""
        if not self.is_own:
            demand(demands.check_explanation(explanation))
        return explanation

    def _handed_out(self, value: Any) -> Any:
        """Guard what a companion's function returned: functions, prepared solutions, and what holds such."""
        if isinstance(value, Mapping):
            return {name: self._handed_out(each) for name, each in value.items()}
        if type(value) is tuple:
            return tuple(map(self._handed_out, value))
        if dataclasses.is_dataclass(value) and hasattr(value, "measures"):
            return self.with_guarded_steps(value)
        is_function = callable(value) and not isinstance(value, type)
        return self._of_companion(value, self._handed_out) if is_function else value


def _reduced(prepared: Any, protocol: int) -> tuple[Any, ...]:
    """Tell pickle to make a prepared solution of its own class, and to guard it again."""
    kind = type(prepared)
    _, _, *state = super(kind, prepared).__reduce_ex__(protocol)
    return _guarded_again, (prepared._door.metric, kind.__base__), *state


def _guarded_again(metric: Metric, kind: type) -> Any:
    """Make a prepared solution that pickle fills."""
    subclass = _Door(metric).class_with_guarded_steps(kind)
    return subclass.__new__(subclass)


# ---- Errors ------------------------------------------------------------------------------------------------


def _of_solution(problem: BaseException, description: str) -> ToolError:
    """What becomes of an error of the metric where it looks at the solution alone."""
    if type(problem).__name__ in VISIBLE:
        return VISIBLE[type(problem).__name__](str(problem))
    is_alone = ". A metric file is uploaded alone, so it cannot read other files"
    return MetricError(description, is_alone if isinstance(problem, FileNotFoundError) else "")


def _of_submission(problem: BaseException, description: str) -> ToolError:
    """What becomes of an error of the metric where it has a submission."""
    told = _of_solution(problem, description)
    if isinstance(told, MetricError) and not isinstance(problem, FileNotFoundError):
        return MetricError(
            description, ". If the submission is at fault, raise ParticipantVisibleError for such input"
        )
    return told


def _of_companion(problem: BaseException, description: str) -> ToolError:
    """What becomes of an error of a stranger's companion."""
    return CompanionError(f"the companion raised an unexpected error: {description}")


def _of_own_companion(problem: BaseException, description: str) -> ToolError | None:
    """What becomes of an error of one of podium's own companions, which calls functions of its metric."""
    name = type(problem).__name__
    return VISIBLE[name](str(problem)) if name in VISIBLE else None


@contextmanager
def entered(folder: Path, told: Told, may_print: bool = False) -> Iterator[None]:
    """Run a part of a file, and raise what `told` makes of its exception and a description of it.

    What a stranger's file prints goes to stderr, so that it does not mix with what a command prints.
    """
    try:
        with nullcontext() if may_print else redirect_stdout(sys.stderr):
            yield
    except ToolError:
        raise
    except BaseException as problem:
        # Other exceptions are raised by the user's Ctrl+C, or by a limit of processor time.
        error = told(problem, _described(problem, folder)) if _is_of_the_file(problem) else None
        if error is None:
            raise
        raise error from problem


def _is_of_the_file(problem: BaseException) -> bool:
    """Tell whether a metric's file raised an exception, and not somebody who wants to end the process."""
    kind = type(problem)
    # A library in Rust, such as polars, panics with an exception that is not an Exception.
    is_panic = kind is BaseException or kind.__name__ == "PanicException"
    return isinstance(problem, Exception | SystemExit) or is_panic or kind.__module__.startswith(PACKAGE)


def _described(problem: BaseException, folder: Path) -> str:
    """Describe an exception, with the line in a file of this folder that raised it."""
    text = f"{type(problem).__name__}: {' '.join(str(problem).split())}".removesuffix(": ")
    if len(text) > LONGEST_TEXT:  # it may be filled with tables
        text = f"{text[:LONGEST_TEXT]}…"
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
