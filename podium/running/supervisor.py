"""The supervisor: a program that runs a model from within the outer sandbox.

It reads a `Job` from its input, as one line of JSON.  It writes a `Measured`, again as one line of JSON, then
the log and the submission.  It is the only part of podium that comes close to strangers' programs.  Therefore
it is short, imports the standard library alone, and has a higher priority than they have.
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
NAMES_SHOWN, LONGEST_NAME_SHOWN = 3, 40  # of other files, where there is no submission
LOG_BYTES = 64 * 2**10  # of the log that are kept
SECONDS_BETWEEN_LOOKS = 0.1
LOOKS_PER_DISK_LOOK = 10  # counting files takes longer than counting memory

LEAST_MEMORY_SHARE = 0.05  # of the machine has to stay free, as some memory belongs to no process
LOWER = 5  # a model's nice value is above podium's own by at least this much

PR_SET_CHILD_SUBREAPER = 36  # of prctl(2)
KEYCTL = {"x86_64": 250, "aarch64": 219}  # the number of keyctl(2), a system call that libc does not wrap
KEYCTL_JOIN_SESSION_KEYRING = 1  # of keyctl(2)
USER, NICE, STEAL = 1, 2, 8  # columns in a line of /proc/stat, see proc_stat(5)
ON_LINUX = sys.platform == "linux"


class Job(TypedDict):
    """What to run, and its limits.

    Attributes
    ----------
    command : list of str
        The model's program with its arguments, possibly inside another call of ``bwrap``.
    environment : dict of str to str
        The model's environment variables.
    filter : str
        The filter of system calls in base64, or "" for none.
    filter_fd : int
        The number of the file descriptor from which the command reads the filter.
    stop : list of str
        A command that ends the model, for the case that killing its processes is not enough; empty for none.
    folder : str
        The folder in which the model works and leaves its submission.
    cores : list of int
        The numbers of the cores to which the model is pinned; empty for all.
    priority : int
        The least nice value of the model.  The nice value of the supervisor is lower by 5 or more.
    groups : list of int
        Open file descriptors of ``cgroup.procs`` in the control groups that the model joins.
    seconds : float
        The time limit.
    memory : int
        The memory limit of all the model's processes together, in bytes.
    disk : int or None
        The limit for the files in its folder, in bytes; None if the file system itself sets the limit.
    files : int
        The number of files that it may have written.
    submission : int
        The size of the largest submission, in bytes.
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
        The seconds from the start of the model to the end of the last of its processes.
    cpu_seconds : float
        The processor time of its processes in seconds, inside and outside the kernel; NaN if unknown.
    user_seconds : float
        The processor time of its processes in seconds, outside the kernel alone; NaN if unknown.
    busy : float
        The seconds that the model's cores worked outside the kernel, for the model and for all other programs
        except the supervisor; NaN if unknown.
    peak_memory : int
        The most memory that the model held at once, in bytes.
    exit_code : int
        The exit code of the model, negative for the number of a signal.
    stopped : str
        The limit that the model passed, such as "time" or "memory", or "" for none.
    problem : str
        What is wrong with the submission, or "".
    submission : str
        The name of the submission's file, or "".
    log_size : int
        The number of bytes of the log that follow.
    submission_size : int
        The number of bytes of the submission that follow the log.
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
    """The first and the last bytes of a stream, which a thread of its own reads to the end.

    Attributes
    ----------
    first : bytes
        The beginning of the stream, at most half of `LOG_BYTES`.
    last : bytes
        The end of the stream, at most half of `LOG_BYTES`.
    left_out : int
        The number of bytes between the two.
    reader : threading.Thread
        The thread that reads.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.first, self.last, self.left_out = b"", b"", 0
        self.reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self.reader.start()

    def _read(self, stream: IO[bytes]) -> None:
        """Read the stream to its end, and keep its first and its last bytes."""
        half = LOG_BYTES // 2
        while block := os.read(stream.fileno(), 1 << 16):
            room = half - len(self.first)
            self.first += block[:room]
            last = self.last + block[room:]
            self.left_out += max(len(last) - half, 0)
            self.last = last[-half:]

    def content(self) -> bytes:
        """Put both ends together, with a line between them that says how much was left out.

        Returns
        -------
        bytes
            The log.
        """
        cut = f"\n[{self.left_out:,} bytes left out]\n" if self.left_out else ""
        return self.first + cut.encode() + self.last


class Watch(threading.Thread):
    """A thread that looks at the model ten times a second.

    It kills the model when it passes a limit, and when the process of podium has ended.

    Attributes
    ----------
    stopped : str
        The limit that was passed, or "".
    peak_memory : int
        The most memory that was seen, in bytes.
    over : threading.Event
        An event to set when there is nothing left to watch.
    """

    def __init__(self, job: Job, process: "subprocess.Popen[bytes]", podium: threading.Thread) -> None:
        super().__init__(daemon=True)
        self.job, self.process, self.podium = job, process, podium
        self.stopped, self.peak_memory = "", 0
        self.over = threading.Event()

    def run(self) -> None:
        """Watch until `over` is set."""
        end, looks = time.monotonic() + self.job["seconds"], 0
        while not self.over.wait(min(SECONDS_BETWEEN_LOOKS, max(end - time.monotonic(), 0))):
            looks += 1
            try:
                self.stopped = self._limit_passed(end, looks)
            except Exception:
                self.stopped = "watch"  # a model that cannot be watched must not run
            if self.stopped:
                if self.job["stop"]:
                    subprocess.run(self.job["stop"], stdin=subprocess.DEVNULL, capture_output=True)
                while not self.over.wait(0.01):
                    kill(self.process)

    def _limit_passed(self, end: float, looks: int) -> str:
        """The limit that the model has passed, or ""; files are counted on some of the looks only."""
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
    """Read the job, run the model and write what was measured, the log and the submission."""
    job: Job = json.loads(sys.stdin.buffer.readline())
    os.chdir(job["folder"])
    # This thread ends when podium does, because then its end of the pipe is closed.
    podium = threading.Thread(target=os.read, args=(sys.stdin.fileno(), 1), daemon=True)
    if ON_LINUX:
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # adopt every process that leaves its parent
        if os.uname().machine in KEYCTL:  # give the model a keyring of its own
            libc.syscall(KEYCTL[os.uname().machine], KEYCTL_JOIN_SESSION_KEYRING, None)
        with contextlib.suppress(OSError):  # the first that the kernel kills if memory ends is the model
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
    """Run the model and measure it.

    The clock starts before the model's first process and stops when its last process is gone.  What the first
    process reports does not matter: a model that makes its sandbox report an early exit does not stop the
    clock.

    Parameters
    ----------
    job : Job
        What to run, and its limits.
    podium : threading.Thread
        A thread, not yet started, that ends when the process of podium does.

    Returns
    -------
    measured : Measured
        What the run took, without the submission.
    log : bytes
        What the model printed.
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
    podium.start()  # only now, because a process with several threads should not fork
    log, watch = Log(process.stdout), Watch(job, process, podium)
    watch.start()
    exit_code = process.wait()
    while ON_LINUX and descendants(os.getpid()):  # processes that the model left running, in any session
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
    """Start the model in its control groups and with its priority; return its process and when its clock began.

    Joining a group can take the kernel some milliseconds.  The clock begins after that.
    """
    told, tell = os.pipe()
    own = os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else 0

    def enter() -> None:
        for group in job["groups"]:
            os.write(group, b"0")  # the process that writes joins the group
        if hasattr(os, "setpriority"):
            os.setpriority(os.PRIO_PROCESS, 0, max(job["priority"], own + LOWER))
        os.write(tell, repr(time.perf_counter()).encode())  # all processes share this clock

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
    """Make the measurements of a model that did not run.

    Parameters
    ----------
    problem : str
        Why there are no predictions.

    Returns
    -------
    Measured
        Measurements that are all zero, with the problem.
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
    """Read the one submission in the current folder, without following links or waiting for pipes.

    Parameters
    ----------
    limit : int
        The size of the largest submission, in bytes.

    Returns
    -------
    name : str
        The name of the file.
    content : bytes
        Its content.

    Raises
    ------
    ValueError
        If there is no submission, if there are several, or if it is too large or not a regular file.
    OSError
        If the file cannot be read.
    """
    names = os.listdir()
    present = [name for name in SUBMISSIONS if name in names]
    if len(present) != 1:
        raise ValueError(f"{' and '.join(present)} are there, expected one" if present else _none_of(names))
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


def _none_of(names: list[str]) -> str:
    """The message that there is no submission; it names the files that are there, as one may be misspelled."""
    seen = sorted(name for name in names if not name.startswith("."))[:NAMES_SHOWN]
    # A model chooses these names, so they are quoted, escaped and cut.
    others = ", ".join(ascii(name[:LONGEST_NAME_SHOWN]) for name in seen)
    return f"no submission.csv; found {others}" if others else "no submission.csv"


def descendants(pid: int) -> list[int]:
    """List the processes that a process has started, those that these have started, and so on.

    Parameters
    ----------
    pid : int
        The number of the first process.

    Returns
    -------
    list of int
        The numbers of its descendants, without its own.  The list is empty on systems other than Linux.
    """
    family = [pid]
    for parent in family if ON_LINUX else []:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{parent}/task") as threads:
            for thread in threads:
                with contextlib.suppress(OSError):
                    family += map(int, Path(thread.path, "children").read_text().split())
    return family[1:]


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill every process of the model once.

    The model may start new processes at the same time, so this has to be repeated until none is left.

    Parameters
    ----------
    process : subprocess.Popen
        The model's first process, by which the others are reached on systems other than Linux.
    """
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
    """Ask the system what all ended child processes have used.

    Returns
    -------
    user_seconds : float
        Their processor time in seconds, outside the kernel alone; NaN if unknown.
    cpu_seconds : float
        Their processor time in seconds, inside and outside the kernel; NaN if unknown.
    peak_memory : int
        The most memory that one of them held, in bytes; 0 if unknown.
    """
    try:
        import resource
    except ImportError:
        return float("nan"), float("nan"), 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return used.ru_utime, used.ru_utime + used.ru_stime, peak


