"""The record of a competition: the metric and the parameters for which its files were made.

`podium make` writes the record beside ``public/`` and ``private/``. `podium publish` and `podium bundle` add
the parameters with which the competition goes out. Commands that get the folder, or the solution in it, use
them. So the site and every command score with the same parameters.
"""

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from podium.metric import hosted
from podium.metric.contract import Metric
from podium.tables.files import Location, write_atomically
from podium.words.errors import HostError
from podium.words.wording import printable

RECORD = "competition.json"
PRIVATE = "private"  # the folder of the solution, beside which the record lies
PUBLIC_COLUMNS, INNOCENT, DIGEST = "public_columns", "innocent", "metric_sha256"


class Record(NamedTuple):
    """The record of a competition's metric."""

    path: Path  # the file of the record
    metric: str  # the metric's name
    # The parameters of its ``score`` by name. Parameters that are not named have their official values.
    parameters: dict[str, Any]
    public_columns: Sequence[str] = ()  # the columns of the solution that participants may know
    innocent: Mapping[str, Sequence[str]] = {}  # the columns of public files that are not a leak, by file
    digest: str = ""  # of the metric's file, by which a renamed file is known

    def is_of(self, metric: Metric) -> bool:
        """Whether the files were made for this metric, whose file may have another name since."""
        return self.metric == metric.name or self.digest == digest_of(metric)


def digest_of(metric: Metric) -> str:
    """Compute the SHA-256 of a metric's file."""
    return sha256(metric.path.read_bytes()).hexdigest()


def write(
    folder: Path,
    metric: str,
    parameters: Mapping[str, Any],
    public_columns: Sequence[str] = (),
    digest: str = "",
) -> None:
    """Save a metric's name, its parameters and the digest of its file in the folder of a competition; keep what
    else the record says.
    """
    content: dict[str, Any] = {PUBLIC_COLUMNS: list(public_columns)} if public_columns else {}
    path = folder / RECORD
    if read(folder) is not None:
        content = json.loads(path.read_text(encoding="utf-8"))
    content |= {DIGEST: digest} if digest else {}
    content = {"metric": metric, "parameters": dict(parameters)} | {
        name: content[name] for name in (DIGEST, PUBLIC_COLUMNS, INNOCENT) if name in content
    }
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def read(folder: Path) -> Record | None:
    """Read the record in the folder of a competition."""
    path = folder / RECORD
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        known, innocent = content.get(PUBLIC_COLUMNS, []), content.get(INNOCENT, {})
        parameters, digest = dict(content["parameters"]), str(content.get(DIGEST, ""))
        record = Record(path, str(content["metric"]), parameters, known, innocent, digest)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise HostError(
            f'{path}: expected {{"metric": NAME, "parameters": {{…}}}}, as podium make writes it'
        ) from None
    if not _is_list_of_names(known):
        raise HostError(f'{path}: {PUBLIC_COLUMNS}: expected a list such as ["site"], found {known!r:.60}')
    if not isinstance(innocent, dict) or not all(map(_is_list_of_names, innocent.values())):
        raise HostError(
            f'{path}: {INNOCENT}: expected {{"test.csv": ["day"]}} or the like, found {innocent!r:.60}'
        )
    return record


def _is_list_of_names(value: object) -> bool:
    """Whether a value of JSON is a list of texts."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def arguments(metric: Metric, given: Mapping[str, Any], solution: Location) -> dict[str, Any]:
    """Combine the parameters that the user sets with those of the competition to which the solution belongs."""
    path = Path(solution)
    record = read(path.parent.parent) if path.parent.name == PRIVATE else None
    if record is None:
        return dict(given)
    if not record.is_of(metric):
        warnings.warn(
            f"the files were made for the metric {record.metric} (see {record.path}), and this is "
            f"{metric.name}: if it should be the former, name it by --metric",
            stacklevel=2,
        )
        return dict(given)
    _check(metric, given, record)
    if record.parameters:
        shown = ", ".join(f"{name}={value}" for name, value in record.parameters.items())
        print(printable(f"parameters of {record.path}: {shown}"), file=sys.stderr)
    return record.parameters | dict(given)


def _check(metric: Metric, given: Mapping[str, Any], record: Record) -> None:
    """Check that the metric has the recorded parameters, and that none of them is set to another value."""
    official = hosted.defaults(metric)
    for name, value in record.parameters.items():
        if name not in official and name != "row_id_column_name":
            raise HostError(f"{record.path}: the metric has no parameter {name}; it has {', '.join(official)}")
        if given.get(name, value) != value:
            raise HostError(
                f"{name} is {given[name]!r}, but the competition's files were made for {value!r}: "
                f"leave out --set {name}, make the files again, or change the value in {record.path}"
            )
