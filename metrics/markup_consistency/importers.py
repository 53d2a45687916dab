"""Read the exports of annotation tools as markups: brat, INCEpTION (UIMA CAS) and Label Studio.

The reader of each tool makes documents: texts with marks, each of which has an author and named labels. One
function turns these into markups. A mark becomes one element. Its labels become tags, its places become
fragments, and its notes become overtexts. A brat event with its arguments is one mark with several places, and
so is an Equiv set. Annotators are the experts, except one called "algorithm". Predictions of Label Studio are
the algorithm's.

Every reader also says how many annotations a file has, and counts by kind what markups cannot have, such as
relations. What is neither in a mark nor counted is counted by `podium.markups.files.Account`. A warning names
the marks whose place is in doubt. What is not an annotation of text is refused.
"""

import datetime
import functools
import io
import math
import re
import unicodedata
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium.common.errors import ToolError, missing_extra
from podium.common.wording import counted, listed
from podium.markups.files import (
    ALGORITHM,
    SETTINGS,
    Account,
    FileRead,
    read_documents,
    visible_files,
    without_tags,
)
from podium.tables.files import MOST_BYTES, parse_json, read_bytes, read_text
from podium.tables.offsets import AnnotatedText, FoundPlace, Place, difference_of

from .foreign import json_in, refuse_foreign

# The exceptions that a damaged export causes in the readers here.
FAULTS = (AttributeError, IndexError, KeyError, TypeError, ValueError)
NAMES_SHOWN = 5


# ---- Documents -------------------------------------------------------------------------------------------


class Label(NamedTuple):
    """A label, an attribute, a feature or a choice."""

    value: Any  # True stands for the name alone
    name: str = ""
    source: str | None = None  # the layer or the control that it is from, where the tool does not name labels


class Note(NamedTuple):
    """A text that an annotator wrote."""

    text: str
    source: str | None = None  # the control that it is from


class Span(NamedTuple):
    """A place of a mark, with what is said of this place alone."""

    place: Place
    labels: Sequence[Label] = ()
    notes: Sequence[Note] = ()


@dataclass
class Mark:
    """What an annotator says about places of a text, or about the whole text if there are none."""

    labels: list[Label] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    annotations: int = 1  # how many of the tool's annotations it is made of

    @property
    def said(self) -> object:
        """What it says, by which it is the same as another one; without a place it is only itself."""
        spans = tuple((tuple(span.place.ends), tuple(span.labels), tuple(span.notes)) for span in self.spans)
        return (tuple(self.labels), spans, tuple(self.notes)) if spans else id(self)


@dataclass
class Export:
    """What has been read of an export so far."""

    folder: Path  # the folder or the file that the user gave
    error: type[ToolError]  # what a fault in the export raises
    texts: dict[str, str] = field(default_factory=dict)  # by the ids of the documents
    marks: dict[str, dict[str, list[Mark]]] = field(default_factory=dict)  # by document and author
    account: Account = field(default_factory=Account)
    truths: list[str] = field(default_factory=list)  # annotations that the tool calls the ground truth

    @property
    def left_out(self) -> Counter[str]:
        """The annotations of the present file that are left out, by their kinds."""
        return self.account.read[-1].left_out

    def add(self, document_id: str, author: str, text: str, marks: list[Mark]) -> None:
        """Add the marks that an annotator made in a document."""
        document_id, author = (unicodedata.normalize("NFC", name) for name in (document_id, author))
        author = ALGORITHM if author.casefold() == ALGORITHM else author
        known = self.texts.setdefault(document_id, text)
        if known != text:
            told = difference_of(known, text)
            raise ValueError(f"document {document_id!r}: expected one text, {author} has another: {told}")
        by_author = self.marks.setdefault(document_id, {})
        if author in by_author:
            raise ValueError(f"document {document_id!r}: expected one file by {author}, this is another one")
        different: dict[object, Mark] = {}
        for mark in marks:
            different.setdefault(mark.said, mark)
        by_author[author] = list(different.values())
        kept = sum(mark.annotations for mark in different.values())
        self.account.read[-1].kept += kept
        if again := sum(mark.annotations for mark in marks) - kept:
            self.left_out[_TWICE] += again


