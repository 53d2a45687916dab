"""Read and write the files of the two markup metrics: JSON documents, and single markups."""

import difflib
import json
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from podium.common.errors import AccountWarning, HostError, SubmissionRejected, ToolError, UsageError
from podium.common.wording import counted, listed
from podium.contest.reading import PARTLY, READ, SHAPE, with_account
from podium.metric.contract import PreparedSolution, ScoredSubmission
from podium.tables.files import parse_json, read_text
from podium.tables.names import of_column
from podium.tables.offsets import BYTE_ORDER_MARK, AnnotatedText, Place

ALGORITHM = "algorithm"
ENDINGS = (".json", ".json.gz")  # of files of one document each
HIDDEN, SETTINGS = "hidden files", "settings of the tool"  # what everybody expects to be left out
# Under which keys a markup may name its expert.
EXPERT_NAMES = ("expert", "annotator", "user", "name", "completed_by", "id")
ANNOTATIONS = ("elements", "selections")  # under which keys a markup has its annotations
MARKUP_KEYS = (*ANNOTATIONS, "criteria", "criterias", "isExpert", "third", "text", *EXPERT_NAMES)
ROWS = "rows"  # where a table of markups has the `RowsOfSpans` of the spans that it was made of
DOCUMENT_KEYS = (*MARKUP_KEYS, "document_id", "subject", "meta", "markups", "markup")
EXPECTED: dict[type, str] = {dict: "an object", list: "a list", str: "text"}


class RowsOfSpans(dict[tuple[Any, ...], int]):
    """The row of a table of spans, by its document, its place and its quote."""

    def __deepcopy__(self, memo: Any) -> "RowsOfSpans":
        return self  # as pandas copies the attributes of a table with every step


@dataclass
class FileRead:
    """What was found in a file, and what became of it."""

    name: Path  # below the folder that the user gave, with that folder's name
    found: int = 0  # its annotations, counted before they are read
    kept: int = 0  # those of them that are in the table
    left_out: Counter[str] = field(default_factory=Counter)  # the others, by their kinds


@dataclass
class Account:
    """What was found in files, and what became of it: nothing is passed over without a word."""

    read: list[FileRead] = field(default_factory=list)
    beside: set[Path] = field(default_factory=set)  # the texts and type systems that are read with these files
    left_out: Counter[str] = field(default_factory=Counter)  # files, by their kinds
    details: Counter[str] = field(default_factory=Counter)  # what is neither a file nor an annotation, by kind
    shape: str = ""  # what files should be like in which experts meet

    def close(self, file: FileRead) -> None:
        """Count whatever a reader has passed over without a word."""
        if rest := file.found - file.kept - file.left_out.total():
            file.left_out["annotations without a place in a markup"] += rest

    def line(self, documents: pd.DataFrame, where: str) -> str:
        """Say in one line what was read into a table of documents, and what was left out by its kind."""
        left_out = sum((file.left_out for file in self.read), self.left_out + self.details)
        kinds = [f"{kind} ({number:,})" for kind, number in sorted(left_out.items())]
        more = f"; left out: {', '.join(kinds)}" if kinds else ""
        return f"Read: {_contents(documents)} in {where}{more}"

    def tell(self, documents: pd.DataFrame) -> pd.DataFrame:
        """Let a table of documents say what was read, and warn if something was left out."""
        beside = f", with {counted(len(self.beside), 'file')} beside them" if self.beside else ""
        told = self.line(documents, counted(len(self.read), "file") + beside)
        if (
            self.details
            or self.left_out.keys() - {HIDDEN, SETTINGS}
            or any(file.left_out for file in self.read)
        ):
            warnings.warn(told, AccountWarning, stacklevel=3)
            documents.attrs[PARTLY] = True
        return accounted(documents, told, self.shape)


def accounted(table: pd.DataFrame, told: str, shape: str) -> pd.DataFrame:
    """Let a table say what was read, and what files should be like if no document has two experts."""
    table.attrs[READ] = told
    if "markups" in table and all(len(parse_json(cell)) < 2 for cell in table["markups"]):
        table.attrs[SHAPE] = shape
    return table


def without_tags(number: int) -> str:
    """Say that nothing that was read has a tag, so that experts agree on whatever they marked."""
    return (
        f"no tag in {counted(number, 'annotation')}, so only places are compared: is the column or the control "
        "of the labels missing, or was a file read with another separator?"
    )


