"""The accuracy of essay markups as in the READ//ABLE competition, as one file to upload to Kaggle.

An expert or an algorithm grades an essay by several criteria and marks selections in its text. A selection is
a stretch of the text, such as an error, with a type, a subtype and a correction. Grades and selections
together are a markup. Several experts mark up the same essay, and they disagree. ``score`` asks how well an
algorithm's markups agree with theirs. It divides this by how well the experts agree with each other.

``score`` follows the paper that it cites, not the competition's own program. After the public functions come
the stages, in the order in which the data passes through them. The functions that read the input come last:

* matching, which finds D, the pairs of selections that correspond to each other: ``candidates``, ``cost``,
  ``match_selections``
* M1 to M7 and M, the accuracy of two markups in percent: ``m1``, ``m2``, ``accuracies``
* the corpus with M_avg, M_opt and OTAR: ``relative_accuracies``
* the input with grades and selections in JSON: ``read_essays``, ``read_essay``

One formula of the paper is not followed to the letter: M1 is at least 0, because grades that differ by more
than K_max would make the accuracy negative.

Where the paper is silent, this file decides:

* The weights and K_max are those of the competition's program, and parameters change them.
* D is the one-to-one pairing of least cost. A selection without a partner costs 1. A pair costs 1 minus the
  Jaccard index of its characters. It costs 1 more if the starts differ, and 1 more if the types differ. It
  costs 4 more if exactly one of the two is a meaning block, whose ``group`` is "meaning".
* Two selections can be partners if they have common characters and their pair costs less than 2. Two empty
  selections can be partners if their places and types are equal. Their Jaccard index is 1.
* Costs that differ by less than 1e-9 are equal. Among equal costs more pairs win, then more pairs with equal
  subtypes and corrections. After that the contents of the markups decide. The order of selections in the file
  never matters.
* Texts are compared without regard to case, outer spaces and Unicode form. A missing text is "".
* If neither markup has selections, M2 to M6 are 100. If one of them has none, or if D is empty, they are 0.
* A grade that a markup lacks is 0.
* OTAR, M_avg and M_opt are defined for one essay. Of a corpus they are quotients of means over the essays with
  at least two experts, as on the competition's leaderboard. The measure "m" is a mean over the essays with at
  least one.
* A markup has at most 500 selections, because the time for comparing nested selections grows with their square.
* Offsets count characters from 0, and the end is exclusive. A selection with a key that is not known is
  refused, because the key would be ignored.

An example with two markups of an essay on literature. The first grades it with 3 and has two selections. The
second grades it with 2 and has one:

>>> fact = {"startSelection": 20, "endSelection": 30, "type": "fact"}
>>> short, long = ({"startSelection": 0, "endSelection": end, "type": "logic"} for end in (10, 20))
>>> one = {"criteria": {"K1": 3}, "selections": [short, fact]}
>>> other = {"criteria": {"K1": 2}, "selections": [long]}
>>> pair = read_essay(one, LARGEST_GRADE["lit"], None), read_essay(other, LARGEST_GRADE["lit"], None)

The selections from 0 to 10 and from 0 to 20 have 10 of 20 characters in common. Their starts and types are
equal, so their cost is 0.5, and they are D. M1 is 1 - 1/14, because the grades differ by 1 and K_max is 14.
M2 is 2·1/3. M3, M4 and M6 are 1, because types, subtypes and corrections are equal. M5 is the Jaccard index
0.5. So M is (0.9286 + 2·0.6667 + 1 + 1 + 0.5) / 6. In percent, M and M1 to M6 are:

>>> accuracies([pair], WEIGHTS).round(2).tolist()
[[79.37, 92.86, 66.67, 100.0, 100.0, 50.0, 100.0]]
"""

import difflib
import gc
import itertools
import json
import math
import re
import unicodedata
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

__version__ = "3.2.0"

NAME = "readable"
COMPLETE_SUBMISSION = False
MEASURE_PARAMETERS = ("measure", "h")

