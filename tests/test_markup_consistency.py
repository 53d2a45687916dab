"""metrics/markup_consistency.py: the paper's formulas, the settled questions, properties, bad input, files."""

import csv
import doctest
import inspect
import itertools
import json
import math
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import evaluate as evaluate_tool
from competition import metric_file
from competition.errors import run
from tests import markup_consistency_data as data
from tests.markup_consistency_transcription import Transcription, corpus, every_accordance

ROOT = Path(__file__).parents[1]
FILE = ROOT / "metrics" / "markup_consistency.py"
ESSAYS = ROOT / ".." / "shared" / "data" / "readable" / "inputs"

metric = metric_file.load(FILE)

csv.field_size_limit(10**9)


def overtext(comment: str, *tags: str) -> dict[str, Any]:
    return {"comment": comment, "tags": list(tags)}


def fragment(start: int, end: int, tags: str = "", *overtexts: dict[str, Any]) -> dict[str, Any]:
    return {"start": start, "end": end, "tags": list(tags), "overtexts": list(overtexts)}


def element(tags: str, *fragments: dict[str, Any], overtexts: Any = ()) -> dict[str, Any]:
    return {"tags": list(tags), "fragments": list(fragments), "overtexts": list(overtexts)}


def markup(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"elements": list(elements)}


def spans(*ends: tuple[int, int], tags: str = "") -> dict[str, Any]:
    """A markup of one element with these fragments."""
    return markup(element("", *(fragment(start, end, tags) for start, end in ends)))


def solution_of(*documents: list[dict[str, Any]], text: str | None = None) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "document_id": [f"d{number}" for number in range(len(documents))],
            "markups": [json.dumps(experts) for experts in documents],
        }
    )
    return frame if text is None else frame.assign(text=text)


def submission_of(*markups: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "document_id": [f"d{number}" for number in range(len(markups))],
            "markup": [json.dumps(value) for value in markups],
        }
    )


# ---------------------------------------------------------------------------------------------
# Worked examples of the specification
# ---------------------------------------------------------------------------------------------

FIRST = markup(
    element(
        "ab",
        fragment(0, 10, "p", overtext("fix comma")),
        fragment(20, 30, "qr"),
        overtexts=[overtext("the cat sat", "x"), overtext("bad logic", "y")],
    ),
    element("c", fragment(50, 60, "p")),
    element("d", fragment(90, 100, "z")),
)
SECOND = markup(
    element(
        "a",
        fragment(5, 15, "p", overtext("Fix the comma")),
        fragment(20, 26, "q"),
        overtexts=[overtext("A cat sat", "x", "z")],
    ),
    element("c", fragment(52, 60, "ps")),
)


def test_worked_example() -> None:
    result = metric.consistency(FIRST, SECOND)
    assert [(pair.first, pair.second) for pair in result.pairs] == [(0, 0), (1, 1)]
    assert result.accordance == pytest.approx(0.8, abs=1e-12)
    assert result.tags == pytest.approx(5 / 6, abs=1e-12)
    assert result.overtexts == pytest.approx(5 / 6, abs=1e-12)
    assert result.fragments == pytest.approx(0.872569, abs=5e-7)
    assert result.fragment_text_union == pytest.approx(0.75, abs=1e-12)
    assert result.fragment_tag_union == pytest.approx(11 / 15, abs=1e-12)
    assert result.total == pytest.approx(0.803762, abs=5e-7)
    names = ("fragments.accordance", "fragments.texts", "fragments.tags", "fragments.overtexts")
    parts = [[pair.criteria[name] for name in names] for pair in result.pairs]
    assert parts[0] == pytest.approx([1, 0.625, 0.833333, 0.966667], abs=5e-7)
    assert parts[1] == pytest.approx([1, 0.888889, 0.666667, 1], abs=5e-7)


def test_worked_example_by_hand() -> None:
    """Every number of the first pair, computed on paper."""
    pair = metric.consistency(FIRST, SECOND).pairs[0]
    assert pair.criteria == pytest.approx(
        {
            "tags": 2 / 3,
            "overtexts.accordance": 2 / 3,
            "overtexts.texts": 4 / 6,
            "overtexts.tags": 2 / 3,
            "overtexts": 2 / 3,
            "fragments.accordance": 1,
            "fragments.texts": (1 / 2 + 12 / 16) / 2,
            "fragments.tags": (1 + 2 / 3) / 2,
            "fragments.overtexts.accordance": 1,
            "fragments.overtexts.texts": (4 / 5 + 1) / 2,
            "fragments.overtexts.tags": 1,
            "fragments.overtexts": (14 / 15 + 1) / 2,
            "fragments": (1 + 5 / 8 + 5 / 6 + 29 / 30) / 4,
            "fragment_text_union": 22 / 36,
            "fragment_tag_union": 4 / 5,
        }
    )
    assert [(inner.first, inner.second) for inner in pair.overtexts] == [(0, 0)]
    assert [(inner.first, inner.second) for inner in pair.fragments] == [(0, 0), (1, 1)]
    assert pair.fragments[0].criteria["overtexts"] == pytest.approx(14 / 15)
    assert pair.fragments[0].overtexts[0].criteria == pytest.approx({"texts": 4 / 5, "tags": 1})
    assert pair.fragments[0].consistency == pytest.approx((1 / 2 + 1 + 14 / 15) / 3)


def test_worked_example_with_the_exact_accordance() -> None:
    result = metric.consistency(FIRST, SECOND, accordance="exact")
    assert [(pair.first, pair.second) for pair in result.pairs] == [(1, 1)]
    assert result.accordance == pytest.approx(0.4, abs=1e-12)
    assert result.total == pytest.approx(0.807407, abs=5e-7)


def test_ama_ema_rma_example() -> None:
    """The specification's two documents, from their pairs' consistencies on."""
    means = {"a": ([0.6, 0.8, 0.7], [0.9, 0.5, 0.7]), "b": ([0.5, 0.3], [0.5])}
    algorithm = np.array([[np.mean(ours)] for ours, _ in means.values()])
    experts = np.array([[np.mean(theirs)] for _, theirs in means.values()])
    statistics = metric._statistics(algorithm, experts)
    ama, ema, rma = metric._corpus_means(statistics.sum(axis=0, keepdims=True)).ravel()
    assert [ama, ema] == pytest.approx([0.55, 0.6], abs=1e-12)
    assert rma == pytest.approx(0.916667, abs=5e-7)
    assert metric._ratio(algorithm, experts).ravel() == pytest.approx([1.0, 0.8])


def test_ama_ema_rma_from_markups() -> None:
    """One criterion only, so that C is the share of common characters."""
    algorithm = spans((0, 10))
    documents = [
        [spans((4, 14)), spans((2, 12)), spans((3, 13))],  # .6 .8 .7 with the algorithm; .8 .9 .9
        [spans((5, 15)), spans((7, 17))],  # .5 .3; .8
    ]
    only_texts = "accordance=0,fragments=0,fragment_text_union=1"
    result = metric.evaluate(
        solution_of(*documents), submission_of(algorithm, algorithm), "document_id", weights=only_texts
    )
    assert result.ama == pytest.approx((0.7 + 0.4) / 2)
    assert result.ema == pytest.approx(((0.8 + 0.9 + 0.9) / 3 + 0.8) / 2)
    assert result.rma == result.score == pytest.approx(result.ama / result.ema)
    assert result.documents["ama"].tolist() == pytest.approx([0.7, 0.4])
    assert result.documents["rma"].tolist() == pytest.approx([0.7 / (2.6 / 3), 0.5])
    assert result.pairs.loc[result.pairs["first"] == "algorithm", "total"].tolist() == pytest.approx(
        [0.6, 0.8, 0.7, 0.5, 0.3]
    )


# ---------------------------------------------------------------------------------------------
# Settled questions
# ---------------------------------------------------------------------------------------------


def test_sum_prefers_two_good_pairs_to_the_best_one() -> None:
    """[0, 10) fits [2, 12) best; but then [8, 18) and [0, 4) go without a partner."""
    result = metric.consistency(spans((0, 10), (8, 18)), spans((2, 12), (0, 4)))
    assert [(pair.first, pair.second) for pair in result.pairs[0].fragments] == [(0, 1), (1, 0)]


