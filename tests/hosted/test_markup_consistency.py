"""metrics/markup_consistency computes the paper's formulas and answers open questions as decided.

Properties and bad input are tested as well.
"""

import gc
import itertools
import json
import math
import random
import sys
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from podium import hosted
from tests.support import markup_consistency_data as data
from tests.support.examples import examples, some
from tests.support.markup_consistency_transcription import (
    Transcription,
    corpus,
    elements_may,
    every_accordance,
    fragments_may,
    overtexts_may,
)
from tests.support.markups import Evaluated, bad_submissions, shuffled

consistency = hosted.module("markup_consistency", "companion").consistency

metric = hosted.module("markup_consistency")


def evaluate(solution: pd.DataFrame, submission: pd.DataFrame, *more: Any, **parameters: Any) -> Any:
    """Score and explain markups with this metric."""
    return Evaluated("markup_consistency", solution, submission, *more, **parameters)


def overtext(comment: str, *tags: str) -> dict[str, Any]:
    """A comment with its tags."""
    return {"comment": comment, "tags": list(tags)}


def fragment(start: int, end: int, tags: str = "", *overtexts: dict[str, Any]) -> dict[str, Any]:
    """A fragment from one character to another."""
    return {"start": start, "end": end, "tags": list(tags), "overtexts": list(overtexts)}


def element(tags: str, *fragments: dict[str, Any], overtexts: Any = ()) -> dict[str, Any]:
    """An element with these fragments; each letter of the tags is one tag."""
    return {"tags": list(tags), "fragments": list(fragments), "overtexts": list(overtexts)}


def markup(*elements: dict[str, Any]) -> dict[str, Any]:
    """A markup with these elements."""
    return {"elements": list(elements)}


def spans(*ends: tuple[int, int], tags: str = "") -> dict[str, Any]:
    """A markup with one element that has these fragments."""
    return markup(element("", *(fragment(start, end, tags) for start, end in ends)))


def solution_of(*documents: list[dict[str, Any]], text: str | None = None) -> pd.DataFrame:
    """A solution of documents, each with the markups of its experts."""
    frame = pd.DataFrame(
        {
            "document_id": [f"d{number}" for number in range(len(documents))],
            "markups": [json.dumps(experts) for experts in documents],
        }
    )
    return frame if text is None else frame.assign(text=text)


def submission_of(*markups: dict[str, Any]) -> pd.DataFrame:
    """A submission with a markup of each document."""
    return pd.DataFrame(
        {
            "document_id": [f"d{number}" for number in range(len(markups))],
            "markup": [json.dumps(value) for value in markups],
        }
    )


# ---- Worked examples of the specification -------------------------------------------------------------


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
    result = consistency(FIRST, SECOND)
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
    """Every number of the first pair was computed on paper."""
    pair = consistency(FIRST, SECOND).pairs[0]
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
    result = consistency(FIRST, SECOND, accordance="exact")
    assert [(pair.first, pair.second) for pair in result.pairs] == [(1, 1)]
    assert result.accordance == pytest.approx(0.4, abs=1e-12)
    assert result.total == pytest.approx(0.807407, abs=5e-7)


def test_ama_ema_rma_example() -> None:
    """The specification's two documents, beginning with the consistencies of their pairs."""
    ama, ema, rma = metric.average_accuracies(np.array([0.7 + 0.4, 2, 0.7 + 0.4, 0.7 + 0.5, 2]))
    assert [*ama, ema] == pytest.approx([0.55, 0.6], abs=1e-12)
    assert rma == pytest.approx(0.916667, abs=5e-7)


def test_ama_ema_rma_from_markups() -> None:
    """Only one criterion has a weight, so that C is the share of common characters."""
    algorithm = spans((0, 10))
    documents = [
        [spans((4, 14)), spans((2, 12)), spans((3, 13))],  # .6 .8 .7 with the algorithm; .8 .9 .9
        [spans((5, 15)), spans((7, 17))],  # .5 .3; .8
    ]
    only_texts = "accordance=0,fragments=0,fragment_text_union=1"
    result = evaluate(solution_of(*documents), submission_of(algorithm, algorithm), weights=only_texts)
    assert result.ama == pytest.approx((0.7 + 0.4) / 2)
    assert result.ema == pytest.approx(((0.8 + 0.9 + 0.9) / 3 + 0.8) / 2)
    assert result.rma == result.score == pytest.approx(result.ama / result.ema)
    assert result.documents["ama"].tolist() == pytest.approx([0.7, 0.4])
    assert result.documents["rma"].tolist() == pytest.approx([0.7 / (2.6 / 3), 0.5])
    assert result.pairs.loc[result.pairs["markup"] == "algorithm", "total"].tolist() == pytest.approx(
        [0.6, 0.8, 0.7, 0.5, 0.3]
    )


# ---- Settled questions --------------------------------------------------------------------------------


def test_sum_prefers_two_good_pairs_to_the_best_one() -> None:
    """[0, 10) fits [2, 12) best. But then [8, 18) and [0, 4) have no partner."""
    result = consistency(spans((0, 10), (8, 18)), spans((2, 12), (0, 4)))
    assert [(pair.first, pair.second) for pair in result.pairs[0].fragments] == [(0, 1), (1, 0)]


def test_equal_sums_are_settled_by_more_pairs() -> None:
    """(0, 0) is worth 1, (0, 1) is worth 1/3 and (1, 0) is worth 2/3. So one pair or two have the same sum,
    up to rounding.
    """
    first, second = spans((0, 8), (0, 4)), spans((0, 8), (6, 10))
    texts = {"fragments.tags": 0, "fragments.overtexts": 0}
    result = consistency(first, second, texts)
    assert [(pair.first, pair.second) for pair in result.pairs[0].fragments] == [(0, 1), (1, 0)]
    assert [pair.consistency for pair in result.pairs[0].fragments] == pytest.approx([1 / 3, 2 / 3])
    places = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 2]])
    for noise, chosen in ((0.0, False), (1e-12, False), (-1e-12, False), (1e-8, True)):
        worth = np.array([1 + noise, 1 / 3, 2 / 3])
        criteria = dict.fromkeys(metric.PARTS["fragments"][1:], worth)
        rules = metric.Rules(dict.fromkeys(metric.CRITERIA[1:], 1.0), "sum")
        level = metric.level_of("fragments", np.array([4]), places, criteria, rules)
        assert level.partners[:, 3].tolist() == ([0] if chosen else [1, 2])


