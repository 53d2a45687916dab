"""The TREC Incident Streams V2 metrics, as one file to upload to Kaggle.

A run says of each tweet about a crisis which kinds of information it holds and how important it is.  ``score``
turns a run into one measure.  Numbers in brackets are equations and sections of the memo that ``score`` names.
After the public functions come the stages, in the order in which the data passes through them, and after these
the input:

    visits           [4.1]       rows_that_count, Prepared.visit, false_alerts_before (δ)
    alerting         (1) … (5)   high_priority_worth, act_c_score, n_act_c_score, gamma, low_priority_worth
    sums of events   [4.5, 5]    count_events
    measures         (6) [5, 6]  accumulated_alert_worth, f1_of_each, accuracy_of_each, mse_of_each
    input                        read_tweet_ids, read_priorities, read_categories, read_ranks, read_scores

The measures:

    high_priority_worth, low_…   mean worth (1), (5) of the tweets labeled High or Critical, Low or Medium
    accumulated_alert_worth      the mean of these two (6)
    info_type_…                  F1 or accuracy of a type over all tweets, averaged over all 25 types or the 6
                                 actionable ones
    priority_mse_…, …_rmse_…     mean square of label - score over a type's tweets, averaged over the types that
                                 occur (what Table 1 heads "RMSE"), and its root

Where the memo is silent or contradicts itself, this file decides:

* Low and Medium tweets without an alert are worth what their types are (5), although 4.2 says otherwise.  A
  perfect run can miss 1, since a tweet of actionable types alone is worth 0.3 + 0.7·0.75.
* F1 is 2TP / (2TP + FP + FN), although section 5 says otherwise.  It is 0 for a type that is neither labeled
  nor predicted.
* The logarithm of (5) has base 10, and its argmax is a max.  δ counts the false alerts before the tweet.
* Tweets are visited event by event, by rank, and ties by tweet id as text.  The measures do not depend on the
  order of rows.
* A tweet's event is the solution's.  Where a tweet is in several lists, the row counts whose list has the name
  of this event, else the row whose list shares most tweets with it, else the one of the best rank.
* The track gives each event two names.  The solution may have the second one in a column ``event_number``.
* Tweets without a label are ignored.  One that the run lacks has no types, the priority 0.25 and the worth 0.
* A type that no assessor used has no priority error.
* `normalize_priority` looks at all rows of the run.
* Repeated types count once.  Short names ("SearchAndRescue") and those of 2018 ("PastNews") are known.
* A tweet that is twice in the solution counts once, in the first of its events as text.  Its labels must not
  differ.
* Only the measure that is asked for must be defined by the solution.
* Public and Private are sets of whole events, each scored with the whole run.
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
    "COMPLETE_SUBMISSION", "MEASURE_PARAMETERS", "NAME", "HostVisibleError", "ParticipantVisibleError",
    "Prepared", "__version__", "higher_is_better", "prepare", "score",
]  # fmt: skip

__version__ = "3.0.0"

NAME = "trec_is"
COMPLETE_SUBMISSION = True  # switch on Kaggle's “Pass complete submission”
MEASURE_PARAMETERS = ("measure",)

MEASURES = (
    *("accumulated_alert_worth", "high_priority_worth", "low_priority_worth"),
    *("info_type_f1_actionable", "info_type_f1_all", "info_type_accuracy_all"),
    *("priority_mse_actionable", "priority_mse_all", "priority_rmse_actionable", "priority_rmse_all"),
)

PRIORITIES = {"Low": 0.25, "Medium": 0.5, "High": 0.75, "Critical": 1.0}

# The ontology; a star marks the actionable types [5].
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

LONGEST_MESSAGE = 280  # characters; Kaggle cuts the rest
ROWS_SHOWN = 3
CHARACTERS_SHOWN = 40

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong.  Kaggle knows this exception by its name and shows its text to participants."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong.  Kaggle shows this to the host only."""


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
) -> float:
    """TREC Incident Streams V2: the worth of alerts to tweets, or another measure of the track.

    A tweet is an alert if its priority score is at least `alert_threshold`.  Labeled High or Critical, it is
    worth α + (1 - α)·C if it is an alert, else -1.  Labeled Low or Medium, it is worth C if it is no alert,
    else max(-log10(δ/2 + 1), -1) with δ false alerts since the last true one in its event.  C is γ times the
    Jaccard index of the actionable types plus 1 - γ times that of the others, where 0/0 is 0.  γ is λ if the
    assessor chose an actionable type, else 0.  The score is the mean of the two groups' means.

    Parameters
    ----------
    solution : DataFrame, one row per labeled tweet
        `row_id_column_name`; ``event_id``; ``priority``: Low, Medium, High or Critical; ``categories``: the
        information types separated by spaces, maybe none; maybe ``event_number``, another name of the event.
    submission : DataFrame, one row per tweet
        `row_id_column_name`; ``rank`` in the event's list, a whole number from 0; ``priority``, a score;
        ``categories`` (for none a space, as Kaggle rejects empty cells); maybe ``event_id``.
    row_id_column_name : str
        The tweets' ids, compared as text.
    measure : str
        One of `MEASURES`.  Of the errors of the priority, less is better.
    actionable_weight : float in [0, 1]
        λ, the weight of actionable types.
    alert_gain : float in [0, 1]
        α, what a true alert is worth without any right type.
    alert_threshold : float
        The least priority score of an alert.
    normalize_priority : bool
        Scale the scores of the run to 0 … 1 first; equal ones become 0.

    Returns
    -------
    float
        Worths from -1 to 1, all other measures from 0 to 1.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed, or none of its tweets is in the solution.  The text tells nothing else of
        the solution.
    HostVisibleError
        The solution is malformed, a parameter is out of range, or the solution leaves the measure undefined.

    References
    ----------
    R. McCreadie, "TREC-IS V2 Metrics", 2019, sections 4 to 6.

    Examples
    --------
    Of two important tweets one is missed:

    >>> solution = pd.DataFrame({"tweet_id": [11, 12, 13], "event_id": "flood"})
    >>> solution["priority"] = ["High", "Low", "High"]
    >>> solution["categories"] = ["SearchAndRescue", "Sentiment", "EmergingThreats"]
    >>> submission = solution.assign(rank=[1, 2, 3], priority=[0.9, 0.8, 0.6])
    >>> round(score(solution, submission, "tweet_id", measure="high_priority_worth"), 6)  # (0.825 - 1) / 2
    -0.0875
    """
    parameters = (measure, actionable_weight, alert_gain, alert_threshold, normalize_priority)
    prepared = prepare(solution, row_id_column_name, *parameters)
    sums = prepared.statistics(submission).sum(axis=0)[np.newaxis]
    return float(prepared.measures(sums)[0])


