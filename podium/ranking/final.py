"""From files to a folder with the final board and its run.json, and back: to rank it again, or to verify it."""

import functools
import itertools
import json
import math
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium import hosted
from podium.errors import HostError, UsageError
from podium.files import alone_in, is_url, write_atomically
from podium.ranking import board, page, speed, submissions, work
from podium.ranking.board import RUN, STORE, Ranking, Request, Run
from podium.ranking.rules import Rules
from podium.ranking.submissions import Submission, absolute, read_named
from podium.wording import listed

__all__ = ["Request", "Run", "perform", "perform_again", "read_run", "request_of", "verify"]

PAGE, TEAM_PAGE = "board.html", "team.html"


def perform(
    request: Request,
    rules: Rules,
    out: str | os.PathLike[str],
    jobs: int = 0,
    dask: str | None = None,
    command: Sequence[str] = (),
    team: str | None = None,
) -> Run:
    """Score what is not in the store of a folder, rank, write; 0 jobs are one per core."""
    out = _folder(out)
    found = submissions.find(request.submissions)
    job = work.make_job(request.metric, request.solution, request.parameters)
    score = functools.partial(work.score, job, found, out / STORE)
    return _ranked(Asked(request, rules, job, found, out / STORE), score, out, jobs, dask, command, team)


def perform_again(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    parameters: dict[str, Any],
    rules: dict[str, Any],
    jobs: int = 0,
    command: Sequence[str] = (),
    team: str | None = None,
    **inputs: Any,
) -> Run:
    """Rank what `perform` stored with other parameters, `Rules` and inputs; no submission is read."""
    out = _folder(out)
    if os.path.realpath(out) == os.path.realpath(folder):
        raise UsageError(f"--out {out}: expected another folder than that of --again")
    before = read_run(folder)
    request = request_of(before, Path(folder))
    replaced: dict[str, Any] = dict.fromkeys(inputs)
    changes = _changed_inputs(before, request._replace(**replaced))
    if changes:
        raise UsageError(changes[0])
    request = request._replace(**inputs)
    job_before = work.make_job(request.metric, request.solution, request.parameters)
    request = request._replace(parameters=request.parameters | parameters)
    job = work.make_job(request.metric, request.solution, request.parameters)
    if job.context != job_before.context:
        accepted = hosted.load(request.metric).measure_parameters
        raise UsageError(
            f"--again with {listed(sorted(parameters))}: expected only parameters on which the statistics do "
            f"not depend ({', '.join(accepted) or 'this metric has none'}); rank the submissions anew"
        )
    found = [_as_then(Submission(each["team"], each["submission"], ""), each) for each in before["submissions"]]
    contents = [work.digests_of(each["sha256"], each.get("side_sha256", "")) for each in before["submissions"]]
    kept = Path(folder) / before["store"]
    score = functools.partial(work.stored, job, contents, kept)
    asked = Asked(request, Rules(**before["rules"] | {"variants": False} | rules), job, found, kept)
    return _ranked(asked, score, out, jobs, None, command, team)


class Asked(NamedTuple):
    request: Request
    rules: Rules
    job: work.Job
    found: list[Submission]
    store: Path


def _ranked(
    asked: Asked,
    score: Callable[[work.Workers], list[work.Scored]],
    out: Path,
    jobs: int,
    dask: str | None,
    command: Sequence[str],
    team: str | None,
) -> Run:
    request, rules, job, found, kept = asked
    tables = _read_tables(request, found)
    work.prepared(job)  # a wrong solution is said before any work begins
    with alone_in(out), work.workers(jobs, dask, job, found) as place:
        scored = score(place)
        ranking = board.rank(job, found, scored, *tables, rules, kept, place)
        files = board.files(ranking)
        done = Run(request, rules, ranking, _facts(asked, scored, ranking, files, out, command))
        pages = {PAGE: page.of_board(done)} | ({} if team is None else {TEAM_PAGE: page.of_team(done, team)})
        board.write(files, out, done.facts)
        for name, content in pages.items():
            write_atomically(out / name, functools.partial(Path.write_text, data=content, encoding="utf-8"))
        return done


def _folder(out: str | os.PathLike[str]) -> Path:
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is not a folder")
    return out