def test_equal_sums_are_settled_by_more_pairs() -> None:
    """(0, 0) is worth 1, (0, 1) 1/3 and (1, 0) 2/3: one pair or two, of the same sum but for rounding."""
    first, second = spans((0, 8), (0, 4)), spans((0, 8), (6, 10))
    texts = {"fragments.tags": 0, "fragments.overtexts": 0}
    result = metric.consistency(first, second, texts)
    assert [(pair.first, pair.second) for pair in result.pairs[0].fragments] == [(0, 1), (1, 0)]
    assert [pair.consistency for pair in result.pairs[0].fragments] == pytest.approx([1 / 3, 2 / 3])
    for noise in (0.0, 1e-12, -1e-12):  # below the tolerance
        worth = np.array([1.0 + noise, 1 / 3, 2 / 3])
        chosen = metric._best_sum(np.zeros(3, dtype=np.int64), np.array([0, 0, 1]), np.array([0, 1, 0]), worth)
        assert chosen.tolist() == [False, True, True]
    real = metric._best_sum(
        np.zeros(3, dtype=np.int64),
        np.array([0, 0, 1]),
        np.array([0, 1, 0]),
        np.array([1 + 1e-8, 1 / 3, 2 / 3]),
    )
    assert real.tolist() == [True, False, False]


def test_exact_prefers_more_pairs_among_equal_averages() -> None:
    weights = {"fragments.accordance": 0}
    result = metric.consistency(spans((0, 4), (10, 14)), spans((0, 4), (10, 14)), weights, "exact")
    assert len(result.pairs[0].fragments) == 2


def test_elements_without_common_text_are_not_paired() -> None:
    ours, theirs = markup(element("a", fragment(0, 5))), markup(element("a", fragment(5, 9)))
    result = metric.consistency(ours, theirs)
    assert (result.pairs, result.total, result.accordance) == ([], 0.0, 0.0)


def test_elements_without_fragments_are_paired_whatever_their_tags() -> None:
    result = metric.consistency(markup(element("a")), markup(element("b")))
    assert (result.accordance, result.tags, result.fragments, result.fragment_text_union) == (1, 0, 1, 1)


def test_an_element_without_fragments_is_not_paired_with_one_with_fragments() -> None:
    assert metric.consistency(markup(element("a")), markup(element("a", fragment(0, 5)))).total == 0


@pytest.mark.parametrize(("start", "paired"), [(5, True), (6, False)])
def test_empty_fragments_match_only_the_same_empty_fragment(start: int, paired: bool) -> None:
    result = metric.consistency(spans((5, 5)), spans((start, start)))
    assert result.total == (1.0 if paired else 0.0)


def test_an_empty_fragment_within_another_has_nothing_in_common() -> None:
    assert metric.consistency(spans((5, 5)), spans((0, 10))).total == 0


@pytest.mark.parametrize(
    ("ours", "theirs", "paired"),
    [
        (overtext("bad word"), overtext("good word"), True),
        (overtext("bad"), overtext("good"), False),
        (overtext("bad", "x"), overtext("good", "x"), True),
        (overtext("", "x"), overtext("", "y"), False),
        (overtext("", "x"), overtext("word", "y"), False),
        (overtext("", "x"), overtext("", "x", "y"), True),
        (overtext(""), overtext("…"), True),
        (overtext(""), overtext("", "x"), False),
    ],
)
def test_overtexts_need_a_common_word_or_tag(ours: Any, theirs: Any, paired: bool) -> None:
    result = metric.consistency(markup(element("", overtexts=[ours])), markup(element("", overtexts=[theirs])))
    assert result.parts["overtexts.accordance"] == float(paired)
    assert len(result.pairs[0].overtexts) == paired


def test_both_empty_is_one_and_one_empty_is_zero() -> None:
    both, one = metric.consistency(markup(), markup()), metric.consistency(markup(), FIRST)
    assert set(numbers(both).values()) == {1.0}
    assert set(numbers(one).values()) == {0.0}


def test_no_pair_makes_every_criterion_zero() -> None:
    result = metric.consistency(spans((0, 5)), spans((5, 9)))
    assert {result.tags, result.overtexts, result.fragments, *result.parts.values()} == {0.0}


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("Ещё еще", [("еще", 0), ("еще", 1)]),
        ("snake_case, x2!", [("snake_case", 0), ("x2", 0)]),
        ("Е\u0308ж", [("еж", 0)]),
        ("...", []),
    ],
)
def test_bags_of_words(comment: str, words: list[tuple[str, int]]) -> None:
    assert metric._bag_of_words(comment, None) == frozenset(words)


def test_a_bag_counts_repetitions() -> None:
    ours = markup(element("", overtexts=[overtext("no no no")]))
    theirs = markup(element("", overtexts=[overtext("no")]))
    assert metric.consistency(ours, theirs).parts["overtexts.texts"] == 2 / 4


def test_a_lemmatiser_is_applied_to_words_in_lower_case() -> None:
    lemmas = {"cats": "cat", "sat": "sit", "sits": "sit"}
    ours = markup(element("", overtexts=[overtext("Cats SAT")]))
    theirs = markup(element("", overtexts=[overtext("cat sits")]))
    assert metric.consistency(ours, theirs).parts["overtexts.texts"] == 0
    by_lemmas = metric.consistency(ours, theirs, lemmatise=lambda word: lemmas.get(word, word))
    assert by_lemmas.parts["overtexts.texts"] == 1
    result = metric.evaluate(
        solution_of([ours, ours]),
        submission_of(theirs),
        "document_id",
        lemmatise=lambda word: lemmas.get(word, word),
    )
    assert result.score == 1
    assert result.signature.endswith("|lemmatiser:custom")


def test_tags_are_compared_as_they_are_and_repeated_ones_are_one() -> None:
    ours = markup({"tags": ["a", "a", "A"]})
    assert metric.consistency(ours, markup({"tags": ["a"]})).tags == 2 / 3


def test_equal_objects_are_different_objects() -> None:
    twice, once = spans((0, 5), (0, 5)), spans((0, 5))
    assert metric.consistency(twice, once).parts["fragments.accordance"] == 2 / 3


def test_text_union_merges_intervals() -> None:
    assert metric.consistency(spans((0, 6), (4, 10)), spans((0, 10))).fragment_text_union == 1


def test_tag_union_is_of_the_fragments_not_of_the_element() -> None:
    ours, theirs = markup(element("a", fragment(0, 5, "p"))), markup(element("a", fragment(0, 5, "q")))
    assert metric.consistency(ours, theirs).fragment_tag_union == 0


def test_criteria_of_what_no_expert_left_have_no_weight() -> None:
    """As the paper did with the model's overtexts, which annotators did not leave."""
    experts = [spans((0, 10), tags="p"), spans((0, 10), tags="p")]
    algorithm = markup(element("x", fragment(0, 10, "p", overtext("why")), overtexts=[overtext("how")]))
    result = metric.evaluate(solution_of(experts), submission_of(algorithm), "document_id")
    assert result.score == 1.0
    zero = {name for name, weight in result.prepared.weights.items() if weight == 0}
    names = {
        f"{holder}{part}" for holder in ("overtexts", "fragments.overtexts") for part in ("", ".texts", ".tags")
    }
    assert zero == {"tags", *names}
    assert result.notices == [f"criteria of weight 0: {', '.join(n for n in metric.CRITERIA if n in zero)}"]
    weighed = metric.evaluate(
        solution_of(experts), submission_of(algorithm), "document_id", weights="overtexts=1, tags=0.5"
    )
    assert weighed.score < 1
    assert weighed.prepared.weights["tags"] == 0.5


def test_explicit_weights() -> None:
    result = metric.consistency(FIRST, SECOND, {"accordance": 3, "overtexts": 0, "fragments.texts": 2})
    fragments = [(1 + 2 * 0.625 + 5 / 6 + 29 / 30) / 5, (1 + 2 * 8 / 9 + 2 / 3 + 1) / 5]
    assert result.fragments == pytest.approx(sum(fragments) / 2)
    criteria = 3 * 0.8 + 5 / 6 + result.fragments + 0.75 + 11 / 15
    assert result.total == pytest.approx(criteria / 7)


