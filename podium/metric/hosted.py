"""Find and load a metric with its companion: by its name, as a file, or as a folder.

A metric is a folder with ``metric.py`` and, if podium can say more than a score, ``companion.py`` (see
`podium.metric.contract`). Built-in metrics are the folders of ``metrics/``. The name of such a folder is the
name of the metric; no list repeats it. A file with the same content as one of them, such as the copy in a
bundle, is treated as that metric.
"""

import copyreg
import functools
import importlib.util
import inspect
import os
import sys
import types
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from podium.common.errors import CompanionError, HostError, ToolError, UsageError
from podium.common.wording import printable
from podium.metric import adapted, built_in, executed, foreign, guard, shapes
from podium.metric.built_in import DEFAULT, ROOT, folder, names
from podium.metric.contract import Companion, Metric
from podium.metric.executed import COMPANION_FILE, METRIC_FILE, Executed
from podium.metric.guard import PACKAGE
from podium.tables.files import Location

__all__ = [
    "DEFAULT",
    "ROOT",
    "Metric",
    "find",
    "folder",
    "load",
    "module",
    "names",
    "purpose",
    "stands_beside",
]

FIRST_OF_PREPARE = ["solution", "row_id_column_name"]  # the parameters by which podium knows its prepare()
MOST_OF_PURPOSE = 300  # characters
UTILITIES = "kaggle_metric_utilities"


def purpose(metric: Metric) -> str:
    """What a metric computes, as the docstring of ``score`` or of its file says in its first paragraph."""
    texts = (getattr(metric.module, "score", None), metric.module)
    said = next((doc for each in texts if isinstance(doc := getattr(each, "__doc__", None), str) and doc), "")
    paragraph = printable(" ".join(inspect.cleandoc(said).partition("\n\n")[0].split()))
    return paragraph if len(paragraph) <= MOST_OF_PURPOSE else f"{paragraph[: MOST_OF_PURPOSE - 1]}…"


def find(metric: Location) -> Path:
    """Find the file of a metric."""
    if str(metric) in names():
        return built_in.file(str(metric))
    path = Path(metric)
    if path.is_dir():
        ours = [name for name in names() if path.resolve() == folder(name).resolve()]
        path = built_in.file(ours[0]) if ours else path / METRIC_FILE
        if not path.is_file():
            cure = f"; podium's own is called {Path(metric).name}" if Path(metric).name in names() else ""
            raise UsageError(f"{metric}: expected a folder with a {METRIC_FILE}, found none in it{cure}")
    if not path.is_file():
        raise UsageError(
            f"there is no metric {metric}: expected a Python file, a folder with a {METRIC_FILE}, or one of "
            f"{', '.join(names())}"
        )
    if path.suffix != ".py":
        cure = (
            ": save the cell that defines score() as a file that ends in .py" if path.suffix == ".ipynb" else ""
        )
        raise UsageError(f"{path} is not a Python file{cure}")
    return path


@functools.cache
def module(name: str, file: str = "metric") -> types.ModuleType:
    """Load one of podium's own files as a module."""
    if name == "boost":
        return _run(built_in.ROOT / "boost.py", "podium_boost")
    return sys.modules[f"{load(name).module.__package__}.{file}"]


def load(metric: Location) -> Metric:
    """Load a metric and its companion.

    Parameters
    ----------
    metric : str or Path
        One of `names`, a Python file, or a folder that has a ``metric.py``.

    Returns
    -------
    podium.metric.contract.Metric
        The loaded metric. A file is executed once in a process, and again after it, or a file that it imports
        from its folder, has changed.

    Raises
    ------
    UsageError
        There is no such metric, or the file defines no ``score``.
    HostError
        The file or its companion cannot be run. Or one of its definitions is not of the type that the contract
        demands, or it has the ``NAME`` of a built-in metric.
    """
    if str(metric) in names():
        return _load_built_in(str(metric))
    path = find(metric)
    name = _built_in_metric_with(path)
    if name is None:
        return _load_once(Path(os.path.abspath(path)), tuple(executed.of_metric(path).items()))
    if path != built_in.file(name):
        _warn_of_companion(path, name)
    return _load_built_in(name)


@functools.lru_cache(maxsize=8)
def _load_once(path: Path, files: tuple[tuple[str, bytes], ...]) -> Metric:
    """Load a custom metric from the contents of its file and of the files that it imports from its folder."""
    return _load_folder(path, path.parent, _key(path), dict(files))


