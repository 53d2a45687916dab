"""The TREC Incident Streams V2 metrics, as one file to upload to Kaggle.

A system reads the tweets of an emergency, gives each a priority score and the information types it finds in
it, and ranks them.  A response officer is alerted to every tweet whose score is at least 0.7.  This file
measures how much these alerts are worth and how good types and priorities are.  It follows R. McCreadie's memo
"TREC-IS V2 Metrics" (May 2019), whose equations and sections are given in brackets, and reads in the order in
which data passes through it:

    input              parse_types
    alerting           false_alerts_before  δ  [4.1]
                       category_scores      ActCScore, NActCScore  (2) (3) (4)
                       tweet_worth          highPriorityWorth, lowPriorityWorth  (1) (5)
    information feed, prioritisation        sums per event and type  [5, 6]
    measures           the columns of Table 1, from these sums  (6)

``score`` gives one measure, ``evaluate`` all of them with everything behind them, and ``prepare`` digests a
solution once for many submissions:

    prepare(solution, "tweet_id").evaluate(submission).score == score(solution, submission, "tweet_id")

``read_solution`` and ``read_submission`` read the track's own label and run files.

    high_priority_worth             mean worth (1) of the tweets labelled High or Critical
    low_priority_worth              mean worth (5) of the tweets labelled Low or Medium
    accumulated_alert_worth         the mean of these two (6), from -1 to 1
    info_type_f1_actionable, _all   F1 of a type over all tweets, averaged over the 6 actionable or all 25 types
    info_type_accuracy_all          accuracy of a type over all tweets, averaged over the 25 types
    priority_mse_actionable, _all   mean square of label - score over the tweets that the assessors gave a
                                    type, averaged over the types that occur: what Table 1 heads "RMSE"
    priority_rmse_actionable, _all  the root of that

Of the priority errors less is better, of the rest more.  A perfect run can miss the alert worth 1: a tweet to
which the assessor gave only actionable types is worth at most 0.3 + 0.7·0.75 = 0.825, because nothing can be
common to two empty sets of other types.

Where the memo is silent or contradicts itself, this file decides (each decision has a test):

* Section 4.2 says that only High and Critical tweets can add to the worth; but by (5) a Low or Medium tweet
  rightly left alone is worth what its types are, and equations decide.
* Section 5 says that F1 ignores false negatives, but then it would be precision: F1 is 2TP / (2TP + FP + FN).
* The logarithm of (5) has base 10, as in the published scripts, and its argmax is a max.  δ counts the false
  alerts before the tweet: the first of a row costs nothing, from δ = 18 on each costs 1.
* Tweets are visited event by event, by rank ascending, ties by tweet id as text.  The order of a file's rows
  never counts, and equal rows give bit-identical scores.
* A tweet's event is the solution's: otherwise a run could start δ anew wherever it likes.  A run's `event_id`
  only tells the rows of a tweet apart that stands in the lists of several events: the row of the solution's
  event counts, else the one ranked best.  Twice in one event's list is an error.
* Tweets of the run without a label are ignored: no alert for them counts as false.  A labelled tweet missing
  from the run has no types, the priority 0.25 and the worth 0; it stays in the denominators.
* F1 is 0 where a type is neither labelled nor predicted.  A type that no assessor used is left out of the
  priority errors.
* `normalize_priority` takes minimum and maximum over all rows of the run, those without a label too.
* A repeated type counts once.  Short names ("SearchAndRescue") and the four names that the ontology of 2018
  had instead ("PastNews") are the types they became.  Label files also hold finer annotations ("Damage",
  "Bot"); `read_solution` leaves them out with an `UnlistedTypeWarning`.
* A tweet twice in the solution with equal labels counts once, in the first of its events as text.
* A measure that the solution leaves undefined is the host's error.
* δ sees only the tweets that it is given: split Public and Private by event, not within one.

Errors in the submission raise ``ParticipantVisibleError``, whose text depends on the submission alone, except
that it says when none of its tweets is in the test set; errors of the host (solution, parameters) raise
``HostVisibleError``, which participants never see.
"""

import functools
import json
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "ACTIONABLE_TYPES",
    "INFORMATION_TYPES",
    "MEASURES",
    "PRIORITIES",
    "Evaluation",
    "Given",
    "HostVisibleError",
    "Labels",
    "Parameters",
    "ParticipantVisibleError",
    "PreparedSolution",
    "Run",
    "Sums",
    "UnlistedTypeWarning",
    "Visits",
    "category_scores",
    "evaluate",
    "false_alerts_before",
    "parse_types",
    "prepare",
    "read_solution",
    "read_submission",
    "score",
    "tweet_worth",
]

__version__ = "1.0.0"

# ---------------------------------------------------------------------------------------------
# Constants
# ---------------------------------------------------------------------------------------------

# A set of types is an integer whose bit t stands for INFORMATION_TYPES[t].
INFORMATION_TYPES = (
    "CallToAction-Donations",
    "CallToAction-MovePeople",
    "CallToAction-Volunteer",
    "Other-Advice",
    "Other-ContextualInformation",
    "Other-Discussion",
    "Other-Irrelevant",
    "Other-Sentiment",
    "Report-CleanUp",
    "Report-EmergingThreats",
    "Report-Factoid",
    "Report-FirstPartyObservation",
    "Report-Hashtags",
    "Report-Location",
    "Report-MultimediaShare",
    "Report-News",
    "Report-NewSubEvent",
    "Report-Official",
    "Report-OriginalEvent",
    "Report-ServiceAvailable",
    "Report-ThirdPartyObservation",
    "Report-Weather",
    "Request-GoodsServices",
    "Request-InformationWanted",
    "Request-SearchAndRescue",
)
ACTIONABLE_TYPES = (
    "Request-GoodsServices",
    "Request-SearchAndRescue",
    "CallToAction-MovePeople",
    "Report-EmergingThreats",
    "Report-NewSubEvent",
    "Report-ServiceAvailable",
)
TYPES_OF_2018 = {
    "Other-ContinuingNews": "Report-News",
    "Other-KnownAlready": "Report-OriginalEvent",
    "Other-PastNews": "Other-ContextualInformation",
    "Report-SignificantEventChange": "Report-NewSubEvent",
}

PRIORITIES = ("Low", "Medium", "High", "Critical")
LOWEST_PRIORITY = 0.25
_PRIORITY_NUMBERS = np.array([LOWEST_PRIORITY, 0.5, 0.75, 1.0])
_HIGH = PRIORITIES.index("High")

# The measures and where Table 1 of the memo has them.
MEASURES = {
    "accumulated_alert_worth": "Accumulated Alert Worth, All",
    "high_priority_worth": "Accumulated Alert Worth, High Priority",
    "low_priority_worth": None,
    "info_type_f1_actionable": "Info. Type Positive F1, Actionable",
    "info_type_f1_all": "Info. Type Positive F1, All",
    "info_type_accuracy_all": "Info. Type Accuracy, All",
    "priority_mse_actionable": "Priority RMSE, Actionable",
    "priority_mse_all": "Priority RMSE, All",
    "priority_rmse_actionable": None,
    "priority_rmse_all": None,
}

# What becomes of a tweet, and the equation that gives its worth.
CASES = {"true alert": "(1)", "missed alert": "(1)", "false alert": "(5)", "no alert": "(5)", "missing": None}
IGNORED = "ignored"

# Columns that hold text, whatever they look like: as numbers, ids of tweets would lose digits.
TEXT_COLUMNS = ("tweet_id", "event_id", "categories")

FLOAT_DIGITS_END = 2.0**53  # from here on not every whole number is a float

ROWS_SHOWN = 5
CHARACTERS_SHOWN = 40
COLUMNS_SHOWN = 20
EVENTS_SHOWN = 20
TRACE_WIDTH = 40
TRACE_TITLE = (
    "Trust along each ranking (delta: tenths that the next false alert costs, X all; "
    "worth: 0 at its lowest, 9 at its highest)"
)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def _bits(names: tuple[str, ...]) -> int:
    return sum(1 << INFORMATION_TYPES.index(name) for name in names)


