"""metrics/markup_consistency computes the paper's formulas and answers open questions as decided."""

import itertools
import math
import random
import sys
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from podium.metric import hosted
from tests.support.examples import examples, some
from tests.support.markup_consistency_transcription import Transcription, corpus, every_accordance
from tests.support.markups import ELEMENT_MARKUPS, Evaluated, crowded_element, solution_of, submission_of
from tests.support.samples import case_of

consistency = hosted.module("markup_consistency", "companion").consistency

metric = hosted.module("markup_consistency")
evaluate = partial(Evaluated, "markup_consistency")


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
    names = ("accordance", "tags", "overtexts", "fragment_text_union", "fragment_tag_union")
    values = [getattr(result, name) for name in names]
    assert values == pytest.approx([0.8, 5 / 6, 5 / 6, 0.75, 11 / 15], abs=1e-12)
    assert [result.fragments, result.total] == pytest.approx([0.872569, 0.803762], abs=5e-7)
    parts = ("fragments.accordance", "fragments.texts", "fragments.tags", "fragments.overtexts")
    second = [result.pairs[1].criteria[name] for name in parts]
    assert second == pytest.approx([1, 0.888889, 0.666667, 1], abs=5e-7)


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


# ---- Settled questions --------------------------------------------------------------------------------


def notes(comment: str) -> dict[str, Any]:
    """A markup of one element with this comment."""
    return markup(element("", overtexts=[overtext(comment)]))


NULLS = {"elements": [{"tags": None, "overtexts": None, "fragments": [{"start": 0, "end": 5, "tags": None}]}]}
ANSWERS: dict[str, tuple[Any, Any, dict[str, float]]] = {
    "both empty": (markup(), markup(), dict.fromkeys(metric.CRITERIA, 1)),
    "one empty": (markup(), FIRST, dict.fromkeys(metric.CRITERIA, 0)),
    "no pair": (spans((0, 5)), spans((5, 9)), dict.fromkeys(metric.CRITERIA, 0)),
    "equal tags, but no common text": (
        markup(element("a", fragment(0, 5))),
        markup(element("a", fragment(5, 9))),
        {"total": 0, "accordance": 0},
    ),
    "no fragments, and other tags": (
        markup(element("a")),
        markup(element("b")),
        {"accordance": 1, "tags": 0, "fragments": 1, "fragment_text_union": 1},
    ),
    "no fragments on one side": (markup(element("a")), markup(element("a", fragment(0, 5))), {"total": 0}),
    "empty fragments at one place": (spans((5, 5)), spans((5, 5)), {"total": 1}),
    "empty fragments at two places": (spans((5, 5)), spans((6, 6)), {"total": 0}),
    "an empty fragment in common": (spans((5, 5)), spans((5, 5), (10, 12)), {"accordance": 1}),
    "no empty fragment in common": (spans((5, 5)), spans((6, 6), (10, 12)), {"accordance": 0}),
    "an empty fragment within another": (spans((5, 5)), spans((0, 10)), {"total": 0}),
    "repeated words": (notes("no no no"), notes("no"), {"overtexts.texts": 2 / 4}),
    "repeated tags and case": (markup({"tags": ["a", "a", "A"]}), markup({"tags": ["a"]}), {"tags": 2 / 3}),
    "equal fragments": (spans((0, 5), (0, 5)), spans((0, 5)), {"fragments.accordance": 2 / 3}),
    "overlapping fragments": (spans((0, 6), (4, 10)), spans((0, 10)), {"fragment_text_union": 1}),
    "the element's tags are no fragments' tags": (
        markup(element("a", fragment(0, 5, "p"))),
        markup(element("a", fragment(0, 5, "q"))),
        {"fragment_tag_union": 0},
    ),
    "null": (NULLS, spans((0, 5)), {"total": 1}),
}


