"""Find the submitted models in a folder.

Something wrong with a team's folder is a failure of that team alone: podium runs all other models.
"""

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from podium.errors import UsageError
from podium.wording import printable, spreadsheet_original

__all__ = ["Failure", "Model", "digest_of", "find_model", "find_models"]

SCRIPTS = ("run", "run.py", "run.sh")
CONTAINER = "container.txt"
ENTRIES = f"one notebook (*.ipynb), {', '.join(SCRIPTS)} or {CONTAINER}"
# The name of an image in a registry.  Podman would take names such as dir:/folder from the machine's disk.
IMAGE = re.compile(
    r"(?!(containers-storage|dir|docker-archive|docker-daemon|oci|oci-archive|ostree|sif|tarball):)"
    r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,499}"
)
LONGEST_NAME = 200  # bytes; file systems allow 255, and podium appends to the names
MOST_FILES = 200_000  # in a model's folder
MOST_MODELS = 100  # in a team's folder
NAMES_SHOWN = 5  # in a message
WINDOWS = "{name}: expected the line ends of Unix, found those of Windows; convert it with dos2unix"
SCRIPT_READ = 1 << 20  # bytes of a script in which line ends are looked for


class Model(NamedTuple):
    """A model that can be run.

    Attributes
    ----------
    team : str
        The name of the team's folder.
    name : str
        The name of the model's folder in it, or "" where the team's folder is the model.
    folder : Path
        The model's folder.
    entry : str
        The name of the file to run, or of the container's image.
    kind : str
        "notebook", "script" or "container".
    digest : str
        The digest of the model's files; see `digest_of`.
    """

    team: str
    name: str
    folder: Path
    entry: str
    kind: str
    digest: str

    @property
    def key(self) -> str:
        """The model's name in messages; see `key_of`."""
        return key_of(self.team, self.name)


class Failure(NamedTuple):
    """A model without predictions.

    Its texts have no characters that could disturb a terminal.

    Attributes
    ----------
    team : str
        The team's name.
    model : str
        The model's name, or "" if the team has a single model.
    reason : str
        Why there are no predictions.
    """

    team: str
    model: str
    reason: str


def key_of(team: str, name: str) -> str:
    """Make a model's name for messages.

    Parameters
    ----------
    team : str
        The team's name.
    name : str
        The model's name, or "" if the team has a single model.

    Returns
    -------
    str
        The team's name, followed by the model's own name if the team has several models.

    Examples
    --------
    >>> key_of("Red", ""), key_of("Red", "second")
    ('Red', 'Red/second')
    """
    return f"{team}/{name}" if name else team


def find_models(folder: Path) -> tuple[list[Model], list[Failure]]:
    """Find the models in a folder that has a folder for each team.

    Parameters
    ----------
    folder : Path
        The folder with the teams' folders.  A team's folder is a model, or has a folder for each of its models.

    Returns
    -------
    models : list of Model
        The models that can be run, sorted by team and name.
    failures : list of Failure
        What is wrong in other folders, such as a team's folder without a model.

    Raises
    ------
    UsageError
        If the folder does not exist, has no teams, or is itself a model.
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
    """The models in a team's folder, or nothing if `team` is a file beside the teams' folders."""
    if team.is_symlink():
        return [_failure(team.name, "", "expected a folder, found a link")]
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
    """Find the model in a folder.

    Parameters
    ----------
    folder : Path
        The model's folder.
    team : str
        The name of the team.
    name : str
        The model's name, or "" if the team has a single model.

    Returns
    -------
    Model or Failure
        The model, or why the folder has none that can be run.
    """
    try:
        for text in (team, name):
            if not text.isprintable():
                raise ValueError("its name has characters that cannot be printed")
            if spreadsheet_original(text) != text:
                raise ValueError("its name begins with the apostrophe that tables have before = + - @")
            if len(text.encode()) > LONGEST_NAME:
                raise ValueError(f"its name is longer than {LONGEST_NAME} bytes")
        entry, kind = _entry(folder)
        return Model(team, name, folder, entry, kind, digest_of(folder))
    except (ValueError, OSError) as problem:
        return _failure(team, name, getattr(problem, "strerror", None) or str(problem))


def _failure(*texts: str) -> Failure:
    """A failure whose texts are each on one line and safe to print."""
    return Failure(*map(printable, texts))


def _visible(folder: Path) -> list[Path]:
    """The files and folders in a folder, sorted by name, without hidden ones."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _entries(folder: Path) -> list[str]:
    """The names of the files in a folder that podium could run."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    return [
        path.name for path in _visible(folder) if path.name in (*SCRIPTS, CONTAINER) or path.suffix == ".ipynb"
    ]


def _entry(folder: Path) -> tuple[str, str]:
    """The file or image to run in a folder, and the kind of model that it is."""
    entries = _entries(folder)
    if not entries:
        others = ", ".join(path.name for path in _visible(folder)[:NAMES_SHOWN]) or "nothing"
        raise ValueError(f"there is no model: expected {ENTRIES}, found {others}")
    if len(entries) > 1:
        listed = ", ".join(entries[:NAMES_SHOWN])
        raise ValueError(f"expected one model in the folder, found {len(entries)}: {listed}")
    [name] = entries
    path = folder / name
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ValueError(f"{name} is not a regular file")
    if name == CONTAINER:
        with path.open(encoding="ascii", errors="replace") as file:
            image = file.read(1000).strip()
        if not IMAGE.fullmatch(image):
            raise ValueError(f"{CONTAINER} names no image: expected a name such as docker.io/team/model:1")
        return image, "container"
    if name == "run":
        _require_executable(path)
    if name == "run.sh":
        _require_unix_line_ends(path)
    return name, "notebook" if path.suffix == ".ipynb" else "script"


def _require_executable(path: Path) -> None:
    """Raise a ValueError if the program ``run`` cannot be started."""
    if not os.access(path, os.X_OK):
        raise ValueError("run is not executable (chmod +x run)")
    with path.open("rb") as file:
        first = file.read(200).partition(b"\n")[0].decode("utf-8", "replace")
    if first.startswith("#!"):
        if first.endswith("\r"):
            raise ValueError(WINDOWS.format(name="run"))
        interpreter = first[2:].split()[:1]
        if not interpreter or not Path(interpreter[0]).is_file():
            raise ValueError(f"run begins with {first}, but that program does not exist")


def _require_unix_line_ends(path: Path) -> None:
    """Raise a ValueError if every line of a script for ``sh`` ends as lines do on Windows."""
    with path.open("rb") as file:
        start = file.read(SCRIPT_READ)
    if 0 < start.count(b"\n") == start.count(b"\r\n"):
        raise ValueError(WINDOWS.format(name=path.name))


def digest_of(folder: Path) -> str:
    """Compute a digest of the names, sizes and times of all files in a folder.

    Parameters
    ----------
    folder : Path
        The folder; folders within it are included, and links are not followed.

    Returns
    -------
    str
        16 hexadecimal digits.  They do not depend on the order in which the file system lists the files.

    Raises
    ------
    OSError
        If a folder cannot be read.
    ValueError
        If there are more than `MOST_FILES` files and folders.
    """
    lines, top = [], os.path.join(folder, "")
    waiting = [top]
    while waiting:  # not by recursion, which would fail on a thousand folders within each other
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
