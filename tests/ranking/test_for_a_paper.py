"""A board becomes a table for a paper."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium import cli
from tests.support.host_line import source_of

LOW = source_of(
    "both = solution.merge(submission, on=row_id_column_name)",
    'return float((both["x"] - both["y"]).abs().mean())',
    higher=False,
)
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
        name, cell = line.partition(" [")[0].strip("| ").split(" | ")
        assert name == team.replace("_", r"\_").replace("&", r"\&")
        assert abs(float(cell.strip("*†")) - score) < 0.01
        best = score == board["score"].max()
        assert cell.startswith("**") == best
        assert cell.endswith("†") == (bool(intervals.loc[team, "may_be_best"]) and not best)
    assert "† cannot be told from it with 95% confidence." in lines[-1]
    has_intervals = any("[" in line for line in lines[2:-1])
    assert ("95% intervals stand in brackets." in lines[-1]) == has_intervals
    assert "essays" in lines[-1]


def test_intervals_stand_in_brackets_where_their_number_of_draws_is_given(tmp_path: Path) -> None:
    metric = tmp_path / "low.py"
    metric.write_text(LOW)
    numbers = np.arange(60) % 7
    pd.DataFrame({"id": range(60), "x": numbers}).to_csv(tmp_path / "solution.csv", index=False)
    (tmp_path / "teams").mkdir()
    for name, error in (("Ada", 0.1), ("Bo", 1.0)):
        table = pd.DataFrame({"id": range(60), "y": numbers + error * (numbers - 3)})
        table.to_csv(tmp_path / "teams" / f"{name}.csv", index=False)

    def written(ending: str, *options: str) -> str:
        path, out = tmp_path / f"t.{ending}", tmp_path / "out"
        inputs = [
            str(tmp_path / "solution.csv"),
            str(tmp_path / "teams"),
            "--metric",
            str(metric),
            "--no-boost",
        ]
        given = [*inputs, "--out", str(out), "--jobs", "1", "--table", str(path), *options]
        assert cli.main(["rank", *given]) == 0
        return path.read_text()

    text = written("md", "--resamples", "40")
    intervals = pd.read_csv(tmp_path / "out" / "intervals.csv").set_index("team")
    for team in ("Ada", "Bo"):
        ends = ", ".join(f"{intervals.loc[team, f'score_{end}']:.3f}" for end in ("low", "high"))
        assert f"[{ends}] |" in text
    assert text.rstrip().endswith("95% intervals stand in brackets.")
    table = pd.read_csv(io.StringIO(written("csv", "--resamples", "40"))).set_index("name")
    assert table["score: high"].to_dict() == intervals["score_high"].to_dict()
    assert "[" not in written("md", "--resamples", "0")


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
