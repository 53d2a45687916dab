"""The entries of docs/reference/messages.md quote messages that the code still has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "messages.md"


def texts(file: Path) -> Iterator[str]:
    """The texts in a file of code; between the parts of one that is filled in stands a null character."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "\0".join(part.value if isinstance(part, ast.Constant) else "" for part in node.values)


def test_every_message_on_the_page_is_one_of_the_code() -> None:
    files = [*ROOT.glob("*.py"), *ROOT.glob("podium/**/*.py"), *ROOT.glob("metrics/**/*.py")]
    code = "\n".join(text for file in files for text in texts(file))
    quoted = re.findall(r"^> `+(.*?)`+$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(quoted) > 50
    # What differs each time is "…" on the page or a number; the longest part between two of them is looked for.
    longest = [
        max((part.strip(" .,;“”\"'") for part in re.split(r"…|\d+|: ", text)), key=len) for text in quoted
    ]
    assert [part for part in longest if part not in code] == []
