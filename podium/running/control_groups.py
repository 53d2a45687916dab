"""Control groups: the kernel itself limits a model's memory and processes, and counts their time.

Without control groups, podium can only look at a model's memory now and then.  It does not see memory that
belongs to no process, such as the buffers of sockets and the tables of pages.  Today's systems have version 2;
version 1 is supported for the same three tasks.  A group is made for every run and removed after it.

Sources: "Control Group v2" and "Control Groups version 1" in the Linux kernel's administration guide.
"""

import contextlib
import functools
import itertools
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Group", "Used", "available", "group_of_a_run"]

NAME = "podium"
CONTROLLERS = ("memory", "pids")
MOUNTS, OWN = Path("/proc/self/mountinfo"), Path("/proc/self/cgroup")
SECONDS_TO_EMPTY = 2.0  # the longest wait for the kernel to forget a group's last process
numbers = itertools.count()  # gives the groups of this process different names


class Used(NamedTuple):
    """What the processes of a group have used.

    Attributes
    ----------
    cpu_seconds : float
        Processor time in seconds, inside and outside the kernel.
    user_seconds : float
        Processor time in seconds, outside the kernel alone.
    peak_memory : int
        The most memory in bytes that the group held at once: processes, files in memory, buffers and page
        tables.
    out_of_memory : bool
        Whether the kernel killed one of the group's processes because the limit was reached.
    """

    cpu_seconds: float
    user_seconds: float
    peak_memory: int
    out_of_memory: bool


class Group(NamedTuple):
    """The control group of one run.

    Attributes
    ----------
    version : str
        The version of control groups: "v1" or "v2".
    folders : dict of str to Path
        The folder of each controller; in version 2 all controllers share one folder.
    joins : list of int
        Open file descriptors.  A process joins the group by writing "0" to each of them.
    path : str
        The group's path below the root of all groups, as container engines expect it.
    """

    version: str
    folders: dict[str, Path]
    joins: list[int]
    path: str

    def used(self) -> Used:
        """Ask the kernel what the group has used until now.

        Returns
        -------
        Used
            Processor time and memory of all its processes, also of those that have ended.
        """
        memory, time_ = self.folders["memory"], self.folders["cpuacct"]
        if self.version == "v1":
            nanoseconds = [int(_read(time_ / name)) for name in ("cpuacct.usage", "cpuacct.usage_user")]
            cpu, user = (one / 1e9 for one in nanoseconds)
            peak, kills = (
                int(_read(memory / "memory.max_usage_in_bytes")),
                _fields(memory / "memory.oom_control"),
            )
        else:
            microseconds = _fields(time_ / "cpu.stat")
            cpu, user = microseconds["usage_usec"] / 1e6, microseconds["user_usec"] / 1e6
            peak = int(_read(memory / "memory.peak") or 0)  # kernels before 5.19 do not have this file
            kills = _fields(memory / "memory.events")
        return Used(cpu, user, peak, kills.get("oom_kill", 0) > 0)


def available() -> str:
    """Find out which version of control groups podium can use on this machine.

    Returns
    -------
    str
        "v2" or "v1"; "" if the machine has none or only its administrator may use them.
    """
    return next((version for version in ("v2", "v1") if _parents(version)), "")


@contextlib.contextmanager
def group_of_a_run(version: str, memory: int, processes: int) -> Iterator[Group | None]:
    """Make a control group for one run, and remove it afterwards.

    Parameters
    ----------
    version : str
        The version that `available` returned, or "" to run without a group.
    memory : int
        The limit in bytes for everything that belongs to the group.
    processes : int
        The number of processes and threads that the group may have at once.

    Yields
    ------
    Group or None
        The group; None if `version` is "".
    """
    if not version:
        yield None
        return
    name = f"{NAME}-{os.getpid()}-{next(numbers)}"
    folders = {controller: parent / name for controller, parent in _parents(version).items()}
    points = _points()
    [path, *_] = [
        folders["memory"].relative_to(point) for point in points if folders["memory"].is_relative_to(point)
    ]
    joins = []
    try:
        for folder in {*folders.values()}:
            folder.mkdir(exist_ok=True)
        _limit(version, folders, memory, processes)
        joins = [os.open(folder / "cgroup.procs", os.O_WRONLY) for folder in sorted({*folders.values()})]
        yield Group(version, folders, joins, f"/{path}")
    finally:
        for join in joins:
            os.close(join)
        # Container engines make the group in the hierarchies of all other controllers, too.
        for folder in {*folders.values(), *(point / path for point in points)}:
            _remove(folder)


