"""The TREC Incident Streams V2 metrics, as one file to upload to Kaggle.

During a crisis, such as a flood, tweets arrive in a stream. For each crisis, called an event, a system makes a
ranked list of tweets. It gives each tweet a priority score, which says how important the tweet is, and the
types of information that it holds. The output of a system is called a run. A tweet with a priority score of
at least 0.7 is an alert to an officer. Assessors have labeled the tweets by hand. Their priorities are Low,
Medium, High and Critical. There are 25 types of information, of which six are called actionable.

``score`` compares a run with these labels and returns one measure. It cites a memo. "(1)" is an equation of
that memo and "[4.1]" is a section. After the public functions come the stages, in the order in which the data
passes through them. The functions that read the input come last:

* visits [4.1]: ``rows_that_count``, ``Prepared.compare``, ``false_alerts_before`` (δ)
* alerting (1) to (5): ``high_priority_worth``, ``act_c_score``, ``n_act_c_score``, ``gamma``,
  ``low_priority_worth``
* sums of events [4.5, 5]: ``count_events``
* measures (6) [5, 6]: ``accumulated_alert_worth``, ``f1_of_each``, ``accuracy_of_each``, ``mse_of_each``
* input: ``read_tweet_ids``, ``read_priorities``, ``read_categories``, ``read_ranks``, ``read_scores``

The measures:

* ``high_priority_worth`` is the mean worth (1) of the tweets labeled High or Critical.
* ``low_priority_worth`` is the mean worth (5) of the tweets labeled Low or Medium.
* ``accumulated_alert_worth`` is the mean of these two (6).
* ``info_type_f1_all`` is the F1 of each type over all tweets, averaged over the 25 types. For
  ``info_type_f1_actionable`` it is averaged over the six actionable types.
* ``info_type_accuracy_all`` is the accuracy of each type over all tweets, averaged over the 25 types.
* ``priority_mse_all`` is the mean square of the difference between label and score. It is computed over the
  tweets of each type and averaged over the types that occur. ``priority_mse_actionable`` is averaged over the
  actionable ones. The labels count as 0.25, 0.5, 0.75 and 1, and scores outside the range from 0.25 to 1 are
  moved to its nearest end. Table 1 of the memo shows these two numbers under the heading "RMSE".
* ``priority_rmse_all`` and ``priority_rmse_actionable`` are the square roots of these two.

An example with one event of five tweets, in the order of their ranks:

>>> solution = pd.DataFrame({"tweet_id": [1, 2, 3, 4, 5], "event_id": "flood"})
>>> solution["priority"] = ["Low", "Medium", "High", "Critical", "Low"]
>>> solution["categories"] = ["", "Weather", "SearchAndRescue Location", "MovePeople", "News"]
>>> run = pd.DataFrame({"tweet_id": [1, 2, 3, 4, 5], "rank": [1, 2, 3, 4, 5]})
>>> run["priority"] = [0.9, 0.8, 0.7, 0.5, 0.2]
>>> run["categories"] = ["", "Weather", "SearchAndRescue", "MovePeople", "News"]
>>> prepared = prepare(solution, "tweet_id")
>>> visits = prepared.compare(prepared.read(run))

Tweets 1 and 2 are false alerts. The first costs nothing, and the second costs log10(1/2 + 1) = 0.176. Tweet 3
is a true alert. Its actionable type is right and its other type is missing, so C is 0.75, and the worth is
0.3 + 0.7·0.75 = 0.825. It sets δ back to 0. Tweet 4 is a missed alert. Tweet 5 is rightly no alert, and its
type is right:

>>> visits["delta"].tolist(), visits["worth"].round(3).tolist()
([0, 1, 2, 0, 0], [0.0, -0.176, 0.825, -1.0, 1.0])

The mean worth of tweets 3 and 4 is -0.0875, and that of the others is 0.2746. The score is the mean of these
two:

>>> round(score(solution, run, "tweet_id"), 4)
0.0936

Four sentences of the memo are not followed. The first two contradict its own equations, which count here:

* [4.2] says that a tweet labeled Low or Medium that is not an alert adds nothing. By (5) it is worth what its
  types are worth.
* [4.1] says that α = 1 ignores information types. By (5) this holds for true alerts alone.
* [5] leaves false negatives out of F1, which would then be the precision. Here F1 is 2TP / (2TP + FP + FN).
* (5) has an argmax, which is read as a maximum.

Where the memo is silent, this file decides:

* F1 is 0 for a type that is neither labeled nor predicted.
* The logarithm of (5) has the base 10.  δ counts the false alerts before the tweet.
* Even a perfect run can score less than 1, because an alert to a tweet that has only actionable types is worth
  0.3 + 0.7·0.75.
* Tweets are visited event by event, in the order of their ranks. Tweets of the same rank are visited in the
  order of their ids as text. The measures do not depend on the order of rows.
* The solution decides to which event a tweet belongs. If a tweet is in several lists of a run, one row counts.
  It is the row in the list that has the name of the tweet's event. If there is none, it is the row in the list
  that shares most tweets with the event. Among equal lists it is the row with the best rank.
* The track gives each event two names. The solution may have the second one in a column ``event_number``.
* Tweets without a label are ignored. A labeled tweet that the run lacks has no types and the priority 0.25,
  and it is no alert. So it is worth -1 if it is labeled High or Critical, because missing important
  information is penalized [4.2], and 0 otherwise. In the track's scripts both are worth 0, so that a run gains
  by leaving out what it gives no alert. With ``forgive_missing_tweets`` the rule of the scripts counts.
* A type that no assessor used has no priority error.
* The parameter ``normalize_priority`` scales the scores of all rows of the run together.
* A type that is named twice counts once. Short names such as "SearchAndRescue" are read, too, and so are the
  names of 2018 such as "PastNews".
* A tweet may be in several rows of the solution, if its labels are the same in all of them. It counts once, in
  the event whose id comes first as text.
* The solution must have the labels that the requested measure needs. Other measures may be undefined.
* The Public and the Private part are sets of whole events. Each part is scored with the whole run.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "COMPLETE_SUBMISSION", "LATER_PARAMETERS", "MEASURE_PARAMETERS", "NAME", "HostVisibleError",
    "ParticipantVisibleError", "Prepared", "__version__", "higher_is_better", "prepare", "score",
]  # fmt: skip

__version__ = "4.0.0"

NAME = "trec_is"
COMPLETE_SUBMISSION = True  # switch on Kaggle's “Pass complete submission”
MEASURE_PARAMETERS = ("measure",)
LATER_PARAMETERS = ("forgive_missing_tweets",)

MEASURES = (
    *("accumulated_alert_worth", "high_priority_worth", "low_priority_worth"),
    *("info_type_f1_actionable", "info_type_f1_all", "info_type_accuracy_all"),
    *("priority_mse_actionable", "priority_mse_all", "priority_rmse_actionable", "priority_rmse_all"),
)

PRIORITIES = {"Low": 0.25, "Medium": 0.5, "High": 0.75, "Critical": 1.0}

# The information types of the track's ontology. A star marks the actionable types [5].
_NAMES = {
    "CallToAction": "Donations *MovePeople Volunteer",
    "Other": "Advice ContextualInformation Discussion Irrelevant Sentiment",
    "Report": "CleanUp *EmergingThreats Factoid FirstPartyObservation Hashtags Location MultimediaShare News "
    "*NewSubEvent Official OriginalEvent *ServiceAvailable ThirdPartyObservation Weather",
    "Request": "*GoodsServices InformationWanted *SearchAndRescue",
}
_STARRED = [f"{kind}-{name}" for kind, names in _NAMES.items() for name in names.split()]
# A set of types is an integer whose bit t stands for INFORMATION_TYPES[t].
INFORMATION_TYPES = tuple(name.replace("*", "") for name in _STARRED)
IS_ACTIONABLE = np.array(["*" in name for name in _STARRED])
_ACTIONABLE = sum(1 << bit for bit in np.flatnonzero(IS_ACTIONABLE).tolist())
TYPES_OF_2018 = {
    "Other-ContinuingNews": "Report-News",
    "Other-KnownAlready": "Report-OriginalEvent",
    "Other-PastNews": "Other-ContextualInformation",
    "Report-SignificantEventChange": "Report-NewSubEvent",
}
_BIT_OF_NAME = {
    name: 1 << INFORMATION_TYPES.index(TYPES_OF_2018.get(full, full))
    for full in (*INFORMATION_TYPES, *TYPES_OF_2018)
    for name in (full, full.partition("-")[2])
}
_WORD = re.compile(r"\S+")

FLOAT_DIGITS_END = 2.0**53  # from here on not every whole number is a float

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong. Kaggle knows this exception by its name and shows its text to participants."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong. Kaggle shows this text only to the host."""


