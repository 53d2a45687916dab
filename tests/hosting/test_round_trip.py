"""What `podium make` writes is scored by every reader like the labels that it was made from."""

import re
from pathlib import Path

import pandas as pd
import pytest

from podium.hosting import making
from podium.metric import hosted
from tests.support.host_line import run_podium, source_of

pytestmark = pytest.mark.usefixtures("in_process")

# It has no opinion on rows without a label.
LABELED = source_of(
    'if "label" not in submission:',
    '    raise ParticipantVisibleError("expected a column label")',
    'kept = solution["label"].notna()',
    'return float((solution["label"] == submission["label"])[kept].mean())',
)
WORDS = ["cat", "owl", "dog", "cat", "cat", "owl"]


def write(folder: Path, source: str, labels: pd.DataFrame) -> list[object]:
    """Write a metric and labels, and return the beginning of the command line that makes files of them."""
    (folder / "mine.py").write_text(source, encoding="utf-8")
    labels.to_csv(folder / "labels.csv", index=False)
    return ["make", folder / "labels.csv", "--metric", folder / "mine.py", "--seed", 1, "--out", folder / "f"]


def scores_in(text: str) -> list[float]:
    """The numbers with six digits in what a command printed, but for those of the starter notebook."""
    return [float(number) for number in re.findall(r"\d\.\d{6}", text.partition("## The starter")[0])]


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


@pytest.mark.filterwarnings("always")
def test_ids_that_kaggle_changes_are_named(capsys, tmp_path):
    labels = pd.DataFrame({"id": ["NA", *(f"r{n:03d}" for n in range(59))], "label": WORDS * 10})
    told = "id: Kaggle's reader changes 1 of 60 ids: 'NA' would be empty; rename them, such as id_NA"
    code, _, err = run_podium(capsys, *write(tmp_path, LABELED, labels))
    assert (code, err.count(told)) == (0, 1)
    line = ["publish", "kaggle", tmp_path / "f", "--title", "T", "--dry-run"]
    code, _, err = run_podium(capsys, *line)
    assert (code, err.count(told)) == (0, 1)


@pytest.mark.filterwarnings("always")
def test_a_word_that_kaggle_takes_for_empty_is_named(capsys, tmp_path):
    """It is the commonest label, and yet not the one of the sample."""
    word = "NA"
    labels = pd.DataFrame({"id": [f"r{n:03d}" for n in range(60)], "label": [word, word, "owl"] * 20})
    code, _, err = run_podium(capsys, *write(tmp_path, LABELED, labels))
    assert code == 0
    assert (
        f"warning: the solution: Kaggle takes '{word}' in the column label for empty, in 40 rows, the " in err
    )
    assert "warning: Kaggle would refuse this: is read by Kaggle as by podium: " in err
    sample = pd.read_csv(tmp_path / "f" / "public" / "sample_submission.csv")
    assert set(sample["label"]) == {"owl"}
    files = tmp_path / "f" / "private" / "solution.csv", tmp_path / "f" / "public" / "sample_submission.csv"
    code, out, _ = run_podium(capsys, "check", tmp_path / "mine.py", *files)
    assert (
        code,
        f"note  has no word that Kaggle takes for empty: the solution: Kaggle takes '{word}'" in out,
    ) == (4, True)
    assert (
        "FAIL  is read by Kaggle as by podium: sample_submission.csv: solution, column label, row number "
        in out
    )
    assert run_podium(capsys, "emulate", tmp_path / "mine.py", *files)[0] == 4
    line = ["publish", "kaggle", tmp_path / "f", "--metric", tmp_path / "mine.py", "--title", "T", "--dry-run"]
    code, _, err = run_podium(capsys, *line)
    assert (code, "Kaggle would refuse this: is read by Kaggle as by podium: " in err) == (4, True)


@pytest.mark.filterwarnings("always")
def test_a_submission_that_kaggle_rejects_fails_the_check(capsys, tmp_path):
    labels = pd.DataFrame({"id": ["r1", "r2"], "label": ["NA", "owl"]})
    write(tmp_path, LABELED, labels)
    given = tmp_path / "mine.py", tmp_path / "labels.csv", tmp_path / "labels.csv"
    code, out, _ = run_podium(capsys, "check", *given)
    assert (
        code,
        "FAIL  returns a finite float: Kaggle rejects the submission: Submission contains " in out,
    ) == (4, True)


def test_labels_that_are_true_or_false_are_answered_by_such(capsys, tmp_path):
    labels = pd.DataFrame({"id": [f"r{n:03d}" for n in range(60)], "label": [True, True, False] * 20})
    code, report, err = run_podium(capsys, *write(tmp_path, LABELED, labels))
    assert (code, "differ" in err) == (0, False)
    assert min(scores_in(report)) > 0.4


