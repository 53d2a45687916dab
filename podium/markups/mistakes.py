"""What is probably wrong with a file of markups, by how its spans stand to those of the experts."""

import statistics
from collections.abc import Sequence

from podium.common.wording import counted

__all__ = ["Span", "of_spans"]

Span = tuple[int, int, frozenset[str]]  # its start, its end, and its labels
Marked = Sequence[Sequence[Span]]  # of each document

FEW = 10  # spans or documents; with fewer, chance explains too much
MANY = 3  # spans of a document
LITTLE = 0.25  # words are about a sixth of the characters


def of_spans(algorithm: Marked, experts: Marked) -> list[tuple[str, str]]:
    """Find mistakes in the spans of an algorithm, from those of all experts of each document together."""
    return [*_counted_from_one(algorithm, experts), *_words(algorithm, experts), *_labels(algorithm, experts)]


def _counted_from_one(algorithm: Marked, experts: Marked) -> list[tuple[str, str]]:
    """Notice that more spans are the ones of an expert if they begin and end one character earlier."""
    right = off = 0
    for ours, theirs in zip(algorithm, experts):
        there = {span[:2] for span in theirs}
        right += len({(start, end) for start, end, _ in ours} & there)
        off += len({(start - 1, end - 1) for start, end, _ in ours} & there)
    if off < FEW or off - right <= 3 * (off + right) ** 0.5:  # three standard deviations of chance
        return []
    told = f"count positions from 0: {off:,} spans are an expert's one character late, and {right:,} in place"
    return [("positions counted from 1", told)]


def _words(algorithm: Marked, experts: Marked) -> list[tuple[str, str]]:
    """Notice that all spans are short and near the beginning of what the experts marked, as words are."""
    both = [(ours, theirs) for ours, theirs in zip(algorithm, experts) if len(ours) >= MANY and theirs]
    if len(both) < FEW:
        return []
    ends, lengths = (
        statistics.median(size(ours) / max(size(theirs), 1) for ours, theirs in both)
        for size in (_last_end, _longest)
    )
    if max(ends, lengths) > LITTLE:
        return []
    told = (
        f"count characters instead of words: in the median document, the last span ends at {ends:.0%} of where "
        f"the experts' last one does, and the longest has {lengths:.0%} of the length of theirs"
    )
    return [("positions of words", told)]


def _last_end(spans: Sequence[Span]) -> int:
    return max(end for _, end, _ in spans)


def _longest(spans: Sequence[Span]) -> int:
    return max(end - start for start, end, _ in spans)


def _labels(algorithm: Marked, experts: Marked) -> list[tuple[str, str]]:
    """Notice that no label is one of the experts'."""
    given, known = (
        {label for spans in side for *_, labels in spans for label in labels} for side in (algorithm, experts)
    )
    if sum(map(len, algorithm)) < FEW or not given or not known or not given.isdisjoint(known):
        return []
    told = f"none of the {counted(len(given), 'label')}, such as {min(given)!r:.40}, is one of the experts'"
    return [("labels of another version", told)]
