"""Run models in containers, with docker or podman, whichever the machine has.

Sources: Docker's reference of ``docker container create`` and podman's manual page podman-create(1).
"""

import contextlib
import csv
import io
import json
import os
import re
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from podium.errors import UsageError
from podium.running import settings as constants
from podium.running.bubblewrap import INPUT, WORKING, limit_of_core_dumps
from podium.running.control_groups import Group, Used, group_of_a_run
from podium.running.settings import Run, Settings
from podium.running.supervised import answer_of, last_line, run_supervised
from podium.running.supervisor import nothing_measured
from podium.running.syscalls import profile

__all__ = ["CONTAINER_ENGINES", "NO_IMAGE", "remove_left", "run_in_container"]

CONTAINER_ENGINES = ("docker", "podman")
NO_IMAGE = "the image"  # every text of `_NoImage` begins with these words

SECONDS_TO_PULL = 3600  # a team's registry must not keep all others waiting
# How much the machine's clock may change during a run: seconds at once, and the share of a steady correction.
# Time servers correct by at most 500 millionths.
LARGEST_CHANGE, LARGEST_DRIFT = 0.1, 0.001
KILLED = 137  # the exit code of a container whose first process was killed
CORES = "/sys/devices/system/cpu"
NOT_FOUND = 127  # the exit code of a shell for a command that does not exist
NO_ENTRY_POINT = re.compile('exec: "|executable')  # what runc and crun write about a missing entry point


PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")  # their values may have passwords


UNKNOWN = Used(float("nan"), float("nan"), 0, False)


class _NoImage(Exception):
    """The image cannot be pulled or cannot be run; this is the team's fault, not the machine's."""


def run_in_container(image: str, settings: Settings, working: str) -> Run:
    """Run an image's entry point in a container.

    Parameters
    ----------
    image : str
        The image's name, as it stands in ``container.txt``.
    settings : Settings
        How every model is run.
    working : str
        An empty folder, in which the model works and leaves its submission.

    Returns
    -------
    Run
        What was measured, the log and the submission.  If the image cannot be pulled, has no entry point or has
        a volume, nothing was measured and the problem says so.

    Raises
    ------
    UsageError
        If the container engine itself fails, which is a fault of the machine and never the team's.
    """
    try:
        _pull(settings.container_engine, image)
        _refuse_volumes(settings.container_engine, image)
        return _run(image, settings, working)
    except _NoImage as problem:
        return Run(nothing_measured(str(problem)), 0.0, "", b"")


def remove_left(engine: str) -> None:
    """Remove what a podium that was killed could not: its ended container and the model's folder in memory.

    Parameters
    ----------
    engine : str
        "docker" or "podman".
    """
    filters = ["--filter", "name=podium-", "--filter", "status=exited"]
    listed = answer_of(engine, "ps", "--all", *filters, "--format", "{{.Names}}").stdout
    for name in listed.split():
        if _is_left(name):
            answer_of(engine, "rm", "--force", name)
    mounts = Path("/proc/self/mounts")
    for line in mounts.read_text().splitlines() if mounts.exists() else []:
        source, folder, kind, *_ = line.split()
        if kind == "tmpfs" and _is_left(source):
            answer_of("umount", "--lazy", folder)


def _is_left(name: str) -> bool:
    """Whether a name has the number of a process of podium that has ended."""
    match = re.match(r"podium-([0-9]+)(-|$)", name)
    return match is not None and not Path("/proc", match[1]).exists()


def _pull(engine: str, image: str) -> None:
    """Pull the image before the clock starts."""
    if answer_of(engine, "image", "inspect", image).returncode == 0:
        return
    try:
        pulled = answer_of(engine, "pull", image, seconds=SECONDS_TO_PULL)
    except subprocess.TimeoutExpired:
        raise _NoImage(f"{NO_IMAGE} {image} cannot be pulled within {SECONDS_TO_PULL:,} s") from None
    if pulled.returncode != 0:
        raise _NoImage(f"{NO_IMAGE} {image} cannot be pulled: {last_line(pulled)}")


def _refuse_volumes(engine: str, image: str) -> None:
    """Refuse an image that declares volumes: they are folders on the machine's disk, without a limit."""
    answer = answer_of(engine, "image", "inspect", "--format", "{{json .Config.Volumes}}", image)
    if answer.returncode == 0 and (volumes := json.loads(answer.stdout)):
        raise _NoImage(
            f"{NO_IMAGE} {image} has a volume, {next(iter(volumes))!a}: take VOLUME out of its Dockerfile"
        )


