"""metrics/readable computes the paper's measures and answers open questions as decided."""

import itertools
import json
import random
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.metric import hosted
from podium.metric.parameters import defaults
from tests.support.examples import examples, some
from tests.support.markups import (
    ESSAY_MARKUPS,
    Evaluated,
    accuracy,
    crowded_essay,
    markup,
    selection,
    solution_of,
    submission_of,
)
from tests.support.readable_transcription import (
    LARGEST,
    accuracies,
    best_matching,
    every_matching,
    relative,
    value_of,
)
from tests.support.samples import case_of

companion = hosted.load("readable").companion

ESSAYS = Path(podium.__file__).parents[2] / "shared" / "data" / "readable" / "inputs"
NAMES = ("M", "M1", "M2", "M3", "M4", "M5", "M6")

metric = hosted.module("readable")
evaluate = partial(Evaluated, "readable")


# ---- Reference numbers --------------------------------------------------------------------------------


EXPECTED = ("h01_basic", "h02_identical", "h04_one_side_empty", "h07_criteria_cancel", "h09_three_experts")


@pytest.mark.skipif(not ESSAYS.is_dir(), reason="the reference essays are not there")
@pytest.mark.parametrize("name", EXPECTED)
def test_reference_numbers(name: str) -> None:
    everything = json.loads((ESSAYS / "expected.json").read_text(encoding="utf-8"))
    assert set(everything) == set(EXPECTED)
    expected, path = everything[name], ESSAYS / f"{name}.json"
    solution, submission = companion.read_solution(path), companion.read_submission(path)
    result = evaluate(solution, submission)
    markups = json.loads(path.read_text(encoding="utf-8"))["essay"]["markups"]
    experts = [value["id"] for value in markups if value["isExpert"]]
    names = {"algorithm": "alg"} | {text: text for text in experts}
    accuracies = {
        f"{names[row['markup']]}|{names[row['against']]}": {criterion: row[criterion] for criterion in NAMES}
        for row in result.pairs.to_dict("records")
    }
    pairs = expected["algorithm"] | expected["experts"]
    assert accuracies.keys() == pairs.keys()
    for key, values in pairs.items():
        assert accuracies[key] == pytest.approx(values, rel=0, abs=1e-9)
    assert result.m_avg == pytest.approx(expected["M_avg"], rel=0, abs=1e-9)
    assert result.m_opt == pytest.approx(expected["M_opt"], rel=0, abs=1e-9)
    for h in (0, 0.5, 1):
        otar = metric.score(solution, submission, "document_id", h=float(h))
        assert otar == pytest.approx(expected[f"OTAR_H{h:g}"], rel=0, abs=1e-9)


def test_an_essay_by_hand() -> None:
    """Two of three selections correspond, and the grades differ by 3 of 14."""
    first = markup(
        selection(0, 10, "Logic", correction="So"),
        selection(20, 30, "fact", subtype="date"),
        selection(50, 60),
        K1=1,
        K2=4,
    )
    second = markup(selection(0, 5, "logic", correction="so"), selection(20, 40, "Fact"), K1="3", K2=3)
    values, pairs = accuracy(first, second, "eng")
    m1, m2, m3, m4, m5, m6 = 11 / 14, 4 / 5, 1, 1 / 2, (1 / 2 + 1 / 2) / 2, 1
    expected = {"M1": m1, "M2": m2, "M3": m3, "M4": m4, "M5": m5, "M6": m6}
    expected["M"] = (m1 + 2 * m2 + m3 + m4 + m5) / 6
    assert values == pytest.approx({name: 100 * value for name, value in expected.items()})
    assert pairs == [(0, 0, 0.5, 0.5, True, True, True), (1, 1, 0.5, 0.5, True, False, True)]


def test_the_relative_measures_by_hand() -> None:
    """Without selections, M is (M1 + 500) / 6. The grades alone decide M(A, E) and M(E, E')."""
    experts = [markup(K1=0), markup(K1=12), markup(K1=24)]
    algorithm = markup(K1=12)
    with_algorithm = [(50 + 500) / 6, 100, (50 + 500) / 6]
    among = [(50 + 500) / 6, (0 + 500) / 6, (50 + 500) / 6]
    result = evaluate(solution_of(experts), submission_of(algorithm), h=0.25)
    assert result.pairs["M"].tolist() == pytest.approx(with_algorithm + among)
    mean_a, mean_e = sum(with_algorithm) / 3, sum(among) / 3
    assert result.m == pytest.approx(mean_a)
    assert result.m_avg == pytest.approx(100 * mean_a / mean_e)
    assert result.m_opt == pytest.approx(100 * 100 / (500 / 6))
    assert result.otar == result.score
    assert result.score == pytest.approx(100 * (0.25 * mean_a + 0.75 * 100) / (0.25 * mean_e + 0.75 * 500 / 6))


