"""Call the Unified Metric as tests need it."""

from typing import Any

import numpy as np
import pandas as pd

import metric
from podium import hosted, scoring

Explanation = hosted.module("unified", "companion").Explanation


def evaluate(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> scoring.Evaluation:
    """The evaluation of a submission whose ids are in the column row_id."""
    prepared = scoring.prepare(
        hosted.load(metric.NAME), solution, {"row_id_column_name": "row_id"} | parameters
    )
    return scoring.evaluate(prepared, submission)


def explain(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> Explanation:
    """The explanation of a submission."""
    explanation: Explanation = evaluate(solution, submission, **parameters).explanation
    return explanation


def make_segments(*segments: tuple[int, str, int, int, float]) -> metric.Segments:
    """Segments written by hand as (essay number, discourse type, first word, last word, d[1])."""
    essay, name, first, last, d1 = (np.array(column) for column in zip(*segments))
    types = np.array([metric.DISCOURSE_TYPES.index(text) for text in name])
    return metric.Segments(essay, first, last, types, d1.astype(np.float64), np.arange(len(segments)))
