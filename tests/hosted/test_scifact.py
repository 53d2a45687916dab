"""`metrics/scifact` reproduces the document's worked example, every rule and decision, and every message."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium import statistics
from podium.metric import hosted
from tests.support import scifact_transcription as transcription
from tests.support.examples import examples
from tests.support.scifact_data import SAMPLES, WORKED_GOLD, WORKED_PREDICTION, frame
from tests.support.scifact_strategies import LABELS, answer_of, competitions, frames, gold_of

DATA = Path(__file__).parents[3] / "shared" / "data" / "scifact"
scifact = hosted.module("scifact")

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the official files are not beside the repository")

ROW = "Wrong in 1 row of the submission: claim_id 2"
EXPECTED_PREDICTION = (
    """evidence: expected JSON such as '{"11": {"sentences": [0, 4], "label": "SUPPORT"}}' or '{}', labels """
    "SUPPORT or CONTRADICT, sentences from 0. "
)
EXPECTED_GOLD = (
    """evidence: expected JSON such as '{"11": [{"sentences": [0, 1], "label": "SUPPORT"}]}' or '{}', labels """
    "SUPPORT or CONTRADICT, no sentence twice. "
)


def table(*evidence: Any) -> pd.DataFrame:
    """A solution or submission for claims 1, 2, … with this evidence, or with this text in its place."""
    cells = [one if isinstance(one, str) else json.dumps(one) for one in evidence]
    return pd.DataFrame({"claim_id": range(1, len(cells) + 1), "evidence": cells})


def counted(solution: pd.DataFrame, submission: pd.DataFrame) -> np.ndarray:
    """The statistics of each claim."""
    return scifact.prepare(solution, "claim_id").statistics(submission).astype(int)


def measures(
    solution: pd.DataFrame, submission: pd.DataFrame, measure: str = "sentence_label_f1"
) -> dict[str, float]:
    """The measures of a submission."""
    prepared = scifact.prepare(solution, "claim_id", measure)
    return statistics.measures(prepared, prepared.statistics(submission))


def named(*of_credits: tuple[float, float, float]) -> dict[str, float]:
    """The measures by name, from precision, recall and F1 of each kind of credit."""
    credits = "abstract_label_only", "abstract_rationalized", "sentence_selection", "sentence_label"
    names = [f"{credit}_{name}" for credit in credits for name in ("precision", "recall", "f1")]
    return {"score": of_credits[3][2]} | dict(zip(names, itertools.chain(*of_credits)))


def counts(gold: dict[str, Any], answer: Any) -> list[int]:
    """The counts for a single claim: correct by label, rationalized, selected and labeled."""
    return counted(table(gold), table(answer))[0, 4:].tolist()


def rejection(cell: Any, solution: pd.DataFrame | None = None) -> str:
    """The participant's message for claim 2 of 3, after checking that it is the same for any solution."""
    submission = table({}, {}, {}).astype({"evidence": object})
    submission.at[1, "evidence"] = cell
    messages = set()
    for other in (table({}, {}, {}), table(gold_of([1]), gold_of([2], [3], label="CONTRADICT"), {}), table({})):
        with pytest.raises(scifact.ParticipantVisibleError) as caught:
            scifact.score(other, submission, "claim_id")
        assert caught.value.__cause__ is None
        assert len(str(caught.value)) <= 280
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


# --- the document's worked example ----------------------------------------------------------------


@pytest.fixture(scope="module")
def worked():
    """The document's worked example as tables."""
    return frame([WORKED_GOLD]), frame([WORKED_PREDICTION])


def test_worked_example_counts(worked):
    """The abstracts and sentences to find, those found, and what is right for each kind of credit."""
    assert counted(*worked).tolist() == [[2, 2, 4, 5, 1, 1, 1, 1]]


def test_worked_example_measures(worked):
    """With the other formula for F1, 2/9 would be larger in its last bit."""
    two_ninths = (2 * (1 / 5) * (1 / 4)) / (1 / 5 + 1 / 4)
    assert two_ninths == math.nextafter(2 / 9, 1)
    halves, shares = (1 / 2, 1 / 2, 1 / 2), (1 / 5, 1 / 4, two_ninths)
    assert measures(*worked) == named(halves, halves, shares, shares)
    assert list(measures(*worked)) == ["score", *scifact.MEASURES]


