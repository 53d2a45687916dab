"""Whether two tables are the same predictions, whatever the order of their rows and columns.

Programs write rows as workers finish, and add numbers in another order from run to run, so the same predictions
rarely are the same bytes. Here a table is a set of rows, each of which has a value for each name of a column.
Numbers count with nine digits, as seen from the largest number of their column.
"""

import contextlib
import hashlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.util import hash_pandas_object

from podium.common.arrays import Floats

__all__ = ["fingerprint", "is_same", "row_hashes"]

DIGITS, MOST_DECIMALS = 9, 300
EXACT = 2.0**53  # up to here every whole number is a float; larger ones are compared as texts

Hashes = npt.NDArray[np.uint64]


def fingerprint(table: pd.DataFrame) -> str:
    """Hash a table, so that tables with the same predictions have the same hash.

    >>> table = pd.DataFrame({"id": ["a", "b"], "p": [0.25, 1e-13]})
    >>> fingerprint(table) == fingerprint(pd.DataFrame({"p": [0, 0.25], "id": ["b", "a"]}))
    True
    """
    columns = {str(name): _rounded(_values(column)) for name, column in table.items()}
    digest = hashlib.sha256("\0".join(sorted(map(str, table.columns))).encode("utf-8", "surrogatepass"))
    digest.update(np.sort(row_hashes(_frame(columns, len(table)))).astype("<u8").tobytes())
    return digest.hexdigest()


def row_hashes(table: pd.DataFrame) -> Hashes:
    """Hash each row, whatever the order of the columns, as the other hashes of podium do.

    >>> one, other = pd.DataFrame({"a": [1, 2], "b": [3, 4]}), pd.DataFrame({"b": [4, 3], "a": [2, 9]})
    >>> (row_hashes(one)[::-1] == row_hashes(other)).tolist()
    [True, False]
    """
    if not len(table.columns):
        return np.zeros(len(table), dtype=np.uint64)
    in_order = table.iloc[:, np.argsort([str(name) for name in table.columns], kind="stable")]
    try:
        hashes = hash_pandas_object(in_order, index=False, categorize=False)
    except UnicodeEncodeError:  # one text has half of a surrogate pair, which UTF-8 cannot encode
        hashes = hash_pandas_object(in_order, index=False, encoding="unicode_escape", categorize=False)
    return np.asarray(hashes, dtype=np.uint64)


def is_same(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Whether two tables are the same predictions; numbers may differ by one in the ninth digit.

    This finds what a fingerprint cannot: numbers on both sides of a border between two rounded ones.
    """
    if len(one) != len(other) or sorted(map(str, one.columns)) != sorted(map(str, other.columns)):
        return False
    exact: list[dict[str, npt.NDArray[Any]]] = [{}, {}]
    rounded: list[tuple[Floats, Floats]] = []
    for name, column in one.items():
        first, second = _values(column), _values(other[name])
        if first.dtype == second.dtype == np.float64 and not (_is_whole(first) and _is_whole(second)):
            rounded.append((first, second))
        else:
            exact[0][str(name)], exact[1][str(name)] = _rounded(first), _rounded(second)
    hashes = [row_hashes(_frame(each, len(one))) for each in exact]
    orders = [np.lexsort([*(pair[place] for pair in rounded), each]) for place, each in enumerate(hashes)]
    if not np.array_equal(hashes[0][orders[0]], hashes[1][orders[1]]):
        return False
    return all(
        np.allclose(first[orders[0]], second[orders[1]], rtol=0, atol=10.0 ** -_decimals(first), equal_nan=True)
        for first, second in rounded
    )


def _values(column: "pd.Series[Any]") -> npt.NDArray[Any]:
    """A column as floats if all its values are numbers, and else as texts; what is missing is NaN or ""."""
    cells = column.to_numpy(dtype=object)
    is_missing = pd.isna(cells)
    if not pd.api.types.is_bool_dtype(column.dtype):
        with contextlib.suppress(OverflowError):  # JSON has whole numbers of any length
            # The first value tells of most columns of texts what they are, in a fraction of the time.
            for some in (cells[~is_missing][:1], cells):
                numbers: Floats = np.asarray(pd.to_numeric(some, errors="coerce"), dtype=np.float64)
                if not ((np.abs(numbers) < EXACT) | pd.isna(some)).all():
                    break
            else:
                return numbers
    are_texts = pd.api.types.infer_dtype(column, skipna=True) == "string"
    texts = np.where(is_missing, "", cells)
    return texts if are_texts else np.array([*map(str, texts)], dtype=object)


def _frame(columns: dict[str, npt.NDArray[Any]], rows: int) -> pd.DataFrame:
    """Make a table of columns whose types stay as they are: pandas' own texts cannot hold every character."""
    kept = {name: pd.Series(values, dtype=values.dtype) for name, values in columns.items()}
    return pd.DataFrame(kept, index=range(rows))


def _is_whole(numbers: Floats) -> bool:
    """Whether these are whole numbers, such as ids and classes, which are not rounded."""
    known = numbers[~np.isnan(numbers)]
    return bool((known == np.rint(known)).all())


def _decimals(numbers: Floats) -> int:
    """How many decimals count, as seen from the largest number."""
    largest = float(np.nanmax(np.abs(numbers), initial=0.0))
    # A millionth more, so that it does not depend on the last digits of a largest number such as 1 or 100.
    return min(DIGITS - 1 - math.floor(math.log10(largest) + 4e-7), MOST_DECIMALS) if largest else 0


def _rounded(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Round numbers, with one NaN of many, and 0.0 for -0.0; texts stay as they are."""
    if values.dtype != np.float64:
        return values
    numbers = values if _is_whole(values) else np.round(values, _decimals(values))
    return np.where(np.isnan(numbers), np.nan, numbers) + 0.0
