"""Score a submission on a platform; the programs of all bundles use this module.

Participants can read what these programs print, raise and write, so nothing of it may reveal the solution.
Messages for participants are made from the submission alone. If the fault is the host's, a message names only
the place in the code.
"""

import contextlib
import io
import json
import math
import platform
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pandas as pd

from podium import statistics
from podium.child import limits
from podium.common.errors import SubmissionRejected
from podium.common.wording import listed, printable
from podium.contest import pipeline, reading
from podium.metric import hosted
from podium.scoring import evaluating
from podium.tables.files import ReadFile

UNEXPECTED = "Evaluation metric raised an unexpected error"
METRIC = "metric/metric.py"  # in the folder of a program


class HostFault(Exception):
    """A fault of the host. The text says where it was raised, and reveals nothing of the data."""


def measures(home: Path, solution: Path, submission: Path, parts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Compute the measures of a submission on parts of the solution."""
    try:
        with _silence():
            evaluation = _evaluate(home, solution, submission)
            return {part: _measures_of(evaluation, part) for part in parts}
    except SubmissionRejected as problem:
        if _is_safe(str(problem), home, solution, submission):
            raise
        raise SubmissionRejected("the submission is rejected; the hosts can tell why") from None
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        raise HostFault(f"{UNEXPECTED}\n{versions()}\n{where_raised(problem)}") from None


def _is_safe(text: str, home: Path, solution: Path, submission: Path) -> bool:
    """Whether a message for participants is made from the submission alone.

    A custom metric gets the submission again with a solution in which every row has the truths of another
    row. If the message is another one then, it may tell the solution.
    """
    if hosted.is_built_in(home / METRIC):
        return True
    try:
        with _silence():
            _evaluate(home, solution, submission, disguised=True)
    except SubmissionRejected as problem:
        return str(problem) == text
    except BaseException:
        return False
    return False


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop what the metric prints and warns of, because it may name items of the solution."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def _evaluate(home: Path, solution: Path, submission: Path, disguised: bool = False) -> evaluating.Evaluation:
    """Load the metric with the competition's parameters, read both tables and score.

    In a `disguised` solution, the rows keep their ids, and everything else is in reverse. So the rows of an
    item stay together.
    """
    settings = json.loads((home / "settings.json").read_text(encoding="utf-8"))
    metric = hosted.load(home / settings["metric"])
    arguments: dict[str, Any] = settings["arguments"]
    truth = reading.read_solution(metric, solution, arguments)
    if disguised:
        row_id = arguments["row_id_column_name"]
        truth = truth.iloc[::-1].set_axis(truth.index).assign(**{row_id: truth[row_id]})
    prepared = pipeline.prepared(metric, truth, arguments)
    # The bundle was made after the contract had been checked, which takes time. So nothing is held to it here.
    # A Parquet file of a few kilobytes may expand to gigabytes.
    with limits.within(limits.Limits()):
        sent = ReadFile(submission.name, submission.read_bytes())
        return pipeline.unjudged(prepared, reading.read_submission(metric, sent, arguments))


def _measures_of(evaluation: evaluating.Evaluation, part: str) -> dict[str, float]:
    """The finite measures of one part; a ValueError if the score itself is not finite."""
    values = {"score": evaluation.scores[part]}
    if evaluation.statistics is not None:
        of_part = evaluation.statistics[evaluation.solution.items[part]]
        values = statistics.measures(evaluation.solution.prepared[part], of_part) | values
    if not math.isfinite(values["score"]):
        raise ValueError("the score is not finite")
    return {name: float(value) for name, value in values.items() if math.isfinite(value)}


def only_file(folder: Path) -> Path:
    """Find the one file that a participant sent, ignoring what zip programs and the platform add."""
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if _is_sent(path, folder) and counts(path.relative_to(folder))
    ]
    if len(files) != 1:
        names = listed([_shown(path) for path in files], 3) or "none"
        raise SubmissionRejected(f"expected one file, found {names}")
    return files[0]


def _shown(path: Path) -> str:
    """The name of a participant's file for a log, without what could disturb a terminal."""
    return printable(path.name)[:70]


def counts(path: PurePath) -> bool:
    """Whether a file of a submission counts: zip programs and the platform add others."""
    return (
        path.name[:1] != "."
        and path.name != "metadata"
        and not any(part.strip("_") == "MACOSX" for part in path.parts)
    )


def regular_file(path: Path) -> Path:
    """Check that a path leads to a file of its own; a link may lead to the solution instead."""
    if path.is_symlink() or not path.is_file():
        raise SubmissionRejected(f"{_shown(path)}: expected a regular file, found a link or something else")
    return path


def _is_sent(path: Path, folder: Path) -> bool:
    """Whether a path leads to a file of a folder; a link in it may lead to the solution instead."""
    return path.is_file() and path.resolve() == folder.resolve() / path.relative_to(folder)


def where_raised(problem: BaseException) -> str:
    """Describe where an error was raised, without any text that may quote the data."""
    while problem.__cause__ is not None:
        problem = problem.__cause__
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in frames]
    return "\n".join([*lines, type(problem).__name__])


def versions() -> str:
    """Name the versions of Python, pandas and numpy, on which scores may depend."""
    return f"Python {platform.python_version()}, pandas {pd.__version__}, numpy {np.__version__}"
