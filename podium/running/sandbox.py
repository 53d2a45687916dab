"""Run models in bubblewrap, the default sandbox on Linux.

Bubblewrap is called once. It makes a file system that can only be read, except for a few folders in memory,
and namespaces for processes, users, network and names. The first process in them is a shell. It waits until
podium, outside, has started the clock. Then it runs the model, kills what the model left running, tells podium
that the run has ended, and sends the submission through a pipe. Podium opens no file that a model wrote.

As root, models run as the user nobody instead of in a namespace for users, because root's own files and the
kernel's settings would be theirs in it.

Source: the manual page bwrap(1).
"""

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from podium.common.errors import UsageError
from podium.common.options import as_option
from podium.common.wording import printable
from podium.running import settings as constants
from podium.running import view
from podium.running.control_group import Group, group_of_a_run, holds_cores
from podium.running.measuring import (
    Log,
    Outcome,
    Run,
    answer_of,
    core_seconds,
    ended_after,
    used_by,
    used_until_now,
)
from podium.running.models import Kind, Model, interpreter_of
from podium.running.settings import Settings, cores_used, given_to_models, interpreter, is_root
from podium.running.submission import Left, judged
from podium.running.system_calls import filter_program
from podium.running.view import MODEL, TOOLS, WORKING

NOT_FOUND = 1  # the exit code of grep
OLDEST_BUBBLEWRAP = (0, 8)  # the first that can forbid further user namespaces
# The first process in the sandbox. Its output goes to podium alone, and the model's to the log. If its input
# ends, podium has ended: then a process in the background kills the model.
# A model may have changed the limits of this process, so nothing is opened between its end and the end of what
# it left running: without the descriptor 4, `kill` would need a new one. Then the list of processes shows that
# nobody is left. What has been killed but not yet collected has the state Z or X, and does nothing any more.
SCRIPT = r"""
largest=$1 begins=$2
shift 2
exec 3<&0 </dev/null 4>/dev/null
echo ready
read go <&3
(read end <&3; kill -9 -1) >&2 &
watcher=$!
[ "$begins" ] && exec 5>&1
"$@" >&2 3<&- 4>&-
code=$?
exec 2>&4
kill -9 "$watcher"
wait "$watcher"
kill -9 -1 && outlived=yes || outlived=
left=yes
while [ "$left" ]; do
    kill -9 -1
    wait
    left=
    for process in /proc/[0-9]*; do
        [ "$process" = /proc/1 ] && continue
        state=
        while [ ! "$state" ] && read -r key value _; do
            [ "$key" = State: ] && state=$value
        done <"$process/status"
        case $state in
            Z | X) ;;
            "") [ ! -d "$process" ] || left=yes ;;
            *) left=yes ;;
        esac
    done
done
echo "$code"
echo "$outlived"
echo $(stat -f -c %a . /tmp /dev/shm)
set --
for name in submission.csv submission.csv.gz submission.parquet; do
    if [ -e "$name" ] || [ -L "$name" ]; then set -- "$@" "$name"; fi
done
echo "$@"
if [ $# = 0 ]; then
    { ls -d */submission.*; ls; } | head -n 3 | cut -c 1-80
elif [ $# = 1 ] && [ -f "$1" ] && [ ! -L "$1" ] && [ -r "$1" ]; then
    echo file
    exec head -c "$largest" "$1"
fi
"""
JOIN = 'echo 0 > "$1" || exit; shift; exec "$@"'
BEGINS = 5  # the descriptor on which a notebook tells that its first cell begins
BEGUN = b"begins\n"  # what it tells
FILE = b"file\n"  # what it prints before the content of the submission