@pytest.mark.parametrize(("first", "second", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_settled_questions(first: Any, second: Any, expected: dict[str, float]) -> None:
    values = numbers(consistency(first, second))
    assert {name: values[name] for name in expected} == expected


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
        metric.prepare(solution_of([FIRST, SECOND]), "document_id", lemmatizer=name)
    metric.lemmatizer_of.cache_clear()


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


KINDS = st.sampled_from(["sum", "exact"])
WEIGHTS = st.dictionaries(
    st.sampled_from([name for name in metric.CRITERIA if name != "total"]), st.integers(1, 3), max_size=4
)


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
    """Check that the accordance is as good as the best one on every level, and gives these criteria."""
    transcription = Transcription({name: Fraction(weight) for name, weight in weights.items()}, kind)
    result = consistency(first, second, weights, kind)
    best = transcription.criteria(first, second)
    theirs = transcription.criteria(first, second, accordance_of(result.pairs))
    assert theirs["total"] == best["total"]
    assert theirs["accordance"] == best["accordance"]  # among equal ones, the most pairs
    assert numbers(result) == pytest.approx({name: float(value) for name, value in theirs.items()}, abs=1e-12)
    for pair in result.pairs:
        a, b = first["elements"][pair.first], second["elements"][pair.second]
        worth = transcription.average("", transcription.element(a, b), False)
        assert pair.consistency == pytest.approx(float(worth), abs=1e-12)
        for inner in pair.fragments:
            c, d = a["fragments"][inner.first], b["fragments"][inner.second]
            worth = transcription.average("fragments", transcription.fragment(c, d), False)
            assert inner.consistency == pytest.approx(float(worth), abs=1e-12)


@examples(60)
@given(ELEMENT_MARKUPS, ELEMENT_MARKUPS, WEIGHTS, KINDS)
def test_against_the_transcription(first: Any, second: Any, weights: dict[str, int], kind: str) -> None:
    check(first, second, weights, kind)


def several_elements(rng: random.Random, number: int) -> dict[str, Any]:
    """A markup with elements that may nearly all be partners of those in another such markup."""
    made = [crowded_element(rng, 1)["elements"][0] for _ in range(number)]
    return markup(*(each | {"tags": [rng.choice("ab")]} for each in made))


@pytest.mark.parametrize("kind", ["sum", "exact"])
def test_accordance_against_every_accordance(kind: str) -> None:
    """In one kind of pairs all fragments are candidates, in the other all elements are."""
    rng = random.Random(7)
    assert len(list(every_accordance(list(itertools.product(range(3), range(3)))))) == 34
    for number in range(some(300)):
        first, second = (crowded_element(rng, rng.randrange(1, 5)) for _ in range(2))
        check(first, second, {"fragments.texts": 1 + number % 3}, kind)
        first, second = (several_elements(rng, rng.randrange(1, 4)) for _ in range(2))
        check(first, second, {"accordance": 1 + number % 4}, kind)


@examples(40)
@given(
    st.lists(st.tuples(st.lists(ELEMENT_MARKUPS, max_size=3), ELEMENT_MARKUPS), min_size=1, max_size=3), KINDS
)
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


@examples(50)
@given(ELEMENT_MARKUPS, WEIGHTS, KINDS)
@example(FIRST, {"accordance": 44}, "sum")  # of the sum 49, and 49·(1/49) is not 1
def test_a_markup_is_consistent_with_itself(value: Any, weights: dict[str, int], kind: str) -> None:
    result = consistency(value, value, weights, kind)
    assert set(numbers(result).values()) == {1.0}


@pytest.mark.slow
def test_two_thousand_nested_fragments() -> None:
    """Four million pairs overlap, which would take minutes in one assignment problem without structure."""
    ours, theirs = (
        spans(*((number + shift, 10_000 - number) for number in range(1999)), tags="a") for shift in (0, 1)
    )
    result = metric.score(solution_of([ours]), submission_of(theirs), "document_id", "ama")
    assert 0.99 < result < 1


# ---- Frames and measures ------------------------------------------------------------------------------


def test_measures() -> None:
    tables = case_of("markup_consistency").tables
    result = evaluate(*tables)
    assert list(result.measures)[:4] == ["score", "AMA", "EMA", "RMA"]
    assert list(result.measures)[4:] == list(metric.CRITERIA)[1:]
    assert result.score == result.rma
    one = evaluate(*tables, "consistency", "fragments.texts")
    assert one.score == result.measures["fragments.texts"]


# ---- Bad input ----------------------------------------------------------------------------------------


def test_experts_who_have_nothing_in_common() -> None:
    with pytest.raises(metric.HostVisibleError) as error:
        metric.prepare(solution_of([spans((0, 5)), markup()]), "document_id")
    assert str(error.value) == "markups: expected experts that have something in common, found none"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("measure", "f1", "expected rma, ama, consistency, found 'f1'"),
        ("accordance", "best", "expected sum, exact, found 'best'"),
        ("criterion", "words", "expected total, accordance, "),
        ("criterion", "tags", "expected only with measure 'consistency', found 'rma'"),
        ("lemmatizer", "x", "expected none, pymorphy3 or simplemma:LANGUAGE, found 'x'"),
        ("lemmatizer", "simplemma", "expected none, "),
        ("weights", "tags", "expected NAME=NUMBER, each at least 0 and once, found 'tags'. The names are "),
        ("weights", "tags=inf", "expected NAME=NUMBER, "),
        ("weights", "tags=²", "expected NAME=NUMBER, "),
        ("weights", "total=1", "expected NAME=NUMBER, "),
        ("weights", "tags=1,tags=1", "expected NAME=NUMBER, "),
        ("weights", "overtexts.accordance=0", "expected one above 0 among the parts of overtexts, found none"),
    ],
)
def test_bad_parameters(name: str, value: str, message: str) -> None:
    with pytest.raises(metric.HostVisibleError) as error:
        metric.prepare(solution_of([spans((0, 5))] * 2), "document_id", **{name: value})
    assert str(error.value).startswith(f"{name}: {message}")
    assert len(str(error.value)) <= 280


def test_the_head_says_what_the_letter_of_the_paper_gives() -> None:
    case = case_of("markup_consistency")
    letter = metric.score(*case.tables, "document_id", accordance="exact")
    assert f"{letter:.4f} instead of {case.score():.4f}" in (metric.__doc__ or "")
