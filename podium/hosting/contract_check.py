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
    task: dict[str, Any] = pickle.loads(Path(task_file).read_bytes())
    task.pop("do")
    answer = {"slip": slip(**task)}
    Path(answer_file).write_text(json.dumps(answer), encoding="utf-8")


def slip(path: str, solution: dict[Any, Any], submission: dict[Any, Any], arguments: dict[str, Any]) -> str:
    """The first slip of a metric; "" if there is none, or the files do not let it be found.

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
        return ""
    except HostError as problem:
        cause = problem.__cause__
        # What score() itself raises, or a library that is not here, is told by the other checks.
        return "" if cause is not None else str(problem)
    return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