def account_of(table: pd.DataFrame) -> str:
    """What a table of markups says of how it was read, or what is in it."""
    if READ in table.attrs:
        return str(table.attrs[READ])
    account = Account()
    for markup in _markups(table):
        account.details.update(_unknown(markup, MARKUP_KEYS))
    return account.line(table, "a table")


def _markups(table: pd.DataFrame, columns: Sequence[str] = ("markups", "markup")) -> Iterator[dict[str, Any]]:
    for column in columns:
        for cell in table[column].dropna() if column in table else ():
            yield from _markups_in(cell)


def _markups_in(cell: Any) -> Iterator[dict[str, Any]]:
    """The markups in a cell; what is no markup is refused elsewhere."""
    with suppress(ValueError, TypeError):
        value = parse_json(cell)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                yield each


def _annotations(value: Any) -> int:
    """The number of annotations in a value from JSON, at whatever place."""
    if isinstance(value, list):
        return sum(map(_annotations, value))
    if not isinstance(value, dict):
        return 0
    return _own(value) + sum(_annotations(each) for key, each in value.items() if key not in ANNOTATIONS)


def _own(markup: Mapping[str, Any]) -> int:
    """The number of annotations that a markup itself has."""
    return sum(len(each) for key in ANNOTATIONS if isinstance(each := markup.get(key), list))


def _contents(table: pd.DataFrame) -> str:
    """Say what a table of markups has: experts, documents and annotations."""
    documents = counted(len(table), "document")
    of_algorithm = sum(map(_own, _markups(table, ["markup"])))
    if "markups" not in table:
        return f"{documents}, {counted(of_algorithm, 'annotation')}"
    names, annotations = set[str](), 0
    for cell in table["markups"]:
        for number, markup in enumerate(parse_json(cell), 1):
            names.add(name_in(markup) or f"expert {number}")
            annotations += _own(markup)
    experts = f"{counted(len(names), 'expert')} ({listed(sorted(names))})" if names else "no expert"
    told = f"{experts}, {documents}, {counted(annotations, 'annotation')}"
    has_algorithm = "markup" in table and table["markup"].notna().any()
    return told + (f", {counted(of_algorithm, 'annotation')} of the algorithm" if has_algorithm else "")


SHAPE_OF_DOCUMENTS = (
    "a file for each document, with the markups of its experts; or for each markup, with meta.id"
)
SHAPE_OF_TABLE = "a row for each document, with a list of the markups of its experts"


def read_folder(path: str | Path, error: type[ToolError], account: Account | None = None) -> pd.DataFrame:
    """Read the documents in a JSON file, or in the JSON files of a folder and its sub-folders."""
    path = Path(path)
    found, hidden = visible_files(path)
    files = [file for file in found if file.name.lower().endswith(ENDINGS)] if path.is_dir() else found
    if not files:
        raise error(f"{path}: expected files named *.json, found none")
    account = account or Account()
    account.left_out, account.shape = hidden, SHAPE_OF_DOCUMENTS
    others = {*found}.difference(files)
    account.left_out.update(f"files {file.suffix or file.name}" for file in others)
    named = ((file, file.relative_to(path.parent)) for file in files)
    contents = ((name, _read_json(file, name, error)) for file, name in named)
    return account.tell(read_documents(contents, error, account))


def visible_files(path: Path) -> tuple[list[Path], Counter[str]]:
    """The files below a folder, or the file itself, without hidden ones, which are counted.

    Editors, notebooks and systems leave copies and records in hidden folders and files.
    """
    if not path.is_dir():
        return [path], Counter()
    visible, hidden = list[Path](), Counter[str]()
    for file in sorted(path.rglob("*")):
        if any(part.startswith((".", "__MACOSX")) for part in file.relative_to(path).parts):
            hidden[HIDDEN] += file.is_file()
        elif file.suffix == ".json" or not file.is_dir():
            visible.append(file)
    return visible, +hidden


def name_in(markup: Mapping[str, Any]) -> str:
    """The name that a markup gives to its expert, without outer spaces; empty if there is none."""
    for key in EXPERT_NAMES:
        value = markup.get(key)
        if isinstance(value, Mapping):  # as Label Studio says who completed a task
            value = value.get("email", value.get("id"))
        if value is not None and str(value).strip():
            return unicodedata.normalize("NFC", str(value).strip())
    return ""


def _read_json(file: Path, name: Path, error: type[ToolError]) -> Any:
    """The value that a file holds in JSON; messages say its name."""
    try:
        return parse_json(read_text(file, error, "cp1251"))  # as some of the organizers' files are
    except UnicodeDecodeError:
        raise error(f"{name}: expected text in UTF-8 or CP1251") from None
    except ValueError as problem:
        raise error(f"{name}: expected JSON, found a fault: {problem}") from None


