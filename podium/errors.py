"""How commands fail: with a message and an exit code."""

import io
import os
import signal
import sys
import warnings
from collections.abc import Callable


class ToolError(Exception):
    """All that the user sees is its text."""

    exit_code: int


class Differences(ToolError):
    """What was verified is not what was published."""

    exit_code = 1


class UsageError(ToolError):
    """What the command asks for is not there, or not possible here."""

    exit_code = 2


class SubmissionRejected(ToolError):
    """The submission is wrong; the participant may read why."""

    exit_code = 3


class HostError(ToolError):
    """The solution, a parameter or the metric file is wrong."""

    exit_code = 4


def run(work: Callable[[], None]) -> int:
    """Do a command's work; its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr has it
    warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
    try:
        work()
        sys.stdout.flush()
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # head has seen enough; Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as problem:
        print(f"error: {problem.strerror or problem}: {problem.filename}", file=sys.stderr)
        return UsageError.exit_code
    return 0
