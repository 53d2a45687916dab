"""The score of a constant answer: whoever scores worse, has exchanged something.

If even the best team does, the solution, the direction of the metric or its columns may be wrong.
"""

import warnings
from typing import Any

import numpy as np
import pandas as pd

from podium.contest import way
from podium.metric.shapes import made_submission
from podium.scoring.evaluating import ALL, Evaluation, Solution
from podium.tables import ids
from podium.words.errors import HostError, SubmissionRejected

__all__ = ["evaluated", "is_worse", "sentence"]


def evaluated(solution: Solution, submission: pd.DataFrame) -> Evaluation | None:
    """Score a constant answer: what the companion makes as a sample, or one with the same in every row.

    It is None where such an answer has no score, as where a metric refuses it, and where the rows of a
    submission are what somebody has found, such as segments, and not answers to the rows of the solution.
    """
    make = solution.metric.companion.sample_submission
    if make is None and solution.metric.complete_submission:
        return None
    truth = solution.frame[solution.rows[ALL]]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if make is None:
                answer = _same_everywhere(solution, truth, submission)
            else:
                answer = made_submission("sample_submission", make(truth.copy()))
            evaluation = way.unjudged(solution, answer)
    except (SubmissionRejected, HostError):
        return None
    return evaluation


def _same_everywhere(solution: Solution, truth: pd.DataFrame, submission: pd.DataFrame) -> pd.DataFrame:
    """Give all rows of a submission the usual value of this column in the truth, or else in the submission."""
    named = ids.columns_of(solution.arguments)
    values: dict[str, Any] = {
        str(name): _usual(truth.get(name, cells), cells)
        for name, cells in submission.items()
        if name not in named
    }
    return submission.assign(**values)


def _usual(cells: pd.Series, like: pd.Series) -> object:
    """The mean of numbers if those they stand for are fractions, and otherwise the most frequent cell."""
    if cells.dtype.kind in "iuf" and like.dtype.kind == "f" and (like.dropna() % 1 != 0).any():
        return float(cells.mean())
    codes, values = pd.factorize(cells)
    return values[int(np.bincount(codes[codes >= 0]).argmax())] if len(values) else None


def is_worse(score: float, constant: float, higher_is_better: bool) -> bool:
    """Tell whether a score is worse than that of a constant answer; it never is if that has none."""
    return score < constant if higher_is_better else score > constant


def sentence(whose: str, score: float, constant: float, higher_is_better: bool) -> str:
    """Say that a score is worse than that of a constant answer, and what to look at."""
    better = "higher" if higher_is_better else "lower"
    return (
        f"{whose}, {score:.6f}, is worse than that of a constant answer, {constant:.6f}: check that {better} "
        "is better, that no labels are exchanged, and that the right columns are compared"
    )
