"""Consistency of an algorithm's text markup with experts who disagree, as one file to upload to Kaggle.

A markup describes a text, such as an essay with its errors. It has elements, for example one for each error.
An element can have tags, fragments of the text, and overtexts, which are comments. Fragments and overtexts can
have tags, too, and fragments can have overtexts. Several experts mark up the same text, and they disagree.
``score`` asks how well an algorithm's markup agrees with theirs. It divides this by how well the experts agree
with each other.

``score`` cites a paper. "(7)" is an equation of that paper and "3.4.4" is a section. After the public
functions come the stages, in the order in which the data passes through them. The functions that read the
input come last:

* consistency (7): ``consistency``, ``level_of``
* criteria (13) to (24): ``c_accordance``, ``c_tags``, ``c_overtexts`` … ``c_union_of_tags``
* optimal accordance (8), (9): ``best_sum``, ``best_average``
* corpus (10) to (12): ``compared``, ``average_accuracies``
* weights (7): ``weights_in_use``
* input (1) to (4): ``read_experts``, ``read_markup``

To compare two markups, their elements are paired one to one. This pairing is called the accordance, and the
two elements of a pair are called partners. The overtexts and fragments of partners are paired in the same way.
Criteria from 0 to 1 say how well the markups agree. A criterion with a dot is a part of the one before the
dot:

* ``total`` (7) is C, the weighted average of the six criteria below.
* ``accordance`` (13) is the share of the elements that have a partner.
* ``tags`` (14) says how well the tags of partners agree.
* ``overtexts`` (15) says how well the overtexts of partners agree. Its parts are ``overtexts.accordance``
  (16), ``overtexts.texts`` (17) and ``overtexts.tags`` (18).
* ``fragments`` (19) says how well the fragments of partners agree. Its parts are ``fragments.accordance``
  (20), ``fragments.texts`` (21), ``fragments.tags`` (22) and ``fragments.overtexts`` (3.4.4). The last one has
  the same parts as ``overtexts``.
* ``fragment_text_union`` (23) compares the characters that all fragments of either partner cover.
* ``fragment_tag_union`` (24) compares the tags that all fragments of either partner have.

An example with two markups of a text. The first has one element, with a comment. The second has two elements,
without comments:

>>> fragment = {"start": 0, "end": 10, "tags": ["a"]}
>>> one = {"elements": [{"tags": ["x"], "overtexts": [{"comment": "Why?"}], "fragments": [fragment]}]}
>>> wider, apart = {"start": 5, "end": 15, "tags": ["a", "b"]}, {"start": 50, "end": 60}
>>> other = {"elements": [{"tags": ["x"], "fragments": [wider]}, {"fragments": [apart]}]}
>>> rules = Rules(weights=dict.fromkeys(CRITERIA[1:], 1.0), accordance="sum")
>>> criteria = rules.criteria_of([(read_markup(one, None), read_markup(other, None))])[0]
>>> of = dict(zip(CRITERIA, criteria.round(4).tolist()))

Only the first element of each markup can be partners, because their fragments share characters. So two of the
three elements have a partner (13). Their tags are equal (14), but only one of them has a comment (15). Their
fragments share 5 of 10 and 10 characters (21), and one of one and two tags (22):

>>> of["accordance"], of["tags"], of["overtexts"]
(0.6667, 1.0, 0.0)
>>> of["fragments.accordance"], of["fragments.texts"], of["fragments.tags"], of["fragments.overtexts"]
(1.0, 0.5, 0.6667, 1.0)

The criterion of the fragments is the mean of its four parts (19), and C is the mean of its six (7). With only
one fragment each, the unions are the fragments (23), (24):

>>> of["fragments"], of["fragment_text_union"], of["fragment_tag_union"], of["total"]
(0.7917, 0.5, 0.6667, 0.6042)

Three things in the paper are not followed to the letter:

* (9) chooses the accordance that maximizes the weighted average of the level, and so may drop a weak pair to
  raise the average. Here it maximizes the sum of the pairs' weighted averages. The parameter ``accordance``
  has "exact" for the letter, which gives the repository's sample 0.8996 instead of 0.8880.
* (17) compares lemmas, and here words count as they are written, because Kaggle's image has no lemmatizer. The
  parameter ``lemmatizer`` names one.
* (24) has the name of (23), and (15) writes A_M for A_L. Both are read as typing errors.

Where the paper is silent, this file decides:

* Values that differ by less than 1e-9 count as equal. Among equal pairings the one with more pairs wins, and
  then the contents of the markups decide. The order of objects in the file never matters.
* Inner levels are paired first: the overtexts of fragments, then overtexts and fragments, then elements. With
  "exact" this leads to the joint optimum. With "sum" it need not.
* Objects that have nothing in common are never partners. Two fragments need common characters, and two
  overtexts need common words or tags. Two elements need fragments that may be partners.
* Objects that are both empty may be partners: elements without fragments, overtexts without words and tags, and
  fragments without characters at the same place.
* F(∅, ∅) = 1. Where neither markup has objects of a kind, every criterion of that kind is 1. Where only one
  markup has some, or where no pair is found, it is 0.
* A weight is 1 by default, but 0 for what no expert marked. A competition should give all weights, because its
  Public and Private parts may have different defaults.
* A markup with "selections" has the form of the READ//ABLE competition. It is read as one element without
  overtexts. Its selections are the fragments, with their type and subtype as tags. If all markups of the
  experts have this form, a submission must have it, too, and ``accordance`` has the weight 0.
* AMA is a mean over the documents with at least one expert, EMA and RMA over those with at least two. EMA
  takes every pair of experts once.
* A word is a sequence of letters, digits and underscores in lower case, with ё read as е. Repeated words
  count, but repeated tags do not.
* Offsets count characters from 0, and the end is exclusive. An element, a fragment or an overtext with a key
  that is not known is refused, because the key would be ignored.
"""

