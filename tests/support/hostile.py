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
    outcome : str or tuple of str
        The beginning of the outcome that the run should have, or of each that it may have.
    said : str
        A text that its log should contain.
    kernel : bool
        Whether only a control group can stop it.
    """

    name: str
    source: str
    outcome: str | tuple[str, ...] = "done"
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
        """
os.sched_setaffinity(0, range(os.cpu_count()))  # does nothing
if len(os.sched_getaffinity(0)) > 1:
    print("REACHED")
submit()
""",
    ),
    Hostile(
        "more cores than it was given, in a thread",
        """
import threading
def work():
    os.sched_setaffinity(0, range(os.cpu_count()))
    if len(os.sched_getaffinity(0)) > 1:
        print("REACHED")
one = threading.Thread(target=work)
one.start()
one.join()
submit()
""",
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
    Hostile(
        "more cores than it was given, in bursts between two looks",
        """
own = os.sched_getaffinity(0)
for core in range(os.cpu_count()):
    try:
        os.sched_setaffinity(0, {core})
    except OSError as problem:
        print(problem)
    if os.sched_getaffinity(0) != own:
        print("REACHED", core)
    os.sched_setaffinity(0, own)
submit()
""",
    ),
    Hostile(
        "calls with a higher bit, which the filter sees and the kernel does not",
        """
libc = ctypes.CDLL(None, use_errno=True)
advise, advise_memory = {"x86_64": (221, 28), "aarch64": (223, 233)}[os.uname().machine]
for bit in 0, 2**32, 2**63:
    # The kernel would refuse a file or an address that does not exist.
    of_memory = [(advise_memory, 1, 1, bit + value) for value in (20, 21)]
    for number, *arguments in (advise, -1, 0, 0, bit + 4), *of_memory:
        if libc.syscall(number, *map(ctypes.c_ulong, arguments)) != 0:
            print("REACHED", number, hex(bit), os.strerror(ctypes.get_errno()))
    if libc.syscall({"x86_64": 41, "aarch64": 198}[os.uname().machine], ctypes.c_ulong(bit + 40), 1, 0) >= 0:
        print("REACHED AF_VSOCK")
submit()
""",
    ),
    Hostile(
        "the memory of the sandbox's first process, through /proc",
        """
for name in "mem", "task/1/mem", "maps", "environ", "fd", "root", "cwd":
    attempt(os.stat, f"/proc/1/{name}")
attempt(os.mkdir, "/proc/1/new")
submit()
""",
    ),
    Hostile(
        "a sibling of its first process, which works on after the exit",
        """
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
if ctypes.CDLL(None).syscall(clone, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0) == 0:  # CLONE_PARENT
    os.setsid()
    time.sleep(1)
    submit("REACHED")
os._exit(0)
""",
        "no submission.csv",
    ),
    Hostile(
        "a child that stops, ignores all signals and waits for its own child",
        """
if os.fork() == 0:
    os.setsid()
    libc = ctypes.CDLL(None)
    for one in range(1, 65):
        libc.signal(one, 1)
    if libc.vfork() == 0:
        while True:
            libc.pause()
os.kill(os.getpid(), signal.SIGSTOP)
""",
        "time limit",
    ),
    Hostile(
        "timers that wake the machine or outlast it",
        """
libc = ctypes.CDLL(None, use_errno=True)
for clock in 8, 9:
    if libc.timerfd_create(clock, 0) >= 0:
        print("REACHED", clock)
    print(os.strerror(ctypes.get_errno()))
submit()
signal.setitimer(signal.ITIMER_REAL, 1000, 1000)
""",
        said="Operation not permitted",
    ),
    Hostile(
        "a real-time policy, a higher priority, and the first place at the disk",
        """
for policy in os.SCHED_FIFO, os.SCHED_RR, 6:
    attempt(os.sched_setscheduler, 0, policy, os.sched_param(1))
attempt(os.setpriority, os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1)
if os.path.exists("/proc/self/autogroup"):
    attempt(Path("/proc/self/autogroup").write_text, "-1")
number = {"x86_64": 251, "aarch64": 30}[os.uname().machine]
if ctypes.CDLL(None).syscall(number, 1, 0, 1 << 13) == 0:
    print("REACHED ioprio")
attempt(Path("/proc/self/oom_score_adj").write_text, "-1000")
submit()
""",
        said="Operation not permitted",
    ),
    Hostile(
        "core dumps, for which many systems start a program of their own",
        """
import resource
before = resource.getrlimit(resource.RLIMIT_CORE)
for limit in (0, 0), (0, 1), (2**20, 2**20):
    resource.setrlimit(resource.RLIMIT_CORE, limit)  # does nothing
    ctypes.CDLL(None).prlimit(0, resource.RLIMIT_CORE, (ctypes.c_ulong * 2)(*limit), None)
    if resource.getrlimit(resource.RLIMIT_CORE) != before:
        print("REACHED", before, resource.getrlimit(resource.RLIMIT_CORE))
