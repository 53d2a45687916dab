"""Declare the arguments of a command by the function that does its work: its signature and its docstring."""

import argparse
import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["declare"]

PARAMETER = re.compile(r"^(\w.*?) : .*\n((?: {4}.*\n?)+)", re.MULTILINE)  # in a docstring in numpy style


def declare(
    parser: argparse.ArgumentParser, function: Callable[..., Any], metavars: Mapping[str, str], advanced: str
) -> None:
    """Declare an argument for each parameter; those from the one called `advanced` on have their own group."""
    group: argparse._ActionsContainer = parser
    told = _described(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if name == advanced:
            group = parser.add_argument_group("advanced")
        given: dict[str, Any] = {"help": told[name], "metavar": metavars.get(name)}
        default, kind = parameter.default, parameter.annotation
        if parameter.kind is not parameter.KEYWORD_ONLY:
            group.add_argument(name, **given)
            continue
        if default is parameter.empty:
            given["required"] = True
        elif default not in (None, False, ()):
            given |= {"default": default, "help": f"{told[name]} (default: {default})"}
        if kind is bool:
            del given["metavar"]
            given["action"] = "store_true"
        elif typing.get_origin(kind) is Sequence:
            given |= {"action": "append", "default": []}
        elif choices := typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ():
            given["choices"] = choices
        elif kind is int:
            given |= {"type": int, "default": default}
        group.add_argument(f"--{name.replace('_', '-')}", **given)


def _described(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring says of each parameter, as the help of a command says it."""
    section = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    told: dict[str, str] = {}
    for names, text in PARAMETER.findall(section):
        said = " ".join(text.split()).replace("`", "").replace("%", "%%").removesuffix(".")
        told |= dict.fromkeys(names.split(", "), said[0].lower() + said[1:])
    return told
