"""What a host's metric does wrong is told by every command, before anything is written."""

import re
import shutil
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from podium.common.errors import ContractWarning, HostError, UsageError
from podium.contest.recorded import RECORD, Record, write
from podium.metric import hosted
from tests.support.host_line import ACCURACY, EQUAL, run_podium, stay_in_process

pytestmark = pytest.mark.filterwarnings("always::podium.common.errors.ContractWarning")

IDS = [f"r{number}" for number in range(12)]
LABELS = ["cat", "dog", "owl"] * 4
TRUTH = pd.DataFrame({"id": IDS, "label": LABELS, "Usage": ["Public", "Private"] * 6})
ANSWERS = pd.DataFrame({"id": IDS, "label": ["cat"] * 8 + ["dog"] * 4})

ASSUMED = "higher is better is assumed; define higher_is_better()"
SHARE = """if "label" not in submission:
        raise ParticipantVisibleError("expected a column label")
    share = float((solution["label"] == submission["label"]).mean())"""
_, DIRECTION = ACCURACY.split("BODY\n")


def metric(folder: Path, *lines: str, state: str = "", direction: str = DIRECTION) -> Path:
    """Write an accuracy that ends with these lines."""
    path = folder / "hosts.py"
    body = "\n    ".join([SHARE, *(lines or ["return share"])])
    text = ACCURACY.replace(DIRECTION, direction).replace("BODY", body)
    path.write_text(text.replace("import math", state))
    return path


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a competition as `podium make` would make them, and submissions of five teams."""
    stay_in_process(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    TRUTH.drop(columns="Usage").to_csv("labels.csv", index=False)
    ANSWERS.to_csv("sample.csv", index=False)
    for folder in ("files/public", "files/private/metric", "teams"):
        Path(folder).mkdir(parents=True)
    parts = np.where(TRUTH["id"].isin(["r2", "r3", "r5", "r7"]), "Public", "Private")
    TRUTH.assign(Usage=parts).to_csv(PAIR[0], index=False)
    ANSWERS.to_csv(PAIR[1], index=False)
    copy = shutil.copy(metric(tmp_path), "files/private/metric")
    path, digest = Path("files", RECORD).absolute(), sha256(Path(copy).read_bytes()).hexdigest()
    write(Record(path, "hosts", {}, digest, metric_file="private/metric/hosts.py"))
    for number, team in enumerate(("Ada", "Bo", "Cy", "Di", "Ed")):
        ANSWERS.assign(label=LABELS[: 2 * number] + ["cat"] * (12 - 2 * number)).to_csv(
            f"teams/{team}.csv", index=False
        )
    return tmp_path


MAKE = ["--sample", "sample.csv", "--seed", "1", "--out", "again"]
PAIR = ["files/private/solution.csv", "files/public/sample_submission.csv"]
TITLED = ["--metric", "hosts.py", "--title", "T"]
DATES = ["--start", "2031-01-01", "--switch", "2031-02-01", "--end", "2031-03-01"]
COMMANDS = {
    "score": ["score", "--metric", "hosts.py", *PAIR],
    "check": ["check", "hosts.py", *PAIR],
    "emulate": ["emulate", "hosts.py", *PAIR],
    "make": ["make", "labels.csv", "--metric", "hosts.py", *MAKE],
    "bundle": ["bundle", "codabench", "files", *TITLED, *DATES, "--out", "bundle"],
    "publish": ["publish", "kaggle", "files", *TITLED, "--slug", "t-t", "--dry-run"],
    "rank": ["rank", PAIR[0], "teams", "--metric", "hosts.py", "--no-boost", "--jobs", "1", "--out", "board"],
}
FIRST_LINE = {"score": "Score    0.416667", "emulate": "Public ", "check": "Score    0.416667"}


@pytest.mark.parametrize(
    "line",
    [
        ["score", "files", "teams/Bo.csv"],
        ["score", PAIR[0], "teams/Bo.csv"],
        ["emulate", "files", "teams/Bo.csv"],
        ["emulate", PAIR[0], "teams/Bo.csv"],
        ["check", "--quick", "files", "teams/Bo.csv"],
        ["check", "--quick", PAIR[0], "teams/Bo.csv"],
        ["check", "--quick", "hosts.py", PAIR[0], "teams/Bo.csv"],
        ["check", "--quick", "files", PAIR[0], "teams/Bo.csv"],
    ],
)
def test_the_folder_or_its_solution_names_the_metric(
    files: Path, capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    code, out, err = run_podium(capsys, *line)
    assert (code, err.count("error")) == (0, 0)
    assert out.startswith(FIRST_LINE[line[0]])


def test_a_table_too_many(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run_podium(capsys, "check", PAIR[0], "teams/Bo.csv", "teams/Cy.csv")
    told = f"error: expected a metric, a solution and a submission, found {PAIR[0]} as the metric\n"
    assert (code, out, err) == (2, "", told)


STATES = {
    "a counter": ("N = [0]", ("N[0] += 1", "return share + N[0]")),
    "the fifth call": ("N = [0]", ("N[0] += 1", "return share + (N[0] == 5)")),
    "a maximum": ("SEEN = []", ("SEEN.append(share)", "return max(SEEN)")),
    "a memory by number of rows": ("SEEN = {}", ("return SEEN.setdefault(len(solution), share)",)),
}


@pytest.mark.parametrize(("state", "lines"), STATES.values(), ids=STATES)
def test_what_an_earlier_call_left_is_found(tmp_path: Path, state: str, lines: tuple[str, ...]) -> None:
    """And it is not taken for a score that depends on the order of the rows."""
    with pytest.raises(HostError, match=r"hosts\.py, line \d+: score\(\): expected the same number") as caught:
        podium.score(TRUTH, ANSWERS, metric=metric(tmp_path, *lines, state=state))
    assert "order" not in str(caught.value)


NO_STATISTICS = """
def prepare(solution, row_id_column_name):
    return None
