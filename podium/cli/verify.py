"""Compute a published board again, and compare its tables and pages to the last bit.

    podium verify final

It reads the folder's run.json and the inputs that this file names, and no stored statistics. If anything
differs, the first differences are listed and the exit code is 1.
"""

from podium.common.errors import Differences
from podium.ranking.verify import Options

DIFFERENCES_SHOWN = 10


def run(options: Options) -> None:
    """Compute a board again, and list the differences."""
    from podium.cli import console
    from podium.ranking.verify import verified

    verification = verified(options)
    console.warn(verification.notices)
    differences = verification.differences
    if differences:
        more = len(differences) - DIFFERENCES_SHOWN
        lines = differences[:DIFFERENCES_SHOWN]
        if more > 0:
            lines.append(f"and {more:,} more")
        raise Differences("\n".join([f"{options.folder} is not what its inputs lead to:", *lines]))
    print(verification)