class Tool(NamedTuple):
    """How the exports of a tool are read."""

    read: Callable[[Path, Export], int]  # it adds the marks of a file, and returns how many annotations it has
    shape: str  # what an export is like in which experts meet


def read(path: Path, error: type[ToolError]) -> pd.DataFrame | None:
    """Read an export of an annotation tool; None if the path is not one."""
    export = collected(path, error)
    if export is None:
        return None
    documents = read_documents(((path, document) for document in _documents(export)), error)
    return export.account.tell(documents)


def collected(path: Path, error: type[ToolError]) -> Export | None:
    """Collect the marks of all files of an export, with an account of them; None if the path is not one."""
    found, hidden = visible_files(path)
    files, tool = _export(path, found, error)
    if tool is None:
        refuse_foreign(path, found, error)
        return None
    export = Export(path, error, account=Account(left_out=hidden, shape=tool.shape))
    for file in files:
        present = FileRead(file.relative_to(path.parent))
        export.account.read.append(present)
        try:
            present.found = tool.read(file, export)
        except FAULTS as problem:
            raise error(f"{present.name}: expected an export, found a fault: {_told(problem)}") from None
        export.account.close(present)
    read = export.account.beside.union(files)
    rest = [file for file in found if file not in read]
    settings = [file for file in rest if file.suffix in (".conf", ".xml")]
    foreign = [str(file.relative_to(path)) for file in rest if file not in settings]
    for kind, number in ((SETTINGS, len(settings)), (f"files {listed(foreign)}", len(foreign))):
        export.account.left_out.update({kind: number} if number else {})
    return export


def _export(path: Path, found: Sequence[Path], error: type[ToolError]) -> tuple[list[Path], Tool | None]:
    """The files of an export and its tool; no tool if the path is not an export."""

    def named(*suffixes: str) -> list[Path]:
        return [file for file in found if file.suffix in suffixes]

    if not path.is_dir():
        if path.suffix == ".zip":
            raise error(f"{path}: expected an unpacked export, found a zip. {_HOW_TO_EXPORT}")
        content = json_in(path)
        return [path], _LABEL_STUDIO if isinstance(content, list) or _is_task(content) else None
    if any(path.glob("exportedproject*.json")) or named(".ser"):
        raise error(f"{path}: expected markups, found a whole project of INCEpTION. {_HOW_TO_EXPORT}")
    if files := named(".ann"):
        return files, Tool(_read_brat, "a folder for each annotator, with DOCUMENT.ann and DOCUMENT.txt")
    files = named(".json")
    content = json_in(files[0]) if files else None
    is_cas = isinstance(content, dict) and _CAS_JSON in content
    if cas := named(".xmi", ".zip", *([".json"] if is_cas else [])):
        return cas, Tool(_read_cas, "the folder annotation, with DOCUMENT/ANNOTATOR.json or .xmi")
    if _is_task(content):  # a file for each task, as storage in the cloud gets them
        return files, _LABEL_STUDIO
    if isinstance(content, list):
        return files, _LABEL_STUDIO if len(files) == 1 else _LABEL_STUDIO._replace(read=_read_of_one_annotator)
    return files, None


def _told(problem: Exception) -> str:
    """What is wrong with an export, from the exception that its reader raised."""
    if isinstance(problem, KeyError):
        return f"{problem} is missing"
    text = f"{str(problem).strip():.200}"
    return text if isinstance(problem, ValueError) else f"another structure than such exports have ({text})"


# ---- Markups ---------------------------------------------------------------------------------------------