# K_max, the largest sum of the grades, for each subject of the competition.
LARGEST_GRADE = {"rus": 24, "rus-free": 24, "lit": 14, "social": 6, "hist": 12, "eng": 14, "eng-free": 24}
CRITERIA = ("M1", "M2", "M3", "M4", "M5", "M6", "M7")
WEIGHTS = {"M1": 1.0, "M2": 2.0, "M3": 1.0, "M4": 1.0, "M5": 1.0, "M6": 0.0, "M7": 0.0}
MEASURES = ("otar", "m_avg", "m_opt", "m")

MEANING = "meaning"
COST_OF_TYPE, COST_OF_START, COST_OF_MEANING = 1.0, 1.0, 4.0
# Costs that differ by less than TIE are equal. FINE_TIE is what an equal subtype or correction then counts.
TIE, FINE_TIE = 1e-9, 1e-12

LAST_OFFSET = 1_000_000_000
APART = LAST_OFFSET + 2  # the distance between markups that are compared at once
AT_ONCE = 100_000  # pairs of selections
MOST_SELECTIONS, MOST_CHARACTERS = 500, 200_000  # the limits of a markup
LARGE = 500  # rows and columns of an assignment problem

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Progress = Callable[[int, int], None]  # its arguments: how many essays are done, and how many there are
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
    measure: str = "otar",
    h: float = 1.0,
    weights: str = "M1=1,M2=2,M3=1,M4=1,M5=1,M6=0,M7=0",
    k_max: str = "",
) -> float:
    """Score how well an algorithm's markups of essays agree with the experts' markups, in percent.

    On Kaggle, leave "Pass complete submission" off and the weight of M7 at 0. Essays with one expert count for
    the measure "m" alone. A grade that a markup lacks is 0, and a markup has at most 500 selections.

    M(X, Y) is the accuracy of two markups X and Y, in percent. M(A, E) compares the algorithm with an expert,
    and M(E, E') compares two experts. The score is the overall relative accuracy OTAR. Above 100 the
    algorithm has overcome the competition's technological barrier. D is the set of pairs of selections that
    correspond to each other; n and m are the numbers of selections of X and Y:

    * M1 compares the grades: 1 - Σ|K_i(X) - K_i(Y)| / K_max. K_max depends on the subject.
    * M2 is the share of selections that have a partner: 2|D| / (n + m).
    * M3, M4 and M6 are the shares of pairs in D with equal types, equal subtypes and equal corrections.
    * M5 is the mean Jaccard index of the characters of the pairs in D.
    * M7 is the experts' judgment of the explanations in the tested markup.
    * M is the weighted average Σ w·M_i / Σ w of these.
    * M_avg is the mean of M(A, E) divided by the mean of M(E, E').
    * M_opt is the largest M(A, E) divided by the least M(E, E').
    * OTAR lies between these two. The numerator is H·mean + (1 - H)·maximum of M(A, E). The denominator is
      H·mean + (1 - H)·minimum of M(E, E').

    Parameters
    ----------
    solution : DataFrame
        The experts' markups, with one row per essay. It has the column `row_id_column_name`, the column
        ``subject`` (one of `LARGEST_GRADE` or of `k_max`) and the column ``markups``, which holds JSON: the
        list of the experts' markups. Each has the form ``{"criteria": {"K1": 1, …}, "selections":
        [{"startSelection": 0, "endSelection": 10, "type": "…", "subtype": "…", "group": "error",
        "correction": "…"}]}``. Only grades, offsets and type are required. If there is a column ``text``,
        offsets are checked against it.
    submission : DataFrame
        The algorithm's markups, with one row per essay. It has the column `row_id_column_name` and the column
        ``markup``, which holds JSON: one markup. If M7 has a weight, the host adds a column ``m7``.
    row_id_column_name : str
        The name of the column with the essays' ids, which are compared as text.
    measure : str
        The measure that is the score: "otar", "m_avg", "m_opt", or "m". The last one is the mean of M(A, E),
        which is not relative to the experts.
    h : float
        H of OTAR, from 0 to 1. With 1, as in the competition, OTAR is M_avg. With 0 it is M_opt.
    weights : str
        The weights of M1 to M7. A weight that is left out is the competition's. The competition's final tests
        had M7=1. On Kaggle the weight of M7 should be 0, because there participants would write ``m7``
        themselves.
    k_max : str
        The largest sum of the grades in further subjects, such as "geo=30,bio=21". For a subject of
        `LARGEST_GRADE` it replaces the competition's.

    Returns
    -------
    float
        The measure in percent. It is at least 0, and only "m" is at most 100.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed. The error tells three things about the solution: the number of missing
        essays, offsets beyond the text, and grades that are too large.
    HostVisibleError
        The solution is malformed, a parameter or ``m7`` is wrong, or the measure is not defined. It is not
        defined if no essay has two experts, or if their accuracy is 0. The measure "m" needs one expert.

    References
    ----------
    A. Levikin and others, "The methodology of multi-criteria evaluation of text markup models based on
    inconsistent expert markup", 2025, section 4.2, DOI 10.28995/2075-7182-2025-23-1066-1080.

    Examples
    --------
    One of two experts marks a longer stretch as the error. The algorithm's stretch lies between the two:

    >>> def markup(end):
    ...     selection = {"startSelection": 0, "endSelection": end, "type": "logic"}
    ...     return {"criteria": {"K1": 3}, "selections": [selection]}
    >>> experts = json.dumps([markup(10), markup(20)])
    >>> solution = pd.DataFrame({"document_id": ["A"], "subject": "lit", "markups": [experts]})
    >>> submission = pd.DataFrame({"document_id": ["A"], "markup": [json.dumps(markup(15))]})
    >>> round(score(solution, submission, "document_id"), 6)
    103.787879
    """
    prepared = prepare(solution, row_id_column_name, measure, h, weights, k_max)
    sums = prepared.statistics(submission).sum(axis=0)  # numpy adds the rows one after the other
    return float(prepared.measures(sums[np.newaxis])[0])


