"""Compute the tables and pages of a published board again, and compare them to the last bit.

    podium verify final

It reads the folder's run.json and the inputs that this file names, and no stored statistics. If anything
differs, the first differences are listed and the exit code is 1.
"""

import argparse

from podium.cli import arguments
from podium.errors import Differences

INPUTS = {
    "metric": "the metric is",
    "solution": "the solution is",
    "submissions": "the submissions are",
    "runtimes": "the table of runtimes is",
    "selection": "the selection is",
    "failed": "the table of failed models is",
}
DIFFERENCES_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium verify``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of the command.
    """
    parser.add_argument("folder", help="the folder of the board, or its run.json")
    for name, what in INPUTS.items():
        parser.add_argument(
            f"--{name}", metavar="PATH", help=f"where {what} now (default: where run.json says)"
        )
    parser.add_argument(
        "--jobs",
        type=arguments.positive,
        default=0,
        metavar="N",
        help="how many processes work at once (default: one per core)",
    )


def run(options: argparse.Namespace) -> None:
    """Compute a board again, and list the differences.

    Parameters
    ----------
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Raises
    ------
    Differences
        The board differs from the one that its inputs lead to.
    UsageError
        A file cannot be read.
    """
    from podium.cli import console
    from podium.ranking.audit import verify

    inputs = {name: path for name in INPUTS if (path := getattr(options, name)) is not None}
    differences, notices = verify(options.folder, options.jobs, **inputs)
    console.warn(notices)
    if differences:
        more = len(differences) - DIFFERENCES_SHOWN
        lines = differences[:DIFFERENCES_SHOWN] + [f"and {more:,} more"] * (more > 0)
        raise Differences("\n".join([f"{options.folder} is not what its inputs lead to:", *lines]))
    print(f"{options.folder} is what its inputs lead to, to the last bit")
