"""What is required of the columns of labels."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.errors import HostError
from podium.common.wording import listed
from podium.tables import ids

INDICES = ("index", "level_0", "Unnamed: 0")  # what pandas calls a column that counts rows


def check_present(table: pd.DataFrame, names: Iterable[str], where: str) -> None:
    """Raise an error if a table lacks one of these columns."""
    for name in names:
        if name not in table:
            raise HostError(f"{where}: expected a column {name}, found {', '.join(map(str, table.columns))}")


def doubts_of_names(names: Iterable[object]) -> list[str]:
    """Warn of names with a space at an end, by which neither podium nor a participant finds a column."""
    odd = [repr(name) for name in map(str, names) if name != name.strip()]
    return [f"columns with a space before or after their name: {listed(odd)}; take it out"] if odd else []


def check_values(cells: pd.Series, where: str) -> None:
    """Raise an error if a cell of a column is empty."""
    missing = np.flatnonzero(cells.isna())
    if len(missing):
        expected = f"a value of {cells.name} in every row of the labels"
        raise HostError(f"{where}: expected {expected}, found none in row number {missing[0] + 1:,}")


def ids_behind_index(labels: pd.DataFrame) -> str:
    """Name a column that can have the ids, if the first one seems to be an index; nothing otherwise."""
    first, *others = map(str, labels)
    able = ids.can_have_them(labels[others])
    if first not in INDICES:
        numbers = pd.to_numeric(labels[first], errors="coerce").sort_values().to_numpy()
        counts = np.arange(len(numbers)) + numbers[:1]
        if not (len(numbers) and numbers[0] in (0, 1) and (counts == numbers).all()):
            return ""
        able = [name for name in able if name.casefold().endswith("id")]
    return able[0] if able else ""


def check_one_value(values: pd.Series, items: npt.ArrayLike, expected: str, what: str = "item") -> None:
    """Raise an error if rows that belong together have different values, of which a missing one is one, too."""
    several = values.reset_index(drop=True).groupby(np.asarray(items, dtype=object)).unique()
    several = several[several.map(len) > 1]
    if len(several):
        found = " and ".join(map(str, several.iloc[0][:2]))
        raise HostError(f"{expected} for all rows of the same {what}, found {found} for {several.index[0]!r}")
