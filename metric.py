"""The Unified Metric for segmenting student essays, as one file to upload to Kaggle.

Numbers in brackets are sections of the memo that ``score`` names.  The stages, in the order of the data:

    input                          prepare, Prepared.read
    overlap removal       [1]      remove_overlaps
    matching              [2.4]    match
    fractional TP         [2.2-3]  intersection_over_union, true_positive_fraction
    F1 per type           [2.1]    count_outcomes, f1_of_types, macro_f1
    sub-populations       [5]      sums_of_groups
    softmin               [3]      softmin_weights, softmin

Where the memo is silent, this file decides:

* Segments that start at the same word are ordered by last word, type (as in ``DISCOURSE_TYPES``), d[1].
* The words of a discarded segment stay used.  One word left is discarded only if others were lost.
* A discarded prediction is no false positive.
* True segments that overlap lose words, too (with a ``TruthOverlapWarning``).
* A type absent from a sub-population's truth is left out of its mean.
* Every value of every attribute, also the missing one, is a sub-population, its size the number of essays; all
  share one softmin.
* Predictions for essays outside the solution are ignored; an empty submission scores 0.
* A probability may be outside [0, 1] by 0.000001, and a pair, which is normalised, miss the sum 1 by 0.001.
"""

import functools
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["HostVisibleError", "ParticipantVisibleError", "Prepared", "prepare", "score"]

__version__ = "2.0.0"

NAME = "unified"
COMPLETE_SUBMISSION = True  # switch on Kaggle's “Pass complete submission”
MEASURE_PARAMETERS = ("subpopulation_column_names", "temperature", "intersectional")

DISCOURSE_TYPES = ("Lead", "Position", "Claim", "Counterclaim", "Rebuttal", "Evidence", "Concluding Statement")
LABEL_COLUMN = "discourse_effectiveness"
PROBABILITY_COLUMNS = ("score_discourse_effectiveness_0", "score_discourse_effectiveness_1")
LAST_POSITION = 99_999
RANGE_TOLERANCE = 1e-6
SUM_TOLERANCE = 1e-3 + 1e-9  # so that 0.999, which is no binary number, is within 0.001 of 1
MISSING = "(missing)"
ALL = ("(all)", "(all)")

LONGEST_MESSAGE = 280  # Kaggle cuts the rest
ROWS_SHOWN = 3
CHARACTERS_SHOWN = 40
ROWS_AT_ONCE = 8192

# One integer sorts segments by essay, first word, last word and type.
_POSITION_BITS, _TYPE_BITS = 17, 3

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong; Kaggle shows the text."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong; the host sees it."""


class TruthOverlapWarning(UserWarning):
    """Segments of the solution overlap each other and lost words."""


# ---- Public API ------------------------------------------------------------------------------------------


