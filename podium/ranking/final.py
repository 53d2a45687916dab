"""From files to a folder with the final board and its run.json, and from such a folder to another board."""

import functools
import json
import math
import os
import platform
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from podium import __version__, hosted
from podium.errors import HostError, UsageError
from podium.files import alone_in, is_url
from podium.ranking import board, names, output, page, record, speed, submissions, work
from podium.ranking.board import Inputs, Ranking, Request, Run
from podium.ranking.job import Job, content_digest, digests_of, make_job, solution_of, versions
from podium.ranking.limits import Limits
from podium.ranking.output import PAGE, RUN, STORE, TEAM_PAGE
from podium.ranking.rules import Heading, Rules
from podium.ranking.submissions import Submission, absolute, read_failed, read_named
from podium.ranking.workers import Workers, start_workers
from podium.wording import listed

__all__ = [
    "Heading", "Request", "Rules", "Run", "as_published", "changed_inputs", "files_of", "heading_of",
    "inputs_of", "perform", "perform_again", "read_run", "request_of",
]  # fmt: skip


def perform(
    request: Request,
    rules: Rules,
    out: str | os.PathLike[str],
    jobs: int = 0,
    dask: str | None = None,
    command: Sequence[str] = (),
    heading: Heading | None = None,
    limits: Limits | None = None,
) -> Run:
    """Score the submissions, rank the teams, and write the tables and the page into a folder.

    Submissions whose content is already in the store of the folder are not scored again.

    Parameters
    ----------
    request : Request
        What is ranked.
    rules : Rules
        How it is ranked.
    out : path
        The folder for the tables, the page, ``run.json`` and the store.
    jobs : int
        The number of processes, or 0 for one per core.
    dask : str or None
        The address of a Dask scheduler whose workers do the work in place of processes.
    command : sequence of str
        The words that were typed, for ``run.json``.
    heading : Heading or None
        What stands at the top of the page.
    limits : podium.ranking.limits.Limits or None
        What reading and scoring one submission may take.

    Returns
    -------
    Run
        The finished run.

    Raises
    ------
    UsageError
        A file or the folder cannot be used, or a worker cannot work.  Nothing that was scored is lost.
    HostError
        The solution, a parameter, a table or a name is wrong.

    Examples
    --------
    >>> request = Request("unified", "solution.csv", "submissions", "runtimes.csv")
    >>> run = perform(request, Rules(seed=1), "final", jobs=2)  # doctest: +SKIP
    >>> run.ranking.leaderboard  # doctest: +SKIP
    """
    out, heading = _folder(out), heading or Heading()
    files = submissions.find(request.submissions, request.side)
    _check_team(heading, files)
    job = make_job(request.metric, request.solution, request.parameters, limits)
    score = functools.partial(work.score, job, files, out / STORE)
    inputs = inputs_of(request, rules, job, files, out / STORE)
    return _ranked(inputs, heading, score, out, jobs, dask, command)


def perform_again(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    parameters: dict[str, Any],
    rules: dict[str, Any],
    jobs: int = 0,
    command: Sequence[str] = (),
    heading: Heading | None = None,
    **replaced: Any,
) -> Run:
    """Rank again what `perform` stored, with other parameters, rules or tables.

    No submission is read.

    Parameters
    ----------
    folder : path
        The folder of the earlier run.
    out : path
        The folder for the new run, which must be another one.
    parameters : dict of str to object
        Parameters of the metric that replace those of the earlier run.  Only parameters on which the statistics
        do not depend are possible.
    rules : dict of str to object
        Fields of `Rules` that replace those of the earlier run.
    jobs : int
        The number of processes, or 0 for one per core.
    command : sequence of str
        The words that were typed, for ``run.json``.
    heading : Heading or None
        What stands at the top of the page, or None for the heading of the earlier run.
    **replaced : str
        Fields of `Request` that replace those of the earlier run, such as ``selection``.

    Returns
    -------
    Run
        The finished run.

    Raises
    ------
    UsageError
        A file or a folder cannot be used, a parameter needs the submissions, or an input has changed since the
        earlier run.
    HostError
        The solution, a parameter, a table or a name is wrong.
    """
    out = _folder(out)
    if os.path.realpath(out) == os.path.realpath(folder):
        raise UsageError(f"--out {out}: expected another folder than that of --again")
    before = read_run(folder)
    request = request_of(before, Path(folder))
    nothing: dict[str, Any] = dict.fromkeys(replaced)
    changes = changed_inputs(before, request._replace(**nothing))
    if changes:
        raise UsageError(changes[0])
    request = request._replace(**replaced)
    job_before = make_job(request.metric, request.solution, request.parameters)
    request = request._replace(parameters=request.parameters | parameters)
    limits = Limits(**before["limits"])
    job = make_job(request.metric, request.solution, request.parameters, limits)
    if job.context != job_before.context:
        accepted = hosted.load(request.metric).measure_parameters
        raise UsageError(
            f"--again with {listed(sorted(parameters))}: expected only parameters on which the statistics do "
            f"not depend ({', '.join(accepted) or 'this metric has none'}); rank the submissions anew"
        )
    files = [
        as_published(Submission(each["team"], each["submission"], ""), each) for each in before["submissions"]
    ]
    heading = heading or heading_of(before)
    _check_team(heading, files)
    contents = [digests_of(each["sha256"], each.get("side_sha256", "")) for each in before["submissions"]]
    store = Path(folder) / before["store"]
    score = functools.partial(work.stored, job, contents, store)
    inputs = inputs_of(request, Rules(**before["rules"] | {"variants": False} | rules), job, files, store)
    return _ranked(inputs, heading, score, out, jobs, None, command)


