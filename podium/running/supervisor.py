"""A program, of the standard library alone, that runs a model from within the outer sandbox.

It reads a `Job` from its input, a line of JSON, and writes a `Measured`, a line of JSON, then the log and the
submission.  It is the only part of podium that strangers' programs come near: it is short, imports nothing that
is not Python's own, and has a higher priority than they have.
"""

import base64
import contextlib
import ctypes
import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, TypedDict

__all__ = ["Job", "Measured", "main", "nothing_measured"]

SUBMISSIONS = ("submission.csv", "submission.csv.gz", "submission.parquet")
LOG_BYTES = 64 * 2**10
SECONDS_BETWEEN_LOOKS = 0.1
LOOKS_PER_DISK_LOOK = 10
LEAST_MEMORY_SHARE = 0.05  # of the machine: some memory belongs to no process
LOWER = 5  # is the priority of a model at least, also where podium itself has a low one
PR_SET_CHILD_SUBREAPER = 36
KEYCTL = {"x86_64": 250, "aarch64": 219}  # a system call that libc does not wrap
KEYCTL_JOIN_SESSION_KEYRING = 1
USER, NICE, STEAL = 1, 2, 8  # places in a line of /proc/stat
ON_LINUX = sys.platform == "linux"


class Job(TypedDict):
    """What to run, and its limits.

    Attributes
    ----------
    command, environment : list of str, dict
        The model's program, possibly within another ``bwrap``.
    filter : str
        The filter of system calls (base64), or "".  The command reads it from the file descriptor `filter_fd`.
    filter_fd : int
        The number of that file descriptor.
    stop : list of str
        A command that ends the model where killing its processes is not enough, or nothing.
    folder : str
        Where the model works and leaves its submission.
    cores : list of int
        The cores to which it is pinned, or nothing.
    priority : int
        The nice value of the model, at least; that of this program is lower by 5 or more.
    groups : list of int
        Open files (``cgroup.procs``) of the control groups which the model joins.
    seconds : float
    memory : int
        Bytes of all its processes together.
    disk : int or None
        Bytes of the files in its folder; None where the file system itself sets the limit.
    files : int
        How many files it may have written.
    submission : int
        Bytes of the largest submission.
    """

    command: list[str]
    filter: str
    filter_fd: int
    stop: list[str]
    environment: dict[str, str]
    folder: str
    cores: list[int]
    priority: int
    groups: list[int]
    seconds: float
    memory: int
    disk: int | None
    files: int
    submission: int


class Measured(TypedDict):
    """What a run took, and how it ended.

    Attributes
    ----------
    seconds : float
        From the start of the model to the end of the last of its processes.
    cpu_seconds, user_seconds : float
        Processor time of its processes, in all and outside the kernel; NaN if unknown.
    busy : float
        Processor time outside the kernel that others than this program spent on the model's cores, the model
        included; NaN if unknown.
    peak_memory : int
        Bytes.
    exit_code : int
        Negative for a signal.
    stopped : str
        The limit that it passed, or "".
    problem : str
        What is wrong with the submission, or "".
    submission : str
        The name of the submission's file, or "".
    log_size, submission_size : int
        Bytes that follow.
    """

    seconds: float
    cpu_seconds: float
    user_seconds: float
    busy: float
    peak_memory: int
    exit_code: int
    stopped: str
    problem: str
    submission: str
    log_size: int
    submission_size: int


