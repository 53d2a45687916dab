"""From files, or from a folder with a board, to a folder with a board: what `podium.rank` does."""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from podium.child.limits import Limits
from podium.child.workers import dask_workers, start_workers
from podium.contest import recorded
from podium.judge import trials
from podium.metric import hosted
from podium.metric.shapes import demand
from podium.ranking import decisions, leaving_out, output, page, passes, run_json, site, speed
from podium.ranking.asking import Desk
from podium.ranking.board import Inputs, board_of
from podium.ranking.doubted import with_doubts
from podium.ranking.final import FinalBoard
from podium.ranking.job import content_digest, digests_of, make_job, probe, solution_of
from podium.ranking.output import PAGE, STORE, TEAM_PAGE
from podium.ranking.rules import HEADING, PATHS, Options, Rules, fault_in, refuse_empty
from podium.ranking.submissions import Submission, absolute, find, is_manifest, read_failed
from podium.running.settings import parse_bytes, parse_seconds
from podium.tables import names
from podium.tables.files import alone_in, check_apart, is_url, read_once
from podium.tables.schema import TEXT, Table
from podium.words.errors import HostError, UsageError
from podium.words.wording import listed

__all__ = ["desk_of", "files_of", "inputs_of", "made", "score_anew", "scored_board"]

ScoreAll = Callable[[Desk, Sequence[Submission], int], list[passes.Scored]]


def made(
    given: dict[str, Any], defaults: Mapping[str, Any], parameters: dict[str, Any], may_be_of_metric: bool
) -> FinalBoard:
    """Make a board from the arguments of `podium.rank`, which `may_be_of_metric` if they have such a name."""
    _check_types(given)
    refuse_empty(given)
    if may_be_of_metric and given["again"] is None:
        parameters = parameters | _of_metric(given, defaults)
    if fault := fault_in(Rules(**_among(Rules._fields, given))):
        raise UsageError(fault)
    out = Path(given["out"])
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is not a folder")
    check_apart(out, [given["metric"], *_paths(given).values()])
    command = _command_of(given, defaults, parameters)
    options, inputs, store, score_all = (_anew if given["again"] is None else _again)(given, parameters)
    _check_team(options.team, inputs.submissions, inputs.failed)
    with desk_of(options, store, inputs.submissions, given["jobs"], given["dask"]) as desk, alone_in(out):
        return _ranked(options, inputs, out, desk, score_all, command)


SELECTION = Table(team=TEXT, submission=TEXT)
# The names of the arguments in run.json and in `Options`, where they differ.
RENAMED = {"select": "selection"}


def _paths(given: Mapping[str, Any]) -> dict[str, Any]:
    """The paths and addresses that were given, by their names in `Options`; the metric always is."""
    named = {RENAMED.get(name, name): path for name, path in given.items() if path is not None}
    paths = {name: os.fspath(named[name]) for name in PATHS if name in named and name != "metric"}
    return paths | ({"before": leaving_out.board_in(paths["before"])} if "before" in paths else {})


