"""`metric.py` equals the literal transcription of its memo, on many small competitions and on real data.

The transcription says what the right numbers are. Further properties find errors that two implementations could
have in common. Hypothesis derives its examples from each test's code, so every run sees the same ones.
"""

import math
import random
import re
import warnings
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metric
from podium import scoring, statistics
from tests.support import unified
from tests.support import unified_transcription as transcription
from tests.support.examples import examples
from tests.support.strategies import ATTRIBUTES, Competition, competitions
from tests.support.unified_transcription import DISCOURSE_TYPES

pytestmark = pytest.mark.filterwarnings("ignore::metric.TruthOverlapWarning")

QUICK = settings(examples(50), derandomize=True)
BRIEF = settings(examples(20), derandomize=True)
THOROUGH = settings(QUICK, max_examples=2000)

FP1 = Path(__file__).parents[3] / "shared" / "data" / "fp1"
needs_fp1 = pytest.mark.skipif(not FP1.is_dir(), reason="needs ../shared/data/fp1")

SEEDS = st.integers(0, 2**16)


def score(competition: Competition) -> float:
    """The score by the hosted file."""
    return metric.score(competition.solution, competition.submission, "row_id", **competition.parameters)


def evaluate(competition: Competition) -> scoring.Evaluation:
    """The score by the package, with its explanation."""
    return unified.evaluate(competition.solution, competition.submission, **competition.parameters)


def transcribe(competition: Competition) -> transcription.Result:
    """The score by the slow, literal transcription."""
    return transcription.evaluate(competition.solution, competition.submission, **competition.parameters)


def rows_of(table: pd.DataFrame) -> list[Any]:
    """The rows of a table as named tuples."""
    return list(table.itertuples(index=False))


def close(expected: Any) -> Any:
    """A value from which rounding alone may differ."""
    return pytest.approx(expected, rel=0, abs=1e-9)


# The transcription itself


def segment(
    first: int, last: int, d: tuple[float, float] = (0.0, 1.0), discourse_type: str = "Claim", row: int = 0
) -> transcription.Segment:
    """A segment of the transcription, with the words from the first to the last one."""
    return transcription.Segment(row, "essay", discourse_type, set(range(first, last + 1)), d)


def test_transcription_removes_the_overlaps_of_the_memos_example() -> None:
    spans = {"A": (50, 64), "B": (10, 29), "C": (25, 44), "D": (90, 99), "E": (80, 94), "F": (45, 69)}
    segments = [segment(*span, row=row) for row, span in enumerate(spans.values())]
    left = {"ABCDEF"[s.row]: (min(s.words), max(s.words)) for s in transcription.remove_overlaps(segments)}
    assert left == {"B": (10, 29), "C": (30, 44), "D": (95, 99), "E": (80, 94), "F": (45, 69)}


def test_transcription_discards_a_trimmed_word_and_keeps_a_whole_one() -> None:
    segments = [segment(0, 4, row=0), segment(4, 5, row=1), segment(5, 7, row=2), segment(9, 9, row=3)]
    left = {s.row: s.words for s in transcription.remove_overlaps(segments)}
    assert left == {0: {0, 1, 2, 3, 4}, 2: {6, 7}, 3: {9}}  # row 1 is discarded, its word 5 stays used


@pytest.mark.parametrize(
    ("prediction", "truth", "d_effective", "tp"),
    [
        ((0, 9), (1, 10), 0.8, 0.809),
        ((0, 9), (1, 10), 0.4, 0.609),
        ((0, 9), (3, 12), 0.8, 0.669),
        ((0, 4), (1, 10), 1.0, 0),
        ((0, 5), (0, 9), 1.0, 0.8),
    ],
    ids="abcde",
)
def test_transcription_gives_the_memos_table_1(
    prediction: tuple[int, int], truth: tuple[int, int], d_effective: float, tp: float
) -> None:
    predictions, truths = [segment(*prediction, (1 - d_effective, d_effective))], [segment(*truth)]
    matches = transcription.match(predictions, truths, overlap_threshold=0.51, segment_weight=0.5)
    counts = transcription.count(predictions, truths, matches)
    assert counts.tp == pytest.approx(tp, abs=5e-4)
    assert counts.tp + counts.fn == 1
    assert counts.fp == (tp == 0)


