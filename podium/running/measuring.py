"""Start a program, measure it from outside, write its log while it runs, and stop it at the time limit."""

import codecs
import contextlib
import enum
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from podium.child.processes import adopting, end_session, processor_seconds
from podium.common.errors import UsageError
from podium.common.wording import printable

LOG_BYTES = 2**20  # of a log, written while the model runs; of what follows only the end is kept
TAIL = 2**15  # bytes of this end
BLOCK = 2**16  # bytes that are read at once
USER, NICE, STEAL = 1, 2, 8  # columns in a line of /proc/stat, see proc_stat(5)
INSTALLATION = ("ERROR: Could not", "ERROR: No matching")  # how pip says that it has not installed a package
LAST_LINES, LONGEST_REASON = 5, 600  # at the end of a log, quoted as the reason of a failure
UNKNOWN = float("nan")


class Outcome(enum.StrEnum):
    """What became of a run."""

    DONE = "done"
    EXIT = "exit code"  # it ended with another exit code than 0
    TIME = "time limit"
    MEMORY = "memory limit"
    DISK = "disk limit"
    SUBMISSION = "no submission"  # there is none, or not one
    LOST = "lost"  # it has not begun or not ended, perhaps by the machine's fault; a restart tries again


class Used(NamedTuple):
    """What a program has used."""

    cpu_seconds: float = UNKNOWN  # processor time, inside and outside the kernel
    user_seconds: float = UNKNOWN  # processor time, outside the kernel alone
    peak_memory: int = 0  # the most memory that it held at once, in bytes; of a group all kinds of memory
    out_of_memory: bool = False  # whether the kernel killed a process because the group's limit was reached
    machine_out_of_memory: bool = False  # whether it killed one although the limit was not reached

    def since(self, before: "Used") -> "Used":
        """What was used after the moment of `before`, which may have been counted in another way."""
        cpu, user = self.cpu_seconds - before.cpu_seconds, self.user_seconds - before.user_seconds
        return self._replace(cpu_seconds=max(cpu, 0.0), user_seconds=max(user, 0.0))


class Run(NamedTuple):
    """The result of a run."""

    outcome: Outcome
    reason: str = ""  # why there are no predictions, in words that everybody may read
    seconds: float = 0.0  # wall-clock time, from the start of the model until none of its processes is left
    used: Used = Used()
    others: float = UNKNOWN  # the share of the cores' time, from 0 to 1, that others took
    exit_code: int = 0
    name: str = ""  # of the submission's file
    submission: bytes = b""  # its content
    printed: str = ""  # what the model printed at last or left behind: it may be texts of the hidden data
    outlived: bool = False  # whether a process that it had started was still there when its first one had ended


class Log:
    """A model's log: a file that grows while the model runs, and the end of it for messages.

    The model may wait for podium to read what it prints, and does so within its measured time. So podium does
    little then: it keeps the end as bytes, and makes text of the beginning alone.
    """

    def __init__(self, path: Path, head: str) -> None:
        self.path, self.head, self.tail = path, head, b""
        self.problem: OSError | None = None  # why the file could not be written

    @contextlib.contextmanager
    def following(self, stream: IO[bytes]) -> Iterator[None]:
        """Write what comes from a stream until the block has ended and the stream too."""
        reader = threading.Thread(target=self._follow, args=(stream,), daemon=True)
        reader.start()
        try:
            yield
        finally:
            reader.join()
        if self.problem:
            raise UsageError(f"cannot write {self.path}: {self.problem.strerror}")

    def _follow(self, stream: IO[bytes]) -> None:
        """Write a stream into the file; if that fails, read on, so that the model does not wait."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._write(stream)
        except OSError as problem:
            self.problem = problem
            while os.read(stream.fileno(), BLOCK):
                pass

    def _write(self, stream: IO[bytes]) -> None:
        """Write the beginning of a stream as it comes, and the end of it in the end."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        room = LOG_BYTES
        with self.path.open("w", encoding="utf-8", errors="replace") as file:
            file.write(self.head)
            file.flush()
            while block := os.read(stream.fileno(), BLOCK):
                if room > 0:
                    file.write(_shown(decoder.decode(block[:room])))
                    file.flush()
                room -= len(block)
                self.tail = (self.tail + block)[-TAIL:]
            if room < 0:
                kept = self.tail[max(len(self.tail) + room, 0) :]
                file.write(
                    f"\n[{-room - len(kept):,} bytes left out]\n{_shown(kept.decode('utf-8', 'replace'))}"
                )

    @property
    def end(self) -> str:
        """The end of what the model printed."""
        return _shown(self.tail.decode("utf-8", "replace"))

    def last_lines(self) -> str:
        """The last lines on one line, without those of nothing but ^ and ~, which underline Python's code."""
        lines = [line.strip() for line in self.end.splitlines() if line.strip(" ^~")]
        last = " | ".join(lines[-LAST_LINES:])[-LONGEST_REASON:]
        # A failed installation is the reason of a module that is missing later.
        cause = [line for line in lines[:-LAST_LINES] if line.startswith(INSTALLATION)]
        return f"{cause[-1][:LONGEST_REASON]} | … | {last}" if cause else last


