"""Run models in bubblewrap, the default sandbox on Linux.

Bubblewrap is called once.  It makes a file system that can only be read, except for a few folders in memory,
and namespaces for processes, users, network and names.  The first process in them is a shell.  It waits until
podium, outside, has started the clock.  Then it runs the model, kills what the model left running, tells podium
that the run has ended, and sends the submission through a pipe.  Podium opens no file that a model wrote.

As root, models run as the user nobody instead of in a namespace for users, because root's own files and the
kernel's settings would be theirs in it.

Source: the manual page bwrap(1).
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from podium.errors import UsageError
from podium.running import settings as constants
from podium.running.control_group import Group, group_of_a_run, holds_cores
from podium.running.measuring import Log, Outcome, Run, Used, answer_of, busy_seconds, failed, used_by
from podium.running.models import Kind, Model
from podium.running.settings import Settings, cores_used, is_root, visible
from podium.running.system_calls import filter_program
from podium.wording import printable

__all__ = ["environment_of", "limits", "probe", "program_of", "require", "run_in_bubblewrap"]

OLDEST_BUBBLEWRAP = (0, 8)  # the first that can forbid further user namespaces
MODEL, INPUT, WORKING, TOOLS = "/kaggle/model", "/kaggle/input", "/kaggle/working", "/podium"
SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
# What programs look up in /etc: libraries, fonts, and which program stands behind a name such as awk.
ETC = ("alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d")
HOSTS = b"127.0.0.1 localhost\n::1 localhost\n"
ACCELERATORS = ("nvidia*", "dri", "kfd")
NOTEBOOK = Path(__file__).with_name("notebook.py")

# The first process in the sandbox.  Its output goes to podium alone, and the model's to the log.  If its input
# ends, podium has ended: then a process in the background kills the model.
SCRIPT = r"""
largest=$1
shift
exec 3<&0 </dev/null
echo ready
read go <&3
(read end <&3; kill -9 -1) >&2 &
"$@" >&2 3<&-
code=$?
kill -9 -1 2>/dev/null
echo "$code"
set --
for name in submission.csv submission.csv.gz submission.parquet; do
    if [ -e "$name" ] || [ -L "$name" ]; then set -- "$@" "$name"; fi
