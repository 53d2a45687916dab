"""What a fork had to load is loaded here before the next fork, which then has it.

Libraries load parts of themselves with their first call, and a metric may import a library in ``score()``. Each
fork would do that again, which can take longer than the score. A module is only executed here if it belongs to
an installed library or to Python. Nothing is loaded of what a fork had whose metric has left threads, because
here they would forbid to fork at all.
"""

import contextlib
import importlib
import importlib.util
import io
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

from podium.child import clean

INSTALLED = {"site-packages", "dist-packages"}  # the folders of libraries

_seen: set[str] = set()  # what forks have loaded
_waiting: list[str] = []  # what of it was not loaded here yet


def since(before: set[str]) -> list[str]:
    """The modules that this fork has loaded beside those that it had before, in their order."""
    names = [name for name in sys.modules if name not in before and name not in _seen]
    return [] if names and clean.has_left_threads() else names


def remember(names: Iterable[str]) -> None:
    """Note what a fork has loaded."""
    new = [name for name in names if name not in _seen]
    _seen.update(new)
    _waiting.extend(new)


def load() -> None:
    """Load what forks have loaded, unless this process may not fork any more."""
    if not (_waiting and clean.is_clean()):
        return
    names = [name for name in _waiting if _is_library(name)]
    _waiting.clear()
    silent = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
        warnings.simplefilter("ignore")
        with clean.threads_watched():
            for name in names:
                with contextlib.suppress(Exception):  # a library may make modules that have no file
                    importlib.import_module(name)


def _is_library(name: str) -> bool:
    """Whether a module is part of an installed package or of Python, and nothing of a metric's own."""
    package = name.partition(".")[0]
    if package in sys.stdlib_module_names:
        return True
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(package)
        return spec is not None and not INSTALLED.isdisjoint(Path(spec.origin or os.curdir).parts)
    return False
