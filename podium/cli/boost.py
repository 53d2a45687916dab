"""Apply the runtime rewards to a leaderboard and print the final one, sorted by rank.

    podium boost board.csv
    podium boost board.csv --max-boost 0.1 --out final.csv

BOARD has the columns team, score and, as far as known, runtime (seconds) and submitted_at. It may also be the
leaderboard that Kaggle's site or client, Codabench or EvalAI exports.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FORMULA = {
    "max_boost": "the boost of the fastest eligible team, as a share of its score (default: 0.05)",
    "eligibility_ratio": "a team is eligible for a boost if the best score is at most this many times its own "
    "(default: 1.05)",
    "slowdown_limit": "a team gets no boost if its runtime is this many times the fastest one, or more "
    "(default: 1.2)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium boost``."""
    add_board(parser)
    parser.add_argument("--out", type=Path, metavar="CSV", help="also write the final board, with all digits")


def add_board(parser: argparse.ArgumentParser) -> None:
    """Declare a leaderboard and the parameters of the formula."""
    parser.add_argument(
        "board",
        metavar="BOARD",
        help="the leaderboard: .csv, .csv.gz, .parquet, - for standard input, or a platform's export",
    )
    add_formula(parser)


def add_formula(parser: argparse._ActionsContainer) -> None:
    """Declare --max-boost, --eligibility-ratio and --slowdown-limit."""
    for name, what in FORMULA.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="NUMBER", help=what)


def formula(options: argparse.Namespace) -> dict[str, float]:
    """Read the parameters of the formula that were given."""
    return {name: value for name in FORMULA if (value := getattr(options, name)) is not None}


def board_in(path: str) -> "pd.DataFrame":
    """Read a leaderboard, and print what was left out of a platform's export."""
    from podium.cli.console import warn
    from podium.ranking.exports import read_board

    board, notices = read_board(path)
    warn(notices)
    return board


def run(options: argparse.Namespace) -> None:
    """Read a board, apply the rewards, and write and print the final board."""
    from podium.ranking.submissions import errors_of_boost
    from podium.tables import check_table_name, write_table

    if options.out is not None:
        check_table_name(options.out)
    with errors_of_boost() as boost:
        final = boost.boost(board_in(options.board), **formula(options))
    if options.out is not None:
        write_table(final, options.out)
    boost.show(final)
