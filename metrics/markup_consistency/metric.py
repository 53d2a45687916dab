"""Consistency of an algorithm's text markup with experts who disagree, as one file to upload to Kaggle.

Experts mark elements in a text, such as errors, with tags, fragments of the text and overtexts (comments), and
they disagree.  ``score`` says how well an algorithm's markup agrees with theirs, compared with how well they
agree with each other.  Numbers in brackets are equations of the paper that ``score`` names.  After the public
functions come the stages, in the order in which the data passes through them, and after these the input:

    consistency           (7)        consistency, level_of
    criteria              (13)-(24)  c_accordance, c_tags, c_overtexts … c_union_of_tags
    optimal accordance    (8), (9)   best_sum, best_average
    corpus                (10)-(12)  compared, average_accuracies
    weights               (7)        weights_in_use
    input                 (1)-(4)    read_experts, read_markup

The criteria; those with a dot are parts of the one before the dot:

    total                 (7)   C, the weighted average of the six without a dot
    accordance            (13)  elements that found a partner
    tags                  (14)  tags of partners
    overtexts             (15)  .accordance (16), .texts (17), .tags (18)
    fragments             (19)  .accordance (20), .texts (21), .tags (22), .overtexts (3.4.4) with such parts
    fragment_text_union   (23)  characters of all fragments of partners
    fragment_tag_union    (24)  tags of all fragments of partners

Where the paper is silent, this file decides:

* Accordance "sum" maximizes the sum of the pairs' weighted averages.  "exact", literally (9), maximizes their
  mean and so may drop a weak pair.  Among equal ones (to 1e-9) more pairs win, then contents, never the order.
* Inner levels come first.  That is the joint optimum for "exact"; for "sum" it need not be.
* What has nothing in common is no pair.  Elements need fragments that may be partners, fragments need common
  characters, overtexts common words or tags; or neither has any, and empty fragments need the same place.
* F(∅, ∅) = 1: of two empty sets of objects every criterion is 1.  Where one is empty, or no pair is found, it
  is 0.
* Weights are 1, but 0 for what no expert marked.  A competition should give all, as its parts may differ.
* A READ//ABLE markup (with "selections") is one element with these as fragments, type and subtype as tags,
  without overtexts.  Where all experts' are such, a submission's must be, and ``accordance`` has weight 0.
* AMA is over documents with an expert, EMA (unordered pairs) and RMA over those with two.
* Words are letters, digits and underscores in lower case, ё as е; repeated ones count, repeated tags do not.
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

# The parts of composite criteria, their accordance first.
OF_OVERTEXTS = ("overtexts.accordance", "overtexts.texts", "overtexts.tags")
PARTS = {
    "total": ("accordance", "tags", "overtexts", "fragments", "fragment_text_union", "fragment_tag_union"),
    "overtexts": OF_OVERTEXTS,
    "fragments": ("fragments.accordance", "fragments.texts", "fragments.tags", "fragments.overtexts"),
    "fragments.overtexts": tuple(f"fragments.{name}" for name in OF_OVERTEXTS),
}


def _with_parts(name: str) -> list[str]:
    """A criterion, its parts, their parts …"""
    return [name, *(inner for part in PARTS.get(name, ()) for inner in _with_parts(part))]


CRITERIA = tuple(_with_parts("total"))
MEASURES = ("rma", "ama", "consistency")
ACCORDANCES = ("sum", "exact")

TIE = 1e-9  # sums of worth that differ by less are equal
LAST_OFFSET = 1_000_000_000
APART = LAST_OFFSET + 2  # between the markups compared at once
AT_ONCE = 100_000  # pairs of objects
MOST_OBJECTS, MOST_CHARACTERS = 2_000, 200_000  # of a markup
LARGE = 500  # rows and columns of an assignment problem

LONGEST_MESSAGE = 280  # characters; Kaggle cuts the rest
ROWS_SHOWN = 3
CHARACTERS_SHOWN = 40

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Lemmatiser = Callable[[str], str]
Progress = Callable[[int, int], None]  # to be told how many documents are done, and how many there are
Keys = Mapping[str, tuple[type, Any]]  # of a JSON object: the type of a value and its default, None if required


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong.  Kaggle knows this exception by its name and shows its text to participants."""


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

    C, from 0 to 1, compares the elements of two markups, with tags, fragments and overtexts (comments), that an
    optimal one-to-one assignment, the accordance, made partners.  AMA is the mean C of algorithm and experts,
    EMA that of experts with each other, RMA = AMA/EMA.

    Parameters
    ----------
    solution : DataFrame, one row per document
        `row_id_column_name` and ``markups``: JSON, the list of the experts' markups, each of the form
        ``{"elements": [{"tags": […], "overtexts": [{"comment": "…", "tags": […]}], "fragments": [{"start": 0,
        "end": 10, "tags": […], "overtexts": […]}]}]}``, where only ``elements``, ``start`` and ``end`` are
        required.  With a column ``text``, offsets are checked against it.
    submission : DataFrame, one row per document
        `row_id_column_name` and ``markup``: JSON, the algorithm's.
    row_id_column_name : str
        The documents' ids, compared as text.
    measure : str
        "rma", "ama", or "consistency", the mean of one criterion.
    criterion : str
        That one, such as "fragments.texts".
    accordance : str
        "sum" or "exact".
    weights : str
        What differs from the default, as in "tags=2,fragments.texts=0".
    lemmatiser : str
        "none", or an installed one: "pymorphy3" (Russian), "simplemma:en" …

    Returns
    -------
    float
        At least 0; only RMA may exceed 1.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed.  The text tells of the solution only how many documents are missing, and
        which offsets are beyond a text.
    HostVisibleError
        The solution is malformed, a parameter is wrong, or the measure is not defined: no document has an
        expert (RMA: two who have something in common).

    References
    ----------
    A. Levikin and others, "The methodology of multi-criteria evaluation of text markup models based on
    inconsistent expert markup", 2025, section 3, DOI 10.28995/2075-7182-2025-23-1066-1080.

    Examples
    --------
    One of two experts marks an error longer:

    >>> def markup(end):
    ...     return {"elements": [{"fragments": [{"start": 0, "end": end, "tags": ["logic"]}]}]}
    >>> experts = json.dumps([markup(10), markup(15)])
    >>> solution = pd.DataFrame({"document_id": ["A"], "markups": [experts]})
    >>> submission = pd.DataFrame({"document_id": ["A"], "markup": [json.dumps(markup(10))]})
    >>> round(score(solution, submission, "document_id"), 6)
    1.035714
    """
    prepared = prepare(solution, row_id_column_name, measure, criterion, accordance, weights, lemmatiser)
    sums = prepared.statistics(submission).sum(axis=0)  # of rows one after the other
    return float(prepared.measures(sums[np.newaxis])[0])


def higher_is_better() -> bool:
    """Whether a higher score is better: it is, whatever the parameters of `score`."""
    return True


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "rma",
    criterion: str = "total",
    accordance: str = "sum",
    weights: str = "",
    lemmatiser: str = "none",
    *,
    progress: Progress | None = None,
) -> "Prepared":
    """Check and digest a solution once, to score many submissions.

    The parameters, and the `HostVisibleError`, are those of `score`.

    Parameters
    ----------
    progress : callable, optional
        Is told of how many documents the experts have been compared, and how many documents there are.

    Returns
    -------
    Prepared
    """
    _check_text("row_id_column_name", row_id_column_name)
    _check_choice("measure", measure, MEASURES)
    _check_choice("criterion", criterion, CRITERIA)
    _check_choice("accordance", accordance, ACCORDANCES)
    _check_text("weights", weights)
    _check_text("lemmatiser", lemmatiser)
    if criterion != "total" and measure != "consistency":
        raise HostVisibleError(f"criterion: expected measure 'consistency' with it, found {_quoted(measure)}")
    explicit = _parse_weights(weights, CRITERIA[1:])
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns("markups")
    ids, lengths = read_ids(table), read_lengths(table)
    form = 'a list of markups in JSON, such as [{"elements": [{"fragments": [{"start": 0, "end": 10}]}]}]'
    read = functools.partial(read_experts, lemmatise=lemmatiser_of(lemmatiser))
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
        parameters=(row_id_column_name, measure, criterion, lemmatiser),
    )


class Rules(NamedTuple):
    """How markups are compared.

    Attributes
    ----------
    weights : mapping of criterion to float
        Of all `CRITERIA` but the total.
    accordance : str
        "sum" or "exact".
    is_readable : bool
        Whether all experts' markups are in READ//ABLE's form.
    """

    weights: Mapping[str, float]
    accordance: str
    is_readable: bool = False

    def criteria_of(self, pairs: "Pairs") -> Floats:
        """`CRITERIA` of each pair of markups, (pairs, criteria)."""
        averages = consistency(pairs, self)[-1]["total"].averages
        return np.column_stack([averages[name] for name in CRITERIA])


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A solution, checked and digested by `prepare`, with the parameters to score against it.

    Attributes
    ----------
    items : list of str
        Ids of the n documents, sorted as text.
    item_of_row : (rows,) int
        The document of each row of the solution.
    labels : list of (attribute, value)
        One, that of all documents.
    groups : (1, n) int
        Zeros, which are indices into `labels`.
    lengths : dict
        The length of each id's text in characters; None where it is not known.
    experts : list of list of Markup
        Of each document, in the order of content.
    among : list of (pairs, criteria) float
        Of each document, `CRITERIA` of its experts with each other.
    rules : Rules
    parameters : tuple of str
        row_id_column_name, measure, criterion and lemmatiser.
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
        """Names of the m measures: the score; AMA, EMA and RMA of the total; AMA of each other criterion."""
        return ["score", "AMA", "EMA", "RMA", *CRITERIA[1:]]

    def read(self, submission: pd.DataFrame) -> list["Markup"]:
        """The algorithm's markup of each document, in the order of `items`, or a `ParticipantVisibleError`."""
        table = _Table(submission, "the submission", self.parameters[0], ParticipantVisibleError)
        table.check_columns("markup")
        ids, is_readable = read_ids(table, self.items), self.rules.is_readable
        form = '"selections": []' if is_readable else '"elements": [{"fragments": [{"start": 0, "end": 10}]}]'
        lemma = lemmatiser_of(self.parameters[-1])
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
        """`CRITERIA` of the algorithm's markup with each expert's, (experts, criteria) of each document."""
        pairs = [[(markup, expert) for expert in experts] for markup, experts in zip(read, self.experts)]
        return compared(pairs, self.rules.criteria_of, progress)

    def count(self, algorithm: Sequence[Floats]) -> Floats:
        """The statistics of what `compare` returns.

        Parameters
        ----------
        algorithm : sequence of (experts, criteria) float

        Returns
        -------
        (n, criteria + 4) float
            Of a document with an expert the means of the criteria, and 1; of one with two experts the mean
            total, that of its experts with each other, and 1; else 0.
        """
        rows = []
        for ours, theirs in zip(algorithm, self.among):
            of_two = [mean(ours)[0], mean(theirs)[0], 1] if len(theirs) else [0, 0, 0]
            rows.append([*mean(ours), len(ours) > 0, *of_two])
        return np.array(rows, dtype=np.float64)

    def statistics(self, submission: pd.DataFrame, progress: Progress | None = None) -> Floats:
        """Numbers per document, as `count` returns them, whose sums decide every measure."""
        return self.count(self.compare(self.read(submission), progress))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """The measures, (..., m), of sums of statistics, (..., 1, criteria + 4); NaN where not defined."""
        _, measure, criterion, _ = self.parameters
        criteria, ema, rma = average_accuracies(np.asarray(sums, dtype=np.float64)[..., 0, :])
        asked_for = rma if measure == "rma" else criteria[..., CRITERIA.index(criterion)]
        ama = criteria[..., 0]
        return np.concatenate([np.stack([asked_for, ama, ema, rma], axis=-1), criteria[..., 1:]], axis=-1)


