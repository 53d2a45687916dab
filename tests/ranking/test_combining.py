"""Several boards become one: what is added, what chance says about it, and what a verifier computes again."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import podium
from podium import cli
from podium.ranking import combining
from podium.ranking.combining import Choices
from podium.words.errors import HostError, UsageError

pytestmark = pytest.mark.slow

METRIC = """
import numpy as np
import pandas as pd
from podium.statistics import item_wise

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    return float((solution["y"].to_numpy() == submission["y"].to_numpy()).mean())

def higher_is_better() -> bool:
    return True

def prepare(solution: pd.DataFrame, row_id_column_name: str):
    def sums(truth, answers):
        return np.stack([truth["y"] == answers["y"], np.ones(len(truth))], axis=1).astype(float)

    return item_wise(
        solution, row_id_column_name,
        sums,
        lambda added: added[..., 0] / added[..., 1],
    )
"""
TEAMS = {"Ada": 0.9, "Bo": 0.86, "Cy": 0.7, "Di": 0.5}


def make_board(folder: Path, name: str, seed: int, teams: dict[str, float]) -> Path:
    """A board of teams with such shares of right answers."""
    draw, home = np.random.default_rng(seed), folder / f"{name}_inputs"
    (home / "teams").mkdir(parents=True)
    (home / "metric.py").write_text(METRIC)
    solution = pd.DataFrame({"id": range(150), "y": draw.integers(0, 2, 150)})
    solution.to_csv(home / "solution.csv", index=False)
    for team, share in teams.items():
        right = draw.random(150) < share
        solution.assign(y=np.where(right, solution["y"], 1 - solution["y"])).to_csv(
            home / "teams" / f"{team}.csv", index=False
        )
    how: dict[str, Any] = {"metric": home / "metric.py", "boost": False, "resamples": 200, "jobs": 1}
    podium.rank(home / "solution.csv", home / "teams", out=folder / name, **how)
    return folder / name


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two boards, and a table of points."""
    folder = tmp_path_factory.mktemp("boards")
    make_board(folder, "en", 1, TEAMS)
    make_board(folder, "fr", 2, {**TEAMS, "Di": 0.8})
    (folder / "jury.csv").write_text("team,score\nAda,1\nBo,3\nCy,2\nDi,2\n")
    return folder


def combined(boards: Path, out: Path, names: str, **choices: Any) -> Any:
    paths = [str(boards / name) for name in names.split()]
    return combining.combined(paths, out, Choices(**choices), "All", "")


def scores_of(folder: Path) -> "pd.Series[float]":
    return pd.read_csv(folder / "final_leaderboard.csv").set_index("team")["score"]


# --- what is added ------------------------------------------------------------------------------------


def test_scores_are_a_weighted_mean_of_columns(boards: Path, tmp_path: Path) -> None:
    final = combined(boards, tmp_path / "out", "en fr jury.csv", weights=(2.0, 1.0, 1.0))
    board = final.leaderboard.set_index("team")
    en, fr = scores_of(boards / "en"), scores_of(boards / "fr")
    points = pd.Series({"Ada": 1.0, "Bo": 3.0, "Cy": 2.0, "Di": 2.0})
    expected = en / 2 + fr / 4 + points / 4
    pd.testing.assert_series_equal(board["score"].sort_index(), expected.sort_index(), check_names=False)
    assert board["score"].is_monotonic_decreasing
    assert board["rank"].tolist() == [1, 2, 3, 4]
    assert board["en: has"].equals(board["en: adds"])
    assert (
        final.leaderboard["prize"].tolist() == [1, 2, 3, pd.NA] or final.leaderboard["prize"].isna().sum() == 1
    )


def test_ranks_and_wins_and_shares_of_the_best(boards: Path, tmp_path: Path) -> None:
    """With an odd team out, by hand: the jury has Bo 1, Cy and Di 2.5 each, and Ada 4."""
    ranks = {name: scores_of(boards / name).rank(ascending=False) for name in ("en", "fr")}
    jury = pd.Series({"Ada": 4.0, "Bo": 1.0, "Cy": 2.5, "Di": 2.5})
    by_rank = combined(boards, tmp_path / "ranks", "en fr jury.csv", by="rank").leaderboard.set_index("team")
    mean = (ranks["en"] + ranks["fr"] + jury) / 3
    assert by_rank["score"].to_dict() == pytest.approx(mean.to_dict())
    assert by_rank["score"].is_monotonic_increasing
    by_wins = combined(boards, tmp_path / "wins", "en fr jury.csv", by="wins").leaderboard.set_index("team")
    assert by_wins["score"].to_dict() == pytest.approx(((4 - mean) / 3).to_dict())
    scaled = combined(boards, tmp_path / "best", "en jury.csv", scale="best").leaderboard.set_index("team")
    assert scaled["jury.csv: adds"].to_dict() == pytest.approx(
        {"Ada": 1 / 3, "Bo": 1, "Cy": 2 / 3, "Di": 2 / 3}
    )
    assert scaled["en: adds"].max() == 1


