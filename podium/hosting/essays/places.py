"""The words of each segment of a corpus, and whether what the corpus says of them agrees."""

import contextlib
import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from podium.common.arrays import Bools, Ints, by_essay
from podium.common.errors import HostError
from podium.common.wording import counted
from podium.hosting.essays.corpus import CHARACTERS_SHOWN, FULL_TEXT, OFFSETS, QUOTE, TYPE, WORDS, Column
from podium.spans.places import word_positions
from podium.spans.segments import unified
from podium.tables.offsets import AnnotatedText, Place

BEYOND = "segments with words beyond their text"
DIFFERENT = "segments whose words are not those of their characters"
COUNTED = (
    f"segments whose characters are counted otherwise than from 0 in {FULL_TEXT}: read as their {QUOTE} says"
)
CONTRADICTED = f"segments whose words are not those of their {QUOTE}"
MOST_CONTRADICTED = 0.1  # of the segments; the positions of a corpus with more are those of other texts
CUT = "segments whose characters end beyond their text: cut"


class FoundWords(NamedTuple):
    """The words of each segment, (n,)."""

    first: Ints
    last: Ints  # before the first one if the segment has none
    beyond: Bools  # whether there are words beyond the text
    counts: dict[str, int]  # for the report: of segments that were cut, or that say different things


def found_words(columns: dict[str, Column]) -> FoundWords:
    """Find the words of each segment, and hold against each other what the corpus says of them."""
    rows = len(columns[TYPE].codes)
    first, last, beyond = np.zeros(rows, dtype=int), np.full(rows, -1), np.zeros(rows, dtype=bool)
    counts: dict[str, int] = {}
    if {*OFFSETS, FULL_TEXT} <= columns.keys():
        first, last, counts = _words_of_characters(columns)
    if WORDS in columns:
        column = columns[WORDS]
        firsts, lasts = unified().parse_predictionstrings([text or "0" for text in column.texts])
        given_first, given_last = firsts[column.codes], lasts[column.codes]
        column.check(given_last < 0, "positions such as '45 46 47', counted from 0, without a gap")
        given_last = np.where(column.mapped(len) == 0, -1, given_last)
        if FULL_TEXT in columns:
            words = columns[FULL_TEXT].mapped(lambda text: len(text.split()))
            beyond = (words > 0) & (given_last >= words)
        both = (given_last >= given_first) & (last >= first)
        counts[DIFFERENT] = int((both & ((first != given_first) | (last != given_last))).sum())
        first, last = given_first, given_last
    if QUOTE in columns:
        counts[CONTRADICTED] = _contradicted(columns, first, np.where(beyond, -1, last))
    return FoundWords(first, last, beyond, {CUT: 0, COUNTED: 0, DIFFERENT: 0, CONTRADICTED: 0} | counts)


def _words_of_characters(columns: dict[str, Column]) -> tuple[Ints, Ints, dict[str, int]]:
    """Find the words of each segment by its characters, and count what is said of these in the report."""
    start, end = (_offsets(columns[name]) for name in OFFSETS)
    located = (start >= 0) & (end >= 0)
    columns[OFFSETS[1]].check(located & (end <= start), f"more than {OFFSETS[0]}")
    text = columns[FULL_TEXT]
    counted_otherwise = 0
    if QUOTE in columns:
        start, end, counted_otherwise = _as_quoted(columns, start, end, located)
    first, last = np.zeros_like(start), np.full_like(start, -1)
    rows = np.flatnonzero(located)
    first[rows], last[rows] = word_positions(text.texts, text.codes[rows], start[rows], end[rows])
    cut = int((located & (end > text.mapped(len))).sum())
    return first, last, {CUT: cut, COUNTED: counted_otherwise}


def _as_quoted(columns: dict[str, Column], start: Ints, end: Ints, located: Bools) -> tuple[Ints, Ints, int]:
    """Take the characters as the quotes of an essay say that they are counted, and count what was changed."""
    text, quote = columns[FULL_TEXT], columns[QUOTE]

    def is_right(row: int) -> bool:
        said = quote.texts[quote.codes[row]]
        return not said or said == text.texts[text.codes[row]][start[row] : end[row]]

    doubtful = {text.codes[row] for row in np.flatnonzero(located).tolist() if not is_right(row)}
    start, end, changed = start.copy(), end.copy(), 0
    for code in doubtful:
        rows = np.flatnonzero(located & (text.codes == code))
        places = [
            Place([(start[row], end[row])], quote.texts[quote.codes[row]] or None, "") for row in rows.tolist()
        ]
        with contextlib.suppress(ValueError):  # A place lies beyond the text.
            found = AnnotatedText(text.texts[code], wrote=True).find([places])[0]
            if sum(each.is_true for each in found) <= len(found) / 2:
                continue
            for row, each in zip(rows.tolist(), found):
                if each.is_true and each.ends != [(start[row], end[row])]:
                    (start[row], end[row]), changed = each.ends[0], changed + 1
    return start, end, changed


def _contradicted(columns: dict[str, Column], first: Ints, last: Ints) -> int:
    """Count the segments that quote other words than theirs; refuse the corpus if they are many."""
    quote = columns[QUOTE]
    text = columns.get(FULL_TEXT, replace(quote, texts=[""], codes=np.zeros_like(quote.codes)))
    rows = np.flatnonzero((last >= first) & (quote.mapped(len) > 0))
    wrong = list[tuple[str, str, int]]()
    for code, some in by_essay(text.codes[rows]):  # The words of all texts at once would take much memory.
        words = text.texts[code].split()
        for row in rows[some].tolist():
            said, number = quote.texts[quote.codes[row]], int(last[row] - first[row]) + 1
            here = words[first[row] : last[row] + 1]
            if words and not _are_quoted(said, here):
                wrong.append((said, repr(" ".join(here)[:CHARACTERS_SHOWN]), row))
            elif not words and abs(len(said.split()) - number) > 1:  # A word may be cut at each end.
                wrong.append((said, counted(number, "word"), row))
    if len(wrong) > MOST_CONTRADICTED * len(rows):
        # Where places drift apart within a text, the first ones begin alike.
        said, found, row = next((each for each in wrong if not each[0].startswith(each[1][1:2])), wrong[0])
        raise HostError(
            f"{QUOTE}: expected the words of each segment, found others in {len(wrong):,} of "
            f"{counted(len(rows), 'segment')}, such as {said[:CHARACTERS_SHOWN]!r} where the positions of row "
            f"{quote.rows[row] + 1:,} lead to {found}: are they positions of other texts? If they are right, "
            f"leave {QUOTE} out"
        )
    return len(wrong)


def _are_quoted(quote: str, words: list[str]) -> bool:
    """Whether a quote has these words; of the first and the last one it may have a part."""
    said = "".join(quote.split())
    return "".join(words[1:-1]) in said and said in "".join(words)


def _offsets(column: Column) -> Ints:
    """Read positions of characters; a missing one is -1."""

    def number(text: str) -> int:
        if re.fullmatch(r"[0-9]{1,9}(\.0*)?", text):
            return int(text.partition(".")[0])
        return -2 if text else -1

    numbers = column.mapped(number)
    column.check(numbers == -2, "a whole number, at least 0")
    return numbers
