"""What is required of the columns of labels."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.errors import HostError


def check_present(table: pd.DataFrame, names: Iterable[str], where: str) -> None:
    """Raise an error if a table lacks one of these columns."""
    for name in names:
        if name not in table:
            raise HostError(f"{where}: expected a column {name}, found {', '.join(map(str, table.columns))}")


def check_one_value(values: pd.Series, items: npt.ArrayLike, expected: str, what: str = "item") -> None:
    """Raise an error if rows that belong together have different values, of which a missing one is one, too."""
    several = values.reset_index(drop=True).groupby(np.asarray(items, dtype=object)).unique()
    several = several[several.map(len) > 1]
    if len(several):
        found = " and ".join(map(str, several.iloc[0][:2]))
        raise HostError(f"{expected} for all rows of the same {what}, found {found} for {several.index[0]!r}")
