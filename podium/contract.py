"""The contract: what a metric and its companion define, and the check of it.

A metric is a folder with the file ``metric.py``, which a host uploads as it is. The contract has two parts.
With the first part alone a metric can score, rank and be checked. With the second part podium scores a
submission once and computes the rest from stored numbers. The rest are intervals, comparisons, scores of parts
of the solution, and boards with other parameters.

**Part one, the score** (`MetricFile`). A function ``score(solution, submission, row_id_column_name, …)``
returns one finite float. Every further parameter has its official value as the default. Two exceptions, known
by their names, say who made a mistake. ``ParticipantVisibleError`` says that the submission is wrong, and
participants read its text. ``HostVisibleError`` says that the solution or a parameter is wrong, and only the
host reads its text.

**Part two, the statistics** (`StatisticsFile`). A function ``prepare(solution, row_id_column_name, …)`` takes
the same parameters as ``score`` and returns a prepared solution (`Prepared`). A prepared solution knows its
*items*: the essays, claims or documents that are resampled. It turns a submission into an array of numbers with
one row for each item. The score is a function of the sums of these numbers.

Beside ``metric.py`` there may be a file ``companion.py``. It defines one object, ``companion``, of the class
`Companion`. A companion tells more than the score: it explains a score, reads the official files of a field,
and makes sample submissions.

`check` holds a metric to the contract with the tables at hand, and `check_explanation` its companion. They
raise an error that names the first slip. ``podium check`` calls them, and so does every command before it
shows the first number of a metric that is not podium's own.
"""

import dataclasses
import inspect
import itertools
import math
import operator
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics as statistics_of
from podium.errors import CompanionError, Disagreement, HostError

__all__ = [
    "ALL_ITEMS",
    "Agreement",
    "Companion",
    "Evaluation",
    "Explanation",
    "Metric",
    "MetricFile",
    "Prepared",
    "Solution",
    "StagedPrepared",
    "StatisticsFile",
    "Variants",
    "check",
    "check_alone",
    "check_explanation",
    "check_measure_parameters",
    "check_prepared",
    "check_score",
    "check_signature",
    "check_statistics",
    "ids_of",
    "made_submission",
    "one_float",
    "rows_that_answer",
]

# Platforms and podium know a metric's exceptions by these names.
VISIBLE_ERRORS = ("ParticipantVisibleError", "HostVisibleError")

# The first parameters of every score().
REQUIRED = ("solution", "submission", "row_id_column_name")

# The label of the only group of a metric that knows no sub-populations.
ALL_ITEMS = ("(all)", "(all)")

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]  # called with the work done and the total
Bools = npt.NDArray[np.bool_]


# ---- What a metric file defines --------------------------------------------------------------------------


