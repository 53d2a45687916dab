"""Find the submitted models in a folder.

Something wrong with a team's folder is a failure of that team alone: podium runs all other models.
"""

import contextlib
import enum
import hashlib
import itertools
import math
import os
import re
import shutil
import stat
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from podium.common import progress
from podium.common.errors import UsageError
from podium.common.options import as_option
from podium.common.progress import tell
from podium.common.statements import say
from podium.common.wording import listed, printable
from podium.running.settings import size
from podium.tables.files import parse_json
from podium.tables.names import fault_of_name, is_of_system, left_out

SHELL_SCRIPTS = ("run", "run.sh")
SCRIPTS = ("run", "run.py", "run.sh")
CONTAINER = "container.txt"
PACKED = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
ENTRIES = f"one notebook (*.ipynb), {', '.join(SCRIPTS)} or {CONTAINER}"
# The name of an image in a registry. Podman would take names such as dir:/folder from the machine's disk.
IMAGE = re.compile(
    r"(?!(containers-storage|dir|docker-archive|docker-daemon|oci|oci-archive|ostree|sif|tarball):)"
    r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,499}"
)
LONGEST_NAME = 200  # bytes; file systems allow 255, and podium appends to the names
# What Git has in place of a large file that was not fetched.
POINTER, LARGEST_POINTER = b"version https://git-lfs.github.com/spec/v1", 1024
MOST_FILES = 200_000  # in a model's folder
MOST_MODELS = 100  # in a team's folder
LARGE = 2**30  # bytes: more take seconds to read, so that the organizer is told
READ_AT_ONCE = 2**22  # bytes
NAMES_SHOWN = 5  # in a message
FIRST_LINE = 256  # bytes of the line that names the interpreter, as in the kernel
MOST_OF_A_NOTEBOOK = 1 << 28  # bytes of one whose language is looked at
SCRIPT_READ = 1 << 20  # bytes of a script in which line ends are looked for


class Kind(enum.Enum):
    """How a model is started."""

    NOTEBOOK = "notebook"
    SCRIPT = "script"
    CONTAINER = "container"


class Model(NamedTuple):
    """A model that can be run."""

    team: str  # the name of the team's folder
    name: str  # the name of the model's folder in it, or "" where the team's folder is the model
    folder: Path  # the model's folder
    entry: str  # the name of the file to run, or of the container's image
    kind: Kind
    digest: str = ""  # of the model's files and image, once it is the model's turn, see `with_digest`
    image: str = ""  # the id of a container's image, once it was pulled

    @property
    def key(self) -> str:
        """The model's name in messages; see `key_of`."""
        return key_of(self.team, self.name)


class Failure(NamedTuple):
    """A model without predictions.

    Its texts have no characters that could disturb a terminal.
    """

    team: str  # the team's name
    model: str  # the model's name, or "" if the team has a single model
    reason: str  # why there are no predictions, in words that everybody may read
    printed: str = ""  # what the model printed at last or left behind, which not everybody may read

    @property
    def key(self) -> str:
        """The model's name in messages; see `key_of`."""
        return key_of(self.team, self.model)

    @property
    def told(self) -> str:
        """The reason for the organizer and the team, with what the model printed."""
        return with_printed(self.reason, self.printed)


def with_printed(reason: str, printed: str) -> str:
    """The reason of a failure, followed by what the model printed."""
    return f"{reason}: {printed}" if printed else reason


def key_of(team: str, name: str) -> str:
    """Make a model's name for messages.

    >>> key_of("Red", ""), key_of("Red", "second")
    ('Red', 'Red/second')
    """
    return f"{team}/{name}" if name else team


def find_models(folder: Path, most_bytes: float = math.inf) -> tuple[list[Model], list[Failure]]:
    """Find the models in a folder that has a folder for each team; a larger one than `most_bytes` fails.

    What somebody may have taken for a model runs or fails. All else is left out, and named.
    """
    teams = _meant_in(folder)
    found = [one for team in teams for one in _models_of_team(team, most_bytes)]
    models = [one for one in found if isinstance(one, Model)]
    failures = [one for one in found if isinstance(one, Failure)]
    if not models and _entries(folder):
        raise UsageError(
            f"{folder} is a model itself: give the folder that has a folder per team, "
            f"or {as_option('one', True)}"
        )
    if not found:
        raise UsageError(f"there are no models in {folder}; expected a folder per team with {ENTRIES}")
    others = {*folder.iterdir()}.difference(teams).union(one for one in found if isinstance(one, Path))
    if others:
        names = [path.relative_to(folder).as_posix() for path in others]
        warnings.warn(left_out(names, str(folder), "models"), stacklevel=4)
    return models, failures


