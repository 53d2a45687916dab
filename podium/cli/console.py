"""What the command lines print: aligned plain text, and on a terminal the same with rich's tables."""

import json
import math
import sys
from collections.abc import Iterable
from typing import Any

import pandas as pd

__all__ = ["plain_json", "print_json", "print_table", "warn"]


def warn(notices: Iterable[str]) -> None:
    """Print what a reader should know, a line each on stderr."""
    for notice in notices:
        print(f"warning: {notice}", file=sys.stderr)


def print_table(title: str, table: pd.DataFrame) -> None:
    """Print a table with a title: shares to six digits, larger numbers to two, undefined ones as "-"."""
    cells = pd.DataFrame({name: _cells(table[name]) for name in table})
    if not sys.stdout.isatty():
        print(f"\n{title}")
        print(_plain(cells, [_is_number(table[name]) for name in table]))
        return
    from rich.console import Console
    from rich.table import Table

    rich_table = Table(title=title, title_justify="left", title_style="bold")
    for name in table:
        rich_table.add_column(str(name), justify="right" if _is_number(table[name]) else "left")
    for row in cells.itertuples(index=False):
        rich_table.add_row(*row)
    Console().print(rich_table, markup=False)


def _plain(cells: pd.DataFrame, right: list[bool]) -> str:
    widths = [max(map(len, [str(name), *cells[name]])) for name in cells]
    rows = [[str(name) for name in cells], *cells.itertuples(index=False)]
    lines = [
        "  ".join(
            cell.rjust(width) if numeric else cell.ljust(width)
            for cell, width, numeric in zip(row, widths, right)
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def _is_number(column: "pd.Series[Any]") -> bool:
    return pd.api.types.is_numeric_dtype(column)


def _cells(column: "pd.Series[Any]") -> list[str]:
    digits = 2
    if pd.api.types.is_float_dtype(column) and not (column.abs() > 1).any():
        digits = 6
    return [
        "-"
        if value is None or value != value
        else f"{value:.{digits}f}"
        if isinstance(value, float)
        else str(value)
        for value in column.tolist()
    ]


def print_json(value: Any) -> None:
    """Print a value as JSON, with null for what is undefined."""
    print(json.dumps(plain_json(value), indent=2, allow_nan=False, ensure_ascii=False))


def plain_json(value: Any) -> Any:
    """A value as JSON has it: frames as lists of objects, NaN as null, infinity as text."""
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
