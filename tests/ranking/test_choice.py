"""The right submissions of each team are found and count, also with negative scores and where less is
better.
"""

import json
from functools import partial

import pandas as pd
import pytest

import podium


@pytest.fixture
def folder(says_folder):
    """The folder of metric, solutions and submissions."""
    return says_folder


@pytest.fixture
def call(rank_says):
    """Runs `podium rank` on a solution with a Public and a Private part."""
    return partial(rank_says, solution="parts.csv")


def board(folder) -> dict[str, str]:
    """The submission of each team that is on the board."""
    table = pd.read_csv(folder / "final" / "final_leaderboard.csv", dtype={"team": str})
    return dict(zip(table["team"], table["submission"]))


def why(folder) -> dict[str, str]:
    """Why each submission counts or does not."""
    table = pd.read_csv(folder / "final" / "all_submissions.csv", keep_default_na=False)
    assert (table["chosen"] == table["why"].str.startswith("best by")).all()
    return dict(zip(table["submission"], table["why"]))


@pytest.fixture
def several(says):
    """Ada's best Private score is not among her two best Public ones."""
    says("Ada/a", 0.9, 0.5)
    says("Ada/b", 0.8, 0.6)
    says("Ada/c", 0.7, 0.9)
    says("Bo", 0.5, 0.7)


@pytest.mark.usefixtures("several")
def test_the_better_private_of_the_two_best_public_scores_counts(folder, call):
    assert call()[0] == 0
    assert board(folder) == {"Bo": "Bo.csv", "Ada": "b.csv"}
    assert why(folder) == {
        "a.csv": "another of the 2 best files by Public score is better by Private score",
        "b.csv": "best by Private score of the 2 best files by Public score",
        "c.csv": "not among the best by Public score",
        "Bo.csv": "best by Private score of the 2 best files by Public score",
    }


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize(
    ("rule", "chosen", "told"),
    [
        ("public:1", "a.csv", "best by Public score"),
        ("public:3", "c.csv", "best by Private score of the 3 best files by Public score"),
        ("private", "c.csv", "best by Private score"),
    ],
)
def test_other_rules(folder, call, rule, chosen, told):
    assert call("--choose", rule)[0] == 0
    assert board(folder)["Ada"] == chosen
    assert json.loads((folder / "final" / "run.json").read_text())["rules"]["choose"] == rule
    assert why(folder)[chosen] == told


@pytest.mark.usefixtures("several")
def test_a_selection_overrides(folder, call):
    (folder / "m.csv").write_text(
        "team,path,selected\nAda,teams/Ada/a.csv,yes\nAda,teams/Ada/b.csv,\nAda,teams/Ada/c.csv,yes\n"
        "Bo,teams/Bo.csv,\n"
    )
    assert call(teams="m.csv")[0] == 0
    assert board(folder) == {"Ada": "c.csv", "Bo": "Bo.csv"}
    assert why(folder) == {
        "a.csv": "another of the selected files is better by Private score",
        "b.csv": "not selected",
        "c.csv": "best by Private score of the selected files",
        "Bo.csv": "best by Private score of the 2 best files by Public score",
    }
    facts = json.loads((folder / "final" / "run.json").read_text())
    assert facts["rule"].startswith(
        "the better by Private score of the files that a team selected; for teams without a "
        "selection, the better"
    )


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize("rule", ["public", "public:0", "public:x", "best"])
def test_rules_that_are_none(call, rule):
    code, _, err = call("--choose", rule)
    assert code == 2
    assert "expected public:N, such as public:2, private or last" in err


@pytest.mark.usefixtures("several")
def test_the_last_file_counts(folder, call):
    times = folder / "runtimes.csv"
    rows = "team,submission,runtime,submitted_at\nAda,a.csv,1,{}\nAda,b.csv,1,{}\nAda,c.csv,1,{}\n"
    times.write_text(rows.format("2024-01-02 09:00", "2024-01-02 10:00", "2024-01-01"))
    assert call(times, "--choose", "last")[0] == 0
    assert board(folder) == {"Ada": "b.csv", "Bo": "Bo.csv"}  # an only file needs no time
    table = pd.read_csv(folder / "final" / "all_submissions.csv").set_index("submission")["why"]
    assert table.to_dict() == dict.fromkeys(["a.csv", "c.csv"], "not the last file") | dict.fromkeys(
        ["b.csv", "Bo.csv"], "the last file"
    )
    for unknown in ("", "2024-01-02 10:00"):
        times.write_text(rows.format("2024-01-02 10:00", unknown, "2024-01-01"))
        code, _, err = call(times, "--choose", "last")
        assert code == 4
        assert "--choose last: expected a submitted_at for each file" in err
        assert "in files of Ada" in err


