"""The convention by which a metric file offers its parts, and how to load and call one.

A **metric file** is one Python file, uploaded to Kaggle as it is.  It must define

``score(solution, submission, row_id_column_name, **parameters) -> float``
    Two frames and the name of the row id; further parameters with annotations and official defaults.

What more it offers, the tools use:

``evaluate(`` same arguments ``) -> evaluation``, an object with

    ``score``       float
    ``signature``   str: the metric's version and every parameter, to print beside a score
    ``tables``      dict of str to DataFrame: small tables for people, by title
    ``notices``     list of str: what a reader of the score should know
    ``segments``    DataFrame: one row per item of either side and what became of it.  Columns of these names
                    have one meaning: ``side`` ("prediction" or "truth"); ``row_id``; ``first`` and ``last``
                    (positions of words in a text, from 0, both inclusive), ``words`` (their number) and
                    ``words_kept`` (how many of them counted: the last ones); ``partner`` (row id on the other
                    side), ``partner_type``, ``partner_first``, ``partner_last``; ``points_lost`` (how much
                    the score would rise, to first order, were this row alone right)
    ``roles``       dict: which column of ``segments`` is the "item" (an id of ``items``), the "label" (what
                    a row is taken for) and the "outcome" ("matched" or "correct" where all is well)
    ``losses``      DataFrame: of each row of ``segments`` the points lost by each cause (columns); the rows'
                    sums are ``points_lost``
    ``groups``      DataFrame: of each item (index) the sub-population by each attribute (columns)
    ``subpopulations``  DataFrame: attribute, value, score, weight (of its score in the score) and sizes; the
                    score is the measure "attribute = value"
    ``confusion``   DataFrame: how often the label of the truth (index) was predicted as which (columns)
    ``forecasts``   DataFrame: "probability" and whether it "happened" (0 or 1), to see the calibration
    ``histograms``  dict of figures, each a dict of panels: title to values; see `competition.histograms`
    ``measures``    dict of str to float: named numbers, ``"score"`` first
    ``items``       list of str: the units that a bootstrap draws (essays, claims, documents), in an order
                    that depends on the solution alone
    ``resample(weights)``   the measures if item i counted ``weights[r, i]`` times: (resamples, items)
                    counts to (resamples, measures) floats, NaN where a measure is undefined
    ``mix(other, swapped)``  the measures of this submission and another one, had they swapped their answers
                    to item i where ``swapped[r, i]`` is 1: (mixtures, items) to two (mixtures, measures)

``prepare(solution, row_id_column_name, **parameters)``
    A solution digested once, with

    ``evaluate(submission)``   as above
    ``part(rows)``             the same for some of the solution's rows, (n,) bool
    ``read(submission)``       (with ``FREE_ROWS``) a submission digested once: what ``evaluate`` of this
                               solution and its parts takes in place of the frame

``read_solution(path)``, ``read_submission(path) -> DataFrame``
    Readers for files that are not CSV; they raise the file's own exceptions for bad content.

``TEXT_COLUMNS``
    Names of columns that hold text, whatever it looks like.  So do the columns named by parameters whose
    name ends in ``_column_name`` or ``_column_names`` (a comma-separated list).

``progress = None``
    A tool may set it to a function, which scoring then calls with the work done and all work, as numbers.

``FREE_ROWS = True``
    The rows of a submission do not answer the rows of the solution one to one.  Without it, the public
    score is that of the submission's rows whose id is among the solution's public rows, as on Kaggle.

A submission's faults raise an exception whose class is *named* ``ParticipantVisibleError``; any other
exception is the host's matter.
"""

import importlib.util
import inspect
import math
import sys
import types
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from competition.errors import HostError, SubmissionRejected, UsageError

__all__ = ["column_names", "errors_explained", "load", "parse_parameters", "text_columns"]

Metric = types.ModuleType
REQUIRED = ("solution", "submission", "row_id_column_name")


def load(path: str | Path) -> Metric:
    """Load a metric file as a module.

    Raises
    ------
    UsageError
        There is no such file or it defines no `score`.
    HostError
        It fails while it is loaded.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no metric file {path}")
    name = f"metric_file_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look a class's module up by its name
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        raise HostError(f"{path} cannot be loaded: {_described(problem)}") from problem
    if not callable(getattr(module, "score", None)):
        raise UsageError(f"{path} is not a metric file: it defines no score()")
    return module


def parse_parameters(metric: Metric, assignments: list[str]) -> dict[str, Any]:
    """The keyword arguments that a list of ``NAME=VALUE`` gives, converted as `score` annotates them.

    Raises
    ------
    UsageError
        An assignment has no "=" or is repeated.
    HostError
        `score` has no such parameter, or the value does not fit it.
    """
    accepted = list(inspect.signature(metric.score).parameters)[2:]
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise UsageError(f"--set {assignment}: expected NAME=VALUE")
        if name in values:
            raise UsageError(f"--set {name} is given twice")
        if name not in accepted:
            raise HostError(f"the metric has no parameter {name}; it has {', '.join(accepted)}")
        annotation = inspect.signature(metric.score).parameters[name].annotation
        try:
            values[name] = _convert(text, annotation)
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
        try:
            number = annotation(text)
        except ValueError:
            raise ValueError(f"expected {'a whole number' if annotation is int else 'a number'}") from None
        if math.isnan(number):
            raise ValueError("expected a number")
        return number
    return text


def column_names(metric: Metric, parameters: dict[str, Any]) -> set[str]:
    """Columns named by the metric's parameters, at their defaults where not given."""
    names: set[str] = set()
    for name, parameter in inspect.signature(metric.score).parameters.items():
        value = parameters.get(name, parameter.default)
        if isinstance(value, str) and name.endswith("_column_name"):
            names.add(value)
        elif isinstance(value, str) and name.endswith("_column_names"):
            names |= {part.strip() for part in value.split(",") if part.strip()}
    return names


def text_columns(metric: Metric, parameters: dict[str, Any]) -> set[str]:
    """Columns that must be read as text."""
    return column_names(metric, parameters) | set(getattr(metric, "TEXT_COLUMNS", ()))


@contextmanager
def errors_explained() -> Iterator[None]:
    """Turn what a metric raises into `SubmissionRejected` or `HostError`, by the name of its class."""
    try:
        yield
    except Exception as problem:
        name = type(problem).__name__
        if name == "ParticipantVisibleError":
            raise SubmissionRejected(str(problem)) from problem
        if name == "HostVisibleError":
            raise HostError(str(problem)) from problem
        raise HostError(f"the metric raised an unexpected error: {_described(problem)}") from problem


def _described(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {' '.join(str(problem).split())}"
