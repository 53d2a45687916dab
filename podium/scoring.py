"""A submission scored with a hosted file, on the whole solution and its parts."""

import functools
import html
import math
import re
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import companions, hosted, statistics
from podium.errors import HostError, SubmissionRejected, ToolError, UsageError
from podium.files import parse_table, read_bytes, read_table
from podium.hosted import Metric

__all__ = [
    "ALL",
    "PARTS",
    "USAGE",
    "Evaluation",
    "Solution",
    "add_side",
    "evaluate",
    "items_of",
    "only",
    "parse_submission",
    "prepare",
    "read_pair",
    "read_solution",
    "read_submission",
    "rows_of_parts",
    "scores_of",
]

USAGE = "Usage"
ALL = "All"
PARTS = ("Public", "Private")
IGNORED = "Ignored"
ROWS_SHOWN = 20  # of a table in a notebook

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution and its parts, ready to score submissions against."""

    metric: Metric
    arguments: dict[str, Any]  # of its `score`, with row_id_column_name
    frame: pd.DataFrame  # without Usage
    rows: dict[str, Bools]  # (rows,) of each part
    prepared: dict[str, Any]  # of each part; empty where the metric has no `prepare`
    items: dict[str, Bools]  # (n,) of each part, among those of "All"; empty likewise
    notices: list[str]

    @property
    def signature(self) -> str:
        return hosted.signature(self.metric, self.arguments)

    @property
    def deciding(self) -> str:
        """The part of the final ranking."""
        return PARTS[1] if PARTS[1] in self.rows else ALL


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What became of one submission."""

    solution: Solution
    submission: pd.DataFrame  # its rows that count
    scores: dict[str, float]  # of each part
    statistics: Floats | None = None  # (n, k), of the items of "All", where the metric offers them
    read: Any = None  # as `podium.hosted` names these steps
    compared: Any = None

    @property
    def score(self) -> float:
        return self.scores[ALL]

    @property
    def prepared(self) -> Any:
        return self.solution.prepared[ALL]

    @property
    def signature(self) -> str:
        return self.solution.signature

    @functools.cached_property
    def measures(self) -> dict[str, float]:
        """By name, "score" first."""
        if self.statistics is None:
            return {"score": self.score}
        return statistics.measures(self.prepared, self.statistics)

    @property
    def loggable(self) -> dict[str, float]:
        """The defined measures under names that loggers take."""
        named = {re.sub(r"[^\w\-./ ]", "_", name): value for name, value in self.measures.items()}
        return {name: value for name, value in named.items() if not math.isnan(value)}

    def __repr__(self) -> str:
        tables = [f"{title}\n{table.head(ROWS_SHOWN)}" for title, table in self._tables.items()]
        return "\n\n".join([self.score_lines, *tables, self.signature])

    def _repr_html_(self) -> str:
        tables = [
            f"<h4>{html.escape(title)}</h4>{table.head(ROWS_SHOWN).to_html(index=False, border=0)}"
            for title, table in self._tables.items()
        ]
        return f"<pre>{self.score_lines}</pre>{''.join(tables)}<small>{html.escape(self.signature)}</small>"

    @property
    def score_lines(self) -> str:
        return "\n".join(
            f"{'Score' if part == ALL else part:<8} {value:.6f}" for part, value in self.scores.items()
        )

    @property
    def _tables(self) -> dict[str, pd.DataFrame]:
        return getattr(self.explanation, "tables", {})

    @functools.cached_property
    def explanation(self) -> Any:
        """What the metric's companion tells."""
        explain = getattr(companions.of(self.solution.metric), "explain", None)
        if self.statistics is None or explain is None:
            return object()
        return explain(self)


def text_columns(metric: Metric, parameters: dict[str, Any]) -> set[str]:
    names = set(getattr(companions.of(metric), "TEXT_COLUMNS", ()))
    for name, value in (hosted.settings(metric, parameters) | parameters).items():
        if isinstance(value, str) and name.endswith("_column_name"):
            names.add(value)
        elif isinstance(value, str) and name.endswith("_column_names"):
            names |= {part.strip() for part in value.split(",")} - {""}
    return names


def read_solution(metric: Metric, path: str | Path, parameters: dict[str, Any]) -> pd.DataFrame:
    """A table, or an official file read by the metric's companion."""
    return _read(metric, "read_solution", path, parameters, HostError)


def read_submission(metric: Metric, path: str | Path, parameters: dict[str, Any]) -> pd.DataFrame:
    return _without_side(metric, _read(metric, "read_submission", path, parameters, SubmissionRejected))


def parse_submission(metric: Metric, content: bytes, name: str, parameters: dict[str, Any]) -> pd.DataFrame:
    """As `read_submission`, of a file's content: what was hashed is what is scored."""
    if not _official_reader(metric, name, "read_submission"):
        table = parse_table(content, name, text_columns(metric, parameters), SubmissionRejected)
        return _without_side(metric, table)
    with tempfile.TemporaryDirectory() as folder:  # official readers take paths
        path = Path(folder) / Path(name).name
        path.write_bytes(content)
        try:
            return read_submission(metric, path, parameters)
        except ToolError as problem:
            raise type(problem)(str(problem).replace(str(path), name)) from None


def _without_side(metric: Metric, submission: pd.DataFrame) -> pd.DataFrame:
    side = getattr(companions.of(metric), "SIDE_COLUMNS", ())
    return submission.drop(columns=list(side), errors="ignore")


def add_side(
    solution: Solution, submission: pd.DataFrame, path: str | Path, content: bytes | None = None
) -> pd.DataFrame:
    """The submission with what only the host may say of it."""
    companion: Any = companions.of(solution.metric)
    if not hasattr(companion, "add_side"):
        raise UsageError(f"{path}: this metric takes no file beside a submission")
    content = read_bytes(path) if content is None else content
    side = parse_table(content, str(path), text_columns(solution.metric, solution.arguments), HostError)
    frame: pd.DataFrame = companion.add_side(submission, side, solution.arguments["row_id_column_name"])
    return frame


def _official_reader(metric: Metric, path: str | Path, name: str) -> Any:
    """The companion's, if the file is no table."""
    is_table = str(path) == "-" or str(path).endswith((".csv", ".csv.gz", ".parquet"))
    return None if is_table else getattr(companions.of(metric), name, None)


def _read(
    metric: Metric, reader: str, path: str | Path, parameters: dict[str, Any], error: type[ToolError]
) -> pd.DataFrame:
    official = _official_reader(metric, path, reader)
    frame: pd.DataFrame = (
        official(Path(path)) if official else read_table(path, text_columns(metric, parameters), error)
    )
    return frame


