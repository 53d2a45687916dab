"""Score one submission on your own machine and see where the score comes from.

    python evaluate.py solution_sample.csv sample_submission.csv

Exit codes: 0 done, 2 wrong usage, 3 the submission is rejected (why is on stderr), 4 the solution, a
parameter or the metric file is wrong.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from competition import console, metric_file, scoring
from competition.errors import run


def main(arguments: list[str]) -> None:
    options = parse(arguments)
    metric = metric_file.load(options.metric)
    parameters = metric_file.parse_parameters(metric, options.set)
    solution = scoring.read_solution(metric, options.solution, parameters)
    submission = scoring.read_submission(metric, options.submission, parameters)
    prepared = scoring.prepare(metric, solution, parameters)
    result = scoring.evaluate(prepared, submission)
    if options.json:
        print_json(result)
    else:
        print_report(result)


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
    return parser.parse_args(arguments)


def print_report(result: scoring.Result) -> None:
    for part, score in result.scores.items():
        print(f"{'Score' if part == scoring.ALL else part:<8} {score:.6f}")
    evaluation = result.evaluations.get(scoring.ALL)
    if evaluation is None:
        return
    for title, table in getattr(evaluation, "tables", {}).items():
        console.print_table(title, table)
    print(f"\n{evaluation.signature}", flush=True)
    for notice in getattr(evaluation, "notices", []):
        print(f"warning: {notice}", file=sys.stderr)


def print_json(result: scoring.Result) -> None:
    report: dict[str, Any] = {
        "score" if part == scoring.ALL else part.lower(): score for part, score in result.scores.items()
    }
    evaluation = result.evaluations.get(scoring.ALL)
    if evaluation is not None:
        report |= {
            "signature": evaluation.signature,
            "tables": getattr(evaluation, "tables", {}),
            "warnings": getattr(evaluation, "notices", []),
        }
    console.print_json(report)


if __name__ == "__main__":
    sys.exit(run(main))
