"""The SciFact leaderboard's evaluation of scientific claim verification, as one file to upload to Kaggle.

A claim is a scientific statement that can be true or false. A system looks for abstracts of papers that decide
the claim. It gives each of them a label, SUPPORT or CONTRADICT, and lists the sentences that are the evidence.
The right answers are called the gold. In the gold, an abstract has a label and one or more evidence sets. An
evidence set is a group of sentences that is enough to justify the label.

``score`` turns a system's answers to all claims into one of twelve measures. They equal those of the
leaderboard's own program to the last bit. After the public functions come the stages, in the order in which
the data passes through them. The functions that read the input come last:

    credits     judge, complete_sets
    counts      count
    measures    precision_recall_f1
    input       parse_gold, parse_prediction

The example of the guidelines, step by step. In the gold of a claim, abstract 11 has the evidence sets {0, 1}
and {11}, and abstract 15 has the set {4}. A system lists sentences 1, 11 and 13 of abstract 11, and sentences
18 and 20 of abstract 16:

>>> gold = {"11": ("SUPPORT", ((0, 1), (11,))), "15": ("SUPPORT", ((4,),))}
>>> answer = {"11": ("SUPPORT", (1, 11, 13)), "16": ("CONTRADICT", (18, 20))}

Of the sets of abstract 11, only {11} is complete. The abstract earns both kinds of credit for abstracts, and
sentence 11 both kinds for sentences. Sentence 1 earns none, because sentence 0 is not listed:

>>> judge(gold["11"], answer["11"])
(1, 1, 1, 1)

Two abstracts are relevant and two are retrieved. Four sentences are relevant and five are retrieved. The last
four counts are the credits, because abstract 16 earns nothing:

>>> count(gold, answer)
[2, 2, 4, 5, 1, 1, 1, 1]

For the sentences, precision is 1/5, recall is 1/4, and F1 is 2/9:

>>> precision_recall_f1(relevant=4, retrieved=5, correct=1).round(6).tolist()
[0.2, 0.25, 0.222222]

``score`` cites the leaderboard's guidelines. Two things in them are not followed to the letter:

* They look for a whole evidence set among the first three sentences listed. If the abstract's smallest
  evidence set has more than three sentences, this file looks among as many as that set has, because no answer
  could be right otherwise. The leaderboard has done so since December 2021.
* They use the label REFUTES in an example. Here it is an error, as every label but SUPPORT and CONTRADICT.

Where they say nothing, this file decides:

* The sentences are taken in the order in which they are listed. A sentence that is listed twice takes two
  places and counts as retrieved twice, but it counts as correct only once.
* An abstract with the right label earns abstract_label_only, even if no sentences are listed.
* If a claim has no evidence in the gold, every abstract predicted for it is wrong.
* Claims and abstracts are matched by their ids, which are compared as text. The score does not depend on the
  order of rows.
* A sentence is a whole number from 0, which may be written 4.0. A key that is written twice in an object is an
  error. Unknown keys are ignored.
* In the gold, an abstract has one label and at least one evidence set, and no set is empty.
* If evidence sets of the gold share a sentence, it counts as relevant in each of them, and ``prepare`` gives a
  ``SharedSentenceWarning``. The leaderboard's program stops as soon as a submission lists such a sentence.
  Here the sentence is then correct once, if one of its sets is complete.
"""

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    """JSON such as '{"11": {"sentences": [0, 4], "label": "SUPPORT"}}' or '{}', labels SUPPORT or """
    "CONTRADICT, sentences from 0"
)

