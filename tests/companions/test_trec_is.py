"""The companion of TREC-IS explains every tweet, writes tables and notices, and reads the track's files."""

import gzip
import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import podium
from podium.cli import main
from podium.common.errors import HostError, SubmissionRejected, UsageError
from podium.metric import hosted
from podium.scoring import answers
from tests.support import trec_is_data
from tests.support.trec_is_data import (
    ACTIONABLE,
    ANOTHER,
    BOTH,
    DATA,
    OTHER,
    SAMPLES,
    answered,
    competition,
    labeled,
    official,
)
from tests.support.writing import write

companion = hosted.module("trec_is", "companion")
OfficialFileWarning = companion.OfficialFileWarning
read_solution, read_submission = companion.read_solution, companion.read_submission
trec_is = hosted.module("trec_is")
evaluated = partial(podium.score, metric="trec_is")

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the track's files are not beside the repository")


def explained(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> Any:
    """The explanation of a run."""
    return evaluated(solution, submission, **parameters).explanation


def measures(solution: pd.DataFrame, submission: pd.DataFrame, **parameters: Any) -> dict[str, float]:
    """The measures of a run."""
    return evaluated(solution, submission, **parameters).measures


# --- every tweet, type and event ----------------------------------------------------------------------------


def test_the_tweets_tell_the_whole_story() -> None:
    solution = labeled(
        ("High", BOTH), ("Low", OTHER), ("Critical", OTHER), ("Medium", OTHER), ("Low", BOTH, "fire")
    )
    submission = answered((0.9, ACTIONABLE), (0.8, ""), (0.2, "News"), (0.1, "News")).assign(rank=[2, 1, 3, 4])
    evaluation = explained(solution, submission)
    tweets = evaluation.rows.set_index("tweet_id")
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
    assert tweets["contribution"].sum() == pytest.approx(measures(solution, submission)["score"])
    assert {*evaluation.roles.values()} <= {*tweets}
    assert set(tweets[evaluation.roles["item"]]) == set(evaluation.prepared.items)


def test_the_types() -> None:
    solution = labeled(("High", BOTH, "a"), ("Low", BOTH, "b"), ("Low", OTHER, "b"))
    submission = answered((1.0, ACTIONABLE), (0.0, OTHER), (0.0, f"{ACTIONABLE} {OTHER} {ANOTHER}"))
    types = explained(solution, submission).types.set_index("information_type")
    assert types.loc[ACTIONABLE, ["tweets", "tp", "fp", "fn"]].tolist() == [2, 1, 1, 1]
    assert types.loc[OTHER, ["tweets", "tp", "fp", "fn"]].tolist() == [3, 2, 0, 1]
    assert types.loc[ANOTHER, ["tweets", "tp", "fp", "fn"]].tolist() == [0, 0, 1, 0]
    assert types.loc[[ACTIONABLE, OTHER, ANOTHER, "Other-Advice"], "f1"].tolist() == [0.5, 0.8, 0.0, 0.0]
    assert types.loc[[ACTIONABLE, "Other-Advice"], "accuracy"].tolist() == pytest.approx([1 / 3, 1])
    assert types["actionable"].sum() == 6
    assert types.loc[OTHER, ["precision", "recall"]].tolist() == pytest.approx([1, 2 / 3])
    assert types.loc[OTHER, "mse"] == pytest.approx(0.25**2 / 3)
    assert types.loc["Other-Advice", ["precision", "recall", "mse"]].isna().all()
    assert math.isnan(types.loc[ANOTHER, "recall"])


def test_the_events_are_scored_each_alone_and_contribute_to_the_whole() -> None:
    solution, submission = competition()
    explanation = explained(solution, submission)
    events = explanation.events.set_index("event_id")
    assert events.index.tolist() == sorted(solution["event_id"].unique())
    assert events["contribution"].sum() == pytest.approx(measures(solution, submission)["score"], abs=1e-15)
    quiet = events.loc[trec_is_data.EVENTS[trec_is_data.QUIET_EVENT]]
    assert math.isnan(quiet["high_priority_worth"])
    assert math.isnan(quiet["accumulated_alert_worth"])
    for event in events.index:
        alone = measures(solution[solution["event_id"] == event], submission, measure="low_priority_worth")
        del alone["score"]
        assert events.loc[event, [*alone]].to_dict() == pytest.approx(alone, abs=1e-12, nan_ok=True)
    cases = ["true_alerts", "missed_alerts", "false_alerts", "no_alerts", "missing"]
    assert (events[cases].sum(axis=1) == events["tweets"]).all()
    assert (events[["high", "low"]].sum(axis=1) == events["tweets"]).all()


def test_ignored_rows_of_the_run() -> None:
    solution = labeled(("Low", OTHER), ("High", OTHER), ("Low", "", "fire"))
    submission = answered((1.0, ""), (1.0, OTHER), (0.0, "")).assign(event_id=["flood", "flood", "fire"])
    extra = pd.DataFrame(
        [["new", None, 1, 0.5, ANOTHER], ["t01", "fire", 9, 0.2, OTHER]],
        columns=["tweet_id", "event_id", "rank", "priority", "categories"],
    )
    explanation = explained(solution, pd.concat([extra, submission]))
    ignored = explanation.rows[explanation.rows["case"] == "ignored"].set_index("tweet_id")
    assert ignored.loc["new", ["rank", "score", "run_types"]].tolist() == [1.0, 0.5, ANOTHER]
    assert pd.isna(ignored.loc["new", "event_id"])
    assert ignored.loc["t01", "event_id"] == "fire"
    empty = ["priority", "equation", "true_types", "delta", "worth", "contribution", "squared_error"]
    assert ignored[empty].isna().all(axis=None)
    assert explanation.notices == [
        "rows of the run are ignored if their tweet has no label or another row counts for it: 2 rows"
    ]


def test_missing_tweets() -> None:
    solution = labeled(("High", BOTH), ("Critical", OTHER), ("Low", OTHER))
    explanation = explained(solution, answered((1.0, BOTH), (1.0, OTHER), (0.0, OTHER)).iloc[[0]])
    missing = explanation.rows.set_index("tweet_id").loc["t02"]
    assert missing[["case", "worth", "priority"]].tolist() == ["missing", -1.0, "Critical"]
    assert missing[["rank", "score", "delta", "equation", "actionable_score", "other_score"]].isna().all()
    assert explanation.notices == [
        "labeled tweets that the run lacks count with no types, priority 0.25 and no alert: 2 tweets"
    ]


# --- notices ------------------------------------------------------------------------------------------------


def test_notice_of_names_taken_for_events() -> None:
    solution = labeled(*[("Low", "", "fire")] * 2, *[("High", "", "flood")] * 2)
    submission = answered(*[(0.9, "")] * 4).assign(event_id=["H-2", "H-2", "H-1", "H-1"])
    assert explained(solution, submission).notices == [
        "the solution lacks some names of the run's events, so each was taken for the event that shares most "
        "tweets with it: H-1 is flood, H-2 is fire"
    ]
    named = submission.assign(event_id=["fire", "fire", "flood", "flood"])
    assert explained(solution, named).notices == []
    assert explained(solution, submission.drop(columns="event_id")).notices == []


def test_notice_of_tweets_in_other_lists() -> None:
    solution = labeled(("Low", "", "fire"), ("High", "", "flood"))
    swapped = answered(*[(0.9, "")] * 2).assign(event_id=["flood", "fire"])
    assert explained(solution, swapped).notices == [
        "tweets that the run lists for another event than the solution count for the solution's event: 2 tweets"
    ]


def test_notice_of_equal_scores() -> None:
    solution = labeled(("High", OTHER), ("Low", OTHER))
    constant = answered((0.9, ""), (0.9, ""))
    assert explained(solution, constant, normalize_priority=True).notices == [
        "all scores of the run are equal and became 0"
    ]
    assert explained(solution, constant).notices == []
    assert explained(solution, answered((0.9, ""), (0.8, "")), normalize_priority=True).notices == []


def test_notice_of_priorities_on_another_scale() -> None:
    solution = labeled(("High", OTHER), ("Low", OTHER))

    def notices(*scores: float, **parameters: Any) -> list[str]:
        told: list[str] = explained(
            solution, answered(*((score, "") for score in scores)), **parameters
        ).notices
        return told

    assert notices(4, 0.5) == [
        "priorities from 0.5 to 4 may be on another scale than 0 to 1, to which normalize_priority=true brings "
        "them: 1 row outside"
    ]
    assert len(notices(-0.1, 0.5)) == 1
    told = "the run has no alert, because no priority reaches 0.7: they are at most 0.69"
    assert notices(0.25, 0.69) == [told]
    assert notices(0, 0.7) == notices(0, 1) == notices(4, 0.5, normalize_priority=True) == []
    assert notices(0, 0.5, alert_threshold=0.4) == []


def mistakes(solution: pd.DataFrame, run: pd.DataFrame) -> list[str]:
    """The kinds of mistakes in a run, whose sentences are notices, too."""
    explanation = explained(solution, run)
    assert {told for _, told in explanation.mistakes} <= {*explanation.notices}
    return [kind for kind, _ in explanation.mistakes]


def test_mistakes_of_a_whole_run() -> None:
    solution, honest = competition(400)
    types = [*hosted.module("trec_is").INFORMATION_TYPES]
    following = dict(zip(types, types[1:] + types[:1]))
    perfect = companion.perfect_submission(solution)
    for run in (honest, perfect, companion.sample_submission(solution), perfect.assign(categories=types[3])):
        assert mistakes(solution, run) == []
    moved = perfect["categories"].map(lambda cell: " ".join(following[name] for name in cell.split()))
    backwards = perfect["rank"].max() - perfect["rank"]
    others = [f"x{row}" if row % 3 else tweet for row, tweet in enumerate(honest["tweet_id"])]
    for run, kind in (
        (honest.assign(priority=100 * honest["priority"]), "priorities on another scale"),
        (perfect.assign(rank=backwards), "ranks counted from the end"),
        (perfect.assign(categories=moved), "types one place away"),
        (honest.assign(tweet_id=others), "tweets of another edition"),
    ):
        assert mistakes(solution, run) == [kind]
    assert mistakes(solution[:10], perfect[:10].assign(rank=backwards)) == []  # too few


@pytest.mark.parametrize(
    "shortened",
    [lambda tweet: repr(float(tweet)), lambda tweet: f"{float(tweet):.5e}", lambda tweet: tweet[:15] + "000"],
)
def test_ids_that_lost_their_last_digits_are_no_other_edition(shortened) -> None:
    solution, honest = competition(200)
    ids = {
        tweet: f"{1234567890123456 + 10**12 * row}{row % 9 + 1:02}"
        for row, tweet in enumerate(honest["tweet_id"])
    }
    solution, honest = (
        table.assign(tweet_id=table["tweet_id"].map(ids)).dropna() for table in (solution, honest)
    )
    assert "ids without their last digits" not in mistakes(solution, honest)
    run = honest.assign(tweet_id=honest["tweet_id"].map(shortened)).drop_duplicates("tweet_id")
    some = pd.concat([honest[:1], run[1:]])
    assert mistakes(solution, some) == ["ids without their last digits"]
    prepared = evaluated(solution, honest).solution
    assert companion.diagnose(prepared, honest) is None
    with pytest.raises(
        SubmissionRejected, match=r"^read tweet_id as text, because numbers lose the last digits"
    ):
        evaluated(solution, run)


def test_the_nearest_priority_is_the_answer() -> None:
    solution = labeled(("Low", "", "fire"), ("High", ""), ("Critical", ""), ("Medium", ""))
    run = answered((0.37, ""), (0.38, ""), (0.9, ""))
    evaluation = evaluated(solution, run)
    given = answers.given_by(evaluation)
    asked = answers.asked(evaluation.solution, ())
    assert asked["label"].tolist() == ["Low", "High", "Critical", "Medium"]
    assert asked["item"].tolist() == [0, 1, 1, 1]
    labels = [*sorted({*asked["label"]}), ""]
    assert [labels[code] for code in given.codes] == ["Low", "Medium", "Critical", ""]
    assert given.is_answered.tolist() == [True, True, True, False]


def test_notice_of_several_run_tags() -> None:
    solution = labeled(("High", OTHER), ("Low", OTHER))
    run = answered((0.9, ""), (0.1, ""))
    told = "the run has 2 run tags, so it may be several runs: a, b"
    assert explained(solution, run.assign(runtag=["a", "b"])).notices == [told]
    assert explained(solution, run.assign(runtag=["a", None])).notices == []


def test_numbers_as_ids_are_texts(tmp_path: Path) -> None:
    """As long as no digit is lost."""
    for number in (2000000000000000004, 17, 17.0):
        path = write(tmp_path, "labels.json", label_json({**TWEET, "postID": number}))
        assert read_solution(path)["tweet_id"].tolist() == [str(int(number))]
        row = pd.DataFrame([("3", "a", 0.5, OTHER)])
        run = read_submission(write(tmp_path, "run", run_2021(row, tweet_id=number, topic=7)))
        assert run[["tweet_id", "event_id"]].to_numpy().tolist() == [[str(int(number)), "7"]]
    ids = 2000000000000000004, 2000000000000000008
    as_numbers = labeled(("High", OTHER), ("Low", OTHER)).assign(tweet_id=ids)
    as_texts = answered((0.9, OTHER), (0.1, OTHER)).assign(tweet_id=[str(number) for number in ids])
    assert [evaluated(as_numbers, run).score for run in (as_texts, as_texts.assign(tweet_id=ids))] == [1, 1]


# --- tables -------------------------------------------------------------------------------------------------


def test_the_tables_say_where_worth_was_lost() -> None:
    evaluation, values = explained(*competition()), measures(*competition())
    table, _, cases, types, events = evaluation.tables.values()
    assert table.set_index("measure")["value"].to_dict() == {name: values[name] for name in trec_is.MEASURES}
    assert cases["tweets"].sum() == 160
    assert cases["contribution"].sum() == pytest.approx(values["score"])
    assert cases.set_index("case")["worth"].to_dict() == pytest.approx(
        evaluation.rows.groupby("case")["worth"].sum().drop("ignored").to_dict()
    )
    assert len(types) == 25
    assert events["contribution"].is_monotonic_increasing


# --- label files --------------------------------------------------------------------------------------------


def label_json(*tweets: dict[str, Any], event: Any = "flood") -> dict[str, Any]:
    """The content of a label file with these tweets of one event."""
    return {"events": [{"eventid": event, "tweets": [*tweets]}]}


def test_label_files_of_both_forms(tmp_path: Path) -> None:
    old = {"postID": "12", "categories": ["News", "PastNews"], "priority": "Low", "indicatorTerms": ["é"]}
    new = {"postID": 13, "postCategories": ["Request-SearchAndRescue"], "postPriority": "Critical", "x": [1]}
    untyped = {"postID": "14", "categories": [], "priority": "High"}
    content = label_json(old, new, untyped)
    for encoding in ("utf-8", "iso-8859-1", "utf-8-sig"):
        data = json.dumps(content, ensure_ascii=False).encode(encoding)
        read = read_solution(write(tmp_path, "labels.json", data))
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
    read = read_solution(str(write(tmp_path, "labels.json", content)))
    assert read.to_numpy().tolist() == [["1", "second as text", "High", "Report-News Report-Weather"]]


def test_annotations_beyond_the_types_are_left_out_with_a_warning(tmp_path: Path) -> None:
    tweet = {"postID": "1", "categories": ["Bot", "News", "Damage", "Bot", "News Weather"], "priority": "Low"}
    with pytest.warns(
        OfficialFileWarning,
        match="^annotations outside the 25 types were left out: Bot, Damage, News Weather .4 annotations.$",
    ):
        read = read_solution(write(tmp_path, "labels.json", label_json(tweet)))
    assert read["categories"].tolist() == ["Report-News"]


TWEET = {"postID": "1", "categories": ["News"], "priority": "Low"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[" * 200_000, "is not JSON"),
        ("[]", "; found another structure"),
        ({"events": [{"tweets": []}]}, "; found another structure"),
        (label_json({**TWEET, "categories": [5]}), "; found another structure"),
        (label_json(TWEET, {"postID": "2"}), "; tweet number 2 of event 'flood' is {'postID': '2'}"),
        (label_json({**TWEET, "postID": 1.5}), "; tweet number 1 of event 'flood' is {'postID': 1.5, "),
        (label_json({**TWEET, "priority": "Unknown"}), "'priority': 'Unknown'"),
        (label_json({**TWEET, "categories": "News"}), "'categories': 'News'"),
    ],
)
def test_bad_label_files(content: Any, message: str, tmp_path: Path) -> None:
    data = content if isinstance(content, str | bytes) else json.dumps(content)
    with pytest.raises(HostError, match=message):
        read_solution(write(tmp_path, "labels.json", data))


def test_only_the_letters_a_to_e_after_a_digit_are_parts(tmp_path: Path) -> None:
    tweets = [{"postID": str(number), "categories": [], "priority": "Low"} for number in range(6)]
    events = ["fire2016F", "fire2016a", "planE", "fire2016AB", "2016A.corrected", "fire2016E"]
    content = {"events": [{"eventid": event, "tweets": [tweet]} for event, tweet in zip(events, tweets)]}
    with pytest.warns(OfficialFileWarning, match="^parts of events were united: 1 part of fire2016$"):
        read = read_solution(write(tmp_path, "labels.json", content))
    assert read["event_id"].tolist() == [*events[:-1], "fire2016"]


def test_a_folder_of_labels_with_topics_and_ontology(tmp_path: Path) -> None:
    tweet = {"postID": "1", "categories": ["News"], "priority": "Low"}
    other = {"eventid": "H-077", "tweets": [{**tweet, "postID": "2"}]}
    write(tmp_path, "1.json", label_json(tweet))
    write(tmp_path, "2.json.gz", gzip.compress(json.dumps({"events": [other]}).encode()))
    write(tmp_path, "types.json", {"informationTypes": []})
    write(tmp_path, "2021a.topics", TOPICS)
    write(tmp_path, ".hidden.json", "?")
    write(tmp_path, "readme.txt", "?")
    assert read_solution(tmp_path)["event_id"].tolist() == ["flood", "bar_shooting.2020"]


@pytest.mark.parametrize(("read", "error"), [(read_solution, HostError), (read_submission, SubmissionRejected)])
def test_folders_with_nothing_to_read(read: Any, error: Any, tmp_path: Path) -> None:
    with pytest.raises(error, match=r"expected .* in the folder, found none$"):
        read(tmp_path)
    write(tmp_path, "a.topics", "<topics></topics>")
    with pytest.raises(error, match=r"^a.topics: expected topics, <top> with <num> and <dataset>, found none$"):
        read(tmp_path)


def test_texts_of_label_files(tmp_path: Path) -> None:
    tweets = [
        {"postID": "1", "categories": [], "priority": "Low", "postText": "Water in\nthe street"},
        {"postID": "2", "categories": [], "priority": "High"},
        {"postID": "1", "categories": [], "priority": "Low", "text": "another"},
    ]
    read = read_solution(write(tmp_path, "labels.json", label_json(*tweets)))
    assert read["text"][0] == "Water in\nthe street"
    assert read["text"].isna().tolist() == [False, True]


# --- runs ---------------------------------------------------------------------------------------------------


TOPICS = """<top>
<num>H-076</num>
<dataset>houston_explosion.2020</dataset>
<title>Houston & more</title>
</top>
<top><num> H-077 </num><dataset> bar_shooting.2020 </dataset></top>
<top><num>H-078</num></top>
"""


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
        read = read_submission(write(tmp_path, "a.run", "\ufeff" + end.join(lines) + end))
        assert read["tweet_id"].tolist() == ["12", "13", "14", "15", "0016", "17"]
        assert read["event_id"].unique().tolist() == ["flood"]
        assert read["rank"].tolist() == [1, 2, 3, 4, 5, 6]
        assert read["priority"].tolist() == [0.9, 0.5, 0.001, 1, 0, 0]
        assert read["categories"].tolist() == ["News SearchAndRescue"] * 2 + ["News", "", "", ""]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "It has no lines$"),
        (bytes(range(256)), "^a.run: expected lines such as"),
        ((SAMPLES / "labels.json").read_text(encoding="utf-8"), "not JSON"),
        ("flood Q0 12 1 0.9 News tag\n", r"line 1 \(no list of types after the score: 'News tag'\)"),
        ('flood Q0 12 1 0.9 ["A B"] tag\n', "Wrong in 1 line: line 1 "),
        ("flood Q0 12 1 0.9 " + "[" * 200_000 + "] tag\n", "Wrong in 1 line: line 1 "),
        (
            '{"topic": "T", "tweet_id": "1", "priority": 0.5}\n' * 7,
            r"^a.run: expected lines such as: .*line 1 \(info_type_labels is not a list .*\) and 6 more$",
        ),
    ],
)
def test_bad_run_files(content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(SubmissionRejected, match=message) as caught:
        read_submission(write(tmp_path, "a.run", content))
    assert len(str(caught.value)) <= 280


def test_a_folder_with_a_run_and_topics_names_events_by_their_datasets(tmp_path: Path) -> None:
    write(tmp_path, "1.run", "H-077 Q0 12 1 0.9 [] tag\n")
    write(tmp_path, "2.run", "H-076 Q0 13 1 0.9 [] tag\nhouston_explosion.2020 Q0 14 2 0.9 [] tag\n")
    write(tmp_path, "2020.topics.gz", gzip.compress(TOPICS.encode("iso-8859-1")))
    read = read_submission(tmp_path)
    assert read["event_id"].tolist() == ["bar_shooting.2020", *["houston_explosion.2020"] * 2]
    assert read["tweet_id"].tolist() == ["12", "13", "14"]


def test_the_sample_files_of_both_forms_score_alike() -> None:
    with pytest.warns(
        OfficialFileWarning, match="^annotations outside the 25 types .*: Screenshot .161 annotations.$"
    ):
        solution = read_solution(SAMPLES / "labels.json")
    submission = read_submission(SAMPLES / "run.txt")
    assert repr(measures(solution, submission)) == repr(measures(*competition()))


# --- runs of 2021 -------------------------------------------------------------------------------------------


def run_2021(submission: pd.DataFrame, **changes: Any) -> str:
    """A run in the form of 2021: JSON lines without ranks, with labels in the order of the ontology."""
    lines = []
    for tweet_id, event_id, priority, categories in submission.to_numpy().tolist():
        labels = [int(name in categories.split()) for name in trec_is_data.TYPES]
        line = {"topic": event_id, "runtag": "my_run", "tweet_id": tweet_id, "priority": priority}
        line |= {"info_type_scores": [0.1] * 25, "info_type_labels": labels}
        lines.append(json.dumps(line | changes))
    return "\n".join(lines) + "\n"


def test_equal_priorities_of_2021_are_ranked_by_their_place_in_each_topic(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        [("3", "a", 0.5, OTHER), ("1", "b", 0.1, ""), ("2", "a", 0.9, ANOTHER), ("4", "a", 0.5, BOTH)]
    )
    read = read_submission(write(tmp_path, "run", run_2021(rows)))
    assert read["rank"].tolist() == [2, 1, 1, 3]
    assert read["categories"].tolist() == [OTHER, "", ANOTHER, f"{OTHER} {ACTIONABLE}"]
    # The order of the labels is that of the ontology, in which plain sorting would swap these two.
    places = [trec_is.INFORMATION_TYPES.index(name) for name in ("Report-News", "Report-NewSubEvent")]
    labels = [[int(place == each) for place in range(25)] for each in places]
    lines = [run_2021(rows.head(1), tweet_id=str(n), info_type_labels=of) for n, of in enumerate(labels)]
    read = read_submission(write(tmp_path, "run", "".join(lines)))
    assert read["categories"].tolist() == ["Report-News", "Report-NewSubEvent"]
    assert places == [15, 16]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"topic": None}, "topic or tweet_id is missing, or a floating-point number"),
        ({"tweet_id": 1.3e18}, "topic or tweet_id is missing, or a floating-point number"),
        ({"priority": "High"}, "the priority is 'High' instead of a number"),
        ({"info_type_labels": [0] * 24}, "info_type_labels is not a list of 25 numbers 0 or 1"),
        ({"info_type_labels": [0] * 24 + [2]}, "info_type_labels is not a list of 25 numbers 0 or 1"),
    ],
)
def test_wrong_lines_of_2021(changes: dict[str, Any], fault: str, tmp_path: Path) -> None:
    row = pd.DataFrame([("3", "a", 0.5, OTHER)])
    path = write(tmp_path, "run", run_2021(row) + run_2021(row, **changes))
    with pytest.raises(SubmissionRejected) as caught:
        read_submission(path)
    assert f"Wrong in 1 line: line 2 ({fault}" in str(caught.value)
    assert len(str(caught.value)) <= 280


