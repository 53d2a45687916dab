"""No command passes strangers' escape sequences to a terminal, and all commands describe a bad file alike."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.support import command_line

ROOT = Path(__file__).parents[2]
SOLUTION, SUBMISSION = ROOT / "solution_sample.csv", ROOT / "sample_submission.csv"
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"


@pytest.fixture
def call(capsys):
    """Run the command line in this process."""
    return lambda *arguments: command_line.run(capsys, *arguments)


def is_harmless(text: str) -> bool:
    """Whether a terminal shows a text as it is."""
    return text.replace("\n", "").isprintable()


@pytest.fixture
def escaping(tmp_path):
    """A submission whose values and whose file name contain escape sequences."""
    frame = pd.read_csv(SUBMISSION, dtype=str)
    frame.loc[0, "discourse_type"] = ESCAPES
    path = tmp_path / f"{ESCAPES.replace('/', '')}.csv"
    frame.to_csv(path, index=False)
    return path


def test_escape_sequences_of_a_rejected_file(call, escaping):
    code, out, err = call("score", SOLUTION, escaping)
    assert (code, out) == (3, "")
    assert is_harmless(err)
    assert "\\x1b[2J" in err


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_escape_sequences_in_what_is_printed(call, tmp_path, options):
    """They occur in names of sub-populations and of files, and on both output streams."""
    solution = tmp_path / f"solution{ESCAPES}.csv"
    solution.write_text(SOLUTION.read_text().replace(",Yes", f",{ESCAPES}"), encoding="utf-8")
    other = tmp_path / f"{ESCAPES}.csv"
    shutil.copy(SUBMISSION, other)
    code, out, err = call("score", solution, SUBMISSION, other, *options)
    assert code == 0
    assert is_harmless(out)
    assert is_harmless(err)
    if options:
        labels = [row["value"] for row in json.loads(out)["tables"]["Sub-populations"]]
        assert ESCAPES in labels  # which reads back the same
    else:
        assert "\\x1b[2J\\u202e\\x9b31m" in out


def test_whatever_a_command_prints_is_made_harmless(capsys):
    from podium import errors

    assert errors.run(lambda: print(f"a{ESCAPES}\tb")) == 0
    assert capsys.readouterr().out == "a\\x1b]0;owned\\x07\\x1b[2J\\u202e\\x9b31m\tb\n"


COMMANDS = {
    "score": [SOLUTION, "BAD"],
    "emulate": ["unified", SOLUTION, "BAD"],
    "tune": [SOLUTION, "BAD"],
}
OF_THE_HOST = {
    "score": ["BAD", SUBMISSION],
    "emulate": ["unified", "BAD", SUBMISSION],
    "tune": ["BAD", SUBMISSION],
    "make": ["BAD", "--out", "out"],
    "boost": ["BAD"],
    "estimate": ["BAD", "team"],
}
BAD = {
    b"\x80\x04\x95": "expected a CSV table, found a pickle",
    b"\xd0\xcf\x11\xe0": "expected a CSV table, found an Excel workbook",
    b"<!DOCTYPE html>": "expected a CSV table, found a page in HTML",
    b"": "is not a CSV table: it is empty",
    b"a;b\n1;2\n": "expected commas between the columns, found semicolons",
    b"a,b\n\xff,1\n": "is not UTF-8 text",
}


@pytest.mark.parametrize("content", BAD)
@pytest.mark.parametrize(
    ("command", "arguments", "code"),
    [
        *((command, arguments, 3) for command, arguments in COMMANDS.items()),
        *((command, arguments, 4) for command, arguments in OF_THE_HOST.items()),
    ],
)
def test_a_bad_file_has_the_same_words_in_every_command(
    call, tmp_path, monkeypatch, content, command, arguments, code
):
    """The exit code blames the right person: 3 the participant for a submission, 4 the host for everything
    else.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_bytes(content)
    done, out, err = call(command, *["bad.csv" if each == "BAD" else each for each in arguments])
    if command in ("boost", "estimate") and content.startswith(b"a,b"):
        assert done == 4  # boost.py reads the cells, alone, too
        return
    assert (done, out) == (code, ""), err
    assert BAD[content] in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", SOLUTION, SUBMISSION, "--rows", "x.xlsx"],
        ["tune", SOLUTION, SUBMISSION, "--out", "x.xlsx"],
        ["boost", SOLUTION, "--out", "x.xlsx"],
        ["leaderboard", "some-competition", "--out", "x.xlsx"],
    ],
)
def test_a_workbook_is_not_written(call, arguments):
    expected = "error: cannot write x.xlsx: expected a name that ends in .csv, .csv.gz, .parquet\n"
    assert call(*arguments) == (2, "", expected)
