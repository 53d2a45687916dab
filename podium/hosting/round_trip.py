"""Does every reader score files like the tables that they were made from?

`podium make` reads what it wrote as podium and as Kaggle do. Where a reader sees other tables than were meant,
they are scored, and the scores are compared part by part. The same tables have the same scores, so these cost
nothing. Before files go to Kaggle, the two readers are compared once more.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common import progress
from podium.common.errors import HostError, ToolError
from podium.common.wording import counted
from podium.contest import pipeline, reading
from podium.contest.recorded import PRIVATE
from podium.hosting.folders import PUBLIC, SAMPLE, SOLUTION, Files, Trial, as_texts, written_rows
from podium.hosting.kaggle import acceptance, emulate
from podium.metric.contract import Metric
from podium.metric.shapes import Finding, Level, demand, note
from podium.scoring import evaluating
from podium.tables import ids
from podium.tables.files import Location, ReadFile
from podium.tables.formats import csv_bytes

SAME = "is read by Kaggle as by podium"
IDS = "has ids that Kaggle reads as they are written"
WORDS = "has no word that Kaggle takes for empty"
ANOTHER_SAMPLE = "; name another sample submission by --sample, with answers that a table keeps as they are"
CLOSE = 1e-9  # relative: older pandas, as Kaggle's, may read another last bit of a decimal

ScoresOrError = Mapping[str, float] | ToolError  # the score of each part, or why there is none


class Seen(NamedTuple):
    """A solution and a submission as a reader sees them."""

    solution: pd.DataFrame
    submission: pd.DataFrame

    def is_like(self, other: "Seen") -> bool:
        """Whether neither a cell nor a type differs, so that the scores are the same."""
        pairs = zip(self, other)
        return all(one.reset_index(drop=True).equals(two.reset_index(drop=True)) for one, two in pairs)

    def first_difference(self, other: "Seen") -> str:
        """Describe the first cell, or else the first type of a column, that another reader sees otherwise."""
        for table, meant, found in zip(self._fields, self, other):
            if list(meant) != list(found) or len(meant) != len(found):
                return f"{table}: expected {_shape(meant)}, found {_shape(found)}"
            for name in meant:
                one, two = (each[name].astype(object).to_numpy() for each in (meant, found))
                rows = np.flatnonzero((one != two) & ~(pd.isna(one) & pd.isna(two)))
                if len(rows):
                    cells = f"expected {_cell(one[rows[0]])}, found {_cell(two[rows[0]])}"
                    return f"{table}, column {name}, row number {rows[0] + 1:,}: {cells}"
        for table, meant, found in zip(self._fields, self, other):
            for name in meant:
                if meant[name].dtype != found[name].dtype:
                    types = f"expected cells of type {meant[name].dtype}, found {found[name].dtype}"
                    return f"{table}, column {name}: {types}"
        return "nothing differs"


def check(files: Files, written: Mapping[str, ReadFile]) -> None:
    """Compare the files of a competition, as they were `written`, with the tables that they were made from.

    Scores that podium cannot give again are an error. What Kaggle alone reads otherwise is a warning here.
    """
    found, truth = list[Finding](), written[f"{PRIVATE}/{SOLUTION}"]
    metric, arguments = files.solution.metric, files.solution.arguments
    row_id = arguments["row_id_column_name"]
    truths = reading.read_solution(metric, truth, arguments), emulate.read_solution(metric, truth, row_id)
    with progress.shown("reading again") as show:
        for number, trial in enumerate(files.trials):
            show(number, len(files.trials))
            file = written.get(trial.name)
            if file is None:
                rows = written_rows(as_texts(trial.submission, metric))
                file = ReadFile("submission.csv", csv_bytes(rows))
            found += _compared(files.solution, trial, truths, file)
    demand({each.text: each for each in found}.values())


def _compared(
    solution: evaluating.Solution, trial: Trial, truths: Sequence[pd.DataFrame], file: ReadFile
) -> Iterable[Finding]:
    """Compare one submission with what podium reads, and that with what Kaggle reads."""
    metric, arguments = solution.metric, solution.arguments
    expected: ScoresOrError = trial.scores
    meant = Seen(solution.table, ids.as_in(solution.table, trial.submission, ids.columns_of(arguments)))
    ours = of_podium(metric, arguments, truths[0], file)
    if not ours.is_like(meant):
        expected = expected or outcome(metric, arguments, meant)
        if differs := _difference(expected, outcome(metric, arguments, ours), 0.0):
            found = (
                f"{trial.name} does not read back as it was meant: {meant.first_difference(ours)}; {differs}"
            )
            is_sample = trial.name == f"{PUBLIC}/{SAMPLE}" and not meant.submission.equals(ours.submission)
            raise HostError(found + (ANOTHER_SAMPLE if is_sample else ""))
    tables = emulate.read_tables(metric, truths[1], file, arguments["row_id_column_name"])
    return of_kaggle(metric, arguments, (ours, Seen(*tables[:2])), Path(file).name, expected)


def of_podium(
    metric: Metric, arguments: dict[str, Any], solution: pipeline.Source, submission: Location
) -> Seen:
    """The tables as podium sees them."""
    if not isinstance(solution, pd.DataFrame):
        solution = reading.read_solution(metric, solution, arguments)
    table = reading.read_submission(metric, submission, arguments)
    return Seen(solution, ids.as_in(solution, table, ids.columns_of(arguments)))


def of_kaggle(
    metric: Metric,
    arguments: dict[str, Any],
    both: tuple[Seen, Seen],
    name: str,
    expected: ScoresOrError | None = None,
) -> Iterator[Finding]:
    """Find what Kaggle reads otherwise than podium, by its ids, by the cells that get lost and by the scores.

    `both` is what podium and what Kaggle sees. The scores that podium gives are computed unless `expected`.
    """
    ours, theirs = both
    row_id = arguments["row_id_column_name"]
    if row_id in theirs.solution and (changed := acceptance.changed_ids(theirs.solution[row_id])):
        yield note(IDS, changed)
    yield from _words(ours, theirs, row_id)
    if theirs.is_like(ours):
        return
    expected = expected or outcome(metric, arguments, ours)
    if differs := _difference(expected, outcome(metric, arguments, theirs), CLOSE):
        text = f"{name}: {ours.first_difference(theirs)}; {differs}"
        yield Finding(SAME, Level.FAIL, text, acceptance.PLATFORM)


def _words(ours: Seen, theirs: Seen, row_id: str) -> Iterator[Finding]:
    """Name the columns of answers in which Kaggle takes a word such as NA or None for an empty cell."""
    for name in ours.solution.columns.intersection(ours.submission.columns).drop(row_id, errors="ignore"):
        lost = (ours.solution[name].notna() & theirs.solution[name].isna()).to_numpy()
        words = ours.solution[name][lost].astype(str)
        words = words[words.str.strip() != ""]
        if len(words):
            shown = " and ".join(map(repr, sorted(words.unique())[:3]))
            where = f"in {counted(len(words), 'row')}, the first one as row number {words.index[0] + 1:,}"
            cure = "no submission may have it there, so write another word in the labels"
            yield note(
                WORDS, f"the solution: Kaggle takes {shown} in the column {name} for empty, {where}; {cure}"
            )


def outcome(metric: Metric, arguments: dict[str, Any], seen: Seen) -> ScoresOrError:
    """Score what a reader sees, after the checks that platforms make before they call a metric."""
    row_id, complete = arguments["row_id_column_name"], metric.complete_submission
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            submission = emulate.as_kaggle_aligns(seen.solution, seen.submission, row_id, complete)
            return pipeline.unjudged(pipeline.prepared(metric, seen.solution, arguments), submission).scores
    except ToolError as problem:
        return problem


def _difference(expected: ScoresOrError, found: ScoresOrError, tolerance: float) -> str:
    """Say how what was found differs from the scores that were expected; nothing if it does not.

    A metric may refuse what podium has made up. Then no scores are expected.
    """
    if isinstance(expected, ToolError):
        return ""
    if isinstance(found, ToolError):
        return f"it gets no score: {found}"
    for part, score in expected.items():
        if not np.isclose(score, found[part], rtol=tolerance, atol=0, equal_nan=True):
            return f"its score in {part} is {found[part]:.9g} instead of {score:.9g}"
    return ""


def _shape(table: pd.DataFrame) -> str:
    """Describe the number of rows and the columns of a table."""
    return f"{counted(len(table), 'row')} of {', '.join(map(str, table))}"


def _cell(value: object) -> str:
    """Show a cell; a missing one has no value."""
    return "an empty cell" if value is None or value != value else f"{value!r:.60}"
