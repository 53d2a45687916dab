"""Print tables as aligned plain text, values as JSON, and notices.

Everything that is printed passes through `podium.common.wording.printable`, because names and ids are foreign
text.
"""

import json
import math
import re
import sys
from collections.abc import Iterable
from typing import Any

import pandas as pd

from podium.common.wording import printable

SECONDS_WORTH_TELLING = 5.0
BEYOND_ASCII = re.compile(
    r"[^\n -~]"
)  # JSON has such characters only within strings, where they may be escaped


def warn(notices: Iterable[str]) -> None:
    """Print what a reader should know on stderr, one line per notice."""
    sys.stdout.flush()  # so that warnings stand where they were printed
    for notice in notices:
        print(f"warning: {printable(notice)}", file=sys.stderr)


def tell_further_calls(number: int, seconds: float) -> None:
    """Say how many further calls of score() follow, if they take a while."""
    if number and number * seconds >= SECONDS_WORTH_TELLING:
        sys.stdout.flush()
        told = f"up to {number} further calls of score() follow, each about as long as that of a part"
        print(f"{told}; --quick leaves them out", file=sys.stderr, flush=True)


def print_table(title: str, table: pd.DataFrame) -> None:
    """Print a table with its title."""
    print(f"\n{printable(title)}")
    columns = []
    for name, column in table.items():
        digits = 6 if pd.api.types.is_float_dtype(column) and not (column.abs() > 1).any() else 2
        cells = [printable(name), *(_cell(value, digits) for value in column.tolist())]
        width, is_number = max(map(len, cells)), pd.api.types.is_numeric_dtype(column)
        columns.append([cell.rjust(width) if is_number else cell.ljust(width) for cell in cells])
    for row in zip(*columns):
        print("  ".join(row).rstrip())


def _cell(value: Any, digits: int) -> str:
    if pd.isna(value):
        return "-"
    return f"{value:.{digits}f}" if isinstance(value, float) else printable(value)


def print_json(value: Any) -> None:
    """Print a value as JSON, with null for undefined numbers.

    Characters that are not printable are escaped as JSON does it, so they read back the same.
    """
    text = json.dumps(plain_json(value), indent=2, allow_nan=False, ensure_ascii=False)
    print(BEYOND_ASCII.sub(_escaped, text))


def _escaped(found: re.Match[str]) -> str:
    """A character within a string of JSON, as an escape if it cannot be printed."""
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]


def plain_json(value: Any) -> Any:
    """Turn a value into one that JSON can express.

    >>> plain_json({"a": float("nan"), "b": [float("inf"), 1.5]})
    {'a': None, 'b': ['inf', 1.5]}
    """
    if isinstance(value, pd.DataFrame):
        return [plain_json(row) for row in value.to_dict("records")]
    if isinstance(value, dict):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(item) for item in value]
    if value is pd.NA:
        return None
    if hasattr(value, "item"):  # a scalar of numpy
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
