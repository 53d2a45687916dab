"""Files with one row per essay: the same segments as with one row each, read more quickly."""

import io
import re
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metric
from tests.essays import make_competition
from tests.frames import WHOLE, perfect, solution, submission, whole_score, words
from tests.strategies import Competition, competitions

QUICK = settings(max_examples=60, deadline=None, derandomize=True)
D0, D1 = metric.PROBABILITY_COLUMNS
EXPECTED = (
    "Expected type (Lead, Position, Claim, Counterclaim, Rebuttal, Evidence, Concluding Statement), first "
    "word, last word and probability of effective of each segment, such as 'Lead 0 44 0.8312;Concluding "
    "Statement 380 402 0.1', with words counted from 0, at most 99999; or 'none'."
)


def packed(*essays: tuple[object, object], **columns: list[object]) -> pd.DataFrame:
    """A frame of (essay, cell) rows."""
    return pd.DataFrame(list(essays), columns=["essay_id", "segments"]).assign(**columns)


def pack(frame: pd.DataFrame, essay_id: str = "essay_id") -> pd.DataFrame:
    """One row per essay, segment by segment, with every other column as in the essay's first row."""
    cells: dict[str, list[str]] = {}
    first_rows: dict[str, dict[str, object]] = {}
    for row in frame.to_dict("records"):
        position = [int(word) for word in str(row["predictionstring"]).split()]
        if "discourse_effectiveness" in row:
            d1 = float(row["discourse_effectiveness"])
        else:
            d1 = row[D1] / (row[D0] + row[D1])
        essay = str(row[essay_id])
        cells.setdefault(essay, []).append(f"{row['discourse_type']} {position[0]} {position[-1]} {d1!r}")
        first_rows.setdefault(essay, row)
    columns = [essay_id, *frame.columns.difference([essay_id, "row_id", *metric.TEXT_COLUMNS])]
    rows = [{name: row[name] for name in columns} for row in first_rows.values()]
    return pd.DataFrame(rows, columns=columns).assign(segments=[";".join(parts) for parts in cells.values()])


def named(frame: pd.DataFrame, essay_id: str = "essay_id") -> pd.DataFrame:
    """One row per segment, whose row ids are what the segments are called with one row per essay."""
    essays = frame[essay_id].astype(str)
    place = frame.groupby(essays).cumcount() + 1
    return frame.assign(row_id=essays + ":" + place.astype(str))


# --- the same evaluation, to the last bit -----------------------------------------------------------


def assert_same(one: metric.Evaluation, other: metric.Evaluation) -> None:
    assert one.score == other.score
    assert one.essay_counts.tolist() == other.essay_counts.tolist()
    pd.testing.assert_frame_equal(one.subpopulations, other.subpopulations, check_exact=True)
    segments = [
        evaluation.segments.sort_values(["side", "row_id"], ignore_index=True) for evaluation in (one, other)
    ]
    pd.testing.assert_frame_equal(*segments, check_exact=True)


@pytest.mark.filterwarnings("ignore::metric.TruthOverlapWarning")
@QUICK
@given(competitions())
def test_both_formats_give_the_same_evaluation(competition: Competition) -> None:
    truth, predicted, parameters = competition
    essay_id = parameters["essay_id_column_name"]
    long = metric.evaluate(named(truth, essay_id), named(predicted, essay_id), "row_id", **parameters)
    short = metric.evaluate(pack(truth, essay_id), pack(predicted, essay_id), essay_id, **parameters)
    assert_same(short, long)


@pytest.mark.filterwarnings("ignore::metric.TruthOverlapWarning")
def test_the_formats_of_solution_and_submission_are_independent() -> None:
    truth, predicted = make_competition(50, seed=4)
    predicted[D1] = np.random.default_rng(0).random(len(predicted))
    predicted[D0] = (1 - predicted[D1]) * 0.9995
    expected = metric.evaluate(named(truth), named(predicted), "essay_id")
    for one in (truth, pack(truth)):
        for other in (predicted, pack(predicted)):
            evaluation = metric.evaluate(one, other, "essay_id")
            assert evaluation.score == expected.score
            assert evaluation.essay_counts.tolist() == expected.essay_counts.tolist()