def higher_is_better(measure: str = "accumulated_alert_worth") -> bool:
    """Whether a higher score is better: not of the errors of the priority.

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
) -> "Prepared":
    """Check and digest a solution once, to score many submissions.

    The parameters, and the `HostVisibleError`, are those of `score`.

    Returns
    -------
    Prepared
    """
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
    table.reject(row_id_column_name, differs, lambda row: "labelled otherwise in an earlier row", expected)
    truths = rows.groupby(tweet).min()  # its rows differ by event at most
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
    )
    fn, high = set_members(truths["types"]).sum(axis=0), truths["important"].sum()
    of_an_empty_run = [high, 0, len(tweet_ids) - high, 0, *0 * fn, *0 * fn, *fn, *0 * fn]
    if np.isnan(prepared.measures([of_an_empty_run])[0]):
        expected = "tweets labelled High or Critical, Low or Medium, with (actionable) types, as it needs them"
        raise HostVisibleError(f"{measure}: expected {expected}. The solution leaves it undefined")
    return prepared


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A solution, checked and digested by `prepare`, with the parameters to score against it.

    Attributes
    ----------
    items : list of str
        Ids of the n events that count, sorted.
    item_of_row : (rows,) int
        The event of each row of the solution, which counts for its tweet.
    labels : list of (attribute, value)
        One, that of all events.
    groups : (1, n) int
        Zeros, which are indices into `labels`.
    event_of_number : dict of str to str
        The event of each ``event_number``; empty where the solution has no such column.
    tweet_ids : list of str
        Ids of the t tweets, sorted.
    truths : DataFrame, one row per id in `tweet_ids`
        ``event`` (index into `items`), ``priority`` (a number of `PRIORITIES`), ``types`` (a set, as an integer
        whose bits stand for `INFORMATION_TYPES`) and ``important`` (labeled High or Critical).
    """

    items: list[str]
    item_of_row: Ints
    labels: list[tuple[str, str]]
    groups: Ints
    event_of_number: dict[str, str]
    tweet_ids: list[str]
    truths: pd.DataFrame
    row_id_column_name: str
    measure: str
    actionable_weight: float
    alert_gain: float
    alert_threshold: float
    normalize_priority: bool

    @property
    def measure_names(self) -> list[str]:
        """Names of the 11 measures: the score, then `MEASURES`."""
        return ["score", *MEASURES]

    def read(self, submission: pd.DataFrame) -> pd.DataFrame:
        """The run's rows, checked.

        Returns
        -------
        DataFrame, one row per row of the submission
            ``rank``, ``score`` (the priority), ``types`` (a set, as an integer), ``tweet`` (index into
            `tweet_ids`, -1 if not among them), ``event`` (a code for the list in which the row is, -1 if it
            does not say) and ``named`` (index of the event of that name or number in `items`, -1 if not among
            them).

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed, or has no tweet of the solution.
        """
        table = _Table(submission, "the submission", self.row_id_column_name, ParticipantVisibleError)
        table.check_columns("rank", "priority", "categories")
        codes, tweet_ids = read_tweet_ids(table)
        event, event_ids = np.full(len(codes), -1), list[str]()
        if "event_id" in submission:
            table.check_columns("event_id")
            event, event_ids = _sorted(*_factorize(submission["event_id"]))
        again = pd.Series(codes * (len(event_ids) + 1) + event).duplicated().to_numpy()
        expected = f"each tweet once{' in the list of an event' if event_ids else ''}"
        table.reject(self.row_id_column_name, again, lambda row: "already there", expected)
        run = pd.DataFrame({"rank": read_ranks(table), "score": read_scores(table, self.normalize_priority)})
        run["types"] = read_categories(table)
        tweet = _positions(tweet_ids, self.tweet_ids)[codes]
        nowhere, expected = np.full(len(tweet), (tweet < 0).all()), "at least one tweet of the test set"
        table.reject(self.row_id_column_name, nowhere, lambda row: "not in the test set", expected)
        known = {**self.event_of_number, **dict(zip(self.items, self.items))}
        named = _positions([known.get(name, name) for name in event_ids], self.items)
        return run.assign(tweet=tweet, event=event, named=np.append(named, -1)[event])

    def visit(self, run: pd.DataFrame) -> pd.DataFrame:
        """The tweets of the solution as the alerting user visits them [4.1].

        Parameters
        ----------
        run : DataFrame, as `read` returns it

        Returns
        -------
        DataFrame, one row per tweet
            `truths` by event and rank, in each event last what the run lacks, and further ``row`` (of the run,
            -1 for none), ``score``, ``run_types``, ``alert``, ``delta`` (δ), ``act_c_score`` (2),
            ``n_act_c_score`` (3), ``worth`` (1), (5), and ``squared_error`` of the priority [6].
        """
        row = rows_that_count(run, self.truths)
        # The truths are in the order of the ids, so these break ties.
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
        error = label - score.clip(PRIORITIES["Low"], PRIORITIES["Critical"])
        visits = visits.assign(row=row, score=score, run_types=said, alert=alert, delta=delta)
        visits = visits.assign(act_c_score=act, n_act_c_score=n_act, worth=np.where(row >= 0, worth, 0.0))
        return visits.assign(squared_error=np.square(error))

    def statistics(self, submission: pd.DataFrame) -> Floats:
        """The counts of each event, (n, 104), as `count_events` has them, whose sums decide every measure."""
        return count_events(self.visit(self.read(submission)), len(self.items))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """The measures, (..., 11), of sums of statistics, (..., 1, 104); NaN where they are not defined."""
        values = all_measures(np.asarray(sums, dtype=np.float64)[..., 0, :])
        return np.stack([values[self.measure], *values.values()], axis=-1)