def higher_is_better() -> bool:
    """Whether a higher score is better."""
    return True


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "otar",
    h: float = 1.0,
    weights: str = "M1=1,M2=2,M3=1,M4=1,M5=1,M6=0,M7=0",
    k_max: str = "",
    *,
    progress: Progress | None = None,
) -> "Prepared":
    """Check and parse a solution once, so that many submissions can be scored against it.

    The experts' markups are compared with each other here.
    """
    _check_text("row_id_column_name", row_id_column_name)
    _check_choice("measure", measure, MEASURES)
    is_number = isinstance(h, int | float | np.integer | np.floating) and not isinstance(h, bool)
    if not is_number or not 0 <= h <= 1:
        raise HostVisibleError(f"h: expected a number from 0 to 1, found {type(h).__name__} {_quoted(h)}")
    _check_text("weights", weights)
    in_use = WEIGHTS | _parse_weights(weights, CRITERIA)
    if not any(in_use.values()):
        raise HostVisibleError("weights: expected one above 0, found none")
    _check_text("k_max", k_max)
    largest = {**LARGEST_GRADE, **read_k_max(k_max)}
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns("subject", "markups")
    ids, subjects = read_ids(table), read_subjects(table, largest)
    essays = [(subject, largest[subject], length) for subject, length in zip(subjects, read_lengths(table))]
    form = 'a list of markups in JSON, such as [{"criteria": {"K1": 1}, "selections": []}]'
    experts = read_column(table, "markups", lambda cell, essay: read_essays(cell, *essay[1:]), form, essays)
    needed, fewest = ("an expert", 1) if measure == "m" else ("two experts", 2)
    if max(map(len, experts), default=0) < fewest:
        raise HostVisibleError(f"markups: expected an essay with markups of {needed}, found none")
    order = sorted(range(len(ids)), key=ids.__getitem__)
    pairs = [list(itertools.combinations(experts[row], 2)) for row in order]
    prepared = Prepared(
        items=[ids[row] for row in order],
        item_of_row=np.argsort(order),
        labels=[("(all)", "(all)")],
        groups=np.zeros((1, len(ids)), dtype=np.int64),
        known=dict(zip(ids, essays)),
        experts=[experts[row] for row in order],
        among=compared(pairs, lambda batch: accuracies(batch, in_use), progress),
        weights=in_use,
        parameters=(row_id_column_name, measure, float(h)),
    )
    share = {"otar": h, "m_avg": 1.0}.get(measure, 0.0)
    defined = (_mix(share, mean(pairs)[0], pairs[:, 0].min()) > 0 for pairs in prepared.among if len(pairs))
    if measure != "m" and not any(defined):
        raise HostVisibleError("markups: expected experts whose accuracy is above 0, found none")
    return prepared


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A solution that `prepare` has checked and parsed, with the parameters to score against it."""

    items: list[str]  # the ids of the n essays, sorted as text
    item_of_row: Ints  # (rows,) the essay of each row of the solution, as an index into `items`
    labels: list[tuple[str, str]]  # the names of the groups of essays, of which there is one: all
    groups: Ints  # (1, n) the group of each essay, as an index into `labels`
    # The subject of each essay, its K_max and the characters of its text, by its id; None if there is no text.
    known: dict[str, tuple[str, float, int | None]]
    experts: list[list["Markup"]]  # the experts' markups of each essay, ordered by content
    among: list[Floats]  # for each essay the `accuracies` of the pairs of its experts, in percent
    weights: dict[str, float]  # the weight of each of the `CRITERIA`
    parameters: tuple[str, str, float]  # row_id_column_name, measure and h

    @property
    def criteria(self) -> list[str]:
        """The names of M and its parts; M7 is among them only if it has a weight."""
        return ["M", *CRITERIA[: 7 if self.weights["M7"] else 6]]

    @property
    def measure_names(self) -> list[str]:
        """The score, OTAR, M_avg and M_opt, and the means of the criteria."""
        return ["score", "OTAR", "M_avg", "M_opt", *self.criteria]

    def read(self, submission: pd.DataFrame) -> list["Markup"]:
        """Check and parse a submission."""
        table = _Table(submission, "the submission", self.parameters[0], ParticipantVisibleError)
        table.check_columns("markup")
        ids = read_ids(table, self.items)
        form = 'a markup in JSON, such as {"criteria": {"K1": 1}, "selections": []}'
        essays = [self.known[each] for each in ids]
        markups = read_column(
            table,
            "markup",
            lambda cell, essay: read_essay(_load(cell), *essay[1:]),
            form,
            essays,
        )
        if self.weights["M7"]:
            m7 = read_m7(table._replace(error=HostVisibleError))
            markups = [markup._replace(m7=share) for markup, share in zip(markups, m7.tolist())]
        by_id = dict(zip(ids, markups))
        return [by_id[item] for item in self.items]

    def compare(self, read: Sequence["Markup"], progress: Progress | None = None) -> list[Floats]:
        """Compare the algorithm's markup of each essay with the experts' markups."""
        pairs = [[(markup, expert) for expert in experts] for markup, experts in zip(read, self.experts)]
        return compared(pairs, lambda batch: accuracies(batch, self.weights), progress)

    def count(self, algorithm: Sequence[Floats]) -> Floats:
        """Compute for each essay the numbers whose sums decide every measure."""
        rows = []
        for ours, theirs in zip(algorithm, self.among):
            relative = [0.0] * 5
            if len(theirs):
                relative = [1, mean(ours)[0], ours[:, 0].max(), mean(theirs)[0], theirs[:, 0].min()]
            rows.append([*relative, len(ours) > 0, *mean(ours)])
        return np.array(rows, dtype=np.float64)

    def statistics(self, submission: pd.DataFrame, progress: Progress | None = None) -> Floats:
        """Compute for each essay the numbers whose sums decide every measure."""
        return self.count(self.compare(self.read(submission), progress))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute the measures from sums of statistics."""
        _, measure, h = self.parameters
        sums = np.asarray(sums, dtype=np.float64)[..., 0, :]
        relative = relative_accuracies(np.moveaxis(sums[..., 1:5], -1, 0), h)
        criteria = _ratio(sums[..., 6:], sums[..., 5:6])
        values = np.concatenate([np.stack(relative, axis=-1), criteria], axis=-1)
        return np.concatenate([values[..., [MEASURES.index(measure)]], values], axis=-1)


