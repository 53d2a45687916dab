"""A board becomes a table for a paper."""

from pathlib import Path
from typing import Any

import pandas as pd

from podium import cli

ROOT = Path(__file__).parents[2]


def rank(folder: Path, *options: str) -> int:
    """Rank three teams, of which two sent nearly the same file."""
    teams = folder / "teams"
    teams.mkdir(exist_ok=True)
    sample = pd.read_csv(ROOT / "sample_submission.csv")
    for name, share in (("R&D", 1.0), ("Bo_1", 0.98), ("Cy", 0.3)):
        sample.iloc[: int(len(sample) * share)].to_csv(teams / f"{name}.csv", index=False)
    given = ["rank", str(ROOT / "solution_sample.csv"), str(teams), "--out", str(folder / "out"), "--jobs", "1"]
    return cli.main([*given, *options])


def test_teams_that_may_be_the_best_are_marked(tmp_path: Path) -> None:
    table = tmp_path / "board.md"
    assert rank(tmp_path, "--no-boost", "--resamples", "200", "--table", str(table)) == 0
    board = pd.read_csv(tmp_path / "out" / "final_leaderboard.csv")
    intervals = pd.read_csv(tmp_path / "out" / "intervals.csv").set_index("team")
    lines = table.read_text().splitlines()
    assert lines[0] == "|  | score |"
    for line, team, score in zip(lines[2:], board["team"], board["score"]):
        name, cell = line.strip("| ").split(" | ")
        assert name == team.replace("_", r"\_")
        assert abs(float(cell.strip("*†")) - score) < 0.01
        best = score == board["score"].max()
        assert cell.startswith("**") == best
        assert cell.endswith("†") == (bool(intervals.loc[team, "may_be_best"]) and not best)
    assert "† cannot be told from it with 95% confidence" in lines[-1]
    assert "essays" in lines[-1]


def test_runtimes_stand_beside_what_they_change(tmp_path: Path) -> None:
    (tmp_path / "runtimes.csv").write_text("team,runtime\nR&D,50\nBo_1,40\nCy,45\n")
    table = tmp_path / "board.tex"
    assert rank(tmp_path, str(tmp_path / "runtimes.csv"), "--resamples", "0", "--table", str(table)) == 0
    text = table.read_text()
    assert " & score & runtime & boosted score \\\\" in text
    assert "Bo\\_1 & " in text
    assert "\\textbf{40.0}" in text


def test_a_table_is_refused_before_anything_is_scored(tmp_path: Path, capsys: Any) -> None:
    for path in (tmp_path / "board.xlsx", ROOT / "solution_sample.csv"):
        assert rank(tmp_path, "--table", str(path)) == 2
    assert "expected a name that ends in .tex, .md, .csv" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