# ---- Settled questions --------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [{}, {"subtype": None, "correction": "", "group": None}])
def test_missing_texts_and_selections_are_empty(missing: dict[str, Any]) -> None:
    one = {"startSelection": 0, "endSelection": 5, "type": "x"}
    assert set(accuracy(markup(one), markup(one | missing), "rus")[0].values()) == {100.0}
    assert accuracy({"criteria": {}, "selections": None}, markup(), "rus")[0]["M"] == 100


def test_both_empty_and_one_empty() -> None:
    assert set(accuracy(markup(), markup(), "rus")[0].values()) == {100.0}
    one, _ = accuracy(markup(selection(0, 5)), markup(), "rus")
    assert one == pytest.approx({"M": 100 / 6, "M1": 100, "M2": 0, "M3": 0, "M4": 0, "M5": 0, "M6": 0})
    apart, _ = accuracy(markup(selection(0, 5)), markup(selection(5, 9)), "rus")
    assert apart == one


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("СТРАẞE", "страsse"), ("  Г.упр\n", "г.упр"), ("Г.й", "г.и\u0306"), ("\u212b", "\u00c5")],
)
@pytest.mark.parametrize("name", ["group", "type", "subtype", "correction"])
def test_texts_are_compared_without_case_outer_spaces_and_unicode_form(
    name: str, ours: str, theirs: str
) -> None:
    one, other = (selection(0, 5, "x") | {name: text} for text in (ours, theirs))
    assert set(accuracy(markup(one), markup(other), "rus")[0].values()) == {100.0}


WEIGHTS = {"M1": 1, "M2": 2, "M3": 1, "M4": 1, "M5": 1, "M6": 0, "M7": 0}


def test_the_competitions_numbers() -> None:
    assert metric.LARGEST_GRADE == LARGEST
    assert metric.WEIGHTS == WEIGHTS
    assert metric._parse_weights(defaults(metric)["weights"], metric.CRITERIA) == WEIGHTS


def test_weights_that_are_left_out_are_the_competitions() -> None:
    frames = case_of("readable").tables
    for text in ("", "M2=2", "M1=1, M6=0"):
        assert metric.score(*frames, "document_id", weights=text) == metric.score(*frames, "document_id")
    result = evaluate(*frames, "m", weights="M1=0,M2=0,M3=0,M4=0,M5=0,M6=3")
    assert result.score == result.m == result.m6 == evaluate(*frames).m6


def test_m7_is_the_hosts_judgment_of_a_submission() -> None:
    """The experts' own explanations count 100, and those of the algorithm count what the host says."""
    experts = [markup(K1=0), markup(K1=24)]
    solution, submission = solution_of(experts, experts), submission_of(markup(K1=24), markup(K1=24))
    result = evaluate(solution, submission.assign(m7=[0, 50]), weights="M7=1")
    assert list(result.measures)[-1] == "M7"
    assert result.m7 == 25
    # M(A, E): M1 0 or 100, M2 to M5 100 of weight 5, M7 0 or 50, of 7; M(E, E'): M1 0, all others 100.
    algorithm = [(0 + 500 + 0) / 7, (100 + 500 + 0) / 7, (0 + 500 + 50) / 7, (100 + 500 + 50) / 7]
    assert result.m == pytest.approx(sum(algorithm) / 4)
    assert result.score == pytest.approx(100 * sum(algorithm) / 4 / (600 / 7))
    without = evaluate(solution, submission.assign(m7="?"))
    assert "M7" not in without.measures
    assert without.measures == evaluate(solution, submission).measures


JUDGMENT = "m7: expected the experts' judgment in percent, from 0 to 100. Wrong in"


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            {},
            "the submission: expected the column m7, the experts' judgment of its explanations, because M7 has "
            "a weight. Give a file with it: podium score --side FILE, or podium rank --side FOLDER",
        ),
        ({"m7": [50, None]}, f"{JUDGMENT} 1 row of the submission: document_id d1 (missing)"),
        ({"m7": [-1, "101"]}, f"{JUDGMENT} 2 rows of the submission: document_id d0 ('-1') and 1 more"),
    ],
)
def test_a_missing_judgment_is_the_hosts_fault(column: dict[str, Any], message: str) -> None:
    solution = solution_of([markup(), markup()], [markup(), markup()])
    submission = submission_of(markup(), markup()).assign(**column)
    with pytest.raises(metric.HostVisibleError) as error:
        metric.score(solution, submission, "document_id", weights="M7=1")
    assert str(error.value) == message


