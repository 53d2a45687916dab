"""The TREC Incident Streams V2 metrics, as one file to upload to Kaggle.

Numbers in brackets are equations and sections of the memo that ``score`` names.  The stages, in the order of
the data:

    input                        prepare, Prepared.read
    visits           [4.1]       rows_that_count, Prepared.visit, false_alerts_before (δ)
    alerting         (1) … (5)   high_priority_worth, act_c_score, n_act_c_score, gamma, low_priority_worth
    sums of events   [4.5, 5]    count_events
    measures         (6) [5, 6]  accumulated_alert_worth, f1_of_each, accuracy_of_each, mse_of_each

    high_priority_worth, low_…   mean worth (1), (5) of the tweets labelled High or Critical, Low or Medium
    accumulated_alert_worth      the mean of these two (6)
    info_type_…                  F1 or accuracy of a type over all tweets, averaged over all 25 types or the 6
                                 actionable ones
    priority_mse_…, …_rmse_…     mean square of label - score over a type's tweets, averaged over the types that
                                 occur (what Table 1 heads "RMSE"), and its root

Where the memo is silent or contradicts itself, this file decides:

* Low and Medium tweets without an alert are worth what their types are (5), whatever 4.2 says.  A perfect run
  can miss 1: a tweet of actionable types alone is worth 0.3 + 0.7·0.75.
* F1 is 2TP / (2TP + FP + FN), whatever section 5 says; 0 of a type neither labelled nor predicted.
* The logarithm of (5) has base 10, its argmax is a max.  δ counts the false alerts before the tweet.
* Tweets are visited event by event, by rank, ties by tweet id as text; the order of rows never counts.
* A tweet's event is the solution's.  Of a tweet in several lists that row counts whose list has this event's
  name, else shares most tweets with it, else ranks it best.
* Tweets without a label are ignored.  One that the run lacks has no types, the priority 0.25 and the worth 0.
* A type that no assessor used has no priority error.
* `normalize_priority` looks at all rows of the run.
* Repeated types count once.  Short names ("SearchAndRescue") and those of 2018 ("PastNews") are known.
* A tweet twice in the solution counts once, in the first of its events as text; its labels must not differ.
* Only the measure asked for must be defined by the solution.
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

__all__ = ["HostVisibleError", "ParticipantVisibleError", "Prepared", "higher_is_better", "prepare", "score"]

__version__ = "2.0.0"

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

LONGEST_MESSAGE = 280  # Kaggle cuts the rest
ROWS_SHOWN = 3
CHARACTERS_SHOWN = 40

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


# ---- Errors ----------------------------------------------------------------------------------------------


class ParticipantVisibleError(Exception):
    """The submission is wrong; Kaggle shows the text."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong; the host sees it."""


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

    A tweet is an alert if its priority score is at least `alert_threshold`.  Labelled High or Critical, it is
    worth α + (1 - α)·C if it is an alert, else -1; Low or Medium, C if it is no alert, else max(-log10(δ/2 +
    1), -1) with δ false alerts since the last true one in its event.  C is γ times the Jaccard index of
    actionable types plus 1 - γ times that of the others; γ is λ if the assessor chose an actionable type,
    else 0, and 0/0 is 0.  The score is the mean of the two groups' means.

    Parameters
    ----------
    solution : DataFrame, one row per labelled tweet
        `row_id_column_name`; ``event_id``; ``priority``: Low, Medium, High or Critical; ``categories``: the
        information types separated by spaces, maybe none.
    submission : DataFrame, one row per tweet
        `row_id_column_name`; ``rank`` in the event's list, a whole number from 0; ``priority``, a score;
        ``categories`` (for none a space, as Kaggle rejects empty cells); maybe ``event_id``.
    row_id_column_name : str
        The tweets' ids, compared as text.
    measure : str
        One of `MEASURES`; of the errors of the priority less is better.
    actionable_weight : float in [0, 1]
        λ.
    alert_gain : float in [0, 1]
        α.
    alert_threshold : float
    normalize_priority : bool
        Scale the scores to 0 … 1 first; equal ones become 0.

    Returns
    -------
    float
        Worths from -1 to 1, others from 0 to 1.

    Raises
    ------
    ParticipantVisibleError
        The submission is malformed, or has no tweet of the solution, of which nothing else is told.
    HostVisibleError
        The solution is malformed, a parameter is out of range, or the measure undefined.

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