def test_only_the_accordance_counts_where_all_else_has_no_weight() -> None:
    weights = {"fragments.texts": 0, "fragments.tags": 0, "fragments.overtexts": 0}
    result = metric.consistency(spans((0, 5), (5, 9)), spans((0, 9), (4, 6)), weights)
    assert result.fragments == result.parts["fragments.accordance"] == 1
    assert [pair.consistency for pair in result.pairs[0].fragments] == [0, 0]


def test_documents_with_too_few_experts_are_left_out_and_counted() -> None:
    experts = [spans((0, 10)), spans((5, 15))]
    solution = solution_of(experts, experts[:1], [])
    submission = submission_of(experts[0], experts[1], experts[0])
    result = metric.evaluate(solution, submission, "document_id")
    c = metric.consistency(*experts, {"tags": 0, "overtexts": 0, "fragments.tags": 0,
                                      "fragments.overtexts": 0, "fragment_tag_union": 0}).total  # fmt: skip
    assert result.ama == pytest.approx(((1 + c) / 2 + c) / 2)
    assert result.ema == pytest.approx(c)
    assert result.rma == pytest.approx((1 + c) / 2 / c)
    assert result.notices[:2] == [
        "1 document without expert, left out everywhere",
        "1 document with one expert, left out of EMA and RMA",
    ]
    assert result.documents["experts"].tolist() == [2, 1, 0]
    assert np.isnan(result.documents["ama"].tolist()).tolist() == [False, False, True]
    assert np.isnan(result.documents["ema"].tolist()).tolist() == [False, True, True]
    table = result.tables["Documents"]
    assert table["experts"].tolist() == [0, 1, 2]
    assert table["documents"].tolist() == [1, 1, 1]


def test_no_notices_where_nothing_is_left_out() -> None:
    everything = markup(
        element("a", fragment(0, 5, "p", overtext("why", "x")), overtexts=[overtext("how", "y")])
    )
    result = metric.evaluate(solution_of([everything, everything]), submission_of(everything), "document_id")
    assert result.notices == []
    assert set(result.prepared.weights.values()) == {1.0}


def test_measures_of_one_criterion() -> None:
    prepared = metric.prepare(solution_of([FIRST, SECOND]), "document_id", "consistency", "fragments.texts")
    result = prepared.evaluate(submission_of(FIRST))
    other = metric.consistency(FIRST, SECOND).parts["fragments.texts"]
    assert result.score == pytest.approx((1 + other) / 2)
    ama = metric.score(solution_of([FIRST, SECOND]), submission_of(FIRST), "document_id", "ama")
    assert ama == result.ama


def test_ama_is_defined_with_one_expert_each() -> None:
    result = metric.evaluate(solution_of([FIRST]), submission_of(FIRST), "document_id", "ama")
    assert result.score == 1
    assert np.isnan([result.ema, result.rma]).all()


def test_a_readable_markup_is_one_element_of_its_selections() -> None:
    ours = {
        "criteria": {"K1": 1},
        "selections": [
            {"startSelection": 0, "endSelection": 5, "type": "Г.упр", "subtype": "вид", "group": "error",
             "comment": "why", "explanation": "because", "correction": "fixed"},
            {"startSelection": 7, "endSelection": 9, "type": "ПРОБЛЕМА", "subtype": None},
        ],
    }  # fmt: skip
    notes = [{"comment": "why", "tags": ["comment"]}, {"comment": "because", "tags": ["explanation"]}]
    first = {"start": 0, "end": 5, "tags": ["г.упр", "вид"], "overtexts": notes}
    theirs = {"elements": [{"fragments": [first, {"start": 7, "end": 9, "tags": ["проблема"]}]}]}
    assert metric.consistency(ours, theirs).total == 1
    assert metric.consistency({"selections": []}, markup()).total == 1


# ---------------------------------------------------------------------------------------------
# Against the literal transcription
# ---------------------------------------------------------------------------------------------

NAMES = st.sets(st.sampled_from("abc"), max_size=2).map(sorted)
OVERTEXTS = st.lists(
    st.fixed_dictionaries(
        {"comment": st.sampled_from(["", "no", "no no", "Ещё no", "еще", "why not"]), "tags": NAMES}
    ),
    max_size=2,
)
FRAGMENTS = st.builds(
    lambda start, length, tags, overtexts: {
        "start": start,
        "end": start + length,
        "tags": tags,
        "overtexts": overtexts,
    },
    st.integers(0, 8),
    st.integers(0, 5),
    NAMES,
    OVERTEXTS,
)
ELEMENTS = st.fixed_dictionaries(
    {"tags": NAMES, "overtexts": OVERTEXTS, "fragments": st.lists(FRAGMENTS, max_size=3)}
)
MARKUPS = st.builds(lambda elements: {"elements": elements}, st.lists(ELEMENTS, max_size=3))
KINDS = st.sampled_from(["sum", "exact"])
WEIGHTS = st.dictionaries(
    st.sampled_from([name for name in metric.CRITERIA if name != "total"]), st.integers(1, 3), max_size=4
)


def fractions(weights: dict[str, int]) -> dict[str, Fraction]:
    return {name: Fraction(weight) for name, weight in weights.items()}


def accordance_of(pairs: list[Any]) -> list[Any]:
    """A metric's pairs as the transcription takes them."""

    def ends(inner: list[Any]) -> list[tuple[int, int]]:
        return [(pair.first, pair.second) for pair in inner]

    return [
        (
            pair.first,
            pair.second,
            ends(pair.overtexts),
            [(inner.first, inner.second, ends(inner.overtexts)) for inner in pair.fragments],
        )
        for pair in pairs
    ]


def check(first: Any, second: Any, weights: dict[str, int], kind: str) -> None:
    """The accordance is as good as the best of all, at every level, and gives exactly these criteria."""
    transcription = Transcription(fractions(weights), kind)
    result = metric.consistency(first, second, weights, kind)
    best = transcription.criteria(first, second)
    theirs = transcription.criteria(first, second, accordance_of(result.pairs))
    assert theirs["total"] == best["total"]
    assert theirs["accordance"] == best["accordance"]  # among equal ones, the most pairs
    ours = (
        {name: getattr(result, name) for name in metric.PARTS["total"]} | result.parts | {"total": result.total}
    )
    assert ours == pytest.approx({name: float(value) for name, value in theirs.items()}, abs=1e-12)
    for pair in result.pairs:
        a, b = first["elements"][pair.first], second["elements"][pair.second]
        worth = transcription.average("", transcription.element(a, b), False)
        assert pair.consistency == pytest.approx(float(worth), abs=1e-12)
        for inner in pair.fragments:
            c, d = a["fragments"][inner.first], b["fragments"][inner.second]
            worth = transcription.average("fragments", transcription.fragment(c, d), False)
            assert inner.consistency == pytest.approx(float(worth), abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(MARKUPS, MARKUPS, WEIGHTS, KINDS)
def test_against_the_transcription(first: Any, second: Any, weights: dict[str, int], kind: str) -> None:
    check(first, second, weights, kind)


def crowded(rng: random.Random, fragments: int, last: int = 20) -> dict[str, Any]:
    """A markup of one element whose fragments nearly all overlap, so that they may be partners."""
    middle = last // 2
    ends = [(rng.randrange(middle), rng.randrange(middle, last)) for _ in range(fragments)]
    return markup(element("", *(fragment(start, end, rng.choice("ab")) for start, end in ends)))


@pytest.mark.parametrize("kind", ["sum", "exact"])
def test_accordance_against_every_accordance(kind: str) -> None:
    """600 pairs of markups whose fragments are all candidates, and of elements that are."""
    rng = random.Random(7)
    assert len(list(every_accordance(list(itertools.product(range(3), range(3)))))) == 34
    for number in range(300):
        first, second = (crowded(rng, rng.randrange(1, 5)) for _ in range(2))
        check(first, second, {"fragments.texts": 1 + number % 3}, kind)
        first, second = (
            markup(
                *(
                    crowded(rng, 1)["elements"][0] | {"tags": [rng.choice("ab")]}
                    for _ in range(rng.randrange(1, 4))
                )
            )
            for _ in range(2)
        )
        check(first, second, {"accordance": 1 + number % 4}, kind)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.lists(MARKUPS, max_size=3), MARKUPS), min_size=1, max_size=3), KINDS)
