"""Describe the machine that the models ran on, so that the description can be published with the board."""

import os
import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from podium.common.version import __version__
from podium.running.measuring import answer_of


def describe() -> dict[str, Any]:
    """Describe this machine and what is installed on it.

    Machines with equal descriptions count as identical hardware.
    """
    accelerators = _said("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "accelerators": accelerators.splitlines(),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "bubblewrap": _said("bwrap", "--version"),
        "podium": __version__,
        "packages": dict(sorted((one.name, one.version) for one in metadata.distributions() if one.name)),
    }


def differences(expected: dict[str, Any], given: dict[str, Any]) -> str:
    """Say where two descriptions differ.

    >>> differences({"cores": 8, "packages": {"numpy": "2.1.0"}}, {"cores": 4, "packages": {"numpy": "2.1.0"}})
    'cores: 4 instead of 8'
    """
    return "; ".join(
        f"{name}: {_shortened(given.get(name))} instead of {_shortened(expected.get(name))}"
        if not isinstance(expected.get(name), dict)
        else differences(expected[name], given.get(name) or {})
        for name in {**expected, **given}
        if expected.get(name) != given.get(name)
    )


def _shortened(value: Any) -> str:
    """A value as text of at most 80 characters."""
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _cpu() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    """The size of the memory in gigabytes, None if it is unknown."""
    if not hasattr(os, "sysconf"):
        return None
    # Rounded, because the kernel reserves a little memory for itself, and not the same amount after each boot.
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)


def _said(*command: str) -> str:
    """What a tool prints, or "" if it is not installed."""
    return answer_of(*command).stdout.strip() if shutil.which(command[0]) else ""
