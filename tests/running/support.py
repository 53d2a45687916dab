"""Models in folders, and whether there is a sandbox here."""

import functools
import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import Any

import nbformat
import pytest

from podium.running.settings import Settings

SMALL = Settings(Path(), "none", "", 20.0, 256 * 2**20, 64 * 2**20, 1, False)


def settings_for(folder: Path, **changed: Any) -> Settings:
    """Small limits, and a folder of data with one file."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    if not (data / "texts.txt").exists():
        (data / "texts.txt").write_text("one two three\n", encoding="utf-8")
    return SMALL._replace(data=data, **changed)


def write_model(folder: Path, source: str = "", name: str = "run.py") -> Path:
    """A model that leaves a submission, after `source`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if not path.exists() or path.read_text(encoding="utf-8") != source:
        path.write_text(source, encoding="utf-8")
    return folder


def notebook(*cells: str) -> str:
    """The text of a notebook with a cell of words and these cells of code."""
    made = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=[nbformat.v4.new_markdown_cell("# A model"), *map(nbformat.v4.new_code_cell, cells)]  # type: ignore[no-untyped-call]
    )
    text: str = nbformat.writes(made)  # type: ignore[no-untyped-call]
    return text


SUBMIT = "open('submission.csv', 'w').write('a,b\\n1,2\\n')\n"


@functools.cache
def why_no_sandbox() -> str:
    """What this machine lacks; podium's own sandbox is not asked, since a fault in it must fail its tests."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not here"
    if importlib.util.find_spec("pyseccomp") is None:
        return "pyseccomp is not here"
    plain = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(plain, capture_output=True, text=True)
    return done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else ""


needs_sandbox = pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox())
