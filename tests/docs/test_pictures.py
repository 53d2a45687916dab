"""Every picture of the documentation is on a page, with a text for those who cannot see it."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import coverage
from tests.docs import pictures
from tests.docs.test_outputs import PAGES, ROOT

PICTURES = [path for path in sorted((ROOT / "docs").rglob("*")) if path.suffix in (".png", ".svg")]
LINK = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")


def shown() -> dict[Path, list[str]]:
    """The texts that pages give for each picture."""
    texts: dict[Path, list[str]] = {}
    for page in PAGES:
        for text, target in LINK.findall(page.read_text(encoding="utf-8")):
            texts.setdefault((page.parent / target).resolve(), []).append(text)
    return texts


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_on_a_page(picture: Path) -> None:
    assert picture in shown()
    assert picture.stat().st_size < 300_000


@pytest.mark.parametrize(
    "picture", [path for path in PICTURES if path.suffix == ".svg"], ids=lambda path: path.name
)
def test_a_drawing_follows_dark_mode(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    assert text.count("prefers-color-scheme:dark") == 1
    assert picture.name == "flow.svg" or pictures.DARK in text


def test_every_picture_has_a_text() -> None:
    assert [path.name for path, texts in shown().items() if min(map(len, texts)) < 20] == []
    assert all(path.exists() for path in shown())


def test_the_picture_of_coverage_is_drawn_from_the_figures_of_the_page() -> None:
    measured = pd.read_csv(pictures.COVERAGE)
    page = (ROOT / "docs" / "explanation" / "statistics.md").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    shares = measured.pivot(index="population", columns="what", values="held")
    tables = {"score": (1, "score"), "score of a group": (5, "group"), "F1 of a type": (6, "type")}
    tables |= {"difference": (1, "difference"), "difference on a board": (2, "on a board")}
    for what, (column, heading) in tables.items():
        start = next(n for n, row in enumerate(cells) if row[:1] == ["population"] and row[column] == heading)
        for row in cells[start + 2 : start + 2 + len(coverage.HALVES["judging"])]:
            assert row[column].split("%")[0] == f"{100 * shares.loc[row[0], what]:.1f}"
    assert measured["high"].min() >= 0.95  # as the text of the picture says
    assert list(shares.index) == sorted(coverage.HALVES["judging"])
    assert set(shares) == set(pictures.KINDS_OF_INTERVALS) == set(coverage.PRINTED)


def test_the_picture_of_coverage_shows_what_was_measured() -> None:
    measured = pd.read_csv(pictures.COVERAGE)
    for axes, what in zip(pictures.coverage().axes, pictures.KINDS_OF_INTERVALS):
        rows = measured[measured["what"] == what][::-1]
        (errors, dots) = axes.collections
        assert np.ma.getdata(dots.get_offsets())[:, 0].tolist() == rows["held"].tolist()
        ends = [(line[0, 0], line[1, 0]) for line in errors.get_segments()]
        assert ends == list(zip(rows["low"], rows["high"]))
        assert axes.lines[0].get_xdata()[0] == 0.95
        assert axes.get_xlim()[0] <= measured["low"].min()