def _models_of_team(team: Path, most_bytes: float) -> list[Model | Failure | Path]:
    """The model that a team's folder is, or what lies in a folder of several: models, and files beside them."""
    meant = [] if _entries(team) else _meant_in(team)
    number = sum(bool(_entries(path)) for path in meant)
    if not number:
        return [find_model(team, team.name, "", most_bytes)]
    if number > MOST_MODELS:
        return [as_failure(team.name, "", ValueError(f"more than {MOST_MODELS} models"))]
    return [
        find_model(path, team.name, path.name, most_bytes) if path in meant else path
        for path in sorted(team.iterdir())
    ]


def _meant_in(folder: Path) -> list[Path]:
    """What somebody may have taken for models in a folder: folders, links and archives."""
    return [path for path in _visible(folder) if path.is_dir() or path.is_symlink() or _is_packed(path)]


def find_model(folder: Path, team: str, name: str = "", most_bytes: float = math.inf) -> Model | Failure:
    """Find the model in a folder."""
    try:
        for text in filter(None, (team, name)):
            if fault := fault_of_name(text):
                raise ValueError(f"its name: {fault}")
            if len(text.encode()) > LONGEST_NAME:
                raise ValueError(f"its name is longer than {LONGEST_NAME} bytes")
        _require_folder(folder)
        entry, kind = _entry(folder)
        _require_small(folder, most_bytes)
        return Model(team, name, folder, entry, kind)
    except (ValueError, OSError) as problem:
        return as_failure(team, name, problem)


def as_failure(team: str, name: str, problem: Exception) -> Failure:
    """A failure whose texts are each on one line and safe to print; a name that can be published stays."""
    team, name = (printable(text) if fault_of_name(text) else text for text in (team, name))
    return Failure(team, name, printable(getattr(problem, "strerror", None) or problem))


def _visible(folder: Path) -> list[Path]:
    """The files and folders in a folder, sorted by name, without those of the system; none if it is a link."""
    with contextlib.suppress(OSError):  # of what cannot be read, `find_model` says why
        if not folder.is_symlink():
            return sorted(path for path in folder.iterdir() if not is_of_system(path.name, path.is_dir()))
    return []


def _entries(folder: Path) -> list[str]:
    """The names of the files in a folder that podium could run."""
    names = [path.name for path in _visible(folder)]
    return [name for name in names if name in (*SCRIPTS, CONTAINER) or name.endswith(".ipynb")]


def _require_folder(path: Path) -> None:
    """Raise an error if something is no folder of its own, or cannot be read."""
    if path.is_symlink() or not path.is_dir():
        what = "a link" if path.is_symlink() else "a file"
        raise ValueError(f"expected a folder with {ENTRIES}, found {what}{_unpack([path])}")
    os.listdir(path)


def _is_packed(path: Path) -> bool:
    return path.name.lower().endswith(PACKED)


def _unpack(there: Sequence[Path]) -> str:
    """What to do with a folder that is packed."""
    return "; unpack it" if any(map(_is_packed, there)) else ""


def _entry(folder: Path) -> tuple[str, Kind]:
    """The file or image to run in a folder, and the kind of model that it is."""
    entries = _entries(folder)
    if not entries:
        there = _visible(folder)
        found = listed([path.name for path in there], NAMES_SHOWN) or "nothing"
        raise ValueError(f"there is no model: expected {ENTRIES}, found {found}{_unpack(there)}")
    if len(entries) > 1:
        several = listed(entries, NAMES_SHOWN)
        raise ValueError(f"expected one model in the folder, found {len(entries)}: {several}")
    [name] = entries
    path = folder / name
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ValueError(f"{name} is not a regular file")
    if name == CONTAINER:
        with path.open(encoding="ascii", errors="replace") as file:
            image = file.read(1000).strip()
        if not IMAGE.fullmatch(image):
            raise ValueError(f"{CONTAINER} names no image: expected a name such as docker.io/team/model:1")
        return image, Kind.CONTAINER
    if name in SHELL_SCRIPTS:
        _require_startable(path)
    if path.suffix == ".ipynb":
        _require_python(path)
    return name, Kind.NOTEBOOK if path.suffix == ".ipynb" else Kind.SCRIPT


def interpreter_of(path: Path) -> list[str]:
    """The command that runs a script or program, as its first line says; nothing if it runs itself.

    As in the kernel, all that follows the interpreter's name is one argument. The file's mode does not count,
    because archives from Windows do not have it.
    """
    with path.open("rb") as file:
        first = file.read(FIRST_LINE).partition(b"\n")[0].decode("utf-8", "replace")
    if first.startswith("#!"):
        words = first[2:].strip().split(maxsplit=1)
        # Windows finds a shell by its name, if it has one.
        return words if os.name == "posix" else [PurePosixPath(words[0]).name, *words[1:]]
    return ["sh"] if path.name == "run.sh" else []


