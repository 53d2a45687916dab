"""Numbers and lists in messages and pages."""

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """As in "1 essay", "1,200 essays"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(items: Sequence[object], most: int = 5) -> str:
    """As in "a, b and 1 more"."""
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(map(str, items[:most])) + more
