"""metrics/readable.py: the paper's measures, the settled questions, properties, bad input, files."""

import doctest
import inspect
import itertools
import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evaluate as evaluate_tool
from competition import metric_file
from competition.errors import run
from tests import readable_data as data
from tests.readable_transcription import accuracies, best_matching, every_matching, relative, value_of

ROOT = Path(__file__).parents[1]
FILE = ROOT / "metrics" / "readable.py"
ESSAYS = ROOT / ".." / "shared" / "data" / "readable" / "inputs"

metric = metric_file.load(FILE)


def selection(start: int, end: int, kind: str = "logic", **more: str) -> dict[str, Any]:
    return {"startSelection": start, "endSelection": end, "type": kind, "group": "error", **more}


def markup(*selections: dict[str, Any], **grades: object) -> dict[str, Any]:
    return {"criteria": grades, "selections": list(selections)}


def solution_of(*documents: list[dict[str, Any]], subject: str = "rus") -> pd.DataFrame:
    ids = [f"d{number}" for number in range(len(documents))]
    return pd.DataFrame({"document_id": ids, "subject": subject, "markups": [json.dumps(e) for e in documents]})


def submission_of(*markups: dict[str, Any]) -> pd.DataFrame:
    ids = [f"d{number}" for number in range(len(markups))]
    return pd.DataFrame({"document_id": ids, "markup": [json.dumps(value) for value in markups]})


def numbers(result: Any) -> dict[str, float]:
    return {name: getattr(result, name.lower()) for name in metric.CRITERIA}


def ends(result: Any) -> list[tuple[int, int]]:
    return [(pair.first, pair.second) for pair in result.pairs]


# ---------------------------------------------------------------------------------------------
# Reference numbers
# ---------------------------------------------------------------------------------------------

EXPECTED = ("h01_basic", "h02_identical", "h04_one_side_empty", "h07_criteria_cancel", "h09_three_experts")


@pytest.mark.skipif(not ESSAYS.is_dir(), reason="the reference essays are not there")
@pytest.mark.parametrize("name", EXPECTED)
def test_reference_numbers(name: str) -> None:
    everything = json.loads((ESSAYS / "expected.json").read_text(encoding="utf-8"))
    assert set(everything) == set(EXPECTED)
    expected, path = everything[name], ESSAYS / f"{name}.json"
    solution, submission = metric.read_solution(path), metric.read_submission(path)
    result = metric.evaluate(solution, submission, "document_id")
    markups = json.loads(path.read_text(encoding="utf-8"))["essay"]["markups"]
    experts = [value["id"] for value in markups if value["isExpert"]]
    names = {"algorithm": "alg"} | {f"expert {number}": text for number, text in enumerate(experts, 1)}
    found = {
        f"{names[row['first']]}|{names[row['second']]}": {
            criterion: row[criterion] for criterion in metric.CRITERIA
        }
        for row in result.pairs.to_dict("records")
    }
    pairs = expected["algorithm"] | expected["experts"]
    assert found.keys() == pairs.keys()
    for key, values in pairs.items():
        assert found[key] == pytest.approx(values, rel=0, abs=1e-9)
    assert result.m_avg == pytest.approx(expected["M_avg"], rel=0, abs=1e-9)
    assert result.m_opt == pytest.approx(expected["M_opt"], rel=0, abs=1e-9)
    for h in (0, 0.5, 1):
        otar = metric.score(solution, submission, "document_id", h=float(h))
        assert otar == pytest.approx(expected[f"OTAR_H{h:g}"], rel=0, abs=1e-9)


@pytest.mark.skipif(not ESSAYS.is_dir(), reason="the reference essays are not there")
def test_reference_essays_together(tmp_path: Path) -> None:
    for path in ESSAYS.glob("h*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    solution, submission = metric.read_solution(tmp_path), metric.read_submission(tmp_path)
    result = metric.evaluate(solution, submission, "document_id")
    assert len(result.documents) == 16
    documents = result.documents.set_index("document_id")
    assert documents.loc[["h02", "h02b", "h03"], "otar"].tolist() == [100.0] * 3
    two = documents["experts"] > 1
    assert (~two).sum() == 1
    assert result.score == pytest.approx(
        100 * documents.loc[two, "m"].mean() / documents.loc[two, "mean_m_experts"].mean()
    )


def test_an_essay_by_hand() -> None:
    """Two of three selections correspond; grades differ by 3 of 14."""
    first = markup(
        selection(0, 10, "Logic", correction="So"),
        selection(20, 30, "fact", subtype="date"),
        selection(50, 60),
        K1=1,
        K2=4,
    )
    second = markup(selection(0, 5, "logic", correction="so"), selection(20, 40, "Fact"), K1="3", K2=3)
    result = metric.accuracy(first, second, "eng")
    m1, m2, m3, m4, m5, m6 = 11 / 14, 4 / 5, 1, 1 / 2, (1 / 2 + 1 / 2) / 2, 1
    expected = {"M1": m1, "M2": m2, "M3": m3, "M4": m4, "M5": m5, "M6": m6}
    expected["M"] = (m1 + 2 * m2 + m3 + m4 + m5) / 6
    assert numbers(result) == pytest.approx({name: 100 * value for name, value in expected.items()})
    assert [tuple(pair) for pair in result.pairs] == [
        (0, 0, 0.5, 0.5, True, True, True),
        (1, 1, 0.5, 0.5, True, False, True),
    ]


def test_the_relative_measures_by_hand() -> None:
    """Without selections M is (M1 + 500) / 6; grades make M(A, E) and M(E, E')."""
    experts = [markup(K1=0), markup(K1=12), markup(K1=24)]
    algorithm = markup(K1=12)
    with_algorithm = [(50 + 500) / 6, 100, (50 + 500) / 6]
    among = [(50 + 500) / 6, (0 + 500) / 6, (50 + 500) / 6]
    result = metric.evaluate(solution_of(experts), submission_of(algorithm), "document_id", h=0.25)
    assert result.pairs["M"].tolist() == pytest.approx(with_algorithm + among)
    mean_a, mean_e = sum(with_algorithm) / 3, sum(among) / 3
    assert result.m == pytest.approx(mean_a)
    assert result.m_avg == pytest.approx(100 * mean_a / mean_e)
    assert result.m_opt == pytest.approx(100 * 100 / (500 / 6))
    assert result.otar == result.score
    assert result.score == pytest.approx(100 * (0.25 * mean_a + 0.75 * 100) / (0.25 * mean_e + 0.75 * 500 / 6))


# ---------------------------------------------------------------------------------------------
# Settled questions
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("subject", "largest"), {"rus": 24, "rus-free": 24, "lit": 14, "social": 6, "hist": 12,
                                                  "eng": 14, "eng-free": 24}.items())  # fmt: skip