class MetricFile(Protocol):
    """Part one of the contract: what a metric file defines to score.

    Only `score` is required.

    Attributes
    ----------
    NAME : str
        The name of the metric in signatures. It must not be the name of one of podium's own metrics. Without
        it the name of the folder or of the file is used.
    __version__ : str
        The version in signatures. Change it whenever a score can change. Without it signatures say "?".
    COMPLETE_SUBMISSION : bool
        Whether `score` gets the whole submission together with either part of the solution and matches the rows
        itself, as with Kaggle's switch “Pass complete submission”. Without it the answer is no: `score` gets
        the rows that answer the part, in the order of the part.
    ParticipantVisibleError, HostVisibleError : type of Exception
        What `score` raises if the submission is wrong, and if the solution or a parameter is. Platforms know
        them by these names. Neither is a subclass of the other. Any other exception is taken for a fault of
        the metric.
    """

    @property
    def NAME(self) -> str: ...

    @property
    def __version__(self) -> str: ...

    @property
    def COMPLETE_SUBMISSION(self) -> bool: ...

    @property
    def ParticipantVisibleError(self) -> type[Exception]: ...

    @property
    def HostVisibleError(self) -> type[Exception]: ...

    def score(self, solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
        """Score a submission.

        Parameters
        ----------
        solution : DataFrame
            The right answers, without the column ``Usage``.
        submission : DataFrame
            What a participant sent.
        row_id_column_name : str
            The column by which the rows of both tables belong together.

        Returns
        -------
        float
            The score, which has to be finite.

        Notes
        -----
        Further parameters have their official values as defaults, and the type int, float, bool or str.
        """
        ...

    def higher_is_better(self) -> bool:
        """Tell whether a higher score is better. Without this function it is assumed to be.

        If this depends on parameters of `score`, the function takes these parameters, by the same names.

        Returns
        -------
        bool
            True if the highest score is the best one.
        """
        ...


class StatisticsFile(MetricFile, Protocol):
    """Part two of the contract: what a metric file defines so that its scores can be resampled.

    Attributes
    ----------
    MEASURE_PARAMETERS : sequence of str
        The parameters of `score` on which `Prepared.statistics` does not depend, such as the temperature of a
        softmin. With other values of these, a board can be ranked again without reading any submission.
    """

    @property
    def MEASURE_PARAMETERS(self) -> Sequence[str]: ...

    def prepare(self, solution: pd.DataFrame, row_id_column_name: str) -> "Prepared":
        """Check a solution once and get it ready for many submissions.

        Parameters
        ----------
        solution : DataFrame
            The right answers, without the column ``Usage``.
        row_id_column_name : str
            The column that names the rows.

        Returns
        -------
        Prepared
            The prepared solution.

        Notes
        -----
        It takes all further parameters of `score`, too. If the work takes long, ``prepare`` may take one more
        argument, ``progress``, and so may `Prepared.statistics` and `StagedPrepared.compare`. It is None or a
        function to be called with two numbers: the work done, and the total.
        """
        ...


class Prepared(Protocol):
    """A prepared solution, which a metric's ``prepare`` returns. It is a frozen dataclass.

    Podium makes a part of it, such as the Public items or a fold, by replacing `items`, `labels` and `groups`.
    Therefore `statistics` must not use `labels` and `groups`, and `measures` may use only `labels`.

    Attributes
    ----------
    items : list of str
        The ids of the n items, such as essays: sorted, and each once.
    item_of_row : (rows,) int
        For each row of the solution, the index of its item in `items`.
    labels : list of (attribute, value)
        The g groups of items that are scored apart, such as ("gender", "female"). The groups of one attribute
        stand together. A metric without groups has one, `ALL_ITEMS`, which is ("(all)", "(all)").
    groups : (attributes, n) int
        For each attribute and each item, the index of the item's group in `labels`.
    measure_names : list of str
        The names of the m numbers that `measures` returns. The first is "score". The measure of a group is
        named "attribute = value".

    Examples
    --------
    The rows of four segments of three essays, whose writers are known by their gender and their grade:

    >>> items = ["essay 1", "essay 2", "essay 3"]
    >>> item_of_row = [0, 1, 1, 2]  # the second and the third segment belong to essay 2
    >>> labels = [("gender", "female"), ("gender", "male"), ("grade", "8"), ("grade", "10")]
    >>> groups = [[0, 0, 1], [2, 3, 2]]  # essay 2 was written by a girl in grade 10
    >>> [labels[group] for group in (groups[0][1], groups[1][1])]
    [('gender', 'female'), ('grade', '10')]
    """

    @property
    def items(self) -> list[str]: ...

    @property
    def item_of_row(self) -> Ints: ...

    @property
    def labels(self) -> list[tuple[str, str]]: ...

    @property
    def groups(self) -> Ints: ...

    @property
    def measure_names(self) -> list[str]: ...

    def statistics(self, submission: pd.DataFrame) -> Floats:
        """Turn a submission into numbers whose sums decide everything.

        Parameters
        ----------
        submission : DataFrame
            What a participant sent. The numbers must not depend on the order of its rows.

        Returns
        -------
        (n, k) array of float
            k finite numbers for each item, in the order of `items`.

        Notes
        -----
        ``score()`` has to equal, to the last bit, the first measure of the sums of these numbers over each
        group. Podium adds them item by item in the order of `items`, as ``numpy.cumsum`` and ``numpy.bincount``
        do. ``numpy.sum`` adds in another order, so its last bit may differ.
        """
        ...

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute the measures from the sums of the statistics.

        Parameters
        ----------
        sums : (…, g, k) array of float
            The sums over the items of each group. In front there may be further axes, because resampling asks
            for many measures at once.

        Returns
        -------
        (…, m) array of float
            One number for each of `measure_names`; NaN for a measure that is not defined there.

        Notes
        -----
        When items are drawn again, a small group may get none of them. Its sums are then 0. Leave such a group
        out, because a division of 0 by 0 would leave the whole score undefined.
        """
        ...


class StagedPrepared(Prepared, Protocol):
    """A prepared solution whose `statistics` has three steps, so that a companion can explain each of them.

    ``statistics(submission)`` equals ``count(compare(read(submission)))``. What each step returns is the
    metric's own choice.
    """

    def read(self, submission: pd.DataFrame) -> Any:
        """Read and check a submission.

        Parameters
        ----------
        submission : DataFrame
            The submission.

        Returns
        -------
        object
            Its content, for `compare`.
        """
        ...

    def compare(self, read: Any) -> Any:
        """Compare a submission with the solution.

        Parameters
        ----------
        read : object
            What `read` returned.

        Returns
        -------
        object
            The result, for `count`.
        """
        ...

    def count(self, compared: Any) -> Floats:
        """Compute the statistics.

        Parameters
        ----------
        compared : object
            What `compare` returned.

        Returns
        -------
        (n, k) float
            The statistics, as `Prepared.statistics` returns them.
        """
        ...


# ---- What a metric's companion tells ---------------------------------------------------------------------


class Explanation(Protocol):
    """What led to a score.

    A companion makes a subclass and overrides the properties that it can tell something about. All others tell
    nothing. The subclass can use the attributes ``evaluation``, ``metric``, ``prepared``, ``submission`` and
    ``statistics``.

    Attributes
    ----------
    evaluation : Evaluation
        The scored submission that is explained.
    metric : module
        The metric file, whose functions the explanation can call.
    prepared : Prepared
        The whole solution.
    submission : DataFrame
        The rows of the submission that count.
    statistics : (n, k) array of float
        What `Prepared.statistics` returned.
    roles : mapping of str to str
        The names of three columns of `rows`: "item", "label" and "outcome". The report groups, colors and
        filters the rows by them. An outcome "matched" or "correct" means that nothing is wrong with a row.
    """

    roles: ClassVar[Mapping[str, str]] = {"outcome": "outcome"}
    evaluation: "Evaluation"
    metric: Any
    prepared: Any
    submission: pd.DataFrame
    statistics: Any

    def __init__(self, evaluation: "Evaluation") -> None:
        self.evaluation = evaluation
        self.metric = evaluation.solution.metric.module
        self.prepared = evaluation.prepared
        self.submission = evaluation.submission
        self.statistics = evaluation.statistics

    def __reduce__(self) -> tuple[Any, ...]:
        # A module cannot travel to another process, and all else follows from the evaluation.
        return operator.attrgetter("explanation"), (self.evaluation,)

    def __repr__(self) -> str:
        return f"<explanation: tables {', '.join(self.tables) or 'none'}; {len(self.rows):,} rows>"

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Small tables by their titles, which are printed below the score."""
        return {}

    @property
    def notices(self) -> Sequence[str]:
        """Sentences about what is unusual in this submission; they are printed as warnings."""
        return []

    @property
    def rows(self) -> pd.DataFrame:
        """What became of every thing of either side, one row each; a table without columns tells nothing.

        Some columns have the same meaning in all metrics:

        * ``side`` is "prediction" or "truth".
        * ``first`` and ``last`` are positions of words, both inclusive. ``words`` is their number, and
          ``words_kept`` is how many of them were left.
        * ``markup`` and ``against`` name the two markups that were compared: "algorithm", or an expert.
        * ``start`` and ``end`` are positions of characters, the end exclusive; -1 stands for none.
        * ``partner`` is the row id of the partner, and ``partner_X`` is the partner's X.
        * ``points_lost`` is how much the score would rise, to first order, if this row alone were right.
        """
        return pd.DataFrame()

    @property
    def details(self) -> Mapping[str, pd.DataFrame]:
        """Tables of values by their level, such as "document" and "pair" (of annotators).

        They are shown in the report, under "details" in JSON and in the file of rows, where a column ``level``
        names the level. A column that means the same as one of `rows` has the same name.
        """
        return {}

    @property
    def losses(self) -> pd.DataFrame | None:
        """The points that each row of `rows` lost, with one column for each cause."""
        return None

    @property
    def groups(self) -> pd.DataFrame | None:
        """The sub-populations, in the columns ``attribute``, ``value``, ``score`` and ``weight``."""
        return None

    @property
    def confusion(self) -> pd.DataFrame | None:
        """How often each label of the truth (the index) was predicted as each label (the columns)."""
        return None

    @property
    def forecasts(self) -> pd.DataFrame:
        """Predicted probabilities: the column ``probability``, and whether it ``happened`` (0 or 1)."""
        return pd.DataFrame()

    @property
    def histograms(self) -> Mapping[str, Mapping[str, Any]]:
        """Figures by title, and panels in them by title; `podium.report.histograms` describes a panel."""
        return {}


class Agreement(Protocol):
    """How well the experts of an annotation project agree.

    Attributes
    ----------
    tables : dict of str to DataFrame
        Small tables by their titles.
    documents : DataFrame
        One row for each document.
    notices : sequence of str
        Sentences about what was left out.
    histograms : mapping of str to mapping
        Figures, as in `Explanation.histograms`.
    """

    @property
    def tables(self) -> dict[str, pd.DataFrame]: ...

    @property
    def documents(self) -> pd.DataFrame: ...

    @property
    def notices(self) -> Sequence[str]: ...

    @property
    def histograms(self) -> Mapping[str, Mapping[str, Any]]: ...


@dataclass(frozen=True)
class Variants:
    """The metric with other decisions than the official ones, which shows how robust a board is.

    Attributes
    ----------
    of_measures : function
        From a prepared solution it makes others that have the same statistics and other measures, by what is
        different in them.
    of_statistics : function
        From the metric file's module, a prepared solution and a submission it makes pairs, by what is different
        in them. A pair is a prepared solution, and the submission's statistics with it, (n, k).
    path : tuple of str
        Names of `of_statistics` that lead step by step from a simple metric to this one.
    """

    of_measures: Callable[[Any], Mapping[str, Any]]
    of_statistics: Callable[[Any, Any, pd.DataFrame], Mapping[str, tuple[Any, Floats]]]
    path: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Companion:
    """What can be told of a metric beyond its score. ``companion.py`` defines one object of this class.

    Every field is optional, because a metric need not have an official format, sub-populations or texts. Where
    a field is None, the commands that would need it say so.

    Attributes
    ----------
    text_columns : tuple of str
        The columns that are read as text. So an id such as "007" does not become the number 7.
    number_columns : tuple of str
        Those of them that become numbers if every cell of a CSV is one, as platforms read it. In the Unified
        Metric, these are the positions of words, because a file may have segments of one word alone.
    read_solution, read_submission : function
        From the path of an official file of the field it makes a table. If the file is wrong, it raises
        `HostError` or `SubmissionRejected`.
    recognize : function
        It gets a table, the name of its row id column, and a probability or None. It returns the table with
        the metric's column names in place of other people's, and notices of what it replaced. The probability
        stands in for predictions that the table lacks.
    diagnose : function
        From a solution and a rejected submission it makes one sentence that says what to write instead, or
        None. The sentence may name what only the solution has, so only those who have the solution read it.
    predicted : function
        From a prepared solution and a submission it makes an array, (n,) bool: for which items there is a
        prediction.
    explain : function
        From an evaluation it makes its `Explanation`. Often it is the subclass of `Explanation` itself.
    texts : function
        From an evaluation and a path or None it makes a mapping from items to their texts, for the report.
    agreement : function
        From a prepared solution and the solution's table it makes the `Agreement` of the experts.
    gamma : function
        From a prepared solution it makes a table with γ of each document.
    advice : function
        From a solution's table and the arguments of `score` it makes sentences to a host, about parameters that
        are better given explicitly.
    side_columns : tuple of str
        The columns that only the host may add to a submission.
    add_side : function
        From a submission, the host's table and the name of the row id column it makes the submission with these
        columns.
    public_columns : tuple of str
        The columns of a solution that participants need besides the texts, such as each essay's subject.
    kaggle_submission : function
        From an official submission and a solution it makes a table that Kaggle accepts.
    sample_submission, perfect_submission : function
        From a solution it makes a submission to show to participants, and one with the best score.
    official_json : function
        From the measures it makes the same values under the names that the field's own programs use.
    make_files : function
        From a corpus and its options it makes the files of a competition; see
        `podium.essays.corpus.make_files`.
    variants : Variants
        The metric with other decisions.
    """

    text_columns: tuple[str, ...] = ()
    number_columns: tuple[str, ...] = ()
    read_solution: Callable[[Path], pd.DataFrame] | None = None
    read_submission: Callable[[Path], pd.DataFrame] | None = None
    recognize: Callable[[pd.DataFrame, str, float | None], tuple[pd.DataFrame, list[str]]] | None = None
    diagnose: Callable[[Any, pd.DataFrame], str | None] | None = None
    predicted: Callable[[Any, pd.DataFrame], Bools] | None = None
    explain: Callable[["Evaluation"], Explanation] | None = None
    texts: Callable[["Evaluation", Path | None], Mapping[str, str]] | None = None
    agreement: Callable[[Any, pd.DataFrame], Agreement] | None = None
    gamma: Callable[[Any], pd.DataFrame] | None = None
    advice: Callable[[pd.DataFrame, Mapping[str, Any]], list[str]] | None = None
    side_columns: tuple[str, ...] = ()
    add_side: Callable[[pd.DataFrame, pd.DataFrame, str], pd.DataFrame] | None = None
    public_columns: tuple[str, ...] = ()
    kaggle_submission: Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame] | None = None
    sample_submission: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    perfect_submission: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    official_json: Callable[[Mapping[str, float]], Mapping[str, float]] | None = None
    make_files: Callable[..., Any] | None = None
    variants: Variants | None = None


