"""`host.py bundle`: a scoring program for Codabench, run as Codabench runs it."""

import json
import subprocess
import sys
import zipfile

import pandas as pd
import pytest

from competition import metric_file, scoring
from tests.host_line import ROOT, SOLUTION, SUBMISSION, every_metric, run_host
from tests.test_host_emulate import ACCURACY

METRIC = ROOT / "metric.py"


@pytest.fixture
def codabench(tmp_path):
    """Runs a scoring program on reference data and the files of a submission: (exit code, log, scores)."""

    def run(program, reference, submission):
        app = tmp_path / "app"
        for archive, folder in ((program, "program"), (reference, "input/ref")):
            with zipfile.ZipFile(archive) as content:
                content.extractall(app / folder)
        (app / "input" / "res").mkdir(parents=True)
        for name, content in submission.items():
            path = app / "input" / "res" / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        (app / "output").mkdir()
        command = (app / "program" / "metadata.yaml").read_text().removeprefix("command: ").strip()
        assert command.split()[0] == "python3"
        words = [word.replace("/app", str(app)) for word in command.split()[1:]]
        done = subprocess.run([sys.executable, "-I", *words], cwd=app, capture_output=True, text=True)
        assert done.stderr == ""
        scores = app / "output" / "scores.json"
        return done.returncode, done.stdout, json.loads(scores.read_text()) if scores.exists() else None

    return run


def bundle(capsys, tmp_path, metric, solution, *options):
    out = tmp_path / "bundle.zip"
    code, text, err = run_host(
        capsys, "bundle", "--platform", "codabench", metric, solution, "--out", out, *options
    )
    assert (code, err) == (0, "")
    return [tmp_path / line.rpartition("/")[2] for line in text.splitlines()]


@every_metric
def test_scores_are_those_of_the_metric(capsys, tmp_path, codabench, path, solution, submission):
    metric = metric_file.load(path)
    truth, guess = scoring.read_solution(metric, solution, {}), scoring.read_submission(metric, submission, {})
    expected = scoring.evaluate(scoring.prepare(metric, truth, {}), guess).scores
    program, *references = bundle(capsys, tmp_path, path, solution)
    part = "Private" if "Private" in expected else "All"
    name = "private" if part == "Private" else "reference"
    reference = tmp_path / f"bundle_{name}.zip"
    assert reference in references
    code, log, scores = codabench(program, reference, {submission.name: submission.read_bytes()})
    assert (code, scores) == (0, {"score": expected[part]})
    assert log == f"score: {expected[part]}\n"


def test_one_file_per_part(capsys, tmp_path):
    paths = bundle(capsys, tmp_path, METRIC, SOLUTION)
    assert [path.name for path in paths] == ["bundle.zip", "bundle_public.zip", "bundle_private.zip"]
    with zipfile.ZipFile(paths[0]) as program:
        assert program.namelist() == ["metadata.yaml", "scoring.py", "settings.json", "metric.py"]
        assert program.read("metric.py") == METRIC.read_bytes()
    truth = pd.read_csv(SOLUTION)
    for path, part in zip(paths[1:], ("Public", "Private")):
        with zipfile.ZipFile(path) as reference, reference.open("solution.csv") as file:
            table = pd.read_csv(file)
        expected = truth[truth["Usage"] == part].drop(columns="Usage").reset_index(drop=True)
        pd.testing.assert_frame_equal(table, expected)


def test_the_same_input_gives_the_same_file(capsys, tmp_path):
    first = [path.read_bytes() for path in bundle(capsys, tmp_path, METRIC, SOLUTION)]
    assert [path.read_bytes() for path in bundle(capsys, tmp_path, METRIC, SOLUTION)] == first


def test_parameters(capsys, tmp_path, codabench):
    program, public, _ = bundle(
        capsys, tmp_path, METRIC, SOLUTION, "--set", "temperature=inf", "--set", "row_id_column_name=essay_id",
        "--set", "subpopulation_column_names=ell_status",
    )  # fmt: skip
    _, _, scores = codabench(program, public, {"guess.csv": SUBMISSION.read_bytes()})
    metric, truth = metric_file.load(METRIC), pd.read_csv(SOLUTION)
    assert scores == {
        "score": metric.score(
            truth[truth["Usage"] == "Public"],
            pd.read_csv(SUBMISSION),
            "essay_id",
            temperature=float("inf"),
            subpopulation_column_names="ell_status",
        )
    }


