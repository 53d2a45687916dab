"""What a board says in sentences: for a jury, for the screen, and for people who quote it.

Every sentence is made from the numbers of one ranking, and says no more than they do.
"""

import math
from typing import Any

import numpy as np
import pandas as pd

from podium.ranking.board import Ranking, Run
from podium.wording import counted, listed, plural

__all__ = [
    "in_cases", "items_of", "number", "of_direction", "of_hundred", "percent", "score_name", "summary",
]  # fmt: skip

LIKELY = 0.05  # a rival is named if it wins on at least this share of the draws
NAMED = 3


def number(value: Any, digits: int = 5) -> str:
    """Write a number for people.

    Parameters
    ----------
    value : number, or None
        The number.
    digits : int
        The number of decimals.  A whole number has none.

    Returns
    -------
    str
        The number with commas between thousands and without a sign at zero.  A missing one is a dash.

    Examples
    --------
    >>> number(-0.000001), number(1234.5, 1), number(None)
    ('0.00000', '1,234.5', '–')
    """
    if pd.isna(value):
        return "–"
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value:z,.{digits}f}"


def seconds(runtime: float | None) -> str:
    """Write a runtime for people, with more decimals for short ones, so that no model seems to take no time.

    Parameters
    ----------
    runtime : float, or None
        The runtime in seconds.

    Returns
    -------
    str
        The runtime with one decimal from 10 seconds on, two from one second on, and three below.  A missing one
        is a dash.

    Examples
    --------
    >>> seconds(1181.87), seconds(3.08), seconds(0.0388), seconds(None)
    ('1,181.9', '3.08', '0.039', '–')
    """
    if runtime is None or pd.isna(runtime):
        return number(None)
    return number(float(runtime), 1 if runtime >= 10 else 2 if runtime >= 1 else 3)


