"""The score of a constant answer: whoever scores worse, has exchanged something.

If even the best team does, the solution, the direction of the metric or its columns may be wrong.
"""

import math
import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from podium.common.errors import HostError, SubmissionRejected
from podium.common.statements import Statement
from podium.metric.shapes import made_submission
from podium.tables import ids

__all__ = ["evaluated", "is_worse", "statement"]

SAME = 1e-9  # the relative difference of scores that are the same up to rounding


def evaluated(evaluation: Any) -> Any | None:
    """Score a constant answer in the form of a submission, whose evaluation is given, and return its own.

    It is what the companion makes as a sample, or has the same in every row. It is None where such an answer
    has no score, as where a metric refuses it, and where the rows of a submission are what somebody has found,
    such as segments, and not answers to the rows of the solution.
    """
    solution = evaluation.solution
    make = solution.metric.companion.sample_submission
    if make is None and solution.metric.complete_submission:
        return None
    truth = solution.frame[solution.counts]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if make is None:
                answer = _same_everywhere(truth, evaluation.submission, ids.columns_of(solution.arguments))
            else:
                answer = made_submission("sample_submission", make(truth.copy()))
            return evaluation.of(answer)
    except (SubmissionRejected, HostError):
        return None


def _same_everywhere(truth: pd.DataFrame, submission: pd.DataFrame, named: Collection[str]) -> pd.DataFrame:
    """Give all rows of a submission the usual value of this column in the truth, or else in the submission."""
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
    """Tell whether a score is worse than that of a constant answer; it never is if that has none.

    A score that differs in the last bits of a sum alone is the same.
    """
    if math.isclose(score, constant, rel_tol=SAME):
        return False
    return score < constant if higher_is_better else score > constant


def statement(whose: str, score: float, constant: float, higher_is_better: bool) -> Statement:
    """Tell that a score is worse than that of a constant answer."""
    better = "higher" if higher_is_better else "lower"
    return Statement("worse_than_constant", whose=whose, score=score, constant=constant, better=better)
