"""Consistency of an algorithm's text markup with experts who disagree, as one file to upload to Kaggle.

Numbers in brackets are equations of the paper that ``score`` names.  The stages, in the order of the data:

    input                 (1)-(4)    read_markup
    weights               (7)        weights_in_use
    consistency           (7)        consistency, level_of
    criteria              (13)-(24)  c_accordance, c_tags, c_overtexts … c_union_of_tags
    optimal accordance    (8), (9)   best_sum, best_average
    corpus                (10)-(12)  compared, average_accuracies

The criteria; those with a dot are parts of the one before the dot:

    total                 (7)   C, the weighted average of the six without a dot
    accordance            (13)  elements that found a partner
    tags                  (14)  tags of partners
    overtexts             (15)  .accordance (16), .texts (17), .tags (18)
    fragments             (19)  .accordance (20), .texts (21), .tags (22), .overtexts (3.4.4) with such parts
    fragment_text_union   (23)  characters of all fragments of partners
    fragment_tag_union    (24)  tags of all fragments of partners

Where the paper is silent, this file decides:

* Accordance "sum" maximises the sum of the pairs' weighted averages; "exact", literally (9), may drop a weak
  pair.  Among equal ones (to 1e-9) more pairs win, then contents, never order.
* Inner levels come first: the joint optimum for "exact"; for "sum" it need not be.
* What has nothing in common is no pair.  Elements need fragments that may be partners, fragments characters,
  overtexts words or tags; or neither has any, and empty fragments the same place.
* F(∅, ∅) = 1: of two empty sets of objects every criterion is 1.  One empty, or no pair: 0.
* Weights are 1, but 0 for what no expert marked.  A competition should give all, as its parts may differ.
* A READ//ABLE markup (with "selections") is one element with these as fragments, type and subtype as tags,
  without overtexts.  Where all experts' are such, a submission's must be, and ``accordance`` has weight 0.
* AMA is over documents with an expert, EMA (unordered pairs) and RMA over those with two.
* Words are letters, digits and underscores in lower case, ё as е; repeated ones count, repeated tags do not.
* Offsets count characters from 0, the end is exclusive.  Unknown keys are ignored.
"""

import functools
import importlib
import itertools
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

__all__ = [
    "COMPLETE_SUBMISSION", "MEASURE_PARAMETERS", "NAME", "HostVisibleError", "ParticipantVisibleError",
    "Prepared", "__version__", "prepare", "score",
]  # fmt: skip

__version__ = "2.0.0"

NAME = "markup_consistency"
COMPLETE_SUBMISSION = False
MEASURE_PARAMETERS = ("measure", "criterion")

# The parts of composite criteria, their accordance first.
OF_OVERTEXTS = ("overtexts.accordance", "overtexts.texts", "overtexts.tags")
PARTS = {
    "total": ("accordance", "tags", "overtexts", "fragments", "fragment_text_union", "fragment_tag_union"),
    "overtexts": OF_OVERTEXTS,
    "fragments": ("fragments.accordance", "fragments.texts", "fragments.tags", "fragments.overtexts"),
    "fragments.overtexts": tuple(f"fragments.{name}" for name in OF_OVERTEXTS),
}


def _with_parts(name: str) -> list[str]:
    return [name, *(inner for part in PARTS.get(name, ()) for inner in _with_parts(part))]


CRITERIA = tuple(_with_parts("total"))
MEASURES = ("rma", "ama", "consistency")
ACCORDANCES = ("sum", "exact")

TIE = 1e-9  # sums of worth that differ by less are equal
LAST_OFFSET = 1_000_000_000
APART = LAST_OFFSET + 2  # between the markups compared at once
AT_ONCE = 100_000  # pairs of objects
MOST_OBJECTS, MOST_CHARACTERS = 2_000, 200_000  # of a markup
LARGE = 500  # rows and columns of an assignment problem

LONGEST_MESSAGE = 280  # Kaggle cuts the rest
ROWS_SHOWN = 3
CHARACTERS_SHOWN = 40

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Lemmatiser = Callable[[str], str]

# A tool may set it, to be called with the documents compared and all documents.
progress: Callable[[int, int], None] | None = None


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong; Kaggle shows the text."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong; the host sees it."""


# ---- Public API ------------------------------------------------------------------------------------------


