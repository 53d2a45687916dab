"""The noise of runtimes is estimated correctly and reported."""

import numpy as np
import pandas as pd
import pytest

from podium.ranking import speed
from podium.statistics import places, population

# The standard error of the median of four runs of one team, of which each has an error of 1%.
A_KNOWN = {"runtime_error": [0.5, None, None], "runs": ["4", "", "1"]}
BOARD = pd.DataFrame(
    {
        "team": ["a", "b", "c"], "submission": ["a.csv", "b.csv", "c.csv"], "runtime": [100.0, 200.0, 400.0],
        "rank": [1, 2, 3], "eligible": [True, True, False], "boost": [0.0, 0.05, 0.0], "prize": [pd.NA] * 3,
    }
)  # fmt: skip
BORDERS = ((0, 1), (1, 2))  # of three teams that may all win a prize


def table(**columns) -> pd.DataFrame:
    """Runtimes of three teams with further columns, as they are read from a file."""
    frame = pd.DataFrame({"team": ["a", "b", "c"], "runtime": [100, 200, 400]} | columns)
    return frame.astype(object).where(frame.notna(), None)


def test_a_standard_error_is_drawn_with():
    runtimes = table(runtime_error=[1.0, 4.0, None], runs=["4", "9", "1"])
    drawn = np.log(speed.draw(BOARD, runtimes, 20_000, 0) / BOARD["runtime"].to_numpy())
    assert drawn.mean(axis=0) == pytest.approx([0, 0, 0], abs=0.002)
    # c was measured once. One run has an error of 2% for a and 6% for b, weighted by runs beyond the first.
    pooled = np.sqrt((3 * 0.02**2 + 8 * 0.06**2) / 11)
    assert drawn.std(axis=0) == pytest.approx([0.01, 0.02, pooled], rel=0.03)
    noise = speed.noise_of(BOARD, runtimes)
    assert noise.of_one_run == pytest.approx(pooled)
    assert noise.once.tolist() == [False, False, True]
    # Without a number of runs, the error is taken for that of one run.
    unknown = speed.noise_of(BOARD, table(runtime_error=[1.0, None, None]))
    assert unknown.of_one_run == pytest.approx(0.01)
    assert unknown.once.tolist() == [False, True, True]
    without = speed.noise_of(BOARD.assign(runtime=[100, np.nan, 400]), table())
    assert without.once.tolist() == [True, False, True]


def test_a_runtime_that_was_measured_once_is_never_certain_if_any_noise_is_known():
    drawn = speed.draw(BOARD, table(**A_KNOWN), 500, 0)
    assert (drawn.std(axis=0) > 0).all()
    assert speed.noise_of(BOARD, table(**A_KNOWN)).of_one_run == pytest.approx(0.01)
    assert (speed.draw(BOARD, table(), 500, 0) == [100, 200, 400]).all()
    assert not speed.noise_of(BOARD, table()).is_known
    assert not speed.noise_of(BOARD, None).is_known


def test_measured_once_is_said():
    assert [*map(str, speed.notices(BOARD, table()))] == [
        "all runtimes were measured once; how much they vary is not known, so nobody knows who would be first "
        "again"
    ]
    assert [*map(str, speed.notices(BOARD, table(**A_KNOWN)))] == [
        "2 of 3 runtimes were measured once (b, c); podium assumes that another run would differ as much as "
        "the runs of other models do, by about 1.0%"
    ]
    assert speed.notices(BOARD, table(runs=["3", "3", "2"])) == []
    assert speed.notices(BOARD.assign(runtime=np.nan), None) == []


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ([40, 200, 400], ["the shortest runtime, 40 s of a, is less than a fifth of the median, 200 s: "]),
        ([41, 200, 400], []),
        ([100, 200, 10_000], ["the longest runtime, 10000 s of c, is at least 50 times the median, 200 s: "]),
        ([100, 200, 9_999], []),
    ],
)
def test_a_runtime_far_from_the_others_is_a_warning(seconds, said):
    """The warning is about runtimes that somebody typed: podium run measures seconds."""
    errors = table(runtime=seconds, runtime_error=[1, 1, 1])
    notices = speed.notices(BOARD.assign(runtime=seconds), errors)
    assert [str(notice).partition("make sure that it is in seconds")[0] for notice in notices] == said
    assert speed.notices(BOARD.assign(runtime=seconds), table(runtime=seconds, runs=["2", "2", "2"])) == []


