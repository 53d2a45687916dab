"""What a stranger's metric prints is caught in its process, made harmless, and told once with the file's name.

A metric may print what it found in a participant's cell: titles and colors of a terminal, a cleared screen, or
lines that look like podium's.  Python's prints are told at once.  Code in C and programs that a metric starts
write to the descriptors 1 and 2, which lead into a file in a child (see `podium.child.supervised`); this is
told as soon as the metric's function has ended.
"""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import IO, Any, TextIO

from podium.words.wording import printable

__all__ = ["Into", "caught", "forget", "lie_over", "tell_rest"]

LONGEST_LINE = 300  # characters that are shown
MOST_LINES = 20  # of each file that are shown; a metric may print one for each cell
MOST_BYTES = 1 << 16  # that are read of what one call wrote to the descriptors

_streams: dict[Path, "_Stream"] = {}  # by file
_beneath: IO[bytes] | None = None  # where the descriptors 1 and 2 lead, if podium's own streams are others


def lie_over(file: IO[bytes]) -> None:
    """Read from now on also what is written to the descriptors 1 and 2, which lead into this file."""
    global _beneath
    _beneath = file


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
        into: Any = Into(heard.write, heard.fileno)  # which is all that is needed of a buffer
        super().__init__(into, encoding="utf-8", errors="backslashreplace", write_through=True)
        self.heard = heard

    def close(self) -> None:
        """Stay open, also where a metric closes its standard streams."""


class Into(io.RawIOBase):
    """What is written here is given to a function; programs write to a descriptor instead."""

    def __init__(
        self, take: Callable[[bytes], object], descriptor: Callable[[], int], is_terminal: bool = False
    ) -> None:
        self._take, self._descriptor, self._is_terminal = take, descriptor, is_terminal

    def fileno(self) -> int:
        """The number of the descriptor to which programs write."""
        return self._descriptor()

    def writable(self) -> bool:
        """Tell that something can be written, as a TextIOWrapper asks."""
        return True

    def isatty(self) -> bool:
        """Whether all ends on a terminal."""
        return self._is_terminal

    def write(self, content: Any) -> int:
        """Give bytes to the function."""
        given = bytes(content)
        self._take(given)
        return len(given)


class _Heard:
    """What one file prints, as bytes, and which of its lines were told."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: set[str] = set()
        self._line = b""
        self.teller: TextIO | None = None  # where it is told; outside of the metric's functions it is stderr

    def fileno(self) -> int:
        """The number of a descriptor that programs get which a metric starts."""
        return (_beneath or self.teller or sys.stderr).fileno()

    def write(self, given: bytes) -> None:
        """Tell the lines that are complete."""
        *lines, rest = (self._line + given).replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._tell(line)
        self._line = rest[: 4 * LONGEST_LINE]

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
