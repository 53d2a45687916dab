"""Declare the arguments of a command from the dataclass of its options, see `podium.common.options`.

In its docstring, what stands behind a colon takes the place of the value in the help, and “Other Parameters”
are the advanced ones.
"""

import argparse
import inspect
import typing
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from podium.common.options import Values, described, flag_of, kind_of

__all__ = ["SEVERAL", "declare"]

NUMBERS: dict[Any, str] = {int: "N", float: "NUMBER"}  # what stands for a number in the help
SEVERAL = "+"  # marks an argument that takes several values, as in ``Annotated[Sequence[str], SEVERAL]``


class Once(argparse.Action):
    """Keep the value of an option, and refuse a second one, of which argparse would keep the last."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the value."""
        if hasattr(namespace, self.dest):
            raise argparse.ArgumentError(self, "expected one value, and the option is given twice")
        setattr(namespace, self.dest, values)


def declare(parser: argparse.ArgumentParser, kind: type) -> None:
    """Declare an argument for each field of a dataclass that its docstring describes.

    What is not given is no attribute of what the parser returns, or None, so that its default stands in the
    class alone.
    """
    further = parser.add_argument_group("advanced")
    told = dict(described(kind))
    for name, parameter in inspect.signature(kind).parameters.items():
        if name in told:
            said = told[name].text.replace("%", "%%")
            flags, given = _argument(parameter, said, told[name].kind)
            if given.get("nargs") != "?":  # whose default argparse reads as if it was given
                given["default"] = argparse.SUPPRESS
            (further if told[name].is_advanced else parser).add_argument(*flags, **given)


def _argument(parameter: inspect.Parameter, told: str, metavar: str) -> tuple[list[str], dict[str, Any]]:
    """The flags and the further arguments for argparse."""
    kind, marks = kind_of(parameter.annotation)
    name, default = parameter.name, parameter.default
    element = typing.get_args(kind)[0] if typing.get_origin(kind) is Sequence else kind
    readers = [
        _reader(each, default == "") if isinstance(each, Values) else each
        for each in marks
        if callable(each) or isinstance(each, Values)
    ]
    readers += [each for each in (Path, *NUMBERS) if each is kind]
    given: dict[str, Any] = {"help": told, "metavar": metavar}
    given |= {"type": readers[0]} if readers else {}
    given |= {"nargs": SEVERAL} if SEVERAL in marks else {}
    if typing.get_origin(element) is typing.Literal:
        values = typing.get_args(element)
        given |= {"choices": values, "metavar": f"{{{','.join(filter(None, values))}}}"}
    if parameter.kind is not parameter.KEYWORD_ONLY:
        may_be_absent = default is not parameter.empty or type(None) in typing.get_args(parameter.annotation)
        return [name], given | ({"nargs": "?"} if may_be_absent else {})
    flags = [str(mark) for mark in marks if str(mark).startswith("-")]
    if not any(flag.startswith("--") for flag in flags):
        flags.append(flag_of(f"no_{name}" if default is True else name))
    if kind is bool:
        return flags, {"help": told, "action": f"store_{not default}".lower(), "dest": name}
    given["dest"] = name
    if element is not kind:
        given |= {"action": "extend" if SEVERAL in marks else "append"}
        return flags, given
    given["action"] = Once
    if default is parameter.empty:
        given["required"] = True
    else:
        shown = f" (default: {default:g})" if isinstance(default, float) else f" (default: {default})"
        given["help"] = told + (shown if default and "(default:" not in told else "")
    return flags, given


def _reader(values: Values, may_be_empty: bool) -> Any:
    """Read a text as one of an option's values, and say what was expected in place of another one."""

    def read(text: str) -> Any:
        if may_be_empty and not text:
            return text
        with suppress(ValueError):
            if values.fits(value := values.read(text)):
                return value
        raise argparse.ArgumentTypeError(f"expected {values.expected}, found {text or 'nothing'}")

    return read
