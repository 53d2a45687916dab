"""The Unified Metric for segmenting student essays, as one file to upload to Kaggle.

A model marks the segments of an essay, such as a lead, a claim or evidence. For each it says how likely it is
to be effective. ``score`` turns such a submission into one number between 0 and 1. Numbers in brackets are
sections of the memo that defines the metric (R. Abboud, "Shovel-Ready Competition - Unified Metric", 2024).
After ``score`` and ``prepare``, the stages follow in the order in which the data passes through them. Then
``Prepared`` puts them together, and the reading of the two tables comes last:

    overlap removal       [1]      remove_overlaps
    matching              [2.4]    match
    fractional TP         [2.2-3]  intersection_over_union, true_positive_fraction
    F1 per type           [2.1]    count_outcomes, f1_of_types, macro_f1
    sub-populations       [5]      form_subpopulations, sums_of_groups
    softmin               [3]      softmin_weights, softmin
    all of them                    Prepared
    input                          read_segments, parse_predictionstrings

This file does not follow two sentences of the memo. The numbers are scores of the repository's sample, which
gets 0.5880:

* [2.1] averages all seven F1 scores. Here a type that is absent from a sub-population's truth is left out of
  its mean, so that one stray prediction does not cost a small group a seventh of its score. With the
  parameter ``average_all_types``, which follows the memo to the letter, the sample gets 0.3306.
* [3] calls a softmin of temperature 0 uniform averaging. By the memo's own formula, which counts here, it is
  the mean weighted by the number of essays: 0.6204. The plain mean of the sub-populations would be 0.6055.

The temperature of 65 is this file's default: the memo says "currently selected to be 50-80" [5], and 65 is the
middle. At any temperature, a better score of a group that is already good can lower the final score, because
the weights follow the weakest groups.

Where the memo is silent, this file decides:

* Segments that start at the same word are ordered by last word, type (as in ``DISCOURSE_TYPES``) and d[1], the
  probability of being effective. So the score does not depend on the order of the rows.
* No other segment gets the words of a discarded segment. A segment that had one word from the beginning and
  lost nothing stays; the memo discards those that are cut down to one word [1].
* A discarded prediction is not a false positive.
* True segments that overlap lose words by the same rule, and a ``TruthOverlapWarning`` says so.
* Each value of each attribute forms a sub-population, and so do missing values. Its size is its number of
  essays. All sub-populations share one softmin.
* Predictions for essays outside the solution are ignored, and an empty submission scores 0.
* A probability may be outside [0, 1] by 0.000001. A pair may miss the sum 1 by 0.001 and is then normalized.
"""

import functools
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "COMPLETE_SUBMISSION", "LATER_PARAMETERS", "MEASURE_PARAMETERS", "NAME", "HostVisibleError",
    "ParticipantVisibleError", "Prepared", "__version__", "higher_is_better", "prepare", "score",
]  # fmt: skip

__version__ = "3.0.0"

NAME = "unified"
COMPLETE_SUBMISSION = True  # needs the switch “Pass complete submission” on Kaggle
MEASURE_PARAMETERS = ("subpopulation_column_names", "temperature", "intersectional", "average_all_types")
LATER_PARAMETERS = ("average_all_types",)

DISCOURSE_TYPES = ("Lead", "Position", "Claim", "Counterclaim", "Rebuttal", "Evidence", "Concluding Statement")
LABEL_COLUMN = "discourse_effectiveness"
PROBABILITY_COLUMNS = ("score_discourse_effectiveness_0", "score_discourse_effectiveness_1")
LAST_POSITION = 99_999  # the largest position that a word may have
RANGE_TOLERANCE = 1e-6
SUM_TOLERANCE = 1e-3 + 1e-9  # a little more than 0.001, because 0.999 is not exactly a binary number
MISSING = "(missing)"
ALL = ("(all)", "(all)")


Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong. Kaggle knows this exception by its name and shows its text to participants."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong. Kaggle shows this text only to the host."""


class TruthOverlapWarning(UserWarning):
    """Segments of the solution overlap, and the later ones lost the common words."""


# ---- Public API ------------------------------------------------------------------------------------------


