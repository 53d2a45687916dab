"""Exports of annotation tools as markups: brat, INCEpTION (UIMA CAS and WebAnno TSV 3) and Label Studio.

Each annotation is one element: label and attributes are its tags, spans its fragments, notes its overtexts.
Annotators are experts, but for "algorithm"; Label Studio's predictions are the algorithm's.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from podium.errors import ToolError, UsageError
from podium.files import parse_json, read_bytes, read_text
from podium.markups import ALGORITHM, read_documents

MACHINE_TYPES = re.compile(
    r"uima\.|de\.tudarmstadt\.ukp\.dkpro\.core\.api\.(segmentation|metadata|syntax|lexmorph)\."
)
CAS_JSON = "%FEATURE_STRUCTURES"

# In a cell of WebAnno TSV.
STACKED_VALUE = re.compile(r"((?:[^\\|\[]|\\.)*)(?:\[(\d+)\])?\|")
CONTROL = {"t": "\t", "n": "\n", "f": "\f", "r": "\r", "b": "\b"}

# The document's id, the annotator, the text, the elements.
Annotations = Iterator[tuple[str, str, str, list[dict[str, Any]]]]


def read(path: Path, error: type[ToolError]) -> pd.DataFrame | None:
    """The documents in an export; None where it is none.

    brat's folders have ``ANNOTATOR/DOCUMENT.ann``, INCEpTION's ``DOCUMENT/ANNOTATOR.json``, .xmi or .tsv.
    """
    found = _annotations(path, error)
    if found is None:
        return None
    documents: dict[str, dict[str, Any]] = {}
    for document_id, who, text, elements in found:
        document = documents.setdefault(document_id, {"id": document_id, "text": text, "markups": []})
        if document["text"] != text:
            raise error(f"document {document_id!r}: expected one text, found another one of {who}")
        document["markups"].append({"expert": who, "isExpert": who != ALGORITHM, "elements": elements})
    return read_documents(((path, document) for document in documents.values()), error)


def _annotations(path: Path, error: type[ToolError]) -> Annotations | None:
    if path.is_dir():
        for pattern, reader in (("*.ann", _read_brat), ("*.xmi", _read_cas), ("*.tsv", _read_webanno)):
            if files := sorted(path.rglob(pattern)):
                return _each(files, reader, error)
        files = sorted(path.rglob("*.json"))
        content = _json(files[0]) if files else None
        is_cas = isinstance(content, dict) and CAS_JSON in content
        return _each(files, _read_cas, error) if is_cas else None
    tasks = _json(path) if path.suffix == ".json" else None
    is_tasks = isinstance(tasks, list) and all(
        isinstance(task, dict) and "annotations" in task for task in tasks
    )
    return _each([path], _read_label_studio, error) if is_tasks else None


def _json(file: Path) -> Any:
    """None where the file is no JSON, which others report."""
    try:
        return parse_json(read_bytes(file))
    except ValueError:
        return None


def _each(
    files: Iterable[Path], reader: Callable[[Path, type[ToolError]], Annotations], error: type[ToolError]
) -> Annotations:
    for file in files:
        try:
            yield from reader(file, error)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as problem:
            raise error(f"{file}: expected an export, found a fault: {problem!r}") from None


def _element(tags: Iterable[Any], spans: Iterable[tuple[int, int]], notes: Iterable[str]) -> dict[str, Any]:
    return {
        "tags": [str(tag) for tag in tags if tag not in (None, "")],
        "fragments": [{"start": start, "end": end} for start, end in spans],
        "overtexts": [{"comment": note} for note in notes if note],
    }


def _read_brat(file: Path, error: type[ToolError]) -> Annotations:
    """T are spans, A and M attributes, # notes."""
    tags: dict[str, list[str]] = {}
    spans: dict[str, list[tuple[int, int]]] = {}
    notes: dict[str, list[str]] = {}
    for line in read_text(file, error).splitlines():
        key, _, rest = line.partition("\t")
        head, _, text = rest.partition("\t")
        if key.startswith("T"):
            label, _, ends = head.partition(" ")
            tags[key] = [label]
            spans[key] = [(int(start), int(end)) for start, end in (span.split() for span in ends.split(";"))]
        elif key[:1] in ("A", "M"):
            name, target, *value = head.split()
            tags.setdefault(target, []).append(": ".join([name, *value]))
        elif key.startswith("#"):
            notes.setdefault(head.split()[-1], []).append(text)
    elements = [_element(tags[key], spans[key], notes.get(key, ())) for key in spans]
    yield file.stem, file.parent.name, read_text(file.with_suffix(".txt"), error), elements


def _read_cas(file: Path, error: type[ToolError]) -> Annotations:
    """A UIMA CAS, whose features with text are the tags."""
    try:
        import cassis
    except ImportError:
        raise UsageError("UIMA CAS needs dkpro-cassis: pip install podium[inception]") from None
    if file.suffix == ".xmi":
        candidates = (folder / "TypeSystem.xml" for folder in file.parents[:3])
        types = next((path for path in candidates if path.is_file()), None)
        if types is None:
            raise error(f"{file}: expected TypeSystem.xml beside it")
        with types.open("rb") as stream:
            system = cassis.load_typesystem(stream)
        with file.open("rb") as stream:
            cas = cassis.load_cas_from_xmi(stream, system)
    else:
        with file.open("rb") as stream:
            cas = cassis.load_cas_from_json(stream)
    elements = []
    for annotation in cas.select_all_annotations():
        kind = annotation.type
        if MACHINE_TYPES.match(kind.name):
            continue
        features = (getattr(annotation, feature.name) for feature in kind.all_features)
        texts = [value for value in features if isinstance(value, str)]
        labels = texts or [kind.name.rpartition(".")[2]]
        elements.append(_element(labels, [(annotation.begin, annotation.end)], ()))
    yield file.parent.name, file.stem, cas.sofa_string, elements


