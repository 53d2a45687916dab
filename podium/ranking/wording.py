"""What a board says in sentences: for a jury, for the screen, and for people who quote it.

Every sentence is made from the numbers of one ranking, and says no more than they do.
"""

import math
import unicodedata
from typing import Any

import numpy as np
import pandas as pd

from podium.ranking.board import Ranking, Run
from podium.statistics.inference import SIGNIFICANT
from podium.wording import counted, listed, plural

__all__ = [
    "cut", "in_cases", "items_of", "name_of", "number", "of_direction", "of_hundred", "percent", "score_name",
    "summary", "why_not_better",
]  # fmt: skip

LIKELY = 0.05  # a rival is named if it wins on at least this share of the draws
NAMED = 3
CHARACTERS_SHOWN = 60  # of a team's name in a sentence
RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


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
    >>> in_cases(0.096), in_cases(0.005), in_cases(0.0004), in_cases(0.9999)
    ('in about 10 of 100 cases', 'in about 1 of 100 cases', 'in hardly any case', 'in nearly all cases')
    """
    if share < 0.005:
        return "in hardly any case"
    return "in nearly all cases" if share >= 0.995 else f"in about {of_hundred(share)} of 100 cases"


def name_of(team: object) -> str:
    r"""Write the name of a team for a sentence.

    Parameters
    ----------
    team : object
        The name.

    Returns
    -------
    str
        The name, cut after 60 characters.  If it is written from right to left, invisible characters isolate
        it.  So it does not change the order of the words and numbers beside it.

    Examples
    --------
    >>> name_of("Red Pen"), name_of("x" * 100) == "x" * 59 + "…", name_of("עט")
    ('Red Pen', True, '\u2068עט\u2069')
    """
    text = cut(team, CHARACTERS_SHOWN)
    turned = any(unicodedata.bidirectional(character) in RIGHT_TO_LEFT for character in text)
    return f"\u2068{text}\u2069" if turned else text


def cut(text: object, most: int) -> str:
    """Cut a text that is too long.

    Parameters
    ----------
    text : object
        The text.
    most : int
        The most characters that it may have.

    Returns
    -------
    str
        The text, of which the last character is an ellipsis if something was cut off.

    Examples
    --------
    >>> cut("Red", 3), cut("Green", 3)
    ('Red', 'Gr…')
    """
    text = str(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


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


def why_not_better(run: Run, row: int) -> list[str]:
    """Say why a team is not one rank better: which team is ahead of it, by how much, by what, and how surely.

    Parameters
    ----------
    run : Run
        A finished ranking with its facts.
    row : int
        The team's row on the board, counted from 0.

    Returns
    -------
    list of str
        Sentences, none for the first team.
    """
    if row == 0:
        return []
    board, facts = run.ranking.leaderboard, run.facts
    other, own = board.iloc[row - 1], board.iloc[row]
    team, name = name_of(other["team"]), score_name(facts)
    scores = f"{number(other['boosted_score'])} against {number(own['boosted_score'])}"
    if facts["ties"] and facts["ties"][row - 1]:
        same = number(own["boosted_score"])
        sentences = [f"{team} has the same {name}, {same}, and {facts['ties'][row - 1]} puts it ahead."]
    else:
        behind = abs(other["boosted_score"] - own["boosted_score"])
        sentences = [f"{team} is ahead by {number(behind)} in {name}: {scores}."]
    if facts["boosted"]:
        mine, theirs = number(own["score"]), number(other["score"])
        own_name = name_of(own["team"])
        rewards = f"{_reward_of(other, team)}, and {_reward_of(own, own_name)}"
        if own["score"] > other["score"]:
            sentences.append(
                f"Before rewards {own_name} has the higher score, {mine} against {theirs}. So speed decides: "
                f"{rewards}."
            )
        else:
            sentences.append(f"Before rewards the scores are {theirs} against {mine}; {rewards}.")
    neighbors = run.ranking.neighbors
    if neighbors is not None and row <= len(neighbors):
        sentences += _of_one_step(neighbors.iloc[row - 1], team, facts)
    return sentences


def _reward_of(row: "pd.Series[Any]", team: str) -> str:
    """Say in a clause what reward a team got, and why it got none."""
    if row["boost"] > 0:
        return f"{team} got a reward of {percent(row['boost'])} for a runtime of {seconds(row['runtime'])} s"
    if row["eligible"]:
        return f"{team} got none for a runtime of {seconds(row['runtime'])} s"
    reason = "its runtime is not known" if pd.isna(row["runtime"]) else "its score is too far from the best one"
    return f"{team} was not eligible, because {reason}"


def _of_one_step(step: "pd.Series[Any]", team: str, facts: dict[str, Any]) -> list[str]:
    """Say how sure the order of two neighbors is."""
    cases = in_cases(step["probability_ahead"])
    sentences = [f"With other {items_of(facts)} of the same kind, {team} would be ahead {cases}."]
    if not pd.isna(step["p"]):
        chance = "is hardly chance" if step["p"] <= SIGNIFICANT else "may be chance"
        before = " before rewards" if facts["boosted"] else ""
        sentences.append(f"The difference of the scores{before} {chance} (p = {number(step['p'], 3)}).")
    return [*sentences, f"The ranks follow the {score_name(facts)}s, whether or not the difference is certain."]


def _of_the_winner(run: Run) -> list[str]:
    """Say who is first and who is second."""
    board, facts = run.ranking.leaderboard, run.facts
    name = score_name(facts)
    first = board.iloc[0]
    winner = name_of(first["team"])
    decide = f"{items_of(facts, facts['items'])} of the {facts['decided_by']} part decide"
    if facts["decided_by"] == "All":
        decide = f"{items_of(facts, facts['items'])} decide"
    if len(board) == 1:
        return [f"{winner} is the only team on the board.", f"{decide}."]
    second = board.iloc[1]
    other = name_of(second["team"])
    if facts["ties"] and facts["ties"][0]:
        leading = (
            f"{winner} and {other} have the same {name}, {number(first['boosted_score'])}; "
            f"{facts['ties'][0]} puts {winner} first."
        )
    else:
        leading = (
            f"{winner} is first with a {name} of {number(first['boosted_score'])}, "
            f"and {other} is second with {number(second['boosted_score'])}."
        )
    return [leading, f"{decide}."]


def _of_speed(run: Run) -> list[str]:
    """Say whether the winner leads by its score or by its speed."""
    if not run.facts["boosted"] or len(run.ranking.leaderboard) == 1:
        return []
    board = run.ranking.leaderboard
    first = board.iloc[0]
    winner = name_of(first["team"])
    if first["rank_before"] == 1:
        return [f"{winner} would also be first without rewards for speed."]
    best = name_of(board.loc[board["rank_before"] == 1, "team"].iloc[0])
    sentence = (
        f"{winner} leads because of its speed. By score alone it would have rank "
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
    winner = name_of(intervals["team"].iloc[0])
    runs = " and other runs of the models" if facts["runtimes_drawn"] else ""
    chance = (
        f"With other {items_of(facts)} of the same kind{runs}, {winner} would win {in_cases(shares.iloc[0])}"
    )
    rivals = intervals.iloc[1:][shares.iloc[1:] >= LIKELY].nlargest(NAMED, "prize_1")
    named = [
        f"{name_of(team)} {in_cases(share)}" for team, share in zip(rivals["team"], rivals["prize_1"].tolist())
    ]
    return [", ".join([chance, *named]) + "."]


def _of_certainty(run: Run) -> list[str]:
    """Say whether the data exclude that another team is the best."""
    intervals = run.ranking.intervals
    assert intervals is not None
    winner = name_of(intervals["team"].iloc[0])
    rivals = intervals["team"][1:][intervals["all_ranks_low"][1:] == 1].map(name_of).tolist()
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
        f"The last prize, place {prizes}, goes to {name_of(last['team'])}; "
        f"{name_of(following['team'])} follows {number(behind)} behind in {score_name(facts)} and would win a "
        f"prize {chance}."
    ]


def _of_decisions(ranking: Ranking) -> list[str]:
    """Say how often the winner wins under other decisions."""
    table = ranking.variants
    if table is None or table.empty or len(ranking.leaderboard) == 1:
        return []
    winner = ranking.leaderboard["team"].iloc[0]
    wins = int((table["first"] == winner).sum())
    return [
        f"Under {wins} of {len(table)} other decisions about the metric and the rewards, "
        f"{name_of(winner)} would also be first."
    ]
