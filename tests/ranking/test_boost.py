"""boost.py agrees with section 4 of the memo and a literal transcription of it, and reads files as users
have them.
"""

import contextlib
import io
import runpy
import sys
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
from boost import LeaderboardError, boost, boost_fractions, exact, floats, main, parse, ranks, read_leaderboard
from tests.support.boards import (
    PARAMETERS,
    QUICK,
    TABLE_2,
    TABLE_3,
    Row,
    by_team,
    leaderboard,
    leaderboards,
    transcribed,
)
from tests.support.examples import examples

FILE = Path(boost_file.__file__)


def to_three_digits(number: float) -> str:
    """Round as the memo does: 0.6225 becomes about 0.623."""
    return str(Decimal(repr(number)).quantize(Decimal("0.001"), ROUND_HALF_UP).normalize())


# ---- The memo, section 4 ----


def test_footnote_8_overtaking_takes_20_percent_more_time():
    """At the ratio 1.05, N reaches M's score exactly when M takes 20% more time. Above this ratio N passes
    M.
    """

    def first(beta: float, runtime: float) -> str:
        return str(boost(leaderboard(("M", 0.63, runtime), ("N", beta, 50)))["team"].iloc[0])

    assert first(0.6, 60) == first(0.6, 100) == "N"  # equal scores, and N is the faster
    assert boost(leaderboard(("M", 0.63, 60), ("N", 0.6, 50)))["boosted_score"].tolist() == [0.63, 0.63]
    assert first(0.6, 59.999) == "M"
    assert first(0.600001, 60) == "N"


def test_table_2():
    board = boost(TABLE_2)
    assert board["team"].tolist() == ["Yellow", "Blue", "Red", "Green"]
    assert board["rank"].tolist() == [1, 2, 3, 4]
    assert board["rank_before"].tolist() == [4, 2, 1, 3]
    assert board["eligible"].all()
    assert board["slowdown"].tolist() == [1.0, 1.125, 1.25, 1.2]
    assert board["boost"].tolist() == [0.05, 0.01875, 0.0, 0.0]
    assert board["boosted_score"].tolist() == [0.609, 0.60615625, 0.6, 0.59]
    assert [to_three_digits(score) for score in board["boosted_score"]] == ["0.609", "0.606", "0.6", "0.59"]


def test_table_3_faster_teams_that_are_not_eligible_do_not_count():
    board = boost(TABLE_3)
    assert board["team"].tolist() == ["Red", "Green", "Blue", "Yellow"]
    assert board["rank"].tolist() == board["rank_before"].tolist() == [1, 2, 3, 4]
    assert board["eligible"].tolist() == [True, True, False, False]
    assert board["slowdown"].tolist() == [1.05, 1.0, 0.9375, float(Fraction(5, 48))]
    assert board["boost"].tolist() == [0.0375, 0.05, 0.0, 0.0]
    assert [to_three_digits(score) for score in board["boosted_score"]] == ["0.623", "0.62", "0.55", "0.25"]


# ---- A literal transcription ----


@settings(examples(500), derandomize=True)
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
            found = None if np.isnan(row[name]) else row[name]
            assert found == (None if team[name] is None else float(team[name]))


# ---- Exact at the limits ----


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


# ---- Properties ----


@QUICK
@given(leaderboards(), st.randoms(use_true_random=False))
def test_neither_the_order_nor_the_index_counts_and_a_board_is_its_own_board(board: pd.DataFrame, random: Any):
    result = boost(board)
    rows = list(range(len(board)))
    random.shuffle(rows)
    shuffled = board.iloc[rows]
    before = shuffled.copy(deep=True)
    pd.testing.assert_frame_equal(boost(shuffled), result)
    pd.testing.assert_frame_equal(shuffled, before)
    pd.testing.assert_frame_equal(boost(result), result)


# ---- Many boards at once ----


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


