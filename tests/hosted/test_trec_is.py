"""`metrics/trec_is` computes the memo's equations, follows the rules beyond it, and names bad input."""

import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from podium import statistics
from podium.metric import hosted
from podium.metric.parameters import higher_is_better
from podium.scoring import evaluating
from tests.support import trec_is_transcription as transcription
from tests.support.examples import examples
from tests.support.samples import case_of
from tests.support.trec_is_data import (
    ACTIONABLE,
    ANOTHER,
    BOTH,
    DATA,
    OTHER,
    answered,
    competition,
    flat_run,
    labeled,
    official,
    perfect_run,
)

trec_is = hosted.module("trec_is")

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the track's files are not beside the repository")


ANOTHER_ACTIONABLE = "Report-EmergingThreats"


# One tweet of each group, so that a solution is valid; worth -1 and 0 under REST_ANSWERS.
REST = (("High", OTHER, "rest"), ("Low", "", "rest"))
REST_ANSWERS = ((0.0, ""), (0.0, ""))


def visited(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> pd.DataFrame:
    """Every labeled tweet in the order of its visit, with the columns of the transcription."""
    prepared = trec_is.prepare(solution, "tweet_id", **parameters)
    visits = prepared.compare(prepared.read(submission))
    names = np.array([["no alert", "false alert"], ["missed alert", "true alert"]])
    cases = np.where(
        visits["row"] >= 0, names[visits["important"].astype(int), visits["alert"].astype(int)], "missing"
    )
    return pd.DataFrame(
        {
            "tweet_id": [prepared.tweet_ids[tweet] for tweet in visits.index],
            "event_id": [prepared.items[event] for event in visits["event"]],
            "case": cases,
            "row": visits["row"],
            "score": visits["score"],
            "delta": np.where(visits["row"] >= 0, visits["delta"], np.nan),
            "worth": visits["worth"],
        }
    )


def column(name: str, solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> list[Any]:
    """A column of `visited`, in the order of the ids."""
    return visited(solution, submission, **parameters).sort_values("tweet_id")[name].tolist()


def worth_of(priority: str, true: str, score: float, said: str) -> float:
    """The worth of the first tweet of an event, which is the only one."""
    return column("worth", labeled((priority, true), *REST), answered((score, said), *REST_ANSWERS))[0]


def measures(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> dict[str, float]:
    """The measures of a submission."""
    prepared = trec_is.prepare(solution, "tweet_id", **parameters)
    return statistics.measures(prepared, prepared.statistics(submission))


def same(first: dict[str, float], second: dict[str, float]) -> bool:
    """Whether two dicts have the same numbers to the last bit, where NaN equals NaN."""
    return repr(first) == repr(second)


# ---- The data in the file ----


def test_there_are_25_types_and_the_memos_six_actionable_ones() -> None:
    assert len(trec_is.INFORMATION_TYPES) == 25
    assert sorted(trec_is.INFORMATION_TYPES) == transcription.ALL
    actionable = np.array(trec_is.INFORMATION_TYPES)[trec_is.IS_ACTIONABLE]
    assert set(actionable.tolist()) == transcription.ACTIONABLE
    sets, _ = trec_is.parse_types([" ".join(actionable), " ".join(transcription.OTHERS)])
    assert sets.tolist() == [trec_is._ACTIONABLE, 2**25 - 1 - trec_is._ACTIONABLE]


@needs_data
def test_the_types_are_those_of_the_ontology() -> None:
    ontology = json.loads((DATA / "TRECIS-2021A-ITypes.json").read_text(encoding="utf-8"))
    assert [entry["id"] for entry in ontology["informationTypes"]] == list(trec_is.INFORMATION_TYPES)


@pytest.mark.parametrize(
    ("name", "full"), [*((full, full) for full in transcription.ALL), *transcription.RENAMED.items()]
)
def test_short_names_and_those_of_2018(name: str, full: str) -> None:
    sets, unknown = trec_is.parse_types([full, name, name.split("-")[-1], f" {name}\t{name}\n"])
    assert sets.tolist() == [1 << trec_is.INFORMATION_TYPES.index(full)] * 4
    assert unknown == [""] * 4


# ---- Equations (1) to (6) ----


@pytest.mark.parametrize("priority", ["High", "Critical"])
@pytest.mark.parametrize(
    ("true", "score", "said", "worth"),
    [
        (BOTH, 0.7, BOTH, 1.0),
        (BOTH, 1.0, ACTIONABLE, 0.3 + 0.7 * 0.75),
        (BOTH, 1.0, OTHER, 0.3 + 0.7 * 0.25),
        (BOTH, 1.0, f"{BOTH} {ANOTHER_ACTIONABLE}", 0.3 + 0.7 * (0.75 / 2 + 0.25)),
        (OTHER, 1.0, OTHER, 1.0),
        (OTHER, 1.0, ANOTHER, 0.3),
        ("", 1.0, "", 0.3),
        (BOTH, math.nextafter(0.7, 0), BOTH, -1.0),
        (BOTH, 0.0, "", -1.0),
    ],
)
def test_equation_1(priority: str, true: str, score: float, said: str, worth: float) -> None:
    assert worth_of(priority, true, score, said) == pytest.approx(worth, abs=1e-15)


@pytest.mark.parametrize("priority", ["Low", "Medium"])
def test_equation_5(priority: str) -> None:
    assert worth_of(priority, BOTH, 0.69, ACTIONABLE) == 0.75
    assert worth_of(priority, OTHER, 0.69, ANOTHER) == 0.0
    solution = labeled(*[(priority, BOTH)] * 31, *REST)
    submission = answered(*[(0.7, BOTH)] * 31, *REST_ANSWERS)
    expected = [max(-math.log10(delta / 2 + 1), -1.0) for delta in range(31)]
    assert column("worth", solution, submission)[:31] == pytest.approx(expected, abs=1e-15)


def test_only_errors_of_the_priority_are_better_lower() -> None:
    for name in trec_is.MEASURES:
        assert trec_is.higher_is_better(measure=name) is not ("mse" in name)
        assert higher_is_better(hosted.load("trec_is"), {"measure": name}) is not ("mse" in name)
    assert trec_is.higher_is_better() is True


# ---- Rules beyond the memo ----


def test_an_empty_submission_misses_everything() -> None:
    solution = labeled(("High", OTHER), ("Low", OTHER))
    empty = answered((1.0, "")).head(0)
    values = measures(solution, empty)
    assert [values[name] for name in ("high_priority_worth", "low_priority_worth", "score")] == [
        -1.0,
        0.0,
        -0.5,
    ]
    assert values["info_type_f1_all"] == 0.0
    assert measures(solution, empty, forgive_missing_tweets=True)["score"] == 0.0
    assert column("case", solution, empty) == ["missing", "missing"]


def test_leaving_out_what_is_no_alert_never_pays() -> None:
    """By the track's scripts, a tweet that the run lacks is worth 0, so that leaving out missed alerts pays."""
    solution = labeled(*[("High", "")] * 5, *[("Low", "")] * 5)
    run = answered(*[(0.3, "")] * 10)
    scores = [
        [trec_is.score(solution, rows, "tweet_id", forgive_missing_tweets=forgiven) for rows in (run, run[5:])]
        for forgiven in (False, True)
    ]
    assert scores == [[-0.5, -0.5], [-0.5, 0.0]]


def test_normalizing_a_constant_run_gives_0() -> None:
    solution = labeled(("High", OTHER), ("Low", OTHER))
    visits = visited(solution, answered((0.9, ""), (0.9, "")), normalize_priority=True)
    assert visits["score"].tolist() == [0.0, 0.0]
    assert visits["case"].tolist() == ["missed alert", "no alert"]


def test_normalizing_survives_scores_of_any_size() -> None:
    solution = labeled(("High", OTHER), ("Low", OTHER), ("Low", OTHER))
    huge = answered((1.7e308, ""), (-1.7e308, ""), (0.0, ""))
    assert column("score", solution, huge, normalize_priority=True) == [1.0, 0.0, 0.5]
    tiny = answered((5e-324, ""), (0.0, ""), (0.0, ""))
    assert column("score", solution, tiny, normalize_priority=True) == [0.0, 0.0, 0.0]
    assert trec_is.score(solution, huge.head(0), "tweet_id", normalize_priority=True) == -0.5


def test_a_tweet_twice_in_the_solution_with_equal_labels_counts_once() -> None:
    once = labeled(("High", BOTH, "b"), ("Low", OTHER, "a"), ("Low", OTHER, "b"))
    again = once.iloc[[0]].assign(event_id="c", categories=f"{OTHER} {ACTIONABLE}")
    submission = answered((0.9, BOTH), (0.9, ""), (0.9, ""))
    for rows, numbers in (([once, again], [1, 0, 1, 1]), ([again, once], [1, 1, 0, 1])):
        solution = pd.concat(rows)
        assert same(measures(solution, submission), measures(once, submission))
        prepared = trec_is.prepare(solution, "tweet_id")
        assert prepared.items == ["a", "b"]  # b comes before c as text
        assert prepared.item_of_row.tolist() == numbers


def test_each_measure_can_be_the_score() -> None:
    solution, submission = competition()
    for name in trec_is.MEASURES:
        values = measures(solution, submission, measure=name)
        assert values["score"] == values[name]
        assert trec_is.score(solution, submission, "tweet_id", measure=name) == values[name]


# ---- Against the literal transcription ----

IDS = ("9", "10", "2", "100", "33", "7", "1220657770569064448", "999999999999999999", *"baBé", "1e3", "x y")
CELLS = (
    "",
    OTHER,
    ACTIONABLE,
    BOTH,
    f"{OTHER} {ANOTHER}",
    f"{ACTIONABLE} {ANOTHER_ACTIONABLE}",
    f"News {ANOTHER}  Other-PastNews",
    f"KnownAlready {ANOTHER_ACTIONABLE}",
    "SignificantEventChange News Sentiment SearchAndRescue",
    None,
)
SCORES = st.one_of(st.sampled_from([0.7, 1.0, 0.0, 0.69, 0.25, 0.9, -1.5, 3.0]), st.floats(-2, 2))
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "actionable_weight": st.floats(0, 1),
        "alert_gain": st.floats(0, 1),
        "alert_threshold": st.floats(-1, 2),
        "normalize_priority": st.booleans(),
        "forgive_missing_tweets": st.booleans(),
    },
)


@st.composite
def competitions(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A small valid pair with many ties and false alerts, and with missing, unlabeled and repeated tweets."""
    ids = draw(st.permutations(IDS))
    number = draw(st.integers(2, 10))
    label = st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["Low", "Low", "Medium", "High", "Critical"]),
        st.sampled_from(CELLS),
    )
    labels = draw(st.lists(label, min_size=number, max_size=number))
    labels[0] = (labels[0][0], "High", labels[0][2])
    labels[1] = (labels[1][0], "Low", labels[1][2])
    rows = [(ids[n], *labels[n]) for n in range(number)]
    again = draw(st.lists(st.tuples(st.integers(0, number - 1), st.sampled_from("abcd")), max_size=2))
    rows += [(ids[n], event, *labels[n][1:]) for n, event in again]
    solution = pd.DataFrame(rows, columns=["tweet_id", "event_id", "priority", "categories"])

    first = draw(
        st.integers(0, number - 1)
    )  # the tweets before it are missing; those from `number` have no label
    answer = st.tuples(st.integers(0, 5), SCORES, st.sampled_from(CELLS))
    answers = draw(st.lists(answer, min_size=len(ids) - first, max_size=len(ids) - first))
    run = [(ids[first + n], "abc"[n % 3], *answer) for n, answer in enumerate(answers)]
    events = draw(st.sampled_from(["none", "any", "repeated"]))
    if events == "repeated":
        run += [(tweet, {"a": "b", "b": None, "c": "d"}[event], *answers[-1]) for tweet, event, *_ in run[::2]]
    submission = pd.DataFrame(run, columns=["tweet_id", "event_id", "rank", "priority", "categories"])
    if events == "none":
        del submission["event_id"]
    return solution, submission


def assert_same_as_transcription(solution: pd.DataFrame, submission: pd.DataFrame, parameters: Any) -> None:
    """Check all measures and the outcome of every tweet against the transcription."""
    expected = transcription.evaluate(solution, submission, **parameters)
    assert measures(solution, submission, **parameters) == pytest.approx(
        {"score": expected.measures["accumulated_alert_worth"]} | expected.measures, abs=1e-12, nan_ok=True
    )
    visits = visited(solution, submission, **parameters)
    assert sorted(visits["tweet_id"]) == sorted(expected.visits)
    assert dict(zip(visits["tweet_id"], visits["case"])) == {t: v.case for t, v in expected.visits.items()}
    assert dict(zip(visits["tweet_id"], visits["worth"])) == pytest.approx(
        {tweet: visit.worth for tweet, visit in expected.visits.items()}, abs=1e-12
    )
    assert dict(zip(visits["tweet_id"], visits["delta"])) == pytest.approx(
        {t: math.nan if v.delta is None else v.delta for t, v in expected.visits.items()}, nan_ok=True
    )


@examples(60)
@given(competitions(), PARAMETERS)
def test_same_as_the_transcription(frames: tuple[pd.DataFrame, pd.DataFrame], parameters: Any) -> None:
    assert_same_as_transcription(*frames, parameters)


@pytest.mark.slow
@settings(max_examples=500)
@given(competitions(), PARAMETERS)
def test_same_as_the_transcription_on_many(frames: tuple[pd.DataFrame, pd.DataFrame], parameters: Any) -> None:
    assert_same_as_transcription(*frames, parameters)


@pytest.mark.parametrize("seed", range(3))
def test_same_as_the_transcription_on_long_rankings(seed: int) -> None:
    solution, submission = competition(tweets=300, events=4 + 3 * seed, seed=seed)
    assert_same_as_transcription(solution, submission, {"normalize_priority": seed % 2 == 1})


def with_missing_tweets(solution: pd.DataFrame, submission: pd.DataFrame, priority: float) -> pd.DataFrame:
    """The run, and at the end a row of this priority without types for each labeled tweet that it lacks."""
    event_of_tweet = solution.sort_values("event_id").drop_duplicates("tweet_id")
    lacking = event_of_tweet[~event_of_tweet["tweet_id"].isin(submission["tweet_id"])]
    rows = lacking[["tweet_id"]].assign(rank=100, priority=priority, categories="")
    if "event_id" in submission:
        rows["event_id"] = lacking["event_id"]
    return pd.concat([submission, rows], ignore_index=True)


@examples(60)
@given(competitions(), PARAMETERS)
def test_a_tweet_that_the_run_lacks_counts_like_a_row_without_alert(
    frames: tuple[pd.DataFrame, pd.DataFrame], parameters: Any
) -> None:
    """In every measure, as long as a priority of 0.25 is no alert.

    With `normalize_priority` the row has the priority that becomes 0.25, which there is unless all are equal.
    """
    solution, submission = frames
    threshold = max(parameters.get("alert_threshold", 0.7), 0.26)
    parameters = parameters | {"forgive_missing_tweets": False, "alert_threshold": threshold}
    priority, tolerance = 0.25, 0.0
    if parameters.get("normalize_priority"):
        lowest, highest = submission["priority"].min(), submission["priority"].max()
        assume(highest - lowest > 1e-6)
        priority, tolerance = lowest + (highest - lowest) / 4, 1e-9
    filled = measures(solution, with_missing_tweets(solution, submission, priority), **parameters)
    expected = pytest.approx(filled, rel=0, abs=tolerance, nan_ok=True)
    assert measures(solution, submission, **parameters) == expected


@examples(60)
@given(competitions(), PARAMETERS, st.data())
def test_leaving_out_a_tweet_without_an_alert_never_raises_a_worth(
    frames: tuple[pd.DataFrame, pd.DataFrame], parameters: Any, data: st.DataObject
) -> None:
    solution, submission = frames
    parameters = parameters | {"normalize_priority": False, "forgive_missing_tweets": False}
    alerts = submission.groupby("tweet_id")["priority"].max() >= parameters.get("alert_threshold", 0.7)
    calm = alerts.index[~alerts].tolist()
    assume(calm and len(calm) < len(alerts))
    gone = data.draw(st.lists(st.sampled_from(calm), min_size=1, unique=True))
    rest = submission[~submission["tweet_id"].isin(gone)]
    assume(rest["tweet_id"].isin(solution["tweet_id"]).any())
    before, after = (measures(solution, rows, **parameters) for rows in (submission, rest))
    for name in ("accumulated_alert_worth", "high_priority_worth", "low_priority_worth"):
        assert after[name] <= before[name] + 1e-12


# ---- Golden numbers ----

# The numbers of the sample, as the transcription once gave them. The run lacks five labeled tweets, of which
# two are labeled High or Critical.
GOLDEN = {
    "accumulated_alert_worth": -0.021596930534754838,
    "high_priority_worth": -0.427020202020202,
    "low_priority_worth": 0.38382634095069235,
    "info_type_f1_actionable": 0.6961543573385679,
    "info_type_f1_all": 0.7654532835646539,
    "info_type_accuracy_all": 0.9590000000000001,
    "priority_mse_actionable": 0.12911922918709817,
    "priority_mse_all": 0.09769477254057052,
    "priority_rmse_actionable": 0.3593316423404682,
    "priority_rmse_all": 0.3125616299877042,
}


def test_golden_numbers_of_the_sample() -> None:
    values = measures(*case_of("trec_is").tables)
    del values["score"]
    assert values == pytest.approx(GOLDEN, rel=0, abs=1e-12)


def test_golden_numbers_of_incomplete_runs() -> None:
    """By the track's scripts, the sample gains by leaving out all rows without an alert."""
    solution, submission = case_of("trec_is").tables
    alerts = submission[submission["priority"] >= 0.7]
    scores = [
        [
            trec_is.score(solution, run, "tweet_id", forgive_missing_tweets=forgiven)
            for run in (submission, alerts)
        ]
        for forgiven in (False, True)
    ]
    assert scores[0] == pytest.approx([-0.021596930534754838, -0.2830634659678257], rel=0, abs=1e-12)
    assert scores[1] == pytest.approx([0.008706099768275466, 0.05026986736550762], rel=0, abs=1e-12)


@needs_data
@pytest.mark.parametrize(
    ("make_run", "expected"),
    [
        (flat_run, [-1, -0.248682, 0, 0.022963, 0.893559, 0.098502, 0.065450]),
        (perfect_run, [0.998592, 0.997933, 1, 1, 1, 0, 0]),
    ],
)
def test_the_numbers_of_the_spec(
    make_run: Callable[[pd.DataFrame], pd.DataFrame], expected: list[float]
) -> None:
    solution = official()
    values = measures(solution, make_run(solution))
    assert [
        round(values[name], 6)
        for name in (
            "high_priority_worth",
            "accumulated_alert_worth",
            "info_type_f1_actionable",
            "info_type_f1_all",
            "info_type_accuracy_all",
            "priority_mse_actionable",
            "priority_mse_all",
        )
    ] == expected


# ---- Participants' mistakes ----


def change(name: str, value: Any, row: int = 0) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """The table with another value in one cell."""

    def changed(frame: pd.DataFrame) -> pd.DataFrame:
        values = frame[name].astype(object).tolist()
        values[row] = value
        return frame.assign(**{name: pd.Series(values, dtype=object, index=frame.index)})

    return changed


SOLUTION = labeled(("High", BOTH), ("Low", OTHER), ("Critical", ""), ("Medium", ANOTHER))
SUBMISSION = answered((0.9, BOTH), (0.8, OTHER), (0.7, ""), (0.2, ANOTHER))
UNKNOWN_IDS = SUBMISSION.assign(tweet_id=["a", "b", "c", "d"])

WORDS = {
    "repeated tweet in an event": (
        change("tweet_id", "t03", 0)(SUBMISSION).assign(event_id="flood"),
        "tweet_id: expected each tweet once in the list of an event. Wrong in 1 row of the submission: "
        "tweet_id t03 (repeated)",
    ),
    "rounded ids": (
        SUBMISSION.assign(tweet_id=[1.2206577705690644e18, 2.0, 3.0, 4.0]),
        "tweet_id: expected ids as text or whole numbers. Wrong in 1 row of the submission: tweet_id "
        "1220657770569064448 (a floating-point number, in which digits are lost)",
    ),
    "unknown type": (
        change("categories", "News SearchAndRescu Nonsense", 2)(SUBMISSION),
        "categories: expected names of information types, full or short, separated by spaces, such as "
        "'Report-News Advice'. Wrong in 1 row of the submission: tweet_id t03 ('SearchAndRescu' is unknown)",
    ),
    "none known": (
        UNKNOWN_IDS,
        "tweet_id: expected at least one tweet of the test set. Wrong in 4 rows of the submission: tweet_id a "
        "(not in the test set) and 3 more",
    ),
}


@pytest.mark.parametrize("fault", WORDS)
def test_a_participants_mistake_is_explained_by_the_submission_alone(fault: str) -> None:
    submission, message = WORDS[fault]
    other = labeled(("Low", ANOTHER, "x"), ("High", "", "y"), ("Medium", BOTH, "z"), ("Medium", BOTH, "z"))
    for solution in (SOLUTION, other, other.assign(tweet_id=["t01", "other", "more", "last"])):
        with pytest.raises(trec_is.ParticipantVisibleError) as caught:
            trec_is.score(solution, submission, "tweet_id")
        assert str(caught.value) == message


BAD_CELLS = {
    "tweet_id": [None, " "],
    "priority": ["High", "", "nan", "1_0", math.inf, None, 10**400, [0.5]],
    "rank": [-1, 1.5, "1.5", "first", math.inf, "nan", None, "", pd.Timedelta(1), "1 2"],
    "categories": ["News,Weather", '["News"]', "report-news", "-News", 5, ["News"], "News " * 100000 + "x"],
}


@pytest.mark.parametrize(("name", "cell"), [(name, cell) for name in BAD_CELLS for cell in BAD_CELLS[name]])
def test_a_bad_cell_of_a_submission(name: str, cell: Any) -> None:
    with pytest.raises(trec_is.ParticipantVisibleError) as caught:
        trec_is.score(SOLUTION, change(name, cell, 1)(SUBMISSION), "tweet_id")
    assert str(caught.value).startswith(f"{name}: expected ")
    row = "row number 2 (" if cell is None and name == "tweet_id" else "tweet_id "
    assert f" Wrong in 1 row of the submission: {row}" in str(caught.value)


# ---- The host's mistakes ----

BAD_SOLUTIONS: dict[str, tuple[pd.DataFrame, str]] = {
    "no rows": (SOLUTION.head(0), "^the solution: expected at least one row, found none"),
    "missing event": (change("event_id", None)(SOLUTION), r"^event_id: .* of the solution: tweet_id t01 \("),
    "unknown label": (
        change("priority", "high")(SOLUTION),
        r"^priority: expected one of Low, Medium, High, Critical. Wrong in 1 row .* tweet_id t01 \('high'\)",
    ),
    "missing label": (change("priority", None)(SOLUTION), r"^priority: .*tweet_id t01 \(missing\)"),
    "unknown type": (change("categories", "Damage")(SOLUTION), r"^categories: .*\('Damage' is unknown\)"),
    "another priority": (
        pd.concat([SOLUTION, SOLUTION.head(1).assign(priority="Low")]),
        r"^tweet_id: expected the same priority and categories .* t01 \(labeled differently in an earlier",
    ),
    "other types": (
        pd.concat([SOLUTION, SOLUTION.head(1).assign(categories=OTHER, event_id="another")]),
        r"^tweet_id: .* t01 \(labeled differently",
    ),
}


@pytest.mark.parametrize("fault", BAD_SOLUTIONS)
def test_a_hosts_mistake_in_the_solution(fault: str) -> None:
    solution, message = BAD_SOLUTIONS[fault]
    with pytest.raises(trec_is.HostVisibleError, match=message):
        trec_is.score(solution, SUBMISSION, "tweet_id")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("measure", value) for value in ("aaw", "score", "m" * 1000)),
        *(("actionable_weight", value) for value in (-0.1, 1.1, math.nan)),
        *(("alert_gain", value) for value in (1.5, -1.5)),
        *(("alert_threshold", value) for value in (math.nan, math.inf, 10**400)),
    ],
)
def test_parameters_out_of_range(name: str, value: Any) -> None:
    with pytest.raises(trec_is.HostVisibleError, match=f"^{name}: expected .*, found ") as caught:
        trec_is.score(SOLUTION, SUBMISSION, "tweet_id", **{name: value})
    assert len(str(caught.value)) <= 280


def test_only_the_measure_that_is_asked_for_must_be_defined() -> None:
    quiet, loud = SOLUTION.assign(priority="Low"), SOLUTION.assign(priority="Critical")
    untyped, other = SOLUTION.assign(categories=""), SOLUTION.assign(categories=OTHER)
    groups = {"accumulated_alert_worth", "high_priority_worth"}
    undefined = [
        (quiet, groups),
        (loud, {"accumulated_alert_worth", "low_priority_worth"}),
        (untyped, {name for name in trec_is.MEASURES if "mse" in name}),
        (other, {"priority_mse_actionable", "priority_rmse_actionable"}),
    ]
    for (solution, names), name in itertools.product(undefined, trec_is.MEASURES):
        if name in names:
            with pytest.raises(trec_is.HostVisibleError, match=f"^{name}: expected the labels "):
                trec_is.score(solution, SUBMISSION, "tweet_id", measure=name)
        else:
            assert math.isfinite(trec_is.score(solution, SUBMISSION, "tweet_id", measure=name))
    values = measures(quiet, SUBMISSION, measure="low_priority_worth")
    assert {name for name, value in values.items() if math.isnan(value)} == groups


def test_parts_are_normalized_by_the_whole_run() -> None:
    solution = labeled(("High", OTHER, "a"), ("Low", "", "a"), ("High", OTHER, "b"), ("Low", "", "b"))
    submission = answered((0.6, OTHER), (0.0, ""), (1.0, OTHER), (0.0, ""))
    usage = ["Public"] * 2 + ["Private"] * 2
    prepared = evaluating.prepare(
        hosted.load("trec_is"), solution.assign(Usage=usage), {"normalize_priority": True}
    )
    assert evaluating.evaluate(prepared, submission).scores["Public"] == -0.5  # 0.6 is no alert beside 1.0
    public = solution.head(2)
    assert trec_is.score(public, submission, "tweet_id", normalize_priority=True) == -0.5
    assert trec_is.score(public, submission.head(2), "tweet_id", normalize_priority=True) == 0.5


def test_a_number_is_for_one_event() -> None:
    solution = labeled(("High", OTHER, "a"), ("Low", OTHER, "b"), ("Low", OTHER, "c"))
    run = answered((0.9, OTHER), (0.1, ""))
    with pytest.raises(
        trec_is.HostVisibleError,
        match=r"^event_number: expected each number for one event. Wrong in 1 row .*t01 \('7'\)$",
    ):
        trec_is.prepare(solution.assign(event_number=[7, 7, None]), "tweet_id")
    # A list with the event's own name has priority over one with another event's number.
    prepared = trec_is.prepare(solution.assign(event_number=["b", None, "x"]), "tweet_id")
    read = prepared.read(run.assign(event_id=["b", "x"]))
    assert read["named"].tolist() == [1, 2]
