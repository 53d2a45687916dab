"""Consistency of an algorithm's text markup with experts who disagree, as one file to upload to Kaggle.

Several experts mark up the same document, and none of them is the truth.  ``score`` says how well an
algorithm's markups agree with theirs, relative to how well theirs agree with each other.  It follows
A. Levikin, I. Khabutdinov, A. Grabovoy and K. Vorontsov, "The methodology of multi-criteria evaluation of text
markup models based on inconsistent expert markup" (2025), section 3, whose equations are given in brackets.
The stages stand in the order in which data passes through them:

    input                 (1)-(4)    read_markup, lay_out
    weights               (7)        weights_in_use
    candidates                       overlapping, candidates_of_elements
    criteria              (13)-(24)  c_accordance, c_tags, c_overtexts … c_union_of_tags
    optimal accordance    (8), (9)   best_sum, best_average
    consistency           (7)        compare, match
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
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

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
MEASURES = ("rma", "ama", "consistency")
ACCORDANCES = ("sum", "exact")

TIE = 1e-9  # sums of worth that differ by less are equal
LAST_OFFSET = 1_000_000_000
# Of one markup; these bound time and memory.
MOST_OBJECTS = 2_000  # elements, fragments and overtexts
MOST_CHARACTERS = 200_000  # of tags and comments
LARGE = 500  # rows and columns of an assignment problem that is prepared before it is solved
CELLS_AT_ONCE = 200_000  # pairs of objects that are compared in one step

LONGEST_MESSAGE = 280  # characters; Kaggle cuts the rest
ROWS_SHOWN = 3
CHARACTERS_SHOWN = 40

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Lemmatiser = Callable[[str], str]

# A tool may set it to a function of the pairs of markups that are compared and of all.
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
    cells = read_cells(
        table,
        "markups",
        lambda row, value: read_experts(value, lengths[row]),
        'a list of markups in JSON, such as [{"elements": [{"fragments": [{"start": 0, "end": 10}]}]}]',
    )
    order = sorted(range(len(ids)), key=ids.__getitem__)
    experts = [expert for row in order for expert in cells[row]]
    document = np.repeat(np.arange(len(ids)), [len(cells[row]) for row in order])
    markups = lay_out(experts, lemmatiser)
    is_readable = bool(experts) and all(expert.is_readable for expert in experts)
    rules = Rules(weights_in_use(markups, is_readable, explicit), accordance, is_readable)
    pairs = spread(np.arange(len(document)) + 1, np.searchsorted(document, document, "right"))
    needed, found = ("two experts", pairs[0]) if measure == "rma" else ("an expert", experts)
    if not len(found):
        raise HostVisibleError(f"markups: expected a document with markups of {needed}, found none")
    criteria = criteria_of(markups, *pairs, rules)
    if measure == "rma" and not criteria[:, 0].any():
        raise HostVisibleError("markups: expected experts that have something in common, found none")
    return Prepared(
        items=[ids[row] for row in order],
        item_of_row=np.argsort(order),
        labels=[("(all)", "(all)")],
        groups=np.zeros((1, len(ids)), dtype=np.int64),
        lengths=dict(zip(ids, lengths)),
        experts=experts,
        expert_document=document,
        markups=markups,
        expert_pairs=pairs,
        expert_criteria=criteria,
        rules=rules,
        parameters=(row_id_column_name, measure, criterion, lemmatiser),
    )


class Rules(NamedTuple):
    """How markups are compared: the weight of each criterion but ``total``, and the accordance.

    ``is_readable``: whether the experts' markups, and so those of a submission, are READ//ABLE's.
    """

    weights: dict[str, float]
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
    experts, markups : list of Markup, document by document, in the order of content, and the same as columns
    expert_document : (experts,) int, the document of each
    expert_pairs : two (pairs,) int, all unordered pairs of experts of the same document
    expert_criteria : (pairs, criteria) float, their criteria, in the order of `CRITERIA`
    rules : Rules
    parameters : row_id_column_name, measure, criterion, lemmatiser
    """

    items: list[str]
    item_of_row: Ints
    labels: list[tuple[str, str]]
    groups: Ints
    lengths: dict[str, int | None]
    experts: list["Markup"]
    expert_document: Ints
    markups: "Markups"
    expert_pairs: tuple[Ints, Ints]
    expert_criteria: Floats
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
        cells = read_cells(
            table,
            "markup",
            lambda row, value: read_markup(value, self.lengths[ids[row]], is_readable),
            f"a markup in JSON, such as {{{form}}}",
        )
        by_id = dict(zip(ids, cells))
        return [by_id[item] for item in self.items]

    def comparison(self, algorithm: Sequence["Markup"]) -> tuple["Markups", Ints, Ints]:
        """All markups, the experts' first, and the two of each expert with the algorithm, (experts,) each.

        The one whose content comes first is on the left, so that the comparison is symmetric.
        """
        theirs = np.arange(len(self.experts))
        ours = len(theirs) + self.expert_document
        pairs = zip(self.expert_document.tolist(), self.experts)
        ahead = np.array([algorithm[d].content <= expert.content for d, expert in pairs], dtype=bool)
        markups = join(self.markups, lay_out(algorithm, self.parameters[-1]))
        return markups, np.where(ahead, ours, theirs), np.where(ahead, theirs, ours)

    def count(self, criteria: Floats) -> Floats:
        """The statistics, (n, criteria + 4), from the criteria of each expert with the algorithm.

        Per document with an expert the means of all criteria, then 1; per document with two or more, the mean
        C of the algorithm with the experts, that of the experts with each other, and 1.
        """
        n, document = len(self.items), self.expert_document
        ours, among = means(criteria, document, n), document[self.expert_pairs[0]]
        theirs = means(self.expert_criteria[:, :1], among, n)[:, 0]
        one, two = ~np.isnan(ours[:, 0]), ~np.isnan(theirs)
        sums = np.where(one[:, np.newaxis], ours, 0.0)
        return np.column_stack([sums, one, np.where(two, ours[:, 0], 0.0), np.where(two, theirs, 0.0), two])

    def statistics(self, submission: pd.DataFrame) -> Floats:
        """One array of numbers per document, (n, criteria + 4), whose sums decide every measure."""
        return self.count(criteria_of(*self.comparison(self.read(submission)), self.rules))

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
    the file: items of equal content are equal in every comparison.
    """

    content: tuple[Any, ...]
    position: int
    overtexts: tuple["Item", ...]
    fragments: tuple["Item", ...]


class Markup(NamedTuple):
    """A markup (1); `number`: from 1, in the document's list of experts."""

    content: tuple[Any, ...]
    elements: tuple[Item, ...]
    is_readable: bool
    number: int = 0


