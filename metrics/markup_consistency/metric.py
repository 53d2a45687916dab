"""Consistency of an algorithm's text markup with experts who disagree, as one file to upload to Kaggle.

A markup describes a text, such as an essay with its errors.  It has elements, for example one for each error.
An element can have tags, fragments of the text, and overtexts, which are comments.  Fragments and overtexts can
have tags, too, and fragments can have overtexts.  Several experts mark up the same text, and they disagree.
``score`` asks how well an algorithm's markup agrees with theirs.  It divides this by how well the experts agree
with each other.

``score`` cites a paper. "(7)" is an equation of that paper and "3.4.4" is a section.  After the public
functions come the stages, in the order in which the data passes through them.  The functions that read the
input come last:

* consistency (7): ``consistency``, ``level_of``
* criteria (13) to (24): ``c_accordance``, ``c_tags``, ``c_overtexts`` … ``c_union_of_tags``
* optimal accordance (8), (9): ``best_sum``, ``best_average``
* corpus (10) to (12): ``compared``, ``average_accuracies``
* weights (7): ``weights_in_use``
* input (1) to (4): ``read_experts``, ``read_markup``

To compare two markups, their elements are paired one to one.  This pairing is called the accordance, and the
two elements of a pair are called partners.  The overtexts and fragments of partners are paired in the same way.
Criteria from 0 to 1 say how well the markups agree.  A criterion with a dot is a part of the one before the
dot:

* ``total`` (7) is C, the weighted average of the six criteria below.
* ``accordance`` (13) is the share of the elements that have a partner.
* ``tags`` (14) says how well the tags of partners agree.
* ``overtexts`` (15) says how well the overtexts of partners agree.  Its parts are ``overtexts.accordance``
  (16), ``overtexts.texts`` (17) and ``overtexts.tags`` (18).
* ``fragments`` (19) says how well the fragments of partners agree.  Its parts are ``fragments.accordance``
  (20), ``fragments.texts`` (21), ``fragments.tags`` (22) and ``fragments.overtexts`` (3.4.4).  The last one has
  the same parts as ``overtexts``.
* ``fragment_text_union`` (23) compares the characters that all fragments of either partner cover.
* ``fragment_tag_union`` (24) compares the tags that all fragments of either partner have.

An example with two markups of a text.  The first has one element, with a comment.  The second has two elements,
without comments:

>>> fragment = {"start": 0, "end": 10, "tags": ["a"]}
>>> one = {"elements": [{"tags": ["x"], "overtexts": [{"comment": "Why?"}], "fragments": [fragment]}]}
>>> wider, apart = {"start": 5, "end": 15, "tags": ["a", "b"]}, {"start": 50, "end": 60}
>>> other = {"elements": [{"tags": ["x"], "fragments": [wider]}, {"fragments": [apart]}]}
>>> rules = Rules(weights=dict.fromkeys(CRITERIA[1:], 1.0), accordance="sum")
>>> criteria = rules.criteria_of([(read_markup(one, None), read_markup(other, None))])[0]
>>> of = dict(zip(CRITERIA, criteria.round(4).tolist()))

Only the first element of each markup can be partners, because their fragments share characters.  So two of the
three elements have a partner (13).  Their tags are equal (14), but only one of them has a comment (15).  Their
fragments share 5 of 10 and 10 characters (21), and one of one and two tags (22):

>>> of["accordance"], of["tags"], of["overtexts"]
(0.6667, 1.0, 0.0)
>>> of["fragments.accordance"], of["fragments.texts"], of["fragments.tags"], of["fragments.overtexts"]
(1.0, 0.5, 0.6667, 1.0)

The criterion of the fragments is the mean of its four parts (19), and C is the mean of its six (7).  With only
one fragment each, the unions are the fragments (23), (24):

>>> of["fragments"], of["fragment_text_union"], of["fragment_tag_union"], of["total"]
(0.7917, 0.5, 0.6667, 0.6042)

Where the paper is silent, this file decides:

* The parameter ``accordance`` says which pairing is the best.  With "sum" it is the one that maximizes the sum
  of the pairs' weighted averages.  With "exact" it is literally (9): the one that maximizes the weighted
  average of the level, and so may drop a weak pair.
* Values that differ by less than 1e-9 count as equal.  Among equal pairings the one with more pairs wins, and
  then the contents of the markups decide.  The order of objects in the file never matters.
* Inner levels are paired first: the overtexts of fragments, then overtexts and fragments, then elements.  With
  "exact" this leads to the joint optimum.  With "sum" it need not.
* Objects that have nothing in common are never partners.  Two fragments need common characters, and two
  overtexts need common words or tags.  Two elements need fragments that may be partners.
* Objects that are both empty may be partners: elements without fragments, overtexts without words and tags, and
  fragments without characters at the same place.
* F(∅, ∅) = 1.  Where neither markup has objects of a kind, every criterion of that kind is 1.  Where only one
  markup has some, or where no pair is found, it is 0.
* A weight is 1 by default, but 0 for what no expert marked.  A competition should give all weights, because its
  Public and Private parts may have different defaults.
* A markup with "selections" has the form of the READ//ABLE competition.  It is read as one element without
  overtexts.  Its selections are the fragments, with their type and subtype as tags.  If all markups of the
  experts have this form, a submission must have it, too, and ``accordance`` has the weight 0.
* AMA is a mean over the documents with at least one expert, EMA and RMA over those with at least two.  EMA
  takes every pair of experts once.
* A word is a sequence of letters, digits and underscores in lower case, with ё read as е.  Repeated words
  count, but repeated tags do not.
* Offsets count characters from 0, and the end is exclusive.  Unknown keys are ignored.
"""

import functools
import gc
import importlib
import itertools
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
    "Prepared", "__version__", "higher_is_better", "prepare", "score",
]  # fmt: skip

__version__ = "3.0.0"

NAME = "markup_consistency"
COMPLETE_SUBMISSION = False
MEASURE_PARAMETERS = ("measure", "criterion")

# The parts of each composite criterion.  The first part of each is its accordance.
OF_OVERTEXTS = ("overtexts.accordance", "overtexts.texts", "overtexts.tags")
PARTS = {
    "total": ("accordance", "tags", "overtexts", "fragments", "fragment_text_union", "fragment_tag_union"),
    "overtexts": OF_OVERTEXTS,
    "fragments": ("fragments.accordance", "fragments.texts", "fragments.tags", "fragments.overtexts"),
    "fragments.overtexts": tuple(f"fragments.{name}" for name in OF_OVERTEXTS),
}


def _with_parts(name: str) -> list[str]:
    """The names of a criterion, its parts, their parts and so on."""
    return [name, *(inner for part in PARTS.get(name, ()) for inner in _with_parts(part))]


CRITERIA = tuple(_with_parts("total"))
MEASURES = ("rma", "ama", "consistency")
ACCORDANCES = ("sum", "exact")

TIE = 1e-9  # sums that differ by less count as equal
LAST_OFFSET = 1_000_000_000
APART = LAST_OFFSET + 2  # the distance between markups that are compared at once
AT_ONCE = 100_000  # pairs of objects
MOST_OBJECTS, MOST_CHARACTERS = 2_000, 200_000  # the limits of a markup
LARGE = 500  # rows and columns of an assignment problem

