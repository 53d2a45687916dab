"""How many examples Hypothesis, or a loop over made-up ones, tries."""

from hypothesis import settings


def some(number: int) -> int:
    """So many with `--hypothesis-profile=all`, a quarter of them without (tests/conftest.py)."""
    return number * settings().max_examples // 100


def examples(number: int) -> settings:
    """The settings of Hypothesis for `some` of them."""
    return settings(max_examples=some(number))