def _key(path: Path) -> str:
    """Name the package of a custom metric's file."""
    return sha256(str(path.resolve()).encode()).hexdigest()[:16]


def _warn_of_companion(path: Path, name: str) -> None:
    """Say that another companion beside a copy of a built-in metric is not used."""
    theirs, ours = path.with_name(COMPANION_FILE), folder(name) / COMPANION_FILE
    if path.name != METRIC_FILE or not theirs.is_file() or theirs.read_bytes() == ours.read_bytes():
        return
    warnings.warn(
        f"{theirs} is not used: {path.name} is the built-in metric {name}, which has a companion of its own. "
        "Change the metric's NAME to use yours",
        stacklevel=3,
    )


def anew(metric: Metric, name: str = "again") -> Metric:
    """Load a metric file once more, without its companion, into new modules.

    They replace the modules of an earlier call with the same name.
    """
    key = f"{_key(metric.path)}_{name}"
    files = {name: content for name, content in metric.files.items() if name != COMPANION_FILE}
    return _load_folder(metric.path, metric.path.parent, key, files, metric.is_built_in)


@functools.cache
def _load_built_in(name: str) -> Metric:
    path, companion = built_in.file(name), folder(name) / COMPANION_FILE
    files = {file.name: file.read_bytes() for file in (path, companion) if file.is_file()}
    return _load_folder(path, folder(name), name, files, is_built_in=True)


def _reduced(metric: Metric) -> tuple[Callable[[str], Metric], tuple[str]]:
    """Tell pickle to load the metric again in the other process, because a module cannot travel.

    A prepared solution names its metric before its other parts. So their classes, which the metric file
    defines, are known when they are read.
    """
    return load, (metric.name if metric.is_built_in else str(metric.path.resolve()),)


copyreg.pickle(Metric, _reduced)


def is_built_in(path: Path) -> bool:
    """Tell whether a file has the content of a built-in metric, without running it."""
    return _built_in_metric_with(path) is not None


def _built_in_metric_with(path: Path) -> str | None:
    """Name the built-in metric that has the content of this file; None if there is none."""
    size = path.stat().st_size
    for name in names():
        file = built_in.file(name)
        if path.samefile(file) or (size == file.stat().st_size and path.read_bytes() == file.read_bytes()):
            return name
    return None


def files_of(metric: Location) -> Executed:
    """Read the files that a metric executes, its own first; a built-in metric has podium's companion."""
    path = find(metric)
    return executed.of_metric(path) if _built_in_metric_with(path) is None else {path.name: path.read_bytes()}


def _load_folder(path: Path, home: Path, key: str, files: Executed, is_built_in: bool = False) -> Metric:
    """Load a metric file and its companion from the contents of a folder; `key` names the package of both."""
    # Each folder is a package, so that a companion can say ``from . import metric``.
    package = f"{PACKAGE}.{key}"
    executed.open_package(package, home, None if is_built_in else files)
    read = {} if is_built_in else files  # podium's own are loaded as the package itself is
    if not is_built_in and (reason := foreign.not_a_metric(files[path.name])):
        raise UsageError(f"{_shown(path)} is not a metric file: {reason}")
    loaded = _run(path, f"{package}.metric", content=read.get(path.name))
    vars(sys.modules[package])["metric"] = loaded
    if not callable(vars(loaded).get("score")):
        raise UsageError(f"{_shown(path)} is not a metric file: it defines no score()")
    if vars(loaded).get("NAME") in names() and not is_built_in:
        raise HostError(
            f"{path.name}: expected a NAME of its own, because it stands in every signature; found "
            f"{loaded.NAME!r}, the name of a built-in metric, whose file differs"
        )
    companion = Companion()
    if COMPANION_FILE in files:
        of_companion = _run(
            home / COMPANION_FILE, f"{package}.companion", CompanionError, read.get(COMPANION_FILE)
        )
        companion = _defined(of_companion, "companion", None, Companion, error=CompanionError)
    of_strangers = {path.name: files[path.name]} if is_built_in else files
    metric = _metric(path, loaded, is_built_in, companion, of_strangers)
    if not is_built_in:
        shapes.demand(shapes.check_signature(metric))
        shapes.demand(shapes.check_prepare(metric))
    return guard.guarded(metric)


