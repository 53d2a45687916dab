"""The options of `podium.rank`: what is ranked, how scores become ranks, and what heads the page."""

import re
from datetime import datetime
from typing import Any, NamedTuple

from podium.child.limits import Limits

__all__ = [
    "ALL_TEAMS",
    "CIRCUMSTANCES",
    "HEADING",
    "LAST",
    "LONGEST_REASON",
    "PATHS",
    "RUN",
    "TEAM_PAGE",
    "Options",
    "Rules",
    "fault_in",
    "is_choice",
]

PATHS = (
    "metric", "solution", "submissions", "runtimes", "selection", "failed", "teams", "site_board", "side",
    "left_out", "before",
)  # fmt: skip
HEADING = ("title", "organizer", "team")  # what the page says beside the ranking: no rank depends on it
RUN = "run.json"  # records them
CIRCUMSTANCES = ("command", "date", "hardware", "store", "versions")  # cannot be computed again

# The most draws, which tell a share to a thousandth; a seed of the machine's size; more prizes than teams.
MOST = {"resamples": 100_000, "seed": 2**63 - 1, "prizes": 1_000_000}

LONGEST_REASON = 300  # characters, because it stands on the page
TEAM_PAGE = "team.html"
ALL_TEAMS = "all"  # in place of the name of a team
LAST = "last"  # the rule by which the last file of a team counts, as on Codabench and EvalAI


def is_choice(text: str) -> bool:
    """Tell whether a text is a rule that chooses a file of each team.

    >>> is_choice("private"), is_choice("public:2"), is_choice("last"), is_choice("public:0")
    (True, True, True, False)
    """
    return bool(re.fullmatch(f"private|{LAST}|public:[1-9][0-9]{{0,5}}", text))


def is_time(text: str) -> bool:
    """Tell whether a text is a day with a time in ISO 8601, as the times of submission are.

    >>> is_time("2024-01-23 23:59"), is_time("2024-01-23T23:59+01:00"), is_time("2024-01-23"), is_time("noon")
    (True, True, False, False)
    """
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return len(text) > len("2024-01-23")


class Rules(NamedTuple):
    """The options of `podium rank` that decide about ranks."""

    # The rule that chooses the file of each team that counts. With "public:N", it is the better by Private
    # score of the N best files by Public score. With "private", it is the best file by Private score. With
    # "last", it is the one with the latest time of submission. With "",
    # the rule is "public:2" if there are Public scores, and "private" otherwise.
    choose: str = ""
    boost: bool = True  # whether speed is rewarded
    max_boost: float = 0.05  # the parameters of ``boost.py``, like the next two
    eligibility_ratio: float = 1.05
    slowdown_limit: float = 1.2
    resamples: int = 1000  # the number of bootstrap draws, or 0 for no statements about chance
    seed: int = 0  # the seed of all random numbers
    prizes: int = 3  # the number of places that win a prize
    # A column of the solution. For a metric with score() alone, rows with the same value are drawn together.
    items: str = ""
    # whether the chosen files are read again, to be scored with other weights, thresholds and overlap rules
    variants: bool = False
    deadline: str = ""  # files that were submitted later do not count; if it is "", there is no deadline

    @property
    def of_boost(self) -> dict[str, float]:
        """The parameters of ``boost.py``."""
        return {name: getattr(self, name) for name in ("max_boost", "eligibility_ratio", "slowdown_limit")}


def fault_in(rules: Rules) -> str:
    """Say which of the rules cannot be, or return an empty text; ``boost.py`` checks those of the boost."""
    if rules.choose and not is_choice(rules.choose):
        return f"--choose: expected public:N, such as public:2, private or last, found {rules.choose}"
    if rules.deadline and not is_time(rules.deadline):
        return f"--deadline: expected a day and a time, such as 2024-01-23T23:59, found {rules.deadline}"
    for name in ("boost", "variants"):
        if not isinstance(getattr(rules, name), bool):
            return f"--{name}: expected True or False, found {getattr(rules, name)!r:.40}"
    for name, most in MOST.items():
        value = getattr(rules, name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            return f"--{name}: expected a whole number from 0 to {most:,}, found {value!r:.40}"
    return ""


class Options(NamedTuple):
    """What is asked for, as `podium.rank` is given it and run.json records it."""

    metric: str  # the name of a metric, or the path of its file
    solution: str  # a path or URL, as the next ones
    submissions: str
    parameters: dict[str, Any]  # of the metric
    runtimes: str | None = None
    selection: str | None = None  # the table of the files that teams selected
    failed: str | None = None  # the table of the models that failed
    side: str | None = None  # the folder with the host's file beside each submission
    teams: str | None = None  # the table of what a jury decided about teams
    site_board: str | None = None  # the board that the competition's site shows
    left_out: str | None = None  # the table of the items that count for nobody
    before: str | None = None  # the table of an earlier board
    part: str = ""  # the only part of the solution that counts, such as "Public"; else all of it
    rules: Rules = Rules()
    title: str = "The final board"  # the name of the competition
    organizer: str = ""  # the publisher of the board; if it is "", the page does not name one
    team: list[str] | None = None  # the teams that get a page of their own; "all" stands for all
    limits: Limits = Limits()
    is_fixed: bool = True  # whether the number of draws is given; if not, half-samples take at most ten minutes

    @property
    def paths(self) -> dict[str, str | None]:
        """The paths by their names."""
        return {name: getattr(self, name) for name in PATHS}
