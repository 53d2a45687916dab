"""The system calls that a model may make: a seccomp filter.

For bubblewrap, libseccomp builds the filter and ``bwrap --seccomp`` loads it.  Docker and podman read the same
rules as a profile in JSON.

Like docker's default profile, the filter lists the calls that are allowed:

- Calls in `ALLOWED` work as usual.
- Calls in `REFUSED` were used by attackers or reach beyond the sandbox.  They fail with EPERM.
- Calls in `IGNORED` succeed and do nothing.  With some of them a model could leave itself a note for its next
  run.  The others change what podium has set, and honest programs do not mind that they cannot.
- All other calls fail with ENOSYS, as on a kernel that does not know them, so that programs fall back on older
  calls.

Sources: docker's page "Seccomp security profiles for Docker" and the manual pages of the calls.
"""

import functools
import json
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from podium.errors import UsageError, missing_extra

__all__ = ["ALLOWED", "FAMILIES", "IGNORED", "REFUSED", "filter_program", "profile"]

# Linux's numbers of errors: a profile for containers may be written on another system, which has others.
EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT = 1, 38, 95, 97

# Each call with the reason why it is refused.
REFUSED = {
    "ptrace": "traces other processes; with it, a model that worked on made the sandbox report its exit",
    "process_vm_readv": "reads another process's memory",
    "process_vm_writev": "writes another process's memory",
    "process_madvise": "changes another process's memory",
    "pidfd_getfd": "takes another process's open files",
    "kcmp": "compares what processes share in the kernel",
    "io_uring_setup": "is a second way to make system calls, which no filter sees",
    "io_uring_enter": "is a second way to make system calls, which no filter sees",
    "io_uring_register": "is a second way to make system calls, which no filter sees",
    "userfaultfd": "stops the kernel in the middle of its work, as many exploits do",
    "add_key": "reaches keyrings, which belong to the user and not to the sandbox",
    "request_key": "reaches keyrings, which belong to the user and not to the sandbox",
    "keyctl": "reaches keyrings, which belong to the user and not to the sandbox",
    "perf_event_open": "observes the machine and other processes",
    "bpf": "loads programs into the kernel",
    "mount": "changes the file system",
    "umount2": "changes the file system",
    "pivot_root": "changes the file system",
    "chroot": "changes the file system",
    "move_mount": "changes the file system",
    "open_tree": "changes the file system",
    "fsopen": "changes the file system",
    "fsmount": "changes the file system",
    "mount_setattr": "changes the file system",
    "open_by_handle_at": "opens files without their path",
    "unshare": "makes namespaces of its own",
    "setns": "enters other namespaces",
    "mincore": "tells which pages of a file are in memory, where an earlier run could leave a note",
    "cachestat": "tells which pages of a file are in memory, where an earlier run could leave a note",
    "memfd_secret": "makes memory that nobody else can see or count",
    "mbind": "binds memory to a node of the machine",
    "set_mempolicy": "binds memory to a node of the machine",
    "migrate_pages": "moves memory between nodes of the machine",
    "move_pages": "moves memory between nodes of the machine",
    "swapon": "is the administrator's",
    "swapoff": "is the administrator's",
    "reboot": "is the administrator's",
    "kexec_load": "is the administrator's",
    "init_module": "is the administrator's",
    "finit_module": "is the administrator's",
    "delete_module": "is the administrator's",
    "acct": "is the administrator's",
    "quotactl": "is the administrator's",
    "settimeofday": "sets the clock",
    "clock_settime": "sets the clock",
    "iopl": "reaches the hardware",
    "ioperm": "reaches the hardware",
    "syslog": "reads the kernel's messages",
    "sched_setattr": "asks for a faster clock of the processor or for longer turns on it",
    "fanotify_init": "watches the whole file system",
    "nfsservctl": "is the administrator's",
    "vhangup": "is the administrator's",
}