def test_transcription_gives_the_memos_softmin() -> None:
    scores, sizes = [0.6, 0.8], [5, 5]

    def nu(temperature: float) -> float:
        return transcription.softmin(scores, transcription.softmin_weights(scores, sizes, temperature))

    assert nu(0) == pytest.approx(0.7)
    assert nu(math.inf) == 0.6
    assert nu(10) == pytest.approx((0.6 * math.exp(-6) + 0.8 * math.exp(-8)) / (math.exp(-6) + math.exp(-8)))


# Equal to the transcription


def assert_equal_to_transcription(
    competition: Competition, evaluation: scoring.Evaluation, expected: transcription.Result
) -> None:
    """Check that the hosted file, the package and the transcription agree on everything."""
    assert score(competition) == evaluation.score
    assert abs(evaluation.score - expected.score) <= 1e-12

    essays = evaluation.prepared.items
    assert sorted(essays) == sorted(expected.essay_counts)
    counts = [[expected.essay_counts[essay][kind] for kind in DISCOURSE_TYPES] for essay in essays]
    np.testing.assert_allclose(
        evaluation.explanation.essay_counts, np.array(counts, dtype=float), rtol=0, atol=1e-9
    )

    assert_same_subpopulations(evaluation, expected, competition.parameters["temperature"])
    assert_same_classes(evaluation, expected)


def names(subpopulation: transcription.Subpopulation) -> tuple[str, str]:
    """The attribute and value of a sub-population, as the tables of `metric.py` show them."""
    if not subpopulation.attributes:
        return "(all)", "(all)"
    values = ["(missing)" if value is None else value for value in subpopulation.values]
    return " & ".join(subpopulation.attributes), " & ".join(values)


def assert_same_subpopulations(
    evaluation: scoring.Evaluation, expected: transcription.Result, temperature: float
) -> None:
    """Check sizes, scores and weights of all sub-populations against the transcription."""
    table = evaluation.explanation.groups
    assert evaluation.explanation.scores.tolist() == table["score"].tolist()
    assert len(table) == len(expected.subpopulations)
    rows = {(row.attribute, row.value): row for row in rows_of(table)}
    assert len(rows) == len(table)
    # Scores that differ in their last bit may tie for the minimum in only one of the two.
    same_bits = all(rows[names(s)].score == s.score for s in expected.subpopulations)
    for subpopulation in expected.subpopulations:
        row = rows[names(subpopulation)]
        assert row.essays == len(subpopulation.essays)
        assert row.score == close(subpopulation.score)
        if same_bits or not math.isinf(temperature):
            assert row.weight == close(subpopulation.weight)
    if math.isinf(temperature):
        lowest = table["score"] <= table["score"].min() + 1e-9
        assert table["weight"].sum() == close(1)
        assert (table["weight"][~lowest] == 0).all()


def assert_same_classes(evaluation: scoring.Evaluation, expected: transcription.Result) -> None:
    """Check the counts of all types in all sub-populations against the transcription."""
    table = evaluation.explanation.classes
    rows = {(row.attribute, row.value, row.discourse_type): row for row in rows_of(table)}
    assert len(rows) == len(table)
    populations = {names(subpopulation): subpopulation.essays for subpopulation in expected.subpopulations}
    populations["(all)", "(all)"] = list(expected.essay_counts)
    assert len(rows) == len(populations) * len(DISCOURSE_TYPES)
    for (attribute, value), essays in populations.items():
        for kind in DISCOURSE_TYPES:
            row = rows[attribute, value, kind]
            tp, fp, fn = (sum(expected.essay_counts[essay][kind][i] for essay in essays) for i in range(3))
            assert (row.tp, row.fp, row.fn) == close((tp, fp, fn))
            if tp + fn > 0:
                assert row.f1 == close(transcription.f1(tp, fp, fn))
                assert row.recall == close(tp / (tp + fn))
            else:
                assert math.isnan(row.f1)
                assert math.isnan(row.recall)
            if tp + fp > 0:
                assert row.precision == close(tp / (tp + fp))


