"""No trap in a stranger's folder goes off: what is started, opened and executed there is watched."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from podium import cli
from tests.support import bytecode

ROOT = Path(__file__).parents[2]
FILES = {
    "metric.py": """import pandas as pd
from .helper import share

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    return share(solution, submission)

def higher_is_better() -> bool:
    return True
""",
    "helper.py": """def share(solution, submission):
    return float((solution["label"] == submission["label"]).mean())
""",
    "companion.py": """from podium.metric.contract import Companion
from . import metric

companion = Companion()
""",
    "solution.csv": "id,label,Usage\n" + "".join(f"r{row},{'ab'[row % 2]},Private\n" for row in range(60)),
    "subs/A.csv": "id,label\n" + "".join(f"r{row},{'ab'[row % 7 % 2]}\n" for row in range(60)),
    "subs/B.csv": "id,label\n" + "".join(f"r{row},{'ab'[row % 5 % 2]}\n" for row in range(60)),
}
# Python imports this in every process of the command before anything else.
WATCH = """import os, sys

log = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def note(event, given):
    if event in ("open", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"):
        what = os.fsdecode(given[0]) if isinstance(given[0], (str, bytes)) else ""
    elif event == "exec":
        what = given[0].co_filename
    else:
        return
    os.write(log, f"{{event}}\\t{{os.path.abspath(what)}}\\n".encode("utf-8", "surrogateescape"))

sys.addaudithook(note)
"""
MODULES = (
    "pandas.py", "sitecustomize.py", "usercustomize.py", "conftest.py", "podium.py", "helper/__init__.py",
    "metric/__init__.py", "companion/__init__.py", "numpy/__init__.py", "__init__.py", "subs/conftest.py",
)  # fmt: skip
GIT = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C"]


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A published board with its inputs, among which are a companion and a helper of the metric."""
    inputs, final = tmp_path / "board" / "inputs", tmp_path / "board" / "final"
    (inputs / "subs").mkdir(parents=True)
    for name, text in FILES.items():
        (inputs / name).write_text(text)
    options = ["--metric", str(inputs), "--no-boost", "--resamples", "0", "--jobs", "1", "--out", str(final)]
    assert cli.main(["rank", str(inputs / "solution.csv"), str(inputs / "subs"), *options]) == 0
    return tmp_path / "board"


def set_traps(inputs: Path, trap: Path) -> set[Path]:
    """Set traps of all sorts in a folder, and list their files."""
    before, code = {*inputs.rglob("*")}, f"import pathlib\npathlib.Path({str(trap)!r}).touch()\n"
    for name in MODULES:
        (inputs / name).parent.mkdir(exist_ok=True)
        (inputs / name).write_text(code)
    for name in ("helper", "metric", "companion"):
        bytecode.unchecked(code, inputs / f"{name}.pyc")
        bytecode.unchecked(code, inputs / "__pycache__" / f"{name}.{sys.implementation.cache_tag}.pyc")
    for name in ("evil.sh", "git", "post-checkout"):
        (inputs / name).write_text(f"#!/bin/sh\ntouch {trap}\ncat\n")
        (inputs / name).chmod(0o755)
    if shutil.which("git"):
        for command in (["init", "-q"], ["add", "metric.py"], ["commit", "-qm", "x"]):
            subprocess.run([*GIT, inputs, *command], check=True)
        evil = str(inputs / "evil.sh")
        for name, value in {"core.fsmonitor": evil, "filter.x.clean": evil, "core.hooksPath": "."}.items():
            subprocess.run([*GIT, inputs, "config", name, value], check=True)
    texts = {
        ".gitattributes": "*.py filter=x\n",
        ".env": "PYTHONSTARTUP=conftest.py\n",
        "pyvenv.cfg": "home = .\n",
    }
    for name, text in (texts | {"podium.toml": "metric = 'conftest.py'\n"}).items():
        (inputs / name).write_text(text)
    (inputs / "subs" / "link.csv").symlink_to("/etc/hostname")
    (inputs / "loop").symlink_to(inputs)
    for name in ("words.py", "subs/pipe.csv", "notes"):
        os.mkfifo(inputs / name)
    return {*inputs.rglob("*")} - before


Watched = tuple[subprocess.CompletedProcess[str], set[str], set[str]]


def watched(command: list[str], folder: Path, home: Path) -> Watched:
    """Run podium in a folder: what became of it, the programs that it started, the files that it touched."""
    (home / "watch").mkdir()
    (home / "watch" / "sitecustomize.py").write_text(WATCH.format(log=str(home / "log")))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(home / "watch"), str(ROOT)])}
    strace = ["strace", "-f", "-qq", "-e", "trace=execve", "-o", str(home / "started")]
    is_traced = shutil.which("strace") and subprocess.run([*strace, "true"]).returncode == 0
    python = [sys.executable, "-P", "-c", "from podium.cli import process; process()"]
    start = [*(strace if is_traced else []), *python, *command]
    done = subprocess.run(start, cwd=folder, env=environment, capture_output=True, text=True)
    noted = [line.split("\t") for line in (home / "log").read_text(errors="surrogateescape").splitlines()]
    started = {what for event, what in noted if event not in ("open", "exec")}
    if is_traced:
        calls = (home / "started").read_text().splitlines()
        started |= {call.partition('execve("')[2].partition('"')[0] for call in calls} - {""}
    return done, started, {what for event, what in noted if event in ("open", "exec")}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names only on POSIX systems")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["verify", "../final", "--jobs", "2"], 1),
        (["rank", "solution.csv", "subs", "--metric", ".", "--resamples", "0", "--out", "../other"], 0),
    ],
    ids=["verify", "rank"],
)
def test_no_trap_in_a_stranger_s_folder_goes_off(
    board: Path, tmp_path: Path, command: list[str], code: int
) -> None:
    inputs, trap = board / "inputs", tmp_path / "SPRUNG"
    traps = set_traps(inputs, trap)
    done, started, touched = watched(command, inputs, tmp_path)
    assert done.returncode == code, done.stderr
    assert not trap.exists()
    assert {os.path.realpath(each) for each in started} <= {os.path.realpath(sys.executable)}
    assert {str(inputs / "helper.py"), str(inputs / "companion.py")} <= touched  # the watch sees what is opened
    assert touched.isdisjoint(map(str, traps))
    if command[0] == "verify":
        told = [line for line in done.stderr.splitlines() if "among the submissions" in line]
        said = "it is among the submissions, but run.json does not name it"
        assert told == [f"link/link.csv: {said}", f"pipe/pipe.csv: {said}"]
