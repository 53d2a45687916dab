"""A slip in the metric file of a host is told, and what is none is scored as on Kaggle."""

import sys

import pandas as pd
import pytest

import podium
from podium.common.errors import SubmissionRejected
from podium.metric import hosted
from tests.support.host_line import ACCURACY, EQUAL, run_podium


@pytest.fixture
def pair(tmp_path):
    """The paths of a solution and of a submission with a wrong last row."""
    paths = tmp_path / "labels.csv", tmp_path / "guess.csv"
    for path, last in zip(paths, (1, 0)):
        pd.DataFrame({"id": range(4), "answer": [1, 0, 0, last]}).to_csv(path, index=False)
    return paths


def returning(body: str) -> str:
    """The source of a metric whose score() has this body."""
    return ACCURACY.replace("BODY", body)


GOOD = returning(EQUAL)


# --- slips -------------------------------------------------------------------------------------------

FIRST = (
    "mine.py, line 11: score(): expected the parameters solution, submission, row_id_column_name first, found "
)
RAISED = "the metric raised an unexpected error: "
SLIPS = {
    "exchanged tables": (
        GOOD.replace("solution: pd.DataFrame, submission", "submission: pd.DataFrame, solution"),
        FIRST + "submission: ",
    ),
    "a class": ("class score:\n    pass\n", "expected the parameters solution, submission, row_id"),
    "a function in C": (
        "score = max\n",
        "expected the parameters solution, submission, row_id_column_name first, found none",
    ),
    "the end of the process": (
        returning("raise SystemExit('bye')"),
        RAISED + "SystemExit: bye (mine.py, line 14: raise SystemExit('bye'))",
    ),
    "a base exception of its own": (
        returning("raise type('Stop', (BaseException,), {})"),
        RAISED + "Stop (mine.py, line 14: ",
    ),
    "the end while loading": (
        GOOD + "raise SystemExit(3)\n",
        "cannot be loaded: SystemExit: 3 (mine.py, line 18: ",
    ),
    "null bytes": (GOOD + "\0", "source code string cannot contain null bytes"),
    "nothing": ("", "is not a metric file: it defines no score()"),
}


@pytest.mark.parametrize(("source", "message"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_told_and_never_a_number(capsys, tmp_path, pair, source, message):
    (tmp_path / "mine.py").write_text(source)
    code, out, err = run_podium(capsys, "score", *pair, "--metric", tmp_path / "mine.py")
    assert (code in (2, 4), out) == (True, "")
    assert message in err
    assert "mine.py" in err
    assert len(err) < 2000


@pytest.mark.filterwarnings("always")
def test_rows_of_a_complete_submission_that_are_compared_by_position_are_told(capsys, tmp_path, pair):
    """The order may be right, as in a ranking, so it is no error."""
    by_position = "return float(solution['answer'][0] == submission['answer'][0])"
    by_id = "return float(solution.merge(submission, on='id').eval('answer_x == answer_y').mean())"
    told = (
        "score(): the score depends on the order of a submission's rows: 1.000000, and 0.000000 with the last"
    )
    for body, is_told in ((by_position, True), (by_id, False)):
        (tmp_path / "mine.py").write_text(returning(body) + "COMPLETE_SUBMISSION = True\n")
        code, _, err = run_podium(capsys, "score", *pair, "--metric", tmp_path / "mine.py")
        assert (code, told in err) == (0, is_told), err


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (
            returning(f"print('hello')\n    {EQUAL}"),
            "note  prints nothing and warns of nothing in the given files: it prints hello",
        ),
        (
            returning(
                "if 'answer' not in submission: raise ParticipantVisibleError('no answer')\n"
                "    return float(pd.to_numeric(submission['answer'], errors='coerce').mean())"
            ),
            "note  knows ParticipantVisibleError: a submission with words in the column answer raises "
            "ValueError: it returned nan",
        ),
        (returning("raise SystemExit(3)"), "for the given files it raised SystemExit: 3 (line 14, in score)"),
        ("\ufeff" + GOOD, "begins with a byte order mark: save it as UTF-8 without BOM"),
    ],
)
def test_what_check_tells_of_a_slip(capsys, in_process, tmp_path, pair, source, line):
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    assert line in run_podium(capsys, "check", tmp_path / "mine.py", *pair)[1]


# --- what the platform does before the metric ---------------------------------------------------------


def test_one_part_of_a_solution_takes_whole_submissions(tmp_path):
    """So a class can rank with the Public rows alone while the competition runs."""
    (tmp_path / "mine.py").write_text(GOOD)
    solution = pd.DataFrame({"id": [1, 2, 3], "answer": [1, 0, 1], "Usage": ["Public", "Private", "Public"]})
    submission = solution.drop(columns="Usage").assign(answer=[1, 1, 0])
    part = solution[solution["Usage"] == "Public"]
    scores = podium.score(part, submission, metric=tmp_path / "mine.py").scores
    assert scores == {"All": 0.5, "Public": 0.5}
    with pytest.raises(SubmissionRejected, match=r"^Submission has 3 rows but 2 were expected\.$"):
        podium.score(part.drop(columns="Usage"), submission, metric=tmp_path / "mine.py")


# --- names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["class.py", "2nd métrique.b.py"])
def test_a_file_may_have_any_name(capsys, in_process, tmp_path, pair, name):
    (tmp_path / name).write_text(GOOD)
    code, out, _ = run_podium(capsys, "score", *pair, "--metric", tmp_path / name)
    assert (code, out.splitlines()[-1]) == (0, f"metric:{name.removesuffix('.py')}|version:?|points:1.0")
    assert run_podium(capsys, "check", tmp_path / name, *pair)[0] == 0


def test_the_metric_of_the_current_folder_has_its_name(tmp_path, monkeypatch):
    """So has one that a link leads to."""
    folder = tmp_path / "errors"
    folder.mkdir()
    (folder / "metric.py").write_text(GOOD)
    (tmp_path / "linked").symlink_to(folder)
    monkeypatch.chdir(folder)
    assert hosted.load("metric.py").name == hosted.load(".").name == "errors"
    assert hosted.load(tmp_path / "linked").name == "linked"


def test_a_metric_may_import_kaggle_s_module_of_helpers(capsys, in_process, tmp_path, pair, monkeypatch):
    """Five of sixteen real metrics do. Participants who get such a metric get the module, too."""
    monkeypatch.delitem(sys.modules, "kaggle_metric_utilities", raising=False)
    (tmp_path / "mine.py").write_text(f"from kaggle_metric_utilities import safe_call_score\n{GOOD}")
    metric = "--metric", tmp_path / "mine.py"
    assert run_podium(capsys, "score", *pair, *metric)[:2] == (
        0, "Score    0.750000\n\nmetric:mine|version:?|points:1.0\n",
    )  # fmt: skip
    made = ["make", pair[0], "--sample", pair[1], *metric, "--publish-metric", "--out", tmp_path / "files"]
    assert run_podium(capsys, *made)[0] == 0
    assert (tmp_path / "files" / "public" / "kaggle_metric_utilities.py").is_file()
    assert run_podium(capsys, "emulate", tmp_path / "mine.py", *pair)[0] == 0
