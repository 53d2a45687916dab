"""Ranks, prizes and who is ahead, on draws with ties."""

import numpy as np
import pytest

from podium.ranking import uncertainty


def of_scores(scores):
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
