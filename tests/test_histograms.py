"""competition/histograms.py: the pictures behind a score."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from competition import histograms, metric_file
from competition.errors import UsageError, run
from tests import markup_consistency_data, readable_data

METRICS = Path(__file__).parents[1] / "metrics"
SAMPLES = {"markup_consistency": markup_consistency_data, "readable": readable_data}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_value_is_in_a_bar(name: str) -> None:
    metric, data = metric_file.load(METRICS / f"{name}.py"), SAMPLES[name]
    evaluation = metric.evaluate(*data.frames(data.samples()), "document_id")
    picture = histograms.draw(evaluation)
    figures = evaluation.histograms
    assert [part.get_suptitle() for part in picture.subfigs] == list(figures)
    for part, panels in zip(picture.subfigs, figures.values()):
        axes = [axis for axis in part.axes if axis.axison]
        assert [axis.get_title() for axis in axes] == list(panels)
        for axis, values in zip(axes, panels.values()):
            assert sum(bar.get_height() for bar in axis.patches) == len(values)
            assert axis.get_xlabel() == f"{len(values)} values, mean {np.mean(values):.3g}"
            assert axis.lines[0].get_xdata()[0] == np.mean(values)


def test_a_panel_without_values() -> None:
    picture = histograms.draw(SimpleNamespace(histograms={"Figure": {"panel": []}}))
    axis = picture.subfigs[0].axes[0]
    assert (axis.get_title(), [text.get_text() for text in axis.texts]) == ("panel", ["no values"])


def test_the_scale_goes_from_zero_to_one_or_as_far_as_the_values() -> None:
    panels = {"share": [0.2, 0.3], "ratio": [0.5, 4.0]}
    axes = histograms.draw(SimpleNamespace(histograms={"Figure": panels})).subfigs[0].axes
    assert [axis.get_xlim()[1] for axis in axes[:2]] == pytest.approx([1.02, 4.08])


def test_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = SimpleNamespace(histograms={"Figure": {"panel": [1.0]}})
    with pytest.raises(UsageError, match="this metric offers no histograms"):
        histograms.save(SimpleNamespace(), tmp_path / "a.png")
    with pytest.raises(UsageError, match=r"a.txt: expected a name that ends in .png, .svg, .pdf"):
        histograms.save(evaluation, tmp_path / "a.txt")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match="pip install matplotlib"):
        histograms.save(evaluation, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", SAMPLES)
def test_the_command_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples = SAMPLES[name].SAMPLES

    def command(*arguments: Any) -> int:
        return run(histograms.main, ["--metric", str(METRICS / f"{name}.py"), *map(str, arguments)])

    solution, submission = samples / "solution.csv", samples / "submission.csv"
    assert command(solution, submission, tmp_path / "a.png") == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert command(solution, solution, tmp_path / "b.png") == 3
    assert command(solution, submission, tmp_path / "b.png", "--set", "measure=x") == 4
    assert command(solution, submission, tmp_path / "b.bmp") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert capsys.readouterr().err.count("error: ") == 3