def percent(share: float) -> str:
    """Write a share in percent.  It is 0% or 100% only if it is exactly that.

    Parameters
    ----------
    share : float
        A share from 0 to 1, or NaN.

    Returns
    -------
    str
        The percentage with one decimal, or a dash for NaN.

    Examples
    --------
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
    """Write a share as a whole number out of 100.  It is 0 or 100 only if it is exactly that.

    Parameters
    ----------
    share : float
        A share from 0 to 1, or NaN.

    Returns
    -------
    str
        The whole number, or a dash for NaN.

    Examples
    --------
    >>> of_hundred(0.0004), of_hundred(0.5), of_hundred(0.9999), of_hundred(1.0)
    ('1', '50', '99', '100')
    """
    if math.isnan(share):
        return "–"
    return str(round(share * 100) if share in (0, 1) else min(99, max(1, round(share * 100))))


def in_cases(share: float) -> str:
    """Write a share of the draws as a frequency.

    Parameters
    ----------
    share : float
        A share from 0 to 1.

    Returns
    -------
    str
        Words that can follow a verb.

    Examples
    --------
    >>> in_cases(0.5), in_cases(0.096), in_cases(0.0004), in_cases(0.9999)
    ('in about 50 of 100 cases', 'in about 10 of 100 cases', 'in hardly any case', 'in nearly all cases')
    """
    if share < 0.005:
        return "in hardly any case"
    return "in nearly all cases" if share >= 0.995 else f"in about {share * 100:.0f} of 100 cases"


def items_of(facts: dict[str, Any], number_of: int | None = None) -> str:
    """Name the items of a board in the plural, or with their number.

    Parameters
    ----------
    facts : dict
        The facts of the board.
    number_of : int, optional
        How many items there are.

    Returns
    -------
    str
        The plural, or the number with the right form of the noun.

    Examples
    --------
    >>> items_of({"item": "essay"}), items_of({"item": "essay"}, 1)
    ('essays', '1 essay')
    """
    return plural(facts["item"]) if number_of is None else counted(number_of, facts["item"])


def score_name(facts: dict[str, Any]) -> str:
    """Name the score that decides.

    Parameters
    ----------
    facts : dict
        The facts of the board.

    Returns
    -------
    str
        "boosted score", or "score" if speed is not rewarded.
    """
    return "boosted score" if facts["boosted"] else "score"


def of_direction(facts: dict[str, Any]) -> str:
    """Say which scores are better, and whether this is assumed because the metric does not say.

    Parameters
    ----------
    facts : dict
        The facts of the board.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> of_direction({"higher_is_better": True, "higher_is_better_assumed": True})
    'Higher is better (assumed: the metric does not say).'
    """
    better = "Higher" if facts["higher_is_better"] else "Lower"
    assumed = " (assumed: the metric does not say)" if facts["higher_is_better_assumed"] else ""
    return f"{better} is better{assumed}."


def summary(run: Run) -> list[str]:
    """Say what is certain about a board and what is not, for a reader who decides about prizes.

    Parameters
    ----------
    run : Run
        A finished ranking with its facts.

    Returns
    -------
    list of str
        Sentences.  They say who leads and why, how likely this is with other items, and whether it is certain.
        They also say who comes next to the last prize, and whether other decisions would change the winner.
    """
    sentences = [*_of_the_winner(run), *_of_speed(run)]
    if run.ranking.intervals is not None and len(run.ranking.leaderboard) > 1:
        sentences += [*_of_chance(run), *_of_certainty(run), *_of_the_last_prize(run)]
    return [*sentences, *_of_decisions(run.ranking)]


def _of_the_winner(run: Run) -> list[str]:
    """Say who is first and who is second."""
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
            f"and {second['team']} is second with {number(second['boosted_score'])}."
        )
    return [leading, f"{decide}."]


def _of_speed(run: Run) -> list[str]:
    """Say whether the winner leads by its score or by its speed."""
    if not run.facts["boosted"] or len(run.ranking.leaderboard) == 1:
        return []
    board = run.ranking.leaderboard
    first = board.iloc[0]
    if first["rank_before"] == 1:
        return [f"{first['team']} would also be first without rewards for speed."]
    best = board.loc[board["rank_before"] == 1, "team"].iloc[0]
    sentence = (
        f"{first['team']} leads because of its speed. By score alone it would have rank "
        f"{first['rank_before']}, and {best} would be first."
    )
    intervals = run.ranking.intervals
    if intervals is None or "eligible_share" not in intervals:
        return [sentence]
    share = percent(float(intervals["eligible_share"].iloc[0]))
    return [sentence, f"It is eligible for the reward on {share} of the draws."]


def _of_chance(run: Run) -> list[str]:
    """Say how often the winner and its rivals would win."""
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
    """Say whether the data exclude that another team is the best."""
    intervals = run.ranking.intervals
    assert intervals is not None
    winner = intervals["team"].iloc[0]
    rivals = intervals["team"][1:][intervals["all_ranks_low"][1:] == 1].tolist()
    if not rivals:
        return [f"At the usual level of 95% it is certain that {winner} is truly the best."]
    likely = "prize_1" in intervals and intervals["prize_1"].iloc[0] > 0.5
    both = (
        f" Both are true: {winner} is the most likely winner, and the evidence does not exclude "
        f"{'the other one' if len(rivals) == 1 else 'the others'}."
        if likely
        else ""
    )
    return [
        f"It is not certain that {winner} is truly the best: at the usual level of 95%, "
        f"{listed(rivals, NAMED)} cannot be excluded.{both}"
    ]


def _of_the_last_prize(run: Run) -> list[str]:
    """Say who gets the last prize and who comes next."""
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
    """Say how often the winner wins under other decisions."""
    table = ranking.variants
    if table is None or table.empty or len(ranking.leaderboard) == 1:
        return []
    winner = ranking.leaderboard["team"].iloc[0]
    wins = int((table["first"] == winner).sum())
    return [
        f"Under {wins} of {len(table)} other decisions about the metric and the rewards, {winner} would also "
        "be first."
    ]
