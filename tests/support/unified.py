"""The Unified Metric, as tests call it."""

from typing import Any

import pandas as pd

import metric
from podium import scoring
from podium.companions.unified import Explanation


def evaluate(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> scoring.Evaluation:
    """The evaluation of a submission, whose row ids are in the column row_id."""
    prepared = scoring.prepare(metric, solution, {"row_id_column_name": "row_id"} | parameters)
    return scoring.evaluate(prepared, submission)


def explain(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> Explanation:
    """Its explanation."""
    explanation: Explanation = evaluate(solution, submission, **parameters).explanation
    return explanation
