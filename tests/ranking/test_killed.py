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
SECONDS = 60  # the longest wait; workers end within a second


def children_of(process: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_kill_9_leaves_no_worker_behind(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "solution.csv").write_text("id\n1\n")
    (tmp_path / "teams").mkdir()
    for team in ("Ada", "Bo"):
        (tmp_path / "teams" / f"{team}.csv").write_text("id\n1\n")
    files = [tmp_path / "solution.csv", tmp_path / "teams", "--metric", tmp_path / "slow.py"]
    command = [sys.executable, "-m", "podium", "rank", *files, "--out", tmp_path / "final", "--jobs", "2"]
    run = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL)
    try:
        # There are two workers and the resource tracker of multiprocessing.
        assert wait_until(lambda: len(children_of(run.pid)) >= 3)
        workers = children_of(run.pid)
    finally:
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    assert wait_until(lambda: not any(map(is_running, workers)))
    assert not (tmp_path / "final" / "run.json").exists()
