"""What a board says in sentences: for a jury, for the screen, and for whoever quotes it.

Every sentence is made of the numbers of one ranking.  None says more than these.
"""

import math
from typing import Any

import numpy as np
import pandas as pd

from podium.ranking.board import Ranking, Run
from podium.wording import counted, listed

__all__ = [
    "in_cases", "items_of", "number", "of_direction", "of_hundred", "percent", "score_name", "summary",
]  # fmt: skip

LIKELY = 0.05  # a rival's share of the draws from which on it is named
NAMED = 3


def number(value: Any, digits: int = 5) -> str:
    """A number with so many decimals, without a sign at zero; a dash for nothing.

    >>> number(-0.000001), number(1234.5, 1), number(None)
    ('0.00000', '1,234.5', '–')
    """
    if pd.isna(value):
        return "–"
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value:z,.{digits}f}"


def percent(share: float) -> str:
    """A share, never 0% or 100% for what is not.

    >>> percent(0.0004), percent(0.124), percent(0.9996), percent(1.0)
    ('<0.1%', '12.4%', '>99.9%', '100%')
    """
    if math.isnan(share):
        return "–"
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.0%}" if share in (0, 1) else f"{share:.1%}"


def of_hundred(share: float) -> str:
    """A share as a whole number of hundred, never 0 or 100 for what is not.

    >>> of_hundred(0.0004), of_hundred(0.5), of_hundred(0.9999), of_hundred(1.0)
    ('1', '50', '99', '100')
    """
    if math.isnan(share):
        return "–"
    return str(round(share * 100) if share in (0, 1) else min(99, max(1, round(share * 100))))


def in_cases(share: float) -> str:
    """A share of the draws as a frequency.

    >>> in_cases(0.5), in_cases(0.096), in_cases(0.0004), in_cases(0.9999)
    ('in about 50 of 100 cases', 'in about 10 of 100 cases', 'hardly ever', 'in nearly all cases')
    """
    if share < 0.005:
        return "hardly ever"
    return "in nearly all cases" if share >= 0.995 else f"in about {share * 100:.0f} of 100 cases"


def items_of(facts: dict[str, Any], number_of: int | None = None) -> str:
    """The items of a board in the plural, or so many of them.

    >>> items_of({"item": "essay"}), items_of({"item": "essay"}, 1)
    ('essays', '1 essay')
    """
    return f"{facts['item']}s" if number_of is None else counted(number_of, facts["item"])


def score_name(facts: dict[str, Any]) -> str:
    """What decides: "boosted score", or "score" where speed is not rewarded."""
    return "boosted score" if facts["boosted"] else "score"


def of_direction(facts: dict[str, Any]) -> str:
    """Which scores are better, and whether the metric says so.

    >>> of_direction({"higher_is_better": True, "higher_is_better_assumed": True})
    'Higher is better (assumed: the metric does not say).'
    """
    better = "Higher" if facts["higher_is_better"] else "Lower"
    assumed = " (assumed: the metric does not say)" if facts["higher_is_better_assumed"] else ""
    return f"{better} is better{assumed}."


def summary(run: Run) -> list[str]:
    """What is certain and what is not, for a reader who decides about prizes.

    Parameters
    ----------
    run : Run

    Returns
    -------
    list of str
        Sentences: who leads and by what, how likely that is with other items, whether it is certain, who is
        next to the last prize, what other decisions would have done.
    """
    sentences = [*_of_the_winner(run), *_of_speed(run)]
    if run.ranking.intervals is not None and len(run.ranking.leaderboard) > 1:
        sentences += [*_of_chance(run), *_of_certainty(run), *_of_the_last_prize(run)]
    return [*sentences, *_of_decisions(run.ranking)]


def _of_the_winner(run: Run) -> list[str]:
    """Who is first, who second."""
    board, facts = run.ranking.leaderboard, run.facts
    name = score_name(facts)
    first = board.iloc[0]
    decide = f"{items_of(facts, facts['items'])} of the {facts['decided_by']} part decide"
    if facts["decided_by"] == "All":
        decide = f"{items_of(facts, facts['items'])} decide"
    if len(board) == 1:
        return [f"{first['team']} is the only team on the board.", f"{decide}."]
    second = board.iloc[1]
    if facts["ties"] and facts["ties"][0]:
        leading = (
            f"{first['team']} and {second['team']} have the same {name}, {number(first['boosted_score'])}; "
            f"{facts['ties'][0]} puts {first['team']} first."
        )
    else:
        leading = (
            f"{first['team']} is first with a {name} of {number(first['boosted_score'])}, "
            f"{second['team']} second with {number(second['boosted_score'])}."
        )
    return [leading, f"{decide}."]