def busy_seconds(cores: list[int], path: Path = Path("/proc/stat")) -> float:
    """Read how long cores have worked outside the kernel since the machine was started.

    Parameters
    ----------
    cores : list of int
        The numbers of the cores.
    path : Path
        The kernel's file with these times.

    Returns
    -------
    float
        The sum of the seconds over the cores; NaN if unknown.
    """
    if not ON_LINUX:
        return float("nan")
    try:
        fields = {line[0]: line for line in map(str.split, path.read_text().splitlines())}
        ticks = sum(int(fields[f"cpu{core}"][column]) for core in cores for column in (USER, NICE, STEAL))
    except (OSError, LookupError):  # some containers rename the machine's cores
        return float("nan")
    return ticks / os.sysconf("SC_CLK_TCK")


def stays_on(pid: int, cores: set[int]) -> bool:
    """Whether all threads of a process are still pinned to these cores.

    Parameters
    ----------
    pid : int
        The number of the process.
    cores : set of int
        The numbers of the cores.

    Returns
    -------
    bool
        True as well if the process has ended.
    """
    try:
        return all(os.sched_getaffinity(int(thread)) <= cores for thread in os.listdir(f"/proc/{pid}/task"))
    except OSError:  # the process has ended
        return True


def memory_of(pids: list[int], limit: int) -> int:
    """Measure the memory that processes hold together.

    The quick measurement counts a page once for each process that shares it.  Only if that exceeds the limit,
    the slow measurement follows, which counts each page once.

    Parameters
    ----------
    pids : list of int
        The numbers of the processes.
    limit : int
        The memory limit in bytes.

    Returns
    -------
    int
        Bytes of memory.
    """
    resident = sum(_resident(pid) for pid in pids)
    return resident if resident <= limit else sum(_proportional(pid) for pid in pids)


