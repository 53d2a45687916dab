"""No regular expression takes time that grows faster than the text, whatever the text is.

A stranger chooses the texts. Every pattern in the sources is tried on long repetitions of what it looks for.
"""

import ast
import functools
import importlib
import itertools
import re
import time
from collections.abc import Iterator
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import pytest

from tests.support import sources

ROOT = Path(__file__).parents[1]
SOURCES = [
    *(path for path in sorted(ROOT.glob("podium/**/*.py")) if "new_metric" not in str(path)),
    *sorted(ROOT.glob("metrics/*/*.py")),
    *(ROOT / name for name in ("metric.py", "boost.py")),
]
NOT_IMPORTED = {"templates", "__main__.py"}  # programs, which are executed elsewhere

SCANNING = {"search", "findall", "finditer", "sub", "subn", "split"}  # these try every place of a text
ANCHORED = {"match", "fullmatch"}

SHORT, LONG = 500, 4_000  # characters
TRIED = 5  # times, of which the fastest counts, because other programs slow some of them down
HOPELESS = 0.3  # seconds for 500 characters
MOST = 20.0  # times the seconds for a text eight times as long: 8 if linear, 64 if quadratic

OF_CATEGORY = {"DIGIT": "0", "SPACE": " ", "WORD": "a", "NOT_DIGIT": "a", "NOT_SPACE": "a", "NOT_WORD": "!"}


class Used(NamedTuple):
    """A pattern and how it is used."""

    place: str  # the file and the line
    pattern: re.Pattern[Any]
    scans: bool  # whether it is looked for at every place of a text


def patterns() -> Iterator[Used]:
    """Find all patterns of the sources; one that is made of variables is made of other ones."""
    uses = _uses()
    for path in SOURCES:
        if NOT_IMPORTED & {*path.parts}:
            continue
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        known = _imported(name) if "re." in path.read_text(encoding="utf-8") else {}
        names = _names_of_constants(sources.tree_of(path))
        for call in sources.nodes_of(path):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            if getattr(call.func.value, "id", "") == "re":
                function = call.func.attr
                if (found := _pattern(call, function, known)) is not None:
                    of_name = uses.get((path.stem, names.get(call, "")), set())
                    functions = of_name or {function}
                    place = f"{path.relative_to(ROOT)}:{call.lineno}"
                    yield Used(place, found, not functions <= ANCHORED)


def _imported(name: str) -> dict[str, Any]:
    """The names of a module; none if it needs a package of an optional part, which is not installed."""
    try:
        return vars(importlib.import_module(name))
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] in ("podium", "metrics"):
            raise
        return {}


def _names_of_constants(tree: ast.Module) -> dict[ast.AST, str]:
    """The name of the constant to which each call at the top of a module is assigned."""
    return {
        value: target.id
        for line in tree.body
        if isinstance(line, ast.Assign)
        for target, value in _assignments(line)
        if isinstance(target, ast.Name)
    }


