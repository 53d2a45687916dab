"""Score submissions with a metric, on the whole solution and on its parts.

`prepare` turns a solution into a `Solution` once. `evaluate` scores a submission against it and returns an
`Evaluation`. `podium.score` does both. `podium.contest.reading` reads the tables from files.
"""

import contextlib
import functools
import html
import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, SupportsIndex, cast

import numpy as np
import pandas as pd

import podium
from podium import statistics
from podium.child.workers import forked_if_clean
from podium.common.arrays import Bools, Floats, Ints
from podium.common.errors import HostError, MetricError, SubmissionRejected, UsageError
from podium.common.options import as_option, as_parameter
from podium.common.wording import counted, printable
from podium.metric import guard
from podium.metric.contract import Explanation, Metric, Prepared, Progress, StagedPrepared
from podium.metric.parameters import columns_named, higher_is_better, signature_of, values_of
from podium.scoring import constant, misfits
from podium.scoring.alignment import answers_for, answers_to
from podium.statistics import halves
from podium.tables import ids, names
from podium.tables.frames import as_frame

USAGE = ids.USAGE
ALL = "All"
PARTS = ("Public", "Private")
IGNORED = "Ignored"
ROWS_SHOWN = 20  # of a table in a notebook


@dataclass(eq=False, repr=False)
class Solution:
    """A solution and its parts, checked and prepared once, against which many submissions can be scored.

    Attributes
    ----------
    metric : podium.metric.contract.Metric
        The metric that scores.
    arguments : dict of str to object
        All arguments of the metric's ``score`` besides the two tables, including ``row_id_column_name``.
    frame : DataFrame
        The solution without the column ``Usage``.
    rows : dict of str to (rows,) bool
        The rows of each part: "All", and "Public" and "Private" if ``Usage`` names them.
    prepared : dict of str to podium.metric.contract.Prepared
        What the metric's ``prepare`` made of each part. It is empty if the metric has no ``prepare``.
    items : dict of str to (n,) bool
        For each part, which items of "All" belong to it. It is empty if the metric has no ``prepare``.
    notices : list of str
        The metric's warnings about the solution. They are for the host.
    further : dict of str to str
        What else changes the scores and is therefore in the signature, such as "essays": "5/40".
    is_held : bool
        Whether the metric was held to the contract with a first submission; see `podium.scoring.verdicts.hold`.
    narrowed_from : DataFrame or None
        If `narrowed` made this solution, the ids of all rows of the whole one. A submission may also answer
        the rows that were left out; these answers do not count.
    """

    metric: Metric
    arguments: dict[str, Any]
    frame: pd.DataFrame
    rows: dict[str, Bools]
    prepared: dict[str, Prepared]
    items: dict[str, Bools]
    notices: list[str]
    further: dict[str, str] = field(default_factory=dict)
    is_held: bool = False
    narrowed_from: pd.DataFrame | None = None

    @property
    def signature(self) -> str:
        """The metric's name, version and every parameter."""
        return signature_of(self.metric, self.arguments, self.further)

    @property
    def table(self) -> pd.DataFrame:
        """The solution with the column ``Usage``, if it names parts."""
        parts = {part: rows for part, rows in self.rows.items() if part in PARTS}
        if not parts:
            return self.frame
        return self.frame.assign(**{USAGE: np.select(list(parts.values()), list(parts), IGNORED)})

    @property
    def counts(self) -> Bools:
        """Which rows count."""
        return self.rows[ALL]

    @property
    def is_one_part(self) -> bool:
        """Whether the host ranks with the rows of one part alone."""
        return len(self.rows.keys() & {*PARTS}) == 1

    @property
    def deciding(self) -> str:
        """The part that decides the final ranking: "Private" if there is such a part, otherwise "All"."""
        return PARTS[1] if PARTS[1] in self.rows else ALL

    @functools.cached_property
    def higher_is_better(self) -> bool:
        """Whether a higher score is better."""
        return higher_is_better(self.metric, self.arguments)

    def tables(self, submission: pd.DataFrame, rows: Bools | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Make the tables that ``score()`` gets for all rows of the solution that count, or for some of them.

        `submission` is the one of an `Evaluation`. Both tables have new indices: with others,
        ``solution["x"] - submission["x"]`` would match rows by the index.
        """
        rows = self.rows[ALL] if rows is None else rows
        frame, is_complete = self.frame[rows], self.metric.complete_submission
        if not self.prepared:  # `answers_for` has put them into this order
            answers = submission if is_complete else submission[rows]
        else:
            answers = answers_to(self, submission, rows)
            if not is_complete:
                with contextlib.suppress(
                    HostError, SubmissionRejected, KeyError
                ):  # the metric says what is wrong
                    answers = ids.in_order(frame, answers, self.arguments["row_id_column_name"])
        return frame.reset_index(drop=True), answers.reset_index(drop=True)

    def items_of(self, part: str, column: str = "") -> halves.Items:
        """Number the items of a part for half-samples: rows with the same value in a column, or the same id.

        Give several columns with commas between them: rows that share a value in one of them belong together.
        """
        row_id, by = self.arguments["row_id_column_name"], ids.named(column, self.frame)
        if not set(by) <= set(self.frame):
            there = ", ".join(map(str, self.frame.columns))
            raise UsageError(f"{as_option('items', column)}: expected a column of the solution, found {there}")
        rows = self.rows[part]
        of_id = np.arange(rows.sum())
        if row_id in self.frame:
            of_id = pd.factorize(ids.texts(self.frame[row_id][rows]))[0]
        codes = ids.together(self.frame[rows], by) if by else of_id
        if (pd.Series(codes).groupby(of_id).nunique() > 1).any():
            raise UsageError(f"{as_option('items', column)}: expected one value for all rows of an id")
        of_row = np.full(len(rows), -1, dtype=np.int64)
        of_row[rows] = codes
        stratum = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
        if part == ALL and PARTS[1] in self.rows:
            stratum[of_row[self.rows[PARTS[1]]]] = 1
        return halves.Items(of_row, stratum)

    def together(self, part: str, column: str) -> Ints | None:
        """Number the items of a part by the value of a column, (n,), for a metric with statistics."""
        if not column:
            return None
        of_row = self.items_of(part, column).of_row[self.rows[ALL]]
        everything, is_known = self.prepared[ALL], of_row >= 0
        of_item = np.full(len(everything.items), -1, dtype=np.int64)
        of_item[everything.item_of_row[is_known]] = of_row[is_known]
        if (of_item[everything.item_of_row] != of_row)[is_known].any():
            raise UsageError(f"{as_option('items', column)}: expected one value for all rows of an item")
        return of_item[self.items[part]]

    def score_some(self, submission: pd.DataFrame, part: str, kept: Bools) -> float:
        """Call ``score()`` for some rows of a part with the answers in the submission of an `Evaluation`.

        A row of the submission that answers no row of the part stays, as it does when the whole part is scored.
        """
        row_id = self.arguments["row_id_column_name"]
        if self.metric.complete_submission and row_id in self.frame and row_id in submission:
            left_out = ids.texts(self.frame[row_id])[self.rows[part] & ~kept]
            submission = submission[~ids.texts(submission[row_id]).isin(left_out)]
        return self.metric.score(*self.tables(submission, kept), **self.arguments)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Let another process prepare with a custom metric, whose objects may be unable to travel."""
        if self.metric.is_built_in or not self.prepared:
            return super().__reduce_ex__(protocol)
        kept = {name: getattr(self, name) for name in ("further", "is_held", "narrowed_from")}
        return _prepared_again, (self.metric, self.table, self.arguments), kept

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
        The results of the first two steps of a `podium.metric.contract.StagedPrepared`, which the explanation
        needs.
    other_ids : list of str
        Sentences about ids that the submission writes otherwise than the solution.
    drawn : dict
        The scores on half-samples that were computed already, by part, column of items and seed. Every
        comparison with another submission asks for the same ones.
    """

    solution: Solution
    submission: pd.DataFrame
    scores: dict[str, float]
    statistics: Floats | None = None
    read: Any = None
    compared: Any = None
    other_ids: list[str] = field(default_factory=list)
    drawn: dict[tuple[str, str, int], dict[Any, Floats]] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The score on the whole solution."""
        return self.scores[ALL]

    @property
    def prepared(self) -> Prepared:
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
        return statistics.measures(self.prepared, self.statistics) | {"score": self.score}

    @property
    def notices(self) -> list[str]:
        """Sentences about what is unusual in the solution and the submission, as `podium score` prints them."""
        return [*self.solution.notices, *self.other_ids, *self.explanation.notices, *self.of_constant]

    @functools.cached_property
    def of_constant(self) -> list[str]:
        """If a constant answer would score better, say so, or say why."""
        if self._better_constant is None:
            return []
        if not self.solution.metric.is_built_in and (why := misfits.found(self.solution, self.submission)):
            return [misfits.explanation(why)]
        scores = self.score, self._better_constant
        return [str(constant.statement("the score", *scores, self.solution.higher_is_better))]

    @functools.cached_property
    def other_cells(self) -> list[misfits.Misfit]:
        """How cells differ from those of the solution, if a constant answer would score better."""
        if self.solution.metric.is_built_in or not (why := misfits.of_cells(self.solution, self.submission)):
            return []
        return [] if self._better_constant is None else why

    @functools.cached_property
    def _better_constant(self) -> float | None:
        """The score of a constant answer if it is better; else None."""
        answer = constant.evaluated(self)
        if answer is None or not constant.is_worse(self.score, answer.score, self.solution.higher_is_better):
            return None
        return float(answer.score)

    @property
    def loggable(self) -> dict[str, float]:
        """The defined measures, by names that loggers such as MLflow and W&B accept."""
        named: dict[str, float] = {}
        for measure, value in self.measures.items():
            name = _loggable_name(measure)
            while name in named:  # "missing" and "(missing)" may both be groups
                name += "_"
            named[name] = value
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
        return "\n\n".join([self.score_lines, *([warned] if warned else []), *tables, self.signature])

    def _repr_html_(self) -> str:
        tables = [
            f"<h4>{html.escape(title)}</h4>{table.head(ROWS_SHOWN).to_html(index=False, border=0)}"
            for title, table in self.explanation.tables.items()
        ]
        warned = "".join(f"<li>{html.escape(printable(notice))}</li>" for notice in self.notices)
        notices = f"<ul>{warned}</ul>" if warned else ""
        signature = f"<small>{html.escape(self.signature)}</small>"
        return f"<pre>{self.score_lines}</pre>{notices}{''.join(tables)}{signature}"

    def report(
        self, path: str | Path, texts: Mapping[str, str] | str | Path | None = None, title: str = "Report"
    ) -> None:
        """Write the report: one page in HTML with everything on this score, which needs no other file.

        Parameters
        ----------
        path : str or Path
            The file to write, such as "report.html".
        texts : mapping of str to str, or a path, optional
            The texts of the items by their ids, or the folder or table that has them. Without them, segments
            are shown as strips.
        title : str
            The title of the page.

        Raises
        ------
        UsageError
            The file cannot be written.
        """
        podium.write_report(self, path, texts, title)

    def of(self, submission: pd.DataFrame) -> "Evaluation":
        """Score another submission against the same solution."""
        return evaluate(self.solution, as_frame(submission, "submission"))

    @property
    def score_lines(self) -> str:
        """The score of each part, in one line per part; the first one says if lower is better."""
        lower = "" if self.solution.higher_is_better else "  lower is better"
        return "\n".join(
            f"{'Score' if part == ALL else part:<8} {value:.6f}{lower if part == ALL else ''}"
            for part, value in self.scores.items()
        )

    @functools.cached_property
    def explanation(self) -> Explanation:
        """How the metric's companion explains this submission. It is empty if there is no companion."""
        explain = self.solution.metric.companion.explain
        return _Unexplained(self) if self.statistics is None or explain is None else explain(self)


def _loggable_name(measure: str) -> str:
    """Write a measure as a path of two names at most, as MLflow demands it.

    >>> _loggable_name("ell_status = (missing)"), _loggable_name("genre = a//b"), _loggable_name("genre = ..")
    ('ell_status/missing', 'genre/a_b', 'genre/_..')
    """
    parts = [re.sub(r"[^\w\-. ]", "", re.sub("/+", "_", part))[:100] for part in measure.split(" = ", 1)]
    return "/".join(part if part.strip(".") else f"_{part}" for part in parts)


class _Unexplained(Explanation):
    """The empty explanation of a metric that has no companion."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation


def prepare(
    metric: Metric, solution: pd.DataFrame, parameters: dict[str, Any], progress: Progress | None = None
) -> Solution:
    """Check a solution and compute what depends on it alone, once for many submissions."""
    if not len(solution.columns):
        raise HostError("the solution has no columns")
    row_id = parameters.get("row_id_column_name") or row_ids(metric, solution)
    arguments = {"row_id_column_name": row_id} | parameters | values_of(metric, parameters)
    rows = rows_of_parts(solution)
    frame = solution.drop(columns=USAGE, errors="ignore")
    prepared: dict[str, Prepared] = {}
    items: dict[str, Bools] = {}
    notices: list[str] = []
    if metric.prepare is not None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                counts = frame[rows[ALL]] if metric.is_built_in else frame[rows[ALL]].reset_index(drop=True)
                everything = metric.prepare(counts, **arguments, **_with_progress(metric.prepare, progress))
            except HostError as problem:
                if hint := _parameter_to_set(metric, arguments, frame):
                    raise HostError(f"{problem}. {hint}") from problem
                raise
        notices = [*(str(warning.message) for warning in caught), *_groups_alike(everything.labels)]
        for part, of_part in rows.items():
            items[part] = items_of(everything, of_part[rows[ALL]], part)
            prepared[part] = everything if items[part].all() else statistics.part(everything, items[part])
    return Solution(metric, arguments, frame, rows, prepared, items, notices)


def _prepared_again(metric: Metric, solution: pd.DataFrame, arguments: dict[str, Any]) -> Solution:
    """Prepare a solution in another process, without notices, which the first process has shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return prepare(metric, solution, arguments)


def row_ids(metric: Metric, solution: pd.DataFrame) -> str:
    """The column of ids if none is given. Built-in metrics know their columns and name what is missing."""
    may_repeat = metric.complete_submission or metric.prepare is not None
    return str(solution.columns[0]) if metric.is_built_in else ids.first_column(solution, may_repeat)


def _groups_alike(labels: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Find groups that differ only in case or spaces, which are probably typing errors."""
    values: dict[str, list[str]] = {}
    for attribute, value in labels:
        values.setdefault(attribute, []).append(value)
    for attribute, of_attribute in values.items():
        yield from alike(attribute, of_attribute, "groups")


def alike(column: str, values: Iterable[str], what: str) -> Iterator[str]:
    """Find values of a column that differ only in case or spaces."""
    for same in names.alike(values, lambda value: " ".join(value.split()).casefold()):
        shown = " and ".join(map(repr, same))
        yield f"{column}: {shown} differ only in case or spaces, and count as {len(same)} {what}"


def _parameter_to_set(metric: Metric, arguments: dict[str, Any], solution: pd.DataFrame) -> str:
    """Tell the host which parameter names columns that the solution lacks; "" if there is none."""
    columns = set(map(str, solution))
    for name, named in columns_named(metric, arguments).items():
        missing = named - columns
        if name.endswith("_column_names") and missing:
            lacks_others = not {*metric.companion.text_columns} <= columns | missing
            other = f". If it is for another metric, name that by {as_option('metric')}" if lacks_others else ""
            return f"Set {name} to columns it has; {as_parameter(name, '')} leaves them out{other}"
    return ""


def rows_of_parts(solution: pd.DataFrame) -> dict[str, Bools]:
    """Find the rows of each part of a solution by its column ``Usage``."""
    copies = [str(name) for name in solution if re.fullmatch(rf"{USAGE}(\.\d+)?", str(name))]
    if len(copies) > 1:  # pandas numbers those that a file has
        raise HostError(f"{USAGE}: expected one column of this name in the solution, found {len(copies)}")
    if USAGE not in solution:
        return {ALL: np.ones(len(solution), dtype=bool)}
    cells = solution[USAGE]  # which may hold anything, such as a list
    rows = {value: (cells == value).fillna(False).to_numpy(dtype=bool) for value in (*PARTS, IGNORED)}
    unknown = ~np.any([*rows.values()], axis=0)
    if unknown.any():
        row = int(unknown.argmax())
        found = "missing" if cells.isna().iloc[row] else cells.iloc[row]
        cell = f"{found!r:.40} in row number {row + 1} of the solution"
        raise HostError(f"{USAGE}: expected {', '.join(PARTS)} or {IGNORED}, found {cell}")
    return {ALL: ~rows.pop(IGNORED)} | {part: of_part for part, of_part in rows.items() if of_part.any()}


def only_part(solution: pd.DataFrame, part: str) -> pd.DataFrame:
    """Let only one part of a solution count, so that its other rows are ignored."""
    rows = rows_of_parts(solution)
    if part not in rows:
        raise HostError(f"{USAGE}: expected rows of the solution that are {part}, found none")
    return solution.assign(**{USAGE: np.where(rows[part], part, IGNORED)})


def items_of(prepared: Prepared, rows: Bools, part: str) -> Bools:
    """Find the items whose rows make up a part."""
    number = np.bincount(prepared.item_of_row, rows, minlength=len(prepared.items))
    split = (number > 0) & (number < np.bincount(prepared.item_of_row, minlength=len(prepared.items)))
    if split.any():
        first = prepared.items[int(split.argmax())]
        raise HostError(
            f"{USAGE}: expected one value for all rows of an item, found {part} in only some of the rows of "
            f"{counted(int(split.sum()), 'item')}, such as {first!r}"
        )
    return number > 0


def narrowed(solution: Solution, kept: Bools) -> Solution:
    """Make a solution of some of the rows that count; submissions to it are narrowed in the same way.

    `kept` says which rows are kept. Those of an item belong together; `names_of_rows` names it.
    """
    rows = solution.rows[ALL].copy()
    rows[rows] = kept
    columns = [name for name in ids.columns_of(solution.arguments) if name in solution.frame]
    everything = solution.frame[columns] if solution.narrowed_from is None else solution.narrowed_from
    part = prepare(solution.metric, solution.table[rows], solution.arguments)
    return replace(part, narrowed_from=everything, further=dict(solution.further))


def evaluate(solution: Solution, submission: pd.DataFrame, progress: Progress | None = None) -> Evaluation:
    """Score a submission against a prepared solution."""
    submission, other_ids = answers_for(solution, submission)
    if not solution.prepared:
        scores = _scores_of_parts(solution, submission)
        return Evaluation(solution, submission, scores, other_ids=other_ids)
    prepared, read, compared = solution.prepared[ALL], None, None
    with guard.submission_given(solution.metric):
        if hasattr(prepared, "compare"):
            staged = cast(StagedPrepared, prepared)
            read = staged.read(submission)
            compared = staged.compare(read, **_with_progress(staged.compare, progress))
            numbers = staged.count(compared)
        else:
            numbers = prepared.statistics(submission, **_with_progress(prepared.statistics, progress))
    # For built-in metrics, tests make sure that both are equal to the last bit.
    scores = (
        scores_of(solution, numbers) if solution.metric.is_built_in else _scores_of_parts(solution, submission)
    )
    return Evaluation(solution, submission, scores, numbers, read, compared, other_ids)


def _with_progress(step: Callable[..., Any], progress: Progress | None) -> dict[str, Any]:
    """The argument ``progress`` for a step of a metric that takes it; nothing for another one."""
    return {"progress": progress} if "progress" in inspect.signature(step).parameters else {}


def _scores_of_parts(solution: Solution, submission: pd.DataFrame) -> dict[str, float]:
    """Call ``score()`` for each part; a custom metric scores each one in a fresh state."""
    scores = {}
    score = functools.partial(_score_of_rows, solution, submission)
    is_one = solution.metric.is_built_in or len(solution.rows) == 1
    for part, rows in solution.rows.items():
        with _named(part):
            scores[part] = score(rows) if is_one else forked_if_clean(score, rows)
    return scores


def _score_of_rows(solution: Solution, submission: pd.DataFrame, rows: Bools) -> float:
    """Call ``score()`` for some rows of a solution."""
    return solution.metric.score(*solution.tables(submission, rows), **solution.arguments)


@contextlib.contextmanager
def _named(part: str) -> Iterator[None]:
    """Name the part for which a metric fails although it has scored the whole solution."""
    try:
        yield
    except MetricError as problem:
        if part == ALL:
            raise
        raise MetricError(
            f"on the {part} part alone: {problem.error}", *problem.args[1:]
        ) from problem.__cause__
    except SubmissionRejected as problem:
        if part != ALL:
            problem.for_host = f"on the {part} part alone"
        raise


def scores_of(solution: Solution, numbers: Floats) -> dict[str, float]:
    """Compute the score of each part from the statistics of a submission."""
    return {
        part: statistics.measures(prepared, numbers[solution.items[part]])["score"]
        for part, prepared in solution.prepared.items()
    }
