"""What a custom metric prints of a participant's cell reaches nobody's terminal as it is."""

import io
import json
import logging
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from podium.child.overheard import LONGEST_LINE, MOST_LINES, caught

EVIL = "\x1b]0;title\x07\x1b[2Jerror: forged"

METRIC = '''
"""Accuracy."""
import ctypes, logging, os, subprocess, sys, warnings
import pandas as pd


class ParticipantVisibleError(Exception):
    """Shown to participants."""


def higher_is_better() -> bool:
    """Higher is better."""
    return True


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """The share of right rows."""
    if os.environ.get("CRASHES"):
        os.write(2, b"last \\x1b[2J")
        os.abort()
    os.write(1, b"written \\x1b[2J 1\\n")
    subprocess.run(["echo", "echoed \\x1b[2J"])
    subprocess.run(["echo", "echoed \\x1b[2J to stderr"], stdout=sys.stderr)
    library = ctypes.CDLL(None)
    library.puts(b"put \\x1b[2J")
    library.fflush(None)
    for word in submission.loc[~submission["kind"].isin(["a", "b"]), "kind"]:
        print("print", word)
        print("stderr", word, file=sys.stderr)
        warnings.warn(f"warn {word}")
        logging.getLogger("metric").warning("log %s", word)
        if word.endswith("!"):
            raise ParticipantVisibleError(f"found {word}\\nerror: forged " + "x" * 5000)
    return float((solution["kind"] == submission["kind"]).mean())
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A competition whose submissions have cells that are made for a terminal."""
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(METRIC)
    Path("s").mkdir()
    kinds = "abab" * 5
    for name, some in (("solution", kinds), ("s/Good", kinds), ("s/Evil", [EVIL, *kinds[1:]])):
        rows = "".join(f'{number},"{kind}"\n' for number, kind in enumerate(some))
        Path(f"{name}.csv").write_text("id,kind\n" + rows)
    Path("s/Bad.csv").write_text(Path("s/Evil.csv").read_text().replace("forged", "forged!"))
    return tmp_path


SAID = [
    "written \\x1b[2J 1",
    "echoed \\x1b[2J",
    "echoed \\x1b[2J to stderr",
    "put \\x1b[2J",
    "print \\x1b]0;title\\x07\\x1b[2Jerror: forged",
    "stderr \\x1b]0;title\\x07\\x1b[2Jerror: forged",
    "log \\x1b]0;title\\x07\\x1b[2Jerror: forged",
]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a command has no child here")
@pytest.mark.parametrize(
    "command",
    [
        "score --metric m.py solution.csv s/Evil.csv",
        "score --metric m.py solution.csv s/Bad.csv",
        "check m.py solution.csv s/Evil.csv",
        "emulate m.py solution.csv s/Evil.csv",
        "rank solution.csv s --metric m.py --no-boost --resamples 0 --out o --jobs 1",
    ],
)
def test_no_command_passes_on_what_is_made_for_a_terminal(place: Path, command: str) -> None:
    """Neither what is printed nor what goes straight to the descriptors; each line is told once."""
    commands = [command, "verify o --jobs 1"] if command.startswith("rank") else [command]
    for each in commands:
        ended = _typed(each)
        assert ended.returncode == (3 if "s/Bad.csv" in each else 0), ended.stderr
        everything = ended.stdout + ended.stderr
        assert "\x1b" not in everything
        assert "\x07" not in everything
        assert not any(line.startswith("error: forged") for line in everything.splitlines())
        told = [line for line in ended.stderr.splitlines() if line.startswith("m.py prints: ")]
        end = "!" if "s/Bad.csv" in each else ""
        assert {f"m.py prints: {one}{end * ('forged' in one)}" for one in SAID} <= set(told)
        assert len(told) == len(set(told))
    if command.startswith("rank"):
        rejected = Path("o/rejected.csv").read_text()
        assert (len(rejected.splitlines()), len(rejected) < 1500) == (2, True)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a command has no child here")
def test_what_a_metric_wrote_before_it_crashed_is_told(place: Path, monkeypatch) -> None:
    monkeypatch.setenv("CRASHES", "1")
    ended = _typed("score --metric m.py solution.csv s/Good.csv")
    assert (ended.returncode, ended.stdout) == (4, "")
    assert ended.stderr.splitlines()[-2:] == [
        "error: the metric crashed its process before there was a result: signal 6 (SIGABRT)",
        "the metric prints: last \\x1b[2J",
    ]


def _typed(command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command as it is typed."""
    typed = [sys.executable, "-m", "podium", *command.split()]
    return subprocess.run(typed, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_each_line_is_told_once_and_only_so_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        with caught(tmp_path / "a.py"):
            print("one\rtwo\none")
            sys.stderr.write("no end of line")
            sys.stdout.buffer.write(b"bytes\xff\n")
            with caught(tmp_path / "b.py"):
                print("x" * 10_000)
    assert capsys.readouterr().err.splitlines() == [
        "a.py prints: one",
        "a.py prints: two",
        "a.py prints: no end of linebytes\ufffd",
        f"a.py prints: {'x' * LONGEST_LINE}",
    ]
    with caught(tmp_path / "c.py"):
        for number in range(10_000):
            print(number)
    told = capsys.readouterr().err.splitlines()
    assert told[-2:] == [f"c.py prints: {MOST_LINES - 1}", "c.py prints more, which is not shown"]
    assert len(told) == MOST_LINES + 1


def test_a_stream_that_a_metric_keeps_or_closes_does_no_harm(tmp_path: Path, capsys) -> None:
    with caught(tmp_path / "d.py"):
        handler = logging.StreamHandler()
        sys.stdout.close()
    record = logging.LogRecord("x", logging.WARNING, "", 1, "later \x1b", (), None)
    handler.emit(record)
    with caught(tmp_path / "d.py"):
        print("open")
    assert capsys.readouterr().err.splitlines() == ["d.py prints: later \\x1b", "d.py prints: open"]


def test_a_program_that_a_metric_starts_has_a_stream(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with caught(tmp_path / "e.py"), warnings.catch_warnings():
        subprocess.run([sys.executable, "-c", "print('done')"], stdout=sys.stderr, check=True)
        assert isinstance(sys.stderr, io.TextIOWrapper)
        assert os.isatty(sys.stderr.fileno()) is False
    assert capfd.readouterr().err == "e.py prints: done\n"


def test_what_a_record_of_a_competition_says_is_made_visible(place: Path) -> None:
    typed = "row_id_column_name: str, mode: str = 'x') -> float:"
    Path("m.py").write_text(METRIC.replace("row_id_column_name: str) -> float:", typed))
    Path("private").mkdir()
    Path("solution.csv").rename("private/solution.csv")
    record = {"metric": "m", "parameters": {"mode": EVIL}}
    Path("competition.json").write_text(json.dumps(record))
    ended = _typed("score --metric m.py private/solution.csv s/Good.csv")
    assert "parameters of " in ended.stderr
    assert "mode=\\x1b]0;title\\x07" in ended.stderr
    assert (ended.returncode, "\x1b" in ended.stdout + ended.stderr) == (0, False)
