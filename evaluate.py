"""Score one submission on your own machine and see where the score comes from.

    python evaluate.py solution_sample.csv sample_submission.csv
    python evaluate.py solution_sample.csv sample_submission.csv --report report.html

Exit codes: 0 done, 2 wrong usage, 3 the submission is rejected (why is on stderr), 4 the solution, a
parameter or the metric file is wrong.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from competition import compare, console, explain, metric_file, progress, report, scoring
from competition.errors import SubmissionRejected, UsageError, run


def main(arguments: list[str]) -> None:
    options = parse(arguments)
    check_outputs(options)
    metric = metric_file.load(options.metric)
    parameters = metric_file.parse_parameters(metric, options.set)
    solution = scoring.read_solution(metric, options.solution, parameters)
    submission = scoring.read_submission(metric, options.submission, parameters)
    with progress.shown("scoring") as show:
        if hasattr(metric, "progress"):
            vars(metric)["progress"] = show
        prepared = scoring.prepare(metric, solution, parameters)
        result = scoring.evaluate(prepared, submission)
        other = None if options.compare is None else evaluate_other(options.compare, prepared)
    evaluation = result.evaluations.get(scoring.ALL)
    check_offers(evaluation, options)

    resamples = compare.RESAMPLES if options.bootstrap is None else options.bootstrap
    extras: dict[str, pd.DataFrame] = {}
    if options.bootstrap or (options.report and hasattr(evaluation, "resample")):
        extras["intervals"] = compare.intervals(evaluation, resamples, options.seed)
    if other is not None:
        extras["comparison"] = compare.compare(evaluation, other, resamples, options.seed)
    if options.segments:
        write(options.segments, lambda path: explain.write_segments(evaluation, path))
    if options.report:
        texts = {} if options.texts is None else report.read_texts(options.texts, evaluation)
        page = report.render(
            result,
            title=f"{options.submission.name} scored against {options.solution.name}",
            other=None if options.compare is None else options.compare.name,
            texts=texts,
            most_items=options.report_essays,
            **extras,
        )
        write(options.report, lambda path: report.write(page, path))
    if options.json:
        print_json(result, extras)
    else:
        print_report(result, extras, options, resamples)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="evaluate.py", description="Score one submission and see where the score comes from."
    )
    parser.add_argument("solution", type=Path, help="the truth, .csv or .csv.gz")
    parser.add_argument("submission", type=Path, help="the predictions, .csv or .csv.gz")
    parser.add_argument(
        "--metric",
        type=Path,
        default=Path(__file__).with_name("metric.py"),
        metavar="FILE",
        help="a Python file with a score() (default: metric.py beside this file)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the metric, such as temperature=80; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--segments",
        type=Path,
        metavar="CSV",
        help="write what became of every segment, and the points that it lost, to a .csv or .csv.gz",
    )
    parser.add_argument("--bootstrap", type=positive, metavar="N", help="95%% intervals from N resamples")
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="SUBMISSION",
        help="the difference to another submission, its 95%% interval and p-value",
    )
    parser.add_argument("--seed", type=natural, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--report", type=Path, metavar="HTML", help="write all of it as one page")
    parser.add_argument(
        "--texts",
        type=Path,
        metavar="FOLDER_OR_CSV",
        help="the essays to show in the report: ESSAY_ID.txt files, or a CSV with essay_id and text",
    )
    parser.add_argument(
        "--report-essays",
        type=natural,
        metavar="N",
        help=f"how many essays to show, those that lost most (default: {report.MOST_ITEMS})",
    )
    options = parser.parse_args(arguments)
    if options.report is None and (options.texts is not None or options.report_essays is not None):
        parser.error("--texts and --report-essays need --report")
    if options.report_essays is None:
        options.report_essays = report.MOST_ITEMS
    return options


def natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return number


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return number


def evaluate_other(path: Path, prepared: scoring.Prepared) -> Any:
    """The evaluation of the submission to compare with."""
    submission = scoring.read_submission(prepared.metric, path, prepared.arguments)
    try:
        return scoring.evaluate(prepared, submission).evaluations.get(scoring.ALL)
    except SubmissionRejected as problem:
        raise SubmissionRejected(f"{path}: {problem}") from problem


def check_outputs(options: argparse.Namespace) -> None:
    """What is to be written can be, as far as one can tell before the work, and is none of the inputs.

    Raises
    ------
    UsageError
    """
    inputs = [options.solution, options.submission, options.compare, options.metric, options.texts]
    taken = {os.path.realpath(path) for path in inputs if path is not None}
    for path in (options.segments, options.report):
        if path is None:
            continue
        if os.path.realpath(path) in taken:
            raise UsageError(f"cannot write {path}: it is another file of this command")
        taken.add(os.path.realpath(path))
        folder = next(parent for parent in Path(os.path.abspath(path)).parents if os.path.exists(parent))
        if os.path.isdir(path):
            raise UsageError(f"cannot write {path}: it is a folder")
        if not os.path.isdir(folder):
            raise UsageError(f"cannot write {path}: {folder} is no folder")
        if not os.access(folder, os.W_OK):
            raise UsageError(f"cannot write {path}: no permission to write into {folder}")


def check_offers(evaluation: Any, options: argparse.Namespace) -> None:
    """The metric offers what the options ask for.

    Raises
    ------
    UsageError
    """
    needed = {
        "segments": ["segments"],
        "bootstrap": ["measures", "items", "resample"],
        "compare": ["measures", "items", "resample"],
        "report": ["score"],
    }
    for option, parts in needed.items():
        if getattr(options, option) is None:
            continue  # only to look for a table may take long: it is made when it is asked for
        lacking = [part for part in parts if not hasattr(evaluation, part)]
        if lacking:
            raise UsageError(
                f"--{option}: {options.metric.name} does not offer "
                f"{'evaluate()' if evaluation is None else ', '.join(lacking)}"
            )


def write(path: Path, save: Callable[[Path], None]) -> None:
    try:
        save(path)
    except OSError as problem:
        raise UsageError(f"cannot write {path}: {problem.strerror or problem}") from None


def print_report(
    result: scoring.Result, extras: dict[str, pd.DataFrame], options: argparse.Namespace, resamples: int
) -> None:
    for part, score in result.scores.items():
        print(f"{'Score' if part == scoring.ALL else part:<8} {score:.6f}")
    evaluation = result.evaluations.get(scoring.ALL)
    if evaluation is None:
        return
    for title, table in getattr(evaluation, "tables", {}).items():
        console.print_table(title, table)
    drawn = f"{resamples:,} resamples, seed {options.seed}"
    if options.bootstrap:
        console.print_table(f"95% intervals ({drawn})", extras["intervals"])
    if options.compare:
        console.print_table(f"Compared with {options.compare.name} ({drawn})", extras["comparison"])
    print(f"\n{evaluation.signature}")
    for path in (options.segments, options.report):
        if path is not None:
            print(f"written to {path}")
    sys.stdout.flush()
    for notice in getattr(evaluation, "notices", []):
        print(f"warning: {notice}", file=sys.stderr)


def print_json(result: scoring.Result, extras: dict[str, pd.DataFrame]) -> None:
    values: dict[str, Any] = {
        "score" if part == scoring.ALL else part.lower(): score for part, score in result.scores.items()
    }
    evaluation = result.evaluations.get(scoring.ALL)
    if evaluation is not None:
        values |= {
            "signature": evaluation.signature,
            "tables": getattr(evaluation, "tables", {}),
            "warnings": getattr(evaluation, "notices", []),
        }
    console.print_json(values | extras)


if __name__ == "__main__":
    sys.exit(run(main))