def _documents(export: Export) -> list[dict[str, Any]]:
    """Turn the documents of an export into what `read_documents` takes, and warn of places in doubt."""
    words, documents = _Words.of(export), []
    untrue, unsure = list[str](), list[str]()
    for document_id, by_author in export.marks.items():
        text = AnnotatedText(export.texts[document_id])
        places = [[span.place for mark in marks for span in mark.spans] for marks in by_author.values()]
        try:
            found = text.find(places)
        except ValueError as fault:
            raise export.error(f"document {document_id!r}: {fault}") from None
        markups = []
        for (author, marks), of_author, own in zip(by_author.items(), places, found):
            names = [f"{place.name} by {author} in {document_id}" for place in of_author]
            untrue += [name for name, each in zip(names, own) if not each.is_true]
            unsure += [name for name, each in zip(names, own) if not each.is_sure]
            elements = words.elements(marks, iter(own))
            markups.append({"expert": author, "isExpert": author != ALGORITHM, "elements": elements})
        documents.append({"id": document_id, "text": text.text, "markups": markups})
    every = [mark for by_author in export.marks.values() for marks in by_author.values() for mark in marks]
    says = [m.labels or m.notes or any(span.labels or span.notes for span in m.spans) for m in every]
    if every and not any(says):
        warnings.warn(without_tags(len(every)), stacklevel=3)
    for told, names in ((_UNTRUE, untrue), (_UNSURE, unsure), (_TRUTHS, export.truths)):
        if names:
            distinct = list(dict.fromkeys(names))
            number = counted(len(distinct), "annotation")
            warnings.warn(f"{told}: {listed(distinct, NAMES_SHOWN)} ({number})", stacklevel=3)
    return documents


_TWICE = "what an annotator marked twice alike"
_UNTRUE = "annotations that quote another text than their offsets cover stand where the offsets say"
_TRUTHS = "what is marked as the ground truth counts as an expert's, whom podium agreement can leave out"
_UNSURE = "annotations that quote no text have offsets that can be counted in several ways"


class _Words(NamedTuple):
    """What makes words of labels and notes; a source is told where an export has several."""

    tells_sources: bool
    tells_sources_of_notes: bool

    @classmethod
    def of(cls, export: Export) -> "_Words":
        """Find out which sources the labels and the notes of an export have."""
        marks = (mark for by_author in export.marks.values() for of in by_author.values() for mark in of)
        parts = list[Mark | Span]()
        for mark in marks:
            parts += [mark, *mark.spans]
        labels = {label.source for part in parts for label in part.labels} - {None}
        notes = {note.source for part in parts for note in part.notes}
        return cls(len(labels) > 1, len(notes) > 1)

    def elements(self, marks: Iterable[Mark], found: Iterator[FoundPlace]) -> list[dict[str, Any]]:
        """Make an element of each mark; `found` has the places of the spans of all marks."""
        elements = []
        for mark in marks:
            fragments = list[dict[str, Any]]()
            for span in mark.spans:
                about = {key: values for key, values in self.about(span).items() if values}
                fragments += [{"start": start, "end": end} | about for start, end in next(found).ends]
            elements.append(self.about(mark) | {"fragments": fragments})
        return elements

    def about(self, part: Mark | Span) -> dict[str, Any]:
        """The tags and the overtexts of a mark or a span."""
        labels = (label for label in part.labels if label.value not in (None, ""))
        notes = (note for note in part.notes if note.text)
        return {"tags": [*map(self.tag, labels)], "overtexts": [*map(self.overtext, notes)]}

    def tag(self, label: Label) -> str:
        """Write a label, such as "causal: yes"."""
        name = ".".join(filter(None, (label.source if self.tells_sources else None, label.name)))
        if label.value is True:
            return name
        value = label.value
        if isinstance(value, list):  # a choice in a tree of choices is the list of those on the way to it
            value = " / ".join(map(str, value))
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        return f"{name}: {value}" if name else str(value)

    def overtext(self, note: Note) -> dict[str, Any]:
        """Make an overtext of a note."""
        tags = {"tags": [note.source]} if self.tells_sources_of_notes and note.source else {}
        return {"comment": note.text} | tags


