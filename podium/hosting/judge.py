"""Score a submission where a platform runs it; the programs of all bundles share this.

Participants read what these programs print, raise and write. So nothing of it may tell the solution: messages
are made from the submission alone, and of a fault of the host's only the place in the code is told.
"""

import contextlib
import io
import json
import math
import platform
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium import hosted, scoring, statistics
from podium.errors import SubmissionRejected

UNEXPECTED = "Evaluation metric raised an unexpected error"


class Fault(Exception):
    """A fault of the host's; its text tells where it was raised, and nothing of the data."""


def measures(home: Path, solution: Path, submission: Path, parts: Sequence[str]) -> dict[str, dict[str, float]]:
    """The measures of a submission on some parts of the solution, "score" first.

    Parameters
    ----------
    home : Path
        The folder of the program, with ``settings.json`` and the metric.
    solution : Path
        The truth, with a column `Usage`, or ``split`` with its values in lower case.
    submission : Path
        The participant's file.
    parts : sequence of str
        "Public", "Private" or both.

    Returns
    -------
    dict
        By part, the finite measures by name.

    Raises
    ------
    SubmissionRejected
        The submission's fault, as `podium score` says it.
    Fault
        Anything else.
    """
    try:
        with _silence():
            evaluation = _evaluate(home, solution, submission)
            return {part: _measures_of(evaluation, part) for part in parts}
    except SubmissionRejected as problem:
        raise SubmissionRejected(str(problem).replace(str(submission), submission.name)) from None
    except Exception as problem:
        raise Fault(f"{UNEXPECTED}\n{versions()}\n{where_raised(problem)}") from None


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop what the metric prints, and all warnings: they may name items of the solution."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def _evaluate(home: Path, solution: Path, submission: Path) -> scoring.Evaluation:
    settings = json.loads((home / "settings.json").read_text(encoding="utf-8"))
    metric = hosted.load(home / settings["metric"])
    arguments: dict[str, Any] = settings["arguments"]
    truth = scoring.read_solution(metric, solution, arguments)
    if "split" in truth and scoring.USAGE not in truth:
        truth = truth.rename(columns={"split": scoring.USAGE})
        truth[scoring.USAGE] = truth[scoring.USAGE].str.capitalize()
    prepared = scoring.prepare(metric, truth, arguments)
    return scoring.evaluate(prepared, scoring.read_submission(metric, submission, arguments))


def _measures_of(evaluation: scoring.Evaluation, part: str) -> dict[str, float]:
    values = {"score": evaluation.scores[part]}
    if evaluation.statistics is not None:
        of_part = evaluation.statistics[evaluation.solution.items[part]]
        values |= statistics.measures(evaluation.solution.prepared[part], of_part)
    if not math.isfinite(values["score"]):
        raise ValueError("the score is not finite")
    return {name: float(value) for name, value in values.items() if math.isfinite(value)}


def only_file(folder: Path) -> Path:
    """The one file that a participant sent, beside what zip programs and the platform add.

    Raises
    ------
    SubmissionRejected
        If there is none, or more than one.
    """
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name[0] != "." and path.name != "metadata" and "__MACOSX" not in path.parts
    ]
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise SubmissionRejected(f"expected one file, found {names}")
    return files[0]


def where_raised(problem: BaseException) -> str:
    """The lines of a traceback without any text that may quote the data, and the kind of the first error."""
    while problem.__cause__ is not None:
        problem = problem.__cause__
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in frames]
    return "\n".join([*lines, type(problem).__name__])


def versions() -> str:
    """Of Python and of what scores depend on."""
    return f"Python {platform.python_version()}, pandas {pd.__version__}, numpy {np.__version__}"
