"""The companion of the TREC-IS metrics: the track's files, files for Kaggle, and what became of every tweet.

The functions and the class are the members of `companion`, which `podium.metric.contract.Companion` describes.
"""

import dataclasses
import functools
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.errors import HostError, SubmissionRejected, ToolError, UsageError
from podium.common.wording import counted, listed
from podium.metric import contract, guard, hosted
from podium.metric.contract import Companion, PreparedSolution, ScoredSubmission
from podium.scoring.explain import ratio
from podium.tables.files import parse_json, read_lines, read_text

from . import metric

TEXT_COLUMNS = ("tweet_id", "event_id", "event_number", "categories", "text", "runtag")

# The track's scripts print a row for a LaTeX table. These are its columns, in that order.
LATEX_ROW = {
    "AW-H": "high_priority_worth",
    "AW-A": "accumulated_alert_worth",
    "CF1-H": "info_type_f1_actionable",
    "CF1-A": "info_type_f1_all",
    "CAcc": "info_type_accuracy_all",
    "PErr-H": "priority_mse_actionable",
    "PErr-A": "priority_mse_all",
}

# What can become of a tweet, with the equation of its worth: (1) for tweets labeled High or Critical, (5) for
# tweets labeled Low or Medium. Tweets that the run lacks may be of either kind.
CASES = {"true alert": "(1)", "missed alert": "(1)", "false alert": "(5)", "no alert": "(5)", "missing": None}
ROWS = (
    "tweet_id event_id rank score priority true_types run_types case equation delta actionable_score "
    "other_score worth contribution accumulated_worth squared_error"
)
IGNORED = "ignored"

# The priorities, and the numbers between them.
LEVELS, BETWEEN = np.array([*metric.PRIORITIES], dtype=object), (0.375, 0.625, 0.875)

# What a run that is probably wrong has more than: shares of its rows, a correlation, and a gain in F1.
MOST, REVERSED, MUCH_BETTER = 0.5, 0.5, 0.1
FEW = 20  # tweets

EVENTS_SHOWN = 20
NAMES_SHOWN = 20
TOPICS = ".topics"
ENCODING = "iso-8859-1"  # some of the track's files are not in UTF-8

EXPECTED_LABELS = (
    "a label file of the track: JSON with events, their eventid and tweets, and for each tweet postID (text or "
    f"a whole number), a list of categories, and a priority: {', '.join(metric.PRIORITIES)}"
)
EXPECTED_RUN = 'lines such as: event Q0 tweet rank score ["Type-A","Type-B"] tag; or JSON objects, as in 2021'
LOST_DIGITS = "a floating-point number, in which digits are lost"
DIGITS_KEPT = 15  # of an id that spreadsheets and floating-point numbers have shortened
EXPONENT = re.compile(r"\d(?:\.\d+)?[eE]\+\d+")
EXPECTED_TWEETS = "one JSON object per line, with the id and the text of a tweet"


# ---- Official files --------------------------------------------------------------------------------------


class OfficialFileWarning(UserWarning):
    """Something in an official file was left out, united or filled in."""


def read_solution(path: str | Path) -> pd.DataFrame:
    """Read the track's label files of 2018 to 2021 as a solution.

    The rows of a repeated tweet are united, as in the scripts of 2021. The tweet gets all of its types, its
    highest priority and its first event. Events that were labeled in parts A to E, as in 2019-B, become one
    event again.
    """
    path = Path(path)
    datasets = _datasets(path if path.is_dir() else path.parent, HostError)
    tweets: dict[str, _Labeled] = {}
    unlisted = Counter[str]()
    for file in _files(path, "label files (.json)", lambda name: name.endswith(".json"), HostError):
        try:
            content = _parsed(read_text(file, HostError, ENCODING))
            if path.is_dir() and isinstance(content, dict) and "informationTypes" in content:
                continue
            for tweet in _labeled_tweets(content, datasets, unlisted):
                first = tweets.setdefault(tweet.tweet_id, tweet)
                if first is not tweet:
                    first.unite(tweet)
        except (AttributeError, KeyError, TypeError, ValueError) as fault:
            told = fault if isinstance(fault, ValueError) else "found another structure"
            raise HostError(f"{file.name}: expected {EXPECTED_LABELS}; {told}") from None
    if unlisted:
        left_out = listed([metric._short(name) for name in sorted(unlisted)], NAMES_SHOWN)
        number, known = counted(unlisted.total(), "annotation"), len(metric.INFORMATION_TYPES)
        _warn(f"annotations outside the {known} types were left out: {left_out} ({number})")
    events = [tweet.event_id for tweet in tweets.values()]
    parts = {event for event in set(events) if re.search(r"\d[A-E]$", event)}
    if parts:
        events_of_parts = ", ".join(sorted({part[:-1] for part in parts}))
        _warn(f"parts of events were united: {counted(len(parts), 'part')} of {events_of_parts}")
    events = [event[:-1] if event in parts else event for event in events]
    numbers = {dataset: number for number, dataset in datasets.items()}
    columns = {
        "tweet_id": list(tweets),
        "event_id": events,
        "priority": [tweet.priority for tweet in tweets.values()],
        "categories": _type_texts([tweet.types for tweet in tweets.values()]).tolist(),
        "text": [tweet.text for tweet in tweets.values()],
        "event_number": [numbers.get(event) for event in events],
    }
    for name in ("text", "event_number"):
        if not any(columns[name]):
            del columns[name]
    return pd.DataFrame(columns, dtype=object)


