"""Explain a submission of either markup metric: criteria, documents, and pairs of markups."""

import functools
import itertools
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd

from podium import statistics
from podium.common.arrays import Bools, Floats, Ints
from podium.common.wording import counted, listed
from podium.markups.files import ALGORITHM, leave_out, name_in
from podium.markups.mistakes import Span, of_spans
from podium.metric import contract
from podium.metric.contract import PreparedOfFile, ScoredSubmission
from podium.scoring import evaluating
from podium.scoring.explain import ratio
from podium.tables import ids
from podium.tables.names import alike, skeleton_of

NAMES_SHOWN = 10
AMONG, WITH = "experts with each other", "algorithm with experts"


class PreparedMarkups(PreparedOfFile, Protocol):
    """What the prepared solution of either markup metric has beside what every one has, for each document."""

    experts: list[list[Any]]  # the markups of its experts, in the class of the metric file
    among: list[Floats]  # the criteria of every two of them, (pairs, criteria)


@dataclass(frozen=True)
class Criteria:
    """The criteria by which a metric compares two markups, and how they are shown."""

    titles: Mapping[str, str]  # the name of each criterion in the paper; the first criterion is the total
    about: Mapping[str, str]  # what `Explanation.criteria_table` says about each criterion
    table: Sequence[str]  # its columns: what `about` says, the algorithm's mean, the experts' mean, the ratio
    unit: float  # the value of full agreement, 1 or 100 percent, which is also the barrier
    measure: str  # the measure that must pass the barrier if the algorithm is as good as the experts
    passes: Callable[[Any, float], Any]  # from values of the measure and the barrier to which values pass
    weights: Mapping[str, float] = field(default_factory=dict)  # in use, of all criteria except the total

    @property
    def names(self) -> list[str]:
        """The names of the total and of the criteria that are compared."""
        return [next(iter(self.titles)), *self.weights]

    @property
    def shown(self) -> dict[str, tuple[int, str]]:
        """The position in `names` and the title of every criterion that counts.

        A criterion counts if neither its own weight nor the weight of a criterion that it is a part of is 0.
        """
        return {
            name: (number, self.titles.get(name, name))
            for number, name in enumerate(self.names)
            if all(
                self.weights.get(above, 1) > 0
                for above in itertools.accumulate(name.split("."), "{}.{}".format)
            )
        }

    def histograms(self, sides: Mapping[str, tuple[Any, Floats]]) -> dict[str, Any]:
        """Prepare the paper's figures 3 and 4, drawn over each other."""
        panels = {}
        for number, title in self.shown.values():
            series, lines = {}, {}
            for side, (pairs, means) in sides.items():
                series[side] = np.concatenate(pairs)[:, number]
                if not np.isnan(means[:, number]).all():
                    lines[side] = float(np.nanmean(means[:, number]))
            panels[title] = {"series": series, "lines": lines, "last": self.unit}
        return panels


def name_of(number: int) -> str:
    """Name a markup by its number.

    >>> name_of(0), name_of(2)
    ('algorithm', 'expert 2')
    """
    return f"expert {number}" if number else ALGORITHM


def comparisons(
    prepared: PreparedMarkups, algorithm: Sequence[Any]
) -> Iterator[tuple[str, int, int, Any, Any]]:
    """Go through every two markups of each document."""
    for item, experts, markup in zip(prepared.items, prepared.experts, algorithm):
        numbered = [(0, markup), *((expert.number, expert) for expert in experts)]
        for (first, one), (second, other) in itertools.combinations(numbered, 2):
            yield item, first, second, one, other


def mean(values: Floats) -> Floats:
    """Compute the mean of each column."""
    means: Floats = values.mean(axis=0) if len(values) else np.full(values.shape[1], np.nan)
    return means


def notice(told: str, documents: Sequence[str], concerned: Bools) -> list[str]:
    """Name the documents that a notice concerns; there is none if it concerns no document."""
    names = list(itertools.compress(documents, concerned))
    return [f"{told}: {listed(names, NAMES_SHOWN)} ({counted(len(names), 'document')})"] if names else []


def markups_of(prepared: PreparedMarkups, solution: pd.DataFrame) -> list[list[dict[str, Any]]]:
    """The experts' markups of each document, as the solution has them."""
    cells = dict(zip(prepared.item_of_row.tolist(), solution["markups"].to_numpy(dtype=object)))
    return [json.loads(cells[document]) for document in range(len(prepared.items))]