# ---- Public API ------------------------------------------------------------------------------------------


def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "accumulated_alert_worth",
    actionable_weight: float = 0.75,
    alert_gain: float = 0.3,
    alert_threshold: float = 0.7,
    normalize_priority: bool = False,
    forgive_missing_tweets: bool = False,
) -> float:
    """Score a run with the TREC Incident Streams V2 metrics.

    On Kaggle, switch on "Pass complete submission". A labeled tweet that the run lacks counts as one without
    an alert and without types. Tweets without a label are ignored.

    A tweet is an alert if its priority score is at least `alert_threshold`. An alert is true if the tweet is
    labeled High or Critical, else it is false. By default the score is the accumulated alert worth. It is
    computed from the worth of each tweet:

    * A true alert is worth α + (1 - α)·C.
    * A tweet labeled High or Critical that is not an alert is worth -1.
    * A false alert is worth max(-log10(δ/2 + 1), -1). Here δ is the number of false alerts since the last
      true alert in the event. The more there are, the less the officer trusts the system.
    * A tweet labeled Low or Medium that is not an alert is worth C.

    C says how well the run found the types. It is γ times the Jaccard index of the actionable types plus 1 - γ
    times the Jaccard index of the other types. The weight γ is λ if the assessor chose an actionable type,
    else 0. The Jaccard index divides the number of types that both run and assessor chose by the number of
    types that either chose. It is 0 if there are none.

    The accumulated alert worth is the mean of two means. One is that of the tweets labeled High or Critical,
    the other that of the tweets labeled Low or Medium.

    Parameters
    ----------
    solution : DataFrame
        The labels, with one row per tweet. The columns are `row_id_column_name`, ``event_id``, ``priority``
        (Low, Medium, High or Critical) and ``categories`` (the information types separated by spaces; there may
        be none). A column ``event_number`` may have another name of the event.
    submission : DataFrame
        The run, with one row per tweet. The columns are `row_id_column_name`, ``rank``, ``priority`` and
        ``categories``. The rank is the position in the event's list, a whole number from 0. The priority is
        the priority score, any finite number. The categories are the information types separated by spaces.
        A tweet without types has a space there, because Kaggle rejects empty cells. A column ``event_id`` may
        say in which event's list the tweet is.
    row_id_column_name : str
        The name of the column with the tweets' ids, which are compared as text.
    measure : str
        The measure that is the score, one of `MEASURES`. For the errors of the priority, less is better.
    actionable_weight : float
        λ, the weight of the actionable types, from 0 to 1.
    alert_gain : float
        α, what a true alert is worth if no type is right, from 0 to 1.
    alert_threshold : float
        The least priority score of an alert.
    normalize_priority : bool
        Whether the priority scores of the run are first scaled to the range from 0 to 1. If all of them are
        equal, they become 0.
    forgive_missing_tweets : bool
        Whether a labeled tweet that the run lacks is worth 0 even if it is labeled High or Critical, as in the
        track's scripts.

    Returns
    -------
    float
        The measure. A worth is between -1 and 1, and every other measure is between 0 and 1.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed, or none of its tweets is in the solution. The text of the exception tells
        nothing else about the solution.
    HostVisibleError
        The solution is malformed, a parameter is out of range, or the solution leaves the measure undefined.

    References
    ----------
    R. McCreadie, "TREC-IS V2 Metrics", 2019, sections 4 to 6.

    Examples
    --------
    The run alerts to one of two important tweets and misses the other:

    >>> solution = pd.DataFrame({"tweet_id": [11, 12, 13], "event_id": "flood"})
    >>> solution["priority"] = ["High", "Low", "High"]
    >>> solution["categories"] = ["SearchAndRescue", "Sentiment", "EmergingThreats"]
    >>> submission = solution.assign(rank=[1, 2, 3], priority=[0.9, 0.8, 0.6])
    >>> round(score(solution, submission, "tweet_id", measure="high_priority_worth"), 6)  # (0.825 - 1) / 2
    -0.0875
    """
    worths = (actionable_weight, alert_gain, alert_threshold, normalize_priority, forgive_missing_tweets)
    prepared = prepare(solution, row_id_column_name, measure, *worths)
    sums = prepared.statistics(submission).sum(axis=0)[np.newaxis]
    return float(prepared.measures(sums)[0])


