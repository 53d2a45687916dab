"""What the programs of `podium bundle` share."""

import json
import math
import platform
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium import hosted, scoring, statistics
from podium.errors import SubmissionRejected

UNEXPECTED = "Evaluation metric raised an unexpected error"


def judge(home: Path, solution: Path, submission: Path) -> scoring.Evaluation:
    settings = json.loads((home / "settings.json").read_text(encoding="utf-8"))
    metric = hosted.load(home / settings["metric"])
    arguments: dict[str, Any] = settings["arguments"]
    truth = scoring.read_solution(metric, solution, arguments)
    if "split" in truth and scoring.USAGE not in truth:  # as one platform calls it
        truth = truth.rename(columns={"split": scoring.USAGE})
        truth[scoring.USAGE] = truth[scoring.USAGE].str.capitalize()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the solution
        prepared = scoring.prepare(metric, truth, arguments)
        try:
            return scoring.evaluate(prepared, scoring.read_submission(metric, submission, arguments))
        except SubmissionRejected as problem:
            raise SubmissionRejected(str(problem).replace(str(submission), submission.name)) from None


def measures(evaluation: scoring.Evaluation, part: str) -> dict[str, float]:
    """The defined ones of a part, "score" first."""
    found = {"score": evaluation.scores[part]}
    if evaluation.statistics is not None:
        of_part = evaluation.statistics[evaluation.solution.items[part]]
        found |= statistics.measures(evaluation.solution.prepared[part], of_part)
    if not math.isfinite(found["score"]):
        raise ValueError(f"the score is {found['score']}")
    return {name: float(value) for name, value in found.items() if math.isfinite(value)}


def only_file(folder: Path) -> Path:
    """The one file beside what zip programs and the platform add."""
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name[0] != "." and path.name != "metadata" and "__MACOSX" not in path.parts
    ]
    if len(files) != 1:
        found = ", ".join(path.name for path in files) or "none"
        raise SubmissionRejected(f"expected one file, found {found}")
    return files[0]


def place(problem: BaseException) -> str:
    """A traceback without any text, which may quote the data."""
    while problem.__cause__ is not None:
        problem = problem.__cause__
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in frames]
    return "\n".join([*lines, type(problem).__name__])


def versions() -> str:
    return f"Python {platform.python_version()}, pandas {pd.__version__}, numpy {np.__version__}"
