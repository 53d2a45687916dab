"""Find where the annotations of a tool stand in a text, by what they quote.

Tools count differently. A browser may count an emoji as two characters and the end of a line as one, and a
byte order mark counts where somebody kept it. In tables that people write, places may count from 1, and an end
may belong to its place. But annotations quote the text that they cover. So the right way of counting is the
one in which the quotes are true.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from podium.common.wording import counted

BYTE_ORDER_MARK = "\ufeff"
# What a text needs so that a way of counting the ends of lines differs: see `Counting.line_ends`.
LINE_ENDS = "", "\r\n", "(?<!\r)\n"
LINE_END = re.compile(r"\r[\n ]|[\r\n]|\\n")  # as texts have it, and as tools quote it
SPACES = re.compile(r"(?:\s|\\n)+")

Ends = tuple[int, int]


class Place(NamedTuple):
    """Where an annotation stands, as its tool says."""

    ends: Sequence[Ends]  # the start and the end of each stretch, as the tool counts
    quote: str | None  # the text of the stretches, separated by spaces
    name: str  # the annotation's own name, for messages


class FoundPlace(NamedTuple):
    """Where an annotation stands, in characters."""

    ends: list[Ends]
    is_true: bool  # whether the annotation quotes what stands there, or quotes nothing
    is_sure: bool  # whether it quotes something, or every way of counting leads there


class Counting(NamedTuple):
    """A way of counting."""

    has_mark: bool  # whether a byte order mark counts that stands before the text
    line_ends: int  # 0: as written; 1: \r\n counts once; 2: \n counts twice
    in_utf_16: bool  # whether a character beyond U+FFFF counts twice
    first: int = 0  # the number of the first character
    with_end: bool = False  # whether the end is the last character, and not the one behind it

    @property
    def unusual(self) -> str:
        """What is unusual about it, for messages."""
        what_is_so = {
            "with other line ends": self.line_ends > 0,
            "in units of UTF-16": self.in_utf_16,
            "from 1": self.first == 1,
            "with ends that belong to the span": self.with_end,
        }
        return ", ".join(what for what, is_so in what_is_so.items() if is_so)


class AnnotatedText:
    """A text in which the annotations of several annotators stand.

    Tools count from 0, and their ends do not belong to a place. A table that people `wrote` may count
    otherwise.
    """

    def __init__(self, written: str, wrote: bool = False) -> None:
        self.text = written.removeprefix(BYTE_ORDER_MARK)
        marked = written != self.text
        line_ends = [number for number, ends in enumerate(LINE_ENDS) if re.search(ends, self.text)]
        widths = (False, True) if re.search("[^\0-\uffff]", self.text) else (False,)
        # The ways in which offsets in this text can differ. The first one is Python's own.
        counted = itertools.product((0, 1), (False, True)) if wrote else [(0, False)]
        marks = (False,) if wrote and not marked else (marked, not marked)
        units = list(itertools.product(marks, line_ends, widths))
        self._ways = [Counting(*unit, *count) for count in counted for unit in units]
        self._tables: dict[Counting, tuple[Sequence[int], Sequence[int]]] = {}

    def find(self, places: Sequence[Sequence[Place]]) -> list[list[FoundPlace]]:
        """Find the places of each annotator's annotations; a ValueError names one that is beyond the text.

        An annotator's way of counting is the one in which most of the annotator's own quotes are true, and
        among several the one in which most quotes of all annotators are. A quote that is not true in this way
        is sought in the others.
        """
        quoted = [[place for place in own if place.quote is not None] for own in places]
        true = list[list[int]]()
        for way in self._ways:
            true.append([sum(self._is_true(place, way) for place in own) for own in quoted])
            if true[-1] == [*map(len, quoted)]:
                break
        numbers = range(len(true))
        found = []
        self.chosen = list[Counting]()  # of each annotator
        for annotator, own in enumerate(places):
            best = max(numbers, key=lambda number: (true[number][annotator], sum(true[number]), -number))
            self.chosen.append(self._ways[best])
            found.append([self._find_one(place, self._ways[best]) for place in own])
        return found

    def quotes(self, place: Place) -> bool:
        """Whether the quote of an annotation is true in some way of counting."""
        return any(self._is_true(place, way) for way in self._ways)

    def _find_one(self, place: Place, best: Counting) -> FoundPlace:
        """Find the place of an annotation whose annotator mostly counts in this way."""
        if place.quote is not None:
            ways = [best, *self._ways]
            true = next((way for way in ways if self._is_true(place, way)), None)
            return FoundPlace(self._counted(place, true or best), true is not None, True)
        ends = self._counted(place, best)
        likely = [way for way in self._ways if way.has_mark == best.has_mark and way.line_ends < 2]
        return FoundPlace(ends, True, all(self._ends(place, way) == ends for way in likely))

    def _is_true(self, place: Place, way: Counting) -> bool:
        """Whether the quote of an annotation is what stands at its place if offsets are counted in this way.

        Tools may replace the ends of lines in quotes by spaces, or leave them out, and fold white space.
        """
        ends = self._ends(place, way)
        if ends is None or place.quote is None:
            return False
        text = " ".join(self.text[start:end] for start, end in ends)
        folded = SPACES.sub(" ", text) == SPACES.sub(" ", place.quote)  # as a browser shows it
        return folded or LINE_END.sub("", text) == LINE_END.sub("", place.quote)

    def _counted(self, place: Place, way: Counting) -> list[Ends]:
        """The place of an annotation in characters; a ValueError if it is beyond the text."""
        ends = self._ends(place, way)
        if ends is None:
            told = ", ".join(f"{start} to {end}" for start, end in place.ends)
            raise ValueError(
                f"{place.name} stands at {told}, in a text of {counted(len(self.text), 'character')}"
            )
        return ends

    def _ends(self, place: Place, way: Counting) -> list[Ends] | None:
        """The place of an annotation in characters, or None if it is beyond the text."""
        starts, ends = self._table(way._replace(first=0, with_end=False))
        counted = [(start - way.first, end - way.first + way.with_end) for start, end in place.ends]
        if all(0 <= start <= end < len(ends) for start, end in counted):
            return [(starts[start], ends[end] if start < end else starts[start]) for start, end in counted]
        return None

    def _table(self, way: Counting) -> tuple[Sequence[int], Sequence[int]]:
        """For each offset the character that begins there, and the end of the character before."""
        if way == Counting(False, 0, False):
            same = range(len(self.text) + 1)
            return same, same
        if way not in self._tables:
            starts, ends = [0] * way.has_mark, [0] * (1 + way.has_mark)
            before = ""
            for position, character in enumerate(self.text):
                units = 1 + (way.in_utf_16 and character > "\uffff")
                if way.line_ends == 1 and character == "\r" and self.text[position + 1 : position + 2] == "\n":
                    units = 0
                elif way.line_ends == 2 and character == "\n" and before != "\r":
                    units = 2
                starts += [position] * units
                ends += [position + 1] * units
                before = character
            self._tables[way] = [*starts, len(self.text)], ends
        return self._tables[way]


def difference_of(one: str, other: str) -> str:
    """Say where two texts differ, or in what alone."""
    alike: dict[str, Callable[[str], str]] = {
        "line ends": lambda text: text.replace("\r\n", "\n").replace("\r", "\n"),
        "white space at the ends": str.strip,
        "the form of Unicode": functools.partial(unicodedata.normalize, "NFC"),
    }
    for what, plain in alike.items():
        if plain(one) == plain(other):
            return f"they differ in {what} alone"
    place = next((n for n, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))
    return f"from character {place:,} on, {one[place : place + 20]!r} and {other[place : place + 20]!r}"