# ---- Markups ---------------------------------------------------------------------------------------------


class Selection(NamedTuple):
    """A selection, or n selections as columns, in which case each field is an array."""

    start: Any
    end: Any
    type: Any  # the type, subtype and correction are texts as `_plain` returns them, or codes in columns
    subtype: Any
    correction: Any
    is_meaning: Any  # whether the selection is a meaning block


class Markup(NamedTuple):
    """A markup of an essay."""

    # All that is compared: the selections, and the criteria with their grades, both sorted.
    content: tuple[tuple[Selection, ...], tuple[tuple[str, float], ...]]
    positions: tuple[int, ...]  # the position of each selection in the file, from 0
    largest: float  # K_max of the essay's subject
    m7: float = 1.0  # M7 as a number from 0 to 1
    number: int = 0  # the number of an expert's markup in the essay, from 1; 0 for the algorithm's markup

    @property
    def size(self) -> int:
        """The number of selections."""
        return len(self.positions)


Pairs = Sequence[tuple[Markup, Markup]]


# ---- Matching --------------------------------------------------------------------------------------------
# Many pairs of markups are compared at once. Their offsets are so far apart that selections of different pairs
# never overlap.


def columns_of(*sides: Sequence[Markup]) -> list[Selection]:
    """Turn the selections of many markups into columns."""
    rows = [selection for side in sides for markup in side for selection in markup.content[0]]
    columns = list(zip(*rows)) or [()] * len(Selection._fields)
    sizes = [[markup.size for markup in side] for side in sides]
    shift = APART * np.concatenate([np.repeat(np.arange(len(of_side)), of_side) for of_side in sizes])
    start, end = (np.array(offsets, dtype=np.int64) + shift for offsets in columns[:2])
    kind, subtype, correction = (pd.factorize(np.array(texts, dtype=object))[0] for texts in columns[2:5])
    everyone = Selection(start, end, kind, subtype, correction, np.array(columns[5], dtype=bool))
    last = np.cumsum([sum(of_side) for of_side in sizes])[:-1]
    return [Selection(*columns) for columns in zip(*(np.split(column, last) for column in everyone))]


