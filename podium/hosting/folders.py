"""The folder of a competition, with its public and private files."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium.common import progress
from podium.common.errors import HostError, UsageError
from podium.contest import pipeline
from podium.contest.recorded import PRIVATE
from podium.metric.hosted import Metric
from podium.scoring import evaluating
from podium.scoring.evaluating import PARTS
from podium.scoring.verdicts import Platform
from podium.tables.files import Location, alone_in, is_table_name, left_folders, read_bytes
from podium.tables.formats import parse_rows, read_texts, stream_rows

PUBLIC = "public"
SOLUTION, PERFECT, SAMPLE = "solution.csv", "perfect_submission.csv", "sample_submission.csv"
LEARNED, TEST = "train.csv", "test.csv"  # what participants learn from, and what they know of the test set
STARTER, METRIC = "starter.ipynb", "metric.py"  # what podium adds to the public files
REPORT = "report.md"
BUILDING = ".making-"  # how a folder begins whose content is not complete yet


class Files(NamedTuple):
    """The files of a competition before they are written."""

    # The tables for participants by file name. Their cells are str or numbers, or None for an empty cell.
    public: dict[str, pd.DataFrame]
    private: dict[str, pd.DataFrame]  # the tables for the host by file name, with the same kinds of cells
    report: str  # the report for the host, in Markdown
    warnings: list[str]  # what the host should look at
    solution: evaluating.Solution  # what was scored to write the report, as it was before it is written
    trials: Sequence["Trial"]  # submissions to `solution`
    items: Collection[str]  # the ids of the items that the metric scores, such as essays; they may be public
    parameters: Mapping[str, Any]  # the metric's parameters for which the files are made
    public_columns: Sequence[str] = ()  # the columns of the solution that participants may know
    together: str = ""  # the columns of the solution, separated by commas, whose values keep rows together


class Trial(NamedTuple):
    """A submission that tries the files of a competition."""

    name: str  # of its file, if it is one of the competition
    submission: pd.DataFrame
    evaluation: evaluating.Evaluation | None = None  # None if it was not scored yet

    @property
    def scores(self) -> Mapping[str, float]:
        """The score of each part; empty if it was not scored yet."""
        return {} if self.evaluation is None else self.evaluation.scores


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Make a folder that appears under its name only when it is complete, and in place of nothing.

    Of two commands that make the same folder at once, the second says so.
    """
    target = Path(os.path.realpath(folder))
    try:
        _check_empty(target, folder)
        nearest = next(parent for parent in target.parents if parent.exists())
        if not nearest.is_dir():
            raise UsageError(f"cannot write {folder}: {nearest} is not a folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        prefix = f"{BUILDING}{sha256(os.fsencode(target.name)).hexdigest()[:8]}-"
        if _busy_after_cleaning(target.parent, prefix):
            raise UsageError(f"another command is making {folder} at this moment")
        made = tempfile.TemporaryDirectory(dir=target.parent, prefix=prefix)
        with made as building, alone_in(building):
            whole = Path(building, "whole")
            whole.mkdir()
            yield whole
            _check_empty(target, folder, ", and something was put there while it was made")
            with contextlib.suppress(FileNotFoundError):
                target.rmdir()  # Windows renames onto nothing
            whole.rename(target)  # where something has appeared just now, this fails, too
    except OSError as problem:
        raise UsageError(f"cannot write {folder}: {problem.strerror or problem}") from None


def _check_empty(folder: Path, shown: Path, found: str = "") -> None:
    """Refuse a folder in which something lies."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"cannot write {shown}: expected a new or empty folder{found}")


def _busy_after_cleaning(folder: Path, prefix: str) -> bool:
    """Remove what killed commands left in a folder, and tell whether one is at work on what has this prefix."""
    is_busy = False
    for path in left_folders(folder, rf"{re.escape(BUILDING)}[0-9a-f]{{8}}-"):
        try:
            with alone_in(path):
                shutil.rmtree(path, ignore_errors=True)
        except UsageError:
            is_busy |= path.name.startswith(prefix)
    return is_busy


def public_files(folder: Path) -> dict[str, Path]:
    """The files for participants, by their paths below ``public/``, hidden ones among them.

    What a link leads to is sent, so it has to be a file that lies in ``public/``, too.
    """
    top = folder / PUBLIC
    home = os.path.realpath(top)
    files = {}
    for path in sorted(top.rglob("*")):
        if path.is_symlink():
            target = os.path.realpath(path)
            if not target.startswith(home + os.sep) or not os.path.isfile(target):
                raise HostError(
                    f"{path} is a link to {os.readlink(path)}: expected files, and links to files in {PUBLIC}; "
                    "copy what participants shall get, and remove the link"
                )
        if path.is_file():
            files[path.relative_to(top).as_posix()] = path
    return files


def row_id(folder: Path) -> str:
    """Read the name of the first column of a competition's solution."""
    for path in (folder / PRIVATE / SOLUTION, folder / PUBLIC / SAMPLE):
        if not path.is_file():
            raise UsageError(f"there is no {path}: expected the folder that podium make wrote")
    path = folder / PRIVATE / SOLUTION
    with path.open("rb") as file:
        return next(stream_rows(file, str(path), HostError))[0]


def read_csv(path: Location) -> Iterator[list[str]]:
    """Read a CSV row by row, without interpreting any cell."""
    with progress.shown("reading") as show:
        yield from parse_rows(read_bytes(path), str(path), HostError, show)


def text_table(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Make a table whose cells keep their Python types."""
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def as_texts(frame: pd.DataFrame, metric: Metric, path: Location | None = None) -> pd.DataFrame:
    """Prepare a table for being written as CSV, with cells as in the file at `path`, if it was read from there.

    An empty text becomes a space, because Kaggle takes an empty cell for a missing value. So does a missing
    text if the metric is podium's own, because to these it is the same as an empty one.
    """
    written = frame if path is None or not is_table_name(path) else read_texts(path, HostError)
    columns = {}
    for name, values in frame.items():
        is_text = values.dtype == object or pd.api.types.is_string_dtype(values.dtype)
        filler = " " if is_text and metric.is_built_in else None
        cells = written[name] if name in written and len(written) == len(frame) else values
        texts, once = [*map(str, cells.astype(object))], dict[str, str]()
        shared = map(once.setdefault, texts, texts)  # equal cells are one text in memory
        columns[str(name)] = [
            filler if missing else text or " " for text, missing in zip(shared, values.isna())
        ]
    return text_table(columns)


def written_rows(table: pd.DataFrame) -> Iterator[list[str]]:
    """The header and the rows of a table as texts, as they are to be written."""
    for row in chain([list(table)], zip(*(table[name].tolist() for name in table))):
        yield ["" if value is None else str(value) for value in row]


def section(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write a heading and a table in Markdown."""
    return f"## {title}\n\n{markdown_table(header, rows)}"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table in Markdown; whole numbers get commas, and other numbers six digits.

    >>> print(markdown_table(("what", "number"), [("rows", 1234)]))
    | what | number |
    | --- | --: |
    | rows | 1,234 |

    A vertical bar in a text does not end its cell:

    >>> print(markdown_table(("group",), [("a|b",)]))
    | group |
    | --- |
    | a\\|b |
    """
    cells = [list(row) for row in rows]
    rule = [
        "--:" if all(isinstance(row[column], int | float) for row in cells) else "---"
        for column in range(len(header))
    ]
    lines = [map(_cell, header), rule, *(map(_cell, row) for row in cells)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    """A value as the text of a cell, in which no sign ends the cell or begins HTML or a formula."""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6f}"
    return re.sub(r"([|&$<])", r"\\\1", " ".join(str(value).splitlines()))


def tried(
    solution: evaluating.Solution,
    seed: int,
    sample: pd.DataFrame,
    perfect: pd.DataFrame | None = None,
    platform: Platform | None = None,
) -> list[Trial]:
    """Score the sample submission and the perfect one."""
    submissions = {f"{PUBLIC}/{SAMPLE}": sample, f"{PRIVATE}/{PERFECT}": perfect}
    trials: list[Trial] = []
    for name, frame in submissions.items():
        if frame is not None:
            file = f"{name} (drawn with --seed {seed})"
            scored = pipeline.of_host(solution, frame, file, None if trials else platform)
            trials.append(Trial(name, frame, scored))
    return trials


def scores(solution: evaluating.Solution, trials: Iterable[Trial]) -> str:
    """Write the section of a report with the scores of submissions."""
    parts = [part for part in PARTS if part in solution.rows]
    rows = [[trial.name, *(trial.scores[part] for part in parts)] for trial in trials]
    return section("Scores, to compare with those on the site", ("file", *parts), rows)
