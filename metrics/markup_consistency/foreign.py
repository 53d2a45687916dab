"""Recognize files that are not read here, and say what to do with them."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podium.common.errors import ToolError
from podium.common.wording import listed
from podium.tables.files import parse_json, read_bytes

HOW = (
    "What is read: brat (.ann), INCEpTION (UIMA CAS), Label Studio (JSON), podium's own JSON, and from every "
    "other tool a table of spans (CSV or Parquet) with the columns document_id, expert, start, end, tag. See "
    "docs/how-to/markups-of-any-tool.md"
)
JSON_MIN = {"label", "annotator"}  # the keys of Label Studio's short form
PACKED, GZIP = (b"PK\x03\x04", b"BZh", b"7z\xbc\xaf"), b"\x1f\x8b"
OWN = {"document_id", "markups", "markup", "essay", "elements", "selections"}  # what only podium's own form has
ALIKE = 0.85  # from which on a key is a slip of the pen


def refuse_foreign(path: Path, files: Sequence[Path], error: type[ToolError]) -> None:
    """Raise an error if a file is neither podium's own JSON nor an export that is read here.

    In a folder, only what could be markups is looked at: other files are told by the account.
    """
    for file in files:
        if file == path or file.suffix in (".json", ".jsonl", ".xml", ".conll", ".tei"):
            name = file.relative_to(path.parent)
            if told := _told_of(file):
                raise error(f"{name}: expected {told}")


def _told_of(file: Path) -> str | None:
    """What was expected and what a file is, if it is not podium's own JSON."""
    content = read_bytes(file)
    is_archive = content.startswith(PACKED) or content[257:262] == b"ustar"
    if is_archive or {".tar", ".tgz"} & set(file.suffixes):
        return f"markups, found an archive; unpack it. {HOW}"
    if content.startswith(GZIP):  # of one text
        return None
    value = json_in(file)
    if value is None:  # a fault in what begins like JSON is told with its place
        is_json = file.suffix == ".json" and content.lstrip()[:1] in (b"{", b"[", b"")
        return None if is_json else f"markups, found another text. {HOW}"
    entries = value if isinstance(value, list) else [value]
    keys = sorted({str(key) for entry in entries for key in (entry if isinstance(entry, dict) else ())})
    if set(keys) >= JSON_MIN:
        lacks = "which lacks predictions and does not say in which text a region stands"
        return f"Label Studio's JSON, found its JSON-MIN, {lacks}; export as JSON"
    is_own = OWN & set(keys) or any(difflib.get_close_matches(key.casefold(), OWN, 1, ALIKE) for key in keys)
    found = f"the keys {listed(keys)}" if keys else "no keys"
    return None if is_own else f"markups, found JSON with {found}. {HOW}"


def json_in(file: Path) -> Any:
    """The value that a file holds in JSON, or the one in the first of its lines; None if it is not JSON."""
    content = read_bytes(file)
    for text in (content, content.partition(b"\n")[0]):
        try:
            return parse_json(text)
        except ValueError:
            continue
    return None