def _facts(
    asked: Asked,
    scored: Sequence[work.Scored],
    ranking: Ranking,
    files: dict[str, bytes],
    out: Path,
    command: Sequence[str],
) -> dict[str, Any]:
    """run.json: all that is needed to do it again, and what came out."""
    request, rules, job, found, kept = asked

    def input_of(path: str | None, digest: str | None = None) -> dict[str, str] | None:
        if path is None:
            return None
        return {"path": _relative(path, out), "sha256": digest or work.digest(path)}

    return {
        "command": list(command),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        **ranking.facts,
        "parameters": {name: "inf" if value == math.inf else value for name, value in job.parameters},
        "rules": rules._asdict(),
        "inputs": {
            "metric": input_of(job.metric, job.metric_digest),
            "solution": input_of(job.solution, job.solution_digest),
            "submissions": {"path": _relative(request.submissions, out)},
            "runtimes": input_of(request.runtimes),
            "selection": input_of(request.selection),
        },
        "store": _relative(str(kept), out),
        "versions": work.versions(),
        "git_commit": _git_commit(hosted.find(job.metric).parent),
        "hardware": {"system": platform.platform(), "machine": platform.machine(), "cores": os.cpu_count()},
        "outputs": board.digests(files),
        "submissions": [
            {"team": each.team, "submission": each.name, "sha256": result.digest}
            | ({"side_sha256": result.side_digest} if result.side_digest else {})
            | {name: value for name in ("submitted_at", "public_score") if (value := getattr(each, name))}
            for each, result in zip(found, scored)
        ],
    }


def _relative(path: str, folder: Path) -> str:
    """A path as seen from a folder; a URL, a metric's name or another drive as it is."""
    if is_url(path) or path in hosted.names():
        return path
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return absolute(path)


def _git_commit(folder: Path) -> str | None:
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


# ---- And back: run.json and the inputs that it names ---------------------------------------------------


def read_run(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The run.json of a folder (or at a path)."""
    path = Path(folder) / RUN if Path(folder).is_dir() else Path(folder)
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        for name in ("inputs", "rules", "parameters", "submissions", "store", "outputs"):
            facts[name]
    except OSError as problem:
        raise UsageError(
            f"cannot read {path}: {problem.strerror or problem}; expected a finished run"
        ) from None
    except (ValueError, KeyError, TypeError) as problem:
        raise UsageError(
            f"{path}: expected the run.json of podium rank; {problem} is wrong or lacking"
        ) from None
    return dict(facts)


def request_of(facts: dict[str, Any], folder: Path) -> Request:
    """What a run.json says was ranked; paths are relative to its folder."""

    def path_of(name: str) -> Any:
        path = (facts["inputs"].get(name) or {}).get("path")
        if path is None or is_url(path) or (name == "metric" and path in hosted.names()):
            return path
        return os.path.normpath(os.path.join(folder, path))

    *inputs, _ = Request._fields
    parameters = {name: math.inf if value == "inf" else value for name, value in facts["parameters"].items()}
    return Request(**{name: path_of(name) for name in inputs}, parameters=parameters)


def _as_then(submission: Submission, facts: dict[str, str]) -> Submission:
    """With what run.json has of it from a manifest."""
    return submission._replace(
        submitted_at=facts.get("submitted_at", ""), public_score=facts.get("public_score", "")
    )


def _changed_inputs(facts: dict[str, Any], request: Request) -> list[str]:
    """Which inputs are not what they were."""
    changes = []
    for name, then in facts["inputs"].items():
        path = getattr(request, name, None)
        if path is not None and then is not None and "sha256" in then:
            now = work.digest(str(hosted.find(path)) if name == "metric" else path)
            if now != then["sha256"]:
                was = f"SHA-256 is {now}, was {then['sha256']}"
                changes.append(f"the {name} {path} has changed since the earlier run: {was}")
    return changes


def _read_tables(
    request: Request, submissions: Sequence[Submission]
) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """The host's runtimes and selection; None where there are none."""
    runtimes = None if request.runtimes is None else speed.read(request.runtimes)
    if request.selection is None:
        return runtimes, None
    keys = speed.KEYS
    selection = read_named(request.selection, keys, keys, set(keys))[keys]
    known = {each[:2] for each in submissions}
    absent = ["/".join(key) for key in selection.itertuples(index=False, name=None) if key not in known]
    if absent:
        raise HostError(f"selected but not among the submissions: {listed(sorted(absent))}")
    return runtimes, selection


# ---- Is a published board what they lead to? -----------------------------------------------------------


def verify(folder: str, jobs: int = 0, **inputs: Any) -> tuple[list[str], list[str]]:
    """What is not as it was published, and what may explain it, such as other versions.

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
    differences = _changed_inputs(facts, request) + [
        f"{file} was changed after the run: SHA-256 is {now}, was {then}"
        for file, then in facts["outputs"].items()
        if (now := _digest_of(home / file)) not in (None, then)
    ]

    published = {(each["team"], each["submission"]): each for each in facts["submissions"]}
    found = [
        _as_then(each, published[each[:2]])
        for each in submissions.find(request.submissions)
        if each[:2] in published
    ]
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
            tables = _read_tables(request, found)
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
                    text += f", first in line {number}:\n  published  {was}\n  again      {comes}"
                    break
        differences.append(text)
    return differences
