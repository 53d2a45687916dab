"""Models in folders, and whether there is a sandbox here."""

import functools
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import pytest

from podium.errors import UsageError
from podium.running import engines
from podium.running.models import Model, find_model
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
    with tempfile.TemporaryDirectory() as folder:
        try:
            script = find_model(write_model(Path(folder) / "team", "pass"), "team")
            assert isinstance(script, Model)
            for path in (Path(folder), Path(folder) / "team"):
                path.chmod(0o755)
            settings = engines.choose("bubblewrap", [script], SMALL._replace(data=Path(folder)))
            engines.probe(settings, [script])
        except UsageError as problem:
            return str(problem)
    return ""


needs_sandbox = pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox())
