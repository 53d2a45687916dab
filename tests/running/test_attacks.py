"""The attacks that a team wanting a prize would try fail, and an honest model beside each of them does not."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from podium.running import settings, view
from podium.running.measuring import LOG_BYTES, Outcome
from tests.running.support import SUBMIT, in_sandbox, needs_sandbox, run_model, settings_for

pytestmark = needs_sandbox

SECRET = "the truth is 42"
WORK_SECONDS = 0.4
WORK = f"""
import time
def work():
    end = time.process_time() + {WORK_SECONDS}
    while time.process_time() < end:
        pass
"""


class Attack(NamedTuple):
    """An attack, and an honest model that does the same kind of work."""

    name: str
    source: str  # it prints REACHED if it succeeds; {bait} is a folder of the machine, {port} a server on it
    outcomes: tuple[Outcome, ...]
    honest: str
    needs_group: bool = False  # whether only a control group stops it


DONE, EXIT, MEMORY, TIME, NONE = Outcome.DONE, Outcome.EXIT, Outcome.MEMORY, Outcome.TIME, Outcome.SUBMISSION

ATTACKS = [
    Attack(
        "the solution",
        """
import os
for path in ("{bait}/solution.csv", os.environ["PODIUM_MODEL"] + "/../../solution.csv", "/proc/1/root{bait}"):
    try:
        print("REACHED", open(path).read())
    except OSError:
        pass
print(os.environ.get("SECRET", ""))
""",
        (NONE,),
        "import os\nprint(open(os.environ['PODIUM_DATA'] + '/texts.txt').read())\n" + SUBMIT,
    ),
    Attack(
        "the limits, the priority and the cores of podium's process",
        """
import ctypes, os, resource
tries = (
    lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (4, 4)),
    lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)),
    lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
    lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
)
for attempt in tries:
    try:
        attempt()
        print("REACHED")
    except OSError:
        pass
""",
        (NONE,),
        """
import os, resource
resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (64, 64))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
os.setpriority(os.PRIO_PROCESS, 0, 1)
"""
        + SUBMIT,
    ),
    Attack(
        "work after the clock has stopped",
        """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while os.fork() == 0:
        if os.getppid() == 1:
            time.sleep(0.2)
            open("submission.csv", "w").write("a,b\\n3,4\\n")
            print("REACHED", flush=True)
""",
        (NONE,),
        SUBMIT,
    ),
    Attack(
        "the network",
        """
import socket
for family, address in ((socket.AF_INET, ("127.0.0.1", {port})), (40, (2, {port}))):
    try:
        socket.create_connection(address, 1) if family != 40 else socket.socket(40, socket.SOCK_STREAM)
        print("REACHED")
    except OSError:
        pass
""",
        (NONE,),
        """
import socket, threading
server = socket.create_server(("localhost", 0))
threading.Thread(target=lambda: server.accept()[0].send(b"x")).start()
assert socket.create_connection(server.getsockname()).recv(1) == b"x"
"""
        + SUBMIT,
    ),
    Attack(
        "notes between runs",
        """
import ctypes, os, pathlib
file = os.open(os.environ["PODIUM_MODEL"] + "/run.py", os.O_RDONLY)
libc = ctypes.CDLL(None, use_errno=True)
try:
    os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)
    print("REACHED RWF_NOWAIT")
except OSError:
    pass
PLACES = ("/tmp", "/dev/shm", "/kaggle/working", "/kaggle/model", "/kaggle/input", "/kaggle/temp", "/")
for place in (*PLACES, "/kaggle", "/kaggle/input/competitions", os.environ["PIP_PREFIX"]):
    if (pathlib.Path(place) / "note").exists():
        print("REACHED note")
for place in (*PLACES, os.environ["PIP_PREFIX"]):
    try:
        (pathlib.Path(place) / "note").write_text("1")
    except OSError:
        pass
""",
        (NONE,),
        "open('/tmp/note', 'w').write('1')\nassert open('/tmp/note').read() == '1'\n" + SUBMIT,
    ),
    Attack(
        "work after the clock",
        WORK
        + """
