"""Declare the arguments of a command once: by a signature, which has their types, and by its docstring.

They are those of the function that does the command's work, or of a dataclass of its options.  In the docstring
of a dataclass, what stands behind a colon takes the place of the value in the help, and “Other Parameters” are
the advanced ones.
"""

import argparse
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

__all__ = ["SEVERAL", "declare"]

SECTION = r"^(Other )?Parameters\n-+\n(.*?)(?:\n\n|\Z)"  # of a docstring in numpy style
PARAMETER = re.compile(r"^(\w.*?) : (.*)\n((?: {4}.*\n?)+)", re.MULTILINE)

OF_METRIC = "parameters"  # is given by --set
NUMBERS: dict[Any, str] = {int: "N", float: "NUMBER"}  # what stands for a number in the help
SEVERAL = "+"  # marks an argument that takes several values, as in ``Annotated[Sequence[str], SEVERAL]``


class Described(NamedTuple):
    """What a docstring says of a parameter."""

    kind: str
    text: str
    is_advanced: bool


def declare(
    parser: argparse.ArgumentParser,
    declared: Callable[..., Any],
    metavars: Mapping[str, str] | None = None,
    advanced: str = "",
) -> None:
    """Declare an argument for each parameter of a function or of a dataclass.

    Of a function, the `metavars` are given, and those from the one called `advanced` on are the advanced ones.
    """
    group: argparse._ActionsContainer = parser
    further = parser.add_argument_group("advanced")
    told = dict(_described(declared))
    for name, parameter in inspect.signature(declared).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD or name == OF_METRIC:
            continue
        group = further if name == advanced else group
        metavar = told[name].kind if metavars is None else metavars.get(name)
        flags, given = _argument(parameter, told[name].text, metavar)
        (further if told[name].is_advanced else group).add_argument(*flags, **given)


def _argument(parameter: inspect.Parameter, told: str, metavar: str | None) -> tuple[list[str], dict[str, Any]]:
    """The flags and the further arguments for argparse."""
    kind, marks = _kind(parameter.annotation)
    name, default = parameter.name, parameter.default
    element = typing.get_args(kind)[0] if typing.get_origin(kind) is Sequence else kind
    readers = [each for each in marks if callable(each)] or [each for each in (Path, *NUMBERS) if each is kind]
    given: dict[str, Any] = {"help": told, "metavar": metavar or NUMBERS.get(kind)}
    given |= {"type": readers[0]} if readers else {}
    given |= {"nargs": SEVERAL} if SEVERAL in marks else {}
    if typing.get_origin(element) is typing.Literal:
        given |= {"choices": typing.get_args(element), "metavar": None}
    if parameter.kind is not parameter.KEYWORD_ONLY:
        may_be_absent = default is None or type(None) in typing.get_args(parameter.annotation)
        return [name], given | ({"nargs": "?"} if may_be_absent else {})
    flag = f"--{name.replace('_', '-')}"
    if element is not kind:
        given |= {"action": "extend" if SEVERAL in marks else "append", "default": []}
    elif kind is bool and default is None:  # an option that turns off what happens by itself
        return [f"--no-{name}"], {"help": told, "action": "store_false", "dest": name, "default": None}
    elif kind is bool:
        given = {"help": told, "action": "store_true"}
    elif default is parameter.empty:
        given["required"] = True
    else:
        shown = f" (default: {default:g})" if isinstance(default, float) else f" (default: {default})"
        given |= {"default": default, "help": told + (shown if default else "")}
    return [*(mark for mark in marks if str(mark).startswith("-")), flag], given


def _kind(annotation: Any) -> tuple[Any, list[Any]]:
    """The first type of a value, and its marks: a reader of its text, a short flag, or `SEVERAL`."""
    marks: list[Any] = []
    if typing.get_origin(annotation) is Annotated:
        annotation, *marks = typing.get_args(annotation)
    is_union = typing.get_origin(annotation) in (types.UnionType, typing.Union)
    return typing.get_args(annotation)[0] if is_union else annotation, marks


def _described(declared: Callable[..., Any]) -> Iterator[tuple[str, Described]]:
    """What the docstring, or those of a class and its bases, says of each parameter, as the help says it."""
    for each in inspect.getmro(declared)[:-1] if isinstance(declared, type) else [declared]:
        for other, section in re.findall(SECTION, inspect.getdoc(each) or "", re.MULTILINE | re.DOTALL):
            for names, kind, text in PARAMETER.findall(section):
                said = " ".join(text.split()).replace("`", "").replace("%", "%%").removesuffix(".")
                for name in names.split(", "):
                    yield name, Described(kind, said[0].lower() + said[1:], bool(other))
