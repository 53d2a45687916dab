"""`podium estimate` works as participants run it: its output, options, files and exit codes."""

import json

import pytest

from podium import cli
from podium.ranking.estimate import break_even_runtimes, what_if
from tests.support import command_line
from tests.support.boards import TABLE_2


@pytest.fixture
def board(tmp_path):
    """The path of a leaderboard with runtimes."""
    path = tmp_path / "board.csv"
    TABLE_2.to_csv(path, index=False)
    return str(path)


def test_runtimes_and_parameters(capsys, board):
    runtimes = "45.6, 41,45.60000000000000000000000000000001"
    assert cli.main(["estimate", board, "Red", "--runtimes", runtimes, "--max-boost", "0.1", "--json"]) == 0
    out = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert list(out) == ["version", "now", "what_if", "break_even_runtimes"]
    assert out["now"][0]["rank"] == 3
    assert out["what_if"] == what_if(TABLE_2, "Red", runtimes.split(","), max_boost=0.1).to_dict("records")
    assert out["break_even_runtimes"] == break_even_runtimes(TABLE_2, "Red", max_boost=0.1).to_dict("records")


def test_without_a_team_the_teams_are_listed(capsys, board):
    assert cli.main(["estimate", board]) == 0
    told = capsys.readouterr().out.strip().splitlines()
    assert told[0] == "The teams, of which TEAM is one"
    assert sorted(line.split()[1] for line in told[2:]) == sorted(TABLE_2["team"])
    assert cli.main(["estimate", board, "--json"]) == 0
    assert [row["team"] for row in json.loads(capsys.readouterr().out)["teams"]] == [
        line.split()[1] for line in told[2:]
    ]


@pytest.mark.parametrize("cells", ["0,40", ",40", "0.6,", ","])
def test_a_board_where_nobody_is_eligible(capsys, tmp_path, cells):
    board = tmp_path / "board.csv"
    board.write_text(f"team,score,runtime\nRed,{cells}\nBlue,,\n")
    assert cli.main(["estimate", str(board), "Red"]) == 0
    now, curve, changes, chance = capsys.readouterr().out.split("\n\n")
    assert "not eligible" in now or "nobody is eligible" in now
    told = "none; write the runtimes of other teams into the board, or try some with --runtimes"
    assert curve.splitlines()[1:] == [told] or len(curve.splitlines()) == 12
    assert changes.splitlines()[1] == "none"
    assert "20 to 60 of 100 gains of a rank that a Public board promised came true" in chance
    assert ("40" in cells) == (len(curve.splitlines()) == 12)


def test_a_board_without_runtimes_lacks_a_column(capsys, tmp_path):
    """A leaderboard from Kaggle has no runtimes. The error says so, because nothing could be estimated
    without them.
    """
    board = tmp_path / "board.csv"
    board.write_text("team,score\nRed,0.6\nBlue,0.5\n")
    assert cli.main(["estimate", str(board), "Red"]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"error: {board}: add the column runtime (seconds), with at least your own and those of the fastest "
        "teams; the board has team, score\n"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["Yelow"], 2, "error: expected a team of the leaderboard, such as 'Yellow'; found 'Yelow'"),
        (["\udcff"], 2, "'Green'; found '\\udcff'"),  # a byte that is no text in the terminal's encoding
        (["Red", "--runtimes", "30,,40"], 2, "runtimes: expected seconds, finite numbers above 0, found ''"),
        (["Red", "--eligibility-ratio", "0.5"], 4, "error: eligibility_ratio: expected a finite number from 1"),
        (["--runtimes", "40"], 2, "--runtimes needs TEAM"),
    ],
)
def test_wrong_arguments(capsys, board, arguments, code, message):
    given, out, err = command_line.run(capsys, "estimate", board, *arguments)
    assert (given, out) == (code, "")
    assert message in err
