"""Run the submitted models on identical hardware: the function behind ``podium run``."""

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from podium.common.errors import SubmissionRejected, UsageError
from podium.common.options import as_option, takes, whole_number
from podium.common.statements import say
from podium.running.models import Failure, Kind, Model, find_model, find_models
from podium.running.settings import Settings, parse_bytes, parse_environment, parse_seconds, visible
from podium.tables.files import Location, check_apart
from podium.tables.names import alike, of_other_scripts, shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Options", "Runs", "of_options", "run"]


class Runs(NamedTuple):
    """What `run` has found out, as tables; the same is in the files of the output folder."""

    runtimes: "pd.DataFrame"  # a row for each model with predictions, as in ``runtimes.csv``
    failed: "pd.DataFrame"  # a row for each model without predictions, as in ``failed.csv``, with its output
    runs: "pd.DataFrame"  # a row for each run, as in ``runs.csv``
    state: str  # how quiet the machine was
    provisional: bool  # whether the runtimes should be measured again before they decide a board
    out: Path  # the folder with all files

    @property
    def counts(self) -> str:
        """How many models gave predictions, and how many did not."""
        return say("models_counted", done=len(self.runtimes), failed=len(self.failed))

    def __repr__(self) -> str:
        return f"<{self.counts}; runs: {len(self.runs):,}; machine: {self.state}; in {self.out}>"


@dataclass(frozen=True)
class Options:
    """The options of `podium.run`.

    Parameters
    ----------
    models : MODELS
        A folder that has a folder for each team.
    data : FOLDER
        The folder that the models may read.
    out : FOLDER
        The folder for the results. If it has the runs of an earlier call with the same settings, they are kept,
        and only the missing ones are made.
    one : bool
        The folder of models is that of one model, which then runs once and is measured at once.
    repeats : N
        How often each model is measured.
    time_limit : TIME
        The time limit of a run: seconds, or a text such as ``90s`` or ``20m``.
    memory_limit : SIZE
        The memory limit of a model: bytes, or a text such as ``500M``. The limit of its files is added if these
        are in memory.
    gpus : bool
        Let the models use the GPUs of this machine.

    Other Parameters
    ----------------
    disk_limit : SIZE
        The limit on what a model writes into each of its folders, which bubblewrap keeps in memory.
    folder_limit : SIZE
        The limit on the files of a model's folder. A larger one fails.
    cores : N
        How many cores a model may use (default: all).
    engine : WORD
        What isolates the models: ``auto`` is docker or podman for containers and bubblewrap for all others, and
        ``none`` is for your own models only.
    dask : ADDRESS
        The address of the scheduler of a Dask cluster, on whose workers the models run, one at a time on each.
    env : NAME=VALUE
        A variable that models find in their environment, as ``NAME=VALUE``; there may be several.
    seed : N
        A number that decides the order of the models in each round.
    """

    models: Location
    _: KW_ONLY
    data: Location
    out: Location
    one: bool = False
    repeats: Annotated[int, whole_number(1)] = 3
    time_limit: str | float = "9h"
    memory_limit: str | int = "16G"
    gpus: bool = False
    disk_limit: str | int = "2G"
    folder_limit: str | int = "64G"
    cores: Annotated[int, whole_number(0)] = 0
    engine: Literal["auto", "bubblewrap", "docker", "podman", "none"] = "auto"
    dask: str | None = None
    env: Sequence[str] = ()
    seed: int = 0

    @property
    def settings(self) -> Settings:
        """The settings with which every model runs."""
        return Settings(
            Path(self.data).resolve(),
            parse_seconds(self.time_limit, as_option("time_limit")),
            parse_bytes(self.memory_limit, as_option("memory_limit")),
            parse_bytes(self.disk_limit, as_option("disk_limit")),
            self.cores,
            self.gpus,
            environment=parse_environment(self.env),
        )