def test_largest_grades(subject: str, largest: int) -> None:
    assert metric.accuracy(markup(K1=largest), markup(K1=largest - 3), subject).m1 == pytest.approx(
        100 * (1 - 3 / largest)
    )
    with pytest.raises(ValueError, match="above the maximum"):
        metric.accuracy(markup(K1=largest, K2=1), markup(), subject)


def test_a_missing_grade_is_zero_and_m1_is_at_least_zero() -> None:
    assert metric.accuracy(markup(K1=3), markup(K2=3), "hist").m1 == pytest.approx(50)
    assert metric.accuracy(markup(K1=12), markup(K2=12), "hist").m1 == 0
    assert metric.accuracy(markup(K1=0), markup(), "hist").m1 == 100


def test_grades_may_be_numbers_in_text() -> None:
    assert metric.accuracy(markup(K1="2", K2=" 1.5 "), markup(K1=2.0, K2=1.5), "social").m1 == 100


def test_weights() -> None:
    assert metric.WEIGHTS == {"M1": 1, "M2": 2, "M3": 1, "M4": 1, "M5": 1, "M6": 0, "M7": 0}


def test_both_empty_and_one_empty() -> None:
    assert set(numbers(metric.accuracy(markup(), markup(), "rus")).values()) == {100.0}
    one = numbers(metric.accuracy(markup(selection(0, 5)), markup(), "rus"))
    assert one == pytest.approx({"M": 100 / 6, "M1": 100, "M2": 0, "M3": 0, "M4": 0, "M5": 0, "M6": 0})
    apart = numbers(metric.accuracy(markup(selection(0, 5)), markup(selection(5, 9)), "rus"))
    assert apart == one


@pytest.mark.parametrize(
    ("ours", "theirs", "cost"),
    [
        (selection(0, 10), selection(0, 10), 0.0),
        (selection(0, 10), selection(0, 5), 0.5),
        (selection(0, 10), selection(5, 10), 1.5),
        (selection(0, 10), selection(0, 5, "fact"), 1.5),
        (selection(0, 10), selection(5, 10, "fact"), None),  # 2.5
        (selection(0, 10), selection(0, 10, group="meaning"), None),  # 4
        (selection(0, 10), selection(10, 20), None),
        (selection(5, 5), selection(5, 5), None),
        (selection(5, 5), selection(0, 10), None),
    ],
)
def test_costs(ours: Any, theirs: Any, cost: float | None) -> None:
    result = metric.accuracy(markup(ours), markup(theirs), "rus")
    assert [pair.cost for pair in result.pairs] == ([] if cost is None else [cost])


def test_the_assignment_is_of_least_cost() -> None:
    """Greedily (0, 0) would be first, at cost 0; then the others go without partner."""
    first = markup(selection(0, 10), selection(0, 6))
    second = markup(selection(0, 10), selection(0, 20))
    assert metric.accuracy(first, markup(selection(0, 10)), "rus").pairs[0].cost == 0
    result = metric.accuracy(first, second, "rus")
    # costs: (0,0) 0, (0,1) .5, (1,0) .4, (1,1) .7
    assert ends(result) == [(0, 0), (1, 1)]
    crossed = metric.accuracy(markup(selection(0, 10), selection(0, 6, "fact")),
                              markup(selection(0, 10), selection(0, 12, group="meaning")), "rus")  # fmt: skip
    assert ends(crossed) == [(0, 0)]


def test_among_equal_costs_more_pairs() -> None:
    """(0, 0) costs 0 and leaves two alone: 2.  (0, 1) and (1, 0) cost 1/2 and 3/2: 2 as well."""
    first = markup(selection(0, 8, subtype="x"), selection(4, 8))
    second = markup(selection(0, 8, subtype="x"), selection(0, 4))
    result = metric.accuracy(first, second, "rus")
    assert [(pair.first, pair.second, pair.cost) for pair in result.pairs] == [(0, 1, 0.5), (1, 0, 1.5)]


@pytest.mark.parametrize("name", ["subtype", "correction"])
def test_among_equal_costs_equal_details(name: str) -> None:
    texts = ("a", "b", "c")
    first = markup(*(selection(0, 9, **{name: text}) for text in texts))
    for order in itertools.permutations(texts):
        second = markup(*(selection(0, 9, **{name: text.upper()}) for text in order))
        result = metric.accuracy(first, second, "rus")
        assert set(numbers(result).values()) == {100.0}
        assert ends(result) == [(position, order.index(text)) for position, text in enumerate(texts)]


def test_texts_are_compared_without_regard_to_case() -> None:
    ours = markup(selection(0, 5, "СТРАẞE", subtype="Г", correction="И"))
    theirs = markup(selection(0, 5, "страsse", subtype="г", correction="и"))
    assert set(numbers(metric.accuracy(ours, theirs, "rus")).values()) == {100.0}
    missing = {"startSelection": 0, "endSelection": 5, "type": "x"}
    empty = missing | {"subtype": None, "correction": "", "group": None}
    assert set(numbers(metric.accuracy(markup(missing), markup(empty), "rus")).values()) == {100.0}


def test_a_selection_of_no_characters_never_finds_a_partner() -> None:
    value = markup(selection(0, 0), selection(0, 5))
    assert metric.accuracy(value, value, "rus").m2 == 50