def read_documents(
    contents: Iterable[tuple[Path, Any]], error: type[ToolError], account: Account | None = None
) -> pd.DataFrame:
    """Collect the markups in JSON files by document.

    A file can have three forms. The first is a document ``{"id": …, "text": …, "markups": […], "markup":
    {…}}`` with the markups of the experts and of the algorithm. The second is ``{"essay": {…}}`` around such a
    document. The third is a single markup. The key ``isExpert`` says whether a markup is an expert's, else
    ``meta.expert`` does. If neither is there, the markup is the algorithm's when a submission is read. When a
    solution is read, it is taken for an expert's, and a warning says so.
    """
    documents: dict[str, dict[str, Any]] = {}
    unsaid: list[str] = []
    account = account or Account()
    for file, content in contents:
        read = FileRead(file, found=_annotations(content))
        try:
            if not _gather(content, read, error is not SubmissionRejected, documents, account.details):
                unsaid.append(str(file))
        except ValueError as fault:
            raise error(f"{file}: {fault}") from None
        account.read.append(read)
        account.close(read)
    if unsaid and error is not SubmissionRejected:
        warnings.warn(
            "files without meta.expert were taken for experts' markups: "
            f"{listed(unsaid)} ({counted(len(unsaid), 'file')})",
            stacklevel=2,
        )
    rows = []
    for document_id, document in sorted(documents.items()):
        for name, what in (("subject", "subject"), ("text", "text"), ("algorithm", "markup of the algorithm")):
            if len(document[name]) > 1:
                number = len(document[name])
                raise error(f"document {document_id!r}: expected one {what}, found {number} in its files")
        subject, text, markup = (next(iter(document[name]), None) for name in ("subject", "text", "algorithm"))
        rows.append((document_id, subject, text, _dump(document["expert"]), _dump(markup)))
    columns = ["document_id", "subject", "text", "markups", "markup"]
    return placed(pd.DataFrame(rows, columns=columns, dtype=object), error)


def from_table(table: pd.DataFrame) -> pd.DataFrame:
    """A table of markups that says what is in it, if they are the experts', and contradicts no text."""
    if "markups" not in table:
        return table
    table = placed(table, HostError)
    with suppress(ValueError, TypeError, AttributeError):  # the metric says what is wrong
        table = accounted(table, account_of(table), SHAPE_OF_TABLE)
    return table


def placed(table: pd.DataFrame, error: type[ToolError], ids: str = "") -> pd.DataFrame:
    """A table of markups, with ids in its first column or another, whose fragments stand where they quote.

    An expert may count from 1, in units of UTF-16, or with ends that belong to a span; a warning says so. A
    quote that stands at its place in no way of counting is refused.
    """
    if "text" not in table:
        return table
    columns = [column for column in ("markups", "markup") if column in table]
    told: Counter[str] = Counter()
    rows = table.to_dict("records")
    for row in rows:
        if isinstance(row["text"], str):
            name = row[ids or table.columns[0]]
            for column in columns:
                row[column] = _placed(row[column], row["text"], partial(_where, table, name), error, told)
    if told:
        kinds = "; ".join(f"{what} in {counted(number, 'document')}" for what, number in sorted(told.items()))
        warnings.warn(f"by what the spans quote, positions are counted {kinds}", stacklevel=3)
    return table.assign(**{column: [row[column] for row in rows] for column in columns})


def _where(table: pd.DataFrame, name: str, place: Place) -> str:
    """Name a document, and the row of a table of spans that has a place."""
    row = table.attrs.get(ROWS, {}).get((name, place.ends[0], place.quote))
    return f"document {name!r}" if row is None else f"the spans: row {row} (document {name!r})"


def _placed(
    cell: Any, text: str, where: Callable[[Place], str], error: type[ToolError], told: Counter[str]
) -> Any:
    """The cell with the markups of a document, whose fragments stand where the text has what they quote."""
    if not isinstance(cell, str):
        return cell
    try:
        value = parse_json(cell)
    except ValueError:  # which the metric tells
        return cell
    fragments = [list(_fragments(each)) for each in (value if isinstance(value, list) else [value])]
    sought, shift = AnnotatedText(text, wrote=True), int(text.startswith(BYTE_ORDER_MARK))
    places = [list(map(_place_of, own)) for own in fragments]
    try:
        found = sought.find(places)
    except ValueError:
        beyond = next(each for each in chain(*places) if each.ends[0][1] > len(text))
        (start, end), quote = beyond.ends[0], beyond.quote or ""
        within = f"expected a place within {counted(len(text), 'character')}, found {start} to {end}"
        raise error(f"{where(beyond)}: {contradiction(text, (start, end), quote) or within}") from None
    is_same = True
    for fragment, place, at in zip(chain(*fragments), chain(*places), chain(*found)):
        if not at.is_true and (fault := contradiction(text, place.ends[0], place.quote or "")):
            raise error(f"{where(place)}: {fault}")
        ends = at.ends[0][0] + shift, at.ends[0][1] + shift
        is_same = is_same and ends == place.ends[0]
        fragment["start"], fragment["end"] = ends
    told.update({each.unusual for each, own in zip(sought.chosen, places) if own and each.unusual})
    return cell if is_same else _dump(value)