def test_what_zip_programs_leave_aside(capsys, tmp_path, codabench):
    program, public, _ = bundle(capsys, tmp_path, METRIC, SOLUTION)
    files = {
        "guess.csv": SUBMISSION.read_bytes(),
        ".DS_Store": b"",
        "metadata": b"",
        "__MACOSX/guess.csv": b"x",
    }
    assert codabench(program, public, files)[0] == 0


@pytest.mark.parametrize(
    ("files", "log"),
    [
        (
            {"guess.csv": b"row_id,essay_id\n1,A\n"},
            "error: the submission lacks columns: discourse_type, predictionstring, "
            "score_discourse_effectiveness_0, score_discourse_effectiveness_1. It has: row_id, essay_id.",
        ),
        ({}, "error: the submission cannot be read: expected one file, found none"),
        (
            {"a.csv": b"x", "b.csv": b"x"},
            "error: the submission cannot be read: expected one file, found a.csv, b.csv",
        ),
        ({"guess.csv": b""}, "error: the submission cannot be read: No columns to parse from file"),
        ({"guess.csv": b"\xff\xfe"}, "error: the submission cannot be read: 'utf-8' codec can't decode"),
    ],
)  # fmt: skip
def test_the_participant_s_errors_are_in_the_log(capsys, tmp_path, codabench, files, log):
    program, public, _ = bundle(capsys, tmp_path, METRIC, SOLUTION)
    code, text, scores = codabench(program, public, files)
    assert (code, scores) == (1, None)
    assert text.startswith(log)


@pytest.mark.parametrize("body", ["1 / 0", "raise HostVisibleError('secret')", "return math.nan"])
def test_of_other_errors_the_log_says_nothing(capsys, tmp_path, codabench, body):
    (tmp_path / "accuracy.py").write_text(ACCURACY.replace("BODY", body))
    (tmp_path / "truth.csv").write_text("id,answer\n1,1\n")
    program, reference = bundle(capsys, tmp_path, tmp_path / "accuracy.py", tmp_path / "truth.csv")
    assert reference.name == "bundle_reference.zip"
    assert codabench(program, reference, {"guess.csv": b"id,answer\n1,1\n"}) == (
        1, "Evaluation metric raised an unexpected error\n", None,
    )  # fmt: skip


def test_rows_of_the_part(capsys, tmp_path, codabench):
    """Without FREE_ROWS, a part is scored with the rows of its ids."""
    (tmp_path / "json.py").write_text(ACCURACY.replace("BODY", "return float(len(submission))"))
    (tmp_path / "truth.csv").write_text(
        "id,answer,Usage\n001,1,Public\n2,1,Private\n3,1,Private\n4,1,Ignored\n"
    )
    program, _, private = bundle(capsys, tmp_path, tmp_path / "json.py", tmp_path / "truth.csv")
    _, _, scores = codabench(program, private, {"guess.csv": b"id,answer\n001,1\n2,1\n3,1\n4,1\n"})
    assert scores == {"score": 2.0}


# --- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.py", SOLUTION], 2, "there is no metric file none.py"),
        ([METRIC, "none.csv"], 2, "cannot read none.csv: No such file or directory"),
        ([METRIC, SUBMISSION], 4, "the solution lacks columns: "),
        ([METRIC, SOLUTION, "--set", "x=1"], 4, "the metric has no parameter x; "),
    ],
)
def test_nothing_is_written_for_bad_input(capsys, tmp_path, arguments, code, message):
    result = run_host(capsys, "bundle", *arguments, "--platform", "codabench", "--out", tmp_path / "bundle.zip")
    assert result[:2] == (code, "")
    assert result[2].startswith(f"error: {message}")
    assert list(tmp_path.iterdir()) == []


def test_names_that_the_program_has(capsys, tmp_path):
    path = tmp_path / "scoring.py"
    path.write_text(ACCURACY.replace("BODY", "return 1.0"))
    (tmp_path / "truth.csv").write_text("id,answer\n1,1\n")
    code, _, err = run_host(
        capsys, "bundle", path, tmp_path / "truth.csv", "--platform", "codabench", "--out", tmp_path / "b.zip"
    )
    assert code == 4
    assert (
        err == "error: the metric file must have another name than scoring.py, which the scoring program has\n"
    )


def test_platforms(capsys):
    code, _, err = run_host(capsys, "bundle", METRIC, SOLUTION, "--platform", "x", "--out", "b.zip")
    assert code == 2
    assert "invalid choice: 'x'" in err
