"""How commands fail: with a message and an exit code."""

import contextlib
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any, TextIO

from podium.wording import printable


class ToolError(Exception):
    """What ends a command; its text is all that the user sees of it.

    Attributes
    ----------
    exit_code : int
        Of the command.
    """

    exit_code: int


class Differences(ToolError):
    """What was verified is not what was published."""

    exit_code = 1


class UsageError(ToolError):
    """What the command asks for is not there, or not possible here."""

    exit_code = 2


class NotAFile(UsageError):
    """There is something else where a file was expected; nothing of it was read.

    Attributes
    ----------
    kind : str
        What is there, such as "a link" or "a pipe".
    """

    def __init__(self, path: object, kind: str) -> None:
        super().__init__(f"cannot read {path}: expected a regular file, found {kind}")
        self.kind = kind


def missing_extra(what: str, packages: str, extra: str) -> UsageError:
    """The error of a command that needs an extra of podium's which is not installed.

    Parameters
    ----------
    what : str
        What needs it, such as "--dask".
    packages : str
        What is missing.
    extra : str
        Its name in ``pip install 'podium[EXTRA]'``.
    """
    return UsageError(f"{what} needs {packages}: pip install 'podium[{extra}]'")


class SubmissionRejected(ToolError):
    """The submission is wrong; the participant may read why."""

    exit_code = 3


class HostError(ToolError):
    """The solution, a parameter or the metric file is wrong."""

    exit_code = 4


def run(work: Callable[[], None]) -> int:
    """Do a command's work and say what went wrong, in one line and without a traceback.

    Parameters
    ----------
    work : function
        What it raises as a `ToolError` is printed on stderr.

    Returns
    -------
    int
        0, the exit code of the error, or 130 after Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr has it
    warnings.showwarning = lambda message, *_, **__: _say(f"warning: {message}")
    try:
        with contextlib.redirect_stdout(_Printable(sys.stdout)):
            work()
        sys.stdout.flush()
    except ToolError as error:
        _say(f"error: {error}")
        return error.exit_code
    except MemoryError:
        _say("error: there is not enough memory for this")
        return UsageError.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # head has seen enough; Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ModuleNotFoundError as problem:
        # Podium runs from its folder alone, too; then not all that it requires need be installed.
        if problem.name is None or problem.name.partition(".")[0] == "podium":
            raise
        package = problem.name.partition(".")[0]
        _say(f"error: this needs {package}, which is not installed here: pip install {package}")
        return UsageError.exit_code
    except OSError as problem:
        _say(f"error: {problem.strerror or problem}: {problem.filename}")
        return UsageError.exit_code
    return 0


class _Printable:
    """A stream to which nothing is written that is not printable, whoever writes it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(printable(text, keep="\n\t"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _say(text: str) -> None:
    """Print on stderr what may contain foreign text."""
    print(printable(text, keep="\n"), file=sys.stderr)
