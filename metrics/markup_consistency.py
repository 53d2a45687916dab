"""Consistency of an algorithm's text markup with experts who disagree, as one file to upload to Kaggle.

Several experts mark up the same document, and none of them is the truth.  This file measures how well an
algorithm's markup agrees with theirs, and divides that by how well theirs agree with each other.  It
follows A. Levikin, I. Khabutdinov, A. Grabovoy and K. Vorontsov, "The methodology of multi-criteria
evaluation of text markup models based on inconsistent expert markup" (2025), section 3, whose equations
are given in brackets, and reads in the order in which data passes through it:

    input           (1)-(4)    markups in JSON: elements, fragments, overtexts, tags
    comparison      (6)        F(A, B) = 2|A ∩ B| / (|A| + |B|) of tags, words, characters
    criteria        (13)-(24)  overtexts, then fragments, then elements
    accordance      (8), (9)   who is matched with whom, at each of these levels
    consistency     (7)        C, the weighted average of the criteria
    corpus          (10)-(12)  AMA, EMA, RMA

``consistency`` compares two markups.  ``score`` gives the number of a whole submission, ``evaluate`` the
same with everything behind it, and ``prepare`` digests a solution once for many submissions:

    prepare(solution, "document_id").evaluate(submission).score == score(solution, submission, "document_id")

The criteria, by the names used throughout (a name with a dot is a part of the composite before the dot):

    total                          (7)   C, the weighted average of the six that have no dot
    accordance                     (13)  elements that found a partner
    tags                           (14)  tags of partners
    overtexts                      (15)  .accordance (16), .texts (17), .tags (18)
    fragments                      (19)  .accordance (20), .texts (21), .tags (22), and .overtexts (3.4.4),
                                         which again has .accordance, .texts and .tags
    fragment_text_union            (23)  characters of all fragments of partners, merged
    fragment_tag_union             (24)  tags of all fragments of partners, united

Where the paper is silent, this file decides (each decision has a test):

* Accordance "sum", the default, maximises the sum of the partners' consistencies: the weighted average of
  the criteria that a pair of partners has, all of its level but ``accordance``.  Among equal sums (to
  1e-9) more pairs win; what is still equal is settled by the contents of the markups, so that neither
  their order nor the order within them has an influence.
* Accordance "exact" is literally (9): the accordance that maximises the weighted average itself.  For each
  number of pairs it takes the best accordance of that many pairs, then the best number, and the larger one
  of two equally good.  It may drop a weak pair to raise the average.
* Inner levels come first: overtexts of fragments, fragments and overtexts of elements, elements.  As no
  weight is negative, that is the joint optimum.
* What has nothing in common is never paired.  Elements need a pair of fragments that could be partners, or
  no fragments on either side; fragments need common characters, or are the same empty fragment; overtexts
  need a common word or tag, or have neither words nor tags.
* F(∅, ∅) = 1.  Two empty sets of elements, fragments or overtexts: every criterion is 1.  One empty, or no
  pair: every criterion is 0.
* All weights of a level are equal, but a criterion whose subject occurs nowhere among the experts' markups
  (say, overtexts) has weight 0: it would be 1 everywhere and pull RMA towards 1.  Explicit weights
  override.  The submission has no influence on the weights.
* (10)-(12) average over documents: AMA over those with an expert, EMA and RMA over those with two or more
  experts, RMA over the same documents in numerator and denominator.  (11) runs over unordered pairs.
* Words are runs of letters, digits and underscores in lower case, with ё as е; a bag counts repetitions.
  A lemmatiser can be passed to ``consistency``, ``prepare`` and ``evaluate``.
* Equal objects of one markup are different objects; a repeated tag is one tag.  Tags are compared as they
  are.  Offsets count characters from 0, the end is exclusive.  Unknown keys of the JSON are ignored.
* A markup of the READ//ABLE competition (with "selections") is read as the paper did it: as one element
  whose fragments are the selections, with type and subtype (in lower case) as tags; comments and
  explanations are overtexts, tagged by these words; corrections are not used.

Errors in the submission raise ``ParticipantVisibleError``, whose text depends on the submission alone,
except that it says how many documents are missing and which offsets are beyond a text; errors of the host
(solution, parameters) raise ``HostVisibleError``, which participants never see.

A tool that wants to show progress sets this module's ``progress`` to a function of the number of markup
pairs compared and their total; it is called now and then while the experts are compared with each other
(by ``prepare``), and the algorithm with them (by ``evaluate``).
"""

import functools
import json
import math
import re
import unicodedata
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
    "Consistency",
    "Evaluation",
    "HostVisibleError",
    "Pair",
    "ParticipantVisibleError",
    "PreparedSolution",
    "consistency",
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

# Name of each criterion and the equation or section that defines it.
CRITERIA = {
    "total": "(7)",
    "accordance": "(13)",
    "tags": "(14)",
    "overtexts": "(15)",
    "overtexts.accordance": "(16)",
    "overtexts.texts": "(17)",
    "overtexts.tags": "(18)",
    "fragments": "(19)",
    "fragments.accordance": "(20)",
    "fragments.texts": "(21)",
    "fragments.tags": "(22)",
    "fragments.overtexts": "3.4.4",
    "fragments.overtexts.accordance": "3.4.4",
    "fragments.overtexts.texts": "3.4.4",
    "fragments.overtexts.tags": "3.4.4",
    "fragment_text_union": "(23)",
    "fragment_tag_union": "(24)",
}

# The criteria that each composite one is the weighted average of; all levels have an accordance.
PARTS = {
    "total": (
        "accordance",
        "tags",
        "overtexts",
        "fragments",
        "fragment_text_union",
        "fragment_tag_union",
    ),
    "overtexts": ("overtexts.accordance", "overtexts.texts", "overtexts.tags"),
    "fragments": ("fragments.accordance", "fragments.texts", "fragments.tags", "fragments.overtexts"),
    "fragments.overtexts": (
        "fragments.overtexts.accordance",
        "fragments.overtexts.texts",
        "fragments.overtexts.tags",
    ),
}

MEASURES = ("rma", "ama", "consistency")
ACCORDANCES = ("sum", "exact")

# Sums of consistencies that differ by less count as equal.
TIE = 1e-9

LAST_OFFSET = 1_000_000_000
MOST_ITEMS = 2_000  # elements, fragments and overtexts of one markup; bounds time and memory
CELLS_AT_ONCE = 200_000  # pairs of objects that are compared in one step

# Columns that hold text, whatever it looks like.
TEXT_COLUMNS = ("document_id", "markups", "markup", "text")

# Levels of objects, in the order in which tools count them.
LEVELS = ("element", "element overtext", "fragment", "fragment overtext")

ALGORITHM = "algorithm"