# Each call that succeeds and does nothing, with the reason.  All but the first do so with the values in
# `BY_VALUE` alone.
IGNORED = {
    "sched_setaffinity": "chooses other cores, which a model could use between two looks of podium",
    "fadvise64": "drops pages of a file from memory, where an earlier run could leave a note",
    "madvise": "drops pages of a file from memory, where an earlier run could leave a note",
    "setrlimit": "allows core dumps, which many systems hand to a program outside of the sandbox",
    "prlimit64": "allows core dumps, which many systems hand to a program outside of the sandbox",
}

# For each call, the number of the argument that decides, its values that are ignored, and its values with which
# the call is allowed.
FADV_DONTNEED, MADV_COLD, MADV_PAGEOUT, RLIMIT_CORE = 4, 20, 21, 4
PR_SCHED_CORE = 62  # keeps all other programs off the core's second thread; it fails with EPERM
PR_SET_VMA, PR_SET_PTRACER = 0x53564D41, 0x59616D61  # the two numbers of prctl that are not below 128
BY_VALUE: dict[str, tuple[int, set[int], set[int]]] = {
    "fadvise64": (3, {FADV_DONTNEED}, {*range(6)} - {FADV_DONTNEED}),
    "madvise": (2, {MADV_COLD, MADV_PAGEOUT}, {*range(26), 102, 103} - {MADV_COLD, MADV_PAGEOUT}),
    "setrlimit": (0, {RLIMIT_CORE}, {*range(16)} - {RLIMIT_CORE}),
    "prctl": (0, set(), {*range(128), PR_SET_VMA, PR_SET_PTRACER} - {PR_SCHED_CORE}),
    "prlimit64": (1, set(), {*range(16)} - {RLIMIT_CORE}),  # for RLIMIT_CORE see below
}
# The kernel takes these arguments as numbers of 32 bits, and a filter sees 64.  Without the mask, a model could
# set a higher bit, and the filter would not recognize the value.
INT = 0xFFFFFFFF

# For each call, the number of the argument that holds its flags, and the flag with which it fails with EPERM.
# Huge pages are a store of the whole machine, and the memory limit of a control group does not count them.
MAP_HUGETLB, MFD_HUGETLB, SHM_HUGETLB = 0x40000, 0x4, 0o4000
BY_FLAG = {"mmap": (3, MAP_HUGETLB), "memfd_create": (1, MFD_HUGETLB), "shmget": (2, SHM_HUGETLB)}

# The families of sockets that a model may open.  AF_VSOCK, for example, is missing: it ignores network
# namespaces.
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
MOST_FAMILIES = 64

