"""The pages for hosts show what the commands print; "…" stands for anything."""

import re
import shlex
import shutil

import pandas as pd
import pytest

from tests.docs.test_outputs import printed_here
from tests.support.host_line import ROOT, stay_in_process

DOCS = ROOT / "docs"
PAGES = [
    DOCS / "tutorials" / "first-competition.md",
    *(DOCS / "how-to" / f"{name}.md" for name in ("make-a-competition", "class-without-kaggle")),
    *sorted((DOCS / "how-to").glob("host-on-*.md")),
]
BLOCK = re.compile(r"```text\n(\$ .*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder in which the tutorial's reader works, after the first step."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copy(ROOT / "solution_sample.csv", folder)
    command = "make solution_sample.csv --seed 0 --out files"
    printed_here(command.split(), folder)
    (folder / "bad.csv").write_text("row_id,essay_id\n1,a\n")
    # The submissions of a class, one of them wrong.
    (folder / "submissions").mkdir()
    perfect = pd.read_csv(folder / "files" / "private" / "perfect_submission.csv")
    perfect.iloc[::2].to_csv(folder / "submissions" / "Ada.csv", index=False)
    shutil.copy(folder / "files" / "public" / "sample_submission.csv", folder / "submissions" / "Bo.csv")
    shutil.copy(folder / "bad.csv", folder / "submissions" / "Cy.csv")
    return folder


def blocks() -> list:
    """Every block with a command on every page."""
    return [
        pytest.param(block, id=f"{page.stem}-{number}")
        for page in PAGES
        for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize("block", blocks())
def test_what_the_pages_print(monkeypatch, made, tmp_path, block):
    folder = tmp_path / "reader"
    shutil.copytree(made, folder)
    stay_in_process(monkeypatch, tmp_path)
    if block.startswith("$ podium make"):
        shutil.rmtree(folder / "files")
    printed = []
    for line in block.splitlines():
        if line.startswith("$ cp "):
            _, source, target = line.removeprefix("$ ").split()
            shutil.copy(folder / source, folder / target)
        if line.startswith("$ "):
            printed.append(f"{line}\n")
        if line.startswith("$ podium "):
            printed.append(printed_here(shlex.split(line)[2:], folder))
    pattern = ".*?".join(map(re.escape, block.split("…")))
    text = "".join(printed)
    assert re.fullmatch(pattern, text, re.DOTALL), text
