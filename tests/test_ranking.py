"""`rank.py`: the final board from files, resumed, spread over processes, and how sure it is."""

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import boost
import metric
import rank
from competition import bootstrap, ranking
from competition.errors import HostError, UsageError, run
from competition.files import read_csv
from tests.essays import make_competition
from tests.test_evaluate import ACCURACY

ROOT = Path(rank.__file__).parent
METRIC = ROOT / "metric.py"
TEAMS = ["Ada", "Bo", "Cy", "NA", "007"]


@pytest.fixture
def files(tmp_path):
    """A solution of 60 essays, five teams of falling quality, runtimes."""
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
def call(files, capsys):
    """Run the command line in this process, writing to "final": (exit code, stdout, stderr)."""

    def call(*more: object, solution="solution.csv", submissions="submissions", runtimes="runtimes.csv"):
        arguments = [files / solution, files / submissions, files / runtimes, "--out", files / "final", *more]
        try:
            code = run(rank.main, ["--jobs", "1", *map(str, arguments)])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return call


def read(path: Path) -> pd.DataFrame:
    """A file as the programs read it: numbers to the last bit, which pandas 2 by itself does not."""
    return read_csv(path, {"team", "submission", "essay_id", *metric.TEXT_COLUMNS}, HostError)


def board(files: Path) -> pd.DataFrame:
    return read(files / "final" / "final_leaderboard.csv")


def private_score(files: Path, submission: str) -> float:
    solution = read(files / "solution.csv")
    private = solution[solution["Usage"] == "Private"]
    return metric.score(private, read(files / "submissions" / submission), "row_id")


# --- the board --------------------------------------------------------------------------------------


def test_the_board_is_boost_of_the_private_scores(files, call):
    assert call()[0] == 0
    leaderboard = board(files)
    scores = {team: private_score(files, f"{team}.csv") for team in TEAMS}
    expected = boost.boost(
        pd.DataFrame({"team": TEAMS, "score": scores.values(), "runtime": [130, 100, 110, 105, 90]})
    )
    assert leaderboard["team"].tolist() == expected["team"].tolist()
    for column in ("score", "runtime", "eligible", "slowdown", "boost", "boosted_score", "rank", "rank_before"):
        assert leaderboard[column].tolist() == expected[column].tolist()
    assert leaderboard["private_score"].tolist() == leaderboard["score"].tolist()
    assert leaderboard["submission"].tolist() == [f"{team}.csv" for team in leaderboard["team"]]


def test_without_usage_all_rows_decide(files, call):
    solution = read(files / "solution.csv").drop(columns="Usage")
    solution.to_csv(files / "solution.csv", index=False)
    call()
    leaderboard = board(files).set_index("team")
    submission = read(files / "submissions" / "Bo.csv")
    assert leaderboard.loc["Bo", "score"] == metric.score(solution, submission, "row_id")
    assert "public_score" not in leaderboard


def test_the_other_files(files, call):
    call("--prizes", "2")
    leaderboard = board(files)
    groups = read(files / "final" / "subpopulations.csv")
    assert groups["team"].tolist() == leaderboard["team"].tolist()
    solution = read(files / "solution.csv")
    evaluation = metric.evaluate(
        solution[solution["Usage"] == "Private"], read(files / "submissions" / "Bo.csv"), "row_id"
    )
    bo = groups.set_index("team").loc["Bo"]
    for row in evaluation.subpopulations.itertuples():
        assert bo[f"{row.attribute} = {row.value}"] == row.score
    assert len(read(files / "final" / "rejected.csv")) == 0
    intervals = read(files / "final" / "intervals.csv")
    assert list(intervals.columns)[-2:] == ["prize_1", "prize_2"]
    assert intervals["team"].tolist() == leaderboard["team"].tolist()
    assert len(read(files / "final" / "neighbours.csv")) == len(TEAMS) - 1


def test_run_json(files, call):
    (files / "submissions" / "Zoe.csv").write_text("x\n1\n")
    call("--set", "temperature=50", "--seed", "3")
    facts = json.loads((files / "final" / "run.json").read_text())
    assert facts["signature"].startswith(f"metric:unified|version:{metric.__version__}|")
    assert "temperature:50.0" in facts["signature"]
    assert (facts["decided_by"], facts["seed"], facts["resamples"]) == ("Private", 3, 1000)
    assert facts["counts"] == {
        "submissions": 6,
        "rejected": 1,
        "teams": 5,
        "teams_without_score": 1,
        "eligible": int(board(files)["eligible"].sum()),
    }
    assert facts["versions"]["pandas"] == pd.__version__
    assert len(facts["sha256"]) == 2 + 6
    assert all(len(value) == 64 for value in facts["sha256"].values())


