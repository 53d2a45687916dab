"""boost.py against section 4 of the memo, a literal transcription of it, and files as users have them."""

import doctest
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import boost as boost_file
from boost import (
    LeaderboardError,
    UnknownTeamError,
    boost,
    boost_fractions,
    break_even_runtimes,
    main,
    read_leaderboard,
    what_if,
)

FILE = Path(boost_file.__file__)
QUICK = settings(max_examples=100, deadline=None, derandomize=True)

TABLE_2 = pd.DataFrame(
    {
        "team": ["Red", "Blue", "Green", "Yellow"],
        "score": [0.6, 0.595, 0.59, 0.58],
        "runtime": [50, 45, 48, 40],
    }
)
TABLE_3 = pd.DataFrame(
    {
        "team": ["Red", "Green", "Blue", "Yellow"],
        "score": [0.6, 0.59, 0.55, 0.25],
        "runtime": [50.4, 48, 45, 5],
    }
)

Row = tuple[str, object, object] | tuple[str, object, object, object]


def leaderboard(*rows: Row) -> pd.DataFrame:
    """Rows of team, score, runtime[, submitted_at]."""
    columns = ["team", "score", "runtime", "submitted_at"][: len(rows[0])]
    return pd.DataFrame(rows, columns=columns)


def by_team(board: pd.DataFrame, column: str) -> dict[str, Any]:
    return dict(zip(board["team"], board[column].tolist()))


def to_three_digits(number: float) -> str:
    """As the memo rounds: 0.6225 is about 0.623."""
    return str(Decimal(repr(number)).quantize(Decimal("0.001"), ROUND_HALF_UP).normalize())


# ---------------------------------------------------------------------------------------------
# The memo, section 4: every sentence that states a fact
# ---------------------------------------------------------------------------------------------


def test_the_examples_in_the_docstrings():
    outcome = doctest.testmod(boost_file)
    assert outcome.attempted > 10
    assert outcome.failed == 0


def test_the_fastest_eligible_submission_gets_5_percent():
    board = boost(leaderboard(("best", 0.6, 90), ("fastest", 0.58, 30), ("slow", 0.59, 95)))
    assert by_team(board, "boost") == {"fastest": 0.05, "best": 0.0, "slow": 0.0}


def test_within_5_percent_of_the_best_score_is_eligible():
    board = boost(leaderboard(("best", 0.63, 90), ("at 1.05", 0.6, 95), ("beyond", 0.599999, 30)))
    assert by_team(board, "eligible") == {"best": True, "at 1.05": True, "beyond": False}


@pytest.mark.parametrize(
    ("slower", "reward"),
    [
        (0, 0.05),
        (5, 0.0375),
        (10, 0.025),
        (12.5, 0.01875),
        (15, 0.0125),
        (19, 0.0025),
        (20, 0),
        (20.1, 0),
        (25, 0),
    ],
)
def test_the_reward_falls_linearly_up_to_20_percent_slower(slower: float, reward: float):
    """5 - 25·(t/s - 1) percent; the memo's instances are 10% (2.5%), 15% (1.25%), 12.5% and 5% slower."""
    board = boost(leaderboard(("fastest", 0.6, 40), ("slower", 0.6, 40 + 0.4 * slower)))
    assert by_team(board, "boost") == {"fastest": 0.05, "slower": reward}
    assert by_team(board, "slowdown")["slower"] == 1 + slower / 100


def test_no_absolute_target_only_the_ratio_of_runtimes_counts():
    seconds, hours = boost(TABLE_2), boost(TABLE_2.assign(runtime=TABLE_2["runtime"] * 3600))
    pd.testing.assert_frame_equal(seconds.drop(columns="runtime"), hours.drop(columns="runtime"))


def test_the_boost_can_substantially_change_the_ranking():
    scores = np.round(np.linspace(0.6, 0.572, 29), 3)
    board = leaderboard(*((f"team {i:02}", score, 60) for i, score in enumerate(scores)), ("last", 0.5715, 40))
    ranks = boost(board).set_index("team").loc["last", ["rank_before", "rank"]]
    assert ranks.tolist() == [30, 1]


def test_a_null_submission_gets_nothing_and_takes_nothing():
    alone = boost(TABLE_2)
    joined = boost(pd.concat([TABLE_2, leaderboard(("print", 0, 0.01))]))
    assert by_team(joined, "boost") == {**by_team(alone, "boost"), "print": 0.0}
    assert by_team(joined, "eligible")["print"] is False
    assert joined["team"].tolist()[-1] == "print"


def test_footnote_8_eligible_if_and_only_if_the_ratio_is_at_most_105_percent():
    for beta, eligible in [("0.6", True), ("0.6000001", True), ("0.5999999", False)]:
        board = boost(leaderboard(("M", 0.63, 60), ("N", float(beta), 60)))
        assert by_team(board, "eligible")["N"] is eligible


def test_footnote_8_overtaking_takes_20_percent_more_time():
    """At the ratio 1.05 N reaches M's score just when M takes 20% more time; above the ratio it passes M."""

    def first(beta: float, runtime: float) -> str:
        return str(boost(leaderboard(("M", 0.63, runtime), ("N", beta, 50)))["team"].iloc[0])

    assert first(0.6, 60) == first(0.6, 100) == "N"  # equal scores, and N is the faster
    assert boost(leaderboard(("M", 0.63, 60), ("N", 0.6, 50)))["boosted_score"].tolist() == [0.63, 0.63]
    assert first(0.6, 59.999) == "M"
    assert first(0.600001, 60) == "N"


# ---------------------------------------------------------------------------------------------
# The memo, section 4.1
# ---------------------------------------------------------------------------------------------


def test_table_2():
    board = boost(TABLE_2)
    assert {team: to_three_digits(score) for team, score in by_team(board, "boosted_score").items()} == {
        "Red": "0.6",
        "Blue": "0.606",
        "Green": "0.59",
        "Yellow": "0.609",
    }
    assert by_team(board, "boosted_score") == {"Red": 0.6, "Blue": 0.60615625, "Green": 0.59, "Yellow": 0.609}


