"""No command passes strangers' escape sequences to a terminal, and all commands describe a bad file alike."""

import json
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from podium.child import limits
from podium.common import errors
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
    def work():
        print(f"a{ESCAPES}\tb")
        raise errors.UsageError(ESCAPES)

    assert errors.exit_code_of(work) == 2
    escaped = "\\x1b]0;owned\\x07\\x1b[2J\\u202e\\x9b31m"
    assert capsys.readouterr() == (f"a{escaped}\tb\n", f"error: {escaped}\n")


COMMANDS = {"score": [SOLUTION, "BAD"], "emulate": ["unified", SOLUTION, "BAD"], "tune": [SOLUTION, "BAD"]}
OF_THE_HOST = {
    "score": ["BAD", SUBMISSION],
    "emulate": ["unified", "BAD", SUBMISSION],
    "tune": ["BAD", SUBMISSION],
    "make": ["BAD", "--out", "out"],
    "boost": ["BAD"],
    "estimate": ["BAD", "team"],
}


@pytest.mark.parametrize(
    ("command", "arguments", "code"),
    [
        *((command, arguments, 3) for command, arguments in COMMANDS.items()),
        *((command, arguments, 4) for command, arguments in OF_THE_HOST.items()),
    ],
)
def test_a_bad_file_has_the_same_words_in_every_command(call, tmp_path, monkeypatch, command, arguments, code):
    """The exit code blames the right person: 3 the participant for a submission, 4 the host for everything
    else. Which files are bad is tried with the reader alone.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_bytes(b"\xd0\xcf\x11\xe0")
    done, out, err = call(command, *["bad.csv" if each == "BAD" else each for each in arguments])
    assert (done, out) == (code, ""), err
    assert "expected a CSV table, found an Excel workbook" in err


@pytest.mark.parametrize(
    "arguments", [["score", "none.csv", "none.csv", "--rows"], ["boost", "none.csv", "--out"]]
)
def test_a_workbook_is_refused_before_any_work(call, arguments):
    expected = "error: cannot write x.xlsx: expected a name that ends in .csv, .csv.gz, .parquet\n"
    assert call(*arguments, "x.xlsx") == (2, "", expected)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_a_small_file_that_expands_beyond_the_limit_is_rejected(call, tmp_path, monkeypatch):
    """A thousand bytes stand for 2 GB. The limit of 4 GB is lowered, so that the test is quick."""
    path = tmp_path / "bomb.parquet"
    table = pa.table({"essay_id": ["x" * 100_000] * 20_000})
    parquet.write_table(
        table, path, use_dictionary=False, column_encoding={"essay_id": "DELTA_BYTE_ARRAY"}, compression="zstd"
    )
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(limits, "_available_memory", lambda: 2**40)
    low = limits.Limits(memory=2**28)
    monkeypatch.setattr(limits, "Limits", lambda: low)
    assert call("score", SOLUTION, path) == (3, "", "error: takes more than 256 MB of memory\n")
