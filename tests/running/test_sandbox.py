"""Models that attack the sandbox fail without doing harm."""

import contextlib
import ctypes
import fcntl
import itertools
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.running import control_groups, engines, supervisor, syscalls
from podium.running.models import Model, find_model
from podium.running.rounds import _outcome
from podium.running.supervisor import KEYCTL
from tests.running.support import needs_sandbox, settings_for, write_model
from tests.support.hostile import HOSTILE, PRELUDE, SECRET, Hostile

pytestmark = needs_sandbox

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "sandbox.md"


# One attack of each kind; the others run with the slow tests.
QUICK = {
    "network, IPv4 and IPv6",
    "the machine's unix sockets, with a path and abstract",
    "the solution, other models, home, the results",
    "other processes in /proc, and open files it inherited",
    "writing outside",
    "submission.csv as a link to the solution",
    "more processes than allowed",
    "memory beyond the limit, in many processes",
    "terminal escapes in its output",
    "set-uid programs",
    "tracing the sandbox's first process, and other memory than its own",
    "a note in the page cache, by its own file",
    "memory that belongs to no process: the buffers of sockets",
}


# Settings of the kernel that a model can change for its own namespaces.
KERNEL_SETTINGS = [
    Path("/proc/sys/kernel", name) for name in ("pid_max", "msgmax", "msgmnb", "shmmax", "shmmni")
]

# The numbers of system calls that libc does not wrap.
ADD_KEY = {"x86_64": 248, "aarch64": 217}
KEYCTL_READ = 11


class Bait:
    """What an attacker could reach on a machine, and a record of who reached it."""

    def __init__(self, folder: Path) -> None:
        self.visitors: list[str] = []
        self.threads: list[threading.Thread] = []
        self.folder = folder
        # The path of a unix socket has at most 107 bytes, so it is reached by a link with a short path.
        self.links = Path(tempfile.mkdtemp(dir="/tmp"))
        self.links.chmod(0o755)
        (self.links / "folder").symlink_to(folder)
        self.sockets = [
            self._listen(socket.AF_INET, ("0.0.0.0", 0)),
            self._listen(socket.AF_UNIX, f"{self.links}/folder/socket"),
            self._listen(socket.AF_UNIX, f"\0{self.links}"),
        ]
        with contextlib.suppress(OSError):  # where there is no IPv6, nothing can be reached by it
            self.sockets.append(self._listen(socket.AF_INET6, ("::", 0)))
        self.files = [
            folder / "podium-solution.csv",
            folder / "models/other/podium-model.py",
            folder / "home/podium-home.txt",
        ]
        for file in self.files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(SECRET)
        number = ADD_KEY.get(platform.machine())
        secret = SECRET.encode()
        self.key = number and ctypes.CDLL(None).syscall(number, b"user", b"podium", secret, len(secret), -3)
        if self.key and self.key > 0:  # a container may forbid keys
            assert ctypes.CDLL(None).syscall(KEYCTL[platform.machine()], KEYCTL_READ, self.key, None, 0) == len(
                secret
            )
        self.process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])

    def _listen(self, family: int, address: str | tuple[str, int]) -> socket.socket:
        one = socket.socket(family)
        try:
            one.bind(address)
        except OSError:
            one.close()
            raise
        one.listen()
        self.threads.append(threading.Thread(target=self._note, args=(one,), daemon=True))
        self.threads[-1].start()
        return one

    def _note(self, one: socket.socket) -> None:
        try:
            while True:
                one.accept()[0].close()
                self.visitors.append(str(one.family))
        except OSError:
            return

    def describe(self) -> str:
        return json.dumps(
            {
                "port": self.sockets[0].getsockname()[1],
                "port6": self.sockets[-1].getsockname()[1] if self.sockets[3:] else 9,
                "address": "127.0.0.2",
                "unix": f"{self.links}/folder/socket",
                "abstract": str(self.links),
                "files": [str(file) for file in self.files],
                "pid": self.process.pid,
                "marker": f"left over of {self.folder}",
                "key": self.key,
            }
        )

    def close(self) -> None:
        for one in self.sockets:
            one.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()  # accept() must have ended before its descriptor may become that of another file
        for one in self.sockets:
            one.close()
        shutil.rmtree(self.links)
        self.process.kill()
        self.process.wait()


@pytest.fixture
def bait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bait]:
    """A machine on which there is something to reach, and a record of who reached it."""
    monkeypatch.setenv("SECRET", SECRET)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    made = Bait(tmp_path)
    yield made
    made.close()


def model_of(folder: Path, source: str) -> Model:
    """Write a model with this source, and find it."""
    model = find_model(write_model(folder, source), "team")
    assert isinstance(model, Model)
    return model


