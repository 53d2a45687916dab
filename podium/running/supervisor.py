"""Stands beside one running model: starts it, stops it at its limits, measures it, hands back what it left.

A program of its own, with nothing but the standard library, because it starts inside the outer sandbox.  The
first line of its input is the job as JSON; the input stays open as long as podium lives, and when it ends the
model is killed.  Its output is a line of JSON (`Measured`), then the log, then the submission.

In bubblewrap nothing that a model does can reach it.  On Linux it adopts every process that leaves its parent.
The clock runs from the start of the command to its exit, and the submission is looked at only when no process
of the model is left.
"""

import contextlib
import ctypes
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

__all__ = ["Job", "Measured", "nothing_measured"]

SECONDS_BETWEEN_LOOKS = 0.1
LOOKS_PER_DISK_LOOK = 10
# Below this share of the machine's memory the model is stopped, whatever its own limit: memory that belongs to
# no process (files in memory without a name, shared segments) is seen here alone.
LEAST_MEMORY_SHARE = 0.05
PR_SET_CHILD_SUBREAPER = 36
KEYCTL = {"x86_64": 250, "aarch64": 219}  # the number of the system call, which libc does not wrap
KEYCTL_JOIN_SESSION_KEYRING = 1
USER, NICE, STEAL = 1, 2, 8  # places in a line of /proc/stat
ON_LINUX = sys.platform == "linux"


class Job(TypedDict):
    """What to run: the command with its environment and folder, and its limits (seconds, bytes).

    `stop` is a command that ends it, where killing its processes is not enough; `names` are those that a
    submission may have; `disk` is None where the file system itself sets the limit.
    """

    command: list[str]
    stop: list[str]
    environment: dict[str, str]
    folder: str
    names: list[str]
    cores: list[int]
    seconds: float
    memory: int
    disk: int | None
    log: int
    submission: int


class Measured(TypedDict):
    """What came of it; `stopped` names the limit that was passed, `problem` why there is no submission.

    `others` is the share of its cores' time that other programs, or other virtual machines, took meanwhile;
    NaN where that is not known.
    """

    seconds: float
    cpu_seconds: float
    others: float
    peak_memory: int
    exit_code: int
    stopped: str
    problem: str
    submission: str
    log_size: int
    submission_size: int


