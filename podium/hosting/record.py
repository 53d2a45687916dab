"""Keep the parameters of a competition's metric together with its files.

`podium make` writes them into the competition's folder, beside ``public/`` and ``private/``.  `podium publish`
and `podium bundle` add those with which the competition goes out.  Commands that get the folder, or the
solution in it, use them.  So the site and every command score with the same parameters.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from podium import hosted
from podium.errors import HostError
from podium.files import write_atomically
from podium.hosted import Metric
from podium.hosting.folders import PRIVATE

RECORD = "competition.json"
PUBLIC_COLUMNS = "public_columns"


class Record(NamedTuple):
    """The record of a competition's metric.

    Attributes
    ----------
    path : Path
        The file of the record.
    metric : str
        The metric's name.
    parameters : dict
        The parameters of its ``score`` by name.  Parameters that are not named have their official values.
    public_columns : sequence of str
        The columns of the solution that participants may know, as the metric's companion or the host says.
    """

    path: Path
    metric: str
    parameters: dict[str, Any]
    public_columns: Sequence[str] = ()


def write(folder: Path, metric: str, parameters: Mapping[str, Any], public_columns: Sequence[str] = ()) -> None:
    """Save a metric's name and its parameters in the folder of a competition; keep the public columns.

    Parameters
    ----------
    folder : Path
        The competition's folder.
    metric : str
        The metric's name.
    parameters : mapping of str to object
        The parameters of its ``score`` by name.
    public_columns : sequence of str
        The columns of the solution that participants may know.  If there is a record already, its own are kept.
    """
    content: dict[str, Any] = {"metric": metric, "parameters": dict(parameters)}
    before = read(folder)
    known = public_columns if before is None else before.public_columns
    if known:
        content[PUBLIC_COLUMNS] = list(known)
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_atomically(folder / RECORD, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def read(folder: Path) -> Record | None:
    """Read the record in the folder of a competition.

    Parameters
    ----------
    folder : Path
        The competition's folder.

    Returns
    -------
    Record or None
        The record; None if the folder has none.

    Raises
    ------
    HostError
        If the file of the record is damaged.
    """
    path = folder / RECORD
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        public = content.get(PUBLIC_COLUMNS, [])
        if not isinstance(public, list) or not all(isinstance(name, str) for name in public):
            raise HostError(f'{path}: {PUBLIC_COLUMNS}: expected a list such as ["site"], found {public!r:.60}')
        return Record(path, str(content["metric"]), dict(content["parameters"]), public)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise HostError(
            f'{path}: expected {{"metric": NAME, "parameters": {{…}}}}, as podium make writes it'
        ) from None


def of_solution(solution: str | Path) -> Record | None:
    """Read the record of the competition to which a solution belongs.

    Parameters
    ----------
    solution : str or Path
        The file of the solution.

    Returns
    -------
    Record or None
        The record; None if the file is not in a folder ``private/`` beside a record.

    Raises
    ------
    HostError
        If the file of the record is damaged.
    """
    path = Path(solution)
    return read(path.parent.parent) if path.parent.name == PRIVATE else None


def arguments(metric: Metric, given: Mapping[str, Any], recorded: Record | None) -> dict[str, Any]:
    """Combine the recorded parameters with those that the user sets.

    Parameters
    ----------
    metric : Metric
        The metric to call.  A record of another metric is ignored.
    given : mapping of str to object
        The parameters that the user sets, by name.
    recorded : Record or None
        The record of the competition, if there is one.

    Returns
    -------
    dict
        The parameters of both.

    Raises
    ------
    HostError
        If the two have different values for a parameter, or if the metric does not know a recorded parameter.
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
                f"leave out --set {name}, make the files anew, or change the value in {recorded.path}"
            )
    return recorded.parameters | dict(given)