# ---- Visits [4.1] ----------------------------------------------------------------------------------------


def rows_that_count(run: pd.DataFrame, truths: pd.DataFrame) -> Ints:
    """Which row of the run counts for each of the solution's tweets.

    Parameters
    ----------
    run : DataFrame, as `Prepared.read` returns it
    truths : DataFrame, as in `Prepared`

    Returns
    -------
    (tweets,) int
        Index of the row, -1 for none.
    """
    rows = run[run["tweet"] >= 0]
    if rows["tweet"].duplicated().any():  # a tweet in the lists of several events
        of_tweet = truths["event"].to_numpy()[rows["tweet"]]
        shared = rows.groupby(["event", of_tweet])["tweet"].transform("size").where(rows["event"] >= 0, 0)
        shared[rows["named"] == of_tweet] = len(rows) + 1  # more than any list can share
        # The best row comes last, for of what is assigned twice below the last stays.
        rows = rows.iloc[np.lexsort((-rows["event"], -rows["rank"], shared))]
    row = np.full(len(truths), -1)
    row[rows["tweet"]] = rows.index
    return row


def false_alerts_before(event: Ints, important: Bools, alert: Bools) -> Ints:
    """δ: the false alerts in the same event since its last true alert, before each tweet that is visited [4.1].

    Parameters
    ----------
    event : (n,) int, ascending
    important, alert : (n,) bool
        Of the tweets in the order of the visit.

    Returns
    -------
    (n,) int

    Examples
    --------
    False, false, true, false, true; then another event:

    >>> event, important = np.array([0, 0, 0, 0, 0, 1]), np.array([0, 0, 1, 0, 1, 0], dtype=bool)
    >>> false_alerts_before(event, important, np.ones(6, dtype=bool)).tolist()
    [0, 1, 2, 0, 1, 0]
    """
    # The false alerts so far never grow fewer.  So their number at the last reset is the running maximum of the
    # numbers at resets, and δ is what has been added since.
    false_alert = alert & ~important
    so_far: Ints = np.cumsum(false_alert) - false_alert
    reset = np.diff(event, prepend=-1) != 0
    reset[1:] |= (alert & important)[:-1]
    at_reset = np.maximum.accumulate(np.where(reset, so_far, 0))
    delta: Ints = so_far - at_reset
    return delta


