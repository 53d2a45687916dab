"""The SciFact leaderboard's evaluation of scientific claim verification, as one file to upload to Kaggle.

For every claim a system names the abstracts that decide it, gives each a label, SUPPORT or CONTRADICT, and
lists the sentences that are the evidence.  Four kinds of credit are counted over all claims, two per
abstract and two per sentence:

    abstract_label_only      the abstract is in the claim's gold, and the label is right
    abstract_rationalized    … and a whole gold evidence set is among the first three sentences listed
    sentence_selection       the sentence is in a gold evidence set, all of which is listed
    sentence_label           … and the label of its abstract is right

Each gives P = correct / retrieved, R = correct / relevant and F1 = 2·P·R / (P + R), with 0 / 0 = 0: twelve
measures, of which ``score`` returns one.  The file follows "SciFact leaderboard submission and evaluation
guidelines" (below: the document) and stands in the order in which data passes through it:

    input       prepare, Prepared.read, parse_gold, parse_prediction
    credits     judge
    counts      count
    measures    precision_recall_f1

Where the document is silent, or the evaluator behind the leaderboard does otherwise, this file decides (each
decision has a test; the twelve measures equal the leaderboard's to the last bit):

* Where every gold set of an abstract has more than three sentences, the first k count, k being the size of
  the smallest: otherwise no answer could be right.  The leaderboard's evaluator does so since December 2021;
  the document and the paper's own repository count three.
* "The first" are the first in the list as given.  A sentence listed twice takes two places and is retrieved
  twice, but correct once.
* An empty list of sentences with the right label earns abstract_label_only.  A claim without evidence is
  expressed by leaving its abstracts out: ``{}``; any abstract predicted for it is wrong everywhere.
* The labels are SUPPORT and CONTRADICT.  Others are errors, also the REFUTES of the document's example.
* Claims are joined by id, compared as text, in whatever order; so are documents, whose ids are JSON keys.
* Sentence indices are whole numbers from 0 to ``LAST_SENTENCE``.  4.0 is 4; "4", true and NaN are errors.
* A JSON object that names a key twice is an error.  Keys other than label and sentences are ignored.
* In the gold, an abstract has one label and at least one evidence set, no set is empty, and no sentence is
  named twice: otherwise "relevant" and "correct" would count different things.

Errors in the submission raise ``ParticipantVisibleError``, whose text depends on the submission alone, except
that it says which of its claims are not in the test set and how many claims it lacks; errors of the host
(solution, parameters) raise ``HostVisibleError``, which participants never see.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["HostVisibleError", "ParticipantVisibleError", "Prepared", "prepare", "score"]

__version__ = "2.0.0"

NAME = "scifact"
COMPLETE_SUBMISSION = False  # a submission has the solution's rows: one per claim
MEASURE_PARAMETERS = ("measure",)

LABELS = ("SUPPORT", "CONTRADICT")
CREDITS = ("abstract_label_only", "abstract_rationalized", "sentence_selection", "sentence_label")
MEASURES = tuple(f"{credit}_{number}" for credit in CREDITS for number in ("precision", "recall", "f1"))
FIRST_SENTENCES = 3
LAST_SENTENCE = 999_999_999

EXPECTED_GOLD = (
    """JSON such as '{"11": [{"sentences": [0, 1], "label": "SUPPORT"}]}' or '{}', labels SUPPORT or """
    "CONTRADICT, no sentence twice"
)
EXPECTED_PREDICTION = (
    """JSON such as '{"11": {"sentences": [1, 4], "label": "SUPPORT"}}' or '{}', labels SUPPORT or """
    "CONTRADICT, sentences counted from 0"
)

# What other data sets call the labels.
HINTS = {
    **dict.fromkeys(("SUPPORT", "SUPPORTS", "SUPPORTED"), "write SUPPORT"),
    **dict.fromkeys(
        ("CONTRADICT", "CONTRADICTS", "CONTRADICTED", "REFUTE", "REFUTES", "REFUTED"), "write CONTRADICT"
    ),
    **dict.fromkeys(
        ("NEI", "NOINFO", "NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO"), "leave the document out"
    ),
}

LONGEST_MESSAGE = 280  # characters; Kaggle cuts the rest
ROWS_SHOWN = 3
CHARACTERS_SHOWN = 40

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Of each document the label and the evidence sets, or the label and the sentences listed.  Of tuples of numbers
# Python's garbage collector soon keeps its hands off, which halves the time.
Sentences = tuple[int, ...]
GoldAbstract = tuple[str, tuple[Sentences, ...]]
PredictedAbstract = tuple[str, Sentences]
Gold = dict[str, GoldAbstract]
Prediction = dict[str, PredictedAbstract]
Made = TypeVar("Made")


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
    measure: str = "sentence_label_f1",
) -> float:
    """One of the twelve measures of the SciFact leaderboard.

    A predicted abstract earns label-only credit if it is in the claim's gold with the same label, and
    rationalized credit if moreover a whole gold evidence set is among the first three sentences listed.
    A predicted sentence earns selection credit if it is in a gold evidence set that is listed as a whole,
    and label credit if moreover its abstract's label is right.  Of each credit there is a precision, a
    recall and an F1 over all claims.

    Parameters
    ----------
    solution : DataFrame, one row per claim
        `row_id_column_name`, and ``evidence``: JSON text with the gold evidence sets of each document, as in
        ``{"11": [{"sentences": [0, 1], "label": "SUPPORT"}, {"sentences": [11], "label": "SUPPORT"}]}``;
        ``{}`` where there is no evidence.
    submission : DataFrame, one row per claim
        `row_id_column_name`, and ``evidence``: JSON text with one label and one list of sentences for each
        document, as in ``{"11": {"sentences": [1, 11, 13], "label": "SUPPORT"}}``; ``{}`` for no evidence.
    row_id_column_name : str
        The claim's id.  Claims are the same if their ids are the same text.
    measure : str
        ``abstract_label_only``, ``abstract_rationalized``, ``sentence_selection`` or ``sentence_label``,
        followed by ``_precision``, ``_recall`` or ``_f1``.

    Returns
    -------
    float
        Between 0 (worst) and 1 (best).

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed, or its claims are not those of the test set.  The text depends on the
        submission alone, except that it says which of its claims are unknown and how many it lacks.
    HostVisibleError
        The solution is malformed or there is no such measure.

    References
    ----------
    "SciFact leaderboard submission and evaluation guidelines"; D. Wadden et al., "Fact or Fiction: Verifying
    Scientific Claims", 2020.

    Examples
    --------
    The document's worked example: of two abstracts one is right, of five sentences one, of four to find:

    >>> solution = pd.DataFrame({"claim_id": [52], "evidence": [
    ...     '{"11": [{"sentences": [0, 1], "label": "SUPPORT"}, {"sentences": [11], "label": "SUPPORT"}],'
    ...     ' "15": [{"sentences": [4], "label": "SUPPORT"}]}']})
    >>> submission = pd.DataFrame({"claim_id": [52], "evidence": [
    ...     '{"11": {"sentences": [1, 11, 13], "label": "SUPPORT"},'
    ...     ' "16": {"sentences": [18, 20], "label": "CONTRADICT"}}']})
    >>> round(score(solution, submission, "claim_id"), 6)
    0.222222
    >>> score(solution, submission, "claim_id", "abstract_rationalized_f1")
    0.5

    What was expected, where, and what was found:

    >>> wrong = submission.replace("CONTRADICT", "REFUTES", regex=True)
    >>> try:
    ...     score(solution, wrong, "claim_id")
    ... except ParticipantVisibleError as error:
    ...     print(error)
    evidence: expected JSON such as '{"11": {"sentences": [1, 4], "label": "SUPPORT"}}' or '{}', labels \
