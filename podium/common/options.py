"""Options: each is declared once, as the field of a dataclass, and everything else is derived from that.

    prizes: Annotated[int, whole_number(0, 1_000_000)] = 3

The class has their types, their values and their defaults, and its docstring says what they are for. From it
come the arguments of the command (`podium.cli.declared`), those of a function in Python (`takes`), and the
check of what either was given (`made`, `fault_in`).
"""

import contextlib
import dataclasses
import functools
import inspect
import json
import os
import re
import shlex
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar

from podium.common.errors import UsageError

__all__ = [
    "GIVEN",
    "Described",
    "Values",
    "as_option",
    "as_parameter",
    "by_command",
    "described",
    "fault_in",
    "flag_of",
    "is_command",
    "kind_of",
    "made",
    "takes",
    "whole_number",
]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

SECTION = r"^(Other )?Parameters\n-+\n(.*?)(?:\n\n|\Z)"  # of a docstring in numpy style
PARAMETER = re.compile(r"^(\w.*?) : (.*)\n((?: {4}.*\n?)+)", re.MULTILINE)
GIVEN = "given"  # the field, of a class that has it, with the names of the options that were given


class Values(NamedTuple):
    """Which values an option takes, and how they are read from the text of a command line."""

    expected: str  # in words
    fits: Callable[[Any], bool]
    read: Callable[[str], Any] = str  # raises a ValueError for a text that is none


def whole_number(least: int, most: int | None = None) -> Values:
    """Whole numbers."""

    def fits(value: Any) -> bool:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return is_whole and least <= value and (most is None or value <= most)

    limits = f"that is at least {least}" if most is None else f"from {least:,} to {most:,}"
    return Values(f"a whole number {limits}", fits, int)


class Described(NamedTuple):
    """What a docstring says of an option."""

    kind: str  # what stands for its value in the help
    text: str
    is_advanced: bool


def described(kind: type) -> Iterator[tuple[str, Described]]:
    """What the docstrings of a class and of its bases say of each option, as the help says it."""
    for each in reversed(inspect.getmro(kind)[:-1]):  # what a class says itself comes last
        for other, section in re.findall(SECTION, inspect.getdoc(each) or "", re.MULTILINE | re.DOTALL):
            for names, metavar, text in PARAMETER.findall(section):
                said = " ".join(text.split()).replace("`", "").removesuffix(".")
                for name in names.split(", "):
                    yield name, Described(metavar, said[0].lower() + said[1:], bool(other))


def kind_of(annotation: Any) -> tuple[Any, list[Any]]:
    """The first type of a value, and its marks: a reader of its text, its `Values`, or a flag of its own."""
    marks: list[Any] = []
    if typing.get_origin(annotation) is Annotated:
        annotation, *marks = typing.get_args(annotation)
    is_union = typing.get_origin(annotation) in (types.UnionType, typing.Union)
    return typing.get_args(annotation)[0] if is_union else annotation, marks


def flag_of(name: str) -> str:
    """The option of the command that gives a field its value."""
    return f"--{name.replace('_', '-')}"


def made(kind: Callable[..., T], values: Mapping[str, Any]) -> T:
    """Make options of what was given; None stands for what was not."""
    declared = inspect.signature(kind).parameters
    # A first argument that may be left out has no default, because others that are needed stand behind it.
    missing = {
        name: None
        for name, each in declared.items()
        if each.default is each.empty and type(None) in typing.get_args(each.annotation)
    }
    given = missing | {name: value for name, value in values.items() if value is not None}
    further = {GIVEN: frozenset(given)} if GIVEN in declared else {}
    options = kind(**given, **further)
    if fault := fault_in(options):
        raise UsageError(fault)
    return options


