"""How commands fail: with a message and an exit code.

Every error that a command may end with is a `ToolError`. Its subclasses differ in whose fault it is and
therefore in the exit code. `exit_code_of` turns an error into its message.
"""

import contextlib
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from podium.common.wording import printable

# For the users of podium.errors; the others are for its commands.
__all__ = [
    "AccountWarning",
    "CompanionError",
    "ContractWarning",
    "Differences",
    "HostError",
    "MetricError",
    "NotAFile",
    "SubmissionRejected",
    "ToolError",
    "UsageError",
]


class ToolError(Exception):
    """An error that ends a command. The user sees its text and nothing else of it."""

    exit_code: int  # the exit code of the command
    for_host = ""  # a sentence under the text, which no platform shows

    def __reduce__(self) -> tuple[Any, ...]:
        """Let an error travel from one process to another, whatever its class takes to be made."""
        return _again, (type(self), self.args, vars(self))


def _again(kind: type[ToolError], args: tuple[Any, ...], fields: dict[str, Any]) -> ToolError:
    """Make an error again that was pickled."""
    error = kind.__new__(kind, *args)
    vars(error).update(fields)
    return error


class Differences(ToolError):
    """A published board differs from the board that its inputs lead to (exit code 1)."""

    exit_code = 1


class AccountWarning(UserWarning):
    """Something in the files that were read was left out; the text is the account of it."""


class ContractWarning(UserWarning):
    """A metric's score may be wrong: it is not finite, or it depends on the order of rows."""


class UsageError(ToolError):
    """What the command was given is missing, or is not possible on this machine (exit code 2)."""

    exit_code = 2


class NotAFile(UsageError):
    """A regular file of a size that can be read was expected, and there is something else. Nothing was read."""

    def __init__(self, path: object, found: str, expected: str = "a regular file") -> None:
        self.fault = f"expected {expected}, found {found}"
        super().__init__(f"cannot read {path}: {self.fault}")
        self.found = found


def missing_extra(what: str, packages: str, extra: str) -> UsageError:
    """Make the error of a command that needs one of podium's extras, which is not installed."""
    return UsageError(f"{what} needs {packages}: pip install 'podium[{extra}]'")


class SubmissionRejected(ToolError):
    """The submission is wrong, and the participant may read why (exit code 3)."""

    exit_code = 3


class HostError(ToolError):
    """The solution, a parameter or the metric file is wrong. Only the host reads why (exit code 4)."""

    exit_code = 4


class MetricError(HostError):
    """The metric raised an unexpected error."""

    def __init__(self, error: str, hint: str = "") -> None:
        super().__init__(error, hint)
        self.error = error  # its type and text, and the line of the metric's file

    def __str__(self) -> str:
        return f"the metric raised an unexpected error: {''.join(self.args)}"


class CompanionError(HostError):
    """The metric's companion is wrong; the metric itself may be right."""


def complain(error: ToolError) -> None:
    """Print why a command ends, with foreign text in it made harmless."""
    _say(f"error: {error}")
    if error.for_host:
        _say(f"host only: {error.for_host}")


def exit_code_of(work: Callable[[], None]) -> int:
    """Do a command's work, and print what went wrong without a traceback.

    Warnings are printed on stderr in one line each. Whatever is printed passes through
    `podium.common.wording.printable`, because names and ids are foreign text.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A character that the terminal's encoding lacks must not end the command. stderr works like this
        # already.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with (
            contextlib.redirect_stdout(_Printable(sys.stdout)),
            contextlib.redirect_stderr(_Printable(sys.stderr)),
            _warnings_told_once(),
        ):
            work()
        sys.stdout.flush()
    except ToolError as error:
        complain(error)
        # Where a metric ran out of memory, the machine is too small, and the metric may be right.
        return UsageError.exit_code if isinstance(error.__cause__, MemoryError) else error.exit_code
    except MemoryError:
        _say("error: there is not enough memory for this")
        return UsageError.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe. Without a new stdout, Python would complain at its
        # exit.
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


@contextlib.contextmanager
def _warnings_told_once() -> Iterator[None]:
    """Print each warning once: a folder may be both the solution and the submission, and so be read twice."""
    told: set[str] = set()
    stream = sys.stderr  # a metric that warns has another one

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in told:
            told.add(str(message))
            _say(f"warning: {message}", stream)

    before, warnings.showwarning = warnings.showwarning, show
    try:
        yield
    finally:
        warnings.showwarning = before


class _Printable:
    """A stream that escapes every character that is not printable before it writes it."""

    def __init__(self, stream: TextIO) -> None:
        self.plain = stream  # for podium's own bars of progress

    def write(self, text: str) -> int:
        return self.plain.write(printable(text, keep="\n\t"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)


def _say(text: str, stream: TextIO | None = None) -> None:
    """Print a text on stderr, with foreign text in it made harmless."""
    print(printable(text, keep="\n"), file=stream or sys.stderr)