@QUICK
@given(competitions())
def test_equal_to_transcription(competition: Competition) -> None:
    assert_equal_to_transcription(competition, evaluate(competition), transcribe(competition))


@pytest.mark.slow
@THOROUGH
@given(competitions())
def test_equal_to_transcription_on_2000_competitions(competition: Competition) -> None:
    evaluation, expected = evaluate(competition), transcribe(competition)
    assert_equal_to_transcription(competition, evaluation, expected)
    assert_same_segments(competition, evaluation, expected)


def read_fp1(essays: int | None) -> Competition:
    """The first essays of the Feedback-Prize pair, or all of them."""
    text = {"essay_id": str, "predictionstring": str, "discourse_type": str}
    solution = pd.read_csv(FP1 / "solution.csv.gz", dtype=text)
    submission = pd.read_csv(FP1 / "submission.csv.gz", dtype=text)
    known = solution["essay_id"].unique()[:essays]
    defaults = {"subpopulation_column_names": ",".join(ATTRIBUTES[:2]), "temperature": 65.0}
    return Competition(
        solution[solution["essay_id"].isin(known)], submission[submission["essay_id"].isin(known)], defaults
    )


@needs_fp1
def test_equal_to_transcription_on_some_feedback_prize_essays() -> None:
    competition = read_fp1(essays=300)
    assert_equal_to_transcription(competition, evaluate(competition), transcribe(competition))
    assert_same_segments(competition, evaluate(competition), transcribe(competition))


@pytest.mark.slow
@needs_fp1
def test_equal_to_transcription_on_all_feedback_prize_essays() -> None:
    competition = read_fp1(essays=None)
    assert abs(score(competition) - transcribe(competition).score) <= 1e-12


def test_missing_values_are_apart_from_the_text_that_labels_them() -> None:
    values = pd.Series(["(missing)", None], dtype=object)
    solution = frame_of("A 0 1 Claim 1", "B 0 1 Claim 1").assign(ell_status=values)
    submission = perfect(solution.head(1), "essay_id")
    competition = Competition(solution, submission, {"subpopulation_column_names": "ell_status"})
    assert [s.score for s in transcribe(competition).subpopulations] == [1, 0]
    assert evaluate(competition).explanation.groups["essays"].tolist() == [1, 1]
    assert abs(score(competition) - transcribe(competition).score) <= 1e-12


def test_combinations_are_apart_though_they_read_the_same() -> None:
    solution = frame_of("A 0 1 Claim 1", "B 0 1 Claim 1").assign(x=["a & b", "a"], y=["c", "b & c"])
    submission = perfect(solution.head(1), "essay_id")
    parameters = {"subpopulation_column_names": "x,y", "intersectional": True, "temperature": 0.0}
    competition = Competition(solution, submission, parameters)
    assert [s.score for s in transcribe(competition).subpopulations] == [1, 0]
    assert evaluate(competition).explanation.groups["essays"].tolist() == [1, 1]
    assert score(competition) == transcribe(competition).score == 0.5


SHORT, LONG = "A 0 13 Claim 1", "A 0 24 Claim 1"