# What messages advise to do about a wrong label. They are short, so that a message has room for the advice.
HINTS = {
    **dict.fromkeys(("SUPPORT", "SUPPORTS", "SUPPORTED"), "write SUPPORT"),
    **dict.fromkeys(
        ("CONTRADICT", "CONTRADICTS", "CONTRADICTED", "REFUTE", "REFUTES", "REFUTED"), "write CONTRADICT"
    ),
    **dict.fromkeys(("NEI", "NOINFO", "NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO"), "leave it out"),
}

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# These are tuples, because Python's garbage collector soon stops looking at tuples. That halves the time.
Sentences = tuple[int, ...]
GoldAbstract = tuple[str, tuple[Sentences, ...]]  # label and evidence sets
PredictedAbstract = tuple[str, Sentences]  # label and sentences
Gold = dict[str, GoldAbstract]  # by document
Prediction = dict[str, PredictedAbstract]
Made = TypeVar("Made")


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong. Kaggle knows this exception by its name and shows its text to participants."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong. Kaggle shows this text only to the host."""


class SharedSentenceWarning(UserWarning):
    """Two evidence sets of an abstract in the solution share a sentence."""


# ---- Public API ------------------------------------------------------------------------------------------


def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "sentence_label_f1",
) -> float:
    """Score a submission with one of the twelve measures of the SciFact leaderboard.

    On Kaggle, leave "Pass complete submission" off. Every claim needs a row, and every abstract that is
    predicted for a claim without evidence is wrong.

    Four kinds of credit are counted over all claims. The first two count abstracts, the other two sentences:

    * ``abstract_label_only``: the abstract is in the claim's gold, and its label is right.
    * ``abstract_rationalized``: in addition, a whole evidence set of the gold is among the first three
      sentences listed.
    * ``sentence_selection``: the sentence is in an evidence set of the gold, and all of that set is listed.
    * ``sentence_label``: in addition, the label of the sentence's abstract is right.

    What earns a credit is called correct. What the system lists is called retrieved, and what the gold has is
    called relevant. Each kind of credit gives three measures. They are the precision P = correct / retrieved,
    the recall R = correct / relevant, and F1 = 2·P·R / (P + R). Where the denominator is 0, the quotient is 0.
    If an abstract's smallest evidence set is larger than three, that many sentences count instead of three.

    Parameters
    ----------
    solution : DataFrame
        The gold, one row per claim. It has the columns `row_id_column_name` and ``evidence``. The latter
        holds JSON: for the id of each abstract the list of its evidence sets, such as ``{"11": [{"sentences":
        [0, 1], "label": "SUPPORT"}, {"sentences": [11], "label": "SUPPORT"}]}``.
    submission : DataFrame
        The system's answers, one row per claim. It has the columns `row_id_column_name` and ``evidence``. The
        latter holds JSON: for the id of each abstract one label and one list of sentences, such as ``{"11":
        {"sentences": [1, 11, 13], "label": "SUPPORT"}}``. ``{}`` says that there is no evidence.
    row_id_column_name : str
        The name of the column with the claims' ids.
    measure : str
        One of the four kinds of credit, followed by ``_precision``, ``_recall`` or ``_f1``.

    Returns
    -------
    float
        The measure, between 0 (worst) and 1 (best).

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed, lacks claims or has claims that are not in the test set. The text of the
        exception tells nothing else about the solution.
    HostVisibleError
        The solution is malformed, or there is no such measure.

    Warns
    -----
    SharedSentenceWarning
        Evidence sets of an abstract in the solution share a sentence.

    References
    ----------
    "SciFact leaderboard submission and evaluation guidelines".
    D. Wadden and others, "Fact or Fiction: Verifying Scientific Claims", 2020, arXiv 2004.14974.

    Examples
    --------
    The example of the guidelines:

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
    """Whether a higher score is better."""
    return True


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "sentence_label_f1",
) -> "Prepared":
    """Check and parse a solution once, so that many submissions can be scored against it."""
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
    """A solution that `prepare` has checked and parsed, with the parameters to score against it."""

    items: list[str]  # the ids of the claims, sorted as text
    item_of_row: Ints  # the claim of each row of the solution, as an index into `items`
    labels: list[tuple[str, str]]  # the groups of claims: there is one, that of all claims
    groups: Ints  # (1, claims) the group of each claim, 0
    gold: list[Gold]  # of each claim
    row_id_column_name: str  # the parameters of `score`
    measure: str

    @property
    def measure_names(self) -> list[str]:
        """The names of the measures: the score, then `MEASURES`."""
        return ["score", *MEASURES]

    def read(self, submission: pd.DataFrame, work: Callable[[Gold, Prediction], Made]) -> list[Made]:
        """Check a submission and apply a function to the answer to each claim."""
        table = _Table(submission, "the submission", self.row_id_column_name, ParticipantVisibleError)
        table.check_columns("evidence")
        ids = read_claim_ids(table)
        gold_of = dict(zip(self.items, self.gold))

        # The work is done row by row: keeping all answers in memory would take longer than reading them.
        def work_on(row: int, cell: object) -> Made:
            return work(gold_of.get(ids[row], {}), parse_prediction(cell))

        made_of = dict(zip(ids, read_evidence(table, work_on, EXPECTED_PREDICTION)))
        unknown = [claim_id for claim_id in ids if claim_id not in gold_of]
        lacking = len(gold_of) - (len(ids) - len(unknown))
        if lacking or unknown:
            such_as = f", such as {_short(unknown[0])}" if unknown else ""
            raise ParticipantVisibleError(
                f"{_short(self.row_id_column_name)}: expected every claim of the test set once, and no other. "
                f"Missing: {lacking:,}. Not in the test set: {len(unknown):,}{such_as}"
            )
        return [made_of[claim_id] for claim_id in self.items]

    def statistics(self, submission: pd.DataFrame) -> Floats:
        """Count for each claim what is relevant, retrieved and correct."""
        return np.array(self.read(submission, count), dtype=np.float64)

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute the measures from sums of statistics."""
        sums = np.asarray(sums, dtype=np.float64)[..., 0, :]
        values = precision_recall_f1(sums[..., [0, 0, 2, 2]], sums[..., [1, 1, 3, 3]], sums[..., 4:])
        twelve = values.reshape(*sums.shape[:-1], len(MEASURES))
        asked_for = MEASURES.index(self.measure)
        return np.concatenate([twelve[..., asked_for, np.newaxis], twelve], axis=-1)