def read_experts(value: Any, length: int | None) -> list[Markup]:
    """The markups of a document's experts, in the order of content."""
    if not isinstance(value, list):
        raise ValueError(f"{_kind(value)} instead of a list of markups")
    markups = _each(
        "markup",
        {"markups": value},
        lambda position, markup: read_markup(markup, length)._replace(number=position + 1),
    )
    return sorted(markups, key=lambda markup: (markup.content, markup.number))


def read_markup(value: Any, length: int | None, is_readable: bool = False) -> Markup:
    """A markup, only of READ//ABLE where that is asked for; `length` is that of its text, where it is known."""
    markup = _object(value)
    selections = "selections" in markup and "elements" not in markup
    if not selections and (is_readable or "elements" not in markup):
        raise ValueError(f"the markup has no {'selections' if is_readable else 'elements'}")
    elements = read_items(from_selections(markup) if selections else markup, "element", length)
    objects = _all_of(elements)
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


def read_items(holder: Mapping[str, Any], noun: str, length: int | None) -> tuple[Item, ...]:
    """The elements, fragments or overtexts of a holder, in the order of content."""

    def read(position: int, value: Any) -> Item:
        found = _object(value)
        start, end = read_span(found, length) if noun == "fragment" else (0, 0)
        comment = _text_of(found, "comment") if noun == "overtext" else ""
        tags = [] if found.get("tags") is None else found["tags"]
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise ValueError("tags are no list of texts")
        has_overtexts = noun != "overtext" and "overtexts" in found
        overtexts = read_items(found, "overtext", length) if has_overtexts else ()
        fragments = read_items(found, "fragment", length) if noun == "element" else ()
        content = start, end, comment, tuple(sorted(set(tags))), _contents(overtexts), _contents(fragments)
        return Item(content, position, overtexts, fragments)

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