@pytest.mark.parametrize(("prediction", "truth"), [(SHORT, LONG), (LONG, SHORT)])
def test_the_threshold_is_compared_with_a_quotient(prediction: str, truth: str) -> None:
    solution, submission = frame_of(truth), perfect(frame_of(prediction), "essay_id")
    parameters = {"subpopulation_column_names": "", "overlap_threshold": 0.56}
    competition = Competition(solution, submission, parameters)
    assert 14 / 25 >= 0.56
    assert 14 < 0.56 * 25
    assert score(competition) == transcribe(competition).score > 0.5


def frame_of(*rows: str) -> pd.DataFrame:
    """A solution from lines with an essay, the first and last word, the type and the effectiveness."""
    cells = [row.split(maxsplit=4) for row in rows]
    return pd.DataFrame(
        {
            "row_id": range(len(rows)),
            "essay_id": [essay for essay, *_ in cells],
            "discourse_type": [kind for _, _, _, kind, _ in cells],
            "predictionstring": [" ".join(map(str, range(int(a), int(b) + 1))) for _, a, b, _, _ in cells],
            "discourse_effectiveness": [int(label) for *_, label in cells],
        }
    )


# What became of each segment

OTHER = {"prediction": "truth", "truth": "prediction"}


class Fate(NamedTuple):
    """What `Explanation.rows` should say about a segment."""

    outcome: str
    words_kept: int
    match: transcription.Match | None


def contents(segment: transcription.Segment) -> tuple[Any, ...]:
    """Everything that counts of a segment (d[0] follows from d[1]): rows with equal contents are
    interchangeable.
    """
    return segment.essay, segment.discourse_type, min(segment.words), max(segment.words), segment.d[1]


def assert_same_segments(
    competition: Competition, evaluation: scoring.Evaluation, expected: transcription.Result
) -> None:
    """Check that every row of `Explanation.rows` follows from the transcription's sets, and the counts from
    the rows.
    """
    essay_id = competition.parameters.get("essay_id_column_name", "essay_id")
    files = {
        "prediction": transcription.read_predictions(competition.submission, essay_id),
        "truth": transcription.read_truths(competition.solution, essay_id),
    }
    row_ids = {"prediction": competition.submission["row_id"], "truth": competition.solution["row_id"]}
    segment_of = {
        (side, row_id): segment
        for side, segments in files.items()
        for row_id, segment in zip(row_ids[side], segments, strict=True)
    }
    contents_of = {key: contents(segment) for key, segment in segment_of.items()}
    fates = fates_of(files, expected, competition.parameters.get("overlap_threshold", 0.51))
    assert len(evaluation.explanation.rows) == len(segment_of) == len(fates)

    rows_of_contents: defaultdict[Any, list[Any]] = defaultdict(list)
    for row in rows_of(evaluation.explanation.rows):
        segment = segment_of.pop((row.side, row.row_id))  # each once
        assert (row.essay_id, row.discourse_type, row.first, row.last) == contents(segment)[:4]
        assert row.words == len(segment.words)
        rows_of_contents[row.side, contents(segment)].append(row)
    wanted: defaultdict[Any, list[Fate]] = defaultdict(list)
    for (side, number), fate in fates.items():
        wanted[side, contents(files[side][number])].append(fate)
    for (side, key), copies in wanted.items():
        # If rows are equal, either of them may be the one that is kept.
        rows = sorted(rows_of_contents[side, key], key=lambda row: -row.words_kept)
        for row, fate in zip(rows, sorted(copies, key=lambda fate: -fate.words_kept), strict=True):
            assert (row.outcome, row.words_kept) == (fate.outcome, fate.words_kept)
            if fate.match is None:
                assert row.tp == 0
                assert math.isnan(row.effectiveness)
            else:
                prediction, truth = fate.match.prediction, fate.match.truth
                partner = files[OTHER[side]][(truth if side == "prediction" else prediction).row]
                assert contents_of[OTHER[side], row.partner] == contents(partner)
                assert (row.iou, row.tp) == close((fate.match.iou, fate.match.tp))
                assert (row.overlap_prediction, row.overlap_truth) == close(shares_of(prediction, truth))
                assert row.effectiveness == close(prediction.d[truth.d.index(1)])

    assert_segments_add_up(evaluation)


