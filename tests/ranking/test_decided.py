"""What the jury decides changes who is ranked and who wins; test_jury.py, which is slow, tries all of it."""

import pandas as pd


def test_who_does_not_compete_has_no_rank_and_prizes_pass_to_the_next(says_folder, says, rank_says):
    for place, team in enumerate(["Ada", "Bo", "Cy", "Di", "Eve", "Fay"]):
        says(team, 1 - place / 10)
    decided = says_folder / "decided.csv"
    decided.write_text(
        "team,status,reason\nAda,withdrawn,\nBo,no prize,is of the jury\nCy,disqualified,copied\nDi,baseline,\n"
    )
    code, out, _ = rank_says("--teams", decided, "--team", "Ada")
    assert code == 0
    assert "about 4 teams (withdrawn: Ada; no prize: Bo; disqualified: Cy; baseline: Di)." in out
    assert "  withdrawn\n" in out
    board = pd.read_csv(says_folder / "final" / "final_leaderboard.csv").fillna(
        {"rank": 0, "prize": 0, "note": ""}
    )
    assert board[["team", "rank", "prize", "note"]].values.tolist() == [
        ["Bo", 1, 0, "no prize: is of the jury"],
        ["Di", 0, 0, "baseline"],
        ["Eve", 2, 1, ""],
        ["Fay", 3, 2, ""],
    ]
    page = (says_folder / "final" / "team.html").read_text(encoding="utf-8")
    assert "<p>The team has withdrawn. So the team has no rank.</p>" in page