# ---- Markups (1)-(4) -------------------------------------------------------------------------------------


class Item(NamedTuple):
    """An element (2), fragment (3) or overtext (4).

    Attributes
    ----------
    content : tuple
        All that is compared: start, end, comment, tags, contents of overtexts and of fragments, sorted.
    position : int
        In the list of its holder, from 0.
    words : frozenset
        The bag of the comment's words, as `bag_of_words` returns it.
    tags : frozenset of str
    overtexts, fragments : tuple of Item
        In the order of content.
    """

    content: tuple[Any, ...]
    position: int
    words: frozenset[Any]
    tags: frozenset[str]
    overtexts: tuple["Item", ...]
    fragments: tuple["Item", ...]


# Behind all texts, it stands for the fragments of an element that has none.
NOWHERE = Item((LAST_OFFSET + 1, LAST_OFFSET + 1, "", (), (), ()), -1, frozenset(), frozenset(), (), ())


class Side(NamedTuple):
    """The e elements of a markup, or of one markup of each pair, and their fragments, as columns.

    Attributes
    ----------
    elements : sequence of Item, (e,)
    pair : (e,) int
        The number of each element's pair of markups.
    fragments : sequence of Item, (n,)
        By pair and start; `NOWHERE` for an element without fragments.
    element : (n,) int
        Index of each fragment's element.
    spans : (2, n) int
        Starts and ends; those of a pair are `APART` from those of the pair before.
    covered : (2, m) int
        Starts and ends of the stretches of text that the fragments of an element cover, apart from each other.
    covering : (m,) int
        Index of each stretch's element.
    united_tags : sequence of frozenset, (e,)
        The tags of all fragments of each element.
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
        Contents of the elements, sorted: all that is compared.
    elements : tuple of Item
        In the order of content.
    side : Side
        These and their fragments as columns, so that many markups are compared at once.
    is_readable : bool
        Whether it was in READ//ABLE's form.
    size : int
        Number of its elements, fragments and overtexts.
    number : int
        Among the experts' markups, from 1.
    """

    content: tuple[Any, ...]
    elements: tuple[Item, ...]
    side: Side
    is_readable: bool
    size: int
    number: int = 0


