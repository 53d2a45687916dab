"""How often a command reads a file, prepares a solution, and executes a custom metric."""

import os
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium.scoring import evaluating
from podium.tables import files
from tests.support import command_line
from tests.support.host_line import stay_in_process

METRIC = '''
import os
import tempfile

import pandas as pd

tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=os.environ["EXECUTED"])


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """The share of rows that are right."""
    return float((solution["label"] == submission["label"]).mean())


def higher_is_better() -> bool:
    """More is better."""
    return True
'''


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the reads of files by their names, and the solutions that are prepared, in this process."""
    counted: Counter[str] = Counter()
    of_table, of_path, prepare = files.open_regular, Path.read_bytes, evaluating.prepare

    def counting(name, call):
        def counted_call(first, *others, **named):
            counted[Path(os.fspath(first)).name if name is None else name] += 1
            return call(first, *others, **named)

        return counted_call

    monkeypatch.setattr(files, "open_regular", counting(None, of_table))
    monkeypatch.setattr(Path, "read_bytes", counting(None, of_path))
    monkeypatch.setattr(evaluating, "prepare", counting("prepared", prepare))
    (tmp_path / "executed").mkdir()
    monkeypatch.setenv("EXECUTED", str(tmp_path / "executed"))
    (tmp_path / "shares.py").write_text(METRIC)
    labels = pd.DataFrame({"id": [f"r{row}" for row in range(12)], "label": ["cat", "dog", "cat"] * 4})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    labels.assign(Usage=["Public", "Private"] * 6).to_csv(tmp_path / "solution.csv", index=False)
    (tmp_path / "teams").mkdir()
    for name, label in {"one": "cat", "two": "dog", "three": "cow"}.items():
        labels.assign(label=label).to_csv(tmp_path / "teams" / f"{name}.csv", index=False)
    return counted


def executions(folder: Path) -> Counter[int]:
    """Count since the last look how often each process has executed the metric."""
    counted: Counter[int] = Counter()
    for each in (folder / "executed").iterdir():
        counted[int(each.name.partition("-")[0])] += 1
        each.rmdir()
    return counted


def test_score_and_rank_read_each_file_once(tmp_path, counts, capsys):
    solution, metric = tmp_path / "solution.csv", tmp_path / "shares.py"
    teams, out = tmp_path / "teams", tmp_path / "board"
    assert command_line.run(capsys, "score", solution, teams / "one.csv", "--metric", metric)[0] == 0
    assert (counts["solution.csv"], counts["one.csv"], counts["prepared"]) == (1, 1, 1)
    assert executions(tmp_path) == {os.getpid(): 2}  # once more for the look at what earlier calls leave
    counts.clear()
    options = ["--metric", metric, "--out", out, "--resamples", 0, "--jobs", 2]
    assert command_line.run(capsys, "rank", solution, teams, *options)[0] == 0
    assert (counts["solution.csv"], counts["one.csv"]) == (1, 0)  # worker processes read the submissions
    assert counts["prepared"] <= 1
    # Twice for each submission of so few, and for the whole contract.
    assert sum(executions(tmp_path).values()) == 2 + 1


def test_a_metric_is_executed_anew_for_the_contract(tmp_path, counts):
    solution, submission = pd.read_csv(tmp_path / "labels.csv"), pd.read_csv(tmp_path / "teams" / "one.csv")
    for rows in (12, 11, 10):
        podium.score(solution.head(rows), submission.head(rows), metric=tmp_path / "shares.py")
    assert executions(tmp_path) == {os.getpid(): 1 + 3}


def test_make_and_publish_read_the_solution_once(tmp_path, counts, capsys, monkeypatch):
    stay_in_process(monkeypatch, tmp_path)
    metric, made = ["--metric", tmp_path / "shares.py"], tmp_path / "files"
    assert command_line.run(capsys, "make", tmp_path / "labels.csv", *metric, "--out", made)[0] == 0
    assert (counts["labels.csv"], counts["solution.csv"]) == (1, 1)
    # All labels, the test set in their order, and the test set in its own order.
    assert counts["prepared"] == 3
    assert executions(tmp_path) == {os.getpid(): 2 + 3}  # three in fresh processes, which this one plays
    counts.clear()
    options = ["--title", "Animals", "--dry-run"]
    assert command_line.run(capsys, "publish", "kaggle", made, *metric, *options)[0] == 0
    assert (counts["solution.csv"], counts["sample_submission.csv"], counts["prepared"]) == (1, 1, 1)
    assert executions(tmp_path) == {os.getpid(): 1 + 3}  # once more for the contract