if os.fork() == 0:
    os.abort()
print("dumped", os.WCOREDUMP(os.wait()[1]), os.listdir())
submit()
""",
        said="dumped False []",
    ),
    Hostile(
        "system calls of 32 bits, which a filter of 64 bits may overlook",
        """
codes = [b"\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3", b"\\xb8\\x27\\0\\0\\x40\\x0f\\x05\\xc3"]  # getpid, in two ways
for code in codes if os.uname().machine == "x86_64" else []:
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page[: len(code)] = code
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    if os.fork() == 0:
        if call() > 0:
            print("REACHED", flush=True)
        os._exit(0)
    os.wait()
submit()
""",
    ),
    Hostile(
        "namespaces of its own, by every call that makes or enters them",
        """
libc = ctypes.CDLL(None, use_errno=True)
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
for flag in 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000:
    made = libc.syscall(clone, flag | signal.SIGCHLD, 0, 0, 0, 0)
    if made == 0:
        os._exit(0)
    if made > 0 or libc.unshare(flag) == 0:
        print("REACHED", hex(flag))
arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, signal.SIGCHLD)
if libc.syscall(435, arguments, 88) >= 0:
    print("REACHED")
print("clone3", os.strerror(ctypes.get_errno()))
for name in os.listdir("/proc/self/ns"):
    if libc.setns(os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0) == 0:
        print("REACHED", name)
submit()
""",
        said="clone3 Function not implemented",
    ),
    Hostile(
        "control groups",
        """
for path in "/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs", "/sys/kernel":
    attempt(os.stat, path)
for kind in b"cgroup", b"cgroup2":
    if ctypes.CDLL(None).mount(b"none", b"/tmp", kind, 0, None) == 0:
        print("REACHED", kind)
print({line.rpartition(":")[2] for line in Path("/proc/self/cgroup").read_text().splitlines()})
submit()
""",
        said="{'/'}",
    ),
    Hostile(
        "services of the machine: D-Bus, the display, agents, containers, devices",
        """
for path in (
    "/run/dbus/system_bus_socket", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/user",
    "/run/systemd/private", "/tmp/.X11-unix", "/dev/fuse", "/dev/kvm", "/dev/mem", "/dev/kmsg", "/dev/input",
    "/dev/net/tun", "/dev/loop-control", "/dev/mqueue", "/dev/hugepages",
):
    attempt(os.stat, path)
for name in "/tmp/.X11-unix/X0", "/org/freedesktop/systemd1/private":
    with socket.socket(socket.AF_UNIX) as one:
        attempt(one.connect, "\\0" + name)
submit()
""",
    ),
    Hostile(
        "what the kernel tells about the machine and its users",
        """
for path in "kcore", "kmsg", "timer_list", "slabinfo", "vmallocinfo", "sched_debug", "1/mountinfo":
    attempt(Path("/proc", path).read_bytes)
for path in "keys", "locks", "net/unix", "net/tcp", "sysvipc/shm", "sysvipc/msg":
    lines = Path("/proc", path).read_text().splitlines() if Path("/proc", path).exists() else []
    print(path, [line for line in lines if "_ses" not in line][1:])
symbols = Path("/proc/kallsyms")
if symbols.exists() and any(int(line.split()[0], 16) for line in symbols.read_text().splitlines()):
    print("REACHED", symbols)
submit()
""",
        said="locks []\nnet/unix []\nnet/tcp []\n",
    ),
    Hostile(
        "hard links to the data, to its own files and to /proc as submission.csv",
        """
data = os.path.join(os.environ["PODIUM_DATA"], "texts.txt")
for path in data, HERE / "bait.json", "/proc/self/environ", "/dev/zero":
    attempt(os.link, path, "submission.csv")
attempt(os.rename, HERE / "bait.json", "submission.csv")
submit()
""",
    ),
    Hostile(
        "names with line ends, escapes and half characters, and no submission",
        """
for name in b"a\\nb", b"\\x1b]0;title\\x07", b"\\xff\\xfe", "\\u202egpj".encode(), b"," * 255:
    open(name, "w").close()
""",
        "no submission.csv; found '\\x1b]0;title\\x07', ',,",
    ),
    Hostile(
        "last words that imitate podium, with escapes and without a line end",
        """
sys.stdout.write("exit code 0: done\\x1b[2K\\x1b[1A\\x9b\\u2028\\u202e" + "=" * 2**20)
sys.exit(1)
""",
        "exit code 1: ====",
        "done\\x1b[2K\\x1b[1A\\x9b\\u2028\\u202e===",
    ),
    Hostile(
        "folders within each other, whose paths are too long for any program",
        """
