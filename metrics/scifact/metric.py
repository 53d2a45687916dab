"""The SciFact leaderboard's evaluation of scientific claim verification, as one file to upload to Kaggle.

A system names the abstracts that decide a claim, labels each and lists the sentences that are the evidence.
``score`` turns its answers to all claims into one of twelve measures, which equal those of the leaderboard's
own program to the last bit.  After the public functions come the stages, in the order in which the data passes
through them, and after these the input:

    credits     judge, complete_sets
    counts      count
    measures    precision_recall_f1
    input       parse_gold, parse_prediction

Where the document that ``score`` names is silent, or the leaderboard does otherwise, this file decides:

* The first three sentences are as many as the smallest gold set has, if that has more (on the leaderboard since
  December 2021), and they are taken from the list as given.  A sentence that is listed twice takes two places
  and is retrieved twice, but is correct once.
* The right label without sentences earns abstract_label_only.  A claim without evidence has no right abstract.
* Labels other than SUPPORT and CONTRADICT are errors, also the document's REFUTES.
* Claims and documents are joined by their ids as text, in any order.
* A sentence is a whole number from 0, which may be written 4.0.  A key written twice is an error; unknown keys
  are ignored.
* In the gold, an abstract has one label and at least one evidence set, and no set is empty.
* Gold sets that share a sentence are counted as they stand (with a ``SharedSentenceWarning``).  The
  leaderboard's program does so, too, but stops as soon as a submission lists such a sentence.  Here the
  sentence is then correct once, if one of its sets is complete.
"""

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "COMPLETE_SUBMISSION", "MEASURE_PARAMETERS", "NAME", "HostVisibleError", "ParticipantVisibleError",
    "Prepared", "__version__", "higher_is_better", "prepare", "score",
]  # fmt: skip

__version__ = "3.0.0"

NAME = "scifact"
COMPLETE_SUBMISSION = False
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

# What to write instead of a label that is none.
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

# Tuples, which Python's garbage collector soon stops looking at: that halves the time.
Sentences = tuple[int, ...]
GoldAbstract = tuple[str, tuple[Sentences, ...]]  # label and evidence sets
PredictedAbstract = tuple[str, Sentences]  # label and sentences
Gold = dict[str, GoldAbstract]  # by document
Prediction = dict[str, PredictedAbstract]
Made = TypeVar("Made")


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong.  Kaggle knows this exception by its name and shows its text to participants."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong.  Kaggle shows this to the host only."""


class SharedSentenceWarning(UserWarning):
    """Evidence sets of the solution share a sentence."""


# ---- Public API ------------------------------------------------------------------------------------------


def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "sentence_label_f1",
) -> float:
    """One of the twelve measures of the SciFact leaderboard.

    A system names the abstracts that decide a claim, labels each and lists the sentences that are the evidence.
    Four kinds of credit are counted over all claims:

        abstract_label_only      the abstract is in the claim's gold, and the label is right
        abstract_rationalized    … and a whole gold evidence set is among the first three sentences listed
        sentence_selection       the sentence is in a gold evidence set, all of which is listed
        sentence_label           … and the label of its abstract is right

    Each gives P = correct / retrieved, R = correct / relevant and F1 = 2·P·R / (P + R), with 0 / 0 = 0.

    Parameters
    ----------
    solution : DataFrame, one row per claim
        `row_id_column_name`, and ``evidence``: JSON, the gold evidence sets of each document, as in
        ``{"11": [{"sentences": [0, 1], "label": "SUPPORT"}, {"sentences": [11], "label": "SUPPORT"}]}``.
    submission : DataFrame, one row per claim
        `row_id_column_name`, and ``evidence``: JSON, one label and one list of sentences for each document,
        as in ``{"11": {"sentences": [1, 11, 13], "label": "SUPPORT"}}``; ``{}`` for no evidence.
    row_id_column_name : str
        The claim's id.
    measure : str
        The kind of credit, followed by ``_precision``, ``_recall`` or ``_f1``.

    Returns
    -------
    float
        Between 0 (worst) and 1 (best).

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed, or lacks or adds claims.  The text tells nothing else of the solution.
    HostVisibleError
        The solution is malformed or there is no such measure.

    References
    ----------
    "SciFact leaderboard submission and evaluation guidelines".
    D. Wadden and others, "Fact or Fiction: Verifying Scientific Claims", 2020, arXiv 2004.14974.

    Examples
    --------
    The document's example:

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
    """
    prepared = prepare(solution, row_id_column_name, measure)
    return float(prepared.measures(prepared.statistics(submission).sum(axis=0)[np.newaxis])[0])


