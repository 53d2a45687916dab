"""Docstrings in numpy style say what every parameter, attribute and result is: its type, and a sentence."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("podium/ranking", "podium/statistics", "podium/report", "benchmarks")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.py"))
LISTS = ("Parameters", "Attributes", "Returns", "Yields", "Raises")


def sections(docstring: str) -> dict[str, list[str]]:
    """The lines of each section, by its title; the lines before the first title are left out."""
    lines, title, parts = docstring.splitlines(), "", {"": [""]}
    for line, following in zip(lines, [*lines[1:], ""]):
        if re.fullmatch(r"-{3,}", following):
            title = line
            parts[title] = []
        elif not re.fullmatch(r"-{3,}", line):
            parts[title].append(line)
    return parts


def entries(lines: list[str]) -> list[tuple[str, str]]:
    """The entries of a list, each with the line that follows it."""
    pairs = zip(lines, [*lines[1:], ""])
    return [(line, following) for line, following in pairs if line and not line.startswith(" ")]


def faults_of(docstring: str, expected: set[str], names_in: str, returns: bool) -> Iterator[str]:
    """What a docstring lacks.

    Parameters
    ----------
    docstring : str
        A docstring in numpy style.
    expected : set of str
        The names of the parameters or attributes.
    names_in : str
        The section that lists them.
    returns : bool
        Whether there is a result.

    Yields
    ------
    str
        One fault.
    """
    parts = sections(docstring)
    listed = [name for line, _ in entries(parts.get(names_in, [])) for name in line.split(" : ")[0].split(", ")]
    listed = [name.strip("*") for name in listed]
    if expected and set(listed) != expected:
        yield f"{names_in} has {sorted(listed)}, expected {sorted(expected)}"
    if returns and not {"Returns", "Yields"} & set(parts):
        yield "no section Returns or Yields"
    for title in [each for each in LISTS if each in parts]:
        for line, following in entries(parts[title]):
            if not following.startswith("    "):
                yield f"{title}: no sentence for {line!r}"
            if title in ("Parameters", "Attributes") and not re.search(r" : [a-zA-Z]", line):
                yield f"{title}: no type in {line!r}"


def faults_in(source: str) -> list[str]:
    """What the public functions and classes of a module lack, in the order of the source."""
    faults = []
    module = ast.parse(source)
    methods = [part for node in module.body if isinstance(node, ast.ClassDef) for part in node.body]
    for node in [*module.body, *methods]:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        expected, names_in, returns = set(), "Attributes", False
        if isinstance(node, ast.FunctionDef):
            taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            taken += [each for each in (node.args.vararg, node.args.kwarg) if each is not None]
            expected, names_in = {each.arg for each in taken} - {"self", "cls"}, "Parameters"
            returns = node.returns is not None and ast.unparse(node.returns) != "None"
        elif any("NamedTuple" in ast.unparse(base) for base in node.bases) or node.decorator_list:
            expected = {ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign)}
        docstring = ast.get_docstring(node)
        of_node = ["no docstring"] if docstring is None else faults_of(docstring, expected, names_in, returns)
        faults += [f"{node.name}: {fault}" for fault in of_node]
    return faults


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_public_name_is_described(path: Path) -> None:
    assert faults_in(path.read_text(encoding="utf-8")) == []


def test_the_check_sees_what_is_missing() -> None:
    source = '''
def bare(): pass

def score(solution, weights) -> float:
    """Score.

    Parameters
    ----------
    solution : (n, k) floats
    """

class Table(NamedTuple):
    """A table.

    Attributes
    ----------
    rows : int
        Its rows.
    """

    rows: int
    columns: int

def _private(): pass
'''
    assert faults_in(source) == [
        "bare: no docstring",
        "score: Parameters has ['solution'], expected ['solution', 'weights']",
        "score: no section Returns or Yields",
        "score: Parameters: no sentence for 'solution : (n, k) floats'",
        "score: Parameters: no type in 'solution : (n, k) floats'",
        "Table: Attributes has ['rows'], expected ['columns', 'rows']",
    ]