def higher_is_better(measure: str = "accumulated_alert_worth") -> bool:
    """Whether a higher score is better.

    >>> higher_is_better(), higher_is_better(measure="priority_mse_all")
    (True, False)
    """
    return not measure.startswith("priority_")


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "accumulated_alert_worth",
    actionable_weight: float = 0.75,
    alert_gain: float = 0.3,
    alert_threshold: float = 0.7,
    normalize_priority: bool = False,
    forgive_missing_tweets: bool = False,
) -> "Prepared":
    """Check and parse a solution once, so that many runs can be scored against it."""
    _check_parameter("row_id_column_name", row_id_column_name, str)
    _check_parameter("measure", measure, str)
    if measure not in MEASURES:
        head = f"measure: expected one of {', '.join(MEASURES)}, found "
        raise HostVisibleError(head + _listed([_quoted(measure)], 1, LONGEST_MESSAGE - len(head)))
    _check_parameter("actionable_weight", actionable_weight, float, lambda w: 0 <= w <= 1, "from 0 to 1")
    _check_parameter("alert_gain", alert_gain, float, lambda a: 0 <= a <= 1, "from 0 to 1")
    _check_parameter(
        "alert_threshold", alert_threshold, float, lambda t: abs(t) < 1e300, "from -1e300 to 1e300"
    )
    _check_parameter("normalize_priority", normalize_priority, bool)
    _check_parameter("forgive_missing_tweets", forgive_missing_tweets, bool)

    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    table.check_columns("event_id", "priority", "categories")
    if solution.empty:
        raise HostVisibleError("the solution: expected at least one row, found none")
    tweet, tweet_ids = _sorted(*read_tweet_ids(table))
    event, event_ids = _sorted(*_texts(table, "event_id"))
    priority, types = read_priorities(table), read_categories(table)
    rows = pd.DataFrame({"event": event, "priority": priority, "types": types})
    differs = (rows != rows.groupby(tweet).transform("first"))[["priority", "types"]].any(axis=1).to_numpy()
    expected = "the same priority and categories in every row of a tweet"
    table.reject(row_id_column_name, differs, lambda row: "labeled differently in an earlier row", expected)
    truths = rows.groupby(tweet).min()  # the rows of a tweet can differ only in the event
    truths["important"] = truths["priority"] >= PRIORITIES["High"]
    events, truths["event"] = np.unique(truths["event"], return_inverse=True)
    prepared = Prepared(
        items=[event_ids[number] for number in events.tolist()],
        item_of_row=truths["event"].to_numpy()[tweet],
        labels=[("(all)", "(all)")],
        groups=np.zeros((1, len(events)), dtype=np.int64),
        event_of_number=read_event_numbers(table, [event_ids[code] for code in event.tolist()]),
        tweet_ids=tweet_ids,
        truths=truths,
        row_id_column_name=row_id_column_name,
        measure=measure,
        actionable_weight=float(actionable_weight),
        alert_gain=float(alert_gain),
        alert_threshold=float(alert_threshold),
        normalize_priority=bool(normalize_priority),
        forgive_missing_tweets=bool(forgive_missing_tweets),
    )
    fn, high = set_members(truths["types"]).sum(axis=0), truths["important"].sum()
    of_an_empty_run = [high, 0, len(tweet_ids) - high, 0, *0 * fn, *0 * fn, *fn, *0 * fn]
    if np.isnan(prepared.measures([of_an_empty_run])[0]):
        expected = "the labels that it needs: High or Critical, Low or Medium, or (actionable) types"
        raise HostVisibleError(f"{measure}: expected {expected}. The solution leaves it undefined")
    return prepared


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A solution that `prepare` has checked and parsed, with the parameters to score against it."""

    items: list[str]  # the ids of the events, sorted as text
    item_of_row: Ints  # the event in which the tweet of each row of the solution counts
    labels: list[tuple[str, str]]  # the groups of events: there is one, that of all events
    groups: Ints  # (1, events) the group of each event, 0
    event_of_number: dict[str, str]  # empty if the solution has no column ``event_number``
    tweet_ids: list[str]  # the ids of the labeled tweets, sorted as text
    truths: (
        pd.DataFrame
    )  # of each labeled tweet the event, the priority, the set of types, and if it is important
    row_id_column_name: str  # here and below, the parameters of `score`
    measure: str
    actionable_weight: float
    alert_gain: float
    alert_threshold: float
    normalize_priority: bool
    forgive_missing_tweets: bool

    @property
    def measure_names(self) -> list[str]:
        """The names of the measures: the score, then `MEASURES`."""
        return ["score", *MEASURES]

    def read(self, submission: pd.DataFrame) -> pd.DataFrame:
        """Check and parse a run."""
        table = _Table(submission, "the submission", self.row_id_column_name, ParticipantVisibleError)
        table.check_columns("rank", "priority", "categories")
        codes, tweet_ids = read_tweet_ids(table)
        event, event_ids = np.full(len(codes), -1), list[str]()
        if "event_id" in submission:
            table.check_columns("event_id")
            event, event_ids = _sorted(*_factorize(submission["event_id"]))
        again = pd.Series(codes * (len(event_ids) + 1) + event).duplicated().to_numpy()
        expected = f"each tweet once{' in the list of an event' if event_ids else ''}"
        table.reject(self.row_id_column_name, again, lambda row: "repeated", expected)
        run = pd.DataFrame({"rank": read_ranks(table), "score": read_scores(table, self.normalize_priority)})
        run["types"] = read_categories(table)
        tweet = _positions(tweet_ids, self.tweet_ids)[codes]
        nowhere, expected = np.full(len(tweet), (tweet < 0).all()), "at least one tweet of the test set"
        table.reject(self.row_id_column_name, nowhere, lambda row: "not in the test set", expected)
        known = {**self.event_of_number, **dict(zip(self.items, self.items))}
        named = _positions([known.get(name, name) for name in event_ids], self.items)
        return run.assign(tweet=tweet, event=event, named=np.append(named, -1)[event])

    def compare(self, run: pd.DataFrame) -> pd.DataFrame:
        """Put the labeled tweets in the order in which the officer visits them, and value each [4.1]."""
        row = rows_that_count(run, self.truths)
        # The truths are in the order of the ids and the sort is stable, so tweets of one rank stay in order.
        order = np.lexsort((np.append(run["rank"], np.inf)[row], self.truths["event"]))
        visits, row = self.truths.iloc[order], row[order]
        event, label, types, important = (visits[name].to_numpy() for name in visits)
        score, said = np.append(run["score"], PRIORITIES["Low"])[row], np.append(run["types"], 0)[row]
        alert = (row >= 0) & (score >= self.alert_threshold)
        delta = false_alerts_before(event, important, alert)
        weight = gamma(types, self.actionable_weight)
        act, n_act = act_c_score(said, types, weight), n_act_c_score(said, types, weight)
        high = high_priority_worth(alert, act + n_act, self.alert_gain)
        worth = np.where(important, high, low_priority_worth(alert, act + n_act, delta))
        worth[(row < 0) & self.forgive_missing_tweets] = 0.0
        error = label - score.clip(PRIORITIES["Low"], PRIORITIES["Critical"])
        visits = visits.assign(row=row, score=score, run_types=said, alert=alert, delta=delta)
        visits = visits.assign(act_c_score=act, n_act_c_score=n_act, worth=worth)
        return visits.assign(squared_error=np.square(error))

    def count(self, visits: pd.DataFrame) -> Floats:
        """Compute for each event the numbers whose sums decide every measure."""
        return count_events(visits, len(self.items))

    def statistics(self, submission: pd.DataFrame) -> Floats:
        """Compute for each event the numbers whose sums decide every measure."""
        return self.count(self.compare(self.read(submission)))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute the measures from sums of statistics."""
        values = all_measures(np.asarray(sums, dtype=np.float64)[..., 0, :])
        return np.stack([values[self.measure], *values.values()], axis=-1)


