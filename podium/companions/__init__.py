"""What can be told of a metric beyond its score: one module per hosted file, found by the file's ``NAME``.

It explains with the stages of the hosted file that it is given.  It offers what it can of: TEXT_COLUMNS,
read_solution, read_submission (official files), recognise, predicted (which items the submission has), explain,
texts (of items, for the report), agreement, gamma (of experts), advice (to hosts), SIDE_COLUMNS, add_side (what
only hosts may write), kaggle_submission, sample_submission, perfect_submission, official_json.
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


def of(metric: Metric) -> types.ModuleType | None:
    """The companion of a hosted file, if there is one."""
    name = f"{__name__}.{getattr(metric, 'NAME', '')}"
    known = name.rpartition(".")[2].isidentifier() and importlib.util.find_spec(name)
    return importlib.import_module(name) if known else None


class Explanation:
    """What led to a score; each companion offers some of these attributes.

    tables : small frames by title, for people
    notices : list of str
    rows : frame, what became of every thing of either side
        Columns of one meaning everywhere: side ("prediction" or "truth"); first and last (positions of words,
        both inclusive), words, words_kept (the last ones); markup and against ("algorithm", or whose else);
        start and end (characters, the end exclusive; -1 for none); partner (its row_id) and partner_X (its X);
        points_lost (how much the score would rise, to first order, were this row alone right).
    losses : frame, the points_lost of each row by cause
    groups : frame, sub-populations: attribute, value, score, weight
    confusion : frame, how often a label of the truth (index) was predicted as which (columns)
    forecasts : frame, "probability" and whether it "happened" (0 or 1)
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