import os, sys
if os.fork() == 0:
    os.setsid()
    os.close(1), os.close(2)
    for _ in range(100):
        work()
    """
        + SUBMIT
        + "    os._exit(0)\nsys.exit(0)\n",
        (NONE,),
        "import os\nif os.fork():\n    os.wait()\nelse:\n    " + SUBMIT,
    ),
    Attack(
        "a fork bomb",
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n",
        (TIME, MEMORY),
        "import os\nfor _ in range(20):\n    if os.fork() == 0:\n        os._exit(0)\n    os.wait()\n" + SUBMIT,
    ),
    Attack(
        "memory in many processes",
        """
import os, time
for _ in range(8):
    if os.fork() == 0:
        block = b"x" * 100_000_000
        time.sleep(20)
        os._exit(0)
os.wait()
""",
        (MEMORY,),
        "block = b'x' * 100_000_000\n" + SUBMIT,
        needs_group=True,
    ),
    Attack(
        "memory that processes share",
        """
import mmap
shared = mmap.mmap(-1, 400_000_000)
for place in range(0, len(shared), 4096):
    shared[place] = 1
""",
        (MEMORY,),
        "import mmap\nmmap.mmap(-1, 100_000_000).write(bytes(100_000_000))\n" + SUBMIT,
        needs_group=True,
    ),
    Attack(
        "a full disk",
        """
for place in ("/kaggle/working", "/tmp", "/dev/shm"):
    try:
        with open(place + "/big", "wb") as file:
            for _ in range(100):
                file.write(bytes(10**6))
        print("REACHED", place)
    except OSError:
        pass
""",
        (NONE, MEMORY),
        "open('/tmp/part', 'wb').write(bytes(30_000_000))\n" + SUBMIT,
    ),
    Attack(
        "submission.csv as a link to the solution",
        "import os\nos.symlink('{bait}/solution.csv', 'submission.csv')\n",
        (NONE,),
        "import os\n" + SUBMIT.replace("submission", "other") + "os.rename('other.csv', 'submission.csv')\n",
    ),
    Attack(
        "output without end",
        "import os\nwhile True:\n    os.write(1, b'\\x1b[2J' + b'x' * 65536)\n",
        (TIME,),
        "for number in range(1000):\n    print(number)\n" + SUBMIT,
    ),
    Attack(
        "more cores than it was given",
        """
import os
try:
    os.sched_setaffinity(0, range(os.cpu_count()))
except OSError:
    pass
if len(os.sched_getaffinity(0)) > 1:
    print("REACHED")
""",
        (NONE,),
        "import os\nos.sched_setaffinity(0, os.sched_getaffinity(0))\n" + SUBMIT,
    ),
    Attack(
        "ptrace, and the first process's memory and files",
        """
import ctypes, os
if ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0 or ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0:
    print("REACHED ptrace")
for pid in (name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()):
    for name in ("mem", "fd/1"):
        try:
            os.write(os.open(f"/proc/{pid}/{name}", os.O_WRONLY), b"0\\nsubmission.csv\\nfile\\n")
        except OSError:
            pass
os._exit(3)
""",
        (EXIT,),
        "import subprocess\nassert subprocess.run(['ps'], capture_output=True) or True\n" + SUBMIT,
    ),
    Attack(
        "namespaces of its own",
        """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x10000000, 0x00020000, 0x20000000):
    if libc.unshare(flag) == 0:
        print("REACHED unshare")
if libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0) >= 0:
    print("REACHED clone")
""",
        (NONE,),
        "import threading\none = threading.Thread(target=print)\none.start()\none.join()\n" + SUBMIT,
    ),
]


@pytest.fixture
def bait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A solution and a server on the machine, which must not be reached."""
    monkeypatch.setenv("SECRET", SECRET)
    folder = tmp_path / "bait"
    folder.mkdir()
    (folder / "solution.csv").write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield {"bait": str(folder), "port": str(server.getsockname()[1])}
        server.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody has come
            server.accept()


def case(attack: Attack) -> Any:
    """An attack as a case, which is slow if it lasts until the time limit."""
    return pytest.param(attack, id=attack.name, marks=[pytest.mark.slow] if TIME in attack.outcomes else [])


