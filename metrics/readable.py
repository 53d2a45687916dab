"""The accuracy of essay markups as in the READ//ABLE competition, as one file to upload to Kaggle.

Experts mark the errors and the meaning blocks of an exam essay and grade it, and so does an algorithm.
The measures say how close the algorithm comes to the experts, relative to how close they come to each
other: above 100 % it has overcome the competition's technological barrier.  This file follows A. Levikin,
I. Khabutdinov, A. Grabovoy and K. Vorontsov, "The methodology of multi-criteria evaluation of text markup
models based on inconsistent expert markup" (2025), section 4.2, and reads in the order in which data passes
through it:

    input         grades and selections of each markup, in JSON
    matching      D, the pairs of selections that correspond to each other
    M1 … M6       the pairwise measures of two markups, and M, their weighted average
    essays        M_opt, M_avg and OTAR of an essay, and of all

``accuracy`` compares two markups.  ``score`` gives the number of a whole submission, ``evaluate`` the same
with everything behind it, and ``prepare`` digests a solution once for many submissions:

    prepare(solution, "document_id").evaluate(submission).score == score(solution, submission, "document_id")

All measures are in percent:

    M1      1 - Σ|K_i(X) - K_i(Y)| / K_max     grades, by criterion; K_max by subject       weight 1
    M2      2|D| / (n + m)                     selections that found a partner              weight 2
    M3      share of pairs of D                equal types                                  weight 1
    M4      share of pairs of D                equal subtypes                               weight 1
    M5      mean over D                        Jaccard index of the characters              weight 1
    M6      share of pairs of D                equal corrections                            weight 0
    M7      experts' judgement                 explanations                                 weight 0
    M       Σ w M / Σ w
    M_avg   mean M(A, E) / mean M(E, E')
    M_opt   max M(A, E) / min M(E, E')
    OTAR    (H·mean + (1 - H)·max M(A, E)) / (H·mean + (1 - H)·min M(E, E'))

Where the paper is silent, this file decides (each decision has a test):

* D is the one-to-one assignment of least cost.  A selection without partner costs 1; a pair costs
  (1 - Jaccard) + 1 if the starts differ + 1 if the types differ + 4 if exactly one is a meaning block
  (a selection whose ``group`` is "meaning").  Selections without common characters are never paired, and a
  pair must be cheaper than its two selections alone.
* Among assignments of equal cost (to 1e-9) the one of more pairs wins, then that of more equal subtypes and
  corrections, so that a markup agrees with itself to 100 %; what is still equal is settled by the contents
  of the markups, so that neither their order nor the order within them has an influence.
* Types, subtypes and corrections are compared without regard to case; what is missing is "".
* Neither markup has selections: M2 to M6 are 100.  One has none, or D is empty: M3 to M6 are 0.
* A grade that one markup lacks is 0 there.  M1 is at least 0.
* M7 has no weight, as in the competition; it is reported where the solution gives it.
* OTAR, M_avg and M_opt of a corpus are means of the numerators over means of the denominators, over the
  essays with two or more experts; ``m`` is the mean over essays with an expert of the mean M(A, E).  The
  essays left out are counted.
* Offsets count characters from 0, the end is exclusive.  A selection of no characters never finds a
  partner.  Unknown keys of the JSON are ignored.

The competition's own program gives other numbers: it matches greedily and may use a selection twice, rounds
distances to a tenth, and divides by 5 where the weights sum to 6.  This file follows the paper.

Errors in the submission raise ``ParticipantVisibleError``, whose text depends on the submission alone,
except that it says how many essays are missing, which offsets are beyond a text and which grades are above
their subject's maximum; errors of the host (solution, parameters) raise ``HostVisibleError``, which
participants never see.

A tool that wants to show progress sets this module's ``progress`` to a function of the number of markup
pairs compared and their total; it is called now and then while the experts are compared with each other
(by ``prepare``), and the algorithm with them (by ``evaluate``).
"""

import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

__all__ = [
    "CRITERIA",
    "LARGEST_GRADE",
    "WEIGHTS",
    "Accuracy",
    "Evaluation",
    "HostVisibleError",
    "Pair",
    "ParticipantVisibleError",
    "PreparedSolution",
    "accuracy",
    "evaluate",
    "prepare",
    "read_documents",
    "read_solution",
    "read_submission",
    "score",
]

__version__ = "1.0.0"

# ---------------------------------------------------------------------------------------------
# Constants
# ---------------------------------------------------------------------------------------------

# K_max: the largest sum of grades, by subject.
LARGEST_GRADE = {
    "rus": 24,
    "rus-free": 24,
    "lit": 14,
    "social": 6,
    "hist": 12,
    "eng": 14,
    "eng-free": 24,
}

# Of the competition; M6 and M7 do not count.
WEIGHTS = {"M1": 1.0, "M2": 2.0, "M3": 1.0, "M4": 1.0, "M5": 1.0, "M6": 0.0, "M7": 0.0}

CRITERIA = {
    "M": "weighted average",
    "M1": "grades",
    "M2": "selections found",
    "M3": "types",
    "M4": "subtypes",
    "M5": "localization",
    "M6": "corrections",
}

MEASURES = ("otar", "m_avg", "m_opt", "m")

MEANING = "meaning"
COST_OF_TYPE, COST_OF_START, COST_OF_MEANING = 1.0, 1.0, 4.0

# Costs that differ by less count as equal; equal subtypes and corrections decide below that.
TIE = 1e-9
FINE_TIE = 1e-12

LAST_OFFSET = 1_000_000_000
MOST_SELECTIONS = 2_000  # of one markup; bounds time and memory
CELLS_AT_ONCE = 200_000  # pairs of selections that are compared in one step

# Columns that hold text, whatever it looks like.
TEXT_COLUMNS = ("document_id", "markups", "markup", "subject", "text")

ALGORITHM = "algorithm"

ROWS_SHOWN = 5
CHARACTERS_SHOWN = 40
COLUMNS_SHOWN = 20

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.object_]

# Called as progress(done, total) while markups are compared, where a tool sets it.
progress: Callable[[int, int], None] | None = None


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
    measure: str = "otar",
    h: float = 1.0,
) -> float:
    """Overall relative accuracy (OTAR) of essay markups, as in the READ//ABLE competition, in percent.

    The pairwise accuracy M of two markups is a weighted average of the accuracy of their grades (M1), of
    the share of selections that correspond to each other (M2) and of those pairs' types, subtypes and
    boundaries (M3 to M5).  The algorithm's M with the experts is divided by the experts' M with each other:
    OTAR above 100 means that the algorithm is closer to the experts than they are to each other.

    Parameters
    ----------
    solution : DataFrame, one row per essay
        `row_id_column_name`; ``markups``: JSON, the list of the experts' markups, each of the form
        ``{"criteria": {"K1": 1, …}, "selections": [{"startSelection": 0, "endSelection": 10, "type": "…",
        "subtype": "…", "group": "error", "correction": "…"}]}``, where only grades, offsets and type are
        required; ``subject``: rus, rus-free, lit, social, hist, eng or eng-free.  With a column ``text``,
        offsets are checked against it; a column ``m7`` holds the experts' judgement of explanations, from 0
        to 100 or nothing.
    submission : DataFrame, one row per essay
        `row_id_column_name` and ``markup``: JSON, the algorithm's markup.
    row_id_column_name : str
        The essays' ids, compared as text; both frames must have the same ones, in any order.
    measure : str
        "otar", "m_avg", "m_opt", or "m": the accuracy itself, not relative to the experts.
    h : float in [0, 1]
        H of OTAR: 1 is M_avg, as in the competition, 0 is M_opt.

    Returns
    -------
    float
        Percent, at least 0; only "m" is at most 100.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed, or its essays are not those of the test set.
    HostVisibleError
        The solution is malformed, a parameter is wrong or the measure is not defined: no essay has two
        experts ("m": one), or the experts' accuracy is 0.

    References
    ----------
    A. Levikin, I. Khabutdinov, A. Grabovoy, K. Vorontsov, "The methodology of multi-criteria evaluation of
    text markup models based on inconsistent expert markup", 2025, doi:10.28995/2075-7182-2025-23-1066-1080.

    Examples
    --------
    The experts grade alike and mark the same error, one of them longer; the algorithm is between them:

    >>> def markup(grade, start, end):
    ...     selection = {"startSelection": start, "endSelection": end, "type": "logic", "group": "error"}
    ...     return {"criteria": {"K1": grade}, "selections": [selection]}
    >>> experts = [markup(3, 0, 10), markup(3, 0, 20)]
    >>> solution = pd.DataFrame({"document_id": ["A"], "subject": "lit", "markups": [json.dumps(experts)]})
    >>> submission = pd.DataFrame({"document_id": ["A"], "markup": [json.dumps(markup(3, 0, 15))]})
    >>> round(score(solution, submission, "document_id"), 6)
    103.787879
    >>> round(score(solution, submission, "document_id", measure="m"), 6)
    95.138889

    What is wrong, where, and what was expected:

    >>> try:
    ...     score(solution, submission.assign(markup=json.dumps(markup(3, 10, 0))), "document_id")
    ... except ParticipantVisibleError as error:
    ...     print(error)
    markup is wrong in 1 row of the submission: document_id A (selection 1: startSelection 10 is after \
endSelection 0). Expected a markup in JSON, such as '{"criteria": {"K1": 1}, "selections": []}'.
    """
    return evaluate(solution, submission, row_id_column_name, measure, h).score


