"""Find the thresholds for each type that maximize the Unified Metric on out-of-fold predictions.

A candidate is a segment with the probability of its type. For every type, `tune` searches for the least
probability, the least number of words, and the gap up to which neighbors are joined. It returns the combination
with the best score.

Each fold is also scored with thresholds that were found on the other folds. This nested score is what to expect
for new essays. A softmin depends mainly on the lowest sub-population, which may consist of a few dozen essays.
Therefore a second search maximizes the mean of the sub-populations (temperature 0). The search with the better
nested score is chosen.

All levels of a threshold are scored together. Candidates that share words, directly or through others, form a
cluster. Overlap removal and matching never reach beyond a cluster, so true positives, false positives and false
negatives can be added up over clusters. Most clusters have one candidate, which is either kept or not. In a
larger cluster, each set of candidates that some level keeps is counted once.
"""

import dataclasses
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from podium import statistics
from podium.common import progress
from podium.common.arrays import Bools, Floats, Ints, ranges
from podium.common.errors import SubmissionRejected, UsageError
from podium.common.wording import counted
from podium.contest import pipeline
from podium.metric import guard
from podium.metric.contract import Measured
from podium.scoring.alignment import answers_for
from podium.scoring.evaluating import ALL, Solution
from podium.spans.by_position import by_position
from podium.spans.places import from_table
from podium.spans.segments import (
    PreparedEssays,
    Spans,
    joined,
    prepared_for,
    segments_of,
    select,
    to_submission,
)
from podium.statistics.sampling import check_draws
from podium.tables.names import of_column

__all__ = ["Tuning", "tune"]

