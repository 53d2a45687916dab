"""The door for Python: `podium.score` and `podium.prepare`, the two functions that most users need.

It takes tables instead of files, and keyword arguments instead of options, and says what is wrong with these.
The way from tables to a score is that of `podium.contest.way`, which every command takes, too.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from podium.contest import way
from podium.metric import hosted
from podium.metric.own import DEFAULT
from podium.scoring.evaluating import Evaluation, Solution

__all__ = ["prepare", "score"]


def score(
    solution: pd.DataFrame | Solution,
    submission: pd.DataFrame,
    metric: str | Path | None = None,
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
        not count.
    submission : DataFrame
        The predictions, in the columns that the metric asks for. For the Unified Metric these are ``essay_id``,
        ``discourse_type``, ``predictionstring``, ``score_discourse_effectiveness_0`` and
        ``score_discourse_effectiveness_1``. The names ``id`` and ``class`` of the Feedback Prize are
        understood, with a warning. The column of row ids may be left out.
    metric : str or Path, optional
        The name of one of podium's metrics, a Python file with a ``score``, or a folder with a ``metric.py``.
        The default is the Unified Metric, "unified". Do not give it with a prepared solution, which has its
        metric. A file of your own is executed in this process, which it can end; the commands use a child.
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
    podium.words.errors.SubmissionRejected
        The submission is wrong. The text says what was expected, where, and what was found.
    podium.words.errors.HostError
        The solution, a parameter or the metric is wrong.
    podium.words.errors.UsageError
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
    ... except podium.words.errors.SubmissionRejected as problem:
    ...     print(str(problem).partition(".")[0])
    write 'Lead' in discourse_type, found 'lead'
    """
    submission = _table(submission, "score: submission")
    together = {**(parameters or {}), **more}
    if not isinstance(solution, Solution):
        loaded, arguments = _asked(DEFAULT if metric is None else metric, row_id, together)
        truth = _table(solution, "prepare: solution")
        solution = way.opened(loaded, truth, arguments, submission=submission)
    elif metric is not None or row_id is not None or together:
        if metric is None:
            hosted.check_parameters(solution.metric, together)
        named = [name for name, value in (("metric", metric), ("row_id", row_id)) if value is not None]
        given = ", ".join([*named, *together])
        raise TypeError(f"score: give {given} to podium.prepare instead, which has prepared this solution")
    submission, notices = way.recognized(solution, submission)
    for notice in notices:
        warnings.warn(notice, stacklevel=2)
    return way.scored(solution, submission)


def prepare(
    solution: pd.DataFrame,
    metric: str | Path = DEFAULT,
    row_id: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    **more: Any,
) -> Solution:
    """Check a solution and compute what depends on it alone, so that many submissions can be scored against it.

    Parameters
    ----------
    solution : DataFrame
        The solution, as for `score`.
    metric : str or Path
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
    podium.words.errors.HostError
        The solution, a parameter or the metric is wrong.
    podium.words.errors.UsageError
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
    loaded, arguments = _asked(metric, row_id, {**(parameters or {}), **more})
    return way.prepared(loaded, frame, arguments)


def _asked(
    metric: str | Path, row_id: str | None, parameters: Mapping[str, Any]
) -> tuple[hosted.Metric, dict[str, Any]]:
    """Load a metric, and check the arguments for its ``score``."""
    loaded = hosted.load(metric)
    hosted.check_parameters(loaded, parameters)
    return loaded, {**({} if row_id is None else {"row_id_column_name": row_id}), **parameters}


def _table(table: object, what: str) -> pd.DataFrame:
    """Return a DataFrame, with a named index as a column; refuse all else with a hint at how to get one."""
    if isinstance(table, pd.DataFrame):
        is_named = table.index.name is not None and table.index.name not in table
        return table.reset_index() if is_named else table
    kind = f"{type(table).__module__.partition('.')[0]}.{type(table).__name__}"
    hint = ""
    if hasattr(table, "instead_of_a_table"):
        hint = f"; {table.instead_of_a_table}"
    elif hasattr(table, "to_pandas"):
        hint = "; give .to_pandas() of it"
    elif isinstance(table, str | Path):
        hint = f"; read it with pandas.read_csv({str(table)!r})"
    raise TypeError(f"{what}: expected a pandas DataFrame, found {kind.removeprefix('builtins.')}{hint}")
