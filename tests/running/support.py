"""Write models into folders, and find out whether this machine has a sandbox."""

import functools
import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import Any

import nbformat
import pytest

from podium.running.settings import Settings

# A model that does what it should is far from the time limit, even on a very busy machine.
SMALL = Settings(Path(), "none", "", 120.0, 256 * 2**20, 64 * 2**20, 1, False)


def settings_for(folder: Path, **changed: Any) -> Settings:
    """Settings with small limits, and with a folder of data that has one file."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    if not (data / "texts.txt").exists():
        (data / "texts.txt").write_text("one two three\n", encoding="utf-8")
    return SMALL._replace(**{"data": data} | changed)


def write_model(folder: Path, source: str = "", name: str = "run.py") -> Path:
    """Write a model that runs `source` and then leaves a submission."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if not path.exists() or path.read_text(encoding="utf-8") != source:
        path.write_text(source, encoding="utf-8")
    return folder


def notebook(*cells: str) -> str:
    """The text of a notebook with one cell of text and these cells of code."""
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("# A model"), *map(nbformat.v4.new_code_cell, cells)]
    )
    text: str = nbformat.writes(made)
    return text


SUBMIT = "open('submission.csv', 'w').write('a,b\\n1,2\\n')\n"


@functools.cache
def why_no_sandbox() -> str:
    """What this machine lacks for a sandbox.

    Podium's own code is not asked, because a fault in it has to make its tests fail.
    """
    if shutil.which("bwrap") is None:
        return "bubblewrap is not here"
    if importlib.util.find_spec("pyseccomp") is None:
        return "pyseccomp is not here"
    plain = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(plain, capture_output=True, text=True)
    return done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else ""


needs_sandbox = pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox())