# ---- Alerting [4.3, 4.4] ---------------------------------------------------------------------------------


def high_priority_worth(alert: Bools, category_score: Floats, alert_gain: float = 0.3) -> Floats:
    """highPriorityWorth of important tweets, (n,), where `category_score` is C, (n,) from 0 to 1 (1).

    >>> high_priority_worth(np.array([True, False]), np.array([0.5, 0.5])).round(3).tolist()
    [0.65, -1.0]
    """
    return np.where(alert, alert_gain + (1 - alert_gain) * category_score, -1.0)


def act_c_score(run_types: Ints, true_types: Ints, weight: Floats) -> Floats:
    """ActCScore, (n,): γ, `weight`, times the Jaccard index of the actionable types in sets, (n,) int (2)."""
    return weight * jaccard(run_types & _ACTIONABLE, true_types & _ACTIONABLE)


def n_act_c_score(run_types: Ints, true_types: Ints, weight: Floats) -> Floats:
    """NActCScore, (n,): 1 - γ times the Jaccard index of the other types in sets, (n,) int (3)."""
    return (1 - weight) * jaccard(run_types & ~_ACTIONABLE, true_types & ~_ACTIONABLE)


def gamma(true_types: Ints, actionable_weight: float = 0.75) -> Floats:
    """γ, (n,): λ, `actionable_weight`, where the assessor chose an actionable type, else 0 (4)."""
    return np.where(true_types & _ACTIONABLE, actionable_weight, 0.0)


