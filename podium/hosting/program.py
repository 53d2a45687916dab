"""The parts that the bundles of all platforms share: the scoring program, and files in memory."""

import ast
import importlib.metadata
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from podium import hosted
from podium.errors import HostError
from podium.hosted import Metric
from podium.hosting.competition import Competition

PACKAGE = Path(__file__).parents[1]
TEMPLATES = Path(__file__).with_name("templates")
START = "podium.hosting.judge"  # the module that every scoring program imports
# A companion may import modules that take no part in scoring.  They are left out, except the needed ones.
NEEDED = ("podium.hosting", START)
UNNEEDED = (
    "podium.cli",
    "podium.essays.corpus",
    "podium.hosting",
    "podium.ranking",
    "podium.report",
    "podium.running",
)
METRIC, COMPANION = "metric/metric.py", "companion.py"
LICENSE = "LICENSE"
# Packages that pip knows under another name than Python.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}
TIMESTAMP = (2024, 1, 23, 0, 0, 0)  # the same for everything in an archive, so that its bytes can be reproduced

Content = dict[str, bytes]  # the content of each file by its path within a bundle


def scoring_program(competition: Competition) -> Content:
    """Collect all files that score a submission: the metric, its parameters and the modules that scoring needs.

    The modules are those of podium that `podium.hosting.judge` and the metric's companion import, directly or
    indirectly.  Other libraries are not included.

    Parameters
    ----------
    competition : Competition
        The competition to pack.

    Returns
    -------
    Content
        The metric, ``settings.json``, and in ``lib/`` the modules of podium with their license.
    """
    files = [competition.metric.path, *_beside(competition.metric)]
    content = {
        METRIC: competition.metric.path.read_bytes(),
        **{f"metric/{path.name}": path.read_bytes() for path in files[1:]},
        "settings.json": to_json({"metric": METRIC, "arguments": competition.arguments}),
        f"lib/{LICENSE}": _license(),
        # `podium.hosted` searches this folder for podium's own metrics, so it has to exist.
        "lib/podium/_hosted/metrics/README.md": b"Only the metric of this competition is here.\n",
    }
    if competition.metric.is_own:
        own = f"lib/podium/_hosted/metrics/{competition.metric.name}"
        content |= {f"{own}/{path.name}": path.read_bytes() for path in files}
    for path in modules([START], files):
        content[f"lib/podium/{path.relative_to(PACKAGE).as_posix()}"] = path.read_bytes()
    return content


def _beside(metric: Metric) -> list[Path]:
    """The companion of a metric, and the files of its folder that the metric or the companion imports.

    Nothing else of the folder goes out. A test, a draft or a note beside the metric may tell the solution.
    """
    folder = hosted.folder(metric.name) if metric.is_own else metric.path.parent
    companion = folder / COMPANION
    has_companion = companion.is_file() and (metric.is_own or metric.path.name == Path(METRIC).name)
    needed: set[Path] = set()
    files = [metric.path, companion] if has_companion else [metric.path]
    while files:
        path = files.pop()
        if path not in needed:
            needed.add(path)
            files += _imported_beside(path, folder)
    return sorted(needed - {metric.path})


def _imported_beside(path: Path, folder: Path) -> Iterator[Path]:
    """The files of a folder that one of its files imports relatively, as by ``from .helpers import count``."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        for name in [node.module] if node.module else [alias.name for alias in node.names]:
            beside = folder / f"{name}.py"
            if node.level > 1 or not (beside.is_file() or name == Path(METRIC).stem):
                found = f"{'.' * node.level}{name}"
                raise HostError(
                    f"{path.name}, line {node.lineno}: expected the import of a file beside it, found {found}, "
                    "which a bundle cannot take along"
                )
            if beside.is_file():
                yield beside


def modules(starts: Iterable[str], files: Iterable[Path]) -> list[Path]:
    """Find the files of the package that scoring needs, by following import statements.

    Parameters
    ----------
    starts : iterable of str
        The names of modules to begin with, such as "podium.scoring".
    files : iterable of Path
        Other Python files to begin with.

    Returns
    -------
    list of Path
        The files in sorted order, with the ``__init__.py`` of every package that contains one of them.
    """
    needed: set[Path] = set()
    names = [*starts, *(name for path in files for name in imported(path))]
    while names:
        parts = names.pop().split(".")
        for end in range(1, len(parts) + 1):
            name = ".".join(parts[:end])
            path = _file_of(name)
            is_needed = name in NEEDED or not name.startswith(UNNEEDED)
            if path is not None and is_needed and path not in needed:
                needed.add(path)
                names += imported(path)
    return sorted(needed)


def imported(path: Path) -> Iterator[str]:
    """List the names that a Python file imports when it runs.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    str
        A name such as "os".  For ``from a import b`` these are both "a" and "a.b".
    """
    nodes: list[ast.AST] = [ast.parse(path.read_bytes())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file_of(name: str) -> Path | None:
    """The file of a module of podium; None for any other name."""
    top, *parts = name.split(".")
    path = PACKAGE.joinpath(*parts)
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if top == "podium" and file.is_file()), None)


def requirements(competition: Competition, *further: str) -> bytes:
    """Write a ``requirements.txt`` for the scoring program.

    Parameters
    ----------
    competition : Competition
        The competition to pack.
    *further : str
        Further packages that the platform's program needs.

    Returns
    -------
    bytes
        The packages that the metric and its companion import, and those that scoring always needs.
    """
    files = [competition.metric.path, *_beside(competition.metric)]
    metric = {name.partition(".")[0] for path in files for name in imported(path)} - {"podium"}
    known = importlib.metadata.packages_distributions()
    others = {DISTRIBUTIONS.get(name, name) for name in metric if name in known}
    return "".join(f"{name}\n" for name in sorted({"numpy", "pandas", *others, *further})).encode()


def _license() -> bytes:
    """The text of the license: in a clone it lies beside the package, otherwise in its metadata."""
    beside = PACKAGE.parent / LICENSE
    if beside.is_file():
        return beside.read_bytes()
    text = importlib.metadata.distribution("podium").read_text(f"licenses/{LICENSE}")
    if text is None:
        raise HostError("the installed package lacks its license: install it anew")
    return text.encode()


def to_json(value: object) -> bytes:
    """Write a value as JSON, which is valid YAML as well.

    Parameters
    ----------
    value : object
        Anything that JSON can hold.

    Returns
    -------
    bytes
        The text in UTF-8, with a line break at its end.
    """
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def public_files(competition: Competition) -> Content:
    """Read the files that participants get.

    Parameters
    ----------
    competition : Competition
        The competition to pack.

    Returns
    -------
    Content
        The files by their paths below ``public/``.
    """
    return {name: path.read_bytes() for name, path in competition.public.items()}


def within(folder: str, content: Mapping[str, bytes]) -> Content:
    """Move files into a folder.

    Parameters
    ----------
    folder : str
        The path of the folder.
    content : mapping of str to bytes
        The files by their paths.

    Returns
    -------
    Content
        The same files with the folder in front of their paths.
    """
    return {f"{folder}/{name}": data for name, data in content.items()}


def to_zip(content: Mapping[str, bytes]) -> bytes:
    """Pack files into a zip archive.

    Parameters
    ----------
    content : mapping of str to bytes
        The files by their paths.

    Returns
    -------
    bytes
        The archive.  The same files always give the same bytes.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name, TIMESTAMP), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def logo() -> bytes:
    """Read the placeholder for the host's own picture.

    Returns
    -------
    bytes
        A square of one color as PNG.
    """
    return (TEMPLATES / "logo.png").read_bytes()