def _assignments(line: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    [target] = line.targets
    if isinstance(target, ast.Tuple) and isinstance(line.value, ast.Tuple):
        return list(zip(target.elts, line.value.elts))
    return [(target, line.value)]


def _uses() -> dict[tuple[str, str], set[str]]:
    """The functions by which each constant is used, by the name of its module and its own."""
    uses: dict[tuple[str, str], set[str]] = {}
    for path in SOURCES:
        origin = {
            alias.asname or alias.name: (str(line.module).rpartition(".")[2], alias.name)
            for line in sources.nodes_of(path)
            if isinstance(line, ast.ImportFrom)
            for alias in line.names
        }
        for node in sources.nodes_of(path):
            if isinstance(node, ast.Attribute) and node.attr in SCANNING | ANCHORED | {"pattern"}:
                of = node.value
                if isinstance(of, ast.Name):
                    uses.setdefault(origin.get(of.id, (path.stem, of.id)), set()).add(node.attr)
                elif isinstance(of, ast.Attribute) and isinstance(of.value, ast.Name):
                    uses.setdefault((of.value.id, of.attr), set()).add(node.attr)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                given, function = node.args[0], node.func.attr  # such as texts.str.fullmatch(PATTERN)
                if isinstance(given, ast.Name) and function in SCANNING | ANCHORED:
                    uses.setdefault(origin.get(given.id, (path.stem, given.id)), set()).add(function)
    return uses


def _pattern(call: ast.Call, function: str, known: dict[str, Any]) -> re.Pattern[Any] | None:
    """The pattern of a call of the module re."""
    if function not in SCANNING | ANCHORED | {"compile"}:
        return None
    flags = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    place = {"sub": 4, "subn": 4, "split": 3}.get(function, 2) if function != "compile" else 1
    flags += call.args[place : place + 1]
    try:
        text, *options = (
            eval(compile(ast.Expression(each), "", "eval"), dict(known)) for each in (call.args[0], *flags)
        )
    except NameError:
        return None
    return re.compile(text, *options)


def characters(pattern: re.Pattern[Any]) -> list[str]:
    """The characters of which a pattern speaks, and some of which it does not."""
    found = {"!", " "}

    def collect(part: Any) -> None:
        if isinstance(part, tuple) and len(part) == 2 and str(part[0]) in ("LITERAL", "NOT_LITERAL"):
            found.add(chr(part[1]))
        elif isinstance(part, tuple) and len(part) == 2 and str(part[0]) == "RANGE":
            found.add(chr(part[1][0]))
        elif isinstance(part, tuple) and len(part) == 2 and str(part[0]) == "CATEGORY":
            found.add(OF_CATEGORY[str(part[1]).removeprefix("CATEGORY_")])
        elif isinstance(part, list | tuple | _parser.SubPattern):
            for each in part:
                collect(each)

    collect(_parser.parse(pattern.pattern, pattern.flags))
    return sorted(each for each in found if each.isprintable() or each == "\n")[:9]


def texts(letters: list[str]) -> Iterator[tuple[str, str, str]]:
    """What stands before the repetition, what is repeated, and what stands behind it."""
    for one, other in itertools.product(letters, repeat=2):
        yield "", one + other, "\0"
        yield "", one, other
        yield one, other, "\0"


def seconds(used: Used, parts: tuple[str, str, str], length: int, enough: float = 0.0) -> float:
    """The least processor time that the pattern takes for a text of a length, or the first that is enough."""
    before, repeated, behind = parts
    text: Any = before + repeated * (length // len(repeated)) + behind
    if isinstance(used.pattern.pattern, bytes):
        text = text.encode()
    functions = [used.pattern.match, used.pattern.fullmatch]
    if used.scans:
        functions = [lambda text: sum(1 for _ in used.pattern.finditer(text))]
    least = float("inf")
    for _ in range(TRIED):
        start = time.process_time()
        for function in functions:
            function(text)
        least = min(least, time.process_time() - start)
        if least < enough:
            break
    return least


@functools.cache
def suspicious() -> float:
    """A quarter of the seconds that this machine needs for the least of what is quadratic, on a short text.

    What is linear takes a tenth of them.
    """
    return seconds(Used("here", re.compile(r"\s*\("), True), ("", " ", "\0"), SHORT) / 4


def slow_text(used: Used) -> str:
    """A text on which a pattern takes more than linear time, or nothing."""
    for parts in texts(characters(used.pattern)):
        if seconds(used, parts, SHORT, suspicious()) >= suspicious():
            short = seconds(used, parts, SHORT)
            if short > HOPELESS:
                return f"{used.place}: {used.pattern.pattern!r}: {short:.1f} s for {parts}"
            long = seconds(used, parts, LONG)
            if long > MOST * short:
                return f"{used.place}: {used.pattern.pattern!r}: {long / short:.1f} times for {parts}"
    return ""


def test_every_pattern_takes_linear_time() -> None:
    found = list(patterns())
    assert len(found) > 60
    assert [slow for used in found if (slow := slow_text(used))] == []


@pytest.mark.parametrize("pattern", [r"[\s_-]+\d", r"[^\w\s][\W_]*\w\S*", r"\.\d*[1-9]\d*x"])
def test_quadratic_patterns_are_found(pattern: str) -> None:
    assert slow_text(Used("here", re.compile(pattern), True))