def _place_of(fragment: Mapping[str, Any]) -> Place:
    """The place of a fragment, and what it quotes."""
    quote = fragment.get("text")
    ends = int(fragment["start"]), int(fragment["end"])
    return Place([ends], quote if isinstance(quote, str) and quote else None, "")


def _fragments(value: Any) -> Iterator[dict[str, Any]]:
    """The places in a value from JSON, wherever they are; most of them quote the text that they cover."""
    if isinstance(value, dict) and _is_offset(value.get("start")) and _is_offset(value.get("end")):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _fragments(each)


def _is_offset(value: Any) -> bool:
    """Whether a value from JSON is a whole number of at least 0."""
    return isinstance(value, int | float) and value >= 0 and (isinstance(value, int) or value.is_integer())


def contradiction(text: str, place: tuple[int, int], quote: str) -> str | None:
    """Say what stands at a place instead of the text that is quoted there; None if it is this text."""
    found = text[slice(*place)]
    if quote in ("", found):
        return None
    return f"expected the text {quote!r:.60} from {place[0]} to {place[1]}, found {found!r:.60}"


def _dump(value: Any) -> str | None:
    """A value as JSON; None stays None."""
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _gather(
    content: Any, read: FileRead, is_experts: bool, documents: dict[str, dict[str, Any]], unknown: Counter[str]
) -> bool:
    """Add a file's content to its document, and count the keys that are not known.

    The result is False if the file has a single markup and does not say whose it is; then `is_experts` decides.
    """
    content = _expect(content, dict, "the file")
    content = _expect(content.get("essay", content), dict, "essay")
    meta = _expect({} if content.get("meta") is None else content["meta"], dict, "meta")
    ids = (content.get("id"), content.get("document_id"), meta.get("id"))
    stem = read.name.name.removesuffix(".gz").removesuffix(".json")
    document_id = next((str(value) for value in ids if value not in (None, "")), stem)
    document_id = unicodedata.normalize("NFC", document_id)
    empty: dict[str, Any] = {"subject": set(), "text": set(), "expert": [], "algorithm": []}
    document = documents.setdefault(document_id, empty)
    about = {"subject": content.get("subject", meta.get("subject")), "text": content.get("text")}
    for key, value in about.items():
        if value is not None:
            document[key].add(_expect(value, str, key))
    unknown.update(_unknown(content, DOCUMENT_KEYS))

    def add(markup: Mapping[str, Any], is_experts: bool) -> None:
        grades = {"criteria": markup["criterias"]} if "criterias" in markup else {}
        kept = {name: value for name, value in markup.items() if name not in ("text", "criterias")}
        document["expert" if is_experts else "algorithm"].append(grades | kept)
        read.kept += _own(kept)

    if "elements" in content or "selections" in content:
        named = {"expert": meta["expert"]} if meta.get("expert") else {}
        own = {key: value for key, value in content.items() if key != "id"}  # which is the document's
        add(own | named, bool(content.get("isExpert", meta.get("expert", is_experts))))
        return "isExpert" in content or "expert" in meta
    if "markups" not in content and "markup" not in content:
        raise ValueError("expected a document with markups, an essay, or a markup with elements or selections")
    markups = [] if content.get("markups") is None else content["markups"]
    for markup in _expect(markups, list, "markups"):
        add(markup, _expect(markup, dict, "a markup").get("isExpert", True))
        unknown.update(_unknown(markup, MARKUP_KEYS))
    if content.get("markup") is not None:
        add(_expect(content["markup"], dict, "markup"), False)
        unknown.update(_unknown(content["markup"], MARKUP_KEYS))
    return True


