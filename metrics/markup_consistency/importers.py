"""Read the exports of annotation tools as markups: brat, INCEpTION (UIMA CAS) and Label Studio.

An annotation becomes one element.  Its label and attributes become the element's tags, its spans become
fragments, and its notes become overtexts.  A brat event with its arguments becomes one element with several
fragments, and so does an Equiv set.  Annotators are the experts, except one called "algorithm".  Predictions of
Label Studio are the algorithm's.

What is read is read exactly.  What markups cannot have, such as relations, is left out, and a warning counts it
by kind.  What is not an annotation of text is refused.
"""

import io
import re
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from podium.errors import ToolError, missing_extra
from podium.files import MOST_BYTES, parse_json, read_bytes, read_text
from podium.markups.files import ALGORITHM, read_documents

# The exceptions that a damaged export causes in the readers here.
FAULTS = (AttributeError, IndexError, KeyError, TypeError, ValueError)


@dataclass
class Export:
    """What has been read of an export so far."""

    folder: Path  # the folder or the file that the user gave
    error: type[ToolError]  # what a fault in the export raises
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)  # by id, as `read_documents` takes them
    left_out: Counter[str] = field(default_factory=Counter)  # the number of each kind of thing

    def add(self, document_id: str, annotator: str, text: str, elements: list[dict[str, Any]]) -> None:
        """Add the markup that an annotator made of a document."""
        document = self.documents.setdefault(document_id, {"id": document_id, "text": text, "markups": []})
        if document["text"] != text:
            raise self.error(f"document {document_id!r}: expected one text, found another text by {annotator}")
        if any(markup["expert"] == annotator for markup in document["markups"]):
            raise self.error(f"document {document_id!r}: expected one file by {annotator}, found another one")
        document["markups"].append(
            {"expert": annotator, "isExpert": annotator != ALGORITHM, "elements": elements}
        )


Reader = Callable[[Path, Export], None]


def read(path: Path, error: type[ToolError]) -> pd.DataFrame | None:
    """Read an export of an annotation tool; None if the path is not one."""
    files, reader = _export(path, error)
    if reader is None:
        return None
    export = Export(path, error)
    for file in files:
        try:
            reader(file, export)
        except FAULTS as problem:
            name = file.relative_to(path.parent)
            raise error(f"{name}: expected an export, found a fault: {_told(problem)}") from None
    if export.left_out:
        counts = ", ".join(f"{kind} ({number:,})" for kind, number in sorted(export.left_out.items()))
        warnings.warn(f"left out of the markups: {counts}", stacklevel=2)
    return read_documents(((path, document) for document in export.documents.values()), error)


def _export(path: Path, error: type[ToolError]) -> tuple[list[Path], Reader | None]:
    """The files of an export and their reader; no reader if the path is not an export."""
    if not path.is_dir():
        if path.suffix == ".zip":
            raise error(f"{path}: expected an unpacked export, found a zip. {_HOW_TO_EXPORT}")
        return [path], _read_label_studio if isinstance(_json(path), list) else None
    if any(path.glob("exportedproject*.json")) or any(path.rglob("*.ser")):
        raise error(f"{path}: expected markups, found a whole project of INCEpTION. {_HOW_TO_EXPORT}")
    if files := sorted(path.rglob("*.ann")):
        return files, _read_brat
    if files := sorted([*path.rglob("*.xmi"), *path.rglob("*.zip")]):
        return files, _read_cas
    files = sorted(path.rglob("*.json"))
    content = _json(files[0]) if files else None
    return files, _read_cas if isinstance(content, dict) and _CAS_JSON in content else None


def _json(file: Path) -> Any:
    """The value that a file holds in JSON, or None if it is not JSON, which another reader then reports."""
    try:
        return parse_json(read_bytes(file))
    except ValueError:
        return None


def _told(problem: Exception) -> str:
    """What is wrong with an export, from the exception that its reader raised."""
    if isinstance(problem, KeyError):
        return f"{problem} is missing"
    return str(problem) if isinstance(problem, ValueError) else repr(problem)


