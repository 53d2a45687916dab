"""The Python files of a metric: what is read once, hashed, and executed from what was read.

A companion, and what it or the metric imports relatively, stand beside the metric file. These files, found
without executing anything, are all that a metric may execute of its folder: nothing is taken from a
``__pycache__``, from a folder below, or from a file that a program puts there later.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from podium.common.errors import HostError
from podium.tables.files import read_bytes

METRIC_FILE, COMPANION_FILE = "metric.py", "companion.py"
METRIC = Path(METRIC_FILE).stem  # by which the files of a folder import the metric, whatever its file is called

Executed = Mapping[str, bytes]  # the content of each file by its name, that of the metric first


def of_metric(path: Path, folder: Path | None = None) -> Executed:
    """Read a metric file and all files beside it, or in a folder, that it executes."""
    folder = path.parent if folder is None else folder
    files = {path.name: read_bytes(path)}
    if path.name == METRIC_FILE and (folder / COMPANION_FILE).is_file():
        files[COMPANION_FILE] = read_bytes(folder / COMPANION_FILE)
    waiting = list(files)
    while waiting:
        name = waiting.pop()
        new = sorted(_imported(name, files[name], folder) - files.keys())
        files |= {each: read_bytes(folder / each) for each in new}
        waiting += new
    return files


def digests(files: Executed) -> dict[str, str]:
    """The SHA-256 of each file by its name."""
    return {name: sha256(content).hexdigest() for name, content in files.items()}


def _imported(file: str, content: bytes, folder: Path) -> set[str]:
    """The names of the files that a file imports relatively, as by ``from .helpers import count``."""
    found = set()
    for number, dots, name in _relative_imports(content):
        if dots == "." and name == METRIC:
            continue
        if dots != "." or not (folder / f"{name}.py").is_file():
            raise HostError(
                f"{file}, line {number}: expected the import of a file beside it, found {dots}{name}, which "
                "podium does not execute and no bundle takes along"
            )
        found.add(f"{name}.py")
    return found


def _relative_imports(content: bytes) -> Iterator[tuple[int, str, str]]:
    """List the relative imports of a file: the line, the dots and the name of the module."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it is told where the file is executed
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            for name in [node.module] if node.module else [alias.name for alias in node.names]:
                yield node.lineno, "." * node.level, name


# ---- The package of a folder -------------------------------------------------------------------------------


class _Loader(importlib.abc.InspectLoader):
    """Executes what was read of a file, and no compiled form of it."""

    def __init__(self, path: Path, content: bytes) -> None:
        self.path, self.content = path, content

    def get_source(self, fullname: str) -> str:
        return importlib.util.decode_source(self.content)

    def get_code(self, fullname: str) -> types.CodeType:
        code: types.CodeType = compile(self.content, self.path, "exec", dont_inherit=True)
        return code


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of packages among the files that were read."""

    def __init__(self) -> None:
        self.read: dict[str, tuple[Path, Executed]] = {}  # the folder and the files of each package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        folder, files = self.read.get(package, (Path(), {}))
        file = f"{name}.py"
        if file not in files:
            return None
        loader = _Loader(folder / file, files[file])
        return importlib.util.spec_from_file_location(fullname, folder / file, loader=loader)


_FINDER = _Finder()


def open_package(package: str, folder: Path, files: Executed | None) -> None:
    """Make a new package of files that were read, or of a folder of podium's own."""
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]:
        del sys.modules[name]
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    if files is not None:
        _FINDER.read[package] = (Path(os.path.abspath(folder)), files)
    for name in {package.rpartition(".")[0]} - sys.modules.keys() | {package}:
        made = types.ModuleType(name)
        # Python's own finders find nothing but podium's files.
        made.__path__ = [str(folder)] if files is None and name == package else []
        sys.modules[name] = made
