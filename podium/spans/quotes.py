"""Find the quotes that a language model gives in the essays that it quotes."""

import numbers as numbers_of
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.arrays import Bools, Ints, by_essay
from podium.spans.by_position import by_position
from podium.spans.segments import (
    TYPES,
    Spans,
    essay_of,
    from_words,
    indices,
    integers,
    require_equal_sizes,
    texts_of,
)
from podium.wording import counted

__all__ = ["Quotes", "from_quotes"]

EXACT, SPELLED, CLOSE, NOWHERE, UNKNOWN = "exact", "other spelling", "close", "not found", "unknown type"
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
AROUND = " \t\r\n\"'“”‘’«»…"  # characters that models put around a quote


class Quotes(NamedTuple):
    """The segments of some quotes, and a report on each quote.

    Attributes
    ----------
    spans : podium.spans.Spans
        The segments of the quotes that were found, in the order of the quotes.
    report : DataFrame
        One row per quote. ``essay``, ``quote`` and ``type`` say which quote it is. ``found`` is "exact", "other
        spelling", "close", "not found" or "unknown type", and ``closeness`` is a percentage. ``first`` and
        ``last`` are the positions of its words, -1 if it was not found. ``text`` is the passage of the essay,
        and ``shared`` tells whether another quote has some of these words, too.
    """

    spans: Spans
    report: pd.DataFrame

    def __repr__(self) -> str:
        numbers = self.report["found"].value_counts().to_dict()
        kinds = [f"{numbers.get(kind, 0)} {kind}" for kind in (EXACT, SPELLED, CLOSE, NOWHERE)]
        if UNKNOWN in numbers:
            kinds.append(f"{numbers[UNKNOWN]} of an unknown type")
        if self.report["shared"].any():
            kinds.append(f"{int(self.report['shared'].sum())} with words of another quote")
        return f"{counted(len(self.report), 'quote')}: {', '.join(kinds)}"


