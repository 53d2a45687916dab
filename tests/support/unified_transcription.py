"""A literal transcription of the Unified Metric, with which ``metric.py`` is compared.

The source is R. Abboud's memo "Shovel-Ready Competition - Unified Metric" (23 January 2024). Sets of word
positions, dicts and loops follow it step by step: there is one function for each step, in the memo's order,
with the memo's sections in brackets. Comments marked "decision" are the project's answers where the memo is
silent.

Nothing here is shared with ``metric.py``, and nothing is clever. Nothing checks the input, so it is for valid
tables only.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

DISCOURSE_TYPES = ["Lead", "Position", "Claim", "Counterclaim", "Rebuttal", "Evidence", "Concluding Statement"]


class Segment(NamedTuple):
    """A predicted or a true segment."""

    row: int  # position of its row in its file
    essay: str
    discourse_type: str
    words: set[int]  # their positions in the essay
    d: tuple[float, float]  # probabilities of "not effective" and "effective"; of a true segment, 0.0 and 1.0


class Match(NamedTuple):
    """A prediction P, the true segment G that it matches, and the worth of this match."""

    prediction: Segment
    truth: Segment
    iou: float
    tp: float
    fn: float


class Counts(NamedTuple):
    """True positives, false positives and false negatives."""

    tp: float
    fp: float
    fn: float


class Subpopulation(NamedTuple):
    """The essays with these values of these attributes, their score s, and its weight beta in the softmin."""

    attributes: tuple[str, ...]
    values: tuple[str | None, ...]  # None where missing
    essays: list[str]
    score: float
    weight: float


class Result(NamedTuple):
    """The score and everything that led to it."""

    score: float
    subpopulations: list[Subpopulation]
    essay_counts: dict[str, dict[str, Counts]]  # by essay and discourse type
    predictions: list[Segment]  # those that overlap removal keeps, with their remaining words
    truths: list[Segment]  # the same for true segments
    matches: list[Match]


def evaluate(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    essay_id_column_name: str = "essay_id",
    subpopulation_column_names: str = "ell_status,economically_disadvantaged",
    segment_weight: float = 0.5,
    overlap_threshold: float = 0.51,
    temperature: float = 65.0,
    intersectional: bool = False,
    average_all_types: bool = False,
) -> Result:
    """Steps 2 to 4 of section 5, with all intermediate results."""
    true_segments = by_essay(read_truths(solution, essay_id_column_name))
    # Decision: predictions for essays that the solution does not know are ignored.
    predicted_segments = by_essay(read_predictions(submission, essay_id_column_name))

    predictions: list[Segment] = []
    truths: list[Segment] = []
    matches: list[Match] = []
    essay_counts: dict[str, dict[str, Counts]] = {}
    for essay in true_segments:
        essay_truths = remove_overlaps(true_segments[essay])  # decision: on the truth as well
        essay_predictions = remove_overlaps(predicted_segments.get(essay, []))
        essay_counts[essay] = {}
        for discourse_type in DISCOURSE_TYPES:
            of_type = [p for p in essay_predictions if p.discourse_type == discourse_type]
            truths_of_type = [g for g in essay_truths if g.discourse_type == discourse_type]
            matches_of_type = match(of_type, truths_of_type, overlap_threshold, segment_weight)
            essay_counts[essay][discourse_type] = count(of_type, truths_of_type, matches_of_type)
            matches += matches_of_type
        predictions += essay_predictions
        truths += essay_truths

    parts = partition(solution, essay_id_column_name, subpopulation_column_names, intersectional)
    counts_of_parts = [[essay_counts[essay] for essay in essays] for essays in parts.values()]
    scores = [macro_f1(counts, average_all_types) for counts in counts_of_parts]
    weights = softmin_weights(scores, [len(essays) for essays in parts.values()], temperature)
    subpopulations = [
        Subpopulation(attributes, values, essays, s, beta)
        for ((attributes, values), essays), s, beta in zip(parts.items(), scores, weights, strict=True)
    ]
    return Result(softmin(scores, weights), subpopulations, essay_counts, predictions, truths, matches)


# Input


def read_predictions(submission: pd.DataFrame, essay_id_column_name: str) -> list[Segment]:
    """The predicted segments, each with its probabilities D = (d[0], d[1]) [2.2]."""
    segments = []
    for row, (essay, discourse_type, predictionstring, d0, d1) in enumerate(
        zip(
            submission[essay_id_column_name],
            submission["discourse_type"],
            submission["predictionstring"],
            submission["score_discourse_effectiveness_0"],
            submission["score_discourse_effectiveness_1"],
            strict=True,
        )
    ):
        total = float(d0) + float(d1)
        d = (float(d0) / total, float(d1) / total)  # decision: normalized
        segments.append(Segment(row, text(essay), discourse_type, words_of(predictionstring), d))
    return segments


def read_truths(solution: pd.DataFrame, essay_id_column_name: str) -> list[Segment]:
    """The true segments; their D gives probability 1 to the effectiveness label E [2.2]."""
    segments = []
    for row, (essay, discourse_type, predictionstring, label) in enumerate(
        zip(
            solution[essay_id_column_name],
            solution["discourse_type"],
            solution["predictionstring"],
            solution["discourse_effectiveness"],
            strict=True,
        )
    ):
        d = (0.0, 1.0) if int(label) == 1 else (1.0, 0.0)
        segments.append(Segment(row, text(essay), discourse_type, words_of(predictionstring), d))
    return segments


def text(value: Any) -> str:
    """A value as text, which is the same for a whole number in a column of integers and of floats."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def words_of(predictionstring: str) -> set[int]:
    """The positions of the words of a segment."""
    return {int(word) for word in predictionstring.split()}


