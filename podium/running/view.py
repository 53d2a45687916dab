"""What a model sees in bubblewrap: the arguments that make its file system.

A model must not find anything there that an earlier run could have left. Its own folders are new. All others
can only be read. Two things remain that a model can move and the next one could read: the times of device
nodes, which are the machine's own, and the kernel's counters in /proc and /sys. The times are set to now
before each run. Files with counters are empty, or have the same words with 0 in place of each number, so that
programs such as psutil can read them.
"""

import contextlib
import os
import re
import sysconfig
from collections.abc import Collection, Iterable
from pathlib import Path

from podium.running.settings import NOBODY, UNPRIVILEGED, Settings, is_root, visible

MODEL, INPUT, WORKING, TOOLS = "/kaggle/model", "/kaggle/input", "/kaggle/working", "/podium"
NOTEBOOK = Path(__file__).with_name("notebook.py")
COMPETITIONS, TEMPORARY = "competitions", ("/kaggle/temp", "/var/tmp")
SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
# What programs look up in /etc: libraries, fonts, and which program stands behind a name such as awk.
ETC = ("alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d")
HOST, USER = "podium", "model"
HOSTS = f"127.0.0.1 localhost {HOST}\n::1 localhost {HOST}\n"
PACKAGES = "/tmp/packages"  # what a model installs from files that it brings
# What may contain passwords of registries: the machine's configuration outside of /etc, and files of programs.
PRIVATE_FOLDERS = ("/usr/etc", "/usr/local/etc")
PRIVATE_FILES = (
    "pip.conf", "condarc", ".condarc", "etc/pip.conf", "etc/npmrc", "etc/gitconfig", "etc/wgetrc",
    "lib/node_modules/npm/npmrc",
)  # fmt: skip

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")  # which bubblewrap takes from the machine
ACCELERATORS = ("nvidia*", "dri", "kfd")
CPU = "/sys/devices/system/cpu"
CPU_COUNTERS = ("cpu[0-9]*/cpuidle", "cpu[0-9]*/thermal_throttle", "cpufreq/policy*/stats")
COUNTER_FOLDERS = ("/proc/fs", "/proc/irq", "/proc/pressure")
COUNTERS = (
    "cgroups", "diskstats", "stat", "swaps", "uptime", "vmstat", "sys/fs/aio-nr", "sys/fs/dentry-state",
    "sys/fs/file-nr", "sys/fs/inode-nr", "sys/fs/inode-state",
)  # fmt: skip
UNREAD = ("buddyinfo", "interrupts", "key-users", "schedstat", "softirqs", "zoneinfo")  # no model needs them
NUMBER = re.compile(r"\d+(\.\d+)?")
CLOCK = ("btime",)  # the lines of /proc/stat that keep their number: when the machine was started


def seen(model: Path, settings: Settings, files: dict[str, int]) -> list[str]:
    """The arguments of bubblewrap; `files` has the descriptor of each file of `contents`."""
    view = [*_system(settings), *_folders(model, settings), *_devices(settings)]
    for path, file in files.items():
        view += ["--perms", "0644", "--ro-bind-data", str(file), path]
    # The first process is podium's. Who could write into its memory could report an end.
    empty = ["/proc/1", *filter(os.path.isdir, COUNTER_FOLDERS)]
    empty += [str(path) for pattern in CPU_COUNTERS for path in sorted(Path(CPU).glob(pattern))]
    view += [word for folder in empty for word in ("--tmpfs", folder, "--remount-ro", folder)]
    return [*view, "--remount-ro", "/dev", "--remount-ro", "/"]


def contents() -> dict[str, bytes]:
    """The content of each file that podium writes for a model."""
    number = NOBODY if is_root() else UNPRIVILEGED
    users = f"root:x:0:0:root:/root:/bin/sh\n{USER}:x:{number}:{number}:{USER}:/tmp:/bin/sh\n"
    groups = f"root:x:0:\n{USER}:x:{number}:\n"
    files = {
        name: text.encode()
        for name, text in (("/etc/hosts", HOSTS), ("/etc/passwd", users), ("/etc/group", groups))
    }
    for name in COUNTERS:
        with contextlib.suppress(OSError):  # this kernel does not have it, or nobody may read it
            files[f"/proc/{name}"] = _without_counts(Path("/proc", name).read_text()).encode()
    return files | {f"/proc/{name}": b"" for name in UNREAD if os.path.exists(f"/proc/{name}")}


def _without_counts(text: str) -> str:
    """A text with 0 in place of each number; several blanks become one, as they tell how long a number was.

    >>> _without_counts("cpu0  12 345\\nbtime 1700000000\\n")
    'cpu0 0 0\\nbtime 1700000000\\n'
    """
    lines = []
    for words in map(str.split, text.splitlines()):
        keeps = words[:1] and words[0] in CLOCK
        lines.append(" ".join(word if keeps else ("0" if NUMBER.fullmatch(word) else word) for word in words))
    return "".join(f"{line}\n" for line in lines)


