"""podium/report/histograms.py draws the right pictures of a score."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from podium.common.errors import UsageError
from podium.report import histograms

SVG = "{http://www.w3.org/2000/svg}"


def panels_of(svg: str) -> list[ElementTree.Element]:
    """The panels of a picture."""
    return ElementTree.fromstring(svg).findall(f"{SVG}svg")


def of_class(panel: ElementTree.Element, tag: str, name: str) -> list[Any]:
    """The elements of a panel with a class."""
    return [each.attrib for each in panel.findall(f"{SVG}{tag}") if each.get("class") == name]


def test_series_on_one_scale_with_corpus_barrier_and_outliers() -> None:
    panel = {
        "series": {"experts": [0.5, 0.9], "algorithm": [0.1, 2.0, 2.5, 7.0]},
        "lines": {"experts": 0.7, "algorithm": 3.2, "barrier": 1.0},
        "last": 2.0,
    }
    other = {"series": {"algorithm": [1.0]}, "lines": {}, "last": 1.0}
    explanation = SimpleNamespace(histograms={"Figure": {"one": panel, "two": other}})
    svg = histograms.draw(explanation)
    assert [text.text for text in ElementTree.fromstring(svg).findall(f"{SVG}text")] == [
        "Figure", "experts", "algorithm", "barrier",
    ]  # fmt: skip
    one, two = panels_of(svg)
    # 2.0 itself is on the scale, and the last bar has what lies beyond.
    assert [each.get("aria-label") for each in (one, two)] == [
        "one: corpus 0.7, 3.2; 2 beyond 2",
        "two: corpus ",
    ]
    algorithm = of_class(one, "rect", "s1")
    assert [(each["x"], each["height"]) for each in algorithm] == [("5%", "33.33%"), ("95%", "100.0%")]
    assert [each["height"] for each in of_class(one, "rect", "s0")] == ["66.67%", "66.67%"]
    places = [of_class(one, "line", name)[0]["x1"] for name in ("s0", "s1", "dashed")]
    assert places == ["35.0%", "100.0%", "50.0%"]
    # The same series has the same color in all panels of a figure.
    assert len(of_class(two, "rect", "s1")) == 1


def test_a_panel_without_values() -> None:
    empty = {"series": {"experts": []}, "lines": {}, "last": 1.0}
    (panel,) = panels_of(histograms.draw(SimpleNamespace(histograms={"Figure": {"series": empty}})))
    assert panel.findall(f"{SVG}rect") == []


def test_panels_stand_in_rows_and_lie_within_the_picture() -> None:
    panel = {"series": {"a": [1.0]}, "lines": {}, "last": 1.0}
    figure = {str(number): panel for number in range(5)}
    svg = histograms.draw(SimpleNamespace(histograms={"One": figure, "<Two>": {"panel": panel}}))
    tops = [float(each.get("y", "")) for each in panels_of(svg)]
    assert tops[:4] == [tops[0]] * 4
    assert tops[0] < tops[4] < tops[5] < float(ElementTree.fromstring(svg).get("height", ""))


def test_wrong_usage(tmp_path: Path) -> None:
    explanation = SimpleNamespace(
        histograms={"Figure": {"panel": {"series": {"a": [1.0]}, "lines": {}, "last": 1.0}}}
    )
    with pytest.raises(UsageError, match="this metric offers no histograms"):
        histograms.save(SimpleNamespace(histograms={}), tmp_path / "a.svg")
    with pytest.raises(UsageError, match=r"a.png: expected a name that ends in .svg"):
        histograms.save(explanation, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []
    histograms.save(explanation, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")
