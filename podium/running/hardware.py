"""Describe the machine that the models ran on, so that the description can be published with the board."""

import os
import platform
import shutil
import sys
from collections import Counter
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from podium.common.version import __version__
from podium.common.wording import counted
from podium.running.measuring import answer_of


def describe() -> str:
    """Describe this machine in a line; machines with equal descriptions count as identical hardware."""
    asked = ("--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    found = Counter(_said("nvidia-smi", *asked).splitlines())
    accelerators = [f"{number} × {name}" if number > 1 else name for name, number in found.items()]
    cores, kernel = counted(os.cpu_count() or 1, "core"), f"{platform.system()} {platform.release()}"
    return ", ".join(filter(None, [_cpu(), cores, _memory(), *accelerators, kernel]))


def versions() -> dict[str, str]:
    """The versions of what is installed on this machine."""
    packages = {one.name: one.version for one in metadata.distributions() if one.name}
    programs = {"python": platform.python_version(), "bubblewrap": _said("bwrap", "--version")}
    return dict(sorted(packages.items())) | programs | {"podium": __version__}


def differences(expected: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Say where two records differ.

    >>> differences({"data": "1", "settings": {"gpus": True}}, {"data": "1", "settings": {"gpus": False}})
    'gpus: false instead of true'
    """
    said = []
    for name in {**expected, **given}:
        ours, theirs = expected.get(name, "nothing"), given.get(name, "nothing")
        if isinstance(ours, dict) and isinstance(theirs, dict):
            said.append(differences(ours, theirs))
        elif ours != theirs:
            said.append(f"{name}: {_shown(theirs)} instead of {_shown(ours)}")
    return "; ".join(filter(None, said))


def _shown(value: Any) -> str:
    """A value of a record, with the words true and false as in the file."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cpu() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> str:
    """The size of the memory, "" if it is unknown."""
    if not hasattr(os, "sysconf"):
        return ""
    # Rounded, because the kernel reserves a little memory for itself, and not the same amount after each boot.
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{round(size, 1):g} GB of memory"


def _said(*command: str) -> str:
    """What a tool prints, or "" if it is not installed."""
    return answer_of(*command).stdout.strip() if shutil.which(command[0]) else ""
