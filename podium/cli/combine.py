"""Combine several boards, and tables of points, into one board.

    podium combine en/board fr/board jury.csv --weights 0.4,0.4,0.2 --out all

An input is the folder of a board of podium rank, or a table with the columns team and score. What each input
has and what it adds stand on the combined board in columns of their own.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from podium.cli.declared import SEVERAL
from podium.ranking.rules import Choices
from podium.words.errors import UsageError

TEAMS_SHOWN = 10


@dataclass(frozen=True)
class Options(Choices):
    """The options of ``podium combine``.

    Parameters
    ----------
    inputs : INPUT
        Folders with boards, and tables with the columns team and score.
    out : FOLDER
        The folder for the combined board.
    title : TEXT
        The name of the competition, for the page.
    organizer : TEXT
        The publisher of the board, for the page.
    """

    inputs: Annotated[Sequence[str], SEVERAL]
    _: KW_ONLY
    out: Path
    title: str = "The combined board"
    organizer: str = ""


def run(options: Options) -> None:
    """Combine the inputs, and print the first teams."""
    from podium.cli import console
    from podium.ranking import combining, sentences

    if len(options.inputs) < 2:
        raise UsageError("expected at least two boards or tables")
    final = combining.combined(options.inputs, options.out, options, options.title, options.organizer)
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
