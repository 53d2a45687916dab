"""`metrics/scifact.py`: the document's worked example, every rule and decision, and every kind of bad input."""

import ast
import copy
import doctest
import gzip
import inspect
import itertools
import json
import math
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from competition import metric_file, scoring
from tests import scifact_data
from tests import scifact_transcription as transcription
from tests.scifact_data import SAMPLES, WORKED_GOLD, WORKED_PREDICTION, claims, frame, json_lines

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "scifact"
METRIC = ROOT / "metrics" / "scifact.py"
scifact = metric_file.load(METRIC)

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the official files are not beside the repository")

EXPECTED_PREDICTION = (
    """Expected JSON such as '{"11": {"sentences": [1, 11], "label": "SUPPORT"}}', or '{}' for no evidence: """
    "for each document a label, SUPPORT or CONTRADICT, and a list of sentences, whole numbers from 0 to "
    "999999999."
)
EXPECTED_GOLD = (
    """Expected JSON such as '{"11": [{"sentences": [0, 1], "label": "SUPPORT"}]}', or '{}' for no evidence: """
    "for each document one label, SUPPORT or CONTRADICT, and sets of sentences, none of them empty, of whole "
    "numbers from 0 to 999999999, each of them once."
)
EXPECTED_LINE = (
    "Expected one JSON object per line, with an id (a whole number or text) and evidence (an object)."
)


def gold_of(*sets: list[int], label: str = "SUPPORT", document: str = "11") -> dict[str, Any]:
    return {document: [{"sentences": one, "label": label} for one in sets]}


def answer_of(*sentences: Any, label: str = "SUPPORT", document: str = "11") -> dict[str, Any]:
    return {document: {"sentences": list(sentences), "label": label}}


def table(*evidence: Any) -> pd.DataFrame:
    """A solution or submission: claims 1, 2 … with this evidence, or with this text for it."""
    cells = [one if isinstance(one, str) else json.dumps(one) for one in evidence]
    return pd.DataFrame({"claim_id": range(1, len(cells) + 1), "evidence": cells})


def counts(gold: dict[str, Any], answer: dict[str, Any]) -> list[int]:
    """Correct by label, rationalized, selected and labelled, of a single claim."""
    return list(scifact.evaluate(table(gold), table(answer), "claim_id").counts["correct"])


def outcomes(gold: dict[str, Any], answer: dict[str, Any], level: str, side: str = "prediction") -> list[str]:
    segments = scifact.evaluate(table(gold), table(answer), "claim_id").segments
    return list(segments.loc[(segments["level"] == level) & (segments["side"] == side), "outcome"])


def rejection(cell: Any, solution: pd.DataFrame | None = None) -> str:
    """The participant's message for claim 2 of 3, the same whatever the solution is."""
    submission = table({}, {}, {}).astype({"evidence": object})
    submission.at[1, "evidence"] = cell
    messages = set()
    for other in (table({}, {}, {}), table(gold_of([1]), gold_of([2], [3], label="CONTRADICT"), {}), table({})):
        with pytest.raises(scifact.ParticipantVisibleError) as caught:
            scifact.score(other, submission, "claim_id")
        assert caught.value.__cause__ is None
        messages.add(str(caught.value))
    assert len(messages) == 1
    return messages.pop()


def complaint(cell: Any) -> str:
    """The host's message for claim 2 of 3."""
    solution = table({}, {}, {}).astype({"evidence": object})
    solution.at[1, "evidence"] = cell
    with pytest.raises(scifact.HostVisibleError) as caught:
        scifact.prepare(solution, "claim_id")
    assert caught.value.__cause__ is None
    return str(caught.value)


# --- the document's worked example ------------------------------------------------------------------


@pytest.fixture(scope="module")
def worked():
    return scifact.evaluate(frame([WORKED_GOLD]), frame([WORKED_PREDICTION]), "claim_id")


def test_worked_example_counts(worked):
    assert worked.counts.to_dict("index") == {
        "abstract_label_only": {"relevant": 2, "retrieved": 2, "correct": 1},
        "abstract_rationalized": {"relevant": 2, "retrieved": 2, "correct": 1},
        "sentence_selection": {"relevant": 4, "retrieved": 5, "correct": 1},
        "sentence_label": {"relevant": 4, "retrieved": 5, "correct": 1},
    }


def test_worked_example_measures(worked):
    """In the form of F1 that counts, 2/9 comes out a last bit larger."""
    two_ninths = (2 * (1 / 5) * (1 / 4)) / (1 / 5 + 1 / 4)
    assert two_ninths == math.nextafter(2 / 9, 1)
    assert worked.measures == {
        "score": two_ninths,
        "abstract_label_only_precision": 1 / 2,
        "abstract_label_only_recall": 1 / 2,
        "abstract_label_only_f1": 1 / 2,
        "abstract_rationalized_precision": 1 / 2,
        "abstract_rationalized_recall": 1 / 2,
        "abstract_rationalized_f1": 1 / 2,
        "sentence_selection_precision": 1 / 5,
        "sentence_selection_recall": 1 / 4,
        "sentence_selection_f1": two_ninths,
        "sentence_label_precision": 1 / 5,
        "sentence_label_recall": 1 / 4,
        "sentence_label_f1": two_ninths,
    }
    assert list(worked.measures) == ["score", *scifact.MEASURES]
    assert len(scifact.MEASURES) == 12


def test_worked_example_segments(worked):
    rows = [
        [None if value is pd.NA else value for value in row]
        for row in worked.segments.drop(columns="claim_id").to_numpy(dtype=object).tolist()
    ]
    assert rows == [
        ["claim", "prediction", None, None, None, None, None, "not in gold"],
        ["abstract", "prediction", "11", None, "SUPPORT", None, None, "correct"],
        ["abstract", "truth", "11", None, "SUPPORT", None, None, "correct"],
        ["sentence", "prediction", "11", 1, "SUPPORT", 1, 1, "evidence incomplete"],
        ["sentence", "prediction", "11", 11, "SUPPORT", 2, 2, "correct"],
        ["sentence", "prediction", "11", 13, "SUPPORT", 3, None, "not in gold"],
        ["sentence", "truth", "11", 0, "SUPPORT", None, 1, "missed"],
        ["sentence", "truth", "11", 1, "SUPPORT", None, 1, "evidence incomplete"],
        ["sentence", "truth", "11", 11, "SUPPORT", None, 2, "correct"],
        ["abstract", "truth", "15", None, "SUPPORT", None, None, "missed"],
        ["sentence", "truth", "15", 4, "SUPPORT", None, 1, "missed"],
        ["abstract", "prediction", "16", None, "CONTRADICT", None, None, "not in gold"],
        ["sentence", "prediction", "16", 18, "CONTRADICT", 1, None, "not in gold"],
        ["sentence", "prediction", "16", 20, "CONTRADICT", 2, None, "not in gold"],
    ]
    assert list(worked.segments.columns) == [
        *("level", "side", "claim_id", "abstract", "sentence", "label", "place", "evidence_set", "outcome")
    ]
    assert set(worked.segments["claim_id"]) == {"52"}


def test_worked_example_claims(worked):
    assert worked.claims.to_numpy(dtype=object).tolist() == [
        ["52", "11", "SUPPORT", "SUPPORT", "correct", 3, 3, 1, 1, 1, 1],
        ["52", "15", "SUPPORT", None, "missed", 1, 0, 0, 0, 0, 0],
        ["52", "16", None, "CONTRADICT", "not in gold", 0, 2, 0, 0, 0, 0],
    ]


def test_worked_example_as_it_stands_in_the_document():
    """Its label REFUTES is none of the two that the same document allows."""
    printed = copy.deepcopy(WORKED_PREDICTION)
    printed["evidence"]["16"]["label"] = "REFUTES"
    with pytest.raises(scifact.ParticipantVisibleError) as caught:
        scifact.score(frame([WORKED_GOLD]), frame([printed]), "claim_id")
    assert str(caught.value) == (
        "evidence is wrong in 1 row of the submission: claim_id 52 (document '16': the label is 'REFUTES'; "
        f"write CONTRADICT). {EXPECTED_PREDICTION}"
    )


@pytest.mark.parametrize("measure", scifact.MEASURES)
def test_score_is_the_measure_asked_for(worked, measure):
    arguments = frame([WORKED_GOLD]), frame([WORKED_PREDICTION]), "claim_id", measure
    assert scifact.score(*arguments) == worked.measures[measure]
    evaluation = scifact.evaluate(*arguments)
    assert evaluation.score == evaluation.measures["score"] == worked.measures[measure]
    assert evaluation.signature == f"metric:scifact|version:1.0.0|measure:{measure}"


def test_the_measure_that_counts_by_default(worked):
    assert worked.score == worked.measures["sentence_label_f1"]
    assert worked.signature == "metric:scifact|version:1.0.0|measure:sentence_label_f1"


# --- consequences of the definitions ----------------------------------------------------------------


def test_an_empty_list_with_the_right_label_earns_label_only_credit():
    assert counts(gold_of([4]), answer_of()) == [1, 0, 0, 0]
    assert outcomes(gold_of([4]), answer_of(), "abstract") == ["evidence incomplete"]


