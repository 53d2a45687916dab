"""Run `podium` as hosts do, but in this process, and list the metric files of the project."""

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from podium.child.workers import start_workers
from podium.hosting.bundles import evaluator, program
from podium.hosting.kaggle import fresh, kernel
from podium.metric import hosted
from podium.ranking import rank
from tests.support import command_line

ROOT = Path(__file__).parents[2]
SOLUTION, SUBMISSION = ROOT / "solution_sample.csv", ROOT / "sample_submission.csv"

# Every metric file with a solution and a submission to it in the form that Kaggle takes, without empty cells.
# They are tried in real processes.
OFFICIAL = {"trec_is": ("labels.json", "run.txt")}
METRICS = [
    pytest.param(ROOT / "metric.py", SOLUTION, SUBMISSION, id="unified", marks=pytest.mark.slow),
    *(
        pytest.param(
            hosted.find(name),
            *(samples / each for each in OFFICIAL.get(name, ("solution.csv", "submission.csv"))),
            id=name,
            marks=[pytest.mark.slow, pytest.mark.filterwarnings("ignore:annotations outside the 25 types")],
        )
        for name in hosted.names()
        if (samples := hosted.folder(name) / "samples").is_dir()
    ),
]
every_metric = pytest.mark.parametrize(("path", "solution", "submission"), METRICS)

# A small metric; a test replaces BODY.
ACCURACY = """
import math
import pandas as pd

class ParticipantVisibleError(Exception):
    pass

class HostVisibleError(Exception):
    pass

def score(
    solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, points: float = 1.0
) -> float:
    BODY

def higher_is_better() -> bool:
    return True
"""


def source_of(*lines: str, higher: bool = True, head: str = "") -> str:
    """The source of a metric without parameters, whose score() has these lines."""
    body = "\n    ".join(lines)
    return f"""{head}
import numpy as np
import pandas as pd

class ParticipantVisibleError(Exception):
    pass

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    {body}

def higher_is_better() -> bool:
    return {higher}
"""


EQUAL = "return points * float((solution['answer'] == submission['answer']).mean())"  # a BODY


run_podium = command_line.run

# An audit hook stays until its process ends, so those of metrics that are tried here share a single one.
_hooks: list[Callable[[str, tuple[Any, ...]], None]] = []


@functools.cache
def _let_hooks_know() -> None:
    """Call the hooks of the metric that is tried at the moment."""
    sys.addaudithook(lambda event, details: [hook(event, details) for hook in _hooks] and None)


def stay_in_process(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Do in this process what podium would do in a fresh one, and undo its effects afterwards."""

    def run_here(do: str, seconds: float | None = None, **task: Any) -> dict[str, Any]:
        with monkeypatch.context() as context:
            context.setitem(sys.modules, "__main__", sys.modules["__main__"])
            context.setitem(sys.modules, kernel.UTILITIES, None)
            for name in ("metric", "matplotlib"):  # A starter notebook imports them, or does without.
                context.setitem(sys.modules, name, None)
                del sys.modules[name]
            context.setattr(sys, "argv", sys.argv)
            context.setattr(sys, "path", sys.path.copy())
            context.setattr(sys, "dont_write_bytecode", True)
            context.setattr(sys, "addaudithook", _hooks.append)
            context.chdir(folder)
            sys.modules.pop(kernel.MODULE, None)
            try:
                return kernel.TASKS[do](**task)
            finally:
                _hooks.clear()

    def scores_here(home: Path, solution: Path, submission: Path, parts: Sequence[str]) -> dict[str, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as in a process of its own, where they are no errors
            measured = evaluator.measures(home, solution, submission, parts)
        return {part: values["score"] for part, values in measured.items()}

    _let_hooks_know()
    monkeypatch.setattr(rank, "start_workers", lambda *_, **__: start_workers(1, 1))
    monkeypatch.setattr(fresh, "run_fresh", run_here)
    monkeypatch.setattr(program, "run_alone", scores_here)
