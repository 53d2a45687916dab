"""The contract: what a metric and its companion define.

A metric is a folder with the file ``metric.py``, which a host uploads as it is. The contract has two parts.
With the first part alone a metric can score, rank and be checked. With the second part podium scores a
submission once and computes the rest from stored numbers: intervals, comparisons, scores of parts of the
solution, and boards with other parameters.

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
`Companion`. A companion adds to the score: it explains a score, reads the official files of a field,
and makes sample submissions.

Nothing in this module checks anything. `podium.scoring.verdicts` holds a metric to the contract.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Protocol, cast

import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Bools, Floats, Ints

__all__ = [
    "ALL_ITEMS",
    "Agreement",
    "Companion",
    "Explanation",
    "Metric",
    "MetricFile",
    "Prepared",
    "StagedPrepared",
    "StatisticsFile",
    "Variants",
]

# Platforms and podium know a metric's exceptions by these names.
VISIBLE_ERRORS = ("ParticipantVisibleError", "HostVisibleError")

# The first parameters of every score().
REQUIRED = ("solution", "submission", "row_id_column_name")

# The label of the only group of a metric that knows no sub-populations.
ALL_ITEMS = ("(all)", "(all)")

Progress = Callable[[int, int], None]  # called with the work done and the total


# ---- What a metric file defines --------------------------------------------------------------------------


class MetricFile(Protocol):
    """Part one of the contract: what a metric file defines to score.

    Only `score` is required.

    Attributes
    ----------
    NAME : str
        The name of the metric in signatures. It must not be the name of a built-in metric. Without
        it the name of the folder or of the file is used.
    __version__ : str
        The version in signatures. Change it whenever a score can change. Without it signatures say "?".
    LATER_PARAMETERS : sequence of str
        Parameters of `score` that were added after its first release. Signatures name them only if they differ
        from their defaults, so that a score keeps its signature.
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
        """Tell whether a higher score is better. Without this function, podium assumes that it is.

        If this depends on parameters of `score`, the function takes these parameters, by the same names.

        Returns
        -------
        bool
            True if the highest score is the best one.
        """
        ...


class StatisticsFile(MetricFile, Protocol):
    """Part two of the contract: what a metric file defines so that its scores can be resampled."""

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


class Grouped(Protocol):
    """Items in groups: what a board needs of a `Prepared`. A metric without statistics has these, too."""

    @property
    def items(self) -> Sequence[object]: ...

    @property
    def labels(self) -> Sequence[tuple[str, str]]: ...

    @property
    def groups(self) -> Ints: ...

    @property
    def measure_names(self) -> Sequence[str]: ...


class Measured(Grouped, Protocol):
    """Items in groups with the measures of their sums: what `podium.statistics` needs of a `Prepared`."""

    def measures(self, sums: Floats) -> Floats: ...


class Prepared(Measured, Protocol):
    """A prepared solution, which a metric's ``prepare`` returns: an object of any class with these names.

    Podium works with the types below, and converts what it gets into them. `items` and `measure_names` may be
    any sequences, and numbers may have any width. If there is one attribute, `labels` may be its values alone,
    of any type. The numbers in `groups` may begin at 0 for each attribute. `groups` may also be a mapping from
    attributes to the value of each item, without `labels`. Then the groups of an attribute have the order of
    their values, compared as texts. Without `labels` and `groups` there is one group, and without
    `measure_names` the score is the only measure.

    Podium makes parts of a prepared solution, such as the Public items or a fold. Therefore `statistics` must
    not use `labels` and `groups`, and `measures` may use only `labels`. If the prepared solution is a
    dataclass, podium replaces `items`, `labels` and `groups` for a part. Otherwise `measures` gets sums of 0
    for groups that the part lacks.

    Attributes
    ----------
    items : list of str
        The ids of the n items, such as essays: each once, in any order.
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

    The same groups as a mapping:

    >>> groups = {"gender": ["female", "female", "male"], "grade": [8, 10, 8]}
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
            What a participant sent. Its rows are in the order of the solution's, as ``score()`` gets them. With
            ``COMPLETE_SUBMISSION``, or if it has other rows than the solution, it is as it was sent.

        Returns
        -------
        (n, k) array of float
            k finite numbers for each item, in the order of `items`.

        Notes
        -----
        ``score()`` has to equal, up to rounding, the first measure of the sums of these numbers over each
        group. They may differ by a millionth of the score, or by as much as the measure changes if each sum is
        changed by a millionth of the sum of the absolute values. Podium shows the number that ``score()`` gave.
        """
        ...

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute the measures from the sums of the statistics.

        Parameters
        ----------
        sums : (…, g, k) array of float
            The sums over the items of each group. There may be further axes in front, because resampling
            computes many measures at once.

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


class PreparedOfFile(Prepared, Protocol):
    """A prepared solution as the functions of its own metric file know it: with whatever else it has."""

    def __getattr__(self, name: str) -> Any: ...


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