"""
SLIP = "\ndef higher_is_better() -> bool:\n    return HIGHER\n"
HOSTILE = {
    "a direction": ({"direction": SLIP}, (), "NameError: name 'HIGHER' is not defined (hosts.py, line"),
    "state": (
        {"state": "N = [0]", "direction": ""},
        STATES["a counter"][1],
        "use no random numbers, no clock, and nothing that an earlier call left",
    ),
    "statistics that are none": ({"direction": DIRECTION + NO_STATISTICS}, (), "prepare(): expected "),
    "a file beside it": ({"state": "import helper"}, (), "uploaded alone"),
}


@pytest.mark.parametrize(
    ("parts", "lines", "message"),
    [
        pytest.param(*each, id=name, marks=[] if name == "state" else pytest.mark.slow)
        for name, each in HOSTILE.items()
    ],
)
def test_a_hostile_metric_is_refused_by_every_command(
    files: Path, capsys: pytest.CaptureFixture[str], parts: dict[str, str], lines: tuple[str, ...], message: str
) -> None:
    Path("helper.py").touch()
    metric(files, *lines, **parts)
    for name, command in COMMANDS.items():
        code, out, err = run_podium(capsys, *command)
        assert (name, code) == (name, 4)
        assert message in out + err
        assert name in ("score", "emulate") or parts.get("direction") != "" or ASSUMED in out + err
    assert not [each for each in ("again", "bundle", "board/board.html") if Path(each).exists()]


def test_the_direction_is_asked_for_before_the_work(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metric(files, direction=SLIP)
    for command in (COMMANDS["check"][:2], COMMANDS["rank"]):
        code, out, err = run_podium(capsys, *command)
        assert code == 4
        assert HOSTILE["a direction"][2] in out + err
    assert not Path("board/store").exists()


@pytest.mark.slow
def test_a_hostile_solution_is_refused_by_every_command(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It names a row twice, which is told before anybody looks at a submission."""
    metric(files)
    rows = Path(PAIR[0]).read_text().splitlines(keepends=True)
    Path(PAIR[0]).write_text("".join([*rows, rows[1]]))
    for name, command in COMMANDS.items():
        if name != "make":  # which reads labels
            code, out, err = run_podium(capsys, *command)
            assert (name, code) == (name, 4)
            assert f"{rows[1].partition(',')[0]!r} occurs twice" in out + err


