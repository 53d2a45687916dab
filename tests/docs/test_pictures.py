"""Every picture of the documentation is on a page, with a text for those who cannot see it."""

import re
from pathlib import Path

import pytest

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
