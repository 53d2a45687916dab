"""The door for Python: `podium.score` and `podium.prepare`, the two functions that most users need.

It takes tables instead of files, and keyword arguments instead of options, and says what is wrong with these.
The steps from tables to a score are those of `podium.contest.pipeline`, which every command takes, too.
"""

import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from podium.contest import pipeline
from podium.metric import hosted
from podium.metric.built_in import DEFAULT
from podium.metric.parameters import check_parameters, defaults
from podium.scoring.evaluating import Evaluation, Solution
from podium.tables.frames import as_frame

__all__ = ["prepare", "score"]

OF_ROW_ID = ("id", "ids", "id_col", "id_column", "id_column_name", "index", "key", "row_id_column", "row_ids")


def score(
    solution: pd.DataFrame | Solution,
    submission: pd.DataFrame,
    metric: str | Path | Callable[..., float] | ModuleType | None = None,
    row_id: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    **more: Any,
) -> Evaluation:
    """Score a submission.

    Parameters
    ----------
    solution : DataFrame or podium.scoring.evaluating.Solution
        The solution, or what `prepare` made of it, which is faster for many submissions. If the table has a
        column ``Usage``, the "Public" and the "Private" rows are also scored separately. Rows with "Ignored" do
        not count. Tables of other libraries are taken if they have ``to_pandas``, as those of polars.
    submission : DataFrame
        The predictions, in the columns that the metric asks for. For the Unified Metric these are ``essay_id``,
        ``discourse_type``, ``predictionstring``, ``score_discourse_effectiveness_0`` and
        ``score_discourse_effectiveness_1``. The names ``id`` and ``class`` of the Feedback Prize are
        understood, with a warning. The column of row ids may be left out.
    metric : str or Path, module or function, optional
        The name of one of podium's metrics, a Python file with a ``score``, or a folder with a ``metric.py``. A
        module, or its function ``score``, stands for its file. The default is the Unified Metric, "unified". Do
        not give it with a prepared solution, which has its metric. A file of your own is executed in this
        process, which it can end; the commands use a child.
    row_id : str, optional
        The column of the solution that names the rows. The default is its first column.
    parameters : mapping of str to object, optional
        Parameters of the metric's ``score``. Their names may also be those of arguments of this function.
    **more : object
        Further parameters of the metric's ``score``, such as ``temperature=80``. Parameters that are not given
        keep their official values. If a name is wrong, the error lists the right ones. The signature has all
        values.

    Returns
    -------
    podium.scoring.evaluating.Evaluation
        The scored submission: its ``score`` (float), the ``scores`` of each part, and all ``measures`` (dict).
        Its ``notices`` say what is unusual, such as positions that seem to be counted from 1. It also has an
        ``explanation`` (tables, and what became of every row) and the ``signature`` to quote with the score.
        When it is printed or shown in a notebook, it shows the notices and the score with its tables.

    Raises
    ------
    podium.common.errors.SubmissionRejected
        The submission is wrong. The text says what was expected, where, and what was found.
    podium.common.errors.HostError
        The solution, a parameter or the metric is wrong.
    podium.common.errors.UsageError
        There is no such metric.
    TypeError
        An argument is an object of another type. The text names the right one.

    Examples
    --------
    >>> import pandas as pd, podium
    >>> solution, submission = pd.read_csv("solution_sample.csv"), pd.read_csv("sample_submission.csv")
    >>> result = score(solution, submission, temperature=0)
    >>> round(result.score, 6), round(result.measures["F1 of Claim"], 6)
    (0.620395, 0.495902)

    What became of each segment is in the rows of the explanation, predictions first:

    >>> print(result.explanation.rows[["side", "outcome", "iou", "tp"]].head(2).round(2).to_string())
             side  outcome   iou    tp
    0  prediction  matched  1.00  0.79
    1  prediction  matched  0.82  0.79

    A rejected submission is told what to do:

    >>> try:
    ...     score(solution, submission.assign(discourse_type=submission["discourse_type"].str.lower()))
    ... except podium.common.errors.SubmissionRejected as problem:
    ...     print(str(problem).partition(".")[0])
    write 'Lead' in discourse_type, found 'lead'
    """
    submission = _table(submission, "score: submission")
    together = _together(parameters, more)
    if not isinstance(solution, Solution):
        loaded, arguments = _asked(DEFAULT if metric is None else metric, row_id, together)
        truth = _table(solution, "prepare: solution")
        solution = pipeline.opened(loaded, truth, arguments, submission=submission)
    elif metric is not None or row_id is not None or together:
        if metric is None:
            check_parameters(solution.metric, together)
        named = [name for name, value in (("metric", metric), ("row_id", row_id)) if value is not None]
        given = ", ".join([*named, *together])
        raise TypeError(f"score: give {given} to podium.prepare instead, which has prepared this solution")
    submission, notices = pipeline.recognized(solution, submission)
    for notice in notices:
        warnings.warn(notice, stacklevel=2)
    return pipeline.scored(solution, submission)


