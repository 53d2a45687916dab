"""Read the exports of annotation tools as markups: brat, INCEpTION (UIMA CAS) and Label Studio.

An annotation becomes one element.  Its label and attributes become the element's tags, its spans become
fragments, and its notes become overtexts.  A brat event with its arguments becomes one element with several
fragments, and so does an Equiv set.  Annotators are the experts, except one called "algorithm".  Predictions of
Label Studio are the algorithm's.

Markups have no relations.  The relations of an export are left out, and a warning counts them.
"""

import io
import itertools
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium.errors import ToolError, missing_extra
from podium.files import MOST_BYTES, parse_json, read_bytes, read_text
from podium.markups import ALGORITHM, read_documents
from podium.wording import counted

# Layers that a machine fills before anybody annotates, and layers in which INCEpTION keeps its own records.
MACHINE_TYPES = re.compile(
    r"uima\.|de\.tudarmstadt\.ukp\.dkpro\.core\.api\.(segmentation|metadata|syntax|lexmorph)\."
    r"|de\.tudarmstadt\.ukp\.clarin\.webanno\.api\."
)
CAS_JSON = "%FEATURE_STRUCTURES"
# INCEpTION's names for the text as it was imported, and for the curator's result.
NOBODY = ("INITIAL_CAS", "CURATION_USER")
# An annotation with these features is a relation between two others.
ENDS_OF_RELATION = {"Governor", "Dependent"}


# The exceptions that a damaged export causes in the readers here, of zips (RuntimeError if encrypted) and of
# XML.
FAULTS = (
    *(AttributeError, IndexError, KeyError, TypeError, ValueError),
    *(RuntimeError, SyntaxError, zipfile.BadZipFile, zlib.error),
)


class Annotated(NamedTuple):
    """The annotations that one annotator made in a document.

    Attributes
    ----------
    document_id, annotator, text : str
        The id of the document, the name of the annotator, and the text of the document.
    elements : list of dict
        The elements of the markup.
    relations : int
        The number of relations, which are left out.
    """

    document_id: str
    annotator: str
    text: str
    elements: list[dict[str, Any]]
    relations: int


Reader = Callable[[Path, type[ToolError]], Iterator[Annotated]]


def read(path: Path, error: type[ToolError]) -> pd.DataFrame | None:
    """Read an export of an annotation tool.

    Parameters
    ----------
    path : Path
        The export, in one of these forms:

        * brat: a folder with ``ANNOTATOR/DOCUMENT.ann`` and a ``.txt`` file beside each.
        * INCEpTION: a folder such as ``annotation`` of an exported project.  It has ``DOCUMENT/ANNOTATOR.json``
          (UIMA CAS JSON), or ``.xmi`` files and ``TypeSystem.xml``, or a ``.zip`` of these.
        * Label Studio: the file of a JSON export.
    error : type of ToolError
        The exception for a fault in the export.

    Returns
    -------
    DataFrame or None
        One row per document, as `podium.markups.read_documents` returns it.  None if the path is not an export.

    Raises
    ------
    ToolError
        `error`: the export is damaged, or a document has different texts.
    UsageError
        The package that reads INCEpTION's exports is not installed.

    Warns
    -----
    UserWarning
        Relations were left out.
    """
    export = _export(path, error)
    if export is None:
        return None
    documents: dict[str, dict[str, Any]] = {}
    relations = 0
    for document_id, who, text, elements, number in export:
        document = documents.setdefault(document_id, {"id": document_id, "text": text, "markups": []})
        if document["text"] != text:
            raise error(f"document {document_id!r}: expected one text, found another text by {who}")
        document["markups"].append({"expert": who, "isExpert": who != ALGORITHM, "elements": elements})
        relations += number
    if relations:
        left_out = counted(relations, "relation")
        warnings.warn(f"relations were left out, because markups have none: {left_out}", stacklevel=2)
    return read_documents(((path, document) for document in documents.values()), error)


