"""Bootstrap draws, intervals, and the ranking's uncertainty against a slow direct bootstrap."""

import numpy as np
import pytest

import metric
from competition import bootstrap
from tests.essays import make_competition


def test_draws_are_seeded_and_take_as_many_items_as_there_are():
    weights = bootstrap.draw(100, 30, seed=1)
    assert weights.shape == (30, 100)
    assert (weights.sum(axis=1) == 100).all()
    assert np.array_equal(weights, bootstrap.draw(100, 30, seed=1))
    assert np.array_equal(weights[:10], bootstrap.draw(100, 10, seed=1))
    assert not np.array_equal(weights, bootstrap.draw(100, 30, seed=2))


def test_draws_are_uniform_with_replacement():
    weights = bootstrap.draw(50, 4000, seed=0)
    # Binomial(50, 1/50): mean 1, variance 0.98.
    assert weights.mean(axis=0) == pytest.approx(np.ones(50), abs=0.1)
    assert weights.var() == pytest.approx(0.98, abs=0.02)


def test_measures_do_not_depend_on_how_many_draws_are_taken_at_a_time(monkeypatch):
    solution, submission = make_competition(30, seed=1, shared_words=False)
    evaluation = metric.evaluate(solution, submission, "row_id")
    weights = bootstrap.draw(30, 120, seed=0)
    samples = bootstrap.measures(evaluation, weights)
    assert samples.shape == (120, len(evaluation.measures))
    monkeypatch.setattr(bootstrap, "CELLS_AT_ONCE", 7 * 30)
    np.testing.assert_allclose(bootstrap.measures(evaluation, weights), samples, rtol=1e-12)


def test_interval():
    samples = np.random.default_rng(0).normal(10, 2, (20_000, 2))
    low, high = bootstrap.interval(samples)
    assert low == pytest.approx([10 - 1.96 * 2] * 2, abs=0.1)
    assert high == pytest.approx([10 + 1.96 * 2] * 2, abs=0.1)


def test_undefined_samples_do_not_count():
    low, high = bootstrap.interval([[1.0], [np.nan], [1.0]])
    assert (low[0], high[0]) == (1.0, 1.0)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    """Many small test sets from one distribution: 95% intervals of the score hold the large-sample score."""
    solution, submission = make_competition(4000, seed=9, shared_words=False)
    parameters = {"subpopulation_column_names": ""}
    truth = metric.score(solution, submission, "row_id", **parameters)
    prepared = metric.prepare(solution, "row_id", **parameters)
    digest = prepared.read(submission)
    essays = np.array(prepared.essay_ids)
    group = dict(zip(essays, np.random.default_rng(3).permutation(len(essays)) % 40))
    of_row = solution["essay_id"].map(group).to_numpy()
    covered = 0
    for number in range(40):
        evaluation = prepared.part(of_row == number).evaluate(digest)
        weights = bootstrap.draw(len(evaluation.items), 200, seed=number)
        low, high = bootstrap.interval(bootstrap.measures(evaluation, weights)[:, 0])
        covered += low <= truth <= high
    assert 33 <= covered <= 40
