"""What a hostile model could reach on a machine, and what it could leave there."""

import contextlib
import ctypes
import fcntl
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from podium.running.supervisor import KEYCTL
from tests.support.hostile import SECRET

__all__ = ["Bait", "unharmed"]

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


def _left_over(folder: Path) -> list[str]:
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


def _assert_nothing_is_locked(path: Path) -> None:
    """Check that neither a lock nor a lease of another process is on a file."""
    file = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # fails if there is a lease
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(file)


@contextlib.contextmanager
def unharmed(folder: Path, bait: Bait, data: Path) -> Iterator[None]:
    """Check that what runs in this context changes, reaches and leaves nothing on the machine."""

    def files() -> dict[Path, tuple[int, int]]:
        paths = [path for path in sorted(folder.rglob("*")) if not path.is_dir()]
        return {path: (path.lstat().st_size, path.lstat().st_mtime_ns) for path in paths}

    files_before, kernel_before = files(), [path.read_text() for path in KERNEL_SETTINGS]
    yield
    assert [path.read_text() for path in KERNEL_SETTINGS] == kernel_before
    assert bait.visitors == []
    assert bait.process.poll() is None
    assert _left_over(folder) == []
    _assert_nothing_is_locked(data / "texts.txt")
    assert files() == files_before
