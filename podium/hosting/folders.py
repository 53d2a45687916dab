"""A competition's files, public and private in folders of their own."""

import contextlib
import math
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium import progress, scoring
from podium.errors import HostError, UsageError
from podium.files import read_rows
from podium.scoring import PARTS

PUBLIC, PRIVATE = "public", "private"
SOLUTION, PERFECT, SAMPLE = "solution.csv", "perfect_submission.csv", "sample_submission.csv"
REPORT = "report.md"


class Files(NamedTuple):
    """The files of a competition, not yet written.

    Attributes
    ----------
    public, private : dict of DataFrame
        Tables by file name, of str and numbers; None is an empty cell.
    report : str
        In Markdown.
    warnings : list of str
        What the host should look at.
    items : collection of str
        What the metric scores together, such as essays: their ids may be public.
    metric : str
        The metric's ``NAME``.
    parameters : dict
        The metric's parameters for which the files are made.
    """

    public: dict[str, pd.DataFrame]
    private: dict[str, pd.DataFrame]
    report: str
    warnings: list[str]
    items: Collection[str] = ()
    metric: str = ""
    parameters: Mapping[str, Any] = {}


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill; it takes its place when all is well."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"cannot write {folder}: expected a new or empty folder")
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


def row_id(folder: Path) -> str:
    """The first column of the solution."""
    for path in (folder / PRIVATE / SOLUTION, folder / PUBLIC / SAMPLE):
        if not path.is_file():
            raise UsageError(f"there is no {path}: expected the folder that podium make wrote")
    return next(read_csv(folder / PRIVATE / SOLUTION))[0]


def read_csv(path: Path) -> Iterator[list[str]]:
    """The rows of a CSV one by one, every cell the text that it is."""
    with progress.shown("reading") as show:
        yield from read_rows(path, HostError, show)


def text_table(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Cells stay what they are."""
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """To be written as it is; a space stands for an empty text, which Kaggle takes for missing."""
    columns = {}
    for name, values in frame.items():
        filler = " " if values.dtype == object or pd.api.types.is_string_dtype(values.dtype) else None
        columns[str(name)] = [
            filler if missing else (value if value != "" else " ")
            for value, missing in zip(values.astype(object).tolist(), values.isna().tolist())
        ]
    return text_table(columns)


def section(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A heading and a table in Markdown."""
    return f"## {title}\n\n{markdown_table(header, rows)}"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown; columns of numbers stand on the right.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences
        Whole numbers get commas, others six digits.

    Examples
    --------
    >>> print(markdown_table(("what", "number"), [("rows", 1234)]))
    | what | number |
    | --- | --: |
    | rows | 1,234 |
    """
    cells = [list(row) for row in rows]
    rule = [
        "--:" if all(isinstance(row[column], int | float) for row in cells) else "---"
        for column in range(len(header))
    ]
    lines = [header, rule, *(map(_cell, row) for row in cells)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def scores(
    solution: scoring.Solution, seed: int, sample: pd.DataFrame, perfect: pd.DataFrame | None = None
) -> str:
    """The section of a report with the scores of the sample and of the perfect submission.

    Parameters
    ----------
    solution : Solution
        As `scoring.prepare` makes it.
    seed : int
        Of the drawing, for the message.
    sample, perfect : DataFrame

    Raises
    ------
    HostError
        If the score of a part is not defined.
    """
    rows = []
    for name, frame in ((f"{PUBLIC}/{SAMPLE}", sample), (f"{PRIVATE}/{PERFECT}", perfect)):
        if frame is not None:
            of_parts = scoring.evaluate(solution, frame).scores
            undefined = [part for part in PARTS if not math.isfinite(of_parts[part])]
            if undefined:
                drawn = f"the draw with seed {seed} leaves the score undefined in {', '.join(undefined)}"
                raise HostError(f"{drawn}: try another seed or share")
            rows.append([name, *(of_parts[part] for part in PARTS)])
    return section("Scores, to compare with those on the site", ("file", *PARTS), rows)