@dataclasses.dataclass
class _Labeled:
    """A labeled tweet."""

    tweet_id: str
    event_id: str
    priority: str
    types: int  # as a set of bits
    text: str | None

    def unite(self, other: "_Labeled") -> None:
        """Add what another row says of the same tweet."""
        self.priority = max(self.priority, other.priority, key=metric.PRIORITIES.__getitem__)
        self.types |= other.types
        self.text = self.text or other.text


def _labeled_tweets(content: Any, datasets: Mapping[str, str], unlisted: Counter[str]) -> Iterator[_Labeled]:
    """Read the tweets of a label file, and count names that are not types; a ValueError names a wrong tweet."""
    for event in content["events"]:
        event_id = str(event["eventid"])
        for position, tweet in enumerate(event["tweets"], 1):
            tweet_id, priority = _id(tweet["postID"]), tweet.get("priority", tweet.get("postPriority"))
            names = tweet.get("categories", tweet.get("postCategories"))
            if tweet_id is None or priority not in metric.PRIORITIES or not isinstance(names, list):
                where = f"tweet number {position} of event {metric._quoted(event_id)}"
                raise ValueError(f"{where} is {tweet!s:.200}")
            types = 0
            for name in names:
                types |= _bit_of(name)
                if not _bit_of(name):
                    unlisted[name] += 1
            text = tweet.get("text", tweet.get("postText"))
            text = text if isinstance(text, str) else None
            yield _Labeled(tweet_id, datasets.get(event_id, event_id), priority, types, text)


@functools.lru_cache(maxsize=4096)
def _bit_of(name: str) -> int:
    """The bit of the type that a name stands for, or 0 if it is not the name of a type."""
    return int(metric.parse_types([name])[0][0]) if name.split() == [name] else 0


def _id(value: Any) -> str | None:
    """An id in JSON as text; None if it is none, or a number that may have lost digits."""
    if isinstance(value, float) and value.is_integer() and abs(value) < metric.FLOAT_DIGITS_END:
        return str(int(value))
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def read_submission(path: str | Path) -> pd.DataFrame:
    """Read a run of the track of 2018 to 2021 as a submission.

    Runs until 2020 have lines of ``event Q0 tweet rank score ["Type-A","Type-B"] tag``. Runs of 2021 have a
    JSON object per line, with the topic, the tweet's id, its priority and 25 labels in the order of
    ``INFORMATION_TYPES``. Runs of 2021 have no ranks. So the tweets of a topic are ranked by descending
    priority, and tweets of the same priority by their place in the file.
    """
    path = Path(path)
    datasets = _datasets(path, SubmissionRejected) if path.is_dir() else {}
    rows: list[_Ranked] = []
    for file in _files(path, "files of a run", lambda name: not name.endswith(TOPICS), SubmissionRejected):
        rows += _run_lines(file)
    run = pd.DataFrame(rows, columns=list(_Ranked._fields))
    run["event_id"] = [datasets.get(line.event_id, line.event_id) for line in rows]
    for name in ("rank", "priority"):
        numbers = run[name].map(metric._number)
        if numbers.notna().all():
            run[name] = numbers
    if run["rank"].isna().any():
        scores = pd.to_numeric(run["priority"], errors="coerce").groupby(run["event_id"])
        order = scores.rank(method="first", ascending=False, na_option="bottom")
        run["rank"] = run["rank"].where(run["rank"].notna(), order)
    return run


