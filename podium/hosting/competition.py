"""A competition to be put on a platform: files, metric, and pages in words."""

import inspect
import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium import hosted
from podium.hosted import Metric
from podium.hosting.folders import PRIVATE, PUBLIC, SAMPLE, SOLUTION, markdown_table, read_csv

PARAMETER = re.compile(r"^(\w+) : .*\n((?:[ ]{4}.*\n)*)", re.MULTILINE)  # and its meaning
ROWS_SHOWN = 3
LONGEST_CELL = 40
KINDS = {
    "train.csv": "the annotated items to learn from",
    "train_essays.csv": "their texts",
    "test_essays.csv": "the texts to predict for",
    "test.csv": "the texts to predict for",
    SAMPLE: "a submission in the right format; it names every item to predict for",
}


@dataclass(frozen=True)
class Competition:
    folder: Path  # that `podium make` wrote
    metric: Metric
    arguments: dict[str, Any]  # of its `score`, ``row_id_column_name`` among them
    title: str
    subtitle: str

    @property
    def public(self) -> list[Path]:
        return sorted(path for path in (self.folder / PUBLIC).iterdir() if path.is_file())

    @property
    def sample(self) -> Path:
        return self.folder / PUBLIC / SAMPLE

    @property
    def solution(self) -> Path:
        return self.folder / PRIVATE / SOLUTION

    @property
    def better(self) -> str:
        return "higher" if hosted.higher_is_better(self.metric, self.arguments) else "lower"

    @property
    def complete(self) -> bool:
        return self.metric.complete_submission


def summary(metric: Metric) -> str:
    return (inspect.getdoc(metric.score) or "").partition("\n")[0]


def pages(competition: Competition) -> dict[str, str]:
    return {
        "description": f"# {competition.title}\n\n{competition.subtitle}\n",
        "evaluation": _evaluation(competition),
        "data-description": "\n\n".join(["# Data", *map(_described, competition.public)]) + "\n",
        "rules": RULES.format(version=competition.metric.version),
    }


def _evaluation(competition: Competition) -> str:
    metric, arguments = competition.metric, competition.arguments
    text = (
        inspect.getdoc(metric.score) or inspect.getdoc(metric.module) or "The metric's file is its description."
    )
    description = text.partition("\nParameters\n")[0].strip()
    meanings = dict(PARAMETER.findall(text))
    settings = [
        (f"`{name}`", f"`{value}`", " ".join(meanings.get(name, "").split()))
        for name, value in hosted.settings(metric, arguments).items()
    ]
    rows = (
        "A submission has rows of its own: as many as it predicts."
        if competition.complete
        else f"A submission has one row for each `{arguments['row_id_column_name']}` of the sample submission."
    )
    return "\n\n".join(
        [
            "# Evaluation",
            description,
            f"A {competition.better} score is better. The parameters in this competition:",
            markdown_table(("parameter", "value", ""), settings),
            "## Submission file",
            f"{rows} Its first lines:",
            _head(competition.sample),
            f"`{hosted.signature(metric, arguments)}`\n",
        ]
    )


def _described(path: Path) -> str:
    what = KINDS.get(path.name, "")
    columns = [f"`{column}`" for column in next(read_csv(path))] if path.suffix == ".csv" else []
    listed = f" Columns: {', '.join(columns)}." if columns else ""
    return f"**{path.name}**{': ' * bool(what)}{what}.{listed}"


def _head(path: Path) -> str:
    header, *rows = itertools.islice(read_csv(path), 1 + ROWS_SHOWN)
    return markdown_table([*map(_short, header)], [[*map(_short, row)] for row in rows])


def _short(cell: str) -> str:
    cell = " ".join(cell.split()).replace("|", "\\|")
    return cell if len(cell) <= LONGEST_CELL else cell[:LONGEST_CELL] + "…"


RULES = """# Rules

* One account per person; no sharing of code or data outside of teams, unless with everybody.
* The public leaderboard shows the score on a part of the test set; the private part decides.
* Of equal scores the earlier submission ranks first.
* Do not annotate the test set by hand, and do not learn from it.
* The score is that of the metric file, version {version}, with the parameters on the page Evaluation.
"""
