"""The numbers that pages about boards quote are those that the example gives."""

import contextlib
import re
from pathlib import Path

import pytest

from examples import board as example
from podium import cli

ROOT = Path(__file__).parents[2]


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
    assert quoted.split() == " ".join(answers).split()