def by_essay(segments: list[Segment]) -> dict[str, list[Segment]]:
    """The segments of each essay."""
    essays: dict[str, list[Segment]] = {}
    for segment in segments:
        essays.setdefault(segment.essay, []).append(segment)
    return essays


# 1 Overlap removal


def remove_overlaps(segments: list[Segment]) -> list[Segment]:
    """Steps 1 to 4 of section 1 for the segments of one essay, whatever their types are."""
    remaining = []
    used: set[int] = set()
    for segment in sorted(segments, key=order_of_appearance):
        words = segment.words - used
        # Step 4 is about used word removal: a segment that lost nothing is returned with no changes.
        if words == segment.words or (len(words) > 1 and is_contiguous(words)):
            remaining.append(segment._replace(words=words))
        used |= segment.words  # all words seen so far, with those of discarded segments
    return remaining


def order_of_appearance(segment: Segment) -> tuple[int, int, int, float]:
    """The key of step 1: the starting position and, as a decision, the end, the type and d[1]."""
    return min(segment.words), max(segment.words), DISCOURSE_TYPES.index(segment.discourse_type), segment.d[1]


def is_contiguous(words: set[int]) -> bool:
    """Whether the words follow each other without a gap."""
    return max(words) - min(words) + 1 == len(words)


# 2.1 and 2.4 Matching


def match(
    predictions: list[Segment], truths: list[Segment], overlap_threshold: float, segment_weight: float
) -> list[Match]:
    """Compare every prediction of a type in an essay with every true segment of this type."""
    matches = []
    for prediction in predictions:
        for truth in truths:
            if overlaps_enough(prediction, truth, overlap_threshold):
                iou = intersection_over_union(prediction, truth)
                tp = true_positive_fraction(prediction, truth, segment_weight)
                matches.append(Match(prediction, truth, iou, tp, 1 - tp))
    # Section 2.4: no overlaps and a threshold above one half leave no second match, on either side.
    assert len({one.prediction.row for one in matches}) == len(matches)
    assert len({one.truth.row for one in matches}) == len(matches)
    return matches


def overlaps_enough(prediction: Segment, truth: Segment, overlap_threshold: float) -> bool:
    """Step 2 of section 2.1, with the threshold of section 2.4."""
    shared = len(prediction.words & truth.words)
    o_p = shared / len(prediction.words)
    o_g = shared / len(truth.words)
    return o_p >= overlap_threshold and o_g >= overlap_threshold


# 2.2 and 2.3 The fractional true positive


def intersection_over_union(prediction: Segment, truth: Segment) -> float:
    """The words in both over the words in either [2.3]."""
    return len(prediction.words & truth.words) / len(prediction.words | truth.words)