def test_a_corpus_against_the_transcription(documents: list[tuple[list[Any], Any]], kind: str) -> None:
    expected = corpus(documents, kind)
    solution = solution_of(*(experts for experts, _ in documents))
    submission = submission_of(*(algorithm for _, algorithm in documents))
    measure = "ama" if expected["rma"] is None else "rma"
    if expected["ama"] is None:
        with pytest.raises(metric.HostVisibleError, match="no document has an expert's markup"):
            metric.score(solution, submission, "document_id", measure, accordance=kind)
        return
    result = metric.evaluate(solution, submission, "document_id", measure, accordance=kind)
    values = {"ama": result.ama, "ema": result.ema, "rma": result.rma}
    assert values == pytest.approx(
        {name: math.nan if value is None else float(value) for name, value in expected.items()}, nan_ok=True
    )
    assert result.score == values[measure]
    for (document_id, first, second), total in zip(
        result.pairs[["document_id", "first", "second"]].itertuples(index=False), result.pairs["total"]
    ):
        experts, algorithm = documents[int(document_id[1:])]
        named = {"algorithm": algorithm} | {f"expert {n}": expert for n, expert in enumerate(experts, 1)}
        weights = result.prepared.weights
        assert total == metric.consistency(named[first], named[second], weights, kind).total


# ---------------------------------------------------------------------------------------------
# Properties
# ---------------------------------------------------------------------------------------------


def numbers(result: Any) -> dict[str, float]:
    return {name: getattr(result, name) for name in (*metric.PARTS["total"], "total")} | result.parts


def swapped(pairs: list[Any]) -> list[Any]:
    return sorted(
        pair._replace(
            first=pair.second,
            second=pair.first,
            overtexts=swapped(pair.overtexts),
            fragments=swapped(pair.fragments),
        )
        for pair in pairs
    )


@settings(max_examples=100, deadline=None)
@given(MARKUPS, MARKUPS, KINDS)
def test_symmetric_to_the_last_bit(first: Any, second: Any, kind: str) -> None:
    there = metric.consistency(first, second, accordance=kind)
    back = metric.consistency(second, first, accordance=kind)
    assert numbers(there) == numbers(back)
    # Of equal objects of one markup either may be the partner; the worth of the partners is the same.
    assert sorted(pair.consistency for pair in there.pairs) == sorted(pair.consistency for pair in back.pairs)


@pytest.mark.parametrize("kind", ["sum", "exact"])
def test_ties_are_settled_by_contents(kind: str) -> None:
    """Where many accordances are equally good, with other criteria: whatever the sides and the order."""
    rng = random.Random(3)
    markups = [crowded(rng, rng.randrange(1, 7), last=8) for _ in range(300)]
    documents = [markups[start : start + 3] for start in range(0, 300, 3)]
    ids = [[json.dumps(shuffled(value, rng)) for value in experts] for *experts, _ in documents]
    solution = solution_of(*([] for _ in documents)).assign(markups=[f"[{one}, {two}]" for one, two in ids])
    submission = submission_of(*(shuffled(algorithm, rng) for *_, algorithm in documents))
    result = metric.evaluate(solution, submission, "document_id", accordance=kind)
    criteria = list(metric.CRITERIA)
    for row in result.pairs.to_dict("records"):
        one, two, algorithm = documents[int(row["document_id"][1:])]
        named = {"algorithm": algorithm, "expert 1": one, "expert 2": two}
        ours, theirs = named[row["first"]], named[row["second"]]
        for first, second in ((ours, theirs), (theirs, ours)):
            values = numbers(metric.consistency(first, second, result.prepared.weights, kind))
            assert [row[name] for name in criteria] == [values[name] for name in criteria]


def test_the_pairs_are_symmetric() -> None:
    there, back = metric.consistency(FIRST, SECOND), metric.consistency(SECOND, FIRST)
    assert swapped(there.pairs) == sorted(back.pairs)


@settings(max_examples=100, deadline=None)
@given(MARKUPS, WEIGHTS, KINDS)
@example(FIRST, {"accordance": 44}, "sum")  # of the sum 49, and 49·(1/49) is not 1
def test_a_markup_is_consistent_with_itself(value: Any, weights: dict[str, int], kind: str) -> None:
    result = metric.consistency(value, value, weights, kind)
    assert set(numbers(result).values()) == {1.0}


@settings(max_examples=100, deadline=None)
@given(MARKUPS, MARKUPS, WEIGHTS, KINDS)
def test_within_zero_and_one(first: Any, second: Any, weights: dict[str, int], kind: str) -> None:
    assert all(0 <= value <= 1 for value in numbers(metric.consistency(first, second, weights, kind)).values())


def shuffled(value: Any, rng: random.Random) -> Any:
    """The same JSON value with all its lists in another order."""
    if isinstance(value, dict):
        return {key: shuffled(inner, rng) for key, inner in value.items()}
    if isinstance(value, list):
        return rng.sample([shuffled(inner, rng) for inner in value], len(value))
    return value


@settings(max_examples=100, deadline=None)
@given(MARKUPS, MARKUPS, KINDS, st.randoms(use_true_random=False))
def test_order_within_a_markup_has_no_influence(first: Any, second: Any, kind: str, rng: random.Random) -> None:
    plain = metric.consistency(first, second, accordance=kind)
    mixed = metric.consistency(shuffled(first, rng), shuffled(second, rng), accordance=kind)
    assert numbers(plain) == numbers(mixed)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.lists(MARKUPS, min_size=2, max_size=3), MARKUPS), min_size=1, max_size=4),
    KINDS,
    st.randoms(use_true_random=False),
)
def test_order_of_rows_and_experts_has_no_influence(
    documents: list[tuple[list[Any], Any]], kind: str, rng: random.Random
) -> None:
    solution = solution_of(*(experts for experts, _ in documents))
    submission = submission_of(*(algorithm for _, algorithm in documents))
    mixed = solution.assign(markups=[json.dumps(shuffled(experts, rng)) for experts, _ in documents])
    rows = rng.sample(range(len(documents)), len(documents))
    plain = metric.evaluate(solution, submission, "document_id", "ama", accordance=kind)
    other = metric.evaluate(
        mixed.iloc[rows], submission.sample(frac=1, random_state=1), "document_id", "ama", accordance=kind
    )
    assert [*plain.measures.values()] == pytest.approx([*other.measures.values()], abs=0, rel=0, nan_ok=True)
    assert plain.items == other.items


# ---------------------------------------------------------------------------------------------
# Evaluation
# ---------------------------------------------------------------------------------------------


def sample_frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    return data.frames(data.samples())


@pytest.fixture(scope="module")
def evaluated() -> Any:
    return metric.evaluate(*sample_frames(), "document_id")


def test_score_evaluate_and_prepare_agree(evaluated: Any) -> None:
    solution, submission = sample_frames()
    assert metric.score(solution, submission, "document_id") == evaluated.score == evaluated.measures["score"]
    assert evaluated.signature.startswith(
        "metric:markup_consistency|version:1.0.0|measure:rma|criterion:total|"
    )


def test_measures_and_resample(evaluated: Any) -> None:
    number = len(evaluated.items)
    names = list(evaluated.measures)
    assert names[:4] == ["score", "AMA", "EMA", "RMA"]
    assert names[4:] == list(metric.CRITERIA)[1:]
    rng = np.random.default_rng(1)
    weights = np.concatenate([np.ones((1, number)), rng.integers(0, 3, (5, number))])
    resampled = evaluated.resample(weights)
    assert resampled.shape == (6, len(names))
    assert resampled[0].tolist() == pytest.approx(list(evaluated.measures.values()))
    solution, submission = sample_frames()
    for counts, row in zip(weights.astype(int), resampled):
        repeated = np.repeat(np.arange(number), counts)
        copies = [f"{number}" for number in range(len(repeated))]
        again = metric.evaluate(
            solution.iloc[repeated].assign(document_id=copies),
            submission.iloc[repeated].assign(document_id=copies),
            "document_id",
            weights=",".join(f"{name}={weight}" for name, weight in evaluated.prepared.weights.items()),
        )
        assert row.tolist() == pytest.approx(list(again.measures.values()))


def test_resample_without_experts_is_undefined(evaluated: Any) -> None:
    without_expert = np.array([[item == "essay-06" for item in evaluated.items]])
    assert np.isnan(evaluated.resample(without_expert)).all()


