"""The SciFact leaderboard's evaluation of scientific claim verification, as one file to upload to Kaggle.

For every claim a system names the abstracts that decide it, gives each a label, SUPPORT or CONTRADICT, and
lists the sentences that are the evidence.  Four kinds of credit are counted over all claims, two per
abstract and two per sentence:

    abstract_label_only      the abstract is in the claim's gold, and the label is right
    abstract_rationalized    … and a whole gold evidence set is among the first three sentences listed
    sentence_selection       the sentence is in a gold evidence set, all of which is listed
    sentence_label           … and the label of its abstract is right

Each gives P = correct / retrieved, R = correct / relevant and F1 = 2·P·R / (P + R), with 0 / 0 = 0: twelve
measures, of which ``score`` returns one and ``evaluate`` all, with what became of every claim, abstract and
sentence.  ``prepare`` digests a solution once for many submissions; ``read_solution`` and
``read_submission`` read the official JSON-lines files.  The file follows "SciFact leaderboard submission and
evaluation guidelines" (below: the document) and reads in the order in which data passes through it:

    official files    read_solution, read_submission
    input             parse_gold, parse_prediction, make_evidence
    judgement         judge
    counts            count_claims
    measures          precision_recall_f1

Where the document is silent, or the evaluator behind the leaderboard does otherwise, this file decides (each
decision has a test; the twelve measures equal the leaderboard's to the last bit):

* Where every gold set of an abstract has more than three sentences, the first k count, k being the size of
  the smallest: otherwise no answer could be right.
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

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "CREDITS",
    "LABELS",
    "LAST_SENTENCE",
    "MEASURES",
    "OUTCOMES",
    "Evaluation",
    "Evidence",
    "HostVisibleError",
    "Judgement",
    "ParticipantVisibleError",
    "PreparedSolution",
    "count_claims",
    "evaluate",
    "judge",
    "make_evidence",
    "parse_gold",
    "parse_prediction",
    "precision_recall_f1",
    "prepare",
    "read_solution",
    "read_submission",
    "score",
]

__version__ = "1.0.0"

# ---------------------------------------------------------------------------------------------
# Constants
# ---------------------------------------------------------------------------------------------

LABELS = ("SUPPORT", "CONTRADICT")
CREDITS = ("abstract_label_only", "abstract_rationalized", "sentence_selection", "sentence_label")
MEASURES = tuple(f"{credit}_{number}" for credit in CREDITS for number in ("precision", "recall", "f1"))
FIRST_SENTENCES = 3
LAST_SENTENCE = 999_999_999

# What may become of an abstract or a sentence; a claim with several faults has the first of them.
OUTCOMES = (
    "correct",
    "wrong label",
    "evidence incomplete",
    "beyond the first three",
    "not in gold",
    "repeated",
    "missed",
)
CORRECT, WRONG_LABEL, INCOMPLETE, BEYOND, NOT_IN_GOLD, REPEATED, MISSED = range(len(OUTCOMES))

# Columns that hold text, whatever it looks like: claim "007" is not claim "7".
TEXT_COLUMNS = ("claim_id", "evidence")

ROWS_SHOWN = 5
CHARACTERS_SHOWN = 40
COLUMNS_SHOWN = 20

EXPECTED_GOLD = (
    """JSON such as '{"11": [{"sentences": [0, 1], "label": "SUPPORT"}]}', or '{}' for no evidence: """
    "for each document one label, SUPPORT or CONTRADICT, and sets of sentences, none of them empty, "
    f"of whole numbers from 0 to {LAST_SENTENCE}, each of them once"
)
EXPECTED_PREDICTION = (
    """JSON such as '{"11": {"sentences": [1, 11], "label": "SUPPORT"}}', or '{}' for no evidence: """
    "for each document a label, SUPPORT or CONTRADICT, and a list of sentences, whole numbers "
    f"from 0 to {LAST_SENTENCE}"
)
EXPECTED_LINE = "one JSON object per line, with an id (a whole number or text) and evidence (an object)"

# What other data sets call the labels.
_HINTS = {
    **dict.fromkeys(("SUPPORT", "SUPPORTS", "SUPPORTED"), "write SUPPORT"),
    **dict.fromkeys(
        ("CONTRADICT", "CONTRADICTS", "CONTRADICTED", "REFUTE", "REFUTES", "REFUTED"), "write CONTRADICT"
    ),
    **dict.fromkeys(
        ("NEI", "NOINFO", "NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO"), "leave the document out"
    ),
}

_decode_json = json.JSONDecoder().raw_decode
_JSON_SPACE = " \t\n\r"
_JSON_STRING = r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"'

# One integer tells a sentence of an abstract: abstract * _SPAN + sentence.
_SPAN = LAST_SENTENCE + 1
_NOWHERE = np.iinfo(np.int64).max

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Document id to label and lists of sentences: a gold abstract's evidence sets, a predicted one's single list.
Parsed = dict[str, tuple[str, list[list[int]]]]


# ---------------------------------------------------------------------------------------------
# Errors
# ---------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong.  Kaggle shows the text of this exception, by its name, to the participant."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong.  Kaggle shows this to the host only."""


