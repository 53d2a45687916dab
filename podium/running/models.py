"""Finding the submitted models in a folder.

Whatever is wrong with one team's folder is that team's failure: every other model is run.
"""

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from podium.errors import UsageError
from podium.wording import printable

__all__ = ["Failure", "Model", "digest_of", "find_model", "find_models"]

SCRIPTS = ("run", "run.py", "run.sh")
CONTAINER = "container.txt"
ENTRIES = f"one notebook (*.ipynb), {', '.join(SCRIPTS)} or {CONTAINER}"
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,499}")
LONGEST_NAME = 200  # file systems end at 255 bytes
MOST_FILES = 200_000
MOST_MODELS = 100  # of a team
NAMES_SHOWN = 5


class Model(NamedTuple):
    """A model that can be run.

    Attributes
    ----------
    team : str
        The name of the team's folder.
    name : str
        The name of the model's folder in it, or "" where the team's folder is the model.
    folder : Path
    entry : str
        The file to run, or a container's image.
    kind : str
        "notebook", "script" or "container".
    digest : str
        Of its files, as `digest_of` gives it.
    """

    team: str
    name: str
    folder: Path
    entry: str
    kind: str
    digest: str

    @property
    def key(self) -> str:
        """The name in messages."""
        return key_of(self.team, self.name)


class Failure(NamedTuple):
    """A model without predictions, and why; safe to print.

    Attributes
    ----------
    team, model, reason : str
    """

    team: str
    model: str
    reason: str


def key_of(team: str, name: str) -> str:
    """A model's name in messages: the team's, and its own where a team has several.

    Examples
    --------
    >>> key_of("Red", ""), key_of("Red", "second")
    ('Red', 'Red/second')
    """
    return f"{team}/{name}" if name else team


def find_models(folder: Path) -> tuple[list[Model], list[Failure]]:
    """The models in a folder that has a folder per team.

    Parameters
    ----------
    folder : Path
        In it each team has a folder, which is a model or has a folder for each of several models.

    Returns
    -------
    models : list of Model
    failures : list of Failure
        The teams' folders in which something is wrong.

    Raises
    ------
    UsageError
        Where there is no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    models: list[Model] = []
    failures: list[Failure] = []
    for team in _visible(folder):
        try:
            results = _models_of_team(team)
        except OSError as problem:
            results = [_failure(team.name, "", problem.strerror or str(problem))]
        for result in results:
            if isinstance(result, Model):
                models.append(result)
            else:
                failures.append(result)
    if not models and not failures:
        if _entries(folder):
            raise UsageError(
                f"{folder} is a model itself: give the folder that has a folder per team, or --one"
            )
        raise UsageError(f"there are no models in {folder}; expected a folder per team with {ENTRIES}")
    return models, failures


def _models_of_team(team: Path) -> list[Model | Failure]:
    """The models in a team's folder; nothing for a file beside the folders."""
    if team.is_symlink():
        return [_failure(team.name, "", "a link, expected a folder")]
    if not team.is_dir():
        return []
    if _entries(team):
        return [find_model(team, team.name)]
    inner: list[Model | Failure] = []
    for folder in _visible(team):
        try:
            is_model = bool(_entries(folder))
        except OSError as problem:
            inner.append(_failure(team.name, folder.name, problem.strerror or str(problem)))
            continue
        if is_model:
            inner.append(find_model(folder, team.name, folder.name))
        if len(inner) > MOST_MODELS:
            return [_failure(team.name, "", f"more than {MOST_MODELS} models")]
    return inner or [find_model(team, team.name)]


def find_model(folder: Path, team: str, name: str = "") -> Model | Failure:
    """The model in a folder, or why there is none.

    Parameters
    ----------
    folder : Path
    team, name : str
        Whose it is, and its name where a team has several.

    Returns
    -------
    Model or Failure
    """
    try:
        for text in (team, name):
            if not text.isprintable():
                raise ValueError("its name has characters that cannot be printed")
            if len(text.encode()) > LONGEST_NAME:
                raise ValueError(f"its name is longer than {LONGEST_NAME} bytes")
        entry, kind = _entry(folder)
        return Model(team, name, folder, entry, kind, digest_of(folder))
    except (ValueError, OSError) as problem:
        return _failure(team, name, getattr(problem, "strerror", None) or str(problem))


def _failure(*texts: str) -> Failure:
    """A failure of which each text stands on one line."""
    return Failure(*map(printable, texts))


def _visible(folder: Path) -> list[Path]:
    """What is in a folder, but for hidden names."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _entries(folder: Path) -> list[str]:
    """The names of what could be run in a folder."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    return [
        path.name for path in _visible(folder) if path.name in (*SCRIPTS, CONTAINER) or path.suffix == ".ipynb"
    ]


def _entry(folder: Path) -> tuple[str, str]:
    """What to run in a folder, and its kind."""
    entries = _entries(folder)
    if not entries:
        others = ", ".join(path.name for path in _visible(folder)[:NAMES_SHOWN]) or "nothing"
        raise ValueError(f"no model: expected {ENTRIES}, found {others}")
    if len(entries) > 1:
        listed = ", ".join(entries[:NAMES_SHOWN])
        raise ValueError(f"{len(entries)} models in one folder: {listed}; expected one")
    [name] = entries
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
        _require_executable(path)
    return name, "notebook" if path.suffix == ".ipynb" else "script"


def _require_executable(path: Path) -> None:
    """ValueError where a program cannot be started."""
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
    """A digest of the names, sizes and times of all files in a folder.

    Parameters
    ----------
    folder : Path
        However deep; links are not followed.

    Returns
    -------
    str
        Equal for equal files, whatever order the file system lists them in.

    Raises
    ------
    OSError
        Where a folder cannot be read.
    ValueError
        Where there are more than `MOST_FILES` files.
    """
    lines, top = [], os.path.join(folder, "")
    waiting = [top]
    while waiting:  # without recursion: a thousand folders within each other are no reason to stop
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                about, name = entry.stat(follow_symlinks=False), entry.path[len(top) :]
                if stat.S_ISDIR(about.st_mode):
                    waiting.append(entry.path)
                    lines.append(f"{name}/\n")
                else:
                    lines.append(f"{name}\0{about.st_size}\0{about.st_mtime_ns}\n")
                if len(lines) > MOST_FILES:
                    raise ValueError(f"more than {MOST_FILES:,} files")
    digest = hashlib.sha256()
    for line in sorted(lines):
        digest.update(os.fsencode(line))
    return digest.hexdigest()[:16]
