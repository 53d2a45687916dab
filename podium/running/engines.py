"""How a model is started: in bubblewrap, in a container, or without a sandbox."""

import contextlib
import importlib.util
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from podium.errors import UsageError, missing_extra
from podium.running import bubblewrap, caches, control_groups
from podium.running import settings as constants
from podium.running.containers import CONTAINER_ENGINES, remove_left, run_in_container
from podium.running.models import CONTAINER, Model
from podium.running.settings import Run, Settings
from podium.running.supervised import answer_of, last_line, run_supervised
from podium.running.supervisor import nothing_measured
from podium.wording import printable

__all__ = ["choose", "probe", "run"]

NOTEBOOK_PACKAGES = ("nbclient", "nbformat", "ipykernel")


def choose(engine: str, models: list[Model], settings: Settings) -> Settings:
    """Choose what isolates the models on this machine.

    Parameters
    ----------
    engine : str
        What the organizer asked for: "auto", "bubblewrap", "docker", "podman" or "none".
    models : list of Model
        The models that will run; their kinds decide what is needed.
    settings : Settings
        How every model is run.

    Returns
    -------
    Settings
        The same settings with `sandbox`, `container_engine` and `control_group` filled in.

    Raises
    ------
    UsageError
        If a model needs something that this machine does not have.
    """
    named = {model.kind: model.key for model in reversed(models)}  # the first of each kind
    lacking = [name for name in NOTEBOOK_PACKAGES if importlib.util.find_spec(name) is None]
    if "notebook" in named and lacking:
        raise missing_extra(f"the notebook of {named['notebook']}", ", ".join(lacking), "notebooks")
    sandbox = "none" if engine == "none" else "bubblewrap"
    group = ""
    if sandbox == "bubblewrap" and named.keys() - {"container"}:
        bubblewrap.require()
        group = control_groups.available()
    settings = settings._replace(sandbox=sandbox, control_group=group)
    if "container" not in named:
        return settings
    candidates = (engine,) if engine in CONTAINER_ENGINES else CONTAINER_ENGINES
    heard = ""
    for name in filter(shutil.which, candidates):
        answer = answer_of(name, "version")
        if answer.returncode == 0:
            remove_left(name)
            # Podman takes a control group of podium's; docker's service has its own.
            in_group = name == "podman" and constants.is_root()
            return settings._replace(
                container_engine=name, control_group=group or (control_groups.available() if in_group else "")
            )
        heard += f"; {name} says: {last_line(answer)}"
    raise UsageError(
        f"{CONTAINER} of {named['container']} needs {' or '.join(candidates)}, "
        f"which is not installed or does not work{heard}"
    )


def probe(settings: Settings, models: list[Model]) -> None:
    """Try the sandbox before any model runs.

    Parameters
    ----------
    settings : Settings
        The settings that `choose` returned.
    models : list of Model
        The models that will run.

    Raises
    ------
    UsageError
        If the sandbox cannot be made, or if models could not read all of the data in it.
    """
    inside = [model for model in models if model.kind != "container" and settings.sandbox == "bubblewrap"]
    isolated = inside or settings.container_engine
    if isolated and (link := _link_out_of(settings.data)):
        raise UsageError(
            f"{printable(link)} is a link to a file that models do not see; replace it by a copy (cp -L)"
        )
    if isolated and (closed := _unreadable(settings.data)):
        words, whom = _closed_to()
        raise UsageError(f"{words} {printable(closed)} (chmod -R {whom}+rX)")
    if inside:
        bubblewrap.probe(settings)


def run(model: Model, settings: Settings) -> Run:
    """Run a model once, after bringing the caches into the same state as before every other run.

    Parameters
    ----------
    model : Model
        The model to run.
    settings : Settings
        The settings that `choose` returned.

    Returns
    -------
    Run
        What was measured, the log and the submission.

    Raises
    ------
    UsageError
        If the engine itself fails, which is a fault of the machine and never the team's.
    """
    if closed := _closed(model, settings):
        return Run(nothing_measured(closed), 0.0, "", b"")
    caches.equalize([model.folder, settings.data])
    if model.kind != "container" and settings.sandbox == "bubblewrap":
        return bubblewrap.run_in_bubblewrap(model.folder, bubblewrap.program_of(model), settings)
    with _working_folder() as working:
        if model.kind == "container":
            return run_in_container(model.entry, settings, working)
        return _run_without_sandbox(model, settings, working)