Pairs = Sequence[tuple[Markup, Markup]]


def side_of(elements: Sequence[Item]) -> Side:
    """The elements of a markup as columns."""
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
    """Markups one after the other, each of a pair of its own."""
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
    """The stretches of text that are in a fragment, as starts and ends, apart from each other and ascending."""
    stretches: list[tuple[int, int]] = []
    for start, end in sorted(fragment.content[:2] for fragment in fragments):
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(end, stretches[-1][1])
        else:
            stretches.append((start, end))
    return stretches


# ---- Consistency (7) -------------------------------------------------------------------------------------
# Many pairs of markups are compared at once.  On each level there is a problem for every pair of holders: which
# of the objects that the one holds are partners of which that the other holds?


class Level(NamedTuple):
    """The partners among objects of one kind.

    Attributes
    ----------
    partners : (p, 4) int
        Their problem, the indices of the one and of the other, and their own problem on the levels below.
    criteria : dict of (p,) float
        The criteria of each pair, without the accordance.
    averages : dict of (problems,) float
        The level's criterion and its parts in each problem.
    """

    partners: Ints
    criteria: dict[str, Floats]
    averages: dict[str, Floats]


def consistency(pairs: Pairs, rules: Rules) -> tuple[Side, Side, dict[str, Level]]:
    """The consistency C of pairs of markups and all that it is made of (7).

    Parameters
    ----------
    pairs : sequence of (Markup, Markup)
    rules : Rules

    Returns
    -------
    x, y : Side
        Of each pair the markup of the lesser content, and the other: so C(L1, L2) = C(L2, L1) to the last bit.
    levels : dict of Level
        "total", whose averages are (pairs,) each, "overtexts", "fragments" and "fragments.overtexts".
    """
    ordered = [sorted(pair, key=lambda markup: markup.content) for pair in pairs]
    x, y = (joined([pair[number].side for pair in ordered]) for number in (0, 1))
    i, k = overlapping(x.spans, y.spans).T
    # Elements may be partners where fragments of theirs may be.
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
    """The optimal accordance of a level in each problem (8), (9).

    Parameters
    ----------
    name : str
        The level's criterion, one of `PARTS`.
    objects : (problems,) int
        How many objects either markup has in each problem, together.
    candidates : (n, 4) int
        Pairs that may be partners, as `Level` has these.
    criteria : mapping of (n,) float
        Their criteria.
    rules : Rules

    Returns
    -------
    Level
    """
    accordance, *parts = PARTS[name]
    worth = weighted_average(criteria, parts, rules.weights)
    # An object has a number of its own in each problem.
    ends = np.column_stack([_distinct(candidates[:, 0], side)[0] for side in candidates[:, 1:3].T])
    if rules.accordance == "sum":
        chosen = best_sum(ends, worth + TIE)  # so that among equal sums more pairs win
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
    """Codes of pairs of numbers, (n,), and the distinct pairs, sorted."""
    base = b.max(initial=0) + 1
    codes, distinct = pd.factorize(a * base + b, sort=True)
    return codes, *np.divmod(distinct, base)


