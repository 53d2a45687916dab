"""How scores become ranks, and what stands at the top of the page."""

from typing import NamedTuple

__all__ = ["Heading", "Rules", "is_choice"]


def is_choice(text: str) -> bool:
    """Tell whether a text is a rule that chooses a file of each team.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    bool
        Whether it is "private", or "public:N" with N at least 1.

    Examples
    --------
    >>> is_choice("private"), is_choice("public:2"), is_choice("public:0")
    (True, True, False)
    """
    number = text.removeprefix("public:")
    return text == "private" or (text != number and number.isdecimal() and int(number) > 0)


class Rules(NamedTuple):
    """The options of `podium rank` that decide about ranks.

    Attributes
    ----------
    choose : str
        The rule that chooses the file of each team that counts.  With "public:N", it is the better by Private
        score of the N best files by Public score.  With "private", it is the best file by Private score.  With
        "", the rule is "public:2" if there are Public scores, and "private" otherwise.
    boost : bool
        Whether speed is rewarded.
    max_boost, eligibility_ratio, slowdown_limit : float
        The parameters of ``boost.py``.
    resamples : int
        The number of bootstrap draws, or 0 for no intervals.
    seed : int
        The seed of all random numbers.
    prizes : int
        The number of places that win a prize.  The page shows how likely each team is to win one, and draws a
        line below the last of these places.
    variants : bool
        Whether the chosen files are read again, to be scored with other weights, thresholds and overlap rules.
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
        """The parameters of ``boost.py``.

        Returns
        -------
        dict of str to float
            ``max_boost``, ``eligibility_ratio`` and ``slowdown_limit``.
        """
        return {name: getattr(self, name) for name in ("max_boost", "eligibility_ratio", "slowdown_limit")}


class Heading(NamedTuple):
    """What the page says beside the ranking.  No rank depends on it.

    Attributes
    ----------
    title : str
        The name of the competition.
    organizer : str
        The name of the publisher of the board.  If it is "", the page does not show it.
    team : str or None
        A team that gets a page of its own.
    """

    title: str = "The final board"
    organizer: str = ""
    team: str | None = None
