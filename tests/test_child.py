"""The one child in which foreign code runs: what it says, how it ends, and what is done about it."""

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from podium.child import processes, supervised
from podium.child.overheard import file_for_prints
from podium.child.supervised import STDERR, WORK, Child, Voice, WorkerLostError, new_token, words
from podium.child.workers import Workers, spread, start_workers
from tests.support.processes import is_running, wait_until

linux = pytest.mark.skipif(sys.platform != "linux", reason="signals and /proc of Linux")


def test_what_has_no_token_before_it_is_nobody_s_word():
    pipe = io.BytesIO()
    voice = Voice(pipe, b"token")
    for stray in (b"\x00", b"toke", b"\x1b]0;title\x07" * 100_000, b"tokenoaGV"):  # the last is cut off
        pipe.write(stray)
        voice.say(STDERR, b"said")
        voice.say(WORK, stray)
    pipe.write(b"tokenw")  # and its end
    pipe.seek(0)
    kinds, contents = zip(*words(pipe, b"token"))
    assert kinds == (STDERR, WORK) * 4
    assert contents[::2] == (b"said",) * 4
    assert contents[1::2] == (b"\x00", b"toke", b"\x1b]0;title\x07" * 100_000, b"tokenoaGV")


@contextmanager
def one_worker(idle: float = 60.0) -> Iterator[Workers]:
    """A single worker, in a process of its own."""
    with start_workers(1, 1, apart=True, idle=idle) as workers:
        yield workers


def answers(workers: Workers, *tasks: str) -> list[object]:
    """What a worker that does one task after the other says to each."""
    return [answer for _, answer in spread(workers, do, tasks, window=1)]


def do(task: str) -> list[object]:
    """Do one of the tasks, in a worker."""
    return [TASKS[task]() if task in TASKS else task]


def stray() -> int:
    """Write to every descriptor that may be open, and count how many took it."""
    taken = 0
    for number in range(30):
        try:
            taken += os.write(number, b"\x1b[2J") > 0
        except OSError:
            continue
    return taken


def leave() -> None:
    """End, and leave a child behind that holds the pipe."""
    child = os.fork()
    if not child:
        time.sleep(100_000)
    os.write(2, f"left {child}\n".encode())
    os._exit(3)


TASKS = {
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "stray": stray,
    "leave": leave,
    "wait": lambda: time.sleep(100_000),
}


@linux
@pytest.mark.slow
def test_a_worker_that_ends_is_told_and_another_one_goes_on(monkeypatch):
    monkeypatch.setattr(processes, "LOOKS_STOPPED", 1)
    with one_worker() as workers:
        crashed, one, stopped, two = answers(workers, "crash", "one", "stop", "two")
    assert (one, two) == (["one"], ["two"])
    assert isinstance(crashed, WorkerLostError)
    assert isinstance(stopped, WorkerLostError)
    assert (crashed.code, crashed.ending) == (-signal.SIGSEGV, "signal 11 (SIGSEGV)")
    assert (stopped.code, stopped.ending) == (-signal.SIGSTOP, "signal 19 (SIGSTOP)")


def test_what_is_written_to_its_descriptors_reaches_neither_the_terminal_nor_the_answer(capfd):
    with one_worker() as workers:
        (taken,), after = answers(workers, "stray", "one")
    assert taken >= 3  # standard output and error, and the pipe
    assert after == ["one"]
    assert "\x1b" not in "".join(capfd.readouterr())


@linux
@pytest.mark.slow
def test_a_worker_that_waits_is_ended_and_another_one_goes_on():
    with one_worker(idle=0.4) as workers:
        waited, one = answers(workers, "wait", "one")
    assert isinstance(waited, WorkerLostError)
    assert (waited.code, waited.ending) == (None, "it has used no processor time for 0.4 s (--idle-limit)")
    assert one == ["one"]


@linux
def test_a_child_that_has_no_session_of_its_own_yet_is_ended_alone():
    process = subprocess.Popen(["sleep", "600"], stdout=subprocess.PIPE)
    Child(process, process.stdout, new_token(), file_for_prints()).end()
    assert process.returncode == -signal.SIGKILL


@linux
def test_a_worker_that_leaves_a_child_with_its_pipe_is_not_waited_for(capsys, monkeypatch):
    monkeypatch.setattr(supervised, "SECONDS_TO_END", 0.2)
    with one_worker() as workers:
        (left,) = answers(workers, "leave")
    assert isinstance(left, WorkerLostError)
    assert left.code == 3
    said = capsys.readouterr().err
    assert said.startswith("the metric prints: left ")
    assert wait_until(lambda: not is_running(int(said.split()[-1])))
