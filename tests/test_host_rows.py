"""`host.py pack` and `unpack`: the same segments with one row per essay and with one row each."""

import numpy as np
import pandas as pd
import pytest

import metric
from competition.errors import HostError, SubmissionRejected, UsageError
from competition.files import read_csv
from competition.row_formats import pack, unpack
from tests.essays import make_competition
from tests.frames import WHOLE, perfect, solution, submission, words
from tests.host_line import ROOT, SOLUTION, SUBMISSION, run_host

NO_ESSAYS = ROOT / "metrics" / "samples" / "scifact" / "solution.csv"


@pytest.fixture
def truth():
    return solution(
        ("B", "Lead", words(0, 9), 1),
        ("A", "Claim", "3", 0),
        ("B", "Claim", words(10, 19), 0),
        ell_status=["No", None, "No"],
        note=["x", "y", "z"],
        Usage=["Public", "Private", "Public"],
    )


@pytest.fixture
def predicted():
    return submission(
        ("B", "Lead", words(0, 9), 0.8312), ("A", "Claim", "3", 1), ("B", "Claim", words(2, 5), 1e-9)
    )


def test_a_packed_solution(truth):
    packed, dropped = pack(truth)
    expected = pd.DataFrame(
        {
            "essay_id": ["B", "A"],
            "segments": ["Lead 0 9 1;Claim 10 19 0", "Claim 3 3 0"],
            "ell_status": ["No", None],
            "Usage": ["Public", "Private"],
        }
    )
    pd.testing.assert_frame_equal(packed, expected, check_dtype=False)
    assert dropped == ["note"]


def test_a_packed_submission(predicted):
    packed, dropped = pack(predicted.assign(note="x"))
    assert packed.to_dict("list") == {
        "essay_id": ["B", "A"],
        "segments": ["Lead 0 9 0.8312;Claim 2 5 1e-09", "Claim 3 3 1"],
    }
    assert dropped == []


def test_essays_that_a_submission_must_have(predicted):
    packed, _ = pack(predicted, essays=["A", "C", "B"])
    assert packed["essay_id"].tolist() == ["A", "C", "B"]
    assert packed["segments"][1] == "none"
    with pytest.raises(SubmissionRejected) as caught:
        pack(predicted, essays=["C", "A"])
    assert str(caught.value) == "of the submission's essays, 1 are not among the 2 expected: B"
    assert pack(predicted.head(0), essays=["A"])[0].to_dict("list") == {"essay_id": ["A"], "segments": ["none"]}


def test_unpacked(truth, predicted):
    unpacked = unpack(pack(truth)[0], solution=True)
    expected = truth.iloc[[0, 2, 1]].drop(columns="note").assign(row_id=["B:1", "B:2", "A:1"])
    pd.testing.assert_frame_equal(unpacked, expected.reset_index(drop=True), check_dtype=False)
    unpacked = unpack(pack(predicted, essays=["A", "C", "B"])[0])
    assert unpacked["row_id"].tolist() == ["A:1", "B:1", "B:2"]
    assert unpacked["predictionstring"].tolist() == ["3", words(0, 9), words(2, 5)]
    assert unpacked["score_discourse_effectiveness_1"].tolist() == [1.0, 0.8312, 1e-9]
    assert unpacked["score_discourse_effectiveness_0"].tolist() == [0.0, 1 - 0.8312, 1 - 1e-9]


def test_nothing_to_unpack():
    unpacked = unpack(pd.DataFrame({"essay_id": ["A"], "segments": ["none"]}))
    assert len(unpacked) == 0
    assert metric.read(unpacked, "row_id").essay_ids == []


@pytest.mark.filterwarnings("ignore::metric.TruthOverlapWarning")
def test_scores_stay_the_same_to_the_last_bit(tmp_path):
    truth, predicted = make_competition(80, seed=9)
    random = np.random.default_rng(0)
    d1 = random.random(len(predicted))
    sums = 1 + random.uniform(-0.001, 0.001, len(predicted))
    for name, column in zip(metric.PROBABILITY_COLUMNS, (d1 * sums, (1 - d1) * sums)):
        predicted[name] = column.clip(0, 1)
    predicted = predicted[(predicted[list(metric.PROBABILITY_COLUMNS)].sum(axis=1) - 1).abs() < 0.001]
    expected = metric.score(truth, predicted, "row_id")
    packed = [pack(frame)[0] for frame in (truth, predicted)]
    assert metric.score(*packed, "essay_id") == expected
    again = [unpack(packed[0], solution=True), unpack(packed[1])]
    assert metric.score(*again, "row_id") == expected
    for one, other in zip(packed, (pack(again[0])[0], pack(again[1])[0])):
        pd.testing.assert_frame_equal(one, other)
    # And through files, whoever reads them.
    for frame in (packed[1], again[1]):
        frame.to_csv(tmp_path / "file.csv", index=False)
        assert metric.score(truth, pd.read_csv(tmp_path / "file.csv"), "essay_id") == expected
        text = {"essay_id", "segments", *metric.TEXT_COLUMNS}
        assert metric.score(truth, read_csv(tmp_path / "file.csv", text, HostError), "essay_id") == expected


def test_a_perfect_submission_stays_perfect(truth):
    packed, _ = pack(perfect(truth).drop(columns="discourse_effectiveness"))
    assert metric.score(pack(truth)[0], packed, "essay_id", **WHOLE) == 1.0


