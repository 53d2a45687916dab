"""Run models in containers, with docker or podman, whichever the machine has.

The engine isolates and limits by its own means. Podium gives it the limits, starts the container, takes the
times that the engine noted, and reads the submission from a folder on the machine's disk.

Sources: docker's reference of ``docker container create`` and podman's manual page podman-create(1).
"""

import csv
import io
import json
import os
import shutil
import subprocess
import uuid
from datetime import datetime

from podium.common.errors import UsageError
from podium.running import settings as constants
from podium.running.measuring import Log, Outcome, Run, Used, answer_of, last_line, watched
from podium.running.models import Model
from podium.running.settings import Settings, cores_used, given_to_models, is_root
from podium.running.submission import judged, left_in, working_folder
from podium.running.view import WORKING, data_of

ENGINES = ("docker", "podman")
SECONDS_TO_PULL = 3600  # a team's registry must not keep all others waiting
LEAST_SECONDS = 1e-6  # of a run, during which the machine's clock may have been set back
NEVER_RAN = 1  # both engines write the year 1 for a container that was never started


def find_engine(wanted: str, named: str) -> str:
    """Find an engine that works; `named` is the first model that needs one."""
    candidates = (wanted,) if wanted in ENGINES else ENGINES
    heard = ""
    for name in filter(shutil.which, candidates):
        answer = answer_of(name, "version")
        if answer.returncode == 0:
            return name
        heard += f"; {name} says: {last_line(answer)}"
    raise UsageError(
        f"container.txt of {named} needs {' or '.join(candidates)}, "
        f"which is not installed or does not work{heard}"
    )


def image_id(engine: str, image: str) -> str:
    """Pull an image if it is not there, and ask for its id; a ValueError is the team's fault."""
    wanted = ("image", "inspect", "--format", "{{.Id}} {{json .Config.Volumes}}", image)
    answer = answer_of(engine, *wanted)
    if answer.returncode != 0:
        try:
            pulled = answer_of(engine, "pull", image, seconds=SECONDS_TO_PULL)
        except subprocess.TimeoutExpired:
            raise ValueError(f"the image {image} cannot be pulled within {SECONDS_TO_PULL:,} s") from None
        if pulled.returncode != 0:
            raise ValueError(f"the image {image} cannot be pulled: {last_line(pulled)}")
        answer = answer_of(engine, *wanted)
    name, _, volumes = answer.stdout.strip().partition(" ")
    if json.loads(volumes or "null"):  # folders on the machine's disk, without a limit
        raise ValueError(f"the image {image} has a volume: take VOLUME out of its Dockerfile")
    return name.removeprefix("sha256:")


def run_in_container(model: Model, settings: Settings, log: Log) -> Run:
    """Run an image's entry point in a container."""
    engine, name = settings.container_engine, f"podium-{uuid.uuid4().hex[:12]}"
    with working_folder() as working:
        os.chmod(working, 0o777)  # safe, because other users cannot enter the folder around it
        created = answer_of(engine, "create", *_options(name, settings, working), model.image)
        if created.returncode != 0:
            if "no command" in created.stderr.lower():
                return Run(Outcome.EXIT, f"the image {model.entry} has no entry point")
            raise UsageError(f"{engine} cannot make a container: {last_line(created)}")
        try:
            start, stop = [engine, "start", "--attach", name], (engine, "kill", name)
            _, in_time = watched(start, dict(os.environ), working, settings.time_limit, log, stop)
            state = json.loads(answer_of(engine, "inspect", "--format", "{{json .State}}", name).stdout or "{}")
        finally:
            answer_of(engine, "rm", "--force", name)
        if not state:
            raise UsageError(f"{engine} lost the container of {model.key}")
        return _result(state, in_time, working, settings, log)


def _result(
    state: dict[str, str | int | bool], in_time: bool, working: str, settings: Settings, log: Log
) -> Run:
    """Judge a container by what its engine says of it."""
    began, over = (datetime.fromisoformat(str(state[moment])) for moment in ("StartedAt", "FinishedAt"))
    if began.year == NEVER_RAN:
        # The image may be the reason, or the machine: engines do not say which, so it is tried again.
        return Run(Outcome.LOST, "the container cannot be started", printed=log.last_lines())
    seconds = max((over - began).total_seconds(), LEAST_SECONDS)
    used = Used(out_of_memory=in_time and bool(state.get("OOMKilled")))
    run = Run(Outcome.DONE, "", seconds, used, exit_code=int(state["ExitCode"]))
    return judged(run, in_time, left_in(working), settings._replace(sandbox=""), log)


def _options(name: str, settings: Settings, working: str) -> list[str]:
    """The options that limit the container, and say what it sees: the data and an empty folder."""
    engine, data = settings.container_engine, data_of(settings)
    memory, disk = str(settings.memory_limit), settings.disk_limit
    options = [
        "--name", name, "--hostname", "podium", "--network", "none", "--cap-drop", "ALL", "--read-only",
        "--security-opt", "no-new-privileges", "--log-driver", "none", "--no-healthcheck",
        "--pids-limit", str(constants.PROCESSES), "--memory", memory, "--memory-swap", memory,
        "--tmpfs", f"/tmp:size={disk}", "--shm-size", str(disk), "--ulimit", f"fsize={disk}",
        # An engine's own defaults for these can be higher than root may set, for example in another container.
        "--ulimit", f"nofile={constants.OPEN_FILES}", "--ulimit", f"nproc={constants.OPEN_FILES}",
        "--workdir", WORKING, "--env", f"PODIUM_DATA={data}",
        "--mount", _mount("type=bind", f"source={settings.data}", f"target={data}", "readonly"),
        "--mount", _mount("type=bind", f"source={working}", f"target={WORKING}"),
    ]  # fmt: skip
    for name, value in given_to_models(settings).items():
        options += ["--env", f"{name}={value}"]
    if is_root():
        options += ["--user", f"{constants.NOBODY}:{constants.NOBODY}"]
    elif engine == "docker" and hasattr(os, "getuid"):
        options += ["--user", f"{os.getuid()}:{os.getgid()}"]
    if engine == "podman":
        options += ["--http-proxy=false"]  # the values of the machine's proxies may have passwords
    if cores := cores_used(settings.cores):
        options += ["--cpuset-cpus", ",".join(map(str, cores))]
    if settings.gpus:
        options += ["--gpus", "all"] if engine == "docker" else ["--device", "nvidia.com/gpu=all"]
    return options


def _mount(*parts: str) -> str:
    """The value of ``--mount``, which the engines read as a line of CSV: paths may contain commas."""
    made = io.StringIO()
    csv.writer(made, lineterminator="").writerow(parts)
    return made.getvalue()
