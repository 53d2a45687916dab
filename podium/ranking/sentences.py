"""What a board says in sentences: for a jury, for the screen, and for people who quote it.

Every sentence is made from the numbers of one ranking, and says no more than they do.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.statements import say
from podium.common.wording import counted, listed, ordinal, plural
from podium.ranking import corrected, leaving_out, site
from podium.ranking.jury import Prizes
from podium.ranking.rewards import BY_NAME, by_name_alone, what_decided
from podium.ranking.similarity import entry_names
from podium.ranking.uncertainty import Certainty
from podium.statistics import LEVEL, Doubt, Reason
from podium.statistics.doubts import ROUNDED_TO

CONFIDENCE = f"{LEVEL:.0%}"  # of all intervals
LIKELY = 0.05  # a rival is named if it would be first in at least this share of new competitions
CERTAIN = 1 - LIKELY  # from this share on, no number is given
NAMED = 3
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
    """Write a share in percent. It is 0% or 100% only if it is that, up to the last bits of a sum.

    >>> percent(0.0004), percent(0.124), percent(0.9996), percent(1 - 1e-15)
    ('<0.1%', '12.4%', '>99.9%', '100%')
    """
    if math.isnan(share):
        return "–"
    share = round(share, ROUNDED_TO) + 0.0  # and no -0%
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
    if round(share, ROUNDED_TO) < LIKELY:
        return "in hardly any case"
    return f"in {about(share)} of 100 cases"


def about(share: float) -> str:
    """Write a share as so many out of 100 for a sentence.

    >>> about(0.56), about(0.97)
    ('about 60', 'more than 90')
    """
    return f"about {tens(share)}" if round(share, ROUNDED_TO) < CERTAIN else "more than 90"


def tens(share: float) -> str:
    """Round a share to tens out of 100, and a small one to 10. No number above 90 is given.

    >>> tens(0.56), tens(0.051), tens(0.97)
    ('60', '10', '>90')
    """
    share = round(share, ROUNDED_TO)
    return ">90" if share >= CERTAIN else str(10 * max(1, round(round(share * 10, ROUNDED_TO))))


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
        named = {"team": self._name(row - 1), "score": score_name(self.facts)}
        if tie := self.decided(row - 1, row):
            sentences = [say("same_score_ahead", **named, value=self._score(row), tie=tie)]
        else:
            scores = {"value": self._score(row - 1), "other": self._score(row)}
            sentences = [say("ahead_by", **named, behind=self._behind(row - 1, row), **scores)]
        if self.facts["boosted"]:
            sentences.append(self._before_rewards(row - 1, row))
        sentences += self._difference(row - 1, row)
        return [*sentences, say("ranks_follow", score=named["score"])]

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
        facts = {"team": self._name(other), "mine": number(own["score"]), "theirs": number(ahead["score"])}
        rewards = [_reward_of(ahead, self._name(row)), _reward_of(own, facts["team"])]
        kind = "speed_decides" if own["score"] > ahead["score"] else "before_rewards"
        return say(kind, **facts, ahead=rewards[0], own=rewards[1])

    def _difference(self, row: int, other: int) -> list[str]:
        """Say how certain the difference between two teams is, if it is one at a border of prizes."""
        borders = self.prizes.borders
        if self.chance is None or (row, other) not in borders[: len(self.chance.differences)]:
            return []
        step = self.chance.differences.iloc[borders.index((row, other))]
        if pd.isna(step["low"]):
            return [say("no_interval", why=step["note"])]
        sign = 1 if self.facts["higher_is_better"] else -1
        low, high = sorted((sign * step["low"], sign * step["high"]))
        ends = {"low": number(low), "high": number(high)}
        return [say("true_lead", confident=confident(self.facts), team=self._name(row), **ends)]

    def _winner(self) -> list[str]:
        """Say who is first and who is second, and what decides."""
        facts = self.facts
        part = "" if facts["decided_by"] == "All" else f" of the {facts['decided_by']} part"
        of_items = {"items": facts["items"], "noun": facts["item"], "part": part}
        decide = say("items_decide", **of_items)
        if self.chance is not None and (few := self.chance.decisive) is not None:
            decide = say("few_items_decide", **of_items, few=few.items, groups=few.groups)
        if len(self.board) == 1:
            return [say("only_team", team=self._name(0)), decide]
        is_same, tie = self._is_same_file(0, 1), self.decided(0, 1)
        both = {"winner": self._name(0), "other": self._name(1), "score": score_name(facts)}
        if tie:
            kind = "first_by_tie_of_a_file" if is_same else "first_by_tie"
            return [say(kind, **both, value=self._score(0), tie=tie), decide]
        how = " with the same file" if is_same else ""
        return [say("first_and_second", **both, value=self._score(0), how=how, second=self._score(1)), decide]

    def _speed(self) -> list[str]:
        """Say whether the winner leads by its score or by its speed."""
        if not self.facts["boosted"] or len(self.board) == 1:
            return []
        before, team = self.board["rank_before"], self._name(0)
        if before.iloc[0] == 1:
            return [say("first_without_speed", team=team)]
        other = self._name(int(before.argmin()))
        return [say("first_by_speed", team=team, place=ordinal(before.iloc[0]), other=other)]

    def _luck(self) -> list[str]:
        """Say how much of the board chance may have done."""
        if self.facts["silence"]:
            return [say("no_chance", why=self.facts["silence"])]
        files = len(set(self.entries)) if self.entries else len(self.board)
        if self.chance is None or files == 1:
            return []
        if self.chance.withheld is not None:
            return [self._doubted(self.chance.withheld, self.chance.doubted)]
        return [*self._first_again(self.chance), *self._truly_best(self.chance.intervals)]

    def _doubted(self, doubt: Doubt, row: int) -> str:
        """Say why nothing is said about other competitions, and about who is truly the best."""
        whose = "a prize winner" if row in self.prizes.winners else self._name(row)
        return say("chance_withheld", winner=self._name(0), whose=whose, why=_too_little(doubt, self.facts))

    def _first_again(self, chance: Certainty) -> list[str]:
        """Say how often the winner and its rivals would be first on new items."""
        facts, shares = self.facts, chance.intervals["first_again"]
        names = dict(self._names(range(len(shares))))
        if pd.isna(shares.iloc[0]):
            is_unknown = facts["boosted"] and not facts["noise_known"]
            return [say("first_again_unknown", winner=names[0])] if is_unknown else []
        likely = [row for row in names if row and shares.iloc[row] >= LIKELY]
        rivals = sorted(likely, key=lambda row: -shares.iloc[row])
        named = "".join(f", {names[row]} in {about(shares.iloc[row])}" for row in rivals[:NAMED])
        runs = " and other runs of the models" if facts["boosted"] else ""
        said = {"items": items_of(facts), "runs": runs, "cases": in_cases(shares.iloc[0])}
        return [say("first_again", winner=names[0], rivals=named, **said)]

    def _truly_best(self, intervals: pd.DataFrame) -> list[str]:
        """Name the teams that may be the best, and say how often luck would put another one first again."""
        best = self._names(np.flatnonzero(intervals["may_be_best"]))
        names = [name for _, name in best]
        if not names:
            return []
        kind = "truly_best" if len(names) == 1 else "one_is_truly_best"
        parts = [say(kind, confident=confident(self.facts), number=len(names), teams=names)]
        others = 1 - float(intervals["first_again"].iloc[[row for row, _ in best]].sum(skipna=False))
        if round(others, ROUNDED_TO) >= LIKELY:
            parts.append(say("another_first", cases=in_cases(others)))
        may_win = [name for _, name in self._names(np.flatnonzero(intervals["may_win_prize"]))]
        if 1 < (prizes := self.prizes.number) < len(may_win):
            parts.append(say("prizes_belong", prizes=prizes, number=len(may_win), teams=may_win))
        return [f"{'; '.join(parts)}."]

    def _last_prize(self) -> list[str]:
        """Say who gets the last prize and who comes next."""
        number_of = self.prizes.number
        if number_of < 2 or len(self.prizes.may_win) <= number_of:
            return []
        row, other = self.prizes.borders[-1]
        place, score = self.board["rank"].iloc[row], score_name(self.facts)
        facts = {"place": place, "prizes": number_of, "last": self._name(row), "next": self._name(other)}
        if decided := self.decided(row, other):
            same = "sent the same file" if self._is_same_file(row, other) else f"has the same {score}"
            return [say("last_prize_of_same", **facts, same=same, decided=decided)]
        follows = say("last_prize", **facts, behind=self._behind(row, other), score=score)
        return [follows, *self._difference(row, other)]

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
        told = say("places_by_name", score=score_name(self.facts), places=some, more=more)
        if not self.prizes.number:
            return [told]
        hang = [ranks[row] for row, other in self.prizes.borders if self.decided(row, other) == BY_NAME]
        return [told, say("prize_by_name", places=hang) if hang else say("no_prize_by_name")]

    def _one_file(self, run: Sequence[int]) -> str:
        """Say that all teams of some rows sent the same file."""
        is_one = len(run) > 2 and self.entries and len({self.entries[row] for row in run}) == 1
        return f" ({len(run):,} teams, which sent the same file)" if is_one else ""

    def _jury(self) -> list[str]:
        """Say about which teams something was decided."""
        decisions, of_status = self.facts.get("decisions", []), dict[str, list[str]]()
        for each in decisions:
            of_status.setdefault(each["status"], []).append(name_of(each["team"]))
        parts = "; ".join(f"{status}: {listed(teams)}" for status, teams in of_status.items())
        return [say("jury_decided", teams=decisions, decisions=parts)] if parts else []

    def _left_out(self) -> list[str]:
        """Say how many items count for nobody, and why."""
        items = self.facts.get("left_out", [])
        return [leaving_out.with_reasons(items, self.facts["item"])] if items else []

    def _decisions(self) -> list[str]:
        """Say how often the winner wins under other decisions."""
        table = self.variants
        if table is None or table.empty or len(self.board) == 1:
            return []
        wins = int((table["first_team"] == self.board["team"].iloc[0]).sum())
        return [say("other_decisions", wins=wins, number=len(table), team=self._name(0))]


def _too_little(doubt: Doubt, facts: dict[str, Any]) -> str:
    """Say what decides a score; there may be many items, but few in each group."""
    if doubt.reason is Reason.SMALL_GROUPS and doubt.share == 1 and facts["items"] >= doubt.fewest:
        return say("all_groups_small", fewest=doubt.fewest, items=items_of(facts))
    return str(doubt)


def confident(facts: dict[str, Any]) -> str:
    """Begin a sentence about what is likely; draws of runtimes whose noise is unknown are all the same."""
    return say("confident" if facts["noise_known"] else "confident_of_runtimes", level=LEVEL)


def _reward_of(row: "pd.Series[Any]", team: str) -> str:
    """Say what a team got for its runtime."""
    runtime = seconds(row["runtime"])
    if row["boost"]:
        return say("rewarded", team=team, boost=percent(row["boost"]), runtime=runtime)
    if row["eligible"]:
        return say("not_rewarded", team=team, runtime=runtime)
    return say("runtime_not_known" if pd.isna(row["runtime"]) else "too_far_from_best", team=team)