def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    essay_id_column_name: str = "essay_id",
    subpopulation_column_names: str = "ell_status,economically_disadvantaged",
    segment_weight: float = 0.5,
    overlap_threshold: float = 0.51,
    temperature: float = 65.0,
    intersectional: bool = False,
) -> float:
    """Unified Metric: span F1 with fractional true positives, averaged by a softmin over demographics.

    Once overlaps are removed, a prediction P matches a true segment G of its type if their common words are
    at least `overlap_threshold` of either.  A match counts w·IoU(P, G) + (1 - w)·d[E] true positives, where
    d[E] is the probability given to the true effectiveness E; the rest is a false negative.  The score is the
    softmin of the mean F1 of the types in each sub-population of writers.

    Parameters
    ----------
    solution : DataFrame, one row per true segment
        `row_id_column_name`, `essay_id_column_name`, ``discourse_type``, ``predictionstring`` (the positions
        of its words, from 0, as in "45 46 47"), ``discourse_effectiveness`` (0 or 1) and the columns of
        `subpopulation_column_names`.
    submission : DataFrame, one row per predicted segment
        The first four, and ``score_discourse_effectiveness_0`` and ``score_discourse_effectiveness_1``, which
        sum to 1.
    row_id_column_name : str
        Names rows in messages.
    essay_id_column_name : str
        Ids are compared as text.
    subpopulation_column_names : str
        The writer's attributes, separated by commas, or "" for none.
    segment_weight : float in [0, 1]
        w.
    overlap_threshold : float in (0.5, 1]
    temperature : float, at least 0
        α of the softmin: 0 is the mean weighted by number of essays, infinity the minimum.
    intersectional : bool
        Take the combinations of the attributes' values instead of each value.

    Returns
    -------
    float
        Between 0 (worst) and 1 (best).

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed, or has no essay of the solution, of which nothing else is told.
    HostVisibleError
        The solution is malformed or a parameter is out of range.

    References
    ----------
    R. Abboud, "Shovel-Ready Competition - Unified Metric", 2024.

    Examples
    --------
    All but one word found:

    >>> solution = pd.DataFrame({"row_id": [0], "essay_id": "A", "discourse_type": "Claim"})
    >>> submission = solution.assign(predictionstring="0 1 2")
    >>> solution[["predictionstring", "discourse_effectiveness"]] = "0 1 2 3", 1
    >>> submission[["score_discourse_effectiveness_0", "score_discourse_effectiveness_1"]] = 0.25, 0.75
    >>> round(score(solution, submission, "row_id", subpopulation_column_names=""), 6)  # 1.5 / (1.5 + 0.25)
    0.857143
    """
    prepared = prepare(
        solution,
        row_id_column_name,
        essay_id_column_name,
        subpopulation_column_names,
        segment_weight,
        overlap_threshold,
        temperature,
        intersectional,
    )
    sums = sums_of_groups(prepared.statistics(submission), prepared.groups)
    return float(prepared.measures(sums)[0])


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    essay_id_column_name: str = "essay_id",
    subpopulation_column_names: str = "ell_status,economically_disadvantaged",
    segment_weight: float = 0.5,
    overlap_threshold: float = 0.51,
    temperature: float = 65.0,
    intersectional: bool = False,
) -> "Prepared":
    """A solution, checked and digested once to score many submissions.

    Parameters and the `HostVisibleError` are those of `score`.
    """
    _check_parameter("row_id_column_name", row_id_column_name, str)
    _check_parameter("essay_id_column_name", essay_id_column_name, str)
    _check_parameter("subpopulation_column_names", subpopulation_column_names, str)
    _check_parameter("segment_weight", segment_weight, float, lambda w: 0 <= w <= 1, "from 0 to 1")
    # Only above one half has each segment at most one partner.
    _check_parameter("overlap_threshold", overlap_threshold, float, lambda t: 0.5 < t <= 1, "above 0.5 to 1")
    _check_parameter(
        "temperature", temperature, float, lambda a: 0 <= a < 1e300 or a == np.inf, "from 0 to infinity"
    )
    _check_parameter("intersectional", intersectional, bool)
    attributes = _attributes(subpopulation_column_names)

    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns(essay_id_column_name, "discourse_type", "predictionstring", LABEL_COLUMN, *attributes)
    if solution.empty:
        raise HostVisibleError("the solution: expected at least one row, found none")
    codes, texts = table.texts(essay_id_column_name)
    order = sorted(range(len(texts)), key=texts.__getitem__)
    essay, items = np.argsort(order)[codes], [texts[code] for code in order]

    given = read_segments(table, essay, read_effectiveness)
    truths = remove_overlaps(given)
    _warn_of_overlaps(given, truths)
    labels, groups = _subpopulations(table, attributes, essay, items, intersectional)
    return Prepared(
        items=items,
        item_of_row=essay,
        labels=labels,
        groups=groups,
        given=given,
        truths=truths,
        row_id_column_name=row_id_column_name,
        essay_id_column_name=essay_id_column_name,
        segment_weight=float(segment_weight),
        overlap_threshold=float(overlap_threshold),
        temperature=float(temperature),
    )


class Segments(NamedTuple):
    """Segments of many essays, as columns, (n,) each."""

    essay: Ints  # index into the solution's sorted essay ids; -1 if not among them
    first: Ints  # positions of the first and the last word, both inclusive, from 0
    last: Ints
    discourse_type: Ints  # index into `DISCOURSE_TYPES`
    d1: Floats  # d[1], the probability of effective, where d[0] = 1 - d[1]; of a true segment E
    row: Ints  # number of the segment in its file

    def take(self, index: Ints | Bools) -> "Segments":
        """The segments at an index of numpy's."""
        return Segments._make(column[index] for column in self)

    @property
    def words(self) -> Ints:
        return self.last - self.first + 1