def prepare(metric: Metric, solution: pd.DataFrame, parameters: dict[str, Any]) -> Solution:
    """The first column is the row id, unless set."""
    if not len(solution.columns):
        raise HostError("the solution has no columns")
    arguments = {"row_id_column_name": str(solution.columns[0])} | parameters
    rows = rows_of_parts(solution)
    frame = solution.drop(columns=USAGE, errors="ignore")
    prepared: dict[str, Any] = {}
    items: dict[str, Bools] = {}
    notices: list[str] = []
    if hasattr(metric, "prepare"):
        with hosted.errors_explained(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            everything = metric.prepare(frame[rows[ALL]], **arguments)
        notices = [str(warning.message) for warning in caught]
        for part, of_part in rows.items():
            items[part] = items_of(everything, of_part[rows[ALL]], part)
            prepared[part] = everything if items[part].all() else statistics.part(everything, items[part])
    return Solution(metric, arguments, frame, rows, prepared, items, notices)


def read_pair(
    metric: Metric, solution: str | Path, submission: str | Path, parameters: dict[str, Any]
) -> tuple[pd.DataFrame, Solution, pd.DataFrame]:
    """What `read_solution`, `prepare` and `read_submission` return."""
    frame = read_solution(metric, solution, parameters)
    # Only a table is read in a thread: a reader's warnings would be taken for the solution's.
    if str(submission) == "-" or _official_reader(metric, submission, "read_submission"):
        return frame, prepare(metric, frame, parameters), read_submission(metric, submission, parameters)
    with ThreadPoolExecutor(1) as beside:
        predictions = beside.submit(read_submission, metric, submission, parameters)
        return frame, prepare(metric, frame, parameters), predictions.result()


def rows_of_parts(solution: pd.DataFrame) -> dict[str, Bools]:
    """The rows of each part; "All" lacks the ignored ones."""
    if USAGE not in solution:
        return {ALL: np.ones(len(solution), dtype=bool)}
    codes, values = pd.factorize(solution[USAGE])
    names = np.array([*values, "missing"], dtype=object)  # code -1 is the last
    unknown = ~np.isin(names, [*PARTS, IGNORED])[codes]
    if unknown.any():
        row = int(unknown.argmax())
        found = f"{names[codes[row]]!r} in row number {row + 1} of the solution"
        raise HostError(f"{USAGE}: expected {', '.join(PARTS)} or {IGNORED}, found {found}")
    parts = {part: (names == part)[codes] for part in PARTS}
    return {ALL: (names != IGNORED)[codes]} | {part: rows for part, rows in parts.items() if rows.any()}


def items_of(prepared: Any, rows: Bools, part: str) -> Bools:
    """The items, (n,), whose rows make up a part."""
    number = np.bincount(prepared.item_of_row, rows, minlength=len(prepared.items))
    split = (number > 0) & (number < np.bincount(prepared.item_of_row, minlength=len(prepared.items)))
    if split.any():
        first = prepared.items[int(split.argmax())]
        raise HostError(
            f"{USAGE}: expected one value for all rows of an item, found {part} in some rows only of "
            f"{int(split.sum()):,}, such as {first!r}"
        )
    return number > 0


def only(metric: Metric, solution: pd.DataFrame, prepared: Solution, kept: Bools) -> Solution:
    """The same of some items, (n,) of "All"."""
    rows = prepared.rows[ALL].copy()
    rows[rows] = kept[prepared.prepared[ALL].item_of_row]
    return prepare(metric, solution[rows], prepared.arguments)


def evaluate(solution: Solution, submission: pd.DataFrame) -> Evaluation:
    with hosted.errors_explained():
        if solution.prepared:
            submission = answers_to(solution, submission, ALL)
            prepared, read, compared = solution.prepared[ALL], None, None
            if hasattr(prepared, "compare"):
                read = prepared.read(submission)
                compared = prepared.compare(read)
                numbers = prepared.count(compared)
            else:
                numbers = prepared.statistics(submission)
            return Evaluation(solution, submission, scores_of(solution, numbers), numbers, read, compared)
        scores = {}
        for part, rows in solution.rows.items():
            frames = (solution.frame[rows].copy(), answers_to(solution, submission, part).copy())
            scores[part] = float(solution.metric.score(*frames, **solution.arguments))
        return Evaluation(solution, submission, scores)


def answers_to(solution: Solution, submission: pd.DataFrame, part: str) -> pd.DataFrame:
    """What the metric gets on Kaggle; rows that answer nothing stay."""
    row_id, rows = solution.arguments["row_id_column_name"], solution.rows[part]
    complete = getattr(solution.metric, "COMPLETE_SUBMISSION", False)
    if complete or rows.all() or not (row_id in submission and row_id in solution.frame):
        return submission
    others = set(solution.frame.loc[~rows, row_id].astype(str))
    answers: pd.DataFrame = submission[~submission[row_id].astype(str).isin(others)]
    return answers


def scores_of(solution: Solution, numbers: Floats) -> dict[str, float]:
    """Of each part, from the statistics of "All"."""
    return {
        part: statistics.measures(prepared, numbers[solution.items[part]])["score"]
        for part, prepared in solution.prepared.items()
    }
