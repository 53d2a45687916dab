"""Find the quotes that a language model gives in the essays that it quotes."""

import html
import itertools
import operator
import re
import unicodedata
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Bools, Ints, by_essay
from podium.common.wording import counted
from podium.spans import door
from podium.spans.by_position import by_position
from podium.spans.segments import Spans, spans_of
from podium.spans.vocabulary import TYPES
from podium.tables.text_index import TextIndex

__all__ = ["Quotes", "from_quotes"]

EXACT, SPELLED, CLOSE, NOWHERE = "exact", "other spelling", "close", "not found"
# The columns of the report. Texts are objects, since pandas's own cannot hold half of a character, such as the
# end of JSON that was cut off.
REPORT: dict[str, Any] = {
    "essay": np.int64, "quote": object, "type": str, "found": str, "closeness": np.float64, "first": np.int64,
    "last": np.int64, "text": object,
}  # fmt: skip
QUALITY = {EXACT: 1.02, SPELLED: 1.01, CLOSE: 1.0}  # times the closeness
CLOSENESS = 90.0
MOST_PLACES = 200  # how many occurrences of a quote in one essay are considered
# Typesetting changes quotation marks, dashes and the ellipsis.
TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´ʼ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)
ELLIPSIS = re.compile(r"…|\.{3}")
AROUND = " \t\r\n\"'“”‘’«»…*_"  # characters that models put around a quote
EMPHASIS = frozenset("*_")  # of markdown
BULLET = re.compile(r"^\s*(?:[-*+•‣◦–—>#]+|\(?\d{1,2}[.)])\s+")
BRACKET = re.compile(r"(?<!\s)\s*(?:\([^()]*\)|\[[^\[\]]*\])[\s.\"”]*$")
ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([ntr])|([^\w\s]))|<br */?>")  # of JSON and Markdown
SEARCHED = 0.8  # how close the whole quote must be, as a share of how close its aligned part must be
ALIKE = 70.0  # from which ratio on two words are alike
SHORT = 3  # letters of a word that says little of where it is
REPLACED = 0.45  # what a word takes off that replaces another, see `_aligned`
GAP = 0.35  # what a word takes off that only one of quote and text has


class Quotes(NamedTuple):
    """The segments of some quotes, and a report on each quote.

    Attributes
    ----------
    spans : podium.spans.Spans
        The segments of the quotes that were found, in the order of the quotes.
    report : DataFrame
        One row per quote. ``essay``, ``quote`` and ``type`` say which quote it is. ``found`` is "exact", "other
        spelling", "close" or "not found", and ``closeness`` is a percentage. ``first`` and ``last`` are the
        positions of its words, -1 if it was not found. ``text`` is the passage of the essay, and ``shared``
        tells whether another quote has some of these words, too.
    """

    spans: Spans
    report: pd.DataFrame

    def __repr__(self) -> str:
        numbers = self.report["found"].value_counts().to_dict()
        kinds = [f"{numbers.get(kind, 0)} {kind}" for kind in (EXACT, SPELLED, CLOSE, NOWHERE)]
        if self.report["shared"].any():
            kinds.append(f"{int(self.report['shared'].sum())} with words of another quote")
        return f"{counted(len(self.report), 'quote')}: {', '.join(kinds)}"


class _Place(NamedTuple):
    """A passage of an essay that a quote may mean: its first character, and the one after its last."""

    start: int
    end: int
    how: str
    closeness: float

    @property
    def quality(self) -> float:
        """How good the passage is."""
        return QUALITY[self.how] * self.closeness


