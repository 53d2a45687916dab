"""What a stranger's metric prints of a participant's cell reaches nobody's terminal as it is."""

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
from podium.cli import main

EVIL = "\x1b]0;title\x07\x1b[2Jerror: forged"
slow = pytest.mark.slow

METRIC = '''
"""Accuracy."""
import logging, sys, warnings
import pandas as pd


class ParticipantVisibleError(Exception):
    """Shown to participants."""


def higher_is_better() -> bool:
    """Higher is better."""
    return True


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """The share of right rows."""
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


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "command",
    [
        "score --metric m.py solution.csv s/Evil.csv",
        "score --metric m.py solution.csv s/Bad.csv",
        pytest.param("check m.py solution.csv s/Evil.csv", marks=slow),
        pytest.param("emulate m.py solution.csv s/Evil.csv", marks=slow),
        "rank solution.csv s --metric m.py --no-boost --resamples 0 --out o --jobs 1",
    ],
)
def test_no_command_passes_on_what_is_made_for_a_terminal(place: Path, capfd, command: str) -> None:
    commands = [command, "verify o --jobs 1"] if command.startswith("rank") else [command]
    for each in commands:
        assert main(each.split()) == (3 if "s/Bad.csv" in each else 0)
        out, err = capfd.readouterr()
        assert "\x1b" not in out + err
        assert "\x07" not in out + err
        assert "m.py prints: print \\x1b]0;title" in err
        assert not any(line.startswith("error: forged") for line in (out + err).splitlines())
    if command.startswith("rank"):
        rejected = Path("o/rejected.csv").read_text()
        assert (len(rejected.splitlines()), len(rejected) < 1500) == (2, True)


NATIVE = """
    import ctypes, os, subprocess
    os.write(1, b"written \\x1b[2J 1\\n")
    os.write(2, b"written \\x1b[2J 2\\n")
    subprocess.run(["echo", "echoed \\x1b[2J"])
    subprocess.run(["echo", "echoed \\x1b[2J to stderr"], stdout=sys.stderr)
    library = ctypes.CDLL(None)
    library.puts(b"put \\x1b[2J")
    library.fflush(None)
"""
SAID = [
    "written \\x1b[2J 1",
    "written \\x1b[2J 2",
    "echoed \\x1b[2J",
    "echoed \\x1b[2J to stderr",
    "put \\x1b[2J",
]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a command has no child here")
@pytest.mark.parametrize(
    "command",
    [
        "score --metric m.py solution.csv s/Good.csv",
        pytest.param("check m.py solution.csv s/Good.csv", marks=slow),
        pytest.param("emulate m.py solution.csv s/Good.csv", marks=slow),
        pytest.param("rank solution.csv s --metric m.py --no-boost --out o --jobs 1", marks=slow),
    ],
)
def test_what_goes_straight_to_the_descriptors_is_told_like_prints(place: Path, command: str) -> None:
    source = METRIC.replace('"""The share of right rows."""', '"""The share of right rows."""' + NATIVE)
    Path("m.py").write_text(source)
    ended = _typed(command)
    assert ended.returncode == 0, ended.stderr
    assert "\x1b" not in ended.stdout + ended.stderr
    told = [line for line in ended.stderr.splitlines() if line.startswith("m.py prints: ")]
    assert {f"m.py prints: {each}" for each in SAID} <= set(told)
    assert len(told) == len(set(told))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a command has no child here")
def test_what_a_metric_wrote_before_it_crashed_is_told(place: Path) -> None:
    source = METRIC.replace(
        "    for word in", "    import os\n    os.write(2, b'last \\x1b[2J')\n    os.abort()\n    for word in"
    )
    Path("m.py").write_text(source)
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


def test_what_a_record_of_a_competition_says_is_made_visible(place: Path, capfd) -> None:
    typed = "row_id_column_name: str, mode: str = 'x') -> float:"
    Path("m.py").write_text(METRIC.replace("row_id_column_name: str) -> float:", typed))
    Path("private").mkdir()
    Path("solution.csv").rename("private/solution.csv")
    record = {"metric": "m", "parameters": {"mode": EVIL}}
    Path("competition.json").write_text(json.dumps(record))
    assert main(["score", "--metric", "m.py", "private/solution.csv", "s/Good.csv"]) == 0
    out, err = capfd.readouterr()
    assert "parameters of " in err
    assert "mode=\\x1b]0;title\\x07" in err
    assert "\x1b" not in out + err