NAMES = ("min_probability", "min_words")
ORDER = ("min_words", "min_probability", "join_gap")  # as `podium.spans.select` takes them
UNTOUCHED = (0.0, 1.0)  # the thresholds that keep every candidate
DIGITS = (4, 0)  # the decimals of each threshold
GAPS = (-1, 0, 1, 2, 4)  # the largest number of words between neighbors that are joined; -1 joins nothing
GAPS_OF_ALL = (-1, 1, 4)  # the gaps that are tried for all types together, before those of each type
LEVELS = 24  # how many quantiles of the candidates are tried at once
ROUNDS = 4  # how often the coordinate search goes through all thresholds
LEAST_GAIN = 1e-9  # a smaller gain may be a rounding error


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """The result of `tune`.

    Attributes
    ----------
    thresholds : DataFrame
        One row per type: the thresholds, the gap up to which neighbors are joined (NA where nothing is joined),
        the numbers of candidates and of kept segments, and the range of the thresholds over the folds.
        `podium.spans.select` takes this table.
    before : float
        The score of all candidates.
    searches : DataFrame
        One row per temperature of the softmin that was maximized, the best first. It has the tuned score, the
        nested score, and the optimism, which is their difference.
    folds : DataFrame
        One row per fold: the number of its essays, and its scores before and nested.
    gain : podium.statistics.Difference
        The nested score minus the score before, with its interval.
    comparison : DataFrame
        The nested measures compared with those before; see `podium.statistics.compare`.
    notices : list of str
        Sentences about what was left out or renamed.
    further : dict of str to str
        What belongs into the signature of these scores, such as "only_predicted": "1493/15594".
    """

    thresholds: pd.DataFrame
    before: float
    searches: pd.DataFrame
    folds: pd.DataFrame
    gain: statistics.Difference
    comparison: pd.DataFrame
    notices: list[str]
    further: dict[str, str]

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of `podium.spans.select` and `podium.spans.from_tokens`."""
        types = self.thresholds["discourse_type"]
        columns = {name: dict(zip(types, self.thresholds[name].tolist())) for name in ORDER}
        gaps = {kind: gap for kind, gap in columns["join_gap"].items() if not pd.isna(gap)}
        return columns | {"join_gap": gaps}

    def __str__(self) -> str:
        gain = self.gain
        told = f"95% interval from {gain.low:.6f} to {gain.high:.6f}"
        if gain.doubt is not None:
            told = f"no interval, because {gain.doubt}"
        elif gain.low <= 0 <= gain.high:
            told = f"{told}: it may be chance"
        name = "Gain" if gain.low > 0 else "Loss" if gain.high < 0 else "Change"
        return (
            f"Before    {self.before:.6f}  all candidates\n"
            f"Tuned     {self.searches['tuned'][0]:.6f}  on the essays on which the thresholds were found\n"
            f"Nested    {self.before + gain.value:.6f}  on other essays: what to expect for new ones\n"
            f"{name:<8}  {gain.value:.6f}  {told}"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        tables = {"Thresholds": self.thresholds, "Folds": self.folds}
        shown = [f"<h4>{title}</h4>{table.to_html(index=False, border=0)}" for title, table in tables.items()]
        return f"<pre>{self}</pre>{''.join(shown)}"


@by_position
def tune(
    solution: Solution,
    candidates: pd.DataFrame,
    folds: int = 5,
    seed: int = 0,
    *,
    effectiveness: float | None = None,
) -> Tuning:
    """Find the best thresholds by coordinate search on exact scores.

    Parameters
    ----------
    solution : podium.scoring.evaluating.Solution
        What `podium.prepare` returned. Essays without a candidate are left out.
    candidates : DataFrame
        A submission with the further column ``probability``. The column names of the Feedback Prize 1 are
        understood, too.
    folds : int
        The number of folds of the nested score. Each has its share of every sub-population.
    seed : int
        The seed of the folds and of the comparison's resamples.
    effectiveness : float in [0, 1], optional
        The probability of effective for every segment. It replaces the columns with these probabilities, which
        the candidates may then lack.

    Returns
    -------
    Tuning
        The thresholds, and the scores with and without them.

    Raises
    ------
    SubmissionRejected
        The candidates are not a submission, or their probability is not a number from 0 to 1.
    UsageError
        There are more folds than essays, or fewer than two; fewer than two essays have a candidate; or the
        seed is no whole number, or negative.
    """
    if not (effectiveness is None or (isinstance(effectiveness, Real) and 0 <= effectiveness <= 1)):
        raise UsageError(f"effectiveness: expected a probability from 0 to 1, found {effectiveness!r:.40}")
    check_draws(None, seed)
    problem, notices = _problem(solution, candidates, effectiveness)
    essays, of_all = len(problem.prepared.items), len(solution.prepared[ALL].items)
    if not (isinstance(folds, Integral) and 2 <= folds <= essays):
        raise UsageError(
            f"folds: expected at least 2, and at most {essays}, the number of the solution's essays with a "
            f"candidate, found {folds!r:.40}"
        )
    strata = np.unique(problem.prepared.groups, axis=1, return_inverse=True)[1].ravel()
    fold = deal(strata, folds, seed)
    parts = [np.ones(essays, dtype=bool), *(fold != number for number in range(folds))]
    further = {} if effectiveness is None else {"effectiveness": f"{effectiveness:g}"}
    if essays < of_all:
        further["only_predicted"] = f"{essays}/{of_all}"
    # Of one group, every temperature makes the same score.
    has_groups = len(np.unique(problem.prepared.groups)) > 1
    temperatures = list(dict.fromkeys([float(problem.prepared.temperature), *[0.0] * has_groups]))
    optima = _searched(problem, parts, temperatures)
    counts = {each: problem.joined(each.gaps).counts(each.thresholds) for each in set(optima)}
    # Each search has an optimum on all essays, then one without each fold.
    of_searches = [optima[at : at + len(parts)] for at in range(0, len(optima), len(parts))]
    tuned = [counts[search[0]] for search in of_searches]
    nested = [
        np.stack([counts[each] for each in search[1:]])[fold, np.arange(essays)] for search in of_searches
    ]
    before = problem.counts(_untouched(problem.metric))
    searches = pd.DataFrame(
        {"temperature": temperatures, "tuned": map(problem.score, tuned), "nested": map(problem.score, nested)}
    )
    searches["optimism"] = searches["tuned"] - searches["nested"]
    best = int(searches["nested"].argmax())
    compared = statistics.difference(problem.prepared, nested[best], before, seed=seed)
    return Tuning(
        thresholds=_table(of_searches[best], problem),
        before=problem.score(before),
        searches=searches.sort_values("nested", ascending=False, kind="stable", ignore_index=True),
        folds=_by_fold(problem.prepared, fold, before, nested[best]),
        gain=compared.score,
        comparison=compared.table,
        notices=notices,
        further=further,
    )


def deal(strata: Ints, number: int, seed: int) -> Ints:
    """Deal essays to folds, so that every fold has the same share of each stratum, (essays,)."""
    shuffled = np.random.default_rng(seed).permutation(len(strata))
    dealt = shuffled[np.argsort(strata[shuffled], kind="stable")]
    fold = np.empty(len(strata), dtype=np.int64)
    fold[dealt] = np.arange(len(strata)) % number
    return fold


@dataclass(frozen=True, eq=False)
class _Optimum:
    """The best thresholds of one search."""

    gaps: Ints  # (types,) the gap of each type
    thresholds: Floats  # (2, types) the least probability and the least number of words of each type
    score: float  # the score on the essays of the search


def _searched(problem: "_Problem", parts: list[Bools], temperatures: list[float]) -> list[_Optimum]:
    """Search with each temperature on each part of the essays."""
    of_all = [np.full(len(problem.metric.DISCOURSE_TYPES), gap) for gap in GAPS_OF_ALL]
    alike = [(gaps, problem.joined(gaps)) for gaps in of_all]
    # A gap that joins no more than the one before it gives the same segments, and is not tried.
    sizes = [len(each.probability) for _, each in alike]
    alike = [each for each, size, before in zip(alike, sizes, [-1, *sizes]) if size != before]
    optima = []
    work = list(itertools.product(temperatures, parts))
    with progress.shown("tuning") as show:
        for done, (temperature, part) in enumerate(work):
            show(done, len(work))
            tried = [_Optimum(gaps, *_Search(each, part, temperature).best()) for gaps, each in alike]
            # If scores are equal, the first one has the smallest gap.
            best = max(tried, key=lambda each: round(each.score, 9))
            gaps = _gaps_of_types(problem, best, part, temperature)
            if (gaps != best.gaps).any():
                other = _Optimum(gaps, *_Search(problem.joined(gaps), part, temperature).best())
                best = max(best, other, key=lambda each: round(each.score, 9))
            optima.append(best)
    return optima


def _gaps_of_types(problem: "_Problem", best: _Optimum, part: Bools, temperature: float) -> Ints:
    """Find a better gap for one type after the other, with the thresholds as they are."""
    gaps, score = best.gaps, best.score
    problem = dataclasses.replace(
        problem, prepared=dataclasses.replace(problem.prepared, temperature=temperature)
    )
    for kind in np.unique(problem.segments.discourse_type).tolist():
        for gap in GAPS:
            other = gaps.copy()
            other[kind] = gap
            reached = problem.score(problem.joined(other).counts(best.thresholds) * part[:, np.newaxis])
            if reached > score + LEAST_GAIN:
                gaps, score = other, reached
    return gaps


def _table(optima: list[_Optimum], problem: "_Problem") -> pd.DataFrame:
    """Make the table of thresholds from the optimum on all essays, the first one, and those of folds."""
    types = problem.metric.DISCOURSE_TYPES
    chosen = optima[0]
    least, fewest = chosen.thresholds
    table = pd.DataFrame({"discourse_type": types, NAMES[0]: least, NAMES[1]: fewest.astype(np.int64)})
    table["join_gap"] = pd.array([None if gap < 0 else gap for gap in chosen.gaps.tolist()], dtype="Int64")
    table["candidates"] = np.bincount(problem.segments.discourse_type, minlength=len(types))
    joined = problem.joined(chosen.gaps)
    kept = joined.kept(chosen.thresholds)
    table["kept"] = np.bincount(joined.segments.discourse_type[kept], minlength=len(types))
    of_folds = [np.array([*each.thresholds, each.gaps]) for each in optima[1:]]
    for name, lowest, highest in zip((*NAMES, "join_gap"), np.min(of_folds, axis=0), np.max(of_folds, axis=0)):
        table[f"{name}_in_folds"] = [
            f"{_shown(low)} to {_shown(high)}" for low, high in zip(lowest.tolist(), highest.tolist())
        ]
    return table


def _shown(threshold: float) -> str:
    """Write a threshold; a gap below 0 joins nothing."""
    return "none" if threshold < 0 else f"{threshold:g}"


def _by_fold(prepared: Measured, fold: Ints, before: Floats, nested: Floats) -> pd.DataFrame:
    """Make the table of folds from the statistics of each essay."""
    rows = []
    for number in range(int(fold.max()) + 1):
        own = fold == number
        part = statistics.part(prepared, own)
        scores = [statistics.measures(part, counts[own])["score"] for counts in (before, nested)]
        rows.append((number, int(own.sum()), *scores, scores[1] - scores[0]))
    return pd.DataFrame(rows, columns=["fold", "essays", "before", "nested", "gain"])


@dataclass(frozen=True, eq=False)
class _Problem:
    """Essays with the candidates of a model."""

    metric: ModuleType  # the metric file
    prepared: PreparedEssays  # the solution of these essays
    segments: Any  # the candidates in the class of the metric file, by essay and in the order of the text
    probability: Floats  # (n,) the probability of each candidate

    def joined(self, gaps: Ints) -> "_Problem":
        """Return the same problem with neighbors joined; there is one gap for each type."""
        if (gaps < 0).all():
            return self
        given = self.segments
        columns = given.essay, given.first, given.last, given.discourse_type, self.probability, given.d1
        spans = joined(Spans(*columns, np.zeros(len(given.row), dtype=np.int64)), gaps)
        segments = segments_of(self.metric, spans, spans.essay)
        return dataclasses.replace(self, segments=segments, probability=spans.probability)

    def kept(self, thresholds: Floats) -> Bools:
        """Tell which candidates reach the thresholds, (2, types)."""
        least, fewest = thresholds[:, self.segments.discourse_type]
        kept: Bools = (self.probability >= least) & (self.segments.words >= fewest)
        return kept

    def counts(self, thresholds: Floats) -> Floats:
        """Compute the statistics of each essay with the candidates that reach the thresholds."""
        counts: Floats = self.prepared.count(self.prepared.compare(self.segments.take(self.kept(thresholds))))
        return counts

    def score(self, counts: Floats) -> float:
        """Compute the score from the statistics of each essay."""
        return float(self.prepared.measures(statistics.sums(counts, self.prepared.groups))[0])


def _problem(
    solution: Solution, candidates: pd.DataFrame, effectiveness: float | None
) -> tuple[_Problem, list[str]]:
    """Make the problem of the essays with a candidate, and notices about columns and about the other essays."""
    prepared = prepared_for(solution)
    candidates, notices = pipeline.recognized(solution, candidates, effectiveness)
    candidates, other_ids = answers_for(solution, candidates)
    with pipeline.cured(solution, candidates), guard.submission_given(solution.metric):
        segments = prepared.read(candidates)
    probability = _probability(candidates)
    order = np.lexsort((segments.last, segments.first, segments.essay))
    known = order[segments.essay[order] >= 0]
    predicted = np.bincount(segments.essay[known], minlength=len(prepared.items)) > 0
    if not predicted.all():
        without = int((~predicted).sum())
        notices.append(f"left out because they have no candidate: {without:,} of {len(predicted):,} essays")
    number = np.cumsum(predicted) - 1
    segments = segments.take(known)._replace(essay=number[segments.essay[known]])
    truths = prepared.truths.take(predicted[prepared.truths.essay])
    part = dataclasses.replace(
        statistics.part(prepared, predicted), truths=truths._replace(essay=number[truths.essay])
    )
    return _Problem(solution.metric.module, part, segments, probability[known]), notices + other_ids


def _probability(candidates: pd.DataFrame) -> Floats:
    """Read how sure the model is of each candidate."""
    if "probability" not in candidates:
        columns = ", ".join(map(of_column, candidates))
        raise SubmissionRejected(
            "add the column probability, which says how sure the model is of each segment; the columns are "
            f"{columns}"
        )
    probability = pd.to_numeric(candidates["probability"], errors="coerce").to_numpy(dtype=np.float64)
    _reject(candidates, "probability", ~((probability >= 0) & (probability <= 1)), "a number from 0 to 1")
    return probability


def _reject(candidates: pd.DataFrame, column: str, wrong: Bools, expected: str) -> None:
    """Refuse candidates of which some have a wrong cell."""
    if wrong.any():
        row = int(np.argmax(wrong))
        raise SubmissionRejected(
            f"{column}: expected {expected}. Wrong in {counted(int(wrong.sum()), 'row')}, first in row number "
            f"{row + 1}: {candidates[column].tolist()[row]!r}"
        )


@dataclass(frozen=True)
class Others:
    """The candidates of other essays, to which thresholds are applied."""

    segments: Spans
    essay_ids: list[str]
    names: dict[str, str]  # of the columns of ids, by those that `to_submission` writes
    notices: list[str]  # about their columns

    @classmethod
    def of(
        cls,
        metric: Any,
        parameters: Mapping[str, Any],
        candidates: pd.DataFrame,
        effectiveness: float | None,
    ) -> "Others":
        """Check the candidates, which nobody else sees before they are a submission."""
        names = {name: parameters.get(f"{name}_column_name", name) for name in ("row_id", "essay_id")}
        candidates, notices = metric.companion.recognize(candidates, names["row_id"], effectiveness)
        essay_id = names["essay_id"]
        if essay_id not in candidates:
            raise SubmissionRejected(
                f"expected the column {essay_id}, found {', '.join(map(of_column, candidates))}"
            )
        _reject(candidates, essay_id, candidates[essay_id].isna().to_numpy(), "an id in every row")
        given = candidates.assign(probability=_probability(candidates)).rename(columns={essay_id: "essay_id"})
        essay_ids = given["essay_id"].astype(str).unique().tolist()
        try:
            return cls(from_table(given, essay_ids), essay_ids, names, notices)
        except ValueError as problem:
            raise SubmissionRejected(str(problem)) from None

    def submission(self, thresholds: pd.DataFrame | str) -> tuple[pd.DataFrame, list[str]]:
        """Make the submission of the candidates that reach the thresholds, with notices about what is gone."""
        kept, number, notices = select(self.segments, thresholds), len(self.essay_ids), [*self.notices]
        if without := number - len(np.unique(kept.essay)):
            notices.append(f"{without:,} of {counted(number, 'essay')} have no segment left")
        return to_submission(kept, self.essay_ids).rename(columns=self.names), notices


# ---- The search ------------------------------------------------------------------------------------------


class _Search:
    """The search for the best thresholds on some essays, for the softmin with a temperature.

    It is a coordinate search: one threshold of one type is changed at a time. `totals` has the sums of each
    group for the current thresholds.
    """

    def __init__(self, problem: _Problem, essays: Bools, temperature: float) -> None:
        self.metric, self.prepared = problem.metric, problem.prepared
        self.measures = dataclasses.replace(problem.prepared, temperature=temperature).measures
        own = np.flatnonzero(essays[problem.segments.essay])
        self.segments = problem.segments.take(own)
        self.values = np.stack([problem.probability[own], self.segments.words])
        self.cluster = self._clusters()
        self.is_alone = np.bincount(self.cluster, minlength=1)[self.cluster] == 1
        self.outcomes = self._outcomes(self.segments)
        self.thresholds = _untouched(self.metric)
        counts = self.prepared.count(self.prepared.compare(self.segments))
        self.totals = statistics.sums(counts * essays[:, np.newaxis], self.prepared.groups)

    def best(self) -> tuple[Floats, float]:
        """Search for the best thresholds, (2, types); return them with their score."""
        best = float(self.measures(self.totals)[0])
        for _ in range(ROUNDS):
            before = self.thresholds.copy()
            for kind, which in itertools.product(range(self.thresholds.shape[1]), range(len(NAMES))):
                own = np.flatnonzero(self.segments.discourse_type == kind)
                levels = _levels(self.values[which, own], self.thresholds[which, kind], which)
                totals = self._totals_of_levels(kind, which, own, levels)
                scores = self.measures(totals)[:, 0]
                level = int(np.argmax(scores >= scores.max() - LEAST_GAIN))  # the lowest of equally good levels
                if scores[level] > best + LEAST_GAIN:
                    best, self.totals = float(scores[level]), totals[level]
                    self.thresholds[which, kind] = levels[level]
            if (self.thresholds == before).all():
                break
        return self.thresholds, best

    def _clusters(self) -> Ints:
        """Number the clusters: candidates are in one if they share words, directly or through others."""
        metric, segments = self.metric, self.segments
        used = np.maximum.accumulate(metric.word_key(segments.essay, segments.last))
        begins = np.ones(len(used), dtype=bool)
        begins[1:] = metric.word_key(segments.essay, segments.first)[1:] > used[:-1]
        clusters: Ints = np.cumsum(begins) - 1
        return clusters

    def _outcomes(self, segments: Any) -> Floats:
        """Compute the true positives, false positives and false negatives that each segment adds, (n, 3).

        The numbers hold for segments that do not overlap. Then a truth has at most one partner, so that the
        numbers of segments can be added. A match turns the false negative of its truth into a fraction.
        """
        prepared, metric = self.prepared, self.metric
        # `match` expects sides without overlaps, and finds a partner by the middle word of each truth. The two
        # sides may change places: a truth that holds more than half of a segment also holds its middle word.
        truth, matched = metric.match(prepared.truths, segments, prepared.overlap_threshold)
        tp = metric.true_positive_fraction(
            segments.take(matched), prepared.truths.take(truth), prepared.segment_weight
        )
        outcomes = np.tile([0.0, 1.0, 0.0], (len(segments.row), 1))
        outcomes[matched] = np.stack([tp, np.zeros(len(tp)), -tp], axis=1)
        return outcomes

    def _totals_of_levels(self, kind: int, which: int, own: Ints, levels: Floats) -> Floats:
        """Compute the sums of each group for every level of a threshold of a type, (levels, groups, k).

        `changes` has the difference that each level makes to the one before it. A candidate is kept at the
        levels before `behind`.
        """
        changes = np.zeros((len(levels) + 1, *self.totals.shape))
        rows = own[self.values[1 - which, own] >= self.thresholds[1 - which, kind]]
        behind = np.searchsorted(levels, self.values[which, rows], side="right")
        alone = self.is_alone[rows]
        always = np.zeros(int(alone.sum()), dtype=np.int64)
        self._add(changes, always, behind[alone], self.segments.take(rows[alone]), self.outcomes[rows[alone]])
        if not alone.all():
            self._add_clusters(changes, rows[~alone], behind[~alone], kind)
        sums = np.cumsum(changes, axis=0)[:-1]
        now = int(np.searchsorted(levels, self.thresholds[which, kind]))
        totals: Floats = self.totals + (sums - sums[now])
        return totals

    def _add(self, changes: Floats, begin: Ints, end: Ints, segments: Any, outcomes: Floats) -> None:
        """Add the outcomes of segments, (n, 3), to the levels from `begin` to before `end`, both (n,)."""
        _, groups, columns = changes.shape
        cell = self.prepared.groups[:, segments.essay] * columns + 3 * segments.discourse_type
        cells = (cell[..., np.newaxis] + np.arange(3)).ravel()
        levels = [np.tile(np.repeat(level, 3), len(cell)) * (groups * columns) for level in (begin, end)]
        amounts = np.tile(outcomes.ravel(), len(cell))
        at = np.concatenate([levels[0] + cells, levels[1] + cells])
        added = np.bincount(at, np.concatenate([amounts, -amounts]), minlength=changes.size)
        changes += added.reshape(changes.shape)

    def _add_clusters(self, changes: Floats, rows: Ints, behind: Ints, kind: int) -> None:
        """Add the outcomes of clusters with several candidates, for each set of them that some level keeps.

        `rows` are the candidates of the type whose threshold is tried. They are kept at the levels before
        `behind`.
        """
        levels = len(changes) - 1
        # A set of candidates lasts until the level at which one of them is dropped, and the last set to the
        # end.
        clusters = np.unique(self.cluster[rows])
        keys = np.concatenate([self.cluster[rows] * (levels + 1) + behind, clusters * (levels + 1) + levels])
        cluster, end = np.divmod(np.unique(keys), levels + 1)
        goes_on = np.append(False, cluster[1:] == cluster[:-1])
        begin = np.where(goes_on, np.append(0, end[:-1]), 0)
        lasting = begin < end
        cluster, begin, end = cluster[lasting], begin[lasting], end[lasting]

        kept = (self.values >= self.thresholds[:, self.segments.discourse_type]).all(axis=0)
        until = np.where(kept & (self.segments.discourse_type != kind), levels, 0)
        until[rows] = behind
        first = np.searchsorted(self.cluster, cluster)
        size = np.searchsorted(self.cluster, cluster, side="right") - first
        of_set, member = ranges(first, size)
        there = until[member] > begin[of_set]
        of_set, member = of_set[there], member[there]
        # Overlaps are removed from each set separately, as if it were an essay of its own.
        given = self.segments.take(member)._replace(essay=of_set, row=np.arange(len(member)))
        left = self.metric.remove_overlaps(given)
        of_set = left.essay
        left = left._replace(essay=self.segments.essay[member[left.row]])
        self._add(changes, begin[of_set], end[of_set], left, self._outcomes(left))


def _untouched(metric: ModuleType) -> Floats:
    """The thresholds that keep every candidate, (2, types)."""
    return np.tile(np.array(UNTOUCHED)[:, np.newaxis], len(metric.DISCOURSE_TYPES))


def _levels(values: Floats, current: float, which: int) -> Floats:
    """Choose the levels to try: no threshold, the current level, some among all values, and some near it."""
    grid = np.unique([UNTOUCHED[which], current, *_between(values, DIGITS[which])])
    at = int(np.searchsorted(grid, current))
    near = values[(values >= grid[max(at - 1, 0)]) & (values <= grid[min(at + 1, len(grid) - 1)])]
    return np.union1d(grid, _between(near, DIGITS[which]))


def _between(values: Floats, digits: int) -> Floats:
    """Choose levels midway between a quantile and the next lower value, rounded up to these digits."""
    distinct = np.unique(values)
    if not len(distinct):
        return distinct
    at = np.searchsorted(distinct, np.quantile(values, np.linspace(0, 1, LEVELS), method="lower"))
    middle = (distinct[at] + distinct[np.maximum(at - 1, 0)]) / 2
    levels: Floats = np.round(np.ceil(middle[at > 0] * 10**digits) / 10**digits, digits)
    return levels