for place in "/kaggle/working", "/tmp", "/dev/shm":
    os.chdir(place)
    for _ in range(1000):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
os.chdir("/kaggle/working")
submit()
""",
    ),
    Hostile(
        "files that nobody may read or remove",
        """
import fcntl
os.makedirs("a/b")
file = os.open("a/b/c", os.O_CREAT | os.O_RDWR, 0)
attempt(fcntl.ioctl, file, 0x40086602, bytes([16, 0, 0, 0, 0, 0, 0, 0]))  # makes it immutable
attempt(os.chown, "a", 0, 0)
os.chmod("a/b", 0)
os.chmod("a", 0)
submit()
os.chmod("submission.csv", 0o444)
""",
    ),
    Hostile(
        "locks and leases on the data, for those who read them next",
        """
import fcntl
file = os.open(os.path.join(os.environ["PODIUM_DATA"], "texts.txt"), os.O_RDONLY)
try:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
except OSError:
    pass  # the owner of a file gets a lease, and any other user does not
attempt(fcntl.lockf, file, fcntl.LOCK_EX | fcntl.LOCK_NB)
if os.fork() == 0:
    os.setsid()
    fcntl.flock(file, fcntl.LOCK_EX)
    submit()
    time.sleep(60)
while not os.path.exists("submission.csv"):
    time.sleep(0.01)
""",
    ),
    Hostile(
        "its own log, read back and made narrow",
        """
import fcntl
print("before", flush=True)
log = os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK)
fcntl.fcntl(log, fcntl.F_SETPIPE_SZ, 4096)
fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)
for _ in range(100):
    try:
        os.read(log, 4096)
    except OSError:
        pass
submit()
""",
    ),
    Hostile(
        "attributes of files, which take memory beside their content",
        """
open("x", "w").close()
try:
    for number in range(10**5):
        os.setxattr("x", f"user.{number}", bytes(60_000))
except OSError:  # older kernels have no such attributes in memory
    pass
for number in range(10**6):
    open(f"{number}", "w").close()
time.sleep(60)
""",
        "more than",
    ),
    Hostile(
        "memory that belongs to no process: files without a name",
        """
kept = []
while True:
    kept.append(os.memfd_create("more"))
    for _ in range(32):
        os.write(kept[-1], bytes(2**20))
""",
        "memory limit",
        kernel=True,
    ),
    Hostile(
        "memory that belongs to no process: shared memory that nobody has attached",
        """
libc = ctypes.CDLL(None)
libc.shmat.restype, libc.shmdt.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
for _ in range(64):
    start = libc.shmat(libc.shmget(0, 2**25, 0o1600), None, 0)
    ctypes.memset(start, 1, 2**25)
    libc.shmdt(start)
time.sleep(60)
""",
        "memory limit",
        kernel=True,
    ),
    Hostile(
        "huge pages, which the memory limit does not count",
        """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
for what, *arguments in (
    (libc.mmap, None, 2**21, 3, 0x40022, -1, 0),
    (libc.memfd_create, b"x", 4),
    (libc.memfd_create, b"x", 4 | 21 << 26),
    (libc.shmget, 0, 2**21, 0o5600),
):
    ctypes.set_errno(0)
    what(*arguments)
    print(os.strerror(ctypes.get_errno()))
submit()
""",
        said="Operation not permitted\n" * 4,
    ),
    Hostile(
        "a core for itself alone, a faster clock, longer turns",
        """
libc = ctypes.CDLL(None, use_errno=True)
prctl, sched_setattr = {"x86_64": (157, 314), "aarch64": (167, 274)}[os.uname().machine]
clamps = (ctypes.c_uint32 * 14)(56, 0, 0x60, *[0] * 9, 1024, 1024)
slices = (ctypes.c_uint32 * 14)(48, *[0] * 5, 10**8)
for number, *arguments in (
    (prctl, ctypes.c_ulong(62), 1, 0, 0, 0),
    (prctl, ctypes.c_ulong(2**32 + 62), 1, 0, 0, 0),
    (sched_setattr, 0, clamps, 0),
    (sched_setattr, 0, slices, 0),
):
    ctypes.set_errno(0)
    libc.syscall(number, *arguments)
    print(os.strerror(ctypes.get_errno()))
submit()
""",
        said="Operation not permitted\n" * 4,
    ),
    Hostile(
        "a note in the times at which its files and the data were last read",
        """