import difflib
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

__version__ = "3.2.0"

NAME = "markup_consistency"
COMPLETE_SUBMISSION = False
MEASURE_PARAMETERS = ("measure", "criterion")

# The parts of each composite criterion. The first part of each is its accordance.
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

    On Kaggle, leave "Pass complete submission" off, and give all `weights`: by default they depend on what the
    experts of a part have marked.

    The consistency C of two markups is a number from 0 to 1. AMA is the mean C of the algorithm's markup with
    the experts' markups. EMA is the mean C of the experts' markups with each other. The score is the relative
    accuracy RMA = AMA / EMA. From 1 on, the algorithm agrees with the experts as well as they agree with each
    other. Documents with one expert are left out of RMA. Only elements with common text are compared, and an
    element without a partner lowers the score. A markup has at most 2,000 elements, fragments and overtexts.

    Parameters
    ----------
    solution : DataFrame
        The experts' markups, with one row per document. It has the column `row_id_column_name` and the column
        ``markups``, which holds JSON: the list of the experts' markups. Each has the form
        ``{"elements": [{"tags": […], "overtexts": [{"comment": "…", "tags": […]}], "fragments": [{"start": 0,
        "end": 10, "tags": […], "overtexts": […]}]}]}``. Only ``elements``, ``start`` and ``end`` are required.
        If there is a column ``text``, offsets are checked against it.
    submission : DataFrame
        The algorithm's markups, with one row per document. It has the column `row_id_column_name` and the
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
        "simplemma:" and a language, such as "simplemma:en". The package must be installed.

    Returns
    -------
    float
        The measure. It is at least 0, and only RMA can be greater than 1.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed. The text of the exception tells two things about the solution: how many
        documents are missing, and which offsets are beyond the text.
    HostVisibleError
        The solution is malformed, a parameter is wrong, or the measure is not defined. It is not defined if no
        document has an expert. RMA also needs a document with two experts who have something in common.

    References
    ----------
    A. Levikin and others, "The methodology of multi-criteria evaluation of text markup models based on
    inconsistent expert markup", 2025, section 3, DOI 10.28995/2075-7182-2025-23-1066-1080.

    Examples
    --------
    One of two experts marks a longer stretch as the error. The algorithm agrees with the other expert:

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
    """Whether a higher score is better."""
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
    """How markups are compared."""

    weights: Mapping[str, float]  # the weight of each of the `CRITERIA` except the total
    accordance: str  # how partners are chosen: "sum" or "exact"
    is_readable: bool = False  # whether all markups of the experts have the form of READ//ABLE

    def criteria_of(self, pairs: "Pairs") -> Floats:
        """Compare pairs of markups."""
        averages = consistency(pairs, self)[-1]["total"].averages
        return np.column_stack([averages[name] for name in CRITERIA])


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A solution that `prepare` has checked and parsed, with the parameters to score against it."""

    items: list[str]  # the ids of the n documents, sorted as text
    item_of_row: Ints  # (rows,) the document of each row of the solution, as an index into `items`
    labels: list[tuple[str, str]]  # the names of the groups of documents, of which there is one: all
    groups: Ints  # (1, n) the group of each document, as an index into `labels`
    lengths: dict[str, int | None]  # the characters of each document's text, by its id; None if not known
    experts: list[list["Markup"]]  # the experts' markups of each document, ordered by content
    among: list[Floats]  # for each document the `CRITERIA` of the pairs of its experts
    rules: Rules
    parameters: tuple[str, str, str, str]  # row_id_column_name, measure, criterion and lemmatizer

    @property
    def measure_names(self) -> list[str]:
        """The score, AMA, EMA and RMA of the total, and the AMA of every other criterion."""
        return ["score", "AMA", "EMA", "RMA", *CRITERIA[1:]]

    def read(self, submission: pd.DataFrame) -> list["Markup"]:
        """Check and parse a submission."""
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
        """Compare the algorithm's markup of each document with the experts' markups."""
        pairs = [[(markup, expert) for expert in experts] for markup, experts in zip(read, self.experts)]
        return compared(pairs, self.rules.criteria_of, progress)

    def count(self, algorithm: Sequence[Floats]) -> Floats:
        """Compute for each document the numbers whose sums decide every measure."""
        rows = []
        for ours, theirs in zip(algorithm, self.among):
            of_two = [mean(ours)[0], mean(theirs)[0], 1] if len(theirs) else [0, 0, 0]
            rows.append([*mean(ours), len(ours) > 0, *of_two])
        return np.array(rows, dtype=np.float64)

    def statistics(self, submission: pd.DataFrame, progress: Progress | None = None) -> Floats:
        """Compute for each document the numbers whose sums decide every measure."""
        return self.count(self.compare(self.read(submission), progress))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute the measures from sums of statistics."""
        _, measure, criterion, _ = self.parameters
        criteria, ema, rma = average_accuracies(np.asarray(sums, dtype=np.float64)[..., 0, :])
        asked_for = rma if measure == "rma" else criteria[..., CRITERIA.index(criterion)]
        ama = criteria[..., 0]
        return np.concatenate([np.stack([asked_for, ama, ema, rma], axis=-1), criteria[..., 1:]], axis=-1)


