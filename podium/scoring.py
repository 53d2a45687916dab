"""A submission scored with a metric, on the whole solution and on its parts.

`prepare` makes a `Solution` of the truth once; `evaluate` scores a submission against it and returns an
`Evaluation`.  `podium.score` does both.  `read_solution` and `read_submission` make the tables of files.
"""

import contextlib
import functools
import html
import math
import posixpath
import re
import tempfile
import urllib.parse
import warnings
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import contract, hosted, statistics
from podium.contract import Explanation, Metric, Progress
from podium.errors import HostError, SubmissionRejected, ToolError, UsageError
from podium.files import MOST_BYTES, is_table_name, is_url, parse_table, read_bytes, read_table

__all__ = [
    "ALL",
    "PARTS",
    "USAGE",
    "Evaluation",
    "Solution",
    "add_side",
    "evaluate",
    "items_of",
    "parse_submission",
    "prepare",
    "read_pair",
    "read_solution",
    "read_submission",
    "rows_of_parts",
    "scores_of",
    "solution_of_items",
]

USAGE = "Usage"
ALL = "All"
PARTS = ("Public", "Private")
IGNORED = "Ignored"
ROWS_SHOWN = 20  # of a table in a notebook

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A solution and its parts, checked and digested once, to score many submissions against.

    Attributes
    ----------
    metric : podium.contract.Metric
    arguments : dict
        The arguments of the metric's ``score`` beside the two tables, ``row_id_column_name`` among them.
    frame : DataFrame
        The solution without the column ``Usage``.
    rows : dict of str to (rows,) bool
        The rows of each part: "All", and "Public" and "Private" where ``Usage`` names them.
    prepared : dict of str to podium.contract.Prepared
        What the metric's ``prepare`` made of each part; empty where the metric has none.
    items : dict of str to (n,) bool
        The items of each part among those of "All"; empty likewise.
    notices : list of str
        The metric's warnings about the solution.  They are for the host.
    checked : set of str
        Which checks of the contract this metric has passed on these rows; see `evaluate`.
    """

    metric: Metric
    arguments: dict[str, Any]
    frame: pd.DataFrame
    rows: dict[str, Bools]
    prepared: dict[str, Any]
    items: dict[str, Bools]
    notices: list[str]
    checked: set[str] = field(default_factory=set)

    @property
    def signature(self) -> str:
        """The metric's name, version and every parameter."""
        return hosted.signature(self.metric, self.arguments)

    @property
    def deciding(self) -> str:
        """The part of the final ranking: "Private" where there is one, else "All"."""
        return PARTS[1] if PARTS[1] in self.rows else ALL

    def __repr__(self) -> str:
        items = f", {len(self.prepared[ALL].items):,} items" if self.prepared else ""
        parts = ", ".join(f"{part} {int(rows.sum()):,}" for part, rows in self.rows.items())
        return f"<prepared solution: rows {parts}{items}; {self.signature}>"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What became of one submission.

    Attributes
    ----------
    solution : Solution
    submission : DataFrame
        The rows of the submission that count.
    scores : dict of str to float
        The score of each part.
    statistics : (n, k) float, or None
        Numbers of each item of "All", of whose sums all measures are; None where the metric offers none.
    read, compared : object
        What the first two steps of a `podium.contract.StagedPrepared` gave, for the explanation.
    """

    solution: Solution
    submission: pd.DataFrame
    scores: dict[str, float]
    statistics: Floats | None = None
    read: Any = None
    compared: Any = None

    @property
    def score(self) -> float:
        """The score on the whole solution."""
        return self.scores[ALL]

    @property
    def prepared(self) -> Any:
        """What the metric's ``prepare`` made of the whole solution."""
        return self.solution.prepared[ALL]

    @property
    def signature(self) -> str:
        """The metric's name, version and every parameter: quote it with the score."""
        return self.solution.signature

    @functools.cached_property
    def measures(self) -> dict[str, float]:
        """All measures by name, "score" first, on the whole solution; NaN where one is not defined."""
        if self.statistics is None:
            return {"score": self.score}
        return statistics.measures(self.prepared, self.statistics)

    @property
    def loggable(self) -> dict[str, float]:
        """The measures that are defined, under names that loggers such as MLflow and W&B accept."""
        named = {re.sub(r"[^\w\-./ ]", "_", name): value for name, value in self.measures.items()}
        return {name: value for name, value in named.items() if not math.isnan(value)}

    def __repr__(self) -> str:
        tables = [
            f"{title}\n{table.head(ROWS_SHOWN).to_string(index=False)}"
            for title, table in self.explanation.tables.items()
        ]
        return "\n\n".join([self.score_lines, *tables, self.signature])

    def _repr_html_(self) -> str:
        tables = [
            f"<h4>{html.escape(title)}</h4>{table.head(ROWS_SHOWN).to_html(index=False, border=0)}"
            for title, table in self.explanation.tables.items()
        ]
        return f"<pre>{self.score_lines}</pre>{''.join(tables)}<small>{html.escape(self.signature)}</small>"

    @property
    def score_lines(self) -> str:
        """The score of each part, one line each."""
        return "\n".join(
            f"{'Score' if part == ALL else part:<8} {value:.6f}" for part, value in self.scores.items()
        )

    @functools.cached_property
    def explanation(self) -> Explanation:
        """What the metric's companion tells about this submission; nothing where there is no companion."""
        explain = self.solution.metric.companion.explain
        if self.statistics is None or explain is None:
            return _Unexplained(self)
        return explain(self)


