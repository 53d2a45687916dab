"""The report says what to do about each cause of lost points, and whoever does it scores higher."""

import re

import numpy as np
import pandas as pd
import pytest

import podium
from examples.essays import make_competition
from podium import spans
from podium.report import page

SOLUTION = pd.read_csv("solution_sample.csv")
IDS = SOLUTION["essay_id"].unique().tolist()
FOLD = podium.prepare(SOLUTION)
TRUTHS = spans.from_table(SOLUTION, IDS)


def scored(segments):
    """What is told about some segments."""
    return podium.score(FOLD, spans.to_submission(segments, IDS))


def fragmented():
    """The truth in pieces of seven words, and after each piece one word of another type."""
    pieces = []
    for row, (first, last) in enumerate(zip(TRUTHS.first.tolist(), TRUTHS.last.tolist())):
        kind, essay = int(TRUTHS.discourse_type[row]), int(TRUTHS.essay[row])
        for start in range(first, last + 1, 8):
            pieces.append((essay, start, min(start + 6, last), kind))
            if start + 7 <= last:
                pieces.append((essay, start + 7, start + 7, (kind + 1) % len(spans.TYPES)))
    essay, first, last, kinds = zip(*pieces)
    return spans.from_words(first, last, kinds, essay=essay)


CALL = re.compile(r"podium\.(spans\.(?:join|select)\(spans, [^)]*\)) raises this score to (0\.\d{4})")


def test_whoever_joins_and_drops_as_told_scores_as_promised():
    segments = fragmented()
    result = scored(segments)
    assert page._advice(result)["cause"] == "split"
    assert f"<strong>What to do:</strong> {result.explanation.cures['split']}" in page.render(result, "a title")
    for cause in ("split", "spurious"):  # each is told by the report on what the one before left
        call, promised = CALL.search(result.explanation.cures[cause]).groups()
        segments = eval(call.replace("(spans,", "(segments,"), {"spans": spans, "segments": segments})
        after = scored(segments)
        assert after.score == pytest.approx(float(promised), abs=0.00006)
        assert after.score > result.score + 0.0005
        result = after


def test_rounding_reaches_what_is_promised():
    segments = spans.from_table(pd.read_csv("sample_submission.csv"), IDS)
    # One of two equal segments stays, and it is the same one with rounded and with exact probabilities.
    segments += segments.with_effectiveness(1 - segments.d1)[::10]
    result = scored(segments)
    reached = scored(segments.with_effectiveness((segments.d1 > 0.5).astype(float))).score
    assert f"raises this score to {reached:.4f}" in result.explanation.cures["effectiveness"]
    gain = reached - result.score
    assert gain > 0.001
    assert any(f"would raise the score by {gain:.4f}" in notice for notice in result.explanation.notices)
    assert "ounding" not in scored(TRUTHS.with_effectiveness(0.5)).explanation.cures["effectiveness"]


def test_nothing_is_promised_that_does_not_come_true():
    cures = scored(TRUTHS).explanation.cures
    assert cures["split"].startswith("Joining neighbors with up to 8 words between them does not raise")
    assert cures["spurious"].startswith("Dropping short segments does not raise this score")


@pytest.fixture(scope="module")
def model():
    """A fold, its essays, its true segments without overlaps, and what a model says."""
    solution, submission = make_competition(60, seed=3, shared_words=False)
    fold = podium.prepare(solution)
    ids = fold.prepared["All"].items
    truths, candidates = (spans.from_table(table, ids) for table in (solution, submission))
    return fold, ids, spans.without_overlaps(truths), candidates


def mistaken(truths, cause, random):
    """The segments of three models with mistakes of one kind, which are not the same ones."""
    wrong = random.random((3, len(truths))) < 0.3
    for of_model in wrong:
        first, last, kinds = (column.copy() for column in (truths.first, truths.last, truths.discourse_type))
        if cause == "boundaries":
            last[of_model] = first[of_model] + truths.words[of_model] // 3
        else:
            kinds[of_model] = (kinds[of_model] + 1) % len(spans.TYPES)
        yield spans.from_words(first, last, kinds, essay=truths.essay, d1=truths.d1)


@pytest.mark.parametrize(
    ("cause", "merge"),
    [("boundaries", spans.average), ("boundaries", spans.vote), ("wrong type", spans.average)],
)
def test_several_models_correct_each_other(model, cause, merge):
    fold, ids, truths, _ = model
    several = list(mistaken(truths, cause, np.random.default_rng(1)))
    alone = podium.score(fold, spans.to_submission(several[0], ids))
    assert page._advice(alone)["cause"] in (cause, "missed")
    assert merge.__name__ in alone.explanation.cures[cause]
    assert spans.score(fold, merge(several), ids) > alone.score + 0.05


def test_whoever_joins_less_merges_less(model):
    fold, ids, truths, _ = model
    merged = spans.join(truths, 2)
    assert "merged" in dict(page._advice(podium.score(fold, spans.to_submission(merged, ids)))["cures"])
    assert spans.score(fold, spans.join(truths, None), ids) > spans.score(fold, merged, ids)


def test_the_surer_of_two_that_overlap_scores_higher(model):
    fold, ids, truths, _ = model
    earlier = spans.from_words(
        np.maximum(truths.first - 2, 0), truths.last, (truths.discourse_type + 1) % 7, essay=truths.essay,
        probability=0.3,
    )  # fmt: skip
    both = earlier + truths
    result = podium.score(fold, spans.to_submission(both, ids))
    assert "overlaps" in dict(page._advice(result)["cures"])
    assert spans.score(fold, spans.select(both, min_probability=0.5), ids) > result.score + 0.1


def test_missed_segments_are_among_the_less_sure_candidates(model):
    fold, ids, _, candidates = model
    sure = np.random.default_rng(0).random(len(candidates))
    few, many = (candidates[sure > least] for least in (0.9, 0.3))
    result = podium.score(fold, spans.to_submission(few, ids))
    assert page._advice(result)["cause"] == "missed"
    assert spans.score(fold, many, ids) > result.score
