"""The companion of markup consistency: files, two markups alone, and what became of every object of a markup.

The objects of a markup are its elements, fragments and overtexts. The functions and the class are the members
of `companion`, which `podium.metric.contract.Companion` describes.
"""

import functools
import json
import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from podium.common.errors import HostError, ToolError
from podium.common.wording import listed
from podium.markups import explanation as shared
from podium.markups import files, spans
from podium.markups.companion import companion_of
from podium.markups.explanation import AMONG, WITH, Criteria
from podium.markups.mistakes import Span
from podium.metric import hosted
from podium.metric.contract import ScoredSubmission
from podium.scoring import evaluating
from podium.scoring.explain import ratio
from podium.tables.frames import of_rows

from . import importers, metric
from .foreign import HOW, JSON_MIN

TEXT_COLUMNS = ("markups", "markup", *spans.TEXTS)

# For each criterion the equation or section of the paper, and its name there.
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
    about=EQUATIONS,
    table=("equation", "ama", "ema", "rma"),
    unit=1.0,
    measure="RMA",
    passes=operator.ge,
)

BELOW = {"total": ("overtexts", "fragments"), "fragments": ("fragments.overtexts",)}

COLUMNS = (
    *("document_id", "markup", "against", "level", "element", "fragment", "overtext", "start", "end", "tag"),
    *("outcome", "partner_element", "partner_fragment", "partner_overtext", "consistency"),
)

Place = tuple[int, int, int]  # the positions of an element, a fragment and an overtext; -1 for none


# ---- Files -----------------------------------------------------------------------------------------------


def read_documents(path: str | Path, error: type[ToolError] = HostError) -> pd.DataFrame:
    """The documents of `read_documents`; `error` is raised for a fault in a file."""
    imported = importers.read(Path(path), error)
    documents = files.read_folder(path, error) if imported is None else imported
    return documents.drop(columns="subject")


def from_table(table: pd.DataFrame) -> pd.DataFrame:
    """The markups of a table, which may be one of spans."""
    if spans.is_spans(table):
        return spans.from_spans(table)
    if table.columns.isin(JSON_MIN).sum() == len(JSON_MIN):  # Label Studio's CSV has the same columns
        raise HostError(f"expected markups, found a table with the columns {listed([*table])}. {HOW}")
    return files.from_table(table)


# ---- Two markups -----------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """A pair of partners: two objects and how well they agree, from 0 to 1."""

    first: int  # its position, from 0, in its list in the first markup
    second: int  # its position in the second markup
    consistency: float  # its worth: the weighted average of its criteria, without the level's accordance
    criteria: dict[str, float]  # by their names within the level: "tags", "overtexts.texts" and so on
    overtexts: list["Pair"]  # the partners among the overtexts of the two objects
    fragments: list["Pair"]  # the partners among their fragments


@dataclass(frozen=True)
class Consistency:
    """How well two markups agree."""

    accordance: float  # (13)
    tags: float  # (14)
    overtexts: float  # (15)
    fragments: float  # (19)
    fragment_text_union: float  # (23)
    fragment_tag_union: float  # (24)
    total: float  # C (7), the weighted average of these six
    parts: dict[str, float]  # of the composite criteria, such as "overtexts.texts", averaged over the pairs
    pairs: list[Pair]  # the elements that are partners


def consistency(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    weights: Mapping[str, float] | None = None,
    accordance: str = "sum",
    lemmatizer: str = "none",
) -> Consistency:
    """Compute the consistency C of two markups of a document (7), and who was paired with whom."""
    markups = []
    for name, value in (("first", first), ("second", second)):
        try:
            markups.append(metric.read_markup(value, None, metric.lemmatizer_of(lemmatizer)))
        except ValueError as fault:
            raise ValueError(f"the {name} markup: {fault}") from None
    rules = metric.Rules(dict.fromkeys(metric.CRITERIA[1:], 1.0) | dict(weights or {}), accordance)
    compared = metric.consistency([(markups[0], markups[1])], rules)
    values = {name: float(compared[-1]["total"].averages[name][0]) for name in metric.CRITERIA}
    parts = {name: values.pop(name) for name in metric.CRITERIA if "." in name}
    swapped = markups[1].content < markups[0].content
    return Consistency(**values, parts=parts, pairs=_pairs(compared, rules, swapped))


