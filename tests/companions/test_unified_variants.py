"""Variants of the Unified Metric agree with literal transcriptions that use sets and loops."""

import numpy as np
import pandas as pd
import pytest

import metric
from examples.essays import make_competition
from podium import statistics
from podium.metric import hosted
from tests.support import frames
from tests.support import unified_transcription as transcription
from tests.support.unified import make_segments
from tests.support.unified_transcription import overlaps_enough

unified_variants = hosted.module("unified", "variants")


def macro_f1(predictions, truths, threshold, fraction):
    """Transcribe section 2.1 literally, with the fractions of sections 2.2 and 2.3."""
    scores = []
    for kind in transcription.DISCOURSE_TYPES:
        ours = [p for p in predictions if p.discourse_type == kind]
        theirs = [g for g in truths if g.discourse_type == kind]
        if not theirs:
            continue
        tp = fn = 0.0
        matched = set()
        for g in theirs:
            candidates = [p for p in ours if p.essay == g.essay and overlaps_enough(p, g, threshold)]
            # The one with most words in common; of equal ones, the first in the text.
            best = min(candidates, key=lambda p: (-most_common(p, g), min(p.words), max(p.words)), default=None)
            worth = 0.0
            if best is not None:
                matched.add(best.row)
                worth = fraction(best, g)
            tp, fn = tp + worth, fn + 1 - worth
        scores.append(2 * tp / (2 * tp + len(ours) - len(matched) + fn))
    return sum(scores) / len(scores)


def most_common(p, g):
    """The larger of the shares of common words."""
    common = len(p.words & g.words)
    return max(common / len(p.words), common / len(g.words))


def label(p, g):
    """The predicted probability of the true effectiveness."""
    return p.d[g.d.index(1.0)]


# What a match is worth: fully, by its effectiveness alone, by IoU too, and by the larger share of common words.
WORTH = {
    "whole": lambda p, g: 1.0,
    "effective": lambda p, g: 0.5 + 0.5 * label(p, g),
    "iou": lambda p, g: transcription.true_positive_fraction(p, g, 0.5),
    "max of the overlaps": lambda p, g: 0.5 * most_common(p, g) + 0.5 * label(p, g),
}


@pytest.fixture(scope="module", params=[1, 3, 7, 8])
def case(request):
    """A made-up competition with overlapping predictions."""
    solution, submission = make_competition(25, seed=request.param, shared_words=False)
    # One prediction in four also takes what follows it, so that there are overlaps.
    longer = submission.sample(frac=0.25, random_state=request.param)
    shifted = longer["predictionstring"].map(
        lambda text: " ".join(str(int(word) + len(text.split()) // 2) for word in text.split())
    )
    submission = submission.assign(row_id=submission["row_id"].astype(str))
    extra = longer.assign(predictionstring=shifted, row_id="x" + longer["row_id"].astype(str))
    frame = pd.concat([submission, extra], ignore_index=True)
    prepared = metric.prepare(solution, "row_id", subpopulation_column_names="")
    truths = transcription.read_truths(solution, "essay_id")
    return prepared, frame, truths, transcription.read_predictions(frame, "essay_id")


def scores_of(case):
    """The score of each variant."""
    prepared, frame, _, _ = case
    return {
        name: statistics.measures(other, numbers)["score"]
        for name, (other, numbers) in unified_variants.of_statistics(metric, prepared, frame).items()
    }


def test_each_variant_is_its_literal_transcription(case):
    _, _, truths, given = case
    apart = [
        segment
        for of_essay in transcription.by_essay(given).values()
        for segment in transcription.remove_overlaps(of_essay)
    ]
    assert len(apart) < len(given)
    expected = {
        "Feedback Prize 1": macro_f1(given, truths, 0.5, WORTH["whole"]),
        "+ 51%": macro_f1(given, truths, 0.51, WORTH["whole"]),
        "+ overlap removal": macro_f1(apart, truths, 0.51, WORTH["whole"]),
        "+ effectiveness": macro_f1(apart, truths, 0.51, WORTH["effective"]),
        "+ IoU": macro_f1(apart, truths, 0.51, WORTH["iou"]),
        "+ softmin": macro_f1(apart, truths, 0.51, WORTH["iou"]),  # of everybody at once
        "overlaps kept": macro_f1(given, truths, 0.51, WORTH["iou"]),
        "max of the overlaps": macro_f1(apart, truths, 0.51, WORTH["max of the overlaps"]),
        "threshold 0.6": macro_f1(apart, truths, 0.6, WORTH["iou"]),
        "threshold 0.75": macro_f1(apart, truths, 0.75, WORTH["iou"]),
    }
    scores = scores_of(case)
    for name, score in expected.items():
        assert scores[name] == pytest.approx(score, rel=1e-12), name


def test_other_weights_are_the_metric_s_own(case):
    prepared, frame, _, _ = case
    for name, (other, numbers) in unified_variants.of_statistics(metric, prepared, frame).items():
        if name.startswith("w = "):
            assert other.segment_weight == float(name[4:])
            assert numbers.tolist() == other.statistics(frame).tolist()


def test_the_corner_case_of_figure_1():
    """At 50%, both truths match the right prediction, so there is no false positive. At 51%, none matches."""
    predictions = make_segments((0, "Claim", 0, 3, 1), (0, "Claim", 4, 7, 1))
    truths = make_segments((0, "Claim", 2, 5, 1), (0, "Claim", 6, 9, 1))
    p, g = unified_variants.best_pairs(metric, predictions, truths, 0.5)
    assert (p.tolist(), g.tolist()) == ([0, 1], [0, 1])
    assert len(unified_variants.best_pairs(metric, predictions, truths, 0.51)[0]) == 0


def test_a_prediction_that_is_the_best_of_two_truths_is_one_prediction():
    truth = frames.solution(("A", "Claim", frames.words(0, 1), 1), ("A", "Claim", frames.words(2, 3), 1))
    prepared = metric.prepare(truth, "row_id", subpopulation_column_names="")
    frame = frames.submission(("A", "Claim", frames.words(0, 3), 1))
    other, numbers = unified_variants.of_statistics(metric, prepared, frame)["Feedback Prize 1"]
    assert statistics.measures(other, numbers)["score"] == 1.0


def test_temperatures():
    solution, submission = make_competition(30, seed=1, shared_words=False)
    prepared = metric.prepare(solution, "row_id")
    numbers = prepared.statistics(submission)
    variants = unified_variants.of_measures(prepared)
    assert list(variants) == [f"temperature {t}" for t in (0, 50, 60, 70, 80, "inf")]
    scores = [statistics.measures(other, numbers)["score"] for other in variants.values()]
    assert scores == sorted(scores, reverse=True)
    for temperature, score in zip((0.0, 50.0, 60.0, 70.0, 80.0, np.inf), scores):
        assert score == metric.score(solution, submission, "row_id", temperature=temperature)