class _Place(NamedTuple):
    """A passage of an essay that a quote may mean: its first character, and the one after its last."""

    start: int
    end: int
    how: str
    closeness: float


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
    space, case, the typography of quotation marks and dashes, composed or decomposed letters, or characters
    that are not visible. If there are several such passages, those are chosen that keep the essay's quotes in
    their order; among these, the better ones.

    Parameters
    ----------
    texts : str or sequence of str
        The essays that were quoted.
    quotes : (n,) sequence of str
        The quotes, in the order in which the model gave them. It should be that of the essay. None and NaN are
        not found. A quote may leave out words by “…” or "...": then the passage goes from its beginning to its
        end.
    types : str or (n,) str or int
        The type of each quote, or one type for all: a name in any case, or an index into `TYPES`. A quote of
        another type is reported as of an unknown type.
    essay : int or (n,) int
        The essay of each quote, as an index into `texts`.
    probability : float or (n,) float in [0, 1]
        The probability of the type of each quote.
    d1 : float or (n,) float in [0, 1]
        The probability that the segment is effective.
    closeness : float or None
        How close a passage must be, in percent of rapidfuzz's ``partial_ratio``. With None, there is no
        search for close passages.

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
        A quote needs a close match, and rapidfuzz (the extra ``podium[quotes]``) is not installed.

    Examples
    --------
    >>> text = "Ban phones. They said, “Ban phones.” I’d ban  them."
    >>> result = from_quotes(text, ["They said", '"Ban phones."', "I'd ban them"], "Claim")
    >>> result
    3 quotes: 1 exact, 2 other spelling, 0 close, 0 not found
    >>> result.report[["first", "last"]].values.tolist()
    [[2, 3], [4, 5], [6, 8]]
    """
    texts = texts_of(texts)
    if isinstance(quotes, str):
        raise TypeError("quotes: expected a sequence of quotes, found one text; put it into a list")
    if closeness is not None and not (isinstance(closeness, numbers_of.Real) and 1 <= closeness <= 100):
        raise ValueError(f"closeness: expected a percentage from 1 to 100, or None, found {closeness!r:.40}")
    if any(isinstance(quote, list | tuple) for quote in quotes):
        raise ValueError(
            "quotes: expected one sequence of quotes, and their texts as essay=, found a sequence for each text"
        )
    size = len(quotes)
    of_types = _kinds(types)
    if of_types.ndim:
        require_equal_sizes({"quotes": quotes, "types": of_types})
    kinds = np.broadcast_to(of_types, size)
    numbers = np.broadcast_to(integers("essay", essay_of(essay, len(texts))), size)
    sure, effective = (np.broadcast_to(np.asarray(each, dtype=np.float64), size) for each in (probability, d1))
    require_equal_sizes({"quotes": quotes, "essay": numbers})
    if ((numbers < 0) | (numbers >= len(texts))).any():
        raise ValueError(f"essay: expected indices of the {counted(len(texts), 'text')}, counted from 0")
    names = np.broadcast_to(np.array(types, dtype=object), size)
    rows: list[dict[str, Any]] = [{}] * size
    for number in np.unique(numbers).tolist():
        own = np.flatnonzero(numbers == number).tolist()
        essay_text = _Essay(texts[number])
        # A missing quote may be None or NaN.
        wanted = [quotes[row] if isinstance(quotes[row], str) and kinds[row] >= 0 else None for row in own]
        for row, place in zip(own, essay_text.located(wanted, closeness)):
            name = names[row] if kinds[row] < 0 else TYPES[kinds[row]]
            rows[row] = {"essay": number, "quote": quotes[row], "type": name} | essay_text.described(place)
            if kinds[row] < 0:
                rows[row]["found"] = UNKNOWN
    columns = ["essay", "quote", "type", "found", "closeness", "first", "last", "text"]
    report = pd.DataFrame(rows, columns=columns)
    first, last = (report[name].to_numpy(dtype=np.int64) for name in ("first", "last"))
    there = first >= 0
    spans = from_words(
        first[there],
        last[there],
        kinds[there],
        essay=numbers[there],
        probability=sure[there],
        d1=effective[there],
    )
    return Quotes(spans, report.assign(shared=_shared(numbers, first, last)))


def _shared(essay: Ints, first: Ints, last: Ints) -> Bools:
    """Tell which quotes were found at words that another quote of the essay has, too."""
    shared = np.zeros(len(essay), dtype=bool)
    for _, rows in by_essay(essay):
        begin, end = first[rows], last[rows]
        common = np.minimum.outer(end, end) >= np.maximum.outer(begin, begin)
        there = begin >= 0
        shared[rows] = there & ((common & there).sum(axis=1) > 1)
    return shared


def _kinds(types: Any) -> Ints:
    """Turn types into indices, whatever their case; an unknown name in a list becomes -1."""
    array = np.asarray(types)
    if array.dtype.kind in "iu":
        return indices(array, TYPES, "types: expected", "quote")
    known = {name.casefold(): number for number, name in enumerate(TYPES)}
    found = [known.get(str(name).strip().casefold(), -1) for name in array.ravel().tolist()]
    if not array.ndim and found[0] < 0:
        return indices(array, TYPES, "types: expected", "quote")  # which raises the error
    return np.array(found, dtype=np.int64).reshape(array.shape)


class _Essay:
    """A text, and the same text as it is compared: without white space, case and typography."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain, self.starts, self.ends = _plain(text)
        self.words = [match.span() for match in re.finditer(r"\S+", text)]

    def located(self, quotes: Sequence[str | None], closeness: float | None) -> list[_Place | None]:
        """Choose the passage of each quote. Close passages are searched if others leave a quote without one."""
        places = [[] if quote is None else self.places(quote) for quote in quotes]
        chosen, is_settled = _in_order(places)
        asked = [row for row, quote in enumerate(quotes) if quote is not None and not is_settled[row]]
        if closeness is None or not asked:
            return chosen
        lacking = next((quotes[row] for row in asked if not places[row]), None)
        if not _can_search_closely(lacking):
            return chosen
        # The place that a quote lacks may be taken by another quote, which has a close one elsewhere.
        places = [[] if quote is None else self.places(quote, closeness) for quote in quotes]
        return _in_order(places)[0]

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
        quote = quote.strip()
        bare = quote.strip(AROUND)
        plain, _, _ = _plain(bare)
        if not plain:
            return []
        before = quote.index(bare)
        sure = [
            (begin, end)
            for begin, end in _occurrences(self.plain, plain)
            if not (self._is_within_word(self.starts[begin]) or self._is_within_word(self.ends[end - 1]))
        ][:MOST_PLACES]
        places = []
        for begin, end in sure:
            start = self.starts[begin] - before
            is_exact = start >= 0 and self.text.startswith(quote, start)
            places.append(self._place(begin, end, EXACT if is_exact else SPELLED, 100.0))
        if closeness is not None:
            # Between the passages that are sure, others may be close.
            bounds = [0, *(bound for place in sure for bound in place), len(self.plain)]
            for begin, end in zip(bounds[::2], bounds[1::2]):
                places += self._close(plain, begin, end, closeness)
        return sorted(places)

    def _close(self, plain: str, begin: int, end: int, closeness: float) -> Iterator[_Place]:
        """Find the passages of a part of the text that are close to a quote: the closest, then those around."""
        from rapidfuzz import fuzz

        part = self.plain[begin:end]
        if len(part) < len(plain):
            ratio = fuzz.ratio(plain, part, score_cutoff=closeness)
            if ratio:
                yield self._place(begin, end, CLOSE, ratio)
            return
        found = fuzz.partial_ratio_alignment(plain, part, score_cutoff=closeness)
        if found is None or found.dest_end <= found.dest_start:
            return
        first, behind = begin + found.dest_start, begin + found.dest_end
        yield self._place(first, behind, CLOSE, found.score)
        yield from self._close(plain, begin, first, closeness)
        yield from self._close(plain, behind, end, closeness)

    def _place(self, begin: int, end: int, how: str, closeness: float) -> _Place:
        """Make a passage from characters of the plain text."""
        return _Place(self.starts[begin], self.ends[end - 1], how, closeness)

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
        # The ends of a close passage are vague, so a word belongs to it if the word's middle does.
        if place.how == CLOSE:
            inside = [n for n, (a, b) in enumerate(self.words) if place.start <= (a + b) // 2 < place.end]
        else:
            inside = [n for n, (a, b) in enumerate(self.words) if a < place.end and b > place.start]
        return (inside[0], inside[-1]) if inside else (-1, -1)

    def described(self, place: _Place | None) -> dict[str, Any]:
        """Make the part of the report's row that says which words a passage has."""
        first, last = self.words_of(place)
        if place is None or first < 0:
            return {"found": NOWHERE, "closeness": 0.0, "first": -1, "last": -1, "text": ""}
        passage = self.text[self.words[first][0] : self.words[last][1]]
        return {"found": place.how, "closeness": place.closeness, "first": first, "last": last, "text": passage}


def _can_search_closely(lacking: str | None) -> bool:
    """Tell whether rapidfuzz is there. It has to be if a quote has no place without it."""
    try:
        import rapidfuzz  # noqa: F401
    except ImportError:
        if lacking is None:
            return False
        raise ImportError(
            f"from_quotes: {lacking[:40]!r} needs a close match: pip install rapidfuzz, or give closeness=None"
        ) from None
    return True


def _plain(text: str) -> tuple[str, list[int], list[int]]:
    """Reduce a text to what is compared; also tell where each of its characters begins and ends in the text.

    A letter and its combining marks are composed, so that both spellings of “é” are the same.
    """
    letters: list[tuple[str, int, int]] = []
    for index, character in enumerate(text):
        if unicodedata.combining(character) and letters:
            letter, start, _ = letters.pop()
            letters.append((letter + character, start, index + 1))
        elif not (character.isspace() or _is_invisible(character)):
            letters.append((character, index, index + 1))
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for letter, start, end in letters:
        composed = letter if letter.isascii() else unicodedata.normalize("NFC", letter)
        spelled = composed.translate(TYPOGRAPHY).casefold()
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
    """Passages that follow each other in the text. The first three fields say which chain is better."""

    quotes: int
    quality: float
    earliness: int  # minus the sum of where its passages begin
    quote: int  # the last quote, its passage, and the chain before it
    place: _Place
    before: Any

    @property
    def value(self) -> tuple[int, float, int]:
        return self[:3]


def _in_order(places: list[list[_Place]]) -> tuple[list[_Place | None], list[bool]]:
    """Choose a passage for each quote, and tell which quotes follow each other in the text.

    As many quotes as possible follow each other; among such chains the better passages decide, then the earlier
    ones. Other quotes get their best passage, if possible one that no other quote has. `front` has the best
    chain up to each of the positions `ends`; both ascend.
    """
    ends: list[int] = []
    front: list[_Chain] = []
    for quote, several in enumerate(places):
        # A passage continues a chain of earlier quotes, so all chains are made before the first one is kept.
        made = []
        for place in several:
            at = bisect_right(ends, place.start)
            before = front[at - 1] if at else None
            value = before.value if before else (0, 0.0, 0)
            quality = round(value[1] + _quality(place), 6)
            made.append(_Chain(value[0] + 1, quality, value[2] - place.start, quote, place, before))
        for chain in made:
            at = bisect_right(ends, chain.place.end)
            if at and front[at - 1].value >= chain.value:
                continue
            beaten = at
            while beaten < len(front) and front[beaten].value <= chain.value:
                beaten += 1
            same = at - 1 if at and ends[at - 1] == chain.place.end else at
            ends[same:beaten], front[same:beaten] = [chain.place.end], [chain]
    chosen: list[_Place | None] = [None] * len(places)
    link = front[-1] if front else None
    while link is not None:
        chosen[link.quote] = link.place
        link = link.before
    is_settled = [place is not None for place in chosen]
    for quote, several in enumerate(places):
        if several and not is_settled[quote]:
            taken = [place for place in chosen if place is not None]
            chosen[quote] = max(several, key=lambda place: (not _overlaps(place, taken), _quality(place)))
    return chosen, is_settled


def _quality(place: _Place) -> float:
    """Say how good a passage is."""
    return QUALITY[place.how] * place.closeness


def _overlaps(place: _Place, others: Iterable[_Place]) -> bool:
    """Tell whether a passage shares characters with others."""
    return any(place.start < other.end and other.start < place.end for other in others)
