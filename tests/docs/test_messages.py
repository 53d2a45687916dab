"""The page of messages is complete: it has every message of the sources, and no other.

python -m tests.docs.test_messages     prints what is missing and what is too much
"""

import ast
import functools
import itertools
import re
from collections.abc import Iterable, Iterator
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
}  # fmt: skip
# The lists to which notices are appended before a command prints them as warnings.
NOTICES = {
    "podium/essays/corpus.py": "warnings",
    "podium/ranking/speed.py": "sentences",
    "podium/running/results.py": "said",
}
# The functions that make lists of warnings, which their callers print.
WARNING = {
    "check_alone", "notices", "notices_on_selection", "recognize", "_notices", "_warnings",
}  # fmt: skip
PARTS_OF_WARNINGS = {"of line …", "… in round …"}  # texts in these functions that are no warnings
PLACEHOLDER = "…"
LEAST_LETTERS = 6  # a text that is nothing but placeholders says nothing


def text_of(node: ast.expr, named: dict[str, ast.expr] | None = None) -> str | None:
    """Turn a text into a template, with a placeholder for each value in it; None if nothing in it is literal.

    A name stands for the text that the function assigned to it, and ``"\\n".join([…])`` for all of its lines.
    """
    named = named or {}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (text_of(part) if isinstance(part, ast.Constant) else PLACEHOLDER for part in node.values)
        return "".join(part or "" for part in parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left, named), text_of(node.right, named)
        return None if left is None and right is None else (left or PLACEHOLDER) + (right or PLACEHOLDER)
    if isinstance(node, ast.IfExp):
        return PLACEHOLDER
    if isinstance(node, ast.Name) and node.id in named:
        return text_of(named[node.id])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "strip":
            return text_of(node.func.value, named)
        if node.func.attr == "join" and isinstance(node.args[0], ast.List):
            return " ".join(text_of(line, named) or PLACEHOLDER for line in node.args[0].elts)
    return None


def assigned(tree: ast.Module) -> Iterator[tuple[ast.AST, dict[str, ast.expr]]]:
    """List every node of a file, with the values of the names that its function and the module assign."""
    named: dict[ast.AST, dict[str, ast.expr]] = {tree: {}}
    for node in ast.walk(tree):  # from the outside to the inside
        if isinstance(node, ast.FunctionDef | ast.Module):
            named[node] = dict(named[node])
            for inner in ast.walk(node) if isinstance(node, ast.FunctionDef) else node.body:
                if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Name):
                    named[node][inner.targets[0].id] = inner.value
        for child in ast.iter_child_nodes(node):
            named[child] = named[node]
        yield node, named[node]


def one_line(text: str) -> str:
    """A template on one line, in which neighboring placeholders are one."""
    text = " ".join(text.split())
    return re.sub(rf"{PLACEHOLDER}+", PLACEHOLDER, text)


def name_of(function: ast.expr) -> str:
    """The last name of a called function: ``error`` of ``self.error``."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def worth_telling(texts: Iterable[str | None]) -> Iterator[str]:
    """The templates, on one line each, that are more than placeholders."""
    return (
        one_line(text) for text in texts if text is not None and sum(map(str.isalpha, text)) >= LEAST_LETTERS
    )


def functions_of(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The functions and methods of a file by their names."""
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def texts_of(
    node: ast.expr, named: dict[str, ast.expr], functions: dict[str, ast.FunctionDef]
) -> Iterator[str | None]:
    """The template of a text; if a function of the file writes the text, one for each of its returns."""
    yield text_of(node, named)
    if isinstance(node, ast.Call) and name_of(node.func) in functions:
        inside = ast.walk(functions[name_of(node.func)])
        yield from (text_of(each.value) for each in inside if isinstance(each, ast.Return) and each.value)


def messages_of(source: Path) -> Iterator[str]:
    """List the messages that a source file raises, as templates.

    A message may be written by a function of the same file. An error may be returned, to be raised elsewhere.
    """
    tree = ast.parse(source.read_text(encoding="utf-8"))
    functions = functions_of(tree)
    for node, named in assigned(tree):
        made = node.exc if isinstance(node, ast.Raise) else node.value if isinstance(node, ast.Return) else None
        if isinstance(node, ast.Call) and name_of(node.func) == "_say":
            text = text_of(node.args[0]) or ""
            yield from worth_telling([text.removeprefix("error: ").removeprefix("warning: ")])
        if not isinstance(made, ast.Call) or not made.args or name_of(made.func) not in ERRORS:
            continue
        yield from worth_telling(texts_of(made.args[0], named, functions))


def warnings_of(source: Path) -> Iterator[str]:
    """List the warnings and notices of a source file, as templates."""
    notices = NOTICES.get(source.relative_to(ROOT).as_posix() if source.is_relative_to(ROOT) else "", "notices")
    tree = ast.parse(source.read_text(encoding="utf-8"))
    functions = functions_of(tree)
    for node, named in assigned(tree):
        if isinstance(node, ast.FunctionDef) and node.name in WARNING:
            texts = (text_of(each, named) for each in itertools.chain(*map(elements, ast.walk(node))))
            sentences = worth_telling(text for text in texts if " " in (text or "").strip())
            yield from (sentence for sentence in sentences if sentence not in PARTS_OF_WARNINGS)
        if not isinstance(node, ast.Call) or not node.args:
            continue
        is_notice = ast.unparse(node.func) == f"{notices}.append"
        if name_of(node.func) not in ("warn", "_warn") and not is_notice:
            continue
        argument = node.args[0]
        each = argument.elts if isinstance(argument, ast.List) else [argument]
        yield from worth_telling(itertools.chain(*(texts_of(text, named, functions) for text in each)))


def elements(node: ast.AST) -> list[ast.expr]:
    """The elements of a list, a tuple or the keys of a dict."""
    match node:
        case ast.List(elts) | ast.Tuple(elts):
            return elts
        case ast.ListComp(elt):
            return [elt]
        case ast.Dict(keys):
            return [key for key in keys if key is not None]
    return []


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
        ("def f():\n head = f'{a}: expected '\n raise error(head + b)", "…: expected …"),
        ("raise Differences('\\n'.join([f'{a} differs:', *lines]))", "… differs: …"),
        ("def why(x):\n return f'no sandbox: {x}'\nraise UsageError(why(1))", "no sandbox: …"),
        ("def missing(x):\n return UsageError(f'{x} is missing')", "… is missing"),
        ("_say('error: there is no memory')", "there is no memory"),
        ("raise UsageError(f'{a}: {b}')", ""),
        ("raise HostError(f'{name}: expected {a}, ' f'found {b}')", "…: expected …, found …"),
        ("raise error(f'{path} is no file: ' + why)", "… is no file: …"),
        ("raise errors.SubmissionRejected(f'''the\n  submission: {x}{y}''')", "the submission: …"),
    ],
)
def test_templates(tmp_path: Path, source: str, message: str) -> None:
    (tmp_path / "a.py").write_text(source)
    assert list(messages_of(tmp_path / "a.py")) == ([message] if message else [])


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
