"""Long scoring reports its progress to whoever asks the metric for it."""

import dataclasses
import io
import sys
from pathlib import Path

import pandas as pd
import pytest

from podium import cli, hosted, progress, scoring

COUNTING = """
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Prepared:
    items: list
    item_of_row: np.ndarray
    groups: np.ndarray
    labels: list
    measure_names = ["score"]

    def statistics(self, submission):
        return np.full((len(self.items), 1), 0.5)

    def measures(self, sums):
        return np.asarray(sums)[..., 0, :1]


def prepare(solution, row_id_column_name: str, progress=None):
    for done in range(1, 4):
        if progress is not None:
            progress(done, 3)
    zeros = np.zeros((1, 1), dtype=np.int64)
    return Prepared(["1"], zeros[0], zeros, [("(all)", "(all)")])


def score(solution, submission, row_id_column_name: str):
    return 0.5
"""


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves on by 11 seconds each time it is read."""
    times = iter(range(0, 10_000, 11))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))


@pytest.fixture
def arguments(tmp_path):
    """The arguments of `podium score` with a metric that counts what it is told."""
    (tmp_path / "counting.py").write_text(COUNTING)
    pd.DataFrame({"id": [1]}).to_csv(tmp_path / "frame.csv", index=False)
    return ["--metric", str(tmp_path / "counting.py"), *[str(tmp_path / "frame.csv")] * 2]


def test_long_scoring_prints_lines(arguments, clock, capsys):
    assert cli.main(["score", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Score    0.500000\n")
    assert captured.err.splitlines() == [
        "scoring: 1 of 3, about 22 s left",
        "scoring: 2 of 3, about 11 s left",
        "scoring: 3 of 3, about 0 s left",
    ]


STAGED = """
    def read(self, submission):
        return submission

    def compare(self, read, progress):
        progress(7, 7)
        return read

    def count(self, compared):
        return self.statistics(compared)

    def measures"""
TELLING = "submission, progress):\n        progress(5, 5)\n        return np"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [("submission):\n        return np", TELLING, (5, 5)), ("\n    def measures", STAGED, (7, 7))],
    ids=["statistics", "compare"],
)
def test_each_step_that_takes_it_is_told_of_progress(arguments, old, new, told):
    path, *_ = (Path(text) for text in arguments[1:])
    path.write_text(COUNTING.replace(old, new))
    metric = dataclasses.replace(hosted.load(path), is_own=True)  # the check of the contract tells no progress
    calls = []
    frame = pd.DataFrame({"id": [1]})
    solution = scoring.prepare(metric, frame, {}, lambda *call: calls.append(call))
    assert scoring.evaluate(solution, frame, lambda *call: calls.append(call)).score == 0.5
    assert calls == [(1, 3), (2, 3), (3, 3), told]


def test_short_scoring_prints_none(arguments, capsys):
    assert cli.main(["score", *arguments]) == 0
    assert capsys.readouterr().err == ""


def test_a_second_round_has_its_own_estimate(clock, capsys):
    with progress.shown("work") as show:
        for done in (1, 10, 1, 2):
            show(done, 10)
    assert capsys.readouterr().err.splitlines() == [
        "work: 1 of 10, about 99 s left",
        "work: 10 of 10, about 0 s left",
        "work: 2 of 10, about 44 s left",
    ]


def test_a_terminal_shows_a_bar_that_goes_away(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with progress.shown("scoring") as show:
        show(1, 4)
        show(4, 4)
    written = sys.stderr.getvalue()
    assert "scoring" in written
    assert "4/4" in written
    assert written.endswith("\x1b[2K")  # the line is erased
