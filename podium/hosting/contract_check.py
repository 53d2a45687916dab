"""Hold a stranger's metric and its companion to the contract, in a process of its own.

`podium.hosting.fresh` starts this file as a script, with the interpreter that runs podium.
"""

import json
import pickle
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from podium import contract, hosted, scoring, statistics
from podium.errors import CompanionError, ContractWarning, Disagreement, HostError, SubmissionRejected
from podium.hosting import kernel

MOST_SECONDS = 30.0  # for trying parameters with other values


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
        Texts by their keys, or an empty dict if all is well. The key is "slip" for a slip of the metric and
        "companion" for one of the companion. It is "library" for a library that is missing here, and "untried"
        for the reason why the metric could not be tried. It is "doubt" for what may be right or wrong. It is
        "unused" for parameters that change nothing, and "late" for those that no time was left to try. It is
        "direction" for a doubt about which score is better, and "empty" for one about groups without items.
    """
    sys.modules.setdefault(kernel.UTILITIES, kernel.metric_utilities())
    metric = None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            metric = hosted.load(Path(path))
            prepared = scoring.prepare(metric, pd.DataFrame(solution), arguments)
            evaluation = scoring.evaluate(prepared, pd.DataFrame(submission))
            hosted.higher_is_better(metric, prepared.arguments)
            _ = evaluation.explanation  # it is made, and held to the contract, when it is asked for
            told = [str(each.message) for each in caught if issubclass(each.category, ContractWarning)]
            best = "" if metric.is_own else check_submissions(evaluation, pd.DataFrame(solution))
            with hosted.errors_explained(metric):
                empty = "" if metric.is_own else undefined_for_an_empty_group(evaluation)
            unused, late = (
                ([], []) if metric.is_own else unused_parameters(evaluation, pd.DataFrame(solution), submission)
            )
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
    doubts = {
        "empty": empty,
        "doubt": "; ".join(told),
        "unused": "; ".join(unused),
        "late": ", ".join(late),
        "direction": best,
    }
    return {name: text for name, text in doubts.items() if text}


def check_submissions(evaluation: scoring.Evaluation, solution: pd.DataFrame) -> str:
    """Score the submissions that the companion makes, or the solution itself as a submission.

    Parameters
    ----------
    evaluation : Evaluation
        A scored submission.
    solution : DataFrame
        The solution with its column `Usage`.

    Returns
    -------
    str
        A doubt whether the metric's direction is right, or "".

    Raises
    ------
    CompanionError
        The companion makes a submission that gets no score, or a perfect one that is worse than the given one.
    """
    metric = evaluation.solution.metric
    truth = solution.drop(columns=scoring.USAGE, errors="ignore")
    scores = {}
    for name in ("sample_submission", "perfect_submission"):
        make = getattr(metric.companion, name)
        if make is not None:
            scores[name] = _score_of(evaluation.solution, name, make(truth.copy()))
    better = hosted.higher_is_better(metric, evaluation.solution.arguments)
    if "perfect_submission" in scores and _is_worse(scores["perfect_submission"], evaluation.score, better):
        raise CompanionError(
            "companion.py: perfect_submission(): expected the best score, found "
            f"{scores['perfect_submission']:.6f} where the given submission has {evaluation.score:.6f}; "
            "is higher_is_better() right?"
        )
    if "perfect_submission" in scores or not {*evaluation.submission} <= {*truth}:
        return ""
    try:
        best = scoring.evaluate(evaluation.solution, truth[list(evaluation.submission)]).score
    except (HostError, SubmissionRejected):
        return ""
    if not _is_worse(best, evaluation.score, better):
        return ""
    return (
        f"the solution itself scores {best:.6f}, and the given submission {evaluation.score:.6f}, which counts "
        "as better: is that meant?"
    )


def undefined_for_an_empty_group(evaluation: scoring.Evaluation) -> str:
    """Try what the score is if one of the groups has no item, as it happens in parts and when items are drawn.

    Parameters
    ----------
    evaluation : Evaluation
        A scored submission.

    Returns
    -------
    str
        A doubt that names the first group without which the score is undefined, or "".
    """
    if evaluation.statistics is None:
        return ""
    prepared = evaluation.prepared
    sums = statistics.sums(evaluation.statistics, prepared.groups)
    for number, (attribute, value) in enumerate(prepared.labels if len(prepared.labels) > 1 else []):
        without = sums.copy()
        without[number] = 0
        with np.errstate(all="ignore"):
            score = np.asarray(prepared.measures(without))[0]
        if np.isnan(score):
            return (
                f"measures(): the score is NaN if no item of {attribute} = {value} is there, as on some draws: "
                "leave out a group whose sums are 0"
            )
    return ""


def _is_worse(first: float, second: float, higher: bool) -> bool:
    """Whether a score is clearly worse than another one."""
    return (second - first if higher else first - second) > 1e-9


def _score_of(solution: scoring.Solution, name: str, submission: Any) -> float:
    """The score of a submission that the companion's function of this name has made."""
    try:
        return scoring.evaluate(solution, contract.made_submission(name, submission)).score
    except SubmissionRejected as problem:
        raise CompanionError(
            f"companion.py: {name}(): expected a submission that gets a score, found one that is rejected: "
            f"{problem}"
        ) from None


def unused_parameters(
    evaluation: scoring.Evaluation, solution: pd.DataFrame, submission: dict[Any, Any]
) -> tuple[list[str], list[str]]:
    """Try every parameter of a metric with other values; the contract has to hold for them, too.

    Parameters
    ----------
    evaluation : Evaluation
        The submission, scored with the given parameters.
    solution : DataFrame
        The solution with its column `Usage`.
    submission : dict
        The columns of the submission by name.

    Returns
    -------
    unused : list of str
        The parameters that never changed the score, each with the values that were tried.
    late : list of str
        The parameters that were not tried with all values within `MOST_SECONDS`.

    Raises
    ------
    Disagreement
        ``score`` and the statistics give different numbers for another value.
    """
    metric, arguments = evaluation.solution.metric, evaluation.solution.arguments
    unused: list[str] = []
    settings = hosted.settings(metric, arguments)
    end = time.monotonic() + MOST_SECONDS
    for number, (name, value) in enumerate(settings.items()):
        tried = []
        for other in contract.other_values(metric, name, value):
            if time.monotonic() > end:
                return unused, list(settings)[number:]
            try:
                changed = scoring.prepare(metric, solution, arguments | {name: other})
                score = scoring.evaluate(changed, pd.DataFrame(submission)).score
            except Disagreement as problem:
                raise Disagreement(f"{problem} (with {name}={other!r})") from None
            except (HostError, SubmissionRejected):
                continue  # The metric refuses the value.
            tried.append(other)
            if score != evaluation.score:
                break
        else:
            if tried:
                unused.append(f"{name} (tried: {', '.join(map(repr, tried))})")
    return unused, []


if __name__ == "__main__":
    main(*sys.argv[1:])