# ---- What podium makes of them ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Metric:
    """A metric that `podium.hosted.load` has loaded, with its companion.

    Attributes
    ----------
    path : Path
        The metric file.
    module : module
        What the file defines. Companions use its stages.
    is_own : bool
        Whether it is one of podium's own metrics, which its tests hold to the contract.
    name, version : str
        For signatures: the file's ``NAME`` and ``__version__``, else the file's name and "?".
    score : function
        See `MetricFile`.
    prepare : function or None
        See `StatisticsFile`; None where the file has no second part.
    direction : function or None
        The file's ``higher_is_better``; None where it does not say.
    complete_submission : bool
        See `MetricFile`.
    measure_parameters : tuple of str
        See `StatisticsFile`; empty where the file has no second part.
    companion : Companion
        An empty one where the folder has none.
    """

    path: Path
    module: ModuleType
    is_own: bool
    name: str
    version: str
    score: Callable[..., float]
    prepare: Callable[..., Prepared] | None
    direction: Callable[..., bool] | None
    complete_submission: bool
    measure_parameters: tuple[str, ...]
    companion: Companion

    def __repr__(self) -> str:
        return f"<metric {self.name} {self.version}>"


class Solution(Protocol):
    """A prepared solution as explanations see it; it is a `podium.scoring.Solution`.

    Attributes
    ----------
    metric : Metric
        The metric that scores.
    arguments : dict of str to object
        The arguments of ``score`` besides the two tables.
    frame : DataFrame
        The solution without the column ``Usage``.
    rows : dict of str to (rows,) bool
        The rows of each part: "All", and "Public" and "Private" where there are such.
    notices : list of str
        Warnings of the metric about the solution.
    """

    @property
    def metric(self) -> Metric: ...

    @property
    def arguments(self) -> dict[str, Any]: ...

    @property
    def frame(self) -> pd.DataFrame: ...

    @property
    def rows(self) -> dict[str, Bools]: ...

    @property
    def notices(self) -> list[str]: ...