def higher_is_better() -> bool:
    """Whether a higher score is better: it is, whatever the parameters of `score`."""
    return True


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "sentence_label_f1",
) -> "Prepared":
    """Check and digest a solution once, to score many submissions.

    The parameters, and the `HostVisibleError`, are those of `score`.

    Returns
    -------
    Prepared

    Warns
    -----
    SharedSentenceWarning
        Evidence sets of an abstract share a sentence.
    """
    _check_text("row_id_column_name", row_id_column_name)
    _check_text("measure", measure)
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
    _warn_of_shared_sentences(ids, gold)
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


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A solution, checked and digested by `prepare`.

    Attributes
    ----------
    items : list of str
        Ids of the n claims, sorted as text.
    item_of_row : (rows,) int
        The claim of each row of the solution.
    labels : list of (attribute, value)
        One, that of all claims.
    groups : (1, n) int
        Zeros, which are indices into `labels`.
    gold : list of dict
        Label and evidence sets of each claim's abstracts.
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
        """Names of the 13 measures: the score, then `MEASURES`."""
        return ["score", *MEASURES]

    def read(self, submission: pd.DataFrame, work: Callable[[Gold, Prediction], Made]) -> list[Made]:
        """What `work` makes of each claim's gold and the submission's answer to it, in the order of `items`.

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed, or lacks or adds claims.
        """
        table = _Table(submission, "the submission", self.row_id_column_name, ParticipantVisibleError)
        table.check_columns("evidence")
        ids = read_claim_ids(table)
        gold_of = dict(zip(self.items, self.gold))

        # The work is done row by row, for keeping all answers in memory at once takes longer than reading them.
        def work_on(row: int, cell: object) -> Made:
            return work(gold_of.get(ids[row], {}), parse_prediction(cell))

        made_of = dict(zip(ids, read_evidence(table, work_on, EXPECTED_PREDICTION)))
        unknown = [claim_id for claim_id in ids if claim_id not in gold_of]
        lacking = len(gold_of) - (len(ids) - len(unknown))
        if lacking or unknown:
            head = (
                f"{_short(self.row_id_column_name)}: expected every claim of the test set once, and no other. "
                f"Missing: {lacking:,}. Not in the test set: {len(unknown):,}{', such as ' if unknown else ''}"
            )
            examples = [_short(claim_id) for claim_id in unknown[:ROWS_SHOWN]]
            raise ParticipantVisibleError(head + _listed(examples, len(examples), LONGEST_MESSAGE - len(head)))
        return [made_of[claim_id] for claim_id in self.items]

    def statistics(self, submission: pd.DataFrame) -> Floats:
        """The counts of each claim, (n, 8), as `count` has them, whose sums decide every measure."""
        return np.array(self.read(submission, count), dtype=np.float64)

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """The measures, (..., 13), of sums of statistics, (..., 1, 8)."""
        sums = np.asarray(sums, dtype=np.float64)[..., 0, :]
        values = precision_recall_f1(sums[..., [0, 0, 2, 2]], sums[..., [1, 1, 3, 3]], sums[..., 4:])
        twelve = values.reshape(*sums.shape[:-1], len(MEASURES))
        asked_for = MEASURES.index(self.measure)
        return np.concatenate([twelve[..., asked_for, np.newaxis], twelve], axis=-1)


# ---- Credits ---------------------------------------------------------------------------------------------