SUPPORT or CONTRADICT, sentences counted from 0. Wrong in 1 row of the submission: claim_id 52 (document '16': \
the label is 'REFUTES'; write CONTRADICT)
    """
    prepared = prepare(solution, row_id_column_name, measure)
    # Whole numbers below 2**53 add up exactly, in any order.
    return float(prepared.measures(prepared.statistics(submission).sum(axis=0)[np.newaxis])[0])


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "sentence_label_f1",
) -> "Prepared":
    """Check and digest a solution once, to score many submissions.  Parameters are those of `score`.

    Raises
    ------
    HostVisibleError
        The solution is malformed or there is no such measure.
    """
    _check_parameter("row_id_column_name", row_id_column_name, str)
    _check_parameter("measure", measure, str)
    if measure not in MEASURES:
        raise HostVisibleError(
            f"measure: expected {', '.join(CREDITS)}, followed by _precision, _recall or _f1, "
            f"found {_quoted(measure)}"
        )
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns("evidence")
    if solution.empty:
        raise HostVisibleError("the solution: expected at least one row, found none")
    ids = read_claim_ids(table)
    gold = read_evidence(table, lambda row, cell: parse_gold(cell), EXPECTED_GOLD)
    order = sorted(range(len(ids)), key=ids.__getitem__)
    return Prepared(
        items=[ids[row] for row in order],
        item_of_row=np.argsort(order),
        labels=[("(all)", "(all)")],
        groups=np.zeros((1, len(ids)), dtype=np.int64),
        gold=[gold[row] for row in order],
        row_id_column_name=row_id_column_name,
        measure=measure,
    )


@dataclass(frozen=True, eq=False)
class Prepared:
    """A solution, checked and digested by `prepare`, with the measure to score by.

    Attributes
    ----------
    items : list of str, the n claims' ids, sorted
    item_of_row : (n,) int, the claim of each row of the solution
    labels : list of (attribute, value): one, as there are no sub-populations
    groups : (1, n) int, zeros
    gold : list of n dict, of each abstract in a claim's gold its label and its evidence sets
    """

    items: list[str]
    item_of_row: Ints
    labels: list[tuple[str, str]]
    groups: Ints
    gold: list[Gold]
    row_id_column_name: str
    measure: str

    @property
    def measure_names(self) -> list[str]:
        """The score, then the twelve `MEASURES`."""
        return ["score", *MEASURES]

    def read(self, submission: pd.DataFrame, work: Callable[[Gold, Prediction], Made]) -> list[Made]:
        """What `work` makes of each claim's gold and the submission's answer to it, (n,).

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed, or its claims are not those of the solution.
        """
        table = _Table(submission, "the submission", self.row_id_column_name, ParticipantVisibleError)
        table.check_columns("evidence")
        ids = read_claim_ids(table)
        known = dict(zip(self.items, self.gold))

        def made(row: int, cell: object) -> Made:
            return work(known.get(ids[row], {}), parse_prediction(cell))

        # Row by row, so that not all answers are in memory at once: that takes longer than to read them.
        made_of = dict(zip(ids, read_evidence(table, made, EXPECTED_PREDICTION)))
        unknown = [claim_id for claim_id in ids if claim_id not in known]
        lacking = len(known) - (len(ids) - len(unknown))
        if lacking or unknown:
            head = (
                f"{_short(self.row_id_column_name)}: expected every claim of the test set once, and no other. "
                f"Missing: {lacking:,}. Not in the test set: {len(unknown):,}{', such as ' if unknown else ''}"
            )
            shown = [_short(claim_id) for claim_id in unknown[:ROWS_SHOWN]]
            raise ParticipantVisibleError(head + _listed(shown, len(shown), LONGEST_MESSAGE - len(head)))
        return [made_of[claim_id] for claim_id in self.items]

    def statistics(self, submission: pd.DataFrame) -> Floats:
        """What `count` counts of each claim, (n, 8), whose sums decide every measure."""
        return np.array(self.read(submission, count), dtype=np.float64)

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """The 13 measures, (..., 13), of sums of the statistics over all claims, (..., 1, 8)."""
        sums = np.asarray(sums, dtype=np.float64)[..., 0, :]
        values = precision_recall_f1(sums[..., [0, 0, 2, 2]], sums[..., [1, 1, 3, 3]], sums[..., 4:])
        twelve = values.reshape(*sums.shape[:-1], len(MEASURES))
        asked_for = MEASURES.index(self.measure)
        return np.concatenate([twelve[..., asked_for, np.newaxis], twelve], axis=-1)


# ---- Input -----------------------------------------------------------------------------------------------


def read_claim_ids(table: "_Table") -> list[str]:
    """The id of each row's claim; none is missing, blank or there twice."""
    codes, ids = table.texts(table.row_id)
    repeated = np.ones(len(codes), dtype=bool)
    repeated[np.unique(codes, return_index=True)[1]] = False
    table.check(table.row_id, repeated, lambda row: "there before", "every claim once")
    return ids


