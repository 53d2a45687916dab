"""Names of teams and files that look alike or that a spreadsheet would execute do no harm."""

import csv

import pandas as pd
import pytest

from podium.common.errors import HostError
from podium.common.wording import spreadsheet_original, spreadsheet_safe
from podium.ranking import speed
from podium.ranking.submissions import Submission, find
from podium.tables import names


@pytest.fixture
def submit(says):
    """Writes a submission for each of some teams; every next one is a little better."""
    return lambda *teams: [says(team, 0.5 + number / 100) for number, team in enumerate(teams)]


@pytest.mark.parametrize(
    "other", ["red", "Red ", " Red", "Ｒed", "Red\u200b", "R\u00aded", "Re\u2060d", "RED\ufe0f"]
)
def test_names_that_look_alike_are_an_error_that_lists_them(other):
    with pytest.raises(HostError) as error:
        names.check_names(["Red", "Blue", other], "team", "the folder")
    assert names.shown("Red") in str(error.value)
    assert names.shown(other) in str(error.value)
    assert "Blue" not in str(error.value)


def test_names_that_differ_may_stay():
    names.check_names(["Red", "Red", "Red Pen", "Réd", "👩\u200d💻", "NA", "007"], "team", "the folder")


def test_letters_of_another_script_that_look_like_latin_ones_are_a_warning_on_screen_and_page(
    says_folder, submit, rank_says
):
    submit("Alpha", "\u0410lpha", "Beta")
    code, _, err = rank_says()
    sentence = "names of teams look alike, because letters of another script look like Latin ones: "
    assert code == 0
    assert err.count(f"warning: these {sentence}'Alpha', '\\u0410lpha'\n") == 1
    assert f"<li>These {sentence}" in (says_folder / "final" / "board.html").read_text(encoding="utf-8")


def test_names_that_differ_in_case_alone_have_no_letters_of_another_script():
    assert names.of_other_scripts(["Jo", "jo", "Bo"]) == []


@pytest.mark.parametrize(
    "name", ["a\nb", "a\tb", "a\x00b", "a\x7f", "\u202egnp.exe", "a\u2066b", "a\u200fb", "a\u2028b"]
)
def test_control_and_bidirectional_characters_are_refused(name):
    with pytest.raises(HostError, match="expected visible names without control and bidirectional characters"):
        names.check_names(["Red", name], "team", "the folder")


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u3164"])
def test_invisible_names_are_refused(name):
    with pytest.raises(HostError, match="expected visible names"):
        names.check_names([name], "team", "the folder")


def test_teams_that_look_alike_stop_the_run_before_any_work(says_folder, submit, rank_says):
    submit("Red", "red", "Ｒed", "Red\u200b", "Blue")
    code, out, err = rank_says()
    assert (code, out) == (4, "")
    for shown in ("“Red”", "“red”", "“Ｒed”", r"“Red\u200b”"):
        assert shown in err
    assert not (says_folder / "final").exists()


@pytest.mark.parametrize("name", ["T1 ", "t1", "Ｔ1", "T1\u200b"])
def test_a_near_miss_in_the_runtimes_is_an_error_and_no_lost_reward(says_folder, submit, rank_says, name):
    submit("T1", "T2")
    with (says_folder / "runtimes.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("team", "runtime"), (name, 10), ("T2", 11)])
    code, out, err = rank_says(says_folder / "runtimes.csv")
    assert (code, out) == (4, "")
    assert f"{names.shown(name)} (expected “T1”)" in err
    assert not (says_folder / "final").exists()


def test_what_a_spreadsheet_would_execute_is_written_as_text(says_folder, submit, rank_says):
    formula = '=HYPERLINK("evil")'
    submit(formula, "-2+3", "@SUM(A1)", "-5", "Red")
    assert rank_says()[0] == 0
    with (says_folder / "final" / "final_leaderboard.csv").open(newline="", encoding="utf-8") as file:
        teams = {row["team"] for row in csv.DictReader(file)}
    assert teams == {f"'{formula}", "'-2+3", "'@SUM(A1)", "-5", "Red"}
    for table in (says_folder / "final").glob("*.csv"):
        with table.open(newline="", encoding="utf-8") as file:
            for cell in (cell for row in csv.reader(file) for cell in row):
                assert spreadsheet_safe(cell) == cell, (table.name, cell)
    # The page shows the name unchanged.
    assert "=HYPERLINK(&#34;evil&#34;)" in (says_folder / "final" / "board.html").read_text(encoding="utf-8")


def test_tables_that_podium_wrote_name_the_same_teams(says_folder, submit, rank_says):
    """Also after a spreadsheet: with or without the apostrophe, a name is that of its team."""
    submit("=x", "@x", "'quoted'")
    tables = {
        "runtimes": pd.DataFrame({"team": ["'=x", "@x", "'quoted'"], "runtime": [10, 11, 12]}),
        "failed": pd.DataFrame({"team": ["'=gone"], "model": ["'@m"], "reason": ["'=no"]}),
    }
    for name, table in tables.items():
        table.to_csv(says_folder / f"{name}.csv", index=False)
    code, _, err = rank_says(says_folder / "runtimes.csv", "--failed", says_folder / "failed.csv")
    assert code == 0, err
    board = pd.read_csv(says_folder / "final" / "final_leaderboard.csv")
    assert dict(zip(board["team"], board["runtime"])) == {"'=x": 10, "'@x": 11, "'quoted'": 12}
    assert (says_folder / "final" / "failed.csv").read_text() == "team,model,reason\n'=gone,'@m,'=no\n"
    assert "<bdi>=gone</bdi>" in (says_folder / "final" / "board.html").read_text(encoding="utf-8")


def test_every_text_that_is_made_safe_is_read_as_it_was(tmp_path):
    for text in ("=1", "+1", "@x", "-x", "-", "-5", "'", "''", "'x'", "\t=1", "\r", "good", "", "'-5"):
        assert spreadsheet_original(spreadsheet_safe(text)) == text
    # Only this one does not come back.
    with pytest.raises(HostError, match=r"expected names without the apostrophe .* found the team “'=1”"):
        names.check_names(["=1", "'=1"], "team", "the folder")
    (tmp_path / "runtimes.csv").write_text("team,runtime\n=1,3\n")
    with pytest.raises(HostError, match="“=1”"):
        speed.read(tmp_path / "runtimes.csv", [Submission("'=1", "a.csv", "")])


@pytest.mark.parametrize(
    ("files", "teams"),
    [
        (["IRIT.run1", "IRIT.run2.gz", "UCDbaseline.v2"], ["IRIT.run1", "IRIT.run2", "UCDbaseline.v2"]),
        (["input.Run-C.txt", "input.RunA", "input.RunB.gz"], ["input.Run-C", "input.RunA", "input.RunB"]),
        (["Ada.CSV", "Bo.Csv.GZ", "v2.0.csv", "Cy.xlsx.csv"], ["Ada", "Bo", "Cy.xlsx", "v2.0"]),
    ],
)
def test_only_the_ending_of_a_table_is_no_part_of_a_name(tmp_path, files, teams):
    for name in files:
        (tmp_path / name).write_text("")
    assert [each.team for each in find(str(tmp_path))] == teams


def test_names_that_are_not_utf_8_are_told_with_what_to_do():
    undecoded = b"Zo\xc3\xab".decode("ascii", "surrogateescape")
    with pytest.raises(
        HostError, match=r"teams: expected names in UTF-8, found the team “Zo.*; rename it, or set PYTH"
    ):
        names.check_names([undecoded, "Red"], "team", "teams")
