"""What a table has: its columns, what their cells are, and which rows must differ.

    RUNTIMES = Table(key=["team"], team=TEXT, runtime=number("seconds", above=0))
    runtimes = RUNTIMES.read("runtimes.csv")

One sentence says what is wrong, with the file, the row and the cell, whatever the table is about. A reader of
a table checks only what depends on more than one cell, and says that by `wrong`, too.
"""

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from podium.common.errors import HostError, ToolError
from podium.common.wording import listed, printable, spreadsheet_original, together
from podium.tables.files import Location
from podium.tables.formats import read_table
from podium.tables.names import fault_of_name, of_column

__all__ = ["NAME", "REMARK", "TEXT", "TIME", "Cells", "Table", "number", "one_of", "whole", "wrong"]

NEAR = 0.85  # so similar is a column whose name is misspelled


class Cells(NamedTuple):
    """What the cells of a column are."""

    expected: str  # in words
    fits: Callable[["pd.Series[Any]"], "pd.Series[bool]"]  # which cells are right, of those that are not empty
    is_text: bool = True  # whether its cells are texts as they stand in the file
    is_needed: bool = True  # whether every table has it
    is_filled: bool = True  # whether no cell of it is empty
    is_shown: bool = False  # whether readers see it as it stands, so that nothing in it may move a cursor

    @property
    def optional(self) -> "Cells":
        """The same column where neither it nor any cell of it has to be there."""
        return self._replace(is_needed=False, is_filled=False)


def wrong(source: object, row: int, column: str, expected: str, found: object) -> str:
    """Say that a cell is wrong, in a row that is counted from 0."""
    what = "an empty cell" if found is None else repr(printable(found)[:60])
    return f"{source}, row number {row + 1:,}: expected {expected} in the column {column}, found {what}"


def _is_time(text: object) -> bool:
    """Tell whether a text is a day or a time in ISO 8601."""
    try:
        datetime.fromisoformat(str(text).strip())
    except ValueError:
        return False
    return True


TEXT = Cells("a text", lambda cells: cells.notna())
REMARK = TEXT._replace(is_shown=True)
NAME = Cells("a name that can be published", lambda cells: cells.map(lambda name: not fault_of_name(str(name))))
TIME = Cells("a time in ISO 8601, such as 2024-01-23T23:59", lambda cells: cells.map(_is_time))


def one_of(*words: str) -> Cells:
    """A column whose cells are one of some words."""
    return Cells(f"one of {', '.join(words)}", lambda cells: cells.isin(words))


def number(what: str, least: float = -math.inf, above: float = -math.inf) -> Cells:
    """A column of finite numbers, from a least one on or above another one."""
    limits = {f" of at least {least:g}": least, f" above {above:g}": above}
    expected = what + "".join(text for text, limit in limits.items() if limit > -math.inf)

    def fits(cells: "pd.Series[Any]") -> "pd.Series[bool]":
        numbers = pd.to_numeric(cells, errors="coerce")
        return (numbers >= least) & (numbers > above) & (numbers < math.inf)

    return Cells(expected, fits, is_text=False)


def whole(what: str, least: int, most: int) -> Cells:
    """A column of whole numbers."""

    def fits(cells: "pd.Series[Any]") -> "pd.Series[bool]":
        numbers = pd.to_numeric(cells, errors="coerce")
        return numbers.between(least, most) & (numbers % 1 == 0)

    return Cells(f"{what} from {least:,} to {most:,}", fits, is_text=False)


class Table:
    """The columns of a table, those by which its rows differ, and what is expected of a file without any."""

    def __init__(
        self,
        key: Sequence[str] = (),
        error: type[ToolError] = HostError,
        what: str = "",
        columns: Mapping[str, Cells] = MappingProxyType({}),  # whose names somebody else has chosen
        **named: Cells,
    ) -> None:
        self.key, self.error, self.what, self.columns = list(key), error, what, {**columns, **named}

    def read(self, source: Location) -> pd.DataFrame:
        """Read the table from a file."""
        texts = {name for name, column in self.columns.items() if column.is_text}
        return self.checked(read_table(source, texts, self.error), source)

    def checked(self, table: pd.DataFrame, source: object) -> pd.DataFrame:
        """Take these columns of a table if all cells are right; an empty cell is None."""
        self._check_columns(list(map(str, table)), source)
        columns = {name: column for name, column in self.columns.items() if name in table}
        table = table[list(columns)].astype(object)
        for name in [name for name, column in columns.items() if column.is_text]:
            # Podium may have made the text safe for spreadsheets.
            table[name] = table[name].map(lambda cell: spreadsheet_original(str(cell)), na_action="ignore")
            if columns[name].is_shown:
                table[name] = table[name].map(printable, na_action="ignore")
        table = table.astype(object).where(table.notna(), None)
        for name, column in columns.items():
            cells = table[name]
            is_wrong = ~column.fits(cells).astype(bool) & (cells.notna() | column.is_filled)
            if is_wrong.any():
                row = int(is_wrong.to_numpy().argmax())
                raise self.error(wrong(source, row, name, column.expected, cells.iloc[row]))
        self._check_rows(table, source)
        return table

    def _check_columns(self, given: Sequence[str], source: object) -> None:
        """Refuse a table that lacks a column, or that has one under a misspelled name."""
        needed = [name for name, column in self.columns.items() if column.is_needed]
        if self.what and not {*needed} & {*given}:
            found = listed([*map(of_column, given)], 20)
            raise self.error(
                f"{source}: expected {self.what} with the columns {together(needed)}, found {found}"
            )
        for name in [name for name in self.columns if name not in given]:
            near = difflib.get_close_matches(name, sorted({*given} - {*self.columns}), 1, NEAR)
            if near or self.columns[name].is_needed:
                found = listed([*map(of_column, near or given)], 20)
                raise self.error(f"{source}: expected the column {name}, found {found}")

    def _check_rows(self, table: pd.DataFrame, source: object) -> None:
        """Refuse several rows with the same key."""
        key = [name for name in self.key if name in table]
        seen: dict[tuple[Any, ...], int] = {}
        for row, cells in enumerate(table[key].itertuples(index=False, name=None) if key else ()):
            if (first := seen.setdefault(cells, row)) < row:
                expected = f"another one than in row number {first + 1:,}"
                raise self.error(wrong(source, row, " and ".join(key), expected, "/".join(map(str, cells))))