LONGEST_MESSAGE = 280  # characters; Kaggle cuts longer messages
ROWS_SHOWN = 3
CHARACTERS_SHOWN = 40

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Lemmatizer = Callable[[str], str]  # from a word to its lemma
Progress = Callable[[int, int], None]  # its arguments: how many documents are done, and how many there are
Keys = Mapping[str, tuple[type, Any]]  # the type and the default of each key's value; no default: required


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong.

    Kaggle knows this exception by its name and shows its text to the participant.
    """


class HostVisibleError(Exception):
    """The solution or a parameter is wrong.

    Kaggle shows the text of this exception to the host only.
    """


# ---- Public API ------------------------------------------------------------------------------------------


def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "rma",
    criterion: str = "total",
    accordance: str = "sum",
    weights: str = "",
    lemmatizer: str = "none",
) -> float:
    """Score how well an algorithm's markups of texts agree with the experts' markups.

    The consistency C of two markups is a number from 0 to 1.  AMA is the mean C of the algorithm's markup with
    the experts' markups.  EMA is the mean C of the experts' markups with each other.  The score is the relative
    accuracy RMA = AMA / EMA.  From 1 on, the algorithm agrees with the experts as well as they agree with each
    other.

    Parameters
    ----------
    solution : DataFrame
        The experts' markups, with one row per document.  It has the column `row_id_column_name` and the column
        ``markups``, which holds JSON: the list of the experts' markups.  Each has the form
        ``{"elements": [{"tags": […], "overtexts": [{"comment": "…", "tags": […]}], "fragments": [{"start": 0,
        "end": 10, "tags": […], "overtexts": […]}]}]}``.  Only ``elements``, ``start`` and ``end`` are required.
        If there is a column ``text``, offsets are checked against it.
    submission : DataFrame
        The algorithm's markups, with one row per document.  It has the column `row_id_column_name` and the
        column ``markup``, which holds JSON: one markup.
    row_id_column_name : str
        The name of the column with the documents' ids, which are compared as text.
    measure : str
        The measure that is the score: "rma", "ama", or "consistency", which is the mean of one criterion.
    criterion : str
        The criterion of which "consistency" is the mean, such as "fragments.texts".
    accordance : str
        How partners are chosen: "sum" or "exact".
    weights : str
        The weights that differ from the default, such as "tags=2,fragments.texts=0".
    lemmatizer : str
        How words are turned into lemmas before they are compared: "none", "pymorphy3" (for Russian), or
        "simplemma:" and a language, such as "simplemma:en".  The package must be installed.

    Returns
    -------
    float
        The measure.  It is at least 0, and only RMA can be greater than 1.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed.  The text of the exception tells two things about the solution: how many
        documents are missing, and which offsets are beyond the text.
    HostVisibleError
        The solution is malformed, a parameter is wrong, or the measure is not defined.  It is not defined if no
        document has an expert.  RMA also needs a document with two experts who have something in common.

    References
    ----------
    A. Levikin and others, "The methodology of multi-criteria evaluation of text markup models based on
    inconsistent expert markup", 2025, section 3, DOI 10.28995/2075-7182-2025-23-1066-1080.

    Examples
    --------
    One of two experts marks a longer stretch as the error.  The algorithm agrees with the other expert:

    >>> def markup(end):
    ...     return {"elements": [{"fragments": [{"start": 0, "end": end, "tags": ["logic"]}]}]}
    >>> experts = json.dumps([markup(10), markup(15)])
    >>> solution = pd.DataFrame({"document_id": ["A"], "markups": [experts]})
    >>> submission = pd.DataFrame({"document_id": ["A"], "markup": [json.dumps(markup(10))]})
    >>> round(score(solution, submission, "document_id"), 6)
    1.035714
    """
    prepared = prepare(solution, row_id_column_name, measure, criterion, accordance, weights, lemmatizer)
    sums = prepared.statistics(submission).sum(axis=0)  # numpy adds the rows one after the other
    return float(prepared.measures(sums[np.newaxis])[0])


def higher_is_better() -> bool:
    """Whether a higher score is better.

    Returns
    -------
    bool
        True, whatever the parameters of `score` are.
    """
    return True


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "rma",
    criterion: str = "total",
    accordance: str = "sum",
    weights: str = "",
    lemmatizer: str = "none",
    *,
    progress: Progress | None = None,
) -> "Prepared":
    """Check and parse a solution once, so that many submissions can be scored against it.

    The experts' markups are compared with each other here.

    Parameters
    ----------
    solution : DataFrame
        The experts' markups, with one row per document, as in `score`.
    row_id_column_name : str
        The name of the column with the documents' ids.
    measure, criterion, accordance, weights, lemmatizer : str
        The same as in `score`.
    progress : callable, optional
        It is called with the number of documents whose experts have been compared and the number of all
        documents.

    Returns
    -------
    Prepared
        The checked solution with the parameters.

    Raises
    ------
    HostVisibleError
        The solution is malformed, a parameter is wrong, or the measure is not defined.
    """
    _check_text("row_id_column_name", row_id_column_name)
    _check_choice("measure", measure, MEASURES)
    _check_choice("criterion", criterion, CRITERIA)
    _check_choice("accordance", accordance, ACCORDANCES)
    _check_text("weights", weights)
    _check_text("lemmatizer", lemmatizer)
    if criterion != "total" and measure != "consistency":
        raise HostVisibleError(f"criterion: expected only with measure 'consistency', found {_quoted(measure)}")
    explicit = _parse_weights(weights, CRITERIA[1:])
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns("markups")
    ids, lengths = read_ids(table), read_lengths(table)
    form = 'a list of markups in JSON, such as [{"elements": [{"fragments": [{"start": 0, "end": 10}]}]}]'
    read = functools.partial(read_experts, lemmatize=lemmatizer_of(lemmatizer))
    experts = read_column(table, "markups", read, form, lengths)
    needed, fewest = ("two experts", 2) if measure == "rma" else ("an expert", 1)
    if max(map(len, experts), default=0) < fewest:
        raise HostVisibleError(f"markups: expected a document with markups of {needed}, found none")
    everyone = [expert for markups in experts for expert in markups]
    is_readable = bool(everyone) and all(expert.is_readable for expert in everyone)
    rules = Rules(weights_in_use(everyone, is_readable, explicit), accordance, is_readable)
    order = sorted(range(len(ids)), key=ids.__getitem__)
    pairs = [list(itertools.combinations(experts[row], 2)) for row in order]
    among = compared(pairs, rules.criteria_of, progress)
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
        parameters=(row_id_column_name, measure, criterion, lemmatizer),
    )


class Rules(NamedTuple):
    """How markups are compared.

    Attributes
    ----------
    weights : mapping of str to float
        The weight of each of the `CRITERIA` except the total.
    accordance : str
        How partners are chosen: "sum" or "exact".
    is_readable : bool
        Whether all markups of the experts have the form of READ//ABLE.
    """

    weights: Mapping[str, float]
    accordance: str
    is_readable: bool = False

    def criteria_of(self, pairs: "Pairs") -> Floats:
        """Compare pairs of markups.

        Parameters
        ----------
        pairs : sequence of (Markup, Markup)
            The pairs.

        Returns
        -------
        (pairs, criteria) float
            For each pair the `CRITERIA`, from 0 to 1.
        """
        averages = consistency(pairs, self)[-1]["total"].averages
        return np.column_stack([averages[name] for name in CRITERIA])


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A solution that `prepare` has checked and parsed, with the parameters to score against it.

    Attributes
    ----------
    items : list of str
        The ids of the n documents, sorted as text.
    item_of_row : (rows,) int
        The document of each row of the solution, as an index into `items`.
    labels : list of (str, str)
        The attribute and the value of each group of documents.  There is one group, that of all documents.
    groups : (1, n) int
        The group of each document, as an index into `labels`: 0 for all documents.
    lengths : dict of str to (int or None)
        The length of each document's text in characters, by its id; None if it is not known.
    experts : list of list of Markup
        The experts' markups of each document, ordered by content.
    among : list of (pairs, criteria) float
        For each document the `CRITERIA` of the pairs of its experts.
    rules : Rules
        How markups are compared.
    parameters : tuple of str
        The parameters row_id_column_name, measure, criterion and lemmatizer.
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
        """The names of the m measures, as a list of str.

        They are "score", then "AMA", "EMA" and "RMA" of the total, then the AMA of every other criterion.
        """
        return ["score", "AMA", "EMA", "RMA", *CRITERIA[1:]]

    def read(self, submission: pd.DataFrame) -> list["Markup"]:
        """Check and parse a submission.

        Parameters
        ----------
        submission : DataFrame
            The algorithm's markups, with one row per document, as in `score`.

        Returns
        -------
        list of Markup
            The algorithm's markup of each document, in the order of `items`.

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed.
        """
        table = _Table(submission, "the submission", self.parameters[0], ParticipantVisibleError)
        table.check_columns("markup")
        ids, is_readable = read_ids(table, self.items), self.rules.is_readable
        form = '"selections": []' if is_readable else '"elements": [{"fragments": [{"start": 0, "end": 10}]}]'
        lemma = lemmatizer_of(self.parameters[-1])
        markups = read_column(
            table,
            "markup",
            lambda cell, length: read_markup(_load(cell), length, lemma, is_readable),
            f"a markup in JSON, such as {{{form}}}",
            [self.lengths[each] for each in ids],
        )
        by_id = dict(zip(ids, markups))
        return [by_id[item] for item in self.items]

    def compare(self, read: Sequence["Markup"], progress: Progress | None = None) -> list[Floats]:
        """Compare the algorithm's markup of each document with the experts' markups.

        Parameters
        ----------
        read : sequence of Markup
            The algorithm's markups, as `read` returns them.
        progress : callable, optional
            It is called with the number of documents that are done and the number of all documents.

        Returns
        -------
        list of (experts, criteria) float
            For each document the `CRITERIA` of the algorithm's markup with each expert's.
        """
        pairs = [[(markup, expert) for expert in experts] for markup, experts in zip(read, self.experts)]
        return compared(pairs, self.rules.criteria_of, progress)

    def count(self, algorithm: Sequence[Floats]) -> Floats:
        """Compute for each document the numbers whose sums decide every measure.

        Parameters
        ----------
        algorithm : sequence of (experts, criteria) float
            The criteria of each document, as `compare` returns them.

        Returns
        -------
        (n, criteria + 4) float
            First the means of the criteria over the document's experts, and a 1 if it has any.  Then, if the
            document has two experts, the mean total of the algorithm, the mean total of the experts with each
            other, and a 1.  All other numbers are 0.
        """
        rows = []
        for ours, theirs in zip(algorithm, self.among):
            of_two = [mean(ours)[0], mean(theirs)[0], 1] if len(theirs) else [0, 0, 0]
            rows.append([*mean(ours), len(ours) > 0, *of_two])
        return np.array(rows, dtype=np.float64)

    def statistics(self, submission: pd.DataFrame, progress: Progress | None = None) -> Floats:
        """Compute for each document the numbers whose sums decide every measure.

        Parameters
        ----------
        submission : DataFrame
            The algorithm's markups, with one row per document, as in `score`.
        progress : callable, optional
            It is called with the number of documents that are done and the number of all documents.

        Returns
        -------
        (n, criteria + 4) float
            The numbers of each document, as `count` returns them.

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed.
        """
        return self.count(self.compare(self.read(submission), progress))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute the measures from sums of statistics.

        Parameters
        ----------
        sums : (..., 1, criteria + 4) float
            Sums of what `statistics` returns, over any set of documents.

        Returns
        -------
        (..., m) float
            The measures, in the order of `measure_names`.  A measure that is not defined is NaN.
        """
        _, measure, criterion, _ = self.parameters
        criteria, ema, rma = average_accuracies(np.asarray(sums, dtype=np.float64)[..., 0, :])
        asked_for = rma if measure == "rma" else criteria[..., CRITERIA.index(criterion)]
        ama = criteria[..., 0]
        return np.concatenate([np.stack([asked_for, ama, ema, rma], axis=-1), criteria[..., 1:]], axis=-1)


