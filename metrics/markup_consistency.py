"""Consistency of an algorithm's text markup with experts who disagree, as one file to upload to Kaggle.

Several experts mark up the same document, and none of them is the truth.  ``score`` says how well an
algorithm's markups agree with theirs, relative to how well theirs agree with each other.  It follows
A. Levikin, I. Khabutdinov, A. Grabovoy and K. Vorontsov, "The methodology of multi-criteria evaluation of text
markup models based on inconsistent expert markup" (2025), section 3, whose equations are given in brackets.
The stages stand in the order in which data passes through them:

    input                 (1)-(4)    read_markup
    weights               (7)        weights_in_use
    consistency           (7)        consistency, level_of
    criteria              (13)-(24)  c_accordance, c_tags, c_overtexts … c_union_of_tags
    optimal accordance    (8), (9)   best_sum, best_average
    corpus                (10)-(12)  average_accuracies

The criteria, by the names used throughout (a name with a dot is a part of the composite before the dot):

    total                 (7)   C, the weighted average of the six that have no dot
    accordance            (13)  elements that found a partner
    tags                  (14)  tags of partners
    overtexts             (15)  .accordance (16), .texts (17), .tags (18)
    fragments             (19)  .accordance (20), .texts (21), .tags (22), and .overtexts (3.4.4), which
                                again has .accordance, .texts and .tags
    fragment_text_union   (23)  characters of all fragments of partners, merged
    fragment_tag_union    (24)  tags of all fragments of partners, united

Where the paper is silent, this file decides (each decision has a test):

* Accordance "sum", the default, maximises the sum of the partners' worth, the weighted average of the criteria
  that a pair of partners has: all of its level but ``accordance``.  Among equal sums (to 1e-9) more pairs
  win; what is still equal is settled by the contents of the markups, so that neither their order nor the
  order within them has an influence.
* Accordance "exact" is literally (9): of each number of pairs the accordance of the largest sum, and of these
  the one of the largest weighted average, the larger one of two equally good.  It may drop a weak pair.
* Inner levels come first: overtexts of fragments, fragments and overtexts of elements, elements.  For "exact"
  that is the joint optimum, as no weight is negative; for "sum" it need not be and is a decision.
* What has nothing in common is never paired.  Elements need a pair of fragments that could be partners, or
  no fragments on either side; fragments need common characters, or are the same empty fragment; overtexts
  need a common word or tag, or have neither words nor tags.
* F(∅, ∅) = 1.  Two empty sets of elements, fragments or overtexts: every criterion is 1.  One empty, or no
  pair: every criterion is 0.
* All weights of a level are equal, but a criterion whose subject occurs nowhere among the experts' markups
  (say, overtexts) has weight 0: it would be 1 everywhere and pull RMA towards 1.  Explicit weights override;
  give all of them in a competition, because each part of the solution would decide for itself.
* A markup of the READ//ABLE competition (with "selections") is read as the paper did it: as one element whose
  fragments are the selections, with type and subtype as tags, and without overtexts.  Where all experts'
  markups are such, a submission's must be, and ``accordance``, 1 by construction, has weight 0 by default.
* (10)-(12) average over documents: AMA over those with an expert, EMA and RMA over those with two or more
  experts, RMA over the same documents in numerator and denominator.  (11) runs over unordered pairs.
* Words are runs of letters, digits and underscores in lower case, with ё as е; a bag counts repetitions.
* Equal objects of one markup are different objects; a repeated tag is one tag.  Tags are compared as they
  are.  Offsets count characters from 0, the end is exclusive.  Unknown keys of the JSON are ignored.

Errors in the submission raise ``ParticipantVisibleError``, whose text depends on the submission alone, except
that it says how many documents are missing, and what is known of the documents beside their markups; errors of
the host (solution, parameters) raise ``HostVisibleError``, which participants never see.
"""

import functools
import importlib
import itertools
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import linear_sum_assignment

__all__ = ["HostVisibleError", "ParticipantVisibleError", "Prepared", "prepare", "score"]

__version__ = "2.0.0"

NAME = "markup_consistency"
COMPLETE_SUBMISSION = False  # a submission has the solution's documents
MEASURE_PARAMETERS = ("measure", "criterion")

# The criteria, and those that each composite one is the weighted average of; all levels have an accordance.
OF_OVERTEXTS = ("overtexts.accordance", "overtexts.texts", "overtexts.tags")
OF_FRAGMENTS = ("fragments.accordance", "fragments.texts", "fragments.tags", "fragments.overtexts")
OF_NOTES = tuple(f"fragments.{name}" for name in OF_OVERTEXTS)
UNIONS = ("fragment_text_union", "fragment_tag_union")
PARTS = {
    "total": ("accordance", "tags", "overtexts", "fragments", *UNIONS),
    "overtexts": OF_OVERTEXTS,
    "fragments": OF_FRAGMENTS,
    "fragments.overtexts": OF_NOTES,
}
CRITERIA = ("total", *PARTS["total"][:3], *OF_OVERTEXTS, "fragments", *OF_FRAGMENTS, *OF_NOTES, *UNIONS)
# Of each level, its criterion and all that it is made of.
WITHIN = {level: [name for name in CRITERIA if level == "total" or name.startswith(level)] for level in PARTS}
MEASURES = ("rma", "ama", "consistency")
ACCORDANCES = ("sum", "exact")

TIE = 1e-9  # sums of worth that differ by less are equal
LAST_OFFSET = 1_000_000_000
# Of one markup; these bound time and memory.
MOST_OBJECTS = 2_000  # elements, fragments and overtexts
MOST_CHARACTERS = 200_000  # of tags and comments
LARGE = 500  # rows and columns of an assignment problem that is prepared before it is solved

LONGEST_MESSAGE = 280  # characters; Kaggle cuts the rest
ROWS_SHOWN = 3
CHARACTERS_SHOWN = 40

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Lemmatiser = Callable[[str], str]
T = TypeVar("T")