# ---- Criteria (13)-(24) ----------------------------------------------------------------------------------


def f_measure(common: Ints, total: Ints) -> Floats:
    """F = 2|A ∩ B| / (|A| + |B|), (n,), of |A ∩ B| and |A| + |B|, (n,) each; 1 for two empty sets (6).

    >>> f_measure(np.array([2, 0, 0]), np.array([5, 3, 0])).tolist()
    [0.8, 0.0, 1.0]
    """
    is_empty = total == 0
    return np.asarray((2.0 * common + is_empty) / (total + is_empty))


def f_of_sets(pairs: Iterable[tuple[frozenset[Any], frozenset[Any]]]) -> Floats:
    """F of each pair of sets, (pairs,) (6)."""
    common, total = _ints((len(a & b), len(a) + len(b)) for a, b in pairs).reshape(-1, 2).T
    return f_measure(common, total)


def c_accordance(pairs: Ints, objects: Ints) -> Floats:
    """Share of the objects with a partner in each problem: elements (13), overtexts (16), fragments (20).

    Parameters
    ----------
    pairs, objects : (problems,) int
        Pairs of partners, and objects of both markups together.
    """
    return f_measure(pairs, objects)


def c_tags(x: Sequence[Item], y: Sequence[Item]) -> Floats:
    """F of the tags of aligned objects, (n,): of elements (14), overtexts (18), fragments (22)."""
    return f_of_sets((a.tags, b.tags) for a, b in zip(x, y))


