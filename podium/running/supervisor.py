"""A program, of the standard library alone, that runs a model from within the outer sandbox.

It reads `Job` and writes `Measured`, a line of JSON each, then the log and the submission.
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

SUBMISSIONS = ("submission.csv", "submission.csv.gz", "submission.parquet")
LOG_BYTES = 64 * 2**10
SECONDS_BETWEEN_LOOKS = 0.1
LOOKS_PER_DISK_LOOK = 10
LEAST_MEMORY_SHARE = 0.05  # of the machine: some memory belongs to no process
PR_SET_CHILD_SUBREAPER = 36
KEYCTL = {"x86_64": 250, "aarch64": 219}  # a system call that libc does not wrap
KEYCTL_JOIN_SESSION_KEYRING = 1
USER, NICE, STEAL = 1, 2, 8  # places in a line of /proc/stat
ON_LINUX = sys.platform == "linux"


class Job(TypedDict):
    """`stop` ends it where killing is not enough; `disk` is None where the file system sets the limit."""

    command: list[str]
    stop: list[str]
    environment: dict[str, str]
    folder: str
    cores: list[int]
    seconds: float
    memory: int
    disk: int | None
    submission: int


class Measured(TypedDict):
    """`stopped` names the limit passed, `others` is the share of its cores' time that others took or NaN."""

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
    """The first and the last bytes of a stream."""

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
        cut = f"\n[{self.left_out:,} bytes left out]\n" if self.left_out else ""
        return self.first + cut.encode() + self.last


class Watch(threading.Thread):
    """Kills the model at its limits, and when podium is gone."""

    def __init__(self, job: Job, process: "subprocess.Popen[bytes]", podium: threading.Thread) -> None:
        super().__init__(daemon=True)
        self.job, self.process, self.podium = job, process, podium
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
        job, pids = self.job, descendants(os.getpid())
        memory = memory_of(pids, job["memory"])
        self.peak_memory = max(self.peak_memory, memory)
        passed = {
            "podium": not self.podium.is_alive(),
            "time": time.monotonic() >= end,
            "memory": memory > job["memory"],
            "machine": machine_is_full(),
            "cores": job["cores"] and not all(stays_on(pid, {*job["cores"]}) for pid in pids),
            "disk": job["disk"] is not None and looks % LOOKS_PER_DISK_LOOK == 0 and size_of(".") > job["disk"],
        }
        return next((name for name, is_passed in passed.items() if is_passed), "")


def main() -> None:
    job: Job = json.loads(sys.stdin.buffer.readline())
    os.chdir(job["folder"])
    podium = threading.Thread(target=os.read, args=(sys.stdin.fileno(), 1), daemon=True)  # ends with podium
    podium.start()
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
    everywhere = os.sched_getaffinity(0) if ON_LINUX else set()
    if job["cores"] and ON_LINUX:
        os.sched_setaffinity(0, job["cores"])  # children inherit it
    busy, start = busy_seconds(job["cores"]) - os.times().user, time.perf_counter()
    try:
        process = subprocess.Popen(
            job["command"],
            env=job["environment"],
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
    log, watch = Log(process.stdout), Watch(job, process, podium)
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


def submission(limit: int) -> tuple[str, bytes]:
    """Name and bytes of the one submission; no link is followed, nothing waited for."""
    names = os.listdir()
    found = [name for name in SUBMISSIONS if name in names]
    if len(found) != 1:
        raise ValueError(f"{' and '.join(found)} are there, expected one" if found else "no submission.csv")
    [name] = found
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
    found = [pid]
    for parent in found if ON_LINUX else []:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{parent}/task") as threads:
            for thread in threads:
                with contextlib.suppress(OSError):
                    found += map(int, Path(thread.path, "children").read_text().split())
    return found[1:]


def kill(process: "subprocess.Popen[bytes]") -> None:
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
        ticks = sum(int(fields[f"cpu{core}"][place]) for core in cores for place in (USER, NICE, STEAL))
    except (OSError, LookupError):  # in a container that renames its cores
        return float("nan")
    return ticks / os.sysconf("SC_CLK_TCK")


def stays_on(pid: int, cores: set[int]) -> bool:
    try:
        return all(os.sched_getaffinity(int(thread)) <= cores for thread in os.listdir(f"/proc/{pid}/task"))
    except OSError:  # it is gone
        return True


def memory_of(pids: list[int], limit: int) -> int:
    """Bytes that processes hold; above the limit, shared pages once."""
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
    if not ON_LINUX:
        return False
    values = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    total, available = (int(values[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
    return available < LEAST_MEMORY_SHARE * total


def size_of(folder: str) -> int:
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                size += getattr(os.lstat(os.path.join(place, name)), "st_blocks", 0) * 512
    return size


if __name__ == "__main__":
    main()