# Only a column of weights that the solution names is left out of both tables.
WEIGHTED = LABELED.replace("row_id_column_name: str", "row_id_column_name: str, weights_column_name: str = ''")
WEIGHTED = WEIGHTED.replace(
    "    kept =",
    "    expected = len(solution.columns) - bool(weights_column_name)\n"
    "    if len(submission.columns) != expected:\n"
    "        raise ParticipantVisibleError('other columns')\n"
    "    kept =",
)


def test_weights_that_a_parameter_names_are_no_answer(capsys, tmp_path):
    labels = pd.DataFrame(
        {"id": [f"r{n:03d}" for n in range(60)], "label": WORDS * 10, "weight": [1, 2, 2] * 20}
    )
    line = write(tmp_path, WEIGHTED, labels)
    assert run_podium(capsys, *line, "--set", "weights_column_name=weight")[0] == 0
    assert list(pd.read_csv(tmp_path / "f" / "public" / "sample_submission.csv")) == ["id", "label"]


def test_a_file_that_scores_otherwise_than_it_was_meant_is_never_left(capsys, tmp_path, monkeypatch):
    """The error has the column, a row and both values."""
    labels = pd.DataFrame({"id": [f"r{n:03d}" for n in range(60)], "label": [*WORDS[:5], None] * 10})
    written = making.as_texts
    own = hosted.load("unified")  # which takes an empty truth for an empty text
    monkeypatch.setattr(making, "as_texts", lambda frame, _, path=None: written(frame, own, path))
    code, out, err = run_podium(capsys, *write(tmp_path, LABELED, labels))
    assert (code, out, (tmp_path / "f").exists()) == (4, "", False)
    found = "does not read back as it was meant: solution, column label, row number [0-9]+: expected an empty "
    assert re.search(f"error: public/sample_submission.csv {found}cell, found ' '; its score in All is ", err)


def test_the_sample_is_no_word_that_alone_would_be_another_type(capsys, tmp_path):
    """A column of true alone has truth values, and none of them equals the text of a label."""
    labels = pd.DataFrame({"id": [f"r{n:03d}" for n in range(60)], "label": ["true", "true", "maybe"] * 20})
    code, report, _ = run_podium(capsys, *write(tmp_path, LABELED, labels))
    assert (code, min(scores_in(report)) > 0) == (0, True)
    assert set(pd.read_csv(tmp_path / "f" / "public" / "sample_submission.csv")["label"]) == {"maybe"}


def test_labels_that_no_submission_reads_alike_are_told(capsys, tmp_path):
    """A submission of 1 alone has numbers, and the labels are texts."""
    labels = pd.DataFrame({"id": [f"r{n:03d}" for n in range(60)], "label": ["x", "1", "1"] * 20})
    code, out, err = run_podium(capsys, *write(tmp_path, LABELED, labels.replace({"x": "NA"})))
    assert (code, out, (tmp_path / "f").exists()) == (4, "", False)
    assert (
        "submission, column label, row number 1: expected '1', found 1; its score in All is 0 instead of "
        in err
    )
    assert "; name another sample submission by --sample" in err


TEXTS = '(solution["label"].astype(str) == submission["label"].astype(str))[kept]'
RISING = LABELED.replace(
    '    kept = solution["label"].notna()',
    '    if (submission["label"].groupby(solution["day"].to_numpy()).diff() < 0).any():\n'
    '        raise ParticipantVisibleError("expected values that never fall within a day")\n'
    '    kept = solution["label"].notna()',
)


@pytest.fixture
def gap() -> pd.DataFrame:
    """Whole numbers for the rows of 20 days, and none for the first day, which is to learn from with seed 1."""
    days = [n // 6 for n in range(120)]
    labels = pd.DataFrame({"id": [f"r{n:03d}" for n in range(120)], "day": days, "label": [*range(6)] * 20})
    return labels.assign(label=labels["label"].astype("Int64").mask(labels["day"] == 0))


BY_DAYS = ["--items", "day", "--public-columns", "day", "--test", 0.5]


def test_a_metric_may_refuse_the_submission_with_errors(capsys, tmp_path, gap):
    """Its rows of a day are exchanged, so they fall. Without the gap, labels are read back as whole numbers."""
    code, _, err = run_podium(capsys, *write(tmp_path, RISING, gap), *BY_DAYS)
    assert (code, err.count("warning")) == (0, 1)  # of the seed
    learned, solution = (
        pd.read_csv(tmp_path / "f" / name) for name in ("public/train.csv", "private/solution.csv")
    )
    assert (learned["label"].dtype, solution["label"].dtype) == (float, int)


def test_a_type_that_changes_the_score_is_told(capsys, tmp_path, gap):
    """The metric compares texts, of which 3 and 3.0 differ."""
    source = LABELED.replace('(solution["label"] == submission["label"])[kept]', TEXTS)
    code, _, err = run_podium(capsys, *write(tmp_path, source, gap), *BY_DAYS)
    found = (
        "solution, column label: expected cells of type float64, found int64; its score in All is 0 instead of "
    )
    assert (code, f"does not read back as it was meant: {found}" in err) == (4, True)
    assert "--sample" not in err  # the difference lies in the solution
