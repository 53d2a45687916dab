"""podium/report/histograms.py draws the right pictures of a score."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from podium.errors import UsageError
from podium.report import histograms

pytest.importorskip("matplotlib")


def panels_of(picture: Any) -> list[Any]:
    """The panels of a picture that show something."""
    return [axis for part in picture.subfigs for axis in part.axes if axis.axison]


def test_series_on_one_scale_with_corpus_barrier_and_outliers() -> None:
    panel = {
        "series": {"experts": [0.5, 0.9], "algorithm": [0.1, 2.0, 2.5, 7.0]},
        "lines": {"experts": 0.7, "algorithm": 3.2, "barrier": 1.0},
        "last": 2.0,
    }
    other = {"series": {"algorithm": [1.0]}, "lines": {}, "last": 1.0}
    picture = histograms.draw(SimpleNamespace(histograms={"Figure": {"one": panel, "two": other}}))
    assert picture.subfigs[0].get_suptitle() == "Figure"
    one, two = panels_of(picture)
    assert [one.get_title(), two.get_title()] == ["one", "two"]
    experts, algorithm = one.containers
    assert algorithm[-1].get_height() == pytest.approx(3 / 4)  # with what lies beyond the scale
    assert one.get_xlabel() == "corpus 0.7, 3.2; 2 beyond 2"  # 2.0 itself is on the scale
    assert [line.get_xdata()[0] for line in one.lines] == pytest.approx([0.7, 2.0, 1.0])
    assert [line.get_linestyle() for line in one.lines] == ["-", "-", "--"]
    assert one.lines[0].get_color() == histograms.COLORS[0]
    # The same series has the same color in all panels of a figure, and the legend names each once.
    assert two.containers[0][0].get_facecolor() == algorithm[0].get_facecolor() != experts[0].get_facecolor()
    (figure,) = histograms.figures(SimpleNamespace(histograms={"Figure": {"one": panel, "two": other}}))
    assert (figure["labels"], figure["others"]) == (["experts", "algorithm"], ["barrier"])
    assert figure["panels"][0]["lines"] == [
        ("experts", 0, 35.0),
        ("algorithm", 1, 100.0),
        ("barrier", None, 50.0),
    ]
    assert [number for number, _, _ in figure["panels"][1]["bars"]] == [1]
    (legend,) = picture.subfigs[0].legends
    assert [text.get_text() for text in legend.get_texts()] == ["experts", "algorithm", "barrier"]


def test_a_panel_without_values() -> None:
    empty = {"series": {"experts": []}, "lines": {}, "last": 1.0}
    picture = histograms.draw(SimpleNamespace(histograms={"Figure": {"series": empty}}))
    (axis,) = panels_of(picture)
    assert axis.get_title() == "series"
    assert [bar.get_height() for bar in axis.patches] == [0] * histograms.BINS


def test_wrong_usage(tmp_path: Path) -> None:
    explanation = SimpleNamespace(
        histograms={"Figure": {"panel": {"series": {"a": [1.0]}, "lines": {}, "last": 1.0}}}
    )
    with pytest.raises(UsageError, match="this metric offers no histograms"):
        histograms.save(SimpleNamespace(histograms={}), tmp_path / "a.png")
    with pytest.raises(UsageError, match=r"a.txt: expected a name that ends in .png, .svg, .pdf"):
        histograms.save(explanation, tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []
    for suffix in histograms.FORMATS:
        histograms.save(explanation, tmp_path / f"a{suffix}")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 3