# A tool may set it to a function of the documents that are compared and of all.
progress: Callable[[int, int], None] | None = None


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong.  Kaggle shows the text of this exception, by its name, to the participant."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong.  Kaggle shows this to the host only."""


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

    Two markups of a document are compared by criteria for their elements, tags, overtexts (comments) and
    fragments; C, their weighted average, is between 0 and 1, and 1 for identical markups.  What is compared
    with what is decided by an optimal accordance, a one-to-one assignment.  AMA is the mean C of the
    algorithm with the experts of each document, EMA that of the experts with each other, and RMA = AMA/EMA:
    from 1 on, the algorithm agrees with experts at least as well as they agree with each other.

    Parameters
    ----------
    solution : DataFrame, one row per document
        `row_id_column_name` and ``markups``: JSON, the list of the experts' markups, each of the form
        ``{"elements": [{"tags": […], "overtexts": [{"comment": "…", "tags": […]}], "fragments": [{"start": 0,
        "end": 10, "tags": […], "overtexts": […]}]}]}``; every key but ``elements``, ``start`` and ``end``
        may be left out.  With a column ``text``, offsets are checked against it.
    submission : DataFrame, one row per document
        `row_id_column_name` and ``markup``: JSON, the algorithm's markup.
    row_id_column_name : str
        The documents' ids, compared as text; both frames must have the same ones, in any order.
    measure : str
        "rma", "ama", or "consistency": the mean of one criterion, averaged as in AMA.
    criterion : str
        The criterion of measure "consistency", such as "fragments" or "fragments.texts".
    accordance : str
        "sum" maximises the sum of the partners' worth, "exact" the weighted average itself.
    weights : str
        Weights that differ from the default, as in "tags=2,overtexts=0,fragments.texts=3".
    lemmatiser : str
        For the words of overtexts: "none", "pymorphy3" (Russian) or "simplemma:ru", "simplemma:en" …; the
        package of this name must be installed.

    Returns
    -------
    float
        At least 0; RMA may exceed 1, the others may not.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed, or its documents are not those of the test set.
    HostVisibleError
        The solution is malformed, a parameter is wrong or the measure is not defined: no document has an
        expert (two experts for RMA), or the experts have nothing in common (RMA).

    References
    ----------
    A. Levikin, I. Khabutdinov, A. Grabovoy, K. Vorontsov, "The methodology of multi-criteria evaluation of
    text markup models based on inconsistent expert markup", 2025, doi:10.28995/2075-7182-2025-23-1066-1080.

    Examples
    --------
    Two experts marked the same error, one of them a little longer, and so does the algorithm:

    >>> def markup(start, end, tag):
    ...     return {"elements": [{"fragments": [{"start": start, "end": end, "tags": [tag]}]}]}
    >>> experts = [markup(0, 10, "logic"), markup(0, 15, "logic")]
    >>> solution = pd.DataFrame({"document_id": ["A"], "markups": [json.dumps(experts)]})
    >>> submission = pd.DataFrame({"document_id": ["A"], "markup": [json.dumps(markup(0, 10, "logic"))]})
    >>> round(score(solution, submission, "document_id"), 6)
    1.035714
    >>> score(solution, submission, "document_id", measure="consistency", criterion="fragments.texts")
    0.9

    Nothing marked where the experts see something scores zero:

    >>> score(solution, submission.assign(markup='{"elements": []}'), "document_id")
    0.0

    What was expected, where, and what was found:

    >>> try:
    ...     score(solution, submission.assign(markup=json.dumps(markup(10, 0, "logic"))), "document_id")
    ... except ParticipantVisibleError as error:
    ...     print(error)
    markup: expected a markup in JSON, such as {"elements": [{"fragments": [{"start": 0, "end": 10}]}]}. Wrong \
in 1 row of the submission: document_id A (element 1: fragment 1: start 10 is after end 0)
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
    """Check a solution and compare its experts with each other once, to score many submissions.

    Parameters are those of `score`.

    Raises
    ------
    HostVisibleError
        The solution is malformed, a parameter is wrong, or the measure is not defined.
    """
    _check_parameter("row_id_column_name", row_id_column_name, str)
    _check_choice("measure", measure, MEASURES)
    _check_choice("criterion", criterion, CRITERIA)
    _check_choice("accordance", accordance, ACCORDANCES)
    _check_parameter("weights", weights, str)
    _check_parameter("lemmatiser", lemmatiser, str)
    if criterion != "total" and measure != "consistency":
        raise HostVisibleError(f"criterion: expected measure 'consistency' with it, found {_quoted(measure)}")
    explicit = _parse_weights(weights, CRITERIA[1:])
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns("markups")
    ids, lengths = read_ids(table), read_lengths(table)
    example = 'a list of markups in JSON, such as [{"elements": [{"fragments": [{"start": 0, "end": 10}]}]}]'
    lemma = lemmatiser_of(lemmatiser)
    experts = read_cells(table, "markups", lambda row, value: read_experts(value, lengths[row], lemma), example)
    needed, fewest = ("two experts", 2) if measure == "rma" else ("an expert", 1)
    if max(map(len, experts), default=0) < fewest:
        raise HostVisibleError(f"markups: expected a document with markups of {needed}, found none")
    everyone = [expert for markups in experts for expert in markups]
    is_readable = bool(everyone) and all(expert.is_readable for expert in everyone)
    rules = Rules(weights_in_use(everyone, is_readable, explicit), accordance, is_readable)
    order = sorted(range(len(ids)), key=ids.__getitem__)
    among = [criteria_of(itertools.combinations(experts[row], 2), rules) for row in _told(order)]
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
    """How markups are compared: the weight of each criterion but ``total``, and the accordance.

    ``is_readable``: whether the experts' markups, and so those of a submission, are READ//ABLE's.
    """

    weights: Mapping[str, float]
    accordance: str
    is_readable: bool = False