def _element(tags: Iterable[Any], fragments: list[dict[str, Any]], notes: Iterable[str] = ()) -> dict[str, Any]:
    """An element with these tags and fragments, whose overtexts are the notes."""
    return {
        "tags": [str(tag) for tag in tags if tag not in (None, "")],
        "fragments": fragments,
        "overtexts": [{"comment": note} for note in notes if note],
    }


def _fragments(
    spans: Iterable[tuple[int, int]], tags: Iterable[str] = (), notes: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """A fragment for each span; all of them have the same tags and notes."""
    more: dict[str, Any] = {"tags": [tag for tag in tags if tag]}
    more["overtexts"] = [{"comment": note} for note in notes if note]
    more = {name: values for name, values in more.items() if values}
    return [{"start": start, "end": end} | more for start, end in spans]


# ---- brat ------------------------------------------------------------------------------------------------


class _Brat:
    """The annotations in a file of brat, by their ids."""

    def __init__(self, text: str, left_out: Counter[str]) -> None:
        self.labels: dict[str, str] = {}
        self.spans: dict[str, list[tuple[int, int]]] = {}
        self.members: dict[str, list[tuple[str, str]]] = {}
        self.attributes: dict[str, list[str]] = {}
        self.notes: dict[str, list[str]] = {}
        self.others: set[str] = set()  # the ids of relations, normalizations and attributes
        self.left_out = left_out
        for number, line in enumerate(text.split("\n")):
            key, _, rest = line.rstrip("\r").partition("\t")
            head, _, tail = rest.partition("\t")
            if key.strip():
                self._add(key if key != "*" else f"* {number}", head, tail)
        for kind, values in (("attributes", self.attributes), ("notes", self.notes)):
            for target in values.keys() - self.labels.keys():
                if target not in self.others:
                    raise ValueError(f"{kind} of {target}, which is not there")
                left_out[f"{kind} of relations and the like"] += len(values[target])

    def _add(self, key: str, head: str, tail: str) -> None:
        """Add a line: its id, and the two fields after it."""
        match key[0]:
            case "T":
                self.labels[key], _, ends = head.partition(" ")
                pairs = (span.split() for span in ends.split(";"))
                self.spans[key] = [(int(start), int(end)) for start, end in pairs]
            case "E":
                (self.labels[key], trigger), *arguments = (part.split(":") for part in head.split())
                # Arguments of the same role have numbers: Theme, Theme2 …
                roles = [(role.rstrip("0123456789"), target) for role, target in arguments]
                self.members[key] = [("", trigger), *roles]
            case "*":
                self.labels[key], *targets = head.split()
                self.members[key] = [("", target) for target in targets]
            case "A" | "M":
                name, target, *value = head.split()
                self.attributes.setdefault(target, []).append(": ".join([name, *value]))
                self.others.add(key)
            case "#":
                self.notes.setdefault(head.split()[-1], []).append(tail)
            case "R" | "N":
                self.others.add(key)
                self.left_out["relations" if key[0] == "R" else "normalizations"] += 1
            case _:
                raise ValueError(f"a line that begins with {key!r:.40}")

    def elements(self) -> Iterator[dict[str, Any]]:
        """Make an element of each event, each Equiv set, and each other span.

        The trigger of an event and the spans of an Equiv set belong to those elements and have none of their
        own.
        """
        parts = {target for members in self.members.values() for role, target in members if not role}
        for key, label in self.labels.items():
            if key not in parts:
                tags, notes = [label, *self.attributes.get(key, [])], self.notes.get(key, [])
                fragments = _fragments(self.spans[key]) if key in self.spans else self._of_members(key)
                yield _element(tags, fragments, notes)

    def _of_members(self, key: str) -> list[dict[str, Any]]:
        """The fragments of an event or an Equiv set."""
        fragments = []
        for role, target in self.members[key]:
            # An argument that is itself an event stands where the trigger of that event is.
            trigger = self.members[target][0][1] if target in self.members else target
            if role:  # the attributes and notes of an argument belong to the argument's own element
                tags, notes = [role], []
            else:
                label = [self.labels[trigger]] if key.startswith("*") else []
                tags, notes = [*label, *self.attributes.get(target, [])], self.notes.get(target, [])
            fragments += _fragments(self.spans[trigger], tags, notes)
        return fragments


def _read_brat(file: Path, export: Export) -> None:
    """Read a file of brat.  Its text stands beside it, or in a folder above, but not above the export."""
    content = _Brat(read_text(file, export.error), export.left_out)
    above = range(len(file.relative_to(export.folder).parts))
    places = [file.parents[level] / f"{file.stem}.txt" for level in above]
    text = next((place for place in places if place.is_file()), places[0])
    export.add(file.stem, file.parent.name, read_text(text, export.error), [*content.elements()])


# ---- INCEpTION -------------------------------------------------------------------------------------------

_CAS_JSON = "%FEATURE_STRUCTURES"
_HOW_TO_EXPORT = (
    "In INCEpTION, export the project with the format UIMA CAS JSON or UIMA CAS XMI, unpack it, and give the "
    "folder annotation in it"
)

# Types that nobody annotates: how the text is segmented, what the document is, and the tool's own records.
_RECORDS = re.compile(
    r"uima\.(cas\.|tcas\.DocumentAnnotation$)"
    r"|de\.tudarmstadt\.ukp\.dkpro\.core\.api\.(metadata\.|xml\."
    r"|segmentation\.type\.(Token|TokenForm|Sentence|Paragraph|Heading|Div)$)"
    r"|org\.dkpro\.core\.api\.xml\.|de\.tudarmstadt\.ukp\.clarin\.webanno\.api\.|de\.tudarmstadt\.ukp\.inception\."
)
# INCEpTION's names for the text as it was imported, and for the curator's result.
_NOBODY = ("INITIAL_CAS", "CURATION_USER")
# An annotation with these features is a relation between two others.
_ENDS_OF_RELATION = {"Governor", "Dependent"}
_PLACE = {"begin", "end", "sofa"}


def _read_cas(file: Path, export: Export) -> None:
    """Read a UIMA CAS; the features of an annotation that are values become tags."""
    content, name, types = _parts_of_cas(file, export)
    who = Path(name).stem
    if who in _NOBODY:
        export.left_out[f"documents of {who}"] += 1
        return
    cas = _load_cas(content, types)
    elements = []
    for structure in cas.select_all_fs():
        kind = structure.type.name
        layer = kind.rpartition(".")[2]
        features = {feature.name for feature in structure.type.all_features}
        if _RECORDS.match(kind) or "sofa" not in features:  # only annotations say to which text they belong
            export.left_out[layer] += 1
        elif features >= _ENDS_OF_RELATION:
            export.left_out[f"relations of {layer}"] += 1
        else:
            tags, links = _tags_of(structure, sorted(features - _PLACE))
            if links:
                export.left_out[f"links of {layer}"] += links
            # An annotation of the whole document has no place.
            spans = [(structure.begin, structure.end)] if "begin" in features else []
            elements.append(_element(tags or [layer], _fragments(spans)))
    export.add(file.parent.name, who, cas.sofa_string, elements)


def _parts_of_cas(file: Path, export: Export) -> tuple[bytes, str, bytes | None]:
    """The content of a CAS, the name of its file, and the type system of XMI, or None if there is none."""
    if file.suffix != ".zip":
        beside = (folder / "TypeSystem.xml" for folder in file.parents[:3])
        types = next((read_bytes(path) for path in beside if path.is_file()), None)
        content, name = read_bytes(file), file.name
    else:
        members = _unpacked(file, export.error)
        name = next((name for name in sorted(members) if name.endswith((".xmi", ".json"))), "")
        if not name:
            raise ValueError("no .xmi and no .json in it")
        content, types = members[name], members.get("TypeSystem.xml")
    if name.endswith(".xmi") and types is None:
        raise export.error(f"{file}: expected TypeSystem.xml beside it")
    return content, name, types


def _unpacked(file: Path, error: type[ToolError]) -> dict[str, bytes]:
    """The contents of the files in a zip, by their names without folders."""
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(file))) as archive:
            if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                raise error(f"{file}: expected at most {MOST_BYTES >> 20:,} MB once expanded, found more")
            return {Path(name).name: archive.read(name) for name in archive.namelist()}
    except (RuntimeError, zipfile.BadZipFile, zlib.error) as problem:  # a RuntimeError: it is encrypted
        raise ValueError(str(problem)) from None


