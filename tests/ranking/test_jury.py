"""What a jury decides about teams: who does not compete decides nothing, and prizes pass to the next team."""

import itertools
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from examples.essays import make_competition
from podium.common.errors import HostError, UsageError
from podium.ranking.exports import read_board
from podium.ranking.final import FinalBoard
from podium.ranking.rules import Rules
from tests.support.examples import examples

pytestmark = pytest.mark.slow

TEAMS = ["Ada", "Bo", "Cy", "Di", "Eve", "Fay"]
SECONDS = [130, 100, 110, 100.5, 90, 105]
STATUSES = ("no prize", "baseline", "withdrawn", "disqualified")
QUICK = {"resamples": 40, "jobs": 1}


@pytest.fixture(scope="module")
def competition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A competition of six teams, two of which sent the same file."""
    folder = tmp_path_factory.mktemp("competition")
    solution, submission = make_competition(40, seed=3, shared_words=False)
    solution.to_csv(folder / "solution.csv", index=False)
    (folder / "teams").mkdir()
    for number, team in enumerate(TEAMS[:5]):
        submission.sample(frac=1 - 0.04 * number, random_state=number).to_csv(
            folder / "teams" / f"{team}.csv", index=False
        )
    shutil.copy(folder / "teams" / "Bo.csv", folder / "teams" / "Fay.csv")
    runtimes = {"team": TEAMS, "runtime": SECONDS, "runtime_error": 0.5, "runs": "3"}
    pd.DataFrame(runtimes).to_csv(folder / "runtimes.csv", index=False)
    podium.rank(*files_in(folder), out=folder / "all", **QUICK)
    return folder


def files_in(folder: Path) -> tuple[Path, Path, Path]:
    """The files that are ranked."""
    return folder / "solution.csv", folder / "teams", folder / "runtimes.csv"


def table_of(path: Path, statuses: dict[str, str]) -> Path:
    """Write a table of decisions."""
    rows = [(team, status, f"because of {team}") for team, status in statuses.items()]
    pd.DataFrame(rows, columns=["team", "status", "reason"]).to_csv(path, index=False)
    return path


def without(folder: Path, teams: list[str], out: Path) -> FinalBoard:
    """Rank without the files of some teams."""
    shutil.copytree(folder / "teams", out / "teams")
    for team in teams:
        (out / "teams" / f"{team}.csv").unlink()
    runtimes = pd.read_csv(folder / "runtimes.csv")
    runtimes[~runtimes["team"].isin(teams)].to_csv(out / "runtimes.csv", index=False)
    return podium.rank(folder / "solution.csv", out / "teams", out / "runtimes.csv", out=out / "out", **QUICK)


@examples(20)
@given(statuses=st.dictionaries(st.sampled_from(TEAMS), st.sampled_from(STATUSES), min_size=1, max_size=4))
def test_the_board_is_the_one_without_those_who_do_not_compete(competition, tmp_path_factory, statuses):
    folder = tmp_path_factory.mktemp("decided")
    table = table_of(folder / "teams.csv", statuses)
    decided = podium.rank(again=competition / "all", teams=table, out=folder / "decided", jobs=1)
    out = [team for team, status in statuses.items() if status != "no prize"]
    right = without(competition, out, folder)
    board = decided.leaderboard
    pd.testing.assert_frame_equal(
        board.drop(columns=["prize", "note", "status"]), right.leaderboard.drop(columns=["prize", "note"])
    )
    may_win = [team for team in board["team"] if statuses.get(team) != "no prize"]
    assert board.loc[board["prize"].notna(), "team"].tolist() == may_win[:3]
    assert board["prize"].dropna().tolist() == list(range(1, len(may_win[:3]) + 1))
    of_prizes = ["prize_again", "may_win_prize"]
    if "no prize" in statuses.values():  # the intervals of teams that may win a prize hold together
        of_prizes += [f"{name}_{end}" for name in ("score", "boosted_score") for end in ("low", "high")]
    pd.testing.assert_frame_equal(
        decided.certainty.drop(columns=of_prizes), right.certainty.drop(columns=of_prizes)
    )
    pd.testing.assert_frame_equal(decided.variants, right.variants)
    pd.testing.assert_frame_equal(decided.groups, right.groups)
    if "no prize" not in statuses.values():
        pd.testing.assert_frame_equal(decided.certainty, right.certainty)
        pd.testing.assert_frame_equal(decided.differences, right.differences)
    pairs = list(zip(decided.differences["team"], decided.differences["next_team"]))
    assert pairs == list(itertools.pairwise(may_win))[:3]
    no_prize = ~board["team"].isin(may_win)
    assert decided.certainty.loc[no_prize, "prize_again"].isna().all()
    assert not decided.certainty.loc[no_prize, "may_win_prize"].any()


def test_prizes_pass_on_and_all_is_recorded_shown_and_verified(competition, tmp_path):
    statuses = {"Ada": "no prize", "Bo": "baseline", "Cy": "disqualified"}
    table = table_of(tmp_path / "teams.csv", statuses)
    board = podium.rank(*files_in(competition), out=tmp_path / "out", teams=table, **QUICK)
    published = pd.read_csv(tmp_path / "out" / "final_leaderboard.csv", dtype={"rank": "Int64"})
    assert set(published["team"]) == set(TEAMS) - {"Cy"}
    row = published.set_index("team").loc["Bo"]
    assert pd.isna(row["rank"])
    assert (row["boost"], row["boosted_score"], row["note"]) == (0, row["score"], "baseline: because of Bo")
    above = published["boosted_score"][: list(published["team"]).index("Bo")]
    assert (above >= row["score"]).all(), "it stands below teams with the same score"
    assert "no prize: because of Ada" in published["note"].tolist()
    files = board.submissions.set_index("team")
    assert files.loc[["Bo", "Cy"], "why"].tolist() == ["baseline", "disqualified"]
    assert files.loc[["Bo", "Cy"], "score"].notna().all()
    assert {frozenset(pair) for pair in board.similar[["team", "other_team"]].to_numpy()} >= {
        frozenset(("Bo", "Fay"))
    }
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert [each["team"] for each in record["decisions"]] == list(statuses)
    assert len(record["inputs"]["teams"]["sha256"]) == 64
    page = (tmp_path / "out" / "board.html").read_text()
    assert "because of Cy" in page
    assert "The jury decided about 3 teams (no prize: Ada; baseline: Bo; disqualified: Cy)." in page
    assert podium.verify(tmp_path / "out", jobs=1)
    table_of(table, statuses | {"Di": "no prize"})
    (changed, *_) = podium.verify(tmp_path / "out", jobs=1).differences
    assert changed.startswith(f"the teams {table} has changed since the earlier run")


def test_decisions_stay_and_can_be_lifted(competition, tmp_path):
    table = table_of(tmp_path / "teams.csv", {"Ada": "disqualified"})
    podium.rank(again=competition / "all", teams=table, out=tmp_path / "one", jobs=1)
    kept = podium.rank(again=tmp_path / "one", out=tmp_path / "kept", jobs=1)
    assert "Ada" not in set(kept.leaderboard["team"])
    lifted = podium.rank(again=tmp_path / "one", teams="", out=tmp_path / "lifted", jobs=1)
    assert podium.verify(lifted.folder, jobs=1)
    for name in ("final_leaderboard.csv", "intervals.csv", "differences.csv", "similar.csv"):
        assert (lifted.folder / name).read_bytes() == (competition / "all" / name).read_bytes()


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("no prize", "The jury decided"),
        ("baseline", "The jury decided: baseline, because of this reason"),
        ("disqualified", "The jury decided: disqualified, because of this reason"),
        ("withdrawn", "The team has withdrawn"),
    ],
)
def test_the_answer_to_a_complaint_has_the_decision(competition, tmp_path, status, told):
    reason = "its notebook <b>read</b> the labels"
    (tmp_path / "teams.csv").write_text(f'team,status,reason\nDi,{status},"{reason}"\n')
    podium.rank(again=competition / "all", teams=tmp_path / "teams.csv", team="Di", out=tmp_path / "o", jobs=1)
    page = (tmp_path / "o" / "team.html").read_text()
    assert "read&lt;/b&gt; the labels" in page
    assert (told in page) == (status != "no prize")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            "Ada,no price,x",
            "row number 1: expected one of no prize, baseline, withdrawn, disqualified in the column status",
        ),
        ("Ada,disqualified,", "row number 1: expected why Ada is disqualified in the column reason"),
        ("Ada,no prize,x\nAda,baseline,y", "row number 2: expected another one than in row number 1"),
        ("Ad,no prize,x", "such as Ada"),
        ("ADA,no prize,x", "such as Ada in the column team, found 'ADA'"),
        (f"Ada,no prize,{'x' * 300}\nBo,no price,x", "row number 2: expected one of"),
        (f"Ada,{'x' * 300},", f"found '{'x' * 60}'"),
        (",no prize,x", "in the column team, found an empty cell"),
        ("\n".join(f"{team},baseline," for team in TEAMS), "expected a team that competes, found none"),
    ],
)
def test_a_wrong_table_names_its_line(competition, tmp_path, lines, told):
    (tmp_path / "teams.csv").write_text(f"team,status,reason\n{lines}\n")
    with pytest.raises(HostError) as error:
        podium.rank(again=competition / "all", teams=tmp_path / "teams.csv", out=tmp_path / "o", jobs=1)
    assert told in str(error.value)
    assert len(str(error.value).replace(str(tmp_path), "")) <= 280
    assert not (tmp_path / "o" / "run.json").exists()


def test_a_reason_under_a_misspelled_name_is_not_lost(competition, tmp_path):
    (tmp_path / "teams.csv").write_text("team,status,reasons\nAda,no prize,x\n")
    with pytest.raises(HostError, match="expected the column reason, found reasons"):
        podium.rank(again=competition / "all", teams=tmp_path / "teams.csv", out=tmp_path / "o", jobs=1)


def test_what_strangers_say_moves_no_cursor(says_folder, says, rank_says):
    """Reasons of the jury, models and their errors, and what a metric says of a submission."""
    says("a", 0.5)
    says("b", 0.5)
    evil = "\x1b[2J\u202e\x9b31m"
    metric = (says_folder / "says.py").read_text()
    refusal = (
        f"    if submission['says'][0] == 'no':\n        raise ParticipantVisibleError({evil!r})\n    return"
    )
    visible = "class ParticipantVisibleError(Exception): pass\n"
    (says_folder / "says.py").write_text(visible + metric.replace("    return", refusal, 1))
    (says_folder / "teams" / "c.csv").write_text("id,says\n1,no\n2,no\n")
    tables = {
        "teams": f"team,status,reason\na,no prize,{evil}\n",
        "failed": f"team,model,reason\nb,m{evil},{evil}\n",
    }
    for name, text in tables.items():
        (says_folder / f"{name}.csv").write_text(text)
    options = [each for name in tables for each in (f"--{name}", says_folder / f"{name}.csv")]
    code, *printed = rank_says("--resamples", 0, "--team", "c", *options)
    assert code == 0
    written = [path.read_text("utf-8") for path in (says_folder / "final").glob("*.*")]
    assert not {*"\x1b\u202e\x9b"} & {*"".join([*printed, *written])}
    assert sum("\\u202e" in text for text in written) >= 6
    assert podium.verify(says_folder / "final", jobs=1)


def test_a_failed_model_may_be_disqualified(competition, tmp_path):
    (tmp_path / "failed.csv").write_text("team,model,reason\nGus,gus,timeout\n")
    (tmp_path / "teams.csv").write_text("team,status,reason\nGus,disqualified,two accounts\n")
    board = podium.rank(
        again=competition / "all", failed=tmp_path / "failed.csv", teams=tmp_path / "teams.csv",
        out=tmp_path / "o", jobs=1,
    )  # fmt: skip
    assert "The jury decided about 1 team (disqualified: Gus)." in board.summary


def test_an_answer_to_a_team_is_about_that_team_alone(competition, tmp_path, call):
    (tmp_path / "failed.csv").write_text("team,model,reason\nGus,,exit code 1\nGus,large,time limit\n")
    (tmp_path / "teams.csv").write_text("team,status,reason\nAda,disqualified,two accounts\n")
    again = [
        "--again",
        competition / "all",
        "--failed",
        tmp_path / "failed.csv",
        "--teams",
        tmp_path / "teams.csv",
    ]
    for team, lines in {
        "Ada": ["  disqualified: two accounts", "  Ada.csv: disqualified"],
        "Gus": ["  the model failed: exit code 1", "  the model large failed: time limit"],
    }.items():
        code, out, _ = call("rank", *again, "--team", team, "--out", tmp_path / team, "--jobs", 1)
        assert code == 0
        assert out.splitlines() == ["", f"{team}, as on {tmp_path / team / 'team.html'}:", *lines]
    page = (tmp_path / team / "team.html").read_text()
    assert "“When a model fails” in <code>docs/how-to/run-models.md</code>" in page


def test_several_teams_or_all_get_a_page_each(competition, tmp_path, call):
    """Of several, none replaces the other; the page of a team keeps its name whoever else has one."""
    again = "rank", "--again", competition / "all", "--jobs", 1
    code, out, _ = call(*again, "--team", "Bo", "--team", "Ada", "--out", tmp_path / "two")
    assert code == 0
    assert [line for line in out.splitlines() if ", as on " in line] == [
        f"Bo, as on {tmp_path / 'two' / 'team_2_bo.html'}:",
        f"Ada, as on {tmp_path / 'two' / 'team_1_ada.html'}:",
    ]
    assert podium.verify(tmp_path / "two", jobs=1)
    board = podium.rank(again=competition / "all", team="all", out=tmp_path / "all", jobs=1)
    names = [f"team_{number}_{team.lower()}.html" for number, team in enumerate(sorted(TEAMS), 1)]
    assert [*board.pages.values()] == names == sorted(path.name for path in (tmp_path / "all").glob("team*"))
    assert "<h1><bdi>Bo</bdi></h1>" in (tmp_path / "all" / "team_2_bo.html").read_text()
    podium.rank(again=tmp_path / "all", team="Bo", out=tmp_path / "one", jobs=1)
    assert [path.name for path in (tmp_path / "one").glob("team*")] == ["team.html"]
    with pytest.raises(UsageError, match='team="Nobody": expected one of the teams'):
        podium.rank(again=competition / "all", team=["Bo", "Nobody"], out=tmp_path / "o", jobs=1)


# ---- The deadline -----------------------------------------------------------------------------------------


def manifest_of(folder: Path, competition: Path, times: dict[str, str]) -> Path:
    """Write a manifest with times of submission."""
    rows = [(team, competition / "teams" / f"{team}.csv", time) for team, time in times.items()]
    pd.DataFrame(rows, columns=["team", "path", "submitted_at"]).to_csv(folder / "manifest.csv", index=False)
    return folder / "manifest.csv"


def test_what_came_after_the_deadline_is_scored_and_does_not_count(competition, tmp_path):
    times = {
        "Ada": "2026-03-01 12:00:01", "Bo": "2026-03-01 12:00:00", "Cy": "2026-03-02", "Di": "",
        "Eve": "2026-03-01", "Fay": "2026-03-02T15:30+02:00",
    }  # fmt: skip
    manifest = manifest_of(tmp_path, competition, times)
    given = (competition / "solution.csv", manifest)
    board = podium.rank(*given, out=tmp_path / "o", deadline="2026-03-01 12:00", **QUICK)
    late = {
        "Ada": "submitted 2026-03-01 12:00:01 UTC, after the deadline of 2026-03-01 12:00:00 UTC",
        "Cy": "submitted 2026-03-02, after the deadline of 2026-03-01 12:00:00 UTC",
        "Fay": "submitted 2026-03-02 13:30:00 UTC, after the deadline of 2026-03-01 12:00:00 UTC",
    }
    assert dict(zip(board.rejected["team"], board.rejected["reason"])) == late
    assert set(board.leaderboard["team"]) == {"Bo", "Di", "Eve"}
    assert board.submissions["score"].notna().all(), "it is scored and stored"
    assert board.warnings[:2] == [
        "the time of 1 of 6 submissions is not known, so the deadline leaves none of them out",
        "of 1 submission only the date is known, which is the day of the deadline, so none of them is left "
        "out: Eve",
    ]
    assert podium.verify(tmp_path / "o", jobs=1)
    assert not podium.verify(tmp_path / "o", deadline="2026-03-04 00:00", jobs=1)
    later = podium.rank(again=tmp_path / "o", deadline="2026-03-04T00:00", out=tmp_path / "later", jobs=1)
    assert set(later.leaderboard["team"]) == set(TEAMS)


@pytest.mark.parametrize(
    ("deadline", "in_time"),
    [
        ("2026-03-01T01:00+05:00", ["Bo"]),  # the evening before in UTC
        ("2026-02-28T23:59:59", ["Bo", "Cy"]),
        ("2026-03-01", ["Ada", "Bo", "Cy", "Di"]),  # to the end of the day
    ],
)
def test_a_deadline_and_times_are_in_utc_unless_they_have_an_offset(competition, tmp_path, deadline, in_time):
    times = {"Ada": "2026-03-01", "Bo": "2026-02-28", "Cy": "2026-02-28T20:01", "Di": "2026-03-02T00:59+01:00"}
    times["Eve"] = "2026-03-02T00:00"
    given = (competition / "solution.csv", manifest_of(tmp_path, competition, times))
    board = podium.rank(*given, out=tmp_path / "o", deadline=deadline, **QUICK)
    assert sorted(board.leaderboard["team"]) == in_time
    is_told = any("which is the day of the deadline" in each for each in board.warnings)
    assert is_told == (len(deadline) > len("2026-03-01")), board.warnings


@pytest.mark.parametrize("deadline", ["23:59", "noon", "2026-13-01T00:00"])
def test_a_deadline_is_a_day_or_a_time(competition, tmp_path, deadline):
    with pytest.raises(UsageError, match=r"^deadline: expected a day or a time, such as"):
        podium.rank(again=competition / "all", deadline=deadline, out=tmp_path / "o")
    assert Rules().deadline == ""


def test_an_exported_board_leaves_its_baselines_out(competition, tmp_path):
    table = table_of(tmp_path / "teams.csv", {"Bo": "baseline"})
    podium.rank(again=competition / "all", teams=table, out=tmp_path / "o", jobs=1)
    path = str(tmp_path / "o" / "final_leaderboard.csv")
    board, notices = read_board(path)
    assert set(board["team"]) == set(TEAMS) - {"Bo"}
    assert notices == [f"{path}: left out, as a baseline does not compete: Bo"]


@pytest.mark.filterwarnings("ignore:.*not there and are rejected")
def test_corrections_of_ten_teams_are_made_one_after_the_other(says_folder, says, rank_says):
    """One is late, one file is missing, one team withdraws, and the late one asks why."""
    teams = [*"ABCDEFGHIJ"]
    for place, team in enumerate(teams):
        says(team, 1 - place / 20, 1 - place / 10)
    times = {team: f"2026-03-01T{10 + place}:00:00" for place, team in enumerate(teams)} | {"D": "2026-03-02"}
    rows = [f"{team},teams\\{team}.csv,{at}" for team, at in [*times.items(), ("K", "2026-03-01")]]
    (says_folder / "manifest.csv").write_text("\n".join(["team,path,submitted_at", *rows, ""]))
    code, _, err = rank_says("--deadline", "2026-03-01", teams="manifest.csv")
    assert code == 0
    assert "2 not scored, see rejected.csv: D, K" in err
    final = says_folder / "final"
    assert pd.read_csv(final / "rejected.csv")["team"].tolist() == ["D", "K"]
    (says_folder / "teams.csv").write_text("team,status,reason\nB,withdrawn,\n")
    second = podium.rank(again=final, teams=says_folder / "teams.csv", out=says_folder / "second", jobs=1)
    assert second.leaderboard["team"].tolist() == [*"ACEFGHIJ"]
    assert second.leaderboard["rank"].tolist() == [*range(1, 9)]
    third = podium.rank(again=second.folder, team="D", out=says_folder / "third", jobs=1)
    assert third.leaderboard["team"].tolist() == [*"ACEFGHIJ"]
    page = (third.folder / "team.html").read_text(encoding="utf-8")
    assert "submitted 2026-03-02, after the deadline of 2026-03-01 23:59:59 UTC" in page
    assert podium.verify(third.folder, jobs=1)