def inputs_of(request: Request, rules: Rules, job: Job, files: list[Submission], store: Path) -> Inputs:
    """Read and check the host's tables.

    Parameters
    ----------
    request : Request
        What is ranked, with the paths of the tables.
    rules : Rules
        How it is ranked.
    job : Job
        The metric with its solution.
    files : list of Submission
        The submissions, with whose names those in the tables are compared.
    store : Path
        The folder that keeps what is found out about the submissions.

    Returns
    -------
    Inputs
        Everything that a ranking is made from.

    Raises
    ------
    UsageError, HostError
        A table cannot be read, a cell is wrong, or a name is nearly that of a submission.
    """
    runtimes = None if request.runtimes is None else speed.read(request.runtimes)
    selection = None if request.selection is None else _read_selection(request.selection, files)
    failed = None if request.failed is None else read_failed(request.failed)
    speed.check_teams(runtimes, files)
    if failed is not None:
        nearly = names.near_misses(((team,) for team in failed["team"]), ((each.team,) for each in files))
        if nearly:
            raise HostError(
                f"the failed models: expected exactly the names of the teams, found {listed(nearly)}"
            )
    return Inputs(request, rules, job, files, store, runtimes, selection, failed)


def _read_selection(path: str, files: Sequence[Submission]) -> pd.DataFrame:
    """Read the selection, and make sure that all selected files are among the submissions."""
    keys = speed.KEYS
    selection = read_named(path, keys, keys, set(keys))[keys]
    known = {each[:2] for each in files}
    absent = ["/".join(key) for key in selection.itertuples(index=False, name=None) if key not in known]
    if absent:
        raise HostError(
            f"the selection: expected files that are among the submissions, found {listed(sorted(absent))}; "
            "write each name as it is in the folder, with its ending, or in the manifest"
        )
    return selection


def _check_team(heading: Heading, files: Sequence[Submission]) -> None:
    """Make sure that the team that gets a page is among the teams."""
    teams = sorted({each.team for each in files})
    if heading.team is None or heading.team in teams:
        return
    nearly = [team for team in teams if names.key_of(team) == names.key_of(heading.team)]
    raise UsageError(f"--team {heading.team}: expected one of the teams, such as {listed(nearly or teams)}")


def _ranked(
    inputs: Inputs,
    heading: Heading,
    score: Callable[[Workers], list[work.Scored]],
    out: Path,
    jobs: int,
    dask: str | None,
    command: Sequence[str],
) -> Run:
    """Score, rank, make the pages, and write everything."""
    solution_of(inputs.job)  # raises an error for a wrong solution before any work begins
    with alone_in(out), start_workers(jobs, dask, inputs.job, inputs.submissions) as workers:
        scored = score(workers)
        ranking = board.rank(inputs, scored, workers)
        facts = _facts(inputs, heading, scored, ranking, out, command)
        run = Run(inputs.request, inputs.rules, heading, ranking, facts)
        files = files_of(run)
        run.facts["outputs"] = output.digests(files)
        output.write(files, out, run.facts)
        return run


def files_of(run: Run) -> dict[str, bytes]:
    """Make the tables and pages of a run.

    Parameters
    ----------
    run : Run
        A finished run.

    Returns
    -------
    dict of str to bytes
        The content of each file by name.
    """
    files = output.tables(run.ranking) | {PAGE: page.of_board(run).encode()}
    if run.heading.team is not None:
        files[TEAM_PAGE] = page.of_team(run, run.heading.team).encode()
    return files


def _folder(out: str | os.PathLike[str]) -> Path:
    """Make sure that the folder of the results can be one.  It need not exist yet."""
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is not a folder")
    return out