@by_position
def from_quotes(
    texts: str | Sequence[str],
    quotes: Sequence[str],
    types: Any,
    *,
    essay: npt.ArrayLike | None = None,
    probability: npt.ArrayLike = 1.0,
    d1: npt.ArrayLike = 0.5,
    closeness: float | None = CLOSENESS,
) -> Quotes:
    """Find the segments that a language model quotes.

    A quote may stand in the essay exactly, in another spelling, or nearly. Another spelling differs in white
    space, case, the typography of quotation marks and dashes, letters of other width or composition, characters
    that are not visible, or what models put around a quote: the asterisks of Markdown, a bullet, the number of
    a list, a bracket behind. A close passage goes from the first to the last word that both have. A first or
    last word that replaces one of the essay's belongs to it, and a lead-in such as "However," does not. If
    there are several such passages, those are chosen that keep the essay's quotes in their order; among these,
    the better ones.

    Parameters
    ----------
    texts : str or sequence of str
        The essays that were quoted.
    quotes : (n,) sequence of str
        The quotes, in the order in which the model gave them. It should be that of the essay. None and NaN are
        not found. A quote may leave out words by “…” or "...": then the passage goes from its beginning to its
        end.
    types : str or (n,) str or int
        The type of each quote, or one type for all: a name, or an index into `TYPES`. Of a name only the
        letters count, without case and without the s of a plural.
    essay : int or (n,) int
        The essay of each quote, as an index into `texts`.
    probability : float or (n,) float in [0, 1]
        The probability of the type of each quote.
    d1 : float or (n,) float in [0, 1]
        The probability that the segment is effective.
    closeness : float or None
        How close a passage must be: the percentage of its characters and the quote's that both have in the same
        order, where a word more or less counts half. With None, there is no search for close passages.

    Returns
    -------
    Quotes
        The segments, and a report on every quote.

    Raises
    ------
    TypeError
        The quotes are a single text.
    ValueError
        Sizes, types or numbers do not fit.
    ImportError
        A quote needs a close match, and rapidfuzz is not installed.

    Warns
    -----
    UserWarning
        Some quotes were not found, so they have no segment.

    Examples
    --------
    >>> text = "Ban phones. They said, “Ban phones.” I’d ban  them."
    >>> result = from_quotes(text, ["They said", '"Ban phones."', "I'd ban them"], "Claim")
    >>> result
    3 quotes: 1 exact, 2 other spelling, 0 close, 0 not found
    >>> result.report[["first", "last"]].values.tolist()
    [[2, 3], [4, 5], [6, 8]]
    """
    texts = door.texts_of(texts)
    if closeness is not None and not (isinstance(closeness, Real) and 1 <= closeness <= 100):
        raise ValueError(f"closeness: expected a percentage from 1 to 100, or None, found {closeness!r:.40}")
    wrong = [row for row, quote in enumerate(quotes) if not isinstance(quote, str | float | None | type(pd.NA))]
    if wrong:
        raise ValueError(
            f"quotes: expected a text or None for each, found {quotes[wrong[0]]!r:.60} for quote {wrong[0]}; "
            "give all quotes in one sequence, and their texts as essay="
        )
    said = door.Said(essay, types, probability, d1)
    given = door.candidates({"quotes": np.arange(len(quotes))}, said, len(texts))
    rows: list[dict[str, Any]] = [{}] * len(quotes)
    for number, own in by_essay(given.essay):
        essay_text = _Essay(texts[number])
        # A missing quote may be None or NaN.
        sought = [quotes[row] if isinstance(quotes[row], str) else None for row in own]
        for row, place in zip(own.tolist(), essay_text.located(sought, closeness)):
            what = {"essay": number, "quote": quotes[row], "type": TYPES[given.kind[row]]}
            rows[row] = what | essay_text.described(place)
    report = pd.DataFrame(
        {name: pd.Series([row[name] for row in rows], dtype=kind) for name, kind in REPORT.items()}
    )
    first, last = (report[name].to_numpy() for name in ("first", "last"))
    found = spans_of(given, first, last, first >= 0)
    missing = int((report["found"] == NOWHERE).sum()) - sum(not isinstance(quote, str) for quote in quotes)
    if missing:
        warnings.warn(
            f"quotes that are not in their texts, and so have no segment: {missing:,} of {len(quotes):,}; see "
            'report[report["found"] == "not found"]',
            stacklevel=3,
        )
    return Quotes(found, report.assign(shared=_shared(given.essay, first, last)))


def _shared(essay: Ints, first: Ints, last: Ints) -> Bools:
    """Tell which quotes were found at words that another quote of the essay has, too."""
    shared = np.zeros(len(essay), dtype=bool)
    for _, rows in by_essay(essay):
        begin, end = first[rows], last[rows]
        common = np.minimum.outer(end, end) >= np.maximum.outer(begin, begin)
        there = begin >= 0
        shared[rows] = there & ((common & there).sum(axis=1) > 1)
    return shared


