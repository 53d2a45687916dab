"""The command ``podium``, with a module for each of its commands.

A module is imported when its command is called. It defines `run` and `Options`, a dataclass from which the
arguments are declared.
Only `run` imports pandas and the modules that need it, so that ``podium COMMAND --help`` is quick.
"""

import argparse
import atexit
import contextlib
import difflib
import functools
import importlib
import math
import os
import re
import sys
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from podium.child.supervised import Patience, supervised
from podium.cli.arguments import is_of_competition, with_solution
from podium.cli.declared import declare
from podium.common import errors
from podium.common.options import by_command, made
from podium.common.version import __version__
from podium.metric import built_in

__all__ = ["COMMANDS", "main", "process"]

# The commands, grouped by who needs them, with the page of the documentation that says more. The first sentence
# of a command's docstring says what it does.
GROUPS = {
    "participants": {
        "score": "how-to/score-a-fold.md",
        "tune": "how-to/tune-thresholds.md",
        "estimate": "how-to/estimate-a-boost.md",
    },
    "hosts": {
        "make": "how-to/make-a-competition.md",
        "new": "how-to/your-own-metric.md",
        "check": "how-to/host-on-kaggle.md",
        "emulate": "how-to/host-on-kaggle.md",
        "publish": "how-to/host-on-kaggle.md",
        "bundle": "how-to/host-on-codabench-or-evalai.md",
        "agreement": "how-to/markups-of-any-tool.md",
    },
    "organizers": {
        "run": "how-to/run-models.md",
        "collect": "how-to/host-on-codabench-or-evalai.md",
        "rank": "how-to/rank.md",
        "boost": "how-to/estimate-a-boost.md",
        "verify": "how-to/rank.md",
    },
}
COMMANDS = {name: page for commands in GROUPS.values() for name, page in commands.items()}

# What people look for under another name, and the command that does it.
OTHER_NAMES = {
    "report": "score SOLUTION SUBMISSION --report report.html",
    "explain": "score SOLUTION SUBMISSION --rows rows.csv",
    "compare": "score SOLUTION SUBMISSION OTHER",
    "evaluate": "score SOLUTION SUBMISSION",
    "apply": "tune SOLUTION PREDICTIONS --apply CANDIDATES --out submission.csv",
    "thresholds": "tune SOLUTION PREDICTIONS",
    "validate": "check METRIC",
    "upload": "publish FILES --title TITLE",
    "board": "rank",
    "leaderboard": "rank",
}

EXIT_CODES = """Exit codes: 0 done, 1 podium verify found differences, 2 wrong usage or environment,
3 the submission is rejected, 4 the solution, a parameter or the metric is wrong."""
READ_ON = "Read on in docs/{} of the repository."
MESSAGES = (
    "Messages are explained in docs/reference/messages.md. python -m pydoc podium needs only the package."
)


def main(arguments: list[str] | None = None, *, apart: bool = False) -> int:
    """Run a command line; a custom metric may be executed `apart` from this process."""
    parser = _Front(
        prog="podium",
        description="Hosted competition metrics, and everything around them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="podium COMMAND …  (podium COMMAND --help says more)",
    )
    parser.add_argument("--version", action="version", version=f"podium {__version__}")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help="see below")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help(sys.stderr)
        return errors.UsageError.exit_code
    if chosen.command not in COMMANDS:
        parser.error(_unknown(chosen.command))

    command = _module(chosen.command)
    of_command = argparse.ArgumentParser(
        prog=f"podium {chosen.command}",
        description=command.__doc__,
        epilog=f"{READ_ON.format(COMMANDS[chosen.command])} Exit codes: podium --help.",
        formatter_class=_Help,
    )
    declare(of_command, command.Options)
    for option, first, second in zip(chosen.rest, chosen.rest[1:], chosen.rest[2:]):
        if option == "--set" and re.fullmatch(r"[A-Za-z_]\w*=.*", second) and not os.path.exists(second):
            of_command.error(f"--set takes one NAME=VALUE: write --set {first} --set {second}")
    given = with_solution(vars(of_command.parse_intermixed_args(chosen.rest)))
    work = by_command()(functools.partial(_run, chosen.command, given))
    patience = _patience(chosen.command, given) if apart else None
    return errors.exit_code_of(work) if patience is None else supervised(work, patience)