def test_the_tolerance_of_floats_excludes_nobody_and_admits_nobody():
    """0.5943 / 0.566 is 1.05, and a little more in floats.  0.6300000001 / 0.6 is more than 1.05."""
    assert boost_fractions([0.5943, 0.566], [9, 9])[0].tolist() == [True, True]
    assert boost_fractions([0.6300000001, 0.6], [9, 9])[0].tolist() == [True, False]


def test_a_board_without_eligible_teams_among_others():
    eligible, slowdown, fraction = boost_fractions([[0.6, 0.5], [0, 0], [np.nan, np.nan]], [10, np.nan])
    assert eligible.tolist() == [[True, False], [False, False], [False, False]]
    np.testing.assert_array_equal(slowdown, [[1, np.nan], [np.nan, np.nan], [np.nan, np.nan]])
    assert fraction.tolist() == [[0.05, 0], [0, 0], [0, 0]]


# ---- Ties ----


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


# ---- Missing values ----


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


# ---- Values as users have them ----


def test_columns_and_types():
    board = boost(TABLE_2.assign(rank="before", members=["r", "b", "g", "y"]).set_index("team", drop=False))
    assert board.columns.tolist() == [
        *("team", "score", "runtime", "members", "eligible", "slowdown", "boost"),
        *("boosted_score", "rank", "rank_before", "note"),
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


# ---- Exact beyond floats ----


def test_text_keeps_digits_that_no_float_has():
    """A tiny difference decides eligibility, boost and rank. As floats, all of these values would be equal."""
    hair = "0." + "0" * 40 + "1"
    for best, eligible in (("0.63", True), (f"0.63{hair[2:]}", False)):
        board = boost(leaderboard(("M", best, "9"), ("N", Decimal("0.60"), Decimal(9))))
        assert by_team(board, "eligible")["N"] is eligible
    board = boost(leaderboard(("fastest", 1, "40"), ("slow", 1, "48"), ("less slow", 1, f"47.{'9' * 30}")))
    assert by_team(board, "slowdown")["less slow"] == 1.2
    assert by_team(board, "boost")["slow"] == 0 < by_team(board, "boost")["less slow"] < 1e-28
    board = boost(leaderboard(("A", "0.5", None), ("B", f"0.5{hair[2:]}", None), ("C", Decimal("0.50"), None)))
    assert board["team"].tolist() == ["B", "A", "C"]


@QUICK
@given(st.decimals(allow_nan=False, allow_infinity=False, places=9), st.floats(-1e300, 1e300))
def test_exact_is_the_decimal(decimal: Decimal, number: float):
    assert exact(number) == exact(np.float64(number)) == exact(Decimal(repr(number))) == Fraction(repr(number))
    assert exact(decimal) == exact(f" {decimal} ") == Fraction(decimal)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1e999999999", None),
        (Decimal("1e999999999"), None),
        ("1e-999999999", 0),
        ("." + "3" * 999, Fraction("." + "3" * 999)),
        ("." + "3" * 1000, None),
        (10**400, None),
        ("5.", 5),
        ("+.5e1", 5),
    ],
)
def test_hostile_numbers_take_no_time(cell: object, value: Fraction | None):
    assert exact(cell) == value


def test_the_largest_float_and_what_rounds_to_more():
    largest = sys.float_info.max
    half_a_step = 2**970
    numbers = [Fraction(largest), Fraction(largest) + half_a_step - 1, Fraction(largest) + half_a_step]
    assert floats(numbers).tolist() == [largest, largest, np.inf]


# ---- Boards without runtimes ----


def test_a_date_without_a_time_is_not_before_a_time_of_that_day():
    for date in ("2024-01-23", "20240123", "2024-W04-2"):
        when = [date, "2024-01-23 23:59:00", "2024-01-24T00:00Z", date]
        board = leaderboard(*((team, 0.6, 50, time) for team, time in zip("ABCD", when)))
        assert boost(board)["team"].tolist() == ["B", "A", "D", "C"]


NEGATIVE = pd.DataFrame({"team": list("ABCD"), "score": [-0.2, 0.1, None, -0.3], "submitted_at": [None] * 4})


