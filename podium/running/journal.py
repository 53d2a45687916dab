"""The journal ``runs.csv`` has a row for each run; all other files of results are made from it."""

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from podium.errors import UsageError
from podium.files import write_atomically
from podium.running.models import Model, key_of
from podium.wording import spreadsheet_original, spreadsheet_safe

__all__ = ["Row", "differ", "predictions_of", "read_journal", "runs_of", "write_table"]

DONE = "done"


class Row(NamedTuple):
    """One run of a model.

    Attributes
    ----------
    round : int
        The number of the run; the first run of a model has 1.
    team : str
        The team's name.
    model : str
        The model's name, or "" if the team has a single model.
    submission : str
        The path of the file that the run left, relative to ``submissions/``, or "" if it left none.
    outcome : str
        "done", or why there are no predictions.
    seconds : float
        The wall-clock time of the model in seconds.
    cpu_seconds : float
        The processor time of the model in seconds; NaN if unknown.
    others : float
        The share of the cores' time, from 0 to 1, that others took; NaN if unknown.
    peak_memory : int
        The most memory that the model held at once, in bytes.
    exit_code : int
        The exit code of the model, negative for the number of a signal.
    reference_before : float
        The seconds of the reference workload just before the run.
    reference_after : float
        The seconds of the reference workload just after the run.
    sha256 : str
        The SHA-256 of the predictions, or "" if there are none.
    machine : str
        The name of the machine, or "" if no machine ran the model.
    started_at : str
        When the run began, in UTC, such as "2027-01-15T12:00:00+00:00".
    engine : str
        What isolated the model: "bubblewrap", "docker", "podman" or "none".
    digest : str
        The digest of the model's files; see `podium.running.models.digest_of`.
    paired_with : str
        The model that ran directly before or after this run because their order was undecided, or "".
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
        """The model's name in messages; see `podium.running.models.key_of`."""
        return key_of(self.team, self.model)


def runs_of(model: Model, rows: Iterable[Row]) -> list[Row]:
    """Select the runs of a model.

    Parameters
    ----------
    model : Model
        The model.
    rows : iterable of Row
        The runs of all models.

    Returns
    -------
    list of Row
        The model's runs in the same order.
    """
    return [row for row in rows if row.key == model.key]


def predictions_of(runs: Sequence[Row]) -> Row | None:
    """Choose the run whose predictions count.

    Parameters
    ----------
    runs : list of Row
        The runs of one model.

    Returns
    -------
    Row or None
        The first run that gave predictions.  If the predictions differ from run to run, it is the slowest one.
        Otherwise a model could make good predictions slowly in one run and be fast without them in another.
        None if no run gave predictions.
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
        The runs of one model.  Runs without predictions are ignored.

    Returns
    -------
    bool
        True if two runs left different predictions.
    """
    return len({row.sha256 for row in runs if row.outcome == DONE}) > 1


def read_journal(path: Path) -> list[Row]:
    """Read the journal.

    Parameters
    ----------
    path : Path
        The journal's file.

    Returns
    -------
    list of Row
        The runs in the order in which they took place; nothing if the file does not exist yet.

    Raises
    ------
    UsageError
        If the file is damaged.
    """
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8", errors="surrogateescape") as file:
        try:
            header, *lines = (list(map(spreadsheet_original, line)) for line in csv.reader(file))
            columns = {name: header.index(name) for name in Row._fields}
            return [
                Row(*(kind(line[columns[name]]) for name, kind in Row.__annotations__.items()))
                for line in lines
            ]
        except (IndexError, ValueError, csv.Error):
            raise UsageError(f"{path} is damaged; remove it to begin anew") from None


def write_table(path: Path, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a CSV file, either completely or not at all.

    Parameters
    ----------
    path : Path
        The file to write.
    names : iterable of str
        The names of the columns.
    rows : iterable of iterables
        The cells of each row.  Booleans are written as true and false, and texts as
        `podium.wording.spreadsheet_safe` writes them.
    """

    def fill(part: Path) -> None:
        with part.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(map(_cell, row) for row in rows)

    write_atomically(path, fill)


def _cell(value: Any) -> Any:
    """A boolean as the word true or false, and a text so that no spreadsheet executes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return spreadsheet_safe(value) if isinstance(value, str) else value


def is_known(value: float) -> bool:
    """Whether a measurement is known.

    Parameters
    ----------
    value : float
        A measurement; NaN stands for an unknown one.

    Returns
    -------
    bool
        False if the value is NaN.
    """
    return not math.isnan(value)
