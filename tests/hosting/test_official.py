"""`podium make` turns the official files of the other metrics into competitions for Kaggle."""

import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import podium
from podium.hosting import samples
from podium.hosting.folders import as_texts
from podium.hosting.kaggle import emulate
from podium.metric import hosted
from tests.support.host_line import ACCURACY, EQUAL, ROOT, run_podium

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_process")]

SAMPLES = ROOT / "metrics"
READABLE, SCIFACT = (SAMPLES / name / "samples" for name in ("readable", "scifact"))
OFFICIAL = {
    "trec_is": "labels.json",
    "scifact": "claims.jsonl",
    "markup_consistency": "documents",
    "readable": "essays",
}

CORPORA_ONLY = "--columns and --subpopulations are for corpora of essays"


@pytest.mark.filterwarnings("ignore:annotations outside the 25 types")
@pytest.mark.parametrize(("metric", "labels"), OFFICIAL.items(), ids=OFFICIAL)
def test_official_labels_become_a_competition(capsys, tmp_path, metric, labels):
    """The files are accepted as Kaggle accepts them, and items stay whole."""
    labels, out = SAMPLES / metric / "samples" / labels, tmp_path / "out"
    code, report, _ = run_podium(capsys, "make", labels, "--metric", metric, "--out", out)
    assert code == 0
    lines = [line.split("|") for line in report.splitlines() if "_submission.csv |" in line]
    sample, perfect = ([float(cell) for cell in line[2:4]] for line in lines)
    assert perfect[0] > sample[0]
    assert perfect[1] > sample[1]
    loaded = hosted.load(metric)
    truth, guess, row_id = emulate.read_tables(
        loaded, out / "private" / "solution.csv", out / "public" / "sample_submission.csv", None
    )
    arguments = {"row_id_column_name": row_id}
    results = list(emulate.emulate(loaded, truth, guess, arguments, loaded.complete_submission))
    scores = podium.score(truth, guess, metric=metric).scores
    assert [(result.part, result.score) for result in results] == [
        ("Public", scores["Public"]), ("Private", scores["Private"]),
    ]  # fmt: skip
    assert [round(result.score, 6) for result in results] == sample
    prepared = loaded.prepare(truth.drop(columns="Usage"), row_id)
    parts = pd.Series(truth["Usage"].to_numpy()).groupby(prepared.item_of_row).nunique()
    assert set(parts) == {1}
    assert sorted(path.name for path in (out / "private").iterdir()) == [
        "perfect_submission.csv",
        "solution.csv",
    ]


def test_participants_of_readable_get_the_subjects(capsys, tmp_path):
    """Without an essay's subject nobody can grade it, so the leak search knows that it may be public."""
    labels = pd.read_csv(READABLE / "solution.csv", dtype=str, keep_default_na=False)
    labels.drop(columns="text", errors="ignore").to_csv(tmp_path / "labels.csv", index=False)
    out = tmp_path / "out"
    code, _, _ = run_podium(
        capsys, "make", tmp_path / "labels.csv", "--metric", "readable", "--seed", 3, "--out", out
    )
    assert code == 0
    shown = pd.read_csv(out / "public" / "test.csv", dtype=str)
    assert list(shown) == ["document_id", "subject"]
    subjects = labels.set_index("document_id")["subject"].to_dict()
    assert shown.set_index("document_id")["subject"].to_dict() == subjects
    assert json.loads((out / "competition.json").read_text())["public_columns"] == ["subject"]