def _resident(pid: int) -> int:
    """The bytes that a process holds in memory, with all pages that it shares with others."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _proportional(pid: int) -> int:
    """The bytes that a process holds in memory, with its part of the pages that it shares with others."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return _resident(pid)


def machine_is_full(meminfo: Path = Path("/proc/meminfo")) -> bool:
    """Whether the machine has so little memory left that the model has to be stopped.

    Parameters
    ----------
    meminfo : Path
        The kernel's file about memory.

    Returns
    -------
    bool
        True if less than 5% of the memory is available; always False on systems other than Linux.
    """
    if not ON_LINUX:
        return False
    values = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    total, available = (int(values[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
    return available < LEAST_MEMORY_SHARE * total


def files_of_file_system(folder: str) -> int:
    """Count the files, folders and links on a file system that the model has for itself.

    Parameters
    ----------
    folder : str
        A folder on that file system.

    Returns
    -------
    int
        Their number.
    """
    about = os.statvfs(folder)
    return about.f_files - about.f_ffree


def size_of(folder: str) -> tuple[float, int]:
    """Measure the size and the number of the files in a folder and in the folders within it.

    Parameters
    ----------
    folder : str
        The folder.

    Returns
    -------
    size : float
        Bytes on the disk; infinite if a path is too long to be followed.
    number : int
        The number of files, folders and links.
    """
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