class _Unexplained(Explanation):
    """The explanation of a metric that has no companion: it tells nothing."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation


def text_columns(metric: Metric, parameters: dict[str, Any]) -> set[str]:
    """The columns whose cells are read as text: the companion's, and those that parameters name."""
    names = set(metric.companion.text_columns)
    for name, value in (hosted.settings(metric, parameters) | parameters).items():
        if isinstance(value, str) and name.endswith("_column_name"):
            names.add(value)
        elif isinstance(value, str) and name.endswith("_column_names"):
            names |= {part.strip() for part in value.split(",")} - {""}
    return names


def read_solution(metric: Metric, path: str | Path, parameters: dict[str, Any]) -> pd.DataFrame:
    """Read a solution: a table, or an official file, which the metric's companion reads.

    Parameters
    ----------
    metric : Metric
    path : str or Path
        A file, a folder of official files, a URL, or ``"-"`` for standard input.  What comes from standard
        input is a table if its first line names a column that the metric's companion knows.
    parameters : dict
        Those of the metric's ``score`` that are given.

    Returns
    -------
    DataFrame

    Raises
    ------
    HostError
        The content is wrong.
    UsageError
        It cannot be read.
    """
    return _read(metric, metric.companion.read_solution, path, parameters, HostError)


def read_submission(metric: Metric, path: str | Path, parameters: dict[str, Any]) -> pd.DataFrame:
    """Read a submission, without the columns that only the host may add.

    The parameters are those of `read_solution`; wrong content is a `SubmissionRejected`.
    """
    return _without_side(
        metric, _read(metric, metric.companion.read_submission, path, parameters, SubmissionRejected)
    )


def parse_submission(
    metric: Metric, content: bytes, name: str, parameters: dict[str, Any], most_bytes: int = MOST_BYTES
) -> pd.DataFrame:
    """As `read_submission`, of a file's content: what was hashed is what is scored.

    It may have `most_bytes` once expanded.
    """
    official = metric.companion.read_submission
    if official is None or is_table_name(name):
        table = parse_table(content, name, text_columns(metric, parameters), SubmissionRejected, most_bytes)
        return _without_side(metric, table)
    if len(content) > most_bytes:
        raise SubmissionRejected(f"{name}: expected at most {most_bytes >> 20:,} MB, found more")
    return _without_side(metric, _parse_official(official, content, name))


def _read(
    metric: Metric,
    official: Callable[[Path], pd.DataFrame] | None,
    path: str | Path,
    parameters: dict[str, Any],
    error: type[ToolError],
) -> pd.DataFrame:
    columns = text_columns(metric, parameters)
    if official is None or is_table_name(path):
        return read_table(path, columns, error)
    if str(path) != "-" and not is_url(path):
        return official(Path(path))
    content = read_bytes(path)
    # A URL's query is no part of the file's name.
    parts = urllib.parse.urlsplit(str(path))
    name = posixpath.basename(parts.netloc + parts.path) or "download"
    is_table = _has_column(content, columns) if str(path) == "-" else is_table_name(name)
    if is_table:
        return parse_table(content, name, columns, error)
    return _parse_official(official, content, "standard input" if name == "-" else name)


