"""What holds for both metrics of markups: order, symmetry, ids, progress, and what is wrong with a table."""

import gc
import itertools
import json
import random
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import hosted
from tests.support import markup_consistency_data, readable_data
from tests.support.examples import examples
from tests.support.markups import (
    ELEMENT_MARKUPS,
    ESSAY_MARKUPS,
    Evaluated,
    shuffled,
    solution_of,
    submission_of,
)


class Case(NamedTuple):
    """A metric of markups, and how to try it."""

    module: ModuleType
    markups: st.SearchStrategy[Any]  # markups in the metric's form
    data: Any  # the module that makes samples
    measure: str  # one that needs only one expert
    spanning: str  # a markup in JSON, to be filled with a start and an end
    expected: str  # what a message expects of a markup

    @property
    def name(self) -> str:
        """The metric's name."""
        return str(self.module.NAME)


consistency, readable = hosted.module("markup_consistency"), hosted.module("readable")
CASES = [
    Case(
        consistency,
        ELEMENT_MARKUPS,
        markup_consistency_data,
        "ama",
        '{"elements": [{"fragments": [{"start": %s, "end": %s}]}]}',
        'markup: expected a markup in JSON, such as {"elements": [{"fragments": [{"start": 0, "end": 10}]}]}',
    ),
    Case(
        readable,
        ESSAY_MARKUPS,
        readable_data,
        "m",
        '{"criteria": {}, "selections": [{"startSelection": %s, "endSelection": %s, "type": "x"}]}',
        'markup: expected a markup in JSON, such as {"criteria": {"K1": 1}, "selections": []}',
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
    in_prepare: list[tuple[int, int]] = []
    in_statistics: list[tuple[int, int]] = []
    solution, submission = case.data.corpus(12, experts=3)
    prepare = case.module.prepare
    untold = prepare(solution, "document_id").statistics(submission)
    prepared = prepare(solution, "document_id", progress=lambda *numbers: in_prepare.append(numbers))
    told = prepared.statistics(submission, progress=lambda *numbers: in_statistics.append(numbers))
    assert told.tolist() == untold.tolist()
    assert in_prepare == in_statistics == [(done, 12) for done in range(1, 13)]


@cases
@pytest.mark.parametrize("is_collecting", [True, False])
def test_the_garbage_collector_is_as_it_was(case: Case, is_collecting: bool) -> None:
    """This holds after an error, too."""
    solution, submission = case.data.corpus(2)
    was_collecting = gc.isenabled()
    (gc.enable if is_collecting else gc.disable)()
    try:
        case.module.score(solution, submission, "document_id")
        with pytest.raises(case.module.ParticipantVisibleError):
            case.module.score(solution, submission.assign(markup="{"), "document_id")
        assert gc.isenabled() == is_collecting
    finally:
        (gc.enable if was_collecting else gc.disable)()


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
    solution, submission = (frame.head(2) for frame in case.data.frames(case.data.samples()))
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
    for frame, message in (
        (
            solution.assign(document_id="a"),
            f"document_id: expected every document once. {in_solution} document_id a (repeated)",
        ),
        (
            text.assign(text=["x" * 20, None]),
            f"text: expected a value in every row. {in_solution} document_id b (missing)",
        ),
        (pd.concat([text, text[["text"]]], axis=1), "the solution: expected one column text, found 2"),
        (
            text.assign(text="four"),
            "markups: expected ",
        ),
    ):
        with pytest.raises(case.module.HostVisibleError) as error:
            case.module.score(frame, submission, "document_id")
        assert str(error.value).startswith(message)
