"""`metrics/trec_is.py`: the memo's equations and properties, the rules beyond them, bad input of every kind."""

import doctest
import inspect
import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from competition import metric_file, scoring
from tests import trec_is_data
from tests import trec_is_transcription as transcription
from tests.trec_is_data import SAMPLES, competition

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "trec_is"
METRIC = ROOT / "metrics" / "trec_is.py"
trec_is = metric_file.load(METRIC)

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the track's files are not beside the repository")

ACTIONABLE = "Request-SearchAndRescue"
ANOTHER_ACTIONABLE = "Report-EmergingThreats"
OTHER = "Report-News"
ANOTHER = "Other-Sentiment"
BOTH = f"{ACTIONABLE} {OTHER}"


def labelled(*tweets: tuple[str, ...]) -> pd.DataFrame:
    """A solution of (priority, types[, event]), with the ids t01, t02 …"""
    return pd.DataFrame(
        {
            "tweet_id": [f"t{number:02}" for number in range(1, len(tweets) + 1)],
            "event_id": [tweet[2] if len(tweet) > 2 else "flood" for tweet in tweets],
            "priority": [tweet[0] for tweet in tweets],
            "categories": [tweet[1] for tweet in tweets],
        }
    )


def answered(*tweets: tuple[float, str]) -> pd.DataFrame:
    """A run of (score, types) for t01, t02 … ranked in this order."""
    return pd.DataFrame(
        {
            "tweet_id": [f"t{number:02}" for number in range(1, len(tweets) + 1)],
            "rank": range(1, len(tweets) + 1),
            "priority": [tweet[0] for tweet in tweets],
            "categories": [tweet[1] for tweet in tweets],
        }
    )


# One tweet of each group, so that a solution is valid; worth -1 and 0 under REST_ANSWERS.
REST = (("High", OTHER, "rest"), ("Low", "", "rest"))
REST_ANSWERS = ((0.0, ""), (0.0, ""))


def worths(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> list[float]:
    """The worth of every labelled tweet, in the order of the ids."""
    return column("worth", solution, submission, **parameters)


def column(name: str, solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> list[Any]:
    tweets = trec_is.evaluate(solution, submission, "tweet_id", **parameters).tweets
    return tweets.loc[tweets["case"] != "ignored"].sort_values("tweet_id")[name].tolist()


def worth_of(priority: str, true: str, score: float, said: str, **parameters: Any) -> float:
    """The worth of one tweet, the first of its event."""
    solution = labelled((priority, true), *REST)
    return worths(solution, answered((score, said), *REST_ANSWERS), **parameters)[0]


def measures(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> dict[str, float]:
    return trec_is.evaluate(solution, submission, "tweet_id", **parameters).measures


def same(first: dict[str, float], second: dict[str, float]) -> bool:
    """Whether two dicts hold the same numbers to the last bit, NaN being NaN."""
    return repr(first) == repr(second)


# ---------------------------------------------------------------------------------------------
# The data in the file
# ---------------------------------------------------------------------------------------------


def test_there_are_25_types_and_the_memos_six_actionable_ones() -> None:
    assert len(trec_is.INFORMATION_TYPES) == 25
    assert sorted(trec_is.INFORMATION_TYPES) == transcription.ALL
    assert set(trec_is.ACTIONABLE_TYPES) == transcription.ACTIONABLE
    assert len(trec_is.ACTIONABLE_TYPES) == 6


@needs_data
def test_the_types_are_those_of_the_ontology() -> None:
    ontology = json.loads((DATA / "TRECIS-2021A-ITypes.json").read_text(encoding="utf-8"))
    assert [entry["id"] for entry in ontology["informationTypes"]] == list(trec_is.INFORMATION_TYPES)


@pytest.mark.parametrize("full", transcription.ALL)
def test_a_short_name_is_the_full_name(full: str) -> None:
    sets, unknown = trec_is.parse_types([full, full.split("-")[1], f" {full}\t{full}\n"])
    assert sets[0] == sets[1] == sets[2] == 1 << trec_is.INFORMATION_TYPES.index(full)
    assert unknown == ["", "", ""]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Report-SignificantEventChange", "Report-NewSubEvent"),
        ("Other-PastNews", "Other-ContextualInformation"),
        ("Other-KnownAlready", "Report-OriginalEvent"),
        ("Other-ContinuingNews", "Report-News"),
    ],
)
def test_the_names_of_2018_are_the_types_they_became(old: str, new: str) -> None:
    sets, unknown = trec_is.parse_types([old, old.split("-")[1], new])
    assert sets[0] == sets[1] == sets[2] != 0
    assert unknown == ["", "", ""]


# ---------------------------------------------------------------------------------------------
# Equations (1) to (6)
# ---------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("true", "said", "actionable_score", "other_score"),
    [
        (BOTH, BOTH, 0.75, 0.25),
        (BOTH, "", 0.0, 0.0),
        (f"{ACTIONABLE} {ANOTHER_ACTIONABLE}", ACTIONABLE, 0.375, 0.0),
        (f"{OTHER} {ANOTHER}", OTHER, 0.0, 0.5),
        (f"{BOTH} {ANOTHER}", f"{ANOTHER_ACTIONABLE} {OTHER} {ANOTHER}", 0.0, 0.25),
    ],
)
def test_equations_2_and_3(true: str, said: str, actionable_score: float, other_score: float) -> None:
    (run, assessor), _ = trec_is.parse_types([said, true])
    scores = trec_is.category_scores(np.array([run]), np.array([assessor]))
    assert [float(score[0]) for score in scores] == pytest.approx([actionable_score, other_score], abs=1e-15)


def test_equation_4_gamma_asks_the_assessor_not_the_run() -> None:
    # Without a true actionable type γ is 0: all weight is on the other types, and the run's extra one is free.
    assert worth_of("High", OTHER, 1.0, BOTH) == 1.0
    assert worth_of("High", BOTH, 1.0, OTHER) == pytest.approx(0.3 + 0.7 * 0.25)
    assert worth_of("High", BOTH, 1.0, ACTIONABLE, actionable_weight=0.4) == pytest.approx(0.3 + 0.7 * 0.4)


def test_0_by_0_is_0() -> None:
    assert worth_of("Low", "", 0.0, "") == 0.0
    assert worth_of("High", "", 1.0, "") == 0.3


def test_a_perfect_alert_misses_1_where_all_true_types_are_actionable() -> None:
    assert worth_of("Critical", ACTIONABLE, 1.0, ACTIONABLE) == pytest.approx(0.825, abs=1e-15)
    assert worth_of("Low", ACTIONABLE, 0.0, ACTIONABLE) == 0.75


@pytest.mark.parametrize("priority", ["Low", "Medium"])
def test_equation_5(priority: str) -> None:
    assert worth_of(priority, BOTH, 0.69, ACTIONABLE) == 0.75
    assert worth_of(priority, OTHER, 0.69, ANOTHER) == 0.0
    solution = labelled(*[(priority, BOTH)] * 31, *REST)
    submission = answered(*[(0.7, BOTH)] * 31, *REST_ANSWERS)
    expected = [max(-math.log10(delta / 2 + 1), -1.0) for delta in range(31)]
    assert worths(solution, submission)[:31] == pytest.approx(expected, abs=1e-15)


def test_equation_6_is_the_mean_of_the_two_groups_means() -> None:
    solution = labelled(("High", OTHER), ("Critical", OTHER), ("High", OTHER), ("Low", BOTH), ("Medium", OTHER))
    submission = answered((0.9, OTHER), (0.1, OTHER), (0.8, ""), (0.0, ACTIONABLE), (0.0, OTHER))
    found = measures(solution, submission)
    assert found["high_priority_worth"] == pytest.approx((1 - 1 + 0.3) / 3)
    assert found["low_priority_worth"] == pytest.approx((0.75 + 1) / 2)
    assert found["accumulated_alert_worth"] == pytest.approx((0.1 + 0.875) / 2)


@pytest.mark.parametrize(("alert_gain", "worth"), [(0.0, 0.75), (0.3, 0.825), (1.0, 1.0)])
def test_alpha(alert_gain: float, worth: float) -> None:
    assert worth_of("High", ACTIONABLE, 1.0, ACTIONABLE, alert_gain=alert_gain) == pytest.approx(worth)


def test_the_threshold_is_a_parameter() -> None:
    assert worth_of("High", OTHER, 0.5, OTHER, alert_threshold=0.5) == 1.0
    assert worth_of("High", OTHER, 0.5, OTHER, alert_threshold=0.51) == -1.0


def test_a_missing_tweet_is_no_alert_however_low_the_threshold() -> None:
    solution = labelled(("High", OTHER), ("Low", OTHER))
    assert column("case", solution, answered((0.1, "")), alert_threshold=0.0) == ["true alert", "missing"]
    evaluation = trec_is.evaluate(solution, answered((0.1, "")), "tweet_id", alert_threshold=0.0)
    assert evaluation.visits.alert.tolist() == [True, False]


# ---------------------------------------------------------------------------------------------
# The seven properties of section 4.2
# ---------------------------------------------------------------------------------------------


def test_property_1_ends_of_the_range_are_reached() -> None:
    solution = labelled(("High", OTHER), *[("Low", OTHER)] * 40)
    best = answered((1.0, OTHER), *[(0.0, OTHER)] * 40)
    assert measures(solution, best)["accumulated_alert_worth"] == 1.0
    worst = answered((0.0, OTHER), *[(1.0, OTHER)] * 40)
    found = measures(solution, worst)
    assert found["high_priority_worth"] == -1.0
    assert found["low_priority_worth"] < -0.8
    assert found["accumulated_alert_worth"] < -0.9


def test_property_2_no_alert_to_an_unimportant_tweet_adds_worth_but_equation_5_rewards_leaving_it_alone() -> (
    None
):
    solution = labelled(("Low", OTHER), ("Medium", OTHER), *REST)
    assert worths(solution, answered((1.0, OTHER), (1.0, OTHER), *REST_ANSWERS))[:2] == [0.0, -math.log10(1.5)]
    assert worths(solution, answered((0.0, OTHER), (0.0, ""), *REST_ANSWERS))[:2] == [1.0, 0.0]


