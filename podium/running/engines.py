"""How a model is started: in bubblewrap, in a container, or without a sandbox.

Bubblewrap is called twice, for a file system and, by the supervisor in it, for the model's namespaces: what a
model wrote outlives it.  Root's models run as nobody, since limits on processes do not bind root.
"""

import contextlib
import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from podium.errors import UsageError
from podium.running import supervisor
from podium.running.models import CONTAINER, Model, printable

CONTAINER_ENGINES = ("docker", "podman", "apptainer")

SUBMISSION_BYTES = 256 * 2**20
PROCESSES = 512
OPEN_FILES = 4096
OLDEST_BUBBLEWRAP = (0, 8)  # the first that can forbid further user namespaces
NOBODY = "65534"
NO_IMAGE = "the image"  # so begins what `_NoImage` says
NOT_FOUND = 127
NO_ENTRY_POINT = re.compile('exec: "|executable')  # so runc and crun say
HERE = Path(__file__).parent

MODEL, INPUT, WORKING = "/kaggle/model", "/kaggle/input", "/kaggle/working"
TOOLS, SCRATCH = "/podium", "/podium/scratch"
WRITABLE = {"working": WORKING, "tmp": "/tmp", "shm": "/dev/shm"}  # folders in SCRATCH, as the model sees them
SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64")
ETC = ("alternatives", "fonts", "ld.so.cache")  # where programs find libraries and fonts
NOTEBOOK_PACKAGES = ("nbclient", "nbformat", "ipykernel")
ACCELERATORS = ("nvidia*", "dri", "kfd")


class Settings(NamedTuple):
    """How every model is run; limits in seconds and bytes.

    `sandbox` is "bubblewrap" or "none", `container_engine` may be "", 0 `cores` are all.
    """

    data: Path
    sandbox: str
    container_engine: str
    time_limit: float
    memory_limit: int
    disk_limit: int
    cores: int
    gpus: bool


class _NoImage(Exception):
    """The team's fault."""


class Run(NamedTuple):
    measured: supervisor.Measured
    log: str
    submission: bytes


def choose(engine: str, models: list[Model]) -> tuple[str, str]:
    """The sandbox and the container engine."""
    named = {model.kind: model.key for model in reversed(models)}  # the first of each kind
    lacking = [name for name in NOTEBOOK_PACKAGES if importlib.util.find_spec(name) is None]
    if "notebook" in named and lacking:
        raise UsageError(
            f"the notebook of {named['notebook']} needs {', '.join(lacking)}, not here: "
            "pip install 'podium[notebooks]'"
        )
    sandbox = "none" if engine == "none" else "bubblewrap"
    if sandbox == "bubblewrap" and named.keys() - {"container"}:
        _check_bubblewrap()
    if "container" not in named:
        return sandbox, ""
    candidates = (engine,) if engine in CONTAINER_ENGINES else CONTAINER_ENGINES
    heard = ""
    for name in filter(shutil.which, candidates):
        answer = _answer(name, "version")
        if answer.returncode == 0:
            return sandbox, name
        heard += f"; {name} says: {_last_line(answer)}"
    raise UsageError(
        f"{CONTAINER} of {named['container']} needs {' or '.join(candidates)}, "
        f"which is not here or does not work{heard}"
    )


def probe(settings: Settings, models: list[Model]) -> None:
    """Try the sandbox; UsageError if it fails or cannot read a model."""
    inside = [model for model in models if model.kind != "container" and settings.sandbox == "bubblewrap"]
    if (inside or settings.container_engine) and hasattr(os, "geteuid") and os.geteuid() == 0:
        paths = [settings.data]
        for model in inside:
            paths += [model.folder, model.folder / model.entry]
        for path in paths:
            needed = 0o5 if path.is_dir() or path.name == "run" else 0o4
            if path.stat().st_mode & needed != needed:
                raise UsageError(f"root's models run as nobody, who cannot read {path} (chmod -R o+rX)")
    if inside:
        with tempfile.TemporaryDirectory() as folder:
            result = _bubblewrap(Path(folder), ["true"], settings)
        if result.measured["exit_code"] != 0:
            raise UsageError(_no_sandbox(result.log))