def _all_of(items: Sequence[Item]) -> list[Item]:
    inner = [held for item in items for held in (item.overtexts, item.fragments) if held]
    return [*items, *(item for held in inner for item in _all_of(held))]


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


class Objects(NamedTuple):
    """Objects of one kind, as columns: those of holder k are the rows first[k] to first[k + 1].

    ``start`` and ``end``: of fragments; ``words`` and ``tags``: numbers of sets, where an element has the tags
    of its fragments for words; ``position``: in the file.
    """

    first: Ints
    start: Ints
    end: Ints
    words: Ints
    tags: Ints
    position: Ints


class Markups(NamedTuple):
    """Many markups, as columns of the objects in them, in the order of content.

    ``notes``: the overtexts of fragments; ``united``: the intervals that the fragments of each element cover.
    Words and tags are numbers of `sets`, and number 0 is the empty set; ``sizes``: of the sets.
    """

    elements: Objects
    overtexts: Objects
    fragments: Objects
    notes: Objects
    united: Objects
    sets: list[frozenset[Any]]
    sizes: Ints


def lay_out(markups: Sequence[Markup], lemmatiser: str) -> Markups:
    """Markups as columns."""
    lemmatise = lemmatiser_of(lemmatiser)
    numbers: dict[frozenset[Any], int] = {frozenset(): 0}

    @functools.cache
    def words(comment: str) -> int:
        return numbers.setdefault(bag_of_words(comment, lemmatise), len(numbers))

    @functools.cache
    def tags(names: tuple[str, ...]) -> int:
        return numbers.setdefault(frozenset(names), len(numbers))

    def columns(held: Sequence[Sequence[Item]]) -> Objects:
        items = [item for holder in held for item in holder]
        start, end, comments, names = zip(*(item.content[:4] for item in items)) if items else ((),) * 4
        numbers_of_sets = _ints(map(words, comments)), _ints(map(tags, names))
        return Objects(
            _firsts(map(len, held)),
            _ints(start),
            _ints(end),
            *numbers_of_sets,
            _ints(item.position for item in items),
        )

    elements = [element for markup in markups for element in markup.elements]
    fragments = [fragment for element in elements for fragment in element.fragments]
    all_tags = ({tag for item in element.fragments for tag in item.content[3]} for element in elements)
    return Markups(
        columns([markup.elements for markup in markups])._replace(
            words=_ints(tags((*names,)) for names in all_tags)
        ),
        columns([element.overtexts for element in elements]),
        columns([element.fragments for element in elements]),
        columns([fragment.overtexts for fragment in fragments]),
        columns([merge(element.fragments) for element in elements]),
        list(numbers),
        _ints(map(len, numbers)),
    )


def join(some: Markups, others: Markups) -> Markups:
    """Some markups and, behind them, others."""

    def behind(one: Objects, other: Objects) -> Objects:
        other = other._replace(words=other.words + len(some.sets), tags=other.tags + len(some.sets))
        first = np.concatenate([one.first, other.first[1:] + one.first[-1]])
        return Objects(first, *map(np.concatenate, zip(one[1:], other[1:])))

    sizes = np.concatenate([some.sizes, others.sizes])
    return Markups._make([*map(behind, some[:5], others[:5]), some.sets + others.sets, sizes])


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


def merge(fragments: Sequence[Item]) -> list[Item]:
    """Disjoint intervals, as items, that cover the same characters as fragments in the order of content.

    >>> spans = [(0, 5), (3, 8), (8, 9), (12, 12), (20, 30)]
    >>> [item.content[:2] for item in merge([Item((*span, "", ()), 0, (), ()) for span in spans])]
    [(0, 9), (20, 30)]
    """
    spans: list[tuple[int, int]] = []
    for start, end, *_ in (fragment.content for fragment in fragments):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        elif end > start:
            spans.append((start, end))
    return [Item((*span, "", ()), 0, (), ()) for span in spans]


def _ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def _firsts(sizes: Iterable[int]) -> Ints:
    """Where each holder's objects start, and where the last one's end."""
    return np.concatenate([[0], np.cumsum(_ints(sizes))])