def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "rma",
    criterion: str = "total",
    accordance: str = "sum",
    weights: str = "",
    lemmatiser: str = "none",
) -> float:
    """Relative accuracy of an algorithm's text markup (RMA): its agreement with experts over theirs.

    C, from 0 to 1, compares the elements of two markups, with tags, fragments and overtexts (comments), that an
    optimal one-to-one assignment, the accordance, made partners.  AMA is the mean C of algorithm and experts,
    EMA that of experts with each other, RMA = AMA/EMA.

    Parameters
    ----------
    solution : DataFrame, one row per document
        `row_id_column_name` and ``markups``: JSON, the list of the experts' markups, each of the form
        ``{"elements": [{"tags": […], "overtexts": [{"comment": "…", "tags": […]}], "fragments": [{"start": 0,
        "end": 10, "tags": […], "overtexts": […]}]}]}``, where only ``elements``, ``start`` and ``end`` are
        required.  With a column ``text``, offsets are checked against it.
    submission : DataFrame, one row per document
        `row_id_column_name` and ``markup``: JSON, the algorithm's.
    row_id_column_name : str
        The documents' ids, compared as text.
    measure : str
        "rma", "ama", or "consistency", the mean of one criterion.
    criterion : str
        That one, such as "fragments.texts".
    accordance : str
        "sum" or "exact".
    weights : str
        What differs from the default, as in "tags=2,fragments.texts=0".
    lemmatiser : str
        "none", or an installed one: "pymorphy3" (Russian), "simplemma:en" …

    Returns
    -------
    float
        At least 0; only RMA may exceed 1.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed.  Of the solution, how many documents are missing is told, and which
        offsets are too large.
    HostVisibleError
        The solution is malformed, a parameter is wrong, or the measure undefined: no document has an expert
        (RMA: two who have something in common).

    References
    ----------
    A. Levikin and others, "The methodology of multi-criteria evaluation of text markup models based on
    inconsistent expert markup", 2025, section 3.

    Examples
    --------
    One of two experts marks an error longer:

    >>> def markup(end):
    ...     return {"elements": [{"fragments": [{"start": 0, "end": end, "tags": ["logic"]}]}]}
    >>> experts = json.dumps([markup(10), markup(15)])
    >>> solution = pd.DataFrame({"document_id": ["A"], "markups": [experts]})
    >>> submission = pd.DataFrame({"document_id": ["A"], "markup": [json.dumps(markup(10))]})
    >>> round(score(solution, submission, "document_id"), 6)
    1.035714
    """
    prepared = prepare(solution, row_id_column_name, measure, criterion, accordance, weights, lemmatiser)
    sums = prepared.statistics(submission).sum(axis=0)  # of rows one after the other
    return float(prepared.measures(sums[np.newaxis])[0])


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "rma",
    criterion: str = "total",
    accordance: str = "sum",
    weights: str = "",
    lemmatiser: str = "none",
) -> "Prepared":
    """A solution, checked and digested once to score many submissions.

    Parameters and the `HostVisibleError` are those of `score`.
    """
    _check_text("row_id_column_name", row_id_column_name)
    _check_choice("measure", measure, MEASURES)
    _check_choice("criterion", criterion, CRITERIA)
    _check_choice("accordance", accordance, ACCORDANCES)
    _check_text("weights", weights)
    _check_text("lemmatiser", lemmatiser)
    if criterion != "total" and measure != "consistency":
        raise HostVisibleError(f"criterion: expected measure 'consistency' with it, found {_quoted(measure)}")
    explicit = _parse_weights(weights, CRITERIA[1:])
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns("markups")
    ids, lengths = read_ids(table), read_lengths(table)
    example = 'a list of markups in JSON, such as [{"elements": [{"fragments": [{"start": 0, "end": 10}]}]}]'
    read = functools.partial(read_experts, lemmatise=lemmatiser_of(lemmatiser))
    experts = read_column(table, "markups", read, example, lengths)
    needed, fewest = ("two experts", 2) if measure == "rma" else ("an expert", 1)
    if max(map(len, experts), default=0) < fewest:
        raise HostVisibleError(f"markups: expected a document with markups of {needed}, found none")
    everyone = [expert for markups in experts for expert in markups]
    is_readable = bool(everyone) and all(expert.is_readable for expert in everyone)
    rules = Rules(weights_in_use(everyone, is_readable, explicit), accordance, is_readable)
    order = sorted(range(len(ids)), key=ids.__getitem__)
    pairs = [list(itertools.combinations(experts[row], 2)) for row in order]
    among = compared(pairs, rules)
    if measure == "rma" and not any(criteria[:, 0].any() for criteria in among):
        raise HostVisibleError("markups: expected experts that have something in common, found none")
    return Prepared(
        items=[ids[row] for row in order],
        item_of_row=np.argsort(order),
        labels=[("(all)", "(all)")],
        groups=np.zeros((1, len(ids)), dtype=np.int64),
        lengths=dict(zip(ids, lengths)),
        experts=[experts[row] for row in order],
        among=among,
        rules=rules,
        parameters=(row_id_column_name, measure, criterion, lemmatiser),
    )


