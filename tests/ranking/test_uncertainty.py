"""Ranks, prizes and the probability of being ahead are right on draws with ties."""

import numpy as np
import pandas as pd
import pytest

from podium import statistics
from podium.ranking import uncertainty
from tests.test_statistics import mean_of


def of_scores(scores):
    """The uncertainty of boards with these scores."""
    ranks, last_ranks = uncertainty._ranks(np.array(scores, dtype=float))
    return uncertainty.Uncertainty(ranks, last_ranks, np.array(scores), np.array(scores))


def test_teams_that_are_tied_share_ranks_prizes_and_places_ahead():
    sure = of_scores([[3, 3, 1], [2, 2, 5], [4, 3, 3], [1, 1, 1]])
    assert sure.ranks.tolist() == [[1, 1, 3], [2, 2, 1], [1, 2, 2], [1, 1, 1]]
    assert sure.last_ranks.tolist() == [[2, 2, 3], [3, 3, 1], [1, 3, 3], [3, 3, 3]]
    assert uncertainty.prize_shares(sure, 1) * 12 == pytest.approx(
        [1.5 + 0 + 3 + 1, 1.5 + 0 + 0 + 1, 0 + 3 + 0 + 1]
    )
    assert uncertainty.ahead(sure, 2).tolist() == [[0.5, (0.5 + 0.5 + 1 + 0.5) / 4], [1.5 / 4, 0.5]]


def test_ranks_against_counting():
    scores = np.random.default_rng(0).integers(0, 6, (50, 9)).astype(float)
    sure = of_scores(scores)
    for of_draw, first, last in zip(scores.tolist(), sure.ranks.tolist(), sure.last_ranks.tolist()):
        for own, low, high in zip(of_draw, first, last):
            assert low == 1 + sum(other > own for other in of_draw)
            assert high == sum(other >= own for other in of_draw)
    for prize in range(1, 10):
        assert uncertainty.prize_shares(sure, prize).sum() == pytest.approx(1)
    ahead = uncertainty.ahead(sure, 9)
    assert ahead + ahead.T == pytest.approx(np.ones((9, 9)))


def test_an_undefined_score_is_last():
    assert of_scores([[1.0, np.nan, 2.0]]).ranks.tolist() == [[2, 3, 1]]


def detail_of(numbers, note=""):
    """What a worker reports about a submission whose items have these values."""
    numbers = np.array(numbers, dtype=float)
    return uncertainty.Detail(
        measures=np.array([numbers.mean()]),
        scores=np.empty(0),
        certainty=statistics.Certainty(np.array([1.0]), np.array([30])),
        note=note,
        influence=(numbers - numbers.mean()).astype(np.float32),
        variants={},
        fingerprint=(numbers * 1000).astype(np.uint32),
    )


def test_a_note_stands_in_both_tables_and_takes_intervals_that_are_not_to_be_had():
    random = np.random.default_rng(0)
    first = random.random(60)
    second, third = first.copy(), random.random(60)
    second[0] -= 0.01
    details = [detail_of(first), detail_of(second), detail_of(third, "no interval: x"), detail_of(third)]
    scores = np.array([0.6, 0.59, 0.5, 0.5])
    board = pd.DataFrame({"rank": [1, 2, 3, 4], "team": list("abcd"), "score": scores, "boosted_score": scores})
    sure = of_scores(scores + random.normal(0, 0.02, (200, 4)))
    p = np.array([0.5, 0.01, 1.0])
    intervals, neighbors = uncertainty.tables(board, sure, details, p, mean_of(60), 3, True)
    assert intervals["note"].tolist() == ["", "", "no interval: x", ""]
    for column in ("score_low", "score_high", "boosted_score_low", "boosted_score_high"):
        assert intervals[column].isna().tolist() == [False, False, True, False]
    assert neighbors["note"].tolist() == ["beware: only about 1 item decides this difference", "", ""]
    assert neighbors["p"].tolist() == p.tolist()
    wide = np.ptp(np.quantile(sure.boosted[:, 1] - sure.boosted[:, 2], [0.025, 0.975]))
    assert wide < neighbors["high"][1] - neighbors["low"][1] < 1.1 * wide
    few = np.ptp(np.quantile(sure.boosted[:, 0] - sure.boosted[:, 1], [0.025, 0.975]))
    assert neighbors["high"][0] - neighbors["low"][0] > 1.2 * few
