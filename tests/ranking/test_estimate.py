"""What-if and break-even runtimes agree with the board itself and with values computed by hand."""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.common.errors import UsageError
from podium.ranking import estimate
from podium.ranking.estimate import break_even_runtimes, runtimes_around, what_if
from tests.support.boards import PARAMETERS, QUICK, TABLE_2, leaderboards

boost = estimate.boost.boost
LeaderboardError = estimate.boost.LeaderboardError


# ---------------------------------------------------------------------------------------------
# What if
# ---------------------------------------------------------------------------------------------


RUNTIMES = st.integers(200, 1000).map(lambda n: n / 10)


@QUICK
@given(leaderboards(max_size=4), st.lists(RUNTIMES, max_size=2), PARAMETERS)
def test_what_if_is_the_board_with_another_runtime(
    board: pd.DataFrame, runtimes: list[float], parameters: dict[str, float]
):
    """This includes the runtimes of rivals, at which ties are decided and rewards begin."""
    runtimes += board["runtime"].dropna().unique().tolist()
    for team in board["team"]:
        rows = []
        for runtime in runtimes:
            changed = board.assign(runtime=board["runtime"].mask(board["team"] == team, runtime))
            rows.append(boost(changed, **parameters).query("team == @team"))
        curve = what_if(board, team, runtimes, **parameters)
        assert curve.columns.tolist() == ["runtime", "slowdown", "boost", "boosted_score", "rank"]
        assert len(curve) == len(runtimes)
        if rows:
            pd.testing.assert_frame_equal(curve, pd.concat(rows, ignore_index=True)[curve.columns])


def test_runtimes_keep_all_digits():
    """Yellow is ahead of Red up to 45.6 s, but not the tiniest bit later."""
    hair = "45.6" + "0" * 40 + "1"
    for runtimes in (["45.6", hair], [Decimal("45.6"), Decimal(hair)]):
        assert what_if(TABLE_2, "Red", runtimes)["rank"].tolist() == [2, 2]
        assert what_if(TABLE_2.assign(submitted_at=["2024-01-01", None, None, None]), "Red", runtimes)[
            "rank"
        ].tolist() == [1, 2]
    assert what_if(TABLE_2, "Red", np.array([45.6], dtype="float32"))["slowdown"].tolist() == [1.14]
    assert what_if(TABLE_2, "Red", [0.5])["rank"].tolist() == [1]


# ---------------------------------------------------------------------------------------------
# Break-even runtimes
# ---------------------------------------------------------------------------------------------


def test_break_even_values():
    """Red has 0.6. Against Yellow's 0.609 it needs 1.5%, the boost at 1.14 times 40 s; Blue has 0.60615625."""
    red = break_even_runtimes(TABLE_2, "Red")
    behind_blue = 40 * (Fraction("1.2") - Fraction("0.00615625") / Fraction("0.6") * 4)
    assert red["runtime"].tolist() == [45.6, float(behind_blue)]
    assert red[["rank_below", "rank_above"]].to_numpy().tolist() == [[1, 2], [2, 3]]


def rank_from(breaks: pd.DataFrame, runtime: float) -> int:
    """The rank that a table of break-even runtimes, which is not empty, states for another runtime."""
    shorter = breaks[breaks["runtime"] < runtime]
    return int(breaks["rank_below"].iloc[0] if shorter.empty else shorter["rank_above"].iloc[-1])