# ---- Markups (1)-(4) -------------------------------------------------------------------------------------


class Item(NamedTuple):
    """An object of a markup: an element (2), a fragment (3) or an overtext (4).

    Attributes
    ----------
    content : tuple
        All that is compared, sorted: the start, the end, the comment, the tags, and the contents of the
        object's overtexts and fragments.
    position : int
        The position of the object in its list in the file, from 0.
    words : frozenset
        The words of the comment, as `bag_of_words` returns them.
    tags : frozenset of str
        The tags.
    overtexts, fragments : tuple of Item
        The overtexts and fragments of the object, ordered by content.
    """

    content: tuple[Any, ...]
    position: int
    words: frozenset[Any]
    tags: frozenset[str]
    overtexts: tuple["Item", ...]
    fragments: tuple["Item", ...]


# An element without fragments gets this one, which lies behind the end of every text.
NOWHERE = Item((LAST_OFFSET + 1, LAST_OFFSET + 1, "", (), (), ()), -1, frozenset(), frozenset(), (), ())


class Side(NamedTuple):
    """The elements and fragments of one side of a comparison, as columns.

    One side is a single markup, or one markup of each pair of markups.  It has e elements and n fragments, and
    the fragments cover m stretches of text.

    Attributes
    ----------
    elements : sequence of Item
        The e elements.
    pair : (e,) int
        The number of the pair of markups to which each element belongs.
    fragments : sequence of Item
        The n fragments, ordered by pair and start.  An element without fragments has `NOWHERE`.
    element : (n,) int
        The element of each fragment, as an index into `elements`.
    spans : (2, n) int
        The starts and the ends of the fragments.  The offsets of each pair are `APART` higher than those of the
        pair before, so fragments of different pairs never overlap.
    covered : (2, m) int
        The starts and the ends of the stretches of text that the fragments of an element cover.  The stretches
        of an element do not touch each other.
    covering : (m,) int
        The element of each stretch, as an index into `elements`.
    united_tags : sequence of frozenset of str
        For each of the e elements the tags of all its fragments.
    """

    elements: Sequence[Item]
    pair: Ints
    fragments: Sequence[Item]
    element: Ints
    spans: Ints
    covered: Ints
    covering: Ints
    united_tags: Sequence[frozenset[str]]


class Markup(NamedTuple):
    """A markup (1).

    Attributes
    ----------
    content : tuple
        All that is compared: the contents of the elements, sorted.
    elements : tuple of Item
        The elements, ordered by content.
    side : Side
        The elements and their fragments as columns, so that many markups can be compared at once.
    is_readable : bool
        Whether the markup has the form of READ//ABLE.
    size : int
        The number of its elements, fragments and overtexts together.
    number : int
        The number of an expert's markup in the document, from 1; 0 for the algorithm's markup.
    """

    content: tuple[Any, ...]
    elements: tuple[Item, ...]
    side: Side
    is_readable: bool
    size: int
    number: int = 0


Pairs = Sequence[tuple[Markup, Markup]]


def side_of(elements: Sequence[Item]) -> Side:
    """Turn the elements of a markup into columns.

    Parameters
    ----------
    elements : sequence of Item
        The elements.

    Returns
    -------
    Side
        The elements and their fragments.
    """
    rows = [(item, number) for number, each in enumerate(elements) for item in each.fragments or (NOWHERE,)]
    rows.sort(key=lambda row: row[0].content[0])
    stretches = [(*each, number) for number, item in enumerate(elements) for each in _united(item.fragments)]
    *covered, covering = _ints(sorted(stretches)).reshape(-1, 3).T
    return Side(
        elements=elements,
        pair=np.zeros(len(elements), dtype=np.int64),
        fragments=[item for item, _ in rows],
        element=_ints(number for _, number in rows),
        spans=_ints(item.content[:2] for item, _ in rows).reshape(-1, 2).T,
        covered=np.stack(covered),
        covering=covering,
        united_tags=[frozenset[str]().union(*(each.tags for each in item.fragments)) for item in elements],
    )


