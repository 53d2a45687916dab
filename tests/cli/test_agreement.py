"""`podium agreement` says on the command line how well experts agree."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from podium.cli import main
from podium.metric import hosted
from tests.support import samples

readable = hosted.module("readable", "companion")

ROOT = Path(__file__).parents[2]
ESSAYS = str(samples.ESSAYS)
DOCUMENTS = str(samples.DOCUMENTS)


def test_json_and_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["agreement", "--metric", "markup_consistency", DOCUMENTS, "--json"]
    assert main([*arguments, "--set", "weights=overtexts=0,fragments.overtexts=0"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert len(values["Documents"]) == 12
    criteria = [row["criterion"] for row in values["Agreement of the experts"]]
    assert criteria[:4] == ["total", "accordance", "tags", "fragments"]
    assert values["warnings"][0].startswith("documents with fewer than two experts are left out: essay-")


def test_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "a.svg"
    assert main(["agreement", "--metric", "readable", ESSAYS, "--plot", str(picture)]) == 0
    assert ElementTree.parse(picture).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert capsys.readouterr().out.endswith(f"written to {picture}\n")
    assert main(["agreement", "--metric", "readable", ESSAYS, "--plot", "a.png"]) == 2


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agreement", "--metric", "unified", ESSAYS]) == 2
    expected = "expected a metric whose companion compares experts, such as markup_consistency or readable"
    assert expected in capsys.readouterr().err
    assert main(["agreement", "--metric", "readable", str(tmp_path / "none")]) == 2
    assert main(["agreement", "--metric", "readable", str(tmp_path)]) == 4
    assert main(["agreement", "--metric", "readable", ESSAYS, "--set", "h=2"]) == 4


def test_a_metric_of_ones_own_has_no_agreement(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("def score(solution, submission, row_id_column_name: str) -> float:\n    return 1.0\n")
    assert main(["agreement", "--metric", str(path), ESSAYS]) == 2
