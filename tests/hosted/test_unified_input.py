"""All forms of tables that files have are accepted, and everything else gets a clear message."""

import io
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import metric
from tests.support.examples import examples
from tests.support.frames import WHOLE, perfect, solution, submission, whole_score, words

D0, D1 = metric.PROBABILITY_COLUMNS


@pytest.fixture
def truth():
    """A solution with three segments in two essays."""
    return solution(
        ("A", "Lead", words(0, 9), 1), ("A", "Claim", words(10, 19), 0), ("B", "Evidence", words(5, 9), 1)
    )


@pytest.fixture
def predicted(truth):
    """A submission that is right everywhere."""
    return perfect(truth).drop(columns="discourse_effectiveness")


def rejection(truth: pd.DataFrame, predicted: pd.DataFrame) -> str:
    """The participant's message, after checking that it is the same for any solution."""
    messages = set()
    for other in (
        truth,
        solution(("Q", "Rebuttal", "98 99", 0)),
        truth.iloc[::-1].assign(essay_id=["C", "B", "A"]),
    ):
        with pytest.raises(metric.ParticipantVisibleError) as caught:
            whole_score(other, predicted)
        assert caught.value.__cause__ is None
        messages.add(str(caught.value))
    assert len(messages) == 1
    return messages.pop()


def complaint(truth: pd.DataFrame, **parameters: object) -> str:
    """The host's message for a faulty solution with a valid submission."""
    with pytest.raises(metric.HostVisibleError) as caught:
        metric.score(truth, submission(("A", "Lead", "0 1", 1)), "row_id", **(WHOLE | parameters))
    return str(caught.value)


# --- the participant's faults -----------------------------------------------------------------------


@pytest.mark.parametrize("column", ["row_id", "essay_id", "discourse_type", "predictionstring", D0, D1])
def test_a_missing_column_is_named_with_those_found(truth, predicted, column):
    message = rejection(truth, predicted.drop(columns=column))
    others = [name for name in predicted.columns if name != column]
    head = f"the submission: expected 1 more column: {column}. It has "
    assert message == head + ", ".join(others)
    message = rejection(truth, predicted.rename(columns={column: f"{column} "}))
    assert message == head + ", ".join(f"'{name} '" if name == column else name for name in predicted)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("essay_id", "a value in every row"),
        ("discourse_type", "a value in every row"),
        (D0, "a number from 0 to 1"),
        (D1, "a number from 0 to 1"),
        ("row_id", "an id in every row"),
    ],
)
def test_missing_values(truth, predicted, column, expected):
    label = "row number 2" if column == "row_id" else "row_id t1"
    predicted = predicted.astype({column: object})
    blanks = ("", "\t") if column in ("essay_id", "discourse_type") else ()
    for missing in (None, np.nan, pd.NA, pd.NaT, *blanks):
        predicted.iloc[1, predicted.columns.get_loc(column)] = missing
        assert rejection(truth, predicted) == (
            f"{column}: expected {expected}. Wrong in 1 row of the submission: {label} (missing)"
        )


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("", "empty"),
        (None, "empty"),
        ([1, 2], "'[1, 2]': '[1,' is not a whole number"),
        ("\ud800", r"'\ud800': '\ud800' is not a whole number"),
        ("007", "'007': '007' has a leading zero"),
        (1.5, "'1.5': '1.5' is not a whole number"),
        ("1  2", "'1  2': spaces other than single ones"),
        ("1 2 ", "'1 2 ': a space at the end"),
        ("1\n2", r"'1\n2': '1\n2' is not a whole number"),
        ("3 5", "'3 5': 3 is not followed by 4"),
        ("9 100", "'9 100': 9 is not followed by 10"),
        ("99999 100000", "'99999 100000': '100000' is above 99999"),
    ],
)  # fmt: skip
def test_predictionstrings(truth, predicted, cell, reason):
    cells = [*predicted["predictionstring"][:2], cell]
    message = rejection(truth, predicted.assign(predictionstring=pd.Series(cells, dtype=object)))
    assert message.startswith("predictionstring: expected the positions of the segment's words, ")
    assert message.endswith(f". Wrong in 1 row of the submission: row_id t2 ({reason})")


@given(st.integers(0, 99_999), st.integers(1, 40), st.sampled_from(["", " ", "0", " 0", "x", "\n"]))
@example(2047, 1, "")
@example(2047, 2, "")
@example(4095, 2, "")
@example(65_535, 2, "")
@example(99_999, 1, "")
@example(99_999, 1, " 100000")
@examples(200)
def test_positions_at_every_length_of_the_ruler(start: int, number: int, more: str) -> None:
    """The comparison with the ruler finds what a loop over the words finds, whatever the ruler's length."""
    cell = words(start, min(start + number - 1, metric.LAST_POSITION)) + more
    first, last = parse_slowly(cell)
    firsts, lasts = metric.parse_predictionstrings(["0 1", cell, "7"])
    assert lasts.tolist() == [1, last, 7]
    assert last < 0 or firsts.tolist() == [0, first, 7]