def _metric(
    path: Path, loaded: types.ModuleType, is_built_in: bool, companion: Companion, files: Executed
) -> Metric:
    """Make a metric of what its file defines; check the type of each definition."""
    # In the current folder, the path may be "metric.py" alone.
    of_path = Path(os.path.abspath(path)).parent.name if path.name == METRIC_FILE else path.stem
    prepare = _defined(loaded, "prepare", None, Callable, types.NoneType)
    if prepare is not None and list(inspect.signature(prepare).parameters)[:2] != FIRST_OF_PREPARE:
        prepare = None  # A function of this name may belong to a competition's own pipeline.
    return Metric(
        path=path,
        module=loaded,
        is_built_in=is_built_in,
        name=_defined(loaded, "NAME", of_path, str),
        version=_defined(loaded, "__version__", "?", str),
        score=loaded.score if is_built_in else adapted.in_signature(loaded.score),
        prepare=prepare,
        direction=_defined(loaded, "higher_is_better", None, Callable, types.NoneType),
        later_parameters=tuple(_defined(loaded, "LATER_PARAMETERS", (), tuple, list)),
        complete_submission=_defined(loaded, "COMPLETE_SUBMISSION", False, bool),
        measure_parameters=vars(loaded).get("MEASURE_PARAMETERS", ()) if is_built_in else (),
        companion=companion,
        files=files,
    )


def _defined(
    loaded: types.ModuleType, name: str, default: Any, *kinds: Any, error: type[HostError] = HostError
) -> Any:
    """Get what a file defines under a name of the contract, or the default; check its type."""
    value = vars(loaded).get(name, default)
    if not isinstance(value, kinds):
        words = ["a function" if kind is Callable else kind.__name__ for kind in kinds]
        expected = " or ".join(word for word in words if word != "NoneType")
        given = "nothing" if value is None else f"{type(value).__name__} {value!r:.60}"
        raise error(f"{Path(str(loaded.__file__)).name}: {name}: expected {expected}, found {given}")
    return value


def _run(
    path: Path, name: str, error: type[HostError] = HostError, content: bytes | None = None
) -> types.ModuleType:
    """Run the content of a file, or one of podium's own files, as a module; tell the host where it fails."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)

    def fault_of(problem: BaseException, description: str) -> ToolError:
        return error(f"{_shown(path)} cannot be loaded: {description}{_how_to_load(problem, path)}")

    _offer_utilities()
    sys.modules[name] = loaded  # Dataclasses and pickle look for the module there.
    try:
        with guard.entered(path, fault_of, is_built_in=content is None):
            if content is None:
                spec.loader.exec_module(loaded)
            else:
                exec(compile(content, path, "exec", dont_inherit=True), vars(loaded))
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return loaded


def _shown(path: Path) -> Path:
    """A path as somebody would type it in the current folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _offer_utilities() -> None:
    """Let metric files import Kaggle's module of helpers: a stand-in, unless it is installed."""
    if sys.modules.get(UTILITIES) is None and importlib.util.find_spec(UTILITIES) is None:
        sys.modules[UTILITIES] = importlib.import_module(f"podium.metric.{UTILITIES}")


def stands_beside(path: Path, package: str) -> bool:
    """Whether a package is a file or a folder beside a metric file."""
    beside = path.parent / f"{package}.py", path.parent / package / "__init__.py"
    return package not in sys.stdlib_module_names and any(file.is_file() for file in beside)


def _how_to_load(problem: BaseException, path: Path) -> str:
    """Tell the host what to do about a file that cannot be loaded, as the end of a message, or ""."""
    if isinstance(problem, SyntaxError):
        return of_notebook(problem) or f"; this is Python {sys.version_info.major}.{sys.version_info.minor}"
    if not isinstance(problem, ModuleNotFoundError):
        return ""
    package = (problem.name or "").partition(".")[0]
    if stands_beside(path, package):
        return f". {path.name} is uploaded alone: copy into it what it needs of {package}"
    return ". Install it where podium is installed"


def of_notebook(problem: BaseException) -> str:
    """Say what to do about a line that only a notebook understands, as the end of a message, or ""."""
    is_magic = isinstance(problem, SyntaxError) and (problem.text or "").lstrip().startswith(("%", "!"))
    return "; a line that begins with % or ! is a notebook's: take it out" if is_magic else ""