def c_overtexts(name: str, x: Sequence[Item], y: Sequence[Item], rules: Rules) -> Level:
    """The level of overtexts, with a problem for each pair of aligned elements (15) or fragments 3.4.4."""
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
    """F of the bags of words of aligned overtexts, (n,) (17)."""
    return f_of_sets((a.words, b.words) for a, b in zip(x, y))


def c_fragments(x: Side, y: Side, candidates: Ints, objects: Ints, rules: Rules) -> tuple[Level, Level]:
    """The level of fragments (19), and that of their overtexts.

    Parameters
    ----------
    x, y : Side
    candidates : (n, 3) int
        Problem, and indices of fragments that may be partners.
    objects : (problems,) int
        How many fragments either element has, together.
    rules : Rules
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
    """Of each fragment the index of the first that has equal tags and overtexts, (n,)."""
    first: dict[Any, int] = {}
    return _ints(first.setdefault(each.content[3:5], index) for index, each in enumerate(side.fragments))


def c_fragments_texts(x: Ints, y: Ints) -> Floats:
    """F of the characters of aligned spans that overlap, or are empty and equal, (2, n) int each (21)."""
    return f_measure(np.minimum(x[1], y[1]) - np.maximum(x[0], y[0]), x[1] - x[0] + y[1] - y[0])


def c_union_of_texts(x: Side, y: Side, ours: Ints, theirs: Ints) -> Floats:
    """F of the characters in a fragment of aligned elements (23).

    Parameters
    ----------
    x, y : Side
    ours, theirs : (n,) int
        Indices of the elements, in the order of their pairs, each pair once.
    """
    of_x, of_y = (
        np.bincount(side.covering, side.covered[1] - side.covered[0], len(side.elements)) for side in (x, y)
    )
    # The stretches of an element are apart, so what two elements share is the sum of what these share.
    i, k = overlapping(x.covered, y.covered).T
    shared = np.minimum(x.covered[1][i], y.covered[1][k]) - np.maximum(x.covered[0][i], y.covered[0][k])
    base = len(y.elements)
    pair = np.searchsorted(ours * base + theirs, x.covering[i] * base + y.covering[k])
    common = np.bincount(pair, shared, len(ours))
    return f_measure(common.astype(np.int64), (of_x[ours] + of_y[theirs]).astype(np.int64))


def c_union_of_tags(x: Side, y: Side, ours: Ints, theirs: Ints) -> Floats:
    """F of the tags that a fragment of aligned elements has, of the elements as in `c_union_of_texts` (24)."""
    pairs = zip(ours.tolist(), theirs.tolist())
    return f_of_sets((x.united_tags[one], y.united_tags[other]) for one, other in pairs)


def _ints(values: Iterable[Any]) -> Ints:
    return np.array(list(values), dtype=np.int64)


# ---- The optimal accordance (8), (9) -----------------------------------------------------------------------


def best_average(ends: Ints, worth: Floats, objects: int, share: float) -> Bools:
    """Which candidates of a problem make the accordance of the largest weighted average (9).

    Parameters
    ----------
    ends : (n, 2) int
        The two objects of each candidate.
    worth : (n,) float
        Their weighted averages without the accordance.
    objects : int
        How many objects there are on both sides together.
    share : float in [0, 1]
        The weight of the accordance among all weights.

    Returns
    -------
    (n,) bool
    """
    # With q pairs of the sum S among n objects the average is share·2q/n + (1 - share)·S/q.  Of each q only the
    # largest S matters, and S/q falls with q.  So between two sizes that are known, low < high, no average is
    # above that of high - 1 pairs with the mean of low ones.  Where that bound is not better than the best so
    # far, no size in between is tried.
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
    """Which candidates make the accordance of the largest sum with so many pairs, if there can be so many."""
    # A spare column is worth more than all pairs together, so all other rows take spare columns.  What is no
    # candidate is worth so little that it is taken only if there is no such accordance.
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    matrix = np.full((rows, columns + rows - pairs), float(rows + 1))
    matrix[:, :columns] = -float(rows + 1)
    matrix[row, column] = worth
    partner = linear_sum_assignment(matrix, maximize=True)[1]
    chosen: Bools = partner[row] == column
    return chosen


# ---- The corpus (10)-(12) ---------------------------------------------------------------------------------


def average_accuracies(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """AMA of each criterion (10), EMA (11) and RMA (12) of the total.

    Parameters
    ----------
    sums : (..., criteria + 4) float
        Sums of statistics, as `Prepared.count` returns them.

    Returns
    -------
    ama : (..., criteria) float
    ema, rma : (...) float
        NaN where not defined.
    """
    *_, number, of_two, theirs, two = np.moveaxis(sums, -1, 0)
    ama, ema = _ratio(sums[..., :-4], number[..., np.newaxis]), _ratio(theirs, two)
    return ama, ema, _ratio(_ratio(of_two, two), ema)


# ---- Weights (7) -----------------------------------------------------------------------------------------


def weights_in_use(
    experts: Iterable[Markup], is_readable: bool, given: Mapping[str, float]
) -> dict[str, float]:
    """The weights of all `CRITERIA` but the total: the given ones, else 1, or 0 for what no expert marked.

    Parameters
    ----------
    experts : iterable of Markup
    is_readable : bool
        Whether all experts' markups are in READ//ABLE's form, where the accordance is 1 by construction.
    given : mapping of str to float

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
    """Σ w·C / Σ w over the criteria of these names (7): exactly 1 where all criteria are; 0 without weights.

    The criteria are numbers or arrays of one shape.  They are added one after the other, so that equal criteria
    give equal averages to the last bit.
    """
    total = 0.0
    for name in names:
        total = total + criteria[name] * weights[name]
    return total / (sum(weights[name] for name in names) or 1.0)


