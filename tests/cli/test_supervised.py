"""A command whose metric dies, waits or leaves something behind says so, and ends with all that was begun."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from podium.child import processes
from tests.support.processes import SECONDS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

METRIC = '''"""Accuracy."""

import ctypes
import os
import threading
import time

import pandas as pd


class ParticipantVisibleError(Exception):
    pass


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Share of the rows that are right."""
    if os.environ.get("DIES"):
        {line}
    both = solution.merge(submission, on=row_id_column_name, suffixes=("", "_guess"))
    return float((both["y"] == both["y_guess"]).mean())


def higher_is_better() -> bool:
    return True
'''
DEADLY = {
    "crash": "ctypes.string_at(0)",
    "exit0": "os._exit(0)",
    "exit1": "os._exit(1)",
    "closes": "os.closerange(0, 100) or os._exit(0)",
    "stops": "os.kill(os.getpid(), 19)",
    "leaves": "os.fork() and os._exit(0) or time.sleep(100_000)",
}
LEAVING = {
    "thread": "threading.Thread(target=time.sleep, args=(100_000,)).start()",
    "child": "os.fork() or time.sleep(100_000)",
    "session": "os.fork() or (os.setsid(), time.sleep(100_000))",
}
WAITING = {"sleeps": "time.sleep(100_000)"}
STRAY = """for number in range(30):
            try:
                os.write(number, b"\\x00\\x1b[2J")
            except OSError:
                continue
        """
OTHERS = {
    "busy": "while True: pass",
    "infinite": 'return float("inf")',
    "strays": STRAY,
    "strays and ends": f"{STRAY}os._exit(5)",
}
LINES = DEADLY | LEAVING | WAITING
COMMANDS = {
    "score": "score solution.csv guess.csv --metric {metric}",
    "check": "check {metric} solution.csv guess.csv",
    "emulate": "emulate {metric} solution.csv guess.csv",
    "rank": "rank solution.csv teams --metric {metric} --no-boost --resamples 0 --out out --jobs 1",
    "make": "make labels.csv --metric {metric} --out made2",
    "bundle": "bundle codabench made --title T --metric {metric} --start 2027-01-15 --switch 2027-04-01 "
    "--end 2027-04-15 --out bundle",
    "verify": "verify board --jobs 1",
}
HAS_IDLE_LIMIT = ("score", "check", "emulate", "rank")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The metrics, and files that each command takes, made while they do not die."""
    folder = tmp_path_factory.mktemp("dies")
    for name, line in (LINES | OTHERS).items():
        (folder / f"{name}.py").write_text(METRIC.replace("{line}", line))
    truth = [number * number % 7 % 2 for number in range(40)]
    parts = ["Public", "Private"] * 20
    rows = [f"{number},{y},{part}" for number, (y, part) in enumerate(zip(truth, parts), 1)]
    (folder / "solution.csv").write_text("\n".join(["id,y,Usage", *rows, ""]))
    guess = "\n".join(["id,y", *(f"{number},{number % 2}" for number in range(1, 41)), ""])
    (folder / "guess.csv").write_text(guess)
    (folder / "labels.csv").write_text("\n".join(["id,y", *(f"{n},{n * n % 7 % 2}" for n in range(1, 81)), ""]))
    (folder / "teams").mkdir()
    for team in "AB":
        (folder / "teams" / f"{team}.csv").write_text(guess)
    return folder


def podium(
    folder: Path, command: str | list[str], *, dies: bool = True, **more: object
) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process of its own."""
    given = {
        "cwd": folder,
        "env": os.environ | {"DIES": "1" if dies else ""},
        "text": True,
        "timeout": SECONDS,
    } | more
    words = command.split() if isinstance(command, str) else command
    return subprocess.run([sys.executable, "-m", "podium", *words], capture_output=True, **given)


def running(folder: Path) -> list[str]:
    """List the processes whose working folder this is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(folder):
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "options", "told"),
    [
        ("exit0", "", "the metric ended its process before there was a result: exit code 0"),
        ("crash", "", "the metric crashed its process before there was a result: signal 11 (SIGSEGV)"),
        ("stops", "", "the metric stopped its process before there was a result: signal 19 (SIGSTOP)"),
        ("sleeps", "--idle-limit 1s", "gave no result: it has used no processor time for 1 s (--idle-limit)"),
        ("busy", "--time-limit 1s", "it has used more than 1 s of processor time (--time-limit)"),
        ("infinite", "", "error: infinite.py, line 15: score(): expected a finite float"),
        ("session", "", ""),  # what it leaves behind ends with the command
        ("strays", "", ""),  # a zero on the pipe on which a child tells its exit code is no result
        ("strays and ends", "", "the metric ended its process before there was a result: exit code 5"),
    ],
)
def test_how_a_metric_ends_its_process_is_told(files, metric, options, told):
    given = ["score", "solution.csv", "guess.csv", "--metric", f"{metric}.py", *options.split()]
    terminal, opened = os.openpty()
    done = podium(files, given, stdin=opened)
    assert not select.select([terminal], [], [], 0)[0]  # nothing was written there
    os.close(opened)
    os.close(terminal)
    assert (done.returncode, "Score" in done.stdout) == ((4, False) if told else (0, True)), done.stderr
    assert told in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert running(files) == []


@pytest.mark.parametrize(
    "pause", [0.5, *(pytest.param(milliseconds / 1000, marks=pytest.mark.slow) for milliseconds in range(5))]
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_command_with_its_child(files, number, pause):
    """Also in the moment in which the child begins."""
    command = [sys.executable, "-m", "podium", *COMMANDS["score"].format(metric="sleeps.py").split()]
    process = subprocess.Popen(
        command, cwd=files, env=os.environ | {"DIES": "1"}, stderr=subprocess.PIPE, text=True
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until = time.monotonic() + SECONDS
    while not children.read_text() and time.monotonic() < until:
        time.sleep(0.0002)
    time.sleep(pause)
    process.send_signal(number)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == (-signal.SIGTERM if number == signal.SIGTERM else 130)
    assert ("interrupted" in said) == (number == signal.SIGINT)
    assert "Traceback" not in said
    assert running(files) == []


def test_podium_s_own_metrics_stay_in_the_process(monkeypatch):
    from podium import cli

    monkeypatch.setattr(cli, "supervised", lambda work, patience: 77)
    samples = Path(__file__).parents[2]
    given = ["score", str(samples / "solution_sample.csv"), str(samples / "sample_submission.csv"), "--bare"]
    assert cli.main(given, apart=True) == 0
    assert cli.main([*given, "--metric", str(samples / "metric.py")], apart=True) == 77


@pytest.mark.slow
@pytest.mark.parametrize("metric", LINES)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_ends_with_0_unless_it_said_its_result(files, tmp_path, command, metric):
    if metric in WAITING and command not in HAS_IDLE_LIMIT:
        pytest.skip("it ends after a minute, or ten")
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    before = {
        "bundle": f"make labels.csv --metric {metric}.py --out made",
        "verify": COMMANDS["rank"].format(metric=f"{metric}.py").replace("--out out", "--out board"),
    }
    if command in before:
        made = podium(tmp_path, before[command], dies=False)
        assert made.returncode == 0, made.stderr
    idle = " --idle-limit 2s" if metric in WAITING else ""
    done = podium(tmp_path, COMMANDS[command].format(metric=f"{metric}.py") + idle)
    assert "Traceback" not in done.stderr
    assert running(tmp_path) == []
    if metric in LEAVING:
        assert done.returncode == 0, done.stderr
        assert done.stdout
    else:
        assert done.returncode in (1, 2, 3, 4)
        assert done.stderr


def test_the_time_of_what_has_ended_counts():
    """A process that has burnt a second is counted with its parent, and nobody else is."""
    before = processes.processor_seconds(os.getpid())[0]
    burn = "import time\nwhile time.process_time() < .3: pass\nprint(flush=True)\nimport sys; sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    assert processes.processor_seconds(os.getpid())[0] - before >= 0.25
    process.communicate()
