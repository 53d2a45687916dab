"""Run models in containers, with docker or podman, whichever the machine has.

Sources: Docker's reference of ``docker container create`` and podman's manual page podman-create(1).
"""

import csv
import io
import json
import os
import re
import subprocess
import time
import uuid
from datetime import datetime

from podium.errors import UsageError
from podium.running import settings as constants
from podium.running.bubblewrap import INPUT, WORKING
from podium.running.settings import Run, Settings
from podium.running.supervised import answer_of, last_line, run_supervised
from podium.running.supervisor import nothing_measured

__all__ = ["CONTAINER_ENGINES", "NO_IMAGE", "run_in_container"]

CONTAINER_ENGINES = ("docker", "podman")
NO_IMAGE = "the image"  # every text of `_NoImage` begins with these words

SECONDS_TO_PULL = 3600  # a team's registry must not keep all others waiting
# How much the machine's clock may change during a run: seconds at once, and the share of a steady correction.
# Time servers correct by at most 500 millionths.
LARGEST_CHANGE, LARGEST_DRIFT = 0.1, 0.001
NOT_FOUND = 127  # the exit code of a shell for a command that does not exist
NO_ENTRY_POINT = re.compile('exec: "|executable')  # what runc and crun write about a missing entry point


class _NoImage(Exception):
    """The image cannot be pulled or has no entry point; this is the team's fault, not the machine's."""


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
        What was measured, the log and the submission.  If the image cannot be pulled or has no entry point,
        nothing was measured and the problem says so.

    Raises
    ------
    UsageError
        If the container engine itself fails, which is a fault of the machine and never the team's.
    """
    try:
        _pull(settings.container_engine, image)
        return _run(image, settings, working)
    except _NoImage as problem:
        return Run(nothing_measured(str(problem)), 0.0, "", b"")


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


def _run(image: str, settings: Settings, working: str) -> Run:
    """Create the container, start it, remove it."""
    engine = settings.container_engine
    name = f"podium-{uuid.uuid4().hex[:12]}"
    os.chmod(working, 0o777)  # safe, because other users cannot enter the folder around it
    created = answer_of(engine, "create", *_options(name, settings, working), image)
    if created.returncode != 0:
        if "no command" in created.stderr.lower():
            raise _NoImage(f"{NO_IMAGE} {image} has no entry point")
        raise UsageError(f"{engine} cannot make a container: {last_line(created)}")
    try:
        start, stop = [engine, "start", "--attach", name], [engine, "kill", name]
        before = time.time() - time.monotonic()
        result = run_supervised(settings, start, dict(os.environ), working, stop=stop)
        changed = time.time() - time.monotonic() - before
        if abs(changed) > LARGEST_CHANGE + LARGEST_DRIFT * result.measured["seconds"]:
            raise UsageError(
                f"the machine's clock was changed by {changed:+,.1f} s while {image} ran, and {engine} takes "
                "the container's times from it. Finished runs are kept: start the same command again to go on"
            )
        return _as_the_engine_says(result, engine, name)
    finally:
        answer_of(engine, "rm", "--force", name)


def _options(name: str, settings: Settings, working: str) -> list[str]:
    """The options that limit what the container may do; the engine's own filter of system calls stays on."""
    data = f"{INPUT}/{settings.data.name}"
    options = [
        "--name", name, "--network", "none", "--read-only", "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges",
        "--pids-limit", str(constants.PROCESSES), "--memory", str(settings.memory_limit),
        "--memory-swap", str(settings.memory_limit), "--ulimit", f"fsize={settings.disk_limit}",
        "--ulimit", f"nofile={constants.OPEN_FILES}", "--ulimit", "core=0", "--log-driver", "none",
        # This limit counts all processes of the user.  It has to be given: podman's own default can be higher
        # than root is allowed to set, for example inside another container.
        "--ulimit", f"nproc={constants.OPEN_FILES}",
        "--tmpfs", f"/tmp:size={settings.disk_limit}", "--workdir", WORKING,
        "--mount", _mount("type=bind", f"source={settings.data}", f"target={data}", "readonly"),
        "--mount", _mount("type=bind", f"source={working}", f"target={WORKING}"),
        "--env", f"PODIUM_DATA={data}",
    ]  # fmt: skip
    if hasattr(os, "getuid"):
        options += ["--user", f"{os.getuid() or constants.NOBODY}:{os.getgid() or constants.NOBODY}"]
    if cores := constants.cores_used(settings.cores):
        options += ["--cpuset-cpus", ",".join(map(str, cores))]
    if settings.gpus:
        docker = settings.container_engine == "docker"
        options += ["--gpus", "all"] if docker else ["--device", "nvidia.com/gpu=all"]
    return options


def _mount(*parts: str) -> str:
    """The value of ``--mount``, which the engines read as a line of CSV: paths may contain commas."""
    made = io.StringIO()
    csv.writer(made, lineterminator="").writerow(parts)
    return made.getvalue()


def _as_the_engine_says(result: Run, engine: str, name: str) -> Run:
    """Replace the times and the exit code of the engine's program by those of the container."""
    measured = result.measured
    measured["cpu_seconds"] = measured["user_seconds"] = float("nan")
    measured["peak_memory"] = 0
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
    measured["stopped"] = "memory" if state.get("OOMKilled") else ""
    return result
