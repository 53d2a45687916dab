"""How scores become ranks."""

from typing import NamedTuple


class Rules(NamedTuple):
    """The options of `podium rank`."""

    choose: str = ""  # "public:N" or "private"; "" for public:2 where there are Public scores, else private
    boost: bool = True
    max_boost: float = 0.05
    eligibility_ratio: float = 1.05
    slowdown_limit: float = 1.2
    resamples: int = 1000  # 0 for no intervals
    seed: int = 0
    prizes: int = 3  # places whose probabilities are given
    variants: bool = False  # whether the chosen files are read once more, to be scored under other rules

    @property
    def of_boost(self) -> dict[str, float]:
        """The parameters of boost.py."""
        return {name: getattr(self, name) for name in ("max_boost", "eligibility_ratio", "slowdown_limit")}
