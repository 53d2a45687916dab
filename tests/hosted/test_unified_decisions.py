"""Each row of the table of decisions has a test: what the project decides where the memo is silent."""

import math

import numpy as np
import pandas as pd
import pytest

import metric
from tests.support.frames import WHOLE, perfect, solution, submission, whole_score, words
from tests.support.unified import evaluate, make_segments


def kept(*segments: tuple[int, str, int, int, float]) -> list[tuple[int, int, int]]:
    """The row, the first and the last word of each segment that overlap removal keeps."""
    left = metric.remove_overlaps(make_segments(*segments))
    return list(zip(left.row.tolist(), left.first.tolist(), left.last.tolist()))


def test_predictions_that_start_at_the_same_word_are_ordered_by_end_type_and_d1():
    assert kept((0, "Lead", 0, 9, 1), (0, "Lead", 0, 4, 1)) == [(1, 0, 4), (0, 5, 9)]
    assert kept((0, "Claim", 0, 9, 1), (0, "Lead", 0, 9, 1)) == [(1, 0, 9)]
    assert kept((0, "Concluding Statement", 0, 9, 1), (0, "Evidence", 0, 9, 1)) == [(1, 0, 9)]
    assert kept((0, "Lead", 0, 9, 0.7), (0, "Lead", 0, 9, 0.2), (0, "Lead", 0, 9, 0.4)) == [(1, 0, 9)]


def test_words_of_a_discarded_segment_are_used_up():
    # The second segment keeps word 6 alone. It is discarded, but word 6 stays used.
    assert kept((0, "Lead", 0, 5, 1), (0, "Claim", 3, 6, 1), (0, "Evidence", 6, 9, 1)) == [(0, 0, 5), (2, 7, 9)]


def test_a_one_word_segment_that_lost_nothing_stays():
    assert kept((0, "Lead", 0, 0, 1), (0, "Claim", 1, 1, 1)) == [(0, 0, 0), (1, 1, 1)]
    assert whole_score(solution(("A", "Lead", "7", 1)), submission(("A", "Lead", "7", 1))) == 1.0


def test_a_discarded_prediction_is_no_false_positive():
    truth = solution(("A", "Lead", words(0, 9), 1))
    predicted = submission(("A", "Lead", words(0, 9), 1), ("A", "Lead", words(2, 9), 1))
    evaluation = evaluate(truth, predicted, **WHOLE)
    assert evaluation.explanation.essay_counts[0, 0].tolist() == [1.0, 0.0, 0.0]
    assert evaluation.explanation.rows["outcome"].tolist() == ["matched", "discarded", "matched"]


def test_truth_segments_that_overlap_lose_words_with_a_warning():
    truth = solution(
        ("A", "Lead", words(0, 9), 1), ("A", "Claim", words(9, 19), 0), ("A", "Evidence", words(18, 20), 0)
    )
    message = (
        r"^2 segments of the solution overlapping an earlier one: 1 lost the common words, 1 were discarded\.$"
    )
    with pytest.warns(metric.TruthOverlapWarning, match=message):
        assert whole_score(truth, perfect(truth)) == 1.0
    evaluation = evaluate(truth, perfect(truth), **WHOLE)
    assert [message.strip("^$").replace("\\", "")] == evaluation.solution.notices
    assert evaluation.prepared.truths.first.tolist() == [0, 10]
    with pytest.warns(metric.TruthOverlapWarning):  # 10 words of 10 match 10 of the 11 that were labeled
        assert whole_score(truth, submission(("A", "Claim", words(10, 19), 0))) == 0.5


def test_types_absent_from_a_sub_population_are_left_out_of_its_mean():
    truth = solution(
        ("A", "Lead", words(0, 9), 1),
        ("A", "Claim", words(10, 19), 1),
        ("B", "Lead", words(0, 9), 1),
        ell_status=["No", "No", "Yes"],
    )
    predicted = pd.concat(
        [perfect(truth), submission(("B", "Claim", words(20, 29), 1), ("B", "Rebuttal", words(30, 39), 1))]
    )
    scores = evaluate(truth, predicted, subpopulation_column_names="ell_status").explanation.groups
    assert scores["score"].tolist() == [1.0, 1.0]
    to_the_letter = {"subpopulation_column_names": "ell_status", "average_all_types": True}
    scores = evaluate(truth, predicted, **to_the_letter).explanation.groups
    assert scores["score"].tolist() == [2 / 7, 1 / 7]


