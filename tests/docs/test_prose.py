"""Pages, docstrings and comments are easy to follow: no sentence is too long, and all spelling is American.

On pages, terms are the same everywhere, too.
"""

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs.test_outputs import PAGES, ROOT

MOST_WORDS = 25
# These lines are not sentences: code, tables, headings, pictures, indented commands, comments, directives.
NO_PROSE = re.compile(r"^(\||#|<|!\[|    |:::|\s*$)")
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z“*\[(]|code\b|podium\b|docker\b)")
# British spellings; the project has American spelling, as the memo does.
BRITISH = re.compile(
    r"\b(organis|normalis|penalis|recognis|maximis|minimis|summaris|colour|behaviour|licence|judgement|neighbour"
    r"|labell|modell|centre|favour|analys(e|ed|es)\b|catalogue|grey\b|lemmatis)\w*",
    re.IGNORECASE,
)
SOURCES = [
    ROOT / "metric.py",
    ROOT / "boost.py",
    *sorted(ROOT.glob("metrics/**/*.py")),
    *sorted(ROOT.glob("podium/**/*.py")),
]
# These lines of a docstring are not sentences: tables (also those aligned by blanks), underlines and doctests.
NO_PROSE_IN_DOCSTRING = re.compile(r"\s*(\||-{3,}\s*$|>>>|\.\.\.( |$)|\S.* {3,}\S)")
NAME_AND_TYPE = re.compile(r"\s*[\w*][\w*, .]* : ")  # the line that introduces a parameter
LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.) ")
DIRECTIVE = re.compile(r"# ?(----|fmt:|noqa|type:|ruff:|mypy:|!)")
OTHER_TERMS = {
    "the competition's host file": "the metric file",
    "hosted files?": "metric file",
    "leader board": "leaderboard or board",
    "sets? of ranks": "rank set",
    "ranges? of ranks": "rank set",
    "ground truth": "solution, or true segments",
    "cpu time": "processor time",
    "director(y|ies) (of|with)": "folder",
    "answer key": "solution",
    "subpopulation": "sub-population (subpopulation only in names of columns)",
    "out of the box": "say what it does",
    "simply": "leave it out",
    "obviously": "leave it out",
}


def paragraphs(page: Path) -> list[str]:
    """The prose of a page without code: each paragraph and each item of a list."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        if NO_PROSE.match(line):
            blocks.append([])
            continue
        if re.match(r"\s*(?:[-*+]|\d+\.) ", line):
            blocks.append([])
        blocks[-1].append(line.strip())
    joined = [" ".join(block) for block in blocks if block]
    return [re.sub(r"`[^`]*`", "code", re.sub(r"\]\([^)]*\)", "]", text)) for text in joined]


def sentences(page: Path) -> list[str]:
    """The sentences of a page."""
    return [each for paragraph in paragraphs(page) for each in SENTENCE_END.split(paragraph)]


def without_code(text: str) -> str:
    """The text with each piece of code replaced by the word code."""
    return re.sub(r"``.*?``|`[^`]*`", "code", text)


def paragraphs_of_docstring(docstring: str, is_of_module: bool) -> Iterator[str]:
    """The paragraphs, descriptions and items of a docstring, without headings, code and tables."""
    blocks: list[list[str]] = [[]]
    depth = 0
    is_fenced = is_doctest = is_literal = False
    lines = [*inspect.cleandoc(docstring).splitlines(), ""]
    for line, next_line in pairwise(lines):
        is_blank, indent = not line.strip(), len(line) - len(line.lstrip())
        is_fence = line.lstrip().startswith("```")
        is_fenced ^= is_fence
        # A doctest and its output end with an empty line.
        is_doctest = not is_blank and (is_doctest or line.lstrip().startswith(">>>"))
        # In the docstring of a module, lines are examples if they are indented after an empty line.
        is_literal = is_of_module and indent > 0 and (is_literal or not blocks[-1]) and not is_blank
        is_heading = bool(re.fullmatch(r"\s*-{3,}", next_line))
        is_parameter = bool(NAME_AND_TYPE.match(line)) and len(next_line) - len(next_line.lstrip()) > indent
        is_code = is_fence or is_fenced or is_doctest or is_literal or NO_PROSE_IN_DOCSTRING.match(line)
        if is_blank or is_heading or is_parameter or is_code:
            blocks.append([])
            continue
        if LIST_ITEM.match(line) or (indent != depth and not (blocks[-1] and LIST_ITEM.match(blocks[-1][0]))):
            blocks.append([])
        depth = indent
        blocks[-1].append(line)
    return (without_code(" ".join(map(str.strip, block))) for block in blocks if block)


def paragraphs_of_comments(source: str) -> Iterator[str]:
    """The comments of a source. Comments on consecutive lines of their own are one paragraph."""
    blocks: list[list[str]] = []
    last_line, last_column = -1, -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or DIRECTIVE.match(token.string):
            continue
        line, column = token.start
        is_alone = not token.line[:column].strip()
        if not is_alone or (line, column) != (last_line + 1, last_column):
            blocks.append([])
        blocks[-1].append(token.string.lstrip("#: "))
        last_line, last_column = (line, column) if is_alone else (-1, -1)
    return (without_code(" ".join(block)) for block in blocks)


def prose_of_source(source: str) -> Iterator[str]:
    """The paragraphs in the docstrings and comments of a source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield from paragraphs_of_docstring(docstring, isinstance(node, ast.Module))
    yield from paragraphs_of_comments(source)