# ---- Credits ---------------------------------------------------------------------------------------------


def judge(gold: GoldAbstract, predicted: PredictedAbstract) -> tuple[int, int, int, int]:
    """Say what a predicted abstract earns that is in its claim's gold.

    The set {0, 1} is complete, but not within the first three sentences, because sentence 1 takes two places:

    >>> judge(("SUPPORT", ((0, 1), (5,))), ("SUPPORT", (1, 7, 1, 0)))
    (1, 0, 2, 2)

    Sentence 1 is in two complete sets. It counts as correct once:

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
    """Find the evidence sets that are complete: all of their sentences are listed.

    >>> complete_sets(((0, 1), (5,)), (1, 5, 7))
    [(5,)]
    """
    listed = set(sentences)
    return [of_set for of_set in sets if listed.issuperset(of_set)]


# ---- Counts ----------------------------------------------------------------------------------------------


def count(gold: Gold, predicted: Prediction) -> list[int]:
    """Count what is relevant, retrieved and correct in the answer to a claim.

    An abstract that is not in the gold is retrieved with its two sentences, and nothing of it is correct:

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
    """Compute precision, recall and F1 from counts.

    The example of the guidelines has 4 relevant and 5 retrieved sentences, of which 1 is correct:

    >>> precision_recall_f1(4, 5, 1).round(3).tolist()
    [0.2, 0.25, 0.222]
    """
    # F1 is computed from P and R, not from the counts, so that it equals the leaderboard's to the last bit.
    precision, recall = _quotient(correct, retrieved), _quotient(correct, relevant)
    return np.stack([precision, recall, _quotient(2 * precision * recall, precision + recall)], axis=-1)