def fates_of(
    files: dict[str, list[transcription.Segment]], expected: transcription.Result, threshold: float
) -> dict[tuple[str, int], Fate]:
    """The fate of each segment by its side and its position in the file."""
    kept = {
        "prediction": {segment.row: segment for segment in expected.predictions},
        "truth": {segment.row: segment for segment in expected.truths},
    }
    by_essay = {side: transcription.by_essay(list(segments.values())) for side, segments in kept.items()}
    matches = {("prediction", match.prediction.row): match for match in expected.matches}
    matches |= {("truth", match.truth.row): match for match in expected.matches}

    def fate_of(side: str, segment: transcription.Segment) -> Fate:
        if segment.essay not in expected.essay_counts:
            return Fate("unknown essay", 0, None)
        if segment.row not in kept[side]:
            return Fate("discarded", 0, None)
        this = kept[side][segment.row]
        match = matches.get((side, segment.row))
        if match is not None:
            return Fate("matched", len(this.words), match)
        others = by_essay[OTHER[side]].get(this.essay, [])
        return Fate(unmatched(side, segment, this, others, threshold), len(this.words), None)

    return {
        (side, segment.row): fate_of(side, segment) for side, segments in files.items() for segment in segments
    }


def unmatched(
    side: str,
    as_given: transcription.Segment,
    this: transcription.Segment,
    others: list[transcription.Segment],
    threshold: float,
) -> str:
    """The outcome of an unmatched segment, both as given and as overlap removal left it."""
    if side == "truth":
        return "missed"
    if any(transcription.overlaps_enough(this, that, threshold) for that in others):
        return "wrong type"
    if any(this.words & that.words for that in others) or any(
        transcription.overlaps_enough(as_given, that, threshold)
        for that in others
        if that.discourse_type == as_given.discourse_type
    ):
        return "too little overlap"
    return "no truth there"


def shares_of(prediction: transcription.Segment, truth: transcription.Segment) -> tuple[float, float]:
    """The shares o_P and o_G."""
    shared = len(prediction.words & truth.words)
    return shared / len(prediction.words), shared / len(truth.words)


def assert_segments_add_up(evaluation: scoring.Evaluation) -> None:
    """Check that the counts are sums over the table of segments."""
    sums = np.zeros_like(evaluation.explanation.essay_counts)
    numbers = {essay: number for number, essay in enumerate(evaluation.prepared.items)}
    for row in rows_of(evaluation.explanation.rows):
        if row.outcome not in ("discarded", "unknown essay"):
            of_essay_and_type = sums[numbers[row.essay_id], DISCOURSE_TYPES.index(row.discourse_type)]
            if row.side == "prediction":
                of_essay_and_type[:2] += row.tp, row.outcome != "matched"
            else:
                of_essay_and_type[2] += 1 - row.tp
    np.testing.assert_allclose(sums, evaluation.explanation.essay_counts, rtol=0, atol=1e-9)


@BRIEF
@given(competitions())
def test_segments_equal_to_transcription(competition: Competition) -> None:
    assert_same_segments(competition, evaluate(competition), transcribe(competition))


# Properties


@BRIEF
@given(competitions(), SEEDS)
def test_rows_index_and_extra_columns_never_count(competition: Competition, seed: int) -> None:
    assert_same_when_disguised(competition, seed)


@pytest.mark.slow
@settings(QUICK, max_examples=500)
@given(competitions(), SEEDS)
def test_rows_index_and_extra_columns_never_count_in_500_competitions(
    competition: Competition, seed: int
) -> None:
    assert_same_when_disguised(competition, seed)


def assert_same_when_disguised(competition: Competition, seed: int) -> None:
    """Check that the score is the same to the last bit."""
    before = score(competition)
    solution = disguised(competition.solution, seed)
    submission = disguised(competition.submission, seed + 1)
    assert score(Competition(solution, submission, competition.parameters)) == before


