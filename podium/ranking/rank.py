"""`podium.rank`: from files, or from a folder with a board, to a folder with a board."""

import functools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from podium.child.workers import dask_workers, start_workers
from podium.common.errors import UsageError
from podium.common.options import as_option, is_command, takes
from podium.common.wording import listed
from podium.contest import recorded
from podium.contest.recorded import Record
from podium.metric import hosted
from podium.metric.contract import Metric
from podium.metric.parameters import check_parameters, defaults, parse_parameters
from podium.metric.shapes import demand
from podium.ranking import examining, jury, leaving_out, made_again, output, page, passes, run_json, site, speed
from podium.ranking.board import Inputs, board_of
from podium.ranking.final import FinalBoard
from podium.ranking.job import make_job, opened, probe, solution_of
from podium.ranking.output import PAGE, STORE
from podium.ranking.questions import Pool
from podium.ranking.rules import ALL_TEAMS, Heading, Options, Rules, command_of
from podium.ranking.submissions import Submission, errors_of_boost, find_for, read_failed, unzipped
from podium.running.settings import FAILED, FOLDER_OF_SUBMISSIONS, HARDWARE, RUNS, RUNTIMES
from podium.scoring import verdicts
from podium.scoring.evaluating import Solution
from podium.tables import names
from podium.tables.files import Location, ReadFile, alone_in, check_apart


@takes(Options)
def rank(options: Options, **more: Any) -> FinalBoard:
    """Score every submission, reward speed, rank the teams, and write the final board.

    This is the command ``podium rank``, whose options are these arguments; `podium.ranking.rules.Options`
    describes them. Submissions whose content is already in the store of the folder are not scored again, so a
    call that was interrupted goes on where it stopped.

    Returns
    -------
    FinalBoard
        The board with its tables. The files are in the folder `out`.

    Raises
    ------
    podium.common.errors.UsageError
        A file is missing or cannot be read, a worker was lost, or two arguments contradict each other.
    podium.common.errors.HostError
        The solution, another table of the host, a parameter or the metric is wrong.

    Notes
    -----
    An argument of another name, such as ``temperature=80``, is a parameter of the metric, too.

    Examples
    --------
    >>> board = podium.rank("solution.csv", "submissions/", "runtimes.csv", out="final")  # doctest: +SKIP
    >>> board.leaderboard, board.certainty, board.rejected  # doctest: +SKIP
    >>> podium.rank(again="final", out="other", parameters={"temperature": 50})  # doctest: +SKIP
    """
    options, record = as_recorded(options)
    if options.parameters is None and options.again is None:
        _refuse_both_meanings(options)
    return made(options, record, more)


def made(asked: Options, record: Record | None, more: Mapping[str, Any] = MappingProxyType({})) -> FinalBoard:
    """Make a board of what `as_recorded` has found, with more parameters of its metric."""
    typed, asked = asked, _of_run(asked)
    asked.check()
    out, earlier = Path(asked.out), dict[str, Any]()
    if asked.again is not None:
        of_run = {name for name in ("runtimes", "failed") if getattr(asked, name) != getattr(typed, name)}
        asked, earlier = made_again.with_changes(replace(asked, given=asked.given | of_run))
        typed = asked
    with errors_of_boost() as boost:  # before anything is scored
        boost.boost_fractions([], [], **asked.of_boost)
    is_built_in = asked.metric in hosted.names()  # a folder may have such a name
    check_apart(out, [path for name, path in typed.paths.items() if not (is_built_in and name == "metric")])
    with unzipped(asked.submissions) as place:
        asked, options, inputs = _found(asked, record, earlier, more, place)
        _check_teams(options.teams_with_page, inputs)
        command = command_of(replace(asked, submissions=typed.submissions))
        with pool_of(options, out / STORE, inputs) as pool, alone_in(out):
            if options.again is not None:
                made_again.copy_store(options.again, out / STORE)
            return _ranked(options, inputs, out, pool, command)


