"""Find the quotes that a language model gives in the essays that it quotes."""

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.spans.arrays import Ints
from podium.spans.segments import TYPES, Spans, from_words, indices, integers, require_equal_sizes
from podium.wording import counted

__all__ = ["Quotes", "from_quotes"]

EXACT, SPELLED, CLOSE, NOWHERE = "exact", "other spelling", "close", "not found"
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
        One row per quote. ``essay`` and ``quote`` say which quote it is. ``found`` is "exact", "other
        spelling", "close" or "not found", and ``closeness`` is a percentage. ``first`` and ``last`` are the
        positions of its words, -1 if it was not found. ``text`` is the passage of the essay.
    """

    spans: Spans
    report: pd.DataFrame

    def __repr__(self) -> str:
        numbers = self.report["found"].value_counts()
        kinds = ", ".join(f"{int(numbers.get(kind, 0))} {kind}" for kind in (EXACT, SPELLED, CLOSE, NOWHERE))
        return f"{counted(len(self.report), 'quote')}: {kinds}"


class _Place(NamedTuple):
    """A passage of an essay that a quote may mean: its first character, and the one after its last."""

    start: int
    end: int
    how: str
    closeness: float


def from_quotes(
    texts: str | Sequence[str],
    quotes: Sequence[str],
    types: Any,
    *,
    essay: npt.ArrayLike = 0,
    probability: npt.ArrayLike = 1.0,
    d1: npt.ArrayLike = 0.5,
    closeness: float | None = CLOSENESS,
) -> Quotes:
    """Find the segments that a language model quotes.

    Each quote is first searched for exactly as it is. The second search ignores white space, case, and the
    typography of quotation marks and dashes. The third one finds a passage that is close to the quote. If a
    quote occurs several times, the occurrence is chosen that keeps the essay's quotes in their order.

    Parameters
    ----------
    texts : str or sequence of str
        The essays that were quoted.
    quotes : (n,) sequence of str
        The quotes, in the order in which the model gave them. None and NaN are not found. A quote may leave out
        words by “…” or "...": then the passage goes from its beginning to its end.
    types : str or (n,) str or int
        The type of each quote, or one type for all: a name in any case, or an index into `TYPES`. A quote of
        an unknown type is reported as not found.
    essay : int or (n,) int
        The essay of each quote, as an index into `texts`.
    probability : float or (n,) float in [0, 1]
        The probability of the type of each quote.
    d1 : float or (n,) float in [0, 1]
        The probability that the segment is effective.
    closeness : float or None
        How close a passage must be, in percent of rapidfuzz's ``partial_ratio``. With None, there is no third
        search.

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
    if isinstance(texts, str):
        texts = [texts]
    if isinstance(quotes, str):
        raise TypeError("quotes: expected a sequence of quotes, found one text; put it into a list")
    size = len(quotes)
    kinds = np.broadcast_to(_kinds(types), size)
    numbers = np.broadcast_to(integers("essay", essay), size)
    sure, effective = (np.broadcast_to(np.asarray(each, dtype=np.float64), size) for each in (probability, d1))
    require_equal_sizes({"quotes": quotes, "essay": numbers})
    if ((numbers < 0) | (numbers >= len(texts))).any():
        raise ValueError(f"essay: expected indices of the {counted(len(texts), 'text')}, counted from 0")
    rows: list[dict[str, Any]] = [{}] * size
    for number in np.unique(numbers).tolist():
        own = np.flatnonzero(numbers == number).tolist()
        essay_text = _Essay(texts[number])
        # A missing quote may be None or NaN.
        places = [
            essay_text.places(quotes[row], closeness)
            if isinstance(quotes[row], str) and kinds[row] >= 0
            else []
            for row in own
        ]
        for row, place in zip(own, _in_order(places)):
            rows[row] = {"essay": number, "quote": quotes[row]} | essay_text.described(place)
    report = pd.DataFrame(rows, columns=["essay", "quote", "found", "closeness", "first", "last", "text"])
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
    return Quotes(spans, report)


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
    """A text, and the same text without white space, case and typography."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain, self.origin = _plain(text)
        self.words = [match.span() for match in re.finditer(r"\S+", text)]

    def places(self, quote: str, closeness: float | None) -> list[_Place]:
        """List the passages that the quote may mean, by the first of the three searches that finds any."""
        bare = quote.strip(AROUND)
        plain, _ = _plain(bare)
        if not plain:
            return []
        return self._whole(quote, plain, closeness) or self._shortened(bare, closeness)

    def _shortened(self, quote: str, closeness: float | None) -> list[_Place]:
        """List the passages from the beginning to the end of a quote that leaves out words by an ellipsis."""
        parts = [part for part in ELLIPSIS.split(quote) if part.strip(AROUND)]
        if not ELLIPSIS.search(quote) or not parts:
            return []
        if len(parts) == 1:
            return self.places(parts[0], closeness)
        begin, end = parts[0], parts[-1]
        starts, ends = self.places(begin, closeness), self.places(end, closeness)
        pairs = [(start, next((end for end in ends if end.start >= start.end), None)) for start in starts]
        return [
            _Place(start.start, end.end, CLOSE, min(start.closeness, end.closeness))
            for start, end in pairs
            if end is not None
        ]

    def _whole(self, quote: str, plain: str, closeness: float | None) -> list[_Place]:
        """List the passages that a quote means as a whole."""
        exact = (_Place(a, b, EXACT, 100.0) for a, b in _occurrences(self.text, quote.strip()))
        found = self._of_whole_words(exact)
        if found:
            return found
        spelled = (
            _Place(self.origin[a], self.origin[b - 1] + 1, SPELLED, 100.0)
            for a, b in _occurrences(self.plain, plain)
        )
        found = self._of_whole_words(spelled)
        if found or closeness is None or not self.plain:
            return found
        try:
            from rapidfuzz import fuzz
        except ImportError:
            raise ImportError(
                f"from_quotes: {quote[:40]!r} needs a close match: pip install rapidfuzz, or give "
                "closeness=None"
            ) from None
        if len(plain) > len(self.plain):
            ratio = fuzz.ratio(plain, self.plain)
            return [_Place(0, len(self.text), CLOSE, ratio)] if ratio >= closeness else []
        nearest = fuzz.partial_ratio_alignment(plain, self.plain, score_cutoff=closeness)
        if nearest is None or nearest.dest_end <= nearest.dest_start:
            return []
        start, end = self.origin[nearest.dest_start], self.origin[nearest.dest_end - 1] + 1
        return [_Place(start, end, CLOSE, nearest.score)]

    def _of_whole_words(self, places: Iterable[_Place]) -> list[_Place]:
        """Take the first passages that neither begin nor end within a word of letters."""

        def is_apart(place: _Place) -> bool:
            return not _is_within_word(self.text, place.start) and not _is_within_word(self.text, place.end)

        return list(itertools.islice(filter(is_apart, places), MOST_PLACES))

    def described(self, place: _Place | None) -> dict[str, Any]:
        """Make the part of the report's row that says which words a passage has."""
        first = last = -1
        if place is not None:
            # The ends of a close passage are vague, so a word belongs to it if the word's middle does.
            if place.how == CLOSE:
                inside = [n for n, (a, b) in enumerate(self.words) if place.start <= (a + b) // 2 < place.end]
            else:
                inside = [n for n, (a, b) in enumerate(self.words) if a < place.end and b > place.start]
            first, last = (inside[0], inside[-1]) if inside else (-1, -1)
        if place is None or first < 0:
            return {"found": NOWHERE, "closeness": 0.0, "first": -1, "last": -1, "text": ""}
        passage = self.text[self.words[first][0] : self.words[last][1]]
        return {"found": place.how, "closeness": place.closeness, "first": first, "last": last, "text": passage}


def _plain(text: str) -> tuple[str, list[int]]:
    """Remove white space, case and typography from a text; also tell which character each one comes from."""
    characters: list[str] = []
    origin: list[int] = []
    for index, character in enumerate(text):
        if not character.isspace():
            spelled = character.translate(TYPOGRAPHY).casefold()
            characters.append(spelled)
            origin += [index] * len(spelled)
    return "".join(characters), origin


def _is_within_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _occurrences(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Find the places of a text in another one, which may overlap."""
    start = text.find(wanted)
    while start >= 0:
        yield start, start + len(wanted)
        start = text.find(wanted, start + 1)


def _in_order(places: list[list[_Place]]) -> list[_Place | None]:
    """Choose a passage for each quote so that as many quotes as possible follow each other in the text.

    A quote that does not fit into this order gets its first passage. The longest chain is found by patience
    sorting: `ends` has the earliest end of all chains of each length.
    """
    ends: list[int] = []
    # The last link of such a chain of each length: the quote, its passage, and the chain before it.
    chains: list[tuple[int, _Place, Any]] = []
    for quote, several in enumerate(places):
        # Every passage is appended to a chain of earlier quotes, never to one of the same quote. Therefore all
        # lengths are computed first, and the longest chains are replaced first.
        links = []
        for place in several:
            length = bisect_left(ends, place.start + 1)
            links.append((length, place.end, (quote, place, chains[length - 1] if length else None)))
        for length, end, chain in sorted(links, key=lambda each: (-each[0], each[1])):
            if length == len(ends):
                ends.append(end)
                chains.append(chain)
            elif end < ends[length]:
                ends[length], chains[length] = end, chain
    chosen: list[_Place | None] = [several[0] if several else None for several in places]
    link: Any = chains[-1] if chains else None
    while link is not None:
        quote, place, link = link
        chosen[quote] = place
    return chosen