class _Ranked(NamedTuple):
    """A line of a run."""

    tweet_id: str
    event_id: str
    rank: str | None  # None in the runs of 2021
    priority: str | float
    categories: str
    runtag: str


def _run_lines(file: Path) -> list[_Ranked]:
    """Read the lines of a file that is a run or a part of one."""
    lines: list[_Ranked] = read_lines(file, _ranked, EXPECTED_RUN, SubmissionRejected, ENCODING)
    if not lines:
        raise SubmissionRejected(f"{file.name}: expected {EXPECTED_RUN}. It has no lines")
    if len({line.rank is None for line in lines}) > 1:
        raise SubmissionRejected(f"{file.name}: expected lines of one form, found JSON and others")
    return lines


def _ranked(line: str) -> _Ranked:
    """Read a line in one of the two forms; a ValueError says what is wrong with it."""
    if line.lstrip().startswith("{"):
        return _ranked_of_2021(_parsed(line))
    fields = line.split(None, 5)
    if len(fields) < 6:
        raise ValueError(f"{counted(len(fields), 'field')}: {metric._quoted(line.strip())}")
    event, _, tweet, rank, score, rest = fields
    end = rest.find("]") + 1
    try:
        return _Ranked(tweet, event, rank, score, _types_in(rest[:end]), rest[end:].strip())
    except (ValueError, AttributeError):
        raise ValueError(f"no list of types after the score: {metric._quoted(rest.strip())}") from None


def _ranked_of_2021(entry: Any) -> _Ranked:
    """Read a JSON object of a run of 2021; a ValueError says what is wrong with it."""
    topic, tweet, priority, labels = map(entry.get, ("topic", "tweet_id", "priority", "info_type_labels"))
    topic, tweet = _id(topic), _id(tweet)
    if topic is None or tweet is None:
        raise ValueError(f"topic or tweet_id is missing, or {LOST_DIGITS}")
    if type(priority) not in (float, int):
        raise ValueError(f"the priority is {metric._quoted(priority)} instead of a number")
    known = len(metric.INFORMATION_TYPES)
    if type(labels) is not list or len(labels) != known or labels.count(0) + labels.count(1) != known:
        raise ValueError(f"info_type_labels is not a list of {known} numbers 0 or 1")
    tag = str(entry.get("runtag", ""))
    return _Ranked(tweet, topic, None, float(priority), _types_at(tuple(labels)), tag)


@functools.lru_cache(maxsize=4096)
def _types_in(literal: str) -> str:
    """The types that a list such as ["News", "Advice"] names, separated by spaces."""
    names = _parsed(literal.replace("'", '"'))
    if not isinstance(names, list) or any(name.split() != [name] for name in names):
        raise ValueError
    return " ".join(names)


@functools.lru_cache(maxsize=4096)
def _types_at(labels: tuple[int, ...]) -> str:
    """The types for which a run of 2021 has the label 1, separated by spaces."""
    return " ".join(itertools.compress(metric.INFORMATION_TYPES, labels))


def _files(path: Path, what: str, is_one: Callable[[str], bool], error: type[ToolError]) -> list[Path]:
    """The file itself, or those files of a folder that `is_one` accepts, ordered by name."""
    if not path.is_dir():
        return [path]
    files = [file for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith(".")]
    files = [file for file in files if is_one(file.name.removesuffix(".gz"))]
    if not files:
        raise error(f"{path}: expected {what} in the folder, found none")
    return files


def _datasets(folder: Path, error: type[ToolError]) -> dict[str, str]:
    """The dataset that each event's number stands for, from the topics files of a folder."""
    datasets: dict[str, str] = {}
    for file in sorted(folder.glob(f"*{TOPICS}*")):
        topics = re.findall(r"<top>(.*?)</top>", read_text(file, error, ENCODING), re.DOTALL)
        for topic in topics:
            fields = dict(re.findall(r"<(num|dataset)>\s*(\S*?)\s*</\1>", topic))
            if len(fields) == 2:
                datasets[fields["num"]] = fields["dataset"]
        if not topics:
            raise error(f"{file.name}: expected topics, <top> with <num> and <dataset>, found none")
    return datasets


def _parsed(text: str) -> Any:
    """The value that a text holds in JSON; a ValueError says what is wrong with it."""
    try:
        return parse_json(text)
    except ValueError as fault:
        raise ValueError(f"it is not JSON ({fault})") from None