def as_recorded(asked: Options) -> tuple[Options, Record | None]:
    """Read the record of a competition, and take the metric and the items from it, if none were given."""
    if asked.again is not None:  # then run.json names them
        return asked, None
    record = recorded.of(asked.solution)
    given = asked.metric if "metric" in asked.given else None
    metric, items = recorded.chosen(record, given, asked.items)
    named = {"metric", "items"} if items else {"metric"}
    return replace(asked, metric=metric, items=items, given=asked.given | named), record


def _refuse_both_meanings(asked: Options) -> None:
    """Refuse an argument that may be meant for the metric, which has a parameter of that name, too."""
    ours = {each.name for each in (*fields(Rules), *fields(Heading))} & asked.given
    if both := sorted(ours & defaults(hosted.load(asked.metric)).keys()):
        name = both[0]
        raise UsageError(
            f"{name}: the metric has a parameter of this name, too: give it by parameters={{{name!r}: …}}, or "
            "give parameters={} if you mean podium.rank's own"
        )


def _with_parameters(
    metric: Metric, asked: Options, earlier: Mapping[str, Any], more: Mapping[str, Any]
) -> Options:
    """Read the parameters that were given, which the metric must have, beside those of an earlier run."""
    given = asked.parameters or {}
    if not isinstance(given, Mapping):
        given = parse_parameters(metric, given)
    given = {**earlier, **given, **more}
    check_parameters(metric, given)
    return replace(asked, parameters=given)


def _found(
    asked: Options,
    record: Record | None,
    earlier: Mapping[str, Any],
    more: Mapping[str, Any],
    place: str | None,
) -> tuple[Options, Options, Inputs]:
    """Find what is to be scored, with what was asked for, and with what was found out beside it.

    The parameters of an earlier run are complete, and other ones may be tried on its board. Submissions in
    a zip were unpacked at a `place`.
    """
    if not (asked.solution and asked.submissions):
        inputs = "SOLUTION SUBMISSIONS [RUNTIMES], or --again FOLDER"
        raise UsageError(f"expected {inputs if is_command() else 'solution and submissions, or again'}")
    loaded = hosted.load(asked.metric)
    asked = _with_parameters(loaded, asked, earlier, more)
    parameters = recorded.arguments(record, loaded, asked.metric_parameters)
    failed = asked.failed if "failed" in asked.given else asked.failed or _failed_beside(asked.runtimes)
    options = opened(replace(asked, failed=failed, parameters=parameters))
    files = find_for(options, loaded.companion.documents, place)
    return asked, options, inputs_of(options, files)


def _of_run(asked: Options) -> Options:
    """Take submissions, runtimes and failed models from the folder of ``podium run``, if it was given."""
    folder = Path(asked.submissions or "")
    there = [name for name in (HARDWARE, RUNS, RUNTIMES) if asked.submissions and (folder / name).is_file()]
    if HARDWARE in there and RUNTIMES not in there:
        raise UsageError(f"podium run has not ended in {folder}: start the same command again to go on")
    if not {RUNS, RUNTIMES} <= {*there}:
        return asked
    return replace(
        asked,
        submissions=str(folder / FOLDER_OF_SUBMISSIONS),
        runtimes=asked.runtimes or str(folder / RUNTIMES),
        failed=asked.failed or _failed_beside(folder / RUNTIMES),
    )


def _failed_beside(runtimes: Location | None) -> str | None:
    """Find the failed.csv that ``podium run`` wrote beside its runtimes.csv."""
    if runtimes is None:
        return None
    path = Path(runtimes).with_name(FAILED)
    return str(path) if path.is_file() else None


def inputs_of(options: Options, files: list[Submission]) -> Inputs:
    """Read and check what is asked for, beside the solution and the submissions."""
    read = options.submissions
    manifest = read.sha256 if isinstance(read, ReadFile) else None
    inputs = Inputs(files, manifest=manifest)
    if options.failed is not None:
        inputs = inputs._replace(failed=read_failed(options.failed, files))
    if options.runtimes is not None:
        is_told = options.failed is not None
        inputs = inputs._replace(runtimes=speed.read(options.runtimes, files, inputs.failed["team"], is_told))
    if options.teams is not None:
        inputs = inputs._replace(teams=jury.read(options.teams, files, inputs.failed))
    if options.site_board is not None:
        inputs = inputs._replace(site_board=site.read(options.site_board))
    if options.left_out is not None:
        inputs = inputs._replace(left_out=leaving_out.read(options.left_out))
    return inputs


