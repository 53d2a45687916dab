"""`podium.rank`: from files to a folder with the final board, and from such a folder to another board."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from podium import checking, hosted, names, recorded
from podium.demands import demand
from podium.errors import HostError, UsageError
from podium.files import alone_in, check_apart, is_url, read_once
from podium.limits import Limits
from podium.ranking import decisions, output, page, passes, run_json, site, speed
from podium.ranking.board import FinalBoard, Inputs, board_of
from podium.ranking.differing import Other, others_of, settled
from podium.ranking.job import Job, content_digest, digests_of, make_job, probe, solution_of
from podium.ranking.output import PAGE, STORE, TEAM_PAGE
from podium.ranking.rules import PATHS, Heading, Request, Rules, fault_of
from podium.ranking.submissions import Submission, absolute, find, is_manifest, read_failed, read_named
from podium.running.settings import parse_bytes, parse_seconds
from podium.wording import listed
from podium.workers import Workers, dask_workers, start_workers

__all__ = ["files_of", "inputs_of", "rank", "scored_board", "scoring", "workers_of"]

ScoreAll = Callable[[Sequence[Other], Workers], list[passes.Scored]]


def rank(
    solution: str | os.PathLike[str] | None = None,
    submissions: str | os.PathLike[str] | None = None,
    runtimes: str | os.PathLike[str] | None = None,
    *,
    out: str | os.PathLike[str],
    again: str | os.PathLike[str] | None = None,
    metric: str | os.PathLike[str] = "unified",
    part: str | None = None,
    choose: str | None = None,
    select: str | os.PathLike[str] | None = None,
    side: str | os.PathLike[str] | None = None,
    failed: str | os.PathLike[str] | None = None,
    teams: str | os.PathLike[str] | None = None,
    deadline: str | None = None,
    site_board: str | os.PathLike[str] | None = None,
    boost: bool | None = None,
    max_boost: float | None = None,
    eligibility_ratio: float | None = None,
    slowdown_limit: float | None = None,
    prizes: int | None = None,
    resamples: int | None = None,
    items: str | None = None,
    seed: int | None = None,
    variants: bool | None = None,
    title: str | None = None,
    organizer: str | None = None,
    team: str | None = None,
    jobs: int = 0,
    dask: str | None = None,
    time_limit: str | float = "10m",
    memory_limit: str | int = "4G",
    idle_limit: str | float = "60s",
    parameters: Mapping[str, Any] | None = None,
    **more: Any,
) -> FinalBoard:
    """Score every submission, reward speed, rank the teams, and write the final board.

    This is the command ``podium rank``, and the arguments have the names of its options. Submissions whose
    content is already in the store of the folder are not scored again, so a call that was interrupted goes on
    where it stopped.

    Parameters
    ----------
    solution : str or path, optional
        The right answers: a CSV or Parquet file, a URL, or an official file.
    submissions : str or path, optional
        A folder or URL with a file or a folder for each team; or a manifest, which is a CSV with the columns
        ``team`` and ``path`` and, if you like, ``submission``, ``submitted_at``, ``public_score`` and ``side``.
    runtimes : str or path, optional
        The ``runtimes.csv`` of `podium.run`, or a CSV with the columns ``team`` and ``runtime`` in seconds.
        Without it, speed is not rewarded.
    out : str or path
        The folder for the results.
    again : str or path, optional
        The folder of an earlier run. Its submissions are ranked again from what is stored there, with the
        options given now. Then give the solution, the submissions and the runtimes only where they are
        elsewhere now or at an address, which is not opened because a file names it.
    metric : str or path
        The name of one of podium's metrics, a Python file with a ``score``, or a folder with a ``metric.py``.
    part : str, optional
        "Public" or "Private": the only part of the solution that counts, as while a competition runs. The
        default is the whole solution.
    choose : str, optional
        Which file of a team counts. With "public:N", it is the one with the best Private score of the N best
        files by Public score. With "private", it is the best of all. With "last", it is the one that was
        submitted last, which needs times of submission. The default is "public:2" if there are
        Public scores, and "private" otherwise.
    select : str or path, optional
        A CSV with the columns ``team`` and ``submission``. Of the teams in it, only the named files count.
    side : str or path, optional
        A folder of tables with what only the host can say of a submission.
    failed : str or path, optional
        A CSV of the models that failed, with the columns ``team``, ``model`` and ``reason``. The default is the
        ``failed.csv`` beside the runtimes.
    teams : str or path, optional
        A CSV of the jury's decisions with the columns ``team``, ``status`` and ``reason``, which are published.
        A team with the status "no prize" is ranked, and its prize goes to the next one. A "baseline" is shown
        without a rank. A "disqualified" team is named below the board. Teams that are not in it compete.
    deadline : str, optional
        A day and a time in ISO 8601, such as "2024-01-23T23:59+01:00", in UTC without an offset. Files that
        were submitted later do not count.
    site_board : str or path, optional
        The leaderboard of the competition's site, as Kaggle, Codabench, EvalAI or `podium.collect` writes it,
        or a table with the columns ``team`` and ``score``. The board says how far both agree.
    boost : bool, optional
        False ranks by score alone. The default is to reward speed if there are runtimes.
    max_boost, eligibility_ratio, slowdown_limit : float, optional
        The parameters of the rewards, see ``boost.py``. The defaults are 0.05, 1.05 and 1.2.
    prizes : int, optional
        How many places win a prize. The default is 3.
    resamples : int, optional
        The number of draws; 0 for no statements about chance. The default is 1000. For a metric with
        ``score()`` alone, it is as many of them as fit into ten minutes, and nothing is said if these are fewer
        than 200.
    items : str, optional
        For such a metric: a column of the solution. Rows with the same value in it, such as those of a patient,
        are drawn together.
    seed : int, optional
        A number that decides what is drawn. The default is 0.
    variants : bool, optional
        True also ranks with other weights, thresholds and overlap rules. The chosen files are read once more.
    title, organizer : str, optional
        What stands at the top of the pages.
    team : str, optional
        A team that gets a page of its own, ``team.html``.
    jobs : int
        How many processes work at once. The default, 0, is one per core.
    dask : str, optional
        The address of the scheduler of a Dask cluster that does the work.
    time_limit, memory_limit : str or number
        The processor time and the memory for one submission, such as ``"90s"`` and ``"500M"``, or seconds and
        bytes. One that needs more is rejected.
    idle_limit : str or number
        How long one submission may use no processor time, as where a metric waits for something.
    parameters : mapping of str to object, optional
        Parameters of the metric's ``score``, whose names may also be those of arguments of this function.
        Without it, an argument such as `seed` or `title` goes to the metric if the metric has a parameter of
        that name, with a warning.
    **more : object
        Further parameters of the metric's ``score``, such as ``temperature=80``.

    Returns
    -------
    FinalBoard
        The board with its tables. The files are in the folder `out`.

    Raises
    ------
    podium.errors.UsageError
        A file is missing or cannot be read, a worker was lost, or two arguments contradict each other.
    podium.errors.HostError
        The solution, another table of the host, a parameter or the metric is wrong.

    Examples
    --------
    >>> board = podium.rank("solution.csv", "submissions/", "runtimes.csv", out="final")  # doctest: +SKIP
    >>> board.leaderboard, board.certainty, board.rejected  # doctest: +SKIP
    >>> podium.rank(again="final", out="other", temperature=50)  # doctest: +SKIP
    """
    given = {name: value for name, value in locals().items() if name not in ("parameters", "more")}
    _check_types(given)
    together = {**(parameters or {}), **more}
    if parameters is None:
        together |= _of_metric(given)
    rules = {name: given[name] for name in Rules._fields if given[name] is not None}
    headings = {name: given[name] for name in Heading._fields if given[name] is not None}
    if fault := fault_of(Rules(**rules)):
        raise UsageError(fault)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {out} is not a folder")
    check_apart(folder, [metric, solution, submissions, runtimes, select, failed, side, teams, site_board])
    command = _command_of(given, together)
    if again is not None:
        _check_again(given)
        tables = {"selection": select, "failed": failed, "teams": teams, "site_board": site_board}
        moved = {"solution": solution, "submissions": submissions, "runtimes": runtimes}
        replaced = {name: os.fspath(path) for name, path in tables.items() if path is not None}
        where = {name: os.fspath(path) for name, path in moved.items() if path is not None}
        return _ranked_again(Path(again), folder, together, rules, headings, (where, replaced), jobs, command)
    if solution is None or submissions is None:
        raise UsageError("expected SOLUTION SUBMISSIONS [RUNTIMES], or --again FOLDER")
    loaded = hosted.load(os.fspath(metric))
    hosted.check_parameters(loaded, together)
    inputs_given = (metric, solution, submissions, runtimes, select, failed, side, teams, site_board)
    paths: list[Any] = [None if path is None else os.fspath(path) for path in inputs_given]
    request = Request(
        **dict(zip(PATHS, paths)),
        parameters=recorded.arguments(loaded, together, os.fspath(solution)),
        part=part or "",
        rules=Rules(**rules),
        heading=Heading(**headings),
        is_fixed=resamples is not None,
    )
    request = request._replace(failed=request.failed or _failed_beside(request.runtimes))
    files = find(request.submissions, request.side)
    limits = Limits(
        parse_bytes(memory_limit, "--memory-limit"),
        parse_seconds(time_limit, "--time-limit"),
        parse_seconds(idle_limit, "--idle-limit"),
    )
    inputs = inputs_of(request._replace(limits=limits), files, folder / STORE, folder)
    return _ranked(inputs, scoring(inputs), jobs, dask, command)


def _check_types(given: Mapping[str, Any]) -> None:
    """Refuse arguments of a kind that the command line could not give."""
    jobs, boost, runtimes = given["jobs"], given["boost"], given["runtimes"]
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 0:
        raise UsageError(f"--jobs: expected a whole number that is at least 0, found {jobs!r}")
    for name in ("boost", "variants"):
        if not isinstance(given[name], bool | None):
            raise UsageError(f"--{name}: expected True or False, found {given[name]!r}")
    if boost and runtimes is None and given["again"] is None:
        raise UsageError("boost=True: expected runtimes, without which no speed can be rewarded")


def _of_metric(given: dict[str, Any]) -> dict[str, Any]:
    """Take out of the arguments those rules and headings that are parameters of the metric, with a warning."""
    if given["again"] is not None:
        return {}
    known = hosted.defaults(hosted.load(os.fspath(given["metric"])))
    names = [name for name in (*Rules._fields, *Heading._fields) if name in known and given[name] is not None]
    taken = {name: given[name] for name in names}
    for name in names:
        given[name] = None
        warnings.warn(
            f"{name} goes to the metric, which has a parameter of this name; give the metric's by "
            f"parameters={{{name!r}: …}}, and {name} is podium.rank's own",
            stacklevel=3,
        )
    return taken


def _check_again(given: Mapping[str, Any]) -> None:
    """Refuse options for reading submissions beside --again."""
    reading = ("part", "side", "variants", "dask")
    if any(given[name] for name in reading) or given["metric"] != "unified":
        raise UsageError(
            "--again: expected none of --metric, --part, --side, --variants or --dask, because those of "
            "the earlier run are used and no submission is read"
        )


def _command_of(given: dict[str, Any], parameters: dict[str, Any]) -> list[str]:
    """Write a call of `rank` as the command that does the same."""
    positional = ("solution", "submissions", "runtimes")
    command = ["podium", "rank", *(os.fspath(given[name]) for name in positional if given[name] is not None)]
    defaults = {"metric": "unified", "jobs": 0, "time_limit": "10m", "memory_limit": "4G", "idle_limit": "60s"}
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if name in positional or value is None or value == defaults.get(name):
            continue
        if isinstance(value, bool):
            command += ["--no-boost"] if (name, value) == ("boost", False) else [option] if value else []
        else:
            # A text that begins with a hyphen is taken for an option, unless it is behind an equals sign.
            text = str(value)
            command += [f"{option}={text}"] if text.startswith("-") else [option, text]
    for name, value in parameters.items():
        command += ["--set", f"{name}={value}"]
    return command


def _failed_beside(runtimes: str | None) -> str | None:
    """Find the failed.csv that ``podium run`` wrote beside its runtimes.csv."""
    if runtimes is None or is_url(runtimes):
        return None
    path = Path(runtimes).with_name("failed.csv")
    return str(path) if path.is_file() else None


def _ranked_again(
    folder: Path,
    out: Path,
    parameters: dict[str, Any],
    rules: dict[str, Any],
    headings: dict[str, Any],
    tables: tuple[dict[str, Any], dict[str, Any]],
    jobs: int,
    command: list[str],
) -> FinalBoard:
    """Rank what an earlier run stored, with inputs that were moved, other parameters, rules or tables."""
    if os.path.realpath(out) == os.path.realpath(folder):
        raise UsageError(f"--out {out}: expected another folder than that of --again")
    before = run_json.read(folder)
    moved, replaced = tables
    request = run_json.request_of(before, folder)._replace(**moved)
    named = {*moved, *replaced, "submissions", "side"}  # no submission is read
    run_json.check_addresses(request, named, lambda name: f"--again {folder} SOLUTION SUBMISSIONS RUNTIMES")
    nothing: dict[str, Any] = dict.fromkeys([*replaced, "submissions"])
    if changes := run_json.changed_inputs(before, request._replace(**nothing)):
        cure = "rank without --again; with the same --out, what has not changed is not scored again"
        raise UsageError(f"{changes[0]}; {cure}")
    loaded = hosted.load(request.metric)
    hosted.check_parameters(loaded, parameters)
    kept = {*map(repr, request.parameters.items())}
    of_statistics = {repr(each) for each in parameters.items() if each[0] not in loaded.measure_parameters}
    request = request._replace(
        parameters=request.parameters | parameters,
        rules=request.rules._replace(**{"variants": False} | rules),
        heading=request.heading._replace(**{"team": None} | headings),
        **replaced,
    )
    if of_statistics - kept:
        accepted = ", ".join(loaded.measure_parameters) or "this metric has none"
        raise UsageError(
            f"--again with {listed(sorted(parameters))}: expected only parameters on which the statistics do "
            f"not depend ({accepted}); rank the submissions again"
        )
    listed_before = before["submissions"]
    files = [
        run_json.as_published(Submission(each["team"], each["submission"], ""), each) for each in listed_before
    ]
    contents = [digests_of(each["sha256"], each.get("side_sha256", "")) for each in listed_before]
    manifest = before["inputs"]["submissions"].get("sha256")
    inputs = inputs_of(request, files, folder / before["store"], out)._replace(manifest=manifest)

    def score_all(others: Sequence[Other], workers: Workers) -> list[passes.Scored]:
        sides = [contents[other.place].partition("+")[2] for other in others]
        more = [digests_of(other.submission.name[:64], side) for other, side in zip(others, sides)]
        return passes.stored(inputs.job, [*contents, *more], inputs.store, workers)

    return _ranked(inputs, score_all, jobs, None, command)


def inputs_of(request: Request, files: list[Submission], store: Path, folder: Path) -> Inputs:
    """Read and check what is asked for, beside the submissions."""
    was_read = any(each.path for each in files)  # what was only stored has no path
    source = read_once(absolute(request.solution))
    job = make_job(request, source)
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
    teams = None if request.teams is None else decisions.read(request.teams, files, failed)
    site_board = None if request.site_board is None else site.read(request.site_board)
    manifest = content_digest(request.submissions) if was_read and is_manifest(request.submissions) else None
    solution_of(job, source)  # If it is wrong, that is an error before any work begins.
    return Inputs(request, job, files, store, folder, runtimes, selection, failed, teams, site_board, manifest)


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


def _check_team(heading: Heading, files: Sequence[Submission], failed: pd.DataFrame | None) -> None:
    """Make sure that the team that gets a page is among the teams, also among those whose model failed."""
    teams = sorted({each.team for each in files} | set([] if failed is None else failed["team"]))
    if heading.team is None or heading.team in teams:
        return
    nearly = [team for team in teams if names.key_of(team) == names.key_of(heading.team)]
    raise UsageError(f"--team {heading.team}: expected one of the teams, such as {listed(nearly or teams)}")


def _ranked(
    inputs: Inputs,
    score_all: ScoreAll,
    jobs: int,
    dask: str | None,
    command: Sequence[str],
) -> FinalBoard:
    """Score, rank, make the pages, and write everything."""
    _check_team(inputs.request.heading, inputs.submissions, inputs.failed)
    solution = solution_of(inputs.job)
    demand(checking.verdict(solution.metric, arguments=solution.arguments))
    with alone_in(inputs.folder), workers_of(inputs.job, inputs.submissions, jobs, dask) as workers:
        final, scored = scored_board(inputs, score_all, workers)
        final = replace(final, facts=run_json.facts_of(final, scored, command))
        files = files_of(final)
        final.facts["outputs"] = output.digests(files)
        output.write(files, final.folder, final.facts)
    return final


def scoring(inputs: Inputs) -> ScoreAll:
    """Make the function that scores all submissions and what other runs of their models have predicted."""

    def score_all(others: Sequence[Other], workers: Workers) -> list[passes.Scored]:
        files = [*inputs.submissions, *(other.submission for other in others)]
        return passes.score(inputs.job, files, inputs.store, workers)

    return score_all


def scored_board(
    inputs: Inputs, score_all: ScoreAll, workers: Workers
) -> tuple[FinalBoard, list[passes.Scored]]:
    """Score everything, decide which runs count, and make the board; with what became of the submissions."""
    others = others_of(inputs)
    scored = score_all(others, workers)
    own = scored[: len(inputs.submissions)]
    return board_of(settled(inputs, others, scored), own, workers), own


def workers_of(
    job: Job, files: Sequence[Submission], jobs: int, dask: str | None
) -> AbstractContextManager[Workers]:
    """Start the workers, here or on a Dask cluster."""
    if dask is None:
        # A stranger's metric may crash on a submission, which must not take the command along.
        return start_workers(jobs, len(files), apart=not solution_of(job).metric.is_own)
    return dask_workers(dask, probe, job, files[0])


def files_of(final: FinalBoard) -> dict[str, bytes]:
    """Make the tables and pages of a board."""
    files = output.tables(final) | {PAGE: page.of_board(final).encode()}
    team = final.inputs.request.heading.team
    if team is not None:
        files[TEAM_PAGE] = page.of_team(final, team).encode()
    return files