# ---- brat ------------------------------------------------------------------------------------------------


_BRAT_LINE = "expected an id, a tab, a label without spaces, its offsets, a tab and the text"


class _Brat:
    """The annotations in a file of brat, by their ids."""

    def __init__(self, text: str, left_out: Counter[str]) -> None:
        self.labels: dict[str, str] = {}
        self.places: dict[str, Place] = {}
        self.members: dict[str, list[tuple[str, str]]] = {}
        self.attributes: dict[str, list[Label]] = {}
        self.notes: dict[str, list[Note]] = {}
        self.others: set[str] = set()  # the ids of relations, normalizations and attributes
        self.left_out = left_out
        self.lines = 0
        for number, line in enumerate(text.split("\n" if "\n" in text else "\r"), 1):
            key, _, rest = line.rstrip("\r").partition("\t")
            head, _, tail = rest.partition("\t")
            if not line.strip():
                continue
            self.lines += 1
            # brat itself has written the same id twice: then both stay, and others refer to the first one.
            own = key if key != "*" and key not in self.labels else f"{key} {number}"
            try:
                self._add(own, head, tail)
            except FAULTS as problem:
                told = _BRAT_LINE if isinstance(problem, ValueError) else _told(problem)
                raise ValueError(f"line {number}: {told}, found {line!r:.60}") from None
        for kind, said in (("attributes", self.attributes), ("notes", self.notes)):
            for target, values in said.items():
                if target not in self.labels and target not in self.others:
                    raise ValueError(f"{kind} of {target}, which is not there")
                if target not in self.labels:
                    left_out[f"{kind} of relations and the like"] += len(values)

    def _add(self, key: str, head: str, tail: str) -> None:
        """Add a line: its id, and the two fields after it."""
        match key[0]:
            case "T":
                self.labels[key], _, ends = head.partition(" ")
                pairs = [span.split() for span in ends.split(";")]
                self.places[key] = Place([(int(start), int(end)) for start, end in pairs], tail or None, key)
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
                self.attributes.setdefault(target, []).append(Label(" ".join(value) or True, name))
                self.others.add(key)
            case "#":
                self.notes.setdefault(head.split()[-1], []).append(Note(tail))
            case "R" | "N":
                self.others.add(key)
                self.left_out["relations" if key[0] == "R" else "normalizations"] += 1
            case _:
                raise ValueError("no annotation of brat begins so")

    def marks(self) -> Iterator[Mark]:
        """Make a mark of each event, each Equiv set, and each other span.

        The trigger of an event and the spans of an Equiv set belong to those marks and have none of their own.
        """
        parts = {target for members in self.members.values() for role, target in members if not role}
        told = set[str]()
        for key, label in self.labels.items():
            if key not in parts:
                spans = [Span(self.places[key])] if key in self.places else self._of_members(key)
                labels = [Label(label), *self.attributes.get(key, [])]
                members = {key, *(target for role, target in self.members.get(key, []) if not role)} - told
                lines = sum(1 + len(self.attributes.get(m, [])) + len(self.notes.get(m, [])) for m in members)
                told |= members
                yield Mark(labels, spans, self.notes.get(key, []), lines)

    def _of_members(self, key: str) -> list[Span]:
        """The places of an event or an Equiv set."""
        spans = []
        for role, target in self.members[key]:
            # An argument that is itself an event stands where the trigger of that event is.
            trigger = self.members[target][0][1] if target in self.members else target
            if role:  # the attributes and notes of an argument belong to the argument's own mark
                spans.append(Span(self.places[trigger], [Label(role)]))
            else:
                label = [Label(self.labels[trigger])] if key.startswith("*") else []
                labels = [*label, *self.attributes.get(target, [])]
                spans.append(Span(self.places[trigger], labels, self.notes.get(target, [])))
        return spans