def test_example_a_everybody_could_surpass_red_and_is_eligible():
    assert (TABLE_2["score"] * 1.05)[1:].gt(0.6).all()
    assert boost(TABLE_2)["eligible"].all()
    assert boost(TABLE_2).query("rank_before == 1")["team"].tolist() == ["Red"]


def test_example_a_boosts():
    board = boost(TABLE_2)
    assert by_team(board, "slowdown") == {"Yellow": 1.0, "Red": 1.25, "Green": 1.2, "Blue": 1.125}
    assert by_team(board, "boost") == {"Yellow": 0.05, "Red": 0.0, "Green": 0.0, "Blue": 0.01875}


def test_example_a_final_ranking():
    board = boost(TABLE_2)
    assert board["team"].tolist() == ["Yellow", "Blue", "Red", "Green"]
    assert board["rank"].tolist() == [1, 2, 3, 4]
    assert by_team(board, "rank_before") == {"Red": 1, "Blue": 2, "Green": 3, "Yellow": 4}


def test_table_3():
    board = boost(TABLE_3)
    assert {team: to_three_digits(score) for team, score in by_team(board, "boosted_score").items()} == {
        "Red": "0.623",
        "Green": "0.62",
        "Blue": "0.55",
        "Yellow": "0.25",
    }
    assert by_team(board, "boosted_score") == {"Red": 0.6225, "Green": 0.6195, "Blue": 0.55, "Yellow": 0.25}


def test_example_b_only_green_could_surpass_red():
    could = dict(zip(TABLE_3["team"], TABLE_3["score"] * 1.05 > 0.6))
    assert could == {"Red": True, "Green": True, "Blue": False, "Yellow": False}
    assert by_team(boost(TABLE_3), "eligible") == could


def test_example_b_faster_teams_that_are_not_eligible_do_not_count():
    board = boost(TABLE_3)
    assert by_team(board, "slowdown") == {
        "Red": 1.05,
        "Green": 1.0,
        "Blue": 0.9375,
        "Yellow": float(Fraction(5, 48)),
    }
    assert by_team(board, "boost") == {"Red": 0.0375, "Green": 0.05, "Blue": 0.0, "Yellow": 0.0}


def test_example_b_final_ranking_is_the_one_before():
    board = boost(TABLE_3)
    assert board["team"].tolist() == ["Red", "Green", "Blue", "Yellow"]
    assert board["rank"].tolist() == board["rank_before"].tolist() == [1, 2, 3, 4]


def test_without_the_filter_a_trivial_submission_would_take_all():
    board = boost(TABLE_3, eligibility_ratio=100)
    assert board["eligible"].all()
    assert by_team(board, "boost") == {"Red": 0.0, "Green": 0.0, "Blue": 0.0, "Yellow": 0.05}


# ---------------------------------------------------------------------------------------------
# A literal transcription
# ---------------------------------------------------------------------------------------------


def exact(cell: object) -> Fraction | None:
    return None if pd.isna(cell) else Fraction(str(cell))


def transcribed(
    board: pd.DataFrame, max_boost: float = 0.05, eligibility_ratio: float = 1.05, slowdown_limit: float = 1.2
) -> list[dict[str, Any]]:
    """Section 4, team by team and pair by pair, in the order of the rows."""
    most, ratio, limit = (Fraction(str(number)) for number in (max_boost, eligibility_ratio, slowdown_limit))
    teams: list[dict[str, Any]] = []
    for row in board.to_dict("records"):
        when = row.get("submitted_at")
        teams.append(
            {
                "team": row["team"],
                "score": exact(row["score"]),
                "runtime": exact(row["runtime"]),
                "when": None if when is None or pd.isna(when) else str(when),
            }
        )
    best = max((team["score"] for team in teams if team["score"] is not None), default=0)
    for team in teams:
        team["eligible"] = bool(team["runtime"] and team["score"] and best / team["score"] <= ratio)
    fastest = min((team["runtime"] for team in teams if team["eligible"]), default=None)
    for team in teams:
        team["slowdown"] = team["runtime"] / fastest if team["runtime"] and fastest else None
        team["boost"] = Fraction(0)
        if team["eligible"] and team["slowdown"] <= limit:
            team["boost"] = most - most / (limit - 1) * (team["slowdown"] - 1)
        team["boosted_score"] = None if team["score"] is None else team["score"] * (1 + team["boost"])
    for team in teams:
        team["rank"] = 1 + sum(beats(other, team, "boosted_score") for other in teams if other is not team)
        team["rank_before"] = 1 + sum(beats(other, team, "score") for other in teams if other is not team)
    return teams


def beats(a: dict[str, Any], b: dict[str, Any], score: str) -> bool:
    for name, better in ((score, "higher"), ("when", "lower"), ("runtime", "lower"), ("team", "lower")):
        if a[name] != b[name]:
            if a[name] is None or b[name] is None:
                return b[name] is None
            return (a[name] > b[name]) == (better == "higher")
    raise AssertionError("two teams of one name")


@st.composite
def leaderboards(draw: st.DrawFn, max_size: int = 7) -> pd.DataFrame:
    """Boards of few values, so that ties, limits and missing cells are common."""
    any_score = st.sampled_from([0.6, 0.63, 0.5943, 0.566, 0.615, 0.6225, 0.0]) | st.integers(560, 640).map(
        lambda n: n / 1000
    )
    any_runtime = st.sampled_from([40.0, 44.0, 48.0, 0.342, 0.285]) | st.integers(350, 700).map(
        lambda n: n / 10
    )
    scores = st.sampled_from([*draw(st.lists(any_score, min_size=1, max_size=5)), None])
    runtimes = st.sampled_from([*draw(st.lists(any_runtime, min_size=1, max_size=5)), None])
    when = st.sampled_from(["2024-01-23", "2024-01-24", None])
    names = draw(st.lists(st.sampled_from("ABCDEFGHIJ"), min_size=1, max_size=max_size, unique=True))
    rows = [(name, draw(scores), draw(runtimes), draw(when)) for name in names]
    board = leaderboard(*rows).astype({"score": float, "runtime": float, "submitted_at": object})
    return board if draw(st.booleans()) else board.drop(columns="submitted_at")


