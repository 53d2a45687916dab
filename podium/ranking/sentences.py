"""What a board says in sentences: for a jury, for the screen, and for people who quote it.

Every sentence is made from the numbers of one ranking, and says no more than they do.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from podium.ranking import leaving_out, site
from podium.ranking.jury import Prizes
from podium.ranking.rewards import what_decided
from podium.ranking.similarity import entry_names
from podium.ranking.uncertainty import Certainty
from podium.statistics import Doubt, Reason
from podium.words.wording import counted, listed, ordinal, plural, together

LIKELY = 0.05  # a rival is named if it would be first in at least this share of new competitions
CERTAIN = 1 - LIKELY  # from this share on, no number is given
NAMED = 3
MOST_NAMED = 10  # of the teams that may be the best
CHARACTERS_SHOWN = 60  # of a team's name in a sentence
RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def number(value: Any, digits: int = 5) -> str:
    """Write a number for people.

    >>> number(-0.000001), number(1234.5, 1), number(None)
    ('0.00000', '1,234.5', '–')
    """
    if pd.isna(value):
        return "–"
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value:z,.{digits}f}"


def tick(value: float) -> str:
    """Write a number at an axis.

    >>> tick(0.30000000000000004), tick(2000.0), tick(5)
    ('0.3', '2,000', '5')
    """
    return f"{value:,.10g}"


def seconds(runtime: float | None) -> str:
    """Write a runtime for people, with more decimals for short ones, so that no model seems to take no time.

    >>> seconds(1181.87), seconds(3.08), seconds(0.0388), seconds(None)
    ('1,181.9', '3.08', '0.039', '–')
    """
    if runtime is None or pd.isna(runtime):
        return number(None)
    return number(float(runtime), 1 if runtime >= 10 else 2 if runtime >= 1 else 3)


def percent(share: float) -> str:
    """Write a share in percent.  It is 0% or 100% only if it is exactly that.

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


def in_cases(share: float) -> str:
    """Write a share of new competitions as a frequency, rounded to tens, because it is not known any better.

    >>> in_cases(0.56), in_cases(0.02), in_cases(0.97)
    ('in about 60 of 100 cases', 'in hardly any case', 'in more than 90 of 100 cases')
    """
    if math.isnan(share):
        return "–"
    if share < LIKELY:
        return "in hardly any case"
    return f"in {about(share)} of 100 cases"


def about(share: float) -> str:
    """Write a share as so many out of 100 for a sentence.

    >>> about(0.56), about(0.97)
    ('about 60', 'more than 90')
    """
    return f"about {tens(share)}" if share < CERTAIN else "more than 90"


def tens(share: float) -> str:
    """Round a share to tens out of 100, and a small one to 10. No number above 90 is given.

    >>> tens(0.56), tens(0.051), tens(0.97)
    ('60', '10', '>90')
    """
    return ">90" if share >= CERTAIN else str(10 * max(1, round(share * 10)))


def name_of(team: object) -> str:
    r"""Write the name of a team for a sentence.

    >>> name_of("Red Pen"), name_of("x" * 100) == "x" * 59 + "…", name_of("עט")
    ('Red Pen', True, '\u2068עט\u2069')
    """
    text = cut(team, CHARACTERS_SHOWN)
    turned = any(unicodedata.bidirectional(character) in RIGHT_TO_LEFT for character in text)
    return f"\u2068{text}\u2069" if turned else text