# Commands that execute no custom metric. Every other one, also a new one, runs such a metric in a child.
WITHOUT_METRIC = frozenset({"boost", "collect", "estimate", "new", "run", "tune"})
WAITING = frozenset({"publish", "rank", "verify"})  # for a site, or for workers, which have limits of their own
SECONDS_FOR_OTHERS = 600.0  # without any processor time, where somebody else may be slow


def _patience(name: str, given: Mapping[str, Any]) -> Patience | None:
    """How long a command may take if its metric may be a custom one; None if it is built in."""
    is_recorded = name == "verify" or given.get("again") is not None  # run.json names the metric
    metric = given.get("metric")
    if metric is None:
        metric, is_recorded = built_in.DEFAULT, is_recorded or is_of_competition(given)
    if name in WITHOUT_METRIC or (metric in built_in.names() and not is_recorded):
        return None
    idle, processor = given.get("idle_limit"), given.get("time_limit")
    submissions = given.get("submission")
    if name in WAITING or (
        isinstance(submissions, list) and "-" in submissions
    ):  # the standard input may be slow
        return Patience(SECONDS_FOR_OTHERS)
    return Patience(Patience().idle if idle is None else idle, math.inf if processor is None else processor)


# Options whose values are no inputs, or, as --data of podium run, are checked there, with another reason.
NO_INPUTS = ("out", "title", "organizer", "team", "data")


def _run(name: str, given: dict[str, Any]) -> None:
    """Run a command with its options, unless it would write where one of its inputs is."""
    from podium.child import overheard
    from podium.tables.files import check_apart

    overheard.forget()
    command = _module(name)
    out = given.get("out")
    # A folder may have the name of a built-in metric.
    no_inputs = (*NO_INPUTS, *(["metric"] if given.get("metric") in built_in.names() else []))
    values = [value for option, value in given.items() if option not in no_inputs]
    flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
    if out is not None:
        check_apart(out, [each for each in flat if isinstance(each, str | Path) and os.path.exists(each)])
    command.run(made(command.Options, given))


class _Help(argparse.RawDescriptionHelpFormatter):
    """A help text whose usage names what is required; the options that may be left out are listed below it."""

    def __init__(self, prog: str, **others: Any) -> None:
        super().__init__(f"{prog} [options]", **others)

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None = None,
    ) -> None:
        required = [action for action in actions if action.required or not action.option_strings]
        super().add_usage(usage, required, [], prefix)


def _unknown(name: str) -> str:
    """Say which command a wrong one may have meant."""
    near = difflib.get_close_matches(name.casefold(), [*COMMANDS, *OTHER_NAMES], 1)
    if not near:
        return f"expected a command, one of {', '.join(COMMANDS)}; found {name!r:.40}"
    return f"there is no command {name!r:.40}; you may mean: podium {OTHER_NAMES.get(near[0], near[0])}"


class _Front(argparse.ArgumentParser):
    """The parser of ``podium``, whose help lists all commands, which are imported only for that."""

    def format_help(self) -> str:
        lines = []
        for group, commands in GROUPS.items():
            lines.append(f"for {group}:")
            for name in commands:
                does = str(_module(name).__doc__).partition("\n\n")[0].removesuffix(".")
                lines.append(f"  {name:<12} {does[0].lower()}{does[1:]}")
            lines.append("")
        self.epilog = "\n".join([*lines, EXIT_CODES, "", f"{READ_ON.format('index.md')} {MESSAGES}"])
        return super().format_help()


def _module(command: str) -> types.ModuleType:
    return importlib.import_module(f"podium.cli.{command}")


def _open_standard_streams() -> None:
    """Let closed standard streams (<&-) lead nowhere, because the next open file would take their numbers."""
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        if getattr(sys, name) is None:
            with contextlib.suppress(OSError):  # pythonw.exe has no streams
                opened = os.open(os.devnull, os.O_RDWR)
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
                setattr(sys, name, os.fdopen(number, mode, closefd=False))


def process() -> NoReturn:
    """Run the command line of this process and end it."""
    _open_standard_streams()
    code = main(apart=True)
    if "pyarrow" in sys.modules:
        # A thread of Arrow may release a Python object while the interpreter shuts down. Then the process
        # aborts although all work is done (apache/arrow#34314). Therefore the interpreter is not shut down.
        # Instead, the functions that were registered for the end of the process are called, and the process
        # ends at once.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