# ---- Visits [4.1] ----------------------------------------------------------------------------------------


def rows_that_count(run: pd.DataFrame, truths: pd.DataFrame) -> Ints:
    """Choose the row of the run that counts for each labeled tweet."""
    rows = run[run["tweet"] >= 0]
    if rows["tweet"].duplicated().any():  # a tweet in the lists of several events
        of_tweet = truths["event"].to_numpy()[rows["tweet"]]
        shared = rows.groupby(["event", of_tweet])["tweet"].transform("size").where(rows["event"] >= 0, 0)
        shared[rows["named"] == of_tweet] = len(rows) + 1  # more tweets than any list can share
        # The best row comes last, because the last of several assignments below is the one that stays.
        rows = rows.iloc[np.lexsort((-rows["event"], -rows["rank"], shared))]
    row = np.full(len(truths), -1)
    row[rows["tweet"]] = rows.index
    return row


def false_alerts_before(event: Ints, important: Bools, alert: Bools) -> Ints:
    """Count δ, the false alerts before each tweet since the last true alert in its event [4.1].

    Five alerts of one event are false, false, true, false and true. A false alert of another event follows:

    >>> event, important = np.array([0, 0, 0, 0, 0, 1]), np.array([0, 0, 1, 0, 1, 0], dtype=bool)
    >>> false_alerts_before(event, important, np.ones(6, dtype=bool)).tolist()
    [0, 1, 2, 0, 1, 0]
    """
    # The number of false alerts so far never falls. So its value at the last reset is the running maximum of
    # its values at all resets. What has been added since then is δ.
    false_alert = alert & ~important
    so_far: Ints = np.cumsum(false_alert) - false_alert
    reset = np.diff(event, prepend=-1) != 0
    reset[1:] |= (alert & important)[:-1]
    at_reset = np.maximum.accumulate(np.where(reset, so_far, 0))
    delta: Ints = so_far - at_reset
    return delta