def run(model: Model, settings: Settings) -> Run:
    """UsageError where the engine itself fails."""
    if model.kind != "container" and settings.sandbox == "bubblewrap":
        return _bubblewrap(model.folder, _program(model, MODEL, TOOLS), settings)
    with tempfile.TemporaryDirectory(prefix="podium-", ignore_cleanup_errors=True) as folder:
        working = f"{folder}/working"
        os.mkdir(working)
        if model.kind != "container":
            return _without_sandbox(model, settings, working)
        try:
            if settings.container_engine == "apptainer":
                return _apptainer(model.entry, settings, folder, working)
            return _container(model.entry, settings, working)
        except _NoImage as problem:
            return Run(supervisor.nothing_measured(str(problem)), "", b"")


def cores_used(number: int) -> list[int]:
    """The last `number` of the cores, or all for 0; none where models cannot be pinned."""
    return sorted(os.sched_getaffinity(0))[-number:] if sys.platform == "linux" else []


def visible(data: Path) -> list[Path]:
    python = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent.parent)}
    return [data, Path("/usr"), *(Path(name) for name in sorted(python) if not name.startswith("/usr"))]


def _supervised(
    settings: Settings,
    command: list[str],
    environment: dict[str, str],
    folder: str,
    stop: Sequence[str] = (),
    outer: Sequence[str] = (),
) -> Run:
    job = supervisor.Job(
        command=command,
        environment=environment,
        folder=folder,
        disk=None if outer else settings.disk_limit,
        stop=list(stop),
        cores=cores_used(settings.cores),
        seconds=settings.time_limit,
        memory=settings.memory_limit,
        submission=SUBMISSION_BYTES,
    )
    pipe = subprocess.PIPE
    program = [*outer, sys.executable, "-I", "-S", f"{TOOLS if outer else HERE}/supervisor.py"]
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        with contextlib.suppress(BrokenPipeError):
            os.write(process.stdin.fileno(), json.dumps(job).encode() + b"\n")
        header = process.stdout.readline()
        if not header:
            raise UsageError(_no_sandbox(process.stderr.read().decode("utf-8", "replace")))
        measured: supervisor.Measured = json.loads(header)
        log = process.stdout.read(measured["log_size"]).decode("utf-8", "replace")
        submission = process.stdout.read(measured["submission_size"])
    return Run(measured, printable(log.replace("\r\n", "\n")), submission)


def _bubblewrap(model: Path, program: list[str], settings: Settings) -> Run:
    data = f"{INPUT}/{settings.data.name}"
    is_root = os.geteuid() == 0
    outer = ["bwrap", "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-net", "--unshare-uts"]
    if is_root:
        outer += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    shown = [str(folder) for folder in visible(settings.data)[1:]]  # without the data
    places = [*shown, data, WORKING, SCRATCH]
    for parent in sorted({str(parent) for place in places for parent in Path(place).parents} - {"/"}):
        outer += ["--dir", parent]  # by itself, bubblewrap makes them for root alone
    for folder in shown:
        outer += ["--ro-bind", folder, folder]
        if os.path.exists(f"{folder}/pip.conf"):  # may hold passwords
            outer += ["--ro-bind", "/dev/null", f"{folder}/pip.conf"]
    for name in SYSTEM_FOLDERS:
        path = Path("/", name)
        if path.is_symlink():
            outer += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            outer += ["--ro-bind", str(path), str(path)]
    for name in ETC:
        outer += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    # The whole /proc: the inner call can mount a new one only if nothing of it is hidden.
    outer += ["--dev-bind", "/proc", "/proc", "--dev", "/dev", "--dir", "/tmp", "--dir", WORKING]
    outer += ["--ro-bind", "/sys/devices/system/cpu", "/sys/devices/system/cpu"]
    for name in ("supervisor.py", "notebook.py"):
        outer += ["--ro-bind", str(HERE / name), f"{TOOLS}/{name}"]
    outer += ["--ro-bind", str(model), MODEL, "--ro-bind", str(settings.data), data]
    outer += ["--perms", "0777", "--size", str(settings.disk_limit), "--tmpfs", SCRATCH]

    inner = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"]
    inner += ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "podium"]
    inner += ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    for name, place in WRITABLE.items():
        outer += ["--perms", "0777", "--dir", f"{SCRATCH}/{name}"]
        inner += ["--bind", f"{SCRATCH}/{name}", place]
    for folder in shown:
        if folder.startswith("/tmp/"):  # which the model's own has just hidden
            inner += ["--ro-bind", folder, folder]
    inner += ["--remount-ro", "/dev", "--tmpfs", SCRATCH, "--remount-ro", SCRATCH, "--chdir", WORKING]
    if settings.gpus:
        for path in (path for pattern in ACCELERATORS for path in sorted(Path("/dev").glob(pattern))):
            outer += ["--dev-bind", str(path), str(path)]
            inner += ["--dev-bind", str(path), str(path)]
        outer += ["--ro-bind", "/sys", "/sys"]
    limits = [
        f"--nproc={PROCESSES}", f"--nofile={OPEN_FILES}", f"--data={settings.memory_limit}",
        f"--fsize={settings.disk_limit}", "--core=0",
    ]  # fmt: skip
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if is_root else []
    return _supervised(
        settings,
        [*inner, "--", "prlimit", *limits, "--", *program],
        _environment(data, MODEL) | {"HOME": "/tmp", "TMPDIR": "/tmp", "USER": "model"},
        f"{SCRATCH}/working",
        outer=[*_scope(settings), *outer, "--clearenv", "--", *as_nobody],
    )