def test_property_3_a_wrong_priority_never_adds_worth() -> None:
    for types in (BOTH, OTHER, ""):
        assert worth_of("High", types, 0.0, types) == -1.0
        assert worth_of("Critical", types, 0.69, types) == -1.0
        assert worth_of("Low", types, 0.7, types) == 0.0
        assert worth_of("Medium", types, 1.0, types) == 0.0


def test_property_4_more_types_than_the_assessors_cost() -> None:
    worth = [worth_of("High", BOTH, 1.0, BOTH)]
    said = BOTH
    for more in (ANOTHER, ANOTHER_ACTIONABLE, "Other-Advice", "Report-NewSubEvent"):
        said += f" {more}"
        worth.append(worth_of("High", BOTH, 1.0, said))
    assert worth == sorted(set(worth), reverse=True)
    assert worth[-1] > 0.3


@pytest.mark.parametrize("said", ["", ANOTHER, f"{ANOTHER_ACTIONABLE} {ANOTHER}"])
def test_property_5_a_true_alert_is_worth_alpha_whatever_its_types(said: str) -> None:
    assert worth_of("High", BOTH, 0.7, said) == 0.3
    assert worth_of("High", BOTH, 0.7, said, alert_gain=0.05) == 0.05


def test_property_6_false_alerts_escalate_to_minus_1_after_18_of_them() -> None:
    solution = labelled(*[("Low", "")] * 21, *REST)
    submission = answered(*[(0.9, "")] * 21, *REST_ANSWERS)
    worth = worths(solution, submission)[:21]
    assert column("delta", solution, submission)[:21] == list(range(21))
    assert math.copysign(1, worth[0]) == 1.0  # the first is free, and no negative zero
    assert worth[0] == 0.0
    assert worth[:19] == sorted(set(worth[:19]), reverse=True)  # each of them costs more than the one before
    assert worth[17] == pytest.approx(-math.log10(9.5))
    assert worth[18:] == [-1.0] * 3


def test_property_7_events_with_many_important_tweets_weigh_more() -> None:
    solution = labelled(*[("High", OTHER, "big")] * 3, ("High", OTHER, "small"), ("Low", "", "small"))
    good_in_big = answered(*[(1.0, OTHER)] * 3, (0.0, ""), (0.0, ""))
    good_in_small = answered(*[(0.0, "")] * 3, (1.0, OTHER), (0.0, ""))
    assert measures(solution, good_in_big)["high_priority_worth"] == 0.5
    assert measures(solution, good_in_small)["high_priority_worth"] == -0.5


# ---------------------------------------------------------------------------------------------
# δ
# ---------------------------------------------------------------------------------------------


def deltas(*tweets: tuple[str, float] | tuple[str, float, str]) -> list[float]:
    """δ at each of some (priority, score[, event]) tweets, ranked in this order."""
    solution = labelled(*[(tweet[0], "", *tweet[2:]) for tweet in tweets], *REST)
    return column("delta", solution, answered(*[(tweet[1], "") for tweet in tweets], *REST_ANSWERS))[
        : len(tweets)
    ]


def test_delta_is_reset_by_a_true_alert() -> None:
    alerts = [
        ("Low", 1.0),
        ("Medium", 1.0),
        ("High", 1.0),
        ("Low", 1.0),
        ("Low", 1.0),
        ("Critical", 0.7),
        ("Low", 1.0),
    ]
    assert deltas(*alerts) == [0, 1, 2, 0, 1, 2, 0]


def test_delta_is_not_reset_by_what_is_no_true_alert() -> None:
    assert deltas(("Low", 1.0), ("High", 0.0), ("Low", 0.0), ("Low", 1.0), ("Low", 1.0)) == [0, 1, 1, 1, 2]


def test_delta_is_reset_by_a_new_event() -> None:
    tweets = [("Low", 1.0, "a"), ("Low", 1.0, "a"), ("Low", 1.0, "b"), ("Low", 1.0, "b"), ("Low", 1.0, "c")]
    assert deltas(*tweets) == [0, 1, 0, 1, 0]


def test_events_are_visited_one_by_one_even_if_their_ranks_interleave() -> None:
    assert deltas(("Low", 1.0, "a"), ("Low", 1.0, "b"), ("Low", 1.0, "a"), ("Low", 1.0, "b")) == [0, 0, 1, 1]


def test_delta_of_the_stage_alone_and_of_nothing() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    none = np.zeros(0, dtype=bool)
    assert trec_is.false_alerts_before(nothing, none, none).tolist() == []
    event = np.array([0, 0, 1, 1])
    important, alert = np.array([False, True, False, False]), np.ones(4, dtype=bool)
    assert trec_is.false_alerts_before(event, important, alert).tolist() == [0, 1, 0, 1]


def test_ties_of_rank_are_visited_by_id_as_text() -> None:
    solution = labelled(*[("Low", "")] * 3, *REST).assign(tweet_id=["9", "10", "100", "x", "y"])
    submission = answered(*[(1.0, "")] * 3, *REST_ANSWERS).assign(tweet_id=solution["tweet_id"], rank=1)
    tweets = trec_is.evaluate(solution, submission, "tweet_id").tweets
    assert tweets["tweet_id"].tolist() == ["10", "100", "9", "x", "y"]
    assert tweets["delta"].tolist()[:3] == [0, 1, 2]


def test_rank_orders_the_visits_whatever_the_scores() -> None:
    solution = labelled(("Low", ""), ("Low", ""), *REST)
    submission = answered((0.7, ""), (1.0, ""), *REST_ANSWERS).assign(rank=[8, 30, 1, 2])
    assert column("delta", solution, submission)[:2] == [0, 1]
    assert column("delta", solution, submission.assign(rank=[30, 8, 1, 2]))[:2] == [1, 0]
    assert column("delta", solution, submission.assign(rank=[0, 10**15, 1, 2]))[:2] == [0, 1]


# ---------------------------------------------------------------------------------------------
# Information feed and prioritisation
# ---------------------------------------------------------------------------------------------


def test_f1_per_type_over_all_events_averaged_over_25_and_6_types() -> None:
    solution = labelled(("High", BOTH, "a"), ("Low", BOTH, "b"), ("Low", OTHER, "b"))
    submission = answered((1.0, ACTIONABLE), (0.0, OTHER), (0.0, f"{ACTIONABLE} {OTHER} {ANOTHER}"))
    evaluation = trec_is.evaluate(solution, submission, "tweet_id")
    types = evaluation.types.set_index("information_type")
    assert types.loc[ACTIONABLE, ["tweets", "tp", "fp", "fn", "tn"]].tolist() == [2, 1, 1, 1, 0]
    assert types.loc[OTHER, ["tweets", "tp", "fp", "fn", "tn"]].tolist() == [3, 2, 0, 1, 0]
    assert types.loc[ANOTHER, ["tweets", "tp", "fp", "fn", "tn"]].tolist() == [0, 0, 1, 0, 2]
    assert types.loc[[ACTIONABLE, OTHER, ANOTHER, "Other-Advice"], "f1"].tolist() == [0.5, 0.8, 0.0, 0.0]
    assert evaluation.measures["info_type_f1_all"] == pytest.approx((0.5 + 0.8) / 25)
    assert evaluation.measures["info_type_f1_actionable"] == pytest.approx(0.5 / 6)
    assert evaluation.measures["info_type_accuracy_all"] == pytest.approx((1 / 3 + 2 / 3 + 2 / 3 + 22) / 25)
    assert types["actionable"].sum() == 6
    assert types.loc[OTHER, ["precision", "recall"]].tolist() == pytest.approx([1, 2 / 3])
    assert types.loc["Other-Advice", ["precision", "recall", "mse", "rmse"]].isna().all()
    assert math.isnan(types.loc[ANOTHER, "recall"])


def test_mse_per_type_over_the_types_that_occur() -> None:
    solution = labelled(("Critical", BOTH), ("Medium", OTHER), ("Low", OTHER), ("Low", ANOTHER))
    submission = answered((0.5, ""), (0.25, ""), (0.35, ""), (0.45, f"{ACTIONABLE} Other-Advice"))
    found = measures(solution, submission)
    actionable, other, another = 0.25, (0.25 + 0.0625 + 0.01) / 3, 0.04
    assert found["priority_mse_actionable"] == pytest.approx(actionable)
    assert found["priority_mse_all"] == pytest.approx((actionable + other + another) / 3)
    assert found["priority_rmse_actionable"] == pytest.approx(0.5)
    assert found["priority_rmse_all"] == pytest.approx(math.sqrt((actionable + other + another) / 3))


@pytest.mark.parametrize(
    ("priority", "score", "error"),
    [
        ("Low", 0.0, 0.0),
        ("Low", -7.0, 0.0),
        ("Critical", 3.0, 0.0),
        ("High", 0.75, 0.0),
        ("Medium", 0.5, 0.0),
        ("Medium", 0.0, 0.0625),
        ("High", 9.0, 0.0625),
        ("Critical", 0.25, 0.5625),
    ],
)
def test_scores_are_clipped_to_the_range_of_the_labels(priority: str, score: float, error: float) -> None:
    solution = labelled((priority, OTHER), ("High", "", "rest"), ("Low", "", "rest"))
    assert measures(solution, answered((score, "")))["priority_mse_all"] == pytest.approx(error, abs=1e-15)


def test_table_1_has_its_seven_columns() -> None:
    headed = {name for name, heading in trec_is.MEASURES.items() if heading}
    assert headed == {
        "high_priority_worth",
        "accumulated_alert_worth",
        "info_type_f1_actionable",
        "info_type_f1_all",
        "info_type_accuracy_all",
        "priority_mse_actionable",
        "priority_mse_all",
    }


# ---------------------------------------------------------------------------------------------
# Rules beyond the memo
# ---------------------------------------------------------------------------------------------


