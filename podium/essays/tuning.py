"""Thresholds per type that maximise the Unified Metric on out-of-fold predictions.

Each fold is also scored by thresholds found without it: this nested score is what to expect of new essays.
As a softmin follows the lowest sub-population, perhaps a few dozen essays, a second search follows their mean
(temperature 0); the better nested score decides.
"""

import dataclasses
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted, progress, statistics
from podium.errors import SubmissionRejected, UsageError
from podium.essays.spans import TYPES
from podium.wording import counted

__all__ = ["Tuning", "tune"]

NAMES = ("min_probability", "min_words")
UNTOUCHED = (0.0, 1.0)
STEPS = (1e-4, 1.0)  # of thresholds
LEVELS = 24
ROUNDS = 4
LEAST_GAIN = 1e-9

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Tuning:
    """What `tune` found.

    Attributes
    ----------
    thresholds : of each type, and their range over the folds
    before : the score of all candidates
    searches : by the softmin's temperature, best first; optimism is tuned minus nested
    comparison : nested against before, see `podium.statistics.compare`
    """

    thresholds: pd.DataFrame
    before: float
    searches: pd.DataFrame
    comparison: pd.DataFrame
    notices: list[str]

    @property
    def options(self) -> dict[str, dict[str, float]]:
        """For `podium.spans.select`."""
        return {name: dict(zip(TYPES, self.thresholds[name].tolist())) for name in NAMES}

    def __str__(self) -> str:
        gain = self.comparison.iloc[0]
        interval = f"95% interval from {gain['low']:.6f} to {gain['high']:.6f}, p {gain['p']:.4f}"
        if np.isnan(gain["low"]):
            interval = f"{gain['note']}, p {gain['p']:.4f}"
        doubt = "" if gain["low"] > 0 else ": it may be chance"
        return (
            f"Before    {self.before:.6f}  all candidates\n"
            f"Tuned     {self.searches['tuned'][0]:.6f}  on the essays that the thresholds were found on\n"
            f"Nested    {gain['value']:.6f}  on others, so what to expect of new ones\n"
            f"Gain      {gain['difference']:.6f}  {interval}{doubt}"
        )


def tune(prepared: Any, candidates: pd.DataFrame, folds: int = 5, seed: int = 0) -> Tuning:
    """Find the best thresholds by coordinate search on exact scores.

    Parameters
    ----------
    prepared : what ``prepare`` made of the solution, of which only essays with a candidate count
    candidates : a submission with the column ``probability``
    folds : of the nested score, each with its share of every sub-population
    """
    problem, notices = _problem(prepared, candidates)
    essays = len(problem.prepared.items)
    if not 2 <= folds <= essays:
        raise UsageError(f"folds: expected from 2 to {essays}, the number of essays to tune on, found {folds}")
    fold = _folds(problem.prepared.groups, folds, seed)
    parts = [problem, *(problem.part(fold != number) for number in range(folds))]
    temperatures = list(dict.fromkeys([float(prepared.temperature), 0.0]))
    searched: list[Floats] = []
    with progress.shown("tuning") as show:
        for temperature, part in itertools.product(temperatures, parts):
            show(len(searched), len(temperatures) * len(parts))
            searched.append(_search(part, temperature))
    found = np.reshape(searched, (len(temperatures), len(parts), len(NAMES), len(TYPES)))
    counts = np.array([[problem.counts(problem.kept(each)) for each in search] for search in found])
    tuned = counts[:, 0]
    nested = [search[1 + fold, np.arange(essays)] for search in counts]
    before = problem.counts(np.ones(len(problem.probability), dtype=bool))
    searches = pd.DataFrame(
        {"temperature": temperatures, "tuned": map(problem.score, tuned), "nested": map(problem.score, nested)}
    )
    searches["optimism"] = searches["tuned"] - searches["nested"]
    best = int(searches["nested"].argmax())
    return Tuning(
        thresholds=_table(found[best], problem.segments.discourse_type, problem.kept(found[best][0])),
        before=problem.score(before),
        searches=searches.sort_values("nested", ascending=False, kind="stable", ignore_index=True),
        comparison=statistics.compare(problem.prepared, nested[best], before, seed=seed),
        notices=notices,
    )


def _table(found: Floats, types: Ints, kept: Bools) -> pd.DataFrame:
    """Of what was `found` on all essays and without each fold, (1 + folds, 2, types)."""
    table = pd.DataFrame(
        {"discourse_type": TYPES, NAMES[0]: found[0, 0], NAMES[1]: found[0, 1].astype(np.int64)}
    )
    table["candidates"] = np.bincount(types, minlength=len(TYPES))
    table["kept"] = np.bincount(types[kept], minlength=len(TYPES))
    for name, values in zip(NAMES, found[1:].swapaxes(0, 1)):
        lowest, highest = values.min(axis=0).tolist(), values.max(axis=0).tolist()
        table[f"{name}_in_folds"] = [f"{low:g} to {high:g}" for low, high in zip(lowest, highest)]
    return table


