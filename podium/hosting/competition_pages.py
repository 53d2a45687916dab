"""The pages of a competition on a site: what it is about, how it is scored, its data and its rules."""

import gzip
import inspect
import itertools
import re
import zlib
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, cast

from podium.common.errors import HostError
from podium.hosting.competition import Competition
from podium.hosting.folders import (
    METRIC,
    SAMPLE,
    STARTER,
    markdown_table,
    read_csv,
)
from podium.metric.hosted import Metric
from podium.metric.parameters import signature_of, values_of
from podium.tables.formats import stream_rows

# A parameter in a numpy-style docstring: its name, its type and its indented meaning.
PARAMETER = re.compile(r"^(\w+) : (.*)\n((?:[ ]{4}.*\n)*)", re.MULTILINE)
# The heading of a docstring's section, in numpy's or in Google's style.
SECTION = re.compile(
    "args:?|arguments:?|parameters:?|params:?|returns:?|raises:?|examples?:?|notes?:?|todo.*", re.IGNORECASE
)
HEADING = re.compile(rf"^(?:{SECTION.pattern})[ ]*$", re.MULTILINE | re.IGNORECASE)
ROWS_SHOWN = 3
LONGEST_CELL = 40
PAGES = ("description", "evaluation", "data-description", "rules")
KINDS = {
    "train.csv": "the annotated items to learn from",
    "train_essays.csv": "the texts of the items to learn from",
    "test_essays.csv": "the texts to predict for",
    "test.csv": "the items to predict for",
    SAMPLE: "a submission in the right format; it names every item to predict for",
    METRIC: "the file that scores submissions",
    STARTER: "a notebook that makes a first submission",
}
OTHER_FILE = "a further file of the hosts"
GAP = "<!-- Hosts"
# What podium cannot know, by page.
MISSING = {
    "description": "what the task is and what for, who may take part, and what is won",
    "data-description": "where the data come from, how they were annotated, and under which license they are",
    "rules": "who may take part, which further data and models may be used, and whom to ask",
}


def summary(metric: Metric) -> str:
    """Take the first sentence about a metric from the docstring of its ``score`` or of its file."""
    for documented in (metric.score, metric.module):
        first = (inspect.getdoc(documented) or "").partition("\n")[0].strip()
        if first and not SECTION.fullmatch(first):
            return first
    return ""


def pages(competition: Competition, end: datetime | None) -> dict[str, str]:
    """Write the competition's pages; those with gaps say in a comment what the hosts should add."""
    closing = "" if end is None else f"* The competition closes on {end:%Y-%m-%d at %H:%M:%S} UTC.\n"
    texts = [
        f"# {competition.title}\n\n{competition.subtitle}\n",
        _evaluation(competition),
        "\n\n".join(["# Data", *(_described(*each) for each in competition.public.items())]) + "\n",
        RULES + closing,
    ]
    return {name: _with_gap(name, text) for name, text in zip(PAGES, texts, strict=True)}


def _with_gap(name: str, text: str) -> str:
    """A page with a comment on what it lacks, which readers do not see."""
    return f"{text}\n{GAP}: say here {MISSING[name]}. -->\n" if name in MISSING else text


def to_edit(folder: str = "", edited: Collection[str] = ()) -> list[str]:
    """Say which pages have gaps, and what belongs there, unless the host has edited them."""
    return [f"to edit: {folder}{name}.md: say {MISSING[name]}" for name in MISSING if name not in edited]


def _evaluation(competition: Competition) -> str:
    """The page that explains the metric, its parameters and the form of a submission."""
    metric, arguments = competition.metric, competition.arguments
    text = (
        inspect.getdoc(metric.score) or inspect.getdoc(metric.module) or "The metric's file is its description."
    )
    description = HEADING.split(text)[0].strip() or summary(metric)
    meanings = {name: (kind, meaning) for name, kind, meaning in PARAMETER.findall(text)}
    settings = [
        (f"`{name}`", f"`{value}`", " ".join(meanings.get(name, ("", ""))[1].split()))
        for name, value in values_of(metric, arguments).items()
    ]
    rows = (
        "A submission has as many rows as it has predictions."
        if metric.complete_submission
        else f"A submission has one row for each `{arguments['row_id_column_name']}` of the sample submission."
    )
    parts = ["# Evaluation", description, f"A {competition.better} score is better."]
    if settings:
        parts += ["The parameters in this competition:", markdown_table(("parameter", "value", ""), settings)]
    of_solution = _columns("solution", meanings, competition)
    if of_solution:
        why = "The solution stays with the hosts. The description above refers to its columns, which are these."
        parts += ["## Solution file", why, *of_solution]
    parts += ["## Submission file", *_columns("submission", meanings, competition)]
    parts += [f"{rows} Its first lines:", _head(competition.sample)]
    return "\n\n".join([*parts, f"`{signature_of(metric, arguments)}`\n"])


def _columns(frame: str, meanings: dict[str, tuple[str, str]], competition: Competition) -> list[str]:
    """What the metric's docstring says about a table's columns, with their names in this competition."""
    kind, meaning = meanings.get(frame, ("", ""))
    if not meaning.strip():
        return []
    text = inspect.cleandoc(meaning).replace("``", "`")
    arguments = values_of(competition.metric, competition.arguments) | competition.arguments
    for name, value in arguments.items():
        if name.endswith("_column_name"):
            text = text.replace(f"`{name}`", f"`{value}`")
    shape = kind.partition("DataFrame")[2].strip(" ,")
    return [f"{shape[:1].upper()}{shape[1:]}: {text}" if shape else text]


def _described(name: str, path: Path) -> str:
    """A paragraph about a public file: what it is, its number of rows and its columns."""
    columns: list[str] = []
    size = ""
    if name.endswith((".csv", ".csv.gz")):
        header, number = _counted(path)
        columns = [f"`{column}`" for column in header]
        size = f" {number:,} row{'s' * (number != 1)}."
    listed = f" Columns: {', '.join(columns)}." if columns else ""
    return f"**{name}**: {KINDS.get(name, OTHER_FILE)}.{size}{listed}"


def _counted(path: Path) -> tuple[list[str], int]:
    """The header of a public table, and its number of rows; the table may be larger than the memory."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            rows = stream_rows(cast(BinaryIO, file), str(path), HostError)
            return next(rows, []), sum(1 for _ in rows)
    except (OSError, EOFError, zlib.error) as problem:
        raise HostError(f"cannot read {path}: {problem}") from None


def _head(path: Path) -> str:
    """The header and the first rows of a CSV as a table in Markdown."""
    header, *rows = itertools.islice(read_csv(path), 1 + ROWS_SHOWN)
    return markdown_table([*map(_short, header)], [[*map(_short, row)] for row in rows])


def _short(cell: str) -> str:
    """A cell on one line, cut where it is too long for a table."""
    cell = " ".join(cell.split())
    return cell if len(cell) <= LONGEST_CELL else cell[:LONGEST_CELL] + "…"


RULES = """# Rules

* Each person has one account. Share code and data only within your team or with everybody.
* The public leaderboard shows the score on a part of the test set. The private part decides.
* If two scores are equal, the earlier submission ranks first.
* Do not annotate the test set by hand, and do not train on it.
* The metric file computes the score with the parameters on the page Evaluation.
"""
