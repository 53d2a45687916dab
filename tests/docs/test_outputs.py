"""What the project's pages print is what its programs print.

python -m tests.docs.test_outputs     writes the outputs in README.md and docs/*.md anew
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

import pytest

from podium import cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("metrics/*/README.md"))]
WIDTH = {"COLUMNS": "100"}
BLOCK = re.compile(r"```(console|pycon)\n(.*?)```", re.DOTALL)


def console(block: str) -> str:
    """A block of one command, "$ …", with what the command prints now, in the order in which it prints it."""
    command = block.splitlines()[0]
    if command.endswith("pytest"):
        return block  # these tests themselves
    # The samples need no set-up here: of "… && .venv/bin/podium …" the last part counts.
    program = command.removeprefix("$ ").rsplit("&& .venv/bin/", 1)[-1]
    words = shlex.split(program)
    if words[0] == "podium" and not {"|", "&&", ";"} & set(words):
        return f"{command}\n{printed_here(words[1:])}"
    program = re.sub(r"(^|; |&& )podium ", rf'\1"{sys.executable}" -m podium ', program)
    program = re.sub(r"(^|; |&& )python ", rf'\1"{sys.executable}" ', program)
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    environment = os.environ | WIDTH | {"PYTHONUNBUFFERED": "1"}
    done = subprocess.run(program, shell=True, cwd=ROOT, env=environment, **both)
    return f"{command}\n{done.stdout}"


def printed_here(arguments: list[str]) -> str:
    """What `podium` prints, without a process of its own."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        contextlib.redirect_stderr(printed),
        contextlib.chdir(ROOT),
        contextlib.suppress(SystemExit),  # as --help ends
        mock.patch.dict(os.environ, WIDTH),
    ):
        cli.main(arguments)
    return printed.getvalue()


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


RUN = {"console": console, "pycon": pycon}


def blocks() -> list[object]:
    """Every block of every page; what a shell has to run is slow."""
    return [
        pytest.param(
            kind,
            block,
            id=f"{page.relative_to(ROOT).with_suffix('')}-{number}",
            marks=[pytest.mark.slow] if " | " in block.splitlines()[0] else [],
        )
        for page in PAGES
        for number, (kind, block) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize(("kind", "block"), blocks())
def test_outputs(kind: str, block: str) -> None:
    assert RUN[kind](block) == block


def test_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\$ python3 -m venv .venv && (.*)$", text, re.MULTILINE) == [
        ".venv/bin/pip install -q . && .venv/bin/podium score solution_sample.csv sample_submission.csv",
        ".venv/bin/pip install -q -e '.[dev]' && .venv/bin/python -m pytest",
    ]
    assert len(text.splitlines()) <= 300


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_it_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = set(re.findall(r"`((?:docs|tests|podium|metrics|examples|notebooks|benchmarks)/[\w/.]*\w)`", text))
    names |= set(re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text))
    assert [
        name for name in sorted(names) if not (ROOT / name).exists() and not (page.parent / name).exists()
    ] == []


if __name__ == "__main__":
    for written in PAGES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            now = BLOCK.sub(
                lambda match: f"```{match[1]}\n{RUN[match[1]](match[2])}```",
                written.read_text(encoding="utf-8"),
            )
        written.write_text(now, encoding="utf-8")