def assert_break_evens_hold(board: pd.DataFrame, team: str, grid: Iterable[float], **parameters: float) -> None:
    """Check that the ranks between the break-even runtimes are those of the board."""
    breaks = break_even_runtimes(board, team, **parameters)
    assert breaks.columns.tolist() == ["runtime", "rank_below", "rank_above"]
    assert (breaks["runtime"].diff().dropna() > 0).all()
    assert (breaks["rank_above"] > breaks["rank_below"]).all()
    assert breaks["rank_below"].tolist()[1:] == breaks["rank_above"].tolist()[:-1]
    exactly = breaks["runtime"].to_numpy()
    runtimes = np.concatenate([np.asarray(list(grid)), exactly * (1 - 1e-11), exactly * (1 + 1e-11)])
    distance = np.abs(runtimes[:, np.newaxis] / exactly - 1).min(axis=1, initial=np.inf)
    runtimes = runtimes[distance > 1e-12]
    ranks = what_if(board, team, runtimes, **parameters)["rank"].tolist()
    if breaks.empty:
        assert len(set(ranks)) == 1
    else:
        assert ranks == [rank_from(breaks, runtime) for runtime in runtimes]


@QUICK
@given(leaderboards(), PARAMETERS)
def test_the_rank_at_a_break_even_itself(board: pd.DataFrame, parameters: dict[str, float]):
    """The boosted scores are equal there. The runtime is not a decimal number, so the board is made of
    fractions.
    """
    for team in board["team"]:
        race = estimate._race(
            board, team, **{"max_boost": 0.05, "eligibility_ratio": 1.05, "slowdown_limit": 1.2, **parameters}
        )
        for runtime, _ in race.overtaken:
            if not 0 < runtime < np.inf:
                continue
            runtimes = race.board.runtimes.copy()
            runtimes[race.own] = runtime
            changed = race.board._replace(runtimes=runtimes)
            _, _, fraction = estimate.boost.boost_fractions(changed.scores, runtimes, **parameters)
            rank = estimate.boost.ranks(changed, changed.scores * (1 + fraction))[race.own]
            assert rank == 1 + sum(other <= (runtime, 0) for other in race.overtaken)


@QUICK
@given(leaderboards(max_size=5), PARAMETERS)
def test_break_evens_against_a_dense_grid(board: pd.DataFrame, parameters: dict[str, float]):
    for team in board["team"]:
        assert_break_evens_hold(board, team, np.linspace(25, 95, 41) + 0.0123, **parameters)


# ---------------------------------------------------------------------------------------------
# Runtimes worth trying, and errors
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("team", "first"), [("Yellow", 36), ("Green", 32)])
def test_the_runtimes_tried_are_around_the_fastest_rival(team: str, first: float):
    tried = runtimes_around(boost(TABLE_2), team)
    assert tried == (first / 0.8 * np.arange(80, 130, 5) / 100).round(9).tolist()


def test_unknown_teams():
    with pytest.raises(UsageError, match="such as 'Red', 'Blue', 'Green'; found 'somebody else'"):
        what_if(TABLE_2, "somebody else", [1])
    with pytest.raises(UsageError) as caught:
        break_even_runtimes(TABLE_2, "\ud800" * 1000)
    assert len(str(caught.value)) <= 400
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("wrong", [0, -1, np.nan, np.inf, "soon", None, "", "1e999999999", 1j, "x" * 99])
def test_wrong_runtimes_to_try(wrong: object):
    expected = "^runtimes: expected seconds, finite numbers above 0, found '.{0,40}'$"
    with pytest.raises(UsageError, match=expected):
        what_if(TABLE_2, "Red", [40, wrong])


def test_runtimes_are_no_matter_where_scores_are_negative():
    board = TABLE_2.assign(score=[-0.1, 0.2, 0.3, 0.4], runtime=None)
    assert boost(board)["rank"].tolist() == [1, 2, 3, 4]
    for call in (lambda: what_if(board, "Red", [1]), lambda: break_even_runtimes(board, "Red")):
        with pytest.raises(LeaderboardError, match=r"^score: expected at least 0 where runtimes are rewarded"):
            call()


def test_an_estimate_shows_itself_as_tables():
    found = podium.estimate(TABLE_2, "Red")
    page = found._repr_html_()
    for shown in (repr(found), page):
        assert "Runtimes at which its rank changes" in shown
        assert "of 100 gains of a rank" in shown
    assert page.count("<table") == 3
