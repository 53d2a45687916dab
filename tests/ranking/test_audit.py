"""`podium verify` checks every page; a run counts as finished when run.json exists."""

import errno
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from podium.ranking import final, output, robustness, work
from podium.ranking.audit import verify
from tests.ranking.test_final import TEAMS, arguments, call, folder, made  # noqa: F401


def differences(folder) -> str:  # noqa: F811
    """The differences that `podium verify` finds, as one text."""
    return "\n".join(verify(str(folder / "final"), 1)[0])


def test_run_json_names_every_file_that_is_published(made):  # noqa: F811
    facts = json.loads((made / "final" / "run.json").read_text())
    published = {path.name for path in (made / "final").iterdir()} - {"run.json", "store"}
    assert published == set(facts["outputs"])
    assert {"board.html", "team.html"} <= published  # and no .lock


def test_a_finished_run_is_verified_with_its_pages(folder):  # noqa: F811
    assert verify(str(folder / "final"), 1) == ([], [])


@pytest.mark.parametrize("page", ["board.html", "team.html"])
def test_a_forged_page_is_seen(folder, page):  # noqa: F811
    path = folder / "final" / page
    path.write_text(path.read_text().replace("Cy", "Zoe"))
    text = differences(folder)
    assert f"{page} was changed after the run" in text
    assert f"{page} comes out differently, first in line" in text


def test_a_forged_page_is_seen_even_if_run_json_is_forged_with_it(folder):  # noqa: F811
    path, run = folder / "final" / "board.html", folder / "final" / "run.json"
    path.write_text(path.read_text().replace("Cy", "Zoe"))
    facts = json.loads(run.read_text())
    facts["outputs"]["board.html"] = work.digest(str(path))
    run.write_text(json.dumps(facts))
    text = differences(folder)
    assert "was changed after the run" not in text
    assert "board.html comes out differently, first in line" in text
    del facts["outputs"]["board.html"]
    run.write_text(json.dumps(facts))
    assert "board.html does not belong to this run: run.json does not name it" in differences(folder)


def test_a_page_of_an_earlier_run_and_a_table_beside_another_run_s_page_are_seen(folder, call):  # noqa: F811
    shutil.copytree(folder / "final", folder / "earlier")
    assert call("rank", *arguments(folder), "--resamples", "20")[0] == 0
    assert not (folder / "final" / "team.html").exists()  # of the earlier run
    assert not (folder / "final" / "path.csv").exists()
    assert differences(folder) == ""
    for file in ("board.html", "intervals.csv"):
        now = (folder / "final" / file).read_bytes()
        shutil.copy(folder / "earlier" / file, folder / "final" / file)
        assert f"{file} was changed after the run" in differences(folder)
        (folder / "final" / file).write_bytes(now)
    shutil.copy(folder / "earlier" / "team.html", folder / "final")
    assert differences(folder) == "team.html does not belong to this run: run.json does not name it"


def test_the_title_and_the_organizer_are_verified_too(folder, call):  # noqa: F811
    heading = ["--title", "Essays <2026>", "--organizer", "A & B"]
    assert call("rank", *arguments(folder), "--resamples", "0", *heading)[0] == 0
    html = (folder / "final" / "board.html").read_text()
    assert "<h1><bdi>Essays &lt;2026&gt;</bdi></h1>" in html
    assert "Published by <bdi>A &amp; B</bdi>" in html
    assert differences(folder) == ""


def contents(folder: Path) -> dict[str, bytes]:  # noqa: F811
    """The bytes of the files in a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_full_disk_leaves_the_earlier_run_as_it_was(folder, call, monkeypatch):  # noqa: F811
    before = contents(folder / "final")
    write_bytes, written = Path.write_bytes, []

    def full(path, content):
        if ".new-" in str(path):
            written.append(path.name)
            if len(written) == 4:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    code, _, err = call("rank", *arguments(folder), "--resamples", "0")
    assert code == 2
    assert (
        err.splitlines()[-1] == f"error: cannot write {folder / 'final' / written[-1]}: No space left on device"
    )
    assert contents(folder / "final") == before
    assert not list((folder / "final").glob(".new*"))


def test_who_is_interrupted_while_files_are_moved_leaves_no_finished_run(folder, call, monkeypatch):  # noqa: F811
    replace, moved = output.os.replace, []

    def interrupted(source, target):
        if len(moved) == 3:
            raise KeyboardInterrupt
        moved.append(Path(target).name)
        replace(source, target)

    monkeypatch.setattr(output.os, "replace", interrupted)
    output_files = dict.fromkeys(("board.html", "intervals.csv", "final_leaderboard.csv", "path.csv"), b"x")
    with pytest.raises(KeyboardInterrupt):
        output.write(output_files, folder / "final", {})
    assert len(moved) == 3
    code, _, err = call("verify", folder / "final")
    assert code == 2
    assert "expected a finished run" in err


def test_run_json_is_moved_last(tmp_path, monkeypatch):
    replace, moved = output.os.replace, []

    def noted(source, target):
        moved.append(Path(target).name)
        replace(source, target)

    monkeypatch.setattr(output.os, "replace", noted)
    output.write({"board.html": b"1", "intervals.csv": b"2"}, tmp_path, {"a": 1})
    assert moved[-1] == "run.json"
    assert sorted(moved) == ["board.html", "intervals.csv", "run.json"]


# --- what is read twice is the same -----------------------------------------------------------------------


def test_a_submission_that_changes_between_two_readings_is_noticed(folder, call, monkeypatch):  # noqa: F811
    monkeypatch.setattr(work, "SECONDS_BEFORE_RETRY", 0.0)
    score = work.score

    def score_and_change(job, submissions, *more):
        scored = score(job, submissions, *more)
        path = folder / "teams" / "Cy.csv"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-5]))
        return scored

    monkeypatch.setattr(final.work, "score", score_and_change)
    code, out, err = call("rank", *arguments(folder), "--variants", "--resamples", "0")
    assert (code, out) == (2, "")
    assert "Cy/Cy.csv has changed since it was scored: its SHA-256 was" in err


def test_the_last_step_of_the_path_is_compared_with_the_board(folder, call, monkeypatch):  # noqa: F811
    of_path = robustness.of_path

    def other_scores(job, scores, leaderboard):
        return of_path(job, scores | {"+ softmin": scores["+ softmin"] + 1e-12}, leaderboard)

    monkeypatch.setattr(robustness, "of_path", other_scores)
    code, _, err = call("rank", *arguments(folder), "--variants", "--resamples", "0")
    assert code == 4
    assert "the last step of the path, + softmin, gives" in err


def test_a_pair_of_alike_teams_is_listed_once(made):  # noqa: F811
    similar = pd.read_csv(made / "final" / "similar.csv")
    pairs = [tuple(sorted(pair)) for pair in similar[["team", "other_team"]].itertuples(index=False, name=None)]
    assert len(pairs) == len(set(pairs))
    assert ("Cy", "Di") in pairs
    assert set(TEAMS) >= {team for pair in pairs for team in pair}
