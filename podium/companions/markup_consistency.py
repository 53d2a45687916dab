"""What became of every element, fragment and overtext under markup consistency, and how experts agree.

The stages are those of the hosted file that is given (see `metrics/markup_consistency.py`), as are the names
of the criteria.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted, scoring
from podium.companions import _importers, _markups
from podium.companions._markups import AMONG, WITH, Agreement, Criteria, texts
from podium.errors import HostError, SubmissionRejected, ToolError
from podium.hosted import Metric

__all__ = [
    "EQUATIONS",
    "TEXT_COLUMNS",
    "Consistency",
    "Explanation",
    "Pair",
    "advice",
    "agreement",
    "consistency",
    "explain",
    "gamma",
    "read_documents",
    "read_solution",
    "read_submission",
    "texts",
    "weights",
]

TEXT_COLUMNS = ("document_id", "markups", "markup", "text")

# Of each criterion the equation or section that defines it, and its name in the paper.
DEFINITIONS = {
    "total": ("(7)", "Consistency of markups"),
    "accordance": ("(13)", "Consistency of elements accordance"),
    "tags": ("(14)", "Tags consistency"),
    "overtexts": ("(15)", "Overtexts consistency"),
    "overtexts.accordance": ("(16)", "Consistency of overtexts accordance"),
    "overtexts.texts": ("(17)", "Consistency of overtexts texts"),
    "overtexts.tags": ("(18)", "Consistency of overtexts tags"),
    "fragments": ("(19)", "Fragments consistency"),
    "fragments.accordance": ("(20)", "Consistency of fragments accordance"),
    "fragments.texts": ("(21)", "Consistency of fragments texts"),
    "fragments.tags": ("(22)", "Consistency of fragments tags"),
    "fragments.overtexts": ("3.4.4", "Consistency of fragments overtexts"),
    "fragments.overtexts.accordance": ("3.4.4", "… of fragments overtexts accordance"),
    "fragments.overtexts.texts": ("3.4.4", "… of fragments overtexts texts"),
    "fragments.overtexts.tags": ("3.4.4", "… of fragments overtexts tags"),
    "fragment_text_union": ("(23)", "Consistency of union of fragments texts"),
    "fragment_tag_union": ("(24)", "Consistency of union of fragments tags"),
}
EQUATIONS = {name: equation for name, (equation, _) in DEFINITIONS.items()}

CRITERIA = Criteria(
    titles={name: title for name, (_, title) in DEFINITIONS.items()},
    unit=1.0,
    measure="RMA",
    barrier=1.0,
    is_strict=False,
)

# The levels of what the objects of a level hold.
BELOW = {"total": ("overtexts", "fragments"), "fragments": ("fragments.overtexts",)}

# Of `Explanation.rows`.
COLUMNS = (
    *("document_id", "markup", "against", "level", "element", "fragment", "overtext", "start", "end", "tags"),
    *("outcome", "partner_element", "partner_fragment", "partner_overtext", "consistency"),
)

Floats = npt.NDArray[np.float64]


# ---- Files -----------------------------------------------------------------------------------------------


def read_documents(path: str | Path) -> pd.DataFrame:
    """Every markup in a folder or file, one row per document: document_id, text, markups, markup.

    The files are JSON documents, essays of READ//ABLE or single markups (see `_markups.read_documents`), or
    what brat, INCEpTION or Label Studio export (see `_importers.read`).

    Raises
    ------
    HostError
        A file is not what it should be.
    """
    return _read(path, HostError)


def read_solution(path: str | Path) -> pd.DataFrame:
    """The experts' markups in a folder or file, as the hosted file takes them.

    Returns
    -------
    DataFrame
        ``document_id``, ``text`` where every document has one, and ``markups``.

    Raises
    ------
    HostError
        A file is not what it should be.
    """
    return _markups.experts_of(_read(path, HostError))


def read_submission(path: str | Path) -> pd.DataFrame:
    """The algorithm's markups in a folder or file, as the hosted file takes them: ``document_id``, ``markup``.

    Raises
    ------
    SubmissionRejected
        A file is not what it should be, or a document has no algorithm's markup.
    """
    return _markups.algorithms_of(_read(path, SubmissionRejected))


def _read(path: str | Path, error: type[ToolError]) -> pd.DataFrame:
    imported = _importers.read(Path(path), error)
    documents = _markups.read_folder(path, error) if imported is None else imported
    return documents.drop(columns="subject")


# ---- Two markups -----------------------------------------------------------------------------------------


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


def consistency(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    weights: Mapping[str, float] | None = None,
    accordance: str = "sum",
    lemmatiser: str = "none",
    metric: Metric | None = None,
) -> Consistency:
    """Consistency C(L1, L2) of two markups of the same document (7), with all its criteria.

    Parameters
    ----------
    first, second : dict, as `json.loads` gives it
        Markups of the form that the hosted file's `score` describes.
    weights : dict of criterion to float, at least 0
        Those left out are 1, whatever the markups hold.
    accordance : "sum" or "exact"
    lemmatiser : as for `score`
    metric : the hosted file, if not the project's own

    Returns
    -------
    Consistency
        Symmetric: with `first` and `second` exchanged, every number is the same, to the last bit.

    Raises
    ------
    ValueError
        A markup is malformed.

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
    metric = metric or hosted.module("markup_consistency")
    markups = []
    for name, value in (("first", first), ("second", second)):
        try:
            markups.append(metric.read_markup(value, None, metric.lemmatiser_of(lemmatiser)))
        except ValueError as fault:
            raise ValueError(f"the {name} markup: {fault}") from None
    rules = metric.Rules(dict.fromkeys(metric.CRITERIA[1:], 1.0) | dict(weights or {}), accordance)
    compared = metric.consistency([markups], rules)
    values = {name: float(compared[-1]["total"].averages[name][0]) for name in metric.CRITERIA}
    parts = {name: values.pop(name) for name in metric.CRITERIA if "." in name}
    swapped = markups[1].content < markups[0].content
    return Consistency(**values, parts=parts, pairs=_pairs(_partners(metric, compared, rules), swapped))