def reset_device_times(settings: Settings) -> None:
    """Set the times of the device nodes that a model may touch to now; there could be a note in them."""
    nodes = [Path("/dev", name) for name in DEVICES]
    for accelerator in _accelerators(settings):
        nodes += [accelerator, *accelerator.glob("**/*")]
    for node in nodes:
        with contextlib.suppress(OSError):  # who may not set it here may not in the sandbox
            os.utime(node)


def data_of(settings: Settings) -> str:
    """The place of the data, as the model sees it."""
    return f"{INPUT}/{settings.data.name}"


def _system(settings: Settings) -> list[str]:
    """The system's programs, Python, and what they need from /etc."""
    shown = [str(folder) for folder in visible(settings.data)[1:]]
    # The places of Python may be below /tmp, so that has to be there before them.
    view = ["--perms", "1777", "--size", str(settings.disk_limit), "--tmpfs", "/tmp"]
    # Python looks into a folder that was not there at its start never again.
    installed = Path(places_in(PACKAGES)["purelib"])
    for path in (*reversed(installed.parents), installed):
        if path.is_relative_to(PACKAGES):
            view += ["--perms", "0777", "--dir", str(path)]
    view += _parents([*shown, "/etc/hosts"])
    for folder in shown:
        view += ["--ro-bind", folder, folder]
    view += _private({*shown, "/usr/local"})
    for folder in SYSTEM_FOLDERS:
        if os.path.islink(folder):
            view += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            view += ["--ro-bind", folder, folder]
    for name in ETC:
        view += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return view


def _private(prefixes: Collection[str]) -> list[str]:
    """Cover what may contain passwords."""
    view = []
    for folder in filter(os.path.isdir, PRIVATE_FOLDERS):
        view += ["--tmpfs", folder, "--remount-ro", folder]
    shown, covered = (tuple(f"{folder}/" for folder in folders) for folders in (prefixes, PRIVATE_FOLDERS))
    for path in (os.path.realpath(f"{prefix}/{name}") for prefix in prefixes for name in PRIVATE_FILES):
        if os.path.isfile(path) and path.startswith(shown) and not path.startswith(covered):
            view += ["--ro-bind", "/dev/null", path]
    return view


def _folders(model: Path, settings: Settings) -> list[str]:
    """The model, the data, and the folder to work in."""
    data, notebook = data_of(settings), f"{TOOLS}/notebook.py"
    view = [*_parents([MODEL, data, WORKING, notebook]), "--ro-bind", str(NOTEBOOK), notebook]
    view += ["--ro-bind", str(model), MODEL, "--ro-bind", str(settings.data), data]
    view += ["--perms", "0777", "--size", str(settings.disk_limit), "--tmpfs", WORKING]
    newer = f"{INPUT}/{COMPETITIONS}/{settings.data.name}"  # a link, so that who walks finds the data once
    if settings.data.name != COMPETITIONS:
        view += [*_parents([newer]), "--symlink", data, newer]
    for place in TEMPORARY:
        view += [*_parents([place]), "--symlink", "/tmp", place]
    return view


def places_in(packages: str) -> dict[str, str]:
    """Where pip puts packages and their programs below a folder."""
    scheme, base = sysconfig.get_preferred_scheme("prefix"), {"base": packages, "platbase": packages}
    return {name: sysconfig.get_path(name, scheme, base) for name in ("purelib", "scripts")}


def _devices(settings: Settings) -> list[str]:
    """The kernel's own file systems, and the accelerators if models may use them."""
    view = ["--proc", "/proc", "--dev", "/dev"]
    view += ["--perms", "1777", "--size", str(settings.disk_limit), "--tmpfs", "/dev/shm"]
    view += ["--ro-bind", "/sys", "/sys"] if settings.gpus else ["--ro-bind", CPU, CPU]
    for device in map(str, _accelerators(settings)):
        view += ["--dev-bind", device, device]
    return view


def _accelerators(settings: Settings) -> list[Path]:
    """The device nodes of the accelerators that models may use."""
    patterns = ACCELERATORS if settings.gpus else ()
    return [path for pattern in patterns for path in sorted(Path("/dev").glob(pattern))]


def _parents(paths: Iterable[str]) -> list[str]:
    """The folders above some paths, which bubblewrap would otherwise make for root alone."""
    above = sorted({str(parent) for path in paths for parent in Path(path).parents} - {"/", "/tmp"})
    return [word for parent in above for word in ("--perms", "0755", "--dir", parent)]