def left_over(folder: Path) -> list[str]:
    """The processes on this machine that a hostile model started."""
    marker = f"left over of {folder}"
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_text(errors="replace")
        except OSError:
            continue
        commands += [command] if marker in command.split("\0") else []
    return commands


def assert_nothing_is_locked(path: Path) -> None:
    """Check that neither a lock nor a lease of another process is on a file."""
    file = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # fails if there is a lease
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(file)


def test_the_quick_ones_are_there() -> None:
    assert {one.name for one in HOSTILE} > QUICK


@pytest.mark.parametrize("name", ["the machine's unix sockets", "the solution"])
def test_without_a_sandbox_the_same_attacks_reach_what_they_are_after(
    name: str, tmp_path: Path, bait: Bait
) -> None:
    """Otherwise the tests of the sandbox would prove nothing."""
    [hostile] = [one for one in HOSTILE if one.name.startswith(name)]
    model = model_of(tmp_path / "models" / "team", PRELUDE + hostile.source.replace('"/"', "BAIT['abstract']"))
    (model.folder / "bait.json").write_text(bait.describe())
    (model.folder / "link").symlink_to(bait.files[0])
    assert "REACHED" in engines.run(model, settings_for(tmp_path)).log


@pytest.mark.parametrize(
    "hostile",
    [pytest.param(one, marks=() if one.name in QUICK else pytest.mark.slow, id=one.name) for one in HOSTILE],
)
def test_hostile_models_fail_without_harm(
    hostile: Hostile, tmp_path: Path, bait: Bait, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = control_groups.available()
    if hostile.kernel and not group:
        pytest.skip("no control group can be had here")
    monkeypatch.setattr("podium.running.settings.PROCESSES", 64)
    monkeypatch.setattr("podium.running.settings.FILES", 5000)
    monkeypatch.setattr("podium.running.settings.SUBMISSION_BYTES", 32 * 2**20)
    settings = settings_for(
        tmp_path,
        sandbox="bubblewrap",
        control_group=group,
        # Before the limit, a model that has to say something needs the time to start.
        time_limit=60.0 if hostile.outcome != "time limit" else 10.0 if hostile.said else 1.5,
    )
    model = model_of(tmp_path / "models" / "team", PRELUDE + hostile.source)
    (model.folder / "bait.json").write_text(bait.describe())
    (model.folder / "link").symlink_to(bait.files[0])
    before = {path: path.lstat() for path in sorted(tmp_path.rglob("*")) if not path.is_dir()}
    kernel_before = [path.read_text() for path in KERNEL_SETTINGS]
    run = engines.run(model, settings)

    outcome = _outcome(run.measured, run.log, settings)
    assert outcome.startswith(hostile.outcome), run
    assert hostile.said in run.log
    assert "REACHED" not in run.log
    assert SECRET not in run.log
    assert SECRET.encode() not in run.submission
    assert all(one.isprintable() or one in "\n\t" for one in run.log)
    assert len(run.log) < 2 * supervisor.LOG_BYTES
    assert run.measured["seconds"] < settings.time_limit + 30
    assert bool(run.submission) == (outcome == "done")
    assert [path.read_text() for path in KERNEL_SETTINGS] == kernel_before
    assert bait.visitors == []
    assert bait.process.poll() is None
    assert left_over(tmp_path) == []
    assert_nothing_is_locked(settings.data / "texts.txt")
    after = {path: path.lstat() for path in sorted(tmp_path.rglob("*")) if not path.is_dir()}
    assert {path: (s.st_size, s.st_mtime_ns) for path, s in before.items()} == {
        path: (s.st_size, s.st_mtime_ns) for path, s in after.items()
    }


def test_the_documentation_lists_every_attack() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("| what a model tries |")[2].splitlines()[2:]
    listed = [line.split("|")[1].strip() for line in table if line.startswith("|")]
    assert listed == [hostile.name for hostile in HOSTILE]


def test_the_documentation_lists_every_refused_call_with_its_reason() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| system call | why |")[2].splitlines()[2:]
    documented = {}
    for line in itertools.takewhile(lambda line: line.startswith("|"), table):
        _, names, reason, _ = line.split("|")
        documented |= dict.fromkeys(re.findall(r"`(\w+)`", names), reason.strip())
    assert documented == syscalls.REFUSED


def test_the_documentation_lists_every_ignored_call_with_its_reason() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| ignored | with | why |")[2].splitlines()[2:]
    documented = {}
    for line in itertools.takewhile(lambda line: line.startswith("|"), table):
        _, names, _, reason, _ = line.split("|")
        documented |= dict.fromkeys(re.findall(r"`(\w+)`", names), reason.strip())
    assert documented == syscalls.IGNORED
