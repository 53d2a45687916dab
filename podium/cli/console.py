"""What the command lines print: aligned plain text, or JSON.

All that is printed passes through `podium.wording.printable`, because names and ids are foreign text.
"""

import json
import math
import sys
from collections.abc import Iterable
from typing import Any

import pandas as pd

from podium.wording import printable


def warn(notices: Iterable[str]) -> None:
    """Print what a reader should know, a line each on stderr."""
    for notice in notices:
        print(f"warning: {printable(notice)}", file=sys.stderr)


def print_table(title: str, table: pd.DataFrame) -> None:
    """Print a table with its title.

    Parameters
    ----------
    title : str
        The line above it.
    table : DataFrame
        Columns of shares have six digits, larger numbers two; what is undefined is "-".
    """
    print(f"\n{printable(title)}")
    columns = []
    for name in table:
        cells = [printable(name), *_cells(table[name])]
        width, is_number = max(map(len, cells)), pd.api.types.is_numeric_dtype(table[name])
        columns.append([cell.rjust(width) if is_number else cell.ljust(width) for cell in cells])
    for row in zip(*columns):
        print("  ".join(row).rstrip())


def _cells(column: "pd.Series[Any]") -> list[str]:
    digits = 6 if pd.api.types.is_float_dtype(column) and not (column.abs() > 1).any() else 2

    def text(value: Any) -> str:
        if value is None or value != value:
            return "-"
        return f"{value:.{digits}f}" if isinstance(value, float) else printable(value)

    return list(map(text, column.tolist()))


def print_json(value: Any) -> None:
    """Print a value as JSON, with null for what is undefined.

    Characters that are not printable stand in it as JSON escapes them, which reads back the same.
    """
    text = json.dumps(plain_json(value), indent=2, allow_nan=False, ensure_ascii=False)
    # Beyond ASCII there are characters within strings only.
    escaped = (
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]
        for character in text
    )
    print(text if text.replace("\n", "").isprintable() else "".join(escaped))


def plain_json(value: Any) -> Any:
    """A value as JSON has it.

    Parameters
    ----------
    value : object
        Frames, dicts, lists, numbers of Python and numpy, texts, None; nested at will.

    Returns
    -------
    object
        Frames are lists of objects, NaN is None, and infinity a text, as JSON has neither.
    """
    if isinstance(value, pd.DataFrame):
        return [plain_json(row) for row in value.to_dict("records")]
    if isinstance(value, dict):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(item) for item in value]
    if hasattr(value, "item"):  # numpy's scalars
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