class Evaluation(Protocol):
    """A scored submission as explanations see it; it is a `podium.scoring.Evaluation`.

    Attributes
    ----------
    solution : Solution
        The solution against which it was scored.
    explanation : Explanation
        What the companion's ``explain`` made of this evaluation.
    prepared : Prepared
        The whole solution ("All").
    submission : DataFrame
        The rows of the submission that count.
    score : float
        The score on the whole solution.
    scores : dict of str to float
        The score of each part.
    measures : dict of str to float
        All measures of the whole, "score" first.
    statistics : (n, k) float, or None
        What `Prepared.statistics` gave.
    read, compared : object
        What the steps of a `StagedPrepared` gave; None where there are none.
    """

    @property
    def solution(self) -> Solution: ...

    @property
    def explanation(self) -> Explanation: ...

    @property
    def prepared(self) -> Any: ...

    @property
    def submission(self) -> pd.DataFrame: ...

    @property
    def score(self) -> float: ...

    @property
    def scores(self) -> dict[str, float]: ...

    @property
    def measures(self) -> dict[str, float]: ...

    @property
    def statistics(self) -> Floats | None: ...

    @property
    def read(self) -> Any: ...

    @property
    def compared(self) -> Any: ...


# ---- The check -------------------------------------------------------------------------------------------


def check(
    metric: Metric, solution: pd.DataFrame, submission: pd.DataFrame, arguments: Mapping[str, Any]
) -> None:
    """Check a metric with both parts against the contract, with the tables at hand.

    Parameters
    ----------
    metric : Metric
        The metric, which has a ``prepare``.
    solution, submission : DataFrame
        The tables as ``score`` takes them.
    arguments : mapping of str to object
        The arguments of ``score`` besides the two tables.

    Raises
    ------
    HostError
        Names the first slip.
    Exception
        Whatever the metric raises.
    """
    assert metric.prepare is not None
    prepared = metric.prepare(solution, **arguments)
    check_prepared(metric, prepared, len(solution))
    statistics = prepared.statistics(submission)
    check_statistics(metric, prepared, submission, statistics)
    check_score(metric, solution, prepared, submission, statistics, arguments)


def check_prepared(metric: Metric, prepared: Any, rows: int) -> None:
    """Check what ``prepare`` returned against the contract.

    Parameters
    ----------
    metric : Metric
        The metric, for messages.
    prepared : object
        What the metric's ``prepare`` returned.
    rows : int
        The number of rows of the solution.

    Raises
    ------
    HostError
        Names the first slip: what was expected and what was found.
    """

    def expect(holds: bool, expected: str, found: object) -> None:
        if not holds:
            raise HostError(f"{metric.path.name}: prepare(): expected {expected}, found {found}")

    if not dataclasses.is_dataclass(prepared):
        expect(False, "a frozen dataclass", type(prepared).__name__)
    frozen = prepared.__dataclass_params__.frozen
    expect(frozen, "a frozen dataclass", f"{type(prepared).__name__}, which is not frozen")
    for name in ("items", "item_of_row", "labels", "groups", "measure_names", "statistics", "measures"):
        expect(hasattr(prepared, name), f"an object with {name}", f"{type(prepared).__name__} without it")
    names = prepared.measure_names
    _expect_items(expect, prepared.items, np.asarray(prepared.item_of_row), rows)
    _expect_groups(expect, prepared.labels, np.asarray(prepared.groups), len(prepared.items))
    expect(
        isinstance(names, list) and bool(names) and names[0] == "score" and len(set(names)) == len(names),
        'measure_names to be a list of different texts that begins with "score"',
        _shortened(names),
    )


