"""The folder in which a model works outside of bubblewrap, and the submission that it left there."""

import contextlib
import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from podium.errors import SubmissionRejected
from podium.files import parse_table
from podium.limits import Limits, within
from podium.running import settings as constants
from podium.running.measuring import Log, Outcome, Run, failed
from podium.running.settings import Settings
from podium.wording import printable

__all__ = ["found_instead", "judged", "table_in", "working_folder"]

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
    if not in_time:
        return failed(run, Outcome.TIME, settings, log)
    if run.exit_code != 0:
        names = os.listdir(folder)
        return failed(run, Outcome.EXIT, settings, log, [name for name in SUBMISSIONS if name in names])
    try:
        name, content = _submission_in(folder)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        return run._replace(
            outcome=Outcome.SUBMISSION, reason=reason, printed=found_instead(_others_in(folder))
        )
    return run._replace(name=name, submission=content)


def table_in(content: bytes, name: str) -> pd.DataFrame | None:
    """Read the table in a submission, within the limits that hold for any; None if it is no table."""
    try:
        with within(Limits()):
            return parse_table(content, name, (), SubmissionRejected)
    except SubmissionRejected:
        return None


def found_instead(names: Iterable[str]) -> str:
    """Say what is there in place of a submission; a model chose these names, so they are escaped and cut."""
    shown = ", ".join(printable(name)[:LONGEST_NAME] for name in itertools.islice(names, NAMES_SHOWN))
    return f"found {shown}" if shown else ""


def _others_in(folder: str) -> list[str]:
    """What is in a folder without a submission: first what lies deeper and has its name."""
    if any(name in os.listdir(folder) for name in SUBMISSIONS):
        return []
    deeper = [path.relative_to(folder).as_posix() for path in sorted(Path(folder).glob("*/submission.*"))]
    return [*deeper, *sorted(os.listdir(folder))]


def _submission_in(folder: str) -> tuple[str, bytes]:
    """Read the one submission in a folder, without following links or waiting for pipes."""
    names = os.listdir(folder)
    present = [name for name in SUBMISSIONS if name in names]
    if not present:
        raise ValueError("no submission.csv")
    if len(present) > 1:
        raise ValueError(f"{' and '.join(present)} are there, expected one")
    [name] = present
    path = os.path.join(folder, name)
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise ValueError(f"{name} is not a regular file that can be read")
    flags = os.O_RDONLY
    for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, flag, 0)
    with open(os.open(path, flags), "rb") as file:
        content = file.read(constants.SUBMISSION_BYTES + 1)
    if len(content) > constants.SUBMISSION_BYTES:
        raise ValueError(f"{name} is larger than {constants.SUBMISSION_BYTES:,} bytes")
    return name, content
