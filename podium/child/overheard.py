"""What a custom metric prints is caught in its process, made harmless, and told once with the file's name.

A metric may print what it found in a participant's cell: titles and colors of a terminal, a cleared screen, or
lines that look like podium's. So meanwhile the standard streams lead into a file, which is told as soon as the
metric's function has ended. In a child (see `podium.child.supervised`) the descriptors 1 and 2 lead into the
same file, because code in C and programs that a metric starts write to these.
"""

import atexit
import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import IO, Any, TextIO

from podium.common.wording import printable

LONGEST_LINE = 300  # characters that are shown
MOST_LINES = 20  # of each file that are shown; a metric may print one for each cell
MOST_BYTES = 1 << 16  # that are read of what one call printed

_told: dict[Path, set[str]] = {}  # the lines of each file that were told


class _Stream(io.TextIOWrapper):
    """The standard streams of a metric."""

    def close(self) -> None:
        """Stay open, also where a metric closes its standard streams."""


_stream: _Stream | None = None  # a single one, because a handler of the metric's logs may keep it


def file_for_prints() -> IO[bytes]:
    """A file for what is printed; it is lost where no folder can hold one."""
    try:
        return tempfile.TemporaryFile(buffering=0)
    except OSError:
        return open(os.devnull, "w+b", buffering=0)


def lie_over(file: IO[bytes]) -> None:
    """Let metrics print into this file from now on."""
    global _stream
    _stream = _Stream(file, encoding="utf-8", errors="backslashreplace", write_through=True)


@contextmanager
def caught(file: Path) -> Iterator[None]:
    """Tell on stderr what is printed meanwhile, each line once; within another call nothing changes."""
    if isinstance(sys.stderr, _Stream):
        yield
        return
    if _stream is None:
        own = file_for_prints()
        atexit.register(own.close)
        lie_over(own)
    assert _stream is not None
    stream, teller = _stream, sys.stderr
    try:
        with redirect_stdout(stream), redirect_stderr(stream):
            yield
    finally:
        _tell(stream.buffer, file.name, _told.setdefault(file.resolve(), set()), teller)


def forget() -> None:
    """Tell everything again, because another command begins."""
    _told.clear()


def all_told() -> dict[Path, set[str]]:
    """The lines of each file that were told."""
    return _told


def number_told() -> int:
    """How many lines were told."""
    return sum(map(len, _told.values()))


def remember(told: dict[Path, set[str]]) -> None:
    """Do not tell again what another process has told."""
    for file, lines in told.items():
        _told.setdefault(file, set()).update(lines)


def tell_rest(file: IO[bytes]) -> None:
    """Tell what a process wrote into its file, and nobody has told, because it has ended before."""
    _tell(file, "the metric", set(), sys.stderr)


def _tell(file: Any, name: str, told: set[str], teller: TextIO) -> None:
    """Tell the lines of a file that were not told before, and empty it."""
    content = b""
    with contextlib.suppress(OSError, ValueError):  # a metric may have closed it
        file.seek(0)
        content = file.read(MOST_BYTES)
        file.seek(0)
        file.truncate()
    for line in content.replace(b"\r", b"\n").split(b"\n"):
        text = printable(line[: 4 * LONGEST_LINE].decode("utf-8", "replace").strip())[:LONGEST_LINE]
        if text and text not in told and len(told) <= MOST_LINES:
            told.add(text)
            what = f"prints: {text}" if len(told) <= MOST_LINES else "prints more, which is not shown"
            print(f"{printable(name)} {what}", file=teller, flush=True)