def faults_of_source(source: str) -> list[str]:
    """The sentences in docstrings and comments that are too long or spelled in the British way."""
    sentences = [each for paragraph in prose_of_source(source) for each in SENTENCE_END.split(paragraph)]
    return [each for each in sentences if len(each.split()) > MOST_WORDS or BRITISH.search(each)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_sentence_is_too_long(page: Path) -> None:
    assert [each for each in sentences(page) if len(each.split()) > MOST_WORDS] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_spelling_and_terms(page: Path) -> None:
    text = "\n".join(paragraphs(page))
    assert [match[0] for match in BRITISH.finditer(text)] == []
    lower = text.lower()
    assert {term: instead for term, instead in OTHER_TERMS.items() if re.search(rf"\b{term}\b", lower)} == {}


def test_the_check_sees_what_it_looks_for(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading of the organiser\n\n- "
        + "word " * 26
        + "end.\n\n    organise --this\n\nThe `colour` of it. Grey.\n",
        encoding="utf-8",
    )
    assert [len(each.split()) for each in sentences(page)] == [28, 4, 1]
    assert [match[0] for match in BRITISH.finditer("\n".join(paragraphs(page)))] == ["Grey"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: str(source.relative_to(ROOT)))
def test_docstrings_and_comments(source: Path) -> None:
    assert faults_of_source(source.read_text(encoding="utf-8")) == []


def british_names(source: str) -> list[str]:
    """The names in a source that have a British spelling in one of their words."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    names = {token.string for token in tokens if token.type == tokenize.NAME}
    return sorted(name for name in names if any(map(BRITISH.match, re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name))))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: str(source.relative_to(ROOT)))
def test_names_are_american(source: Path) -> None:
    assert british_names(str(source.relative_to(ROOT)).replace("/", " ").replace(".", " ")) == []
    assert british_names(source.read_text(encoding="utf-8")) == []


def test_the_check_of_names_sees_what_it_looks_for() -> None:
    source = "def recognise_it(colour, HostNeighbour):\n    'organise'\n    return lemmatize(_NORMALISED)\n"
    assert british_names(source) == ["HostNeighbour", "_NORMALISED", "colour", "recognise_it"]


def test_the_check_of_sources_sees_what_it_looks_for() -> None:
    long = " ".join(["word"] * 26) + "."
    source = f'''"""A module.

    podium {long}

Prose again: {long}
"""

WIDTH = 1  # {long}
HEIGHT = 2  # Short. The colour.
# A comment that goes on
# over two lines {long}
# ---- {long}


def function(colour, other):
    """Summary of `colour {long}` and ``grey``.

    Parameters
    ----------
    colour : str
        Described in {long}
    other : int
        Short.

    Returns
    -------
    int
        Short, too.

    Notes
    -----
    * An item that goes on
      over two lines {long}
    * Another one.

    | column | {long} |
    | -- | -- |
    name     {long}

    Examples
    --------
    >>> function("{long}")
    "{long}"
    """
    return "{long}"


class Thing:
    """We organise it."""
'''
    assert sorted(faults_of_source(source)) == sorted(
        [
            f"Prose again: {long}",
            long,
            "The colour.",
            f"A comment that goes on over two lines {long}",
            f"Described in {long}",
            f"* An item that goes on over two lines {long}",
            "We organise it.",
        ]
    )