def _parse_official(official: Callable[[Path], pd.DataFrame], content: bytes, name: str) -> pd.DataFrame:
    """What a reader of official files, which takes paths, makes of a content."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(content)
        try:
            return official(path)
        except ToolError as problem:
            raise type(problem)(str(problem).replace(str(path), name)) from None


def _has_column(content: bytes, names: set[str]) -> bool:
    """Whether a content is a table by its first bytes, or has one of these columns in its first line."""
    if content.startswith((b"PAR1", b"PK")):
        return True
    with contextlib.suppress(zlib.error):
        content = zlib.decompressobj(31).decompress(content, 2**16)  # packed by gzip
    header = content[: 2**16].partition(b"\n")[0].decode("utf-8-sig", errors="replace")
    return not names.isdisjoint(cell.strip('" \r') for cell in header.split(","))


def _without_side(metric: Metric, submission: pd.DataFrame) -> pd.DataFrame:
    return submission.drop(columns=list(metric.companion.side_columns), errors="ignore")


def add_side(
    solution: Solution, submission: pd.DataFrame, path: str | Path, content: bytes | None = None
) -> pd.DataFrame:
    """The submission with what only the host may say of it, such as the experts' judgment in READ//ABLE's M7.

    Parameters
    ----------
    solution : Solution
        Its metric's companion knows what such a file has.
    submission : DataFrame
    path : str or Path
        Of the host's file; it names the file in messages.
    content : bytes, optional
        The file's content, where it has been read already.

    Raises
    ------
    UsageError
        The metric takes no such file.
    HostError
        The file is malformed.
    """
    add = solution.metric.companion.add_side
    if add is None:
        raise UsageError(f"{path}: this metric takes no file beside a submission")
    content = read_bytes(path) if content is None else content
    side = parse_table(content, str(path), text_columns(solution.metric, solution.arguments), HostError)
    return add(submission, side, solution.arguments["row_id_column_name"])


def prepare(
    metric: Metric, solution: pd.DataFrame, parameters: dict[str, Any], progress: Progress | None = None
) -> Solution:
    """Check and digest a solution once, for many submissions.

    Parameters
    ----------
    metric : Metric
    solution : DataFrame
        With its column ``Usage``, if it has one.
    parameters : dict
        Of the metric's ``score``.  Unless ``row_id_column_name`` is among them, the first column names the
        rows.
    progress : function of the work done and the total, optional
        Called by metrics that work for long.

    Returns
    -------
    Solution

    Raises
    ------
    HostError
        The solution or a parameter is wrong, or what the metric prepares breaks the contract
        (`podium.contract.check_prepared`; podium's own metrics are held to it by its tests).
    """
    if not len(solution.columns):
        raise HostError("the solution has no columns")
    arguments = {"row_id_column_name": str(solution.columns[0])} | parameters
    rows = rows_of_parts(solution)
    frame = solution.drop(columns=USAGE, errors="ignore")
    prepared: dict[str, Any] = {}
    items: dict[str, Bools] = {}
    notices: list[str] = []
    if metric.prepare is not None:
        with (
            _columns_explained(metric, arguments, frame),
            hosted.errors_explained(metric),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            told = {"progress": progress} if metric.takes_progress else {}
            everything = metric.prepare(frame[rows[ALL]], **arguments, **told)
            if not metric.is_own:
                contract.check_prepared(metric, everything, int(rows[ALL].sum()))
        notices = [str(warning.message) for warning in caught]
        for part, of_part in rows.items():
            items[part] = items_of(everything, of_part[rows[ALL]], part)
            prepared[part] = everything if items[part].all() else statistics.part(everything, items[part])
    return Solution(metric, arguments, frame, rows, prepared, items, notices)


@contextlib.contextmanager
def _columns_explained(metric: Metric, arguments: dict[str, Any], solution: pd.DataFrame) -> Iterator[None]:
    """Where a column is missing that a parameter names, the error names the parameter."""
    try:
        yield
    except HostError as problem:
        for name, value in (hosted.settings(metric, arguments) | arguments).items():
            if isinstance(value, str) and name.endswith("_column_names"):
                missing = {part.strip() for part in value.split(",")} - {"", *map(str, solution)}
                if any(column in str(problem) for column in missing):
                    raise HostError(
                        f"{problem}. Set the parameter {name} to columns of this solution, or to nothing"
                    ) from problem
        raise


def read_pair(
    metric: Metric,
    solution: str | Path,
    submission: str | Path,
    parameters: dict[str, Any],
    progress: Progress | None = None,
) -> tuple[pd.DataFrame, Solution, pd.DataFrame]:
    """Read a solution and a submission, and prepare the solution.

    Returns
    -------
    (DataFrame, Solution, DataFrame)
        What `read_solution`, `prepare` and `read_submission` return.  The submission is read in a thread while
        the solution is prepared, because that saves a twentieth of the time.
    """
    frame = read_solution(metric, solution, parameters)
    # Only a table is read in a thread: a reader's warnings would be taken for the solution's.
    if not is_table_name(submission):
        return (
            frame,
            prepare(metric, frame, parameters, progress),
            read_submission(metric, submission, parameters),
        )
    with ThreadPoolExecutor(1) as beside:
        predictions = beside.submit(read_submission, metric, submission, parameters)
        return frame, prepare(metric, frame, parameters, progress), predictions.result()


def rows_of_parts(solution: pd.DataFrame) -> dict[str, Bools]:
    """The rows of each part of a solution, by its column ``Usage``.

    Returns
    -------
    dict of str to (rows,) bool
        "All", which lacks the rows that are Ignored, and "Public" and "Private" where there are such.

    Raises
    ------
    HostError
        A cell of ``Usage`` is neither Public nor Private nor Ignored.
    """
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
    """The items whose rows make up a part.

    Parameters
    ----------
    prepared : podium.contract.Prepared
        Of the whole solution.
    rows : (rows,) bool
        The rows of the part.
    part : str
        Its name, for messages.

    Returns
    -------
    (n,) bool

    Raises
    ------
    HostError
        Some rows of an item belong to the part and others do not.
    """
    number = np.bincount(prepared.item_of_row, rows, minlength=len(prepared.items))
    split = (number > 0) & (number < np.bincount(prepared.item_of_row, minlength=len(prepared.items)))
    if split.any():
        first = prepared.items[int(split.argmax())]
        raise HostError(
            f"{USAGE}: expected one value for all rows of an item, found {part} in some rows only of "
            f"{int(split.sum()):,}, such as {first!r}"
        )
    return number > 0


def solution_of_items(solution: Solution, frame: pd.DataFrame, kept: Bools) -> Solution:
    """A prepared solution of some of its items.

    Parameters
    ----------
    solution : Solution
    frame : DataFrame
        The table that it was prepared from, with ``Usage``.
    kept : (n,) bool
        The items of "All" to keep.
    """
    rows = solution.rows[ALL].copy()
    rows[rows] = kept[solution.prepared[ALL].item_of_row]
    return prepare(solution.metric, frame[rows], solution.arguments)


def evaluate(solution: Solution, submission: pd.DataFrame, progress: Progress | None = None) -> Evaluation:
    """Score a submission against a prepared solution.

    The first submission that a metric which is not podium's own scores is also used to hold that metric to the
    contract (`podium.contract.check_statistics`, `podium.contract.check_score`).

    Parameters
    ----------
    solution : Solution
        What `prepare` made.
    submission : DataFrame
    progress : function of the work done and the total, optional
        Called by metrics that work for long.

    Raises
    ------
    SubmissionRejected
        The metric rejects the submission; the text is for participants.
    HostError
        The metric finds the solution or a parameter wrong, raises something else, or breaks the contract.
    """
    metric = solution.metric
    with hosted.errors_explained(metric, submission=True):
        if solution.prepared:
            submission = answers_to(solution, submission, ALL)
            prepared, read, compared = solution.prepared[ALL], None, None
            if hasattr(prepared, "compare"):
                read = prepared.read(submission)
                compared = prepared.compare(read, progress) if metric.takes_progress else prepared.compare(read)
                numbers = prepared.count(compared)
            else:
                numbers = prepared.statistics(submission)
            if not metric.is_own and "submission" not in solution.checked:
                contract.check_statistics(metric, prepared, submission, numbers)
                frame = solution.frame[solution.rows[ALL]]
                contract.check_score(metric, frame, prepared, submission, numbers, solution.arguments)
                solution.checked.add("submission")
            return Evaluation(solution, submission, scores_of(solution, numbers), numbers, read, compared)
        scores = {}
        for part, rows in solution.rows.items():
            truth = solution.frame[rows]
            answers = _aligned(solution, truth, answers_to(solution, submission, part))
            scores[part] = float(metric.score(truth.copy(), answers.copy(), **solution.arguments))
        return Evaluation(solution, submission, scores)


def _aligned(solution: Solution, truth: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """The answers in the order of the truth, as Kaggle hands them to a metric that is no
    ``COMPLETE_SUBMISSION``.

    Where the ids of the two are not the same, each once, the metric gets the answers as they are.
    """
    row_id = solution.arguments["row_id_column_name"]
    if solution.metric.complete_submission or row_id not in truth or row_id not in answers:
        return answers
    wanted, given = (pd.Index(frame[row_id].astype(str)) for frame in (truth, answers))
    if not wanted.is_unique or not given.is_unique or len(wanted) != len(given):
        return answers
    order = given.get_indexer(wanted)
    return answers if (order < 0).any() else answers.iloc[order]


def answers_to(solution: Solution, submission: pd.DataFrame, part: str) -> pd.DataFrame:
    """The rows of a submission that the metric gets for a part; see `podium.contract.rows_that_answer`."""
    row_id = solution.arguments["row_id_column_name"]
    return contract.rows_that_answer(solution.metric, solution.frame, solution.rows[part], submission, row_id)


def scores_of(solution: Solution, numbers: Floats) -> dict[str, float]:
    """The score of each part.

    Parameters
    ----------
    solution : Solution
    numbers : (n, k) float
        The statistics of a submission, of the items of "All".

    Returns
    -------
    dict of str to float
    """
    return {
        part: statistics.measures(prepared, numbers[solution.items[part]])["score"]
        for part, prepared in solution.prepared.items()
    }
