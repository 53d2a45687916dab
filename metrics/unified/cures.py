"""Say which of podium's tools repairs each cause of lost points.

Tools that need nothing but the submission are tried on it, so that a sentence promises only what comes true on
these essays.
"""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from podium import statistics as sufficient
from podium.common.arrays import Floats

GAPS = (1, 2, 4, 8)  # words between neighbors that are joined
LENGTHS = (2, 3, 5, 8, 12)  # words that a segment has at least
LEAST_GAIN = 0.00005  # a smaller one would be shown as 0.0000

Segments = Any  # the class of the metric file, which this module does not import


@dataclasses.dataclass(frozen=True, eq=False)
class Trials:
    """A submission that can be changed and scored again."""

    metric: Any  # the metric file
    prepared: Any
    given: Segments  # the segments of the submission
    score: float  # its score

    def of_joined(self, gap: int) -> float:
        """Score the submission with neighbors joined, as `podium.spans.join` does."""
        from podium.spans.segments import Spans, joined, segments_of  # which a score alone does not need

        known = self.given.take(self.given.essay >= 0)
        ones = np.ones(len(known.row))
        columns = known.essay, known.first, known.last, known.discourse_type, ones, known.d1
        spans = joined(Spans(*columns, known.row), np.full(len(self.metric.DISCOURSE_TYPES), gap))
        return self._score_of(segments_of(self.metric, spans, spans.essay))

    def of_long(self, words: int) -> float:
        """Score the submission without segments of fewer words, as `podium.spans.select` does."""
        return self._score_of(self.given.take(self.given.words >= words))

    def of_rounded(self) -> float:
        """Score the submission with the probabilities of effective rounded to 0 or 1."""
        return self._score_of(self.given._replace(d1=(self.given.d1 > 0.5).astype(np.float64)))

    def _score_of(self, segments: Segments) -> float:
        statistics: Floats = self.prepared.count(self.prepared.compare(segments))
        return float(sufficient.measures(self.prepared, statistics)["score"])

    def best(self, trial: Callable[[int], float], levels: Iterable[int]) -> tuple[int, float] | None:
        """Find the level with the highest score, if this is higher than without a change."""
        reached, level = max((trial(level), -level) for level in levels)
        return (-level, reached) if reached >= self.score + LEAST_GAIN else None


def sentences(trials: Trials) -> dict[str, str]:
    """Say what repairs each cause, in one or two sentences."""
    gap, length = trials.best(trials.of_joined, GAPS), trials.best(trials.of_long, LENGTHS)
    rounded = trials.of_rounded()
    join = f"Joining neighbors with up to {max(GAPS)} words between them does not raise this score."
    if gap is not None:
        join = f"Join neighbors: podium.spans.join(spans, {gap[0]}) raises this score to {gap[1]:.4f}."
    drop = "Dropping short segments does not raise this score."
    if length is not None:
        drop = (
            f"Drop short segments: podium.spans.select(spans, min_words={length[0]}) raises this score to "
            f"{length[1]:.4f}."
        )
    of_rounded = ""
    if np.unique(trials.given.d1).size > 1 and rounded >= trials.score + LEAST_GAIN:
        of_rounded = f" Rounding the present ones to 0 or 1 raises this score to {rounded:.4f}."
    return {
        "missed": "Keep candidates of which the model is less sure, and let podium tune choose the thresholds.",
        "spurious": f"{drop} If the model says how sure it is, podium tune finds thresholds for each type.",
        "split": f"{join} If the model says how sure it is, podium tune finds a gap for each type.",
        "merged": "Let each tag B- begin a segment, and join neighbors with a smaller gap or none: "
        "podium.spans.bio_tags and join.",
        "wrong type": "Average several models: podium.spans.average. The table “What was taken for what” shows "
        "which types are mistaken for each other.",
        "boundaries": "Average several models: podium.spans.average. If most starts or ends below are off by "
        "the same number of words, move all of them.",
        "effectiveness": "Give each segment the probability of a model of effectiveness: "
        f"spans.with_effectiveness(d1).{of_rounded}",
        "overlaps": "Keep one of two segments that overlap, the surer one; podium.spans.select helps. The "
        "metric keeps the one that begins first.",
    }
