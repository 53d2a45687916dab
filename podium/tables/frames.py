"""The one door for tables and columns that people give in Python, from whichever library they come.

Tables of texts that strangers wrote in JSON are made here, too.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["as_frame", "as_list", "is_table", "of_rows"]


def is_table(given: object) -> bool:
    """Tell whether something is a table of pandas or of another library, such as polars or pyarrow."""
    has_columns = hasattr(given, "columns") or hasattr(given, "column_names")
    return isinstance(given, pd.DataFrame) or (has_columns and hasattr(given, "to_pandas"))


def as_frame(given: Any, what: str) -> pd.DataFrame:
    """Take a table as one of pandas; refuse all else with a hint at how to get one."""
    if isinstance(given, pd.DataFrame):
        return given
    if is_table(given):
        frame: pd.DataFrame = given.to_pandas()
        return frame
    kind = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
    hint = ""
    if hasattr(given, "instead_of_a_table"):
        hint = f"; {given.instead_of_a_table}"
    elif hasattr(given, "collect"):  # a lazy one
        hint = "; give .collect() of it"
    elif isinstance(given, str | Path):
        hint = f"; read it with pandas.read_csv({str(given)!r})"
    raise TypeError(f"{what}: expected a pandas DataFrame, found {kind.removeprefix('builtins.')}{hint}")


def of_rows(rows: Sequence[Sequence[Any]], columns: Sequence[str]) -> pd.DataFrame:
    r"""Make a table of rows; half of a character, which JSON may have and pandas's texts cannot, is escaped.

    >>> of_rows([["a\ud83d", 1]], ["tag", "words"])["tag"][0]
    'a\\ud83d'
    """
    try:
        return pd.DataFrame(rows, columns=[*columns])
    except UnicodeEncodeError:
        return pd.DataFrame([list(map(_whole, row)) for row in rows], columns=[*columns])


def _whole(cell: Any) -> Any:
    return cell.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(cell, str) else cell


def as_list(given: Any) -> Any:
    """Take a column of any library as a list, without its labels; all else stays as it is."""
    for name in ("to_list", "to_pylist"):  # of pandas and polars, and of pyarrow
        if callable(getattr(given, name, None)):
            return getattr(given, name)()
    return given