# ---- Markups (1)-(4) -------------------------------------------------------------------------------------


class Item(NamedTuple):
    """An object of a markup: an element (2), a fragment (3) or an overtext (4)."""

    # All that is compared: the start, the end, the comment, the tags, and the contents of the object's
    # overtexts and fragments.
    content: tuple[Any, ...]
    position: int  # in its list in the file, from 0
    words: frozenset[Any]  # the words of the comment, as `bag_of_words` returns them
    tags: frozenset[str]
    overtexts: tuple["Item", ...]  # ordered by content, as the fragments are
    fragments: tuple["Item", ...]


# An element without fragments gets this one, which lies behind the end of every text.
NOWHERE = Item((LAST_OFFSET + 1, LAST_OFFSET + 1, "", (), (), ()), -1, frozenset(), frozenset(), (), ())


class Side(NamedTuple):
    """The elements and fragments of one side of a comparison, as columns.

    One side is a single markup, or one markup of each pair of markups. It has e elements and n fragments, and
    the fragments cover m stretches of text.
    """

    elements: Sequence[Item]
    pair: Ints  # (e,) the number of the pair of markups to which each element belongs
    fragments: Sequence[Item]  # ordered by pair and start; an element without fragments has `NOWHERE`
    element: Ints  # (n,) the element of each fragment, as an index into `elements`
    # (2, n) The starts and the ends of the fragments. The offsets of each pair are `APART` higher than those of
    # the pair before, so fragments of different pairs never overlap.
    spans: Ints
    covered: (
        Ints  # (2, m) the starts and the ends of the stretches; those of an element do not touch each other
    )
    covering: Ints  # (m,) the element of each stretch, as an index into `elements`
    united_tags: Sequence[frozenset[str]]  # for each element the tags of all its fragments


