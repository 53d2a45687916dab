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
    code, out, err = rank_says("--prizes", 1)
    warning = "place 1 was decided by the order of the names: Ada and Bo have the same score"
    assert code == 0
    assert f"warning: {warning}\n" in err
    assert "place 3" not in err  # wins no prize
    assert "The prize of place 1 hangs on a name: share or draw lots." in out
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


@pytest.mark.parametrize(
    ("best", "prizes", "told", "warning"),
    [
        (
            1,
            3,
            "The prizes of places 2 and 3 hang on a name",
            "places 2 and 3 were decided by the order of the",
        ),
        (3, 3, "No prize hangs on a name.", None),
        (1, 0, "", None),
        (
            0,
            1,
            "The prize of place 1 hangs on a name",
            "place 1 was decided by the order of the names: 9 teams",
        ),
    ],
)
def test_places_of_many_equal_files_mean_nothing(says_folder, says, rank_says, best, prizes, told, warning):
    for number in range(best):
        says(f"best{number}", 1 - number / 10)
    for number in range(9):  # they hand in the starter
        says(f"starter{number}", 0.25, 0.25)
    code, out, err = rank_says("--prizes", prizes)
    assert code == 0
    (sentence,) = [line for line in out.splitlines() if line.startswith("Teams with the same score stand in")]
    places = f"places {best + 1} to {best + 9} (9 teams, which sent the same file)"
    assert sentence == (
        f"Teams with the same score stand in the order of the names at {places}: which of these places a team "
        "has means nothing."
    )
    assert told in out
    assert told in (says_folder / "final" / "board.html").read_text(encoding="utf-8")
    assert prizes or "prize hangs" not in out
    assert err.count("decided by the order of the names") == (warning is not None)
    assert warning is None or warning in err
