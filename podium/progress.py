"""Progress of long work on stderr: a bar with an estimate on a terminal, a line now and then otherwise."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["shown", "track"]

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
    from rich.progress import Progress

    with Progress(*_columns(), console=Console(stderr=True)) as progress:
        yield from progress.track(steps, total=total, description=title)


def _columns() -> tuple[Any, ...]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    return TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()


def _with_lines(steps: Iterable[T], title: str, total: int) -> Iterator[T]:
    start = last = time.monotonic()
    for done, step in enumerate(steps, 1):
        yield step
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES and done < total:
            print(_line(title, done, total, now - start), file=sys.stderr, flush=True)
            last = now
    print(f"{title}: {total:,} of {total:,}", file=sys.stderr, flush=True)


def _line(title: str, done: int, total: int, seconds: float) -> str:
    left = seconds / max(done, 1) * (total - done)
    return f"{title}: {done:,} of {total:,}, about {left:.0f} s left"


@contextmanager
def shown(title: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with what is done and the total, which shows them on stderr while the block runs.

    What is done may start again from the beginning.  On a terminal the bar goes away with the block;
    otherwise work of a few seconds prints nothing.
    """
    if not sys.stderr.isatty():
        start = last = time.monotonic()
        before = 0

        def print_line(done: int, total: int) -> None:
            nonlocal start, last, before
            now = time.monotonic()
            if done < before:
                start = last = now
            before = done
            if now - last >= SECONDS_BETWEEN_LINES:
                print(_line(title, done, total, now - start), file=sys.stderr, flush=True)
                last = now

        yield print_line
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*_columns(), console=Console(stderr=True), transient=True) as progress:
        task: Any = None

        def move_bar(done: int, total: int) -> None:
            nonlocal task
            if task is None:
                task = progress.add_task(title)
            progress.update(task, completed=done, total=total)

        yield move_bar