class Markup(NamedTuple):
    """A markup (1)."""

    content: tuple[Any, ...]  # all that is compared: the contents of the elements, sorted
    elements: tuple[Item, ...]  # the elements, ordered by content
    side: Side  # the elements and their fragments as columns, so that many markups can be compared at once
    is_readable: bool  # whether the markup has the form of READ//ABLE
    size: int  # the number of its elements, fragments and overtexts together
    number: int = 0  # the number of an expert's markup in the document, from 1; 0 for the algorithm's markup


Pairs = Sequence[tuple[Markup, Markup]]


def side_of(elements: Sequence[Item]) -> Side:
    """Turn the elements of a markup into columns."""
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
    """Join the columns of several markups, each of which belongs to another pair."""
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
# Many pairs of markups are compared at once. There are several levels: elements, then overtexts and fragments
# of elements, then overtexts of fragments. What holds the objects of a level is called a holder. For every
# pair of holders there is a problem: which objects of the one are the partners of which objects of the other?


class Level(NamedTuple):
    """The partners among the objects of one level."""

    # (p, 4) For each pair of partners the number of their problem, the indices of the two objects, and the
    # number of their own problem on the level below, where the two are the holders.
    partners: Ints
    criteria: dict[str, Floats]  # the criteria of each pair of partners, without the accordance
    averages: dict[str, Floats]  # the level's criterion and its parts in each problem


def consistency(pairs: Pairs, rules: Rules) -> tuple[Side, Side, dict[str, Level]]:
    """Compute the consistency C of pairs of markups, and everything that it is made of (7)."""
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
    """Find the optimal accordance of a level in each problem (8), (9)."""
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

    >>> f_measure(np.array([2, 0, 0]), np.array([5, 3, 0])).tolist()
    [0.8, 0.0, 1.0]
    """
    is_empty = total == 0
    return np.asarray((2.0 * common + is_empty) / (total + is_empty))


def f_of_sets(pairs: Iterable[tuple[frozenset[Any], frozenset[Any]]]) -> Floats:
    """Compute F of pairs of sets (6)."""
    common, total = _ints((len(a & b), len(a) + len(b)) for a, b in pairs).reshape(-1, 2).T
    return f_measure(common, total)


def c_accordance(pairs: Ints, objects: Ints) -> Floats:
    """Compute the share of objects that have a partner: elements (13), overtexts (16) or fragments (20)."""
    return f_measure(pairs, objects)


def c_tags(x: Sequence[Item], y: Sequence[Item]) -> Floats:
    """Compare the tags of pairs of objects: elements (14), overtexts (18) or fragments (22)."""
    return f_of_sets((a.tags, b.tags) for a, b in zip(x, y))


def c_overtexts(name: str, x: Sequence[Item], y: Sequence[Item], rules: Rules) -> Level:
    """Find the partners among the overtexts of pairs of elements (15) or of pairs of fragments (3.4.4)."""
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
    """Compare the words of pairs of overtexts (17)."""
    return f_of_sets((a.words, b.words) for a, b in zip(x, y))


def c_fragments(x: Side, y: Side, candidates: Ints, objects: Ints, rules: Rules) -> tuple[Level, Level]:
    """Find the partners among the fragments of pairs of elements (19), and among the overtexts of fragments."""
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
    """Compare the characters of pairs of fragments (21)."""
    return f_measure(np.minimum(x[1], y[1]) - np.maximum(x[0], y[0]), x[1] - x[0] + y[1] - y[0])


def c_union_of_texts(x: Side, y: Side, ours: Ints, theirs: Ints) -> Floats:
    """Compare the characters that all fragments of either element cover, for pairs of elements (23)."""
    of_x, of_y = (
        np.bincount(side.covering, side.covered[1] - side.covered[0], len(side.elements)) for side in (x, y)
    )
    # The stretches of an element do not overlap. So the number of characters that two elements share is the
    # sum over the pairs of their stretches.
    i, k = overlapping(x.covered, y.covered).T
    shared = np.minimum(x.covered[1][i], y.covered[1][k]) - np.maximum(x.covered[0][i], y.covered[0][k])
    base = len(y.elements)
    pair = np.searchsorted(ours * base + theirs, x.covering[i] * base + y.covering[k])
    common = np.bincount(pair, shared, len(ours))
    return f_measure(common.astype(np.int64), (of_x[ours] + of_y[theirs]).astype(np.int64))


def c_union_of_tags(x: Side, y: Side, ours: Ints, theirs: Ints) -> Floats:
    """Compare the tags that all fragments of either element have, for pairs of elements (24)."""
    pairs = zip(ours.tolist(), theirs.tolist())
    return f_of_sets((x.united_tags[one], y.united_tags[other]) for one, other in pairs)


def _ints(values: Iterable[Any]) -> Ints:
    """An array of whole numbers, also from values of which there are none."""
    return np.array(list(values), dtype=np.int64)


# ---- The optimal accordance (8), (9) -----------------------------------------------------------------------


def best_average(ends: Ints, worth: Floats, objects: int, share: float) -> Bools:
    """Choose the one-to-one pairs of a problem that make the level's weighted average the largest (9)."""
    # Let q pairs be chosen among n objects, and let S be the sum of their worth. Then the average is
    # share·2q/n + (1 - share)·S/q. For each q only the largest S matters, and this S/q falls as q grows.
    # Let the best choices of low and of high pairs be known. One bound holds for every size between the two.
    # It is the average of high - 1 pairs if their mean worth were S/q of the low ones. If this bound is not
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
    # There are as many spare columns as rows that must stay without a partner. A spare column is worth more
    # than all pairs together, so all spare columns are taken. A pair that is not a candidate is worth so
    # little that it is taken only if so many pairs are impossible.
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    matrix = np.full((rows, columns + rows - pairs), float(rows + 1))
    matrix[:, :columns] = -float(rows + 1)
    matrix[row, column] = worth
    partner = linear_sum_assignment(matrix, maximize=True)[1]
    chosen: Bools = partner[row] == column
    return chosen