def jaccard(a: Ints, b: Ints) -> Floats:
    """Jaccard index of sets, (n,) int each, whose bits are their members; 0 if both are empty."""
    return np.nan_to_num(_ratio(np.bitwise_count(a & b), np.bitwise_count(a | b)))


def low_priority_worth(alert: Bools, category_score: Floats, delta: Ints) -> Floats:
    """lowPriorityWorth of other tweets, (n,), where `category_score` is C and `delta` δ, (n,) each (5).

    >>> low_priority_worth(np.array([False, True, True]), np.full(3, 0.5), np.array([9, 0, 18])).tolist()
    [0.5, 0.0, -1.0]
    """
    return np.where(alert, np.maximum(0.0 - np.log10(delta / 2 + 1), -1.0), category_score)


# ---- Sums of events [4.5, 5] -----------------------------------------------------------------------------


def count_events(visits: pd.DataFrame, events: int) -> Floats:
    """What is summed of each event [4.5, 5, 6].

    Parameters
    ----------
    visits : DataFrame, as `Prepared.visit` returns it
    events : int

    Returns
    -------
    (events, 104) float
        Number and summed worth of important tweets, then of the others; then TP of the 25 types, FP, FN, and
        the squared error of the priority of the type's tweets.
    """
    true, said = set_members(visits["types"]), set_members(visits["run_types"])
    high, event = visits["important"].to_numpy()[:, np.newaxis], visits["event"].to_numpy()
    one, worth, squared_error = np.ones(len(visits)), visits["worth"], visits["squared_error"]

    def total(which: Bools, values: npt.ArrayLike) -> Floats:
        # bincount adds one after the other, in the order of the visit: no sum depends on the order of rows.
        row, kind = np.nonzero(which)
        cell, cells = event[row] * which.shape[1] + kind, events * which.shape[1]
        sums: Floats = np.bincount(cell, np.asarray(values)[row], minlength=cells).astype(np.float64)
        return sums.reshape(events, -1)

    of_groups = [total(which, values) for which in (high, ~high) for values in (one, worth)]
    of_types = [total(which, one) for which in (true & said, said & ~true, true & ~said)]
    return np.concatenate([*of_groups, *of_types, total(true, squared_error)], axis=1)


def set_members(types: npt.ArrayLike) -> Bools:
    """Which types are in each set, (n, 25), of sets as integers, (n,)."""
    of_bytes = np.asarray(types, dtype="<u4").view(np.uint8).reshape(-1, 4)
    return np.unpackbits(of_bytes, axis=1, count=len(INFORMATION_TYPES), bitorder="little").view(np.bool_)


# ---- Measures [4.5, 5, 6] --------------------------------------------------------------------------------


def accumulated_alert_worth(high_worth: Floats, low_worth: Floats) -> Floats:
    """AAW, (...): the mean of the mean worths of important and of other tweets, (...) each (6)."""
    return (high_worth + low_worth) / 2


def f1_of_each(tp: Floats, fp: Floats, fn: Floats) -> Floats:
    """F1 = 2TP / (2TP + FP + FN) of each type, of counts of one shape; 0 where it is not defined [5]."""
    return np.nan_to_num(_ratio(2 * tp, 2 * tp + fp + fn))