def _expect_items(expect: Callable[[bool, str, object], None], items: Any, item_of_row: Any, rows: int) -> None:
    """Check the items, and the item of each row of the solution."""
    expect(
        isinstance(items, list) and bool(items) and all(isinstance(item, str) for item in items),
        "items to be a list of texts with at least one",
        f"{type(items).__name__} {_shortened(items)}",
    )
    expect(items == sorted(items), "items to be sorted", _first_descent(items))
    expect(len(set(items)) == len(items), "items to differ from each other", _first_twice(items))
    expect(
        item_of_row.shape == (rows,) and item_of_row.dtype.kind in "iu",
        f"item_of_row to be whole numbers of shape ({rows},), one for each row of the solution",
        f"{item_of_row.dtype} of shape {item_of_row.shape}",
    )
    values = np.unique(item_of_row)
    expect(
        np.array_equal(values, np.arange(len(items))),
        f"item_of_row to hold each index from 0 to {len(items) - 1} of the items",
        f"{len(values)} different values from {values[0]} to {values[-1]}" if rows else "no row",
    )


def _expect_groups(expect: Callable[[bool, str, object], None], labels: Any, groups: Any, items: int) -> None:
    """Check the labels of the groups, and the groups of each item."""
    expect(
        isinstance(labels, list) and bool(labels) and all(map(_is_label, labels)),
        "labels to be a list of (attribute, value) of texts",
        _shortened(labels),
    )
    expect(
        groups.ndim == 2 and groups.shape[1] == items and groups.dtype.kind in "iu",
        f"groups to be whole numbers of shape (attributes, {items})",
        f"{groups.dtype} of shape {groups.shape}",
    )
    attributes = list(dict.fromkeys(attribute for attribute, _ in labels))
    expect(
        len(attributes) == len(groups),
        f"groups to have one row for each of the {len(attributes)} attributes of the labels",
        f"{len(groups)}",
    )
    expect(
        int(groups.min()) >= 0 and int(groups.max()) < len(labels),
        f"groups to be indices from 0 to {len(labels) - 1} of the labels",
        f"{groups.min()} to {groups.max()}",
    )
    for number, attribute in enumerate(attributes):
        others = {labels[group][0] for group in np.unique(groups[number]).tolist()} - {attribute}
        expect(
            not others, f"row {number} of groups to name groups of {attribute}", f"some of {_shortened(others)}"
        )
    expect(
        len(np.unique(groups)) == len(labels),
        "every group of the labels to have an item",
        f"{len(labels) - len(np.unique(groups))} without",
    )


def check_statistics(metric: Metric, prepared: Any, submission: pd.DataFrame, statistics: object) -> None:
    """Check a submission's statistics and their measures against the contract.

    Parameters
    ----------
    metric : Metric
        The metric, for messages.
    prepared : Prepared
        The solution as the metric prepared it.
    submission : DataFrame
        The submission.
    statistics : object
        What ``prepared.statistics(submission)`` returned.

    Raises
    ------
    HostError
        Names the first slip.
    """
    file, items, measures = metric.path.name, len(prepared.items), len(prepared.measure_names)
    if not isinstance(statistics, np.ndarray) or statistics.ndim != 2 or len(statistics) != items:
        kind = f"shape {statistics.shape}" if isinstance(statistics, np.ndarray) else type(statistics).__name__
        raise HostError(
            f"{file}: statistics(): expected an array of shape ({items}, k), one row per item, found {kind}"
        )
    if statistics.dtype.kind not in "fiub" or not np.isfinite(statistics).all():
        wrong = "numbers that are not finite" if statistics.dtype.kind == "f" else str(statistics.dtype)
        raise HostError(f"{file}: statistics(): expected finite floats, found {wrong}")
    if not np.array_equal(statistics, prepared.statistics(submission.iloc[::-1])):
        if not np.array_equal(statistics, prepared.statistics(submission)):
            raise HostError(
                f"{file}: statistics(): expected the same numbers whenever it is called with the same "
                "submission, found others the second time; draw no random numbers, or draw them with a fixed "
                "seed"
            )
        raise HostError(
            f"{file}: statistics(): expected the same numbers whatever the order of the submission's rows, "
            "found others for the rows in reverse; match rows by their ids"
        )
    sums = statistics_of.sums(statistics, prepared.groups)
    values = np.asarray(prepared.measures(sums))
    if values.shape != (measures,):
        raise HostError(
            f"{file}: measures(): expected shape ({measures},), as there are {measures} measure_names, for "
            f"sums of shape {sums.shape}, found {values.shape}"
        )
    stacked = np.asarray(prepared.measures(np.stack([sums, sums])))
    if stacked.shape != (2, measures) or not np.array_equal(
        stacked, np.stack([values, values]), equal_nan=True
    ):
        found = f"shape {stacked.shape}" if stacked.shape != (2, measures) else "other values than for one sum"
        raise HostError(
            f"{file}: measures(): expected the measures of each of two stacked sums, shape (2, {measures}), "
            f"found {found}; let it work on the last two axes"
        )
    if not np.isfinite(values[0]):
        raise HostError(f"{file}: measures(): expected a finite score from finite sums, found {values[0]}")


