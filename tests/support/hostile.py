"""Models that attack what runs them, each with a name, what it tries, its source and the expected outcome.

Each model finds a file ``bait.json`` beside it, which says what there is to reach on the machine. If an attack
works, the model prints REACHED. The table in docs/explanation/sandbox.md lists all models.
"""

from typing import NamedTuple

__all__ = ["HOSTILE", "PRELUDE", "SECRET", "Hostile"]

SECRET = "the secret of the solution"

PRELUDE = '''\
import ctypes, json, mmap, os, signal, socket, stat, subprocess, sys, time
from pathlib import Path
HERE = Path(__file__).parent
BAIT = json.loads((HERE / "bait.json").read_text())
LEFT_OVER = BAIT["marker"]

def attempt(what, *arguments, **named):
    try:
        result = what(*arguments, **named)
    except OSError as problem:
        print(problem)
    else:
        print("REACHED", what, arguments, result)
        return result

def submit(text="a,b\\n1,2\\n"):
    Path("submission.csv").write_text(text)

def leave_session(seconds=60):
    """A grandchild with a session of its own, that nobody waits for."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", f"import time; time.sleep({seconds})", LEFT_OVER])
        os._exit(0)
    os.wait()
'''


class Hostile(NamedTuple):
    """A model that attacks.

    Attributes
    ----------
    name : str
        What the model tries.
    source : str
        Its program.
    outcome : str
        The beginning of the outcome that the run should have.
    said : str
        A text that its log should contain.
    kernel : bool
        Whether only a control group can stop it.
    """

    name: str
    source: str
    outcome: str = "done"
    said: str = ""
    kernel: bool = False


