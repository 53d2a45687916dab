"""Hypothesis strategies for whole small competitions with many of the cases in which scorers go wrong.

Essays have about 30 words. So segments often overlap, touch, begin or end together, repeat each other, have a
single word, or lose all but one.
"""

import math
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
from hypothesis import strategies as st

from tests.support.unified_transcription import DISCOURSE_TYPES

ATTRIBUTES = ("ell_status", "economically_disadvantaged", "grade")
MISSING = (None, float("nan"), "", "  ")

# The order is neither alphabetical nor numerical; as text, "10" is less than "9".
INTEGER_IDS = (9, 10, 2, 100, 33, 7)
TEXT_IDS = ("b", "a", "B", "10", "9", "é")

# Shares that short segments reach exactly, such as 3 of 5 words and 2 of 3, and the default.
THRESHOLDS = (0.51, 0.51, 3 / 5, 2 / 3, 3 / 4, 4 / 5, 4 / 7, 5 / 9, 1.0)

# Neighbors in this ring have equal d[1] only before these are divided by their sum, or change their order by
# that.
DISTRIBUTIONS = (
    (0.0, 1.0),
    (0.4995, 0.5),
    (0.5, 0.5),
    (0.5005, 0.5),
    (0.4993, 0.4999),
    (0.5, 0.5),
    (0.4995, 0.4995),
    (0.5004, 0.4998),
    (0.4995, 0.4997),
    (0.5002, 0.4998),
    (0.2, 0.8),
    (0.3333, 0.6667),
    (1.0, 0.0005),
    (1.0, 0.0),
)
DISTRIBUTIONS_DRAWN = len(DISTRIBUTIONS) + 3  # with some that Hypothesis makes up


class Competition(NamedTuple):
    """A solution, a submission, and the arguments of `score` that follow `row_id_column_name`."""

    solution: pd.DataFrame
    submission: pd.DataFrame
    parameters: dict[str, Any]

    def __repr__(self) -> str:
        """The whole competition, because Hypothesis prints it when a test fails."""
        return f"{self.parameters}\n\n{self.solution.to_csv()}\n{self.submission.to_csv()}"


class Span(NamedTuple):
    """A segment without its essay: the index of its type in `DISCOURSE_TYPES`, its first and last word, and its
    mark.

    The mark of a true segment is its effectiveness. The mark of a prediction is the index of its probabilities.
    """

    discourse_type: int
    first: int
    last: int
    mark: int