def check_score(
    metric: Metric,
    solution: pd.DataFrame,
    prepared: Any,
    submission: pd.DataFrame,
    statistics: Floats,
    arguments: Mapping[str, Any],
) -> None:
    """Check that ``score()`` is the first measure of the sums, on all items and on every second one.

    The two numbers must be equal to the last bit.

    Parameters
    ----------
    metric : Metric
        The metric.
    solution : DataFrame
        The rows from which `prepared` was made.
    prepared : Prepared
        The solution as the metric prepared it.
    submission : DataFrame
        The submission.
    statistics : (n, k) float
        The statistics of the submission.
    arguments : mapping of str to object
        The arguments of ``score`` besides the two tables.

    Raises
    ------
    HostError
        The two numbers differ, or a part has other statistics than the whole.
    """
    for kept in (np.ones(len(prepared.items), dtype=bool), np.arange(len(prepared.items)) % 2 == 0):
        part, numbers = statistics_of.part(prepared, kept), statistics[kept]
        rows = kept[prepared.item_of_row]
        answers = rows_that_answer(metric, solution, rows, submission, arguments["row_id_column_name"])
        measured = float(np.asarray(part.measures(statistics_of.sums(numbers, part.groups)))[0])

        def score(rows: Bools = rows, answers: pd.DataFrame = answers) -> float:
            return one_float(metric, metric.score(solution[rows].copy(), answers.copy(), **arguments))

        try:
            scored = score()
        except Exception as problem:
            if not kept.all() and type(problem).__name__ in VISIBLE_ERRORS:
                continue  # Half a solution may lack what the metric needs, and the metric says so.
            raise
        if not _same(measured, scored):
            _check_again(metric, scored, score())
            what = "all items" if kept.all() else f"{int(kept.sum())} of {len(kept)} items"
            raise Disagreement(
                f"{metric.path.name}: expected score() to be, to the last bit, the first of the measures of "
                f"the sums; on {what} score() gives {scored!r} and the sums give {measured!r}"
                f"{_why_they_differ(scored, measured, bool(kept.all()))}"
            )


def _same(first: float, second: float) -> bool:
    """Whether two scores are equal to the last bit, or both undefined."""
    return first == second or bool(np.isnan(first) and np.isnan(second))


def _check_again(metric: Metric, score: float, again: float) -> None:
    """Check that a second call of ``score`` with the same tables gave the same number."""
    if not _same(score, again):
        raise HostError(
            f"{where(metric)}: expected the same number whenever it is called with the same tables, found "
            f"{score!r} and then {again!r}; use no random numbers, no clock, and nothing that an earlier call "
            "left"
        )


def _why_they_differ(scored: float, measured: float, is_whole: bool) -> str:
    """Guess the slip that makes ``score`` and the sums differ, as the end of a sentence, or ""."""
    if math.isclose(scored, measured, rel_tol=1e-9):
        return "; add the items one by one, in their order, as np.cumsum does"
    return "" if is_whole else "; does item_of_row name the item of each row?"


def one_float(metric: Metric, result: object) -> float:
    """Return what ``score()`` returned, if it is a number.

    Whether the number is finite is another question, because it may depend on the submission. Where submissions
    are ranked, one that leads to infinity is rejected.

    Parameters
    ----------
    metric : Metric
        The metric, for messages.
    result : object
        What its ``score`` returned.

    Returns
    -------
    float
        The number.

    Raises
    ------
    HostError
        It is something else.
    """
    if isinstance(result, float):
        return float(result)
    cure = "end it with return" if result is None else "return float(…)"
    raise HostError(
        f"{where(metric)}: expected one finite float, found {type(result).__name__} "
        f"{' '.join(repr(result).split()):.40}; {cure}"
    )


def where(metric: Metric) -> str:
    """Name ``score()`` of a metric in a message.

    Parameters
    ----------
    metric : Metric
        The metric.

    Returns
    -------
    str
        For example "metric.py, line 9: score()".
    """
    line = first_line(metric.score)
    return f"{metric.path.name}{'' if line is None else f', line {line}'}: score()"


def first_line(function: Any) -> int | None:
    """Find the line of a file at which a function begins.

    Parameters
    ----------
    function : function
        The function, decorated or not. If its file was not run, its attribute ``line`` tells the line.

    Returns
    -------
    int or None
        The line, counted from 1; None if it is not known.
    """
    known: int | None = getattr(function, "line", None)
    code = getattr(inspect.unwrap(function), "__code__", None)
    return known if known is not None or code is None else int(code.co_firstlineno)


def check_signature(metric: Metric) -> None:
    """Check that ``score`` is a plain function that takes the two tables and the name of the row ids first.

    Exchanged names would exchange truths and predictions, and many scores would not show it. If there is a
    ``prepare``, it has to take the same further parameters with the same defaults.

    Parameters
    ----------
    metric : Metric
        The metric.

    Raises
    ------
    HostError
        Another kind of object, or other parameters.
    """
    if not inspect.isfunction(metric.score) or inspect.iscoroutinefunction(metric.score):
        found = "async def" if inspect.isfunction(metric.score) else type(metric.score).__name__
        raise HostError(f"{where(metric)}: expected a function that def defines, found {found}")
    parameters = list(inspect.signature(metric.score).parameters.values())
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters[: len(REQUIRED)]]
    fits = names == list(REQUIRED) and all(each.kind in by_position for each in parameters[:2])
    if not fits or parameters[2].kind is inspect.Parameter.POSITIONAL_ONLY:
        found = ", ".join(map(str, parameters)) or "none"
        raise HostError(
            f"{where(metric)}: expected the parameters {', '.join(REQUIRED)} first, found {found:.160}"
        )
    if metric.prepare is not None:
        _check_parameters_of_prepare(metric, inspect.signature(metric.prepare), parameters[len(REQUIRED) :])