def disguised(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The table with rows and columns in another order, a meaningless index and columns that nobody needs."""
    shuffled = frame.sample(frac=1, random_state=seed)
    shuffled.index = pd.Index([seed % 7] * len(frame), name="essay_id")
    return shuffled[shuffled.columns[::-1]].assign(Usage="Public", **{"Unnamed: 0": range(len(frame))})


@BRIEF
@given(competitions())
def test_prepared_solution_scores_the_same(competition: Competition) -> None:
    prepared = metric.prepare(competition.solution, "row_id", **competition.parameters)
    for submission in (competition.submission, competition.submission.head(0), competition.submission):
        measures = statistics.measures(prepared, prepared.statistics(submission))
        assert measures["score"] == score(competition._replace(submission=submission))


@BRIEF
@given(competitions())
def test_frames_stay_as_they_are(competition: Competition) -> None:
    solution, submission = competition.solution.copy(deep=True), competition.submission.copy(deep=True)
    _ = evaluate(competition).explanation.rows
    pd.testing.assert_frame_equal(competition.solution, solution)
    pd.testing.assert_frame_equal(competition.submission, submission)


@BRIEF
@given(competitions())
def test_a_perfect_submission_scores_exactly_one(competition: Competition) -> None:
    submission = perfect(competition.solution, competition.parameters["essay_id_column_name"])
    assert score(competition._replace(submission=submission)) == 1


def perfect(solution: pd.DataFrame, essay_id: str) -> pd.DataFrame:
    """The solution as a submission, with its overlaps."""
    label = solution["discourse_effectiveness"]
    return solution[["row_id", essay_id, "discourse_type", "predictionstring"]].assign(
        score_discourse_effectiveness_0=1 - label, score_discourse_effectiveness_1=label
    )


@BRIEF
@given(competitions())
def test_score_lies_between_the_lowest_and_the_mean(competition: Competition) -> None:
    evaluation = evaluate(competition)
    table = evaluation.explanation.groups
    mean = (table["score"] * table["essays"]).sum() / table["essays"].sum()
    assert 0 <= evaluation.score <= 1
    assert table["score"].min() - 1e-12 <= evaluation.score <= mean + 1e-12
    assert table["weight"].sum() == close(1)


@BRIEF
@given(competitions(), SEEDS)
def test_names_of_essays_never_count(competition: Competition, seed: int) -> None:
    essay_id = competition.parameters["essay_id_column_name"]
    columns = [file[essay_id].astype(str) for file in (competition.solution, competition.submission)]
    essays = pd.concat(columns).unique()
    names_now = dict(zip(essays, random.Random(seed).sample(range(1000), len(essays)), strict=True))
    solution = competition.solution.assign(**{essay_id: columns[0].map(names_now)})
    submission = competition.submission.assign(**{essay_id: columns[1].map(names_now)})
    other = competition._replace(solution=solution, submission=submission)
    assert abs(score(other) - score(competition)) <= 1e-12


@BRIEF
@given(competitions(), st.integers(0, 5), st.integers(0, 6), st.integers(0, 35), st.integers(1, 5))
def test_a_stray_prediction_never_helps(
    competition: Competition, essay_number: int, type_number: int, first: int, words: int
) -> None:
    essay_id = competition.parameters["essay_id_column_name"]
    truths = transcription.by_essay(transcription.read_truths(competition.solution, essay_id))
    predictions = transcription.by_essay(transcription.read_predictions(competition.submission, essay_id))
    essay = sorted(truths)[essay_number % len(truths)]

    # On the first words from `first` on that no prediction holds, of the first type that matches nothing there.
    used = set().union(*(prediction.words for prediction in predictions.get(essay, [])))
    while used & set(range(first, first + words)):
        first += 1
    stray = segment(first, first + words - 1, (0.5, 0.5))
    threshold = competition.parameters["overlap_threshold"]
    types_there = {
        truth.discourse_type
        for truth in transcription.remove_overlaps(truths[essay])
        if transcription.overlaps_enough(stray, truth, threshold)
    }
    types = [DISCOURSE_TYPES[(type_number + shift) % 7] for shift in range(7)]
    stray = stray._replace(discourse_type=next(kind for kind in types if kind not in types_there))
    row = {
        "row_id": "stray",
        essay_id: essay,
        "discourse_type": stray.discourse_type,
        "predictionstring": " ".join(map(str, sorted(stray.words))),
        "score_discourse_effectiveness_0": stray.d[0],
        "score_discourse_effectiveness_1": stray.d[1],
    }
    longer = pd.DataFrame([*competition.submission.to_dict("records"), row])

    before, after = evaluate(competition), evaluate(competition._replace(submission=longer))
    false_positives = [each.explanation.essay_counts[..., 1].sum() for each in (before, after)]
    assert false_positives[1] == false_positives[0] + 1
    assert (after.explanation.scores <= before.explanation.scores).all()


@BRIEF
@given(competitions())
def test_truth_overlaps_are_counted_in_a_warning(competition: Competition) -> None:
    essay_id = competition.parameters["essay_id_column_name"]
    given_truths = transcription.read_truths(competition.solution, essay_id)
    kept = {s.row: s for s in transcribe(competition).truths}
    lost = sum(1 for s in given_truths if s.row in kept and kept[s.row].words != s.words)
    discarded = len(given_truths) - len(kept)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        metric.prepare(competition.solution, "row_id", **competition.parameters)
    assert [warning.category for warning in caught] == [metric.TruthOverlapWarning] * (lost + discarded > 0)
    for warning in caught:
        assert [int(number) for number in re.findall(r"\d+", str(warning.message))] == [
            lost + discarded,
            lost,
            discarded,
        ]


def test_truth_overlaps_warn() -> None:
    solution = frame_of("A 0 4 Lead 1", "A 4 8 Claim 1", "A 8 9 Claim 0", "A 20 22 Claim 1", "B 0 3 Lead 1")
    with pytest.warns(metric.TruthOverlapWarning, match=r"2 .* 1 .* 1 "):
        metric.prepare(solution, "row_id", subpopulation_column_names="")


# The competitions are rich enough


def cases_in(competition: Competition) -> dict[str, bool]:
    """The cases that matter and that occur in a competition."""
    result, arguments = transcribe(competition), competition.parameters
    solution, submission = competition.solution, competition.submission
    essay_id, threshold = arguments["essay_id_column_name"], arguments["overlap_threshold"]
    truths = transcription.read_truths(solution, essay_id)
    predictions = transcription.read_predictions(submission, essay_id)
    known = [p for p in predictions if p.essay in result.essay_counts]
    words_kept = {p.row: len(p.words) for p in result.predictions}
    truth_words_kept = {g.row: len(g.words) for g in result.truths}

    pairs = [(a, b) for a, b in combinations(known, 2) if a.essay == b.essay]
    twins = [(a, b) for a, b in pairs if a.words == b.words and a.discourse_type == b.discourse_type]
    raw_d1 = submission["score_discourse_effectiveness_1"].tolist()
    sums = submission["score_discourse_effectiveness_0"] + submission["score_discourse_effectiveness_1"]
    earlier_words = {
        p.row: set().union(
            *(a.words for a in known if a.essay == p.essay and appearance(a) < appearance(p)),
        )
        for p in known
    }
    types_of = {
        essay: {kind for kind, (tp, _, fn) in counts.items() if tp + fn > 0}
        for essay, counts in result.essay_counts.items()
    }
    attributes = [name for name in ATTRIBUTES if name in arguments["subpopulation_column_names"]]
    missing = {
        str(value)
        for name in attributes
        for value in solution[name]
        if transcription.value_or_none(value) is None
    }
    return {
        "trimmed": any(0 < words_kept.get(p.row, 0) < len(p.words) for p in known),
        "discarded": any(p.row not in words_kept for p in known),
        "trimmed to one word": any(len(p.words - earlier_words[p.row]) == 1 < len(p.words) for p in known),
        "one word and whole": any(len(p.words) == 1 and p.row in words_kept for p in known),
        "matched": bool(result.matches),
        "matched after trimming": any(
            match.prediction.words != predictions[match.prediction.row].words for match in result.matches
        ),
        "matched at the exact threshold": any(
            threshold in shares_of(match.prediction, match.truth) for match in result.matches if threshold < 1
        ),
        "same first word": any(min(a.words) == min(b.words) and a.words != b.words for a, b in pairs),
        "same last word": any(max(a.words) == max(b.words) and a.words != b.words for a, b in pairs),
        "touching": any(max(a.words) + 1 == min(b.words) for a, b in pairs),
        "same words, other type": any(
            a.words == b.words and a.discourse_type != b.discourse_type for a, b in pairs
        ),
        "same words and type, other d": any(a.d != b.d for a, b in twins),
        "equal but for the order of rows": any(a.d == b.d for a, b in twins),
        "tie in d[1] before its division only": any(
            raw_d1[a.row] == raw_d1[b.row] and a.d[1] != b.d[1] for a, b in twins
        ),
        "order of d[1] reversed by its division": any(
            (raw_d1[a.row] - raw_d1[b.row]) * (a.d[1] - b.d[1]) < 0 for a, b in twins
        ),
        "d does not sum to one": bool(((sums - 1).abs() > 1e-4).any()),
        "truth trimmed": any(0 < truth_words_kept.get(g.row, 0) < len(g.words) for g in truths),
        "truth discarded": any(g.row not in truth_words_kept for g in truths),
        "unknown essay": len(known) < len(predictions),
        "essay without prediction": bool(set(result.essay_counts) - {p.essay for p in predictions}),
        "empty submission": not predictions,
        "all seven types": set().union(*types_of.values()) == set(DISCOURSE_TYPES),
        "prediction of a type that its sub-population lacks": any(
            p.essay in s.essays and p.discourse_type not in set().union(*(types_of[e] for e in s.essays))
            for s in result.subpopulations
            for p in result.predictions
        ),
        "ids as text in one file only": bool(predictions)
        and solution[essay_id].dtype != submission[essay_id].dtype,
        "missing: NaN or None": bool({"nan", "None"} & missing),
        "missing: empty": "" in missing,
        "missing: blanks": "  " in missing,
        "no attribute": not attributes,
        "three attributes": len(attributes) == 3,
        "combinations of values": any(len(s.attributes) > 1 for s in result.subpopulations),
        "unequal sub-populations": len({round(s.score, 9) for s in result.subpopulations}) > 1,
        "weight 0": arguments["segment_weight"] == 0,
        "weight 1": arguments["segment_weight"] == 1,
        "threshold 1": threshold == 1,
        "temperature 0": arguments["temperature"] == 0,
        "temperature 1000": arguments["temperature"] == 1000,
        "temperature infinite": math.isinf(arguments["temperature"]),
    }


def appearance(segment: transcription.Segment) -> tuple[Any, ...]:
    """The order in which overlap removal visits the segments of an essay."""
    return *transcription.order_of_appearance(segment), segment.row


@pytest.mark.slow
def test_competitions_hold_every_case() -> None:
    seen: Counter[str] = Counter()

    @settings(QUICK, max_examples=800, derandomize=True)  # random examples could have a rare case too seldom
    @given(competitions())
    def look(competition: Competition) -> None:
        seen.update({case: int(occurs) for case, occurs in cases_in(competition).items()})

    look()
    rare = {case: times for case, times in seen.items() if times < 10}
    assert seen
    assert not rare, rare
