"""Write markups of READ//ABLE by hand, and compare two of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from podium import hosted

_fates = hosted.module("readable", "companion")._fates


def selection(start: int, end: int, kind: str = "logic", **more: str) -> dict[str, Any]:
    """An error from one character to another."""
    return {"startSelection": start, "endSelection": end, "type": kind, "group": "error", **more}


def markup(*selections: dict[str, Any], **grades: object) -> dict[str, Any]:
    """A markup with these selections and grades."""
    return {"criteria": grades, "selections": list(selections)}


class Pair(NamedTuple):
    """Two selections that correspond to each other, by their positions, from 0, in the lists of selections."""

    first: int
    second: int
    cost: float
    jaccard: float
    same_type: bool
    same_subtype: bool
    same_correction: bool


class Accuracy(NamedTuple):
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
    values = metric.accuracies([markups], metric.WEIGHTS)[0, :7].tolist()
    ours, _ = _fates(*markups)
    return Accuracy(*values, sorted(Pair(row[0], *row[7:]) for row in ours if row[6] == "matched"))