@pytest.mark.parametrize("measure", scifact.MEASURES)
def test_score_is_the_measure_asked_for(worked, measure):
    values = measures(*worked, measure)
    assert values == measures(*worked) | {"score": values[measure]}
    assert scifact.score(*worked, "claim_id", measure) == values["score"]


# --- consequences of the definitions --------------------------------------------------------------


@pytest.mark.parametrize(
    ("sets", "sentences", "label", "expected"),
    [
        (([4],), (), "SUPPORT", [1, 0, 0, 0]),  # an empty list earns credit for its label
        (([1], [2, 3]), (1, 2, 5), "CONTRADICT", [0, 0, 1, 0]),
        (([0, 1, 2],), (0, 1), "SUPPORT", [1, 0, 0, 0]),  # each sentence of a set needs the others
        (([4],), (1, 2, 4), "SUPPORT", [1, 1, 1, 1]),
        (([4],), (1, 2, 3, 4), "SUPPORT", [1, 0, 1, 1]),  # only the first three count for rationalized
        (([4],), (1, 1, 1, 4), "SUPPORT", [1, 0, 1, 1]),
        (([0, 1], [11]), (11, 0, 5, 1), "SUPPORT", [1, 1, 3, 3]),
        (([6, 7, 8, 9],), (9, 8, 7, 6), "SUPPORT", [1, 1, 4, 4]),  # as for claim 264 of the training set
        (([6, 7, 8, 9],), (1, 6, 7, 8, 9), "SUPPORT", [1, 0, 4, 4]),
        (([1, 2, 3, 4], [9]), (1, 2, 3, 4), "SUPPORT", [1, 0, 4, 4]),  # with a set of one, three count again
    ],
)
def test_what_earns_credit(sets, sentences, label, expected):
    assert counts(gold_of(*sets), answer_of(*sentences, label=label)) == expected


def test_nothing_to_find_or_nothing_predicted_is_zero():
    for gold in ({}, gold_of([1])):
        assert list(measures(table(gold), table({})).values()) == [0.0] * 13


# --- against the literal transcription ------------------------------------------------------------


def check_measures(gold: dict[str, Any], answers: dict[str, Any]) -> None:
    """Check measures and counts against the transcription."""
    solution, submission = frames(gold, answers)
    expected = transcription.measures(gold, answers)
    assert measures(solution, submission, "abstract_rationalized_f1") == {
        "score": expected["abstract_rationalized_f1"],
        **expected,
    }
    assert scifact.score(solution, submission, "claim_id") == expected["sentence_label_f1"]
    correct, relevant, retrieved = transcription.counts(gold, answers)
    units = [relevant["abstract"], retrieved["abstract"], relevant["sentence"], retrieved["sentence"]]
    assert counted(solution, submission).sum(axis=0).tolist() == [*units, *correct.values()]


@given(competitions())
@examples(60)
def test_measures_equal_the_transcription(competition):
    check_measures(*competition)


@pytest.mark.slow
@given(competitions())
@settings(max_examples=500)
def test_measures_equal_the_transcription_more_often(competition):
    check_measures(*competition)


# --- official files -------------------------------------------------------------------------------