def _read_webanno(file: Path, error: type[ToolError]) -> Annotations:
    """WebAnno TSV: a line per token or part of one, a column per feature, whose values are the tags.

    "|" divides the values of several annotations; an annotation of several tokens has a number in brackets.
    """
    first, *lines = read_text(file, error).split("\n")
    if not re.match(r"#FORMAT=WebAnno TSV 3\.[23]\s*$", first):
        raise ValueError(f"the first line is {first[:40]!r}, not '#FORMAT=WebAnno TSV 3.3'")
    columns: list[tuple[str, bool]] = []  # layer, "" for none of spans, and whether the values are tags
    text = b""  # UTF-16, in whose units INCEpTION counts
    sentence: list[str] = []
    found: dict[tuple[str, str], tuple[dict[int, str], list[int]]] = {}
    for line in lines:
        name, _, content = line.rstrip("\r").partition("=")
        if name in ("#T_SP", "#T_CH", "#T_RL"):
            layer, *features = content.split("|")
            is_span = name == "#T_SP" and not MACHINE_TYPES.match(layer)
            # Each is followed by its target.
            roles = [feature.startswith("ROLE_") for feature in ("", *features)]
            columns += [(layer if is_span and not before else "", not one) for before, one in pairwise(roles)]
        elif name == "#Text":
            sentence.append(_unescaped(content))
        elif line[:1].isdigit():
            unit, place, form, *cells = line.rstrip("\r").split("\t")
            begin, end = map(int, place.split("-"))
            if sentence:  # this is its first token
                covered = "\n".join(sentence)
                gap = begin - len((covered.partition(form)[0]).encode("utf-16-le")) // 2 - len(text) // 2
                text += ("\n" * gap + covered).encode("utf-16-le")
                sentence = []
            if text[2 * begin : 2 * end].decode("utf-16-le") != form or len(cells) < len(columns):
                raise ValueError(f"token {unit} {form!r} is not in the text at {place}, or lacks columns")
            for number, ((layer, is_tag), cell) in enumerate(zip(columns, cells)):
                for stacked, (value, of_several) in enumerate(_stacked(cell) if layer else ()):
                    if value != "_":
                        key = layer, of_several or f"{unit} {stacked}"
                        tags, ends = found.setdefault(key, ({}, []))
                        ends += [begin, end]
                        if is_tag and value != "*":
                            tags[number] = _unescaped(value)

    def place_of(unit: int) -> int:
        return len(text[: 2 * unit].decode("utf-16-le"))

    elements = [
        _element(tags.values() or [layer.rpartition(".")[2]], [(place_of(min(ends)), place_of(max(ends)))], ())
        for (layer, _), (tags, ends) in found.items()
    ]
    yield file.parent.name, file.stem, text.decode("utf-16-le"), elements


def _stacked(cell: str) -> list[tuple[str, str]]:
    """The values in a cell, and the number of each one's annotation, "" for none."""
    values = list(STACKED_VALUE.finditer(cell + "|"))
    if "".join(value[0] for value in values) != cell + "|":
        raise ValueError(f"the cell {cell!r}")
    return [(value[1], value[2] or "") for value in values]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(->|.)", lambda escape: CONTROL.get(escape[1], escape[1]), text)


def _read_label_studio(file: Path, _: type[ToolError]) -> Annotations:
    for task in parse_json(read_bytes(file)):
        text = next((value for value in task["data"].values() if isinstance(value, str)), None)
        if text is None:
            raise ValueError("a task without text")
        for annotation in task["annotations"]:
            if not annotation.get("was_cancelled"):
                who = annotation.get("completed_by", annotation.get("id"))
                name = who.get("email", who.get("id")) if isinstance(who, Mapping) else who
                yield str(task["id"]), f"annotator {name}", text, _regions(annotation["result"])
        for prediction in task.get("predictions", [])[:1]:
            yield str(task["id"]), ALGORITHM, text, _regions(prediction["result"])


def _regions(results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The results of a region as one element: labels and choices are tags, texts are notes."""
    tags: dict[str, list[Any]] = {}
    spans: dict[str, list[tuple[int, int]]] = {}
    notes: dict[str, list[str]] = {}
    for result in results:
        value, key = result["value"], result.get("id", "")
        if "start" in value and "end" in value:
            spans[key] = [(int(value["start"]), int(value["end"]))]
        is_note = result["type"] == "textarea"
        texts = value.get("text" if is_note else result["type"], [])
        (notes if is_note else tags).setdefault(key, []).extend(texts if isinstance(texts, list) else [texts])
    return [_element(tags.get(key, ()), spans[key], notes.get(key, ())) for key in spans]
