"""Write models into folders, run them, and find out whether this machine has a sandbox."""

import csv
import functools
import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from podium.running import control_group, machine
from podium.running.measuring import Log, Run
from podium.running.models import Model, find_model
from podium.running.settings import Settings

# A model that does what it should is far from the time limit, even on a busy or emulated machine.
SMALL = Settings(Path(), 900.0, 256 * 2**20, 64 * 2**20, 1, False, sandbox="none")
SUBMIT = "open('submission.csv', 'w').write('a,b\\n1,2\\n')\n"


def settings_for(folder: Path, **changed: Any) -> Settings:
    """Settings with small limits, and with a folder of data that has one file."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    (data / "texts.txt").write_text("one two three\n", encoding="utf-8")
    return SMALL._replace(**{"data": data} | changed)


def in_sandbox(folder: Path, **changed: Any) -> Settings:
    """The same in bubblewrap, with the control group that this machine has."""
    open_for_others(folder)  # as root, models run as nobody
    return settings_for(
        folder, **{"sandbox": "bubblewrap", "control_group": control_group.is_available()} | changed
    )


def open_for_others(folder: Path) -> None:
    """Let other users read a folder of a test."""
    for path in (folder, *folder.parents):
        if path.name.startswith(("pytest", "popen")) or path == folder:
            path.chmod(0o755)


def write_model(folder: Path, source: str = "", name: str = "run.py") -> Path:
    """Write a model that has this program."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(source, encoding="utf-8")
    return folder


def run_model(
    folder: Path, settings: Settings, source: str, name: str = "run.py", mode: int = 0o755
) -> tuple[Run, str]:
    """Run a model made of one file, and return the run and its log."""
    path = write_model(folder / "models" / "team", source, name)
    (path / name).chmod(mode)
    model = find_model(path, "team")
    assert isinstance(model, Model), model
    log = Log(folder / "log.txt", "")
    run = machine.run_once(model, settings, log)
    return run, log.path.read_text(encoding="utf-8") if log.path.exists() else ""


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def notebook(*cells: str, kernel: str = "python3") -> str:
    """The text of a notebook with one cell of text and these cells of code."""
    text = {"cell_type": "markdown", "id": "text", "metadata": {}, "source": "# A model"}
    code = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    listed = [text, *(code | {"id": f"cell-{number}", "source": cell} for number, cell in enumerate(cells))]
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel}}
    return json.dumps({"cells": listed, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


needs_kernel = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in machine.NOTEBOOK_PACKAGES),
    reason="the packages that execute notebooks are not here",
)


@functools.cache
def why_no_sandbox() -> str:
    """What this machine lacks for a sandbox.

    Podium's own code is not asked, because a fault in it has to make its tests fail.
    """
    if shutil.which("bwrap") is None:
        return "bubblewrap is not here"
    plain = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(plain, capture_output=True, text=True)
    return done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else ""


needs_sandbox = pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox())
