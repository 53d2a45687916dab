"""Declare the arguments of a command by the function that does its work: its signature and its docstring."""

import argparse
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["declare"]

PARAMETER = re.compile(r"^(\w.*?) : .*\n((?: {4}.*\n?)+)", re.MULTILINE)  # in a docstring in numpy style

OF_METRIC = "parameters"  # is given by --set
NUMBERS: dict[Any, str] = {int: "N", float: "NUMBER"}  # what stands for a number in the help


def declare(
    parser: argparse.ArgumentParser,
    function: Callable[..., Any],
    metavars: Mapping[str, str],
    advanced: str = "",
) -> None:
    """Declare an argument for each parameter; those from the one called `advanced` on have their own group."""
    group: argparse._ActionsContainer = parser
    told = _described(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD or name == OF_METRIC:
            continue
        if name == advanced:
            group = parser.add_argument_group("advanced")
        given: dict[str, Any] = {"help": told[name], "metavar": metavars.get(name)}
        default, kinds = parameter.default, _kinds(parameter.annotation)
        if parameter.kind is not parameter.KEYWORD_ONLY:
            group.add_argument(name, nargs="?" if default is None else None, **given)
            continue
        if default is parameter.empty:
            given["required"] = True
        elif default not in (None, False, ()):
            given |= {"default": default, "help": f"{told[name]} (default: {default})"}
        option = f"--{name.replace('_', '-')}"
        if bool in kinds:
            del given["metavar"]
            is_off = default is None  # an option that turns off what happens by itself
            given |= (
                {"action": "store_false", "dest": name, "default": None} if is_off else {"action": "store_true"}
            )
            option = f"--no-{name}" if is_off else option
        elif typing.get_origin(kinds[0]) is Sequence:
            given |= {"action": "append", "default": []}
        elif typing.get_origin(kinds[0]) is typing.Literal:
            given["choices"] = typing.get_args(kinds[0])
        elif kinds[0] in NUMBERS:
            given |= {"type": kinds[0], "default": default, "metavar": NUMBERS[kinds[0]]}
        group.add_argument(option, **given)


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The types of which a value may be."""
    is_union = typing.get_origin(annotation) in (types.UnionType, typing.Union)
    return typing.get_args(annotation) if is_union else (annotation,)


def _described(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring says of each parameter, as the help of a command says it."""
    section = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    told: dict[str, str] = {}
    for names, text in PARAMETER.findall(section):
        said = " ".join(text.split()).replace("`", "").replace("%", "%%").removesuffix(".")
        told |= dict.fromkeys(names.split(", "), said[0].lower() + said[1:])
    return told