class Rules(NamedTuple):
    weights: Mapping[str, float]
    accordance: str
    is_readable: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A solution, checked and digested by `prepare`."""

    items: list[str]
    item_of_row: Ints
    labels: list[tuple[str, str]]
    groups: Ints
    lengths: dict[str, int | None]  # of each id's text, where known
    experts: list[list["Markup"]]
    among: list[Floats]  # of each document (pairs, criteria), of its experts with each other
    rules: Rules
    parameters: tuple[str, str, str, str]  # row_id_column_name, measure, criterion, lemmatiser

    @property
    def measure_names(self) -> list[str]:
        return ["score", "AMA", "EMA", "RMA", *CRITERIA[1:]]

    def read(self, submission: pd.DataFrame) -> list["Markup"]:
        table = _Table(submission, "the submission", self.parameters[0], ParticipantVisibleError)
        table.check_columns("markup")
        ids, is_readable = read_ids(table, self.items), self.rules.is_readable
        form = '"selections": []' if is_readable else '"elements": [{"fragments": [{"start": 0, "end": 10}]}]'
        lemma = lemmatiser_of(self.parameters[-1])
        markups = read_column(
            table,
            "markup",
            lambda cell, length: read_markup(_load(cell), length, lemma, is_readable),
            f"a markup in JSON, such as {{{form}}}",
            [self.lengths[each] for each in ids],
        )
        by_id = dict(zip(ids, markups))
        return [by_id[item] for item in self.items]

    def compare(self, read: Sequence["Markup"]) -> list[Floats]:
        """Of each document (experts, criteria), of the algorithm with them."""
        pairs = [[(markup, expert) for expert in experts] for markup, experts in zip(read, self.experts)]
        return compared(pairs, self.rules)

    def count(self, algorithm: Sequence[Floats]) -> Floats:
        """Per document with an expert the means of criteria, and 1; with two C, theirs among them, and 1."""
        rows = []
        for ours, theirs in zip(algorithm, self.among):
            of_two = [mean(ours)[0], mean(theirs)[0], 1] if len(theirs) else [0, 0, 0]
            rows.append([*mean(ours), len(ours) > 0, *of_two])
        return np.array(rows, dtype=np.float64)

    def statistics(self, submission: pd.DataFrame) -> Floats:
        return self.count(self.compare(self.read(submission)))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """The measures, (..., m), of sums of statistics, (..., 1, criteria + 4); NaN where not defined."""
        _, measure, criterion, _ = self.parameters
        criteria, ema, rma = average_accuracies(np.asarray(sums, dtype=np.float64)[..., 0, :])
        asked = rma if measure == "rma" else criteria[..., CRITERIA.index(criterion)]
        ama = criteria[..., 0]
        return np.concatenate([np.stack([asked, ama, ema, rma], axis=-1), criteria[..., 1:]], axis=-1)


# ---- Input: tables ---------------------------------------------------------------------------------------


def read_ids(table: "_Table", expected: Sequence[str] | None = None) -> list[str]:
    """The document of each row, each once; exactly the `expected` ones."""
    ids = read_column(table, table.row_id, str, "a value in every row")
    index = pd.Index(ids, dtype=object)
    table.reject(table.row_id, index.duplicated(), lambda row: "repeated", "every document once")
    if expected is not None:
        unknown = ~index.isin(expected)
        table.reject(table.row_id, unknown, lambda row: "unknown", "ids of the test set's documents")
        if lacking := len(expected) - len(ids):
            whole = "expected a row for every document of the test set"
            raise table.error(f"{table.name}: {whole}. It lacks {_counted(lacking, 'document')}")
    return ids


def read_lengths(table: "_Table") -> list[int | None]:
    """None without a column of texts."""
    if "text" not in table.frame:
        return [None] * len(table.frame)
    table.check_columns("text")
    return read_column(table, "text", len, "a value in every row")


def read_column(table: "_Table", name: str, read: Callable[..., Any], expected: str, *about: Any) -> list[Any]:
    """What `read` makes of each cell and what is known `about` its row."""
    values, faults = [], {}
    for row, (cell, *known) in enumerate(zip(table.frame[name].to_numpy(dtype=object), *about)):
        try:
            text = "" if _is_missing(cell) else _as_text(cell)
            if not text.strip():
                raise ValueError("missing")
            values.append(read(text, *known))
        except ValueError as fault:
            faults[row] = str(fault)
    table.reject(name, [row in faults for row in range(len(table.frame))], faults.__getitem__, expected)
    return values


def _check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        expected = _listed(choices, len(choices), LONGEST_MESSAGE - CHARACTERS_SHOWN - 40)
        raise HostVisibleError(f"{name}: expected {expected}, found {_quoted(value)}")


def _parse_weights(text: str, names: Sequence[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for part in text.split(",") if text.strip() else []:
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in names or name in weights or not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", number):
            found = _quoted(part)
            head = f"weights: expected NAME=NUMBER, each at least 0 and once, found {found}. The names are "
            raise HostVisibleError(head + _listed(names, len(names), LONGEST_MESSAGE - len(head)))
        weights[name] = float(number)
    return weights


# ---- Input: markups (1)-(4) ------------------------------------------------------------------------------


class Item(NamedTuple):
    """An element (2), fragment (3) or overtext (4).

    Its content: start, end, comment, tags, contents of overtexts and fragments, sorted.
    """

    content: tuple[Any, ...]
    position: int
    words: frozenset[Any]
    tags: frozenset[str]
    overtexts: tuple["Item", ...]
    fragments: tuple["Item", ...]


# Behind all texts, for elements without fragments.
NOWHERE = Item((LAST_OFFSET + 1, LAST_OFFSET + 1, "", (), (), ()), -1, frozenset(), frozenset(), (), ())


class Markup(NamedTuple):
    """A markup (1); its number, from 1, is that among the experts."""

    content: tuple[Any, ...]
    elements: tuple[Item, ...]
    is_readable: bool
    size: int
    number: int = 0


Pairs = Sequence[tuple[Markup, Markup]]


def read_experts(cell: str, length: int | None, lemmatise: Lemmatiser) -> list[Markup]:
    """The markups of a document's experts, in the order of content."""
    values = _expect(_load(cell), list, wanted="a list of markups")
    markups = _each("markup", values, lambda value: read_markup(value, length, lemmatise))
    numbered = [markup._replace(number=number) for number, markup in enumerate(markups, 1)]
    return sorted(numbered, key=lambda markup: markup.content)