ROWS_SHOWN = 5
CHARACTERS_SHOWN = 40
COLUMNS_SHOWN = 20

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Weights = Mapping[str, float]
Lemmatiser = Callable[[str], str]

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
    measure: str = "rma",
    criterion: str = "total",
    accordance: str = "sum",
    weights: str = "",
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
        "sum" maximises the sum of the partners' consistencies, "exact" the weighted average C itself.
    weights : str
        Weights that differ from the default, as in "tags=2,overtexts=0,fragments.texts=3".

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

    What is wrong, where, and what was expected:

    >>> try:
    ...     score(solution, submission.assign(markup=json.dumps(markup(10, 0, "logic"))), "document_id")
    ... except ParticipantVisibleError as error:
    ...     print(error)
    markup is wrong in 1 row of the submission: document_id A (element 1, fragment 1: start 10 is after end \
0). Expected a markup in JSON, such as '{"elements": [{"fragments": [{"start": 0, "end": 10}]}]}'.
    """
    return evaluate(solution, submission, row_id_column_name, measure, criterion, accordance, weights).score


def evaluate(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "rma",
    criterion: str = "total",
    accordance: str = "sum",
    weights: str = "",
    *,
    lemmatise: Lemmatiser | None = None,
) -> "Evaluation":
    """Score a submission and keep what led to the score.  Parameters and errors are those of `prepare`.

    Returns
    -------
    Evaluation
    """
    prepared = prepare(
        solution, row_id_column_name, measure, criterion, accordance, weights, lemmatise=lemmatise
    )
    return prepared.evaluate(submission)


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "rma",
    criterion: str = "total",
    accordance: str = "sum",
    weights: str = "",
    *,
    lemmatise: Lemmatiser | None = None,
) -> "PreparedSolution":
    """Check a solution and compare its experts with each other once, to score many submissions.

    Parameters
    ----------
    solution, row_id_column_name, measure, criterion, accordance, weights
        Those of `score`.
    lemmatise : function of a word in lower case that returns its lemma
        For the words of overtexts.

    Raises
    ------
    HostVisibleError
        The solution is malformed, a parameter is wrong, or the measure is not defined.
    """
    _check_choice("measure", measure, MEASURES)
    _check_choice("criterion", criterion, tuple(CRITERIA))
    _check_choice("accordance", accordance, ACCORDANCES)
    if criterion != "total" and measure != "consistency":
        raise HostVisibleError(f"criterion is {criterion!r}, which only measure 'consistency' has a use for.")
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns((row_id_column_name, "markups"))
    if solution.empty:
        raise HostVisibleError("the solution has no rows.")
    ids = table.ids()
    lengths = table.lengths()
    markups = table.parse(
        "markups",
        lambda row, value: _read_markups(value, lengths[row]),
        """a list of markups in JSON, such as '[{"elements": [{"fragments": [{"start": 0, "end": 10}]}]}]'""",
    )
    documents = [_Document(*parts) for parts in zip(ids, range(len(ids)), lengths, markups)]
    parameters = _Parameters(
        row_id_column_name, measure, criterion, accordance, _parse_weights(weights), lemmatise
    )
    return _digest(sorted(documents), parameters)


def consistency(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    weights: Weights | None = None,
    accordance: str = "sum",
    lemmatise: Lemmatiser | None = None,
) -> "Consistency":
    """Consistency C(L1, L2) of two markups of the same document (7), with all its criteria.

    Parameters
    ----------
    first, second : dict, as `json.loads` gives it
        Markups of the form that `score` describes.
    weights : dict of criterion to float, at least 0
        Those left out are 1, whatever the markups hold.
    accordance : "sum" or "exact"
    lemmatise : function of a word in lower case that returns its lemma

    Returns
    -------
    Consistency
        Symmetric: with `first` and `second` exchanged, every number is the same, to the last bit.

    Raises
    ------
    ValueError
        A markup is malformed.
    HostVisibleError
        The weights or the accordance are wrong.

    Examples
    --------
    >>> spans = [{"start": 0, "end": 10}, {"start": 20, "end": 30}]
    >>> first = {"elements": [{"tags": ["a", "b"], "fragments": spans}]}
    >>> second = {"elements": [{"tags": ["a"], "fragments": [{"start": 5, "end": 15}]}]}
    >>> result = consistency(first, second)
    >>> [round(value, 4) for value in (result.total, result.accordance, result.tags, result.fragments)]
    [0.7986, 1.0, 0.6667, 0.7917]
    >>> result.parts["fragments.texts"]
    0.5
    >>> [(pair.first, pair.second) for pair in result.pairs[0].fragments]
    [(0, 0)]
    """
    _check_choice("accordance", accordance, ACCORDANCES)
    of_level = dict.fromkeys(CRITERIA, 1.0) | _check_weights(weights or {})
    _check_levels(of_level)
    items = []
    for name, markup in (("first", first), ("second", second)):
        try:
            items.append(_read_markup(markup, None))
        except ValueError as fault:
            raise ValueError(f"the {name} markup: {fault}") from None
    swapped = items[1].key < items[0].key
    left, right = (_columns([item], lemmatise) for item in sorted(items, key=lambda item: item.key))
    none = np.zeros(1, dtype=np.int64)
    compared = _compare(left, right, none, none, of_level, accordance)
    values = {name: float(values[0]) for name, values in compared.criteria.items()}
    return Consistency(
        accordance=values["accordance"],
        tags=values["tags"],
        overtexts=values["overtexts"],
        fragments=values["fragments"],
        fragment_text_union=values["fragment_text_union"],
        fragment_tag_union=values["fragment_tag_union"],
        total=values["total"],
        parts={name: value for name, value in values.items() if "." in name},
        pairs=_partners(compared, left, right, swapped),
    )


class Pair(NamedTuple):
    """Two objects, one of each markup, that the accordance made partners.

    Attributes
    ----------
    first, second : int
        Their positions, from 0, in the lists that hold them: elements, fragments or overtexts.
    consistency : float in [0, 1]
        The weighted average of their criteria, which the accordance "sum" maximises the sum of.
    criteria : dict of str to float
        By name within their level: "tags", "overtexts.texts" … of elements, "texts", "tags", "overtexts" …
        of fragments, "texts" and "tags" of overtexts.
    overtexts, fragments : list of Pair
        The partners among their own overtexts and fragments.
    """

    first: int
    second: int
    consistency: float
    criteria: dict[str, float]
    overtexts: list["Pair"]
    fragments: list["Pair"]


@dataclass(frozen=True)
class Consistency:
    """What `consistency` returns; each number is between 0 and 1.

    Attributes
    ----------
    accordance, tags, overtexts, fragments, fragment_text_union, fragment_tag_union : float
        The criteria (13), (14), (15), (19), (23), (24).
    total : float
        C (7), their weighted average.
    parts : dict of str to float
        The parts of the composite criteria, averaged over the pairs of elements: "overtexts.texts" …
    pairs : list of Pair
        The elements that are partners.
    """

    accordance: float
    tags: float
    overtexts: float
    fragments: float
    fragment_text_union: float
    fragment_tag_union: float
    total: float
    parts: dict[str, float]
    pairs: list[Pair]


class _Parameters(NamedTuple):
    row_id_column_name: str
    measure: str
    criterion: str
    accordance: str
    explicit_weights: dict[str, float]
    lemmatise: Lemmatiser | None


class _Document(NamedTuple):
    """A row of the solution; documents sort by their ids."""

    document_id: str
    row: int
    length: int | None  # of the text, in characters, where it is known
    experts: list["_Item"]


@dataclass(frozen=True, eq=False)
class PreparedSolution:
    """A solution, checked and digested by `prepare`, with the parameters to score against it.

    Attributes
    ----------
    documents : list, by document id
    parameters : those of `prepare`
    weights : dict of criterion to float, the weights in use
    items, experts : the experts' markups, document by document, and the same as columns
    expert_document, expert_number : (experts,) int
        The index of each one's document and its number, from 1, in the document's list.
    first, second : (pairs,) int
        All unordered pairs of experts of the same document.
    expert_criteria : (pairs, criteria) float
        Their criteria, in the order of `CRITERIA`.
    """

    documents: list[_Document]
    parameters: _Parameters
    weights: dict[str, float]
    items: list["_Item"]
    experts: "_Markups"
    expert_document: Ints
    expert_number: Ints
    first: Ints
    second: Ints
    expert_criteria: Floats

    def part(self, rows: Bools) -> "PreparedSolution":
        """What `prepare` makes of some of the solution's rows, (n,) bool, without comparing experts again."""
        row = np.cumsum(rows) - 1
        kept = np.array([rows[document.row] for document in self.documents])
        documents = [
            document._replace(row=int(row[document.row])) for document in self.documents if rows[document.row]
        ]
        criteria = self.expert_criteria[kept[self.expert_document[self.first]]]
        return _digest(documents, self.parameters, (self.weights, criteria))

    def evaluate(self, submission: pd.DataFrame) -> "Evaluation":
        """Score one submission.

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed, or its documents are not those of the solution.
        """
        row_id = self.parameters.row_id_column_name
        table = _Table(submission, "the submission", row_id, ParticipantVisibleError)
        table.check_columns((row_id, "markup"))
        ids = table.ids()
        _check_documents(row_id, ids, {document.document_id for document in self.documents})
        length_of = {document.document_id: document.length for document in self.documents}
        by_row = table.parse(
            "markup",
            lambda row, value: _read_markup(value, length_of[ids[row]]),
            """a markup in JSON, such as '{"elements": [{"fragments": [{"start": 0, "end": 10}]}]}'""",
        )
        by_id = dict(zip(ids, by_row))
        items = [by_id[document.document_id] for document in self.documents]
        algorithm = _columns(items, self.parameters.lemmatise)
        comparisons = _against_experts(self, items, algorithm)
        criteria = _criteria_of(comparisons, self.weights, self.parameters.accordance)
        return Evaluation(self, algorithm, comparisons, criteria)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` returns: the score and everything behind it.

    Attributes
    ----------
    score : float
        The number that `measure` asks for.
    ama, ema, rma : float
        (10), (11), (12); NaN where not defined.
    signature : str
        The version, every parameter and every weight, to print beside the score.
    criteria, documents, pairs, segments : DataFrame
        See the properties.
    histograms : dict of str to dict of str to (n,) array
        The values behind the paper's figures 3 to 5: figure, panel, values.
    tables : dict of str to DataFrame
        Small tables for people, by title.
    notices : list of str
        What a reader of the score should know.
    measures : dict of str to float
        The score, AMA, EMA, RMA and the mean of each criterion, algorithm with experts.
    items : list of str
        The documents that `resample` weighs.
    prepared : PreparedSolution
    algorithm : the algorithm's markups, in the order of the documents
    comparisons : each expert with the algorithm
    algorithm_criteria : (experts, criteria) float
        Each expert's criteria with the algorithm, in the order of `CRITERIA`.
    """

    prepared: PreparedSolution
    algorithm: "_Markups"
    comparisons: list["_Comparison"]
    algorithm_criteria: Floats

    @functools.cached_property
    def _algorithm_means(self) -> Floats:
        """Mean over each document's experts, (documents, criteria); NaN without experts."""
        prepared = self.prepared
        return _means(self.algorithm_criteria, prepared.expert_document, len(prepared.documents))

    @functools.cached_property
    def _expert_means(self) -> Floats:
        """Mean over each document's pairs of experts, (documents, criteria); NaN without pairs."""
        return _expert_means(self.prepared)

    @functools.cached_property
    def _statistics(self) -> Floats:
        """The sufficient statistics of each document, (documents, 6, criteria)."""
        return _statistics(self._algorithm_means, self._expert_means)

    @functools.cached_property
    def _means_of_criteria(self) -> Floats:
        """AMA, EMA and RMA of every criterion, (1, 3, criteria)."""
        return _corpus_means(self._statistics.sum(axis=0, keepdims=True))

    @property
    def ama(self) -> float:
        """Average accuracy of the algorithm's markups (10)."""
        return float(self._means_of_criteria[0, 0, 0])

    @property
    def ema(self) -> float:
        """Average accuracy of the experts' markups (11)."""
        return float(self._means_of_criteria[0, 1, 0])

    @property
    def rma(self) -> float:
        """Relative accuracy of the algorithm's markups (12)."""
        return float(self._means_of_criteria[0, 2, 0])

    @property
    def score(self) -> float:
        """The number that `measure` asks for."""
        return float(_score_of(self._means_of_criteria, self.prepared.parameters)[0])

    @property
    def signature(self) -> str:
        """The name and version of the metric, every parameter and weight, as ``name:value`` joined by ``|``."""
        parameters = self.prepared.parameters
        weights = ",".join(f"{name}={weight:g}" for name, weight in self.prepared.weights.items())
        parts = {
            "metric": "markup_consistency",
            "version": __version__,
            "measure": parameters.measure,
            "criterion": parameters.criterion,
            "accordance": parameters.accordance,
            "weights": weights,
            "lemmatiser": "none" if parameters.lemmatise is None else "custom",
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items())

    @property
    def criteria(self) -> pd.DataFrame:
        """One row per criterion: criterion, equation, weight, ama, ema, rma (of this criterion)."""
        ama, ema, rma = self._means_of_criteria[0]
        weight = [self.prepared.weights.get(name, np.nan) for name in CRITERIA]
        return pd.DataFrame(
            {
                "criterion": list(CRITERIA),
                "equation": list(CRITERIA.values()),
                "weight": weight,
                "ama": ama,
                "ema": ema,
                "rma": rma,
            }
        )

    @functools.cached_property
    def documents(self) -> pd.DataFrame:
        """One row per document: document_id, experts, ama, ema, rma and, of each criterion, two means.

        ``algorithm.NAME`` is the mean over the document's experts, ``experts.NAME`` over its pairs of
        experts; both are NaN where there are none.
        """
        number = len(self.prepared.documents)
        algorithm, experts = self._algorithm_means, self._expert_means
        columns = {
            "document_id": self.items,
            "experts": np.bincount(self.prepared.expert_document, minlength=number),
            "ama": algorithm[:, 0],
            "ema": experts[:, 0],
            "rma": _ratio(algorithm[:, 0], experts[:, 0]),
        }
        columns |= {f"algorithm.{name}": algorithm[:, n] for n, name in enumerate(CRITERIA)}
        columns |= {f"experts.{name}": experts[:, n] for n, name in enumerate(CRITERIA)}
        return pd.DataFrame(columns)

    @functools.cached_property
    def pairs(self) -> pd.DataFrame:
        """One row per pair of markups: document_id, first, second, and every criterion by name.

        ``first`` and ``second`` are "algorithm" or "expert 1", "expert 2" …, in the order of the solution's
        list.
        """
        prepared = self.prepared
        names = np.array([f"expert {number}" for number in prepared.expert_number.tolist()], dtype=object)
        ids = np.array(self.items, dtype=object)[prepared.expert_document]
        low, high = _in_list_order(prepared)
        keys = pd.DataFrame(
            {
                "document_id": np.concatenate([ids, ids[low]]),
                "first": np.concatenate([np.full(len(names), ALGORITHM, dtype=object), names[low]]),
                "second": np.concatenate([names, names[high]]),
            }
        )
        values = np.concatenate([self.algorithm_criteria, prepared.expert_criteria])
        frame = pd.concat([keys, pd.DataFrame(values, columns=list(CRITERIA))], axis=1)
        place = np.concatenate([prepared.expert_document, prepared.expert_document[low]])
        second = np.concatenate([prepared.expert_number, prepared.expert_number[high]])
        first = np.concatenate([np.zeros(len(names), dtype=np.int64), prepared.expert_number[low]])
        return frame.iloc[np.lexsort((second, first, place))].reset_index(drop=True)

    @functools.cached_property
    def segments(self) -> pd.DataFrame:
        """One row per object of a markup and other markup of its document: what became of it there.

        Columns
        -------
        document_id
        markup, against : the object's markup and the one compared with: "algorithm", "expert 1" …
        level : "element", "element overtext", "fragment" or "fragment overtext"
        element, fragment, overtext : positions, from 0, in the JSON; -1 where the object lies in none
        start, end : offsets of a fragment; -1 of the others
        outcome : "matched" or "unmatched"; what lies within an unmatched object is unmatched
        partner_element, partner_fragment, partner_overtext : likewise; -1 where unmatched
        consistency : of the two partners, the worth that the accordance gave their pair; NaN where unmatched
        """
        return _explain(self)

    @property
    def roles(self) -> dict[str, str]:
        """Which column of `segments` holds the item, the label and the outcome."""
        return {"item": "document_id", "label": "level", "outcome": "outcome"}

    @property
    def histograms(self) -> dict[str, dict[str, Floats]]:
        """Figures of the paper: criteria among experts (3), with the algorithm (4), AMA and RMA (5).

        Criteria of weight 0 are left out; so are documents whose AMA or RMA is not defined.
        """
        names = _weighed(self.prepared.weights)
        numbers = [(name, number) for number, name in enumerate(CRITERIA) if name in names]
        documents = self.documents
        return {
            "Criteria among experts": {
                name: self.prepared.expert_criteria[:, number] for name, number in numbers
            },
            "Criteria, algorithm with an expert": {
                name: self.algorithm_criteria[:, number] for name, number in numbers
            },
            "Documents": {
                title: documents[title.lower()].dropna().to_numpy(dtype=np.float64) for title in ("AMA", "RMA")
            },
        }

    @property
    def items(self) -> list[str]:
        """Ids of the documents."""
        return [document.document_id for document in self.prepared.documents]

    @property
    def measures(self) -> dict[str, float]:
        """The score, AMA, EMA, RMA, and each criterion's mean, algorithm with experts."""
        names = ["score", "AMA", "EMA", "RMA", *list(CRITERIA)[1:]]
        values = self._named(self._means_of_criteria)
        return dict(zip(names, values[0].tolist()))

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
        totals = np.tensordot(np.asarray(weights, dtype=np.float64), self._statistics, 1)
        return self._named(_corpus_means(totals))

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
        totals = [
            np.tensordot(1 - share, self._statistics, 1) + np.tensordot(share, other._statistics, 1)
            for share in (theirs, 1 - theirs)
        ]
        mine, others = (self._named(_corpus_means(total)) for total in totals)
        return mine, others

    def _named(self, means: Floats) -> Floats:
        """(n, measures) from (n, 3, criteria)."""
        score = _score_of(means, self.prepared.parameters)
        return np.concatenate([score[:, np.newaxis], means[:, :, 0], means[:, 0, 1:]], axis=1)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The criteria, and the documents by their number of experts."""
        return {"Criteria": self.criteria, "Documents": _by_number_of_experts(self.documents)}

    @property
    def notices(self) -> list[str]:
        """Documents left out, and criteria without weight."""
        experts = self.documents["experts"]
        notices = []
        if (experts == 0).any():
            number = _counted(int((experts == 0).sum()), "document")
            notices.append(f"{number} without expert, left out everywhere")
        if (experts == 1).any():
            number = _counted(int((experts == 1).sum()), "document")
            notices.append(f"{number} with one expert, left out of EMA and RMA")
        absent = [name for name, weight in self.prepared.weights.items() if weight == 0]
        if absent:
            notices.append(f"criteria of weight 0: {', '.join(absent)}")
        return notices


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise HostVisibleError(f"{name} is {_quoted(value)}; expected one of {', '.join(choices)}.")


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
        ``document_id``, ``text`` where every document has one, and ``markups``.

    Raises
    ------
    HostVisibleError
        A file is not what it should be.
    """
    documents = _read_documents(Path(path), True, HostVisibleError)
    frame = documents[["document_id", "text", "markups"]]
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
        shown = [_quoted(text) for text in lacking[:ROWS_SHOWN]]
        number = _counted(len(lacking), "document")
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

        * a document: ``{"id": …, "text": …, "markups": […], "markup": {…}}``, where ``markups`` are the
          experts' unless they say ``"isExpert": false``, and ``markup`` is the algorithm's;
        * an essay as the READ//ABLE competition's program takes it, ``{"essay": {…}}``, a document with
          its id, text and markups inside;
        * one markup, with ``elements`` or ``selections``: an expert's unless it says ``"isExpert": false``
          or its ``meta`` has an empty ``expert``; several such files may belong to one document.

        The document's id is ``id`` or ``document_id``, else ``meta.id``, else the file's name.

    Returns
    -------
    DataFrame
        ``document_id``, ``text`` (None where unknown), ``markups`` (JSON, the list of the experts' markups)
        and ``markup`` (JSON, the algorithm's; None where there is none), by document id.

    Raises
    ------
    HostVisibleError
        A file is not what it should be.
    """
    return _read_documents(Path(path), True, HostVisibleError)


class _Gathered(NamedTuple):
    """What the files said about a document so far."""

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
    for document_id, (texts, _, algorithms) in documents.items():
        if len(texts) > 1:
            raise error(f"document {_quoted(document_id)} has different texts in different files.")
        if len(algorithms) > 1:
            raise error(f"document {_quoted(document_id)} has {len(algorithms)} algorithm's markups.")
    rows = [
        (document_id, *texts, *[None] * (1 - len(texts)), _dump(experts), *map(_dump, algorithms or [None]))
        for document_id, (texts, experts, algorithms) in sorted(documents.items())
    ]
    return pd.DataFrame(rows, columns=["document_id", "text", "markups", "markup"], dtype=object)


def _dump(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _gather(content: Any, name: str, expert: bool, documents: dict[str, _Gathered]) -> None:
    """Add what one file holds to what is known of its document."""
    content = _object(content, "the file")
    content = _object(content.get("essay", content), "essay")
    meta = _object(content.get("meta") or {}, "meta")
    ids = (content.get("id"), content.get("document_id"), meta.get("id"))
    document_id = next((_as_text(value) for value in ids if value not in (None, "")), name)
    texts, experts, algorithms = documents.setdefault(document_id, _Gathered(set(), [], []))
    if content.get("text") is not None:
        texts.add(_text(content["text"], "text"))
    if "elements" in content or "selections" in content:
        says = bool(meta["expert"]) if "expert" in meta else expert
        (experts if content.get("isExpert", says) else algorithms).append(content)
    elif "markups" in content or "markup" in content:
        for markup in _list(content, "markups", "the file"):
            is_expert = _object(markup, "a markup").get("isExpert", True)
            (experts if is_expert else algorithms).append(markup)
        if content.get("markup") is not None:
            algorithms.append(content["markup"])
    else:
        raise ValueError("expected a document with markups, an essay, or a markup with elements or selections")


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
        """Every required column is there once."""
        found = [str(name) for name in self.frame.columns]
        lacking = [name for name in dict.fromkeys(required) if name not in found]
        if lacking:
            raise self.error(
                f"{self.name} lacks columns: {', '.join(lacking)}. "
                f"It has: {_listed([_short(name) for name in found[:COLUMNS_SHOWN]], len(found))}."
            )
        repeated = [name for name in (*required, "text") if found.count(name) > 1]
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

    def lengths(self) -> list[int | None]:
        """Length of each document's text, None without a column for it."""
        if "text" not in self.frame:
            return [None] * len(self.frame)
        texts = self.frame["text"]
        missing = np.flatnonzero(texts.isna()).tolist()
        self.check("text", dict.fromkeys(missing, "missing"), "a text in every row")
        return [len(text) for text in _cells(texts)]

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
# Input: markups (1)-(4)
# ---------------------------------------------------------------------------------------------


class _Item(NamedTuple):
    """A markup, element, fragment or overtext, with what it holds in the order of content.

    The key is the whole content, without any position: equal keys are equal in every comparison, so an
    order by keys is independent of the order of the file.
    """

    key: Any
    position: int
    overtexts: tuple["_Item", ...] = ()
    fragments: tuple["_Item", ...] = ()
    elements: tuple["_Item", ...] = ()


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


def _read_markups(value: Any, length: int | None) -> list[_Item]:
    """The markups of a document's experts."""
    if not isinstance(value, list):
        raise ValueError(f"{_kind(value)} instead of a list of markups")
    items = []
    for number, markup in enumerate(value, 1):
        try:
            items.append(_read_markup(markup, length)._replace(position=number))
        except ValueError as fault:
            raise ValueError(f"markup {number}, {fault}") from None
    return sorted(items, key=lambda item: (item.key, item.position))


def _read_markup(value: Any, length: int | None) -> _Item:
    """A markup; `length` is that of its text, where it is known."""
    markup = _object(value, "the markup")
    if "selections" in markup and "elements" not in markup:
        markup = _from_selections(markup)
    if "elements" not in markup:
        raise ValueError("the markup has no elements")
    elements = _in_order(
        _read_element(element, number, length)
        for number, element in enumerate(_list(markup, "elements", "the markup"))
    )
    items = len(elements)
    for element in elements:
        items += len(element.overtexts) + len(element.fragments)
        items += sum(len(fragment.overtexts) for fragment in element.fragments)
    if items > MOST_ITEMS:
        raise ValueError(
            f"{items:,} elements, fragments and overtexts; at most {MOST_ITEMS:,} are allowed in a markup"
        )
    return _Item(tuple(element.key for element in elements), 0, elements=elements)


def _from_selections(markup: Mapping[str, Any]) -> dict[str, Any]:
    """A READ//ABLE markup in the general form: one element whose fragments are the selections."""
    fragments = []
    for number, value in enumerate(_list(markup, "selections", "the markup"), 1):
        where = f"selection {number}"
        selection = _object(value, where)
        codes = [_text_of(selection, name, where).casefold() for name in ("type", "subtype")]
        notes = [(_text_of(selection, name, where), name) for name in ("comment", "explanation")]
        fragments.append(
            {
                "start": selection.get("startSelection"),
                "end": selection.get("endSelection"),
                "tags": [code for code in codes if code],
                "overtexts": [{"comment": note, "tags": [name]} for note, name in notes if note],
            }
        )
    return {"elements": [{"fragments": fragments}] if fragments else []}


def _in_order(items: Iterable[_Item]) -> tuple[_Item, ...]:
    return tuple(sorted(items, key=lambda item: item.key))


def _read_element(value: Any, position: int, length: int | None) -> _Item:
    where = f"element {position + 1}"
    element = _object(value, where)
    tags = _tags(element, where)
    overtexts = _read_overtexts(element, where)
    fragments = _in_order(
        _read_fragment(fragment, number, f"{where}, fragment {number + 1}", length)
        for number, fragment in enumerate(_list(element, "fragments", where))
    )
    key = (tags, tuple(item.key for item in overtexts), tuple(item.key for item in fragments))
    return _Item(key, position, overtexts, fragments)


def _read_fragment(value: Any, position: int, where: str, length: int | None) -> _Item:
    fragment = _object(value, where)
    start, end = _offset(fragment, "start", where), _offset(fragment, "end", where)
    if start > end:
        raise ValueError(f"{where}: start {start} is after end {end}")
    if length is not None and end > length:
        raise ValueError(f"{where}: end {end} is beyond the text")
    tags = _tags(fragment, where)
    overtexts = _read_overtexts(fragment, where)
    return _Item((start, end, tags, tuple(item.key for item in overtexts)), position, overtexts)


def _read_overtexts(holder: Mapping[str, Any], where: str) -> tuple[_Item, ...]:
    return _in_order(
        _read_overtext(overtext, number, f"{where}, overtext {number + 1}")
        for number, overtext in enumerate(_list(holder, "overtexts", where))
    )


def _read_overtext(value: Any, position: int, where: str) -> _Item:
    overtext = _object(value, where)
    return _Item((_text_of(overtext, "comment", where), _tags(overtext, where)), position)


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


def _tags(holder: Mapping[str, Any], where: str) -> tuple[str, ...]:
    return tuple(sorted({_text(tag, f"{where}: a tag") for tag in _list(holder, "tags", where)}))


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


# ---------------------------------------------------------------------------------------------
# Weights (7)
# ---------------------------------------------------------------------------------------------


def _parse_weights(text: str) -> dict[str, float]:
    """The weights that a comma-separated list of NAME=NUMBER gives."""
    weights: dict[str, float] = {}
    for part in text.split(",") if text.strip() else []:
        name, equals, number = part.partition("=")
        name = name.strip()
        if not equals or name in weights:
            raise HostVisibleError(
                f"weights is {_quoted(text)}; expected NAME=NUMBER, each name once, separated by commas."
            )
        try:
            weights[name] = float(number)
        except ValueError:
            raise HostVisibleError(f"the weight of {name} is {_quoted(number)}; expected a number.") from None
    return _check_weights(weights)


def _check_weights(weights: Weights) -> dict[str, float]:
    for name, weight in weights.items():
        if name not in CRITERIA or name == "total":
            raise HostVisibleError(
                f"there is no weight {_quoted(name)}; expected one of {', '.join(list(CRITERIA)[1:])}."
            )
        if not 0 <= weight < math.inf:
            raise HostVisibleError(f"the weight of {name} is {weight}; expected a number of at least 0.")
    return {name: float(weight) for name, weight in weights.items()}


def _check_levels(weights: Weights) -> None:
    for level, names in PARTS.items():
        if not sum(weights[name] for name in names) > 0:
            raise HostVisibleError(f"the weights of {', '.join(names)}, the parts of {level}, are all 0.")


def _weights_in_use(experts: "_Markups", explicit: Weights) -> dict[str, float]:
    """One, but zero for criteria whose subject occurs nowhere among the experts; then the explicit ones."""
    sizes = experts.set_sizes
    fragment_overtexts, element_overtexts = experts.fragment_overtexts, experts.element_overtexts
    occurs: dict[str, bool | np.bool_] = {
        "tags": sizes[experts.element_tags].any(),
        "overtexts": len(element_overtexts.bag) > 0,
        "overtexts.texts": sizes[element_overtexts.bag].any(),
        "overtexts.tags": sizes[element_overtexts.tags].any(),
        "fragments": len(experts.fragment_start) > 0,
        "fragments.texts": (experts.fragment_end > experts.fragment_start).any(),
        "fragments.tags": sizes[experts.fragment_tags].any(),
        "fragments.overtexts": len(fragment_overtexts.bag) > 0,
        "fragments.overtexts.texts": sizes[fragment_overtexts.bag].any(),
        "fragments.overtexts.tags": sizes[fragment_overtexts.tags].any(),
    }
    occurs["fragment_text_union"] = occurs["fragments.texts"]
    occurs["fragment_tag_union"] = occurs["fragments.tags"]
    weights = {name: float(occurs.get(name, True)) for name in CRITERIA if name != "total"}
    weights |= explicit
    _check_levels(weights)
    return weights


def _weighed(weights: Weights) -> set[str]:
    """The criteria that have an influence: their weight and that of all above them is positive."""
    names = {"total"}
    for level, parts in PARTS.items():
        if level in names:
            names |= {name for name in parts if weights[name] > 0}
    return names


def _blend(criteria: Mapping[str, Floats], names: Sequence[str], weights: Sequence[float]) -> Floats:
    """Weighted average of some criteria; exactly 1 where all of them are 1."""
    # One after the other, so that a value never depends on how many others are computed beside it.
    total: Floats = np.zeros_like(criteria[names[0]])
    for name, weight in zip(names, weights):
        total += criteria[name] * weight
    average: Floats = total / sum(weights)
    return average


# ---------------------------------------------------------------------------------------------
# Markups as columns
# ---------------------------------------------------------------------------------------------


class _Overtexts(NamedTuple):
    """Overtexts of all elements, or of all fragments.

    ``first`` (holders + 1,): those of holder k are first[k] to first[k + 1].  ``bag`` and ``tags``: numbers
    of sets.  ``position``: in the holder's list.
    """

    first: Ints
    bag: Ints
    tags: Ints
    position: Ints


class _Markups(NamedTuple):
    """Many markups, as columns of their elements, fragments and overtexts in the order of content.

    A column ``…_first`` of n + 1 numbers says where each of n holders' objects start in the columns below;
    tags and bags of words are numbers of `sets`, and number 0 is the empty set.
    """

    element_first: Ints  # by markup
    fragment_of_markup_first: Ints  # by markup
    element_tags: Ints
    element_tag_union: Ints
    element_length: Ints  # characters of the element's fragments, merged
    element_position: Ints
    element_overtexts: _Overtexts
    fragment_first: Ints  # by element
    fragment_element: Ints
    fragment_start: Ints
    fragment_end: Ints
    fragment_tags: Ints
    fragment_position: Ints
    fragment_overtexts: _Overtexts
    interval_first: Ints  # by element; intervals are the element's fragments, merged
    interval_start: Ints
    interval_end: Ints
    sets: list[frozenset[Any]]
    set_sizes: Ints


def _columns(markups: Sequence[_Item], lemmatise: Lemmatiser | None) -> _Markups:
    """Lay markups out as columns."""
    numbers: dict[frozenset[Any], int] = {frozenset(): 0}

    def number(members: frozenset[Any]) -> int:
        return numbers.setdefault(members, len(numbers))

    @functools.cache
    def tags(names: tuple[str, ...]) -> int:
        return number(frozenset(names))

    @functools.cache
    def bag(comment: str) -> int:
        return number(_bag_of_words(comment, lemmatise))

    elements = [element for markup in markups for element in markup.elements]
    fragments = [fragment for element in elements for fragment in element.fragments]
    intervals = [_merge(fragment.key[:2] for fragment in element.fragments) for element in elements]
    element_first = _firsts(len(markup.elements) for markup in markups)
    fragment_first = _firsts(len(element.fragments) for element in elements)
    tag_unions = [
        number(frozenset().union(*(fragment.key[2] for fragment in element.fragments))) for element in elements
    ]

    def overtexts(holders: Sequence[_Item]) -> _Overtexts:
        all_of_them = [overtext for holder in holders for overtext in holder.overtexts]
        return _Overtexts(
            _firsts(len(holder.overtexts) for holder in holders),
            _ints(bag(overtext.key[0]) for overtext in all_of_them),
            _ints(tags(overtext.key[1]) for overtext in all_of_them),
            _ints(overtext.position for overtext in all_of_them),
        )

    return _Markups(
        element_first=element_first,
        fragment_of_markup_first=fragment_first[element_first],
        element_tags=_ints(tags(element.key[0]) for element in elements),
        element_tag_union=_ints(tag_unions),
        element_length=_ints(sum(end - start for start, end in spans) for spans in intervals),
        element_position=_ints(element.position for element in elements),
        element_overtexts=overtexts(elements),
        fragment_first=fragment_first,
        fragment_element=np.repeat(np.arange(len(elements)), np.diff(fragment_first)),
        fragment_start=_ints(fragment.key[0] for fragment in fragments),
        fragment_end=_ints(fragment.key[1] for fragment in fragments),
        fragment_tags=_ints(tags(fragment.key[2]) for fragment in fragments),
        fragment_position=_ints(fragment.position for fragment in fragments),
        fragment_overtexts=overtexts(fragments),
        interval_first=_firsts(map(len, intervals)),
        interval_start=_ints(start for spans in intervals for start, _ in spans),
        interval_end=_ints(end for spans in intervals for _, end in spans),
        sets=list(numbers),
        set_sizes=_ints(map(len, numbers)),
    )


def _ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def _firsts(sizes: Iterable[int]) -> Ints:
    """Where each holder's objects start, and where the last one's end."""
    return np.concatenate([[0], np.cumsum(_ints(sizes))])


def _bag_of_words(comment: str, lemmatise: Lemmatiser | None) -> frozenset[tuple[str, int]]:
    """The multiset of a comment's words, as the set of (word, how often it occurred before).

    Examples
    --------
    >>> sorted(_bag_of_words("Ёж и ещё еж", None))
    [('еж', 0), ('еж', 1), ('еще', 0), ('и', 0)]
    """
    words = re.findall(r"\w+", unicodedata.normalize("NFC", comment).lower())
    if lemmatise is not None:
        words = [lemmatise(word).lower() for word in words]
    seen: dict[str, int] = {}
    bag = []
    for word in words:
        word = word.replace("ё", "е")
        seen[word] = seen.get(word, -1) + 1
        bag.append((word, seen[word]))
    return frozenset(bag)


def _merge(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Disjoint intervals that cover the same characters as ascending spans do.

    Examples
    --------
    >>> _merge([(0, 5), (3, 8), (8, 9), (12, 12), (20, 30)])
    [(0, 9), (20, 30)]
    """
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


# ---------------------------------------------------------------------------------------------
# Criteria (13)-(24)
# ---------------------------------------------------------------------------------------------


class _Level(NamedTuple):
    """The candidates for pairs at one level, and what became of them.

    ``owner``: the pair, one level up, of those that hold the two; ``first`` and ``second``: the two objects,
    rows of the left and the right columns; ``criteria``: of each pair; ``averages``: over the chosen pairs,
    of each owner, with the accordance.
    """

    owner: Ints
    first: Ints
    second: Ints
    consistency: Floats
    criteria: dict[str, Floats]
    chosen: Bools
    averages: dict[str, Floats]


class _Compared(NamedTuple):
    """Pairs of markups, compared: their criteria, (n,) each, and the levels below."""

    criteria: dict[str, Floats]
    elements: _Level
    element_overtexts: _Level  # owners: candidates of elements
    fragments: _Level  # owners: candidates of elements
    fragment_overtexts: _Level  # owners: candidates of fragments


def _f(common: npt.NDArray[Any], total: npt.NDArray[Any]) -> Floats:
    """F = 2|A ∩ B| / (|A| + |B|) (6), and 1 for two empty sets."""
    share: Floats = np.divide(2.0 * common, total, out=np.ones(len(total)), where=total > 0)
    return share


def _compare(left: _Markups, right: _Markups, a: Ints, b: Ints, weights: Weights, accordance: str) -> _Compared:
    """Compare markup a[k] of `left` with markup b[k] of `right`, for each k; no pair may be repeated."""
    # Fragments with common characters, and empty ones at the same place.
    markup, i, j = _cross(left.fragment_of_markup_first, a, right.fragment_of_markup_first, b)
    start = np.maximum(left.fragment_start[i], right.fragment_start[j])
    end = np.minimum(left.fragment_end[i], right.fragment_end[j])
    length = left.fragment_end[i] - left.fragment_start[i] + right.fragment_end[j] - right.fragment_start[j]
    keep = np.flatnonzero((start < end) | ((start == end) & (length == 0)))
    markup, i, j = markup[keep], i[keep], j[keep]
    texts = _f((end - start)[keep], length[keep])

    # Elements with such fragments, and those without any.
    element_markup, p, q = _cross(left.element_first, a, right.element_first, b)
    columns = np.diff(right.element_first)[b]
    first_cell = _firsts(np.diff(left.element_first)[a] * columns)
    cell = (
        first_cell[markup]
        + (left.fragment_element[i] - left.element_first[a[markup]]) * columns[markup]
        + (right.fragment_element[j] - right.element_first[b[markup]])
    )
    fragments_of_left, fragments_of_right = np.diff(left.fragment_first), np.diff(right.fragment_first)
    candidate = fragments_of_left[p] + fragments_of_right[q] == 0
    candidate[cell] = True
    owner = (np.cumsum(candidate) - 1)[cell]
    element_markup, p, q = element_markup[candidate], p[candidate], q[candidate]

    of_fragments = left.fragment_overtexts, right.fragment_overtexts
    fragment_overtexts = _match_overtexts(
        left, right, *of_fragments, i, j, "fragments.overtexts", weights, accordance
    )
    common_tags, tags = _common(left, right, left.fragment_tags[i], right.fragment_tags[j])
    fragments = _match(
        owner,
        i,
        j,
        {"texts": texts, "tags": _f(common_tags, tags)} | _composite("overtexts", fragment_overtexts),
        "fragments",
        weights,
        fragments_of_left[p],
        fragments_of_right[q],
        accordance,
    )
    of_elements = left.element_overtexts, right.element_overtexts
    element_overtexts = _match_overtexts(left, right, *of_elements, p, q, "overtexts", weights, accordance)
    elements = _match(
        element_markup,
        p,
        q,
        {"tags": _f(*_common(left, right, left.element_tags[p], right.element_tags[q]))}
        | _composite("overtexts", element_overtexts)
        | _composite("fragments", fragments)
        | {
            "fragment_text_union": _text_unions(left, right, p, q),
            "fragment_tag_union": _f(
                *_common(left, right, left.element_tag_union[p], right.element_tag_union[q])
            ),
        },
        "total",
        weights,
        np.diff(left.element_first)[a],
        columns,
        accordance,
    )
    criteria = {name: elements.averages[name] for name in CRITERIA}
    return _Compared(criteria, elements, element_overtexts, fragments, fragment_overtexts)


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


def _common(left: _Markups, right: _Markups, i: Ints, j: Ints) -> tuple[Ints, Ints]:
    """Number of common members of sets i of `left` and j of `right`, and the sum of their sizes."""
    pair, inverse = np.unique(i * len(right.sets) + j, return_inverse=True)
    numbers = (divmod(key, len(right.sets)) for key in pair.tolist())
    common = _ints(len(left.sets[m] & right.sets[n]) for m, n in numbers)
    return common[inverse], left.set_sizes[i] + right.set_sizes[j]


def _text_unions(left: _Markups, right: _Markups, p: Ints, q: Ints) -> Floats:
    """(23) of each pair of elements."""
    pair, i, j = _cross(left.interval_first, p, right.interval_first, q)
    start = np.maximum(left.interval_start[i], right.interval_start[j])
    end = np.minimum(left.interval_end[i], right.interval_end[j])
    common = np.bincount(pair, np.maximum(end - start, 0), minlength=len(p))
    return _f(common, left.element_length[p] + right.element_length[q])


def _match_overtexts(
    left: _Markups,
    right: _Markups,
    left_overtexts: _Overtexts,
    right_overtexts: _Overtexts,
    a: Ints,
    b: Ints,
    level: str,
    weights: Weights,
    accordance: str,
) -> _Level:
    """(16)-(18) of the overtexts of holders a[k] and b[k], for each k."""
    owner, i, j = _cross(left_overtexts.first, a, right_overtexts.first, b)
    common_words, words = _common(left, right, left_overtexts.bag[i], right_overtexts.bag[j])
    common_tags, tags = _common(left, right, left_overtexts.tags[i], right_overtexts.tags[j])
    keep = np.flatnonzero((common_words + common_tags > 0) | (words + tags == 0))
    criteria = {"texts": _f(common_words, words)[keep], "tags": _f(common_tags, tags)[keep]}
    sizes = np.diff(left_overtexts.first)[a], np.diff(right_overtexts.first)[b]
    return _match(owner[keep], i[keep], j[keep], criteria, level, weights, *sizes, accordance)


def _match(
    owner: Ints,
    first: Ints,
    second: Ints,
    criteria: dict[str, Floats],
    level: str,
    weights: Weights,
    rows: Ints,
    columns: Ints,
    accordance: str,
) -> _Level:
    """Choose among candidates for pairs and average over the chosen ones.

    Parameters
    ----------
    owner : (n,) int, ascending or not
    first, second : (n,) int, the two objects; ascending within each owner
    criteria : of each candidate, (n,) each, by their name within the level
    level : name of the composite criterion, a key of `PARTS`
    rows, columns : (owners,) int, how many objects each owner's two sides have
    """
    names = [name.removeprefix(f"{level}.") for name in PARTS[level]]
    of_level = [weights[name] for name in PARTS[level]]
    of_pairs = sum(of_level[1:])
    consistency = _blend(criteria, names[1:], of_level[1:]) if of_pairs else np.zeros(len(owner))
    chosen: Bools
    if accordance == "sum":
        chosen = _best_sum(owner, first, second, consistency)
    else:
        share = of_level[0] / sum(of_level)
        chosen = _best_average(owner, first, second, consistency, rows + columns, share)
    of_chosen = owner[chosen]
    pairs = np.bincount(of_chosen, minlength=len(rows))
    empty = rows + columns == 0
    averages = {"accordance": _f(pairs, rows + columns)}
    for name, values in criteria.items():
        sums = np.bincount(of_chosen, values[chosen], minlength=len(rows))
        averages[name] = np.where(empty, 1.0, sums / np.maximum(pairs, 1))
    averages[level] = _blend(averages, names, of_level)
    return _Level(owner, first, second, consistency, criteria, chosen, averages)


def _composite(name: str, level: _Level) -> dict[str, Floats]:
    """A level's averages as criteria of its owners: the composite by `name`, its parts by names with a dot."""
    *parts, (_, composite) = level.averages.items()
    return {name: composite} | {f"{name}.{part}": values for part, values in parts}


# ---------------------------------------------------------------------------------------------
# Optimal accordance (8), (9)
# ---------------------------------------------------------------------------------------------


def _best_sum(owner: Ints, first: Ints, second: Ints, worth: Floats) -> Bools:
    """Which candidates form, for each owner, the one-to-one accordance of the largest sum of worth.

    Candidates fall into components that share no object; those of one candidate need no choice.  The rest
    are small assignment problems.  A bonus of `TIE` per pair prefers more pairs among equal sums.

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
        matrix[r, c] = worth[candidates] + TIE
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


def _best_average(owner: Ints, first: Ints, second: Ints, worth: Floats, objects: Ints, share: float) -> Bools:
    """Which candidates form, for each owner, the accordance of the largest weighted average (9).

    That is share·2q/n + (1 - share)·S/q for q pairs of the sum S, where n is the number of objects of both
    sides, (owners,), and `share` the weight of the accordance.

    Examples
    --------
    A weak second pair lowers the average by more than the better accordance is worth:

    >>> zero, pair = np.zeros(2, dtype=np.int64), np.array([0, 1])
    >>> _best_average(zero, pair, pair, np.array([0.9, 0.1]), np.array([4]), 0.25).tolist()
    [True, False]
    >>> _best_average(zero, pair, pair, np.array([0.9, 0.1]), np.array([4]), 0.75).tolist()
    [True, True]
    """
    chosen = np.zeros(len(owner), dtype=bool)
    order = np.argsort(owner, kind="stable")
    for candidates in np.split(order, np.flatnonzero(np.diff(owner[order])) + 1) if len(order) else []:
        n = objects[owner[candidates[0]]]
        best = -math.inf
        for accordance in _best_of_each_size(first[candidates], second[candidates], worth[candidates]):
            pairs = int(accordance.sum())
            average = share * 2 * pairs / n + (1 - share) * worth[candidates][accordance].sum() / pairs
            if average >= best - TIE:
                chosen[candidates] = accordance
                best = max(best, average)
    return chosen


def _best_of_each_size(first: Ints, second: Ints, worth: Floats) -> Iterator[Bools]:
    """The accordance of the largest sum of worth with one pair, with two …, as long as there is one.

    With n rows and q pairs, n - q rows must take one of n - q spare columns: worth more than all pairs
    together, so that all spare columns are taken, which leaves q rows for pairs.
    """
    row = np.unique(first, return_inverse=True)[1]
    column = np.unique(second, return_inverse=True)[1]
    if column.max() < row.max():
        row, column = column, row
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    for pairs in range(1, rows + 1):
        matrix = np.full((rows, columns + rows - pairs), float(rows + 1))
        matrix[:, :columns] = -float(rows + 1)
        matrix[row, column] = worth
        partner = linear_sum_assignment(matrix, maximize=True)[1]
        chosen: Bools = partner[row] == column
        if chosen.sum() < pairs:
            return
        yield chosen


def _partners(compared: _Compared, left: _Markups, right: _Markups, swapped: bool) -> list[Pair]:
    """The chosen pairs of one comparison as a tree, in the order of the caller's first markup."""

    def pairs(
        level: _Level,
        positions: tuple[Ints, Ints],
        owner: int | None,
        overtexts: Callable[[int], list[Pair]],
        fragments: Callable[[int], list[Pair]],
    ) -> list[Pair]:
        found = np.flatnonzero(level.chosen if owner is None else level.chosen & (level.owner == owner))
        result = []
        for index in found.tolist():
            ends = int(positions[0][level.first[index]]), int(positions[1][level.second[index]])
            first, second = reversed(ends) if swapped else ends
            criteria = {name: float(values[index]) for name, values in level.criteria.items()}
            worth = float(level.consistency[index])
            result.append(Pair(first, second, worth, criteria, overtexts(index), fragments(index)))
        return sorted(result, key=lambda pair: pair[:2])

    def none(_: int) -> list[Pair]:
        return []

    def overtexts(level: _Level, positions: tuple[Ints, Ints]) -> Callable[[int], list[Pair]]:
        return lambda owner: pairs(level, positions, owner, none, none)

    of_elements = overtexts(
        compared.element_overtexts, (left.element_overtexts.position, right.element_overtexts.position)
    )
    of_fragments = overtexts(
        compared.fragment_overtexts, (left.fragment_overtexts.position, right.fragment_overtexts.position)
    )

    def fragments(owner: int) -> list[Pair]:
        positions = left.fragment_position, right.fragment_position
        return pairs(compared.fragments, positions, owner, of_fragments, none)

    positions = left.element_position, right.element_position
    return pairs(compared.elements, positions, None, of_elements, fragments)


# ---------------------------------------------------------------------------------------------
# The corpus (10)-(12)
# ---------------------------------------------------------------------------------------------


class _Comparison(NamedTuple):
    """Many pairs of markups: the columns of either side, their rows in them, and the pairs' places."""

    left: _Markups
    right: _Markups
    a: Ints
    b: Ints
    place: Ints


def _digest(
    documents: list[_Document], parameters: _Parameters, known: tuple[Weights, Floats] | None = None
) -> PreparedSolution:
    """Prepare documents, sorted; `known` are the criteria of their pairs of experts under some weights."""
    items = [item for document in documents for item in document.experts]
    experts = _columns(items, parameters.lemmatise)
    first_expert = _firsts(len(document.experts) for document in documents)
    every = np.arange(len(documents))
    _, first, second = _cross(first_expert, every, first_expert, every)
    first, second = first[first < second], second[first < second]
    weights = _weights_in_use(experts, parameters.explicit_weights)
    if known is not None and known[0] == weights:
        criteria = known[1]
    else:
        pairs = _Comparison(experts, experts, first, second, np.arange(len(first)))
        criteria = _criteria_of([pairs], weights, parameters.accordance)
    prepared = PreparedSolution(
        documents=documents,
        parameters=parameters,
        weights=weights,
        items=items,
        experts=experts,
        expert_document=np.repeat(every, np.diff(first_expert)),
        expert_number=_ints(item.position for item in items),
        first=first,
        second=second,
        expert_criteria=criteria,
    )
    _check_defined(prepared)
    return prepared


def _check_defined(prepared: PreparedSolution) -> None:
    """The measure has a value, whatever the submission."""
    measure = prepared.parameters.measure
    if measure != "rma":
        if not len(prepared.items):
            raise HostVisibleError(f"measure {measure!r} is not defined: no document has an expert's markup.")
        return
    if not len(prepared.first):
        raise HostVisibleError("measure 'rma' is not defined: no document has markups of two experts.")
    if not np.nansum(_expert_means(prepared)[:, 0]) > 0:
        raise HostVisibleError("measure 'rma' is not defined: the experts have nothing in common.")


def _against_experts(
    prepared: PreparedSolution, items: Sequence[_Item], algorithm: _Markups
) -> list[_Comparison]:
    """Each expert with the algorithm, in the order of contents that makes the comparison symmetric."""
    document = prepared.expert_document
    expert = np.arange(len(document))
    before = np.array(
        [items[d].key <= item.key for d, item in zip(document.tolist(), prepared.items)], dtype=bool
    )
    return [
        _Comparison(algorithm, prepared.experts, document[before], expert[before], expert[before]),
        _Comparison(prepared.experts, algorithm, expert[~before], document[~before], expert[~before]),
    ]


def _criteria_of(comparisons: Sequence[_Comparison], weights: Weights, accordance: str) -> Floats:
    """The criteria of pairs of markups at their places, (pairs, criteria)."""
    total = sum(len(comparison.place) for comparison in comparisons)
    values = np.empty((total, len(CRITERIA)))
    done = 0
    for comparison in comparisons:
        for chunk in _chunks(comparison):
            compared = _compare_chunk(comparison, chunk, weights, accordance)
            values[comparison.place[chunk]] = np.stack(list(compared.criteria.values()), axis=1)
            done += len(comparison.place[chunk])
            if progress is not None:
                progress(done, total)
    return values


def _compare_chunk(comparison: _Comparison, chunk: slice, weights: Weights, accordance: str) -> _Compared:
    left, right, a, b, _ = comparison
    return _compare(left, right, a[chunk], b[chunk], weights, accordance)


def _chunks(comparison: _Comparison) -> Iterator[slice]:
    """Slices of the pairs that together hold about `CELLS_AT_ONCE` pairs of objects."""
    left, right, a, b, _ = comparison
    cells = sum(np.diff(one)[a] * np.diff(other)[b] for one, other in zip(_objects(left), _objects(right)))
    step = np.cumsum(cells + 1) // CELLS_AT_ONCE
    ends = [*(np.flatnonzero(np.diff(step)) + 1).tolist(), len(a)]
    return (slice(start, end) for start, end in zip([0, *ends[:-1]], ends) if end > start)


def _objects(markups: _Markups) -> list[Ints]:
    """Where the objects of each markup start, (markups + 1,), by level."""
    return [
        markups.element_first,
        markups.element_overtexts.first[markups.element_first],
        markups.fragment_of_markup_first,
        markups.fragment_overtexts.first[markups.fragment_of_markup_first],
    ]


def _means(values: Floats, group: Ints, groups: int) -> Floats:
    """Means of the rows of each group, (groups, columns); NaN of a group without rows."""
    number = np.bincount(group, minlength=groups)
    sums = np.stack([np.bincount(group, column, minlength=groups) for column in values.T], axis=1)
    return _ratio(sums, number[:, np.newaxis])


def _expert_means(prepared: PreparedSolution) -> Floats:
    """Mean over each document's pairs of experts, (documents, criteria); NaN with fewer than two experts."""
    return _means(prepared.expert_criteria, prepared.expert_document[prepared.first], len(prepared.documents))


def _statistics(algorithm: Floats, experts: Floats) -> Floats:
    """Sums and numbers of documents behind AMA, EMA, and AMA of the documents with two experts.

    Parameters
    ----------
    algorithm, experts : (documents, criteria) float
        Means of each document; NaN where the document has too few experts.

    Returns
    -------
    (documents, 6, criteria) float
    """
    one, two = ~np.isnan(algorithm), ~np.isnan(experts)
    sums = [np.where(one, algorithm, 0.0), np.where(two, experts, 0.0), np.where(two, algorithm, 0.0)]
    return np.stack([*sums, one, two, two], axis=1)


def _corpus_means(totals: Floats) -> Floats:
    """AMA, EMA and RMA (10)-(12) of each criterion, (n, 3, criteria), from (n, 6, criteria) totals.

    Examples
    --------
    Two documents, the second of one expert:

    >>> statistics = _statistics(np.array([[0.6], [0.8]]), np.array([[0.5], [np.nan]]))
    >>> _corpus_means(statistics.sum(axis=0, keepdims=True)).round(3).ravel().tolist()
    [0.7, 0.5, 1.2]
    """
    ama, ema, ama_of_two = np.moveaxis(_ratio(totals[:, :3], totals[:, 3:]), 1, 0)
    return np.stack([ama, ema, _ratio(ama_of_two, ema)], axis=1)


def _score_of(means: Floats, parameters: _Parameters) -> Floats:
    """The measure asked for, (n,), from (n, 3, criteria)."""
    if parameters.measure == "rma":
        return means[:, 2, 0]
    return means[:, 0, list(CRITERIA).index(parameters.criterion)]


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """numerator / denominator, NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient


# ---------------------------------------------------------------------------------------------
# What became of every object
# ---------------------------------------------------------------------------------------------


def _in_list_order(prepared: PreparedSolution) -> tuple[Ints, Ints]:
    """The pairs of experts with the one first that comes first in the solution's list."""
    ahead = prepared.expert_number[prepared.first] < prepared.expert_number[prepared.second]
    return (
        np.where(ahead, prepared.first, prepared.second),
        np.where(ahead, prepared.second, prepared.first),
    )


def _by_number_of_experts(documents: pd.DataFrame) -> pd.DataFrame:
    """One row per number of experts that a document has: experts, documents, ama, ema, rma."""
    groups = documents.groupby("experts")
    table = groups[["ama", "ema"]].mean()
    table.insert(0, "documents", groups.size())
    table["rma"] = table["ama"] / table["ema"].where(table["ema"] > 0)
    return table.reset_index()


def _explain(evaluation: Evaluation) -> pd.DataFrame:
    """The rows of `Evaluation.segments`."""
    prepared, algorithm = evaluation.prepared, evaluation.algorithm
    experts, every = prepared.experts, np.arange(len(prepared.documents))
    among_experts = _Comparison(
        experts, experts, prepared.first, prepared.second, np.arange(len(prepared.first))
    )
    # Names of the markups: of an expert its number, of the algorithm 0.
    numbers = {id(experts): prepared.expert_number, id(algorithm): np.zeros_like(every)}
    document_of = {id(experts): prepared.expert_document, id(algorithm): every}
    parts: list[dict[str, Ints | Floats]] = []
    for comparison in (*evaluation.comparisons, among_experts):
        left, right, a, b, _ = comparison
        addresses = _addresses(left), _addresses(right)
        for chunk in _chunks(comparison):
            compared = _compare_chunk(comparison, chunk, prepared.weights, prepared.parameters.accordance)
            one = _Side(left, a[chunk], numbers[id(left)][a[chunk]], addresses[0])
            other = _Side(right, b[chunk], numbers[id(right)][b[chunk]], addresses[1])
            document = document_of[id(left)][a[chunk]]
            for level, (pair, first, second, consistency) in enumerate(_chosen(compared)):
                parts.append(_fates(level, document, one, other, pair, first, second, consistency))
                parts.append(_fates(level, document, other, one, pair, second, first, consistency))
    rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.lexsort(
        [rows[name] for name in ("overtext", "fragment", "element", "against", "markup", "document")]
    )
    frame = pd.DataFrame({name: values[order] for name, values in rows.items()})
    names = np.array([ALGORITHM, *(f"expert {n}" for n in range(1, frame["markup"].max() + 1))], dtype=object)
    frame.insert(0, "document_id", np.array(evaluation.items, dtype=object)[frame.pop("document")])
    frame["markup"], frame["against"] = names[frame["markup"]], names[frame["against"]]
    frame["level"] = np.array(LEVELS, dtype=object)[frame["level"]]
    outcome = np.where(frame["consistency"].isna(), "unmatched", "matched")
    frame.insert(list(frame).index("partner_element"), "outcome", outcome.astype(object))
    return frame


class _Side(NamedTuple):
    """One markup of each of some pairs: its columns, rows there, numbers, and the addresses of its objects."""

    columns: _Markups
    markup: Ints
    number: Ints
    addresses: list[tuple[Ints, ...]]


def _addresses(markups: _Markups) -> list[tuple[Ints, ...]]:
    """By level, element, fragment, overtext, start and end of each object; -1 of one more, which is none."""
    in_elements, in_fragments = markups.element_overtexts, markups.fragment_overtexts
    element = np.repeat(np.arange(len(markups.element_tags)), np.diff(in_elements.first))
    fragment = np.repeat(np.arange(len(markups.fragment_tags)), np.diff(in_fragments.first))
    of_fragment = markups.element_position[markups.fragment_element]
    none = np.int64(-1)
    levels: tuple[tuple[Ints | np.int64, ...], ...] = (
        (markups.element_position, none, none, none, none),
        (markups.element_position[element], none, in_elements.position, none, none),
        (of_fragment, markups.fragment_position, none, markups.fragment_start, markups.fragment_end),
        (of_fragment[fragment], markups.fragment_position[fragment], in_fragments.position, none, none),
    )
    return [tuple(np.append(part, none) for part in np.broadcast_arrays(*level)) for level in levels]


def _chosen(compared: _Compared) -> Iterator[tuple[Ints, Ints, Ints, Floats]]:
    """By level, the chosen pairs: of which pair of markups, the two objects, and their consistency."""
    elements, fragments = compared.elements, compared.fragments
    in_elements, in_fragments = compared.element_overtexts, compared.fragment_overtexts
    markups = elements.owner[fragments.owner]
    within = fragments.chosen & elements.chosen[fragments.owner]
    for level, pair, chosen in (
        (elements, elements.owner, elements.chosen),
        (
            in_elements,
            elements.owner[in_elements.owner],
            in_elements.chosen & elements.chosen[in_elements.owner],
        ),
        (fragments, markups, within),
        (in_fragments, markups[in_fragments.owner], in_fragments.chosen & within[in_fragments.owner]),
    ):
        yield pair[chosen], level.first[chosen], level.second[chosen], level.consistency[chosen]


def _fates(
    level: int,
    document: Ints,
    own: _Side,
    other: _Side,
    pair: Ints,
    first: Ints,
    second: Ints,
    consistency: Floats,
) -> dict[str, Ints | Floats]:
    """Every object of one level on one side of some pairs of markups, with its partner on the other side."""
    first_object = _objects(own.columns)[level]
    number = np.diff(first_object)[own.markup]
    first_row = _firsts(number)
    place = np.repeat(np.arange(len(number)), number)
    item = np.arange(len(place)) - first_row[place] + first_object[own.markup[place]]
    row = first_row[pair] + first - first_object[own.markup[pair]]
    partner, worth = np.full(len(item), -1), np.full(len(item), np.nan)
    partner[row], worth[row] = second, consistency
    element, fragment, overtext, start, end = (part[item] for part in own.addresses[level])
    partners = [part[partner] for part in other.addresses[level][:3]]
    return {
        "document": document[place],
        "markup": own.number[place],
        "against": other.number[place],
        "level": np.full(len(item), level),
        "element": element,
        "fragment": fragment,
        "overtext": overtext,
        "start": start,
        "end": end,
        "partner_element": partners[0],
        "partner_fragment": partners[1],
        "partner_overtext": partners[2],
        "consistency": worth,
    }