OPENS = "opens no files: score() opens "
WITHOUT = "annotates every argument with a type that the site can set: solution has no annotation"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "refusal"),
    [(": pd.DataFrame", "", WITHOUT), ("    share", "    open('labels.csv').close()\n    share", OPENS)],
)
def test_what_kaggle_refuses_stops_kaggle_alone(
    files: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, refusal: str
) -> None:
    """Also what shows only where the metric is called."""
    path = metric(files)
    path.write_text(path.read_text().replace(old, new))
    for name, command in COMMANDS.items():
        code, out, err = run_podium(capsys, *command)
        stops = name in ("check", "publish", "emulate")
        assert (name, code) == (name, 4 if stops else 0)
        assert (refusal in out + err) is (name not in ("score", "rank"))
    assert "warning: Kaggle would refuse this: " in run_podium(capsys, *COMMANDS["bundle"][:-1], "another")[2]


def test_every_part_has_a_score(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A part may lack a class, and the whole not."""
    metric(files, "return share if solution['label'].nunique() > 1 else float('nan')")
    truth = pd.read_csv(PAIR[0])
    truth[(truth["Usage"] == "Private") | (truth["label"] == "cat")].to_csv("one.csv", index=False)
    answers = pd.read_csv("one.csv")[["id"]].assign(label="dog")
    answers.to_csv("dogs.csv", index=False)
    code, out, _ = run_podium(capsys, "check", "hosts.py", "one.csv", "dogs.csv")
    assert code == 4
    assert re.search(r"FAIL  returns a finite float: .* found nan in Public\n", out)


def test_a_part_on_which_a_metric_fails_is_named_in_every_mode(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a log loss where the Public part lacks a class."""
    metric(files, "if solution['label'].nunique() < 2: raise ValueError('one class')", "return share")
    truth = pd.read_csv(PAIR[0])
    truth[(truth["Usage"] == "Private") | (truth["label"] == "cat")].to_csv("one.csv", index=False)
    pd.read_csv("one.csv")[["id"]].assign(label="dog").to_csv("dogs.csv", index=False)
    for command in (["check"], ["check", "--quick"], ["emulate"], ["score", "--metric"]):
        code, out, err = run_podium(capsys, *command, "hosts.py", "one.csv", "dogs.csv")
        assert code == 4
        assert "ValueError: one class" in out + err
        assert "Public part" in out + err


NO_ROW_IDS = """
import pandas as pd

class ParticipantVisibleError(Exception):
    pass

def score(solution: pd.DataFrame, submission: pd.DataFrame, THIRD) -> float:
    right = solution["label"] == submission["label"]
    return float(right[solution[ID] != "r0"].mean()) * points

def higher_is_better() -> bool:
    return True
"""
THIRDS = {
    "by position": ("animal_column_name: str, points: float = 1.0", "animal_column_name", ""),
    "not at all": ("points: float, rounds: int = 1", "'id'", "points=1.0"),
    "without others": ("*, points: float = 1.0", "'id'", ""),
}


@pytest.mark.parametrize(("third", "row_id", "given"), THIRDS.values(), ids=THIRDS)
def test_a_metric_without_a_parameter_for_the_row_ids_is_used(
    files: Path, capsys: pytest.CaptureFixture[str], third: str, row_id: str, given: str
) -> None:
    (files / "hosts.py").write_text(NO_ROW_IDS.replace("THIRD", third).replace("ID", row_id))
    sets = ["--set", given] if given else []
    for name in ("score", "check", "emulate", "rank") if row_id == "animal_column_name" else ("score",):
        code, out, _ = run_podium(capsys, *COMMANDS[name], *sets)
        assert (name, code) == (name, 0)
        assert name == "rank" or "0.250000" in out
        if name == "check":
            assert "note  takes solution, submission, row_id_column_name first: hosts.py, line 7: " in out


def test_a_metric_that_averages_over_all_columns_is_used(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A further column changes its score whatever its name is, and a site sends what participants send."""
    metric(
        files,
        "own = [each for each in submission if each != row_id_column_name]",
        "return float(sum((submission[each] == solution['label']).mean() for each in own) / len(own))",
    )
    Path("hosts.py").write_text(Path("hosts.py").read_text().replace('"label" not in', '"guess" not in'))
    Path("hosts.py").write_text(
        Path("hosts.py").read_text().replace('submission["label"]', 'submission["guess"]')
    )
    ANSWERS.rename(columns={"label": "guess"}).to_csv("guesses.csv", index=False)
    TRUTH.to_csv("truth.csv", index=False)
    code, out, _ = run_podium(capsys, "check", "hosts.py", "truth.csv", "guesses.csv")
    assert code == 0
    assert "note  ignores columns that it does not ask for: " in out
    assert "and the same with such columns of any other name\n" in out
    assert run_podium(capsys, "score", "--metric", "hosts.py", "truth.csv", "guesses.csv")[0] == 0


def test_other_rows_than_those_of_the_solution_have_a_switch(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metric(files)
    pd.read_csv(PAIR[1]).head(3).to_csv("short.csv", index=False)
    for command in (["check"], ["emulate"], ["score", "--metric"]):
        code, out, err = run_podium(capsys, *command, "hosts.py", PAIR[0], "short.csv")
        assert code == (4 if command == ["check"] else 3)
        assert "the metric file says COMPLETE_SUBMISSION = True" in out + err


@pytest.mark.parametrize("line", ["!pip install -q numpy", "%%writefile metric.py"])
def test_a_cell_of_a_notebook_is_told_as_such(
    files: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    Path("cell.py").write_text(f"{line}\n{metric(files).read_text()}")
    for command in (["check"], ["score", "--metric"]):
        code, out, err = run_podium(capsys, *command, "cell.py", *PAIR)
        assert code == 4
        assert "a line that begins with % or ! is a notebook's: take it out" in out + err
    Path("cell.ipynb").write_text("{}")
    code, _, err = run_podium(capsys, "score", "--metric", "cell.ipynb", *PAIR)
    assert (code, "save the cell that defines score() as a file that ends in .py" in err) == (2, True)


def test_empty_cells_of_the_truth_are_named(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metric(files)
    truth = pd.read_csv(PAIR[0])
    truth["label"] = truth["label"].where(truth.index != 3)
    truth["weight"] = np.where(truth.index == 1, np.nan, 1)
    truth.to_csv("gap.csv", index=False)
    code, out, _ = run_podium(capsys, "check", "hosts.py", "gap.csv", PAIR[1])
    assert code == 0
    assert out.count("has the truth of every row") == 1
    assert "the solution: 2 empty cells in label, weight, in row number 2, 4; platforms refuse" in out


ASSIGN = """both = solution.copy()
    for column in submission:
        both[column] = submission[column].to_numpy()
    return float((both["label"] == both["prediction"]).mean())"""


@pytest.mark.parametrize("guess", ["cat", "owl"])
def test_a_submission_must_not_overwrite_the_truth(tmp_path: Path, guess: str) -> None:
    """Also where exchanged truths would not change the score, because all guesses are the same."""
    path = tmp_path / "hosts.py"
    path.write_text(ACCURACY.replace("BODY", ASSIGN))
    with pytest.raises(HostError, match=r"for a submission with further columns \(label\), found"):
        podium.score(TRUTH, ANSWERS[["id"]].assign(prediction=guess), metric=path)


@pytest.mark.filterwarnings("error::pandas.errors.PerformanceWarning")
def test_many_further_columns_are_added_at_once(tmp_path: Path) -> None:
    """One by one, pandas takes quadratic time for them, and says so."""
    path = tmp_path / "hosts.py"
    path.write_text(ACCURACY.replace("BODY", EQUAL))
    further = pd.DataFrame({f"x{number}": range(len(TRUTH)) for number in range(300)})
    truth = pd.concat([TRUTH.rename(columns={"label": "answer"}), further], axis=1)
    score = podium.score(truth, ANSWERS.rename(columns={"label": "answer"}), metric=path).score
    assert (
        score == podium.score(truth.iloc[:, :3], ANSWERS.rename(columns={"label": "answer"}), metric=path).score
    )


@pytest.mark.parametrize(
    "refusal",
    [
        "assert list(submission) == ['id', 'prediction'], 'wrong columns'",
        "if len(submission.columns) > 2: raise ValueError('two columns')",
        "solution = solution.merge(submission, on='id')",
    ],
)
def test_a_metric_that_only_refuses_further_columns_is_used(tmp_path: Path, refusal: str) -> None:
    path = tmp_path / "hosts.py"
    share = "return float((solution['label'].to_numpy() == submission['prediction'].to_numpy()).mean())"
    path.write_text(ACCURACY.replace("BODY", f"{refusal}\n    {share}"))
    with pytest.warns(ContractWarning, match=r"does not score a submission with further columns \(label\)"):
        result = podium.score(TRUTH, ANSWERS[["id"]].assign(prediction="cat"), metric=path)
    assert result.score == pytest.approx(1 / 3)


# --- parameters ---------------------------------------------------------------------------------------

NAMED = "row_id_column_name: str, seed: int = 0, title: str = 'a', metric: int = 0, row_id: int = 0"


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A metric whose parameters have the names of podium's own arguments."""
    path = metric(tmp_path, "return share + seed + metric + row_id")
    path.write_text(path.read_text().replace("row_id_column_name: str", NAMED))
    return path


@pytest.mark.slow
def test_parameters_of_any_name_reach_the_metric(
    named: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"seed": 3, "metric": 4, "row_id": 5}
    whole = podium.score(TRUTH, ANSWERS, metric=named).score
    assert podium.score(TRUTH, ANSWERS, metric=named, parameters=given).score == whole + 12
    assert podium.score(podium.prepare(TRUTH, named, parameters=given), ANSWERS).score == whole + 12
    TRUTH.to_csv(tmp_path / "truth.csv", index=False)
    ANSWERS.to_csv(tmp_path / "Ada.csv", index=False)
    (tmp_path / "teams").mkdir()
    ANSWERS.to_csv(tmp_path / "teams" / "Ada.csv", index=False)
    files = [tmp_path / "truth.csv", tmp_path / "teams"]
    sets = [f"--set={name}={value}" for name, value in given.items()]
    code, out, _ = run_podium(capsys, "score", "--metric", named, files[0], tmp_path / "Ada.csv", *sets)
    assert code == 0
    assert f"Score    {whole + 12:.6f}" in out
    line = ["rank", *files, "--metric", named, "--no-boost", "--jobs", "1", "--seed", "7", *sets]
    assert run_podium(capsys, *line, "--out", tmp_path / "shell")[0] == 0
    with pytest.raises(UsageError, match="seed: the metric has a parameter of this name, too"):
        podium.rank(*files, metric=named, out=tmp_path / "python", seed=3, jobs=1)
    board = podium.rank(*files, metric=named, out=tmp_path / "both", seed=7, parameters=given, jobs=1)
    assert (board.options.parameters, board.options.seed) == (given, 7)


def test_a_parameter_without_a_default_is_asked_for(tmp_path: Path) -> None:
    path = metric(tmp_path, "return share / naive_mean")
    path.write_text(
        path.read_text().replace("row_id_column_name: str", "row_id_column_name: str, naive_mean: float")
    )
    with pytest.raises(HostError, match="a value of naive_mean, found none: give naive_mean=…"):
        podium.score(TRUTH, ANSWERS, metric=path)
    assert podium.score(TRUTH, ANSWERS, metric=path, naive_mean=2.0).score < 1


def test_a_companion_beside_a_copy_of_our_metric_is_not_used_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "metric.py").write_bytes(hosted.find("scifact").read_bytes())
    (tmp_path / "companion.py").write_text("companion = None\n")
    with pytest.warns(UserWarning, match="companion.py is not used: metric.py is the built-in metric scifact"):
        assert hosted.load(tmp_path) is hosted.load("scifact")