def cut(text: object, most: int) -> str:
    """Cut a text that is too long.

    >>> cut("Red", 3), cut("Green", 3)
    ('Red', 'Gr…')
    """
    text = str(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def items_of(facts: dict[str, Any], number_of: int | None = None) -> str:
    """Name the items of a board in the plural, or with their number.

    >>> items_of({"item": "essay"}), items_of({"item": "essay"}, 1)
    ('essays', '1 essay')
    """
    return plural(facts["item"]) if number_of is None else counted(number_of, facts["item"])


def score_name(facts: dict[str, Any]) -> str:
    """Name the score that decides."""
    return "boosted score" if facts["boosted"] else "score"


def of_direction(facts: dict[str, Any]) -> str:
    """Say which scores are better, and whether this is assumed because the metric does not say.

    >>> of_direction({"higher_is_better": True, "higher_is_better_assumed": True})
    'Higher is better (assumed: the metric does not say).'
    """
    better = "Higher" if facts["higher_is_better"] else "Lower"
    assumed = " (assumed: the metric does not say)" if facts["higher_is_better_assumed"] else ""
    return f"{better} is better{assumed}."


def summary_by_question(
    board: pd.DataFrame,
    facts: dict[str, Any],
    prizes: Prizes,
    entries: Sequence[int],
    chance: Certainty | None,
    variants: pd.DataFrame | None,
) -> dict[str, list[str]]:
    """Say what is certain about a board and what is not, for a reader who decides about prizes."""
    different = len(set(entries)) if entries else len(board)  # files
    questions = {"Who is first?": [*_of_the_winner(board, facts, entries), *_of_speed(board, facts)]}
    if facts["silence"]:
        questions["How much of that is luck?"] = [f"Nothing is said about chance: {facts['silence']}."]
    elif chance is not None and different > 1:
        again = _of_chance(board, facts, entries, chance)
        questions["How much of that is luck?"] = [*again, *_of_the_best(board, facts, prizes, entries, chance)]
    questions["Who gets the last prize?"] = _of_the_last_prize(board, facts, prizes, entries, chance)
    questions["What did the jury decide?"] = _of_the_jury(facts)
    questions["What was left out?"] = _of_left_out(facts)
    questions["Is it the site's board?"] = [site.sentence(facts["site"])] if "site" in facts else []
    questions["Do other decisions matter?"] = _of_decisions(board, variants)
    return {question: answer for question, answer in questions.items() if answer}


def _of_left_out(facts: dict[str, Any]) -> list[str]:
    """Say which items count for nobody, and what has changed since an earlier board."""
    items, told = facts.get("left_out", []), list[str]()
    if items:
        told.append(leaving_out.with_reasons(items, facts["item"]))
    if "before" in facts:
        told.append(leaving_out.sentence(facts["before"], len(items), facts["item"]))
    return [f"{text[0].upper()}{text[1:]}." for text in told]


def why_not_better(
    board: pd.DataFrame, facts: dict[str, Any], prizes: Prizes, chance: Certainty | None, row: int
) -> list[str]:
    """Say why a team is not one rank better: which team is ahead of it, by how much, and by what."""
    if row == 0:
        return []
    other, own = board.iloc[row - 1], board.iloc[row]
    team, name = name_of(other["team"]), score_name(facts)
    if facts["ties"] and facts["ties"][row - 1]:
        same = number(own["boosted_score"])
        sentences = [f"{team} has the same {name}, {same}, and {facts['ties'][row - 1]} puts it ahead."]
    else:
        behind = number(abs(other["boosted_score"] - own["boosted_score"]))
        scores = f"{number(other['boosted_score'])} against {number(own['boosted_score'])}"
        sentences = [f"{team} is ahead by {behind} in {name}: {scores}."]
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
    sentences += _of_difference(board, facts, prizes, chance, row - 1, row)
    return [*sentences, f"The ranks follow the {name}s, whether or not the difference is certain."]


def _of_difference(
    board: pd.DataFrame, facts: dict[str, Any], prizes: Prizes, chance: Certainty | None, row: int, other: int
) -> list[str]:
    """Say how certain the difference between a prize winner and the next team is, if that is the other one."""
    borders = prizes.borders
    if chance is None or (row, other) not in borders[: len(chance.differences)]:
        return []
    step = chance.differences.iloc[borders.index((row, other))]
    sign = 1 if facts["higher_is_better"] else -1
    if pd.isna(step["low"]):
        return [f"This difference has no interval: {step['note']}."]
    low, high = sorted((sign * step["low"], sign * step["high"]))
    lead = f"the true lead of {name_of(board['team'].iloc[row])}"
    return [f"{confident(facts)} {lead} is between {number(low)} and {number(high)}."]


def confident(facts: dict[str, Any]) -> str:
    """Begin a sentence about what is likely; draws of runtimes whose noise is unknown are all the same."""
    return "With 95% confidence" if facts["noise_known"] else "If the runtimes are exact, with 95% confidence"


def _reward_of(row: "pd.Series[Any]", team: str) -> str:
    """Say what a team got for its runtime."""
    if row["boost"]:
        return f"{team} got a reward of {percent(row['boost'])} for a runtime of {seconds(row['runtime'])} s"
    if row["eligible"]:
        return f"{team} got none for a runtime of {seconds(row['runtime'])} s"
    reason = "its runtime is not known" if pd.isna(row["runtime"]) else "its score is too far from the best one"
    return f"{team} was not eligible, because {reason}"


def _names(board: pd.DataFrame, entries: Sequence[int], rows: Iterable[int]) -> list[tuple[int, str]]:
    """Name the files of some rows, each once, with its first row: a file counts, and not its senders."""
    return entry_names([name_of(team) for team in board["team"]], entries, list(rows))


def _is_same_file(entries: Sequence[int], row: int, other: int) -> bool:
    """Tell whether two teams sent the same file."""
    return bool(entries) and entries[row] == entries[other]


def _of_the_winner(board: pd.DataFrame, facts: dict[str, Any], entries: Sequence[int]) -> list[str]:
    """Say who is first and who is second."""
    name = score_name(facts)
    first = board.iloc[0]
    winner = name_of(first["team"])
    part = "" if facts["decided_by"] == "All" else f" of the {facts['decided_by']} part"
    verb = "decides" if facts["items"] == 1 else "decide"
    # A board that was made of tables has no items.
    decide = [f"{items_of(facts, facts['items'])}{part} {verb}."] if facts["items"] else []
    if len(board) == 1:
        return [f"{winner} is the only team on the board.", *decide]
    second = board.iloc[1]
    other = name_of(second["team"])
    is_same_file = _is_same_file(entries, 0, 1)
    if facts["ties"] and facts["ties"][0]:
        same = "sent the same file, with a" if is_same_file else "have the same"
        leading = (
            f"{winner} and {other} {same} {name}{' of' if is_same_file else ','} "
            f"{number(first['boosted_score'])}; "
            f"{facts['ties'][0]} puts {winner} first."
        )
    else:
        leading = (
            f"{winner} is first with a {name} of {number(first['boosted_score'])}, "
            f"and {other}{' with the same file' if is_same_file else ''} is second with "
            f"{number(second['boosted_score'])}."
        )
    return [leading, *decide]


def _of_speed(board: pd.DataFrame, facts: dict[str, Any]) -> list[str]:
    """Say whether the winner leads by its score or by its speed."""
    if not facts["boosted"] or len(board) == 1:
        return []
    first = board.iloc[0]
    winner = name_of(first["team"])
    if first["rank_before"] == 1:
        return [f"{winner} would also be first without rewards for speed."]
    best = name_of(board.loc[board["rank_before"] == 1, "team"].iloc[0])
    return [
        f"{winner} leads because of its speed. By score alone it would come "
        f"{ordinal(first['rank_before'])}, and {best} would be first."
    ]


def _of_chance(
    board: pd.DataFrame, facts: dict[str, Any], entries: Sequence[int], chance: Certainty
) -> list[str]:
    """Say how often the winner and its rivals would be first on new items."""
    shares = chance.intervals["first_again"]
    names = dict(_names(board, entries, range(len(shares))))
    winner = names[0]
    if pd.isna(shares.iloc[0]):
        if chance.withheld is not None:
            return [
                f"How often {winner} would be first again cannot be said, because too little decides the score "
                f"of a prize winner: {_too_little(chance.withheld, facts)}."
            ]
        if facts["boosted"] and not facts["noise_known"]:
            return [
                f"How often {winner} would be first again cannot be said, because nothing is known about how "
                "much the runtimes vary."
            ]
        return []
    rivals = sorted(
        (row for row in names if row and shares.iloc[row] >= LIKELY), key=lambda row: -shares.iloc[row]
    )
    named = [f"{names[row]} in {about(shares.iloc[row])}" for row in rivals[:NAMED]]
    runs = " and other runs of the models" if facts["boosted"] else ""
    first = (
        f"On new {items_of(facts)} of the same kind{runs}, {winner} would be first {in_cases(shares.iloc[0])}"
    )
    return [", ".join([first, *named]) + "."]


def _too_little(doubt: Doubt, facts: dict[str, Any]) -> str:
    """Say what decides a score; there may be many items, but few in each group."""
    if doubt.reason is Reason.SMALL_GROUPS and doubt.share == 1 and facts["items"] >= doubt.fewest:
        return f"each group that counts has fewer than {doubt.fewest} {items_of(facts)}"
    return str(doubt)


def _of_the_best(
    board: pd.DataFrame, facts: dict[str, Any], prizes: Prizes, entries: Sequence[int], chance: Certainty
) -> list[str]:
    """Name the teams that may be the best, and say how often luck would put another one first again."""
    intervals = chance.intervals
    best = _names(board, entries, np.flatnonzero(intervals["may_be_best"]))
    names = [name for _, name in best]
    if not names:
        return []
    if len(names) == 1:
        told = f"{confident(facts)} {names[0]} is truly the best"
    else:
        some = listed(names, MOST_NAMED)
        told = f"{confident(facts)} the truly best is one of these {len(names):,}: {some}"
    others = 1 - float(intervals["first_again"].iloc[[row for row, _ in best]].sum(skipna=False))
    if others >= LIKELY:
        told += (
            f"; a new test set has noise of its own, and another team would be first on it {in_cases(others)}"
        )
    may_win = [name for _, name in _names(board, entries, np.flatnonzero(intervals["may_win_prize"]))]
    if 1 < prizes.number < len(may_win):
        some = listed(may_win, MOST_NAMED)
        told += f"; the {prizes.number:,} prizes belong to {prizes.number:,} of these {len(may_win):,}: {some}"
    return [f"{told}."]


def _of_the_last_prize(
    board: pd.DataFrame,
    facts: dict[str, Any],
    prizes: Prizes,
    entries: Sequence[int],
    chance: Certainty | None,
) -> list[str]:
    """Say who gets the last prize and who comes next."""
    if prizes.number < 2 or len(prizes.may_win) <= prizes.number:
        return []
    row, other = prizes.borders[-1]
    last, following = board.iloc[row], board.iloc[other]
    goes = f"Place {last['rank']} gets the last of {prizes.number:,} prizes: {name_of(last['team'])}"
    if facts["ties"] and (decided := what_decided(facts["ties"][row:other])):
        same = (
            "sent the same file" if _is_same_file(entries, row, other) else f"has the same {score_name(facts)}"
        )
        return [f"{goes}; {name_of(following['team'])} {same}, and {decided} decides."]
    behind = number(abs(last["boosted_score"] - following["boosted_score"]))
    next_one = f"{name_of(following['team'])} follows {behind} behind in {score_name(facts)}"
    return [f"{goes}; {next_one}.", *_of_difference(board, facts, prizes, chance, row, other)]


def _of_the_jury(facts: dict[str, Any]) -> list[str]:
    """Say what the decisions about teams have changed, compared with the same scores without any."""
    told = [
        f"The files of {name_of(each['team'])} count as those of {name_of(each['same_as'])}."
        for each in facts.get("decisions", [])
        if each.get("same_as")
    ]
    if not (others := len(facts.get("decisions", [])) - len(told)):
        return told
    about = counted(others, "team")
    if (changes := facts.get("changes")) is None:
        return [*told, f"Something was decided about {about}."]
    names = {what: [name_of(team) for team in teams] for what, teams in changes.items()}
    parts = []
    if moved := names["moved_up"]:
        parts.append(f"{counted(len(moved), 'team')} moved up ({listed(moved, NAMED)})")
    for what in ("prize", "boost"):
        won, lost = names[f"{what}s"], names[f"no_{what}s"]
        if won:
            instead = f", and not {together(lost, NAMED)}" if lost else ""
            parts.append(f"a {what} goes to {together(won, NAMED)}{instead}")
        elif lost:
            parts.append(f"no {what} goes to {together(lost, NAMED)} any more")
    if not parts:
        return [*told, f"Decisions about {about} changed no rank, prize or boost."]
    return [*told, f"By decisions about {about}: {'; '.join(parts)}."]


def _of_decisions(board: pd.DataFrame, table: pd.DataFrame | None) -> list[str]:
    """Say how often the winner wins under other decisions."""
    if table is None or table.empty or len(board) == 1:
        return []
    winner = board["team"].iloc[0]
    wins = int((table["first_team"] == winner).sum())
    return [
        f"Under {wins} of {len(table)} other decisions about the metric and the rewards, "
        f"{name_of(winner)} would also be first."
    ]
