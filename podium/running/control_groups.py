"""Control groups: the kernel's own limit on a model's memory and processes, and its count of their time.

Without them memory is only watched, and memory that belongs to no process (buffers of sockets, tables of pages)
is not seen at all.  Version 2 is what today's systems have; version 1 is supported as far as it has the
same three things.  A group is made for every run and removed after it.
"""

import contextlib
import functools
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Group", "Used", "available", "group_of_a_run"]

NAME = "podium"
CONTROLLERS = ("memory", "pids")
MOUNTS, OWN = Path("/proc/self/mountinfo"), Path("/proc/self/cgroup")
SECONDS_TO_EMPTY = 2.0
numbers = itertools.count()


class Used(NamedTuple):
    """What a group has used.

    Attributes
    ----------
    cpu_seconds, user_seconds : float
        Processor time, in all and outside the kernel.
    peak_memory : int
        Bytes, of everything that belongs to the group: processes, files in memory, buffers, page tables.
    out_of_memory : bool
        Whether the kernel killed one of its processes because the limit was reached.
    """

    cpu_seconds: float
    user_seconds: float
    peak_memory: int
    out_of_memory: bool


class Group(NamedTuple):
    """The group of one run.

    Attributes
    ----------
    version : str
        "v1" or "v2".
    folders : dict of str to Path
        The folder of each controller; in version 2 they are the same.
    joins : list of int
        Open files; who writes "0" to each of them joins the group.
    """

    version: str
    folders: dict[str, Path]
    joins: list[int]

    def used(self) -> Used:
        """What the group has used until now."""
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
            peak = int(_read(memory / "memory.peak") or 0)  # not in kernels before 5.19
            kills = _fields(memory / "memory.events")
        return Used(cpu, user, peak, kills.get("oom_kill", 0) > 0)


def available() -> str:
    """Which control groups can be used here.

    Returns
    -------
    str
        "v2" or "v1", or "" where there are none or only the administrator may use them.
    """
    return next((version for version in ("v2", "v1") if _parents(version)), "")


@contextlib.contextmanager
def group_of_a_run(version: str, memory: int, processes: int) -> Iterator[Group | None]:
    """A group for the time of a run.

    Parameters
    ----------
    version : str
        As `available` gives it; "" for none.
    memory : int
        Bytes of all that belongs to the group.
    processes : int
        How many there may be at once, threads included.

    Yields
    ------
    Group or None
    """
    if not version:
        yield None
        return
    name = f"{NAME}-{os.getpid()}-{next(numbers)}"
    folders = {controller: parent / name for controller, parent in _parents(version).items()}
    joins = []
    try:
        for folder in {*folders.values()}:
            folder.mkdir(exist_ok=True)
        _limit(version, folders, memory, processes)
        joins = [os.open(folder / "cgroup.procs", os.O_WRONLY) for folder in sorted({*folders.values()})]
        yield Group(version, folders, joins)
    finally:
        for join in joins:
            os.close(join)
        for folder in {*folders.values()}:
            _remove(folder)


def _limit(version: str, folders: dict[str, Path], memory: int, processes: int) -> None:
    """Write the limits; swap would be memory that nobody limits, but not every kernel counts it."""
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
    """Remove a group as soon as its last process has been forgotten."""
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
    """The folder in which the group of each controller can be made; nothing where one cannot."""
    try:
        parents = _parent_of_version_2() if version == "v2" else _parents_of_version_1()
    except (OSError, ValueError, LookupError):
        return {}
    for parent in {*parents.values()}:
        for left in parent.glob(f"{NAME}-[0-9]*"):
            if not Path("/proc", left.name.split("-")[1]).exists():  # of a podium that was killed
                with contextlib.suppress(OSError):
                    left.rmdir()
    return parents


def _parent_of_version_2() -> dict[str, Path]:
    """Our own group if it was given to us, or else the whole machine's."""
    [mount] = [point for point, kind, _ in _mounts() if kind == "cgroup2"][:1]
    [own] = [line.removeprefix("0::") for line in OWN.read_text().splitlines() if line.startswith("0::")]
    for parent in dict.fromkeys([mount / own.strip("/"), mount]):
        with contextlib.suppress(OSError):
            if _hands_down(parent):
                return dict.fromkeys((*CONTROLLERS, "cpuacct"), parent)
    return {}


def _hands_down(parent: Path) -> bool:
    """Whether groups in this one can have limits; for that, it may not have processes itself."""
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
            itself = parent / f"{NAME}-itself"  # a group that holds podium alone was given to it: move aside
            itself.mkdir(exist_ok=True)
            (itself / "cgroup.procs").write_text("0")
            control.write_text(wanted)
    return _can_be_made(parent)


def _parents_of_version_1() -> dict[str, Path]:
    """Those of the whole machine, or our own groups."""
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
    """Whether we may make groups here."""
    trial = parent / f"{NAME}-{os.getpid()}-trial"
    try:
        trial.mkdir(exist_ok=True)
        trial.rmdir()
    except OSError:
        return False
    return True


def _mounts() -> list[tuple[Path, str, str]]:
    """Each mounted file system: where, of what kind, with which options."""
    mounts = []
    for line in MOUNTS.read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        mounts.append((Path(before.split()[4]), kind, options))
    return mounts


def _read(path: Path) -> str:
    """The text of a file of the kernel's, "" if there is none."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


def _fields(path: Path) -> dict[str, int]:
    """A file with a name and a number on each line."""
    return {name: int(value) for name, value in (line.split() for line in _read(path).splitlines())}
