"""What holds for both metrics of markups: order, symmetry, ids, progress, and what is wrong with a table."""

import gc
import itertools
import json
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.metric import hosted
from podium.scoring import evaluating
from tests.support.examples import examples, some
from tests.support.markups import (
    ELEMENT_MARKUPS,
    ESSAY_MARKUPS,
    Evaluated,
    crowded_element,
    crowded_essay,
    shuffled,
    solution_of,
    submission_of,
)
from tests.support.samples import case_of


class Case(NamedTuple):
    """A metric of markups, and how to try it."""

    module: ModuleType
    markups: st.SearchStrategy[Any]  # markups in the metric's form
    crowded: Callable[[random.Random], Any]  # makes a markup with many possible partners
    accordances: list[dict[str, str]]  # parameters with which partners are found
    measure: str  # one that needs only one expert
    document: str  # what messages call a document
    expected: str  # what a message expects of a markup
    spanning: str  # a markup in JSON, to be filled with a start and an end
    place: tuple[str, str, str]  # how a message names the place of these, and each of them

    @property
    def name(self) -> str:
        """The metric's name."""
        return str(self.module.NAME)


CASES = [
    Case(
        hosted.module("markup_consistency"),
        ELEMENT_MARKUPS,
        lambda rng: crowded_element(rng, rng.randrange(1, 7), last=8),
        [{"accordance": "sum"}, {"accordance": "exact"}],
        "ama",
        "a document",
        'markup: expected a markup in JSON, such as {"elements": [{"fragments": [{"start": 0, "end": 10}]}]}',
        '{"elements": [{"fragments": [{"start": %s, "end": %s}]}]}',
        ("element 1: fragment 1: ", "start", "end"),
    ),
    Case(
        hosted.module("readable"),
        ESSAY_MARKUPS,
        lambda rng: crowded_essay(rng, 7),
        [{}],
        "m",
        "an essay",
        'markup: expected a markup in JSON, such as {"criteria": {"K1": 1}, "selections": []}',
        '{"criteria": {}, "selections": [{"startSelection": %s, "endSelection": %s, "type": "x"}]}',
        ("selection 1: ", "startSelection", "endSelection"),
    ),
]
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


# ---- Properties ---------------------------------------------------------------------------------------


@cases
@examples(20)
@given(st.data(), st.randoms(use_true_random=False))
def test_order_of_rows_and_experts_has_no_influence(case: Case, drawn: Any, rng: random.Random) -> None:
    documents = drawn.draw(
        st.lists(
            st.tuples(st.lists(case.markups, min_size=2, max_size=3), case.markups), min_size=1, max_size=4
        )
    )
    solution = solution_of(*(experts for experts, _ in documents), subject="lit")
    submission = submission_of(*(algorithm for _, algorithm in documents))
    mixed = [json.dumps(shuffled(experts, rng)) for experts, _ in documents]
    rows = rng.sample(range(len(documents)), len(documents))
    plain = Evaluated(case.name, solution, submission, case.measure)
    other = Evaluated(
        case.name, solution.assign(markups=mixed).iloc[rows], submission.iloc[rows[::-1]], case.measure
    )
    assert [*plain.measures.values()] == pytest.approx([*other.measures.values()], abs=0, rel=0, nan_ok=True)
    assert plain.items == other.items


@pytest.mark.parametrize(
    ("case", "parameters"),
    [(case, parameters) for case in CASES for parameters in case.accordances],
    ids=lambda value: getattr(value, "name", None) or str(value),
)
def test_ties_are_settled_by_contents(case: Case, parameters: dict[str, str]) -> None:
    """Of many equally good matchings, neither the order nor the exchange of sides chooses another one."""
    rng = random.Random(3)
    documents = [[case.crowded(rng) for _ in range(3)] for _ in range(some(400))]
    mixed = [[shuffled(markup, rng) for markup in reversed(markups)] for markups in documents]
    plain, other = (criteria_of_pairs(case, markups, parameters) for markups in (documents, mixed))
    names = {"algorithm": "expert 2", "expert 1": "expert 1", "expert 2": "algorithm"}
    assert plain == {
        (document_id, frozenset(names[markup] for markup in pair)): criteria
        for (document_id, pair), criteria in other.items()
    }


