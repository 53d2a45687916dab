"""A literal transcription of the TREC-IS V2 metrics, with which ``metrics/trec_is`` is compared.

The source is R. McCreadie's memo "TREC-IS V2 Metrics" (May 2019). It is followed equation by equation in sets
of names, dicts and loops, with its numbers in brackets. Comments marked "decision" are the project's answers
where the memo is silent.

Nothing here is shared with the metric file, and nothing is clever. Nothing checks the input, so it is for
valid tables only.
"""

import math
from typing import Any, NamedTuple

import pandas as pd

ACTIONABLE = {
    "Request-GoodsServices",
    "Request-SearchAndRescue",
    "CallToAction-MovePeople",
    "Report-EmergingThreats",
    "Report-NewSubEvent",
    "Report-ServiceAvailable",
}
OTHERS = {
    "CallToAction-Donations",
    "CallToAction-Volunteer",
    "Other-Advice",
    "Other-ContextualInformation",
    "Other-Discussion",
    "Other-Irrelevant",
    "Other-Sentiment",
    "Report-CleanUp",
    "Report-Factoid",
    "Report-FirstPartyObservation",
    "Report-Hashtags",
    "Report-Location",
    "Report-MultimediaShare",
    "Report-News",
    "Report-Official",
    "Report-OriginalEvent",
    "Report-ThirdPartyObservation",
    "Report-Weather",
    "Request-InformationWanted",
}
ALL = sorted(ACTIONABLE | OTHERS)
RENAMED = {
    "SignificantEventChange": "Report-NewSubEvent",
    "PastNews": "Other-ContextualInformation",
    "KnownAlready": "Report-OriginalEvent",
    "ContinuingNews": "Report-News",
}
PRIORITY = {"Low": 0.25, "Medium": 0.5, "High": 0.75, "Critical": 1.0}


class Labeled(NamedTuple):
    """A tweet with the labels of the assessors."""

    tweet: str
    event: str
    priority: str
    types: set[str]


class Answered(NamedTuple):
    """A tweet with the predictions of the run."""

    rank: float
    score: float
    types: set[str]


class Visit(NamedTuple):
    """The outcome of a tweet of the run."""

    case: str
    delta: int | None
    worth: float


class Result(NamedTuple):
    """All measures, and the outcome of each tweet."""

    measures: dict[str, float]
    visits: dict[str, Visit]  # by tweet


def evaluate(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str = "tweet_id",
    actionable_weight: float = 0.75,
    alert_gain: float = 0.3,
    alert_threshold: float = 0.7,
    normalize_priority: bool = False,
    forgive_missing_tweets: bool = False,
) -> Result:
    """Compute every measure of a submission."""
    labels = read_labels(solution, row_id_column_name)
    answers = read_run(submission, row_id_column_name, labels, normalize_priority)
    visits = visit(labels, answers, actionable_weight, alert_gain, alert_threshold)
    if not forgive_missing_tweets:
        for tweet, label in labels.items():
            if tweet not in answers:  # decision: it is no alert and has no types
                worth = -1.0 if label.priority in ("High", "Critical") else 0.0
                visits[tweet] = Visit("missing", None, worth)

    high = [tweet for tweet, label in labels.items() if label.priority in ("High", "Critical")]
    low = [tweet for tweet, label in labels.items() if label.priority in ("Low", "Medium")]
    high_worth = math.fsum(visits[tweet].worth for tweet in high) / len(high)
    low_worth = math.fsum(visits[tweet].worth for tweet in low) / len(low)

    f1, accuracy, mse = {}, {}, {}
    for name in ALL:
        f1[name], accuracy[name] = feed(name, labels, answers)
        errors = priority_errors(name, labels, answers)
        if errors:
            mse[name] = math.fsum(errors) / len(errors)
    mse_actionable = [error for name, error in mse.items() if name in ACTIONABLE]
    measures = {
        "accumulated_alert_worth": 0.5 * (high_worth + low_worth),  # (6)
        "high_priority_worth": high_worth,
        "low_priority_worth": low_worth,
        "info_type_f1_actionable": mean([f1[name] for name in ACTIONABLE]),
        "info_type_f1_all": mean([*f1.values()]),
        "info_type_accuracy_all": mean([*accuracy.values()]),
        "priority_mse_actionable": mean(mse_actionable),
        "priority_mse_all": mean([*mse.values()]),
        "priority_rmse_actionable": math.sqrt(mean(mse_actionable)),
        "priority_rmse_all": math.sqrt(mean([*mse.values()])),
    }
    return Result(measures, visits)


def mean(numbers: list[float]) -> float:
    """The mean, or NaN if there is nothing to average."""
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def full_name(name: str) -> str:
    """The full name of a type, which may be given by its short name or by its name of 2018."""
    short = name.split("-")[-1]
    if short in RENAMED:
        return RENAMED[short]
    return next(full for full in ALL if full.split("-")[1] == short)


def read_types(cell: object) -> set[str]:
    """The full names of the types in a cell."""
    return {full_name(name) for name in cell.split()} if isinstance(cell, str) else set()


