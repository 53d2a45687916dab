"""What became of every tweet under the TREC-IS metrics, the track's own files, and files for Kaggle."""

import functools
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import contract, hosted
from podium.contract import Companion, Evaluation
from podium.errors import HostError, SubmissionRejected, ToolError, UsageError
from podium.explain import ratio
from podium.files import read_lines, read_text
from podium.wording import counted, listed

from . import metric

TEXT_COLUMNS = ("tweet_id", "event_id", "categories", "text")

# Where Table 1 of the memo has a measure.
TABLE_1 = {
    "accumulated_alert_worth": "Accumulated Alert Worth, All",
    "high_priority_worth": "Accumulated Alert Worth, High Priority",
    "info_type_f1_actionable": "Info. Type Positive F1, Actionable",
    "info_type_f1_all": "Info. Type Positive F1, All",
    "info_type_accuracy_all": "Info. Type Accuracy, All",
    "priority_mse_actionable": "Priority RMSE, Actionable",
    "priority_mse_all": "Priority RMSE, All",
}

# What becomes of tweets labelled High or Critical (1), Low or Medium (5), or not in the run.
CASES = {"true alert": "(1)", "missed alert": "(1)", "false alert": "(5)", "no alert": "(5)", "missing": None}
ROWS = (
    "tweet_id event_id rank score priority true_types run_types case equation delta actionable_score "
    "other_score worth contribution accumulated_worth squared_error"
)
IGNORED = "ignored"

EVENTS_SHOWN = 20
TRACE_WIDTH = 40
TRACE_TITLE = (
    "Trust along each ranking (delta: tenths that the next false alert costs, X all; "
    "worth: 0 at its lowest, 9 at its highest)"
)
NAMES_SHOWN = 20
TOPICS = ".topics"
ENCODING = "iso-8859-1"  # of some of the track's files

EXPECTED_LABELS = "a label file of the track: JSON with events, their eventid and tweets"
EXPECTED_RUN = 'lines of: event Q0 tweet rank score ["Type-A","Type-B"] tag, separated by tabs or spaces'
EXPECTED_TWEETS = "one JSON object per line, with the id and the text of a tweet"

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# ---- Official files --------------------------------------------------------------------------------------


class OfficialFileWarning(UserWarning):
    """What was left out or united."""


def read_solution(path: str | Path) -> pd.DataFrame:
    """The labels in a file of the track, or in a folder of such, maybe with topics and ontology; .gz or not.

    The rows of a tweet are united (all types, the highest priority, the first event), as are an event's parts.
    """
    path = Path(path)
    datasets = _datasets(path, HostError)
    rows: dict[str, _Labelled] = {}
    unlisted: Counter[str] = Counter()
    parts: dict[str, str] = {}
    for file in _files(path, "label files (.json)", lambda name: name.endswith(".json"), HostError):
        try:
            content = _parsed(read_text(file, HostError, ENCODING))
            if path.is_dir() and isinstance(content, dict) and "informationTypes" in content:
                continue
            labels = list(_labels(content, unlisted))
        except ValueError as fault:
            raise HostError(f"{file.name}: expected {EXPECTED_LABELS}; {fault}") from None
        for label in labels:
            event = datasets.get(label.event_id, label.event_id)
            if re.search(r"\d[A-E]$", event):
                parts[event], event = event[:-1], event[:-1]
            known = rows.setdefault(label.tweet_id, label._replace(event_id=event))
            rows[label.tweet_id] = known._replace(
                priority=max(known.priority, label.priority),
                categories=known.categories | label.categories,
                text=known.text or label.text,
            )
    if parts:
        _warn(f"{counted(len(parts), 'part')} of events united: {', '.join(sorted(set(parts.values())))}")
    if unlisted:
        left_out = listed([metric._short(name) for name in sorted(unlisted)], NAMES_SHOWN)
        _warn(
            f"{counted(unlisted.total(), 'annotation')} of the labels left out, being none of the "
            f"{len(metric.INFORMATION_TYPES)} types: {left_out}"
        )
    names = {number: name for name, number in metric.PRIORITIES.items()}
    frame = pd.DataFrame(list(rows.values()), columns=_Labelled._fields)
    frame["priority"] = frame["priority"].map(names)
    frame["categories"] = _type_texts(frame["categories"].astype(np.int64))
    return frame if any(label.text for label in rows.values()) else frame.drop(columns="text")


