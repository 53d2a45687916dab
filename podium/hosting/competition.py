"""A competition as platforms need it: its files, its metric, its dates and limits."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.common.errors import UsageError
from podium.contest import recorded
from podium.contest.recorded import PRIVATE, RECORD
from podium.hosting.folders import (
    PUBLIC,
    REPORT,
    SAMPLE,
    SOLUTION,
    public_files,
)
from podium.metric.hosted import Metric
from podium.metric.parameters import defaults, higher_is_better


@dataclass(frozen=True)
class Competition:
    """What a platform needs to know about a competition."""

    folder: Path  # the folder that `podium make` wrote, with ``public/`` and ``private/``
    metric: Metric  # the metric that scores submissions
    # the arguments of ``score`` beside the two tables, ``row_id_column_name`` among them
    arguments: dict[str, Any]
    title: str  # the title that the platform shows
    subtitle: str  # the line below the title

    def __post_init__(self) -> None:
        """Refuse an empty title, which every site does after the upload."""
        if not self.title.strip():
            raise UsageError("--title: expected a title, found nothing")

    @property
    def public(self) -> dict[str, Path]:
        """The files that participants get, by their paths below ``public/``; hidden files are left out."""
        files = public_files(self.folder).items()
        return {name: path for name, path in files if not re.search(r"(^|/)\.", name)}

    @property
    def sample(self) -> Path:
        """The file of the sample submission."""
        return self.folder / PUBLIC / SAMPLE

    @property
    def solution(self) -> Path:
        """The file of the solution."""
        return self.folder / PRIVATE / SOLUTION

    @property
    def better(self) -> str:
        """Which scores are better: "higher" or "lower"."""
        return "higher" if higher_is_better(self.metric, self.arguments) else "lower"


def keep_parameters(competition: Competition) -> str:
    """Record the parameters with which a competition goes out, so that the host can see them later."""
    folder = competition.folder
    record = recorded.read(folder) or recorded.Record(folder / RECORD, competition.metric.name, {})
    before = record.parameters
    known = defaults(competition.metric).keys() | before.keys()
    parameters = {name: value for name, value in competition.arguments.items() if name in known}
    if parameters == before:
        return ""
    recorded.write(record._replace(parameters=parameters))
    added = ", ".join(f"{name}={value}" for name, value in parameters.items() if name not in before)
    said = f"recorded in {folder / RECORD}: {added}"
    if (folder / REPORT).is_file():
        said += f" (the scores in {folder / REPORT} were computed without)"
    return said