# ---- Alerting [4.3, 4.4] ---------------------------------------------------------------------------------


def high_priority_worth(alert: Bools, category_score: Floats, alert_gain: float = 0.3) -> Floats:
    """Compute highPriorityWorth, the worth of tweets labeled High or Critical (1).

    A true alert and a missed one:

    >>> high_priority_worth(np.array([True, False]), np.array([0.5, 0.5])).round(3).tolist()
    [0.65, -1.0]
    """
    return np.where(alert, alert_gain + (1 - alert_gain) * category_score, -1.0)


def act_c_score(run_types: Ints, true_types: Ints, weight: Floats) -> Floats:
    """Compute ActCScore: γ times the Jaccard index of the actionable types (2)."""
    return weight * jaccard(run_types & _ACTIONABLE, true_types & _ACTIONABLE)


def n_act_c_score(run_types: Ints, true_types: Ints, weight: Floats) -> Floats:
    """Compute NActCScore: 1 - γ times the Jaccard index of the types that are not actionable (3)."""
    return (1 - weight) * jaccard(run_types & ~_ACTIONABLE, true_types & ~_ACTIONABLE)


def gamma(true_types: Ints, actionable_weight: float = 0.75) -> Floats:
    """Compute γ, the weight of the actionable types of each tweet (4)."""
    return np.where(true_types & _ACTIONABLE, actionable_weight, 0.0)


def jaccard(a: Ints, b: Ints) -> Floats:
    """Compute the Jaccard index of pairs of sets.

    >>> jaccard(np.array([0b011, 0]), np.array([0b110, 0])).round(3).tolist()
    [0.333, 0.0]
    """
    bits = np.arange(len(INFORMATION_TYPES))
    both, either = ((types[:, np.newaxis] >> bits & 1).sum(axis=1) for types in (a & b, a | b))
    return np.nan_to_num(_ratio(both, either))


def low_priority_worth(alert: Bools, category_score: Floats, delta: Ints) -> Floats:
    """Compute lowPriorityWorth, the worth of tweets labeled Low or Medium (5).

    A tweet without an alert, the first false alert, and the nineteenth false alert in a row:

    >>> low_priority_worth(np.array([False, True, True]), np.full(3, 0.5), np.array([9, 0, 18])).tolist()
    [0.5, 0.0, -1.0]
    """
    return np.where(alert, np.maximum(0.0 - np.log10(delta / 2 + 1), -1.0), category_score)


