"""A competition to be put on a platform: files, metric, dates and limits, and pages in words."""

import inspect
import itertools
import math
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from podium import hosted
from podium.hosted import Metric
from podium.hosting.folders import PRIVATE, PUBLIC, SAMPLE, SOLUTION, markdown_table, read_csv
from podium.scoring import PARTS

# A parameter in a docstring, with its type and its meaning.
PARAMETER = re.compile(r"^(\w+) : (.*)\n((?:[ ]{4}.*\n)*)", re.MULTILINE)
ROWS_SHOWN = 3
LONGEST_CELL = 40
SECONDS_OF_A_DAY = 86_400
PAGES = ("description", "evaluation", "data-description", "rules")
KINDS = {
    "train.csv": "the annotated items to learn from",
    "train_essays.csv": "the texts of the items to learn from",
    "test_essays.csv": "the texts to predict for",
    "test.csv": "the texts to predict for",
    SAMPLE: "a submission in the right format; it names every item to predict for",
}
OTHER_FILE = "a further file of the hosts"


@dataclass(frozen=True)
class Competition:
    """What a platform needs to know.

    Attributes
    ----------
    folder : Path
        That `podium make` wrote, with ``public/`` and ``private/``.
    metric : Metric
        What scores a submission.
    arguments : dict
        Of its `score`, ``row_id_column_name`` among them.
    title, subtitle : str
        As the platform shows them.
    """

    folder: Path
    metric: Metric
    arguments: dict[str, Any]
    title: str
    subtitle: str

    @property
    def public(self) -> dict[str, Path]:
        """The files that participants get, by path below ``public/``; hidden ones are not sent."""
        top = self.folder / PUBLIC
        paths = {path.relative_to(top).as_posix(): path for path in sorted(top.rglob("*")) if path.is_file()}
        return {name: path for name, path in paths.items() if not re.search(r"(^|/)\.", name)}

    @property
    def sample(self) -> Path:
        """The sample submission."""
        return self.folder / PUBLIC / SAMPLE

    @property
    def solution(self) -> Path:
        """The truth."""
        return self.folder / PRIVATE / SOLUTION

    @property
    def better(self) -> str:
        """Which scores are better: "higher" or "lower"."""
        return "higher" if hosted.higher_is_better(self.metric, self.arguments) else "lower"

    @property
    def complete(self) -> bool:
        """Whether either part is scored with the whole submission."""
        return self.metric.complete_submission


class Limits(NamedTuple):
    """How often a team may submit in a phase."""

    per_day: int
    total: int


@dataclass(frozen=True)
class Terms:
    """When a competition runs, and who may submit how often.

    Attributes
    ----------
    start, switch, end : datetime
        The Public part is scored from start to switch, the Private part from there to the end; in UTC without a
        time zone.
    per_day : int
        Submissions of a team on one day.
    total : int or None
        Submissions of a team in the Public phase; None for those of every day.
    approve_entrants : bool
        Whether the host lets every entrant in by hand.
    """

    start: datetime
    switch: datetime
    end: datetime
    per_day: int = 5
    total: int | None = None
    approve_entrants: bool = False

    @property
    def phases(self) -> list[tuple[str, tuple[datetime, datetime], Limits]]:
        """Name, dates and limits of each phase.

        The Private phase takes one submission: with two of them, a team could already learn which is better.
        """
        days = math.ceil((self.switch - self.start).total_seconds() / SECONDS_OF_A_DAY)
        total = self.per_day * days if self.total is None else self.total
        times = (self.start, self.switch), (self.switch, self.end)
        return list(zip(PARTS, times, (Limits(self.per_day, total), Limits(1, 1))))


def summary(metric: Metric) -> str:
    """The first line of what the metric says of itself."""
    return (inspect.getdoc(metric.score) or "").partition("\n")[0]


def pages(competition: Competition) -> dict[str, str]:
    """The competition's pages by name, in Markdown: description, evaluation, data-description, rules."""
    texts = [
        f"# {competition.title}\n\n{competition.subtitle}\n",
        _evaluation(competition),
        "\n\n".join(["# Data", *(_described(*each) for each in competition.public.items())]) + "\n",
        RULES.format(version=competition.metric.version),
    ]
    return dict(zip(PAGES, texts, strict=True))


def _evaluation(competition: Competition) -> str:
    metric, arguments = competition.metric, competition.arguments
    text = (
        inspect.getdoc(metric.score) or inspect.getdoc(metric.module) or "The metric's file is its description."
    )
    description = text.partition("\nParameters\n")[0].strip()
    meanings = {name: (kind, meaning) for name, kind, meaning in PARAMETER.findall(text)}
    settings = [
        (f"`{name}`", f"`{value}`", " ".join(meanings.get(name, ("", ""))[1].split()))
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
            *_solution_section(meanings, competition),
            "## Submission file",
            *_columns("submission", meanings, competition),
            f"{rows} Its first lines:",
            _head(competition.sample),
            f"`{hosted.signature(metric, arguments)}`\n",
        ]
    )


def _solution_section(meanings: dict[str, tuple[str, str]], competition: Competition) -> list[str]:
    explained = _columns("solution", meanings, competition)
    why = "The solution stays with the hosts. These are its columns, which the description above speaks of."
    return ["## Solution file", why, *explained] if explained else []


def _columns(frame: str, meanings: dict[str, tuple[str, str]], competition: Competition) -> list[str]:
    """What the docstring says of a frame's columns, under their names in this competition."""
    kind, meaning = meanings.get(frame, ("", ""))
    if not meaning.strip():
        return []
    text = inspect.cleandoc(meaning).replace("``", "`")
    arguments = hosted.settings(competition.metric, competition.arguments) | competition.arguments
    for name, value in arguments.items():
        if name.endswith("_column_name"):
            text = text.replace(f"`{name}`", f"`{value}`")
    shape = kind.partition("DataFrame")[2].strip(" ,")
    return [f"{shape[:1].upper()}{shape[1:]}: {text}" if shape else text]


def _described(name: str, path: Path) -> str:
    columns: list[str] = []
    size = ""
    if name.endswith((".csv", ".csv.gz")):
        table = read_csv(path)
        columns = [f"`{column}`" for column in next(table)]
        number = sum(1 for _ in table)
        size = f" {number:,} row{'s' * (number != 1)}."
    listed = f" Columns: {', '.join(columns)}." if columns else ""
    return f"**{name}**: {KINDS.get(name, OTHER_FILE)}.{size}{listed}"


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
