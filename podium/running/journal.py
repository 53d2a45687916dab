"""The journal ``runs.csv`` has a row for each run; all other files of results are made from it.

Everybody may read it. What models printed when they failed may be texts of the hidden data, and stands in
``printed.csv`` beside it.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from podium.common.errors import UsageError
from podium.common.wording import spreadsheet_original, spreadsheet_safe
from podium.running.measuring import Outcome
from podium.running.models import key_of
from podium.running.settings import RUNS
from podium.tables.files import read_bytes, write_atomically
from podium.tables.formats import csv_bytes, parse_rows

PRINTED = "printed.csv"
WARM_UP = 0  # the number of the run that is not measured
ONE_MODEL = "submission"  # the name of the file of a team that has a single model


class Row(NamedTuple):
    """One run of a model."""

    round: int  # the number of the run; 0 for the one that is not measured
    team: str
    model: str  # "" if the team has a single model
    submission: str  # the path of the file that the run left, relative to ``submissions/``, or ""
    outcome: Outcome
    reason: str  # why there are no predictions, or "", in words that everybody may read
    seconds: float  # wall-clock time
    cpu_seconds: float  # processor time; NaN if unknown
    others: float  # the share of the cores' time, from 0 to 1, that others took; NaN if unknown
    peak_memory: int  # the most memory that the model held at once, in bytes
    exit_code: int  # negative or above 128 for a signal
    sha256: str  # of the predictions, or ""
    fingerprint: str  # of their table, equal for the same predictions in another order; or ""
    machine: str  # the name of the machine, or "" if no machine ended the run
    started_at: str  # in UTC, such as "2027-01-15T12:00:00+00:00"
    engine: str  # what isolated the model: "bubblewrap", "docker", "podman" or "none"
    image: str  # the id of a container's image, or ""
    digest: str  # of the model's files and image
    session: int = 1  # the number of the call of podium that made the run
    printed: str = ""  # what the model printed at last or left behind, which not everybody may read
    # Until they are saved beside the journal: the content of the submission, and the log of another machine.
    content: bytes = b""
    log: str = ""

    @property
    def key(self) -> str:
        """The model's name in messages."""
        return key_of(self.team, self.model)


PUBLIC = Row._fields[: Row._fields.index("printed")]  # the columns of runs.csv
RUN_PRINTED = ("session", "round", "team", "model", "printed")  # the columns of printed.csv


def measured(runs: Iterable[Row]) -> list[Row]:
    """Select the runs whose times count: those that gave predictions, without the first."""
    return [row for row in runs if row.round != WARM_UP and row.outcome is Outcome.DONE]


def by_model(rows: Iterable[Row]) -> "defaultdict[str, list[Row]]":
    """Group runs by the key of their model."""
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.key].append(row)
    return groups


def predictions_of(runs: Sequence[Row]) -> Row | None:
    """Choose the run whose predictions count: the first, or the slowest measured one if they differ."""
    done = [row for row in runs if row.outcome is Outcome.DONE]
    if differ(done):
        return max(measured(done) or done, key=lambda row: row.seconds)
    return done[0] if done else None


def differ(runs: Iterable[Row]) -> bool:
    """Whether the predictions of a model's runs differ."""
    return len({row.fingerprint for row in runs if row.outcome is Outcome.DONE}) > 1


def submission_of(team: str, model: str, file: str) -> str:
    """The path below ``submissions/`` of a file that a model left, such as "Red/second.csv.gz"."""
    return f"{team}/{model or ONE_MODEL}{file.removeprefix('submission')}"


def read_journal(folder: Path) -> list[Row]:
    """Read the journal in a folder of results, with what the models printed."""
    said = {tuple(run): printed for *run, printed in _read(folder / PRINTED, RUN_PRINTED)}
    rows = [Row(*cells) for cells in _read(folder / RUNS, PUBLIC)]
    return [row._replace(printed=said.get((row.session, row.round, row.team, row.model), "")) for row in rows]


def _read(path: Path, names: Sequence[str]) -> list[list[Any]]:
    """Read the columns of these names; before the first run there is no table."""
    if not path.exists():
        return []
    content = read_bytes(path)
    try:
        rows = parse_rows(content, str(path), UsageError)
        header, *lines = (list(map(spreadsheet_original, line)) for line in rows)
        columns = [(header.index(name), Row.__annotations__[name]) for name in names]
        if len({*map(tuple, lines)}) < len(lines):
            raise ValueError("a line stands twice")
        return [[kind(line[column]) for column, kind in columns] for line in lines]
    except (IndexError, ValueError, UsageError):
        raise UsageError(f"{path} is damaged; remove it to start over") from None


def write_journal(folder: Path, rows: Sequence[Row]) -> None:
    """Write the journal: what the models printed first, so that no run is without it."""
    printed = [(row.session, row.round, row.team, row.model, row.printed) for row in rows if row.printed]
    if printed or (folder / PRINTED).exists():
        write_cells(folder / PRINTED, RUN_PRINTED, printed)
    write_cells(folder / RUNS, PUBLIC, (row[: len(PUBLIC)] for row in rows))


def write_cells(path: Path, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a CSV file, either completely or not at all."""
    cells = [list(names), *(list(map(_cell, row)) for row in rows)]
    write_atomically(path, lambda part: part.write_bytes(csv_bytes(cells)))


def _cell(value: Any) -> Any:
    """A boolean as the word true or false, and a text so that no spreadsheet executes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return spreadsheet_safe(str(value)) if isinstance(value, str) else value


def is_known(value: float) -> bool:
    """Whether a measurement is known."""
    return not math.isnan(value)