PARAMETERS = st.sampled_from(
    [{}, {}, {}, {"max_boost": 0.0}, {"max_boost": 0.1}, {"eligibility_ratio": 1.0}, {"slowdown_limit": 1.1}]
)


@settings(QUICK, max_examples=200)
@given(leaderboards(), PARAMETERS)
def test_as_the_literal_transcription(board: pd.DataFrame, parameters: dict[str, float]):
    result = boost(board, **parameters)
    expected = {team["team"]: team for team in transcribed(board, **parameters)}
    assert result["rank"].tolist() == list(range(1, len(board) + 1))
    for row in result.to_dict("records"):
        team = expected[row["team"]]
        for name in ("eligible", "rank", "rank_before"):
            assert row[name] == team[name]
        for name in ("slowdown", "boost", "boosted_score"):
            assert (None if np.isnan(row[name]) else row[name]) == (
                None if team[name] is None else float(team[name])
            )


# ---------------------------------------------------------------------------------------------
# Exact at the limits
# ---------------------------------------------------------------------------------------------


@QUICK
@given(st.integers(1, 6), st.integers(1, 47_000))
@example(digits=4, k=283)  # 0.5943 and 0.566, whose quotient is not 1.05 in floats
@example(digits=2, k=3)  # 0.63 and 0.60
def test_eligible_at_exactly_105_percent(digits: int, k: int):
    score = float(f"{20 * k}e-{digits}")
    for best, eligible in ((21 * k, True), (21 * k + 1, False)):
        scores = [float(f"{best}e-{digits}"), score]
        assert by_team(boost(leaderboard(("M", scores[0], 9), ("N", score, 9))), "eligible")["N"] is eligible
        assert boost_fractions(scores, [9, 9])[0].tolist() == [True, eligible]


def test_floats_would_get_the_limits_wrong():
    assert 0.5943 / 0.566 > 1.05
    assert 0.342 / 0.285 != 1.2
    board = boost(leaderboard(("M", 0.5943, 0.342), ("N", 0.566, 0.285)))
    assert board["eligible"].all()
    assert by_team(board, "slowdown")["M"] == 1.2


@QUICK
@given(st.integers(1, 6), st.integers(1, 160_000))
@example(digits=0, k=8)  # 48 and 40
def test_no_boost_at_exactly_20_percent_slower(digits: int, k: int):
    fastest, slow, less_slow = (float(f"{n}e-{digits}") for n in (5 * k, 6 * k, 6 * k - 1))
    result = boost(leaderboard(("fastest", 1, fastest), ("slow", 1, slow), ("less slow", 1, less_slow)))
    assert by_team(result, "slowdown")["slow"] == 1.2
    assert by_team(result, "boost")["slow"] == 0
    assert by_team(result, "boost")["less slow"] > 0


@pytest.mark.parametrize("earlier", ["A", "B"])
@QUICK
@given(st.integers(1, 6), st.integers(1, 24_000))
def test_equal_boosted_scores_tie(earlier: str, digits: int, k: int):
    """40·1.025 = 41: A is 10% slower than the fastest, B 20%."""
    a, b = (float(f"{n}e-{digits}") for n in (40 * k, 41 * k))
    when = {"A": "2024-01-02", "B": "2024-01-02", "S": "2024-01-02", earlier: "2024-01-01"}
    result = boost(leaderboard(("A", a, 44, when["A"]), ("B", b, 48, when["B"]), ("S", a, 40, when["S"])))
    assert by_team(result, "boosted_score")["A"] == by_team(result, "boosted_score")["B"]
    assert result["team"].tolist() == ["S", *sorted("AB", key=lambda team: team != earlier)]


# ---------------------------------------------------------------------------------------------
# Properties
# ---------------------------------------------------------------------------------------------


@QUICK
@given(leaderboards(), st.randoms(use_true_random=False))
def test_the_order_of_rows_never_counts(board: pd.DataFrame, random: Any):
    rows = list(range(len(board)))
    random.shuffle(rows)
    pd.testing.assert_frame_equal(boost(board), boost(board.iloc[rows]))


@QUICK
@given(leaderboards(), st.integers(2, 10**6))
def test_scaling_all_runtimes_changes_nothing(board: pd.DataFrame, factor: int):
    scaled = [None if pd.isna(t) else float(Decimal(repr(t)) * factor) for t in board["runtime"]]
    pd.testing.assert_frame_equal(
        boost(board).drop(columns="runtime"), boost(board.assign(runtime=scaled)).drop(columns="runtime")
    )


@QUICK
@given(leaderboards(), PARAMETERS)
def test_bounds(board: pd.DataFrame, parameters: dict[str, float]):
    result = boost(board, **parameters)
    most, limit = parameters.get("max_boost", 0.05), parameters.get("slowdown_limit", 1.2)
    assert result["boost"].between(0, most).all()
    assert (result.loc[~result["eligible"] | (result["slowdown"] >= limit), "boost"] == 0).all()
    eligible = result[result["eligible"]]
    assert (eligible["slowdown"] >= 1).all()
    fastest = eligible[eligible["runtime"] == eligible["runtime"].min()]
    assert (fastest["boost"] == most).all()
    assert (fastest["slowdown"] == 1).all()