def one_of_each(*options: Sequence[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """One item of each sequence, by a single draw, which is three times as fast as one for each."""

    def decode(number: int) -> tuple[Any, ...]:
        items = []
        for option in options:
            number, index = divmod(number, len(option))
            items.append(option[index])
        return tuple(items)

    return st.integers(0, math.prod(map(len, options)) - 1).map(decode)


def distributions() -> st.SearchStrategy[tuple[float, float]]:
    """Pairs of probabilities whose sum is within 0.001 of one."""

    def pair(d1: float, error: float) -> tuple[float, float]:
        return min(max(1 - d1 + error, 0.0), 1.0), d1

    return st.builds(pair, st.floats(0, 1), st.sampled_from((0.0, 0.001, -0.001, 0.0004, -0.0007)))


# type; distance from the last segment; words; effectiveness
TRUE_STEPS = st.lists(
    one_of_each((0, 2, 2, 1, 3, 4, 5, 6), (0, 0, 0, 0, 1, 3, -1, -2), (5, 3, 4, 5, 6, 1, 2, 8), (1, 0)),
    min_size=1,
    max_size=6,
)

# what to take; which of them, or the first word; shifts of the first and last word; another type; distribution
PREDICTED_STEPS = st.lists(
    one_of_each(
        ("truth", "truth", "truth", "truth", "prediction", "twin", "anything"),
        range(30),
        (0, 0, 0, 1, -1, 2, -2),
        (0, 0, 0, 1, -1, 2, -2, 4),
        (None, None, None, None, 0, 1, 2, 3, 4, 5, 6),
        range(DISTRIBUTIONS_DRAWN),
    ),
    max_size=8,
)


def true_spans(steps: list[tuple[Any, ...]]) -> list[Span]:
    """The segments of an essay in reading order: most of them touch, some leave a gap, and some overlap."""
    spans, end = [], 0
    for discourse_type, gap, words, label in steps:
        first = max(0, end + gap)
        end = first + words
        spans.append(Span(discourse_type, first, end - 1, label))
    return spans


def predicted_spans(steps: list[tuple[Any, ...]], truths: list[Span]) -> list[Span]:
    """Copies of true segments and earlier predictions, unchanged, moved or with another type, and other
    segments.

    A twin differs from an earlier prediction only in its distribution, which is the next one in the ring.
    """
    spans: list[Span] = []
    for source, number, shift_first, shift_last, other_type, d in steps:
        if source == "twin" and spans:
            span = spans[number % len(spans)]
            spans.append(span._replace(mark=(span.mark + 1) % DISTRIBUTIONS_DRAWN))
            continue
        if source != "truth" and not (source == "prediction" and spans):
            span = Span(2, number, number, 0)
        else:
            pool = truths if source == "truth" else spans
            span = pool[number % len(pool)]
        first = max(0, span.first + shift_first)
        last = max(first, span.last + shift_last)
        spans.append(Span(span.discourse_type if other_type is None else other_type, first, last, d))
    return spans


@st.composite
def parameters(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `score`, with every limit and the defaults."""
    essay_id, separator = draw(one_of_each(("essay_id", "essay_id", "document"), (",", ", ")))
    attributes = draw(st.sampled_from((2, 1, 3, 0)))
    weight = draw(st.sampled_from((0.5, 0.0, 1.0, None)))
    threshold = draw(st.sampled_from((*THRESHOLDS, None)))
    temperature = draw(st.sampled_from((65.0, 0.0, 1e-3, 1.5, 1000.0, math.inf, None)))
    return {
        "essay_id_column_name": essay_id,
        "subpopulation_column_names": separator.join(ATTRIBUTES[:attributes]),
        "segment_weight": draw(st.floats(0, 1)) if weight is None else weight,
        "overlap_threshold": draw(st.floats(0.5, 1, exclude_min=True)) if threshold is None else threshold,
        "temperature": draw(st.floats(0, 100)) if temperature is None else temperature,
        "intersectional": draw(st.booleans()),
        "average_all_types": draw(st.booleans()),
    }


@st.composite
def competitions(draw: st.DrawFn) -> Competition:
    """A valid solution, a valid submission that is empty or has an essay of the solution, and parameters."""
    arguments = draw(parameters())
    essay_id = arguments["essay_id_column_name"]
    essays = draw(st.integers(1, 6))
    ids, as_text = draw(one_of_each((TEXT_IDS, INTEGER_IDS), ("neither", "solution", "submission")))
    pool = (*DISTRIBUTIONS, *draw(st.tuples(distributions(), distributions(), distributions())))
    solution_rows: list[dict[str, Any]] = []
    submission_rows: list[dict[str, Any]] = []
    for essay in ids[:essays]:
        truths = true_spans(draw(TRUE_STEPS))
        values = draw(one_of_each(("No", "Yes", None), ("No", "Yes", None), (8, 10, None)))
        for span in truths:
            row = {essay_id: essay} | _cells(span) | {"discourse_effectiveness": span.mark}
            for attribute, value in zip(ATTRIBUTES, values, strict=True):
                row[attribute] = MISSING[len(solution_rows) // 2 % len(MISSING)] if value is None else value
            solution_rows.append(row)
        for span in predicted_spans(draw(PREDICTED_STEPS), truths):
            submission_rows.append({essay_id: essay} | _prediction(span, pool))
    # Without any known essay beside the unknown one, the submission would be in error.
    if draw(st.booleans()) and submission_rows:
        for span in predicted_spans(draw(PREDICTED_STEPS), [Span(2, 0, 4, 0)]):
            submission_rows.append({essay_id: "zz" if ids[0] in TEXT_IDS else 77} | _prediction(span, pool))

    for rows in (solution_rows, submission_rows):
        seed = draw(st.integers(0, 1000))
        if seed:
            random.Random(seed).shuffle(rows)
    solution = pd.DataFrame(solution_rows)
    submission = pd.DataFrame(submission_rows, columns=[essay_id, *_prediction(Span(0, 0, 0, 0), pool)])
    if as_text == "solution":
        solution[essay_id] = solution[essay_id].astype(str)
    elif as_text == "submission":
        submission[essay_id] = submission[essay_id].astype(str)
    solution.insert(0, "row_id", range(1000, 1000 + len(solution)))
    submission.insert(0, "row_id", [f"p{number}" for number in range(len(submission))])
    return Competition(solution, submission, arguments)


def _cells(span: Span) -> dict[str, Any]:
    """The two columns that give the words and the type of a segment."""
    return {
        "discourse_type": DISCOURSE_TYPES[span.discourse_type],
        "predictionstring": " ".join(str(word) for word in range(span.first, span.last + 1)),
    }


def _prediction(span: Span, pool: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """The columns of a submission, except those with ids."""
    d0, d1 = pool[span.mark]
    return _cells(span) | {"score_discourse_effectiveness_0": d0, "score_discourse_effectiveness_1": d1}