def read_markup(
    value: Any, length: int | None, lemmatise: Lemmatiser = str, is_readable: bool = False
) -> Markup:
    """A markup of a text of that `length`, if known."""
    markup = _expect(value, dict)
    selections = "selections" in markup and "elements" not in markup
    if not selections and (is_readable or "elements" not in markup):
        raise ValueError(f"the markup has no {'selections' if is_readable else 'elements'}")
    elements = read_items(from_selections(markup) if selections else markup, "element", length, lemmatise)
    objects = list(elements)
    for item in objects:
        objects += [*item.overtexts, *item.fragments]
    _at_most(MOST_OBJECTS, len(objects), "elements, fragments and overtexts")
    characters = sum(len(text) for item in objects for text in (item.content[2], *item.content[3]))
    _at_most(MOST_CHARACTERS, characters, "characters of tags and comments")
    return Markup(_contents(elements), elements, selections, len(objects))


def from_selections(markup: Mapping[str, Any]) -> dict[str, Any]:
    """A READ//ABLE markup in the general form."""

    def fragment(value: Any) -> dict[str, Any]:
        codes = [_plain(_value(_expect(value, dict), name, str)) for name in ("type", "subtype")]
        span = {"start": value.get("startSelection"), "end": value.get("endSelection")}
        return {**span, "tags": [code for code in codes if code]}

    fragments = _each("selection", _value(markup, "selections", list), fragment)
    return {"elements": [{"fragments": fragments}] if fragments else []}


def read_items(
    holder: Mapping[str, Any], noun: str, length: int | None, lemmatise: Lemmatiser
) -> tuple[Item, ...]:
    """What an object holds, in the order of content."""

    def read(numbered: tuple[int, Any]) -> Item:
        found = _expect(numbered[1], dict)
        start, end = _span(found, ("start", "end"), length) if noun == "fragment" else (0, 0)
        comment = _value(found, "comment", str) if noun == "overtext" else ""
        tags = [] if found.get("tags") is None else found["tags"]
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise ValueError("tags are no list of texts")
        overtexts = () if noun == "overtext" else read_items(found, "overtext", length, lemmatise)
        fragments = read_items(found, "fragment", length, lemmatise) if noun == "element" else ()
        content = start, end, comment, tuple(sorted(set(tags))), _contents(overtexts), _contents(fragments)
        words = bag_of_words(comment, lemmatise)
        return Item(content, numbered[0], words, frozenset(tags), overtexts, fragments)

    items = _each(noun, enumerate(_value(holder, f"{noun}s", list)), read)
    return tuple(sorted(items, key=lambda item: item.content))


def _contents(items: Sequence[Item]) -> tuple[Any, ...]:
    return tuple([item.content for item in items])


def _load(cell: str) -> Any:
    try:
        return _DECODER.decode(cell)
    except json.JSONDecodeError as fault:
        raise ValueError(f"not JSON: {fault.msg} at character {fault.pos + 1}") from None
    except RecursionError:
        raise ValueError("not a markup: nested too deeply") from None
    except ValueError as fault:  # a constant, or a number of too many digits
        raise ValueError(f"not JSON: {_short(fault)}") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _each(noun: str, values: Iterable[Any], read: Callable[[Any], Any]) -> list[Any]:
    results = []
    for number, value in enumerate(values, 1):
        try:
            results.append(read(value))
        except ValueError as fault:
            raise ValueError(f"{noun} {number}: {fault}") from None
    return results


def _value(holder: Mapping[str, Any], name: str, kind: type) -> Any:
    """Empty where it is left out."""
    value = holder.get(name)
    return kind() if value is None else _expect(value, kind, f"{name} is ")


def _span(holder: Mapping[str, Any], names: tuple[str, str], length: int | None) -> list[int]:
    span = []
    for name in names:
        found: Any = holder.get(name)
        is_whole = isinstance(found, float) and found.is_integer()
        span.append(int(found) if is_whole else _expect(found, int, f"{name} is "))
        if not 0 <= span[-1] <= LAST_OFFSET:
            raise ValueError(f"{name} is {'negative' if span[-1] < 0 else f'above {LAST_OFFSET:,}'}")
    if span[0] > span[1]:
        raise ValueError(f"{names[0]} {span[0]} is after {names[1]} {span[1]}")
    if length is not None and span[1] > length:
        raise ValueError(f"{names[1]} {span[1]} is beyond the text")
    return span


def _expect(value: Any, kind: type, found: str = "", wanted: str = "") -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        wanted = wanted or {dict: "an object", list: "a list", str: "text", int: "a whole number"}[kind]
        raise ValueError(f"{found}{_kind(value)} instead of {wanted}")
    return value


def _kind(value: Any) -> str:
    shown = _quoted(value) if isinstance(value, str) else _short(value)
    return {type(None): "missing", dict: "an object", list: "a list"}.get(type(value), shown)


def _at_most(most: int, number: int, what: str) -> None:
    if number > most:
        raise ValueError(f"{number:,} {what}, above {most:,}")


def _plain(text: str) -> str:
    """Without regard to case, outer spaces and Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).strip().casefold())


def bag_of_words(comment: str, lemmatise: Lemmatiser) -> frozenset[tuple[str, int]]:
    """The multiset of words, as a set of (word, how often it occurred before)."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", comment).lower())
    counts = Counter(lemmatise(word).lower().replace("ё", "е") for word in words)
    return frozenset((word, before) for word, count in counts.items() for before in range(count))


