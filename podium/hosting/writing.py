"""Write the files of a competition completely or not at all, and check what was written."""

import csv
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from podium.errors import HostError
from podium.hosting import leaks, record
from podium.hosting.folders import PRIVATE, PUBLIC, REPORT, Files, new_folder, read_csv


def write(files: Files, folder: Path) -> None:
    """Save the files of a competition in a new folder.

    Every table is read again and compared with what was meant to be written.  Then `leaks.refuse` checks the
    files for participants.  If either check fails, nothing is left on the disk.

    Parameters
    ----------
    files : Files
        The files to write.
    folder : Path
        The folder to write.  It must be empty or not exist yet.

    Raises
    ------
    HostError
        If a table is not read as it was meant to be written, or if a public file reveals the solution.
    UsageError
        If the folder cannot be written.
    """
    with new_folder(folder) as whole:
        for name, tables in ((PUBLIC, files.public), (PRIVATE, files.private)):
            (whole / name).mkdir()
            for file, table in tables.items():
                path = whole / name / file
                _write_csv(table, path)
                if any(meant != written for meant, written in zip_longest(_texts(table), read_csv(path))):
                    raise HostError(
                        f"{name}/{file}: expected the table that was written, found another one on the disk"
                    )
        (whole / REPORT).write_text(files.report, encoding="utf-8", newline="\n")
        record.write(whole, files.metric, files.parameters, files.public_columns)
        leaks.refuse(whole, files.items)


def _texts(table: pd.DataFrame) -> Iterator[list[str]]:
    """The header and the rows as texts, as they are to be written."""
    for row in chain([list(table)], zip(*(table[name].tolist() for name in table))):
        yield ["" if value is None else str(value) for value in row]


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    r"""Write a table as CSV with lines that end in \n."""
    with path.open("w", encoding="utf-8", newline="") as file:
        # The csv module quotes a lone \r only if its own lines end in \r\n.  So they do, and the \r is cut off
        # here.
        lines = SimpleNamespace(write=lambda line: file.write(line[:-2] + "\n"))
        csv.writer(lines, lineterminator="\r\n").writerows(_texts(table))