def test_mix_swaps_the_answers(evaluated: Any) -> None:
    solution, submission = sample_frames()
    answers = submission["markup"].sample(frac=1, random_state=5).to_numpy()
    other_frame = submission.assign(markup=answers)
    solution = solution.drop(columns="text")
    prepared = metric.prepare(solution, "document_id")
    one, other = prepared.evaluate(submission), prepared.evaluate(other_frame)
    rng = np.random.default_rng(4)
    number = len(submission)
    swapped = np.concatenate([np.zeros((1, number), np.uint8), rng.integers(0, 2, (4, number), np.uint8)])
    mine, theirs = one.mix(other, swapped)
    for row, swap in enumerate(swapped.astype(bool)):
        for values, here, there in ((mine, submission, other_frame), (theirs, other_frame, submission)):
            mixed = here.assign(markup=np.where(swap, there["markup"], here["markup"]))
            expected = prepared.evaluate(mixed).measures
            assert values[row].tolist() == pytest.approx(list(expected.values()))
    assert evaluated.roles.items() <= {"item": "document_id", "label": "level", "outcome": "outcome"}.items()
    assert set(evaluated.roles.values()) <= set(evaluated.segments)


def test_parts_are_what_prepare_makes_of_their_rows() -> None:
    solution, submission = sample_frames()
    solution = solution.sample(frac=1, random_state=3)
    prepared = metric.prepare(solution, "document_id")
    rng = np.random.default_rng(2)
    masks = [rng.random(len(solution)) < 0.6 for _ in range(6)]
    plain = (solution["document_id"] >= "essay-10").to_numpy()  # no overtexts of fragments: other weights
    for rows in [*masks, plain]:
        part = prepared.part(rows)
        whole = metric.prepare(solution[rows], "document_id")
        ids = solution.loc[rows, "document_id"]
        subset = submission[submission["document_id"].isin(ids)]
        assert part.evaluate(subset).measures == pytest.approx(whole.evaluate(subset).measures, rel=0, abs=0)
        assert part.weights == whole.weights
        again = part.part(np.arange(len(ids)) != 1)
        assert (
            again.documents
            == metric.prepare(solution[rows].drop(index=solution[rows].index[1]), "document_id").documents
        )
    assert part.weights != prepared.weights


def test_a_part_has_the_weights_of_its_own_experts() -> None:
    """Without the document whose experts left overtexts these have no weight: all is compared anew."""
    solution = solution_of([FIRST, SECOND], [spans((0, 10)), spans((5, 15))])
    submission = submission_of(FIRST, spans((0, 12)))
    rows = np.array([False, True])
    part, alone = (
        metric.prepare(solution, "document_id").part(rows),
        metric.prepare(solution[rows], "document_id"),
    )
    assert part.weights == alone.weights
    assert part.evaluate(submission[rows]).measures == alone.evaluate(submission[rows]).measures


