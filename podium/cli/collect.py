"""Collect what a competition's site gives to its host, for podium rank.

    podium collect codabench bulk_submissions.zip submissions.csv --phase Final --out collected
    podium collect evalai all_submissions.csv --files media --out collected
    podium collect kaggle my-competition --out collected

The folder then has submissions/, manifest.csv, which podium rank reads, and collected.csv, which says what
became of every entry. Of Kaggle there is leaderboard.csv alone, because a host gets no files of others there.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium collect``."""
    parser.add_argument("site", help="codabench, evalai or kaggle")
    parser.add_argument(
        "exports", nargs="+", help="what the site exports, or the name of the competition on Kaggle"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the folder to write")
    parser.add_argument("--phase", metavar="NAME", help="the phase, by its name or its number")
    parser.add_argument(
        "--files",
        type=Path,
        metavar="FOLDER",
        help="for evalai: the downloaded files; without it they are fetched over https",
    )


def run(options: argparse.Namespace) -> None:
    """Collect, and say how much was left out."""
    from podium import progress
    from podium.hosting import collecting
    from podium.wording import printable

    with progress.shown("collecting") as show:
        collected = collecting.collect(
            options.site,
            *options.exports,
            out=options.out,
            phase=options.phase,
            files=options.files,
            progress=show,
        )
    if options.site == "kaggle":
        board = collected.entries
        without = int(board["score"].isna().sum())
        told = f" ({without:,} without a score)" if without else ""
        print(f"{len(board):,} rows{told}, written to {options.out / collecting.LEADERBOARD}")
        return
    print(f"{collected}, written to {options.out}")
    for _, entry in collected.entries[collected.entries["outcome"] != collecting.TAKEN].iterrows():
        print(f"  left out: {printable(entry['source'])}: {entry['outcome']}")