def higher_is_better(measure: str = "accumulated_alert_worth", **_: object) -> bool:
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
    """A solution, checked and digested once to score many submissions.

    Parameters and the `HostVisibleError` are those of `score`.
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
    event, event_ids = _sorted(*table.texts("event_id"))
    priority, types = read_priorities(table), read_categories(table)
    rows = pd.DataFrame({"event": event, "priority": priority, "types": types})
    differs = (rows != rows.groupby(tweet).transform("first"))[["priority", "types"]].any(axis=1).to_numpy()
    expected = "the same priority and categories in every row of a tweet"
    table.check(row_id_column_name, differs, lambda row: "labelled otherwise in an earlier row", expected)
    truths = rows.groupby(tweet).min()  # its rows differ by event at most
    truths["important"] = truths["priority"] >= PRIORITIES["High"]
    events, truths["event"] = np.unique(truths["event"], return_inverse=True)
    prepared = Prepared(
        items=[event_ids[number] for number in events.tolist()],
        item_of_row=truths["event"].to_numpy()[tweet],
        labels=[("(all)", "(all)")],
        groups=np.zeros((1, len(events)), dtype=np.int64),
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


@dataclass(frozen=True, eq=False)
class Prepared:
    """A solution, checked and digested by `prepare`.

    The columns of `truths`, one row per tweet id, are event (index into `items`), priority (a number of
    `PRIORITIES`), types (a set, as an integer) and important (labelled High or Critical).
    """

    items: list[str]
    item_of_row: Ints
    labels: list[tuple[str, str]]
    groups: Ints
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
        return ["score", *MEASURES]

    def read(self, submission: pd.DataFrame) -> pd.DataFrame:
        """rank, score, types, tweet (of `tweet_ids` or -1), event (code or -1), named (of `items` or -1)."""
        table = _Table(submission, "the submission", self.row_id_column_name, ParticipantVisibleError)
        table.check_columns("rank", "priority", "categories")
        codes, tweet_ids = read_tweet_ids(table)
        event, event_ids = np.full(len(codes), -1), list[str]()
        if "event_id" in submission:
            table.check_columns("event_id")
            event, event_ids = _sorted(*_factorize(submission["event_id"]))
        again = pd.Series(codes * (len(event_ids) + 1) + event).duplicated().to_numpy()
        expected = f"each tweet once{' in the list of an event' if event_ids else ''}"
        table.check(self.row_id_column_name, again, lambda row: "already there", expected)
        run = pd.DataFrame({"rank": read_ranks(table), "score": read_scores(table, self.normalize_priority)})
        run["types"] = read_categories(table)
        tweet = _positions(tweet_ids, self.tweet_ids)[codes]
        nowhere, expected = np.full(len(tweet), (tweet < 0).all()), "at least one tweet of the test set"
        table.check(self.row_id_column_name, nowhere, lambda row: "not in the test set", expected)
        return run.assign(
            tweet=tweet, event=event, named=np.append(_positions(event_ids, self.items), -1)[event]
        )

    def visit(self, run: pd.DataFrame) -> pd.DataFrame:
        """`truths` by event and rank, what the run lacks last, with the worth and what it comes from [4.1]."""
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
        return count_events(self.visit(self.read(submission)), len(self.items))

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """The measures, (..., 11), of sums of statistics, (..., 1, 104); NaN where undefined."""
        values = all_measures(np.asarray(sums, dtype=np.float64)[..., 0, :])
        return np.stack([values[self.measure], *values.values()], axis=-1)


# ---- Input -----------------------------------------------------------------------------------------------


def read_tweet_ids(table: "_Table") -> tuple[Ints, list[str]]:
    """Codes of the tweets' ids and the distinct ids; none is blank or rounded."""
    codes, texts = table.texts(table.row_id)
    column = table.frame[table.row_id]
    if pd.api.types.infer_dtype(column) not in ("string", "integer"):
        rounded = [isinstance(cell, float) and abs(cell) >= FLOAT_DIGITS_END for cell in column.astype(object)]
        found = "a floating-point number, which rounds it"
        table.check(table.row_id, np.array(rounded), lambda row: found, "ids as text or whole numbers")
    return codes, texts