def _check_parameters_of_prepare(
    metric: Metric, prepare: inspect.Signature, parameters: list[inspect.Parameter]
) -> None:
    """Check that ``prepare`` takes the parameters of ``score``, with the same defaults.

    Otherwise ``score`` and the statistics would be computed with different parameters.
    """
    takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in prepare.parameters.values())
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD or (
            takes_all and parameter.name not in prepare.parameters
        ):
            continue
        other = prepare.parameters.get(parameter.name)
        if other is None or repr(other.default) != repr(parameter.default):
            found = "without it" if other is None else f"with {other}"
            raise HostError(
                f"{metric.path.name}: prepare(): expected the parameter {parameter!s:.60}, as score() has it, "
                f"found prepare() {found:.60}"
            )


def check_alone(
    metric: Metric,
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    arguments: Mapping[str, Any],
    score: float,
) -> list[str]:
    """Check the score of a metric without statistics, which nothing else can be compared with.

    Parameters
    ----------
    metric : Metric
        The metric, which has no ``prepare``.
    solution, submission : DataFrame
        The tables as ``score`` takes them.
    arguments : mapping of str to object
        The arguments of ``score`` besides the two tables.
    score : float
        What ``score`` returned for these tables.

    Returns
    -------
    list of str
        What the host should know: the score is not finite, or it depends on the order of the rows. Either may
        be right for this submission, or for this metric.

    Raises
    ------
    HostError
        A second call with the same tables gives another number.
    Exception
        Whatever the metric raises in the second call.
    """

    def scored(step: int) -> float:
        tables = (frame.iloc[::step].reset_index(drop=True) for frame in (solution, submission))
        return one_float(metric, metric.score(*tables, **arguments))

    again = scored(1)
    _check_again(metric, score, again)
    if not np.isfinite(score):
        return [f"{where(metric)}: expected one finite float, found {score}, which platforms refuse"]
    try:
        backward = scored(-1)
    except Exception:
        return []  # The metric may rightly refuse rows in another order.
    if not np.isclose(backward, score, rtol=1e-6, atol=1e-9):
        return [
            f"{where(metric)}: the score depends on the order of the rows: {score:.6f}, and {backward:.6f} "
            "with the rows of both tables in reverse. Match rows by their ids, unless the order has a meaning"
        ]
    return []


def check_measure_parameters(
    metric: Metric,
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    statistics: Floats,
    arguments: Mapping[str, Any],
) -> None:
    """Check that the statistics do not depend on the parameters in ``MEASURE_PARAMETERS``.

    A board is ranked again with other values of these parameters, from statistics that were stored. So each
    parameter is tried with `other_values`, unless the metric refuses them.

    Parameters
    ----------
    metric : Metric
        The metric, which has a ``prepare``.
    solution : DataFrame
        The solution.
    submission : DataFrame
        The submission.
    statistics : (n, k) float
        The statistics of the submission with the given arguments.
    arguments : mapping of str to object
        The arguments of ``score`` besides the two tables.

    Raises
    ------
    HostError
        The statistics depend on one of the parameters.
    """
    assert metric.prepare is not None
    for name in metric.measure_parameters:
        value = arguments.get(name, inspect.signature(metric.score).parameters[name].default)
        for other in other_values(metric, name, value):
            try:
                others = metric.prepare(solution, **{**arguments, name: other}).statistics(submission)
            except Exception:
                continue  # The parameter has a range, and this value is outside of it.
            if not np.array_equal(statistics, others):
                raise HostError(
                    f"{metric.path.name}: MEASURE_PARAMETERS: expected parameters on which the statistics do "
                    f"not depend, found {name!r}: they differ between {name}={value} and {name}={other}"
                )