def require() -> None:
    """Check that the tools and the library that the sandbox needs are installed."""
    for tool in ("bwrap", "prlimit", "setpriv", "taskset"):
        if shutil.which(tool) is None:
            package = "bubblewrap" if tool == "bwrap" else "util-linux"
            raise UsageError(
                f"no sandbox: {tool} is not here (apt-get install {package}; Linux only). "
                f"{as_option('engine', 'none')} runs your own models without one"
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
    if run.outcome is Outcome.EXIT and run.exit_code != NOT_FOUND:
        raise UsageError(f"not even a small program runs within the limits: {run.reason}")
    if run.outcome is Outcome.EXIT:
        raise UsageError(
            "the sandbox's filter of system calls was not loaded; the kernel needs CONFIG_SECCOMP_FILTER"
        )


def run_in_bubblewrap(
    model: Path, program: Sequence[str], settings: Settings, log: Log, is_notebook: bool = False
) -> Run:
    """Run a program in the sandbox."""
    cores = cores_used(settings.cores)
    # What a model writes is kept in memory, so it is counted with its memory.
    memory = settings.memory_limit + settings.disk_limit
    with contextlib.ExitStack() as files:
        calls = _in_memory(filter_program(settings.control_group and holds_cores()), files)
        shown = {path: _in_memory(content, files) for path, content in view.contents().items()}
        limited = group_of_a_run(memory, constants.PROCESSES, cores)
        with limited if settings.control_group else contextlib.nullcontext() as group:
            sandbox = _sandbox(model, settings, calls, shown)
            begins = [f"{BEGINS}"] if is_notebook else []
            script = ["sh", "-c", SCRIPT, "sh", str(constants.SUBMISSION_BYTES + 1), "".join(begins)]
            command = [*_before(group, cores), *sandbox, *script, *limits(settings), *program, *begins]
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=[calls, *shown.values()], start_new_session=True,
            )  # fmt: skip
            return _measured(process, is_notebook, settings, log, group)


def _measured(
    process: "subprocess.Popen[bytes]", is_notebook: bool, settings: Settings, log: Log, group: Group | None
) -> Run:
    """Start and measure the model by the first process of a sandbox, and take its submission."""
    cores, code, late = cores_used(settings.cores), b"", []
    tells, kill = process.stdout, functools.partial(_kill, process)
    assert tells is not None
    assert process.stderr is not None
    with process, log.following(process.stderr):
        try:
            with ended_after(constants.SECONDS_TO_START, kill):
                ready = tells.readline()
            if ready and is_notebook:
                with ended_after(settings.time_limit, kill) as is_late:
                    _go(process)
                    code = tells.readline()  # the kernel has started, or the notebook's program has ended
                    late.append(is_late)
            # Both clocks begin here: what was used before belongs to the sandbox, and to a notebook's kernel.
            before = group.used() if group else used_until_now(process.pid)
            with ended_after(settings.time_limit, kill) as is_late:
                busy, start = core_seconds(cores), time.perf_counter()
                if ready and not is_notebook:
                    _go(process)
                code = tells.readline() if code in (b"", BEGUN) else code
                seconds, busy = time.perf_counter() - start, core_seconds(cores) - busy
                late.append(is_late)
            with ended_after(constants.SECONDS_TO_SEND, kill):
                outlived, left = bool(tells.readline().strip()), _left(tells)
        except BaseException:
            _kill(process)
            raise
        used = used_by(process)
    if not ready:
        raise UsageError(no_sandbox(log.end))
    used = (group.used() if group else used).since(before)
    others = max(busy - used.user_seconds, 0.0) / (seconds * len(cores))
    run = Run(Outcome.DONE, "", seconds, used, others, int(code or -9), outlived=outlived)
    left = left._replace(is_whole=process.returncode == 0)
    return judged(run, bool(code) or not any(each.is_set() for each in late), left, settings, log)


def _left(tells: IO[bytes]) -> Left:
    """Read what the first process of a sandbox tells of the folders in which a model has worked."""
    room, names = (tells.readline().decode().split() for _ in range(2))
    content, is_full = tells.read(), "0" in room
    if names:
        return Left(names, content.removeprefix(FILE) if content.startswith(FILE) else None, (), is_full)
    return Left(names, None, content.decode("utf-8", "replace").splitlines(), is_full)


