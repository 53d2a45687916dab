"""The parameters of a competition's metric, which travel with its files.

`podium make` writes them into the folder, beside ``public/`` and ``private/``. The commands that are given
the folder, or the solution in it, use them: what the site scores with is what the files were made for.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from podium import hosted
from podium.errors import HostError
from podium.files import write_atomically
from podium.hosted import Metric
from podium.hosting.folders import PRIVATE

RECORD = "competition.json"


class Record(NamedTuple):
    """What a competition's folder says of its metric.

    Attributes
    ----------
    path : Path
        The file that says it.
    metric : str
        The metric's name.
    parameters : dict
        Of its `score`, by name; those that are not named have their official values.
    """

    path: Path
    metric: str
    parameters: dict[str, Any]


def write(folder: Path, metric: str, parameters: Mapping[str, Any]) -> None:
    """Save a metric's name and its parameters in the folder of a competition."""
    text = json.dumps({"metric": metric, "parameters": dict(parameters)}, indent=2, ensure_ascii=False) + "\n"
    write_atomically(folder / RECORD, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def read(folder: Path) -> Record | None:
    """What the folder of a competition says of its metric; None if it has no record.

    Raises
    ------
    HostError
        If the file is damaged.
    """
    path = folder / RECORD
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Record(path, str(content["metric"]), dict(content["parameters"]))
    except (ValueError, KeyError, TypeError):
        raise HostError(
            f'{path}: expected {{"metric": NAME, "parameters": {{…}}}}, as podium make writes it'
        ) from None


def of_solution(solution: str | Path) -> Record | None:
    """The record of the folder in whose ``private/`` a solution lies; None for any other file."""
    path = Path(solution)
    return read(path.parent.parent) if path.parent.name == PRIVATE else None


def arguments(metric: Metric, given: Mapping[str, Any], recorded: Record | None) -> dict[str, Any]:
    """The parameters of the record, and those that are given beside them.

    Parameters
    ----------
    metric : Metric
        The metric to call. A record of another metric does not concern it.
    given : mapping
        What the user sets, by name.
    recorded : Record or None
        What the folder says.

    Returns
    -------
    dict
        Both together.

    Raises
    ------
    HostError
        If both name a parameter and the values differ, or the metric does not know a recorded one.
    """
    if recorded is None or recorded.metric != metric.name:
        return dict(given)
    official = hosted.defaults(metric)
    for name, value in recorded.parameters.items():
        if name not in official and name != "row_id_column_name":
            raise HostError(
                f"{recorded.path}: the metric has no parameter {name}; it has {', '.join(official)}"
            )
        if given.get(name, value) != value:
            raise HostError(
                f"{name} is {given[name]!r}, but the competition's files were made for {value!r}: "
                f"leave out --set {name}, or make the files anew (they are recorded in {recorded.path})"
            )
    return recorded.parameters | dict(given)
