"""What the page on making a competition does in a few lines of pandas before `podium make`."""

import contextlib
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.support.corpora import make_corpus
from tests.support.host_line import ACCURACY, ROOT, run_podium

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


RMSE = "return points * float(((solution['price'] - submission['price']) ** 2).mean() ** 0.5)"


@pytest.mark.filterwarnings("always")
def test_the_last_days_are_scored_and_may_be_known(capsys, in_process, tmp_path):
    """Whether a row is Public is no answer, so the days that tell it are public with a warning."""
    days = pd.date_range("2025-01-01", periods=80).strftime("%Y-%m-%d")
    labels = pd.DataFrame({"day": days.repeat(10), "store": [*"NSEWMABCDF"] * 80})
    prices = np.exp(np.random.default_rng(8).normal(2, 0.5, 800)).round(2)
    labels.insert(0, "id", np.random.default_rng(9).permutation(800))
    labels.assign(price=prices).to_csv(tmp_path / "labels.csv", index=False)
    (tmp_path / "rmse.py").write_text(ACCURACY.replace("BODY", RMSE))
    run_recipe("last_days.py", tmp_path)
    line = ["make", tmp_path / "with_usage.csv", "--metric", tmp_path / "rmse.py", "--out", tmp_path / "files"]
    code, _, err = run_podium(capsys, *line, "--public-columns", "day,store")
    assert code == 0
    assert "warning: public/test.csv reveals Usage of solution.csv in the column day, such as " in err
    assert list(pd.read_csv(tmp_path / "files" / "public" / "test.csv")) == ["id", "day", "store"]
    found = usages(tmp_path / "files").groupby("Usage")["day"].agg(["min", "max", "nunique"])
    assert found["nunique"].to_dict() == {"train": 56, "Public": 8, "Private": 16}
    assert found.loc["train", "max"] < found.loc["Public", "min"]
    assert found.loc["Public", "max"] < found.loc["Private", "min"]


@pytest.mark.filterwarnings("always")
def test_a_public_column_that_tells_a_secret_one_is_a_warning(capsys, in_process, tmp_path):
    labels = pd.DataFrame({"id": np.random.default_rng(1).permutation(200), "store": list("NSEWM") * 40})
    labels["weight"] = labels["store"].map(dict(zip("NSEWM", [1, 2, 5, 7, 9])))
    labels["price"] = np.random.default_rng(2).random(200).round(3)
    labels.to_csv(tmp_path / "labels.csv", index=False)
    (tmp_path / "rmse.py").write_text(ACCURACY.replace("BODY", RMSE))
    line = ["make", tmp_path / "labels.csv", "--metric", tmp_path / "rmse.py", "--out", tmp_path / "files"]
    code, _, err = run_podium(capsys, *line, "--public-columns", "store")
    assert code == 0
    assert "warning: public/test.csv reveals weight of solution.csv in the column store, such as " in err
