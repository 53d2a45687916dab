"""Run a metric file in a fresh process, as Kaggle does (see `podium.hosting.kaggle.kernel`)."""

import io
import json
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from podium.child.processes import ending
from podium.child.programs import run_and_end
from podium.common.errors import HostError
from podium.hosting.kaggle import kernel
from podium.tables.files import not_utf_8

TIME_LIMIT = 1800.0  # seconds that Kaggle allows for the Public and the Private part together


def read_source(path: Path) -> str:
    """Read the text of a metric file."""
    try:
        source = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise HostError(f"{path}: {not_utf_8(io.BytesIO(path.read_bytes()))}") from None
    if source.startswith("\ufeff"):
        raise HostError(f"{path} begins with a byte order mark: save it as UTF-8 without BOM")
    return source


def columns_of(frame: pd.DataFrame) -> dict[Any, Any]:
    """Take a table apart into columns, of which a new process makes one whose rows are numbered from 0."""
    return {
        name: values.to_numpy() if values.dtype.kind in "biuf" else values.astype(object).tolist()
        for name, values in frame.items()
    }


def run_fresh(do: str, seconds: float | None = None, **task: Any) -> dict[str, Any]:
    """Let `podium.hosting.kaggle.kernel` do a task in a process that shares nothing with this one."""
    limit = TIME_LIMIT if seconds is None else seconds
    with tempfile.TemporaryDirectory() as folder:
        task_file, answer_file, workplace = (Path(folder, name) for name in ("task", "answer", "workplace"))
        task_file.write_bytes(pickle.dumps(task | {"do": do}))
        workplace.mkdir()
        (workplace / "submission.csv").write_text("id,y\n")  # for a metric that deletes files
        command = [sys.executable, "-I", kernel.__file__, str(task_file), str(answer_file)]
        code, out, err = run_and_end(command, workplace, limit)
        if answer_file.exists():
            return dict(json.loads(answer_file.read_text(encoding="utf-8")))
    if code is None:
        raise HostError(f"the metric file is still running after {limit:,.0f} s")
    last = (err or out).decode(errors="replace").strip().splitlines()[-1:]
    raise HostError(". ".join([f"the metric file ended its process: {ending(code)}", *last]))
