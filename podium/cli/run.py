"""Run the submitted models on identical hardware, one at a time, and record their runtimes.

    podium run models --data data --out final/run
    podium rank solution.csv final/run/submissions final/run/runtimes.csv --out final/board

MODELS has one folder per team, or several in a team's folder. Each has a notebook (*.ipynb), run, run.py,
run.sh or container.txt. A model finds the data in $PODIUM_DATA and leaves submission.csv (.csv.gz, .parquet)
in its current folder. A run that was stopped continues when it is started again.

    podium run --one FOLDER --data data --out try        a participant tries a model
"""

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.cli.arguments import positive
from podium.errors import HostError, SubmissionRejected, UsageError

if TYPE_CHECKING:
    from podium.running.models import Failure, Model
    from podium.running.rounds import Plan
    from podium.running.settings import Settings

ENGINES = ("auto", "bubblewrap", "docker", "podman", "none")
DIFFERING = ("slowest", "fail")
MORE_REPEATS = 2  # how many more runs than --repeats a model may get, unless one run was asked for
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
FAILURES_SHOWN = 5  # with their reasons; all are in failed.csv


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium run``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of the command.
    """
    parser.add_argument("models", type=Path, help="a folder that has a folder for each team")
    parser.add_argument(
        "--data", type=Path, required=True, metavar="FOLDER", help="the folder that the models may read"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the folder for the results")
    parser.add_argument("--one", action="store_true", help="MODELS is the folder of one model: run it once")
    parser.add_argument(
        "--repeats", type=positive, default=3, metavar="N", help="how often each model runs (default: 3)"
    )
    parser.add_argument(
        "--most-repeats", type=positive, metavar="N",
        help="how often a model runs at most, if its runs were disturbed or its rank is undecided (default: "
        "two more than --repeats; 1 for --repeats 1)",
    )  # fmt: skip
    parser.add_argument(
        "--differing", choices=DIFFERING, default="slowest",
        help="what becomes of a model whose predictions differ from run to run: its slowest run counts, or it "
        "fails (default: slowest)",
    )  # fmt: skip
    parser.add_argument(
        "--time-limit",
        type=seconds,
        default="9h",
        metavar="TIME",
        help="time limit of a run, such as 90s or 20m (default: 9h)",
    )
    parser.add_argument(
        "--memory-limit",
        type=size,
        default="16G",
        metavar="SIZE",
        help="memory limit of a model, such as 500M or 16G (default: 16G)",
    )
    parser.add_argument(
        "--disk-limit", type=size, default="2G", metavar="SIZE",
        help="limit on the files that a model writes, which bubblewrap keeps in memory (default: 2G)",
    )  # fmt: skip
    parser.add_argument(
        "--cores", type=positive, default=0, metavar="N", help="how many cores a model may use (default: all)"
    )
    parser.add_argument(
        "--gpus", action="store_true", help="let the models use the GPUs of this machine (default: none)"
    )
    parser.add_argument(
        "--engine", choices=ENGINES, default="auto",
        help="the sandbox; none is for your own models only (default: auto, which is docker or podman for "
        "containers and bubblewrap for all other models)",
    )  # fmt: skip
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="run the models on the workers of the cluster whose Dask scheduler is at this address, one at a "
        "time on each (default: on this machine)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="a number that decides the order of the models (default: 0)"
    )


def run(options: argparse.Namespace) -> None:
    """Run the models, print their runtimes, and say which failed.

    Parameters
    ----------
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Raises
    ------
    UsageError
        An option does not fit, or this machine cannot isolate the models.
    HostError
        No model gave predictions.
    SubmissionRejected
        With --one, the model failed.
    """
    import contextlib

    from podium.running import cluster, rounds
    from podium.running.settings import Settings

    data, folder, out = _folders(options)
    plan = _plan(options)
    models, failures = _models(folder, options.one)
    settings = Settings(
        data, "", "", options.time_limit, options.memory_limit, options.disk_limit, options.cores, options.gpus
    )
    with contextlib.ExitStack() as stack:
        if options.dask:
            machine, settings, execute = stack.enter_context(
                cluster.workers_of(options.dask, options.engine, models, settings)
            )
        else:
            machine, settings = rounds.prepare(options.engine, models, settings)
            execute = rounds.here(settings)
        _warn_of(settings, models)
        runtimes, results = rounds.run_all(models, failures, settings, out, plan, machine, execute)
    _report(options, runtimes, results.failures, results.state.is_provisional)


def _folders(options: argparse.Namespace) -> tuple[Path, Path, Path]:
    """Return the folders of the data, the models and the results. Models may read only the first of them."""
    from podium.running.settings import visible

    if options.out.exists() and not options.out.is_dir():
        raise UsageError(f"--out {options.out} is not a folder")
    if not options.data.is_dir():
        raise UsageError(f"there is no folder {options.data} (--data)")
    data, folder, out = options.data.resolve(), options.models.resolve(), options.out.resolve()
    for shown in visible(data):
        for hidden in (folder, out):
            if hidden.is_relative_to(shown):
                raise UsageError(f"every model could read {hidden}, because it is in {shown}")
    return data, folder, out


def _plan(options: argparse.Namespace) -> "Plan":
    """Plan how often the models run."""
    from podium.running.rounds import Plan

    repeats = 1 if options.one else options.repeats
    most = options.most_repeats or (repeats + MORE_REPEATS if repeats > 1 else 1)
    if most < repeats:
        raise UsageError(f"--most-repeats {most} is less than --repeats {repeats}")
    return Plan(repeats, most, options.seed, options.differing == "fail")


def _models(folder: Path, one: bool) -> "tuple[list[Model], list[Failure]]":
    """Find the models, and the folders without one."""
    from podium.running.models import Failure, find_model, find_models

    if not one:
        models, failures = find_models(folder)
        _warn_of_look_alikes({model.team for model in models} | {failure.team for failure in failures})
        return models, failures
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    model = find_model(folder, folder.name)
    if isinstance(model, Failure):
        raise SubmissionRejected(model.reason)
    return [model], []


def _warn_of_look_alikes(teams: set[str]) -> None:
    """Warn of names that nobody can tell apart, because a board with both is refused."""
    from podium.ranking.names import key_of, shown
    from podium.wording import listed

    alike = [shown(team) for team in sorted(teams) if sum(key_of(team) == key_of(other) for other in teams) > 1]
    if alike:
        warnings.warn(
            f"names of teams that look alike, which podium rank refuses: {listed(alike)}", stacklevel=1
        )


def _warn_of(settings: "Settings", models: "list[Model]") -> None:
    """Warn of missing protection."""
    if settings.sandbox == "none":
        warnings.warn("no sandbox: the models can do whatever you can", stacklevel=1)
    elif not settings.control_group and any(model.kind != "container" for model in models):
        warnings.warn(
            "no control group: memory is only watched, ten times a second, and memory that belongs to no "
            "process is not seen (run as root, or: systemd-run --user --scope -p Delegate=yes podium run …)",
            stacklevel=1,
        )


def _report(
    options: argparse.Namespace, runtimes: list[dict[str, Any]], failed: "list[Failure]", provisional: bool
) -> None:
    """Print the runtimes, and raise an error if no model gave predictions."""
    import pandas as pd

    from podium.cli import console
    from podium.running import rounds

    if runtimes:
        table = pd.DataFrame(runtimes)[["team", "submission", "runtime", "runtime_error", "runs", "marks"]]
        console.print_table("Provisional runtimes in seconds" if provisional else "Runtimes in seconds", table)
    print(
        f"\nmodels with predictions: {len(runtimes):,}, failed: {len(failed):,}; written to {options.out}",
        flush=True,
    )
    if options.one and failed:
        raise SubmissionRejected(f"{failed[0].reason} (its whole log is in {options.out / rounds.LOGS})")
    if not runtimes:
        raise HostError(f"no model gave predictions; {failed[0].team}: {failed[0].reason}")
    for failure in failed[:FAILURES_SHOWN]:
        model = f"{failure.team}/{failure.model}" if failure.model else failure.team
        warnings.warn(f"{model} failed: {failure.reason}", stacklevel=1)
    if failed:
        warnings.warn(f"{len(failed):,} failed, see {options.out / rounds.FAILED}", stacklevel=1)


def seconds(text: str) -> float:
    """Parse a time such as 90s, 15m or 9h.

    Parameters
    ----------
    text : str
        The argument.

    Returns
    -------
    float
        The seconds.

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a number above 0 with a known unit.
    """
    return _with_unit(text, SECONDS, "90s, 15m or 9h")


def size(text: str) -> int:
    """Parse a size such as 500M or 16G.

    Parameters
    ----------
    text : str
        The argument.

    Returns
    -------
    int
        The bytes.

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a number above 0 with a known unit.
    """
    return int(_with_unit(text.upper(), BYTES, "500M or 16G"))


def _with_unit(text: str, units: dict[str, int], like: str) -> float:
    """Parse a number above 0 with one of these units."""
    number = text.rstrip("".join(units))
    try:
        value = float(number) * units[text[len(number) :]]
    except (ValueError, KeyError):
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a value such as {like}, found {text}")
    return value
