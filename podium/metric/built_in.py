"""Where built-in metrics are. The name of a folder is the name of its metric; no list repeats it."""

import functools
from pathlib import Path

# The metrics are data of the package in a wheel, and stand beside the package in a clone.
_IN_WHEEL = Path(__file__).parents[1] / "_hosted"
ROOT = _IN_WHEEL if _IN_WHEEL.is_dir() else Path(__file__).parents[2]

DEFAULT = "unified"  # the metric of a command that is not given one


@functools.cache
def names() -> tuple[str, ...]:
    """List built-in metrics, the default one first."""
    folders = (ROOT / "metrics").iterdir()
    found = sorted(path.name for path in folders if path.is_dir() and path.name[0] not in "._")
    return tuple(sorted(found, key=lambda name: name != DEFAULT))


def folder(name: str) -> Path:
    """Find the folder of a built-in metric, with its companion, its page and its samples."""
    return ROOT / "metrics" / name


def file(name: str) -> Path:
    """Find the file of a built-in metric.

    The main metric is the file at the top of the repository, because its readers open that one first.
    """
    path = folder(name) / "metric.py"
    return path if path.is_file() else ROOT / "metric.py"
