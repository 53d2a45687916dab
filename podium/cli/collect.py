"""Collect the submissions that a competition's site exports, for podium rank.

    podium collect codabench bulk_submissions.zip submissions.csv --phase Final --out collected

The folder then has submissions/, manifest.csv, which podium rank reads, and collected.csv, which says what
became of every entry.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

from podium.cli.declared import SEVERAL


@dataclass(frozen=True)
class Options:
    """The options of ``podium collect``.

    Parameters
    ----------
    site : SITE
        The site of the competition.
    exports : EXPORT
        What the site exports: bulk_submissions.zip or its folder, also several, and the table of submissions.
    out : FOLDER
        The folder to write.
    phase : NAME
        The phase, by its name or its number.
    """

    site: Literal["codabench"]
    exports: Annotated[Sequence[str], SEVERAL]
    _: KW_ONLY
    out: Path
    phase: str | None = None


def run(options: Options) -> None:
    """Collect, and say how much was left out."""
    from podium.common import progress
    from podium.common.wording import printable
    from podium.hosting import collecting

    with progress.shown("collecting") as show:
        collected = collecting.collect(
            options.site,
            *options.exports,
            out=options.out,
            phase=options.phase,
            progress=show,
        )
    print(f"{collected}, written to {options.out}")
    for _, entry in collected.entries[collected.entries["outcome"] != collecting.TAKEN].iterrows():
        print(f"  left out: {printable(entry['source'])}: {entry['outcome']}")