def read_evidence(table: "_Table", work: Callable[[int, object], Made], expected: str) -> list[Made]:
    """What `work` makes of each row's number and evidence."""
    made: list[Made] = []
    faults: dict[int, str] = {}
    for row, cell in enumerate(table.frame["evidence"].to_numpy(dtype=object)):
        try:
            made.append(work(row, cell))
        except ValueError as fault:
            faults[row] = str(fault)
    wrong = np.zeros(len(table.frame), dtype=bool)
    wrong[list(faults)] = True
    table.check("evidence", wrong, faults.__getitem__, expected)
    return made


def parse_gold(cell: object) -> Gold:
    """The label and the evidence sets of each abstract in the gold of one claim, from its JSON.

    Raises
    ------
    ValueError
        With what is wrong.

    Examples
    --------
    >>> parse_gold('{"11": [{"sentences": [0, 1], "label": "SUPPORT"}]}')
    {'11': ('SUPPORT', ((0, 1),))}
    >>> parse_gold('{"15": []}')
    Traceback (most recent call last):
    ...
    ValueError: document '15': no evidence set
    """
    return _each_document(cell, _gold_abstract)


def parse_prediction(cell: object) -> Prediction:
    """The label and the sentences of each abstract predicted for one claim, from its JSON.

    Raises
    ------
    ValueError
        With what is wrong.

    Examples
    --------
    >>> parse_prediction('{"11": {"sentences": [1, 11, 13], "label": "SUPPORT"}}')
    {'11': ('SUPPORT', (1, 11, 13))}
    >>> parse_prediction('{"11": {"sentences": ["1"], "label": "SUPPORT"}}')
    Traceback (most recent call last):
    ...
    ValueError: document '11': the text '1' among the sentences
    """
    return _each_document(cell, _label_and_sentences)


