"""Tell the organizer what happens meanwhile, on the standard error."""

import sys


def tell(line: str) -> None:
    """Print a line at once."""
    print(line, file=sys.stderr, flush=True)