@pytest.mark.parametrize("board", [NEGATIVE, NEGATIVE.assign(runtime=None), NEGATIVE.assign(runtime="")])
def test_without_runtimes_the_score_ranks(board: pd.DataFrame):
    result = boost(board)
    assert result["team"].tolist() == ["B", "A", "D", "C"]
    assert result["rank"].tolist() == result["rank_before"].tolist() == [1, 2, 3, 4]
    assert result["boosted_score"].tolist()[:3] == result["score"].tolist()[:3] == [0.1, -0.2, -0.3]
    assert not result["eligible"].any()
    assert (result["boost"] == 0).all()
    assert result[["runtime", "slowdown"]].isna().all(axis=None)
    assert set(result["note"][:3]) == {"no runtime, so not eligible"}
    pd.testing.assert_frame_equal(boost(result), result)


def test_lower_may_be_better():
    result = boost(NEGATIVE, higher_is_better=False)
    assert result["team"].tolist() == ["D", "A", "B", "C"]
    assert result["rank_before"].tolist() == [1, 2, 3, 4]
    tied = NEGATIVE.assign(score=1, submitted_at=[None, "2024-01-02", "2024-01-01", None])
    assert boost(tied, higher_is_better=False)["team"].tolist() == ["C", "B", "A", "D"]


# ---- The parts that rankings of many draws use ----


@QUICK
@given(leaderboards())
def test_the_board_is_made_of_its_parts(board: pd.DataFrame):
    result = boost(board).set_index("team").loc[board["team"]]
    parsed = parse(board)
    assert parsed.teams == board["team"].tolist()
    eligible, _, fraction = boost_fractions(parsed.scores, parsed.runtimes)
    assert result["eligible"].tolist() == eligible.tolist()
    assert result["rank"].tolist() == ranks(parsed, parsed.scores * (1 + fraction)).tolist()
    as_floats = board["score"].to_numpy()
    draws = np.stack([as_floats, as_floats[::-1], np.zeros(len(board))])[:, np.newaxis]
    together = ranks(parsed, draws)
    assert together.shape == draws.shape
    assert together[0, 0].tolist() == result["rank_before"].tolist()
    for draw, rank in zip(draws[:, 0], together[:, 0]):
        expected = transcribed(board.assign(score=draw))
        assert rank.tolist() == [team["rank_before"] for team in expected]
        lower = ranks(parsed, draw, higher_is_better=False)
        assert lower.tolist() == ranks(parsed, -draw).tolist()


# ---- Errors ----


def message(board: Any, **parameters: Any) -> str:
    """The error message for a leaderboard."""
    with pytest.raises(LeaderboardError) as caught:
        boost(board, **parameters)
    assert len(str(caught.value)) <= 280
    return str(caught.value)


def of_rows(*rows: Row) -> pd.DataFrame:
    return leaderboard(*rows, dtype=object)


WORDS = [
    (of_rows(("Red", 1, 1), ("Blue", 1, 1), ("Red", 2, 2)),
     "team: expected a name in every row, and every team once. "
     "Wrong in 2 rows of the leaderboard: row number 1 ('Red'), row number 3 ('Red')"),
    (of_rows(*((f"team {i}", 1, -i) for i in range(1, 9))),
     "runtime: expected seconds, a finite number above 0, or nothing. "
     "Wrong in 8 rows of the leaderboard: team 1 ('-1'), team 2 ('-2'), team 3 ('-3')"),
    (NEGATIVE.assign(runtime=[1, None, None, None]),
     "score: expected a finite number, at least 0 where there are runtimes (without any, the score alone "
     "ranks), or nothing. Wrong in 2 rows of the leaderboard: A ('-0.2'), D ('-0.3')"),
    (of_rows(("Red", 1, 1, "now")),
     "submitted_at: expected a time in ISO 8601, such as 2024-01-23 14:05:33, or nothing. "
     "Wrong in 1 row of the leaderboard: Red ('now')"),
    (pd.DataFrame(columns=["team", "Score"]),
     "the leaderboard: expected one column score, found the columns team, Score"),
    (pd.DataFrame(), "the leaderboard: expected one column team, found the columns none"),
    ([], "the leaderboard: expected a DataFrame, found list"),
]  # fmt: skip