@pytest.mark.usefixtures("several")
def test_without_parts_the_best_counts(folder, call):
    assert call(solution="solution.csv")[0] == 0
    assert board(folder) == {"Ada": "c.csv", "Bo": "Bo.csv"}
    code, _, err = call("--choose", "public:2", solution="solution.csv")
    assert code == 4
    assert "--choose public:2: the solution has no Public part, and no public_score is given" in err


def test_of_equal_scores_the_earlier_counts_then_the_faster_then_the_name(folder, says, call):
    for name in "abc":
        says(f"Ada/{name}", 0.5, 0.5)
    as_good = "another of the 9 best files by Public score is as good by Private score, and "
    call("--choose", "public:9")
    assert board(folder) == {"Ada": "a.csv"}
    assert why(folder)["b.csv"] == as_good + "the name decided"
    (folder / "runtimes.csv").write_text("team,submission,runtime\nAda,a.csv,3\nAda,b.csv,2\nAda,c.csv,2\n")
    call(folder / "runtimes.csv", "--choose", "public:9")
    assert board(folder) == {"Ada": "b.csv"}
    assert why(folder)["a.csv"] == as_good + "the runtime decided"
    assert why(folder)["c.csv"] == as_good + "the name decided"
    (folder / "runtimes.csv").write_text(
        "team,submission,runtime,submitted_at\n"
        "Ada,a.csv,3,\nAda,b.csv,2,2024-01-02T00:00:00+02:00\nAda,c.csv,4,2024-01-01 21:59\n"
    )
    call(folder / "runtimes.csv", "--choose", "private")
    assert board(folder) == {"Ada": "c.csv"}
    assert why(folder) == {
        "a.csv": "another file is as good by Private score, and the time of submission decided",
        "b.csv": "another file is as good by Private score, and the time of submission decided",
        "c.csv": "best by Private score",
    }


# --- other metrics ------------------------------------------------------------------------------------------


def test_scores_below_zero_are_ranked_and_not_boosted(folder, says, call):
    for team, score in {"Ada": -0.5, "Bo": -0.1, "Cy": -0.9}.items():
        says(team, 0, score)
    assert call()[0] == 0
    assert list(board(folder)) == ["Bo", "Ada", "Cy"]
    (folder / "runtimes.csv").write_text("team,runtime\nAda,1\nBo,2\nCy,3\n")
    code, _, err = call(folder / "runtimes.csv")
    assert code == 4
    assert "the score of Cy is -0.9, and only scores from 0 can be boosted: rank with --no-boost\n" in err
    assert call(folder / "runtimes.csv", "--no-boost")[0] == 0
    table = pd.read_csv(folder / "final" / "final_leaderboard.csv")
    assert table["team"].tolist() == ["Bo", "Ada", "Cy"]
    assert table["runtime"].tolist() == [2, 1, 3]
    assert table["boost"].tolist() == [0, 0, 0]
    assert table["boosted_score"].tolist() == table["score"].tolist()


def test_the_lower_is_better(folder, says, call):
    for team, score in {"Ada": 5.0, "Bo": 1.0, "Cy": 9.0}.items():
        says(team, score, score)
        submit_worse = score + 1
        says(f"{team}2", submit_worse, submit_worse)
    assert call("--set", "low=yes")[0] == 0
    assert list(board(folder)) == ["Bo", "Bo2", "Ada", "Ada2", "Cy", "Cy2"]
    assert pd.read_csv(folder / "final" / "final_leaderboard.csv")["public_rank"].tolist() == [1, 2, 3, 4, 5, 6]
    (folder / "runtimes.csv").write_text("team,runtime\nAda,1\n")
    code, _, err = call(folder / "runtimes.csv", "--set", "low=yes")
    assert code == 4
    assert "the lower score is better, and only higher scores can be boosted: rank with --no-boost" in err
    assert call(folder / "runtimes.csv", "--set", "low=yes", "--no-boost")[0] == 0
    assert json.loads((folder / "final" / "run.json").read_text())["higher_is_better"] is False


