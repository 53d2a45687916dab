"""What a board says in sentences: for a jury, for the screen, and for people who quote it.

Every sentence is made from the numbers of one ranking, and says no more than they do.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.wording import counted, listed, ordinal, plural, together
from podium.ranking import corrected, leaving_out, site
from podium.ranking.jury import Prizes
from podium.ranking.rewards import BY_NAME, by_name_alone, what_decided
from podium.ranking.similarity import entry_names
from podium.ranking.uncertainty import Certainty
from podium.statistics import LEVEL, Doubt, Reason

CONFIDENCE = f"{LEVEL:.0%}"  # of all intervals
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


# What the templates of pages and pictures write with.
FOR_PAGES: dict[str, Any] = {
    "number": number, "seconds": seconds, "percent": percent, "in_cases": in_cases, "tens": tens, "tick": tick,
    "level": CONFIDENCE,
}  # fmt: skip


class Sentences(NamedTuple):
    """What a board says in sentences."""

    board: pd.DataFrame
    facts: dict[str, Any]
    prizes: Prizes
    entries: Sequence[int] = ()  # the number of each team's file; without it, all differ
    chance: Certainty | None = None
    variants: pd.DataFrame | None = None  # the board under other decisions

    def by_question(self) -> dict[str, list[str]]:
        """Say what is certain about the board and what is not, for a reader who decides about prizes."""
        of_site = self.facts.get("site")
        questions = {
            "Who is first?": [*self._winner(), *self._speed()],
            "How much of that is luck?": self._luck(),
            "Do names decide?": self._by_name(),
            "Who gets the last prize?": self._last_prize(),
            "What did the jury decide?": self._jury(),
            "What was left out?": self._left_out(),
            "What was corrected?": corrected.sentences(self.facts),
            "Is it the site's board?": [site.sentence(of_site)] if of_site else [],
            "Do other decisions matter?": self._decisions(),
        }
        return {question: answer for question, answer in questions.items() if answer}

    def why_not_better(self, row: int) -> list[str]:
        """Say why a team is not one rank better: which team is ahead of it, by how much, and by what."""
        if row == 0:
            return []
        team, name = self._name(row - 1), score_name(self.facts)
        if tie := self.decided(row - 1, row):
            sentences = [f"{team} has the same {name}, {self._score(row)}, and {tie} puts it ahead."]
        else:
            behind, scores = self._behind(row - 1, row), f"{self._score(row - 1)} against {self._score(row)}"
            sentences = [f"{team} is ahead by {behind} in {name}: {scores}."]
        if self.facts["boosted"]:
            sentences.append(self._before_rewards(row - 1, row))
        sentences += self._difference(row - 1, row)
        return [*sentences, f"The ranks follow the {name}s, whether or not the difference is certain."]

    def decided(self, row: int, other: int) -> str:
        """What decided between two teams, if they have the same score."""
        return what_decided(self.facts["ties"][row:other]) if self.facts["ties"] else ""

    def _name(self, row: int) -> str:
        """The name of a team for a sentence."""
        return name_of(self.board["team"].iloc[row])

    def _score(self, row: int) -> str:
        """What decides the rank of a team, for a sentence."""
        return number(self.board["boosted_score"].iloc[row])

    def _behind(self, row: int, other: int) -> str:
        """How far a team is behind another one, for a sentence."""
        decides = self.board["boosted_score"]
        return number(abs(decides.iloc[row] - decides.iloc[other]))

    def _is_same_file(self, row: int, other: int) -> bool:
        """Tell whether two teams sent the same file."""
        return bool(self.entries) and self.entries[row] == self.entries[other]

    def _names(self, rows: Iterable[int]) -> list[tuple[int, str]]:
        """Name the files of some rows, each once, with its first row: a file counts, and not its senders."""
        return entry_names([name_of(team) for team in self.board["team"]], self.entries, list(rows))

    def _before_rewards(self, row: int, other: int) -> str:
        """Say what rewards did to a team and to the one ahead of it."""
        ahead, own = self.board.iloc[row], self.board.iloc[other]
        mine, theirs, name = number(own["score"]), number(ahead["score"]), self._name(other)
        rewards = f"{_reward_of(ahead, self._name(row))}, and {_reward_of(own, name)}"
        if own["score"] > ahead["score"]:
            higher = f"Before rewards {name} has the higher score, {mine} against {theirs}"
            return f"{higher}. So speed decides: {rewards}."
        return f"Before rewards the scores are {theirs} against {mine}; {rewards}."

    def _difference(self, row: int, other: int) -> list[str]:
        """Say how certain the difference between two teams is, if it is one at a border of prizes."""
        borders = self.prizes.borders
        if self.chance is None or (row, other) not in borders[: len(self.chance.differences)]:
            return []
        step = self.chance.differences.iloc[borders.index((row, other))]
        if pd.isna(step["low"]):
            return [f"This difference has no interval: {step['note']}."]
        sign = 1 if self.facts["higher_is_better"] else -1
        low, high = sorted((sign * step["low"], sign * step["high"]))
        lead = f"the true lead of {self._name(row)}"
        return [f"{confident(self.facts)} {lead} is between {number(low)} and {number(high)}."]

    def _winner(self) -> list[str]:
        """Say who is first and who is second, and what decides."""
        facts, winner = self.facts, self._name(0)
        part = "" if facts["decided_by"] == "All" else f" of the {facts['decided_by']} part"
        verb = "decides" if facts["items"] == 1 else "decide"
        decide = [f"{items_of(facts, facts['items'])}{part} {verb}."]
        if self.chance is not None and (few := self.chance.decisive) is not None:
            groups = listed(few.groups, NAMED)
            nearly_all = f"nearly all of the score comes from {few.items:,} of them ({groups})"
            decide = [f"{items_of(facts, facts['items'])}{part} count, but {nearly_all}."]
        if len(self.board) == 1:
            return [f"{winner} is the only team on the board.", *decide]
        other, name, is_same = self._name(1), score_name(facts), self._is_same_file(0, 1)
        if tie := self.decided(0, 1):
            same = f"sent the same file, with a {name} of" if is_same else f"have the same {name},"
            return [f"{winner} and {other} {same} {self._score(0)}; {tie} puts {winner} first.", *decide]
        first = f"{winner} is first with a {name} of {self._score(0)}"
        second = f"{other}{' with the same file' if is_same else ''} is second with {self._score(1)}"
        return [f"{first}, and {second}.", *decide]

    def _speed(self) -> list[str]:
        """Say whether the winner leads by its score or by its speed."""
        if not self.facts["boosted"] or len(self.board) == 1:
            return []
        before = self.board["rank_before"]
        if before.iloc[0] == 1:
            return [f"{self._name(0)} would also be first without rewards for speed."]
        alone = (
            f"it would come {ordinal(before.iloc[0])}, and {self._name(int(before.argmin()))} would be first"
        )
        return [f"{self._name(0)} leads because of its speed. By score alone {alone}."]

    def _luck(self) -> list[str]:
        """Say how much of the board chance may have done."""
        if self.facts["silence"]:
            return [f"Nothing is said about chance: {self.facts['silence']}."]
        files = len(set(self.entries)) if self.entries else len(self.board)
        if self.chance is None or files == 1:
            return []
        if self.chance.withheld is not None:
            return [self._doubted(self.chance.withheld, self.chance.doubted)]
        return [*self._first_again(self.chance), *self._truly_best(self.chance.intervals)]

    def _doubted(self, doubt: Doubt, row: int) -> str:
        """Say why nothing is said about other competitions, and about who is truly the best."""
        whose = "a prize winner" if row in self.prizes.winners else self._name(row)
        cannot = (
            f"How often {self._name(0)} would be first again, and which team is truly the best, cannot be said"
        )
        why = f"too little is known about the score of {whose}: {_too_little(doubt, self.facts)}"
        return f"{cannot}, because {why}."

    def _first_again(self, chance: Certainty) -> list[str]:
        """Say how often the winner and its rivals would be first on new items."""
        facts, shares = self.facts, chance.intervals["first_again"]
        names = dict(self._names(range(len(shares))))
        if pd.isna(shares.iloc[0]):
            if facts["boosted"] and not facts["noise_known"]:
                cannot = f"How often {names[0]} would be first again cannot be said"
                return [f"{cannot}, because nothing is known about how much the runtimes vary."]
            return []
        likely = [row for row in names if row and shares.iloc[row] >= LIKELY]
        rivals = sorted(likely, key=lambda row: -shares.iloc[row])
        named = [f"{names[row]} in {about(shares.iloc[row])}" for row in rivals[:NAMED]]
        runs = " and other runs of the models" if facts["boosted"] else ""
        again = f"{names[0]} would be first {in_cases(shares.iloc[0])}"
        return [", ".join([f"On new {items_of(facts)} of the same kind{runs}", again, *named]) + "."]

    def _truly_best(self, intervals: pd.DataFrame) -> list[str]:
        """Name the teams that may be the best, and say how often luck would put another one first again."""
        best = self._names(np.flatnonzero(intervals["may_be_best"]))
        names = [name for _, name in best]
        if not names:
            return []
        told = f"{confident(self.facts)} {names[0]} is truly the best"
        if len(names) > 1:
            some = listed(names, MOST_NAMED)
            told = f"{confident(self.facts)} the truly best is one of these {len(names):,}: {some}"
        others = 1 - float(intervals["first_again"].iloc[[row for row, _ in best]].sum(skipna=False))
        if others >= LIKELY:
            other = f"another team would be first on it {in_cases(others)}"
            told += f"; a new test set has noise of its own, and {other}"
        may_win = [name for _, name in self._names(np.flatnonzero(intervals["may_win_prize"]))]
        if 1 < (prizes := self.prizes.number) < len(may_win):
            some = listed(may_win, MOST_NAMED)
            told += f"; the {prizes:,} prizes belong to {prizes:,} of these {len(may_win):,}: {some}"
        return [f"{told}."]

    def _last_prize(self) -> list[str]:
        """Say who gets the last prize and who comes next."""
        number_of = self.prizes.number
        if number_of < 2 or len(self.prizes.may_win) <= number_of:
            return []
        row, other = self.prizes.borders[-1]
        last, following, name = self._name(row), self._name(other), score_name(self.facts)
        goes = f"Place {self.board['rank'].iloc[row]} gets the last of {number_of:,} prizes: {last}"
        if decided := self.decided(row, other):
            same = "sent the same file" if self._is_same_file(row, other) else f"has the same {name}"
            return [f"{goes}; {following} {same}, and {decided} decides."]
        follows = f"{following} follows {self._behind(row, other)} behind in {name}"
        return [f"{goes}; {follows}.", *self._difference(row, other)]

    def _by_name(self) -> list[str]:
        """Say which places only the order of names has parted, and whether a prize hangs on it."""
        ranks, ties = self.board["rank"].tolist(), self.facts["ties"]
        runs = by_name_alone(ties)
        if not runs:
            return []
        some = "; ".join(
            f"{ranks[run[0]]:,} to {ranks[run[-1]]:,}{self._one_file(run)}" for run in runs[:NAMED]
        )
        more = f"; and {len(runs) - NAMED:,} more such groups" if len(runs) > NAMED else ""
        told = [
            f"Teams with the same {score_name(self.facts)} stand in {BY_NAME} at places {some}{more}: "
            "which of these places a team has means nothing."
        ]
        hang = [ranks[row] for row, other in self.prizes.borders if self.decided(row, other) == BY_NAME]
        if not hang:
            return [*told, "No prize hangs on a name."]
        prizes = "prizes of places {} hang" if len(hang) > 1 else "prize of place {} hangs"
        return [*told, f"The {prizes.format(together(hang))} on a name: share or draw lots."]

    def _one_file(self, run: Sequence[int]) -> str:
        """Say that all teams of some rows sent the same file."""
        is_one = len(run) > 2 and self.entries and len({self.entries[row] for row in run}) == 1
        return f" ({len(run):,} teams, which sent the same file)" if is_one else ""

    def _jury(self) -> list[str]:
        """Say about which teams something was decided."""
        decisions, of_status = self.facts.get("decisions", []), dict[str, list[str]]()
        for each in decisions:
            of_status.setdefault(each["status"], []).append(name_of(each["team"]))
        parts = [f"{status}: {listed(teams)}" for status, teams in of_status.items()]
        return (
            [f"The jury decided about {counted(len(decisions), 'team')} ({'; '.join(parts)})."] if parts else []
        )

    def _left_out(self) -> list[str]:
        """Say how many items count for nobody, and why."""
        items = self.facts.get("left_out", [])
        return [f"{leaving_out.with_reasons(items, self.facts['item'])}."] if items else []

    def _decisions(self) -> list[str]:
        """Say how often the winner wins under other decisions."""
        table = self.variants
        if table is None or table.empty or len(self.board) == 1:
            return []
        wins = int((table["first_team"] == self.board["team"].iloc[0]).sum())
        others = f"{wins} of {len(table)} other decisions about the metric and the rewards"
        return [f"Under {others}, {self._name(0)} would also be first."]


def _too_little(doubt: Doubt, facts: dict[str, Any]) -> str:
    """Say what decides a score; there may be many items, but few in each group."""
    if doubt.reason is Reason.SMALL_GROUPS and doubt.share == 1 and facts["items"] >= doubt.fewest:
        return f"each group that counts has fewer than {doubt.fewest} {items_of(facts)}"
    return str(doubt)


def confident(facts: dict[str, Any]) -> str:
    """Begin a sentence about what is likely; draws of runtimes whose noise is unknown are all the same."""
    begin = "With" if facts["noise_known"] else "If the runtimes are exact, with"
    return f"{begin} {CONFIDENCE} confidence"


def _reward_of(row: "pd.Series[Any]", team: str) -> str:
    """Say what a team got for its runtime."""
    if row["boost"]:
        return f"{team} got a reward of {percent(row['boost'])} for a runtime of {seconds(row['runtime'])} s"
    if row["eligible"]:
        return f"{team} got none for a runtime of {seconds(row['runtime'])} s"
    reason = "its runtime is not known" if pd.isna(row["runtime"]) else "its score is too far from the best one"
    return f"{team} was not eligible, because {reason}"
