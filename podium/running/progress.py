"""Tell the organizer what happens meanwhile, on the standard error."""

import sys

__all__ = ["tell"]


def tell(line: str) -> None:
    """Print a line at once."""
    print(line, file=sys.stderr, flush=True)
