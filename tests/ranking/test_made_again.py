"""A board is made again as the recorded command with changes, and says what these have changed."""

import json
import shutil

import pandas as pd
import pytest

import podium
from podium.common.errors import UsageError
from podium.ranking import corrected, made_again


def board(*rows):
    """A board, or what is read of one."""
    return pd.DataFrame(rows, columns=["team", "rank", "score"])


def said(facts: dict, **more) -> list[str]:
    """What the page says."""
    differing = {"inputs": {}, "given": [], "submissions": {}} | facts | more
    return corrected.sentences({"again": differing, "page": {"because": "Why"}})


def test_what_has_changed_since_an_earlier_board_is_told():
    earlier = board(("Ada", 1, 0.5), ("Bo", 2, 0.4), ("Cy", 3, 0.3), ("Di", 4, 0.2))
    _, same = made_again.changes(earlier, earlier)
    assert said(same) == [
        "Why.",
        "This board was made again with nothing given differently.",
        "The first is unchanged; 0 teams moved, the largest change of a score is 0.0000.",
    ]
    later = board(("Bo", 1, 0.41), ("Ada", 2, 0.4006), ("Cy", 3, 0.3), ("Eve", 4, 0.1))
    table, facts = made_again.changes(later, earlier)
    assert table["team"].tolist() == ["Bo", "Ada", "Cy", "Eve", "Di"]
    assert table["rank_earlier"].tolist()[:3] == [2, 1, 3]
    assert table["change"].round(4).tolist()[:3] == [0.01, -0.0994, 0.0]
    given = [{"name": "deadline", "was": "2026-01-01 12:00", "is": ""}]
    told = said(
        facts, inputs={"teams": "gone"}, given=given, submissions={"new": 2, "changed": 1, "missing": 0}
    )
    assert told[1:] == [
        "This board was made again with no decisions about teams, deadline none instead of 2026-01-01 12:00, "
        "2 new submissions, 1 changed submission.",
        "Bo is first instead of Ada; 2 teams moved, the largest change of a score is 0.0994, only on this "
        "board: Eve, only on the earlier one: Di.",
    ]
    _, facts = made_again.changes(later, board(("Fox", 1, 0.5)))
    assert said(facts)[-1] == "No team is on both boards."


@pytest.fixture
def final(says_folder, says, rank_says, kept):
    """A board with decisions, a deadline, runtimes and a failed model."""
    if kept.is_dir():
        shutil.copytree(kept, says_folder, dirs_exist_ok=True)
        return says_folder / "final"
    for team, score in {"Ada": 0.9, "Bo": 0.7, "Cy": 0.5}.items():
        says(team, score)
    tables = {
        "teams": "team,status,reason\nAda,disqualified,read the labels\n",
        "runtimes": "team,runtime,submitted_at\nAda,5,2026-01-01\nBo,6,2026-01-01\nCy,4,2026-01-01\n",
        "failed": "team,model,reason\nDi,d.py,it died\n",
        "other": "team,runtime,submitted_at\nAda,5,2026-01-01\nBo,4,2026-01-01\nCy,9,2026-01-01\n",
    }
    for name, text in tables.items():
        (says_folder / f"{name}.csv").write_text(text)
    options = ["--teams", says_folder / "teams.csv", "--deadline", "2026-01-02 12:00", "--title", "Cup"]
    assert rank_says(says_folder / "runtimes.csv", "--resamples", 0, *options)[0] == 0
    shutil.copytree(says_folder, kept)
    return says_folder / "final"


def again(final, name, **given):
    """Make the board again."""
    return podium.rank(again=final, out=final.parent / name, jobs=1, **given)


def teams_of(made):
    return made.leaderboard["team"].tolist()


def test_what_was_recorded_stays_and_what_is_given_replaces_it(final):
    """A disqualified winner, a deadline and a title are not forgotten because only one option is given."""
    before = {path: path.read_bytes() for path in final.rglob("*") if path.is_file()}
    made = again(final, "o", max_boost=0.02, because="The rules said 2%")
    assert (teams_of(made), made.facts["rules"]["deadline"]) == (["Bo", "Cy"], "2026-01-02 12:00")
    assert made.facts["page"]["title"] == "Cup"
    assert made.failed["team"].tolist() == ["Di"]
    page = (final.parent / "o" / "board.html").read_text()
    assert "What was corrected?" in page
    assert "The rules said 2%." in page
    assert "This board was made again with max_boost 0.02 instead of 0.05." in made.summary
    assert pd.read_csv(final.parent / "o" / "changes.csv")["team"].tolist() == ["Bo", "Cy"]
    assert {path: path.read_bytes() for path in final.rglob("*") if path.is_file()} == before
    assert podium.verify(final.parent / "o", jobs=1)
    shutil.move(final, final.parent / "moved")
    assert podium.verify(final.parent / "o", again=final.parent / "moved", jobs=1)


def test_a_board_made_again_is_made_again(final):
    again(final, "o", max_boost=0.02)
    made = again(final.parent / "o", "o2", prizes=1)
    assert (made.facts["rules"]["max_boost"], teams_of(made)) == (0.02, ["Bo", "Cy"])
    assert "This board was made again with prizes 1 instead of 3." in made.summary
    assert podium.verify(final.parent / "o2", jobs=1)


def test_the_command_of_a_board_made_again_leads_to_it(final, call):
    made = again(final, "o", teams="", max_boost=0.02)
    record = json.loads((made.folder / "run.json").read_text())
    assert (
        call(
            *[str(final.parent / "o2") if each == str(made.folder) else each for each in record["command"][1:]]
        )[0]
        == 0
    )
    for table in made.folder.glob("*.csv"):
        assert (final.parent / "o2" / table.name).read_bytes() == table.read_bytes(), table.name


def test_an_empty_text_takes_an_option_back(final, rank_says, call):
    made = again(final, "o", teams="", deadline="", title="")
    assert teams_of(made)[0] == "Ada"
    assert (made.facts["rules"]["deadline"], made.facts["page"]["title"]) == ("", "The final board")
    told = "made again with no decisions about teams, deadline none instead of 2026-01-02 12:00."
    assert any(told in sentence for sentence in made.summary)
    options = ["--again", final, "--out", final.parent / "typed", "--teams", "", "--deadline", "", "--jobs", 1]
    assert call("rank", *options)[0] == 0
    assert pd.read_csv(final.parent / "typed" / "final_leaderboard.csv")["team"].tolist()[0] == "Ada"
    with pytest.raises(UsageError, match="submissions: expected a path, found an empty text"):
        again(final, "o3", submissions="")
    with pytest.raises(UsageError, match="because: expected again, the board"):
        podium.rank("s.csv", "teams", out=final.parent / "o4", because="x")


def test_other_runtimes_have_other_failures_and_the_same_ones_the_same(final):
    (final.parent / "run").mkdir()
    shutil.copy(final.parent / "other.csv", final.parent / "run" / "runtimes.csv")
    made = again(final, "o", runtimes=final.parent / "run" / "runtimes.csv")
    assert made.failed.empty
    assert "made again with other runtimes, no failed models." in " ".join(made.summary)
    (final.parent / "run" / "failed.csv").write_text("team,model,reason\nEd,e.py,it died\n")
    made = again(final, "o2", runtimes=final.parent / "run" / "runtimes.csv")
    assert made.failed["team"].tolist() == ["Ed"]
    assert again(final.parent / "o", "o3").failed.empty  # whatever lies there by now
    assert podium.verify(final.parent / "o3", jobs=1)


def test_new_changed_and_missing_submissions_are_counted(final, says):
    says("Bo", 0.2)
    says("Eve", 0.95)
    (final.parent / "teams" / "Cy.csv").unlink()
    (final.parent / "runtimes.csv").write_text("team,runtime\nAda,5\nBo,6\nEve,4\n")
    with pytest.warns(UserWarning, match="the runtimes .* has changed since .*; what is there now counts"):
        made = again(final, "o", deadline="")
    told = next(each for each in made.summary if "made again" in each)
    assert told.endswith("1 new submission, 1 changed submission, 1 missing submission.")
    assert "only on this board: Eve, only on the earlier one: Cy" in " ".join(made.summary)


def test_a_mended_solution_is_told_before_anything_is_executed(final):
    with (final.parent / "solution.csv").open("a") as file:
        file.write("\n")
    with pytest.warns(UserWarning, match="the solution .* has changed .*; every submission is scored again"):
        made = again(final, "o", because="A row was wrong.")
    told = made.summary.index("A row was wrong.")
    assert made.summary[told + 1] == "This board was made again with another solution."


def test_another_metric_is_refused_before_it_runs(final):
    (final.parent / "other.py").write_text("raise SystemExit('executed')")
    with pytest.raises(UsageError, match=r"other\.py has changed since .*; a board is made again with"):
        again(final, "o", metric=final.parent / "other.py")
    assert not (final.parent / "o").exists()


def test_a_board_that_was_changed_by_hand_is_not_compared(final):
    (final / "final_leaderboard.csv").write_text("team,rank,score\nBo,1,0.9\n")
    with pytest.raises(podium.errors.HostError, match="verify that board first"):
        again(final, "o")
