"""Verify a published board: do its inputs lead to its tables and pages?"""

import itertools
import os
import tempfile
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from podium import hosted
from podium.errors import HostError, UsageError
from podium.ranking import board, final, names, output, record, submissions, work
from podium.ranking.board import Request, Run
from podium.ranking.job import content_digest, make_job, versions
from podium.ranking.limits import Limits
from podium.ranking.rules import Rules
from podium.ranking.submissions import Submission
from podium.ranking.workers import start_workers
from podium.wording import listed

__all__ = ["verify"]

CHARACTERS_SHOWN = 160  # of a line that differs, because a page may consist of one line
INPUTS = ("metric", "solution", "submissions", "runtimes", "selection", "failed", "side")
# Files with these endings may be taken for a part of a board, or change how a page looks or where it is found.
LIKE_A_BOARD = (
    ".css", ".csv", ".htaccess", ".htm", ".html", ".js", ".json", ".mht", ".mhtml", ".ods", ".parquet", ".pdf",
    ".php", ".shtml", ".svg", ".tsv", ".webarchive", ".xht", ".xhtml", ".xls", ".xlsm", ".xlsx", ".xml",
)  # fmt: skip


def verify(folder: str, jobs: int = 0, **inputs: Any) -> tuple[list[str], list[str]]:
    """Compute the tables and pages of a published board again, and compare them with the published ones.

    Parameters
    ----------
    folder : str
        The folder of the board, or its ``run.json``.  Other files of the folder need not be there.
    jobs : int
        The number of processes, or 0 for one per core.
    **inputs : str
        Where inputs are now, by the names of the fields of `Request`.  All other inputs are where ``run.json``
        says.

    Returns
    -------
    differences : list of str
        What is not as it was published.  Causes come before their consequences.
    notices : list of str
        What may explain the differences, such as other versions of a library, and which tables and pages
        are not in the folder.

    Raises
    ------
    UsageError
        There is no ``run.json``, or an input is missing.

    Notes
    -----
    The circumstances of a run cannot be computed.  Its date, command, hardware, versions and Git commit are
    taken from ``run.json`` as they are.  So are the rules, the parameters, and the title and organizer of the
    page.  There is no signature: whoever can replace all files can publish another board that is verified, too.

    The metric's file that ``run.json`` names is executed.
    """
    facts = final.read_run(folder)
    home = Path(folder) if Path(folder).is_dir() else Path(folder).parent
    path = home / output.RUN if Path(folder).is_dir() else Path(folder)
    request = final.request_of(facts, home)._replace(**inputs)
    here = versions()
    notices = [
        f"{name} is {here.get(name)} here, was {version}"
        for name, version in facts["versions"].items()
        if here.get(name) != version
    ]
    if unseen := [file for file in facts["outputs"] if not os.path.lexists(home / file)]:
        notices.append(f"not in the folder, so only computed and not compared: {listed(unseen)}")
    strangers, others = _strangers(facts, home, (request, final.request_of(facts, home)))
    if others:
        notices.append(f"beside the board, but no part of it and not verified: {listed(others)}")
    differences = _changed_record(facts, path)
    differences += final.changed_inputs(facts, request) + _changed_outputs(facts, home)
    differences += [f"{name} does not belong to this run: run.json does not name it" for name in strangers]
    _check_parameters(request)
    published = {(each["team"], each["submission"]): each for each in facts["submissions"]}
    there = submissions.find(request.submissions, request.side)
    files = [final.as_published(each, published[each[:2]]) for each in there if each[:2] in published]
    absent = published.keys() - {each[:2] for each in files}
    differences += [f"{team}/{name}: the file is missing" for team, name in sorted(absent)]
    differences += [
        f"{each.team}/{each.name}: it is among the submissions, but run.json does not name it"
        for each in there
        if each[:2] not in published
    ]
    try:
        scored, run = _again(facts, request, files, jobs)
    except HostError as problem:  # with these inputs there is no board at all
        return [*differences, str(problem)], notices
    differences += _changed_submissions(files, scored, published)
    differences += [
        f"{output.RUN} has {name!r}, which podium rank does not write"
        for name in facts.keys() - run.ranking.facts.keys() - record.CIRCUMSTANCES
    ]
    for name, now in run.ranking.facts.items():
        if _text_of(now) != _text_of(facts.get(name)):
            now, then = str(now), str(facts.get(name))
            differences.append(f"{name}: is {_around(now, then)}, was {_around(then, now)}")
    return differences + _changed_files(facts["outputs"], final.files_of(run), home), notices