def _among(wanted: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with these names that were given."""
    return {name: given[name] for name in wanted if given[name] is not None}


def _anew(given: Mapping[str, Any], parameters: dict[str, Any]) -> tuple[Options, Inputs, Path, ScoreAll]:
    """Read what is to be scored."""
    if given["solution"] is None or given["submissions"] is None:
        raise UsageError("expected SOLUTION SUBMISSIONS [RUNTIMES], or --again FOLDER")
    metric, paths, folder = os.fspath(given["metric"]), _paths(given), Path(given["out"])
    loaded = hosted.load(metric)
    hosted.check_parameters(loaded, parameters)
    paths.setdefault("failed", _failed_beside(paths.get("runtimes")))
    options = Options(
        metric,
        **paths,
        parameters=recorded.arguments(loaded, parameters, paths["solution"]),
        part=given["part"] or "",
        rules=Rules(**_among(Rules._fields, given)),
        **_among(HEADING, given),
        is_fixed=given["resamples"] is not None,
    )
    files = find(options.submissions, options.side)
    limits = Limits(
        parse_bytes(given["memory_limit"], "--memory-limit"),
        parse_seconds(given["time_limit"], "--time-limit"),
        parse_seconds(given["idle_limit"], "--idle-limit"),
    )
    return options._replace(limits=limits), inputs_of(options, files), folder / STORE, score_anew


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


def _of_metric(given: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Take out of the arguments those rules and headings that are parameters of the metric, with a warning."""
    known = hosted.defaults(hosted.load(os.fspath(given["metric"])))
    own = [name for name in (*Rules._fields, *HEADING) if given[name] != defaults[name]]
    taken = {name: given[name] for name in own if name in known}
    for name in taken:
        given[name] = defaults[name]
        warnings.warn(
            f"{name} goes to the metric, which has a parameter of this name; give the metric's by "
            f"parameters={{{name!r}: …}}, and {name} is podium.rank's own",
            stacklevel=4,
        )
    return taken


def _command_of(
    given: Mapping[str, Any], defaults: Mapping[str, Any], parameters: Mapping[str, Any]
) -> list[str]:
    """Write a call of `podium.rank` as the command that does the same."""
    positional = ("solution", "submissions", "runtimes")
    command = ["podium", "rank", *(os.fspath(given[name]) for name in positional if given[name] is not None)]
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if name in positional or value is None or value == defaults[name]:
            continue
        if isinstance(value, bool):
            command.append(option if value else f"--no-{name}")
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


def _again(given: Mapping[str, Any], parameters: dict[str, Any]) -> tuple[Options, Inputs, Path, ScoreAll]:
    """Read what an earlier run stored, with inputs that were moved, other parameters, rules or tables."""
    folder, out = Path(given["again"]), Path(given["out"])
    reading = ("part", "side", "variants", "dask", "left_out")
    if any(given[name] for name in reading) or given["metric"] != "unified":
        raise UsageError(
            "--again: expected none of --metric, --part, --side, --variants, --dask or --left-out, because "
            "those of the earlier run are used and no submission is read"
        )
    if os.path.realpath(out) == os.path.realpath(folder):
        raise UsageError(f"--out {out}: expected another folder than that of --again")
    before, paths = run_json.read(folder), _paths(given)
    was_moved = {name: path for name, path in paths.items() if name in ("solution", "submissions", "runtimes")}
    options = run_json.options_of(before, folder)._replace(**was_moved)
    named = {*paths, "submissions", "side"}  # no submission is read
    run_json.check_addresses(options, named, lambda name: f"--again {folder} SOLUTION SUBMISSIONS RUNTIMES")
    unread: dict[str, Any] = dict.fromkeys([*(paths.keys() - was_moved), "submissions"])
    if changes := run_json.changed_inputs(before, options._replace(**unread)):
        cure = "rank without --again; with the same --out, what has not changed is not scored again"
        raise UsageError(f"{changes[0]}; {cure}")
    options = _with_parameters(options, parameters)._replace(
        **paths,
        rules=options.rules._replace(**_among(Rules._fields, given)),
        **{"team": None, **_among(HEADING, given)},
    )
    listed_before = before["submissions"]
    files = [
        run_json.as_published(Submission(each["team"], each["submission"], ""), each) for each in listed_before
    ]
    contents = [digests_of(each["sha256"], each.get("side_sha256", "")) for each in listed_before]
    manifest = before["inputs"]["submissions"].get("sha256")
    inputs = inputs_of(options, files)._replace(manifest=manifest)

    def from_store(desk: Desk, submissions: Sequence[Submission], seed: int) -> list[passes.Scored]:
        return passes.stored(desk.job, contents, desk.store, desk.workers)

    return options, inputs, folder / before["store"], from_store


def _with_parameters(options: Options, parameters: dict[str, Any]) -> Options:
    """Change parameters of the metric on which the stored statistics do not depend."""
    loaded = hosted.load(options.metric)
    hosted.check_parameters(loaded, parameters)
    kept = {*map(repr, options.parameters.items())}
    of_statistics = {repr(each) for each in parameters.items() if each[0] not in loaded.measure_parameters}
    if of_statistics - kept:
        accepted = ", ".join(loaded.measure_parameters) or "this metric has none"
        raise UsageError(
            f"--again with {listed(sorted(parameters))}: expected only parameters on which the statistics do "
            f"not depend ({accepted}); rank the submissions again"
        )
    return options._replace(parameters=options.parameters | parameters)


def inputs_of(options: Options, files: list[Submission]) -> Inputs:
    """Read and check what is asked for, beside the solution and the submissions."""
    runtimes = None if options.runtimes is None else speed.RUNTIMES.read(options.runtimes)
    selection = _selection(options, files)
    failed = read_failed(options.failed)
    speed.check_teams(runtimes, files)
    nearly = names.near_misses(((team,) for team in failed["team"]), ((each.team,) for each in files))
    if nearly:
        raise HostError(f"the failed models: expected exactly the names of the teams, found {listed(nearly)}")
    teams = decisions.read(options.teams, files, failed)
    site_board = None if options.site_board is None else site.read(options.site_board)
    was_read = any(each.path for each in files)  # what was only stored has no path
    manifest = content_digest(options.submissions) if was_read and is_manifest(options.submissions) else None
    left_out = leaving_out.read(options.left_out)
    earlier = None if options.before is None else leaving_out.read_earlier(options.before)
    inputs = Inputs(files, failed, teams, runtimes, selection, site_board, manifest, left_out, earlier)
    return _of_accounts(inputs, decisions.accounts_of(teams))


def _of_accounts(inputs: Inputs, accounts: Mapping[str, str]) -> Inputs:
    """Give what accounts have to the teams to which they belong."""
    files, board = inputs.submissions, inputs.site_board
    return inputs._replace(
        submissions=decisions.files_of_one(files, accounts),
        failed=inputs.failed.assign(team=[accounts.get(team, team) for team in inputs.failed["team"]]),
        runtimes=decisions.table_of_one(inputs.runtimes, files, accounts),
        selection=decisions.table_of_one(inputs.selection, files, accounts),
        site_board=board and board._replace(teams=[accounts.get(team, team) for team in board.teams]),
    )


def _selection(options: Options, files: Sequence[Submission]) -> pd.DataFrame | None:
    """Read the selection; without one, and without a rule, that of the manifest counts, if it has one."""
    if options.selection is not None:
        return _read_selection(options.selection, files)
    selected = [each[:2] for each in files if each.selected and not options.rules.choose]
    return pd.DataFrame(selected, columns=speed.KEYS) if selected else None


def _read_selection(path: str, files: Sequence[Submission]) -> pd.DataFrame:
    """Read the selection, and make sure that all selected files are among the submissions."""
    selection = SELECTION.read(path)
    known = {each[:2] for each in files}
    absent = ["/".join(key) for key in selection.itertuples(index=False, name=None) if key not in known]
    if absent:
        raise HostError(
            f"the selection: expected files that are among the submissions, found {listed(sorted(absent))}; "
            "write each name as it is in the folder, with its ending, or in the manifest"
        )
    return selection


def _check_team(team: str | None, files: Sequence[Submission], failed: pd.DataFrame) -> None:
    """Make sure that the team that gets a page is among the teams, also among those whose model failed."""
    teams = sorted({each.team for each in files} | {*failed["team"]})
    if team is None or team in teams:
        return
    nearly = [name for name in teams if names.key_of(name) == names.key_of(team)]
    raise UsageError(f"--team {team}: expected one of the teams, such as {listed(nearly or teams)}")


def _ranked(
    options: Options,
    inputs: Inputs,
    folder: Path,
    desk: Desk,
    score_all: ScoreAll,
    command: Sequence[str],
) -> FinalBoard:
    """Score, rank, make the pages, and write everything."""
    demand(trials.says_direction(desk.solution.metric, desk.solution.arguments, trials.Use.KEEP))
    final, scored = scored_board(options, inputs, desk, score_all, folder)
    final = replace(final, facts=run_json.facts_of(final, desk, inputs, scored, command))
    files = files_of(final)
    final.facts["outputs"] = output.digests(files)
    output.write(files | output.private(final), final.folder, final.facts)
    return final


def score_anew(desk: Desk, submissions: Sequence[Submission], seed: int) -> list[passes.Scored]:
    """Score the submissions that the store does not know."""
    return passes.score(desk.job, submissions, desk.store, desk.workers, seed)


def scored_board(
    options: Options, inputs: Inputs, desk: Desk, score_all: ScoreAll, folder: Path
) -> tuple[FinalBoard, list[passes.Scored]]:
    """Score everything, and make the board; with what became of the submissions."""
    scored = score_all(desk, inputs.submissions, options.rules.seed)
    final = board_of(options, inputs, desk, scored, folder)
    return with_doubts(final, inputs, desk, scored), scored


@contextmanager
def desk_of(
    options: Options, store: Path, files: Sequence[Submission], jobs: int, dask: str | None
) -> Iterator[Desk]:
    """Prepare the solution, and start the workers, here or on a Dask cluster."""
    source = read_once(absolute(options.solution))
    job = make_job(options, source)
    if job.left_out:
        whole = solution_of(job._replace(left_out=(), part=""), source)
        for told in leaving_out.check(whole, leaving_out.read(options.left_out), options.left_out):
            warnings.warn(told, stacklevel=2)
    solution = solution_of(job, source)  # If it is wrong, that is an error before any work begins.
    if dask is None:
        # A stranger's metric may crash on a submission, which must not take the command along.
        apart = not solution.metric.is_own
        started = start_workers(jobs, len(files), apart=apart, idle=job.limits.idle)
    else:
        started = dask_workers(dask, job.limits.idle, probe, job, files[0])
    with started as workers:
        yield Desk(job, solution, store, workers)


def files_of(final: FinalBoard) -> dict[str, bytes]:
    """Make the tables and pages of a board."""
    files = output.tables(final) | {PAGE: page.of_board(final).encode()}
    team = final.options.team
    if team is not None:
        files[TEAM_PAGE] = page.of_team(final, team).encode()
    return files
