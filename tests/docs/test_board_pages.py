"""Pages about boards quote the numbers that a board has."""

import re
import shutil
from pathlib import Path

import pandas as pd

from podium import cli

ROOT = Path(__file__).parents[2]


def test_the_page_of_the_metric_has_what_each_step_changes(tmp_path, capsys):
    (tmp_path / "submissions").mkdir()
    shutil.copy(ROOT / "sample_submission.csv", tmp_path / "submissions")
    files = map(str, (ROOT / "solution_sample.csv", tmp_path / "submissions"))
    options = "--no-boost", "--variants", "--resamples", "0", "--jobs", "1", "--out"
    assert cli.main(["rank", *files, *options, str(tmp_path / "board")]) == 0
    table = pd.read_csv(tmp_path / "board" / "variants.csv").set_index("decision")["winner_score"]
    assert "step 6 to this metric: + softmin  " in capsys.readouterr().out
    page = (ROOT / "metrics" / "unified" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:Feedback Prize 1's|\+ ).*?\| (0\.\d+) \| (−?[\d.]*) ?\|$", page, re.MULTILINE)
    steps = table[table.index.str.startswith("step ")]
    assert [score for score, _ in rows] == [f"{score:.4f}" for score in steps]
    assert [change for _, change in rows[1:]] == [f"−{-change:.4f}" for change in steps.diff()[1:]]
    assert f"the last line would be {table['max of the overlaps']:.4f}." in page


def test_the_page_for_juries_quotes_what_the_tutorial_prints():
    pages = ROOT / "docs"
    printed = " ".join((pages / "tutorials" / "first-board.md").read_text(encoding="utf-8").split())
    page = (pages / "how-to" / "read-a-board.md").read_text(encoding="utf-8")
    quoted = " ".join(re.findall(r"^> (.*)$", page, re.MULTILINE))
    sentences = re.split(r"(?<=[.;]) ", re.sub(r"\*\*.*?\*\*", "", quoted))
    assert len(sentences) > 8
    assert [sentence for sentence in sentences if sentence.strip() not in printed] == []