def test_a_run_has_lines_of_one_form(tmp_path: Path) -> None:
    row = run_2021(pd.DataFrame([("3", "a", 0.5, OTHER)]))
    with pytest.raises(SubmissionRejected, match=r"^run: expected lines of one form, found JSON and others$"):
        read_submission(write(tmp_path, "run", row + "flood Q0 12 1 0.9 [] tag\n"))


# --- topics beside the labels -------------------------------------------------------------------------------


def test_topics_beside_the_labels_name_the_events_of_the_run(tmp_path: Path) -> None:
    tweets = [{"postID": f"t{n}", "categories": ["News"], "priority": ("Low", "High")[n % 2]} for n in range(4)]
    events = [
        {"eventid": "houston_explosion.2020", "tweets": tweets[:2]},
        {"eventid": "bar_shooting.2020", "tweets": tweets[2:]},
        {"eventid": "of_no_topic.2020", "tweets": [{**tweets[0], "postID": "t9"}]},
    ]
    labels = write(tmp_path, "labels.json", {"events": events})
    write(tmp_path, "2020.topics", TOPICS)
    solution = read_solution(labels)
    assert solution["event_number"].tolist() == ["H-076"] * 2 + ["H-077"] * 2 + [None]
    # In the list H-076 the bar's tweets outnumber the explosion's: without topics that list would be the bar's.
    run = pd.DataFrame(
        [("t0", "H-076", 9, 0.1), ("t2", "H-076", 8, 0.9), ("t3", "H-076", 7, 0.9), ("t2", "H-077", 1, 0.2)],
        columns=["tweet_id", "event_id", "rank", "priority"],
    ).assign(categories="")
    explanation = explained(solution, run)
    scores = explanation.rows.set_index("tweet_id")["score"]
    assert scores["t2"].tolist() == [0.2, 0.9]  # the latter is ignored
    assert not any("lacks some names of the run's events" in notice for notice in explanation.notices)
    inferred = explained(solution.drop(columns="event_number"), run)
    assert inferred.rows.set_index("tweet_id")["score"]["t2"].tolist() == [0.9, 0.2]
    assert any("H-076 is bar_shooting.2020" in notice for notice in inferred.notices)


# --- the track's own names ----------------------------------------------------------------------------------


def test_the_row_for_latex(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solution, submission = competition()
    title = "For LaTeX, as the track's scripts print it"
    row = explained(solution, submission.assign(runtag="my_run"))
    heading = "run & AW-H & AW-A & CF1-H & CF1-A & CAcc & PErr-H & PErr-A"
    expected = r"& -0.4270 & -0.0216 & 0.6962 & 0.7655 & 0.9590 & 0.1291 & 0.0977 \\"
    assert row.tables[title].to_dict("list") == {heading: [rf"my\_run {expected}"]}
    assert explained(solution, submission).tables[title][heading].tolist() == [f"run {expected}"]
    quiet = solution[solution["event_id"] == trec_is_data.EVENTS[trec_is_data.QUIET_EVENT]]
    cell = explained(quiet, submission, measure="low_priority_worth").tables[title][heading][0]
    assert cell.startswith("run & - & - & ")
    files = [str(SAMPLES / name) for name in ("solution.csv", "run.txt")]
    assert main(["score", "--metric", "trec_is", *files, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [f"{value:.4f}" for value in printed["official"].values()] == expected.strip("& \\").split(" & ")
    assert ["run", *printed["official"]] == heading.split(" & ")
    assert printed["tables"][title] == [{heading: f"sample {expected}"}]


# --- the track's own files ----------------------------------------------------------------------------------

LABELS = DATA / "TRECIS-2021A-crisis.labels.prelim.json"


@needs_data
def test_the_official_label_file_is_the_official_solution() -> None:
    with pytest.warns(OfficialFileWarning, match=r"\(4,422 annotations\)$"):
        read = read_solution(LABELS)
    solution = official()
    assert len(read) == 6868
    for name in ("tweet_id", "event_id", "priority"):
        assert read[name].tolist() == solution[name].tolist()
    assert [set(cell.split()) for cell in read["categories"]] == [
        set(cell.split()) for cell in solution["categories"]
    ]


# --- texts in the report ------------------------------------------------------------------------------------


def test_texts_of_the_solution_and_the_submission() -> None:
    solution = labeled(("High", OTHER), ("Low", ""), ("Low", "", "fire"), ("Low", "", "quiet"))
    submission = answered((0.1, ""), (0.9, ""), (0.0, "")).assign(rank=[2, 1, 1])
    assert companion.texts(evaluated(solution, submission)) == {}
    with_texts = solution.assign(text=["Help\n  us", None, "fire!", 5])
    said = submission.assign(text=["other", "from the run", None])
    assert companion.texts(evaluated(with_texts, said)) == {
        "flood": "t02 [Low, false alert] from the run\nt01 [High, missed alert] Help us",
        "fire": "t03 [Low, no alert] fire!",
    }


def test_texts_from_a_file_of_tweets(tmp_path: Path) -> None:
    solution = labeled(("High", OTHER), ("Low", ""))
    evaluation = evaluated(solution, answered((0.1, ""), (0.9, "")))
    lines = [
        {"allProperties": {"id": "t01", "text": "of the track"}},
        {"id": 7, "text": "of no event"},
        {"id_str": "t02", "id": 2, "full_text": "raw", "text": "r…"},
    ]
    content = "\n".join(map(json.dumps, lines)) + "\n\n"
    assert companion.texts(evaluation, write(tmp_path, "tweets.jsonl", content)) == {
        "flood": "t01 [High, missed alert] of the track\nt02 [Low, false alert] raw"
    }
    with pytest.raises(UsageError, match=r"expected texts of the solution's tweets, found none of 2$"):
        companion.texts(evaluation, write(tmp_path, "other.jsonl", '{"id": 7, "text": "x"}\n'))


@pytest.mark.parametrize("line", ["?", "[]", '{"id": 1}', '{"id": [], "text": "x"}'])
def test_bad_files_of_tweets(line: str, tmp_path: Path) -> None:
    evaluation = evaluated(labeled(("High", OTHER), ("Low", "")), answered((0.1, ""), (0.9, "")))
    path = write(tmp_path, "tweets.jsonl", '{"id": "t01", "text": "x"}\n' + line)
    with pytest.raises(UsageError, match=r"expected one JSON object per line, .* Wrong in 1 line: line 2 \("):
        companion.texts(evaluation, path)


# --- files for Kaggle ---------------------------------------------------------------------------------------


def test_a_run_becomes_a_file_that_kaggle_accepts() -> None:
    solution, submission = competition()
    solution = solution[solution["tweet_id"].isin(submission["tweet_id"])]
    public = solution["event_id"].isin(trec_is_data.EVENTS[::2])
    solution = solution.assign(Usage=np.where(public, "Public", "Private"))
    made = companion.kaggle_submission(submission, solution)
    assert made.columns.tolist() == ["tweet_id", "rank", "priority", "categories"]
    assert made["tweet_id"].tolist() == solution["tweet_id"].tolist()
    expected = evaluated(solution, submission)
    assert evaluated(solution, made).scores == expected.scores
    assert repr(evaluated(solution, made).measures) == repr(expected.measures)


def test_a_labeled_tweet_that_the_run_lacks_becomes_a_row() -> None:
    solution = labeled(("High", OTHER), ("Low", OTHER), ("Low", ""))
    submission = answered((0.9, OTHER), (0.1, OTHER)).iloc[[1]].assign(rank=4)
    with pytest.warns(
        OfficialFileWarning,
        match="^labeled tweets that the run lacks became rows of priority 0.25 .*: 2 tweets$",
    ):
        made = companion.kaggle_submission(submission, solution)
    assert made.to_numpy().tolist() == [["t01", 5, 0.25, " "], ["t02", 4, 0.1, OTHER], ["t03", 5, 0.25, " "]]
    assert evaluated(solution, made).score == evaluated(solution, submission).score == -0.25


def test_kaggle_needs_each_tweet_once() -> None:
    solution = labeled(("High", OTHER), ("Low", OTHER))
    twice = pd.concat([solution, solution.head(1)])
    for make in (
        companion.sample_submission,
        lambda each: companion.kaggle_submission(answered((1.0, "")), each),
    ):
        with pytest.raises(HostError, match=r"^tweet_id: expected each tweet once in the solution"):
            make(twice)