def _shown(text: str) -> str:
    """What a model printed, with the line ends of Unix, and safe for a terminal."""
    return printable(text.replace("\r\n", "\n").replace("\r", "\n"), keep="\n\t")


@contextlib.contextmanager
def ended_after(seconds: float, end: Callable[[], None]) -> Iterator[threading.Event]:
    """End something by a function if the block takes longer, and tell that it did."""
    is_late = threading.Event()

    def end_late() -> None:
        is_late.set()
        end()

    timer = threading.Timer(seconds, end_late)
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()
        timer.join()  # it may be about to end it


def watched(
    command: list[str],
    environment: dict[str, str],
    folder: str,
    seconds: float,
    log: Log,
    stop: tuple[str, ...] = (),
) -> tuple[Run, bool]:
    """Run a program that is not in bubblewrap, and tell whether it has ended in time.

    `stop` is the command that ends it, if it cannot be killed.
    """
    # A container's engine has processes of its own there, and ends the container's with its first one.
    with contextlib.ExitStack() as opened:
        end_orphans = None if stop else opened.enter_context(adopting())
        start = time.perf_counter()
        try:
            process = subprocess.Popen(
                command, env=environment, cwd=folder, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except OSError as problem:
            log.tail = f"{command[0]}: {problem.strerror or problem}".encode()
            return Run(Outcome.DONE, exit_code=127), True
        assert process.stdout is not None

        def end() -> None:
            if stop:
                subprocess.run(stop, stdin=subprocess.DEVNULL, capture_output=True)
            end_session(process.pid)

        with process, log.following(process.stdout):
            try:
                with ended_after(seconds, end) as is_late:
                    used = used_by(process)
            finally:
                outlived = end_session(process.pid)  # also what it left running
                taken = time.perf_counter() - start
                if end_orphans and end_orphans():  # the search alone is podium's time
                    outlived, taken = True, time.perf_counter() - start
    run = Run(Outcome.DONE, "", taken, used, exit_code=process.returncode, outlived=outlived)
    return run, not is_late.is_set()


def used_by(process: "subprocess.Popen[bytes]") -> Used:
    """Wait for a program's end, and ask the system what it and its children have used."""
    if not hasattr(os, "wait4"):
        process.wait()
        return Used()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_utime, usage.ru_maxrss * unit)


def used_until_now(process: int) -> Used:
    """What a running program and its children have used, in the hundredths of a second that Linux counts."""
    return Used(*(processor_seconds(process) or (0.0, 0.0)))


def core_seconds(cores: list[int], path: Path = Path("/proc/stat")) -> float:
    """Read how long cores have worked outside the kernel since the machine was started; NaN if unknown."""
    try:
        fields = {line[0]: line for line in map(str.split, path.read_text().splitlines())}
        ticks = sum(int(fields[f"cpu{core}"][column]) for core in cores for column in (USER, NICE, STEAL))
    except (OSError, LookupError):  # another system, or a container that renames the machine's cores
        return UNKNOWN
    return ticks / os.sysconf("SC_CLK_TCK")


def answer_of(*command: str, seconds: float | None = None) -> "subprocess.CompletedProcess[str]":
    """Run one of the machine's tools and wait for its answer."""
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=seconds
    )


def last_line(answer: "subprocess.CompletedProcess[str]") -> str:
    """The last line of what a tool printed."""
    lines = (answer.stderr.strip() or answer.stdout.strip() or f"exit code {answer.returncode}").splitlines()
    return printable(lines[-1])[:300]