def _quotient(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """The quotients of two arrays of the same shape; 0 where the denominator is 0."""
    a, b = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    quotient: Floats = np.divide(a, b, out=np.zeros_like(a), where=b != 0)
    return quotient


# ---- Input -----------------------------------------------------------------------------------------------


def read_claim_ids(table: "_Table") -> list[str]:
    """Read the id of each row's claim."""
    ids = list(map(_as_text, table.frame[table.row_id].to_numpy(dtype=object)))
    blank = [not claim_id.strip() for claim_id in ids]
    table.reject(table.row_id, blank, lambda row: "missing", "a value in every row")
    repeated = pd.Index(ids, dtype=object).duplicated()
    table.reject(table.row_id, repeated, lambda row: "repeated", "every claim once")
    return ids


def read_evidence(table: "_Table", work: Callable[[int, object], Made], expected: str) -> list[Made]:
    """Apply a function to the evidence of each row."""
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
    """Give a `SharedSentenceWarning` if evidence sets of an abstract share a sentence."""
    shared = [
        (claim_id, document)
        for claim_id, of_claim in zip(ids, gold)
        for document, (_, sets) in of_claim.items()
        if sum(map(len, sets)) > len(set[int]().union(*sets))
    ]
    if shared:
        claim_id, document = map(_quoted, shared[0])
        warnings.warn(
            f"Evidence sets share a sentence in {_counted(len(shared), 'abstract')} of the solution, such as "
            f"{document} of claim {claim_id}. The leaderboard's program stops when a submission lists such a "
            "sentence. Here the sentence is correct once, if one of its sets is complete.",
            SharedSentenceWarning,
            stacklevel=3,
        )


def parse_gold(cell: object) -> Gold:
    """Parse the gold of a claim.

    >>> parse_gold('{"11": [{"sentences": [0, 1], "label": "SUPPORT"}]}')
    {'11': ('SUPPORT', ((0, 1),))}
    """
    return _each_document(cell, _gold_abstract)


def parse_prediction(cell: object) -> Prediction:
    """Parse the answer to a claim.

    >>> parse_prediction('{"11": {"sentences": [1, 11.0], "label": "SUPPORT"}}')
    {'11': ('SUPPORT', (1, 11))}
    """
    return _each_document(cell, _label_and_sentences)


def _each_document(cell: object, parse: Callable[[Any], Made]) -> dict[str, Made]:
    """Apply `parse` to each value of the JSON object in a cell, whose keys are the ids of the abstracts."""
    parsed = {}
    for document, value in parse_object(cell).items():
        try:
            # JSON can contain one half of a surrogate pair, which cannot be written to a table in UTF-8.
            if not document.isascii() and re.search("[\ud800-\udfff]", document):
                raise ValueError("an id with an incomplete character")
            parsed[document] = parse(value)
        except ValueError as fault:
            raise ValueError(f"document {_quoted(document)}: {fault}") from None
    return parsed


def _gold_abstract(entries: Any) -> GoldAbstract:
    """The label and the evidence sets of an abstract, from the JSON list of its evidence sets."""
    if type(entries) is not list:
        raise ValueError(f"{shown(entries)} instead of a list of evidence sets")
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
    """The label and the sentences of a predicted abstract or of an evidence set, from its JSON object."""
    if type(value) is not dict:
        raise ValueError(f"{shown(value)} instead of an object")
    lacking = [key for key in ("label", "sentences") if key not in value]
    if lacking:
        raise ValueError(f"no {' and no '.join(lacking)}")
    label, sentences = value["label"], value["sentences"]
    if label not in LABELS:
        hint = HINTS.get(label.strip().upper()) if isinstance(label, str) else None
        written = _quoted(label) if isinstance(label, str) else shown(label)
        raise ValueError(f"the label is {written}" + (f"; {hint}" if hint else ""))
    if type(sentences) is not list:
        raise ValueError(f"{shown(sentences)} instead of a list of sentences")
    for sentence in sentences:
        # bool is a subclass of int, so only the exact type tells true from 1.
        whole = type(sentence) is int or (type(sentence) is float and sentence.is_integer())
        if not (whole and 0 <= sentence <= LAST_SENTENCE):
            raise ValueError(f"{shown(sentence)} among the sentences")
    return label, tuple(map(int, sentences))


def parse_object(text: object) -> dict[str, Any]:
    """Parse a JSON object in which no key may be written twice."""
    if not isinstance(text, str):
        raise ValueError("missing" if _is_missing(text) else f"a Python {type(text).__name__} instead of text")
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
    except ValueError:  # Python does not read numbers of more than 4,300 digits
        raise ValueError("a number with too many digits") from None
    if end < len(text):
        raise ValueError(f"not JSON: more text follows at character {end + 1}")
    if type(value) is not dict:
        raise ValueError(f"{shown(value)} instead of an object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dict of these keys and values; a KeyError names a key that is there twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise KeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return made


_decode = json.JSONDecoder(object_pairs_hook=_unique).raw_decode


def shown(value: Any) -> str:
    """Write a JSON value as messages show it.

    >>> shown("five"), shown(None), shown([1])
    ("the text 'five'", 'null', 'a list')
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return f"the text {_quoted(value)}"
    if isinstance(value, int | float):
        return _short(value)
    return "a list" if isinstance(value, list) else "an object"


# ---- Shared: tables and messages -------------------------------------------------------------------------
# Each hosted file is uploaded alone, so it repeats what several of them need. A section whose heading begins
# with “Shared” is the same in every hosted file that has it.

LONGEST_MESSAGE = 280  # characters; Kaggle cuts the rest
CHARACTERS_SHOWN = 40  # of a value that a message quotes


class _Table(NamedTuple):
    """A data frame, and how messages tell what is wrong with it."""

    frame: pd.DataFrame  # as the caller gave it; it is never changed
    name: str  # "the solution" or "the submission"
    row_id: str  # the column whose values name the rows
    error: type[Exception]  # what a fault raises

    def check_columns(self, *required: str) -> None:
        """Require that the row id and these columns exist, each once, and that every row has an id."""
        if not isinstance(self.frame, pd.DataFrame):
            raise HostVisibleError(f"{self.name}: expected a DataFrame, found {type(self.frame).__name__}")
        required = tuple(dict.fromkeys((self.row_id, *required)))
        names = list(self.frame.columns)
        lacking = [_short(name) for name in required if name not in names]
        if lacking:
            # Only quotation marks show a space around a name.
            present = [(_short if str(name) == str(name).strip() else _quoted)(name) for name in names]
            more = _counted(len(lacking), "more column")
            head = f"{self.name}: expected {more}: {_listed(lacking, len(lacking), 120)}. It has "
            raise self.error(head + (_listed(present, len(present), LONGEST_MESSAGE - len(head)) or "none"))
        for name in required:
            if names.count(name) > 1:
                raise self.error(f"{self.name}: expected one column {_short(name)}, found {names.count(name)}")
        ids = self.frame[self.row_id]
        try:
            missing = ids.isna()
        except ArithmeticError:  # of Decimal("sNaN")
            missing = ids.map(_is_missing)
        self.reject(self.row_id, missing, lambda row: "missing", "an id in every row")

    def reject(self, column: str, wrong: npt.ArrayLike, content: Callable[[int], str], expected: str) -> None:
        """Raise `error` if any row is wrong, and tell how many are and what the first one has."""
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        row = int(rows[0])
        row_id = self.frame[self.row_id].iloc[row]
        place = f"row number {row + 1}" if _is_missing(row_id) else f"{_short(self.row_id)} {_short(row_id)}"
        head = f"{_short(column)}: expected {expected}. Wrong in {_counted(len(rows), 'row')} of {self.name}: "
        raise self.error(head + _listed([f"{place} ({content(row)})"], len(rows), LONGEST_MESSAGE - len(head)))


def _is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, NA, NaT or Decimal("sNaN"), which cannot even be compared."""
    try:
        return pd.api.types.is_scalar(value) and bool(pd.isna(value))
    except ArithmeticError:
        return True


def _as_text(value: object) -> str:
    """A cell as text, which is the same whether a CSV reader took it for text, an integer or a float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


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