def _unknown(holder: Mapping[str, Any], known: Sequence[str]) -> Iterator[str]:
    """Name the keys that are not known, with the nearest one that is."""
    for key in set(holder).difference(known):
        near = difflib.get_close_matches(key.casefold(), known, 1, 0.75)
        yield f"the key {key!r:.40}" + (f", which is not {near[0]!r}" if near else "")


def _expect(value: Any, kind: type, what: str) -> Any:
    """The value, which must be of this kind; else a ValueError."""
    if not isinstance(value, kind):
        found = "null" if value is None else EXPECTED.get(type(value), "a number, true or false")
        raise ValueError(f"expected {EXPECTED[kind]} as {what}, found {found}")
    return value


def experts_of(documents: pd.DataFrame) -> pd.DataFrame:
    """Turn documents into a solution, which needs markups of experts."""
    if (documents["markups"] == "[]").all():
        raise HostError(with_account("expected documents with markups of experts", documents))
    solution = documents.drop(columns="markup")
    return solution.drop(columns="text") if solution["text"].isna().any() else solution


def add_texts(table: pd.DataFrame, texts: pd.DataFrame) -> pd.DataFrame:
    """Compare a table of markups with the texts of its documents; a solution gets them as a column."""
    names_of_ids = ("document_id", "id", *table.columns.drop("text", errors="ignore"))
    id_column = next((name for name in names_of_ids if name in texts), None)
    if id_column is None or "text" not in texts:
        found = listed([*map(of_column, texts)], 12)
        raise UsageError(f"the texts: expected the columns document_id and text, found {found}")
    names = texts[id_column].astype(str)
    twice = names[names.duplicated() & ~texts.duplicated([id_column, "text"])].tolist()
    if twice:
        raise UsageError(f"the texts: expected one text of each document, found others of {listed(twice)}")
    known = dict(zip(names, texts["text"]))
    own = next(name for name in (id_column, "document_id", table.columns[0]) if name in table)
    wanted = table[own].astype(str)
    lacking = [each for each in wanted if not isinstance(known.get(each), str)]
    if lacking and "markups" in table:
        number = counted(len(lacking), "document")
        raise UsageError(f"the texts: expected every document, found none of {number}: {listed(lacking)}")
    error: type[ToolError] = HostError if "markups" in table else SubmissionRejected
    with_texts = placed(table.assign(text=wanted.map(known)), error, own)
    return with_texts if "markups" in table else with_texts.drop(columns="text")


def diagnose(solution: PreparedSolution, submission: pd.DataFrame) -> str | None:
    """Say what a submission must not have if it has the markups of experts."""
    if "markups" not in submission or "markup" in submission:
        return None
    return "these are markups of experts: a submission has one markup a document, and its spans no expert"


def leave_out(solution: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Leave out the markups of experts; the others keep their names and numbers."""
    left_out: Counter[str] = Counter()
    present = set[str]()

    def without(cell: str) -> str:
        kept = []
        for number, markup in enumerate(parse_json(cell), 1):
            name = name_in(markup) or f"expert {number}"
            present.add(name)
            if name in names:
                left_out[name] += 1
            else:
                kept.append(markup if name_in(markup) else {"expert": name} | markup)
        return json.dumps(kept, ensure_ascii=False)

    read = account_of(solution)
    table = solution.assign(markups=solution["markups"].map(without))
    for name in names:
        if name not in left_out:
            raise UsageError(f"--leave-out: expected one of {listed(sorted(present))}, found {name!r}")
    told = ", ".join(f"{name} ({counted(number, 'document')})" for name, number in sorted(left_out.items()))
    return accounted(table, f"{read}; experts left out: {told}", table.attrs.get(SHAPE, SHAPE_OF_TABLE))


def algorithms_of(documents: pd.DataFrame) -> pd.DataFrame:
    """Turn documents into a submission."""
    lacking = documents.loc[documents["markup"].isna(), "document_id"].tolist()
    if lacking:
        number = counted(len(lacking), "document")
        told = f"expected the algorithm's markup of every document, found none for {number}: {listed(lacking)}"
        raise SubmissionRejected(f"{told}. {account_of(documents)}")
    return documents[["document_id", "markup"]]


def texts(evaluation: ScoredSubmission, path: Path | None = None) -> dict[str, str]:
    """Collect the texts of the documents, for the report."""
    frame, row_id = evaluation.solution.frame, evaluation.solution.arguments["row_id_column_name"]
    if path is not None:
        frame, row_id = read_folder(path, UsageError), "document_id"
    if "text" not in frame:
        return {}
    pairs = zip(frame[row_id].astype(str).tolist(), frame["text"].tolist())
    return {document_id: text for document_id, text in pairs if isinstance(text, str)}