@pytest.fixture
def four_writers():
    """Four essays, one for each combination of two attributes; each essay has a score of its own."""
    essays = ["A", "B", "C", "D"]
    truth = solution(
        *((essay, "Lead", words(0, 9), 1) for essay in essays),
        ell_status=["No", "No", "Yes", "Yes"],
        economically_disadvantaged=["x", "y", "x", "y"],
    )
    predicted = submission(
        *((essay, "Lead", words(0, 9), d1) for essay, d1 in zip(essays, [1.0, 0.8, 0.6, 0.4]))
    )
    return truth, predicted


def test_every_value_of_every_attribute_is_a_sub_population(four_writers):
    table = evaluate(*four_writers).explanation.groups
    assert table[["attribute", "value", "essays"]].values.tolist() == [
        ["ell_status", "No", 2],
        ["ell_status", "Yes", 2],
        ["economically_disadvantaged", "x", 2],
        ["economically_disadvantaged", "y", 2],
    ]
    f1 = {mean: 2 * tp / (1 + tp) for mean, tp in ((m, 0.5 + 0.5 * m) for m in (0.9, 0.5, 0.8, 0.6))}
    assert table["score"].tolist() == pytest.approx([f1[0.9], f1[0.5], f1[0.8], f1[0.6]])
    assert table["weight"].sum() == pytest.approx(1)


def test_intersectional_takes_every_combination_that_occurs(four_writers):
    truth, predicted = four_writers
    evaluation = evaluate(truth, predicted, intersectional=True)
    assert evaluation.explanation.groups["value"].tolist() == ["No & x", "No & y", "Yes & x", "Yes & y"]
    assert set(evaluation.explanation.groups["attribute"]) == {"ell_status & economically_disadvantaged"}
    assert evaluation.explanation.groups["essays"].tolist() == [1, 1, 1, 1]
    fewer = evaluate(truth.drop(index=1), predicted, intersectional=True)
    assert fewer.explanation.groups["value"].tolist() == ["No & x", "Yes & x", "Yes & y"]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, "", "  "])
def test_a_missing_demographic_value_is_its_own_sub_population(missing):
    truth = solution(("A", "Lead", words(0, 9), 1), ("B", "Lead", words(0, 9), 1), ell_status=["No", missing])
    predicted = submission(("A", "Lead", words(0, 9), 1))
    table = evaluate(truth, predicted, subpopulation_column_names="ell_status").explanation.groups
    assert table[["value", "essays", "score"]].values.tolist() == [["No", 1, 1.0], ["(missing)", 1, 0.0]]


@pytest.mark.parametrize("step", [1, -1])
def test_sub_populations_are_in_the_order_of_their_values(step):
    """So whatever is summed over them is summed in the same order, however the rows are ordered."""
    truth = solution(*((name, "Lead", words(0, 9), 1) for name in "ABCD"), ell_status=["a", None, "b", "B"])
    prepared = metric.prepare(truth[::step], "row_id", subpopulation_column_names="ell_status")
    assert [value for _, value in prepared.labels] == ["B", "a", "b", "(missing)"]
    assert (prepared.items, prepared.groups.tolist()) == (list("ABCD"), [[1, 3, 2, 0]])


def test_the_text_missing_in_brackets_is_a_value_like_any_other():
    truth = solution(
        ("A", "Lead", words(0, 9), 1), ("B", "Lead", words(0, 9), 1), ell_status=["(missing)", None]
    )
    table = evaluate(truth, perfect(truth), subpopulation_column_names="ell_status").explanation.groups
    assert table[["value", "essays"]].values.tolist() == [["'(missing)'", 1], ["(missing)", 1]]


