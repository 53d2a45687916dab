"""Run models in bubblewrap, the default sandbox on Linux.

Bubblewrap is called twice.  The outer call makes a file system that can only be read, except for a part in
memory whose size is limited.  The supervisor works there.  It makes the inner call, which adds the namespaces
and the filter of system calls, and in which the model runs.  So the files that a model wrote outlive it, and
none of its processes does.  When podium runs as root, models run as the user nobody, because the kernel's
limits on processes do not apply to root.

Source: the manual page bwrap(1).
"""

import base64
import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from podium.errors import UsageError
from podium.running import settings as constants
from podium.running.control_groups import group_of_a_run
from podium.running.models import Model
from podium.running.settings import Run, Settings, visible
from podium.running.supervised import FILTER_FD, Outside, answer_of, no_sandbox, run_supervised
from podium.running.syscalls import filter_program

__all__ = ["environment_of", "limit_of_core_dumps", "probe", "program_of", "require", "run_in_bubblewrap"]

OLDEST_BUBBLEWRAP = (0, 8)  # the first that can forbid further user namespaces
MODEL, INPUT, WORKING = "/kaggle/model", "/kaggle/input", "/kaggle/working"
TOOLS, SCRATCH = "/podium", "/podium/scratch"
WRITABLE = {"working": WORKING, "tmp": "/tmp", "shm": "/dev/shm"}  # folders in SCRATCH, as the model sees them
SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64")
ETC = ("alternatives", "fonts", "ld.so.cache")  # programs look here for libraries and fonts
ACCELERATORS = ("nvidia*", "dri", "kfd")
FILTER_IS_LOADED = "grep -q '^Seccomp:[[:space:]]*2' /proc/self/status"


def require() -> None:
    """Check that the tools and the library that the sandbox needs are installed.

    Raises
    ------
    UsageError
        If one of them is missing or too old.  The message names the package that contains it.
    """
    for tool, package in (("bwrap", "bubblewrap"), ("prlimit", "util-linux"), ("setpriv", "util-linux")):
        if shutil.which(tool) is None:
            raise UsageError(
                f"no sandbox: {tool} is not here (apt-get install {package}; Linux only). "
                "--engine none runs your own models without one"
            )
    version = answer_of("bwrap", "--version").stdout.split()[-1]
    if tuple(map(int, version.split(".")[:2])) < OLDEST_BUBBLEWRAP:
        raise UsageError(f"bubblewrap is {version}, expected at least {'.'.join(map(str, OLDEST_BUBBLEWRAP))}")
    filter_program()


def probe(settings: Settings) -> None:
    """Try the sandbox with a program that only looks whether the filter of system calls is loaded.

    Parameters
    ----------
    settings : Settings
        How every model is run.

    Raises
    ------
    UsageError
        If the sandbox cannot be made, or if its filter of system calls is not loaded.
    """
    with tempfile.TemporaryDirectory() as folder:
        result = run_in_bubblewrap(Path(folder), ["sh", "-c", FILTER_IS_LOADED], settings)
    if result.measured["exit_code"] == 1 and not result.log:
        raise UsageError(
            "the sandbox's filter of system calls was not loaded; the kernel needs CONFIG_SECCOMP_FILTER"
        )
    if result.measured["exit_code"] != 0:
        raise UsageError(no_sandbox(result.log))


def run_in_bubblewrap(model: Path, program: Sequence[str], settings: Settings) -> Run:
    """Run a program in the sandbox.

    Parameters
    ----------
    model : Path
        The model's folder, which the program can read.
    program : list of str
        The command, with paths as they are inside the sandbox.
    settings : Settings
        How every model is run.

    Returns
    -------
    Run
        What was measured, the log and the submission.

    Raises
    ------
    UsageError
        If the sandbox cannot be made, which is a fault of the machine and never the team's.
    """
    data = f"{INPUT}/{settings.data.name}"
    outer, inner = _outer(model, data, settings), _inner(settings)
    limits = [
        f"--nproc={constants.PROCESSES}", f"--nofile={constants.OPEN_FILES}", f"--data={settings.memory_limit}",
        f"--fsize={settings.disk_limit}", "--rtprio=0", "--nice=0",
    ]  # fmt: skip
    as_nobody: list[str] = []
    if constants.is_root():
        as_nobody = ["setpriv", f"--reuid={constants.NOBODY}", f"--regid={constants.NOBODY}", "--clear-groups"]
    memory = settings.memory_limit + settings.disk_limit  # the files that a model writes are kept in memory
    with group_of_a_run(settings.control_group, memory, constants.PROCESSES) as group:
        return run_supervised(
            settings,
            [*inner, "--", "prlimit", *limits, "--", *program],
            environment_of(data, MODEL) | {"HOME": "/tmp", "TMPDIR": "/tmp", "USER": "model"},
            f"{SCRATCH}/working",
            Outside(
                (*outer, "--clearenv", "--", *as_nobody, "prlimit", f"--core={limit_of_core_dumps()}"),
                f"{TOOLS}/supervisor.py",
            ),
            filter_=_encoded_filter(),
            group=group,
        )


