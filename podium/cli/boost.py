"""Apply the runtime rewards to a leaderboard and print the final one, sorted by rank.

podium boost board.csv
podium boost board.csv --max-boost 0.1 --out final.csv

BOARD is a CSV file with the columns team, score and, as far as known, runtime (seconds) and submitted_at.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from podium.errors import HostError

__all__ = ["add_arguments", "add_parameters", "errors_explained", "parameters", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("board", metavar="BOARD", help="the leaderboard, a CSV file")
    add_parameters(parser)
    parser.add_argument("--out", type=Path, metavar="CSV", help="write the final leaderboard, too")
    parser.add_argument("--json", action="store_true", help="print JSON, with all digits")


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """The parameters of the formula."""
    parser.add_argument(
        "--max-boost", type=float, default=0.05, metavar="B", help="of the fastest (default: %(default)s)"
    )
    parser.add_argument(
        "--eligibility-ratio",
        type=float,
        default=1.05,
        metavar="R",
        help="best score / score of the eligible is at most this (default: %(default)s)",
    )
    parser.add_argument(
        "--slowdown-limit",
        type=float,
        default=1.2,
        metavar="L",
        help="runtime / fastest runtime from which on there is no boost (default: %(default)s)",
    )


def parameters(options: argparse.Namespace) -> dict[str, float]:
    """The parameters of the formula, by name."""
    return {name: getattr(options, name) for name in ("max_boost", "eligibility_ratio", "slowdown_limit")}


@contextmanager
def errors_explained(boost: Any) -> Iterator[None]:
    """Turn what boost.py raises for a wrong board or parameter into a `HostError`."""
    try:
        yield
    except boost.LeaderboardError as problem:
        raise HostError(str(problem)) from None


def run(options: argparse.Namespace) -> None:
    """Read, boost, write, print."""
    from podium import hosted
    from podium.files import write_table

    boost = hosted.module("boost")
    with errors_explained(boost):
        final = boost.boost(boost.read_leaderboard(options.board), **parameters(options))
    if options.out is not None:
        write_table(final, options.out)
    boost.show(final, options.json)
