"""Make a sample submission for a metric whose companion makes none: the same answer for every row."""

import math
import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from podium import scoring
from podium.errors import HostError, SubmissionRejected, UsageError

ASKED = "--sample: expected a submission to show to participants. None could be made of the labels: "


def typical(cells: pd.Series) -> Any:
    """Choose a value that tells nothing of a single row: the commonest text, or the median of numbers.

    A value that a single row has is never chosen. Where the median is such a value, the middle between it and
    the next larger number takes its place. None if there is no such value.

    >>> typical(pd.Series(["dog", "cat", "cat"])), typical(pd.Series([1, 2, 5])), typical(pd.Series(["a", "b"]))
    ('cat', 3.5, None)
    """
    present = cells.dropna()
    if pd.api.types.is_numeric_dtype(cells) and cells.dtype.kind != "b" and len(present):
        ordered = np.sort(present.to_numpy())
        middle = ordered[(len(ordered) - 1) // 2]
        larger = ordered[ordered > middle]
        if (ordered == middle).sum() > 1:
            return middle.item()
        return (float(middle) + float(larger[0])) / 2 if len(larger) else None
    counts = present.astype(str).value_counts()
    common = sorted(counts[counts == counts.max()].index) if len(counts) and counts.max() > 1 else []
    return common[0] if common else None


def made(solution: scoring.Solution, truth: pd.DataFrame, row_id: str, known: Collection[str]) -> pd.DataFrame:
    """Make a sample submission from the truth, whose columns in `known` are not answers.

    Columns without which the score stays the same, such as weights, are left out.
    """
    values = {name: typical(truth[name]) for name in truth if name != row_id and name not in known}
    sample = truth[[row_id]].assign(**{str(name): value for name, value in values.items() if value is not None})
    shown = ", ".join(f"{name} = {value}" for name, value in values.items() if value is not None)
    if not shown:
        raise UsageError(f"{ASKED}no label occurs twice")
    scores, why = _scored(solution, sample)
    if why:
        raise UsageError(f"{ASKED}with {shown} in every row, {why}")
    for name in list(sample.columns[1:]):
        less = sample.drop(columns=name)
        if len(less.columns) > 1 and _scored(solution, less)[0] == scores:
            sample = less
    return sample


def _scored(solution: scoring.Solution, sample: pd.DataFrame) -> tuple[dict[str, float], str]:
    """Score a sample submission; if that gives no finite scores, tell why."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # A constant answer is expected here.
            scores = scoring.evaluate(solution, sample).scores
    except (SubmissionRejected, HostError) as problem:
        return {}, f"the metric refuses it: {problem}"
    undefined = [part for part, score in scores.items() if not math.isfinite(score)]
    return scores, f"the score is not finite in {undefined[0]}" if undefined else ""