# ---- Input: markups (1)-(4) ------------------------------------------------------------------------------

SPAN: Keys = {"start": (int, None), "end": (int, None)}
COMMENT: Keys = {"comment": (str, "")}
CODES: Keys = {"type": (str, ""), "subtype": (str, "")}


def read_experts(cell: str, length: int | None, lemmatise: Lemmatiser) -> list[Markup]:
    """The markups of a document's experts, in the order of content, from a cell's JSON.

    Parameters
    ----------
    cell : str
    length : int or None
        Characters of the document's text, if known.
    lemmatise : callable
        From word to lemma.

    Raises
    ------
    ValueError
        The text says what is wrong.
    """
    values = _read_value(_load(cell), list, wanted="a list of markups")
    markups = _read_each("markup", values, lambda value: read_markup(value, length, lemmatise))
    numbered = [markup._replace(number=number) for number, markup in enumerate(markups, 1)]
    return sorted(numbered, key=lambda markup: markup.content)


def read_markup(
    value: Any, length: int | None, lemmatise: Lemmatiser = str, is_readable: bool = False
) -> Markup:
    """A markup from its JSON value, which must be in READ//ABLE's form if `is_readable`.

    Other parameters and the ValueError are those of `read_experts`.
    """
    markup = _read_value(value, dict)
    selections = "selections" in markup and "elements" not in markup
    if not selections and (is_readable or "elements" not in markup):
        raise ValueError(f"the markup has no {'selections' if is_readable else 'elements'}")
    elements = read_items(from_selections(markup) if selections else markup, "element", length, lemmatise)
    objects = list(elements)
    for item in objects:
        objects += [*item.overtexts, *item.fragments]
    _at_most(MOST_OBJECTS, len(objects), "elements, fragments and overtexts")
    characters = sum(len(text) for item in objects for text in (item.content[2], *item.content[3]))
    _at_most(MOST_CHARACTERS, characters, "characters of tags and comments")
    return Markup(_contents(elements), elements, side_of(elements), selections, len(objects))


