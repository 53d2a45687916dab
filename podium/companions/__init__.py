"""What can be told of a metric beyond its score: one module per hosted file, found by the file's ``NAME``.

A companion explains with the stages of the hosted file that it is given, so a changed copy is explained by
its own.  All that it offers is optional:

``TEXT_COLUMNS``
    Columns, beside those named by the metric's parameters, that hold text, whatever they look like.
``read_solution(path)``, ``read_submission(path)``
    DataFrames from official files that are no tables; they raise `HostError` and `SubmissionRejected`.
``recognise(frame, row_id, effectiveness) -> (frame, notices)``
    Other people's columns under the metric's names, and what was taken for what.
``predicted(prepared, submission) -> (n,) bool``
    The items for which the submission holds anything.
``explain(evaluation) -> Explanation``
``agreement(metric, prepared, solution)``, ``gamma(prepared) -> DataFrame``
    How well the experts agree in the solution that ``prepared`` was made from: an object with ``tables``,
    ``notices``, ``histograms`` (see `Explanation`) and ``documents``, a DataFrame; and, corrected for chance,
    ``document_id`` and ``gamma``.
``advice(metric, solution, arguments) -> list of str``
    What a host should know before he publishes, from a solution with ``Usage``.
``SIDE_COLUMNS``, ``add_side(submission, side, row_id_column_name) -> DataFrame``
    Columns that only the host may write, so dropped from participants' files, and what puts them in.
``texts(evaluation, path) -> dict``
    What the report shows of each item, with an official file at `path` or None; raises `UsageError`.
``kaggle_submission(submission, solution)``, ``sample_submission(solution)``, ``perfect_submission(solution)``
    A submission as Kaggle accepts it even where it aligns rows (one per row of the solution, no empty cell),
    one that shows the form, and one that no other beats.
``official_json(measures) -> dict``
    What the official program writes.
"""

import importlib
import importlib.util
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from podium.hosted import Metric

if TYPE_CHECKING:
    from podium.scoring import Evaluation

__all__ = ["Explanation", "of", "ratio"]


def of(metric: Metric) -> types.ModuleType | None:
    """The companion of a hosted file, if there is one."""
    name = f"{__name__}.{getattr(metric, 'NAME', '')}"
    known = name.rpartition(".")[2].isidentifier() and importlib.util.find_spec(name)
    return importlib.import_module(name) if known else None


class Explanation:
    """What led to a score; each companion offers some of these attributes.

    tables : dict of title to DataFrame, small and for people
    notices : list of str, what a reader of the score should know
    rows : DataFrame, what became of every thing of either side
        Some columns have one meaning everywhere: side ("prediction" or "truth"); row_id; first and last
        (positions of words, both inclusive), words, words_kept (how many counted: the last ones); markup and
        against ("algorithm", or whose else the thing is, and with whose it is compared); start and end
        (characters, the end exclusive; -1 for none); partner (its row_id) and partner_X (its X); points_lost
        (how much the score would rise, to first order, were this row alone right).
    losses : DataFrame, the points_lost of each row by cause
    groups : DataFrame, sub-populations: attribute, value, score (the measure "attribute = value"), weight
    confusion : DataFrame, how often a label of the truth (index) was predicted as which (columns)
    forecasts : DataFrame, "probability" and whether it "happened" (0 or 1)
    histograms : see `podium.report.histograms`
    """

    # Which column of `rows` is the "item", "label" and "outcome" ("matched" or "correct" where all is well).
    roles: ClassVar[Mapping[str, str]]

    def __init__(self, evaluation: "Evaluation") -> None:
        self.evaluation, self.metric = evaluation, evaluation.solution.metric
        self.prepared, self.submission = evaluation.prepared, evaluation.submission
        self.statistics: Any = evaluation.statistics


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """numerator / denominator, NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(numerator, denominator)
    quotient = np.full(a.shape, np.nan)
    np.divide(a, b, out=quotient, where=b != 0)
    return quotient