# ---- Weights (7) -----------------------------------------------------------------------------------------


def weights_in_use(experts: Markups, is_readable: bool, explicit: Mapping[str, float]) -> dict[str, float]:
    """One, but zero for criteria whose subject occurs nowhere among the experts; then the explicit ones."""
    elements, overtexts, fragments, notes = experts[:4]
    has_fragments = len(fragments.start) > 0
    occurs: dict[str, bool | np.bool_] = {
        "accordance": not (is_readable and has_fragments),
        "tags": elements.tags.any(),
        "fragments": has_fragments,
        "fragments.texts": (fragments.end > fragments.start).any(),
        "fragments.tags": fragments.tags.any(),
    }
    for name, those in (("overtexts", overtexts), ("fragments.overtexts", notes)):
        occurs |= {
            name: len(those.tags) > 0,
            f"{name}.texts": those.words.any(),
            f"{name}.tags": those.tags.any(),
        }
    occurs["fragment_text_union"] = occurs["fragments.texts"]
    occurs["fragment_tag_union"] = occurs["fragments.tags"]
    weights = {name: float(occurs.get(name, True)) for name in CRITERIA[1:]} | dict(explicit)
    for level, names in PARTS.items():
        if not sum(weights[name] for name in names) > 0:
            raise HostVisibleError(f"weights: expected one above 0 among the parts of {level}, found none")
    return weights


def weighted_average(criteria: Mapping[str, Floats], names: Sequence[str], weights: Sequence[float]) -> Floats:
    """Σ w·C / Σ w (7), exactly 1 where all criteria are 1."""
    # One after the other, so that a value never depends on how many others are computed beside it.
    total: Floats = np.zeros_like(criteria[names[0]])
    for name, weight in zip(names, weights):
        total += criteria[name] * weight
    average: Floats = total / sum(weights)
    return average


# ---- Candidates for pairs --------------------------------------------------------------------------------


class Pairs(NamedTuple):
    """Pairs of objects: the pair, one level up, that holds them; their rows, on the left and on the right."""

    owner: Ints
    first: Ints
    second: Ints