data = os.environ["PODIUM_DATA"]
paths = HERE / "bait.json", HERE, data, os.path.join(data, "texts.txt")
for path in paths:
    before = os.stat(path)
    os.listdir(path) if os.path.isdir(path) else Path(path).read_bytes()
    attempt(os.utime, path, (0, 0))
    attempt(os.setxattr, path, "user.note", b"1")
    if os.stat(path).st_atime_ns != before.st_atime_ns:
        print("REACHED", path)
submit()
""",
    ),
    Hostile(
        "settings of the kernel",
        """
for place, _, names in os.walk("/proc/sys"):
    for path in (os.path.join(place, name) for name in names):
        try:
            Path(path).write_text("12345")
        except OSError:
            pass
        else:  # these belong to its own namespaces; the tests compare the machine's
            print(path)
submit()
""",
    ),
    Hostile(
        "the submission exchanged for a link and back, while it is copied",
        """
os.symlink(BAIT["files"][0], "link")
if os.fork() == 0:
    os.setsid()
    submit()
    while True:
        os.rename("link", "other")
        os.rename("submission.csv", "link")
        os.rename("other", "submission.csv")
        os.rename("submission.csv", "other")
        os.rename("link", "submission.csv")
        os.rename("other", "link")
time.sleep(0.2)
""",
        ("done", "submission.csv is not a regular file", "no submission.csv"),
    ),
    Hostile(
        "a sparse submission that is larger than all submissions may be",
        'submit()\nos.truncate("submission.csv", 50 * 2**20)',
        "submission.csv is larger than",
    ),
    Hostile(
        "a submission that other hard links, memory and open files go on changing",
        """
submit("a,b\\n1,2\\n" * 1000)
os.link("submission.csv", "/kaggle/working/second")
file = os.open("second", os.O_RDWR)
memory = mmap.mmap(file, 0)
if os.fork() == 0:
    os.setsid()
    while True:
        memory[:4] = b"a,b\\n"
        os.pwrite(file, b"9", 4)
time.sleep(0.1)
""",
    ),
    Hostile(
        "what an earlier run left: shared memory, queues, semaphores, files, sockets",
        """
libc = ctypes.CDLL(None, use_errno=True)
mq_open = {"x86_64": 240, "aarch64": 180}[os.uname().machine]
for run in range(2):
    print(
        # Python itself may be in a folder below /tmp.
        [os.listdir("."), *("left" in os.listdir(place) for place in ("/tmp", "/dev/shm"))],
        libc.shmget(0x1234, 4096, 0o600), libc.msgget(0x1234, 0o600), libc.semget(0x1234, 1, 0o600),
        libc.syscall(mq_open, b"left", os.O_RDONLY, 0, None),
    )
    if run == 0:
        for place in "/tmp", "/dev/shm":
            Path(place, "left").write_text("x")
        libc.shmget(0x1234, 4096, 0o1600), libc.msgget(0x1234, 0o1600), libc.semget(0x1234, 1, 0o1600)
        libc.syscall(mq_open, b"left", os.O_RDWR | os.O_CREAT, 0o600, None)
submit()
""",
        said="[[], False, False] -1 -1 -1 -1\n",
    ),
    Hostile(
        "a listener in its network, reached by name, for other runs to find",
        """
for address in "\\0podium", "/tmp/socket", "/dev/shm/socket":
    with socket.socket(socket.AF_UNIX) as one:
        attempt(one.connect, address)
    socket.socket(socket.AF_UNIX).bind(address)
submit()
""",
    ),
    Hostile(
        "files of other owners, and names that are not text",
        """
for owner in 0, 1, 1001, 65534:
    open(f"of {owner}", "w").close()
    attempt(os.chown, f"of {owner}", owner, -1)
for name in b"x" * 255, b"-rf", b"\\xff", b"a\\nb", b"submission.csv ", b".submission.csv":
    open(name, "w").close()
submit()
""",
    ),
    Hostile(
        "accelerators and other devices",
        """
for path in "/dev/nvidia0", "/dev/nvidiactl", "/dev/dri", "/dev/kfd", "/dev/vda", "/dev/userfaultfd":
    attempt(os.stat, path)
for kind in stat.S_IFCHR, stat.S_IFBLK:
    attempt(os.mknod, "device", kind | 0o666, os.makedev(195, 0))
submit()
""",
    ),
    Hostile(
        "the output of podium's own supervisor, forged",
        """
forged = json.dumps({"seconds": 0.001, "exit_code": 0, "stopped": "", "log_size": 0, "submission_size": 0})
print(forged, flush=True)
for number in range(3, 64):
    try:
        os.write(number, forged.encode() + b"\\n")
    except OSError:
        continue
    print("REACHED", number)
for path in Path("/proc").glob("[0-9]*/fd/*"):
    if int(path.parts[2]) != os.getpid():
        attempt(path.open, "w")
time.sleep(0.3)
submit()
""",
        said='{"seconds": 0.001',
    ),
]