@pytest.mark.parametrize(("board", "expected"), WORDS)
def test_words_of_messages(board: Any, expected: str):
    assert message(board) == expected


def test_words_about_parameters():
    assert message(TABLE_2, max_boost="0.05") == (
        "max_boost: expected a finite number from 0 to 1, found str '0.05'"
    )
    assert message(TABLE_2, max_boost=5) == "max_boost: expected a finite number from 0 to 1, found int '5'"
    assert message(TABLE_2, higher_is_better=False) == (
        "higher_is_better: expected True, or False without any runtime, found bool 'False'"
    )


BAD_CELLS = {
    "team": [None, "", " ", np.nan, pd.NA, pd.NaT, ["a"], {"a": 1}, np.array(["a"]), "\ud800x", "Red"],
    "runtime": [0, -1.5, "-1e-400", np.inf, "1:30", "1_000", True, "٣", "0,6", [1], np.array([1]), "9" * 400],
    "score": [-0.1, -1e-300, "inf", "nan", "0x1", Decimal("inf"), pd.Timedelta(1), Fraction(1, 3), b"1"],
    "submitted_at": ["23.01.2024", "2024-13-01", 1706000000, "2024", True, ["2024-01-23"], "\ud800"],
}


@pytest.mark.parametrize(("column", "cell"), [(name, cell) for name in BAD_CELLS for cell in BAD_CELLS[name]])
def test_a_bad_cell_is_found(column: str, cell: object):
    board = of_rows(("Red", 1, 1, None), ("Blue", 1, 1, None))
    cells = board[column].tolist()
    board[column] = pd.Series([cells[0], cell], dtype=object)
    text = message(board)
    assert text.startswith(f"{column}: expected ")
    assert ("row number 2 ('" if column == "team" else ": Blue ('") in text
    assert text.encode()


def test_messages_are_short_and_printable_whatever_the_cells():
    wide = "\x00" * 1_000_000
    for rows in ([(f"{i}{wide}", 1, wide) for i in range(9)], [(wide, 1, 1), (wide, 1, 1)]):
        assert message(of_rows(*rows)).isprintable()
    assert len(message(pd.DataFrame(columns=[f"{i}{wide[:500]}" for i in range(9)]))) == 280
    for cell in ("9" * 1_000_000 + "x", "1e" + "9" * 1_000_000, "\n" * 1_000_000 + "1\n1"):
        assert "\n" not in message(of_rows(("Red\n" * 1000, 1, cell)))
    assert message(of_rows(("Red", "x" * 40, 1))).endswith(f"Red ('{'x' * 40}')")
    assert message(of_rows(("Red", "x" * 41, 1))).endswith(f"Red ('{'x' * 40}…')")


BAD_PARAMETERS = [
    *(("max_boost", value) for value in (-0.01, np.nan, np.inf, None, [0.05], True, 1j)),
    *(("eligibility_ratio", value) for value in (0.99, np.nan, "1.05", np.array([1.05, 2]))),
    *(("slowdown_limit", value) for value in (1, 0.5, np.nan, pd.NA)),
    *(("higher_is_better", value) for value in ("False", None, 0, np.array([True, False]))),
]


@pytest.mark.parametrize(("parameter", "wrong"), BAD_PARAMETERS)
def test_wrong_parameters(parameter: str, wrong: Any):
    assert message(NEGATIVE, **{parameter: wrong}).startswith(f"{parameter}: expected ")


# ---- Files and the command line ----

TEXT_2 = "team,score,runtime\nRed,0.6,50\nBlue,0.595,45\nGreen,0.59,48\nYellow,0.58,40\n"


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """A function that writes a leaderboard into a file and returns its path."""

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


