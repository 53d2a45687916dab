"""Numbers and lists as messages and pages show them."""

from collections.abc import Sequence

__all__ = ["counted", "listed"]


def counted(number: int, noun: str) -> str:
    """The number and its noun.

    >>> counted(1, "essay"), counted(1200, "essay")
    ('1 essay', '1,200 essays')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(items: Sequence[object], most: int = 5) -> str:
    """The first items, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(map(str, items[:most])) + more