# ---- The corpus (10)-(12) ---------------------------------------------------------------------------------


def average_accuracies(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute AMA (10), EMA (11) and RMA (12)."""
    *_, number, of_two, theirs, two = np.moveaxis(sums, -1, 0)
    ama, ema = _ratio(sums[..., :-4], number[..., np.newaxis]), _ratio(theirs, two)
    return ama, ema, _ratio(_ratio(of_two, two), ema)


# ---- Weights (7) -----------------------------------------------------------------------------------------


def weights_in_use(
    experts: Iterable[Markup], is_readable: bool, given: Mapping[str, float]
) -> dict[str, float]:
    """Decide the weight of each criterion.

    A weight that the host gives is used as it is. Other weights are 1, but 0 for what no expert marked.
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
# What an object may say; a key that is none of these would be ignored, so it is refused.
KNOWN = {
    "element": ("fragments", "overtexts", "tags", "id"),
    "fragment": ("start", "end", "tags", "overtexts", "text", "id"),
    "overtext": ("comment", "tags", "id"),
}


def read_experts(cell: str, length: int | None, lemmatize: Lemmatizer) -> list[Markup]:
    """Read the markups of a document's experts."""
    values = _read_value(_load(cell), list, wanted="a list of markups")
    markups = _read_each("markup", values, lambda value: read_markup(value, length, lemmatize))
    numbered = [markup._replace(number=number) for number, markup in enumerate(markups, 1)]
    return sorted(numbered, key=lambda markup: markup.content)


def read_markup(
    value: Any, length: int | None, lemmatize: Lemmatizer = str, is_readable: bool = False
) -> Markup:
    """Read a markup."""
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
    """Turn a READ//ABLE markup into the general form."""

    def fragment(value: Any) -> dict[str, Any]:
        _check_keys(_read_value(value, dict), SELECTION_KEYS)
        tags = [code for code in map(_plain, _read_keys(value, CODES)) if code]
        return {"start": value.get("startSelection"), "end": value.get("endSelection"), "tags": tags}

    (values,) = _read_keys(markup, {"selections": (list, [])})
    fragments = _read_each("selection", values, fragment)
    return {"elements": [{"fragments": fragments}] if fragments else []}


def read_items(
    holder: Mapping[str, Any], noun: str, length: int | None, lemmatize: Lemmatizer
) -> tuple[Item, ...]:
    """Read the elements, fragments or overtexts that an object holds."""

    def read(numbered: tuple[int, Any]) -> Item:
        position, value = numbered
        _check_keys(_read_value(value, dict), KNOWN[noun])
        start, end = _read_span(value, SPAN, length) if noun == "fragment" else (0, 0)
        (comment,) = _read_keys(value, COMMENT) if noun == "overtext" else ("",)
        tags = [] if value.get("tags") is None else value["tags"]
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
    """The distinct tags, sorted and as a set; the same tag in two forms of Unicode is one.

    Most objects have the same few tags. Because of the cache they share the results.
    """
    distinct = frozenset([unicodedata.normalize("NFC", tag) for tag in tags])
    return tuple(sorted(distinct)), distinct


def _contents(items: Sequence[Item]) -> tuple[Any, ...]:
    """The content of each item."""
    return tuple([item.content for item in items])


def bag_of_words(comment: str, lemmatize: Lemmatizer) -> frozenset[tuple[str, int]]:
    """Collect the words of a comment, with repetitions.

    >>> sorted(bag_of_words("No, no reason", str))
    [('no', 0), ('no', 1), ('reason', 0)]
    """
    words = re.findall(r"\w+", unicodedata.normalize("NFC", comment).lower())
    counts = Counter(lemmatize(word).lower().replace("ё", "е") for word in words)
    return frozenset((word, before) for word, count in counts.items() for before in range(count))


@functools.cache
def lemmatizer_of(name: str) -> Lemmatizer:
    """Find the function that turns a word into its lemma."""
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


# ---- Shared: columns of documents ------------------------------------------------------------------------


def read_ids(table: _Table, expected: Sequence[str] | None = None) -> list[str]:
    """Read the id of each row's document; no document may be there twice."""
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
    """Read how long each document's text is."""
    if "text" not in table.frame:
        for name in map(str, table.frame):
            if name.strip().lower() == "text":
                raise table.error(f"{table.name}: expected the column text, found {_quoted(name)}")
        return [None] * len(table.frame)
    table.check_columns("text")
    return read_column(table, "text", len, "a value in every row")


def read_column(table: _Table, name: str, read: Callable[..., Any], expected: str, *about: Any) -> list[Any]:
    """Read the cells of a column."""
    values, faults = [], dict[int, str]()
    with _no_garbage():
        for row, (cell, *known) in enumerate(zip(table.frame[name].to_numpy(dtype=object), *about)):
            try:
                text = "" if _is_missing(cell) else _as_text(cell)
                if not text.strip():
                    raise ValueError("missing")
                values.append(read(text, *known))
            except ValueError as fault:
                if isinstance(fault, TooMany) and not faults:
                    expected = fault.expected
                faults[row] = str(fault)
    table.reject(name, [row in faults for row in range(len(table.frame))], faults.__getitem__, expected)
    return values


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Pause Python's garbage collector, which would look at the many objects of markups again and again."""
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_collecting:
            gc.enable()


# ---- Shared: JSON ----------------------------------------------------------------------------------------
# The readers of values raise a ValueError that says what is wrong. The readers of lists add the number of the
# item that has the fault.


_NAMES_OF_TYPES = {dict: "an object", list: "a list", str: "text", int: "a whole number"}
# The keys of a selection of READ//ABLE.
SELECTION_KEYS = (
    *("startSelection", "endSelection", "type", "subtype", "correction", "group", "comment", "explanation"),
    *("tag", "id"),
)


def _check_keys(holder: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise a ValueError for a key that is not known, because it would be ignored; it names the nearest one."""
    for key in holder:
        if key not in known:
            by_case = {name.lower(): name for name in known}
            near = difflib.get_close_matches(key.lower(), by_case, 1, 0.7)
            hint = f"write {by_case[near[0]]}" if near else f"the keys are {', '.join(known)}"
            raise ValueError(f"the key {_quoted(key)} is not known; {hint}")


def _read_keys(value: Any, keys: Keys) -> list[Any]:
    """The values that a JSON object has under `keys`, which give types and defaults; None means required."""
    holder = _read_value(value, dict)
    return [
        default
        if default is not None and holder.get(name) is None
        else _read_value(holder.get(name), kind, f"{name} is ")
        for name, (kind, default) in keys.items()
    ]


def _read_value(value: Any, kind: Any, subject: str = "", wanted: str = "") -> Any:
    """A JSON value of type `kind`. A whole number is an offset up to `LAST_OFFSET` and may be written 4.0."""
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
    """Apply `read` to each value of a list; a fault is told with the `noun` and the value's number, from 1."""
    results = []
    for number, value in enumerate(values, 1):
        try:
            results.append(read(value))
        except ValueError as fault:
            fault.args = (f"{noun} {number}: {fault}",)
            raise
    return results


def _read_span(value: Any, keys: Keys, length: int | None) -> list[int]:
    """The start and the end that an object has under two keys, within a text of `length` characters."""
    start, end = _read_keys(value, keys)
    if start > end or (length is not None and end > length):
        first, last = keys
        fault = f"{first} {start} is after {last} {end}" if start > end else f"{last} {end} is beyond the text"
        raise ValueError(fault)
    return [start, end]


class TooMany(ValueError):
    """There is more of something than a markup may have."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found)
        self.expected = expected


def _at_most(most: int, number: int, what: str) -> None:
    """Raise `TooMany` if there are more than `most` of something."""
    if number > most:
        raise TooMany(f"{number:,} {what}", f"at most {most:,} {what} in a markup")


def _plain(text: str) -> str:
    """A text without differences of case, outer spaces and Unicode form."""
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
    """Reject NaN and Infinity, which Python's decoder would read although JSON does not know them."""
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


# ---- Shared: parameters of the markup metrics ------------------------------------------------------------


def _check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise `HostVisibleError` unless the value of the parameter `name` is one of the `choices`."""
    if value not in choices:
        expected = _listed(choices, len(choices), LONGEST_MESSAGE - CHARACTERS_SHOWN - 40)
        raise HostVisibleError(f"{name}: expected {expected}, found {_quoted(value)}")


def _parse_weights(text: str, names: Sequence[str]) -> dict[str, float]:
    """The weights that a text such as "tags=2,overtexts=0" gives to some of the `names`."""
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

    [0, 5) overlaps [2, 6), and the empty span at 7 is on both sides:

    >>> overlapping(np.array([[0, 7], [5, 7]]), np.array([[2, 5, 7], [6, 9, 7]])).tolist()
    [[0, 0], [1, 2]]
    """
    # The candidates for a span come after all spans that end before it starts, and before all spans that start
    # at its end or later. Both bounds are found by binary search. Ends are not sorted, but their running
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
    """Split an assignment problem into problems that do not depend on each other."""
    i, k = ends.T
    rows = i.max() + 1
    graph = coo_array((np.ones(len(i), dtype=bool), (i, rows + k)), shape=(rows + k.max() + 1,) * 2)
    labels: Ints = connected_components(graph, directed=False)[1][i].astype(np.int64)
    return labels


def _rank_within(group: Ints, values: Ints) -> Ints:
    """The rank of each value among the values of its group, from 0. A value is in one group only."""
    # There are few different values, but many candidates. So a table of the values is sorted instead of the
    # candidates; in it, -1 stands for a value that does not occur.
    group_of = np.full(values.max() + 1, -1)
    group_of[values] = group
    order = np.argsort(group_of, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.asarray((rank - np.searchsorted(group_of[order], group_of))[values])


def _groups(labels: Ints) -> list[Ints]:
    """For each label, in ascending order, the indices at which it stands."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if len(order) else []


def _mean_over_pairs(values: Any, problem: Ints, objects: Ints) -> Floats:
    """The mean value of each problem: 0 with objects but no values, and 1 without objects."""
    sums = np.bincount(problem, values, len(objects))  # it adds values one after the other, in a fixed order
    means = sums / np.maximum(np.bincount(problem, minlength=len(objects)), 1)
    return np.where(objects > 0, means, 1.0)


def compared(
    documents: Sequence[Pairs], compare: Callable[[Pairs], Floats], progress: Progress | None = None
) -> list[Floats]:
    """Compare the pairs of markups of many documents."""
    # Documents are compared in batches: numpy is fast with many pairs at once, but memory is limited.
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
    """Compute the mean of each column."""
    return np.asarray(values.sum(axis=0) / max(len(values), 1))


# ---- Shared: quotients -----------------------------------------------------------------------------------


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """The quotients of two arrays, NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient
