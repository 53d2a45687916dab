"""The system calls that models may not make: a seccomp filter, built by libseccomp for ``bwrap --seccomp``.

All calls are allowed but the few listed here, each of which would help a model that wants a prize: to see or
stop podium's process in its sandbox, to leave itself a note for its next run, or to reach the machine by a way
that namespaces do not close. Those that honest programs make too seem to succeed and do nothing.

libseccomp is called with ctypes. Its own Python binding is compiled for the system's Python alone, and
pyseccomp, which calls the library as is done here, was last released in 2021. The library's interface has been
the same since 2012.

Sources: the manual pages seccomp_rule_add(3) and seccomp_init(3), and those of the calls.
"""

import ctypes
import functools
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from podium.common.errors import UsageError
from podium.common.options import as_option

EPERM, EINVAL, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT = 1, 22, 38, 95, 97  # Linux's numbers of errors
NOTHING = 0  # the call seems to succeed

ALLOW, FAIL = 0x7FFF0000, 0x00050000  # SCMP_ACT_ALLOW and SCMP_ACT_ERRNO, to which the error's number is added
GREATER, MASKED = 6, 7  # scmp_compare: GT, MASKED_EQ

REFUSED = {
    "ptrace": EPERM,  # other processes, of which one is podium's
    "process_vm_readv": EPERM,
    "process_vm_writev": EPERM,
    "process_madvise": EPERM,
    "pidfd_getfd": EPERM,
    "kcmp": EPERM,
    "io_uring_setup": ENOSYS,  # a second way to make system calls, which no filter sees
    "io_uring_enter": ENOSYS,
    "io_uring_register": ENOSYS,
    "io_setup": ENOSYS,  # it hides the flag RWF_NOWAIT
    "userfaultfd": EPERM,  # the kernel's inside, which exploits need
    "bpf": EPERM,
    "perf_event_open": EPERM,
    "add_key": EPERM,  # keyrings, which belong to the user and not to the sandbox
    "request_key": EPERM,
    "keyctl": EPERM,
    "mincore": EPERM,  # what is in the page cache, where an earlier run could have left a note
    "cachestat": EPERM,
    "syslog": EPERM,  # the kernel's log, in which a crash of an earlier run stands
    "fadvise64": NOTHING,  # it drops pages from there
    "unshare": EPERM,  # namespaces of its own
    "setns": EPERM,
    # A pidfd's inode number counts every process of the machine, so an earlier run can leave a number there.
    # Programs then wait for their children in the older way.
    "pidfd_open": ENOSYS,
    "clone3": ENOSYS,  # it hides its flags from filters; programs fall back on clone
}
NEWER = {"cachestat": 451}  # numbers that libseccomp 2.5 does not know; they are the same on all processors
NEW_NAMESPACES = 0x7E020000  # the flags of clone that make namespaces
CLONE_PIDFD = 0x1000
RWF_NOWAIT = 8
MADV_COLD, MADV_PAGEOUT = 20, 21
# Calls that change another process, by the argument that names it: the limits, the priority, the processors.
# The sandbox's first process is podium's, so no model may change it.
OF_ANOTHER = {
    "prlimit64": 0,
    "setpriority": 1,
    "ioprio_set": 1,
    "sched_setparam": 0,
    "sched_setscheduler": 0,
    "sched_setattr": 0,
    "sched_setaffinity": 0,
}
FIRST = 1  # the number of the first process
INT = 0xFFFFFFFF  # the kernel takes these arguments as numbers of 32 bits, and a filter sees 64
# AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK. AF_VSOCK, for one, lies outside of network namespaces.
FAMILIES = (1, 2, 10, 16)


class Condition(ctypes.Structure):
    """A condition on one argument of a call: ``struct scmp_arg_cmp``."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("comparison", ctypes.c_int),
        ("value", ctypes.c_uint64),  # for MASKED the mask
        ("second", ctypes.c_uint64),  # for MASKED what these bits should be
    )


class Rule(NamedTuple):
    """A call that fails with an error, or seems to succeed, if all conditions hold."""

    call: str
    error: int
    conditions: tuple[Condition, ...] = ()


def rules(with_cores: bool) -> Iterator[Rule]:
    """List what is refused; `with_cores` tells whether a control group holds the model's cores."""
    for call, error in REFUSED.items():
        yield Rule(call, error)
    for call, argument in OF_ANOTHER.items():
        if call == "sched_setaffinity" and not with_cores:
            yield Rule(call, NOTHING)
        else:
            yield Rule(call, EPERM, (Condition(argument, MASKED, INT, FIRST),))
    yield Rule("preadv2", EOPNOTSUPP, (Condition(5, MASKED, RWF_NOWAIT, RWF_NOWAIT),))
    for advice in (MADV_COLD, MADV_PAGEOUT):
        yield Rule("madvise", NOTHING, (Condition(2, MASKED, INT, advice),))
    yield Rule("clone", EINVAL, (Condition(0, MASKED, CLONE_PIDFD, CLONE_PIDFD),))
    for flag in (1 << bit for bit in range(32) if NEW_NAMESPACES >> bit & 1):
        yield Rule("clone", EPERM, (Condition(0, MASKED, flag, flag),))
    for family in range(FAMILIES[-1]):
        if family not in FAMILIES:
            yield Rule("socket", EAFNOSUPPORT, (Condition(0, MASKED, INT, family),))
    yield Rule("socket", EAFNOSUPPORT, (Condition(0, GREATER, FAMILIES[-1], 0),))


@functools.cache
def filter_program(with_cores: bool) -> bytes:
    """Build the filter for this machine's kind of processor."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise UsageError(
            "the sandbox's filter of system calls needs libseccomp (apt-get install libseccomp2). "
            f"{as_option('engine', 'none')} runs your own models without a sandbox"
        ) from None
    library.seccomp_init.restype = ctypes.c_void_p
    calls = ctypes.c_void_p(library.seccomp_init(ALLOW))
    try:
        for rule in rules(with_cores):
            number = library.seccomp_syscall_resolve_name(rule.call.encode())
            number = NEWER.get(rule.call, number)
            if number < 0:  # this processor does not have the call
                continue
            conditions = (Condition * len(rule.conditions))(*rule.conditions)
            added = library.seccomp_rule_add_array(
                calls, ctypes.c_uint32(FAIL | rule.error), number, len(conditions), conditions
            )
            if added != 0:
                raise UsageError(f"libseccomp cannot build the filter of system calls: {rule.call}, {added}")
        with tempfile.TemporaryFile() as file:
            if library.seccomp_export_bpf(calls, file.fileno()) != 0:
                raise UsageError("libseccomp cannot build the filter of system calls")
            file.seek(0)
            return file.read()
    finally:
        library.seccomp_release(calls)