def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    essay_id_column_name: str = "essay_id",
    subpopulation_column_names: str = "ell_status,economically_disadvantaged",
    segment_weight: float = 0.5,
    overlap_threshold: float = 0.51,
    temperature: float = 65.0,
    intersectional: bool = False,
    average_all_types: bool = False,
) -> float:
    """Unified Metric: span F1 with fractional true positives, averaged by a softmin over demographics.

    On Kaggle, switch on "Pass complete submission".

    In each essay, overlaps among the predicted segments are removed: a word stays with the segment that begins
    first. A segment that is left with one word or none vanishes, and is no false positive. Then a prediction
    P matches a true segment G of its type if they share at least `overlap_threshold` of the words of each. A
    match counts w·IoU(P, G) + (1 - w)·d[E] true positives, and the rest of it is a false negative. Here w is
    `segment_weight`, and IoU is the number of common words divided by the number of words in either. The
    prediction gives the probability d[E] to the true effectiveness E. The F1 scores of the types that occur
    are averaged within each sub-population of writers, and the softmin of these averages is the score. Writers
    whose attribute is missing form a sub-population of their own.

    Parameters
    ----------
    solution : DataFrame, one row per true segment
        `row_id_column_name`, `essay_id_column_name`, ``discourse_type``, ``predictionstring``,
        ``discourse_effectiveness`` (0 or 1) and the columns of `subpopulation_column_names`. The column
        ``predictionstring`` has the positions of a segment's words in the essay, from 0, as in "45 46 47".
    submission : DataFrame, one row per predicted segment
        The same first four columns, and ``score_discourse_effectiveness_0`` and
        ``score_discourse_effectiveness_1``: two probabilities that sum to 1.
    row_id_column_name : str
        The column that names rows in messages. It has no influence on the score.
    essay_id_column_name : str
        The column of essay ids. Essays are the same if their ids are the same text.
    subpopulation_column_names : str
        The columns of the writer's attributes, separated by commas. With "", all essays form one
        sub-population.
    segment_weight : float in [0, 1]
        w, the share of a true positive that depends on the words; the rest depends on the effectiveness.
    overlap_threshold : float in (0.5, 1]
        The least share of a prediction's words, and of a true segment's words, that both must have in common.
    temperature : float, at least 0
        α of the softmin. With 0, the softmin is the mean weighted by the number of essays. With infinity, it
        is the minimum.
    intersectional : bool
        Whether each combination of the attributes' values forms a sub-population, instead of each value.
    average_all_types : bool
        Whether the F1 scores of all seven types are averaged, as the memo says. Those of types that the truth
        of a sub-population lacks count 0, and no prediction can raise them.

    Returns
    -------
    float
        The score, from 0 (worst) to 1 (best).

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed, or none of its essays is in the solution. The text says nothing else about
        the solution.
    HostVisibleError
        The solution is malformed or a parameter is out of range.

    References
    ----------
    R. Abboud, "Shovel-Ready Competition - Unified Metric", 2024.

    Examples
    --------
    All types are right, one segment is two words too short, and the probabilities are good guesses:

    >>> solution = pd.DataFrame({
    ...     "row_id": [0, 1, 2], "essay_id": ["A", "A", "B"], "discourse_type": ["Lead", "Claim", "Lead"],
    ...     "predictionstring": ["0 1 2 3", "4 5 6 7 8 9 10 11", "0 1 2 3 4"],
    ...     "discourse_effectiveness": [1, 0, 1], "ell_status": ["No", "No", "Yes"]})
    >>> submission = solution.iloc[:, :4].assign(
    ...     predictionstring=["0 1 2 3", "6 7 8 9 10 11", "0 1 2 3 4"],
    ...     score_discourse_effectiveness_0=[0.25, 1.0, 0.5], score_discourse_effectiveness_1=[0.75, 0.0, 0.5])
    >>> round(score(solution, submission, "row_id", subpopulation_column_names="ell_status"), 6)
    0.857677

    An empty submission scores 0. A message says what was expected, where, and what was found there:

    >>> score(solution, submission.head(0), "row_id", subpopulation_column_names="ell_status")
    0.0
    >>> try:
    ...     score(solution, submission.replace("0 1 2 3 4", "0 2"), "row_id", subpopulation_column_names="")
    ... except ParticipantVisibleError as error:
    ...     print(error)
    predictionstring: expected the positions of the segment's words, counted from 0, ascending without a gap, \
separated by single spaces, such as '45 46 47'. Wrong in 1 row of the submission: row_id 2 ('0 2': 0 is not \
followed by 1)
    """
    prepared = prepare(
        solution,
        row_id_column_name,
        essay_id_column_name,
        subpopulation_column_names,
        segment_weight,
        overlap_threshold,
        temperature,
        intersectional,
        average_all_types,
    )
    sums = sums_of_groups(prepared.statistics(submission), prepared.groups)
    return float(prepared.measures(sums)[0])


def higher_is_better() -> bool:
    """Tell whether a higher score is better."""
    return True


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    essay_id_column_name: str = "essay_id",
    subpopulation_column_names: str = "ell_status,economically_disadvantaged",
    segment_weight: float = 0.5,
    overlap_threshold: float = 0.51,
    temperature: float = 65.0,
    intersectional: bool = False,
    average_all_types: bool = False,
) -> "Prepared":
    """Check a solution once, so that many submissions can be scored against it.

    The parameters and errors are those of `score`. A `TruthOverlapWarning` says that true segments overlap.
    """
    _check_parameter("row_id_column_name", row_id_column_name, str)
    _check_parameter("essay_id_column_name", essay_id_column_name, str)
    _check_parameter("subpopulation_column_names", subpopulation_column_names, str)
    _check_parameter("segment_weight", segment_weight, float, lambda w: 0 <= w <= 1, "from 0 to 1")
    # At one half or below, a segment could have two partners.
    _check_parameter("overlap_threshold", overlap_threshold, float, lambda t: 0.5 < t <= 1, "above 0.5 to 1")
    _check_parameter(
        "temperature", temperature, float, lambda a: 0 <= a < 1e300 or a == np.inf, "from 0 to infinity"
    )
    _check_parameter("intersectional", intersectional, bool)
    _check_parameter("average_all_types", average_all_types, bool)
    attributes = _attributes(subpopulation_column_names)

    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns(essay_id_column_name, "discourse_type", "predictionstring", LABEL_COLUMN, *attributes)
    items, essay = read_items(table, essay_id_column_name)
    given = read_segments(table, essay, read_effectiveness)
    truths = remove_overlaps(given)
    _warn_of_overlaps(given, truths)
    values = {attribute: read_values(table, attribute, essay, items) for attribute in attributes}
    labels, groups = form_subpopulations(values, len(items), intersectional)
    return Prepared(
        items=items,
        item_of_row=essay,
        labels=labels,
        groups=groups,
        given=given,
        truths=truths,
        row_id_column_name=row_id_column_name,
        essay_id_column_name=essay_id_column_name,
        segment_weight=float(segment_weight),
        overlap_threshold=float(overlap_threshold),
        temperature=float(temperature),
        average_all_types=bool(average_all_types),
    )


