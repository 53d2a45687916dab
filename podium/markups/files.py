"""Read and write the files of the two markup metrics: JSON documents, and single markups."""

import json
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from podium.contract import Evaluation
from podium.errors import SubmissionRejected, ToolError, UsageError
from podium.files import parse_json, read_text
from podium.wording import counted, listed

ALGORITHM = "algorithm"
READ = "read"  # under this name a table of documents says in its attrs what was read
# Under which keys a markup may name its expert.
EXPERT_NAMES = ("expert", "annotator", "user", "name", "completed_by", "id")
EXPECTED: dict[type, str] = {dict: "an object", list: "a list", str: "text"}


def read_folder(path: str | Path, error: type[ToolError]) -> pd.DataFrame:
    """Read the documents in a JSON file, or in the JSON files of a folder and its sub-folders."""
    path = Path(path)
    found, left_out = visible_files(path)
    files = [file for file in found if file.name.endswith((".json", ".json.gz"))] if path.is_dir() else found
    if not files:
        raise error(f"{path}: expected files named *.json, found none")
    left_out.update({f"files {file.suffix or file.name}": 1 for file in found if file not in files})
    named = ((file, file.relative_to(path.parent)) for file in files)
    documents = read_documents(((name, _read_json(file, name, error)) for file, name in named), error)
    documents.attrs[READ] = account(documents, len(files), left_out)
    return documents


def visible_files(path: Path) -> tuple[list[Path], Counter[str]]:
    """The files below a folder, or the file itself, without hidden ones, which are counted.

    Editors, notebooks and systems leave copies and records in hidden folders and files.
    """
    if not path.is_dir():
        return [path], Counter()
    files = sorted(file for file in path.rglob("*") if not file.is_dir() or file.suffix == ".json")
    parts = {file: file.relative_to(path).parts for file in files}
    hidden = [file for file in files if any(part.startswith((".", "__MACOSX")) for part in parts[file])]
    return [file for file in files if file not in hidden], Counter(
        {"hidden files": len(hidden)} if hidden else {}
    )


def account(documents: pd.DataFrame, files: int, left_out: Mapping[str, int]) -> str:
    """Say in one line what was read of how many files, and what was left out of them by its kind."""
    names, annotations = set[str](), 0
    for cell in documents["markups"]:
        for number, markup in enumerate(json.loads(cell), 1):
            names.add(name_in(markup) or f"expert {number}")
            annotations += len(markup.get("elements", markup.get("selections")) or [])
    of_algorithm = 0
    for cell in documents["markup"].dropna():
        markup = json.loads(cell)
        of_algorithm += len(markup.get("elements", markup.get("selections")) or [])
    parts = [
        f"{counted(len(names), 'expert')} ({listed(sorted(names))})" if names else "no expert",
        counted(len(documents), "document"),
        counted(annotations, "annotation"),
    ]
    if documents["markup"].notna().any():
        parts.append(f"{counted(of_algorithm, 'annotation')} of the algorithm")
    told = f"Read: {', '.join(parts)} in {counted(files, 'file')}"
    kinds = [f"{kind} ({number:,})" for kind, number in sorted(left_out.items())]
    return f"{told}; left out: {', '.join(kinds)}" if kinds else told


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


def read_documents(contents: Iterable[tuple[Path, Any]], error: type[ToolError]) -> pd.DataFrame:
    """Collect the markups in JSON files by document.

    A file can have three forms.  The first is a document ``{"id": …, "text": …, "markups": […], "markup":
    {…}}`` with the markups of the experts and of the algorithm.  The second is ``{"essay": {…}}`` around such a
    document.  The third is a single markup.  The key ``isExpert`` says whether a markup is an expert's, else
    ``meta.expert`` does.  If neither is there, the markup is the algorithm's when a submission is read.  When a
    solution is read, it is taken for an expert's, and a warning says so.
    """
    documents: dict[str, dict[str, Any]] = {}
    unsaid: list[str] = []
    for file, content in contents:
        try:
            if not _gather(content, file, error is not SubmissionRejected, documents):
                unsaid.append(file.name)
        except ValueError as fault:
            raise error(f"{file}: {fault}") from None
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
    return pd.DataFrame(rows, columns=["document_id", "subject", "text", "markups", "markup"], dtype=object)


