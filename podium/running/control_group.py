"""Control groups: the kernel limits a model's memory, processes and cores, and counts its time.

A group is made for every run and removed after it. Podium makes groups of version 2, which today's systems
have, as root or within a group that was delegated to it.

Source: "Control Group v2" in the Linux kernel's administration guide.
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

from podium.running.measuring import Used, answer_of

NAME = "podium"
ITSELF = f"{NAME}-itself"  # the group into which podium moves, where groups are made beside it
NEEDED = ("memory", "pids")  # the controllers without which a group is of no use
CONTROLLERS = (*NEEDED, "cpuset")
TRIES_TO_EMPTY = 10  # of a group whose processes start others meanwhile
SECONDS_TO_EMPTY = 2.0  # the longest wait for the kernel to forget a group's last process
SECONDS_TO_ANSWER = 30  # for systemd
numbers = itertools.count()  # gives the groups of this process different names


class Group(NamedTuple):
    """The control group of one run, or the one in which podium makes these."""

    folder: Path
    holds_cores: bool  # whether the group of a run keeps its processes on their cores

    @property
    def door(self) -> Path:
        """The file to which a process writes "0" to join the group."""
        return self.folder / "cgroup.procs"

    def used(self) -> Used:
        """Ask the kernel what the group has used until now."""
        microseconds, events = _fields(self.folder / "cpu.stat"), _fields(self.folder / "memory.events")
        killed = events.get("oom_kill", 0) > 0
        reached = events.get("oom", 0) > 0  # the group itself was out of memory, and not a group above
        return Used(
            microseconds["usage_usec"] / 1e6,
            microseconds["user_usec"] / 1e6,
            int(_read(self.folder / "memory.peak") or 0),  # which Linux has since 5.19
            killed and reached,
            killed and not reached,
        )


def is_available() -> bool:
    """Whether podium can make control groups on this machine."""
    return parent() is not None


def holds_cores() -> bool:
    """Whether control groups keep models on their cores."""
    made_in = parent()
    return made_in is not None and made_in.holds_cores


@contextlib.contextmanager
def group_of_a_run(memory: int, processes: int, cores: list[int]) -> Iterator[Group]:
    """Make a control group for one run, and remove it afterwards."""
    made_in = parent()
    assert made_in is not None
    group = made_in._replace(folder=made_in.folder / f"{NAME}-{os.getpid()}-{next(numbers)}")
    try:
        group.folder.mkdir()
        _limit(group, memory, processes, cores)
        yield group
    finally:
        _remove(group.folder)


def _limit(group: Group, memory: int, processes: int, cores: list[int]) -> None:
    """Write the limits of a group."""
    (group.folder / "memory.max").write_text(str(memory))
    with contextlib.suppress(OSError):  # a kernel that does not count swap lacks this file
        (group.folder / "memory.swap.max").write_text("0")
    (group.folder / "pids.max").write_text(str(processes))
    if group.holds_cores:
        (group.folder / "cpuset.cpus").write_text(",".join(map(str, cores)))


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
def parent() -> Group | None:
    """The group in which podium can make groups; None if there is none, or a needed controller is missing."""
    found = _found_parent()
    for left in found.folder.glob(f"{NAME}-[0-9]*") if found else ():
        # The process of podium that made this group was killed, and could not remove it.
        if not Path("/proc", left.name.split("-")[1]).exists():
            with contextlib.suppress(OSError):
                left.rmdir()
    return found


def _found_parent() -> Group | None:
    """The group that was delegated to podium, or the root group of the machine.

    A group that was not delegated is left alone: systemd stops a unit in which the kernel has killed a process
    for its memory.
    """
    for mount in _mounts():
        for own in [mount / path for path in _own_groups()]:
            above = own.parent if own.name == ITSELF else own
            if _is_delegated(above, mount) and (held := _handed_down(above, CONTROLLERS, to_empty=True)):
                return Group(above, "cpuset" in held)
        # Without cpuset, which systemd takes from the root group as soon as no unit asks for it.
        if _handed_down(mount, NEEDED, to_empty=False):
            return Group(mount, False)
    return None


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
        return answer_of(*question, seconds=SECONDS_TO_ANSWER).stdout.strip() == "yes"
    return False


def _handed_down(parent: Path, controllers: Iterable[str], to_empty: bool) -> tuple[str, ...]:
    """The controllers whose limits groups within this one can have; none if a needed one is missing."""
    there = _read(parent / "cgroup.controllers").split()
    held = tuple(name for name in controllers if name in there)
    if not {*NEEDED} <= {*held} or not _can_be_made(parent):
        return ()
    control, wanted = parent / "cgroup.subtree_control", " ".join(f"+{name}" for name in held)
    with contextlib.suppress(OSError):
        control.write_text(wanted)  # all of them or none
        return held
    # A group can only hand controllers down if it has no processes of its own.
    if to_empty and _has_emptied(parent):
        with contextlib.suppress(OSError):
            control.write_text(wanted)
            return held
    return ()


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
def _own_groups() -> list[str]:
    """The path of the group in which podium runs; the lines of version 1 name controllers before it."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    return [path.strip("/") for _, controllers, path in lines if not controllers]


def _mounts() -> list[Path]:
    """The places where control groups of version 2 are mounted."""
    lines = map(str.split, Path("/proc/self/mounts").read_text().splitlines())
    return [Path(place) for _, place, kind, *_ in lines if kind == "cgroup2"]


def _read(path: Path) -> str:
    """The text of one of the kernel's files, or "" if the file does not exist."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


def _fields(path: Path) -> dict[str, int]:
    """The content of a file that has a name and a number on each line."""
    return {name: int(value) for name, value in (line.split() for line in _read(path).splitlines())}