def _pairs(partners: Iterable["_Partners"], swapped: bool) -> list[Pair]:
    """Partners and those below by their positions, in the order of the caller's first markup."""
    result = []
    for one in partners:
        ends = [item.position for item in one.items]
        first, second = reversed(ends) if swapped else ends
        held = (_pairs(one.within.get(kind, ()), swapped) for kind in ("overtexts", "fragments"))
        result.append(Pair(first, second, one.worth, one.criteria, *held))
    return sorted(result, key=lambda pair: pair[:2])


class _Partners(NamedTuple):
    """The objects of two partners, what their pair is worth, its criteria, and the partners they hold."""

    items: tuple[Any, Any]
    worth: float
    criteria: dict[str, float]
    within: dict[str, list["_Partners"]]


def _partners(
    metric: Metric, compared: Any, rules: Any, name: str = "total", problem: int = 0, holders: Any = ()
) -> list[_Partners]:
    """The partners of one problem of a level, from what the hosted file's `consistency` says of one pair."""
    *sides, levels = compared
    level, found = levels[name], []
    attribute = {"total": "elements", "fragments": "fragments"}.get(name, "overtexts")
    lists = [getattr(holder, attribute) for holder in (holders if attribute == "overtexts" else sides)]
    for row in np.flatnonzero(level.partners[:, 0] == problem).tolist():
        _, *places, inner = level.partners[row].tolist()
        items = tuple(items[place] for items, place in zip(lists, places))
        if metric.NOWHERE not in items:
            values = {part: float(of_pairs[row]) for part, of_pairs in level.criteria.items()}
            worth = float(metric.weighted_average(values, metric.PARTS[name][1:], rules.weights))
            criteria = {part.removeprefix(f"{name}."): value for part, value in values.items()}
            within = {
                below.rpartition(".")[2]: _partners(metric, compared, rules, below, inner, items)
                for below in BELOW.get(name, ())
            }
            found.append(_Partners(items, worth, criteria, within))
    return found


# ---- Submissions -----------------------------------------------------------------------------------------


def explain(evaluation: scoring.Evaluation) -> "Explanation":
    """What became of a submission; see `podium.companions`."""
    metric, prepared = evaluation.solution.metric, evaluation.prepared
    return Explanation(evaluation, CRITERIA, metric.CRITERIA, weighed(metric, prepared))