def evaluate(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "otar",
    h: float = 1.0,
) -> "Evaluation":
    """Score a submission and keep what led to the score.  Parameters and errors are those of `score`.

    Returns
    -------
    Evaluation
    """
    return prepare(solution, row_id_column_name, measure, h).evaluate(submission)


def prepare(
    solution: pd.DataFrame, row_id_column_name: str, measure: str = "otar", h: float = 1.0
) -> "PreparedSolution":
    """Check a solution and compare its experts with each other once, to score many submissions.

    Parameters are those of `score`.

    Raises
    ------
    HostVisibleError
        The solution is malformed, a parameter is wrong, or the measure is not defined.
    """
    if measure not in MEASURES:
        raise HostVisibleError(f"measure is {_quoted(measure)}; expected one of {', '.join(MEASURES)}.")
    if not 0 <= h <= 1:
        raise HostVisibleError(f"h is {h}; expected a number from 0 to 1.")
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns((row_id_column_name, "subject", "markups"))
    if solution.empty:
        raise HostVisibleError("the solution has no rows.")
    ids = table.ids()
    subjects = table.subjects()
    lengths = table.lengths()
    m7 = table.percentages("m7")
    markups = table.parse(
        "markups",
        lambda row, value: _read_markups(value, lengths[row], subjects[row]),
        """a list of markups in JSON, such as '[{"criteria": {"K1": 1}, "selections": []}]'""",
    )
    documents = [_Document(*parts) for parts in zip(ids, range(len(ids)), subjects, lengths, m7, markups)]
    return _digest(sorted(documents), _Parameters(row_id_column_name, measure, float(h)))


def accuracy(first: Mapping[str, Any], second: Mapping[str, Any], subject: str) -> "Accuracy":
    """Pairwise accuracy M(X, Y) of two markups of the same essay, with M1 to M6 and the matching D.

    Parameters
    ----------
    first, second : dict, as `json.loads` gives it
        Markups of the form that `score` describes.
    subject : str, one of `LARGEST_GRADE`

    Returns
    -------
    Accuracy
        Symmetric: with `first` and `second` exchanged, every number is the same, to the last bit.

    Raises
    ------
    ValueError
        A markup is malformed, or the subject unknown.

    Examples
    --------
    >>> first = {"criteria": {"K1": 1, "K2": 0}, "selections": [
    ...     {"startSelection": 0, "endSelection": 10, "type": "Logic"},
    ...     {"startSelection": 30, "endSelection": 40, "type": "fact"}]}
    >>> second = {"criteria": {"K1": "0", "K2": "1"}, "selections": [
    ...     {"startSelection": 2, "endSelection": 10, "type": "logic"}]}
    >>> result = accuracy(first, second, "hist")
    >>> [round(value, 3) for value in (result.m1, result.m2, result.m3, result.m4, result.m5, result.m)]
    [83.333, 66.667, 100.0, 100.0, 80.0, 82.778]
    >>> [(pair.first, pair.second, round(pair.cost, 3)) for pair in result.pairs]
    [(0, 0, 1.2)]
    """
    if subject not in LARGEST_GRADE:
        raise ValueError(f"subject is {_quoted(subject)}; expected one of {', '.join(LARGEST_GRADE)}")
    markups = []
    for name, value in (("first", first), ("second", second)):
        try:
            markups.append(_read_markup(value, None, subject))
        except ValueError as fault:
            raise ValueError(f"the {name} markup: {fault}") from None
    swapped = markups[1].key < markups[0].key
    left, right = (_columns([markup]) for markup in sorted(markups, key=lambda markup: markup.key))
    none = np.zeros(1, dtype=np.int64)
    criteria, found = _compare(left, right, none, none, np.array([LARGEST_GRADE[subject]], dtype=float))
    m, m1, m2, m3, m4, m5, m6 = criteria[0].tolist()
    pairs = []
    for index in np.flatnonzero(found.chosen).tolist():
        ends = int(left.position[found.first[index]]), int(right.position[found.second[index]])
        pairs.append(
            Pair(
                *(ends[::-1] if swapped else ends),
                cost=float(found.cost[index]),
                jaccard=float(found.jaccard[index]),
                same_type=bool(found.same_type[index]),
                same_subtype=bool(found.same_subtype[index]),
                same_correction=bool(found.same_correction[index]),
            )
        )
    return Accuracy(m, m1, m2, m3, m4, m5, m6, sorted(pairs))


class Pair(NamedTuple):
    """Two selections, one of each markup, that correspond to each other.

    Attributes
    ----------
    first, second : int
        Their positions, from 0, in the lists of selections.
    cost : float in [0, 2)
        What the matching minimises the sum of, with 1 for each selection without partner.
    jaccard : float in (0, 1]
    same_type, same_subtype, same_correction : bool
    """

    first: int
    second: int
    cost: float
    jaccard: float
    same_type: bool
    same_subtype: bool
    same_correction: bool


@dataclass(frozen=True)
class Accuracy:
    """What `accuracy` returns; each number is in percent.

    Attributes
    ----------
    m : float
        M, the weighted average.
    m1, m2, m3, m4, m5, m6 : float
    pairs : list of Pair
        D.
    """

    m: float
    m1: float
    m2: float
    m3: float
    m4: float
    m5: float
    m6: float
    pairs: list[Pair]


class _Parameters(NamedTuple):
    row_id_column_name: str
    measure: str
    h: float


class _Document(NamedTuple):
    """A row of the solution; documents sort by their ids."""

    document_id: str
    row: int
    subject: str
    length: int | None  # of the text, in characters, where it is known
    m7: float
    experts: list["_Markup"]


