"""The settings with which every model is run."""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from podium.common.errors import UsageError
from podium.common.options import as_option
from podium.common.wording import printable

# The files and folders of results.
RUNS, RUNTIMES, FAILED, FOLDER_OF_SUBMISSIONS = "runs.csv", "runtimes.csv", "failed.csv", "submissions"
HARDWARE = "hardware.json"  # the machine, its versions and the settings

# The limits of every model.
SUBMISSION_BYTES = 256 * 2**20  # the largest submission
PROCESSES = 512  # of a model at once, threads included
OPEN_FILES = 4096  # of a process at once
SECONDS_TO_START = 60  # until the sandbox is ready, which is not counted
SECONDS_TO_SEND = 600  # until podium has the submission, which is not counted either

NOBODY = 65534  # the number of the user nobody, as whom models run if podium runs as root
UNPRIVILEGED = 1000  # the number of the user as whom they run otherwise

NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")  # of a variable
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Settings(NamedTuple):
    """How every model is run."""

    data: Path  # the folder with the competition's data
    time_limit: float  # the longest run, in seconds
    memory_limit: int  # the most memory that a model may hold, in bytes
    disk_limit: int  # the size of each of the folders to which a model may write, in bytes
    cores: int  # the number of cores to which models are pinned; 0 means all
    gpus: bool  # whether models see the accelerators
    sandbox: str = ""  # the sandbox of models that are not containers: "bubblewrap" or "none"
    container_engine: str = ""  # "docker" or "podman", or "" if no model needs one
    environment: Mapping[str, str] = {}  # the organizer's variables that models find
    control_group: bool = False  # whether podium can make control groups


def is_root() -> bool:
    """Whether podium runs as root, so that models have to run as the user nobody."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def given_to_models(settings: Settings) -> dict[str, str]:
    """The variables of Kaggle and of the organizer, which every model finds, whatever isolates it."""
    return {"KAGGLE_IS_COMPETITION_RERUN": "1", **settings.environment}


def parse_environment(given: Iterable[str]) -> dict[str, str]:
    """Check what models shall find in their environment; the last value of a name counts.

    >>> parse_environment(["SEED=1", "MODE=a=b", "SEED=2"])
    {'SEED': '2', 'MODE': 'a=b'}
    """
    values = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not (sign and NAME.fullmatch(name)) or "\0" in value:
            raise UsageError(f"{as_option('env')}: expected NAME=VALUE, found {printable(each)[:80]}")
        values[name] = value
    return values


def cores_used(number: int) -> list[int]:
    """Choose the cores to which models are pinned."""
    return sorted(os.sched_getaffinity(0))[-number:] if sys.platform == "linux" else []


def visible(data: Path) -> list[Path]:
    """List the folders that every model in bubblewrap can read."""
    python = {plain(sys.prefix), plain(sys.base_prefix), str(Path(sys.executable).resolve().parent.parent)}
    return [data, Path("/usr"), *(Path(name) for name in sorted(python) if not name.startswith("/usr"))]


def interpreter() -> str:
    """The path of the Python that runs podium, which may be a link into another folder."""
    folder, name = os.path.split(sys.executable)
    return os.path.join(plain(folder), name)


def plain(folder: str) -> str:
    """The path of a folder without "..", as the folders before that are not there in a sandbox."""
    shorter = os.path.normpath(folder)
    is_same = os.path.isdir(shorter) and os.path.samefile(shorter, folder)  # it is not behind a link
    return shorter if is_same else os.path.realpath(folder)


LARGEST = 2**53  # seconds or bytes, beyond which no system has a limit


def parse_seconds(text: str | float, option: str) -> float:
    """Read a time such as 90s, 20m or 9h.

    >>> parse_seconds("20m", "--time-limit"), parse_seconds(90, "--time-limit")
    (1200.0, 90.0)
    """
    return _with_unit(str(text), SECONDS, f"{option}: expected a time such as 90s, 20m or 9h")


def parse_bytes(text: str | float, option: str) -> int:
    """Read a size such as 500M or 16G.

    >>> parse_bytes("16G", "--memory-limit") == 16 * 2**30
    True
    """
    return int(_with_unit(str(text).upper(), BYTES, f"{option}: expected a size such as 500M or 16G"))


def size(number: float) -> str:
    """Write a number of bytes.

    >>> size(18 * 2**30), size(1.5 * 2**20), size(100)
    ('18 GB', '1.5 MB', '100 B')
    """
    name, unit = next(pair for pair in reversed(BYTES.items()) if pair[1] <= max(number, 1))
    return f"{number / unit:.4g} {name}B"


def _with_unit(text: str, units: dict[str, int], expected: str) -> float:
    """Parse a number above 0 with one of these units."""
    number = text.rstrip("".join(units))
    try:
        value = float(number) * units[text[len(number) :]]
    except (ValueError, KeyError):
        value = 0.0
    if not 0 < value < LARGEST:
        raise UsageError(f"{expected}, found {text}")
    return value
