"""What is known of the difference between two submissions, and the sentences that say it."""

import html
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from podium.common.options import is_command
from podium.common.statements import say
from podium.common.wording import plural
from podium.metric.contract import Explanation, ScoredSubmission
from podium.statistics.doubts import Doubt, Reason

RESAMPLES = 1000
# Doubts that do not count the items that decide.
WITHOUT_NUMBER = (Reason.FAILED, Reason.FAR, Reason.HEAVY_TAIL, Reason.TOO_SLOW)
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Difference(NamedTuple):
    """The difference between two scores."""

    value: float  # the first score minus the second one
    low: float  # the ends of its 95% interval, NaN if there is a doubt
    high: float
    ahead: float  # the share of draws in which the first submission is better; a tie counts as half
    doubt: Doubt | None = None  # why there is no interval
    # The smallest true difference that four of five such test sets would show; NaN if there is a doubt, if both
    # submissions are the same, if one of them is hardly anywhere better, or if small groups decide.
    detectable: float = np.nan
    hidden: Doubt | None = None  # the doubt, if small groups decide what is detectable


@dataclass(frozen=True, repr=False)
class Comparison:
    """How two submissions to the same solution compare.

    Attributes
    ----------
    score : Difference
        The difference between their scores.
    table : DataFrame
        A row per measure, with its name in ``measure``. The value of the first submission is ``value``, that
        of the second one is ``other``. Their ``difference`` has an interval from ``low`` to ``high``. If the
        interval is missing, the ``note`` says why.
    large_groups : tuple of str
        The measures that are scores of groups with at least ten items.
    resamples : int
        The number of draws.
    of : podium.scoring.evaluating.Evaluation, optional
        The first submission, if it was scored and not only its statistics were compared.
    """

    score: Difference
    table: pd.DataFrame
    large_groups: tuple[str, ...]
    resamples: int = RESAMPLES
    of: ScoredSubmission | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"{self.table.to_string(index=False)}\n{self._said}"

    def _repr_html_(self) -> str:
        return f"{self.table.to_html(index=False, border=0)}<p>{html.escape(self._said)}</p>"

    @property
    def _said(self) -> str:
        """What `podium score` says of two files."""
        noun, higher = "item", True
        if self.of is not None:
            noun, higher = noun_of(self.of.explanation), self.of.solution.higher_is_better
        said = said_of(self, noun, higher, ("the first submission", "the second one"))
        return said[0].upper() + said[1:]


def noun_of(explanation: Explanation) -> str:
    """Name an item, such as “essay”, by the column that an explanation has for it."""
    name = explanation.roles.get("item")
    return name.removesuffix("_id").replace("_", " ") if name in explanation.rows and name else "item"


def said_of(comparison: Comparison, noun: str, higher_is_better: bool, names: tuple[str, str]) -> str:
    """Say which of two submissions is better, by the larger groups where small ones decide."""
    doubt, has_groups = comparison.score.doubt, len(comparison.table) > 1 and comparison.score.value != 0
    if has_groups and doubt is not None and doubt.reason is Reason.SMALL_GROUPS:
        return of_groups(comparison, noun, higher_is_better, names)
    return sentence(comparison.score, noun, higher_is_better, names)


def sentence(
    difference: Difference, noun: str, higher_is_better: bool = True, names: tuple[str, str] = ("A", "B")
) -> str:
    """Say which of two submissions is better, if the test set can tell."""
    value, doubt = difference.value, difference.doubt
    if np.isnan(value):
        return say("cannot_be_compared", names=names)
    is_first = (value > 0) == higher_is_better
    better, worse = names if is_first else names[::-1]
    both = {"better": better, "worse": worse, "by": abs(value)}
    ahead = say("is_ahead", **both) if value else say("same_score", names=names)
    if doubt is not None and doubt.reason in WITHOUT_NUMBER:
        option = f"; {_more_draws()} draws them" if doubt.reason is Reason.TOO_SLOW else ""
        return say("ahead_without_chance", ahead=ahead, doubt=doubt, option=option)
    if doubt is not None and doubt.reason is not Reason.UNDEFINED:
        number = doubt.items
        count = NUMBERS[number] if 0 < number < len(NUMBERS) else f"{number:,}" if number else "hardly any"
        decide = f"{noun} decides" if number < 2 else f"{plural(noun)} decide"
        return say("too_few_decide", ahead=ahead, count=count.capitalize(), decide=decide)
    if value == 0:
        return f"{ahead}."
    share = _share(difference.ahead if is_first else 1 - difference.ahead)
    if difference.low > 0 or difference.high < 0:
        return say("is_better", **both, share=share)
    return say("interval_contains_0", ahead=ahead, share=share)


def _more_draws() -> str:
    """Name the number of draws that somebody may ask for."""
    return "--bootstrap 200" if is_command() else "resamples=200"


def _share(share: float) -> str:
    """Write a share of the draws, so that it is not rounded to all of them."""
    return "all" if share == 1 else "more than 99% of the" if share >= 0.995 else f"{share:.0%} of the"


def of_groups(comparison: Comparison, noun: str, higher_is_better: bool, names: tuple[str, str]) -> str:
    """Say which of two submissions is better in the groups that are large enough, where small ones decide."""
    doubt, value = comparison.score.doubt, comparison.score.value
    assert doubt is not None
    both = list(zip(names, comparison.table.iloc[0][["value", "other"]].tolist()))
    (better, score), (worse, other) = both if (value > 0) == higher_is_better else both[::-1]
    large = comparison.table[comparison.table["measure"].isin(comparison.large_groups)]
    number, clearly = len(large), int(((large["low"] > 0) if value > 0 else (large["high"] < 0)).sum())
    against = int((large["difference"] * value < 0).sum())
    if not number:
        told = say("no_large_group", fewest=doubt.fewest)
    elif clearly == number:
        told = say("better_in_large_groups", better=better, number=number)
    else:
        other_ahead = f", and {worse} is ahead in {against}" if against else ""
        told = say("better_in_some", better=better, clearly=clearly, number=number, against=other_ahead)
    scores = {"better": better, "score": score, "worse": worse, "other": other}
    decided = {"fewest": doubt.fewest, "items": plural(noun), "share": doubt.share}
    return say("difference_of_groups", **scores, **decided, told=told)
