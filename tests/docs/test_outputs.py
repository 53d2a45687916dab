"""The outputs on the project's pages are what its programs print.

python -m tests.docs.test_outputs     writes the outputs on all pages anew, if all packages are there
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
import warnings
from importlib import metadata
from pathlib import Path
from unittest import mock

import pytest

from podium import cli
from podium.metric import built_in

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("metrics/*/README.md")),
]
WIDTH = {"COLUMNS": "100"}
# Lines of progress, which a busy machine prints now and then.
WORKING = re.compile(r"^.*: [\d,]+ of [\d,]+, about [\d,]+ s left\n", re.MULTILINE)
BLOCK = re.compile(r"```(console|pycon)\n(.*?)```", re.DOTALL)


def console(block: str) -> str:
    """Run the command of a block, "$ …", and put what it prints now below it, in the order in which it
    prints.
    """
    command = block.splitlines()[0]
    if command.endswith("pytest"):
        return block  # these tests themselves
    # The samples need no set-up here, so only the last part of "… && .venv/bin/podium …" counts.
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


def printed_here(arguments: list[str], folder: Path = ROOT) -> str:
    """Run a `podium` command in this process, and return what it prints."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        contextlib.redirect_stderr(printed),
        contextlib.chdir(folder),
        contextlib.suppress(SystemExit),  # --help ends like this
        mock.patch.dict(os.environ, WIDTH),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always", UserWarning)  # what podium warns of is printed, too
        cli.main(arguments)
    return WORKING.sub("", printed.getvalue())


def pycon(block: str) -> str:
    """Run the examples of a block, and put what they print now below them."""
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


def beginning(block: str) -> str:
    """Run the command of a block; of what it prints, as many lines stay as the block has above its "…"."""
    now, is_cut = console(block), block.endswith("\n…\n")
    return "".join(now.splitlines(keepends=True)[: block.count("\n") - 1]) + "…\n" if is_cut else now


RUN = {"console": beginning, "pycon": pycon}

# A page whose blocks are tried one after the other in a new folder: files by their titles, then commands.
IN_A_NEW_FOLDER = "<!-- The blocks of this page are tried in a new folder. -->"
STEP = re.compile(r"```(?:(\w+) title=\"([^\"]+)\"|console|(pycon))\n(.*?)```", re.DOTALL)


def tried_in(folder: Path, text: str) -> str:
    """Run a page's commands in a folder after writing the page's files there, and return the page with what
    they print.
    """

    def step(match: re.Match[str]) -> str:
        language, name, examples, block = match.groups()
        if name is not None:
            (folder / name).write_text(block, encoding="utf-8")
            if language == "python" and name.startswith("make_"):
                exec(compile(block, name, "exec"), {})
            return match[0]
        if examples:
            return f"```pycon\n{pycon(block)}```"
        command, _, _ = block.partition("\n")
        _, program, *words = shlex.split(command)
        if program == "python":  # one of the repository's scripts
            done = subprocess.run([sys.executable, ROOT / words[0], *words[1:]], capture_output=True, text=True)
            return f"```console\n{command}\n{done.stdout}{done.stderr}```"
        return f"```console\n{command}\n{printed_here(words, folder)}```"

    with contextlib.chdir(folder):
        return STEP.sub(step, text)


def blocks() -> list[object]:
    """List every block of every page; blocks that a shell has to run, or that search thresholds, are slow."""
    return [
        pytest.param(
            kind,
            block,
            id=f"{page.relative_to(ROOT).with_suffix('')}-{number}",
            marks=[pytest.mark.slow] if re.match(r".* \| ", block) or "tuning.tune(" in block else [],
        )
        for page in PAGES
        if IN_A_NEW_FOLDER not in page.read_text(encoding="utf-8")
        for number, (kind, block) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize(("kind", "block"), blocks())
def test_outputs(kind: str, block: str) -> None:
    assert RUN[kind](block) == block


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if IN_A_NEW_FOLDER in page.read_text(encoding="utf-8")],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_what_is_tried_in_a_new_folder(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert tried_in(tmp_path, text) == text


def anchors(page: Path) -> set[str]:
    """The anchors that code hosts make of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_it_names_and_links_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text)
    folders = "docs|tests|podium|metrics|examples|notebooks|benchmarks"
    names = {name for name, _ in links if name} | set(re.findall(rf"`((?:{folders})/[\w/.]*\w)`", text))
    names = {name for name in names if "NAME" not in name}  # this name stands for any metric
    assert [name for name in names if not (ROOT / name).exists() and not (page.parent / name).exists()] == []
    # MkDocs makes the anchors of functions.
    anchored = [(name, anchor) for name, anchor in links if anchor and not anchor.startswith("podium.")]
    assert [
        f"{name}#{anchor}"
        for name, anchor in anchored
        if anchor not in anchors(page.parent / name if name else page)
    ] == []


@pytest.mark.parametrize("name", built_in.names())
def test_the_page_of_each_metric_is_linked(name):
    """A new metric without links would be found by nobody."""
    links = {"README.md": f"metrics/{name}/README.md", "docs/index.md": f"../metrics/{name}/README.md"}
    for file, link in (links | {"mkdocs.yml": f"metrics/{name}.md"}).items():
        assert link in (ROOT / file).read_text(encoding="utf-8"), f"{file} lacks the link {link}"


def missing() -> list[str]:
    """Name what blocks need and is not installed: without it, an error would take the place of an output."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["test"], *extras["host"], *extras["lemmas"]]
    installed = {each.name.lower().replace("_", "-") for each in metadata.distributions()}
    return sorted({re.match(r"[\w.-]+", each)[0] for each in needed} - installed)


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [each for each in metadata.distributions() if each.name.lower() != "pandas"]
    monkeypatch.setattr(metadata, "distributions", lambda: others)
    assert "pandas" in missing()


def written_anew(text: str) -> str:
    """A page with what its blocks print now."""
    if IN_A_NEW_FOLDER in text:
        with tempfile.TemporaryDirectory() as new:
            return tried_in(Path(new), text)
    return BLOCK.sub(lambda match: f"```{match[1]}\n{RUN[match[1]](match[2])}```", text)


if __name__ == "__main__":
    if lacking := missing():
        sys.exit(f"nothing is written, because these packages are not installed: {', '.join(lacking)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pages = {page: written_anew(page.read_text(encoding="utf-8")) for page in PAGES}
    for page, text in pages.items():  # all of them or, if a block raises an error, none
        page.write_text(text, encoding="utf-8")
