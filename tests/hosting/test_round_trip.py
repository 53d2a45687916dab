"""What `podium make` writes is scored by every reader like the labels that it was made from."""

import re
from pathlib import Path

import pandas as pd
import pytest

from tests.support.host_line import run_podium

pytestmark = pytest.mark.usefixtures("in_process")

# It has no opinion on rows without a label.
LABELED = """
import pandas as pd

class ParticipantVisibleError(Exception):
    pass

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    if "label" not in submission:
        raise ParticipantVisibleError("expected a column label")
    kept = solution["label"].notna()
    return float((solution["label"] == submission["label"])[kept].mean())

def higher_is_better() -> bool:
    return True
"""
WORDS = ["cat", "owl", "dog", "cat", "cat", "owl"]


def write(folder: Path, source: str, labels: pd.DataFrame) -> list[object]:
    """Write a metric and labels, and return the beginning of the command line that makes files of them."""
    (folder / "mine.py").write_text(source, encoding="utf-8")
    labels.to_csv(folder / "labels.csv", index=False)
    return ["make", folder / "labels.csv", "--metric", folder / "mine.py", "--seed", 1, "--out", folder / "f"]


def scores_in(text: str) -> list[float]:
    """The numbers with six digits in what a command printed."""
    return [float(number) for number in re.findall(r"\d\.\d{6}", text)]


def test_an_empty_truth_stays_empty(capsys, tmp_path):
    """As a space it would be a label, which no prediction equals."""
    labels = pd.DataFrame({"id": [f"r{n:03d}" for n in range(60)], "label": [*WORDS[:5], None] * 10})
    code, report, _ = run_podium(capsys, *write(tmp_path, LABELED, labels))
    files = tmp_path / "f" / "private" / "solution.csv", tmp_path / "f" / "public" / "sample_submission.csv"
    assert code == 0
    scored = run_podium(capsys, "score", "--metric", tmp_path / "mine.py", *files)[1]
    assert scores_in(scored)[1:] == scores_in(report)
    assert scores_in(run_podium(capsys, "emulate", tmp_path / "mine.py", *files)[1]) == scores_in(report)
    assert pd.read_csv(files[0])["label"].isna().sum() == 10
