"""What a board says that it rests on: its metric, the machine, and whom to ask."""

import json
import shutil

import pandas as pd
import pytest

import podium
from podium.metric import hosted
from podium.ranking import basis
from tests.support.samples import ROOT

MACHINE = "A fast one, 8 cores, 33.5 GB of memory, Linux 6.1"
IN_VERSION_11_0 = {
    "cpu": "A fast one",
    "cores": 8,
    "memory_gb": 33.5,
    "accelerators": [],
    "kernel": "Linux 6.1",
}
BOARD = pd.DataFrame({"team": ["a", "b"], "submission": "x", "runtime": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("runs", "engines", "said"),
    [
        ([3, 3], ["bubblewrap"] * 2, "2 models ran 3 times each in a sandbox (bubblewrap)."),
        ([1, 1], ["none"] * 2, "2 models ran once each without a sandbox."),
        ([2, 5], ["podman", "bubblewrap"], "2 models ran 2 to 5 times each in a sandbox (bubblewrap, podman)."),
        (
            [3, 3],
            ["none", "bubblewrap"],
            "2 models ran 3 times each in a sandbox (bubblewrap), and some without one.",
        ),
        (
            [3, None],
            ["none", None],
            "The organizer gave the runtimes of 2 models; how they were measured is not known.",
        ),
    ],
)
def test_how_models_were_measured(runs, engines, said):
    runtimes = pd.DataFrame({"team": ["a", "b"], "runtime": [1, 2], "runs": runs, "engine": engines})
    facts = {"measured": basis.measured(BOARD, runtimes)}
    assert basis.lines(facts, "") == {"How were models measured?": said}
    assert json.loads(json.dumps(facts)) == facts


def test_runtimes_that_were_typed_say_nothing_of_a_machine():
    facts = {"measured": basis.measured(BOARD, BOARD[["team", "runtime"]]), "hardware": {"models": "a machine"}}
    assert "machine" not in str(basis.lines(facts, ""))
    assert basis.lines({"measured": basis.measured(BOARD, None)}, "") == {}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"hardware": null}', '{"hardware": [1]}', '{"hardware": {"cpu": "x"}}']
)
def test_a_damaged_description_of_the_machine_is_left_out(tmp_path, text):
    assert basis.machine_beside(tmp_path / "runtimes.csv") is None
    (tmp_path / "hardware.json").write_text(text)
    assert basis.machine_beside(tmp_path / "runtimes.csv") is None


@pytest.mark.parametrize("said", [MACHINE, IN_VERSION_11_0], ids=["text", "11.0"])
def test_the_machine_of_the_models_is_a_line(tmp_path, said):
    (tmp_path / "hardware.json").write_text(json.dumps({"hardware": said}))
    assert basis.machine_beside(tmp_path / "runtimes.csv") == MACHINE


def test_the_page_says_what_it_rests_on_and_is_verified(says_folder, says, rank_says):
    metric = (says_folder / "says.py").read_text()
    (says_folder / "says.py").write_text(
        metric.replace(":\n", ':\n    """The score that a file\n    <says>.\n\n    More.\n    """\n', 1)
    )
    for team in ("Ada", "Bo"):
        says(team, 0.5 + (team == "Ada") / 4)
    rows = "Ada,3,3,bubblewrap\nBo,2,3,bubblewrap\n"
    (says_folder / "runtimes.csv").write_text(f"team,runtime,runs,engine\n{rows}")
    (says_folder / "hardware.json").write_text(json.dumps({"hardware": MACHINE}))
    code, *_ = rank_says(says_folder / "runtimes.csv", "--organizer", "Jo <jo@example.org>")
    assert code == 0
    page = (says_folder / "final" / "board.html").read_text(encoding="utf-8")
    assert "<dd><bdi>The score that a file &lt;says&gt;.</bdi></dd>" in page
    assert f"2 models ran 3 times each in a sandbox (bubblewrap), on this machine: {MACHINE}." in page
    assert "<dt>What does a constant answer score?</dt><dd><bdi>0.62500.</bdi></dd>" in page
    assert "<dt>Whom can one ask?</dt><dd><bdi>Jo &lt;jo@example.org&gt;.</bdi></dd>" in page
    (says_folder / "hardware.json").unlink()
    assert podium.verify(says_folder / "final", jobs=1)


def test_a_metric_says_what_it_computes_in_its_first_paragraph(tmp_path):
    assert hosted.purpose(hosted.load("unified")).startswith("Unified Metric: span F1")
    for text, said in (
        ('"""The file.\n\nMore."""\n', "The file."),
        ("", ""),
        (f'"""{"x" * 400}"""\n', "x" * 299 + "…"),
        ('"""A \\x1b[2J line."""\n', "A \\x1b[2J line."),
    ):
        path = tmp_path / "plain.py"
        path.write_text(f"{text}def score(solution, submission, row_id_column_name):\n    return 1.0\n")
        assert hosted.purpose(hosted.load(path)) == said


def test_the_page_says_what_the_columns_of_groups_tell(tmp_path, call):
    (tmp_path / "sent").mkdir()
    shutil.copy(ROOT / "sample_submission.csv", tmp_path / "sent" / "Ada.csv")
    asked = ["rank", ROOT / "solution_sample.csv", tmp_path / "sent", "--resamples", "0", "--jobs", "1"]
    told = ["--describe", "ell_status=whether the student learns <English>"]
    assert call(*asked, "--out", tmp_path / "board", *told)[0] == 0
    again = ["rank", "--again", tmp_path / "board", "--out", tmp_path / "again"]
    assert call(*again, "--describe", "economically_disadvantaged=poor")[0] == 0
    first, second = ((tmp_path / name / "board.html").read_text() for name in ("board", "again"))
    assert (
        '<h3>ell_status</h3><p class="soft"><bdi>whether the student learns &lt;English&gt;</bdi></p>' in first
    )
    assert "<h3>economically_disadvantaged</h3><p" not in first
    assert '<h3>economically_disadvantaged</h3><p class="soft"><bdi>poor</bdi></p>' in second
    assert podium.verify(tmp_path / "again", jobs=1).differences == []
    for wrong, expected in {
        "grade=1": "--describe grade: expected one of ell_status, economically_disadvantaged",
        "ell_status": "--describe: expected COLUMN=TEXT, found 'ell_status'",
    }.items():
        code, _, error = call(*asked, "--out", tmp_path / "other", "--describe", wrong)
        assert (code, expected in error) == (2, True)
    code, _, error = call(*asked, "--out", tmp_path / "other", *told, "--describe", "ell_status=y")
    assert (code, "--describe ell_status: it is given twice" in error) == (2, True)
    claims = ROOT / "metrics" / "scifact" / "samples"
    shutil.copy(claims / "submission.csv", tmp_path / "sent" / "Ada.csv")
    asked[1:2] = [claims / "solution.csv"]
    code, _, error = call(*asked, "--metric", "scifact", "--out", tmp_path / "other", "--describe", "topic=x")
    assert (code, "--describe topic: expected a metric with sub-populations" in error) == (2, True)