def read_submission(path: str | Path) -> pd.DataFrame:
    """A run, in a file or a folder, maybe with topics; ranks or scores that are not all numbers stay text."""
    path = Path(path)
    datasets = _datasets(path, SubmissionRejected)

    @functools.cache
    def types_in(literal: str) -> str:
        names = _parsed(literal.replace("'", '"'))
        if not isinstance(names, list) or any(name.split() != [name] for name in names):
            raise ValueError
        return " ".join(names)

    def read(line: str) -> tuple[str, str, str, str, str]:
        try:
            event, _, tweet, rank, score, rest = line.split(None, 5)
            return tweet, datasets.get(event, event), rank, score, types_in(rest[: rest.find("]") + 1])
        except (ValueError, AttributeError):
            raise ValueError(metric._quoted(line.strip())) from None

    rows: list[tuple[str, str, str, str, str]] = []
    for file in _files(path, "files of a run", lambda name: not name.endswith(TOPICS), SubmissionRejected):
        lines = read_lines(file, read, EXPECTED_RUN, SubmissionRejected, ENCODING)
        if not lines:
            raise SubmissionRejected(f"{file.name}: expected {EXPECTED_RUN}. It has no lines")
        rows += lines
    run = pd.DataFrame(rows, columns=["tweet_id", "event_id", "rank", "priority", "categories"])
    for name in ("rank", "priority"):
        numbers = run[name].map(metric._number)
        if numbers.notna().all():
            run[name] = numbers
    return run


class _Labelled(NamedTuple):
    tweet_id: str
    event_id: str
    priority: float
    categories: int  # a set of types
    text: str | None


def _files(path: Path, what: str, is_one: Callable[[str], bool], error: type[ToolError]) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = [file for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith(".")]
    files = [file for file in files if is_one(file.name.removesuffix(".gz"))]
    if not files:
        raise error(f"{path}: expected {what} in the folder, found none")
    return files


def _datasets(path: Path, error: type[ToolError]) -> dict[str, str]:
    """The dataset of each event's number, from the topics files of a folder."""
    datasets: dict[str, str] = {}
    for file in sorted(path.glob(f"*{TOPICS}*")) if path.is_dir() else []:
        topics = re.findall(r"<top>(.*?)</top>", read_text(file, error, ENCODING), re.DOTALL)
        for topic in topics:
            fields = dict(re.findall(r"<(num|dataset)>\s*(\S*?)\s*</\1>", topic))
            if len(fields) == 2:
                datasets[fields["num"]] = fields["dataset"]
        if not topics:
            raise error(f"{file.name}: expected topics, <top> with <num> and <dataset>, found none")
    return datasets


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ValueError(f"it is not JSON ({fault})") from None


def _labels(content: Any, unlisted: Counter[str]) -> Iterator[_Labelled]:
    """The tweets of a label file; annotations that are no types are counted in `unlisted`."""

    @functools.cache
    def types_named(name: str) -> int:
        (found,), (unknown,) = metric.parse_types([name])
        return 0 if unknown or name.split() != [name] else int(found)

    for number, event in enumerate(_field(content, "the file", list, "events"), 1):
        event_id = str(_field(event, f"event number {number}", (str, int), "eventid"))
        event_name = f"event {metric._quoted(event_id)}"
        for position, tweet in enumerate(_field(event, event_name, list, "tweets"), 1):
            where = f"tweet number {position} of {event_name}"
            tweet_id = str(_field(tweet, where, (str, int), "postID"))
            priority = _field(tweet, where, str, "priority", "postPriority")
            if priority not in metric.PRIORITIES:
                found = metric._quoted(priority)
                raise ValueError(f"{where} has the priority {found}, not {', '.join(metric.PRIORITIES)}")
            types = 0
            for name in _field(tweet, where, list, "categories", "postCategories"):
                if not isinstance(name, str):
                    raise ValueError(f"{where} has the category {metric._quoted(name)}, which is no text")
                types |= types_named(name)
                if not types_named(name):
                    unlisted[name] += 1
            text = tweet.get("text", tweet.get("postText"))
            known = text if isinstance(text, str) else None
            yield _Labelled(tweet_id, event_id, metric.PRIORITIES[priority], types, known)


def _field(entry: Any, where: str, kind: type | tuple[type, ...], *names: str) -> Any:
    """The value that a JSON object has under one of the names."""
    if isinstance(entry, dict):
        for name in names:
            if isinstance(entry.get(name), kind) and not isinstance(entry[name], bool):
                return entry[name]
    raise ValueError(f"{where} lacks {' or '.join(names)}, {'a list' if kind is list else 'text'}")


def _warn(message: str) -> None:
    warnings.warn(message, OfficialFileWarning, stacklevel=3)


def _type_texts(types: npt.ArrayLike) -> npt.NDArray[np.object_]:
    """Sets of types as text, (n,)."""
    codes, distinct = pd.factorize(np.asarray(types))
    names = np.array(metric.INFORMATION_TYPES)
    texts = [" ".join(names[members]) for members in metric.set_members(np.asarray(distinct))]
    named: npt.NDArray[np.object_] = np.array(texts, dtype=object)[codes]
    return named


# ---- Files for Kaggle ------------------------------------------------------------------------------------


def kaggle_submission(submission: pd.DataFrame, solution: pd.DataFrame) -> pd.DataFrame:
    """A run as Kaggle accepts it even where it aligns rows: one row per row of the solution, no empty cell.

    The solution's first column has the ids.  A labelled tweet that the run lacks gets the last rank, priority
    0.25 and no types, with a warning: labelled High or Critical, it becomes a missed alert, worth -1, not 0.
    """
    row_id = _row_id(solution)
    with hosted.errors_explained():
        prepared = metric.prepare(solution, row_id, measure="info_type_f1_all")  # always defined
        run = prepared.read(submission)
    rows_by_tweet = pd.Series(metric.rows_that_count(run, prepared.truths), index=prepared.tweet_ids)
    row = rows_by_tweet[solution[row_id].map(metric._as_text)].to_numpy()
    if (row < 0).any():
        _warn(
            f"{counted(int((row < 0).sum()), 'labelled tweet')} not in the run: rows of priority 0.25 without "
            "types; those labelled High or Critical count as missed alerts"
        )
    last = run["rank"].max() + 1 if len(run) else 1
    missing = pd.DataFrame({"rank": [last], "score": [metric.PRIORITIES["Low"]], "types": [0]})
    rows = pd.concat([run, missing]).iloc[row]  # row -1 is the last
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
    """A submission that shows the form: every tweet Other-Irrelevant, ranked as in the solution."""
    rank = solution.groupby("event_id", sort=False).cumcount() + 1
    return solution[[_row_id(solution)]].assign(rank=rank, priority=0.5, categories="Other-Irrelevant")


def perfect_submission(solution: pd.DataFrame) -> pd.DataFrame:
    """The labels as a submission, the most urgent first."""
    priority = solution["priority"].map(metric.PRIORITIES)
    rank = priority.groupby(solution["event_id"]).rank(method="first", ascending=False).astype(int)
    return solution[[_row_id(solution), "categories"]].assign(rank=rank, priority=priority)


def _row_id(solution: pd.DataFrame) -> str:
    row_id = str(solution.columns[0])
    repeated = solution[row_id][solution[row_id].duplicated()]
    if len(repeated):
        found = f"{counted(len(repeated), 'row')} of tweets that were there before: {listed(repeated.tolist())}"
        raise HostError(f"{row_id}: expected each tweet once in the solution, found {found}")
    return row_id


