"""Try a metric file: does it obey everything that Kaggle demands?

    podium check metric.py
    podium check metric.py files/private/solution.csv files/public/sample_submission.csv --python 3.12

note: it does not, and Kaggle takes it; FAIL: Kaggle refuses it; ----: could not be tried.
"""

import argparse
from pathlib import Path

from podium.cli.arguments import add_parameters, parameters
from podium.errors import HostError, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("metric", help="a Python file with a score(), or a metric's name")
    parser.add_argument("solution", type=Path, nargs="?", help="to try it with, beside its doctests")
    parser.add_argument("submission", type=Path, nargs="?", help="which must be scored")
    add_parameters(parser)
    parser.add_argument(
        "--python", metavar="VERSION", help="try it with this Python, and Kaggle's versions of the libraries"
    )


def run(options: argparse.Namespace) -> None:
    from podium import hosted
    from podium.hosting import check, emulate, kernel
    from podium.scoring import USAGE

    if (options.solution is None) != (options.submission is None):
        raise UsageError("give both a solution and a submission, or none")
    if options.set and options.solution is None:
        raise UsageError("--set: expected a solution and a submission, to be scored with it")
    path = hosted.find(options.metric)
    frames, arguments = None, None
    advice: list[str] = []
    if options.solution is not None:
        metric, solution, submission, arguments = emulate.inputs(
            path,
            options.solution,
            options.submission,
            lambda loaded: parameters(loaded, options.set, options.solution),
        )
        frames = solution.drop(columns=USAGE, errors="ignore"), submission
        advise = metric.companion.advice
        advice = [] if advise is None else advise(solution, arguments)
    results = check.check(path, frames, arguments, options.python)
    for name, verdict, remark in results:
        print(f"{verdict}  {name}{': ' * bool(remark)}{remark}")
    for line in advice:
        print(f"{kernel.NOTE}  {line}")
    failed = sum(result.verdict == kernel.FAIL for result in results)
    if failed:
        raise HostError(f"{options.metric} fails {failed} of {len(results)} checks")