def from_selections(markup: Mapping[str, Any]) -> dict[str, Any]:
    """A READ//ABLE markup in the general form."""

    def fragment(value: Any) -> dict[str, Any]:
        tags = [code for code in map(_plain, _read_keys(value, CODES)) if code]
        return {"start": value.get("startSelection"), "end": value.get("endSelection"), "tags": tags}

    (values,) = _read_keys(markup, {"selections": (list, [])})
    fragments = _read_each("selection", values, fragment)
    return {"elements": [{"fragments": fragments}] if fragments else []}


def read_items(
    holder: Mapping[str, Any], noun: str, length: int | None, lemmatise: Lemmatiser
) -> tuple[Item, ...]:
    """The elements, fragments or overtexts that an object holds, in the order of content."""

    def read(numbered: tuple[int, Any]) -> Item:
        position, value = numbered
        start, end = _read_span(value, SPAN, length) if noun == "fragment" else (0, 0)
        (comment,) = _read_keys(value, COMMENT) if noun == "overtext" else ("",)
        tags = [] if _read_value(value, dict).get("tags") is None else value["tags"]
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise ValueError("tags are no list of texts")
        overtexts = () if noun == "overtext" else read_items(value, "overtext", length, lemmatise)
        fragments = read_items(value, "fragment", length, lemmatise) if noun == "element" else ()
        in_order, as_set = _tags(tuple(tags))
        content = start, end, comment, in_order, _contents(overtexts), _contents(fragments)
        words = bag_of_words(comment, lemmatise) if comment else frozenset[Any]()
        return Item(content, position, words, as_set, overtexts, fragments)

    (values,) = _read_keys(holder, {f"{noun}s": (list, [])})
    items = _read_each(noun, enumerate(values), read)
    return tuple(sorted(items, key=lambda item: item.content))


