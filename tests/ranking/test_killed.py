"""A run that is killed leaves no worker process behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SLOW = """
import time

def score(solution, submission, row_id_column_name):
    time.sleep(600)
    return 0.5
"""
SECONDS = 300  # the longest wait; workers end within a second, but the machine may be very busy


def children_of(process: int) -> list[int]:
    """The processes that a process has started."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for children in threads for child in children.read_text().split()]


def is_running(process: int) -> bool:
    """Whether a process runs and is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(fits) -> bool:
    """Whether a condition comes true in time."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if fits():
            return True
        time.sleep(0.05)
    return False


def slow_run(folder: Path) -> list[str]:
    """The command of a run with two workers that would take ten minutes."""
    (folder / "slow.py").write_text(SLOW)
    (folder / "solution.csv").write_text("id\n1\n")
    (folder / "teams").mkdir()
    for team in ("Ada", "Bo"):
        (folder / "teams" / f"{team}.csv").write_text("id\n1\n")
    files = [folder / "solution.csv", folder / "teams", "--metric", folder / "slow.py"]
    command = [sys.executable, "-m", "podium", "rank", *files, "--out", folder / "final", "--jobs", "2"]
    return list(map(str, command))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_worker_behind(tmp_path, how):
    """Ctrl-C reaches all processes of a terminal, and workers are still importing then."""
    listens = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    run = subprocess.Popen(
        slow_run(tmp_path), stderr=subprocess.PIPE, text=True, start_new_session=True, **listens
    )
    try:
        assert wait_until(lambda: len(children_of(run.pid)) >= 2)
        workers = children_of(run.pid)
        (os.killpg if how == signal.SIGINT else os.kill)(run.pid, how)
        _, err = run.communicate(timeout=SECONDS)
    finally:
        run.kill()
        run.wait()
    assert wait_until(lambda: not any(map(is_running, workers)))
    assert not (tmp_path / "final" / "run.json").exists()
    if how == signal.SIGINT:
        assert (run.returncode, err.splitlines()[-1]) == (130, "interrupted")
        assert "Traceback" not in err