def judge(gold: GoldAbstract, predicted: PredictedAbstract) -> tuple[int, int, int, int]:
    """What a predicted abstract that is in its claim's gold earns.

    Parameters
    ----------
    gold : (label, evidence sets)
    predicted : (label, sentences in the order of the list)

    Returns
    -------
    tuple of int
        Correct abstracts (0 or 1) or sentences, in the order of `CREDITS`.

    Examples
    --------
    The set {0, 1} is complete, but not among the first three sentences, since 1 takes two places:

    >>> judge(("SUPPORT", ((0, 1), (5,))), ("SUPPORT", (1, 7, 1, 0)))
    (1, 0, 2, 2)

    Sentence 1 is in two sets, both complete, and is correct once:

    >>> judge(("SUPPORT", ((0, 1), (1, 2))), ("SUPPORT", (0, 1, 2)))
    (1, 1, 3, 3)
    """
    label, sets = gold
    right_label = label == predicted[0]
    first = max(FIRST_SENTENCES, min(map(len, sets)))
    rationalized = right_label and complete_sets(sets, predicted[1][:first])
    selected = len(set[int]().union(*complete_sets(sets, predicted[1])))
    return int(right_label), int(bool(rationalized)), selected, selected if right_label else 0


def complete_sets(sets: tuple[Sentences, ...], sentences: Sentences) -> list[Sentences]:
    """The evidence sets of which all sentences are listed."""
    listed = set(sentences)
    return [of_set for of_set in sets if listed.issuperset(of_set)]


# ---- Counts ----------------------------------------------------------------------------------------------


def count(gold: Gold, predicted: Prediction) -> list[int]:
    """The eight counts of a claim.

    Parameters
    ----------
    gold, predicted : dict
        As `parse_gold` and `parse_prediction` return them.

    Returns
    -------
    list of int
        Relevant and retrieved abstracts, relevant and retrieved sentences, then what is correct by `CREDITS`.

    Examples
    --------
    An abstract without gold is retrieved, and never correct:

    >>> count({}, {"16": ("SUPPORT", (18, 20))})
    [0, 1, 0, 2, 0, 0, 0, 0]
    """
    counts = [len(gold), len(predicted), 0, 0, 0, 0, 0, 0]
    for _, sets in gold.values():
        counts[2] += sum(map(len, sets))
    for document, answer in predicted.items():
        counts[3] += len(answer[1])
        if document in gold:
            for index, credit in enumerate(judge(gold[document], answer), start=4):
                counts[index] += credit
    return counts


# ---- Measures --------------------------------------------------------------------------------------------


def precision_recall_f1(relevant: npt.ArrayLike, retrieved: npt.ArrayLike, correct: npt.ArrayLike) -> Floats:
    """P, R and F1, (..., 3), of counts, (...) each; 0 / 0 is 0.

    >>> precision_recall_f1(4, 5, 1).round(3).tolist()
    [0.2, 0.25, 0.222]
    """
    # F1 is computed from P and R, not from the counts, so that its last bit is the leaderboard's.
    precision, recall = _quotient(correct, retrieved), _quotient(correct, relevant)
    return np.stack([precision, recall, _quotient(2 * precision * recall, precision + recall)], axis=-1)