@dataclass(frozen=True, eq=False)
class PreparedSolution:
    """A solution, checked and digested by `prepare`, with the parameters to score against it.

    Attributes
    ----------
    documents : list, by document id
    parameters : those of `prepare`
    markups, experts : the experts' markups, document by document, and the same as columns
    expert_document, expert_number : (experts,) int
        The index of each one's document and its number, from 1, in the document's list.
    first, second : (pairs,) int
        All unordered pairs of experts of the same document.
    expert_criteria : (pairs, criteria) float
        Their accuracies, in the order of `CRITERIA`.
    """

    documents: list[_Document]
    parameters: _Parameters
    markups: list["_Markup"]
    experts: "_Columns"
    expert_document: Ints
    expert_number: Ints
    first: Ints
    second: Ints
    expert_criteria: Floats

    @functools.cached_property
    def largest_grades(self) -> Floats:
        """K_max of each document, (documents,)."""
        return np.array([LARGEST_GRADE[document.subject] for document in self.documents], dtype=np.float64)

    @functools.cached_property
    def expert_means(self) -> Floats:
        """Mean over each document's pairs of experts, (documents, criteria); NaN without pairs."""
        return _means(self.expert_criteria, self.expert_document[self.first], len(self.documents))

    @functools.cached_property
    def expert_minima(self) -> Floats:
        """Least M of each document's pairs of experts, (documents,); NaN without pairs."""
        return -_maxima(-self.expert_criteria[:, 0], self.expert_document[self.first], len(self.documents))

    def part(self, rows: Bools) -> "PreparedSolution":
        """What `prepare` makes of some of the solution's rows, (n,) bool, without comparing experts again."""
        row = np.cumsum(rows) - 1
        kept = np.array([rows[document.row] for document in self.documents])
        documents = [
            document._replace(row=int(row[document.row])) for document in self.documents if rows[document.row]
        ]
        criteria = self.expert_criteria[kept[self.expert_document[self.first]]]
        return _digest(documents, self.parameters, criteria)

    def evaluate(self, submission: pd.DataFrame) -> "Evaluation":
        """Score one submission.

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed, or its essays are not those of the solution.
        """
        row_id = self.parameters.row_id_column_name
        table = _Table(submission, "the submission", row_id, ParticipantVisibleError)
        table.check_columns((row_id, "markup"))
        ids = table.ids()
        by_id = {document.document_id: document for document in self.documents}
        _check_documents(row_id, ids, set(by_id))
        by_row = table.parse(
            "markup",
            lambda row, value: _read_markup(value, by_id[ids[row]].length, by_id[ids[row]].subject),
            """a markup in JSON, such as '{"criteria": {"K1": 1}, "selections": []}'""",
        )
        markup_of = dict(zip(ids, by_row))
        markups = [markup_of[document.document_id] for document in self.documents]
        algorithm = _columns(markups)
        comparisons = _against_experts(self, markups, algorithm)
        return Evaluation(self, algorithm, comparisons, _criteria_of(comparisons))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` returns: the score and everything behind it.

    Attributes
    ----------
    score : float
        The number that `measure` asks for.
    otar, m_avg, m_opt, m : float
        The measures of the corpus, in percent; NaN where not defined.
    signature : str
        The version and every parameter, to print beside the score.
    criteria, documents, pairs, segments : DataFrame
        See the properties.
    histograms : dict of str to dict of str to (n,) array
        Accuracies among experts and of the algorithm with them, and of documents: figure, panel, values.
    tables : dict of str to DataFrame
        Small tables for people, by title.
    notices : list of str
        What a reader of the score should know.
    measures : dict of str to float
        The score, OTAR, M_avg, M_opt, M and M1 to M6, algorithm with experts.
    items : list of str
        The documents that `resample` weighs.
    prepared : PreparedSolution
    algorithm : the algorithm's markups as columns, in the order of the documents
    comparisons : each expert with the algorithm
    algorithm_criteria : (experts, criteria) float
        Each expert's accuracies with the algorithm, in the order of `CRITERIA`.
    """

    prepared: PreparedSolution
    algorithm: "_Columns"
    comparisons: list["_Comparison"]
    algorithm_criteria: Floats

    @functools.cached_property
    def _algorithm_means(self) -> Floats:
        """Mean over each document's experts, (documents, criteria); NaN without experts."""
        prepared = self.prepared
        return _means(self.algorithm_criteria, prepared.expert_document, len(prepared.documents))

    @functools.cached_property
    def _algorithm_maxima(self) -> Floats:
        """Largest M with one of the document's experts, (documents,); NaN without experts."""
        prepared = self.prepared
        return _maxima(self.algorithm_criteria[:, 0], prepared.expert_document, len(prepared.documents))

    @functools.cached_property
    def _statistics(self) -> Floats:
        """The sufficient statistics of each document, (documents, 13)."""
        prepared = self.prepared
        return _statistics(
            self._algorithm_means, self._algorithm_maxima, prepared.expert_means[:, 0], prepared.expert_minima
        )

    @functools.cached_property
    def _measures(self) -> Floats:
        totals = self._statistics.sum(axis=0, keepdims=True)
        values: Floats = _measures_of(totals, self.prepared.parameters)[0]
        return values

    @property
    def score(self) -> float:
        """The number that `measure` asks for."""
        return float(self._measures[0])

    @property
    def otar(self) -> float:
        """Overall relative accuracy."""
        return float(self._measures[1])

    @property
    def m_avg(self) -> float:
        """Average relative accuracy."""
        return float(self._measures[2])

    @property
    def m_opt(self) -> float:
        """Optimistic relative accuracy."""
        return float(self._measures[3])

    @property
    def m(self) -> float:
        """Mean M of the algorithm with experts."""
        return float(self._measures[4])

    @property
    def signature(self) -> str:
        """The metric's name and version and every parameter, as ``name:value`` joined by ``|``."""
        parameters = self.prepared.parameters
        parts = {
            "metric": "readable",
            "version": __version__,
            "measure": parameters.measure,
            "h": f"{parameters.h:g}",
            "weights": ",".join(f"{name}={weight:g}" for name, weight in WEIGHTS.items()),
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items())

    @property
    def criteria(self) -> pd.DataFrame:
        """One row per criterion: criterion, meaning, weight, algorithm, experts, relative.

        ``algorithm`` is the mean over documents with an expert, ``experts`` over those with two or more,
        ``relative`` the ratio of both over the latter.  M7 is there where the solution gives it; of an
        expert it is 100.
        """
        algorithm, experts = self._algorithm_means, self.prepared.expert_means
        one, two = ~np.isnan(algorithm[:, 0]), ~np.isnan(experts[:, 0])
        frame = pd.DataFrame(
            {
                "criterion": list(CRITERIA),
                "meaning": list(CRITERIA.values()),
                "weight": [WEIGHTS.get(name, np.nan) for name in CRITERIA],
                "algorithm": _ratio(algorithm[one].sum(axis=0), one.sum()),
                "experts": _ratio(experts[two].sum(axis=0), two.sum()),
                "relative": 100 * _ratio(algorithm[two].sum(axis=0), experts[two].sum(axis=0)),
            }
        )
        judged = self.documents["m7"].mean()
        if np.isnan(judged):
            return frame
        m7 = pd.DataFrame([("M7", "explanations", WEIGHTS["M7"], judged, 100.0, judged)], columns=list(frame))
        return pd.concat([frame, m7], ignore_index=True)

    @functools.cached_property
    def documents(self) -> pd.DataFrame:
        """One row per document: its measures and what they are made of.

        Columns
        -------
        document_id, subject, experts (their number), otar, m_avg, m_opt, m
        max_m : largest M with an expert; mean_m_experts, min_m_experts : of the experts among each other
        m7 : as in the solution
        algorithm.M … algorithm.M6, experts.M … experts.M6 : means over the experts, and over their pairs

        NaN where not defined.
        """
        prepared = self.prepared
        algorithm, experts = self._algorithm_means, prepared.expert_means
        best, worst = self._algorithm_maxima, prepared.expert_minima
        h = prepared.parameters.h
        columns = {
            "document_id": self.items,
            "subject": [document.subject for document in prepared.documents],
            "experts": np.bincount(prepared.expert_document, minlength=len(prepared.documents)),
            "otar": 100 * _ratio(_mix(h, algorithm[:, 0], best), _mix(h, experts[:, 0], worst)),
            "m_avg": 100 * _ratio(algorithm[:, 0], experts[:, 0]),
            "m_opt": 100 * _ratio(best, worst),
            "m": algorithm[:, 0],
            "max_m": best,
            "mean_m_experts": experts[:, 0],
            "min_m_experts": worst,
            "m7": [document.m7 for document in prepared.documents],
        }
        columns |= {f"algorithm.{name}": algorithm[:, n] for n, name in enumerate(CRITERIA)}
        columns |= {f"experts.{name}": experts[:, n] for n, name in enumerate(CRITERIA)}
        return pd.DataFrame(columns)

    @functools.cached_property
    def pairs(self) -> pd.DataFrame:
        """One row per pair of markups: document_id, first, second, M, M1 … M6.

        ``first`` and ``second`` are "algorithm" or "expert 1", "expert 2" …, in the order of the solution's
        list.
        """
        prepared = self.prepared
        number, document = prepared.expert_number, prepared.expert_document
        ahead = number[prepared.first] < number[prepared.second]
        low = np.where(ahead, prepared.first, prepared.second)
        high = np.where(ahead, prepared.second, prepared.first)
        place = np.concatenate([document, document[low]])
        first = np.concatenate([np.zeros_like(number), number[low]])
        second = np.concatenate([number, number[high]])
        order = np.lexsort((second, first, place))
        names = _names(number)
        values = np.concatenate([self.algorithm_criteria, prepared.expert_criteria])[order]
        frame = pd.DataFrame(values, columns=list(CRITERIA))
        frame.insert(0, "document_id", np.array(self.items, dtype=object)[place[order]])
        frame.insert(1, "first", names[first[order]])
        frame.insert(2, "second", names[second[order]])
        return frame

    @functools.cached_property
    def segments(self) -> pd.DataFrame:
        """One row per selection of a markup and other markup of its document: what became of it there.

        Columns
        -------
        document_id
        markup, against : the selection's markup and the one compared with: "algorithm", "expert 1" …
        selection : its position, from 0, in the JSON
        start, end, type, subtype, correction : in lower case
        outcome : "matched"; "partner taken" (a pair would be cheap enough, but not in the assignment of
            least cost); "too costly" (it overlaps, but no pair is cheaper than no pair); "no overlap"
        partner_selection : position of the partner; -1 where unmatched
        cost : of the pair; 1 where unmatched
        jaccard : with the partner; NaN where unmatched
        same_type, same_subtype, same_correction : bool; False where unmatched
        """
        return _explain(self)

    @property
    def roles(self) -> dict[str, str]:
        """Which column of `segments` holds the item, the label and the outcome."""
        return {"item": "document_id", "label": "type", "outcome": "outcome"}

    @property
    def histograms(self) -> dict[str, dict[str, Floats]]:
        """Figures like the paper's: M and M1 to M5 among experts, and with the algorithm; relative accuracies.

        Documents whose measure is not defined are left out.
        """
        weighed = [(name, number) for number, name in enumerate(CRITERIA) if WEIGHTS.get(name, 1.0) > 0]
        measures = {"M_avg": "m_avg", "M_opt": "m_opt", "OTAR": "otar"}
        return {
            "Accuracy among experts": {
                name: self.prepared.expert_criteria[:, number] for name, number in weighed
            },
            "Accuracy, algorithm with an expert": {
                name: self.algorithm_criteria[:, number] for name, number in weighed
            },
            "Documents": {
                title: self.documents[name].dropna().to_numpy(dtype=np.float64)
                for title, name in measures.items()
            },
        }

    @property
    def items(self) -> list[str]:
        """Ids of the documents."""
        return [document.document_id for document in self.prepared.documents]

    @property
    def measures(self) -> dict[str, float]:
        """The score, OTAR, M_avg, M_opt, M and M1 to M6, algorithm with experts."""
        return dict(zip(["score", "OTAR", "M_avg", "M_opt", *CRITERIA], self._measures.tolist()))

    def resample(self, weights: npt.ArrayLike) -> Floats:
        """The `measures` if every document occurred as often as its weight says.

        Parameters
        ----------
        weights : (resamples, documents) int or float, at least 0
            In the order of `items`.

        Returns
        -------
        (resamples, measures) float
            NaN where a resample holds no document with enough experts.
        """
        totals = np.asarray(weights, dtype=np.float64) @ self._statistics
        return _measures_of(totals, self.prepared.parameters)

    def mix(self, other: "Evaluation", swapped: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The `measures` of this submission and another one, had they swapped their answers to documents.

        Parameters
        ----------
        other : Evaluation of another submission by the same prepared solution
        swapped : (mixtures, documents) of 0 or 1
            In the order of `items`.

        Returns
        -------
        mine, theirs : (mixtures, measures) float
        """
        theirs = np.asarray(swapped, dtype=np.float64)
        mine, others = (
            _measures_of((1 - share) @ self._statistics + share @ other._statistics, self.prepared.parameters)
            for share in (theirs, 1 - theirs)
        )
        return mine, others

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The measures, the criteria, and the documents by subject."""
        measures = pd.DataFrame({"measure": ["OTAR", "M_avg", "M_opt", "M"], "percent": self._measures[1:5]})
        return {"Measures": measures, "Criteria": self.criteria, "Subjects": _by_subject(self)}

    @property
    def notices(self) -> list[str]:
        """Documents left out."""
        experts = self.documents["experts"]
        notices = []
        if (experts == 0).any():
            number = _counted(int((experts == 0).sum()), "document")
            notices.append(f"{number} without expert, left out everywhere")
        if (experts == 1).any():
            number = _counted(int((experts == 1).sum()), "document")
            notices.append(f"{number} with one expert, left out of OTAR, M_avg and M_opt")
        return notices


# ---------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------


def read_solution(path: str | Path) -> pd.DataFrame:
    """The experts' markups in a folder of JSON files, as `score` takes them.

    Parameters
    ----------
    path : a folder, read with its sub-folders, or one file; see `read_documents`
        A file that does not say whose markup it holds, holds an expert's.

    Returns
    -------
    DataFrame
        ``document_id``, ``subject``, ``text`` where every document has one, and ``markups``.

    Raises
    ------
    HostVisibleError
        A file is not what it should be.
    """
    documents = _read_documents(Path(path), True, HostVisibleError)
    frame = documents[["document_id", "subject", "text", "markups"]]
    return frame.drop(columns="text") if frame["text"].isna().any() else frame


def read_submission(path: str | Path) -> pd.DataFrame:
    """The algorithm's markups in a folder of JSON files, as `score` takes them.

    Parameters
    ----------
    path : a folder, read with its sub-folders, or one file; see `read_documents`
        A file that does not say whose markup it holds, holds the algorithm's.

    Returns
    -------
    DataFrame
        ``document_id`` and ``markup``.

    Raises
    ------
    ParticipantVisibleError
        A file is not what it should be, or a document has no algorithm's markup.
    """
    documents = _read_documents(Path(path), False, ParticipantVisibleError)
    lacking = documents.loc[documents["markup"].isna(), "document_id"].tolist()
    if lacking:
        number = _counted(len(lacking), "document")
        shown = [_quoted(text) for text in lacking[:ROWS_SHOWN]]
        raise ParticipantVisibleError(
            f"{number} without an algorithm's markup: {_listed(shown, len(lacking))}."
        )
    return documents[["document_id", "markup"]]


def read_documents(path: str | Path) -> pd.DataFrame:
    """Every markup in a folder of JSON files, one row per document.

    Parameters
    ----------
    path : a folder, whose files ``*.json`` are read with those of its sub-folders, or one file
        Each file holds one of

        * an essay as the competition's program takes it: ``{"essay": {"id": …, "meta": {"subject": …},
          "text": …, "markups": […]}}``, where a markup with ``"isExpert": false`` is the algorithm's;
        * the same without the outer ``essay``; a key ``markup`` may hold the algorithm's;
        * one markup, as the competition sent it: ``{"meta": {"id": …, "subject": …, "expert": …}, "text": …,
          "criteria": …, "selections": …}``, an expert's unless its ``expert`` is empty; several such files
          may belong to one document.

        The document's id is ``id`` or ``document_id``, else ``meta.id``, else the file's name; its subject
        is ``subject`` or ``meta.subject``.

    Returns
    -------
    DataFrame
        ``document_id``, ``subject`` and ``text`` (None where unknown), ``markups`` (JSON, the list of the
        experts' markups) and ``markup`` (JSON, the algorithm's; None where there is none), by document id.

    Raises
    ------
    HostVisibleError
        A file is not what it should be.
    """
    return _read_documents(Path(path), True, HostVisibleError)


class _Gathered(NamedTuple):
    """What the files said about a document so far."""

    subjects: set[str]
    texts: set[str]
    experts: list[Any]
    algorithms: list[Any]


def _read_documents(path: Path, expert: bool, error: type[Exception]) -> pd.DataFrame:
    """`read_documents`, with whose markup it is that does not say so and what to raise."""
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if not files:
        raise error(f"{path} has no file *.json.")
    documents: dict[str, _Gathered] = {}
    for file in files:
        try:
            _gather(_load(file.read_text(encoding="utf-8-sig")), file.stem, expert, documents)
        except UnicodeDecodeError:
            raise error(f"{file.name} is not UTF-8 text.") from None
        except OSError as problem:
            raise error(f"{file.name} cannot be read: {problem.strerror}.") from None
        except ValueError as fault:
            raise error(f"{file.name}: {fault}.") from None
    rows = []
    for document_id, (subjects, texts, experts, algorithms) in sorted(documents.items()):
        for name, values in (("subjects", subjects), ("texts", texts)):
            if len(values) > 1:
                raise error(f"document {_quoted(document_id)} has different {name} in different files.")
        if len(algorithms) > 1:
            raise error(f"document {_quoted(document_id)} has {len(algorithms)} algorithm's markups.")
        subject, text = (next(iter(values), None) for values in (subjects, texts))
        rows.append((document_id, subject, text, _dump(experts), *map(_dump, algorithms or [None])))
    return pd.DataFrame(rows, columns=["document_id", "subject", "text", "markups", "markup"], dtype=object)


def _dump(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _gather(content: Any, name: str, expert: bool, documents: dict[str, _Gathered]) -> None:
    """Add what one file holds to what is known of its document."""
    content = _object(content, "the file")
    content = _object(content.get("essay", content), "essay")
    meta = _object(content.get("meta") or {}, "meta")
    ids = (content.get("id"), content.get("document_id"), meta.get("id"))
    document_id = next((_as_text(value) for value in ids if value not in (None, "")), name)
    subjects, texts, experts, algorithms = documents.setdefault(document_id, _Gathered(set(), set(), [], []))
    for key, value, values in (
        ("subject", content.get("subject", meta.get("subject")), subjects),
        ("text", content.get("text"), texts),
    ):
        if value is not None:
            values.add(_text(value, key))
    if "selections" in content:
        says = bool(meta["expert"]) if "expert" in meta else expert
        (experts if content.get("isExpert", says) else algorithms).append(content)
    elif "markups" in content or "markup" in content:
        for markup in _list(content, "markups", "the file"):
            is_expert = _object(markup, "a markup").get("isExpert", True)
            (experts if is_expert else algorithms).append(markup)
        if content.get("markup") is not None:
            algorithms.append(content["markup"])
    else:
        raise ValueError("expected an essay with markups, or a markup with selections")


# ---------------------------------------------------------------------------------------------
# Input: tables
# ---------------------------------------------------------------------------------------------


def _as_text(value: object) -> str:
    """The text of an id or label, the same whether a CSV reader took it for text, int or float."""
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


def _cells(column: pd.Series) -> list[str]:
    """A column's texts, "" where missing."""
    values = column.to_numpy(dtype=object)
    return ["" if absent else _as_text(value) for value, absent in zip(values, pd.isna(values))]


class _Table:
    """A frame of documents, read column by column with checks; every fault has one form of message."""

    def __init__(self, frame: pd.DataFrame, name: str, row_id_column_name: str, error: type[Exception]) -> None:
        self.frame = frame
        self.name = name
        self.row_id_column_name = row_id_column_name
        self.error = error

    def check_columns(self, required: tuple[str, ...]) -> None:
        """Every required column is there once, and no optional one twice."""
        found = [str(name) for name in self.frame.columns]
        lacking = [name for name in dict.fromkeys(required) if name not in found]
        if lacking:
            raise self.error(
                f"{self.name} lacks columns: {', '.join(lacking)}. "
                f"It has: {_listed([_short(name) for name in found[:COLUMNS_SHOWN]], len(found))}."
            )
        repeated = [name for name in (*required, "text", "m7") if found.count(name) > 1]
        if repeated:
            raise self.error(f"{self.name} has more than one column named {', '.join(repeated)}.")

    def check(self, column: str, reasons: Mapping[int, str], expected: str) -> None:
        """Raise the table's error where rows are wrong; `reasons` says why, by row."""
        if not reasons:
            return
        ids = _cells(self.frame[self.row_id_column_name])
        shown = [
            (f"{self.row_id_column_name} {_short(ids[row])}" if ids[row].strip() else f"row number {row + 1}")
            + f" ({reason})"
            for row, reason in list(reasons.items())[:ROWS_SHOWN]
        ]
        raise self.error(
            f"{column} is wrong in {_counted(len(reasons), 'row')} of {self.name}: "
            f"{_listed(shown, len(reasons))}. Expected {expected}."
        )

    def ids(self) -> list[str]:
        """The documents' ids, one per row; none may be missing or repeated."""
        column = self.row_id_column_name
        ids = _cells(self.frame[column])
        missing = {row: "missing" for row, text in enumerate(ids) if not text.strip()}
        self.check(column, missing, "an id in every row")
        first_row: dict[str, int] = {}
        rows = [first_row.setdefault(text, row) for row, text in enumerate(ids)]
        repeated = {row: "repeated" for row, first in enumerate(rows) if first < row}
        self.check(column, repeated, "every document once")
        return ids

    def subjects(self) -> list[str]:
        """Each document's subject, a key of `LARGEST_GRADE`."""
        subjects = _cells(self.frame["subject"])
        wrong = {
            row: _quoted(text) if text.strip() else "missing"
            for row, text in enumerate(subjects)
            if text not in LARGEST_GRADE
        }
        self.check("subject", wrong, f"one of {', '.join(LARGEST_GRADE)}")
        return subjects

    def lengths(self) -> list[int | None]:
        """Length of each document's text, None without a column for it."""
        if "text" not in self.frame:
            return [None] * len(self.frame)
        texts = self.frame["text"]
        missing = np.flatnonzero(texts.isna()).tolist()
        self.check("text", dict.fromkeys(missing, "missing"), "a text in every row")
        return [len(text) for text in _cells(texts)]

    def percentages(self, column: str) -> list[float]:
        """Numbers of a column, NaN where missing or without the column."""
        if column not in self.frame:
            return [math.nan] * len(self.frame)
        cells = _cells(self.frame[column])
        numbers = [_number(cell) if cell.strip() else math.nan for cell in cells]
        wrong = {
            row: _quoted(cells[row]) for row, number in enumerate(numbers) if number is None or number > 100
        }
        self.check(column, wrong, "a number from 0 to 100 or nothing")
        return [math.nan if number is None else number for number in numbers]

    def parse(self, column: str, read: Callable[[int, Any], Any], expected: str) -> list[Any]:
        """What `read` makes of the row number and the JSON of each cell."""
        values: list[Any] = []
        reasons: dict[int, str] = {}
        for row, cell in enumerate(_cells(self.frame[column])):
            try:
                values.append(read(row, _load(cell)))
            except ValueError as fault:
                reasons[row] = str(fault)
        self.check(column, reasons, expected)
        return values


def _check_documents(row_id: str, ids: list[str], expected: set[str]) -> None:
    """The submission has every document; which ones it lacks is not told."""
    unknown = [text for text in ids if text not in expected]
    if unknown:
        shown = [_quoted(text) for text in unknown[:ROWS_SHOWN]]
        raise ParticipantVisibleError(
            f"{row_id} of {_counted(len(unknown), 'row')} of the submission is not in the test set: "
            f"{_listed(shown, len(unknown))}."
        )
    if len(ids) < len(expected):
        raise ParticipantVisibleError(
            f"the submission lacks {_counted(len(expected) - len(ids), 'document')} of the test set."
        )


# ---------------------------------------------------------------------------------------------
# Input: markups
# ---------------------------------------------------------------------------------------------


class _Selection(NamedTuple):
    """A selection's content, texts in lower case; selections sort by it."""

    start: int
    end: int
    type: str
    subtype: str
    correction: str
    is_meaning: bool


class _Markup(NamedTuple):
    """A markup, with its selections in the order of content.

    The key is the whole content, without any position: an order by keys is independent of the order of the
    file.  ``number``: from 1, in the document's list of experts; ``positions``: of the selections, from 0,
    in the file.
    """

    key: tuple[tuple[_Selection, ...], tuple[tuple[str, float], ...]]
    number: int
    positions: tuple[int, ...]

    @property
    def selections(self) -> tuple[_Selection, ...]:
        return self.key[0]

    @property
    def grades(self) -> dict[str, float]:
        return dict(self.key[1])


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
        raise ValueError(f"not JSON: {str(fault)[:CHARACTERS_SHOWN]}") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _read_markups(value: Any, length: int | None, subject: str) -> list[_Markup]:
    """The markups of a document's experts, in the order of content."""
    if not isinstance(value, list):
        raise ValueError(f"{_kind(value)} instead of a list of markups")
    markups = []
    for number, markup in enumerate(value, 1):
        try:
            markups.append(_read_markup(markup, length, subject)._replace(number=number))
        except ValueError as fault:
            raise ValueError(f"markup {number}, {fault}") from None
    return sorted(markups)


def _read_markup(value: Any, length: int | None, subject: str) -> _Markup:
    """A markup; `length` is that of its text, where it is known."""
    markup = _object(value, "the markup")
    for name in ("criteria", "selections"):
        if name not in markup:
            raise ValueError(f"the markup has no {name}")
    grades = _read_grades(_object(markup["criteria"], "criteria"), LARGEST_GRADE[subject])
    values = _list(markup, "selections", "the markup")
    if len(values) > MOST_SELECTIONS:
        raise ValueError(f"{len(values):,} selections; at most {MOST_SELECTIONS:,} are allowed in a markup")
    selections = [
        _read_selection(selection, f"selection {number}", length) for number, selection in enumerate(values, 1)
    ]
    positions = sorted(range(len(selections)), key=selections.__getitem__)
    return _Markup((tuple(selections[position] for position in positions), grades), 0, tuple(positions))


def _read_grades(criteria: Mapping[str, Any], largest: float) -> tuple[tuple[str, float], ...]:
    """The grades other than 0 by their criteria, sorted; a missing grade and the grade 0 are the same."""
    grades = {}
    for name, value in criteria.items():
        grade = _number(value)
        if grade is None:
            raise ValueError(f"criterion {_short(name)} is {_kind(value)} instead of a number of at least 0")
        grades[name] = grade
    total = math.fsum(grades.values())
    if total > largest + TIE:
        raise ValueError(f"the criteria sum to {total:g}, above the maximum of the subject")
    return tuple(sorted((name, grade) for name, grade in grades.items() if grade))


def _number(value: Any) -> float | None:
    """A number of at least 0, or such a number in text; None for everything else."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,15}(\.[0-9]{1,15})?\s*", value):
        return float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15:
        return float(value)
    return None


def _read_selection(value: Any, where: str, length: int | None) -> _Selection:
    selection = _object(value, where)
    start, end = (_offset(selection, name, where) for name in ("startSelection", "endSelection"))
    if start > end:
        raise ValueError(f"{where}: startSelection {start} is after endSelection {end}")
    if length is not None and end > length:
        raise ValueError(f"{where}: endSelection {end} is beyond the text")
    if selection.get("type") is None:
        raise ValueError(f"{where}: type is missing")
    names = ("type", "subtype", "correction")
    kind, subtype, correction = (_text_of(selection, name, where).casefold() for name in names)
    return _Selection(start, end, kind, subtype, correction, _text_of(selection, "group", where) == MEANING)


def _offset(holder: Mapping[str, Any], name: str, where: str) -> int:
    value = holder.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{where}: {name} is {_kind(value)} instead of a whole number")
    if value < 0:
        raise ValueError(f"{where}: {name} {_short(value)} is negative")
    if value > LAST_OFFSET:
        raise ValueError(f"{where}: {name} is above {LAST_OFFSET:,}")
    return value


def _list(holder: Mapping[str, Any], name: str, where: str) -> list[Any]:
    value = holder.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{where}: {name} is {_kind(value)} instead of a list")
    return value


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is {_kind(value)} instead of an object")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where} is {_kind(value)} instead of text")
    return value


def _text_of(holder: Mapping[str, Any], name: str, where: str) -> str:
    """A text that may be left out."""
    value = holder.get(name)
    return "" if value is None else _text(value, f"{where}: {name}")


def _kind(value: Any) -> str:
    """A JSON value in a message."""
    if value is None:
        return "missing"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return _quoted(value) if isinstance(value, str) else f"{_short(value)}"


class _Columns(NamedTuple):
    """Many markups, as columns of their selections in the order of content.

    ``first`` (markups + 1,): the selections of markup k are rows first[k] to first[k + 1] of the other
    columns; ``grades``: of each markup, by criterion.
    """

    first: Ints
    start: Ints
    end: Ints
    type: Texts
    subtype: Texts
    correction: Texts
    is_meaning: Bools
    position: Ints
    grades: list[dict[str, float]]


def _columns(markups: Sequence[_Markup]) -> _Columns:
    """Lay markups out as columns."""
    selections = [selection for markup in markups for selection in markup.selections]
    start, end, kind, subtype, correction, is_meaning = zip(*selections) if selections else ((),) * 6
    return _Columns(
        first=_firsts(len(markup.selections) for markup in markups),
        start=_ints(start),
        end=_ints(end),
        type=np.array(kind, dtype=object),
        subtype=np.array(subtype, dtype=object),
        correction=np.array(correction, dtype=object),
        is_meaning=np.array(is_meaning, dtype=bool),
        position=_ints(position for markup in markups for position in markup.positions),
        grades=[markup.grades for markup in markups],
    )


def _ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def _firsts(sizes: Iterable[int]) -> Ints:
    """Where each holder's objects start, and where the last one's end."""
    return np.concatenate([[0], np.cumsum(_ints(sizes))])


# ---------------------------------------------------------------------------------------------
# Matching
# ---------------------------------------------------------------------------------------------


class _Candidates(NamedTuple):
    """Pairs of overlapping selections, as columns.

    ``owner``: the pair of markups; ``first``, ``second``: rows of the left and the right columns.
    """

    owner: Ints
    first: Ints
    second: Ints
    jaccard: Floats
    same_type: Bools
    same_subtype: Bools
    same_correction: Bools
    cost: Floats
    chosen: Bools


def _match(left: _Columns, right: _Columns, a: Ints, b: Ints) -> _Candidates:
    """D of markup a[k] of `left` with markup b[k] of `right`, for each k."""
    owner, i, j = _cross(left.first, a, right.first, b)
    common = np.minimum(left.end[i], right.end[j]) - np.maximum(left.start[i], right.start[j])
    keep = np.flatnonzero(common > 0)
    owner, i, j, common = owner[keep], i[keep], j[keep], common[keep]
    jaccard = common / (left.end[i] - left.start[i] + right.end[j] - right.start[j] - common)
    same_type, same_subtype, same_correction = (
        np.asarray(ours[i] == theirs[j], dtype=bool)
        for ours, theirs in (
            (left.type, right.type),
            (left.subtype, right.subtype),
            (left.correction, right.correction),
        )
    )
    cost = (
        (1 - jaccard)
        + COST_OF_START * (left.start[i] != right.start[j])
        + COST_OF_TYPE * ~same_type
        + COST_OF_MEANING * (left.is_meaning[i] != right.is_meaning[j])
    )
    chosen = cost < 2
    gain = 2 - cost + TIE + FINE_TIE * (same_subtype.astype(float) + same_correction)
    chosen[chosen] = _best_sum(owner[chosen], i[chosen], j[chosen], gain[chosen])
    return _Candidates(owner, i, j, jaccard, same_type, same_subtype, same_correction, cost, chosen)


def _cross(first_left: Ints, a: Ints, first_right: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
    """Every object of holder a[k] with every object of holder b[k]: k, the one and the other, in order.

    Examples
    --------
    Holders of two objects and of one on the left, each with one of three on the right:

    >>> cells = _cross(np.array([0, 2, 3]), np.array([0, 1]), np.array([0, 3]), np.array([0, 0]))
    >>> [part.tolist() for part in cells]
    [[0, 0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2, 0, 1, 2, 0, 1, 2]]
    """
    width = np.diff(first_right)[b]
    cells = np.diff(first_left)[a] * width
    owner = np.repeat(np.arange(len(a)), cells)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(cells) - cells, cells)
    row, column = np.divmod(within, width[owner])
    return owner, first_left[a[owner]] + row, first_right[b[owner]] + column


def _best_sum(owner: Ints, first: Ints, second: Ints, worth: Floats) -> Bools:
    """Which candidates form, for each owner, the one-to-one accordance of the largest sum of worth.

    Candidates, all of positive worth, fall into components that share no object; those of one candidate
    need no choice.  The rest are small assignment problems.

    Examples
    --------
    The best pair of all, (0, 0), is given up for two good ones:

    >>> zero = np.zeros(3, dtype=np.int64)
    >>> _best_sum(zero, np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([0.9, 0.6, 0.6])).tolist()
    [False, True, True]
    """
    if not len(owner):
        return np.zeros(0, dtype=bool)
    row = np.unique(owner * (first.max() + 1) + first, return_inverse=True)[1]
    column = np.unique(owner * (second.max() + 1) + second, return_inverse=True)[1]
    chosen: Bools = (np.bincount(row)[row] == 1) & (np.bincount(column)[column] == 1)
    rest = np.flatnonzero(~chosen)
    for component, r, c in _components(row[rest], column[rest]):
        candidates = rest[component]
        matrix = np.zeros((r.max() + 1, c.max() + 1))
        matrix[r, c] = worth[candidates]
        partner = np.full(len(matrix), -1)
        rows, columns = linear_sum_assignment(matrix, maximize=True)
        partner[rows] = columns
        chosen[candidates] = partner[r] == c
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

    Examples
    --------
    >>> _numbered_within(np.array([5, 2, 5, 5, 2])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(labels, kind="stable")
    _, start, size = np.unique(labels[order], return_index=True, return_counts=True)
    number = np.empty(len(labels), dtype=np.int64)
    number[order] = np.arange(len(labels)) - np.repeat(start, size)
    return number


# ---------------------------------------------------------------------------------------------
# M1 to M6 and M
# ---------------------------------------------------------------------------------------------


def _compare(left: _Columns, right: _Columns, a: Ints, b: Ints, largest: Floats) -> tuple[Floats, _Candidates]:
    """Accuracies of markups a[k] and b[k], (n, criteria), in percent; `largest` is K_max of each pair, (n,)."""
    found = _match(left, right, a, b)
    owner = found.owner[found.chosen]
    number = len(a)
    pairs = np.bincount(owner, minlength=number)
    selections = np.diff(left.first)[a] + np.diff(right.first)[b]

    def mean(values: npt.NDArray[Any]) -> Floats:
        sums = np.bincount(owner, values[found.chosen], minlength=number)
        return np.where(selections == 0, 1.0, sums / np.maximum(pairs, 1))

    shares = {
        "M1": np.maximum(1 - _grade_differences(left, right, a, b) / largest, 0.0),
        "M2": np.where(selections == 0, 1.0, 2 * pairs / np.maximum(selections, 1)),
        "M3": mean(found.same_type),
        "M4": mean(found.same_subtype),
        "M5": mean(found.jaccard),
        "M6": mean(found.same_correction),
    }
    # One after the other, so that a value never depends on how many others are computed beside it.
    total, weight = np.zeros(number), 0.0
    for name, share in shares.items():
        total += WEIGHTS[name] * share
        weight += WEIGHTS[name]
    return 100 * np.stack([total / weight, *shares.values()], axis=1), found


def _grade_differences(left: _Columns, right: _Columns, a: Ints, b: Ints) -> Floats:
    """Σ|K_i(X) - K_i(Y)| of each pair of markups, (n,)."""
    differences = np.empty(len(a))
    for k, (i, j) in enumerate(zip(a.tolist(), b.tolist())):
        ours, theirs = left.grades[i], right.grades[j]
        names = ours.keys() | theirs.keys()
        differences[k] = math.fsum(abs(ours.get(name, 0.0) - theirs.get(name, 0.0)) for name in names)
    return differences


# ---------------------------------------------------------------------------------------------
# Essays and the corpus
# ---------------------------------------------------------------------------------------------


class _Comparison(NamedTuple):
    """Many pairs of markups: the columns of either side, their rows in them, K_max and the pairs' places."""

    left: _Columns
    right: _Columns
    a: Ints
    b: Ints
    largest: Floats
    place: Ints


def _digest(
    documents: list[_Document], parameters: _Parameters, criteria: Floats | None = None
) -> PreparedSolution:
    """Prepare documents, sorted; `criteria` are those of their pairs of experts, where known."""
    markups = [markup for document in documents for markup in document.experts]
    first_expert = _firsts(len(document.experts) for document in documents)
    every = np.arange(len(documents))
    _, first, second = _cross(first_expert, every, first_expert, every)
    first, second = first[first < second], second[first < second]
    prepared = PreparedSolution(
        documents=documents,
        parameters=parameters,
        markups=markups,
        experts=_columns(markups),
        expert_document=np.repeat(every, np.diff(first_expert)),
        expert_number=_ints(markup.number for markup in markups),
        first=first,
        second=second,
        expert_criteria=np.empty((len(first), len(CRITERIA))),
    )
    prepared.expert_criteria[:] = _criteria_of([_among_experts(prepared)]) if criteria is None else criteria
    _check_defined(prepared)
    return prepared


def _among_experts(prepared: PreparedSolution) -> _Comparison:
    """All pairs of experts of the same document."""
    experts, first, second = prepared.experts, prepared.first, prepared.second
    largest = prepared.largest_grades[prepared.expert_document[first]]
    return _Comparison(experts, experts, first, second, largest, np.arange(len(first)))


def _against_experts(
    prepared: PreparedSolution, markups: Sequence[_Markup], algorithm: _Columns
) -> list[_Comparison]:
    """Each expert with the algorithm, in the order of contents that makes the comparison symmetric."""
    document = prepared.expert_document
    expert = np.arange(len(document))
    largest = prepared.largest_grades[document]
    before = np.array(
        [markups[d].key <= markup.key for d, markup in zip(document.tolist(), prepared.markups)], dtype=bool
    )
    ahead, behind = np.flatnonzero(before), np.flatnonzero(~before)
    experts = prepared.experts
    return [
        _Comparison(algorithm, experts, document[ahead], expert[ahead], largest[ahead], ahead),
        _Comparison(experts, algorithm, expert[behind], document[behind], largest[behind], behind),
    ]


def _check_defined(prepared: PreparedSolution) -> None:
    """The measure has a value, whatever the submission."""
    measure, h = prepared.parameters.measure, prepared.parameters.h
    if measure == "m":
        if not prepared.markups:
            raise HostVisibleError("measure 'm' is not defined: no document has an expert's markup.")
        return
    if not len(prepared.first):
        raise HostVisibleError(f"measure {measure!r} is not defined: no document has markups of two experts.")
    share = {"otar": h, "m_avg": 1.0, "m_opt": 0.0}[measure]
    if not np.nansum(_mix(share, prepared.expert_means[:, 0], prepared.expert_minima)) > 0:
        raise HostVisibleError(f"measure {measure!r} is not defined: the experts' accuracy is 0.")


def _criteria_of(comparisons: Sequence[_Comparison]) -> Floats:
    """The accuracies of pairs of markups at their places, (pairs, criteria)."""
    total = sum(len(comparison.place) for comparison in comparisons)
    values = np.empty((total, len(CRITERIA)))
    done = 0
    for comparison in comparisons:
        for chunk in _chunks(comparison):
            left, right, a, b, largest, place = comparison
            values[place[chunk]] = _compare(left, right, a[chunk], b[chunk], largest[chunk])[0]
            done += len(place[chunk])
            if progress is not None:
                progress(done, total)
    return values


def _chunks(comparison: _Comparison) -> Iterator[slice]:
    """Slices of the pairs that together hold about `CELLS_AT_ONCE` pairs of selections."""
    left, right, a, b, _, _ = comparison
    cells = np.diff(left.first)[a] * np.diff(right.first)[b]
    step = np.cumsum(cells + 1) // CELLS_AT_ONCE
    ends = [*(np.flatnonzero(np.diff(step)) + 1).tolist(), len(a)]
    return (slice(start, end) for start, end in zip([0, *ends[:-1]], ends) if end > start)


def _means(values: Floats, group: Ints, groups: int) -> Floats:
    """Means of the rows of each group, (groups, columns); NaN of a group without rows."""
    number = np.bincount(group, minlength=groups)
    sums = np.stack([np.bincount(group, column, minlength=groups) for column in values.T], axis=1)
    return _ratio(sums, number[:, np.newaxis])


def _maxima(values: Floats, group: Ints, groups: int) -> Floats:
    """Largest value of each group, (groups,); NaN of a group without values."""
    largest = np.full(groups, np.nan)
    np.fmax.at(largest, group, values)
    return largest


def _mix(h: float, average: Floats, extreme: Floats) -> Floats:
    """H·average + (1 - H)·extreme; exactly the one or the other at H = 1 and H = 0."""
    return h * average + (1 - h) * extreme


def _statistics(algorithm: Floats, best: Floats, experts: Floats, worst: Floats) -> Floats:
    """What the corpus measures are made of, as sums over documents.

    Parameters
    ----------
    algorithm : (documents, criteria) float
        Means over the document's experts; NaN without experts.
    best : (documents,) float
        max M(A, E).
    experts, worst : (documents,) float
        Mean and min M(E, E'); NaN with fewer than two experts.

    Returns
    -------
    (documents, 6 + criteria) float
        Whether it has two experts, and of those that do the mean and max M(A, E), the mean and min
        M(E, E'); whether it has an expert, and of those that do all means.
    """
    one, two = ~np.isnan(algorithm[:, 0]), ~np.isnan(experts)
    relative = [np.where(two, values, 0.0) for values in (algorithm[:, 0], best, experts, worst)]
    return np.column_stack([two, *relative, one, np.where(one[:, np.newaxis], algorithm, 0.0)])


def _measures_of(totals: Floats, parameters: _Parameters) -> Floats:
    """The score, OTAR, M_avg, M_opt and all criteria, (n, 4 + criteria), from sums of `_statistics`.

    Examples
    --------
    One document, with M(A, E) of 80 on average and 90 at most, M(E, E') of 75 on average and 60 at least:

    >>> totals = np.array([[1.0, 80, 90, 75, 60, 1, *[80] * 7]])
    >>> _measures_of(totals, _Parameters("document_id", "otar", 0.5))[0, :5].round(3).tolist()
    [125.926, 125.926, 106.667, 150.0, 80.0]
    """
    _, mean, best, experts, worst, number = totals[:, :6].T
    h = parameters.h
    relative = [100 * _ratio(_mix(share, mean, best), _mix(share, experts, worst)) for share in (h, 1.0, 0.0)]
    criteria = _ratio(totals[:, 6:], number[:, np.newaxis])
    values = np.column_stack([*relative, criteria])
    return np.column_stack([values[:, MEASURES.index(parameters.measure)], values])


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """numerator / denominator, NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient


# ---------------------------------------------------------------------------------------------
# What became of every selection
# ---------------------------------------------------------------------------------------------


def _names(numbers: Ints) -> Texts:
    """Names of markups by number: the algorithm is 0, experts count from 1."""
    last = int(numbers.max(initial=0))
    return np.array([ALGORITHM, *(f"expert {number}" for number in range(1, last + 1))], dtype=object)


def _by_subject(evaluation: Evaluation) -> pd.DataFrame:
    """One row per subject: subject, documents, otar, m_avg, m_opt, m."""
    subjects = evaluation.documents["subject"].to_numpy(dtype=object)
    names = [subject for subject in LARGEST_GRADE if subject in set(subjects.tolist())]
    members = np.array([subjects == subject for subject in names], dtype=np.float64)
    values = evaluation.resample(members)
    table = pd.DataFrame(values[:, 1:5], columns=["otar", "m_avg", "m_opt", "m"])
    table.insert(0, "subject", names)
    table.insert(1, "documents", members.sum(axis=1).astype(np.int64))
    return table


class _Side(NamedTuple):
    """One markup of each of some pairs: its columns, rows there, and numbers."""

    columns: _Columns
    markup: Ints
    number: Ints


def _explain(evaluation: Evaluation) -> pd.DataFrame:
    """The rows of `Evaluation.segments`."""
    prepared, algorithm = evaluation.prepared, evaluation.algorithm
    experts, every = prepared.experts, np.arange(len(prepared.documents))
    numbers = {id(experts): prepared.expert_number, id(algorithm): np.zeros_like(every)}
    document_of = {id(experts): prepared.expert_document, id(algorithm): every}
    parts = []
    for comparison in (*evaluation.comparisons, _among_experts(prepared)):
        left, right, a, b, _, _ = comparison
        for chunk in _chunks(comparison):
            found = _match(left, right, a[chunk], b[chunk])
            one = _Side(left, a[chunk], numbers[id(left)][a[chunk]])
            other = _Side(right, b[chunk], numbers[id(right)][b[chunk]])
            document = document_of[id(left)][a[chunk]]
            parts.append(_fates(document, one, other, found, found.first, found.second))
            parts.append(_fates(document, other, one, found, found.second, found.first))
    rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.lexsort([rows[name] for name in ("selection", "against", "markup", "document")])
    frame = pd.DataFrame({name: values[order] for name, values in rows.items()})
    names = _names(prepared.expert_number)
    frame.insert(0, "document_id", np.array(evaluation.items, dtype=object)[frame.pop("document")])
    frame["markup"], frame["against"] = names[frame["markup"]], names[frame["against"]]
    return frame


def _fates(
    document: Ints, own: _Side, other: _Side, found: _Candidates, mine: Ints, theirs: Ints
) -> dict[str, npt.NDArray[Any]]:
    """Every selection on one side of some pairs of markups, with its partner on the other side."""
    first = own.columns.first
    number = np.diff(first)[own.markup]
    first_row = _firsts(number)
    pair = np.repeat(np.arange(len(number)), number)
    item = np.arange(len(pair)) - first_row[pair] + first[own.markup[pair]]
    row = first_row[found.owner] + mine - first[own.markup[found.owner]]
    # Of repeated rows numpy keeps the last assignment: what counts most comes last.
    outcome = np.full(len(item), "no overlap", dtype=object)
    outcome[row] = "too costly"
    outcome[row[found.cost < 2]] = "partner taken"
    outcome[row[found.chosen]] = "matched"
    candidate = np.full(len(item), -1)
    candidate[row[found.chosen]] = np.flatnonzero(found.chosen)
    position = other.columns.position[theirs]
    columns = own.columns
    return {
        "document": document[pair],
        "markup": own.number[pair],
        "against": other.number[pair],
        "selection": columns.position[item],
        "start": columns.start[item],
        "end": columns.end[item],
        "type": columns.type[item],
        "subtype": columns.subtype[item],
        "correction": columns.correction[item],
        "outcome": outcome,
        "partner_selection": np.append(position, -1)[candidate],
        "cost": np.append(found.cost, 1.0)[candidate],
        "jaccard": np.append(found.jaccard, np.nan)[candidate],
        "same_type": np.append(found.same_type, False)[candidate],
        "same_subtype": np.append(found.same_subtype, False)[candidate],
        "same_correction": np.append(found.same_correction, False)[candidate],
    }