def read_priorities(table: "_Table") -> Floats:
    codes, texts = table.texts("priority")
    numbers = np.array([PRIORITIES.get(text, np.nan) for text in texts])[codes]
    expected = f"one of {', '.join(PRIORITIES)}"
    table.check("priority", np.isnan(numbers), lambda row: _quoted(texts[codes[row]]), expected)
    return numbers


def read_categories(table: "_Table") -> Ints:
    codes, cells = _factorize(table.frame["categories"])
    types, unknown = parse_types(cells)
    wrong = np.array([*map(bool, unknown), False])[codes]
    expected = "names of information types, full or short, separated by spaces, such as 'Report-News Advice'"
    table.check("categories", wrong, lambda row: f"{_quoted(unknown[codes[row]])} is none", expected)
    return np.append(types, 0)[codes]


def parse_types(cells: list[str]) -> tuple[Ints, list[str]]:
    """The set of types that each cell names, and the first name in it that is none."""
    types, unknown = np.zeros(len(cells), dtype=np.int64), [""] * len(cells)
    for number, cell in enumerate(cells):
        for name in _WORD.finditer(cell):  # unlike split(), needs no memory for a long cell
            if name.group() not in _BIT_OF_NAME:
                unknown[number] = name.group()
                break
            types[number] |= _BIT_OF_NAME[name.group()]
    return types, unknown


def read_ranks(table: "_Table") -> Floats:
    rank = _numbers(table.frame["rank"])
    whole = (rank >= 0) & (rank == np.floor(rank)) & np.isfinite(rank)
    expected = "the position in the event's list, a whole number from 0"
    table.check("rank", ~whole, table.cell_of("rank"), expected)
    return rank


def read_scores(table: "_Table", normalize: bool) -> Floats:
    """The priority score of each row, scaled if asked for."""
    scores = _numbers(table.frame["priority"])
    table.check("priority", ~np.isfinite(scores), table.cell_of("priority"), "a finite number")
    if not normalize or not len(scores):
        return scores
    halves = scores / 2  # whose differences do not overflow
    lowest, span = halves.min(), np.ptp(halves)
    return (halves - lowest) / span if span > 0 else np.zeros(len(scores))


