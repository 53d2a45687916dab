"""How many examples Hypothesis tries."""

from hypothesis import settings


def examples(number: int) -> settings:
    """So many with `--hypothesis-profile=all`, a quarter of them without (tests/conftest.py)."""
    return settings(max_examples=number * settings().max_examples // 100)