# ---- What a metric's companion adds ----------------------------------------------------------------------


class PreparedSolution(Protocol):
    """What a companion may know of a prepared solution; `podium.scoring.evaluating.Solution` is one."""

    @property
    def metric(self) -> "Metric": ...
    @property
    def arguments(self) -> dict[str, Any]: ...
    @property
    def frame(self) -> pd.DataFrame: ...
    @property
    def rows(self) -> dict[str, Bools]: ...
    @property
    def prepared(self) -> dict[str, Prepared]: ...
    @property
    def items(self) -> dict[str, Bools]: ...
    @property
    def further(self) -> dict[str, str]: ...
    @property
    def higher_is_better(self) -> bool: ...
    def items_of(self, part: str, column: str = "") -> Any: ...
    def together(self, part: str, column: str) -> Ints | None: ...
    def score_some(self, submission: pd.DataFrame, part: str, kept: Bools) -> float: ...


class ScoredSubmission(Protocol):
    """What a companion and the statistics may know of it; `podium.scoring.evaluating.Evaluation` is one."""

    @property
    def solution(self) -> PreparedSolution: ...
    @property
    def submission(self) -> pd.DataFrame: ...
    @property
    def scores(self) -> dict[str, float]: ...
    @property
    def statistics(self) -> Floats | None: ...
    @property
    def read(self) -> Any: ...
    @property
    def compared(self) -> Any: ...
    @property
    def score(self) -> float: ...
    @property
    def prepared(self) -> Prepared: ...
    @property
    def drawn(self) -> dict[tuple[str, str, int], dict[Any, Floats]]: ...
    @property
    def signature(self) -> str: ...
    @property
    def measures(self) -> dict[str, float]: ...
    @property
    def explanation(self) -> "Explanation": ...


