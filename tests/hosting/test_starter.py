"""The starter notebook that `podium make` writes makes a submission from the public files alone."""

import contextlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from podium.metric import hosted
from tests.support.corpora import make_corpus
from tests.support.host_line import ACCURACY, EQUAL, ROOT, run_podium

pytestmark = pytest.mark.slow

SCIFACT = ROOT / "metrics" / "scifact" / "samples" / "claims.jsonl"
TREC_IS = ROOT / "metrics" / "trec_is" / "samples" / "labels.json"
PARTS = ["Public", "Private"]
ERROR = "return float(-((solution['answer'] - submission['answer']) ** 2).mean() ** 0.5)"  # a BODY

# Carries out the cells of a notebook in its folder. Like many environments, it has no podium and no SciPy.
ALONE = """
import json, sys
sys.modules["podium"] = sys.modules["scipy"] = None
shared = {"__name__": "__main__"}
for cell in json.load(open("starter.ipynb", encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), shared)
"""


@pytest.fixture
def labels() -> pd.DataFrame:
    """Labels of two kinds, of which one is known by its size."""
    random = np.random.default_rng(8)
    frame = pd.DataFrame({"id": [f"{n:03}" for n in range(150)], "size": random.random(150).round(3)})
    return frame.assign(answer=random.choice(["cat", "dog", "dog"], 150))


def make(capsys, folder: Path, labels: pd.DataFrame, body: str = EQUAL, *options) -> tuple[Path, str]:
    """Make a competition of labels with a custom metric; return its folder and what was printed."""
    (folder / "mine.py").write_text(ACCURACY.replace("BODY", body))
    labels.to_csv(folder / "labels.csv", index=False)
    line = ["make", folder / "labels.csv", "--metric", folder / "mine.py", "--seed", 1, *options]
    code, out, _ = run_podium(capsys, *line, "--out", folder / "files")
    assert code == 0
    return folder / "files", out


