"""A run: what was asked, what came out, and its run.json; with the host's tables."""

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium import hosted
from podium.errors import HostError, UsageError
from podium.files import is_url
from podium.ranking import speed, work
from podium.ranking.board import RUN, Ranking
from podium.ranking.rules import Rules
from podium.ranking.submissions import Submission, read_named
from podium.wording import listed

__all__ = ["Request", "Run", "as_then", "changed_inputs", "read_run", "read_tables", "request_of"]


class Request(NamedTuple):
    """What is ranked: paths or URLs, a metric's name or path and its keyword arguments."""

    metric: str
    solution: str
    submissions: str
    runtimes: str | None = None
    selection: str | None = None
    parameters: dict[str, Any] = {}  # noqa: RUF012  (never changed)


class Run(NamedTuple):
    """A finished run."""

    request: Request
    rules: Rules
    ranking: Ranking
    facts: dict[str, Any]


def read_run(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The run.json of a folder (or at a path)."""
    path = Path(folder) / RUN if Path(folder).is_dir() else Path(folder)
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        for name in ("inputs", "rules", "parameters", "submissions", "store", "outputs"):
            facts[name]
    except OSError as problem:
        raise UsageError(
            f"cannot read {path}: {problem.strerror or problem}; expected a finished run"
        ) from None
    except (ValueError, KeyError, TypeError) as problem:
        raise UsageError(
            f"{path}: expected the run.json of podium rank; {problem} is wrong or lacking"
        ) from None
    return dict(facts)


def request_of(facts: dict[str, Any], folder: Path) -> Request:
    """What a run.json says was ranked; paths are relative to its folder."""
    inputs = facts["inputs"]

    def path_of(name: str) -> str | None:
        path = (inputs.get(name) or {}).get("path")
        if path is None or is_url(path) or (name == "metric" and path in hosted.FILES):
            return path
        return os.path.normpath(os.path.join(folder, path))

    return Request(
        str(path_of("metric")),
        str(path_of("solution")),
        str(path_of("submissions")),
        path_of("runtimes"),
        path_of("selection"),
        {name: math.inf if value == "inf" else value for name, value in facts["parameters"].items()},
    )


def as_then(submission: Submission, facts: dict[str, str]) -> Submission:
    """With what run.json has of it from a manifest."""
    given: dict[str, Any] = {name: facts.get(name, "") for name in ("submitted_at", "public_score")}
    return submission._replace(**given)


def changed_inputs(facts: dict[str, Any], request: Request) -> list[str]:
    """Which inputs are not what they were."""
    changes = []
    for name, then in facts["inputs"].items():
        path = getattr(request, name, None)
        if path is not None and then is not None and "sha256" in then:
            now = work.digest(str(hosted.find(path)) if name == "metric" else path)
            if now != then["sha256"]:
                was = f"SHA-256 is {now}, was {then['sha256']}"
                changes.append(f"the {name} {path} has changed since the earlier run: {was}")
    return changes


def read_tables(
    request: Request, submissions: Sequence[Submission]
) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """The host's runtimes and selection; None where there are none."""
    runtimes = None if request.runtimes is None else speed.read(request.runtimes)
    if request.selection is None:
        return runtimes, None
    keys = speed.KEYS
    selection = read_named(request.selection, keys, keys, set(keys))[keys]
    known = {each[:2] for each in submissions}
    absent = ["/".join(key) for key in selection.itertuples(index=False, name=None) if key not in known]
    if absent:
        raise HostError(f"selected but not among the submissions: {listed(sorted(absent))}")
    return runtimes, selection
