"""Combine several boards, and tables of points, into one board.

    podium combine en/board fr/board jury.csv --weights 0.4,0.4,0.2 --out all

An input is the folder of a board of podium rank, or a table with the columns team and score. What each input
has and what it adds stand on the combined board in columns of their own.
"""

import argparse
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

from podium.cli.arguments import not_negative
from podium.cli.declared import SEVERAL
from podium.words.errors import UsageError

TEAMS_SHOWN = 10


def numbers(text: str) -> tuple[float, ...]:
    """Read numbers that are separated by commas."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        told = f"expected numbers separated by commas, found {text!r:.60}"
        raise argparse.ArgumentTypeError(told) from None


@dataclass(frozen=True)
class Options:
    """The options of ``podium combine``.

    Parameters
    ----------
    inputs : INPUT
        Folders with boards, and tables with the columns team and score.
    out : FOLDER
        The folder for the combined board.
    weights : NUMBERS
        A weight for each input, separated by commas (default: all count alike).
    by : str
        What is averaged: the scores, the ranks, or the shares of the other teams that are beaten.
    scale : str
        With best, each score is divided by the best one of its input.
    missing : str
        What becomes of a team that an input lacks: it gets the worst value there, or the others count alone
        (default: it is an error).
    same_items : bool
        Say that rows of equal ids are the same items in all boards; otherwise they are drawn independently.
    prizes : N
        How many places win a prize.
    seed : N
        A number that decides what is drawn at random.
    title : TEXT
        The name of the competition, for the page.
    organizer : TEXT
        The publisher of the board, for the page.
    """

    inputs: Annotated[Sequence[str], SEVERAL]
    _: KW_ONLY
    out: Path
    weights: Annotated[tuple[float, ...], numbers] = ()
    by: Literal["score", "rank", "wins"] = "score"
    scale: Literal["", "best"] = ""
    missing: Literal["", "worst", "leave-out"] = ""
    same_items: bool = False
    prizes: Annotated[int, not_negative] = 3
    seed: Annotated[int, not_negative] = 0
    title: str = "The combined board"
    organizer: str = ""


def run(options: Options) -> None:
    """Combine the inputs, and print the first teams."""
    from podium.cli import console
    from podium.ranking import combining, sentences

    if len(options.inputs) < 2:
        raise UsageError("expected at least two boards or tables")
    names = ("by", "weights", "scale", "missing", "same_items", "prizes", "seed")
    choices = combining.Choices(**{name: getattr(options, name) for name in names})
    final = combining.combined(options.inputs, options.out, choices, options.title, options.organizer)
    print(f"{final.facts['rule']}. {sentences.of_direction(final.facts)}")
    board = final.leaderboard.drop(
        columns=["submission", "eligible", "boost", "boosted_score", "rank_before", "runtime"]
    )
    console.print_table(f"The first {min(len(board), 10)}", board.head(10))
    print("", *final.summary, sep="\n")
    if final.chance is None:
        print(f"Nothing is said about chance: {final.facts['silence']}.")
    print(f"\nwritten to {final.folder}")
    console.warn(final.warnings)