def test_inner_levels_first_is_no_joint_optimum_for_sums() -> None:
    """Two poor pairs of fragments have the same sum as one good pair, but only half of its average."""
    first, second = spans((0, 8), (0, 4)), spans((0, 8), (6, 10))
    weights = {"fragments.accordance": 0, "fragments.tags": 0, "fragments.overtexts": 0}
    transcription = Transcription(fractions(weights))
    better = transcription.criteria(first, second, [(0, 0, [], [(0, 0, [])])])["total"]
    assert consistency(first, second, weights).total < float(better)
    assert consistency(first, second, weights, "exact").total == pytest.approx(float(better))


def test_exact_prefers_more_pairs_among_equal_averages() -> None:
    weights = {"fragments.accordance": 0}
    result = consistency(spans((0, 4), (10, 14)), spans((0, 4), (10, 14)), weights, "exact")
    assert len(result.pairs[0].fragments) == 2


def test_elements_without_common_text_are_not_paired() -> None:
    ours, theirs = markup(element("a", fragment(0, 5))), markup(element("a", fragment(5, 9)))
    result = consistency(ours, theirs)
    assert (result.pairs, result.total, result.accordance) == ([], 0.0, 0.0)


def test_elements_without_fragments_are_paired_whatever_their_tags() -> None:
    result = consistency(markup(element("a")), markup(element("b")))
    assert (result.accordance, result.tags, result.fragments, result.fragment_text_union) == (1, 0, 1, 1)


def test_an_element_without_fragments_is_not_paired_with_one_with_fragments() -> None:
    assert consistency(markup(element("a")), markup(element("a", fragment(0, 5)))).total == 0


@pytest.mark.parametrize(("start", "paired"), [(5, True), (6, False)])
def test_empty_fragments_match_only_the_same_empty_fragment(start: int, paired: bool) -> None:
    result = consistency(spans((5, 5)), spans((start, start)))
    assert result.total == (1.0 if paired else 0.0)


def test_a_common_empty_fragment_is_enough_for_partners() -> None:
    """One element covers no text at all, the other does; an empty fragment is in both."""
    assert consistency(spans((5, 5)), spans((5, 5), (10, 12))).accordance == 1
    assert consistency(spans((5, 5)), spans((6, 6), (10, 12))).accordance == 0


def test_an_empty_fragment_within_another_has_nothing_in_common() -> None:
    assert consistency(spans((5, 5)), spans((0, 10))).total == 0


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
    result = consistency(markup(element("", overtexts=[ours])), markup(element("", overtexts=[theirs])))
    assert result.parts["overtexts.accordance"] == float(paired)
    assert len(result.pairs[0].overtexts) == paired


def test_both_empty_is_one_and_one_empty_is_zero() -> None:
    both, one = consistency(markup(), markup()), consistency(markup(), FIRST)
    assert set(numbers(both).values()) == {1.0}
    assert set(numbers(one).values()) == {0.0}


def test_no_pair_makes_every_criterion_zero() -> None:
    result = consistency(spans((0, 5)), spans((5, 9)))
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
    assert metric.bag_of_words(comment, str) == frozenset(words)


def test_a_bag_counts_repetitions() -> None:
    ours = markup(element("", overtexts=[overtext("no no no")]))
    theirs = markup(element("", overtexts=[overtext("no")]))
    assert consistency(ours, theirs).parts["overtexts.texts"] == 2 / 4


def test_tags_are_compared_as_they_are_and_repeated_ones_are_one() -> None:
    ours = markup({"tags": ["a", "a", "A"]})
    assert consistency(ours, markup({"tags": ["a"]})).tags == 2 / 3


def test_equal_objects_are_different_objects() -> None:
    twice, once = spans((0, 5), (0, 5)), spans((0, 5))
    assert consistency(twice, once).parts["fragments.accordance"] == 2 / 3


def test_text_union_merges_intervals() -> None:
    assert consistency(spans((0, 6), (4, 10)), spans((0, 10))).fragment_text_union == 1


def test_tag_union_is_of_the_fragments_not_of_the_element() -> None:
    ours, theirs = markup(element("a", fragment(0, 5, "p"))), markup(element("a", fragment(0, 5, "q")))
    assert consistency(ours, theirs).fragment_tag_union == 0


def test_explicit_weights() -> None:
    result = consistency(FIRST, SECOND, {"accordance": 3, "overtexts": 0, "fragments.texts": 2})
    fragments = [(1 + 2 * 0.625 + 5 / 6 + 29 / 30) / 5, (1 + 2 * 8 / 9 + 2 / 3 + 1) / 5]
    assert result.fragments == pytest.approx(sum(fragments) / 2)
    criteria = 3 * 0.8 + 5 / 6 + result.fragments + 0.75 + 11 / 15
    assert result.total == pytest.approx(criteria / 7)


def test_only_the_accordance_counts_where_all_else_has_no_weight() -> None:
    weights = {"fragments.texts": 0, "fragments.tags": 0, "fragments.overtexts": 0}
    result = consistency(spans((0, 5), (5, 9)), spans((0, 9), (4, 6)), weights)
    assert result.fragments == result.parts["fragments.accordance"] == 1
    assert [pair.consistency for pair in result.pairs[0].fragments] == [0, 0]


def test_measures_of_one_criterion() -> None:
    experts, submission = solution_of([FIRST, SECOND]), submission_of(FIRST)
    result = evaluate(experts, submission, "consistency", "fragments.texts")
    other = consistency(FIRST, SECOND).parts["fragments.texts"]
    assert result.score == pytest.approx((1 + other) / 2)
    ama = metric.score(experts, submission, "document_id", "ama")
    assert ama == result.ama


def test_ama_is_defined_with_one_expert_each() -> None:
    result = evaluate(solution_of([FIRST]), submission_of(FIRST), "ama")
    assert result.score == 1
    assert np.isnan([result.ema, result.rma]).all()


