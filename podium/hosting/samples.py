"""Make a sample submission for a metric whose companion makes none: the same answer for every row."""

import math
import re
import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from podium.common.errors import HostError, SubmissionRejected, UsageError
from podium.common.wording import counted, listed
from podium.contest import pipeline
from podium.hosting.kaggle import acceptance
from podium.scoring import evaluating, trials

SENTINEL = re.compile(r"-9{2,}(\.0*)?")  # a number that stands for a missing one
ASKED = (
    "--sample: expected a submission to show to participants: a table with the column {row_id}, as in the "
    "labels, and the answers in columns that {metric} reads. None could be made of the labels: {reason}"
)


def typical(cells: pd.Series) -> Any:
    """Choose a value that tells nothing of a single row: the commonest one, or the median of numbers.

    A value that a single row has is never chosen. Where the median is such a value, the middle between it and
    the next larger number takes its place. None if there is no such value.

    >>> typical(pd.Series(["dog", "cat", "cat"])), typical(pd.Series([1, 2, 5])), typical(pd.Series(["a", "b"]))
    ('cat', 3.5, None)

    Nor is a word that Kaggle takes for empty, or a number that stands for a missing one, or a text that alone
    in its column would be read as something else:

    >>> typical(pd.Series(["NA", "NA", "NA", "cat", "cat"])), typical(pd.Series([-999, -999, -999, 4, 4]))
    ('cat', 4)
    >>> typical(pd.Series(["true", "true", "true", "maybe", "maybe"]))
    'maybe'
    """
    stand_ins = [value for value in cells.unique().tolist() if SENTINEL.fullmatch(str(value))]
    present = cells[~cells.isin(stand_ins)].dropna()
    if pd.api.types.is_numeric_dtype(cells) and cells.dtype.kind != "b" and len(present):
        ordered = np.sort(present.to_numpy())
        middle = ordered[(len(ordered) - 1) // 2]
        larger = ordered[ordered > middle]
        if (ordered == middle).sum() > 1:
            return middle.item()
        return _between(float(middle), float(larger[0])) if len(larger) else None
    counts = present.astype(object).value_counts()
    counts = counts[(counts > 1) & ~acceptance.are_empty(counts.index.astype(str).tolist())]
    by_number = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
    values = [value for value, _ in by_number]
    return next((value for value in values if acceptance.reads_back(value)), values[0] if values else None)


def _between(low: float, high: float) -> float:
    """The middle between two numbers, with as few digits as it takes: 77.7 and not 77.69999999999999.

    >>> _between(77.6, 77.8)
    77.7
    """
    middle = (low + high) / 2
    short = float(f"{middle:.10g}")
    return short if low < short < high else middle


def made(
    solution: evaluating.Solution,
    truth: pd.DataFrame,
    row_id: str,
    known: Collection[str],
    named: Collection[str],
    learned: pd.DataFrame,
) -> pd.DataFrame:
    """Make a sample submission for the rows of the truth, whose columns in `known` are not answers.

    The answers are typical of the labels in `learned`, which may be public. Columns that a parameter names,
    such as weights, are answers only if the metric wants them. Others without which the score stays the same
    are left out, too.
    """
    values = {str(name): typical(learned[name]) for name in truth if name != row_id and name not in known}
    values = {name: value for name, value in values.items() if value is not None}
    reasons = []
    for left_out in dict.fromkeys([frozenset(values).intersection(named), frozenset[str]()]):
        chosen = {name: value for name, value in values.items() if name not in left_out}
        shown = ", ".join(f"{name} = {value}" for name, value in chosen.items())
        if not shown:
            reasons.append(f"no label occurs twice in {counted(len(learned), 'row')}")
            continue
        sample = truth[[row_id]].join(pd.DataFrame(chosen, index=truth.index))
        scores, why = _scored(solution, sample)
        if not why:
            return _without_idle(solution, sample, scores)
        reasons.append(f"with {shown} in every row, {why}")
    metric = solution.metric.path.name
    untried = [str(name) for name in truth if name != row_id and name not in known and name not in values]
    reason = "; ".join([reasons[-1], *([why_untried(untried)] if untried else [])])
    raise UsageError(ASKED.format(row_id=row_id, metric=metric, reason=reason))


def why_untried(columns: list[str]) -> str:
    """Say why columns of labels are no answers of an automatic sample."""
    return (
        f"{listed(columns)} {'was' if len(columns) == 1 else 'were'} not tried, as no value there occurs twice"
    )


def _without_idle(
    solution: evaluating.Solution, sample: pd.DataFrame, scores: dict[str, float]
) -> pd.DataFrame:
    """Leave out columns without which the score stays the same."""
    idle: list[str] = []

    def can_go(names: list[str]) -> bool:
        """Whether the score stays the same without these columns, too."""
        less = sample.drop(columns=[*idle, *names])
        is_same = len(less.columns) > 1 and _scored(solution, less)[0] == scores
        idle.extend(names if is_same else ())
        return is_same

    trials.by_halves(list(sample.columns[1:]), can_go)
    return sample.drop(columns=idle)


def with_errors(
    truth: pd.DataFrame, sample: pd.DataFrame, perfect: pd.DataFrame | None, row_id: str
) -> pd.DataFrame:
    """Make a submission in which every second row has the answers of the next one.

    Where the truth is missing, it has the answer of the sample.
    """
    answers = truth if perfect is None else perfect
    if not {*sample} <= {*answers} or len(sample) != len(answers):
        answers = sample
    answers = answers[list(sample)].reset_index(drop=True)
    answers = answers.where(answers.notna(), sample.reset_index(drop=True))
    rows = np.arange(len(answers))
    rows[1::2] = (rows[1::2] + 1) % max(len(rows), 1)
    exchanged = answers.iloc[rows].reset_index(drop=True)
    return exchanged.assign(**{row_id: answers[row_id]}) if row_id in answers else exchanged


def _scored(solution: evaluating.Solution, sample: pd.DataFrame) -> tuple[dict[str, float], str]:
    """Score a sample submission; if that gives no finite scores, tell why."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # A constant answer is expected here.
            scores = pipeline.unjudged(solution, sample).scores
    except (SubmissionRejected, HostError) as problem:
        return {}, f"the metric refuses it: {problem}"
    undefined = [part for part, score in scores.items() if not math.isfinite(score)]
    return scores, f"the score is not finite in {undefined[0]}" if undefined else ""
