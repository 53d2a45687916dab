"""`podium emulate` does with a submission what Kaggle would do, and shows what Kaggle would show."""

import re

import pandas as pd
import pytest

from podium.cli import console
from podium.contest import reading
from podium.hosting.kaggle import acceptance, emulate, fresh
from podium.metric import hosted
from podium.scoring import evaluating
from podium.scoring.alignment import OTHER_ROWS
from tests.support.host_line import ACCURACY, EQUAL, ROOT, SOLUTION, SUBMISSION, every_metric, run_podium

METRIC = ROOT / "metric.py"


@pytest.fixture
def accuracy(tmp_path):
    """A function that writes a metric with this body, a solution and a submission, and returns their paths."""

    def write(body, submission="id,answer\n1,1\n2,1\n3,0\n4,1\n"):
        (tmp_path / "accuracy.py").write_text(ACCURACY.replace("BODY", body), encoding="utf-8")
        (tmp_path / "truth.csv").write_text(
            "id,answer,Usage\n1,1,Public\n2,0,Private\n3,0,Public\n4,1,Private\n5,1,Ignored\n", encoding="utf-8"
        )
        (tmp_path / "guess.csv").write_text(submission, encoding="utf-8")
        return [tmp_path / name for name in ("accuracy.py", "truth.csv", "guess.csv")]

    return write


@pytest.mark.parametrize("command", ["check", "emulate", "score"])
def test_tables_in_the_wrong_order_and_no_tables_are_told(capsys, accuracy, command):
    metric, truth, guess = accuracy(EQUAL)
    given = [guess, truth, "--metric", metric] if command == "score" else [metric, guess, truth]
    code, out, err = run_podium(capsys, command, *given)
    assert (code, out) == (4, "")
    assert f"give the solution first, then the submission: {truth} has a column Usage" in err
    if command == "score":
        return
    code, out, err = run_podium(capsys, command, metric, truth, metric)
    assert (code, out) == (3, "")
    assert "is not a CSV table: expected " in err


# --- every metric of the project, good and bad ------------------------------------------------------


def emulated(path, solution, submission, complete=False):
    """Score a submission as Kaggle would."""
    metric = hosted.load(path)
    truth, guess, row_id = emulate.read_tables(metric, solution, submission, None)
    return list(emulate.emulate(metric, truth, guess, {"row_id_column_name": row_id}, complete))


@every_metric
def test_good_submissions(path, solution, submission):
    """The scores are those that `podium score` gives."""
    metric = hosted.load(path)
    results = emulated(path, solution, submission, metric.complete_submission)
    prepared = evaluating.prepare(metric, reading.read_solution(hosted.load(metric.name), solution, {}), {})
    expected = evaluating.evaluate(prepared, reading.read_submission(metric, submission, {})).scores
    assert [result.part for result in results] == (["Public", "Private"] if "Public" in expected else ["All"])
    for result in results:
        assert result.score == expected[result.part]
        assert 0 < result.seconds < 60


# --- the command line -------------------------------------------------------------------------------


def test_parameters(capsys, accuracy, in_process):
    code, out, _ = run_podium(
        capsys, "emulate", *accuracy("return points"), "--complete-submission", "--set", "points=1e3", "--set",
        "row_id_column_name=id",
    )  # fmt: skip
    assert code == 0
    assert out.startswith("Public   1000.000000  ")
    assert re.fullmatch(r"\d+\.\d\d s of the 30 minutes that Kaggle gives", out.splitlines()[-1])


# --- Kaggle's own checks ----------------------------------------------------------------------------


EMPTY = "host only: the column answer is empty in row number 5"
OTHER = f"; {OTHER_ROWS}"


@pytest.mark.parametrize(
    ("submission", "message"),
    [
        (
            "key,answer\n1,1\n",
            "ID column id not found in submission\nhost only: expected the column id, found 'key', 'answer'",
        ),
        (
            "id,answer\n1,1\n2,1\n",
            "Submission has 2 rows but 5 were expected.\n"
            f"host only: 3 of 5 ids are missing in id, such as '3' and '4'{OTHER}",
        ),
        (
            "id,answer\n1,1\n2,1\n3,1\n4,1\n6,1\n",
            "Solution and submission values for id do not match\n"
            "host only: 1 of 5 ids is missing in id, such as '5'. "
            f"1 of 5 ids in id is not in the solution, such as '6'{OTHER}",
        ),
        (
            "id,answer\n1,1\n2,1\n3,1\n4,1\n4,1\n",
            "Solution and submission values for id do not match\n"
            "host only: 1 of 5 ids is missing in id, such as '5'. "
            f"1 id in id is repeated, such as '4'{OTHER}",
        ),
        ("id,answer\n1,1\n2,1\n3,1\n4,1\n5,\n", f"Submission contains null values\n{EMPTY}"),
        ("id,answer\n1,1\n2,1\n3,1\n4,1\n5,NA\n", f"Submission contains null values\n{EMPTY}"),
    ],
)
def test_kaggle_s_own_checks(capsys, accuracy, submission, message):
    assert run_podium(capsys, "emulate", *accuracy(EQUAL, submission)) == (3, "", f"error: {message}\n")


