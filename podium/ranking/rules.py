"""How scores become ranks, and how the page is headed."""

from typing import NamedTuple

__all__ = ["Heading", "Rules"]


class Rules(NamedTuple):
    """The options of `podium rank` that decide about ranks.

    Attributes
    ----------
    choose : str
        Which of a team's files counts: "public:N", the better by Private score of the N best by Public score,
        or "private", the best by Private score. "" is public:2 where there are Public scores, else private.
    boost : bool
        Whether speed is rewarded.
    max_boost, eligibility_ratio, slowdown_limit : float
        The parameters of boost.py.
    resamples : int
        The number of bootstrap draws; 0 for no intervals.
    seed : int
        Of every draw.
    prizes : int
        The number of places that win a prize: their probabilities are given, and the page has a rule below
        them.
    variants : bool
        Whether the chosen files are read once more, to be scored under other rules.
    """

    choose: str = ""
    boost: bool = True
    max_boost: float = 0.05
    eligibility_ratio: float = 1.05
    slowdown_limit: float = 1.2
    resamples: int = 1000
    seed: int = 0
    prizes: int = 3
    variants: bool = False

    @property
    def of_boost(self) -> dict[str, float]:
        """The parameters of boost.py."""
        return {name: getattr(self, name) for name in ("max_boost", "eligibility_ratio", "slowdown_limit")}


class Heading(NamedTuple):
    """What the page says that no rank depends on.

    Attributes
    ----------
    title : str
        The name of the competition.
    organizer : str
        Who publishes the board; "" is not shown.
    team : str or None
        The team that gets a page of its own.
    """

    title: str = "The final board"
    organizer: str = ""
    team: str | None = None
