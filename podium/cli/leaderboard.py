"""Fetch a competition's leaderboard: the private one, once the competition is closed.

    podium leaderboard my-competition --out board.csv

After you add a column runtime, podium boost reads the file.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium leaderboard``."""
    parser.add_argument("competition", help="the competition's name in the address of its page")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="the table to write, whose name ends in .csv, .csv.gz or .parquet",
    )


def run(options: argparse.Namespace) -> None:
    """Fetch the leaderboard, and write it."""
    from podium.cli import console
    from podium.files import check_table_name, write_table
    from podium.hosting.kaggle import client

    check_table_name(options.out)
    board = client.fetch_leaderboard(options.competition)
    without = int(board["score"].isna().sum())
    if without:
        console.warn([f"teams without a score: {without:,}"])
    write_table(board, options.out)
    print(f"{len(board):,} rows, written to {options.out}")
