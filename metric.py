"""The Unified Metric for segmenting student essays, as one file to upload to Kaggle.

A model marks the segments of an essay (a lead, a claim, a piece of evidence …) and says for each how
likely it is to be effective.  This file turns such a submission into one number between 0 and 1.  It
follows R. Abboud's memo "Shovel-Ready Competition - Unified Metric" (23 January 2024), whose sections
are given in brackets, and reads in the order in which data passes through it:

    input                    parse_predictionstrings, parse_segments
    overlap removal     [1]    remove_overlaps
    matching            [2.1, 2.4]  match
    fractional TP       [2.2, 2.3]  intersection_over_union, true_positive_fraction
    F1 per type         [2.1]  count_outcomes, f1_score, macro_f1
    sub-populations     [5]    population_counts
    softmin             [3]    softmin_weights, softmin

``score`` gives the number, ``evaluate`` the same with everything behind it, and ``prepare`` digests a
solution once for many submissions:

    prepare(solution, "row_id").evaluate(submission).score == score(solution, submission, "row_id")

Solution and submission come, each for itself, with one row per segment or, where they have a column
``segments``, with one row per essay, which Kaggle's own check of rows lets pass:

    essay_id,segments
    423A1CA112E2,Lead 0 44 0.8312;Concluding Statement 380 402 0.1
    BC75783F96E3,none

(type, first word, last word, probability of effective; in the solution the label, 0 or 1).  Both formats
of the same segments give the same score, to the last bit.

Where the memo is silent, this file decides (each decision has a test):

* Predictions that start at the same word are ordered by last word, type (as in ``DISCOURSE_TYPES``),
  then d[1]; so the order of a file's rows never counts, and equal rows give bit-identical scores.
* The words of a discarded segment stay used.  A segment that lost words and is left with one is
  discarded; a one-word segment that lost none stays.  A discarded prediction is no false positive.
* Truth segments that overlap lose words by the same rule (with a ``TruthOverlapWarning``).
* A type absent from a sub-population's truth is left out of that sub-population's mean.
* Every value of every named attribute is a sub-population, and all of them share one softmin;
  ``intersectional=True`` takes every combination that occurs.  Essays whose value is missing form a
  sub-population of their own.  The size of a sub-population is its number of essays.
* Predictions for essays outside the solution are ignored; an empty submission scores 0.
* A pair of probabilities may miss the sum 1 by 0.001.  d[1] is then their second divided by their sum,
  and d[0] = 1 - d[1].

Errors in the submission raise ``ParticipantVisibleError``, whose text depends on the submission alone;
errors of the host (solution, parameters) raise ``HostVisibleError``, which participants never see.
"""

import functools
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "DISCOURSE_TYPES",
    "Evaluation",
    "HostVisibleError",
    "ParticipantVisibleError",
    "Populations",
    "PreparedSolution",
    "ReadSubmission",
    "RowIds",
    "Segments",
    "TruthOverlapWarning",
    "count_outcomes",
    "evaluate",
    "f1_score",
    "intersection_over_union",
    "macro_f1",
    "make_segments",
    "match",
    "parse_predictionstrings",
    "parse_segments",
    "population_counts",
    "prepare",
    "read",
    "remove_overlaps",
    "score",
    "softmin",
    "softmin_gradient",
    "softmin_weights",
    "true_positive_fraction",
]

__version__ = "1.0.0"

# ---------------------------------------------------------------------------------------------
# Constants
# ---------------------------------------------------------------------------------------------

DISCOURSE_TYPES = (
    "Lead",
    "Position",
    "Claim",
    "Counterclaim",
    "Rebuttal",
    "Evidence",
    "Concluding Statement",
)
LAST_POSITION = 99_999
SUM_TOLERANCE = 1e-3 + 1e-9  # so that 0.999, which is no binary number, is within 0.001 of 1
SMALL_SUBPOPULATION = 50
MISSING = "(missing)"
ALL = "(all)"

# Why points are lost.
CAUSES = ("wrong type", "boundaries", "effectiveness", "missed", "spurious", "overlaps")

# Columns beside those named by a *_column_name parameter that hold text, whatever they look like:
# a tool that reads the files must not turn the predictionstring "7" into a number.
TEXT_COLUMNS = ("discourse_type", "predictionstring")

# A submission has as many rows as it predicts segments; its row ids do not answer the solution's.
FREE_ROWS = True

LABEL_COLUMN = "discourse_effectiveness"
PROBABILITY_COLUMNS = ("score_discourse_effectiveness_0", "score_discourse_effectiveness_1")

# A file with this column has one row per essay.
SEGMENTS_COLUMN = "segments"
NO_SEGMENTS = "none"
SHORTEST_SEGMENT = "Lead 0 0 0"

ROWS_SHOWN = 5
CHARACTERS_SHOWN = 40
COLUMNS_SHOWN = 20

ROWS_AT_ONCE = 8192
LARGEST_FLOAT = int(np.finfo(np.float64).max)

# To here every integer is a float, as is every power of ten below: one division rounds correctly.
LARGEST_EXACT_INTEGER = 2**53
MOST_PLACES = 17  # of what Python prints; and an integer of as many digits, and one before, fits in 64 bits
POWERS_OF_TEN = 10.0 ** np.arange(MOST_PLACES + 1)

# One integer sorts segments by essay, first word, last word and type.
_POSITION_BITS = 17
_TYPE_BITS = 3

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Characters = npt.NDArray[np.uint8]


# ---------------------------------------------------------------------------------------------
# Errors
# ---------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong.  Kaggle shows the text of this exception, by its name, to the participant."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong.  Kaggle shows this to the host only."""


class TruthOverlapWarning(UserWarning):
    """Segments of the solution overlap each other and lost words."""


# ---------------------------------------------------------------------------------------------
# Public API
# ---------------------------------------------------------------------------------------------


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
) -> float:
    """Unified Metric: span F1 with fractional true positives, averaged by a softmin over demographics.

    Per essay, overlaps among the predicted segments are removed.  A prediction P matches a true segment
    G of its type if their common words are at least `overlap_threshold` of P and of G.  A match counts
    w·IoU(P, G) + (1 - w)·d[E] true positives, where w is `segment_weight` and d[E] the probability given
    to the true effectiveness; the rest of it is a false negative.  The F1 scores of the seven types are
    averaged within each sub-population of writers; the softmin of these averages is the score.

    Parameters
    ----------
    solution : DataFrame, one row per true segment
        `row_id_column_name`, `essay_id_column_name`, ``discourse_type``, ``predictionstring`` (the
        positions of its words in the essay, from zero, as in "45 46 47"),
        ``discourse_effectiveness`` (0 or 1) and the columns of `subpopulation_column_names`.
    submission : DataFrame, one row per predicted segment
        The same first four columns, and ``score_discourse_effectiveness_0`` and
        ``score_discourse_effectiveness_1``: two probabilities that sum to one.

        Either frame may instead have one row per essay and, in place of the columns of the segment, one
        column ``segments``: type, first word, last word and probability of effective (in the solution
        0 or 1) of each, as in "Lead 0 44 0.8312;Concluding Statement 380 402 0.1"; in the submission "none"
        for no segment.
    row_id_column_name : str
        Names rows in error messages; has no influence on the score.
    essay_id_column_name : str
        Essays are the same if their ids are the same text.
    subpopulation_column_names : str
        The writer's attributes, separated by commas; "" scores the whole population at once.
    segment_weight : float in [0, 1]
        w, the share of a true positive that depends on the words; the rest depends on effectiveness.
    overlap_threshold : float in (0.5, 1]
    temperature : float, at least 0
        α of the softmin: 0 is the mean weighted by number of essays, infinity the minimum.
    intersectional : bool
        Take every combination of the attributes' values that occurs instead of every value.

    Returns
    -------
    float
        Between 0 (worst) and 1 (best).

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed.  The text never depends on the solution, except that it says when
        none of the submission's essays is in the test set.
    HostVisibleError
        The solution is malformed or a parameter is out of range.

    References
    ----------
    R. Abboud, "Shovel-Ready Competition - Unified Metric", 2024.

    Examples
    --------
    Two segments found, one of them two words short, and good guesses at their effectiveness:

    >>> solution = pd.DataFrame({
    ...     "row_id": [0, 1, 2],
    ...     "essay_id": ["A", "A", "B"],
    ...     "discourse_type": ["Lead", "Claim", "Lead"],
    ...     "predictionstring": ["0 1 2 3", "4 5 6 7 8 9 10 11", "0 1 2 3 4"],
    ...     "discourse_effectiveness": [1, 0, 1],
    ...     "ell_status": ["No", "No", "Yes"],
    ... })
    >>> submission = pd.DataFrame({
    ...     "row_id": [0, 1, 2],
    ...     "essay_id": ["A", "A", "B"],
    ...     "discourse_type": ["Lead", "Claim", "Lead"],
    ...     "predictionstring": ["0 1 2 3", "6 7 8 9 10 11", "0 1 2 3 4"],
    ...     "score_discourse_effectiveness_0": [0.25, 1.0, 0.5],
    ...     "score_discourse_effectiveness_1": [0.75, 0.0, 0.5],
    ... })
    >>> round(score(solution, submission, "row_id", subpopulation_column_names="ell_status"), 6)
    0.857677

    The truth itself scores exactly one, nothing scores zero:

    >>> perfect = solution.assign(score_discourse_effectiveness_0=1 - solution["discourse_effectiveness"],
    ...                           score_discourse_effectiveness_1=solution["discourse_effectiveness"])
    >>> score(solution, perfect, "row_id", subpopulation_column_names="ell_status")
    1.0
    >>> score(solution, submission.head(0), "row_id", subpopulation_column_names="ell_status")
    0.0

    What is wrong, where, and what was expected:

    >>> wrong = submission.replace("0 1 2 3 4", "0 2")
    >>> try:
    ...     score(solution, wrong, "row_id", subpopulation_column_names="ell_status")
    ... except ParticipantVisibleError as error:
    ...     print(error)
    predictionstring is wrong in 1 row of the submission: row_id 2 ('0 2': 0 is not followed by 1). \
Expected the positions of the segment's words in the essay, counted from 0, ascending without a gap, at \
most 99999, separated by single spaces, such as '45 46 47'.
    """
    return evaluate(
        solution,
        submission,
        row_id_column_name,
        essay_id_column_name,
        subpopulation_column_names,
        segment_weight,
        overlap_threshold,
        temperature,
        intersectional,
    ).score


def evaluate(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    essay_id_column_name: str = "essay_id",
    subpopulation_column_names: str = "ell_status,economically_disadvantaged",
    segment_weight: float = 0.5,
    overlap_threshold: float = 0.51,
    temperature: float = 65.0,
    intersectional: bool = False,
) -> "Evaluation":
    """Score a submission and keep what led to the score.  Parameters and errors are those of `score`.

    Returns
    -------
    Evaluation
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
    )
    return prepared.evaluate(submission)


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    essay_id_column_name: str = "essay_id",
    subpopulation_column_names: str = "ell_status,economically_disadvantaged",
    segment_weight: float = 0.5,
    overlap_threshold: float = 0.51,
    temperature: float = 65.0,
    intersectional: bool = False,
) -> "PreparedSolution":
    """Check and digest a solution once, to score many submissions.  Parameters are those of `score`.

    Raises
    ------
    HostVisibleError
        The solution is malformed or a parameter is out of range.

    Warns
    -----
    TruthOverlapWarning
        Segments of the solution overlap; the later ones lose the common words.
    """
    attributes = _attributes(subpopulation_column_names)
    _check_parameters(segment_weight, overlap_threshold, temperature)
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns(row_id_column_name, essay_id_column_name, *table.columns(LABEL_COLUMN), *attributes)
    if solution.empty:
        raise HostVisibleError("the solution has no rows.")

    essay_in_file, texts = table.essays(essay_id_column_name)
    essay_ids = sorted(texts)
    essay_numbers = {text: number for number, text in enumerate(essay_ids)}
    essay = np.array([essay_numbers[text] for text in texts], dtype=np.int64)[essay_in_file]
    given, row_ids = table.truths(essay)
    truths = remove_overlaps(given)
    _warn_of_overlaps(given, truths)
    return PreparedSolution(
        essay_ids=essay_ids,
        essay_numbers=essay_numbers,
        given=given,
        truths=truths,
        row_ids=row_ids,
        populations=_populations(table, attributes, essay, essay_ids, intersectional),
        row_id_column_name=row_id_column_name,
        essay_id_column_name=essay_id_column_name,
        subpopulation_column_names=",".join(attributes),
        segment_weight=float(segment_weight),
        overlap_threshold=float(overlap_threshold),
        temperature=float(temperature),
        intersectional=bool(intersectional),
    )


def read(
    submission: pd.DataFrame, row_id_column_name: str, essay_id_column_name: str = "essay_id"
) -> "ReadSubmission":
    """Check and digest a submission, which takes no solution.  Parameters are those of `score`.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed.

    Examples
    --------
    >>> submission = pd.DataFrame({
    ...     "essay_id": ["A", "B"],
    ...     "segments": ["Lead 0 44 0.8312;Concluding Statement 380 402 0.1", "none"],
    ... })
    >>> segments = read(submission, "essay_id").segments
    >>> segments.first.tolist(), segments.d1.tolist()
    ([0, 380], [0.8312, 0.1])
    """
    table = _Table(submission, "the submission", row_id_column_name, ParticipantVisibleError)
    table.check_columns(row_id_column_name, essay_id_column_name, *table.columns(*PROBABILITY_COLUMNS))
    essay, essay_ids = table.essays(essay_id_column_name)
    segments, row_ids = table.predictions(essay)
    return ReadSubmission(segments, essay_ids, row_ids)


class Segments(NamedTuple):
    """Segments of many essays, as columns of equal length n.

    Attributes
    ----------
    essay : (n,) int, the essay's number among the sorted essay ids of the solution; -1 if not among them
    first, last : (n,) int, positions of the first and the last word, both inclusive, from 0
    discourse_type : (n,) int, index into `DISCOURSE_TYPES`
    d0, d1 : (n,) float, probability of ineffective and of effective, d0 = 1 - d1; of a true segment d1 = E
    row : (n,) int, the segment's number in the file it came from, from 0
    """

    essay: Ints
    first: Ints
    last: Ints
    discourse_type: Ints
    d0: Floats
    d1: Floats
    row: Ints

    def take(self, index: Ints | Bools) -> "Segments":
        """The segments at `index`, which selects as it does in numpy."""
        return Segments(
            self.essay[index],
            self.first[index],
            self.last[index],
            self.discourse_type[index],
            self.d0[index],
            self.d1[index],
            self.row[index],
        )

    @property
    def words(self) -> Ints:
        """Number of words of each segment, (n,)."""
        return self.last - self.first + 1


class Populations(NamedTuple):
    """Sub-populations of the essays' writers.

    Attributes
    ----------
    labels : list of (attribute, value), one per sub-population, in canonical order
    of_essay : (attributes, essays) int, index into `labels`
    sizes : (sub-populations,) int, numbers of essays
    """

    labels: list[tuple[str, str]]
    of_essay: Ints
    sizes: Ints


class RowIds(NamedTuple):
    """What the segments of a file are called.

    Attributes
    ----------
    ids : (rows,) array, the row ids
    row : (n,) int, the row of each segment
    one_row_per_essay : bool
    """

    ids: Any
    row: Ints
    one_row_per_essay: bool

    def names(self) -> list[object]:
        """The row's id, or with one row per essay this, a colon and the place in its cell, from 1; (n,)."""
        ids = self.ids[self.row]
        if not self.one_row_per_essay:
            return list(ids)
        place = np.arange(len(self.row)) - np.searchsorted(self.row, self.row) + 1
        return [f"{_as_text(row_id)}:{number}" for row_id, number in zip(ids, place.tolist())]

    def part(self, rows: Bools) -> "RowIds":
        """Those of some of the file's rows, (rows,) bool."""
        row = (np.cumsum(rows) - 1)[self.row[rows[self.row]]]
        return RowIds(self.ids[rows], row, self.one_row_per_essay)


class ReadSubmission(NamedTuple):
    """A submission, checked and digested by `read`.

    Attributes
    ----------
    segments : Segments, (n,), whose ``essay`` is an index into `essay_ids`
    essay_ids : list of str, the essays of the submission
    row_ids : RowIds, (n,)
    """

    segments: Segments
    essay_ids: list[str]
    row_ids: RowIds


@dataclass(frozen=True, eq=False)
class PreparedSolution:
    """A solution, checked and digested by `prepare`, with the parameters to score against it."""

    essay_ids: list[str]
    essay_numbers: dict[str, int]
    given: Segments
    truths: Segments
    row_ids: RowIds
    populations: Populations
    row_id_column_name: str
    essay_id_column_name: str
    subpopulation_column_names: str
    segment_weight: float
    overlap_threshold: float
    temperature: float
    intersectional: bool

    def part(self, rows: Bools) -> "PreparedSolution":
        """What `prepare` makes of some of the solution's rows, (n,) bool, without reading them again."""
        given = self.given.take(rows[self.row_ids.row])
        essays, essay = np.unique(given.essay, return_inverse=True)
        given = given._replace(essay=essay, row=np.arange(len(essay)))
        essay_ids = [self.essay_ids[number] for number in essays.tolist()]
        return replace(
            self,
            essay_ids=essay_ids,
            essay_numbers={text: number for number, text in enumerate(essay_ids)},
            given=given,
            truths=remove_overlaps(given),
            row_ids=self.row_ids.part(rows),
            populations=_populations_of_some(self.populations, essays),
        )

    def read(self, submission: pd.DataFrame) -> ReadSubmission:
        """Check and digest a submission once, to score it against several solutions.

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed.
        """
        return read(submission, self.row_id_column_name, self.essay_id_column_name)

    def evaluate(self, submission: pd.DataFrame | ReadSubmission) -> "Evaluation":
        """Score one submission: a frame, or what `read` made of it.

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed, or none of its essays is in the solution.
        """
        if isinstance(submission, pd.DataFrame):
            submission = self.read(submission)
        get = self.essay_numbers.get
        number = np.array([get(text, -1) for text in submission.essay_ids], dtype=np.int64)
        unknown = number < 0
        if len(unknown) and unknown.all():
            raise ParticipantVisibleError(
                f"none of the submission's {self.essay_id_column_name} values is in the test set."
            )
        given = submission.segments._replace(essay=number[submission.segments.essay])
        predictions = remove_overlaps(given.take(given.essay >= 0) if unknown.any() else given)
        p, g = match(predictions, self.truths, self.overlap_threshold)
        tp = _true_positives(predictions.take(p), self.truths.take(g), self.segment_weight)
        essay_counts = count_outcomes(predictions, self.truths, p, g, tp, len(self.essay_ids))
        subpopulation_scores = macro_f1(population_counts(essay_counts, self.populations))
        return Evaluation(
            score=float(softmin(subpopulation_scores, self.populations.sizes, self.temperature)),
            subpopulation_scores=subpopulation_scores,
            essay_counts=essay_counts,
            prepared=self,
            submission=submission,
            given=given,
            predictions=predictions,
        )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` returns: the score and everything behind it.

    Attributes
    ----------
    score : float
        The Unified Metric.
    subpopulation_scores : (sub-populations,) float
    essay_counts : (essays, types, 3) float
        True positives, false positives and false negatives of each essay of the solution and each type:
        the sufficient statistics of the score.
    signature : str
        The version and every parameter, to print beside the score.
    subpopulations, classes, segments : DataFrame
        See the properties.
    tables : dict of str to DataFrame
        Small tables for people, by title.
    notices : list of str
        What a reader of the score should know.
    measures : dict of str to float
        The score, that of each sub-population and the F1 of each type.
    items : list of str
        The essays that `resample` weighs.
    gradient : (essays, types, 3) float
        By how much the score rises per unit of each of `essay_counts`.
    losses, confusion, forecasts, groups, roles : DataFrame and, the last, dict
        See the properties.
    prepared, submission : PreparedSolution, ReadSubmission
        What was scored against what.
    given, predictions : Segments
        The submission's segments by the solution's essays; those of known essays after overlap removal.
    """

    score: float
    subpopulation_scores: Floats
    essay_counts: Floats
    prepared: PreparedSolution
    submission: ReadSubmission
    given: Segments
    predictions: Segments

    @property
    def signature(self) -> str:
        """The metric's name and version and every parameter, as ``name:value`` joined by ``|``."""
        prepared = self.prepared
        parts = {
            "metric": "unified",
            "version": __version__,
            "essay_id_column_name": prepared.essay_id_column_name,
            "subpopulation_column_names": prepared.subpopulation_column_names,
            "segment_weight": prepared.segment_weight,
            "overlap_threshold": prepared.overlap_threshold,
            "temperature": prepared.temperature,
            "intersectional": prepared.intersectional,
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items())

    @functools.cached_property
    def subpopulations(self) -> pd.DataFrame:
        """One row per sub-population: attribute, value, essays, score (τ), weight (β)."""
        populations = self.prepared.populations
        weight = softmin_weights(self.subpopulation_scores, populations.sizes, self.prepared.temperature)
        return pd.DataFrame(populations.labels, columns=["attribute", "value"]).assign(
            essays=populations.sizes, score=self.subpopulation_scores, weight=weight
        )

    @functools.cached_property
    def classes(self) -> pd.DataFrame:
        """One row per sub-population and type, and per type for all essays together ("(all)").

        Columns: attribute, value, discourse_type, tp, fp, fn, precision, recall, f1.  Precision is NaN
        without predictions; recall and f1 are NaN where the type is absent from the truth.
        """
        everybody = _whole_population(len(self.prepared.essay_ids))
        groups = (
            (everybody,)
            if self.prepared.populations.labels == everybody.labels
            else (everybody, self.prepared.populations)
        )
        labels = [label for group in groups for label in group.labels]
        counts = np.concatenate([population_counts(self.essay_counts, group) for group in groups])
        tp, fp, fn = np.moveaxis(counts, -1, 0).reshape(3, -1)
        return pd.DataFrame(
            [(*label, name) for label in labels for name in DISCOURSE_TYPES],
            columns=["attribute", "value", "discourse_type"],
        ).assign(
            tp=tp,
            fp=fp,
            fn=fn,
            precision=_ratio(tp, tp + fp),
            recall=_ratio(tp, tp + fn),
            f1=_f1_of_types(counts).ravel(),
        )

    @functools.cached_property
    def segments(self) -> pd.DataFrame:
        """One row per predicted and per true segment: what became of it.

        Columns
        -------
        side : "prediction" or "truth"
        row_id, essay_id, discourse_type : as in the file; with one row per essay, row_id is the row's id,
            a colon and the segment's place in its cell, from 1
        first, last, words : position of the first and last word and their number, as in the file
        words_kept : number of words after overlap removal
        outcome : of a prediction "matched", "wrong type" (overlaps a truth of another type enough to
            match it), "too little overlap" (shares words with a truth, or would match one had it not lost
            words), "no truth there", "discarded" (by overlap removal) or "unknown essay"; of a truth
            "matched", "missed" or "discarded"
        partner : row id of the matched segment, else of the one on the other side that comes closest; of a
            discarded prediction, and of what it would have found, the one that it would have matched
        partner_type, partner_first, partner_last : its discourse type and its words, as in the file
        overlap_prediction, overlap_truth : share of the prediction's and the truth's words in common
        iou : intersection over union with the partner; as these shares, after overlap removal, but of a
            discarded prediction with its words as given
        effectiveness : d[E], of matched segments
        tp : the TP fraction; 0 where unmatched
        points_lost : by how much the score would rise, to first order, were this segment alone right; the
            sum of its row of `losses`, where it is defined
        """
        return _explain(self)

    @property
    def roles(self) -> dict[str, str]:
        """Which column of `segments` tells what, for tools that know no metric."""
        return {"item": "essay_id", "label": "discourse_type", "outcome": "outcome"}

    @functools.cached_property
    def losses(self) -> pd.DataFrame:
        """The points that each row of `segments` lost, by cause.

        A point is one unit of the score.  Rows are those of `segments`; columns are the causes.  To first
        order, the score rises by `gradient` times the change of the counts; "were this segment alone right"
        means this change:

        * A prediction and a truth that are each other's partner, and of the same type or overlapping enough,
          are one attempt.  It is right if the prediction has the truth's type, words and effectiveness, and
          loses no word.  All that it lost is in the prediction's row; the truth's row is 0.
        * Any other unmatched prediction is right if it is gone.
        * Any other unmatched truth is right if it is found: matched by 1.
        * What is discarded and no part of an attempt, or in an unknown essay, lost nothing.

        So every mistake is in one row, and all rows together are `gradient` times the way to a perfect
        submission.  What an attempt lost is divided by setting right one thing after the other:

        wrong type : matching at all, where only the type prevents it
        boundaries : matching at all, where the predicted words prevent it, and w·(1 - IoU)
        effectiveness : (1 - w)·(1 - d[E])
        missed : of a truth outside attempts
        spurious : of a prediction outside attempts
        overlaps : matching at all, or what IoU would be higher, had overlap removal left the words as given

        Points can be negative: above ν + 1/α, a sub-population that improves lowers the softmin ν.
        """
        return _losses(self)

    @functools.cached_property
    def gradient(self) -> Floats:
        """∂ score / ∂ `essay_counts`, (essays, types, 3): the chain rule through F1, mean and softmin.

        0 for a type that the truth of the essay's sub-populations lacks.  See `softmin_gradient` for an
        infinite temperature.
        """
        populations = self.prepared.populations
        counts = population_counts(self.essay_counts, populations)
        tp, fp, fn = np.moveaxis(counts, -1, 0)
        occurs = tp + fn > 0
        square = np.where(occurs, 2 * tp + fp + fn, np.inf) ** 2
        of_f1 = np.stack([2 * (fp + fn) / square, -2 * tp / square, -2 * tp / square], axis=-1)
        of_score = softmin_gradient(self.subpopulation_scores, populations.sizes, self.prepared.temperature)
        of_population = of_f1 * (of_score / occurs.sum(axis=-1))[:, np.newaxis, np.newaxis]
        gradient: Floats = of_population[populations.of_essay].sum(axis=0)
        return gradient

    @property
    def confusion(self) -> pd.DataFrame:
        """How often which type (columns) was predicted for which true type (index).

        Of segments that overlap enough to match if the types are the same.  The others, after overlap
        removal, are in the last column ("(missed)") and the last row ("(no truth)").
        """
        types, pairs = len(DISCOURSE_TYPES), self._pairs
        type_of_prediction, type_of_truth = self.given.discourse_type, self.prepared.given.discourse_type
        table = np.zeros((types + 1, types + 1), dtype=np.int64)
        truth, prediction = pairs.truth[pairs.enough], pairs.prediction[pairs.enough]
        np.add.at(table, (type_of_truth[truth], type_of_prediction[prediction]), 1)
        predicted = np.bincount(self.predictions.discourse_type, minlength=types)
        true = np.bincount(self.prepared.truths.discourse_type, minlength=types)
        table[-1, :-1] = predicted - table[:, :-1].sum(axis=0)
        table[:-1, -1] = true - table[:-1].sum(axis=1)
        index, columns = ([*DISCOURSE_TYPES, name] for name in ("(no truth)", "(missed)"))
        return pd.DataFrame(table, index=index, columns=columns)

    @property
    def forecasts(self) -> pd.DataFrame:
        """Of each match d[1] ("probability") and the label E ("happened", 0 or 1)."""
        matched = self._pairs.matched
        return pd.DataFrame(
            {
                "probability": self.given.d1[self._pairs.prediction[matched]],
                "happened": self.prepared.given.d1[self._pairs.truth[matched]].astype(np.int64),
            }
        )

    @property
    def groups(self) -> pd.DataFrame:
        """The value of each attribute (columns) of each essay (index, as `items`)."""
        attributes, values = np.array(self.prepared.populations.labels, dtype=object).T
        columns = {attributes[of_essay[0]]: values[of_essay] for of_essay in self.prepared.populations.of_essay}
        columns.pop(ALL, None)
        return pd.DataFrame(columns, index=pd.Index(self.items))

    @functools.cached_property
    def _pairs(self) -> "_Pairs":
        return _find_pairs(self.given, self.predictions, self.prepared)

    @property
    def items(self) -> list[str]:
        """Ids of the essays, in the order of `essay_counts`."""
        return self.prepared.essay_ids

    @property
    def measures(self) -> dict[str, float]:
        """The score, the score of every sub-population and the F1 of every type over all essays."""
        names = ["score"]
        names += [f"{attribute} = {value}" for attribute, value in self.prepared.populations.labels]
        names += [f"F1 of {name}" for name in DISCOURSE_TYPES]
        f1 = self.classes["f1"].iloc[: len(DISCOURSE_TYPES)]
        return dict(zip(names, map(float, [self.score, *self.subpopulation_scores, *f1])))

    def resample(self, weights: npt.ArrayLike) -> Floats:
        """The `measures` if every essay occurred as often as its weight says.

        Parameters
        ----------
        weights : (resamples, essays) int or float, at least 0
            In the order of `items`.

        Returns
        -------
        (resamples, measures) float
            NaN for a sub-population that a resample leaves without essays; it is also left out of that
            resample's softmin.
        """
        flat = self.essay_counts.reshape(len(self.essay_counts), -1)
        one_each = np.ones((len(flat), 1))
        sums = _weighted_sums(np.append(flat, one_each, axis=1), weights, self.prepared.populations)
        counts = sums[..., :-1].reshape(*sums.shape[:2], *self.essay_counts.shape[1:])
        return self._measures_of(counts, sums[..., -1])

    def mix(self, other: "Evaluation", swapped: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The `measures` of this submission and another one, had they swapped their answers to some essays.

        Parameters
        ----------
        other : Evaluation
            Of the same essays.
        swapped : (mixtures, essays) int or bool
            1 where they swap, 0 where not; in the order of `items`.

        Returns
        -------
        mine, theirs : (mixtures, measures) float

        Raises
        ------
        ValueError
            The other evaluation is of other essays.
        """
        if other.items != self.items:
            raise ValueError("only evaluations of the same essays can be mixed")
        populations = self.prepared.populations
        change = (other.essay_counts - self.essay_counts).reshape(len(self.essay_counts), -1)
        swaps = _weighted_sums(change, swapped, populations)
        swaps = swaps.reshape(*swaps.shape[:2], *self.essay_counts.shape[1:])
        mine, theirs = (population_counts(side.essay_counts, populations) for side in (self, other))
        return (
            self._measures_of(mine + swaps, populations.sizes),
            self._measures_of(theirs - swaps, populations.sizes),
        )

    def _measures_of(self, counts: Floats, sizes: npt.NDArray[Any]) -> Floats:
        """The `measures`, (n, measures), from (n, sub-populations, types, 3) counts."""
        scores = macro_f1(counts)
        score = softmin(scores, sizes, self.prepared.temperature)
        of_first_attribute = self.prepared.populations.of_essay[0].max() + 1
        overall = counts[:, :of_first_attribute].sum(axis=1)
        return np.concatenate([score[:, np.newaxis], scores, _f1_of_types(overall)], axis=1)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The sub-populations, and the types for all essays together."""
        classes = self.classes
        overall = classes.loc[classes["attribute"] == ALL].drop(columns=["attribute", "value"])
        return {"Sub-populations": self.subpopulations, "Discourse types": overall}

    @property
    def notices(self) -> list[str]:
        """Essays of the submission that are not in the solution, and sub-populations too small to tell."""
        notices = []
        unknown = [text for text in self.submission.essay_ids if text not in self.prepared.essay_numbers]
        if unknown:
            shown = [_short(text) for text in unknown[:ROWS_SHOWN]]
            notices.append(
                f"{_counted(len(unknown), 'essay')} of the submission not in the solution, "
                f"ignored: {_listed(shown, len(unknown))}"
            )
        small = [
            f"{attribute} = {value} ({size})"
            for (attribute, value), size in zip(
                self.prepared.populations.labels, self.prepared.populations.sizes
            )
            if size < SMALL_SUBPOPULATION
        ]
        if small:
            notices.append(
                f"{_counted(len(small), 'sub-population')} of fewer than {SMALL_SUBPOPULATION} essays, "
                f"too small to mean much: {', '.join(small)}"
            )
        return notices


def make_segments(*segments: tuple[int, str, int, int, float]) -> Segments:
    """Segments written by hand, to try the stages below.

    Parameters
    ----------
    *segments : (essay number, discourse type, first word, last word, probability of effective)

    Examples
    --------
    >>> make_segments((0, "Lead", 0, 9, 0.75)).words.tolist()
    [10]
    """
    essay, name, first, last, d1 = zip(*segments) if segments else ((),) * 5
    effective = np.array(d1, dtype=np.float64)
    return Segments(
        np.array(essay, dtype=np.int64),
        np.array(first, dtype=np.int64),
        np.array(last, dtype=np.int64),
        np.array([DISCOURSE_TYPES.index(n) for n in name], dtype=np.int64),
        1.0 - effective,
        effective,
        np.arange(len(segments)),
    )


# ---------------------------------------------------------------------------------------------
# Input
# ---------------------------------------------------------------------------------------------


@functools.cache
def _word_positions() -> tuple[str, Ints, Ints]:
    """The text "0 1 2 … 99999 ", where each position starts in it, and which one ends at each character."""
    text = " ".join(map(str, range(LAST_POSITION + 1))) + " "
    ends = np.flatnonzero(np.frombuffer(text.encode(), np.uint8) == ord(" "))
    starts = np.concatenate([[0], ends[:-1] + 1])
    position_ending_at = np.full(len(text) + 1, -1)
    position_ending_at[ends] = np.arange(LAST_POSITION + 1)
    return text, starts, position_ending_at


def parse_predictionstrings(cells: list[str]) -> tuple[Ints, Ints]:
    """First and last word of each predictionstring.

    A valid cell stands, letter for letter, in "0 1 2 3 …" from the place where its first number starts,
    up to the end of a number.  That is one comparison per cell and bounds the work by the file's size.

    Parameters
    ----------
    cells : list of n str

    Returns
    -------
    first, last : (n,) int
        Zero-based, both inclusive; last is -1 where the cell is not valid.

    Examples
    --------
    >>> first, last = parse_predictionstrings(["45 46 47", "7", "5 4", "1  2", ""])
    >>> first[:2].tolist(), last.tolist()
    ([45, 7], [47, 7, -1, -1, -1])
    """
    text, starts, position_ending_at = _word_positions()
    # "replace" keeps one byte per character; what it replaces fails the comparison below.
    joined = np.frombuffer("\n".join([*cells, ""]).encode("ascii", "replace"), np.uint8)
    end = np.flatnonzero(joined == ord("\n"))
    if len(end) > len(cells):  # a line break within a cell
        return parse_predictionstrings([cell.replace("\n", "?") for cell in cells])
    begin = np.concatenate([[0], end[:-1] + 1])[: len(cells)]

    first = np.zeros(len(cells), dtype=np.int64)
    in_number = np.ones(len(cells), dtype=bool)
    for digit in range(len(str(LAST_POSITION))):
        value = joined[np.minimum(begin + digit, end)] - np.uint8(ord("0"))
        in_number &= value < 10
        first = np.where(in_number, first * 10 + value, first)
    start = starts[first]
    last = position_ending_at[np.minimum(start + (end - begin), len(text))]
    valid = np.fromiter(map(text.startswith, cells, start.tolist()), bool, len(cells))
    return first, np.where(valid, last, -1)


def _why_not_a_predictionstring(cell: str) -> str:
    """What is wrong with a predictionstring; reads no further than the first fault."""
    if not cell.strip():
        return "empty"
    previous, begin = None, 0
    while begin < len(cell):
        space = cell.find(" ", begin)
        end = len(cell) if space < 0 else space
        number, begin = cell[begin:end], end + 1
        if not number:
            return "spaces other than single ones between positions"
        reason = _why_not_a_position(number)
        if reason:
            return reason
        if previous is not None and int(number) != previous + 1:
            return f"{previous} is not followed by {previous + 1}"
        previous = int(number)
    return "a space at the end"


def _why_not_a_position(number: str) -> str | None:
    if not re.fullmatch("[0-9]+", number):
        return f"{_quoted(number)} is not a whole number written in digits"
    if len(number) > 1 and number[0] == "0":
        return f"{_quoted(number)} has a leading zero"
    if len(number) > len(str(LAST_POSITION)):
        return f"{_quoted(number)} is above {LAST_POSITION}"
    return None


def parse_segments(cells: list[str]) -> tuple[Segments, Bools]:
    """The segments of each cell of a file with one row per essay.

    The texts of all cells are read side by side: all types, then all positions, then all probabilities.

    Parameters
    ----------
    cells : list of n str

    Returns
    -------
    segments : Segments, in the order of the text
        ``essay`` is the index of the cell.
    faulty : (n,) bool
        Cells of which not all is valid; some of their segments are left out.

    Examples
    --------
    >>> cells = ["Lead 0 44 0.8312;Concluding Statement 380 402 1e-3", "none", "Claim 7 7 1;Claim 9 8 1"]
    >>> segments, faulty = parse_segments(cells)
    >>> [column.tolist() for column in segments[:4]]
    [[0, 0, 2], [0, 380, 7], [44, 402, 7], [0, 6, 2]]
    >>> segments.d1.tolist(), faulty.tolist()
    ([0.8312, 0.001, 1.0], [False, False, True])
    """
    # "replace" keeps one byte per character; what it replaces occurs in no valid cell.
    text = np.frombuffer("\n".join([*cells, ""]).encode("ascii", "replace"), np.uint8)
    lines, semicolons = (np.count_nonzero(text == ord(sign)) for sign in "\n;")
    if lines > len(cells) or semicolons * len(SHORTEST_SEGMENT) > len(text):
        return parse_segments(["?" if _is_no_list(cell) else cell for cell in cells])
    separator = np.flatnonzero((text == ord(" ")) | (text == ord(";")) | (text == ord("\n")))
    closing = np.flatnonzero(text[separator] != ord(" "))  # which separators end a segment
    end = separator[closing]
    begin = np.concatenate([[0], end[:-1] + 1])[: len(end)]
    ends_cell = text[end] == ord("\n")
    cell = np.cumsum(ends_cell) - ends_cell

    valid = np.diff(closing, prepend=-1) > 3
    closing = closing[valid]
    before_first, before_last, before_d1 = (separator[closing - back] for back in (3, 2, 1))
    discourse_type = _parse_types(text, begin[valid], before_first)
    first = _parse_positions(text, before_first + 1, before_last)
    last = _parse_positions(text, before_last + 1, before_d1)
    d1 = _parse_probabilities(text, before_d1 + 1, end[valid])
    segments = Segments(cell[valid], first, last, discourse_type, 1.0 - d1, d1, closing)
    good = (discourse_type >= 0) & (first >= 0) & (last >= first) & (d1 >= 0) & (d1 <= 1)
    valid[valid] = good

    faulty = np.zeros(len(cells), dtype=bool)
    faulty[cell[~valid]] = True
    faulty &= np.array([cell != NO_SEGMENTS for cell in cells], dtype=bool)
    return segments.take(good)._replace(row=np.arange(good.sum())), faulty


def _is_no_list(cell: str) -> bool:
    """Whether a cell has more lines or more segments than could be valid."""
    return "\n" in cell or cell.count(";") * len(SHORTEST_SEGMENT) > len(cell)


def _parse_types(text: Characters, begin: Ints, end: Ints) -> Ints:
    """Index into `DISCOURSE_TYPES` of each slice of a text, (n,); -1 where it is none."""
    types = np.full(len(begin), -1)
    for number, name in enumerate(DISCOURSE_TYPES):
        rows = np.flatnonzero(end - begin == len(name))
        for offset, letter in enumerate(name):
            rows = rows[text[begin[rows] + offset] == ord(letter)]
        types[rows] = number
    return types


def _parse_positions(text: Characters, begin: Ints, end: Ints) -> Ints:
    """The position that each slice of a text writes, (n,); -1 where it is none."""
    positions = _parse_digits(text, begin, end, len(str(LAST_POSITION)))
    return np.where((text[begin] == ord("0")) & (end - begin > 1), -1, positions)


def _parse_digits(text: Characters, begin: Ints, end: Ints, most: int) -> Ints:
    """The whole number that each slice of a text writes, (n,); -1 where it is not 1 to `most` digits."""
    length = end - begin
    valid = (length >= 1) & (length <= most)
    number = np.zeros(len(begin), dtype=np.int64)
    for offset in range(min(most, length.max(initial=0))):
        inside = offset < length
        digit = text[np.minimum(begin + offset, end)] - np.uint8(ord("0"))
        valid &= (digit < 10) | ~inside
        number = np.where(inside, number * 10 + digit, number)
    return np.where(valid, number, -1)


def _parse_probabilities(text: Characters, begin: Ints, end: Ints) -> Floats:
    """The number that each slice of a text writes, (n,); NaN where it is none.

    "0.8312" is 8312 / 10^4.  Where an integer is too large for that, or spelled otherwise, Python reads it.
    """
    places = np.clip(end - begin - 2, 0, MOST_PLACES)
    whole = _parse_digits(text, begin, np.minimum(begin + 1, end), 1)
    decimals = _parse_digits(text, np.minimum(begin + 2, end), end, MOST_PLACES)
    has_decimals = (text[np.minimum(begin + 1, end)] == ord(".")) & (decimals >= 0)
    plain = (whole >= 0) & (has_decimals | (end - begin == 1))
    integer = np.where(has_decimals, whole * 10**places + decimals, whole)
    numbers: Floats = integer / POWERS_OF_TEN[places]

    others = np.flatnonzero(~plain | (integer > LARGEST_EXACT_INTEGER))
    characters = text.tobytes()
    numbers[others] = [
        float(characters[a:b]) if is_plain else _parse_probability(characters[a:b])
        for a, b, is_plain in zip(begin[others].tolist(), end[others].tolist(), plain[others].tolist())
    ]
    return numbers


def _parse_probability(spelled: bytes) -> float:
    return float(spelled) if re.fullmatch(rb"(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", spelled) else np.nan


def _why_not_segments(cell: str) -> str:
    """What is wrong with a cell of segments; reads no further than the first fault."""
    if not cell.strip():
        return "empty"
    parts = re.finditer(r"([^;]*)(?:;|\Z)", cell)
    return next(
        f"segment {number}, {_quoted(part[1])}: {reason}"
        for number, part in enumerate(parts, start=1)
        if (reason := _why_not_a_segment(part[1]))
    )


def _why_not_a_segment(text: str) -> str | None:
    if not text:
        return "empty"
    name, *numbers = text.rsplit(" ", 3)
    if len(numbers) < 3 or "  " in text:
        return "not a type, two positions and a probability, separated by single spaces"
    if name not in DISCOURSE_TYPES:
        return f"{_quoted(name)} is not a discourse type"
    first, last, d1 = numbers
    reason = _why_not_a_position(first) or _why_not_a_position(last)
    if reason:
        return reason
    if int(first) > int(last):
        return f"{first} is after {last}"
    if not 0 <= _parse_probability(d1.encode("ascii", "replace")) <= 1:
        return f"{_quoted(d1)} is not a number from 0 to 1"
    return None


def _as_text(value: object) -> str:
    """The text of an id or label, the same whether a CSV reader took it for text, int or float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _short(value: object) -> str:
    """A value as messages show it: on one line and not long."""
    text = _as_text(value)
    text = text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"
    return repr(text)[1:-1]


def _quoted(value: object) -> str:
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(items: list[str], number: int) -> str:
    """Some items, and how many more of the `number` there are."""
    return ", ".join(items) + (f" and {number - len(items):,} more" if number > len(items) else "")


def _cells(column: pd.Series) -> list[str]:
    """A column's texts, "" where missing."""
    values = column.to_numpy(dtype=object)
    if pd.api.types.infer_dtype(values, skipna=False) == "string":
        return values.tolist()
    return ["" if absent else _as_text(value) for value, absent in zip(values, pd.isna(values))]


class _Table:
    """A frame of segments, read column by column with checks; every fault has one form of message."""

    def __init__(self, frame: pd.DataFrame, name: str, row_id_column_name: str, error: type[Exception]) -> None:
        self.frame = frame
        self.name = name
        self.row_id_column_name = row_id_column_name
        self.error = error
        self.one_row_per_essay = SEGMENTS_COLUMN in frame.columns

    def columns(self, *of_label: str) -> tuple[str, ...]:
        """The columns that hold the segments; with one row per segment, some hold their label."""
        return (
            (SEGMENTS_COLUMN,) if self.one_row_per_essay else ("discourse_type", "predictionstring", *of_label)
        )

    def check_columns(self, *required: str) -> None:
        """Every required column is there once, and every row has an id."""
        found = [str(name) for name in self.frame.columns]
        lacking = [name for name in dict.fromkeys(required) if name not in found]
        if lacking:
            neither = {"discourse_type", "predictionstring"} <= set(lacking)
            raise self.error(
                f"{self.name} lacks columns: {', '.join(lacking)}. "
                f"It has: {_listed([_short(name) for name in found[:COLUMNS_SHOWN]], len(found))}."
                + (f" With one row per essay it would need the column {SEGMENTS_COLUMN}." if neither else "")
            )
        repeated = [name for name in dict.fromkeys(required) if found.count(name) > 1]
        if repeated:
            raise self.error(f"{self.name} has more than one column named {', '.join(repeated)}.")
        row_id = self.row_id_column_name
        self.check(row_id, self.frame[row_id].isna().to_numpy(), _missing, "an id in every row")

    def check(self, column: str, wrong: Bools, reason: Callable[[int], str], expected: str) -> None:
        """Raise the table's error where rows are `wrong`; `reason` says why a row is."""
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        ids = self.frame[self.row_id_column_name]
        shown = [
            (f"row number {row + 1}" if pd.isna(ids.iloc[row]) else f"{ids.name} {_short(ids.iloc[row])}")
            + f" ({reason(row)})"
            for row in rows[:ROWS_SHOWN].tolist()
        ]
        raise self.error(
            f"{column} is wrong in {_counted(len(rows), 'row')} of {self.name}: "
            f"{_listed(shown, len(rows))}. Expected {expected}."
        )

    def texts(self, column: str) -> tuple[Ints, list[str]]:
        """Codes of a column's texts, (n,), and the distinct texts; nothing may be missing or blank."""
        codes, texts = _factorize(self.frame[column])
        self.check(column, codes < 0, _missing, "a value in every row")
        return codes, texts

    def essays(self, column: str) -> tuple[Ints, list[str]]:
        """Codes of the rows' essays, (rows,), and the distinct essays."""
        codes, texts = self.texts(column)
        if self.one_row_per_essay and len(texts) < len(codes):
            repeated = np.ones(len(codes), dtype=bool)
            repeated[np.unique(codes, return_index=True)[1]] = False
            self.check(column, repeated, lambda row: f"{_quoted(texts[codes[row]])} again", "one row per essay")
        return codes, texts

    def predictions(self, essay: Ints) -> tuple[Segments, RowIds]:
        """The predicted segments and what they are called, from the essays of the rows."""
        if self.one_row_per_essay:
            return self.segments_of_cells(essay)
        return self.segments_of_rows(essay, self.probabilities)

    def truths(self, essay: Ints) -> tuple[Segments, RowIds]:
        """The true segments and what they are called, from the essays of the rows."""
        if not self.one_row_per_essay:
            return self.segments_of_rows(essay, self.effectiveness)
        segments, ids = self.segments_of_cells(essay)
        number = np.bincount(ids.row, minlength=len(essay))
        self.check(
            SEGMENTS_COLUMN,
            number == 0,
            lambda row: _quoted(NO_SEGMENTS),
            "at least one segment per essay; without truth there is nothing to score",
        )
        label = (segments.d1 == 0) | (segments.d1 == 1)
        self.check(
            SEGMENTS_COLUMN,
            np.bincount(ids.row, ~label) > 0,
            lambda row: f"{segments.d1[~label & (ids.row == row)][0]:g} in place of a label",
            "0 or 1 as the label of every segment",
        )
        return segments, ids

    def segments_of_rows(self, essay: Ints, read_d1: Callable[[], Floats]) -> tuple[Segments, RowIds]:
        """One row per segment."""
        rows = np.arange(len(essay))
        discourse_type = self.discourse_types()
        first, last = self.words()
        d1 = read_d1()
        return Segments(essay, first, last, discourse_type, 1.0 - d1, d1, rows), self.row_ids(rows)

    def segments_of_cells(self, essay: Ints) -> tuple[Segments, RowIds]:
        """One row per essay."""
        cells = _cells(self.frame[SEGMENTS_COLUMN])
        segments, faulty = parse_segments(cells)
        self.check(
            SEGMENTS_COLUMN,
            faulty,
            lambda row: _why_not_segments(cells[row]),
            f"type ({', '.join(DISCOURSE_TYPES)}), first word, last word and probability of effective of each "
            "segment, such as 'Lead 0 44 0.8312;Concluding Statement 380 402 0.1', with words counted from 0, "
            f"at most {LAST_POSITION}; or '{NO_SEGMENTS}'",
        )
        return segments._replace(essay=essay[segments.essay]), self.row_ids(segments.essay)

    def row_ids(self, row: Ints) -> RowIds:
        """What segments in these rows are called; later changes to the caller's frame do not reach it."""
        ids = self.frame[self.row_id_column_name].array.copy()
        return RowIds(ids, row, self.one_row_per_essay)

    def discourse_types(self) -> Ints:
        """Index into `DISCOURSE_TYPES`, (n,)."""
        codes, texts = self.texts("discourse_type")
        index = {name: number for number, name in enumerate(DISCOURSE_TYPES)}
        types = np.array([index.get(text, -1) for text in texts], dtype=np.int64)[codes]
        self.check(
            "discourse_type",
            types < 0,
            lambda row: _quoted(texts[codes[row]]),
            f"one of {', '.join(DISCOURSE_TYPES)}",
        )
        return types

    def words(self) -> tuple[Ints, Ints]:
        """First and last word of each segment, (n,) each."""
        column = self.frame["predictionstring"]
        # Block by block, a block's text is made, read and dropped within the processor's cache.
        blocks = [
            parse_predictionstrings(_cells(column.iloc[start : start + ROWS_AT_ONCE]))
            for start in range(0, max(len(column), 1), ROWS_AT_ONCE)
        ]
        first, last = (np.concatenate(parts) for parts in zip(*blocks))

        def reason(row: int) -> str:
            (cell,) = _cells(column.iloc[row : row + 1])
            return f"{_quoted(cell)}: {_why_not_a_predictionstring(cell)}"

        self.check(
            "predictionstring",
            last < 0,
            reason,
            "the positions of the segment's words in the essay, counted from 0, ascending without a gap, "
            f"at most {LAST_POSITION}, separated by single spaces, such as '45 46 47'",
        )
        return first, last

    def numbers(self, column: str) -> Floats:
        """A column as floats, (n,), with NaN for what is not a number."""
        values = self.frame[column]
        if not pd.api.types.is_numeric_dtype(values):
            # pandas fails on integers beyond the range of a float, which a CSV column may hold.
            values = values.astype(object).map(
                lambda value: np.inf if isinstance(value, int) and abs(value) > LARGEST_FLOAT else value
            )
        return np.asarray(pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan))

    def cell_of(self, column: str) -> Callable[[int], str]:
        """The reason that shows a row's cell."""
        cells = self.frame[column]
        return lambda row: "missing" if pd.isna(cells.iloc[row]) else _quoted(cells.iloc[row])

    def effectiveness(self) -> Floats:
        """Label E of each segment, 0.0 or 1.0, (n,)."""
        label = self.numbers(LABEL_COLUMN)
        wrong = ~((label == 0) | (label == 1))
        self.check(LABEL_COLUMN, wrong, self.cell_of(LABEL_COLUMN), "0 or 1")
        return label

    def probabilities(self) -> Floats:
        """d[1] of each segment, (n,), once d[0] and d[1] are normalised to the sum one."""
        for column in PROBABILITY_COLUMNS:
            values = self.numbers(column)
            wrong = ~((values >= 0) & (values <= 1))
            self.check(column, wrong, self.cell_of(column), "a number from 0 to 1")
        d0, d1 = (self.numbers(column) for column in PROBABILITY_COLUMNS)
        total = d0 + d1
        self.check(
            " + ".join(PROBABILITY_COLUMNS),
            np.abs(total - 1) > SUM_TOLERANCE,
            lambda row: f"{d0[row]:g} + {d1[row]:g} = {total[row]:g}",
            "the sum 1",
        )
        return np.asarray(d1 / total)


def _missing(row: int) -> str:
    return "missing"


def _factorize(column: pd.Series) -> tuple[Ints, list[str]]:
    """Codes of a column's texts, (n,), -1 where missing or blank, and the distinct texts."""
    codes, distinct = pd.factorize(column)
    values = distinct.tolist()
    if set(map(type, values)) == {str} and all(map(str.strip, values)):
        return codes, values
    number: dict[str, int] = {}
    code_of_value = np.full(len(values) + 1, -1)
    for position, value in enumerate(values):
        text = _as_text(value)
        if text.strip():
            code_of_value[position] = number.setdefault(text, len(number))
    return code_of_value[codes], list(number)


def _attributes(subpopulation_column_names: str) -> list[str]:
    """The names in a comma-separated list."""
    if not subpopulation_column_names.strip():
        return []
    names = [name.strip() for name in subpopulation_column_names.split(",")]
    if "" in names or len(set(names)) < len(names):
        raise HostVisibleError(
            f"subpopulation_column_names is {subpopulation_column_names!r}; "
            "expected different column names separated by commas."
        )
    return names


def _check_parameters(segment_weight: float, overlap_threshold: float, temperature: float) -> None:
    if not 0 <= segment_weight <= 1:
        raise HostVisibleError(f"segment_weight is {segment_weight}; expected a number from 0 to 1.")
    if not 0.5 < overlap_threshold <= 1:
        raise HostVisibleError(
            f"overlap_threshold is {overlap_threshold}; expected a number above 0.5, at most 1: "
            "only then has each segment at most one partner."
        )
    if not temperature >= 0:
        raise HostVisibleError(f"temperature is {temperature}; expected a number from 0 to infinity.")


# ---------------------------------------------------------------------------------------------
# Overlap removal [1]
# ---------------------------------------------------------------------------------------------


def remove_overlaps(segments: Segments) -> Segments:
    """Give every word of an essay to the first segment that holds it, across all types [1].

    Once sorted, the words that earlier segments used inside a later one are always its first ones, so the
    words left to it start after the largest last word seen so far.  A segment that lost words and is left
    with one or none is discarded; its words stay used.

    Parameters
    ----------
    segments : Segments, (n,), in any order

    Returns
    -------
    Segments, (m,), m <= n
        What is left, sorted by essay, first word (of the untrimmed segment), last word, type, d[1].

    Examples
    --------
    The memo's example, segments A to F (A, in row 0, is discarded):

    >>> left = remove_overlaps(make_segments(
    ...     (0, "Claim", 50, 64, 1), (0, "Claim", 10, 29, 1), (0, "Claim", 25, 44, 1),
    ...     (0, "Claim", 90, 99, 1), (0, "Claim", 80, 94, 1), (0, "Claim", 45, 69, 1)))
    >>> ["ABCDEF"[row] for row in left.row]
    ['B', 'C', 'F', 'E', 'D']
    >>> left.first.tolist(), left.last.tolist()
    ([10, 30, 45, 80, 95], [29, 44, 69, 94, 99])
    """
    if not len(segments.row):
        return segments
    order = _reading_order(segments)
    essay, first, last = segments.essay[order], segments.first[order], segments.last[order]
    # Essays ascend, so the running maximum of (essay, last word) never looks back into another essay.
    used = np.maximum.accumulate(_place(essay, last))
    first_unused = np.concatenate([[0], used[:-1] + 1]) - _place(essay, np.int64(0))
    first_left = np.maximum(first, first_unused)
    left = (last > first_left) | (first_left == first)
    return segments.take(order[left])._replace(first=first_left[left])


def _place(essay: Ints, position: Ints | np.int64) -> Ints:
    """One integer per word of all essays, ascending with essay and position."""
    return (essay << _POSITION_BITS) | position


def _reading_order(segments: Segments) -> Ints:
    """Indices that sort by essay, first word, last word, type, d[1]."""
    place = _place(segments.essay, segments.first)
    key = (_place(place, segments.last) << _TYPE_BITS) | segments.discourse_type
    order = np.argsort(key, kind="stable")
    tied = np.flatnonzero(np.diff(key[order]) == 0)
    if len(tied):
        tied = np.union1d(tied, tied + 1)
        rows = order[tied]
        order[tied] = rows[np.lexsort((segments.d1[rows], key[rows]))]
    return order


def _warn_of_overlaps(given: Segments, truths: Segments) -> None:
    trimmed = int((truths.first != given.first[truths.row]).sum())
    discarded = len(given.row) - len(truths.row)
    if trimmed or discarded:
        warnings.warn(
            f"{_counted(trimmed + discarded, 'segment')} of the solution overlapping an earlier one: "
            f"{trimmed:,} lost the common words, {discarded:,} were discarded.",
            TruthOverlapWarning,
            stacklevel=2,
        )


# ---------------------------------------------------------------------------------------------
# Matching [2.1, 2.4]
# ---------------------------------------------------------------------------------------------


def match(predictions: Segments, truths: Segments, overlap_threshold: float = 0.51) -> tuple[Ints, Ints]:
    """Pair the predictions and truths of one essay and type that share enough of both their words.

    A prediction that holds more than half of a truth holds its middle word, and without overlaps only
    one prediction does; so one binary search finds the only candidate of each truth.

    Parameters
    ----------
    predictions, truths : Segments, (p,) and (g,), as `remove_overlaps` returns them
    overlap_threshold : float in (0.5, 1]
        Least share of the prediction's and of the truth's words that must be common.

    Returns
    -------
    prediction, truth : (matches,) int
        Indices of the partners; each segment occurs at most once.

    Examples
    --------
    Figure 1: at 51% neither prediction matches the truths two words further right.

    >>> predictions = make_segments((0, "Claim", 0, 3, 1), (0, "Claim", 4, 7, 1))
    >>> truths = make_segments((0, "Claim", 2, 5, 1), (0, "Claim", 6, 9, 1))
    >>> match(predictions, truths)[0].tolist()
    []
    >>> match(predictions, make_segments((0, "Claim", 3, 7, 1)))
    (array([1]), array([0]))
    """
    if not len(predictions.row):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    middle = _place(truths.essay, (truths.first + truths.last) // 2)
    candidate = np.searchsorted(_place(predictions.essay, predictions.first), middle, side="right") - 1
    candidate = np.maximum(candidate, 0)
    rivals = predictions.take(candidate)
    common = _common_words(rivals, truths)
    matched = (
        (rivals.essay == truths.essay)
        & (rivals.discourse_type == truths.discourse_type)
        & (common / rivals.words >= overlap_threshold)
        & (common / truths.words >= overlap_threshold)
    )
    return candidate[matched], np.flatnonzero(matched)


def _common_words(a: Segments, b: Segments) -> Ints:
    """Number of words in both of each pair, (n,), for segments of the same essays."""
    common: Ints = np.minimum(a.last, b.last) - np.maximum(a.first, b.first) + 1
    return np.maximum(common, 0)


# ---------------------------------------------------------------------------------------------
# Fractional true positives [2.2, 2.3]
# ---------------------------------------------------------------------------------------------


def intersection_over_union(predictions: Segments, truths: Segments) -> Floats:
    """Words in both over words in either, for pairs of segments of the same essay [2.3].

    Parameters
    ----------
    predictions, truths : Segments, (n,) each, aligned

    Returns
    -------
    (n,) float in [0, 1]

    Examples
    --------
    Example (a) of the memo, 9 / 11:

    >>> iou = intersection_over_union(make_segments((0, "Lead", 1, 10, 1)), make_segments((0, "Lead", 0, 9, 1)))
    >>> round(float(iou[0]), 3)
    0.818
    """
    common = _common_words(predictions, truths)
    return common / (predictions.words + truths.words - common)


def true_positive_fraction(iou: Floats, d_of_label: Floats, segment_weight: float = 0.5) -> Floats:
    """TP_P = w·IoU(P, G) + (1 - w)·d[E]; the rest of it, 1 - TP_P, is a false negative [2.3].

    Parameters
    ----------
    iou : (n,) float in [0, 1]
    d_of_label : (n,) float in [0, 1]
        d[E]: the probability that the prediction gives to the true effectiveness.
    segment_weight : float in [0, 1]
        w.

    Returns
    -------
    (n,) float in [0, 1]

    Examples
    --------
    Table 1 of the memo, column IoU, (a) to (c) and (e):

    >>> iou = np.array([9 / 11, 9 / 11, 7 / 13, 0.6])
    >>> true_positive_fraction(iou, np.array([0.8, 0.4, 0.8, 1.0])).round(3).tolist()
    [0.809, 0.609, 0.669, 0.8]
    """
    return segment_weight * iou + (1 - segment_weight) * d_of_label


def _probability_of_label(predictions: Segments, truths: Segments) -> Floats:
    """d[E] of aligned pairs, (n,)."""
    return np.where(truths.d1 == 1.0, predictions.d1, predictions.d0)


def _true_positives(predictions: Segments, truths: Segments, segment_weight: float) -> Floats:
    """TP fraction of aligned pairs, (n,)."""
    iou = intersection_over_union(predictions, truths)
    return true_positive_fraction(iou, _probability_of_label(predictions, truths), segment_weight)


# ---------------------------------------------------------------------------------------------
# F1 per type [2.1]
# ---------------------------------------------------------------------------------------------


def count_outcomes(
    predictions: Segments,
    truths: Segments,
    matched_predictions: Ints,
    matched_truths: Ints,
    tp: Floats,
    essays: int,
) -> Floats:
    """True positives, false positives and false negatives per essay and type [2.1, 2.2].

    Parameters
    ----------
    predictions, truths : Segments
    matched_predictions, matched_truths : (matches,) int
        The pairs of `match`.
    tp : (matches,) float
        TP fraction of each pair.
    essays : int
        Number of essays of the solution.

    Returns
    -------
    (essays, types, 3) float
        TP, FP and FN: a match counts `tp` and misses 1 - `tp`; an unmatched prediction is a whole false
        positive, an unmatched truth a whole false negative.

    Examples
    --------
    A lead matched by 0.9; a claim predicted where there is none:

    >>> predictions = make_segments((0, "Lead", 0, 9, 0.8), (0, "Claim", 20, 29, 1))
    >>> truths = make_segments((0, "Lead", 0, 9, 1))
    >>> counts = count_outcomes(predictions, truths, np.array([0]), np.array([0]), np.array([0.9]), 1)
    >>> counts[0, :3].round(3).tolist()
    [[0.9, 0.0, 0.1], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    types = len(DISCOURSE_TYPES)

    def total(cell: Ints, weights: Floats | None = None) -> Floats:
        # bincount adds one after the other, in the order of the segments: the sums are reproducible.
        return np.bincount(cell, weights, minlength=essays * types).astype(np.float64)

    predicted = predictions.essay * types + predictions.discourse_type
    true = truths.essay * types + truths.discourse_type
    matched = true[matched_truths]
    matches = total(matched)
    false_positives = total(predicted) - matches
    false_negatives = total(true) - matches + total(matched, 1 - tp)
    return np.stack([total(matched, tp), false_positives, false_negatives], axis=-1).reshape(essays, types, 3)


def f1_score(tp: npt.ArrayLike, fp: npt.ArrayLike, fn: npt.ArrayLike) -> Floats:
    """F1 = 2TP / (2TP + FP + FN), from counts; NaN where there is nothing to find and nothing found.

    Examples
    --------
    >>> f1_score([1, 1, 0], [0, 1, 0], [0, 0, 0]).round(3).tolist()
    [1.0, 0.667, nan]
    """
    twice = 2 * np.asarray(tp, dtype=np.float64)
    return _ratio(twice, twice + np.asarray(fp) + np.asarray(fn))


def macro_f1(counts: Floats) -> Floats:
    """τ: the mean F1 over the types that occur in the truth.

    Parameters
    ----------
    counts : (..., types, 3) float
        TP, FP and FN.

    Returns
    -------
    (...) float in [0, 1]
        NaN where no type occurs.

    Examples
    --------
    A type found, one missed, and one predicted that is not in the truth, which does not count:

    >>> macro_f1(np.array([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]])).tolist()
    0.5
    """
    f1 = _f1_of_types(np.asarray(counts, dtype=np.float64))
    occurs = ~np.isnan(f1)
    return _ratio(np.where(occurs, f1, 0.0).sum(axis=-1), occurs.sum(axis=-1))


def _f1_of_types(counts: Floats) -> Floats:
    """F1 of each type, (..., types), from (..., types, 3) counts; NaN where the truth lacks the type."""
    tp, fp, fn = np.moveaxis(counts, -1, 0)
    return np.where(tp + fn > 0, f1_score(tp, fp, fn), np.nan)


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """numerator / denominator, NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient


# ---------------------------------------------------------------------------------------------
# Sub-populations [5, steps 3 and 4]
# ---------------------------------------------------------------------------------------------


def _whole_population(essays: int) -> Populations:
    return Populations([(ALL, ALL)], np.zeros((1, essays), dtype=np.int64), np.array([essays]))


def _populations(
    table: _Table, attributes: list[str], essay: Ints, essay_ids: list[str], intersectional: bool
) -> Populations:
    """The sub-populations that the attributes' values, or their combinations, form."""
    if not attributes:
        return _whole_population(len(essay_ids))
    # Of repeated indices numpy keeps the last assignment: here, each essay's first row.
    first_row = np.empty(len(essay_ids), dtype=np.int64)
    first_row[essay[::-1]] = np.arange(len(essay))[::-1]
    columns = [_values_of_essays(table, attribute, essay, first_row, essay_ids) for attribute in attributes]
    values_of = [values for values, _ in columns]
    codes = np.stack([codes for _, codes in columns])
    if intersectional:
        combinations, code = np.unique(codes, axis=1, return_inverse=True)
        values_of = [
            [" & ".join(map(list.__getitem__, values_of, column)) for column in combinations.T.tolist()]
        ]
        codes = code.reshape(1, -1)
        attributes = [" & ".join(attributes)]
    labels = [(attribute, value) for attribute, values in zip(attributes, values_of) for value in values]
    first_label = np.cumsum([0, *map(len, values_of[:-1])])
    of_essay = codes + first_label[:, np.newaxis]
    return Populations(labels, of_essay, np.bincount(of_essay.ravel()))


def _populations_of_some(populations: Populations, essays: Ints) -> Populations:
    """The sub-populations of some of the essays, without those that lose all their members."""
    occurring, of_essay = np.unique(populations.of_essay[:, essays], return_inverse=True)
    of_essay = of_essay.reshape(-1, len(essays))
    labels = [populations.labels[number] for number in occurring.tolist()]
    return Populations(labels, of_essay, np.bincount(of_essay.ravel()))


def _values_of_essays(
    table: _Table, attribute: str, essay: Ints, first_row: Ints, essay_ids: list[str]
) -> tuple[list[str], Ints]:
    """The attribute's distinct values, sorted, and the index of each essay's value, (essays,)."""
    codes, texts = _factorize(table.frame[attribute])
    table.check(
        attribute,
        codes != codes[first_row][essay],
        lambda row: f"essay {_quoted(essay_ids[essay[row]])} had another value before",
        "one value per essay",
    )
    order = sorted(range(len(texts)), key=texts.__getitem__)
    place = np.full(len(texts) + 1, len(texts))  # the last, at index -1, is the place of missing values
    place[order] = np.arange(len(texts))
    values = [repr(texts[code]) if texts[code] == MISSING else texts[code] for code in order]
    return values + [MISSING] * bool(codes.min() < 0), place[codes[first_row]]


def population_counts(essay_counts: Floats, populations: Populations) -> Floats:
    """Sum the counts over the essays of each sub-population.

    Parameters
    ----------
    essay_counts : (essays, types, 3) float
    populations : Populations

    Returns
    -------
    (sub-populations, types, 3) float

    Examples
    --------
    >>> counts = np.array([[[1.0, 0, 0]], [[0, 1, 1]], [[0, 0, 1]]])
    >>> ell = Populations([("ell", "No"), ("ell", "Yes")], np.array([[0, 1, 0]]), np.array([2, 1]))
    >>> population_counts(counts, ell).tolist()
    [[[1.0, 0.0, 1.0]], [[0.0, 1.0, 1.0]]]
    """
    number = len(populations.labels)
    columns = essay_counts.reshape(len(essay_counts), -1).T
    sums = [
        np.stack([np.bincount(members, column, minlength=number) for column in columns], axis=-1)
        for members in populations.of_essay
    ]
    total: Floats = np.sum(sums, axis=0)
    return total.reshape(number, *essay_counts.shape[1:])


def _weighted_sums(essay_values: Floats, weights: npt.ArrayLike, populations: Populations) -> Floats:
    """Weighted sums over the essays of each sub-population, (n, sub-populations, k).

    Parameters
    ----------
    essay_values : (essays, k) float
    weights : (n, essays) int, bool or float
    populations : Populations
    """
    weights = np.asarray(weights)
    sums = []
    for members in populations.of_essay:
        order = np.argsort(members, kind="stable")
        starts = np.flatnonzero(np.diff(members[order], prepend=-1))
        # Small integers are gathered faster than what they become.
        columns, rows = weights.take(order, axis=1).astype(np.float64), essay_values[order]
        for start, stop in zip(starts, [*starts[1:], len(order)]):
            sums.append(columns[:, start:stop] @ rows[start:stop])
    return np.stack(sums, axis=1)


# ---------------------------------------------------------------------------------------------
# Bias-aware aggregation [3]
# ---------------------------------------------------------------------------------------------


def softmin_weights(scores: npt.ArrayLike, sizes: npt.ArrayLike, temperature: float = 65.0) -> Floats:
    """β_i = |P_i|·exp(-α·s_i) / Σ_j |P_j|·exp(-α·s_j).

    Parameters
    ----------
    scores : (..., k) float
        s, the scores of the sub-populations.
    sizes : (..., k) int or float
        |P|, their numbers of essays; sub-populations of size 0 have no weight, whatever their score.
    temperature : float, at least 0
        α; infinity leaves only the lowest score.

    Returns
    -------
    (..., k) float, of sum 1 over the last axis

    Examples
    --------
    >>> softmin_weights([0.6, 0.8], [1, 1], temperature=0).tolist()
    [0.5, 0.5]
    >>> softmin_weights([0.6, 0.8], [1, 1], temperature=10).round(3).tolist()
    [0.881, 0.119]
    >>> softmin_weights([0.6, 0.8], [1, 1], temperature=np.inf).tolist()
    [1.0, 0.0]
    """
    _, excess = _above_lowest(scores, sizes)
    # Counted from the lowest, no exponential overflows; and an infinite α is not multiplied by 0.
    exponent = np.multiply(excess, temperature, out=np.zeros_like(excess), where=excess > 0)
    weights = np.asarray(sizes) * np.exp(-exponent)
    normalised: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return normalised


def softmin(scores: npt.ArrayLike, sizes: npt.ArrayLike, temperature: float = 65.0) -> Floats:
    """ν = Σ_j β_j·s_j, with the weights and parameters of `softmin_weights`; shape (...).

    Examples
    --------
    The two models of section 3, equal on average; the second is biased, which the minimum shows:

    >>> for temperature in (0, 10, np.inf):
    ...     softmin([[0.7, 0.7], [0.6, 0.8]], [1, 1], temperature).round(3).tolist()
    [0.7, 0.7]
    [0.7, 0.624]
    [0.7, 0.6]
    """
    lowest, excess = _above_lowest(scores, sizes)
    # From the lowest up, equal scores give exactly themselves and ν is never below the lowest.
    return np.asarray(lowest + (softmin_weights(scores, sizes, temperature) * excess).sum(axis=-1))


def softmin_gradient(scores: npt.ArrayLike, sizes: npt.ArrayLike, temperature: float = 65.0) -> Floats:
    """∂ν/∂s_i = β_i·(1 - α·(s_i - ν)), with the parameters of `softmin_weights`; shape (..., k).

    Negative above ν + 1/α.  At infinite temperature it is 1 for the lowest score and 0 for the others; of
    equal lowest scores each has its β_i, which is right if they change together.

    Examples
    --------
    >>> softmin_gradient([0.6, 0.8], [1, 1], temperature=10).round(3).tolist()
    [1.091, -0.091]
    >>> softmin_gradient([0.6, 0.8], [1, 1], temperature=np.inf).tolist()
    [1.0, 0.0]
    """
    weights = softmin_weights(scores, sizes, temperature)
    _, excess = _above_lowest(scores, sizes)
    above_mean = excess - (weights * excess).sum(axis=-1, keepdims=True)
    # Where β_i is 0 its product with α is, too; at infinite α the others' scores are all ν.
    steepness = np.multiply(above_mean, temperature, out=np.zeros_like(excess), where=above_mean != 0)
    return np.asarray(weights * (1 - np.where(weights > 0, steepness, 0.0)))


def _above_lowest(scores: npt.ArrayLike, sizes: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The lowest score of a sub-population that has members, (...), and each one's excess over it, (..., k)."""
    scores, present = np.broadcast_arrays(np.asarray(scores, dtype=np.float64), np.asarray(sizes) > 0)
    lowest = np.min(scores, axis=-1, where=present, initial=np.inf)
    return lowest, np.where(present, scores - lowest[..., np.newaxis], 0.0)


# ---------------------------------------------------------------------------------------------
# What became of every segment
# ---------------------------------------------------------------------------------------------


class _Pairs(NamedTuple):
    """Predictions and truths that share words, as columns; one more pair, the last, stands for none.

    A pair that shares words only as given, before overlap removal, is there if it would have matched.
    """

    prediction: Ints  # row in the submission; -1 for none
    truth: Ints  # row in the solution; -1 for none
    overlap_prediction: Floats
    overlap_truth: Floats
    iou: Floats
    iou_as_given: Floats
    same_type: Bools
    enough: Bools  # both overlaps reach the threshold
    matched: Bools  # and the type is the same
    matched_as_given: Bools  # or would have matched without overlap removal
    d_of_label: Floats
    tp: Floats


def _explain(evaluation: Evaluation) -> pd.DataFrame:
    """The rows of `Evaluation.segments`."""
    prepared, pairs = evaluation.prepared, evaluation._pairs
    of_predictions, of_truths = _closest_pairs(evaluation)
    prediction_ids, truth_ids = (
        np.array([*ids.names(), None], dtype=object)
        for ids in (evaluation.submission.row_ids, prepared.row_ids)
    )

    why_unmatched = np.select(
        [pairs.enough[of_predictions], pairs.truth[of_predictions] >= 0],
        ["wrong type", "too little overlap"],
        "no truth there",
    )
    predictions = _describe(
        evaluation.given, evaluation.predictions, pairs, of_predictions, why_unmatched
    ).assign(
        side="prediction",
        row_id=prediction_ids[:-1],
        essay_id=np.array(evaluation.submission.essay_ids, dtype=object)[evaluation.submission.segments.essay],
        partner=truth_ids[pairs.truth[of_predictions]],
        **_describe_partners(prepared.given, pairs.truth[of_predictions]),
    )

    why_unmatched = np.full(len(of_truths), "missed")
    truths = _describe(prepared.given, prepared.truths, pairs, of_truths, why_unmatched).assign(
        side="truth",
        row_id=truth_ids[:-1],
        essay_id=np.array(prepared.essay_ids, dtype=object)[prepared.given.essay],
        partner=prediction_ids[pairs.prediction[of_truths]],
        **_describe_partners(evaluation.given, pairs.prediction[of_truths]),
    )
    columns = (
        "side row_id essay_id discourse_type first last words words_kept outcome partner partner_type "
        "partner_first partner_last overlap_prediction overlap_truth iou effectiveness tp points_lost"
    )
    segments = pd.concat([predictions, truths], ignore_index=True)
    return segments.assign(points_lost=evaluation.losses.sum(axis=1))[columns.split()]


def _describe_partners(segments: Segments, rows: Ints) -> dict[str, Any]:
    """Columns on the segments in some rows of the other side, -1 for none."""
    first, last = (
        pd.array(np.append(positions, 0)[rows], dtype="Int64") for positions in (segments.first, segments.last)
    )
    first[rows < 0], last[rows < 0] = pd.NA, pd.NA
    names = np.array([*DISCOURSE_TYPES, None], dtype=object)
    return {
        "partner_type": names[np.append(segments.discourse_type, -1)[rows]],
        "partner_first": first,
        "partner_last": last,
    }


def _find_pairs(given: Segments, predictions: Segments, prepared: PreparedSolution) -> _Pairs:
    """Every prediction with every truth of its essay that it shares words with, or would have matched."""
    truths = prepared.truths
    begin = np.searchsorted(
        _place(truths.essay, truths.last), _place(predictions.essay, predictions.first), side="left"
    )
    end = np.searchsorted(
        _place(truths.essay, truths.first), _place(predictions.essay, predictions.last), side="right"
    )
    number = end - begin
    prediction = predictions.row[np.repeat(np.arange(len(number)), number)]
    truth = np.arange(number.sum()) + np.repeat(begin - (np.cumsum(number) - number), number)
    matching = _matching_as_given(given, prepared)
    matched_as_given = matching[prediction] == truth

    # Those that would have matched, but lost all words or all that they shared with the truth.
    rows = _reading_order(given)
    lost = rows[(matching[rows] >= 0) & ~np.isin(rows, prediction[matched_as_given])]
    is_left = np.arange(len(prediction) + len(lost)) < len(prediction)
    prediction = np.append(prediction, lost)
    truth = np.append(truth, matching[lost])
    matched_as_given = np.append(matched_as_given, np.ones(len(lost), dtype=bool))

    first_left = given.first.copy()
    first_left[predictions.row] = predictions.first
    as_given, g = given.take(prediction), truths.take(truth)
    p = as_given._replace(first=first_left[prediction])
    common = _common_words(p, g)
    overlap_prediction, overlap_truth = common / p.words, common / g.words
    enough = is_left & (np.minimum(overlap_prediction, overlap_truth) >= prepared.overlap_threshold)
    same_type = p.discourse_type == g.discourse_type
    tp = np.where(enough & same_type, _true_positives(p, g, prepared.segment_weight), 0.0)
    return _Pairs(
        np.append(p.row, -1),
        np.append(g.row, -1),
        np.append(overlap_prediction, np.nan),
        np.append(overlap_truth, np.nan),
        np.append(intersection_over_union(p, g), np.nan),
        np.append(intersection_over_union(as_given, g), np.nan),
        np.append(same_type, False),
        np.append(enough, False),
        np.append(enough & same_type, False),
        np.append(matched_as_given, False),
        np.append(_probability_of_label(p, g), np.nan),
        np.append(tp, 0.0),
    )


def _matching_as_given(given: Segments, prepared: PreparedSolution) -> Ints:
    """For each prediction the truth, among `prepared.truths`, that its words as given match, else -1; (n,).

    A truth that holds more than half of a prediction holds its middle word.
    """
    truths = prepared.truths
    middle = _place(given.essay, (given.first + given.last) // 2)
    candidate = np.searchsorted(_place(truths.essay, truths.first), middle, side="right") - 1
    rivals = truths.take(np.maximum(candidate, 0))
    common = _common_words(given, rivals)
    matching = (
        (rivals.essay == given.essay)
        & (rivals.discourse_type == given.discourse_type)
        & (common / given.words >= prepared.overlap_threshold)
        & (common / rivals.words >= prepared.overlap_threshold)
    )
    return np.where(matching, candidate, -1)


def _closest_pairs(evaluation: Evaluation) -> tuple[Ints, Ints]:
    """For each row of the submission and of the solution its pair among `_pairs`."""
    pairs = evaluation._pairs
    return (
        _closest_pair(pairs, pairs.prediction[:-1], len(evaluation.given.row)),
        _closest_pair(pairs, pairs.truth[:-1], len(evaluation.prepared.given.row)),
    )


def _closest_pair(pairs: _Pairs, row_of_pair: Ints, rows: int) -> Ints:
    """For each row of one side its match, else the pair that comes closest to one, else -1; (rows,)."""
    order = (pairs.iou, pairs.matched_as_given, pairs.enough, pairs.matched)
    ascending = np.lexsort([key[:-1] for key in order])
    closest = np.full(rows, -1)
    closest[row_of_pair[ascending]] = ascending  # of repeated rows the last, best one stays
    return closest


def _describe(
    given: Segments, kept: Segments, pairs: _Pairs, pair: Ints, why_unmatched: npt.NDArray[np.str_]
) -> pd.DataFrame:
    """One row per segment of one side, before its ids are added."""
    words_kept = np.zeros(len(given.row), dtype=np.int64)
    words_kept[kept.row] = kept.words
    outcome = np.select(
        [given.essay < 0, words_kept == 0, pairs.matched[pair]],
        ["unknown essay", "discarded", "matched"],
        why_unmatched,
    )
    return pd.DataFrame(
        {
            "discourse_type": np.array(DISCOURSE_TYPES, dtype=object)[given.discourse_type],
            "first": given.first,
            "last": given.last,
            "words": given.words,
            "words_kept": words_kept,
            "outcome": outcome.astype(object),
            "overlap_prediction": pairs.overlap_prediction[pair],
            "overlap_truth": pairs.overlap_truth[pair],
            "iou": pairs.iou[pair],
            "effectiveness": np.where(pairs.matched[pair], pairs.d_of_label[pair], np.nan),
            "tp": pairs.tp[pair],
        }
    )


def _losses(evaluation: Evaluation) -> pd.DataFrame:
    """The table of `Evaluation.losses`."""
    prepared, pairs = evaluation.prepared, evaluation._pairs
    given, true = evaluation.given, prepared.given
    of_predictions, of_truths = _closest_pairs(evaluation)

    # What the score gains, per row, from a false positive less, and from a false negative turned into a hit.
    of_tp, of_fp, of_fn = np.moveaxis(evaluation.gradient, -1, 0)
    dismissed, found = np.zeros(len(given.row)), np.zeros(len(true.row))
    kept = evaluation.predictions.row
    dismissed[kept] = -of_fp[given.essay[kept], given.discourse_type[kept]]
    dismissed[pairs.prediction[pairs.matched]] = 0.0
    kept = prepared.truths.row
    found[kept] = (of_tp - of_fn)[true.essay[kept], true.discourse_type[kept]]

    attempts = of_predictions[of_predictions >= 0]
    attempts = attempts[of_truths[pairs.truth[attempts]] == attempts]
    attempts = attempts[(pairs.same_type | pairs.enough)[attempts]]
    prediction, truth, _, _, iou, iou_as_given, same_type, enough, matched, matched_as_given, d, _ = (
        column[attempts] for column in pairs
    )
    w, hit = prepared.segment_weight, found[truth]
    # The IoU with which they match once they do, and the best that the words as given allow.
    best_iou = np.select([enough, matched_as_given], [np.maximum(iou, iou_as_given), iou_as_given], 1.0)
    first_iou = np.where(enough, iou, best_iou)
    matching = np.where(matched, 0.0, dismissed[prediction] + (w * first_iou + (1 - w) * d) * hit)
    by_overlaps, by_words = same_type & matched_as_given, same_type & ~matched_as_given

    losses = np.zeros((len(given.row) + len(true.row), len(CAUSES)))
    by_cause = dict(zip(CAUSES, losses.T))
    by_cause["spurious"][: len(given.row)] = dismissed
    by_cause["missed"][len(given.row) :] = found
    by_cause["spurious"][prediction] = 0.0
    by_cause["missed"][len(given.row) + truth] = 0.0
    by_cause["wrong type"][prediction] = np.where(same_type, 0.0, matching)
    by_cause["boundaries"][prediction] = np.where(by_words, matching, 0.0) + w * (1 - best_iou) * hit
    by_cause["overlaps"][prediction] = np.where(by_overlaps, matching, 0.0) + w * (best_iou - first_iou) * hit
    by_cause["effectiveness"][prediction] = (1 - w) * (1 - d) * hit
    return pd.DataFrame(losses, columns=list(CAUSES))
