"""Predictions that differ from run to run and have the same scores punish nobody."""

from pathlib import Path

import pytest

import podium
from podium.ranking.final import FinalBoard
from podium.running.rounds import Plan
from podium.words.errors import HostError
from tests.ranking.conftest import SAYS
from tests.running.support import table
from tests.running.test_rounds import Player, model, play

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # each test asks for those that it is about

SAME, SWAPPED = "id,says\n1,0.2\n2,0.4\n", "id,says\n1,0.4\n2,0.2\n"  # with the same mean
ANSWERS = {
    "Steady": SAME,
    "Agrees": SAME,
    "Agrees1": SWAPPED,
    "Agrees3": SWAPPED,
    "Warm": SAME,
    "Warm0": SWAPPED,
    "Guesses": SAME,
    "Guesses2": "id,says\n1,0.2\n2,0.400001\n",
    "Refused": SAME,
    "Refused1": "id,says\n1,0.2\n",
}
DIFFER, AGREE = "predictions differ: the slowest run counts; measured once", "predictions differ, scores agree"


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """A folder of `podium run` with these models, each of which takes another millisecond with every run."""
    (tmp_path / "says.py").write_text(SAYS)
    (tmp_path / "solution.csv").write_text("id,truth\n1,1\n2,0\n")
    player = Player({"Steady": 1.0, "Agrees": 2.0, "Warm": 4.0, "Guesses": 8.0, "Refused": 16.0}, **ANSWERS)
    play(tmp_path, player, plan=Plan(3))
    return tmp_path


def rank(folder: Path, out: str = "board") -> FinalBoard:
    """The board of these models."""
    run = folder / "out"
    paths = [folder / "solution.csv", run / "submissions", run / "runtimes.csv"]
    return podium.rank(*paths, metric=folder / "says.py", out=folder / out, resamples=0, jobs=1)


def told(board: FinalBoard) -> dict[str, tuple[float, str]]:
    """The runtime of each team, with what the warnings say of it."""
    [marked] = [line for line in board.facts["warnings"] if "marked: " in line]
    runtimes = board.leaderboard.set_index("team")["runtime"]
    return {
        team: (runtime, marked.partition(f"{team} (")[2].partition(")")[0])
        for team, runtime in runtimes.items()
    }


def test_all_runs_count_where_the_scores_agree(ran: Path) -> None:
    before = {row["team"]: (float(row["runtime"]), row["marks"]) for row in table(ran / "out" / "runtimes.csv")}
    assert before["Agrees"] == (2.003, DIFFER)
    board = rank(ran)
    assert told(board) == {
        "Steady": (1.002, ""),
        "Agrees": (2.002, AGREE),
        "Warm": (4.002, AGREE),
        "Guesses": (8.003, DIFFER),
        "Refused": (16.003, DIFFER),
    }
    assert len(board.submissions) == len(before)
    assert podium.verify(ran / "board", jobs=1).differences == []
    assert told(podium.rank(again=ran / "board", out=ran / "later", resamples=0, jobs=1)) == told(board)


def test_what_was_kept_decides_only_as_it_was_left(ran: Path) -> None:
    """Whoever replaces or removes predictions, or forges the column that names them, gains nothing."""
    rank(ran)
    run = ran / "out"
    rows = {row["team"]: row for row in table(run / "runtimes.csv")}
    [kept] = (run / "differing" / "Guesses").glob(f"{rows['Guesses']['differing']}")
    before = kept.read_text()
    kept.write_text(SAME)
    with pytest.warns(UserWarning, match="lacks predictions of Guesses, so the slowest run counts"):
        assert told(rank(ran, "other"))["Guesses"] == (8.003, DIFFER)
    kept.write_text(before)
    (run / "differing" / "Agrees" / rows["Agrees"]["differing"]).unlink()
    with pytest.warns(UserWarning, match="lacks predictions of Agrees"):
        assert any("runtime" in line for line in podium.verify(ran / "board", jobs=1).differences)
    runtimes = (run / "runtimes.csv").read_text()
    (run / "runtimes.csv").write_text(runtimes.replace(rows["Guesses"]["differing"], "../../solution.csv"))
    with pytest.raises(HostError, match="expected files by their SHA-256 in the column differing, found"):
        rank(ran, "other")


def test_only_what_differs_is_kept_and_goes_with_its_model(ran: Path) -> None:
    differing = ran / "out" / "differing"
    assert {path.name: len([*path.iterdir()]) for path in differing.iterdir()} == {
        "Agrees": 2, "Warm": 2, "Guesses": 2, "Refused": 2,
    }  # fmt: skip
    changed = [model("Steady"), model("Agrees", digest="2")]
    play(ran, Player({"Steady": 1.0, "Agrees": 2.0}, Steady=SAME, Agrees=SAME), changed, Plan(3))
    assert not differing.exists() or not [*differing.iterdir()]
    assert [row["differing"] for row in table(ran / "out" / "runtimes.csv")] == ["", ""]