@dataclass(frozen=True, eq=False)
class Prepared:
    """A solution, checked and digested by `prepare`, with the parameters to score against it.

    Attributes
    ----------
    items : list of str, the n documents' ids, sorted
    item_of_row : (rows,) int, the document of each row of the solution
    labels, groups : one group of all documents
    lengths : dict of id to the length of the text, None where it is unknown
    experts : of each document, list of Markup, in the order of content
    among : of each document, (pairs, criteria) float, the criteria of the pairs of its experts
    rules : Rules
    parameters : row_id_column_name, measure, criterion, lemmatiser
    """

    items: list[str]
    item_of_row: Ints
    labels: list[tuple[str, str]]
    groups: Ints
    lengths: dict[str, int | None]
    experts: list[list["Markup"]]
    among: list[Floats]
    rules: Rules
    parameters: tuple[str, str, str, str]

    @property
    def measure_names(self) -> list[str]:
        """The score, AMA, EMA, RMA, and each criterion's mean, algorithm with experts."""
        return ["score", "AMA", "EMA", "RMA", *CRITERIA[1:]]

    def read(self, submission: pd.DataFrame) -> list["Markup"]:
        """The submission's markups, checked, in the order of `items`.

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed, or its documents are not those of the solution.
        """
        table = _Table(submission, "the submission", self.parameters[0], ParticipantVisibleError)
        table.check_columns("markup")
        ids, is_readable = read_ids(table, self.items), self.rules.is_readable
        form = '"selections": []' if is_readable else '"elements": [{"fragments": [{"start": 0, "end": 10}]}]'
        lemma = lemmatiser_of(self.parameters[-1])
        cells = read_cells(
            table,
            "markup",
            lambda row, value: read_markup(value, self.lengths[ids[row]], lemma, is_readable),
            f"a markup in JSON, such as {{{form}}}",
        )
        by_id = dict(zip(ids, cells))
        return [by_id[item] for item in self.items]

    def compare(self, markups: Sequence["Markup"]) -> list[Floats]:
        """Of each document, the criteria of the algorithm with each of its experts, (experts, criteria)."""
        documents = _told(list(zip(markups, self.experts)))
        return [
            criteria_of(((markup, expert) for expert in experts), self.rules) for markup, experts in documents
        ]

    def count(self, algorithm: Sequence[Floats]) -> Floats:
        """The statistics, (n, criteria + 4), from the criteria of the algorithm with the experts.

        Per document with an expert the means of all criteria, then 1; per document with two or more, the mean
        C of the algorithm with the experts, that of the experts with each other, and 1.
        """
        rows = []
        for ours, theirs in zip(algorithm, self.among):
            of_two = [mean(ours)[0], mean(theirs)[0], 1] if len(theirs) else [0, 0, 0]
            rows.append([*mean(ours), len(ours) > 0, *of_two])
        return np.array(rows, dtype=np.float64)

    def statistics(self, submission: pd.DataFrame) -> Floats:
        """One array of numbers per document, (n, criteria + 4), whose sums decide every measure."""
        return self.count(self.compare(self.read(submission)))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """The measures, (..., m), of sums of the statistics, (..., 1, criteria + 4); NaN where not defined."""
        _, measure, criterion, _ = self.parameters
        criteria, ema, rma = average_accuracies(np.asarray(sums, dtype=np.float64)[..., 0, :])
        asked = rma if measure == "rma" else criteria[..., CRITERIA.index(criterion)]
        ama = criteria[..., 0]
        return np.concatenate([np.stack([asked, ama, ema, rma], axis=-1), criteria[..., 1:]], axis=-1)


# ---- Input: tables ---------------------------------------------------------------------------------------


def read_ids(table: "_Table", expected: Sequence[str] | None = None) -> list[str]:
    """The document of each row, (n,), each document once; exactly the `expected` ones, in any order."""
    codes, texts = table.texts(table.row_id)
    repeated = pd.Series(codes).duplicated().to_numpy()
    table.check(table.row_id, repeated, lambda row: "repeated", "every document once")
    if expected is not None:
        known = set(expected)
        unknown = np.array([text not in known for text in texts], dtype=bool)[codes]
        table.check(table.row_id, unknown, lambda row: "unknown", "ids of the test set's documents")
        if len(codes) < len(expected):  # which ones is not told
            lacking = _counted(len(expected) - len(codes), "document")
            raise table.error(
                f"{table.name}: expected a row for every document of the test set. It lacks {lacking}"
            )
    return [texts[code] for code in codes]


def read_lengths(table: "_Table") -> list[int | None]:
    """Length of the text of each row, None without a column for it."""
    if "text" not in table.frame:
        return [None] * len(table.frame)
    table.check_columns("text")
    codes, texts = table.texts("text")
    return [len(texts[code]) for code in codes]


def read_cells(table: "_Table", column: str, read: Callable[[int, Any], Any], expected: str) -> list[Any]:
    """What `read` makes of the row number and the JSON of each cell; its ValueErrors become one message."""
    values, faults = [], {}
    for row, cell in enumerate(_cells(table.frame[column])):
        try:
            values.append(read(row, _load(cell)))
        except ValueError as fault:
            faults[row] = str(fault)
    wrong = np.zeros(len(table.frame), dtype=bool)
    wrong[list(faults)] = True
    table.check(column, wrong, faults.__getitem__, expected)
    return values


def _load(cell: str) -> Any:
    """The value of a JSON text; every fault of it is a ValueError."""
    if not cell.strip():
        raise ValueError("missing")
    try:
        return _DECODER.decode(cell)
    except json.JSONDecodeError as fault:
        raise ValueError(f"not JSON: {fault.msg} at character {fault.pos + 1}") from None
    except RecursionError:
        raise ValueError("not a markup: nested too deeply") from None
    except ValueError as fault:  # an unknown constant, or a number of thousands of digits
        raise ValueError(f"not JSON: {_short(fault)}") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