def test_of_several_files_the_lower_score_counts(folder, says, call):
    says("Ada/a", 3, 3)
    says("Ada/b", 1, 2)
    says("Ada/c", 2, 1)
    call("--set", "low=yes")
    assert board(folder) == {"Ada": "c.csv"}
    call("--set", "low=yes", "--choose", "public:1")
    assert board(folder) == {"Ada": "b.csv"}


def test_scores_that_are_no_numbers_are_rejected(folder, says, call):
    says("Ada", 0.5, 0.5)
    says("Bo", float("inf"), 0.5)
    assert call()[0] == 0
    rejected = pd.read_csv(folder / "final" / "rejected.csv").iloc[0]
    assert rejected["team"] == "Bo"
    assert rejected["reason"] == "the metric gives no finite score: inf for All, inf for Public"


# --- manifests and URLs -------------------------------------------------------------------------------------


@pytest.fixture
def manifest(folder, says):
    """A table of three submissions of two teams, with times and public scores."""
    says("one", 0.5, 0.5)
    says("two", 0.6, 0.4)
    says("three", 0.9, 0.5)
    rows = [
        ("Ada", "one", "teams/one.csv", "2024-01-03", 0.9),
        ("Ada", "two", "teams/two.csv", "2024-01-02", 0.1),
        ("0012", "", str(folder / "teams" / "three.csv"), "2024-01-01", 0.2),
    ]
    columns = ["team", "submission", "path", "submitted_at", "public_score"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "manifest.csv", index=False)
    return folder / "manifest.csv"


def test_a_manifest(folder, manifest, call):
    code, _, err = call(teams="manifest.csv")
    assert code == 0, err
    assert board(folder) == {"0012": "three.csv", "Ada": "one"}  # equal scores: the earlier is before
    facts = json.loads((folder / "final" / "run.json").read_text())
    assert facts["submissions"][0]["submitted_at"] == "2024-01-01"
    assert facts["inputs"]["submissions"]["path"] == "../manifest.csv"


def test_a_time_in_the_manifest_counts_more_than_one_beside_a_runtime(folder, says, call):
    says("one", 0.5, 0.5)
    rows = [("Ada", "x", "teams/one.csv", "2024-01-02"), ("Ada", "y", "teams/one.csv", "2024-01-03")]
    columns = ["team", "submission", "path", "submitted_at"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "manifest.csv", index=False)
    runtimes = "team,submission,runtime,submitted_at\nAda,x,3,2024-02-02\nAda,y,3,2024-01-01\n"
    (folder / "runtimes.csv").write_text(runtimes)
    assert call(folder / "runtimes.csv", teams="manifest.csv")[0] == 0
    assert board(folder) == {"Ada": "x"}


def test_the_public_scores_of_a_manifest_choose_where_there_are_no_others(folder, manifest, call):
    assert call("--choose", "public:1", solution="solution.csv", teams="manifest.csv")[0] == 0
    assert board(folder)["Ada"] == "one"
    table = pd.read_csv(folder / "final" / "all_submissions.csv")
    assert table["given_public_score"].tolist() == [0.2, 0.9, 0.1]


def test_what_a_manifest_calls_selected_counts_without_a_rule(folder, says, call):
    for name, scores in {"a1": (0.5, 0.9), "a2": (0.6, 0.6), "a3": (0.7, 0.7), "b": (0.5, 0.5)}.items():
        says(name, *scores)
    rows = [
        (name[0].upper(), f"teams/{name}.csv", word)
        for name, word in {"a1": "", "a2": "yes", "a3": "", "b": ""}.items()
    ]
    pd.DataFrame(rows, columns=["team", "path", "selected"]).to_csv(folder / "manifest.csv", index=False)

    def chosen(*options: object) -> list[str]:
        assert call(*options, teams="manifest.csv")[0] == 0
        files = pd.read_csv(folder / "final" / "all_submissions.csv")
        return files.loc[files["chosen"], "submission"].tolist()

    assert chosen() == ["a2.csv", "b.csv"]
    assert podium.verify(folder / "final", jobs=1)
    record = json.loads((folder / "final" / "run.json").read_text())
    assert [each.get("selected", "") for each in record["submissions"]] == ["", "yes", "", ""]
    assert chosen("--choose", "private") == ["a1.csv", "b.csv"]
    (folder / "manifest.csv").write_text((folder / "manifest.csv").read_text().replace("yes", "no"))
    code, _, err = call(teams="manifest.csv")
    assert (code, "row number 2: expected one of yes in the column selected, found 'no'" in err) == (4, True)


def test_a_team_that_selected_no_file_with_a_score_is_told(folder, says, call):
    for name in ("a1", "a2", "b"):
        says(name, 0.5, 0.5)
    rows = "A,teams/a1.csv,,2026-03-01\nA,teams/a2.csv,yes,2026-03-03\n"
    (folder / "manifest.csv").write_text(f"team,path,selected,submitted_at\n{rows}B,teams/b.csv,,2026-03-01\n")
    _, _, told = call("--deadline", "2026-03-02", teams="manifest.csv")
    assert "the files that A selected have no score, so this team is not on the board" in told
    (folder / "manifest.csv").write_text(f"team,path,selected,submitted_at\n{rows}")
    code, _, told = call("--deadline", "2026-03-02", teams="manifest.csv")
    assert (
        code,
        "error: none of 2 submissions counts; the first that is rejected, a2.csv: submitted" in told,
    ) == (4, True)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("team\nAda\n", 4, "wrong.csv: expected the column path, found team"),
        ("team,path\n,a.csv\n", 4, "row number 1: expected a text in the column team, found an empty cell"),
        ("team,path\nAda,teams/one.csv\nAda,teams/one.csv\n", 4, "found 'Ada/one.csv'"),
        ("team,path\n", 2, "there are no submissions in"),
        (
            "team,path,submitted_at\nAda,teams/one.csv,yesterday\n",
            4,
            "in the column submitted_at, found 'yesterday'",
        ),
        ("team,path,public_score\nAda,teams/one.csv,good\n", 4, "in the column public_score, found 'good'"),
        ("team,path\nAda,s3://host/one.csv\n", 4, "(download it first) in the column path, found 's3://host/"),
    ],
)
@pytest.mark.usefixtures("manifest")
def test_wrong_manifests(folder, call, text, code, message):
    (folder / "wrong.csv").write_text(text)
    exit_code, out, err = call(teams="wrong.csv")
    assert (exit_code, out) == (code, "")
    assert message in err


@pytest.mark.filterwarnings("default:.*these files are not there:UserWarning")
@pytest.mark.usefixtures("manifest")
def test_a_file_that_is_missing_is_rejected_and_the_others_are_ranked(folder, call):
    """Also where the paths are those of Windows."""
    lines = [
        "team,path",
        "Ada,teams\\one.csv",
        "Bo,teams/nowhere.csv",
        "Cy,teams/two.csv/x.csv",
        "Di,teams\\none.csv",
    ]
    (folder / "lacking.csv").write_text("\n".join(lines))
    code, _, err = call(teams="lacking.csv")
    assert code == 0, err
    missing = "“Bo/nowhere.csv”, “Cy/x.csv”, “Di/none.csv”"
    assert f"lacking.csv: these files are not there and are rejected: {missing}" in err
    assert "3 not scored, see rejected.csv: Bo, Cy, Di" in err
    assert board(folder) == {"Ada": "one.csv"}
    rejected = pd.read_csv(folder / "final" / "rejected.csv")
    assert set(rejected["reason"]) == {"expected a file, found nothing"}
    assert podium.verify(folder / "final", jobs=1)
    (folder / "teams" / "nowhere.csv").write_text("id,says\n1,0.5\n2,0.5\n")
    assert any("Bo/nowhere.csv" in each for each in podium.verify(folder / "final", jobs=1).differences)


@pytest.mark.filterwarnings("default:.*these files are not there:UserWarning")
def test_if_all_files_of_a_manifest_are_missing_there_is_no_board(folder, call):
    (folder / "lacking.csv").write_text("team,path\nAda,nowhere.csv\n")
    code, _, err = call(teams="lacking.csv")
    assert code != 0
    assert "the first that is rejected, nowhere.csv: expected a file, found nothing" in err
