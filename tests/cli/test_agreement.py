"""`podium agreement` says on the command line how well experts agree."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
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


def test_gamma(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    values = pd.DataFrame({"document_id": [f"essay-{n:02}" for n in range(1, 13)], "gamma": [0.5, None] * 6})
    loaded = hosted.load("readable")
    companion = dataclasses.replace(loaded.companion, gamma=lambda prepared: values)
    monkeypatch.setattr(hosted, "load", lambda metric: dataclasses.replace(loaded, companion=companion))
    assert main(["agreement", "--metric", "readable", ESSAYS, "--gamma"]) == 0
    assert "\nγ\ndocuments     gamma\n        6  0.500000\n" in capsys.readouterr().out
    assert main(["agreement", "--metric", "readable", ESSAYS, "--gamma", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["gamma"] for row in printed["Documents"][:2]] == [0.5, None]
    assert printed["warnings"][1] == (
        "6 documents without γ, because it needs two experts and their marks: essay-02, essay-04, essay-06, "
        "essay-08, essay-10, essay-12"
    )


# A stand-in for pygamma-agreement whose solver prints as GLPK does: in C, and in Python's log.
NOISY = """
import ctypes, logging, sys, types
class Continuum:
    def add_annotator(self, name): pass
    def add(self, *mark): pass
    def compute_gamma(self, dissimilarity, n_samples):
        ctypes.CDLL(None).puts(b"Long-step dual simplex will be used")
        logging.warning("CBC solver not installed. Using GLPK.")
        return types.SimpleNamespace(gamma=0.25)
library = types.ModuleType("pygamma_agreement")
library.Continuum, library.CombinedCategoricalDissimilarity = Continuum, object
segments = types.ModuleType("pyannote.core")
segments.Segment = lambda start, end: (start, end)
sys.modules["pygamma_agreement"] = library
sys.modules |= {"pyannote": types.ModuleType("pyannote"), "pyannote.core": segments}
from podium.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the stand-in prints with the C library of POSIX")
def test_what_the_solver_prints_is_not_in_the_output() -> None:
    arguments = ["agreement", "--metric", "readable", ESSAYS, "--gamma", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", NOISY, *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["γ"] == [{"documents": 9, "gamma": 0.25}]
    assert "CBC" not in done.stderr


def test_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agreement", "--metric", "unified", ESSAYS]) == 2
    expected = "expected a metric whose companion compares experts, such as markup_consistency or readable"
    assert expected in capsys.readouterr().err
    assert main(["agreement", "--metric", "readable", str(tmp_path / "none")]) == 2
    assert main(["agreement", "--metric", "readable", str(tmp_path)]) == 4
    assert main(["agreement", "--metric", "readable", ESSAYS, "--set", "h=2"]) == 4
    monkeypatch.setitem(sys.modules, "pygamma_agreement", None)
    assert main(["agreement", "--metric", "readable", ESSAYS, "--gamma"]) == 2
    assert "γ needs pygamma-agreement" in capsys.readouterr().err


def test_a_metric_of_ones_own_has_no_agreement(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("def score(solution, submission, row_id_column_name: str) -> float:\n    return 1.0\n")
    assert main(["agreement", "--metric", str(path), ESSAYS]) == 2