class _Table(NamedTuple):
    """A frame and how its faults are told."""

    frame: pd.DataFrame
    name: str
    row_id: str
    error: type[Exception]

    def check_columns(self, *required: str) -> None:
        if not isinstance(self.frame, pd.DataFrame):
            raise HostVisibleError(f"{self.name}: expected a DataFrame, found {type(self.frame).__name__}")
        required = tuple(dict.fromkeys((self.row_id, *required)))
        names = list(self.frame.columns)
        lacking = [_short(name) for name in required if name not in names]
        if lacking:
            head = f"{self.name}: expected the columns {_listed(lacking, len(lacking), 120)} too. It has "
            found = [_short(name) for name in names]
            raise self.error(head + (_listed(found, len(found), LONGEST_MESSAGE - len(head)) or "none"))
        for name in required:
            if names.count(name) > 1:
                raise self.error(f"{self.name}: expected one column {_short(name)}, found {names.count(name)}")
        ids = self.frame[self.row_id]
        # Else pandas fails for Decimal("sNaN").
        missing = ids.map(_is_missing) if ids.dtype == object else ids.isna()
        self.check(self.row_id, missing.to_numpy(dtype=bool), lambda row: "missing", "an id in every row")

    def check(self, column: str, wrong: npt.ArrayLike, found: Callable[[int], str], expected: str) -> None:
        """No rows may be `wrong`; `found` says what is in one."""
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        ids = self.frame[self.row_id]
        shown = []
        for row in rows[:ROWS_SHOWN].tolist():
            row_id = ids.iloc[row]
            is_named = not _is_missing(row_id)
            name = f"{_short(self.row_id)} {_short(row_id)}" if is_named else f"row number {row + 1}"
            shown.append(f"{name} ({found(row)})")
        head = f"{_short(column)}: expected {expected}. Wrong in {_counted(len(rows), 'row')} of {self.name}: "
        raise self.error(head + _listed(shown, len(rows), LONGEST_MESSAGE - len(head)))

    def texts(self, column: str) -> tuple[Ints, list[str]]:
        """Codes of a column's texts and the distinct texts; none may be missing or blank."""
        codes, texts = _factorize(self.frame[column])
        self.check(column, codes < 0, lambda row: "missing", "a value in every row")
        return codes, texts

    def cell_of(self, column: str) -> Callable[[int], str]:
        cells = self.frame[column]
        return lambda row: "missing" if _is_missing(cells.iloc[row]) else _quoted(cells.iloc[row])


def _factorize(column: pd.Series) -> tuple[Ints, list[str]]:
    """Codes of a column's texts, -1 where missing or blank, and the distinct texts."""
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
        # Text first: pandas takes False for 0 and has no place for a list.
        column = pd.Series([None if _is_missing(value) else _as_text(value) for value in column], dtype=object)
    codes, distinct = pd.factorize(column)
    number: dict[str, int] = {}
    code_of_value = [
        number.setdefault(text, len(number)) if text.strip() else -1
        for text in map(_as_text, distinct.tolist())
    ]
    return np.array([*code_of_value, -1], dtype=np.int64)[codes], list(number)


def _numbers(column: pd.Series) -> Floats:
    """A column as floats, NaN for what is no real number."""
    if pd.api.types.is_numeric_dtype(column.dtype) and column.dtype.kind != "c":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.array([_number(value) for value in column.astype(object)], dtype=np.float64)


def _number(value: object) -> float:
    if not isinstance(value, str | int | float | np.bool_ | np.integer | np.floating | Decimal):
        return np.nan
    if isinstance(value, str) and (not value.isascii() or "_" in value):  # which Python would read
        return np.nan
    try:
        return float(value)
    except (OverflowError, ValueError):
        return np.nan


def _is_missing(value: object) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or value is pd.NA or value is pd.NaT