def _warn(message: str) -> None:
    """Give an `OfficialFileWarning` on behalf of the public function."""
    warnings.warn(message, OfficialFileWarning, stacklevel=3)


def _type_texts(types: npt.ArrayLike) -> npt.NDArray[np.object_]:
    """The names of the types in each set, (n,), separated by spaces."""
    codes, distinct = pd.factorize(np.asarray(types))
    members = metric.set_members(np.asarray(distinct)).tolist()
    texts = [" ".join(itertools.compress(metric.INFORMATION_TYPES, of_set)) for of_set in members]
    named: npt.NDArray[np.object_] = np.array(texts, dtype=object)[codes]
    return named


# ---- Files for Kaggle ------------------------------------------------------------------------------------


def kaggle_submission(submission: pd.DataFrame, solution: pd.DataFrame) -> pd.DataFrame:
    """Turn a run into a submission that Kaggle accepts even where it requires the rows of the solution.

    The submission has one row per labeled tweet and no empty cell. A labeled tweet that the run lacks gets the
    last rank, the priority 0.25 and no types, as which it counts anyway.
    """
    row_id = _row_id(solution)
    loaded = hosted.load(metric.NAME)
    assert loaded.prepare is not None
    prepared: Any = loaded.prepare(solution, row_id, measure="info_type_f1_all")  # this one is always defined
    with guard.submission_given(loaded):
        run = prepared.read(submission)
    rows_by_tweet = pd.Series(metric.rows_that_count(run, prepared.truths), index=prepared.tweet_ids)
    row = rows_by_tweet[solution[row_id].map(metric._as_text)].to_numpy()
    if (row < 0).any():
        _warn(
            "labeled tweets that the run lacks became rows of priority 0.25 without types: "
            f"{counted(int((row < 0).sum()), 'tweet')}"
        )
    last = run["rank"].max() + 1 if len(run) else 1
    missing = pd.DataFrame({"rank": [last], "score": [metric.PRIORITIES["Low"]], "types": [0]})
    rows = pd.concat([run, missing]).iloc[row]  # row -1 is the last one
    return (
        solution[[row_id]]
        .assign(
            rank=rows["rank"].to_numpy(dtype=np.int64),
            priority=rows["score"].to_numpy(),
            categories=_type_texts(rows["types"]),
        )
        .replace({"categories": {"": " "}})
    )


def sample_submission(solution: pd.DataFrame) -> pd.DataFrame:
    """Make a submission that shows the form. Every tweet has the type Other-Irrelevant and the
    priority 0.5.
    """
    rank = solution.groupby("event_id", sort=False).cumcount() + 1
    return solution[[_row_id(solution)]].assign(rank=rank, priority=0.5, categories="Other-Irrelevant")


def perfect_submission(solution: pd.DataFrame) -> pd.DataFrame:
    """Make a submission of the labels. In each event, the tweets of the highest priority come first.

    Its accumulated alert worth can be less than 1, because an alert to a tweet that has only actionable types
    is worth 0.3 + 0.7·0.75.
    """
    priority = solution["priority"].map(metric.PRIORITIES)
    rank = priority.groupby(solution["event_id"]).rank(method="first", ascending=False).astype(int)
    return solution[[_row_id(solution), "categories"]].assign(rank=rank, priority=priority)


def _row_id(solution: pd.DataFrame) -> str:
    """The name of the first column; a HostError says which tweets it has more than once."""
    row_id = str(solution.columns[0])
    repeated = solution[row_id][solution[row_id].duplicated()]
    if len(repeated):
        repetitions = f"{counted(len(repeated), 'repetition')}: {listed(repeated.tolist())}"
        raise HostError(f"{row_id}: expected each tweet once in the solution, found {repetitions}")
    return row_id


def official_json(measures: Mapping[str, float]) -> dict[str, float]:
    """Give the measures of the memo's Table 1 under the names that the track's scripts use."""
    return {heading: measures[name] for heading, name in LATEX_ROW.items()}


# ---- What became of every tweet --------------------------------------------------------------------------


def asked(solution: PreparedSolution) -> pd.DataFrame:
    """List the labeled tweets with their event and their priority."""
    prepared: Any = solution.prepared["All"]
    truths = prepared.truths
    return pd.DataFrame(
        {
            "item": np.array(prepared.items, dtype=object)[truths["event"]],
            "row": prepared.tweet_ids,
            "label": LEVELS[np.digitize(truths["priority"], BETWEEN)],
        }
    )