def spread(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The numbers from first[k] up to last[k], for each k: k and the number.

    >>> [part.tolist() for part in spread(np.array([5, 0, 8]), np.array([8, 0, 9]))]
    [[0, 0, 0, 2], [5, 6, 7, 8]]
    """
    sizes = np.maximum(last - first, 0)
    owner = np.repeat(np.arange(len(first)), sizes)
    return owner, np.arange(len(owner)) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)


def cross(first: Ints, a: Ints, b: Ints) -> Pairs:
    """Every object of holder a[k] with every object of holder b[k], in order; those of k begin at first[k].

    The first holder, of two objects, with the second, of three:

    >>> [part.tolist() for part in cross(np.array([0, 2, 5]), np.array([0]), np.array([1]))]
    [[0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1], [2, 3, 4, 2, 3, 4]]
    """
    owner, row = spread(first[a], first[a + 1])
    held, column = spread(first[b[owner]], first[b[owner] + 1])
    return Pairs(owner[held], row[held], column)


def overlapping(first: Ints, start: Ints, end: Ints, a: Ints, b: Ints) -> Pairs:
    """The spans of holders a[k] and b[k] with common characters, and the same empty ones, for each k.

    Two spans overlap where one starts within the other: so binary search among the sorted starts finds all
    pairs without looking at the others.

    >>> first, start, end = np.array([0, 2, 5]), np.array([0, 5, 0, 4, 5]), np.array([4, 5, 9, 5, 5])
    >>> [part.tolist() for part in overlapping(first, start, end, np.array([0]), np.array([1]))]
    [[0, 0], [0, 1], [2, 4]]
    """
    owner, row = spread(first[a], first[a + 1])
    other, column = spread(first[b], first[b + 1])
    ours, theirs = owner * (LAST_OFFSET + 2) + start[row], other * (LAST_OFFSET + 2) + start[column]
    length, width = (end - start)[row], (end - start)[column]
    by_start, starts = np.argsort(ours, kind="stable"), np.argsort(theirs, kind="stable")
    x, found = spread(
        np.searchsorted(theirs, ours, sorter=starts),
        np.searchsorted(theirs, ours + np.maximum(length, 1), sorter=starts),
    )
    behind, y = spread(
        np.searchsorted(ours, theirs, "right", sorter=by_start),
        np.searchsorted(ours, theirs + width, sorter=by_start),
    )
    x, y = np.concatenate([x, by_start[y]]), np.concatenate([starts[found], behind])
    kept = (length[x] > 0) == (width[y] > 0)
    x, y = x[kept], y[kept]
    order = np.lexsort((y, x))
    return Pairs(owner[x[order]], row[x[order]], column[y[order]])


def candidates_of_elements(markups: Markups, a: Ints, b: Ints, fragments: Pairs) -> tuple[Pairs, Ints]:
    """Elements that hold such fragments, or none on either side; of each pair of fragments that of elements."""
    first, holder = markups.elements.first, holders_of(markups.fragments)
    is_bare = np.diff(markups.fragments.first) == 0
    bare = np.flatnonzero(is_bare)
    owner, x, y = cross(np.concatenate([[0], np.cumsum(is_bare)])[first], a, b)
    k = np.concatenate([fragments.owner, owner])
    p = np.concatenate([holder[fragments.first], bare[x]])
    q = np.concatenate([holder[fragments.second], bare[y]])
    step = MOST_OBJECTS + 1
    key = (k * step + p - first[a[k]]) * step + q - first[b[k]]
    _, place, number = np.unique(key, return_index=True, return_inverse=True)
    return Pairs(k[place], p[place], q[place]), number[: len(fragments.owner)]


def holders_of(objects: Objects) -> Ints:
    """The holder of each object."""
    return np.repeat(np.arange(len(objects.first) - 1), np.diff(objects.first))


# ---- Criteria (13)-(24) ----------------------------------------------------------------------------------
# Those of tags, texts and unions give the summand of each pair; `match` averages over the accordance.


class Level(NamedTuple):
    """The candidates for pairs at one level, and what became of them.

    ``criteria``: of each pair, by name within the level; ``worth``: their weighted average; ``averages``: over
    the chosen pairs of each owner, with the accordance and, by the level's name, the composite criterion.
    """

    pairs: Pairs
    criteria: dict[str, Floats]
    worth: Floats
    chosen: Bools
    averages: dict[str, Floats]


def f_measure(common: npt.NDArray[Any], total: npt.NDArray[Any]) -> Floats:
    """F = 2|A ∩ B| / (|A| + |B|) (6), and 1 for two empty sets."""
    share: Floats = np.divide(2.0 * common, total, out=np.ones(len(total)), where=total > 0)
    return share


def f_of_sets(markups: Markups, numbers: Ints, pairs: Pairs) -> Floats:
    """F of two sets, by the numbers that the objects of each pair have."""
    ours, theirs = numbers[pairs.first], numbers[pairs.second]
    key, place = np.unique(ours * len(markups.sets) + theirs, return_inverse=True)
    both = (divmod(one, len(markups.sets)) for one in key.tolist())
    common = _ints(len(markups.sets[m] & markups.sets[n]) for m, n in both)
    return f_measure(common[place], markups.sizes[ours] + markups.sizes[theirs])


def c_accordance(pairs: Ints, objects: Ints) -> Floats:
    """(13), (16), (20): of the objects of both sides, how many found a partner."""
    return f_measure(pairs, objects)


def c_tags(markups: Markups, objects: Objects, pairs: Pairs) -> Floats:
    """(14) of elements, (18) of overtexts, (22) of fragments."""
    return f_of_sets(markups, objects.tags, pairs)


def c_overtexts(level: str, markups: Markups, overtexts: Objects, holders: Pairs, rules: Rules) -> Level:
    """(15) of elements, 3.4.4 of fragments: overtexts with a common word or tag, or without words and tags."""
    pairs = cross(overtexts.first, holders.first, holders.second)
    criteria = {
        "texts": c_overtexts_texts(markups, overtexts, pairs),
        "tags": c_tags(markups, overtexts, pairs),
    }
    members = [
        markups.sizes[numbers[pairs.first]] + markups.sizes[numbers[pairs.second]]
        for numbers in (overtexts.words, overtexts.tags)
    ]
    common = sum((share > 0) & (size > 0) for share, size in zip(criteria.values(), members))
    kept = (common > 0) | (members[0] + members[1] == 0)
    criteria = {name: values[kept] for name, values in criteria.items()}
    return match(
        level, Pairs._make(column[kept] for column in pairs), criteria, _held(overtexts, holders), rules
    )


def c_overtexts_texts(markups: Markups, overtexts: Objects, pairs: Pairs) -> Floats:
    """(17)."""
    return f_of_sets(markups, overtexts.words, pairs)


def c_fragments(markups: Markups, elements: Pairs, pairs: Pairs, notes: Level, rules: Rules) -> Level:
    """(19), of fragments that overlap; `notes` is (3.4.4) of their overtexts."""
    fragments = markups.fragments
    criteria = {"texts": c_fragments_texts(fragments, pairs), "tags": c_tags(markups, fragments, pairs)}
    return match(
        "fragments", pairs, criteria | _composite("overtexts", notes), _held(fragments, elements), rules
    )


def c_fragments_texts(fragments: Objects, pairs: Pairs) -> Floats:
    """(21)."""
    length = fragments.end - fragments.start
    return f_measure(_common(fragments, pairs), length[pairs.first] + length[pairs.second])


def c_union_of_texts(united: Objects, elements: Pairs) -> Floats:
    """(23), from the intervals that the fragments of each element cover."""
    pairs = overlapping(united.first, united.start, united.end, elements.first, elements.second)
    common = np.bincount(pairs.owner, _common(united, pairs), minlength=len(elements.owner))
    length = np.bincount(holders_of(united), united.end - united.start, minlength=len(united.first) - 1)
    return f_measure(common, length[elements.first] + length[elements.second])


def c_union_of_tags(markups: Markups, elements: Pairs) -> Floats:
    """(24)."""
    return f_of_sets(markups, markups.elements.words, elements)


def _common(spans: Objects, pairs: Pairs) -> Ints:
    """Number of common characters of pairs that overlap."""
    _, i, j = pairs
    common: Ints = np.minimum(spans.end[i], spans.end[j]) - np.maximum(spans.start[i], spans.start[j])
    return common


def _held(objects: Objects, holders: Pairs) -> Ints:
    """How many objects the two holders of each pair have together."""
    number = np.diff(objects.first)
    return np.asarray(number[holders.first] + number[holders.second])


def _composite(name: str, level: Level) -> dict[str, Floats]:
    """A level's averages as criteria of its owners: the composite by `name`, its parts by names with a dot."""
    *parts, (_, composite) = level.averages.items()
    return {name: composite} | {f"{name}.{part}": values for part, values in parts}


# ---- Consistency (7) with the optimal accordance (8), (9) ------------------------------------------------


def compare(markups: Markups, a: Ints, b: Ints, rules: Rules) -> dict[str, Level]:
    """Compare markup a[k] with markup b[k], for each k: the levels, by their composite criteria.

    The averages of level "total" are the criteria, and C by its name.
    """
    of_markups = markups.fragments.first[markups.elements.first]
    fragments = overlapping(of_markups, markups.fragments.start, markups.fragments.end, a, b)
    elements, owner = candidates_of_elements(markups, a, b, fragments)
    fragments = fragments._replace(owner=owner)
    levels = {
        "fragments.overtexts": c_overtexts("fragments.overtexts", markups, markups.notes, fragments, rules)
    }
    levels["fragments"] = c_fragments(markups, elements, fragments, levels["fragments.overtexts"], rules)
    levels["overtexts"] = c_overtexts("overtexts", markups, markups.overtexts, elements, rules)
    criteria = {
        "tags": c_tags(markups, markups.elements, elements),
        **_composite("overtexts", levels["overtexts"]),
        **_composite("fragments", levels["fragments"]),
        "fragment_text_union": c_union_of_texts(markups.united, elements),
        "fragment_tag_union": c_union_of_tags(markups, elements),
    }
    levels["total"] = match("total", elements, criteria, _held(markups.elements, Pairs(a, a, b)), rules)
    return levels


def match(level: str, pairs: Pairs, criteria: dict[str, Floats], objects: Ints, rules: Rules) -> Level:
    """Choose among candidates for pairs and average over the chosen ones.

    Parameters
    ----------
    level : name of the composite criterion, a key of `PARTS`
    pairs : Pairs, (n,), ascending in first and second within each owner
    criteria : of each pair, (n,) each, by their name within the level
    objects : (owners,) int, how many objects each owner's two sides have together
    rules : Rules
    """
    names = [name.removeprefix(f"{level}.") for name in PARTS[level]]
    weights = [rules.weights[name] for name in PARTS[level]]
    worth = (
        weighted_average(criteria, names[1:], weights[1:]) if any(weights[1:]) else np.zeros(len(pairs.owner))
    )
    if rules.accordance == "sum":
        chosen = best_sum(pairs, worth + TIE)  # so that among equal sums more pairs win
    else:
        chosen = best_average(pairs, worth, objects, weights[0] / sum(weights))
    owner = pairs.owner[chosen]
    number = np.bincount(owner, minlength=len(objects))
    averages = {"accordance": c_accordance(number, objects)}
    for name, values in criteria.items():
        sums = np.bincount(owner, values[chosen], minlength=len(objects))
        averages[name] = np.where(objects == 0, 1.0, sums / np.maximum(number, 1))
    averages[level] = weighted_average(averages, names, weights)
    return Level(pairs, criteria, worth, chosen, averages)


def best_sum(pairs: Pairs, worth: Floats) -> Bools:
    """Which candidates form, for each owner, the one-to-one accordance of the largest sum of worth.

    Candidates, all of positive worth, fall into components that share no object; those of one candidate need
    no choice.  The rest are small assignment problems.

    The best pair of all, (0, 0), is given up for two good ones:

    >>> pairs = Pairs(np.zeros(3, dtype=np.int64), np.array([0, 0, 1]), np.array([0, 1, 0]))
    >>> best_sum(pairs, np.array([0.9, 0.6, 0.6])).tolist()
    [False, True, True]
    """
    if not len(worth):
        return np.zeros(0, dtype=bool)
    row, column = (
        np.unique(pairs.owner * (objects.max() + 1) + objects, return_inverse=True)[1] for objects in pairs[1:]
    )
    chosen: Bools = (np.bincount(row)[row] == 1) & (np.bincount(column)[column] == 1)
    rest = np.flatnonzero(~chosen)
    for component, r, c in _components(row[rest], column[rest]):
        matrix = np.zeros((r.max() + 1, c.max() + 1))
        matrix[r, c] = worth[rest[component]]
        if min(matrix.shape) > LARGE:
            # Made square, so that all columns get a row, and each column's best worth 0: found sooner.
            matrix = np.pad(matrix, [(0, max(matrix.shape) - length) for length in matrix.shape])
            matrix -= matrix.max(axis=0)
        partner = np.full(len(matrix), -1)
        rows, columns = linear_sum_assignment(matrix, maximize=True)
        partner[rows] = columns
        chosen[rest[component]] = partner[r] == c
    return chosen


def _components(row: Ints, column: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """The connected components of a bipartite graph: indices of the edges, their rows and columns from 0."""
    if not len(row):
        return
    rows = row.max() + 1
    nodes = rows + column.max() + 1
    graph = coo_array((np.ones(len(row), dtype=bool), (row, rows + column)), shape=(nodes, nodes))
    labels = connected_components(graph, directed=False)[1]
    row_number, column_number = _numbered_within(labels[:rows]), _numbered_within(labels[rows:])
    label = labels[row]
    order = np.argsort(label, kind="stable")
    for edges in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        yield edges, row_number[row[edges]], column_number[column[edges]]


def _numbered_within(labels: npt.NDArray[Any]) -> Ints:
    """The number of each object among those of its label, in their order.

    >>> _numbered_within(np.array([5, 2, 5, 5, 2])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(labels, kind="stable")
    _, start, size = np.unique(labels[order], return_index=True, return_counts=True)
    number = np.empty(len(labels), dtype=np.int64)
    number[order] = np.arange(len(labels)) - np.repeat(start, size)
    return number


def best_average(pairs: Pairs, worth: Floats, objects: Ints, share: float) -> Bools:
    """Which candidates form, for each owner, the accordance of the largest weighted average (9).

    That is share·2q/n + (1 - share)·S/q for q pairs of the sum S, where n is the number of objects of both
    sides, (owners,), and `share` the weight of the accordance.

    A weak second pair lowers the average by more than the better accordance is worth:

    >>> pairs = Pairs(np.zeros(2, dtype=np.int64), np.array([0, 1]), np.array([0, 1]))
    >>> best_average(pairs, np.array([0.9, 0.1]), np.array([4]), 0.25).tolist()
    [True, False]
    >>> best_average(pairs, np.array([0.9, 0.1]), np.array([4]), 0.75).tolist()
    [True, True]
    """
    chosen = np.zeros(len(worth), dtype=bool)
    order = np.argsort(pairs.owner, kind="stable")
    for edges in np.split(order, np.flatnonzero(np.diff(pairs.owner[order])) + 1) if len(order) else []:
        n = objects[pairs.owner[edges[0]]]
        row, column = (np.unique(side[edges], return_inverse=True)[1] for side in pairs[1:])
        chosen[edges] = _best_average_of(row, column, worth[edges], 2 * share / n, 1 - share)
    return chosen


def _best_average_of(row: Ints, column: Ints, worth: Floats, per_pair: float, share: float) -> Bools:
    """`best_average` of one owner: the largest per_pair·q + share·S/q.

    S is concave in q, so S/q falls: that bounds what numbers between two tried ones can give.
    """
    if column.max() < row.max():
        row, column = column, row
    most = int(_best_of_size(row, column, worth, int(row.max()) + 1).sum())
    accordances = {q: _best_of_size(row, column, worth, q) for q in {1, most}}
    mean = {q: worth[accordance].sum() / q for q, accordance in accordances.items()}
    best = max(per_pair * q + share * mean[q] for q in mean)
    intervals = [(1, most)]
    while intervals:
        low, high = intervals.pop()
        if high - low < 2 or per_pair * (high - 1) + share * mean[low] < best - TIE:
            continue
        q = (low + high) // 2
        accordances[q] = _best_of_size(row, column, worth, q)
        mean[q] = worth[accordances[q]].sum() / q
        best = max(best, per_pair * q + share * mean[q])
        intervals += [(low, q), (q, high)]
    return accordances[max(q for q in mean if per_pair * q + share * mean[q] >= best - TIE)]


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


def criteria_of(markups: Markups, a: Ints, b: Ints, rules: Rules) -> Floats:
    """The criteria of markups a[k] and b[k], (k, criteria)."""
    values = np.empty((len(a), len(CRITERIA)))
    for chunk in chunks(a, b, np.stack([np.diff(first) for first in firsts_of_markups(markups)])):
        averages = compare(markups, a[chunk], b[chunk], rules)["total"].averages
        values[chunk] = np.stack([averages[name] for name in CRITERIA], axis=1)
        if progress is not None:
            progress(chunk.stop, len(a))
    return values


def firsts_of_markups(markups: Markups) -> list[Ints]:
    """Where each markup's objects start, by kind: elements, overtexts, fragments, overtexts of fragments."""
    first = markups.elements.first
    fragments = markups.fragments.first[first]
    return [first, markups.overtexts.first[first], fragments, markups.notes.first[fragments]]


def chunks(a: Ints, b: Ints, sizes: Ints) -> Iterator[slice]:
    """Slices of pairs that together hold about `CELLS_AT_ONCE` pairs of objects; `sizes`, (kinds, markups)."""
    step = np.cumsum((sizes[:, a] * sizes[:, b]).sum(axis=0) + 1) // CELLS_AT_ONCE
    ends = np.flatnonzero(np.diff(step, append=step[-1:] + 1)) + 1
    return map(slice, [0, *ends[:-1].tolist()], ends.tolist())


def means(values: Floats, group: Ints, groups: int) -> Floats:
    """Means of the rows of each group, (groups, columns); NaN of a group without rows."""
    number = np.bincount(group, minlength=groups)
    sums = np.stack([np.bincount(group, column, minlength=groups) for column in values.T], axis=1)
    return _ratio(sums, number[:, np.newaxis])


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