def _read_brat(file: Path, export: Export) -> int:
    """Read a file of brat.

    The first folder in the export is the annotator, and the folders in it are part of the document's name. If
    there is none, the export is a folder of one annotator. The text stands beside the annotations, or under
    the document's name in the export, or in a folder above.
    """
    content = _Brat(read_text(file, export.error), export.left_out)
    *folders, _ = file.relative_to(export.folder).with_suffix("").parts
    author = folders[0] if folders else file.resolve().parent.name
    document_id = "/".join([*folders[1:], file.stem])
    above = [file.parents[level] / f"{file.stem}.txt" for level in range(len(folders) + 1)]
    places = [above[0], export.folder / f"{document_id}.txt", *above[1:]]
    text = next((place for place in places if place.is_file()), None)
    if text is None:
        raise ValueError(f"no text {file.stem}.txt; expected {export.account.shape}")
    export.account.beside.add(text)
    export.add(document_id, author, read_text(text, export.error), [*content.marks()])
    return content.lines


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


def _read_cas(file: Path, export: Export) -> int:
    """Read a UIMA CAS; the features of an annotation that are values become tags."""
    content, name, types = _parts_of_cas(file, export)
    who = Path(name).stem
    if who in _NOBODY:
        export.account.read.pop()
        export.account.left_out[f"files of {who}"] += 1
        return 0
    cas = _load_cas(content, types)
    text: str = cas.sofa_string or ""
    marks = list[Mark]()
    found = [*cas.select_all_fs()]
    everything = sum(len(view.get_all_fs()) for view in cas.views)
    export.left_out.update(
        {"annotations of other views": everything - len(found)} if len(cas.views) > 1 else {}
    )
    for structure in found:
        kind = structure.type.name
        layer = kind.rpartition(".")[2]
        features = {feature.name for feature in structure.type.all_features}
        if _RECORDS.match(kind) or "sofa" not in features:  # only annotations say to which text they belong
            export.left_out[layer] += 1
        elif features >= _ENDS_OF_RELATION:
            export.left_out[f"relations of {layer}"] += 1
        else:
            labels, links = _labels_of(structure, sorted(features - _PLACE), layer)
            if links:
                export.account.details[f"links of {layer}"] += links
            # An annotation of the whole document has no place.
            spans = []
            if "begin" in features:
                ends = structure.begin, structure.end
                spans = [Span(Place([ends], text[slice(*ends)], f"{layer} {len(marks) + 1}"))]
            marks.append(Mark(labels or [Label(True, layer)], spans))
    # In an unpacked project, the folder "annotation" has one folder for each document.
    parts = (export.folder.name, *file.relative_to(export.folder).parts)
    document_id = parts[parts.index("annotation") + 1] if "annotation" in parts[:-2] else file.parent.name
    export.add(document_id, who, text, marks)
    return everything


def _parts_of_cas(file: Path, export: Export) -> tuple[bytes, str, bytes | None]:
    """The content of a CAS, the name of its file, and the type system of XMI, or None if there is none."""
    if file.suffix != ".zip":
        places = (folder / "TypeSystem.xml" for folder in file.parents[:3])
        beside = [path for path in places if path.is_file()][: 1 if file.suffix == ".xmi" else 0]
        types = next(map(read_bytes, beside), None)
        export.account.beside.update(beside)
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
        if re.match(rb"<\?xml[^>]*version=.1\.1", content):
            told = "XML 1.1 with control characters, which is not read; export the format UIMA CAS JSON"
            raise ValueError(told) from None
        raise ValueError(_told(problem)) from None


