"""How many examples Hypothesis, or a loop over made-up ones, tries."""

from typing import TypeVar

from hypothesis import settings

Thing = TypeVar("Thing")


def some(number: int) -> int:
    """So many with `--hypothesis-profile=all`, a quarter of them without (tests/conftest.py)."""
    return number * settings().max_examples // 100


def some_of(things: list[Thing]) -> list[Thing]:
    """All of them with `--hypothesis-profile=all`, every fourth without."""
    return things[:: 100 // settings().max_examples]


def examples(number: int) -> settings:
    """Settings of Hypothesis for `some` of so many."""
    return settings(max_examples=some(number))