@dataclass(frozen=True, eq=False)
class _Problem:
    prepared: Any
    segments: Any  # of the hosted file, by essay
    probability: Floats  # of each segment

    def kept(self, thresholds: Floats) -> Bools:
        """Which candidates reach the thresholds, (2, types)."""
        least, fewest = thresholds[:, self.segments.discourse_type]
        kept: Bools = (self.probability >= least) & (self.segments.words >= fewest)
        return kept

    def counts(self, kept: Bools) -> Floats:
        counts: Floats = self.prepared.count(self.prepared.compare(self.segments.take(kept)))
        return counts

    def score(self, counts: Floats) -> float:
        return float(self.prepared.measures(statistics.sums(counts, self.prepared.groups))[0])

    def only(self, essays: Ints) -> tuple["_Problem", Ints]:
        """What it takes to count some essays, and which candidates are theirs."""
        truth_rows, truth_essay = _rows_of(self.prepared.truths.essay, essays)
        rows, essay = _rows_of(self.segments.essay, essays)
        prepared = dataclasses.replace(
            self.prepared,
            items=self.prepared.items[: len(essays)],  # only their number counts
            truths=self.prepared.truths.take(truth_rows)._replace(essay=truth_essay),
        )
        segments = self.segments.take(rows)._replace(essay=essay)
        return _Problem(prepared, segments, self.probability[rows]), rows

    def part(self, essays: Bools) -> "_Problem":
        """With their sub-populations, too."""
        part, _ = self.only(np.flatnonzero(essays))
        prepared = statistics.part(self.prepared, essays)
        return dataclasses.replace(part, prepared=dataclasses.replace(prepared, truths=part.prepared.truths))


def _rows_of(essay: Ints, essays: Ints) -> tuple[Ints, Ints]:
    """Where some essays are in a column, and which of them; both ascend."""
    start = np.searchsorted(essay, essays)
    size = np.searchsorted(essay, essays, side="right") - start
    before = np.cumsum(size) - size
    return np.arange(size.sum()) + np.repeat(start - before, size), np.repeat(np.arange(len(essays)), size)


def _problem(prepared: Any, candidates: pd.DataFrame) -> tuple[_Problem, list[str]]:
    """Of essays with a candidate, and a notice on others."""
    with hosted.errors_explained():
        segments = prepared.read(candidates)
    if "probability" not in candidates:
        found = ", ".join(map(str, candidates))
        raise SubmissionRejected(f"expected the column probability, that of the segment, too, found {found}")
    probability = pd.to_numeric(candidates["probability"], errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~((probability >= 0) & (probability <= 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise SubmissionRejected(
            f"probability: expected a number from 0 to 1. Wrong in {counted(int(wrong.sum()), 'row')}, "
            f"first in row number {row + 1}: {candidates['probability'].tolist()[row]!r}"
        )
    order = np.argsort(segments.essay, kind="stable")
    known = order[segments.essay[order] >= 0]
    predicted = np.bincount(segments.essay[known], minlength=len(prepared.items)) > 0
    notices = []
    if not predicted.all():
        left_out = counted(int((~predicted).sum()), "essay")
        notices.append(f"{left_out} of {len(predicted):,} without a candidate: left out")
    return _Problem(prepared, segments.take(known), probability[known]).part(predicted), notices


def _folds(groups: Ints, folds: int, seed: int) -> Ints:
    """The fold of each essay, dealt out within each combination of groups."""
    stratum = np.unique(groups, axis=1, return_inverse=True)[1].ravel()
    shuffled = np.random.default_rng(seed).permutation(len(stratum))
    dealt = shuffled[np.argsort(stratum[shuffled], kind="stable")]
    fold = np.empty(len(stratum), dtype=np.int64)
    fold[dealt] = np.arange(len(stratum)) % folds
    return fold


def _search(problem: _Problem, temperature: float) -> Floats:
    """The best thresholds, (2, types), for a softmin of this temperature."""
    prepared = dataclasses.replace(problem.prepared, temperature=temperature)
    members = np.eye(len(prepared.labels))[prepared.groups].sum(axis=0).T
    kept = np.ones(len(problem.probability), dtype=bool)
    counts = problem.counts(kept)
    totals = members @ counts

    def keep(some: Ints, wanted: Bools) -> float:
        """The score when of some candidates the wanted ones are kept."""
        essays = np.unique(problem.segments.essay[some[kept[some] != wanted]])
        kept[some] = wanted
        if len(essays):
            part, rows = problem.only(essays)
            changed = part.counts(kept[rows])
            totals[:] += members[:, essays] @ (changed - counts[essays])
            counts[essays] = changed
        return float(prepared.measures(totals)[0])

    values = np.stack([problem.probability, problem.segments.words])
    thresholds = np.tile(np.array(UNTOUCHED)[:, np.newaxis], len(TYPES))
    best = keep(np.arange(len(kept)), kept)
    for _ in range(ROUNDS):
        before = thresholds.copy()
        for kind, which in itertools.product(range(len(TYPES)), range(len(NAMES))):
            own = np.flatnonzero(problem.segments.discourse_type == kind)
            value, other = values[which, own], values[1 - which, own] >= thresholds[1 - which, kind]
            for level in _levels(value, thresholds[which, kind], which).tolist():
                score = keep(own, other & (value >= level))
                if score > best + LEAST_GAIN:
                    best, thresholds[which, kind] = score, level
            keep(own, other & (value >= thresholds[which, kind]))
        if (thresholds == before).all():
            break
    return thresholds


def _levels(values: Floats, current: float, which: int) -> Floats:
    """To try: none, the current one, some among all values and around it."""
    grid = np.unique([UNTOUCHED[which], current, *_between(values, STEPS[which])])
    place = int(np.searchsorted(grid, current))
    near = values[(values >= grid[max(place - 1, 0)]) & (values <= grid[min(place + 1, len(grid) - 1)])]
    return np.union1d(grid, _between(near, STEPS[which]))


def _between(values: Floats, step: float) -> Floats:
    """Middles below quantiles, in whole steps."""
    distinct = np.unique(values)
    if not len(distinct):
        return distinct
    place = np.searchsorted(distinct, np.quantile(values, np.linspace(0, 1, LEVELS), method="lower"))
    middle = (distinct[place] + distinct[np.maximum(place - 1, 0)]) / 2
    levels: Floats = np.ceil(middle[place > 0] / step) * step
    return levels
