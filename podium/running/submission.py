"""The folder in which a model works outside of bubblewrap, and the submission that it left there."""

import contextlib
import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from podium.errors import SubmissionRejected
from podium.limits import Limits, within
from podium.running import settings as constants
from podium.running.measuring import Log, Outcome, Run, failed
from podium.running.settings import Settings
from podium.tables import parse_table
from podium.wording import printable

NAMES_SHOWN, LONGEST_NAME = 3, 80  # of what a model left behind
SUBMISSIONS = ("submission.csv", "submission.csv.gz", "submission.parquet")


@contextlib.contextmanager
def working_folder() -> Iterator[str]:
    """Make an empty folder for a model's files, and remove it afterwards with what the model left in it."""
    top = tempfile.mkdtemp(prefix="podium-")
    working = os.path.join(top, "working")
    os.mkdir(working)
    try:
        yield working
    finally:
        shutil.rmtree(top, ignore_errors=True)


def judged(run: Run, in_time: bool, folder: str, settings: Settings, log: Log) -> Run:
    """Say what became of a run that was measured, and take its submission from the folder."""
    names = [name for name in SUBMISSIONS if name in os.listdir(folder)]
    if not in_time:
        return failed(run, Outcome.TIME, settings, log)
    if run.exit_code != 0:
        return failed(run, Outcome.EXIT, settings, log, names)
    content = _content_of(os.path.join(folder, names[0])) if len(names) == 1 else None
    deeper = (path.relative_to(folder).as_posix() for path in sorted(Path(folder).glob("*/submission.*")))
    return taken(run, names, content, () if names else [*deeper, *sorted(os.listdir(folder))])


def taken(run: Run, names: Sequence[str], content: bytes | None, others: Iterable[str]) -> Run:
    """A run that ended well, with the one submission that it left, or with what is wrong with it.

    `content` is None if it is no file that can be read. A model chose the names of the others that it left.
    """
    if not names:
        reason = "no submission.csv"
    elif len(names) > 1:
        reason = f"{' and '.join(names)} are there, expected one"
    elif content is None:
        reason = f"{names[0]} is not a regular file that can be read"
    elif len(content) > constants.SUBMISSION_BYTES:
        reason = f"{names[0]} is larger than {constants.SUBMISSION_BYTES:,} bytes"
    else:
        return run._replace(name=names[0], submission=content)
    shown = ", ".join(printable(name)[:LONGEST_NAME] for name in itertools.islice(others, NAMES_SHOWN))
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
    flags = os.O_RDONLY
    for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, flag, 0)
    with contextlib.suppress(OSError), open(os.open(path, flags), "rb") as file:
        if stat.S_ISREG(os.lstat(path).st_mode):
            return file.read(constants.SUBMISSION_BYTES + 1)
    return None