# ---- Overlap removal [1] ---------------------------------------------------------------------------------


def remove_overlaps(segments: "Segments") -> "Segments":
    """Give every word of an essay to the first segment that holds it, across all types [1].

    A segment that lost words and has at most one left is discarded. No other segment gets its words.

    The second segment loses its first two words. The third one keeps only one word and is discarded:

    >>> zeros = np.zeros(3, dtype=np.int64)
    >>> left = remove_overlaps(Segments(
    ...     zeros, np.array([0, 8, 18]), np.array([9, 19, 20]), zeros, np.ones(3), np.arange(3)))
    >>> left.first.tolist(), left.last.tolist()
    ([0, 10], [9, 19])
    """
    segments = segments.take(_reading_order(segments))
    # Earlier segments start at or before this one. So the words that they share with it are its first ones, up
    # to the largest last word so far. A running maximum says where its unused words begin. The keys of an
    # essay are larger than those of all essays before it, so the maximum never reaches into another essay.
    used = np.maximum.accumulate(word_key(segments.essay, segments.last))
    first_unused = np.append(0, used + 1)[:-1] - word_key(segments.essay, np.int64(0))
    first_left = np.maximum(segments.first, first_unused)
    left = (segments.last > first_left) | (first_left == segments.first)
    return segments._replace(first=first_left).take(left)


# ---- Segments --------------------------------------------------------------------------------------------


class Segments(NamedTuple):
    """Segments of many essays, as columns of equal length."""

    essay: Ints  # the index of the essay in the sorted ids of the solution, -1 if the solution lacks it
    first: Ints  # the positions of the first and the last word in the essay, both inclusive, from 0
    last: Ints
    discourse_type: Ints  # an index into `DISCOURSE_TYPES`
    d1: Floats  # d[1], the probability of being effective; d[0] = 1 - d[1]. Of a true segment, the label E
    row: Ints  # the position of the segment's row in its table, from 0

    def take(self, index: npt.NDArray[Any]) -> "Segments":
        """Select some of the segments."""
        return Segments._make(column[index] for column in self)

    @property
    def words(self) -> Ints:
        """The number of words of each segment."""
        return self.last - self.first + 1


# One integer holds a segment's essay, first word, last word and type, so that sorting it sorts by all four.
_POSITION_BITS, _TYPE_BITS = 17, 3


def word_key(essay: Ints, position: Ints | np.int64) -> Ints:
    """An integer for each word, which grows with the essay and, within it, with the position."""
    return (essay << _POSITION_BITS) | position


def _reading_order(segments: Segments) -> Ints:
    """The indices that sort segments by essay, first word, last word, type and d[1]."""
    start = word_key(segments.essay, segments.first)
    key = (word_key(start, segments.last) << _TYPE_BITS) | segments.discourse_type
    order = np.argsort(key, kind="stable")
    # Few keys are equal, and only among these d[1] decides. Sorting all by d[1] would take far longer.
    tied = np.flatnonzero(np.diff(key[order]) == 0)
    if len(tied):
        tied = np.union1d(tied, tied + 1)
        rows = order[tied]
        order[tied] = rows[np.lexsort((segments.d1[rows], key[rows]))]
    return order


# ---- Matching [2.1, 2.4] ---------------------------------------------------------------------------------


def match(predictions: Segments, truths: Segments, overlap_threshold: float) -> tuple[Ints, Ints]:
    """Pair predictions with the true segments that have the same essay, type and most of the words [2.4].

    The threshold must be above one half, because only then can a segment have at most one partner.
    """
    # A prediction with more than half of a truth's words has its middle word, and without overlaps only one
    # prediction can have that word. So the only candidate is the last prediction that starts at or before it.
    if not len(predictions.row):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    middle = word_key(truths.essay, (truths.first + truths.last) // 2)
    candidate = np.searchsorted(word_key(predictions.essay, predictions.first), middle, side="right") - 1
    # If no prediction starts there or before, the index is -1, which takes the last prediction. It starts
    # after the middle word, too, and so has at most half of the truth's words.
    rivals = predictions.take(candidate)
    common = common_words(rivals, truths)
    matched = (
        (rivals.essay == truths.essay)
        & (rivals.discourse_type == truths.discourse_type)
        & (common / rivals.words >= overlap_threshold)
        & (common / truths.words >= overlap_threshold)
    )
    return candidate[matched], np.flatnonzero(matched)


def common_words(a: Segments, b: Segments) -> Ints:
    """Count the words that segments have in common."""
    return np.asarray(np.maximum(np.minimum(a.last, b.last) - np.maximum(a.first, b.first) + 1, 0))


# ---- Fractional true positives [2.2, 2.3] ----------------------------------------------------------------


def intersection_over_union(predictions: Segments, truths: Segments) -> Floats:
    """Intersection over union (IoU) of aligned predictions and truths [2.3]."""
    common = common_words(predictions, truths)
    return common / (predictions.words + truths.words - common)


def probability_of_label(predictions: Segments, truths: Segments) -> Floats:
    """Probability d[E] that each prediction gives to the true effectiveness E of its partner [2.2]."""
    return np.where(truths.d1 == 1.0, predictions.d1, 1.0 - predictions.d1)


def true_positive_fraction(predictions: Segments, truths: Segments, segment_weight: float) -> Floats:
    """True positives that each match counts: TP_P = w·IoU(P, G) + (1 - w)·d[E] [2.3].

    The rest of the match is a false negative, FN_P = 1 - TP_P.

    In example (a) of the memo, 9 of 10 words agree, and d[1] is 0.8 for an effective segment.

    >>> zero = np.zeros(1, dtype=np.int64)
    >>> truth = Segments(zero, zero, zero + 9, zero, zero + 1.0, zero)
    >>> prediction = truth._replace(first=zero + 1, last=zero + 10, d1=zero + 0.8)
    >>> true_positive_fraction(prediction, truth, 0.5).round(3).tolist()
    [0.809]
    """
    iou = intersection_over_union(predictions, truths)
    return segment_weight * iou + (1 - segment_weight) * probability_of_label(predictions, truths)


# ---- F1 per type [2.1] -----------------------------------------------------------------------------------


def count_outcomes(
    predictions: Segments, truths: Segments, matches: tuple[Ints, Ints], tp: Floats, essays: int
) -> Floats:
    """Count true positives, false positives and false negatives of each essay and type [2.1, 2.2].

    A prediction without a partner is a whole false positive, and a truth without one a whole false negative.
    """
    types = len(DISCOURSE_TYPES)

    def total(cell: Ints, weights: Floats | None = None) -> Floats:
        # bincount adds in the order of the segments, which are sorted. So no sum depends on the order of rows.
        return np.bincount(cell, weights, minlength=essays * types).astype(np.float64)

    predicted = predictions.essay * types + predictions.discourse_type
    true = truths.essay * types + truths.discourse_type
    matched = true[matches[1]]
    matches_of_cell = total(matched)
    false_positives = total(predicted) - matches_of_cell
    false_negatives = total(true) - matches_of_cell + total(matched, 1 - tp)
    return np.stack([total(matched, tp), false_positives, false_negatives], axis=-1).reshape(essays, types, 3)


def f1_of_types(counts: Floats) -> Floats:
    """F1 of each type: 2TP / (2TP + FP + FN) [2.1].

    >>> f1_of_types(np.array([[1.0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 0]])).round(3).tolist()
    [1.0, 0.667, 0.0, nan]
    """
    tp, fp, fn = np.moveaxis(counts, -1, 0)
    return _ratio(2 * tp, np.where(tp + fn > 0, 2 * tp + fp + fn, 0))


def macro_f1(counts: Floats, average_all_types: bool = False) -> Floats:
    """τ, the mean F1 over the types that the truth has, or over all of them [2.1].

    The first type was predicted well and the second one was missed. The truth lacks the third type, which
    counts only if all types are averaged:

    >>> counts = np.array([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]])
    >>> macro_f1(counts).tolist(), macro_f1(counts, average_all_types=True).round(3).tolist()
    (0.5, 0.333)
    """
    f1 = f1_of_types(counts)
    occurs = ~np.isnan(f1)
    averaged = occurs | (average_all_types & occurs.any(axis=-1, keepdims=True))  # without essays there is no τ
    return _ratio(np.where(occurs, f1, 0.0).sum(axis=-1), averaged.sum(axis=-1))


# ---- Sub-populations [5, steps 3 and 4] ------------------------------------------------------------------


def form_subpopulations(
    values: Mapping[str, tuple[list[str], Ints]], essays: int, intersectional: bool
) -> tuple[list[tuple[str, str]], Ints]:
    """Form the sub-populations of writers: one for each value of each attribute, or for each combination."""
    if not values:
        return [ALL], np.zeros((1, essays), dtype=np.int64)
    attributes, texts = list(values), [texts for texts, _ in values.values()]
    codes = np.stack([of_essays for _, of_essays in values.values()])
    if intersectional:
        combinations, code = np.unique(codes, axis=1, return_inverse=True)
        texts = [[" & ".join(map(list.__getitem__, texts, each)) for each in combinations.T.tolist()]]
        codes = code.reshape(1, -1)
        attributes = [" & ".join(attributes)]
    labels = [(attribute, value) for attribute, of_one in zip(attributes, texts) for value in of_one]
    return labels, codes + np.cumsum([0, *map(len, texts[:-1])])[:, np.newaxis]


def sums_of_groups(statistics: Floats, groups: Ints) -> Floats:
    """Sum statistics over groups, in the order of the items.

    There are three items and two attributes, the first of which has two values:

    >>> sums_of_groups(np.array([[1.0], [2], [4]]), np.array([[0, 1, 0], [2, 2, 2]])).tolist()
    [[5.0], [2.0], [7.0]]
    """
    number = groups.max() + 1
    columns = [
        sum(np.bincount(members, column, minlength=number) for members in groups) for column in statistics.T
    ]
    return np.stack(columns, axis=-1)


# ---- Bias-aware aggregation [3] --------------------------------------------------------------------------


def softmin_weights(scores: npt.ArrayLike, sizes: npt.ArrayLike, temperature: float) -> Floats:
    """Weights of the sub-populations in the softmin: β_i = |P_i|·exp(-α·s_i) / Σ_j |P_j|·exp(-α·s_j) [3].

    >>> [softmin_weights([0.6, 0.8], [1, 1], a).round(3).tolist() for a in (0, 10, np.inf)]
    [[0.5, 0.5], [0.881, 0.119], [1.0, 0.0]]
    """
    # Scores are counted from the lowest one, so that no exponential overflows. An infinite α would make NaN of
    # an excess of 0, which is therefore never multiplied.
    _, excess = _above_lowest(scores, sizes)
    exponent = np.multiply(excess, temperature, out=np.zeros_like(excess), where=excess > 0)
    weights = np.asarray(sizes) * np.exp(-exponent)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def softmin(scores: npt.ArrayLike, sizes: npt.ArrayLike, temperature: float) -> Floats:
    """Softmin of the scores: ν = Σ_j β_j·s_j [3].

    The memo has two models that are equal on average. The second one is biased:

    >>> [softmin([[0.7, 0.7], [0.6, 0.8]], [1, 1], a).round(3).tolist() for a in (0, 10, np.inf)]
    [[0.7, 0.7], [0.7, 0.624], [0.7, 0.6]]
    """
    # The excess over the lowest score is averaged. So equal scores give exactly themselves, and no rounding
    # can bring ν below the lowest score.
    lowest, excess = _above_lowest(scores, sizes)
    return np.asarray(lowest + (softmin_weights(scores, sizes, temperature) * excess).sum(axis=-1))


def _above_lowest(scores: npt.ArrayLike, sizes: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The lowest score of the sub-populations that have members, (...), and the excess of each, (..., k)."""
    scores, present = np.broadcast_arrays(np.asarray(scores, dtype=np.float64), np.asarray(sizes) > 0)
    lowest = np.min(scores, axis=-1, where=present, initial=np.inf)
    return lowest, np.where(present, scores - lowest[..., np.newaxis], 0.0)


# ---- Prepared solutions: the stages put together ---------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A solution that `prepare` has checked, with the parameters of the score."""

    items: list[str]  # the sorted ids of the essays
    item_of_row: Ints  # the essay of each row of the solution, as an index into `items`
    labels: list[tuple[str, str]]  # the attribute and the value of each sub-population
    groups: Ints  # the sub-population of each essay by each attribute, as an index into `labels`
    given: Segments  # the true segments as they stand in the solution
    truths: Segments  # what overlap removal leaves of them
    row_id_column_name: str  # here and below, the parameters of `score`
    essay_id_column_name: str
    segment_weight: float
    overlap_threshold: float
    temperature: float
    average_all_types: bool

    @property
    def measure_names(self) -> list[str]:
        """The names of the m measures: the score, τ of each sub-population, F1 of each type over all essays."""
        populations = [f"{attribute} = {value}" for attribute, value in self.labels]
        return ["score", *populations, *(f"F1 of {name}" for name in DISCOURSE_TYPES)]

    def read(self, submission: pd.DataFrame) -> Segments:
        """Read the segments of a submission."""
        table = _Table(submission, "the submission", self.row_id_column_name, ParticipantVisibleError)
        essay_id = self.essay_id_column_name
        table.check_columns(essay_id, "discourse_type", "predictionstring", *PROBABILITY_COLUMNS)
        codes, texts = _texts(table, essay_id)
        essay = _positions(texts, self.items)[codes]
        segments = read_segments(table, essay, read_probabilities)
        if texts and (essay < 0).all():
            raise ParticipantVisibleError(
                f"{_short(essay_id)}: expected essays of the test set, found none of them"
            )
        return segments

    def compare(self, given: Segments) -> tuple[Segments, tuple[Ints, Ints]]:
        """Remove overlaps among the predictions and match what is left with the true segments."""
        predictions = remove_overlaps(given.take(given.essay >= 0))
        return predictions, match(predictions, self.truths, self.overlap_threshold)

    def count(self, compared: tuple[Segments, tuple[Ints, Ints]]) -> Floats:
        """Count the outcomes of compared segments in each essay.

        The last column is one for each essay, so that its sum is the size of a sub-population.
        """
        predictions, (p, g) = compared
        tp = true_positive_fraction(predictions.take(p), self.truths.take(g), self.segment_weight)
        counts = count_outcomes(predictions, self.truths, (p, g), tp, len(self.items))
        return np.concatenate([counts.reshape(len(counts), -1), np.ones((len(counts), 1))], axis=1)

    def statistics(self, submission: pd.DataFrame) -> Floats:
        """Compute the numbers whose sums over the sub-populations decide every measure."""
        return self.count(self.compare(self.read(submission)))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute the measures from sums of statistics."""
        sums = np.asarray(sums, dtype=np.float64)
        counts = sums[..., :-1].reshape(*sums.shape[:-1], len(DISCOURSE_TYPES), 3)
        tau = macro_f1(counts, self.average_all_types)
        nu = softmin(tau, sums[..., -1], self.temperature)
        # Every essay is in exactly one sub-population of the first attribute, so these sum up to all essays.
        of_first_attribute = sum(attribute == self.labels[0][0] for attribute, _ in self.labels)
        overall = counts[..., :of_first_attribute, :, :].sum(axis=-3)
        return np.concatenate([nu[..., np.newaxis], tau, f1_of_types(overall)], axis=-1)


# ---- Input -----------------------------------------------------------------------------------------------


ROWS_AT_ONCE = 8192  # rows whose texts fit into a processor's cache
SHORTEST_RULER = 2048  # words; nearly all essays are shorter


def read_items(table: "_Table", essay_id_column_name: str) -> tuple[list[str], Ints]:
    """Read the sorted ids of the solution's essays, and the index of each row's essay among them."""
    if table.frame.empty:
        raise HostVisibleError("the solution: expected at least one row, found none")
    codes, texts = _texts(table, essay_id_column_name)
    items = sorted(texts)
    return items, _positions(texts, items)[codes]


def read_segments(table: "_Table", essay: Ints, read_d1: Callable[["_Table"], Floats]) -> Segments:
    """Read the segments in the rows of a table."""
    discourse_type = read_types(table)
    first, last = read_words(table)
    return Segments(essay, first, last, discourse_type, read_d1(table), np.arange(len(essay)))


def read_types(table: "_Table") -> Ints:
    """Read the type of each row."""
    codes, texts = _texts(table, "discourse_type")
    types = _positions(texts, DISCOURSE_TYPES)[codes]
    expected = f"one of {', '.join(DISCOURSE_TYPES)}"
    table.reject("discourse_type", types < 0, lambda row: _quoted(texts[codes[row]]), expected)
    return types


def read_words(table: "_Table") -> tuple[Ints, Ints]:
    """Read the first and the last word of each row's segment."""
    column = table.frame["predictionstring"]
    first, last = np.concatenate([np.zeros((2, 0), dtype=np.int64), *parse_column(column)], axis=1)

    def content(row: int) -> str:
        (cell,) = _texts_of_cells([column.iloc[row]])
        return f"{_quoted(cell)}: {_why_not_a_predictionstring(cell)}" if cell.strip() else "empty"

    expected = (
        "the positions of the segment's words, counted from 0, ascending without a gap, separated by single "
        "spaces, such as '45 46 47'"
    )
    table.reject("predictionstring", last < 0, content, expected)
    return first, last


def parse_column(column: pd.Series) -> Iterator[tuple[Ints, Ints]]:
    """Parse a column of predictionstrings block by block, each as `parse_predictionstrings` does."""
    for start in range(0, len(column), ROWS_AT_ONCE):
        yield parse_predictionstrings(_texts_of_cells(column.iloc[start : start + ROWS_AT_ONCE].tolist()))


def parse_predictionstrings(cells: list[str]) -> tuple[Ints, Ints]:
    """Find the first and the last word of each predictionstring.

    >>> parse_predictionstrings(["45 46 47", "0", "45 47", "7 ", ""])[1].tolist()
    [47, 0, -1, -1, -1]
    """
    length = np.fromiter(map(len, cells), np.int64, len(cells))
    begin = np.cumsum(length) - length
    # "replace" keeps one byte per character.
    joined = np.frombuffer(("".join(cells) + " ").encode("ascii", "replace"), np.uint8)
    first = np.zeros(len(cells), dtype=np.int64)
    in_number = np.ones(len(cells), dtype=bool)
    for digit in range(len(str(LAST_POSITION))):
        value = joined[np.minimum(begin + digit, len(joined) - 1)] - np.uint8(ord("0"))
        in_number &= (value < 10) & (digit < length)
        first = np.where(in_number, first * 10 + value, first)
    # Write all positions out: the ruler "0 1 2 … 45 46 47 48 …". A valid cell such as "45 46 47" is a piece of
    # it. So find where the ruler has the cell's first number, and compare the texts from there. The cell must
    # end where a number does. A position takes at least two characters, which bounds the ruler.
    furthest = (first + length // 2).max(initial=0)
    ruler, starts, position_ending_at = _ruler(max(1 << int(furthest).bit_length(), SHORTEST_RULER))
    start = starts[first]
    last = position_ending_at[np.minimum(start + length, len(ruler))]
    valid = np.fromiter(map(ruler.startswith, cells, start.tolist()), bool, len(cells))
    return first, np.where(valid, last, -1)


@functools.cache
def _ruler(positions: int) -> tuple[str, Ints, Ints]:
    """The text "0 1 2 … " of so many positions, up to `LAST_POSITION`.

    With it come the index at which each position starts, and the position that ends at each index, or -1.
    """
    ruler = " ".join(map(str, range(min(positions, LAST_POSITION + 1)))) + " "
    ends = np.flatnonzero(np.frombuffer(ruler.encode(), np.uint8) == ord(" "))
    starts = np.concatenate([[0], ends[:-1] + 1])
    position_ending_at = np.full(len(ruler) + 1, -1)
    position_ending_at[ends] = np.arange(len(ends))
    return ruler, starts, position_ending_at


def _why_not_a_predictionstring(cell: str) -> str:
    """Say what is wrong with a predictionstring that is not valid."""
    previous, begin = None, 0
    while begin < len(cell):
        space = cell.find(" ", begin)
        end = len(cell) if space < 0 else space
        number, begin = cell[begin:end], end + 1
        if not number:
            return "spaces other than single ones"
        if not re.fullmatch("[0-9]+", number):
            return f"{_quoted(number)} is not a whole number"
        if len(number) > 1 and number[0] == "0":
            return f"{_quoted(number)} has a leading zero"
        if len(number) > len(str(LAST_POSITION)):
            return f"{_quoted(number)} is above {LAST_POSITION}"
        if previous is not None and int(number) != previous + 1:
            return f"{previous} is not followed by {previous + 1}"
        previous = int(number)
    return "a space at the end"


def _texts_of_cells(cells: list[Any]) -> list[str]:
    """The texts of cells; a missing cell has the text ""."""
    if {*map(type, cells)} <= {str}:
        return cells
    return ["" if _is_missing(cell) else _as_text(cell) for cell in cells]


def read_effectiveness(table: "_Table") -> Floats:
    """Read the true effectiveness E of each row's segment."""
    label = _numbers(table.frame[LABEL_COLUMN])
    table.reject(LABEL_COLUMN, ~((label == 0) | (label == 1)), _cell_of(table, LABEL_COLUMN), "0 or 1")
    return label


def read_probabilities(table: "_Table") -> Floats:
    """Read the probability that each row's segment is effective."""
    d = []
    for column in PROBABILITY_COLUMNS:
        values = _numbers(table.frame[column])
        wrong = ~((values >= -RANGE_TOLERANCE) & (values <= 1 + RANGE_TOLERANCE))
        table.reject(column, wrong, _cell_of(table, column), "a number from 0 to 1")
        d.append(values.clip(0, 1))
    total = d[0] + d[1]
    table.reject(
        "score_discourse_effectiveness_0 and _1",
        np.abs(total - 1) > SUM_TOLERANCE,
        lambda row: f"{d[0][row]:g} + {d[1][row]:g} = {total[row]:g}",
        "two probabilities that sum to 1",
    )
    return np.asarray(d[1] / total)


def _warn_of_overlaps(given: Segments, truths: Segments) -> None:
    """Warn if overlap removal changed the true segments that the solution gives."""
    trimmed = int((truths.first != given.first[truths.row]).sum())
    discarded = len(given.row) - len(truths.row)
    if trimmed or discarded:
        warnings.warn(
            f"{_counted(trimmed + discarded, 'segment')} of the solution overlapping an earlier one: "
            f"{trimmed:,} lost the common words, {discarded:,} were discarded.",
            TruthOverlapWarning,
            stacklevel=3,
        )


def read_values(table: "_Table", attribute: str, essay: Ints, items: list[str]) -> tuple[list[str], Ints]:
    """Read an attribute of the writers, such as their gender."""
    codes, texts = _factorize(table.frame[attribute])
    first_row = np.zeros(len(items), dtype=np.int64)
    first_row[essay[::-1]] = np.arange(len(essay))[::-1]  # the last assignment stays, that of the first row
    table.reject(
        attribute,
        codes != codes[first_row][essay],
        lambda row: f"essay {_quoted(items[essay[row]])} had another value before",
        "one value per essay",
    )
    values = sorted(texts)
    of_essay = np.append(_positions(texts, values), len(values))[codes[first_row]]  # code -1 takes the last one
    names = [repr(value) if value == MISSING else value for value in values]
    return names + [MISSING] * bool(codes.min() < 0), of_essay


def _attributes(subpopulation_column_names: str) -> list[str]:
    """Split the parameter into names, or raise `HostVisibleError`."""
    if not subpopulation_column_names.strip():
        return []
    names = [name.strip() for name in subpopulation_column_names.split(",")]
    if "" in names or len(set(names)) < len(names):
        raise HostVisibleError(
            "subpopulation_column_names: expected different names separated by commas, "
            f"found {_quoted(subpopulation_column_names)}"
        )
    return names


# ---- Shared: tables and messages -------------------------------------------------------------------------
# Each hosted file is uploaded alone, so it repeats what several of them need. A section whose heading begins
# with “Shared” is the same in every hosted file that has it.

LONGEST_MESSAGE = 280  # characters; Kaggle cuts the rest
CHARACTERS_SHOWN = 40  # of a value that a message quotes


class _Table(NamedTuple):
    """A data frame, and how messages tell what is wrong with it."""

    frame: pd.DataFrame  # as the caller gave it; it is never changed
    name: str  # "the solution" or "the submission"
    row_id: str  # the column whose values name the rows
    error: type[Exception]  # what a fault raises

    def check_columns(self, *required: str) -> None:
        """Require that the row id and these columns exist, each once, and that every row has an id."""
        if not isinstance(self.frame, pd.DataFrame):
            raise HostVisibleError(f"{self.name}: expected a DataFrame, found {type(self.frame).__name__}")
        required = tuple(dict.fromkeys((self.row_id, *required)))
        names = list(self.frame.columns)
        lacking = [_short(name) for name in required if name not in names]
        if lacking:
            # Only quotation marks show a space around a name.
            present = [(_short if str(name) == str(name).strip() else _quoted)(name) for name in names]
            more = _counted(len(lacking), "more column")
            head = f"{self.name}: expected {more}: {_listed(lacking, len(lacking), 120)}. It has "
            raise self.error(head + (_listed(present, len(present), LONGEST_MESSAGE - len(head)) or "none"))
        for name in required:
            if names.count(name) > 1:
                raise self.error(f"{self.name}: expected one column {_short(name)}, found {names.count(name)}")
        ids = self.frame[self.row_id]
        try:
            missing = ids.isna()
        except ArithmeticError:  # of Decimal("sNaN")
            missing = ids.map(_is_missing)
        self.reject(self.row_id, missing, lambda row: "missing", "an id in every row")

    def reject(self, column: str, wrong: npt.ArrayLike, content: Callable[[int], str], expected: str) -> None:
        """Raise `error` if any row is wrong, and tell how many are and what the first one has."""
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        row = int(rows[0])
        row_id = self.frame[self.row_id].iloc[row]
        place = f"row number {row + 1}" if _is_missing(row_id) else f"{_short(self.row_id)} {_short(row_id)}"
        head = f"{_short(column)}: expected {expected}. Wrong in {_counted(len(rows), 'row')} of {self.name}: "
        raise self.error(head + _listed([f"{place} ({content(row)})"], len(rows), LONGEST_MESSAGE - len(head)))


def _is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, NA, NaT or Decimal("sNaN"), which cannot even be compared."""
    try:
        return pd.api.types.is_scalar(value) and bool(pd.isna(value))
    except ArithmeticError:
        return True


def _as_text(value: object) -> str:
    """A cell as text, which is the same whether a CSV reader took it for text, an integer or a float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _short(value: object) -> str:
    """The first `CHARACTERS_SHOWN` characters of a value's text; what cannot be printed is escaped."""
    text = repr(_as_text(value)[: CHARACTERS_SHOWN + 1])[1:-1]
    return text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"


def _quoted(value: object) -> str:
    """The beginning of a value's text, in quotation marks."""
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    """A number with its noun, such as "1 row" or "2,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(texts: Sequence[str], total: int, room: int) -> str:
    """As many texts as fit into `room` characters, and how many of the `total` are left out."""
    for number in range(len(texts), 0, -1):
        more = f" and {total - number:,} more" if total > number else ""
        text = ", ".join(texts[:number])
        if len(text) + len(more) <= room:
            return text + more
    return f"{text[: room - len(more) - 1]}…{more}" if texts else ""


# ---- Shared: columns of texts and numbers ----------------------------------------------------------------


def _texts(table: _Table, column: str) -> tuple[Ints, list[str]]:
    """A code for the text of each row and the distinct texts. No cell may be missing or blank."""
    codes, texts = _factorize(table.frame[column])
    table.reject(column, codes < 0, lambda row: "missing", "a value in every row")
    return codes, texts


def _cell_of(table: _Table, column: str) -> Callable[[int], str]:
    """A function that says, for a message, what the row at a position has in a column."""
    cells = table.frame[column]
    return lambda row: "missing" if _is_missing(cells.iloc[row]) else _quoted(cells.iloc[row])


def _factorize(column: pd.Series) -> tuple[Ints, list[str]]:
    """The index of each text among the distinct ones (-1 if missing or blank), and the distinct ones."""
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
        # Cells become text before they are compared, because pandas takes False for 0 and cannot compare lists.
        column = pd.Series([None if _is_missing(value) else _as_text(value) for value in column], dtype=object)
    try:
        codes, distinct = pd.factorize(column)
    except NotImplementedError:  # pandas cannot compare lists of Arrow's own type either
        return _factorize(column.astype(object))
    texts = distinct.tolist()
    if {*map(type, texts)} <= {str} and all(map(str.strip, texts)):  # nothing blank, nothing to convert
        return codes, texts
    # Numbers such as 1 and 1.0 are the same text, and a blank text counts as missing.
    number: dict[str, int] = {}
    code_of_value = [
        number.setdefault(text, len(number)) if text.strip() else -1 for text in map(_as_text, texts)
    ]
    return np.array([*code_of_value, -1], dtype=np.int64)[codes], list(number)


def _positions(texts: list[str], among: Sequence[str]) -> Ints:
    """The position of each text in `among`, or -1 if it is not there."""
    position = {text: number for number, text in enumerate(among)}
    return np.array([position.get(text, -1) for text in texts], dtype=np.int64)


def _numbers(column: pd.Series) -> Floats:
    """The cells of a column as floats; NaN where one is not a real number."""
    if pd.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind != "c":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.array([_number(value) for value in column.astype(object)], dtype=np.float64)


# ---- Shared: numbers -------------------------------------------------------------------------------------


def _number(value: object) -> float:
    """A cell as a float; NaN if it is not a real number."""
    if not isinstance(value, str | int | float | np.bool_ | np.integer | np.floating | Decimal):
        return np.nan
    # Python would also read digits of other scripts, and 1_000.
    if isinstance(value, str) and (not value.isascii() or "_" in value):
        return np.nan
    try:
        return float(value)
    except (OverflowError, ValueError):
        return np.nan


# ---- Shared: quotients -----------------------------------------------------------------------------------


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """The quotients of two arrays, NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient


# ---- Shared: parameters ----------------------------------------------------------------------------------


def _check_parameter(
    name: str,
    value: object,
    kind: type[str | float],
    fits: Callable[[Any], bool] = lambda value: True,
    wanted: str = "",
) -> None:
    """Check a parameter of `score`."""
    kinds = {float: (int, float, np.integer, np.floating), bool: (bool, np.bool_), str: (str,)}[kind]
    if not isinstance(value, kinds) or (kind is float and isinstance(value, bool)) or not fits(value):
        expected = {str: "text", bool: "True or False", float: f"a number {wanted}"}[kind]
        raise HostVisibleError(f"{name}: expected {expected}, found {type(value).__name__} {_quoted(value)}")