@functools.cache
def _scope(settings: Settings) -> list[str]:
    """Where it works, systemd limits all of a command, also memory that belongs to no process."""
    limits = {
        "MemoryMax": settings.memory_limit + settings.disk_limit,
        "MemorySwapMax": 0,
        "TasksMax": 2 * PROCESSES,  # some are not the model's
    }
    command = ["systemd-run", "--scope", "--quiet", "--collect", *([] if os.geteuid() == 0 else ["--user"])]
    command += [f"--property={name}={value}" for name, value in limits.items()]
    works = shutil.which(command[0]) is not None and _answer(*command, "--", "true").returncode == 0
    return [*command, "--"] if works else []


def _check_bubblewrap() -> None:
    for tool, package in (("bwrap", "bubblewrap"), ("prlimit", "util-linux"), ("setpriv", "util-linux")):
        if shutil.which(tool) is None:
            raise UsageError(
                f"no sandbox: {tool} is not here (apt-get install {package}; Linux only). "
                "--engine none runs your own models without one"
            )
    version = _answer("bwrap", "--version").stdout.split()[-1]
    if tuple(map(int, version.split(".")[:2])) < OLDEST_BUBBLEWRAP:
        raise UsageError(f"bubblewrap is {version}, expected at least {'.'.join(map(str, OLDEST_BUBBLEWRAP))}")


def _no_sandbox(said: str) -> str:
    return (
        f"the sandbox cannot be made on this machine: {' '.join(printable(said).split())[-300:]}; "
        "are user namespaces permitted (kernel.apparmor_restrict_unprivileged_userns=0)?"
    )


def _container(image: str, settings: Settings, working: str) -> Run:
    """By docker or podman."""
    engine = settings.container_engine
    if _answer(engine, "image", "inspect", image).returncode != 0:
        _have(image, _answer(engine, "pull", image))
    name = f"podium-{uuid.uuid4().hex[:12]}"
    data = f"{INPUT}/{settings.data.name}"
    options = [
        "--name", name, "--network", "none", "--read-only", "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges",
        "--pids-limit", str(PROCESSES), "--memory", str(settings.memory_limit),
        "--memory-swap", str(settings.memory_limit), "--ulimit", f"fsize={settings.disk_limit}",
        "--ulimit", f"nofile={OPEN_FILES}", "--ulimit", "core=0", "--log-driver", "none",
        # Of all of a user's processes; what podman sets by itself not every root may.
        "--ulimit", f"nproc={OPEN_FILES}",
        "--tmpfs", f"/tmp:size={settings.disk_limit}", "--workdir", WORKING,
        "--mount", f"type=bind,source={settings.data},target={data},readonly",
        "--mount", f"type=bind,source={working},target={WORKING}", "--env", f"PODIUM_DATA={data}",
    ]  # fmt: skip
    if hasattr(os, "getuid"):
        options += ["--user", f"{os.getuid() or NOBODY}:{os.getgid() or NOBODY}"]
    if cores := cores_used(settings.cores):
        options += ["--cpuset-cpus", ",".join(map(str, cores))]
    if settings.gpus:
        options += ["--gpus", "all"] if engine == "docker" else ["--device", "nvidia.com/gpu=all"]
    os.chmod(working, 0o777)  # the folder around it is closed to others
    made = _answer(engine, "create", *options, image)
    if made.returncode != 0:
        if "no command" in made.stderr.lower():
            raise _NoImage(f"{NO_IMAGE} {image} has no entry point")
        raise UsageError(f"{engine} cannot make a container: {_last_line(made)}")
    try:
        start, stop = [engine, "start", "--attach", name], [engine, "kill", name]
        return _by_the_engine(_supervised(settings, start, dict(os.environ), working, stop), engine, name)
    finally:
        _answer(engine, "rm", "--force", name)