class Log:
    """The first and the last bytes of a stream, read by a thread of its own."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.first, self.last, self.left_out = b"", b"", 0
        self.reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self.reader.start()

    def _read(self, stream: IO[bytes]) -> None:
        half = LOG_BYTES // 2
        while block := os.read(stream.fileno(), 1 << 16):
            room = half - len(self.first)
            self.first += block[:room]
            last = self.last + block[room:]
            self.left_out += max(len(last) - half, 0)
            self.last = last[-half:]

    def content(self) -> bytes:
        """Both ends, and between them how much was left out."""
        cut = f"\n[{self.left_out:,} bytes left out]\n" if self.left_out else ""
        return self.first + cut.encode() + self.last


class Watch(threading.Thread):
    """Looks at the model ten times a second; kills it at its limits, and when podium is gone.

    Attributes
    ----------
    stopped : str
        The limit that was passed, or "".
    peak_memory : int
        The most bytes that were seen.
    over : threading.Event
        Set when there is nothing to watch any more.
    """

    def __init__(self, job: Job, process: "subprocess.Popen[bytes]", podium: threading.Thread) -> None:
        super().__init__(daemon=True)
        self.job, self.process, self.podium = job, process, podium
        self.stopped, self.peak_memory = "", 0
        self.over = threading.Event()

    def run(self) -> None:
        """Watch until `over`."""
        end, looks = time.monotonic() + self.job["seconds"], 0
        while not self.over.wait(min(SECONDS_BETWEEN_LOOKS, max(end - time.monotonic(), 0))):
            looks += 1
            try:
                self.stopped = self._limit_passed(end, looks)
            except Exception:
                self.stopped = "watch"  # nothing runs unwatched
            if self.stopped:
                if self.job["stop"]:
                    subprocess.run(self.job["stop"], stdin=subprocess.DEVNULL, capture_output=True)
                while not self.over.wait(0.01):
                    kill(self.process)

    def _limit_passed(self, end: float, looks: int) -> str:
        job, pids = self.job, descendants(os.getpid())
        memory = memory_of(pids, job["memory"])
        self.peak_memory = max(self.peak_memory, memory)
        disk, files = 0.0, 0
        if job["disk"] is None:
            files = files_of_file_system(".")
        elif looks % LOOKS_PER_DISK_LOOK == 0:
            disk, files = size_of(".")
        passed = {
            "podium": not self.podium.is_alive(),
            "time": time.monotonic() >= end,
            "memory": memory > job["memory"],
            "machine": machine_is_full(),
            "cores": job["cores"] and not all(stays_on(pid, {*job["cores"]}) for pid in pids),
            "disk": job["disk"] is not None and disk > job["disk"],
            "files": files > job["files"],
        }
        return next((name for name, is_passed in passed.items() if is_passed), "")


def main() -> None:
    """Read the job, run the model, write what was measured."""
    job: Job = json.loads(sys.stdin.buffer.readline())
    os.chdir(job["folder"])
    podium = threading.Thread(target=os.read, args=(sys.stdin.fileno(), 1), daemon=True)  # ends with podium
    if ON_LINUX:
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # adopt every process that leaves its parent
        if os.uname().machine in KEYCTL:  # a keyring of its own
            libc.syscall(KEYCTL[os.uname().machine], KEYCTL_JOIN_SESSION_KEYRING, None)
        with contextlib.suppress(OSError):  # where memory ends, the kernel takes the model first
            Path("/proc/self/oom_score_adj").write_text("1000")
    measured, log = run(job, podium)
    content = b""
    if not (measured["stopped"] or measured["exit_code"] or measured["problem"]):
        try:
            measured["submission"], content = submission(job["submission"])
        except (OSError, ValueError) as problem:
            measured["problem"] = getattr(problem, "strerror", None) or str(problem)
    measured["log_size"], measured["submission_size"] = len(log), len(content)
    sys.stdout.buffer.write(json.dumps(measured).encode() + b"\n" + log + content)
    sys.stdout.buffer.flush()


def run(job: Job, podium: threading.Thread) -> tuple[Measured, bytes]:
    """Run the model; what was measured, and its log.

    The clock starts before its first process and stops when its last one is gone, whatever the first has said:
    a model that makes its sandbox report an exit does not stop the clock.
    """
    everywhere = os.sched_getaffinity(0) if ON_LINUX else set()
    if job["cores"] and ON_LINUX:
        os.sched_setaffinity(0, job["cores"])  # children inherit it
    before = busy_seconds(job["cores"]) - os.times().user
    try:
        process, start = _start(job)
    except OSError as problem:
        return nothing_measured(f"{job['command'][0]}: {problem.strerror or problem}"), b""
    if ON_LINUX:
        os.sched_setaffinity(0, everywhere - {*job["cores"]} or everywhere)
    assert process.stdout is not None
    podium.start()  # not before: a process with threads should not fork
    log, watch = Log(process.stdout), Watch(job, process, podium)
    watch.start()
    exit_code = process.wait()
    while ON_LINUX and descendants(os.getpid()):  # what the model left running, in whatever session
        kill(process)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    seconds = time.perf_counter() - start
    after = busy_seconds(job["cores"]) - os.times().user
    watch.over.set()
    watch.join()
    log.reader.join(1.0)
    user_seconds, cpu_seconds, largest_process = used_by_children()
    measured = nothing_measured("")
    measured["seconds"], measured["cpu_seconds"], measured["user_seconds"] = seconds, cpu_seconds, user_seconds
    measured["busy"] = after - before
    measured["peak_memory"] = max(watch.peak_memory, largest_process)
    measured["exit_code"], measured["stopped"] = exit_code, watch.stopped
    return measured, log.content()


def _start(job: Job) -> tuple["subprocess.Popen[bytes]", float]:
    """Start the model, in its control groups and with its priority; the process, and when its clock started.

    To join a group can take the kernel some milliseconds, which are not the model's.
    """
    told, tell = os.pipe()
    own = os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else 0

    def enter() -> None:
        for group in job["groups"]:
            os.write(group, b"0")  # whoever writes joins
        if hasattr(os, "setpriority"):
            os.setpriority(os.PRIO_PROCESS, 0, max(job["priority"], own + LOWER))
        os.write(tell, repr(time.perf_counter()).encode())  # one clock for all processes

    files = []
    if job["filter"]:
        made = os.memfd_create("filter", 0)
        os.write(made, base64.b64decode(job["filter"]))
        os.lseek(made, 0, os.SEEK_SET)
        os.dup2(made, job["filter_fd"])
        os.close(made)
        files = [job["filter_fd"]]
    start = time.perf_counter()
    process = subprocess.Popen(
        job["command"],
        env=job["environment"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=files,
        preexec_fn=enter if os.name == "posix" else None,
    )
    if os.name == "posix":
        start = float(os.read(told, 100))
    for file in (*files, told, tell):
        os.close(file)
    return process, start


def nothing_measured(problem: str) -> Measured:
    """The measurements of a model that did not run, and why.

    Parameters
    ----------
    problem : str
        Why there are no predictions.

    Returns
    -------
    Measured
    """
    return Measured(
        seconds=0.0,
        cpu_seconds=0.0,
        user_seconds=0.0,
        busy=0.0,
        peak_memory=0,
        exit_code=0,
        stopped="",
        problem=problem,
        submission="",
        log_size=0,
        submission_size=0,
    )


def submission(limit: int) -> tuple[str, bytes]:
    """The one submission in the current folder; no link is followed, nothing waited for.

    Parameters
    ----------
    limit : int
        Bytes that it may have.

    Returns
    -------
    str, bytes
        Its name and its content.

    Raises
    ------
    ValueError
        Where there is none, several, no regular file, or too large a one.
    OSError
        Where it cannot be read.
    """
    names = os.listdir()
    present = [name for name in SUBMISSIONS if name in names]
    if len(present) != 1:
        raise ValueError(f"{' and '.join(present)} are there, expected one" if present else "no submission.csv")
    [name] = present
    if not stat.S_ISREG(os.lstat(name).st_mode):
        raise ValueError(f"{name} is not a regular file")
    flags = os.O_RDONLY
    for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, flag, 0)
    with open(os.open(name, flags), "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{name} is larger than {limit:,} bytes")
    return name, content


def descendants(pid: int) -> list[int]:
    """The processes that one has started, and theirs, however many generations; none where nobody can look.

    Parameters
    ----------
    pid : int
        The first one, which is not among them.
    """
    family = [pid]
    for parent in family if ON_LINUX else []:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{parent}/task") as threads:
            for thread in threads:
                with contextlib.suppress(OSError):
                    family += map(int, Path(thread.path, "children").read_text().split())
    return family[1:]


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill every process of the model, once; a new one may have been made meanwhile."""
    if ON_LINUX:
        for pid in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    elif hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def used_by_children() -> tuple[float, float, int]:
    """Seconds outside the kernel and in all, bytes of the largest."""
    try:
        import resource
    except ImportError:
        return float("nan"), float("nan"), 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return used.ru_utime, used.ru_utime + used.ru_stime, peak


