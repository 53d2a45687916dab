"""What was found out, as a kind and its facts; the words of all kinds stand in ``statements.toml``.

Whoever finds something collects the facts. Whoever changes a sentence changes one line of the table, which the
tests hold against the calls of `Statement` and `say` and against the page of messages.
"""

import functools
import string
import tomllib
from collections.abc import Sized
from pathlib import Path
from typing import Any

from podium.common.wording import counted, listed, together

__all__ = ["Statement", "say"]

TABLE = Path(__file__).with_name("statements.toml")


class Statement:
    """Something that was found out: its kind, and the facts with which its words are filled in."""

    def __init__(self, kind: str, **facts: Any) -> None:
        self.kind, self.facts = kind, facts

    def __str__(self) -> str:
        return _IN_WORDS.vformat(words()[self.kind], (), self.facts)


def say(kind: str, **facts: Any) -> str:
    """Write a statement in words at once."""
    return str(Statement(kind, **facts))


@functools.cache
def words() -> dict[str, str]:
    """The words of each kind."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


class _InWords(string.Formatter):
    """Fill in words. The beginning of the table says what may stand behind the colon of a field."""

    def format_field(self, value: Any, format_spec: str) -> str:
        form, _, rest = format_spec.partition(" ")
        if form == "list":
            return listed(value, *map(int, rest.split()))
        if form == "and":
            return together(value)
        if form == "#":
            return counted(_number(value), rest)
        if "|" in format_spec:
            return format_spec.split("|")[_number(value) != 1]
        return str(super().format_field(value, format_spec))


def _number(value: Any) -> int:
    """A number, or that of some things."""
    return len(value) if isinstance(value, Sized) else value


_IN_WORDS = _InWords()