def test_the_size_of_a_sub_population_is_its_number_of_essays():
    truth = solution(
        *(("A", "Lead", words(10 * n, 10 * n + 9), 1) for n in range(9)),
        ("B", "Lead", words(0, 9), 1),
        ell_status=["No"] * 9 + ["Yes"],
    )
    predicted = submission(("B", "Lead", words(0, 9), 1))
    score = metric.score(truth, predicted, "row_id", subpopulation_column_names="ell_status", temperature=0.0)
    assert score == 0.5


def test_no_attribute_named_is_one_population(four_writers):
    evaluation = evaluate(*four_writers, **WHOLE)
    assert evaluation.explanation.groups["essays"].tolist() == [4]
    assert evaluation.score == pytest.approx(2 * 0.85 / 1.85)
    for temperature in (0.0, math.inf):
        assert whole_score(*four_writers, temperature=temperature) == evaluation.score
    blank = metric.score(*four_writers, "row_id", subpopulation_column_names="  ", intersectional=True)
    assert blank == evaluation.score


def test_default_parameters_are_the_official_ones(four_writers):
    assert evaluate(*four_writers).signature == (
        "metric:unified|version:3.0.0|essay_id_column_name:essay_id|"
        "subpopulation_column_names:ell_status,economically_disadvantaged|segment_weight:0.5|"
        "overlap_threshold:0.51|temperature:65.0|intersectional:False"
    )
    # A parameter that was added later stands there only if it changes the score.
    assert evaluate(*four_writers, average_all_types=False).signature == evaluate(*four_writers).signature
    to_the_letter = evaluate(*four_writers, average_all_types=True)
    assert to_the_letter.signature.endswith("|intersectional:False|average_all_types:True")


def test_predictions_for_essays_not_in_the_solution_are_ignored(four_writers):
    truth, predicted = four_writers
    more = pd.concat([submission(("Z", "Lead", words(0, 9), 1), ("Y", "Claim", "3", 0)), predicted])
    evaluation = evaluate(truth, more)
    assert evaluation.score == metric.score(truth, predicted, "row_id")
    assert evaluation.explanation.notices[0] == (
        "ignored 2 essays of the submission, not among the 4 that are scored: Z, Y"
    )


def test_essays_without_a_prediction_are_all_missed(four_writers):
    truth, predicted = four_writers
    evaluation = evaluate(truth, predicted.iloc[:3], **WHOLE)
    assert evaluation.explanation.essay_counts[3, 0].tolist() == [0.0, 0.0, 1.0]


def test_an_empty_submission_scores_zero(four_writers):
    truth, predicted = four_writers
    assert metric.score(truth, predicted.head(0), "row_id") == 0.0
    only_names = pd.DataFrame(columns=list(predicted.columns))
    assert metric.score(truth, only_names, "row_id") == 0.0


@pytest.mark.parametrize(("d0", "d1"), [(0.2, 0.7995), (0.2, 0.799), (0.2, 0.801), (0.2004, 0.8004)])
def test_probabilities_within_a_thousandth_of_one_are_normalized(d0, d1):
    truth = solution(("A", "Lead", words(0, 9), 1))
    predicted = submission(("A", "Lead", words(0, 9), 0.0))
    predicted["score_discourse_effectiveness_0"] = d0
    predicted["score_discourse_effectiveness_1"] = d1
    tp = d1 / (d0 + d1)
    assert whole_score(truth, predicted, segment_weight=0.0) == pytest.approx(2 * tp / (1 + tp), rel=1e-12)


def test_row_ids_may_be_the_essay_ids_and_repeat():
    truth = solution(("A", "Lead", words(0, 9), 1), ("A", "Claim", words(10, 19), 0))
    assert metric.score(truth, perfect(truth), "essay_id", subpopulation_column_names="") == 1.0


def test_two_true_segments_with_equal_id_type_and_words_are_different_segments():
    """The Feedback-Prize truth has two such rows. The second segment loses all its words."""
    truth = solution(("A", "Lead", words(0, 9), 0), ("A", "Lead", words(0, 9), 1))
    evaluation = evaluate(truth, submission(("A", "Lead", words(0, 9), 0)), **WHOLE)
    assert "0 lost the common words, 1 were discarded" in evaluation.solution.notices[0]
    assert evaluation.explanation.essay_counts[0, 0].tolist() == [1.0, 0.0, 0.0]  # E = 0 comes first