@contextlib.contextmanager
def _working_folder() -> Iterator[str]:
    """Make an empty folder for a model's files, and remove it with everything that the model left in it.

    A model may have made thousands of folders within each other.  Their paths are longer than the system
    allows, and ``shutil.rmtree`` fails on them.  Therefore each folder is moved to the top before it is
    emptied.
    """
    top = tempfile.mkdtemp(prefix="podium-")
    working = os.path.join(top, "working")
    os.mkdir(working)
    try:
        yield working
    finally:
        number, waiting = 0, [working]
        while waiting:
            folder = waiting.pop()
            with contextlib.suppress(OSError):  # what cannot be removed stays behind
                os.chmod(folder, 0o700)
                for entry in list(os.scandir(folder)):
                    with contextlib.suppress(OSError):
                        if entry.is_dir(follow_symlinks=False):
                            number += 1
                            moved = os.path.join(top, str(number))
                            os.chmod(entry.path, 0o700)  # a folder that is closed cannot be moved
                            os.rename(entry.path, moved)
                            waiting.append(moved)
                        else:
                            os.unlink(entry.path)
                os.rmdir(folder)
        with contextlib.suppress(OSError):
            os.rmdir(top)


def _closed(model: Model, settings: Settings) -> str:
    """The message that the sandbox's user cannot read a model, or "" if it can read all of it."""
    if model.kind == "container" or settings.sandbox != "bubblewrap":
        return ""
    path, entry = _unreadable(model.folder), model.folder / model.entry
    if model.entry == "run" and constants.is_root() and not entry.stat().st_mode & 0o1:
        path = path or entry
    words, whom = _closed_to()
    return f"{words} {printable(path.relative_to(model.folder.parent))} (chmod -R {whom}+rX)" if path else ""


def _closed_to() -> tuple[str, str]:
    """The words that say who cannot read a file, and the letter for these users in ``chmod``."""
    return (constants.CLOSED, "o") if constants.is_root() else (constants.CLOSED_TO_USER, "u")


def _paths_in(folder: Path) -> Iterator[os.DirEntry[str]]:
    """All files, folders and links in a folder and in the folders within it, as far as podium can read them."""
    waiting = [os.fspath(folder)]
    while waiting:
        with contextlib.suppress(OSError):
            for entry in list(os.scandir(waiting.pop())):
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _unreadable(folder: Path) -> Path | None:
    """The folder itself, or the first file or folder in it, that the sandbox's user cannot read.

    That user is nobody when podium runs as root, and otherwise the user who runs podium.
    """

    def is_readable(path: str, mode: int) -> bool:
        if not constants.is_root():
            return os.access(path, os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0))
        return mode & 0o5 == 0o5 if stat.S_ISDIR(mode) else bool(mode & 0o4)

    if not is_readable(os.fspath(folder), folder.stat().st_mode):
        return folder
    for entry in _paths_in(folder):
        mode = entry.stat(follow_symlinks=False).st_mode
        if (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and not is_readable(entry.path, mode):
            return Path(entry.path)
    return None


def _link_out_of(folder: Path) -> Path | None:
    """The first link in a folder whose target lies outside, where the sandbox does not show it."""
    for entry in _paths_in(folder):
        if entry.is_symlink():
            target, top = os.readlink(entry.path), os.fspath(folder)
            path = os.path.normpath(os.path.join(os.path.dirname(entry.path), target))
            if os.path.isabs(target) or os.path.commonpath([path, top]) != top:
                return Path(entry.path)
    return None


def _run_without_sandbox(model: Model, settings: Settings, working: str) -> Run:
    """Run a model as an ordinary program of the user who runs podium."""
    folder = str(model.folder.resolve())
    environment = bubblewrap.environment_of(str(settings.data), folder) | {"HOME": working}
    if sys.platform == "win32":
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}
    program = bubblewrap.program_of(model, folder, str(constants.HERE))
    return run_supervised(settings, program, environment, working)
