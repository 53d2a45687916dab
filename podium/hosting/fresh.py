"""Run a metric file in a fresh process, as Kaggle does (see `podium.hosting.kernel`)."""

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

from podium.errors import HostError, UsageError
from podium.files import alone_in
from podium.hosting import kernel

PROGRESS = ("Collecting", "Downloading", "Building", "Installing")  # with which pip's lines of progress begin
LONGEST_LINE, LINES_SHOWN = 100, 10
TIME_LIMIT = 1800.0  # seconds for Public and Private together


def read_source(path: Path) -> str:
    """The text of a metric file; `HostError` if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise HostError(f"{path} is not UTF-8 text: {problem}") from None


def columns_of(frame: pd.DataFrame) -> dict[Any, Any]:
    """A table's columns as any version of pandas can make it again."""
    return {
        name: values.to_numpy() if values.dtype.kind in "biuf" else values.astype(object).tolist()
        for name, values in frame.items()
    }


def run_fresh(
    do: str,
    python: str = sys.executable,
    seconds: float | None = None,
    program: str = kernel.__file__,
    **task: Any,
) -> dict[str, Any]:
    """Do a task of a program in a process of its own, which shares nothing with this one.

    Parameters
    ----------
    do : str
        The task, as the program names it.
    python : str
        The interpreter.
    seconds : float, optional
        After which it is given up (default: `TIME_LIMIT`).
    program : str
        The script to run; it gets two paths, of the task and of the answer.
    **task : object
        The task's arguments, which can be pickled.

    Returns
    -------
    dict
        The answer.

    Raises
    ------
    HostError
        The process takes too long or ends without an answer.
    """
    limit = TIME_LIMIT if seconds is None else seconds
    with tempfile.TemporaryDirectory() as folder:
        task_file, answer_file, workplace = (Path(folder, name) for name in ("task", "answer", "workplace"))
        task_file.write_bytes(pickle.dumps(task | {"do": do}))
        workplace.mkdir()
        command = [python, "-I", program, str(task_file), str(answer_file)]
        try:
            done = subprocess.run(
                command, cwd=workplace, capture_output=True, stdin=subprocess.DEVNULL, timeout=limit
            )
        except subprocess.TimeoutExpired:
            raise HostError(f"the metric file is still running after {limit:,.0f} s") from None
        if answer_file.exists():
            return dict(json.loads(answer_file.read_text(encoding="utf-8")))
    raise HostError(
        f"the metric file ended its process with exit code {done.returncode}. {_end_of(done, 1)}".strip()
    )


def pins() -> Path:
    """The versions of Kaggle's image."""
    beside = Path(__file__).with_name("hosted.txt")
    return beside if beside.is_file() else Path(__file__).parents[2] / ".ci" / "hosted.txt"


def environment(version: str | None, packages: Collection[str]) -> str:
    """The interpreter of an environment with some packages, in Kaggle's versions where these are known.

    It is made once and kept in the user's cache: the same Python, packages and pins have the same environment.

    Parameters
    ----------
    version : str or None
        Of Python, such as "3.12", or the name of a program; None for the interpreter that runs this.
    packages : collection of str
        To be installed, as pip names them.

    Returns
    -------
    str
        The path of the interpreter.

    Raises
    ------
    UsageError
        There is no such Python, or a package cannot be installed; with the end of what pip said.
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
        print(f"installing {names} for Python {version} in {folder}, once", file=sys.stderr, flush=True)
        make = [python, "-m", "venv", "--clear", str(folder / "environment")]
        _run(make, f"Python {version} makes no environment")
        _run([*install, *sorted(packages)], f"{names} cannot be installed for Python {version}", shown=True)
        finished.touch()
    return str(inside)


def cache() -> Path:
    """Where environments are kept."""
    top = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(top, "podium", "environments")


def _run(command: list[str], failure: str, shown: bool = False) -> str:
    """What a command prints; its lines are shown while it runs, if `shown`."""
    lines = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            lines.append(line.rstrip())
            if shown and line.startswith(PROGRESS):
                print(f"  {line.rstrip()[:LONGEST_LINE]}", file=sys.stderr, flush=True)
    said = "\n".join(lines[-LINES_SHOWN:]).strip()
    if process.returncode:
        raise UsageError(f"{failure}:\n{said or 'no reason given'}")
    return said


def _end_of(done: subprocess.CompletedProcess[bytes], number: int) -> str:
    """The last lines that a process printed, errors first."""
    return "\n".join((done.stderr or done.stdout).decode(errors="replace").strip().splitlines()[-number:])