def _as_text(value: object) -> str:
    """The same whether a CSV reader took it for text, int or float."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    # Python writes no more than 4,300 digits.
    return f"{value:x}" if isinstance(value, int) and value.bit_length() > 14_000 else str(value)


def _short(value: object) -> str:
    text = repr(_as_text(value)[: CHARACTERS_SHOWN + 1])[1:-1]
    return text if len(text) <= CHARACTERS_SHOWN else text[:CHARACTERS_SHOWN] + "…"


def _quoted(value: object) -> str:
    return f"'{_short(value)}'"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(items: Sequence[str], total: int, room: int) -> str:
    """As many items as fit, and how many more there are."""
    for number in range(len(items), 0, -1):
        more = f" and {total - number:,} more" if total > number else ""
        text = ", ".join(items[:number])
        if len(text) + len(more) <= room:
            return text + more
    return f"{text[: room - len(more) - 1]}…{more}" if items else ""


def _check_parameter(
    name: str,
    value: object,
    kind: type[str | float],
    fits: Callable[[Any], bool] = lambda value: True,
    wanted: str = "",
) -> None:
    kinds = {float: (int, float, np.integer, np.floating), bool: (bool, np.bool_), str: (str,)}[kind]
    if not isinstance(value, kinds) or (kind is float and isinstance(value, bool)) or not fits(value):
        expected = {str: "text", bool: "True or False", float: f"a number {wanted}"}[kind]
        raise HostVisibleError(f"{name}: expected {expected}, found {type(value).__name__} {_quoted(value)}")


def _sorted(codes: Ints, texts: list[str]) -> tuple[Ints, list[str]]:
    """Codes of texts, and the texts, in order; code -1 stays."""
    ordered = sorted(texts)
    return np.append(_positions(texts, ordered), -1)[codes], ordered


def _positions(texts: list[str], among: list[str]) -> Ints:
    """The position of each text among others, or -1."""
    position = {text: number for number, text in enumerate(among)}
    return np.array([position.get(text, -1) for text in texts], dtype=np.int64)


# ---- Visits [4.1] ----------------------------------------------------------------------------------------


def rows_that_count(run: pd.DataFrame, truths: pd.DataFrame) -> Ints:
    """The row of the run for each of the solution's tweets, -1 for none."""
    rows = run[run["tweet"] >= 0]
    if rows["tweet"].duplicated().any():  # tweets in the lists of several events: the best last
        of_tweet = truths["event"].to_numpy()[rows["tweet"]]
        shared = rows.groupby(["event", of_tweet])["tweet"].transform("size").where(rows["event"] >= 0, 0)
        shared[rows["named"] == of_tweet] = len(rows) + 1
        rows = rows.iloc[np.lexsort((-rows["event"], -rows["rank"], shared))]
    row = np.full(len(truths), -1)
    row[rows["tweet"]] = rows.index
    return row


def false_alerts_before(event: Ints, important: Bools, alert: Bools) -> Ints:
    """δ: the false alerts in the same event since its last true alert, before each tweet visited [4.1]."""
    # Alerts so far never grow fewer: at the last reset they were the running maximum.
    false_alert = alert & ~important
    so_far: Ints = np.cumsum(false_alert) - false_alert
    reset = np.diff(event, prepend=-1) != 0
    reset[1:] |= (alert & important)[:-1]
    at_reset = np.maximum.accumulate(np.where(reset, so_far, 0))
    delta: Ints = so_far - at_reset
    return delta


# ---- Alerting [4.3, 4.4] ---------------------------------------------------------------------------------


def high_priority_worth(alert: Bools, category_score: Floats, alert_gain: float = 0.3) -> Floats:
    """highPriorityWorth, where `category_score` is C (1)."""
    return np.where(alert, alert_gain + (1 - alert_gain) * category_score, -1.0)


def act_c_score(run_types: Ints, true_types: Ints, weight: Floats) -> Floats:
    """ActCScore: `weight`, γ, times the Jaccard index of the actionable types (2)."""
    return weight * jaccard(run_types & _ACTIONABLE, true_types & _ACTIONABLE)


def n_act_c_score(run_types: Ints, true_types: Ints, weight: Floats) -> Floats:
    """NActCScore: 1 - γ times the Jaccard index of the other types (3)."""
    return (1 - weight) * jaccard(run_types & ~_ACTIONABLE, true_types & ~_ACTIONABLE)


def gamma(true_types: Ints, actionable_weight: float = 0.75) -> Floats:
    """γ: λ where the assessor chose an actionable type, else 0 (4)."""
    return np.where(true_types & _ACTIONABLE, actionable_weight, 0.0)


def jaccard(a: Ints, b: Ints) -> Floats:
    """0 if both are empty."""
    return np.nan_to_num(_ratio(np.bitwise_count(a & b), np.bitwise_count(a | b)))


def low_priority_worth(alert: Bools, category_score: Floats, delta: Ints) -> Floats:
    """lowPriorityWorth (5)."""
    return np.where(alert, np.maximum(0.0 - np.log10(delta / 2 + 1), -1.0), category_score)