NO_CELLS = "the leaderboard: expected a cell per column in a line per team, found "
BAD_FILES = {
    "": f"{NO_CELLS}no team",
    "team,score,runtime\n\n": f"{NO_CELLS}no team",
    'team,score,runtime\n\n"Red\nPen",1,1\nBlue,1\n': f"{NO_CELLS}2 of 3 in line 5",
    "team,score,runtime\nSmith, Jones,1,1\n": f"{NO_CELLS}4 of 3 in line 2",
    "team;score\nRed;1\n": "the leaderboard: expected one column team, found the columns team;score",
}


@pytest.mark.parametrize(("content", "expected"), BAD_FILES.items())
def test_wrong_data_exits_with_4(file: Any, capsys: Any, content: str, expected: str):
    assert main([file(content)]) == 4
    assert capsys.readouterr() == ("", f"error: {expected}\n")


@pytest.mark.parametrize(
    "content", ["team,score,runtime\nR\u00e9d,1,1\n".encode("latin-1"), b'team,"a" b\nx,y\n', b'team,"a\nx,y\n']
)
def test_a_file_that_is_no_csv_exits_with_4(file: Any, capsys: Any, content: bytes):
    assert main([file(content)]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: the leaderboard: expected a CSV file in UTF-8. ")


def test_wrong_usage_exits_with_2(file: Any, capsys: Any, tmp_path: Path):
    missing = str(tmp_path / "missing.csv")
    assert main([missing]) == 2
    assert capsys.readouterr() == ("", f"error: [Errno 2] No such file or directory: '{missing}'\n")
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: [Errno ")
    for wrong in ([], [file(TEXT_2), "--fast"]):
        with pytest.raises(SystemExit, match=r"^2$"):
            main(wrong)
        assert capsys.readouterr().out == ""


def test_the_printed_leaderboard(file: Any, capsys: Any):
    assert main([file(TEXT_2)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    with contextlib.redirect_stdout(io.StringIO()) as no_terminal:
        assert main([file(TEXT_2)]) == 0
    assert no_terminal.getvalue() == out
    assert out.splitlines() == [
        " rank   team  score  runtime  eligible  slowdown   boost  boosted_score  rank_before",
        "    1 Yellow   0.58       40      True         1    0.05          0.609            4",
        "    2   Blue  0.595       45      True     1.125 0.01875     0.60615625            2",
        "    3    Red    0.6       50      True      1.25       0            0.6            1",
        "    4  Green   0.59       48      True       1.2       0           0.59            3",
    ]


def test_a_name_cannot_move_the_terminal(file: Any, capsys: Any):
    assert main([file('team,score\n"A\x1b[2J\x07",0.5\n')]) == 0
    assert "\\x1b[2J\\x07" in capsys.readouterr().out


def test_run_as_a_file_it_exits_with_the_code(file: Any, capsys: Any, monkeypatch: Any):
    for content, code in ((TEXT_2, 0), ("", 4)):
        monkeypatch.setattr(sys, "argv", ["boost.py", file(content)])
        with pytest.raises(SystemExit) as stop:
            runpy.run_path(str(FILE), run_name="__main__")
        assert stop.value.code == code
    assert capsys.readouterr().out.startswith(" rank   team ")


def test_pasted_into_a_notebook_it_only_defines_and_needs_nothing_of_the_project(capsys: Any, monkeypatch: Any):
    monkeypatch.setattr(sys, "argv", ["ipykernel_launcher.py", "-f", "kernel.json"])
    for name in [name for name in sys.modules if name.partition(".")[0] == "podium"]:
        monkeypatch.setitem(sys.modules, name, None)  # an import of it fails
    cell: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(FILE.read_text(encoding="utf-8"), "<cell>", "exec"), cell)
    assert capsys.readouterr() == ("", "")
    pd.testing.assert_frame_equal(cell["boost"](TABLE_2), boost(TABLE_2))