@pytest.mark.parametrize(
    "lemmatizer", ["pymorphy3", pytest.param("simplemma:ru", marks=pytest.mark.slow), "simplemma:en"]
)
def test_lemmatizers(lemmatizer: str) -> None:
    pytest.importorskip(lemmatizer.partition(":")[0])
    words = (
        ("The CATS sat", "the cat sits") if lemmatizer.endswith("en") else ("Мама МЫЛА рамы", "мама мыть рама")
    )
    ours, theirs = (markup(element("", overtexts=[overtext(text)])) for text in words)
    plain, lemmas = consistency(ours, theirs), consistency(ours, theirs, lemmatizer=lemmatizer)
    assert plain.parts["overtexts.texts"] < lemmas.parts["overtexts.texts"]
    solution, submission = solution_of([ours, ours]), submission_of(theirs)
    by_lemmas = metric.score(solution, submission, "document_id", lemmatizer=lemmatizer)
    assert metric.score(solution, submission, "document_id") < by_lemmas


def test_a_lemma_is_taken_in_lower_case_and_without_ё(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    def lemmatize(word: str, lang: str) -> str:
        told.append((word, lang))
        return {"mice": "MOUSE", "ёлки": "Ёлка"}.get(word, word)

    monkeypatch.setitem(sys.modules, "simplemma", SimpleNamespace(lemmatize=lemmatize))
    metric.lemmatizer_of.cache_clear()
    lemmatize = metric.lemmatizer_of("simplemma:xx")
    assert metric.bag_of_words("Mice, Ёлки", lemmatize) == frozenset({("mouse", 0), ("елка", 0)})
    assert told[1:] == [("mice", "xx"), ("ёлки", "xx")]
    metric.lemmatizer_of.cache_clear()


@pytest.mark.parametrize("name", ["pymorphy3", "simplemma:ru"])
def test_a_lemmatizer_that_is_not_installed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name.partition(":")[0], None)
    metric.lemmatizer_of.cache_clear()
    with pytest.raises(
        metric.HostVisibleError, match=f"^lemmatizer: expected one that is installed, found '{name}'"
    ):
        metric.score(SOLUTION, SUBMISSION, "document_id", lemmatizer=name)
    metric.lemmatizer_of.cache_clear()


def test_nothing_is_imported_for_no_lemmatizer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("simplemma", "pymorphy3"):
        monkeypatch.setitem(sys.modules, name, None)
    assert metric.lemmatizer_of("none")("words") == "words"


def test_criteria_of_what_no_expert_left_have_no_weight() -> None:
    """The paper did so with the model's overtexts, because annotators left none."""
    experts = [spans((0, 10), tags="p"), spans((0, 10), tags="p")]
    algorithm = markup(element("x", fragment(0, 10, "p", overtext("why")), overtexts=[overtext("how")]))
    result = evaluate(solution_of(experts), submission_of(algorithm))
    assert result.score == 1.0
    holders = ("overtexts", "fragments.overtexts")
    names = {f"{holder}{part}" for holder in holders for part in ("", ".texts", ".tags")}
    assert {name for name, weight in result.prepared.rules.weights.items() if weight == 0} == {"tags", *names}
    weighed = evaluate(solution_of(experts), submission_of(algorithm), weights="overtexts=1, tags=0.5")
    assert weighed.score < 1
    assert weighed.prepared.rules.weights["tags"] == 0.5


def test_documents_with_too_few_experts_are_left_out() -> None:
    experts = [spans((0, 10)), spans((5, 15))]
    solution = solution_of(experts, experts[:1], [])
    result = evaluate(solution, submission_of(experts[0], experts[1], experts[0]))
    absent = ("tags", "overtexts", "fragments.tags", "fragments.overtexts", "fragment_tag_union")
    c = consistency(*experts, dict.fromkeys(absent, 0)).total
    assert result.ama == pytest.approx(((1 + c) / 2 + c) / 2)
    assert result.ema == pytest.approx(c)
    assert result.rma == pytest.approx((1 + c) / 2 / c)


def readable(*selections: tuple[int, int, str, str], **more: str) -> dict[str, Any]:
    """A markup of READ//ABLE in which every selection has a comment and an explanation."""
    names = ("startSelection", "endSelection", "type", "subtype")
    notes = {"comment": "why", "explanation": "because", "correction": "fixed"}
    return {
        "criteria": {"K1": 1},
        "selections": [dict(zip(names, values)) | notes | more for values in selections],
    }


def test_a_readable_markup_is_one_element_of_its_selections() -> None:
    ours = readable((0, 5, "Г.упр", " ВИД"), (7, 9, "ПРОБЛЕМА", ""))
    fragments = [{"start": 0, "end": 5, "tags": ["г.упр", "вид"]}, {"start": 7, "end": 9, "tags": ["проблема"]}]
    result = consistency(ours, {"elements": [{"fragments": fragments}]})
    assert set(numbers(result).values()) == {1.0}
    assert consistency({"selections": []}, markup()).total == 1
    absent = {"startSelection": 0, "endSelection": 5, "type": "й", "subtype": None}
    assert consistency({"selections": [absent]}, readable((0, 5, "и\u0306", ""))).total == 1


def test_notes_of_readable_markups_do_not_count() -> None:
    """The paper left them out. With them, any two notes with equal tags would become partners."""
    experts = [readable((0, 5, "a", "")), readable((0, 9, "a", ""))]
    solution = solution_of(experts)
    scores = {
        metric.score(solution, submission_of(readable((2, 9, "a", ""), explanation=text)), "document_id")
        for text in ("", "zzz", "because")
    }
    assert len(scores) == 1


def test_the_accordance_of_readable_markups_has_no_weight() -> None:
    experts = [readable((0, 5, "a", "")), readable((0, 9, "a", ""))]
    algorithm = readable((2, 9, "b", ""))
    result = evaluate(solution_of(experts), submission_of(algorithm))
    assert result.prepared.rules.weights["accordance"] == 0
    assert result.score == metric.score(
        solution_of(experts), submission_of(algorithm), "document_id", weights="accordance=0"
    )
    weighed = evaluate(solution_of(experts), submission_of(algorithm), weights="accordance=1")
    assert weighed.prepared.rules.weights["accordance"] == 1
    general = [markup(element("", fragment(0, 5, "a"))), experts[1]]
    mixed = evaluate(solution_of(general), submission_of(spans((0, 5))))
    assert mixed.prepared.rules.weights["accordance"] == 1
    assert metric.prepare(solution_of([readable()] * 2), "document_id").rules.weights["accordance"] == 1


