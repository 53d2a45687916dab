"""The entries of docs/reference/messages.md quote messages that the code still has."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from podium.common import statements
from tests.support import sources

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "messages.md"


def texts(file: Path) -> Iterator[str]:
    """The texts in a file of code; between the parts of one that is filled in stands a null character."""
    for node in sources.nodes_of(file):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "\0".join(part.value if isinstance(part, ast.Constant) else "" for part in node.values)


def test_every_message_on_the_page_is_one_of_the_code() -> None:
    files = [*ROOT.glob("*.py"), *ROOT.glob("podium/**/*.py"), *ROOT.glob("metrics/**/*.py")]
    code = "\n".join([*(text for file in files for text in texts(file)), *statements.words().values()])
    quoted = re.findall(r"^> `+(.*?)`+$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(quoted) > 50
    # What differs each time is "…" on the page or a number; the longest part between two of them is looked for.
    longest = [
        max((part.strip(" .,;“”\"'") for part in re.split(r"…|\d+|: ", text)), key=len) for text in quoted
    ]
    assert [part for part in longest if part not in code] == []


def printed() -> Iterator[tuple[str, str]]:
    """The warnings and errors in the outputs of pages and notebooks, each with the file's name."""
    pages = ["README.md", "docs/tutorials/*.md", "docs/how-to/*.md", "metrics/*/README.md"]
    outputs = [(page.name, page.read_text(encoding="utf-8")) for each in pages for page in ROOT.glob(each)]
    for notebook in ROOT.glob("notebooks/*.ipynb"):
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            outputs += [(notebook.name, "".join(each.get("text", []))) for each in cell.get("outputs", [])]
    for name, text in outputs:
        for line in re.findall(r"(?m)^\s*(?:warning|error|host only): (.*)", text):
            yield name, line


def test_every_message_that_is_printed_on_the_way_has_an_entry() -> None:
    """Who pastes a message of the tutorials, the examples or the notebooks into the search finds it."""
    quoted = re.findall(r"^> `+(.*?)`+$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    known = [
        ".*".join(re.escape(part) for part in re.split("…", re.sub(r"\d[\d,.]*", "…", text))) for text in quoted
    ]
    found = list(printed())
    assert len(found) > 15
    assert [(name, line) for name, line in found if not any(re.search(each, line) for each in known)] == []