def weights(prepared: Any) -> str:
    """The weights in use as the parameter ``weights``, to give them explicitly.

    Without it each part of a solution decides by its own experts, so Public and Private could differ.
    """
    return ",".join(
        f"{name}={weight:.9f}".rstrip("0").rstrip(".") for name, weight in prepared.rules.weights.items()
    )


def advice(metric: Metric, solution: pd.DataFrame, arguments: Mapping[str, Any]) -> list[str]:
    """The weights that a host should give, and where the parts of the solution would decide differently.

    Raises
    ------
    HostError
        The solution is malformed.
    """
    if arguments.get("weights", "").count("=") == len(metric.CRITERIA) - 1:
        return []  # all of them are given
    in_use = {}
    with hosted.errors_explained():
        for part, rows in scoring.rows_of_parts(solution).items():
            frame = solution[rows].drop(columns=scoring.USAGE, errors="ignore")
            in_use[part] = metric.prepare(frame, **arguments)
    whole = in_use[scoring.ALL].rules.weights
    lines = []
    for part, prepared in in_use.items():
        others = {name: weight for name, weight in prepared.rules.weights.items() if weight != whole[name]}
        if others:
            told = ", ".join(f"{name}={weight:g}" for name, weight in others.items())
            lines.append(f"{part} alone decides for other weights than the whole solution: {told}")
    return [
        f'give all weights, so that every part has the same: weights="{weights(in_use[scoring.ALL])}"',
        *lines,
    ]


def weighed(metric: Metric, prepared: Any) -> list[str]:
    """The criteria that have an influence: their weight and that of all above them is positive."""
    names = {"total"}
    for level, parts in metric.PARTS.items():
        if level in names:
            names |= {name for name in parts if prepared.rules.weights[name] > 0}
    return [name for name in metric.CRITERIA if name in names]