def joined(sides: Sequence[Side]) -> Side:
    """Join the columns of several markups, each of which belongs to another pair.

    Parameters
    ----------
    sides : sequence of Side
        The columns of each markup.

    Returns
    -------
    Side
        The columns of all markups, one after the other.
    """
    pair = np.arange(len(sides))
    first = np.cumsum([0, *(len(side.elements) for side in sides)])[:-1]
    shifts = {"pair": pair, "element": first, "covering": first, "spans": APART * pair, "covered": APART * pair}
    columns: dict[str, Any] = {}
    for name in Side._fields:
        of_sides = [getattr(side, name) for side in (side_of(()), *sides)]
        if name in shifts:
            lengths = [column.shape[-1] for column in of_sides]
            columns[name] = np.concatenate(of_sides, axis=-1) + np.repeat([0, *shifts[name]], lengths)
        else:
            columns[name] = [each for column in of_sides for each in column]
    return Side(**columns)


def _united(fragments: Sequence[Item]) -> list[tuple[int, int]]:
    """The stretches of text that fragments cover, as starts and ends, ascending and not touching each other."""
    stretches: list[tuple[int, int]] = []
    for start, end in sorted(fragment.content[:2] for fragment in fragments):
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(end, stretches[-1][1])
        else:
            stretches.append((start, end))
    return stretches


# ---- Consistency (7) -------------------------------------------------------------------------------------
# Many pairs of markups are compared at once.  There are several levels: elements, then overtexts and fragments
# of elements, then overtexts of fragments.  What holds the objects of a level is called a holder.  For every
# pair of holders there is a problem: which objects of the one are the partners of which objects of the other?


class Level(NamedTuple):
    """The partners among the objects of one level.

    Attributes
    ----------
    partners : (p, 4) int
        Four numbers for each of the p pairs of partners.  The first is the number of their problem.  The next
        two are the indices of the one object and of the other.  On the levels below, the two objects are
        holders, and the last number is that of their own problem there.
    criteria : dict of str to (p,) float
        The criteria of each pair of partners, without the accordance.
    averages : dict of str to (problems,) float
        The level's criterion and its parts in each problem.
    """

    partners: Ints
    criteria: dict[str, Floats]
    averages: dict[str, Floats]


def consistency(pairs: Pairs, rules: Rules) -> tuple[Side, Side, dict[str, Level]]:
    """Compute the consistency C of pairs of markups, and everything that it is made of (7).

    Parameters
    ----------
    pairs : sequence of (Markup, Markup)
        The pairs.
    rules : Rules
        How markups are compared.

    Returns
    -------
    x, y : Side
        The two sides of the comparison.  In x is the markup of each pair whose content is less, in y the other.
        So C(L1, L2) = C(L2, L1) to the last bit.
    levels : dict of str to Level
        The levels "total", "overtexts", "fragments" and "fragments.overtexts".  The problems of "total" are the
        pairs of markups, so its averages are the criteria of each pair.
    """
    ordered = [sorted(pair, key=lambda markup: markup.content) for pair in pairs]
    x, y = (joined([pair[number].side for pair in ordered]) for number in (0, 1))
    i, k = overlapping(x.spans, y.spans).T
    # Two elements may be partners if two of their fragments may be.
    problem, ours, theirs = _distinct(x.element[i], y.element[k])
    objects = np.bincount(x.element)[ours] + np.bincount(y.element)[theirs]
    fragments, notes = c_fragments(x, y, np.column_stack([problem, i, k]), objects, rules)
    one, other = [x.elements[n] for n in ours.tolist()], [y.elements[n] for n in theirs.tolist()]
    overtexts = c_overtexts("overtexts", one, other, rules)
    criteria = {
        "tags": c_tags(one, other),
        **overtexts.averages,
        **fragments.averages,
        "fragment_text_union": c_union_of_texts(x, y, ours, theirs),
        "fragment_tag_union": c_union_of_tags(x, y, ours, theirs),
    }
    candidates = np.column_stack([x.pair[ours], ours, theirs, np.arange(len(ours))])
    objects = _ints(len(one.elements) + len(other.elements) for one, other in pairs)
    total = level_of("total", objects, candidates, criteria, rules)
    return x, y, {"total": total, "overtexts": overtexts, "fragments": fragments, "fragments.overtexts": notes}


def level_of(name: str, objects: Ints, candidates: Ints, criteria: Mapping[str, Floats], rules: Rules) -> Level:
    """Find the optimal accordance of a level in each problem (8), (9).

    Parameters
    ----------
    name : str
        The level's criterion, a key of `PARTS`.
    objects : (problems,) int
        The number of objects of both holders together, in each problem.
    candidates : (n, 4) int
        The pairs that may be partners, in the form of ``partners`` of `Level`.
    criteria : mapping of str to (n,) float
        The criteria of each candidate, without the accordance.
    rules : Rules
        How markups are compared.

    Returns
    -------
    Level
        The partners and their criteria.
    """
    accordance, *parts = PARTS[name]
    worth = weighted_average(criteria, parts, rules.weights)
    # An object that is in several problems has a different number in each of them.
    ends = np.column_stack([_distinct(candidates[:, 0], side)[0] for side in candidates[:, 1:3].T])
    if rules.accordance == "sum":
        chosen = best_sum(ends, worth + TIE)  # because of TIE, more pairs win among equal sums
    else:
        share = rules.weights[accordance] / sum(rules.weights[part] for part in PARTS[name])
        chosen = np.zeros(len(worth), dtype=bool)
        for rows in _groups(candidates[:, 0]):
            number = int(objects[candidates[rows[0], 0]])
            chosen[rows] = best_average(ends[rows], worth[rows], number, share)
    problem = candidates[chosen, 0]
    averages = {accordance: c_accordance(np.bincount(problem, minlength=len(objects)), objects)}
    of_partners = {part: values[chosen] for part, values in criteria.items()}
    averages |= {part: _mean_over_pairs(values, problem, objects) for part, values in of_partners.items()}
    averages[name] = weighted_average(averages, PARTS[name], rules.weights)
    return Level(candidates[chosen], of_partners, averages)