def test_two_runs_write_the_same_files(files, call):
    call()
    first = {path.name: path.read_bytes() for path in (files / "final").iterdir() if path.is_file()}
    for path in (files / "final").rglob("*"):
        if path.is_file():
            path.unlink()
    call()
    assert {path.name: path.read_bytes() for path in (files / "final").iterdir() if path.is_file()} == first
    assert sorted(first) == sorted(
        [
            "final_leaderboard.csv",
            "intervals.csv",
            "neighbours.csv",
            "rejected.csv",
            "run.json",
            "subpopulations.csv",
        ]
    )


def test_without_resamples_there_are_no_intervals(files, call):
    call()
    call("--resamples", "0")
    assert not (files / "final" / "intervals.csv").exists()
    assert not (files / "final" / "neighbours.csv").exists()


def test_what_is_printed(call):
    code, out, err = call()
    assert code == 0
    assert out.startswith("5 submissions, 0 rejected; teams on the board: 5, eligible for a boost: ")
    assert "decided by the scores of Private\n\nThe first 5\nrank  team" in out
    assert err == "scoring: 5 of 5\nresampling: 5 of 5\n"


# --- which submissions count ------------------------------------------------------------------------


@pytest.fixture
def several(files):
    """Ada has a folder with three files: the fullest submission is the best."""
    folder = files / "submissions"
    submission = read(folder / "Ada.csv")
    (folder / "Ada.csv").unlink()
    (folder / "Ada").mkdir()
    submission.iloc[::2].to_csv(folder / "Ada" / "half.csv", index=False)
    submission.to_csv(folder / "Ada" / "best.csv.gz", index=False)
    submission.iloc[::3].to_csv(folder / "Ada" / "third.csv", index=False)
    (folder / ".hidden").write_text("not a submission")
    return files


def test_of_a_team_s_several_submissions_the_best_counts(several, call):
    call()
    leaderboard = board(several).set_index("team")
    assert leaderboard.loc["Ada", "submission"] == "best.csv.gz"
    assert len(leaderboard) == 5


def test_selected_submissions_count(several, call):
    pd.DataFrame({"team": ["Ada", "Ada"], "submission": ["half.csv", "third.csv"]}).to_csv(
        several / "selected.csv", index=False
    )
    assert call("--select", several / "selected.csv")[0] == 0
    leaderboard = board(several).set_index("team")
    assert leaderboard.loc["Ada", "submission"] == "half.csv"
    assert len(leaderboard) == 5  # the others' best count


def test_runtimes_per_submission(several, call):
    pd.DataFrame(
        {
            "team": ["Ada", "Ada", "Bo"],
            "submission": ["half.csv", "best.csv.gz", "Bo.csv"],
            "runtime": [10, 99, 100],
        }
    ).to_csv(several / "runtimes.csv", index=False)
    code, _, err = call()
    assert code == 0
    assert board(several).set_index("team").loc["Ada", "runtime"] == 99
    assert "warning: no runtime, so not eligible: NA, 007, Cy" in err


def test_ties_go_to_the_earlier_submission(files, call):
    copy = (files / "submissions" / "Ada.csv").read_bytes()
    (files / "submissions" / "Bo.csv").write_bytes(copy)
    times = ["2024-05-02 10:00:00", "2024-05-01 23:00:00", *["2024-05-03"] * 3]
    pd.DataFrame({"team": TEAMS, "runtime": 100, "submitted_at": times}).to_csv(
        files / "runtimes.csv", index=False
    )
    call()
    leaderboard = board(files).set_index("team")
    assert leaderboard.loc["Bo", "rank"] < leaderboard.loc["Ada", "rank"]
    intervals = read(files / "final" / "intervals.csv").set_index("team")
    assert intervals.loc["Bo", "prize_1"] >= intervals.loc["Ada", "prize_1"]
    neighbours = read(files / "final" / "neighbours.csv").set_index("team")
    assert neighbours.loc["Bo", "probability_ahead"] == 1.0
    assert neighbours.loc["Bo", ["difference", "low", "high"]].tolist() == [0.0, 0.0, 0.0]