def test_among_readable_markups_a_submission_must_be_one() -> None:
    """Otherwise each of its elements would be another answer, of which the best would count."""
    solution = solution_of([readable((0, 5, "a", "")), readable((0, 9, "a", ""))])
    with pytest.raises(metric.ParticipantVisibleError) as error:
        metric.score(solution, submission_of(spans((0, 5))), "document_id")
    assert str(error.value) == (
        'markup: expected a markup in JSON, such as {"selections": []}. Wrong in 1 row of the submission: '
        "document_id d0 (the markup has no selections)"
    )


# ---- Against the literal transcription ----------------------------------------------------------------


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
    """Weights as exact fractions."""
    return {name: Fraction(weight) for name, weight in weights.items()}


def accordance_of(pairs: list[Any]) -> list[Any]:
    """Convert a metric's pairs into the form that the transcription takes."""

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
    """Check that the accordance is as good as the best of all on every level, and gives exactly these
    criteria.
    """
    transcription = Transcription(fractions(weights), kind)
    result = consistency(first, second, weights, kind)
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


@examples(60)
@given(MARKUPS, MARKUPS, WEIGHTS, KINDS)
def test_against_the_transcription(first: Any, second: Any, weights: dict[str, int], kind: str) -> None:
    check(first, second, weights, kind)


def crowded(rng: random.Random, fragments: int, last: int = 20) -> dict[str, Any]:
    """A markup with one element whose fragments nearly all overlap, so that any two may be partners."""
    middle = last // 2
    ends = [(rng.randrange(middle), rng.randrange(middle, last)) for _ in range(fragments)]
    return markup(element("", *(fragment(start, end, rng.choice("ab")) for start, end in ends)))


@pytest.mark.parametrize("kind", ["sum", "exact"])
def test_accordance_against_every_accordance(kind: str) -> None:
    """In one kind of pairs all fragments are candidates, in the other all elements are."""
    rng = random.Random(7)
    assert len(list(every_accordance(list(itertools.product(range(3), range(3)))))) == 34
    for number in range(some(300)):
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


def every_joint_accordance(first: Any, second: Any) -> Iterator[list[Any]]:
    """List every accordance of elements, their fragments and their overtexts, in the transcription's form."""

    def candidates(ours: list[Any], theirs: list[Any], may: Any) -> list[tuple[int, int]]:
        return [(i, j) for i, a in enumerate(ours) for j, b in enumerate(theirs) if may(a, b)]

    def within(a: dict[str, Any], b: dict[str, Any]) -> list[tuple[Any, Any]]:
        notes = candidates(a["overtexts"], b["overtexts"], overtexts_may)
        inner = candidates(a["fragments"], b["fragments"], fragments_may)
        return list(
            itertools.product(
                every_accordance(notes), ([(i, j, []) for i, j in chosen] for chosen in every_accordance(inner))
            )
        )

    ours, theirs = first["elements"], second["elements"]
    for chosen in every_accordance(candidates(ours, theirs, elements_may)):
        parts = [within(ours[i], theirs[j]) for i, j in chosen]
        for choice in itertools.product(*parts):
            yield [(i, j, list(notes), list(inner)) for (i, j), (notes, inner) in zip(chosen, choice)]


def test_inner_levels_first_is_the_joint_optimum_for_averages() -> None:
    """With "exact", no accordance of all levels together has a larger C."""
    rng = random.Random(5)

    def small() -> dict[str, Any]:
        def one() -> dict[str, Any]:
            notes = [overtext(rng.choice(["no", "why no"]), rng.choice("xy")) for _ in range(rng.randrange(2))]
            return crowded(rng, rng.randrange(1, 3), 8)["elements"][0] | {"overtexts": notes}

        return markup(*(one() for _ in range(rng.randrange(1, 3))))

    for _ in range(some(60)):
        first, second = small(), small()
        transcription = Transcription({}, "exact")
        best = Fraction(0)
        for accordance in every_joint_accordance(first, second):
            best = max(best, transcription.criteria(first, second, accordance)["total"])
        assert consistency(first, second, accordance="exact").total == pytest.approx(float(best), abs=1e-12)


def test_exact_accordances_of_many_pairs_against_every_size() -> None:
    """Bisection over the sizes finds the same accordance as trying all sizes."""
    rng = np.random.default_rng(2)
    for _ in range(some(200)):
        rows, columns, n = rng.integers(1, 9), rng.integers(1, 9), rng.integers(2, 20)
        row, column = np.nonzero(rng.random((rows, columns)) < 0.6)
        if not len(row):
            continue
        row, column = (np.unique(side, return_inverse=True)[1] for side in (row, column))
        worth, share = rng.random(len(row)) ** 3, rng.random()
        chosen = metric.best_average(np.column_stack([row, column]), worth, n, share)
        ours = 2 * share / n * chosen.sum() + (1 - share) * worth[chosen].sum() / chosen.sum()
        if column.max() < row.max():
            row, column = column, row
        sizes = {metric._best_of_size(row, column, worth, q).tobytes() for q in range(1, row.max() + 2)}
        tried = [np.frombuffer(size, dtype=bool) for size in sizes]
        values = [2 * share / n * one.sum() + (1 - share) * worth[one].sum() / one.sum() for one in tried]
        assert ours == pytest.approx(max(values), abs=1e-12)