@pytest.mark.parametrize(
    ("further", "options"), [("", ["--complete-submission"]), ("\n\nCOMPLETE_SUBMISSION = True", [])]
)
def test_a_complete_submission_passes_the_checks_of_rows(capsys, accuracy, in_process, further, options):
    body = f"return len(submission) / 10{further}"
    code, out, _ = run_podium(capsys, "emulate", *accuracy(body, "id,answer\n1,1\n9,1\n"), *options)
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()[:2]] == ["0.200000", "0.200000"]
    for submission, message in (
        ("x,y\n1,1\n", "ID column id not"),
        ("id,answer\n1,\n", "Submission contains null"),
    ):
        assert message in run_podium(capsys, "emulate", *accuracy(body, submission), *options)[2]


def test_parts_are_the_rows_of_their_ids(accuracy, in_process):
    path, solution, submission = accuracy(EQUAL, "id,answer\n1,1\n3,0\n2,1\n4,1\n5,0\n")
    results = emulated(path, solution, submission)
    assert [(result.part, result.score) for result in results] == [("Public", 1.0), ("Private", 0.5)]


def test_what_the_metric_gets_to_see(accuracy, in_process):
    """Rows are matched by their ids and numbered from 0 in each part."""
    body = (
        "if __name__ != '__main__' or len(solution) > 2: return 0.5\n"  # the verdict needs the whole
        "    assert list(solution.columns) == ['id', 'answer'] and 'Usage' not in submission\n"
        "    assert solution.index.equals(pd.RangeIndex(2)) and submission.index.equals(pd.RangeIndex(2))\n"
        "    assert solution['id'].tolist() == submission['id'].tolist()\n"
        "    import sys\n"
        "    assert __name__ == '__main__' and '-f' in sys.argv\n"
        "    return 0.5"
    )
    results = emulated(*accuracy(body, "id,answer\n5,1\n4,1\n3,1\n2,1\n1,1\n"))
    assert [result.score for result in results] == [0.5, 0.5]


# --- what is shown of errors ------------------------------------------------------------------------

FIVE = "id,answer\n1,1\n2,1\n3,0\n4,1\n5,1\n"


@pytest.mark.parametrize(("text", "shown"), [("no\\nsuch thing", "no\nsuch thing"), ("x" * 999, "x" * 280)])
def test_the_participant_s_error_is_shown(capsys, accuracy, in_process, text, shown):
    """Kaggle cuts a long message."""
    paths = accuracy(f"raise ParticipantVisibleError('{text}')", FIVE)
    assert run_podium(capsys, "emulate", *paths) == (3, "", f"error: {shown}\n")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (
            "raise HostVisibleError('labels are wrong')",
            "HostVisibleError: labels are wrong (line 14, in score)",
        ),
        ("return 1 / 0", "ZeroDivisionError: division by zero (line 14, in score)"),
        ("return '1'", "ValueError: it returned str; Kaggle takes one finite float"),
        ("return math.nan", "ValueError: it returned nan; Kaggle takes one finite float"),
    ],
)
def test_anything_else_looks_the_same_to_the_participant(capsys, accuracy, in_process, body, detail):
    code, out, err = run_podium(capsys, "emulate", *accuracy(body, FIVE))
    assert (code, out) == (4, "")
    assert err == f"error: {emulate.UNEXPECTED}\nhost only: {detail}, in the Public part\n"


def test_a_metric_that_ends_its_process(capsys, accuracy):
    _, _, err = run_podium(capsys, "emulate", *accuracy("import os; os._exit(9)", FIVE))
    detail = "the metric file ended its process: exit code 9"
    assert err == f"error: {emulate.UNEXPECTED}\nhost only: {detail}, in the Public part\n"