def _pairs(
    compared: Any,
    rules: Any,
    swapped: bool,
    name: str = "total",
    problem: int = 0,
    holders: Any = (),
) -> list[Pair]:
    """The partners of one problem of a level.

    `compared` is what the metric's ``consistency`` returned for two markups. It may have swapped them.
    """
    *sides, levels = compared
    level, pairs = levels[name], list[Pair]()
    attribute = {"total": "elements", "fragments": "fragments"}.get(name, "overtexts")
    lists = [getattr(holder, attribute) for holder in (holders if attribute == "overtexts" else sides)]
    for row in np.flatnonzero(level.partners[:, 0] == problem).tolist():
        _, *places, inner = level.partners[row].tolist()
        items = [items[place] for items, place in zip(lists, places)]
        if metric.NOWHERE not in items:
            values = {part: float(of_pairs[row]) for part, of_pairs in level.criteria.items()}
            worth = float(metric.weighted_average(values, metric.PARTS[name][1:], rules.weights))
            criteria = {part.removeprefix(f"{name}."): value for part, value in values.items()}
            within: dict[str, list[Pair]] = {"overtexts": [], "fragments": []}
            for below in BELOW.get(name, ()):
                kind = below.rpartition(".")[2]
                within[kind] = _pairs(compared, rules, swapped, below, inner, items)
            first, second = [item.position for item in items][:: -1 if swapped else 1]
            pairs.append(Pair(first, second, worth, criteria, **within))
    return sorted(pairs, key=lambda pair: pair[:2])


# ---- Submissions -----------------------------------------------------------------------------------------


def sample_submission(solution: pd.DataFrame) -> pd.DataFrame:
    """Make a submission that shows the form. Its markups are empty.

    If all markups of the experts have the form of READ//ABLE, the markups of the submission have it, too,
    because the metric requires that.
    """
    cells = [markup for cell in solution["markups"] for markup in json.loads(cell)]
    is_readable = bool(cells) and all("selections" in markup for markup in cells)
    empty: dict[str, Any] = {"criteria": {}, "selections": []} if is_readable else {"elements": []}
    return solution[[solution.columns[0]]].assign(markup=json.dumps(empty))


def weights(prepared: Any) -> str:
    """Write the weights in use in the form of the parameter ``weights``."""
    return ",".join(
        f"{name}={weight:.9f}".rstrip("0").rstrip(".") for name, weight in prepared.rules.weights.items()
    )


def advice(solution: pd.DataFrame, arguments: Mapping[str, Any]) -> list[str]:
    """Tell a host which weights to give before a competition."""
    if arguments.get("weights", "").count("=") == len(metric.CRITERIA) - 1:
        return []  # all weights are given
    in_use: dict[str, Any] = {}
    loaded = hosted.load(metric.NAME)
    assert loaded.prepare is not None
    for part, rows in evaluating.rows_of_parts(solution).items():
        frame = solution[rows].drop(columns=evaluating.USAGE, errors="ignore")
        in_use[part] = loaded.prepare(frame, **arguments)
    whole = in_use[evaluating.ALL].rules.weights
    lines = [f'give all weights, so that every part has the same: weights="{weights(in_use[evaluating.ALL])}"']
    for part, prepared in in_use.items():
        others = {name: weight for name, weight in prepared.rules.weights.items() if weight != whole[name]}
        if others:
            told = ", ".join(f"{name}={weight:g}" for name, weight in others.items())
            lines.append(f"{part} alone would have other weights than the whole solution: {told}")
    return lines


def _criteria(prepared: Any) -> Criteria:
    """The criteria with the weights in use."""
    return replace(CRITERIA, weights=prepared.rules.weights)