def _require_startable(path: Path) -> None:
    """Raise a ValueError if a script or program cannot be started."""
    with path.open("rb") as file:
        start = file.read(SCRIPT_READ)
    first = start[:FIRST_LINE].partition(b"\n")[0]
    is_script = path.name == "run.sh" or first.startswith(b"#!")
    if is_script and (0 < start.count(b"\n") == start.count(b"\r\n") or first.endswith(b"\r")):
        raise ValueError(
            f"{path.name}: expected the line ends of Unix, found those of Windows; convert it with dos2unix"
        )
    if not is_script and not os.access(path, os.X_OK):
        raise ValueError(f"{path.name} is not executable (chmod +x {path.name})")
    if first.startswith(b"#!") and not (first[2:].strip() and shutil.which(interpreter_of(path)[0])):
        shown = first.decode("utf-8", "replace")
        raise ValueError(f"{path.name} begins with {shown}, but that program does not exist")


def _require_python(path: Path) -> None:
    """Raise a ValueError if a notebook says that it is written in another language."""
    language: Any = None
    # What is no notebook is told by podium's program for notebooks.
    with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError), path.open("rb") as file:
        about = parse_json(file.read(MOST_OF_A_NOTEBOOK))["metadata"]
        language = about.get("language_info", {}).get("name") or about.get("kernelspec", {}).get("language")
    # This is how the kernels of Python name their language.
    if isinstance(language, str) and language.lower() not in ("python", "python3", "ipython"):
        found = printable(language)[:40]
        raise ValueError(f"{path.name}: expected a notebook in Python, found {found}; give a run.sh instead")


def paths_in(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """Walk through all files, folders and links in a folder and in the folders within it."""
    waiting = [os.fspath(folder)]
    while waiting:  # not by recursion, which would fail on a thousand folders within each other
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _require_small(folder: Path, most_bytes: float) -> None:
    """Raise a ValueError if a folder has too many files or bytes by their apparent size, or a pointer."""
    entries = [*itertools.islice(paths_in(folder), MOST_FILES + 1)]
    if len(entries) > MOST_FILES:
        raise ValueError(f"more than {MOST_FILES:,} files")
    sizes = {entry.path: _size_of(entry) for entry in entries}
    if (number := sum(sizes.values())) > most_bytes:
        raise ValueError(f"expected at most {size(most_bytes)} of files (--folder-limit), found {size(number)}")
    for path in sorted(sizes):
        if len(POINTER) < sizes[path] < LARGEST_POINTER and _is_pointer(path):
            name = os.path.relpath(path, folder)
            raise ValueError(f"{name} is a pointer of Git LFS in place of the file: fetch it with git lfs pull")


def _is_pointer(path: str) -> bool:
    """Whether a file is what Git LFS has in place of another one."""
    with contextlib.suppress(OSError), open(path, "rb") as file:  # who may not read it is told later
        return file.read(len(POINTER)) == POINTER
    return False


def with_digest(model: Model) -> Model:
    """Add the digest of a model's files, which are read for it, and of its image."""
    if model.digest:
        return model
    image = f"-{model.image[:16]}" if model.image else ""
    return model._replace(digest=digest_of(model.folder) + image)


def digest_of(folder: Path) -> str:
    """Compute a digest of the names and contents of all files in a folder; it is told if they are large."""
    entries, lines, done = list(paths_in(folder)), [], 0
    number, name = sum(map(_size_of, entries)), printable(folder.name)
    if number > LARGE:
        tell(say("files_are_read", folder=name, size=size(number)))
    with progress.shown(f"MB read of {name}") if number > LARGE else contextlib.nullcontext() as show:
        for entry in entries:
            content = hashlib.sha256(os.fsencode(os.readlink(entry.path)) if entry.is_symlink() else b"")
            for block in _blocks(entry):
                content.update(block)
                done += len(block)
                if show:
                    show(done >> 20, number >> 20)
            path = os.fsencode(os.path.relpath(entry.path, folder))
            lines.append(b"%b\0%d %b" % (path, _size_of(entry), content.digest()))
    return hashlib.sha256(b"".join(hashlib.sha256(line).digest() for line in sorted(lines))).hexdigest()[:16]


def _size_of(entry: "os.DirEntry[str]") -> int:
    """The size of a file in bytes; 0 for what is none."""
    return entry.stat().st_size if entry.is_file(follow_symlinks=False) else 0


def _blocks(entry: "os.DirEntry[str]") -> Iterator[bytes]:
    """The content of a file, block by block; nothing for what is none."""
    if entry.is_file(follow_symlinks=False):
        with open(entry.path, "rb") as file:
            while block := file.read(READ_AT_ONCE):
                yield block
