"""Hold a stranger's metric to the contract of its statistics, in a process of its own.

`podium.hosting.fresh` starts this file as a script, with the interpreter that runs podium.
"""

import json
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from podium import hosted, scoring
from podium.errors import HostError, SubmissionRejected
from podium.hosting import kernel


def main(task_file: str, answer_file: str) -> None:
    """Read a task and write the answer, each in a file."""
    task: dict[str, Any] = pickle.loads(Path(task_file).read_bytes())
    task.pop("do")
    answer = dict(zip(("slip", "library"), slip(**task)))
    Path(answer_file).write_text(json.dumps(answer), encoding="utf-8")


def slip(
    path: str, solution: dict[Any, Any], submission: dict[Any, Any], arguments: dict[str, Any]
) -> tuple[str, str]:
    """The first slip of a metric, and the library that is missing; each "" if there is none.

    Parameters
    ----------
    path : str
        The metric file.
    solution, submission : dict
        Columns by name, with `Usage`.
    arguments : dict
        Of `score`.
    """
    sys.modules.setdefault(kernel.UTILITIES, kernel.metric_utilities())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            metric = hosted.load(Path(path))
            prepared = scoring.prepare(metric, pd.DataFrame(solution), arguments)
            scoring.evaluate(prepared, pd.DataFrame(submission))
    except SubmissionRejected:
        return "", ""
    except HostError as problem:
        # What the metric says of the solution itself is told when it scores.
        is_told = type(problem.__cause__).__name__ in hosted.VISIBLE
        return "" if is_told else str(problem), kernel.lacking(problem.__cause__)
    return "", ""


if __name__ == "__main__":
    main(*sys.argv[1:])
