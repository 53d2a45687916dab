"""Markups as a table of spans, one row for each: the form that every annotation tool can be brought into.

The columns are ``document_id``, ``expert`` (absent in a submission), ``start`` and ``end`` (characters from 0,
the end exclusive), ``tag`` (several are separated by a bar), and optionally ``element``, ``text`` and
``comment``. Spans of one expert with the same ``element`` are fragments of one element. Without an
``element``, a span is an element of its own. A row without ``start`` says that the expert looked at the
document and marked nothing, or something about the whole document if it has a tag or a comment.
"""

import ast
import json
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import pandas as pd

from podium.common.errors import HostError, SubmissionRejected, ToolError
from podium.common.wording import counted, listed
from podium.contest.reading import SHAPE
from podium.markups.files import ROWS, Account, RowsOfSpans, accounted, placed, without_tags
from podium.tables.frames import as_frame
from podium.tables.names import of_column

SEPARATOR = "|"  # between the tags of a span
PLACE = ("start", "end")
NAMED = ("document_id", *PLACE, "tag")
TEXTS = ("document_id", "expert", "tag", "element", "text", "comment")
ALSO = {"annotator": "expert", "label": "tag"}  # how others call these columns
PAGE = "see docs/how-to/markups-of-any-tool.md"
COLUMNS = ("document_id", "expert", *PLACE, "tag", "element", "text", "comment")


def is_spans(table: pd.DataFrame) -> bool:
    """Whether a table has spans, perhaps without one of their columns, and not markups."""
    has_place = any(str(name).casefold().startswith(PLACE) for name in table)  # also start_offset
    return has_place and not {"markups", "markup"} & set(table)