def test_the_essay_s_id_may_be_called_otherwise(truth):
    truth = truth.rename(columns={"essay_id": "id"}).drop(columns="row_id")
    packed, _ = pack(truth, "id")
    assert list(packed)[:2] == ["id", "segments"]
    assert unpack(packed, "id", solution=True)["id"].tolist() == ["B", "B", "A"]


def test_overlaps_stay_as_they_are():
    truth = solution(("A", "Lead", "0 1 2", 1), ("A", "Claim", "2 3 4", 1))
    assert pack(truth)[0]["segments"].tolist() == ["Lead 0 2 1;Claim 2 4 1"]


def test_what_has_the_other_format_already(truth, predicted):
    with pytest.raises(UsageError, match="one row per essay already"):
        pack(pack(truth)[0])
    with pytest.raises(UsageError, match="has no column segments"):
        unpack(predicted)


def test_faults_are_the_metric_s(truth, predicted):
    with pytest.raises(
        SubmissionRejected, match="predictionstring is wrong in 1 row of the submission: row_id p1"
    ):
        pack(predicted.replace("3", "4 3"))
    with pytest.raises(HostError, match="discourse_type is wrong in 1 row of the solution: row_id t0"):
        pack(truth.replace("Lead", "Head"))
    with pytest.raises(SubmissionRejected, match="segments is wrong in 1 row of the submission: essay_id A"):
        unpack(pd.DataFrame({"essay_id": ["A"], "segments": ["Lead 1 0 1"]}))
    with pytest.raises(HostError, match="in place of a label"):
        unpack(pd.DataFrame({"essay_id": ["A"], "segments": ["Lead 0 1 0.5"]}), solution=True)
    for frame, error in (
        (pd.DataFrame({"discourse_effectiveness": []}), HostError),
        (pd.DataFrame(), SubmissionRejected),
    ):
        with pytest.raises(error):
            pack(frame)


# --- the command line -------------------------------------------------------------------------------


def test_files(capsys, tmp_path):
    truth, guess = tmp_path / "truth.csv", tmp_path / "new" / "guess.csv.gz"
    assert run_host(capsys, "pack", SOLUTION, "--out", truth) == (0, f"40 rows, written to {truth}\n", "")
    code, out, _ = run_host(capsys, "pack", SUBMISSION, "--essays", SOLUTION, "--out", guess)
    assert (code, out) == (0, f"40 rows, written to {guess}\n")
    expected = metric.score(pd.read_csv(SOLUTION), pd.read_csv(SUBMISSION), "row_id")
    assert metric.score(pd.read_csv(truth), pd.read_csv(guess), "essay_id") == expected
    long = tmp_path / "long.csv"
    assert run_host(capsys, "unpack", guess, "--out", long)[0] == 0
    assert metric.score(pd.read_csv(truth), pd.read_csv(long), "essay_id") == expected
    assert run_host(capsys, "unpack", truth, "--solution", "--out", long)[0] == 0
    assert metric.score(pd.read_csv(long), pd.read_csv(guess), "essay_id") == expected
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "guess.csv.gz", "long.csv", "truth.csv",
    ]  # fmt: skip


def test_columns_left_out_are_warned_of(capsys, tmp_path, truth):
    truth.to_csv(tmp_path / "truth.csv", index=False)
    code, _, err = run_host(capsys, "pack", tmp_path / "truth.csv", "--out", tmp_path / "out.csv")
    assert (code, err) == (0, "warning: left out, as they differ within an essay: note\n")


def test_places_that_cannot_be_written(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    for out, why in ((tmp_path / "file" / "out.csv", "File exists"), (tmp_path, "Is a directory")):
        code, text, err = run_host(capsys, "pack", SOLUTION, "--out", out)
        assert (code, text) == (2, "")
        assert err.startswith(f"error: cannot write {out}: ")
        assert why in err or "Not a directory" in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_text_stays_text(capsys, tmp_path):
    predicted = submission(("0012", "Lead", "3", 0.5), ("NA", "Lead", "0", 0.5))
    predicted.to_csv(tmp_path / "guess.csv", index=False)
    run_host(capsys, "pack", tmp_path / "guess.csv", "--out", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "essay_id,segments\n0012,Lead 3 3 0.5\nNA,Lead 0 0 0.5\n"


@pytest.mark.parametrize(
    ("command", "arguments", "code", "message"),
    [
        ("pack", ["none.csv"], 2, "cannot read none.csv: No such file or directory"),
        (
            "pack",
            [SOLUTION, "--essays", SOLUTION],
            2,
            "--essays is for submissions; a solution has its own essays",
        ),
        ("pack", [SUBMISSION, "--essays", "none.csv"], 2, "cannot read none.csv: No such file or directory"),
        (
            "pack",
            [SUBMISSION, "--essay-id", "essay"],
            3,
            "the submission lacks columns: essay. It has: row_id, ",
        ),
        ("pack", [SUBMISSION, "--essays", ROOT / "pyproject.toml"], 4, ""),
        ("pack", [SUBMISSION, "--essays", NO_ESSAYS], 4, f"{NO_ESSAYS} has no column essay_id"),
        ("unpack", [SUBMISSION], 2, "the file has no column segments: it has no row per essay"),
        ("unpack", [ROOT / "README.md"], 3, ""),
        ("unpack", [ROOT / "README.md", "--solution"], 4, ""),
    ],
)
def test_bad_input(capsys, tmp_path, command, arguments, code, message):
    result = run_host(capsys, command, *arguments, "--out", tmp_path / "out.csv")
    assert result[:2] == (code, "")
    assert result[2].startswith(f"error: {message}")
    assert list(tmp_path.iterdir()) == []
