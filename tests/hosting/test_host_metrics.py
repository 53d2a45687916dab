"""Two plain metrics of hosts go the whole way, and every slip in such a file is told."""

import json
import re
import shutil
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium import hosted
from podium.errors import SubmissionRejected
from podium.hosting.bundles import bundle
from podium.hosting.competition import Competition, Terms
from tests.hosting.test_bundle import execute, unpack
from tests.support import kaggle_metrics
from tests.support.host_line import run_podium
from tests.support.host_metrics import METRICS, TEAMS, tables

TERMS = Terms(datetime(2027, 1, 15), datetime(2027, 4, 1), datetime(2027, 4, 15))
RMSE = METRICS["rmse"].source
RETURN = '    return float(np.sqrt(np.mean((solution["value"].to_numpy() - guess) ** 2)))\n'


def folder_of(name: str, folder: Path) -> Path:
    """Write a metric, its labels, and the submissions of the teams."""
    solution, teams = tables(name)
    (folder / "teams").mkdir(parents=True)
    (folder / f"{name}.py").write_text(METRICS[name].source)
    solution.to_csv(folder / "labels.csv", index=False)
    for team, frame in teams.items():
        frame.to_csv(folder / "teams" / f"{team}.csv", index=False)
    return folder


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "auc" else pytest.mark.slow) for name in METRICS],
)
def test_the_whole_way(capsys, in_process, tmp_path, name):
    """A plain file with a score() is checked, made a competition, emulated, packed and ranked."""
    folder = folder_of(name, tmp_path)
    metric, files, worst = folder / f"{name}.py", folder / "files", folder / "teams" / "Cy.csv"
    made = ["make", folder / "labels.csv", "--metric", metric, "--sample", worst, "--out", files]
    assert run_podium(capsys, *made)[0] == 0
    pair = files / "private" / "solution.csv", folder / "teams" / "Ada.csv"
    code, out, _ = run_podium(capsys, "check", metric, *pair)
    assert (code, re.findall("^(?:FAIL|----) .*", out, re.MULTILINE)) == (0, [])
    assert "pass  gives the same score again, and for rows in another order\n" in out
    code, out, err = run_podium(capsys, "score", *pair, "--metric", metric)
    assert (code, err) == (0, "")
    scores = dict(re.findall(r"^(Public|Private) +(\S+)$", out, re.MULTILINE))
    code, out, _ = run_podium(capsys, "emulate", metric, *pair)
    assert (code, dict(re.findall(r"^(Public|Private) +(\S+)", out, re.MULTILINE))) == (0, scores)
    loaded = hosted.load(metric)
    competition = Competition(files, loaded, {"row_id_column_name": "id"}, "T", "t")
    for platform in bundle.PLATFORMS:
        assert bundle.bundle(platform, competition, TERMS, folder / platform)
    line = ["rank", pair[0], folder / "teams", "--metric", metric, "--no-boost", "--resamples", 0, "--jobs", 1]
    code, out, _ = run_podium(capsys, *line, "--out", folder / "board")
    assert code == 0
    assert tuple(re.findall(rf"^ +\d+ +({'|'.join(TEAMS)}) ", out, re.MULTILINE)) == TEAMS


@pytest.mark.slow
@pytest.mark.parametrize(("name", "platform"), [("rmse", "codabench"), ("auc", "evalai")])
def test_a_platform_gives_the_scores_of_podium(capsys, tmp_path, name, platform):
    """It also rejects wrong ids and empty cells as Kaggle does, whatever the metric makes of them."""
    folder = folder_of(name, tmp_path)
    metric, files = folder / f"{name}.py", folder / "files"
    made = ["make", folder / "labels.csv", "--metric", metric, "--sample", folder / "teams" / "Cy.csv"]
    assert run_podium(capsys, *made, "--out", files)[0] == 0
    competition = Competition(files, hosted.load(metric), {"row_id_column_name": "id"}, "T", "t")
    bundle.bundle(platform, competition, TERMS, folder / "out")
    good = tables(name)[1]["Ada"]
    holes = good.astype(object)
    holes.iloc[0, 1] = None
    for which, frame in {
        "a": good,
        "b": good.assign(id=good["id"] + "x"),
        "c": holes,
        "d": good.head(9),
    }.items():
        (folder / "sent").mkdir(exist_ok=True)
        frame.to_csv(folder / "sent" / f"{which}.csv", index=False)
    done = execute(platform, unpack(platform, folder / "out", folder), folder / "sent", folder)
    assert done.returncode == 0, done.stderr
    a, b, c, d = json.loads(done.stdout.splitlines()[-1])
    scores = podium.score(pd.read_csv(files / "private" / "solution.csv"), good, metric=metric).scores
    assert a == {"public": scores["Public"], "private": scores["Private"]}
    for result, said in (
        (b, "Solution and submission values for id do not match"),
        (c, "Submission contains null values"),
        (d, "Submission has 9 rows but 60 were expected."),
    ):
        assert result == {"public": f"error: {said}", "private": f"error: {said}"}