def test_an_abstract_of_a_claim_without_evidence_is_wrong_everywhere():
    evaluation = scifact.evaluate(table({}), table(answer_of(1, 2)), "claim_id")
    assert evaluation.counts.to_numpy().tolist() == [[0, 1, 0], [0, 1, 0], [0, 2, 0], [0, 2, 0]]
    assert set(evaluation.measures.values()) == {0.0}
    assert list(evaluation.segments["outcome"]) == ["not in gold"] * 4


def test_leaving_the_abstract_out_says_not_enough_info():
    evaluation = scifact.evaluate(table({}, gold_of([1])), table({}, answer_of(1)), "claim_id")
    assert set(evaluation.measures.values()) == {1.0}
    assert list(evaluation.claims["outcome"]) == ["correct", "correct"]
    assert evaluation.claims.iloc[0, 1:4].tolist() == [None, None, None]


def test_nothing_to_find_and_nothing_predicted_is_zero():
    evaluation = scifact.evaluate(table({}), table({}), "claim_id")
    assert list(evaluation.measures.values()) == [0.0] * 13
    assert len(evaluation.segments) == 1
    assert evaluation.notices == ["the submission predicts no evidence: its precision is 0 / 0, counted as 0"]


def test_nothing_predicted_is_zero():
    evaluation = scifact.evaluate(table(gold_of([1])), table({}), "claim_id")
    assert list(evaluation.measures.values()) == [0.0] * 13
    assert list(evaluation.claims["outcome"]) == ["missed"]


def test_the_wrong_label_earns_sentence_selection_only():
    gold, answer = gold_of([1], [2, 3]), answer_of(1, 2, 5, label="CONTRADICT")
    assert counts(gold, answer) == [0, 0, 1, 0]
    assert outcomes(gold, answer, "abstract") == outcomes(gold, answer, "claim") == ["wrong label"]
    assert outcomes(gold, answer, "sentence") == ["wrong label", "evidence incomplete", "not in gold"]
    assert outcomes(gold, answer, "sentence", "truth") == ["wrong label", "evidence incomplete", "missed"]


def test_each_sentence_of_a_set_needs_the_others():
    assert counts(gold_of([0, 1, 2]), answer_of(0, 1)) == [1, 0, 0, 0]
    assert counts(gold_of([0, 1, 2]), answer_of(0, 1, 2)) == [1, 1, 3, 3]
    assert outcomes(gold_of([0, 1, 2]), answer_of(0, 1), "sentence") == ["evidence incomplete"] * 2


@pytest.mark.parametrize(
    ("sentences", "rationalized"),
    [
        ((4,), 1),
        ((1, 2, 4), 1),
        ((1, 2, 3, 4), 0),
        ((4, 3, 2, 1), 1),
        ((1, 1, 1, 4), 0),
        ((1, 1, 4), 1),
    ],
)
def test_the_first_three_sentences_as_given_count_for_rationalized(sentences, rationalized):
    gold = gold_of([4])
    assert counts(gold, answer_of(*sentences)) == [1, rationalized, 1, 1]
    expected = "correct" if rationalized else "beyond the first three"
    assert outcomes(gold, answer_of(*sentences), "abstract") == [expected]
    assert outcomes(gold, answer_of(*sentences), "abstract", "truth") == [expected]


def test_all_sentences_count_per_sentence():
    gold, answer = gold_of([4]), answer_of(1, 2, 3, 4)
    assert outcomes(gold, answer, "sentence") == [*["not in gold"] * 3, "correct"]
    assert outcomes(gold, answer, "claim") == ["beyond the first three"]


def test_a_smallest_set_of_four_lets_four_sentences_count():
    """As for claim 264 of the training set: an answer with just its four sentences is perfect."""
    gold = gold_of([6, 7, 8, 9])
    assert counts(gold, answer_of(9, 8, 7, 6)) == [1, 1, 4, 4]
    assert counts(gold, answer_of(1, 6, 7, 8, 9)) == [1, 0, 4, 4]
    assert counts(gold, answer_of(6, 6, 7, 8, 9)) == [1, 0, 4, 4]
    assert counts(gold_of([1, 2, 3, 4, 5], [6, 7, 8, 9]), answer_of(6, 7, 8, 9, 1)) == [1, 1, 4, 4]
    assert counts(gold_of([1, 2, 3, 4, 5], [6, 7, 8, 9]), answer_of(1, 2, 3, 4, 5)) == [1, 0, 5, 5]
    # With a set of one beside it, three count again.
    assert counts(gold_of([1, 2, 3, 4], [9]), answer_of(1, 2, 3, 4)) == [1, 0, 4, 4]


def test_one_of_several_sets_within_the_first_three_suffices():
    assert counts(gold_of([0, 1], [11]), answer_of(11, 0, 5, 1)) == [1, 1, 3, 3]


def test_a_sentence_listed_twice_is_retrieved_twice_but_correct_once():
    evaluation = scifact.evaluate(table(gold_of([4])), table(answer_of(4, 4, 7, 7)), "claim_id")
    assert evaluation.counts.loc["sentence_label"].tolist() == [1, 4, 1]
    assert outcomes(gold_of([4]), answer_of(4, 4, 7, 7), "sentence") == [
        *("correct", "repeated", "not in gold", "repeated")
    ]
    assert evaluation.notices == ["2 sentences listed before in the same list, counted as wrong"]


def test_the_notice_of_evidence_beyond_the_first_three():
    (notice,) = scifact.evaluate(table(gold_of([4])), table(answer_of(1, 2, 3, 4)), "claim_id").notices
    assert notice == (
        "1 abstract with the right label and a whole evidence set, but not among the first 3 sentences "
        "listed: the surest sentences belong first"
    )


def test_f1_comes_from_precision_and_recall():
    """2PR / (P + R) and 2·correct / (relevant + retrieved) differ in the last bit, and the former counts."""
    p, r = 2 / 6, 2 / 7
    assert (2 * p * r) / (p + r) == 0.30769230769230765 != 4 / 13
    assert scifact.precision_recall_f1([7, 6, 2]).tolist() == [p, r, 0.30769230769230765]


def test_the_outcome_of_a_claim_is_the_first_fault_of_its_abstracts():
    gold = {document: gold_of([1], document=document)[document] for document in "abcde"}
    answers = {
        **answer_of(1, document="a"),
        **answer_of(1, label="CONTRADICT", document="b"),
        **answer_of(2, document="c"),
        **answer_of(2, 3, 4, 1, document="d"),
        **answer_of(1, document="f"),
    }
    expected = ["wrong label", "evidence incomplete", "beyond the first three", "not in gold", "missed"]
    for document, outcome in zip("bcdf", expected):
        assert outcomes(gold, answers, "claim") == [outcome]
        del answers[document]
    assert outcomes(gold, answers, "claim") == ["missed"]
    assert outcomes({"a": gold["a"]}, answers, "claim") == ["correct"]


# --- against the literal transcription --------------------------------------------------------------

DOCUMENTS = ("7", "11", "007", "{a: b}", "é\u2028", "\U0001f9ec", "")


@st.composite
def gold_claims(draw: st.DrawFn) -> dict[str, Any]:
    """Evidence of up to three abstracts, with disjoint sets of one to five of twelve sentences."""
    evidence = {}
    for document in draw(st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=3)):
        sentences = draw(st.permutations(range(12)))
        sizes = draw(st.lists(st.sampled_from((1, 1, 2, 3, 4, 5)), min_size=1, max_size=3))
        ends = [end for end in itertools.accumulate(sizes) if end <= 12]
        sets = [sentences[begin:end] for begin, end in zip([0, *ends], ends)]
        evidence |= gold_of(*sets, label=draw(st.sampled_from(scifact.LABELS)), document=document)
    return evidence


@st.composite
def answers_to(draw: st.DrawFn, gold: dict[str, Any]) -> dict[str, Any]:
    """Answers near the gold: sentences of some of its sets, others between them, repeated ones."""
    answers = {}
    for document in draw(st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=4)):
        sets = [one["sentences"] for one in gold.get(document, [])]
        taken = [sentence for one in sets if draw(st.integers(0, 3)) for sentence in one]
        others = draw(st.lists(st.integers(0, 13), max_size=4))
        sentences = taken + others if draw(st.booleans()) else draw(st.permutations(taken + others))
        answers |= answer_of(*sentences, label=draw(st.sampled_from(scifact.LABELS)), document=document)
    return answers


