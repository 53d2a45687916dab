"""Compute the tables and pages of a published board again, and compare them to the last bit.

    podium verify final

It reads the folder's run.json and the inputs that this file names, and no stored statistics. If anything
differs, the first differences are listed and the exit code is 1.
"""

import argparse

from podium.cli.declared import declare
from podium.words.errors import Differences

DIFFERENCES_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium verify``."""
    from podium.ranking.rules import PATHS
    from podium.ranking.verify import verify

    declare(parser, verify, {**dict.fromkeys(PATHS, "PATH"), "deadline": "TIME"})


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