# ---- Sums of events [4.5, 5] -----------------------------------------------------------------------------


def count_events(visits: pd.DataFrame, events: int) -> Floats:
    """Count and sum the tweets of each event [4.5, 5, 6]."""
    true, said = set_members(visits["types"]), set_members(visits["run_types"])
    high, event = visits["important"].to_numpy()[:, np.newaxis], visits["event"].to_numpy()
    one, worth, squared_error = np.ones(len(visits)), visits["worth"], visits["squared_error"]

    def total(which: Bools, values: npt.ArrayLike) -> Floats:
        # bincount adds in the order of the visits. So the sums do not depend on the order of rows.
        row, kind = np.nonzero(which)
        cell, cells = event[row] * which.shape[1] + kind, events * which.shape[1]
        sums: Floats = np.bincount(cell, np.asarray(values)[row], minlength=cells).astype(np.float64)
        return sums.reshape(events, -1)

    of_groups = [total(which, values) for which in (high, ~high) for values in (one, worth)]
    of_types = [total(which, one) for which in (true & said, said & ~true, true & ~said)]
    return np.concatenate([*of_groups, *of_types, total(true, squared_error)], axis=1)


def set_members(types: npt.ArrayLike) -> Bools:
    """Say which types are in each set."""
    of_bytes = np.asarray(types, dtype="<u4").view(np.uint8).reshape(-1, 4)
    return np.unpackbits(of_bytes, axis=1, count=len(INFORMATION_TYPES), bitorder="little").view(np.bool_)


# ---- Measures [4.5, 5, 6] --------------------------------------------------------------------------------


def accumulated_alert_worth(high_worth: Floats, low_worth: Floats) -> Floats:
    """Compute the accumulated alert worth, AAW (6)."""
    return (high_worth + low_worth) / 2


def f1_of_each(tp: Floats, fp: Floats, fn: Floats) -> Floats:
    """Compute the F1 of each type [5]."""
    return np.nan_to_num(_ratio(2 * tp, 2 * tp + fp + fn))


def accuracy_of_each(fp: Floats, fn: Floats, tweets: Floats) -> Floats:
    """Compute the accuracy of each type [5]."""
    return _ratio(tweets[..., np.newaxis] - fp - fn, tweets[..., np.newaxis])


def mse_of_each(squared_error: Floats, tp: Floats, fn: Floats) -> Floats:
    """Compute the mean squared error of the priority for each type [6]."""
    return _ratio(squared_error, tp + fn)


def all_measures(sums: Floats) -> dict[str, Floats]:
    """Compute all measures."""
    high_count, high_worths, low_count, low_worths = np.moveaxis(sums[..., :4], -1, 0)
    tp, fp, fn, squared_error = np.split(sums[..., 4:], 4, axis=-1)
    high, low = _ratio(high_worths, high_count), _ratio(low_worths, low_count)
    f1, mse = f1_of_each(tp, fp, fn), mse_of_each(squared_error, tp, fn)
    accuracy = accuracy_of_each(fp, fn, high_count + low_count)
    worths = [accumulated_alert_worth(high, low), high, low]
    feed = [f1[..., IS_ACTIONABLE].mean(axis=-1), f1.mean(axis=-1), accuracy.mean(axis=-1)]
    errors = [mean_of_defined(mse[..., IS_ACTIONABLE]), mean_of_defined(mse)]
    roots = [np.sqrt(np.maximum(error, 0.0)) for error in errors]  # rounding may leave less than 0
    return dict(zip(MEASURES, [*worths, *feed, *errors, *roots], strict=True))


def mean_of_defined(values: Floats) -> Floats:
    """Compute the mean over the last axis, without the values that are NaN.

    >>> mean_of_defined(np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, np.nan]])).tolist()
    [1.5, nan]
    """
    defined = ~np.isnan(values)
    return _ratio(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))


# ---- Input -----------------------------------------------------------------------------------------------


def read_tweet_ids(table: "_Table") -> tuple[Ints, list[str]]:
    """Read the ids of the tweets."""
    codes, texts = _texts(table, table.row_id)
    column = table.frame[table.row_id]
    if pd.api.types.infer_dtype(column) not in ("string", "integer"):
        rounded = [isinstance(cell, float) and abs(cell) >= FLOAT_DIGITS_END for cell in column.astype(object)]
        content = "a floating-point number, in which digits are lost"
        table.reject(table.row_id, np.array(rounded), lambda row: content, "ids as text or whole numbers")
    return codes, texts


def read_event_numbers(table: "_Table", events: list[str]) -> dict[str, str]:
    """Read the second names of the events."""
    if "event_number" not in table.frame:
        return {}
    table.check_columns("event_number")
    codes, numbers = _factorize(table.frame["event_number"])
    event_of_code = {code: event for code, event in zip(codes.tolist(), events) if code >= 0}
    differs = [code >= 0 and event_of_code[code] != event for code, event in zip(codes.tolist(), events)]
    content = _cell_of(table, "event_number")
    table.reject("event_number", differs, content, "each number for one event")
    return {numbers[code]: event for code, event in event_of_code.items()}


