"""The record of a competition: the metric, the parameters and the items for which its files were made.

`podium make` writes the record beside ``public/`` and ``private/``, with a copy of a custom metric in
``private/metric``. `podium publish` and `podium bundle` add the parameters with which the competition goes out.
Commands that get the folder, or the solution in it, use all of it. So the site and every command score alike.
The copy is the host's: it is never sent anywhere, and who verifies or collects what others have published does
not follow a record.
"""

import json
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from podium.common.errors import HostError, UsageError
from podium.common.options import as_option, is_command
from podium.common.wording import printable
from podium.metric import executed, hosted
from podium.metric.built_in import DEFAULT
from podium.metric.contract import Metric
from podium.metric.parameters import check_parameters, parse_parameters
from podium.tables import records
from podium.tables.files import Location, write_atomically

RECORD = "competition.json"
PRIVATE = "private"  # the folder of the solution, beside which the record lies
NEEDED = ("metric", "parameters")  # of the fields of a record
BY_OPTION = "by --metric"  # how most commands take a metric other than the recorded one


class Record(NamedTuple):
    """The record of a competition's metric; the names in its file are those of the fields."""

    path: Path  # the file of the record
    metric: str  # the metric's name
    # The parameters of its ``score`` by name. Parameters that are not named have their official values.
    parameters: dict[str, Any]
    metric_sha256: str = ""  # of the metric's file, by which a renamed file is known
    beside: Mapping[str, str] = {}  # the SHA-256 of the other files that it executes, by name
    metric_file: str = ""  # its copy, from the folder of the competition on; podium's own have none
    items: str = ""  # the columns of the solution, separated by commas, whose values keep rows together
    public_columns: Sequence[str] = ()  # the columns of the solution that participants may know
    innocent: Mapping[str, Sequence[str]] = {}  # the columns of public files that are not a leak, by file

    def is_of(self, metric: Metric) -> bool:
        """Whether the files were made for this metric, whose file may have another name since."""
        return self.metric == metric.name or self.metric_sha256 == digest_of(metric)


def digest_of(metric: Metric) -> str:
    """Compute the SHA-256 of a metric's file."""
    return sha256(metric.path.read_bytes()).hexdigest()


def write(record: Record) -> None:
    """Save the record in the folder of its competition."""
    content = {name: value for name, value in record._asdict().items() if value or name in NEEDED}
    del content["path"]
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_atomically(record.path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def folder_of(solution: Location) -> Path:
    """The folder of the competition to whose private files a solution belongs, or the path itself."""
    path = Path(solution)
    return path.parent.parent if path.parent.name == PRIVATE else path


def copied_metric(record: Record, how: str) -> Path | None:
    """Find the copy of the metric, say which files are going to be executed, and refuse what lies elsewhere.

    A refusal says how else the metric is named.
    """
    if not record.metric_file:
        return None
    folder = record.path.parent
    path = folder / record.metric_file
    home = os.path.realpath(folder / PRIVATE) + os.sep
    digests = executed.digests(hosted.files_of(path)) if path.is_file() else {path.name: ""}
    for each in map(path.with_name, digests):
        if not os.path.realpath(each).startswith(home) or not each.is_file():
            raise HostError(
                f"{record.path}: metric_file: expected a file in {folder / PRIVATE}, found {each}: "
                f"name the metric {how}"
            )
    known = {path.name: record.metric_sha256, **record.beside}
    for name, digest in digests.items():
        is_known = name in known or bool(record.beside)  # version 10 recorded the metric's own file alone
        if is_known and digest != known.get(name):
            raise HostError(
                f"{path.with_name(name)}: expected the file for which {record.path} has the SHA-256 "
                f"{known.get(name) or '(none)'}, found {digest}; to use this file, name the metric {how}"
            )
    named = ", ".join(f"{path.with_name(name)} (SHA-256 {digest})" for name, digest in digests.items())
    print(printable(f"metric of {record.path}: {named}"), file=sys.stderr)
    return path


class Completed(NamedTuple):
    """What a command was given, completed by the record of the competition to which its files belong."""

    metric: Metric
    parameters: dict[str, Any]
    items: str


def completed(
    solution: Location | None, metric: str | None, assignments: Sequence[str], items: str | None = None
) -> Completed:
    """Load the metric, and read the parameters NAME=VALUE, for files that may be those of a competition."""
    record = of(solution)
    name, items = chosen(record, metric, items)
    loaded = hosted.load(name)
    given = parse_parameters(loaded, assignments)
    return Completed(loaded, arguments(record, loaded, given), items)


def chosen(
    record: Record | None, metric: Location | None, items: str | None = None, how: str = BY_OPTION
) -> tuple[str, str]:
    """The metric and the items that were given, or else those that the record of a competition names.

    None stands for the items of a command that draws none.
    """
    if record is None:
        return str(metric or DEFAULT), items or ""
    if metric is None:
        path = copied_metric(record, how)
        if path is None and record.metric not in hosted.names():
            raise UsageError(
                f"the files were made for the metric {record.metric} (see {record.path}): name it {how}"
            )
        metric = record.metric if path is None else str(path)
    if record.items and items == "":
        print(printable(f"items of {record.path}: {record.items}"), file=sys.stderr)
        items = record.items
    return str(metric), items or ""


def read(folder: Path) -> Record | None:
    """Read the record in the folder of a competition."""
    path = folder / RECORD
    if not path.is_file():
        return None
    kinds = {name: kind for name, kind in Record.__annotations__.items() if name != "path"}
    needed = {name: kinds.pop(name) for name in NEEDED}
    form = records.form("Competition", needed, kinds)
    content, fault = records.parsed(path.read_bytes(), form)
    if fault:
        expected = '{"metric": NAME, "parameters": {…}, "public_columns": [NAME], "innocent": {FILE: [NAME]}}'
        raise HostError(f"{path}: expected {expected} or less, as podium make writes it; found {fault}")
    return Record(path, **content)


def of(solution: Location | None) -> Record | None:
    """Read the record of the competition to which a solution belongs, if it belongs to one."""
    return None if solution is None else read(folder_of(solution))


def arguments(record: Record | None, metric: Metric, given: Mapping[str, Any]) -> dict[str, Any]:
    """Combine the parameters that the user sets with those of the record of a competition."""
    if record is None:
        return dict(given)
    if not record.is_of(metric):
        warnings.warn(
            f"the files were made for the metric {record.metric} (see {record.path}), and this is "
            f"{metric.name}: if it should be the former, name it by {as_option('metric')}",
            stacklevel=2,
        )
        return dict(given)
    if record.parameters:
        shown = ", ".join(f"{name}={value}" for name, value in record.parameters.items())
        print(printable(f"parameters of {record.path}: {shown}"), file=sys.stderr)
    check_parameters(metric, record.parameters)
    for name, value in record.parameters.items():
        if given.get(name, value) != value:
            raise HostError(
                f"{name} is {given[name]!r}, but the competition's files were made for {value!r}: "
                f"leave out {f'--set {name}' if is_command() else name}, make the files again, or change the "
                f"value in {record.path}"
            )
    return record.parameters | dict(given)
