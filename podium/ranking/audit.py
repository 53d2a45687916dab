"""Verify a published board: do its inputs lead to its tables and pages?"""

import itertools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from podium.errors import HostError
from podium.ranking import board, final, output, submissions, work
from podium.ranking.board import Request, Run
from podium.ranking.rules import Rules
from podium.ranking.submissions import Submission
from podium.wording import listed

__all__ = ["verify"]

CHARACTERS_SHOWN = 160  # of a line that differs, because a page may consist of one line


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
    The circumstances of a run cannot be computed.  Its date, command, hardware and versions are taken from
    ``run.json`` as they are.
    """
    facts = final.read_run(folder)
    home = Path(folder) if Path(folder).is_dir() else Path(folder).parent
    request = final.request_of(facts, home)._replace(**inputs)
    here = work.versions()
    notices = [
        f"{name} is {here.get(name)} here, was {version}"
        for name, version in facts["versions"].items()
        if here.get(name) != version
    ]
    if unseen := [file for file in facts["outputs"] if not (home / file).is_file()]:
        notices.append(f"not in the folder, so only computed and not compared: {listed(unseen)}")
    differences = final.changed_inputs(facts, request) + _changed_outputs(facts, home)
    published = {(each["team"], each["submission"]): each for each in facts["submissions"]}
    files = [
        final.as_published(each, published[each[:2]])
        for each in submissions.find(request.submissions, request.side)
        if each[:2] in published
    ]
    absent = published.keys() - {each[:2] for each in files}
    differences += [f"{team}/{name}: the file is missing" for team, name in sorted(absent)]
    try:
        scored, run = _again(facts, request, files, jobs)
    except HostError as problem:  # with these inputs there is no board at all
        return [*differences, str(problem)], notices
    differences += _changed_submissions(files, scored, published)
    for name, now in run.ranking.facts.items():
        if now != facts.get(name):
            now, then = str(now), str(facts.get(name))
            differences.append(f"{name}: is {_around(now, then)}, was {_around(then, now)}")
    return differences + _changed_files(facts["outputs"], final.files_of(run), home), notices


def _again(
    facts: dict[str, Any], request: Request, files: list[Submission], jobs: int
) -> tuple[Sequence[work.Scored], Run]:
    """Do the same run again, in a store of its own."""
    limits = work.Limits(**facts.get("limits", {}))
    job = work.make_job(request.metric, request.solution, request.parameters, limits)
    with tempfile.TemporaryDirectory() as store, work.workers(jobs, None, job, files) as workers:
        scored = work.score(job, files, Path(store), workers)
        inputs = final.inputs_of(request, Rules(**facts["rules"]), job, files, Path(store))
        ranking = board.rank(inputs, scored, workers)
    digests = {"metric": job.metric_digest, "solution": job.solution_digest} | {
        name: work.digest(path)
        for name in ("runtimes", "selection", "failed")
        if (path := getattr(request, name)) is not None
    }
    described = {
        name: then and then | ({"sha256": digests[name]} if name in digests else {})
        for name, then in facts["inputs"].items()
    }
    again = facts | ranking.facts | {"inputs": described}
    return scored, Run(request, inputs.rules, final.heading_of(facts), ranking, again)


def _changed_outputs(facts: dict[str, Any], home: Path) -> list[str]:
    """List files of the folder that are not those of the run."""
    differences = [
        f"{file} was changed after the run: SHA-256 is {now}, was {then}"
        for file, then in facts["outputs"].items()
        if (now := _digest_of(home / file)) not in (None, then)
    ]
    strangers = {output.PAGE, output.TEAM_PAGE, *output.TABLES.values()} - facts["outputs"].keys()
    return differences + [
        f"{file} does not belong to this run: run.json does not name it"
        for file in sorted(strangers)
        if (home / file).is_file()
    ]


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
    return work.digest(str(path)) if path.is_file() else None


def _changed_files(then: dict[str, str], files: dict[str, bytes], home: Path) -> list[str]:
    """List tables and pages that come out differently, each with the first line that differs."""
    now, differences = output.digests(files), []
    for file in sorted(now.keys() | then.keys()):
        if now.get(file) == then.get(file) and _digest_of(home / file) in (None, now.get(file)):
            continue
        text = f"{file} comes out differently"
        if file in files and (home / file).is_file():
            published = (home / file).read_text(encoding="utf-8", errors="replace").splitlines()
            lines = itertools.zip_longest(published, files[file].decode().splitlines(), fillvalue="(nothing)")
            for number, (was, comes) in enumerate(lines, 1):
                if was != comes:
                    text += f", first in line {number}:\n  published  {_around(was, comes)}"
                    text += f"\n  again      {_around(comes, was)}"
                    break
        differences.append(text)
    return differences


def _around(line: str, other: str) -> str:
    """Shorten a long line to the part around its first difference from another line."""
    if max(len(line), len(other)) <= CHARACTERS_SHOWN:
        return line
    first = next((at for at, (a, b) in enumerate(zip(line, other)) if a != b), min(len(line), len(other)))
    start = max(0, first - CHARACTERS_SHOWN // 3)
    return f"{'…' if start else ''}{line[start : start + CHARACTERS_SHOWN]}"