def _check_teams(wanted: Sequence[str], inputs: Inputs) -> None:
    """Make sure that the teams that get a page are among the teams, also among those whose model failed."""
    everybody = sorted({each.team for each in inputs.submissions} | {*inputs.failed["team"]})
    for team in wanted:
        if team not in (*everybody, ALL_TEAMS):
            nearly = [name for name in everybody if names.key_of(name) == names.key_of(team)]
            known = listed(nearly or everybody)
            raise UsageError(f"{as_option('team', team)}: expected one of the teams, such as {known}")


def _check_described(options: Options, solution: Solution) -> None:
    """Make sure that columns that are described form sub-populations, which alone are on the page."""
    prepared = solution.prepared.get(solution.deciding)
    groups = [] if prepared is None else examining.groups_of(prepared)
    columns = [*dict.fromkeys(group.partition(" = ")[0] for group in groups)]
    for column in options.descriptions:
        if column not in columns:
            known = f"one of {listed(columns, 20)}" if columns else "a metric with sub-populations"
            raise UsageError(f"{as_option('describe', column)}: expected {known}")


def _ranked(options: Options, inputs: Inputs, folder: Path, pool: Pool, command: Sequence[str]) -> FinalBoard:
    """Score, rank, make the pages, and write everything."""
    _check_described(options, pool.solution)
    demand(verdicts.says_direction(pool.solution.metric, pool.solution.arguments, verdicts.Use.KEEP))
    final, scored = scored_board(options, inputs, pool, folder)
    return written(replace(final, facts=run_json.facts_of(final, pool, inputs, scored, command)))


def written(final: FinalBoard) -> FinalBoard:
    """Write the tables, the pages and the record of a board."""
    files = files_of(final)
    final.facts["outputs"] = output.digests(files)
    output.write(files | output.private(final), final.folder, final.facts)
    return final


def scored_board(
    options: Options, inputs: Inputs, pool: Pool, folder: Path
) -> tuple[FinalBoard, list[passes.Scored]]:
    """Score everything, and make the board; with what became of the submissions."""
    scored = passes.score(pool, inputs.submissions, options.seed)
    final = board_of(options, inputs, pool, scored, folder)
    if options.again is not None:
        final = made_again.compared(final, made_again.read(options.again), inputs.submissions, scored)
    return final, scored


@contextmanager
def pool_of(options: Options, store: Path, inputs: Inputs) -> Iterator[Pool]:
    """Prepare the solution, and start the workers, here or on a Dask cluster."""
    files, left_out = inputs.submissions, inputs.left_out
    job = make_job(options, left_out["item"])
    if job.left_out:
        whole = solution_of(replace(job, left_out=(), part=""), options.solution)
        for statement in leaving_out.check(whole, left_out, options.left_out):
            warnings.warn(str(statement), stacklevel=2)
    # If the solution is wrong, that is an error before any work begins.
    job = replace(job, prepared=solution_of(job, options.solution))
    # A custom metric may crash on a submission, or change what the next one meets.
    is_built_in = job.solution.metric.is_built_in
    ready = None if is_built_in else functools.partial(solution_of, job)
    if options.dask is None:
        started = start_workers(
            options.jobs, len(files), apart=not is_built_in, idle=job.limits.idle, ready=ready
        )
    else:
        started = dask_workers(options.dask, job.limits.idle, ready, probe, job, files[0])
    with started as workers:
        yield Pool(job, store, workers)


def files_of(final: FinalBoard) -> dict[str, bytes]:
    """Make the tables and pages of a board."""
    of_teams = {name: page.of_team(final, team).encode() for team, name in final.pages.items()}
    return output.tables(final) | {PAGE: page.of_board(final).encode()} | of_teams