class _Essay:
    """A text, and the same text as it is compared: without white space, case and typography."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain, self.starts, self.ends = _plain(text)
        self.words = TextIndex(text).borders()

    def located(self, quotes: Sequence[str | None], closeness: float | None) -> list[_Place | None]:
        """Choose the passage of each quote. Close passages are searched if others leave a quote without one."""
        places = [[] if quote is None else self.places(quote) for quote in quotes]
        chosen, is_settled = _in_order(places)
        if closeness is None or all(is_so or quote is None for quote, is_so in zip(quotes, is_settled)):
            return chosen
        # The place that a quote lacks may be taken by another quote, which has a close one elsewhere.
        return _in_order([[] if quote is None else self.places(quote, closeness) for quote in quotes])[0]

    def places(self, quote: str, closeness: float | None = None) -> list[_Place]:
        """List the passages that a quote may mean, as a whole or else from its beginning to its end."""
        return self._whole(quote, closeness) or self._shortened(quote.strip(AROUND), closeness)

    def _shortened(self, quote: str, closeness: float | None) -> list[_Place]:
        """List the passages from the beginning to the end of a quote that leaves out words by an ellipsis."""
        parts = [part for part in ELLIPSIS.split(quote) if part.strip(AROUND)]
        if not ELLIPSIS.search(quote) or not parts:
            return []
        if len(parts) == 1:
            return self.places(parts[0], closeness)
        starts, ends = (self.places(part, closeness) for part in (parts[0], parts[-1]))
        pairs = [(start, next((end for end in ends if end.start >= start.end), None)) for start in starts]
        return [
            _Place(start.start, end.end, CLOSE, min(start.closeness, end.closeness))
            for start, end in pairs
            if end is not None
        ]

    def _whole(self, quote: str, closeness: float | None) -> list[_Place]:
        """List the passages that a quote means as a whole, in the order of the text."""
        sure = self._sure(quote.strip(), EXACT)
        if not sure:
            quote = _unescaped(quote)
            sure = self._sure(_undecorated(quote), SPELLED)
        if closeness is None:
            return sure
        # Between the passages that are sure, others may be close.
        bounds = [-1, *(word for place in sure for word in self.words_of(place)), len(self.words)]
        gaps = zip(bounds[::2], bounds[1::2])
        close = [self._close(_Wanted.of(quote), last + 1, first, closeness) for last, first in gaps]
        return sorted([*sure, *itertools.chain.from_iterable(close)])

    def _sure(self, quote: str, how: str) -> list[_Place]:
        """List the passages that are a quote exactly, which `how` is the word for, or in another spelling."""
        bare = quote.strip(AROUND)
        plain, _, _ = _plain(bare)
        if not plain:
            return []
        before = quote.index(bare)
        places = []
        for begin, end in _occurrences(self.plain, plain):
            start, behind = self.starts[begin], self.ends[end - 1]
            if self._is_within_word(start) or self._is_within_word(self.ends[end - 1]):
                continue
            is_exact = start >= before and self.text.startswith(quote, start - before)
            places.append(_Place(start, behind, how if is_exact else SPELLED, 100.0))
        return places[:MOST_PLACES]

    def _close(self, quote: "_Wanted", first: int, behind: int, closeness: float) -> Iterator[_Place]:
        """Find the passages of some words of the text that are close to a quote: the closest, then others."""
        from rapidfuzz import fuzz

        if behind <= first or not quote.plain:
            return
        at = bisect_left(self.starts, self.words[first][0])
        part = self.plain[at : bisect_left(self.starts, self.words[behind - 1][1])]
        found = fuzz.partial_ratio_alignment(quote.plain, part, score_cutoff=SEARCHED * closeness)
        if found is None or found.dest_end <= found.dest_start:
            return
        start, end = self.starts[at + found.dest_start], self.ends[at + found.dest_end - 1]
        near = self.words_of(_Place(start, end, CLOSE, 0.0))
        place = self._fitted(quote, near, (first, behind), closeness)
        if place is not None:
            near = self.words_of(place)
            yield place
        yield from self._close(quote, first, near[0], closeness)
        yield from self._close(quote, near[1] + 1, behind, closeness)

    def _fitted(
        self, quote: "_Wanted", near: tuple[int, int], bounds: tuple[int, int], closeness: float
    ) -> _Place | None:
        """Find the words near a passage that a quote means, from its first to its last aligned word."""
        from rapidfuzz import fuzz
        from rapidfuzz.distance import LCSseq

        more = len(quote.words) // 4 + 3
        around = range(max(bounds[0], near[0] - more), min(bounds[1], near[1] + 1 + more))
        words = [self.text[slice(*self.words[number])] for number in around]
        aligned = _aligned(quote.words, words)
        if aligned is None:
            return None
        (begin, first), (end, last) = aligned
        core, passage = (
            _plain("".join(quote.words[begin : end + 1]))[0],
            _plain("".join(words[first : last + 1]))[0],
        )
        if not (core or passage):  # as where words are nothing but the marks of emphasis
            return None
        common = LCSseq.similarity(core, passage)
        # A word more or less counts half as much as another word.
        share = 200 * common / (len(core) + len(passage) - abs(len(core) - len(passage)) / 2)
        first -= _is_replaced_before(quote.words[:begin], words, first)
        last += _is_replaced_behind(quote.words[end:], words, last)
        place = _Place(self.words[around[first]][0], self.words[around[last]][1], CLOSE, share)
        whole = fuzz.ratio(quote.plain, _plain("".join(words[first : last + 1]))[0])
        return place if share >= closeness and whole >= SEARCHED * closeness else None

    def _is_within_word(self, at: int) -> bool:
        """Tell whether a position is within a word of letters, or within a letter and its marks."""
        text = self.text
        before, behind = at - 1, at
        while before >= 0 and (_is_invisible(text[before]) or unicodedata.combining(text[before])):
            before -= 1
        while behind < len(text) and _is_invisible(text[behind]):
            behind += 1
        if before < 0 or behind == len(text):
            return False
        return text[before].isalnum() and (text[behind].isalnum() or unicodedata.combining(text[behind]) > 0)

    def words_of(self, place: _Place | None) -> tuple[int, int]:
        """Find the first and the last word of a passage; -1 if there is none."""
        if place is None:
            return -1, -1
        inside = [n for n, (a, b) in enumerate(self.words) if a < place.end and b > place.start]
        return inside[0], inside[-1]

    def described(self, place: _Place | None) -> dict[str, Any]:
        """Make the part of the report's row that says which words a passage has."""
        first, last = self.words_of(place)
        if place is None:
            return {"found": NOWHERE, "closeness": 0.0, "first": -1, "last": -1, "text": ""}
        passage = self.text[self.words[first][0] : self.words[last][1]]
        return {"found": place.how, "closeness": place.closeness, "first": first, "last": last, "text": passage}