@functools.cache
def lemmatiser_of(name: str) -> Lemmatiser:
    package, _, language = name.partition(":")
    try:
        if package == "simplemma" and language:
            lemmatize = functools.partial(importlib.import_module(package).lemmatize, lang=language)
            lemmatize("a")  # is there this language?
            return functools.cache(lemmatize)
        if name == "pymorphy3":
            analyser = importlib.import_module(name).MorphAnalyzer()
            return functools.cache(lambda word: str(analyser.parse(word)[0].normal_form))
    except (ImportError, ValueError) as problem:
        found = f"{_quoted(name)}: {_short(problem)}"
        raise HostVisibleError(f"lemmatiser: expected one that is installed, found {found}") from None
    if name == "none":
        return str
    wanted = "none, pymorphy3 or simplemma:LANGUAGE"
    raise HostVisibleError(f"lemmatiser: expected {wanted}, found {_quoted(name)}")


# ---- Weights (7) -----------------------------------------------------------------------------------------


def weights_in_use(
    experts: Iterable[Markup], is_readable: bool, given: Mapping[str, float]
) -> dict[str, float]:
    elements = [element for expert in experts for element in expert.elements]
    fragments = [fragment for element in elements for fragment in element.fragments]
    kinds = {"": elements, "fragments": fragments}
    kinds["overtexts"] = [overtext for element in elements for overtext in element.overtexts]
    kinds["fragments.overtexts"] = [overtext for fragment in fragments for overtext in fragment.overtexts]
    occurs = {"accordance": not (is_readable and fragments)}
    for name, items in kinds.items():
        occurs[name] = bool(items)
        occurs[f"{name}.texts"] = any(item.words or item.content[0] < item.content[1] for item in items)
        occurs[f"{name}.tags"] = any(item.tags for item in items)
    occurs["tags"], occurs["fragment_tag_union"] = occurs[".tags"], occurs["fragments.tags"]
    occurs["fragment_text_union"] = occurs["fragments.texts"]
    weights = {name: float(occurs.get(name, True)) for name in CRITERIA[1:]} | dict(given)
    for level, names in PARTS.items():
        if not sum(weights[name] for name in names) > 0:
            raise HostVisibleError(f"weights: expected one above 0 among the parts of {level}, found none")
    return weights


def weighted_average(criteria: Mapping[str, Any], names: Sequence[str], weights: Mapping[str, float]) -> Any:
    """Σ w·C / Σ w (7), one added after the other: exactly 1 where all criteria are; 0 without weights."""
    total = 0.0
    for name in names:
        total = total + criteria[name] * weights[name]
    return total / (sum(weights[name] for name in names) or 1.0)


# ---- Consistency (7) -------------------------------------------------------------------------------------
# Of many pairs of markups at once: each level has a problem per pair of holders.


class Side(NamedTuple):
    """One markup of each pair: its elements, and its fragments by start."""

    elements: list[Item]
    pair: Ints  # of each element
    fragments: list[Item]
    element: Ints  # of each fragment
    spans: Ints  # starts and ends, (2, n), each markup's `APART` from those of the one before
    kinds: Ints  # of each fragment the first with equal tags and overtexts


class Level(NamedTuple):
    """The partners among objects of one kind."""

    partners: Ints  # (p, 4): problem, place of the one and of the other, their problem on the levels below
    criteria: dict[str, Floats]  # (p,) each
    averages: dict[str, Floats]  # (problems,) each: the level's criterion and its parts


def consistency(pairs: Pairs, rules: Rules) -> tuple[Side, Side, dict[str, Level]]:
    """Two sides, of each pair the lesser content first, and the levels by name."""
    ordered = [sorted(pair, key=lambda markup: markup.content) for pair in pairs]
    x, y = (side_of([pair[side] for pair in ordered]) for side in (0, 1))
    i, k = overlapping(x.spans, y.spans).T
    problem, ours, theirs = _distinct(x.element[i], y.element[k])
    objects = np.bincount(x.element)[ours] + np.bincount(y.element)[theirs]
    fragments, notes = c_fragments(x, y, np.column_stack([problem, i, k]), objects, rules)
    one, other = [x.elements[n] for n in ours.tolist()], [y.elements[n] for n in theirs.tolist()]
    overtexts = c_overtexts("overtexts", one, other, rules)
    criteria = {
        "tags": c_tags(one, other),
        **overtexts.averages,
        **fragments.averages,
        "fragment_text_union": c_union_of_texts(one, other),
        "fragment_tag_union": c_union_of_tags(one, other),
    }
    places = np.column_stack([x.pair[ours], ours, theirs, np.arange(len(ours))])
    objects = _ints(len(one.elements) + len(other.elements) for one, other in pairs)
    total = level_of("total", objects, places, criteria, rules)
    return x, y, {"total": total, "overtexts": overtexts, "fragments": fragments, "fragments.overtexts": notes}


def side_of(markups: Sequence[Markup]) -> Side:
    elements = [element for markup in markups for element in markup.elements]
    pair = np.repeat(np.arange(len(markups)), _ints(len(markup.elements) for markup in markups))
    held = [element.fragments or (NOWHERE,) for element in elements]
    element = np.repeat(np.arange(len(elements)), _ints(map(len, held)))
    fragments = [fragment for each in held for fragment in each]
    spans = np.array([fragment.content[:2] for fragment in fragments], dtype=np.int64).reshape(-1, 2).T
    spans = spans + APART * pair[element]
    order = np.argsort(spans[0], kind="stable")
    fragments = [fragments[place] for place in order.tolist()]
    first: dict[Any, int] = {}
    kinds = _ints(first.setdefault(each.content[3:5], place) for place, each in enumerate(fragments))
    return Side(elements, pair, fragments, element[order], spans[:, order], kinds)


