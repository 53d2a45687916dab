"""Apply the runtime rewards to a leaderboard and print the final one, sorted by rank.

podium boost board.csv
podium boost board.csv --max-boost 0.1 --out final.csv

BOARD is a CSV file with the columns team, score and, as far as known, runtime (seconds) and submitted_at.
"""

import argparse
from pathlib import Path

__all__ = ["PARAMETERS", "add_arguments", "add_board", "parameters", "run"]

# Of the formula: default, and what it is.
PARAMETERS = {
    "max_boost": (0.05, "of the fastest"),
    "eligibility_ratio": (1.05, "best score / score of the eligible is at most this"),
    "slowdown_limit": (1.2, "runtime / fastest runtime from which on there is no boost"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add_board(parser)
    parser.add_argument("--out", type=Path, metavar="CSV", help="write it with all digits, too")


def add_board(parser: argparse.ArgumentParser) -> None:
    """A leaderboard, and the parameters of the formula."""
    parser.add_argument("board", metavar="BOARD", help="the leaderboard, a CSV file")
    for name, (default, what) in PARAMETERS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=float,
            default=default,
            metavar="NUMBER",
            help=f"{what} (default: {default})",
        )


def parameters(options: argparse.Namespace) -> dict[str, float]:
    """The parameters of the formula, by name."""
    return {name: getattr(options, name) for name in PARAMETERS}


def run(options: argparse.Namespace) -> None:
    """Read, boost, write, print."""
    from podium.files import write_table
    from podium.ranking.submissions import errors_of_boost

    with errors_of_boost() as boost:
        final = boost.boost(boost.read_leaderboard(options.board), **parameters(options))
    if options.out is not None:
        write_table(final, options.out)
    boost.show(final)