def limit_of_core_dumps() -> int:
    """Choose the limit at which the kernel writes no core dump and hands none to another program.

    Many systems hand core dumps to a program of their own, which runs outside of every sandbox.  The kernel
    does that at a limit of 0, too.  It does not at a limit of 1, which belongs to such programs themselves
    (``fs/coredump.c``).  A limit of 1 is too small for any file.

    Returns
    -------
    int
        The limit in bytes: 1, or 0 if podium itself may set no other.
    """
    try:
        import resource
    except ImportError:  # on Windows, where containers run in a Linux of their own
        return 1
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    return 0 if most == 0 else 1


@functools.cache
def _encoded_filter() -> str:
    """The filter of system calls in base64, as a job in JSON can hold it."""
    return base64.b64encode(filter_program()).decode()


def _outer(model: Path, data: str, settings: Settings) -> list[str]:
    """The outer call: it makes the supervisor's file system, with all that the model may see of the machine."""
    outer = ["bwrap", "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-net", "--unshare-uts"]
    if constants.is_root():
        outer += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    shown = _shown(settings)
    mounted = [*shown, data, WORKING, SCRATCH]
    for parent in sorted({str(parent) for path in mounted for parent in Path(path).parents} - {"/"}):
        outer += ["--dir", parent]  # folders that bubblewrap makes unasked can be read by root alone
    for folder in shown:
        outer += ["--ro-bind", folder, folder]
        if os.path.exists(f"{folder}/pip.conf"):  # it may contain passwords of package registries
            outer += ["--ro-bind", "/dev/null", f"{folder}/pip.conf"]
    for name in SYSTEM_FOLDERS:
        path = Path("/", name)
        if path.is_symlink():
            outer += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            outer += ["--ro-bind", str(path), str(path)]
    for name in ETC:
        outer += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    # All of /proc is shown here, because the kernel lets the inner call mount a new /proc only then.
    outer += ["--dev-bind", "/proc", "/proc", "--dev", "/dev", "--dir", "/tmp", "--dir", WORKING]
    outer += ["--ro-bind", "/sys/devices/system/cpu", "/sys/devices/system/cpu"]
    for name in ("supervisor.py", "notebook.py"):
        outer += ["--ro-bind", str(constants.HERE / name), f"{TOOLS}/{name}"]
    outer += ["--ro-bind", str(model), MODEL, "--ro-bind", str(settings.data), data]
    outer += ["--perms", "0777", "--size", str(settings.disk_limit), "--tmpfs", SCRATCH]
    for name in WRITABLE:
        outer += ["--perms", "0777", "--dir", f"{SCRATCH}/{name}"]
    for device in _accelerators(settings):
        outer += ["--dev-bind", device, device]
    return [*outer, "--ro-bind", "/sys", "/sys"] if settings.gpus else outer


def _inner(settings: Settings) -> list[str]:
    """The inner call: it makes the model's namespaces and loads the filter of system calls."""
    inner = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"]
    inner += ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "podium"]
    inner += ["--seccomp", str(FILTER_FD), "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    for name, path in WRITABLE.items():
        inner += ["--bind", f"{SCRATCH}/{name}", path]
    for folder in _shown(settings):
        if folder.startswith("/tmp/"):  # the model's own /tmp has just hidden it
            inner += ["--ro-bind", folder, folder]
    inner += ["--remount-ro", "/dev", "--tmpfs", SCRATCH, "--remount-ro", SCRATCH, "--chdir", WORKING]
    # The first process is bubblewrap's own.  Who writes into its memory can make it report an early exit.
    inner += ["--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]
    for device in _accelerators(settings):
        inner += ["--dev-bind", device, device]
    return inner


def _shown(settings: Settings) -> list[str]:
    """The folders of the system's programs and of Python, which every model can read."""
    return [str(folder) for folder in visible(settings.data)[1:]]


def _accelerators(settings: Settings) -> list[str]:
    """The paths of the accelerators, if the organizer lets models use them."""
    if not settings.gpus:
        return []
    return [str(path) for pattern in ACCELERATORS for path in sorted(Path("/dev").glob(pattern))]


def program_of(model: Model, folder: str = MODEL, tools: str = TOOLS) -> list[str]:
    """Make the command that runs a script or a notebook.

    Parameters
    ----------
    model : Model
        The model to run, of the kind "script" or "notebook".
    folder : str
        The path of the model's files, as the sandbox shows it.
    tools : str
        The path of podium's own programs, as the sandbox shows it.

    Returns
    -------
    list of str
        The program and its arguments.
    """
    path = f"{folder}/{model.entry}"
    if model.kind == "notebook":
        return [sys.executable, f"{tools}/notebook.py", path]
    if model.entry == "run.py":
        return [sys.executable, path]
    return ["sh", path] if model.entry == "run.sh" else [path]


def environment_of(data: str, model: str) -> dict[str, str]:
    """Make a model's environment variables; none of those with which podium was started is among them.

    Parameters
    ----------
    data : str
        The path at which the model finds the data.
    model : str
        The path at which the model finds its own files.

    Returns
    -------
    dict of str to str
        The variables with their values.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    return {"PATH": path, "LANG": "C.UTF-8", "TZ": "UTC", "PODIUM_DATA": data, "PODIUM_MODEL": model}