# ---- What became of every tweet --------------------------------------------------------------------------


class Explanation(contract.Explanation):
    roles: ClassVar = {"item": "event_id", "label": "priority", "outcome": "case"}

    @functools.cached_property
    def run(self) -> pd.DataFrame:
        run: pd.DataFrame = self.prepared.read(self.submission)
        return run

    @functools.cached_property
    def visits(self) -> pd.DataFrame:
        """Every labelled tweet, with columns of `rows`."""
        visits: pd.DataFrame = self.prepared.visit(self.run)
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
        """One row per information type; NaN for shares of nothing."""
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
        """One row per event; its contribution is a part of accumulated_alert_worth."""
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
        """One row per labelled tweet as visited, then one per row of the run that is "ignored"."""
        metric, prepared, visits, run = self.metric, self.prepared, self.visits, self.run
        names = {number: name for name, number in metric.PRIORITIES.items()}
        labelled = visits.assign(
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
        labelled[[*of_ranked.values()]] = visits[[*of_ranked]].where(visits["row"] >= 0)
        others = np.setdiff1d(run.index, visits["row"])
        ignored = run.loc[others, ["rank", "score"]].assign(
            tweet_id=self._texts_of_run(prepared.row_id_column_name)[others],
            event_id=self._texts_of_run("event_id")[others],
            run_types=_type_texts(run["types"][others]),
            case=IGNORED,
        )
        return pd.concat([labelled, ignored.astype({"case": object})], ignore_index=True)[ROWS.split()]

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        measures = pd.DataFrame(
            [(name, self.evaluation.measures[name], TABLE_1.get(name)) for name in self.metric.MEASURES],
            columns=["measure", "value", "column of Table 1"],
        )
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
            "What became of the tweets": cases,
            "Information types": self.types,
            "Events, least alert worth first": shown[columns.split()].assign(
                event_id=[self.metric._short(text) for text in shown["event_id"]]
            ),
            TRACE_TITLE: self._traces(shown.index.tolist()),
        }

    @property
    def notices(self) -> list[str]:
        visits, run, prepared = self.visits, self.run, self.prepared
        used = visits[visits["row"] >= 0]
        meant = self._meant[used["row"]].to_numpy()
        elsewhere = int(((meant >= 0) & (meant != used["event"])).sum())
        notices = []
        if len(used) < len(run):
            notices.append(
                f"{counted(len(run) - len(used), 'row')} of the run ignored: without a label, or in the "
                "list of another event than the one that counts"
            )
        if len(used) < len(visits):
            missing = counted(len(visits) - len(used), "labelled tweet")
            notices.append(f"{missing} not in the run: no types, priority 0.25, worth 0")
        unknown = (run["named"] < 0) & (self._meant >= 0)
        names = sorted(
            set(zip(self._texts_of_run("event_id")[unknown].tolist(), self._meant[unknown].tolist()))
        )
        if names:
            short = self.metric._short
            inferred = [f"{short(name)} is {short(prepared.items[event])}" for name, event in names]
            notices.append(
                f"{counted(len(names), 'event')} of the run under a name that the solution lacks, taken for "
                f"those with which they share most tweets: {listed(inferred, NAMES_SHOWN)}"
            )
        if elsewhere:
            notices.append(
                f"{counted(elsewhere, 'tweet')} in the list of another event than the solution's, which counts"
            )
        if prepared.normalize_priority and len(run) and not run["score"].any():
            notices.append("all scores of the run are equal and became 0")
        if len(prepared.items) > EVENTS_SHOWN:
            notices.append(f"the tables show {EVENTS_SHOWN} of {len(prepared.items):,} events")
        return notices

    @functools.cached_property
    def _meant(self) -> pd.Series:
        """The event that each row of the run names or its list shares most tweets with, (m,); -1 for none."""
        run = self.run
        rows = run[(run["named"] < 0) & (run["event"] >= 0) & (run["tweet"] >= 0)]
        events = self.prepared.truths["event"][rows["tweet"]].set_axis(rows.index)
        most = events.groupby(rows["event"]).agg(lambda of_name: of_name.mode()[0])
        return run["named"].where(run["named"] >= 0, run["event"].map(most).fillna(-1)).astype(np.int64)

    def _texts_of_run(self, column: str) -> npt.NDArray[np.object_]:
        """A column of the submission, None where missing, (m,)."""
        if column not in self.submission:
            return np.full(len(self.submission), None)
        codes, texts = self.metric._factorize(self.submission[column])
        values: npt.NDArray[np.object_] = np.array([*texts, None], dtype=object)[codes]
        return values

    def _traces(self, events: list[int]) -> pd.DataFrame:
        ranked = self.visits[self.visits["row"] >= 0]
        rows: list[dict[str, Any]] = []
        for event in events:
            visits = ranked[ranked["event"] == event]
            delta, accumulated = visits["delta"].to_numpy(), visits["accumulated_worth"].to_numpy()
            highest = int(delta.max(initial=0))
            rows.append(
                {
                    "event_id": self.metric._short(self.prepared.items[event]),
                    "ranked": len(delta),
                    "delta": delta_trace(delta),
                    "highest": highest,
                    "at_rank": f"{visits['rank'].iloc[delta.argmax()]:.0f}" if highest else None,
                    "worth": worth_trace(accumulated),
                    "lowest": accumulated.min(initial=0.0),
                    "at_end": accumulated[-1] if len(accumulated) else 0.0,
                }
            )
        return pd.DataFrame(rows)


