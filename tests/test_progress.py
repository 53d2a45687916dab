"""Long scoring reports its progress to whoever asks the metric for it."""

import dataclasses
import io
import sys

import pytest

from podium import cli
from podium.common import progress
from podium.metric import hosted
from podium.scoring import evaluating
from tests.support.new_metric import SAMPLES, SOLUTION, SUBMISSION, metric_with

# What the steps of the template tell of their work.
PREPARE = (
    ('str) -> "Prepared":', 'str, progress=None) -> "Prepared":'),
    (
        "    columns = (row_id",
        "    for done in (1, 2, 3):\n        progress and progress(done, 3)\n    columns = (row_id",
    ),
)
STATISTICS = (
    ("submission: pd.DataFrame) -> npt", "submission: pd.DataFrame, progress=print) -> npt"),
    ("        columns = (self.", "        progress(5, 5)\n        columns = (self."),
)
COMPARE = """
    def read(self, submission):
        return submission

    def compare(self, read, progress):
        progress(7, 7)
        return read

    def count(self, compared):
        return self.statistics(compared)

    def measures"""


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves on by 11 seconds each time it is read."""
    times = iter(range(0, 10_000, 11))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))


@pytest.fixture
def arguments(tmp_path):
    """The arguments of `podium score` with a metric that tells of its work."""
    return ["--metric", str(metric_with(tmp_path, *PREPARE)), *SAMPLES]


def test_long_scoring_prints_lines(arguments, clock, capsys):
    assert cli.main(["score", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Score    0.600000\n")
    assert captured.err.splitlines() == [
        "scoring: 1 of 3, about 22 s left",
        "scoring: 2 of 3, about 11 s left",
        "scoring: 3 of 3, about 0 s left",
    ]


@pytest.mark.parametrize(
    ("edits", "told"),
    [(STATISTICS, (5, 5)), ([("\n    def measures", COMPARE)], (7, 7))],
    ids=["statistics", "compare"],
)
def test_each_step_that_takes_it_is_told_of_progress(tmp_path, edits, told):
    metric = hosted.load(metric_with(tmp_path, *PREPARE, *edits))
    metric = dataclasses.replace(metric, is_built_in=True)  # the check of the contract tells no progress
    calls = []
    solution = evaluating.prepare(metric, SOLUTION.drop(columns="Usage"), {}, lambda *call: calls.append(call))
    assert evaluating.evaluate(solution, SUBMISSION, lambda *call: calls.append(call)).score == 0.6
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
