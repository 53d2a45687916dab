"""What became of every segment is what one finds with sets of words, pair by pair.

The slow way shares nothing with `companion.Explanation.rows`. It follows the description of its columns.
"""

import math
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from hypothesis import given, settings

import metric
from examples.essays import SOLUTION_SAMPLE, SUBMISSION_SAMPLE
from tests.support import unified_transcription as transcription
from tests.support.examples import examples
from tests.support.strategies import Competition, competitions
from tests.support.unified import evaluate, slow_groups

ROOT = Path(metric.__file__).parent
TEXTS = {"dtype": {"essay_id": str}, "keep_default_na": False, "na_values": [""]}

pytestmark = pytest.mark.filterwarnings("ignore:.*of the solution overlapping an earlier one")


class Fate(NamedTuple):
    """What became of a segment."""

    outcome: str  # the outcome in words
    words_kept: int  # how many words overlap removal left
    overlap_prediction: float  # how well the segment and its partner overlap; NaN without a partner
    overlap_truth: float  # how well the segment and its partner overlap; NaN without a partner
    iou: float  # how well the segment and its partner overlap; NaN without a partner
    effectiveness: float  # the probability of the true effectiveness; NaN without a match
    tp: float  # the fractional true positive
    partner: int | None  # the row of the closest segment of the other side


class SlowPairs:
    """The pairs of predictions and truths, found with sets of words, and the closest pair of each segment."""

    def __init__(
        self,
        solution: pd.DataFrame,
        submission: pd.DataFrame,
        essay_id_column_name: str = "essay_id",
        **more: Any,
    ) -> None:
        parameters = {"overlap_threshold": 0.51, "segment_weight": 0.5} | more
        self.threshold, self.w = parameters["overlap_threshold"], parameters["segment_weight"]
        result = transcription.evaluate(solution, submission, essay_id_column_name, **parameters)
        self.given_predictions = transcription.read_predictions(submission, essay_id_column_name)
        self.given_truths = transcription.read_truths(solution, essay_id_column_name)
        self.predictions = {p.row: p for p in result.predictions}
        self.truths = {g.row: g for g in result.truths}
        self.matches = {(match.prediction.row, match.truth.row): match for match in result.matches}
        self.merged, self.split = slow_groups(result, self.given_predictions, self.threshold)
        # Of equally close pairs, the last one in the text counts. Those that overlap removal prevented come
        # last.
        of_essay = transcription.by_essay(sorted(result.truths, key=lambda truth: min(truth.words)))
        in_order = sorted(self.given_predictions, key=transcription.order_of_appearance)
        near = [(p, g) for p in in_order for g in of_essay.get(p.essay, [])]
        pairs = [pair for pair in near if self.is_left(*pair)]
        pairs += [pair for pair in near if not self.is_left(*pair) and self.would_match(*pair)]
        self.of_prediction: dict[int, Any] = {}
        self.of_truth: dict[int, Any] = {}
        for pair in pairs:
            for closest, row in ((self.of_prediction, pair[0].row), (self.of_truth, pair[1].row)):
                if row not in closest or self.closeness(*pair) >= self.closeness(*closest[row]):
                    closest[row] = pair

    def left(self, p):
        """The prediction with the words that overlap removal left, or all of its words if it was discarded."""
        return self.predictions.get(p.row, p)

    def is_left(self, p, g):
        return p.row in self.predictions and bool(self.left(p).words & g.words)

    def enough(self, p, g):
        return self.is_left(p, g) and transcription.overlaps_enough(self.left(p), g, self.threshold)

    def would_match(self, p, g):
        same_type = p.discourse_type == g.discourse_type
        return same_type and transcription.overlaps_enough(p, g, self.threshold)

    def closeness(self, p, g):
        """How close a pair is: a match, merged or split, enough words, what overlaps prevented, the IoU."""
        rows, iou = (p.row, g.row), transcription.intersection_over_union(self.left(p), g)
        together = rows in self.merged | self.split
        return rows in self.matches, together, self.enough(p, g), self.would_match(p, g), iou


def slow_fates(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> list[Fate]:
    """Find the fate of each prediction and of each truth, in the order of the rows."""
    pairs = SlowPairs(solution, submission, **parameters)
    predictions, truths, merged, split = pairs.predictions, pairs.truths, pairs.merged, pairs.split
    essays = {g.essay for g in pairs.given_truths}

    def fate(outcome, kept, pair, side):
        """The fate of a segment, whose closest pair may be None."""
        if pair is None:
            return Fate(outcome, kept, math.nan, math.nan, math.nan, math.nan, 0.0, None)
        p, g = pair
        left = pairs.left(p).words
        common, match = len(left & g.words), pairs.matches.get((p.row, g.row))
        d = math.nan if match is None else p.d[g.d.index(1.0)]
        iou = common / len(left | g.words)
        tp = 0.0 if match is None else pairs.w * iou + (1 - pairs.w) * d
        return Fate(outcome, kept, common / len(left), common / len(g.words), iou, d, tp, pair[1 - side].row)

    fates = []
    for p in pairs.given_predictions:
        kept = len(predictions[p.row].words) if p.row in predictions else 0
        pair = pairs.of_prediction.get(p.row)
        is_match, _, enough, *_ = (False, False, False) if pair is None else pairs.closeness(*pair)
        if p.essay not in essays:
            outcome = "unknown essay"
        elif not kept:
            outcome = "discarded"
        elif is_match:
            outcome = "matched"
        elif enough:
            outcome = "wrong type"
        elif p.row in {row for row, _ in merged}:
            outcome = "covers several"
        elif p.row in {row for row, _ in split}:
            outcome = "part of one"
        else:
            outcome = "no truth there" if pair is None else "too little overlap"
        fates.append(fate(outcome, kept, pair, 0))
    for g in pairs.given_truths:
        kept = len(truths[g.row].words) if g.row in truths else 0
        pair = pairs.of_truth.get(g.row)
        is_match = pair is not None and pairs.closeness(*pair)[0]
        if not kept:
            outcome = "discarded"
        elif is_match:
            outcome = "matched"
        elif g.row in {row for _, row in merged}:
            outcome = "merged"
        else:
            outcome = "split" if g.row in {row for _, row in split} else "missed"
        fates.append(fate(outcome, kept, pair, 1))
    return fates


def assert_fates(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> pd.DataFrame:
    """Check every row of the explanation, and return the rows."""
    explanation = evaluate(solution, submission, **parameters).explanation
    rows = explanation.rows
    fates = slow_fates(solution, submission, **parameters)
    columns = list(Fate._fields[:-1])
    pd.testing.assert_frame_equal(
        rows[columns],
        pd.DataFrame([fate[:-1] for fate in fates], columns=columns),
        check_dtype=False,
        rtol=1e-12,
        atol=1e-12,
    )
    row_id = explanation.prepared.row_id_column_name
    predicted = len(submission)
    for number, (fate, row) in enumerate(zip(fates, rows.itertuples())):
        other = solution if number < predicted else submission
        if fate.partner is None:
            assert pd.isna(row.partner)
            assert pd.isna(row.partner_type)
            continue
        words = transcription.words_of(other["predictionstring"].iloc[fate.partner])
        assert (row.partner, row.partner_type) == (
            other[row_id].iloc[fate.partner],
            other["discourse_type"].iloc[fate.partner],
        )
        assert (row.partner_first, row.partner_last) == (min(words), max(words))
    return rows


@examples(60)
@given(competitions())
def test_fates_are_those_of_sets_of_words(case: Competition):
    assert_fates(case.solution, case.submission, **case.parameters)


@pytest.mark.slow
@settings(max_examples=500, derandomize=True)
@given(competitions())
def test_fates_are_those_of_sets_of_words_on_500_competitions(case: Competition):
    assert_fates(case.solution, case.submission, **case.parameters)


def test_fates_in_the_sample():
    tables = [pd.read_csv(ROOT / name, **TEXTS) for name in (SOLUTION_SAMPLE, SUBMISSION_SAMPLE)]
    rows = assert_fates(tables[0].drop(columns="Usage"), tables[1])
    assert set(rows["outcome"]) == {"matched", "missed", "too little overlap", "wrong type", "discarded"}