def _load_cas(content: bytes, types: bytes | None) -> Any:
    """The CAS that these bytes hold: XMI if it comes with a type system, else JSON."""
    try:
        import cassis
    except ImportError:
        raise missing_extra("UIMA CAS", "dkpro-cassis", "inception") from None
    try:
        if types is None:
            return cassis.load_cas_from_json(io.BytesIO(content))
        return cassis.load_cas_from_xmi(io.BytesIO(content), cassis.load_typesystem(io.BytesIO(types)))
    except Exception as problem:  # cassis and its reader of XML have many exceptions for a damaged file
        raise ValueError(f"{type(problem).__name__}: {str(problem).strip():.200}") from None


def _tags_of(annotation: Any, features: Sequence[str]) -> tuple[list[str], int]:
    """The values of an annotation's features as tags, and how many features link to something else."""
    tags: list[str] = []
    links = 0
    for name in features:
        value = getattr(annotation, name)
        values = value if isinstance(value, list) else getattr(value, "elements", None)
        for each in [value] if values is None else values:
            match each:
                case None | False:
                    pass
                case str():
                    tags.append(each)
                case True:
                    tags.append(name)
                case int() | float():
                    tags.append(f"{name}: {each:g}")
                case _:
                    links += 1
    return tags, links


# ---- Label Studio ----------------------------------------------------------------------------------------