@QUICK
@given(leaderboards(), st.lists(st.integers(1, 2000), min_size=2), PARAMETERS)
def test_a_longer_runtime_is_never_better(board: pd.DataFrame, tenths: list[int], parameters: dict[str, float]):
    for team in board["team"]:
        curve = what_if(board, team, np.sort(tenths) / 10, **parameters)
        assert (curve["boost"].diff().dropna() <= 0).all()
        assert (curve["rank"].diff().dropna() >= 0).all()


@QUICK
@given(leaderboards())
def test_the_input_is_unchanged(board: pd.DataFrame):
    board.index = pd.Index(range(len(board), 0, -1))
    before = board.copy(deep=True)
    boost(board)
    what_if(board, board["team"].iloc[0], [40])
    break_even_runtimes(board, board["team"].iloc[0])
    pd.testing.assert_frame_equal(board, before)


@QUICK
@given(leaderboards())
def test_boosting_a_final_leaderboard_gives_it_again(board: pd.DataFrame):
    pd.testing.assert_frame_equal(boost(boost(board)), boost(board))


# ---------------------------------------------------------------------------------------------
# Many boards at once
# ---------------------------------------------------------------------------------------------


@QUICK
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_floats_agree_with_fractions_except_at_the_limit(seed: int, teams: int):
    rng = np.random.default_rng(seed)
    scores, runtimes = rng.uniform(0.57, 0.63, teams), rng.uniform(30, 45, teams)
    scores[rng.random(teams) < 0.1], runtimes[rng.random(teams) < 0.1] = np.nan, np.nan
    as_fractions = (
        np.array([x if np.isnan(x) else Fraction(repr(float(x))) for x in column], dtype=object)
        for column in (scores, runtimes)
    )
    eligible, slowdown, fraction = boost_fractions(scores, runtimes)
    exactly = boost_fractions(*as_fractions)
    best = np.nanmax(scores, initial=0)
    at_limit = np.abs(best / scores / 1.05 - 1) < 1e-12
    assume(not at_limit.any())
    assert eligible.tolist() == exactly[0].tolist()
    np.testing.assert_allclose(slowdown, exactly[1].astype(float), rtol=1e-12)
    np.testing.assert_allclose(fraction, exactly[2].astype(float), rtol=0, atol=1e-12)
    assert (fraction <= 0.05).all()
    if eligible.any():
        assert fraction.max() == 0.05


def test_boards_are_the_last_axis():
    rng = np.random.default_rng(0)
    scores, runtimes = rng.uniform(0.55, 0.65, (5, 2, 8)), rng.uniform(30, 40, 8)
    together = boost_fractions(scores, runtimes)
    for i, j in np.ndindex(5, 2):
        for all_boards, one_board in zip(together, boost_fractions(scores[i, j], runtimes)):
            np.testing.assert_array_equal(all_boards[i, j], one_board)
    assert together[0].dtype == bool
    assert {array.shape for array in together} == {(5, 2, 8)}


def test_a_board_without_eligible_teams_among_others():
    eligible, slowdown, fraction = boost_fractions([[0.6, 0.5], [0, 0], [np.nan, np.nan]], [10, np.nan])
    assert eligible.tolist() == [[True, False], [False, False], [False, False]]
    np.testing.assert_array_equal(slowdown, [[1, np.nan], [np.nan, np.nan], [np.nan, np.nan]])
    assert fraction.tolist() == [[0.05, 0], [0, 0], [0, 0]]


# ---------------------------------------------------------------------------------------------
# Ties
# ---------------------------------------------------------------------------------------------


def test_ties_the_earlier_submission_then_the_faster_then_the_name():
    rows = [
        ("d", 0.6, 40, "2024-01-23 12:00:00"),
        ("c", 0.6, 90, "2024-01-23 11:59:59.999"),
        ("b", 0.6, 80, "2024-01-24"),
        ("z", 0.6, 70, "2024-01-24"),
        ("a", 0.6, 80, "2024-01-24"),
        ("y", 0.6, 60, None),
        ("x", 0.6, None, None),
    ]
    before = boost(leaderboard(*rows)).sort_values("rank_before")["team"].tolist()
    assert before == ["c", "d", "z", "a", "b", "y", "x"]
    assert boost(leaderboard(*rows), max_boost=0)["team"].tolist() == before


def test_times_of_submission_in_other_zones_and_types():
    texts = ["2024-01-23T14:00:00+02:00", " 2024-01-23 11:59:59 ", "2024-01-23T12:00:00.000001Z"]
    board = leaderboard(*(("abc"[i], 0.6, 40, text) for i, text in enumerate(texts)))
    assert boost(board)["team"].tolist() == ["b", "a", "c"]
    times = pd.to_datetime([text.strip() for text in texts], format="ISO8601", utc=True)
    for parsed in (times, times.tz_localize(None), pd.Series(list(times), dtype=object)):
        assert boost(board.assign(submitted_at=parsed))["team"].tolist() == ["b", "a", "c"]


def test_names_are_compared_as_text():
    board = pd.DataFrame({"team": [9, 10, 7], "score": [0.6, 0.6, 0.6], "runtime": [1, 1, 1]})
    assert boost(board)["team"].tolist() == [10, 7, 9]
    assert what_if(board, 7, [1])["rank"].tolist() == what_if(board, "7", [1])["rank"].tolist() == [2]


# ---------------------------------------------------------------------------------------------
# Missing values
# ---------------------------------------------------------------------------------------------


def test_what_is_missing_is_ranked_never_eligible_and_said():
    rows = [("A", None, 10), ("B", 0.6, None), ("C", 0.59, 50), ("D", None, None), ("E", 0, 40)]
    board = boost(leaderboard(*rows))
    assert board["team"].tolist() == ["C", "B", "E", "A", "D"]
    assert board["eligible"].tolist() == [True, False, False, False, False]
    assert board["boost"].tolist() == [0.05, 0, 0, 0, 0]
    np.testing.assert_array_equal(board["boosted_score"], [0.6195, 0.6, 0, np.nan, np.nan])
    np.testing.assert_array_equal(board["slowdown"], [1, np.nan, 0.8, 0.2, np.nan])
    assert board["note"].tolist() == [
        "",
        "no runtime, so not eligible",
        "",
        "no score, so ranked last and not eligible",
        "no score and no runtime, so ranked last and not eligible",
    ]


