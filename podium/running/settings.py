"""The settings with which every model is run, and the result of a run."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

from podium.running import supervisor

__all__ = ["Run", "Settings", "cores_used", "visible"]

HERE = Path(__file__).parent  # a constant of the module, because tests replace it

# The limits of every model.
SUBMISSION_BYTES = 256 * 2**20  # the largest submission
PROCESSES = 512  # of a model at once, threads included
OPEN_FILES = 4096  # of a process at once
FILES = 200_000  # that a model may have written

NOBODY = 65534  # the number of the user nobody

# The reason why a model did not run begins with these words if its files are closed to the sandbox's user.
CLOSED = "as podium runs as root, models run as the user nobody, who cannot read"
CLOSED_TO_USER = "models run as the user who runs podium, who cannot read"

# The nice values of a model and of its supervisor.  Only root may raise a priority.
MODEL_OF_ROOT, SUPERVISOR_OF_ROOT, MODEL_OF_OTHERS = 0, -10, 5


class Settings(NamedTuple):
    """How every model is run.

    Attributes
    ----------
    data : Path
        The folder with the competition's data.
    sandbox : str
        The sandbox of models that are not containers: "bubblewrap" or "none".
    container_engine : str
        "docker" or "podman", or "" if no model needs one.
    time_limit : float
        The longest run, in seconds.
    memory_limit : int
        The most memory that a model may hold, in bytes.
    disk_limit : int
        The size of all files that a model may write, in bytes.
    cores : int
        The number of cores to which models are pinned; 0 means all.
    gpus : bool
        Whether models see the accelerators.
    control_group : str
        "v2" or "v1" if the kernel limits a model's memory and processes.  "" if podium watches them instead.
    """

    data: Path
    sandbox: str
    container_engine: str
    time_limit: float
    memory_limit: int
    disk_limit: int
    cores: int
    gpus: bool
    control_group: str = ""


class Run(NamedTuple):
    """The result of a run, as the sandbox returns it.

    Attributes
    ----------
    measured : supervisor.Measured
        What the supervisor measured.
    others : float
        The share of the cores' time, from 0 to 1, that others took; NaN if unknown.
    log : str
        What the model printed, without characters that could disturb a terminal.
    submission : bytes
        The content of the submission's file, empty if there is none.
    """

    measured: supervisor.Measured
    others: float
    log: str
    submission: bytes


def is_root() -> bool:
    """Whether podium runs as root.

    If it does, models run as the user nobody, because the kernel's limits on processes do not apply to root.

    Returns
    -------
    bool
        False on systems without users such as root.
    """
    return hasattr(os, "geteuid") and os.geteuid() == 0


def cores_used(number: int) -> list[int]:
    """Choose the cores to which models are pinned.

    Parameters
    ----------
    number : int
        How many cores; 0 means all.

    Returns
    -------
    list of int
        The last cores among those that this process may use.  The list is empty on systems other than Linux,
        where models cannot be pinned.
    """
    return sorted(os.sched_getaffinity(0))[-number:] if sys.platform == "linux" else []


def visible(data: Path) -> list[Path]:
    """List the folders that every model in bubblewrap can read.

    Parameters
    ----------
    data : Path
        The folder with the competition's data.

    Returns
    -------
    list of Path
        The data first, then the system's programs, then the folders of Python and its packages.
    """
    python = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent.parent)}
    return [data, Path("/usr"), *(Path(name) for name in sorted(python) if not name.startswith("/usr"))]