def test_participants_of_scifact_get_the_claims(capsys, tmp_path):
    """The texts of the claims are for participants; labels without texts make no table of them."""
    lines = (SCIFACT / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    gold = [json.loads(line) for line in lines]
    wordless = tmp_path / "wordless.jsonl"
    wordless.write_text(
        "".join(json.dumps({"id": each["id"], "evidence": each["evidence"]}) + "\n" for each in gold)
    )
    for path, out in ((SCIFACT / "claims.jsonl", tmp_path / "a"), (wordless, tmp_path / "b")):
        assert run_podium(capsys, "make", path, "--metric", "scifact", "--out", out)[0] == 0
    shown = pd.read_csv(tmp_path / "a" / "public" / "test.csv", dtype=str)
    assert shown.set_index("claim_id")["claim"].to_dict() == {str(each["id"]): each["claim"] for each in gold}
    written = {path.name for path in (tmp_path / "b" / "public").iterdir()}
    assert written == {"sample_submission.csv", "starter.ipynb", "metric.py"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([SCIFACT / "claims.jsonl", "--metric", "scifact", "--columns", "a=b"], 2, CORPORA_ONLY),
        ([SCIFACT / "claims.jsonl"], 2,
         f"{SCIFACT / 'claims.jsonl'}: expected a table; for official labels, name their metric by --metric"),
        ([READABLE / "solution.csv", "--sample", "x"], 2, "--sample is for labels of another metric"),
        ([SCIFACT / "claims.jsonl", "--metric", "scifact", "--sample", SCIFACT / "claims.jsonl"], 4,
         "public/sample_submission.csv (drawn with --seed 0): "),
        (["none.json", "--metric", "trec_is"], 2, "cannot read none.json: No such file or directory"),
    ],
)  # fmt: skip
def test_what_goes_wrong(capsys, tmp_path, arguments, code, message):
    result = run_podium(capsys, "make", *arguments, "--out", tmp_path / "out")
    assert result[:2] == (code, "")
    assert result[2].startswith(f"error: {message}")
    assert list(tmp_path.iterdir()) == []


def command_for(labels: pd.DataFrame, folder: Path, body: str = EQUAL) -> list[object]:
    """Write labels and a metric for them, and return the command that makes their files, up to its --out."""
    (folder / "accuracy.py").write_text(ACCURACY.replace("BODY", body))
    labels.to_csv(folder / "labels.csv", index=False)
    return ["make", folder / "labels.csv", "--metric", folder / "accuracy.py", "--out"]


def test_a_metric_that_makes_no_sample(capsys, tmp_path):
    """Podium makes one that says the same of every row, if the metric takes it, and else asks for one."""
    random = np.random.default_rng(1)
    labels = pd.DataFrame({"id": range(60), "weight": random.random(60), "text": [f"t{n}" for n in range(60)]})
    labels["answer"] = random.choice(["a", "b", "b"], 60)
    assert run_podium(capsys, *command_for(labels, tmp_path), tmp_path / "out")[0] == 0
    sample = pd.read_csv(tmp_path / "out" / "public" / "sample_submission.csv")
    assert (list(sample), set(sample["answer"]), len(sample)) == (["id", "answer"], {"b"}, 60)
    for other, why in (
        ({"answer": labels["text"]}, "the metric refuses it: "),
        ({"answer": labels["text"], "weight": labels["text"]}, "no label occurs twice in "),
        ({"answer": np.nan}, "the metric refuses it: "),
    ):
        line = command_for(labels.assign(**other), tmp_path)
        code, out, err = run_podium(capsys, *line, tmp_path / "none")
        assert (code, out) == (2, "")
        assert "error: --sample: expected a submission to show to participants: a table with the column " in err
        assert why in err


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["dog", "cat", "cat"], "cat"),
        (["dog", "cat"], None),
        ([3, 3, 1], 3),
        ([1, 2, 7], 4.5),
        ([0.25, 0.5], 0.375),
        ([5.0], None),
        ([True, True, False], True),
        ([None, None, 2.0, 2.0], 2.0),
    ],
)
def test_a_typical_value_is_no_single_rows(cells, expected):
    assert samples.typical(pd.Series(cells)) == expected