def test_marks_and_provisional_runtimes_are_said():
    runtimes = table(
        runs=["2", "2", "2"], runtime_error=[1, 1, 1], marks=["the machine was slow", None, None],
        provisional=["False", "true", None], state=[None, "a shared machine", None],
    )  # fmt: skip
    assert [*map(str, speed.notices(BOARD, runtimes))] == [
        "1 of 3 runtimes are provisional (a shared machine): measure them again",
        "1 runtime marked: a (the machine was slow)",
    ]


@pytest.mark.parametrize(
    ("before", "may_win", "prizes", "moves"),
    [
        ([1, 2, 3], (0, 1, 2), 3, False),
        ([2, 1, 3], (0, 1, 2), 1, True),
        ([2, 1, 3], (0, 2), 2, False),  # whom speed has overtaken may win no prize
        ([1, 3, 2], (0, 1, 2), 1, False),  # it moves nobody at a prize
        ([1, 3, 2], (0, 1, 2), 2, True),
        ([2, 1, 3], (0, 1, 2), 0, False),
    ],
)
def test_speed_moves_prizes_where_the_winners_would_be_others_without_it(before, may_win, prizes, moves):
    assert speed.moves_prizes(BOARD.assign(rank_before=before), may_win, prizes) is moves


def test_the_warning_about_runtimes_comes_first_where_the_winner_leads_by_speed(says_folder, says, rank_says):
    """Of several warnings, three are shown, and the others are folded."""
    for team, first in (("Ada", 0.99), ("Bo", 1.0), ("Cy", 0.5), ("Di", 0.5), ("Eve", 0.4)):
        says(team, first, first)
    (says_folder / "failed.csv").write_text("team,model,reason\n")
    lines = "team,runtime,runs,provisional,state\n"
    for slowest, decides in (("Ada", False), ("Bo", True)):
        rows = [f"{team},{9 if team == slowest else 3},1,true,a busy machine" for team in ("Ada", "Bo")]
        (says_folder / "runtimes.csv").write_text(lines + "\n".join(rows))
        more = "--prizes", 3, "--failed", says_folder / "failed.csv"
        code, _, err = rank_says(says_folder / "runtimes.csv", *more)
        assert code == 0
        page = (says_folder / "final" / "board.html").read_text(encoding="utf-8")
        first = page.partition('class="warnings"')[2].partition("<li>")[2].partition("</li>")[0]
        assert (first == "All runtimes are provisional (a busy machine): measure them again.") == decides
        assert err.count("all runtimes are provisional (a busy machine)") == 1


def test_marks_of_prize_winners_and_boosted_teams_come_first():
    marks = table(runs=["2"] * 3, runtime_error=[1] * 3, marks=["order undecided: b", "x", "y"])
    order = [["b (x)", "a (order", "c (y)"], ["a (order", "b (x)", "c (y)"], ["c (y)", "b (x)", "a (order"]]
    for board, expected in (
        (BOARD, order[0]),
        (BOARD.assign(prize=[1, pd.NA, pd.NA]), order[1]),
        (BOARD.assign(rank=[3, 2, 1], prize=[pd.NA, pd.NA, 1]), order[2]),
    ):
        (said,) = map(str, speed.notices(board, marks))
        places = [said.index(each) for each in expected]
        assert places == sorted(places)


def test_runtimes_are_drawn_apart_from_scores():
    streams = [speed.STREAM, places.STREAM, population.STREAM]
    assert len({*streams}) == len(streams), "equal streams would tie the noise of runtimes to that of scores"


@pytest.mark.parametrize(
    ("columns", "is_told"),
    [
        ({}, True),  # nothing is known about the noise
        ({"runtime_error": [0.001, 0.001, 1], "runs": ["5", "5", "5"]}, True),
        ({"runtime_error": [0.0001, 0.0001, 1], "runs": ["5", "5", "5"]}, False),
    ],
)
def test_an_equal_score_that_a_tiny_runtime_decides_is_a_warning(columns, is_told):
    board = BOARD.assign(runtime=[0.082, 0.084, 400], score=[0.6, 0.6, 0.5], boosted_score=[0.6, 0.6, 0.5])
    noise = speed.noise_of(board, table(**columns))
    for entries, what in (((0, 0, 1), "sent the same file"), ((0, 1, 2), "have the same score")):
        said = (
            "place 1 was decided by a runtime of 0.082 s against 0.084 s, which another run may turn around: "
            f"a and b {what}"
        )
        assert [*map(str, speed.ties(board, noise, entries, BORDERS))] == [said] * is_told
    earlier = board.assign(submitted_at=["2026-03-01", "2026-03-02", "2026-03-03"])
    assert speed.ties(earlier, noise, (0, 0, 1), BORDERS) == []