def sources(files: Path) -> str:
    """The code of the notebook."""
    cells = json.loads((files / "public" / "starter.ipynb").read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def carried_out(files: Path, folder: Path) -> tuple[str, Path]:
    """Carry out the notebook in a copy of the public files; return what it printed, and its submission."""
    shutil.copytree(files / "public", folder / "copy")
    command = [sys.executable, "-I", "-c", ALONE]
    done = subprocess.run(command, cwd=folder / "copy", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "copy" / "submission.csv"


def check_scores(files: Path, submission: Path, metric: str | Path) -> None:
    """Make sure that a submission has a score in every part."""
    record = json.loads((files / "competition.json").read_text())
    solution = pd.read_csv(files / "private" / "solution.csv", dtype={"tweet_id": str})
    given = pd.read_csv(submission, dtype={"tweet_id": str})
    scored = podium.score(solution, given, metric=str(metric), **record["parameters"])
    assert all(np.isfinite(scored.scores[part]) for part in PARTS)


@pytest.mark.filterwarnings("ignore:annotations outside the 25 types")
@pytest.mark.parametrize(
    ("metric", "path"), [("unified", None), ("wordless", None), ("scifact", SCIFACT), ("trec_is", TREC_IS)]
)
def test_it_makes_a_submission_without_podium(capsys, tmp_path, metric, path):
    if path is None:
        corpus = make_corpus(60)
        if metric == "wordless":
            corpus, metric = corpus.drop(columns="full_text"), "unified"
        corpus.to_csv(tmp_path / "corpus.csv", index=False)
        line = ["make", tmp_path / "corpus.csv", "--seed", 1]
    else:
        line = ["make", path, "--metric", metric, "--seed", 1, "--test", 0.5]
    assert run_podium(capsys, *line, "--out", tmp_path / "files")[0] == 0
    printed, submission = carried_out(tmp_path / "files", tmp_path)
    assert "score of the fold: " in printed
    check_scores(tmp_path / "files", submission, hosted.find(metric))


@pytest.mark.parametrize("kind", ["classes", "numbers", "copied", "scipy at once", "scipy later"])
def test_a_table_has_a_starter(capsys, tmp_path, labels, kind):
    """So has one without anything to learn from, and one whose metric needs what the participant lacks."""
    options, body = ["--test", 0.4, "--publish-metric"], EQUAL
    if kind == "numbers":
        labels["answer"] = (labels["size"] * 30).round(2)
        body = ERROR
    if kind == "copied":
        options = []
    if "scipy" in kind:
        body = f"{EQUAL}\n\nimport scipy" if kind == "scipy at once" else f"import scipy\n    {EQUAL}"
    files, _ = make(capsys, tmp_path, labels, body, *options)
    printed, submission = carried_out(files, tmp_path)
    assert ("score of the fold: " in printed) == (kind in ("classes", "numbers"))
    assert ("because the metric needs scipy: install it" in printed) == ("scipy" in kind)
    check_scores(files, submission, tmp_path / "mine.py")
    if kind == "numbers":  # the mean of what is public, and of nothing else
        learned = pd.read_csv(files / "public" / "train.csv")
        assert pd.read_csv(submission)["answer"].unique() == pytest.approx([learned["answer"].mean()])


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("options", "published", "told"),
    [
        (["--test", 0.4, "--publish-metric"], True, None),
        (["--test", 0.4], False, "a fold with metric.py beside it. The file of your metric stays with you;"),
        (
            [],
            False,
            "The starter notebook scores no fold: there is no train.csv with several items; --test makes one.",
        ),
    ],
)
def test_the_file_of_an_own_metric_stays_private_unless_the_host_gives_it(
    capsys, tmp_path, labels, options, published, told
):
    files, out = make(capsys, tmp_path, labels, EQUAL, *options)
    assert (files / "public" / "metric.py").exists() == published
    assert ("import metric" in sources(files)) == bool(options)
    assert ("The starter notebook scores no fold: " in out) == (not options)
    assert told is None or told in out
    dates = ["--start", "2027-01-01", "--switch", "2027-01-15", "--end", "2027-02-01", "--title", "T"]
    bundle = ["bundle", "codabench", files, "--metric", tmp_path / "mine.py", *dates, "--out", tmp_path / "b"]
    assert run_podium(capsys, *bundle)[0] == 0
    with zipfile.ZipFile(tmp_path / "b" / "competition.zip") as archive:
        kit = {name.removeprefix("starting_kit/") for name in archive.namelist() if "starting_kit/" in name}
    assert kit == {"sample_submission.csv", "starter.ipynb", *(["metric.py"] if published else [])}


@pytest.mark.usefixtures("in_process")
def test_a_metric_that_fails_for_the_fold_does_not_end_the_notebook(capsys, tmp_path, labels):
    body = f"assert len(solution) > 20, 'too few rows'\n    {EQUAL}"
    files, _ = make(capsys, tmp_path, labels, body, "--test", 0.4, "--public", 0.5, "--publish-metric")
    printed, submission = carried_out(files, tmp_path)
    assert "The fold has no score: too few rows" in printed
    assert len(pd.read_csv(submission)) == 60


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(("items", "item"), [("day", "day"), ("day,week", "week"), ("", "id")])
def test_the_fold_has_the_items_of_the_record(capsys, tmp_path, labels, items, item):
    """Otherwise rows of one day would be in both parts of the fold."""
    days = np.arange(150) // 5
    labels = labels.assign(day=days, week=days // 7)
    files, _ = make(capsys, tmp_path, labels, EQUAL, "--test", 0.4, *(["--items", items] if items else []))
    assert f"ITEM = {item!r}" in sources(files)
    shared: dict[str, object] = {}
    with contextlib.chdir(files / "public"):
        exec(sources(files), shared)
    learned, fold = (set(shared[name][item]) for name in ("learned", "fold"))
    assert learned
    assert fold
    assert not learned & fold


@pytest.mark.usefixtures("in_process")
def test_it_has_no_output_and_no_answer(capsys, tmp_path, labels):
    files, _ = make(capsys, tmp_path, labels, EQUAL, "--test", 0.4)
    notebook = json.loads((files / "public" / "starter.ipynb").read_text(encoding="utf-8"))
    assert not any(cell.get("outputs") for cell in notebook["cells"])
    assert "dog" not in json.dumps(notebook)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])


@pytest.mark.usefixtures("in_process")
def test_several_answers_to_one_target(capsys, tmp_path, labels):
    """The baseline is the mean of the target; a copy of the metric beside the notebook scores a fold."""
    body = "return float((solution['size'] - submission[['low', 'high']].mean(axis=1)).abs().mean())"
    sample = labels[["id"]].assign(low=0.25, high=0.5)
    sample.to_csv(tmp_path / "sample.csv", index=False)
    given = ["--sample", tmp_path / "sample.csv", "--public-columns", "answer", "--test", 0.4]
    files, _ = make(capsys, tmp_path, labels, body, *given)
    assert "TARGETS = ['size']" in sources(files)
    copy = files / "public"
    for has_metric in (False, True):
        if has_metric:
            shutil.copy(tmp_path / "mine.py", copy / "metric.py")
        done = subprocess.run(
            [sys.executable, "-I", "-c", ALONE], cwd=copy, capture_output=True, text=True, check=True
        )
        assert ("score of the fold: " in done.stdout) == has_metric
        assert ("put the metric's file, if it is published, beside this notebook" in done.stdout) != has_metric
    mean = pd.read_csv(copy / "train.csv")["size"].mean()
    assert pd.read_csv(copy / "submission.csv")[["low", "high"]].to_numpy() == pytest.approx(mean)


def test_it_shows_a_picture_where_matplotlib_is_there(capsys, tmp_path, labels, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    files, _ = make(capsys, tmp_path, labels, EQUAL, "--test", 0.4)
    assert "without matplotlib" not in carried_out(files, tmp_path)[0]