@dataclass(frozen=True, eq=False)
class Prepared:
    """A solution, checked and digested by `prepare`."""

    items: list[str]
    item_of_row: Ints
    labels: list[tuple[str, str]]
    groups: Ints
    given: Segments
    truths: Segments  # what overlap removal leaves of these
    row_id_column_name: str
    essay_id_column_name: str
    segment_weight: float
    overlap_threshold: float
    temperature: float

    @property
    def measure_names(self) -> list[str]:
        """The score, τ of each sub-population, and F1 over all essays."""
        populations = [f"{attribute} = {value}" for attribute, value in self.labels]
        return ["score", *populations, *(f"F1 of {name}" for name in DISCOURSE_TYPES)]

    def read(self, submission: pd.DataFrame) -> Segments:
        """The submission's segments, checked, in the order of its rows."""
        table = _Table(submission, "the submission", self.row_id_column_name, ParticipantVisibleError)
        essay_id = self.essay_id_column_name
        table.check_columns(essay_id, "discourse_type", "predictionstring", *PROBABILITY_COLUMNS)
        codes, texts = table.texts(essay_id)
        numbers = dict(zip(self.items, range(len(self.items))))
        essay = np.array([numbers.get(text, -1) for text in texts], dtype=np.int64)
        segments = read_segments(table, essay[codes], read_probabilities)
        if len(essay) and (essay < 0).all():
            raise ParticipantVisibleError(
                f"{_short(essay_id)}: expected essays of the test set, found none of them"
            )
        return segments

    def compare(self, given: Segments) -> tuple[Segments, tuple[Ints, Ints]]:
        """What overlap removal leaves, and its matches."""
        predictions = remove_overlaps(given.take(given.essay >= 0))
        return predictions, match(predictions, self.truths, self.overlap_threshold)

    def count(self, compared: tuple[Segments, tuple[Ints, Ints]]) -> Floats:
        """Per essay TP, FP and FN of each type, and 1, (n, 22)."""
        predictions, (p, g) = compared
        tp = true_positive_fraction(predictions.take(p), self.truths.take(g), self.segment_weight)
        counts = count_outcomes(predictions, self.truths, (p, g), tp, len(self.items))
        return np.concatenate([counts.reshape(len(counts), -1), np.ones((len(counts), 1))], axis=1)

    def statistics(self, submission: pd.DataFrame) -> Floats:
        return self.count(self.compare(self.read(submission)))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """The measures, (..., m), of sums, (..., g, 22); NaN of sub-populations without essays."""
        sums = np.asarray(sums, dtype=np.float64)
        counts = sums[..., :-1].reshape(*sums.shape[:-1], len(DISCOURSE_TYPES), 3)
        tau = macro_f1(counts)
        nu = softmin(tau, sums[..., -1], self.temperature)
        of_first_attribute = sum(attribute == self.labels[0][0] for attribute, _ in self.labels)
        overall = counts[..., :of_first_attribute, :, :].sum(axis=-3)
        return np.concatenate([nu[..., np.newaxis], tau, f1_of_types(overall)], axis=-1)


# ---- Input -----------------------------------------------------------------------------------------------


def read_segments(table: "_Table", essay: Ints, read_d1: Callable[["_Table"], Floats]) -> Segments:
    """The segments of a table's rows, which belong to these essays."""
    discourse_type = read_types(table)
    first, last = read_words(table)
    return Segments(essay, first, last, discourse_type, read_d1(table), np.arange(len(essay)))


def read_types(table: "_Table") -> Ints:
    codes, texts = table.texts("discourse_type")
    index = {name: number for number, name in enumerate(DISCOURSE_TYPES)}
    types = np.array([index.get(text, -1) for text in texts], dtype=np.int64)[codes]
    expected = f"one of {', '.join(DISCOURSE_TYPES)}"
    table.check("discourse_type", types < 0, lambda row: _quoted(texts[codes[row]]), expected)
    return types