def test_the_best_score_counts_without_a_runtime():
    board = boost(leaderboard(("best", 0.7, None), ("good", 0.6, 40)))
    assert by_team(board, "eligible") == {"best": False, "good": False}
    assert board["slowdown"].isna().all()


def test_a_best_score_of_zero_boosts_nobody_and_says_so():
    board = boost(leaderboard(("A", 0, 10), ("B", 0, 5), ("C", 0, None)))
    assert board["team"].tolist() == ["B", "A", "C"]
    assert board["boosted_score"].tolist() == [0, 0, 0]
    assert not board["eligible"].any()
    nobody = "best score 0, so nobody is eligible"
    assert board["note"].tolist() == [nobody, nobody, "no runtime, so not eligible"]


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, "", "  "])
def test_ways_to_be_missing(nothing: object):
    board = boost(leaderboard(("A", 0.6, 40, "2024-01-01"), ("B", nothing, nothing, nothing)))
    assert board["note"].tolist() == ["", "no score and no runtime, so ranked last and not eligible"]


def test_a_board_without_teams():
    board = boost(TABLE_2.head(0))
    assert len(board) == 0
    assert board.columns.tolist() == boost(TABLE_2).columns.tolist()


# ---------------------------------------------------------------------------------------------
# Values as users have them
# ---------------------------------------------------------------------------------------------


def test_columns_and_types():
    board = boost(TABLE_2.assign(rank="before", members=["r", "b", "g", "y"]).set_index("team", drop=False))
    assert board.columns.tolist() == [
        *("team", "score", "runtime", "rank", "members", "eligible", "slowdown", "boost"),
        *("boosted_score", "rank_before", "note"),
    ]
    assert board["members"].tolist() == ["y", "b", "r", "g"]
    assert board.index.tolist() == [0, 1, 2, 3]
    kinds = [board[name].dtype.kind for name in ("score", "runtime", "eligible", "slowdown", "boost", "rank")]
    assert kinds == ["f", "f", "b", "f", "f", "i"]


@pytest.mark.parametrize("dtype", ["float32", "Float64", "Float32", object, str])
def test_numbers_are_the_decimals_they_are_written_as(dtype: Any):
    board = leaderboard(("M", 0.5943, 0.342), ("N", 0.566, 0.285)).astype({"score": dtype, "runtime": dtype})
    result = boost(board)
    assert by_team(result, "eligible") == {"M": True, "N": True}
    assert by_team(result, "slowdown") == {"M": 1.2, "N": 1.0}
    assert by_team(result, "score") == {"M": 0.5943, "N": 0.566}


def test_numbers_beyond_all_measure():
    board = boost(leaderboard(("A", 1.7e308, 1e-300), ("B", 1.7e308, 1e300)))
    assert by_team(board, "slowdown") == {"A": 1.0, "B": np.inf}
    assert by_team(board, "boosted_score") == {"A": 1.785e308, "B": 1.7e308}
    assert boost(leaderboard(("A", 1.79e308, 1)))["boosted_score"].tolist() == [np.inf]


# ---------------------------------------------------------------------------------------------
# Errors
# ---------------------------------------------------------------------------------------------


def message(*rows: Row, **parameters: float) -> str:
    with pytest.raises(LeaderboardError) as caught:
        boost(leaderboard(*rows), **parameters)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def test_repeated_and_missing_names():
    assert message(("Red", 1, 1), ("Blue", 1, 1), ("Red", 2, 2)) == (
        "team is wrong in 2 rows of the leaderboard: row number 1 ('Red'), row number 3 ('Red'). "
        "Expected a name in every row, and every team once."
    )
    assert message(("Red", 1, 1), (None, 1, 1)).startswith(
        "team is wrong in 1 row of the leaderboard: row number 2 (missing)."
    )


@pytest.mark.parametrize(
    "runtime", [0, -1.5, np.inf, -np.inf, "1:30", "1e999", "inf", "nan", "1_000", True, "٣", [1]]
)
def test_wrong_runtimes(runtime: object):
    assert message(("Red", 1, 1), ("Blue", 1, runtime)) == (
        f"runtime is wrong in 1 row of the leaderboard: Blue ('{boost_file._short(runtime)}'). "
        "Expected seconds, a finite number above 0, or nothing where it is missing."
    )


@pytest.mark.parametrize("score", [-0.1, -1e-300, np.inf, "abc", "0,6", "NaN", "0.6.1", "1e", "0x1", "9" * 400])
def test_wrong_scores(score: object):
    assert message(("Red", 1, 1), ("Blue", score, 1)) == (
        f"score is wrong in 1 row of the leaderboard: Blue ('{boost_file._short(score)}'). "
        "Expected a finite number, at least 0, or nothing where it is missing."
    )


@pytest.mark.parametrize("when", ["23.01.2024", "01/23/2024 5:00 PM", "2024-13-01", "now", 1706000000, "2024"])
def test_wrong_times(when: object):
    assert message(("Red", 1, 1, "2024-01-23 14:05"), ("Blue", 1, 1, when)) == (
        f"submitted_at is wrong in 1 row of the leaderboard: Blue ('{when}'). "
        "Expected a time in ISO 8601, such as 2024-01-23 14:05:33, or nothing where it is missing."
    )


def test_many_wrong_rows_are_counted_and_some_shown():
    text = message(*((f"team {i}", 1, -i) for i in range(1, 9)))
    assert "wrong in 8 rows" in text
    assert "team 5 ('-5') and 3 more. Expected" in text