@given(st.text("01 9", max_size=9))
@examples(200)
def test_texts_that_resemble_predictionstrings(cell: str) -> None:
    firsts, lasts = metric.parse_predictionstrings([cell])
    assert lasts.tolist() == [parse_slowly(cell)[1]]
    assert lasts[0] < 0 or firsts.tolist() == [parse_slowly(cell)[0]]


def parse_slowly(cell: str) -> tuple[int, int]:
    """The first and the last word of a predictionstring, found word by word; -1 for both if it is not valid."""
    positions: list[int] = []
    for word in cell.split(" "):
        if not re.fullmatch("0|[1-9][0-9]{0,4}", word) or (positions and int(word) != positions[-1] + 1):
            return -1, -1
        positions.append(int(word))
    return positions[0], positions[-1]


def test_faults_are_found_in_every_block_of_rows(truth):
    cells = [words(n % 50, n % 50 + 5) for n in range(3 * metric.ROWS_AT_ONCE)]
    for row in (0, metric.ROWS_AT_ONCE, len(cells) - 1):
        cells[row] = "4 2"
    many = submission(*(("A", "Lead", cell, 0.5) for cell in cells))
    assert "in 3 rows" in rejection(truth, many)


def test_an_unknown_type_is_quoted_and_the_seven_listed(truth, predicted):
    message = rejection(truth, predicted.replace("Claim", "claim"))
    assert message == (
        "discourse_type: expected one of Lead, Position, Claim, Counterclaim, Rebuttal, Evidence, Concluding "
        "Statement. Wrong in 1 row of the submission: row_id t1 ('claim')"
    )


@pytest.mark.parametrize("value", [
    -0.1, 1.0001, -1.1e-6, 1 + 1.1e-6, np.inf, -np.inf, "inf", "nan", "abc", "0,5", "1e400", "0.5.5", "0_5",
    "½", "１", [0.5], np.array([0.5]), 0.5 + 0j, "\ud800", 10**400,
])  # fmt: skip
@pytest.mark.parametrize("column", [D0, D1])
def test_a_probability_is_a_finite_number_from_0_to_1(truth, predicted, value, column):
    predicted = predicted.astype({column: object})
    predicted[column] = pd.Series([0.5, value, 0.5], dtype=object)
    assert rejection(truth, predicted).startswith(
        f"{column}: expected a number from 0 to 1. Wrong in 1 row of the submission: row_id t1 ('"
    )


def test_a_probability_just_outside_is_clipped(truth, predicted):
    """The average of folds in float32 gives such probabilities."""
    outside = predicted.assign(**{D0: [-1e-6, 1 + 1e-6, 0], D1: [1 + 1e-6, -1e-6, 1]})
    inside = predicted.assign(**{D0: [0.0, 1.0, 0], D1: [1.0, 0.0, 1]})
    assert whole_score(truth, outside) == whole_score(truth, inside) == 1.0


def test_a_pair_that_does_not_sum_to_one(truth, predicted):
    message = rejection(truth, predicted.assign(**{D0: [0.0, 0.7, 1.0], D1: [1.0, 0.2, 1.0]}))
    assert message == (
        "score_discourse_effectiveness_0 and _1: expected two probabilities that sum to 1. Wrong in 2 rows of "
        "the submission: row_id t1 (0.7 + 0.2 = 0.9) and 1 more"
    )


@pytest.mark.parametrize("missing", [0.001, 0.0010005, -0.001, -0.0010005])
def test_the_sum_may_miss_one_by_a_thousandth(truth, predicted, missing):
    frame = predicted.assign(**{D0: [0.5, 1.0, 0.0], D1: [0.5 - missing, 0.0, 1.0]})
    if abs(missing) == 0.001:
        assert whole_score(truth, frame) > 0.8
    else:
        assert "row_id t0 (" in rejection(truth, frame)


def test_the_first_wrong_row_and_their_number_are_told(truth):
    many = submission(*(("A", "Lead", "2 1", 0.5) for _ in range(1234)))
    assert rejection(truth, many).endswith(
        "Wrong in 1,234 rows of the submission: row_id p0 ('2 1': 2 is not followed by 3) and 1,233 more"
    )


def test_no_known_essay(truth, predicted):
    with pytest.raises(metric.ParticipantVisibleError) as caught:
        whole_score(truth, predicted.assign(essay_id="Z"))
    assert str(caught.value) == ("essay_id: expected essays of the test set, found none of them")