def true_positive_fraction(prediction: Segment, truth: Segment, segment_weight: float) -> float:
    """TP_P = w * IoU(P, G) + (1 - w) * d[E] [2.3]."""
    w, label = segment_weight, truth.d.index(1.0)
    return w * intersection_over_union(prediction, truth) + (1 - w) * prediction.d[label]


def count(predictions: list[Segment], truths: list[Segment], matches: list[Match]) -> Counts:
    """The TP, FP and FN of one type in one essay [2.1 steps 4 and 5, 2.2]."""
    matched_predictions = {one.prediction.row for one in matches}
    matched_truths = {one.truth.row for one in matches}
    tp = sum(one.tp for one in matches)
    fp = sum(1 for prediction in predictions if prediction.row not in matched_predictions)
    fn = sum(one.fn for one in matches) + sum(1 for truth in truths if truth.row not in matched_truths)
    return Counts(tp, fp, fn)


# 2.1 F1


def f1(tp: float, fp: float, fn: float) -> float:
    """The F1 of a type."""
    return 2 * tp / (2 * tp + fp + fn)


def macro_f1(counts_of_essays: Iterable[dict[str, Counts]], average_all_types: bool) -> float:
    """The mean of the class-wise F1 scores over the essays of a population.

    Decision: a type without any true segment in the population is left out, unless all seven are asked for.
    """
    totals = dict.fromkeys(DISCOURSE_TYPES, Counts(0, 0, 0))
    for counts in counts_of_essays:
        for discourse_type, (tp, fp, fn) in counts.items():
            total = totals[discourse_type]
            totals[discourse_type] = Counts(total.tp + tp, total.fp + fp, total.fn + fn)
    # A true segment adds its one to TP and FN together, so TP + FN is the number of true segments.
    present = [total for total in totals.values() if total.tp + total.fn > 0]
    return sum(f1(*total) for total in present) / (7 if average_all_types else len(present))


# 5 Step 3: sub-populations


def partition(
    solution: pd.DataFrame, essay_id_column_name: str, subpopulation_column_names: str, intersectional: bool
) -> dict[tuple[tuple[str, ...], tuple[str | None, ...]], list[str]]:
    """Divide the essays into sub-populations by their attributes and the values of these.

    Decisions: every value of every attribute makes a sub-population. With `intersectional`, every combination
    that occurs makes one. A missing value counts as a value. Without attributes there is one population of all
    essays.
    """
    names = tuple(name.strip() for name in subpopulation_column_names.split(",") if name.strip())
    partitions = [names] if intersectional or not names else [(name,) for name in names]
    essays = [text(essay) for essay in solution[essay_id_column_name]]
    parts: dict[tuple[tuple[str, ...], tuple[str | None, ...]], list[str]] = {}
    for attributes in partitions:
        columns = [[value_or_none(value) for value in solution[attribute]] for attribute in attributes]
        values_of = {essay: tuple(column[row] for column in columns) for row, essay in enumerate(essays)}
        for essay, values in values_of.items():
            parts.setdefault((attributes, values), []).append(essay)
    return parts


def value_or_none(value: Any) -> str | None:
    """A demographic value as text; None if it is missing, empty or blank."""
    return None if pd.isna(value) or not str(value).strip() else text(value)


# 3 Softmin


def softmin_weights(scores: list[float], sizes: list[int], temperature: float) -> list[float]:
    """beta_i = |P_i| exp(-alpha s_i) / sum_j |P_j| exp(-alpha s_j); at infinity, of the minimum only."""
    lowest = min(scores)
    if math.isinf(temperature):
        terms = [float(size) if s == lowest else 0.0 for s, size in zip(scores, sizes, strict=True)]
    else:
        # exp(alpha * lowest) cancels; without it every term may underflow to zero.
        terms = [size * math.exp(-temperature * (s - lowest)) for s, size in zip(scores, sizes, strict=True)]
    return [term / sum(terms) for term in terms]


def softmin(scores: list[float], weights: list[float]) -> float:
    """nu = sum_j s_j beta_j."""
    return sum(s * beta for s, beta in zip(scores, weights, strict=True))