@pytest.mark.filterwarnings("ignore::metric.TruthOverlapWarning")
def test_parts_of_a_solution() -> None:
    truth, predicted = make_competition(60, seed=5)
    short = pack(truth)
    prepared = metric.prepare(short.drop(columns="Usage"), "essay_id")
    digest = prepared.read(pack(predicted))
    for part in ("Public", "Private"):
        rows = (short["Usage"] == part).to_numpy()
        expected = metric.evaluate(named(truth[truth["Usage"] == part]), named(predicted), "row_id")
        assert_same(prepared.part(rows).evaluate(digest), expected)
        some = np.flatnonzero(rows)[::2]
        of_part = prepared.part(rows).part(np.isin(np.flatnonzero(rows), some))
        assert of_part.evaluate(digest).score == metric.score(short.iloc[some], pack(predicted), "essay_id")


def test_rows_in_another_order_give_the_same_score() -> None:
    truth, predicted = map(pack, make_competition(40, seed=6, shared_words=False))
    expected = metric.score(truth, predicted, "essay_id")
    for seed in range(3):
        shuffled = [frame.sample(frac=1, random_state=seed) for frame in (truth, predicted)]
        assert metric.score(*shuffled, "essay_id") == expected


def test_the_truth_itself_scores_one() -> None:
    truth = pack(make_competition(40, seed=6, shared_words=False)[0])
    assert metric.score(truth, truth, "essay_id") == 1.0


def test_none_and_absent_essays_have_no_segments() -> None:
    truth = packed(("A", "Lead 0 9 1"), ("B", "Lead 0 9 1"))
    for predicted in (packed(("A", "Lead 0 9 1"), ("B", "none")), packed(("A", "Lead 0 9 1"))):
        assert metric.score(truth, predicted, "essay_id", **WHOLE) == pytest.approx(2 / 3)
    assert metric.score(truth, packed(("A", "none"), ("B", "none")), "essay_id", **WHOLE) == 0.0
    assert metric.score(truth, packed(), "essay_id", **WHOLE) == 0.0
    with pytest.raises(metric.ParticipantVisibleError, match="none of the submission's essay_id values"):
        metric.score(truth, packed(("Z", "none")), "essay_id", **WHOLE)


def test_segments_are_called_by_row_and_place() -> None:
    truth = packed(("A", "Lead 0 9 1;Claim 10 19 0"), ("B", "Lead 0 9 1"), row_id=[7, 8])
    predicted = packed(("B", "Lead 0 9 1"), ("A", "Lead 0 9 1"), row_id=[1.0, 2.0])
    segments = metric.evaluate(truth, predicted, "row_id", **WHOLE).segments
    assert segments["row_id"].tolist() == ["1:1", "2:1", "7:1", "7:2", "8:1"]
    assert segments["partner"].fillna("-").tolist() == ["8:1", "7:1", "2:1", "-", "1:1"]


# --- reading cells ----------------------------------------------------------------------------------


def literal(cell: str) -> list[tuple[str, int, int, float]] | None:
    """The segments of a cell, read one by one; None if it is not valid."""
    if cell == "none":
        return []
    segments = []
    for part in cell.split(";"):
        types = "|".join(metric.DISCOURSE_TYPES)
        number = r"((?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
        found = re.fullmatch(f"({types}) (0|[1-9][0-9]{{0,4}}) (0|[1-9][0-9]{{0,4}}) {number}", part)
        if not found or int(found[2]) > int(found[3]) or not float(found[4]) <= 1:
            return None
        segments.append((found[1], int(found[2]), int(found[3]), float(found[4])))
    return segments


SPELLED = st.one_of(
    st.floats(0, 1).map(repr),
    st.floats(0, 1).map(lambda number: f"{number:.3e}"),
    st.integers(0, 10**18).map(lambda digits: f"0.{digits}"),
    st.sampled_from(["0", "1", "0.0", "1.0", "1.000000000000000000000", "1e-400", "10E-1", "2", "1.5", "1e1"]),
    st.text("0123456789.eE+-_ infa", max_size=8),
)
PARTS = st.builds(
    lambda *fields: " ".join(fields),
    st.sampled_from([*metric.DISCOURSE_TYPES, "lead", "Leads", "Evident_", ""]),
    st.sampled_from(["0", "7", "44", "99999", "100000", "007", "00", "-1", "+1", "1.0", "", "１"]),
    st.sampled_from(["44", "45", "99999", "402", "100000", "044", "x"]),
    SPELLED,
)
VALID_PARTS = st.builds(
    lambda kind, ends, d1: f"{kind} {min(ends)} {max(ends)} {d1}",
    st.sampled_from(metric.DISCOURSE_TYPES),
    st.tuples(st.integers(0, 99_999), st.integers(0, 99_999)),
    st.floats(0, 1),
)


