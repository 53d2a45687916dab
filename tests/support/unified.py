"""Call the Unified Metric as tests need it."""

from functools import partial

import numpy as np

import metric
import podium
from tests.support import unified_transcription as transcription

Rows = tuple[int, int]  # of a prediction and a truth


# Score a submission whose ids are in the column row_id.
evaluate = partial(podium.score, row_id_column_name="row_id")


def slow_groups(
    result: transcription.Result, given: list[transcription.Segment], threshold: float
) -> tuple[set[Rows], set[Rows]]:
    """The pairs of a prediction and a truth that it merges, and those of a truth's part and the truth.

    `given` are the predictions before overlap removal.
    """
    would_match = {
        p.row
        for p in given
        for g in result.truths
        if (p.essay, p.discourse_type) == (g.essay, g.discourse_type)
        and transcription.overlaps_enough(p, g, threshold)
    }
    enough, merged, split = set(), set(), set()
    near = [(p, g) for p in result.predictions for g in result.truths if p.essay == g.essay]
    for p, g in near:
        if p.words & g.words and transcription.overlaps_enough(p, g, threshold):
            enough |= {("p", p.row), ("g", g.row)}
    alike = [(p, g) for p, g in near if p.discourse_type == g.discourse_type and p.row not in would_match]
    for p in result.predictions:
        covered = {(q.row, g.row) for q, g in alike if q is p and 2 * len(p.words & g.words) > len(g.words)}
        if ("p", p.row) not in enough and len(covered) > 1:
            merged |= covered
    taken = {("p", p) for p, _ in merged} | {("g", g) for _, g in merged}
    for g in result.truths:
        parts = {
            (p.row, g.row)
            for p, h in alike
            if h is g and 2 * len(p.words & g.words) > len(p.words) and ("p", p.row) not in taken
        }
        if ("g", g.row) not in enough | taken and len(parts) > 1:
            split |= parts
    return merged, split


def make_segments(*segments: tuple[int, str, int, int, float]) -> metric.Segments:
    """Segments written by hand as (essay number, discourse type, first word, last word, d[1])."""
    essay, name, first, last, d1 = (np.array(column) for column in zip(*segments))
    types = np.array([metric.DISCOURSE_TYPES.index(text) for text in name])
    return metric.Segments(essay, first, last, types, d1.astype(np.float64), np.arange(len(segments)))