# ---- Against the literal transcription ----------------------------------------------------------------


SUBJECTS = st.sampled_from(sorted(metric.LARGEST_GRADE))


def check(first: Any, second: Any, subject: str) -> None:
    """Check that the matching is as good as the best of all, and gives exactly these accuracies."""
    values, pairs = accuracy(first, second, subject)
    matching = [pair[:2] for pair in pairs]
    ours, theirs = first["selections"], second["selections"]
    best = value_of(best_matching(ours, theirs), ours, theirs)
    assert value_of(matching, ours, theirs) == best
    expected = accuracies(first, second, subject, matching)
    expected.pop("M7")
    assert values == pytest.approx({name: float(value) for name, value in expected.items()}, abs=1e-9)
    alone = len(ours) + len(theirs) - 2 * len(pairs)
    assert alone + sum(cost for _, _, cost, *_ in pairs) == pytest.approx(float(best[0]), abs=1e-9)


@examples(60)
@given(ESSAY_MARKUPS, ESSAY_MARKUPS, SUBJECTS)
def test_against_the_transcription(first: Any, second: Any, subject: str) -> None:
    check(first, second, subject)


@examples(60)
@given(
    ESSAY_MARKUPS,
    ESSAY_MARKUPS,
    st.fixed_dictionaries({name: st.integers(0, 3) for name in WEIGHTS}).filter(
        lambda weights: any(weights.values())
    ),
    st.integers(0, 100),
)
def test_weights_against_the_transcription(first: Any, second: Any, weights: dict[str, int], m7: int) -> None:
    text = ",".join(f"{name}={weight}" for name, weight in weights.items())
    expected = accuracies(first, second, "rus", None, weights, Fraction(m7, 100))["M"]
    frames = solution_of([first]), submission_of(second).assign(m7=m7)
    assert metric.score(*frames, "document_id", "m", weights=text) == pytest.approx(float(expected), abs=1e-6)


def test_matching_against_every_matching() -> None:
    """The pairs of markups have many candidates."""
    rng = random.Random(11)
    assert len(list(every_matching(list(itertools.product(range(3), range(3)))))) == 34
    for _ in range(some(300)):
        check(crowded_essay(rng, 4), crowded_essay(rng, 4), "lit")


@examples(60)
@given(
    st.lists(st.tuples(st.lists(ESSAY_MARKUPS, max_size=3), ESSAY_MARKUPS, SUBJECTS), min_size=1, max_size=3),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)
def test_a_corpus_against_the_transcription(documents: list[tuple[list[Any], Any, str]], h: float) -> None:
    solution = solution_of(*(experts for experts, _, _ in documents))
    solution["subject"] = [subject for _, _, subject in documents]
    submission = submission_of(*(algorithm for _, algorithm, _ in documents))
    if not any(experts for experts, _, _ in documents):
        with pytest.raises(metric.HostVisibleError, match="expected an essay with markups of an expert"):
            metric.score(solution, submission, "document_id", "m", h)
        return
    result = evaluate(solution, submission, "m", h)
    # This begins with the pairs, whose accuracies are tested above.
    table = {
        (row.document_id, row.markup, row.against): Fraction(row.M)
        for row in result.pairs.itertuples(index=False)
    }
    algorithm, experts = [], []
    for number, (markups, _, _) in enumerate(documents):
        names = [f"expert {n}" for n, _ in enumerate(markups, 1)]
        algorithm.append([table[f"d{number}", "algorithm", name] for name in names])
        experts.append([table[f"d{number}", one, other] for one, other in itertools.combinations(names, 2)])
    expected = relative(algorithm, experts, Fraction(h))
    for name, value in expected.items():
        if value is None:
            assert np.isnan(getattr(result, name))
        else:
            assert getattr(result, name) == pytest.approx(float(value))
    means = [sum(values) / len(values) for values in algorithm if values]
    assert result.score == result.m == pytest.approx(float(sum(means) / len(means)))
    for (document_id, first, second), value in table.items():
        markups, answer, subject = documents[int(document_id[1:])]
        named = {"algorithm": answer} | {f"expert {n}": expert for n, expert in enumerate(markups, 1)}
        assert float(value) == accuracy(named[first], named[second], subject)[0]["M"]


# ---- Properties ---------------------------------------------------------------------------------------