def answered(evaluation: ScoredSubmission) -> pd.DataFrame:
    """Tell the priority that is nearest to what a run gives to each labeled tweet."""
    visits = evaluation.compared.sort_index()
    said = visits["row"].to_numpy() >= 0
    nearest = np.where(said, LEVELS[np.digitize(visits["score"], BETWEEN)], "")
    return pd.DataFrame({"answer": nearest, "probability": np.nan, "is_answered": said})


def _short_id(text: str) -> str:
    """The digits of a long id that are left when it becomes a floating-point number; "" for other texts."""
    is_long = text.isascii() and text.isdigit() and DIGITS_KEPT < len(text) < 30
    return f"{float(text):.{DIGITS_KEPT - 1}e}" if is_long or EXPONENT.fullmatch(text) else ""


def _lost_digits(name: str, given: list[str], labeled: list[str]) -> str | None:
    """Say what to do if most ids that are not labeled have lost their last digits; None if they have not."""
    known = {*labeled}
    unknown = [text for text in dict.fromkeys(given) if text not in known]
    cut = [f"{text[:DIGITS_KEPT]}{'0' * (len(text) - DIGITS_KEPT)}" for text in labeled]  # as spreadsheets do
    meant = {_short_id(each): text for of_all in (labeled, cut) for each, text in zip(of_all, labeled)}
    rounded = [text for text in unknown if EXPONENT.fullmatch(text) or _short_id(text) in meant.keys() - {""}]
    if len(rounded) <= MOST * len(unknown):
        return None
    wanted = meant.get(_short_id(rounded[0]))
    example = f"{rounded[0]!r}{f' for {wanted!r}' if wanted else ''}"
    return (
        f"read {name} as text, because numbers lose the last digits of such ids: {counted(len(rounded), 'id')} "
        f"of the run lost theirs, such as {example}"
    )


def diagnose(solution: PreparedSolution, submission: pd.DataFrame) -> str | None:
    """Say what to write instead where tweets stand in a list twice because their ids have lost digits."""
    prepared: Any = solution.prepared["All"]
    name = prepared.row_id_column_name
    if [*submission].count(name) != 1:
        return None
    return _lost_digits(name, [*submission[name].map(metric._as_text)], prepared.tweet_ids)