def read_words(table: "_Table") -> tuple[Ints, Ints]:
    column = table.frame["predictionstring"]
    # Within the cache.
    blocks = [
        parse_predictionstrings(_cells(column.iloc[start : start + ROWS_AT_ONCE]))
        for start in range(0, max(len(column), 1), ROWS_AT_ONCE)
    ]
    first, last = (np.concatenate(parts) for parts in zip(*blocks))

    def found(row: int) -> str:
        (cell,) = _cells(column.iloc[row : row + 1])
        return f"{_quoted(cell)}: {_why_not_a_predictionstring(cell)}" if cell.strip() else "empty"

    table.check(
        "predictionstring",
        last < 0,
        found,
        "the positions of the segment's words, counted from 0, ascending without a gap, separated by single "
        "spaces, such as '45 46 47'",
    )
    return first, last


@functools.cache
def _word_positions() -> tuple[str, Ints, Ints]:
    """The text "0 1 2 … 99999 ", where each position starts, and which ends at each character."""
    text = " ".join(map(str, range(LAST_POSITION + 1))) + " "
    ends = np.flatnonzero(np.frombuffer(text.encode(), np.uint8) == ord(" "))
    starts = np.concatenate([[0], ends[:-1] + 1])
    position_ending_at = np.full(len(text) + 1, -1)
    position_ending_at[ends] = np.arange(LAST_POSITION + 1)
    return text, starts, position_ending_at


def parse_predictionstrings(cells: list[str]) -> tuple[Ints, Ints]:
    """First and last word of each predictionstring; last is -1 where it is not valid."""
    # A valid one stands in "0 1 2 3 …" from where its first number starts to the end of a number.
    text, starts, position_ending_at = _word_positions()
    # "replace" keeps one byte per character.
    joined = np.frombuffer("\n".join([*cells, ""]).encode("ascii", "replace"), np.uint8)
    end = np.flatnonzero(joined == ord("\n"))
    if len(end) > len(cells):  # a line break within a cell
        return parse_predictionstrings([cell.replace("\n", "?") for cell in cells])
    begin = np.concatenate([[0], end[:-1] + 1])[: len(cells)]

    first = np.zeros(len(cells), dtype=np.int64)
    in_number = np.ones(len(cells), dtype=bool)
    for digit in range(len(str(LAST_POSITION))):
        value = joined[np.minimum(begin + digit, end)] - np.uint8(ord("0"))
        in_number &= value < 10
        first = np.where(in_number, first * 10 + value, first)
    start = starts[first]
    last = position_ending_at[np.minimum(start + (end - begin), len(text))]
    valid = np.fromiter(map(text.startswith, cells, start.tolist()), bool, len(cells))
    return first, np.where(valid, last, -1)


def _why_not_a_predictionstring(cell: str) -> str:
    previous, begin = None, 0
    while begin < len(cell):
        space = cell.find(" ", begin)
        end = len(cell) if space < 0 else space
        number, begin = cell[begin:end], end + 1
        if not number:
            return "spaces other than single ones"
        if not re.fullmatch("[0-9]+", number):
            return f"{_quoted(number)} is not a whole number"
        if len(number) > 1 and number[0] == "0":
            return f"{_quoted(number)} has a leading zero"
        if len(number) > len(str(LAST_POSITION)):
            return f"{_quoted(number)} is above {LAST_POSITION}"
        if previous is not None and int(number) != previous + 1:
            return f"{previous} is not followed by {previous + 1}"
        previous = int(number)
    return "a space at the end"


def read_effectiveness(table: "_Table") -> Floats:
    label = _numbers(table.frame[LABEL_COLUMN])
    table.check(LABEL_COLUMN, ~((label == 0) | (label == 1)), table.cell_of(LABEL_COLUMN), "0 or 1")
    return label


def read_probabilities(table: "_Table") -> Floats:
    """d[1] of each row's segment, normalised."""
    d = []
    for column in PROBABILITY_COLUMNS:
        values = _numbers(table.frame[column])
        wrong = ~((values >= -RANGE_TOLERANCE) & (values <= 1 + RANGE_TOLERANCE))
        table.check(column, wrong, table.cell_of(column), "a number from 0 to 1")
        d.append(values.clip(0, 1))
    total = d[0] + d[1]
    table.check(
        "score_discourse_effectiveness_0 and _1",
        np.abs(total - 1) > SUM_TOLERANCE,
        lambda row: f"{d[0][row]:g} + {d[1][row]:g} = {total[row]:g}",
        "two probabilities that sum to 1",
    )
    return np.asarray(d[1] / total)