def accuracy_of_each(fp: Floats, fn: Floats, tweets: Floats) -> Floats:
    """Accuracy of each type, (..., 25): the share of the `tweets`, (...), that are no FP or FN of it [5]."""
    return _ratio(tweets[..., np.newaxis] - fp - fn, tweets[..., np.newaxis])


def mse_of_each(squared_error: Floats, tp: Floats, fn: Floats) -> Floats:
    """Mean squared error of the priority over each type's tweets, TP + FN; NaN where there are none [6]."""
    return _ratio(squared_error, tp + fn)


def all_measures(sums: Floats) -> dict[str, Floats]:
    """All `MEASURES`, (...) each, of sums of what `count_events` returns, (..., 104); NaN where not defined."""
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
    """Mean over the last axis of what is not NaN; NaN where all is.

    >>> mean_of_defined(np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, np.nan]])).tolist()
    [1.5, nan]
    """
    defined = ~np.isnan(values)
    return _ratio(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))


# ---- Input -----------------------------------------------------------------------------------------------


def read_tweet_ids(table: "_Table") -> tuple[Ints, list[str]]:
    """Codes of the tweets' ids, (rows,), and the distinct ids; none is blank, or rounded as a float."""
    codes, texts = _texts(table, table.row_id)
    column = table.frame[table.row_id]
    if pd.api.types.infer_dtype(column) not in ("string", "integer"):
        rounded = [isinstance(cell, float) and abs(cell) >= FLOAT_DIGITS_END for cell in column.astype(object)]
        content = "a floating-point number, which rounds it"
        table.reject(table.row_id, np.array(rounded), lambda row: content, "ids as text or whole numbers")
    return codes, texts


def read_event_numbers(table: "_Table", events: list[str]) -> dict[str, str]:
    """The event of each number in the column ``event_number``; cells may be missing, and so may the column."""
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
    """The label of each row as a number of `PRIORITIES`, (rows,)."""
    codes, texts = _texts(table, "priority")
    numbers = np.array([PRIORITIES.get(text, np.nan) for text in texts])[codes]
    expected = f"one of {', '.join(PRIORITIES)}"
    table.reject("priority", np.isnan(numbers), lambda row: _quoted(texts[codes[row]]), expected)
    return numbers


def read_categories(table: "_Table") -> Ints:
    """The set of types of each row, as an integer, (rows,)."""
    codes, cells = _factorize(table.frame["categories"])
    types, unknown = parse_types(cells)
    wrong = np.array([*map(bool, unknown), False])[codes]
    expected = "names of information types, full or short, separated by spaces, such as 'Report-News Advice'"
    table.reject("categories", wrong, lambda row: f"{_quoted(unknown[codes[row]])} is none", expected)
    return np.append(types, 0)[codes]


def parse_types(cells: list[str]) -> tuple[Ints, list[str]]:
    """The set of types that each cell names, and the first name in it that is none.

    Parameters
    ----------
    cells : list of str, (n,)
        Names, full or short, separated by spaces of any kind.

    Returns
    -------
    types : (n,) int
        Bit t is set if INFORMATION_TYPES[t] is named.
    unknown : list of str, (n,)
        "" where every name is known.

    Examples
    --------
    >>> types, unknown = parse_types(["Report-News News", "Advice Nonsense"])
    >>> [name for name, member in zip(INFORMATION_TYPES, set_members(types)[0]) if member], unknown
    (['Report-News'], ['', 'Nonsense'])
    """
    types, unknown = np.zeros(len(cells), dtype=np.int64), [""] * len(cells)
    for number, cell in enumerate(cells):
        for name in _WORD.finditer(cell):  # unlike split(), needs no memory for a long cell
            if name.group() not in _BIT_OF_NAME:
                unknown[number] = name.group()
                break
            types[number] |= _BIT_OF_NAME[name.group()]
    return types, unknown


def read_ranks(table: "_Table") -> Floats:
    """The rank of each row in its list, (rows,)."""
    rank = _numbers(table.frame["rank"])
    whole = (rank >= 0) & (rank == np.floor(rank)) & np.isfinite(rank)
    expected = "the position in the event's list, a whole number from 0"
    table.reject("rank", ~whole, _cell_of(table, "rank"), expected)
    return rank