@examples(60)
@given(ESSAY_MARKUPS, SUBJECTS)
def test_a_markup_agrees_with_itself(value: Any, subject: str) -> None:
    values, pairs = accuracy(value, value, subject)
    assert set(values.values()) == {100.0}
    assert sum(cost for _, _, cost, *_ in pairs) == 0


# ---- Frames and measures ------------------------------------------------------------------------------


def test_measures() -> None:
    tables = case_of("readable").tables
    result = evaluate(*tables)
    assert list(result.measures) == ["score", "OTAR", "M_avg", "M_opt", *NAMES]
    assert result.numbers.shape == (12, 13)
    assert result.otar == result.m_avg
    assert evaluate(*tables, h=0).otar == result.m_opt
    for measure in metric.MEASURES:
        value = evaluate(*tables, measure, 0.5)
        assert value.score == getattr(value, measure)
    without_experts = np.array([item == "essay-06" for item in result.items])
    assert np.isnan(result.prepared.measures(result.numbers[without_experts].sum(axis=0)[np.newaxis])).all()


def test_as_many_nested_selections_as_there_may_be() -> None:
    """A quarter of a million pairs overlap in a single assignment problem."""
    ours, theirs = (
        markup(*(selection(number + shift, 10_000 - number) for number in range(metric.MOST_SELECTIONS)))
        for shift in (0, 1)
    )
    assert 99 < metric.score(solution_of([ours]), submission_of(theirs), "document_id", "m") < 100


# ---- Bad input ----------------------------------------------------------------------------------------


def test_a_subject_that_is_unknown() -> None:
    solution, _ = case_of("readable").tables
    one_of = "one of rus, rus-free, lit, social, hist, eng, eng-free, or one with its K_max in k_max"
    with pytest.raises(metric.HostVisibleError) as error:
        metric.prepare(solution.replace("rus-free", "math"), "document_id")
    assert str(error.value) == (
        f"subject: expected {one_of}. Wrong in 1 row of the solution: document_id essay-06 ('math')"
    )


def test_another_subject_needs_its_largest_grade() -> None:
    """M1 divides by it, and no grades may sum to more."""
    experts, answer = [markup(K1=30), markup(K1=0)], submission_of(markup(K1=15))
    result = evaluate(solution_of(experts, subject="geo"), answer, "m", k_max="geo=30, bio=21.5")
    assert result.m1 == pytest.approx(50)
    assert result.tables["Subjects"]["subject"].tolist() == ["geo"]
    assert evaluate(solution_of([markup(K1=3)]), submission_of(markup()), "m", k_max="rus=12").m1 == 75
    with pytest.raises(metric.HostVisibleError, match="the criteria sum to 30, more than the maximum"):
        metric.prepare(solution_of(experts, subject="geo"), "document_id", k_max="geo=29.5")


def test_measures_that_are_not_defined() -> None:
    # The experts' grades are as different as possible, and one of them marked nothing.
    apart = [markup(selection(0, 5), K1=24), markup(K1=0)]
    with pytest.raises(metric.HostVisibleError, match="expected experts whose accuracy is above 0, found none"):
        metric.prepare(solution_of(apart, apart), "document_id", "m_opt")
    result = evaluate(solution_of(apart, [markup()] * 2), submission_of(markup(), markup()))
    assert np.isnan(result.documents["otar"]).tolist() == [True, False]
    assert result.score > 100


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"measure": "f1"}, "measure: expected otar, m_avg, m_opt, m, found 'f1'"),
        ({"h": 1.5}, "h: expected a number from 0 to 1, found float '1.5'"),
        (
            {"weights": "M8=1"},
            "weights: expected NAME=NUMBER, each at least 0 and once, found 'M8=1'. The names are M1, M2, M3, "
            "M4, M5, M6, M7",
        ),
        ({"weights": "M1=0,M2=0,M3=0,M4=0,M5=0"}, "weights: expected one above 0, found none"),
        ({"k_max": 30}, "k_max: expected text, found int '30'"),
        ({"k_max": "geo"}, "k_max: expected SUBJECT=NUMBER, each at least 1 and once, found 'geo'"),
        ({"k_max": "geo=0"}, "k_max: expected SUBJECT=NUMBER, each at least 1 and once, found 'geo=0'"),
        ({"k_max": "a=1,a=2"}, "k_max: expected SUBJECT=NUMBER, each at least 1 and once, found 'a=2'"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(metric.HostVisibleError) as error:
        metric.prepare(solution_of([markup()] * 2), "document_id", **parameters)
    assert str(error.value) == message
