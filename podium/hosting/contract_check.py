"""Hold a stranger's metric and its companion to the contract, in a process of its own.

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
from podium.errors import CompanionError, ContractWarning, HostError, SubmissionRejected
from podium.hosting import kernel


def main(task_file: str, answer_file: str) -> None:
    """Read a task and write the answer, each in a file."""
    task: dict[str, Any] = pickle.loads(Path(task_file).read_bytes())
    task.pop("do")
    Path(answer_file).write_text(json.dumps(slips(**task)), encoding="utf-8")


def slips(
    path: str, solution: dict[Any, Any], submission: dict[Any, Any], arguments: dict[str, Any]
) -> dict[str, str]:
    """What keeps a metric from the contract.

    Parameters
    ----------
    path : str
        The metric file.
    solution, submission : dict
        Columns by name, with `Usage`.
    arguments : dict
        Of `score`.

    Returns
    -------
    dict of str to str
        One key and its text, or an empty dict if all is well. The key is "slip" for a slip of the metric and
        "companion" for one of the companion. It is "library" for a library that is missing here, and "untried"
        for the reason why the metric could not be tried. It is "doubt" for what may be right or wrong.
    """
    sys.modules.setdefault(kernel.UTILITIES, kernel.metric_utilities())
    metric = None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            metric = hosted.load(Path(path))
            prepared = scoring.prepare(metric, pd.DataFrame(solution), arguments)
            evaluation = scoring.evaluate(prepared, pd.DataFrame(submission))
            with hosted.errors_explained(metric):
                hosted.higher_is_better(metric, prepared.arguments)
            _ = evaluation.explanation  # it is made, and held to the contract, when it is asked for
    except SubmissionRejected:
        return {"untried": "the submission is rejected"}
    except HostError as problem:
        library = kernel.lacking(problem.__cause__)
        if library:
            return {"library": library}
        if isinstance(problem, CompanionError):
            return {"companion": str(problem)}
        # What the metric says of the solution itself is told when it scores.
        if type(problem.__cause__).__name__ in hosted.VISIBLE:
            return {"untried": "the solution is rejected"}
        if metric is not None and metric.prepare is None and problem.__cause__ is not None:
            return {"untried": "score() raises an error"}  # which another check tells
        return {"slip": str(problem)}
    doubts = [str(each.message) for each in caught if issubclass(each.category, ContractWarning)]
    return {"doubt": doubts[0]} if doubts else {}


if __name__ == "__main__":
    main(*sys.argv[1:])