# --- slips -------------------------------------------------------------------------------------------

FIRST = (
    "mine.py, line 9: score(): expected the parameters solution, submission, row_id_column_name first, found "
)
RAISED = "the metric raised an unexpected error: "


def returning(body: str) -> str:
    """The source of a metric whose score() ends with this statement."""
    assert RETURN in RMSE
    return RMSE.replace(RETURN, f"    {body}\n")


def with_parameters(parameters: str) -> str:
    """The source of a metric whose score() has these parameters."""
    found = "solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str"
    assert found in RMSE
    return RMSE.replace(found, parameters)


SLIPS = {
    "exchanged tables": (
        with_parameters("submission, solution, row_id_column_name"),
        FIRST + "submission, solu",
    ),
    "a coroutine": (
        RMSE.replace("def score", "async def score"),
        "expected a function that def defines, found async",
    ),
    "a class": ("class score:\n    pass\n", "expected a function that def defines, found type"),
    "the end of the process": (
        RMSE.replace(RETURN, "    raise SystemExit('bye')\n"),
        RAISED + "SystemExit: bye (mine.py, line 16: raise SystemExit('bye'))",
    ),
    "a base exception of its own": (
        returning("raise Stop") + "\n\nclass Stop(BaseException):\n    pass\n",
        RAISED + "Stop (mine.py, line 16: ",
    ),
    "the end while loading": (
        RMSE + "raise SystemExit(3)\n",
        "cannot be loaded: SystemExit: 3 (mine.py, line 21: ",
    ),
    "null bytes": (RMSE + "\0", "is not UTF-8 text: it has null bytes"),
    "nothing": ("", "is not a metric file: it defines no score()"),
}


@pytest.mark.parametrize(("source", "message"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_told_and_never_a_number(capsys, tmp_path, source, message):
    folder = folder_of("rmse", tmp_path)
    (folder / "mine.py").write_text(source)
    line = ["score", folder / "labels.csv", folder / "teams" / "Ada.csv", "--metric", folder / "mine.py"]
    code, out, err = run_podium(capsys, *line)
    assert (code in (2, 4), out) == (True, "")
    assert message in err
    assert "mine.py" in err
    assert len(err) < 2000


@pytest.mark.filterwarnings("always")
def test_a_doubt_is_told_beside_the_number(capsys, in_process, tmp_path):
    """The order may be right, such as that of a time series, so it is no error of `podium score`."""
    folder = folder_of("rmse", tmp_path)
    (folder / "mine.py").write_text(returning("return float(solution['value'].to_numpy()[0] - guess[0])"))
    pair = folder / "labels.csv", folder / "teams" / "Ada.csv"
    code, _, err = run_podium(capsys, "score", *pair, "--metric", folder / "mine.py")
    assert code == 0
    assert err.startswith("warning: mine.py, line 9: score(): the score depends on the order of the rows: ")
    _, out, _ = run_podium(capsys, "check", folder / "mine.py", *pair)
    assert "\nnote  gives the same score again, and for rows in another order: " in out


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize(
    ("source", "line"),
    [
        (
            returning("print('hello')" + RETURN.replace("    ", "\n    ", 1).rstrip()),
            "note  prints nothing and warns of nothing in the given files: it prints hello",
        ),
        (
            returning("return float(np.sqrt(np.nanmean((solution['value'].to_numpy() - guess) ** 2)))").replace(
                "not np.isfinite(guess).all()", "False"
            ),
            "note  knows ParticipantVisibleError: a submission with words in the column value raises "
            "ValueError: it returned nan",
        ),
        (returning("raise SystemExit(3)"), "for the given files it raised SystemExit: 3 (line 16, in score)"),
        (
            "\ufeff" + RMSE,
            "begins with a byte order mark: save it as UTF-8 without BOM",
        ),
    ],
)
def test_what_check_tells_of_a_slip(capsys, in_process, tmp_path, source, line):
    folder = folder_of("rmse", tmp_path)
    (folder / "mine.py").write_text(source, encoding="utf-8")
    pair = folder / "labels.csv", folder / "teams" / "Ada.csv"
    assert line in run_podium(capsys, "check", folder / "mine.py", *pair)[1]


TEMPLATE = Path(podium.__file__).parent / "new_metric"
SAMPLE = 'return solution[[row_id]].assign(label=min(solution["label"]))'
PERFECT = 'return solution[[row_id, "label"]]'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SAMPLE, "return None", "companion.py: sample_submission(): expected a table, found NoneType"),
        (
            SAMPLE,
            'return solution[["id"]]',
            "companion.py: sample_submission(): expected a submission that gets a score, found one that is "
            "rejected: expected a column label, found id",
        ),
        (
            PERFECT,
            'return solution[["id"]].assign(label="x")',
            "companion.py: perfect_submission(): expected the best score, found 0.000000 where the given "
            "submission has 0.600000; is higher_is_better() right?",
        ),
    ],
)
def test_the_submissions_of_a_companion(capsys, in_process, tmp_path, old, new, message):
    folder = tmp_path / "mine"
    shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / "companion.py").read_text(encoding="utf-8")
    assert old in text
    (folder / "companion.py").write_text(text.replace(old, new), encoding="utf-8")
    code, out, _ = run_podium(capsys, "check", folder)
    assert (code, f"FAIL  has a companion that explains the score: {message}" in out) == (4, True)