def _limit(version: str, folders: dict[str, Path], memory: int, processes: int) -> None:
    """Write the limits of a group.

    Swap is limited as well, because it would be memory without a limit.  Kernels that do not count swap lack
    the file for it, and that is no error.
    """
    (folders["pids"] / "pids.max").write_text(str(processes))
    folder = folders["memory"]
    limit, swap = (
        ("memory.max", ("memory.swap.max", 0))
        if version == "v2"
        else ("memory.limit_in_bytes", ("memory.memsw.limit_in_bytes", memory))
    )
    (folder / limit).write_text(str(memory))
    with contextlib.suppress(OSError):
        (folder / swap[0]).write_text(str(swap[1]))


def _remove(folder: Path) -> None:
    """Remove a group as soon as the kernel has forgotten its last process."""
    end = time.monotonic() + SECONDS_TO_EMPTY
    while folder.is_dir():
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > end:
                return
            time.sleep(0.01)


@functools.cache
def _parents(version: str) -> dict[str, Path]:
    """The folder of each controller in which podium can make a group; nothing if one controller has none."""
    try:
        parents = _parent_of_version_2() if version == "v2" else _parents_of_version_1()
    except (OSError, ValueError, LookupError):
        return {}
    for parent in {*parents.values(), *_points()}:
        for left in parent.glob(f"{NAME}-[0-9]*"):
            # The process of podium that made this group was killed, and could not remove it.
            if not Path("/proc", left.name.split("-")[1]).exists():
                with contextlib.suppress(OSError):
                    left.rmdir()
    return parents


def _parent_of_version_2() -> dict[str, Path]:
    """The group in which podium runs, if podium may use it, or else the root group of the machine."""
    [mount] = [point for point, kind, _ in _mounts() if kind == "cgroup2"][:1]
    [own] = [line.removeprefix("0::") for line in OWN.read_text().splitlines() if line.startswith("0::")]
    for parent in dict.fromkeys([mount / own.strip("/"), mount]):
        with contextlib.suppress(OSError):
            if _hands_down(parent):
                return dict.fromkeys((*CONTROLLERS, "cpuacct"), parent)
    return {}


def _hands_down(parent: Path) -> bool:
    """Whether groups within this one can have limits.

    In version 2 a group can only pass controllers down if it has no processes of its own.
    """
    control = parent / "cgroup.subtree_control"
    if not {*CONTROLLERS} <= {*_read(parent / "cgroup.controllers").split()}:
        return False
    if not {*CONTROLLERS} <= {*_read(control).split()}:
        wanted = " ".join(f"+{name}" for name in CONTROLLERS)
        try:
            control.write_text(wanted)
        except OSError:
            if {*_read(parent / "cgroup.procs").split()} != {str(os.getpid())}:
                return False
            # The group holds podium alone: podium moves into a group below, so that this one is empty.
            itself = parent / f"{NAME}-itself"
            itself.mkdir(exist_ok=True)
            (itself / "cgroup.procs").write_text("0")
            control.write_text(wanted)
    return _can_be_made(parent)


def _parents_of_version_1() -> dict[str, Path]:
    """For each controller the root group of the machine, or else the group in which podium runs."""
    own = dict(line.split(":", 2)[1:] for line in OWN.read_text().splitlines())
    parents = {}
    for controller in (*CONTROLLERS, "cpuacct"):
        [mount] = [
            point for point, kind, options in _mounts() if kind == "cgroup" and controller in options.split(",")
        ][:1]
        [path] = [path for names, path in own.items() if controller in names.split(",")]
        candidates = [mount, mount / path.strip("/")]
        [parents[controller]] = [parent for parent in candidates if parent.is_dir() and _can_be_made(parent)][
            :1
        ]
    return parents


def _can_be_made(parent: Path) -> bool:
    """Whether podium may make groups in this one."""
    trial = parent / f"{NAME}-{os.getpid()}-trial"
    try:
        trial.mkdir(exist_ok=True)
        trial.rmdir()
    except OSError:
        return False
    return True


def _points() -> list[Path]:
    """The folders at which hierarchies of control groups are mounted, in both versions."""
    return [point for point, kind, _ in _mounts() if kind in ("cgroup", "cgroup2")]


def _mounts() -> list[tuple[Path, str, str]]:
    """The path, the kind and the options of each mounted file system."""
    mounts = []
    for line in MOUNTS.read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        place = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), before.split()[4])
        mounts.append((Path(place), kind, options))
    return mounts


def _read(path: Path) -> str:
    """The text of one of the kernel's files, or "" if the file does not exist."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


def _fields(path: Path) -> dict[str, int]:
    """The content of a file that has a name and a number on each line."""
    return {name: int(value) for name, value in (line.split() for line in _read(path).splitlines())}
