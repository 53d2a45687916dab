"""Recognize the exports of annotation tools that are not read, and say what to do with them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podium.tables.files import parse_json, read_bytes
from podium.words.errors import ToolError

MOST_SHOWN = 2**16  # bytes of a text that are looked at
JSON_MIN = "Label Studio's JSON-MIN"
HOW = (
    "What is read: brat (.ann), INCEpTION (UIMA CAS), Label Studio (JSON), podium's own JSON, and from every "
    "other tool a table of spans (CSV or Parquet) with the columns document_id, expert, start, end, tag. See "
    "docs/how-to/markups-of-any-tool.md"
)
# In a line of CoNLL, a word and its tag stand side by side.
CONLL = re.compile(r"\S+([ \t]\S+)*[ \t](O|[BIESLU]-\S+)\r?")


def refuse_foreign(path: Path, files: Sequence[Path], error: type[ToolError]) -> None:
    """Raise an error if a file is the export of a tool that is not read here."""
    for file in files:
        if file.suffix not in (".json", ".jsonl", ".xml", ".txt", ".conll", ".tsv", ".tei", ".csv"):
            continue
        tool = _tool_of(read_bytes(file))
        if tool is None and file == path and file.suffix not in (".json", ".jsonl") and json_in(file) is None:
            raise error(f"{file.relative_to(path.parent)}: expected markups, found another text. {HOW}")
        if tool == JSON_MIN:
            lacks = "which lacks predictions and does not say in which text a region stands"
            told = f"expected Label Studio's JSON, found its JSON-MIN, {lacks}; export as JSON"
            raise error(f"{file.relative_to(path.parent)}: {told}")
        if tool is not None:
            raise error(f"{file.relative_to(path.parent)}: expected markups, found an export of {tool}. {HOW}")


def json_in(file: Path) -> Any:
    """The value that a file holds in JSON, or None if it is not JSON."""
    try:
        return parse_json(read_bytes(file))
    except ValueError:
        return None


def _tool_of(content: bytes) -> str | None:
    """The tool or the format of an export; None where it is another one."""
    text = content[:MOST_SHOWN].decode("utf-8-sig", "replace")
    if text.lstrip().startswith("<"):
        names = {"<TEI": "TEI", "<TAGS>": "MAE", "<GateDocument": "GATE", "xmi:XMI": ""}
        return next((name or None for sign, name in names.items() if sign in text), "XML")
    try:
        value = parse_json(content)
    except ValueError:
        first = text.partition("\n")[0]
        try:
            value = parse_json(first)
        except ValueError:
            lines = [line for line in text.split("\n")[:20] if line.strip()]
            return "CoNLL" if lines and all(map(CONLL.fullmatch, lines)) else None
    entry = value[0] if isinstance(value, list) and value else value
    return _tool_with(entry) if isinstance(entry, dict) else None


# The keys that an entry has in the export of a tool; the first line that fits counts.
_KEYS = (
    ({"examples"}, "LightTag"),
    ({"fields", "responses"}, "Argilla"),
    ({"doc", "user", "begin", "end"}, "INCEpTION's agreement"),
    ({"utf8_text_md5_checksum"}, "labelbuddy"),
    ({"completions"}, "an old version of Label Studio"),
    ({"tokens", "spans"}, "Prodigy"),
    ({"spans", "_task_hash"}, "Prodigy"),
    ({"spans", "answer"}, "Prodigy"),
    ({"content", "annotation"}, "dataturks"),
    ({"label", "annotator"}, JSON_MIN),
    ({"text", "label"}, "doccano"),
    ({"text", "labels"}, "doccano"),
    ({"text", "entities"}, "doccano"),
    ({"target", "body"}, "Recogito"),
)


def _tool_with(entry: dict[str, Any]) -> str | None:
    """The tool whose entries have such keys."""
    annotations = entry.get("annotations")
    if isinstance(annotations, list) and annotations and isinstance(annotations[0], dict):
        within = {"target": "Recogito", "annotation_agent": "Argilla", "start_offset": "doccano"}
        found = next((tool for key, tool in within.items() if key in annotations[0]), None)
        if found is not None:
            return found
    return next((tool for keys, tool in _KEYS if keys <= set(entry)), None)