class Log:
    """The first and the last bytes of a stream, each half of `limit`; what is between them is only counted."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self.half = limit // 2
        self.first, self.last, self.size = b"", b"", 0
        self.reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self.reader.start()

    def _read(self, stream: IO[bytes]) -> None:
        while block := os.read(stream.fileno(), 1 << 16):
            room = self.half - len(self.first)
            self.first += block[:room]
            self.last = (self.last + block[room:])[-self.half :]
            self.size += len(block)

    def content(self) -> bytes:
        left_out = self.size - len(self.first) - len(self.last)
        cut = f"\n[{left_out:,} bytes left out]\n".encode() if left_out else b""
        return self.first + cut + self.last


class Watch(threading.Thread):
    """Kills the model at its limits and when podium is gone; `stopped` then says which it was."""

    def __init__(self, job: Job, process: "subprocess.Popen[bytes]", podium_is_gone: threading.Event) -> None:
        super().__init__(daemon=True)
        self.job, self.process, self.podium_is_gone = job, process, podium_is_gone
        self.stopped, self.peak_memory = "", 0
        self.over = threading.Event()

    def run(self) -> None:
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
        pids = descendants(os.getpid())
        memory = memory_of(pids, self.job["memory"])
        self.peak_memory = max(self.peak_memory, memory)
        disk = self.job["disk"]
        if self.podium_is_gone.is_set():
            return "podium"
        if time.monotonic() >= end:
            return "time"
        if memory > self.job["memory"]:
            return "memory"
        if machine_is_full():
            return "machine"
        if self.job["cores"] and not all(stays_on(pid, {*self.job["cores"]}) for pid in pids):
            return "cores"
        if disk is not None and looks % LOOKS_PER_DISK_LOOK == 0 and size_of(self.job["folder"]) > disk:
            return "disk"
        return ""


def main() -> None:
    """Run the job on standard input."""
    job: Job = json.loads(sys.stdin.buffer.readline())
    podium_is_gone = threading.Event()

    def wait_for_podium() -> None:
        os.read(sys.stdin.fileno(), 1)
        podium_is_gone.set()

    threading.Thread(target=wait_for_podium, daemon=True).start()
    if ON_LINUX:
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if os.uname().machine in KEYCTL:  # a keyring of its own: the user's may hold keys of file systems
            libc.syscall(KEYCTL[os.uname().machine], KEYCTL_JOIN_SESSION_KEYRING, None)
        with contextlib.suppress(OSError):  # where memory runs out, the kernel takes the model first
            Path("/proc/self/oom_score_adj").write_text("1000")
    # Opened before the model can take the folder's permissions away.
    folder = os.open(job["folder"], os.O_RDONLY) if ON_LINUX else None
    measured, log = run(job, podium_is_gone)
    content = b""
    if not (measured["stopped"] or measured["exit_code"] or measured["problem"]):
        try:
            measured["submission"], content = submission_in(job, folder)
        except OSError as problem:
            measured["problem"] = problem.strerror or str(problem)
        except ValueError as problem:
            measured["problem"] = str(problem)
    measured["log_size"], measured["submission_size"] = len(log), len(content)
    sys.stdout.buffer.write(json.dumps(measured).encode() + b"\n" + log + content)
    sys.stdout.buffer.flush()


def run(job: Job, podium_is_gone: threading.Event) -> tuple[Measured, bytes]:
    """The command, from its start until nothing of it is left; and its log."""
    everywhere = os.sched_getaffinity(0) if ON_LINUX else set()
    if job["cores"] and ON_LINUX:
        os.sched_setaffinity(0, job["cores"])  # children inherit it
    # What this program uses is not others'.
    busy, start = busy_seconds(job["cores"]) - os.times().user, time.perf_counter()
    try:
        process = subprocess.Popen(
            job["command"],
            env=job["environment"],
            cwd=job["folder"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as problem:
        return nothing_measured(f"{job['command'][0]}: {problem.strerror or problem}"), b""
    if ON_LINUX:
        os.sched_setaffinity(0, everywhere - {*job["cores"]} or everywhere)
    assert process.stdout is not None
    log, watch = Log(process.stdout, job["log"]), Watch(job, process, podium_is_gone)
    watch.start()
    exit_code = process.wait()
    seconds = time.perf_counter() - start
    busy = busy_seconds(job["cores"]) - os.times().user - busy
    watch.over.set()
    watch.join()
    while ON_LINUX and descendants(os.getpid()):  # what the model left running, in whatever session
        kill(process)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    log.reader.join(1.0)
    user_seconds, cpu_seconds, largest_process = used_by_children()
    measured = nothing_measured("")
    measured["seconds"], measured["cpu_seconds"] = seconds, cpu_seconds
    measured["others"] = max(busy - user_seconds, 0.0) / (seconds * max(len(job["cores"]), 1))
    measured["peak_memory"] = max(watch.peak_memory, largest_process)
    measured["exit_code"], measured["stopped"] = exit_code, watch.stopped
    return measured, log.content()


def nothing_measured(problem: str) -> Measured:
    """Of a command that was not started."""
    return Measured(
        seconds=0.0,
        cpu_seconds=0.0,
        others=0.0,
        peak_memory=0,
        exit_code=0,
        stopped="",
        problem=problem,
        submission="",
        log_size=0,
        submission_size=0,
    )


def submission_in(job: Job, folder: int | None) -> tuple[str, bytes]:
    """Name and bytes of the one submission, a regular file: no link is followed, nothing waited for.

    Raises
    ------
    ValueError, OSError
        There is none, or it is no file that could be one.
    """
    names = os.listdir(job["folder"] if folder is None else folder)
    found = [name for name in job["names"] if name in names]
    if len(found) != 1:
        raise ValueError(f"{' and '.join(found)} are there, expected one" if found else "no submission.csv")
    [name] = found
    flags = os.O_RDONLY
    for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):  # those that this system has
        flags |= getattr(os, flag, 0)
    path = name if folder is not None else os.path.join(job["folder"], name)
    if not stat.S_ISREG(os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode):
        raise ValueError(f"{name} is not a regular file")
    with open(os.open(path, flags, dir_fd=folder), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{name} is not a regular file")
        content = file.read(job["submission"] + 1)
    if len(content) > job["submission"]:
        raise ValueError(f"{name} is larger than {job['submission']:,} bytes")
    return name, content


def descendants(pid: int) -> list[int]:
    """The processes below a process; none where the system does not tell."""
    found = [pid]
    for parent in found if ON_LINUX else []:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{parent}/task") as threads:
            for thread in threads:
                with contextlib.suppress(OSError):
                    found += map(int, Path(thread.path, "children").read_text().split())
    return found[1:]


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Send SIGKILL to all that this process started: on Linux also to what left its session or its parent."""
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
    """Of all that ended: CPU seconds outside the kernel and in all, and peak memory of the largest in bytes.

    On Windows NaN and 0.
    """
    try:
        import resource
    except ImportError:
        return float("nan"), float("nan"), 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return used.ru_utime, used.ru_utime + used.ru_stime, peak


def busy_seconds(cores: list[int], path: Path = Path("/proc/stat")) -> float:
    """How long these cores have worked for programs or, on a virtual machine, for others; NaN if unknown.

    The kernel's own work is left out: it may be done for the model.
    """
    if not ON_LINUX:
        return float("nan")
    try:
        fields = {line[0]: line for line in map(str.split, path.read_text().splitlines())}
        ticks = sum(int(fields[f"cpu{core}"][place]) for core in cores for place in (USER, NICE, STEAL))
    except (OSError, LookupError):  # in a container that renames its cores
        return float("nan")
    return ticks / os.sysconf("SC_CLK_TCK")


def stays_on(pid: int, cores: set[int]) -> bool:
    """Whether all threads of a process keep to these cores."""
    try:
        return all(os.sched_getaffinity(int(thread)) <= cores for thread in os.listdir(f"/proc/{pid}/task"))
    except OSError:  # it is gone
        return True


def memory_of(pids: list[int], limit: int) -> int:
    """Bytes that processes hold together.

    Pages that they share are counted once, but only above the limit: to look at the pages takes time.
    """
    resident = sum(_resident(pid) for pid in pids)
    return resident if resident <= limit else sum(_proportional(pid) for pid in pids)


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return _resident(pid)


def machine_is_full(meminfo: Path = Path("/proc/meminfo")) -> bool:
    """Whether the machine itself is about to run out of memory."""
    if not ON_LINUX:
        return False
    values = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    total, available = (int(values[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
    return available < LEAST_MEMORY_SHARE * total


def size_of(folder: str) -> int:
    """Bytes that the files of a folder take on disk."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(place, name)).st_blocks * 512 if ON_LINUX else 0
    return size


if __name__ == "__main__":
    main()
