"""Find, load and call a hosted file; the contract by which one offers its parts.

Score
-----
``score(solution, submission, row_id_column_name, **parameters) -> float``
    Parameters have official defaults.  Only this is needed to score, rank and check.
``NAME``, ``__version__``
    In every signature; by its name a file has a companion.
``ParticipantVisibleError``, ``HostVisibleError``
    The submission's faults; the solution's or a parameter's.
``higher_is_better(**parameters) -> bool``
    By default it is.
``COMPLETE_SUBMISSION = True``
    `score` gets the whole submission for either part, not only the part's rows.

Statistics
----------
``prepare(solution, row_id_column_name, **parameters)``
    A solution checked and digested: a frozen dataclass with

    ``items``           list of str, sorted: the n units that are resampled, such as essays
    ``item_of_row``     (rows,) int: of the solution
    ``labels``          list of (attribute, value), by attribute: the g groups; or one: ("(all)", "(all)")
    ``groups``          (attributes, n) int: each item's groups, as indices into ``labels``
    ``statistics(submission)``   (n, k) float, whose sums decide everything
    ``read(submission)``, ``compare(read)``, ``count(compared)``   optional: in steps, to be explained
    ``measure_names``   list of str: the m measures, "score" first; that of a group is "attribute = value"
    ``measures(sums)``  (..., m) float, from sums over each group, (..., g, k); NaN where undefined

    To the last bit, ``score()`` is the first measure of sums over the items, one after the other.  Some items
    are taken by replacing ``items``, ``groups`` and ``labels``: ``statistics`` does not look at the last two,
    ``measures`` only at ``labels``.
``MEASURE_PARAMETERS``
    Parameters on which the statistics do not depend: ranking with others needs no submission.
``progress = None``
    A tool may set a function to call with the work done and the total.
"""

import functools
import importlib.util
import inspect
import math
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from podium.errors import HostError, SubmissionRejected, UsageError

__all__ = [
    "FILES",
    "Metric",
    "defaults",
    "errors_explained",
    "find",
    "higher_is_better",
    "load",
    "module",
    "parse_parameters",
    "settings",
    "signature",
]

Metric = types.ModuleType

FILES = {
    "unified": "metric.py",
    "scifact": "metrics/scifact.py",
    "trec_is": "metrics/trec_is.py",
    "markup_consistency": "metrics/markup_consistency.py",
    "readable": "metrics/readable.py",
}

VISIBLE = {"ParticipantVisibleError": SubmissionRejected, "HostVisibleError": HostError}

# Data of the package in the wheel, beside it in a clone.
_IN_WHEEL = Path(__file__).with_name("_hosted")
_FOLDER = _IN_WHEEL if _IN_WHEEL.is_dir() else Path(__file__).parent.parent


def find(metric: str | Path) -> Path:
    """A metric's file, by its name among `FILES` or its path."""
    path = _FOLDER / FILES[str(metric)] if str(metric) in FILES else Path(metric)
    if not path.is_file():
        raise UsageError(f"there is no metric {metric}: expected a Python file, or one of {', '.join(FILES)}")
    return path


@functools.cache
def module(name: str) -> types.ModuleType:
    """One of the project's own files: "boost", or a name of `FILES`."""
    return _load(_FOLDER / FILES.get(name, f"{name}.py"), f"podium_{name}")


def load(metric: str | Path) -> Metric:
    """A hosted file, as `find` takes it."""
    if str(metric) in FILES:
        return module(str(metric))
    path = find(metric)
    if path.suffix != ".py":
        raise UsageError(f"{path} is not a Python file")
    try:
        loaded = _load(path, f"podium_hosted_{path.stem}")
    except (Exception, SystemExit) as problem:
        raise HostError(f"{path} cannot be loaded: {_described(problem)}") from problem
    if not callable(getattr(loaded, "score", None)):
        raise UsageError(f"{path} is not a metric file: it defines no score()")
    return loaded


def _load(path: Path, name: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded  # for dataclasses and pickle
    spec.loader.exec_module(loaded)
    return loaded


def higher_is_better(metric: Metric, arguments: Mapping[str, Any]) -> bool:
    if not hasattr(metric, "higher_is_better"):
        return True
    return bool(
        metric.higher_is_better(**{name: arguments[name] for name in defaults(metric) if name in arguments})
    )


def defaults(metric: Metric) -> dict[str, Any]:
    """The official parameters of `score`."""
    parameters = list(inspect.signature(metric.score).parameters.values())[3:]
    return {parameter.name: parameter.default for parameter in parameters}


def settings(metric: Metric, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter, as given or official."""
    return {name: arguments.get(name, default) for name, default in defaults(metric).items()}


def signature(metric: Metric, parameters: Mapping[str, Any]) -> str:
    """Name, version and every parameter: ``name:value|…``."""
    parts = {
        "metric": getattr(metric, "NAME", Path(str(metric.__file__)).stem),
        "version": getattr(metric, "__version__", "?"),
    }
    annotations = inspect.signature(metric.score).parameters
    for name, value in settings(metric, parameters).items():  # 1 and 1.0 are the same parameter
        parts[name] = float(value) if annotations[name].annotation is float else value
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def parse_parameters(metric: Metric, assignments: list[str]) -> dict[str, Any]:
    """Arguments from ``NAME=VALUE``, as `score` annotates them."""
    accepted = dict(list(inspect.signature(metric.score).parameters.items())[2:])
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise UsageError(f"--set {assignment}: expected NAME=VALUE")
        if name in values:
            raise UsageError(f"--set {name} is given twice")
        if name not in accepted:
            raise HostError(f"the metric has no parameter {name}; it has {', '.join(accepted)}")
        try:
            values[name] = _convert(text, accepted[name].annotation)
        except ValueError as problem:
            raise HostError(f"{name} is {text!r}: {problem}") from None
    return values


def _convert(text: str, annotation: Any) -> Any:
    options = [option for option in typing.get_args(annotation) if option is not type(None)]
    if options:  # Optional[…]: the text none means None
        return None if text.lower() == "none" else _convert(text, options[0])
    if annotation is bool:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in words:
            raise ValueError("expected true or false")
        return words[text.lower()]
    if annotation in (int, float):
        with suppress(ValueError, OverflowError):
            number = annotation(text)
            if not math.isnan(number):
                return number
        raise ValueError(f"expected a {'whole ' if annotation is int else ''}number")
    return text


@contextmanager
def errors_explained() -> Iterator[None]:
    """Raise `SubmissionRejected` or `HostError` for what a metric raises."""
    try:
        yield
    except Exception as problem:
        name = type(problem).__name__
        if name in VISIBLE:
            raise VISIBLE[name](str(problem)) from problem
        raise HostError(f"the metric raised an unexpected error: {_described(problem)}") from problem


def _described(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {' '.join(str(problem).split())}"
