"""Find and load a metric with its companion: by its name, as a file, or as a folder.

A metric is a folder with ``metric.py`` and, if there is more to tell than a score, ``companion.py`` (see
`podium.contract`). Podium's own metrics are the folders of ``metrics/``. The name of such a folder is the name
of the metric; no list repeats it. A file with the same content as one of them, such as the copy in a bundle, is
treated as that metric.
"""

import copyreg
import dataclasses
import functools
import importlib.util
import inspect
import linecache
import math
import numbers
import os
import sys
import time
import traceback
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from podium.contract import Companion, Metric, check_signature
from podium.errors import CompanionError, HostError, SubmissionRejected, ToolError, UsageError

__all__ = [
    "DEFAULT",
    "Metric",
    "defaults",
    "errors_explained",
    "find",
    "higher_is_better",
    "load",
    "module",
    "names",
    "parse_parameters",
    "settings",
    "signature",
    "stands_beside",
]

DEFAULT = "unified"  # the metric of a command that is not given one

# Metrics do not import podium, so their exceptions are known by these names.
VISIBLE: dict[str, type[ToolError]] = {
    "ParticipantVisibleError": SubmissionRejected,
    "HostVisibleError": HostError,
}

# The metrics are data of the package in a wheel, and stand beside the package in a clone.
_IN_WHEEL = Path(__file__).with_name("_hosted")
_ROOT = _IN_WHEEL if _IN_WHEEL.is_dir() else Path(__file__).parent.parent
_FOLDERS = _ROOT / "metrics"
LONGEST_TEXT = 1000  # characters of an unexpected exception's text
SECONDS_UNTIL_COMPILED = 2  # Python compares the times of files in whole seconds
_FILE, _COMPANION = "metric.py", "companion.py"
# Each folder becomes a package below this one, and its files become modules of that package.
_PACKAGE = "podium_metrics"


@functools.cache
def names() -> tuple[str, ...]:
    """List podium's own metrics.

    Returns
    -------
    tuple of str
        Their names, which are the names of their folders: the default one first, the others in alphabetical
        order.
    """
    folders = sorted(path.name for path in _FOLDERS.iterdir() if path.is_dir() and path.name[0] not in "._")
    return tuple(sorted(folders, key=lambda name: name != DEFAULT))


def folder(name: str) -> Path:
    """Find the folder of one of podium's own metrics, with its companion, its page and its samples.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Path
        The folder.
    """
    return _FOLDERS / name


def find(metric: str | Path) -> Path:
    """Find the file of a metric.

    Parameters
    ----------
    metric : str or Path
        One of `names`, a Python file, or a folder that has a ``metric.py``.

    Returns
    -------
    Path
        The metric file.

    Raises
    ------
    UsageError
        There is no such metric, or the name of the file does not end in ``.py``.
    """
    if str(metric) in names():
        return _own_file(str(metric))
    path = Path(metric)
    if path.is_dir():
        own = [name for name in names() if path.resolve() == folder(name).resolve()]
        path = _own_file(own[0]) if own else path / _FILE
        if not path.is_file():
            raise UsageError(f"{metric}: expected a folder with a {_FILE}, found none in it")
    if not path.is_file():
        raise UsageError(
            f"there is no metric {metric}: expected a Python file, a folder with a {_FILE}, or one of "
            f"{', '.join(names())}"
        )
    if path.suffix != ".py":
        raise UsageError(f"{path} is not a Python file")
    return path


def _own_file(name: str) -> Path:
    # The main metric is the file at the top of the repository, because its readers open that one first.
    path = folder(name) / _FILE
    return path if path.is_file() else _ROOT / _FILE


@functools.cache
def module(name: str, file: str = "metric") -> types.ModuleType:
    """Load one of podium's own files as a module.

    Parameters
    ----------
    name : str
        One of `names`, or "boost" for boost.py.
    file : {"metric", "companion"}
        Which file of the metric's folder. It is not used with "boost".

    Returns
    -------
    module
        The module, which is loaded once.
    """
    if name == "boost":
        return _load_file(_ROOT / "boost.py", "podium_boost")
    return sys.modules[f"{load(name).module.__package__}.{file}"]


