"""Each notebook runs alone with a fresh kernel, and its committed outputs are what it prints.

`python -m tests.docs.test_notebooks [NAME]` writes the outputs in notebooks/*.ipynb anew.
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from podium import cli
from tests.running.support import needs_sandbox
from tests.support.boards import TABLE_2, TABLE_3

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BOOST, RANKING, FIRST = NOTEBOOKS
SECONDS = 300
# Progress, and the warnings of podium run about a machine that is not quiet.
PROGRESS = re.compile(
    r"(?m)^(\w[\w ]*: [\d,]+ of [\d,]+|(not measured|round \d+), \d+ of \d+: | {4}[A-Z][\w ]*: (\d|exit code)"
    r"|warning: (?!no sandbox)).*\n"
)
Notebook = Any  # nbformat need not be here
MEASURED = "measured"  # the tag of a cell whose numbers differ from run to run


def copy_project(folder: Path) -> Path:
    """Copy what the notebooks need from the project into another folder."""
    for name in ("notebooks", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "final", ".*"))
    shutil.copy(ROOT / "solution_sample.csv", folder)
    return folder


def execute(path: Path, folder: Path, project: Path | None = None) -> Notebook:
    """Run a notebook in a folder; `project` is the value for its first cell."""
    nbclient = pytest.importorskip("nbclient")
    notebook = committed(path)
    if project is not None:
        first = code_cells(notebook)[0]
        first.source, replaced = re.subn(r"(?m)^PROJECT = \S+", f"PROJECT = {str(project)!r}", first.source)
        assert replaced == 1
    client = nbclient.NotebookClient(
        notebook,
        timeout=SECONDS,
        startup_timeout=SECONDS,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # what a cell prints is cut at random
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "stream":
                output.text = PROGRESS.sub("", output.text)
        cell.outputs = [output for output in cell.outputs if output.get("text") != ""]
    return notebook


def code_cells(notebook: Notebook) -> list[Notebook]:
    """The cells of a notebook that are executed."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook: Notebook) -> list[list[tuple[str, str]]]:
    """List what every code cell prints and shows, as sorted pairs of a kind and a text.

    Images are listed without their content, and what is measured by its kind alone, because warnings depend on
    how busy the machine is.
    """
    listed = []
    for cell in code_cells(notebook):
        shown = sorted(pair for output in cell.outputs for pair in parts_of(output))
        is_measured = MEASURED in cell.metadata.get("tags", [])
        listed.append([(kind, "") for kind, _ in shown] if is_measured else shown)
    return listed


def parts_of(output: Notebook) -> list[tuple[str, str]]:
    """The kinds of an output, each with its text."""
    if output.output_type == "stream":
        return [(output.name, output.text)]
    data = output.get("data", {"error": output.get("evalue")})
    return [(kind, "" if kind.startswith("image/") else text) for kind, text in data.items()]


def committed(path: Path) -> Notebook:
    """A notebook with the outputs that are in the repository."""
    nbformat = pytest.importorskip("nbformat")
    return nbformat.read(path, as_version=4)


def files_of(folder: Path) -> dict[str, bytes]:
    """The contents of the files below a folder by their paths, without those that Python keeps for itself."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


# --- the example ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "table"), [("table_2.csv", TABLE_2), ("table_3.csv", TABLE_3)])
def test_the_tables_are_the_memo_s(name, table):
    pd.testing.assert_frame_equal(pd.read_csv(ROOT / "notebooks" / "example" / name), table)


# --- what is committed ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_committed_as_executed_from_top_to_bottom(path):
    notebook = committed(path)
    pytest.importorskip("nbformat").validate(notebook)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert notebook.metadata.kernelspec.name == "python3"
    assert path.stat().st_size < 300_000
    text = re.sub(r'"image/png": ".*"', "", path.read_text(encoding="utf-8"))
    # They say nothing of the machine that they ran on.
    assert [word for word in (str(ROOT), tempfile.gettempdir(), "Warning") if word in text] == []


# --- executed ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_estimator_prints_what_is_committed_and_needs_the_package_alone(tmp_path):
    shutil.copy(ROOT / "boost.py", tmp_path)
    notebook = execute(BOOST, tmp_path)
    assert outputs(notebook) == outputs(committed(BOOST))
    assert "podium" not in "".join(cell.source for cell in code_cells(notebook))
    assert [path.name for path in tmp_path.iterdir() if path.suffix] == ["boost.py"]


@pytest.mark.slow
def test_the_first_submission_prints_what_is_committed_from_any_folder(tmp_path):
    """The project lies elsewhere, and the notebook writes neither there nor in its own folder."""
    project, working = copy_project(tmp_path / "project"), tmp_path / "working"
    working.mkdir()
    before = files_of(project)
    notebook = execute(FIRST, working, project)
    assert outputs(notebook) == outputs(committed(FIRST))
    assert files_of(project) == before
    assert files_of(working) == {}


def test_the_page_on_thresholds_quotes_it():
    page = (ROOT / "docs" / "how-to" / "tune-thresholds.md").read_text(encoding="utf-8")
    (printed,) = [text for cell in outputs(committed(FIRST)) for _, text in cell if text.startswith("Before ")]
    assert all(f"    {line}\n" in page for line in printed.splitlines())


@needs_sandbox
@pytest.mark.slow
def test_the_ranking_prints_what_is_committed(tmp_path):
    project = copy_project(tmp_path / "project")
    notebook = execute(project / "notebooks" / RANKING.name, project / "notebooks")
    assert outputs(notebook) == outputs(committed(RANKING))
    small = pd.read_csv(project / "notebooks" / "final" / "small" / "final_leaderboard.csv")
    assert small.sort_values("score")["team"].tolist() == ["Paragraph Rules", "Cue Words", "Nearest Centroid"]
    assert small["score"].between(0.1, 0.9).all()


@pytest.mark.slow
def test_the_ranking_runs_in_a_folder_of_its_own_and_without_a_sandbox(tmp_path, capsys, monkeypatch):
    """This is how it runs on Kaggle: the project lies elsewhere, and nothing is written there."""
    tools = tmp_path / "tools"  # has what every system has, but no sandbox
    tools.mkdir()
    (tools / "nice").symlink_to(str(shutil.which("nice")))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{tools}")
    project, working = copy_project(tmp_path / "project"), tmp_path / "working"
    working.mkdir()
    before = files_of(project)
    notebook = execute(RANKING, working, project)
    ours, theirs = outputs(notebook), outputs(committed(RANKING))
    assert len(ours) == len(theirs)
    assert (ours[0], ours[3:5], ours[6:]) == (theirs[0], theirs[3:5], theirs[6:])
    assert files_of(project) == before
    assert cli.main(["verify", str(working / "final" / "board"), "--jobs", "1"]) == 0, capsys.readouterr().err


if __name__ == "__main__":
    import nbformat

    for path in (path for path in NOTEBOOKS if path.stem in sys.argv[1:] or len(sys.argv) == 1):
        with tempfile.TemporaryDirectory() as temporary:
            project = copy_project(Path(temporary) / "project")
            notebook = execute(project / "notebooks" / path.name, project / "notebooks")
            notebook.metadata.language_info = {"name": "python"}  # except for the versions on this machine
            if outputs(notebook) != outputs(committed(path)):  # what is measured differs each time
                nbformat.write(notebook, path)