def match_selections(x: Selection, y: Selection) -> Ints:
    """Find D, the pairs of selections that correspond to each other."""
    pairs = candidates(x, y)
    ours, theirs = pairs_of(x, y, pairs)
    costs = cost(ours, theirs)
    details = 1.0 * (ours.subtype == theirs.subtype) + (ours.correction == theirs.correction)
    # Two selections without partners would cost 2, so a pair gains 2 minus its cost. Two small terms decide
    # among equal sums: because of TIE more pairs win, and because of FINE_TIE equal subtypes and corrections
    # do.
    gain = 2 - costs + TIE + FINE_TIE * details
    pairs = pairs[costs < 2]
    return np.asarray(pairs[best_sum(pairs, gain[costs < 2])])


def candidates(x: Selection, y: Selection) -> Ints:
    """Find the pairs of selections that may correspond to each other.

    They overlap, or both are empty with the same place and type.
    """
    pairs = overlapping(np.stack([x.start, x.end]), np.stack([y.start, y.end]))
    i, k = pairs.T
    return np.asarray(pairs[(x.start[i] < x.end[i]) | (x.type[i] == y.type[k])])


def pairs_of(x: Selection, y: Selection, pairs: Ints) -> tuple[Selection, Selection]:
    """Look up the selections of pairs."""
    ours, theirs = (Selection(*(column[ends] for column in side)) for side, ends in zip((x, y), pairs.T))
    return ours, theirs


def cost(x: Selection, y: Selection) -> Floats:
    """Compute the cost of pairs of selections."""
    costs: Floats = (1 - jaccard(x, y)) + COST_OF_START * (x.start != y.start)
    costs += COST_OF_TYPE * (x.type != y.type)
    costs += COST_OF_MEANING * (x.is_meaning != y.is_meaning)
    return costs


def jaccard(x: Selection, y: Selection) -> Floats:
    """Compute the Jaccard index of the characters of pairs of selections."""
    common = np.minimum(x.end, y.end) - np.maximum(x.start, y.start)
    union = x.end - x.start + y.end - y.start - common
    return np.asarray(np.where(union > 0, common, 1) / np.maximum(union, 1))


# ---- M1 to M7 and M --------------------------------------------------------------------------------------
# The functions of this section compute with numbers from 0 to 1; `accuracies` returns percent.