def _dump(value: Any) -> str | None:
    """A value as JSON; None stays None."""
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _gather(content: Any, file: Path, is_experts: bool, documents: dict[str, dict[str, Any]]) -> bool:
    """Add a file's content to its document.

    The result is False if the file has a single markup and does not say whose it is; then `is_experts` decides.
    """
    content = _expect(content, dict, "the file")
    content = _expect(content.get("essay", content), dict, "essay")
    meta = _expect({} if content.get("meta") is None else content["meta"], dict, "meta")
    ids = (content.get("id"), content.get("document_id"), meta.get("id"))
    stem = file.name.removesuffix(".gz").removesuffix(".json")
    document_id = next((str(value) for value in ids if value not in (None, "")), stem)
    empty: dict[str, Any] = {"subject": set(), "text": set(), "expert": [], "algorithm": []}
    document = documents.setdefault(document_id, empty)
    about = {"subject": content.get("subject", meta.get("subject")), "text": content.get("text")}
    for key, value in about.items():
        if value is not None:
            document[key].add(_expect(value, str, key))

    def add(markup: Mapping[str, Any], is_experts: bool) -> None:
        grades = {"criteria": markup["criterias"]} if "criterias" in markup else {}
        kept = {name: value for name, value in markup.items() if name not in ("text", "criterias")}
        document["expert" if is_experts else "algorithm"].append(grades | kept)

    if "elements" in content or "selections" in content:
        named = {"expert": meta["expert"]} if meta.get("expert") else {}
        add(content | named, bool(content.get("isExpert", meta.get("expert", is_experts))))
        return "isExpert" in content or "expert" in meta
    if "markups" not in content and "markup" not in content:
        raise ValueError("expected a document with markups, an essay, or a markup with elements or selections")
    markups = [] if content.get("markups") is None else content["markups"]
    for markup in _expect(markups, list, "markups"):
        add(markup, _expect(markup, dict, "a markup").get("isExpert", True))
    if content.get("markup") is not None:
        add(_expect(content["markup"], dict, "markup"), False)
    return True


def _expect(value: Any, kind: type, what: str) -> Any:
    """The value, which must be of this kind; else a ValueError."""
    if not isinstance(value, kind):
        found = "null" if value is None else EXPECTED.get(type(value), "a number, true or false")
        raise ValueError(f"expected {EXPECTED[kind]} as {what}, found {found}")
    return value


def experts_of(documents: pd.DataFrame) -> pd.DataFrame:
    """Turn documents into a solution."""
    solution = documents.drop(columns="markup")
    return solution.drop(columns="text") if solution["text"].isna().any() else solution


def algorithms_of(documents: pd.DataFrame) -> pd.DataFrame:
    """Turn documents into a submission."""
    lacking = documents.loc[documents["markup"].isna(), "document_id"].tolist()
    if lacking:
        raise SubmissionRejected(
            "expected the algorithm's markup of every document, found none for "
            f"{counted(len(lacking), 'document')}: {listed(lacking)}"
        )
    return documents[["document_id", "markup"]]


def texts(evaluation: Evaluation, path: Path | None = None) -> dict[str, str]:
    """Collect the texts of the documents, for the report."""
    frame, row_id = evaluation.solution.frame, evaluation.solution.arguments["row_id_column_name"]
    if path is not None:
        frame, row_id = read_folder(path, UsageError), "document_id"
    if "text" not in frame:
        return {}
    pairs = zip(frame[row_id].astype(str).tolist(), frame["text"].tolist())
    return {document_id: text for document_id, text in pairs if isinstance(text, str)}