def test_a_bad_file_never_stops_the_run(files, call):
    folder = files / "submissions"
    (folder / "Empty.csv").write_text("")
    (folder / "Wrong.csv").write_text("row_id,essay_id\n1,2\n")
    (folder / "Text.txt").write_bytes(b"\xff\xfe")
    (folder / "Broken.csv.gz").write_bytes(b"\x1f\x8bnot gzip")
    code, out, err = call()
    assert code == 0
    assert out.startswith("9 submissions, 4 rejected; teams on the board: 5")
    assert err.endswith("warning: 4 rejected, see rejected.csv; teams without any score, not on the board: 4\n")
    rejected = read(files / "final" / "rejected.csv").set_index("team")["reason"]
    assert sorted(rejected.index) == ["Broken", "Empty", "Text", "Wrong"]
    assert rejected["Wrong"].startswith("the submission lacks columns: discourse_type, predictionstring,")
    assert "is not a CSV table" in rejected["Empty"]
    assert len(board(files)) == 5


def test_a_missing_runtime_is_ranked_and_said(files, call):
    pd.DataFrame({"team": TEAMS[:4], "runtime": [130, 100, 110, None]}).to_csv(
        files / "runtimes.csv", index=False
    )
    code, _, err = call()
    assert code == 0
    leaderboard = board(files).set_index("team")
    assert not leaderboard.loc[["NA", "007"], "eligible"].any()
    assert leaderboard.loc["NA", "note"] == leaderboard.loc["007", "note"] == "no runtime, so not eligible"
    assert err.endswith("warning: no runtime, so not eligible: NA, 007\n")


@pytest.mark.filterwarnings("default")
def test_runtimes_without_a_submission_are_warned_of(files, call):
    pd.DataFrame({"team": [*TEAMS, "Zoe"], "runtime": 100}).to_csv(files / "runtimes.csv", index=False)
    assert "warning: runtimes without a submission: Zoe\n" in call()[2]


@pytest.mark.filterwarnings("ignore:runtimes without a submission")
def test_any_metric_file(files, call):
    (files / "accuracy.py").write_text(ACCURACY)
    truth = pd.DataFrame({"id": range(8), "answer": [1, 0] * 4, "Usage": ["Public", "Private"] * 4})
    truth.to_csv(files / "truth.csv", index=False)
    folder = files / "guesses"
    folder.mkdir()
    for team, answer in (("Ada", 0), ("Bo", 1)):
        truth.assign(answer=answer).drop(columns="Usage").to_csv(folder / f"{team}.csv", index=False)
    code, _, _ = call(
        "--metric", files / "accuracy.py", solution="truth.csv", submissions="guesses", runtimes="runtimes.csv"
    )
    assert code == 0
    assert board(files)["team"].tolist() == ["Ada", "Bo"]
    assert board(files)["public_score"].tolist() == [0.0, 1.0]
    assert not (files / "final" / "subpopulations.csv").exists()
    assert not (files / "final" / "intervals.csv").exists()
    assert json.loads((files / "final" / "run.json").read_text())["signature"] is None


# --- resuming ---------------------------------------------------------------------------------------


def test_only_what_changed_is_scored_again(files, call):
    call()
    first = board(files)
    assert call()[2] == "scoring: 5 of 5 known from before\nresampling: 5 of 5 known from before\n"
    pd.testing.assert_frame_equal(board(files), first)
    path = files / "submissions" / "Bo.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-20]))
    assert call()[2] == (
        "scoring: 4 of 5 known from before\nscoring: 1 of 1\n"
        "resampling: 4 of 5 known from before\nresampling: 1 of 1\n"
    )
    assert board(files).set_index("team").loc["Bo", "score"] == private_score(files, "Bo.csv")