def read_scores(table: "_Table", normalize: bool) -> Floats:
    """The priority score of each row, (rows,), scaled to 0 … 1 if asked for."""
    scores = _numbers(table.frame["priority"])
    table.reject("priority", ~np.isfinite(scores), _cell_of(table, "priority"), "a finite number")
    if not normalize or not len(scores):
        return scores
    halves = scores / 2  # whose differences do not overflow
    lowest, span = halves.min(), np.ptp(halves)
    return (halves - lowest) / span if span > 0 else np.zeros(len(scores))


def _sorted(codes: Ints, texts: list[str]) -> tuple[Ints, list[str]]:
    """Codes of texts, (n,), and the texts, both so that the texts are sorted; code -1 stays."""
    ordered = sorted(texts)
    return np.append(_positions(texts, ordered), -1)[codes], ordered


def _positions(texts: list[str], among: list[str]) -> Ints:
    """The position of each text `among` others, (n,), or -1."""
    position = {text: number for number, text in enumerate(among)}
    return np.array([position.get(text, -1) for text in texts], dtype=np.int64)


# ---- Shared: tables and messages -------------------------------------------------------------------------
# Each hosted file is uploaded alone, so it repeats what several of them need.  A section whose heading begins
# with “Shared” is the same in every hosted file that has it.


class _Table(NamedTuple):
    """A data frame, and how messages tell what is wrong with it.

    Attributes
    ----------
    frame : DataFrame
        The data frame as the caller gave it.  It is never changed.
    name : str
        What messages call it: "the solution" or "the submission".
    row_id : str
        The column whose values name the rows in messages.
    error : type of Exception
        The exception that a fault raises: `HostVisibleError` for the solution, `ParticipantVisibleError` for
        the submission.
    """

    frame: pd.DataFrame
    name: str
    row_id: str
    error: type[Exception]

    def check_columns(self, *required: str) -> None:
        """Require that the row id and these columns exist, each once, and that every row has an id.

        Parameters
        ----------
        *required : str
            Names of the columns that are needed besides the row id.

        Raises
        ------
        HostVisibleError
            `frame` is not a DataFrame.
        ParticipantVisibleError or HostVisibleError
            A column is missing or there twice, or a row has no id.  `error` says which of the two exceptions
            it is.
        """
        if not isinstance(self.frame, pd.DataFrame):
            raise HostVisibleError(f"{self.name}: expected a DataFrame, found {type(self.frame).__name__}")
        required = tuple(dict.fromkeys((self.row_id, *required)))
        names = list(self.frame.columns)
        lacking = [_short(name) for name in required if name not in names]
        if lacking:
            more, present = _counted(len(lacking), "more column"), [_short(name) for name in names]
            head = f"{self.name}: expected {more}: {_listed(lacking, len(lacking), 120)}. It has "
            raise self.error(head + (_listed(present, len(present), LONGEST_MESSAGE - len(head)) or "none"))
        for name in required:
            if names.count(name) > 1:
                raise self.error(f"{self.name}: expected one column {_short(name)}, found {names.count(name)}")
        ids = self.frame[self.row_id]
        # pandas' isna() fails for Decimal("sNaN"), which only a column of objects can hold.
        missing = ids.map(_is_missing) if ids.dtype == object else ids.isna()
        self.reject(self.row_id, missing.to_numpy(dtype=bool), lambda row: "missing", "an id in every row")

    def reject(self, column: str, wrong: npt.ArrayLike, content: Callable[[int], str], expected: str) -> None:
        """Raise `error` if any row is wrong, and name the first ones.

        Parameters
        ----------
        column : str
            The column with the fault.
        wrong : (rows,) bool
            Whether each row is wrong.
        content : function of int
            Says what a row has in that column.  Its argument is the row's position, from 0.
        expected : str
            What every row should have there.

        Raises
        ------
        ParticipantVisibleError or HostVisibleError
            A row is wrong.  `error` says which of the two exceptions it is.
        """
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        ids = self.frame[self.row_id]
        examples = []
        for row in rows[:ROWS_SHOWN].tolist():
            row_id = ids.iloc[row]
            is_named = not _is_missing(row_id)
            name = f"{_short(self.row_id)} {_short(row_id)}" if is_named else f"row number {row + 1}"
            examples.append(f"{name} ({content(row)})")
        head = f"{_short(column)}: expected {expected}. Wrong in {_counted(len(rows), 'row')} of {self.name}: "
        raise self.error(head + _listed(examples, len(rows), LONGEST_MESSAGE - len(head)))


