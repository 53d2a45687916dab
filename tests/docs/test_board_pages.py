"""The numbers that pages about boards quote are those that the example gives."""

import contextlib
import html as html_of_python
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from examples import board as example
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


@pytest.mark.slow
def test_the_pages_quote_the_example(tmp_path, capsys):
    with contextlib.chdir(tmp_path):
        example.write(Path("board"))
        capsys.readouterr()
        files = [f"board/{name}" for name in (example.SOLUTION, example.SUBMISSIONS, example.RUNTIMES)]
        assert cli.main(["rank", *files, "--out", "board/final", "--jobs", "1"]) == 0
        ranked = capsys.readouterr().out
        assert cli.main(["verify", "board/final", "--jobs", "1"]) == 0
        verified = capsys.readouterr().out
    page = (ROOT / "docs" / "how-to" / "rank.md").read_text(encoding="utf-8")
    beginning, checked = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert len(beginning.splitlines()) == 8
    assert ranked.startswith(beginning)
    assert checked == verified
    html = (tmp_path / "board" / "final" / "board.html").read_text(encoding="utf-8")
    (summary,) = re.findall(r'class="summary"><dl>(.*?)</dl>', html)
    answers = [
        f"{question} {answer}" for question, answer in re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", summary)
    ]
    page = (ROOT / "docs" / "how-to" / "read-a-board.md").read_text(encoding="utf-8")
    quoted = " ".join(re.findall(r"^> (.*)$", page, re.MULTILINE)).replace("**", "")
    assert quoted.split() == html_of_python.unescape(" ".join(answers)).split()
