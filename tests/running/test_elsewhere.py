"""On Windows and macOS, which are played here, one's own models run with --engine none."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.support import SUBMIT, write_model

# These modules are imported before, because they may look at the system.
PLAYED = """
import sys
import asyncio, contextlib, ctypes, json, os, subprocess, tempfile, threading, urllib.request, warnings
import numpy, pandas
for name in {modules}:
    sys.modules[name] = None
for name in {names}:
    if hasattr(os, name):
        delattr(os, name)
sys.platform = {platform!r}
"""
UNIX = ["geteuid", "wait4", "getuid", "getgid", "getloadavg", "sysconf", "uname", "killpg", "O_NOFOLLOW"]
LINUX = ["sched_getaffinity", "sched_setaffinity"]
MODULES = {"bare": ["resource", "pwd", "grp", "termios"], "darwin": []}
NAMES = {"bare": LINUX + UNIX, "darwin": LINUX}
RUN = """
from podium.cli import main
print(main({arguments!r}))
os.environ["PATH"] = ""
print(main([word if word != "none" else "bubblewrap" for word in {arguments!r}]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["bare", "darwin"])
def test_one_s_own_models_run_on_other_systems_and_the_sandbox_is_for_linux(
    tmp_path: Path, platform: str
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    write_model(tmp_path / "models" / "Good", "print('hello')\n" + SUBMIT)
    write_model(tmp_path / "models" / "Endless", "import time; time.sleep(1000)")
    arguments = ["run", str(tmp_path / "models"), "--data", str(data), "--out", str(out)]
    arguments += ["--engine", "none", "--repeats", "1", "--time-limit", "5s"]
    code = PLAYED.format(modules=MODULES[platform], names=NAMES[platform], platform=platform)
    code += RUN.format(arguments=arguments)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert "models with predictions: 1, failed: 1" in done.stdout, done.stderr
    assert done.stdout.split("\n")[-3:] == ["0", "2", ""]
    assert (
        "no sandbox: bwrap is not here (apt-get install bubblewrap; Linux only). --engine none" in done.stderr
    )
    assert "Endless,,time limit of 5 s (--time-limit),none" in (out / "failed.csv").read_text(encoding="utf-8")
    assert "hello" in (out / "logs" / "Good" / "run.1.txt").read_text(encoding="utf-8")
