"""Run a metric file in a fresh process, alone, as Kaggle does (see `competition.kernel`)."""

import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from competition import kernel
from competition.errors import HostError, UsageError

__all__ = ["read_source", "run_fresh"]

TIME_LIMIT = 3600.0  # seconds


def read_source(path: Path) -> str:
    """The text of a metric file.

    Raises
    ------
    UsageError
        There is no such file.
    HostError
        It is not UTF-8 text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise HostError(f"{path} is not UTF-8 text: {problem}") from None


def run_fresh(do: str, **task: Any) -> dict[str, Any]:
    """Let `competition.kernel` do a task in a process of its own, in an empty folder.

    Python runs in isolated mode: neither the current folder nor PYTHONPATH is searched for modules.

    Raises
    ------
    HostError
        The process ends without an answer, or does not end.
    """
    with tempfile.TemporaryDirectory() as folder:
        task_file, answer_file = Path(folder, "task"), Path(folder, "answer")
        task_file.write_bytes(pickle.dumps(task | {"do": do}))
        command = [sys.executable, "-I", kernel.__file__, str(task_file), str(answer_file)]
        workplace = Path(folder, "workplace")
        workplace.mkdir()
        try:
            done = subprocess.run(
                command, cwd=workplace, capture_output=True, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT
            )
        except subprocess.TimeoutExpired:
            raise HostError(f"the metric file is still running after {TIME_LIMIT:,.0f} s") from None
        if answer_file.exists():
            answer: dict[str, Any] = json.loads(answer_file.read_text(encoding="utf-8"))
            return answer
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise HostError(f"the metric file ended its process with exit code {done.returncode}. {last}".strip())