# ---- Traces of a ranking, in text ------------------------------------------------------------------------


def delta_trace(delta: Ints) -> str:
    """The tenths of worth that a false alert costs at most in each stretch of a ranking, X for all."""
    highest = np.maximum.reduceat(delta, _stretches(len(delta))) if len(delta) else delta
    cost = np.minimum(np.log10(highest / 2 + 1), 1.0)
    return "".join("0123456789X"[tenths] for tenths in np.floor(10 * cost).astype(int).tolist())


def worth_trace(accumulated: Floats) -> str:
    """Accumulated worth at the end of each stretch of a ranking: 0 at its lowest, 9 at its highest."""
    if not len(accumulated):
        return ""
    ends = np.append(_stretches(len(accumulated))[1:], len(accumulated)) - 1
    height = accumulated[ends] - min(accumulated.min(), 0.0)
    span = max(accumulated.max(), 0.0) - min(accumulated.min(), 0.0)
    return "".join(str(round(9 * share)) for share in (height / span if span > 0 else height).tolist())


def _stretches(length: int) -> Ints:
    width = min(length, TRACE_WIDTH)
    return np.arange(width) * length // width


# ---- Texts -----------------------------------------------------------------------------------------------


def texts(evaluation: Evaluation, path: Path | None = None) -> dict[str, str]:
    """The tweets of each event, from columns ``text`` or the track's file of tweets."""
    rows: pd.DataFrame = evaluation.explanation.rows
    rows = rows[rows["case"] != IGNORED]
    of_tweets: dict[str, str] = {}
    as_text = metric._as_text
    for frame in (evaluation.submission, evaluation.solution.frame):
        if "text" in frame:
            ids = frame[evaluation.prepared.row_id_column_name]
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
    tweet = _parsed(line)
    if isinstance(tweet, dict):
        tweet = tweet.get("allProperties", tweet)
        tweet_id, text = tweet.get("id_str", tweet.get("id")), tweet.get("full_text", tweet.get("text"))
        if isinstance(tweet_id, str | int) and isinstance(text, str):
            return str(tweet_id), text
    raise ValueError(metric._quoted(line))


companion = Companion(
    text_columns=TEXT_COLUMNS,
    read_solution=read_solution,
    read_submission=read_submission,
    explain=Explanation,
    texts=texts,
    kaggle_submission=kaggle_submission,
    sample_submission=sample_submission,
    perfect_submission=perfect_submission,
)