def load(metric: str | Path) -> Metric:
    """Load a metric and its companion.

    Parameters
    ----------
    metric : str or Path
        One of `names`, a Python file, or a folder that has a ``metric.py``.

    Returns
    -------
    podium.contract.Metric
        The loaded metric. Podium's own metrics are loaded once, other files each time.

    Raises
    ------
    UsageError
        There is no such metric, or the file defines no ``score``.
    HostError
        The file or its companion cannot be run. Or one of its definitions is not of the type that the contract
        demands, or it has the ``NAME`` of one of podium's own metrics.
    """
    path = find(metric)
    own = _own_metric_with(path)
    if own is not None:
        return _load_own(own)
    return _load_folder(path, path.parent, sha256(str(path.resolve()).encode()).hexdigest()[:16], False)


@functools.cache
def _load_own(name: str) -> Metric:
    return _load_folder(_own_file(name), folder(name), name, True)


def _reduced(metric: Metric) -> tuple[Callable[[str], Metric], tuple[str]]:
    """Tell pickle to load the metric again in the other process, because a module cannot travel.

    A prepared solution names its metric before its other parts. So their classes, which the metric file
    defines, are known when they are read.
    """
    return load, (metric.name if metric.is_own else str(metric.path.resolve()),)


copyreg.pickle(Metric, _reduced)


def is_own(path: Path) -> bool:
    """Tell whether a file has the content of one of podium's own metrics, without running it.

    Parameters
    ----------
    path : Path
        A metric file.

    Returns
    -------
    bool
        True if the content is the same, byte for byte.
    """
    return _own_metric_with(path) is not None


def _own_metric_with(path: Path) -> str | None:
    """Name the one of podium's own metrics that has the content of this file; None if there is none."""
    size = path.stat().st_size
    for name in names():
        file = _own_file(name)
        if path.samefile(file) or (size == file.stat().st_size and path.read_bytes() == file.read_bytes()):
            return name
    return None


def _load_folder(path: Path, beside: Path, key: str, is_own: bool) -> Metric:
    """Load a metric file and the companion in the folder `beside` it; `key` names the package of both."""
    # Each folder is a package, so that a companion can say ``from . import metric``.
    package = f"{_PACKAGE}.{key}"
    for name, search in ((_PACKAGE, []), (package, [str(beside)])):
        if name not in sys.modules:
            parent = types.ModuleType(name)
            parent.__path__ = search
            sys.modules[name] = parent
    loaded = _load_or_explain(path, f"{package}.metric")
    vars(sys.modules[package])["metric"] = loaded
    has_companion = path.name == _FILE and (beside / _COMPANION).is_file()
    companion = Companion()
    if has_companion:
        file = beside / _COMPANION
        try:
            defined = vars(_load_or_explain(file, f"{package}.companion"))
            companion = _defined(file, defined, "companion", Companion, None)
        except HostError as problem:
            raise CompanionError(str(problem)) from problem.__cause__
    defined = vars(loaded)
    if not callable(defined.get("score")):
        raise UsageError(f"{path} is not a metric file: it defines no score()")
    if defined.get("NAME") in names() and not is_own:
        raise HostError(
            f"{path.name}: expected a NAME of its own, because it stands in every signature; found "
            f"{defined['NAME']!r}, the name of one of podium's own metrics, whose file differs"
        )
    prepare = _function(path, defined, "prepare")
    parameters = _defined(path, defined, "MEASURE_PARAMETERS", (tuple, list), ())
    unknown = [name for name in parameters if name not in inspect.signature(defined["score"]).parameters]
    if unknown:
        raise HostError(
            f"{path.name}: MEASURE_PARAMETERS: expected names of parameters of score(), found {unknown[0]!r}"
        )
    metric = Metric(
        path=path,
        module=loaded,
        is_own=is_own,
        name=_defined(path, defined, "NAME", str, name_of(path)),
        version=_defined(path, defined, "__version__", str, "?"),
        score=defined["score"],
        prepare=prepare,
        direction=_function(path, defined, "higher_is_better"),
        complete_submission=_defined(path, defined, "COMPLETE_SUBMISSION", bool, False),
        measure_parameters=tuple(parameters) if prepare is not None else (),
        companion=companion,
    )
    if is_own:
        return metric
    check_signature(metric)
    return dataclasses.replace(metric, companion=_guarded(metric))