@examples(40)
@given(st.lists(st.tuples(st.lists(MARKUPS, max_size=3), MARKUPS), min_size=1, max_size=3), KINDS)
def test_a_corpus_against_the_transcription(documents: list[tuple[list[Any], Any]], kind: str) -> None:
    expected = corpus(documents, kind)
    solution = solution_of(*(experts for experts, _ in documents))
    submission = submission_of(*(algorithm for _, algorithm in documents))
    measure = "ama" if expected["rma"] is None else "rma"
    if expected["ama"] is None:
        with pytest.raises(metric.HostVisibleError, match="expected a document with markups of an expert"):
            metric.score(solution, submission, "document_id", measure, accordance=kind)
        return
    result = evaluate(solution, submission, measure, accordance=kind)
    values = {"ama": result.ama, "ema": result.ema, "rma": result.rma}
    assert values == pytest.approx(
        {name: math.nan if value is None else float(value) for name, value in expected.items()}, nan_ok=True
    )
    assert result.score == values[measure]
    for (document_id, first, second), total in zip(
        result.pairs[["document_id", "markup", "against"]].itertuples(index=False), result.pairs["total"]
    ):
        experts, algorithm = documents[int(document_id[1:])]
        named = {"algorithm": algorithm} | {f"expert {n}": expert for n, expert in enumerate(experts, 1)}
        weights = result.prepared.rules.weights
        assert total == consistency(named[first], named[second], weights, kind).total


# ---- Properties ---------------------------------------------------------------------------------------


def numbers(result: Any) -> dict[str, float]:
    """The consistency, its criteria and its parts by name."""
    return {name: getattr(result, name) for name in (*metric.PARTS["total"], "total")} | result.parts


def swapped(pairs: list[Any]) -> list[Any]:
    """Pairs of partners with the two sides exchanged."""
    return sorted(
        pair._replace(
            first=pair.second,
            second=pair.first,
            overtexts=swapped(pair.overtexts),
            fragments=swapped(pair.fragments),
        )
        for pair in pairs
    )


@examples(50)
@given(MARKUPS, MARKUPS, KINDS)
def test_symmetric_to_the_last_bit(first: Any, second: Any, kind: str) -> None:
    there = consistency(first, second, accordance=kind)
    back = consistency(second, first, accordance=kind)
    assert numbers(there) == numbers(back)
    # Either of two equal objects of a markup may be the partner; the partners are worth the same.
    assert sorted(pair.consistency for pair in there.pairs) == sorted(pair.consistency for pair in back.pairs)


@pytest.mark.parametrize("kind", ["sum", "exact"])
def test_ties_are_settled_by_contents(kind: str) -> None:
    """Many accordances are equally good but have different criteria. Neither the order nor the exchange of
    sides changes the result.
    """
    rng = random.Random(3)
    markups = [crowded(rng, rng.randrange(1, 7), last=8) for _ in range(some(300))]
    documents = [markups[start : start + 3] for start in range(0, len(markups), 3)]
    ids = [[json.dumps(shuffled(value, rng)) for value in experts] for *experts, _ in documents]
    solution = solution_of(*([] for _ in documents)).assign(markups=[f"[{one}, {two}]" for one, two in ids])
    submission = submission_of(*(shuffled(algorithm, rng) for *_, algorithm in documents))
    result = evaluate(solution, submission, accordance=kind)
    criteria = list(metric.CRITERIA)
    for row in result.pairs.to_dict("records"):
        one, two, algorithm = documents[int(row["document_id"][1:])]
        named = {"algorithm": algorithm, "expert 1": one, "expert 2": two}
        ours, theirs = named[row["markup"]], named[row["against"]]
        for first, second in ((ours, theirs), (theirs, ours)):
            values = numbers(consistency(first, second, result.prepared.rules.weights, kind))
            assert [row[name] for name in criteria] == [values[name] for name in criteria]


def test_the_pairs_are_symmetric() -> None:
    there, back = consistency(FIRST, SECOND), consistency(SECOND, FIRST)
    assert swapped(there.pairs) == sorted(back.pairs)


@examples(50)
@given(MARKUPS, WEIGHTS, KINDS)
@example(FIRST, {"accordance": 44}, "sum")  # of the sum 49, and 49·(1/49) is not 1
def test_a_markup_is_consistent_with_itself(value: Any, weights: dict[str, int], kind: str) -> None:
    result = consistency(value, value, weights, kind)
    assert set(numbers(result).values()) == {1.0}


@examples(50)
@given(MARKUPS, MARKUPS, WEIGHTS, KINDS)
def test_within_zero_and_one(first: Any, second: Any, weights: dict[str, int], kind: str) -> None:
    assert all(0 <= value <= 1 for value in numbers(consistency(first, second, weights, kind)).values())


@examples(50)
@given(MARKUPS, MARKUPS, KINDS, st.randoms(use_true_random=False))
def test_order_within_a_markup_has_no_influence(first: Any, second: Any, kind: str, rng: random.Random) -> None:
    plain = consistency(first, second, accordance=kind)
    mixed = consistency(shuffled(first, rng), shuffled(second, rng), accordance=kind)
    assert numbers(plain) == numbers(mixed)


@examples(15)
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
    plain = evaluate(solution, submission, "ama", accordance=kind)
    other = evaluate(mixed.iloc[rows], submission.sample(frac=1, random_state=1), "ama", accordance=kind)
    assert [*plain.measures.values()] == pytest.approx([*other.measures.values()], abs=0, rel=0, nan_ok=True)
    assert plain.items == other.items


def test_weights_of_one_component_leave_the_others_alone() -> None:
    """A host gives explicit weights for all criteria of a component. They then depend on no table."""
    solution, submission = data.frames(data.samples())
    weights = ",".join(f"{name}={number % 3 + 1}" for number, name in enumerate(metric.CRITERIA[1:]))
    prepared = metric.prepare(solution, "document_id", weights=weights)
    numbers = prepared.statistics(submission)
    rng = np.random.default_rng(2)
    for _ in range(6):
        kept = rng.random(len(prepared.items)) < 0.6
        rows = kept[prepared.item_of_row]
        ids = solution.loc[rows, "document_id"]
        part = metric.prepare(solution[rows], "document_id", weights=weights)
        assert part.items == sorted(ids)
        expected = part.statistics(submission[submission["document_id"].isin(ids)])
        assert numbers[kept].tolist() == expected.tolist()


