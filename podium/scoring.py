"""Score submissions with a metric, on the whole solution and on its parts.

`prepare` turns a solution into a `Solution` once. `evaluate` scores a submission against it and returns an
`Evaluation`. `podium.score` does both. `read_solution` and `read_submission` read the tables from files.
"""

import contextlib
import functools
import html
import inspect
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
from podium.contract import Explanation, Metric, Progress, ids_of
from podium.errors import ContractWarning, HostError, SubmissionRejected, ToolError, UsageError
from podium.files import MOST_BYTES, is_table_name, is_url, parse_table, read_bytes
from podium.wording import counted, printable

__all__ = [
    "ALL",
    "PARTS",
    "USAGE",
    "Evaluation",
    "Solution",
    "add_side",
    "check_rows",
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
    """A solution and its parts, checked and prepared once, against which many submissions can be scored.

    Attributes
    ----------
    metric : podium.contract.Metric
        The metric that scores.
    arguments : dict of str to object
        The arguments of the metric's ``score`` besides the two tables, including ``row_id_column_name``.
    frame : DataFrame
        The solution without the column ``Usage``.
    rows : dict of str to (rows,) bool
        The rows of each part: "All", and "Public" and "Private" if ``Usage`` names them.
    prepared : dict of str to podium.contract.Prepared
        What the metric's ``prepare`` made of each part. It is empty if the metric has no ``prepare``.
    items : dict of str to (n,) bool
        For each part, which items of "All" belong to it. It is empty if the metric has no ``prepare``.
    notices : list of str
        The metric's warnings about the solution. They are for the host.
    checked : set of str
        The checks of the contract that this metric has passed on these rows; see `evaluate`.
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
        """The part that decides the final ranking: "Private" if there is such a part, otherwise "All"."""
        return PARTS[1] if PARTS[1] in self.rows else ALL

    def __repr__(self) -> str:
        items = f", {len(self.prepared[ALL].items):,} items" if self.prepared else ""
        parts = ", ".join(f"{part} {int(rows.sum()):,}" for part, rows in self.rows.items())
        return f"<prepared solution: rows {parts}{items}; {self.signature}>"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """A scored submission.

    Attributes
    ----------
    solution : Solution
        The solution against which it was scored.
    submission : DataFrame
        The rows of the submission that count.
    scores : dict of str to float
        The score of each part.
    statistics : (n, k) float, or None
        The k statistics of each of the n items of "All". All measures are computed from their sums. None if the
        metric has no ``prepare``.
    read, compared : object
        The results of the first two steps of a `podium.contract.StagedPrepared`, which the explanation needs.
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
        """The metric's name, version and every parameter, to be quoted with the score."""
        return self.solution.signature

    @functools.cached_property
    def measures(self) -> dict[str, float]:
        """All measures on the whole solution, by name, "score" first. An undefined measure is NaN."""
        if self.statistics is None:
            return {"score": self.score}
        return statistics.measures(self.prepared, self.statistics)

    @property
    def notices(self) -> list[str]:
        """Sentences about what is unusual in the solution and the submission, as `podium score` prints them."""
        return [*self.solution.notices, *self.explanation.notices]

    @property
    def loggable(self) -> dict[str, float]:
        """The defined measures, by names that loggers such as MLflow and W&B accept."""
        named = {re.sub(r"[^\w\-./ ]", "_", name): value for name, value in self.measures.items()}
        return {name: value for name, value in named.items() if not math.isnan(value)}

    def __getstate__(self) -> dict[str, Any]:
        # The explanation is made again where it is asked for; see `Explanation.__reduce__`.
        return {name: value for name, value in vars(self).items() if name != "explanation"}

    def __repr__(self) -> str:
        tables = [
            f"{title}\n{table.head(ROWS_SHOWN).to_string(index=False)}"
            for title, table in self.explanation.tables.items()
        ]
        warned = "\n".join(f"warning: {printable(notice)}" for notice in self.notices)
        return "\n\n".join([*([warned] if warned else []), self.score_lines, *tables, self.signature])

    def _repr_html_(self) -> str:
        tables = [
            f"<h4>{html.escape(title)}</h4>{table.head(ROWS_SHOWN).to_html(index=False, border=0)}"
            for title, table in self.explanation.tables.items()
        ]
        warned = "".join(f"<li>{html.escape(printable(notice))}</li>" for notice in self.notices)
        notices = f"<ul>{warned}</ul>" if warned else ""
        signature = f"<small>{html.escape(self.signature)}</small>"
        return f"{notices}<pre>{self.score_lines}</pre>{''.join(tables)}{signature}"

    @property
    def score_lines(self) -> str:
        """The score of each part, in one line per part."""
        return "\n".join(
            f"{'Score' if part == ALL else part:<8} {value:.6f}" for part, value in self.scores.items()
        )

    @functools.cached_property
    def explanation(self) -> Explanation:
        """What the metric's companion tells about this submission. It is empty if there is no companion.

        If the companion is not podium's own, what it tells is held to the contract first
        (`podium.contract.check_explanation`).
        """
        metric = self.solution.metric
        explain = metric.companion.explain
        if self.statistics is None or explain is None:
            return _Unexplained(self)
        if metric.is_own:
            return explain(self)
        with hosted.errors_explained(metric, companion=True):
            explanation = explain(self)
            contract.check_explanation(explanation)
            return explanation


class _Unexplained(Explanation):
    """The empty explanation of a metric that has no companion."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation


def text_columns(metric: Metric, parameters: dict[str, Any]) -> set[str]:
    """List the columns whose cells are read as text.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric, whose companion names columns of text.
    parameters : dict of str to object
        The parameters of the metric's ``score`` that were given.

    Returns
    -------
    set of str
        The companion's columns and the one that ``row_id_column_name`` names. For podium's own metrics also the
        other columns that parameters name. In another metric these may be numbers, such as weights, which
        platforms read as numbers, too.
    """
    names = set(metric.companion.text_columns)
    for name, value in (hosted.settings(metric, parameters) | parameters).items():
        if not metric.is_own and name != "row_id_column_name":
            continue
        if isinstance(value, str) and name.endswith("_column_name"):
            names.add(value)
        elif isinstance(value, str) and name.endswith("_column_names"):
            names |= {part.strip() for part in value.split(",")} - {""}
    return names


def read_solution(metric: Metric, path: str | Path, parameters: dict[str, Any]) -> pd.DataFrame:
    """Read a solution: a table, or an official file that the metric's companion reads.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric, whose companion may read official files.
    path : str or Path
        A file, a folder of official files, a URL, or ``"-"`` for standard input. Standard input is read as a
        table if its first line names a column that the metric's companion knows.
    parameters : dict of str to object
        The parameters of the metric's ``score`` that were given. They may name columns that are read as text.

    Returns
    -------
    DataFrame
        The solution.

    Raises
    ------
    HostError
        The content is wrong.
    UsageError
        The file cannot be read.
    """
    return _read(metric, metric.companion.read_solution, path, parameters, HostError)


def read_submission(metric: Metric, path: str | Path, parameters: dict[str, Any]) -> pd.DataFrame:
    """Read a submission: a table, or an official file that the metric's companion reads.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric, whose companion may read official files.
    path : str or Path
        A file, a URL, or ``"-"`` for standard input, as for `read_solution`.
    parameters : dict of str to object
        The parameters of the metric's ``score`` that were given, as for `read_solution`.

    Returns
    -------
    DataFrame
        The submission, without the columns that only the host may add.

    Raises
    ------
    SubmissionRejected
        The content is wrong.
    UsageError
        The file cannot be read.
    """
    return _without_side(
        metric, _read(metric, metric.companion.read_submission, path, parameters, SubmissionRejected)
    )


def parse_submission(
    metric: Metric, content: bytes, name: str, parameters: dict[str, Any], most_bytes: int = MOST_BYTES
) -> pd.DataFrame:
    """Read a submission from a file's content, so that exactly what was hashed is scored.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric, whose companion may read official files.
    content : bytes
        The content of the file.
    name : str
        The name of the file. Its ending tells a table from an official file, and messages name it.
    parameters : dict of str to object
        The parameters of the metric's ``score`` that were given.
    most_bytes : int
        The largest number of bytes that the content may have once expanded.

    Returns
    -------
    DataFrame
        The submission, without the columns that only the host may add.

    Raises
    ------
    SubmissionRejected
        The content is wrong or too large.
    """
    official = metric.companion.read_submission
    if official is None or is_table_name(name):
        table = _parse(metric, content, name, parameters, SubmissionRejected, most_bytes)
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
    """Read a table, or let `official` read an official file; `error` says whose fault wrong content is."""
    if official is None or is_table_name(path):
        return _parse(metric, read_bytes(path), str(path), parameters, error)
    if str(path) != "-" and not is_url(path):
        return official(Path(path))
    content = read_bytes(path)
    # A URL's query does not belong to the file's name.
    parts = urllib.parse.urlsplit(str(path))
    name = posixpath.basename(parts.netloc + parts.path) or "download"
    columns = text_columns(metric, parameters)
    is_table = _has_column(content, columns) if str(path) == "-" else is_table_name(name)
    if is_table:
        return _parse(metric, content, name, parameters, error)
    return _parse_official(official, content, "standard input" if name == "-" else name)


def _parse(
    metric: Metric,
    content: bytes,
    name: str,
    parameters: dict[str, Any],
    error: type[ToolError],
    most_bytes: int = MOST_BYTES,
) -> pd.DataFrame:
    """Parse the content of a table, with columns of texts and of numbers as the metric's companion says."""
    numbers = metric.companion.number_columns
    return parse_table(content, name, text_columns(metric, parameters), error, most_bytes, numbers)


def _parse_official(official: Callable[[Path], pd.DataFrame], content: bytes, name: str) -> pd.DataFrame:
    """Let a reader of official files, which takes a path, read a content."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(content)
        try:
            return official(path)
        except ToolError as problem:
            raise type(problem)(str(problem).replace(str(path), name)) from None


def _has_column(content: bytes, names: set[str]) -> bool:
    """Tell whether a content begins like a packed table, or names one of these columns in its first line."""
    if content.startswith((b"PAR1", b"PK")):
        return True
    with contextlib.suppress(zlib.error):
        content = zlib.decompressobj(31).decompress(content, 2**16)  # packed by gzip
    header = content[: 2**16].partition(b"\n")[0].decode("utf-8-sig", errors="replace")
    return not names.isdisjoint(cell.strip('" \r') for cell in header.split(","))


def _without_side(metric: Metric, submission: pd.DataFrame) -> pd.DataFrame:
    """Drop the columns that only the host may add, so that no participant can set them."""
    return submission.drop(columns=list(metric.companion.side_columns), errors="ignore")


def add_side(
    solution: Solution, submission: pd.DataFrame, path: str | Path, content: bytes | None = None
) -> pd.DataFrame:
    """Add to a submission what only the host may say of it, such as the experts' judgment in READ//ABLE's M7.

    Parameters
    ----------
    solution : Solution
        The prepared solution. Its metric's companion knows what such a file contains.
    submission : DataFrame
        The submission as it was read.
    path : str or Path
        The host's file. Messages name it.
    content : bytes, optional
        The content of the file, if it has been read already.

    Returns
    -------
    DataFrame
        The submission with the further columns.

    Raises
    ------
    UsageError
        The metric takes no such file.
    HostError
        The file is malformed.
    """
    add = solution.metric.companion.add_side
    if add is None:
        raise UsageError(f"{path}: this metric takes no further file with a submission")
    content = read_bytes(path) if content is None else content
    side = parse_table(content, str(path), text_columns(solution.metric, solution.arguments), HostError)
    return add(submission, side, solution.arguments["row_id_column_name"])


def prepare(
    metric: Metric, solution: pd.DataFrame, parameters: dict[str, Any], progress: Progress | None = None
) -> Solution:
    """Check a solution and compute what depends on it alone, once for many submissions.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric that scores.
    solution : DataFrame
        The solution, with its column ``Usage`` if it has one.
    parameters : dict of str to object
        Parameters of the metric's ``score``. Without ``row_id_column_name``, the first column names the rows.
    progress : function of (int, int), optional
        A metric that takes long calls it with the work done and the total.

    Returns
    -------
    Solution
        The prepared solution.

    Raises
    ------
    HostError
        The solution or a parameter is wrong, or the metric breaks the contract (see
        `podium.contract.check_prepared`).

    Notes
    -----
    Podium's own metrics are not checked against the contract here, because podium's tests do so.
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
            everything = metric.prepare(frame[rows[ALL]], **arguments, **_told(metric.prepare, progress))
            if not metric.is_own:
                contract.check_prepared(metric, everything, int(rows[ALL].sum()))
        notices = [str(warning.message) for warning in caught]
        for part, of_part in rows.items():
            items[part] = items_of(everything, of_part[rows[ALL]], part)
            prepared[part] = everything if items[part].all() else statistics.part(everything, items[part])
    return Solution(metric, arguments, frame, rows, prepared, items, notices)


@contextlib.contextmanager
def _columns_explained(metric: Metric, arguments: dict[str, Any], solution: pd.DataFrame) -> Iterator[None]:
    """Add the name of the parameter to an error about a missing column that the parameter names."""
    try:
        yield
    except HostError as problem:
        for name, value in (hosted.settings(metric, arguments) | arguments).items():
            if isinstance(value, str) and name.endswith("_column_names"):
                missing = {part.strip() for part in value.split(",")} - {"", *map(str, solution)}
                if any(column in str(problem) for column in missing):
                    more = re.search(r"expected (\d+) more columns", str(problem))
                    lacks_others = more is not None and int(more[1]) > len(missing)
                    other = ". If it is for another metric, name that by --metric" if lacks_others else ""
                    raise HostError(
                        f"{problem}. Set the parameter {name} to columns of this solution, or to nothing{other}"
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

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric that scores.
    solution : str or Path
        The file of the solution, as for `read_solution`.
    submission : str or Path
        The file of the submission, as for `read_submission`.
    parameters : dict of str to object
        Parameters of the metric's ``score``, as for `prepare`.
    progress : function of (int, int), optional
        A metric that takes long calls it with the work done and the total.

    Returns
    -------
    frame : DataFrame
        The solution as `read_solution` returns it.
    prepared : Solution
        The solution as `prepare` returns it.
    predictions : DataFrame
        The submission as `read_submission` returns it.

    Raises
    ------
    HostError
        The solution, a parameter or the metric is wrong.
    SubmissionRejected
        The submission cannot be understood.
    UsageError
        A file cannot be read.

    Notes
    -----
    A table with predictions is read in a thread while the solution is prepared. This saves a twentieth of the
    time.
    """
    frame = read_solution(metric, solution, parameters)
    # An official file is not read in a thread, because `prepare` would record its reader's warnings as warnings
    # about the solution.
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
    """Find the rows of each part of a solution by its column ``Usage``.

    Parameters
    ----------
    solution : DataFrame
        The solution, with or without the column ``Usage``.

    Returns
    -------
    dict of str to (rows,) bool
        The rows of "All", which are all rows but the Ignored ones, and of "Public" and "Private" if these have
        any rows.

    Raises
    ------
    HostError
        A cell of ``Usage`` is neither Public nor Private nor Ignored.
    """
    if USAGE not in solution:
        return {ALL: np.ones(len(solution), dtype=bool)}
    codes, values = pd.factorize(solution[USAGE])
    names = np.array(
        [*values, "missing"], dtype=object
    )  # A missing cell has the code -1, which takes the last one.
    unknown = ~np.isin(names, [*PARTS, IGNORED])[codes]
    if unknown.any():
        row = int(unknown.argmax())
        cell = f"{names[codes[row]]!r} in row number {row + 1} of the solution"
        raise HostError(f"{USAGE}: expected {', '.join(PARTS)} or {IGNORED}, found {cell}")
    parts = {part: (names == part)[codes] for part in PARTS}
    return {ALL: (names != IGNORED)[codes]} | {part: rows for part, rows in parts.items() if rows.any()}


def items_of(prepared: Any, rows: Bools, part: str) -> Bools:
    """Find the items whose rows make up a part.

    Parameters
    ----------
    prepared : podium.contract.Prepared
        The whole solution as the metric prepared it.
    rows : (rows,) bool
        The rows of the part.
    part : str
        The name of the part, for messages.

    Returns
    -------
    (n,) bool
        For each item, whether it belongs to the part.

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
            f"{USAGE}: expected one value for all rows of an item, found {part} in only some of the rows of "
            f"{counted(int(split.sum()), 'item')}, such as {first!r}"
        )
    return number > 0


def solution_of_items(solution: Solution, frame: pd.DataFrame, kept: Bools) -> Solution:
    """Make a prepared solution of some items of another one.

    Parameters
    ----------
    solution : Solution
        The whole prepared solution.
    frame : DataFrame
        The table from which it was prepared, with ``Usage``.
    kept : (n,) bool
        The items of "All" to keep.

    Returns
    -------
    Solution
        The solution of these items alone.

    Raises
    ------
    HostError
        The metric refuses the solution of these items.
    """
    rows = solution.rows[ALL].copy()
    rows[rows] = kept[solution.prepared[ALL].item_of_row]
    return prepare(solution.metric, frame[rows], solution.arguments)


def evaluate(solution: Solution, submission: pd.DataFrame, progress: Progress | None = None) -> Evaluation:
    """Score a submission against a prepared solution.

    Parameters
    ----------
    solution : Solution
        What `prepare` made.
    submission : DataFrame
        The predictions.
    progress : function of (int, int), optional
        A metric that takes long calls it with the work done and the total.

    Returns
    -------
    Evaluation
        The scores, and what is needed to explain them.

    Raises
    ------
    SubmissionRejected
        The metric rejects the submission. The text is for participants.
    HostError
        The metric rejects the solution or a parameter, raises another exception, or breaks the contract.

    Notes
    -----
    A metric that is not podium's own is checked against the contract with its first submission; see
    `podium.contract.check_statistics` and `podium.contract.check_score`.
    """
    metric = solution.metric
    with hosted.errors_explained(metric, submission=True):
        if solution.prepared:
            submission = answers_to(solution, submission, ALL)
            prepared, read, compared = solution.prepared[ALL], None, None
            if hasattr(prepared, "compare"):
                read = prepared.read(submission)
                compared = prepared.compare(read, **_told(prepared.compare, progress))
                numbers = prepared.count(compared)
            else:
                numbers = prepared.statistics(submission, **_told(prepared.statistics, progress))
            if not metric.is_own and "submission" not in solution.checked:
                contract.check_statistics(metric, prepared, submission, numbers)
                frame = solution.frame[solution.rows[ALL]]
                contract.check_score(metric, frame, prepared, submission, numbers, solution.arguments)
                contract.check_measure_parameters(metric, frame, submission, numbers, solution.arguments)
                solution.checked.add("submission")
            return Evaluation(solution, submission, scores_of(solution, numbers), numbers, read, compared)
        submission = _rows_for(solution, submission)
        scores = {}
        for part, rows in solution.rows.items():
            tables = _tables_of_part(solution, submission, rows)
            scores[part] = contract.one_float(metric, metric.score(*tables, **solution.arguments))
        if "submission" not in solution.checked:
            tables = _tables_of_part(solution, submission, solution.rows[ALL])
            for told in contract.check_alone(metric, *tables, solution.arguments, scores[ALL]):
                warnings.warn(told, ContractWarning, stacklevel=2)
            solution.checked.add("submission")
        return Evaluation(solution, submission, scores)


def _told(step: Callable[..., Any], progress: Progress | None) -> dict[str, Any]:
    """The argument ``progress`` for a step of a metric that takes it; nothing for another one."""
    return {"progress": progress} if "progress" in inspect.signature(step).parameters else {}


def _rows_for(solution: Solution, submission: pd.DataFrame) -> pd.DataFrame:
    """Put a submission into the order of the solution, as platforms do before they call a metric.

    A metric without statistics relies on it that the rows are there and in this order. With
    ``COMPLETE_SUBMISSION`` it matches the rows itself.
    """
    if solution.metric.complete_submission:
        return submission
    row_id = solution.arguments["row_id_column_name"]
    if row_id not in solution.frame:
        columns = ", ".join(map(str, solution.frame.columns))
        raise HostError(f"the solution has no column {row_id}; it has {columns}")
    is_part = len(solution.rows.keys() & {*PARTS}) == 1  # the host ranks with one part of a solution alone
    if is_part and row_id in submission:
        submission = submission[ids_of(submission, row_id).isin(ids_of(solution.frame, row_id))]
    check_rows(solution.frame, submission, row_id)
    ids = pd.Index(ids_of(submission, row_id))
    wanted = ids_of(solution.frame, row_id)
    if not wanted.is_unique:
        raise HostError(
            f"{row_id}: expected one row per id in the solution, as platforms align by it. "
            f"{wanted[wanted.duplicated()].iloc[0]!r} occurs twice: should the metric file say "
            "COMPLETE_SUBMISSION = True?"
        )
    ordered: pd.DataFrame = submission.iloc[ids.get_indexer(pd.Index(wanted))]
    return ordered


def _tables_of_part(
    solution: Solution, submission: pd.DataFrame, rows: Bools
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Copy the tables that a metric without statistics gets for a part; their rows are numbered from 0.

    With other indices, ``solution["x"] - submission["x"]`` would match rows by the index.
    """
    answers = submission if solution.metric.complete_submission else submission[rows]
    return solution.frame[rows].reset_index(drop=True), answers.reset_index(drop=True)


def check_rows(solution: pd.DataFrame, submission: pd.DataFrame, row_id: str) -> None:
    """Make the checks that Kaggle makes before it calls a metric, with Kaggle's own messages.

    Parameters
    ----------
    solution : DataFrame
        The solution.
    submission : DataFrame
        The submission.
    row_id : str
        The name of the column by which Kaggle aligns rows.

    Raises
    ------
    SubmissionRejected
        Kaggle would reject the submission.
    """
    if row_id not in submission:
        raise SubmissionRejected(f"ID column {row_id} not found in submission")
    given, expected = len(submission), len(solution)
    if given != expected:
        raise SubmissionRejected(f"Submission has {given} rows but {expected} were expected.")
    if sorted(ids_of(submission, row_id)) != sorted(ids_of(solution, row_id)):
        raise SubmissionRejected(f"Solution and submission values for {row_id} do not match")
    if submission.isna().to_numpy().any():
        raise SubmissionRejected("Submission contains null values")


def answers_to(solution: Solution, submission: pd.DataFrame, part: str) -> pd.DataFrame:
    """Select the rows of a submission that the metric gets for a part; see `podium.contract.rows_that_answer`.

    Parameters
    ----------
    solution : Solution
        The prepared solution.
    submission : DataFrame
        The whole submission.
    part : {"All", "Public", "Private"}
        The part to be scored.

    Returns
    -------
    DataFrame
        The rows for that part.
    """
    row_id = solution.arguments["row_id_column_name"]
    return contract.rows_that_answer(solution.metric, solution.frame, solution.rows[part], submission, row_id)


def scores_of(solution: Solution, numbers: Floats) -> dict[str, float]:
    """Compute the score of each part from the statistics of a submission.

    Parameters
    ----------
    solution : Solution
        The prepared solution, whose metric has a ``prepare``.
    numbers : (n, k) float
        The k statistics of the submission for each of the n items of "All".

    Returns
    -------
    dict of str to float
        The score by the name of the part.
    """
    return {
        part: statistics.measures(prepared, numbers[solution.items[part]])["score"]
        for part, prepared in solution.prepared.items()
    }
