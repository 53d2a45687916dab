"""The table of words: every kind has some, with the facts that the code gives, and the page quotes them."""

import ast
import re
import string
from pathlib import Path

import pytest

from podium.common.statements import TABLE, Statement, say, words

ROOT = Path(__file__).parents[1]
SOURCES = [(file.name, file.read_text(encoding="utf-8")) for file in ROOT.glob("podium/**/*.py")]


def fields_of(text: str) -> set[str]:
    """The names of the facts in the words of a kind, also those within the format of another one."""
    parts = [(name, form or "") for _, name, form, _ in string.Formatter().parse(text) if name is not None]
    return {name for name, _ in parts}.union(*(fields_of(form) for _, form in parts))


def calls() -> list[tuple[str, str, set[str] | None]]:
    """Where the code names a kind: the place, the kind, and the facts; None if it takes them from elsewhere."""
    found = []
    for file, source in SOURCES:
        for node in ast.walk(ast.parse(source)) if re.search(r"\b(Statement|say)\(", source) else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Statement", "say"):
                if not node.args or not isinstance(node.args[0], ast.Constant):
                    continue
                given = {each.arg for each in node.keywords}
                facts = None if None in given else {name for name in given if name is not None}
                found.append((f"{file}:{node.lineno}", str(node.args[0].value), facts))
    return found


def test_every_kind_has_words_with_the_facts_that_the_code_gives():
    named = calls()
    assert len(named) > 20
    assert [(place, kind) for place, kind, _ in named if kind not in words()] == []
    assert [
        (place, fields_of(words()[kind]) ^ facts)
        for place, kind, facts in named
        if facts is not None and fields_of(words()[kind]) != facts
    ] == []


def test_all_words_are_used():
    code = "".join(source for _, source in SOURCES)
    assert [kind for kind in words() if f'"{kind}"' not in code] == []


def test_the_table_has_a_line_for_each_kind():
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    assert [line.partition(" = ")[0] for line in lines] == [*words()]


@pytest.mark.parametrize(
    ("kind", "facts", "said"),
    [
        ("same_file", {"places": [1], "teams": ["A", "B"]}, "place 1: A and B sent the same file"),
        ("same_file", {"places": [1, 2], "teams": "ABC"}, "places 1 and 2: A, B and C sent the same file"),
        ("runtimes_marked", {"marked": ["a (slow)"]}, "1 runtime marked: a (slow)"),
        ("share_of_score", {"share": 0.5, "team": "{team}"}, "50% of the score of {team}"),
    ],
)
def test_facts_fill_in_words(kind, facts, said):
    assert str(Statement(kind, **facts)) == say(kind, **facts) == said


def test_the_page_of_messages_quotes_the_words_of_the_table():
    """A quote whose longest part stands in the table is that sentence, with … for facts and for what is cut."""
    page = (ROOT / "docs" / "reference" / "messages.md").read_text(encoding="utf-8")
    said = ["…".join(before for before, *_ in string.Formatter().parse(text)) for text in words().values()]
    quoted = 0
    for quote in re.findall(r"^> `+(.*?)`+$", page, re.MULTILINE):
        parts = quote.strip("…").split("…")
        if alike := [each for each in said if max(parts, key=len) in each]:
            quoted += 1
            assert any(re.search(".*".join(map(re.escape, parts)), each) for each in alike), (quote, alike)
    assert quoted > 5