def evidence_of(path: Path) -> dict[str, Any]:
    """The evidence in a file by claim."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {str(line["id"]): line["evidence"] for line in lines}


def official(gold: Path, predictions: Path) -> dict[str, float]:
    """The twelve measures of two official files."""
    values = measures(*frames(evidence_of(gold), evidence_of(predictions)))
    assert values.pop("score") == values["sentence_label_f1"]
    return values


@needs_data
def test_a_real_system_on_dev():
    expected = json.loads((DATA / "predictions" / "expected.json").read_text())
    values = official(DATA / "claims_dev.jsonl", DATA / "predictions" / "healthver_dev.jsonl")
    assert values == expected["predictions/healthver_dev.jsonl against claims_dev.jsonl"]


# --- samples --------------------------------------------------------------------------------------


GOLDEN = named(
    (0.75, 0.75, 0.75),
    (0.35714285714285715, 0.35714285714285715, 0.35714285714285715),
    (0.48484848484848486, 0.47058823529411764, 0.4776119402985075),
    (0.36363636363636365, 0.35294117647058826, 0.35820895522388063),
)


@pytest.fixture(scope="module")
def sample():
    """The sample solution and submission."""
    return pd.read_csv(SAMPLES / "solution.csv"), pd.read_csv(SAMPLES / "submission.csv")


def test_golden_numbers_of_the_samples(sample):
    assert measures(*sample) == GOLDEN
    assert official(SAMPLES / "claims.jsonl", SAMPLES / "predictions.jsonl").items() <= GOLDEN.items()
    gold, predictions = evidence_of(SAMPLES / "claims.jsonl"), evidence_of(SAMPLES / "predictions.jsonl")
    assert transcription.measures(gold, predictions).items() <= GOLDEN.items()


# --- what a prediction may hold ---------------------------------------------------------------------


@pytest.mark.parametrize("number", ["4.0", "4e0", "40e-1", "0.4e1"])
def test_whole_numbers_may_be_written_as_floats(number):
    answer = f'{{"11": {{"label": "SUPPORT", "sentences": [{number}, 7]}}}}'
    assert counts(gold_of([4]), answer) == [1, 1, 1, 1]
    gold = f'{{"11": [{{"label": "SUPPORT", "sentences": [{number}]}}]}}'
    assert counts(gold, answer_of(4)) == [1, 1, 1, 1]


def test_the_last_index():
    last = scifact.LAST_SENTENCE
    assert counts(gold_of([0], [last]), answer_of(last, 0, -0.0)) == [1, 1, 2, 2]
    assert f"({last + 1} among" in rejection(json.dumps(answer_of(last + 1))).replace("document '11': ", "")
    # Neighboring abstracts do not run into each other.
    gold = {**gold_of([last], document="a"), **gold_of([0], document="b")}
    assert counts(gold, {**answer_of(0, document="a"), **answer_of(last, document="b")}) == [2, 0, 0, 0]
    assert counts(gold, {**answer_of(5, document="a"), **answer_of(0, document="b")}) == [2, 1, 1, 1]


def test_further_keys_are_ignored():
    answer = {"11": {"sentences": [4], "label": "SUPPORT", "scores": {"SUPPORT": 0.5, "a: b": [{}, math.nan]}}}
    assert counts(gold_of([4]), answer) == [1, 1, 1, 1]
    gold = {"11": [{"sentences": [4], "label": "SUPPORT", "by": {"annotator": 1}}]}
    assert counts(gold, answer_of(4)) == [1, 1, 1, 1]


# --- the participant's faults -----------------------------------------------------------------------


def with_sentence(sentence: str) -> str:
    """A prediction with this text among the sentences."""
    return f'{{"11": {{"sentences": [0, {sentence}, 2], "label": "SUPPORT"}}}}'


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (None, "missing"),
        ("no", "not JSON: Expecting value at character 1"),
        ("{} {}", "not JSON: more text follows at character 3"),
        ("[]", "a list instead of an object"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "a number with too many digits"),
        ({}, "a Python dict instead of text"),
        ('{"11": {}}', "document '11': no label and no sentences"),
        ('{"11": {"label": "SUPPORT"}}', "document '11': no sentences"),
        ('{"11": [{"sentences": [1], "label": "SUPPORT"}]}',
         "document '11': a list instead of an object"),
        ('{"11": "SUPPORT"}',
         "document '11': the text 'SUPPORT' instead of an object"),
        ('{"11": {"sentences": [1], "label": null}}', "document '11': the label is null"),
        ('{"11": {"sentences": [1], "label": ["SUPPORT"]}}', "document '11': the label is a list"),
        ('{"11": {"sentences": [1], "label": "MAYBE"}}', "document '11': the label is 'MAYBE'"),
        ('{"11": {"sentences": 1, "label": "SUPPORT"}}', "document '11': 1 instead of a list of sentences"),
        ('{"11": {"sentences": [1], "label": "SUPPORT"}, "11": {"sentences": [], "label": "SUPPORT"}}',
         "the key '11' is written twice"),
        ('{"11": {"sentences": [1], "label": "CONTRADICT", "label": "SUPPORT"}}',
         "the key 'label' is written twice"),
        ('{"11": {"sentences": [1], "label": "SUPPORT"}, "\\u00311": {"sentences": [], "label": "SUPPORT"}}',
         "the key '11' is written twice"),
        (with_sentence('"5"'), "document '11': the text '5' among the sentences"),
        (with_sentence("1.5"), "document '11': 1.5 among the sentences"),
        (with_sentence("true"), "document '11': true among the sentences"),
        (with_sentence("1e400"), "document '11': inf among the sentences"),
        (with_sentence("1000000000"), "document '11': 1000000000 among the sentences"),
        (with_sentence("9" * 4000), f"document '11': {'9' * 40}… among the sentences"),
        (json.dumps({"x" * 50: 1}),
         f"document '{'x' * 40}…': 1 instead of an object"),
        ('{"a\\nb": 1}', r"document 'a\nb': 1 instead of an object"),
        ('{"a\\udc00": {"sentences": [], "label": "SUPPORT"}}',
         r"document 'a\udc00': an id with an incomplete character"),
    ],
)  # fmt: skip
def test_what_is_no_prediction(cell, reason):
    assert rejection(cell) == f"{EXPECTED_PREDICTION}{ROW} ({reason})"


@pytest.mark.parametrize(
    ("label", "hint"),
    [("SUPPORTS", "write SUPPORT"), ("REFUTES", "write CONTRADICT"), ("NOT_ENOUGH_INFO", "leave it out")],
)
def test_labels_of_other_data_sets_get_a_hint_that_fits_where_many_rows_have_them(label, hint):
    """As many rows as the training data has, with ids as long as those of the official files."""
    claims = [{"id": 1000 + row, "evidence": {}} for row in range(809)]
    answers = [claim | {"evidence": answer_of(1, label=label, document="195689757")} for claim in claims]
    with pytest.raises(scifact.ParticipantVisibleError) as caught:
        scifact.score(frame(claims), frame(answers), "claim_id")
    assert str(caught.value) == (
        f"{EXPECTED_PREDICTION}Wrong in 809 rows of the submission: claim_id 1000 "
        f"(document '195689757': the label is '{label}'; {hint}) and 808 more"
    )
    assert len(str(caught.value)) <= 280


def test_a_message_about_a_long_id_and_value_is_cut():
    answer = answer_of("s" * 50, document="d" * 50)
    solution = table({}).assign(claim_id="c" * 50)
    with pytest.raises(scifact.ParticipantVisibleError) as caught:
        scifact.score(solution, solution.assign(evidence=json.dumps(answer)), "claim_id")
    assert len(str(caught.value)) == 280
    assert str(caught.value).endswith("…")


def test_huge_cells_are_read_in_linear_time():
    many = table({str(n): {"sentences": [n % 7] * 10, "label": "SUPPORT"} for n in range(20_000)})
    assert counted(table({}), many)[0, :4].tolist() == [0, 20_000, 0, 200_000]
    sentences = table(answer_of(*range(100_000)))
    assert scifact.score(table(gold_of([99_999])), sentences, "claim_id", "sentence_label_recall") == 1.0
    assert rejection(json.dumps(answer_of("x" * 10**6)))
    assert rejection(json.dumps({"x" * 10**6: 1}))
    assert "is written twice" in rejection('{"11": 1,' + '"a": 1,' * 100_000 + '"11": 1}')


@pytest.mark.parametrize(
    ("ids", "fault"),
    [
        ([], "Missing: 3. Not in the test set: 0"),
        ([1, 2, 3, 8], "Missing: 0. Not in the test set: 1, such as 8"),
        (list(range(1, 1010)), "Missing: 0. Not in the test set: 1,006, such as 4"),
    ],
)
def test_claims_that_are_not_those_of_the_test_set(ids, fault):
    submission = pd.DataFrame({"claim_id": ids, "evidence": "{}"})
    messages = set()
    for evidence in ("{}", json.dumps(gold_of([1]))):
        with pytest.raises(scifact.ParticipantVisibleError) as caught:
            scifact.score(table(*[evidence] * 3), submission, "claim_id")
        messages.add(str(caught.value))
    assert messages == {f"claim_id: expected every claim of the test set once, and no other. {fault}"}


def test_repeated_ids():
    good = table({}, {}, {}, {})
    bad = good.assign(claim_id=pd.Series([1, "2", 1.0, "1"], dtype=object))
    for name, error, sides in (
        ("submission", scifact.ParticipantVisibleError, (good, bad)),
        ("solution", scifact.HostVisibleError, (bad, good)),
    ):
        with pytest.raises(error) as caught:
            scifact.score(*sides, "claim_id")
        rows = f"2 rows of the {name}: claim_id 1 (repeated) and 1 more"
        assert str(caught.value) == f"claim_id: expected every claim once. Wrong in {rows}"


# --- the host's faults ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (None, "missing"),
        ("", "empty"),
        ("[]", "a list instead of an object"),
        ('{"11": {"sentences": [1], "label": "SUPPORT"}}',
         "document '11': an object instead of a list of evidence sets"),
        ('{"11": []}', "document '11': no evidence set"),
        ('{"\\ud800": []}', r"document '\ud800': an id with an incomplete character"),
        ('{"11": [[1]]}', "document '11': a list instead of an object"),
        ('{"11": [{"sentences": [], "label": "SUPPORT"}]}', "document '11': an evidence set without sentences"),
        ('{"11": [{"sentences": [1], "label": "SUPPORT"}, {"sentences": [2], "label": "CONTRADICT"}]}',
         "document '11': two labels"),
        ('{"11": [{"sentences": [3, 3.0], "label": "SUPPORT"}]}',
         "document '11': sentence 3 named twice"),
        ('{"11": [{"sentences": [1], "label": "REFUTES"}]}',
         "document '11': the label is 'REFUTES'; write CONTRADICT"),
        ('{"11": [{"sentences": [1], "label": "SUPPORT", "label": "SUPPORT"}]}',
         "the key 'label' is written twice"),
    ],
)  # fmt: skip
def test_what_is_no_gold(cell, reason):
    message = f"{EXPECTED_GOLD}{ROW.replace('submission', 'solution')} ({reason})"
    assert complaint(cell) == message
    assert len(message) <= 280


# --- gold sets that share a sentence ----------------------------------------------------------------

SHARING = gold_of([0, 1], [1, 2], [7])


def test_gold_sets_that_share_a_sentence_give_a_warning_that_names_them():
    message = (
        "Evidence sets share a sentence in 2 abstracts of the solution, such as '11' of claim '2'. The "
        "leaderboard's program stops when a submission lists such a sentence. Here the sentence is correct "
        "once, if one of its sets is complete."
    )
    gold = gold_of([3], [3]) | gold_of([4], document="15")
    with pytest.warns(scifact.SharedSentenceWarning) as caught:
        scifact.prepare(table({}, SHARING, gold), "claim_id")
    assert [str(warning.message) for warning in caught] == [message]


@given(st.data())
@examples(100)
@pytest.mark.filterwarnings("ignore:Evidence sets share a sentence")
def test_gold_sets_that_share_a_sentence_equal_the_transcription(data):
    one_set = st.lists(st.integers(0, 5), unique=True, min_size=1, max_size=4)
    gold = gold_of(*data.draw(st.lists(one_set, min_size=1, max_size=4)))
    answer = answer_of(
        *data.draw(st.lists(st.integers(0, 6), max_size=6)), label=data.draw(st.sampled_from(LABELS))
    )
    check_measures({"1": gold}, {"1": answer})
    correct = transcription.official_sentences(gold["11"], answer["11"])
    if correct is not None:
        assert counts(gold, answer)[2] == correct


def test_a_solution_without_rows():
    with pytest.raises(
        scifact.HostVisibleError, match=r"^the solution: expected at least one row, found none$"
    ):
        scifact.prepare(table(), "claim_id")


def test_no_such_measure():
    with pytest.raises(scifact.HostVisibleError) as caught:
        scifact.score(table({}), table({}), "claim_id", "f1")
    assert str(caught.value) == (
        f"measure: expected {', '.join(scifact.CREDITS)}, followed by _precision, _recall or _f1, found 'f1'"
    )