@st.composite
def cells(draw: st.DrawFn) -> str:
    """A valid cell, or one with a fault somewhere."""
    parts = draw(st.lists(VALID_PARTS, min_size=1, max_size=4))
    kind = draw(st.sampled_from(["as it is", "as it is", "a part", "a character", "none", "anything"]))
    if kind == "a part":
        parts.insert(draw(st.integers(0, len(parts))), draw(PARTS))
    cell = ";".join(parts)
    if kind == "a character":
        place = draw(st.integers(0, len(cell) - 1))
        cell = cell[:place] + draw(st.sampled_from("; 0.-n\n\té")) + cell[place + draw(st.booleans()) :]
    if kind == "none":
        cell = draw(st.sampled_from(["none", "None", "none;none", " none", "none "]))
    return draw(st.text(max_size=20)) if kind == "anything" else cell


@settings(QUICK, max_examples=300)
@given(st.lists(cells(), max_size=5))
def test_cells_are_read_as_one_would_by_hand(texts: list[str]) -> None:
    segments, faulty = metric.parse_segments(texts)
    expected = [literal(text) for text in texts]
    assert faulty.tolist() == [segments is None for segments in expected]
    columns = zip(
        segments.essay.tolist(),
        [metric.DISCOURSE_TYPES[number] for number in segments.discourse_type],
        segments.first.tolist(),
        segments.last.tolist(),
        segments.d1.tolist(),
    )
    assert [(cell, *rest) for cell, *rest in columns if not faulty[cell]] == [
        (cell, *segment) for cell, parts in enumerate(expected) if parts for segment in parts
    ]
    assert (segments.d0 == 1 - segments.d1).all()
    assert segments.row.tolist() == list(range(len(segments.row)))
    # And a reason is found for every fault.
    for text in np.array(texts, dtype=object)[faulty]:
        assert metric._why_not_segments(text)


def test_the_generated_cells_are_both_valid_and_not() -> None:
    seen = {True: 0, False: 0}

    @settings(QUICK, max_examples=200)
    @given(cells())
    def look(cell: str) -> None:
        seen[literal(cell) is None] += 1

    look()
    assert min(seen.values()) > 50


@settings(QUICK, max_examples=200)
@given(st.floats(0, 1))
def test_probabilities_are_read_to_the_last_bit(number: float) -> None:
    for spelled in (repr(number), f"{number:.17f}", f"{number:.20f}", f"{number:.16e}", f"{number:.4f}"):
        segments, faulty = metric.parse_segments([f"Lead 0 1 {spelled}"])
        assert (segments.d1.tolist(), faulty.tolist()) == ([float(spelled)], [False])


@QUICK
@given(st.floats(0, 1), st.floats(-0.001, 0.001))
def test_pairs_of_probabilities_normalise_alike(d1: float, error: float) -> None:
    d0 = min(max(1 - d1 + error, 0.0), 1.0)
    long = submission(("A", "Lead", "0 1", d1)).assign(**{D0: d0})
    short = metric.read(pack(long), "essay_id").segments
    segments = metric.read(long, "row_id").segments
    assert (segments.d0[0], segments.d1[0]) == (short.d0[0], short.d1[0])
    # What is unpacked and packed again stays as it is.
    again = submission(("A", "Lead", "0 1", short.d1[0])).assign(**{D0: short.d0[0]})
    assert metric.read(again, "row_id").segments.d1[0] == short.d1[0]


# --- the participant's faults -----------------------------------------------------------------------


@pytest.fixture
def truth() -> pd.DataFrame:
    return packed(("A", "Lead 0 9 1;Claim 10 19 0"), ("B", "Evidence 5 9 1"))


