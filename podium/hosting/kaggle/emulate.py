"""Treat a submission as Kaggle would, and show what Kaggle would show, as far as this is known."""

import ast
import contextlib
import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd

from podium.common.errors import HostError, SubmissionRejected, ToolError, UsageError
from podium.contest import pipeline, reading
from podium.hosting import columns
from podium.hosting.bundles.evaluator import UNEXPECTED
from podium.hosting.bundles.program import imported
from podium.hosting.folders import as_texts, written_rows
from podium.hosting.kaggle import acceptance, fresh, kernel
from podium.metric import adapted, hosted, shapes
from podium.metric.shapes import FINITE, Finding, Level
from podium.scoring import evaluating, misfits
from podium.scoring.alignment import aligned
from podium.scoring.evaluating import ALL
from podium.tables import ids
from podium.tables.files import AS_CSV, Location, not_utf_8, read_bytes
from podium.tables.formats import PARQUET, csv_bytes, csv_of, parse_table


class FailedError(HostError):
    """The metric raised an error that is none of its messages for participants."""


class PartScore(NamedTuple):
    """The score that Kaggle would give for one part."""

    part: str  # "Public" or "Private", or "All" if the solution has no column `Usage`
    score: float  # the score of the part
    seconds: float  # the wall-clock seconds that ``score`` took


def emulate(
    metric: hosted.Metric,
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    arguments: dict[str, Any],
    complete_submission: bool,
) -> Iterator[PartScore]:
    """Score every part in a process of its own, as Kaggle does."""
    source = fresh.read_source(metric.path)
    packages = imported(ast.parse(source))
    for package in sorted(packages):
        if hosted.stands_beside(metric.path, package):
            raise HostError(
                f"{metric.path.name} is uploaded alone: copy into it what it needs of {package}, which stands "
                "beside it"
            )
    row_id, arguments = arguments["row_id_column_name"], adapted.own_arguments(metric, arguments)
    columns.check_present(solution, [row_id], "the solution")
    given = {**arguments, "row_id_column_name": row_id}
    with _compared(replace(metric, complete_submission=complete_submission), solution, submission, given):
        submission = as_kaggle_aligns(solution, submission, row_id, complete_submission)
        seconds_left = fresh.TIME_LIMIT
        for part, frames in acceptance.frames_of_parts(solution, submission, complete_submission):
            with _named(part):
                answer = run_part(seconds_left, source=source, arguments=arguments, **frames)
            score = PartScore(part, **answer)
            seconds_left -= score.seconds
            yield score


@contextlib.contextmanager
def _compared(
    metric: hosted.Metric, solution: pd.DataFrame, submission: pd.DataFrame, arguments: dict[str, Any]
) -> Iterator[None]:
    """Say to the host how a submission differs from the solution with which a metric refuses it, or fails."""
    try:
        yield
    except (SubmissionRejected, FailedError) as problem:
        why = list[misfits.Misfit]()
        with contextlib.suppress(ToolError):
            why = pipeline.differences(pipeline.prepared(metric, solution, arguments), submission, problem)
        if not why:
            raise
        raise pipeline.for_host(why, problem) from problem


@contextlib.contextmanager
def _named(part: str) -> Iterator[None]:
    """Say to the host in which part a metric fails."""
    try:
        yield
    except HostError as problem:
        raise type(problem)(f"{problem}{'' if part == ALL else f', in the {part} part'}") from None


def read_solution(metric: hosted.Metric | None, path: Location, row_id: str | None = None) -> pd.DataFrame:
    """Read a solution as Kaggle does, but with the ids as they stand in the file.

    An official file is read by the metric's companion.
    """
    if metric is not None and metric.companion.read_solution is not None and not _is_csv(path):
        return _as_kaggle_reads(metric, reading.read_solution(metric, path, {}))
    table = _read_csv(path, HostError, row_id)
    return ids.of_solution(table, str(table.columns[0]) if row_id is None else row_id)


def read_submission(metric: hosted.Metric | None, path: Location, row_id: str | None = None) -> pd.DataFrame:
    """Read a submission as `read_solution` reads a solution."""
    if metric is not None and metric.companion.read_submission is not None and not _is_csv(path):
        return _as_kaggle_reads(metric, reading.read_submission(metric, path, {}))
    return _read_csv(path, SubmissionRejected, row_id)