class _Table(NamedTuple):
    """A frame, read column by column with checks; every fault has one form of message."""

    frame: pd.DataFrame
    name: str
    row_id: str
    error: type[Exception]

    def check_columns(self, *required: str) -> None:
        """The row id and every required column are there once, and every row has an id."""
        if not isinstance(self.frame, pd.DataFrame):
            raise HostVisibleError(f"{self.name}: expected a DataFrame, found {type(self.frame).__name__}")
        required = tuple(dict.fromkeys((self.row_id, *required)))
        names = list(self.frame.columns)
        lacking = [_short(name) for name in required if name not in names]
        if lacking:
            head = f"{self.name}: expected the columns {_listed(lacking, len(lacking), 120)} too. It has "
            found = [_short(name) for name in names]
            raise self.error(head + (_listed(found, len(found), LONGEST_MESSAGE - len(head)) or "none"))
        for name in required:
            if names.count(name) > 1:
                raise self.error(f"{self.name}: expected one column {_short(name)}, found {names.count(name)}")
        ids = self.frame[self.row_id]
        # pandas finds no fault in objects, and fails for Decimal("sNaN").
        missing = ids.map(_is_missing) if ids.dtype == object else ids.isna()
        self.check(self.row_id, missing.to_numpy(dtype=bool), lambda row: "missing", "an id in every row")

    def check(self, column: str, wrong: Bools, found: Callable[[int], str], expected: str) -> None:
        """Raise the table's error where rows are `wrong`; `found` says what is in a row."""
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        ids = self.frame[self.row_id]
        shown = []
        for row in rows[:ROWS_SHOWN].tolist():
            row_id = ids.iloc[row]
            is_named = not _is_missing(row_id)
            name = f"{_short(self.row_id)} {_short(row_id)}" if is_named else f"row number {row + 1}"
            shown.append(f"{name} ({found(row)})")
        head = f"{_short(column)}: expected {expected}. Wrong in {_counted(len(rows), 'row')} of {self.name}: "
        raise self.error(head + _listed(shown, len(rows), LONGEST_MESSAGE - len(head)))

    def texts(self, column: str) -> tuple[Ints, list[str]]:
        """Codes of a column's texts, (n,), and the distinct texts; nothing may be missing or blank."""
        codes, texts = _factorize(self.frame[column])
        self.check(column, codes < 0, lambda row: "missing", "a value in every row")
        return codes, texts


def _factorize(column: pd.Series) -> tuple[Ints, list[str]]:
    """Codes of a column's texts, (n,), -1 where missing or blank, and the distinct texts."""
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
        # Text first: pandas takes False for 0 and has no place for a list.
        column = pd.Series([None if _is_missing(value) else _as_text(value) for value in column], dtype=object)
    codes, distinct = pd.factorize(column)
    number: dict[str, int] = {}
    code_of_value = [
        number.setdefault(text, len(number)) if text.strip() else -1
        for text in map(_as_text, distinct.tolist())
    ]
    return np.array([*code_of_value, -1], dtype=np.int64)[codes], list(number)


def _cells(column: pd.Series) -> list[str]:
    """A column's texts, "" where missing."""
    values = column.to_numpy(dtype=object)
    if pd.api.types.infer_dtype(values, skipna=False) == "string":
        return values.tolist()
    return ["" if _is_missing(value) else _as_text(value) for value in values]


def _is_missing(value: object) -> bool:
    """Whether a cell holds nothing."""
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or value is pd.NA or value is pd.NaT


def _as_text(value: object) -> str:
    """The text of an id or label, the same whether a CSV reader took it for text, int or float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    # Python writes no integer of more than 4,300 digits.
    return f"{value:x}" if isinstance(value, int) and value.bit_length() > 14_000 else str(value)


def _short(value: object) -> str:
    """A value as messages show it: on one line and not long."""
    text = repr(_as_text(value)[: CHARACTERS_SHOWN + 1])[1:-1]
    return text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"


def _quoted(value: object) -> str:
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(items: Sequence[str], total: int, room: int) -> str:
    """As many of the items as fit into so many characters, and how many more of the `total` there are."""
    for number in range(len(items), 0, -1):
        more = f" and {total - number:,} more" if total > number else ""
        text = ", ".join(items[:number])
        if len(text) + len(more) <= room:
            return text + more
    return f"{text[: room - len(more) - 1]}…{more}" if items else ""


def _check_parameter(
    name: str,
    value: object,
    kind: type[str | float],
    fits: Callable[[Any], bool] = lambda value: True,
    wanted: str = "",
) -> None:
    """A parameter has its type, where a whole number is a float, too, and fits."""
    kinds = {float: (int, float, np.integer, np.floating), bool: (bool, np.bool_), str: (str,)}[kind]
    if not isinstance(value, kinds) or (kind is float and isinstance(value, bool)) or not fits(value):
        expected = {str: "text", bool: "True or False", float: f"a number {wanted}"}[kind]
        raise HostVisibleError(f"{name}: expected {expected}, found {type(value).__name__} {_quoted(value)}")


def _check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        room = LONGEST_MESSAGE - CHARACTERS_SHOWN - 40
        raise HostVisibleError(
            f"{name}: expected {_listed(choices, len(choices), room)}, found {_quoted(value)}"
        )


def _parse_weights(text: str, names: Sequence[str]) -> dict[str, float]:
    """The weights that a comma-separated list of NAME=NUMBER gives."""
    weights: dict[str, float] = {}
    for part in text.split(",") if text.strip() else []:
        name, _, number = (piece.strip() for piece in part.partition("="))
        known = name in names and name not in weights and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", number)
        if not known:
            found = _quoted(part)
            head = f"weights: expected NAME=NUMBER, each at least 0 and once, found {found}. The names are "
            raise HostVisibleError(head + _listed(names, len(names), LONGEST_MESSAGE - len(head)))
        weights[name] = float(number)
    return weights


# ---- Input: markups (1)-(4) ------------------------------------------------------------------------------


class Item(NamedTuple):
    """An element (2), fragment (3) or overtext (4), with what it holds in the order of content.

    The content (start, end, comment, tags, contents of overtexts, contents of fragments) knows no position in
    the file: items of equal content are equal in every comparison.  ``words``: the comment's bag of words;
    ``spans``, (2, n): starts and ends of the fragments; ``kinds``, (n,): of each the first
    one of equal tags and overtexts.
    """

    content: tuple[Any, ...]
    position: int
    words: frozenset[Any]
    tags: frozenset[str]
    overtexts: tuple["Item", ...]
    fragments: tuple["Item", ...]
    spans: Ints
    kinds: Ints


class Markup(NamedTuple):
    """A markup (1); `number`: from 1, in the document's list of experts."""

    content: tuple[Any, ...]
    elements: tuple[Item, ...]
    is_readable: bool
    number: int = 0


