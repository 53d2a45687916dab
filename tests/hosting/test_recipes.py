"""What the page on making a competition does in a few lines of pandas before `podium make`."""

import contextlib
import re
from pathlib import Path

import pandas as pd

from tests.support.corpora import make_corpus
from tests.support.host_line import ROOT, run_podium

PAGE = ROOT / "docs" / "how-to" / "make-a-competition.md"


def run_recipe(name: str, folder: Path) -> None:
    """Run a program of the page in a folder."""
    text = PAGE.read_text(encoding="utf-8")
    program = re.search(rf'```python title="{re.escape(name)}"\n(.*?)```', text, re.DOTALL)
    assert program is not None
    with contextlib.chdir(folder):
        exec(compile(program[1], name, "exec"), {})


def usages(folder: Path) -> pd.DataFrame:
    """Every row of the files in a folder, with its part in the column Usage."""
    train = pd.read_csv(folder / "public" / "train.csv").assign(Usage="train")
    return pd.concat([train, pd.read_csv(folder / "private" / "solution.csv")])


def test_words_of_a_corpus_are_translated(capsys, in_process, tmp_path):
    words = {"Ineffective": "weak", "Adequate": "weak", "Effective": "strong"}
    corpus = make_corpus(24).replace({"discourse_effectiveness": words})
    corpus.to_csv(tmp_path / "corpus.csv", index=False)
    line = ["--out", tmp_path / "files", "--seed", 0]
    assert run_podium(capsys, "make", tmp_path / "corpus.csv", *line)[0] == 4
    run_recipe("translate.py", tmp_path)
    assert run_podium(capsys, "make", tmp_path / "translated.csv", *line)[0] == 0
    rows = usages(tmp_path / "files")
    right = (corpus["discourse_effectiveness"] == "strong").sum()
    assert (len(rows), rows["discourse_effectiveness"].sum()) == (len(corpus), right)


def test_rare_groups_get_as_many_essays_as_others(capsys, in_process, tmp_path):
    corpus = make_corpus(60).rename(columns={"essay_id_comp": "essay_id"})
    corpus.to_csv(tmp_path / "corpus.csv", index=False)
    run_recipe("rare_groups.py", tmp_path)
    line = ["make", tmp_path / "with_parts.csv", "--split", "part", "--out", tmp_path / "files"]
    assert run_podium(capsys, *line)[0] == 0
    solution = pd.read_csv(tmp_path / "files" / "private" / "solution.csv", keep_default_na=False)
    sizes = corpus.fillna("").drop_duplicates("essay_id")["ell_status"].value_counts()
    scored = solution.drop_duplicates("essay_id")["ell_status"].value_counts()
    assert scored.to_dict() == (sizes // 2).to_dict()
    assert set(solution["Usage"]) == {"Public", "Private"}