ALLOWED_BY_PURPOSE = {
    "files": """
        read write readv writev pread64 pwrite64 preadv pwritev pwritev2 open openat openat2 creat close
        close_range lseek dup dup2 dup3 fcntl ioctl flock fsync fdatasync sync syncfs sync_file_range
        sync_file_range2 truncate ftruncate fallocate readahead sendfile splice tee vmsplice copy_file_range
        pipe pipe2 stat fstat lstat newfstatat fstatat64 statx statfs fstatfs access faccessat faccessat2
        readlink readlinkat getcwd chdir fchdir mkdir mkdirat rmdir rename renameat renameat2 link linkat
        symlink symlinkat unlink unlinkat mknod mknodat chmod fchmod fchmodat fchmodat2 chown fchown lchown
        fchownat umask utime utimes utimensat futimesat getdents getdents64 getxattr lgetxattr fgetxattr
        listxattr llistxattr flistxattr setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
        inotify_init inotify_init1 inotify_add_watch inotify_rm_watch name_to_handle_at ioprio_get
        ioprio_set
    """,
    "memory": """
        brk munmap mremap mprotect msync mlock mlock2 mlockall munlock munlockall remap_file_pages
        membarrier pkey_alloc pkey_free pkey_mprotect get_mempolicy shmat shmctl shmdt
        mseal map_shadow_stack
    """,
    "processes": """
        fork vfork execve execveat exit exit_group wait4 waitid getpid getppid gettid getpgid getpgrp getsid
        setsid setpgid getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid
        setregid setresuid setresgid setgroups setfsuid setfsgid capget capset arch_prctl
        set_tid_address set_robust_list get_robust_list rseq futex futex_wait futex_wake futex_waitv
        futex_requeue sched_yield sched_getaffinity sched_getparam sched_setparam
        sched_getscheduler sched_setscheduler sched_getattr sched_get_priority_max
        sched_get_priority_min sched_rr_get_interval getpriority setpriority getrlimit
        getrusage times getcpu sysinfo uname getrandom restart_syscall process_mrelease pidfd_open
        pidfd_send_signal seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
    """,
    "signals": """
        rt_sigaction rt_sigprocmask rt_sigpending rt_sigsuspend rt_sigtimedwait rt_sigqueueinfo
        rt_tgsigqueueinfo rt_sigreturn sigaltstack kill tkill tgkill pause alarm signalfd signalfd4
    """,
    "time": """
        time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep adjtimex clock_adjtime
        getitimer setitimer timer_create timer_delete timer_settime timer_gettime timer_getoverrun
        timerfd_create timerfd_settime timerfd_gettime
    """,
    "waiting": """
        select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
        eventfd eventfd2 io_setup io_submit io_getevents io_pgetevents io_cancel io_destroy
    """,
    "messages": """
        socketpair bind connect listen accept accept4 getsockname getpeername getsockopt setsockopt sendto
        recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown msgget msgsnd msgrcv msgctl semget semop
        semtimedop semctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
    """,
}
ALLOWED = [name for names in ALLOWED_BY_PURPOSE.values() for name in names.split()]

NEW_NAMESPACES = 0x7E020000  # the flags of clone that make namespaces
RWF_NOWAIT = 8
# Linux for 64 and 32 bits, with and without the old form of uname; the last value only asks for the present
# one.
PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)


class Condition(NamedTuple):
    """A condition on one argument of a system call.

    Attributes
    ----------
    argument : int
        The number of the argument, from 0.
    comparison : str
        How libseccomp compares: "EQ", "NE", "GE", or "MASKED_EQ" for the bits of a mask.
    value : int
        The number to compare with; for "MASKED_EQ" the mask.
    second : int
        For "MASKED_EQ" the number that these bits should be, else 0.
    """

    argument: int
    comparison: str
    value: int
    second: int = 0


class Rule(NamedTuple):
    """What becomes of a system call.

    Attributes
    ----------
    call : str
        The name of the call.
    error : int or None
        The number of the error with which the call fails.  With 0 it seems to succeed and does nothing.  With
        None it works as usual.
    conditions : tuple of Condition
        The rule holds for calls whose arguments meet all of these conditions.
    """

    call: str
    error: int | None
    conditions: tuple[Condition, ...] = ()