def names_of_experts(
    prepared: PreparedMarkups, markups: Sequence[Sequence[Mapping[str, Any]]]
) -> list[list[str]]:
    """The names of each document's experts, whose `markups_of` are given.

    An expert whom a document does not name, or names like another one before, has a number in this document
    alone. Where no document names anybody, all experts have numbers.
    """
    names = []
    for experts, of_experts in zip(prepared.experts, markups):
        of_document = list[str]()
        for expert in sorted(experts, key=lambda expert: expert.number):
            own = name_in(of_experts[expert.number - 1])
            of_document.append(own if own and own not in of_document else name_of(expert.number))
        in_order = sorted(expert.number for expert in experts)
        names.append([of_document[in_order.index(expert.number)] for expert in experts])
    return names


def look_alikes(names: Sequence[Sequence[str]], markups: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """Name the experts, criteria and tags that differ in nothing but case or look-alike letters."""
    kinds: dict[str, set[str]] = {"experts": {name for of in names for name in of}}
    for markup in itertools.chain.from_iterable(markups):
        kinds.setdefault("criteria", set()).update(criteria_in(markup))
        kinds.setdefault("tags", set()).update(unicodedata.normalize("NFC", tag) for tag in _tags_in(markup))
    return [
        f"{kind} that differ in nothing but case or look-alike letters: {listed(told, NAMES_SHOWN)}"
        for kind, found in kinds.items()
        if (told := [" and ".join(map(_spelled, group)) for group in alike(found, skeleton_of)])
    ]


def _spelled(name: str) -> str:
    """A name, and which of its letters are not Latin ones."""
    scripts = {
        unicodedata.name(letter, "").partition(" ")[0].capitalize() for letter in name if letter.isalpha()
    }
    return f"{name!r:.40}" + (f" ({', '.join(sorted(scripts))})" if scripts - {"Latin"} else "")


def criteria_in(markup: Mapping[str, Any]) -> list[str]:
    """The names of a markup's criteria, which a READ//ABLE markup has."""
    criteria = markup.get("criteria")
    return [unicodedata.normalize("NFC", name) for name in criteria] if isinstance(criteria, Mapping) else []


def _tags_in(value: Any) -> Iterator[str]:
    """The tags in a value from JSON, wherever they are; the types of selections are compared without case."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            if key == "tags" and isinstance(each, list):
                yield from (tag for tag in each if isinstance(tag, str))
            elif key in ("type", "subtype") and isinstance(each, str):
                yield each.strip().casefold()
            else:
                yield from _tags_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from _tags_in(each)


def lonely_criteria(items: Sequence[str], markups: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """Name the criteria that only one of the markups of a document names; the others have the grade 0 there."""
    told = []
    for item, of_document in zip(items, markups):
        counts = Counter(name for markup in of_document for name in criteria_in(markup))
        lonely = [name for name, number in counts.items() if number == 1 and len(of_document) > 1]
        told += [f"{name!r:.40} in {item}" for name in lonely]
    what = "criteria that only one markup of a document names"
    return [f"{what}: {listed(told, NAMES_SHOWN)} ({len(told):,})"] if told else []


def unnamed(prepared: PreparedMarkups, names: Sequence[Sequence[str]]) -> list[str]:
    """Name the documents in which some experts have no name of their own, if other experts have one."""
    lacking = [
        [own == name_of(expert.number) for own, expert in zip(of_document, experts)]
        for of_document, experts in zip(names, prepared.experts)
    ]
    if all(all(of_document) for of_document in lacking):
        return []
    told = "documents with an expert who has no name, or the name of another one, and is numbered there"
    return notice(told, prepared.items, np.array([any(of_document) for of_document in lacking]))


def _silent(prepared: PreparedMarkups, names: Sequence[Sequence[str]]) -> list[tuple[str, int, int, bool]]:
    """The experts who marked nothing in some documents that others marked.

    Each has the number of these documents, the number of all that others marked, and whether there is no mark
    by this expert anywhere.
    """
    marked, silent, made = Counter[str](), Counter[str](), set[str]()
    for experts, of_document in zip(prepared.experts, names):
        own = [any(expert.content) for expert in experts]
        made.update(itertools.compress(of_document, own))
        for name, is_marked in zip(of_document, own):
            by_others = sum(own) > is_marked
            marked[name] += by_others
            silent[name] += by_others and not is_marked
    return [(name, number, marked[name], name not in made) for name, number in sorted(silent.items()) if number]


def about_experts(
    prepared: PreparedMarkups,
    names: Sequence[Sequence[str]],
    markups: Sequence[Sequence[Mapping[str, Any]]],
    without: Callable[[str], str],
) -> list[str]:
    """Say who has no name, who may not have finished, and which names may be meant to be the same.

    A tool keeps a file also of somebody who opened a document by chance, so `without` says what changes if an
    expert is left out who marked nothing anywhere. One document without a mark says little, so it is not a
    reason for a notice.
    """
    silent = _silent(prepared, names)
    unfinished = [
        f"{name} in {number:,} of {counted(marked, 'document')}"
        for name, number, marked, _ in silent
        if number > max(1, marked / 2)
    ]
    what = "experts who marked nothing in most documents that others marked, and may not have finished"
    return [
        *unnamed(prepared, names),
        *(
            f"{name} marked nothing in any document and counts as an expert{without(name)}"
            for name, _, _, is_idle in silent
            if is_idle
        ),
        *([f"{what}: {listed(unfinished, NAMES_SHOWN)}"] if unfinished else []),
        *look_alikes(names, markups),
        *lonely_criteria(prepared.items, markups),
    ]


class Explanation(contract.Explanation):
    """What both markup metrics explain about a submission; see `podium.metric.contract.Explanation`."""

    prepared: PreparedMarkups
    documents: Any  # one row per document; each of the two metrics makes its own table
    spans_of: Callable[[Any], list[Span]]  # which spans a markup has

    def __init__(self, evaluation: ScoredSubmission, criteria: Criteria) -> None:
        super().__init__(evaluation)
        self.criteria, self.names = criteria, criteria.names
        self.with_algorithm: list[Floats] = evaluation.compared

    @functools.cached_property
    def algorithm_means(self) -> Floats:
        """For each document the means over its experts, (n, criteria)."""
        return np.array([mean(values) for values in self.with_algorithm])

    @functools.cached_property
    def expert_means(self) -> Floats:
        """For each document the means over its pairs of experts, (n, criteria)."""
        return np.array([mean(values) for values in self.prepared.among])

    @functools.cached_property
    def experts(self) -> Ints:
        """The number of experts of each document, (n,)."""
        return np.array([len(experts) for experts in self.prepared.experts])

    @functools.cached_property
    def means(self) -> tuple[Floats, Floats, Floats]:
        """The algorithm's means, the experts' means, and their ratio over documents with two experts."""
        two = ~np.isnan(self.expert_means[:, 0])
        algorithm, of_two = (mean(self.algorithm_means[rows]) for rows in (self.experts > 0, two))
        experts = mean(self.expert_means[two])
        return algorithm, experts, ratio(of_two, experts)

    @property
    def means_of_documents(self) -> dict[str, Floats]:
        """The means of each document, by the columns "algorithm.NAME" and "experts.NAME" of `documents`."""
        sides = (("algorithm", self.algorithm_means), ("experts", self.expert_means))
        return {f"{side}.{name}": column for side, means in sides for name, column in zip(self.names, means.T)}

    @functools.cached_property
    def criteria_table(self) -> pd.DataFrame:
        """One row per criterion, with its weight and the means of the algorithm and of the experts."""
        criteria = self.criteria
        algorithm, experts, relative = self.means
        told = [criteria.about.get(name, "") for name in self.names]
        columns = dict(zip(criteria.table, (told, algorithm, experts, criteria.unit * relative)))
        table = pd.DataFrame({"criterion": self.names} | columns)
        table.insert(2, "weight", [criteria.weights.get(name, np.nan) for name in self.names])
        return table

    @property
    def details(self) -> dict[str, pd.DataFrame]:
        """The tables of each document and of each pair of markups, which ``--json`` and ``--rows`` contain."""
        return {"document": self.documents, "pair": self.pairs}

    @functools.cached_property
    def pairs(self) -> pd.DataFrame:
        """One row for every two markups of a document, with all criteria."""
        rows = []
        values = zip(self.prepared.items, self.prepared.experts, self.with_algorithm, self.prepared.among)
        for item, experts, ours, theirs in values:
            numbers = [expert.number for expert in experts]
            pairs = [(0, number) for number in numbers]
            pairs += [(min(pair), max(pair)) for pair in itertools.combinations(numbers, 2)]
            for ends, criteria in sorted(zip(pairs, [*ours.tolist(), *theirs.tolist()])):
                rows.append((item, *ends, *criteria))
        return self.named(pd.DataFrame(rows, columns=["document_id", "markup", "against", *self.names]))

    @functools.cached_property
    def markups(self) -> list[list[dict[str, Any]]]:
        """The experts' markups of each document, as the solution has them."""
        solution = self.evaluation.solution
        return markups_of(self.prepared, solution.frame[solution.rows[evaluating.ALL]])

    @functools.cached_property
    def names_of_experts(self) -> list[list[str]]:
        """The names of each document's experts."""
        return names_of_experts(self.prepared, self.markups)

    def named(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Replace the numbers of markups by the names of those who made them."""
        names = {(item, 0): ALGORITHM for item in self.prepared.items}
        for item, experts, own in zip(self.prepared.items, self.prepared.experts, self.names_of_experts):
            for expert, name in zip(experts, own):
                names[item, expert.number] = name_of(expert.number) if name == ALGORITHM else name
        columns = {
            column: [names[key] for key in zip(rows["document_id"], rows[column])]
            for column in ("markup", "against")
        }
        return rows.assign(**columns)

    @functools.cached_property
    def barrier(self) -> pd.DataFrame:
        """One row: whether the algorithm is as good as the experts, and in which share of resamples it is."""
        name, least, passes = self.criteria.measure, self.criteria.unit, self.criteria.passes
        column = self.prepared.measure_names.index(name)
        weights = statistics.draw(len(self.statistics), statistics.RESAMPLES, 0)
        samples = statistics.resample(self.prepared, self.statistics, weights)[:, column]
        samples = samples[~np.isnan(samples)]
        value = self.evaluation.measures[name]
        row = {
            "measure": name,
            "value": value,
            "barrier": least,
            "passed": "yes" if passes(value, least) else "no",
            "probability": passes(samples, least).mean() if len(samples) else np.nan,
        }
        return pd.DataFrame([row])

    @property
    def notices(self) -> list[str]:
        """Which documents have too few experts, and who may not have finished."""
        items, without = self.prepared.items, "documents without an expert are left out everywhere"
        one = f"documents with one expert are left out of {self.criteria.measure} and of the experts' agreement"
        solution = self.evaluation.solution
        written = ids.texts(self.evaluation.submission[solution.arguments["row_id_column_name"]])
        of_algorithm = dict(zip(written, map(json.loads, self.evaluation.submission["markup"])))
        everyone = [[*of, of_algorithm[item]] for of, item in zip(self.markups, items)]
        return [
            *notice(without, items, self.experts == 0),
            *notice(one, items, self.experts == 1),
            *about_experts(self.prepared, self.names_of_experts, everyone, self._without),
            *(sentence for _, sentence in self.mistakes),
        ]

    @functools.cached_property
    def mistakes(self) -> list[tuple[str, str]]:
        """Say that positions or labels seem to be others than the experts'."""
        experts = [[span for expert in of for span in self.spans_of(expert)] for of in self.prepared.experts]
        return of_spans([self.spans_of(markup) for markup in self.evaluation.read], experts)

    def _without(self, name: str) -> str:
        """Say what the score is without an expert, if it can be computed."""
        solution = self.evaluation.solution
        with suppress(self.metric.HostVisibleError):  # such as where no document has two other experts
            frame = leave_out(solution.frame[solution.rows[evaluating.ALL]], [name])
            score = self.metric.score(frame, self.evaluation.submission.copy(), **solution.arguments)
            return f"; without {name}, the score is {score:.6f}"
        return ""

    def figures(
        self, title: str, averages: str, sides: Mapping[str, Any], relative: Sequence[str]
    ) -> dict[str, Any]:
        """Prepare the histograms of the report: the paper's figures 3, 4 and 5."""
        criteria, unit = self.criteria, self.criteria.unit
        pairs = {
            AMONG: (self.prepared.among, self.expert_means),
            WITH: (self.with_algorithm, self.algorithm_means),
        }
        series = {side: values.dropna() for side, (values, _) in sides.items()}
        lines = {side: corpus for side, (_, corpus) in sides.items()}
        panels: dict[str, Any] = {averages: {"series": series, "lines": lines, "last": unit}}
        for name in relative:
            lines = {WITH: self.evaluation.measures[name], "barrier": unit}
            values = self.documents[name.lower()].dropna()
            panels[name] = {"series": {WITH: values}, "lines": lines, "last": 2 * unit}
        return {title: criteria.histograms(pairs), "Documents": panels}


def closest_markups(metric: Any, solution: pd.DataFrame, submission: pd.DataFrame) -> pd.DataFrame:
    """Choose for each document the expert's markup that agrees best with the markups of all its experts."""
    prepared = metric.prepare(solution, str(solution.columns[0]))
    cells = submission["markup"].tolist()
    markups = solution["markups"].tolist()
    for row, item in enumerate(prepared.item_of_row.tolist()):
        experts = prepared.experts[item]
        totals = dict.fromkeys((expert.number for expert in experts), 0.0)
        for pair, total in zip(itertools.combinations(experts, 2), prepared.among[item][:, 0].tolist()):
            for expert in pair:
                totals[expert.number] += total
        if totals:
            # Every markup agrees with itself completely. So leaving that out changes nothing.
            best = max(sorted(totals), key=totals.__getitem__)
            cells[row] = json.dumps(json.loads(markups[row])[best - 1], ensure_ascii=False)
    return submission.assign(markup=cells)