def _export(path: Path, error: type[ToolError]) -> Iterator[Annotated] | None:
    """The annotations of an export; None if the path is not an export."""
    if path.is_dir():
        for patterns, reader in ((("*.ann",), _read_brat), (("*.xmi", "*.zip"), _read_cas)):
            if files := sorted(itertools.chain.from_iterable(map(path.rglob, patterns))):
                return _each(files, reader, error)
        files = sorted(path.rglob("*.json"))
        content = _json(files[0]) if files else None
        is_cas = isinstance(content, dict) and CAS_JSON in content
        return _each(files, _read_cas, error) if is_cas else None
    tasks = _json(path)
    is_tasks = isinstance(tasks, list) and all(
        isinstance(task, dict) and "annotations" in task for task in tasks
    )
    return _each([path], _read_label_studio, error) if is_tasks else None


def _json(file: Path) -> Any:
    """The value that a file holds in JSON, or None if it is not JSON, which another reader then reports."""
    try:
        return parse_json(read_bytes(file))
    except ValueError:
        return None


def _each(files: Iterable[Path], reader: Reader, error: type[ToolError]) -> Iterator[Annotated]:
    """The annotations in each file; `error` names a file that is damaged."""
    for file in files:
        try:
            yield from reader(file, error)
        except FAULTS as problem:
            raise error(f"{file}: expected an export, found a fault: {problem!r}") from None


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
    """The annotations in a file of brat, by their ids.

    Attributes
    ----------
    labels : dict of str to str
        The labels of annotated spans (T), events (E) and Equiv sets.
    spans : dict of str to list of (start, end)
        The stretches of text of each T.
    members : dict of str to list of (role, id)
        The members of each event and each Equiv set.  The first member of an event is its trigger, which has no
        role.
    attributes, notes : dict of str to list of str
        The attributes and the notes of each annotation.
    relations : int
        The number of binary relations and normalizations, which are left out.
    """

    def __init__(self, text: str) -> None:
        self.labels: dict[str, str] = {}
        self.spans: dict[str, list[tuple[int, int]]] = {}
        self.members: dict[str, list[tuple[str, str]]] = {}
        self.attributes: dict[str, list[str]] = {}
        self.notes: dict[str, list[str]] = {}
        self.relations = 0
        for number, line in enumerate(text.split("\n")):
            key, _, rest = line.rstrip("\r").partition("\t")
            head, _, tail = rest.partition("\t")
            self._add(key if key != "*" else f"* {number}", head, tail)

    def _add(self, key: str, head: str, tail: str) -> None:
        """Add a line: its id, and the two fields after it."""
        match key[:1]:
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
            case "#":
                self.notes.setdefault(head.split()[-1], []).append(tail)
            case "R" | "N":
                self.relations += 1

    def elements(self) -> Iterator[dict[str, Any]]:
        """Make an element of each event, each Equiv set, and each other span.

        The trigger of an event and the spans of an Equiv set belong to those elements and have none of their
        own.

        Yields
        ------
        dict
            The element.
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
            is_equivalent = key.startswith("*")
            tags = [self.labels[trigger], *self.attributes.get(target, [])] if is_equivalent else [role]
            # The notes on an argument belong to the argument's own element.
            notes = [] if role else self.notes.get(target, [])
            fragments += _fragments(self.spans[trigger], tags, notes)
        return fragments


def _read_brat(file: Path, error: type[ToolError]) -> Iterator[Annotated]:
    """The annotations in a file of brat."""
    content = _Brat(read_text(file, error))
    text = read_text(file.with_suffix(".txt"), error)
    yield Annotated(file.stem, file.parent.name, text, [*content.elements()], content.relations)


# ---- INCEpTION -------------------------------------------------------------------------------------------


def _read_cas(file: Path, error: type[ToolError]) -> Iterator[Annotated]:
    """The annotations in a UIMA CAS; the features of an annotation that are texts become tags."""
    try:
        import cassis
    except ImportError:
        raise missing_extra("UIMA CAS", "dkpro-cassis", "inception") from None
    name = file.name
    if file.suffix == ".zip":
        members = _unpacked(file, error)
        name = next((name for name in sorted(members) if name.endswith((".xmi", ".json"))), "")
        if not name:
            raise ValueError("no .xmi and no .json in it")
        content, types = members[name], members.get("TypeSystem.xml")
    else:
        content = read_bytes(file)
        candidates = (folder / "TypeSystem.xml" for folder in file.parents[:3])
        types = next((read_bytes(path) for path in candidates if path.is_file()), None)
    who = Path(name).stem
    if who in NOBODY:
        return
    if name.endswith(".json"):
        cas = cassis.load_cas_from_json(io.BytesIO(content))
    elif types is None:
        raise error(f"{file}: expected TypeSystem.xml beside it")
    else:
        cas = cassis.load_cas_from_xmi(io.BytesIO(content), cassis.load_typesystem(io.BytesIO(types)))
    elements, relations = [], 0
    for annotation in cas.select_all_annotations():
        kind = annotation.type
        features = [feature.name for feature in kind.all_features]
        if ENDS_OF_RELATION.issubset(features):
            relations += not MACHINE_TYPES.match(kind.name)
        elif not MACHINE_TYPES.match(kind.name):
            texts = [value for name in features if isinstance(value := getattr(annotation, name), str)]
            spans = [(annotation.begin, annotation.end)]
            elements.append(_element(texts or [kind.name.rpartition(".")[2]], _fragments(spans)))
    yield Annotated(file.parent.name, who, cas.sofa_string, elements, relations)


def _unpacked(file: Path, error: type[ToolError]) -> dict[str, bytes]:
    """The contents of the files in a zip, by their names without folders."""
    with zipfile.ZipFile(io.BytesIO(read_bytes(file))) as archive:
        if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
            raise error(f"{file}: expected at most {MOST_BYTES >> 20:,} MB once expanded, found more")
        return {Path(name).name: archive.read(name) for name in archive.namelist()}


# ---- Label Studio ----------------------------------------------------------------------------------------


def _read_label_studio(file: Path, _: type[ToolError]) -> Iterator[Annotated]:
    """The annotations and the first prediction of each task in a JSON export of Label Studio."""
    for task in parse_json(read_bytes(file)):
        annotations = [each for each in task["annotations"] if not each.get("was_cancelled")]
        predictions = task.get("predictions", [])[:1]
        results = [result for each in [*annotations, *predictions] for result in each["result"]]
        text, in_utf_16 = _text_of(task["data"], results)
        offsets = _characters_of_units(text) if in_utf_16 else None
        for annotation in annotations:
            who = annotation.get("completed_by", annotation.get("id"))
            name = who.get("email", who.get("id")) if isinstance(who, Mapping) else who
            yield Annotated(
                str(task["id"]), f"annotator {name}", text, *_regions(annotation["result"], offsets)
            )
        for prediction in predictions:
            yield Annotated(str(task["id"]), ALGORITHM, text, *_regions(prediction["result"], offsets))


def _text_of(data: Mapping[str, Any], results: Iterable[Mapping[str, Any]]) -> tuple[str, bool]:
    """The text that was annotated, and whether its offsets count UTF-16 units, as browsers do.

    A task can have several texts.  If the spans say what they contain (``value.text``), the text in which this
    is true is taken.  Otherwise it is the text under the key "text", or else the longest one.
    """
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    if not texts:
        raise ValueError("a task without text")
    values = [result.get("value", {}) for result in results]
    spans = [
        (int(value["start"]), int(value["end"]), value["text"])
        for value in values
        if "start" in value and "end" in value and isinstance(value.get("text"), str) and value["text"]
    ]
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


def _regions(
    results: Iterable[Mapping[str, Any]], offsets: list[int] | None
) -> tuple[list[dict[str, Any]], int]:
    """The elements, one for each region, and the number of relations.

    The labels and choices of a region become tags, and its texts become notes.
    """
    tags: dict[str, list[Any]] = {}
    spans: dict[str, list[tuple[int, int]]] = {}
    notes: dict[str, list[str]] = {}
    relations = 0
    for result in results:
        if "value" not in result:
            if result.get("type") != "relation":
                raise ValueError(f"a result of type {result.get('type')} without value")
            relations += 1
            continue
        value, key = result["value"], result.get("id", "")
        if "start" in value and "end" in value:
            start, end = int(value["start"]), int(value["end"])
            spans[key] = [(start, end) if offsets is None else (offsets[start], offsets[end])]
        is_note = result["type"] == "textarea"
        texts = value.get("text" if is_note else result["type"], [])
        (notes if is_note else tags).setdefault(key, []).extend(texts if isinstance(texts, list) else [texts])
    elements = [_element(tags.get(key, ()), _fragments(spans[key]), notes.get(key, ())) for key in spans]
    return elements, relations