def _of_speed(run: Run) -> list[str]:
    """Whether the winner leads by its score or by its speed."""
    if not run.facts["boosted"] or len(run.ranking.leaderboard) == 1:
        return []
    board = run.ranking.leaderboard
    first = board.iloc[0]
    if first["rank_before"] == 1:
        return [f"{first['team']} would be first without rewards for speed, too."]
    best = board.loc[board["rank_before"] == 1, "team"].iloc[0]
    sentence = (
        f"{first['team']} leads by its speed: by its score alone it would have rank {first['rank_before']}, "
        f"and {best} would be first."
    )
    intervals = run.ranking.intervals
    if intervals is None or "eligible_share" not in intervals:
        return [sentence]
    share = percent(float(intervals["eligible_share"].iloc[0]))
    return [sentence, f"It is eligible for the reward in {share} of the draws."]


def _of_chance(run: Run) -> list[str]:
    """How often the winner and its rivals would win."""
    intervals, facts = run.ranking.intervals, run.facts
    assert intervals is not None
    if "prize_1" not in intervals:
        return []
    shares = intervals["prize_1"]
    winner = intervals["team"].iloc[0]
    runs = " and other runs of the models" if facts["runtimes_drawn"] else ""
    chance = (
        f"With other {items_of(facts)} of the same kind{runs}, {winner} would win {in_cases(shares.iloc[0])}"
    )
    rivals = intervals.iloc[1:][shares.iloc[1:] >= LIKELY].nlargest(NAMED, "prize_1")
    named = [f"{team} {in_cases(share)}" for team, share in zip(rivals["team"], rivals["prize_1"].tolist())]
    return [", ".join([chance, *named]) + "."]


def _of_certainty(run: Run) -> list[str]:
    """Whether the data exclude that another team is the best."""
    intervals = run.ranking.intervals
    assert intervals is not None
    winner = intervals["team"].iloc[0]
    rivals = intervals["team"][1:][intervals["all_ranks_low"][1:] == 1].tolist()
    if not rivals:
        return [f"At the usual level of 95% it is certain that {winner} is truly the best."]
    are = "is" if len(rivals) == 1 else "are"
    likely = "prize_1" in intervals and intervals["prize_1"].iloc[0] > 0.5
    both = (
        f" Both are true: {winner} is the most likely winner, and the evidence does not exclude "
        f"{'the other one' if len(rivals) == 1 else 'the others'}."
        if likely
        else ""
    )
    return [
        f"It is not certain that {winner} is truly the best: at the usual level of 95%, "
        f"{listed(rivals, NAMED)} {are} not excluded.{both}"
    ]


def _of_the_last_prize(run: Run) -> list[str]:
    """Who gets the last prize, and who comes next."""
    intervals, facts = run.ranking.intervals, run.facts
    assert intervals is not None
    prizes = run.rules.prizes
    if prizes < 2 or len(intervals) <= prizes:
        return []
    last, following = intervals.iloc[prizes - 1], intervals.iloc[prizes]
    behind = abs(last["boosted_score"] - following["boosted_score"])
    chance = in_cases(float(sum(following[f"prize_{place}"] for place in range(1, prizes + 1))))
    return [
        f"The last prize, place {prizes}, goes to {last['team']}; {following['team']} follows "
        f"{number(behind)} behind in {score_name(facts)} and would win a prize {chance}."
    ]


def _of_decisions(ranking: Ranking) -> list[str]:
    """How often the winner wins under other decisions."""
    table = ranking.variants
    if table is None or table.empty or len(ranking.leaderboard) == 1:
        return []
    winner = ranking.leaderboard["team"].iloc[0]
    wins = int((table["first"] == winner).sum())
    return [
        f"Under {wins} of {len(table)} other decisions about the metric and the rewards, {winner} would be "
        "first, too."
    ]
