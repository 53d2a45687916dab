"""Pages about boards quote the numbers that a board has."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from podium import cli

ROOT = Path(__file__).parents[2]


def test_the_page_of_the_metric_has_what_each_step_changes(tmp_path, capsys):
    (tmp_path / "submissions").mkdir()
    shutil.copy(ROOT / "sample_submission.csv", tmp_path / "submissions")
    files = map(str, (ROOT / "solution_sample.csv", tmp_path / "submissions"))
    options = "--no-boost", "--variants", "--resamples", "0", "--jobs", "1", "--out"
    assert cli.main(["rank", *files, *options, str(tmp_path / "board")]) == 0
    table = pd.read_csv(tmp_path / "board" / "variants.csv").set_index("decision")["winner_score"]
    assert "step 6 to this metric: + softmin  " in capsys.readouterr().out
    page = (ROOT / "metrics" / "unified" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:Feedback Prize 1's|\+ ).*?\| (0\.\d+) \| (−?[\d.]*) ?\|$", page, re.MULTILINE)
    steps = table[table.index.str.startswith("step ")]
    assert [score for score, _ in rows] == [f"{score:.4f}" for score in steps]
    assert [change for _, change in rows[1:]] == [f"−{-change:.4f}" for change in steps.diff()[1:]]
    assert f"the last line would be {table['max of the overlaps']:.4f}." in page


def test_the_page_for_juries_quotes_what_the_tutorial_prints():
    pages = ROOT / "docs"
    printed = " ".join((pages / "tutorials" / "first-board.md").read_text(encoding="utf-8").split())
    page = (pages / "how-to" / "read-a-board.md").read_text(encoding="utf-8")
    quoted = " ".join(re.findall(r"^> (.*)$", page, re.MULTILINE))
    sentences = re.split(r"(?<=[.;]) ", re.sub(r"\*\*.*?\*\*", "", quoted))
    assert len(sentences) > 8
    assert [sentence for sentence in sentences if sentence.strip() not in printed] == []


def test_the_page_for_juries_shows_the_real_board_and_what_came_true():
    folder = ROOT / "examples" / "translations"
    ratings = pd.read_csv(folder / "ratings.csv", index_col="segment")
    decided, others = ratings.iloc[0::2].mean(), ratings.iloc[1::2].mean()
    board = pd.read_csv(folder / "board" / "final_leaderboard.csv").set_index("team")
    assert board["score"].to_dict() == pytest.approx(decided.to_dict())
    page = (ROOT / "docs" / "how-to" / "read-a-board.md").read_text(encoding="utf-8")
    first, second, third, fourth = board.index[:4]
    for scores in (decided, others):
        assert f"{scores[first]:.5f}" in page
        assert f"{scores[second]:.5f}" in page
    chance = pd.read_csv(folder / "board" / "intervals.csv").set_index("team")
    tens = {team: round(10 * share) * 10 for team, share in chance["first_again"].items()}
    assert (
        f"{first} would be first in about {tens[first]} of 100 cases, {second} in about {tens[second]}" in page
    )
    assert f"in about {round(10 * chance.loc[third, 'prize_again']) * 10} of 100 cases again" in page
    assert chance.index[chance["may_be_best"]].tolist() == [first, second]
    assert (chance["may_win_prize"].sum(), set(others.nlargest(3).index)) == (6, {first, second, third})
    border = pd.read_csv(folder / "board" / "differences.csv").iloc[2]
    assert (
        f"between {border['low']:.5f} and {border['high']:.5f} | a lead of {others[third] - others[fourth]:.5f}"
        in page
    )