def test_tweets_of_the_run_without_a_label_are_ignored() -> None:
    solution = labelled(("Low", OTHER), ("Low", OTHER), ("High", OTHER))
    submission = answered((1.0, ""), (1.0, ""), (1.0, OTHER))
    extra = pd.DataFrame({"tweet_id": ["new"], "rank": [1], "priority": [1.0], "categories": [ANOTHER]})
    more = pd.concat([extra, submission.assign(rank=[2, 3, 4])], ignore_index=True)
    evaluation = trec_is.evaluate(solution, more, "tweet_id")
    assert same(evaluation.measures, measures(solution, submission))
    last = evaluation.tweets.iloc[-1]
    assert last[["tweet_id", "case", "rank", "score", "run_types"]].tolist() == [
        "new",
        "ignored",
        1.0,
        1.0,
        ANOTHER,
    ]
    empty = [
        "priority",
        "event_id",
        "equation",
        "true_types",
        "delta",
        "worth",
        "contribution",
        "squared_error",
    ]
    assert last[empty].isna().all()
    assert any("1 row of the run ignored" in notice for notice in evaluation.notices)


def test_a_labelled_tweet_missing_from_the_run() -> None:
    solution = labelled(("High", BOTH), ("Critical", OTHER), ("Low", OTHER), ("Medium", OTHER))
    submission = answered((1.0, BOTH), (1.0, OTHER), (0.0, OTHER), (0.0, OTHER)).iloc[[0, 2]]
    evaluation = trec_is.evaluate(solution, submission, "tweet_id")
    assert evaluation.measures["high_priority_worth"] == 0.5  # 1 and 0, by 2
    assert evaluation.measures["low_priority_worth"] == 0.5
    types = evaluation.types.set_index("information_type")
    assert types.loc[OTHER, ["tp", "fn"]].tolist() == [2, 2]
    assert types.loc[OTHER, "mse"] == pytest.approx((0.25**2 + 0.75**2 + 0.0 + 0.25**2) / 4)
    missing = evaluation.tweets.set_index("tweet_id").loc["t02"]
    assert missing["case"] == "missing"
    assert missing["worth"] == 0.0
    assert missing[["rank", "score", "delta", "equation"]].isna().all()
    assert missing["priority"] == "Critical"
    assert any("2 labelled tweets not in the run" in notice for notice in evaluation.notices)


def test_an_empty_submission_misses_everything() -> None:
    solution = labelled(("High", OTHER), ("Low", OTHER))
    evaluation = trec_is.evaluate(solution, answered((1.0, "")).head(0), "tweet_id")
    assert evaluation.score == 0.0
    assert evaluation.measures["info_type_f1_all"] == 0.0
    assert evaluation.tweets["case"].tolist() == ["missing", "missing"]
    assert [len(table) for table in evaluation.tables.values()] == [10, 5, 25, 1, 1]


def test_normalize_priority_scales_by_the_whole_run() -> None:
    solution = labelled(("High", OTHER), ("Low", OTHER), ("Critical", OTHER))
    submission = answered((2.0, OTHER), (1.0, OTHER), (5.0, OTHER), (3.0, OTHER))  # t04 has no label
    normalized = trec_is.evaluate(solution, submission, "tweet_id", normalize_priority=True)
    assert normalized.tweets["score"].tolist() == [0.25, 0.0, 1.0, 0.5]
    assert normalized.tweets["case"].tolist()[:3] == ["missed alert", "no alert", "true alert"]
    lowest = answered((0.5, OTHER), (0.6, OTHER), (0.7, OTHER), (0.0, OTHER))
    assert trec_is.evaluate(solution, lowest, "tweet_id", normalize_priority=True).tweets["score"].tolist()[
        :3
    ] == pytest.approx([5 / 7, 6 / 7, 1.0])


def test_normalizing_a_constant_run_gives_0_and_a_notice() -> None:
    solution = labelled(("High", OTHER), ("Low", OTHER))
    evaluation = trec_is.evaluate(solution, answered((0.9, ""), (0.9, "")), "tweet_id", normalize_priority=True)
    assert evaluation.tweets["score"].tolist() == [0.0, 0.0]
    assert evaluation.tweets["case"].tolist() == ["missed alert", "no alert"]
    assert any("equal" in notice for notice in evaluation.notices)
    assert trec_is.evaluate(solution, answered((0.9, ""), (0.9, "")), "tweet_id").notices == []


def test_normalizing_survives_scores_of_any_size() -> None:
    solution = labelled(("High", OTHER), ("Low", OTHER), ("Low", OTHER))
    huge = answered((1.7e308, ""), (-1.7e308, ""), (0.0, ""))
    tweets = trec_is.evaluate(solution, huge, "tweet_id", normalize_priority=True).tweets
    assert tweets["score"].tolist() == [1.0, 0.0, 0.5]
    tiny = answered((5e-324, ""), (0.0, ""), (0.0, ""))
    tweets = trec_is.evaluate(solution, tiny, "tweet_id", normalize_priority=True).tweets
    assert tweets["score"].tolist() == [0.0, 0.0, 0.0]
    empty = huge.head(0)
    assert trec_is.evaluate(solution, empty, "tweet_id", normalize_priority=True).score == 0.0


def test_a_missing_tweet_keeps_the_lowest_priority_when_the_others_are_scaled() -> None:
    solution = labelled(("Critical", OTHER), ("Low", ANOTHER), ("High", ""))
    submission = answered((9.0, ""), (10.0, ""), (11.0, "")).iloc[1:]
    found = measures(solution, submission, normalize_priority=True)
    assert found["priority_mse_all"] == pytest.approx((0.75**2 + 0.0) / 2)


def test_the_solutions_event_counts_whatever_the_run_names() -> None:
    solution = labelled(*[("Low", "", "flood")] * 3, ("High", "", "fire"))
    submission = answered(*[(1.0, "")] * 4).assign(event_id=["A", "B", "C", "D"])
    evaluation = trec_is.evaluate(solution, submission, "tweet_id")
    assert evaluation.tweets.set_index("tweet_id")["delta"].to_dict() == {
        "t04": 0,
        "t01": 0,
        "t02": 1,
        "t03": 2,
    }
    assert same(evaluation.measures, measures(solution, submission.drop(columns="event_id")))
    assert any("4 tweets in the list of another event" in notice for notice in evaluation.notices)


def test_of_a_tweet_in_the_lists_of_several_events_the_row_of_its_own_event_counts() -> None:
    solution = labelled(("High", OTHER, "flood"), ("Low", OTHER, "fire"))
    own = answered((0.9, OTHER), (0.1, OTHER)).assign(event_id=["flood", "fire"], rank=[7, 1])
    other = answered((0.1, "")).assign(event_id="fire", rank=2)
    for rows in ([own, other], [other, own]):
        evaluation = trec_is.evaluate(solution, pd.concat(rows), "tweet_id")
        assert same(evaluation.measures, measures(solution, own))
        assert evaluation.tweets["case"].tolist() == ["no alert", "true alert", "ignored"]
        assert evaluation.tweets.iloc[-1][["tweet_id", "event_id"]].tolist() == ["t01", "fire"]
        assert len(evaluation.notices) == 1


def test_of_a_tweet_in_the_lists_of_several_other_events_the_best_ranked_row_counts() -> None:
    solution = labelled(("High", OTHER, "flood"), ("Low", OTHER, "fire"))
    rest = answered((0.0, ""), (0.1, OTHER)).iloc[[1]].assign(event_id="fire")
    later = answered((0.1, "")).assign(event_id="B", rank=3)
    sooner = answered((0.9, OTHER)).assign(event_id="C", rank=2)
    tie = answered((0.8, ANOTHER)).assign(event_id="A", rank=2)
    unnamed = answered((0.75, "")).assign(event_id=None, rank=2)
    for rows, score in (([later, sooner], 0.9), ([sooner, tie], 0.8), ([unnamed, tie, sooner, later], 0.75)):
        for order in (rows, rows[::-1]):
            tweets = trec_is.evaluate(solution, pd.concat([rest, *order]), "tweet_id").tweets
            assert (
                tweets.set_index("tweet_id").loc[tweets["case"].to_numpy() != "ignored"].loc["t01", "score"]
                == score
            )


def test_a_tweet_twice_in_the_solution_with_equal_labels_counts_once() -> None:
    once = labelled(("High", BOTH, "b"), ("Low", OTHER, "a"), ("Low", OTHER, "b"))
    again = once.iloc[[0]].assign(event_id="c", categories=f"{OTHER} {ACTIONABLE}")
    submission = answered((0.9, BOTH), (0.9, ""), (0.9, ""))
    for rows in ([once, again], [again, once]):
        evaluation = trec_is.evaluate(pd.concat(rows), submission, "tweet_id")
        assert same(evaluation.measures, measures(once, submission))
        assert evaluation.items == ["a", "b"]  # of b and c the first as text


def test_a_repeated_type_counts_once() -> None:
    assert worth_of("High", OTHER, 1.0, f"{OTHER} News ContinuingNews") == 1.0


def test_each_measure_can_be_the_score() -> None:
    solution, submission = competition()
    for name in trec_is.MEASURES:
        evaluation = trec_is.evaluate(solution, submission, "tweet_id", measure=name)
        assert evaluation.score == evaluation.measures[name] == evaluation.measures["score"]
        assert trec_is.score(solution, submission, "tweet_id", measure=name) == evaluation.score
        assert f"measure:{name}" in evaluation.signature


def test_the_signature_names_version_and_parameters() -> None:
    evaluation = trec_is.evaluate(*competition(), "tweet_id", alert_gain=0.25, normalize_priority=True)
    assert evaluation.signature == (
        "metric:trec_is|version:1.0.0|measure:accumulated_alert_worth|actionable_weight:0.75|alert_gain:0.25|"
        "alert_threshold:0.7|normalize_priority:True"
    )


# ---------------------------------------------------------------------------------------------
# Against the literal transcription
# ---------------------------------------------------------------------------------------------

IDS = (
    "9",
    "10",
    "2",
    "100",
    "33",
    "7",
    "1220657770569064448",
    "999999999999999999",
    "b",
    "a",
    "B",
    "é",
    "1e3",
    "x y",
)
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
    },
)


