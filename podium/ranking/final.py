"""From files to a folder with the final board, and back: what was ranked how stands in its run.json."""

import functools
import math
import os
import platform
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from podium import hosted
from podium.errors import UsageError
from podium.files import alone_in, is_url, write_atomically
from podium.ranking import board, page, submissions, work
from podium.ranking.board import STORE, Ranking
from podium.ranking.rules import Rules
from podium.ranking.run import Request, Run, as_then, changed_inputs, read_run, read_tables, request_of
from podium.ranking.submissions import Submission, absolute
from podium.wording import listed

__all__ = ["Request", "Run", "perform", "perform_again"]

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
    """Score what is not in the store of a folder, rank, write.

    Parameters
    ----------
    out : folder
    jobs : number of processes; 0 for one per core
    dask : address of a Dask scheduler to work with instead
    command : for run.json
    team : for which to write a page, too
    """
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
    """Rank what `perform` stored in a folder otherwise; no submission is read.

    Parameters
    ----------
    parameters : of the metric; only such as leave the statistics as they are
    rules, inputs : other fields of `Rules` and of `Request`
    """
    out = _folder(out)
    if os.path.realpath(out) == os.path.realpath(folder):
        raise UsageError(f"--out {out}: expected another folder than that of --again")
    before = read_run(folder)
    request = request_of(before, Path(folder))
    replaced: dict[str, Any] = dict.fromkeys(inputs)
    changes = changed_inputs(before, request._replace(**replaced))
    if changes:
        raise UsageError(changes[0])
    request = request._replace(**inputs)
    job_before = work.make_job(request.metric, request.solution, request.parameters)
    request = request._replace(parameters=request.parameters | parameters)
    job = work.make_job(request.metric, request.solution, request.parameters)
    if job.context != job_before.context:
        accepted = getattr(hosted.load(request.metric), "MEASURE_PARAMETERS", ())
        raise UsageError(
            f"--again with {listed(sorted(parameters))}: expected only parameters on which the statistics do "
            f"not depend ({', '.join(accepted) or 'this metric has none'}); rank the submissions anew"
        )
    found = [as_then(Submission(each["team"], each["submission"], ""), each) for each in before["submissions"]]
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
    tables = read_tables(request, found)
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
    if is_url(path) or path in hosted.FILES:
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
