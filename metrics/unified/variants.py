"""The Unified Metric under other decisions."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

TEMPERATURES = (0.0, 50.0, 60.0, 70.0, 80.0, math.inf)
WEIGHTS = (0.25, 0.75)
THRESHOLDS = (0.6, 0.75)
# The memo's steps, each with those before it.
PATH = ("Feedback Prize 1", "+ 51%", "+ overlap removal", "+ effectiveness", "+ IoU", "+ softmin")

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Segments = Any  # of the hosted file


def of_measures(prepared: Any) -> dict[str, Any]:
    return {
        f"temperature {temperature:g}": dataclasses.replace(prepared, temperature=temperature)
        for temperature in TEMPERATURES
        if temperature != prepared.temperature
    }


def of_statistics(metric: Any, prepared: Any, submission: pd.DataFrame) -> dict[str, tuple[Any, Floats]]:
    """By what is other, the prepared solution and a submission's statistics."""
    given = prepared.read(submission)
    given = given.take(given.essay >= 0)
    variants = {}
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
        # A prediction that is the best of two truths is one all the same.
        used = np.bincount(p, minlength=len(predictions.row)) - 1
        twice = np.flatnonzero(used > 0)
        np.add.at(counts, (predictions.essay[twice], predictions.discourse_type[twice], 1), used[twice])
        return np.concatenate([counts.reshape(len(counts), -1), np.ones((len(counts), 1))], axis=1)

    apart, threshold = metric.remove_overlaps(given), prepared.overlap_threshold
    one_group = np.zeros((1, len(prepared.items)), dtype=np.int64)
    everybody = dataclasses.replace(prepared, labels=[metric.ALL], groups=one_group)
    variants["overlaps kept"] = prepared, count(given, threshold, iou)
    variants["most overlap"] = prepared, count(apart, threshold, weighted(most))
    steps = (
        (everybody, count(given, 0.5, whole)),
        (everybody, count(given, threshold, whole)),
        (everybody, count(apart, threshold, whole)),
        (everybody, count(apart, threshold, weighted(whole))),
        (everybody, count(apart, threshold, iou)),
        (prepared, prepared.count(prepared.compare(given))),
    )
    return variants | dict(zip(PATH, steps))


def _overlaps(metric: Any, p: Segments, g: Segments) -> tuple[Floats, Floats]:
    common = metric.common_words(p, g)
    return common / p.words, common / g.words


def best_pairs(metric: Any, predictions: Segments, truths: Segments, threshold: float) -> tuple[Ints, Ints]:
    """Of each truth the prediction of its essay and type that overlaps it most, if both overlap enough [2.1].

    Most is the larger of both shares; of equal ones the first in the text.
    """
    types = len(metric.DISCOURSE_TYPES)
    cell_p = predictions.essay * types + predictions.discourse_type
    cell_g = truths.essay * types + truths.discourse_type
    order = np.lexsort((predictions.last, predictions.first, cell_p))
    start, stop = (np.searchsorted(cell_p[order], cell_g, side) for side in ("left", "right"))
    g = np.repeat(np.arange(len(cell_g)), stop - start)
    p = order[np.arange(len(g)) - np.repeat(np.cumsum(stop - start) - stop, stop - start)]
    of_p, of_g = _overlaps(metric, predictions.take(p), truths.take(g))
    enough = np.flatnonzero((of_p >= threshold) & (of_g >= threshold))
    p, g, most = p[enough], g[enough], np.maximum(of_p, of_g)[enough]
    best_first = np.lexsort((np.arange(len(g)), -most, g))
    _, first = np.unique(g[best_first], return_index=True)
    return p[best_first][first], g[best_first][first]