def m1(x: Markup, y: Markup) -> float:
    """Compute M1 = 1 - Σ|K_i(X) - K_i(Y)| / K_max, which compares the grades of two markups."""
    ours, theirs = dict(x.content[1]), dict(y.content[1])
    names = ours.keys() | theirs.keys()
    difference = math.fsum(abs(ours.get(name, 0.0) - theirs.get(name, 0.0)) for name in names)
    return max(1 - difference / x.largest, 0.0)


def m2(pair: Ints, selections: Ints) -> Floats:
    """Compute M2 = 2|D| / (n + m), the share of selections that have a partner.

    Two partners among five selections, and markups without selections:

    >>> m2(np.array([0, 0]), np.array([5, 0])).tolist()
    [0.8, 1.0]
    """
    partners = np.bincount(pair, minlength=len(selections))
    return np.where(selections > 0, 2 * partners / np.maximum(selections, 1), 1.0)


def accuracies(pairs: Pairs, weights: Mapping[str, float]) -> Floats:
    """Compute the accuracy M of pairs of markups, and what it is made of."""
    # The markup whose content is less comes first. So M(X, Y) = M(Y, X) to the last bit.
    ordered = [sorted(pair, key=lambda markup: markup.content) for pair in pairs]
    x, y = columns_of(*([pair[number] for pair in ordered] for number in (0, 1)))
    ours, theirs = pairs_of(x, y, match_selections(x, y))
    selections = np.array([one.size + other.size for one, other in pairs], dtype=np.int64)
    shares = [np.array([m1(*pair) for pair in ordered], dtype=np.float64)]
    pair = ours.start // APART
    types, subtypes = ours.type == theirs.type, ours.subtype == theirs.subtype
    of_pairs = (types, subtypes, jaccard(ours, theirs), ours.correction == theirs.correction)  # M3 to M6
    shares += [m2(pair, selections), *(_mean_over_pairs(values, pair, selections) for values in of_pairs)]
    if weights["M7"]:
        shares.append(np.array([min(one.m7, other.m7) for one, other in pairs]))
    total, weight = np.zeros(len(pairs)), 0.0
    for name, share in zip(CRITERIA, shares):
        total += weights[name] * share
        weight += weights[name]
    return 100 * np.column_stack([total / weight, *shares])


# ---- The corpus ------------------------------------------------------------------------------------------


def relative_accuracies(sums: Iterable[Floats], h: float) -> tuple[Floats, Floats, Floats]:
    """Compute OTAR, M_avg and M_opt.

    >>> [round(float(value), 2) for value in relative_accuracies(np.array([60.0, 80.0, 50.0, 40.0]), 0.5)]
    [155.56, 120.0, 200.0]
    """
    mean, best, experts, worst = sums
    otar, m_avg, m_opt = (
        100 * _ratio(_mix(share, mean, best), _mix(share, experts, worst)) for share in (h, 1.0, 0.0)
    )
    return otar, m_avg, m_opt


def _mix(h: float, average: Floats, extreme: Floats) -> Floats:
    """H·average + (1 - H)·extreme, which is exactly the average at H = 1 and exactly the extreme at H = 0."""
    return h * average + (1 - h) * extreme


# ---- Input -----------------------------------------------------------------------------------------------

SPAN: Keys = {"startSelection": (int, None), "endSelection": (int, None)}
TEXTS: Keys = {"type": (str, ""), "subtype": (str, ""), "correction": (str, ""), "group": (str, "")}


def read_k_max(text: str) -> dict[str, float]:
    """Read the largest sums of grades that a text such as "geo=30,bio=21" gives to subjects."""
    largest: dict[str, float] = {}
    for assignment in text.split(",") if text.strip() else []:
        subject, _, number = (piece.strip() for piece in assignment.partition("="))
        if not subject or subject in largest or not re.fullmatch(r"0*[1-9][0-9]{0,8}(\.[0-9]{1,9})?", number):
            expected = "k_max: expected SUBJECT=NUMBER, each at least 1 and once"
            raise HostVisibleError(f"{expected}, found {_quoted(assignment)}")
        largest[subject] = float(number)
    return largest