class Explanation(contract.Explanation):
    """What became of every tweet of a run; see `podium.metric.contract.Explanation`."""

    roles: ClassVar = {"item": "event_id", "label": "priority", "outcome": "case"}

    @property
    def run(self) -> pd.DataFrame:
        """The rows of the run, checked."""
        run: pd.DataFrame = self.evaluation.read
        return run

    @functools.cached_property
    def visits(self) -> pd.DataFrame:
        """The labeled tweets in the order of the visits, with their case and contribution."""
        visits: pd.DataFrame = self.evaluation.compared.copy()
        case = np.where(visits["row"] < 0, len(CASES) - 1, 2 * ~visits["important"] + ~visits["alert"])
        high, _, low, *_ = self.statistics.sum(axis=0)
        contribution = visits["worth"] / np.where(visits["important"], 2 * high, 2 * low)
        visits["rank"] = np.append(self.run["rank"], np.nan)[visits["row"]]
        visits["case"] = pd.Categorical.from_codes(case, pd.Index([*CASES]))
        visits["contribution"] = contribution
        visits["accumulated_worth"] = contribution.groupby(visits["event"]).cumsum()
        return visits

    @functools.cached_property
    def types(self) -> pd.DataFrame:
        """One row per information type, with counts and measures."""
        metric = self.metric
        tp, fp, fn, squared_error = self.statistics.sum(axis=0)[4:].reshape(4, -1)
        counts = {"tweets": tp + fn, "tp": tp, "fp": fp, "fn": fn}
        types = pd.DataFrame(
            {
                "information_type": metric.INFORMATION_TYPES,
                "actionable": metric.IS_ACTIONABLE,
                **counts,
                "precision": ratio(tp, tp + fp),
                "recall": ratio(tp, tp + fn),
                "f1": metric.f1_of_each(tp, fp, fn),
                "accuracy": metric.accuracy_of_each(fp, fn, np.float64(len(self.visits))),
                "mse": metric.mse_of_each(squared_error, tp, fn),
            }
        )
        return types.astype(dict.fromkeys(counts, np.int64))

    @functools.cached_property
    def events(self) -> pd.DataFrame:
        """One row per event; the contributions of all events add up to the accumulated alert worth."""
        event = self.visits["event"]
        cases = pd.crosstab(event, self.visits["case"], dropna=False)
        return pd.DataFrame(
            {
                "event_id": self.prepared.items,
                "tweets": cases.sum(axis=1),
                "high": self.statistics[:, 0].astype(np.int64),
                "low": self.statistics[:, 2].astype(np.int64),
                "missing": cases["missing"],
                **{f"{case.replace(' ', '_')}s": cases[case] for case in CASES if case != "missing"},
                "contribution": self.visits["contribution"].groupby(event).sum(),
                **self.metric.all_measures(self.statistics),
            }
        )

    @functools.cached_property
    def rows(self) -> pd.DataFrame:
        """One row per labeled tweet in the order of the visits, then the rows of the run that are ignored."""
        metric, prepared, visits, run = self.metric, self.prepared, self.visits, self.run
        names = {number: name for name, number in metric.PRIORITIES.items()}
        labeled = visits.assign(
            tweet_id=np.array(prepared.tweet_ids, dtype=object)[visits.index],
            event_id=np.array(prepared.items, dtype=object)[visits["event"]],
            score=np.append(run["score"], np.nan)[visits["row"]],
            priority=visits["priority"].map(names),
            true_types=_type_texts(visits["types"]),
            run_types=_type_texts(visits["run_types"]),
            case=visits["case"].astype(object),
            equation=np.array([*CASES.values()], dtype=object)[visits["case"].cat.codes],
        )
        of_ranked = {"delta": "delta", "act_c_score": "actionable_score", "n_act_c_score": "other_score"}
        labeled[[*of_ranked.values()]] = visits[[*of_ranked]].where(visits["row"] >= 0)
        others = np.setdiff1d(run.index, visits["row"])
        ignored = run.loc[others, ["rank", "score"]].assign(
            tweet_id=self._texts_of_run(prepared.row_id_column_name)[others],
            event_id=self._texts_of_run("event_id")[others],
            run_types=_type_texts(run["types"][others]),
            case=IGNORED,
        )
        return pd.concat([labeled, ignored.astype({"case": object})], ignore_index=True)[ROWS.split()]

    @property
    def latex_row(self) -> pd.DataFrame:
        """The run's row of a LaTeX table, in one cell under the row of the headings."""
        values = official_json(self.evaluation.measures).values()
        tags = self.submission.get("runtag", pd.Series(dtype=object)).dropna()
        run = re.sub(r"([#$%&_{}])", r"\\\1", metric._short(tags.iloc[0])) if len(tags) else "run"
        cells = ["-" if np.isnan(value) else f"{value:.4f}" for value in values]
        return pd.DataFrame({" & ".join(["run", *LATEX_ROW]): [" & ".join([run, *cells]) + r" \\"]})

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The measures, the row for LaTeX, the cases, the types and the events."""
        values = [(name, self.evaluation.measures[name]) for name in self.metric.MEASURES]
        measures = pd.DataFrame(values, columns=["measure", "value"])
        of_case = self.visits.groupby("case", observed=False)
        cases = pd.DataFrame({"case": CASES.keys(), "equation": CASES.values(), "tweets": of_case.size().array})
        for name in ("worth", "contribution"):
            cases[name] = of_case[name].sum().array
        shown = self.events.sort_values("contribution", kind="stable").head(EVENTS_SHOWN)
        columns = (
            "event_id tweets high low missing true_alerts missed_alerts false_alerts "
            "high_priority_worth low_priority_worth contribution info_type_f1_all priority_mse_all"
        )
        return {
            "Measures": measures,
            "For LaTeX, as the track's scripts print it": self.latex_row,
            "What became of the tweets": cases,
            "Information types": self.types,
            "Events, least alert worth first": shown[columns.split()].assign(
                event_id=[self.metric._short(text) for text in shown["event_id"]]
            ),
        }

    @property
    def notices(self) -> list[str]:
        """What the participant should know about the run."""
        visits, run, prepared = self.visits, self.run, self.prepared
        used = visits[visits["row"] >= 0]
        meant = self._meant[used["row"]].to_numpy()
        elsewhere = int(((meant >= 0) & (meant != used["event"])).sum())
        notices = []
        if len(used) < len(run):
            notices.append(
                "rows of the run are ignored if their tweet has no label or another row counts for it: "
                f"{counted(len(run) - len(used), 'row')}"
            )
        if len(used) < len(visits):
            missing = counted(len(visits) - len(used), "tweet")
            worth = "worth 0" if prepared.forgive_missing_tweets else "no alert"
            notices.append(
                f"labeled tweets that the run lacks count with no types, priority 0.25 and {worth}: {missing}"
            )
        unknown = (run["named"] < 0) & (self._meant >= 0)
        names = sorted(
            set(zip(self._texts_of_run("event_id")[unknown].tolist(), self._meant[unknown].tolist()))
        )
        if names:
            short = self.metric._short
            inferred = [f"{short(name)} is {short(prepared.items[event])}" for name, event in names]
            notices.append(
                "the solution lacks some names of the run's events, so each was taken for the event that "
                f"shares most tweets with it: {listed(inferred, NAMES_SHOWN)}"
            )
        if elsewhere:
            notices.append(
                "tweets that the run lists for another event than the solution count for the solution's event: "
                f"{counted(elsewhere, 'tweet')}"
            )
        notices += self._doubts
        notices += [sentence for _, sentence in self.mistakes]
        if len(prepared.items) > EVENTS_SHOWN:
            notices.append(f"the tables show {EVENTS_SHOWN} of {len(prepared.items):,} events")
        return notices

    @functools.cached_property
    def mistakes(self) -> list[tuple[str, str]]:
        """Say that tweets, priorities, ranks or types seem to be others than those that are meant."""
        used = self.evaluation.compared.query("row >= 0")
        checks = [
            ("ids without their last digits", (self._ids_without_digits or "", bool(self._ids_without_digits))),
            ("tweets of another edition", self._other_tweets),
            ("priorities on another scale", self._scale),
        ]
        if len(used) >= FEW:  # with fewer tweets, chance explains too much
            checks += [
                ("ranks counted from the end", self._last_first(used)),
                ("types one place away", self._shifted_types(used)),
            ]
        return [(kind, told) for kind, (told, is_likely) in checks if is_likely]

    @property
    def _other_tweets(self) -> tuple[str, bool]:
        """Whether most of the run has no label, and most labeled tweets are not in the run."""
        row, run = self.evaluation.compared["row"], len(self.run)
        lacking, unknown = int((row < 0).sum()), int((self.run["tweet"] < 0).sum())
        told = (
            f"is the run for this edition? {unknown:,} of its {counted(run, 'tweet')} have no label, and it "
            f"lacks {lacking:,} of {len(row):,} labeled ones"
        )
        is_likely = lacking > MOST * len(row) and unknown > MOST * run
        return told, is_likely and not self._ids_without_digits

    @functools.cached_property
    def _ids_without_digits(self) -> str | None:
        """What to do about ids that have lost digits."""
        name = self.prepared.row_id_column_name
        return _lost_digits(name, [*self._texts_of_run(name)], self.prepared.tweet_ids)

    @property
    def _scale(self) -> tuple[str, bool]:
        """Whether priorities are on another scale; the text is empty if none is outside."""
        scores = self.run["score"]
        outside = int(((scores < 0) | (scores > 1)).sum())
        told = (
            f"priorities from {scores.min():g} to {scores.max():g} may be on another scale than 0 to 1, "
            f"to which normalize_priority=true brings them: {counted(outside, 'row')} outside"
        )
        return told if outside else "", outside > MOST * len(scores)

    def _last_first(self, used: pd.DataFrame) -> tuple[str, bool]:
        """Whether the ranks of each event grow with the priorities."""
        of_event = used.assign(rank=self.run["rank"].to_numpy()[used["row"]]).groupby("event")
        rank, score = (of_event[name].rank() for name in ("rank", "score"))
        told = "the tweets with the highest priorities have the last ranks, but rank 1 is visited first"
        with np.errstate(invalid="ignore"):  # of equal values, which have no correlation
            return told, rank.corr(score) > REVERSED

    def _shifted_types(self, used: pd.DataFrame) -> tuple[str, bool]:
        """Whether the types would be right far more often one place further in their list."""
        true, said = (self.metric.set_members(used[name]) for name in ("types", "run_types"))
        f1 = []
        for step in (0, 1, -1):
            moved = np.roll(said, step, axis=1)
            counts = [(a & b).sum(axis=0) for a, b in ((true, moved), (~true, moved), (true, ~moved))]
            f1.append(float(self.metric.f1_of_each(*counts).mean()))
        gain = max(f1) - f1[0]
        told = (
            f"with every type one place further in the list of types, their mean F1 would be {gain:.2f} higher"
        )
        return told, gain > MUCH_BETTER

    @property
    def _doubts(self) -> list[str]:
        """Whether the run's priorities are on another scale, and whether it is one run."""
        scores, threshold = self.run["score"], self.prepared.alert_threshold
        scale, is_mistake = self._scale
        notices = []
        if self.prepared.normalize_priority and not scores.any():
            notices.append("all scores of the run are equal and became 0")
        elif scale and not is_mistake:
            notices.append(scale)
        elif not scale and scores.max() < threshold:
            notices.append(
                f"the run has no alert, because no priority reaches {threshold:g}: they are at most "
                f"{scores.max():g}"
            )
        tags = pd.unique(self.submission.get("runtag", pd.Series(dtype=object)).dropna())
        if len(tags) > 1:
            told = listed([self.metric._short(tag) for tag in tags.tolist()])
            notices.append(f"the run has {len(tags):,} run tags, so it may be several runs: {told}")
        return notices

    @functools.cached_property
    def _meant(self) -> pd.Series:
        """The event to which each row of the run belongs, (m,), as an index, or -1 if there is none.

        It is the event that the row names, else the event that shares most tweets with the row's list.
        """
        run = self.run
        rows = run[(run["named"] < 0) & (run["event"] >= 0) & (run["tweet"] >= 0)]
        events = self.prepared.truths["event"][rows["tweet"]].set_axis(rows.index)
        most = events.groupby(rows["event"]).agg(lambda of_name: of_name.mode()[0])
        return run["named"].where(run["named"] >= 0, run["event"].map(most).fillna(-1)).astype(np.int64)

    def _texts_of_run(self, column: str) -> npt.NDArray[np.object_]:
        """A column of the submission as texts, (m,), with None for a missing cell."""
        if column not in self.submission:
            return np.full(len(self.submission), None)
        codes, texts = self.metric._factorize(self.submission[column])
        values: npt.NDArray[np.object_] = np.array([*texts, None], dtype=object)[codes]
        return values