@pytest.mark.parametrize("cell", ["9" * 1_000_000 + "x", "1e" + "9" * 1_000_000, "\n" * 1_000_000 + "1\n1"])
def test_hostile_cells_stay_short_and_on_one_line_and_take_no_time(cell: str):
    text = message(("Red\n" * 1000, 1, cell))
    assert len(text) < 300
    assert "\n" not in text


def test_wrong_columns():
    with pytest.raises(
        LeaderboardError, match=r"^the leaderboard lacks columns: score, runtime. It has: team, Score\.$"
    ):
        boost(pd.DataFrame({"team": ["A"], "Score": [1]}))
    with pytest.raises(LeaderboardError, match="more than one column named score"):
        boost(pd.DataFrame([["A", 1, 1, 1]], columns=["team", "score", "runtime", "score"]))


@pytest.mark.parametrize(
    ("parameter", "wrong"),
    [
        *(("max_boost", value) for value in (-0.01, np.nan, np.inf)),
        *(("eligibility_ratio", value) for value in (0.99, np.nan, np.inf)),
        *(("slowdown_limit", value) for value in (1, 0.5, np.nan, np.inf)),
    ],
)
def test_wrong_parameters(parameter: str, wrong: float):
    for call in (
        boost,
        lambda board, **p: what_if(board, "Red", [1], **p),
        lambda board, **p: break_even_runtimes(board, "Red", **p),
    ):
        with pytest.raises(LeaderboardError, match=f"^{parameter} is {wrong}; expected"):
            call(TABLE_2, **{parameter: wrong})
    with pytest.raises(LeaderboardError, match=parameter):
        boost_fractions([1.0], [1.0], **{parameter: wrong})


def test_unknown_teams():
    for call in (lambda: what_if(TABLE_2, "Yelow", [1]), lambda: break_even_runtimes(TABLE_2, "Yelow")):
        with pytest.raises(
            UnknownTeamError, match=r"^'Yelow' is no team of the leaderboard\..* such as Yellow\.$"
        ):
            call()
    with pytest.raises(LeaderboardError, match="such as Red, Blue, Green, Yellow"):
        what_if(TABLE_2, "somebody else", [1])


@pytest.mark.parametrize("wrong", [0, -1, np.nan, np.inf, "soon"])
def test_wrong_runtimes_to_try(wrong: object):
    with pytest.raises(
        LeaderboardError, match=r"^runtimes holds .*\. Expected seconds, finite numbers above 0\.$"
    ):
        what_if(TABLE_2, "Red", [40, wrong])


# ---------------------------------------------------------------------------------------------
# What if
# ---------------------------------------------------------------------------------------------


@settings(QUICK, max_examples=50)
@given(leaderboards(max_size=5), st.lists(st.integers(300, 800).map(lambda n: n / 10), max_size=3), PARAMETERS)
def test_what_if_is_the_board_with_another_runtime(
    board: pd.DataFrame, runtimes: list[float], parameters: dict[str, float]
):
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


def test_a_new_fastest_team_slows_the_others_down():
    """Green's own boost is 5% at 34 s and 36 s, but Blue's 0.61 keeps less of its boost against 34 s."""
    board = leaderboard(("Green", 0.59, 48), ("Blue", 0.61, 40))
    curve = what_if(board, "Green", [34, 36, 40])
    assert curve["boosted_score"].tolist() == [0.6195, 0.6195, 0.6195]
    assert curve["rank"].tolist() == [1, 2, 2]


def test_a_team_without_a_runtime_or_score_can_be_tried():
    board = leaderboard(("A", 0.6, 40), ("B", 0.62, None), ("C", None, 30))
    assert what_if(board, "B", [40, 60])["boosted_score"].tolist() == [0.651, 0.62]
    assert what_if(board, "C", [1])["rank"].tolist() == [3]


def test_one_runtime_and_none():
    assert what_if(TABLE_2, "Red", 40)["boost"].tolist() == [0.05]
    assert what_if(TABLE_2, "Red", []).empty


# ---------------------------------------------------------------------------------------------
# Break-even runtimes
# ---------------------------------------------------------------------------------------------


def test_break_even_values():
    """Red, 0.6, against Yellow's 0.609: 1.5% is left at 1.14 times 40 s; against Blue's 0.60615625."""
    red = break_even_runtimes(TABLE_2, "Red")
    assert red["runtime"].tolist() == [
        45.6,
        float(40 * (Fraction("1.2") - Fraction("0.00615625") / Fraction("0.6") * 4)),
    ]
    assert red[["rank_below", "rank_above"]].to_numpy().tolist() == [[1, 2], [2, 3]]


def test_break_even_below_the_fastest_of_the_others():
    """Green, 0.6195 with all its boost, passes Blue, 0.61, once Blue keeps less than 0.6195 / 0.61 - 1."""
    board = leaderboard(("Green", 0.59, 48), ("Blue", 0.61, 40))
    kept = Fraction("0.6195") / Fraction("0.61") - 1
    expected = 40 / (Fraction("1.2") - kept * 4)
    assert break_even_runtimes(board, "Green").to_numpy().tolist() == [[float(expected), 1, 2]]


def test_break_even_at_a_rivals_runtime_in_a_tie():
    board = leaderboard(("A", 0.3, 10), ("B", 0.3, 20), ("best", 0.6, 30))
    assert break_even_runtimes(board, "B").to_numpy().tolist() == [[10, 2, 3]]
    by_date = board.assign(submitted_at=["2024-01-01", "2024-01-02", None])
    assert break_even_runtimes(by_date, "B").empty


def test_many_teams_at_one_break_even():
    board = leaderboard(("A", 0.6, 40), ("B", 0.61, 60), ("C", 0.61, 60), ("D", 0.61, 60))
    changes = break_even_runtimes(board, "A")
    assert changes[["rank_below", "rank_above"]].to_numpy().tolist()[-1] == [1, 4]