def test_ties_are_decided_by_the_first_input_then_the_next(tmp_path: Path) -> None:
    for name, points in (("a", [1, 2, 2]), ("b", [2, 1, 1]), ("c", [1, 1, 1])):
        table = pd.DataFrame({"team": ["Ada", "Bo", "Cy"], "score": points})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    final = combined(tmp_path, tmp_path / "out", "a.csv b.csv c.csv")
    assert final.leaderboard["team"].tolist() == ["Bo", "Cy", "Ada"]
    assert final.leaderboard["note"].tolist() == [
        "same score as the next one; the order of the names decides",
        "same score as the next one; the first input that tells them apart decides",
        "",
    ]
    assert final.chance is None
    assert final.facts["silence"] == "no input is a board with a store"


@pytest.mark.parametrize(("missing", "score"), [("worst", 0.25), ("leave-out", 0.5)])
def test_a_team_that_an_input_lacks(missing: str, score: float, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("team,score\nAda,1\nBo,0.5\nCy,0\n")
    (tmp_path / "b.csv").write_text("team,score\nAda,1\nCy,0\n")
    with pytest.raises(UsageError, match=r"b\.csv lacks Bo: give --missing worst or --missing leave-out"):
        combined(tmp_path, tmp_path / "out", "a.csv b.csv")
    final = combined(tmp_path, tmp_path / "out", "a.csv b.csv", missing=missing)
    assert final.leaderboard.set_index("team").loc["Bo", "score"] == score
    assert any("b.csv lacks Bo, for which " in told for told in final.warnings)
    assert "lacks Bo" in (tmp_path / "out" / "board.html").read_text()


# --- chance -------------------------------------------------------------------------------------------


def test_a_board_combined_with_itself_says_what_it_says(boards: Path, tmp_path: Path) -> None:
    """The items are the same, so nothing is gained by having it twice."""
    shutil.copytree(boards / "en", boards / "en2")
    paths = [str(boards / "en"), str(boards / "en2")]
    final = combining.combined(paths, tmp_path / "out", Choices(same_items=True), "", "")
    alone = pd.read_csv(boards / "en" / "intervals.csv")
    assert final.certainty is not None
    for name in ("score_low", "score_high", "may_be_best", "may_win_prize"):
        np.testing.assert_allclose(final.certainty[name].astype(float), alone[name].astype(float), atol=1e-9)
    np.testing.assert_allclose(final.certainty["first_again"], alone["first_again"], atol=0.05)


def test_independent_boards_are_surer_than_one(boards: Path, tmp_path: Path) -> None:
    one = combined(boards, tmp_path / "one", "en fr").certainty.set_index("team")
    for name in ("en", "fr"):
        alone = pd.read_csv(boards / name / "intervals.csv").set_index("team")
        width = (one["score_high"] - one["score_low"]) / (alone["score_high"] - alone["score_low"])
        assert 0.5 < width["Cy"] < 0.9  # 1/√2 of it, for boards of the same noise
    assert one["first_again"].sum() == pytest.approx(1)


def test_without_a_store_the_order_is_told_and_nothing_of_chance(boards: Path, tmp_path: Path) -> None:
    board = make_board(tmp_path, "en", 1, TEAMS)
    for file in board.glob("store/*/*"):
        file.unlink()
    for folder in [*board.glob("store/*"), board / "store"]:
        folder.rmdir()
    final = combining.combined([str(board), str(boards / "fr")], tmp_path / "out", Choices(), "", "")
    assert final.leaderboard["team"].iloc[0] in ("Ada", "Bo")
    assert final.chance is None
    assert final.facts["silence"].endswith("en has no store")


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "choices", "told"),
    [
        (
            "team,score\nada,1\nBo,1\nCy,1\nDi,1\n",
            {},
            "the same names of teams in all inputs, found names that look",
        ),
        ("team,score\nAda,x\nBo,1\nCy,1\nDi,1\n", {}, "expected a score for every team, found none for Ada"),
        (
            "team,score\nAda,1\nBo,1\nCy,1\nDi,1\n",
            {"weights": (1.0,)},
            "--weights: expected .* 2 .* found \\[1.0\\]",
        ),
        ("team,score\nAda,1\nBo,1\nCy,1\nDi,-1\n", {"scale": "best"}, "--scale best: expected scores from 0"),
    ],
)
def test_what_cannot_be_combined_is_refused(
    content: str, choices: dict[str, Any], told: str, boards: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(content)
    paths = [str(boards / "en"), str(tmp_path / "t.csv")]
    with pytest.raises((HostError, UsageError), match=told):
        combining.combined(paths, tmp_path / "out", Choices(**choices), "", "")
    assert not (tmp_path / "out" / "run.json").exists()


def test_an_input_that_was_changed_or_is_given_twice_is_refused(boards: Path, tmp_path: Path) -> None:
    shutil.copytree(boards / "en", tmp_path / "en")
    table = tmp_path / "en" / "final_leaderboard.csv"
    table.write_text(table.read_text().replace("Di,", "Dj,"))
    paths = [str(tmp_path / "en"), str(boards / "fr")]
    with pytest.raises(HostError, match=r"final_leaderboard.csv is not the one that run.json records"):
        combining.combined(paths, tmp_path / "out", Choices(missing="worst"), "", "")
    with pytest.raises(UsageError, match="expected different inputs"):
        combined(boards, tmp_path / "out", "en fr en/")


def test_boards_of_other_items_do_not_share_them(boards: Path, tmp_path: Path) -> None:
    board = make_board(tmp_path, "more", 3, TEAMS)
    facts = json.loads((board / "run.json").read_text())
    facts["rules"]["seed"] = 5
    (board / "run.json").write_text(json.dumps(facts))
    with pytest.raises(UsageError, match="--same-items: expected "):
        combining.combined([str(boards / "en"), str(board)], tmp_path / "out", Choices(same_items=True), "", "")


# --- the command and the verifier ---------------------------------------------------------------------


def test_the_command_and_verify(boards: Path, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(boards)
    out = tmp_path / "out"
    assert cli.main(["combine", "en", "fr", "jury.csv", "--weights", "0.4,0.4,0.2", "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert (
        "the weighted mean of the scores of 3 inputs (0.4 of en, 0.4 of fr, 0.2 of jury.csv). Higher"
        in told.out
    )
    assert "the points of jury.csv are taken as exact" in told.err
    assert cli.main(["verify", str(out)]) == 0
    table = out / "final_leaderboard.csv"
    table.write_text(table.read_text().replace("Ada", "Eve"))
    assert cli.main(["verify", str(out)]) == 1
    assert "final_leaderboard.csv comes out differently" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["combine", "en", "fr", "--weights", "a,b", "--out", str(out)])
    assert "expected numbers separated by commas, found a,b" in capsys.readouterr().err
    assert cli.main(["combine", "en", "--out", str(out)]) == 2
    assert cli.main(["combine", "en", "fr", "--out", "en"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_inputs_are_named_by_what_tells_them_apart(tmp_path: Path) -> None:
    for name in ("en/points.csv", "fr/points.csv", "jury.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("team,score\nAda,1\nBo,0.5\n")
    final = combined(tmp_path, tmp_path / "all" / "out", "en/points.csv fr/points.csv jury.csv")
    assert [name for name in final.leaderboard if name.endswith(": has")] == [
        "en/points.csv: has",
        "fr/points.csv: has",
        "jury.csv: has",
    ]
    shutil.move(tmp_path, moved := tmp_path.with_name(f"{tmp_path.name}-moved"))
    assert podium.verify(moved / "all" / "out").differences == []
    shutil.move(moved, tmp_path)


def test_scores_that_lie_much_farther_apart_are_a_warning(boards: Path, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("team,score\nAda,10\nBo,30\nCy,20\nDi,20\n")
    paths = [str(boards / "en"), str(tmp_path / "points.csv")]
    for choices, is_told in ((Choices(), True), (Choices(by="rank"), False), (Choices(scale="best"), False)):
        final = combining.combined(paths, tmp_path / "out", choices, "", "")
        assert any("points.csv decides nearly alone" in told for told in final.warnings) == is_told


def test_verify_sees_what_lies_beside_and_says_what_it_executes(
    boards: Path, tmp_path: Path, capsys: Any
) -> None:
    combined(boards, tmp_path / "out", "en fr")
    for name in ("notes.txt", "board2.html"):
        (tmp_path / "out" / name).write_text("x")
    capsys.readouterr()
    verification = podium.verify(tmp_path / "out")
    assert verification.differences == ["board2.html does not belong to this run: run.json does not name it"]
    assert verification.notices == ["beside the board, but no part of it and not verified: notes.txt"]
    assert capsys.readouterr().err.count("executing the metric: ") == 2


def test_verify_names_an_input_that_has_changed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("team,score\nAda,1\nBo,0.5\n")
    combined(tmp_path, tmp_path / "out", "a.csv b.csv")
    assert podium.verify(tmp_path / "out").differences == []
    (tmp_path / "b.csv").write_text("team,score\nAda,0\nBo,0.5\n")
    first, *others = podium.verify(tmp_path / "out").differences
    assert "input 2" in first
    assert "has changed" in first
    assert others
    facts = json.loads((tmp_path / "out" / "run.json").read_text())
    for wrong in ({"by": "x"}, {"prizes": -1}, {"weights": "a"}, {"seed": "0"}):
        (tmp_path / "out" / "run.json").write_text(
            json.dumps({**facts, "combined": {**facts["combined"], **wrong}})
        )
        with pytest.raises(UsageError, match=r"expected the run\.json of podium combine"):
            podium.verify(tmp_path / "out")