def test_parts_decide_their_default_weights_for_themselves() -> None:
    """Without the document whose experts left overtexts, overtexts have no weight."""
    solution = solution_of([FIRST, SECOND], [spans((0, 10)), spans((5, 15))])
    whole, part = (metric.prepare(frame, "document_id").rules.weights for frame in (solution, solution.tail(1)))
    assert (whole["overtexts"], part["overtexts"]) == (1, 0)


def test_cost_is_that_of_what_overlaps() -> None:
    """There are 1,999 spans, apart or each in its own element. Only overlapping ones are candidates."""
    apart = [(10 * number, 10 * number + 5) for number in range(1999)]
    together, many = spans(*apart), markup(*(element("", fragment(*span)) for span in apart[:999]))
    for value, number in ((together, 1999), (many, 999)):
        one = metric.read_markup(value, None)
        rules = metric.Rules(dict.fromkeys(metric.CRITERIA[1:], 1.0), "sum")
        side, _, levels = metric.consistency([(one, one)], rules)
        spans_of_all = side.spans
        assert metric.overlapping(spans_of_all, spans_of_all).tolist() == [[n, n] for n in range(number)]
        assert len(levels["total"].partners) == len(one.elements)
        assert levels["total"].averages["total"].tolist() == [1.0]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 9)), min_size=1, max_size=9))
@examples(200)
def test_the_largest_sum_by_trying_all(candidates: list[tuple[int, int, int]]) -> None:
    """This includes candidates from several components whose objects are mixed."""
    worth = {(7 * i % 6, 5 * k % 6): value for i, k, value in candidates}
    ends, values = np.array(list(worth)), np.array([float(value) for value in worth.values()])
    chosen = metric.best_sum(ends, values)
    sums = [
        sum(worth[pair] for pair in subset)
        for number in range(len(worth) + 1)
        for subset in itertools.combinations(worth, number)
        if all(len(set(side)) == number for side in zip(*subset))
    ]
    assert values[chosen].sum() == max(sums)
    assert all(len(set(side)) == chosen.sum() for side in ends[chosen].T.tolist())


SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=5)


@given(st.lists(SPANS, min_size=1, max_size=3), st.lists(SPANS, min_size=1, max_size=3))
@examples(200)
def test_unions_are_those_of_sets_of_characters(ours: Any, theirs: Any) -> None:
    """The elements have fragments that overlap, touch, contain each other or are empty."""
    values = [
        markup(*(element("", *(fragment(start, start + length) for start, length in each)) for each in side))
        for side in (ours, theirs)
    ]
    markups = [metric.read_markup(value, None) for value in values]
    rules = metric.Rules(dict.fromkeys(metric.CRITERIA[1:], 1.0), "sum")
    *sides, levels = metric.consistency([(markups[0], markups[1])], rules)
    union_of_pair = levels["total"].criteria["fragment_text_union"].tolist()
    for (_, i, k, _), union in zip(levels["total"].partners.tolist(), union_of_pair):
        one, other = (
            {character for item in side.elements[index].fragments for character in range(*item.content[:2])}
            for side, index in zip(sides, (i, k))
        )
        total = len(one) + len(other)
        assert union == (2 * len(one & other) / total if total else 1)