def read_experts(value: Any, length: int | None, lemmatise: Lemmatiser) -> list[Markup]:
    """The markups of a document's experts, in the order of content."""
    if not isinstance(value, list):
        raise ValueError(f"{_kind(value)} instead of a list of markups")
    found = _each("markup", {"markups": value}, lambda _, each: read_markup(each, length, lemmatise))
    markups = [markup._replace(number=number) for number, markup in enumerate(found, 1)]
    return sorted(markups, key=lambda markup: (markup.content, markup.number))


def read_markup(
    value: Any, length: int | None, lemmatise: Lemmatiser = str, is_readable: bool = False
) -> Markup:
    """A markup, only of READ//ABLE where that is asked for; `length` is that of its text, where it is known."""
    markup = _object(value)
    selections = "selections" in markup and "elements" not in markup
    if not selections and (is_readable or "elements" not in markup):
        raise ValueError(f"the markup has no {'selections' if is_readable else 'elements'}")
    elements = read_items(from_selections(markup) if selections else markup, "element", length, lemmatise)
    objects = all_of(elements)
    if len(objects) > MOST_OBJECTS:
        raise ValueError(f"{len(objects):,} elements, fragments and overtexts, above {MOST_OBJECTS:,}")
    characters = sum(len(text) for item in objects for text in (item.content[2], *item.content[3]))
    if characters > MOST_CHARACTERS:
        raise ValueError(f"{characters:,} characters of tags and comments, above {MOST_CHARACTERS:,}")
    return Markup(_contents(elements), elements, selections)


def from_selections(markup: Mapping[str, Any]) -> dict[str, Any]:
    """A READ//ABLE markup in the general form: one element whose fragments are the selections [4.3]."""

    def fragment(_: int, value: Any) -> dict[str, Any]:
        codes = [_plain(_text_of(_object(value), name)) for name in ("type", "subtype")]
        span = {"start": value.get("startSelection"), "end": value.get("endSelection")}
        return {**span, "tags": [code for code in codes if code]}

    fragments = _each("selection", markup, fragment)
    return {"elements": [{"fragments": fragments}] if fragments else []}


def read_items(
    holder: Mapping[str, Any], noun: str, length: int | None, lemmatise: Lemmatiser
) -> tuple[Item, ...]:
    """The elements, fragments or overtexts of a holder, in the order of content."""

    def read(position: int, value: Any) -> Item:
        found = _object(value)
        start, end = read_span(found, length) if noun == "fragment" else (0, 0)
        comment = _text_of(found, "comment") if noun == "overtext" else ""
        tags = [] if found.get("tags") is None else found["tags"]
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise ValueError("tags are no list of texts")
        overtexts = () if noun == "overtext" else read_items(found, "overtext", length, lemmatise)
        fragments = read_items(found, "fragment", length, lemmatise) if noun == "element" else ()
        content = start, end, comment, tuple(sorted(set(tags))), _contents(overtexts), _contents(fragments)
        spans = np.array([fragment.content[:2] for fragment in fragments], dtype=np.int64).reshape(-1, 2).T
        first: dict[Any, int] = {}
        kinds = _ints(first.setdefault(each.content[3:5], place) for place, each in enumerate(fragments))
        words = bag_of_words(comment, lemmatise)
        return Item(content, position, words, frozenset(tags), overtexts, fragments, spans, kinds)

    return tuple(sorted(_each(noun, holder, read), key=lambda item: item.content))


def read_span(fragment: Mapping[str, Any], length: int | None) -> tuple[int, int]:
    """Start and end of a fragment."""
    start, end = _offset(fragment, "start"), _offset(fragment, "end")
    if start > end:
        raise ValueError(f"start {start} is after end {end}")
    if length is not None and end > length:
        raise ValueError(f"end {end} is beyond the text")
    return start, end


def _contents(items: Sequence[Item]) -> tuple[Any, ...]:
    return tuple([item.content for item in items])


def all_of(items: Iterable[Item]) -> list[Item]:
    """The items and, behind them, all that they hold."""
    found = list(items)
    for item in found:
        found += [*item.overtexts, *item.fragments]
    return found


def _each(noun: str, holder: Mapping[str, Any], read: Callable[[int, Any], Any]) -> list[Any]:
    """What `read` makes of the positions and values of a holder's list, which may be left out."""
    values = holder.get(f"{noun}s")
    if values is None:
        return []
    if not isinstance(values, list):
        raise ValueError(f"{noun}s is {_kind(values)} instead of a list")
    results = []
    for position, value in enumerate(values):
        try:
            results.append(read(position, value))
        except ValueError as fault:
            raise ValueError(f"{noun} {position + 1}: {fault}") from None
    return results


def _offset(holder: Mapping[str, Any], name: str) -> int:
    value = holder.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} is {_kind(value)} instead of a whole number")
    if not 0 <= value <= LAST_OFFSET:
        raise ValueError(f"{name} is {'negative' if value < 0 else f'above {LAST_OFFSET:,}'}")
    return value


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{_kind(value)} instead of an object")
    return value


