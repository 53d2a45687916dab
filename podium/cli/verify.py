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
    "side": "the tables beside the submissions are",
    "teams": "the table of decisions about teams is",
    "site_board": "the site's board is",
}
DIFFERENCES_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium verify``."""
    parser.add_argument("folder", help="the folder of the board, or its run.json")
    for name, what in INPUTS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="PATH",
            help=f"where {what} now (default: where run.json says)",
        )
    parser.add_argument(
        "--deadline", metavar="TIME", help="the deadline that was announced (default: the one in run.json)"
    )
    parser.add_argument(
        "--jobs",
        type=arguments.positive,
        default=0,
        metavar="N",
        help="how many processes work at once (default: one per core)",
    )


def run(options: argparse.Namespace) -> None:
    """Compute a board again, and list the differences."""
    from podium.cli import console
    from podium.ranking.verify import verify

    verification = verify(**vars(options))
    console.warn(verification.notices)
    differences = verification.differences
    if differences:
        more = len(differences) - DIFFERENCES_SHOWN
        lines = differences[:DIFFERENCES_SHOWN]
        if more > 0:
            lines.append(f"and {more:,} more")
        raise Differences("\n".join([f"{options.folder} is not what its inputs lead to:", *lines]))
    print(verification)
