"""The pages of a competition, in words: from the metric's docstring, its parameters and the public files."""

import csv
import inspect
import itertools
import re
from pathlib import Path
from typing import Any

from podium import hosted
from podium.hosted import Metric
from podium.hosting.folders import PUBLIC, SAMPLE

__all__ = ["pages", "summary"]

# In a docstring, "name : type" and what it means, further in.
PARAMETER = re.compile(r"^(\w+) : .*\n((?:[ ]{4}.*\n)*)", re.MULTILINE)
ROWS_SHOWN = 3
LONGEST_CELL = 40
KINDS = {
    "train.csv": "the annotated items to learn from",
    "train_essays.csv": "their texts",
    "test_essays.csv": "the texts to predict for",
    "test.csv": "the texts to predict for",
    SAMPLE: "a submission in the right format; it names every item to predict for",
}


def pages(metric: Metric, arguments: dict[str, Any], title: str, subtitle: str, folder: Path) -> dict[str, str]:
    """Markdown by name of page: description, evaluation, data-description and rules.

    Parameters
    ----------
    metric : a module as `podium.hosted.load` returns it
    arguments : keyword arguments of its `score`
    title, subtitle : of the competition
    folder : of the files that `podium make` made
    """
    public = sorted((folder / PUBLIC).iterdir())
    return {
        "description": f"# {title}\n\n{subtitle}\n\nHow submissions are scored stands on the page Evaluation, "
        "what the files hold on the page Data.\n",
        "evaluation": _evaluation(metric, arguments, folder / PUBLIC / SAMPLE),
        "data-description": "\n\n".join(["# Data", *map(_described, public)]) + "\n",
        "rules": _rules(metric, arguments),
    }


def summary(metric: Metric) -> str:
    """The first line of what the metric says of itself."""
    return (inspect.getdoc(metric.score) or "").partition("\n")[0]


def _evaluation(metric: Metric, arguments: dict[str, Any], sample: Path) -> str:
    text = inspect.getdoc(metric.score) or inspect.getdoc(metric) or "The metric's file is its description."
    description = text.partition("\nParameters\n")[0].strip()
    meanings = dict(PARAMETER.findall(text))
    settings = [
        f"| `{name}` | `{arguments.get(name, default)}` | {' '.join(meanings.get(name, '').split())} |"
        for name, default in hosted.defaults(metric).items()
    ]
    better = "higher" if hosted.higher_is_better(metric, _further(metric, arguments)) else "lower"
    rows = (
        "A submission has rows of its own: as many as it predicts."
        if getattr(metric, "COMPLETE_SUBMISSION", False)
        else f"A submission has one row for each `{arguments['row_id_column_name']}` of the sample submission."
    )
    return "\n\n".join(
        [
            "# Evaluation",
            description,
            f"A {better} score is better. The parameters in this competition:",
            "\n".join(["| parameter | value | |", "|---|---|---|", *settings]),
            "## Submission file",
            f"{rows} Its first lines:",
            _head(sample),
            f"`{hosted.signature(metric, arguments)}`\n",
        ]
    )


def _further(metric: Metric, arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name in hosted.defaults(metric)}


def _described(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        columns = next(csv.reader(file), [])
    what = KINDS.get(path.name, "")
    listed = ", ".join(f"`{column}`" for column in columns)
    return f"**{path.name}**{': ' * bool(what)}{what}. Columns: {listed}."


def _head(path: Path) -> str:
    """A table's first rows as Markdown."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(itertools.islice(csv.reader(file), 1 + ROWS_SHOWN))
    cells = [[_short(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [cells[0], ["---"] * len(cells[0]), *cells[1:]])


def _short(cell: str) -> str:
    cell = " ".join(cell.split()).replace("|", "\\|")
    return cell if len(cell) <= LONGEST_CELL else cell[:LONGEST_CELL] + "…"


def _rules(metric: Metric, arguments: dict[str, Any]) -> str:
    return (
        "# Rules\n\n"
        "* One account per person; no sharing of code or data outside of teams, unless with everybody.\n"
        "* The public leaderboard shows the score on a part of the test set; the other, private part decides.\n"
        "* Of equal scores the earlier submission ranks first.\n"
        "* Do not annotate the test set by hand, and do not try to learn anything of it but by predicting.\n"
        f"* The score is that of the metric file, version {getattr(metric, '__version__', '?')}, with the "
        "parameters on the page Evaluation.\n"
    )