def rules() -> Iterator[Rule]:
    """List all rules; calls without a rule fail with ENOSYS.

    Yields
    ------
    Rule
        A rule for a call that is allowed, refused or ignored, possibly with some arguments only.
    """
    for name in ALLOWED:
        yield Rule(name, None)
    for name in REFUSED:
        yield Rule(name, EPERM)
    for name in IGNORED.keys() - BY_VALUE.keys():
        yield Rule(name, 0)
    for name, (argument, ignored, allowed) in BY_VALUE.items():
        for values, error in ((ignored, 0), (allowed, None)):
            for value in values:
                yield Rule(name, error, (Condition(argument, "MASKED_EQ", INT, value),))
    for name, (argument, flag) in BY_FLAG.items():
        yield Rule(name, None, (Condition(argument, "MASKED_EQ", flag, 0),))
        yield Rule(name, EPERM, (Condition(argument, "MASKED_EQ", flag, flag),))
    yield Rule("prctl", EPERM, (Condition(0, "MASKED_EQ", INT, PR_SCHED_CORE),))
    # The limit of core dumps can be read: then there is no new limit.
    of_core = Condition(1, "MASKED_EQ", INT, RLIMIT_CORE)
    yield Rule("prlimit64", None, (of_core, Condition(2, "EQ", 0)))
    yield Rule("prlimit64", 0, (of_core, Condition(2, "NE", 0)))
    for family in range(MOST_FAMILIES):
        error = None if family in FAMILIES.values() else EAFNOSUPPORT
        yield Rule("socket", error, (Condition(0, "EQ", family),))
    yield Rule("socket", EAFNOSUPPORT, (Condition(0, "GE", MOST_FAMILIES),))
    # This flag would tell whether a page is in the cache.  Programs that use it can also read without it.
    yield Rule("preadv2", None, (Condition(5, "MASKED_EQ", RWF_NOWAIT, 0),))
    yield Rule("preadv2", EOPNOTSUPP, (Condition(5, "MASKED_EQ", RWF_NOWAIT, RWF_NOWAIT),))
    # A model may make threads and processes, but no namespaces.  Filters cannot see the flags of clone3, so
    # that call is not allowed at all.
    yield Rule("clone", None, (Condition(0, "MASKED_EQ", NEW_NAMESPACES, 0),))
    for kind in PERSONALITIES:
        yield Rule("personality", None, (Condition(0, "EQ", kind),))


def profile() -> str:
    """Write the filter as docker and podman read it.

    Returns
    -------
    str
        A profile in JSON, for the option ``--security-opt seccomp=FILE``.
    """
    calls = [
        {
            "names": [rule.call],
            "action": "SCMP_ACT_ALLOW" if rule.error is None else "SCMP_ACT_ERRNO",
            "errnoRet": rule.error,
            "args": [
                {"index": argument, "value": value, "valueTwo": second, "op": f"SCMP_CMP_{comparison}"}
                for argument, comparison, value, second in rule.conditions
            ],
        }
        for rule in rules()
    ]
    return json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": ENOSYS, "syscalls": calls})


@functools.cache
def filter_program() -> bytes:
    """Build the filter for this machine's kind of processor.

    Returns
    -------
    bytes
        A program in classic BPF, which ``bwrap --seccomp FD`` reads from its file descriptor.

    Raises
    ------
    UsageError
        If libseccomp or its Python binding is missing, or if the filter cannot be built.
    """
    try:
        import pyseccomp
    except ImportError:
        raise missing_extra("the sandbox's filter of system calls", "pyseccomp", "run") from None
    except (RuntimeError, OSError):  # the binding is installed, but it does not find the library
        raise UsageError(
            "the sandbox's filter of system calls needs libseccomp (apt-get install libseccomp2). "
            "--engine none runs your own models without a sandbox"
        ) from None
    try:
        calls = pyseccomp.SyscallFilter(pyseccomp.ERRNO(ENOSYS))
        for rule in rules():
            _add(pyseccomp, calls, rule)
        with tempfile.TemporaryFile() as file:
            calls.export_bpf(file)
            file.seek(0)
            return file.read()
    except OSError as problem:
        raise UsageError(f"libseccomp cannot build the filter of system calls: {problem}") from None


def _add(seccomp: Any, calls: Any, rule: Rule) -> None:
    """Add a rule to libseccomp's filter if it knows the call; all others fail with ENOSYS anyway."""
    number = seccomp.resolve_syscall(seccomp.system_arch(), rule.call)
    if number >= 0:
        action = seccomp.ALLOW if rule.error is None else seccomp.ERRNO(rule.error)
        conditions = [
            seccomp.Arg(argument, getattr(seccomp, comparison), value, second)
            for argument, comparison, value, second in rule.conditions
        ]
        calls.add_rule(action, number, *conditions)