def test_pairs_hold_every_pair_once(evaluated: Any) -> None:
    pairs = evaluated.pairs
    assert not pairs.duplicated(["document_id", "first", "second"]).any()
    experts = evaluated.documents["experts"]
    assert len(pairs) == (experts + experts * (experts - 1) // 2).sum()
    second = pairs[pairs["document_id"] == "essay-02"]
    assert list(zip(second["first"], second["second"])) == [
        ("algorithm", "expert 1"), ("algorithm", "expert 2"), ("algorithm", "expert 3"),
        ("expert 1", "expert 2"), ("expert 1", "expert 3"), ("expert 2", "expert 3"),
    ]  # fmt: skip
    assert list(pairs)[3:] == list(metric.CRITERIA)


def test_documents_are_means_of_pairs(evaluated: Any) -> None:
    pairs, documents = evaluated.pairs, evaluated.documents.set_index("document_id")
    with_algorithm = pairs["first"] == "algorithm"
    for name in metric.CRITERIA:
        ours = pairs[with_algorithm].groupby("document_id")[name].mean()
        theirs = pairs[~with_algorithm].groupby("document_id")[name].mean()
        assert documents[f"algorithm.{name}"].dropna().to_dict() == pytest.approx(ours.to_dict())
        assert documents[f"experts.{name}"].dropna().to_dict() == pytest.approx(theirs.to_dict())
    criteria = evaluated.criteria.set_index("criterion")
    assert criteria["ama"].to_dict() == pytest.approx(
        {name: documents[f"algorithm.{name}"].mean() for name in metric.CRITERIA}
    )
    assert criteria["rma"]["total"] == evaluated.rma


def test_segments_tell_the_accordance(evaluated: Any) -> None:
    """Against `consistency`, pair by pair of markups, in both directions."""
    documents = data.samples()
    weights = evaluated.prepared.weights
    segments = evaluated.segments.set_index(["document_id", "markup", "against"])
    outcomes = set()
    for document_id, (_, experts, algorithm) in documents.items():
        named = {"algorithm": algorithm} | {f"expert {n}": expert for n, expert in enumerate(experts, 1)}
        for ours, theirs in itertools.permutations(named, 2):
            if "algorithm" not in (ours, theirs) and len(experts) < 2:
                continue
            objects = objects_of(named[ours])
            if not objects:
                assert (document_id, ours, theirs) not in segments.index
                continue
            rows = segments.loc[[(document_id, ours, theirs)]]
            columns = ["level", "element", "fragment", "overtext", "start", "end"]
            assert [tuple(row) for row in rows[columns].itertuples(index=False)] == objects
            result = metric.consistency(named[ours], named[theirs], weights)
            expected = partners_of(result.pairs)
            matched = rows[rows["outcome"] == "matched"]
            partners = [
                "element",
                "fragment",
                "overtext",
                "partner_element",
                "partner_fragment",
                "partner_overtext",
            ]
            assert [tuple(row) for row in matched[partners].itertuples(index=False)] == [
                key for key, _ in expected
            ]
            assert matched["consistency"].tolist() == [worth for _, worth in expected]
            unmatched = rows[rows["outcome"] == "unmatched"]
            assert (unmatched[partners[3:]] == -1).all(axis=None)
            assert unmatched["consistency"].isna().all()
            outcomes |= set(zip(rows["level"], rows["outcome"]))
    assert outcomes == set(itertools.product(metric.LEVELS, ("matched", "unmatched")))


def objects_of(value: dict[str, Any]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for e, an_element in enumerate(value["elements"]):
        rows.append(("element", e, -1, -1, -1, -1))
        rows += [("element overtext", e, -1, o, -1, -1) for o, _ in enumerate(an_element.get("overtexts", []))]
        for f, a_fragment in enumerate(an_element.get("fragments", [])):
            rows.append(("fragment", e, f, -1, a_fragment["start"], a_fragment["end"]))
            rows += [
                ("fragment overtext", e, f, o, -1, -1) for o, _ in enumerate(a_fragment.get("overtexts", []))
            ]
    return rows


def partners_of(pairs: list[Any]) -> list[tuple[tuple[int, ...], float]]:
    rows = []
    for pair in pairs:
        rows.append(((pair.first, -1, -1, pair.second, -1, -1), pair.consistency))
        for inner in pair.overtexts:
            rows.append(((pair.first, -1, inner.first, pair.second, -1, inner.second), inner.consistency))
        for inner in pair.fragments:
            rows.append(((pair.first, inner.first, -1, pair.second, inner.second, -1), inner.consistency))
            for note in inner.overtexts:
                key = (pair.first, inner.first, note.first, pair.second, inner.second, note.second)
                rows.append((key, note.consistency))
    return sorted(rows)


def test_histograms(evaluated: Any) -> None:
    figures = evaluated.histograms
    assert list(figures) == ["Criteria among experts", "Criteria, algorithm with an expert", "Documents"]
    weighed = [name for name in metric.CRITERIA if name != "fragments.overtexts.tags"]
    assert (
        list(figures["Criteria among experts"])
        == weighed
        == list(figures["Criteria, algorithm with an expert"])
    )
    pairs, documents = evaluated.pairs, evaluated.documents
    with_algorithm = pairs["first"] == "algorithm"
    assert sorted(figures["Criteria among experts"]["total"]) == sorted(pairs.loc[~with_algorithm, "total"])
    assert sorted(figures["Criteria, algorithm with an expert"]["tags"]) == sorted(
        pairs.loc[with_algorithm, "tags"]
    )
    assert figures["Documents"]["RMA"].tolist() == documents["rma"].dropna().tolist()
    simple = metric.evaluate(*data.corpus(3), "document_id")
    assert "overtexts" not in simple.histograms["Criteria among experts"]
    assert "overtexts.accordance" not in simple.histograms["Criteria among experts"]


def test_progress_is_told_and_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []
    monkeypatch.setattr(metric, "progress", lambda done, total: calls.append((done, total)))
    monkeypatch.setattr(metric, "CELLS_AT_ONCE", 300)
    solution, submission = data.corpus(12, experts=3)
    prepared = metric.prepare(solution, "document_id")
    in_prepare = calls.copy()
    calls.clear()
    chunked = prepared.evaluate(submission)
    for told in (in_prepare, calls):
        assert told[-1] == (36, 36)
        assert len(told) > 3
        assert told == sorted(set(told))
    chunked.segments  # noqa: B018 (computed in chunks as well)
    monkeypatch.undo()
    at_once = metric.evaluate(solution, submission, "document_id")
    assert at_once.pairs.equals(chunked.pairs)
    assert at_once.segments.equals(chunked.segments)


# ---------------------------------------------------------------------------------------------
# Frames
# ---------------------------------------------------------------------------------------------


def test_ids_are_compared_as_text() -> None:
    solution = solution_of([FIRST, SECOND], [FIRST, FIRST])
    submission = submission_of(FIRST, SECOND)
    expected = metric.score(solution, submission, "document_id")
    for ids in ([1, 2], [1.0, 2.0], ["1", "2"]):
        for other in ([1, 2], [1.0, 2.0], ["1", "2"]):
            ours, theirs = solution.assign(document_id=ids), submission.assign(document_id=other)
            assert metric.score(ours, theirs, "document_id") == expected


@pytest.mark.parametrize("kind", ["object", "category", "string", "arrow"])
def test_any_frame_will_do_and_is_left_alone(kind: str) -> None:
    solution, submission = sample_frames()
    expected = metric.score(solution, submission, "document_id")
    if kind == "arrow":
        pytest.importorskip("pyarrow")
        types: Any = pd.ArrowDtype(__import__("pyarrow").string())
    else:
        types = kind
    ours = solution.astype(types).assign(extra=1).set_index(np.full(len(solution), 7))
    theirs = submission.astype(types).assign(more=None).sample(frac=1, random_state=1)
    copies = ours.copy(deep=True), theirs.copy(deep=True)
    assert metric.score(ours, theirs, "document_id") == expected
    pd.testing.assert_frame_equal(ours, copies[0])
    pd.testing.assert_frame_equal(theirs, copies[1])


def test_read_only_frames() -> None:
    solution, submission = sample_frames()
    for frame in (solution, submission):
        for name in frame:
            values = frame[name].to_numpy(dtype=object).copy()
            values.setflags(write=False)
            frame[name] = pd.Series(values, copy=False)
    assert metric.score(solution, submission, "document_id") == metric.score(*sample_frames(), "document_id")


# ---------------------------------------------------------------------------------------------
# Bad input
# ---------------------------------------------------------------------------------------------

GOOD = json.dumps(spans((0, 5), (2, 9)))
SOLUTION = pd.DataFrame(
    {"document_id": ["a", "b"], "markups": [f"[{GOOD}, {GOOD}]", f"[{GOOD}, {GOOD}]"], "text": ["x" * 20] * 2}
)
SUBMISSION = pd.DataFrame({"document_id": ["a", "b"], "markup": [GOOD, GOOD]})


def one_fragment(text: str) -> str:
    return f'{{"elements": [{{"fragments": [{text}]}}]}}'


CELLS = {
    "": "missing",
    "  ": "missing",
    "{": "not JSON: Expecting property name enclosed in double quotes at character 2",
    '{"elements": []} x': "not JSON: Extra data at character 18",
    "[" * 100_000: "not a markup: nested too deeply",
    one_fragment('{"start": NaN, "end": 5}'): "not JSON: NaN is no number",
    one_fragment(f'{{"start": {"1" * 5000}, "end": 5}}'): "not JSON: Exceeds the limit",
    one_fragment(f'{{"start": 0, "end": {"1" * 50}}}'): "element 1, fragment 1: end is above 1,000,000,000",
    "[]": "the markup is a list instead of an object",
    "null": "the markup is missing instead of an object",
    '"{}"': "the markup is '{}' instead of an object",
    "{}": "the markup has no elements",
    '{"elements": {}}': "the markup: elements is an object instead of a list",
    '{"elements": [7]}': "element 1 is 7 instead of an object",
    '{"elements": [{"tags": "ab"}]}': "element 1: tags is 'ab' instead of a list",
    '{"elements": [{"tags": ["a", 1]}]}': "element 1: a tag is 1 instead of text",
    '{"elements": [{"overtexts": ["no"]}]}': "element 1, overtext 1 is 'no' instead of an object",
    '{"elements": [{"overtexts": [{"comment": 5}]}]}': "element 1, overtext 1: comment is 5 instead of text",
    one_fragment("[0, 5]"): "element 1, fragment 1 is a list instead of an object",
    one_fragment('{"start": 0}'): "element 1, fragment 1: end is missing instead of a whole number",
    one_fragment('{"start": "0", "end": 5}'): "element 1, fragment 1: start is '0' instead of a whole number",
    one_fragment('{"start": 0.5, "end": 5}'): "element 1, fragment 1: start is 0.5 instead of a whole number",
    one_fragment('{"start": true, "end": 5}'): "element 1, fragment 1: start is True instead of a whole number",
    one_fragment('{"start": 1e400, "end": 5}'): "element 1, fragment 1: start is inf instead of a whole number",
    one_fragment('{"start": 9, "end": 5}'): "element 1, fragment 1: start 9 is after end 5",
    one_fragment('{"start": -2, "end": 5}'): "element 1, fragment 1: start -2 is negative",
    one_fragment('{"start": 5, "end": 21}'): "element 1, fragment 1: end 21 is beyond the text",
    one_fragment('{"start": 0, "end": 5, "overtexts": [{"tags": [[]]}]}'): (
        "element 1, fragment 1, overtext 1: a tag is a list instead of text"
    ),
    '{"elements": [' + ",".join(["{}"] * 2001) + "]}": (
        "2,001 elements, fragments and overtexts; at most 2,000 are allowed in a markup"
    ),
    '{"selections": [5]}': "selection 1 is 5 instead of an object",
    '{"selections": [{"type": 5}]}': "selection 1: type is 5 instead of text",
    '{"selections": [{"type": "x"}]}': "element 1, fragment 1: start is missing instead of a whole number",
}  # fmt: skip


@pytest.mark.parametrize(("cell", "reason"), CELLS.items(), ids=range(len(CELLS)))
def test_bad_markups(cell: str, reason: str) -> None:
    with pytest.raises(metric.ParticipantVisibleError) as ours:
        metric.score(SOLUTION, SUBMISSION.assign(markup=[GOOD, cell]), "document_id")
    assert str(ours.value).startswith(f"markup is wrong in 1 row of the submission: document_id b ({reason}")
    assert str(ours.value).endswith(
        'Expected a markup in JSON, such as \'{"elements": [{"fragments": [{"start": 0, "end": 10}]}]}\'.'
    )
    if reason != "missing" and "nested" not in reason:
        with pytest.raises(metric.HostVisibleError) as theirs:
            metric.score(SOLUTION.assign(markups=[f"[{GOOD}]", f"[{GOOD}, {cell}]"]), SUBMISSION, "document_id")
        start = "markups is wrong in 1 row of the solution: document_id b ("
        assert str(theirs.value).startswith(start)
        if "JSON" not in reason:
            assert str(theirs.value).startswith(f"{start}markup 2, {reason}")


def test_markups_that_are_no_list() -> None:
    with pytest.raises(
        metric.HostVisibleError, match=r"document_id a \(an object instead of a list of markups"
    ):
        metric.score(SOLUTION.assign(markups=[GOOD, f"[{GOOD}]"]), SUBMISSION, "document_id")


def test_whole_numbers_written_with_a_point_are_whole() -> None:
    cell = one_fragment('{"start": 0.0, "end": 5.0}')
    result = metric.score(SOLUTION, SUBMISSION.assign(markup=cell), "document_id")
    assert result == metric.score(SOLUTION, SUBMISSION.assign(markup=json.dumps(spans((0, 5)))), "document_id")


def test_null_stands_for_what_is_left_out() -> None:
    ours = {
        "elements": [{"tags": None, "overtexts": None, "fragments": [{"start": 0, "end": 5, "tags": None}]}]
    }
    assert metric.consistency(ours, spans((0, 5))).total == 1


def test_many_bad_rows_are_counted_and_a_few_shown() -> None:
    solution = pd.DataFrame({"document_id": range(9), "markups": f"[{GOOD}, {GOOD}]"})
    with pytest.raises(metric.ParticipantVisibleError) as error:
        metric.score(solution, pd.DataFrame({"document_id": range(9), "markup": "?"}), "document_id")
    assert str(error.value).startswith("markup is wrong in 9 rows of the submission: document_id 0 (not JSON")
    assert "and 4 more. Expected" in str(error.value)


SUBMISSION_FAULTS = {
    "no column": (
        SUBMISSION.drop(columns="markup"),
        "the submission lacks columns: markup. It has: document_id.",
    ),
    "twice": (
        pd.concat([SUBMISSION, SUBMISSION[["markup"]]], axis=1),
        "the submission has more than one column named markup.",
    ),
    "missing id": (
        SUBMISSION.assign(document_id=["a", None]),
        "document_id is wrong in 1 row of the submission: row number 2 (missing). Expected an id in every row.",
    ),
    "repeated id": (
        SUBMISSION.assign(document_id="a"),
        "document_id is wrong in 1 row of the submission: document_id a (repeated). "
        "Expected every document once.",
    ),
    "unknown id": (
        SUBMISSION.assign(document_id=["a", "zz"]),
        "document_id of 1 row of the submission is not in the test set: 'zz'.",
    ),
    "too few": (SUBMISSION.head(1), "the submission lacks 1 document of the test set."),
    "empty": (SUBMISSION.head(0), "the submission lacks 2 documents of the test set."),
    "missing markup": (
        SUBMISSION.assign(markup=[GOOD, np.nan]),
        "markup is wrong in 1 row of the submission: document_id b (missing). Expected a markup in JSON, "
        'such as \'{"elements": [{"fragments": [{"start": 0, "end": 10}]}]}\'.',
    ),
}


@pytest.mark.parametrize(("submission", "message"), SUBMISSION_FAULTS.values(), ids=SUBMISSION_FAULTS)
def test_bad_submissions(submission: pd.DataFrame, message: str) -> None:
    with pytest.raises(metric.ParticipantVisibleError) as error:
        metric.score(SOLUTION, submission, "document_id")
    assert str(error.value) == message


def test_a_long_list_of_unknown_ids_is_cut() -> None:
    submission = pd.DataFrame({"document_id": [f"z{n}" for n in range(8)] + ["x" * 99], "markup": GOOD})
    with pytest.raises(metric.ParticipantVisibleError, match="'z4' and 4 more"):
        metric.score(SOLUTION, submission, "document_id")


NOTHING = '{"elements": []}'
SOLUTION_FAULTS = {
    "no rows": (SOLUTION.head(0), "the solution has no rows."),
    "no column": (
        SOLUTION.drop(columns="markups"),
        "the solution lacks columns: markups. It has: document_id, text.",
    ),
    "repeated id": (
        SOLUTION.assign(document_id="a"),
        "document_id is wrong in 1 row of the solution: document_id a (repeated). "
        "Expected every document once.",
    ),
    "missing text": (
        SOLUTION.assign(text=["x" * 20, None]),
        "text is wrong in 1 row of the solution: document_id b (missing). Expected a text in every row.",
    ),
    "no experts": (
        SOLUTION.assign(markups="[]"),
        "measure 'rma' is not defined: no document has markups of two experts.",
    ),
    "one expert each": (
        SOLUTION.assign(markups=f"[{GOOD}]"),
        "measure 'rma' is not defined: no document has markups of two experts.",
    ),
    "nothing in common": (
        SOLUTION.assign(markups=f"[{GOOD}, {NOTHING}]"),
        "measure 'rma' is not defined: the experts have nothing in common.",
    ),
}


@pytest.mark.parametrize(("solution", "message"), SOLUTION_FAULTS.values(), ids=SOLUTION_FAULTS)
def test_bad_solutions(solution: pd.DataFrame, message: str) -> None:
    with pytest.raises(metric.HostVisibleError) as error:
        metric.prepare(solution, "document_id")
    assert str(error.value) == message


PARAMETER_FAULTS = [
    ({"measure": "f1"}, "measure is 'f1'; expected one of rma, ama, consistency."),
    ({"accordance": "best"}, "accordance is 'best'; expected one of sum, exact."),
    ({"criterion": "words"}, "criterion is 'words'; expected one of total, accordance, "),
    ({"criterion": "tags"}, "criterion is 'tags', which only measure 'consistency' has a use for."),
    ({"weights": "tags"}, "weights is 'tags'; expected NAME=NUMBER, each name once, separated by commas."),
    ({"weights": "tags=1,tags=2"}, "weights is 'tags=1,tags=2'; expected NAME=NUMBER"),
    ({"weights": "tags=x"}, "the weight of tags is 'x'; expected a number."),
    ({"weights": "tags=-1"}, "the weight of tags is -1.0; expected a number of at least 0."),
    ({"weights": "tags=inf"}, "the weight of tags is inf; expected a number of at least 0."),
    ({"weights": "tags=nan"}, "the weight of tags is nan; expected a number of at least 0."),
    ({"weights": "total=1"}, "there is no weight 'total'; expected one of accordance, tags, "),
    (
        {"weights": "overtexts.accordance=0"},
        "the weights of overtexts.accordance, overtexts.texts, overtexts.tags, the parts of overtexts, are all",
    ),
]


@pytest.mark.parametrize(("parameters", "message"), PARAMETER_FAULTS)
def test_bad_parameters(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(metric.HostVisibleError) as error:
        metric.score(SOLUTION, SUBMISSION, "document_id", **parameters)
    assert str(error.value).startswith(message)


def test_a_bad_markup_of_consistency() -> None:
    with pytest.raises(ValueError, match=r"^the second markup: element 1 is 3 instead of an object$"):
        metric.consistency(FIRST, {"elements": [3]})
    with pytest.raises(metric.HostVisibleError, match="accordance is 'x'"):
        metric.consistency(FIRST, SECOND, accordance="x")


def test_messages_do_not_depend_on_the_solution() -> None:
    """The same faulty submissions against another solution of the same documents: the same words."""
    other = SOLUTION.assign(markups=f"[{json.dumps(FIRST)}, {json.dumps(FIRST)}]", text="x" * 200)
    for submission, _ in SUBMISSION_FAULTS.values():
        messages = []
        for solution in (SOLUTION, other):
            with pytest.raises(metric.ParticipantVisibleError) as error:
                metric.score(solution, submission, "document_id")
            messages.append(str(error.value))
        assert messages[0] == messages[1]


def test_the_largest_markups_take_bounded_time_and_memory() -> None:
    """2,000 fragments that all overlap those of an expert, every one with words: a minute would be a hang."""
    fragments = ",".join(['{"start": 0, "end": 20, "tags": ["a", "b"]}'] * 1999)
    huge = f'{{"elements": [{{"fragments": [{fragments}]}}]}}'
    result = metric.evaluate(SOLUTION, SUBMISSION.assign(markup=[GOOD, huge]), "document_id")
    assert result.documents["algorithm.fragments.accordance"].tolist() == pytest.approx([1, 4 / 2001])


# ---------------------------------------------------------------------------------------------
# Files and the command line
# ---------------------------------------------------------------------------------------------


def test_samples_are_what_the_generator_writes(tmp_path: Path) -> None:
    data.write(tmp_path)
    written = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    kept = sorted(path.relative_to(data.SAMPLES) for path in data.SAMPLES.rglob("*") if path.is_file())
    assert written == kept
    for path in written:
        assert (tmp_path / path).read_bytes() == (data.SAMPLES / path).read_bytes()


def test_a_folder_of_documents_scores_as_the_frames_do() -> None:
    folder = data.SAMPLES / "documents"
    solution, submission = metric.read_solution(folder), metric.read_submission(folder)
    assert list(solution) == ["document_id", "text", "markups"]
    assert list(submission) == ["document_id", "markup"]
    assert metric.score(solution, submission, "document_id") == metric.score(*sample_frames(), "document_id")


def write(folder: Path, name: str, content: Any) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def test_one_markup_per_file(tmp_path: Path) -> None:
    """As the competition sent its files: whose markup it is stands in meta.expert."""
    meta = {"id": "e1", "subject": "rus"}
    selections = [{"startSelection": 0, "endSelection": 5, "type": "г.упр"}]
    for name, expert in (("one", "Ivanova"), ("two", "Petrova"), ("alg", "")):
        content = {"meta": meta | {"expert": expert}, "text": "x" * 9, "criteria": {}, "selections": selections}
        write(tmp_path, f"{name}.json", content)
    documents = metric.read_documents(tmp_path)
    assert documents["document_id"].tolist() == ["e1"]
    assert len(json.loads(documents["markups"][0])) == 2
    assert metric.score(metric.read_solution(tmp_path), metric.read_submission(tmp_path), "document_id") == 1


def test_files_that_do_not_say_whose_markup_they_hold(tmp_path: Path) -> None:
    for number in range(2):
        write(tmp_path, f"experts/{number}.json", spans((0, 5)) | {"document_id": 7})
    write(tmp_path, "algorithm/7.json", spans((0, 5)))
    solution = metric.read_solution(tmp_path / "experts")
    assert list(solution) == ["document_id", "markups"]
    assert metric.read_documents(tmp_path / "algorithm")["markup"].isna().all()
    assert metric.score(solution, metric.read_submission(tmp_path / "algorithm"), "document_id") == 1
    assert metric.read_submission(tmp_path / "algorithm" / "7.json")["document_id"].tolist() == ["7"]


def test_an_essay_file(tmp_path: Path) -> None:
    markups = [
        {
            "id": name,
            "isExpert": name != "alg",
            "criteria": {},
            "selections": [{"startSelection": 0, "endSelection": 5}],
        }
        for name in ("e1", "e2", "alg")
    ]
    write(
        tmp_path,
        "x.json",
        {"essay": {"id": "h", "meta": {"subject": "rus"}, "text": "x" * 9, "markups": markups}},
    )
    assert metric.read_solution(tmp_path)["document_id"].tolist() == ["h"]
    assert metric.score(metric.read_solution(tmp_path), metric.read_submission(tmp_path), "document_id") == 1


FILE_FAULTS = {
    "not JSON": ("{", "a.json: not JSON: Expecting property name enclosed in double quotes at character 2."),
    "empty": ("", "a.json: missing."),
    "no object": ([1], "a.json: the file is a list instead of an object."),
    "no markup": (
        {"text": "x"},
        "a.json: expected a document with markups, an essay, or a markup with elements or selections.",
    ),
    "essay": ({"essay": 5}, "a.json: essay is 5 instead of an object."),
    "meta": ({"meta": 5, "elements": []}, "a.json: meta is 5 instead of an object."),
    "text": ({"text": 5, "elements": []}, "a.json: text is 5 instead of text."),
    "markups": ({"markups": {}}, "a.json: the file: markups is an object instead of a list."),
    "a markup": ({"markups": [5]}, "a.json: a markup is 5 instead of an object."),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), FILE_FAULTS.values(), ids=FILE_FAULTS)
def test_bad_files(tmp_path: Path, content: Any, message: str) -> None:
    write(tmp_path, "a.json", content)
    for read, error in (
        (metric.read_solution, metric.HostVisibleError),
        (metric.read_documents, metric.HostVisibleError),
        (metric.read_submission, metric.ParticipantVisibleError),
    ):
        with pytest.raises(error) as raised:
            read(tmp_path)
        assert str(raised.value) == message


def test_bad_folders(tmp_path: Path) -> None:
    def message(read: Any, error: Any) -> str:
        with pytest.raises(error) as raised:
            read(tmp_path)
        return str(raised.value)

    participant = metric.read_submission, metric.ParticipantVisibleError
    assert message(*participant) == f"{tmp_path} has no file *.json."
    (tmp_path / "b.json").write_bytes(b"\xff")
    assert message(*participant) == "b.json is not UTF-8 text."
    (tmp_path / "b.json").unlink()
    (tmp_path / "b.json").mkdir()
    assert message(*participant).startswith("b.json cannot be read: ")
    (tmp_path / "b.json").rmdir()
    write(tmp_path, "b.json", {"id": "d", "text": "x", "markup": spans((0, 1))})
    write(tmp_path, "c.json", {"id": "d", "text": "x", "markup": spans((0, 1))})
    assert message(*participant) == "document 'd' has 2 algorithm's markups."
    write(tmp_path, "c.json", {"id": "d", "text": "y", "markups": []})
    assert message(*participant) == "document 'd' has different texts in different files."
    write(tmp_path, "c.json", {"id": "e", "text": "y", "markups": [], "markup": None})
    assert message(*participant) == "1 document without an algorithm's markup: 'e'."


def command_line(*arguments: object) -> int:
    return run(evaluate_tool.main, ["--metric", str(FILE), *map(str, arguments)])


def test_the_command_line_on_samples(evaluated: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(data.SAMPLES / "solution.csv", data.SAMPLES / "submission.csv") == 0
    assert capsys.readouterr().out.startswith(f"Score    {evaluated.score:.6f}\n")
    folder = data.SAMPLES / "documents"
    assert command_line(folder, folder, "--set", "measure=ama") == 0
    assert capsys.readouterr().out.startswith(f"Score    {evaluated.ama:.6f}\n")


def test_the_command_line_as_a_program(evaluated: Any) -> None:
    paths = [
        ROOT / "evaluate.py",
        "--metric",
        FILE,
        data.SAMPLES / "solution.csv",
        data.SAMPLES / "submission.csv",
    ]
    command = [sys.executable, "-W", "error", *map(str, paths), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert report["score"] == evaluated.score
    assert report["warnings"] == evaluated.notices


def test_the_command_line_on_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solution, submission = data.SAMPLES / "solution.csv", data.SAMPLES / "submission.csv"
    sample_frames()[1].assign(markup="{").to_csv(tmp_path / "bad.csv", index=False)
    assert command_line(solution, tmp_path / "bad.csv") == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: markup is wrong in 12 rows of the submission: document_id essay-01 (")
    write(tmp_path, "a.json", "{")
    assert command_line(solution, tmp_path / "a.json") == 3
    assert command_line(tmp_path / "a.json", submission) == 4
    assert command_line(solution, submission, "--set", "measure=x") == 4
    assert command_line(solution, tmp_path / "none") == 2


@pytest.mark.skipif(not ESSAYS.is_dir(), reason="the reference essays are not there")
def test_reference_essays(tmp_path: Path) -> None:
    """The competition's essay files are read; identical markups agree completely."""
    for path in ESSAYS.glob("h*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    result = metric.evaluate(metric.read_solution(tmp_path), metric.read_submission(tmp_path), "document_id")
    documents = result.documents.set_index("document_id")
    assert len(documents) == 16
    assert documents.loc[["h02", "h02b", "h03"], ["ama", "ema", "rma"]].to_numpy().tolist() == [[1.0] * 3] * 3
    assert documents.loc["h04", "ama"] == 0
    assert (documents["experts"] == 1).sum() == 1


# ---------------------------------------------------------------------------------------------
# The hosted file
# ---------------------------------------------------------------------------------------------


def test_doctests() -> None:
    outcome = doctest.testmod(metric_file.load(FILE))
    assert outcome.attempted > 20
    assert outcome.failed == 0


def test_the_contract() -> None:
    parameters = list(inspect.signature(metric.score).parameters.values())
    assert [parameter.name for parameter in parameters[:3]] == ["solution", "submission", "row_id_column_name"]
    assert parameters[2].default is inspect.Parameter.empty
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in parameters)
    assert len(inspect.getdoc(metric.score) or "") < 8_000
    assert {metric.ParticipantVisibleError.__name__, metric.HostVisibleError.__name__} <= set(metric.__all__)
    assert all(hasattr(metric, name) for name in metric.__all__)


def test_safe_as_a_notebook_cell() -> None:
    namespace = {"__name__": "__main__"}
    exec(compile(FILE.read_text(encoding="utf-8"), "cell", "exec"), namespace)
    score: Any = namespace["score"]
    assert score(*sample_frames(), "document_id") == metric.score(*sample_frames(), "document_id")
