"""How often a command reads a file, prepares a solution, and executes a metric that is not podium's own."""

import os
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from podium import files, scoring
from tests.support import command_line
from tests.support.host_line import stay_in_process

METRIC = '''
import os

import pandas as pd

os.environ["EXECUTED"] = os.environ.get("EXECUTED", "") + "x"


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
    of_table, of_path, prepare = files.open_regular, Path.read_bytes, scoring.prepare

    def counting(name, call):
        def counted_call(first, *others, **named):
            counted[Path(os.fspath(first)).name if name is None else name] += 1
            return call(first, *others, **named)

        return counted_call

    monkeypatch.setattr(files, "open_regular", counting(None, of_table))
    monkeypatch.setattr(Path, "read_bytes", counting(None, of_path))
    monkeypatch.setattr(scoring, "prepare", counting("prepared", prepare))
    monkeypatch.setenv("EXECUTED", "")
    (tmp_path / "shares.py").write_text(METRIC)
    labels = pd.DataFrame({"id": [f"r{row}" for row in range(12)], "label": ["cat", "dog", "cat"] * 4})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    labels.assign(Usage=["Public", "Private"] * 6).to_csv(tmp_path / "solution.csv", index=False)
    (tmp_path / "teams").mkdir()
    labels.assign(label="cat").to_csv(tmp_path / "teams" / "one.csv", index=False)
    return counted


def test_score_and_rank_read_each_file_once(tmp_path, counts, capsys):
    solution, metric = tmp_path / "solution.csv", tmp_path / "shares.py"
    teams, out = tmp_path / "teams", tmp_path / "board"
    assert command_line.run(capsys, "score", solution, teams / "one.csv", "--metric", metric)[0] == 0
    assert (counts["solution.csv"], counts["one.csv"], counts["prepared"]) == (1, 1, 1)
    assert os.environ["EXECUTED"] == "xx"  # once more for the look at what earlier calls leave
    counts.clear()
    options = ["--metric", metric, "--out", out, "--resamples", 0, "--jobs", 1]
    assert command_line.run(capsys, "rank", solution, teams, *options)[0] == 0
    # A worker process reads the submissions.
    assert (counts["solution.csv"], counts["one.csv"], counts["prepared"]) == (1, 0, 1)
    assert os.environ["EXECUTED"] == "xx"


def test_make_and_publish_read_the_solution_once(tmp_path, counts, capsys, monkeypatch):
    stay_in_process(monkeypatch, tmp_path)
    metric, made = ["--metric", tmp_path / "shares.py"], tmp_path / "files"
    assert command_line.run(capsys, "make", tmp_path / "labels.csv", *metric, "--out", made)[0] == 0
    assert (counts["labels.csv"], counts["solution.csv"]) == (1, 1)
    # All labels, and the test set as it stands, in reverse and in its order.
    assert counts["prepared"] == 4
    counts.clear()
    options = ["--title", "Animals", "--dry-run"]
    assert command_line.run(capsys, "publish", "kaggle", made, *metric, *options)[0] == 0
    assert (counts["solution.csv"], counts["sample_submission.csv"], counts["prepared"]) == (1, 1, 1)