class _Table(NamedTuple):
    """A frame and how its faults are told."""

    frame: pd.DataFrame
    name: str
    row_id: str
    error: type[Exception]

    def check_columns(self, *required: str) -> None:
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
        # Else pandas fails for Decimal("sNaN").
        missing = ids.map(_is_missing) if ids.dtype == object else ids.isna()
        self.check(self.row_id, missing.to_numpy(dtype=bool), lambda row: "missing", "an id in every row")

    def check(self, column: str, wrong: npt.ArrayLike, found: Callable[[int], str], expected: str) -> None:
        """No rows may be `wrong`; `found` says what is in one."""
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
        """Codes of a column's texts and the distinct texts; none may be missing or blank."""
        codes, texts = _factorize(self.frame[column])
        self.check(column, codes < 0, lambda row: "missing", "a value in every row")
        return codes, texts

    def cell_of(self, column: str) -> Callable[[int], str]:
        cells = self.frame[column]
        return lambda row: "missing" if _is_missing(cells.iloc[row]) else _quoted(cells.iloc[row])


def _factorize(column: pd.Series) -> tuple[Ints, list[str]]:
    """Codes of a column's texts, -1 where missing or blank, and the distinct texts."""
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
    values = column.to_numpy(dtype=object)
    if pd.api.types.infer_dtype(values, skipna=False) == "string":
        return values.tolist()
    return ["" if _is_missing(value) else _as_text(value) for value in values]


def _numbers(column: pd.Series) -> Floats:
    """A column as floats, NaN for what is no real number."""
    if pd.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind != "c":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.array([_number(value) for value in column.astype(object)], dtype=np.float64)


def _number(value: object) -> float:
    if not isinstance(value, str | int | float | np.bool_ | np.integer | np.floating | Decimal):
        return np.nan
    if isinstance(value, str) and (not value.isascii() or "_" in value):  # which Python would read
        return np.nan
    try:
        return float(value)
    except (OverflowError, ValueError):
        return np.nan


def _is_missing(value: object) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or value is pd.NA or value is pd.NaT


