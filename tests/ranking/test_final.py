"""From a run come the same board again, another board from the store, the page and the variants."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

import metric
import podium
from boost import boost
from podium.common.errors import ToolError, UsageError
from podium.metric.parameters import higher_is_better
from podium.ranking import output, robustness, run_json
from podium.ranking.rules import Rules
from podium.ranking.sentences import Sentences
from podium.scoring import evaluating, verdicts
from tests.support.boards import TABLE_2
from tests.support.finished_run import TEAMS, arguments


@pytest.mark.filterwarnings("ignore:runtimes without a submission")
def test_a_board_of_one_team(run_copy, call):
    for team in TEAMS[1:]:
        (run_copy / "teams" / f"{team}.csv").unlink()
    assert call("rank", *arguments(run_copy), "--variants", "--team", TEAMS[0])[0] == 0
    intervals = pd.read_csv(run_copy / "final" / "intervals.csv")
    assert intervals[["first_again", "may_be_best"]].to_numpy().tolist() == [[1, True]]
    assert not (run_copy / "final" / "differences.csv").exists()


def test_models_that_failed_are_read_from_beside_the_runtimes(run_copy, call):
    (run_copy / "failed.csv").write_text("team,model,reason\nFay,run.py,exit code 1\n")
    code, _, err = call("rank", *arguments(run_copy), "--resamples", "0")
    assert code == 0
    assert "warning: models that failed, see failed.csv: Fay\n" in err
    assert "failed: exit code 1" in (run_copy / "final" / "board.html").read_text()


# --- verify -------------------------------------------------------------------------------------------------


def test_a_published_board_is_verified_from_run_json_and_the_inputs_alone(run_copy, call):
    shutil.rmtree(run_copy / "final" / "store")
    for table in (run_copy / "final").glob("*.csv"):
        table.unlink()
    code, out, err = call("verify", run_copy / "final", "--jobs", 1)
    assert code == 0
    assert "warning: not in the folder, so only computed and not compared: " in err
    assert "final_leaderboard.csv" in err
    assert "board.html" not in err
    assert out.startswith(f"{run_copy / 'final'} is what its inputs lead to, to the last bit.\n")
    assert call("verify", run_copy / "final" / "run.json", "--jobs", 1)[0] == 0


def another_runtime(folder):
    """Change one runtime."""
    path = folder / "runtimes.csv"
    path.write_text(path.read_text().replace("100.5", "100.25"))


def test_the_command_says_what_differs_and_where_inputs_that_were_moved_are(run_copy, call):
    another_runtime(run_copy)
    (run_copy / "solution.csv").rename(run_copy / "moved.csv")
    code, _, err = call("verify", run_copy / "final", "--jobs", 1)
    assert (code, "say where it is now: --solution PATH" in err) == (2, True)
    code, out, err = call("verify", run_copy / "final", "--jobs", 1, "--solution", run_copy / "moved.csv")
    assert (code, out) == (1, "")
    assert f"error: {run_copy / 'final'} is not what its inputs lead to:\nthe runtimes " in err
    code, _, err = call("verify", run_copy)
    assert code == 2
    assert err.endswith("No such file or directory; expected a finished run\n")


# --- again --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_again_gives_the_board_that_the_submissions_would_give(run_copy, call):
    options = ["--set", "temperature=50", "--max-boost", "0.02", "--resamples", "40"]
    again = ["--again", run_copy / "final", "--out", run_copy / "other", "--jobs", 1]
    assert call("rank", *again, *options)[0] == 0
    shutil.move(run_copy / "final", run_copy / "before")
    assert call("rank", *arguments(run_copy), *options, "--variants")[0] == 0
    for table in (run_copy / "final").glob("*.csv"):
        assert table.read_bytes() == (run_copy / "other" / table.name).read_bytes(), table.name
    earlier = "--again", run_copy / "before"  # which has moved
    assert call("verify", run_copy / "other", "--jobs", 1, *earlier)[0] == 0


def test_the_recorded_command_can_be_typed_again(says_folder, says, call):
    """The command line reads what is recorded of a call in Python, and comes to the same board."""
    for team, first in (("Ada", 0.75), ("Bo", 0.5), ("Cy", 0.25)):
        says(team, first)
    (says_folder / "failed.csv").write_text("team,model,reason\nDi,d.py,it died\n")
    files = {"metric": says_folder / "says.py", "failed": says_folder / "failed.csv"}
    rules = {"boost": False, "choose": "private", "prizes": 2, "resamples": 20, "seed": 3}
    words = {"title": "-final-", "organizer": "--A&B", "team": "Ada", "parameters": {"low": True}}
    limits = {"jobs": 1, "time_limit": 90.5, "memory_limit": 2**30}
    paths = says_folder / "solution.csv", says_folder / "teams"
    board = podium.rank(*paths, out=says_folder / "final", **files, **rules, **words, **limits)
    recorded = run_json.read(says_folder / "final")
    assert recorded["command"][:2] == ["podium", "rank"]
    assert call(*recorded["command"][1:])[0] == 0
    again = run_json.read(says_folder / "final")
    for facts in (recorded, again):
        del facts["date"]
        facts["outputs"] = {name: each for name, each in facts["outputs"].items() if name.endswith(".csv")}
    assert again == recorded
    assert board.leaderboard["team"].tolist() == ["Cy", "Bo", "Ada"]


def test_a_board_in_python_has_the_tables_the_sentences_and_the_picture(finished_run, tmp_path):
    board = podium.rank(again=finished_run / "final", out=tmp_path / "other", prizes=1, resamples=20, jobs=1)
    teams = pd.read_csv(tmp_path / "other" / "final_leaderboard.csv")["team"].tolist()
    for table in (board.leaderboard, board.certainty, board.groups):
        assert table["team"].tolist() == teams
    assert (len(board.differences), len(board.submissions)) == (1, 4)
    assert (len(board.rejected), len(board.failed)) == (0, 0)
    assert board.similar.iloc[0].tolist() == ["Cy", "Di", 1.0]
    assert "temperature 0" in set(board.variants["decision"])
    told = repr(board)
    assert told.startswith(" ".join(board.summary))
    assert f"warning: {board.warnings[0]}" in told
    assert "Ada &lt;b&gt;" in board._repr_html_()
    drawn = ElementTree.fromstring(board.plot().svg)
    ranks = [each.text for each in drawn.findall(".//{*}g/{*}text")]
    assert sorted(int(rank) for text in ranks for rank in text.split(", ")) == [*range(1, len(teams) + 1)]
    board.plot().save(tmp_path / "board.svg")
    assert (tmp_path / "board.svg").read_text(encoding="utf-8") == board.plot()._repr_svg_()
    by_score = podium.rank(
        again=finished_run / "final", out=tmp_path / "by_score", boost=False, resamples=0, jobs=1
    )
    assert by_score.certainty is None
    texts = [each.text for each in ElementTree.fromstring(by_score.plot().svg).findall(".//{*}text")]
    assert [text for text in texts if text in teams] == by_score.leaderboard["team"].tolist()


def test_a_board_asks_for_the_direction_once_and_makes_its_sentences_once(finished_run, tmp_path, monkeypatch):
    asked, made = [], []
    direction, by_question = higher_is_better, Sentences.by_question
    for module in (evaluating, verdicts):
        monkeypatch.setattr(module, "higher_is_better", lambda *given: asked.append(given) or direction(*given))
    monkeypatch.setattr(Sentences, "by_question", lambda self: made.append(self) or by_question(self))
    board = podium.rank(again=finished_run / "final", out=tmp_path / "other", resamples=0, jobs=1)
    assert board.sentences.board is board.leaderboard
    assert [board.summary[0] in repr(board), len(made)] == [True, 1]
    assert len(asked) <= 2  # once for the solution, and once to see whether the metric says


def test_what_again_lacks_is_said(run_copy, call):
    def again(*more):
        return call("rank", "--again", run_copy / "final", "--out", run_copy / "other", "--jobs", 1, *more)

    assert again("--set", "nothing=1")[0] == 4
    for out in ("final", "final/within"):  # the earlier board is never written to
        code, _, err = call("rank", "--again", run_copy / "final", "--out", run_copy / out)
        assert code == 2
        assert "cannot write" in err
    (run_copy / "there").mkdir()
    (run_copy / "there" / "run.json").write_text("{}")
    code, _, err = call("rank", "--again", run_copy / "final", "--out", run_copy / "there")
    assert (code, "expected a new folder" in err) == (2, True)
    assert call("rank", "--again", run_copy / "nowhere", "--out", run_copy / "other")[0] == 2
    shutil.rmtree(run_copy / "teams")
    code, _, err = again()
    assert (code, "teams, which is not there; say where it is now: --again" in err) == (2, True)


# --- the page -----------------------------------------------------------------------------------------------


def test_the_page_is_one_file_that_needs_no_network_and_escapes_names(finished_run):
    html = (finished_run / "final" / "board.html").read_text(encoding="utf-8")
    assert "Ada &lt;b&gt;" in html
    assert "Bo &amp; Co" in html
    assert "<b>" not in html
    for outside in ("http:", "https:", "<link", "url(", "@import", " src="):
        assert outside not in html
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; "
    escaped = policy.format(digest).replace("'", "&#39;")
    assert f'<meta http-equiv="Content-Security-Policy" content="{escaped}form-action' in html
    for part in (
        "<h1><bdi>Essays &lt;2026&gt;</bdi></h1>", "Published by <bdi>A &amp; B</bdi>",
        "The prizes", "Other decisions", "Shake-up", "Sub-popul", "Similar submissions",
    ):  # fmt: skip
        assert part in html
    assert str(finished_run) not in html


def test_the_page_of_a_team(run_copy, call, finished_run):
    html = (finished_run / "final" / "team.html").read_text(encoding="utf-8")
    assert "<h1><bdi>Cy</bdi></h1>" in html
    assert "best by Private score" in html
    code, _, err = call("rank", *arguments(run_copy), "--team", "Zoe")
    assert code == 2
    assert "--team Zoe: expected one of the teams, such as Ada <b>, Bo & Co, Cy, Di" in err


# --- robustness ---------------------------------------------------------------------------------------------


def test_variants_are_boards_with_another_decision(finished_run):
    variants = pd.read_csv(finished_run / "final" / "variants.csv").set_index("decision")
    board = pd.read_csv(finished_run / "final" / "final_leaderboard.csv").set_index("team")
    assert variants.loc["largest reward 0.0%", "first_team"] == board["rank_before"].idxmin()
    assert variants.loc["largest reward 0.0%", "same_rank"] == (board["rank"] == board["rank_before"]).sum()
    solution = pd.read_csv(finished_run / "solution.csv", keep_default_na=False, na_values=[""])
    private = solution[solution["Usage"] == "Private"]
    files = [finished_run / "teams" / f"{team}.csv" for team in board.index]
    scores = [metric.score(private, pd.read_csv(file), "row_id", temperature=0.0) for file in files]
    boosted = boost(board[["runtime"]].reset_index().assign(score=scores))
    ranks = boosted.set_index("team")["rank"].loc[board.index]
    assert variants.loc["temperature 0", "same_rank"] == (ranks == board["rank"]).sum()
    # The last step to the metric is the metric.
    assert variants.loc["step 6 to this metric: + softmin", "kendall_tau"] == 1


@pytest.mark.parametrize("teams", [2, 3, 8, 100])
def test_kendalls_tau_of_two_orders_is_that_of_scipy(teams):
    random = np.random.default_rng(teams)
    for _ in range(10):
        one, other = random.permutation(teams) + 1, random.permutation(teams) + 1
        assert robustness.tau(one, other) == pytest.approx(kendalltau(one, other).statistic, abs=1e-12)
        assert robustness.tau(one, one) == 1


def test_a_decision_that_is_the_board_s_own_is_no_variant():
    for rules in (Rules(), Rules(max_boost=0.1)):
        table = robustness.of_board(boost(TABLE_2, **rules.of_boost), {}, rules, True)[0]
        assert ("largest reward 10.0%" in set(table["decision"])) == (rules.max_boost != 0.1)


SCRIPT = """
import podium
files = "solution.csv", "teams", "runtimes.csv"
board = podium.rank(*files, out="new", jobs=2, resamples=60, variants=True, team="Cy")
print(board.leaderboard["team"].tolist())
"""


@pytest.mark.slow
def test_a_plain_script_ranks_with_several_processes(run_copy):
    """It has no guard for __main__, no worker runs it again, and the tables are those of a single process."""
    (run_copy / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], cwd=run_copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[") == 1
    tables = sorted((run_copy / "final").glob("*.csv"))
    assert len(tables) > 5
    for table in tables:
        assert (run_copy / "new" / table.name).read_bytes() == table.read_bytes(), table.name


@pytest.mark.parametrize(
    "wrong", [{"jobs": -1}, {"jobs": 1.5}, {"prizes": True}, {"boost": True}, {"variants": "yes"}, {"seed": -1}]
)
def test_wrong_arguments_are_named(finished_run, tmp_path, wrong):
    """In Python no parser of options has looked at them."""
    files = finished_run / "solution.csv", finished_run / "teams"
    (name,) = wrong
    with pytest.raises(UsageError, match=name):
        podium.rank(*files, out=tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()


def test_two_columns_usage_are_refused(finished_run, tmp_path):
    lines = (finished_run / "solution.csv").read_text().splitlines()
    assert "Usage" in lines[0].split(",")
    text = "\n".join([f"{lines[0]},Usage", *(f"{line},Public" for line in lines[1:])])
    (tmp_path / "twice.csv").write_text(f"{text}\n")
    with pytest.raises(ToolError, match="Usage"):
        podium.rank(tmp_path / "twice.csv", finished_run / "teams", out=tmp_path / "out", jobs=1)


@pytest.mark.parametrize("out", ["teams", "teams/board", "."])
def test_no_board_is_written_where_an_input_is(run_copy, call, out):
    inputs = [run_copy / name for name in ("solution.csv", "teams", "runtimes.csv")]
    code, _, err = call("rank", *inputs, "--out", run_copy / out)
    assert (code, "error: cannot write" in err) == (2, True)
    assert not (run_copy / "teams" / "run.json").exists()


def test_what_a_killed_run_left_is_removed_and_files_keep_their_permissions(run_copy, call):
    final = run_copy / "final"
    (final / ".new-left_123").mkdir()
    (final / "board.html").chmod(0o600)
    assert call("rank", *arguments(run_copy), "--resamples", "0")[0] == 0
    assert not (final / ".new-left_123").exists()
    assert (final / "board.html").stat().st_mode & 0o777 == 0o600


def test_a_folder_whose_name_is_no_utf8_gets_a_whole_board(tmp_path):
    folder = tmp_path / os.fsdecode(b"board\xff")
    output.write({"a.csv": b"a"}, folder, {"command": [str(folder)]})
    read = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert read["command"] == [f"{tmp_path}/board?"]