def criteria_of_pairs(case: Case, documents: list[list[Any]], parameters: dict[str, str]) -> dict[Any, Any]:
    """The criteria of all pairs of markups; the first markup of a document is the algorithm's."""
    solution = solution_of(*(experts for _, *experts in documents))
    submission = submission_of(*(algorithm for algorithm, *_ in documents))
    explanation = Evaluated(case.name, solution, submission, **parameters).explanation
    pairs = explanation.pairs.set_index(["document_id", "markup", "against"])[explanation.names]
    return {(row[0][0], frozenset(row[0][1:])): row[1:] for row in pairs.itertuples()}


@cases
@pytest.mark.parametrize("rows", [550, 600])
def test_large_assignments_are_as_good_as_plain_ones(
    case: Case, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(rows)
    row, column = np.nonzero(rng.random((rows, 575)) < 0.9)
    worth = rng.random(len(row)).round(2)
    places = np.column_stack([row, column])
    chosen = case.module.best_sum(places, worth + case.module.TIE)
    monkeypatch.setattr(case.module, "LARGE", 1000)
    plain = case.module.best_sum(places, worth + case.module.TIE)
    assert chosen.sum() == plain.sum() == min(rows, 575)
    assert worth[chosen].sum() == pytest.approx(worth[plain].sum())
    assert len(np.unique(row[chosen])) == len(np.unique(column[chosen])) == chosen.sum()


@cases
def test_progress_is_told_and_complete(case: Case) -> None:
    told: list[tuple[int, int]] = []
    tables = case_of(case.name).tables
    untold = case.module.prepare(tables[0], "document_id").statistics(tables[1])
    solution = evaluating.prepare(hosted.load(case.name), tables[0], {}, lambda *numbers: told.append(numbers))
    evaluation = evaluating.evaluate(solution, tables[1], lambda *numbers: told.append(numbers))
    assert evaluation.statistics.tolist() == untold.tolist()
    assert told == [(done, 12) for done in range(1, 13)] * 2


@cases
def test_a_garbage_collector_that_is_off_stays_off(case: Case) -> None:
    gc.disable()
    try:
        case.module.score(*case_of(case.name).tables, "document_id")
        assert not gc.isenabled()
    finally:
        gc.enable()


# ---- Bad input ----------------------------------------------------------------------------------------


def good(case: Case) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A solution and a submission of the documents a and b."""
    markup = case.spanning % (0, 5)
    solution = solution_of([], [], subject="lit").assign(
        document_id=["a", "b"], markups=f"[{markup}, {markup}]"
    )
    return solution, pd.DataFrame({"document_id": ["a", "b"], "markup": markup})


WRONG = "Wrong in 1 row of the submission:"
MESSAGES = {
    "no column": "the submission: expected 1 more column: markup. It has document_id",
    "missing id": f"document_id: expected an id in every row. {WRONG} row number 2 (missing)",
    "repeated id": f"document_id: expected every document once. {WRONG} document_id a (repeated)",
    "unknown id": f"document_id: expected ids of the test set's documents. {WRONG} document_id zz (unknown)",
    "too few": "the submission: expected a row for every document, in one table. It lacks 1 document",
    "empty": "the submission: expected a row for every document, in one table. It lacks 2 documents",
    "missing markup": f"EXPECTED. {WRONG} document_id b (missing)",
}


@cases
def test_bad_submissions(case: Case) -> None:
    """The messages are the same with another solution of the same documents."""
    solution, submission = good(case)
    other = case.spanning % (3, 9)
    solutions = solution, solution.assign(markups=f"[{other}, {other}]", text="x" * 200)
    frames = {
        "no column": submission.drop(columns="markup"),
        "missing id": submission.assign(document_id=["a", None]),
        "repeated id": submission.assign(document_id="a"),
        "unknown id": submission.assign(document_id=["a", "zz"]),
        "too few": submission.head(1),
        "empty": submission.head(0),
        "missing markup": submission.assign(markup=[submission["markup"][0], np.nan]),
    }
    for (name, frame), truth in itertools.product(frames.items(), solutions):
        with pytest.raises(case.module.ParticipantVisibleError) as error:
            case.module.score(truth, frame, "document_id")
        assert str(error.value) == MESSAGES[name].replace("EXPECTED", case.expected)


# What is wrong with a markup, by its text; with the text of an offset, by the texts of start and end.
NO_MARKUPS = {
    "  ": "missing",
    "{": "not JSON: Expecting property name enclosed in double quotes at character 2",
    "{} x": "not JSON: Extra data at character 4",
    "[" * 100_000: "not a markup: nested too deeply",
    "[]": "a list instead of an object",
    "null": "missing instead of an object",
}
NO_SPANS = {
    ("NaN", "5"): "not JSON: NaN is not a number",
    ("1" * 5000, "5"): "not JSON: Exceeds the limit",
    ("0", "1" * 50): "{place}{end} is above 1,000,000,000",
    ("0", "null"): "{place}{end} is missing instead of a whole number",
    ("0", "0.5"): "{place}{end} is 0.5 instead of a whole number",
    ("0", '"5"'): "{place}{end} is '5' instead of a whole number",
    ("0", "1e400"): "{place}{end} is inf instead of a whole number",
    ("0", "true"): "{place}{end} is true instead of a whole number",
    ("9", "5"): "{place}{start} 9 is after {end} 5",
    ("-2", "5"): "{place}{start} is negative",
    ("5", "21"): "{place}{end} 21 is beyond the text",
}


def one_fragment(text: str) -> str:
    """The text of a markup whose only fragment is this text."""
    return f'{{"elements": [{{"fragments": [{text}]}}]}}'


def graded(text: str) -> str:
    """The text of a markup with this text as its only grade."""
    return f'{{"criteria": {{"K1": {text}}}, "selections": []}}'


def selected(text: str) -> str:
    """The text of a markup with this text as its only selection."""
    return f'{{"criteria": {{}}, "selections": [{text}]}}'


def typed(text: str) -> str:
    """The text of a selection with this text as its type, which may be followed by more."""
    return f'{{"startSelection": 0, "endSelection": 5, "type": {text}}}'


OWN_FAULTS = {
    "markup_consistency": {
        "{}": "the markup has no elements",
        '{"elements": {}}': "elements is an object instead of a list",
        '{"elements": [7]}': "element 1: 7 instead of an object",
        '{"elements": [{"tags": "ab"}]}': "element 1: tags is not a list of texts",
        '{"elements": [{"tag": "ab"}]}': "element 1: the key 'tag' is not known; write tags",
        '{"elements": [{"start": 0}]}': (
            "element 1: the key 'start' is not known; the keys are fragments, overtexts, tags, id"
        ),
        one_fragment('{"start": 0, "end": 5, "label": "X"}'): (
            "element 1: fragment 1: the key 'label' is not known; the keys are start, end, tags, overtexts, "
            "text, id"
        ),
        '{"elements": [{"overtexts": [{"text": "x"}]}]}': (
            "element 1: overtext 1: the key 'text' is not known; the keys are comment, tags, id"
        ),
        '{"elements": [{"tags": false}]}': "element 1: tags is not a list of texts",
        '{"elements": [{"overtexts": ["no"]}]}': "element 1: overtext 1: 'no' instead of an object",
        '{"elements": [{"overtexts": [{"comment": 5}]}]}': (
            "element 1: overtext 1: comment is 5 instead of text"
        ),
        one_fragment("[0, 5]"): "element 1: fragment 1: a list instead of an object",
        one_fragment('{"start": 0, "end": 5, "overtexts": [{"tags": [[]]}]}'): (
            "element 1: fragment 1: overtext 1: tags is not a list of texts"
        ),
        '{"selections": [5]}': "selection 1: 5 instead of an object",
        '{"selections": [{"type": 5}]}': "selection 1: type is 5 instead of text",
        '{"selections": [{"type": "x"}]}': "element 1: fragment 1: start is missing instead of a whole number",
    },
    "readable": {
        '{"selections": []}': "the markup has no criteria",
        '{"criteria": {}}': "the markup has no selections",
        '{"criteria": [], "selections": []}': "criteria is a list instead of an object",
        '{"criteria": {}, "selections": {}}': "selections is an object instead of a list",
        graded("[1]"): "criterion K1 is a list instead of a number of at least 0",
        graded("-1"): "criterion K1 is -1 instead of a number of at least 0",
        graded('"x"'): "criterion K1 is 'x' instead of a number of at least 0",
        graded('"1_0"'): "criterion K1 is '1_0' instead of a number of at least 0",
        graded("1e400"): "criterion K1 is inf instead of a number of at least 0",
        graded("true"): "criterion K1 is true instead of a number of at least 0",
        graded("14.5"): "the criteria sum to 14.5, more than the maximum of the subject",
        selected("5"): "selection 1: 5 instead of an object",
        selected(typed("null")): "selection 1: type is missing",
        selected(typed('"x", "subType": "y"')): "selection 1: the key 'subType' is not known; write subtype",
        selected(typed('"x", "correction": 0')): "selection 1: correction is 0 instead of text",
        selected(typed("5")): "selection 1: type is 5 instead of text",
        selected(typed('"x", "subtype": ["y"]')): "selection 1: subtype is a list instead of text",
    },
}
# Markups beyond a limit, with the limit and what there is of it.
TOO_MANY = {
    "markup_consistency": {
        '{"elements": [' + ",".join(["{}"] * 2001) + "]}": (
            ("2,000", "2,001", "elements, fragments and overtexts")
        ),
        one_fragment(
            f'{{"start": 0, "end": 5, "tags": ["{"x" * 99_999}"], '
            f'"overtexts": [{{"comment": "{"y" * 100_002}"}}]}}'
        ): ("200,000", "200,001", "characters of tags and comments"),
    },
    "readable": {
        selected(typed(f'"{"x" * 200_001}"')): (
            ("200,000", "200,001", "characters of types, subtypes and corrections")
        ),
        selected(",".join([typed('"x"')] * 501)): ("500", "501", "selections"),
    },
}


def faults_of(case: Case) -> dict[str, str]:
    """What is wrong with each of some markups of a metric."""
    names = dict(zip(("place", "start", "end"), case.place))
    spans = {case.spanning % ends: reason.format(**names) for ends, reason in NO_SPANS.items()}
    return NO_MARKUPS | spans | OWN_FAULTS[case.name]


FAULTS = [(case, *fault) for case in CASES for fault in faults_of(case).items()]


@pytest.mark.parametrize(
    ("case", "cell", "reason"), FAULTS, ids=[f"{case.name}-{reason}" for case, _, reason in FAULTS]
)
def test_bad_markups(case: Case, cell: str, reason: str) -> None:
    solution, submission = good(case)
    solution["text"] = "x" * 20
    with pytest.raises(case.module.ParticipantVisibleError) as ours:
        case.module.score(solution, submission.assign(markup=[submission["markup"][0], cell]), "document_id")
    assert str(ours.value).startswith(f"{case.expected}. {WRONG} document_id b ({reason}")
    if not cell.strip():
        return
    cells = [solution["markups"][0], f"[{submission['markup'][1]}, {cell}]"]
    with pytest.raises(case.module.HostVisibleError) as theirs:
        case.module.score(solution.assign(markups=cells), submission, "document_id")
    text = str(theirs.value)
    assert text.startswith("markups: expected a list of markups in JSON, such as [{")
    assert f"document_id b (markup 2: {reason}"[:60] in text or "not JSON" in text or "nested" in text
    assert len(text) <= 280


@cases
def test_a_limit_is_told_first(case: Case) -> None:
    solution, submission = good(case)
    for cell, (most, number, what) in TOO_MANY[case.name].items():
        expected = f"expected at most {most} {what} in a markup. Wrong in 1 row of"
        broken = submission.assign(markup=[submission["markup"][0], cell])
        with pytest.raises(case.module.ParticipantVisibleError) as ours:
            case.module.score(solution, broken, "document_id")
        assert str(ours.value) == f"markup: {expected} the submission: document_id b ({number} {what})"
        wrong = solution.assign(markups=[solution["markups"][0], f"[{submission['markup'][1]}, {cell}]"])
        with pytest.raises(case.module.HostVisibleError) as theirs:
            case.module.score(wrong, submission, "document_id")
        found = f"document_id b (markup 2: {number} {what})"
        assert str(theirs.value) == f"markups: {expected} the solution: {found}"


@cases
@pytest.mark.parametrize("cell", ["GOOD", "null", "3"])
def test_markups_that_are_no_list(case: Case, cell: str) -> None:
    solution, submission = good(case)
    cells = [cell.replace("GOOD", submission["markup"][0]), solution["markups"][1]]
    with pytest.raises(
        case.module.HostVisibleError, match=r"document_id a \(.* instead of a list of markups\)"
    ):
        case.module.score(solution.assign(markups=cells), submission, "document_id")


@cases
def test_whole_numbers_written_with_a_point_are_whole(case: Case) -> None:
    solution, submission = good(case)
    other = submission.assign(markup=case.spanning % ("0.0", "5.0"))
    scores = {case.module.score(solution, frame, "document_id") for frame in (submission, other)}
    assert len(scores) == 1


@cases
def test_ids_are_compared_as_text(case: Case) -> None:
    solution, submission = (frame.head(2) for frame in case_of(case.name).tables)
    expected = case.module.score(solution, submission, "document_id")
    for ids, other in itertools.product(([1, 2], [1.0, 2.0], ["1", "2"]), repeat=2):
        ours, theirs = solution.assign(document_id=ids), submission.assign(document_id=other)
        assert case.module.score(ours, theirs, "document_id") == expected


@cases
def test_a_message_about_one_long_id_and_value_is_cut(case: Case) -> None:
    solution, submission = good(case)
    values = {
        "markup_consistency": {"elements": [{"fragments": [{"start": "x" * 99}]}]},
        "readable": {"criteria": {"K" * 50: "x" * 50}, "selections": []},
    }
    ids, cells = ["a", "b" * 90], [submission["markup"][0], json.dumps(values[case.name])]
    with pytest.raises(case.module.ParticipantVisibleError) as error:
        case.module.score(
            solution.assign(document_id=ids), submission.assign(document_id=ids, markup=cells), "document_id"
        )
    assert len(str(error.value)) == 280
    assert str(error.value).endswith("…")


@cases
def test_bad_solutions(case: Case) -> None:
    solution, submission = good(case)
    in_solution = "Wrong in 1 row of the solution:"
    text = solution.assign(text="x" * 20)
    two = f"markups: expected {case.document} with markups of two experts, found none"
    for frame, message in (
        (solution.head(0), two),
        (solution.assign(markups="[]"), two),
        (solution.assign(markups=f"[{submission['markup'][0]}]"), two),
        (
            solution.assign(document_id="a"),
            f"document_id: expected every document once. {in_solution} document_id a (repeated)",
        ),
        (
            text.assign(text=["x" * 20, None]),
            f"text: expected a value in every row. {in_solution} document_id b (missing)",
        ),
        (pd.concat([text, text[["text"]]], axis=1), "the solution: expected one column text, found 2"),
        (text.assign(text="four"), "markups: expected "),
    ):
        with pytest.raises(case.module.HostVisibleError) as error:
            case.module.score(frame, submission, "document_id")
        assert str(error.value).startswith(message)
    with pytest.raises(case.module.HostVisibleError) as error:
        case.module.prepare(solution.assign(markups="[]"), "document_id", case.measure)
    assert str(error.value) == two.replace("two experts", "an expert")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_texts_under_another_name_are_told(case: Case) -> None:
    """Without the texts, no offset could be held against them."""
    solution, submission = good(case)
    with pytest.raises(case.module.HostVisibleError) as raised:
        case.module.score(solution.assign(Text="x" * 20), submission, "document_id")
    assert str(raised.value) == "the solution: expected the column text, found 'Text'"
