"""Collect what a competition's site gives to its host, for podium rank.

    podium collect codabench bulk_submissions.zip submissions.csv --phase Final --out collected
    podium collect evalai all_submissions.csv --files media --out collected
    podium collect kaggle my-competition --out collected

The folder then has submissions/, manifest.csv, which podium rank reads, and collected.csv, which says what
became of every entry. Of Kaggle there is leaderboard.csv alone, because a host gets no files of others there.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from podium.cli.declared import SEVERAL


@dataclass(frozen=True)
class Options:
    """The options of ``podium collect``.

    Parameters
    ----------
    site : SITE
        codabench, evalai or kaggle.
    exports : EXPORT
        What the site exports, or the name of the competition on Kaggle.
    out : FOLDER
        The folder to write.
    phase : NAME
        The phase, by its name or its number.
    files : FOLDER
        For evalai: the downloaded files; without it they are fetched over https.
    """

    site: str
    exports: Annotated[Sequence[str], SEVERAL]
    _: KW_ONLY
    out: Path
    phase: str | None = None
    files: Path | None = None


def run(options: Options) -> None:
    """Collect, and say how much was left out."""
    from podium.hosting import collecting
    from podium.words import progress
    from podium.words.wording import printable

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
