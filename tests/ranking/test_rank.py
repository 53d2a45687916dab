"""`podium rank` makes the final board from files, goes on after an interruption, and says how sure ranks
are.
"""

import functools
import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import boost
import metric
from examples.essays import make_competition
from podium import cli, statistics
from podium.common.errors import HostError
from podium.contest import reading
from podium.metric import hosted
from podium.ranking import job, passes, rank
from podium.scoring import evaluating
from podium.tables import files as tables
from podium.tables.files import ReadFile
from podium.tables.formats import read_table
from tests.support import command_line
from tests.support.host_line import ACCURACY, EQUAL

TEXT_COLUMNS = hosted.module("unified", "companion").TEXT_COLUMNS

ROOT = Path(metric.__file__).parent
METRIC = ROOT / "metric.py"
TEAMS = ["Ada", "Bo", "Cy", "NA", "007"]
ONCE = (
    "warning: all runtimes were measured once; how much they vary is not known, so nobody knows who would be "
    "first again\n"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A solution of 60 essays, runtimes, and five teams whose quality falls from one to the next."""
    tmp_path = tmp_path_factory.mktemp("made")
    solution, submission = make_competition(60, seed=7, shared_words=False)
    solution.to_csv(tmp_path / "solution.csv", index=False)
    folder = tmp_path / "submissions"
    folder.mkdir()
    for number, team in enumerate(TEAMS):
        kept = np.random.default_rng(number).random(len(submission)) > 0.03 * number
        submission[kept].to_csv(folder / f"{team}.csv", index=False)
    runtimes = pd.DataFrame({"team": TEAMS, "runtime": [130, 100, 110, 105, 90]})
    runtimes.to_csv(tmp_path / "runtimes.csv", index=False)
    return tmp_path


@pytest.fixture
def files(made, tmp_path):
    """A copy that a test may change."""
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def call(files, capsys):
    """Run the command line in this process with the output folder "final", and return exit code, stdout and
    stderr.
    """

    def call(*more: object, solution="solution.csv", submissions="submissions", runtimes="runtimes.csv"):
        arguments = [files / solution, files / submissions, files / runtimes, *more]
        usual = {"--jobs": 1, "--resamples": 20, "--out": files / "final"}
        options = [word for pair in usual.items() if pair[0] not in more for word in pair]
        return command_line.run(capsys, "rank", *options, *arguments)

    return call


def read(path: Path) -> pd.DataFrame:
    """Read a file with its numbers exact to the last bit, which pandas 2 does not do by default."""
    return read_table(path, {"team", "submission", "essay_id", *TEXT_COLUMNS}, HostError)


def board(files: Path) -> pd.DataFrame:
    """The final leaderboard."""
    return read(files / "final" / "final_leaderboard.csv")


def private(files: Path) -> pd.DataFrame:
    """The Private part of the solution."""
    solution = read(files / "solution.csv")
    return solution[solution["Usage"] == "Private"]


def private_score(files: Path, submission: str, **parameters: float) -> float:
    """The score of a submission on the Private part."""
    return metric.score(private(files), read(files / "submissions" / submission), "row_id", **parameters)


# --- the board --------------------------------------------------------------------------------------


def test_the_board_is_boost_of_the_private_scores(files, call):
    assert call()[0] == 0
    leaderboard = board(files)
    scores = {team: private_score(files, f"{team}.csv") for team in TEAMS}
    scored = pd.DataFrame({"team": TEAMS, "score": scores.values(), "runtime": [130, 100, 110, 105, 90]})
    expected = boost.boost(scored)
    assert leaderboard["team"].tolist() == expected["team"].tolist()
    for column in ("score", "runtime", "eligible", "slowdown", "boost", "boosted_score", "rank", "rank_before"):
        assert leaderboard[column].tolist() == expected[column].tolist()
    assert leaderboard["private_score"].tolist() == leaderboard["score"].tolist()
    assert leaderboard["submission"].tolist() == [f"{team}.csv" for team in leaderboard["team"]]


def test_the_other_files(files, call):
    call("--prizes", "2")
    leaderboard = board(files)
    groups = read(files / "final" / "subpopulations.csv")
    assert groups["team"].tolist() == leaderboard["team"].tolist()
    prepared = metric.prepare(private(files), "row_id")
    measures = statistics.measures(prepared, prepared.statistics(read(files / "submissions" / "Bo.csv")))
    bo = groups.set_index("team").loc["Bo"]
    for attribute, value in prepared.labels:
        assert bo[f"{attribute} = {value}"] == measures[f"{attribute} = {value}"]
    intervals = read(files / "final" / "intervals.csv")
    assert intervals["team"].tolist() == leaderboard["team"].tolist()
    # Without any known noise of the runtimes, nobody knows who would be first again.
    assert intervals[["first_again", "prize_again"]].isna().all().all()
    assert intervals["may_be_best"].any()
    differences = read(files / "final" / "differences.csv")
    assert differences["team"].tolist() == leaderboard["team"].tolist()[:2]
    assert differences["next_team"].tolist() == leaderboard["team"].tolist()[1:3]


def test_run_json(files, call):
    (files / "submissions" / "Zoe.csv").write_text("x\n1\n")
    call("--set", "temperature=50", "--seed", "3", "--max-boost", "0.1")
    facts = json.loads((files / "final" / "run.json").read_text())
    assert facts["signature"].startswith(f"metric:unified|version:{metric.__version__}|")
    assert "temperature:50.0" in facts["signature"]
    assert facts["decided_by"] == "Private"
    assert facts["rule"] == "the only file of each team"
    assert (facts["rules"]["seed"], facts["rules"]["max_boost"]) == (3, 0.1)
    counts = {"submissions": 6, "rejected": 1, "teams": 5, "teams_without_score": 1, "failed": 0}
    assert facts["counts"] == counts | {"eligible": int(board(files)["eligible"].sum())}
    essays = private(files)["essay_id"].nunique()
    assert (facts["items"], facts["item"], facts["boosted"]) == (essays, "essay", True)
    assert facts["versions"]["pandas"] == pd.__version__
    digest = hashlib.sha256((files / "solution.csv").read_bytes()).hexdigest()
    assert facts["inputs"]["solution"] == {"path": "../solution.csv", "sha256": digest}
    of_ada = {each["team"]: each["sha256"] for each in facts["submissions"]}["Ada"]
    assert of_ada == hashlib.sha256((files / "submissions" / "Ada.csv").read_bytes()).hexdigest()
    for name, digest in facts["outputs"].items():
        assert hashlib.sha256((files / "final" / name).read_bytes()).hexdigest() == digest


def test_what_is_printed(files, call):
    code, out, err = call()
    assert code == 0
    assert out.startswith("5 submissions, 0 rejected; teams on the board: 5, eligible for a boost: ")
    assert "; the only file of each team\nHigher is better" in out
    assert err.startswith("scoring: 5 of 5\ncomparing groups: 5 of 5\nresampling: 5 of 5\n")
    assert ONCE in err
    assert "which team is truly the best, cannot be said" in out
    few = "cannot be said, because too little is known about the score of a prize winner: groups of"
    assert few in call("--no-boost")[1]
    # A column of empty cells would say less than the sentence.
    assert "first again, of 100" not in (files / "final" / "board.html").read_text(encoding="utf-8")


# --- which submissions count ------------------------------------------------------------------------


@pytest.mark.filterwarnings("default")
def test_a_runtime_for_each_file_and_teams_without_one(files, call):
    names = ["Ada.csv", "Bo.csv", "other.csv"]
    runtimes = pd.DataFrame({"team": ["Ada", "Bo", "Bo"], "submission": names, "runtime": [99, 100, 1]})
    runtimes.to_csv(files / "runtimes.csv", index=False)
    code, _, err = call("--resamples", 0)
    assert code == 0
    assert board(files).set_index("team")["runtime"].dropna().to_dict() == {"Ada": 99, "Bo": 100}
    assert "warning: no runtime, so not eligible: NA, 007, Cy" in err
    assert "warning: runtimes without a submission: Bo/other.csv\n" in err


@pytest.mark.filterwarnings("always:higher is better is assumed")
def test_a_metric_of_ones_own_without_statistics(files, call):
    text, _, _ = ACCURACY.replace("BODY", EQUAL).partition("def higher_is_better")
    (files / "accuracy.py").write_text(text)
    truth = pd.DataFrame({"id": range(8), "answer": [1, 0] * 4, "Usage": ["Public", "Private"] * 4})
    truth.to_csv(files / "truth.csv", index=False)
    (files / "guesses").mkdir()
    for team, answer in zip(TEAMS, (0, 1, 1, 1, 1)):
        truth.assign(answer=answer).to_csv(files / "guesses" / f"{team}.csv", index=False)
    code, out, _ = call("--metric", files / "accuracy.py", solution="truth.csv", submissions="guesses")
    assert code == 0
    assert board(files)["public_score"].tolist() == [0.0, 1.0, 1.0, 1.0, 1.0]
    assert not {"subpopulations.csv", "intervals.csv"} & {path.name for path in (files / "final").iterdir()}
    facts = json.loads((files / "final" / "run.json").read_text())
    assert facts["signature"] == "metric:accuracy|version:?|points:1.0"
    assert "Higher is better (assumed: the metric does not say)." in out


def test_a_bad_file_never_stops_the_run(files, call):
    folder = files / "submissions"
    (folder / "Empty.csv").write_text("")
    (folder / "Wrong.csv").write_text("row_id,essay_id\n1,2\n")
    (folder / "Text.txt").write_bytes(b"\xff\xfe")
    (folder / "Broken.csv.gz").write_bytes(b"\x1f\x8bnot gzip")
    code, out, err = call()
    assert code == 0
    assert out.startswith("9 submissions, 4 rejected; teams on the board: 5")
    assert "warning: 4 not scored, see rejected.csv: Broken, Empty, Text, Wrong; teams without any" in err
    assert "not on the board: 4\n" in err
    rejected = read(files / "final" / "rejected.csv").set_index("team")["reason"]
    assert sorted(rejected.index) == ["Broken", "Empty", "Text", "Wrong"]
    assert rejected["Wrong"].startswith("the submission: expected 4 more columns: discourse_type, ")
    assert "is not a CSV table" in rejected["Empty"]
    assert len(board(files)) == 5


# --- resuming ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_what_changed_is_scored_again(files, call):
    call()
    first = board(files)
    known = "scoring: 5 of 5\nalready in the store: {} of 5\n"
    assert call()[2].startswith(known.format(5))
    pd.testing.assert_frame_equal(board(files), first)
    path = files / "submissions" / "Bo.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-20]))
    assert call()[2].startswith(known.format(4))
    assert board(files).set_index("team").loc["Bo", "score"] == private_score(files, "Bo.csv")
    # A renamed file is known by its content.
    path.rename(path.with_name("Bob.csv"))
    (files / "runtimes.csv").write_text((files / "runtimes.csv").read_text().replace("Bo,", "Bob,"))
    assert call()[2].startswith(known.format(5))
    assert "Bob" in board(files)["team"].tolist()


@pytest.mark.slow
def test_another_solution_parameter_metric_or_version_scores_all_again(files, call, monkeypatch):
    options = ["--resamples", "0"]

    def is_known() -> bool:
        return "already in the store" in call(*options)[2]

    assert [is_known(), is_known()] == [False, True]
    lines = (files / "solution.csv").read_text().splitlines(keepends=True)
    (files / "solution.csv").write_text("".join(lines[:-1]))
    assert not is_known()
    options += ["--set", "segment_weight=0.4"]
    assert not is_known()
    (files / "copy.py").write_text(METRIC.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    options += ["--metric", files / "copy.py"]
    assert not is_known()
    versions = job.versions() | {"numpy": "0"}
    monkeypatch.setattr(job, "versions", lambda: versions)
    assert not is_known()


@pytest.mark.parametrize("again", [False, True])
def test_the_solution_is_asked_for_once_and_each_input_is_read_and_hashed_once(files, call, monkeypatch, again):
    seen = {"prepared": [], "asked": [], "hashed": [], "read": []}

    def watched(real, kind):
        def watch(*given, **named):
            seen[kind].append(Path(str(given[0])).name if isinstance(given[0], str | os.PathLike) else "")
            return real(*given, **named)

        return watch

    (files / "teams.csv").write_text("team,status,reason\nAda,no prize,a member of the jury\n")
    (files / "failed.csv").write_text("team,model,reason\nEve,a,died\n")
    options = ["--resamples", "20", "--teams", files / "teams.csv"]
    if again:
        assert call(*options)[0] == 0
        options += ["--again", files / "final", "--out", files / "other"]
    monkeypatch.setattr(job, "_prepared", watched(job._prepared, "prepared"))
    real = ReadFile.sha256.func
    hashing = functools.cached_property(lambda file: seen["hashed"].append(Path(file.path).name) or real(file))
    hashing.__set_name__(ReadFile, "sha256")
    monkeypatch.setattr(ReadFile, "sha256", hashing)
    for module in (job, rank):
        monkeypatch.setattr(module, "solution_of", watched(module.solution_of, "asked"))
    monkeypatch.setattr(tables, "open_regular", watched(tables.open_regular, "read"))
    job.PREPARED.clear()
    assert call(*options)[0] == 0
    assert (len(seen["prepared"]), len(seen["asked"])) == (1, 1)
    inputs = ["failed.csv", *(["run.json"] if again else []), "runtimes.csv", "solution.csv", "teams.csv"]
    assert sorted(name for name in seen["read"] if name in inputs) == inputs
    assert sorted(seen["hashed"]) == inputs


def test_a_parameter_of_measures_alone_needs_no_scoring(files, call):
    call("--resamples", 0)
    assert call("--resamples", "0", "--set", "temperature=64")[2] == (
        "scoring: 5 of 5\nalready in the store: 5 of 5\nmeasuring: 5 of 5\nmeasuring: 5 of 5\n" + ONCE
    )
    for row in board(files).itertuples():
        assert row.score == private_score(files, row.submission, temperature=64.0)


def test_an_interrupted_run_resumes(files, call, monkeypatch):
    real = passes.track

    def interrupted(steps, title, total):
        for number, step in enumerate(real(steps, title, total)):
            if number == 2:
                raise KeyboardInterrupt
            yield step

    monkeypatch.setattr(passes, "track", interrupted)
    code, out, err = call()
    assert (code, out) == (130, "")
    assert err.endswith("interrupted\n")
    assert not (files / "final" / "final_leaderboard.csv").exists()
    monkeypatch.setattr(passes, "track", real)
    assert call()[2].startswith("scoring: 5 of 5\nalready in the store: 3 of 5\n")
    assert len(board(files)) == 5


# --- how sure is the ranking? -----------------------------------------------------------------------


def test_intervals_are_those_of_a_submission_alone(files, call):
    """Without groups, noise of runtimes and prizes, a team is drawn as by `podium score --bootstrap`."""
    options = ["--no-boost", "--resamples", "50", "--seed", "5", "--prizes", "0"]
    call(*options, "--set", "subpopulation_column_names=")
    prepared = metric.prepare(private(files), "row_id", subpopulation_column_names="")
    intervals = read(files / "final" / "intervals.csv").set_index("team")
    for team in ("Ada", "Cy"):
        numbers = prepared.statistics(read(files / "submissions" / f"{team}.csv"))
        expected = statistics.intervals_of(prepared, numbers, 50, 5).iloc[0]
        for end in ("low", "high"):
            assert intervals.loc[team, f"score_{end}"] == pytest.approx(expected[end], rel=1e-4)


# --- bad input --------------------------------------------------------------------------------------


def test_wrong_usage(call, files):
    assert call("--jobs", "-1")[0] == 2
    for number in ("-1", "100001"):
        assert call("--resamples", number)[0] == 2
    for option, wrong in (
        ("--deadline", "noon"),
        ("--choose", "public:0"),
        ("--seed", "-1"),
        ("--jobs", "1.5"),
    ):
        code, _, err = call(option, wrong)
        assert (code, f"argument {option}: expected " in err) == (2, True)
    for option in ("--team", "--failed", "--title", "--deadline", "--part"):
        code, _, err = call(option, "")
        assert (code, f"{option}: expected a value, found an empty text" in err) == (2, True)
    for limit in ("--memory-limit", "--time-limit", "--idle-limit"):
        assert call(limit, "1e300")[0] == 2
    assert call("--seed", "x")[0] == 2
    assert call("--set", "temperature=-1")[0] == 4
    assert call(solution="none.csv")[:2] == (2, "")
    assert call(runtimes="none.csv")[:2] == (2, "")
    assert call(submissions="none")[2] == f"error: there is no folder {files / 'none'}\n"
    told = call(submissions="solution.csv")[2]
    assert (
        "solution.csv: expected a folder of submissions, or a manifest with the columns team and path, f"
        in told
    )
    (files / "file").touch()
    assert call(submissions="file")[2] == f"error: {files / 'file'}: expected a folder, found a file\n"
    (files / "empty").mkdir()
    assert call(submissions="empty")[2] == f"error: there are no submissions in {files / 'empty'}\n"
    assert not (files / "final").exists()


@pytest.mark.parametrize(
    ("runtimes", "message"),
    [
        ("team\nAda\n", "runtimes.csv: expected the column runtime, found team"),
        ("team,runtime\nAda,1\nAda,2\n", "row number 2: expected another one than in row number 1"),
        ("team,submission,runtime\nAda,,1\n", "in the column submission, found an empty cell"),
        (
            "team,runtime\nAda,0\n",
            "runtimes.csv, row number 1: expected seconds above 0 in the column runtime, ",
        ),
        ("team,runtime,submitted_at\nAda,1,yesterday\n", "in the column submitted_at, found 'yesterday'"),
        ("team,runtime,submited_at\nAda,1,2026-03-01\n", "expected the column submitted_at, found submited_at"),
        ("team,runtime,runtime_error\nAda,1,-1\n", "seconds of at least 0 in the column runtime_error"),
        ("team,runtime,runs\nAda,1,1.5 2\n", "in the column runs, found '1.5 2'"),
    ],
)
def test_wrong_runtimes(files, call, runtimes, message):
    (files / "runtimes.csv").write_text(runtimes)
    code, out, err = call()
    assert (code, out) == (4, "")
    assert err.startswith("error: ")
    assert message in err
    assert not (files / "final").exists()  # the fault is reported before any work begins


def written(path: Path, text: str) -> None:
    """Write a file and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("path", "text", "code", "message"),
    [
        ("submissions/Ada/a.csv", "x", 4, "team Ada: expected one file or one folder, found Ada and Ada.csv\n"),
        (
            "submissions/Bo.csv.gz",
            "x",
            4,
            "team Bo: expected one file or one folder, found Bo.csv and Bo.csv.gz",
        ),
        ("final", "a file", 2, "final: File exists\n"),
        (
            "solution.csv",
            "row_id,essay_id\n1,2\n",
            4,
            "error: the solution: expected 5 more columns: discourse_t",
        ),
    ],
)
def test_wrong_files(files, call, path, text, code, message):
    written(files / path, text)
    found, out, err = call()
    assert (found, out) == (code, "")
    assert message in err


