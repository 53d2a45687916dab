"""Arguments of several commands."""

import argparse
import datetime
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import HostError, UsageError

if TYPE_CHECKING:
    from podium.hosted import Metric


def add_metric(parser: argparse.ArgumentParser) -> None:
    """--metric, --set."""
    parser.add_argument(
        "--metric",
        default="unified",
        metavar="METRIC",
        help="one of podium's own metrics, a Python file with a score(), or a folder with a metric.py "
        "(default: unified)",
    )
    add_parameters(parser)


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """--set."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the metric, such as temperature=80; may be repeated",
    )


def add_competition(parser: argparse.ArgumentParser) -> None:
    """A competition to put on a platform."""
    parser.add_argument("files", type=Path, help="the folder that podium make wrote")
    parser.add_argument("--title", required=True, help="title of the competition")
    parser.add_argument("--subtitle", help="one line under the title (default: the metric's first line)")
    add_metric(parser)


def competition(options: argparse.Namespace, metric: "Metric") -> dict[str, Any]:
    """What `add_competition` was given, for `podium.hosting.competition.Competition`."""
    from podium.hosting import record
    from podium.hosting.competition import summary
    from podium.hosting.folders import PRIVATE, SOLUTION, row_id

    first_column = row_id(options.files)
    recorded = record.read(options.files)
    if recorded is not None and recorded.metric != metric.name:
        raise HostError(
            f"expected the metric {recorded.metric!r}, for which the files were made (see {recorded.path}), "
            f"found {options.metric}: say which by --metric"
        )
    solution = options.files / PRIVATE / SOLUTION
    return {
        "folder": options.files,
        "metric": metric,
        "arguments": {"row_id_column_name": first_column} | parameters(metric, options.set, solution),
        "title": options.title,
        "subtitle": options.subtitle or summary(metric) or options.title,
    }


def parameters(metric: "Metric", assignments: list[str], solution: str | Path) -> dict[str, Any]:
    """The metric's parameters: those given by --set, and those that the solution's folder records.

    The latter are shown on stderr; `HostError` if the two contradict each other.
    """
    from podium import hosted
    from podium.hosting import record

    recorded = record.of_solution(solution)
    arguments = record.arguments(metric, hosted.parse_parameters(metric, assignments), recorded)
    if recorded is not None and recorded.parameters and recorded.parameters.items() <= arguments.items():
        shown = ", ".join(f"{name}={value}" for name, value in recorded.parameters.items())
        print(f"parameters of {recorded.path}: {shown}", file=sys.stderr)
    return arguments


def check_outputs(outputs: Iterable[Any], inputs: Iterable[Any]) -> None:
    """What is to be written can be, as far as one can tell before the work, and is none of the inputs."""
    taken = {os.path.realpath(path) for path in inputs if path is not None}
    for path in outputs:
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


def moment(text: str) -> datetime.datetime:
    """A time, in UTC without a time zone."""
    try:
        when = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: expected a date such as 2027-01-15T12:00Z") from None
    return when if when.tzinfo is None else when.astimezone(datetime.UTC).replace(tzinfo=None)


def natural(text: str) -> int:
    """A whole number, at least 0."""
    return _at_least(0, text)


def positive(text: str) -> int:
    """A whole number, at least 1."""
    return _at_least(1, text)


def _at_least(least: int, text: str) -> int:
    if int(text) < least:
        raise argparse.ArgumentTypeError(f"{text} is below {least}")
    return int(text)


def share(text: str) -> float:
    """A number between 0 and 1, both excluded."""
    number = float(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number
