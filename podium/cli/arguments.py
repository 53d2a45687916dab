"""Declare and read the arguments that several commands share."""

import argparse
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from podium.common.errors import HostError, UsageError
from podium.common.options import Values, whole_number

if TYPE_CHECKING:
    from podium.hosting.competition import Competition

RECORD = "competition.json"  # as in `podium.contest.recorded`, which takes long to import


def seconds(text: str) -> float:
    """Parse a time such as 90s."""
    from podium.running.settings import parse_seconds

    try:
        return parse_seconds(text, "it")
    except UsageError:
        raise argparse.ArgumentTypeError(f"expected a time such as 90s or 20m, found {text}") from None


def competition(options: "OfCompetition") -> "Competition":
    """The competition that the options name, with the parameters that its record has."""
    from podium.contest import recorded
    from podium.hosting.competition import Competition
    from podium.hosting.competition_pages import summary
    from podium.hosting.folders import row_id
    from podium.metric import hosted
    from podium.metric.parameters import parse_parameters

    record = recorded.read(options.files)
    metric = hosted.load(recorded.chosen(record, options.metric)[0])
    if record is not None and not record.is_of(metric):
        raise HostError(
            f"expected the metric {record.metric!r}, for which the files were made (see {record.path}), "
            f"found {options.metric}: name the metric by --metric"
        )
    given = parse_parameters(metric, options.set)
    return Competition(
        folder=options.files,
        metric=metric,
        arguments={"row_id_column_name": row_id(options.files)} | recorded.arguments(record, metric, given),
        title=options.title,
        subtitle=options.subtitle or summary(metric) or options.title,
    )


def is_of_competition(given: Mapping[str, Any]) -> bool:
    """Whether what a command was given lies in the folder of a competition, whose record names the metric."""
    places = [Path(given[name]) for name in ("files", "solution") if given.get(name) is not None]
    return any((each / RECORD).is_file() for place in places for each in (place, place.parent.parent))


def with_solution(given: dict[str, Any]) -> dict[str, Any]:
    """Put the solution of a competition in the place of the folder that podium make has written."""
    folder = given.get("solution")
    if folder is None or not Path(folder, RECORD).is_file():
        return given
    return given | {"solution": type(folder)(Path(folder, "private", "solution.csv"))}


def check_outputs(outputs: Iterable[str | Path | None], inputs: Iterable[object]) -> None:
    """Check before the work that files can be written on this machine, and that none would replace another."""
    taken = {os.path.realpath(str(path)) for path in inputs if path is not None}
    for path in filter(None, outputs):
        # One letter is a drive of Windows.
        is_address, file = re.match("[a-zA-Z0-9+.-]{2,}:/", str(path)), os.path.realpath(str(path))
        if is_address or file in taken or os.path.isdir(file):
            found = "a folder" if os.path.isdir(file) else "another file of this command"
            raise UsageError(f"cannot write {path}: it is {'an address' if is_address else found}")
        folder = next(each for each in Path(file).parents if each.exists())
        if not (folder.is_dir() and os.access(folder, os.W_OK)):
            raise UsageError(f"cannot write {path}: you may not write into {folder}")
        taken.add(file)


not_negative, positive = whole_number(0), whole_number(1)
share = Values("a share between 0 and 1, such as 0.4", lambda number: 0 < number < 1, float)
probability = Values("a probability from 0 to 1, such as 0.5", lambda number: 0 <= number <= 1, float)


# ---- The options that several commands have ----------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class OfParameters:
    """The parameters of a metric.

    Parameters
    ----------
    set : NAME=VALUE
        A parameter of the metric, such as temperature=80; may be repeated.
    """

    set: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class OfMetric(OfParameters):
    """A metric with its parameters.

    Parameters
    ----------
    metric : METRIC
        A built-in metric, such as scifact, a Python file with a score(), or a folder with a
        metric.py (default: the one that the files of podium make name, or else unified).
    """

    metric: str | None = None


@dataclass(frozen=True, kw_only=True)
class OfLimits:
    """How long a metric that a stranger wrote may take.

    Other Parameters
    ----------------
    time_limit : TIME
        End a custom metric after so much processor time, such as 90s or 20m (default: never).
    idle_limit : TIME
        End a custom metric that uses no processor time for so long (default: 60s).
    """

    time_limit: Annotated[float | None, seconds] = None
    idle_limit: Annotated[float | None, seconds] = None


@dataclass(frozen=True, kw_only=True)
class OfTrial(OfLimits, OfParameters):
    """How a metric is tried.

    Parameters
    ----------
    quick : bool
        Score each part once, and leave out what calls score() again, for a metric that is slow.
    """

    quick: bool = False


@dataclass(frozen=True)
class OfCompetition(OfMetric):
    """A competition to put on a site.

    Parameters
    ----------
    site : SITE
        The site that will host the competition.
    files : FILES
        The folder that podium make wrote.
    metric : METRIC
        The metric of the competition (default: the one for which podium make has made the files).
    title : TITLE
        The title of the competition.
    subtitle : SUBTITLE
        One line below the title (default: the first line of the metric's docstring).
    """

    site: str
    files: Path
    _: KW_ONLY
    metric: str | None = None
    title: str
    subtitle: str | None = None