# What can be said about a region of text, or about a whole task.  Other types are regions of something else.
_SAID = ("labels", "choices", "taxonomy", "rating", "number", "datetime", "textarea")


def _read_label_studio(file: Path, export: Export) -> None:
    """Read the annotations and the first prediction of each task in a JSON export of Label Studio."""
    repeated = Counter[str]()
    for number, task in enumerate(parse_json(read_bytes(file)), 1):
        if not isinstance(task, dict) or not isinstance(task.get("annotations"), list):
            raise export.error(
                f"{file.name}: expected tasks with annotations, found none in task {number}. In Label Studio, "
                "export as JSON, not as JSON-MIN"
            )
        try:
            _read_task(task, export, repeated)
        except FAULTS as problem:
            raise ValueError(f"task {task.get('id', number)}: {_told(problem)}") from None
    if repeated:
        who = ", ".join(f"{name} ({number:,})" for name, number in sorted(repeated.items()))
        warnings.warn(
            f"of several annotations of a task by one annotator, the last one counts: {who}", stacklevel=3
        )


def _read_task(task: Mapping[str, Any], export: Export, repeated: Counter[str]) -> None:
    """Read a task, and count by annotator the annotations that a later one replaces."""
    by_annotator: dict[str, Mapping[str, Any]] = {}
    # An annotation without a date comes first, and the order in the file decides among equal dates.
    annotations = sorted(enumerate(task["annotations"]), key=lambda each: str(each[1].get("updated_at") or ""))
    for number, annotation in annotations:
        if annotation.get("was_cancelled"):
            export.left_out["skipped tasks"] += 1
            continue
        name = _name_of_annotator(annotation, number)
        if name in by_annotator:
            repeated[name] += 1
        by_annotator[name] = annotation
    predictions = task.get("predictions") or []
    for kind, unread in (("further predictions", predictions[1:]), ("drafts", task.get("drafts") or [])):
        if unread:
            export.left_out[kind] += len(unread)
    if predictions:
        by_annotator[ALGORITHM] = predictions[0]
    text, in_utf_16 = _text_of(task["data"], [each["result"] for each in by_annotator.values()])
    offsets = _characters_of_units(text) if in_utf_16 else None
    for name, annotation in by_annotator.items():
        export.add(str(task["id"]), name, text, _regions(annotation["result"], offsets, export.left_out))


