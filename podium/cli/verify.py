"""Compute a published board again and compare it to the last bit.

podium verify final

Needed are the folder's run.json and the inputs that it names: metric, solution, submissions, runtimes and
selection.  Nothing of the store is used.  If anything differs, the first differences are listed and the
exit code is 1.
"""

import argparse
import sys

from podium.cli import arguments
from podium.errors import Differences

__all__ = ["add_arguments", "run"]

DIFFERENCES_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("folder", help="the folder of the board, or its run.json")
    for name in ("solution", "submissions", "runtimes", "selection"):
        parser.add_argument(f"--{name}", help="where this input is now, if not where run.json says")
    parser.add_argument("--jobs", type=arguments.positive, default=0, help="processes (default: one per core)")


def run(options: argparse.Namespace) -> None:
    """Verify; raise `Differences` where there are some."""
    from podium.ranking.audit import verify

    names = ("solution", "submissions", "runtimes", "selection")
    inputs = {name: path for name in names if (path := getattr(options, name)) is not None}
    differences, notices = verify(options.folder, options.jobs, **inputs)
    for notice in notices:
        print(f"warning: {notice}", file=sys.stderr)
    if differences:
        more = len(differences) - DIFFERENCES_SHOWN
        lines = [*differences[:DIFFERENCES_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]
        raise Differences("\n".join([f"{options.folder} is not what its inputs lead to:", *lines]))
    print(f"{options.folder} is what its inputs lead to, to the last bit")
