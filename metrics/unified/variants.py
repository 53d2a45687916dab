"""Score with variants of the Unified Metric: other temperatures, weights, thresholds and overlap rules."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from podium.common.arrays import Floats, Ints, ranges

TEMPERATURES = (0.0, 50.0, 60.0, 70.0, 80.0, math.inf)
WEIGHTS = (0.25, 0.75)
THRESHOLDS = (0.6, 0.75)
# The memo's steps from the metric of Feedback Prize 1. Each one includes the steps before it.
PATH = ("Feedback Prize 1", "+ 51%", "+ overlap removal", "+ effectiveness", "+ IoU", "+ softmin")

Segments = Any  # the class of the metric file, which this module does not import


def of_measures(prepared: Any) -> dict[str, Any]:
    """Vary the temperature, which needs no new statistics."""
    return {
        f"temperature {temperature:g}": dataclasses.replace(prepared, temperature=temperature)
        for temperature in TEMPERATURES
        if temperature != prepared.temperature
    }


def of_statistics(metric: Any, prepared: Any, submission: pd.DataFrame) -> dict[str, tuple[Any, Floats]]:
    """Vary the decisions on which the statistics depend, and the memo's steps."""
    given = prepared.read(submission)
    given = given.take(given.essay >= 0)
    official = prepared.count(prepared.compare(given))
    variants = {name: (other, official) for name, other in of_one_attribute(prepared).items()}
    for weight in WEIGHTS:
        other = dataclasses.replace(prepared, segment_weight=weight)
        variants[f"w = {weight:g}"] = other, other.count(other.compare(given))
    for threshold in THRESHOLDS:
        other = dataclasses.replace(prepared, overlap_threshold=threshold)
        variants[f"threshold {threshold:g}"] = other, other.count(other.compare(given))

    def whole(p: Segments, g: Segments) -> Floats:
        return np.ones(len(p.row))

    def most(p: Segments, g: Segments) -> Floats:
        return np.maximum(*_overlaps(metric, p, g))

    def weighted(overlap: Callable[..., Floats]) -> Callable[..., Floats]:
        w = prepared.segment_weight
        return lambda p, g: w * overlap(p, g) + (1 - w) * metric.probability_of_label(p, g)

    def iou(p: Segments, g: Segments) -> Floats:
        return np.asarray(metric.true_positive_fraction(p, g, prepared.segment_weight))

    def count(predictions: Segments, threshold: float, fraction: Callable[..., Floats]) -> Floats:
        p, g = pairs = best_pairs(metric, predictions, prepared.truths, threshold)
        tp = fraction(predictions.take(p), prepared.truths.take(g))
        counts = metric.count_outcomes(predictions, prepared.truths, pairs, tp, len(prepared.items))
        # A prediction may be the best one of two truths. It was subtracted from the false positives for each of
        # them, but it is only one prediction.
        used = np.bincount(p, minlength=len(predictions.row)) - 1
        twice = np.flatnonzero(used > 0)
        np.add.at(counts, (predictions.essay[twice], predictions.discourse_type[twice], 1), used[twice])
        return np.concatenate([counts.reshape(len(counts), -1), np.ones((len(counts), 1))], axis=1)

    apart, threshold = metric.remove_overlaps(given), prepared.overlap_threshold
    one_group = np.zeros((1, len(prepared.items)), dtype=np.int64)
    everybody = dataclasses.replace(prepared, labels=[metric.ALL], groups=one_group)
    variants["overlaps kept"] = prepared, count(given, threshold, iou)
    variants["max of the overlaps"] = prepared, count(apart, threshold, weighted(most))
    steps = (
        (everybody, count(given, 0.5, whole)),
        (everybody, count(given, threshold, whole)),
        (everybody, count(apart, threshold, whole)),
        (everybody, count(apart, threshold, weighted(whole))),
        (everybody, count(apart, threshold, iou)),
        (prepared, official),
    )
    return variants | dict(zip(PATH, steps))


def of_one_attribute(prepared: Any) -> dict[str, Any]:
    """Let the score follow the sub-populations of each attribute alone, if there are several attributes."""
    alone = {}
    for members in prepared.groups if len(prepared.groups) > 1 else ():
        occurring, groups = np.unique(members, return_inverse=True)
        labels = [prepared.labels[group] for group in occurring.tolist()]
        alone[f"{labels[0][0]} alone"] = dataclasses.replace(prepared, labels=labels, groups=groups[np.newaxis])
    return alone


def _overlaps(metric: Any, p: Segments, g: Segments) -> tuple[Floats, Floats]:
    """Compute the shares of the common words in the predictions and in the truths."""
    common = metric.common_words(p, g)
    return common / p.words, common / g.words


def best_pairs(metric: Any, predictions: Segments, truths: Segments, threshold: float) -> tuple[Ints, Ints]:
    """Find for each truth the prediction of its essay and type that overlaps it most.

    This is the rule of Feedback Prize 1, which the memo quotes in section 2.1.
    """
    types = len(metric.DISCOURSE_TYPES)
    cell_p = predictions.essay * types + predictions.discourse_type
    cell_g = truths.essay * types + truths.discourse_type
    order = np.lexsort((predictions.last, predictions.first, cell_p))
    start, stop = (np.searchsorted(cell_p[order], cell_g, side) for side in ("left", "right"))
    g, place = ranges(start, stop - start)
    p = order[place]
    of_p, of_g = _overlaps(metric, predictions.take(p), truths.take(g))
    enough = np.flatnonzero((of_p >= threshold) & (of_g >= threshold))
    p, g, most = p[enough], g[enough], np.maximum(of_p, of_g)[enough]
    best_first = np.lexsort((np.arange(len(g)), -most, g))
    _, first = np.unique(g[best_first], return_index=True)
    return p[best_first][first], g[best_first][first]