def _is_missing(value: object) -> bool:
    """Whether a cell is None, NaN, NA or NaT.  Unlike pandas' own isna(), it knows Decimal("sNaN"), too."""
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or value is pd.NA or value is pd.NaT


def _as_text(value: object) -> str:
    """A cell as text, which is the same whether a CSV reader took it for text, an integer or a float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    # Python refuses to write an integer of more than 4,300 decimal digits.
    return f"{value:x}" if isinstance(value, int) and value.bit_length() > 14_000 else str(value)


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
    """A code for the text of each row, (rows,), and the distinct texts.  No cell may be missing or blank."""
    codes, texts = _factorize(table.frame[column])
    table.reject(column, codes < 0, lambda row: "missing", "a value in every row")
    return codes, texts


def _cell_of(table: _Table, column: str) -> Callable[[int], str]:
    """A function that says, for a message, what a row has in a column; its argument is the row's position."""
    cells = table.frame[column]
    return lambda row: "missing" if _is_missing(cells.iloc[row]) else _quoted(cells.iloc[row])


def _factorize(column: pd.Series) -> tuple[Ints, list[str]]:
    """A code for the text of each row, (rows,), and the distinct texts.

    The code is an index into the distinct texts.  It is -1 where the cell is missing or blank.
    """
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
        # Cells become text before they are compared, because pandas takes False for 0 and cannot compare lists.
        column = pd.Series([None if _is_missing(value) else _as_text(value) for value in column], dtype=object)
    codes, distinct = pd.factorize(column)
    texts = distinct.tolist()
    if {*map(type, texts)} <= {str} and all(map(str.strip, texts)):  # nothing blank, nothing to convert
        return codes, texts
    # Numbers such as 1 and 1.0 are the same text, and a blank text counts as missing.
    number: dict[str, int] = {}
    code_of_value = [
        number.setdefault(text, len(number)) if text.strip() else -1 for text in map(_as_text, texts)
    ]
    return np.array([*code_of_value, -1], dtype=np.int64)[codes], list(number)


def _numbers(column: pd.Series) -> Floats:
    """The cells of a column as floats, (rows,).  A cell that is not a real number becomes NaN."""
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
    """The quotients of two arrays whose shapes broadcast; NaN where the denominator is 0."""
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
    """Check a parameter of `score`.

    Parameters
    ----------
    name : str
        The parameter's name.
    value : object
        What the host gave.
    kind : type
        ``str``, ``float`` (which allows whole numbers, too) or ``bool``.
    fits : function of the value
        Whether a value of that kind is allowed.
    wanted : str
        Which numbers are allowed, for the message: "from 0 to 1".

    Raises
    ------
    HostVisibleError
        The value is of another kind or does not fit.
    """
    kinds = {float: (int, float, np.integer, np.floating), bool: (bool, np.bool_), str: (str,)}[kind]
    if not isinstance(value, kinds) or (kind is float and isinstance(value, bool)) or not fits(value):
        expected = {str: "text", bool: "True or False", float: f"a number {wanted}"}[kind]
        raise HostVisibleError(f"{name}: expected {expected}, found {type(value).__name__} {_quoted(value)}")
