"""A competition's files: what is public and what is private, in folders of their own; whole or not at all.

Files are CSV in UTF-8 and hold values as they were read: ``9`` stays ``9``, and so do line ends within a text.
All of it is read back and compared.
"""

import contextlib
import csv
import itertools
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd

from podium import scoring
from podium.errors import HostError, UsageError
from podium.scoring import PARTS, USAGE

__all__ = [
    "PERFECT",
    "PRIVATE",
    "PUBLIC",
    "REPORT",
    "SAMPLE",
    "SOLUTION",
    "Files",
    "as_texts",
    "check_leaks",
    "new_folder",
    "read_csv",
    "row_id",
    "scores",
    "section",
    "text_table",
    "write",
]

PUBLIC, PRIVATE = "public", "private"
SOLUTION, PERFECT, SAMPLE = "solution.csv", "perfect_submission.csv", "sample_submission.csv"
REPORT = "report.md"
LONGEST_FIELD = 2**31 - 1


class Files(NamedTuple):
    """The files of a competition.

    Attributes
    ----------
    public, private : dict of file name to DataFrame of str and numbers; None is an empty cell
    report : str, Markdown
    warnings : list of str, what the host should look at
    """

    public: dict[str, pd.DataFrame]
    private: dict[str, pd.DataFrame]
    report: str
    warnings: list[str]


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill, which takes its place only when all is well: whole or not at all.

    Raises
    ------
    UsageError
        The folder is there and not empty, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"cannot write {folder}: expected a new or empty folder, so that nothing old stays in it"
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as building:
            whole = Path(building, "whole")
            whole.mkdir()
            yield whole
            if folder.exists():
                folder.rmdir()
            whole.rename(folder)
    except OSError as problem:
        raise UsageError(f"cannot write {folder}: {problem.strerror}") from None


def write(files: Files, folder: Path) -> None:
    """Save the tables and the report in a `new_folder`.

    Raises
    ------
    UsageError
        The folder is there and not empty, or cannot be written.
    HostError
        A file does not read back as what was written.
    """
    with new_folder(folder) as whole:
        for name, tables in ((PUBLIC, files.public), (PRIVATE, files.private)):
            (whole / name).mkdir()
            for file, table in tables.items():
                _write_csv(table, whole / name / file)
                _check_written(table, whole / name / file)
        (whole / REPORT).write_text(files.report, encoding="utf-8", newline="\n")


def row_id(folder: Path) -> str:
    """The name of the row id in the files that `write` wrote: the first column of the solution.

    Raises
    ------
    UsageError
        There are no such files.
    """
    for path in (folder / PRIVATE / SOLUTION, folder / PUBLIC / SAMPLE):
        if not path.is_file():
            raise UsageError(f"there is no {path}: expected the folder that podium make wrote")
    return next(read_csv(folder / PRIVATE / SOLUTION))[0]


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        # The writer quotes what holds a character of its line end: so a lone \r, too.
        lines = SimpleNamespace(write=lambda line: file.write(line[:-2] + "\n"))
        writer = csv.writer(lines, lineterminator="\r\n")
        writer.writerow(table.columns)
        writer.writerows(zip(*(table[name].tolist() for name in table)))


def read_csv(path: Path) -> Iterator[list[str]]:
    """The rows of a file that `write` wrote, the header first; all cells are texts.

    Raises
    ------
    HostError
        It is no table.
    """
    csv.field_size_limit(LONGEST_FIELD)
    if not path.stat().st_size:
        raise HostError(f"{path} is not a CSV table: it is empty")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.reader(file, strict=True)
    except (csv.Error, UnicodeDecodeError) as problem:
        raise HostError(f"{path} is not a CSV table: {problem}") from None


def _check_written(table: pd.DataFrame, path: Path) -> None:
    rows = itertools.chain([list(table)], zip(*(table[name].tolist() for name in table)))
    texts = (["" if value is None else str(value) for value in row] for row in rows)
    if any(meant != found for meant, found in itertools.zip_longest(texts, read_csv(path))):
        raise HostError(f"{path.parent.name}/{path.name} does not read back as what was written")


def check_leaks(files: Files, item_column: str, text_column: str | None = None) -> None:
    """Nothing of the private files is in the public ones, ids aside; a `HostError` names what tells more.

    Parameters
    ----------
    files : Files
    item_column : the column that names what is drawn whole, such as an essay
    text_column : the column of public files with the items' texts, if there is one
    """
    solution = files.private[SOLUTION]
    part_of = dict(zip(solution[item_column].tolist(), solution[USAGE].tolist()))
    ids = {item_column, solution.columns[0]}
    parts_of_text: dict[str, tuple[str, str]] = {}
    for name, table in files.public.items():
        secret = [str(column) for column in table if column in solution and column not in ids]
        items = table[item_column].tolist() if item_column in table else []
        tested = next((item for item in items if item in part_of), None)
        if name != SAMPLE and secret and tested is not None:
            raise HostError(
                f"{PUBLIC}/{name} would tell {', '.join(secret)} of {tested}, which is in {SOLUTION}"
            )
        if text_column in table:
            for item, text in zip(items, table[text_column].tolist()):
                part = part_of.get(item, name)
                before, where = parts_of_text.setdefault(" ".join((text or "").split()), (item, part))
                if part != where and text:
                    raise HostError(f"the text of {item} ({part}) is that of {before} ({where}), too")


def text_table(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """A table whose cells stay what they are, in every version of pandas."""
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame to be written as it is; a space stands for an empty text, which Kaggle takes for missing."""
    columns: dict[str, list[Any]] = {}
    for name in frame:
        values = frame[name]
        lacks = values.isna()
        filler = " " if values.dtype == object or pd.api.types.is_string_dtype(values.dtype) else None
        columns[str(name)] = [
            filler if missing else (value if value != "" else " ")
            for value, missing in zip(values.astype(object).tolist(), lacks.tolist())
        ]
    return text_table(columns)


# ---------------------------------------------------------------------------------------------
# The report
# ---------------------------------------------------------------------------------------------


def section(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A heading and a Markdown table; numbers are on the right."""
    cells = [list(row) for row in rows]
    rule = [
        "--:" if all(isinstance(row[column], int | float) for row in cells) else "---"
        for column in range(len(header))
    ]
    lines = [header, rule, *(map(_cell, row) for row in cells)]
    return "\n".join([f"## {title}", "", *(f"| {' | '.join(line)} |" for line in lines)])


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def scores(
    solution: scoring.Solution, seed: int, sample: pd.DataFrame, perfect: pd.DataFrame | None = None
) -> str:
    """The section with the scores of the sample and, where there is one, of the perfect submission.

    Raises
    ------
    HostError
        A part leaves a score undefined.
    """
    rows = []
    for name, frame in ((f"{PUBLIC}/{SAMPLE}", sample), (f"{PRIVATE}/{PERFECT}", perfect)):
        if frame is not None:
            found = scoring.evaluate(solution, frame).scores
            undefined = [part for part in PARTS if not math.isfinite(found[part])]
            if undefined:
                raise HostError(
                    f"the draw with seed {seed} leaves the score undefined in {', '.join(undefined)}: expected "
                    "parts in which it is defined, such as by another seed or share"
                )
            rows.append([name, *(found[part] for part in PARTS)])
    return section("Scores, to compare with those on the site", ("file", *PARTS), rows)