class Explanation(shared.Explanation):
    """What became of every object of a markup; see `podium.markups.explanation`."""

    roles: ClassVar = {"item": "document_id", "label": "tag", "outcome": "outcome"}

    def __init__(self, evaluation: ScoredSubmission) -> None:
        super().__init__(evaluation, _criteria(evaluation.prepared))

    @staticmethod
    def spans_of(markup: Any) -> list[Span]:
        """The fragments of a markup with their tags and those of their element."""
        pairs = [(element, each) for element in markup.elements for each in element.fragments]
        return [(*each.content[:2], each.tags | element.tags) for element, each in pairs]

    @functools.cached_property
    def documents(self) -> pd.DataFrame:
        """One row per document with its measures and the means of its criteria."""
        ama, ema = self.algorithm_means[:, 0], self.expert_means[:, 0]
        columns = {
            "document_id": self.prepared.items,
            "experts": self.experts,
            "ama": ama,
            "ema": ema,
            "rma": ratio(ama, ema),
        }
        return pd.DataFrame(columns | self.means_of_documents)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The criteria, the documents by their number of experts, and the barrier."""
        groups = self.documents.groupby("experts")
        table = groups[["ama", "ema"]].mean()
        table.insert(0, "documents", groups.size())
        table["rma"] = ratio(table["ama"], table["ema"])
        return {"Criteria": self.criteria_table, "Documents": table.reset_index(), "Barrier": self.barrier}

    @property
    def notices(self) -> list[str]:
        """Which documents were left out, and which criteria do not count."""
        absent = [name for name, weight in self.prepared.rules.weights.items() if weight == 0]
        return super().notices + ([f"criteria that do not count: {', '.join(absent)}"] if absent else [])

    @property
    def histograms(self) -> dict[str, Any]:
        """The paper's figures 3 to 5."""
        documents, measures = self.documents, self.evaluation.measures
        sides = {AMONG: (documents["ema"], measures["EMA"]), WITH: (documents["ama"], measures["AMA"])}
        return self.figures("Consistency criteria", "AMA and EMA", sides, ["RMA"])

    @functools.cached_property
    def rows(self) -> pd.DataFrame:
        """One row for each object of a markup and each other markup of its document."""
        rules = self.prepared.rules
        rows = []
        for document_id, first, second, one, other in shared.comparisons(self.prepared, self.evaluation.read):
            compared = metric.consistency([(one, other)], rules)
            places = list(_places(_pairs(compared, rules, other.content < one.content)))
            partner_of = {ours: (theirs, worth) for ours, theirs, worth in places}
            back = {theirs: (ours, worth) for ours, theirs, worth in places}
            for markup, *names, partners in ((one, first, second, partner_of), (other, second, first, back)):
                for level, place, item in _objects(markup):
                    span = item.content[:2] if level == "fragment" else (-1, -1)
                    tags = spans.SEPARATOR.join(item.content[3]) or None
                    outcome = "matched" if place in partners else "unmatched"
                    partner, worth = partners.get(place, ((-1, -1, -1), np.nan))
                    rows.append((document_id, *names, level, *place, *span, tags, outcome, *partner, worth))
        rows.sort(key=lambda row: (row[:3], row[4:7]))
        return self.named(of_rows(rows, list(COLUMNS)))


def _objects(markup: Any) -> Iterator[tuple[str, Place, Any]]:
    """The level, the place and the object for each object of a markup."""
    for element in markup.elements:
        e = element.position
        yield "element", (e, -1, -1), element
        for overtext in element.overtexts:
            yield "element overtext", (e, -1, overtext.position), overtext
        for fragment in element.fragments:
            yield "fragment", (e, fragment.position, -1), fragment
            for overtext in fragment.overtexts:
                yield "fragment overtext", (e, fragment.position, overtext.position), overtext


def _places(pairs: Iterable[Pair]) -> Iterator[tuple[Place, Place, float]]:
    """The places of both partners and their consistency, for each pair of elements and the pairs within."""
    for e in pairs:
        yield (e.first, -1, -1), (e.second, -1, -1), e.consistency
        for o in e.overtexts:
            yield (e.first, -1, o.first), (e.second, -1, o.second), o.consistency
        for f in e.fragments:
            yield (e.first, f.first, -1), (e.second, f.second, -1), f.consistency
            for o in f.overtexts:
                yield (e.first, f.first, o.first), (e.second, f.second, o.second), o.consistency


companion = companion_of(
    metric,
    read_documents,
    _criteria,
    sample_submission,
    text_columns=TEXT_COLUMNS,
    from_table=from_table,
    explain=Explanation,
    agreement_parameters={"measure": "ama"},
    advice=advice,
)
