"""How every model is run, and what comes of a run."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

from podium.running import supervisor

__all__ = ["Run", "Settings", "cores_used", "visible"]

HERE = Path(__file__).parent  # also seen by the tests, which play other systems
SUBMISSION_BYTES = 256 * 2**20
PROCESSES = 512
OPEN_FILES = 4096
FILES = 200_000
NOBODY = 65534
CLOSED = "root's models run as nobody, who cannot read"  # so begins why such a model did not run
# A model's priority, and its supervisor's: only root may raise one.
MODEL_OF_ROOT, SUPERVISOR_OF_ROOT, MODEL_OF_OTHERS = 0, -10, 5


class Settings(NamedTuple):
    """How every model is run.

    Attributes
    ----------
    data : Path
        The competition's data.
    sandbox : str
        "bubblewrap" or "none".
    container_engine : str
        "docker", "podman", or "" where no model needs one.
    time_limit : float
        Seconds of a run.
    memory_limit, disk_limit : int
        Bytes.
    cores : int
        To so many cores are models pinned; 0 for all.
    gpus : bool
        Whether models see the accelerators.
    control_group : str
        "v2" or "v1" where the kernel limits memory and processes of a model, "" where they are watched.
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
    """What comes of a run.

    Attributes
    ----------
    measured : supervisor.Measured
    others : float
        The share of the cores' time that others took, NaN if unknown.
    log : str
        What the model printed, safe to print.
    submission : bytes
    """

    measured: supervisor.Measured
    others: float
    log: str
    submission: bytes


def is_root() -> bool:
    """Whether models have to be run as nobody: limits on processes do not bind root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def cores_used(number: int) -> list[int]:
    """The cores to which models are pinned.

    Parameters
    ----------
    number : int
        How many; 0 for all.

    Returns
    -------
    list of int
        The last ones of those that this process may use; none where models cannot be pinned (not on Linux).
    """
    return sorted(os.sched_getaffinity(0))[-number:] if sys.platform == "linux" else []


def visible(data: Path) -> list[Path]:
    """The folders that every model in bubblewrap can read.

    Parameters
    ----------
    data : Path
        The competition's data.

    Returns
    -------
    list of Path
        The data first, then the system's programs, then Python and its packages.
    """
    python = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent.parent)}
    return [data, Path("/usr"), *(Path(name) for name in sorted(python) if not name.startswith("/usr"))]
