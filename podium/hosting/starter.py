"""The starter notebook, which participants get with the public files: it makes a first submission.

Its cells come from a template, in which the columns, the items and the metric's parameters are filled in.
"""

import ast
import json
import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.hosting.bundles.program import imported
from podium.hosting.folders import LEARNED, METRIC, PUBLIC, STARTER, TEST, Files
from podium.hosting.kaggle import kernel
from podium.metric.contract import Metric
from podium.scoring import evaluating
from podium.tables import ids

TEMPLATE = Path(__file__).parent / "templates" / "starter.py"
CELL = re.compile(r"^# %%(?: \[(markdown)\])? (\w+)\n", re.MULTILINE)

# The cells by name. Without a training part no fold is held out, and the notebook does what the sample does.
BEGINNING, FOLD, END = ("start", "read", "settings", "table"), ("fold", "baseline"), ("submission", "picture")
SCORED = (*BEGINNING, *FOLD, "metric", *END)
COPIED = (*BEGINNING, "copy", "picture")

PRIVATE_METRIC = (
    "The starter notebook scores a fold with metric.py beside it. The file of your metric stays with you; "
    "--publish-metric gives it to participants."
)
NOTHING_TO_LEARN = f"there is no {LEARNED} with several items; --test makes one"
OTHER_ROWS = "the sample does not answer each row, or each item, of the labels once"


class Columns(NamedTuple):
    """The columns that a starter notebook has to know."""

    row_id: str  # names a row of the submission
    item: str  # names what belongs together, and is held out as a whole
    key: str  # names what is answered; empty if nothing does


class Cell(NamedTuple):
    """A cell of a notebook."""

    kind: str  # "code" or "markdown"
    name: str
    source: str


def add(folder: Path, files: Files, publish_metric: bool = False) -> Files:
    """Add a starter notebook to the public files in a folder, and what it lacks to the report."""
    metric = files.solution.metric
    if metric.is_built_in or publish_metric:
        _publish(metric, folder / PUBLIC)
    columns = columns_of(files)
    names, reason = _choice(files, columns)
    text = json.dumps(notebook(_cells(names, columns, files)), indent=1, ensure_ascii=False) + "\n"
    (folder / PUBLIC / STARTER).write_text(text, encoding="utf-8", newline="\n")
    told = f"The starter notebook scores no fold: {reason}." if reason else ""
    if names == SCORED and not (folder / PUBLIC / METRIC).is_file():
        told = PRIVATE_METRIC
    return files._replace(report=f"{files.report}\n{told}\n") if told else files


def columns_of(files: Files) -> Columns:
    """Find out which columns name the rows, the items and the answers."""
    row_id = str(files.solution.arguments["row_id_column_name"])
    item = _item(files, row_id)
    sample = ids.as_in(files.solution.frame, files.trials[0].submission, [row_id])
    if row_id not in sample:
        return Columns(row_id, item, "")
    answered, asked = (ids.texts(table[row_id]) for table in (sample, files.solution.frame))
    if set(answered) == set(asked) and not answered.duplicated().any():
        return Columns(row_id, item, row_id)
    return Columns(row_id, item, item if item in sample and item != row_id else "")


def _item(files: Files, row_id: str) -> str:
    """Find the column with one value for each item: the one that the record names, or that has the metric's.

    Of several columns that the record names, the one with the fewest values keeps the most rows together.
    """
    solution = files.solution
    frame = solution.frame[solution.rows[evaluating.ALL]]
    if together := ids.named(files.together, frame):
        return min(together, key=lambda name: frame[name].nunique())
    if not solution.prepared:
        return row_id
    items = np.asarray(solution.prepared[evaluating.ALL].item_of_row)
    for name in [row_id, *frame.columns]:
        codes = pd.factorize(frame[name])[0]
        pairs = len(np.unique(np.stack([codes, items]), axis=1).T)
        if pairs == len(np.unique(codes)) == len(np.unique(items)):
            return str(name)
    return row_id


def _choice(files: Files, columns: Columns) -> tuple[Sequence[str], str]:
    """Choose the cells, and say why no fold is scored if none is."""
    learned = files.public.get(LEARNED)
    if learned is None or columns.item not in learned or learned[columns.item].nunique() < 2:
        return COPIED, NOTHING_TO_LEARN
    if not columns.key or columns.key not in learned:
        return COPIED, OTHER_ROWS
    return SCORED, ""


def _publish(metric: Metric, public: Path) -> None:
    """Copy a metric's file to the public files, with Kaggle's module of helpers if it imports that."""
    shutil.copyfile(metric.path, public / METRIC)
    if kernel.UTILITIES in imported(ast.parse(metric.path.read_bytes())):
        shutil.copyfile(kernel.UTILITIES_FILE, public / f"{kernel.UTILITIES}.py")


def _cells(names: Sequence[str], columns: Columns, files: Files) -> list[Cell]:
    """The cells with some names, as this competition needs them."""
    metric = files.solution.metric
    baseline = metric.companion.baseline
    _, *found = CELL.split(TEMPLATE.read_text(encoding="utf-8"))
    cells = list[Cell]()
    for kind, name, source in zip(found[::3], found[1::3], found[2::3]):
        if name not in names:
            continue
        if kind is None and name == "settings":
            source = _settings(columns, files)
        if kind is None and name == "baseline" and baseline is not None:
            source = baseline.read_text(encoding="utf-8")
        if kind is not None:
            source = re.sub("^# ?", "", source, flags=re.MULTILINE)
        cells.append(Cell(kind or "code", name, source.strip()))
    return cells


def _settings(columns: Columns, files: Files) -> str:
    """The cell with what differs between competitions."""
    frame = files.solution.frame
    texts = [name for name in dict.fromkeys(columns) if name in frame and frame[name].dtype.kind not in "iuf"]
    shown = [
        f"    {name!r}: {f'float({str(value)!r})' if value in (math.inf, -math.inf) else repr(value)},"
        for name, value in files.parameters.items()
        if name != "row_id_column_name"
    ]
    of_metric = "\n".join(["{", *shown, "}"]) if shown else "{}"
    return (
        f"ROW_ID = {columns.row_id!r}  # names a row of the submission\n"
        f"ITEM = {columns.item!r}  # names what belongs together\n"
        f"KEY = {columns.key or columns.row_id!r}  # names what is answered\n"
        f"TARGETS = {_targets(columns, files)!r}  # {LEARNED} tells them, and {TEST} does not\n"
        f"TEXTS = {texts!r}  # are no numbers\n"
        f"PARAMETERS = {of_metric}  # of the metric"
    )


def _targets(columns: Columns, files: Files) -> list[str]:
    """The columns that participants know of what is to learn from alone."""
    learned, tested = files.public.get(LEARNED, ()), files.public.get(TEST, ())
    return [str(name) for name in learned if name not in {*columns, *tested, *files.public_columns}]


def notebook(cells: Sequence[Cell]) -> dict[str, Any]:
    """Make a notebook of cells, in version 4.5 of Jupyter's format."""
    made: list[dict[str, Any]] = []
    for kind, name, source in cells:
        cell: dict[str, Any] = {"cell_type": kind, "id": f"{kind}-{name}", "metadata": {}}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        made.append(cell | {"source": source.splitlines(keepends=True)})
    kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernelspec, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