def prepare(
    solution: pd.DataFrame,
    metric: str | Path | Callable[..., float] | ModuleType = DEFAULT,
    row_id: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    **more: Any,
) -> Solution:
    """Check a solution and compute what depends on it alone, so that many submissions can be scored against it.

    Parameters
    ----------
    solution : DataFrame
        The solution, as for `score`.
    metric : str or Path, module or function
        The metric, as for `score`.
    row_id : str, optional
        The column of the solution that names the rows, as for `score`.
    parameters : mapping of str to object, optional
        Parameters of the metric's ``score``, as for `score`.
    **more : object
        Further parameters of the metric's ``score``.

    Returns
    -------
    podium.scoring.evaluating.Solution
        The prepared solution, for `score`, `podium.spans.score` and `podium.tuning.tune`.

    Raises
    ------
    podium.common.errors.HostError
        The solution, a parameter or the metric is wrong.
    podium.common.errors.UsageError
        There is no such metric.
    TypeError
        The solution is not a DataFrame.

    Examples
    --------
    >>> import pandas as pd
    >>> fold = prepare(pd.read_csv("solution_sample.csv"))
    >>> round(score(fold, pd.read_csv("sample_submission.csv")).score, 6)
    0.587969
    """
    frame = _table(solution, "prepare: solution")
    loaded, arguments = _asked(metric, row_id, _together(parameters, more))
    return pipeline.prepared(loaded, frame, arguments)


def _together(parameters: Mapping[str, Any] | None, more: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that are given in a mapping, and those that are arguments."""
    if not isinstance(parameters, Mapping | None):
        kind = type(parameters).__name__
        raise TypeError(f'parameters: expected a dict, such as {{"temperature": 80}}, found {kind}')
    return {**(parameters or {}), **more}


def _asked(
    metric: str | Path | Callable[..., float] | ModuleType, row_id: str | None, parameters: Mapping[str, Any]
) -> tuple[hosted.Metric, dict[str, Any]]:
    """Load a metric, and check the arguments for its ``score``."""
    loaded = hosted.load(_file_of(metric))
    others = [name for name in parameters if name in OF_ROW_ID and name not in defaults(loaded)]
    if others:
        raise TypeError(f"{others[0]}: name the column of ids by row_id={parameters[others[0]]!r}")
    check_parameters(loaded, parameters)
    for name, value in parameters.items():
        if isinstance(value, list | tuple) and isinstance(defaults(loaded).get(name), str):
            joined = ",".join(map(str, value))
            raise TypeError(
                f"{name}: expected one text, found a {type(value).__name__}; give {name}={joined!r}"
            )
    return loaded, {**({} if row_id is None else {"row_id_column_name": row_id}), **parameters}


def _file_of(metric: object) -> str | Path:
    """Find the file of a metric that is given as a module, or as the function ``score`` of one."""
    if isinstance(metric, str | Path):
        return metric
    module = metric if isinstance(metric, ModuleType) else sys.modules.get(getattr(metric, "__module__", ""))
    file = getattr(module, "__file__", None)
    is_of_module = metric is module or metric is getattr(module, "score", None)
    # A script would run once more.
    if module is not None and file is not None and is_of_module and module.__name__ != "__main__":
        return Path(file)
    if callable(metric):
        name = getattr(metric, "__name__", "?")
        raise TypeError(
            f"metric: expected a name, a file or a folder, found the function {name}: write it, as score and "
            'with its imports, into a file, as %%writefile metric.py does, and give metric="metric.py"'
        )
    raise TypeError(f"metric: expected a name, a file or a folder, found {type(metric).__name__}")


def _table(table: object, what: str) -> pd.DataFrame:
    """Return a DataFrame, with a named index as a column."""
    frame = as_frame(table, what)
    is_named = frame.index.name is not None and frame.index.name not in frame
    return frame.reset_index() if is_named else frame
