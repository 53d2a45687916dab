"""Leaderboards are read from every form of table, and from what platforms export."""

import gzip
import io
import sys

import pyarrow as pa
import pytest

from tests.support.command_line import run
from tests.test_files import parquet_of

BOARD = "team,score,runtime\nRed,0.6,50\nBlue,0.59,40\n"
KAGGLE = """\ufeffRank,TeamId,TeamName,LastSubmissionDate,Score,SubmissionCount,TeamMemberUserNames
1,11,"Red, Inc",2026-09-25 00:00:57,0.6,5,ann
2,12,007,2026-09-26 10:00:00,0.59,7,bea
3,13,007,2026-09-26 11:00:00,0.58,7,cem
0,99,baseline,2026-09-08 23:47:33,0.9,1,host
"""
CLIENT = """Next Page Token = CfDJ8
teamId,teamName,submissionDate,score
11,Red,2026-06-10 00:00:00,0.6
12,NA,2026-06-11 00:00:00,0.59
"""
CODABENCH = "Username,fact_sheet_answers,Private(12)-score\nRed,,0.6\nBlue,,0.59\n"
EVALAI = """submission__participant_team__team_name,filtering_score,submission__submitted_at
Red,0.6,2026-01-02
Blue,0.5,
"""
SUBMISSIONS = "Owner,Created When,Status,Phase\nann,2025-03-30T15:47:43.398404Z,Finished,Test Phase\n"


@pytest.fixture
def boosted(capsys, tmp_path):
    """Runs `podium boost` on a content, and returns the exit code, the board's lines and the messages."""

    def call(content, name="board.csv"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        code, out, err = run(capsys, "boost", tmp_path / name)
        return code, out.splitlines(), err

    return call


def test_every_form_of_a_table_gives_the_same_board(boosted, capsys, monkeypatch):
    expected = boosted(BOARD)
    assert expected[0] == 0
    table = pa.table({"team": ["Red", "Blue"], "score": [0.6, 0.59], "runtime": [50, 40]})
    packed = gzip.compress(BOARD.encode())
    assert boosted(packed, "board.csv.gz") == boosted(parquet_of(table), "board.parquet") == expected
    for content in (BOARD.encode(), packed):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        code, out, err = run(capsys, "boost", "-")
        assert (code, out.splitlines(), err) == expected


@pytest.mark.parametrize(
    ("export", "teams"),
    [
        (KAGGLE, ["Red, Inc", "007 (12)", "007 (13)"]),
        (CLIENT, ["Red", "NA"]),
        (CODABENCH, ["Red", "Blue"]),
        (EVALAI, ["Red", "Blue"]),
    ],
    ids=["Kaggle", "client", "Codabench", "EvalAI"],
)
def test_exports_of_platforms_are_read(boosted, export, teams):
    code, lines, err = boosted(export)
    assert code == 0
    assert len(lines) == 1 + len(teams)
    assert all(team in line for team, line in zip(teams, lines[1:]))
    assert ("left out, as rank 0 is the host's benchmark and no team: baseline" in err) is (export == KAGGLE)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (SUBMISSIONS, "is Codabench's list of submissions, which has no scores"),
        ("Name,score\nRed,1\n", "rename the column with the names of the teams to team"),
        ("team,Points\nRed,1\n", "rename the column with the scores to score. It has the columns 'team', 'Poi"),
        ("Username,A(1)-score,B(2)-score\nRed,1,2\n", "rename the column with the scores to score. It has"),
        (
            "TeamId,TeamName,SubmissionDate,Score\n1,Red,2017-01-02,0.7\n1,Red,2017-01-03,0.8\n2,Blue,2017,0\n",
            "expected one row for each team, found several for Red: Kaggle's older leaderboards",
        ),
        ("team,score\n", "expected a row for every team, found none"),
        ("team,score\nRed\n", "expected 2 fields in line 2, as in the header, found 1"),
        ("team;score\nRed;0,5\n", "expected commas between the columns, found semicolons"),
    ],
)
def test_other_boards_say_what_to_do(boosted, content, message):
    code, lines, err = boosted(content)
    assert (code, lines) == (4, [])
    assert message in err


@pytest.mark.parametrize(
    ("column", "is_named"),
    [
        ("runtime_ms", True),
        ("time", True),
        ("elapsed_s", True),
        ("Run Time", False),
        ("times_submitted", False),
    ],
)
def test_a_column_that_may_have_the_runtimes_is_named(boosted, column, is_named):
    code, _, err = boosted(f"team,score,{column}\nRed,0.7,80\nBlue,0.6,59\n")
    assert code == 0
    assert (f"if {column} has runtimes, give them in seconds in a column runtime" in err) == is_named


@pytest.mark.parametrize("other", ["red", "Red ", "Red\u200b", "Ｒed"])
def test_teams_that_look_alike_are_refused(boosted, other):
    code, _, err = boosted(f"{BOARD}{other},0.5,60\n")
    assert (code, "expected the names of teams to differ in more than case" in err) == (4, True)