def read_priorities(table: "_Table") -> Floats:
    """Read the labels of the priority."""
    codes, texts = _texts(table, "priority")
    numbers = np.array([PRIORITIES.get(text, np.nan) for text in texts])[codes]
    expected = f"one of {', '.join(PRIORITIES)}"
    table.reject("priority", np.isnan(numbers), lambda row: _quoted(texts[codes[row]]), expected)
    return numbers


def read_categories(table: "_Table") -> Ints:
    """Read the information types."""
    codes, cells = _factorize(table.frame["categories"])
    types, unknown = parse_types(cells)
    wrong = np.array([*map(bool, unknown), False])[codes]
    expected = "names of information types, full or short, separated by spaces, such as 'Report-News Advice'"
    table.reject("categories", wrong, lambda row: f"{_quoted(unknown[codes[row]])} is unknown", expected)
    return np.append(types, 0)[codes]


def parse_types(cells: list[str]) -> tuple[Ints, list[str]]:
    """Parse cells that name information types.

    >>> types, unknown = parse_types(["Report-News News", "Advice Nonsense"])
    >>> [name for name, member in zip(INFORMATION_TYPES, set_members(types)[0]) if member], unknown
    (['Report-News'], ['', 'Nonsense'])
    """
    types, unknown = np.zeros(len(cells), dtype=np.int64), [""] * len(cells)
    for number, cell in enumerate(cells):
        for name in _WORD.finditer(cell):  # unlike split(), it needs no memory for a long cell
            if name.group() not in _BIT_OF_NAME:
                unknown[number] = name.group()
                break
            types[number] |= _BIT_OF_NAME[name.group()]
    return types, unknown


def read_ranks(table: "_Table") -> Floats:
    """Read the ranks."""
    rank = _numbers(table.frame["rank"])
    whole = (rank >= 0) & (rank == np.floor(rank)) & np.isfinite(rank)
    expected = "the position in the event's list, a whole number from 0"
    table.reject("rank", ~whole, _cell_of(table, "rank"), expected)
    return rank


def read_scores(table: "_Table", normalize: bool) -> Floats:
    """Read the priority scores."""
    scores = _numbers(table.frame["priority"])
    table.reject("priority", ~np.isfinite(scores), _cell_of(table, "priority"), "a finite number")
    if not normalize or not len(scores):
        return scores
    halves = scores / 2  # the difference of two halves cannot overflow
    lowest, span = halves.min(), np.ptp(halves)
    return (halves - lowest) / span if span > 0 else np.zeros(len(scores))


def _sorted(codes: Ints, texts: list[str]) -> tuple[Ints, list[str]]:
    """Sort the distinct texts and renumber their codes, (n,), to match; the code -1 stays."""
    ordered = sorted(texts)
    return np.append(_positions(texts, ordered), -1)[codes], ordered


# ---- Shared: tables and messages -------------------------------------------------------------------------
# Each hosted file is uploaded alone, so it repeats what several of them need. A section whose heading begins
# with “Shared” is the same in every hosted file that has it.

LONGEST_MESSAGE = 280  # characters; Kaggle cuts the rest
CHARACTERS_SHOWN = 40  # of a value that a message quotes


class _Table(NamedTuple):
    """A data frame, and how messages tell what is wrong with it."""

    frame: pd.DataFrame  # as the caller gave it; it is never changed
    name: str  # "the solution" or "the submission"
    row_id: str  # the column whose values name the rows
    error: type[Exception]  # what a fault raises

    def check_columns(self, *required: str) -> None:
        """Require that the row id and these columns exist, each once, and that every row has an id."""
        if not isinstance(self.frame, pd.DataFrame):
            raise HostVisibleError(f"{self.name}: expected a DataFrame, found {type(self.frame).__name__}")
        required = tuple(dict.fromkeys((self.row_id, *required)))
        names = list(self.frame.columns)
        lacking = [_short(name) for name in required if name not in names]
        if lacking:
            # Only quotation marks show a space around a name.
            present = [(_short if str(name) == str(name).strip() else _quoted)(name) for name in names]
            more = _counted(len(lacking), "more column")
            head = f"{self.name}: expected {more}: {_listed(lacking, len(lacking), 120)}. It has "
            raise self.error(head + (_listed(present, len(present), LONGEST_MESSAGE - len(head)) or "none"))
        for name in required:
            if names.count(name) > 1:
                raise self.error(f"{self.name}: expected one column {_short(name)}, found {names.count(name)}")
        ids = self.frame[self.row_id]
        try:
            missing = ids.isna()
        except ArithmeticError:  # of Decimal("sNaN")
            missing = ids.map(_is_missing)
        self.reject(self.row_id, missing, lambda row: "missing", "an id in every row")

    def reject(self, column: str, wrong: npt.ArrayLike, content: Callable[[int], str], expected: str) -> None:
        """Raise `error` if any row is wrong, and tell how many are and what the first one has."""
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        row = int(rows[0])
        row_id = self.frame[self.row_id].iloc[row]
        place = f"row number {row + 1}" if _is_missing(row_id) else f"{_short(self.row_id)} {_short(row_id)}"
        head = f"{_short(column)}: expected {expected}. Wrong in {_counted(len(rows), 'row')} of {self.name}: "
        raise self.error(head + _listed([f"{place} ({content(row)})"], len(rows), LONGEST_MESSAGE - len(head)))