# --- what the platform does before the metric ---------------------------------------------------------


@pytest.fixture
def template(tmp_path):
    """The path of Kaggle's template."""
    (tmp_path / "plain.py").write_text(kaggle_metrics.TEMPLATE)
    return tmp_path / "plain.py"


@pytest.mark.filterwarnings("ignore:the solution itself scores")
def test_rows_are_matched_as_on_kaggle_for_a_metric_that_subtracts_columns(template):
    """Kaggle's template subtracts columns, which pandas matches by the index; each part is numbered from 0."""
    solution = pd.DataFrame({"id": [1, 2, 3, 4], "target": [1.0, 2.0, 3.0, 4.0]}, index=[7, 7, 1, 0])
    solution["Usage"] = ["Public", "Private", "Public", "Private"]
    submission = pd.DataFrame({"id": [4, 3, 2, 1], "target": [4.0, 3.0, 2.0, 1.5]})
    scores = podium.score(solution, submission, metric=template).scores
    assert scores == {"All": 0.125, "Public": 0.25, "Private": 0.0}


def test_a_whole_number_is_the_same_id_with_decimals(template):
    solution = pd.DataFrame({"id": [1, 2], "target": [1.0, 2.0]})
    submission = pd.DataFrame({"id": [2.0, 1.0], "target": [2.0, 1.0]})
    assert podium.score(solution, submission, metric=template).score == 0.0
    with pytest.raises(SubmissionRejected, match="values for id do not match"):
        podium.score(solution, submission.assign(id=["01", "02"]), metric=template)


@pytest.mark.filterwarnings("ignore:the solution itself scores")
def test_one_part_of_a_solution_takes_whole_submissions(template):
    """So a class can rank with the Public rows alone while the competition runs."""
    solution = pd.DataFrame(
        {"id": [1, 2, 3], "target": [1.0, 2.0, 3.0], "Usage": ["Public", "Private", "Public"]}
    )
    submission = solution.drop(columns="Usage").assign(target=[1.0, 9.0, 4.0])
    part = solution[solution["Usage"] == "Public"]
    assert podium.score(part, submission, metric=template).scores == {"All": 0.5, "Public": 0.5}
    with pytest.raises(SubmissionRejected, match=r"^Submission has 3 rows but 2 were expected\.$"):
        podium.score(part.drop(columns="Usage"), submission, metric=template)


# --- names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["class.py", "2nd métrique.b.py"])
def test_a_file_may_have_any_name(capsys, in_process, tmp_path, name):
    folder = folder_of("rmse", tmp_path)
    (folder / name).write_text(RMSE)
    pair = folder / "labels.csv", folder / "teams" / "Ada.csv"
    code, out, _ = run_podium(capsys, "score", *pair, "--metric", folder / name)
    assert (code, out.splitlines()[-1]) == (0, f"metric:{name.removesuffix('.py')}|version:?")
    assert run_podium(capsys, "check", folder / name, *pair)[0] == 0


def test_the_metric_of_the_current_folder_has_its_name(tmp_path, monkeypatch):
    """So has one that a link leads to."""
    folder = tmp_path / "errors"
    folder.mkdir()
    (folder / "metric.py").write_text(RMSE)
    (tmp_path / "linked").symlink_to(folder)
    monkeypatch.chdir(folder)
    assert hosted.load("metric.py").name == hosted.load(".").name == "errors"
    assert hosted.load(tmp_path / "linked").name == "linked"