class Explanation(Protocol):
    """What led to a score.

    A companion makes a subclass and overrides the properties for which it has something to show. All others are
    empty. The subclass can use the attributes ``evaluation``, ``metric``, ``prepared``, ``submission`` and
    ``statistics``.

    Attributes
    ----------
    evaluation : ScoredSubmission
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
    evaluation: "ScoredSubmission"
    metric: Any
    prepared: PreparedOfFile
    submission: pd.DataFrame
    statistics: Any

    def __init__(self, evaluation: "ScoredSubmission") -> None:
        self.evaluation = evaluation
        self.metric = evaluation.solution.metric.module
        self.prepared = cast(PreparedOfFile, evaluation.prepared)
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
    def mistakes(self) -> Sequence[tuple[str, str]]:
        """Those of the notices that mean that the file is probably wrong; they are never left out.

        Each is a kind, such as "positions counted from 1", and the sentence. If most files of a competition
        share a kind, the solution may be wrong.
        """
        return []

    @property
    def rows(self) -> pd.DataFrame:
        """What became of everything in the submission and in the solution, in one row each.

        A table without columns is not shown. Some columns have the same meaning in all metrics:

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
    def gains(self) -> pd.DataFrame | None:
        """How much the score would rise if all mistakes of one cause were corrected, by label and cause.

        The row "(all)" stands for all labels together. By default these are the sums of `losses`, which are
        estimates to first order.
        """
        if self.losses is None:
            return None
        total = self.losses.sum().to_frame("(all)").T
        label = self.roles.get("label")
        if label not in self.rows:
            return total
        return pd.concat([total, self.losses.groupby(self.rows[label].to_numpy(), sort=False).sum()])

    @property
    def cures(self) -> Mapping[str, str]:
        """What to do about each cause of `losses`, in a sentence that names the tool; the report shows it."""
        return {}

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
    """What a metric offers beyond its score. ``companion.py`` defines one object of this class.

    Every field is optional, because a metric need not have an official format, sub-populations or texts. Where
    a field is None, the commands that would need it say so.

    Attributes
    ----------
    text_columns : tuple of str
        The columns that are read as text. So an id such as "007" does not become the number 7.
    number_columns : tuple of str
        The text columns that become numbers if every cell of a CSV is a number, as on platforms. In the Unified
        Metric, these are the positions of words, because a file may have only segments of one word.
    read_solution, read_submission : function
        From the path of an official file of the field it makes a table. If the file is wrong, it raises
        `HostError` or `SubmissionRejected`.
    documents : tuple of str
        The endings of files of one document each. A submission may be a folder of such files, which
        `read_submission` reads.
    from_table : function
        It gets a table that was read, and returns the metric's own form of it, such as markups for a table of
        spans.
    recognize : function
        It gets a table, the name of its row id column, and a probability or None. It returns the table with
        the metric's column names in place of other people's, and notices of what it replaced. The probability
        stands in for predictions that the table lacks.
    diagnose : function
        From a solution and a rejected submission it makes one sentence that says what to write instead, or
        None. The sentence may name what only the solution has, so only those who have the solution read it.
    explain : function
        From an evaluation it makes its `Explanation`. Often it is the subclass of `Explanation` itself.
    asked : function
        From a prepared solution it makes a table of the things to which it has a right answer, such as true
        segments, with the columns ``item``, ``row`` (the name of the thing) and ``label``.
    answered : function
        From an evaluation it makes a table in the same order. ``answer`` is the label that the submission
        gives to the thing, or "". ``probability`` is what it gives to another true fact about the thing, or
        NaN. ``is_answered`` says whether it says anything about the item. If `asked` and `answered` are not
        defined, cells are compared.
    texts : function
        From an evaluation and a path or None it makes a mapping from items to their texts, for the report.
    agreement : function
        From a prepared solution and the solution's table it makes the `Agreement` of the experts.
    agreement_parameters : mapping from str to value
        The parameters with which the solution is prepared for `agreement`, unless others are given. For
        example, they name a measure that is also defined if the experts agree on nothing.
    leave_out : function
        From a solution's table and the names of experts it makes the table without their markups. If a name is
        not there, it raises `UsageError`.
    add_texts : function
        From a table of markups and a table of texts it makes the table with these texts, which its markups must
        not contradict.
    advice : function
        From a solution's table and the arguments of `score` it makes sentences to a host, about parameters that
        are better given explicitly.
    side_columns : tuple of str
        The columns that only the host may add to a submission.
    add_side : function
        From a submission, the host's table and the name of the row id column it makes the submission with these
        columns.
    side_form : function
        From a submission and the name of the row id column it makes the table to be filled for `add_side`.
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
        `podium.hosting.essays.making.make`.
    baseline : Path
        A file with a function ``predict(learned, ids, read)``, which becomes a cell of the starter notebook. It
        gets labels to learn from, the ids to answer, and a function that reads a public table by its name, and
        returns a submission. Without it, all answers are alike.
    variants : Variants
        The metric with other decisions.
    """

    text_columns: tuple[str, ...] = ()
    number_columns: tuple[str, ...] = ()
    read_solution: Callable[[Path], pd.DataFrame] | None = None
    read_submission: Callable[[Path], pd.DataFrame] | None = None
    documents: tuple[str, ...] = ()
    from_table: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    recognize: Callable[[pd.DataFrame, str, float | None], tuple[pd.DataFrame, list[str]]] | None = None
    diagnose: Callable[[PreparedSolution, pd.DataFrame], str | None] | None = None
    explain: Callable[[ScoredSubmission], Explanation] | None = None
    asked: Callable[[PreparedSolution], pd.DataFrame] | None = None
    answered: Callable[[ScoredSubmission], pd.DataFrame] | None = None
    texts: Callable[[ScoredSubmission, Path | None], Mapping[str, str]] | None = None
    agreement: Callable[[Any, pd.DataFrame], Agreement] | None = None
    agreement_parameters: Mapping[str, Any] = field(default_factory=dict)
    leave_out: Callable[[pd.DataFrame, Sequence[str]], pd.DataFrame] | None = None
    add_texts: Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame] | None = None
    advice: Callable[[pd.DataFrame, Mapping[str, Any]], list[str]] | None = None
    side_columns: tuple[str, ...] = ()
    add_side: Callable[[pd.DataFrame, pd.DataFrame, str], pd.DataFrame] | None = None
    side_form: Callable[[pd.DataFrame, str], pd.DataFrame] | None = None
    public_columns: tuple[str, ...] = ()
    kaggle_submission: Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame] | None = None
    sample_submission: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    perfect_submission: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    official_json: Callable[[Mapping[str, float]], Mapping[str, float]] | None = None
    make_files: Callable[..., Any] | None = None
    baseline: Path | None = None
    variants: Variants | None = None


# ---- What podium makes of them ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Metric:
    """A metric that `podium.metric.hosted.load` has loaded, with its companion."""

    path: Path  # the metric file
    module: ModuleType  # What the file defines. Companions use its stages.
    is_built_in: bool  # whether it is a built-in metric, which its tests hold to the contract
    name: str  # for signatures: the file's ``NAME``, else the name of its folder or of the file
    version: str  # for signatures: the file's ``__version__``, else "?"
    score: Callable[..., float]  # See `MetricFile`
    prepare: Callable[..., Prepared] | None  # See `StatisticsFile`; None where the file has no second part
    direction: Callable[..., bool] | None  # the file's ``higher_is_better``; None where it does not say
    later_parameters: tuple[str, ...]  # See `MetricFile`
    complete_submission: bool  # See `MetricFile`
    measure_parameters: tuple[str, ...]  # of a built-in metric, on which its statistics do not depend
    companion: Companion  # an empty one where the folder has none
    files: Mapping[str, bytes]  # what was executed, by the names of the files; its own file comes first

    def __repr__(self) -> str:
        return f"<metric {self.name} {self.version}>"