def test_nothing_to_rank(files, call):
    for path in (files / "submissions").iterdir():
        path.write_text("x\n1\n")
    code, _, err = call()
    assert code == 4
    assert (
        "none of 5 submissions counts; the first that is rejected, 007.csv: the submission: expected 6" in err
    )


def test_a_metric_without_groups_shows_all_its_measures(tmp_path, capsys):
    """SciFact's leaderboard has twelve columns."""
    samples = hosted.folder("scifact") / "samples"
    (tmp_path / "teams").mkdir()
    shutil.copy(samples / "predictions.jsonl", tmp_path / "teams" / "Ada.jsonl")
    arguments = ["rank", samples / "claims.jsonl", tmp_path / "teams", "--metric", "scifact", "--no-boost"]
    assert command_line.run(capsys, *arguments, "--out", tmp_path / "out", "--resamples", 0)[0] == 0
    leaderboard = read_table(tmp_path / "out" / "final_leaderboard.csv", set(), HostError)
    metric = hosted.load("scifact")
    solution = evaluating.prepare(metric, reading.read_solution(metric, samples / "claims.jsonl", {}), {})
    frame = reading.read_submission(metric, samples / "predictions.jsonl", {})
    expected = evaluating.evaluate(solution, frame).measures
    assert len(expected) == 13
    assert {name: leaderboard[name][0] for name in expected} == expected


def test_one_part_alone(files, call):
    """So a class sees a board each week, and the part that decides stays unknown."""
    code, out, _ = call("--part", "Public")
    assert code == 0
    assert " essays of the Public part decide." in out
    solution = read(files / "solution.csv")
    public = solution[solution["Usage"] == "Public"]
    for row in board(files).head(2).itertuples():
        submission = read(files / "submissions" / row.submission)
        assert row.score == metric.score(public, submission, "row_id")
    facts = json.loads((files / "final" / "run.json").read_text())
    assert facts["part"] == "Public"
    assert facts["signature"].endswith("|part:Public")
    assert "public_rank" not in board(files)
    page = (files / "final" / "board.html").read_text()
    assert "part Public</dd>" in page
    assert "Private" not in page
    assert "kept back" not in page
    assert "Public score" not in "".join(read(files / "final" / "all_submissions.csv")["why"])
    assert cli.main(["verify", str(files / "final"), "--jobs", "1"]) == 0
    assert call("--part", "Public", solution="public.csv")[0] == 2
