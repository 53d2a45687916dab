"""Run a metric file in a fresh process, as Kaggle does (see `podium.hosting.kaggle.kernel`)."""

import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

from podium.child.processes import ending
from podium.child.programs import run_and_end
from podium.hosting.kaggle import kernel
from podium.tables.files import alone_in
from podium.words.errors import HostError, UsageError

LINES_SHOWN = 10  # of what pip prints
TIME_LIMIT = 1800.0  # seconds that Kaggle allows for the Public and the Private part together


def read_source(path: Path) -> str:
    """Read the text of a metric file."""
    try:
        source = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise HostError(f"{path} is not UTF-8 text: {problem}") from None
    if source.startswith("\ufeff"):
        raise HostError(f"{path} begins with a byte order mark: save it as UTF-8 without BOM")
    return source


def columns_of(frame: pd.DataFrame) -> dict[Any, Any]:
    """Take a table apart into columns from which any version of pandas can make it again."""
    return {
        name: values.to_numpy() if values.dtype.kind in "biuf" else values.astype(object).tolist()
        for name, values in frame.items()
    }


def run_fresh(
    do: str, python: str = sys.executable, seconds: float | None = None, **task: Any
) -> dict[str, Any]:
    """Let `podium.hosting.kaggle.kernel` do a task in a process that shares nothing with this one.

    A task that has `as_before` gets texts as those of pandas 2.
    """
    limit = TIME_LIMIT if seconds is None else seconds
    with tempfile.TemporaryDirectory() as folder:
        task_file, answer_file, workplace = (Path(folder, name) for name in ("task", "answer", "workplace"))
        task_file.write_bytes(pickle.dumps(task | {"do": do}))
        workplace.mkdir()
        (workplace / "submission.csv").write_text("id,y\n")  # for a metric that deletes files
        command = [python, "-I", kernel.__file__, str(task_file), str(answer_file)]
        code, out, err = run_and_end(command, workplace, limit)
        if answer_file.exists():
            return dict(json.loads(answer_file.read_text(encoding="utf-8")))
    if code is None:
        raise HostError(f"the metric file is still running after {limit:,.0f} s")
    last = (err or out).decode(errors="replace").strip().splitlines()[-1:]
    raise HostError(". ".join([f"the metric file ended its process: {ending(code)}", *last]))


def pins() -> Path:
    """Find the file with the versions of the libraries in Kaggle's image."""
    beside = Path(__file__).with_name("hosted.txt")
    return beside if beside.is_file() else Path(__file__).parents[3] / ".ci" / "hosted.txt"


def differs_from_kaggle() -> str:
    """Name the two versions of pandas, if this one is 3 or newer and Kaggle's is older; else nothing."""
    theirs = next(line.partition("==")[2] for line in pins().read_text("utf-8").split() if "pandas==" in line)
    older = int(theirs.partition(".")[0]) < 3 <= int(pd.__version__.partition(".")[0])
    return f"with pandas {theirs} instead of {pd.__version__}" if older else ""


def environment(version: str | None, packages: Collection[str]) -> str:
    """Make an environment with some packages, in Kaggle's versions where these are known.

    It is made once and kept in the user's cache.  The same version of Python, packages and constraints share
    one environment.
    """
    if version is None:
        return sys.executable
    python = shutil.which(f"python{version}") or shutil.which(version)
    if python is None:
        raise UsageError(f"there is no Python {version} on this machine: expected a program python{version}")
    said = _run([python, "-c", "import sys; print(sys.version)"], f"Python {version} does not start")
    key = "\n".join([said, *sorted(packages), pins().read_text(encoding="utf-8")])
    folder = cache() / f"{Path(python).name}-{sha256(key.encode()).hexdigest()[:16]}"
    inside = folder / "environment" / ("Scripts" if os.name == "nt" else "bin") / "python"
    finished = folder / "finished"
    install = [str(inside), "-m", "pip", "install", "--disable-pip-version-check", "-c", str(pins())]
    with alone_in(folder):
        if finished.exists():
            return str(inside)
        names = ", ".join(sorted(packages))
        print(
            f"installing {names} for Python {version} in {folder}, once; this takes a minute",
            file=sys.stderr,
            flush=True,
        )
        make = [python, "-m", "venv", "--clear", str(folder / "environment")]
        _run(make, f"Python {version} makes no environment")
        _run([*install, *sorted(packages)], f"{names} cannot be installed for Python {version}")
        finished.touch()
    return str(inside)


def cache() -> Path:
    """Find the folder in which environments are kept."""
    top = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(top, "podium", "environments")


def _run(command: list[str], failure: str) -> str:
    """Run a command and return the end of what it printed."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    said = "\n".join(done.stdout.splitlines()[-LINES_SHOWN:]).strip()
    if done.returncode:
        raise UsageError(f"{failure}:\n{said or 'no reason given'}")
    return said