def test_essays_with_too_few_experts_are_left_out_and_counted() -> None:
    experts = [markup(K1=0), markup(K1=12)]
    solution = solution_of(experts, experts[:1], [])
    result = metric.evaluate(solution, submission_of(markup(K1=0), markup(K1=24), markup()), "document_id")
    m = (100 + 550 / 6) / 2
    assert result.score == pytest.approx(100 * m / (550 / 6))
    assert result.m == pytest.approx((m + 500 / 6) / 2)
    assert result.notices == [
        "1 document without expert, left out everywhere",
        "1 document with one expert, left out of OTAR, M_avg and M_opt",
    ]
    assert np.isnan(result.documents["otar"]).tolist() == [False, True, True]
    assert np.isnan(result.documents["m"]).tolist() == [False, False, True]
    complete = metric.evaluate(solution_of(experts), submission_of(markup()), "document_id")
    assert complete.notices == []


def test_the_corpus_is_a_ratio_of_means() -> None:
    first, second = [markup(K1=0), markup(K1=12)], [markup(K1=0), markup(K1=24)]
    result = metric.evaluate(
        solution_of(first, second), submission_of(markup(K1=0), markup(K1=0)), "document_id"
    )
    numerators, denominators = [(100 + 550 / 6) / 2, (100 + 500 / 6) / 2], [550 / 6, 500 / 6]
    assert result.score == pytest.approx(100 * sum(numerators) / sum(denominators))
    assert result.documents["otar"].mean() != pytest.approx(result.score)


def test_h_one_is_m_avg_and_h_zero_is_m_opt() -> None:
    frames = sample_frames()
    result = metric.evaluate(*frames, "document_id")
    assert result.otar == result.m_avg
    optimistic = metric.evaluate(*frames, "document_id", h=0)
    assert optimistic.otar == optimistic.m_opt == result.m_opt
    for measure in metric.MEASURES:
        value = metric.evaluate(*frames, "document_id", measure, 0.5)
        assert value.score == getattr(value, measure)


def test_m7_is_reported_and_has_no_influence() -> None:
    solution, submission = sample_frames()
    result = metric.evaluate(solution, submission, "document_id")
    assert result.criteria.iloc[-1].tolist() == ["M7", "explanations", 0.0, 72.75, 100.0, 72.75]
    assert result.documents["m7"].dropna().tolist() == [60.0, 85.5]
    without = metric.evaluate(solution.drop(columns="m7"), submission, "document_id")
    assert without.measures == result.measures
    assert without.criteria["criterion"].tolist() == list(metric.CRITERIA)


# ---------------------------------------------------------------------------------------------
# Against the literal transcription
# ---------------------------------------------------------------------------------------------

SELECTIONS = st.builds(
    lambda start, length, kind, subtype, correction, group: {
        "startSelection": start,
        "endSelection": start + length,
        "type": kind,
        "subtype": subtype,
        "correction": correction,
        "group": group,
    },
    st.integers(0, 6),
    st.integers(0, 6),
    st.sampled_from(["a", "A", "b"]),
    st.sampled_from(["", "", "x"]),
    st.sampled_from(["", "Y", "y"]),
    st.sampled_from(["error", "error", "meaning"]),
)
GRADES = st.dictionaries(st.sampled_from(["K1", "K2"]), st.sampled_from([0, 1, 2, 3, "1", "2"]))
MARKUPS = st.builds(
    lambda grades, selections: {"criteria": grades, "selections": selections},
    GRADES,
    st.lists(SELECTIONS, max_size=4),
)
SUBJECTS = st.sampled_from(sorted(metric.LARGEST_GRADE))


def check(first: Any, second: Any, subject: str) -> None:
    """The matching is as good as the best of all, and gives exactly these accuracies."""
    result = metric.accuracy(first, second, subject)
    ours, theirs = first["selections"], second["selections"]
    best = value_of(best_matching(ours, theirs), ours, theirs)
    assert value_of(ends(result), ours, theirs) == best
    expected = accuracies(first, second, subject, ends(result))
    assert numbers(result) == pytest.approx({name: float(value) for name, value in expected.items()}, abs=1e-9)
    alone = len(ours) + len(theirs) - 2 * len(result.pairs)
    assert alone + sum(pair.cost for pair in result.pairs) == pytest.approx(float(best[0]), abs=1e-9)


@settings(max_examples=300, deadline=None)
@given(MARKUPS, MARKUPS, SUBJECTS)
def test_against_the_transcription(first: Any, second: Any, subject: str) -> None:
    check(first, second, subject)


def crowded(rng: random.Random, most: int = 4) -> dict[str, Any]:
    """A markup whose selections nearly all may be partners of another's."""
    return markup(
        *(
            selection(
                rng.choice((0, 0, 0, 1)), rng.randrange(4, 12), rng.choice("aab"), subtype=rng.choice("xy")
            )
            for _ in range(rng.randrange(1, most + 1))
        )
    )


def test_matching_against_every_matching() -> None:
    """600 pairs of markups with many candidates."""
    rng = random.Random(11)
    assert len(list(every_matching(list(itertools.product(range(3), range(3)))))) == 34
    for _ in range(600):
        check(crowded(rng), crowded(rng), "lit")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.lists(MARKUPS, max_size=3), MARKUPS, SUBJECTS), min_size=1, max_size=3),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)