def _name_of_annotator(annotation: Mapping[str, Any], number: int) -> str:
    """The name of who made an annotation; where nobody is named, that of the annotation itself."""
    who = annotation.get("completed_by")
    if isinstance(who, Mapping):
        who = who.get("email") or who.get("id")
    if who is None:
        who = annotation.get("id", f"number {number + 1}")
    return f"annotator {who}"


def _text_of(data: Mapping[str, Any], annotations: Iterable[list[Mapping[str, Any]]]) -> tuple[str, bool]:
    """The text that was annotated, and whether its offsets count UTF-16 units, as browsers do.

    A task can have several texts.  If the spans say what they contain (``value.text``), the text in which this
    is true is taken.  Otherwise it is the text under the key "text", or else the longest one.
    """
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    if not texts:
        raise ValueError("no text in its data")
    placed = [result for results in annotations for result in results if _has_place(result)]
    values = [result["value"] for result in placed if result["type"] != "textarea"]
    spans = [(*_span(value), value["text"]) for value in values if isinstance(value.get("text"), str)]
    for in_utf_16, width, encoding in ((False, 4, "utf-32-le"), (True, 2, "utf-16-le")):
        for text in texts.values() if spans else ():
            units = text.encode(encoding, "surrogatepass")
            if all(
                units[width * start : width * end] == own.encode(encoding, "surrogatepass")
                for start, end, own in spans
            ):
                return text, in_utf_16
    return texts.get("text", max(texts.values(), key=len)), False


def _characters_of_units(text: str) -> list[int]:
    """For each UTF-16 unit of a text the position of its character; at the end, the length of the text."""
    widths = (1 + (ord(character) > 0xFFFF) for character in text)
    return [*(position for position, width in enumerate(widths) for _ in range(width)), len(text)]


def _has_place(result: Mapping[str, Any]) -> bool:
    """Whether a result stands at a place in the text, and not for the whole task."""
    return "start" in result.get("value", {})


def _span(value: Mapping[str, Any]) -> tuple[int, int]:
    """The start and the end of a region, which must be whole numbers."""
    start, end = value["start"], value["end"]
    if "startOffset" in value or isinstance(start, str):
        raise ValueError(
            "regions of HyperText or Paragraphs. Show plain text with the tag Text, and annotate that"
        )
    for offset in (start, end):
        if isinstance(offset, bool) or not isinstance(offset, int | float) or not float(offset).is_integer():
            raise ValueError(
                f"an offset {offset!r} that is not a whole number, so this is not a region of text"
            )
    return int(start), int(end)


def _regions(
    results: Iterable[Mapping[str, Any]], offsets: list[int] | None, left_out: Counter[str]
) -> list[dict[str, Any]]:
    """An element for each region, and for each thing that is said about the whole task.

    The results with the same id are about the same region.  Labels and choices become tags, and texts become
    notes.
    """
    tags: dict[Any, list[Any]] = {}
    notes: dict[Any, list[str]] = {}
    spans: dict[Any, list[tuple[int, int]]] = {}
    for number, result in enumerate(results):
        kind = result["type"]
        if kind == "relation":
            left_out["relations"] += 1
            continue
        if kind not in _SAID or "channel" in result["value"]:
            raise ValueError(f"a result of type {kind}, which is not about text")
        value, key = result["value"], result.get("id") or number
        if _has_place(result):
            start, end = _span(value)
            spans[key] = [(start, end) if offsets is None else (offsets[start], offsets[end])]
        said = value.get("text" if kind == "textarea" else kind, [])
        target = notes if kind == "textarea" else tags
        target.setdefault(key, []).extend(map(_written, said if isinstance(said, list) else [said]))
    keys = dict.fromkeys([*tags, *notes])
    return [_element(tags.get(key, ()), _fragments(spans.get(key, ())), notes.get(key, ())) for key in keys]


def _written(said: Any) -> str:
    """A label or choice as text; a choice in a tree of choices is the list of those on the way to it."""
    return " / ".join(map(str, said)) if isinstance(said, list) else str(said)