# ---------------------------------------------------------------------------------------------
# Public API
# ---------------------------------------------------------------------------------------------


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

    What is wrong, where, and what was expected:

    >>> wrong = submission.replace("CONTRADICT", "REFUTES", regex=True)
    >>> try:
    ...     score(solution, wrong, "claim_id")
    ... except ParticipantVisibleError as error:
    ...     print(error)
    evidence is wrong in 1 row of the submission: claim_id 52 (document '16': the label is 'REFUTES'; write \
CONTRADICT). Expected JSON such as '{"11": {"sentences": [1, 11], "label": "SUPPORT"}}', or '{}' for no \
evidence: for each document a label, SUPPORT or CONTRADICT, and a list of sentences, whole numbers from 0 to \
999999999.
    """
    return evaluate(solution, submission, row_id_column_name, measure).score


def evaluate(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "sentence_label_f1",
) -> "Evaluation":
    """Score a submission and keep what led to the score.  Parameters and errors are those of `score`.

    Returns
    -------
    Evaluation
    """
    return prepare(solution, row_id_column_name, measure).evaluate(submission)


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "sentence_label_f1",
) -> "PreparedSolution":
    """Check and digest a solution once, to score many submissions.  Parameters are those of `score`.

    Raises
    ------
    HostVisibleError
        The solution is malformed or there is no such measure.
    """
    if measure not in MEASURES:
        raise HostVisibleError(f"there is no measure {measure!r}; expected one of {', '.join(MEASURES)}.")
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns((row_id_column_name, "evidence"))
    if solution.empty:
        raise HostVisibleError("the solution has no rows.")
    ids = table.claim_ids()
    gold = table.evidence(parse_gold, EXPECTED_GOLD)
    rows = np.array(sorted(range(len(ids)), key=ids.__getitem__))
    return PreparedSolution(
        claim_ids=[ids[row] for row in rows.tolist()],
        rows=rows,
        gold=gold._replace(claim=_inverse(rows)[gold.claim]),
        row_id_column_name=row_id_column_name,
        measure=measure,
    )


class Evidence(NamedTuple):
    """The abstracts that one side names for many claims, and their sentences, as columns.

    Attributes
    ----------
    claim : (abstracts,) int, the number of the claim
    document : (abstracts,) object, the id of the abstract
    label : (abstracts,) int, index into `LABELS`
    abstract : (sentences,) int, the number of the sentence's abstract, ascending
    evidence_set : (sentences,) int, the number of its evidence set among those of all abstracts, ascending;
        the list of a predicted abstract counts as one set
    place : (sentences,) int, its place in that list, from 1
    sentence : (sentences,) int, its index in the abstract
    """

    claim: Ints
    document: npt.NDArray[np.object_]
    label: Ints
    abstract: Ints
    evidence_set: Ints
    place: Ints
    sentence: Ints

    def of_claims(self, kept: Bools) -> "Evidence":
        """The evidence of some of the claims, (claims,) bool, whose numbers close up."""
        abstracts = kept[self.claim]
        sentences = abstracts[self.abstract]
        return Evidence(
            (np.cumsum(kept) - 1)[self.claim[abstracts]],
            self.document[abstracts],
            self.label[abstracts],
            (np.cumsum(abstracts) - 1)[self.abstract[sentences]],
            np.unique(self.evidence_set[sentences], return_inverse=True)[1],
            self.place[sentences],
            self.sentence[sentences],
        )


@dataclass(frozen=True, eq=False)
class PreparedSolution:
    """A solution, checked and digested by `prepare`, with the measure to score by.

    Attributes
    ----------
    claim_ids : list of str, (claims,), sorted
    rows : (claims,) int, the claim's row in the solution's frame, from 0
    gold : Evidence, whose ``claim`` is an index into `claim_ids`
    row_id_column_name, measure : str
    """

    claim_ids: list[str]
    rows: Ints
    gold: Evidence
    row_id_column_name: str
    measure: str

    def part(self, rows: Bools) -> "PreparedSolution":
        """What `prepare` makes of some of the solution's rows, (n,) bool, without reading them again."""
        rows = np.asarray(rows)
        kept = rows[self.rows]
        return replace(
            self,
            claim_ids=[self.claim_ids[claim] for claim in np.flatnonzero(kept).tolist()],
            rows=(np.cumsum(rows) - 1)[self.rows[kept]],
            gold=self.gold.of_claims(kept),
        )

    def evaluate(self, submission: pd.DataFrame) -> "Evaluation":
        """Score one submission.

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed, or its claims are not those of the solution.
        """
        table = _Table(submission, "the submission", self.row_id_column_name, ParticipantVisibleError)
        table.check_columns((self.row_id_column_name, "evidence"))
        row = {claim_id: row for row, claim_id in enumerate(table.claim_ids())}
        predicted = table.evidence(parse_prediction, EXPECTED_PREDICTION)
        self._check_claims(row)
        rows = np.array([row[claim_id] for claim_id in self.claim_ids], dtype=np.int64)
        predicted = predicted._replace(claim=_inverse(rows)[predicted.claim])
        judgement = judge(self.gold, predicted)
        counts = count_claims(self.gold, predicted, judgement, len(self.claim_ids))
        return Evaluation(self, predicted, judgement, counts)

    def _check_claims(self, submitted: Mapping[str, int]) -> None:
        known = set(self.claim_ids)
        unknown = [claim_id for claim_id in submitted if claim_id not in known]
        lacking = len(known) - (len(submitted) - len(unknown))
        faults = []
        if unknown:
            shown = [_short(claim_id) for claim_id in unknown[:ROWS_SHOWN]]
            faults.append(
                f"{_counted(len(unknown), 'claim')} not in the test set "
                f"({self.row_id_column_name} {_listed(shown, len(unknown))})"
            )
        if lacking:
            faults.append(f"{_counted(lacking, 'claim')} of the test set missing")
        if faults:
            raise ParticipantVisibleError(
                f"the claims of the submission are not those of the test set: {', '.join(faults)}. "
                "Expected every claim of the test set once; the evidence of a claim may be '{}'."
            )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` returns: the score and everything behind it.

    Attributes
    ----------
    score : float
        The measure asked for.
    measures : dict of str to float
        The score, then the twelve `MEASURES`.
    counts : DataFrame
        See the property.
    claim_counts : (claims, credits, 3) int
        Relevant, retrieved and correct abstracts or sentences of each claim, by `CREDITS`: the sufficient
        statistics of the measures.
    signature : str
        The version and every parameter, to print beside the score.
    claims, segments : DataFrame
        What became of every abstract; and of every claim, abstract and sentence.  See the properties.
    tables : dict of str to DataFrame
        Small tables for people, by title.
    notices : list of str
        What a reader of the score should know.
    items : list of str
        The claims that `resample` weighs.
    prepared, predicted, judgement : PreparedSolution, Evidence, Judgement
        What was scored against what, and how it was judged.
    """

    prepared: PreparedSolution
    predicted: Evidence
    judgement: "Judgement"
    claim_counts: Ints

    @property
    def score(self) -> float:
        return self.measures["score"]

    @property
    def signature(self) -> str:
        """The metric's name and version and every parameter, as ``name:value`` joined by ``|``."""
        return f"metric:scifact|version:{__version__}|measure:{self.prepared.measure}"

    @property
    def items(self) -> list[str]:
        """Ids of the claims, in the order of `claim_counts`."""
        return self.prepared.claim_ids

    @functools.cached_property
    def measures(self) -> dict[str, float]:
        """The score, and the twelve measures."""
        values = self.resample(np.ones((1, len(self.items))))[0]
        return dict(zip(("score", *MEASURES), values.tolist()))

    def resample(self, weights: npt.ArrayLike) -> Floats:
        """The `measures` if every claim occurred as often as its weight says.

        Parameters
        ----------
        weights : (resamples, claims) int or float, at least 0
            In the order of `items`.

        Returns
        -------
        (resamples, measures) float
            None is undefined: 0 / 0 is 0.
        """
        # Whole numbers below 2**53 add up exactly in floats, in any order.
        return self._measures(np.asarray(weights, dtype=np.float64) @ self._flat_counts())

    def mix(self, other: "Evaluation", swapped: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The `measures` of this submission and another one, had they swapped their answers to some claims.

        Parameters
        ----------
        other : Evaluation
            Of the same claims.
        swapped : (mixtures, claims) int or bool
            1 where they swap, 0 where not; in the order of `items`.

        Returns
        -------
        mine, theirs : (mixtures, measures) float
        """
        mine, theirs = self._flat_counts(), other._flat_counts()
        moved = np.asarray(swapped, dtype=np.float64) @ (theirs - mine)
        return self._measures(mine.sum(axis=0) + moved), self._measures(theirs.sum(axis=0) - moved)

    def _flat_counts(self) -> Floats:
        return self.claim_counts.reshape(len(self.items), -1).astype(np.float64)

    def _measures(self, totals: Floats) -> Floats:
        """The `measures` of counts that are summed over claims, (n, credits * 3) to (n, measures)."""
        values = precision_recall_f1(totals.reshape(-1, len(CREDITS), 3)).reshape(-1, len(MEASURES))
        asked_for = MEASURES.index(self.prepared.measure)
        return np.concatenate([values[:, asked_for, np.newaxis], values], axis=1)

    @property
    def counts(self) -> pd.DataFrame:
        """Relevant, retrieved and correct (columns) of each of `CREDITS` (index), over all claims."""
        return pd.DataFrame(
            self.claim_counts.sum(axis=0), index=list(CREDITS), columns=["relevant", "retrieved", "correct"]
        )

    @functools.cached_property
    def claims(self) -> pd.DataFrame:
        """One row per claim and abstract that either side names, or per claim of which neither names any.

        Columns
        -------
        claim_id, abstract : the ids; abstract is None where neither side names any
        gold_label, predicted_label : None where the side does not name the abstract
        outcome : see `segments`
        relevant, retrieved : number of gold and of predicted sentences
        label_only, rationalized : the abstract earns it, 1 or 0
        selection, sentence_label : number of sentences that earn it
        """
        return _explain_claims(self)

    @functools.cached_property
    def segments(self) -> pd.DataFrame:
        """One row per claim, and per predicted and gold abstract and sentence: what became of it.

        Columns
        -------
        level : "claim", "abstract" or "sentence"
        side : "prediction" or "truth"; of a claim "prediction", the answer to it
        claim_id, abstract, sentence : the ids and the index, None where the level has none
        label : of an abstract and of its sentences
        place : of a predicted sentence, its place in the list, from 1
        evidence_set : of a gold sentence and of the prediction of one, the number of its set, from 1
        outcome : one of `OUTCOMES`
            of an abstract
                "correct": it earns abstract_rationalized;
                "wrong label";
                "evidence incomplete": the label is right, but no gold set is listed as a whole;
                "beyond the first three": one is, but not among the first k sentences;
                "not in gold"; or, of the gold, "missed"
            of a sentence, all of which count, wherever they stand in the list
                "correct": it earns sentence_label;
                "wrong label": it earns sentence_selection only;
                "evidence incomplete": its gold set is not listed as a whole;
                "not in gold": no gold set of the claim holds it;
                "repeated": it stands in the list before; or, of the gold, "missed": it is not listed
            of a claim
                the first of these, but "correct", that is the outcome of one of its abstracts; "correct"
                where there is none: each gold abstract is found and nothing else is predicted
        """
        return _explain_segments(self)

    @property
    def roles(self) -> dict[str, str]:
        """Which column of `segments` tells what, for tools that know no metric."""
        return {"item": "claim_id", "label": "label", "outcome": "outcome"}

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The counts with the twelve measures; how many claims, abstracts and sentences had which outcome."""
        values = np.array([self.measures[name] for name in MEASURES]).reshape(-1, 3)
        measures = self.counts.assign(precision=values[:, 0], recall=values[:, 1], f1=values[:, 2])
        judgement = self.judgement
        outcomes = {
            "claims": _outcome_of_claims(self),
            "predicted_abstracts": judgement.predicted_abstract,
            "gold_abstracts": judgement.gold_abstract,
            "predicted_sentences": judgement.predicted_sentence,
            "gold_sentences": judgement.gold_sentence,
        }
        numbers = {name: np.bincount(codes, minlength=len(OUTCOMES)) for name, codes in outcomes.items()}
        return {
            "Measures": measures.rename_axis("credit").reset_index(),
            "Outcomes": pd.DataFrame({"outcome": OUTCOMES, **numbers}),
        }

    @property
    def notices(self) -> list[str]:
        """Nothing predicted; credit lost by the order of the sentences; sentences repeated."""
        notices = []
        if not len(self.predicted.claim):
            notices.append("the submission predicts no evidence: its precision is 0 / 0, counted as 0")
        beyond = int((self.judgement.predicted_abstract == BEYOND).sum())
        if beyond:
            notices.append(
                f"{_counted(beyond, 'abstract')} with the right label and a whole evidence set, but not among "
                f"the first {FIRST_SENTENCES} sentences listed: the surest sentences belong first"
            )
        repeated = int((self.judgement.predicted_sentence == REPEATED).sum())
        if repeated:
            notices.append(f"{_counted(repeated, 'sentence')} listed before in the same list, counted as wrong")
        return notices


# ---------------------------------------------------------------------------------------------
# Official files
# ---------------------------------------------------------------------------------------------


def read_solution(path: str | Path) -> pd.DataFrame:
    """Read claims with gold evidence from an official JSON-lines file.

    Each line is an object with ``id``, ``evidence`` and anything else (``claim``, ``cited_doc_ids``).

    Returns
    -------
    DataFrame
        ``claim_id`` and ``evidence``, both text, as `score` takes them; the evidence is checked there.

    Raises
    ------
    HostVisibleError
        The file cannot be read, or a line is wrong.
    """
    return _read_lines(Path(path), HostVisibleError)


def read_submission(path: str | Path) -> pd.DataFrame:
    """Read predictions from a leaderboard submission: as `read_solution`, with `ParticipantVisibleError`."""
    return _read_lines(Path(path), ParticipantVisibleError)


_MEMBER = re.compile(
    rf"[{_JSON_SPACE}]*([{{,])[{_JSON_SPACE}]*({_JSON_STRING})[{_JSON_SPACE}]*:[{_JSON_SPACE}]*"
)


def _official_line() -> re.Pattern[str]:
    """A line as the official files have it; its groups are the id and the evidence.

    Every part is JSON on its own account, so that a line that matches needs no decoding.
    """

    def many(item: str) -> str:
        return f"(?:{item}(?:, {item})*)?"

    number = "(?:0|[1-9][0-9]*)"
    numbers = rf"\[{many(number)}\]"
    sentences, label = f'"sentences": {numbers}', f'"label": {_JSON_STRING}'
    answer = rf"\{{(?:{sentences}, {label}|{label}, {sentences})\}}"
    document = rf"{_JSON_STRING}: (?:{answer}|\[{many(answer)}\])"
    return re.compile(
        rf'\{{"id": ({number}), (?:"claim": {_JSON_STRING}, )?"evidence": (\{{{many(document)}\}})'
        rf'(?:, "cited_doc_ids": {numbers})?\}}'
    )


_OFFICIAL_LINE = _official_line()


def _read_lines(path: Path, error: type[Exception]) -> pd.DataFrame:
    try:
        # Only "\n" ends a line of JSON; str.splitlines knows others, which texts may contain.
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except OSError as problem:
        raise error(f"{path.name} cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError as problem:
        raise error(f"{path.name} is not UTF-8 text: {problem.reason} at byte {problem.start + 1}.") from None
    ids, cells, faults = [], [], []
    for number, line in enumerate(lines, start=1):
        line = line.rstrip(_JSON_SPACE)
        if not line:
            continue
        try:
            claim_id, evidence = _id_and_evidence(line)
        except ValueError as fault:
            faults.append(f"line {number} ({fault})")
        else:
            ids.append(claim_id)
            cells.append(evidence)
    if faults:
        raise error(
            f"{path.name} is wrong in {_counted(len(faults), 'line')}: "
            f"{_listed(faults[:ROWS_SHOWN], len(faults))}. Expected {EXPECTED_LINE}."
        )
    return pd.DataFrame({"claim_id": ids, "evidence": cells}, dtype=object)


def _id_and_evidence(line: str) -> tuple[str, str]:
    """The id, and the JSON of the evidence as it stands in the line.

    Raises
    ------
    ValueError
        With what is wrong.
    """
    if official := _OFFICIAL_LINE.fullmatch(line):
        return official[1], official[2]
    members: dict[str, tuple[Any, int, int]] = {}
    end = 0
    while (member := _MEMBER.match(line, end)) and member[1] == ("," if members else "{"):
        key = member[2][1:-1] if "\\" not in member[2] else json.loads(member[2])
        if key in members:
            raise ValueError(_twice(key))
        value, end = _decode(line, member.end())
        members[key] = value, member.end(), end
    if line[end:].strip(_JSON_SPACE) != "}":
        _json_object(line)  # says what is wrong; only "{}" is right
    lacking = [key for key in ("id", "evidence") if key not in members]
    if lacking:
        raise ValueError(f"no {' and no '.join(lacking)}")
    claim_id = members["id"][0]
    if not (type(claim_id) in (int, str) or (type(claim_id) is float and claim_id.is_integer())):
        raise ValueError(f"id is {_shown(claim_id)}")
    _check_id(_as_text(claim_id))
    evidence, start, end = members["evidence"]
    if type(evidence) is not dict:
        raise ValueError(f"evidence is {_shown(evidence)}")
    return _as_text(claim_id), line[start:end]


# ---------------------------------------------------------------------------------------------
# Input
# ---------------------------------------------------------------------------------------------


def parse_gold(cell: object) -> Parsed:
    """The gold evidence of one claim, from its JSON.

    Returns
    -------
    dict of document id to label and evidence sets

    Raises
    ------
    ValueError
        With what is wrong.

    Examples
    --------
    >>> parse_gold('{"11": [{"sentences": [0, 1], "label": "SUPPORT"}]}')
    {'11': ('SUPPORT', [[0, 1]])}
    >>> parse_gold('{"15": []}')
    Traceback (most recent call last):
    ...
    ValueError: document '15': no evidence set
    """
    evidence = _json_object(cell)
    gold: Parsed = {}
    keys = len(evidence)
    for document, entries in evidence.items():
        try:
            _check_id(document)
            if type(entries) is not list:
                raise ValueError(f"{_shown(entries)} where a list of evidence sets is due")
            gold[document] = _one_label([_label_and_sentences(entry) for entry in entries])
        except ValueError as fault:
            raise ValueError(f"document {_quoted(document)}: {fault}") from None
        keys += sum(map(len, entries))
    _check_keys(cell, keys)
    return gold


def _one_label(sets: list[tuple[str, list[int]]]) -> tuple[str, list[list[int]]]:
    """The label and the evidence sets of a gold abstract."""
    if not sets:
        raise ValueError("no evidence set")
    label = sets[0][0]
    sentences: list[int] = []
    for other, of_set in sets:
        if other != label:
            raise ValueError(f"the labels {label} and {other} in one document")
        if not of_set:
            raise ValueError("an evidence set without sentences")
        sentences += of_set
    if len(set(sentences)) < len(sentences):
        twice = next(sentence for sentence in sentences if sentences.count(sentence) > 1)
        raise ValueError(f"sentence {twice} named twice in its evidence sets")
    return label, [of_set for _, of_set in sets]


def parse_prediction(cell: object) -> Parsed:
    """The evidence predicted for one claim, from its JSON.

    Returns
    -------
    dict of document id to label and lists of sentences, of which there is one

    Raises
    ------
    ValueError
        With what is wrong.

    Examples
    --------
    >>> parse_prediction('{"11": {"sentences": [1, 11, 13], "label": "SUPPORT"}}')
    {'11': ('SUPPORT', [[1, 11, 13]])}
    >>> parse_prediction('{"11": {"sentences": ["1"], "label": "SUPPORT"}}')
    Traceback (most recent call last):
    ...
    ValueError: document '11': the text '1' among the sentences
    """
    evidence = _json_object(cell)
    predicted: Parsed = {}
    keys = len(evidence)
    for document, answer in evidence.items():
        try:
            _check_id(document)
            label, sentences = _label_and_sentences(answer)
        except ValueError as fault:
            raise ValueError(f"document {_quoted(document)}: {fault}") from None
        predicted[document] = label, [sentences]
        keys += len(answer)
    _check_keys(cell, keys)
    return predicted


def _label_and_sentences(value: Any) -> tuple[str, list[int]]:
    """What stands in an object with a label and sentences."""
    if type(value) is not dict:
        raise ValueError(f"{_shown(value)} where an object with label and sentences is due")
    lacking = [key for key in ("label", "sentences") if key not in value]
    if lacking:
        raise ValueError(f"no {' and no '.join(lacking)}")
    label, sentences = value["label"], value["sentences"]
    if label not in LABELS:
        hint = _HINTS.get(label.strip().upper()) if isinstance(label, str) else None
        shown = _quoted(label) if isinstance(label, str) else _shown(label)
        raise ValueError(f"the label is {shown}" + (f"; {hint}" if hint else ""))
    if type(sentences) is not list:
        raise ValueError(f"{_shown(sentences)} where a list of sentences is due")
    if sentences and not (
        set(map(type, sentences)) == {int} and min(sentences) >= 0 and max(sentences) <= LAST_SENTENCE
    ):
        wrong = [sentence for sentence in sentences if not _is_index(sentence)]
        if wrong:
            raise ValueError(f"{_shown(wrong[0])} among the sentences")
        sentences = [int(sentence) for sentence in sentences]
    return label, sentences


def _is_index(value: Any) -> bool:
    # bool is a subclass of int: only the exact type tells true from 1.
    whole = type(value) is int or (type(value) is float and value.is_integer())
    return whole and 0 <= value <= LAST_SENTENCE


def _json_object(cell: object) -> dict[str, Any]:
    """The JSON object that a cell holds."""
    if cell is None:
        raise ValueError("missing")
    if not isinstance(cell, str):
        raise ValueError(f"a Python {type(cell).__name__} where JSON text is due")
    text = cell.rstrip(_JSON_SPACE)
    if not text:
        raise ValueError("empty")
    value, end = _decode(text, len(text) - len(text.lstrip(_JSON_SPACE)))
    if end < len(text):
        raise ValueError(f"not JSON: more text after it at character {end + 1}")
    if not isinstance(value, dict):
        raise ValueError(f"{_shown(value)} where an object is due")
    return value


def _decode(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that starts at a place in the text, and where it ends."""
    try:
        return _decode_json(text, start)
    except json.JSONDecodeError as problem:
        what = problem.msg.removesuffix(" at")
        raise ValueError(f"not JSON: {what} at character {problem.pos + 1}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits: it would take too long
        raise ValueError("a number of too many digits") from None


def _check_keys(cell: Any, keys: int) -> None:
    """No object of a cell names a key twice, of which Python would silently keep the last.

    As many colons as `keys` were kept prove it; only where texts hold colons or there is more than the
    format asks for, the cell is read again.
    """
    if cell.count(":") == keys:
        return

    def check(pairs: list[tuple[str, Any]]) -> None:
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(_twice(key))
            seen.add(key)

    try:
        json.loads(cell, object_pairs_hook=check)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _check_id(text: str) -> None:
    """JSON can spell half of a surrogate pair, which no file and no table of ours could hold."""
    if not text.isascii() and re.search("[\ud800-\udfff]", text):
        raise ValueError("an id with half a character")


def _twice(key: str) -> str:
    return f"the key {_quoted(key)} is written twice"


def _shown(value: Any) -> str:
    """A JSON value as messages show it; lists and objects, which may be huge, by name."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return f"the text {_quoted(value)}"
    if isinstance(value, int | float):
        return _short(value)
    return "a list" if isinstance(value, list) else "an object"


def _as_text(value: object) -> str:
    """The text of an id, the same whether a CSV reader took it for text, int or float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _short(value: object) -> str:
    """A value as messages show it: on one line and not long."""
    text = _as_text(value)
    text = text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"
    return repr(text)[1:-1]


def _quoted(value: object) -> str:
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(items: list[str], number: int) -> str:
    """Some items, and how many more of the `number` there are."""
    return ", ".join(items) + (f" and {number - len(items):,} more" if number > len(items) else "")


class _Table:
    """A frame of claims, read column by column with checks; every fault has one form of message."""

    def __init__(self, frame: pd.DataFrame, name: str, row_id_column_name: str, error: type[Exception]) -> None:
        self.frame = frame
        self.name = name
        self.row_id_column_name = row_id_column_name
        self.error = error

    def check_columns(self, required: tuple[str, ...]) -> None:
        """Every required column is there once."""
        found = [str(name) for name in self.frame.columns]
        lacking = [name for name in required if name not in found]
        if lacking:
            raise self.error(
                f"{self.name} lacks columns: {', '.join(lacking)}. "
                f"It has: {_listed([_short(name) for name in found[:COLUMNS_SHOWN]], len(found))}."
            )
        repeated = [name for name in required if found.count(name) > 1]
        if repeated:
            raise self.error(f"{self.name} has more than one column named {', '.join(repeated)}.")

    def claim_ids(self) -> list[str]:
        """The id of each row's claim, (n,); none is missing, blank or there twice."""
        column = self.row_id_column_name
        ids = [
            cell if type(cell) is str else "" if cell is None else _as_text(cell)
            for cell in _cells(self.frame[column])
        ]
        self.check(
            column,
            [(row, "missing") for row, claim_id in enumerate(ids) if not claim_id.strip()],
            "an id in every row",
        )
        if len(set(ids)) < len(ids):
            first = dict(zip(reversed(ids), reversed(range(len(ids)))))
            self.check(
                column,
                [(row, "there before") for row, claim_id in enumerate(ids) if row != first[claim_id]],
                "every claim once",
            )
        return ids

    def evidence(self, parse: Callable[[object], Parsed], expected: str) -> Evidence:
        """What `parse` makes of the evidence of each row; its ``claim`` is the row."""
        faults: list[tuple[int, str]] = []

        def parsed() -> Iterable[Parsed]:
            for row, cell in enumerate(_cells(self.frame["evidence"])):
                try:
                    yield parse(cell)
                except ValueError as fault:
                    faults.append((row, str(fault)))

        # Row by row into columns: hundreds of thousands of live lists would keep the garbage collector busy.
        evidence = make_evidence(parsed())
        self.check("evidence", faults, expected)
        return evidence

    def check(self, column: str, faults: list[tuple[int, str]], expected: str) -> None:
        """Raise the table's error if rows are wrong, given with what is."""
        if not faults:
            return
        ids = _cells(self.frame[self.row_id_column_name])
        shown = [
            (f"row number {row + 1}" if ids[row] is None else f"{self.row_id_column_name} {_short(ids[row])}")
            + f" ({reason})"
            for row, reason in faults[:ROWS_SHOWN]
        ]
        raise self.error(
            f"{column} is wrong in {_counted(len(faults), 'row')} of {self.name}: "
            f"{_listed(shown, len(faults))}. Expected {expected}."
        )


def _cells(column: pd.Series) -> list[Any]:
    """A column's values, None where missing."""
    values = column.to_numpy(dtype=object)
    if pd.api.types.infer_dtype(values, skipna=False) == "string":
        return values.tolist()
    return [None if absent else value for value, absent in zip(values, pd.isna(values))]


def make_evidence(claims: Iterable[Parsed]) -> Evidence:
    """The evidence of many claims, as `parse_gold` or `parse_prediction` returns it, as columns.

    Examples
    --------
    >>> make_evidence([{}, {"11": ("SUPPORT", [[0, 1], [11]])}]).sentence.tolist()
    [0, 1, 11]
    """
    abstracts_of_claim: list[int] = []
    documents: list[str] = []
    labels: list[int] = []
    sets_of_abstract: list[int] = []
    sentences_of_set: list[int] = []
    sentences: list[int] = []
    for abstracts in claims:
        abstracts_of_claim.append(len(abstracts))
        for document, (label, sets) in abstracts.items():
            documents.append(document)
            labels.append(LABELS.index(label))
            sets_of_abstract.append(len(sets))
            for of_set in sets:
                sentences_of_set.append(len(of_set))
                sentences += of_set
    abstract_of_set = _repeated(sets_of_abstract)
    evidence_set = _repeated(sentences_of_set)
    first = np.cumsum([0, *sentences_of_set])
    return Evidence(
        claim=_repeated(abstracts_of_claim),
        document=np.array(documents, dtype=object),
        label=np.array(labels, dtype=np.int64),
        abstract=abstract_of_set[evidence_set],
        evidence_set=evidence_set,
        place=np.arange(1, len(sentences) + 1) - first[evidence_set],
        sentence=np.array(sentences, dtype=np.int64),
    )


def _repeated(numbers: list[int]) -> Ints:
    """0 as often as the first number says, 1 as often as the second, …"""
    return np.repeat(np.arange(len(numbers)), np.array(numbers, dtype=np.int64))


def _inverse(permutation: Ints) -> Ints:
    inverse = np.empty_like(permutation)
    inverse[permutation] = np.arange(len(permutation))
    return inverse


# ---------------------------------------------------------------------------------------------
# Judgement
# ---------------------------------------------------------------------------------------------


class Judgement(NamedTuple):
    """What became of the abstracts and sentences of both sides, and which are the same.

    Attributes
    ----------
    gold_abstract, predicted_abstract : (gold abstracts,), (predicted abstracts,) int, index into `OUTCOMES`
    gold_sentence, predicted_sentence : (gold sentences,), (predicted sentences,) int, index into `OUTCOMES`
    gold_of, predicted_of : (predicted abstracts,), (gold abstracts,) int
        The number of the same abstract on the other side; -1 if not there.
    gold_sentence_of : (predicted sentences,) int
        The number of the same sentence in the gold; -1 if not there.
    selected : (gold abstracts,) int
        The number of sentences in its complete evidence sets.
    """

    gold_abstract: Ints
    predicted_abstract: Ints
    gold_sentence: Ints
    predicted_sentence: Ints
    gold_of: Ints
    predicted_of: Ints
    gold_sentence_of: Ints
    selected: Ints


def judge(gold: Evidence, predicted: Evidence) -> Judgement:
    """Compare the predicted abstracts and sentences with those of the gold.

    A gold evidence set is complete if all its sentences are listed; it is together at the last of the places
    where they are listed first.  An abstract is rationalized if one of its sets is together by place k.

    Examples
    --------
    The set {0, 1} is together at place 4:

    >>> gold = make_evidence([parse_gold('{"11": [{"sentences": [0, 1], "label": "SUPPORT"}]}')])
    >>> predicted = make_evidence([parse_prediction('{"11": {"sentences": [1, 7, 1, 0], "label": "SUPPORT"}}')])
    >>> judgement = judge(gold, predicted)
    >>> OUTCOMES[judgement.predicted_abstract[0]]
    'beyond the first three'
    >>> [OUTCOMES[outcome] for outcome in judgement.predicted_sentence]
    ['correct', 'not in gold', 'repeated', 'correct']
    """
    number = {pair: n for n, pair in enumerate(zip(gold.claim.tolist(), gold.document.tolist()))}
    pairs = zip(predicted.claim.tolist(), predicted.document.tolist())
    gold_of = np.array([number.get(pair, -1) for pair in pairs], dtype=np.int64)
    predicted_of = np.full(len(gold.claim), -1)
    predicted_of[gold_of[gold_of >= 0]] = np.flatnonzero(gold_of >= 0)
    right_label = gold.label == np.append(predicted.label, -1)[predicted_of]

    # The first place of every sentence listed, and with it of every gold sentence.
    listed, first = np.unique(predicted.abstract * _SPAN + predicted.sentence, return_index=True)
    at = _find(listed, predicted_of[gold.abstract] * _SPAN + gold.sentence)
    place = np.append(predicted.place[first], _NOWHERE)[at]

    of_set = gold.evidence_set
    set_abstract = gold.abstract[np.flatnonzero(np.diff(of_set, prepend=-1))]
    set_size = np.bincount(of_set, minlength=len(set_abstract))
    together = np.zeros(len(set_abstract), dtype=np.int64)
    np.maximum.at(together, of_set, place)
    complete = together < _NOWHERE

    abstracts = len(gold.claim)
    smallest, soonest = np.full((2, abstracts), _NOWHERE)
    np.minimum.at(smallest, set_abstract, set_size)
    np.minimum.at(soonest, set_abstract, together)
    gold_abstract = np.select(
        [predicted_of < 0, ~right_label, soonest == _NOWHERE, soonest > np.maximum(smallest, FIRST_SENTENCES)],
        [MISSED, WRONG_LABEL, INCOMPLETE, BEYOND],
        CORRECT,
    )
    gold_sentence = np.select(
        [~complete[of_set] & (at < 0), ~complete[of_set], ~right_label[gold.abstract]],
        [MISSED, INCOMPLETE, WRONG_LABEL],
        CORRECT,
    )

    key = gold.abstract * _SPAN + gold.sentence
    order = np.argsort(key)
    at = _find(key[order], gold_of[predicted.abstract] * _SPAN + predicted.sentence)
    gold_sentence_of = np.append(order, -1)[at]
    predicted_sentence = np.full(len(predicted.sentence), REPEATED)
    predicted_sentence[first] = np.append(gold_sentence, NOT_IN_GOLD)[gold_sentence_of[first]]
    return Judgement(
        gold_abstract=gold_abstract,
        predicted_abstract=np.append(gold_abstract, NOT_IN_GOLD)[gold_of],
        gold_sentence=gold_sentence,
        predicted_sentence=predicted_sentence,
        gold_of=gold_of,
        predicted_of=predicted_of,
        gold_sentence_of=gold_sentence_of,
        selected=np.bincount(gold.abstract[complete[of_set]], minlength=abstracts),
    )


def _find(ascending: Ints, wanted: Ints) -> Ints:
    """Where each wanted number stands among ascending ones; -1 if not there."""
    at = np.searchsorted(ascending, wanted)
    return np.where(np.append(ascending, -_NOWHERE)[at] == wanted, at, -1)


# ---------------------------------------------------------------------------------------------
# Counts
# ---------------------------------------------------------------------------------------------


def count_claims(gold: Evidence, predicted: Evidence, judgement: Judgement, claims: int) -> Ints:
    """Relevant, retrieved and correct abstracts and sentences of each claim.

    Parameters
    ----------
    gold, predicted : Evidence
    judgement : Judgement, of the two
    claims : int
        Number of claims.

    Returns
    -------
    (claims, credits, 3) int
        The second axis is that of `CREDITS`.

    Examples
    --------
    The document's worked example:

    >>> gold = make_evidence([parse_gold(
    ...     '{"11": [{"sentences": [0, 1], "label": "SUPPORT"}, {"sentences": [11], "label": "SUPPORT"}],'
    ...     ' "15": [{"sentences": [4], "label": "SUPPORT"}]}')])
    >>> predicted = make_evidence([parse_prediction(
    ...     '{"11": {"sentences": [1, 11, 13], "label": "SUPPORT"},'
    ...     ' "16": {"sentences": [18, 20], "label": "CONTRADICT"}}')])
    >>> count_claims(gold, predicted, judge(gold, predicted), 1)[0].tolist()
    [[2, 2, 1], [2, 2, 1], [4, 5, 1], [4, 5, 1]]
    """

    def total(claim: Ints) -> Ints:
        return np.bincount(claim, minlength=claims)

    sentence_claim = gold.claim[gold.abstract]
    abstracts = total(gold.claim), total(predicted.claim)
    sentences = total(sentence_claim), total(predicted.claim[predicted.abstract])
    outcome = judgement.gold_sentence
    counts = [
        *abstracts,
        total(gold.claim[_right_label(judgement.gold_abstract)]),
        *abstracts,
        total(gold.claim[judgement.gold_abstract == CORRECT]),
        *sentences,
        total(sentence_claim[(outcome == CORRECT) | (outcome == WRONG_LABEL)]),
        *sentences,
        total(sentence_claim[outcome == CORRECT]),
    ]
    return np.stack(counts, axis=-1).reshape(claims, len(CREDITS), 3)


def _right_label(outcome_of_abstract: Ints) -> Bools:
    return np.isin(outcome_of_abstract, [CORRECT, INCOMPLETE, BEYOND])


# ---------------------------------------------------------------------------------------------
# Measures
# ---------------------------------------------------------------------------------------------


def precision_recall_f1(counts: npt.ArrayLike) -> Floats:
    """P = correct / retrieved, R = correct / relevant, F1 = 2·P·R / (P + R), where 0 / 0 is 0.

    F1 is taken from P and R, not from the counts: so its last bit, too, is the leaderboard's.

    Parameters
    ----------
    counts : (..., 3) int or float
        Relevant, retrieved, correct.

    Returns
    -------
    (..., 3) float in [0, 1]

    Examples
    --------
    >>> precision_recall_f1([[4, 5, 1], [0, 0, 0]]).round(3).tolist()
    [[0.2, 0.25, 0.222], [0.0, 0.0, 0.0]]
    """
    relevant, retrieved, correct = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    precision, recall = _ratio(correct, retrieved), _ratio(correct, relevant)
    return np.stack([precision, recall, _ratio(2 * precision * recall, precision + recall)], axis=-1)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """numerator / denominator, 0 where the denominator is 0."""
    quotient: Floats = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)
    return quotient


# ---------------------------------------------------------------------------------------------
# What became of every claim, abstract and sentence
# ---------------------------------------------------------------------------------------------


def _outcome_of_claims(evaluation: Evaluation) -> Ints:
    """The first fault among the abstracts of each claim, as an index into `OUTCOMES`, (claims,)."""
    judgement = evaluation.judgement
    claim = np.concatenate([evaluation.prepared.gold.claim, evaluation.predicted.claim])
    outcome = np.concatenate([judgement.gold_abstract, judgement.predicted_abstract])
    worst = np.full(len(evaluation.items), len(OUTCOMES))
    np.minimum.at(worst, claim[outcome != CORRECT], outcome[outcome != CORRECT])
    return np.where(worst < len(OUTCOMES), worst, CORRECT)


def _explain_claims(evaluation: Evaluation) -> pd.DataFrame:
    """The rows of `Evaluation.claims`."""
    gold, predicted, judgement = evaluation.prepared.gold, evaluation.predicted, evaluation.judgement
    # Three kinds of rows: gold abstracts, abstracts not in the gold, claims without any.
    extra = np.flatnonzero(judgement.gold_of < 0)
    bare = np.setdiff1d(np.arange(len(evaluation.items)), np.concatenate([gold.claim, predicted.claim]))
    in_gold = np.concatenate([np.arange(len(gold.claim)), np.full(len(extra) + len(bare), -1)])
    in_prediction = np.concatenate([judgement.predicted_of, extra, np.full(len(bare), -1)])
    claim = np.concatenate([gold.claim, predicted.claim[extra], bare])
    outcome = np.concatenate(
        [judgement.gold_abstract, judgement.predicted_abstract[extra], np.full(len(bare), CORRECT)]
    )
    documents = [*gold.document, *predicted.document[extra], None]
    document = np.concatenate([np.arange(len(documents) - 1), np.full(len(bare), -1)])

    def numbers(evidence: Evidence, at: Ints) -> Ints:
        return np.append(np.bincount(evidence.abstract, minlength=len(evidence.claim)), 0)[at]

    right_label = (in_gold >= 0) & _right_label(outcome)
    selected = np.append(judgement.selected, 0)[in_gold]
    frame = pd.DataFrame(
        {
            "claim_id": _picked(evaluation.items, claim),
            "abstract": _picked(documents, document),
            "gold_label": _picked([*LABELS, None], np.append(gold.label, -1)[in_gold]),
            "predicted_label": _picked([*LABELS, None], np.append(predicted.label, -1)[in_prediction]),
            "outcome": _picked(OUTCOMES, outcome),
            "relevant": numbers(gold, in_gold),
            "retrieved": numbers(predicted, in_prediction),
            "label_only": right_label.astype(np.int64),
            "rationalized": ((in_gold >= 0) & (outcome == CORRECT)).astype(np.int64),
            "selection": selected,
            "sentence_label": np.where(right_label, selected, 0),
        }
    )
    return frame.iloc[np.argsort(claim, kind="stable")].reset_index(drop=True)


def _explain_segments(evaluation: Evaluation) -> pd.DataFrame:
    """The rows of `Evaluation.segments`."""
    gold, predicted, judgement = evaluation.prepared.gold, evaluation.predicted, evaluation.judgement
    first_set = np.full(len(gold.claim), _NOWHERE)
    np.minimum.at(first_set, gold.abstract, gold.evidence_set)
    set_number = gold.evidence_set - first_set[gold.abstract] + 1
    abstract = np.arange(len(gold.claim))
    extra = len(abstract) + np.arange(len(predicted.claim))
    of_predicted = np.where(judgement.gold_of >= 0, judgement.gold_of, extra)
    # level, side, claim, abstract (those not in the gold last), sentence, label, place, evidence set, outcome
    blocks: list[tuple[Ints | int, ...]] = [
        (0, 0, np.arange(len(evaluation.items)), -1, -1, -1, -1, -1, _outcome_of_claims(evaluation)),
        (1, 0, predicted.claim, of_predicted, -1, predicted.label, -1, -1, judgement.predicted_abstract),
        (1, 1, gold.claim, abstract, -1, gold.label, -1, -1, judgement.gold_abstract),
        (
            *(2, 0, predicted.claim[predicted.abstract], of_predicted[predicted.abstract]),
            *(predicted.sentence, predicted.label[predicted.abstract], predicted.place),
            *(np.append(set_number, -1)[judgement.gold_sentence_of], judgement.predicted_sentence),
        ),
        (
            *(2, 1, gold.claim[gold.abstract], gold.abstract),
            *(gold.sentence, gold.label[gold.abstract], -1),
            *(set_number, judgement.gold_sentence),
        ),
    ]
    columns = np.concatenate([np.stack(np.broadcast_arrays(*block)) for block in blocks], axis=1)
    level, side, claim, abstract, *_ = columns
    columns = columns[:, np.lexsort((side, level, abstract, claim))]
    level, side, claim, abstract, sentence, label, place, set_number, outcome = columns
    return pd.DataFrame(
        {
            "level": _picked(("claim", "abstract", "sentence"), level),
            "side": _picked(("prediction", "truth"), side),
            "claim_id": _picked(evaluation.items, claim),
            "abstract": _picked([*gold.document, *predicted.document, None], abstract),
            "sentence": _whole(sentence),
            "label": _picked([*LABELS, None], label),
            "place": _whole(place),
            "evidence_set": _whole(set_number),
            "outcome": _picked(OUTCOMES, outcome),
        }
    )


def _picked(texts: Sequence[str | None], index: Ints) -> pd.Series:
    """The texts at `index`, as objects in every version of pandas."""
    return pd.Series(np.array(texts, dtype=object)[index], dtype=object)


def _whole(numbers: Ints) -> pd.Series:
    """Whole numbers, missing where -1."""
    return pd.Series(numbers, dtype="Int64").where(numbers >= 0)
