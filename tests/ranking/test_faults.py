"""Faults that no submission caused are tried again and listed. They are never kept and never count as
rejections.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import filelock
import pandas as pd
import pytest

from podium import cli
from podium.child import limits as limits_module
from podium.child.workers import Workers
from podium.common.errors import UsageError
from podium.contest import reading
from podium.metric import hosted
from podium.ranking import job as job_module
from podium.ranking import passes, store
from podium.ranking.questions import Pool
from podium.ranking.rules import Options
from podium.ranking.submissions import Submission
from podium.scoring import evaluating
from podium.tables import files
from tests.support import command_line
from tests.support.processes import SECONDS, children_of, is_running, wait_until

pytestmark = pytest.mark.slow

ROWS = '''
import pandas as pd

class ParticipantVisibleError(Exception):
    pass

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, points: int = 1) -> float:
    """The number of rows, which must not be 3."""
    if len(submission) == 3:
        raise ParticipantVisibleError("three rows")
    return float(len(submission))

def higher_is_better() -> bool:
    return True
'''
COMPLETE = "COMPLETE_SUBMISSION = True\n"
FAULTS = [
    OSError(5, "Input/output error"),
    PermissionError(13, "Permission denied"),
    FileNotFoundError(2, "No such file or directory"),
    MemoryError("no memory"),
    ImportError("No module named 'podium'"),
    RuntimeError("a worker of another kind"),
    KeyError("x"),
]


@pytest.fixture(autouse=True)
def full_machine(monkeypatch):
    """If the machine is full, what it refuses is not the fault of a submission."""
    monkeypatch.setattr(limits_module, "_available_memory", lambda: 0)


@pytest.fixture
def folder(tmp_path):
    """A metric that counts rows, a solution, and 20 teams, of which team 03 is rejected."""
    (tmp_path / "rows.py").write_text(ROWS + COMPLETE)
    (tmp_path / "solution.csv").write_text("id\n1\n2\n")
    (tmp_path / "teams").mkdir()
    for team in range(20):
        (tmp_path / "teams" / f"{team:02}.csv").write_text("id\n" + "1\n" * team)
    return tmp_path


@pytest.fixture
def call(folder, capsys):
    """Runs `podium rank` on the folder, with more arguments."""

    def call(*more: object, out="final"):
        arguments = [folder / "solution.csv", folder / "teams", "--metric", folder / "rows.py"]
        arguments += ["--out", folder / out, *([] if "--jobs" in more else ["--jobs", 1]), *more]
        return command_line.run(capsys, "rank", *arguments)

    return call


def scores(folder: Path) -> dict[str, float]:
    """The score of each team that has one."""
    table = pd.read_csv(folder / "final" / "all_submissions.csv", dtype={"team": str}).dropna(subset="score")
    return dict(zip(table["team"], table["score"]))


RIGHT = {f"{team:02}": float(team) for team in range(20) if team != 3}


def entries(folder: Path) -> int:
    """The number of entries in the store that are those of submissions."""
    kept = folder / "final" / "store"
    found = [store.load(kept, name) for name in store.names(kept)]
    return sum(entry is not None and "fingerprint" in entry.header for entry in found)


@pytest.mark.parametrize("where", ["read_bytes", "read_submission", "evaluate"])
def test_faults_are_tried_again(folder, call, monkeypatch, where):
    """Each file fails once, in every way and at every stage. After that, the board is right."""
    inject(monkeypatch, where, times=1)
    assert call()[0] == 0
    assert scores(folder) == RIGHT


@pytest.mark.parametrize("where", ["read_bytes", "read_submission", "evaluate"])
def test_faults_that_stay_stop_the_run(folder, call, monkeypatch, where):
    with monkeypatch.context() as patched:
        inject(patched, where, times=2)
        code, _, err = call()
    assert code == 2
    assert err.count("\n  ") == 20
    assert entries(folder) == 0
    assert not (folder / "final" / "run.json").exists()
    assert call()[0] == 0
    assert scores(folder) == RIGHT


@pytest.mark.parametrize(
    ("statement", "expected_code"),
    [
        pytest.param("submission['rows']", 4, id="a slip"),
        pytest.param("raise MemoryError", 2, id="a lack of memory"),
        pytest.param("raise OSError(28, 'No space left on device')", 2, id="a full disk"),
        pytest.param('raise RuntimeError("can\'t start new thread")', 2, id="a lack of threads"),
        pytest.param(
            """
    try:
        raise MemoryError
    except MemoryError:
        raise ValueError("wrong table") from None""",
            2,
            id="a lack of memory in disguise",
        ),
    ],
)
def test_a_slip_of_the_metric_is_told_from_a_fault_of_the_machine(folder, call, statement, expected_code):
    """The exit code is 4 only if the metric is certainly wrong. No submission is rejected in either case."""
    (folder / "rows.py").write_text(ROWS.replace("    if len(", f"    {statement}\n    if len(", 1) + COMPLETE)
    code, out, err = call()
    assert (code, out) == (expected_code, "")
    assert "could not be scored, through no fault of their own (nothing is lost):\n" in err
    assert "(rows.py, line " in err
    assert not (folder / "final" / "rejected.csv").exists()


def test_a_metric_that_fails_for_some_submissions_stops_nobody(folder, call):
    slip = "    if len(submission) > 12: {}['x']\n    if len("
    (folder / "rows.py").write_text(ROWS.replace("    if len(", slip, 1) + COMPLETE)
    code, _, err = call()
    assert code == 0
    assert "raise ParticipantVisibleError" in err
    rejected = pd.read_csv(folder / "final" / "rejected.csv")
    failed = rejected[rejected["reason"].str.startswith("the metric failed: KeyError: 'x' (rows.py, line ")]
    assert len(failed)
    assert all(team in err for team in failed["team"].astype(str).str.zfill(2)[:3])
    leaderboard = pd.read_csv(folder / "final" / "final_leaderboard.csv")
    assert len(leaderboard) + len(rejected) == len(list((folder / "teams").iterdir()))
    assert "the metric failed" in (folder / "final" / "board.html").read_text()
    # The failures are not kept, so that a mended metric or another machine may do better.
    assert f"already in the store: {20 - len(failed)} of 20\n" in call()[2]
    assert cli.main(["verify", str(folder / "final"), "--jobs", "1"]) == 0


def inject(monkeypatch, where: str, times: int) -> None:
    """Let a stage of each submission fail a number of times, each time in another way."""
    module = {"read_bytes": job_module, "read_submission": reading, "evaluate": evaluating}[where]
    real, failed = getattr(module, where), {}
    draw = random.Random(0)

    def failing(*arguments, **options):
        key = str(
            arguments[0] if where == "read_bytes" else len(getattr(arguments[1], "content", arguments[1]))
        )
        of_submission = where != "read_bytes" or "teams" in key
        failed[key] = failed.get(key, 0) + 1
        if of_submission and failed[key] <= times:
            raise draw.choice(FAULTS)
        return real(*arguments, **options)

    monkeypatch.setattr(module, where, failing)


def test_a_damaged_entry_is_made_anew(folder, call):
    call()
    first = (folder / "final" / "final_leaderboard.csv").read_bytes()
    names = store.names(folder / "final" / "store")
    for number, content in enumerate((b"", b"x\ny", None, b"\xff" * 100)):
        path = store.path_of(folder / "final" / "store", names[number])
        path.write_bytes(path.read_bytes()[:-1] if content is None else content)
    code, _, err = call()
    assert code == 0
    assert "trying again after faults: 4 of 4\n" in err
    assert (folder / "final" / "final_leaderboard.csv").read_bytes() == first
    assert call()[2].splitlines()[1] == "already in the store: 20 of 20"


def test_a_solution_that_changes_before_it_is_read_is_noticed(folder):
    metric, solution = str(folder / "rows.py"), str(folder / "solution.csv")
    job = job_module.make_job(Options(solution, metric=metric, out=""), ())
    (folder / "solution.csv").write_text("id\n1\n2\n3\n")
    with pytest.raises(UsageError, match=r"solution: .* has different content .* or has just changed"):
        job_module.solution_of(job)


def test_an_entry_of_another_file_does_not_count(folder, call):
    """The best team's entry is stored under another team's name: its digest is right, but its content
    belongs to another file.
    """
    call()
    kept = folder / "final" / "store"
    by_score = sorted(
        ((store.load(kept, name).header.get("scores") or {"All": -1})["All"], name)
        for name in store.names(kept)
    )
    best, worst = store.path_of(kept, by_score[-1][1]), store.path_of(kept, by_score[1][1])
    worst.write_bytes(best.read_bytes())
    assert call()[0] == 0
    assert scores(folder) == RIGHT


def test_the_bytes_that_are_scored_are_those_that_are_hashed(folder, call, monkeypatch):
    """A file changes just after it was read, and the next run notices that."""
    path = folder / "teams" / "05.csv"
    before, real = path.read_bytes(), reading.read_submission

    def changing(metric, file, *others):
        if file.content == before:
            path.write_text("id\n" + "1\n" * 7)
        return real(metric, file, *others)

    with monkeypatch.context() as patched:
        patched.setattr(reading, "read_submission", changing)
        call()
    table = pd.read_csv(folder / "final" / "all_submissions.csv", dtype={"team": str}).set_index("team")
    assert table.loc["05", "score"] == 5.0
    assert table.loc["05", "sha256"] == hashlib.sha256(before).hexdigest()
    call()
    assert scores(folder)["05"] == 7.0


def test_a_second_run_on_the_folder_is_refused(folder, call):
    (folder / "final").mkdir()
    (folder / "final" / ".lock").write_text("left by a dead process")
    with files.alone_in(folder / "final"):
        code, _, err = call()
        assert (code, err) == (2, f"error: another run is at work in {folder / 'final'}\n")
        assert call(out="other")[0] == 0
    assert call()[0] == 0


def test_a_full_disk_is_said_and_nothing_is_half_written(folder, call, monkeypatch):
    real = store.write_atomically
    written = []

    def full(path, write):
        if len(written) == 7:
            raise OSError(28, "No space left on device", str(path))
        written.append(path)
        real(path, write)

    with monkeypatch.context() as patched:
        patched.setattr(store, "write_atomically", full)
        code, _, err = call()
    assert code == 2
    assert err.splitlines()[-1].startswith("error: No space left on device: ")
    assert entries(folder) == 7
    assert call()[0] == 0
    assert scores(folder) == RIGHT


def test_a_folder_that_cannot_be_written_into_is_said_before_any_work(folder, call, monkeypatch):
    def refused(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(filelock.FileLock, "acquire", refused)
    assert call() == (2, "", f"error: cannot write into {folder / 'final'}: Read-only file system\n")


GREEDY = """
    if len(submission) == 7:
        bytearray(2**29)
    if len(submission) == 8:
        while True:
            try:
                while True:
                    pass
            except Exception:
                pass
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.filterwarnings("ignore::podium.common.errors.ContractWarning")
def test_a_submission_that_exceeds_a_limit_is_rejected_alone(folder, call, monkeypatch, jobs):
    monkeypatch.setattr(limits_module, "_available_memory", lambda: 2**40)
    (folder / "rows.py").write_text(ROWS.replace('    """The', GREEDY + '    """The') + COMPLETE)
    limits = ("--memory-limit", "256M", "--time-limit", "0.8s", "--jobs", jobs)
    assert call(*limits)[0] == 0
    rejected = pd.read_csv(folder / "final" / "rejected.csv", dtype=str)
    assert rejected.to_numpy().tolist() == [
        ["03", "03.csv", "three rows"],
        ["07", "07.csv", "takes more than 256 MB of memory"],
        ["08", "08.csv", "takes more than 0.8 s of processor time"],
    ]
    assert scores(folder) == {team: passes for team, passes in RIGHT.items() if team not in ("07", "08")}
    # --again knows about it, and a run with other limits tries it again.
    again = ["rank", "--again", str(folder / "final"), "--out", str(folder / "other"), "--jobs", "1"]
    assert cli.main(again) == 0
    assert (folder / "other" / "rejected.csv").read_text() == (folder / "final" / "rejected.csv").read_text()
    facts = json.loads((folder / "final" / "run.json").read_text())
    assert facts["limits"] == {"memory": 2**28, "seconds": 0.8, "idle": 60.0}
    (folder / "teams" / "08.csv").unlink()
    code, _, err = call("--memory-limit", "2G")
    assert code == 0, err
    assert "already in the store: 18 of 19\n" in err
    assert scores(folder)["07"] == 7.0


def test_what_a_full_machine_refuses_is_a_fault(folder, call):
    (folder / "rows.py").write_text(ROWS.replace('    """The', GREEDY + '    """The') + COMPLETE)
    (folder / "teams" / "08.csv").unlink()
    code, _, err = call("--memory-limit", "256M")
    assert code == 2
    assert "1 submission could not be scored, through no fault of its own" in err


def test_work_that_always_raises_ends_in_a_sentence(tmp_path):
    def broken(things):
        raise KeyError("x")

    calls = []
    submissions = [Submission("a", "a.csv", "a.csv"), Submission("b", "b.csv", "b.csv")]
    pool = Pool(SimpleNamespace(solution="solution"), tmp_path, Workers(None, 1))
    with pytest.raises(UsageError, match=r"^KeyError: 'x'$"):
        pool.read_again(lambda solution, things: calls.append(things) or broken(things), submissions, "again")
    assert len(calls) == 2


def workers_of(command: int) -> list[int]:
    """The workers of a command whose metric is a custom one, which stands in a child of its own."""
    return [worker for child in children_of(command) for worker in children_of(child)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
# The metric of this test counts rows, so that the solution itself is not the best submission.
@pytest.mark.filterwarnings("ignore::podium.common.errors.ContractWarning")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_it_leaves_no_worker_behind_and_goes_on(folder, call, how):
    """Ctrl-C reaches all processes of a terminal, and workers are still importing then."""
    # Submissions of ten rows and more wait until they are let go, so the run is stopped in its middle.
    wait = f"import os, time\n    while len(submission) >= 10 and not os.path.exists({str(folder / 'go')!r}):"
    waiting = ROWS.replace("return", f"{wait}\n        time.sleep(0.02)\n    return", 1)
    (folder / "rows.py").write_text(waiting + COMPLETE)
    arguments = [folder / "solution.csv", folder / "teams", "--metric", folder / "rows.py", "--jobs", 2]
    command = [sys.executable, "-m", "podium", "rank", *map(str, arguments), "--out", str(folder / "final")]
    listens = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True, **listens)
    try:
        assert wait_until(lambda: len(workers_of(run.pid)) >= 2)
        assert how == signal.SIGINT or wait_until(lambda: entries(folder) >= 5)
        workers = workers_of(run.pid)
        (os.killpg if how == signal.SIGINT else os.kill)(run.pid, how)
        _, err = run.communicate(timeout=SECONDS)
    finally:
        run.kill()
        run.wait()
    assert wait_until(lambda: not any(map(is_running, workers)))
    if how == signal.SIGINT:
        assert (run.returncode, err.splitlines()[-1]) == (130, "interrupted")
        assert "Traceback" not in err
    done = entries(folder)
    assert done < 20
    assert not (folder / "final" / "run.json").exists()
    (folder / "go").touch()
    code, _, err = call()
    assert code == 0
    assert (f"already in the store: {done} of 20\n" in err) == (done > 0)
    assert scores(folder) == RIGHT


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("dies", "how"),
    [
        ("import ctypes; ctypes.string_at(0)", "it gave no result twice: signal 11 (SIGSEGV)"),
        ("import os; os._exit(0)", "it gave no result twice: exit code 0"),
        ("import os; os._exit(1)", "it gave no result twice: exit code 1"),
        ("import os; os.kill(os.getpid(), 9)", passes.KILLED),
    ],
)
def test_a_submission_on_which_the_metric_dies_stops_nobody_else(folder, jobs, dies, how):
    """One submission kills its process, twice, and the board of the others is made."""
    dying = f'if len(submission) == 7: {dies}\n    """The number'
    (folder / "rows.py").write_text(ROWS.replace('"""The number', dying) + COMPLETE)
    arguments = [folder / "solution.csv", folder / "teams", "--metric", folder / "rows.py", "--jobs", jobs]
    done = subprocess.run(
        [sys.executable, "-m", "podium", "rank", *map(str, arguments), "--out", str(folder / "final")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "the metric failed for 1 file of 07, so it does not count" in done.stderr
    rejected = pd.read_csv(folder / "final" / "rejected.csv", dtype=str).set_index("team")["reason"]
    assert rejected["07"] == f"the metric failed: {how}"
    assert entries(folder) == 19  # and one that is not kept for good


def test_a_metric_that_dies_on_everything_is_the_host_s(folder):
    dying = 'import os; os._exit(3)\n    """The number'
    (folder / "rows.py").write_text(ROWS.replace('"""The number', dying) + COMPLETE)
    arguments = [folder / "solution.csv", folder / "teams", "--metric", folder / "rows.py", "--jobs", 2]
    done = subprocess.run(
        [sys.executable, "-m", "podium", "rank", *map(str, arguments), "--out", str(folder / "final")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 4, done.stderr
    assert "it gave no result twice: exit code 3" in done.stderr


def test_where_any_submission_may_be_killed_it_is_the_machine(folder):
    """The first file by name has a score, and is killed as well when it is scored once more."""
    seen = folder / "seen"
    killed = f"""import os, pathlib
    seen = pathlib.Path({str(seen)!r})
    me = str(os.getpid())
    if len(submission) == 7 or (len(submission) == 0 and seen.exists() and seen.read_text() != me):
        os.kill(os.getpid(), 9)
    if len(submission) == 0:
        seen.write_text(me)
    \"\"\"The number"""
    (folder / "rows.py").write_text(ROWS.replace('"""The number', killed) + COMPLETE)
    arguments = [folder / "solution.csv", folder / "teams", "--metric", folder / "rows.py", "--jobs", 1]
    done = subprocess.run(
        [sys.executable, "-m", "podium", "rank", *map(str, arguments), "--out", str(folder / "final")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert "1 submission could not be scored, through no fault of its own" in done.stderr


def test_a_submission_may_be_ten_times_as_large_as_the_solution(folder, call, monkeypatch):
    monkeypatch.setattr(job_module, "BYTES_AT_ANY_RATIO", 0)
    solution = reading.read_solution(hosted.load(folder / "rows.py"), folder / "solution.csv", {})
    most = 10 * int(solution.memory_usage(index=False, deep=True).sum())
    shutil.rmtree(folder / "teams")
    (folder / "teams").mkdir()
    for name, size in (("as large", most), ("larger", most + 1)):
        (folder / "teams" / f"{name}.csv").write_text("id\n1\n".ljust(size, "\n"))
    assert call()[0] == 0
    rejected = pd.read_csv(folder / "final" / "rejected.csv")
    assert rejected["team"].tolist() == ["larger"]