@pytest.mark.parametrize(
    ("b", "submitted_at", "expected"),
    [
        (0.6, "2024-01-02", [[40, 1, 2]]),
        (0.6, "2024-01-08", [[40, 1, 2], [48, 2, 3]]),
        (0.6, "2024-01-05", [[40, 1, 2], [90, 2, 3]]),
        (0.63, "2024-01-02", [[40, 1, 3]]),
        (0.63, "2024-01-08", [[40, 2, 3]]),
        (0.63, "2024-01-05", [[40, 1, 3]]),
    ],
)
def test_break_evens_where_scores_are_equal_over_a_range(b: float, submitted_at: str, expected: list[Any]):
    """B has no boost; A equals its 0.6 from 48 s on, and its 0.63 up to 40 s, where A has all its boost."""
    rows = [("S", 0.6, 40, "2024-01-09"), ("A", 0.6, 50, submitted_at), ("B", b, 90, "2024-01-05")]
    assert break_even_runtimes(leaderboard(*rows), "A").to_numpy().tolist() == expected


def rank_from(breaks: pd.DataFrame, runtime: float) -> int:
    """The rank that a non-empty table of break-even runtimes states for another runtime."""
    shorter = breaks[breaks["runtime"] < runtime]
    return int(breaks["rank_below"].iloc[0] if shorter.empty else shorter["rank_above"].iloc[-1])


def assert_break_evens_hold(board: pd.DataFrame, team: str, grid: Iterable[float], **parameters: float) -> None:
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


@settings(QUICK, max_examples=50)
@given(leaderboards(max_size=6), PARAMETERS)
def test_break_evens_against_a_dense_grid(board: pd.DataFrame, parameters: dict[str, float]):
    for team in board["team"]:
        assert_break_evens_hold(board, team, np.linspace(25, 95, 71) + 0.0123, **parameters)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(leaderboards(max_size=8), PARAMETERS)
def test_break_evens_against_a_denser_grid(board: pd.DataFrame, parameters: dict[str, float]):
    for team in board["team"]:
        assert_break_evens_hold(board, team, np.linspace(25, 95, 141) + 0.0123, **parameters)


def test_break_evens_on_a_larger_board():
    rng = np.random.default_rng(7)
    board = pd.DataFrame(
        {
            "team": [f"team {i}" for i in range(200)],
            "score": rng.uniform(0.5, 0.62, 200),
            "runtime": rng.uniform(50, 90, 200),
        }
    )
    team = f"team {board['score'].sort_values().index[-40]}"
    assert len(break_even_runtimes(board, team)) > 20
    assert_break_evens_hold(board, team, np.linspace(30, 95, 14))


# ---------------------------------------------------------------------------------------------
# Files and the command line
# ---------------------------------------------------------------------------------------------

TEXT_2 = "team,score,runtime\nRed,0.6,50\nBlue,0.595,45\nGreen,0.59,48\nYellow,0.58,40\n"


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """Writes a leaderboard file, and gives its path."""

    def write(content: str | bytes) -> str:
        path = tmp_path / "leaderboard.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def test_text_stays_as_it_is(file: Any):
    board = read_leaderboard(
        file('team,score,runtime,members\nNA,0.6,40,007\n007,0.61,,1e3\nnan,,44,\n"a, ""b""",0.59,50,null\n')
    )
    assert board["team"].tolist() == ["NA", "007", "nan", 'a, "b"']
    assert board["members"].tolist() == ["007", "1e3", "", "null"]
    final = boost(board)
    assert final["team"].tolist() == ["NA", "007", 'a, "b"', "nan"]
    assert final["members"].tolist() == ["007", "1e3", "null", ""]


def test_byte_order_mark_blank_lines_and_line_ends(file: Any):
    board = read_leaderboard(file("\ufeffteam,score,runtime\r\n\r\nRéd,0.6,50\r\n\r\n"))
    assert board.to_dict("records") == [{"team": "Réd", "score": "0.6", "runtime": "50"}]


@QUICK
@given(st.floats(0, 1, exclude_min=True), st.floats(1e-3, 1e6))
def test_no_digit_is_lost(tmp_path_factory: Any, score: float, runtime: float):
    path = tmp_path_factory.mktemp("digits") / "leaderboard.csv"
    pd.DataFrame({"team": ["A"], "score": [score], "runtime": [runtime]}).to_csv(path, index=False)
    final = boost(read_leaderboard(path))
    assert final[["score", "runtime"]].to_numpy().tolist() == [[score, runtime]]


NO_TEAMS = "the leaderboard has no teams. Expected a line of column names and one per team."
BAD_FILES = {
    "": NO_TEAMS,
    "team,score,runtime\n\n": NO_TEAMS,
    "team;score;runtime\nRed;1;1\n": (
        "the leaderboard lacks columns: team, score, runtime. It has: team;score;runtime."
    ),
    "team,score,runtime\nRed,1,1\nBlue,1\n": (
        "line 3 of the leaderboard has 2 cells. Expected 3, as in its first line."
    ),
    "team,score,runtime\nSmith, Jones,1,1\n": (
        "line 2 of the leaderboard has 4 cells. Expected 3, as in its first line."
    ),
    "team,score,runtime\nRed,none,1\n": (
        "score is wrong in 1 row of the leaderboard: Red ('none'). "
        "Expected a finite number, at least 0, or nothing where it is missing."
    ),
    "team,score,runtime\nRed,1,-1\n": (
        "runtime is wrong in 1 row of the leaderboard: Red ('-1'). "
        "Expected seconds, a finite number above 0, or nothing where it is missing."
    ),
}


@pytest.mark.parametrize(("content", "expected"), BAD_FILES.items())
def test_wrong_data_exits_with_4(file: Any, capsys: Any, content: str, expected: str):
    for more in ([], ["--what-if", "Red"], ["--json"]):
        assert main([file(content), *more]) == 4
        assert capsys.readouterr() == ("", f"error: {expected}\n")