def _facts(
    inputs: Inputs,
    heading: Heading,
    scored: Sequence[work.Scored],
    ranking: Ranking,
    out: Path,
    command: Sequence[str],
) -> dict[str, Any]:
    """Collect the content of run.json: what is needed to rank again, and what the result was."""
    request, job = inputs.request, inputs.job

    def input_of(path: str | None, digest: str | None = None) -> dict[str, str] | None:
        if path is None:
            return None
        return {"path": _relative(path, out), "sha256": digest or content_digest(path)}

    return {
        "command": list(command),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "page": heading._asdict(),
        **ranking.facts,
        "parameters": {name: "inf" if value == math.inf else value for name, value in job.parameters},
        "rules": inputs.rules._asdict(),
        "limits": job.limits._asdict(),
        "inputs": {
            "metric": input_of(job.metric, job.metric_digest),
            "solution": input_of(job.solution, job.solution_digest),
            "submissions": {"path": _relative(request.submissions, out)},
            "runtimes": input_of(request.runtimes),
            "selection": input_of(request.selection),
            "failed": input_of(request.failed),
            # The hash of the file beside each submission stands with that submission below.
            **({"side": {"path": _relative(request.side, out)}} if request.side else {}),
        },
        "store": _relative(str(inputs.store), out),
        "versions": versions(),
        "git_commit": _git_commit(hosted.find(job.metric).parent),
        "hardware": {"system": platform.platform(), "machine": platform.machine(), "cores": os.cpu_count()},
        "submissions": [
            {"team": each.team, "submission": each.name, "sha256": result.digest}
            | ({"side_sha256": result.side_digest} if result.side_digest else {})
            | {name: value for name in ("submitted_at", "public_score") if (value := getattr(each, name))}
            for each, result in zip(inputs.submissions, scored)
        ],
    }


def _relative(path: str, folder: Path) -> str:
    """Write a path relative to a folder.  URLs and names of metrics stay as they are."""
    if is_url(path) or path in hosted.names():
        return path
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # a path on another drive cannot be relative
        return absolute(path)


def _git_commit(folder: Path) -> str | None:
    """Find the Git commit of the metric's folder, or None if it is in no repository."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


# ---- And back: run.json and the inputs that it names ---------------------------------------------------


def read_run(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the run.json of a finished run.

    Parameters
    ----------
    folder : path
        The folder of the run, or its ``run.json``.

    Returns
    -------
    dict of str to object
        The content.

    Raises
    ------
    UsageError
        There is no ``run.json``, so the run was not finished.  Or the file is damaged, or another version of
        podium wrote it in another form.
    """
    path = Path(folder) / RUN if Path(folder).is_dir() else Path(folder)
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        record.text_of(facts).encode()  # raises an error for half of a surrogate pair, which no page can show
    except OSError as problem:
        raise UsageError(
            f"cannot read {path}: {problem.strerror or problem}; expected a finished run"
        ) from None
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{path}: expected the run.json of podium rank; it is no JSON: {problem}") from None
    if fault := record.fault_of(facts):
        versions = facts.get("versions") if isinstance(facts, dict) else None
        made_by = str(versions.get("podium", "")) if isinstance(versions, dict) else ""
        if made_by not in ("", __version__):
            raise UsageError(
                f"{path}: expected a run of podium {__version__}, found one of podium {made_by:.20}; "
                "read and verify it with that version"
            )
        raise UsageError(f"{path}: expected the run.json of podium rank; {fault} is wrong or missing")
    return dict(facts)


def request_of(facts: dict[str, Any], folder: Path) -> Request:
    """Find out from a run.json what was ranked.

    Parameters
    ----------
    facts : dict of str to object
        The content of ``run.json``, as `read_run` returns it.
    folder : Path
        The folder to which the paths in it are relative.

    Returns
    -------
    Request
        What was ranked, with paths that this process can use.
    """

    def path_of(name: str) -> Any:
        """The path of an input; URLs and names of metrics are not relative to the folder."""
        path = (facts["inputs"].get(name) or {}).get("path")
        if path is None or is_url(path) or (name == "metric" and path in hosted.names()):
            return path
        return os.path.normpath(os.path.join(folder, path))

    *inputs, _ = Request._fields
    parameters = {name: math.inf if value == "inf" else value for name, value in facts["parameters"].items()}
    return Request(**{name: path_of(name) for name in inputs}, parameters=parameters)


def heading_of(facts: dict[str, Any]) -> Heading:
    """Find out from a run.json what stands at the top of the page.

    Parameters
    ----------
    facts : dict of str to object
        The content of ``run.json``, as `read_run` returns it.

    Returns
    -------
    Heading
        The heading of the page.
    """
    return Heading(**facts["page"])


def as_published(submission: Submission, facts: dict[str, str]) -> Submission:
    """Add to a submission what run.json has kept from a manifest.

    Parameters
    ----------
    submission : Submission
        A submission.
    facts : dict of str to str
        The part of ``run.json`` about this submission.

    Returns
    -------
    Submission
        The submission with ``submitted_at`` and ``public_score`` as they were.
    """
    return submission._replace(
        submitted_at=facts.get("submitted_at", ""), public_score=facts.get("public_score", "")
    )


def changed_inputs(facts: dict[str, Any], request: Request) -> list[str]:
    """List the inputs that have changed since a run.

    Parameters
    ----------
    facts : dict of str to object
        The content of ``run.json``, as `read_run` returns it.
    request : Request
        Where the inputs are now.

    Returns
    -------
    list of str
        A sentence for each input that has changed.
    """
    changes = []
    for name, then in facts["inputs"].items():
        path = getattr(request, name, None)
        if path is not None and then is not None and "sha256" in then:
            now = content_digest(str(hosted.find(path)) if name == "metric" else path)
            if now != then["sha256"]:
                was = f"SHA-256 is {now}, was {then['sha256']}"
                changes.append(f"the {name} {path} has changed since the earlier run: {was}")
    return changes