@takes(Options)
def run(options: Options) -> Runs:
    """Run the submitted models on this machine, one at a time, and record their runtimes.

    This is what the command ``podium run`` does, whose options are these arguments; see
    `podium.running.run.Options`. Each model runs once without being measured and then `repeats` times, in
    rounds whose order is drawn by lot. The function starts the models as programs of their own, so a script
    that calls it needs no ``__main__`` guard.

    Returns
    -------
    Runs
        The tables ``runtimes``, ``failed`` and ``runs``, the state of the machine, and the folder of results.

    Raises
    ------
    UsageError
        If the arguments, the folders or this machine do not allow to run the models.
    SubmissionRejected
        If `one` is given and the folder has no model that could be run.

    Warns
    -----
    UserWarning
        If there is no sandbox or no control group, if the runtimes are provisional or undecided, if predictions
        differ, or if names of teams look alike.

    Notes
    -----
    Lines on the standard error say which model runs and how it has ended. Its log is written meanwhile.

    References
    ----------
    Beyer, Löwe and Wendler, *Reliable benchmarking: requirements and solutions*, STTT 21, 2019.

    Examples
    --------
    >>> import podium
    >>> made = podium.run("examples/models", data="examples/data", out="final/run")  # doctest: +SKIP
    >>> made  # doctest: +SKIP
    <models with predictions: 3, failed: 1; runs: 13; machine: quiet; in final/run>
    >>> board = podium.rank("solution.csv", made.out, out="final/board")  # doctest: +SKIP
    """
    return of_options(options)


def of_options(options: Options) -> Runs:
    """Run models as the options say."""
    # Only here, so that the command's --help does not have to wait for pandas.
    from podium.running import remote, rounds
    from podium.running.machine import make_ready
    from podium.running.results import frames_of

    folder, out, given = Path(options.models).resolve(), Path(options.out), options.settings
    _check_folders(folder, given.data, out)
    found, failures = _models_in(folder, options)
    repeats = 1 if options.one else options.repeats
    plan = rounds.Plan(repeats, options.seed, warm_up=not options.one)
    with contextlib.ExitStack() as stack:
        if options.dask:
            of_dask = remote.workers_of(options.dask, options.engine, found, given)
            prepared, execute = stack.enter_context(of_dask)
        else:
            prepared = make_ready(options.engine, found, given)
            execute = rounds.here(prepared.settings, out)
        for caution in _cautions(prepared.settings, found, failures):
            warnings.warn(caution, stacklevel=3)
        results = rounds.run_all(prepared, failures, out, plan, execute)
    state = results.state
    return Runs(*frames_of(results), state.text, state.is_provisional, out)


def _check_folders(models: Path, data: Path, out: Path) -> None:
    """Refuse folders that are not there, and places for models or results that every model could read."""
    for folder, which in ((models, ""), (data, f" ({as_option('data')})")):
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder}{which}")
    for seen in visible(data):
        for hidden in (models, out.resolve()):
            if hidden.is_relative_to(seen):
                raise UsageError(f"every model could read {hidden}, because it is in {seen}")
    check_apart(out, (models, data))


def _models_in(folder: Path, options: Options) -> tuple[list[Model], list[Failure]]:
    """The models in a folder, or the one that it is."""
    most = parse_bytes(options.folder_limit, as_option("folder_limit"))
    if not options.one:
        return find_models(folder, most)
    model = find_model(folder, folder.name, most_bytes=most)
    if isinstance(model, Failure):
        raise SubmissionRejected(model.reason)
    return [model], []


def _cautions(settings: Settings, models: list[Model], failures: list[Failure]) -> Iterator[str]:
    """What to know before any model runs: which names nobody can tell apart, and what does not protect."""
    teams = {model.team for model in models} | {failure.team for failure in failures}
    if same := [shown(team) for group in alike(teams) for team in group]:
        yield say("names_that_rank_refuses", names=same)
    yield from map(str, of_other_scripts(teams))
    if settings.sandbox == "none":
        yield say("no_sandbox")
    elif not settings.control_group and any(model.kind is not Kind.CONTAINER for model in models):
        yield say("no_control_group")
