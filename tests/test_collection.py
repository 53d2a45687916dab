"""Every process collects the same tests."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_names_of_tests_depend_neither_on_the_second_nor_on_the_order_of_sets():
    """Otherwise pytest-xdist, whose workers collect on their own, refuses to run anything."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-o",
        "addopts=",
        "-p",
        "no:cacheprovider",
    ]
    started = []
    for seed in "12":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        started.append(subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE))
        time.sleep(1.1)  # so that times in whole seconds differ
    first, second = (process.communicate()[0].splitlines()[:-1] for process in started)
    assert [process.returncode for process in started] == [0, 0], first[-20:]
    assert len(first) > 1000
    assert first == second