@st.composite
def competitions(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A small valid solution and run, rich in ties, false alerts, missing, unlabelled and repeated tweets."""
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
    found = trec_is.evaluate(solution, submission, "tweet_id", **parameters)
    expected = transcription.evaluate(solution, submission, **parameters)
    assert found.measures == pytest.approx(
        {"score": expected.measures["accumulated_alert_worth"]} | expected.measures, abs=1e-12, nan_ok=True
    )
    tweets = found.tweets.loc[found.tweets["case"] != "ignored"]
    assert sorted(tweets["tweet_id"]) == sorted(expected.visits)
    assert dict(zip(tweets["tweet_id"], tweets["case"])) == {t: v.case for t, v in expected.visits.items()}
    assert dict(zip(tweets["tweet_id"], tweets["worth"])) == pytest.approx(
        {tweet: visit.worth for tweet, visit in expected.visits.items()}, abs=1e-12
    )
    assert dict(zip(tweets["tweet_id"], tweets["delta"])) == pytest.approx(
        {t: math.nan if v.delta is None else v.delta for t, v in expected.visits.items()}, nan_ok=True
    )
    types = found.types.set_index("information_type")
    assert types["f1"].to_dict() == pytest.approx(expected.f1, abs=1e-12)
    assert types["mse"].dropna().to_dict() == pytest.approx(expected.mse, abs=1e-12)


@settings(max_examples=120, deadline=None)
@given(competitions(), PARAMETERS)
def test_same_as_the_transcription(frames: tuple[pd.DataFrame, pd.DataFrame], parameters: Any) -> None:
    assert_same_as_transcription(*frames, parameters)


@pytest.mark.slow
@settings(max_examples=4000, deadline=None)
@given(competitions(), PARAMETERS)
def test_same_as_the_transcription_on_many(frames: tuple[pd.DataFrame, pd.DataFrame], parameters: Any) -> None:
    assert_same_as_transcription(*frames, parameters)


@pytest.mark.parametrize("seed", range(6))
def test_same_as_the_transcription_on_long_rankings(seed: int) -> None:
    solution, submission = competition(tweets=300, events=4 + seed, seed=seed)
    assert_same_as_transcription(solution, submission, {"normalize_priority": seed % 2 == 1})


@settings(max_examples=40, deadline=None)
@given(competitions(), PARAMETERS)
def test_the_worths_are_within_their_range(frames: tuple[pd.DataFrame, pd.DataFrame], parameters: Any) -> None:
    found = trec_is.evaluate(*frames, "tweet_id", **parameters)
    for name, value in found.measures.items():
        assert math.isnan(value) or (-1 if "worth" in name or name == "score" else 0) <= value <= 1
    assert found.tweets["worth"].dropna().between(-1, 1).all()


@settings(max_examples=40, deadline=None)
@given(competitions(), PARAMETERS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(
    frames: tuple[pd.DataFrame, pd.DataFrame], parameters: Any, random: Any
) -> None:
    shuffled = []
    for frame in frames:
        order = list(range(len(frame)))
        random.shuffle(order)
        shuffled.append(frame.iloc[order])
    first = trec_is.evaluate(*frames, "tweet_id", **parameters)
    second = trec_is.evaluate(*shuffled, "tweet_id", **parameters)
    assert same(first.measures, second.measures)
    assert all((a == b).all() for a, b in zip(first.sums, second.sums))
    keys = ["tweet_id", "event_id", "rank", "score"]
    pd.testing.assert_frame_equal(
        first.tweets.sort_values(keys, ignore_index=True),
        second.tweets.sort_values(keys, ignore_index=True),
        check_exact=True,
    )
    pd.testing.assert_frame_equal(first.events, second.events, check_exact=True)


@settings(max_examples=40, deadline=None)
@given(competitions(), PARAMETERS, st.integers(0, 2**13 - 1))
def test_a_part_is_what_prepare_makes_of_its_rows(
    frames: tuple[pd.DataFrame, pd.DataFrame], parameters: Any, bits: int
) -> None:
    solution, submission = frames
    rows = np.array([bits >> number & 1 for number in range(len(solution))], dtype=bool)
    rows[:2] = True
    part = trec_is.prepare(solution, "tweet_id", **parameters).part(rows)
    whole = trec_is.prepare(solution[rows], "tweet_id", **parameters)
    assert part.tweet_ids == whole.tweet_ids
    assert part.event_ids == whole.event_ids
    known = submission["tweet_id"].isin(part.tweet_ids).any()
    rows_scored = submission if known else submission.head(0)
    assert same(part.evaluate(rows_scored).measures, whole.evaluate(rows_scored).measures)
    again = part.part(np.ones(rows.sum(), dtype=bool))
    assert same(again.evaluate(rows_scored).measures, whole.evaluate(rows_scored).measures)


@settings(max_examples=40, deadline=None)
@given(competitions(), PARAMETERS, st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_resampling_is_scoring_the_drawn_events(
    frames: tuple[pd.DataFrame, pd.DataFrame], parameters: Any, drawn: list[int]
) -> None:
    solution, submission = frames
    found = trec_is.evaluate(solution, submission, "tweet_id", **parameters)
    weights = drawn[: len(found.items)]
    by_weight = dict(zip(found.measures, found.resample([weights])[0]))
    # The tweets that count, each copy of an event under a new name, and a run that has every copy.
    labels, copies, answers = found.prepared.labels, [], []
    for tweet, event, row in zip(found.visits.tweet, found.visits.event, found.visits.row):
        for copy in range(weights[event]):
            tweet_id = f"{found.prepared.tweet_ids[tweet]}#{copy}"
            copies.append(
                {
                    "tweet_id": tweet_id,
                    "event_id": f"{found.items[event]}#{copy}",
                    "priority": trec_is.PRIORITIES[labels.priority[tweet]],
                    "categories": _names(labels.types[tweet]),
                }
            )
            if row >= 0:
                answers.append(submission.iloc[[row]].assign(tweet_id=tweet_id))
    priorities = {copy["priority"] for copy in copies}
    if not priorities & {"High", "Critical"} or not priorities & {"Low", "Medium"}:
        assert math.isnan(by_weight["accumulated_alert_worth"])
        return
    # The scores of all rows stay, for their minimum and maximum.
    ignored = submission.assign(tweet_id=[f"ignored {number}" for number in range(len(submission))])
    run = pd.concat([*answers, ignored]) if answers else submission.head(0)
    expected = measures(pd.DataFrame(copies), run.drop(columns="event_id", errors="ignore"), **parameters)
    assert by_weight == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=30, deadline=None)
@given(competitions(), competitions(), st.lists(st.integers(0, 1), min_size=4, max_size=4))
def test_mixing_two_runs_is_scoring_the_runs_with_events_swapped(
    first: tuple[pd.DataFrame, pd.DataFrame], second: tuple[pd.DataFrame, pd.DataFrame], swapped: list[int]
) -> None:
    solution = first[0]
    runs = [frames[1].drop(columns="event_id", errors="ignore") for frames in (first, second)]
    runs = [run.drop_duplicates("tweet_id") for run in runs]
    assume(all(run["tweet_id"].isin(solution["tweet_id"]).any() for run in runs))
    one, other = (trec_is.evaluate(solution, run, "tweet_id") for run in runs)
    number = dict(zip(one.prepared.tweet_ids, one.prepared.labels.event))
    swaps = [run["tweet_id"].map(lambda tweet: swapped[number.get(tweet, 3)] == 1) for run in runs]
    mixed = [
        pd.concat([runs[0][~swaps[0]], runs[1][swaps[1]]]).drop_duplicates("tweet_id"),
        pd.concat([runs[1][~swaps[1]], runs[0][swaps[0]]]).drop_duplicates("tweet_id"),
    ]
    for found, run in zip(one.mix(other, [swapped[: len(one.items)]]), mixed):
        run = run[run["tweet_id"].isin(solution["tweet_id"])]
        assert dict(zip(one.measures, found[0])) == pytest.approx(
            measures(solution, run), abs=1e-12, nan_ok=True
        )


def test_only_runs_for_the_same_events_can_be_mixed() -> None:
    solution, submission = competition()
    evaluation = trec_is.evaluate(solution, submission, "tweet_id")
    fewer = trec_is.evaluate(solution[solution["event_id"] != trec_is_data.EVENTS[0]], submission, "tweet_id")
    with pytest.raises(ValueError, match="same events"):
        evaluation.mix(fewer, [[0] * 4])


def _names(types: int) -> str:
    return " ".join(name for bit, name in enumerate(trec_is.INFORMATION_TYPES) if types >> bit & 1)


# ---------------------------------------------------------------------------------------------
# Tables
# ---------------------------------------------------------------------------------------------


def test_the_tweets_tell_the_whole_story() -> None:
    solution = labelled(
        ("High", BOTH), ("Low", OTHER), ("Critical", OTHER), ("Medium", OTHER), ("Low", BOTH, "fire")
    )
    submission = answered((0.9, ACTIONABLE), (0.8, ""), (0.2, "News"), (0.1, "News")).assign(rank=[2, 1, 3, 4])
    evaluation = trec_is.evaluate(solution, submission, "tweet_id")
    tweets = evaluation.tweets.set_index("tweet_id")
    assert tweets.index.tolist() == ["t05", "t02", "t01", "t03", "t04"]
    assert tweets["event_id"].tolist() == ["fire", *["flood"] * 4]
    assert tweets["case"].tolist() == ["missing", "false alert", "true alert", "missed alert", "no alert"]
    assert tweets["equation"].tolist()[1:] == ["(5)", "(1)", "(1)", "(5)"]
    assert tweets["priority"].tolist() == ["Low", "Low", "High", "Critical", "Medium"]
    assert tweets["delta"].tolist()[1:] == [0, 1, 0, 0]
    assert tweets["actionable_score"].tolist()[1:] == [0, 0.75, 0, 0]
    assert tweets["other_score"].tolist()[1:] == [0, 0, 1, 1]
    assert tweets["worth"].tolist() == pytest.approx([0, 0, 0.825, -1, 1])
    assert tweets["contribution"].tolist() == pytest.approx([0, 0, 0.825 / 4, -1 / 4, 1 / 6])
    assert tweets["accumulated_worth"].tolist() == pytest.approx([0, 0, 0.20625, -0.04375, -0.04375 + 1 / 6])
    assert tweets["squared_error"].tolist() == pytest.approx([0, 0.55**2, 0.15**2, 0.75**2, 0.25**2])
    assert tweets.loc["t01", ["true_types", "run_types"]].tolist() == [f"{OTHER} {ACTIONABLE}", ACTIONABLE]
    assert tweets["contribution"].sum() == pytest.approx(evaluation.score)
    assert evaluation.segments is evaluation.tweets
    assert {*evaluation.roles.values()} <= {*tweets}
    assert set(tweets[evaluation.roles["item"]]) == set(evaluation.items)


def test_the_events_are_scored_each_alone_and_contribute_to_the_whole() -> None:
    solution, submission = competition()
    evaluation = trec_is.evaluate(solution, submission, "tweet_id")
    events = evaluation.events.set_index("event_id")
    assert evaluation.items == sorted(solution["event_id"].unique()) == events.index.tolist()
    assert events["contribution"].sum() == pytest.approx(evaluation.score, abs=1e-15)
    quiet = events.loc[trec_is_data.EVENTS[trec_is_data.QUIET_EVENT]]
    assert math.isnan(quiet["high_priority_worth"])
    assert math.isnan(quiet["accumulated_alert_worth"])
    assert not math.isnan(quiet["low_priority_worth"])
    for event in events.index[events["high"] > 0]:
        alone = measures(solution[solution["event_id"] == event], submission)
        assert events.loc[event, [*trec_is.MEASURES]].to_dict() == pytest.approx(
            {name: alone[name] for name in trec_is.MEASURES}, abs=1e-12, nan_ok=True
        )
    cases = ["true_alerts", "missed_alerts", "false_alerts", "no_alerts", "missing"]
    assert (events[cases].sum(axis=1) == events["tweets"]).all()
    assert (events[["high", "low"]].sum(axis=1) == events["tweets"]).all()
    accumulated = evaluation.tweets.dropna(subset="worth").groupby("event_id")["accumulated_worth"].last()
    assert accumulated.tolist() == pytest.approx(events["contribution"].tolist(), abs=1e-15)
    counted = evaluation.tweets.groupby(["event_id", "case"]).size().unstack(fill_value=0)
    assert events["true_alerts"].tolist() == counted["true alert"].tolist()
    assert events["no_alerts"].tolist() == counted["no alert"].tolist()
    highest = evaluation.tweets[evaluation.tweets["case"] != "ignored"].groupby("event_id")["delta"].max()
    assert events["highest_delta"].tolist() == highest.tolist()


def test_every_outcome_occurs_in_the_sample() -> None:
    evaluation = trec_is.evaluate(*competition(), "tweet_id")
    assert set(evaluation.tweets["case"]) == {*trec_is.CASES, "ignored"}
    assert evaluation.tweets["delta"].max() >= 18
    assert (evaluation.tweets["true_types"] == "").any()
    assert evaluation.tweets["rank"].duplicated().any()
    assert evaluation.types["tweets"].min() > 0


def test_the_tables_are_small_and_say_where_trust_was_lost() -> None:
    evaluation = trec_is.evaluate(*competition(), "tweet_id")
    found, cases, types, events, traces = evaluation.tables.values()
    assert found.set_index("measure")["value"].to_dict() == {
        n: evaluation.measures[n] for n in trec_is.MEASURES
    }
    assert cases["tweets"].sum() == 160
    assert cases["contribution"].sum() == pytest.approx(evaluation.score)
    assert cases.set_index("case")["worth"].to_dict() == pytest.approx(
        evaluation.tweets.groupby("case")["worth"].sum().drop("ignored").to_dict()
    )
    assert len(types) == 25
    assert events["contribution"].is_monotonic_increasing
    worst = traces.iloc[0]
    assert worst["event_id"] == trec_is_data.EVENTS[trec_is_data.ALERTING_EVENT]
    tweets = evaluation.tweets[evaluation.tweets["event_id"] == worst["event_id"]].dropna(subset="delta")
    assert worst["ranked"] == len(tweets)
    assert worst["highest"] == tweets["delta"].max()
    assert int(worst["at_rank"]) == tweets.loc[tweets["delta"].idxmax(), "rank"]
    assert worst["at_end"] == tweets["accumulated_worth"].iloc[-1]
    assert worst["lowest"] == tweets["accumulated_worth"].min()
    assert worst["delta"].startswith("0133456667788899")
    assert "X" in worst["delta"]
    assert worst["delta"].endswith("0")
    assert worst["worth"].startswith("9")
    assert "0" in worst["worth"]


@pytest.mark.parametrize("length", [1, 39, 40, 41, 1000, 100_003])
def test_a_trace_covers_the_whole_ranking_in_bounded_width(length: int) -> None:
    delta = np.zeros(length, dtype=np.int64)
    assert set(trec_is._delta_trace(delta)) == {"0"}
    for place in {0, length // 2, length - 1}:
        delta[:] = 0
        delta[place] = 20
        trace = trec_is._delta_trace(delta)
        assert len(trace) == min(length, trec_is.TRACE_WIDTH)
        assert trace.count("X") == 1
        assert abs(trace.index("X") - place * len(trace) / length) <= 1
    worth = np.linspace(0, 1, length + 1)[1:]
    assert len(trec_is._worth_trace(worth)) == min(length, trec_is.TRACE_WIDTH)
    assert trec_is._worth_trace(worth)[-1] == "9"
    assert trec_is._worth_trace(-worth)[-1] == "0"
    assert set(trec_is._worth_trace(0 * worth)) == {"0"}


def test_the_tables_stay_small_with_many_events_and_strange_names() -> None:
    events = [f"event {number}\n" + "x" * 1000 for number in range(50)]
    solution = labelled(*[("High", "", event) for event in events], ("Low", "", events[0]))
    evaluation = trec_is.evaluate(solution, answered(*[(0.9, "")] * 51), "tweet_id")
    *_, shown, traces = evaluation.tables.values()
    assert len(shown) == len(traces) == trec_is.EVENTS_SHOWN
    assert traces["event_id"].str.len().max() < 50
    assert not traces["event_id"].str.contains("\n").any()
    assert evaluation.notices == ["the tables show 20 of 50 events"]
    assert len(evaluation.events) == 50


def test_tables_can_be_printed_as_json() -> None:
    from competition.console import plain_json

    evaluation = trec_is.evaluate(*competition(), "tweet_id")
    text = json.dumps(plain_json(evaluation.tables), allow_nan=False)
    assert json.loads(text)["What became of the tweets"][-1]["equation"] is None


# ---------------------------------------------------------------------------------------------
# Golden numbers
# ---------------------------------------------------------------------------------------------

# Of the sample, as the transcription gave them once.
GOLDEN = {
    "accumulated_alert_worth": 0.008706099768275466,
    "high_priority_worth": -0.3664141414141414,
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
    found = measures(*competition())
    del found["score"]
    assert found == pytest.approx(GOLDEN, rel=0, abs=1e-12)


def official() -> pd.DataFrame:
    return pd.read_csv(DATA / "solution_2021a.csv", dtype=str, keep_default_na=False)


def flat_run(solution: pd.DataFrame) -> pd.DataFrame:
    """Every score 0.5, every tweet Other-Irrelevant, ranks in file order within each event."""
    rank = solution.groupby("event_id").cumcount() + 1
    return solution[["tweet_id"]].assign(rank=rank, priority=0.5, categories="Other-Irrelevant")


def perfect_run(solution: pd.DataFrame) -> pd.DataFrame:
    scores = {"Low": 0.0, "Medium": 0.5, "High": 0.75, "Critical": 1.0}
    return flat_run(solution).assign(
        priority=solution["priority"].map(scores), categories=solution["categories"]
    )


def noisy_run(solution: pd.DataFrame) -> pd.DataFrame:
    """Alerts right and wrong, some tweets missing, other types."""
    random = np.random.default_rng(2021)
    run = perfect_run(solution)
    run["priority"] = (run["priority"] + random.normal(0.1, 0.3, len(run))).round(3)
    run["categories"] = run["categories"].where(random.random(len(run)) < 0.5, np.roll(run["categories"], 1))
    run["rank"] = random.integers(0, 2000, len(run))
    return run[random.random(len(run)) < 0.9]


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
    found = measures(solution, make_run(solution))
    assert [
        round(found[name], 6)
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


@needs_data
@pytest.mark.parametrize(
    ("make_run", "normalize"), [(flat_run, False), (perfect_run, False), (noisy_run, False), (noisy_run, True)]
)
def test_official_labels_score_as_the_transcription(
    make_run: Callable[[pd.DataFrame], pd.DataFrame], normalize: bool
) -> None:
    solution = official()
    assert_same_as_transcription(solution, make_run(solution), {"normalize_priority": normalize})


@needs_data
def test_the_official_label_file_is_the_official_solution() -> None:
    with pytest.warns(trec_is.UnlistedTypeWarning, match="4,422 annotations"):
        read = trec_is.read_solution(DATA / "TRECIS-2021A-crisis.labels.prelim.json")
    solution = official()
    assert len(read) == 6868
    for name in ("tweet_id", "event_id", "priority"):
        assert read[name].tolist() == solution[name].tolist()
    assert [set(cell.split()) for cell in read["categories"]] == [
        set(cell.split()) for cell in solution["categories"]
    ]


@needs_data
def test_official_labels_and_a_run_file_from_the_command_line(tmp_path: Path) -> None:
    solution = official()
    run = tmp_path / "flat.run"
    run.write_text(
        trec_is_data.run_file(_in_run_order(flat_run(solution), solution["event_id"])), encoding="utf-8"
    )
    done = command_line(DATA / "TRECIS-2021A-crisis.labels.prelim.json", run)
    assert done.returncode == 0
    assert done.stdout.startswith("Score    -0.248682\n")


def _in_run_order(run: pd.DataFrame, event_id: "pd.Series[str]") -> pd.DataFrame:
    return run.assign(event_id=event_id)[["tweet_id", "event_id", "rank", "priority", "categories"]]


# ---------------------------------------------------------------------------------------------
# Frames of every kind
# ---------------------------------------------------------------------------------------------


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The sample with ids that any type of column can hold."""
    solution, submission = competition()
    known = {tweet: str(number) for number, tweet in enumerate(solution["tweet_id"])}
    submission["tweet_id"] = [known.get(tweet, tweet[-6:] + "77") for tweet in submission["tweet_id"]]
    solution["tweet_id"] = solution["tweet_id"].map(known)
    return solution, submission


KINDS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "int64": lambda frame: frame.assign(tweet_id=frame["tweet_id"].astype("int64")),
    "Int64": lambda frame: frame.assign(tweet_id=frame["tweet_id"].astype("int64").astype("Int64")),
    "float64": lambda frame: frame.assign(tweet_id=frame["tweet_id"].astype("float64")),
    "object": lambda frame: frame.astype(object),
    "mixed": lambda frame: frame.assign(
        tweet_id=pd.Series(
            [int(t) if n % 2 else t for n, t in enumerate(frame["tweet_id"])], dtype=object
        ).to_numpy()
    ),
    "string": lambda frame: frame.astype(dict.fromkeys(("tweet_id", "event_id", "categories"), "string")),
    "category": lambda frame: frame.astype("category"),
    "numbers as text": lambda frame: frame.astype(dict.fromkeys(("priority", *({"rank"} & {*frame})), str)),
    "other index": lambda frame: frame.set_axis([5] * len(frame)),
    "more columns": lambda frame: frame.assign(note=1, Usage="Public")[["note", *frame.columns[::-1], "Usage"]],
    "missing for empty": lambda frame: frame.assign(categories=frame["categories"].replace("", None)),
    "blank for empty": lambda frame: frame.assign(categories=frame["categories"].replace("", "  ")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_every_kind_score_alike(kind: str) -> None:
    solution, submission = frames()
    expected = measures(solution, submission)
    for change_solution, change_submission in ((True, True), (True, False), (False, True)):
        given_solution = KINDS[kind](solution) if change_solution else solution
        given_submission = KINDS[kind](submission) if change_submission else submission
        before = given_solution.copy(deep=True), given_submission.copy(deep=True)
        assert same(measures(given_solution, given_submission), expected)
        pd.testing.assert_frame_equal(given_solution, before[0])
        pd.testing.assert_frame_equal(given_submission, before[1])


@pytest.mark.parametrize("kind", ["string", "dictionary"])
def test_arrow_columns(kind: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    types = {"string": pyarrow.string(), "dictionary": pyarrow.dictionary(pyarrow.int32(), pyarrow.string())}
    solution, submission = frames()
    as_arrow = [
        frame.assign(
            **{
                name: pd.Series(
                    pyarrow.array(frame[name].tolist()).cast(types[kind]), dtype=pd.ArrowDtype(types[kind])
                )
                for name in ("tweet_id", "event_id", "categories")
            }
        )
        for frame in (solution, submission)
    ]
    assert same(measures(*as_arrow), measures(solution, submission))


def test_read_only_frames() -> None:
    expected = measures(*frames())
    read_only = []
    for frame in frames():
        columns = {}
        for name in frame:
            values = frame[name].to_numpy(dtype=None if frame[name].dtype.kind in "if" else object).copy()
            values.flags.writeable = False
            columns[name] = pd.Series(values, copy=False)
        read_only.append(pd.DataFrame(columns, copy=False))
    assert same(measures(*read_only), expected)


def test_the_tweet_id_may_have_any_name() -> None:
    solution, submission = (frame.rename(columns={"tweet_id": "post"}) for frame in competition())
    assert trec_is.score(solution, submission, "post") == measures(*competition())["score"]
    with pytest.raises(trec_is.ParticipantVisibleError, match="post is wrong in 1 row"):
        trec_is.score(solution, pd.concat([submission, submission.head(1)]), "post")


def test_changes_to_the_frames_do_not_reach_what_was_prepared() -> None:
    solution, submission = competition()
    prepared = trec_is.prepare(solution, "tweet_id")
    evaluation = prepared.evaluate(submission)
    expected = measures(*competition())
    solution.loc[:, "categories"] = ""
    submission.loc[:, "priority"] = 0.0
    assert same(prepared.evaluate(competition()[1]).measures, expected)
    assert evaluation.tweets["score"].max() == 0.99


# ---------------------------------------------------------------------------------------------
# Participants' mistakes
# ---------------------------------------------------------------------------------------------


def change(name: str, value: Any, row: int = 0) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """A frame with another value in one cell."""

    def changed(frame: pd.DataFrame) -> pd.DataFrame:
        values = frame[name].astype(object).tolist()
        values[row] = value
        return frame.assign(**{name: pd.Series(values, dtype=object, index=frame.index)})

    return changed


BAD_SUBMISSIONS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "no rank": (
        lambda frame: frame.drop(columns="rank"),
        "the submission lacks columns: rank. It has: tweet_id, priority, categories.",
    ),
    "no columns": (
        lambda frame: frame[[]],
        "the submission lacks columns: tweet_id, rank, priority, categories. It has: .",
    ),
    "a column twice": (
        lambda frame: pd.concat([frame, frame[["priority"]]], axis=1),
        "the submission has more than one column named priority.",
    ),
    "event_id twice": (
        lambda frame: pd.concat(
            [frame.assign(event_id="a"), frame[["rank"]].set_axis(["event_id"], axis=1)], axis=1
        ),
        "the submission has more than one column named event_id.",
    ),
    "missing id": (
        change("tweet_id", None, 1),
        "tweet_id is wrong in 1 row of the submission: row number 2 (missing). Expected an id in every row.",
    ),
    "blank id": (
        change("tweet_id", " ", 1),
        "tweet_id is wrong in 1 row of the submission: tweet_id   (missing). Expected an id in every row.",
    ),
    "repeated tweet": (
        change("tweet_id", "t03", 0),
        "tweet_id is wrong in 1 row of the submission: tweet_id t03 (already there). Expected each tweet once.",
    ),
    "repeated tweet in an event": (
        lambda frame: change("tweet_id", "t03", 0)(frame).assign(event_id="flood"),
        "tweet_id is wrong in 1 row of the submission: tweet_id t03 (already there). Expected each tweet once "
        "in the list of an event.",
    ),
    "rounded ids": (
        lambda frame: frame.assign(tweet_id=1.2206577705690644e18),
        "tweet_id is wrong in 4 rows of the submission: "
        + ", ".join(["tweet_id 1220657770569064448 (read as a floating-point number, which rounds it)"] * 4)
        + ". Expected ids as text or whole numbers.",
    ),
    "missing rank": (
        change("rank", None),
        "rank is wrong in 1 row of the submission: tweet_id t01 (missing). Expected the position in the "
        "event's list, a whole number.",
    ),
    "unknown type": (
        change("categories", "News SearchAndRescu Nonsense", 2),
        "categories is wrong in 1 row of the submission: tweet_id t03 ('SearchAndRescu' is no information "
        "type). Expected names separated by spaces out of " + ", ".join(trec_is.INFORMATION_TYPES) + ".",
    ),
    "missing score": (
        change("priority", float("nan"), 1),
        "priority is wrong in 1 row of the submission: tweet_id t02 (missing). Expected a finite number.",
    ),
    "every score": (
        lambda frame: pd.concat([frame, frame.assign(tweet_id=["a", "b", "c", "d"])]).assign(priority="?"),
        "priority is wrong in 8 rows of the submission: tweet_id t01 ('?'), tweet_id t02 ('?'), tweet_id t03 "
        "('?'), tweet_id t04 ('?'), tweet_id a ('?') and 3 more. Expected a finite number.",
    ),
    "none known": (
        lambda frame: frame.assign(tweet_id=["a", "b", "c", "d"]),
        "none of the submission's tweet_id values is in the test set.",
    ),
}
SOLUTION = labelled(("High", BOTH), ("Low", OTHER), ("Critical", ""), ("Medium", ANOTHER))
SUBMISSION = answered((0.9, BOTH), (0.8, OTHER), (0.7, ""), (0.2, ANOTHER))


@pytest.mark.parametrize("fault", BAD_SUBMISSIONS)
def test_a_participants_mistake_is_explained_by_the_submission_alone(fault: str) -> None:
    spoil, message = BAD_SUBMISSIONS[fault]
    submission = spoil(SUBMISSION)
    other = labelled(("Low", ANOTHER, "x"), ("High", "", "y"), ("Medium", BOTH, "z"), ("Medium", BOTH, "z"))
    for solution in (SOLUTION, other, other.assign(tweet_id=["t01", "other", "more", "last"])):
        with pytest.raises(trec_is.ParticipantVisibleError) as caught:
            trec_is.score(solution, submission, "tweet_id")
        assert str(caught.value) == message


@pytest.mark.parametrize(
    "score",
    [
        "High",
        "",
        " ",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "0,5",
        "1_0",
        "0x1",
        True,
        math.inf,
        -math.inf,
        None,
        10**400,
        1 + 2j,
        b"half",
        "0.5 0.6",
        pd.Timestamp(2021, 1, 1),
        np.True_,
        [0.5],
        [0.5, None],
        {},
        "9" * 100000 + "x",
    ],
)
def test_scores_that_are_no_finite_numbers(score: Any) -> None:
    with pytest.raises(
        trec_is.ParticipantVisibleError, match=r"^priority is wrong in 1 row of the submission: "
    ) as caught:
        trec_is.score(SOLUTION, change("priority", score)(SUBMISSION), "tweet_id")
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "rank", [-1, 1.5, "1.5", "first", math.inf, "nan", None, "", True, pd.Timedelta(1), "1 2"]
)
def test_ranks_that_are_no_positions(rank: Any) -> None:
    with pytest.raises(
        trec_is.ParticipantVisibleError, match=r"^rank is wrong in 1 row of the submission: tweet_id t01 "
    ):
        trec_is.score(SOLUTION, change("rank", rank)(SUBMISSION), "tweet_id")


@pytest.mark.parametrize("dtype", [bool, complex, "datetime64[ns]"])
@pytest.mark.parametrize("name", ["rank", "priority"])
def test_columns_that_hold_no_numbers(name: str, dtype: Any) -> None:
    with pytest.raises(trec_is.ParticipantVisibleError, match=f"^{name} is wrong in 4 rows"):
        trec_is.score(SOLUTION, SUBMISSION.assign(**{name: [1, 1, 1, 1]}).astype({name: dtype}), "tweet_id")


@pytest.mark.parametrize(
    "cell",
    [
        "Nonsense",
        "News,Weather",
        '["News"]',
        "report-news",
        "Report-SearchAndRescue",
        "Report-",
        "-News",
        5,
        0.5,
        True,
        ["News"],
        {"News": 1},
        "News" * 100000,
        "News " * 100000 + "x",
        "[" * 100000,
        "__import__('os')",
    ],
)
def test_cells_that_name_no_types(cell: Any) -> None:
    with pytest.raises(
        trec_is.ParticipantVisibleError, match=r"^categories is wrong in 1 row of the submission: "
    ) as caught:
        trec_is.score(SOLUTION, change("categories", cell)(SUBMISSION), "tweet_id")
    assert len(str(caught.value)) < 900


def test_names_of_any_number_are_read() -> None:
    assert worth_of("High", OTHER, 1.0, "News " * 300_000) == 1.0


def test_ids_that_only_seem_to_repeat() -> None:
    submission = SUBMISSION.assign(tweet_id=["1", 1.5, "1.0", "t04"])
    assert trec_is.evaluate(SOLUTION, submission, "tweet_id").tweets["case"].tolist()[-3:] == ["ignored"] * 3
    for twins in (["1", 1], [1, 1.0], ["1", 1.0]):
        with pytest.raises(trec_is.ParticipantVisibleError, match="tweet_id 1 "):
            trec_is.score(SOLUTION, SUBMISSION.assign(tweet_id=[*twins, "t03", "t04"]), "tweet_id")


# ---------------------------------------------------------------------------------------------
# The host's mistakes
# ---------------------------------------------------------------------------------------------

BAD_SOLUTIONS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "no event": (lambda frame: frame.drop(columns="event_id"), "the solution lacks columns: event_id"),
    "no rows": (lambda frame: frame.head(0), "the solution has no rows"),
    "missing event": (
        change("event_id", None),
        r"event_id is wrong in 1 row of the solution: tweet_id t01 \(missing\)",
    ),
    "missing id": (change("tweet_id", None), "tweet_id is wrong in 1 row of the solution: row number 1"),
    "unknown label": (
        change("priority", "high"),
        r"priority is wrong in 1 row of the solution: tweet_id t01 \('high'\)",
    ),
    "a list for a label": (
        change("priority", ["Low", "High"]),
        r"tweet_id t01 \('\['Low', 'High'\]'\)",
    ),
    "a list for an id": (
        lambda frame: change("priority", "?")(change("tweet_id", ["a", "b"])(frame)),
        r"tweet_id \['a', 'b'\] \('\?'\)",
    ),
    "missing label": (
        change("priority", None),
        r"tweet_id t01 \(missing\). Expected one of Low, Medium, High, Critical",
    ),
    "number for a label": (change("priority", 0.5), r"tweet_id t01 \('0.5'\)"),
    "unknown type": (change("categories", "Damage"), "'Damage' is no information type"),
    "another priority": (
        lambda frame: pd.concat([frame, frame.head(1).assign(priority="Low")]),
        r"tweet_id t01 \(labelled otherwise in an earlier row\). Expected the same priority and categories",
    ),
    "other types": (
        lambda frame: pd.concat([frame, frame.head(1).assign(categories=OTHER, event_id="another")]),
        "labelled otherwise",
    ),
    "nothing important": (
        lambda frame: frame.assign(priority="Low"),
        "the solution has no tweet of priority High or Critical, so accumulated_alert_worth is undefined",
    ),
    "everything important": (
        lambda frame: frame.assign(priority="Critical"),
        "the solution has no tweet of priority Low or Medium",
    ),
}


