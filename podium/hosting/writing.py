"""Write the files of a competition, whole or not at all, and look at what was written."""

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

    Every table is read back and compared with what was meant, and `leaks.refuse` looks at what participants
    would get. If either finds a fault, nothing is left on the disk.

    Parameters
    ----------
    files : Files
        What `podium make` made.
    folder : Path
        Where to write; it must not exist yet, or be empty.

    Raises
    ------
    HostError
        If a table does not read back as it was meant, or a public file tells the solution.
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
                    raise HostError(f"{name}/{file} does not read back as what was written")
        (whole / REPORT).write_text(files.report, encoding="utf-8", newline="\n")
        record.write(whole, files.metric, files.parameters)
        leaks.refuse(whole, files.items)


def _texts(table: pd.DataFrame) -> Iterator[list[str]]:
    """The header and the rows as they are to be written."""
    for row in chain([list(table)], zip(*(table[name].tolist() for name in table))):
        yield ["" if value is None else str(value) for value in row]


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        # The writer quotes a lone \r only if it ends its own lines by \r\n: these are shortened on the way.
        lines = SimpleNamespace(write=lambda line: file.write(line[:-2] + "\n"))
        csv.writer(lines, lineterminator="\r\n").writerows(_texts(table))
