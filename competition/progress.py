"""Progress of long work on stderr: a bar with an estimate on a terminal, a line now and then otherwise."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["track"]

SECONDS_BETWEEN_LINES = 10.0

T = TypeVar("T")


def track(steps: Iterable[T], title: str, total: int) -> Iterator[T]:
    """The steps, with their progress on stderr."""
    if sys.stderr.isatty():
        yield from _with_bar(steps, title, total)
    else:
        yield from _with_lines(steps, title, total)


def _with_bar(steps: Iterable[T], title: str, total: int) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield from progress.track(steps, total=total, description=title)


def _with_lines(steps: Iterable[T], title: str, total: int) -> Iterator[T]:
    start = last = time.monotonic()
    for done, step in enumerate(steps, 1):
        yield step
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES and done < total:
            left = (now - start) / done * (total - done)
            print(f"{title}: {done:,} of {total:,}, about {left:.0f} s left", file=sys.stderr, flush=True)
            last = now
    print(f"{title}: {total:,} of {total:,}", file=sys.stderr, flush=True)