def read_tables(
    metric: hosted.Metric | None, solution: pipeline.Source, submission: Location, row_id: str | None
) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Read a solution and a submission whose ids are of one type, and the name of the column of ids."""
    truth = solution if isinstance(solution, pd.DataFrame) else read_solution(metric, solution, row_id)
    if row_id is None:
        row_id = str(truth.columns[0]) if metric is None else evaluating.row_ids(metric, truth)
    answers = read_submission(metric, submission, row_id)
    reading.check_order(truth.columns, answers.columns, submission)
    return truth, ids.as_in(truth, answers, [row_id]), row_id


def _is_csv(path: Location) -> bool:
    """Whether a file is a table as Kaggle takes it, and no official file of a metric."""
    return str(path).endswith((".csv", ".csv.gz"))


def _as_kaggle_reads(metric: hosted.Metric, table: pd.DataFrame) -> pd.DataFrame:
    """A table as Kaggle reads it from a CSV, in which a space stands for an empty text."""
    content = csv_bytes(written_rows(as_texts(table, metric)))
    return pd.read_csv(io.BytesIO(content), low_memory=False)


def _read_csv(path: Location, error: type[ToolError], row_id: str | None) -> pd.DataFrame:
    """Read a CSV as Kaggle does, but its row ids as texts; they are in the first column if it is not named."""
    content = read_bytes(path)
    if content.startswith(PARQUET):
        raise error(f"{path}: expected a CSV, as Kaggle takes it, found Parquet; write it with to_csv")
    content = csv_of(content, str(path), error)
    try:
        table = pd.read_csv(io.BytesIO(content), low_memory=False)
        row_id = str(table.columns[0]) if row_id is None else row_id
    except UnicodeDecodeError:
        raise error(f"{path}: {not_utf_8(io.BytesIO(content))}; {AS_CSV}") from None
    except (ValueError, csv.Error) as problem:
        parse_table(content, str(path), set(), error)  # which says it in other words than those of pandas
        raise error(f"{path} is not a CSV table: {' '.join(str(problem).split())}") from None
    texts = parse_table(content, str(path), {row_id}, error)
    return table.assign(**{row_id: texts[row_id]}) if row_id in table and row_id in texts else table


def as_kaggle_aligns(
    solution: pd.DataFrame, submission: pd.DataFrame, row_id: str, complete_submission: bool
) -> pd.DataFrame:
    """Make the checks that Kaggle makes before it calls the metric, and put rows into the solution's order."""
    if not complete_submission:
        return aligned(solution, submission, row_id)
    if row_id not in submission:
        raise SubmissionRejected(f"ID column {row_id} not found in submission")
    ids.refuse_empty(submission)
    return submission


def check_alignment(
    solution: pd.DataFrame, submission: pd.DataFrame, row_id: str, complete_submission: bool
) -> Iterator[Finding]:
    """Tell why Kaggle rejects a submission before it calls the metric; what is wrong with the solution, others
    tell.
    """
    try:
        as_kaggle_aligns(solution, submission, row_id, complete_submission)
    except SubmissionRejected as problem:
        cure = f" ({problem.for_host})" if problem.for_host else ""
        yield Finding(FINITE, Level.FAIL, f"Kaggle rejects the submission: {problem}{cure}")
    except (HostError, KeyError):
        return


def run_part(seconds: float, **task: Any) -> dict[str, Any]:
    """Score one part in a process of its own."""
    try:
        answer = fresh.run_fresh("score", seconds=seconds, **task)
    except HostError as problem:
        raise HostError(f"{UNEXPECTED}\nhost only: {problem}") from None
    if "error" not in answer:
        return answer
    if answer["error"] == "ParticipantVisibleError":
        raise SubmissionRejected(answer["text"][: kernel.LONGEST_MESSAGE])
    if answer["library"]:
        library = answer["library"]
        raise UsageError(
            f"the metric needs {library}, which is not installed here: pip install it and try again"
        )
    line = f" ({answer['line']})" if answer["line"] else ""
    told = f"{answer['error']}: {answer['text']}{line}"
    if shapes.misses_usage(answer["error"], answer["text"]):
        told += f". {shapes.WITHOUT_USAGE}"
    raise FailedError(f"{UNEXPECTED}\nhost only: {told}")