def test_a_metric_without_items(capsys, tmp_path):
    """Rows with the same id go to one part, and the host is told what that means."""
    labels = pd.DataFrame({"id": range(20), "answer": "1.50"})
    line = command_for(labels, tmp_path, "return 1.0")
    code, out, err = run_podium(capsys, *line, tmp_path / "out", "--sample", tmp_path / "labels.csv")
    assert (code, err) == (0, "")
    sample = tmp_path / "out" / "public" / "sample_submission.csv"
    written, given = sample.read_text().splitlines(), (tmp_path / "labels.csv").read_text().splitlines()
    assert (written[0], sorted(written)) == (given[0], sorted(given))  # 1.50, and not 1.5
    assert "The metric has no prepare(), so each row was drawn by itself." in out
    assert "Participants get the ids of the test set and nothing else about it: public/ has no test.csv." in out
    assert "| what | all | Public | Private |\n" in out
    assert "| items | 20 | 6 | 14 |\n" in out
    assert "The parts were drawn with seed 0: 0.3 of the items are Public. For one board" in out
    solution = pd.read_csv(tmp_path / "out" / "private" / "solution.csv")
    assert solution["Usage"].value_counts().to_dict() == {"Public": 6, "Private": 14}
    # The host's own parts are kept, because podium does not know better which rows belong together.
    own = labels.assign(Usage=["Public"] * 5 + ["Private"] * 15)
    for usage, expected in (
        (own, (0, "")),
        (own.assign(Usage="Private"), (4, "error: Usage: expected Public rows in the labels, found none")),
    ):
        line = command_for(usage, tmp_path, "return 1.0")
        code, out, err = run_podium(capsys, *line, tmp_path / f"own-{expected[0]}", "--sample", sample)
        assert (code, err.startswith(expected[1])) == (expected[0], True)
    solution = pd.read_csv(tmp_path / "own-0" / "private" / "solution.csv")
    assert solution["id"].tolist() != own["id"].tolist()
    assert solution.sort_values("id")["Usage"].tolist() == own["Usage"].tolist()


@pytest.mark.filterwarnings("ignore:annotations outside the 25 types")
@pytest.mark.filterwarnings("ignore:labeled tweets that the run lacks")
def test_a_run_becomes_the_sample_of_its_labels(capsys, tmp_path):
    labels, run = (SAMPLES / "trec_is" / "samples" / name for name in ("labels.json", "run.txt"))
    line = ["make", labels, "--metric", "trec_is", "--sample", run, "--out", tmp_path / "out"]
    assert run_podium(capsys, *line)[0] == 0
    sample = pd.read_csv(tmp_path / "out" / "public" / "sample_submission.csv", dtype=str)
    solution = pd.read_csv(tmp_path / "out" / "private" / "solution.csv", dtype=str)
    assert sorted(sample["tweet_id"]) == sorted(solution["tweet_id"])


def test_parts_of_labels_with_items_are_kept(capsys, tmp_path):
    metric = Path(podium.__file__).parent / "metric" / "new_metric"
    line = ["make", metric / "samples" / "solution.csv", "--metric", metric, "--public", 0.5]
    code, _, err = run_podium(capsys, *line, "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    made, given = (
        pd.read_csv(path).sort_values("id", ignore_index=True)
        for path in (tmp_path / "out" / "private" / "solution.csv", metric / "samples" / "solution.csv")
    )
    assert made.equals(given)


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("usage", "", "the column usage of the solution looks like its parts: if so, call the column Usage"),
        ("Split", "", "the column Split of the solution looks like its parts: if so, call the column Usage"),
        ("Usage", "Public", "no row is Private, so there is one board, which everybody sees and can climb"),
    ],
)
def test_parts_that_may_be_meant_otherwise(capsys, tmp_path, column, value, message):
    labels = pd.DataFrame({"id": range(40), "answer": ["a", "b"] * 20})
    labels[column] = value or ["Public", "private"] * 20
    code, out, err = run_podium(capsys, *command_for(labels, tmp_path), tmp_path / "out")
    assert (code, f"warning: {message}" in err) == (0, True)
    assert ("| file | Public |\n" in out) == (value == "Public")
    dates = ["--start", "2027-01-01", "--end", "2027-02-01", *([] if value else ["--switch", "2027-01-15"])]
    bundle = ["bundle", "codabench", tmp_path / "out", "--metric", tmp_path / "accuracy.py", "--title", "T"]
    assert run_podium(capsys, *bundle, *dates, "--out", tmp_path / "bundle")[0] == 0
    with zipfile.ZipFile(tmp_path / "bundle" / "competition.zip") as archive:
        phases = yaml.safe_load(archive.read("competition.yaml"))["phases"]
    assert [phase["name"] for phase in phases] == ["Public", "Private"][: 1 if value else 2]
    dates = dates[:4] if not value else [*dates, "--switch", "2027-01-15"]
    code, _, err = run_podium(capsys, *bundle, *dates, "--out", tmp_path / "other")
    assert (code, "--switch: the solution has " in err) == (2, True)