def other_values(metric: Metric, name: str, value: Any) -> list[Any]:
    """List other values with which a parameter of ``score`` can be tried.

    Parameters
    ----------
    metric : Metric
        The metric.
    name : str
        The name of the parameter.
    value : object
        The value that it has.

    Returns
    -------
    list
        All other options of a Literal and of a bool. Twice a number plus one, and half of it. A list in
        reverse, and without its last element. A text with one more letter, and no text. None where it is
        allowed, and common numbers in place of None. The metric may refuse any of them.
    """
    try:
        annotation = typing.get_type_hints(metric.score).get(name)
    except (NameError, TypeError):
        annotation = None
    allowed = typing.get_args(annotation)
    if typing.get_origin(annotation) is typing.Literal:
        return [option for option in allowed if option != value]
    others: list[Any] = [None] if type(None) in allowed else []
    if isinstance(value, bool):
        return [not value, *others]
    if isinstance(value, int):
        return [value * 2 + 1, value // 2, *others]
    if isinstance(value, float):
        return [value * 2 + 1, value / 2, *others]
    if isinstance(value, str):
        return [f"{value}x", "", *others]
    if isinstance(value, list | tuple):
        return [value[::-1], value[:-1], *others]
    common: dict[Any, list[Any]] = {float: [0.5, 2.0], int: [1, 2], bool: [True, False]}
    return [other for kind in allowed for other in common.get(kind, [])] if value is None else others


def made_submission(name: str, submission: object) -> pd.DataFrame:
    """Return the submission that a function of a companion has made, if it is a table.

    Parameters
    ----------
    name : str
        The name of the function, for the message.
    submission : object
        What it returned.

    Returns
    -------
    DataFrame
        The submission.

    Raises
    ------
    CompanionError
        It is something else.
    """
    if not isinstance(submission, pd.DataFrame):
        raise CompanionError(f"companion.py: {name}(): expected a table, found {type(submission).__name__}")
    return submission


def check_explanation(explanation: Any) -> None:
    """Check an explanation of a companion against the contract, by computing everything that it can tell.

    Parameters
    ----------
    explanation : object
        What the companion's ``explain`` returned.

    Raises
    ------
    CompanionError
        Names the first slip: what was expected and what was found.
    Exception
        Whatever the companion raises.
    """

    def expect(holds: bool, expected: str, found: object) -> None:
        if not holds:
            raise CompanionError(f"companion.py: {expected}, found {found}")

    names = ("tables", "notices", "rows", "details", "losses", "groups", "confusion", "forecasts", "histograms")
    kind = type(explanation).__name__
    for name in ("roles", *names):
        # hasattr() of the object would compute a property. An AttributeError in it would look like its absence.
        expect(
            hasattr(type(explanation), name) or name in getattr(explanation, "__dict__", {}),
            "expected explain to return a podium.contract.Explanation",
            f"{kind} without {name}",
        )
    told = {name: getattr(explanation, name) for name in names}
    for name in ("tables", "details"):
        expect(
            _is_mapping_of(told[name], pd.DataFrame),
            f"{name}: expected a dict of tables by their titles",
            _kinds(told[name]),
        )
    expect(
        isinstance(told["notices"], list | tuple) and all(isinstance(each, str) for each in told["notices"]),
        "notices: expected a list of sentences",
        _kinds(told["notices"]),
    )
    expect(isinstance(told["histograms"], Mapping), "histograms: expected a dict", _kinds(told["histograms"]))
    for name in ("rows", "forecasts"):
        expect(isinstance(told[name], pd.DataFrame), f"{name}: expected a table", _kinds(told[name]))
    for name in ("losses", "groups", "confusion"):
        is_table = told[name] is None or isinstance(told[name], pd.DataFrame)
        expect(is_table, f"{name}: expected a table or None", _kinds(told[name]))
    _expect_columns_of(expect, told, explanation.roles)


def _expect_columns_of(
    expect: Callable[[bool, str, object], None], told: Mapping[str, Any], roles: Mapping[str, str]
) -> None:
    """Check that the tables of an explanation have the columns that podium looks for in them."""
    rows = told["rows"]
    if len(rows.columns):
        for role, column in roles.items():
            expect(
                column in rows or (role, column) in Explanation.roles.items(),  # the default promises nothing
                f"roles: expected the {role} to be a column of rows",
                f"{column!r}; rows has {', '.join(map(str, rows))}",
            )
    if "points_lost" in rows:
        is_finite = rows["points_lost"].dtype.kind in "iuf" and np.isfinite(rows["points_lost"]).all()
        expect(bool(is_finite), "rows: expected finite numbers in points_lost", "others")
    if told["losses"] is not None:
        fits = len(told["losses"]) == len(rows)
        expect(fits, f"losses: expected {len(rows)} rows, as rows has", len(told["losses"]))
    for name, columns in (("groups", "attribute value score weight"), ("forecasts", "probability happened")):
        table = told[name]
        if table is not None and len(table.columns):
            lacking = [column for column in columns.split() if column not in table]
            expect(
                not lacking,
                f"{name}: expected the columns {', '.join(columns.split())}",
                ", ".join(map(str, table)),
            )


def _is_mapping_of(value: object, kind: type) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(each, kind) for name, each in value.items()
    )


def _kinds(value: object) -> str:
    """What a value is, and what is in it, for a message.

    >>> _kinds([1]), _kinds({}), _kinds(None)
    ('list of int', 'dict', 'None')
    """
    if value is None:
        return "None"
    inside: list[object] = []
    if isinstance(value, Mapping):
        inside = list(value.values())
    elif isinstance(value, list | tuple):
        inside = list(value)
    kinds = sorted({type(each).__name__ for each in inside})
    return type(value).__name__ + (f" of {', '.join(kinds)}" if kinds else "")


def rows_that_answer(
    metric: Metric, solution: pd.DataFrame, rows: Bools, submission: pd.DataFrame, row_id: str
) -> pd.DataFrame:
    """Select the rows of a submission that the metric gets for some rows of a solution, as Kaggle does.

    Parameters
    ----------
    metric : Metric
        The metric.
    solution : DataFrame
        The whole solution.
    rows : (rows,) bool
        The rows of the solution that are scored.
    submission : DataFrame
        The whole submission.
    row_id : str
        The column by which rows of both tables belong together.

    Returns
    -------
    DataFrame
        The whole submission for a metric with ``COMPLETE_SUBMISSION``. Otherwise the rows that answer other
        rows of the solution are left out. Rows that answer nothing stay, so that the metric can reject them.
    """
    is_clear = all(list(table.columns).count(row_id) == 1 for table in (solution, submission))
    if metric.complete_submission or rows.all() or not is_clear:
        return submission
    answers: pd.DataFrame = submission[~ids_of(submission, row_id).isin(ids_of(solution, row_id)[~rows])]
    return answers


def ids_of(table: pd.DataFrame, row_id: str) -> pd.Series:
    """Take the ids of a table's rows as texts.

    Parameters
    ----------
    table : DataFrame
        A solution or a submission.
    row_id : str
        The column with the ids.

    Returns
    -------
    Series of str
        The ids. A whole number is written without decimals, so that 1 and 1.0 are the same id.
    """
    ids = table[row_id]
    if ids.dtype.kind == "f" and (ids % 1 == 0).all():
        ids = ids.astype("int64")
    return ids.astype(str)


def _is_label(label: object) -> bool:
    return isinstance(label, tuple) and len(label) == 2 and all(isinstance(text, str) for text in label)


def _shortened(value: object, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + "…"


def _first_descent(items: Sequence[str]) -> str:
    pairs = [(before, after) for before, after in itertools.pairwise(items) if before > after]
    return f"{pairs[0][0]!r} before {pairs[0][1]!r}" if pairs else ""


def _first_twice(items: Sequence[str]) -> str:
    twice = [before for before, after in itertools.pairwise(items) if before == after]
    return f"{twice[0]!r} twice" if twice else ""
