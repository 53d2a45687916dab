"""What the bundles of all platforms have in common: the scoring program, and files in memory."""

import ast
import importlib.metadata
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from matplotlib.image import imsave

from podium import hosted
from podium.errors import HostError
from podium.hosting.competition import Competition

PACKAGE = Path(__file__).parents[1]
TEMPLATES = Path(__file__).with_name("templates")
START = "podium.hosting.judge"  # the module with which every program begins
METRIC = "metric_file.py"
LICENSE = "LICENSE"
# Packages by the name under which they are imported, where the registry calls them otherwise.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}
TIMESTAMP = (2024, 1, 23, 0, 0, 0)  # of everything in an archive: the same files give the same bytes
LOGO_SIZE, LOGO_COLOR = 64, (31, 78, 121)

Content = dict[str, bytes]  # by path within a bundle


def program(competition: Competition) -> Content:
    """All that scores a submission: the metric, its parameters and the modules that scoring needs.

    The modules are those that `podium.hosting.judge` and the metric's companion import, directly or not.
    Nothing of another library is among them.

    Returns
    -------
    Content
        ``metric_file.py``, ``settings.json``, the license, and the package in ``lib/``.
    """
    content = {
        METRIC: Path(str(competition.metric.__file__)).read_bytes(),
        "settings.json": to_json({"metric": METRIC, "arguments": competition.arguments}),
        f"lib/{LICENSE}": _license(),
    }
    starts = [START]
    name = getattr(competition.metric, "NAME", "")
    if name and _file_of(f"podium.companions.{name}") is not None:
        starts.append(f"podium.companions.{name}")
        # Companions read official files with the stages of the project's own metric.
        content[f"lib/podium/_hosted/{hosted.FILES[name]}"] = hosted.find(name).read_bytes()
    for path in modules(starts):
        content[f"lib/podium/{path.relative_to(PACKAGE).as_posix()}"] = path.read_bytes()
    return content


def modules(starts: list[str]) -> list[Path]:
    """The files of the package that some of its modules need, found by their import statements.

    Parameters
    ----------
    starts : list of str
        Names of modules, such as "podium.scoring".

    Returns
    -------
    list of Path
        Sorted; with the packages that the modules are in.
    """
    needed: set[Path] = set()
    names = list(starts)
    while names:
        parts = names.pop().split(".")
        for end in range(1, len(parts) + 1):
            path = _file_of(".".join(parts[:end]))
            if path is not None and path not in needed:
                needed.add(path)
                names += imported(path)
    return sorted(needed)


def imported(path: Path) -> Iterator[str]:
    """The names that a Python file imports anywhere; of ``from a import b`` both "a" and "a.b"."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file_of(name: str) -> Path | None:
    """The file of one of the package's modules."""
    top, *parts = name.split(".")
    path = PACKAGE.joinpath(*parts)
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if top == "podium" and file.is_file()), None)


def requirements(competition: Competition, *further: str) -> bytes:
    """A requirements.txt: what the metric imports, beside Python, and what scoring always needs."""
    path = Path(str(competition.metric.__file__))
    metric = {name.partition(".")[0] for name in imported(path)}
    known = importlib.metadata.packages_distributions()
    others = {DISTRIBUTIONS.get(name, name) for name in metric if name in known}
    return "".join(f"{name}\n" for name in sorted({"numpy", "pandas", *others, *further})).encode()


def _license() -> bytes:
    """Beside the package in a clone, in its metadata when installed."""
    beside = PACKAGE.parent / LICENSE
    if beside.is_file():
        return beside.read_bytes()
    text = importlib.metadata.distribution("podium").read_text(f"licenses/{LICENSE}")
    if text is None:
        raise HostError("the installed package lacks its license: install it anew")
    return text.encode()


def to_json(value: object) -> bytes:
    """A value as JSON, which is YAML, too."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def public_files(competition: Competition) -> Content:
    """What participants get, by path below ``public/``."""
    return {name: path.read_bytes() for name, path in competition.public.items()}


def within(folder: str, content: Mapping[str, bytes]) -> Content:
    """The same files below a folder."""
    return {f"{folder}/{name}": data for name, data in content.items()}


def to_zip(content: Mapping[str, bytes]) -> bytes:
    """An archive of the files; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name, TIMESTAMP), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def logo() -> bytes:
    """A square of one color as PNG, to be replaced by the host's own picture."""
    picture = io.BytesIO()
    square = np.full((LOGO_SIZE, LOGO_SIZE, 3), LOGO_COLOR, dtype=np.uint8)
    imsave(picture, square, format="png", metadata={"Software": "podium"})
    return picture.getvalue()