def busy_seconds(cores: list[int], path: Path = Path("/proc/stat")) -> float:
    """How long these cores have worked outside the kernel; NaN if unknown."""
    if not ON_LINUX:
        return float("nan")
    try:
        fields = {line[0]: line for line in map(str.split, path.read_text().splitlines())}
        ticks = sum(int(fields[f"cpu{core}"][column]) for core in cores for column in (USER, NICE, STEAL))
    except (OSError, LookupError):  # in a container that renames its cores
        return float("nan")
    return ticks / os.sysconf("SC_CLK_TCK")


def stays_on(pid: int, cores: set[int]) -> bool:
    """Whether all threads of a process may run on these cores alone."""
    try:
        return all(os.sched_getaffinity(int(thread)) <= cores for thread in os.listdir(f"/proc/{pid}/task"))
    except OSError:  # it is gone
        return True


def memory_of(pids: list[int], limit: int) -> int:
    """Bytes that processes hold.

    Parameters
    ----------
    pids : list of int
    limit : int
        Above it, pages that processes share are counted once, which takes longer to find out.
    """
    resident = sum(_resident(pid) for pid in pids)
    return resident if resident <= limit else sum(_proportional(pid) for pid in pids)


def _resident(pid: int) -> int:
    """Bytes in memory, shared pages included."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _proportional(pid: int) -> int:
    """Bytes in memory, of shared ones this process's part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return _resident(pid)


def machine_is_full(meminfo: Path = Path("/proc/meminfo")) -> bool:
    """Whether the machine has so little memory left that a model has to go."""
    if not ON_LINUX:
        return False
    values = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    total, available = (int(values[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
    return available < LEAST_MEMORY_SHARE * total


def files_of_file_system(folder: str) -> int:
    """How many files, folders and links a file system of the model's own holds."""
    about = os.statvfs(folder)
    return about.f_files - about.f_ffree


def size_of(folder: str) -> tuple[float, int]:
    """Bytes and number of the files in a folder; infinite where a path is too long to follow."""
    size, number, folders = 0.0, 0, [folder]
    while folders:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError as problem:
            size += float("inf") if problem.errno == errno.ENAMETOOLONG else 0
            continue
        number += len(entries)
        for entry in entries:
            with contextlib.suppress(OSError):
                size += getattr(os.lstat(entry.path), "st_blocks", 0) * 512
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return size, number


if __name__ == "__main__":
    main()