def level_of(name: str, objects: Ints, places: Ints, criteria: Mapping[str, Floats], rules: Rules) -> Level:
    """The optimal accordance in each problem of so many `objects`, those at `places` (see `Level`)."""
    accordance, *parts = PARTS[name]
    worth = weighted_average(criteria, parts, rules.weights)
    ends = np.column_stack([_distinct(places[:, 0], end)[0] for end in places[:, 1:3].T])
    if rules.accordance == "sum":
        chosen = best_sum(ends, worth + TIE)  # so that among equal sums more pairs win
    else:
        share = rules.weights[accordance] / sum(rules.weights[part] for part in PARTS[name])
        chosen = np.zeros(len(worth), dtype=bool)
        for rows in _groups(places[:, 0]):
            chosen[rows] = best_average(ends[rows], worth[rows], int(objects[places[rows[0], 0]]), share)
    problem = places[chosen, 0]
    averages = {accordance: c_accordance(np.bincount(problem, minlength=len(objects)), objects)}
    found = {part: values[chosen] for part, values in criteria.items()}
    averages |= {part: _mean_over_pairs(values, problem, objects) for part, values in found.items()}
    averages[name] = weighted_average(averages, PARTS[name], rules.weights)
    return Level(places[chosen], found, averages)


def _distinct(a: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
    """Codes of pairs, and the distinct pairs, sorted."""
    base = b.max(initial=0) + 1
    codes, distinct = pd.factorize(a * base + b, sort=True)
    return codes, *np.divmod(distinct, base)


def _mean_over_pairs(values: Any, place: Ints, objects: Ints) -> Floats:
    """Means at each place; without values 0, without objects 1."""
    sums = np.bincount(place, values, len(objects))  # of one after the other
    means = sums / np.maximum(np.bincount(place, minlength=len(objects)), 1)
    return np.where(objects > 0, means, 1.0)


# ---- Criteria (13)-(24) ----------------------------------------------------------------------------------


def f_measure(common: Ints, total: Ints) -> Floats:
    """F = 2|A ∩ B| / (|A| + |B|) (6), and 1 for two empty sets."""
    is_empty = total == 0
    return np.asarray((2.0 * common + is_empty) / (total + is_empty))


def f_of_sets(pairs: Iterable[tuple[frozenset[Any], frozenset[Any]]]) -> Floats:
    common, total = _ints((len(a & b), len(a) + len(b)) for a, b in pairs).reshape(-1, 2).T
    return f_measure(common, total)


def c_accordance(pairs: Ints, objects: Ints) -> Floats:
    """(13), (16), (20)."""
    return f_measure(pairs, objects)


def c_tags(x: Sequence[Item], y: Sequence[Item]) -> Floats:
    """(14) of elements, (18) of overtexts, (22) of fragments."""
    return f_of_sets((a.tags, b.tags) for a, b in zip(x, y))


def c_overtexts(name: str, x: Sequence[Item], y: Sequence[Item], rules: Rules) -> Level:
    """(15) of elements, 3.4.4 of fragments."""
    found = [
        (problem, i, k, a, b)
        for problem, (ours, theirs) in enumerate(zip(x, y))
        for i, a in enumerate(ours.overtexts)
        for k, b in enumerate(theirs.overtexts)
        if a.words & b.words or a.tags & b.tags or not (a.words or b.words or a.tags or b.tags)
    ]
    one, other = [a for *_, a, _ in found], [b for *_, b in found]
    objects = _ints(len(ours.overtexts) + len(theirs.overtexts) for ours, theirs in zip(x, y))
    places = _ints((*each[:3], -1) for each in found).reshape(-1, 4)
    criteria = {f"{name}.texts": c_overtexts_texts(one, other), f"{name}.tags": c_tags(one, other)}
    return level_of(name, objects, places, criteria, rules)


def c_overtexts_texts(x: Sequence[Item], y: Sequence[Item]) -> Floats:
    """(17)."""
    return f_of_sets((a.words, b.words) for a, b in zip(x, y))


def c_fragments(x: Side, y: Side, places: Ints, objects: Ints, rules: Rules) -> tuple[Level, Level]:
    """(19), and its overtexts."""
    _, i, k = places.T
    # Those equal but for their spans are compared once.
    kind, ours, theirs = _distinct(x.kinds[i], y.kinds[k])
    one, other = [x.fragments[n] for n in ours.tolist()], [y.fragments[n] for n in theirs.tolist()]
    notes = c_overtexts("fragments.overtexts", one, other, rules)
    criteria = {
        "fragments.texts": c_fragments_texts(x.spans[:, i], y.spans[:, k]),
        "fragments.tags": c_tags(one, other)[kind],
        **{name: values[kind] for name, values in notes.averages.items()},
    }
    return level_of("fragments", objects, np.column_stack([places, kind]), criteria, rules), notes


def c_fragments_texts(x: Ints, y: Ints) -> Floats:
    """(21), of spans, (2, n) each."""
    return f_measure(np.minimum(x[1], y[1]) - np.maximum(x[0], y[0]), x[1] - x[0] + y[1] - y[0])


def c_union_of_texts(x: Sequence[Item], y: Sequence[Item]) -> Floats:
    """(23)."""
    total = _ints(length_of_union(a.fragments) + length_of_union(b.fragments) for a, b in zip(x, y))
    union = _ints(length_of_union(a.fragments + b.fragments) for a, b in zip(x, y))
    return f_measure(total - union, total)


def length_of_union(fragments: Sequence[Item]) -> int:
    """How many characters are in a fragment."""
    length = reached = 0
    for start, end in sorted(fragment.content[:2] for fragment in fragments):
        length += max(end - max(start, reached), 0)
        reached = max(reached, end)
    return length


def c_union_of_tags(x: Sequence[Item], y: Sequence[Item]) -> Floats:
    """(24)."""

    def united(element: Item) -> frozenset[str]:
        return frozenset[str]().union(*(fragment.tags for fragment in element.fragments))

    return f_of_sets((united(a), united(b)) for a, b in zip(x, y))


def overlapping(x: Ints, y: Ints) -> Ints:
    """Places in x and y, (n, 2), of spans, sorted by start, that overlap or are empty and equal."""
    # They come after all that end before it and before all that start behind it.
    x_end, y_end = (np.maximum(end, start + 1) for start, end in (x, y))
    first = np.searchsorted(np.maximum.accumulate(y_end), x[0], "right")
    last = np.searchsorted(y[0], x_end)
    i = np.repeat(np.arange(len(first)), last - first)
    k = np.arange(len(i)) + np.repeat(last - np.cumsum(last - first), last - first)
    kept = (y_end[k] > x[0][i]) & ((x[0] == x[1])[i] == (y[0] == y[1])[k])
    return np.asarray(np.column_stack([i, k])[kept])


# ---- The optimal accordance (8), (9) ---------------------------------------------------------------------


def best_sum(places: Ints, worth: Floats) -> Bools:
    """Which of the candidates at places (n, 2), all worth something, make the accordance of the largest sum."""
    i, k = places.T
    chosen: Bools = (np.bincount(i)[i] == 1) & (np.bincount(k)[k] == 1)
    if chosen.all():
        return chosen
    rest = np.flatnonzero(~chosen)
    for part in components(places[rest]):
        candidates = rest[part]
        row, column = (np.unique(ends[candidates], return_inverse=True)[1] for ends in (i, k))
        matrix = np.zeros((row.max() + 1, column.max() + 1))
        matrix[row, column] = worth[candidates]
        if min(matrix.shape) > LARGE:
            # Square, and each column's best worth 0: solved sooner.
            matrix = np.pad(matrix, [(0, max(matrix.shape) - length) for length in matrix.shape])
            matrix -= matrix.max(axis=0)
        taken = np.zeros(matrix.shape, dtype=bool)
        taken[linear_sum_assignment(matrix, maximize=True)] = True
        chosen[candidates] = taken[row, column]
    return chosen


def components(places: Ints) -> list[Ints]:
    """The candidates that share objects, directly or by others."""
    i, k = places.T
    rows = i.max() + 1
    graph = coo_array((np.ones(len(i), dtype=bool), (i, rows + k)), shape=(rows + k.max() + 1,) * 2)
    return _groups(connected_components(graph, directed=False)[1][i])


def _groups(labels: Ints) -> list[Ints]:
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if len(order) else []


def _ints(values: Iterable[Any]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def best_average(places: Ints, worth: Floats, objects: int, share: float) -> Bools:
    """Which of the candidates make the accordance of the largest weighted average (9).

    That is share·2q/n + (1 - share)·S/q for q pairs of the sum S among n objects, where S/q falls with q.
    """
    row, column = (np.unique(ends, return_inverse=True)[1] for ends in places.T)
    if column.max() < row.max():
        row, column = column, row
    most = int(_best_of_size(row, column, worth, int(row.max()) + 1).sum())
    accordances = {q: _best_of_size(row, column, worth, q) for q in {1, most}}
    mean = {q: worth[accordance].sum() / q for q, accordance in accordances.items()}
    average = {q: 2 * share / objects * q + (1 - share) * mean[q] for q in mean}
    intervals = [(1, most)]
    while intervals:
        low, high = intervals.pop()
        bound = 2 * share / objects * (high - 1) + (1 - share) * mean[low]
        if high - low > 1 and bound >= max(average.values()) - TIE:
            q = (low + high) // 2
            accordances[q] = _best_of_size(row, column, worth, q)
            mean[q] = worth[accordances[q]].sum() / q
            average[q] = 2 * share / objects * q + (1 - share) * mean[q]
            intervals += [(low, q), (q, high)]
    best = max(average.values())
    return accordances[max(q for q in average if average[q] >= best - TIE)]


def _best_of_size(row: Ints, column: Ints, worth: Floats, pairs: int) -> Bools:
    """The accordance of the largest sum with so many pairs, if there can be."""
    # All other rows take spare columns, worth more than all pairs together.
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    matrix = np.full((rows, columns + rows - pairs), float(rows + 1))
    matrix[:, :columns] = -float(rows + 1)
    matrix[row, column] = worth
    partner = linear_sum_assignment(matrix, maximize=True)[1]
    chosen: Bools = partner[row] == column
    return chosen


# ---- The corpus (10)-(12) --------------------------------------------------------------------------------


def compared(documents: Sequence[Pairs], rules: Rules) -> list[Floats]:
    """Of each document (pairs, criteria), of many at once."""
    sizes = [sum(one.size * other.size for one, other in pairs) for pairs in documents]
    results: list[Floats] = []
    for places in _groups(np.cumsum(sizes) // AT_ONCE):
        batch = [documents[place] for place in places.tolist()]
        averages = consistency([pair for pairs in batch for pair in pairs], rules)[-1]["total"].averages
        criteria = np.column_stack([averages[name] for name in CRITERIA])
        for part in np.split(criteria, np.cumsum([len(pairs) for pairs in batch])[:-1]):
            results.append(part)
            if progress is not None:
                progress(len(results), len(documents))
    return results


def mean(values: Floats) -> Floats:
    """Means of the columns, 0 without rows."""
    return np.asarray(values.sum(axis=0) / max(len(values), 1))


def average_accuracies(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """AMA (10) of each criterion, EMA (11) and RMA (12), of sums of statistics."""
    *_, number, of_two, theirs, two = np.moveaxis(sums, -1, 0)
    ama, ema = _ratio(sums[..., :-4], number[..., np.newaxis]), _ratio(theirs, two)
    return ama, ema, _ratio(_ratio(of_two, two), ema)


# ---- Shared: tables and messages -------------------------------------------------------------------------
# Sections headed “Shared” are the same in every hosted file that has them, as each file is uploaded alone.


class _Table(NamedTuple):
    """A frame and how its faults are told.

    Attributes
    ----------
    frame : DataFrame
        As the caller gave it.  It is never changed.
    name : str
        What messages call it: "the solution" or "the submission".
    row_id : str
        The column whose values name the rows in messages.
    error : type of Exception
        What a fault raises, by whose fault it is.
    """

    frame: pd.DataFrame
    name: str
    row_id: str
    error: type[Exception]

    def check_columns(self, *required: str) -> None:
        """Require that the row id and these columns exist, each once, and that every row has an id."""
        if not isinstance(self.frame, pd.DataFrame):
            raise HostVisibleError(f"{self.name}: expected a DataFrame, found {type(self.frame).__name__}")
        required = tuple(dict.fromkeys((self.row_id, *required)))
        names = list(self.frame.columns)
        lacking = [_short(name) for name in required if name not in names]
        if lacking:
            head = f"{self.name}: expected the columns {_listed(lacking, len(lacking), 120)} too. It has "
            present = [_short(name) for name in names]
            raise self.error(head + (_listed(present, len(present), LONGEST_MESSAGE - len(head)) or "none"))
        for name in required:
            if names.count(name) > 1:
                raise self.error(f"{self.name}: expected one column {_short(name)}, found {names.count(name)}")
        ids = self.frame[self.row_id]
        # isna() itself fails for Decimal("sNaN").
        missing = ids.map(_is_missing) if ids.dtype == object else ids.isna()
        self.reject(self.row_id, missing.to_numpy(dtype=bool), lambda row: "missing", "an id in every row")

    def reject(self, column: str, wrong: npt.ArrayLike, content: Callable[[int], str], expected: str) -> None:
        """Raise `error` if a row is `wrong`, (rows,) bool; `content` says what stands in a numbered row."""
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        ids = self.frame[self.row_id]
        examples = []
        for row in rows[:ROWS_SHOWN].tolist():
            row_id = ids.iloc[row]
            is_named = not _is_missing(row_id)
            name = f"{_short(self.row_id)} {_short(row_id)}" if is_named else f"row number {row + 1}"
            examples.append(f"{name} ({content(row)})")
        head = f"{_short(column)}: expected {expected}. Wrong in {_counted(len(rows), 'row')} of {self.name}: "
        raise self.error(head + _listed(examples, len(rows), LONGEST_MESSAGE - len(head)))


def _is_missing(value: object) -> bool:
    """Whether a cell is None or one of the not-a-numbers; pandas' own isna() fails for Decimal("sNaN")."""
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or value is pd.NA or value is pd.NaT


def _as_text(value: object) -> str:
    """A cell as text, the same whether a CSV reader took it for text, an integer or a float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    # Python refuses to write an integer of more than 4,300 decimal digits.
    return f"{value:x}" if isinstance(value, int) and value.bit_length() > 14_000 else str(value)


def _short(value: object) -> str:
    """The beginning of a value's text, with what cannot be printed escaped."""
    text = repr(_as_text(value)[: CHARACTERS_SHOWN + 1])[1:-1]
    return text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"


def _quoted(value: object) -> str:
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(texts: Sequence[str], total: int, room: int) -> str:
    """As many texts as fit into `room` characters, and how many more of the `total` there are."""
    for number in range(len(texts), 0, -1):
        more = f" and {total - number:,} more" if total > number else ""
        text = ", ".join(texts[:number])
        if len(text) + len(more) <= room:
            return text + more
    return f"{text[: room - len(more) - 1]}…{more}" if texts else ""


# ---- Shared: parameters that are text --------------------------------------------------------------------


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise HostVisibleError(f"{name}: expected text, found {type(value).__name__} {_quoted(value)}")


# ---- Shared: quotients -----------------------------------------------------------------------------------


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """The quotients of arrays that broadcast, NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient
