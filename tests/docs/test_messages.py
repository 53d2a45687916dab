"""The page of messages is complete: it has every message of the sources, and no other.

python -m tests.docs.test_messages     prints what is missing and what is too much
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_outputs import ROOT

PAGE = ROOT / "docs" / "reference" / "messages.md"
SOURCES = [
    ROOT / "metric.py",
    ROOT / "boost.py",
    *sorted(ROOT.glob("metrics/*/*.py")),
    *sorted(path for path in ROOT.glob("podium/**/*.py") if "new_metric" not in path.parts),
]
# The errors that end a command or that a platform shows; `error` is one of them, chosen by whose file it is.
ERRORS = {
    "ArgumentTypeError", "CompanionError", "Differences", "Disagreement", "HostError", "HostVisibleError",
    "LeaderboardError", "ParticipantVisibleError", "SubmissionRejected", "UsageError", "error", "kind",
    "missing_extra",
}  # fmt: skip
# The lists to which notices are appended before a command prints them as warnings.
NOTICES = {
    "podium/essays/corpus.py": "warnings",
    "podium/ranking/speed.py": "sentences",
    "podium/running/results.py": "said",
}
PLACEHOLDER = "…"
LEAST_LETTERS = 8  # a text that is nothing but placeholders says nothing


def text_of(node: ast.expr) -> str | None:
    """Turn a literal text into a template, with a placeholder for each value in it; None if it is not a
    literal.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (text_of(part) if isinstance(part, ast.Constant) else PLACEHOLDER for part in node.values)
        return "".join(part or "" for part in parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left), text_of(node.right)
        return None if left is None and right is None else (left or PLACEHOLDER) + (right or PLACEHOLDER)
    if isinstance(node, ast.IfExp):
        return PLACEHOLDER
    return None


def one_line(text: str) -> str:
    """A template on one line, in which neighboring placeholders are one."""
    text = " ".join(text.split())
    return re.sub(rf"{PLACEHOLDER}+", PLACEHOLDER, text)


def messages_of(source: Path) -> Iterator[str]:
    """List the messages that a source file raises, as templates."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        function = node.exc.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name not in ERRORS or not node.exc.args:
            continue
        arguments = node.exc.args[:1] if name != "missing_extra" else []
        for argument in arguments:
            text = text_of(argument)
            if text is not None and sum(map(str.isalpha, text)) >= LEAST_LETTERS:
                yield one_line(text)


def warnings_of(source: Path) -> Iterator[str]:
    """List the warnings and notices of a source file, as templates."""
    notices = NOTICES.get(source.relative_to(ROOT).as_posix() if source.is_relative_to(ROOT) else "", "notices")
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        is_notice = name == "append" and ast.unparse(function) == f"{notices}.append"
        if name not in ("warn", "_warn") and not is_notice:
            continue
        argument = node.args[0]
        for text in map(text_of, argument.elts if isinstance(argument, ast.List) else [argument]):
            if text is not None and sum(map(str.isalpha, text)) >= LEAST_LETTERS:
                yield one_line(text)


@functools.cache
def said() -> dict[str, list[str]]:
    """The source files of each message and of each warning."""
    sources: dict[str, list[str]] = {}
    for source in SOURCES:
        for message in (*messages_of(source), *warnings_of(source)):
            sources.setdefault(message, []).append(source.relative_to(ROOT).as_posix())
    return sources


def explained() -> set[str]:
    """The messages on the page: its headings that are code."""
    headings = re.findall(r"^### (`+)(.*?)\1$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {one_line(message) for _, message in headings}


def entries() -> list[tuple[str, str]]:
    """Each heading of a message with the text below it."""
    text = re.sub(r"^## .*$", "### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections = (section.partition("\n") for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:])
    return [(heading, " ".join(body.split())) for heading, _, body in sections if heading]


def test_every_message_is_explained() -> None:
    assert sorted(set(said()) - explained()) == []


def test_every_message_on_the_page_is_said() -> None:
    assert sorted(explained() - set(said())) == []


def test_every_entry_says_what_the_message_means_and_what_to_do() -> None:
    assert len(entries()) == len(explained())
    form = re.compile(r"\S.*\. \*\*What to do:\*\* .*\.")
    assert [heading for heading, body in entries() if not form.fullmatch(body)] == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise UsageError('there is no such file')", "there is no such file"),
        ("raise HostError(f'{name}: expected {a}, ' f'found {b}')", "…: expected …, found …"),
        ("raise error(f'{path} is ' + why)", "… is …"),
        ("raise errors.SubmissionRejected(f'''the\n  submission: {x}{y}''')", "the submission: …"),
    ],
)
def test_templates(tmp_path: Path, source: str, message: str) -> None:
    (tmp_path / "a.py").write_text(source)
    messages = list(messages_of(tmp_path / "a.py"))
    assert messages == ([message] if sum(map(str.isalpha, message)) >= LEAST_LETTERS else [])


@pytest.mark.parametrize(
    ("source", "warnings"),
    [
        ("warnings.warn(f'the file {x} is empty', stacklevel=2)", ["the file … is empty"]),
        ("console.warn([f'{n} teams', 'without a score'])", ["without a score"]),
        ("notices.append(f'ignored {n} essays: ' + names)", ["ignored … essays: …"]),
        ("others.append('no notice at all')", []),
    ],
)
def test_templates_of_warnings(tmp_path: Path, source: str, warnings: list[str]) -> None:
    (tmp_path / "a.py").write_text(source)
    assert list(warnings_of(tmp_path / "a.py")) == warnings


if __name__ == "__main__":
    known = explained() if PAGE.exists() else set()
    for new, sources in said().items():
        if new not in known:
            print(f"missing ({', '.join(sorted(set(sources)))}): {new}")
    for old in sorted(known - set(said())):
        print(f"too much: {old}")