def _words_with_signs(quote: str) -> list[str]:
    """The words of a quote that have a letter or digit, each with the signs and spaces in front of it.

    A word may also be "_" or begin with it, as long as no other sign stands in front.
    """
    words, start = [], -1
    for token in re.finditer(r"\S+", quote):
        start = token.start() if start < 0 else start
        if re.match(r"\w", quote[start]) or re.search(r"[^\W_]", token[0]):
            words.append(quote[start : token.end()])
            start = -1
    if start >= 0 and (last := quote.rfind("_", start)) >= 0:
        words.append(quote[start : last + len(quote[last:].split(None, 1)[0])])
    return words


class _Wanted(NamedTuple):
    """A quote as close passages are compared with it."""

    plain: str  # without what models put around it
    words: list[str]  # those with a letter or digit, each with the signs in front of it

    @classmethod
    def of(cls, quote: str) -> "_Wanted":
        """Read a quote."""
        return cls(_plain(_undecorated(quote).strip(AROUND))[0], _words_with_signs(quote))


def _unescaped(quote: str) -> str:
    """Read the escapes of JSON, Markdown and HTML that are still there, such as a literal backslash and n."""
    spelled = html.unescape(html.unescape(quote))  # which are often escaped twice
    return ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[3] or "\n", spelled)


def _undecorated(quote: str) -> str:
    """Take off what models put around a quote: a bullet or the number of a list, and a bracket behind."""
    return BRACKET.sub("", BULLET.sub("", quote)).strip()


def _letters(word: str) -> str:
    """Reduce a word to its letters and digits, as they are compared."""
    return "".join(filter(str.isalnum, _plain(word)[0]))


