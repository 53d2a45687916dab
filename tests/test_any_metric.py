"""Prove what has to hold for every metric with both parts of the contract.

The metrics are podium's own, a new one from the template, and any that is given by --metric:

python -m pytest tests/test_any_metric.py --metric FOLDER
"""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from podium import statistics
from podium.metric import hosted
from podium.scoring import evaluating
from podium.scoring.alignment import names_of_rows
from podium.statistics import halves
from tests.support.samples import Case, case_of

pytestmark = pytest.mark.filterwarnings("ignore:.*of the solution overlapping an earlier one")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test with each metric, or with the one that --metric names."""
    given = metafunc.config.getoption("--metric")
    metrics = (
        [given] if given else [*hosted.names(), str(Path(podium.__file__).parent / "metric" / "new_metric")]
    )
    metafunc.parametrize("case", metrics, indirect=True, ids=lambda metric: Path(metric).name, scope="module")


@pytest.fixture(scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    """A loaded metric with its sample solution and submission."""
    return case_of(request.param)


def test_the_score_is_the_first_measure_of_the_sums(case: Case) -> None:
    prepared = case.loaded.prepare(case.solution, case.row_id)
    numbers = prepared.statistics(case.submission)
    measures = statistics.measures(prepared, numbers)
    assert next(iter(measures)) == "score"
    assert measures["score"] == (case.score() if case.loaded.is_built_in else pytest.approx(case.score()))
    assert numbers.shape[0] == len(prepared.items) == len(set(prepared.items))
    assert len(prepared.item_of_row) == len(case.solution)
    assert prepared.groups.shape[1] == len(prepared.items)
    assert sorted(np.unique(prepared.groups)) == list(range(len(prepared.labels)))
    # Each attribute has groups of its own.
    first = np.cumsum([0, *(len(set(members)) for members in prepared.groups.tolist())])
    for members, start, stop in zip(prepared.groups, first, first[1:]):
        assert set(members.tolist()) == set(range(start, stop))
        assert len({attribute for attribute, _ in prepared.labels[start:stop]}) == 1
    assert {f"{a} = {v}" for a, v in prepared.labels} - set(prepared.measure_names) <= {"(all) = (all)"}


def test_score_and_statistics_agree_on_half_of_the_items(case: Case) -> None:
    """The half-samples of a metric with score() alone are those that its statistics would give."""
    solution = evaluating.prepare(case.loaded, case.solution, {"row_id_column_name": case.row_id})
    evaluation = evaluating.evaluate(solution, case.submission)
    assert evaluation.statistics is not None
    number = len(evaluation.prepared.items)
    items = halves.Items(evaluation.prepared.item_of_row, np.zeros(number, dtype=np.int64))
    for draw in range(5):
        rows = halves.half(items, 0, draw)
        kept = np.isin(np.arange(number), items.of_row[rows])
        assert abs(int(kept.sum()) - number / 2) <= 0.5
        truth, answers = solution.tables(evaluation.submission, kept[evaluation.prepared.item_of_row])
        scored = solution.metric.score(truth, answers, **solution.arguments)
        of_part = statistics.part(evaluation.prepared, kept)
        measured = statistics.measures(of_part, evaluation.statistics[kept])["score"]
        assert scored == pytest.approx(measured, abs=1e-9)


def test_statistics_are_counted_from_what_was_read_and_compared(case: Case) -> None:
    prepared = case.loaded.prepare(case.solution, case.row_id)
    evaluation = evaluating.evaluate(
        evaluating.prepare(case.loaded, case.solution, {"row_id_column_name": case.row_id}), case.submission
    )
    assert (evaluation.read is None) == (evaluation.compared is None) == (not hasattr(prepared, "compare"))
    if evaluation.read is not None:
        in_steps = prepared.count(prepared.compare(prepared.read(case.submission)))
        np.testing.assert_array_equal(in_steps, prepared.statistics(case.submission))
    np.testing.assert_array_equal(evaluation.statistics, prepared.statistics(case.submission))


def test_a_part_is_what_prepare_makes_of_its_rows(case: Case) -> None:
    prepared = case.loaded.prepare(case.solution, case.row_id)
    numbers = prepared.statistics(case.submission)
    kept = np.random.default_rng(1).random(len(prepared.items)) < 0.6
    rows = kept[prepared.item_of_row]
    submission = case.submission
    if not case.loaded.complete_submission:
        submission = submission[submission[case.row_id].isin(case.solution.loc[rows, case.row_id])]
    part = statistics.part(prepared, kept)
    expected = case.loaded.prepare(case.solution[rows], case.row_id)
    assert (part.items, part.labels) == (expected.items, expected.labels)
    assert statistics.measures(part, numbers[kept])["score"] == case.score(case.solution[rows], submission)


def test_a_narrowed_solution_narrows_what_it_scores(case: Case) -> None:
    whole = evaluating.prepare(case.loaded, case.solution, {"row_id_column_name": case.row_id})
    numbers = evaluating.evaluate(whole, case.submission).statistics
    some = whole.prepared["All"].items[::2]
    narrow = evaluating.narrowed(whole, names_of_rows(whole).isin(some).to_numpy())
    again = evaluating.narrowed(narrow, names_of_rows(narrow).isin(some[:-1]).to_numpy())
    for solution, items in ((narrow, some), (again, some[:-1])):
        kept = np.isin(whole.prepared["All"].items, items)
        part = statistics.part(whole.prepared["All"], kept)
        expected = statistics.measures(part, numbers[kept])["score"]
        evaluation = evaluating.evaluate(solution, case.submission)
        assert solution.prepared["All"].items == items
        assert evaluation.score == expected
        assert evaluating.evaluate(solution, evaluation.submission).score == expected  # a file for the fold


def test_resampling_every_item_once_gives_the_measures(case: Case) -> None:
    prepared = case.loaded.prepare(case.solution, case.row_id)
    numbers = prepared.statistics(case.submission)
    once = statistics.resample(prepared, numbers, np.ones((1, len(numbers))))[0]
    assert once == pytest.approx(list(statistics.measures(prepared, numbers).values()), rel=1e-12, nan_ok=True)


def test_a_prepared_solution_travels_to_other_processes(case: Case) -> None:
    prepared = pickle.loads(pickle.dumps(case.loaded.prepare(case.solution, case.row_id)))
    assert statistics.measures(prepared, prepared.statistics(case.submission))["score"] == case.score()


# --- frames -----------------------------------------------------------------------------------------


def test_the_order_of_rows_and_columns_never_counts(case: Case) -> None:
    expected = case.score()
    for seed in range(3):
        frames = [
            frame.sample(frac=1, random_state=seed)[list(frame.columns[::-1])]
            for frame in (case.solution, case.submission)
        ]
        assert case.score(*frames) == expected


def test_frames_stay_unchanged_and_may_be_read_only(case: Case) -> None:
    copies = [frame.copy(deep=True) for frame in (case.solution, case.submission)]
    frozen = [frame.copy(deep=True) for frame in copies]
    for frame in frozen:
        for name in frame:
            values = frame[name].to_numpy()
            if isinstance(values, np.ndarray):
                values.flags.writeable = False
    case.score(*frozen)
    for frame, copy in zip(frozen, copies):
        pd.testing.assert_frame_equal(frame, copy)


def test_any_index_and_extra_columns(case: Case) -> None:
    frames = [
        frame.set_index(pd.Index([7] * len(frame))).assign(note="x", segments="none", **{"Unnamed: 0": 1})
        for frame in (case.solution, case.submission)
    ]
    assert case.score(*frames) == case.score()


@pytest.mark.parametrize("kind", ["object", "category", "string[python]", "string[pyarrow]"])
def test_kinds_of_text_columns(case: Case, kind: str) -> None:
    frames = [
        frame.astype({name: kind for name in frame if not pd.api.types.is_numeric_dtype(frame[name])})
        for frame in (case.solution, case.submission)
    ]
    assert case.score(*frames) == case.score()