class Explanation(_markups.Explanation):
    """What became of a submission's markups."""

    @functools.cached_property
    def documents(self) -> pd.DataFrame:
        """One row per document: document_id, experts, ama, ema, rma and, of each criterion, two means.

        ``algorithm.NAME`` is the mean over the document's experts, ``experts.NAME`` over its pairs of
        experts; both are NaN where there are none.
        """
        ama, ema = self.algorithm_means[:, 0], self.expert_means[:, 0]
        columns = {
            "document_id": self.prepared.items,
            "experts": self.experts,
            "ama": ama,
            "ema": ema,
            "rma": np.divide(ama, ema, out=np.full(len(ama), np.nan), where=ema > 0),
        }
        return pd.DataFrame(columns | self.means_of_documents)

    @functools.cached_property
    def criteria_table(self) -> pd.DataFrame:
        """One row per criterion: criterion, equation, weight, ama, ema, rma (of this criterion)."""
        ama, ema, rma = self.means
        return pd.DataFrame(
            {
                "criterion": list(self.metric.CRITERIA),
                "equation": [EQUATIONS.get(name, "") for name in self.metric.CRITERIA],
                "weight": [self.prepared.rules.weights.get(name, np.nan) for name in self.metric.CRITERIA],
                "ama": ama,
                "ema": ema,
                "rma": rma,
            }
        )

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The criteria, the documents by their number of experts, and whether the barrier is passed."""
        groups = self.documents.groupby("experts")
        table = groups[["ama", "ema"]].mean()
        table.insert(0, "documents", groups.size())
        table["rma"] = table["ama"] / table["ema"].where(table["ema"] > 0)
        return {"Criteria": self.criteria_table, "Documents": table.reset_index(), "Barrier": self.barrier}

    @property
    def notices(self) -> list[str]:
        """Documents left out, and criteria without weight."""
        absent = [name for name, weight in self.prepared.rules.weights.items() if weight == 0]
        return super().notices + ([f"criteria of weight 0: {', '.join(absent)}"] if absent else [])

    @property
    def histograms(self) -> dict[str, Any]:
        """The figures 3 and 4 of the paper over each other, and figure 5: AMA beside EMA, and RMA."""
        documents, measures = self.documents, self.evaluation.measures
        accuracies = {
            "series": {AMONG: documents["ema"].dropna(), WITH: documents["ama"].dropna()},
            "lines": {AMONG: measures["EMA"], WITH: measures["AMA"]},
            "last": 1.0,
        }
        relative = {
            "series": {WITH: documents["rma"].dropna()},
            "lines": {WITH: measures["RMA"], "barrier": CRITERIA.barrier},
            "last": 2.0,
        }
        return {
            "Consistency criteria": self.histograms_of_pairs(),
            "Documents": {"AMA and EMA": accuracies, "RMA": relative},
        }

    @property
    def roles(self) -> dict[str, str]:
        """Which column of `rows` holds the item, the label and the outcome."""
        return {"item": "document_id", "label": "tags", "outcome": "outcome"}

    @functools.cached_property
    def rows(self) -> pd.DataFrame:
        """One row per object of a markup and other markup of its document: what became of it there.

        Columns
        -------
        document_id
        markup, against : the object's markup and the one compared with: "algorithm", "expert 1" …
        level : "element", "element overtext", "fragment" or "fragment overtext"
        element, fragment, overtext : positions, from 0, in the JSON; -1 where the object lies in none
        start, end : offsets of a fragment; -1 of the others
        tags : its tags, such as "fact, logic"; missing where it has none
        outcome : "matched" or "unmatched"; what lies within an unmatched object is unmatched
        partner_element, partner_fragment, partner_overtext : likewise; -1 where unmatched
        consistency : of the two partners, the worth that the accordance gave their pair; NaN where unmatched
        """
        metric, prepared = self.metric, self.prepared
        rows = []
        for document_id, first, second, one, other in _markups.comparisons(prepared, self.evaluation.read):
            address = {id(item): place for markup in (one, other) for _, place, item in _objects(markup)}
            compared = metric.consistency([(one, other)], prepared.rules)
            partner = dict(_by_object(_partners(metric, compared, prepared.rules)))
            for markup, name, against in ((one, first, second), (other, second, first)):
                for level, place, item in _objects(markup):
                    span = item.content[:2] if level == "fragment" else (-1, -1)
                    tags = ", ".join(item.content[3]) or None
                    found, worth = partner.get(id(item), (None, np.nan))
                    outcome = "unmatched" if found is None else "matched"
                    other_place = (-1, -1, -1) if found is None else address[id(found)]
                    rows.append(
                        (document_id, name, against, level, *place, *span, tags, outcome, *other_place, worth)
                    )
        rows.sort(key=lambda row: (row[:3], row[4:7]))
        return _markups.named(pd.DataFrame(rows, columns=list(COLUMNS)))


def _objects(markup: Any) -> Iterator[tuple[str, tuple[int, int, int], Any]]:
    """All objects of a markup: level, positions of element, fragment and overtext, and the object itself."""
    for element in markup.elements:
        e = element.position
        yield "element", (e, -1, -1), element
        for overtext in element.overtexts:
            yield "element overtext", (e, -1, overtext.position), overtext
        for fragment in element.fragments:
            yield "fragment", (e, fragment.position, -1), fragment
            for overtext in fragment.overtexts:
                yield "fragment overtext", (e, fragment.position, overtext.position), overtext


def _by_object(partners: Iterable[_Partners]) -> Iterator[tuple[int, tuple[Any, float]]]:
    """Of each object with a partner its id, the partner, and the worth of the two."""
    for (one, other), worth, _, within in partners:
        yield id(one), (other, worth)
        yield id(other), (one, worth)
        for held in within.values():
            yield from _by_object(held)


# ---- Experts ---------------------------------------------------------------------------------------------


def agreement(metric: Metric, prepared: Any, solution: pd.DataFrame) -> Agreement:
    """How well the experts agree with each other; see `Agreement`."""
    return Agreement(prepared, solution, CRITERIA, metric.CRITERIA, weighed(metric, prepared))


def gamma(prepared: Any) -> pd.DataFrame:
    """document_id and γ of the experts' fragments; see `_markups.gamma`."""
    return _markups.gamma(marks(prepared))


def marks(prepared: Any) -> _markups.Marks:
    """Of each document, of each expert, the fragments as `gamma` takes them."""

    def fragments(expert: Any) -> Iterator[tuple[int, int, str]]:
        for element in expert.elements:
            for fragment in element.fragments:
                yield *fragment.content[:2], " ".join(fragment.content[3])

    return _markups.marks(prepared, fragments)