def _is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, NA, NaT or Decimal("sNaN"), which cannot even be compared."""
    try:
        return pd.api.types.is_scalar(value) and bool(pd.isna(value))
    except ArithmeticError:
        return True


def _as_text(value: object) -> str:
    """A cell as text, which is the same whether a CSV reader took it for text, an integer or a float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _short(value: object) -> str:
    """The first `CHARACTERS_SHOWN` characters of a value's text; what cannot be printed is escaped."""
    text = repr(_as_text(value)[: CHARACTERS_SHOWN + 1])[1:-1]
    return text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"


def _quoted(value: object) -> str:
    """The beginning of a value's text, in quotation marks."""
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    """A number with its noun, such as "1 row" or "2,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(texts: Sequence[str], total: int, room: int) -> str:
    """As many texts as fit into `room` characters, and how many of the `total` are left out."""
    for number in range(len(texts), 0, -1):
        more = f" and {total - number:,} more" if total > number else ""
        text = ", ".join(texts[:number])
        if len(text) + len(more) <= room:
            return text + more
    return f"{text[: room - len(more) - 1]}…{more}" if texts else ""


# ---- Shared: columns of texts and numbers ----------------------------------------------------------------


def _texts(table: _Table, column: str) -> tuple[Ints, list[str]]:
    """A code for the text of each row and the distinct texts. No cell may be missing or blank."""
    codes, texts = _factorize(table.frame[column])
    table.reject(column, codes < 0, lambda row: "missing", "a value in every row")
    return codes, texts


def _cell_of(table: _Table, column: str) -> Callable[[int], str]:
    """A function that says, for a message, what the row at a position has in a column."""
    cells = table.frame[column]
    return lambda row: "missing" if _is_missing(cells.iloc[row]) else _quoted(cells.iloc[row])


def _factorize(column: pd.Series) -> tuple[Ints, list[str]]:
    """The index of each text among the distinct ones (-1 if missing or blank), and the distinct ones."""
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
        # Cells become text before they are compared, because pandas takes False for 0 and cannot compare lists.
        column = pd.Series([None if _is_missing(value) else _as_text(value) for value in column], dtype=object)
    try:
        codes, distinct = pd.factorize(column)
    except NotImplementedError:  # pandas cannot compare lists of Arrow's own type either
        return _factorize(column.astype(object))
    texts = distinct.tolist()
    if {*map(type, texts)} <= {str} and all(map(str.strip, texts)):  # nothing blank, nothing to convert
        return codes, texts
    # Numbers such as 1 and 1.0 are the same text, and a blank text counts as missing.
    number: dict[str, int] = {}
    code_of_value = [
        number.setdefault(text, len(number)) if text.strip() else -1 for text in map(_as_text, texts)
    ]
    return np.array([*code_of_value, -1], dtype=np.int64)[codes], list(number)


def _positions(texts: list[str], among: Sequence[str]) -> Ints:
    """The position of each text in `among`, or -1 if it is not there."""
    position = {text: number for number, text in enumerate(among)}
    return np.array([position.get(text, -1) for text in texts], dtype=np.int64)


def _numbers(column: pd.Series) -> Floats:
    """The cells of a column as floats; NaN where one is not a real number."""
    if pd.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind != "c":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.array([_number(value) for value in column.astype(object)], dtype=np.float64)


# ---- Shared: numbers -------------------------------------------------------------------------------------


def _number(value: object) -> float:
    """A cell as a float; NaN if it is not a real number."""
    if not isinstance(value, str | int | float | np.bool_ | np.integer | np.floating | Decimal):
        return np.nan
    # Python would also read digits of other scripts, and 1_000.
    if isinstance(value, str) and (not value.isascii() or "_" in value):
        return np.nan
    try:
        return float(value)
    except (OverflowError, ValueError):
        return np.nan


# ---- Shared: quotients -----------------------------------------------------------------------------------


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """The quotients of two arrays, NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient


# ---- Shared: parameters ----------------------------------------------------------------------------------


def _check_parameter(
    name: str,
    value: object,
    kind: type[str | float],
    fits: Callable[[Any], bool] = lambda value: True,
    wanted: str = "",
) -> None:
    """Check a parameter of `score`."""
    kinds = {float: (int, float, np.integer, np.floating), bool: (bool, np.bool_), str: (str,)}[kind]
    if not isinstance(value, kinds) or (kind is float and isinstance(value, bool)) or not fits(value):
        expected = {str: "text", bool: "True or False", float: f"a number {wanted}"}[kind]
        raise HostVisibleError(f"{name}: expected {expected}, found {type(value).__name__} {_quoted(value)}")
