"""How far a board agrees with the one that the competition's site shows."""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.common.errors import HostError
from podium.ranking import site

OURS = pd.DataFrame(
    {
        "team": ["Ada", "Bo", "Cy"],
        "score": [0.71504, 0.6, 0.5],
        "public_score": [0.61111, 0.62222, 0.4],
        "private_score": [0.71504, 0.6, 0.5],
    }
)


def board(tmp_path: Path, text: str, name: str = "site.csv") -> site.SiteBoard:
    """What is read from a table of a site."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    return site.read(str(tmp_path / name))


def test_codabench_shows_owners_with_numbers_and_a_column_for_each_measure(tmp_path):
    text = (
        "Username,fact_sheet_answers,Public(11)-Score,Private(12)-Score,Private(12)-Time\n"
        "Ada-6,,,,\nAda-7,,0.6111,0.7100,3\nAda-8,,0.6111,0.7150,3\nBo-9,,0.6222,0.6100,2\nDi-10,,0.1,0.2000,1\n"
    )
    table, facts = site.compare(board(tmp_path, text), OURS.drop(columns="public_score"), True)
    assert (facts["name"], facts["column"], facts["digits"]) == ("Codabench", "Private(12)-Score", 4)
    assert site.sentence(facts) == (
        "1 of 2 teams have the score that Codabench showed (4 digits); Bo has 0.6000 here and 0.6100 there; "
        "only here: Cy; only there: Di."
    )
    assert table.set_index("team")["same"].to_dict() == {"Ada": True, "Bo": False, "Cy": False, "Di": False}
    assert table["site_rank"].tolist()[:2] == [1, 2]


def test_kaggle_s_download_is_zipped_and_has_benchmarks_at_rank_0(tmp_path):
    text = (
        "\ufeffRank,TeamId,TeamName,LastSubmissionDate,Score\n0,,sample.csv,2026-02-01,0.33333\n"
        "1,9,Bo,2026-03-03,0.62222\n2,8,ada,2026-03-03,0.61111\n3,7,Cy,2026-03-03,0.40000\n"
    )
    with zipfile.ZipFile(tmp_path / "board.zip", "w") as archive:
        archive.writestr("publicleaderboard.csv", text)
    table, facts = site.compare(site.read(str(tmp_path / "board.zip")), OURS, True)
    assert (
        site.sentence(facts) == "3 of 3 teams have the score that Kaggle showed (5 digits in the Public part)."
    )
    assert table["site_rank"].tolist() == [2, 1, 3]
    assert table["rank"].tolist() == [2, 1, 3]


def test_where_most_differ_the_sentence_says_what_would_explain_it(tmp_path):
    table, facts = site.compare(board(tmp_path, "team,score\nAda,0.1\nBo,0.2\nCy,0.5\n"), OURS, True)
    assert "with another parameter" in site.sentence(facts)
    assert facts["same"] == int(table["same"].sum()) == 1
    _, nobody = site.compare(board(tmp_path, "team,score\nXi,0.1\n"), OURS, True)
    assert site.sentence(nobody).startswith(
        "No team of the board is on that of the site; only here: Ada, Bo, Cy"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("team,score\nAda,\n", "expected a score of any team, found none"),
        ("name,points\nAda,1\n", "rename the column with the names of the teams to team"),
        ("Submission ID,Owner,Status,Phase\n1,a,b,c\n", "export the leaderboard instead"),
    ],
)
def test_another_table_is_refused(tmp_path, text, told):
    with pytest.raises(HostError, match=told):
        board(tmp_path, text)


def test_words_for_a_missing_score_are_read(tmp_path):
    text = "team,score\nAda,0.7150\nBo,-\nCy,1e400\n\x1b[2J\u202eDi,\n"
    table, facts = site.compare(board(tmp_path, text), OURS, True)
    assert (facts["both"], facts["digits"]) == (1, 4)
    assert table["site_rank"].tolist()[0] == 1
    assert facts["only_there"] == ["\\x1b[2J\\u202eDi"]  # nothing that moves the cursor of whoever reads it


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=8), st.integers(1, 6), st.booleans(), st.booleans())
def test_rounded_and_cut_scores_are_the_same(scores, digits, is_cut, higher):
    """Whatever a site shows of our own scores agrees with them, in every direction and to any digits."""
    cut = [np.floor(each * 10**digits + 1e-9) / 10**digits if is_cut else each for each in scores]
    texts = [f"{each:.{digits}f}" for each in cut]
    teams = [f"T{number}" for number in range(len(scores))]
    ours, shown = (pd.DataFrame({"team": teams, "score": each}) for each in (scores, texts))
    table, facts = site.compare(site.SiteBoard("the site", shown, ["score"]), ours, higher)
    assert table["same"].all()
    assert facts["same"] == len(scores)


def test_rank_writes_and_verifies_the_comparison(finished_run, tmp_path):
    leaderboard = pd.read_csv(finished_run / "final" / "final_leaderboard.csv")
    part = "private_score" if "private_score" in leaderboard else "score"
    shown = leaderboard[["team"]].assign(score=leaderboard[part].round(4))
    shown.loc[0, "score"] += 0.01
    shown.to_csv(tmp_path / "site.csv", index=False)
    out = tmp_path / "out"
    final = podium.rank(again=finished_run / "final", site_board=tmp_path / "site.csv", out=out, jobs=1)
    assert final.facts["site"]["same"] == len(leaderboard) - 1
    assert final.site["same"].sum() == len(leaderboard) - 1
    assert pd.read_csv(out / "site.csv")["team"].tolist() == leaderboard["team"].tolist()
    assert "teams have the score that the site showed" in (out / "board.html").read_text()
    assert podium.verify(out, submissions=finished_run / "teams", metric="unified", jobs=1)