def _each_document(cell: object, parse: Callable[[Any], Made]) -> dict[str, Made]:
    parsed = {}
    for document, value in parse_object(cell).items():
        try:
            # JSON can spell half of a surrogate pair, which no table of ours could hold.
            if not document.isascii() and re.search("[\ud800-\udfff]", document):
                raise ValueError("an id with half a character")
            parsed[document] = parse(value)
        except ValueError as fault:
            raise ValueError(f"document {_quoted(document)}: {fault}") from None
    return parsed


def _gold_abstract(entries: Any) -> GoldAbstract:
    """The label and the evidence sets of a gold abstract."""
    if type(entries) is not list:
        raise ValueError(f"{shown(entries)} where a list of evidence sets is due")
    if not entries:
        raise ValueError("no evidence set")
    labels, sets = zip(*map(_label_and_sentences, entries))
    if len(set(labels)) > 1:
        raise ValueError("two labels")
    if not all(sets):
        raise ValueError("an evidence set without sentences")
    sentences = [sentence for of_set in sets for sentence in of_set]
    if len(set(sentences)) < len(sentences):
        twice = next(sentence for sentence in sentences if sentences.count(sentence) > 1)
        raise ValueError(f"sentence {twice} named twice")
    return labels[0], sets


def _label_and_sentences(value: Any) -> PredictedAbstract:
    """What stands in an object with a label and sentences."""
    if type(value) is not dict:
        raise ValueError(f"{shown(value)} where an object is due")
    lacking = [key for key in ("label", "sentences") if key not in value]
    if lacking:
        raise ValueError(f"no {' and no '.join(lacking)}")
    label, sentences = value["label"], value["sentences"]
    if label not in LABELS:
        hint = HINTS.get(label.strip().upper()) if isinstance(label, str) else None
        found = _quoted(label) if isinstance(label, str) else shown(label)
        raise ValueError(f"the label is {found}" + (f"; {hint}" if hint else ""))
    if type(sentences) is not list:
        raise ValueError(f"{shown(sentences)} where a list of sentences is due")
    for sentence in sentences:
        # bool is a subclass of int: only the exact type tells true from 1.
        whole = type(sentence) is int or (type(sentence) is float and sentence.is_integer())
        if not (whole and 0 <= sentence <= LAST_SENTENCE):
            raise ValueError(f"{shown(sentence)} among the sentences")
    return label, tuple(map(int, sentences))


def parse_object(text: object) -> dict[str, Any]:
    """The JSON object that a text holds.

    Raises
    ------
    ValueError
        With what is wrong; also if an object names a key twice, of which Python would keep the last.

    Examples
    --------
    >>> parse_object('{"11": 1, "11": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the key '11' is written twice
    """
    if not isinstance(text, str):
        raise ValueError("missing" if _is_missing(text) else f"a Python {type(text).__name__}, no text")
    text = text.strip(" \t\n\r")
    if not text:
        raise ValueError("empty")
    try:
        value, end = _decode(text)
    except json.JSONDecodeError as problem:
        raise ValueError(
            f"not JSON: {problem.msg.removesuffix(' at')} at character {problem.pos + 1}"
        ) from None
    except KeyError as problem:
        raise ValueError(f"the key {_quoted(problem.args[0])} is written twice") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits: it would take too long
        raise ValueError("a number of too many digits") from None
    if end < len(text):
        raise ValueError(f"not JSON: more text after it at character {end + 1}")
    if type(value) is not dict:
        raise ValueError(f"{shown(value)} where an object is due")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object that these pairs of key and value make."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise KeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return made


