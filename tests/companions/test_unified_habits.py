"""Each habit of a model is reported from the number of cases on from which it should be."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from podium import hosted

habits = hosted.module("unified", "habits")
PREPARED = SimpleNamespace(segment_weight=0.5)


def segments(first, last, d1):
    """Segments in the form in which the habits look at them."""
    first = np.asarray(first)
    return SimpleNamespace(row=np.arange(len(first)), first=first, last=np.asarray(last), d1=np.asarray(d1))


@pytest.mark.parametrize(
    ("errors", "noticed"), [(1.0, False), (1.5, False), (1.9, False), (2.1, True), (8, True)]
)
def test_worse_than_a_coin_is_two_standard_errors_below_one_half(errors, noticed):
    spread = np.resize([-0.1, 0.1], 400)
    mean = 0.5 - errors * 0.1 / math.sqrt(400)
    matches = segments(np.zeros(400), np.ones(400), mean + spread)
    notices = habits.of_matches(PREPARED, matches, matches, mean + spread)
    assert any("swapped" in notice for notice in notices) == noticed
    if noticed:
        assert notices == [
            "check whether score_discourse_effectiveness_0 and _1 are swapped: the true effectiveness has a "
            f"probability of {mean:.2f} on average, less than a coin would give"
        ]


@pytest.mark.parametrize(("late", "right", "noticed"), [(40, 40, False), (60, 20, True), (48, 24, False)])
def test_one_word_late_is_counted_over_starts_and_ends(late, right, noticed):
    number = (late + right) // 2
    shifts = np.concatenate([np.ones(late, dtype=int), np.zeros(right, dtype=int)])
    truths = segments(np.full(number, 5), np.full(number, 9), np.linspace(0, 1, number))
    matches = segments(5 + shifts[:number], 9 + shifts[number:], truths.d1)
    notices = habits.of_matches(PREPARED, matches, truths, np.full(number, 0.9))
    assert notices == (
        [
            f"count positions from 0: among the starts and ends of matches, {late} are one word late and "
            f"{right} are right"
        ]
        if noticed
        else []
    )


@pytest.mark.parametrize(("weight", "most"), [(0.5, "0.857"), (1.0, "1.000"), (0.0, "0.667")])
def test_the_limit_of_one_probability_follows_the_weight(weight, most):
    matches = segments(np.zeros(30), np.ones(30), np.full(30, 0.5))
    prepared = SimpleNamespace(segment_weight=weight)
    (notice,) = habits.of_matches(prepared, matches, matches, np.full(30, 0.5))
    assert notice.endswith(f"even a perfect segmentation scores {most} at most")
    fewer = segments(np.zeros(29), np.ones(29), np.full(29, 0.5))
    assert habits.of_matches(prepared, fewer, fewer, np.full(29, 0.5)) == []


@pytest.mark.parametrize(
    ("given", "right", "spellings"),
    [
        (["a1"], ["A1"], ("a1", "A1")),
        (["x", " B2 "], ["A1", "B2"], (" B2 ", "B2")),
        (["98235.0"], ["98235"], ("98235.0", "98235")),
        (["7"], ["007"], ("7", "007")),
        (["essay_1.txt"], ["essay-1"], ("essay_1.txt", "essay-1")),
        (["C3"], ["A1"], None),
        ([], ["A1"], None),
    ],
)
def test_other_spellings(given, right, spellings):
    assert habits._other_spelling(given, right) == spellings