def _labels_of(annotation: Any, features: Sequence[str], layer: str) -> tuple[list[Label], int]:
    """The values of an annotation's features, and how many features link to something else."""
    labels = []
    links = 0
    for name in features:
        value = getattr(annotation, name)
        values = value if isinstance(value, list) else getattr(value, "elements", None)
        for each in [value] if values is None else values:
            if each is None or each is False or each == "":
                continue
            if isinstance(each, str | int | float):
                labels.append(Label(each, name, layer))
            else:
                links += 1
    return labels, links


# ---- Label Studio ----------------------------------------------------------------------------------------

# What can be said about a region of text, or about a whole task. Other types are regions of something else.
_SAID = ("labels", "choices", "taxonomy", "rating", "number", "datetime", "textarea")
_ADDRESS = re.compile(r"\s*(\w+:/)?/\S+\s*")  # as Label Studio has it in place of a text that is elsewhere

_NUMBERS = "predictions of which only numbers are exported, unless its API is given predictions.only_id=false"

Result = Mapping[str, Any]


class _Task(NamedTuple):
    """A task with those results of its annotations that count."""

    task_id: str
    data: Mapping[str, Any]
    results: dict[str, list[Result]]  # by author


def _read_label_studio(file: Path, export: Export) -> int:
    """Read the annotations and the first prediction of each task in a JSON export of Label Studio.

    A task can show several texts. Then each of them is a document.
    """
    tasks = list[_Task]()
    models = set[str]()
    found = 0
    content = parse_json(read_bytes(file))
    for number, task in enumerate([content] if isinstance(content, dict) else content, 1):
        if not _is_task(task):
            refuse_foreign(export.folder, [file], export.error)
            told = f"expected tasks with annotations, found none in task {number}"
            own = "; of podium's own form, give a file for each document"
            raise export.error(f"{export.account.read[-1].name}: {told}{own}")
        with _faults_of(task.get("id", number)):
            models |= {str(prediction.get("model_version")) for prediction in _predictions(task)[:1]}
            whole = [*(task.get("annotations") or []), *_predictions(task), *(task.get("drafts") or [])]
            found += sum(len(each.get("result") or []) for each in whole)
            by_author = _results_by_author(task, export)
            tasks.append(_Task(str(task["id"]), dict(_flat(task["data"])), by_author))
    if twice := [key for key, number in Counter(task.task_id for task in tasks).items() if number > 1]:
        raise ValueError(f"two tasks with the id {listed(twice)}")
    if len(models) > 1:
        names = listed(sorted(models))
        told = f"the first prediction of each task counts, and these are of several models: {names}"
        warnings.warn(told, stacklevel=3)
    keys = _keys_of_texts([task for task in tasks if task.results])
    for task in tasks:
        for shown, key in keys.items():
            with _faults_of(task.task_id):
                document_id = task.task_id if len(keys) == 1 else f"{task.task_id}/{shown}"
                for author, results in task.results.items():
                    if not isinstance(task.data.get(key), str):
                        raise ValueError(f"no text under {key!r} in its data")
                    marks = _marks([each for each in results if _shown(each) == shown])
                    export.add(document_id, author, task.data[key], marks)
    return found


def _read_of_one_annotator(file: Path, export: Export) -> int:
    """Read one of several exports of Label Studio: the project of one annotator, whose name is the file's.

    The projects have ids of their own, so their documents are those with the same text.
    """
    present = FileRead(export.account.read[-1].name)
    own = Export(export.folder, export.error, account=Account([present], details=export.account.details))
    found = _read_label_studio(file, own)
    export.left_out.update(own.left_out)
    known: dict[str, list[str]] = {}
    for document_id, text in export.texts.items():
        known.setdefault(text, []).append(document_id)
    for document_id, by_author in own.marks.items():
        text = own.texts[document_id]
        annotators = [author for author in by_author if author != ALGORITHM]
        if len(annotators) > 1:
            raise ValueError(f"task {document_id}: expected one annotator a file, found {listed(annotators)}")
        joined = f"{file.stem}/{document_id}" if document_id in export.texts else document_id
        if known.get(text):
            joined = known[text].pop(0)
        for author, marks in by_author.items():
            export.add(joined, author if author == ALGORITHM else file.stem, text, marks)
    return found


_LABEL_STUDIO = Tool(
    _read_label_studio, "tasks with annotations by two people, or a folder with an export of each annotator"
)


def _flat(data: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """The values of data that may be nested, under their paths, such as doc.text."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{within}{key}.")
        else:
            yield f"{within}{key}", value


def _is_task(task: Any) -> bool:
    """Whether this is a task as Label Studio exports it, with annotations, predictions or both."""
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        return False
    return isinstance(task.get("annotations"), list) or bool(_predictions(task))


@contextmanager
def _faults_of(task: Any) -> Iterator[None]:
    """Name the task in which something is wrong."""
    try:
        yield
    except FAULTS as problem:
        raise ValueError(f"task {task}: {_told(problem)}") from None


def _results_by_author(task: Mapping[str, Any], export: Export) -> dict[str, list[Result]]:
    """Read what each author says in a task; of several annotations by one author the last one counts."""
    by_author: dict[str, Mapping[str, Any]] = {}

    def leave_out(kind: str, *whole: Mapping[str, Any]) -> None:
        export.account.details.update({kind: len(whole)} if whole else {})
        if results := sum(len(each.get("result") or []) for each in whole):
            export.left_out[f"annotations in {kind}"] += results

    # An annotation without a date comes first, and the order in the file decides among equal dates.
    annotations = sorted(enumerate(task.get("annotations") or []), key=lambda each: _time_of(each[1]))
    for number, annotation in annotations:
        if annotation.get("was_cancelled"):
            leave_out("skipped tasks", annotation)
            continue
        name = _name_of_annotator(annotation, number)
        if annotation.get("ground_truth"):
            export.truths.append(f"task {task['id']} by {name}")
        if name in by_author:
            leave_out(f"earlier versions by {name}", by_author[name])
        by_author[name] = annotation
    predictions = _predictions(task)
    leave_out("further predictions", *predictions[1:])
    leave_out(_NUMBERS, *[{}] * (len(task.get("predictions") or []) - len(predictions)))
    leave_out("drafts", *(task.get("drafts") or []))
    leave_out("tasks without annotations", *([] if annotations or predictions else [{}]))
    if predictions:
        by_author[ALGORITHM] = predictions[0]
    return {name: _about_text(annotation["result"], export) for name, annotation in by_author.items()}


def _predictions(task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The predictions of a task; an export may have only their numbers."""
    return [prediction for prediction in task.get("predictions") or [] if isinstance(prediction, Mapping)]


def _time_of(annotation: Mapping[str, Any]) -> float:
    """When an annotation was last changed, in seconds, whatever its time zone; the earliest time if unknown."""
    try:
        time = datetime.datetime.fromisoformat(str(annotation.get("updated_at")))
    except ValueError:
        return -math.inf
    return time.replace(tzinfo=time.tzinfo or datetime.UTC).timestamp()


def _name_of_annotator(annotation: Mapping[str, Any], number: int) -> str:
    """The name of who made an annotation; where nobody is named, that of the annotation itself."""
    who = annotation.get("completed_by")
    if isinstance(who, Mapping):
        who = who.get("email") or who.get("id")
    if who is None:
        who = annotation.get("id", f"number {number + 1}")
    return f"annotator {who}"


def _about_text(results: Iterable[Result], export: Export) -> list[Result]:
    """The results without relations; a ValueError names one that is not about text."""
    kept = []
    for result in results:
        kind = result["type"]
        if kind == "relation":
            export.left_out["relations"] += 1
            continue
        if kind not in _SAID or "channel" in result["value"]:
            raise ValueError(f"a result of type {kind}, which is not about text")
        if result.get("parentID"):
            export.account.details["parents of regions"] += 1
        kept.append(result)
    return kept


def _shown(result: Result) -> str:
    """The name of what Label Studio shows, such as a text, that a result is about."""
    return str(result.get("to_name") or "text")


def _keys_of_texts(tasks: Sequence[_Task]) -> dict[str, str]:
    """For each text that the tasks show, the key that it has in their data.

    An export does not say this key. It is the one under which most of what regions quote is true, among
    several the one that is called like what is shown, then "text", then the one with the longest texts.
    """
    quoted: dict[str, list[tuple[Result, Place]]] = {}
    for task in tasks:
        for result in (result for results in task.results.values() for result in results):
            of_shown = quoted.setdefault(_shown(result), [])
            if "start" in result["value"]:
                of_shown.append((task.data, _place(result)))
    keys = {key for task in tasks for key, value in task.data.items() if isinstance(value, str)}
    if tasks and not keys:
        raise ValueError(f"task {tasks[0].task_id}: no text in its data")
    if tasks and not quoted:
        quoted["text"] = []
    return {shown: _key_of_text(shown, places, keys, tasks) for shown, places in quoted.items()}


def _key_of_text(
    shown: str, places: Sequence[tuple[Result, Place]], keys: Collection[str], tasks: Sequence[_Task]
) -> str:
    """The best key of a text that the tasks show; a ValueError if they have addresses there."""
    read = functools.lru_cache(16)(AnnotatedText)  # many places in a row are in the same text
    texts = {key: [str(task.data.get(key, "")) for task in tasks] for key in keys}

    def true(key: str) -> int:
        return sum(read(str(data.get(key, ""))).quotes(place) for data, place in places)

    def worth(key: str) -> tuple[int, bool, bool, int, str]:
        return true(key) if len(keys) > 1 else 0, key == shown, key == "text", sum(map(len, texts[key])), key

    best = max(keys, key=worth)
    if all(map(_ADDRESS.fullmatch, texts[best])) and not true(best):
        raise ValueError(
            f"addresses such as {texts[best][0]!r:.60} in place of texts. Import the texts into Label Studio, "
            "or put them into the data of the exported tasks"
        )
    return best


def _place(result: Result) -> Place:
    """The place of a region, whose offsets must be whole numbers."""
    value = result["value"]
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
    said = None if result["type"] == "textarea" else value.get("text")  # a note has its own text there
    return Place(
        [(int(start), int(end))],
        said if isinstance(said, str) else None,
        f"region {result.get('id', '')}".strip(),
    )


def _marks(results: Iterable[Result]) -> list[Mark]:
    """A mark for each region, and for each thing that is said about the whole task.

    The results with the same id are about the same region, unless they stand at other places. Texts become
    notes, and everything else labels.
    """
    marks: dict[Any, Mark] = {}
    for number, result in enumerate(results):
        place = _place(result) if "start" in result["value"] else None
        own = result.get("id") or number
        same = [key for key in marks if key[0] == own and (place is None or key[1] in (None, *place.ends))]
        key = same[0] if same else (own, None if place is None else place.ends[0])
        mark = marks.setdefault(key, Mark(annotations=0))
        mark.annotations += 1
        if place is not None and (place.quote is not None or not mark.spans):
            mark.spans = [Span(place)]
        kind, value, control = result["type"], result["value"], str(result.get("from_name") or "")
        said = value.get("text" if kind == "textarea" else kind, [])
        for each in said if isinstance(said, list) else [said]:
            if kind == "textarea":
                mark.notes.append(Note(str(each), control))
            else:
                mark.labels.append(Label(each, "", control) if kind == "labels" else Label(each, control))
        written = (result.get("meta") or {}).get("text") or []  # the same in all results of a region
        notes = [Note(str(each)) for each in (written if isinstance(written, list) else [written])]
        mark.notes += [note for note in notes if note not in mark.notes]
    return list(marks.values())
