"""Accuracy: the share of rows whose label is right, also in each group. Replace it by a metric of your own.

What to change, and in which order:

1. `score`: its docstring, which platforms show, and its parameters, which `prepare` takes and checks, too.
2. `prepare`: the columns that the solution needs, what an item is, and its groups. Here an item is a row.
3. `Prepared.statistics`: the columns that a submission needs, and some numbers of each item.
4. `Prepared.measures`: the score, and a measure of each group, from the sums of these numbers.
5. The companion, the samples, the page and the test beside this file, which know the columns, too.

The file is uploaded alone, so it imports nothing but numpy, pandas and the standard library.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "COMPLETE_SUBMISSION",
    "MEASURE_PARAMETERS",
    "NAME",
    "HostVisibleError",
    "ParticipantVisibleError",
    "__version__",
    "higher_is_better",
    "prepare",
    "score",
]

NAME = "my_metric"
__version__ = "1.0.0"  # raise it whenever a score can change
COMPLETE_SUBMISSION = False  # True if a submission may have other rows than the solution
MEASURE_PARAMETERS = ()  # parameters of score on which the statistics below do not depend


class ParticipantVisibleError(Exception):
    """The submission is wrong; participants read the text, up to 280 characters of it."""


class HostVisibleError(Exception):
    """The solution or a parameter is wrong; only the host reads the text."""


def higher_is_better() -> bool:
    """Tell whether a higher score is better."""
    return True


# ---- The score -------------------------------------------------------------------------------------------


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """Compute the share of rows whose label is right.

    Parameters
    ----------
    solution : DataFrame
        With the columns `row_id_column_name`, ``label`` and ``group``.
    submission : DataFrame
        With the columns `row_id_column_name` and ``label``.
    row_id_column_name : str
        The column by which rows belong together.

    Returns
    -------
    float
        From 0 (worst) to 1 (best).

    Raises
    ------
    ParticipantVisibleError
        The submission has other ids than the solution, or no label.

    Examples
    --------
    >>> solution = pd.DataFrame({"id": ["a", "b"], "label": ["x", "y"], "group": ["north", "south"]})
    >>> score(solution, solution[["id", "label"]], "id")
    1.0
    >>> score(solution, solution[["id"]].assign(label="x"), "id")
    0.5
    >>> score(solution, solution[["id"]].assign(label="y"), "id")
    0.5
    """
    prepared = prepare(solution, row_id_column_name)
    return float(prepared.statistics(submission)[:, 0].mean())


# ---- The statistics: numbers of each item whose sums decide everything -----------------------------------


def prepare(solution: pd.DataFrame, row_id_column_name: str) -> "Prepared":
    """Check a solution once and get it ready for many submissions."""
    columns = (row_id_column_name, "label", "group")
    ids, truth, group = (texts(solution, column, HostVisibleError) for column in columns)
    if not ids.is_unique:
        raise HostVisibleError(f"{row_id_column_name}: expected each id once, found one twice")
    # An item may have several rows, such as a query with its documents. Then the items are the different
    # queries, and item_of_row has for each row the place of its query among them.
    return Prepared(
        items=ids.tolist(),
        item_of_row=np.arange(len(ids)),
        groups={"group": group.tolist()},
        truth=truth.to_numpy(),
        row_id_column_name=row_id_column_name,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """A prepared solution. The documentation of `podium.metric.contract.Prepared` says what each name means."""

    items: list[str]
    item_of_row: npt.NDArray[np.int64]
    groups: dict[str, list[str]]
    truth: npt.NDArray[np.object_]
    row_id_column_name: str

    @property
    def measure_names(self) -> list[str]:
        """The names of what `measures` returns. The first is the score."""
        return ["score", *(f"group = {name}" for name in sorted(set(self.groups["group"])))]

    def statistics(self, submission: pd.DataFrame) -> npt.NDArray[np.float64]:
        """Return two numbers of each item, (n, 2): whether its label is right, and 1."""
        columns = (self.row_id_column_name, "label")
        ids, labels = (texts(submission, column, ParticipantVisibleError) for column in columns)
        answers = labels.set_axis(ids)
        if sorted(answers.index) != sorted(self.items):
            expected = "expected the ids of the sample submission, each once"
            raise ParticipantVisibleError(f"{self.row_id_column_name}: {expected}")
        right = answers[self.items].to_numpy(dtype=object) == self.truth
        return np.stack([right, np.ones(len(right))], axis=1)

    def measures(self, sums: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the shares of right labels, (…, 1 + groups), from the sums over each group, (…, groups, 2)."""
        right, rows = np.moveaxis(np.asarray(sums), -1, 0)
        share = right.sum(axis=-1) / rows.sum(axis=-1)
        with np.errstate(invalid="ignore"):  # A group without items has no share.
            return np.concatenate([share[..., np.newaxis], right / rows], axis=-1)


# ---- Input and checking ----------------------------------------------------------------------------------


def texts(table: pd.DataFrame, column: str, error: type[Exception]) -> pd.Series:
    """Take a column whose cells have to be lines of text or numbers; raise `error` if they are not."""
    if not isinstance(table, pd.DataFrame):
        raise HostVisibleError(f"expected a DataFrame, found {type(table).__name__}")
    names = list(table.columns)
    if names.count(column) != 1:
        expected = f"one column {column}" if column in names else f"a column {column}"
        raise error(f"expected {expected}, found {', '.join(map(str, names)):.150}")
    for row, cell in enumerate(table[column], 1):
        is_value = math.isfinite(cell) if isinstance(cell, float) else isinstance(cell, str | int)
        if not (is_value and str(cell).strip() and str(cell).isprintable()):
            raise error(f"{column}: expected a line of text or a number in every row, found none in row {row}")
    return pd.Series([str(cell) for cell in table[column]], dtype=object)