def _aligned(quote: list[str], text: list[str]) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Align the words of a quote and of a text: the best local alignment, from its first pair to its last.

    Words that are alike add up to 1, and a word that only one of them has, or that replaces another, takes off
    a bit less than a short word adds. So a change next to the first word does not cut that word off. At the
    first or last word of a sentence it takes off twice as much, and behind a dash three times. Short words add
    half, because "and" and "the" stand near every passage.
    """
    from rapidfuzz import fuzz, process

    ends = list(map(_ends_sentence, text))
    scales = [1 + (before or end) for before, end in zip([False, *ends], ends)]
    shared = process.cdist(list(map(_letters, quote)), list(map(_letters, text)), scorer=fuzz.ratio)
    alike = shared / (100 - ALIKE) - ALIKE / (100 - ALIKE)
    alike[[len(_letters(word)) <= SHORT for word in quote]] *= 0.5
    best, ends_at = (0.0, 0, 0), None
    above = [(0.0, 0, column) for column in range(len(text) + 1)]
    for row, word in enumerate(quote):
        cells = [(0.0, row + 1, 0)]
        for column, (same, scale) in enumerate(zip(alike[row].tolist(), scales)):
            value, *start = above[column]
            scale = scale if word[0].isalnum() else 3
            paired = (value + max(same, -REPLACED * scale), *start)
            if same > 0 and paired > best:
                best, ends_at = paired, (row, column)
            value, *begin = max(above[column + 1], cells[column])
            cells.append(max(paired, (value - GAP * scale, *begin), (0.0, row + 1, column + 1)))
        above = cells
    return None if ends_at is None else (best[1:], ends_at)


def _is_replaced_before(lead: list[str], words: list[str], first: int) -> bool:
    """Tell whether the words in front of a quote's first aligned one replace the essay's word before it.

    "Kids" may stand for "Children", but "However," is only a lead-in. Where a sentence begins decides, then
    what ends the words in front, then whether they look like the beginning of another sentence.
    """
    if not lead or first == 0 or _ends_sentence(words[first - 1]):
        return False
    if not lead[-1][-1].isalnum() and lead[-1][-1] != words[first - 1][-1]:
        return False
    begins_sentence = first == 1 or _ends_sentence(words[first - 2])
    return begins_sentence or (len(lead) == 1 and lead[0][0].isupper() <= words[first - 1][0].isupper())


def _is_replaced_behind(rest: list[str], words: list[str], last: int) -> bool:
    """Tell whether the word behind the last aligned one, with which `rest` begins, replaces the essay's."""
    is_one_word = len(rest) == 2 and rest[1][0].isalnum()
    return is_one_word and last + 1 < len(words) and not _ends_sentence(words[last])


def _ends_sentence(word: str) -> bool:
    return word.rstrip("\"'”’»)]*_").endswith((".", "!", "?", "…"))


def _plain(text: str) -> tuple[str, list[int], list[int]]:
    """Reduce a text to what is compared; also tell where each of its characters begins and ends in the text.

    A letter and its combining marks are composed, so that both spellings of “é” are the same.
    """
    letters: list[tuple[str, int, int]] = []
    for index, character in enumerate(text):
        if unicodedata.combining(character) and letters:
            letter, start, _ = letters.pop()
            letters.append((letter + character, start, index + 1))
        elif not (character.isspace() or character in EMPHASIS or _is_invisible(character)):
            letters.append((character, index, index + 1))
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for letter, start, end in letters:
        typed = letter.translate(TYPOGRAPHY)
        spelled = (typed if typed.isascii() else unicodedata.normalize("NFKC", typed)).casefold()
        characters.append(spelled)
        starts += [start] * len(spelled)
        ends += [end] * len(spelled)
    return "".join(characters), starts, ends


def _is_invisible(character: str) -> bool:
    """Tell whether a character only formats: a soft hyphen, a mark of direction, a space without width."""
    return not character.isascii() and (
        unicodedata.category(character) == "Cf" or "\ufe00" <= character <= "\ufe0f"
    )


def _occurrences(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Find the places of a text in another one, which may overlap."""
    start = text.find(wanted)
    while start >= 0:
        yield start, start + len(wanted)
        start = text.find(wanted, start + 1)


class _Chain(NamedTuple):
    """Passages that follow each other in the text; a chain is better if its value is larger."""

    value: tuple[int, float, int]  # how many they are, how good, and minus the sum of where they begin
    end: int  # where the last one ends
    places: dict[int, _Place]  # by their quotes


def _in_order(places: list[list[_Place]]) -> tuple[list[_Place | None], list[bool]]:
    """Choose a passage for each quote, and tell which quotes follow each other in the text.

    As many quotes as possible follow each other; among such chains the better passages decide, then the earlier
    ones. Other quotes get their best passage, if possible one that no other quote has.
    """
    chains = [_Chain((0, 0.0, 0), 0, {})]
    for quote, several in enumerate(places):
        # A passage continues a chain of earlier quotes, so all chains are made before the first one is kept.
        made = []
        for place in several:
            before = max((c for c in chains if c.end <= place.start), key=operator.attrgetter("value"))
            number, quality, begins = before.value
            value = number + 1, round(quality + place.quality, 6), begins - place.start
            made.append(_Chain(value, place.end, before.places | {quote: place}))
        chains += made
    best = max(chains, key=operator.attrgetter("value")).places
    chosen = dict(best)
    for quote, several in enumerate(places):
        if several and quote not in best:
            taken = list(chosen.values())
            chosen[quote] = max(several, key=lambda place: (not _overlaps(place, taken), place.quality))
    quotes = range(len(places))
    return [chosen.get(quote) for quote in quotes], [quote in best for quote in quotes]


def _overlaps(place: _Place, others: Iterable[_Place]) -> bool:
    """Tell whether a passage shares characters with others."""
    return any(place.start < other.end and other.start < place.end for other in others)
