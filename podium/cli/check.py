"""Check that a metric file does everything that Kaggle demands.

    podium check metric.py
    podium check metric.py files/private/solution.csv files/public/sample_submission.csv --python 3.12

Each line has a verdict and says what the file should do:

    pass    it does so
    note    it does not, and Kaggle accepts that
    FAIL    it does not, and Kaggle refuses the file
    ----    this could not be tried
"""

import argparse
from contextlib import suppress
from pathlib import Path

from podium.cli.arguments import add_parameters, parameters
from podium.errors import HostError, ToolError, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium check``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of the command.
    """
    parser.add_argument(
        "metric", help="a Python file with a score(), a folder with a metric.py, or a metric's name"
    )
    parser.add_argument(
        "solution",
        type=Path,
        nargs="?",
        help="a solution to try it with, besides its doctests (default: the folder's samples)",
    )
    parser.add_argument("submission", type=Path, nargs="?", help="a submission that must get a score")
    add_parameters(parser)
    parser.add_argument(
        "--python",
        metavar="VERSION",
        help="try it with this Python, and Kaggle's versions of the libraries (default: this Python)",
    )


def _samples_beside(path: Path) -> tuple[Path, Path] | None:
    """Find the samples in the folder of a metric, as ``podium new`` writes them; None if there are none."""
    samples = [path.parent / "samples" / f"{name}.csv" for name in ("solution", "submission")]
    return (samples[0], samples[1]) if path.name == "metric.py" and all(map(Path.is_file, samples)) else None


def run(options: argparse.Namespace) -> None:
    """Try the file, and print one line per demand.

    Parameters
    ----------
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Raises
    ------
    UsageError
        An option or a file is not as expected.
    HostError
        The file fails a check, or the solution or a parameter is wrong.
    """
    from podium import hosted
    from podium.hosting import check, emulate, kernel, unloaded
    from podium.scoring import USAGE

    if (options.solution is None) != (options.submission is None):
        raise UsageError("give both a solution and a submission, or none")
    if options.set and options.solution is None:
        raise UsageError("--set: expected a solution and a submission, to be scored with it")
    path = hosted.find(options.metric)
    given = (options.solution, options.submission) if options.solution else _samples_beside(path)
    metric = None
    frames, arguments, tables = None, None, None
    further: list[check.Check] = []
    advice: list[str] = []
    if given is not None:
        metric, solution, submission, arguments = emulate.inputs(
            path, given[0], given[1], lambda unrun: parameters(unrun, options.set, given[0])
        )
        frames = solution.drop(columns=USAGE, errors="ignore"), submission
        row_id = arguments["row_id_column_name"]
        further = check.check_solution(solution, row_id, metric.complete_submission)
        tables = solution, submission
        advise = metric.companion.advice
        advice = [] if advise is None else advise(solution, arguments)
    results = [*check.check(path, frames, arguments, options.python), *further]
    with suppress(ToolError):  # A file that cannot be read has already failed a check above.
        metric = unloaded.metric(path) if metric is None else metric
        results += check.check_contract(metric, tables, arguments)
    for name, verdict, remark in results:
        print(f"{verdict}  {name}{': ' * bool(remark)}{remark}")
    for line in advice:
        print(f"{kernel.NOTE}  {line}")
    failed = sum(result.verdict == kernel.FAIL for result in results)
    if failed:
        raise HostError(f"{options.metric} fails {failed} of {len(results)} checks")
    untried = sum(result.verdict == kernel.UNTRIED for result in results)
    if check.Check(check.CHECKS["score"], kernel.UNTRIED) in results:
        raise UsageError(
            f"{untried} of {len(results)} checks could not be tried, as the file does not run here; the lines "
            "with ---- say why"
        )