def _go(process: "subprocess.Popen[bytes]") -> None:
    """Let the first process of a sandbox start the model."""
    assert process.stdin is not None
    process.stdin.write(b"go\n")
    process.stdin.flush()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the first process of a sandbox, with which the kernel kills all others in it."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    with contextlib.suppress(OSError):
        for child in map(int, children.read_text().split()):
            os.kill(child, signal.SIGKILL)
    # Popen.kill() would collect the exit status of a process that has ended, which `used_by` needs.
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)


def _before(group: Group | None, cores: list[int]) -> list[str]:
    """The command that joins a control group, or chooses the cores where no group does."""
    join = ["sh", "-c", JOIN, "sh", str(group.door)] if group else []
    if group and group.holds_cores:
        return join
    return [*join, "taskset", "--cpu-list", ",".join(map(str, cores))]


def _sandbox(model: Path, settings: Settings, calls: int, files: dict[str, int]) -> list[str]:
    """The call of bubblewrap."""
    call = ["bwrap", "--die-with-parent", "--new-session", "--as-pid-1", "--hostname", view.HOST]
    call += ["--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    call += ["--cap-drop", "ALL", "--seccomp", str(calls)]
    if is_root():
        call += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        call += ["--unshare-user", "--disable-userns"]
        call += ["--uid", f"{constants.UNPRIVILEGED}", "--gid", f"{constants.UNPRIVILEGED}"]
    call += [*view.seen(model, settings, files), "--chdir", WORKING, "--clearenv"]
    given = environment_of(view.data_of(settings), MODEL, view.PACKAGES)
    given |= {"HOME": "/tmp", "TMPDIR": "/tmp", "USER": view.USER}
    for name, value in (given | given_to_models(settings)).items():
        call += ["--setenv", name, value]
    if is_root():
        nobody = f"{constants.NOBODY}"
        call += ["setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups", "--inh-caps=-all"]
    return call


def limits(settings: Settings) -> list[str]:
    """The command that sets the limits of each process; without a control group there are no others."""
    limits = ["prlimit", "--core=0", f"--nofile={constants.OPEN_FILES}", f"--fsize={settings.disk_limit}"]
    if not settings.control_group:
        limits += [f"--nproc={constants.PROCESSES}", f"--data={settings.memory_limit}"]
    return [*limits, "--"]


def _in_memory(content: bytes, files: contextlib.ExitStack) -> int:
    """Make a file in memory that is closed with these files, and return its descriptor."""
    import fcntl  # not on Windows

    made = os.memfd_create("podium")
    # Where podium was started with closed standard streams, the file must not take their numbers.
    file = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(made)
    files.callback(os.close, file)
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def no_sandbox(said: str) -> str:
    """Write the message that no sandbox can be made on this machine."""
    said = said.strip() or f"it was not ready within {constants.SECONDS_TO_START} s"
    return (
        f"the sandbox cannot be made on this machine: {' '.join(printable(said).split())[-300:]}; "
        "are user namespaces permitted (kernel.apparmor_restrict_unprivileged_userns=0)?"
    )


def program_of(model: Model, folder: str = MODEL, notebook: str = f"{TOOLS}/notebook.py") -> list[str]:
    """Make the command that runs a script or a notebook."""
    path = f"{folder}/{model.entry}"
    if model.kind is Kind.NOTEBOOK:
        return [interpreter(), "-I", notebook, path]  # without the model's folders, see notebook.py
    if model.entry == "run.py":
        return [interpreter(), path]
    return [*interpreter_of(model.folder / model.entry), path]


def environment_of(data: str, model: str, packages: str) -> dict[str, str]:
    """Make a model's environment variables; none of those with which podium was started is among them.

    What a model installs from files that it brings goes into the folder `packages`.
    """
    programs = [os.path.dirname(interpreter()), "/usr/local/bin", "/usr/bin", "/bin"]
    installed = view.places_in(packages)
    brought = os.path.join(model, "site")  # pip install --target site
    return {
        "PATH": os.pathsep.join([*programs, installed["scripts"]]),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONPATH": os.pathsep.join([brought, installed["purelib"]]),
        "PIP_PREFIX": packages,
        "PODIUM_DATA": data,
        "PODIUM_MODEL": model,
    }
