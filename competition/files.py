"""Reading and writing the files of a competition."""

import csv
import os
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pandas as pd

from competition.errors import ToolError, UsageError

__all__ = ["read_csv", "write_atomically"]


def read_csv(
    path: str | os.PathLike[str], text_columns: Collection[str], error: type[ToolError]
) -> pd.DataFrame:
    """Read a .csv or .csv.gz as a person would: what is written as text stays text.

    Only an empty cell is missing ("NA" and "null" are text); a column named in `text_columns` is text even
    if all of it looks like numbers ("0012" keeps its zeros); other columns become numbers where they can.
    With pyarrow installed, its reader is used, which is several times faster.

    Parameters
    ----------
    path : path of the file
    text_columns : names of columns that hold text; names that the file lacks are ignored
    error : the exception to raise for a file that is no CSV table

    Raises
    ------
    UsageError
        There is no such file, or it cannot be opened.
    """
    path = Path(path)
    try:
        with path.open("rb"):
            pass
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror}") from None
    frame = _read_with_pyarrow(path, text_columns)
    return _read_with_pandas(path, text_columns, error) if frame is None else frame


def _read_with_pyarrow(path: Path, text_columns: Collection[str]) -> pd.DataFrame | None:
    """The table, or None where pyarrow is missing or the file not plain: pandas then decides."""
    try:
        import pyarrow
        import pyarrow.csv as arrow_csv
    except ImportError:
        return None
    types = dict.fromkeys(text_columns, pyarrow.string())
    while True:
        try:
            table = arrow_csv.read_csv(
                path,
                parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types,
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )
        except (pyarrow.ArrowException, OSError):
            return None
        # What is not UTF-8, pyarrow takes for bytes, and it lets names repeat; pandas rejects and numbers them.
        if any(map(pyarrow.types.is_binary, table.schema.types)):
            return None
        if len(set(table.column_names)) < len(table.column_names):
            return None
        # pyarrow takes text like 2024-01-23 for dates, pandas does not.
        dates = [field.name for field in table.schema if pyarrow.types.is_temporal(field.type)]
        if not dates:
            frame: pd.DataFrame = table.to_pandas()
            return frame
        types |= dict.fromkeys(dates, pyarrow.string())


def _read_with_pandas(path: Path, text_columns: Collection[str], error: type[ToolError]) -> pd.DataFrame:
    try:
        frame = pd.read_csv(
            path,
            dtype=dict.fromkeys(text_columns, str),
            keep_default_na=False,
            na_values=[""],
            low_memory=False,
        )
    except UnicodeDecodeError as problem:
        raise error(f"{path} is not UTF-8 text: {problem}") from None
    except (ValueError, EOFError, OSError, csv.Error) as problem:
        raise error(f"{path} is not a CSV table: {' '.join(str(problem).split())}") from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise error(f"{path} is not a CSV table: its rows have more fields than its header")
    return frame


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], Any]) -> None:
    """Let `write` fill a file and move it to `path` only when complete, so that no half file is ever seen."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The real suffix stays: pandas chooses compression by it.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix="".join(path.suffixes[-2:]))
    os.close(handle)
    part = Path(name)
    try:
        write(part)
        part.chmod(0o644)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