def _distinct(a: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
    """A code for each pair of numbers, (n,), and the two numbers of each distinct pair, sorted."""
    base = b.max(initial=0) + 1
    codes, distinct = pd.factorize(a * base + b, sort=True)
    return codes, *np.divmod(distinct, base)


# ---- Criteria (13)-(24) ----------------------------------------------------------------------------------


def f_measure(common: Ints, total: Ints) -> Floats:
    """Compute F = 2|A ∩ B| / (|A| + |B|), which compares two sets A and B (6).

    Parameters
    ----------
    common : (n,) int
        |A ∩ B| for each of n pairs of sets.
    total : (n,) int
        |A| + |B| for each of these pairs.

    Returns
    -------
    (n,) float
        F of each pair, from 0 to 1.  It is 1 if both sets are empty.

    Examples
    --------
    >>> f_measure(np.array([2, 0, 0]), np.array([5, 3, 0])).tolist()
    [0.8, 0.0, 1.0]
    """
    is_empty = total == 0
    return np.asarray((2.0 * common + is_empty) / (total + is_empty))


def f_of_sets(pairs: Iterable[tuple[frozenset[Any], frozenset[Any]]]) -> Floats:
    """Compute F of pairs of sets (6).

    Parameters
    ----------
    pairs : iterable of (frozenset, frozenset)
        The n pairs.

    Returns
    -------
    (n,) float
        F of each pair, from 0 to 1.
    """
    common, total = _ints((len(a & b), len(a) + len(b)) for a, b in pairs).reshape(-1, 2).T
    return f_measure(common, total)


def c_accordance(pairs: Ints, objects: Ints) -> Floats:
    """Compute the share of objects that have a partner: elements (13), overtexts (16) or fragments (20).

    Parameters
    ----------
    pairs : (problems,) int
        The number of pairs of partners in each problem.
    objects : (problems,) int
        The number of objects of both holders together, in each problem.

    Returns
    -------
    (problems,) float
        The share in each problem, from 0 to 1.  It is 1 if there are no objects.
    """
    return f_measure(pairs, objects)


def c_tags(x: Sequence[Item], y: Sequence[Item]) -> Floats:
    """Compare the tags of pairs of objects: elements (14), overtexts (18) or fragments (22).

    Parameters
    ----------
    x, y : sequence of Item
        The first and the second object of each of n pairs.

    Returns
    -------
    (n,) float
        F of the tags of each pair, from 0 to 1.
    """
    return f_of_sets((a.tags, b.tags) for a, b in zip(x, y))


def c_overtexts(name: str, x: Sequence[Item], y: Sequence[Item], rules: Rules) -> Level:
    """Find the partners among the overtexts of pairs of elements (15) or of pairs of fragments (3.4.4).

    Parameters
    ----------
    name : str
        The level's criterion: "overtexts" or "fragments.overtexts".
    x, y : sequence of Item
        The first and the second holder of each of n pairs.  Each pair is a problem.
    rules : Rules
        How markups are compared.

    Returns
    -------
    Level
        The partners and their criteria.
    """
    pairs = [
        (problem, i, k, a, b)
        for problem, (ours, theirs) in enumerate(zip(x, y))
        for i, a in enumerate(ours.overtexts)
        for k, b in enumerate(theirs.overtexts)
        if a.words & b.words or a.tags & b.tags or not (a.words or b.words or a.tags or b.tags)
    ]
    one, other = [a for *_, a, _ in pairs], [b for *_, b in pairs]
    objects = _ints(len(ours.overtexts) + len(theirs.overtexts) for ours, theirs in zip(x, y))
    candidates = _ints((*each[:3], -1) for each in pairs).reshape(-1, 4)
    criteria = {f"{name}.texts": c_overtexts_texts(one, other), f"{name}.tags": c_tags(one, other)}
    return level_of(name, objects, candidates, criteria, rules)


def c_overtexts_texts(x: Sequence[Item], y: Sequence[Item]) -> Floats:
    """Compare the words of pairs of overtexts (17).

    Parameters
    ----------
    x, y : sequence of Item
        The first and the second overtext of each of n pairs.

    Returns
    -------
    (n,) float
        F of the bags of words of each pair, from 0 to 1.
    """
    return f_of_sets((a.words, b.words) for a, b in zip(x, y))


def c_fragments(x: Side, y: Side, candidates: Ints, objects: Ints, rules: Rules) -> tuple[Level, Level]:
    """Find the partners among the fragments of pairs of elements (19), and among the overtexts of fragments.

    Parameters
    ----------
    x, y : Side
        The two sides of the comparison.
    candidates : (n, 3) int
        The number of the problem and the indices of two fragments that may be partners.
    objects : (problems,) int
        The number of fragments of both elements together, in each problem.
    rules : Rules
        How markups are compared.

    Returns
    -------
    fragments, overtexts : Level
        The partners among the fragments, and among their overtexts.
    """
    _, i, k = candidates.T
    # Tags and overtexts of fragments that differ only in their spans are compared once.
    kind, ours, theirs = _distinct(_kinds(x)[i], _kinds(y)[k])
    one, other = [x.fragments[n] for n in ours.tolist()], [y.fragments[n] for n in theirs.tolist()]
    notes = c_overtexts("fragments.overtexts", one, other, rules)
    criteria = {
        "fragments.texts": c_fragments_texts(x.spans[:, i], y.spans[:, k]),
        "fragments.tags": c_tags(one, other)[kind],
        **{name: values[kind] for name, values in notes.averages.items()},
    }
    return level_of("fragments", objects, np.column_stack([candidates, kind]), criteria, rules), notes


def _kinds(side: Side) -> Ints:
    """For each fragment the index of the first fragment with the same tags and overtexts, (n,)."""
    first: dict[Any, int] = {}
    return _ints(first.setdefault(each.content[3:5], index) for index, each in enumerate(side.fragments))


def c_fragments_texts(x: Ints, y: Ints) -> Floats:
    """Compare the characters of pairs of fragments (21).

    Parameters
    ----------
    x, y : (2, n) int
        The starts and ends of the first and of the second fragment of each pair.  The two fragments overlap, or
        both are empty and at the same place.

    Returns
    -------
    (n,) float
        F of the characters of each pair, from 0 to 1.
    """
    return f_measure(np.minimum(x[1], y[1]) - np.maximum(x[0], y[0]), x[1] - x[0] + y[1] - y[0])


def c_union_of_texts(x: Side, y: Side, ours: Ints, theirs: Ints) -> Floats:
    """Compare the characters that all fragments of either element cover, for pairs of elements (23).

    Parameters
    ----------
    x, y : Side
        The two sides of the comparison.
    ours, theirs : (n,) int
        The elements of each pair, as indices into the elements of x and of y.  The pairs are sorted, and each
        pair is there once.

    Returns
    -------
    (n,) float
        F of the characters of each pair, from 0 to 1.
    """
    of_x, of_y = (
        np.bincount(side.covering, side.covered[1] - side.covered[0], len(side.elements)) for side in (x, y)
    )
    # The stretches of an element do not overlap.  So the number of characters that two elements share is the
    # sum over the pairs of their stretches.
    i, k = overlapping(x.covered, y.covered).T
    shared = np.minimum(x.covered[1][i], y.covered[1][k]) - np.maximum(x.covered[0][i], y.covered[0][k])
    base = len(y.elements)
    pair = np.searchsorted(ours * base + theirs, x.covering[i] * base + y.covering[k])
    common = np.bincount(pair, shared, len(ours))
    return f_measure(common.astype(np.int64), (of_x[ours] + of_y[theirs]).astype(np.int64))


def c_union_of_tags(x: Side, y: Side, ours: Ints, theirs: Ints) -> Floats:
    """Compare the tags that all fragments of either element have, for pairs of elements (24).

    Parameters
    ----------
    x, y : Side
        The two sides of the comparison.
    ours, theirs : (n,) int
        The elements of each pair, as indices into the elements of x and of y.

    Returns
    -------
    (n,) float
        F of the tags of each pair, from 0 to 1.
    """
    pairs = zip(ours.tolist(), theirs.tolist())
    return f_of_sets((x.united_tags[one], y.united_tags[other]) for one, other in pairs)


def _ints(values: Iterable[Any]) -> Ints:
    """An array of whole numbers, also from values of which there are none."""
    return np.array(list(values), dtype=np.int64)


# ---- The optimal accordance (8), (9) -----------------------------------------------------------------------


def best_average(ends: Ints, worth: Floats, objects: int, share: float) -> Bools:
    """Choose the one-to-one pairs of a problem that make the level's weighted average the largest (9).

    Parameters
    ----------
    ends : (n, 2) int
        The two objects of each candidate pair, as numbers from 0 on either side.
    worth : (n,) float
        The weighted average of the criteria of each candidate pair, without the accordance.
    objects : int
        The number of objects of both sides together.
    share : float
        The weight of the accordance divided by the sum of all weights, from 0 to 1.

    Returns
    -------
    (n,) bool
        Whether each candidate pair is chosen.
    """
    # Let q pairs be chosen among n objects, and let S be the sum of their worth.  Then the average is
    # share·2q/n + (1 - share)·S/q.  For each q only the largest S matters, and this S/q falls as q grows.
    # Let the best choices of low and of high pairs be known.  One bound holds for every size between the two.
    # It is the average of high - 1 pairs if their mean worth were S/q of the low ones.  If this bound is not
    # better than the best average so far, no size in between is tried.
    row, column = (np.unique(side, return_inverse=True)[1] for side in ends.T)
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
    """The candidates with the largest sum of worth among all choices of this number of pairs, (n,) bool.

    If so many pairs are impossible, fewer are chosen.
    """
    # There are as many spare columns as rows that must stay without a partner.  A spare column is worth more
    # than all pairs together, so all spare columns are taken.  A pair that is no candidate is worth so little
    # that it is taken only if so many pairs are impossible.
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    matrix = np.full((rows, columns + rows - pairs), float(rows + 1))
    matrix[:, :columns] = -float(rows + 1)
    matrix[row, column] = worth
    partner = linear_sum_assignment(matrix, maximize=True)[1]
    chosen: Bools = partner[row] == column
    return chosen


# ---- The corpus (10)-(12) ---------------------------------------------------------------------------------


def average_accuracies(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute AMA (10), EMA (11) and RMA (12).

    Parameters
    ----------
    sums : (..., criteria + 4) float
        Sums over documents of what `Prepared.count` returns.

    Returns
    -------
    ama : (..., criteria) float
        The mean of each criterion of the algorithm with the experts.
    ema : (...) float
        The mean total of the experts with each other.
    rma : (...) float
        The mean total of the algorithm divided by that of the experts, over documents with two experts.  Any of
        the three is NaN where it is not defined.
    """
    *_, number, of_two, theirs, two = np.moveaxis(sums, -1, 0)
    ama, ema = _ratio(sums[..., :-4], number[..., np.newaxis]), _ratio(theirs, two)
    return ama, ema, _ratio(_ratio(of_two, two), ema)


# ---- Weights (7) -----------------------------------------------------------------------------------------


def weights_in_use(
    experts: Iterable[Markup], is_readable: bool, given: Mapping[str, float]
) -> dict[str, float]:
    """Decide the weight of each criterion.

    A weight that the host gives is used as it is.  Other weights are 1, but 0 for what no expert marked.

    Parameters
    ----------
    experts : iterable of Markup
        All markups of the experts.
    is_readable : bool
        Whether all of them have the form of READ//ABLE.  Then every markup has one element at most, the
        accordance is 1 by construction, and its weight is 0.
    given : mapping of str to float
        The weights that the host gives, by criterion.

    Returns
    -------
    dict of str to float
        The weight of each of the `CRITERIA` except the total.

    Raises
    ------
    HostVisibleError
        All parts of a composite criterion have the weight 0.
    """
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
    """Compute the weighted average Σ w·C / Σ w of criteria (7).

    Parameters
    ----------
    criteria : mapping of str to float or (...) float
        The criteria, as numbers or as arrays of the same shape.
    names : sequence of str
        The criteria to average.
    weights : mapping of str to float
        The weight of each criterion.

    Returns
    -------
    float or (...) float
        The average.  It is exactly 1 where all criteria are 1, and 0 if all weights are 0.

    Notes
    -----
    The criteria are added one after the other, so equal criteria give equal averages to the last bit.
    """
    total = 0.0
    for name in names:
        total = total + criteria[name] * weights[name]
    return total / (sum(weights[name] for name in names) or 1.0)


# ---- Input: markups (1)-(4) ------------------------------------------------------------------------------

SPAN: Keys = {"start": (int, None), "end": (int, None)}
COMMENT: Keys = {"comment": (str, "")}
CODES: Keys = {"type": (str, ""), "subtype": (str, "")}


def read_experts(cell: str, length: int | None, lemmatize: Lemmatizer) -> list[Markup]:
    """Read the markups of a document's experts.

    Parameters
    ----------
    cell : str
        JSON, the list of the markups.
    length : int or None
        The length of the document's text in characters, if it is known.
    lemmatize : function of str
        Returns the lemma of a word.

    Returns
    -------
    list of Markup
        The markups, ordered by content.

    Raises
    ------
    ValueError
        The cell is malformed.  The text of the exception says what is wrong.
    """
    values = _read_value(_load(cell), list, wanted="a list of markups")
    markups = _read_each("markup", values, lambda value: read_markup(value, length, lemmatize))
    numbered = [markup._replace(number=number) for number, markup in enumerate(markups, 1)]
    return sorted(numbered, key=lambda markup: markup.content)


def read_markup(
    value: Any, length: int | None, lemmatize: Lemmatizer = str, is_readable: bool = False
) -> Markup:
    """Read a markup.

    Parameters
    ----------
    value : object
        The markup as it was read from JSON.
    length : int or None
        The length of the document's text in characters, if it is known.
    lemmatize : function of str
        Returns the lemma of a word.
    is_readable : bool
        Whether the markup must have the form of READ//ABLE.

    Returns
    -------
    Markup
        The markup.

    Raises
    ------
    ValueError
        The markup is malformed.  The text of the exception says what is wrong.
    """
    markup = _read_value(value, dict)
    selections = "selections" in markup and "elements" not in markup
    if not selections and (is_readable or "elements" not in markup):
        raise ValueError(f"the markup has no {'selections' if is_readable else 'elements'}")
    elements = read_items(from_selections(markup) if selections else markup, "element", length, lemmatize)
    objects = list(elements)
    for item in objects:
        objects += [*item.overtexts, *item.fragments]
    _at_most(MOST_OBJECTS, len(objects), "elements, fragments and overtexts")
    characters = sum(len(text) for item in objects for text in (item.content[2], *item.content[3]))
    _at_most(MOST_CHARACTERS, characters, "characters of tags and comments")
    return Markup(_contents(elements), elements, side_of(elements), selections, len(objects))


def from_selections(markup: Mapping[str, Any]) -> dict[str, Any]:
    """Turn a READ//ABLE markup into the general form.

    Parameters
    ----------
    markup : mapping
        A markup with "selections", as it was read from JSON.

    Returns
    -------
    dict
        A markup with "elements".  It has one element, or none if there are no selections.

    Raises
    ------
    ValueError
        The markup is malformed.  The text of the exception says what is wrong.
    """

    def fragment(value: Any) -> dict[str, Any]:
        tags = [code for code in map(_plain, _read_keys(value, CODES)) if code]
        return {"start": value.get("startSelection"), "end": value.get("endSelection"), "tags": tags}

    (values,) = _read_keys(markup, {"selections": (list, [])})
    fragments = _read_each("selection", values, fragment)
    return {"elements": [{"fragments": fragments}] if fragments else []}


def read_items(
    holder: Mapping[str, Any], noun: str, length: int | None, lemmatize: Lemmatizer
) -> tuple[Item, ...]:
    """Read the elements, fragments or overtexts that an object holds.

    Parameters
    ----------
    holder : mapping
        The object as it was read from JSON.
    noun : str
        What is read: "element", "fragment" or "overtext".
    length : int or None
        The length of the document's text in characters, if it is known.
    lemmatize : function of str
        Returns the lemma of a word.

    Returns
    -------
    tuple of Item
        The objects, ordered by content.

    Raises
    ------
    ValueError
        The object is malformed.  The text of the exception says what is wrong.
    """

    def read(numbered: tuple[int, Any]) -> Item:
        position, value = numbered
        start, end = _read_span(value, SPAN, length) if noun == "fragment" else (0, 0)
        (comment,) = _read_keys(value, COMMENT) if noun == "overtext" else ("",)
        tags = [] if _read_value(value, dict).get("tags") is None else value["tags"]
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise ValueError("tags is not a list of texts")
        overtexts = () if noun == "overtext" else read_items(value, "overtext", length, lemmatize)
        fragments = read_items(value, "fragment", length, lemmatize) if noun == "element" else ()
        in_order, as_set = _tags(tuple(tags))
        content = start, end, comment, in_order, _contents(overtexts), _contents(fragments)
        words = bag_of_words(comment, lemmatize) if comment else frozenset[Any]()
        return Item(content, position, words, as_set, overtexts, fragments)

    (values,) = _read_keys(holder, {f"{noun}s": (list, [])})
    items = _read_each(noun, enumerate(values), read)
    return tuple(sorted(items, key=lambda item: item.content))


@functools.lru_cache(maxsize=256)
def _tags(tags: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The distinct tags, sorted and as a set.

    Most objects have the same few tags.  Because of the cache they share the results.
    """
    return tuple(sorted(set(tags))), frozenset(tags)


def _contents(items: Sequence[Item]) -> tuple[Any, ...]:
    """The content of each item."""
    return tuple([item.content for item in items])


def bag_of_words(comment: str, lemmatize: Lemmatizer) -> frozenset[tuple[str, int]]:
    """Collect the words of a comment, with repetitions.

    Parameters
    ----------
    comment : str
        The comment.
    lemmatize : function of str
        Returns the lemma of a word.

    Returns
    -------
    frozenset of (str, int)
        Each word with the number of times that it occurred before.  So a set can hold repeated words.

    Examples
    --------
    >>> sorted(bag_of_words("No, no reason", str))
    [('no', 0), ('no', 1), ('reason', 0)]
    """
    words = re.findall(r"\w+", unicodedata.normalize("NFC", comment).lower())
    counts = Counter(lemmatize(word).lower().replace("ё", "е") for word in words)
    return frozenset((word, before) for word, count in counts.items() for before in range(count))


@functools.cache
def lemmatizer_of(name: str) -> Lemmatizer:
    """Find the function that turns a word into its lemma.

    Parameters
    ----------
    name : str
        "none", "pymorphy3", or "simplemma:" and a language.

    Returns
    -------
    function of str
        Returns the lemma of a word.

    Raises
    ------
    HostVisibleError
        There is no such function, or its package is not installed.
    """
    package, _, language = name.partition(":")
    try:
        if package == "simplemma" and language:
            lemmatize = functools.partial(importlib.import_module(package).lemmatize, lang=language)
            lemmatize("a")  # it raises a ValueError if there is no such language
            return functools.cache(lemmatize)
        if name == "pymorphy3":
            analyzer = importlib.import_module(name).MorphAnalyzer()
            return functools.cache(lambda word: str(analyzer.parse(word)[0].normal_form))
    except (ImportError, ValueError) as problem:
        fault = f"{_quoted(name)}: {_short(problem)}"
        raise HostVisibleError(f"lemmatizer: expected one that is installed, found {fault}") from None
    if name == "none":
        return str
    wanted = "none, pymorphy3 or simplemma:LANGUAGE"
    raise HostVisibleError(f"lemmatizer: expected {wanted}, found {_quoted(name)}")


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


# ---- Shared: columns of documents ------------------------------------------------------------------------


def read_ids(table: _Table, expected: Sequence[str] | None = None) -> list[str]:
    """Read the id of each row's document; no document may be there twice.

    Parameters
    ----------
    table : _Table
        The solution or the submission.
    expected : sequence of str, optional
        The ids of the test set's documents.  With them, the table must have exactly these documents.

    Returns
    -------
    list of str
        The id of each row, as text.

    Raises
    ------
    ParticipantVisibleError or HostVisibleError
        An id is missing, repeated or unknown, or a document is missing.  `table.error` says which of the two
        exceptions it is.
    """
    ids = read_column(table, table.row_id, str, "a value in every row")
    index = pd.Index(ids, dtype=object)
    table.reject(table.row_id, index.duplicated(), lambda row: "repeated", "every document once")
    if expected is not None:
        unknown = ~index.isin(expected)
        table.reject(table.row_id, unknown, lambda row: "unknown", "ids of the test set's documents")
        if lacking := len(expected) - len(ids):
            rest = _counted(lacking, "document")
            raise table.error(f"{table.name}: expected a row for every document, in one table. It lacks {rest}")
    return ids


def read_lengths(table: _Table) -> list[int | None]:
    """Read how long each document's text is.

    Parameters
    ----------
    table : _Table
        The solution.

    Returns
    -------
    list of (int or None)
        The number of characters in the column ``text`` of each row; None in every row if there is no such
        column.

    Raises
    ------
    HostVisibleError
        There are two columns ``text``, or a text is missing.
    """
    if "text" not in table.frame:
        return [None] * len(table.frame)
    table.check_columns("text")
    return read_column(table, "text", len, "a value in every row")


def read_column(table: _Table, name: str, read: Callable[..., Any], expected: str, *about: Any) -> list[Any]:
    """Read the cells of a column.

    Parameters
    ----------
    table : _Table
        The solution or the submission.
    name : str
        The name of the column.
    read : function
        Its arguments are the text of a cell and what `about` has for the row.  It returns the value of the
        cell, or raises a ValueError whose text says what is wrong with it.
    expected : str
        What every cell should be, for the message.
    *about : sequence, (rows,)
        Further arguments of `read`, one for each row.

    Returns
    -------
    list
        The value of each row.

    Raises
    ------
    ParticipantVisibleError or HostVisibleError
        A cell is missing, or `read` rejects it.  `table.error` says which of the two exceptions it is.
    """
    values, faults = [], {}
    with _no_garbage():
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


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Pause Python's garbage collector, which searches for cycles of objects.

    Markups are many objects without any cycle.  The collector would look at all of them again and again, which
    took almost half of the time.
    """
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_collecting:
            gc.enable()


# ---- Shared: JSON ----------------------------------------------------------------------------------------
# The readers of values raise a ValueError that says what is wrong.  The readers of lists add the number of the
# item that has the fault.


_NAMES_OF_TYPES = {dict: "an object", list: "a list", str: "text", int: "a whole number"}


def _read_keys(value: Any, keys: Keys) -> list[Any]:
    """The values that a JSON object has under `keys`, in the order of `keys`.  Other keys are ignored.

    For each key, `keys` gives the type of the value and its default.  The default is used where the key is left
    out or its value is null.  A key whose default is None is required.
    """
    holder = _read_value(value, dict)
    return [
        default
        if default is not None and holder.get(name) is None
        else _read_value(holder.get(name), kind, f"{name} is ")
        for name, (kind, default) in keys.items()
    ]


def _read_value(value: Any, kind: Any, subject: str = "", wanted: str = "") -> Any:
    """A JSON value, which must be of type `kind`.

    A whole number is an offset, from 0 to `LAST_OFFSET`.  It may be written 4.0.  In the message, `subject`
    stands before what the value is, and `wanted` replaces the name of the type.
    """
    if kind is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{subject}{_described(value)} instead of {wanted or _NAMES_OF_TYPES[kind]}")
    if kind is int and not 0 <= value <= LAST_OFFSET:
        raise ValueError(f"{subject}{'negative' if value < 0 else f'above {LAST_OFFSET:,}'}")
    return value


def _described(value: Any) -> str:
    """How a message names a JSON value."""
    text = _quoted(value) if isinstance(value, str) else _short(value)
    return {type(None): "missing", dict: "an object", list: "a list", bool: text.lower()}.get(type(value), text)


def _read_each(noun: str, values: Iterable[Any], read: Callable[[Any], Any]) -> list[Any]:
    """Apply `read` to each value of a list.

    If `read` raises a ValueError, the `noun` and the number of the value, from 1, are put before its text.
    """
    results = []
    for number, value in enumerate(values, 1):
        try:
            results.append(read(value))
        except ValueError as fault:
            raise ValueError(f"{noun} {number}: {fault}") from None
    return results


def _read_span(value: Any, keys: Keys, length: int | None) -> list[int]:
    """The start and the end that an object has under two keys.

    The start must not be after the end, nor the end beyond the text, if its `length` in characters is known.
    """
    start, end = _read_keys(value, keys)
    if start > end or (length is not None and end > length):
        first, last = keys
        fault = f"{first} {start} is after {last} {end}" if start > end else f"{last} {end} is beyond the text"
        raise ValueError(fault)
    return [start, end]


def _at_most(most: int, number: int, what: str) -> None:
    """Raise a ValueError if there are more than `most` of something."""
    if number > most:
        raise ValueError(f"{number:,} {what}, more than {most:,}")


def _plain(text: str) -> str:
    """A text in a form in which case, outer spaces and Unicode form make no difference."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).strip().casefold())


def _load(cell: str) -> Any:
    """The value that a cell holds in JSON."""
    try:
        return _DECODER.decode(cell)
    except json.JSONDecodeError as fault:
        raise ValueError(f"not JSON: {fault.msg} at character {fault.pos + 1}") from None
    except RecursionError:
        raise ValueError("not a markup: nested too deeply") from None
    except ValueError as fault:  # NaN or Infinity, or a number with too many digits
        raise ValueError(f"not JSON: {_short(fault)}") from None


def _no_constant(name: str) -> None:
    """Reject NaN and Infinity, which Python's decoder would read, but which JSON does not know."""
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


# ---- Shared: parameters of the markup metrics ------------------------------------------------------------


def _check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise `HostVisibleError` unless the value of the parameter `name` is one of the `choices`."""
    if value not in choices:
        expected = _listed(choices, len(choices), LONGEST_MESSAGE - CHARACTERS_SHOWN - 40)
        raise HostVisibleError(f"{name}: expected {expected}, found {_quoted(value)}")


def _parse_weights(text: str, names: Sequence[str]) -> dict[str, float]:
    """The weights that a text such as "tags=2,overtexts=0" gives, by name; the names must be among `names`."""
    weights: dict[str, float] = {}
    for assignment in text.split(",") if text.strip() else []:
        name, _, number = (piece.strip() for piece in assignment.partition("="))
        if name not in names or name in weights or not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", number):
            written = _quoted(assignment)
            head = f"weights: expected NAME=NUMBER, each at least 0 and once, found {written}. The names are "
            raise HostVisibleError(head + _listed(names, len(names), LONGEST_MESSAGE - len(head)))
        weights[name] = float(number)
    return weights


# ---- Shared: many pairs of markups at once ---------------------------------------------------------------


def overlapping(x: Ints, y: Ints) -> Ints:
    """Find the spans of two sides that overlap, or that are both empty and at the same place.

    Parameters
    ----------
    x, y : (2, n) int and (2, m) int
        Starts and ends of the spans of either side, in characters from 0, sorted by start.  The end is
        exclusive.

    Returns
    -------
    (pairs, 2) int
        For each such pair the index of its span in x and of its span in y.

    Examples
    --------
    [0, 5) overlaps [2, 6), and the empty span at 7 is on both sides:

    >>> overlapping(np.array([[0, 7], [5, 7]]), np.array([[2, 5, 7], [6, 9, 7]])).tolist()
    [[0, 0], [1, 2]]
    """
    # The candidates for a span come after all spans that end before it starts, and before all spans that start
    # at its end or later.  Both bounds are found by binary search.  Ends are not sorted, but their running
    # maximum is, so the first bound is searched in that.
    x_end, y_end = (np.maximum(end, start + 1) for start, end in (x, y))
    first = np.searchsorted(np.maximum.accumulate(y_end), x[0], "right")
    last = np.searchsorted(y[0], x_end)
    i = np.repeat(np.arange(len(first)), last - first)
    k = np.arange(len(i)) + np.repeat(last - np.cumsum(last - first), last - first)
    kept = (y_end[k] > x[0][i]) & ((x[0] == x[1])[i] == (y[0] == y[1])[k])
    return np.asarray(np.column_stack([i, k])[kept])


def best_sum(ends: Ints, worth: Floats) -> Bools:
    """Solve the assignment problem: choose the one-to-one pairs whose worth has the largest sum (8).

    Parameters
    ----------
    ends : (n, 2) int
        The two objects of each candidate pair, as numbers from 0 on either side.
    worth : (n,) float
        What each candidate pair adds to the sum; above 0.

    Returns
    -------
    (n,) bool
        Whether each candidate pair is chosen.

    Examples
    --------
    Whoever took the best pair first would get 3 + 0 instead of 2 + 2:

    >>> best_sum(np.array([[0, 0], [0, 1], [1, 0]]), np.array([3.0, 2.0, 2.0])).tolist()
    [False, True, True]
    """
    i, k = ends.T
    # Where neither object is in another candidate pair, there is nothing to decide.
    chosen: Bools = (np.bincount(i)[i] == 1) & (np.bincount(k)[k] == 1)
    if chosen.all():
        return chosen
    rest = np.flatnonzero(~chosen)
    component = components(ends[rest])
    rows, columns = (_rank_within(component, side) for side in ends[rest].T)
    for members in _groups(component):
        row, column, candidates = rows[members], columns[members], rest[members]
        matrix = np.zeros((row.max() + 1, column.max() + 1))
        matrix[row, column] = worth[candidates]
        if min(matrix.shape) > LARGE:
            # The solver is faster with a square matrix in which the best worth of each column is 0.
            matrix = np.pad(matrix, [(0, max(matrix.shape) - length) for length in matrix.shape])
            matrix -= matrix.max(axis=0)
        taken = np.zeros(matrix.shape, dtype=bool)
        taken[linear_sum_assignment(matrix, maximize=True)] = True
        chosen[candidates] = taken[row, column]
    return chosen


def components(ends: Ints) -> Ints:
    """Split an assignment problem into problems that do not depend on each other.

    Parameters
    ----------
    ends : (n, 2) int
        The two objects of each candidate pair, as in `best_sum`.

    Returns
    -------
    (n,) int
        A number for each candidate pair.  It is the same for pairs that share an object, directly or through
        other pairs.
    """
    i, k = ends.T
    rows = i.max() + 1
    graph = coo_array((np.ones(len(i), dtype=bool), (i, rows + k)), shape=(rows + k.max() + 1,) * 2)
    labels: Ints = connected_components(graph, directed=False)[1][i].astype(np.int64)
    return labels


def _rank_within(group: Ints, values: Ints) -> Ints:
    """The rank of each value among the values of its group, from 0, (n,).  A value is in one group only."""
    # There are few different values, but many candidates.  So a table of the values is sorted instead of the
    # candidates; in it, -1 stands for a value that does not occur.
    group_of = np.full(values.max() + 1, -1)
    group_of[values] = group
    order = np.argsort(group_of, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.asarray((rank - np.searchsorted(group_of[order], group_of))[values])


def _groups(labels: Ints) -> list[Ints]:
    """For each label, from the least one on, the ascending indices at which it stands."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if len(order) else []


def _mean_over_pairs(values: Any, problem: Ints, objects: Ints) -> Floats:
    """The mean of the values of each problem, (problems,).

    `problem`, (n,), is the problem of each of the n values.  `objects`, (problems,), is the number of objects
    in each problem.  The mean is 0 where there are objects but no values, and 1 where there are no objects.
    """
    sums = np.bincount(problem, values, len(objects))  # it adds values one after the other, in a fixed order
    means = sums / np.maximum(np.bincount(problem, minlength=len(objects)), 1)
    return np.where(objects > 0, means, 1.0)


def compared(
    documents: Sequence[Pairs], compare: Callable[[Pairs], Floats], progress: Progress | None = None
) -> list[Floats]:
    """Compare the pairs of markups of many documents.

    Documents are compared in batches: numpy is fast with many pairs at once, but memory is limited.

    Parameters
    ----------
    documents : sequence of sequence of (Markup, Markup)
        The pairs of markups of each document.
    compare : function of pairs
        Returns the criteria of the pairs that it is given, (pairs, criteria) float.
    progress : callable, optional
        It is called with the number of documents that are done and the number of all documents.

    Returns
    -------
    list of (pairs, criteria) float
        The criteria of the pairs of each document.
    """
    sizes = [sum(one.size * other.size for one, other in pairs) for pairs in documents]
    results: list[Floats] = []
    for batch in _groups(np.cumsum(sizes) // AT_ONCE):
        with _no_garbage():
            of_batch = [documents[number] for number in batch.tolist()]
            criteria = compare([pair for pairs in of_batch for pair in pairs])
        for of_document in np.split(criteria, np.cumsum([len(pairs) for pairs in of_batch])[:-1]):
            results.append(of_document)
            if progress is not None:
                progress(len(results), len(documents))
    return results


def mean(values: Floats) -> Floats:
    """Compute the mean of each column.

    Parameters
    ----------
    values : (rows, columns) float
        The values.

    Returns
    -------
    (columns,) float
        The means; 0 if there are no rows.
    """
    return np.asarray(values.sum(axis=0) / max(len(values), 1))


# ---- Shared: quotients -----------------------------------------------------------------------------------


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """The quotients of two arrays whose shapes broadcast; NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient
