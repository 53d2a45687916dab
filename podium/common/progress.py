"""Show the progress of long work on stderr: as a bar on a terminal, elsewhere as a line now and then."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

SECONDS_BETWEEN_LINES = 10.0

T = TypeVar("T")


def track(steps: Iterable[T], title: str, total: int) -> Iterator[T]:
    """Show progress while some steps are taken. The last line stays."""
    terminal = sys.stderr.isatty()
    with shown(title, transient=False) as show:
        show(0, total)
        for done, step in enumerate(steps, 1):
            yield step
            if terminal or done < total:
                show(done, total)
    if not terminal:
        print(f"{title}: {total:,} of {total:,}", file=sys.stderr, flush=True)


def tell(line: str) -> None:
    """Tell at once what happens meanwhile."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def shown(title: str, transient: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of work that reports it itself. To be used in a ``with`` statement."""
    # A metric that shows its progress has another stream, and a command's escapes what moves a cursor.
    stream = getattr(sys.stderr, "plain", sys.stderr)
    if not stream.isatty():
        start = last = time.monotonic()
        before = 0

        def print_line(done: int, total: int) -> None:
            nonlocal start, last, before
            now = time.monotonic()
            if done < before:
                start = last = now
            before = done
            if now - last >= SECONDS_BETWEEN_LINES:
                left = (now - start) / max(done, 1) * (total - done)
                print(f"{title}: {done:,} of {total:,}, about {left:.0f} s left", file=stream, flush=True)
                last = now

        yield print_line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(file=stream), transient=transient) as progress:
        task: Any = None

        def move_bar(done: int, total: int) -> None:
            nonlocal task
            if task is None:
                task = progress.add_task(title)
            progress.update(task, completed=done, total=total)

        yield move_bar