@pytest.mark.parametrize("attack", [case(attack) for attack in ATTACKS])
@pytest.mark.slow
def test_an_attack_fails_and_the_honest_model_beside_it_does_not(
    attack: Attack, tmp_path: Path, bait: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "PROCESSES", 64)
    given = in_sandbox(tmp_path)
    honest, log = run_model(tmp_path, given, attack.honest)
    assert (honest.outcome, honest.submission) == (Outcome.DONE, b"a,b\n1,2\n"), log
    if attack.needs_group and not given.control_group:
        pytest.skip("no control group can be had here")
    limit = 3.0 if TIME in attack.outcomes else given.time_limit
    source = attack.source.replace("{bait}", bait["bait"]).replace("{port}", bait["port"])
    run, log = run_model(tmp_path, given._replace(time_limit=limit), source)
    assert run.outcome in attack.outcomes, (run, log)
    assert "REACHED" not in log
    assert SECRET not in log
    assert run.submission == b""
    assert run.seconds < limit + 30
    assert len(log) < 3 * LOG_BYTES
    assert all(one.isprintable() or one in "\n\t" for one in log)


NODES = ("null", "zero", "full", "random", "urandom", "tty")


def test_no_note_remains_in_the_times_of_files(tmp_path: Path) -> None:
    """Device nodes are the machine's own, and who may write to them may set their times."""
    source = f"""
import json, os
model, data = os.environ["PODIUM_MODEL"] + "/run.py", os.environ["PODIUM_DATA"] + "/texts.txt"
nodes = ["/dev/" + name for name in {NODES}]
print(json.dumps([(os.stat(node).st_atime_ns, os.stat(node).st_mtime_ns) for node in nodes]))
for path in [*nodes, model, data, "/usr/bin/env"]:
    try:
        open(path, "rb").read(1)
        os.utime(path)
    except OSError:
        continue
"""
    given = in_sandbox(tmp_path)
    files = [given.data / "texts.txt", tmp_path / "models" / "team" / "run.py"]
    run_model(tmp_path, given, source + SUBMIT)
    before = [(os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns) for path in files]
    moment = time.time_ns()
    seen = json.loads(run_model(tmp_path, given, source + SUBMIT)[1])
    assert min(one for times in seen for one in times) >= moment - 10**8  # the kernel's clock has steps
    assert before[0] == (os.stat(files[0]).st_atime_ns, os.stat(files[0]).st_mtime_ns)


# What a model could read there tells of this moment, not of an earlier run, or is named in sandbox.md.
NAMES = ("meminfo", "loadavg", "cpuinfo", "keys", "locks", "driver/rtc", "sys/kernel/random/uuid")
KNOWN = {f"/proc/{name}" for name in NAMES}


def test_no_counter_of_the_kernel_tells_of_an_earlier_run(tmp_path: Path) -> None:
    source = """
import ctypes, json, mmap, os
def read(path):
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        return os.read(file, 2**20).decode("latin-1")
    except OSError:
        return ""
    finally:
        os.close(file)
texts = {}
for top in ("/proc", "/sys"):
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if not (folder == "/proc" and name.isdigit())]
        texts |= {os.path.join(folder, name): read(os.path.join(folder, name)) for name in names}
json.dump(texts, open("submission.csv", "w"))
libc = ctypes.CDLL(None, use_errno=True)
for _ in range(20):
    block = mmap.mmap(-1, 2**20)
    place = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(block)))
    libc.mlock(place, 2**20), libc.munlock(place, 2**20)
    os.path.exists("/usr/none" + str(_))
    os.wait() if os.fork() else os._exit(0)
if libc.klogctl(3, ctypes.create_string_buffer(99), 99) >= 0:
    print("REACHED")
"""
    given = in_sandbox(tmp_path)
    (first, log), (second, _) = (run_model(tmp_path, given, source) for _ in range(2))
    assert (first.outcome, "REACHED" in log) == (DONE, False), log
    one, other = json.loads(first.submission), json.loads(second.submission)
    assert "btime" in one["/proc/stat"]
    assert {path for path in one if one[path] != other.get(path)} <= KNOWN


