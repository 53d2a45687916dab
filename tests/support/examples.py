"""The number of examples that Hypothesis, or a loop over made-up ones, tries."""

from typing import TypeVar

from hypothesis import settings

Thing = TypeVar("Thing")

FEWEST = 2  # examples that a test tries at least


def some(number: int) -> int:
    """The whole number with `--hypothesis-profile=all`, and a tenth of it without (see tests/conftest.py)."""
    return min(number, max(FEWEST, number * settings().max_examples // 100))


def some_of(things: list[Thing]) -> list[Thing]:
    """The whole list with `--hypothesis-profile=all`, and every fourth element without."""
    return things if settings().max_examples == 100 else things[::4]


def examples(number: int) -> settings:
    """Settings with which Hypothesis tries `some` of this number of examples."""
    return settings(max_examples=some(number))