def test_a_corpus_against_the_transcription(documents: list[tuple[list[Any], Any, str]], h: float) -> None:
    solution = solution_of(*(experts for experts, _, _ in documents))
    solution["subject"] = [subject for _, _, subject in documents]
    submission = submission_of(*(algorithm for _, algorithm, _ in documents))
    if not any(experts for experts, _, _ in documents):
        with pytest.raises(metric.HostVisibleError, match="no document has an expert's markup"):
            metric.score(solution, submission, "document_id", "m", h)
        return
    result = metric.evaluate(solution, submission, "document_id", "m", h)
    # From the pairs on, whose accuracies are tested above.
    table = {
        (row.document_id, row.first, row.second): Fraction(row.M)
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
        assert float(value) == metric.accuracy(named[first], named[second], subject).m


# ---------------------------------------------------------------------------------------------
# Properties
# ---------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(MARKUPS, MARKUPS, SUBJECTS)
def test_symmetric_to_the_last_bit(first: Any, second: Any, subject: str) -> None:
    there, back = metric.accuracy(first, second, subject), metric.accuracy(second, first, subject)
    assert numbers(there) == numbers(back)
    assert sorted(pair[2:] for pair in there.pairs) == sorted(pair[2:] for pair in back.pairs)


def test_ties_are_settled_by_contents() -> None:
    """Where many matchings are equally good, with other accuracies: whatever the sides and the order."""
    rng = random.Random(3)
    markups = [crowded(rng, 7) for _ in range(600)]
    documents = [markups[start : start + 3] for start in range(0, 600, 3)]
    mixed = [[shuffled(value, rng) for value in values] for values in documents]
    solution, submission = (
        solution_of(*(values[:2] for values in mixed)),
        submission_of(*(values[2] for values in mixed)),
    )
    result = metric.evaluate(solution, submission, "document_id")
    for row in result.pairs.to_dict("records"):
        named = dict(zip(("expert 1", "expert 2", "algorithm"), documents[int(row["document_id"][1:])]))
        ours, theirs = named[row["first"]], named[row["second"]]
        for first, second in ((ours, theirs), (theirs, ours)):
            assert numbers(metric.accuracy(first, second, "rus")) == {
                name: row[name] for name in metric.CRITERIA
            }


@settings(max_examples=150, deadline=None)
@given(MARKUPS, SUBJECTS)
def test_a_markup_agrees_with_itself(value: Any, subject: str) -> None:
    value = value | {"selections": [s for s in value["selections"] if s["startSelection"] < s["endSelection"]]}
    result = metric.accuracy(value, value, subject)
    assert set(numbers(result).values()) == {100.0}
    assert sum(pair.cost for pair in result.pairs) == 0


@settings(max_examples=150, deadline=None)
@given(MARKUPS, MARKUPS, SUBJECTS)
def test_within_zero_and_a_hundred(first: Any, second: Any, subject: str) -> None:
    assert all(0 <= value <= 100 for value in numbers(metric.accuracy(first, second, subject)).values())


def shuffled(value: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The same markup with grades and selections in another order."""
    grades = rng.sample(sorted(value["criteria"].items()), len(value["criteria"]))
    return {"selections": rng.sample(value["selections"], len(value["selections"])), "criteria": dict(grades)}


@settings(max_examples=150, deadline=None)
@given(MARKUPS, MARKUPS, st.randoms(use_true_random=False))
def test_order_within_a_markup_has_no_influence(first: Any, second: Any, rng: random.Random) -> None:
    plain = metric.accuracy(first, second, "rus")
    assert numbers(plain) == numbers(metric.accuracy(shuffled(first, rng), shuffled(second, rng), "rus"))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.lists(MARKUPS, min_size=1, max_size=3), MARKUPS), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_order_of_rows_and_experts_has_no_influence(
    documents: list[tuple[list[Any], Any]], rng: random.Random
) -> None:
    solution = solution_of(*(experts for experts, _ in documents))
    submission = submission_of(*(algorithm for _, algorithm in documents))
    mixed = [
        json.dumps([shuffled(e, rng) for e in rng.sample(experts, len(experts))]) for experts, _ in documents
    ]
    rows = rng.sample(range(len(documents)), len(documents))
    plain = metric.evaluate(solution, submission, "document_id", "m", 0.5)
    other = metric.evaluate(
        solution.assign(markups=mixed).iloc[rows], submission.iloc[rows[::-1]], "document_id", "m", 0.5
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
    return metric.evaluate(*sample_frames(), "document_id", "otar", 0.5)


def test_score_evaluate_and_prepare_agree(evaluated: Any) -> None:
    value = metric.score(*sample_frames(), "document_id", "otar", 0.5)
    assert value == evaluated.score == evaluated.measures["score"]
    assert evaluated.signature == (
        "metric:readable|version:1.0.0|measure:otar|h:0.5|weights:M1=1,M2=2,M3=1,M4=1,M5=1,M6=0,M7=0"
    )


def test_measures_and_resample(evaluated: Any) -> None:
    number = len(evaluated.items)
    assert list(evaluated.measures) == ["score", "OTAR", "M_avg", "M_opt", *metric.CRITERIA]
    rng = np.random.default_rng(1)
    weights = np.concatenate([np.ones((1, number)), rng.integers(0, 3, (5, number))])
    resampled = evaluated.resample(weights)
    assert resampled.shape == (6, 11)
    assert resampled[0].tolist() == pytest.approx(list(evaluated.measures.values()))
    solution, submission = sample_frames()
    for counts, row in zip(weights.astype(int), resampled):
        repeated = np.repeat(np.arange(number), counts)
        ids = [f"{copy}" for copy in range(len(repeated))]
        again = metric.evaluate(
            solution.iloc[repeated].assign(document_id=ids),
            submission.iloc[repeated].assign(document_id=ids),
            "document_id", "otar", 0.5,
        )  # fmt: skip
        assert row.tolist() == pytest.approx(list(again.measures.values()))
    without_expert = np.array([[item == "essay-06" for item in evaluated.items]])
    assert np.isnan(evaluated.resample(without_expert)).all()


def test_mix_swaps_the_answers(evaluated: Any) -> None:
    solution, submission = sample_frames()
    answers = submission["markup"].sample(frac=1, random_state=5).to_numpy()
    other_frame = submission.assign(markup=answers)
    solution = solution.drop(columns="text")
    prepared = metric.prepare(solution, "document_id", "otar", 0.5)
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
    assert evaluated.roles.items() <= {"item": "document_id", "label": "type", "outcome": "outcome"}.items()
    assert set(evaluated.roles.values()) <= set(evaluated.segments)


def test_parts_are_what_prepare_makes_of_their_rows() -> None:
    solution, submission = sample_frames()
    solution = solution.sample(frac=1, random_state=3)
    prepared = metric.prepare(solution, "document_id")
    rng = np.random.default_rng(2)
    for _ in range(6):
        rows = rng.random(len(solution)) < 0.6
        part, whole = prepared.part(rows), metric.prepare(solution[rows], "document_id")
        answers = submission[submission["document_id"].isin(solution.loc[rows, "document_id"])]
        assert part.evaluate(answers).measures == pytest.approx(whole.evaluate(answers).measures, rel=0, abs=0)
        fewer = np.arange(rows.sum()) != 1
        again = part.part(fewer)
        expected = metric.prepare(solution[rows][fewer], "document_id")
        assert [item.document_id for item in again.documents] == [
            item.document_id for item in expected.documents
        ]
        assert again.expert_criteria.tolist() == expected.expert_criteria.tolist()


def test_documents_and_criteria_are_means_of_pairs(evaluated: Any) -> None:
    pairs, documents = evaluated.pairs, evaluated.documents.set_index("document_id")
    assert not pairs.duplicated(["document_id", "first", "second"]).any()
    experts = documents["experts"]
    assert len(pairs) == (experts + experts * (experts - 1) // 2).sum()
    with_algorithm = pairs["first"] == "algorithm"
    algorithm, among = (pairs[which].groupby("document_id") for which in (with_algorithm, ~with_algorithm))
    for name in metric.CRITERIA:
        assert documents[f"algorithm.{name}"].dropna().to_dict() == pytest.approx(
            algorithm[name].mean().to_dict()
        )
        assert documents[f"experts.{name}"].dropna().to_dict() == pytest.approx(among[name].mean().to_dict())
    assert documents["max_m"].dropna().to_dict() == pytest.approx(algorithm["M"].max().to_dict())
    assert documents["min_m_experts"].dropna().to_dict() == pytest.approx(among["M"].min().to_dict())
    ratios = 100 * documents["max_m"] / documents["min_m_experts"]
    assert documents["m_opt"].dropna().to_dict() == pytest.approx(ratios.dropna().to_dict())
    mixed = (documents["m"] + documents["max_m"]) / (documents["mean_m_experts"] + documents["min_m_experts"])
    assert documents["otar"].dropna().to_dict() == pytest.approx((100 * mixed).dropna().to_dict())
    criteria = evaluated.criteria.set_index("criterion").drop(index="M7")
    assert criteria["algorithm"].to_dict() == pytest.approx(
        {name: documents[f"algorithm.{name}"].mean() for name in metric.CRITERIA}
    )
    assert criteria["experts"].to_dict() == pytest.approx(
        {name: documents[f"experts.{name}"].mean() for name in metric.CRITERIA}
    )
    assert criteria.loc["M", "relative"] == pytest.approx(evaluated.m_avg)


def test_subjects_are_scored_apart(evaluated: Any) -> None:
    solution, submission = sample_frames()
    table = evaluated.tables["Subjects"].set_index("subject")
    assert set(table.index) == set(solution["subject"])
    assert table["documents"].sum() == len(solution)
    rows = (solution["subject"] == "social").to_numpy()
    alone = evaluated.prepared.part(rows).evaluate(submission[rows])
    assert table.loc["social", ["otar", "m_avg", "m_opt", "m"]].tolist() == pytest.approx(
        [alone.otar, alone.m_avg, alone.m_opt, alone.m]
    )
    assert evaluated.tables["Measures"]["percent"].tolist() == [
        evaluated.otar,
        evaluated.m_avg,
        evaluated.m_opt,
        evaluated.m,
    ]


def test_segments_tell_the_matching(evaluated: Any) -> None:
    """Against `accuracy`, pair by pair of markups, in both directions."""
    segments = evaluated.segments.set_index(["document_id", "markup", "against"])
    rows_seen = 0
    for document_id, item in data.samples().items():
        named = {"algorithm": item.algorithm} | {
            f"expert {n}": expert for n, expert in enumerate(item.experts, 1)
        }
        for ours, theirs in itertools.permutations(named, 2):
            selections = named[ours]["selections"]
            if not selections:
                assert (document_id, ours, theirs) not in segments.index
                continue
            rows = segments.loc[[(document_id, ours, theirs)]]
            rows_seen += len(rows)
            assert rows["selection"].tolist() == list(range(len(selections)))
            assert rows["start"].tolist() == [value["startSelection"] for value in selections]
            assert rows["end"].tolist() == [value["endSelection"] for value in selections]
            assert rows["type"].tolist() == [value["type"].casefold() for value in selections]
            assert rows["subtype"].tolist() == [value["subtype"].casefold() for value in selections]
            assert rows["correction"].tolist() == [value["correction"].casefold() for value in selections]
            pairs = metric.accuracy(named[ours], named[theirs], item.subject).pairs
            matched = rows[rows["outcome"] == "matched"]
            columns = [
                "selection",
                "partner_selection",
                "cost",
                "jaccard",
                "same_type",
                "same_subtype",
                "same_correction",
            ]
            assert [tuple(row) for row in matched[columns].itertuples(index=False)] == [
                tuple(pair) for pair in pairs
            ]
            unmatched = rows[rows["outcome"] != "matched"]
            assert (unmatched["partner_selection"] == -1).all()
            assert (unmatched["cost"] == 1).all()
            assert unmatched["jaccard"].isna().all()
            assert not unmatched[["same_type", "same_subtype", "same_correction"]].any(axis=None)
            for row in unmatched.itertuples(index=False):
                assert row.outcome == why_unmatched(selections[row.selection], named[theirs]["selections"])
    assert rows_seen == len(segments)
    assert set(evaluated.segments["outcome"]) == {"matched", "partner taken", "too costly", "no overlap"}


def why_unmatched(ours: dict[str, Any], others: list[dict[str, Any]]) -> str:
    """From a comparison of this selection with each one of the other markup alone."""
    alone = [metric.accuracy(markup(ours), markup(other), "rus").pairs for other in others]
    overlapping = [
        max(ours["startSelection"], other["startSelection"]) < min(ours["endSelection"], other["endSelection"])
        for other in others
    ]
    if any(alone):
        return "partner taken"
    return "too costly" if any(overlapping) else "no overlap"


def test_histograms(evaluated: Any) -> None:
    figures = evaluated.histograms
    names = ["M", "M1", "M2", "M3", "M4", "M5"]
    assert list(figures) == ["Accuracy among experts", "Accuracy, algorithm with an expert", "Documents"]
    pairs = evaluated.pairs
    with_algorithm = pairs["first"] == "algorithm"
    for title, which in zip(figures, (~with_algorithm, with_algorithm)):
        assert list(figures[title]) == names
        for name in names:
            assert sorted(figures[title][name]) == sorted(pairs.loc[which, name])
    for title, name in (("M_avg", "m_avg"), ("M_opt", "m_opt"), ("OTAR", "otar")):
        assert figures["Documents"][title].tolist() == evaluated.documents[name].dropna().tolist()


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
    solution, submission = (frame.head(2) for frame in sample_frames())
    expected = metric.score(solution, submission, "document_id")
    for ids, other in itertools.product(([1, 2], [1.0, 2.0], ["1", "2"]), repeat=2):
        ours, theirs = solution.assign(document_id=ids), submission.assign(document_id=other)
        assert metric.score(ours, theirs, "document_id") == expected


@pytest.mark.parametrize("kind", ["object", "category", "string", "arrow"])
def test_any_frame_will_do_and_is_left_alone(kind: str) -> None:
    solution, submission = sample_frames()
    expected = metric.evaluate(solution, submission, "document_id")
    if kind == "arrow":
        pyarrow = pytest.importorskip("pyarrow")
        types: Any = pd.ArrowDtype(pyarrow.string())
    else:
        types = kind
    ours = solution.astype(dict.fromkeys(["document_id", "subject", "markups", "text"], types))
    ours = ours.assign(extra=1).set_index(np.full(len(solution), 7))
    theirs = submission.astype(types).assign(more=None).sample(frac=1, random_state=1)
    copies = ours.copy(deep=True), theirs.copy(deep=True)
    result = metric.evaluate(ours, theirs, "document_id")
    assert result.measures == expected.measures
    assert result.segments.equals(expected.segments)
    pd.testing.assert_frame_equal(ours, copies[0])
    pd.testing.assert_frame_equal(theirs, copies[1])


# ---------------------------------------------------------------------------------------------
# Bad input
# ---------------------------------------------------------------------------------------------

GOOD = json.dumps(markup(selection(0, 5), selection(2, 9), K1=1))
SOLUTION = pd.DataFrame(
    {"document_id": ["a", "b"], "subject": "lit", "markups": [f"[{GOOD}, {GOOD}]"] * 2, "text": ["x" * 20] * 2}
)
SUBMISSION = pd.DataFrame({"document_id": ["a", "b"], "markup": [GOOD, GOOD]})


def graded(text: str) -> str:
    return f'{{"criteria": {{"K1": {text}}}, "selections": []}}'


def selected(text: str) -> str:
    return f'{{"criteria": {{}}, "selections": [{text}]}}'


def spanning(start: str, end: str) -> str:
    return selected(f'{{"startSelection": {start}, "endSelection": {end}, "type": "x"}}')


CELLS = {
    "": "missing",
    "{": "not JSON: Expecting property name enclosed in double quotes at character 2",
    '{"criteria":' * 100_000: "not a markup: nested too deeply",
    graded("NaN"): "not JSON: NaN is no number",
    graded("1" * 5000): "not JSON: Exceeds the limit",
    "[]": "the markup is a list instead of an object",
    '{"selections": []}': "the markup has no criteria",
    '{"criteria": {}}': "the markup has no selections",
    '{"criteria": [], "selections": []}': "criteria is a list instead of an object",
    '{"criteria": {}, "selections": {}}': "the markup: selections is an object instead of a list",
    graded("-1"): "criterion K1 is -1 instead of a number of at least 0",
    graded('"-1"'): "criterion K1 is '-1' instead of a number of at least 0",
    graded('"nan"'): "criterion K1 is 'nan' instead of a number of at least 0",
    graded("true"): "criterion K1 is True instead of a number of at least 0",
    graded("null"): "criterion K1 is missing instead of a number of at least 0",
    graded("1e400"): "criterion K1 is inf instead of a number of at least 0",
    graded("[1]"): "criterion K1 is a list instead of a number of at least 0",
    graded("14.5"): "the criteria sum to 14.5, above the maximum of the subject",
    selected("5"): "selection 1 is 5 instead of an object",
    selected("{}"): "selection 1: startSelection is missing instead of a whole number",
    spanning("0", '"5"'): "selection 1: endSelection is '5' instead of a whole number",
    spanning("0.5", "5"): "selection 1: startSelection is 0.5 instead of a whole number",
    spanning("9", "5"): "selection 1: startSelection 9 is after endSelection 5",
    spanning("-2", "5"): "selection 1: startSelection -2 is negative",
    spanning("0", "9000000000"): "selection 1: endSelection is above 1,000,000,000",
    spanning("5", "21"): "selection 1: endSelection 21 is beyond the text",
    selected('{"startSelection": 0, "endSelection": 5}'): "selection 1: type is missing",
    selected('{"startSelection": 0, "endSelection": 5, "type": null}'): "selection 1: type is missing",
    selected('{"startSelection": 0, "endSelection": 5, "type": "x", "correction": 0}'): (
        "selection 1: correction is 0 instead of text"
    ),
    selected('{"startSelection": 0, "endSelection": 5, "type": 5}'): "selection 1: type is 5 instead of text",
    selected('{"startSelection": 0, "endSelection": 5, "type": "x", "subtype": ["y"]}'): (
        "selection 1: subtype is a list instead of text"
    ),
    selected(",".join(["{}"] * 2001)): "2,001 selections; at most 2,000 are allowed in a markup",
}  # fmt: skip


@pytest.mark.parametrize(("cell", "reason"), CELLS.items(), ids=range(len(CELLS)))
def test_bad_markups(cell: str, reason: str) -> None:
    with pytest.raises(metric.ParticipantVisibleError) as ours:
        metric.score(SOLUTION, SUBMISSION.assign(markup=[GOOD, cell]), "document_id")
    assert str(ours.value).startswith(f"markup is wrong in 1 row of the submission: document_id b ({reason}")
    expected = 'Expected a markup in JSON, such as \'{"criteria": {"K1": 1}, "selections": []}\'.'
    assert str(ours.value).endswith(expected)
    if reason != "missing" and "nested" not in reason:
        with pytest.raises(metric.HostVisibleError) as theirs:
            metric.score(SOLUTION.assign(markups=[f"[{GOOD}]", f"[{GOOD}, {cell}]"]), SUBMISSION, "document_id")
        start = "markups is wrong in 1 row of the solution: document_id b ("
        assert str(theirs.value).startswith(start)
        if "JSON" not in reason:
            assert str(theirs.value).startswith(f"{start}markup 2, {reason}")


def test_whole_numbers_written_with_a_point_are_whole() -> None:
    frames = (SOLUTION, SUBMISSION.assign(markup=spanning("0.0", "5.0")))
    assert metric.score(*frames, "document_id") == metric.score(
        SOLUTION, SUBMISSION.assign(markup=spanning("0", "5")), "document_id"
    )


def test_markups_that_are_no_list() -> None:
    with pytest.raises(
        metric.HostVisibleError, match=r"document_id a \(an object instead of a list of markups"
    ):
        metric.score(SOLUTION.assign(markups=[GOOD, f"[{GOOD}]"]), SUBMISSION, "document_id")


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
}


@pytest.mark.parametrize(("submission", "message"), SUBMISSION_FAULTS.values(), ids=SUBMISSION_FAULTS)
def test_bad_submissions(submission: pd.DataFrame, message: str) -> None:
    with pytest.raises(metric.ParticipantVisibleError) as error:
        metric.score(SOLUTION, submission, "document_id")
    assert str(error.value) == message
    other = SOLUTION.assign(markups=f"[{graded('1')}, {graded('2')}]", text="x" * 200)
    with pytest.raises(metric.ParticipantVisibleError) as again:
        metric.score(other, submission, "document_id")
    assert str(again.value) == message


FULL, EMPTY = graded("14"), graded("0")
SOLUTION_FAULTS = {
    "no rows": (SOLUTION.head(0), "the solution has no rows."),
    "no column": (
        SOLUTION[["document_id", "markups"]],
        "the solution lacks columns: subject. It has: document_id, markups.",
    ),
    "repeated id": (
        SOLUTION.assign(document_id="a"),
        "document_id is wrong in 1 row of the solution: document_id a (repeated). "
        "Expected every document once.",
    ),
    "unknown subject": (
        SOLUTION.assign(subject=["lit", "math"]),
        "subject is wrong in 1 row of the solution: document_id b ('math'). "
        "Expected one of rus, rus-free, lit, social, hist, eng, eng-free.",
    ),
    "missing subject": (
        SOLUTION.assign(subject=["lit", None]),
        "subject is wrong in 1 row of the solution: document_id b (missing). "
        "Expected one of rus, rus-free, lit, social, hist, eng, eng-free.",
    ),
    "missing text": (
        SOLUTION.assign(text=["x" * 20, None]),
        "text is wrong in 1 row of the solution: document_id b (missing). Expected a text in every row.",
    ),
    "m7": (
        SOLUTION.assign(m7=["50", "101"]),
        "m7 is wrong in 1 row of the solution: document_id b ('101'). "
        "Expected a number from 0 to 100 or nothing.",
    ),
    "m7 in words": (
        SOLUTION.assign(m7=["good", None]),
        "m7 is wrong in 1 row of the solution: document_id a ('good'). "
        "Expected a number from 0 to 100 or nothing.",
    ),
    "no experts": (
        SOLUTION.assign(markups="[]"),
        "measure 'otar' is not defined: no document has markups of two experts.",
    ),
    "one expert each": (
        SOLUTION.assign(markups=f"[{GOOD}]"),
        "measure 'otar' is not defined: no document has markups of two experts.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("solution", "message"), SOLUTION_FAULTS.values(), ids=SOLUTION_FAULTS)
def test_bad_solutions(solution: pd.DataFrame, message: str) -> None:
    with pytest.raises(metric.HostVisibleError) as error:
        metric.prepare(solution, "document_id")
    assert str(error.value) == message


def test_measures_that_are_not_defined() -> None:
    with pytest.raises(metric.HostVisibleError, match="'m' is not defined: no document has an expert's markup"):
        metric.prepare(SOLUTION.assign(markups="[]"), "document_id", "m")
    # The grades of the experts are as different as can be, and one of them marked nothing.
    apart = json.dumps([markup(selection(0, 5), K1=14), markup(K1=0)])
    with pytest.raises(metric.HostVisibleError, match="'m_opt' is not defined: the experts' accuracy is 0"):
        metric.prepare(SOLUTION.assign(markups=apart), "document_id", "m_opt")
    some = metric.evaluate(SOLUTION.assign(markups=[apart, f"[{GOOD}, {GOOD}]"]), SUBMISSION, "document_id")
    assert np.isnan(some.documents["otar"]).tolist() == [True, False]
    assert some.score > 100


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"measure": "f1"}, "measure is 'f1'; expected one of otar, m_avg, m_opt, m."),
        ({"h": 1.5}, "h is 1.5; expected a number from 0 to 1."),
        ({"h": float("nan")}, "h is nan; expected a number from 0 to 1."),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(metric.HostVisibleError) as error:
        metric.score(SOLUTION, SUBMISSION, "document_id", **parameters)
    assert str(error.value) == message


def test_bad_arguments_of_accuracy() -> None:
    with pytest.raises(ValueError, match=r"^the second markup: the markup has no criteria$"):
        metric.accuracy(markup(), {}, "rus")
    with pytest.raises(ValueError, match="subject is 'math'; expected one of rus, "):
        metric.accuracy(markup(), markup(), "math")


def test_the_largest_markups_take_bounded_time_and_memory() -> None:
    many = selected(",".join(['{"startSelection": 0, "endSelection": 20, "type": "logic"}'] * 2000))
    result = metric.evaluate(SOLUTION, SUBMISSION.assign(markup=[GOOD, many]), "document_id")
    assert result.documents["algorithm.M2"].tolist() == pytest.approx([100, 100 * 4 / 2002])


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


def test_a_folder_of_essays_scores_as_the_frames_do() -> None:
    folder = data.SAMPLES / "essays"
    solution, submission = metric.read_solution(folder), metric.read_submission(folder)
    assert list(solution) == ["document_id", "subject", "text", "markups"]
    assert list(submission) == ["document_id", "markup"]
    assert metric.score(solution, submission, "document_id") == metric.score(*sample_frames(), "document_id")


def write(folder: Path, name: str, content: Any) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def test_one_markup_per_file(tmp_path: Path) -> None:
    """As the competition sent its files: whose markup it is stands in meta.expert."""
    for name, expert in (("one", "Ivanova"), ("two", "Petrova"), ("alg", "")):
        content = {"meta": {"id": 17, "subject": "rus", "expert": expert}, "text": "x" * 9}
        write(tmp_path, f"{name}.json", content | markup(selection(0, 5)))
    documents = metric.read_documents(tmp_path)
    assert documents[["document_id", "subject", "text"]].to_numpy().tolist() == [["17", "rus", "x" * 9]]
    assert len(json.loads(documents["markups"][0])) == 2
    assert metric.score(metric.read_solution(tmp_path), metric.read_submission(tmp_path), "document_id") == 100


def test_files_that_do_not_say_whose_markup_they_hold(tmp_path: Path) -> None:
    for number in range(2):
        write(tmp_path, f"experts/{number}.json", markup() | {"document_id": "e", "subject": "lit"})
    write(tmp_path, "algorithm/e.json", markup())
    solution = metric.read_solution(tmp_path / "experts")
    assert list(solution) == ["document_id", "subject", "markups"]
    assert metric.read_documents(tmp_path / "algorithm")["markup"].isna().all()
    assert metric.score(solution, metric.read_submission(tmp_path / "algorithm"), "document_id") == 100


def test_an_essay_without_the_outer_key(tmp_path: Path) -> None:
    write(tmp_path, "e.json", {"subject": "lit", "markups": [markup(), markup()], "markup": markup()})
    assert metric.score(metric.read_solution(tmp_path), metric.read_submission(tmp_path), "document_id") == 100


FILE_FAULTS = {
    "not JSON": ("{", "a.json: not JSON: Expecting property name enclosed in double quotes at character 2."),
    "empty": ("", "a.json: missing."),
    "no object": ([1], "a.json: the file is a list instead of an object."),
    "no markup": ({"text": "x"}, "a.json: expected an essay with markups, or a markup with selections."),
    "essay": ({"essay": 5}, "a.json: essay is 5 instead of an object."),
    "subject": ({"subject": 5, "selections": []}, "a.json: subject is 5 instead of text."),
    "a markup": ({"markups": [5]}, "a.json: a markup is 5 instead of an object."),
}


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
    def message() -> str:
        with pytest.raises(metric.ParticipantVisibleError) as raised:
            metric.read_submission(tmp_path)
        return str(raised.value)

    assert message() == f"{tmp_path} has no file *.json."
    (tmp_path / "b.json").write_bytes(b"\xff")
    assert message() == "b.json is not UTF-8 text."
    (tmp_path / "b.json").unlink()
    (tmp_path / "b.json").mkdir()
    assert message().startswith("b.json cannot be read: ")
    (tmp_path / "b.json").rmdir()
    write(tmp_path, "b.json", {"id": "d", "subject": "lit", "markup": markup()})
    write(tmp_path, "c.json", {"id": "d", "subject": "lit", "markup": markup()})
    assert message() == "document 'd' has 2 algorithm's markups."
    write(tmp_path, "c.json", {"id": "d", "subject": "rus", "markups": []})
    assert message() == "document 'd' has different subjects in different files."
    write(tmp_path, "c.json", {"id": "e", "subject": "rus", "markups": [], "markup": None})
    assert message() == "1 document without an algorithm's markup: 'e'."


def command_line(*arguments: object) -> int:
    return run(evaluate_tool.main, ["--metric", str(FILE), *map(str, arguments)])


def test_the_command_line_on_samples(evaluated: Any, capsys: pytest.CaptureFixture[str]) -> None:
    paths = data.SAMPLES / "solution.csv", data.SAMPLES / "submission.csv"
    assert command_line(*paths, "--set", "h=0.5") == 0
    assert capsys.readouterr().out.startswith(f"Score    {evaluated.score:.6f}\n")
    assert command_line(data.SAMPLES / "essays", data.SAMPLES / "essays", "--set", "measure=m") == 0
    assert capsys.readouterr().out.startswith(f"Score    {evaluated.m:.6f}\n")


def test_the_command_line_as_a_program(evaluated: Any) -> None:
    paths = [
        ROOT / "evaluate.py",
        "--metric",
        FILE,
        data.SAMPLES / "solution.csv",
        data.SAMPLES / "submission.csv",
    ]
    command = [sys.executable, "-W", "error", *map(str, paths), "--json", "--set", "h=0.5"]
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
    assert command_line(solution, submission, "--set", "h=2") == 4
    assert command_line(solution, tmp_path / "none") == 2


# ---------------------------------------------------------------------------------------------
# The hosted file
# ---------------------------------------------------------------------------------------------


def test_doctests() -> None:
    outcome = doctest.testmod(metric_file.load(FILE))
    assert outcome.attempted > 15
    assert outcome.failed == 0


def test_the_contract() -> None:
    parameters = list(inspect.signature(metric.score).parameters.values())
    assert [parameter.name for parameter in parameters[:3]] == ["solution", "submission", "row_id_column_name"]
    assert parameters[2].default is inspect.Parameter.empty
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in parameters)
    assert len(inspect.getdoc(metric.score) or "") < 8_000
    assert all(hasattr(metric, name) for name in metric.__all__)


def test_safe_as_a_notebook_cell() -> None:
    namespace = {"__name__": "__main__"}
    exec(compile(FILE.read_text(encoding="utf-8"), "cell", "exec"), namespace)
    score: Any = namespace["score"]
    assert score(*sample_frames(), "document_id") == metric.score(*sample_frames(), "document_id")
