"""The folder in which a model works outside of bubblewrap, and the submission that it left there."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from podium.child.limits import Limits, within
from podium.child.processes import signal_name
from podium.common.errors import NotAFile, SubmissionRejected
from podium.common.wording import printable
from podium.running import settings as constants
from podium.running.measuring import Log, Outcome, Run
from podium.running.settings import Settings, size
from podium.tables.files import open_regular
from podium.tables.formats import parse_table

NAMES_SHOWN, LONGEST_NAME = 3, 80  # of what a model left behind
SUBMISSIONS = ("submission.csv", "submission.csv.gz", "submission.parquet")


@contextlib.contextmanager
def working_folder() -> Iterator[str]:
    """Make an empty folder for a model's files, and remove it afterwards with what the model left in it."""
    with tempfile.TemporaryDirectory(prefix="podium-", ignore_cleanup_errors=True) as top:
        working = os.path.join(top, "working")
        os.mkdir(working)
        yield working


class Left(NamedTuple):
    """What a model has left in its working folder."""

    names: Sequence[str]  # of its submissions
    content: bytes | None  # of the one submission; None if it is no file that can be read
    others: Sequence[str]  # some of the other files, if there is no submission
    is_full: bool = False  # whether one of the model's folders has no room left
    is_whole: bool = True  # whether podium has got all of this in time


def left_in(folder: str) -> Left:
    """Look for a submission in a folder, and take its content."""
    names = [name for name in SUBMISSIONS if name in os.listdir(folder)]
    if names:
        return Left(names, _content_of(os.path.join(folder, names[0])), ())
    deeper = (path.relative_to(folder).as_posix() for path in sorted(Path(folder).glob("*/submission.*")))
    return Left((), None, [*deeper, *sorted(os.listdir(folder))])


def judged(run: Run, in_time: bool, left: Left, settings: Settings, log: Log) -> Run:
    """Say what became of a run that was measured, and take the submission that it left."""
    number = -run.exit_code if run.exit_code < 0 else run.exit_code - 128  # of a signal
    name = signal_name(number)
    if run.used.out_of_memory:
        outcome, reason = Outcome.MEMORY, _memory_limit(settings)
    elif run.used.machine_out_of_memory:
        return run._replace(outcome=Outcome.LOST, reason="the machine ran out of memory")
    elif not in_time:
        outcome, reason = Outcome.TIME, f"time limit of {settings.time_limit:g} s (--time-limit)"
    elif run.exit_code != 0 and (left.is_full or name == "SIGXFSZ"):
        outcome, reason = Outcome.DISK, f"disk limit of {size(settings.disk_limit)} (--disk-limit)"
    elif run.exit_code != 0:
        there = f", although {left.names[0]} was there" if left.names else ""
        outcome, reason = Outcome.EXIT, f"exit code {run.exit_code}" + (f" ({name})" if name else "") + there
    elif not left.is_whole:
        return run._replace(outcome=Outcome.LOST, reason="the submission could not be read in time")
    else:
        return _taken(run, left)
    return run._replace(outcome=outcome, reason=reason, printed=log.last_lines())


def _memory_limit(settings: Settings) -> str:
    """The limit of memory that a model has exceeded; in bubblewrap its files are in memory, too."""
    if settings.sandbox != "bubblewrap" or not settings.control_group:
        return f"memory limit of {size(settings.memory_limit)} (--memory-limit)"
    both = size(settings.memory_limit + settings.disk_limit)
    return f"memory limit of {both} for all of its processes and files (--memory-limit plus --disk-limit)"


def _taken(run: Run, left: Left) -> Run:
    """A run that ended well, with the one submission that it left, or with what is wrong with it."""
    if not left.names:
        left_running = "; what the model had left running when its first process ended, was ended, too"
        reason = "no submission.csv" + left_running * run.outlived
    elif len(left.names) > 1:
        reason = f"{' and '.join(left.names)} are there, expected one"
    elif left.content is None:
        reason = f"{left.names[0]} is not a regular file that can be read"
    elif len(left.content) > constants.SUBMISSION_BYTES:
        reason = f"{left.names[0]} is larger than {constants.SUBMISSION_BYTES:,} bytes"
    else:
        return run._replace(name=left.names[0], submission=left.content)
    # A model chose the names of the others.
    shown = ", ".join(printable(name)[:LONGEST_NAME] for name in left.others[:NAMES_SHOWN])
    return run._replace(outcome=Outcome.SUBMISSION, reason=reason, printed=f"found {shown}" if shown else "")


def table_in(content: bytes, name: str) -> pd.DataFrame | None:
    """Read the table in a submission, within the limits that hold for any; None if it is no table."""
    try:
        with within(Limits()):
            return parse_table(content, name, (), SubmissionRejected)
    except SubmissionRejected:
        return None


def _content_of(path: str) -> bytes | None:
    """Read a file without following links or waiting for pipes; None if it is none."""
    with contextlib.suppress(OSError, NotAFile), open_regular(path, follow_links=False) as file:
        return file.read(constants.SUBMISSION_BYTES + 1)
    return None