HOSTILE = [
    Hostile(
        "network, IPv4 and IPv6",
        """
for family, address in [
    (socket.AF_INET, ("127.0.0.1", BAIT["port"])),
    (socket.AF_INET6, ("::1", BAIT["port6"])),
    (socket.AF_INET, (BAIT["address"], BAIT["port"])),
    (socket.AF_INET, ("192.0.2.1", 80)),
    (socket.AF_INET6, ("2001:db8::1", 80)),
]:
    with socket.socket(family) as one:
        one.settimeout(1)
        attempt(one.connect, address)
print([name for _, name in socket.if_nameindex()])
submit()
""",
        said="['lo']",
    ),
    Hostile("DNS", 'attempt(socket.getaddrinfo, "example.org", 80)\nsubmit()'),
    Hostile(
        "the machine's unix sockets, with a path and abstract",
        """
for address in BAIT["unix"], "\\0" + BAIT["abstract"]:
    with socket.socket(socket.AF_UNIX) as one:
        attempt(one.connect, address)
submit()
""",
    ),
    Hostile(
        "the solution, other models, home, the results",
        """
for path in [*BAIT["files"], *map(os.path.dirname, BAIT["files"]), "/etc/shadow", "/etc/passwd", "/run"]:
    attempt(os.stat, path)
attempt(os.stat, HERE / "link")  # in the model's folder, to the solution
for place, folders, names in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(place, name) not in ("/proc", "/usr", "/sys")]
    for name in names:
        if name in ("podium-solution.csv", "podium-model.py", "podium-home.txt"):
            print("REACHED", place, name)
print(sorted(os.listdir("/kaggle")), os.listdir("/kaggle/input"))
submit()
""",
        said="['input', 'model', 'working'] ['data']",
    ),
    Hostile(
        "the environment",
        """
print(dict(os.environ), *(path.read_bytes() for path in Path("/proc").glob("[0-9]*/environ")))
submit()
""",
        said="PODIUM_DATA",
    ),
    Hostile(
        "other processes in /proc, and open files it inherited",
        """
print("processes", len(list(Path("/proc").glob("[0-9]*"))), "uid", os.getuid())
attempt(os.stat, f"/proc/{BAIT['pid']}/environ")
for name in os.listdir("/proc/self/fd"):
    if int(name) > 2:
        attempt(os.readlink, f"/proc/self/fd/{name}")
for pid in range(1, 4):
    attempt(os.listdir, os.path.join("/proc", str(pid), "root", "podium/scratch/working"))
submit()
""",
        said="processes 2 uid 1000",
    ),
    Hostile(
        "writing outside",
        """
for path in "/", "/usr", "/etc", "/dev", "/sys", "/podium", "/podium/scratch", sys.prefix, HERE, "/kaggle":
    attempt(Path(path, "new").write_text, "x")
attempt(Path(os.environ["PODIUM_DATA"], "texts.txt").write_text, "x")
attempt(os.unlink, HERE / "bait.json")
for path in "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches":
    attempt(Path(path).write_text, "x")
libc = ctypes.CDLL(None, use_errno=True)
print("mount", libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), "unshare", libc.unshare(0x10000000))
submit()
""",
        said="mount -1 unshare -1",
    ),
    Hostile(
        "submission.csv as a link to the data",
        'os.symlink(os.path.join(os.environ["PODIUM_DATA"], "texts.txt"), "submission.csv")',
        "submission.csv is not a regular file",
    ),
    Hostile(
        "submission.csv as a link to the solution",
        'os.symlink(BAIT["files"][0], "submission.csv")',
        "submission.csv is not a regular file",
    ),
    Hostile("submission.csv as a fifo", 'os.mkfifo("submission.csv")', "submission.csv is not a regular file"),
    Hostile(
        "submission.csv as a device",
        'attempt(os.mknod, "submission.csv", stat.S_IFCHR | 0o666, os.makedev(1, 5))\n'
        'os.symlink("/dev/zero", "submission.csv")',
        "submission.csv is not a regular file",
    ),
    Hostile(
        "submission.csv as a socket",
        'socket.socket(socket.AF_UNIX).bind("submission.csv")',
        "submission.csv is not a regular file",
    ),
    Hostile("submission.csv as a folder", 'os.mkdir("submission.csv")', "submission.csv is not a regular file"),
    Hostile(
        "submission.csv of a sparse terabyte",
        'submit()\nos.truncate("submission.csv", 2**40)',
        "exit code 1",
        "File too large",
    ),
    Hostile(
        "submission.csv.gz as a gzip bomb",
        """
import gzip
with gzip.open("submission.csv.gz", "wb") as file:
    for _ in range(20):
        file.write(bytes(10**6))
""",
    ),
    Hostile(
        "a submission and a folder that cannot be read",
        'submit()\nos.chmod("submission.csv", 0)\ntry:\n    os.chmod(".", 0)\nexcept OSError:\n    pass',
        "Permission denied",
    ),
    Hostile(
        "more processes than allowed",
        """
children = 0
try:
    while children < 5000:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        children += 1
except OSError as problem:
    print("stopped:", problem)
submit()
""",
        said="stopped: [Errno 11]",
    ),
    Hostile(
        "a fork bomb",
        "while True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        "time limit",
    ),
    Hostile("memory beyond the limit", "bytearray(2**30)", "exit code 1", "MemoryError"),
    Hostile(
        "memory beyond the limit, in many processes",
        """
for _ in range(8):
    if os.fork() == 0:
        block = b"x" * (100 * 2**20)
        time.sleep(60)
time.sleep(60)
""",
        "memory limit",
    ),
    Hostile(
        "memory beyond the limit, shared",
        "block = mmap.mmap(-1, 2**30)\nfor at in range(0, 2**30, 4096):\n    block[at] = 1\ntime.sleep(60)",
        "memory limit",
    ),
    Hostile(
        "a full disk, in all places that can be written",
        """
for place in ".", "/tmp", "/dev/shm":
    with open(os.path.join(place, "fill"), "wb") as file:
        try:
            for _ in range(1000):
                file.write(bytes(2**20))
        except OSError as problem:
            print(problem)
submit()
""",
        "exit code 1",
        "No space left on device",
    ),
    Hostile("an endless loop", "while True:\n    pass", "time limit"),
    Hostile(
        "an endless loop that ignores signals",
        "for one in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:\n"
        "    signal.signal(one, signal.SIG_IGN)\nwhile True:\n    pass",
        "time limit",
    ),
    Hostile(
        "an endless loop in a grandchild that left its session",
        "leave_session(1000)\nwhile True:\n    pass",
        "time limit",
    ),
    Hostile("a grandchild left behind", "leave_session(1000)\nsubmit()"),
    Hostile(
        "a submission still written after the exit",
        """
if os.fork() == 0:
    os.setsid()
    with open("submission.csv", "a") as file:
        while True:
            file.write("x")
            file.flush()
time.sleep(0.2)
""",
    ),
    Hostile(
        "output without end",
        'while True:\n    sys.stdout.write("x" * 100_000)',
        "time limit",
        "bytes left out]",
    ),
    Hostile(
        "terminal escapes in its output",
        'print("\\x1b]0;title\\x07\\x1b[2J\\x9b2J\\u202e\\r\\0")\n'
        'sys.stdout.buffer.write(b"\\xff\\n")\nsubmit()',
        said="\\x1b]0;title\\x07\\x1b[2J\\x9b2J\\u202e\\r\\x00",
    ),
    Hostile(
        "typing into the terminal",
        """
import fcntl, termios
attempt(os.open, "/dev/tty", os.O_RDWR)
for number in range(3):
    attempt(fcntl.ioctl, number, termios.TIOCSTI, b"x")
submit()
""",
    ),
    Hostile(
        "signals to its parents and to all",
        """
attempt(os.kill, BAIT["pid"], signal.SIGKILL)
for pid in os.getppid(), 1, -1:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError as problem:
        print(problem)
submit()
""",
    ),
    Hostile(
        "set-uid programs",
        """
for place in ".", "/tmp", "/dev/shm":
    copy = Path(place, "id")
    copy.write_bytes(Path("/usr/bin/id").read_bytes())
    copy.chmod(0o6755)
    print("id", subprocess.run([copy, "-u"], capture_output=True, text=True).stdout.strip())
    copy.unlink()
attempt(os.setuid, 0)
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print("no new privileges", status["NoNewPrivs"].strip(), "capabilities", int(status["CapBnd"], 16))
submit()
""",
        said="id 1000\nid 1000\nid 1000\n",
    ),
    Hostile(
        "more cores than it was given",
        "os.sched_setaffinity(0, range(os.cpu_count()))\ntime.sleep(60)",
        "it left the cores to which it was pinned (1)",
    ),
    Hostile(
        "more cores than it was given, in a thread",
        """
import threading
def work():
    os.sched_setaffinity(0, range(os.cpu_count()))
    time.sleep(60)
threading.Thread(target=work).start()
""",
        "it left the cores to which it was pinned (1)",
    ),
    Hostile(
        "keys in the user's session",
        """
libc, text = ctypes.CDLL(None), ctypes.create_string_buffer(100)
keyctl = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
for key in BAIT["key"], libc.syscall(keyctl, 10, -3, b"user", b"podium", 0):
    if libc.syscall(keyctl, 11, key, text, 100) > 0:
        print("REACHED", text.value)
submit()
""",
    ),
    Hostile(
        "the clocks",
        """
attempt(time.clock_settime, time.CLOCK_REALTIME, 0)
submit()
""",
        said="Operation not permitted",
    ),
    Hostile(
        "tracing the sandbox's first process, and other memory than its own",
        """
libc = ctypes.CDLL(None, use_errno=True)
words = (ctypes.c_char * 8)()
vector = (ctypes.c_void_p * 2)(ctypes.addressof(words), 8)
for request, pid in (16, 1), (0x4206, 1), (0x4206, os.getppid()), (0, 0):  # attach, seize, seize, trace me
    ctypes.set_errno(0)
    if libc.ptrace(request, pid, None, None) == 0:
        print("REACHED", request, pid)
    print(os.strerror(ctypes.get_errno()))
ctypes.set_errno(0)
if libc.process_vm_readv(1, vector, 1, vector, 1, 0) > 0:
    print("REACHED")
print(os.strerror(ctypes.get_errno()))
submit()
""",
        said="Operation not permitted\n" * 5,
    ),
    Hostile(
        "sockets that lie outside of network namespaces",
        """
for family in range(50):
    try:
        socket.socket(family, socket.SOCK_STREAM)
    except OSError as problem:
        if family not in (1, 2, 10, 16) and problem.errno != 97:
            print("REACHED", family, problem)
    else:
        print("family", family)
submit()
""",
        said="family 1\nfamily 2\nfamily 10\n",
    ),
    Hostile(
        "a note in the page cache, by its own file",
        """
libc, file = ctypes.CDLL(None, use_errno=True), os.open(HERE / "bait.json", os.O_RDONLY)
page = bytearray(100)
os.pread(file, 100, 0)
print("advice", libc.posix_fadvise(file, 0, 0, 4))  # does nothing
attempt(os.preadv, file, [page], 0, os.RWF_NOWAIT)
memory = mmap.mmap(file, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
start = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
seen = ctypes.create_string_buffer(100)
if libc.mincore(start, ctypes.c_size_t(4096), seen) == 0:
    print("REACHED", seen.raw)
print(os.strerror(ctypes.get_errno()))
submit()
""",
        said="advice 0\n[Errno 95] Operation not supported\nOperation not permitted",
    ),
    Hostile(
        "more files than allowed",
        """
for number in range(10**6):
    open(f"{number}", "w").close()
time.sleep(60)
""",
        "more than",
    ),
    Hostile(
        "memory that belongs to no process: the buffers of sockets",
        """
pairs = []
while True:
    pairs.append(socket.socketpair())
    pairs[-1][0].setblocking(False)
    try:
        while True:
            pairs[-1][0].send(bytes(65536))
    except BlockingIOError:
        pass
""",
        "memory limit",
        kernel=True,
    ),
    Hostile(
        "memory that belongs to no process: the tables of pages",
        """
libc = ctypes.CDLL(None)
libc.mmap.restype, step = ctypes.c_void_p, 2**21
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
for _ in range(300):
    start = libc.mmap(None, 1024 * step, 1, 0x4022, -1, 0)  # readable, private, anonymous, without reserve
    for number in range(1024):
        ctypes.c_char.from_address(start + number * step).value
time.sleep(60)
""",
        "memory limit",
        kernel=True,
    ),
]
