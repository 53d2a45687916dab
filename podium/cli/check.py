"""Check that a metric file does everything that Kaggle demands.

    podium check metric.py
    podium check metric.py files/private/solution.csv files/public/sample_submission.csv
    podium check files            the metric, the solution and the sample that podium make wrote there
    podium check files/private/solution.csv my.csv     with a submission in place of the sample

Each line has a verdict and says what the file should do:

    pass    it does so
    note    it does not, and Kaggle accepts that
    FAIL    it does not, and Kaggle refuses the file
    ----    this could not be tried
"""

import contextlib
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.cli.arguments import OfTrial
from podium.common.errors import HostError, UsageError

if TYPE_CHECKING:
    import pandas as pd

    from podium.contest.recorded import Record
    from podium.metric.hosted import Metric
    from podium.metric.shapes import Finding


@dataclass(frozen=True)
class Options(OfTrial):
    """The options of ``podium check``.

    Parameters
    ----------
    metric : METRIC
        A Python file with a score(), a folder with a metric.py, or a metric's name. The folder that podium make
        has written, or its solution, names its metric, too.
    solution : SOLUTION
        A solution to try it with, besides its doctests (default: the folder's samples).
    submission : SUBMISSION
        A submission that must get a score.
    """

    metric: str
    solution: Path | None = None
    submission: Path | None = None


def _samples_beside(path: Path) -> tuple[Path, Path] | None:
    """Find the samples in the folder of a metric, as ``podium new`` writes them; None if there are none."""
    samples = [path.parent / "samples" / f"{name}.csv" for name in ("solution", "submission")]
    return (samples[0], samples[1]) if path.name == "metric.py" and all(map(Path.is_file, samples)) else None


def _completed(options: Options) -> "tuple[Options, Record | None]":
    """Take what was not given from the files of a competition, if their folder or their solution is named.

    The record is that of the competition.
    """
    from podium.contest import recorded
    from podium.hosting import folders
    from podium.metric import hosted

    named = Path(options.metric)
    folder = recorded.folder_of(named)
    is_metric = options.metric in hosted.names() or named.suffix == ".py"
    record = None if is_metric else recorded.read(folder)
    if record is None:
        return options, recorded.of(options.solution)
    tables = [each for each in (options.solution, options.submission) if each is not None]
    if folder != named:
        tables.insert(0, named)
    elif len(tables) < 2:
        tables.insert(0, folder / recorded.PRIVATE / folders.SOLUTION)
    if len(tables) > 2:
        raise UsageError(f"expected a metric, a solution and a submission, found {named} as the metric")
    options = replace(
        options,
        metric=recorded.chosen(record, None, how="in place of the folder")[0],
        solution=tables[0],
        submission=tables[1] if len(tables) > 1 else folder / folders.PUBLIC / folders.SAMPLE,
    )
    return options, record


def run(options: Options) -> None:
    """Try the file, and print one line per demand."""
    from podium.hosting.kaggle import acceptance
    from podium.metric import hosted
    from podium.metric.shapes import Level

    options, record = _completed(options)
    if (options.solution is None) != (options.submission is None):
        raise UsageError("give both a solution and a submission, or none")
    if options.set and options.solution is None:
        raise UsageError("--set: expected a solution and a submission, to be scored with it")
    path = hosted.find(options.metric).absolute()
    pair = _samples_beside(path)
    if options.solution is not None and options.submission is not None:
        pair = options.solution, options.submission
    if pair is None:
        with _elsewhere():
            results = acceptance.check(path)
            if results[0].level is not Level.FAIL:
                results += acceptance.check_contract(path)
    else:
        results = _tried(path, pair, record, options)
    results = acceptance.without_repetition(results)
    for result in results:
        line = f"{result.name}: {result.text}" if result.text else result.name
        print(f"{result.level.value}  {line}")
    levels = [result.level for result in results]
    if Level.FAIL in levels:
        raise HostError(f"{options.metric} fails {levels.count(Level.FAIL)} of {len(results)} checks")
    if acceptance.ANSWERED["score"] not in [result.name for result in results]:
        raise UsageError(
            "most checks could not be tried, as the file does not run here; the lines with ---- say why"
        )


def _tried(path: Path, given: tuple[Path, Path], record: "Record | None", options: Options) -> "list[Finding]":
    """Try the file with a solution and a submission, and print the scores first."""
    from podium.contest import recorded
    from podium.hosting import round_trip
    from podium.hosting.kaggle import acceptance, emulate
    from podium.metric.parameters import parse_parameters
    from podium.tables.files import read_once

    metric = acceptance.loaded(path, needed=bool(options.set))
    arguments = dict[str, Any]()
    if metric is not None:
        parameters = parse_parameters(metric, options.set)
        arguments = recorded.arguments(record, metric, parameters)
    named = arguments.get("row_id_column_name")
    files = read_once(given[0]), read_once(given[1])
    *tables, arguments["row_id_column_name"] = emulate.read_tables(metric, *files, named)
    theirs = round_trip.Seen(*tables)
    read: Iterable[Finding] = ()
    if metric is not None and not options.quick:
        both = round_trip.of_podium(metric, arguments, *files), theirs
        read = round_trip.of_kaggle(metric, arguments, both, given[1].name)
    with _elsewhere():
        return _findings(metric, path, theirs, read, arguments, options)


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """Work in an empty folder, where a metric that deletes files finds none of the user's."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield


def _findings(
    metric: "Metric | None",
    path: Path,
    tables: tuple["pd.DataFrame", "pd.DataFrame"],
    read: "Iterable[Finding]",
    arguments: dict[str, Any],
    options: Options,
) -> "list[Finding]":
    """Score, and say what is found in the metric, the solution, the submission and how they are `read`."""
    from podium.cli.console import tell_further_calls
    from podium.hosting.kaggle import acceptance, emulate
    from podium.metric.shapes import Finding, Level

    solution, submission = tables
    row_id = arguments["row_id_column_name"]
    scored, number, seconds = None, 0, 0.0
    if metric is not None:
        begun = time.monotonic()
        scored = acceptance.score(metric, (solution, submission), arguments)
        if not isinstance(scored, Finding):
            print(scored.score_lines, flush=True)
            seconds = (time.monotonic() - begun) / len(scored.scores)
            number = 0 if options.quick else acceptance.most_calls(metric, submission)
    complete = metric is not None and metric.complete_submission
    further = acceptance.check_solution(solution, row_id, complete)
    further += emulate.check_alignment(solution, submission, row_id, complete)
    tell_further_calls(number, seconds)
    results = acceptance.check(path, tables, arguments, options.quick)
    if metric is not None:
        further += read
        advice = metric.companion.advice or (lambda *_: ())
        further += [Finding(line, Level.NOTE) for line in advice(solution, arguments)]
    if results[0].level is Level.FAIL:
        return results + further
    return results + further + acceptance.check_contract(path, scored, options.quick)