@pytest.mark.slow
def test_every_part_has_a_fresh_process(capsys, accuracy):
    """Only podium itself, which looks for what a metric keeps, loads a file twice in one process."""
    alone = "import sys; assert 'podium' in sys.modules or not hasattr(pd, 'x')"
    code, _, err = run_podium(capsys, "emulate", *accuracy(f"return 1.0\n{alone}\npd.x = 1", FIVE))
    assert code == 0, err


def test_both_parts_share_the_time(accuracy, monkeypatch):
    given = []

    def run(do, seconds, **task):
        given.append(seconds)
        return {"score": 0.5, "seconds": 1000.0}

    monkeypatch.setattr(fresh, "run_fresh", run)
    monkeypatch.setattr(acceptance, "refusals", lambda *_: [])
    emulated(*accuracy("return 0.5", FIVE))
    assert given == [1800, 800]


@pytest.mark.slow
def test_a_metric_that_does_not_end(capsys, accuracy, monkeypatch):
    monkeypatch.setattr(fresh, "TIME_LIMIT", 1.5)
    _, _, err = run_podium(capsys, "emulate", *accuracy("while True: pass", FIVE))
    told = "host only: the metric file is still running after 2 s, in the Public part"
    assert err == f"error: {emulate.UNEXPECTED}\n{told}\n"


# --- bad input --------------------------------------------------------------------------------------


def test_a_column_that_the_solution_lacks(capsys):
    line = ["emulate", METRIC, SOLUTION, SUBMISSION, "--set", "row_id_column_name=id"]
    code, out, err = run_podium(capsys, *line)
    assert (code, out) == (4, "")
    assert err.startswith("error: the solution: expected a column id, found ")


@pytest.mark.parametrize(
    ("module", "code", "told"),
    [
        (
            "helper",
            4,
            "accuracy.py is uploaded alone: copy into it what it needs of helper, which stands beside it",
        ),
        ("polars_of_tomorrow", 2, "the metric needs polars_of_tomorrow, which is not installed here: "),
    ],
)
def test_a_module_that_kaggle_may_lack(capsys, accuracy, in_process, tmp_path, module, code, told):
    (tmp_path / "helper.py").touch()
    found, _, err = run_podium(capsys, "emulate", *accuracy(f"import {module}\n    return 1.0", FIVE))
    assert found == code
    assert err.startswith(f"error: {told}")


def test_kaggle_takes_csv(capsys, accuracy, tmp_path):
    path, solution, submission = accuracy(EQUAL, FIVE)
    pd.read_csv(submission).to_parquet(tmp_path / "guess.parquet")
    code, _, err = run_podium(capsys, "emulate", path, solution, tmp_path / "guess.parquet")
    found = "expected a CSV, as Kaggle takes it, found Parquet; write it with to_csv"
    assert (code, err) == (3, f"error: {tmp_path / 'guess.parquet'}: {found}\n")


# --- slow metrics -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:higher is better is assumed")
@pytest.mark.parametrize("command", ["emulate", "check"])
def test_further_calls_are_announced_and_can_be_left_out(capsys, accuracy, in_process, monkeypatch, command):
    """The scores of the parts stand before what follows."""
    calls = []
    monkeypatch.setattr(pd, "podium_calls", calls, raising=False)
    monkeypatch.setattr(console, "SECONDS_WORTH_TELLING", 0.0)
    paths = accuracy(f"pd.podium_calls.append(1)\n    {EQUAL}", "id,answer\n1,1\n2,1\n3,0\n4,1\n5,1\n")
    code, out, err = run_podium(capsys, command, *paths)
    first = {"emulate": "Public   1.000000  ", "check": "Score    0.750000\n"}[command]
    assert (code, out.startswith(first)) == (0, True)
    announced = int(re.search("up to ([0-9]+) further calls of score\\(\\) follow", err)[1])
    before = 3 if command == "check" else 2
    assert announced / 2 <= len(calls) - before <= announced + 12  # with other values of the parameter
    calls.clear()
    code, quick, err = run_podium(capsys, command, *paths, "--quick")
    assert (code, quick.startswith(first), "further calls" in err) == (0, True, False)
    assert len(calls) <= 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:higher is better is assumed")
def test_a_process_that_ends_only_where_nothing_is_right(capsys, accuracy):
    """The process ends where nothing is right, which only spoiled submissions show."""
    body = f"""if not (solution["answer"] == submission["answer"]).any():
        __import__("os")._exit(3)
    {EQUAL}"""
    _, out, _ = run_podium(capsys, "check", *accuracy(body, FIVE))
    assert "FAIL  runs as a notebook cell, alone: the metric file ended its process: exit code 3\n" in out
