"""Finding the submitted models in a folder."""

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from podium.errors import UsageError

SCRIPTS = ("run", "run.py", "run.sh")
CONTAINER = "container.txt"
ENTRIES = f"one notebook (*.ipynb), {', '.join(SCRIPTS)} or {CONTAINER}"
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,499}")
LONGEST_NAME = 200  # file systems end at 255 bytes
NAMES_SHOWN = 5


class Model(NamedTuple):
    """`entry` is the file to run, or a container's image; `kind` is "notebook", "script" or "container"."""

    team: str
    name: str
    folder: Path
    entry: str
    kind: str
    digest: str

    @property
    def key(self) -> str:
        return key_of(self.team, self.name)


class Failure(NamedTuple):
    """Safe to print."""

    team: str
    model: str
    reason: str


def key_of(team: str, name: str) -> str:
    return f"{team}/{name}" if name else team


def find_models(folder: Path) -> tuple[list[Model], list[Failure]]:
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    models: list[Model] = []
    failures: list[Failure] = []
    for place in _visible(folder):
        if place.is_symlink():
            failures.append(_failure(place.name, "", "a link, expected a folder"))
        elif place.is_dir():
            inner = [] if _entries(place) else [one for one in _visible(place) if _entries(one)]
            for home in inner or [place]:
                found = find_model(home, place.name, home.name if inner else "")
                if isinstance(found, Model):
                    models.append(found)
                else:
                    failures.append(found)
    if not models and not failures:
        if _entries(folder):
            raise UsageError(
                f"{folder} is a model itself: give the folder that has a folder per team, or --one"
            )
        raise UsageError(f"there are no models in {folder}; expected a folder per team with {ENTRIES}")
    return models, failures


def find_model(folder: Path, team: str, name: str = "") -> Model | Failure:
    try:
        entry, kind = _entry(folder)
        for part in (team, name):
            if not part.isprintable():
                raise ValueError("its name has characters that cannot be printed")
            if len(part.encode()) > LONGEST_NAME:
                raise ValueError(f"its name is longer than {LONGEST_NAME} bytes")
        return Model(team, name, folder, entry, kind, digest_of(folder))
    except (ValueError, OSError) as problem:
        return _failure(team, name, getattr(problem, "strerror", None) or str(problem))


def printable(text: str) -> str:
    """Text that does nothing to a terminal but end lines and move to tabs."""
    return "".join(
        one if one.isprintable() or one in "\n\t" else one.encode("unicode_escape", "surrogatepass").decode()
        for one in text
    )


def _failure(*texts: str) -> Failure:
    return Failure(*(printable(text).replace("\n", "\\n").replace("\t", "\\t") for text in texts))


def _visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _entries(folder: Path) -> list[str]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return [
        path.name for path in _visible(folder) if path.name in (*SCRIPTS, CONTAINER) or path.suffix == ".ipynb"
    ]


def _entry(folder: Path) -> tuple[str, str]:
    found = _entries(folder)
    if not found:
        others = ", ".join(path.name for path in _visible(folder)[:NAMES_SHOWN]) or "nothing"
        raise ValueError(f"no model: expected {ENTRIES}, found {others}")
    if len(found) > 1:
        raise ValueError(f"{len(found)} models in one folder: {', '.join(found)}; expected one")
    [name] = found
    path = folder / name
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ValueError(f"{name} is not a regular file")
    if name == CONTAINER:
        with path.open(encoding="ascii", errors="replace") as file:
            image = file.read(1000).strip()
        if not IMAGE.fullmatch(image):
            raise ValueError(f"{CONTAINER} names no image: expected something like docker.io/team/model:1")
        return image, "container"
    if name == "run":
        _check_executable(path)
    return name, "notebook" if path.suffix == ".ipynb" else "script"


def _check_executable(path: Path) -> None:
    if not os.access(path, os.X_OK):
        raise ValueError("run is not executable (chmod +x run)")
    with path.open("rb") as file:
        first = file.read(200).partition(b"\n")[0].decode("utf-8", "replace")
    if first.startswith("#!"):
        if first.endswith("\r"):
            raise ValueError("run has the line ends of Windows, expected those of Unix")
        interpreter = first[2:].split()[:1]
        if not interpreter or not Path(interpreter[0]).is_file():
            raise ValueError(f"run begins with {first}, which is not there")


def digest_of(folder: Path) -> str:
    """Of the names, sizes and times of all files."""
    digest = hashlib.sha256()
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            status = os.lstat(path)
            line = f"{os.path.relpath(path, folder)}\0{status.st_size}\0{status.st_mtime_ns}\n"
            digest.update(os.fsencode(line))
    return digest.hexdigest()[:16]
