"""One machine: what it has for running models, and a run of a model on it."""

import importlib.util
import itertools
import os
import stat
import sys
from pathlib import Path
from typing import NamedTuple

from podium.common.errors import UsageError, missing_extra
from podium.common.options import as_option
from podium.common.wording import printable
from podium.running import control_group, hardware, sandbox
from podium.running.containers import find_engine, image_id, run_in_container
from podium.running.measuring import Log, Outcome, Run, watched
from podium.running.models import Failure, Kind, Model, as_failure, paths_in
from podium.running.settings import Settings, cores_used, given_to_models, is_root
from podium.running.submission import judged, left_in, working_folder
from podium.running.view import NOTEBOOK, places_in, reset_device_times

NOTEBOOK_PACKAGES = ("nbclient", "nbformat", "ipykernel")


class ReadyMachine(NamedTuple):
    """A machine on which models can run."""

    hardware: str  # its description, see `hardware.describe`
    versions: dict[str, str]  # of what is installed on it
    settings: Settings  # with the sandbox, the engine and the control group that it has
    models: list[Model]  # those that can run; containers with the ids of their images
    failures: list[Failure]  # those that cannot


def make_ready(engine: str, models: list[Model], settings: Settings) -> ReadyMachine:
    """Choose what isolates the models on this machine, and try it before any model runs."""
    first = {model.kind: model.key for model in reversed(models)}
    lacking = [name for name in NOTEBOOK_PACKAGES if importlib.util.find_spec(name) is None]
    if Kind.NOTEBOOK in first and lacking:
        raise missing_extra(f"the notebook of {first[Kind.NOTEBOOK]}", ", ".join(lacking), "notebooks")
    there = len(cores_used(settings.cores))
    if sys.platform == "linux" and there < settings.cores:
        raise UsageError(
            f"{as_option('cores')}: expected at most {there}, as this machine has, found {settings.cores}"
        )
    settings = settings._replace(sandbox="none" if engine == "none" else "bubblewrap")
    if Kind.CONTAINER in first:
        settings = settings._replace(container_engine=find_engine(engine, first[Kind.CONTAINER]))
    if settings.sandbox == "bubblewrap":
        _refuse_hidden_data(settings.data)
        if first.keys() - {Kind.CONTAINER}:
            sandbox.require()
            settings = settings._replace(control_group=control_group.is_available())
            sandbox.probe(settings)
    ready: list[Model] = []
    failures: list[Failure] = []
    for model in models:
        try:
            ready.append(_ready(model, settings))
        except (ValueError, OSError) as problem:
            failures.append(as_failure(model.team, model.name, problem))
    return ReadyMachine(hardware.describe(), hardware.versions(), settings, ready, failures)


def _ready(model: Model, settings: Settings) -> Model:
    """The model, with its image if it is a container; a ValueError says why it cannot run."""
    if model.kind is Kind.CONTAINER:
        return model._replace(image=image_id(settings.container_engine, model.entry))
    if settings.sandbox == "bubblewrap" and (closed := _closed(model.folder)):
        raise ValueError(_cannot_read(os.path.relpath(closed, model.folder.parent)))
    return model


def _refuse_hidden_data(data: Path) -> None:
    """Raise a UsageError if models do not see all of the data."""
    if closed := _closed(data):
        raise UsageError(_cannot_read(printable(closed)))
    for entry in paths_in(data):
        if entry.is_symlink() and not Path(os.path.realpath(entry.path)).is_relative_to(data):
            raise UsageError(
                f"{printable(entry.path)} is a link to a file that models do not see; "
                "replace it by a copy (cp -L)"
            )


def _cannot_read(path: str) -> str:
    """Say that the models' user cannot read a file or folder, and how to open it."""
    if is_root():
        return f"models run as the user nobody when podium runs as root, who cannot read {path} (chmod -R o+rX)"
    return f"this user cannot read {path} (chmod -R u+rX)"


def _closed(folder: Path) -> str:
    """The folder itself, or the first file or folder in it, that the models' user cannot read, or ""."""
    paths = itertools.chain([str(folder)], (entry.path for entry in paths_in(folder)))
    return next((path for path in paths if _is_closed(path, os.lstat(path).st_mode)), "")


def _is_closed(path: str, mode: int) -> bool:
    """Whether the models' user cannot read a file or folder; what is neither is none that a model reads."""
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return False
    wanted = os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)  # which are the bits of a mode, too
    return mode & wanted != wanted if is_root() else not os.access(path, wanted)


def run_once(model: Model, settings: Settings, log: Log) -> Run:
    """Run a model once."""
    if settings.sandbox != "none":
        reset_device_times(settings)
    if model.kind is Kind.CONTAINER:
        return run_in_container(model, settings, log)
    if settings.sandbox == "bubblewrap":
        is_notebook = model.kind is Kind.NOTEBOOK
        made = sandbox.run_in_bubblewrap(model.folder, sandbox.program_of(model), settings, log, is_notebook)
    else:
        made = _run_without_sandbox(model, settings, log)
    if made.outcome is Outcome.EXIT and model.entry == "run.sh":  # shells differ
        return made._replace(reason=f"{made.reason} (run by {' '.join(sandbox.program_of(model)[:-1])})")
    return made


def _run_without_sandbox(model: Model, settings: Settings, log: Log) -> Run:
    """Run a model as an ordinary program of the user who runs podium."""
    folder = str(model.folder.resolve())
    program = sandbox.program_of(model, folder, str(NOTEBOOK))
    with working_folder() as working:
        packages = os.path.join(os.path.dirname(working), "packages")
        os.makedirs(places_in(packages)["purelib"])
        environment = sandbox.environment_of(str(settings.data), folder, packages)
        environment |= {"HOME": working} | given_to_models(settings)
        if sys.platform == "win32":
            environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}
        run, in_time = watched(program, environment, working, settings.time_limit, log)
        return judged(run, in_time, left_in(working), settings, log)
