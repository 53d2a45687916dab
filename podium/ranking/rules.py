"""How scores become ranks."""

from typing import NamedTuple

__all__ = ["Rules"]


class Rules(NamedTuple):
    """How scores become ranks.

    Attributes
    ----------
    choose : "public:N", of a team's N best files by Public score the best by the deciding score; "private", the
        best by the deciding score of all; "" for public:2 where there are Public scores, else private
    boost : whether runtimes are rewarded
    max_boost, eligibility_ratio, slowdown_limit : as for boost.py
    resamples, seed : of the bootstrap; 0 resamples for no intervals
    prizes : number of places for which to give the probability
    variants : whether the chosen files are read once more, to be scored under other rules
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