def _quotient(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """0 where the denominator is 0."""
    a, b = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    quotient: Floats = np.divide(a, b, out=np.zeros_like(a), where=b != 0)
    return quotient


# ---- Input -----------------------------------------------------------------------------------------------


def read_claim_ids(table: "_Table") -> list[str]:
    """The id of each row's claim; none is missing, blank or there twice."""
    ids = list(map(_as_text, table.frame[table.row_id].to_numpy(dtype=object)))
    blank = [not claim_id.strip() for claim_id in ids]
    table.reject(table.row_id, blank, lambda row: "missing", "a value in every row")
    repeated = pd.Index(ids, dtype=object).duplicated()
    table.reject(table.row_id, repeated, lambda row: "there before", "every claim once")
    return ids


def read_evidence(table: "_Table", work: Callable[[int, object], Made], expected: str) -> list[Made]:
    """What `work` makes of each row's number and evidence; the table's error names rows with a ValueError."""
    made: list[Made] = []
    faults: dict[int, str] = {}
    for row, cell in enumerate(table.frame["evidence"].to_numpy(dtype=object)):
        try:
            made.append(work(row, cell))
        except ValueError as fault:
            faults[row] = str(fault)
    table.reject("evidence", [row in faults for row in range(len(table.frame))], faults.__getitem__, expected)
    return made


def _warn_of_shared_sentences(ids: list[str], gold: list[Gold]) -> None:
    """Warn if evidence sets of an abstract share a sentence."""
    shared = [
        (claim_id, document)
        for claim_id, of_claim in zip(ids, gold)
        for document, (_, sets) in of_claim.items()
        if sum(map(len, sets)) > len(set[int]().union(*sets))
    ]
    if shared:
        claim_id, document = map(_quoted, shared[0])
        warnings.warn(
            f"{_counted(len(shared), 'abstract')} of the solution with evidence sets that share a sentence, "
            f"such as {document} of claim {claim_id}. The leaderboard's program stops where a submission lists "
            "such a sentence; here it is correct once, if one of its sets is complete.",
            SharedSentenceWarning,
            stacklevel=3,
        )


def parse_gold(cell: object) -> Gold:
    """Label and evidence sets of each abstract in a claim's gold.

    Raises
    ------
    ValueError
        The cell is malformed; the text says what is wrong.

    Examples
    --------
    >>> parse_gold('{"11": [{"sentences": [0, 1], "label": "SUPPORT"}]}')
    {'11': ('SUPPORT', ((0, 1),))}
    """
    return _each_document(cell, _gold_abstract)


def parse_prediction(cell: object) -> Prediction:
    """Label and sentences of each abstract predicted for a claim.

    Raises
    ------
    ValueError
        The cell is malformed; the text says what is wrong.

    Examples
    --------
    >>> parse_prediction('{"11": {"sentences": [1, 11.0], "label": "SUPPORT"}}')
    {'11': ('SUPPORT', (1, 11))}
    """
    return _each_document(cell, _label_and_sentences)


def _each_document(cell: object, parse: Callable[[Any], Made]) -> dict[str, Made]:
    """What `parse` makes of each value of the cell's object, by document."""
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
    if type(entries) is not list:
        raise ValueError(f"{shown(entries)} where a list of evidence sets is due")
    if not entries:
        raise ValueError("no evidence set")
    labels, sets = zip(*map(_label_and_sentences, entries))
    if len(set(labels)) > 1:
        raise ValueError("two labels")
    for of_set in sets:
        if not of_set:
            raise ValueError("an evidence set without sentences")
        if len(set(of_set)) < len(of_set):
            raise ValueError(f"sentence {Counter(of_set).most_common(1)[0][0]} named twice")
    return labels[0], sets


def _label_and_sentences(value: Any) -> PredictedAbstract:
    if type(value) is not dict:
        raise ValueError(f"{shown(value)} where an object is due")
    lacking = [key for key in ("label", "sentences") if key not in value]
    if lacking:
        raise ValueError(f"no {' and no '.join(lacking)}")
    label, sentences = value["label"], value["sentences"]
    if label not in LABELS:
        hint = HINTS.get(label.strip().upper()) if isinstance(label, str) else None
        written = _quoted(label) if isinstance(label, str) else shown(label)
        raise ValueError(f"the label is {written}" + (f"; {hint}" if hint else ""))
    if type(sentences) is not list:
        raise ValueError(f"{shown(sentences)} where a list of sentences is due")
    for sentence in sentences:
        # bool is a subclass of int: only the exact type tells true from 1.
        whole = type(sentence) is int or (type(sentence) is float and sentence.is_integer())
        if not (whole and 0 <= sentence <= LAST_SENTENCE):
            raise ValueError(f"{shown(sentence)} among the sentences")
    return label, tuple(map(int, sentences))


def parse_object(text: object) -> dict[str, Any]:
    """The JSON object that a text holds, in which no key may be written twice.

    Raises
    ------
    ValueError
        The text is malformed; the error's text says what is wrong.
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
    except ValueError:  # Python reads no more than 4,300 digits
        raise ValueError("a number of too many digits") from None
    if end < len(text):
        raise ValueError(f"not JSON: more text after it at character {end + 1}")
    if type(value) is not dict:
        raise ValueError(f"{shown(value)} where an object is due")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these keys and values, or a KeyError with the key that is there twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise KeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return made


_decode = json.JSONDecoder(object_pairs_hook=_unique).raw_decode


def shown(value: Any) -> str:
    """A JSON value as messages show it."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return f"the text {_quoted(value)}"
    if isinstance(value, int | float):
        return _short(value)
    return "a list" if isinstance(value, list) else "an object"


# ---- Shared: tables and messages -------------------------------------------------------------------------
# Each hosted file is uploaded alone, so it repeats what several of them need.  A section whose heading begins
# with “Shared” is the same in every hosted file that has it.


class _Table(NamedTuple):
    """A data frame, and how messages tell what is wrong with it.

    Attributes
    ----------
    frame : DataFrame
        The data frame as the caller gave it.  It is never changed.
    name : str
        What messages call it: "the solution" or "the submission".
    row_id : str
        The column whose values name the rows in messages.
    error : type of Exception
        The exception that a fault raises: `HostVisibleError` for the solution, `ParticipantVisibleError` for
        the submission.
    """

    frame: pd.DataFrame
    name: str
    row_id: str
    error: type[Exception]

    def check_columns(self, *required: str) -> None:
        """Require that the row id and these columns exist, each once, and that every row has an id.

        Parameters
        ----------
        *required : str
            Names of the columns that are needed besides the row id.

        Raises
        ------
        HostVisibleError
            `frame` is not a DataFrame.
        ParticipantVisibleError or HostVisibleError
            A column is missing or there twice, or a row has no id.  `error` says which of the two exceptions
            it is.
        """
        if not isinstance(self.frame, pd.DataFrame):
            raise HostVisibleError(f"{self.name}: expected a DataFrame, found {type(self.frame).__name__}")
        required = tuple(dict.fromkeys((self.row_id, *required)))
        names = list(self.frame.columns)
        lacking = [_short(name) for name in required if name not in names]
        if lacking:
            more, present = _counted(len(lacking), "more column"), [_short(name) for name in names]
            head = f"{self.name}: expected {more}: {_listed(lacking, len(lacking), 120)}. It has "
            raise self.error(head + (_listed(present, len(present), LONGEST_MESSAGE - len(head)) or "none"))
        for name in required:
            if names.count(name) > 1:
                raise self.error(f"{self.name}: expected one column {_short(name)}, found {names.count(name)}")
        ids = self.frame[self.row_id]
        # pandas' isna() fails for Decimal("sNaN"), which only a column of objects can hold.
        missing = ids.map(_is_missing) if ids.dtype == object else ids.isna()
        self.reject(self.row_id, missing.to_numpy(dtype=bool), lambda row: "missing", "an id in every row")

    def reject(self, column: str, wrong: npt.ArrayLike, content: Callable[[int], str], expected: str) -> None:
        """Raise `error` if any row is wrong, and name the first ones.

        Parameters
        ----------
        column : str
            The column with the fault.
        wrong : (rows,) bool
            Whether each row is wrong.
        content : function of int
            Says what a row has in that column.  Its argument is the row's position, from 0.
        expected : str
            What every row should have there.

        Raises
        ------
        ParticipantVisibleError or HostVisibleError
            A row is wrong.  `error` says which of the two exceptions it is.
        """
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
    """Whether a cell is None, NaN, NA or NaT.  Unlike pandas' own isna(), it knows Decimal("sNaN"), too."""
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or value is pd.NA or value is pd.NaT


def _as_text(value: object) -> str:
    """A cell as text, which is the same whether a CSV reader took it for text, an integer or a float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    # Python refuses to write an integer of more than 4,300 decimal digits.
    return f"{value:x}" if isinstance(value, int) and value.bit_length() > 14_000 else str(value)


def _short(value: object) -> str:
    """The first `CHARACTERS_SHOWN` characters of a value's text; what cannot be printed is escaped."""
    text = repr(_as_text(value)[: CHARACTERS_SHOWN + 1])[1:-1]
    return text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"


def _quoted(value: object) -> str:
    """The beginning of a value's text, in quotation marks."""
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    """A number with its noun, such as "1 row" or "2,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(texts: Sequence[str], total: int, room: int) -> str:
    """As many texts as fit into `room` characters, and how many of the `total` are left out."""
    for number in range(len(texts), 0, -1):
        more = f" and {total - number:,} more" if total > number else ""
        text = ", ".join(texts[:number])
        if len(text) + len(more) <= room:
            return text + more
    return f"{text[: room - len(more) - 1]}…{more}" if texts else ""


# ---- Shared: parameters that are text --------------------------------------------------------------------


def _check_text(name: str, value: object) -> None:
    """Raise `HostVisibleError` unless the value of the parameter `name` is text."""
    if not isinstance(value, str):
        raise HostVisibleError(f"{name}: expected text, found {type(value).__name__} {_quoted(value)}")
