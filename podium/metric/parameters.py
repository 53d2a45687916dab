"""The parameters of a metric's ``score()``: official values, what is given in their place, and the signature.

What ``--set NAME=VALUE`` means is read here, too, as Kaggle's site reads it.
"""

import inspect
import numbers
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from podium.common.errors import HostError, UsageError
from podium.common.options import as_parameter
from podium.common.wording import listed
from podium.metric.contract import REQUIRED, Metric

__all__ = [
    "check_parameters",
    "columns_named",
    "defaults",
    "higher_is_better",
    "parse_parameters",
    "signature_of",
    "values_of",
]

NO_DEFAULT = inspect.Parameter.empty


def higher_is_better(metric: Metric, arguments: Mapping[str, Any]) -> bool:
    """Tell whether a higher score is better, with the values that the parameters of ``score`` take."""
    if metric.direction is None:
        return True
    values = {**defaults(metric), **arguments}
    accepted = inspect.signature(metric.direction).parameters
    takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in accepted.values())
    known = defaults(metric) if takes_all else accepted
    given = {name: value for name, value in values.items() if name in known}
    return metric.direction(**{name: value for name, value in given.items() if value is not NO_DEFAULT})


def defaults(metric: Metric) -> dict[str, Any]:
    """List the official parameters of a metric; one without a default has the value NO_DEFAULT."""
    parameters = list(inspect.signature(metric.score).parameters.values())[len(REQUIRED) :]
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {parameter.name: parameter.default for parameter in parameters if parameter.kind in by_name}


def values_of(metric: Metric, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """List every parameter of ``score`` with its value; a parameter without a value is an error."""
    values = {name: arguments.get(name, default) for name, default in defaults(metric).items()}
    if lacking := [name for name, value in values.items() if value is NO_DEFAULT]:
        given = " ".join(map(as_parameter, lacking))
        raise HostError(f"{metric.path.name}: expected a value of {listed(lacking)}, found none: give {given}")
    return values


def columns_named(metric: Metric, parameters: Mapping[str, Any]) -> dict[str, set[str]]:
    """List the columns that each parameter names: one, or with ``…_column_names`` several, between commas."""
    named: dict[str, set[str]] = {}
    for name, value in {**defaults(metric), **parameters}.items():
        if isinstance(value, str) and name.endswith("_column_name"):
            named[name] = {value}
        elif isinstance(value, str) and name.endswith("_column_names"):
            named[name] = {part.strip() for part in value.split(",")} - {""}
    return named


def signature_of(
    metric: Metric, parameters: Mapping[str, Any], further: Mapping[str, str] = types.MappingProxyType({})
) -> str:
    """Make the signature to quote with a score: the metric's name, its version and its parameters.

    A parameter that was added later stands there only if it differs from its default.

    `further` is what else changes the score, such as "essays": "5/40".

    The form follows sacrebleu (Post, “A Call for Clarity in Reporting BLEU Scores”, 2018).
    """
    parts: dict[str, Any] = {"metric": metric.name, "version": metric.version}
    kinds, official = _types(metric), defaults(metric)
    for name, value in values_of(metric, parameters).items():
        if name in metric.later_parameters and value == official[name]:
            continue
        parts[name] = float(value) if kinds[name] is float and isinstance(value, numbers.Real) else value
    return "|".join(f"{name}:{value}" for name, value in (parts | dict(further)).items())


def check_parameters(metric: Metric, parameters: Mapping[str, Any]) -> None:
    """Check that ``score`` has all of these parameters."""
    accepted = list(inspect.signature(metric.score).parameters)[2:]
    for name in parameters:
        if name not in accepted:
            raise HostError(f"the metric has no parameter {name}; it has {', '.join(accepted)}")


def parse_parameters(metric: Metric, assignments: Sequence[str]) -> dict[str, Any]:
    """Turn texts of the form ``NAME=VALUE`` into arguments of ``score``."""
    kinds = _types(metric)
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise UsageError(f"--set {assignment}: expected NAME=VALUE")
        if name in values:
            raise UsageError(f"--set {name} is given twice")
        check_parameters(metric, {name: text})
        values[name] = _value(name, text, kinds[name])
    return values


def _types(metric: Metric) -> dict[str, Any]:
    """The type of each parameter of ``score``: its annotation, or else the type of its default."""
    annotations: dict[str, Any] = {}
    # An annotation may be a text that names what is not there, or be no type at all.
    with suppress(Exception):
        annotations = typing.get_type_hints(metric.score)
    kinds: dict[str, Any] = {}
    for name, parameter in inspect.signature(metric.score).parameters.items():
        of_default = str if parameter.default in (inspect.Parameter.empty, None) else type(parameter.default)
        kind = annotations.get(name, parameter.annotation)
        says_nothing = kind in (Any, inspect.Parameter.empty) or isinstance(kind, str)
        kinds[name] = of_default if says_nothing else kind
    return kinds


def _value(name: str, text: str, kind: Any) -> Any:
    """Read the value of a parameter from a text, as Kaggle's site does: int, float, bool or str.

    Of a union, the first of these types counts that can be read from the text.
    """
    is_union = typing.get_origin(kind) in (typing.Union, types.UnionType)
    options = typing.get_args(kind) if is_union else (kind,)
    is_optional = type(None) in options
    if is_optional and text.lower() == "none":
        return None
    readers = [reader for option, reader in READERS.items() if option in options]
    if not readers:
        raise UsageError(f"--set {name}: expected a parameter of type int, float, bool or str, found {kind}")
    for _, read in readers:
        with suppress(ValueError, KeyError, OverflowError):
            value = read(text)
            if value == value:  # It is not NaN.
                return value
    expected = " or ".join(expected for expected, _ in readers)
    raise HostError(f"{name} is {text!r}: expected {expected}{' or none' if is_optional else ''}")


def _truth_value(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    return words[text.lower()]


# How --set reads a value of each type: what is expected, and the function that reads it.
READERS: dict[type, tuple[str, Callable[[str], Any]]] = {
    int: ("a whole number", int),
    float: ("a number", float),
    bool: ("true or false", _truth_value),
    str: ("a text", str),
}
