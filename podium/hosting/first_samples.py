"""The samples of a new metric from a host's own labels, so that an edited metric still fits them."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from podium.common.errors import HostError
from podium.hosting.columns import ids_behind_index
from podium.scoring.evaluating import PARTS, USAGE
from podium.tables.formats import read_table, read_texts

MOST_ROWS = 30


def of_labels(path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A small solution and a submission with a host's columns: ids in the first one, answers in the last one.

    The solution has rows from all over the table. The submission has the answers of other rows, so that some of
    them are wrong.
    """
    labels = read_texts(path, HostError)
    # Among texts, the index that pandas wrote is a column, and other commands do not see it.
    seen = read_table(path, (), HostError)
    labels = labels.iloc[:, labels.shape[1] - seen.shape[1] :]
    columns = [str(name) for name in labels if name != USAGE]
    if len(columns) > 1:
        labels = labels[columns].dropna(subset=[columns[0], columns[-1]]).drop_duplicates(columns[0])
    if len(columns) < 2 or len(labels) < 2:
        expected = "ids in the first column, answers in the last one, and at least two rows with both"
        raise HostError(f"{path}: expected {expected}, found {len(columns):,} columns, {len(labels):,} rows")
    if other := ids_behind_index(labels):
        warnings.warn(
            f"the ids are taken from {columns[0]}, the first column, which seems to count the rows: if they "
            f"stand in {other}, put it first",
            stacklevel=2,
        )
    some = np.unique(np.linspace(0, len(labels) - 1, MOST_ROWS).astype(int))
    solution = labels.iloc[some].reset_index(drop=True)
    submission = solution[[columns[0]]].assign(**{columns[-1]: np.roll(solution[columns[-1]], 1)})
    return solution.assign(**{USAGE: np.resize(PARTS, len(solution))}), submission