def from_spans(table: pd.DataFrame, texts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Turn a table of spans into the table of markups that `podium.score` takes.

    Parameters
    ----------
    table : DataFrame
        One row for each span, with the columns ``document_id``, ``start`` and ``end`` (characters of the
        document from 0, the end exclusive) and ``tag`` (several are separated by ``|``). A solution also has
        ``expert``. Three columns are optional: ``element`` (spans of an expert with the same value are
        fragments of one element), ``text`` (what stands at the place) and ``comment``. A row without a start
        says that the expert marked nothing in this document.
    texts : DataFrame, optional
        The documents, with the columns ``document_id`` and ``text``. Places are then compared with the texts.

    Returns
    -------
    DataFrame
        One row for each document: ``document_id``, ``text`` if it is known, and ``markups`` (JSON) if the spans
        have experts, else ``markup``.

    Raises
    ------
    podium.common.errors.HostError
        The table of the experts or that of the texts is wrong. The text says in which row.
    podium.common.errors.SubmissionRejected
        The table of an algorithm is wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> spans = pd.DataFrame({
    ...     "document_id": ["d1", "d1"], "expert": ["ann", "ben"], "start": [0, 0], "end": [3, 7],
    ...     "tag": ["PER", "PER|ORG"],
    ... })
    >>> print(from_spans(spans)["markups"][0].split("}, {")[1])
    "expert": "ben", "elements": [{"fragments": [{"start": 0, "end": 7}], "tags": ["PER", "ORG"]}]}]
    """
    table = as_frame(table, "from_spans: table")
    texts = None if texts is None else as_frame(texts, "from_spans: texts")
    table = table.rename(columns={old: new for old, new in ALSO.items() if old in table and new not in table})
    has_experts = "expert" in table
    error: type[ToolError] = HostError if has_experts else SubmissionRejected
    if unread := _check_columns(table, error):
        warnings.warn(f"columns of the spans that are not read: {listed(unread)}", stacklevel=2)
    known = None if texts is None else _texts(texts)
    documents: dict[str, dict[str, list[_Span]]] = {}
    for span in _counted(list(_read(table, known, error)), error):
        documents.setdefault(span.document_id, {}).setdefault(span.expert, []).append(span)
    rows = []
    for document_id in sorted({*documents, *(known or {})}):
        markups = [
            ({"expert": expert} if has_experts else {}) | {"elements": _elements(spans)}
            for expert, spans in documents.get(document_id, {}).items()
        ]
        if markups or has_experts:
            cell = json.dumps(markups if has_experts else markups[0], ensure_ascii=False)
            rows.append((document_id, None if known is None else known[document_id], cell))
    made = pd.DataFrame(
        rows, columns=["document_id", "text", "markups" if has_experts else "markup"], dtype=object
    )
    every = [span for experts in documents.values() for spans in experts.values() for span in spans]
    _warn_of_little(every)
    made.attrs[ROWS] = RowsOfSpans(
        {(each.document_id, each.place, each.quote or None): each.row for each in every[::-1]}
    )
    made = placed(made, error)
    made = made if has_experts and known is not None else made.drop(columns="text")
    told = Account().line(made, counted(len(table), "row"))
    made = accounted(made, told, "rows of two experts with the same document_id")
    if not has_experts:
        made.attrs[SHAPE] = f"spans of experts have the column expert; {PAGE}"
    return made


def _check_columns(table: pd.DataFrame, error: type[ToolError]) -> list[str]:
    """Refuse a table that lacks a column of spans, and list the columns that are not read."""
    unknown = [str(name) for name in table if name not in COLUMNS]
    for name in unknown:
        if name.strip().casefold() in COLUMNS:
            raise error(f"a table of spans: expected the column {name.strip().casefold()}, found {name!r:.40}")
    lacking = [name for name in NAMED if name not in table]
    if lacking:
        raise error(
            f"a table of spans: expected the columns {', '.join(COLUMNS)}; it has no {listed(lacking)}, but "
            f"{listed([*map(of_column, table)], 12)}; {PAGE}"
        )
    names = [*map(str, table)]
    for name in COLUMNS:
        if names.count(name) > 1:
            raise error(f"a table of spans: expected one column {name}, found {names.count(name)}")
    return unknown


def _warn_of_little(spans: "list[_Span]") -> None:
    """Warn of spans without a character, and if no span says anything about its place."""
    places = [span.place for span in spans if span.place is not None]
    empty = sum(start == end for start, end in places)
    if empty:
        warnings.warn(f"spans without a character: {empty:,} of {len(places):,}", stacklevel=3)
    if places and not any(span.tags or span.comment for span in spans):
        warnings.warn(without_tags(len(places)), stacklevel=3)


class _Span(NamedTuple):
    """A row of a table of spans."""

    row: int  # in the table, from 1
    document_id: str
    expert: str  # empty for an algorithm
    place: tuple[int, int] | None  # None for what is not said about a place
    tags: tuple[str, ...]
    element: str  # empty for a span that is an element of its own
    quote: str
    comment: str


def _texts(texts: pd.DataFrame) -> dict[str, str]:
    """The texts of documents by their ids."""
    lacking = [name for name in ("document_id", "text") if name not in texts]
    if lacking:
        found = listed([*map(of_column, texts)], 12)
        raise HostError(f"the texts: expected the columns document_id and text, found {found}")
    ids = [_name(value) for value in texts["document_id"]]
    twice = [document_id for document_id in dict.fromkeys(ids) if ids.count(document_id) > 1]
    if twice:
        raise HostError(f"the texts: expected each document once, found {listed(twice)} again")
    return dict(zip(ids, [value if isinstance(value, str) else "" for value in texts["text"]]))


def _read(table: pd.DataFrame, known: Mapping[str, str] | None, error: type[ToolError]) -> Iterator[_Span]:
    """Read the rows of a table of spans; a row that stands twice is one."""
    columns = {name: table[name].tolist() if name in table else [None] * len(table) for name in COLUMNS}
    seen = Counter[_Span]()
    for number, cells in enumerate(zip(*columns.values()), 1):
        row = dict(zip(columns, cells))
        document_id, quote = _name(row["document_id"]), _text(row["text"])
        where = f"the spans: row {number} (document {document_id!r})"
        if not document_id:
            raise error(f"the spans: row {number}: expected a document_id, found none")
        if "expert" in table and not _text(row["expert"]).strip():
            raise error(f"{where}: expected the name of an expert, found none")
        if known is not None and document_id not in known:
            raise error(f"{where}: expected a document of the table of texts")
        try:
            place = _place(row["start"], row["end"])
        except ValueError as fault:
            raise error(f"{where}: {fault}") from None
        element, comment = _text(row["element"]), _text(row["comment"])
        span = _Span(
            number, document_id, _name(row["expert"]), place, _tags(row["tag"]), element, quote, comment
        )
        seen[span._replace(row=0)] += 1
        if seen[span._replace(row=0)] == 1 or element:
            yield span
    again = sum(number - 1 for span, number in seen.items() if not span.element)
    if again:
        warnings.warn(f"rows that stand twice count once: {again:,} of {len(table):,}", stacklevel=3)


def _tags(cell: Any) -> tuple[str, ...]:
    """The tags of a span, separated by bars, or as a list that Python or JSON wrote."""
    text = _text(cell).strip()
    if text.startswith("[") and text.endswith("]"):
        with suppress(ValueError, SyntaxError):
            return tuple(dict.fromkeys(str(tag).strip() for tag in ast.literal_eval(text)))
    return tuple(dict.fromkeys(tag.strip() for tag in text.split(SEPARATOR) if tag.strip()))


def _counted(spans: list[_Span], error: type[ToolError]) -> Iterator[_Span]:
    """Hold the places of each expert against the lengths of what they quote.

    Where most of an expert's quotes are longer by one, the ends belong to the spans, and they are moved.
    """
    lengths = {span.row: _lengths(span) for span in spans if span.place is not None and span.quote}
    fits, with_end = Counter[str](), Counter[str]()
    for span in spans:
        if span.row in lengths and span.place is not None:
            length = span.place[1] - span.place[0]
            fits[span.expert] += length in lengths[span.row]
            with_end[span.expert] += length + 1 in lengths[span.row]
    moved = {expert for expert in with_end if with_end[expert] > fits[expert]}
    if moved:
        names = f" of {listed(sorted(moved))}" if moved != {""} else ""
        warnings.warn(f"by what the spans quote, their ends{names} belong to them", stacklevel=3)
    for span in spans:
        if span.place is not None and span.expert in moved:
            span = span._replace(place=(span.place[0], span.place[1] + 1))
        if span.place is not None and span.row in lengths:
            start, end = span.place
            if end - start not in lengths[span.row]:
                raise error(
                    f"the spans: row {span.row} (document {span.document_id!r}): expected a place of "
                    f"{len(span.quote)} characters, as {span.quote!r:.60} has, found {start} to {end}"
                )
        yield span


def _lengths(span: _Span) -> set[int]:
    """The lengths of a quote, in characters and in units of UTF-16, with each way of ending lines."""
    quotes = {span.quote, span.quote.replace("\r\n", "\n"), span.quote.replace("\r", "").replace("\n", "\r\n")}
    return {size for quote in quotes for size in (len(quote), len(quote.encode("utf-16-le", "replace")) // 2)}


def _text(value: Any) -> str:
    """A cell as text; a missing one is empty, and a whole number has no point."""
    if value is None or (not isinstance(value, str) and pd.isna(value)):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _name(value: Any) -> str:
    """A cell with the name of a document or an expert, without differences of Unicode form and outer spaces."""
    return unicodedata.normalize("NFC", _text(value).strip())


def _place(start: Any, end: Any) -> tuple[int, int] | None:
    """The place of a span, or None if the row has neither start nor end."""
    if not _text(start).strip() and not _text(end).strip():
        return None
    ends = []
    for name, value in zip(PLACE, (start, end)):
        try:
            number = float(_text(value))
        except ValueError:
            number = -1.5
        if not number.is_integer() or number < 0:
            raise ValueError(f"expected a whole number of at least 0 as {name}, found {_text(value)!r:.40}")
        ends.append(int(number))
    if ends[0] > ends[1]:
        raise ValueError(f"expected a start before the end, found {ends[0]} to {ends[1]}")
    return ends[0], ends[1]


def _elements(spans: list[_Span]) -> list[dict[str, Any]]:
    """Make the elements of a markup from the spans of one expert."""
    elements: dict[Any, list[_Span]] = {}
    for number, span in enumerate(spans):
        if span.place is not None or span.tags or span.comment:
            elements.setdefault(span.element or number, []).append(span)
    return [_element(parts) for parts in elements.values()]


def _element(parts: list[_Span]) -> dict[str, Any]:
    """Make an element of its spans.

    Tags that all of its spans have are the element's. If the spans have different ones, each keeps its own.
    """
    are_alike = len({span.tags for span in parts}) == 1
    fragments = [
        {"start": span.place[0], "end": span.place[1]}
        | ({"text": span.quote} if span.quote else {})
        | ({} if are_alike else {"tags": [*span.tags]})
        for span in parts
        if span.place is not None
    ]
    made: dict[str, Any] = {"fragments": fragments}
    if are_alike and parts[0].tags:
        made["tags"] = [*parts[0].tags]
    comments = [{"comment": span.comment} for span in parts if span.comment]
    return made | ({"overtexts": comments} if comments else {})
