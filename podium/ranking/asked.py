"""What `podium.rank` was given: its arguments, in parts that go to where they are used."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from podium.child.limits import Limits
from podium.metric import own
from podium.ranking.rules import Rules, fault_in
from podium.running.settings import parse_bytes, parse_seconds
from podium.words.errors import UsageError

__all__ = ["DEFAULT_LIMITS", "Request", "command_of", "given", "limits_of"]

POSITIONAL = ("solution", "submissions", "runtimes")
FLAGS = {"selection": "select", "memory": "memory_limit", "seconds": "time_limit", "idle": "idle_limit"}
DEFAULT_LIMITS = Limits(4 * 2**30, 600.0, 60.0)


class Request(NamedTuple):
    """What was asked for.  What was not given is in none of the mappings: an earlier run may say it."""

    out: Path
    metric: str
    paths: dict[str, str]  # of the inputs, by their names in `Options`
    rules: dict[str, Any]  # fields of `Rules`
    heading: dict[str, Any]  # the title, the organizer, and the teams that get a page
    again: Path | None = None
    part: str = ""
    limits: Limits = DEFAULT_LIMITS
    jobs: int = 0
    dask: str | None = None

    def check(self) -> None:
        """Refuse what the command line could not give, and what contradicts itself."""
        for name, value in {**self.paths, **self.rules, **self.heading, "part": self.part or None}.items():
            if value in ("", [""]) and name != "items":  # which would count as an option that was not given
                raise UsageError(f"{_flag(name)}: expected a value, found an empty text; leave the option out")
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs < 0:
            raise UsageError(f"--jobs: expected a whole number that is at least 0, found {self.jobs!r}")
        if self.rules.get("boost") and "runtimes" not in self.paths and self.again is None:
            raise UsageError("boost=True: expected runtimes, without which no speed can be rewarded")
        if fault := fault_in(Rules(**self.rules)):
            raise UsageError(fault)


def given(**values: Any) -> dict[str, Any]:
    """Take those values that were given; a path becomes a text."""
    texts = {name: os.fspath(each) if isinstance(each, os.PathLike) else each for name, each in values.items()}
    return {name: each for name, each in texts.items() if each is not None}


def limits_of(memory: str | int, seconds: str | float, idle: str | float) -> Limits:
    """Read the limits of one submission."""
    return Limits(
        parse_bytes(memory, "--memory-limit"),
        parse_seconds(seconds, "--time-limit"),
        parse_seconds(idle, "--idle-limit"),
    )


def command_of(asked: Request, parameters: Mapping[str, Any]) -> list[str]:
    """Write what was asked for as the command that asks the same."""
    command = ["podium", "rank", *(asked.paths[name] for name in POSITIONAL if name in asked.paths)]
    limits = asked.limits._asdict().items() - DEFAULT_LIMITS._asdict().items()
    rest: dict[str, Any] = {
        "out": asked.out,
        "metric": None if asked.metric == own.DEFAULT else asked.metric,
        "again": asked.again,
        "part": asked.part or None,
        **{name: path for name, path in asked.paths.items() if name not in POSITIONAL},
        **asked.rules,
        **asked.heading,
        **dict(limits),
        "jobs": asked.jobs or None,
        "dask": asked.dask,
    }
    for name, value in given(**rest).items():
        if isinstance(value, bool):
            command.append(_flag(name) if value else f"--no-{name}")
            continue
        for text in map(str, value if isinstance(value, list) else [value]):
            # A text that begins with a hyphen is taken for an option, unless it is behind an equals sign.
            command += [f"{_flag(name)}={text}"] if text.startswith("-") else [_flag(name), text]
    for name, value in parameters.items():
        command += ["--set", f"{name}={value}"]
    return command


def _flag(name: str) -> str:
    """The option of the command that gives a value."""
    return f"--{FLAGS.get(name, name).replace('_', '-')}"
