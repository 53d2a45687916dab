"""The picture of a board for notebooks: what the page draws, as an SVG of its own."""

import os
from pathlib import Path
from typing import Any

import pandas as pd

from podium.common import pages
from podium.common.wording import counted
from podium.ranking import drawing, sentences
from podium.ranking.rules import Rules
from podium.tables.files import write_atomically

TEMPLATES = Path(__file__).with_name("templates")
TEAMS, NAME_CHARACTERS = 30, 24
PLOT_HEIGHT, ROW_HEIGHT = 400, 20  # in pixels
LEFT_OF_PLOT, LEFT_OF_NAMES = 70, 190


class Picture:
    """A picture in SVG, which notebooks show.

    Attributes
    ----------
    svg : str
        The text of the picture.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def __repr__(self) -> str:
        return "<a picture in SVG: .save(path) writes it>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture into a file, such as "board.svg"."""
        write_atomically(path, lambda part: part.write_text(self.svg, encoding="utf-8"))


def of_board(
    leaderboard: pd.DataFrame, certainty: pd.DataFrame | None, rules: Rules, facts: dict[str, Any]
) -> Picture:
    """Draw scores and runtimes of the first teams or, without rewards, their scores with intervals."""
    first, boosted = leaderboard.head(TEAMS), facts["boosted"]
    speed = drawing.score_and_runtime(leaderboard, rules) if boosted else None
    rows = drawing.records(first)
    chances = [None] * len(rows) if certainty is None else drawing.records(certainty.head(TEAMS))
    for row, chance in zip(rows, chances):
        row |= {"chance": chance, "name": sentences.cut(row["team"], NAME_CHARACTERS)}
    scale = drawing.intervals(rows, facts["higher_is_better"])
    shown = counted(len(leaderboard), "team")
    svg = pages.template(TEMPLATES, "picture.svg", sentences.FOR_PAGES).render(
        title=shown if len(first) == len(leaderboard) else f"the first {len(first)} of {shown}",
        speed=speed,
        any_eligible=bool(leaderboard["eligible"].any()),
        rows=rows,
        scale=scale,
        has_chance=certainty is not None,
        height=PLOT_HEIGHT if speed else ROW_HEIGHT * len(rows),
        left=LEFT_OF_PLOT if speed else LEFT_OF_NAMES,
    )
    return Picture(svg)