def _as_text(value: object) -> str:
    """The same whether a CSV reader took it for text, int or float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    # Python writes no more than 4,300 digits.
    return f"{value:x}" if isinstance(value, int) and value.bit_length() > 14_000 else str(value)


def _short(value: object) -> str:
    text = repr(_as_text(value)[: CHARACTERS_SHOWN + 1])[1:-1]
    return text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"


def _quoted(value: object) -> str:
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(items: Sequence[str], total: int, room: int) -> str:
    """As many items as fit, and how many more there are."""
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
    kinds = {float: (int, float, np.integer, np.floating), bool: (bool, np.bool_), str: (str,)}[kind]
    if not isinstance(value, kinds) or (kind is float and isinstance(value, bool)) or not fits(value):
        expected = {str: "text", bool: "True or False", float: f"a number {wanted}"}[kind]
        raise HostVisibleError(f"{name}: expected {expected}, found {type(value).__name__} {_quoted(value)}")


def _attributes(subpopulation_column_names: str) -> list[str]:
    if not subpopulation_column_names.strip():
        return []
    names = [name.strip() for name in subpopulation_column_names.split(",")]
    if "" in names or len(set(names)) < len(names):
        raise HostVisibleError(
            "subpopulation_column_names: expected different names separated by commas, "
            f"found {_quoted(subpopulation_column_names)}"
        )
    return names


# ---- Overlap removal [1] ---------------------------------------------------------------------------------


def remove_overlaps(segments: Segments) -> Segments:
    """Give every word of an essay to the first segment that holds it, across all types; sorts them [1]."""
    # The words that earlier ones used inside a segment are always its first ones.
    order = _reading_order(segments)
    essay, first, last = segments.essay[order], segments.first[order], segments.last[order]
    # Essays ascend, so the running maximum never looks back into another one.
    used = np.maximum.accumulate(place(essay, last))
    first_unused = np.append(0, used + 1)[:-1] - place(essay, np.int64(0))
    first_left = np.maximum(first, first_unused)
    left = (last > first_left) | (first_left == first)
    return segments.take(order[left])._replace(first=first_left[left])


def place(essay: Ints, position: Ints | np.int64) -> Ints:
    """One integer per word of all essays."""
    return (essay << _POSITION_BITS) | position


def _reading_order(segments: Segments) -> Ints:
    """What sorts by essay, first word, last word, type, d[1]."""
    start = place(segments.essay, segments.first)
    key = (place(start, segments.last) << _TYPE_BITS) | segments.discourse_type
    order = np.argsort(key, kind="stable")
    tied = np.flatnonzero(np.diff(key[order]) == 0)
    if len(tied):
        tied = np.union1d(tied, tied + 1)
        rows = order[tied]
        order[tied] = rows[np.lexsort((segments.d1[rows], key[rows]))]
    return order


def _warn_of_overlaps(given: Segments, truths: Segments) -> None:
    trimmed = int((truths.first != given.first[truths.row]).sum())
    discarded = len(given.row) - len(truths.row)
    if trimmed or discarded:
        warnings.warn(
            f"{_counted(trimmed + discarded, 'segment')} of the solution overlapping an earlier one: "
            f"{trimmed:,} lost the common words, {discarded:,} were discarded.",
            TruthOverlapWarning,
            stacklevel=3,
        )


# ---- Matching [2.1, 2.4] ---------------------------------------------------------------------------------


def match(predictions: Segments, truths: Segments, overlap_threshold: float = 0.51) -> tuple[Ints, Ints]:
    """Indices of the predictions and truths, without overlaps, that share enough of both their words."""
    # Only one prediction can hold the middle word of a truth, as all do that hold more than half of it.
    if not len(predictions.row):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    middle = place(truths.essay, (truths.first + truths.last) // 2)
    candidate = np.searchsorted(place(predictions.essay, predictions.first), middle, side="right") - 1
    rivals = predictions.take(candidate)  # at -1 the last, which starts after the middle
    common = common_words(rivals, truths)
    matched = (
        (rivals.essay == truths.essay)
        & (rivals.discourse_type == truths.discourse_type)
        & (common / rivals.words >= overlap_threshold)
        & (common / truths.words >= overlap_threshold)
    )
    return candidate[matched], np.flatnonzero(matched)


def common_words(a: Segments, b: Segments) -> Ints:
    """Number of words in both of aligned segments, (n,)."""
    return np.asarray(np.maximum(np.minimum(a.last, b.last) - np.maximum(a.first, b.first) + 1, 0))


# ---- Fractional true positives [2.2, 2.3] ----------------------------------------------------------------


def intersection_over_union(predictions: Segments, truths: Segments) -> Floats:
    """Words in both over words in either of aligned segments, (n,) [2.3]."""
    common = common_words(predictions, truths)
    return common / (predictions.words + truths.words - common)


def probability_of_label(predictions: Segments, truths: Segments) -> Floats:
    """d[E], (n,): the probability given to the true effectiveness [2.2]."""
    return np.where(truths.d1 == 1.0, predictions.d1, 1.0 - predictions.d1)


def true_positive_fraction(predictions: Segments, truths: Segments, segment_weight: float = 0.5) -> Floats:
    """TP_P = w·IoU(P, G) + (1 - w)·d[E] of matches, (n,); the rest is FN_P = 1 - TP_P [2.3]."""
    iou = intersection_over_union(predictions, truths)
    return segment_weight * iou + (1 - segment_weight) * probability_of_label(predictions, truths)


# ---- F1 per type [2.1] -----------------------------------------------------------------------------------


def count_outcomes(
    predictions: Segments, truths: Segments, matches: tuple[Ints, Ints], tp: Floats, essays: int
) -> Floats:
    """TP, FP and FN, (essays, types, 3), from the TP fractions of the matches [2.1, 2.2]."""
    types = len(DISCOURSE_TYPES)

    def total(cell: Ints, weights: Floats | None = None) -> Floats:
        # bincount adds one after the other: the sums are reproducible.
        return np.bincount(cell, weights, minlength=essays * types).astype(np.float64)

    predicted = predictions.essay * types + predictions.discourse_type
    true = truths.essay * types + truths.discourse_type
    matched = true[matches[1]]
    false_positives = total(predicted) - total(matched)
    false_negatives = total(true) - total(matched) + total(matched, 1 - tp)
    return np.stack([total(matched, tp), false_positives, false_negatives], axis=-1).reshape(essays, types, 3)


def f1_of_types(counts: Floats) -> Floats:
    """F1 = 2TP / (2TP + FP + FN), (..., types), of (..., types, 3); NaN where the truth lacks the type."""
    tp, fp, fn = np.moveaxis(counts, -1, 0)
    return _ratio(2 * tp, np.where(tp + fn > 0, 2 * tp + fp + fn, 0))


def macro_f1(counts: Floats) -> Floats:
    """τ, (...): the mean F1 over the types that occur in the truth; NaN where none does."""
    f1 = f1_of_types(counts)
    occurs = ~np.isnan(f1)
    return _ratio(np.where(occurs, f1, 0.0).sum(axis=-1), occurs.sum(axis=-1))


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient


# ---- Sub-populations [5, steps 3 and 4] ------------------------------------------------------------------


def _subpopulations(
    table: _Table, attributes: list[str], essay: Ints, items: list[str], intersectional: bool
) -> tuple[list[tuple[str, str]], Ints]:
    if not attributes:
        return [ALL], np.zeros((1, len(items)), dtype=np.int64)
    columns = [_values_of_essays(table, attribute, essay, items) for attribute in attributes]
    values_of = [values for values, _ in columns]
    codes = np.stack([codes for _, codes in columns])
    if intersectional:
        combinations, code = np.unique(codes, axis=1, return_inverse=True)
        values_of = [
            [" & ".join(map(list.__getitem__, values_of, column)) for column in combinations.T.tolist()]
        ]
        codes = code.reshape(1, -1)
        attributes = [" & ".join(attributes)]
    labels = [(attribute, value) for attribute, values in zip(attributes, values_of) for value in values]
    return labels, codes + np.cumsum([0, *map(len, values_of[:-1])])[:, np.newaxis]


def _values_of_essays(table: _Table, attribute: str, essay: Ints, items: list[str]) -> tuple[list[str], Ints]:
    """The attribute's values, sorted, missing last, and the index of each essay's."""
    codes, texts = _factorize(table.frame[attribute])
    first_row = np.zeros(len(items), dtype=np.int64)
    first_row[essay[::-1]] = np.arange(len(essay))[::-1]
    table.check(
        attribute,
        codes != codes[first_row][essay],
        lambda row: f"essay {_quoted(items[essay[row]])} had another value before",
        "one value per essay",
    )
    order = sorted(range(len(texts)), key=texts.__getitem__)
    index = np.full(len(texts) + 1, len(texts))  # the last, at code -1, is that of missing values
    index[order] = np.arange(len(texts))
    values = [repr(texts[code]) if texts[code] == MISSING else texts[code] for code in order]
    return values + [MISSING] * bool(codes.min() < 0), index[codes[first_row]]


def sums_of_groups(statistics: Floats, groups: Ints) -> Floats:
    """Sums of statistics, (n, k), over each group, (g, k), in the order of the items."""
    number = groups.max() + 1
    columns = [
        sum(np.bincount(members, column, minlength=number) for members in groups) for column in statistics.T
    ]
    return np.stack(columns, axis=-1)


# ---- Bias-aware aggregation [3] --------------------------------------------------------------------------


def softmin_weights(scores: npt.ArrayLike, sizes: npt.ArrayLike, temperature: float = 65.0) -> Floats:
    """β_i = |P_i|·exp(-α·s_i) / Σ_j |P_j|·exp(-α·s_j), (..., k), for scores s and sizes |P|, (..., k)."""
    _, excess = _above_lowest(scores, sizes)
    # So no exponential overflows, and an infinite α is not multiplied by 0.
    exponent = np.multiply(excess, temperature, out=np.zeros_like(excess), where=excess > 0)
    weights = np.asarray(sizes) * np.exp(-exponent)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def softmin(scores: npt.ArrayLike, sizes: npt.ArrayLike, temperature: float = 65.0) -> Floats:
    """ν = Σ_j β_j·s_j, (...)."""
    lowest, excess = _above_lowest(scores, sizes)
    # So equal scores give exactly themselves.
    return np.asarray(lowest + (softmin_weights(scores, sizes, temperature) * excess).sum(axis=-1))


def _above_lowest(scores: npt.ArrayLike, sizes: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The lowest score of those with members, and the excess over it."""
    scores, present = np.broadcast_arrays(np.asarray(scores, dtype=np.float64), np.asarray(sizes) > 0)
    lowest = np.min(scores, axis=-1, where=present, initial=np.inf)
    return lowest, np.where(present, scores - lowest[..., np.newaxis], 0.0)
