"""The process of a command ends as it should, and `podium --help` shows what there is."""

import atexit
import os
import subprocess
import sys
from pathlib import Path

import pytest

from podium import cli


def test_help_names_a_page_that_says_more():
    docs = Path(__file__).parents[2] / "docs"
    assert [page for page in ("index.md", *cli.COMMANDS.values()) if not (docs / page).is_file()] == []


LOADED = "import sys\ndef loaded(): return {name.partition('.')[0] for name in sys.modules}\n"
HELP = """
from podium import cli
for command in ([], *([name] for name in cli.COMMANDS)):
    try:
        cli.main([*command, "--help"])
    except SystemExit:
        pass
"""
SCORE = """
from podium import cli
assert cli.main(["score", "solution_sample.csv", "sample_submission.csv", "--bare"]) == 0
"""


@pytest.mark.parametrize(
    ("already", "command", "expected"),
    [
        ("", HELP, ["podium"]),
        ("import pandas, pyarrow.csv", SCORE, ["kaggle_metric_utilities", "podium", "podium_metrics"]),
    ],
    ids=["help", "score"],
)
def test_commands_load_only_what_they_need(already, command, expected):
    """Help needs the standard library alone, and scoring pandas and its Arrow. Scipy, jinja2, rich and the
    others would take up to half a second more.
    """
    before = f"{already}\nbefore = loaded() | sys.stdlib_module_names\n"
    program = f"{LOADED}{before}{command}\nprint('loaded:', *sorted(loaded() - before))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert done.stdout.splitlines()[-1].split() == ["loaded:", *expected], done.stderr


def test_without_a_command_the_help_is_shown(capsys):
    assert cli.main([]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\nfor participants:\n")) == ("", 1)


@pytest.mark.parametrize("code", [0, 3])
def test_where_arrow_is_loaded_the_interpreter_is_not_shut_down(code, monkeypatch, capsys):
    """Arrow's threads may need the interpreter during a shutdown. Functions that wait for the end are called
    before.
    """
    calls = []

    def end(given):
        calls.append(("ended with", given, capsys.readouterr().out))
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", lambda *, apart: print("printed", end="") or code)
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: calls.append("exit functions"))
    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setitem(sys.modules, "pyarrow", object())
    with pytest.raises(KeyboardInterrupt):
        cli.process()
    assert calls == ["exit functions", ("ended with", code, "printed")]
    monkeypatch.delitem(sys.modules, "pyarrow")
    with pytest.raises(SystemExit) as end_of_others:
        cli.process()
    assert end_of_others.value.code == code


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["score", "no.csv", "none.csv"], 2)])
def test_a_process_ends_with_the_exit_code(arguments, code):
    done = subprocess.run([sys.executable, "-m", "podium", *arguments], capture_output=True, text=True)
    assert done.returncode == code
    assert (done.stdout.startswith("podium ")) == (code == 0)
    assert "Traceback" not in done.stderr
