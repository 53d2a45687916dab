"""Read a solution and submissions from files, with columns of texts and of numbers as the metric wants them."""

import tempfile
import zlib
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from podium.common.errors import HostError, SubmissionRejected, ToolError, UsageError
from podium.common.options import as_option
from podium.metric.contract import Metric
from podium.metric.parameters import columns_named
from podium.scoring.evaluating import USAGE, Solution
from podium.tables import ids
from podium.tables.files import (
    MOST_BYTES,
    Location,
    ReadFile,
    ReadFolder,
    is_table_name,
    megabytes,
    read_bytes,
    refuse_url,
)
from podium.tables.formats import parse_table, read_table

# Under these names a table says in its attrs what was read of which files, whether something was left out, and
# what files should be like, if they are not.
READ, PARTLY, SHAPE = "read", "partly", "shape"

Official = Callable[[Path], pd.DataFrame]  # how a companion reads an official file


def text_columns(metric: Metric, parameters: dict[str, Any]) -> set[str]:
    """List the columns whose cells are read as text."""
    named = columns_named(metric, parameters)
    known = named.values() if metric.is_built_in else [named.get("row_id_column_name", set())]
    return {*metric.companion.text_columns}.union(*known)


def read_solution(
    metric: Metric, path: Location, parameters: dict[str, Any], texts: Location | None = None
) -> pd.DataFrame:
    """Read a solution, with ids as a metric gets them: a table, or an official file for the companion.

    A metric of markups compares these with a table of `texts`.
    """
    table = _read(metric, metric.companion.read_solution, path, parameters, HostError)
    if texts is not None and metric.companion.add_texts is not None:
        table = metric.companion.add_texts(table, read_table(texts, {"document_id", "id", "text"}, UsageError))
    if metric.is_built_in or not len(table.columns):
        return table
    return ids.of_solution(table, parameters.get("row_id_column_name", table.columns[0]))


def read_submission(
    metric: Metric, path: Location, parameters: dict[str, Any], most_bytes: int = MOST_BYTES
) -> pd.DataFrame:
    """Read a submission: a table, or an official file that the metric's companion reads."""
    official = metric.companion.read_submission
    table = _read(metric, official, path, parameters, SubmissionRejected, most_bytes)
    # No participant may set what only the host adds.
    return table.drop(columns=list(metric.companion.side_columns), errors="ignore")


def check_order(truth: Collection[str], answers: Collection[str], name: Location) -> None:
    """Refuse a submission that has the column of parts where the solution has none: they are exchanged."""
    if USAGE in answers and USAGE not in truth:
        found = f"{name} has a column {USAGE}, and the first table has none"
        raise HostError(f"give the solution first, then the submission: {found}")


def add_side(
    solution: Solution, submission: pd.DataFrame, path: str | Path, content: bytes | None = None
) -> pd.DataFrame:
    """Add to a submission what only the host may say of it, as the experts' judgment in READ//ABLE's M7."""
    add = solution.metric.companion.add_side
    if add is None:
        raise UsageError(f"{path}: this metric takes no further file with a submission")
    content = read_bytes(path) if content is None else content
    side = parse_table(content, str(path), text_columns(solution.metric, solution.arguments), HostError)
    return add(submission, side, solution.arguments["row_id_column_name"])


def _read(
    metric: Metric,
    official: Official | None,
    path: Location,
    parameters: dict[str, Any],
    error: type[ToolError],
    most_bytes: int = MOST_BYTES,
) -> pd.DataFrame:
    """Read a table, or let `official` read an official file; `error` says whose fault wrong content is."""
    refuse_url(path)
    if isinstance(path, ReadFolder) and official is not None:
        if sum(map(len, path.files.values())) > most_bytes:
            raise error(f"{path}: expected at most {megabytes(most_bytes)}, found more")
        return _parse_official(official, path.files, str(path))
    if official is None and str(path).endswith((".json", ".jsonl")):
        cure = f"write a CSV, or name the metric of such a file with {as_option('metric')}"
        raise UsageError(f"{path}: expected a table, found JSON; {cure}")
    if official is None or is_table_name(path):
        return _parse(metric, read_bytes(path), str(path), parameters, error, most_bytes)
    if not isinstance(path, ReadFile) and str(path) != "-":
        return official(Path(path))  # It may be a folder.
    content, name, is_table = read_bytes(path), str(path), False
    if name == "-":
        name = "standard input"
        is_table = _has_column(content, text_columns(metric, parameters))
    if is_table:
        return _parse(metric, content, name, parameters, error, most_bytes)
    if len(content) > most_bytes:
        raise error(f"{name}: expected at most {megabytes(most_bytes)}, found more")
    return _parse_official(official, {"": content}, name)


def _parse(
    metric: Metric,
    content: bytes,
    name: str,
    parameters: dict[str, Any],
    error: type[ToolError],
    most_bytes: int,
) -> pd.DataFrame:
    texts, numbers = text_columns(metric, parameters), metric.companion.number_columns
    first_is_id = "row_id_column_name" not in parameters
    table = parse_table(content, name, texts, error, most_bytes, numbers, first_is_id)
    return table if metric.companion.from_table is None else metric.companion.from_table(table)


def _parse_official(official: Official, contents: Mapping[str, bytes], name: str) -> pd.DataFrame:
    """Let a reader of official files, which takes a path and names a file by its last part, read contents.

    They are those of a folder's files by their names below it, or of the file itself by no name.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        for below, content in contents.items():
            (path / below).parent.mkdir(parents=True, exist_ok=True)
            with open(path / below, "xb") as file:
                file.write(content)
        return official(path)


def _has_column(content: bytes, names: set[str]) -> bool:
    """Tell whether a content begins like a packed table, or names one of these columns in its first line."""
    if content.startswith((b"PAR1", b"PK")):
        return True
    with suppress(zlib.error):
        content = zlib.decompressobj(31).decompress(content, 2**16)  # packed by gzip
    header = content[: 2**16].partition(b"\n")[0].decode("utf-8-sig", errors="replace")
    return not names.isdisjoint(cell.strip('" \r') for cell in header.split(","))


def with_account(fault: str, table: pd.DataFrame) -> str:
    """A fault of a table that says how it was read, with that and with what files should be like."""
    shape = f" ({table.attrs[SHAPE]})" if SHAPE in table.attrs else ""
    return f"{fault}{shape}. {table.attrs[READ]}" if READ in table.attrs else fault
