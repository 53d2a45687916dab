"""`metric.py` equals the literal transcription of its memo, on many small competitions.

The transcription says what the right numbers are. Further properties find errors that two implementations could
have in common. Hypothesis derives its examples from a test's code or a seed, so every run sees the same ones.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import metric
from podium.scoring import evaluating
from tests.support import frames, unified
from tests.support import unified_transcription as transcription
from tests.support.examples import examples
from tests.support.strategies import Competition, competitions
from tests.support.unified_transcription import DISCOURSE_TYPES

pytestmark = pytest.mark.filterwarnings("ignore::metric.TruthOverlapWarning")

QUICK = settings(examples(50), derandomize=True)
BRIEF = settings(examples(20), derandomize=True)

SEEDS = st.integers(0, 2**16)


def score(competition: Competition) -> float:
    """The score by the hosted file."""
    return metric.score(competition.solution, competition.submission, "row_id", **competition.parameters)


def evaluate(competition: Competition) -> evaluating.Evaluation:
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


# Equal to the transcription


def assert_equal_to_transcription(
    competition: Competition, evaluation: evaluating.Evaluation, expected: transcription.Result
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
    evaluation: evaluating.Evaluation, expected: transcription.Result, temperature: float
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


def assert_same_classes(evaluation: evaluating.Evaluation, expected: transcription.Result) -> None:
    """Check the counts of all types in all sub-populations against the transcription."""
    populations = {names(subpopulation): subpopulation.essays for subpopulation in expected.subpopulations}
    populations["(all)", "(all)"] = list(expected.essay_counts)
    rows = {}
    for labels, essays in populations.items():
        for kind in DISCOURSE_TYPES:
            tp, fp, fn = (sum(expected.essay_counts[essay][kind][i] for essay in essays) for i in range(3))
            precision, recall = (tp / total if total > 0 else math.nan for total in (tp + fp, tp + fn))
            f1 = transcription.f1(tp, fp, fn) if tp + fn > 0 else math.nan
            rows[*labels, kind] = tp, fp, fn, precision, recall, f1
    columns = ["attribute", "value", "discourse_type", "tp", "fp", "fn", "precision", "recall", "f1"]
    table = evaluation.explanation.classes[columns].to_numpy().tolist()
    ours = {tuple(row[:3]): row[3:] for row in table}
    assert (len(table), set(ours)) == (len(rows), set(rows))
    np.testing.assert_allclose([ours[key] for key in rows], list(rows.values()), rtol=0, atol=1e-9)


@QUICK
@given(competitions())
def test_equal_to_transcription(competition: Competition) -> None:
    assert_equal_to_transcription(competition, evaluate(competition), transcribe(competition))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_equal_to_transcription_on_2000_competitions(part: int) -> None:
    """In parts, which run at once."""

    @seed(part)
    @settings(max_examples=500)
    @given(competitions())
    def on_500(competition: Competition) -> None:
        assert_equal_to_transcription(competition, evaluate(competition), transcribe(competition))

    on_500()


def test_combinations_are_apart_though_they_read_the_same() -> None:
    rows = ("A", "Claim", "0 1", 1), ("B", "Claim", "0 1", 1)
    solution = frames.solution(*rows, x=["a & b", "a"], y=["c", "b & c"])
    submission = frames.perfect(solution.head(1))
    parameters = {"subpopulation_column_names": "x,y", "intersectional": True, "temperature": 0.0}
    competition = Competition(solution, submission, parameters)
    assert [s.score for s in transcribe(competition).subpopulations] == [1, 0]
    assert evaluate(competition).explanation.groups["essays"].tolist() == [1, 1]
    assert score(competition) == transcribe(competition).score == 0.5


@pytest.mark.parametrize(("predicted", "true"), [(14, 25), (25, 14)])
def test_the_threshold_is_compared_with_a_quotient(predicted: int, true: int) -> None:
    solution = frames.solution(("A", "Claim", frames.words(0, true - 1), 1))
    submission = frames.submission(("A", "Claim", frames.words(0, predicted - 1), 1))
    parameters = {"subpopulation_column_names": "", "overlap_threshold": 0.56}
    competition = Competition(solution, submission, parameters)
    assert 14 / 25 >= 0.56
    assert 14 < 0.56 * 25
    assert score(competition) == transcribe(competition).score > 0.5


# Properties


@BRIEF
@given(competitions(), SEEDS)
def test_rows_index_and_extra_columns_never_count(competition: Competition, seed: int) -> None:
    solution = disguised(competition.solution, seed)
    submission = disguised(competition.submission, seed + 1)
    other = Competition(solution, submission, competition.parameters)
    assert score(other) == score(competition)  # to the last bit


def disguised(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The table with rows and columns in another order, a meaningless index and columns that nobody needs."""
    shuffled = frame.sample(frac=1, random_state=seed)
    shuffled.index = pd.Index([seed % 7] * len(frame), name="essay_id")
    return shuffled[shuffled.columns[::-1]].assign(Usage="Public", **{"Unnamed: 0": range(len(frame))})


@BRIEF
@given(competitions())
def test_a_perfect_submission_scores_exactly_one(competition: Competition) -> None:
    parameters = competition.parameters | {"average_all_types": False}
    perfect = competition._replace(submission=frames.perfect(competition.solution), parameters=parameters)
    assert score(perfect) == 1