@pytest.mark.parametrize("change", ["solution", "parameter", "metric"])
def test_another_solution_parameter_or_metric_scores_all_again(files, call, change):
    call("--resamples", "0")
    options = ["--resamples", "0"]
    if change == "solution":
        lines = (files / "solution.csv").read_text().splitlines(keepends=True)
        (files / "solution.csv").write_text("".join(lines[:-1]))
    elif change == "parameter":
        options += ["--set", "temperature=64"]
    else:
        (files / "copy.py").write_text(METRIC.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
        options += ["--metric", files / "copy.py"]
    assert call(*options)[2] == "scoring: 5 of 5\n"


def test_a_renamed_file_is_known_by_its_content(files, call):
    call("--resamples", "0")
    (files / "submissions" / "Bo.csv").rename(files / "submissions" / "Bob.csv")
    (files / "runtimes.csv").write_text((files / "runtimes.csv").read_text().replace("Bo,", "Bob,"))
    assert call("--resamples", "0")[2] == "scoring: 5 of 5 known from before\n"
    assert "Bob" in board(files)["team"].tolist()


def test_an_interrupted_run_resumes(files, call, monkeypatch):
    real = ranking.track

    def interrupted(steps, title, total):
        for number, step in enumerate(real(steps, title, total)):
            if number == 2:
                raise KeyboardInterrupt
            yield step

    monkeypatch.setattr(ranking, "track", interrupted)
    code, out, err = call()
    assert (code, out) == (130, "")
    assert err.endswith("interrupted\n")
    assert not (files / "final" / "final_leaderboard.csv").exists()
    monkeypatch.setattr(ranking, "track", real)
    assert call()[2].startswith("scoring: 2 of 5 known from before\nscoring: 3 of 3\n")
    assert len(board(files)) == 5


# --- processes and clusters -------------------------------------------------------------------------


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def command(files: Path, out: str, *more: str) -> list[str]:
    arguments = [files / "solution.csv", files / "submissions", files / "runtimes.csv", "--out", files / out]
    return [sys.executable, str(ROOT / "rank.py"), *map(str, arguments), *more]


def test_two_processes_give_the_same_files(files, call):
    call()
    done = subprocess.run(command(files, "two", "--jobs", "2"), cwd=files, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "scoring: 5 of 5\nresampling: 5 of 5\n")
    assert tables(files / "two") == tables(files / "final")


@pytest.mark.slow
def test_a_dask_cluster_that_loses_a_worker_gives_the_same_files(files, call, tmp_path):
    pytest.importorskip("distributed")
    for number in range(40):
        kept = np.random.default_rng(100 + number).random(400) > 0.1
        frame = read(files / "submissions" / "Ada.csv").iloc[: len(kept)]
        frame[kept[: len(frame)]].to_csv(files / "submissions" / f"team {number}.csv", index=False)
    call()
    # A metric that takes its time, so that a worker can be killed in the middle of it.
    slow = (
        METRIC.read_text(encoding="utf-8")
        + "\nimport time as _time\n_read = PreparedSolution.read\n"
        + (
            "def _slow(self, submission):\n    _time.sleep(0.2)\n    return _read(self, submission)\n"
            "PreparedSolution.read = _slow\n"
        )
    )
    (files / "slow.py").write_text(slow, encoding="utf-8")
    address_file = files / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(address_file)]
    options = ["--no-dashboard", "--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path)]
    processes = [
        subprocess.Popen(
            [
                *dask,
                "--scheduler-file",
                str(address_file),
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--no-dashboard",
            ],
            stderr=subprocess.DEVNULL,
        )
    ]
    try:
        wait_until(address_file.exists)
        processes += [
            subprocess.Popen([*worker, *options, "--host", "127.0.0.1"], cwd=ROOT, stderr=subprocess.DEVNULL)
            for _ in range(2)
        ]
        address = json.loads(address_file.read_text())["address"]
        ranker = subprocess.Popen(
            command(files, "dask", "--dask", address, "--metric", str(files / "slow.py")),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(ranker)
        cache = files / "dask" / ranking.CACHE
        wait_until(lambda: cache.exists() and len(list(cache.glob("[!.]*"))) >= 5)
        processes[1].kill()
        assert len(list(cache.glob("[!.]*"))) < 45  # in the middle
        _, err = ranker.communicate(timeout=120)
        assert ranker.returncode == 0, err
    finally:
        for process in processes:
            process.kill()
            process.wait()
    ours, theirs = tables(files / "final"), tables(files / "dask")
    del ours["run.json"], theirs["run.json"]  # the metric file's hash differs
    assert theirs == ours


def wait_until(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow  # Dask takes its time to give up
def test_no_cluster_there(call):
    pytest.importorskip("distributed")
    code, _, err = call("--dask", "tcp://127.0.0.1:1")
    assert code == 2
    assert err.startswith("error: no Dask scheduler at tcp://127.0.0.1:1")


# --- how sure is the ranking? -----------------------------------------------------------------------


def test_against_a_direct_slow_bootstrap(files, call):
    """The whole pipeline on frames in which essays stand as often as they were drawn."""
    resamples, seed = 25, 5
    call("--resamples", str(resamples), "--seed", str(seed))
    leaderboard = board(files)
    solution = read(files / "solution.csv")
    solution = solution[solution["Usage"] == "Private"]
    submissions = {team: read(files / "submissions" / f"{team}.csv") for team in TEAMS}
    essays = sorted(set(solution["essay_id"]))
    boards = []
    for weights in bootstrap.draw(len(essays), resamples, seed):
        times = dict(zip(essays, weights.tolist()))
        scores = [
            metric.score(repeated(solution, times), repeated(submissions[team], times), "row_id")
            for team in leaderboard["team"]
        ]
        again = boost.boost(leaderboard[["team", "runtime"]].assign(score=scores))
        boards.append(again.set_index("team").loc[leaderboard["team"]])
    intervals = read(files / "final" / "intervals.csv")
    for column in ("score", "boosted_score"):
        low, high = np.quantile([b[column] for b in boards], [0.025, 0.975], axis=0)
        assert intervals[f"{column}_low"].tolist() == pytest.approx(low, rel=1e-9)
        assert intervals[f"{column}_high"].tolist() == pytest.approx(high, rel=1e-9)
    ranks = np.array([b["rank"] for b in boards])
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0)
    assert intervals["rank_low"].tolist() == np.floor(low).tolist()
    assert intervals["rank_high"].tolist() == np.ceil(high).tolist()
    for place in (1, 2, 3):
        assert intervals[f"prize_{place}"].tolist() == pytest.approx((ranks == place).mean(axis=0))
    boosted = np.array([b["boosted_score"] for b in boards])
    neighbours = read(files / "final" / "neighbours.csv")
    low, high = np.quantile(boosted[:, :-1] - boosted[:, 1:], [0.025, 0.975], axis=0)
    assert neighbours["low"].tolist() == pytest.approx(low, rel=1e-6)
    assert neighbours["high"].tolist() == pytest.approx(high, rel=1e-6)
    assert neighbours["probability_ahead"].tolist() == (ranks[:, :-1] < ranks[:, 1:]).mean(axis=0).tolist()


def repeated(frame: pd.DataFrame, times: dict[str, int]) -> pd.DataFrame:
    """Each essay as often as drawn, under ids of its own."""
    frame = frame.loc[frame.index.repeat(frame["essay_id"].map(times).fillna(0).astype(int))]
    copy = frame.groupby("row_id").cumcount().astype(str)
    return frame.assign(essay_id=frame["essay_id"] + "/" + copy)


def test_prizes_are_certain_where_teams_are_far_apart(files, call):
    for team, share in (("Ada", 1.0), ("Bo", 0.6), ("Cy", 0.3)):
        path = files / "submissions" / f"{team}.csv"
        frame = read(files / "submissions" / "Ada.csv")
        frame.sample(frac=share, random_state=0).to_csv(path, index=False)
    call("--prizes", "1")
    intervals = read(files / "final" / "intervals.csv").set_index("team")
    assert intervals.loc["Cy", "prize_1"] == 0.0
    assert intervals.loc["Cy", "rank_low"] == 5
    assert intervals["prize_1"].sum() == pytest.approx(1)


# --- bad input --------------------------------------------------------------------------------------


def test_wrong_usage(call, files):
    assert call("--jobs", "0")[0] == 2
    assert call("--resamples", "-1")[0] == 2
    assert call("--seed", "x")[0] == 2
    assert call(solution="none.csv")[:2] == (2, "")
    assert call(runtimes="none.csv")[:2] == (2, "")
    assert call(submissions="none")[2] == f"error: there is no folder {files / 'none'}\n"
    (files / "empty").mkdir()
    assert call(submissions="empty")[2] == f"error: there are no submissions in {files / 'empty'}\n"
    assert not (files / "final").exists()


@pytest.mark.parametrize(
    ("runtimes", "message"),
    [
        ("team\nAda\n", "the runtimes lack the column runtime; they have team"),
        ("team,runtime\nAda,1\nAda,2\n", "the runtimes have several rows for Ada"),
        ("team,runtime\n,1\n", "the runtimes have no team in row number 1"),
        ("team,submission,runtime\nAda,,1\n", "the runtimes have no submission in row number 1"),
        ("team,runtime\nAda,0\n", "runtime is wrong in 1 row of the runtimes: Ada ("),
        ("team,runtime\nAda,inf\n", "runtime is wrong in 1 row of the runtimes: Ada ("),
        ("team,runtime\nAda,fast\n", "runtime is wrong in 1 row of the runtimes: Ada ("),
        ("team,runtime,submitted_at\nAda,1,yesterday\n", "submitted_at is wrong in 1 row"),
    ],
)
def test_wrong_runtimes(files, call, runtimes, message):
    (files / "runtimes.csv").write_text(runtimes)
    code, out, err = call()
    assert (code, out) == (4, "")
    assert f"error: {message}" in err
    assert not (files / "final").exists()  # reported before any work


def test_other_columns_of_the_runtimes_do_not_matter(files, call):
    runtimes = pd.read_csv(files / "runtimes.csv", dtype=str, keep_default_na=False)
    runtimes.assign(score=1, public_score=2, note="x").to_csv(files / "runtimes.csv", index=False)
    assert call()[0] == 0
    assert board(files)["score"].max() < 1


def test_what_is_no_file_is_rejected_without_paths(files, call):
    team = files / "submissions" / "Zoe"
    (team / "folder").mkdir(parents=True)
    (team / "link.csv").symlink_to(files / "nowhere.csv")
    (files / "submissions" / "Odd.csv").write_text("")
    code, _, err = call()
    assert code == 0
    rejected = read(files / "final" / "rejected.csv").set_index("submission")["reason"]
    assert rejected["folder"] == "cannot read the file: Is a directory"
    assert rejected["link.csv"] == "cannot read the file: No such file or directory"
    assert rejected["Odd.csv"].startswith("the file is not a CSV table")
    assert "teams without any score, not on the board: 2" in err


@pytest.mark.filterwarnings("default")
def test_an_empty_team_folder_is_warned_of(files, call):
    (files / "submissions" / "Zoe").mkdir()
    assert "warning: the folder of team Zoe is empty\n" in call()[2]


def test_a_broken_cache_file_does_not_count(files, call):
    call("--resamples", "0")
    kept = sorted((files / "final" / "cache").iterdir())
    kept[0].write_text(kept[0].read_text()[:10])
    assert call("--resamples", "0")[2] == "scoring: 4 of 5 known from before\nscoring: 1 of 1\n"


def test_out_is_a_folder(files, call):
    (files / "final").write_text("a file")
    code, _, err = call()
    assert (code, err) == (2, f"error: --out {files / 'final'} is not a folder\n")


def test_what_cannot_be_written(files, call, monkeypatch):
    def refuse(path, write):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(ranking, "write_atomically", refuse)
    code, out, err = call("--resamples", "0")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(f"error: Permission denied: {files / 'final'}")


def test_wrong_solutions_and_parameters(files, call):
    assert call("--set", "temperature=-1")[0] == 4
    (files / "solution.csv").write_text("row_id,essay_id\n1,2\n")
    code, _, err = call()
    assert code == 4
    assert err.startswith("error: the solution lacks columns: discourse_type,")


def test_wrong_selections(files, call):
    (files / "selected.csv").write_text("team,submission\nAda,none.csv\n")
    code, _, err = call("--select", files / "selected.csv")
    assert code == 4
    assert err == f"error: selected but not in {files / 'submissions'}: Ada/none.csv\n"
    (files / "selected.csv").write_text("team\nAda\n")
    assert call("--select", files / "selected.csv")[2].endswith("lacks the column submission; it has team\n")


def test_a_team_in_two_places(files, call):
    (files / "submissions" / "Ada").mkdir()
    (files / "submissions" / "Ada" / "a.csv").write_text("x")
    code, _, err = call()
    assert code == 4
    assert err == "error: team Ada has two places: Ada and Ada.csv\n"
    path = files / "submissions" / "Bo.csv"
    (files / "submissions" / "Bo.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(HostError, match="two places"):
        ranking.find_submissions(files / "submissions")


def test_nothing_to_rank(files, call):
    for path in (files / "submissions").iterdir():
        path.write_text("x\n1\n")
    code, _, err = call()
    assert code == 4
    assert "none of 5 submissions could be scored; the first, 007.csv: the submission lacks columns" in err
    with pytest.raises(UsageError, match="there is no folder"):
        ranking.find_submissions(files / "none")
