"""A board says what makes one doubt its solution, and what leaving items out has changed."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from podium.common.errors import HostError
from podium.ranking.cautions import shared_mistakes
from tests.support.finished_run import TEAMS as TEAMS_OF_RUN
from tests.support.host_line import source_of, stay_in_process

ROWS, TEAMS, WRONG = 200, 8, 6
QUICK = {"resamples": 0, "jobs": 1}


@pytest.fixture(scope="module")
def competition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A competition of classes, in whose solution six labels are wrong."""
    folder, random = tmp_path_factory.mktemp("classes"), np.random.default_rng(1)
    truth = random.integers(4, size=ROWS)
    (folder / "teams").mkdir()
    for team in range(TEAMS):
        is_wrong = random.random(ROWS) < 0.02 + 0.01 * team
        labels = (truth + is_wrong * random.integers(1, 4, size=ROWS)) % 4
        pd.DataFrame({"id": range(ROWS), "label": labels}).to_csv(
            folder / "teams" / f"T{team}.csv", index=False
        )
    key = np.where(np.arange(ROWS) < WRONG, (truth + 1) % 4, truth)
    pd.DataFrame({"id": range(ROWS), "label": key}).to_csv(folder / "solution.csv", index=False)
    given = 'given = submission.set_index("id").loc[solution["id"], "label"].to_numpy()'
    for name, complete, sign in (("metric", False, "=="), ("complete", True, "=="), ("inverted", False, "!=")):
        share = f'return float((solution["label"].to_numpy() {sign} given).mean())'
        source = source_of(given, share, head=f"COMPLETE_SUBMISSION = {complete}")
        (folder / f"{name}.py").write_text(source)
    with pytest.MonkeyPatch.context() as patch:
        stay_in_process(patch, folder)
        ranked(folder, folder / "board")
    return folder


def ranked(folder: Path, out: Path, metric: str = "metric", **options: object):
    """Rank the teams."""
    files = folder / "solution.csv", folder / "teams"
    return podium.rank(*files, metric=folder / f"{metric}.py", boost=False, out=out, **QUICK, **options)


def left_out(path: Path, items: object) -> Path:
    """Write which items to leave out."""
    pd.DataFrame({"item": list(items), "reason": "wrong label"}).to_csv(path, index=False)
    return path


def test_items_with_wrong_labels_stand_first_beside_the_board(competition):
    folder = competition / "board"
    items = pd.read_csv(folder / "items.csv")
    assert set(items["item"].head(WRONG)) == set(range(WRONG))
    assert (items["answered"] == TEAMS).all()
    assert list(items) == ["item", "answered", "same", "contradict", "row", "label", "answer"]
    facts = json.loads((folder / "run.json").read_text())
    assert not facts["warnings"]
    assert "items.csv" not in (folder / "board.html").read_text()
    assert "items.csv" not in facts["outputs"]
    assert podium.verify(folder, jobs=1)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["metric", "complete"])
def test_items_are_left_out_of_every_submission_with_a_record(competition, tmp_path, metric):
    table = left_out(tmp_path / "left_out.csv", range(WRONG))
    how = {"left_out": table, "title": "Classes"}
    if metric == "metric":
        board = podium.rank(again=competition / "board", out=tmp_path / "out", jobs=1, **how)
    else:
        ranked(competition, tmp_path / "whole", metric)
        board = podium.rank(again=tmp_path / "whole", out=tmp_path / "out", jobs=1, **how)
    right = pd.read_csv(competition / "solution.csv")["label"][WRONG:]
    for team, score in zip(board.leaderboard["team"], board.leaderboard["score"]):
        given = pd.read_csv(competition / "teams" / f"{team}.csv")["label"][WRONG:]
        assert score == pytest.approx((given == right).mean())
    told = "6 rows were left out after submissions were seen: wrong label."
    assert told in board.summary
    made = "This board was made again with left-out items."
    assert board.summary[board.summary.index(told) + 1] == made
    page = (tmp_path / "out" / "board.html").read_text()
    assert told in page
    assert "What was left out?" in page
    facts = json.loads((tmp_path / "out" / "run.json").read_text())
    assert facts["left_out"][0] == {"item": "0", "reason": "wrong label"}
    assert facts["inputs"]["left_out"]["sha256"]
    assert board.changes is not None
    assert (board.changes["change"] > 0).all()
    assert "on none of 194, most answers of the 8 best files" in board.doubtful_items
    assert len(pd.read_csv(tmp_path / "out" / "changes.csv")) == TEAMS
    assert podium.verify(tmp_path / "out", jobs=1)
    left_out(table, range(WRONG - 1))
    differences = podium.verify(tmp_path / "out", jobs=1).differences
    assert "left_out" in differences[0]


@pytest.mark.slow
def test_ranked_again_a_board_leaves_out_what_it_left_out(competition, tmp_path):
    table = left_out(tmp_path / "left_out.csv", [0, 1])
    first = ranked(competition, tmp_path / "out", left_out=table)
    again = podium.rank(again=tmp_path / "out", out=tmp_path / "again", prizes=1)
    assert again.leaderboard["score"].tolist() == first.leaderboard["score"].tolist()
    pd.testing.assert_frame_equal(again.items, first.items)
    assert podium.verify(tmp_path / "again", jobs=1)


def test_items_that_there_are_none_of_stop_the_command(competition, tmp_path):
    table = left_out(tmp_path / "left_out.csv", [0, 777])
    with pytest.raises(
        HostError, match="row number 2: expected an item of the solution, such as 0 in the column"
    ):
        ranked(competition, tmp_path / "out", left_out=table)
    assert not (tmp_path / "out" / "run.json").exists()


@pytest.mark.slow
def test_a_board_below_a_constant_answer_is_doubted(competition, tmp_path):
    board = ranked(competition, tmp_path / "out", "inverted")
    (told,) = [each for each in board.warnings if "constant answer" in each]
    assert told.startswith("even the best score, that of T7, 0.")
    assert not [
        each
        for each in podium.rank(again=competition / "board", out=tmp_path / "b", prizes=2).warnings
        if "constant answer" in each
    ]
    assert podium.verify(tmp_path / "out", jobs=1)


def test_a_mistake_of_half_of_the_files_is_a_doubt_about_the_solution():
    shifted, alone = ("positions counted from 1", "count from 0"), ("repeated rows", "leave them out")
    assert [*map(str, shared_mistakes([[shifted], [shifted, shifted], [alone], []]))] == [
        "2 of 4 distinct files seem to have positions counted from 1: look at the solution, too, because so "
        "many teams hardly make the same mistake"
    ]
    assert shared_mistakes([[shifted], [], []]) == shared_mistakes([[shifted]]) == []


def test_mistakes_stand_on_the_team_s_page(finished_run, tmp_path):
    solution = pd.read_csv(finished_run / "solution.csv", dtype=str, keep_default_na=False)
    (tmp_path / "teams").mkdir()
    for team in TEAMS_OF_RUN[:3]:
        table = pd.read_csv(finished_run / "teams" / f"{team}.csv", dtype=str)
        columns = ["score_discourse_effectiveness_0", "score_discourse_effectiveness_1"]
        if team != "Cy":  # these have exchanged them
            table[columns] = table[columns[::-1]].to_numpy()
        table.to_csv(tmp_path / "teams" / f"{team}.csv", index=False)
    solution.to_csv(tmp_path / "solution.csv", index=False)
    board = podium.rank(
        tmp_path / "solution.csv",
        tmp_path / "teams",
        out=tmp_path / "out",
        boost=False,
        team="Bo & Co",
        **QUICK,
    )
    page = (tmp_path / "out" / "team.html").read_text()
    assert "may have a mistake: <bdi>check whether score_discourse_effectiveness_0 and _1 are swapped" in page
    told = "2 of 3 distinct files seem to have swapped probabilities: look at the solution, too"
    assert [each for each in board.warnings if each.startswith(told)]
    assert set(board.mistakes) == {(team, f"{team}.csv") for team in TEAMS_OF_RUN[:2]}


@pytest.mark.slow
def test_the_page_about_the_answer_key_shows_what_is_printed(call, tmp_path, monkeypatch):
    """Every line of its outputs and tables is printed or written by its commands."""
    root = Path(podium.__file__).parents[1]
    page = (root / "docs" / "how-to" / "read-a-board.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"```(csv|text)\n(.*?)```", page, re.DOTALL))
    monkeypatch.chdir(tmp_path)
    printed = ""
    for command in re.findall(r"^    (python|podium) (.*)$", page, re.MULTILINE):
        words = shlex.split(command[1])
        if command[0] == "python":
            subprocess.run([sys.executable, root / words[0], *words[1:]], check=True)
            continue
        if "--left-out" in words:
            Path("key/left_out.csv").write_text(blocks["csv"])
        code, out, err = call(*words)
        assert code == 0
        printed += out + err
    printed += Path("key/board/items.csv").read_text()
    shown = [line for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    assert [line for line in shown if f"{line}\n" not in printed] == []
