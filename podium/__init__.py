"""Hosted competition metrics, and everything around them.

Score a submission, and ask where its score comes from:

>>> import pandas as pd, podium
>>> solution = pd.read_csv("solution_sample.csv")
>>> result = podium.score(solution, pd.read_csv("sample_submission.csv"))
>>> round(result.score, 6)
0.587969

Participants need `score`, `prepare` and `estimate`. Organizers run models with `run`, make a final
board with `rank` and check a published one with `verify`. There are three modules beside them: `podium.spans`
turns a model's output into a submission, `podium.tuning` finds thresholds, and `podium.statistics` tells how
certain a score is. `podium.errors` has the exceptions. The command line does the same and more: ``podium
--help`` lists its commands.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium import errors, markups, spans, statistics, tuning
    from podium.contest.front_door import prepare, score
    from podium.hosting.collecting import collect
    from podium.ranking.estimate import estimate
    from podium.ranking.rank import rank
    from podium.ranking.verify import verify
    from podium.report.page import write_report
    from podium.running.run import run

__all__ = [
    "__version__", "collect", "errors", "estimate", "markups", "prepare", "rank", "run", "score",
    "spans", "statistics", "tuning", "verify", "write_report",
]  # fmt: skip

from podium.common.version import __version__

# These are loaded when they are first used, because `podium --help` should not have to wait for pandas.
_FUNCTIONS = {
    "collect": "podium.hosting.collecting",
    "estimate": "podium.ranking.estimate",
    "prepare": "podium.contest.front_door",
    "rank": "podium.ranking.rank",
    "run": "podium.running.run",
    "score": "podium.contest.front_door",
    "verify": "podium.ranking.verify",
    "write_report": "podium.report.page",
}
_MODULES = ("errors", "markups", "spans", "statistics", "tuning")


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"podium.{name}")
    raise AttributeError(f"module 'podium' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