_decode = json.JSONDecoder(object_pairs_hook=_unique).raw_decode


def shown(value: Any) -> str:
    """A JSON value as messages show it; lists and objects, which may be huge, by name.

    >>> shown("5"), shown(None), shown([1])
    ("the text '5'", 'null', 'a list')
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return f"the text {_quoted(value)}"
    if isinstance(value, int | float):
        return _short(value)
    return "a list" if isinstance(value, list) else "an object"


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

    def check(self, column: str, wrong: npt.ArrayLike, found: Callable[[int], str], expected: str) -> None:
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


# ---- Credits ---------------------------------------------------------------------------------------------


def judge(gold: GoldAbstract, predicted: PredictedAbstract) -> tuple[int, int, int, int]:
    """What a predicted abstract that is in its claim's gold earns: one number for each of `CREDITS`.

    Parameters
    ----------
    gold : label and evidence sets, as `parse_gold` returns them
    predicted : label and sentences, as `parse_prediction` returns them

    Examples
    --------
    The set {0, 1} is complete, but not among the first three sentences:

    >>> judge(("SUPPORT", ((0, 1), (5,))), ("SUPPORT", (1, 7, 1, 0)))
    (1, 0, 2, 2)
    """
    label, sets = gold
    right_label = label == predicted[0]
    first = max(FIRST_SENTENCES, min(map(len, sets)))
    rationalized = right_label and complete_sets(sets, predicted[1][:first])
    # No sentence is in two sets.
    selected = sum(map(len, complete_sets(sets, predicted[1])))
    return int(right_label), int(bool(rationalized)), selected, selected if right_label else 0


def complete_sets(sets: tuple[Sentences, ...], sentences: Sentences) -> list[Sentences]:
    """The evidence sets of which every sentence is listed.

    >>> complete_sets(((0, 1), (11,)), (1, 11, 13))
    [(11,)]
    """
    listed = set(sentences)
    return [of_set for of_set in sets if listed.issuperset(of_set)]


# ---- Counts ----------------------------------------------------------------------------------------------


def count(gold: Gold, predicted: Prediction) -> list[int]:
    """Relevant and retrieved abstracts, relevant and retrieved sentences, and `CREDITS` of one claim, (8,).

    Examples
    --------
    The document's worked example:

    >>> gold = {"11": ("SUPPORT", ((0, 1), (11,))), "15": ("SUPPORT", ((4,),))}
    >>> count(gold, {"11": ("SUPPORT", (1, 11, 13)), "16": ("CONTRADICT", (18, 20))})
    [2, 2, 4, 5, 1, 1, 1, 1]
    """
    numbers = [len(gold), len(predicted), 0, 0, 0, 0, 0, 0]
    for _, sets in gold.values():
        numbers[2] += sum(map(len, sets))
    for document, answer in predicted.items():
        numbers[3] += len(answer[1])
        if document in gold:
            for place, credit in enumerate(judge(gold[document], answer), start=4):
                numbers[place] += credit
    return numbers


# ---- Measures --------------------------------------------------------------------------------------------


def precision_recall_f1(relevant: npt.ArrayLike, retrieved: npt.ArrayLike, correct: npt.ArrayLike) -> Floats:
    """P = correct / retrieved, R = correct / relevant, F1 = 2·P·R / (P + R), where 0 / 0 is 0.

    F1 is taken from P and R, not from the counts: so its last bit, too, is the leaderboard's.

    Parameters
    ----------
    relevant, retrieved, correct : (...) int or float

    Returns
    -------
    (..., 3) float in [0, 1]

    Examples
    --------
    >>> precision_recall_f1([4, 0], [5, 0], [1, 0]).round(3).tolist()
    [[0.2, 0.25, 0.222], [0.0, 0.0, 0.0]]
    """
    precision, recall = _quotient(correct, retrieved), _quotient(correct, relevant)
    return np.stack([precision, recall, _quotient(2 * precision * recall, precision + recall)], axis=-1)


def _quotient(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """numerator / denominator, 0 where the denominator is 0."""
    a, b = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    quotient: Floats = np.divide(a, b, out=np.zeros_like(a), where=b != 0)
    return quotient