@functools.lru_cache(maxsize=256)
def _tags(tags: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Tags in order and as a set, the same objects for all that have them: most items have the same few."""
    return tuple(sorted(set(tags))), frozenset(tags)


def _contents(items: Sequence[Item]) -> tuple[Any, ...]:
    return tuple([item.content for item in items])


def bag_of_words(comment: str, lemmatise: Lemmatiser) -> frozenset[tuple[str, int]]:
    """The multiset of a comment's words, as a set of (word, how often it occurred before).

    >>> sorted(bag_of_words("No, no reason", str))
    [('no', 0), ('no', 1), ('reason', 0)]
    """
    words = re.findall(r"\w+", unicodedata.normalize("NFC", comment).lower())
    counts = Counter(lemmatise(word).lower().replace("ё", "е") for word in words)
    return frozenset((word, before) for word, count in counts.items() for before in range(count))


@functools.cache
def lemmatiser_of(name: str) -> Lemmatiser:
    """The function from word to lemma of that name: "none", "pymorphy3" or "simplemma:" and a language.

    Raises
    ------
    HostVisibleError
        There is none, or it is not installed.
    """
    package, _, language = name.partition(":")
    try:
        if package == "simplemma" and language:
            lemmatize = functools.partial(importlib.import_module(package).lemmatize, lang=language)
            lemmatize("a")  # is there this language?
            return functools.cache(lemmatize)
        if name == "pymorphy3":
            analyser = importlib.import_module(name).MorphAnalyzer()
            return functools.cache(lambda word: str(analyser.parse(word)[0].normal_form))
    except (ImportError, ValueError) as problem:
        fault = f"{_quoted(name)}: {_short(problem)}"
        raise HostVisibleError(f"lemmatiser: expected one that is installed, found {fault}") from None
    if name == "none":
        return str
    wanted = "none, pymorphy3 or simplemma:LANGUAGE"
    raise HostVisibleError(f"lemmatiser: expected {wanted}, found {_quoted(name)}")


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
            whole = "expected a row for every document of the test set"
            raise table.error(f"{table.name}: {whole}. It lacks {_counted(lacking, 'document')}")
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
    read : function of a cell's text and of what `about` has for its row
        Returns the value of the cell, or raises a ValueError whose text says what is wrong with it.
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
    return {type(None): "missing", dict: "an object", list: "a list"}.get(type(value), text)


def _read_each(noun: str, values: Iterable[Any], read: Callable[[Any], Any]) -> list[Any]:
    """Apply `read` to each value of a list; a fault is told with the `noun` and the value's number, from 1."""
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
        raise ValueError(f"{number:,} {what}, above {most:,}")


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
    raise ValueError(f"{name} is no number")


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
    """The mean of each column, (columns,), of values, (rows, columns); 0 if there are no rows."""
    return np.asarray(values.sum(axis=0) / max(len(values), 1))


# ---- Shared: quotients -----------------------------------------------------------------------------------


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """The quotients of two arrays whose shapes broadcast; NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient
