"""The metric reproduces every worked example, figure, table and formula in sections 1 to 3 of the memo."""

import math

import numpy as np
import pytest

import metric
from tests.support.frames import WHOLE, perfect, solution, submission, whole_score, words
from tests.support.unified import evaluate, make_segments

# --- 1 Overlap Removal ------------------------------------------------------------------------------


def test_example_of_section_1():
    segments = {"A": (50, 64), "B": (10, 29), "C": (25, 44), "D": (90, 99), "E": (80, 94), "F": (45, 69)}
    left = metric.remove_overlaps(
        make_segments(*((0, "Evidence", first, last, 1.0) for first, last in segments.values()))
    )
    result = {
        "ABCDEF"[row]: (first, last)
        for row, first, last in zip(left.row.tolist(), left.first.tolist(), left.last.tolist())
    }
    assert result == {"B": (10, 29), "C": (30, 44), "D": (95, 99), "E": (80, 94), "F": (45, 69)}


def test_a_segment_without_used_words_is_returned_with_no_changes():
    segments = make_segments((0, "Lead", 0, 4, 0.3), (0, "Claim", 5, 9, 0.6))
    assert all(np.array_equal(a, b) for a, b in zip(metric.remove_overlaps(segments), segments))


@pytest.mark.parametrize(("last", "left"), [(5, 1), (6, 1), (7, 2)])
def test_a_segment_of_one_word_or_less_is_discarded(last, left):
    segments = make_segments((0, "Lead", 0, 5, 1), (0, "Claim", 3, last, 1))
    assert len(metric.remove_overlaps(segments).row) == left


def test_overlaps_would_unjustifiably_improve_scores():
    """Footnote 1: a second type for the same words does not pay, because overlaps are removed."""
    truth = solution(("A", "Claim", words(0, 9), 1))
    guesses = submission(("A", "Claim", words(0, 9), 1), ("A", "Lead", words(0, 9), 1))
    assert whole_score(truth, guesses) == 0.0
    assert whole_score(truth, guesses.head(1)) == 1.0


# --- 2.1 Original Metric ----------------------------------------------------------------------------


def test_seven_discourse_types():
    assert sorted(name.lower() for name in metric.DISCOURSE_TYPES) == sorted(
        ["lead", "concluding statement", "position", "claim", "counterclaim", "evidence", "rebuttal"]
    )


@pytest.mark.parametrize(
    ("predicted", "matches"),
    [
        (words(0, 99), True),
        (words(49, 99), True),  # 51 of the truth's 100 words
        (words(50, 99), False),  # 50 of them
        (words(0, 195), True),  # 100 of the prediction's 196 words
        (words(0, 196), False),  # 100 of 197
        (words(0, 50), True),
        (words(100, 199), False),
    ],
)
def test_both_overlaps_must_reach_the_threshold(predicted, matches):
    truth = solution(("A", "Lead", words(0, 99), 1))
    assert (whole_score(truth, submission(("A", "Lead", predicted, 1))) > 0) is matches


def test_counts_of_a_match_a_false_positive_and_a_false_negative():
    truth = solution(("A", "Claim", words(0, 9), 1), ("A", "Claim", words(20, 29), 1))
    predicted = submission(("A", "Claim", words(0, 9), 1), ("A", "Claim", words(40, 49), 1))
    evaluation = evaluate(truth, predicted, **WHOLE)
    claim = metric.DISCOURSE_TYPES.index("Claim")
    assert evaluation.explanation.essay_counts[0, claim].tolist() == [1.0, 1.0, 1.0]
    assert evaluation.score == 0.5


def test_a_prediction_of_another_type_does_not_match():
    truth = solution(("A", "Claim", words(0, 9), 1))
    predicted = submission(("A", "Position", words(0, 9), 1))
    evaluation = evaluate(truth, predicted, **WHOLE)
    assert evaluation.score == 0.0
    assert evaluation.explanation.essay_counts.sum(axis=(0, 1)).tolist() == [0.0, 1.0, 1.0]


def test_class_wise_f1_scores_are_averaged():
    truth = solution(("A", "Lead", words(0, 9), 1), ("A", "Claim", words(10, 19), 1))
    assert whole_score(truth, submission(("A", "Lead", words(0, 9), 1))) == 0.5


# --- 2.2 Incorporating Effectiveness ----------------------------------------------------------------


def test_effective_with_probability_08():
    """For exact words TP is w + (1 - w) * 0.8, the rest is added to FN, and FP does not change."""
    truth = solution(("A", "Lead", words(0, 9), 1))
    predicted = submission(("A", "Lead", words(0, 9), 0.8))
    for w in (0.0, 0.25, 0.5, 1.0):
        counts = evaluate(truth, predicted, segment_weight=w, **WHOLE).explanation.essay_counts[0, 0]
        assert counts == pytest.approx([w + (1 - w) * 0.8, 0, (1 - w) * (1 - 0.8)], abs=1e-15)


def test_the_probability_of_the_true_label_counts():
    predicted = submission(("A", "Lead", words(0, 9), 0.8))
    effective = whole_score(solution(("A", "Lead", words(0, 9), 1)), predicted, segment_weight=0.0)
    ineffective = whole_score(solution(("A", "Lead", words(0, 9), 0)), predicted, segment_weight=0.0)
    assert effective == pytest.approx(2 * 0.8 / (2 * 0.8 + 0.2))
    assert ineffective == pytest.approx(2 * 0.2 / (2 * 0.2 + 0.8))


def test_perfect_effectiveness_on_exact_words_reduces_to_the_original_metric():
    truth = solution(("A", "Lead", words(0, 9), 1), ("A", "Lead", words(20, 29), 0))
    predicted = submission(("A", "Lead", words(0, 9), 1), ("A", "Lead", words(40, 49), 0))
    assert whole_score(truth, predicted) == 2 * 1 / (2 * 1 + 1 + 1)


# --- 2.3 and 2.5: Table 1 and Figure 2 --------------------------------------------------------------

# name: (P, G, d[1], max overlap column, IoU column); G is effective in every row.
TABLE_1 = {
    "a": ((1, 10), (0, 9), 0.8, 0.85, 0.809),
    "b": ((1, 10), (0, 9), 0.4, 0.65, 0.609),
    "c": ((3, 12), (0, 9), 0.8, 0.75, 0.669),
    "d": ((6, 10), (0, 9), 1.0, 0.0, 0.0),
    "e": ((0, 5), (0, 9), 1.0, 1.0, 0.8),
}
OVERLAPS = {"a": (0.9, 0.9), "b": (0.9, 0.9), "c": (0.7, 0.7), "d": (0.8, 0.4), "e": (1.0, 0.6)}


@pytest.mark.parametrize("name", TABLE_1)
def test_table_1(name):
    p, g, d1, max_column, iou_column = TABLE_1[name]
    truth = solution(("A", "Lead", words(*g), 1))
    predicted = submission(("A", "Lead", words(*p), d1))
    evaluation = evaluate(truth, predicted, **WHOLE)
    segment = evaluation.explanation.rows.iloc[0]
    assert (segment["overlap_prediction"], segment["overlap_truth"]) == OVERLAPS[name]
    assert round(segment["tp"], 3) == iou_column
    assert evaluation.explanation.essay_counts[0, 0, 0] == segment["tp"]
    assert evaluation.score == pytest.approx(
        2 * segment["tp"] / (2 * segment["tp"] + (iou_column == 0) + 1 - segment["tp"])
    )
    # The column "max", which the memo discards, from the same overlaps.
    matched = min(OVERLAPS[name]) >= 0.51
    assert matched * (0.5 * max(OVERLAPS[name]) + 0.5 * d1) == pytest.approx(max_column)


def test_a_short_prediction_inside_the_truth_scores_its_share():
    """Section 2.3: the maximum overlap would be 1, however few of the words are predicted."""
    segments = make_segments((0, "Lead", 0, 4, 1))
    assert metric.intersection_over_union(segments, make_segments((0, "Lead", 0, 9, 1))).tolist() == [0.5]


# --- 2.4 Changing the Overlap Threshold: Figure 1 ---------------------------------------------------


def test_figure_1():
    """Two true segments of 4 words lie 2 words to the right of two predictions of 4 words."""
    predictions = make_segments((0, "Claim", 0, 3, 1), (0, "Claim", 4, 7, 1))
    truths = make_segments((0, "Claim", 2, 5, 1), (0, "Claim", 6, 9, 1))
    halves = [
        (p, g)
        for p in range(2)
        for g in range(2)
        if metric.intersection_over_union(predictions.take([p]), truths.take([g])) == 2 / 6
    ]
    assert halves == [(0, 0), (1, 0), (1, 1)]  # at 50%, the rightmost prediction would match both
    for threshold in (np.nextafter(0.5, 1), 0.51):
        assert [len(index) for index in metric.match(predictions, truths, threshold)] == [0, 0]


def test_a_segment_has_at_most_one_partner_above_one_half():
    predictions = make_segments((0, "Claim", 0, 5, 1), (0, "Claim", 6, 9, 1))
    p, g = metric.match(predictions, make_segments((0, "Claim", 0, 9, 1)), np.nextafter(0.5, 1))
    assert (p.tolist(), g.tolist()) == ([0], [0])


@pytest.mark.parametrize("word", [0, 3, 8])
def test_a_word_between_two_other_predictions_finds_its_partner(word):
    """The middle word of this truth is its only one, and its neighbors belong to other predictions."""
    spans = [(0, 0), (1, 2), (3, 3), (4, 7), (8, 8), (9, 12)]
    predictions = make_segments(*((0, "Claim", *span, 1) for span in spans))
    p, g = metric.match(predictions, make_segments((0, "Claim", word, word, 1)), 0.51)
    assert (p.tolist(), g.tolist()) == ([spans.index((word, word))], [0])


# --- 3 Accounting for Bias --------------------------------------------------------------------------


def test_the_two_models_of_section_3():
    m, n = [0.7, 0.7], [0.6, 0.8]
    assert metric.softmin(m, [1, 1], 0) == metric.softmin(n, [1, 1], 0) == pytest.approx(0.7)
    assert metric.softmin(m, [1, 1], math.inf) == 0.7
    assert metric.softmin(n, [1, 1], math.inf) == 0.6
    for temperature in (1.0, 65.0):
        assert metric.softmin(n, [1, 1], temperature) < metric.softmin(m, [1, 1], temperature) == 0.7


def test_the_formula_of_section_3():
    s, size, alpha = [0.61, 0.55, 0.7], [13213, 1337, 1044], 65.0
    terms = [n * math.exp(-alpha * x) for n, x in zip(size, s)]
    beta = [term / sum(terms) for term in terms]
    assert metric.softmin_weights(s, size, alpha) == pytest.approx(beta, rel=1e-12)
    nu = sum(b * x for b, x in zip(beta, s))
    assert metric.softmin(s, size, alpha) == pytest.approx(nu, rel=1e-12)


def test_temperature_zero_is_the_mean_over_the_population():
    assert metric.softmin([0.5, 0.8], [1, 1], 0) == pytest.approx(0.65)
    assert metric.softmin([0.5, 0.8], [300, 100], 0) == pytest.approx((3 * 0.5 + 0.8) / 4)


@pytest.mark.parametrize("score", [math.nan, 0.1, 0.85, 1.0])
@pytest.mark.parametrize("temperature", [0, 1, 65, 1e4, math.inf])
def test_a_sub_population_without_essays_has_no_part_in_the_softmin(score, temperature):
    without = metric.softmin([0.9, 0.8], [1, 3], temperature)
    assert metric.softmin([0.9, score, 0.8], [1, 0, 3], temperature) == without


def test_softmin_approaches_the_minimum():
    scores, sizes = [0.4, 0.41, 0.9], [1, 1000, 1000]
    values = [float(metric.softmin(scores, sizes, t)) for t in (0, 1, 10, 100, 1000, 1e4, 1e9, math.inf)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == 0.4
    assert values[-3] == pytest.approx(0.4, abs=1e-12)


def test_no_temperature_overflows():
    assert metric.softmin([0.0, 1.0], [1, 10**9], 1e308) == 0.0
    assert metric.softmin_weights([0.0, 1.0], [1, 1], 1e308).tolist() == [1.0, 0.0]


def test_without_bias_weighted_and_uniform_averages_are_identical():
    for temperature in (0, 65, math.inf):
        assert metric.softmin([0.7] * 5, [1, 2, 3, 4, 5], temperature) == 0.7


def test_the_memo_s_softmin_is_not_monotone():
    """A higher score of a good sub-population lowers ν once its score exceeds ν + 1/α."""
    alpha, sizes = 65.0, [100, 100]
    low = float(metric.softmin([0.6, 0.62], sizes, alpha))
    high = float(metric.softmin([0.6, 0.7], sizes, alpha))
    assert low + 1 / alpha < 0.7
    assert high < low
    # Below ν + 1/α it is monotone.
    assert metric.softmin([0.6, 0.601], sizes, alpha) > metric.softmin([0.6, 0.6], sizes, alpha)


# --- 5 Putting It All Together ----------------------------------------------------------------------


def test_the_flow_of_section_5_by_hand():
    """Every number is computed here by hand."""
    truth = solution(
        ("A", "Lead", words(0, 9), 1),
        ("A", "Claim", words(10, 19), 0),
        ("B", "Lead", words(0, 9), 0),
        ell_status=["No", "No", "Yes"],
    )
    predicted = submission(
        ("A", "Lead", words(0, 11), 0.9),  # IoU 10/12
        ("A", "Claim", words(8, 19), 0.2),  # trimmed to 12-19: IoU 8/10
        ("B", "Lead", words(0, 9), 0.5),
    )
    tp = [0.5 * 10 / 12 + 0.5 * 0.9, 0.5 * 8 / 10 + 0.5 * 0.8, 0.5 + 0.5 * 0.5]
    f1 = [2 * t / (2 * t + 1 - t) for t in tp]
    s = [(f1[0] + f1[1]) / 2, f1[2]]
    terms = [math.exp(-65 * x) for x in s]
    expected = sum(t * x for t, x in zip(terms, s)) / sum(terms)
    assert metric.score(truth, predicted, "row_id", subpopulation_column_names="ell_status") == pytest.approx(
        expected, rel=1e-12
    )
    assert metric.score(truth, perfect(truth), "row_id", subpopulation_column_names="ell_status") == 1.0
