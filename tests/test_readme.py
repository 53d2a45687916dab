"""What README.md prints is what the programs print.

python -m tests.test_readme     writes the outputs in README.md anew
"""

import contextlib
import doctest
import io
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"```(console|pycon)\n(.*?)```", re.DOTALL)


def console(block: str) -> str:
    """A block of one command, "$ …", with what the command prints now: stdout, then stderr."""
    command = block.splitlines()[0]
    if command.endswith("pytest"):
        return block  # these tests themselves
    # The samples need no set-up here: of "… && .venv/bin/python …" the last part counts.
    program = command.removeprefix("$ ").rsplit("&& ", 1)[-1].replace(".venv/bin/python", "python", 1)
    program = program.replace("python", f'"{sys.executable}"', 1)
    done = subprocess.run(program, shell=True, cwd=ROOT, capture_output=True, text=True)
    return f"{command}\n{done.stdout}{done.stderr}"


def pycon(block: str) -> str:
    """A block of examples with what they print now."""
    written = []
    names: dict[str, object] = {}
    for part in doctest.DocTestParser().parse(block):
        if isinstance(part, str):
            written.append(part)
            continue
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.chdir(ROOT):
            exec(compile(part.source, "README.md", "single"), names)
        lines = part.source.splitlines()
        written += [f">>> {lines[0]}\n", *(f"... {line}\n" for line in lines[1:]), printed.getvalue()]
    return "".join(written)


def current(text: str) -> str:
    """The README with the outputs of today."""
    run = {"console": console, "pycon": pycon}
    return BLOCK.sub(lambda match: f"```{match[1]}\n{run[match[1]](match[2])}```", text)


@pytest.mark.parametrize("number", range(len(BLOCK.findall(README.read_text(encoding="utf-8")))))
def test_outputs(number):
    kind, block = BLOCK.findall(README.read_text(encoding="utf-8"))[number]
    assert {"console": console, "pycon": pycon}[kind](block) == block


def test_the_two_commands():
    text = README.read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (python3 -m venv .*)$", text, re.MULTILINE)
    assert [command.rsplit("&& .venv/bin/python ", 1)[1] for command in commands] == [
        "evaluate.py solution_sample.csv sample_submission.csv",
        "-m pytest",
    ]
    assert re.search(r"-m pytest\n(.*\n)*\d+ passed", text)


def test_files_that_it_names_exist():
    text = README.read_text(encoding="utf-8")
    names = set(re.findall(r"`((?:\w+/)*\w+\.(?:py|md|csv|ipynb|txt|json|png))`", text))
    assert len(names) > 5
    produced = {"solution.csv", "submission.csv"}
    assert [name for name in sorted(names - produced) if not (ROOT / name).exists()] == []


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        README.write_text(current(README.read_text(encoding="utf-8")), encoding="utf-8")
