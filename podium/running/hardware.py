"""What the models ran on, to be published with the board."""

import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import podium

__all__ = ["describe", "differences"]


def describe() -> dict[str, Any]:
    """This machine and what is installed on it; equal descriptions are identical hardware.

    Returns
    -------
    dict
        As it stands in hardware.json.
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
        "podium": podium.__version__,
        "packages": dict(sorted((one.name, one.version) for one in metadata.distributions() if one.name)),
    }


def differences(expected: dict[str, Any], given: dict[str, Any]) -> str:
    """Where two descriptions differ.

    Parameters
    ----------
    expected, given : dict
        Possibly with dicts in them.

    Returns
    -------
    str
        "" where they are equal.
    """
    return "; ".join(
        f"{name}: {_shortened(given.get(name))} instead of {_shortened(expected.get(name))}"
        if not isinstance(expected.get(name), dict)
        else differences(expected[name], given.get(name) or {})
        for name in {**expected, **given}
        if expected.get(name) != given.get(name)
    )


def _shortened(value: Any) -> str:
    """A value, cut where it is long."""
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _cpu() -> str:
    """The name of the processor."""
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    """Gigabytes of memory, None if unknown."""
    if not hasattr(os, "sysconf"):
        return None
    # Rounded: the kernel keeps a little for itself, not the same after each start.
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)


def _said(*command: str) -> str:
    """What a tool prints, "" where it is not here."""
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout.strip()