def read_subjects(table: "_Table", largest: Mapping[str, float]) -> list[str]:
    """Read the subjects of the essays."""
    subjects = read_column(table, "subject", str, "a value in every row")
    unknown = ~pd.Index(subjects, dtype=object).isin(list(largest))
    expected = f"one of {_listed(list(largest), len(largest), 80)}, or one with its K_max in k_max"
    table.reject("subject", unknown, lambda row: _quoted(subjects[row]), expected)
    return subjects


def read_m7(table: "_Table") -> Floats:
    """Read M7, the experts' judgment of the explanations."""
    if "m7" not in table.frame:
        raise table.error(
            f"{table.name}: expected the column m7, the experts' judgment of its explanations, because M7 has "
            "a weight. Give a file with it: podium score --side FILE, or podium rank --side FOLDER"
        )
    table.check_columns("m7")
    cells = table.frame["m7"]
    values = np.array([_number(value) for value in cells.astype(object)], dtype=np.float64)
    wrong = ~((values >= 0) & (values <= 100))

    def content(row: int) -> str:
        return "missing" if _is_missing(cells.iloc[row]) else _quoted(cells.iloc[row])

    table.reject("m7", wrong, content, "the experts' judgment in percent, from 0 to 100")
    return values / 100


def read_essays(cell: str, largest: float, length: int | None) -> list[Markup]:
    """Read the markups of an essay's experts."""
    values = _read_value(_load(cell), list, wanted="a list of markups")
    markups = _read_each("markup", values, lambda value: read_essay(value, largest, length))
    numbered = [markup._replace(number=number) for number, markup in enumerate(markups, 1)]
    return sorted(numbered, key=lambda markup: markup.content)


def read_essay(value: Any, largest: float, length: int | None) -> Markup:
    """Read a markup."""
    markup = _read_value(value, dict)
    for name in ("criteria", "selections"):
        if name not in markup:
            raise ValueError(f"the markup has no {name}")
    (criteria,) = _read_keys(markup, {"criteria": (dict, None)})
    grades = read_grades(criteria, largest)
    (values,) = _read_keys(markup, {"selections": (list, [])})
    selections = _read_each("selection", values, lambda selection: read_selection(selection, length))
    _at_most(MOST_SELECTIONS, len(selections), "selections")
    characters = sum(len(text) for selection in selections for text in selection[2:5])
    _at_most(MOST_CHARACTERS, characters, "characters of types, subtypes and corrections")
    positions = sorted(range(len(selections)), key=selections.__getitem__)
    content = tuple([selections[position] for position in positions])
    return Markup((content, grades), tuple(positions), largest)


def read_grades(criteria: Mapping[str, Any], largest: float) -> tuple[tuple[str, float], ...]:
    """Read the grades of a markup."""
    grades = {}
    for name, value in criteria.items():
        grades[name] = np.nan if isinstance(value, bool) else _number(value)
        if not 0 <= grades[name] < 1e15:
            written = f"criterion {_short(name)} is {_described(value)}"
            raise ValueError(f"{written} instead of a number of at least 0")
    total = math.fsum(grades.values())
    if total > largest + TIE:
        raise ValueError(f"the criteria sum to {total:g}, more than the maximum of the subject")
    return tuple(sorted((name, grade) for name, grade in grades.items() if grade))


def read_selection(value: Any, length: int | None) -> Selection:
    """Read a selection."""
    _check_keys(_read_value(value, dict), SELECTION_KEYS)
    start, end = _read_span(value, SPAN, length)
    if value.get("type") is None:
        raise ValueError("type is missing")
    kind, subtype, correction, group = map(_plain, _read_keys(value, TEXTS))
    return Selection(start, end, kind, subtype, correction, group == MEANING)


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


# ---- Shared: numbers -------------------------------------------------------------------------------------


def _number(value: object) -> float:
    """A cell as a float; NaN if it is not a real number."""
    if not isinstance(value, str | int | float | np.bool_ | np.integer | np.floating | Decimal):
        return np.nan
    # Python would also read digits of other scripts, and 1_000.
    if isinstance(value, str) and (not value.isascii() or "_" in value):
        return np.nan
    try:
        return float(value)
    except (OverflowError, ValueError):
        return np.nan


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
