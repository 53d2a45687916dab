"""`podium boost` prints what `python boost.py` prints, also with the formula's parameters and for a file."""

import runpy
import sys
from pathlib import Path

import pandas as pd
import pytest

import boost
from podium import cli
from podium.common.errors import UsageError
from podium.tables.formats import read_table
from tests.support import command_line
from tests.support.boards import TABLE_2

ALONE = str(Path(boost.__file__))


@pytest.fixture
def board(tmp_path):
    """The path of a leaderboard to boost."""
    path = tmp_path / "board.csv"
    TABLE_2.assign(members="007").to_csv(path, index=False)
    return str(path)


def test_it_prints_what_the_file_alone_prints(capsys, monkeypatch, board):
    assert cli.main(["boost", board]) == 0
    printed = capsys.readouterr()
    monkeypatch.setattr(sys, "argv", [ALONE, board])
    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_path(ALONE, run_name="__main__")
    assert capsys.readouterr() == printed == (printed.out, "")


def test_the_parameters_are_the_formula_s(capsys, board, tmp_path):
    parameters = {"max_boost": 0.1, "eligibility_ratio": 1.02, "slowdown_limit": 1.5}
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items()]
    out = tmp_path / "new" / "final.csv"
    assert cli.main(["boost", board, *arguments, "--out", str(out)]) == 0
    expected = boost.boost(pd.read_csv(board, dtype={"members": str}), **parameters)
    assert len(capsys.readouterr().out.splitlines()) == 5
    written = read_table(out, {"members"}, UsageError).fillna({"note": ""})
    pd.testing.assert_frame_equal(written, expected, check_dtype=False, check_exact=True)
    assert [path.name for path in out.parent.iterdir()] == ["final.csv"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["BOARD", "--slowdown-limit", "nan"],
            4,
            "slowdown_limit: expected a finite number above 1, found float",
        ),
        (["BOARD", "--max-boost", "much"], 2, "argument --max-boost: invalid float value: 'much'"),
        (["BOARD", "--out", "."], 2, "error: cannot write "),
        (["bad.csv"], 4, "error: score: expected a finite number, or nothing. Wrong in 1 row"),
        (["none.csv"], 2, "error: cannot read none.csv"),
    ],
)
def test_wrong_usage_and_files(capsys, board, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_text("team,score\nRed,x\n")
    line = [board if each == "BOARD" else each for each in arguments]
    given, out, err = command_line.run(capsys, "boost", *line)
    assert (given, out, message in err) == (code, "", True)
