"""Control groups: the kernel limits a model's memory, processes and cores, and counts its time.

A group is made for every run and removed after it.  Podium makes groups as root, or within a group that was
delegated to it.  Today's systems have version 2.  Version 1 differs in the names of its files and in having a
folder for each controller.

Sources: "Control Group v2" and "Control Groups version 1" in the Linux kernel's administration guide.
"""

import contextlib
import functools
import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from podium.running.measuring import Used

NAME = "podium"
ITSELF = f"{NAME}-itself"  # the group into which podium moves, where groups are made beside it
NEEDED = ("memory", "pids")  # the controllers without which a group is of no use
NEARLY = 2**20  # bytes: the kernel counts memory in advance, so that a group falls a little short of its limit
TRIES_TO_EMPTY = 10  # of a group whose processes start others meanwhile
SECONDS_TO_EMPTY = 2.0  # the longest wait for the kernel to forget a group's last process
SECONDS_TO_ANSWER = 30  # for systemd
numbers = itertools.count()  # gives the groups of this process different names


class FileNames(NamedTuple):
    """The names of the files of a version."""

    memory: str
    memory_and_swap: str
    peak: str
    kills: str


V1 = FileNames(
    "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"
)
V2 = FileNames("memory.max", "memory.swap.max", "memory.peak", "memory.events")
CONTROLLERS = {"v1": ("memory", "pids", "cpuacct", "cpuset"), "v2": ("memory", "pids", "cpuset")}


class Group(NamedTuple):
    """The control group of one run."""

    version: str
    folders: dict[str, Path]  # the folder of each controller; in version 2 all controllers share one folder

    def joined(self) -> list[str]:
        """List the files to which a process writes "0" to join the group."""
        return [str(folder / "cgroup.procs") for folder in sorted({*self.folders.values()})]

    def used(self) -> Used:
        """Ask the kernel what the group has used until now."""
        memory = self.folders["memory"]
        if self.version == "v1":
            times = self.folders["cpuacct"]
            cpu, user = (int(_read(times / name)) / 1e9 for name in ("cpuacct.usage", "cpuacct.usage_user"))
            files = V1
        else:
            microseconds = _fields(memory / "cpu.stat")
            cpu, user = microseconds["usage_usec"] / 1e6, microseconds["user_usec"] / 1e6
            files = V2
        peak = int(_read(memory / files.peak) or 0)  # version 2 does not have this file before Linux 5.19
        killed = _fields(memory / files.kills).get("oom_kill", 0) > 0
        reached = self._has_reached_its_limit()
        return Used(cpu, user, peak, killed and reached, killed and not reached)

    def _has_reached_its_limit(self) -> bool:
        """Whether the group itself was out of memory, and not the machine or a group above."""
        memory = self.folders["memory"]
        if self.version == "v2":
            return _fields(memory / V2.kills).get("oom", 0) > 0
        # Version 1 has a count of this too, but Linux 6 leaves it at 0.
        return any(
            int(_read(memory / f"{kind}.max_usage_in_bytes") or 0) + NEARLY
            >= int(_read(memory / f"{kind}.limit_in_bytes") or 2**63)
            for kind in ("memory", "memory.memsw")
        )


def available() -> str:
    """Find out which version of control groups podium can use on this machine, "" if none."""
    return next((version for version in ("v2", "v1") if _parents(version)), "")


def holds_cores(version: str) -> bool:
    """Whether groups of this version keep models on their cores."""
    return bool(version) and "cpuset" in _parents(version)


@contextlib.contextmanager
def group_of_a_run(version: str, memory: int, processes: int, cores: list[int]) -> Iterator[Group | None]:
    """Make a control group for one run, and remove it afterwards."""
    if not version:
        yield None
        return
    name = f"{NAME}-{os.getpid()}-{next(numbers)}"
    folders = {controller: parent / name for controller, parent in _parents(version).items()}
    try:
        for folder in {*folders.values()}:
            folder.mkdir()
        _limit(Group(version, folders), memory, processes, cores)
        yield Group(version, folders)
    finally:
        for folder in {*folders.values()}:
            _remove(folder)


def _limit(group: Group, memory: int, processes: int, cores: list[int]) -> None:
    """Write the limits of a group."""
    files, folder = (V1 if group.version == "v1" else V2), group.folders["memory"]
    (folder / files.memory).write_text(str(memory))
    with contextlib.suppress(OSError):  # a kernel that does not count swap lacks this file
        (folder / files.memory_and_swap).write_text(str(memory if group.version == "v1" else 0))
    (group.folders["pids"] / "pids.max").write_text(str(processes))
    if cpuset := group.folders.get("cpuset"):
        if group.version == "v1":  # it has to be told the nodes of memory, too
            (cpuset / "cpuset.mems").write_text(_read(cpuset.parent / "cpuset.mems"))
        (cpuset / "cpuset.cpus").write_text(",".join(map(str, cores)))


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
    """The folder of each controller in which podium can make a group; nothing if a needed one is missing."""
    if version == "v2":
        parents = _parents_in_version_2()
    else:
        found = {controller: _parent_in_version_1(controller) for controller in CONTROLLERS[version]}
        parents = {controller: parent for controller, parent in found.items() if parent}
    if not {*NEEDED} <= parents.keys():
        return {}
    for left in itertools.chain(*(parent.glob(f"{NAME}-[0-9]*") for parent in {*parents.values()})):
        # The process of podium that made this group was killed, and could not remove it.
        if not Path("/proc", left.name.split("-")[1]).exists():
            with contextlib.suppress(OSError):
                left.rmdir()
    return parents


