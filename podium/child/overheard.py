"""What a stranger's metric prints is caught in its process, made harmless, and told once with the file's name.

A metric may print what it found in a participant's cell: titles and colors of a terminal, a cleared screen, or
lines that look like podium's.  Python's prints are told at once.  Code in C and programs that a metric starts
write to the descriptors 1 and 2, which lead into a file in a process that `keep_apart` has made ready; this is
told as soon as the metric's function has ended.
"""

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import IO, TextIO

from podium.words.wording import printable

__all__ = ["caught", "file_for_descriptors", "forget", "keep_apart", "podiums_stderr", "tell_rest"]

LONGEST_LINE = 300  # characters that are shown
MOST_LINES = 20  # of each file that are shown; a metric may print one for each cell
MOST_BYTES = 1 << 16  # that are read of what one call wrote to the descriptors

_streams: dict[Path, "_Stream"] = {}  # by file
_beneath: IO[bytes] | None = None  # where the descriptors 1 and 2 lead, if podium's own streams are others
_podiums: TextIO | None = None  # podium's own stderr then


@contextmanager
def file_for_descriptors() -> Iterator[IO[bytes]]:
    """A file for `keep_apart`; where no folder can hold one, what is written there is lost."""
    with ExitStack() as opened:
        file: IO[bytes]
        try:
            file = opened.enter_context(tempfile.TemporaryFile(buffering=0))
        except OSError:
            file = opened.enter_context(open(os.devnull, "w+b", buffering=0))
        yield file


def keep_apart(file: IO[bytes]) -> None:
    """Let the descriptors 1 and 2 of this process lead into a file; podium's own streams are copies of them."""
    global _beneath, _podiums
    for number, name in ((1, "stdout"), (2, "stderr")):
        before = getattr(sys, name)
        before.flush()
        own = os.fdopen(os.dup(number), "w", 1, encoding=before.encoding, errors=before.errors)
        setattr(sys, name, own)
        os.dup2(file.fileno(), number)
    _beneath, _podiums = file, sys.stderr


def podiums_stderr() -> TextIO | None:
    """Podium's own stderr, for processes that podium starts; None if it is that of the process."""
    return _podiums


def tell_rest(file: IO[bytes]) -> None:
    """Tell what a process wrote into its file, and nobody has told, because it has ended before."""
    heard = _Heard("the metric")
    _hear(file, heard)
    heard.end()


def _hear(file: IO[bytes], heard: "_Heard") -> None:
    """Tell what is in a file, and empty it."""
    file.seek(0)
    if content := file.read(MOST_BYTES):
        heard.write(content)
        file.seek(0)
        file.truncate()


@contextmanager
def caught(file: Path) -> Iterator[None]:
    """Tell on stderr what Python prints meanwhile, each line once; within another call nothing changes."""
    if isinstance(sys.stderr, _Stream):
        yield
        return
    # The stream stays, because a handler of the metric's logs may keep it.
    stream = _streams.setdefault(file.resolve(), _Stream(_Heard(file.name)))
    heard = stream.heard
    heard.teller = sys.stderr
    try:
        with redirect_stdout(stream), redirect_stderr(stream):
            yield
    finally:
        heard.end()
        if _beneath is not None:
            _hear(_beneath, heard)
            heard.end()
        heard.teller = None


def forget() -> None:
    """Tell everything again, because another command begins."""
    _streams.clear()


class _Stream(io.TextIOWrapper):
    """A stream of texts over what is heard, which has all that a standard stream has."""

    def __init__(self, heard: "_Heard") -> None:
        super().__init__(heard, encoding="utf-8", errors="backslashreplace", write_through=True)  # type: ignore[arg-type]
        self.heard = heard

    def close(self) -> None:
        """Stay open, also where a metric closes its standard streams."""


class _Heard(io.RawIOBase):
    """What one file prints, as bytes, and which of its lines were told."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: set[str] = set()
        self._line = b""
        self.teller: TextIO | None = None  # where it is told; outside of the metric's functions it is stderr

    def writable(self) -> bool:
        """Tell that something can be written, as a TextIOWrapper asks."""
        return True

    def fileno(self) -> int:
        """The number of a descriptor that programs get which a metric starts."""
        return (_beneath or self.teller or sys.stderr).fileno()

    def write(self, content: object) -> int:
        """Tell the lines that are complete."""
        given = bytes(content)  # type: ignore[call-overload]
        *lines, rest = (self._line + given).replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._tell(line)
        self._line = rest[: 4 * LONGEST_LINE]
        return len(given)

    def end(self) -> None:
        """Tell what has no end of line."""
        self._tell(self._line)
        self._line = b""

    def _tell(self, line: bytes) -> None:
        """Tell a line that was not told before."""
        text = printable(line[: 4 * LONGEST_LINE].decode("utf-8", "replace").strip())[:LONGEST_LINE]
        if not text or text in self._told or len(self._told) > MOST_LINES:
            return
        self._told.add(text)
        what = f"prints: {text}" if len(self._told) <= MOST_LINES else "prints more, which is not shown"
        print(f"{printable(self._name)} {what}", file=self.teller or sys.stderr, flush=True)