def _type_names() -> dict[str, int]:
    """The bit of every name of a type: full, short, and of 2018."""
    full = {name: name for name in INFORMATION_TYPES} | TYPES_OF_2018
    short = {name.partition("-")[2]: type_ for name, type_ in full.items()}
    return {name: _bits((type_,)) for name, type_ in (full | short).items()}


_ACTIONABLE = _bits(ACTIONABLE_TYPES)
_IS_ACTIONABLE = np.array([name in ACTIONABLE_TYPES for name in INFORMATION_TYPES])
_BIT_OF_NAME = _type_names()
_WORD = re.compile(r"\S+")
_BOOLS = (bool, np.bool_)


# ---------------------------------------------------------------------------------------------
# Errors
# ---------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong.  Kaggle shows the text of this exception, by its name, to the participant."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong.  Kaggle shows this to the host only."""


class UnlistedTypeWarning(UserWarning):
    """A label file holds annotations that are not among the 25 types, and they were left out."""


# ---------------------------------------------------------------------------------------------
# Public API
# ---------------------------------------------------------------------------------------------


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
    """TREC Incident Streams V2: the worth of alerting an officer to tweets, or another measure of the track.

    A tweet is an alert if its priority score is at least `alert_threshold`.  A tweet labelled High or Critical
    is worth α + (1 - α)·C if it is an alert, else -1.  A tweet labelled Low or Medium is worth C if it is no
    alert, else max(-log10(δ/2 + 1), -1), where δ is the number of false alerts since the last true one in the
    ranking of its event.  C compares the types of run and assessor: γ times the Jaccard index of the
    actionable types plus 1 - γ times that of the others, where γ is λ if the assessor chose an actionable type,
    else 0, and 0/0 is 0.  The score is the mean of the mean worths of the two groups.

    Parameters
    ----------
    solution : DataFrame, one row per labelled tweet
        `row_id_column_name`, the tweet's id; ``event_id``; ``priority``, one of Low, Medium, High and
        Critical; ``categories``, the information types separated by spaces, maybe none.
    submission : DataFrame, one row per tweet
        `row_id_column_name`; ``rank``, the position in the event's list, a whole number from 0;
        ``priority``, a score; ``categories`` as above (where Kaggle rejects empty cells, a space is one
        without types).  An ``event_id`` may be there.
    row_id_column_name : str
        Names the column of tweet ids, which are compared as text.
    measure : str
        "accumulated_alert_worth", "high_priority_worth", "low_priority_worth", "info_type_f1_actionable",
        "info_type_f1_all", "info_type_accuracy_all", or, of which less is better, "priority_mse_actionable",
        "priority_mse_all", "priority_rmse_actionable", "priority_rmse_all".
    actionable_weight : float in [0, 1]
        λ.
    alert_gain : float in [0, 1]
        α, what a true alert is worth whatever its types; 1 ignores the types of alerts.
    alert_threshold : float
    normalize_priority : bool
        Scale the scores of the run to 0 … 1 by their minimum and maximum first; equal scores become 0.

    Returns
    -------
    float
        The worths are from -1 to 1, the other measures from 0 to 1.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed.  The text never depends on the solution, except that it says when
        none of the submission's tweets is in the test set.
    HostVisibleError
        The solution is malformed, a parameter is out of range, or the solution leaves the measure undefined.

    References
    ----------
    R. McCreadie, "TREC-IS V2 Metrics", 2019, sections 4 to 6.

    Examples
    --------
    A call for help and a report of damage, an alert to one of them; a false alert between them:

    >>> solution = pd.DataFrame({
    ...     "tweet_id": [11, 12, 13, 14],
    ...     "event_id": ["flood"] * 4,
    ...     "priority": ["Critical", "Low", "High", "Medium"],
    ...     "categories": ["Request-SearchAndRescue Report-Location", "Other-Sentiment",
    ...                    "Report-EmergingThreats", "Report-News Report-Hashtags"],
    ... })
    >>> submission = pd.DataFrame({
    ...     "tweet_id": [11, 12, 13, 14],
    ...     "rank": [1, 2, 3, 4],
    ...     "priority": [0.9, 0.8, 0.6, 0.3],
    ...     "categories": ["SearchAndRescue", "Sentiment", "EmergingThreats", "News"],
    ... })
    >>> round(score(solution, submission, "tweet_id", measure="high_priority_worth"), 6)  # (0.825 - 1) / 2
    -0.0875
    >>> score(solution, submission, "tweet_id", measure="low_priority_worth")  # (0 + 1/2) / 2
    0.25
    >>> round(score(solution, submission, "tweet_id"), 6)
    0.08125

    Without any alert each of the two is missed; nothing submitted is worth nothing:

    >>> score(solution, submission.assign(priority=0.6), "tweet_id", measure="high_priority_worth")
    -1.0
    >>> score(solution, submission.head(0), "tweet_id")
    0.0

    What is wrong, where, and what was expected:

    >>> wrong = submission.assign(priority=["high", 0.8, 0.6, None])
    >>> try:
    ...     score(solution, wrong, "tweet_id")
    ... except ParticipantVisibleError as error:
    ...     print(error)
    priority is wrong in 2 rows of the submission: tweet_id 11 ('high'), tweet_id 14 (missing). Expected a \
finite number.
    """
    return evaluate(
        solution,
        submission,
        row_id_column_name,
        measure,
        actionable_weight,
        alert_gain,
        alert_threshold,
        normalize_priority,
    ).score


def evaluate(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "accumulated_alert_worth",
    actionable_weight: float = 0.75,
    alert_gain: float = 0.3,
    alert_threshold: float = 0.7,
    normalize_priority: bool = False,
) -> "Evaluation":
    """Score a submission and keep what led to the score.  Parameters and errors are those of `score`.

    Returns
    -------
    Evaluation
    """
    prepared = prepare(
        solution,
        row_id_column_name,
        measure,
        actionable_weight,
        alert_gain,
        alert_threshold,
        normalize_priority,
    )
    return prepared.evaluate(submission)


def prepare(
    solution: pd.DataFrame,
    row_id_column_name: str,
    measure: str = "accumulated_alert_worth",
    actionable_weight: float = 0.75,
    alert_gain: float = 0.3,
    alert_threshold: float = 0.7,
    normalize_priority: bool = False,
) -> "PreparedSolution":
    """Check and digest a solution once, to score many submissions.  Parameters are those of `score`.

    Raises
    ------
    HostVisibleError
        The solution is malformed, a parameter is out of range, or the solution leaves the measure undefined.
    """
    parameters = Parameters(
        row_id_column_name,
        measure,
        float(actionable_weight),
        float(alert_gain),
        float(alert_threshold),
        bool(normalize_priority),
    )
    _check_parameters(parameters)
    table = _Table(solution, "the solution", row_id_column_name, HostVisibleError)
    return _digest(table.given(), parameters)


class Parameters(NamedTuple):
    """The parameters of `score`."""

    row_id_column_name: str
    measure: str
    actionable_weight: float
    alert_gain: float
    alert_threshold: float
    normalize_priority: bool


class Labels(NamedTuple):
    """What the assessors said, as columns of equal length n.

    Attributes
    ----------
    tweet, event : (n,) int, numbers of the tweet and of its event
    priority : (n,) int, index into `PRIORITIES`
    types : (n,) int, sets of types
    """

    tweet: Ints
    event: Ints
    priority: Ints
    types: Ints

    def take(self, index: Ints | Bools) -> "Labels":
        """The labels at `index`, which selects as it does in numpy."""
        return Labels(self.tweet[index], self.event[index], self.priority[index], self.types[index])


class Given(NamedTuple):
    """A solution as its frame has it: row by row, a tweet maybe twice.

    Attributes
    ----------
    labels : Labels
    tweet_ids, event_ids : list of str, sorted; what the numbers stand for
    """

    labels: Labels
    tweet_ids: list[str]
    event_ids: list[str]