def _again(
    facts: dict[str, Any], request: Request, files: list[Submission], jobs: int
) -> tuple[Sequence[work.Scored], Run]:
    """Do the same run again, in a store of its own."""
    limits = Limits(**facts["limits"])
    job = make_job(request.metric, request.solution, request.parameters, limits)
    with tempfile.TemporaryDirectory() as store, start_workers(jobs, None, job, files) as workers:
        scored = work.score(job, files, Path(store), workers)
        inputs = final.inputs_of(request, Rules(**facts["rules"]), job, files, Path(store))
        ranking = board.rank(inputs, scored, workers)
    digests = {"metric": job.metric_digest, "solution": job.solution_digest} | {
        name: content_digest(path)
        for name in ("runtimes", "selection", "failed")
        if (path := getattr(request, name)) is not None
    }
    described = {
        name: then and then | ({"sha256": digests[name]} if name in digests else {})
        for name, then in facts["inputs"].items()
    }
    again = facts | ranking.facts | {"inputs": described}
    heading = final.heading_of(facts)
    if heading.team not in {each.team for each in files}:  # its files are missing, so it can have no page
        heading = heading._replace(team=None)
    return scored, Run(request, inputs.rules, heading, ranking, again)


def _text_of(fact: Any) -> str:
    """Write a fact as run.json does, where 1 and true are not the same."""
    return record.text_of({"": fact})


def _changed_outputs(facts: dict[str, Any], home: Path) -> list[str]:
    """List files of the folder that are not those of the run."""
    no_files = [
        f"{file} is {'a link' if (home / file).is_symlink() else 'no file'}, expected a file of its own"
        for file in [output.RUN, *facts["outputs"]]
        if (home / file).is_symlink() or (os.path.lexists(home / file) and not (home / file).is_file())
    ]
    return no_files + [
        f"{file} was changed after the run: SHA-256 is {now}, was {then}"
        for file, then in facts["outputs"].items()
        if (now := _digest_of(home / file)) not in (None, then)
    ]


def _strangers(facts: dict[str, Any], home: Path, requests: Sequence[Request]) -> tuple[list[str], list[str]]:
    """List what is in the folder and no part of the board: what looks like a part of it, and the rest.

    Inputs may be in the folder.  So is the store, from which nothing is read here.
    """
    parts = {output.RUN, ".lock", *facts["outputs"]}
    store = home / output.STORE
    if os.path.normpath(facts["store"]) == output.STORE and store.is_dir() and not store.is_symlink():
        parts.add(output.STORE)
    inputs = [
        os.path.realpath(path)
        for request in requests
        for name in INPUTS
        if (path := getattr(request, name)) is not None
    ]
    there = [path for path in sorted(home.iterdir()) if path.name not in parts]
    there = [path for path in there if not _holds(os.path.realpath(path), inputs)]
    stems = {"index"} | {Path(part).stem for part in facts["outputs"]}
    published = [path.name for path in there if _is_like_a_board(path, stems)]
    others = [path.name for path in there if path.name not in published]
    if output.STORE in parts:
        found = [path for path in store.rglob("*") if _is_like_a_board(path, stems)]
        published += sorted(path.relative_to(home).as_posix() for path in found)
    return published, others


