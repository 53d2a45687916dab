"""Pages are easy to follow: no sentence is too long, and spelling and terms are the same everywhere."""

import re
from pathlib import Path

import pytest

from tests.docs.test_outputs import PAGES, ROOT

MOST_WORDS = 30
# What is no sentence: blocks of code, tables, headings, pictures, indented commands, comments, directives.
NO_PROSE = re.compile(r"^(\||#|<|!\[|    |:::|\s*$)")
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z“*\[(]|code\b|podium\b|docker\b)")
# American spelling, as the memo's; and words that this project says in another way everywhere.
BRITISH = re.compile(
    r"\b(organis|normalis|penalis|recognis|maximis|minimis|summaris|colour|behaviour|licence|judgement|neighbour"
    r"|labell|modell|centre|favour|analys(e|ed|es)\b|catalogue|grey\b)\w*",
    re.IGNORECASE,
)
OTHER_TERMS = {
    "the competition's host file": "the metric file",
    "leader board": "leaderboard or board",
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
    return [each for paragraph in paragraphs(page) for each in SENTENCE_END.split(paragraph)]


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
        + "word " * 31
        + "end.\n\n    organise --this\n\nThe `colour` of it. Grey.\n",
        encoding="utf-8",
    )
    assert [len(each.split()) for each in sentences(page)] == [33, 4, 1]
    assert [match[0] for match in BRITISH.finditer("\n".join(paragraphs(page)))] == ["Grey"]