class Run(NamedTuple):
    """A submission, checked: m rows as columns, and what the numbers of tweets and events stand for.

    Attributes
    ----------
    tweet : (m,) int, index into `tweet_ids`
    event : (m,) int, index into `event_ids`; -1 where the run names no event
    rank, score : (m,) float
    types : (m,) int, sets of types
    tweet_ids : list of str
    event_ids : list of str, sorted
    """

    tweet: Ints
    event: Ints
    rank: Floats
    score: Floats
    types: Ints
    tweet_ids: list[str]
    event_ids: list[str]


class Visits(NamedTuple):
    """Every labelled tweet in the order of its visit, as columns of equal length n.

    Events follow each other; in each, the tweets of the run by rank, then those missing from the run.

    Attributes
    ----------
    tweet, event : (n,) int, index into `PreparedSolution.tweet_ids` and `.event_ids`
    row : (n,) int, the tweet's row in the run; -1 if missing
    rank : (n,) float, infinite if missing
    score : (n,) float, the run's, normalised if asked for; 0.25 if missing
    priority : (n,) int, the assessor's, index into `PRIORITIES`
    true_types, run_types : (n,) int, sets of types
    alert : (n,) bool
    delta : (n,) int, δ when the tweet is visited
    actionable_score, other_score : (n,) float, ActCScore and NActCScore
    worth : (n,) float
    """

    tweet: Ints
    event: Ints
    row: Ints
    rank: Floats
    score: Floats
    priority: Ints
    true_types: Ints
    run_types: Ints
    alert: Bools
    delta: Ints
    actionable_score: Floats
    other_score: Floats
    worth: Floats

    @property
    def ranked(self) -> Bools:
        """Whether the tweet is in the run, (n,)."""
        return self.row >= 0

    @property
    def important(self) -> Bools:
        """Whether the tweet is labelled High or Critical, (n,)."""
        return self.priority >= _HIGH

    @property
    def squared_error(self) -> Floats:
        """(label - clip(score, 0.25, 1))², (n,)."""
        error: Floats = _PRIORITY_NUMBERS[self.priority] - np.clip(self.score, LOWEST_PRIORITY, 1.0)
        return error**2


class Sums(NamedTuple):
    """Sums over tweets, the sufficient statistics of all measures; per event, or of several events.

    Attributes
    ----------
    high, low : (...) float, numbers of tweets labelled High or Critical, and Low or Medium
    high_worth, low_worth : (...) float, the sums of their worths
    tp, fp, fn : (..., types) float, numbers of tweets
    squared_error : (..., types) float, summed over the tweets that the assessors gave the type
    """

    high: Floats
    low: Floats
    high_worth: Floats
    low_worth: Floats
    tp: Floats
    fp: Floats
    fn: Floats
    squared_error: Floats