done
echo "$@"
if [ $# = 0 ]; then
    ls -b | head -n 3 | cut -c 1-40
elif [ $# = 1 ] && [ -f "$1" ] && [ ! -L "$1" ] && [ -r "$1" ]; then
    echo file
    exec head -c "$largest" "$1"
fi
"""
FILE = b"file\n"  # what it prints before the content of the submission
JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit; shift; done; shift; exec "$@"'


def require() -> None:
    """Check that the tools and the library that the sandbox needs are installed."""
    for tool in ("bwrap", "prlimit", "setpriv", "taskset"):
        if shutil.which(tool) is None:
            package = "bubblewrap" if tool == "bwrap" else "util-linux"
            raise UsageError(
                f"no sandbox: {tool} is not here (apt-get install {package}; Linux only). "
                "--engine none runs your own models without one"
            )
    version = answer_of("bwrap", "--version").stdout.split()[-1]
    if tuple(map(int, version.split(".")[:2])) < OLDEST_BUBBLEWRAP:
        raise UsageError(f"bubblewrap is {version}, expected at least {'.'.join(map(str, OLDEST_BUBBLEWRAP))}")


def probe(settings: Settings) -> None:
    """Try the sandbox with a program that only looks whether the filter of system calls is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        log = Log(Path(folder, "log"), "")
        is_loaded = ["grep", "-q", "^Seccomp:[[:space:]]*2", "/proc/self/status"]
        run = run_in_bubblewrap(Path(folder), is_loaded, settings, log)
    if run.outcome is Outcome.EXIT:
        raise UsageError(
            f"the sandbox's filter of system calls was not loaded ({run.reason}); "
            "the kernel needs CONFIG_SECCOMP_FILTER"
        )


def run_in_bubblewrap(model: Path, program: Sequence[str], settings: Settings, log: Log) -> Run:
    """Run a program in the sandbox."""
    cores = cores_used(settings.cores)
    # What a model writes is kept in memory, so it is counted with its memory.
    memory = settings.memory_limit + settings.disk_limit
    files = [
        _in_memory(filter_program(holds_cores(settings.control_group))),
        _in_memory(HOSTS),
    ]
    try:
        with group_of_a_run(settings.control_group, memory, constants.PROCESSES, cores) as group:
            sandbox = _sandbox(model, settings, *files)
            largest = str(constants.SUBMISSION_BYTES + 1)
            inside = ["sh", "-c", SCRIPT, "sh", largest, *limits(settings), *program]
            return _measured([*_before(group, cores), *sandbox, *inside], files, settings, log, group)
    finally:
        for file in files:
            os.close(file)


def _measured(command: list[str], files: list[int], settings: Settings, log: Log, group: Group | None) -> Run:
    """Run the first process of a sandbox, measure the model, and take its submission."""
    cores = cores_used(settings.cores)
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, pass_fds=files, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    timer = threading.Timer(settings.time_limit, _kill, (process,))
    with process, log.following(process.stderr):
        try:
            ready = process.stdout.readline()
            busy, start = busy_seconds(cores), time.perf_counter()
            if ready:
                timer.start()
                process.stdin.write(b"go\n")
                process.stdin.flush()
            code = process.stdout.readline().strip()
            seconds, busy = time.perf_counter() - start, busy_seconds(cores) - busy
            found = process.stdout.readline().decode().split()
            rest = process.stdout.read()
        except BaseException:
            _kill(process)
            raise
        finally:
            timer.cancel()
            if timer.is_alive():  # it is about to kill
                timer.join()
        used = used_by(process)
    if not ready:
        raise UsageError(no_sandbox(log.end))
    out_of_memory = False
    if group:
        counted = group.used()
        used, out_of_memory = Used(*counted[:3]), counted.out_of_memory
    others = max(busy - used.user_seconds, 0.0) / (seconds * len(cores))
    run = Run(Outcome.DONE, "", seconds, used, others, int(code or -9))
    if out_of_memory:
        return failed(run, Outcome.MEMORY, settings, log)
    if not code and seconds >= settings.time_limit:
        return failed(run, Outcome.TIME, settings, log)
    if run.exit_code != 0:
        return failed(run, Outcome.EXIT, settings, log)
    if problem := _problem(found, rest):
        return run._replace(outcome=Outcome.SUBMISSION, reason=problem)
    return run._replace(name=found[0], submission=rest.removeprefix(FILE))


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the first process of a sandbox, with which the kernel kills all others in it."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    with contextlib.suppress(OSError):
        for child in map(int, children.read_text().split()):
            os.kill(child, signal.SIGKILL)
    # Popen.kill() would collect the exit status of a process that has ended, which `used_by` needs.
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)


def _problem(found: list[str], rest: bytes) -> str:
    """What is wrong with the submissions that the first process has found, or ""."""
    if not found:
        # A model chooses these names, so they are escaped and cut.
        others = ", ".join(map(printable, rest.decode("utf-8", "replace").splitlines()))
        return f"no submission.csv; found {others}" if others else "no submission.csv"
    if len(found) > 1:
        return f"{' and '.join(found)} are there, expected one"
    if not rest.startswith(FILE):
        return f"{found[0]} is not a regular file that can be read"
    if len(rest) - len(FILE) > constants.SUBMISSION_BYTES:
        return f"{found[0]} is larger than {constants.SUBMISSION_BYTES:,} bytes"
    return ""


def _before(group: Group | None, cores: list[int]) -> list[str]:
    """The command that joins a control group, or chooses the cores where no group does."""
    join = ["sh", "-c", JOIN, "sh", *group.joined(), "--"] if group else []
    if group and "cpuset" in group.folders:
        return join
    return [*join, "taskset", "--cpu-list", ",".join(map(str, cores))]


def _sandbox(model: Path, settings: Settings, filter_: int, hosts: int) -> list[str]:
    """The call of bubblewrap."""
    call = ["bwrap", "--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "podium"]
    call += ["--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    call += ["--cap-drop", "ALL", "--seccomp", str(filter_)]
    if is_root():
        call += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        call += ["--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"]
    call += [*_system(settings, hosts), *_folders(model, settings), *_devices(settings)]
    # The first process is podium's.  Who could write into its memory could report an end.
    call += ["--tmpfs", "/proc/1", "--remount-ro", "/proc/1", "--remount-ro", "/dev", "--remount-ro", "/"]
    call += ["--chdir", WORKING, "--clearenv"]
    given = environment_of(_data(settings), MODEL) | {"HOME": "/tmp", "TMPDIR": "/tmp", "USER": "model"}
    for name, value in given.items():
        call += ["--setenv", name, value]
    if is_root():
        nobody = f"{constants.NOBODY}"
        call += ["setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups", "--inh-caps=-all"]
    return call


def _system(settings: Settings, hosts: int) -> list[str]:
    """The system's programs, Python, and what they need from /etc."""
    shown = [str(folder) for folder in visible(settings.data)[1:]]
    # The places of Python may be below /tmp, so that has to be there before them.
    view = ["--perms", "1777", "--size", str(settings.disk_limit), "--tmpfs", "/tmp"]
    view += _parents([*shown, "/etc/hosts"])
    for folder in shown:
        view += ["--ro-bind", folder, folder]
        if os.path.exists(f"{folder}/pip.conf"):  # it may contain passwords of package registries
            view += ["--ro-bind", "/dev/null", f"{folder}/pip.conf"]
    for folder in SYSTEM_FOLDERS:
        if os.path.islink(folder):
            view += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            view += ["--ro-bind", folder, folder]
    for name in ETC:
        view += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return [*view, "--perms", "0644", "--ro-bind-data", str(hosts), "/etc/hosts"]


def _folders(model: Path, settings: Settings) -> list[str]:
    """The model, the data, and the folder to work in."""
    data, notebook = _data(settings), f"{TOOLS}/notebook.py"
    view = [*_parents([MODEL, data, WORKING, notebook]), "--ro-bind", str(NOTEBOOK), notebook]
    view += ["--ro-bind", str(model), MODEL, "--ro-bind", str(settings.data), data]
    return [*view, "--perms", "0777", "--size", str(settings.disk_limit), "--tmpfs", WORKING]


def _devices(settings: Settings) -> list[str]:
    """The kernel's own file systems, and the accelerators if models may use them."""
    view = ["--proc", "/proc", "--dev", "/dev"]
    view += ["--perms", "1777", "--size", str(settings.disk_limit), "--tmpfs", "/dev/shm"]
    if not settings.gpus:
        return [*view, "--ro-bind", "/sys/devices/system/cpu", "/sys/devices/system/cpu"]
    view += ["--ro-bind", "/sys", "/sys"]
    for device in (path for pattern in ACCELERATORS for path in sorted(Path("/dev").glob(pattern))):
        view += ["--dev-bind", str(device), str(device)]
    return view


def _data(settings: Settings) -> str:
    """The place of the data, as the model sees it."""
    return f"{INPUT}/{settings.data.name}"


def _parents(paths: Sequence[str]) -> list[str]:
    """The folders above some paths, which bubblewrap would otherwise make for root alone."""
    above = sorted({str(parent) for path in paths for parent in Path(path).parents} - {"/", "/tmp"})
    return [word for parent in above for word in ("--perms", "0755", "--dir", parent)]


def limits(settings: Settings) -> list[str]:
    """The command that sets the limits of each process; without a control group there are no others."""
    limits = ["prlimit", "--core=0", f"--nofile={constants.OPEN_FILES}", f"--fsize={settings.disk_limit}"]
    if not settings.control_group:
        limits += [f"--nproc={constants.PROCESSES}", f"--data={settings.memory_limit}"]
    return [*limits, "--"]


def _in_memory(content: bytes) -> int:
    """Make a file in memory, and return its descriptor."""
    file = os.memfd_create("podium")
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def no_sandbox(said: str) -> str:
    """Write the message that no sandbox can be made on this machine."""
    return (
        f"the sandbox cannot be made on this machine: {' '.join(printable(said).split())[-300:]}; "
        "are user namespaces permitted (kernel.apparmor_restrict_unprivileged_userns=0)?"
    )


def program_of(model: Model, folder: str = MODEL, notebook: str = f"{TOOLS}/notebook.py") -> list[str]:
    """Make the command that runs a script or a notebook."""
    path = f"{folder}/{model.entry}"
    if model.kind is Kind.NOTEBOOK:
        return [sys.executable, notebook, path]
    if model.entry == "run.py":
        return [sys.executable, path]
    return ["sh", path] if model.entry == "run.sh" else [path]


def environment_of(data: str, model: str) -> dict[str, str]:
    """Make a model's environment variables; none of those with which podium was started is among them."""
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    packages = os.path.join(model, "site")  # what a model brings along: pip install --target site
    return {
        "PATH": path,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONPATH": packages,
        "PODIUM_DATA": data,
        "PODIUM_MODEL": model,
    }