def _by_the_engine(result: Run, engine: str, name: str) -> Run:
    measured = result.measured
    measured["cpu_seconds"] = measured["others"] = float("nan")
    measured["peak_memory"] = 0
    if measured["stopped"]:
        return result
    answer = _answer(engine, "inspect", "--format", "{{json .State}}", name)
    if answer.returncode != 0:
        raise UsageError(f"{engine} lost the container: {_last_line(answer)}")
    state = json.loads(answer.stdout)
    start, end = (datetime.fromisoformat(state[moment]) for moment in ("StartedAt", "FinishedAt"))
    measured["seconds"] = max((end - start).total_seconds(), 0.0)  # podman may note the end first
    measured["exit_code"] = state["ExitCode"]
    if start.year == 1:  # it never ran
        if not NO_ENTRY_POINT.search(result.log):
            raise UsageError(f"{engine} cannot start a container: {result.log.strip()[-300:]}")
        measured["exit_code"] = NOT_FOUND  # as of a shell; podman says 0
    measured["stopped"] = "memory" if state.get("OOMKilled") else ""
    return result


def _apptainer(image: str, settings: Settings, folder: str, working: str) -> Run:
    file = f"{folder}/image.sif"
    _have(image, _answer("apptainer", "pull", file, f"docker://{image}"))
    data = f"{INPUT}/{settings.data.name}"
    command = [
        "apptainer", "run", "--containall", "--cleanenv", "--no-home", "--net", "--network", "none",
        "--memory", str(settings.memory_limit), "--pids-limit", str(PROCESSES),
        "--bind", f"{settings.data}:{data}:ro", "--bind", f"{working}:{WORKING}", "--pwd", WORKING,
        "--env", f"PODIUM_DATA={data}", *(["--nv"] if settings.gpus else []), file,
    ]  # fmt: skip
    return _supervised(settings, command, dict(os.environ), working)


def _have(image: str, pulled: "subprocess.CompletedProcess[str]") -> None:
    if pulled.returncode != 0:
        raise _NoImage(f"{NO_IMAGE} {image} cannot be had: {_last_line(pulled)}")


def _without_sandbox(model: Model, settings: Settings, working: str) -> Run:
    folder = str(model.folder.resolve())
    environment = _environment(str(settings.data), folder) | {"HOME": working}
    if sys.platform == "win32":
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}
    return _supervised(settings, _program(model, folder, str(HERE)), environment, working)


def _program(model: Model, folder: str, tools: str) -> list[str]:
    path = f"{folder}/{model.entry}"
    if model.kind == "notebook":
        return [sys.executable, f"{tools}/notebook.py", path]
    if model.entry == "run.py":
        return [sys.executable, path]
    return ["sh", path] if model.entry == "run.sh" else [path]


def _environment(data: str, model: str) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    return {"PATH": path, "LANG": "C.UTF-8", "TZ": "UTC", "PODIUM_DATA": data, "PODIUM_MODEL": model}


def _answer(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")


def _last_line(answer: "subprocess.CompletedProcess[str]") -> str:
    lines = (answer.stderr.strip() or answer.stdout.strip() or f"exit code {answer.returncode}").splitlines()
    return printable(lines[-1])[:300]