@pytest.mark.parametrize("fault", BAD_SOLUTIONS)
def test_a_hosts_mistake_in_the_solution(fault: str) -> None:
    spoil, message = BAD_SOLUTIONS[fault]
    with pytest.raises(trec_is.HostVisibleError, match=message):
        trec_is.score(spoil(SOLUTION), SUBMISSION, "tweet_id")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("measure", "aaw"),
        ("measure", "score"),
        ("actionable_weight", -0.1),
        ("actionable_weight", 1.1),
        ("actionable_weight", math.nan),
        ("alert_gain", 1.5),
        ("alert_gain", -1.0),
        ("alert_threshold", math.nan),
        ("alert_threshold", math.inf),
    ],
)
def test_parameters_out_of_range(name: str, value: Any) -> None:
    with pytest.raises(trec_is.HostVisibleError, match=f"^{name} is {value!r}; expected "):
        trec_is.score(SOLUTION, SUBMISSION, "tweet_id", **{name: value})


def test_a_measure_that_the_solution_leaves_undefined() -> None:
    only_other = SOLUTION.assign(categories=OTHER)
    for name in ("priority_mse_actionable", "priority_rmse_actionable"):
        with pytest.raises(trec_is.HostVisibleError, match=f"so {name} is undefined"):
            trec_is.score(only_other, SUBMISSION, "tweet_id", measure=name)
    assert math.isfinite(trec_is.score(only_other, SUBMISSION, "tweet_id", measure="priority_mse_all"))
    assert math.isnan(measures(only_other, SUBMISSION)["priority_mse_actionable"])
    untyped = SOLUTION.assign(categories="")
    with pytest.raises(trec_is.HostVisibleError, match="so priority_rmse_all is undefined"):
        trec_is.score(untyped, SUBMISSION, "tweet_id", measure="priority_rmse_all")
    assert math.isfinite(trec_is.score(untyped, SUBMISSION, "tweet_id", measure="info_type_f1_actionable"))


def test_a_part_without_important_tweets_is_the_hosts_mistake() -> None:
    prepared = trec_is.prepare(SOLUTION, "tweet_id")
    with pytest.raises(trec_is.HostVisibleError, match="no tweet of priority High or Critical"):
        prepared.part(np.array([False, True, False, True]))
    with pytest.raises(trec_is.HostVisibleError, match="no tweet of priority"):
        prepared.part(np.zeros(4, dtype=bool))


def test_public_and_private_parts_by_event() -> None:
    solution, submission = competition()
    usage = solution["event_id"].map(dict.fromkeys(trec_is_data.EVENTS[:2], "Public")).fillna("Private")
    prepared = scoring.prepare(trec_is, solution.assign(Usage=usage), {})
    result = scoring.evaluate(prepared, submission)
    assert result.scores["All"] == measures(solution, submission)["score"]
    for part in ("Public", "Private"):
        assert result.scores[part] == measures(solution[usage == part], submission)["score"]


# ---------------------------------------------------------------------------------------------
# Official files
# ---------------------------------------------------------------------------------------------


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def label_json(*tweets: dict[str, Any], event: Any = "flood") -> dict[str, Any]:
    return {"events": [{"eventid": event, "tweets": [*tweets]}]}


def test_label_files_of_both_forms(tmp_path: Path) -> None:
    old = {"postID": "12", "categories": ["News", "PastNews"], "priority": "Low", "indicatorTerms": ["é"]}
    new = {"postID": 13, "postCategories": ["Request-SearchAndRescue"], "postPriority": "Critical", "x": [1]}
    untyped = {"postID": "14", "categories": [], "priority": "High"}
    content = label_json(old, new, untyped)
    for encoding in ("utf-8", "iso-8859-1", "utf-8-sig"):
        data = json.dumps(content, ensure_ascii=False).encode(encoding)
        read = trec_is.read_solution(write(tmp_path, "labels.json", data))
        assert read.to_dict("list") == {
            "tweet_id": ["12", "13", "14"],
            "event_id": ["flood"] * 3,
            "priority": ["Low", "Critical", "High"],
            "categories": ["Other-ContextualInformation Report-News", "Request-SearchAndRescue", ""],
        }


def test_the_rows_of_a_tweet_in_a_label_file_are_united(tmp_path: Path) -> None:
    content = label_json({"postID": "1", "categories": ["News"], "priority": "Medium"}, event="second as text")
    content["events"] += label_json(
        {"postID": "1", "categories": ["Weather"], "priority": "High"},
        {"postID": "1", "categories": ["News"], "priority": "Low"},
    )["events"]
    read = trec_is.read_solution(str(write(tmp_path, "labels.json", json.dumps(content))))
    assert read.to_numpy().tolist() == [["1", "second as text", "High", "Report-News Report-Weather"]]


def test_annotations_beyond_the_types_are_left_out_with_a_warning(tmp_path: Path) -> None:
    tweet = {"postID": "1", "categories": ["Bot", "News", "Damage", "Bot"], "priority": "Low"}
    with pytest.warns(
        trec_is.UnlistedTypeWarning, match="^3 annotations .* none of the 25 types: Bot, Damage.$"
    ):
        read = trec_is.read_solution(write(tmp_path, "labels.json", json.dumps(label_json(tweet))))
    assert read["categories"].tolist() == ["Report-News"]


TWEET = {"postID": "1", "categories": ["News"], "priority": "Low"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("tweet_id,priority\n1,Low\n", "is not JSON"),
        ("[" * 200_000, "is not JSON"),
        (b"\xff\xfe\x00{", "is not JSON"),
        ("1" * 10_000, "is not JSON"),
        ("[]", "the file lacks events, a list"),
        ("null", "the file lacks events, a list"),
        ({"events": {}}, "the file lacks events, a list"),
        ({"events": [1]}, "event number 1 lacks eventid, text"),
        ({"events": [{"tweets": []}]}, "event number 1 lacks eventid, text"),
        ({"events": [{"eventid": "a"}]}, "event 'a' lacks tweets, a list"),
        (
            label_json(TWEET, {"postID": "2"}),
            "tweet number 2 of event 'flood' lacks priority or postPriority, text",
        ),
        (label_json({"priority": "Low"}), "tweet number 1 of event 'flood' lacks postID, text"),
        (label_json({**TWEET, "postID": 1.5}), "lacks postID, text"),
        (
            label_json({**TWEET, "priority": "Unknown"}),
            "has the priority 'Unknown'; expected Low, Medium, High, Critical",
        ),
        (label_json({"postID": "1", "priority": "Low"}), "lacks categories or postCategories, a list"),
        (label_json({**TWEET, "categories": "News"}), "lacks categories or postCategories, a list"),
        (label_json({**TWEET, "categories": [["News"]]}), r"has the category '\['News'\]'; expected text"),
    ],
)
def test_bad_label_files(content: Any, message: str, tmp_path: Path) -> None:
    data = content if isinstance(content, str | bytes) else json.dumps(content)
    with pytest.raises(trec_is.HostVisibleError, match=message):
        trec_is.read_solution(write(tmp_path, "labels.json", data))


def test_label_files_without_tweets_have_no_rows(tmp_path: Path) -> None:
    read = trec_is.read_solution(write(tmp_path, "labels.json", '{"events": []}'))
    with pytest.raises(trec_is.HostVisibleError, match="no rows"):
        trec_is.prepare(read, "tweet_id")


def test_run_files_with_tabs_or_spaces(tmp_path: Path) -> None:
    lines = [
        'flood\tQ0\t12\t1\t0.9\t["News","SearchAndRescue"]\tmy tag',
        'flood Q0 13 2 .5 ["News", "SearchAndRescue"] tag',
        "flood Q0 14 3 1e-3 ['News'] tag",
        "",
        "  flood  Q0 15 4 1 [] tag  ",
        "flood Q0 0016 5 0[] tag".replace("0[", "0 ["),
        "flood Q0 17 6 0 []",
    ]
    for end in ("\n", "\r\n"):
        read = trec_is.read_submission(write(tmp_path, "a.run", "\ufeff" + end.join(lines) + end))
        assert read["tweet_id"].tolist() == ["12", "13", "14", "15", "0016", "17"]
        assert read["event_id"].unique().tolist() == ["flood"]
        assert read["rank"].tolist() == [1, 2, 3, 4, 5, 6]
        assert read["priority"].tolist() == [0.9, 0.5, 0.001, 1, 0, 0]
        assert read["categories"].tolist() == ["News SearchAndRescue"] * 2 + ["News", "", "", ""]


def test_numbers_of_a_run_file_that_are_none_stay_for_the_message(tmp_path: Path) -> None:
    read = trec_is.read_submission(write(tmp_path, "a.run", "e Q0 t01 1 high [] tag\ne Q0 t02 2 0.5 [] tag\n"))
    assert read["rank"].tolist() == [1.0, 2.0]
    with pytest.raises(
        trec_is.ParticipantVisibleError, match=r"priority is wrong in 1 row .* tweet_id t01 \('high'\)"
    ):
        trec_is.score(SOLUTION, read, "tweet_id")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no lines"),
        ("\n \n", "has no lines"),
        ("flood Q0 12 1 0.9\n", r"is wrong in line 1 \('flood Q0 12 1 0.9'\)"),
        ('flood 12 1 0.9 ["News"] tag\n', "is wrong in line 1 "),
        ('\nflood Q0 12 1 0.9 ["News" tag\n', "is wrong in line 2 "),
        ("flood Q0 12 1 0.9 News tag\n", "is wrong in line 1 "),
        ('flood Q0 12 1 0.9 ["A B"] tag\n', "is wrong in line 1 "),
        ('flood Q0 12 1 0.9 [""] tag\n', "is wrong in line 1 "),
        ("flood Q0 12 1 0.9 [1] tag\n", "is wrong in line 1 "),
        ('flood Q0 12 1 0.9 {"News": []} tag\n', "is wrong in line 1 "),
        ("flood Q0 12 1 0.9 " + "[" * 200_000 + "] tag\n", "is wrong in line 1 "),
        (
            '{"topic": "T", "tweet_id": "1", "priority": 0.5}\n' * 7,
            r"line 1 .*line 5 .* and 2 more\. Expected lines of: ",
        ),
        (b"\x1f\x8b\x08\x00\xff", "is wrong in line 1 "),
    ],
)
def test_bad_run_files(content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(trec_is.ParticipantVisibleError, match=message) as caught:
        trec_is.read_submission(write(tmp_path, "a.run", content))
    assert len(str(caught.value)) < 700


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(trec_is.HostVisibleError, match=r"^cannot read .*: Is a directory.$"):
        trec_is.read_solution(tmp_path)
    with pytest.raises(trec_is.ParticipantVisibleError, match=r"^cannot read .*: No such file or directory.$"):
        trec_is.read_submission(tmp_path / "none.run")


def test_the_samples_are_what_the_generator_writes() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == {*trec_is_data.samples()}
    for name, content in trec_is_data.samples().items():
        assert (SAMPLES / name).read_text(encoding="utf-8") == content


def test_the_sample_files_of_both_forms_score_alike() -> None:
    with pytest.warns(trec_is.UnlistedTypeWarning):
        solution = trec_is.read_solution(SAMPLES / "labels.json")
    submission = trec_is.read_submission(SAMPLES / "run.txt")
    assert same(measures(solution, submission), measures(*competition()))


# ---------------------------------------------------------------------------------------------
# The command line
# ---------------------------------------------------------------------------------------------


def command_line(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "evaluate.py", "--metric", METRIC, *arguments]
    return subprocess.run(
        [*map(str, command)], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False
    )


@pytest.mark.parametrize(
    ("solution", "submission"), [("solution.csv", "submission.csv"), ("labels.json", "run.txt")]
)
def test_the_command_line_on_the_samples(solution: str, submission: str) -> None:
    done = command_line(SAMPLES / solution, SAMPLES / submission)
    assert done.returncode == 0
    assert done.stdout.startswith(f"Score    {GOLDEN['accumulated_alert_worth']:.6f}\n")
    assert "013345666778889999XXXXXXX" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_command_line_sets_parameters_and_prints_json() -> None:
    done = command_line(
        SAMPLES / "solution.csv", SAMPLES / "submission.csv", "--json", "--set", "measure=priority_mse_all"
    )
    report = json.loads(done.stdout)
    assert report["score"] == pytest.approx(GOLDEN["priority_mse_all"], abs=1e-12)
    assert "measure:priority_mse_all" in report["signature"]
    assert len(report["warnings"]) == 2


@pytest.mark.parametrize(
    ("solution", "submission", "options", "code"),
    [
        (SAMPLES / "solution.csv", SAMPLES / "none.run", [], 2),
        (SAMPLES / "solution.csv", SAMPLES / "labels.json", [], 3),
        (SAMPLES / "solution.csv", SAMPLES / "solution.csv", [], 3),
        (SAMPLES / "solution.csv", SAMPLES, [], 3),
        (SAMPLES / "run.txt", SAMPLES / "run.txt", [], 4),
        (SAMPLES / "submission.csv", SAMPLES / "submission.csv", [], 4),
        (SAMPLES / "solution.csv", SAMPLES / "submission.csv", ["--set", "measure=aaw"], 4),
    ],
)
def test_the_command_line_on_bad_input(solution: Path, submission: Path, options: list[str], code: int) -> None:
    done = command_line(solution, submission, *options)
    assert done.returncode == code
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "unexpected" not in done.stderr


def test_ids_in_csv_files_stay_text(tmp_path: Path) -> None:
    for name, frame in zip(("solution", "submission"), competition()):
        ids = [f"00{tweet}" for tweet in frame["tweet_id"]]
        frame.assign(tweet_id=ids).to_csv(tmp_path / f"{name}.csv", index=False)
    solution = scoring.read_solution(trec_is, tmp_path / "solution.csv", {})
    submission = scoring.read_submission(trec_is, tmp_path / "submission.csv", {})
    assert solution["tweet_id"].str.startswith("00").all()
    assert trec_is.score(solution, submission, "tweet_id") == pytest.approx(GOLDEN["accumulated_alert_worth"])


# ---------------------------------------------------------------------------------------------
# As Kaggle hosts it
# ---------------------------------------------------------------------------------------------


def test_the_signature_of_score_is_the_contract() -> None:
    parameters = inspect.signature(trec_is.score).parameters
    assert [*parameters][:3] == ["solution", "submission", "row_id_column_name"]
    assert parameters["row_id_column_name"].default is inspect.Parameter.empty
    assert [parameters[name].annotation for name in parameters] == [
        pd.DataFrame, pd.DataFrame, str, str, float, float, float, bool
    ]  # fmt: skip
    assert {name: parameters[name].default for name in [*parameters][3:]} == {
        "measure": "accumulated_alert_worth",
        "actionable_weight": 0.75,
        "alert_gain": 0.3,
        "alert_threshold": 0.7,
        "normalize_priority": False,
    }
    assert inspect.signature(trec_is.evaluate).parameters == parameters
    assert [*inspect.signature(trec_is.prepare).parameters] == [
        name for name in parameters if name != "submission"
    ]
    assert len(trec_is.score.__doc__) < 8000
    assert all(hasattr(trec_is, name) for name in trec_is.__all__)


def test_the_file_runs_as_a_notebook_cell_and_its_examples_are_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["kernel", "-f", "connection.json"])
    cell: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(METRIC.read_text(encoding="utf-8"), "<cell>", "exec"), cell)
    runner = doctest.DocTestRunner()
    for name in (
        "score",
        "parse_types",
        "false_alerts_before",
        "category_scores",
        "tweet_worth",
        "_delta_trace",
    ):
        example = doctest.DocTestParser().get_doctest(cell[name].__doc__, dict(cell), name, None, None)
        assert example.examples
        runner.run(example)
    assert runner.failures == 0
    assert cell["score"](*competition(), "tweet_id") == pytest.approx(GOLDEN["accumulated_alert_worth"])
