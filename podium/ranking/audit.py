"""Is a published board what its run.json and the inputs lead to?"""

import hashlib
import itertools
import tempfile
from pathlib import Path
from typing import Any

from podium import hosted
from podium.errors import ToolError, UsageError
from podium.ranking import board, work
from podium.ranking.rules import Rules
from podium.ranking.run import Request, read_run, read_tables, request_of
from podium.ranking.submissions import Submission, find

__all__ = ["verify"]

LONGEST_LINE = 160  # characters of a line of a table


def verify(folder: str, jobs: int = 0, **inputs: Any) -> tuple[list[str], list[str]]:
    """Compute a board again, from its run.json and the inputs, and compare to the last bit.

    Parameters
    ----------
    folder : with run.json and, as far as they are to be compared, the published tables; or path of a run.json
    jobs : number of processes; 0 for one per core
    inputs : fields of `podium.ranking.run.Request`, where these files are elsewhere now

    Returns
    -------
    differences, notices : lists of str
        What is not as it was published, the first first; and what may explain it, such as other versions.

    Raises
    ------
    UsageError
        Something that is needed is not there.
    """
    facts = read_run(folder)
    home = Path(folder) if Path(folder).is_dir() else Path(folder).parent
    request = request_of(facts, home)._replace(**inputs)
    notices = [
        f"{name} is {work.versions().get(name)} here, was {version}"
        for name, version in facts["versions"].items()
        if work.versions().get(name) != version
    ]
    differences = _of_inputs(facts, request) + _of_files(facts, home)

    found = find(request.submissions)
    published = {(each["team"], each["submission"]): each for each in facts["submissions"]}
    found = [_as_then(each, published[each.team, each.name]) for each in found if each[:2] in published]
    differences += [
        f"{team}/{name}: the file is not there" for team, name in sorted(published.keys() - _keys(found))
    ]
    job = work.make_job(request.metric, request.solution, request.parameters)
    try:
        with tempfile.TemporaryDirectory() as store, work.workers(jobs, None, job, found) as place:
            scored = work.score(job, found, Path(store), place)
            for each, result in zip(found, scored):
                then = published[each.team, each.name]
                for what, now, was in (
                    ("", result.digest, then["sha256"]),
                    (", the side file", result.side_digest, then.get("side_sha256", "")),
                ):
                    if now != was:
                        differences.append(f"{each.team}/{each.name}{what}: SHA-256 is {now}, was {was}")
            tables = read_tables(request, found)
            ranking = board.rank(job, found, scored, *tables, Rules(**facts["rules"]), Path(store), place)
    except UsageError:
        raise
    except ToolError as problem:  # with these inputs there is no board at all
        return [*differences, str(problem)], notices
    for name in ("signature", "decided_by", "rule", "counts"):
        if ranking.facts[name] != facts.get(name):
            differences.append(f"{name}: is {ranking.facts[name]}, was {facts.get(name)}")
    differences += _of_tables(facts["outputs"], board.files(ranking), home)
    return differences, notices


def _keys(found: list[Submission]) -> set[tuple[str, str]]:
    return {(each.team, each.name) for each in found}


def _as_then(now: Submission, then: dict[str, str]) -> Submission:
    """A file with the facts of its manifest."""
    return now._replace(submitted_at=then.get("submitted_at", ""), public_score=then.get("public_score", ""))


def _of_inputs(facts: dict[str, Any], request: Request) -> list[str]:
    """Which inputs are others."""
    differences = []
    for name in ("metric", "solution", "runtimes", "selection"):
        path, then = getattr(request, name), facts["inputs"].get(name)
        if path is None or then is None:
            continue
        now = work.digest(str(hosted.find(path)) if name == "metric" else path)
        if now != then["sha256"]:
            differences.append(f"the {name} {path}: SHA-256 is {now}, was {then['sha256']}")
    return differences


def _of_files(facts: dict[str, Any], home: Path) -> list[str]:
    """Which published tables were changed after the run."""
    return [
        f"{file} was changed after the run: SHA-256 is {now}, was {then}"
        for file, then in facts["outputs"].items()
        if (now := _digest_of(home / file)) not in (None, then)
    ]


def _digest_of(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _of_tables(then: dict[str, str], files: dict[str, bytes], home: Path) -> list[str]:
    """Which tables come out otherwise, with the first line that does."""
    now, differences = board.digests(files), []
    for file in sorted(now.keys() | then.keys()):
        if now.get(file) == then.get(file) and _digest_of(home / file) in (None, now.get(file)):
            continue
        text = f"{file} comes out otherwise"
        if file in files and (home / file).is_file():
            published = (home / file).read_text(encoding="utf-8").splitlines()
            lines = itertools.zip_longest(published, files[file].decode().splitlines(), fillvalue="(nothing)")
            for number, (was, comes) in enumerate(lines, 1):
                if was != comes:
                    text += f", first in line {number}:\n  published  {_cut(was)}\n  again      {_cut(comes)}"
                    break
        differences.append(text)
    return differences


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"
