"""Compare two markups of READ//ABLE, for tests of a single pair."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from podium import hosted

_fates = hosted.module("readable", "companion")._fates


class Pair(NamedTuple):
    """Two selections that correspond to each other, by their positions, from 0, in the lists of selections.

    The matching minimizes the sum of the costs, in which each selection without a partner costs 1.
    """

    first: int
    second: int
    cost: float
    jaccard: float
    same_type: bool
    same_subtype: bool
    same_correction: bool


@dataclass(frozen=True)
class Accuracy:
    """The weighted average M and the measures M1 to M6, in percent, with the matching D."""

    m: float
    m1: float
    m2: float
    m3: float
    m4: float
    m5: float
    m6: float
    pairs: list[Pair]


def accuracy(first: Mapping[str, Any], second: Mapping[str, Any], subject: str) -> Accuracy:
    """The pairwise accuracy M(X, Y) of two markups of the same essay, with M1 to M6 and the matching D."""
    metric = hosted.module("readable")
    markups = [metric.read_essay(value, subject, None) for value in (first, second)]
    m, m1, m2, m3, m4, m5, m6 = metric.accuracies([markups], metric.WEIGHTS)[0, :7].tolist()
    ours, _ = _fates(*markups)
    pairs = [Pair(row[0], *row[7:]) for row in ours if row[6] == "matched"]
    return Accuracy(m, m1, m2, m3, m4, m5, m6, sorted(pairs))