def _guarded(metric: Metric) -> Companion:
    """The companion of a stranger's metric, whose functions raise a CompanionError that names the line."""

    def guard(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def guarded(*arguments: Any, **named: Any) -> Any:
            with errors_explained(metric, companion=True):
                return function(*arguments, **named)

        return guarded

    functions: dict[str, Any] = {
        field.name: guard(value)
        for field in dataclasses.fields(metric.companion)
        if inspect.isfunction(value := getattr(metric.companion, field.name))
    }
    return dataclasses.replace(metric.companion, **functions)


def name_of(path: Path) -> str:
    """Name a metric that does not define its ``NAME``.

    Parameters
    ----------
    path : Path
        The metric file.

    Returns
    -------
    str
        The name of the folder if the file is a ``metric.py``, and the name of the file otherwise.
    """
    # In the current folder, the path may be "metric.py" alone.
    return Path(os.path.abspath(path)).parent.name if path.name == _FILE else path.stem


def _defined(path: Path, defined: Mapping[str, Any], name: str, kind: Any, default: Any) -> Any:
    """Get what a file defines under a name of the contract, or the default; check its type."""
    value = defined.get(name, default)
    if not isinstance(value, kind):
        expected = " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
        given = "nothing" if value is None else f"{type(value).__name__} {value!r:.60}"
        raise HostError(f"{path.name}: {name}: expected {expected}, found {given}")
    return value


def _function(path: Path, defined: Mapping[str, Any], name: str) -> Callable[..., Any] | None:
    """Get an optional function of a file; check that it can be called."""
    value = defined.get(name)
    if value is not None and not callable(value):
        raise HostError(f"{path.name}: {name}: expected a function, found {type(value).__name__}")
    return typing.cast("Callable[..., Any] | None", value)


def _load_or_explain(path: Path, name: str) -> types.ModuleType:
    """Load a file as a module, and tell the host where it fails."""
    if b"\0" in path.read_bytes():
        raise HostError(f"{path} is not UTF-8 text: it has null bytes")
    try:
        with redirect_stdout(sys.stderr):
            return _load_file(path, name)
    except BaseException as problem:
        sys.modules.pop(name, None)
        if not _is_of_the_file(problem):
            raise
        hint = _how_to_import(problem, path) if isinstance(problem, ModuleNotFoundError) else ""
        if isinstance(problem, SyntaxError):
            hint = f"; this is Python {sys.version_info.major}.{sys.version_info.minor}"
        raise HostError(f"{path} cannot be loaded: {_described(problem, path.parent)}{hint}") from problem


def stands_beside(path: Path, package: str) -> bool:
    """Whether a package is a file or a folder beside a metric file.

    Parameters
    ----------
    path : Path
        The metric file, which is uploaded alone.
    package : str
        The name of a package or a module that it imports.

    Returns
    -------
    bool
        True if Python would find it only in the metric file's own folder.
    """
    beside = path.parent / f"{package}.py", path.parent / package / "__init__.py"
    return package not in sys.stdlib_module_names and any(file.is_file() for file in beside)


def _how_to_import(problem: ModuleNotFoundError, path: Path) -> str:
    """Tell the host what to do about a module that a file cannot import."""
    package = (problem.name or "").partition(".")[0]
    if stands_beside(path, package):
        return f". {path.name} is uploaded alone: copy into it what it needs of {package}"
    return ". Install it where podium is installed"


def _load_file(path: Path, name: str) -> types.ModuleType:
    """Run a file as a module of this name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded  # Dataclasses and pickle look for the module there.
    # Python trusts a compiled file whose source has the size and the second of before.  A file that was written
    # a moment ago may change once more within this second, so its compiled form is not kept.
    kept = sys.dont_write_bytecode
    sys.dont_write_bytecode = kept or time.time() - path.stat().st_mtime < SECONDS_UNTIL_COMPILED
    try:
        spec.loader.exec_module(loaded)
    finally:
        sys.dont_write_bytecode = kept
    return loaded


def higher_is_better(metric: Metric, arguments: Mapping[str, Any]) -> bool:
    """Tell whether a higher score is better.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric.
    arguments : mapping of str to object
        The arguments of ``score``, on which the answer may depend.

    Returns
    -------
    bool
        What the metric's ``higher_is_better`` returns; True if the metric has no such function.

    Raises
    ------
    HostError
        ``higher_is_better`` returned something else than True or False, or raised an exception.
    """
    if metric.direction is None:
        return True
    accepted = inspect.signature(metric.direction).parameters
    takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in accepted.values())
    known = defaults(metric) if takes_all else accepted
    with errors_explained(metric):
        answer = metric.direction(**{name: value for name, value in arguments.items() if name in known})
    if not isinstance(answer, bool | np.bool_):
        raise HostError(
            f"{metric.path.name}: higher_is_better(): expected True or False, "
            f"found {type(answer).__name__} {answer!r:.60}"
        )
    return bool(answer)


def defaults(metric: Metric) -> dict[str, Any]:
    """List the official parameters of a metric.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric.

    Returns
    -------
    dict of str to object
        The default of each argument of ``score`` after the first three.
    """
    parameters = list(inspect.signature(metric.score).parameters.values())[3:]
    return {parameter.name: parameter.default for parameter in parameters}


def settings(metric: Metric, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """List every parameter of ``score`` with the value that it takes.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric.
    arguments : mapping of str to object
        The arguments that were given.

    Returns
    -------
    dict of str to object
        Each parameter with the given value, or else with its official value.
    """
    return {name: arguments.get(name, default) for name, default in defaults(metric).items()}


def signature(metric: Metric, parameters: Mapping[str, Any]) -> str:
    """Make the signature to quote with a score: the metric's name, its version and every parameter.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric.
    parameters : mapping of str to object
        The arguments of ``score`` that were given.

    Returns
    -------
    str
        ``metric:NAME|version:VERSION|PARAMETER:VALUE|…``. Equal settings give equal texts: if ``score`` asks
        for a float, 1 is written as 1.0.

    Notes
    -----
    The form follows sacrebleu (Post, “A Call for Clarity in Reporting BLEU Scores”, 2018).
    """
    parts: dict[str, Any] = {"metric": metric.name, "version": metric.version}
    kinds = _types(metric)
    for name, value in settings(metric, parameters).items():
        parts[name] = float(value) if kinds[name] is float and isinstance(value, numbers.Real) else value
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def check_parameters(metric: Metric, parameters: Mapping[str, Any]) -> None:
    """Check that ``score`` has all of these parameters.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric.
    parameters : mapping of str to object
        The parameters; only their names matter.

    Raises
    ------
    HostError
        ``score`` has no parameter of that name.
    """
    accepted = list(inspect.signature(metric.score).parameters)[2:]
    for name in parameters:
        if name not in accepted:
            raise HostError(f"the metric has no parameter {name}; it has {', '.join(accepted)}")


def parse_parameters(metric: Metric, assignments: list[str]) -> dict[str, Any]:
    """Turn texts of the form ``NAME=VALUE`` into arguments of ``score``.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric. The annotations of its ``score`` say which type a value has. Without an annotation, the
        default says it.
    assignments : list of str
        The texts, as ``--set`` takes them.

    Returns
    -------
    dict of str to object
        The values by name. The text "none" means None for an optional parameter, and commas separate the
        elements of a list or a tuple.

    Raises
    ------
    UsageError
        A text has another form, or a name is given twice.
    HostError
        The metric has no such parameter, or the value is not of its type.
    """
    kinds = _types(metric)
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise UsageError(f"--set {assignment}: expected NAME=VALUE")
        if name in values:
            raise UsageError(f"--set {name} is given twice")
        check_parameters(metric, {name: text})
        try:
            values[name] = _convert(text, kinds[name])
        except ValueError as problem:
            raise HostError(f"{name} is {text!r}: {problem}") from None
    return values


def _types(metric: Metric) -> dict[str, Any]:
    """The type of each parameter of ``score``: its annotation, or else the type of its default."""
    types_of: dict[str, Any] = {}
    for name, parameter in inspect.signature(metric.score).parameters.items():
        annotation, default = parameter.annotation, parameter.default
        if isinstance(annotation, str):  # It is in quotes, or the file imports annotations from __future__.
            try:
                annotation = typing.get_type_hints(metric.score)[name]
            except Exception:  # An annotation may name what is not there, or be no type at all.
                annotation = inspect.Parameter.empty
        if annotation in (inspect.Parameter.empty, Any):
            annotation = str if default in (inspect.Parameter.empty, None) else type(default)
        if annotation in (list, tuple) and isinstance(default, list | tuple) and default:
            annotation = types.GenericAlias(annotation, (type(default[0]),))
        types_of[name] = annotation
    return types_of


def _convert(text: str, annotation: Any) -> Any:
    """Convert a text to the type that an annotation names; a ValueError says what was expected."""
    origin, inner = typing.get_origin(annotation) or annotation, typing.get_args(annotation)
    if origin is typing.Literal:
        values = {
            str(value).lower() if isinstance(value, bool | None) else str(value): value for value in inner
        }
        if text not in values:
            raise ValueError(f"expected one of {', '.join(values)}")
        return values[text]
    if origin in (list, tuple):
        kind = inner[0] if inner else str
        return origin(_convert(part.strip(), kind) for part in text.split(",") if text.strip())
    if origin in (typing.Union, types.UnionType):
        return _convert_to_any(text, inner)
    if annotation is bool:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in words:
            raise ValueError("expected true or false")
        return words[text.lower()]
    if annotation in (int, float):
        with suppress(ValueError, OverflowError):
            number = annotation(text)
            if not math.isnan(number):
                return number
        raise ValueError(f"expected a {'whole ' if annotation is int else ''}number")
    return text


def _convert_to_any(text: str, options: tuple[Any, ...]) -> Any:
    """Convert a text to the first type that fits it; the text none means None where that is one of them."""
    kinds = [option for option in options if option is not type(None)]
    if len(kinds) < len(options) and text.lower() == "none":
        return None
    expected = []
    for kind in kinds:
        try:
            return _convert(text, kind)
        except ValueError as problem:
            expected.append(str(problem).removeprefix("expected "))
    if len(kinds) < len(options):
        expected.append("none")
    raise ValueError(f"expected {' or '.join(expected)}")


@contextmanager
def errors_explained(
    metric: Metric | None = None, submission: bool = False, companion: bool = False
) -> Iterator[None]:
    """Turn the exceptions of a metric or of its companion into podium's own.

    To be used in a ``with`` statement. What a metric that is not podium's own prints goes to stderr meanwhile,
    so that it does not mix with what a command prints.

    Parameters
    ----------
    metric : podium.contract.Metric, optional
        The metric that runs. With it, the text of an unexpected error names the file and the line, and shows
        the line.
    submission : bool
        Whether the metric reads a submission, whose content may cause the unexpected error. The host is then
        told how to reject such a submission.
    companion : bool
        Whether the companion runs, not the metric.

    Yields
    ------
    None
        Nothing; the statements of the ``with`` block run.

    Raises
    ------
    SubmissionRejected
        The metric raised a ``ParticipantVisibleError``. The text is the same.
    HostError
        The metric raised a ``HostVisibleError``, whose text is the same, or any other exception. It is a
        `CompanionError` if the companion runs.
    """
    is_foreign = metric is not None and not metric.is_own
    try:
        with redirect_stdout(sys.stderr) if is_foreign else nullcontext():
            yield
    except ToolError:
        raise
    except BaseException as problem:
        if not _is_of_the_file(problem):
            raise  # It was raised by the user's Ctrl+C, or by a limit of processor time.
        name = type(problem).__name__
        if companion:
            what = _described(problem, None if metric is None else metric.path.parent)
            raise CompanionError(f"the companion raised an unexpected error: {what}") from problem
        if name in VISIBLE:
            raise VISIBLE[name](str(problem)) from problem
        where = None if metric is None else metric.path.parent
        hint = ""
        if isinstance(problem, FileNotFoundError):
            hint = ". A metric file is uploaded alone, so it cannot read other files"
        elif submission:
            hint = ". If the submission is at fault, raise ParticipantVisibleError for such input"
        raise HostError(
            f"the metric raised an unexpected error: {_described(problem, where)}{hint}"
        ) from problem


def _is_of_the_file(problem: BaseException) -> bool:
    """Tell whether a metric's file raised an exception, and not somebody who wants to end the process."""
    kind = type(problem)
    # A library in Rust, such as polars, panics with an exception that is no Exception.
    is_panic = kind is BaseException or kind.__name__ == "PanicException"
    return isinstance(problem, Exception | SystemExit) or is_panic or kind.__module__.startswith(_PACKAGE)


def shortened(text: str) -> str:
    """Cut a text that somebody else's exception may have filled with tables.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    str
        At most `LONGEST_TEXT` characters of it.
    """
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def _described(problem: BaseException, folder: Path | None = None) -> str:
    """Describe an exception, with the line in a file of this folder that raised it."""
    text = shortened(f"{type(problem).__name__}: {' '.join(str(problem).split())}").removesuffix(": ")
    frames = traceback.extract_tb(problem.__traceback__)
    # The folder may be relative. The names of frames are not, except those of no file, such as "<string>".
    here = None if folder is None else folder.resolve()
    files = [frame for frame in frames if Path(frame.filename).is_absolute()]
    inside = [frame for frame in files if Path(frame.filename).resolve().parent == here]
    if not inside or inside[-1].lineno is None:
        return text
    file, number = inside[-1].filename, inside[-1].lineno
    return f"{text} ({Path(file).name}, line {number}: {linecache.getline(file, number).strip()})"