@pytest.mark.parametrize("rows", [550, 600])
def test_large_assignments_are_as_good_as_plain_ones(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(rows)
    row, column = np.nonzero(rng.random((rows, 575)) < 0.9)
    worth = rng.random(len(row)).round(2)
    places = np.column_stack([row, column])
    chosen = metric.best_sum(places, worth + metric.TIE)
    monkeypatch.setattr(metric, "LARGE", 1000)
    plain = metric.best_sum(places, worth + metric.TIE)
    assert chosen.sum() == plain.sum() == min(rows, 575)
    assert worth[chosen].sum() == pytest.approx(worth[plain].sum())
    assert len(np.unique(row[chosen])) == len(np.unique(column[chosen])) == chosen.sum()


@pytest.mark.slow
def test_two_thousand_nested_fragments() -> None:
    """Four million pairs overlap. This takes seconds, but would take minutes as an assignment problem
    without structure.
    """
    ours, theirs = (
        spans(*((number + shift, 10_000 - number) for number in range(1999)), tags="a") for shift in (0, 1)
    )
    result = metric.score(solution_of([ours]), submission_of(theirs), "document_id", "ama")
    assert 0.99 < result < 1


# ---- Frames and measures ------------------------------------------------------------------------------


def test_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    result = evaluate(*data.frames(data.samples()))
    assert list(result.measures)[:4] == ["score", "AMA", "EMA", "RMA"]
    assert list(result.measures)[4:] == list(metric.CRITERIA)[1:]
    assert result.score == result.rma
    without_experts = np.array([item == "essay-06" for item in result.items])
    assert np.isnan(result.prepared.measures(result.numbers[without_experts].sum(axis=0)[np.newaxis])).all()


def test_progress_is_told_and_complete() -> None:
    in_prepare: list[tuple[int, int]] = []
    in_statistics: list[tuple[int, int]] = []
    solution, submission = data.corpus(12, experts=3)
    untold = metric.prepare(solution, "document_id").statistics(submission)
    prepared = metric.prepare(solution, "document_id", progress=lambda *numbers: in_prepare.append(numbers))
    told = prepared.statistics(submission, progress=lambda *numbers: in_statistics.append(numbers))
    assert told.tolist() == untold.tolist()
    assert in_prepare == in_statistics == [(done, 12) for done in range(1, 13)]


@pytest.mark.parametrize("is_collecting", [True, False])
def test_the_garbage_collector_is_as_it_was(is_collecting: bool) -> None:
    """This holds after an error, too."""
    frames = data.corpus(2)
    was_collecting = gc.isenabled()
    (gc.enable if is_collecting else gc.disable)()
    try:
        metric.score(*frames, "document_id")
        with pytest.raises(metric.ParticipantVisibleError):
            metric.score(frames[0], frames[1].assign(markup="{"), "document_id")
        assert gc.isenabled() == is_collecting
    finally:
        (gc.enable if was_collecting else gc.disable)()


def test_ids_are_compared_as_text() -> None:
    solution = solution_of([FIRST, SECOND], [FIRST, FIRST])
    submission = submission_of(FIRST, SECOND)
    expected = metric.score(solution, submission, "document_id")
    for ids in ([1, 2], [1.0, 2.0], ["1", "2"]):
        for other in ([1, 2], [1.0, 2.0], ["1", "2"]):
            ours, theirs = solution.assign(document_id=ids), submission.assign(document_id=other)
            assert metric.score(ours, theirs, "document_id") == expected


# ---- Bad input ----------------------------------------------------------------------------------------


GOOD = json.dumps(spans((0, 5), (2, 9)))
SOLUTION = pd.DataFrame(
    {"document_id": ["a", "b"], "markups": [f"[{GOOD}, {GOOD}]", f"[{GOOD}, {GOOD}]"], "text": ["x" * 20] * 2}
)
SUBMISSION = pd.DataFrame({"document_id": ["a", "b"], "markup": [GOOD, GOOD]})


def one_fragment(text: str) -> str:
    """The text of a markup whose only fragment is this text."""
    return f'{{"elements": [{{"fragments": [{text}]}}]}}'


CELLS = {
    "": "missing",
    "  ": "missing",
    "{": "not JSON: Expecting property name enclosed in double quotes at character 2",
    '{"elements": []} x': "not JSON: Extra data at character 18",
    "[" * 100_000: "not a markup: nested too deeply",
    one_fragment('{"start": NaN, "end": 5}'): "not JSON: NaN is not a number",
    one_fragment(f'{{"start": {"1" * 5000}, "end": 5}}'): "not JSON: Exceeds the limit",
    one_fragment(f'{{"start": 0, "end": {"1" * 50}}}'): "element 1: fragment 1: end is above 1,000,000,000",
    "[]": "a list instead of an object",
    "null": "missing instead of an object",
    '"{}"': "'{}' instead of an object",
    "{}": "the markup has no elements",
    '{"elements": {}}': "elements is an object instead of a list",
    '{"elements": [7]}': "element 1: 7 instead of an object",
    '{"elements": [{"tags": "ab"}]}': "element 1: tags is not a list of texts",
    '{"elements": [{"tags": ["a", 1]}]}': "element 1: tags is not a list of texts",
    '{"elements": [{"tags": false}]}': "element 1: tags is not a list of texts",
    '{"elements": [{"overtexts": ["no"]}]}': "element 1: overtext 1: 'no' instead of an object",
    '{"elements": [{"overtexts": [{"comment": 5}]}]}': "element 1: overtext 1: comment is 5 instead of text",
    one_fragment("[0, 5]"): "element 1: fragment 1: a list instead of an object",
    one_fragment('{"start": 0}'): "element 1: fragment 1: end is missing instead of a whole number",
    one_fragment('{"start": "0", "end": 5}'): "element 1: fragment 1: start is '0' instead of a whole number",
    one_fragment('{"start": 0.5, "end": 5}'): "element 1: fragment 1: start is 0.5 instead of a whole number",
    one_fragment('{"start": true, "end": 5}'): "element 1: fragment 1: start is true instead of a whole number",
    one_fragment('{"start": 1e400, "end": 5}'): "element 1: fragment 1: start is inf instead of a whole number",
    one_fragment('{"start": 9, "end": 5}'): "element 1: fragment 1: start 9 is after end 5",
    one_fragment('{"start": -2, "end": 5}'): "element 1: fragment 1: start is negative",
    one_fragment('{"start": 5, "end": 21}'): "element 1: fragment 1: end 21 is beyond the text",
    one_fragment('{"start": 0, "end": 5, "overtexts": [{"tags": [[]]}]}'): (
        "element 1: fragment 1: overtext 1: tags is not a list of texts"
    ),
    '{"elements": [' + ",".join(["{}"] * 2001) + "]}": (
        "2,001 elements, fragments and overtexts, more than 2,000"
    ),
    one_fragment('{"start": 0, "end": 5, "tags": ["' + "x" * 99_999 + '"], "overtexts": [{"comment": "'
                 + "y" * 100_002 + '"}]}'): "200,001 characters of tags and comments, more than 200,000",
    '{"selections": [5]}': "selection 1: 5 instead of an object",
    '{"selections": [{"type": 5}]}': "selection 1: type is 5 instead of text",
    '{"selections": [{"type": "x"}]}': "element 1: fragment 1: start is missing instead of a whole number",
}  # fmt: skip


@pytest.mark.parametrize(("cell", "reason"), CELLS.items(), ids=range(len(CELLS)))
def test_bad_markups(cell: str, reason: str) -> None:
    with pytest.raises(metric.ParticipantVisibleError) as ours:
        metric.score(SOLUTION, SUBMISSION.assign(markup=[GOOD, cell]), "document_id")
    expected = (
        'markup: expected a markup in JSON, such as {"elements": [{"fragments": [{"start": 0, "end": 10}]}]}'
    )
    start = f"{expected}. Wrong in 1 row of the submission: document_id b ({reason}"
    assert str(ours.value).startswith(start)
    if reason != "missing" and "nested" not in reason:
        with pytest.raises(metric.HostVisibleError) as theirs:
            metric.score(SOLUTION.assign(markups=[f"[{GOOD}]", f"[{GOOD}, {cell}]"]), SUBMISSION, "document_id")
        message = reason if "JSON" in reason else f"markup 2: {reason}"
        text = str(theirs.value)
        assert text.startswith("markups: expected a list of markups in JSON, such as [{")
        assert "Wrong in 1 row of the solution: document_id b (" in text
        assert message[:60] in text or "not JSON" in text
        assert len(text) <= 280


@pytest.mark.parametrize("cell", [GOOD, "null", "3"])
def test_markups_that_are_no_list(cell: str) -> None:
    with pytest.raises(metric.HostVisibleError, match=r"document_id a \(.* instead of a list of markups\)"):
        metric.score(SOLUTION.assign(markups=[cell, f"[{GOOD}]"]), SUBMISSION, "document_id")


def test_whole_numbers_written_with_a_point_are_whole() -> None:
    cell = one_fragment('{"start": 0.0, "end": 5.0}')
    result = metric.score(SOLUTION, SUBMISSION.assign(markup=cell), "document_id")
    assert result == metric.score(SOLUTION, SUBMISSION.assign(markup=json.dumps(spans((0, 5)))), "document_id")


def test_null_stands_for_what_is_left_out() -> None:
    ours = {
        "elements": [{"tags": None, "overtexts": None, "fragments": [{"start": 0, "end": 5, "tags": None}]}]
    }
    assert consistency(ours, spans((0, 5))).total == 1


def test_long_ids_and_reasons_are_cut() -> None:
    solution = SOLUTION.assign(document_id=["a", "b" * 90])
    cell = json.dumps({"elements": [{"fragments": [{"overtexts": [{"comment": []}], "start": "x" * 99}]}]})
    submission = SUBMISSION.assign(document_id=solution["document_id"], markup=[GOOD, cell])
    with pytest.raises(metric.ParticipantVisibleError) as error:
        metric.score(solution, submission, "document_id")
    assert len(str(error.value)) == 280
    assert str(error.value).endswith("…")


def test_many_bad_rows_are_counted_and_some_shown() -> None:
    solution = pd.DataFrame({"document_id": range(9), "markups": f"[{GOOD}, {GOOD}]"})
    with pytest.raises(metric.ParticipantVisibleError) as error:
        metric.score(solution, pd.DataFrame({"document_id": range(9), "markup": "?"}), "document_id")
    assert "Wrong in 9 rows of the submission: document_id 0 (not JSON" in str(error.value)
    assert str(error.value).endswith(" more")


SUBMISSION_FAULTS = bad_submissions(SUBMISSION) | {
    "missing markup": (
        SUBMISSION.assign(markup=[GOOD, np.nan]),
        'markup: expected a markup in JSON, such as {"elements": [{"fragments": [{"start": 0, "end": 10}]}]}. '
        "Wrong in 1 row of the submission: document_id b (missing)",
    ),
}


@pytest.mark.parametrize(("submission", "message"), SUBMISSION_FAULTS.values(), ids=SUBMISSION_FAULTS)
def test_bad_submissions(submission: pd.DataFrame, message: str) -> None:
    with pytest.raises(metric.ParticipantVisibleError) as error:
        metric.score(SOLUTION, submission, "document_id")
    assert str(error.value) == message


NOTHING = '{"elements": []}'
TWO = "markups: expected a document with markups of two experts, found none"
SOLUTION_FAULTS = {
    "no rows": (SOLUTION.head(0), TWO),
    "no column": (
        SOLUTION.drop(columns="markups"),
        "the solution: expected 1 more column: markups. It has document_id, text",
    ),
    "repeated id": (
        SOLUTION.assign(document_id="a"),
        "document_id: expected every document once. Wrong in 1 row of the solution: document_id a (repeated)",
    ),
    "missing text": (
        SOLUTION.assign(text=["x" * 20, None]),
        "text: expected a value in every row. Wrong in 1 row of the solution: document_id b (missing)",
    ),
    "two texts": (
        pd.concat([SOLUTION, SOLUTION[["text"]]], axis=1),
        "the solution: expected one column text, found 2",
    ),
    "no experts": (SOLUTION.assign(markups="[]"), TWO),
    "one expert each": (SOLUTION.assign(markups=f"[{GOOD}]"), TWO),
    "nothing in common": (
        SOLUTION.assign(markups=f"[{GOOD}, {NOTHING}]"),
        "markups: expected experts that have something in common, found none",
    ),
}


@pytest.mark.parametrize(("solution", "message"), SOLUTION_FAULTS.values(), ids=SOLUTION_FAULTS)
def test_bad_solutions(solution: pd.DataFrame, message: str) -> None:
    with pytest.raises(metric.HostVisibleError) as error:
        metric.prepare(solution, "document_id")
    assert str(error.value) == message


def test_a_measure_of_one_expert_needs_one() -> None:
    with pytest.raises(
        metric.HostVisibleError, match="expected a document with markups of an expert, found none"
    ):
        metric.prepare(SOLUTION.assign(markups="[]"), "document_id", "ama")


PARAMETER_FAULTS = [
    ({"measure": "f1"}, "measure: expected rma, ama, consistency, found 'f1'"),
    ({"accordance": "best"}, "accordance: expected sum, exact, found 'best'"),
    ({"criterion": "words"}, "criterion: expected total, accordance, "),
    ({"criterion": "tags"}, "criterion: expected only with measure 'consistency', found 'rma'"),
    ({"lemmatizer": "x"}, "lemmatizer: expected none, pymorphy3 or simplemma:LANGUAGE, found 'x'"),
    (
        {"lemmatizer": "simplemma"},
        "lemmatizer: expected none, pymorphy3 or simplemma:LANGUAGE, found 'simplemma'",
    ),
    *(
        (
            {"weights": text},
            f"weights: expected NAME=NUMBER, each at least 0 and once, found '{part}'. The names are ",
        )
        for text, part in {
            "tags": "tags",
            "tags=1,tags=2": "tags=2",
            "tags=x": "tags=x",
            "tags=-1": "tags=-1",
            "tags=inf": "tags=inf",
            "tags=nan": "tags=nan",
            "tags=1_0": "tags=1_0",
            "tags=²": "tags=²",
            "total=1": "total=1",
        }.items()
    ),
    (
        {"weights": "overtexts.accordance=0"},
        "weights: expected one above 0 among the parts of overtexts, found none",
    ),
]


@pytest.mark.parametrize(("parameters", "message"), PARAMETER_FAULTS)
def test_bad_parameters(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(metric.HostVisibleError) as error:
        metric.score(SOLUTION, SUBMISSION, "document_id", **parameters)
    assert str(error.value).startswith(message)
    assert len(str(error.value)) <= 280


def test_messages_do_not_depend_on_the_solution() -> None:
    """The same faulty submissions get the same messages with another solution of the same documents."""
    other = SOLUTION.assign(markups=f"[{json.dumps(FIRST)}, {json.dumps(FIRST)}]", text="x" * 200)
    for submission, _ in SUBMISSION_FAULTS.values():
        messages = []
        for solution in (SOLUTION, other):
            with pytest.raises(metric.ParticipantVisibleError) as error:
                metric.score(solution, submission, "document_id")
            messages.append(str(error.value))
        assert messages[0] == messages[1]
