"""Variants of the Unified Metric agree with literal transcriptions that use sets and loops."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import metric
from podium import hosted, statistics
from tests.support import frames
from tests.support.essays import make_competition
from tests.support.unified import make_segments

unified_variants = hosted.module("unified", "variants")

TYPES = metric.DISCOURSE_TYPES


def segments_of(frame):
    """The essay, the type, the set of words and d[1] of each row."""
    d1 = frame.get("score_discourse_effectiveness_1", frame.get("discourse_effectiveness"))
    return [
        (essay, kind, frozenset(map(int, text.split())), probability)
        for essay, kind, text, probability in zip(
            frame["essay_id"], frame["discourse_type"], frame["predictionstring"], d1
        )
    ]


def without_overlaps(segments):
    """Transcribe section 1 literally: segments are sorted by their start, and a word can be used once."""
    left = []
    for essay in sorted({segment[0] for segment in segments}):
        used = set()
        of_essay = [segment for segment in segments if segment[0] == essay]
        order = sorted(of_essay, key=lambda s: (min(s[2]), max(s[2]), TYPES.index(s[1]), s[3]))
        for _, kind, words, d1 in order:
            rest = words - used
            used |= words
            if rest == words or len(rest) > 1:
                left.append((essay, kind, rest, d1))
    return left


def macro_f1(predictions, truths, threshold, fraction):
    """Transcribe section 2.1 literally, with the fractions of sections 2.2 and 2.3."""
    scores = []
    for kind in TYPES:
        ours = [p for p in predictions if p[1] == kind]
        theirs = [g for g in truths if g[1] == kind]
        if not theirs:
            continue
        tp = fn = 0.0
        matched = set()
        for g in theirs:
            candidates = []
            for number, p in enumerate(ours):
                common = len(p[2] & g[2])
                if p[0] == g[0] and common / len(p[2]) >= threshold and common / len(g[2]) >= threshold:
                    most = max(common / len(p[2]), common / len(g[2]))
                    candidates.append((-most, min(p[2]), max(p[2]), number))
            if candidates:
                number = min(candidates)[-1]
                matched.add(number)
                tp += fraction(ours[number], g)
                fn += 1 - fraction(ours[number], g)
            else:
                fn += 1
        fp = len(ours) - len(matched)
        scores.append(2 * tp / (2 * tp + fp + fn))
    return sum(scores) / len(scores)


def label(p, g):
    """The predicted probability of the true effectiveness."""
    return p[3] if g[3] == 1 else 1 - p[3]


def whole(p, g):
    """The worth of a match that counts fully."""
    return 1.0


def effective(p, g):
    """The worth of a match by its effectiveness alone."""
    return 0.5 + 0.5 * label(p, g)


def iou(p, g):
    """The worth of a match by IoU and effectiveness."""
    return 0.5 * len(p[2] & g[2]) / len(p[2] | g[2]) + 0.5 * label(p, g)


def most_overlap(p, g):
    """The worth of a match by the larger share of common words and effectiveness."""
    common = len(p[2] & g[2])
    return 0.5 * max(common / len(p[2]), common / len(g[2])) + 0.5 * label(p, g)


@pytest.fixture(scope="module", params=range(4))
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
    return prepared, frame, segments_of(solution), segments_of(frame)


def scores_of(case):
    """The score of each variant."""
    prepared, frame, _, _ = case
    return {
        name: statistics.measures(other, numbers)["score"]
        for name, (other, numbers) in unified_variants.of_statistics(metric, prepared, frame).items()
    }


def test_each_variant_is_its_literal_transcription(case):
    _, _, truths, given = case
    apart = without_overlaps(given)
    assert len(apart) < len(given)
    expected = {
        "Feedback Prize 1": macro_f1(given, truths, 0.5, whole),
        "+ 51%": macro_f1(given, truths, 0.51, whole),
        "+ overlap removal": macro_f1(apart, truths, 0.51, whole),
        "+ effectiveness": macro_f1(apart, truths, 0.51, effective),
        "+ IoU": macro_f1(apart, truths, 0.51, iou),
        "+ softmin": macro_f1(apart, truths, 0.51, iou),  # of everybody at once
        "overlaps kept": macro_f1(given, truths, 0.51, iou),
        "most overlap": macro_f1(apart, truths, 0.51, most_overlap),
        "threshold 0.6": macro_f1(apart, truths, 0.6, iou),
        "threshold 0.75": macro_f1(apart, truths, 0.75, iou),
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
    assert dataclasses.replace(prepared, temperature=50.0).temperature == 50.0
