"""The notebooks run, alone and with a fresh kernel, and what is committed is what they print.

`python -m tests.test_notebooks` writes the outputs in notebooks/*.ipynb anew.
"""

import gzip
import re
import shutil
import tempfile
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

import rank
from competition import ranking
from competition.errors import run
from tests import teams
from tests.essays import SUBMISSION_SAMPLE
from tests.test_boost import TABLE_2, TABLE_3

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PROJECT_FILES = ("boost.py", "metric.py", "solution_sample.csv", "competition", "notebooks")
SECONDS = 300


def copy_project(folder: Path) -> Path:
    """What the notebooks need of the project, elsewhere."""
    folder.mkdir()
    for name in PROJECT_FILES:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "final", ".*")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    return folder


def execute(path: Path, folder: Path, project: Path | None = None) -> NotebookNode:
    """Run a notebook in a folder; `project` is what its first cell may be set to."""
    notebook = nbformat.read(path, as_version=4)
    if project is not None:
        first = next(cell for cell in notebook.cells if cell.cell_type == "code")
        assert "PROJECT = None\n" in first.source
        first.source = first.source.replace("PROJECT = None\n", f"PROJECT = {str(project)!r}\n")
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return notebook


def outputs(notebook: NotebookNode) -> list[list[tuple[str, str]]]:
    """Of every code cell what it prints and shows, as kinds and texts; of an image only that it is one."""
    return [cell_outputs(cell) for cell in notebook.cells if cell.cell_type == "code"]


def cell_outputs(cell: NotebookNode) -> list[tuple[str, str]]:
    streams: dict[str, str] = {}
    shown = []
    for output in cell.outputs:
        if output.output_type == "stream":  # in as many pieces as it happens
            streams[output.name] = streams.get(output.name, "") + output.text
        else:
            data = output.get("data", {"error": output.get("evalue")})
            shown += [(kind, "" if kind.startswith("image/") else text) for kind, text in data.items()]
    return [*sorted(streams.items()), *sorted(shown)]


def committed(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def files_of(folder: Path) -> dict[str, bytes]:
    """Contents by path, without what Python keeps for itself."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


# --- the example ------------------------------------------------------------------------------------


def test_the_example_is_what_the_generator_writes(tmp_path):
    teams.write_example(tmp_path, pd.read_csv(ROOT / SUBMISSION_SAMPLE))
    written = files_of(tmp_path)
    example = files_of(ROOT / teams.EXAMPLE)
    assert set(example) - set(written) == {"table_2.csv", "table_3.csv", "leaderboard.csv"}
    assert set(written) <= set(example)
    for name, content in written.items():
        # Compressed, the same text may be other bytes, by the version of zlib.
        same = gzip.decompress if name.endswith(".gz") else bytes
        assert same(content) == same(example[name]), name
    assert sum(map(len, example.values())) < 400_000


def test_the_example_has_everything():
    submissions = ranking.find_submissions(ROOT / teams.EXAMPLE / teams.SUBMISSIONS)
    assert len({submission.team for submission in submissions}) == len(teams.TEAMS) + 1
    assert sum(submission.team == "Second Draft" for submission in submissions) == 2
    runtimes = pd.read_csv(ROOT / teams.EXAMPLE / teams.RUNTIMES)
    assert runtimes.loc[runtimes["runtime"].isna(), "team"].tolist() == ["Marginalia"]


@pytest.mark.parametrize(("name", "table"), [("table_2.csv", TABLE_2), ("table_3.csv", TABLE_3)])
def test_the_tables_are_the_memo_s(name, table):
    pd.testing.assert_frame_equal(pd.read_csv(ROOT / teams.EXAMPLE / name), table)


# --- what is committed ------------------------------------------------------------------------------


def test_there_are_two():
    assert [path.stem for path in NOTEBOOKS] == ["boost_estimator", "final_ranking"]


def test_they_find_the_project_in_the_same_way():
    first = {
        next(cell.source for cell in committed(path).cells if cell.cell_type == "code") for path in NOTEBOOKS
    }
    assert len(first) == 1


@pytest.mark.parametrize(
    ("path", "images"), [(NOTEBOOKS[0], 4), (NOTEBOOKS[1], 4)], ids=lambda value: getattr(value, "stem", "")
)
def test_they_are_committed_as_executed_from_top_to_bottom(path, images):
    notebook = committed(path)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = [kind for cell in outputs(notebook) for kind, _ in cell]
    assert "error" not in kinds
    assert kinds.count("image/png") == images
    assert notebook.metadata.kernelspec.name == "python3"
    assert path.stat().st_size < 700_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_say_nothing_of_the_machine_they_ran_on(path):
    text = path.read_text(encoding="utf-8")
    assert str(ROOT) not in text
    assert tempfile.gettempdir() not in re.sub(r'"image/png": ".*"', "", text)
    assert "Warning" not in text


# --- executed ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_print_what_is_committed(path, tmp_path):
    project = copy_project(tmp_path / "project")
    notebook = execute(project / "notebooks" / path.name, project / "notebooks")
    assert outputs(notebook) == outputs(committed(path))


@pytest.mark.slow
def test_the_ranking_runs_in_a_folder_of_its_own(tmp_path, capsys):
    """As on Kaggle: the project is elsewhere and nothing is written there."""
    project, working = copy_project(tmp_path / "project"), tmp_path / "working"
    working.mkdir()
    before = files_of(project)
    notebook = execute(NOTEBOOKS[1], working, project)
    assert outputs(notebook) == outputs(committed(NOTEBOOKS[1]))
    assert files_of(project) == before

    # And it writes what the command line writes.
    example = project / teams.EXAMPLE
    arguments = [project / "solution_sample.csv", example / teams.SUBMISSIONS, example / teams.RUNTIMES]
    code = run(rank.main, [*map(str, arguments), "--out", str(tmp_path / "final"), "--jobs", "1"])
    assert code == 0, capsys.readouterr().err
    assert files_of(working / "final") == files_of(tmp_path / "final")


@pytest.mark.slow
def test_without_the_project_the_first_cell_says_what_to_do(tmp_path):
    with pytest.raises(CellExecutionError, match="set PROJECT to the project's folder"):
        execute(NOTEBOOKS[0], tmp_path)


if __name__ == "__main__":
    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as temporary:
            project = copy_project(Path(temporary) / "project")
            notebook = execute(project / "notebooks" / path.name, project / "notebooks")
            notebook.metadata.language_info = {"name": "python"}  # not the version of this machine
            nbformat.write(notebook, path)