# ---- Sums of events [4.5, 5] -----------------------------------------------------------------------------


def count_events(visits: pd.DataFrame, events: int) -> Floats:
    """Per event number and worth of important tweets, of others; by type TP, FP, FN and error."""
    true, said = set_members(visits["types"]), set_members(visits["run_types"])
    high, event = visits["important"].to_numpy()[:, np.newaxis], visits["event"].to_numpy()
    one, worth, squared_error = np.ones(len(visits)), visits["worth"], visits["squared_error"]

    def total(which: Bools, values: npt.ArrayLike) -> Floats:
        # bincount adds one after the other: the sums are reproducible.
        row, kind = np.nonzero(which)
        cell, cells = event[row] * which.shape[1] + kind, events * which.shape[1]
        sums: Floats = np.bincount(cell, np.asarray(values)[row], minlength=cells).astype(np.float64)
        return sums.reshape(events, -1)

    of_groups = [total(which, values) for which in (high, ~high) for values in (one, worth)]
    of_types = [total(which, one) for which in (true & said, said & ~true, true & ~said)]
    return np.concatenate([*of_groups, *of_types, total(true, squared_error)], axis=1)


def set_members(types: npt.ArrayLike) -> Bools:
    """Which types are in each set, (n, types)."""
    of_bytes = np.asarray(types, dtype="<u4").view(np.uint8).reshape(-1, 4)
    return np.unpackbits(of_bytes, axis=1, count=len(INFORMATION_TYPES), bitorder="little").view(np.bool_)


# ---- Measures [4.5, 5, 6] --------------------------------------------------------------------------------


def accumulated_alert_worth(high_worth: Floats, low_worth: Floats) -> Floats:
    """AAW (6)."""
    return (high_worth + low_worth) / 2


def f1_of_each(tp: Floats, fp: Floats, fn: Floats) -> Floats:
    """F1 = 2TP / (2TP + FP + FN) of each type, 0 where undefined [5]."""
    return np.nan_to_num(_ratio(2 * tp, 2 * tp + fp + fn))


def accuracy_of_each(fp: Floats, fn: Floats, tweets: Floats) -> Floats:
    """Share of the tweets without dissent [5]."""
    return _ratio(tweets[..., np.newaxis] - fp - fn, tweets[..., np.newaxis])


def mse_of_each(squared_error: Floats, tp: Floats, fn: Floats) -> Floats:
    """Mean squared error of each type's tweets, NaN where there are none [6]."""
    return _ratio(squared_error, tp + fn)


def all_measures(sums: Floats) -> dict[str, Floats]:
    """All `MEASURES`, (...) each, of sums of statistics, (..., 104)."""
    high_count, high_worths, low_count, low_worths = np.moveaxis(sums[..., :4], -1, 0)
    tp, fp, fn, squared_error = np.split(sums[..., 4:], 4, axis=-1)
    high, low = _ratio(high_worths, high_count), _ratio(low_worths, low_count)
    f1, mse = f1_of_each(tp, fp, fn), mse_of_each(squared_error, tp, fn)
    accuracy = accuracy_of_each(fp, fn, high_count + low_count)
    worths = [accumulated_alert_worth(high, low), high, low]
    feed = [f1[..., IS_ACTIONABLE].mean(axis=-1), f1.mean(axis=-1), accuracy.mean(axis=-1)]
    errors = [mean_of_defined(mse[..., IS_ACTIONABLE]), mean_of_defined(mse)]
    roots = [np.sqrt(np.maximum(error, 0.0)) for error in errors]  # maybe just below 0
    return dict(zip(MEASURES, [*worths, *feed, *errors, *roots], strict=True))


def mean_of_defined(values: Floats) -> Floats:
    """Mean over the last axis of what is not NaN."""
    defined = ~np.isnan(values)
    return _ratio(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))


def _ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator))
    quotient: Floats = np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)
    return quotient
