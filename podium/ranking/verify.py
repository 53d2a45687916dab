"""`podium.verify`: do the inputs of a published board lead to its tables and pages?"""

import html
import itertools
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from podium import hosted
from podium.errors import HostError, UsageError
from podium.ranking import output, passes, rank, run_json
from podium.ranking.board import board_of
from podium.ranking.job import versions
from podium.ranking.rules import Request
from podium.ranking.run_json import RUN
from podium.ranking.submissions import Submission, find
from podium.wording import listed

__all__ = ["Verification", "verify"]

CHARACTERS_SHOWN = 160  # of a line that differs, because a page may consist of one line
# Readers, or a server that shows them a folder, may take files with these endings for a part of a board.
LIKE_A_BOARD = frozenset(
    {
        ".css", ".csv", ".htaccess", ".htm", ".html", ".js", ".json", ".ods", ".pdf", ".php", ".png", ".svg",
        ".xhtml", ".xls", ".xlsx", ".xml",
    }
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Verification:
    """What `verify` found out.

    Attributes
    ----------
    folder : Path
        The folder of the board.
    differences : list of str
        What is not as the inputs lead to it. It is empty if the board is true to the last bit.
    notices : list of str
        What could not be compared, and versions that differ from those of the run.
    """

    folder: Path
    differences: list[str]
    notices: list[str]

    def __bool__(self) -> bool:
        """Whether the board is what its inputs lead to."""
        return not self.differences

    def __repr__(self) -> str:
        if not self.differences:
            return f"{self.folder} is what its inputs lead to, to the last bit"
        return "\n".join([f"{self.folder} is not what its inputs lead to:", *self.differences])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def verify(
    folder: str | os.PathLike[str],
    *,
    metric: str | os.PathLike[str] | None = None,
    solution: str | os.PathLike[str] | None = None,
    submissions: str | os.PathLike[str] | None = None,
    runtimes: str | os.PathLike[str] | None = None,
    selection: str | os.PathLike[str] | None = None,
    failed: str | os.PathLike[str] | None = None,
    jobs: int = 0,
) -> Verification:
    """Rank again from the inputs of a published board, and compare its files with the published ones.

    This is the command ``podium verify``. It reads the folder's ``run.json`` and the inputs that this file
    names, and no stored statistics. There is no signature: whoever can replace all files can publish another
    board that is verified, too.

    Parameters
    ----------
    folder : str or path
        The folder of the board, or its ``run.json``. The metric's file that it names is executed.
    metric, solution, submissions, runtimes, selection, failed : str or path, optional
        Where these inputs are now. By default they are where ``run.json`` says.
    jobs : int
        How many processes work at once. The default, 0, is one per core.

    Returns
    -------
    Verification
        The differences. It is true if there are none.

    Raises
    ------
    podium.errors.UsageError
        The folder has no ``run.json`` of a finished run, or an input is missing.

    Examples
    --------
    >>> podium.verify("final").differences  # doctest: +SKIP
    []
    """
    moved = {
        "metric": metric,
        "solution": solution,
        "submissions": submissions,
        "runtimes": runtimes,
        "selection": selection,
        "failed": failed,
    }
    facts = run_json.read(folder)
    home = Path(folder) if Path(folder).is_dir() else Path(folder).parent
    recorded = run_json.request_of(facts, home)
    given: dict[str, Any] = {name: os.fspath(path) for name, path in moved.items() if path is not None}
    request = recorded._replace(**given)
    _check_parameters(request)
    strangers = _strangers(facts, home, (request, recorded))
    parts = [path.name for path in strangers if LIKE_A_BOARD.intersection(_endings(path))]
    others = [path.name for path in strangers if path.name not in parts]
    published = {(each["team"], each["submission"]): each for each in facts["submissions"]}
    there = find(request.submissions, request.side)
    files = [run_json.as_published(each, published[each[:2]]) for each in there if each[:2] in published]
    differences = [
        *run_json.changed_inputs(facts, request),
        *(f"{name} does not belong to this run: run.json does not name it" for name in parts),
        *_changed_list(there, published),
    ]
    try:
        outputs, again = _ranked_again(facts, request, files, home, jobs)
        differences += _changed_files(facts, outputs, again, home)
    except HostError as problem:  # with these inputs there is no board at all
        differences.append(str(problem))
    return Verification(home, differences, _notices(facts, home, others))


def _notices(facts: Mapping[str, Any], home: Path, others: list[str]) -> list[str]:
    """Say which versions differ from those of the run, and what was not compared."""
    here = versions()
    notices = [
        f"{name} is {here.get(name)} here, was {version}"
        for name, version in facts["versions"].items()
        if here.get(name) != version
    ]
    if unseen := [file for file in facts["outputs"] if not (home / file).is_file()]:
        notices.append(f"not in the folder, so only computed and not compared: {listed(unseen)}")
    if others:
        notices.append(f"beside the board, but no part of it and not verified: {listed(others)}")
    return notices


def _check_parameters(request: Request) -> None:
    """Make sure that the metric has all parameters that run.json names."""
    known = hosted.defaults(hosted.load(request.metric))
    if unknown := sorted(request.parameters.keys() - known.keys()):
        raise UsageError(f"{RUN}: expected parameters of the metric, found {listed(unknown)}")


def _changed_list(
    there: Sequence[Submission], published: Mapping[tuple[str, str], Mapping[str, str]]
) -> list[str]:
    """List submissions that are missing or that run.json does not name."""
    found = {each[:2] for each in there}
    absent = sorted(published.keys() - found)
    return [
        *(f"{team}/{name}: the file is missing" for team, name in absent),
        *(
            f"{team}/{name}: it is among the submissions, but run.json does not name it"
            for team, name in sorted(found - published.keys())
        ),
    ]


def _ranked_again(
    facts: dict[str, Any], request: Request, files: list[Submission], home: Path, jobs: int
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Rank again, with a store in a temporary folder, and make the tables, the pages and the record."""
    if request.heading.team not in {each.team for each in files}:
        # The team's files are missing, so it can have no page.
        request = request._replace(heading=request.heading._replace(team=None))
    with tempfile.TemporaryDirectory() as folder:
        inputs = rank.inputs_of(request, files, Path(folder), home)
        with rank.workers_of(inputs.job, files, jobs, None) as workers:
            scored = passes.score(inputs.job, files, inputs.store, workers)
            final = board_of(inputs, scored, workers)
    again = run_json.facts_of(final, scored, ())
    again |= {name: facts.get(name) for name in run_json.CIRCUMSTANCES}
    for name, now in again["inputs"].items():
        if now is not None and facts["inputs"].get(name) is not None:
            now["path"] = facts["inputs"][name]["path"]
    outputs = rank.files_of(replace(final, facts=again))
    again["outputs"] = output.digests(outputs)
    return outputs, again


def _changed_files(
    facts: dict[str, Any], outputs: dict[str, bytes], again: dict[str, Any], home: Path
) -> list[str]:
    """List submissions, tables, pages and parts of the record that come out differently."""
    differences = _changed_submissions(again["submissions"], facts["submissions"])
    for file in sorted(outputs.keys() | facts["outputs"].keys()):
        differences += _changed_file(file, outputs.get(file), facts["outputs"].get(file), home)
    record_again = run_json.text_of(again).encode()
    if not differences and (home / RUN).read_bytes() != record_again:
        difference = _first_difference((home / RUN).read_bytes(), record_again)
        differences.append(f"{RUN} comes out differently{difference}")
    return differences


def _changed_submissions(now: list[dict[str, str]], then: list[dict[str, str]]) -> list[str]:
    """List submissions that are not those that were scored."""
    of_now = {(each["team"], each["submission"]): each for each in now}
    return [
        f"{each['team']}/{each['submission']}{what}: SHA-256 is {other.get(name)}, was {each.get(name)}"
        for each in then
        if (other := of_now.get((each["team"], each["submission"]))) is not None
        for name, what in (("sha256", ""), ("side_sha256", ", the side file"))
        if each.get(name) != other.get(name)
    ]


def _changed_file(file: str, again: bytes | None, recorded: str | None, home: Path) -> list[str]:
    """Tell how a published table or page differs from the one that comes out again."""
    if again is None:
        return [f"{file} does not come out again"]
    path = home / file
    if path.is_file() and (published := path.read_bytes()) != again:
        return [f"{file} comes out differently{_first_difference(published, again)}"]
    if output.digests({file: again})[file] != recorded:
        return [f"{RUN} does not name {file} with the SHA-256 that it comes out with"]
    return []


def _first_difference(published: bytes, again: bytes) -> str:
    """Show the first line that differs, or say that only line ends or a byte order mark differ."""
    was, comes = published.decode(errors="replace"), again.decode()
    if was.removeprefix("\ufeff").split() == comes.split():
        return ": only its white space, its line ends or its byte order mark differ"
    lines = itertools.zip_longest(was.splitlines(), comes.splitlines(), fillvalue="(nothing)")
    number, (line, other) = next((number, pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1])
    return (
        f", first in line {number}:\n  published  {_around(line, other)}\n  again      {_around(other, line)}"
    )


def _around(line: str, other: str) -> str:
    """Shorten a long line to the part around its first difference from another line."""
    if max(len(line), len(other)) <= CHARACTERS_SHOWN:
        return line
    first = next((at for at, (a, b) in enumerate(zip(line, other)) if a != b), min(len(line), len(other)))
    start = max(0, first - CHARACTERS_SHOWN // 3)
    return f"{'…' if start else ''}{line[start : start + CHARACTERS_SHOWN]}"


def _strangers(facts: dict[str, Any], home: Path, requests: Sequence[Request]) -> list[Path]:
    """List what is in the folder and neither a part of the board, nor an input, nor the store."""
    parts = {RUN, ".lock", output.STORE, *facts["outputs"]}
    inputs = [
        os.path.realpath(path) for request in requests for path in request.paths.values() if path is not None
    ]
    there = [path for path in sorted(home.iterdir()) if path.name not in parts]
    return [path for path in there if not _holds(os.path.realpath(path), inputs)]


def _endings(path: Path) -> set[str]:
    """List the endings of a file's name, such as .html and .gz; a name like .htaccess is an ending, too."""
    return {f".{part}" for part in path.name.lower().split(".")[1:]}


def _holds(path: str, inputs: Sequence[str]) -> bool:
    """Tell whether an input is at a path or in that folder."""
    return any(each == path or each.startswith(path + os.sep) for each in inputs)