def read_labels(solution: pd.DataFrame, row_id_column_name: str) -> dict[str, Labeled]:
    """The labels of each tweet."""
    labels: dict[str, Labeled] = {}
    for row in solution.to_dict("records"):
        tweet, event = str(row[row_id_column_name]), str(row["event_id"])
        # decision: of a tweet in several events, the first event as text
        if tweet not in labels or event < labels[tweet].event:
            labels[tweet] = Labeled(tweet, event, row["priority"], read_types(row["categories"]))
    return labels


def read_run(
    submission: pd.DataFrame, row_id_column_name: str, labels: dict[str, Labeled], normalize: bool
) -> dict[str, Answered]:
    """The predictions of the run for every labeled tweet that it has."""
    rows = submission.to_dict("records")
    shared: dict[tuple[str, str], int] = {}  # tweets, by the name of a list and the event of the solution
    for row in rows:
        tweet = str(row[row_id_column_name])
        if event_name(row) and tweet in labels:
            pair = event_name(row), labels[tweet].event
            shared[pair] = shared.get(pair, 0) + 1
    scores = [float(row["priority"]) for row in rows]
    lowest, highest = min(scores, default=0.0), max(scores, default=0.0)
    answers_to: dict[str, list[tuple[tuple[bool, int, float, str], Answered]]] = {}
    for row, score in zip(rows, scores, strict=True):
        tweet = str(row[row_id_column_name])
        if normalize:
            score = (score - lowest) / (highest - lowest) if highest > lowest else 0.0
        if tweet in labels:
            event = event_name(row)
            answer = Answered(float(row["rank"]), score, read_types(row["categories"]))
            elsewhere = event != labels[tweet].event
            order = (elsewhere, -shared.get((event, labels[tweet].event), 0), answer.rank, event)
            answers_to.setdefault(tweet, []).append((order, answer))
    # Decision: the row that counts is the one in the list with the name of the solution's event. If there is
    # none, it is the one in the list that shares most tweets with that event. If several are left, it is the
    # best ranked one, and then the one in the first list as text.
    return {tweet: min(options, key=lambda option: option[0])[1] for tweet, options in answers_to.items()}


def event_name(row: dict[Any, Any]) -> str:
    """The event that a row of the run names, or "" for none."""
    event = row.get("event_id")
    return str(event) if isinstance(event, str | int) else ""


def jaccard(a: set[str], b: set[str]) -> float:
    """The share of common members; 0 for two empty sets."""
    return len(a & b) / len(a | b) if a | b else 0.0


def act_c_score(run: set[str], assessor: set[str], actionable_weight: float) -> float:
    """Equation (2)."""
    return gamma(assessor, actionable_weight) * jaccard(run & ACTIONABLE, assessor & ACTIONABLE)


def n_act_c_score(run: set[str], assessor: set[str], actionable_weight: float) -> float:
    """Equation (3)."""
    return (1 - gamma(assessor, actionable_weight)) * jaccard(run & OTHERS, assessor & OTHERS)


def gamma(assessor: set[str], actionable_weight: float) -> float:
    """Equation (4)."""
    return actionable_weight if len(assessor & ACTIONABLE) > 0 else 0.0


def visit(
    labels: dict[str, Labeled],
    answers: dict[str, Answered],
    actionable_weight: float,
    alert_gain: float,
    alert_threshold: float,
) -> dict[str, Visit]:
    """The worth of every tweet, by (1) and (5): event by event, down the ranking."""
    visits = {tweet: Visit("missing", None, 0.0) for tweet in labels}
    for event in {label.event for label in labels.values()}:
        ranking = [tweet for tweet in answers if labels[tweet].event == event]
        ranking.sort(key=lambda tweet: (answers[tweet].rank, tweet))  # decision: ties by id as text
        delta = 0
        for tweet in ranking:
            label, answer = labels[tweet], answers[tweet]
            categories = act_c_score(answer.types, label.types, actionable_weight)
            categories += n_act_c_score(answer.types, label.types, actionable_weight)
            alert = answer.score >= alert_threshold
            if label.priority in ("High", "Critical"):
                if alert:
                    visits[tweet] = Visit("true alert", delta, alert_gain + (1 - alert_gain) * categories)
                    delta = 0
                else:
                    visits[tweet] = Visit("missed alert", delta, -1.0)
            elif alert:
                visits[tweet] = Visit("false alert", delta, max(-math.log10(delta / 2 + 1), -1.0))
                delta += 1
            else:
                visits[tweet] = Visit("no alert", delta, categories)
    return visits


def feed(name: str, labels: dict[str, Labeled], answers: dict[str, Answered]) -> tuple[float, float]:
    """The F1 and the accuracy of a type [5]."""
    tp = fp = fn = tn = 0
    for tweet, label in labels.items():
        true = name in label.types
        said = tweet in answers and name in answers[tweet].types
        tp += true and said
        fp += said and not true
        fn += true and not said
        tn += not true and not said
    # decision: 0 where undefined
    f1 = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
    return f1, (tp + tn) / (tp + fp + fn + tn)


def priority_errors(name: str, labels: dict[str, Labeled], answers: dict[str, Answered]) -> list[float]:
    """The squared errors of the priority, for the tweets to which the assessors gave this type."""
    errors = []
    for tweet, label in labels.items():
        if name in label.types:
            score = answers[tweet].score if tweet in answers else 0.25
            errors.append((PRIORITY[label.priority] - min(max(score, 0.25), 1.0)) ** 2)
    return errors