@st.composite
def competitions(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Gold and answers by claim id."""
    ids = draw(st.lists(st.sampled_from(("1", "10", "9", "b", "é", "007")), unique=True, min_size=1))
    gold = {claim_id: draw(gold_claims()) for claim_id in ids}
    return gold, {claim_id: draw(answers_to(gold[claim_id])) for claim_id in draw(st.permutations(ids))}


def frames(*sides: dict[str, Any]) -> list[pd.DataFrame]:
    return [
        pd.DataFrame({"claim_id": list(side), "evidence": [json.dumps(one) for one in side.values()]})
        for side in sides
    ]


def check_measures(gold: dict[str, Any], answers: dict[str, Any]) -> None:
    evaluation = scifact.evaluate(*frames(gold, answers), "claim_id", "abstract_rationalized_f1")
    expected = transcription.measures(gold, answers)
    assert evaluation.measures == {"score": expected["abstract_rationalized_f1"], **expected}
    correct, relevant, retrieved = transcription.counts(gold, answers)
    for credit in scifact.CREDITS:
        unit = credit.split("_")[0]
        assert evaluation.counts.loc[credit].tolist() == [relevant[unit], retrieved[unit], correct[credit]]


def check_outcomes(gold: dict[str, Any], answers: dict[str, Any]) -> None:
    segments = scifact.evaluate(*frames(gold, answers), "claim_id").segments
    found = {
        key: list(rows["outcome"])
        for key, rows in segments.fillna({"abstract": "-"}).groupby(["level", "side", "claim_id", "abstract"])
    }
    expected = {}
    for claim_id, sets_of in gold.items():
        answer_to = answers[claim_id]
        expected["claim", "prediction", claim_id, "-"] = [transcription.claim_outcome(sets_of, answer_to)]
        for document in {*sets_of, *answer_to}:
            sets, answer = sets_of.get(document), answer_to.get(document)
            outcome = [transcription.abstract_outcome(sets, answer)]
            if answer:
                key = "prediction", claim_id, document
                expected["abstract", *key] = outcome
                expected["sentence", *key] = transcription.predicted_sentence_outcomes(sets, answer)
            if sets:
                key = "truth", claim_id, document
                expected["abstract", *key] = outcome
                expected["sentence", *key] = transcription.gold_sentence_outcomes(sets, answer)
    assert found == {key: value for key, value in expected.items() if value}


@given(competitions())
def test_measures_and_outcomes_equal_the_transcription(competition):
    check_measures(*competition)
    check_outcomes(*competition)


@pytest.mark.slow
@given(competitions())
@settings(max_examples=3000)
def test_measures_and_outcomes_equal_the_transcription_more_often(competition):
    check_measures(*competition)
    check_outcomes(*competition)


@given(competitions())
@settings(max_examples=40)
def test_explanations_add_up_to_the_counts(competition):
    evaluation = scifact.evaluate(*frames(*competition), "claim_id")
    counted = evaluation.counts["correct"]
    assert evaluation.claims[["label_only", "rationalized", "selection", "sentence_label"]].sum().tolist() == (
        counted.tolist()
    )
    assert evaluation.claims[["relevant", "retrieved"]].sum().tolist() == (
        evaluation.counts.loc["sentence_label", ["relevant", "retrieved"]].tolist()
    )
    assert len(evaluation.claims.drop_duplicates(["claim_id", "abstract"])) == len(evaluation.claims)
    assert list(evaluation.claims["claim_id"].drop_duplicates()) == evaluation.items
    tabled = evaluation.tables["Outcomes"].set_index("outcome")
    for column, (side, level) in {
        "claims": ("prediction", "claim"),
        "predicted_abstracts": ("prediction", "abstract"),
        "gold_abstracts": ("truth", "abstract"),
        "predicted_sentences": ("prediction", "sentence"),
        "gold_sentences": ("truth", "sentence"),
    }.items():
        rows = evaluation.segments[
            (evaluation.segments["side"] == side) & (evaluation.segments["level"] == level)
        ]
        assert tabled[column].to_dict() == {
            name: int((rows["outcome"] == name).sum()) for name in scifact.OUTCOMES
        }
    assert tabled.loc["correct", "predicted_abstracts"] == counted["abstract_rationalized"]
    assert tabled.loc["correct", "predicted_sentences"] == counted["sentence_label"]
    assert tabled.loc["correct", "gold_sentences"] == counted["sentence_label"]
    assert tabled.loc[["correct", "wrong label"], "gold_sentences"].sum() == counted["sentence_selection"]
    credits = evaluation.tables["Measures"].set_index("credit")
    assert credits[["relevant", "retrieved", "correct"]].equals(evaluation.counts)
    assert (
        credits[["precision", "recall", "f1"]].to_numpy().ravel().tolist()
        == (list(evaluation.measures.values())[1:])
    )


@given(competitions(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_row_order_and_index_have_no_effect(competition, random):
    solution, submission = frames(*competition)
    straight = scifact.evaluate(solution, submission, "claim_id")
    shuffled = []
    for rows in (solution, submission):
        order = list(range(len(rows)))
        random.shuffle(order)
        shuffled.append(rows.iloc[order].set_index(pd.Index([5] * len(rows))))
    crooked = scifact.evaluate(*shuffled, "claim_id")
    assert crooked.measures == straight.measures
    assert crooked.items == straight.items == sorted(competition[0])
    assert np.array_equal(crooked.claim_counts, straight.claim_counts)
    pd.testing.assert_frame_equal(crooked.segments, straight.segments)
    pd.testing.assert_frame_equal(crooked.claims, straight.claims)


@given(competitions(), st.data())
@settings(max_examples=40)
def test_resample_equals_the_measures_of_repeated_claims(competition, data):
    gold, answers = competition
    evaluation = scifact.evaluate(*frames(gold, answers), "claim_id", "sentence_selection_recall")
    rows = st.lists(st.integers(0, 3), min_size=len(gold), max_size=len(gold))
    weights = data.draw(st.lists(rows, min_size=1, max_size=3))
    values = evaluation.resample(np.array(weights))
    assert values.shape == (len(weights), 13)
    for row, weight in zip(values.tolist(), weights):
        drawn = [(item, n) for item, number in zip(evaluation.items, weight) for n in range(number)]
        expected = transcription.measures(
            {f"{item} {n}": gold[item] for item, n in drawn},
            {f"{item} {n}": answers[item] for item, n in drawn},
        )
        assert dict(zip(evaluation.measures, row)) == {
            "score": expected["sentence_selection_recall"],
            **expected,
        }
    ones = evaluation.resample(np.ones((1, len(gold)), dtype=int))[0]
    assert ones.tolist() == list(evaluation.measures.values())


@given(competitions(), st.data())
@settings(max_examples=40)
def test_mix_equals_the_measures_of_swapped_answers(competition, data):
    gold, answers = competition
    others = {claim_id: data.draw(answers_to(gold[claim_id])) for claim_id in gold}
    mine, theirs = (scifact.evaluate(*frames(gold, side), "claim_id") for side in (answers, others))
    swapped = data.draw(st.lists(st.booleans(), min_size=len(gold), max_size=len(gold)))
    mixed = {}, {}
    for claim_id, swap in zip(mine.items, swapped):
        mixed[swap][claim_id], mixed[not swap][claim_id] = answers[claim_id], others[claim_id]
    values = mine.mix(theirs, np.array([swapped], dtype=np.uint8))
    for value, side in zip(values, mixed):
        assert value.shape == (1, 13)
        assert value[0, 1:].tolist() == list(transcription.measures(gold, side).values())
        assert value[0, 0] == value[0, 12]


@given(competitions(), st.data())
@settings(max_examples=40)
def test_a_part_is_the_solution_of_these_rows(competition, data):
    solution, submission = frames(*competition)
    flags = st.lists(st.booleans(), min_size=len(solution), max_size=len(solution)).filter(any)
    rows = np.array(data.draw(flags))
    solution = solution.sample(frac=1, random_state=len(solution)).reset_index(drop=True)
    whole = scifact.prepare(solution, "claim_id")
    part, alone = whole.part(rows), scifact.prepare(solution[rows], "claim_id")
    again = alone.part(np.ones(len(alone.rows), dtype=bool))
    answered = submission[submission["claim_id"].isin(solution.loc[rows, "claim_id"])]
    for prepared in (part, again):
        assert prepared.rows.tolist() == alone.rows.tolist()
        found, expected = prepared.evaluate(answered), alone.evaluate(answered)
        assert found.items == expected.items
        assert found.measures == expected.measures
        pd.testing.assert_frame_equal(found.segments, expected.segments)


def test_the_transcription_knows_the_worked_example():
    gold, answers = {"52": WORKED_GOLD["evidence"]}, {"52": WORKED_PREDICTION["evidence"]}
    assert transcription.measures(gold, answers)["sentence_label_f1"] == pytest.approx(2 / 9, rel=1e-15)
    assert transcription.counts(gold, answers)[0]["abstract_rationalized"] == 1


# --- official files ---------------------------------------------------------------------------------


def evidence_of(path: Path) -> dict[str, Any]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {str(line["id"]): line["evidence"] for line in lines}


def official(gold: Path, predictions: Path) -> dict[str, float]:
    """The twelve measures by the readers, and the same from the lines as frames."""
    evaluation = scifact.evaluate(scifact.read_solution(gold), scifact.read_submission(predictions), "claim_id")
    as_frames = frames(evidence_of(gold), evidence_of(predictions))
    assert scifact.evaluate(*as_frames, "claim_id").measures == evaluation.measures
    return {name: value for name, value in evaluation.measures.items() if name != "score"}


@needs_data
@pytest.mark.parametrize("name", ["small"])
def test_the_official_fixture(name):
    folder = DATA / "evaluator_fixture"
    expected = json.loads((folder / f"expected_metrics_{name}.json").read_text())
    assert official(folder / f"gold_{name}.jsonl", folder / f"predictions_{name}.jsonl") == expected
    assert expected["abstract_rationalized_f1"] == 0.30769230769230765


@needs_data
def test_the_official_dummy_predictions():
    """One abstract for every claim of the test set, in the gold of none; its gold is not public."""
    folder = DATA / "evaluator_fixture"
    predicted = scifact.read_submission(folder / "predictions_dummy.jsonl")
    expected = json.loads((folder / "expected_metrics_dummy.json").read_text())
    gold = predicted.assign(evidence=json.dumps(gold_of([0], document="15")))
    evaluation = scifact.evaluate(gold, predicted, "claim_id")
    assert {name: evaluation.measures[name] for name in expected} == expected
    assert evaluation.counts.loc["abstract_label_only"].tolist() == [300, 300, 0]


@needs_data
def test_a_real_system_on_dev():
    expected = json.loads((DATA / "predictions" / "expected.json").read_text())
    found = official(DATA / "claims_dev.jsonl", DATA / "predictions" / "healthver_dev.jsonl")
    assert found == expected["predictions/healthver_dev.jsonl against claims_dev.jsonl"]


@needs_data
def test_a_real_system_on_train():
    gold, predictions = DATA / "claims_train.jsonl", DATA / "predictions" / "covidfact_train.jsonl"
    assert official(gold, predictions) == transcription.measures(evidence_of(gold), evidence_of(predictions))


@needs_data
@pytest.mark.parametrize(
    ("name", "claims", "abstracts", "sentences"), [("dev", 300, 209, 366), ("train", 809, 564, 1025)]
)
def test_the_perfect_answer(name, claims, abstracts, sentences):
    """Every gold sentence, the smallest set first."""
    solution = scifact.read_solution(DATA / f"claims_{name}.jsonl")
    perfect: dict[str, Any] = {}
    for claim_id, evidence in evidence_of(DATA / f"claims_{name}.jsonl").items():
        perfect[claim_id] = {}
        for document, sets in evidence.items():
            lists = sorted((one["sentences"] for one in sets), key=len)
            answer = answer_of(*itertools.chain(*lists), label=sets[0]["label"], document=document)
            perfect[claim_id] |= answer
    evaluation = scifact.evaluate(solution, *frames(perfect), "claim_id")
    assert set(evaluation.measures.values()) == {1.0}
    assert len(evaluation.items) == claims
    assert evaluation.counts.loc["abstract_label_only"].tolist() == [abstracts] * 3
    assert evaluation.counts.loc["sentence_label"].tolist() == [sentences] * 3
    assert set(evaluation.segments["outcome"]) == {"correct"}


@needs_data
def test_claim_264_of_train_has_a_set_of_four():
    solution = scifact.read_solution(DATA / "claims_train.jsonl")
    claim = solution[solution["claim_id"] == "264"]
    (one,) = json.loads(claim["evidence"].iloc[0])["11328820"]
    answer = answer_of(*one["sentences"], label=one["label"], document="11328820")
    submission = claim.assign(evidence=json.dumps(answer))
    assert len(one["sentences"]) == 4
    assert scifact.score(claim, submission, "claim_id", "abstract_rationalized_f1") == 1.0


# --- samples ----------------------------------------------------------------------------------------

GOLDEN = {
    "score": 0.35820895522388063,
    "abstract_label_only_precision": 0.75,
    "abstract_label_only_recall": 0.75,
    "abstract_label_only_f1": 0.75,
    "abstract_rationalized_precision": 0.35714285714285715,
    "abstract_rationalized_recall": 0.35714285714285715,
    "abstract_rationalized_f1": 0.35714285714285715,
    "sentence_selection_precision": 0.48484848484848486,
    "sentence_selection_recall": 0.47058823529411764,
    "sentence_selection_f1": 0.4776119402985075,
    "sentence_label_precision": 0.36363636363636365,
    "sentence_label_recall": 0.35294117647058826,
    "sentence_label_f1": 0.35820895522388063,
}


def test_the_samples_are_what_the_generator_writes(tmp_path):
    scifact_data.write_samples(tmp_path)
    names = {path.name for path in SAMPLES.iterdir()}
    assert names == {path.name for path in tmp_path.iterdir()} == set(scifact_data.samples())
    for name in names:
        assert (tmp_path / name).read_bytes() == (SAMPLES / name).read_bytes()


@pytest.fixture(scope="module")
def sample():
    return pd.read_csv(SAMPLES / "solution.csv"), pd.read_csv(SAMPLES / "submission.csv")


def test_golden_numbers_of_the_samples(sample):
    assert scifact.evaluate(*sample, "claim_id").measures == GOLDEN
    assert official(SAMPLES / "claims.jsonl", SAMPLES / "predictions.jsonl") == {
        name: value for name, value in GOLDEN.items() if name != "score"
    }
    gold, predictions = evidence_of(SAMPLES / "claims.jsonl"), evidence_of(SAMPLES / "predictions.jsonl")
    assert transcription.measures(gold, predictions).items() <= GOLDEN.items()


def test_the_samples_have_everything(sample):
    evaluation = scifact.evaluate(*sample, "claim_id")
    outcomes = evaluation.tables["Outcomes"].set_index("outcome")
    assert (outcomes.drop(["repeated"])["claims"] > 0).all()
    assert (outcomes.drop(["repeated", "missed"])["predicted_abstracts"] > 0).all()
    assert (outcomes.drop(["beyond the first three", "missed"])["predicted_sentences"] > 0).all()
    assert (
        outcomes.loc[["correct", "wrong label", "evidence incomplete", "missed"], "gold_sentences"] > 0
    ).all()
    sizes = (
        evaluation.segments.query("side == 'truth'").groupby(["claim_id", "abstract", "evidence_set"]).size()
    )
    assert set(sizes) == {1, 2, 3, 4}
    assert json.loads(sample[0].loc[sample[0]["claim_id"] == 52, "evidence"].item()) == WORKED_GOLD["evidence"]
    assert (evaluation.predicted.label == 0).any()
    assert (evaluation.predicted.label == 1).any()
    assert (sample[0]["evidence"] == "{}").any()
    assert set(sample[0]["Usage"]) == {"Public", "Private"}


@pytest.mark.parametrize("seed", range(3))
def test_made_up_claims_at_any_size(seed):
    gold, predictions = claims(400, seed)
    assert [line["id"] for line in gold] == [line["id"] for line in predictions]
    expected = transcription.measures(
        *({line["id"]: line["evidence"] for line in side} for side in (gold, predictions))
    )
    assert scifact.evaluate(frame(gold), frame(predictions), "claim_id").measures.items() >= expected.items()
    assert 0.2 < expected["sentence_label_f1"] < 0.6


# --- frames -----------------------------------------------------------------------------------------

FORMS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "integer ids": lambda f: f,
    "text ids": lambda f: f.astype({"claim_id": str}),
    "float ids": lambda f: f.astype({"claim_id": float}),
    "nullable ids": lambda f: f.astype({"claim_id": "Int64"}),
    "decimal ids": lambda f: f.assign(claim_id=pd.Series([Decimal(n) for n in f["claim_id"].tolist()])),
    "object": lambda f: f.astype(object),
    "string": lambda f: f.astype({"claim_id": "string", "evidence": "string"}),
    "Arrow": lambda f: f.astype({"claim_id": "int64[pyarrow]", "evidence": "string[pyarrow]"}),
    "categorical": lambda f: f.astype("category"),
    "further columns": lambda f: f.assign(claim="A is B.", evidence_2=1.5),
    "columns in another order": lambda f: f[["evidence", "claim_id"]],
    "another index": lambda f: f.set_index(pd.MultiIndex.from_arrays([range(len(f)), [0] * len(f)])),
    "spaces around": lambda f: f.assign(evidence=" \n\t" + f["evidence"] + "\r\n "),
    "indented": lambda f: f.assign(evidence=[json.dumps(json.loads(e), indent=2) for e in f["evidence"]]),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_kinds_of_frames(sample, form):
    pytest.importorskip("pyarrow") if form == "Arrow" else None
    plain = [side[["claim_id", "evidence"]] for side in sample]
    changed = [FORMS[form](side) for side in plain]
    before = [side.copy(deep=True) for side in changed]
    for solution, submission in ((changed[0], plain[1]), (plain[0], changed[1]), changed):
        evaluation = scifact.evaluate(solution, submission, "claim_id")
        assert evaluation.measures == GOLDEN
        assert len(evaluation.segments) > 100
        assert evaluation.items == sorted(plain[0]["claim_id"].astype(str))
    for side, copied in zip(changed, before):
        pd.testing.assert_frame_equal(side, copied)


def test_read_only_frames(sample):
    locked = [pd.DataFrame(side[["claim_id", "evidence"]].to_numpy(dtype=object)) for side in sample]
    for side in locked:
        side.columns = ["claim_id", "evidence"]
        side.to_numpy(dtype=object, copy=False).flags.writeable = False
    assert scifact.evaluate(*locked, "claim_id").measures == GOLDEN


def test_another_name_of_the_id(sample):
    renamed = [side.rename(columns={"claim_id": "id"}) for side in sample]
    assert scifact.score(*renamed, "id") == GOLDEN["score"]
    with pytest.raises(
        scifact.ParticipantVisibleError, match=r"the submission lacks columns: id\. It has: claim_id"
    ):
        scifact.score(renamed[0], sample[1], "id")


def test_claims_are_the_same_if_their_ids_are_the_same_text():
    solution = table(gold_of([1]), {}).assign(claim_id=["7", "007"])
    submission = table({}, answer_of(1)).assign(claim_id=["007", "7"])
    assert scifact.score(solution, submission, "claim_id") == 1.0


def test_documents_are_the_same_if_their_ids_are_the_same_text():
    solution = table({**gold_of([1], document="7"), **gold_of([2], document="007")})
    answer = {**answer_of(1, document="007"), **answer_of(1, document="7")}
    assert list(scifact.evaluate(solution, table(answer), "claim_id").counts["correct"]) == [2, 1, 1, 1]


def test_a_document_of_two_claims():
    """An abstract is judged by its own claim."""
    solution = table(gold_of([1]), gold_of([2], label="CONTRADICT"))
    submission = table(answer_of(2), answer_of(2, label="CONTRADICT"))
    evaluation = scifact.evaluate(solution, submission, "claim_id")
    assert evaluation.claim_counts[:, :, 2].tolist() == [[1, 0, 0, 0], [1, 1, 1, 1]]


def test_explanations_are_made_once(worked):
    assert worked.segments is worked.segments
    assert worked.claims is worked.claims


# --- what a prediction may hold ---------------------------------------------------------------------


@pytest.mark.parametrize("number", ["4.0", "4e0", "40e-1", "0.4e1"])
def test_whole_numbers_may_be_written_as_floats(number):
    answer = f'{{"11": {{"label": "SUPPORT", "sentences": [{number}, 7]}}}}'
    assert counts(gold_of([4]), answer) == [1, 1, 1, 1]
    assert outcomes(gold_of([4]), answer, "sentence") == ["correct", "not in gold"]
    gold = f'{{"11": [{{"label": "SUPPORT", "sentences": [{number}]}}]}}'
    assert counts(gold, answer_of(4)) == [1, 1, 1, 1]


def test_4_and_4_point_0_are_the_same_sentence():
    assert outcomes(gold_of([4]), answer_of(4, 4.0), "sentence") == ["correct", "repeated"]


def test_the_last_index():
    last = scifact.LAST_SENTENCE
    assert counts(gold_of([0], [last]), answer_of(last, 0, -0.0)) == [1, 1, 2, 2]
    assert f"({last + 1} among" in rejection(json.dumps(answer_of(last + 1))).replace("document '11': ", "")
    # Neighbouring abstracts do not run into each other.
    gold = {**gold_of([last], document="a"), **gold_of([0], document="b")}
    assert counts(gold, {**answer_of(0, document="a"), **answer_of(last, document="b")}) == [2, 0, 0, 0]
    assert counts(gold, {**answer_of(5, document="a"), **answer_of(0, document="b")}) == [2, 1, 1, 1]


def test_further_keys_are_ignored():
    answer = {"11": {"sentences": [4], "label": "SUPPORT", "scores": {"SUPPORT": 0.5, "a: b": [{}, math.nan]}}}
    assert counts(gold_of([4]), answer) == [1, 1, 1, 1]
    gold = {"11": [{"sentences": [4], "label": "SUPPORT", "by": {"annotator": 1}}]}
    assert counts(gold, answer_of(4)) == [1, 1, 1, 1]


def test_colons_in_texts_are_no_keys():
    answer = {'a": 1, "b: "': answer_of(4)["11"], "::": answer_of(4)["11"]}
    gold = {'a": 1, "b: "': gold_of([4])["11"]}
    assert counts(gold, answer) == [1, 1, 1, 1]


# --- the participant's faults -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (None, "missing"),
        (np.nan, "missing"),
        (pd.NA, "missing"),
        ("", "empty"),
        (" \n", "empty"),
        ("no", "not JSON: Expecting value at character 1"),
        ("{", "not JSON: Expecting property name enclosed in double quotes at character 2"),
        (" {'11': 1}", "not JSON: Expecting property name enclosed in double quotes at character 3"),
        ("{} {}", "not JSON: more text after it at character 3"),
        ("{}\u00a0", "not JSON: more text after it at character 3"),
        ("\ufeff{}", "not JSON: Expecting value at character 1"),
        ('{"11": }', "not JSON: Expecting value at character 8"),
        ("NaN", "nan where an object is due"),
        ("Infinity", "inf where an object is due"),
        ("[]", "a list where an object is due"),
        ("null", "null where an object is due"),
        ("true", "true where an object is due"),
        ("0", "0 where an object is due"),
        ("1.5", "1.5 where an object is due"),
        ('"{}"', "the text '{}' where an object is due"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("9" * 5000, "a number of too many digits"),
        ({}, "a Python dict where JSON text is due"),
        (b"{}", "a Python bytes where JSON text is due"),
        (5, "a Python int where JSON text is due"),
        ('{"11": {}, "11": {}}', "document '11': no label and no sentences"),
        ('{"11": {"label": "SUPPORT"}}', "document '11': no sentences"),
        ('{"11": {"sentences": [1]}}', "document '11': no label"),
        ('{"11": [{"sentences": [1], "label": "SUPPORT"}]}',
         "document '11': a list where an object with label and sentences is due"),
        ('{"11": "SUPPORT"}',
         "document '11': the text 'SUPPORT' where an object with label and sentences is due"),
        ('{"11": null}', "document '11': null where an object with label and sentences is due"),
        ('{"11": {"sentences": [1], "label": null}}', "document '11': the label is null"),
        ('{"11": {"sentences": [1], "label": 1}}', "document '11': the label is 1"),
        ('{"11": {"sentences": [1], "label": ["SUPPORT"]}}', "document '11': the label is a list"),
        ('{"11": {"sentences": [1], "label": ""}}', "document '11': the label is ''"),
        ('{"11": {"sentences": [1], "label": "MAYBE"}}', "document '11': the label is 'MAYBE'"),
        ('{"11": {"sentences": 1, "label": "SUPPORT"}}', "document '11': 1 where a list of sentences is due"),
        ('{"11": {"sentences": "1", "label": "SUPPORT"}}',
         "document '11': the text '1' where a list of sentences is due"),
        ('{"11": {"sentences": {}, "label": "SUPPORT"}}',
         "document '11': an object where a list of sentences is due"),
        ('{"11": {"sentences": null, "label": "SUPPORT"}}',
         "document '11': null where a list of sentences is due"),
        ('{"11": {"sentences": [1], "label": "SUPPORT"}, "11": {"sentences": [], "label": "SUPPORT"}}',
         "the key '11' is written twice"),
        ('{"11": {"sentences": [1], "label": "CONTRADICT", "label": "SUPPORT"}}',
         "the key 'label' is written twice"),
        ('{"11": {"sentences": [1], "label": "SUPPORT", "s": {"a": 1, "a": 1}}}',
         "the key 'a' is written twice"),
        ('{"11": {"sentences": [1], "label": "SUPPORT"}, "\\u00311": {"sentences": [], "label": "SUPPORT"}}',
         "the key '11' is written twice"),
        (json.dumps({"x" * 50: 1}),
         f"document '{'x' * 40}…': 1 where an object with label and sentences is due"),
        ('{"a\\nb": 1}', r"document 'a\nb': 1 where an object with label and sentences is due"),
        ('{"a\\udc00": {"sentences": [], "label": "SUPPORT"}}',
         r"document 'a\udc00': an id with half a character"),
    ],
)  # fmt: skip
def test_what_is_no_prediction(cell, reason):
    assert rejection(cell) == (
        f"evidence is wrong in 1 row of the submission: claim_id 2 ({reason}). {EXPECTED_PREDICTION}"
    )


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ('"5"', "the text '5'"),
        ("-1", "-1"),
        ("-1.0", "-1"),
        ("1.5", "1.5"),
        ("true", "true"),
        ("false", "false"),
        ("null", "null"),
        ("NaN", "nan"),
        ("Infinity", "inf"),
        ("-Infinity", "-inf"),
        ("1e400", "inf"),
        ("1e300", "1000000000000000052504760255204420248704…"),
        ("[1]", "a list"),
        ("{}", "an object"),
        ("1000000000", "1000000000"),
        ("9" * 4000, "9" * 40 + "…"),
    ],
)
def test_what_is_no_sentence(sentence, shown):
    for cell in (f"[{sentence}]", f"[0, {sentence}, 2]"):
        message = rejection(f'{{"11": {{"sentences": {cell}, "label": "SUPPORT"}}}}')
        assert f"claim_id 2 (document '11': {shown} among the sentences). {EXPECTED_PREDICTION}" in message


@pytest.mark.parametrize(
    ("label", "hint"),
    [
        ("SUPPORTS", "write SUPPORT"),
        ("support", "write SUPPORT"),
        ("SUPPORT ", "write SUPPORT"),
        ("Supported", "write SUPPORT"),
        ("REFUTES", "write CONTRADICT"),
        ("refute", "write CONTRADICT"),
        ("REFUTED", "write CONTRADICT"),
        ("Contradict", "write CONTRADICT"),
        ("CONTRADICTS", "write CONTRADICT"),
        ("CONTRADICTED", "write CONTRADICT"),
        ("NEI", "leave the document out"),
        ("NOT_ENOUGH_INFO", "leave the document out"),
        ("Not enough info", "leave the document out"),
        ("NotEnoughInfo", "leave the document out"),
        ("NOINFO", "leave the document out"),
    ],
)
def test_labels_of_other_data_sets_get_a_hint(label, hint):
    message = rejection(json.dumps(answer_of(1, label=label)))
    assert message == (
        f"evidence is wrong in 1 row of the submission: claim_id 2 (document '11': the label is '{label}'; "
        f"{hint}). {EXPECTED_PREDICTION}"
    )


def test_of_many_faults_the_first_rows_are_shown():
    submission = table(*["[]"] * 1234)
    with pytest.raises(scifact.ParticipantVisibleError) as caught:
        scifact.score(table(*[{}] * 1234), submission, "claim_id")
    assert str(caught.value).startswith(
        "evidence is wrong in 1,234 rows of the submission: claim_id 1 (a list where an object is due), "
    )
    assert "claim_id 5 (a list where an object is due) and 1,229 more. Expected" in str(caught.value)


def test_huge_cells_are_read_in_linear_time():
    many = table({str(n): {"sentences": [n % 7] * 10, "label": "SUPPORT"} for n in range(50_000)})
    assert scifact.evaluate(table({}), many, "claim_id").counts.loc["sentence_label"].tolist() == [
        0,
        500_000,
        0,
    ]
    sentences = table(answer_of(*range(300_000)))
    assert scifact.score(table(gold_of([299_999])), sentences, "claim_id", "sentence_label_recall") == 1.0
    assert len(rejection(json.dumps(answer_of("x" * 10**6)))) < 400
    assert len(rejection(json.dumps({"x" * 10**6: 1}))) < 400


def test_nesting_about_as_deep_as_python_reads():
    """Whatever is read without complaint is also checked for keys without one."""
    seen = set()
    for depth in range(sys.getrecursionlimit() - 200, sys.getrecursionlimit() + 5):
        nested = '{"a":' * depth + "1" + "}" * depth
        try:
            scifact.parse_prediction(f'{{"11": {{"sentences": [4], "label": "SUPPORT", "more": {nested}}}}}')
            seen.add("read")
        except ValueError as fault:
            seen.add(str(fault))
    assert "read" in seen
    assert seen <= {"read", "nested too deeply"}


def test_nothing_is_evaluated_as_code(tmp_path):
    victim = tmp_path / "victim"
    for cell in (f"open({str(victim)!r}, 'w')", f"__import__('os').mkdir({str(victim)!r})"):
        assert "not JSON" in rejection(cell)
    assert not victim.exists()


@pytest.mark.parametrize("column", ["claim_id", "evidence"])
def test_missing_and_repeated_columns(column):
    good, other = table({}), ({"claim_id", "evidence"} - {column}).pop()
    lacking = good.drop(columns=column)
    twice = pd.concat([good, good[[column]]], axis=1)
    for error, solution, submission, name in (
        (scifact.ParticipantVisibleError, [good, good], [lacking, twice], "the submission"),
        (scifact.HostVisibleError, [lacking, twice], [good, good], "the solution"),
    ):
        with pytest.raises(error) as caught:
            scifact.score(solution[0], submission[0], "claim_id")
        assert str(caught.value) == f"{name} lacks columns: {column}. It has: {other}."
        with pytest.raises(error) as caught:
            scifact.score(solution[1], submission[1], "claim_id")
        assert str(caught.value) == f"{name} has more than one column named {column}."


def test_many_found_columns_are_cut_short():
    wide = pd.DataFrame([range(1000)], columns=[f"column {n}" * 20 for n in range(1000)])
    with pytest.raises(scifact.ParticipantVisibleError, match="and 980 more") as caught:
        scifact.score(table({}), wide, "claim_id")
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, "", "  "])
def test_missing_ids(missing):
    good = table({}, {})
    bad = good.assign(claim_id=pd.Series([1, missing], dtype=object))
    label = "claim_id " + missing if isinstance(missing, str) else "row number 2"
    expected = f"{label} (missing). Expected an id in every row."
    with pytest.raises(scifact.ParticipantVisibleError) as caught:
        scifact.score(good, bad, "claim_id")
    assert str(caught.value) == f"claim_id is wrong in 1 row of the submission: {expected}"
    with pytest.raises(scifact.HostVisibleError) as caught:
        scifact.score(bad, good, "claim_id")
    assert str(caught.value) == f"claim_id is wrong in 1 row of the solution: {expected}"


def test_repeated_ids():
    good = table({}, {}, {}, {})
    bad = good.assign(claim_id=pd.Series([1, "2", 1.0, "1"], dtype=object))
    expected = "claim_id 1 (there before), claim_id 1 (there before). Expected every claim once."
    with pytest.raises(scifact.ParticipantVisibleError) as caught:
        scifact.score(good, bad, "claim_id")
    assert str(caught.value) == f"claim_id is wrong in 2 rows of the submission: {expected}"
    with pytest.raises(scifact.HostVisibleError) as caught:
        scifact.score(bad, good, "claim_id")
    assert str(caught.value) == f"claim_id is wrong in 2 rows of the solution: {expected}"


@pytest.mark.parametrize(
    ("ids", "fault"),
    [
        ([1, 2], "1 claim of the test set missing"),
        ([], "3 claims of the test set missing"),
        ([1, 2, 3, 8], "1 claim not in the test set (claim_id 8)"),
        ([1, 9, 8], "2 claims not in the test set (claim_id 9, 8), 2 claims of the test set missing"),
        (
            list(range(1, 1010)),
            "1,006 claims not in the test set (claim_id 4, 5, 6, 7, 8 and 1,001 more)",
        ),
    ],
)
def test_claims_that_are_not_those_of_the_test_set(ids, fault):
    submission = pd.DataFrame({"claim_id": ids, "evidence": "{}"})
    messages = set()
    for evidence in ("{}", json.dumps(gold_of([1]))):
        with pytest.raises(scifact.ParticipantVisibleError) as caught:
            scifact.score(table(*[evidence] * 3), submission, "claim_id")
        messages.add(str(caught.value))
    assert messages == {
        f"the claims of the submission are not those of the test set: {fault}. "
        "Expected every claim of the test set once; the evidence of a claim may be '{}'."
    }


def test_the_ids_that_a_submission_lacks_are_not_told():
    solution = table({}, {}).assign(claim_id=["secret", "2"])
    with pytest.raises(scifact.ParticipantVisibleError) as caught:
        scifact.score(solution, table({}).assign(claim_id=["2"]), "claim_id")
    assert "secret" not in str(caught.value)
    assert "1 claim of the test set missing" in str(caught.value)


# --- the host's faults ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (None, "missing"),
        ("", "empty"),
        ("{", "not JSON: Expecting property name enclosed in double quotes at character 2"),
        ("[]", "a list where an object is due"),
        ("[" * 100_000, "nested too deeply"),
        ('{"11": {"sentences": [1], "label": "SUPPORT"}}',
         "document '11': an object where a list of evidence sets is due"),
        ('{"11": []}', "document '11': no evidence set"),
        ('{"\\ud800": []}', r"document '\ud800': an id with half a character"),
        ('{"11": [[1]]}', "document '11': a list where an object with label and sentences is due"),
        ('{"11": [{"sentences": [], "label": "SUPPORT"}]}', "document '11': an evidence set without sentences"),
        ('{"11": [{"sentences": [1], "label": "SUPPORT"}, {"sentences": [2], "label": "CONTRADICT"}]}',
         "document '11': the labels SUPPORT and CONTRADICT in one document"),
        ('{"11": [{"sentences": [1, 4], "label": "SUPPORT"}, {"sentences": [2, 4], "label": "SUPPORT"}]}',
         "document '11': sentence 4 named twice in its evidence sets"),
        ('{"11": [{"sentences": [3, 3.0], "label": "SUPPORT"}]}',
         "document '11': sentence 3 named twice in its evidence sets"),
        ('{"11": [{"sentences": [1], "label": "REFUTES"}]}',
         "document '11': the label is 'REFUTES'; write CONTRADICT"),
        ('{"11": [{"sentences": [true], "label": "SUPPORT"}]}', "document '11': true among the sentences"),
        ('{"11": [{"label": "SUPPORT"}]}', "document '11': no sentences"),
        ('{"11": [{"sentences": [1], "label": "SUPPORT", "label": "SUPPORT"}]}',
         "the key 'label' is written twice"),
    ],
)  # fmt: skip
def test_what_is_no_gold(cell, reason):
    assert complaint(cell) == (
        f"evidence is wrong in 1 row of the solution: claim_id 2 ({reason}). {EXPECTED_GOLD}"
    )


def test_a_solution_without_rows():
    with pytest.raises(scifact.HostVisibleError, match=r"^the solution has no rows\.$"):
        scifact.prepare(table(), "claim_id")


@pytest.mark.parametrize("measure", ["", "f1", "sentence_label", "SENTENCE_LABEL_F1", None, 3])
def test_no_such_measure(measure):
    with pytest.raises(scifact.HostVisibleError) as caught:
        scifact.score(table({}), table({}), "claim_id", measure)
    assert str(caught.value) == (
        f"there is no measure {measure!r}; expected one of {', '.join(scifact.MEASURES)}."
    )


# --- property: accepted is what is legal ------------------------------------------------------------

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from((0.0, 2.5, math.nan, "SUPPORT", "", "1")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("label", "sentences", "11", "15")), inner, max_size=3)
    ),
    max_leaves=8,
)
NEARLY = st.dictionaries(
    st.sampled_from(("11", "15")),
    st.fixed_dictionaries(
        {"label": st.sampled_from(("SUPPORT", "CONTRADICT", "NEI")) | ANYTHING},
        optional={
            "sentences": st.lists(st.integers(-1, 5) | st.sampled_from((2.0, 2.5, True, None)), max_size=4)
            | ANYTHING
        },
    )
    | ANYTHING,
    max_size=2,
)


def is_legal(prediction: Any) -> bool:
    return isinstance(prediction, dict) and all(
        isinstance(answer, dict)
        and isinstance(answer.get("label"), str)
        and answer["label"] in ("SUPPORT", "CONTRADICT")
        and isinstance(answer.get("sentences"), list)
        and all(
            isinstance(s, int | float) and not isinstance(s, bool) and s >= 0 and s == s // 1
            for s in answer["sentences"]
        )
        for answer in prediction.values()
    )


@given(NEARLY | ANYTHING)
@settings(max_examples=200)
@example({"11": {"label": "SUPPORT", "sentences": [1, 2.0]}})
@example({"11": {"label": "SUPPORT", "sentences": [True]}})
def test_legal_predictions_are_scored_and_no_others(prediction):
    gold = {**gold_of([1, 2], [0]), **gold_of([3], label="CONTRADICT", document="15")}
    submission = table(json.dumps(prediction))
    if is_legal(prediction):
        expected = transcription.measures({"1": gold}, {"1": prediction})
        assert scifact.evaluate(table(gold), submission, "claim_id").measures.items() >= expected.items()
    else:
        with pytest.raises(scifact.ParticipantVisibleError, match="evidence is wrong in 1 row"):
            scifact.score(table(gold), submission, "claim_id")


# --- the readers ------------------------------------------------------------------------------------


def read(tmp_path: Path, content: str | bytes) -> pd.DataFrame:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return scifact.read_submission(path)


def unreadable(tmp_path: Path, content: str | bytes) -> str:
    """The participant's message; the host's is the same."""
    with pytest.raises(scifact.ParticipantVisibleError) as caught:
        read(tmp_path, content)
    with pytest.raises(scifact.HostVisibleError) as caught_by_host:
        scifact.read_solution(tmp_path / "predictions.jsonl")
    assert caught.value.__cause__ is None
    assert str(caught.value) == str(caught_by_host.value)
    return str(caught.value)


LINE = '{"id": 7, "evidence": {"11": {"sentences": [1, 11], "label": "SUPPORT"}}}'
CELL = '{"11": {"sentences": [1, 11], "label": "SUPPORT"}}'


@pytest.mark.parametrize(
    "content",
    [
        LINE,
        LINE + "\n",
        LINE + "\r\n",
        "\n\n" + LINE + "\n \t\r\n",
        "\ufeff" + LINE,
        "  " + LINE + "  ",
        LINE.replace('"id": 7', '"id": "7"'),
        LINE.replace('"id": 7', '"id": 7.0'),
        LINE.replace('"id": 7', '"\\u0069d": "\\u0037"'),
        LINE.replace('{"id": 7, ', '{"id":7,'),
        LINE.replace('{"id": 7, ', '{ "id" :\t7 ,'),
        LINE.replace('{"id": 7, ', '{"id": 7, "claim": "A \\" \\\\ \\u00e9 \\n : {}é\u2028", '),
        LINE.replace('{"id": 7, ', '{"id": 7, "claim": null, "evidence_2": {"id": 1}, "more": [[{}]], '),
        LINE[:-1] + ', "cited_doc_ids": [1, 2]}',
        LINE[:-1] + ', "cited_doc_ids": []}',
        '{"evidence": ' + CELL + ', "id": 7}',
        '{"claim": "a", "evidence": ' + CELL + ', "id": 7}',
    ],
)
def test_lines(tmp_path, content):
    result = read(tmp_path, content)
    assert result.to_dict("list") == {"claim_id": ["7"], "evidence": [CELL]}


def test_the_evidence_is_kept_as_it_is_written(tmp_path):
    """Also what would change or vanish if it was read and written anew."""
    cells = ['{"a" :{}}', '{"\\ud800": 1.0}', '{"11": 1, "11": 2}', '{"é": "\\u00e9"}', "{\t}", '{"}": ["{"]}']
    result = read(tmp_path, "\n".join(f'{{"id": {n}, "evidence": {cell}}}' for n, cell in enumerate(cells)))
    assert result["evidence"].tolist() == cells
    assert result["claim_id"].tolist() == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x", "not JSON: Expecting value at character 1"),
        ("[]", "a list where an object is due"),
        ('"id"', "the text 'id' where an object is due"),
        ("null", "null where an object is due"),
        ("{}", "no id and no evidence"),
        ('{"id": 1}', "no evidence"),
        ('{"evidence": {}}', "no id"),
        ('{"id": 1, "evidence": []}', "evidence is a list"),
        ('{"id": 1, "evidence": null}', "evidence is null"),
        ('{"id": 1, "evidence": "{}"}', "evidence is the text '{}'"),
        ('{"id": null, "evidence": {}}', "id is null"),
        ('{"id": true, "evidence": {}}', "id is true"),
        ('{"id": 1.5, "evidence": {}}', "id is 1.5"),
        ('{"id": NaN, "evidence": {}}', "id is nan"),
        ('{"id": Infinity, "evidence": {}}', "id is inf"),
        ('{"id": [1], "evidence": {}}', "id is a list"),
        ('{"id": "\\ud83d", "evidence": {}}', "an id with half a character"),
        ('{"id": {}, "evidence": {}}', "id is an object"),
        ('{"id": 1, "evidence": {}, "id": 2}', "the key 'id' is written twice"),
        ('{"id": 1, "evidence": {}, "\\u0069d": 2}', "the key 'id' is written twice"),
        ('{"id": 1, "evidence": {}, "evidence": {}}', "the key 'evidence' is written twice"),
        ('{"id": 1, "evidence": {}', "not JSON: Expecting ',' delimiter at character 25"),
        ('{"id": 1, "evidence": {}}}', "not JSON: more text after it at character 26"),
        ('{"id": 1, "evidence": {}}\u00a0', "not JSON: more text after it at character 26"),
        ('{"id": 1, "evidence": {}} {}', "not JSON: more text after it at character 26"),
        ('{"id": 1 "evidence": {}}', "not JSON: Expecting ',' delimiter at character 10"),
        ('{"id": 1, {"evidence": {}}',
         "not JSON: Expecting property name enclosed in double quotes at character 11"),
        (', "id": 1, "evidence": {}}', "not JSON: Expecting value at character 1"),
        ('{, "id": 1, "evidence": {}}',
         "not JSON: Expecting property name enclosed in double quotes at character 2"),
        ('{"id": 1, "evidence": {"11": }}', "not JSON: Expecting value at character 30"),
        ('{"id": 01, "evidence": {}}', "not JSON: Expecting ',' delimiter at character 9"),
        ('{"id": 1, "claim": "a\tb", "evidence": {}}', "not JSON: Invalid control character at character 22"),
        ('{"id": 1, "claim": "\\q", "evidence": {}}', "not JSON: Invalid \\escape at character 21"),
        ('{"id": 1, "evidence": ' + "[" * 100_000, "nested too deeply"),
        ('{"id": ' + "9" * 5000 + ', "claim": 1, "evidence": {}}', "a number of too many digits"),
    ],
)  # fmt: skip
def test_what_is_no_line(tmp_path, line, reason):
    message = unreadable(tmp_path, f"{LINE}\n\n{line}\n{LINE}")
    assert message == (f"predictions.jsonl is wrong in 1 line: line 3 ({reason}). {EXPECTED_LINE}")


def test_a_pretty_printed_file(tmp_path):
    message = unreadable(tmp_path, json.dumps(json.loads(LINE), indent=2))
    assert message.startswith("predictions.jsonl is wrong in 12 lines: line 1 (not JSON: ")
    assert message.endswith(f" and 7 more. {EXPECTED_LINE}")


@pytest.mark.parametrize(
    "content", [b"\xff\xfe{}", gzip.compress(LINE.encode(), mtime=0), LINE.encode() + b"\n\xe9"]
)
def test_a_file_that_is_no_text(tmp_path, content):
    assert unreadable(tmp_path, content).startswith("predictions.jsonl is not UTF-8 text: ")


def test_a_folder_and_no_file(tmp_path):
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / "none.jsonl", "No such file or directory")):
        with pytest.raises(scifact.ParticipantVisibleError, match=f"^{path.name} cannot be read: {reason}.$"):
            scifact.read_submission(path)


def test_an_empty_file_has_no_claims(tmp_path):
    submission = read(tmp_path, "\n")
    assert list(submission.columns) == ["claim_id", "evidence"]
    with pytest.raises(scifact.ParticipantVisibleError, match="1 claim of the test set missing"):
        scifact.score(table({}), submission, "claim_id")
    with pytest.raises(scifact.HostVisibleError, match="the solution has no rows"):
        scifact.score(submission, submission, "claim_id")


def test_read_frames_survive_a_csv_file(tmp_path):
    path = tmp_path / "submission.csv"
    scifact.read_submission(SAMPLES / "predictions.jsonl").to_csv(path, index=False)
    assert (
        scifact.score(scifact.read_solution(SAMPLES / "claims.jsonl"), pd.read_csv(path), "claim_id")
        == (GOLDEN["score"])
    )


def test_long_lines_are_read_in_linear_time(tmp_path):
    """Also those that nearly match: the pattern must not try again and again."""
    numbers = ", ".join(["1"] * 100_000)
    for line in (
        LINE.replace("[1, 11]", f"[{numbers}]")[:-1],
        '{"id": 1, "claim": "' + "a\\n" * 100_000,
        '{"id": 1, "evidence": {' + '"a": {"sentences": [], "label": "b"}, ' * 20_000,
    ):
        assert "not JSON" in unreadable(tmp_path, line)
    assert len(read(tmp_path, LINE.replace("[1, 11]", f"[{numbers}]"))["evidence"][0]) > 300_000


def plain(line: str) -> tuple[str, Any] | None:
    """Id and evidence of a line by Python's own reader; None if it is not legal."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            keys.append(pairs)
        return dict(pairs)

    keys: list[Any] = []
    try:
        value = json.loads(line, object_pairs_hook=unique)
    except ValueError:
        return None
    if not isinstance(value, dict) or type(value.get("id")) not in (int, str):
        return None
    if not isinstance(value.get("evidence"), dict) or keys:
        return None
    return str(value["id"]), value["evidence"]


@given(st.data())
@settings(max_examples=200)
def test_accepted_lines_are_those_that_python_reads(data):
    """Official lines with a few characters changed."""
    line = data.draw(st.sampled_from([json.dumps(one) for side in claims(12) for one in side]))
    for _ in range(data.draw(st.integers(0, 2))):
        begin = data.draw(st.integers(0, len(line) - 1))
        end = begin + data.draw(st.integers(0, 2))
        line = line[:begin] + data.draw(st.sampled_from(["", " ", *'{}[]",:\\01aé'])) + line[end:]
    expected = plain(line)
    try:
        claim_id, cell = scifact._id_and_evidence(line)
    except ValueError:
        assert expected is None
    else:
        # A key written twice within the evidence is found when the evidence is checked.
        assert expected is None or (claim_id, json.loads(cell)) == expected
        assert cell in line
        if expected is None:
            with pytest.raises(ValueError, match="is written twice"):
                scifact._check_keys(line, 0)


# --- the command line -------------------------------------------------------------------------------


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "evaluate.py", "--metric", METRIC, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_the_command_line(tmp_path):
    done = run(SAMPLES / "solution.csv", SAMPLES / "submission.csv", "--json")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert report["score"] == GOLDEN["score"]
    assert {"public", "private"} <= set(report)
    done = run(
        SAMPLES / "claims.jsonl", SAMPLES / "predictions.jsonl", "--set", "measure=abstract_label_only_f1"
    )
    assert done.stdout.startswith("Score    0.750000\n\nMeasures\n")
    assert done.stdout.endswith("\n\nmetric:scifact|version:1.0.0|measure:abstract_label_only_f1\n")
    assert (done.stderr.count("warning: "), done.returncode) == (2, 0)


def test_the_tools_know_the_columns(worked):
    assert set(worked.roles.values()) <= set(worked.segments)
    assert set(worked.segments[worked.roles["item"]]) == set(worked.items)


@pytest.mark.parametrize(
    ("solution", "submission", "arguments", "code", "error"),
    [
        ("claims.jsonl", "none.jsonl", (), 2, "error: cannot read"),
        ("claims.jsonl", "claims.jsonl", (), 3, "error: evidence is wrong in"),
        ("claims.jsonl", "bad.jsonl", (), 3, "error: bad.jsonl is wrong in 1 line: line 1 (a list"),
        ("claims.jsonl", "bad.csv", (), 3, "error: the submission lacks columns: claim_id, evidence."),
        ("bad.jsonl", "predictions.jsonl", (), 4, "error: bad.jsonl is wrong in 1 line: line 1 (a list"),
        ("predictions.jsonl", "predictions.jsonl", (), 4, "error: evidence is wrong in"),
        ("claims.jsonl", "predictions.jsonl", ("--set", "measure=f1"), 4, "error: there is no measure 'f1'"),
    ],
)
def test_the_command_line_with_bad_input(tmp_path, solution, submission, arguments, code, error):
    for name, text in (scifact_data.samples() | {"bad.jsonl": "[]\n", "bad.csv": "id,answer\n1,2\n"}).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run(tmp_path / solution, tmp_path / submission, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(error)
    assert "Traceback" not in done.stderr


def test_parts_of_a_solution(sample):
    prepared = scoring.prepare(scifact, sample[0], {})
    result = scoring.evaluate(prepared, sample[1])
    assert result.scores["All"] == GOLDEN["score"]
    for part in scoring.PARTS:
        rows = [side[(sample[0]["Usage"] == part).to_numpy()] for side in sample]
        assert result.scores[part] == scifact.score(*rows, "claim_id")
    assert result.scores["Public"] != result.scores["Private"]


# --- the hosted file --------------------------------------------------------------------------------


def test_signature():
    parameters = inspect.signature(scifact.score).parameters
    assert list(parameters) == ["solution", "submission", "row_id_column_name", "measure"]
    assert parameters["row_id_column_name"].default is inspect.Parameter.empty
    assert parameters["measure"].default == "sentence_label_f1"
    assert [p.annotation for p in parameters.values()] == [pd.DataFrame, pd.DataFrame, str, str]
    assert inspect.signature(scifact.score).return_annotation is float
    names = list(parameters.items())
    assert list(inspect.signature(scifact.evaluate).parameters.items()) == names
    assert list(inspect.signature(scifact.prepare).parameters.items()) == [names[0], *names[2:]]
    assert scifact.__version__ == "1.0.0"


def test_docstring_is_short_enough_and_its_examples_are_true():
    assert len(inspect.getdoc(scifact.score)) < 8000
    result = doctest.testmod(scifact)
    assert result.failed == 0
    assert result.attempted >= 20


def test_every_public_name_is_there_and_explained():
    for name in scifact.__all__:
        thing = getattr(scifact, name)
        assert not callable(thing) or inspect.getdoc(thing)


def test_imports_only_numpy_pandas_and_the_standard_library():
    allowed = {"numpy", "pandas", *sys.stdlib_module_names} - {"__future__"}
    tree = ast.parse(METRIC.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found |= {name.partition(".")[0] for name in names}
    assert {"numpy", "pandas", "json"} <= found <= allowed


@pytest.mark.parametrize("name", ["__main__", "a_utility_script"])
def test_runs_as_a_notebook_cell_and_as_a_module(name, tmp_path):
    (tmp_path / "cell.py").write_text(METRIC.read_text(encoding="utf-8"), encoding="utf-8")
    program = (
        "import doctest, pathlib, sys, types\n"
        "sys.argv = ['ipykernel_launcher.py', '-f', 'kernel-1.json']\n"
        f"module = sys.modules.setdefault({name!r}, types.ModuleType({name!r}))\n"
        f"module.__dict__['__name__'] = {name!r}\n"
        "exec(compile(pathlib.Path('cell.py').read_text('utf-8'), 'cell.py', 'exec'), module.__dict__)\n"
        "result = doctest.testmod(module)\n"
        "print(result.failed, result.attempted >= 20)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr, done.returncode) == ("0 True\n", "", 0)


def test_the_layout_of_a_file_has_no_effect(tmp_path):
    """A file as the official ones are laid out and the same laid out otherwise are read alike."""
    gold, predictions = claims(200, seed=5)
    path = tmp_path / "file.jsonl"
    for lines, reader in ((gold, scifact.read_solution), (predictions, scifact.read_submission)):
        path.write_text(json_lines(lines))
        straight = reader(path)
        path.write_text("".join(json.dumps(line, separators=(" ,", " : ")) + "\n" for line in lines))
        crooked = reader(path)
        assert straight["claim_id"].tolist() == crooked["claim_id"].tolist()
        assert [json.loads(c) for c in straight["evidence"]] == [json.loads(c) for c in crooked["evidence"]]
        assert straight["evidence"].tolist() == [json.dumps(line["evidence"]) for line in lines]
