"""If teams have the same score, the board says what decided; a prize that a name decided gives a warning."""

import pandas as pd
import pytest

import boost
from podium.ranking import rewards
from podium.ranking.rules import Rules


def board(**columns) -> pd.DataFrame:
    """A board with these columns."""
    return boost.boost(pd.DataFrame(columns))


@pytest.mark.parametrize(
    ("columns", "decided"),
    [
        ({"score": [0.5, 0.5, 0.4], "runtime": [10, 11, 10]}, ["", ""]),  # the faster one is boosted
        ({"score": [0.5, 0.5, 0.4], "runtime": [10, 10, 10]}, [rewards.BY_NAME, ""]),
        ({"score": [0.5, 0.5, 0.1], "runtime": [30, 40, 10]}, ["", ""]),
        ({"score": [0.5, 0.5, 0.5], "runtime": [30, 36, 37]}, ["", rewards.BY_RUNTIME]),  # neither is boosted
        ({"score": [0.5, 0.525], "runtime": [10, 100]}, [rewards.BY_RUNTIME]),  # equal by a reward of 5%
        ({"score": [0.5, 0.5], "submitted_at": ["2024-01-02", "2024-01-01"]}, [rewards.BY_TIME]),
        ({"score": [0.5, 0.5], "submitted_at": ["", "2024-01-01"]}, [rewards.BY_KNOWN_TIME]),
    ],
)
def test_what_decided(columns, decided):
    leaderboard = board(team=["a", "b", "c"][: len(decided) + 1], **columns)
    assert rewards.decided_between(leaderboard, Rules(), True) == decided


def test_scores_that_differ_by_less_than_a_float_shows_are_no_tie():
    leaderboard = board(team=["a", "b"], score=["0.5", "0.50000000000000000001"])
    assert leaderboard["boosted_score"].nunique() == 1
    exactly = leaderboard.assign(score=["0.50000000000000000001", "0.5"], runtime=None)
    assert rewards.decided_between(exactly, Rules(), False) == [""]


def test_without_rewards_runtimes_decide_nothing():
    leaderboard = board(team=["a", "b"], score=[0.5, 0.5]).assign(runtime=[20.0, 10.0])
    assert rewards.decided_between(leaderboard, Rules(boost=False), False) == [rewards.BY_NAME]
    assert rewards.decided_between(leaderboard.head(1), Rules(), False) == []


def test_both_teams_are_told():
    assert rewards.notes(["a", "b", "c", "d"], [rewards.BY_TIME, rewards.BY_NAME, ""]) == [
        "same score as b, ranked before it by the earlier submission",
        "same score as a, ranked after it by the later submission",
        "same score as b, ranked after it by the order of the names",
        "",
    ]


def test_a_prize_that_a_name_decided_is_a_warning_on_screen_and_page(says_folder, says, rank_says):
    for team, first, second in (("Ada", 0.75, 0.75), ("Bo", 0.5, 1), ("Cy", 0.25, 0.25), ("Di", 0, 0.5)):
        says(team, first, second)
    code, _, err = rank_says("--prizes", 1)
    warning = "place 1 was decided by the order of the names: Ada and Bo have the same score"
    assert code == 0
    assert f"warning: {warning}\n" in err
    assert "place 3" not in err  # wins no prize
    leaderboard = pd.read_csv(says_folder / "final" / "final_leaderboard.csv", keep_default_na=False)
    assert leaderboard["note"].tolist() == [
        "same score as Bo, ranked before it by the order of the names",
        "same score as Ada, ranked after it by the order of the names",
        "same score as Di, ranked before it by the order of the names",
        "same score as Cy, ranked after it by the order of the names",
    ]
    html = (says_folder / "final" / "board.html").read_text(encoding="utf-8")
    assert f"<li>P{warning[1:]}.</li>" in html
    assert "Ada and Bo have the same score, 0.75000; the order of the names puts Ada first." in html
    for note in leaderboard["note"]:
        assert f"<small>{note}</small>" in html