@dataclass(frozen=True, eq=False)
class PreparedSolution:
    """A solution, checked and digested by `prepare`, with the parameters to score against it.

    Attributes
    ----------
    given : Given
    parameters : Parameters
    tweet_ids, event_ids : list of str, sorted
    tweet_numbers : dict of str to int, the index of each tweet id
    labels : Labels, (n,), one per tweet, in the order of `tweet_ids`
    """

    given: Given
    parameters: Parameters
    tweet_ids: list[str]
    event_ids: list[str]
    tweet_numbers: dict[str, int]
    labels: Labels

    def part(self, rows: Bools) -> "PreparedSolution":
        """What `prepare` makes of some of the solution's rows, (n,) bool, without reading them again.

        Raises
        ------
        HostVisibleError
            The part has no tweet of High or Critical, or none of Low or Medium priority, or leaves the
            measure undefined.
        """
        return _digest(self.given._replace(labels=self.given.labels.take(rows)), self.parameters)

    def evaluate(self, submission: pd.DataFrame) -> "Evaluation":
        """Score one submission.

        Raises
        ------
        ParticipantVisibleError
            The submission is malformed, or none of its tweets is in the solution.
        """
        name = self.parameters.row_id_column_name
        run = _Table(submission, "the submission", name, ParticipantVisibleError).run()
        tweet = _numbers(run.tweet_ids, self.tweet_numbers)[run.tweet]
        if len(tweet) and (tweet < 0).all():
            raise ParticipantVisibleError(f"none of the submission's {name} values is in the test set.")
        visits = _visit(self, run, _rows_that_count(run, tweet, self))
        sums = _sums_by_event(visits, len(self.event_ids))
        measures = {name: float(value) for name, value in _measures(_total(sums)).items()}
        return Evaluation(
            score=measures[self.parameters.measure],
            measures={"score": measures[self.parameters.measure]} | measures,
            sums=sums,
            visits=visits,
            run=run,
            prepared=self,
        )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` returns: the score and everything behind it.

    Attributes
    ----------
    score : float
        The measure that was asked for.
    measures : dict of str to float
        ``"score"``, then all of `MEASURES`; NaN where the solution leaves one undefined.
    types, events, tweets : DataFrame
        See the properties.
    segments, roles : DataFrame, dict
        The same as `tweets`, and what some of its columns are.
    tables : dict of str to DataFrame
        Small tables for people, by title.
    notices : list of str
        What a reader of the score should know.
    signature : str
        The version and every parameter, to print beside the score.
    items : list of str
        The events that `resample` weighs.
    sums : Sums, (events,)
        The sufficient statistics of the measures, in the order of `items`.
    visits : Visits
        Every labelled tweet as it was visited.
    run, prepared : Run, PreparedSolution
        What was scored against what.
    """

    score: float
    measures: dict[str, float]
    sums: Sums
    visits: Visits
    run: Run
    prepared: PreparedSolution

    @property
    def signature(self) -> str:
        """The metric's name and version and every parameter, as ``name:value`` joined by ``|``."""
        parameters = self.prepared.parameters._asdict()
        del parameters["row_id_column_name"]
        parts = {"metric": "trec_is", "version": __version__} | parameters
        return "|".join(f"{name}:{value}" for name, value in parts.items())

    @functools.cached_property
    def types(self) -> pd.DataFrame:
        """One row per information type, over all tweets.

        Columns: information_type; actionable; tweets (that the assessors gave the type); tp, fp, fn, tn;
        precision (NaN if never predicted), recall (NaN if never labelled), f1 (0 where undefined), accuracy;
        mse and rmse of the priority of its tweets (NaN if never labelled).
        """
        sums = _total(self.sums)
        tp, fp, fn = (counts.astype(np.int64) for counts in (sums.tp, sums.fp, sums.fn))
        mse = _type_mse(sums)
        return pd.DataFrame(
            {
                "information_type": INFORMATION_TYPES,
                "actionable": _IS_ACTIONABLE,
                "tweets": tp + fn,
                "tp": tp,
                "fp": fp,
                "fn": fn,
                "tn": len(self.visits.tweet) - tp - fp - fn,
                "precision": _ratio(tp, tp + fp),
                "recall": _ratio(tp, tp + fn),
                "f1": _type_f1(sums),
                "accuracy": _type_accuracy(sums),
                "mse": mse,
                "rmse": np.sqrt(mse),
            }
        )

    @functools.cached_property
    def events(self) -> pd.DataFrame:
        """One row per event, in the order of `items`.

        Columns: event_id; tweets, and how many of them are high (High or Critical), low (Low or Medium) and
        missing (from the run); true_alerts, missed_alerts, false_alerts, no_alerts; highest_delta;
        contribution (to accumulated_alert_worth, of which the events' contributions are the sum); then all
        `MEASURES` of the event alone (NaN where undefined).
        """
        visits = self.visits
        number = len(self.items)
        cases = np.bincount(visits.event * len(CASES) + self._case, minlength=number * len(CASES))
        true_alerts, missed_alerts, false_alerts, no_alerts, missing = cases.reshape(number, -1).T
        first = np.searchsorted(visits.event, np.arange(number))
        return pd.DataFrame(
            {
                "event_id": self.items,
                "tweets": np.bincount(visits.event),
                "high": self.sums.high.astype(np.int64),
                "low": self.sums.low.astype(np.int64),
                "missing": missing,
                "true_alerts": true_alerts,
                "missed_alerts": missed_alerts,
                "false_alerts": false_alerts,
                "no_alerts": no_alerts,
                "highest_delta": np.maximum.reduceat(np.where(visits.ranked, visits.delta, 0), first),
                "contribution": np.bincount(visits.event, self._contribution),
                **_measures(self.sums),
            }
        )

    @functools.cached_property
    def tweets(self) -> pd.DataFrame:
        """One row per labelled tweet in the order of its visit, then one per row of the run that is ignored.

        Columns
        -------
        tweet_id, event_id : as text; of a labelled tweet the solution's event
        rank, score : the run's, `score` normalised if that was asked for; NaN if missing
        priority : the assessor's
        true_types, run_types : the types of assessor and run by their full names
        case : "true alert" or "missed alert" (labelled High or Critical); "false alert" or "no alert"
            (labelled Low or Medium); "missing" from the run; "ignored": a tweet without a label, or its
            row in another event's list than the one that counts
        equation : "(1)" or "(5)", which gives the worth
        delta : δ at that moment: false alerts in the event since its last true alert
        actionable_score, other_score : ActCScore (2) and NActCScore (3)
        worth : from -1 to 1
        contribution : the worth's part of accumulated_alert_worth, which is their sum (6)
        accumulated_worth : sum of the contributions in this event so far
        squared_error : of the priority
        """
        visits = self.visits
        others = np.setdiff1d(np.arange(len(self.run.tweet)), visits.row)
        absent = np.full(len(others), np.nan)
        nothing = np.full(len(others), None)

        def numbers(values: npt.NDArray[Any], elsewhere: Floats = absent) -> Floats:
            return np.concatenate([np.where(visits.ranked, values, np.nan), elsewhere])

        def texts(values: list[Any], codes: Ints, elsewhere: Any = nothing) -> npt.NDArray[np.object_]:
            return np.concatenate([np.array(values, dtype=object)[codes], elsewhere])

        worth, contribution, squared_error = (
            np.concatenate([values, absent])
            for values in (visits.worth, self._contribution, visits.squared_error)
        )
        run_tweet_ids = np.array(self.run.tweet_ids, dtype=object)
        run_event_ids = np.array([*self.run.event_ids, None], dtype=object)  # at -1, where it names none
        return pd.DataFrame(
            {
                "tweet_id": texts(self.prepared.tweet_ids, visits.tweet, run_tweet_ids[self.run.tweet[others]]),
                "event_id": texts(self.items, visits.event, run_event_ids[self.run.event[others]]),
                "rank": numbers(visits.rank, self.run.rank[others]),
                "score": numbers(visits.score, self._scores[others]),
                "priority": texts([*PRIORITIES], visits.priority),
                "true_types": np.concatenate([_type_texts(visits.true_types), nothing]),
                "run_types": _type_texts(np.concatenate([visits.run_types, self.run.types[others]])),
                "case": texts([*CASES], self._case, np.full(len(others), IGNORED, dtype=object)),
                "equation": texts([*CASES.values()], self._case),
                "delta": numbers(visits.delta),
                "actionable_score": numbers(visits.actionable_score),
                "other_score": numbers(visits.other_score),
                "worth": worth,
                "contribution": contribution,
                "accumulated_worth": np.concatenate([self._accumulated, absent]),
                "squared_error": squared_error,
            }
        )

    @property
    def segments(self) -> pd.DataFrame:
        """The same as `tweets`, by the name that tools ask for."""
        return self.tweets

    @property
    def roles(self) -> dict[str, str]:
        """Which column of `segments` tells what, for tools that know no metric."""
        return {"item": "event_id", "label": "priority", "outcome": "case"}

    @property
    def items(self) -> list[str]:
        """Ids of the events, sorted as text.

        δ ties the tweets of an event to each other and to nothing else, so events, not tweets, are the
        independent units that a bootstrap may draw.  From a few events only it can say little.
        """
        return self.prepared.event_ids

    def resample(self, weights: npt.ArrayLike) -> Floats:
        """The `measures` if every event occurred as often as its weight says, with all its tweets.

        Parameters
        ----------
        weights : (resamples, events) int or float, at least 0
            In the order of `items`.

        Returns
        -------
        (resamples, measures) float
            NaN where a resample leaves a measure undefined.
        """
        weights = np.asarray(weights, dtype=np.float64)
        return self._measures_of(Sums(*(weights @ values for values in self.sums)))

    def mix(self, other: "Evaluation", swapped: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The `measures` of this run and another one, had they swapped their lists for some events.

        Scores are swapped as they were used: normalised, if asked for, by the run that they came from.

        Parameters
        ----------
        other : Evaluation
            Of the same events.
        swapped : (mixtures, events) int or bool
            1 where they swap, 0 where not; in the order of `items`.

        Returns
        -------
        mine, theirs : (mixtures, measures) float

        Raises
        ------
        ValueError
            The other evaluation is of other events.
        """
        if other.items != self.items:
            raise ValueError("only evaluations of the same events can be mixed")
        swapped = np.asarray(swapped, dtype=np.float64)
        pairs = [*zip(self.sums, other.sums)]
        mine = Sums(*((1 - swapped) @ own + swapped @ others for own, others in pairs))
        theirs = Sums(*(swapped @ own + (1 - swapped) @ others for own, others in pairs))
        return self._measures_of(mine), self._measures_of(theirs)

    def _measures_of(self, sums: Sums) -> Floats:
        """The `measures` of sums of shape (n), (n, measures)."""
        measures = _measures(sums)
        return np.stack([measures[self.prepared.parameters.measure], *measures.values()], axis=-1)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The measures, the cases of the equations, the types, the events, and the traces of their rankings.

        Of more than 20 events the 20 are shown that contribute least to accumulated_alert_worth.
        """
        names = [*MEASURES]
        measures = pd.DataFrame(
            {
                "measure": names,
                "value": [self.measures[name] for name in names],
                "column of Table 1": [*MEASURES.values()],
            }
        )
        cases = pd.DataFrame(
            {
                "case": [*CASES],
                "equation": [*CASES.values()],
                "tweets": np.bincount(self._case, minlength=len(CASES)),
                "worth": np.bincount(self._case, self.visits.worth, minlength=len(CASES)),
                "contribution": np.bincount(self._case, self._contribution, minlength=len(CASES)),
            }
        )
        shown = self.events.sort_values("contribution", kind="stable").head(EVENTS_SHOWN)
        columns = (
            "event_id tweets high low missing true_alerts missed_alerts false_alerts "
            "high_priority_worth low_priority_worth contribution info_type_f1_all priority_mse_all"
        )
        return {
            "Measures": measures,
            "What became of the tweets": cases,
            "Information types": self.types.drop(columns=["tn", "rmse"]),
            "Events, least alert worth first": shown[columns.split()].assign(
                event_id=[_short(text) for text in shown["event_id"]]
            ),
            TRACE_TITLE: self._traces(shown.index.tolist()),
        }

    @property
    def notices(self) -> list[str]:
        """Rows of the run that are ignored, tweets that it lacks, and whatever else may surprise."""
        visits, run = self.visits, self.run
        used = visits.row[visits.ranked]
        missing = len(visits.row) - len(used)
        named = run.event[used] >= 0
        elsewhere = int((named & ~_in_own_event(run, visits.tweet[visits.ranked], used, self.prepared)).sum())
        notices = []
        if len(used) < len(run.tweet):
            notices.append(
                f"{_counted(len(run.tweet) - len(used), 'row')} of the run ignored: without a label, or in the "
                "list of another event than the one that counts"
            )
        if missing:
            notices.append(
                f"{_counted(missing, 'labelled tweet')} not in the run: no types, priority 0.25, worth 0"
            )
        if elsewhere:
            notices.append(
                f"{_counted(elsewhere, 'tweet')} in the list of another event than the solution's, which counts"
            )
        if (
            self.prepared.parameters.normalize_priority
            and len(run.score)
            and run.score.min() == run.score.max()
        ):
            notices.append("all scores of the run are equal and became 0")
        if len(self.items) > EVENTS_SHOWN:
            notices.append(f"the tables show {EVENTS_SHOWN} of {len(self.items):,} events")
        return notices

    @functools.cached_property
    def _scores(self) -> Floats:
        """The scores of the run's rows as they were used, (m,)."""
        return _scores(self.run.score, self.prepared.parameters.normalize_priority)

    @functools.cached_property
    def _case(self) -> Ints:
        """Index into `CASES` of every visit, (n,)."""
        visits = self.visits
        case: Ints = np.where(visits.ranked, 2 * ~visits.important + ~visits.alert, len(CASES) - 1)
        return case

    @functools.cached_property
    def _contribution(self) -> Floats:
        """What every visit adds to accumulated_alert_worth (6), (n,)."""
        total = _total(self.sums)
        tweets: Floats = np.where(self.visits.important, total.high, total.low)
        return self.visits.worth / (2 * tweets)

    @functools.cached_property
    def _accumulated(self) -> Floats:
        """Sum of the contributions in the event up to every visit, (n,)."""
        sums = pd.Series(self._contribution).groupby(self.visits.event).cumsum()
        return np.asarray(sums, dtype=np.float64)

    def _traces(self, events: list[int]) -> pd.DataFrame:
        """δ and the accumulated worth along the rankings of some events."""
        visits = self.visits
        rows: list[dict[str, Any]] = []
        for event in events:
            first, last = np.searchsorted(visits.event, [event, event + 1])
            ranked = slice(first, first + int(visits.ranked[first:last].sum()))
            delta, accumulated = visits.delta[ranked], self._accumulated[ranked]
            highest = int(delta.max(initial=0))
            rows.append(
                {
                    "event_id": _short(self.items[event]),
                    "ranked": len(delta),
                    "delta": _delta_trace(delta),
                    "highest": highest,
                    "at_rank": f"{visits.rank[ranked][delta.argmax()]:.0f}" if highest else None,
                    "worth": _worth_trace(accumulated),
                    "lowest": accumulated.min(initial=0.0),
                    "at_end": accumulated[-1] if len(accumulated) else 0.0,
                }
            )
        return pd.DataFrame(rows)


# ---------------------------------------------------------------------------------------------
# Official files
# ---------------------------------------------------------------------------------------------


def read_solution(path: str | Path) -> pd.DataFrame:
    """Read a label file of the track: JSON, with the fields of 2018 to 2020 or those of 2021.

    The rows of a tweet are united: all their types, the highest priority, the event that comes first in the
    file.  Annotations that are not among the 25 types are left out.

    Returns
    -------
    DataFrame
        ``tweet_id``, ``event_id``, ``priority``, ``categories``; one row per tweet, in the file's order.

    Raises
    ------
    HostVisibleError
        The file cannot be read or is no label file.

    Warns
    -----
    UnlistedTypeWarning
        Annotations were left out.
    """
    text = _read_text(path, HostVisibleError)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise HostVisibleError(f"{path} is not a label file: it is not JSON ({problem}).") from None
    labels: dict[str, tuple[str, int, int]] = {}
    unlisted: dict[str, int] = {}
    for number, event in enumerate(_field(content, "the file", list, "events"), 1):
        event_id = _as_text(_field(event, f"event number {number}", (str, int), "eventid"))
        event_name = f"event {_quoted(event_id)}"
        for position, tweet in enumerate(_field(event, event_name, list, "tweets"), 1):
            where = f"tweet number {position} of {event_name}"
            tweet_id = _as_text(_field(tweet, where, (str, int), "postID"))
            priority = _field(tweet, where, str, "priority", "postPriority")
            if priority not in PRIORITIES:
                raise HostVisibleError(
                    f"{where} has the priority {_quoted(priority)}; expected {', '.join(PRIORITIES)}."
                )
            types = 0
            for name in _field(tweet, where, list, "categories", "postCategories"):
                if not isinstance(name, str):
                    raise HostVisibleError(f"{where} has the category {_quoted(name)}; expected text.")
                types |= _BIT_OF_NAME.get(name, 0)
                if name not in _BIT_OF_NAME:
                    unlisted[name] = unlisted.get(name, 0) + 1
            first_event, highest, all_types = labels.get(tweet_id, (event_id, 0, 0))
            labels[tweet_id] = (first_event, max(highest, PRIORITIES.index(priority)), all_types | types)
    if unlisted:
        names = [_short(name) for name in sorted(unlisted)[:COLUMNS_SHOWN]]
        warnings.warn(
            f"{_counted(sum(unlisted.values()), 'annotation')} of the label file left out, being none of the "
            f"{len(INFORMATION_TYPES)} types: {_listed(names, len(unlisted))}.",
            UnlistedTypeWarning,
            stacklevel=2,
        )
    return pd.DataFrame(
        {
            "tweet_id": [*labels],
            "event_id": [event_id for event_id, _, _ in labels.values()],
            "priority": [PRIORITIES[priority] for _, priority, _ in labels.values()],
            "categories": _type_texts(np.array([types for _, _, types in labels.values()], dtype=np.int64)),
        }
    )


def read_submission(path: str | Path) -> pd.DataFrame:
    """Read a run file of the track: lines of ``event Q0 tweet rank score ["Type-A","Type-B"] tag``.

    Fields are separated by tabs or spaces, the types quoted by " or '.  Empty lines and what follows the types
    do not count.

    Returns
    -------
    DataFrame
        ``tweet_id``, ``event_id``, ``rank``, ``priority``, ``categories``; one row per line.  A column with
        something in it that is not a number stays text, for the error message.

    Raises
    ------
    ParticipantVisibleError
        The file cannot be read or has lines of another form.
    """
    fields: list[tuple[str, str, str, str, str]] = []
    faults: list[tuple[int, str]] = []
    lists: dict[str, str | None] = {}
    for number, line in enumerate(_read_text(path, ParticipantVisibleError).split("\n"), 1):
        if not line.strip():
            continue
        words = line.split(None, 5)
        literal = words[5][: words[5].find("]") + 1] if len(words) == 6 else ""
        if literal not in lists:
            lists[literal] = _read_list(literal)
        types = lists[literal]
        if types is None:
            faults.append((number, line.strip()))
        else:
            fields.append((words[0], words[2], words[3], words[4], types))
    if faults or not fields:
        shown = [f"line {number} ({_quoted(line)})" for number, line in faults[:ROWS_SHOWN]]
        what = f"is wrong in {_listed(shown, len(faults))}" if faults else "has no lines"
        raise ParticipantVisibleError(
            f"{path} {what}. Expected lines of: event Q0 tweet rank score "
            '["Type-A","Type-B"] tag, separated by tabs or spaces.'
        )
    event_id, tweet_id, rank, priority, categories = map(list, zip(*fields))
    return pd.DataFrame(
        {
            "tweet_id": tweet_id,
            "event_id": event_id,
            "rank": _as_numbers(rank),
            "priority": _as_numbers(priority),
            "categories": categories,
        }
    )


def _read_text(path: str | Path, error: type[Exception]) -> str:
    """A file's text: UTF-8, else ISO-8859-1, as some of the track's files are."""
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise error(f"cannot read {path}: {problem.strerror}.") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("iso-8859-1")


def _field(entry: Any, where: str, kind: type | tuple[type, ...], *names: str) -> Any:
    """The value that a JSON object has under one of the names."""
    if isinstance(entry, dict):
        for name in names:
            if isinstance(entry.get(name), kind):
                return entry[name]
    wanted = "a list" if kind is list else "text"
    raise HostVisibleError(f"the label file is wrong: {where} lacks {' or '.join(names)}, {wanted}.")


def _read_list(literal: str) -> str | None:
    """The names in a list like ["Type-A","Type-B"], separated by spaces; None if it is no such list."""
    try:
        names = json.loads(literal.replace("'", '"'))
    except (ValueError, RecursionError):
        return None
    if isinstance(names, list) and all(isinstance(name, str) and name.split() == [name] for name in names):
        return " ".join(names)
    return None


def _as_numbers(texts: list[str]) -> list[str] | list[float]:
    """The texts as numbers if all of them are."""
    numbers = [_number(text) for text in texts]
    return texts if any(map(math.isnan, numbers)) else numbers


# ---------------------------------------------------------------------------------------------
# Input
# ---------------------------------------------------------------------------------------------


def parse_types(cells: list[str]) -> tuple[Ints, list[str]]:
    """The set of types that each cell names, and the first name in it that is none.

    Parameters
    ----------
    cells : list of n str
        Names separated by white space: full, short, or of 2018.

    Returns
    -------
    types : (n,) int
        Bit t stands for ``INFORMATION_TYPES[t]``.
    unknown : list of n str
        "" where all names are known.

    Examples
    --------
    >>> types, unknown = parse_types(["Report-News Other-Advice", "Advice ContinuingNews", "", "News Nonsense"])
    >>> types[0] == types[1], types[2] == 0
    (np.True_, np.True_)
    >>> unknown
    ['', '', '', 'Nonsense']
    """
    types = np.zeros(len(cells), dtype=np.int64)
    unknown = [""] * len(cells)
    for number, cell in enumerate(cells):
        found = 0
        for name in _WORD.finditer(cell):  # unlike split(), needs no memory for a long cell
            bit = _BIT_OF_NAME.get(name.group())
            if bit is None:
                unknown[number] = name.group()
                break
            found |= bit
        types[number] = found
    return types, unknown


def _type_texts(types: Ints) -> npt.NDArray[np.object_]:
    """Sets of types as their full names, separated by spaces, (n,)."""
    codes, distinct = pd.factorize(types)
    texts = [
        " ".join(name for bit, name in enumerate(INFORMATION_TYPES) if found >> bit & 1)
        for found in distinct.tolist()
    ]
    named: npt.NDArray[np.object_] = np.array(texts, dtype=object)[codes]
    return named


def _as_text(value: object) -> str:
    """The text of an id or label, the same whether a CSV reader took it for text, int or float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _number(value: Any) -> float:
    """A cell as a number; NaN if it is none."""
    if ("_" in value) if isinstance(value, str) else isinstance(value, _BOOLS):  # 1_0 is Python's, not CSV's
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _short(value: object) -> str:
    """A value as messages show it: on one line and not long."""
    text = _as_text(value)
    text = text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"
    return repr(text)[1:-1]


def _quoted(value: object) -> str:
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(items: list[str], number: int) -> str:
    """Some items, and how many more of the `number` there are."""
    return ", ".join(items) + (f" and {number - len(items):,} more" if number > len(items) else "")


class _Table:
    """A frame of tweets, read column by column with checks; every fault has one form of message."""

    def __init__(self, frame: pd.DataFrame, name: str, row_id_column_name: str, error: type[Exception]) -> None:
        self.frame = frame
        self.name = name
        self.row_id_column_name = row_id_column_name
        self.error = error

    def given(self) -> Given:
        """The rows of a solution."""
        self.check_columns((self.row_id_column_name, "event_id", "priority", "categories"))
        if self.frame.empty:
            raise self.error(f"{self.name} has no rows.")
        tweet, tweet_ids = _sorted_texts(*self.ids())
        event, event_ids = _sorted_texts(*_factorize(self.frame["event_id"]))
        self.check("event_id", event < 0, _missing, "a value in every row")
        labels = Labels(tweet, event, self.priorities(), self.types())
        # Of repeated indices numpy keeps the last assignment: here, each tweet's first row.
        first = np.empty(len(tweet_ids), dtype=np.int64)
        first[tweet[::-1]] = np.arange(len(tweet))[::-1]
        before = labels.take(first[tweet])
        self.check(
            self.row_id_column_name,
            (labels.priority != before.priority) | (labels.types != before.types),
            lambda row: "labelled otherwise in an earlier row",
            "the same priority and categories in every row of a tweet",
        )
        return Given(labels, tweet_ids, event_ids)

    def run(self) -> Run:
        """The rows of a submission."""
        self.check_columns((self.row_id_column_name, "rank", "priority", "categories"), ("event_id",))
        tweet, tweet_ids = self.ids()
        event, event_ids = np.full(len(tweet), -1), list[str]()
        if "event_id" in self.frame:
            event, event_ids = _sorted_texts(*_factorize(self.frame["event_id"]))
        if len(tweet_ids) < len(tweet):
            self.check(
                self.row_id_column_name,
                pd.Series(tweet * (len(event_ids) + 1) + event + 1).duplicated().to_numpy(),
                lambda row: "already there",
                f"each tweet once{' in the list of an event' if event_ids else ''}",
            )
        rank = self.numbers("rank")
        whole = (rank >= 0) & (rank == np.floor(rank)) & np.isfinite(rank)
        self.check("rank", ~whole, self.cell_of("rank"), "the position in the event's list, a whole number")
        score = self.numbers("priority")
        self.check("priority", ~np.isfinite(score), self.cell_of("priority"), "a finite number")
        return Run(tweet, event, rank, score, self.types(), tweet_ids, event_ids)

    def check_columns(self, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
        """Every required column is there, and none twice."""
        found = [str(name) for name in self.frame.columns]
        lacking = [name for name in dict.fromkeys(required) if name not in found]
        if lacking:
            raise self.error(
                f"{self.name} lacks columns: {', '.join(lacking)}. "
                f"It has: {_listed([_short(name) for name in found[:COLUMNS_SHOWN]], len(found))}."
            )
        repeated = [name for name in dict.fromkeys(required + optional) if found.count(name) > 1]
        if repeated:
            raise self.error(f"{self.name} has more than one column named {', '.join(repeated)}.")

    def check(self, column: str, wrong: Bools, reason: Callable[[int], str], expected: str) -> None:
        """Raise the table's error where rows are `wrong`; `reason` says why a row is."""
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        ids = self.frame[self.row_id_column_name]
        shown = [
            (f"row number {row + 1}" if _is_missing(ids.iloc[row]) else f"{ids.name} {_short(ids.iloc[row])}")
            + f" ({reason(row)})"
            for row in rows[:ROWS_SHOWN].tolist()
        ]
        raise self.error(
            f"{column} is wrong in {_counted(len(rows), 'row')} of {self.name}: "
            f"{_listed(shown, len(rows))}. Expected {expected}."
        )

    def ids(self) -> tuple[Ints, list[str]]:
        """Codes of the tweet ids, (n,), and the distinct ids; nothing may be missing, blank or rounded."""
        name = self.row_id_column_name
        column = self.frame[name]
        codes, texts = _factorize(column)
        self.check(name, codes < 0, _missing, "an id in every row")
        if pd.api.types.infer_dtype(column) not in ("string", "integer"):
            values = column.to_numpy(dtype=object)
            rounded = [isinstance(value, float) and abs(value) >= FLOAT_DIGITS_END for value in values]
            self.check(
                name,
                np.array(rounded, dtype=bool),
                lambda row: "read as a floating-point number, which rounds it",
                "ids as text or whole numbers",
            )
        return codes, texts

    def priorities(self) -> Ints:
        """The assessors' labels as index into `PRIORITIES`, (n,)."""
        codes, texts = _factorize(self.frame["priority"])
        index = {name: number for number, name in enumerate(PRIORITIES)}
        priorities = np.array([*(index.get(text, -1) for text in texts), -1])[codes]
        expected = f"one of {', '.join(PRIORITIES)}"
        self.check("priority", priorities < 0, self.cell_of("priority"), expected)
        return priorities

    def types(self) -> Ints:
        """The sets of types in the column of categories, (n,)."""
        codes, cells = _factorize(self.frame["categories"])
        types, unknown = parse_types(cells)
        self.check(
            "categories",
            np.array([*map(bool, unknown), False])[codes],
            lambda row: f"{_quoted(unknown[codes[row]])} is no information type",
            f"names separated by spaces out of {', '.join(INFORMATION_TYPES)}",
        )
        return np.append(types, 0)[codes]

    def numbers(self, column: str) -> Floats:
        """A column as floats, (n,), with NaN for what is not a number."""
        values = self.frame[column]
        if pd.api.types.is_any_real_numeric_dtype(values):
            return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.array([_number(value) for value in values.to_numpy(dtype=object)], dtype=np.float64)

    def cell_of(self, column: str) -> Callable[[int], str]:
        """The reason that shows a row's cell."""
        cells = self.frame[column]
        return lambda row: "missing" if _is_missing(cells.iloc[row]) else _quoted(cells.iloc[row])


def _missing(row: int) -> str:
    return "missing"


def _is_missing(value: Any) -> bool:
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))  # of a list, isna() would ask each item


def _factorize(column: pd.Series) -> tuple[Ints, list[str]]:
    """Codes of a column's texts, (n,), -1 where missing or blank, and the distinct texts."""
    try:
        codes, distinct = pd.factorize(column)
    except TypeError:  # lists and the like, in a frame that no file gave
        codes, distinct = pd.factorize(column.map(str, na_action="ignore"))
    values = distinct.tolist()
    kinds = set(map(type, values))
    if kinds == {str} and all(map(str.strip, values)):
        return codes, values
    if kinds == {int}:
        return codes, list(map(str, values))
    number: dict[str, int] = {}
    code_of_value = np.full(len(values) + 1, -1)
    for position, value in enumerate(values):
        text = _as_text(value)
        if text.strip():
            code_of_value[position] = number.setdefault(text, len(number))
    return code_of_value[codes], list(number)


def _sorted_texts(codes: Ints, texts: list[str]) -> tuple[Ints, list[str]]:
    """The same with the texts in order; code -1 stays."""
    ordered = sorted(texts)
    number = {text: position for position, text in enumerate(ordered)}
    return np.array([*map(number.__getitem__, texts), -1])[codes], ordered


def _numbers(texts: list[str], number: dict[str, int]) -> Ints:
    """The number of each text, (n,), -1 where it has none."""
    return np.array([number.get(text, -1) for text in texts], dtype=np.int64)


def _check_parameters(parameters: Parameters) -> None:
    if parameters.measure not in MEASURES:
        raise HostVisibleError(f"measure is {parameters.measure!r}; expected one of {', '.join(MEASURES)}.")
    for name in ("actionable_weight", "alert_gain"):
        value = getattr(parameters, name)
        if not 0 <= value <= 1:
            raise HostVisibleError(f"{name} is {value}; expected a number from 0 to 1.")
    if not math.isfinite(parameters.alert_threshold):
        raise HostVisibleError(f"alert_threshold is {parameters.alert_threshold}; expected a finite number.")


def _digest(given: Given, parameters: Parameters) -> PreparedSolution:
    """One row per tweet, in the order of the ids, numbered anew; and whether they can be scored against."""
    by_tweet = np.lexsort((given.labels.event, given.labels.tweet))
    labels = given.labels.take(by_tweet)
    labels = labels.take(np.diff(labels.tweet, prepend=-1) > 0)
    high = int((labels.priority >= _HIGH).sum())
    for number, names in ((high, PRIORITIES[_HIGH:]), (len(labels.tweet) - high, PRIORITIES[:_HIGH])):
        if not number:
            raise HostVisibleError(
                f"the solution has no tweet of priority {' or '.join(names)}, so accumulated_alert_worth is "
                "undefined."
            )
    tweets, tweet = np.unique(labels.tweet, return_inverse=True)
    events, event = np.unique(labels.event, return_inverse=True)
    tweet_ids = [given.tweet_ids[number] for number in tweets.tolist()]
    used = int(np.bitwise_or.reduce(labels.types))
    if parameters.measure.startswith(("priority_mse", "priority_rmse")) and not (
        used & _ACTIONABLE if parameters.measure.endswith("actionable") else used
    ):
        raise HostVisibleError(
            f"no tweet of the solution has a type that counts, so {parameters.measure} is undefined."
        )
    return PreparedSolution(
        given=given,
        parameters=parameters,
        tweet_ids=tweet_ids,
        event_ids=[given.event_ids[number] for number in events.tolist()],
        tweet_numbers={text: number for number, text in enumerate(tweet_ids)},
        labels=labels._replace(tweet=tweet, event=event),
    )


# ---------------------------------------------------------------------------------------------
# From run to visits
# ---------------------------------------------------------------------------------------------


def _rows_that_count(run: Run, tweet: Ints, prepared: PreparedSolution) -> Ints:
    """The row of the run for each tweet of the solution, (n,), -1 where there is none.

    Parameters
    ----------
    tweet : (m,) int
        The number of each row's tweet in the solution, -1 where it has no label.
    """
    rows = np.flatnonzero(tweet >= 0)
    if len(run.tweet_ids) < len(run.tweet):  # tweets in the lists of several events: the best row last
        own = _in_own_event(run, tweet[rows], rows, prepared)
        rows = rows[np.lexsort((-run.event[rows], -run.rank[rows], own))]
    row = np.full(len(prepared.tweet_ids), -1)
    row[tweet[rows]] = rows
    return row


def _in_own_event(run: Run, tweet: Ints, rows: Ints, prepared: PreparedSolution) -> Bools:
    """Whether rows of the run name the event that their tweet has in the solution."""
    number = {text: position for position, text in enumerate(prepared.event_ids)}
    named = np.append(_numbers(run.event_ids, number), -1)[run.event[rows]]
    own: Bools = named == prepared.labels.event[tweet]
    return own


def _scores(scores: Floats, normalize: bool) -> Floats:
    """The scores of a run, scaled to 0 … 1 by their minimum and maximum if asked for; equal ones become 0."""
    if not normalize or not len(scores):
        return scores
    halves = scores / 2  # whose differences do not overflow
    lowest, span = halves.min(), np.ptp(halves)
    return (halves - lowest) / span if span > 0 else np.zeros(len(scores))


def _visit(prepared: PreparedSolution, run: Run, row: Ints) -> Visits:
    """Visit every labelled tweet; `row` is that of `_rows_that_count`."""
    parameters, labels = prepared.parameters, prepared.labels
    rank = np.append(run.rank, np.inf)[row]
    # Labels are in the order of ids, and the sort is stable: so ids break ties.
    order = np.lexsort((rank, labels.event))
    labels, row = labels.take(order), row[order]
    score = np.append(_scores(run.score, parameters.normalize_priority), LOWEST_PRIORITY)[row]
    types = np.append(run.types, 0)[row]
    important = labels.priority >= _HIGH
    alert = (row >= 0) & (score >= parameters.alert_threshold)
    delta = false_alerts_before(labels.event, important, alert)
    actionable_score, other_score = category_scores(types, labels.types, parameters.actionable_weight)
    worth = tweet_worth(important, alert, delta, actionable_score + other_score, parameters.alert_gain)
    return Visits(
        tweet=labels.tweet,
        event=labels.event,
        row=row,
        rank=rank[order],
        score=score,
        priority=labels.priority,
        true_types=labels.types,
        run_types=types,
        alert=alert,
        delta=delta,
        actionable_score=actionable_score,
        other_score=other_score,
        worth=np.where(row >= 0, worth, 0.0),
    )


# ---------------------------------------------------------------------------------------------
# Alerting [4]
# ---------------------------------------------------------------------------------------------


def false_alerts_before(event: Ints, important: Bools, alert: Bools) -> Ints:
    """δ: the false alerts in the same event since its last true alert, before each tweet [4.1].

    The false alerts so far never grow fewer, so how many there were at the last reset is a running maximum.

    Parameters
    ----------
    event : (n,) int, the tweets of an event next to each other, in the order of their visit
    important : (n,) bool, labelled High or Critical
    alert : (n,) bool

    Returns
    -------
    (n,) int

    Examples
    --------
    Three false alerts, a true one, another false one; then a new event:

    >>> event = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    >>> important = np.array([False, False, False, True, False, False, False, False])
    >>> false_alerts_before(event, important, np.ones(8, dtype=bool)).tolist()
    [0, 1, 2, 3, 0, 1, 0, 1]
    """
    false_alert = alert & ~important
    so_far: Ints = np.cumsum(false_alert) - false_alert
    reset = np.diff(event, prepend=-1) != 0
    reset[1:] |= (alert & important)[:-1]
    at_reset = np.maximum.accumulate(np.where(reset, so_far, 0))
    delta: Ints = so_far - at_reset
    return delta


def category_scores(
    run_types: Ints, true_types: Ints, actionable_weight: float = 0.75
) -> tuple[Floats, Floats]:
    """ActCScore and NActCScore: the Jaccard indices of actionable and of other types, weighted (2) (3) (4).

    Parameters
    ----------
    run_types, true_types : (n,) int
        Sets of types, as `parse_types` returns them.
    actionable_weight : float in [0, 1]
        λ.

    Returns
    -------
    actionable_score, other_score : (n,) float
        γ and 1 - γ times the Jaccard index, 0/0 being 0; γ is λ where there is a true actionable type, else 0.

    Examples
    --------
    One of two actionable types, and the only other type; a tweet without actionable types:

    >>> true, _ = parse_types(["SearchAndRescue MovePeople News", "News"])
    >>> run, _ = parse_types(["SearchAndRescue News", "News Hashtags"])
    >>> actionable_score, other_score = category_scores(run, true)
    >>> actionable_score.tolist(), other_score.tolist()
    ([0.375, 0.0], [0.25, 0.5])
    """
    weight = np.where(true_types & _ACTIONABLE, actionable_weight, 0.0)
    return (
        weight * _jaccard(run_types & _ACTIONABLE, true_types & _ACTIONABLE),
        (1 - weight) * _jaccard(run_types & ~_ACTIONABLE, true_types & ~_ACTIONABLE),
    )


def _jaccard(a: Ints, b: Ints) -> Floats:
    """|A ∩ B| / |A ∪ B| of sets of types, 0 if both are empty; (n,)."""
    common, all_ = np.bitwise_count(a & b), np.bitwise_count(a | b)
    share: Floats = np.divide(common, all_, out=np.zeros(len(a)), where=all_ > 0)
    return share


def tweet_worth(
    important: Bools, alert: Bools, delta: Ints, category_score: Floats, alert_gain: float = 0.3
) -> Floats:
    """highPriorityWorth of important tweets (1), lowPriorityWorth of the others (5).

    Parameters
    ----------
    important, alert : (n,) bool
    delta : (n,) int
        δ when the tweet is visited.
    category_score : (n,) float in [0, 1]
        ActCScore + NActCScore.
    alert_gain : float in [0, 1]
        α.

    Returns
    -------
    (n,) float in [-1, 1]

    Examples
    --------
    A true alert with no type right, a missed one, the third false alert in a row, a tweet rightly left alone:

    >>> important, alert = np.array([True, True, False, False]), np.array([True, False, True, False])
    >>> tweet_worth(important, alert, np.array([0, 0, 2, 0]), np.array([0, 1, 1, 0.5])).round(3).tolist()
    [0.3, -1.0, -0.301, 0.5]
    """
    true_alert = alert_gain + (1 - alert_gain) * category_score
    false_alert = np.maximum(0.0 - np.log10(delta / 2 + 1), -1.0)
    return np.where(important, np.where(alert, true_alert, -1.0), np.where(alert, false_alert, category_score))


# ---------------------------------------------------------------------------------------------
# Information feed, prioritisation, and the measures [4.5, 5, 6]
# ---------------------------------------------------------------------------------------------


def _sums_by_event(visits: Visits, events: int) -> Sums:
    """What the measures need of each event."""

    def total(rows: Ints | Bools, values: Floats | None = None) -> Floats:
        # bincount adds one after the other, in the order of the visits: the sums are reproducible.
        weights = None if values is None else values[rows]
        return np.bincount(visits.event[rows], weights, minlength=events).astype(np.float64)

    important, squared_error = visits.important, visits.squared_error
    of_types = []
    for bit in range(len(INFORMATION_TYPES)):
        rows = np.flatnonzero((visits.true_types | visits.run_types) >> bit & 1)
        true, said = ((types[rows] >> bit & 1).astype(bool) for types in (visits.true_types, visits.run_types))
        counts = [total(rows[true & said]), total(rows[said & ~true]), total(rows[true & ~said])]
        of_types.append([*counts, total(rows[true], squared_error)])
    tp, fp, fn, squared_errors = np.moveaxis(np.array(of_types), 0, -1)
    return Sums(
        high=total(important),
        low=total(~important),
        high_worth=total(important, visits.worth),
        low_worth=total(~important, visits.worth),
        tp=tp,
        fp=fp,
        fn=fn,
        squared_error=squared_errors,
    )


def _total(sums: Sums) -> Sums:
    """The sums over all events."""
    return Sums(*(values.sum(axis=0) for values in sums))


def _measures(sums: Sums) -> dict[str, Floats]:
    """All `MEASURES` from their sums, of shape (...) each; NaN where undefined."""
    high = _ratio(sums.high_worth, sums.high)
    low = _ratio(sums.low_worth, sums.low)
    f1, mse = _type_f1(sums), _type_mse(sums)
    mse_actionable, mse_all = _mean_of_defined(mse[..., _IS_ACTIONABLE]), _mean_of_defined(mse)
    measures = {
        "accumulated_alert_worth": (high + low) / 2,
        "high_priority_worth": high,
        "low_priority_worth": low,
        "info_type_f1_actionable": f1[..., _IS_ACTIONABLE].mean(axis=-1),
        "info_type_f1_all": f1.mean(axis=-1),
        "info_type_accuracy_all": _type_accuracy(sums).mean(axis=-1),
        "priority_mse_actionable": mse_actionable,
        "priority_mse_all": mse_all,
        "priority_rmse_actionable": np.sqrt(mse_actionable),
        "priority_rmse_all": np.sqrt(mse_all),
    }
    return {name: measures[name] for name in MEASURES}


def _type_f1(sums: Sums) -> Floats:
    """F1 = 2TP / (2TP + FP + FN) of each type, 0 where undefined; (..., types)."""
    f1 = _ratio(2 * sums.tp, 2 * sums.tp + sums.fp + sums.fn)
    return np.where(np.isnan(f1), 0.0, f1)


def _type_accuracy(sums: Sums) -> Floats:
    """Share of the tweets on which run and assessors agree, of each type; (..., types)."""
    tweets = np.asarray(sums.high + sums.low)[..., np.newaxis]
    return _ratio(tweets - sums.fp - sums.fn, tweets)


def _type_mse(sums: Sums) -> Floats:
    """Mean squared error of the priority of each type's tweets, NaN where there are none; (..., types)."""
    return _ratio(sums.squared_error, sums.tp + sums.fn)


def _mean_of_defined(values: Floats) -> Floats:
    """Mean over the last axis of what is not NaN; NaN where nothing is left."""
    defined = ~np.isnan(values)
    return _ratio(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """numerator / denominator, NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient


# ---------------------------------------------------------------------------------------------
# Traces of a ranking, in text
# ---------------------------------------------------------------------------------------------


def _delta_trace(delta: Ints) -> str:
    """δ along a ranking: of each stretch the tenths of worth that a false alert costs where δ is highest.

    >>> _delta_trace(np.array([0, 0, 1, 2, 4, 8, 17, 18, 30, 0]))
    '0013469XX0'
    """
    highest = np.maximum.reduceat(delta, _stretches(len(delta))) if len(delta) else delta
    cost = np.minimum(np.log10(highest / 2 + 1), 1.0)
    return "".join("0123456789X"[tenths] for tenths in np.floor(10 * cost).astype(int).tolist())


def _worth_trace(accumulated: Floats) -> str:
    """Accumulated worth along a ranking, at the end of each stretch: 0 at its lowest, 9 at its highest."""
    if not len(accumulated):
        return ""
    ends = np.append(_stretches(len(accumulated))[1:], len(accumulated)) - 1
    height = accumulated[ends] - min(accumulated.min(), 0.0)
    span = max(accumulated.max(), 0.0) - min(accumulated.min(), 0.0)
    return "".join(str(round(9 * share)) for share in (height / span if span > 0 else height).tolist())


def _stretches(length: int) -> Ints:
    """Where the stretches begin into which a trace divides a ranking."""
    width = min(length, TRACE_WIDTH)
    return np.arange(width) * length // width