# ---- Texts -----------------------------------------------------------------------------------------------


def texts(evaluation: ScoredSubmission, path: Path | None = None) -> dict[str, str]:
    """Collect the texts of the labeled tweets, event by event, for the report."""
    rows: pd.DataFrame = evaluation.explanation.rows
    rows = rows[rows["case"] != IGNORED]
    of_tweets: dict[str, str] = {}
    as_text = metric._as_text
    for frame in (evaluation.submission, evaluation.solution.frame):
        if "text" in frame:
            ids = frame[evaluation.solution.arguments["row_id_column_name"]]
            pairs = zip(ids.tolist(), frame["text"].tolist())
            of_tweets |= {as_text(tweet): text for tweet, text in pairs if isinstance(text, str)}
    if path is not None:
        wanted = set(rows["tweet_id"])
        read = read_lines(path, _tweet, EXPECTED_TWEETS, UsageError)
        of_tweets |= {tweet: text for tweet, text in read if tweet in wanted}
        if wanted.isdisjoint(of_tweets):
            raise UsageError(f"{path}: expected texts of the solution's tweets, found none of {len(wanted):,}")
    known = rows[rows["tweet_id"].isin(list(of_tweets))]
    text = known["tweet_id"].map(lambda tweet: " ".join(of_tweets[tweet].split()))
    lines = known["tweet_id"] + " [" + known["priority"] + ", " + known["case"] + "] " + text
    return {str(event): "\n".join(of_event) for event, of_event in lines.groupby(known["event_id"], sort=False)}


def _tweet(line: str) -> tuple[str, str]:
    """The id and the text of a tweet, in the track's form or in Twitter's."""
    tweet = _parsed(line)
    if isinstance(tweet, dict):
        tweet = tweet.get("allProperties", tweet)
        tweet_id, text = _id(tweet.get("id_str", tweet.get("id"))), tweet.get("full_text", tweet.get("text"))
        if tweet_id is not None and isinstance(text, str):
            return tweet_id, text
    raise ValueError(metric._quoted(line))


companion = Companion(
    text_columns=TEXT_COLUMNS,
    read_solution=read_solution,
    read_submission=read_submission,
    diagnose=diagnose,
    explain=Explanation,
    asked=asked,
    answered=answered,
    texts=texts,
    kaggle_submission=kaggle_submission,
    sample_submission=sample_submission,
    perfect_submission=perfect_submission,
    official_json=official_json,
)
