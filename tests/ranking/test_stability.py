"""A board is verified by every later version with the same first number, and by no other."""

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium.common.errors import UsageError
from podium.common.version import __version__
from podium.metric import hosted
from podium.ranking import comparing, run_json, submissions

MAJOR, EARLIER = __version__.partition(".")[0], __version__ + ".before"
FROZEN = sorted(Path(__file__).with_name("frozen").glob(f"{MAJOR}.0*"))
TABLE, PAGE = "final_leaderboard.csv", "board.html"


@pytest.fixture(scope="module")
def computed(finished_run):
    """What comes out of the inputs of the board, computed once for all tests that leave these alone."""
    facts = run_json.read(finished_run / "final")
    options = run_json.options_of(facts, finished_run / "final")
    files = submissions.find(options.submissions)
    return comparing._ranked_again(facts, options, files, finished_run / "final", 1)


@pytest.fixture
def verified(run_copy, computed, monkeypatch):
    """Verifies a copy of the board after its version and some of its files were changed."""

    def verify(version=EARLIER, **changed):
        final = run_copy / "final"
        facts = json.loads((final / "run.json").read_text())
        facts["versions"]["podium"] = version
        for name, content in changed.items():
            file = {"page": PAGE, "table": TABLE}[name]
            (final / file).write_bytes(content)
            facts["outputs"][file] = hashlib.sha256(content).hexdigest()
        (final / "run.json").write_text(run_json.text_of(facts))
        monkeypatch.setattr(comparing, "_ranked_again", lambda *_: computed)
        return podium.verify(final, jobs=1)

    return verify


def test_a_later_version_may_draw_pages_otherwise_and_add_columns(run_copy, verified):
    table = pd.read_csv(run_copy / "final" / TABLE, dtype=str, keep_default_na=False)
    fewer = table.drop(columns="note" if "note" in table else table.columns[-1]).to_csv(index=False).encode()
    verification = verified(page=b"<p>as it was drawn then", table=fewer)
    assert verification.differences == []
    assert any("pages were not compared" in notice for notice in verification.notices)


def test_a_number_of_a_table_and_a_page_that_was_exchanged_are_told(run_copy, verified):
    table = (run_copy / "final" / TABLE).read_bytes()
    assert (
        "comes out differently, first in line 2"
        in verified(table=table.replace(b"0.", b"9.", 1)).differences[0]
    )
    (run_copy / "final" / PAGE).write_text("exchanged")
    (run_copy / "final" / TABLE).write_bytes(table)
    assert f"{PAGE} is not the one that run.json names" in verified().differences


def test_another_first_number_is_refused_with_the_version_that_verifies(verified):
    other = f"{int(MAJOR) - 1}.9.0"
    with pytest.raises(UsageError, match=f"found one of podium {other}; read and verify it with that version"):
        verified(version=other)


@pytest.mark.parametrize("folder", FROZEN, ids=lambda folder: folder.name)
def test_the_boards_of_the_first_version_are_verified_now(folder):
    """A change that these boards forbid needs another first number, see docs/reference/stability.md.

    One has a custom metric, and one has podium's default, a team that does not compete and an item left out.
    """
    verification = podium.verify(folder / "board", jobs=1)
    assert verification.differences == []
    is_custom = (folder / "metric.py").exists()
    assert any("the metric unified has changed" in notice for notice in verification.notices) != is_custom


def test_a_metric_of_podium_that_scores_otherwise_is_a_difference(monkeypatch):
    """Its file may be another one in a later version, and its scores may not."""
    unified = hosted.load("unified").module
    softmin = unified.softmin
    monkeypatch.setattr(unified, "softmin", lambda *given: softmin(*given) * 0.99)
    folder = FROZEN[1]
    differences = podium.verify(folder / "board", jobs=1).differences
    assert any(each.startswith(f"{TABLE} comes out differently, first in line 2") for each in differences)


def test_a_board_is_made_again_with_podium_s_metric_of_another_version(tmp_path):
    folder = FROZEN[1]
    with pytest.warns(UserWarning, match="the metric unified has changed .*; every submission is scored again"):
        board = podium.rank(again=folder / "board", out=tmp_path / "again", title="x", jobs=1)
    assert board.changes is not None
    assert (board.changes["change"] == 0).all()