def test_faults_of_unknown_essays_count_too(truth, predicted):
    """Otherwise a participant could learn from the messages which essays are public."""
    predicted.loc[2, ["essay_id", "predictionstring"]] = ["Z", "4 2"]
    assert "row_id t2 ('4 2'" in rejection(truth, predicted)


def test_false_is_no_zero_and_true_no_one_whatever_the_order():
    """A hash table takes False for 0 and True for 1."""
    ids = [0, False, 1, True, 0.0, "0", "False"]
    truth = solution(*((value, "Lead", words(2 * n, 2 * n + 1), 1) for n, value in enumerate(ids)))
    truth["essay_id"] = pd.Series(ids, dtype=object)
    assert metric.prepare(truth, "row_id", **WHOLE).items == ["0", "1", "False", "True"]
    backwards = truth.iloc[::-1]
    assert metric.prepare(backwards, "row_id", **WHOLE).items == ["0", "1", "False", "True"]


# --- the host's faults ------------------------------------------------------------------------------


def test_columns_of_the_sub_populations(truth):
    message = complaint(truth, subpopulation_column_names="ell_status, gender")
    assert message.startswith("the solution: expected 2 more columns: ell_status, gender. It has row_id, ")


def test_other_faults_of_the_solution(truth):
    assert complaint(truth.head(0)) == "the solution: expected at least one row, found none"
    for wrong, message in (
        (truth.replace("Lead", "Headline"), "discourse_type: expected one of Lead, .* 1 row of the solution"),
        (truth.replace("5 6 7 8 9", "5 7"), "predictionstring: expected .* in 1 row of the solution"),
        (truth.replace({"essay_id": {"A": None}}), "essay_id: expected a value .* in 2 rows of the solution"),
    ):
        assert re.match(message, complaint(wrong))


@pytest.mark.parametrize("value", [2, -1, 0.5, None, np.nan, "Effective", "", np.inf])
def test_effectiveness_is_0_or_1(truth, value):
    truth = truth.astype({"discourse_effectiveness": object})
    truth.loc[1, "discourse_effectiveness"] = value
    assert complaint(truth).startswith(
        "discourse_effectiveness: expected 0 or 1. Wrong in 1 row of the solution: row_id t1 ("
    )


def test_demographics_that_differ_within_an_essay(truth):
    for values in (["No", "Yes", "No"], ["No", None, "No"], [None, "Yes", "No"]):
        message = complaint(truth.assign(ell_status=values), subpopulation_column_names="ell_status")
        assert message == (
            "ell_status: expected one value per essay. Wrong in 1 row of the solution: row_id t1 (essay 'A' "
            "had another value before)"
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("segment_weight", value) for value in (-0.01, 1.01)),
        *(("overlap_threshold", value) for value in (0.5, 1.01)),
        *(("temperature", value) for value in (-1.0, np.nan, 10**400)),
        *(("subpopulation_column_names", value) for value in ("a,,b", "a,a", ",")),
    ],
)
def test_parameters_out_of_range(truth, name, value):
    message = complaint(truth, **{name: value})
    assert message.startswith(f"{name}: expected ")
    assert f"found {type(value).__name__} '" in message or "names separated by commas, found '" in message
    assert len(message) <= 280


# --- real CSV surprises that must work --------------------------------------------------------------


def test_ids_that_look_like_numbers_in_one_file_only():
    truth = solution(("101", "Lead", "0 1", 1), ("7", "Lead", "0 1", 1), ("X", "Lead", "0 1", 0))
    predicted = perfect(truth).head(2)
    expected = whole_score(truth, predicted)
    as_numbers = pd.read_csv(io.StringIO(predicted.to_csv(index=False)))
    assert as_numbers["essay_id"].dtype.kind == "i"
    assert whole_score(truth, as_numbers) == expected
    assert whole_score(truth, as_numbers.astype({"essay_id": float})) == expected
    mixed = as_numbers.astype({"essay_id": object})
    mixed.loc[0, "essay_id"] = "101"
    assert whole_score(truth, mixed) == expected


def test_boolean_effectiveness_and_probabilities(truth, predicted):
    as_bool = truth.astype({"discourse_effectiveness": bool})
    assert whole_score(as_bool, predicted.astype({D0: bool, D1: bool})) == 1.0


# --- time and memory are bounded by the size of the file --------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        "1" * 2_000_000,
        "1 " * 1_000_000,
        " " * 2_000_000,
        pytest.param(words(0, 99_999) + " 5" * 700_000, marks=pytest.mark.slow),
        "é" * 2_000_000,
    ],
    ids=["digits", "ones", "spaces", "long valid start", "not ASCII"],
)
def test_hostile_cells(truth, cell):
    frame = submission(("A", "Lead", "0 1", 0.5), ("A", "Lead", cell, 0.5))
    tracemalloc.start()
    message = rejection(truth, frame)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "row_id p1 (" in message
    assert len(message) <= 280
    assert memory < 20 * len(cell)
