"""Start the supervisor with a job, and read what it measured."""

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from podium.errors import UsageError
from podium.running import settings as constants
from podium.running import supervisor
from podium.running.control_groups import Group
from podium.running.settings import Run, Settings, cores_used
from podium.wording import printable

__all__ = ["Outside", "answer_of", "last_line", "no_sandbox", "run_supervised"]

FILTER_FD = 9  # the file descriptor from which the inner bubblewrap reads the filter of system calls


class Outside(NamedTuple):
    """The outer sandbox, which surrounds the supervisor.

    Attributes
    ----------
    command : tuple of str
        The command that starts the supervisor inside the outer sandbox; () to start it without one.
    program : str
        The path of the supervisor's file, as the outer sandbox shows it.
    """

    command: tuple[str, ...] = ()
    program: str = ""


NO_OUTER_SANDBOX = Outside()


def run_supervised(
    settings: Settings,
    command: Sequence[str],
    environment: dict[str, str],
    folder: str,
    outside: Outside = NO_OUTER_SANDBOX,
    stop: Sequence[str] = (),
    filter_: str = "",
    group: Group | None = None,
) -> Run:
    """Run a command under the supervisor.

    Parameters
    ----------
    settings : Settings
        How every model is run.
    command : list of str
        The model's program with its arguments.
    environment : dict of str to str
        The model's environment variables.
    folder : str
        The path of the folder in which the model works, as the supervisor sees it.
    outside : Outside
        The sandbox of the supervisor itself.
    stop : list of str
        A command that ends the model, for the case that killing its processes is not enough.
    filter_ : str
        The filter of system calls in base64, or "" for none.
    group : Group, optional
        The control group of the model.

    Returns
    -------
    Run
        What was measured, the log and the submission.

    Raises
    ------
    UsageError
        If the supervisor cannot be started, which is a fault of the machine.
    """
    job = _job(settings, command, environment, folder, stop, filter_, group)
    job["disk"] = None if outside.command else settings.disk_limit
    pipe = subprocess.PIPE
    file = outside.program or f"{constants.HERE}/supervisor.py"
    program = [*_with_priority(), *outside.command, sys.executable, "-I", "-S", file]
    with subprocess.Popen(
        program, stdin=pipe, stdout=pipe, stderr=pipe, pass_fds=job["groups"] if os.name == "posix" else ()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
        header = process.stdout.readline()
        if not header:
            raise UsageError(no_sandbox(process.stderr.read().decode("utf-8", "replace")))
        measured: supervisor.Measured = json.loads(header)
        log = process.stdout.read(measured["log_size"]).decode("utf-8", "replace")
        submission = process.stdout.read(measured["submission_size"])
    if group:
        _count(measured, group)
    cores = max(len(job["cores"]), 1)
    available = measured["seconds"] * cores
    others = max(measured["busy"] - measured["user_seconds"], 0.0) / available if available else 0.0
    return Run(measured, others, printable(log.replace("\r\n", "\n"), keep="\n\t"), submission)


def _job(
    settings: Settings,
    command: Sequence[str],
    environment: dict[str, str],
    folder: str,
    stop: Sequence[str],
    filter_: str,
    group: Group | None,
) -> supervisor.Job:
    """The job that the supervisor gets."""
    return supervisor.Job(
        command=list(command),
        filter=filter_,
        filter_fd=FILTER_FD,
        environment=environment,
        folder=folder,
        disk=settings.disk_limit,
        files=constants.FILES,
        stop=list(stop),
        cores=cores_used(settings.cores),
        priority=constants.MODEL_OF_ROOT if constants.is_root() else constants.MODEL_OF_OTHERS,
        groups=group.joins if group else [],
        seconds=settings.time_limit,
        memory=settings.memory_limit,
        submission=constants.SUBMISSION_BYTES,
    )


@functools.cache
def _with_priority() -> list[str]:
    """The command that gives the supervisor a higher priority than models, or nothing if podium may not."""
    command = ["nice", "-n", str(constants.SUPERVISOR_OF_ROOT)]
    if constants.is_root() and shutil.which("nice") and not answer_of(*command, "true").stderr:
        return command
    return []


def _count(measured: supervisor.Measured, group: Group) -> None:
    """Replace the measurements of the supervisor by those of the kernel, which are complete."""
    used = group.used()
    measured["cpu_seconds"], measured["user_seconds"] = used.cpu_seconds, used.user_seconds
    measured["peak_memory"] = max(used.peak_memory, measured["peak_memory"])
    if used.out_of_memory and not measured["stopped"]:
        measured["stopped"] = "memory"


def no_sandbox(said: str) -> str:
    """Write the message that no sandbox can be made on this machine.

    Parameters
    ----------
    said : str
        What the tools printed.  The message quotes the end of it.

    Returns
    -------
    str
        The message with its most frequent remedy.
    """
    return (
        f"the sandbox cannot be made on this machine: {' '.join(printable(said).split())[-300:]}; "
        "are user namespaces permitted (kernel.apparmor_restrict_unprivileged_userns=0)?"
    )


def answer_of(*command: str, seconds: float | None = None) -> "subprocess.CompletedProcess[str]":
    """Run one of the machine's tools and wait for its answer.

    Parameters
    ----------
    *command : str
        The program and its arguments.  Its standard input is empty.
    seconds : float, optional
        After this time the tool is killed and `subprocess.TimeoutExpired` is raised.

    Returns
    -------
    subprocess.CompletedProcess
        The exit code and what the tool printed.
    """
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=seconds
    )


def last_line(answer: "subprocess.CompletedProcess[str]") -> str:
    """Take the last line of what a tool printed, without characters that could disturb a terminal.

    Parameters
    ----------
    answer : subprocess.CompletedProcess
        The answer of the tool.

    Returns
    -------
    str
        The last line of its errors, or else of its output.  If it printed nothing, the exit code.
    """
    lines = (answer.stderr.strip() or answer.stdout.strip() or f"exit code {answer.returncode}").splitlines()
    return printable(lines[-1])[:300]