def _text_of(holder: Mapping[str, Any], name: str) -> str:
    """A text that may be left out."""
    value = holder.get(name, "")
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is {_kind(value)} instead of text")
    return value or ""


def _kind(value: Any) -> str:
    """A JSON value in a message."""
    if value is None:
        return "missing"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return _quoted(value) if isinstance(value, str) else _short(value)


def _plain(text: str) -> str:
    """A code as it is compared: without regard to case, outer spaces and Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).strip().casefold())


def bag_of_words(comment: str, lemmatise: Lemmatiser) -> frozenset[tuple[str, int]]:
    """The multiset of a comment's words, as the set of (word, how often it occurred before).

    >>> sorted(bag_of_words("Ёж и ещё еж", str))
    [('еж', 0), ('еж', 1), ('еще', 0), ('и', 0)]
    """
    words = re.findall(r"\w+", unicodedata.normalize("NFC", comment).lower())
    seen: dict[str, int] = {}
    bag = []
    for word in words:
        word = lemmatise(word).lower().replace("ё", "е")
        seen[word] = seen.get(word, -1) + 1
        bag.append((word, seen[word]))
    return frozenset(bag)


@functools.cache
def lemmatiser_of(name: str) -> Lemmatiser:
    """The function from a word in lower case to its lemma."""
    package, _, language = name.partition(":")
    try:
        if package == "simplemma" and language:
            lemmatize = importlib.import_module(package).lemmatize
            lemmatize("a", lang=language)  # is there such a language?
            return functools.cache(lambda word: str(lemmatize(word, lang=language)))
        if name == "pymorphy3":
            analyser = importlib.import_module(name).MorphAnalyzer()
            return functools.cache(lambda word: str(analyser.parse(word)[0].normal_form))
    except (ImportError, ValueError) as problem:
        found = f"{_quoted(name)}: {_short(problem)}"
        raise HostVisibleError(f"lemmatiser: expected one that is installed, found {found}") from None
    if name != "none":
        raise HostVisibleError(
            f"lemmatiser: expected none, pymorphy3 or simplemma:LANGUAGE, found {_quoted(name)}"
        )
    return str


# ---- Weights (7) -----------------------------------------------------------------------------------------


def weights_in_use(
    experts: Iterable[Markup], is_readable: bool, given: Mapping[str, float]
) -> dict[str, float]:
    """One, but zero for criteria whose subject occurs nowhere among the experts; then those that are given."""
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
    """Σ w·C / Σ w (7) of some criteria, exactly 1 where all are 1; 0 where all weights are 0."""
    # One after the other, as neither Python nor numpy promises of its sum.
    total = 0.0
    for name in names:
        total = total + criteria[name] * weights[name]
    return total / (sum(weights[name] for name in names) or 1.0)


# ---- Consistency (7) -------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """Two objects that may be, or are, partners.

    ``criteria``: what a level averages over the partners, by name; ``levels``: of what the two hold.
    """

    first: Item
    second: Item
    criteria: dict[str, float]
    levels: tuple["Level", ...] = ()


class Level(NamedTuple):
    """The partners among objects of one kind, and the averages over them: all criteria `WITHIN` the level."""

    name: str
    pairs: list[Pair]
    averages: dict[str, float]


def consistency(one: Markup, other: Markup, rules: Rules) -> Level:
    """Every criterion of two markups, C (7) among them by the name total, with the partners.

    The one whose content comes first is on the left, so that the consistency is symmetric.
    """
    x, y = (markup.elements for markup in sorted((one, other), key=lambda markup: markup.content))
    pairs = {(i, k): pair_of_elements(x[i], y[k], rules) for i, k in candidates_of_elements(x, y)}
    return level_of_pairs("total", len(x) + len(y), pairs, rules)


def candidates_of_elements(x: Sequence[Item], y: Sequence[Item]) -> list[Any]:
    """Places of elements that hold fragments which could be partners, or none on either side; in order."""
    holders, spans = zip(*(all_spans(elements) for elements in (x, y)))
    i, k = overlapping(*spans).T
    bare = (np.array([not element.fragments for element in side], dtype=bool) for side in (x, y))
    may = np.logical_and.outer(*bare)
    may[holders[0][i], holders[1][k]] = True
    return list(np.argwhere(may).tolist())


def all_spans(elements: Sequence[Item]) -> tuple[Ints, Ints]:
    """All fragments of elements, by start: the element of each, (n,), and the starts and ends, (2, n)."""
    spans = np.concatenate([np.empty((2, 0), dtype=np.int64), *(element.spans for element in elements)], axis=1)
    holders = np.repeat(np.arange(len(elements)), [len(element.fragments) for element in elements])
    order = np.argsort(spans[0], kind="stable")
    return holders[order], spans[:, order]


def pair_of_elements(x: Item, y: Item, rules: Rules) -> Pair:
    """Two elements with the criteria that partners have."""
    overtexts = c_overtexts("overtexts", x.overtexts, y.overtexts, rules)
    fragments = c_fragments(x, y, rules)
    criteria = {"tags": c_tags(x, y), **overtexts.averages, **fragments.averages}
    criteria |= {"fragment_text_union": c_union_of_texts(x, y), "fragment_tag_union": c_union_of_tags(x, y)}
    return Pair(x, y, criteria, (overtexts, fragments))


def level_of_pairs(name: str, objects: int, pairs: Mapping[tuple[int, int], Pair], rules: Rules) -> Level:
    """`level_of` candidates that are made already, by their places."""
    criteria = {part: np.array([pair.criteria[part] for pair in pairs.values()]) for part in PARTS[name][1:]}
    return level_of(
        name, objects, _ints(pairs).reshape(-1, 2), criteria, list(pairs.values()).__getitem__, rules
    )


def level_of(
    name: str,
    objects: int,
    places: Ints,
    criteria: Mapping[str, Floats],
    pair: Callable[[int], Pair],
    rules: Rules,
) -> Level:
    """The averages over the optimal accordance of objects.

    Parameters
    ----------
    name : of the composite criterion, a key of `PARTS`
    objects : how many the two sides have together
    places : (n, 2), of each two that may be partners, in order
    criteria : of them, (n,) each
    pair : makes one of them, from its number
    """
    accordance, *parts = PARTS[name]
    worth = weighted_average(criteria, parts, rules.weights)
    if rules.accordance == "sum":
        chosen = best_sum(places, worth + TIE)  # so that among equal sums more pairs win
    else:
        share = rules.weights[accordance] / sum(rules.weights[part] for part in PARTS[name])
        chosen = best_average(places, worth, objects, share)
    pairs = [pair(number) for number in np.flatnonzero(chosen).tolist()]
    averages = {accordance: c_accordance(len(pairs), objects)}
    for part in WITHIN[name]:
        if part not in (name, accordance):
            averages[part] = _mean_over_pairs([each.criteria[part] for each in pairs], objects)
    averages[name] = weighted_average(averages, PARTS[name], rules.weights)
    return Level(name, pairs, averages)


def _mean_over_pairs(values: Sequence[float], objects: int) -> float:
    # One after the other, as neither Python nor numpy promises of its sum.
    total = 0.0
    for value in values:
        total += value
    return total / max(len(values), 1) if objects else 1.0


# ---- Criteria (13)-(24) ----------------------------------------------------------------------------------
# Those of tags, texts and unions give the summand of a pair; `level_of` averages over the accordance.


def f_measure(common: Any, total: Any) -> Any:
    """F = 2|A ∩ B| / (|A| + |B|) (6), and 1 for two empty sets."""
    is_empty = total == 0
    return (2.0 * common + is_empty) / (total + is_empty)


def f_of_sets(a: frozenset[Any], b: frozenset[Any]) -> float:
    """F of two sets."""
    return float(f_measure(len(a & b), len(a) + len(b)))


def c_accordance(pairs: int, objects: int) -> float:
    """(13), (16), (20): of the objects of both sides, how many found a partner."""
    return float(f_measure(pairs, objects))


def c_tags(x: Item, y: Item) -> float:
    """(14) of elements, (18) of overtexts, (22) of fragments."""
    return f_of_sets(x.tags, y.tags)


def c_overtexts(name: str, x: Sequence[Item], y: Sequence[Item], rules: Rules) -> Level:
    """(15) of elements, 3.4.4 of fragments: overtexts with a common word or tag, or without words and tags."""
    if not x or not y:  # which most are
        return Level(name, [], dict.fromkeys(WITHIN[name], float(len(x) == len(y))))
    pairs = {
        (i, k): Pair(a, b, {f"{name}.texts": c_overtexts_texts(a, b), f"{name}.tags": c_tags(a, b)})
        for (i, a), (k, b) in itertools.product(enumerate(x), enumerate(y))
        if a.words & b.words or a.tags & b.tags or not (a.words or b.words or a.tags or b.tags)
    }
    return level_of_pairs(name, len(x) + len(y), pairs, rules)


def c_overtexts_texts(x: Item, y: Item) -> float:
    """(17)."""
    return f_of_sets(x.words, y.words)


def c_fragments(x: Item, y: Item, rules: Rules) -> Level:
    """(19), of fragments with common characters, or empty ones at the same place."""

    def of_inner(i: int, k: int) -> tuple[float, Level]:
        a, b = x.fragments[i], y.fragments[k]
        return c_tags(a, b), c_overtexts(name, a.overtexts, b.overtexts, rules)

    def pair(number: int) -> Pair:
        i, k = places[number].tolist()
        tags, notes = of_inner(i, k)
        criteria = {"fragments.texts": float(texts[number]), "fragments.tags": tags, **notes.averages}
        return Pair(x.fragments[i], y.fragments[k], criteria, (notes,))

    name = "fragments.overtexts"
    places = overlapping(x.spans, y.spans)
    texts = c_fragments_texts(x.spans[:, places[:, 0]], y.spans[:, places[:, 1]])
    # Of many candidates few become partners, and many are equal but for their place: compared once.
    kinds, kind = np.unique(x.kinds[places[:, 0]] * len(y.kinds) + y.kinds[places[:, 1]], return_inverse=True)
    inner = [of_inner(*divmod(each, len(y.kinds))) for each in kinds.tolist()]
    criteria = {
        "fragments.texts": texts,
        "fragments.tags": np.array([tags for tags, _ in inner])[kind],
        name: np.array([notes.averages[name] for _, notes in inner])[kind],
    }
    return level_of("fragments", len(x.fragments) + len(y.fragments), places, criteria, pair, rules)


def c_fragments_texts(x: Ints, y: Ints) -> Any:
    """(21), of spans, (2, n) each, with common characters."""
    common = np.minimum(x[1], y[1]) - np.maximum(x[0], y[0])
    return f_measure(common, x[1] - x[0] + y[1] - y[0])


def c_union_of_texts(x: Item, y: Item) -> float:
    """(23)."""
    total = length_of_union(x.fragments) + length_of_union(y.fragments)
    return float(f_measure(total - length_of_union(x.fragments + y.fragments), total))


def length_of_union(fragments: Sequence[Item]) -> int:
    """How many characters lie in at least one of the fragments."""
    length = reached = 0
    for start, end in sorted(fragment.content[:2] for fragment in fragments):
        length += max(end - max(start, reached), 0)
        reached = max(reached, end)
    return length


def c_union_of_tags(x: Item, y: Item) -> float:
    """(24)."""
    ours, theirs = (frozenset[str]().union(*(each.tags for each in side.fragments)) for side in (x, y))
    return f_of_sets(ours, theirs)


def overlapping(x: Ints, y: Ints) -> Ints:
    """Places in x and in y, (n, 2), of spans with common characters, and of empty ones at the same place.

    A sweep over the starts, which are sorted: what overlaps a span comes after all that end before it and
    before all that start behind it.

    >>> overlapping(np.array([[0, 5], [4, 5]]), np.array([[0, 4, 5], [9, 5, 5]])).tolist()
    [[0, 0], [1, 2]]
    """
    x_end, y_end = (np.maximum(end, start + 1) for start, end in (x, y))
    first = np.searchsorted(np.maximum.accumulate(y_end), x[0], "right")
    last = np.searchsorted(y[0], x_end)
    i = np.repeat(np.arange(len(first)), last - first)
    k = np.arange(len(i)) + np.repeat(last - np.cumsum(last - first), last - first)
    kept = (y_end[k] > x[0][i]) & ((x[0] == x[1])[i] == (y[0] == y[1])[k])
    return np.asarray(np.column_stack([i, k])[kept])


# ---- The optimal accordance (8), (9) ---------------------------------------------------------------------


def best_sum(places: Ints, worth: Floats) -> Bools:
    """Which of the candidates at places (n, 2), all worth something, make the accordance of the largest sum.

    The best pair of all, (0, 0), is given up for two good ones:

    >>> best_sum(np.array([[0, 0], [0, 1], [1, 0]]), np.array([0.9, 0.6, 0.6])).tolist()
    [False, True, True]
    """
    i, k = places.T
    chosen: Bools = (np.bincount(i)[i] == 1) & (np.bincount(k)[k] == 1)
    if chosen.all():  # no object has a choice
        return chosen
    matrix = np.zeros((i.max() + 1, k.max() + 1))
    matrix[i, k] = np.where(chosen, 0.0, worth)
    partner = np.full(len(matrix), -1)
    for rows, columns in components(matrix):
        part = matrix[rows][:, columns]
        if min(part.shape) > LARGE:
            # Made square, so that all columns get a row, and each column's best worth 0: found sooner.
            part = np.pad(part, [(0, max(part.shape) - length) for length in part.shape])
            part -= part.max(axis=0)
        r, c = linear_sum_assignment(part, maximize=True)
        real = (r < len(rows)) & (c < len(columns))
        partner[rows[r[real]]] = columns[c[real]]
    chosen |= partner[i] == k
    return chosen


def components(matrix: Floats) -> list[tuple[Ints, Ints]]:
    """The rows and the columns of each part of a matrix that shares none with another.

    >>> matrix = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 0, 0]])
    >>> [(rows.tolist(), columns.tolist()) for rows, columns in components(matrix)]
    [([1], [1, 2]), ([0, 3], [0])]
    """
    found: dict[int, tuple[list[int], set[int]]] = {}
    part_of: dict[int, int] = {}  # by column
    for row, line in enumerate(matrix):
        rows, columns = [row], set(np.flatnonzero(line).tolist())
        for part in {part_of[column] for column in columns & part_of.keys()}:
            rows, columns = rows + found[part][0], columns | found.pop(part)[1]
        if columns:
            found[row] = rows, columns
            part_of |= dict.fromkeys(columns, row)
    return [(_ints(sorted(rows)), _ints(sorted(columns))) for rows, columns in found.values()]


def _ints(values: Iterable[Any]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def best_average(places: Ints, worth: Floats, objects: int, share: float) -> Bools:
    """Which of the candidates make the accordance of the largest weighted average (9).

    That is share·2q/n + (1 - share)·S/q for q pairs of the sum S, where n is the number of objects of both
    sides, and `share` the weight of the accordance.  S is concave in q, so S/q falls: that bounds what numbers
    between two tried ones can give.

    A weak second pair lowers the average by more than the better accordance is worth:

    >>> best_average(np.array([[0, 0], [1, 1]]), np.array([0.9, 0.1]), 4, 0.25).tolist()
    [True, False]
    >>> best_average(np.array([[0, 0], [1, 1]]), np.array([0.9, 0.1]), 4, 0.75).tolist()
    [True, True]
    """
    if not len(places):
        return np.zeros(0, dtype=bool)
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
    """The accordance of the largest sum of worth with so many pairs, or with as many as there can be.

    Of n rows, n - q must take one of n - q spare columns: worth more than all pairs together, so that all
    spare columns are taken, which leaves q rows for pairs.
    """
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    matrix = np.full((rows, columns + rows - pairs), float(rows + 1))
    matrix[:, :columns] = -float(rows + 1)
    matrix[row, column] = worth
    partner = linear_sum_assignment(matrix, maximize=True)[1]
    chosen: Bools = partner[row] == column
    return chosen


# ---- The corpus (10)-(12) --------------------------------------------------------------------------------


def criteria_of(pairs: Iterable[tuple[Markup, Markup]], rules: Rules) -> Floats:
    """The criteria of pairs of markups of a document, (pairs, criteria)."""
    averages = [consistency(*pair, rules).averages for pair in pairs]
    rows = [[each[name] for name in CRITERIA] for each in averages]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(CRITERIA))


def mean(values: Floats) -> Floats:
    """Means of the columns, 0 without rows."""
    return np.asarray(values.sum(axis=0) / max(len(values), 1))


def _told(steps: Sequence[T]) -> Iterator[T]:
    """The steps, of which `progress` is told."""
    for done, step in enumerate(steps, 1):
        yield step
        if progress is not None:
            progress(done, len(steps))


def average_accuracies(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """AMA (10) of each criterion, (..., criteria), EMA (11) and RMA (12), (...), of sums of the statistics.

    Two documents with C = 0.6 and 0.8; the first has two experts, with C = 0.5:

    >>> ama, ema, rma = average_accuracies(np.array([1.4, 2, 0.6, 0.5, 1]))
    >>> ama.round(3).tolist(), float(ema), round(float(rma), 3)
    ([0.7], 0.5, 1.2)
    """
    *_, number, of_two, theirs, two = np.moveaxis(sums, -1, 0)
    ama, ema = _ratio(sums[..., :-4], number[..., np.newaxis]), _ratio(theirs, two)
    return ama, ema, _ratio(_ratio(of_two, two), ema)


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """numerator / denominator, NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient
