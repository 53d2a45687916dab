"""Ids stand in every command as in their file, and a metric gets them as `pandas.read_csv` gives them."""

import csv
import io
import json
import re
from datetime import datetime

import pandas as pd
import pyarrow as pa
import pytest

import podium
from podium.common.errors import HostError, SubmissionRejected
from podium.hosting.bundles import bundle
from podium.hosting.competition import Competition
from podium.hosting.terms import Terms
from podium.metric import hosted
from podium.tables import ids
from tests.hosting.test_bundle import execute, unpack
from tests.support.command_line import run
from tests.support.host_line import ACCURACY, SOLUTION, SUBMISSION, run_podium, stay_in_process
from tests.test_files import parquet_of

TERMS = Terms(start=datetime(2027, 1, 15), switch=datetime(2027, 4, 1), end=datetime(2027, 4, 15))
# The share of rows whose label is right, and a hundredth for each step of the sorted ids that goes up by one.
SERIES = ACCURACY.replace(
    "BODY",
    """if "label" not in submission:
        raise ParticipantVisibleError("expected a column label")
    ids = sorted(solution[row_id_column_name])
    steps = 0 if isinstance(ids[0], str) else sum(b - a == 1 for a, b in zip(ids, ids[1:]))
    return float((solution["label"] == submission["label"]).mean()) + steps / 100""",
)
HOSTILE = ["NA", "null", "None", "nan", "N/A", "00007", "007", "7", "1e5", "100000.0", "100000", "TRUE"]
HOSTILE += ["x,y", "é"]
HOSTILE += [f"{10**17 + number}" for number in range(6)]
NUMBERS = [str(number) for number in range(20)]
LABELS = ["cat", "dog", "owl", "cow"]


def csv_of(header, rows):
    """A CSV whose cells are written as they are given."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


@pytest.fixture
def folder(tmp_path, request):
    """A metric, labels with the ids of the parameter, and a submission of "cat" alone."""
    names = request.param
    labels = [LABELS[number * number // 3 % 4] for number in range(len(names))]
    parts = ["Public", "Private"] * (len(names) // 2)
    (tmp_path / "series.py").write_text(SERIES)
    (tmp_path / "labels.csv").write_text(csv_of(["id", "label", "Usage"], zip(names, labels, parts)))
    (tmp_path / "sample.csv").write_text(csv_of(["id", "label"], zip(names[::-1], ["cat"] * len(names))))
    return tmp_path


def scores(out):
    """The score of each part that a command printed."""
    return dict(re.findall(r"^(Public|Private) +(\S+)", out, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.filterwarnings("default:id. Kaggle's reader changes")
@pytest.mark.parametrize(
    "folder", [pytest.param(HOSTILE, id="hostile"), pytest.param(NUMBERS, id="numbers")], indirect=True
)
def test_one_table_walks_through_every_command(capsys, folder, monkeypatch):
    stay_in_process(monkeypatch, folder)
    is_hostile = "NA" in (folder / "labels.csv").read_text()
    metric, labels, sample = folder / "series.py", folder / "labels.csv", folder / "sample.csv"
    files = folder / "files"
    code, _, err = run(capsys, "make", labels, "--metric", metric, "--sample", sample, "--out", files)
    assert (code, "warning: id: Kaggle's reader changes 5 of 20 ids" in err) == (0, is_hostile)
    for written, given in (("private/solution.csv", labels), ("public/sample_submission.csv", sample)):
        texts = (path.read_text().splitlines() for path in (files / written, given))
        assert [*map(sorted, texts)] == [sorted(given.read_text().splitlines())] * 2
    code, out, err = run(capsys, "score", labels, sample, "--metric", metric)
    expected = scores(out)
    assert (code, err, len(expected)) == (0, "", 2)

    # Parquet, with texts or with numbers as ids, has the same ids.
    rows = list(csv.DictReader(io.StringIO(sample.read_text())))
    cells = [row["id"] if is_hostile else int(row["id"]) for row in rows]
    table = pa.table({"id": cells, "label": [row["label"] for row in rows]})
    (folder / "sample.parquet").write_bytes(parquet_of(table))
    code, out, _ = run(capsys, "score", labels, folder / "sample.parquet", "--metric", metric)
    assert (code, scores(out)) == (0, expected)

    code, out, err = run(capsys, "emulate", metric, labels, sample)
    assert (code, scores(out)) == (0, expected)
    assert ("'NA' would be empty, 'null' would be empty, 'None' would be empty; rename" in err) is is_hostile
    code, out, _ = run(capsys, "check", metric, labels, sample)
    assert code == 0
    assert (
        "note  has ids that Kaggle reads as they are written: id: Kaggle's reader changes" in out
    ) is is_hostile

    for name in ("A.csv", "B.parquet"):
        (folder / "teams").mkdir(exist_ok=True)
        source = folder / f"sample{name[1:]}"
        (folder / "teams" / name).write_bytes(source.read_bytes())
    line = ["rank", labels, folder / "teams", "--metric", metric, "--no-boost", "--resamples", 0, "--jobs", 1]
    assert run(capsys, *line, "--out", folder / "board")[0] == 0
    board = pd.read_csv(folder / "board" / "final_leaderboard.csv")
    assert [f"{score:.6f}" for score in board["score"]] == [expected["Private"]] * 2

    competition = Competition(files, hosted.load(metric), {"row_id_column_name": "id"}, "T", "t")
    bundle.bundle("codabench", competition, TERMS, folder / "out")
    done = execute("codabench", unpack("codabench", folder / "out", folder), folder / "teams", folder)
    for told in json.loads(done.stdout.splitlines()[-1]):
        assert {part.lower(): float(score) for part, score in expected.items()} == pytest.approx(told)

    rows = list(csv.reader(io.StringIO(labels.read_text())))[1:]
    (files / "public" / "notes.csv").write_text(csv_of(["name", "kind"], [row[:2] for row in rows]))
    with pytest.raises(HostError, match=r"notes\.csv reveals label of solution\.csv in the column kind"):
        bundle.bundle("codabench", competition, TERMS, folder / "again")


@pytest.mark.parametrize(
    ("truth", "given", "received"),
    [
        (["1", "10", "2"], ["2", "1", "10"], [2, 1, 10]),
        (["1", "10", "2"], ["2.0", "1.0", "10.0"], [2, 1, 10]),
        (["-1", "0", "9223372036854775807"], ["0", "-1", "9223372036854775807"], [0, -1, 2**63 - 1]),
        (["01", "10", "2"], ["2", "01", "10"], [2, 1, 10]),
        (["1", "10", "2"], ["+2", "001", " 10"], [2, 1, 10]),
        (["1", "01", "2"], ["2", "01", "1"], ["2", "01", "1"]),
        (["1", "9007199254740993"], ["1", "9007199254740993.0"], ["1", "9007199254740993.0"]),
        (["1", "9223372036854775808"], ["1", "9223372036854775808"], ["1", "9223372036854775808"]),
        (["+1", "2"], ["2", "+1"], [2, 1]),
        (["1", "-0"], ["1", "-0"], [1, 0]),
    ],
)
def test_a_metric_gets_whole_numbers_where_all_are_written_as_such(truth, given, received):
    solution = ids.of_solution(pd.DataFrame({"id": truth}), "id")
    submission = ids.as_in(solution, pd.DataFrame({"id": given}), ["id"])
    assert submission["id"].tolist() == received


@pytest.mark.parametrize(
    ("solution", "submission"),
    [([1, 2, 10], ["10", "1", "2"]), (["1", "2", "10"], [10, 1, 2]), ([1, 2, 10], [10.0, 1.0, 2.0])],
)
def test_ids_of_other_types_in_python_are_the_same_ids(tmp_path, solution, submission):
    """What the host gives keeps its type, and the participant's ids take it."""
    (tmp_path / "series.py").write_text(SERIES)
    truth = pd.DataFrame({"id": solution, "label": ["a", "b", "c"]})
    guess = pd.DataFrame({"id": submission, "label": ["c", "a", "a"]})
    result = podium.score(truth, guess, tmp_path / "series.py")
    assert result.score == pytest.approx(2 / 3 + (0.01 if isinstance(solution[0], int) else 0))
    assert result.submission["id"].tolist() == solution


@pytest.mark.parametrize("wrong", ["03", "1e0", "", "x", "1.5"])
def test_another_id_is_rejected(tmp_path, wrong):
    (tmp_path / "series.py").write_text(SERIES)
    truth = pd.DataFrame({"id": [1, 2], "label": ["a", "b"]})
    guess = pd.DataFrame({"id": [wrong, "2"], "label": ["a", "b"]})
    with pytest.raises(SubmissionRejected, match="values for id do not match"):
        podium.score(truth, guess, tmp_path / "series.py")


def test_ids_that_a_spreadsheet_rewrote_are_named(tmp_path):
    (tmp_path / "series.py").write_text(SERIES)
    truth = pd.DataFrame({"id": [150000000001, 160000000001], "label": ["a", "b"]})
    guess = pd.DataFrame({"id": ["1.5E+11", "1.6E+11"], "label": ["a", "b"]})
    with pytest.raises(SubmissionRejected, match=r"seems to have written 1\.5E\+11: format the ids as text$"):
        podium.score(truth, guess, tmp_path / "series.py")


NUMBERED = pd.DataFrame(
    {
        "row_id": range(4),
        "essay_id": [1, 1, 2, 2],
        "discourse_type": ["Lead", "Claim", "Lead", "Claim"],
        "predictionstring": ["0 1 2", "3 4 5", "0 1", "2 3 4"],
        "discourse_effectiveness": [1, 0, 1, 1],
        "ell_status": ["No", "No", "Yes", "Yes"],
        "economically_disadvantaged": "a",
        "Usage": ["Public", "Public", "Private", "Private"],
    }
)


@pytest.mark.parametrize("written", ["{}", "{}.0", "+{}"])
def test_ids_of_items_are_those_that_a_platform_reads(tmp_path, capsys, monkeypatch, written):
    """Kaggle's reader sees the same whole numbers in both tables, and every command agrees with it."""
    stay_in_process(monkeypatch, tmp_path)
    solution, folder = tmp_path / "solution.csv", tmp_path / "submissions"
    folder.mkdir()
    NUMBERED.to_csv(solution, index=False)
    rows = NUMBERED[["row_id", "essay_id", "discourse_type", "predictionstring"]]
    probabilities = {"score_discourse_effectiveness_0": 0.3, "score_discourse_effectiveness_1": 0.7}
    expected = podium.score(NUMBERED, rows.assign(**probabilities))
    theirs = rows.assign(essay_id=rows["essay_id"].map(written.format), **probabilities)
    theirs.to_csv(folder / "Team.csv", index=False)
    code, out, err = run_podium(capsys, "score", solution, folder / "Team.csv", "--bare")
    assert (code, float(out)) == (0, expected.score)
    assert ("is taken for 1, because all ids are whole numbers" in err) == (written != "{}")
    code, out, _ = run_podium(capsys, "emulate", hosted.ROOT / "metric.py", solution, folder / "Team.csv")
    assert code == 0
    board = podium.rank(solution, folder, out=tmp_path / "out", boost=False, jobs=1, resamples=1)
    assert board.leaderboard["score"].tolist() == [expected.scores["Private"]]


def test_text_ids_have_one_type_in_both_tables():
    """pandas 3 tells its own texts from objects, so both tables get what pandas.read_csv gives."""
    solution = ids.of_solution(pd.DataFrame({"id": ["a", "b"]}, dtype=object), "id")
    submission = ids.as_in(solution, pd.DataFrame({"id": ["b", "a"]}, dtype=object), ["id"])
    assert solution["id"].dtype == submission["id"].dtype == pd.read_csv(io.StringIO("id\na\nb\n"))["id"].dtype


@pytest.mark.parametrize("folder", [NUMBERS], indirect=True)
def test_only_ids_that_are_not_found_are_looked_at_one_by_one(capsys, folder, monkeypatch):
    looked_at = []
    number_of = ids.number_of
    monkeypatch.setattr(ids, "number_of", lambda text: looked_at.append(text) or number_of(text))
    labels, sample = folder / "labels.csv", folder / "sample.csv"
    for metric, *tables in (("unified", SOLUTION, SUBMISSION), (folder / "series.py", labels, sample)):
        assert run(capsys, "score", *tables, "--metric", metric)[0] == 0
        assert looked_at == []
    sample.write_text(sample.read_text().replace("\n7,", "\n007,"))
    code, _, told = run(capsys, "score", labels, sample, "--metric", folder / "series.py")
    taken = "id: '007' is taken for 7, because all ids are whole numbers\n"
    assert (code, f"warning: {taken}" in told) == (0, True)
    assert set(looked_at) == {"007"}
    (other := folder / "other.csv").write_text(sample.read_text())
    code, printed, told = run(
        capsys, "score", labels, sample, other, "--metric", folder / "series.py", "--json"
    )
    warnings = json.loads(printed)["warnings"]
    assert (code, [warnings.count(f"{whose}{taken.strip()}") for whose in ("", f"{other}: ")], told) == (
        0, [1, 1], "",
    )  # fmt: skip
    told = run(capsys, "score", labels, sample, other, "--metric", folder / "series.py")[2]
    assert [told.count(f"warning: {whose}{taken}") for whose in ("", f"{other}: ")] == [1, 1]


def test_ids_that_arrow_holds_in_pieces_are_the_same_ids():
    """The columns of a table of a few megabytes are such."""
    pieces = [pd.Series(names, dtype="string[pyarrow]") for names in (["a", "b"], ["c"])]
    solution = pd.DataFrame({"id": pd.concat(pieces, ignore_index=True)})
    for submission in (solution, solution.iloc[1:], solution.iloc[::-1], solution.iloc[:0]):
        assert ids.as_in(solution, submission, ["id"]) is submission
