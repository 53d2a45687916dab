"""The report says what to do about each cause of lost points, and whoever does it scores higher."""

import re

import pandas as pd
import pytest

import podium
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