def test_an_empty_text_is_written_as_a_space():
    """Kaggle takes an empty cell for a missing value."""
    given = pd.DataFrame({"text": ["x", "", None], "number": [1.0, 2.0, None]})
    table = as_texts(given, hosted.load("unified"))
    assert table.to_dict("list") == {"text": ["x", " ", " "], "number": ["1.0", "2.0", None]}


@pytest.mark.filterwarnings("ignore:annotations outside the 25 types")
def test_a_part_without_a_score_is_an_error(capsys, tmp_path):
    labels = SAMPLES / "trec_is" / "samples" / "labels.json"
    line = ["make", labels, "--metric", "trec_is", "--seed", 2, "--out", tmp_path / "out"]
    code, out, err = run_podium(capsys, *line)
    assert (code, out) == (4, "")
    assert re.search(r"\(drawn with --seed 2\): metric.py, line \d+: score\(\): expected a finite float", err)
    assert not (tmp_path / "out").exists()


def test_columns_that_participants_need(capsys, tmp_path):
    """A day that the ids contain is no leak if everybody may know it."""
    labels = pd.DataFrame({"id": [f"s{n}-{n % 7}" for n in range(70)], "day": [n % 7 for n in range(70)]})
    labels["answer"] = np.random.default_rng(3).choice(["a", "b"], 70)
    line = [*command_for(labels, tmp_path), tmp_path / "out"]
    code, _, err = run_podium(capsys, *line)
    assert (code, "solution.csv reveals day of solution.csv" in err) == (4, True)
    assert "by --new-ids; what all may know is named by --public-columns\n" in err
    code, _, err = run_podium(capsys, *line, "--public-columns", "hour")
    assert code == 4
    assert "--public-columns: expected a column hour, found id, day, answer" in err
    code, told, _ = run_podium(capsys, *line, "--public-columns", "day")
    assert (code, "has no test.csv" in told) == (0, False)
    assert list(pd.read_csv(tmp_path / "out" / "public" / "test.csv")) == ["id", "day"]
    assert json.loads((tmp_path / "out" / "competition.json").read_text())["public_columns"] == ["day"]


@pytest.mark.filterwarnings(
    "ignore:6 of 80 .* rows of the test set stand in public/train.csv, too, with the same size"
)
def test_a_table_is_split_into_what_is_scored_and_what_is_to_learn_from(capsys, tmp_path):
    random = np.random.default_rng(5)
    labels = pd.DataFrame({"id": [f"r{n:03}" for n in range(200)], "size": random.random(200).round(3)})
    labels["answer"] = random.choice(["a", "b", "b"], 200)
    line = [*command_for(labels, tmp_path), tmp_path / "out", "--seed", 1, "--test", 0.4]
    code, report, _ = run_podium(capsys, *line, "--public-columns", "size")
    assert (code, "| items | 200 | 24 | 56 | 120 |" in report) == (0, True)
    learned, shown, solution = (
        pd.read_csv(tmp_path / "out" / name)
        for name in ("public/train.csv", "public/test.csv", "private/solution.csv")
    )
    assert (list(learned), list(shown)) == (list(labels), ["id", "size"])
    assert solution["Usage"].value_counts().to_dict() == {"Private": 56, "Public": 24}
    both = pd.concat([learned, solution.drop(columns="Usage")]).sort_values("id", ignore_index=True)
    assert both.equals(labels)
    labels[["id"]].assign(answer="b").to_csv(tmp_path / "sample.csv", index=False)
    line[5] = tmp_path / "other"
    assert run_podium(capsys, *line, "--sample", tmp_path / "sample.csv")[0] == 0
    sample = pd.read_csv(tmp_path / "other" / "public" / "sample_submission.csv")
    assert sorted(sample["id"]) == sorted(solution["id"])
    line = [*command_for(labels.assign(Usage="Public"), tmp_path), tmp_path / "none", "--test", 0.4]
    code, _, err = run_podium(capsys, *line)
    assert (code, "the column Usage, --test: expected one way to choose the test set" in err) == (2, True)
