"""Accuracy: the share of rows whose label is right, also in each group. Replace it by a metric of your own.

What to change, and in which order:

1. `score`: its docstring, which platforms show, and its parameters, which `prepare` takes, too.
2. `counts`: the columns that both tables need, and some numbers of each row.
3. `share`: the score from the sums of these numbers.
4. `prepare`: the columns that name items of several rows, such as patients, and groups.
5. The companion, the samples, the page and the test beside this file, which know the columns, too.

The file is uploaded alone. Platforms never call `prepare`, so it alone imports podium.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

NAME = "my_metric"
__version__ = "1.0.0"  # raise it whenever a score can change
COMPLETE_SUBMISSION = False  # True if a submission may have other rows than the solution


class ParticipantVisibleError(Exception):
    """The submission is wrong; participants read the text, up to 280 characters of it."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong; only the host reads the text."""


def higher_is_better() -> bool:
    """Tell whether a higher score is better."""
    return True


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Compute the share of rows whose label is right.

    Parameters
    ----------
    solution : DataFrame
        With the columns `row_id_column_name`, ``label`` and ``group``.
    submission : DataFrame
        With the columns `row_id_column_name` and ``label``, and the same rows.
    row_id_column_name : str
        The column by which rows belong together.

    Returns
    -------
    float
        From 0 (worst) to 1 (best).

    Raises
    ------
    ParticipantVisibleError
        The submission has no label.

    Examples
    --------
    >>> solution = pd.DataFrame({"id": ["a", "b"], "label": ["x", "y"], "group": ["north", "south"]})
    >>> score(solution, solution[["id", "label"]], "id")
    1.0
    >>> score(solution, solution[["id"]].assign(label="x"), "id")
    0.5
    """
    return float(share(counts(solution, submission).sum(axis=0)))


def counts(solution: pd.DataFrame, submission: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Give two numbers for each row, (rows, 2): whether its label is right, and 1."""
    for table, error in ((solution, HostVisibleError), (submission, ParticipantVisibleError)):
        if "label" not in table:
            raise error(f"expected a column label, found {', '.join(map(str, table.columns)):.150}")
    right = solution["label"].astype(str).to_numpy() == submission["label"].astype(str).to_numpy()
    return np.column_stack([right, np.ones(len(right))])


def share(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Compute the share of right labels, (…), from sums of the numbers, (…, 2)."""
    return np.asarray(sums[..., 0] / sums[..., 1])


def prepare(solution: pd.DataFrame, row_id_column_name: str) -> object:
    """Get a solution ready for podium, which then knows intervals and groups."""
    from podium.statistics import item_wise

    return item_wise(solution, row_id_column_name, counts, share, groups=["group"])
