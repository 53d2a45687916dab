"""Run a metric file in a fresh process, as Kaggle does (see `podium.hosting.kernel`)."""

import contextlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from podium.errors import HostError, UsageError
from podium.hosting import kernel

TIME_LIMIT = 1800.0  # seconds for Public and Private together


def read_source(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise HostError(f"{path} is not UTF-8 text: {problem}") from None


def columns_of(frame: pd.DataFrame) -> dict[Any, Any]:
    """For any version of pandas."""
    return {
        name: values.to_numpy() if values.dtype.kind in "biuf" else values.astype(object).tolist()
        for name, values in frame.items()
    }


def run_fresh(
    do: str, python: str = sys.executable, seconds: float | None = None, **task: Any
) -> dict[str, Any]:
    limit = TIME_LIMIT if seconds is None else seconds
    with tempfile.TemporaryDirectory() as folder:
        task_file, answer_file, workplace = (Path(folder, name) for name in ("task", "answer", "workplace"))
        task_file.write_bytes(pickle.dumps(task | {"do": do}))
        workplace.mkdir()
        command = [python, "-I", kernel.__file__, str(task_file), str(answer_file)]
        try:
            done = subprocess.run(
                command, cwd=workplace, capture_output=True, stdin=subprocess.DEVNULL, timeout=limit
            )
        except subprocess.TimeoutExpired:
            raise HostError(f"the metric file is still running after {limit:,.0f} s") from None
        if answer_file.exists():
            return dict(json.loads(answer_file.read_text(encoding="utf-8")))
    raise HostError(
        f"the metric file ended its process with exit code {done.returncode}. {_last_line(done)}".strip()
    )


def pins() -> Path:
    """The versions of Kaggle's image."""
    beside = Path(__file__).with_name("hosted.txt")
    return beside if beside.is_file() else Path(__file__).parents[2] / ".ci" / "hosted.txt"


@contextlib.contextmanager
def environment(version: str | None, packages: list[str]) -> Iterator[str]:
    """The Python of a new environment with `packages` as Kaggle has them; without a version, this one."""
    if version is None:
        yield sys.executable
        return
    python = shutil.which(f"python{version}") or shutil.which(version)
    if python is None:
        raise UsageError(f"there is no Python {version} on this machine: expected a program python{version}")
    with tempfile.TemporaryDirectory() as folder:
        _run([python, "-m", "venv", folder], f"Python {version} makes no environment")
        inside = str(Path(folder, "Scripts" if os.name == "nt" else "bin", "python"))
        install = [inside, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", str(pins())]
        _run([*install, *packages], f"{' and '.join(packages)} cannot be installed for Python {version}")
        yield inside


def _run(command: list[str], failure: str) -> None:
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise UsageError(f"{failure}: {_last_line(done) or 'no reason given'}")


def _last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    return (done.stderr or done.stdout).decode(errors="replace").strip().rpartition("\n")[2]