def rejection(truth: pd.DataFrame, predicted: pd.DataFrame, row_id: str = "essay_id") -> str:
    """The participant's message, the same whatever the solution is."""
    messages = set()
    for other in (truth, solution(("Q", "Rebuttal", "99", 0)), truth.assign(essay_id=["C", "B"])):
        with pytest.raises(metric.ParticipantVisibleError) as caught:
            metric.score(other.assign(row_id=range(len(other))), predicted, row_id, **WHOLE)
        messages.add(str(caught.value))
    assert len(messages) == 1
    return messages.pop()


def complaint(truth: pd.DataFrame, **parameters: object) -> str:
    with pytest.raises(metric.HostVisibleError) as caught:
        metric.score(truth, packed(("A", "none")), "essay_id", **(WHOLE | parameters))
    return str(caught.value)


NOT_FOUR = "not a type, two positions and a probability, separated by single spaces"


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("", "empty"),
        ("  ", "empty"),
        (None, "empty"),
        (np.nan, "empty"),
        ("None", f"segment 1, 'None': {NOT_FOUR}"),
        ("none;none", f"segment 1, 'none': {NOT_FOUR}"),
        ("Lead 0 44 0.8;none", f"segment 2, 'none': {NOT_FOUR}"),
        ("Lead 0 44", f"segment 1, 'Lead 0 44': {NOT_FOUR}"),
        ("Lead  0 44 1", f"segment 1, 'Lead  0 44 1': {NOT_FOUR}"),
        ("Lead 0 44 0.5\tx", r"segment 1, 'Lead 0 44 0.5\tx': '0.5\tx' is not a number from 0 to 1"),
        ("Lead 0 4 1;", "segment 2, '': empty"),
        (";Lead 0 4 1", "segment 1, '': empty"),
        ("Lead 0 4 1;;Lead 5 6 1", "segment 2, '': empty"),
        ("lead 0 4 1", "segment 1, 'lead 0 4 1': 'lead' is not a discourse type"),
        (" Lead 0 4 1", "segment 1, ' Lead 0 4 1': ' Lead' is not a discourse type"),
        ("Lead 0 4 1; Lead 5 6 1", "segment 2, ' Lead 5 6 1': ' Lead' is not a discourse type"),
        ("Lead,0 4 0 1", "segment 1, 'Lead,0 4 0 1': 'Lead,0' is not a discourse type"),
        ("0 44 0.8 1", "segment 1, '0 44 0.8 1': '0' is not a discourse type"),
        ("Lead 05 9 1", "segment 1, 'Lead 05 9 1': '05' has a leading zero"),
        ("Lead 0 00 1", "segment 1, 'Lead 0 00 1': '00' has a leading zero"),
        ("Lead -1 4 1", "segment 1, 'Lead -1 4 1': '-1' is not a whole number written in digits"),
        ("Lead 0 4.0 1", "segment 1, 'Lead 0 4.0 1': '4.0' is not a whole number written in digits"),
        ("Lead 1 １ 1", "segment 1, 'Lead 1 １ 1': '１' is not a whole number written in digits"),
        ("Lead 0 100000 1", "segment 1, 'Lead 0 100000 1': '100000' is above 99999"),
        ("Lead 5 4 1", "segment 1, 'Lead 5 4 1': 5 is after 4"),
        ("Lead 0 4 1.01", "segment 1, 'Lead 0 4 1.01': '1.01' is not a number from 0 to 1"),
        ("Lead 0 4 -0.1", "segment 1, 'Lead 0 4 -0.1': '-0.1' is not a number from 0 to 1"),
        ("Lead 0 4 +0.1", "segment 1, 'Lead 0 4 +0.1': '+0.1' is not a number from 0 to 1"),
        ("Lead 0 4 .5", "segment 1, 'Lead 0 4 .5': '.5' is not a number from 0 to 1"),
        ("Lead 0 4 1.", "segment 1, 'Lead 0 4 1.': '1.' is not a number from 0 to 1"),
        ("Lead 0 4 00.5", "segment 1, 'Lead 0 4 00.5': '00.5' is not a number from 0 to 1"),
        ("Lead 0 4 0_1", "segment 1, 'Lead 0 4 0_1': '0_1' is not a number from 0 to 1"),
        ("Lead 0 4 nan", "segment 1, 'Lead 0 4 nan': 'nan' is not a number from 0 to 1"),
        ("Lead 0 4 inf", "segment 1, 'Lead 0 4 inf': 'inf' is not a number from 0 to 1"),
        ("Lead 0 4 0,5", "segment 1, 'Lead 0 4 0,5': '0,5' is not a number from 0 to 1"),
        ("Lead 0 4 é", "segment 1, 'Lead 0 4 é': 'é' is not a number from 0 to 1"),
        ("Lead 0 4 1\n", r"segment 1, 'Lead 0 4 1\n': '1\n' is not a number from 0 to 1"),
        ("Lead 0 4 1\nLead 5 6 1", r"segment 1, 'Lead 0 4 1\nLead 5 6 1': 'Lead 0 4 1\nLead' is not a discourse"
         " type"),
        (0.5, f"segment 1, '0.5': {NOT_FOUR}"),
        ("exit('')", f"segment 1, 'exit('')': {NOT_FOUR}"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_cell(truth, cell, reason):
    predicted = packed(("A", "Lead 0 9 1"), ("B", cell), ("C", "none"))
    assert rejection(truth, predicted) == (
        f"segments is wrong in 1 row of the submission: essay_id B ({reason}). {EXPECTED}"
    )


def test_rows_are_named_by_their_ids(truth):
    predicted = packed(*((f"E{number}", f"Claim {number % 7} 5 0.5") for number in range(70)))
    predicted["row_id"] = range(100, 170)
    message = rejection(truth, predicted, "row_id")
    assert message.startswith(
        "segments is wrong in 10 rows of the submission: row_id 106 (segment 1, 'Claim 6 5 0.5'"
    )
    assert "row_id 134 (" in message
    assert "row_id 141" not in message
    assert "and 5 more. Expected" in message


def test_an_essay_has_one_row(truth):
    predicted = packed(("A", "Lead 0 9 1"), (7, "none"), ("A", "none"), ("7", "none"))
    predicted["row_id"] = ["p0", "p1", "p2", "p3"]
    assert rejection(truth, predicted, "row_id") == (
        "essay_id is wrong in 2 rows of the submission: row_id p2 ('A' again), row_id p3 ('7' again). "
        "Expected one row per essay."
    )
    assert complaint(packed(("A", "Lead 0 9 1"), ("A", "Lead 0 9 1"))) == (
        "essay_id is wrong in 1 row of the solution: essay_id A ('A' again). Expected one row per essay."
    )


def test_columns(truth):
    assert rejection(truth, packed(("A", "none")).drop(columns="essay_id").assign(row_id=1), "row_id") == (
        "the submission lacks columns: essay_id. It has: segments, row_id."
    )
    message = rejection(truth, pd.DataFrame({"essay_id": ["A"], "segment": ["none"]}))
    assert message == (
        "the submission lacks columns: discourse_type, predictionstring, score_discourse_effectiveness_0, "
        "score_discourse_effectiveness_1. It has: essay_id, segment. With one row per essay it would need the "
        "column segments."
    )
    twice = pd.concat([packed(("A", "none"))] * 2, axis=1)
    assert "more than one column named essay_id, segments" in rejection(truth, twice)


def test_missing_ids(truth):
    assert "essay_id is wrong in 1 row of the submission: row number 2 (missing)" in rejection(
        truth, packed(("A", "none"), (None, "none"))
    )


# --- the host's faults ------------------------------------------------------------------------------


def test_an_essay_without_truth_cannot_be_scored(truth):
    truth.loc[1, "segments"] = "none"
    assert complaint(truth) == (
        "segments is wrong in 1 row of the solution: essay_id B ('none'). Expected at least one segment per "
        "essay; without truth there is nothing to score."
    )


def test_labels_are_0_or_1(truth):
    truth.loc[1, "segments"] = "Evidence 5 9 1.0;Claim 10 11 0e0;Claim 12 13 0.25;Claim 14 15 0.5"
    assert complaint(truth) == (
        "segments is wrong in 1 row of the solution: essay_id B (0.25 in place of a label). Expected 0 or 1 as "
        "the label of every segment."
    )
    truth.loc[1, "segments"] = "Evidence 5 9 1.0;Claim 10 11 0e0"
    assert metric.score(truth, truth, "essay_id", **WHOLE) == 1.0


def test_other_faults_of_the_solution(truth):
    assert complaint(truth.head(0)) == "the solution has no rows."
    assert "segments is wrong in 1 row of the solution: essay_id A (segment 1, 'Head 0 9 1'" in complaint(
        truth.replace("Lead", "Head", regex=True)
    )
    message = complaint(truth, subpopulation_column_names="ell_status")
    assert message.startswith("the solution lacks columns: ell_status.")


def test_demographics_are_per_row(truth):
    truth["ell_status"] = ["No", None]
    evaluation = metric.evaluate(truth, truth, "essay_id", subpopulation_column_names="ell_status")
    assert evaluation.subpopulations["value"].tolist() == ["No", metric.MISSING]


# --- frames as they come ----------------------------------------------------------------------------


def string_kinds():
    yield "object", lambda column: column.astype(object)
    yield "category", lambda column: column.astype("category")
    yield "string", lambda column: column.astype("string[python]")
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return
    yield "arrow string", lambda column: column.astype("string[pyarrow]")


@pytest.mark.parametrize(("name", "convert"), list(string_kinds()), ids=lambda value: str(value)[:12])
def test_kinds_of_string_columns(truth, name, convert):
    converted = truth.assign(segments=convert(truth["segments"]), essay_id=convert(truth["essay_id"]))
    assert metric.score(converted, converted, "essay_id", **WHOLE) == 1.0


def test_frames_stay_unchanged(truth):
    copy = truth.copy(deep=True)
    evaluation = metric.evaluate(truth, truth, "essay_id", **WHOLE)
    truth.loc[:, "essay_id"] = "changed"
    assert evaluation.segments["row_id"].tolist() == ["A:1", "A:2", "B:1"] * 2
    pd.testing.assert_frame_equal(copy.drop(columns="essay_id"), truth.drop(columns="essay_id"))


def test_other_columns_and_any_index(truth):
    other = truth.assign(predictionstring="x", discourse_type="x", Usage="Public").set_index(pd.Index([5, 5]))
    assert metric.score(other, other, "essay_id", **WHOLE) == 1.0


def test_after_a_csv_file(truth):
    again = pd.read_csv(io.StringIO(truth.to_csv(index=False)))
    assert metric.score(again, again, "essay_id", **WHOLE) == 1.0


def test_the_long_format_normalises_as_before():
    """d[0] is 1 - d[1]: exact for labels, within rounding for the rest."""
    truth = solution(("A", "Lead", words(0, 9), 0))
    predicted = perfect(truth).drop(columns="discourse_effectiveness")
    assert whole_score(truth, predicted) == 1.0
    digest = metric.read(predicted.assign(**{D0: 0.2, D1: 0.7995}), "row_id").segments
    assert digest.d1[0] == 0.7995 / (0.2 + 0.7995)
    assert digest.d0[0] == 1 - digest.d1[0]


# --- time and memory are bounded by the size of the file --------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        ";" * 2_000_000,
        " " * 2_000_000,
        "; " * 1_000_000,
        "Lead 0 0 0;" * 45_000,
        "Lead 0 0 0." + "1" * 2_000_000,
        "Lead 0 0 1" + "0" * 2_000_000,
        "Lead 0 " + "1" * 2_000_000 + " 1",
        "Concluding Statement 0 0 0.12345678901234567;" * 11_000,
        "é" * 2_000_000,
        "\n" * 2_000_000,
    ],
    ids=["semicolons", "spaces", "both", "short", "decimals", "integer", "position", "long", "é", "lines"],
)
def test_hostile_cells(truth, cell):
    frame = packed(("A", "Lead 0 9 0.5"), ("B", cell + ";x"))
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(metric.ParticipantVisibleError) as caught:
        metric.score(truth, frame, "essay_id", **WHOLE)
    seconds = time.process_time() - start
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "essay_id B (segment" in str(caught.value)
    assert len(str(caught.value)) < 900
    # Linear work on 2 MB takes a second or two; a quadratic step would take an hour.
    assert seconds < 30
    assert memory < 30 * len(cell)