@pytest.mark.parametrize(
    "content", ["team,score,runtime\nR\u00e9d,1,1\n".encode("latin-1"), b'team,"a" b\nx,y\n', b"\xff\xfe"]
)
def test_a_file_that_is_no_csv_exits_with_4(file: Any, capsys: Any, content: bytes):
    assert main([file(content)]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: the leaderboard is no CSV file in UTF-8: ")


def test_wrong_usage_exits_with_2(file: Any, capsys: Any, tmp_path: Path):
    missing = str(tmp_path / "missing.csv")
    assert main([missing]) == 2
    assert capsys.readouterr() == ("", f"error: {missing} cannot be read: No such file or directory.\n")
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr() == ("", f"error: {tmp_path} cannot be read: Is a directory.\n")
    assert main([file(TEXT_2), "--what-if", "Yelow"]) == 2
    expected = "error: 'Yelow' is no team of the leaderboard. Expected one of its teams, such as Yellow.\n"
    assert capsys.readouterr() == ("", expected)
    for wrong in ([], [file(TEXT_2), "--fast"], [file(TEXT_2), "--what-if"]):
        with pytest.raises(SystemExit, match=r"^2$"):
            main(wrong)
        assert capsys.readouterr().out == ""


def test_the_printed_leaderboard(file: Any, capsys: Any):
    assert main([file(TEXT_2)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines() == [
        "Final leaderboard",
        " rank   team  score  runtime  eligible  slowdown   boost  boosted_score  rank_before",
        "    1 Yellow   0.58       40      True         1    0.05          0.609            4",
        "    2   Blue  0.595       45      True     1.125 0.01875     0.60615625            2",
        "    3    Red    0.6       50      True      1.25       0            0.6            1",
        "    4  Green   0.59       48      True       1.2       0           0.59            3",
    ]


def test_the_printed_what_if(file: Any, capsys: Any):
    assert main([file(TEXT_2), "--what-if", "Red"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    now, curve, changes = out.split("\n\n")
    assert now.splitlines()[0] == "The team now"
    assert now.splitlines()[2].split() == ["3", "Red", "0.6", "50", "True", "1.25", "0", "0.6", "1"]
    rows = [line.split() for line in curve.splitlines()[2:]]
    assert [row[0] for row in rows] == ["32", "34", "36", "38", "40", "42", "44", "46", "48", "50"]
    assert [row[-1] for row in rows] == ["1", "1", "1", "1", "1", "1", "1", "2", "3", "3"]
    assert [line.split() for line in changes.splitlines()[2:]] == [
        ["45.6", "1", "2"],
        ["46.35833333", "2", "3"],
    ]


def test_the_runtimes_tried_are_around_the_fastest_rival(file: Any, capsys: Any):
    for team, first in (("Yellow", "36"), ("Green", "32")):
        assert main([file(TEXT_2), "--what-if", team]) == 0
        assert capsys.readouterr().out.split("\n\n")[1].splitlines()[2].split()[0] == first


def test_what_is_missing_is_said_on_stderr(file: Any, capsys: Any):
    assert main([file("team,score,runtime\nA,0.6,\nB,,3\nC,0.6,\nD,0.6,4\n")]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        "warning: no runtime, so not eligible: A, C",
        "warning: no score, so ranked last and not eligible: B",
    ]
    assert "no runtime, so not eligible" in out


def test_json(file: Any, capsys: Any):
    assert main([file(TEXT_2 + "Grey,,\n"), "--json"]) == 0
    out = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert out["version"] == boost_file.__version__
    assert [row["team"] for row in out["leaderboard"]] == ["Yellow", "Blue", "Red", "Green", "Grey"]
    assert out["leaderboard"][1] == {
        "rank": 2,
        "team": "Blue",
        "score": 0.595,
        "runtime": 45.0,
        "eligible": True,
        "slowdown": 1.125,
        "boost": 0.01875,
        "boosted_score": 0.60615625,
        "rank_before": 2,
        "note": "",
    }
    assert out["leaderboard"][4]["boosted_score"] is None
    assert main([file(TEXT_2), "--what-if", "Red", "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert list(out) == ["version", "now", "what_if", "break_even_runtimes"]
    assert out["now"][0]["team"] == "Red"
    assert out["what_if"] == what_if(TABLE_2, "Red", [row["runtime"] for row in out["what_if"]]).to_dict(
        "records"
    )
    assert out["break_even_runtimes"] == break_even_runtimes(TABLE_2, "Red").to_dict("records")


@pytest.mark.parametrize("cells", ["0,40", ",40", "0.6,", ","])
def test_what_if_on_a_board_where_nobody_is_eligible(file: Any, capsys: Any, cells: str):
    assert main([file(f"team,score,runtime\nRed,{cells}\nBlue,,\n"), "--what-if", "Red"]) == 0
    curve = capsys.readouterr().out.split("\n\n")[1]
    assert len(curve.splitlines()) == (12 if "40" in cells else 2)


def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-W", "error", str(FILE), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_as_a_program(file: Any):
    good = run(file(TEXT_2), "--what-if", "Blue")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("The team now\n")
    bad = run(file("team,score\nRed,1\n"))
    assert (bad.returncode, bad.stdout) == (4, "")
    assert bad.stderr == "error: the leaderboard lacks columns: runtime. It has: team, score.\n"


def test_a_terminal_that_cannot_show_a_name(file: Any):
    result = run(file("team,score,runtime\n青,0.6,40\n"), PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (0, "")
    assert "\\u9752" in result.stdout


def test_pasted_into_a_notebook_it_only_defines(capsys: Any, monkeypatch: Any):
    monkeypatch.setattr(sys, "argv", ["ipykernel_launcher.py", "-f", "kernel.json"])
    cell: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(FILE.read_text(encoding="utf-8"), "<cell>", "exec"), cell)
    assert capsys.readouterr() == ("", "")
    pd.testing.assert_frame_equal(cell["boost"](TABLE_2), boost(TABLE_2))