@pytest.mark.slow
def test_psutil_and_joblib_work_although_counters_are_covered(tmp_path: Path) -> None:
    for name in ("joblib", "psutil", "cloudpickle"):
        package = Path(pytest.importorskip(name).__file__).parent
        shutil.copytree(package, tmp_path / "models" / "team" / "site" / name)
    source = """
import math, time, joblib, psutil
assert joblib.Parallel(n_jobs=2)(joblib.delayed(math.sqrt)(n) for n in (4, 9)) == [2, 3]
assert psutil.virtual_memory().total > 0 and psutil.swap_memory() and psutil.cpu_times() and psutil.cpu_stats()
assert psutil.cpu_count() >= 1 and psutil.cpu_percent() >= 0
assert abs(psutil.Process().create_time() - time.time()) < 600 and psutil.boot_time() < time.time()
psutil.disk_io_counters(), psutil.getloadavg(), psutil.cpu_freq()
"""
    run, log = run_model(tmp_path, in_sandbox(tmp_path, memory_limit=2**30), source + SUBMIT)
    assert run.outcome is DONE, log


def test_files_with_passwords_of_registries_are_covered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, folder = in_sandbox(tmp_path), tmp_path / "python"
    for name in ("pip.conf", "etc/npmrc", "etc/fonts.conf"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name} was read")
    shown = settings.visible(given.data)
    monkeypatch.setattr(view, "visible", lambda data: [*shown, folder])
    source = f"""
for name in ("pip.conf", "etc/npmrc", "etc/fonts.conf"):
    try:
        print(open("{folder}/" + name).read())
    except OSError:
        pass
"""
    assert run_model(tmp_path, given, source + SUBMIT)[1] == "etc/fonts.conf was read\n"


def test_without_a_sandbox_the_same_attack_reaches_the_solution(tmp_path: Path, bait: dict[str, str]) -> None:
    """Otherwise the tests of the sandbox would prove nothing."""
    source = ATTACKS[0].source.replace("{bait}", bait["bait"])
    assert f"REACHED {SECRET}" in run_model(tmp_path, settings_for(tmp_path), source)[1]


def test_the_work_of_other_processes_is_in_the_clock(tmp_path: Path) -> None:
    beside = WORK + "import os\nif os.fork() == 0:\n    work()\n    " + SUBMIT + "else:\n    os.wait()\n"
    assert run_model(tmp_path, in_sandbox(tmp_path), beside)[0].seconds >= WORK_SECONDS


@pytest.mark.slow
def test_what_many_processes_do_is_in_the_clock(tmp_path: Path) -> None:
    """They keep podium from the processor, which makes their time longer and not shorter."""
    source = """
import os
for _ in range(50):
    if os.fork() == 0:
        os.setsid()
        while True:
            pass
"""
    given = in_sandbox(tmp_path, memory_limit=2**30)
    run, _ = run_model(tmp_path, given, source + SUBMIT)
    assert run.outcome is Outcome.DONE
    if given.control_group:
        assert run.used.cpu_seconds <= 1.1 * run.seconds + 0.1  # on one core


@pytest.mark.slow
def test_when_podium_is_killed_the_model_is_too(tmp_path: Path) -> None:
    marker = f"1000.{os.getpid()}"
    code = f"""
from pathlib import Path
from tests.running.support import in_sandbox, run_model
folder = Path({str(tmp_path)!r})
run_model(folder, in_sandbox(folder), "exec sleep {marker}", "run.sh")
"""

    def sleeps() -> bool:
        commands = Path("/proc").glob("[0-9]*/cmdline")
        found = subprocess.run(["cat", *map(str, commands)], capture_output=True, text=True, errors="replace")
        return f"sleep\0{marker}" in found.stdout

    with subprocess.Popen([sys.executable, "-c", code]) as process:
        try:
            end = time.monotonic() + 900
            while not sleeps():
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.1)
        finally:
            process.kill()
    while sleeps():
        assert time.monotonic() < end
        time.sleep(0.1)
