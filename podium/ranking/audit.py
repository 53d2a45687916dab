"""Is a published board what its run.json and the inputs lead to?"""

import itertools
import tempfile
from pathlib import Path
from typing import Any

from podium.errors import HostError
from podium.ranking import board, work
from podium.ranking.rules import Rules
from podium.ranking.run import as_then, changed_inputs, read_run, read_tables, request_of
from podium.ranking.submissions import find

__all__ = ["verify"]

LONGEST_LINE = 160  # characters of a line of a table


def verify(folder: str, jobs: int = 0, **inputs: Any) -> tuple[list[str], list[str]]:
    """What is not as it was published, the first first; and what may explain it, such as other versions.

    Of the folder only run.json is needed, which may be given instead; fields of `Request` say where inputs are.
    """
    facts = read_run(folder)
    home = Path(folder) if Path(folder).is_dir() else Path(folder).parent
    request = request_of(facts, home)._replace(**inputs)
    here = work.versions()
    notices = [
        f"{name} is {here.get(name)} here, was {version}"
        for name, version in facts["versions"].items()
        if here.get(name) != version
    ]
    differences = changed_inputs(facts, request) + [
        f"{file} was changed after the run: SHA-256 is {now}, was {then}"
        for file, then in facts["outputs"].items()
        if (now := _digest_of(home / file)) not in (None, then)
    ]

    published = {(each["team"], each["submission"]): each for each in facts["submissions"]}
    found = [as_then(each, published[each[:2]]) for each in find(request.submissions) if each[:2] in published]
    absent = published.keys() - {each[:2] for each in found}
    differences += [f"{team}/{name}: the file is not there" for team, name in sorted(absent)]
    job = work.make_job(request.metric, request.solution, request.parameters)
    try:
        with tempfile.TemporaryDirectory() as store, work.workers(jobs, None, job, found) as place:
            scored = work.score(job, found, Path(store), place)
            for each, result in zip(found, scored):
                then = published[each[:2]]
                for what, now, was in (
                    ("", result.digest, then["sha256"]),
                    (", the side file", result.side_digest, then.get("side_sha256", "")),
                ):
                    if now != was:
                        differences.append(f"{each.team}/{each.name}{what}: SHA-256 is {now}, was {was}")
            tables = read_tables(request, found)
            ranking = board.rank(job, found, scored, *tables, Rules(**facts["rules"]), Path(store), place)
    except HostError as problem:  # with these inputs there is no board at all
        return [*differences, str(problem)], notices
    for name, now in ranking.facts.items():
        if now != facts.get(name):
            differences.append(f"{name}: is {now}, was {facts.get(name)}")
    return differences + _of_tables(facts["outputs"], board.files(ranking), home), notices


def _digest_of(path: Path) -> str | None:
    return work.digest(str(path)) if path.is_file() else None


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