def takes(kind: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Let a function of options be called with these as its arguments, which its docstring then describes.

    Arguments that are no options go to the function as they are.
    """
    fields = {name: each for name, each in inspect.signature(kind).parameters.items() if name != GIVEN}
    described = (inspect.getdoc(kind) or "").partition("Parameters\n")

    def declared(function: Callable[..., R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*positional: P.args, **named: P.kwargs) -> R:
            given: dict[str, Any] = {**dict(zip(fields, positional)), **dict[str, Any](named)}
            more = {name: given.pop(name) for name in [*given] if name not in fields}
            paths = {name: os.fspath(each) for name, each in given.items() if isinstance(each, os.PathLike)}
            return function(made(kind, given | paths), **more)

        doc = inspect.cleandoc(function.__doc__ or "")
        called.__doc__ = doc.replace("\n\nReturns\n", f"\n\n{''.join(described[1:])}\n\nReturns\n", 1)
        returned = inspect.signature(function).return_annotation
        vars(called)["__signature__"] = inspect.Signature([*fields.values()], return_annotation=returned)
        return called

    return declared


def fault_in(options: Any) -> str:
    """Say which option has a value that it does not take, or return an empty text."""
    hints = typing.get_type_hints(type(options), include_extras=True)
    for field in dataclasses.fields(options):
        value, (kind, marks) = getattr(options, field.name), kind_of(hints[field.name])
        if value is None:
            continue
        if (what := _text_of(hints[field.name])) and not isinstance(value, str | os.PathLike):
            return f"{as_option(field.name)}: expected {what}, found a value of type {type(value).__name__}"
        if type(value) is type(field.default) and value == field.default:
            continue
        expected = [each.expected for each in marks if isinstance(each, Values) and not each.fits(value)]
        if kind is bool and not isinstance(value, bool):
            expected = ["True or False"]
        elif kind is int and not marks and not isinstance(value, int):
            expected = ["a whole number"]
        elif typing.get_origin(kind) is typing.Literal and value not in typing.get_args(kind):
            expected = [f"one of {', '.join(filter(None, typing.get_args(kind)))}"]
        if expected:
            return f"{as_option(field.name)}: expected {expected[0]}, found {value!r:.40}"
    return ""


def _text_of(annotation: Any) -> str:
    """What an option is that takes a text or a path and nothing else; "" for another one.

    >>> _text_of(str | None), _text_of(str | os.PathLike[str]), _text_of(str | int), _text_of(list[str])
    ('a text', 'a path', '', '')
    """
    while typing.get_origin(annotation) is Annotated:
        annotation = typing.get_args(annotation)[0]
    is_union = typing.get_origin(annotation) in (types.UnionType, typing.Union)
    each_of = typing.get_args(annotation) if is_union else (annotation,)
    kinds = {typing.get_origin(each) or each for each in each_of}
    if not kinds <= {str, os.PathLike, types.NoneType}:
        return ""
    return "a path" if os.PathLike in kinds else "a text"


# ---- How a message names an option -------------------------------------------------------------------------

_by_command = [False]  # whether a command is at work; the last one counts


@contextlib.contextmanager
def by_command(is_command: bool = True) -> Iterator[None]:
    """Let messages name options as on a command line; else they name the arguments of functions in Python."""
    _by_command.append(is_command)
    try:
        yield
    finally:
        _by_command.pop()


def is_command() -> bool:
    """Whether a command is at work, and not a function that somebody has called in Python."""
    return _by_command[-1]


def as_option(name: str, value: str | bool | int | None = None) -> str:
    """Name an option, and perhaps its value, as whoever reads the message has to write it.

    >>> as_option("time_limit"), as_option("boost", False), as_option("items", "patient")
    ('time_limit', 'boost=False', 'items="patient"')
    >>> with by_command():
    ...     as_option("time_limit"), as_option("boost", False), as_option("items", "patient")
    ('--time-limit', '--no-boost', '--items patient')
    """
    if not is_command():
        return name if value is None else f"{name}={_in_python(value)}"
    if isinstance(value, bool):
        return flag_of(name if value else f"no_{name}")
    return flag_of(name) if value is None else f"{flag_of(name)} {shlex.quote(str(value))}"


def as_parameter(name: str, value: str | None = None) -> str:
    """Name a parameter of the metric with its value, or with dots for one that is to be found.

    >>> as_parameter("columns", ""), as_parameter("power")
    ('columns=""', 'power=…')
    >>> with by_command():
    ...     as_parameter("columns", ""), as_parameter("power")
    ('--set columns=', '--set power=…')
    """
    if not is_command():
        return f"{name}={'…' if value is None else _in_python(value)}"
    return f"--set {name}=…" if value is None else f"--set {shlex.quote(f'{name}={value}')}"


def _in_python(value: str | bool | int) -> str:
    """Write a value as in Python."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
