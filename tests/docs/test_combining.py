"""The recipe on the page about combining boards: exact sums, missing teams, and what juries decided."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "rank.md"
BY_RANK = [
    ("map(Fraction)\n", "map(Fraction).rank(ascending=False).map(Fraction)\n"),
    ("dropna().min()", "dropna().max()"),
    ('method="min", ascending=False', 'method="min", ascending=True'),
]


def combined(folder: Path, boards: dict[str, str], *changes: tuple[str, str]) -> pd.DataFrame:
    """Run the page's lines on two boards and a jury's points, which are given as one text for each team."""
    (block,) = re.findall(
        r'```python title="combine.py"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    block = re.sub(r'"0\.[24]"', '"1"', block)
    for old, new in changes:
        assert old in block
        block = block.replace(old, new)
    for number, path in enumerate(["en/final_leaderboard.csv", "fr/final_leaderboard.csv", "jury.csv"]):
        column = "score" if number == 2 else "score,boosted_score"
        rows = [
            f"{team},{points}" if number == 2 else f"{team},0.1,{points}"
            for team, texts in boards.items()
            if (points := texts.split()[number]) != "-"
        ]
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text("\n".join([f"team,{column}", *rows]))
    exec(compile(block, "combine.py", "exec"), {})
    return pd.read_csv(folder / "all.csv", index_col="team", keep_default_na=False)


def decide(folder: Path, **statuses: str) -> None:
    """Write a board's record of what its jury decided."""
    folder.mkdir(exist_ok=True)
    decisions = [{"team": team, "status": status, "reason": "why"} for team, status in statuses.items()]
    (folder / "run.json").write_text(json.dumps({"decisions": decisions}))


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_equal_sums_are_a_tie(tmp_path: Path) -> None:
    third = 1 / 3
    assert 7 * third + 7 * third + 4 * third != 3 * third + 9 * third + 6 * third
    boards = {"Ada": "7 7 4", "Bo": "3 9 6", "Cy": "1 1 1"}
    board = combined(tmp_path, boards, ('"1"', '"1/3"'))
    assert board["rank"].to_dict() == {"Ada": 1, "Bo": 1, "Cy": 3}
    assert board["score"].to_dict() == {"Ada": 6, "Bo": 6, "Cy": 1}


def test_a_missing_team_gets_the_worst_value_and_is_named(tmp_path: Path, capsys) -> None:
    boards = {"Ada": "7 7 4", "Bo": "3 - 6", "Cy": "1 2 1"}
    assert combined(tmp_path, boards)["score"].to_dict() == {"Ada": 18, "Bo": 11, "Cy": 4}
    assert "these lack an input: ['Bo']" in capsys.readouterr().out


def test_who_does_not_compete_on_one_board_does_not_come_back(tmp_path: Path, capsys) -> None:
    decide(tmp_path / "en", Ada="disqualified", Bo="no prize")
    decide(tmp_path / "fr", Ada="no prize", Di="baseline")
    board = combined(tmp_path, {"Ada": "- 9 9", "Bo": "8 8 8", "Cy": "1 2 1", "Di": "9 9 9"})
    assert board["rank"].to_dict() == {"Bo": 1, "Cy": 2}
    assert board["status"].to_dict() == {"Bo": "no prize", "Cy": ""}
    assert "they do not compete: ['Ada', 'Di']" in capsys.readouterr().out


def test_ranks_are_averaged_as_the_page_says(tmp_path: Path) -> None:
    boards = {"Ada": "9 9 1", "Bo": "2 2 3", "Cy": "2 - 2"}
    board = combined(tmp_path, boards, *BY_RANK)
    # By hand: 1 + 1 + 3, 2.5 + 2 + 1, and 2.5 + 2 (the worst rank there) + 2.
    assert board["score"].to_dict() == {"Ada": 5, "Bo": 5.5, "Cy": 6.5}
    assert board["rank"].to_dict() == {"Ada": 1, "Bo": 2, "Cy": 3}