def _run(image: str, settings: Settings, working: str) -> Run:
    """Create the container, start it, remove it."""
    name = f"podium-{os.getpid()}-{uuid.uuid4().hex[:12]}"
    os.chmod(working, 0o777)  # safe, because other users cannot enter the folder around it
    version = settings.control_group if _is_child_of_root(settings) else ""
    with _in_memory(working, settings) as memory:
        settings = settings._replace(memory_limit=memory)
        with group_of_a_run(version, memory, constants.PROCESSES) as group:
            try:
                _create(name, image, settings, working, group)
                return _start(name, image, settings, working, group)
            finally:
                answer_of(settings.container_engine, "rm", "--force", name)


def _is_child_of_root(settings: Settings) -> bool:
    """Whether root itself starts the container: podman does so, and docker asks a service."""
    return settings.container_engine == "podman" and constants.is_root()


@contextlib.contextmanager
def _in_memory(working: str, settings: Settings) -> Iterator[int]:
    """Keep the model's folder in memory, where the kernel limits its size, and yield the limit of memory.

    Only root can do so.  Docker's containers are started by a service, which need not see the folder.  In both
    cases, the folder is on the disk, and podium looks at its size once a second.
    """
    mounted = False
    if _is_child_of_root(settings):
        limits = f"size={settings.disk_limit},nr_inodes={2 * constants.FILES},mode=0777,nosuid,nodev"
        mounted = (
            answer_of("mount", "-t", "tmpfs", "-o", limits, f"podium-{os.getpid()}", working).returncode == 0
        )
    try:
        yield settings.memory_limit + (settings.disk_limit if mounted else 0)
    finally:
        if mounted:
            answer_of("umount", "--lazy", working)


def _create(name: str, image: str, settings: Settings, working: str, group: Group | None) -> None:
    """Create the container."""
    engine = settings.container_engine
    with tempfile.TemporaryDirectory() as folder:  # on Windows a file cannot be read while it is written
        calls = Path(folder, "calls.json")
        calls.write_text(profile(), encoding="ascii")
        options = [*_limits(name, settings), *_view(settings, working), *_in_group(group)]
        options += ["--security-opt", f"seccomp={calls}"]
        created = answer_of(*_command(engine, group), "create", *options, image)
    if created.returncode != 0:
        if "no command" in created.stderr.lower():
            raise _NoImage(f"{NO_IMAGE} {image} has no entry point")
        raise UsageError(f"{engine} cannot make a container: {last_line(created)}")


def _start(name: str, image: str, settings: Settings, working: str, group: Group | None) -> Run:
    """Start the container, wait for its end, and measure it."""
    engine = settings.container_engine
    start, stop = [*_command(engine, group), "start", "--attach", name], [engine, "kill", name]
    before = time.time() - time.monotonic()
    result = run_supervised(settings, start, dict(os.environ), working, stop=stop)
    changed = time.time() - time.monotonic() - before
    if abs(changed) > LARGEST_CHANGE + LARGEST_DRIFT * result.measured["seconds"]:
        raise UsageError(
            f"the machine's clock was changed by {changed:+,.1f} s while {image} ran, and {engine} takes "
            "the container's times from it. Finished runs are kept: start the same command again to go on"
        )
    return _as_the_engine_says(result, settings, name, group)


def _command(engine: str, group: Group | None) -> list[str]:
    """The engine's program; podman's usual manager of control groups takes no group of podium."""
    return [engine, "--cgroup-manager", "cgroupfs"] if group else [engine]


def _in_group(group: Group | None) -> list[str]:
    """The options that put the container, but not podman's own program, into podium's control group."""
    return ["--cgroup-parent", group.path, "--cgroups", "no-conmon"] if group else []


def _limits(name: str, settings: Settings) -> list[str]:
    """The options that limit what the container may do and use."""
    options = [
        "--name", name, "--hostname", "podium", "--network", "none", "--ipc", "private",
        "--cgroupns", "private", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
        "--no-healthcheck", "--log-driver", "none", "--pids-limit", str(constants.PROCESSES),
        "--memory", str(settings.memory_limit), "--memory-swap", str(settings.memory_limit),
        "--shm-size", str(settings.disk_limit),
        "--ulimit", f"fsize={settings.disk_limit}", "--ulimit", f"nofile={constants.OPEN_FILES}",
        "--ulimit", f"core={limit_of_core_dumps()}",
        # This limit counts all processes of the user.  It has to be given: podman's own default can be higher
        # than root is allowed to set, for example inside another container.
        "--ulimit", f"nproc={constants.OPEN_FILES}",
    ]  # fmt: skip
    if hasattr(os, "getuid"):
        options += ["--user", f"{os.getuid() or constants.NOBODY}:{os.getgid() or constants.NOBODY}"]
    if cores := constants.cores_used(settings.cores):
        options += ["--cpuset-cpus", ",".join(map(str, cores))]
    if settings.gpus:
        docker = settings.container_engine == "docker"
        options += ["--gpus", "all"] if docker else ["--device", "nvidia.com/gpu=all"]
    return options


def _view(settings: Settings, working: str) -> list[str]:
    """The options that say what the container sees: the data, an empty folder and nothing of the machine."""
    data = f"{INPUT}/{settings.data.name}"
    options = [
        "--read-only", "--tmpfs", f"/tmp:size={settings.disk_limit}", "--workdir", WORKING,
        "--mount", _mount("type=bind", f"source={settings.data}", f"target={data}", "readonly"),
        "--mount", _mount("type=bind", f"source={working}", f"target={WORKING}"),
        "--env", f"PODIUM_DATA={data}",
    ]  # fmt: skip
    if not settings.gpus:
        # Files of control groups tell what is in the cache, and those of devices tell about the machine.
        options += ["--tmpfs", "/sys:ro,size=4k", "--tmpfs", "/sys/fs/cgroup:ro,size=4k"]
        if os.path.isdir(CORES):  # it is missing where Linux is in a virtual machine
            options += ["--mount", _mount("type=bind", f"source={CORES}", f"target={CORES}", "readonly")]
    if settings.container_engine == "podman":
        # Else podman gives places in memory without a limit, the machine's proxies and its table of hosts.
        return [*options, "--read-only-tmpfs=false", "--systemd=false", "--http-proxy=false", "--no-hosts"]
    for proxy in PROXIES:  # docker takes others from its user's settings
        options += ["--env", f"{proxy}=", "--env", f"{proxy.upper()}="]
    return options


def _mount(*parts: str) -> str:
    """The value of ``--mount``, which the engines read as a line of CSV: paths may contain commas."""
    made = io.StringIO()
    csv.writer(made, lineterminator="").writerow(parts)
    return made.getvalue()


def _as_the_engine_says(result: Run, settings: Settings, name: str, group: Group | None) -> Run:
    """Replace what was measured of the engine's program by what engine and kernel say of the container."""
    measured, engine = result.measured, settings.container_engine
    used = group.used() if group else UNKNOWN
    measured["cpu_seconds"], measured["user_seconds"] = used.cpu_seconds, used.user_seconds
    measured["peak_memory"] = used.peak_memory
    result = result._replace(others=float("nan"))
    if measured["stopped"]:
        return result
    answer = answer_of(engine, "inspect", "--format", "{{json .State}}", name)
    if answer.returncode != 0:
        raise UsageError(f"{engine} lost the container: {last_line(answer)}")
    state = json.loads(answer.stdout)
    start, end = (datetime.fromisoformat(state[moment]) for moment in ("StartedAt", "FinishedAt"))
    if end > start:  # podman sometimes notes an end that lies before the start
        measured["seconds"] = (end - start).total_seconds()
    measured["exit_code"] = state["ExitCode"]
    if start.year == 1:  # both engines write the year 1 for a container that never ran
        if not NO_ENTRY_POINT.search(result.log):
            raise UsageError(f"{engine} cannot start a container: {result.log.strip()[-300:]}")
        measured["exit_code"] = NOT_FOUND  # podman itself reports 0 here
    # Engines do not always notice that memory ended, and version 1 does not tell it of the groups within one.
    ended = measured["exit_code"] == KILLED and used.peak_memory >= settings.memory_limit
    measured["stopped"] = "memory" if state.get("OOMKilled") or used.out_of_memory or ended else ""
    return result