def _is_like_a_board(path: Path, stems: Container[str]) -> bool:
    """Tell whether readers, or a server that shows them a folder, may take a file for a part of a board.

    Its ending says so, or its name begins as that of a part does, such as ``board.png`` and ``board.html.gz``.
    """
    begins_like_a_part = names.key_of(path.name.partition(".")[0]) in stems and not path.is_dir()
    return begins_like_a_part or path.name.lower().endswith(LIKE_A_BOARD)


def _holds(path: str, inputs: Sequence[str]) -> bool:
    """Tell whether an input is at a path or in that folder."""
    return any(each == path or each.startswith(path + os.sep) for each in inputs)


def _changed_record(facts: dict[str, Any], path: Path) -> list[str]:
    """Tell whether run.json is written as `podium rank` writes it, with each name once."""
    if path.read_bytes() == record.text_of(facts).encode():
        return []
    return [f"{output.RUN} was changed after the run: it is not written as podium rank writes it"]


def _check_parameters(request: Request) -> None:
    """Make sure that the metric has all parameters that run.json names."""
    known = hosted.settings(hosted.load(request.metric), {})
    if unknown := sorted(request.parameters.keys() - known.keys()):
        raise UsageError(f"{output.RUN}: expected parameters of the metric, found {listed(unknown)}")


def _changed_submissions(
    files: Sequence[Submission],
    scored: Sequence[work.Scored],
    published: Mapping[tuple[str, str], Mapping[str, str]],
) -> list[str]:
    """List submissions that are not those that were scored."""
    differences = []
    for each, result in zip(files, scored):
        then = published[each.team, each.name]
        for what, now, was in (
            ("", result.digest, then["sha256"]),
            (", the side file", result.side_digest, then.get("side_sha256", "")),
        ):
            if now != was:
                differences.append(f"{each.team}/{each.name}{what}: SHA-256 is {now}, was {was}")
    return differences


def _digest_of(path: Path) -> str | None:
    """Compute the SHA-256 of a file, or None if there is no such file."""
    return content_digest(str(path)) if path.is_file() else None


def _changed_files(then: dict[str, str], files: dict[str, bytes], home: Path) -> list[str]:
    """List tables and pages that come out differently, each with the first line that differs."""
    now, differences = output.digests(files), []
    for file in sorted(now.keys() | then.keys()):
        if now.get(file) == then.get(file) and _digest_of(home / file) in (None, now.get(file)):
            continue
        text = f"{file} comes out differently"
        if _digest_of(home / file) in (None, now.get(file)):
            text = f"{output.RUN} does not name {file} with the SHA-256 that it comes out with"
        elif file in files:
            text += _first_difference((home / file).read_bytes(), files[file])
        differences.append(text)
    return differences


def _first_difference(published: bytes, again: bytes) -> str:
    """Show the first line that differs, or say that only line ends or a byte order mark differ."""
    was, comes = published.decode(errors="replace"), again.decode()
    if was.removeprefix("\ufeff").split() == comes.split():
        return ": only its white space, its line ends or its byte order mark differ"
    lines = itertools.zip_longest(was.splitlines(), comes.splitlines(), fillvalue="(nothing)")
    for number, (line, other) in enumerate(lines, 1):
        if line != other:
            return (
                f", first in line {number}:\n  published  {_around(line, other)}"
                f"\n  again      {_around(other, line)}"
            )
    return ""


def _around(line: str, other: str) -> str:
    """Shorten a long line to the part around its first difference from another line."""
    if max(len(line), len(other)) <= CHARACTERS_SHOWN:
        return line
    first = next((at for at, (a, b) in enumerate(zip(line, other)) if a != b), min(len(line), len(other)))
    start = max(0, first - CHARACTERS_SHOWN // 3)
    return f"{'…' if start else ''}{line[start : start + CHARACTERS_SHOWN]}"
