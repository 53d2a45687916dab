"""Apply the runtime rewards to a leaderboard and print the final one, sorted by rank.

podium boost board.csv
podium boost board.csv --max-boost 0.1 --out final.csv

BOARD is a CSV file with the columns team, score and, as far as known, runtime (seconds) and submitted_at.
"""

import argparse
from pathlib import Path
from typing import Any

FORMULA = {
    "max_boost": "boost of the fastest model (default: 0.05)",
    "eligibility_ratio": "a team is eligible if best score / its score is at most this (default: 1.05)",
    "slowdown_limit": "there is no boost from this multiple of the fastest runtime on (default: 1.2)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `podium boost`.

    Parameters
    ----------
    parser : ArgumentParser
    """
    add_board(parser)
    parser.add_argument("--out", type=Path, metavar="CSV", help="write it with all digits, too")


def add_board(parser: argparse.ArgumentParser) -> None:
    """Declare a leaderboard and the parameters of the formula.

    Parameters
    ----------
    parser : ArgumentParser
    """
    parser.add_argument("board", metavar="BOARD", help="the leaderboard, a CSV file")
    add_formula(parser)


def add_formula(parser: argparse.ArgumentParser) -> None:
    """Declare --max-boost, --eligibility-ratio and --slowdown-limit.

    Parameters
    ----------
    parser : ArgumentParser
    """
    for name, what in FORMULA.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="NUMBER", help=what)


def parameters(options: argparse.Namespace) -> dict[str, float]:
    """The parameters of the formula that were given.

    Parameters
    ----------
    options : Namespace
        The arguments that `add_formula` declares.

    Returns
    -------
    dict of float
        By name; what was not given is not there.
    """
    return {name: value for name in FORMULA if (value := getattr(options, name)) is not None}


def read_board(boost: Any, path: str) -> Any:
    """A leaderboard as boost.py reads it, of a file that is a CSV by the words of all commands."""
    from podium.errors import HostError
    from podium.files import csv_of, read_bytes

    csv_of(read_bytes(path), str(path), HostError)
    return boost.read_leaderboard(path)


def run(options: argparse.Namespace) -> None:
    """Read, boost, write, print.

    Parameters
    ----------
    options : Namespace
        The arguments that `add_arguments` declares.
    """
    from podium.files import check_table_name, write_table
    from podium.ranking.submissions import errors_of_boost

    if options.out is not None:
        check_table_name(options.out)
    with errors_of_boost() as boost:
        final = boost.boost(read_board(boost, options.board), **parameters(options))
    if options.out is not None:
        write_table(final, options.out)
    boost.show(final)
