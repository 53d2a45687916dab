"""The journal: a row for each run, of which all other files are made."""

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from podium.errors import UsageError
from podium.files import write_atomically
from podium.running.models import Model, key_of

__all__ = ["Row", "differ", "predictions_of", "read_journal", "runs_of", "write_table"]

DONE = "done"


class Row(NamedTuple):
    """One run.

    Attributes
    ----------
    round : int
        The first run of a model has 1.
    team, model : str
    submission : str
        The file that it left, under its name in ``submissions/``, or "".
    outcome : str
        "done", or why there are no predictions.
    seconds, cpu_seconds : float
        Wall-clock and processor time of the model; the latter NaN if unknown.
    others : float
        The share of the cores' time that others took, NaN if unknown.
    peak_memory : int
        Bytes.
    exit_code : int
    reference_before, reference_after : float
        Seconds of the reference workload.
    sha256 : str
        Of the predictions.
    machine, started_at, engine : str
    digest : str
        Of the model's files.
    paired_with : str
        The model that was run back to back with it, because their order was undecided.
    """

    round: int
    team: str
    model: str
    submission: str
    outcome: str
    seconds: float
    cpu_seconds: float
    others: float
    peak_memory: int
    exit_code: int
    reference_before: float
    reference_after: float
    sha256: str
    machine: str
    started_at: str
    engine: str
    digest: str
    paired_with: str = ""

    @property
    def key(self) -> str:
        """The model's name in messages."""
        return key_of(self.team, self.model)


def runs_of(model: Model, rows: Iterable[Row]) -> list[Row]:
    """The runs of a model, in their order.

    Parameters
    ----------
    model : Model
    rows : iterable of Row
        Of all models.
    """
    return [row for row in rows if row.key == model.key]


def predictions_of(runs: Sequence[Row]) -> Row | None:
    """The run whose predictions count.

    Parameters
    ----------
    runs : list of Row
        Of one model.

    Returns
    -------
    Row or None
        The first that gave predictions; the slowest, where they differ from run to run: else a model could give
        its good predictions slowly and its runtime quickly.
    """
    done = [row for row in runs if row.outcome == DONE]
    if not done:
        return None
    return max(done, key=lambda row: row.seconds) if differ(done) else done[0]


def differ(runs: Iterable[Row]) -> bool:
    """Whether the predictions of a model's runs differ.

    Parameters
    ----------
    runs : iterable of Row
        Of one model; those without predictions do not count.
    """
    return len({row.sha256 for row in runs if row.outcome == DONE}) > 1


def read_journal(path: Path) -> list[Row]:
    """The runs in a file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    list of Row
        Nothing where there is no file yet.

    Raises
    ------
    UsageError
        Where the file is damaged.
    """
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8", errors="surrogateescape") as file:
        try:
            header, *lines = csv.reader(file)
            columns = {name: header.index(name) for name in Row._fields}
            return [
                Row(*(kind(line[columns[name]]) for name, kind in Row.__annotations__.items()))
                for line in lines
            ]
        except (IndexError, ValueError, csv.Error):
            raise UsageError(f"{path} is damaged; remove it to begin anew") from None


def write_table(path: Path, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a CSV file, whole or not at all; what is not known is empty.

    Parameters
    ----------
    path : Path
    names : iterable of str
        Of the columns.
    rows : iterable of iterables
    """

    def fill(part: Path) -> None:
        with part.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(map(_cells, rows))

    write_atomically(path, fill)


def _cells(row: Iterable[Any]) -> list[Any]:
    """Booleans as true and false."""
    return [str(value).lower() if isinstance(value, bool) else value for value in row]


def is_known(value: float) -> bool:
    """Whether a measurement was made: it is NaN if not."""
    return not math.isnan(value)