def _parent_in_version_1(controller: str) -> Path | None:
    """The root group of a controller, or the one in which podium runs."""
    mounts = [place for place, options in _mounts("cgroup") if controller in options.split(",")]
    own = [path for names, path in _own_groups() if controller in names.split(",")]
    candidates = [*mounts, *(mount / path for mount in mounts for path in own)]
    return next((parent for parent in candidates if _can_be_made(parent)), None)


def _parents_in_version_2() -> dict[str, Path]:
    """The group that was delegated to podium, or the root group of the machine.

    A process is in one group only, so all controllers have the same parent.  A group that was not delegated is
    left alone: systemd stops a unit in which the kernel has killed a process for its memory.
    """
    for mount, _ in _mounts("cgroup2"):
        for own in [mount / path for names, path in _own_groups() if not names]:
            parent = own.parent if own.name == ITSELF else own
            if _is_delegated(parent, mount) and (
                held := _handed_down(parent, CONTROLLERS["v2"], to_empty=True)
            ):
                return dict.fromkeys(held, parent)
        # Without cpuset, which systemd takes from the root group as soon as no unit asks for it.
        if held := _handed_down(mount, NEEDED, to_empty=False):
            return dict.fromkeys(held, mount)
    return {}


def _is_delegated(group: Path, mount: Path) -> bool:
    """Whether systemd leaves this group to podium, or a container shows it as its root."""
    if group == mount:
        return True
    with contextlib.suppress(OSError):
        if os.getxattr(group, "user.delegate") == b"1":
            return True
    # A user's own systemd does not write this attribute.
    question = ["systemctl", "--user", "show", "--property=Delegate", "--value", group.name]
    if not os.access(group / "cgroup.subtree_control", os.W_OK) or shutil.which("systemctl") is None:
        return False
    with contextlib.suppress(subprocess.TimeoutExpired):
        answer = subprocess.run(question, capture_output=True, text=True, timeout=SECONDS_TO_ANSWER)
        return answer.stdout.strip() == "yes"
    return False


def _handed_down(parent: Path, controllers: Iterable[str], to_empty: bool) -> list[str]:
    """The controllers whose limits groups within this one can have; none if a needed one is missing."""
    held = [name for name in controllers if name in _read(parent / "cgroup.controllers").split()]
    if not {*NEEDED} <= {*held} or not _can_be_made(parent):
        return []
    control, wanted = parent / "cgroup.subtree_control", " ".join(f"+{name}" for name in held)
    with contextlib.suppress(OSError):
        control.write_text(wanted)  # all of them or none
        return held
    # A group can only hand controllers down if it has no processes of its own.
    if to_empty and _has_emptied(parent):
        with contextlib.suppress(OSError):
            control.write_text(wanted)
            return held
    return []


def _has_emptied(group: Path) -> bool:
    """Move all processes of a group into one of its own, even those that are started meanwhile."""
    for _ in range(TRIES_TO_EMPTY):
        with contextlib.suppress(OSError):
            (group / ITSELF).mkdir(exist_ok=True)
            processes = _read(group / "cgroup.procs").split()
            if not processes:
                return True
            for process in processes:
                with contextlib.suppress(ProcessLookupError):  # it has ended
                    (group / ITSELF / "cgroup.procs").write_text(process)
    return False


def _can_be_made(parent: Path) -> bool:
    """Whether podium may make groups in this one."""
    trial = parent / f"{NAME}-{os.getpid()}-trial"
    try:
        trial.mkdir(exist_ok=True)
        trial.rmdir()
    except OSError:
        return False
    return True


@functools.cache  # podium may move into another group, see `_has_emptied`
def _own_groups() -> list[tuple[str, str]]:
    """The controllers and the path of each group in which podium runs."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    return [(names, path.strip("/")) for _, names, path in (line.split(":", 2) for line in lines)]


def _mounts(kind: str) -> list[tuple[Path, str]]:
    """The place and the options of each mounted file system of a kind."""
    lines = map(str.split, Path("/proc/self/mounts").read_text().splitlines())
    return [(Path(place), options) for _, place, found, options, *_ in lines if found == kind]


def _read(path: Path) -> str:
    """The text of one of the kernel's files, or "" if the file does not exist."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


def _fields(path: Path) -> dict[str, int]:
    """The content of a file that has a name and a number on each line."""
    return {name: int(value) for name, value in (line.split() for line in _read(path).splitlines())}
