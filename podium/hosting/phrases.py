"""Ids and answers of one or several words, which are looked for in texts of any form."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from podium.common.arrays import Ints
from podium.hosting.evidence import Coded, natural

LINES_AT_ONCE = 1_000  # whose words are in memory together
LONGEST_PHRASE = 40  # words by which an id or a value is known; a longer one is known by its first words

# Words consist of letters, digits and minus signs, so that the ending of a file is a word of its own.
SPACES = bytes(code if chr(code).isalnum() or code >= 128 or code == ord("-") else 32 for code in range(256))
WHOLE = re.compile(r"(?<=\d)\.0+(?![\d.])")  # 7.0 is 7
POINT = re.compile(r"(?<=\d)\.(?=\d)")  # 7.2 is one word, and no class 2
BROKEN = re.compile(r"-?\d*\.(?:(?![1-9])\d)*[1-9]\d*(e.*)?", re.IGNORECASE)  # a number that is no id
DOT = "\N{MIDDLE DOT}"


def words_of(text: str) -> list[bytes]:
    """Split a text into words, whatever their case.

    >>> words_of("Images/R01_cat.PNG: -1.0")
    [b'images', b'r01', b'cat', b'png', b'-1']
    """
    return _pieces_of(POINT.sub(DOT, WHOLE.sub("", text)) if "." in text else text)


def written(word: bytes) -> str:
    """A word as it stood in the text."""
    return word.decode().replace(DOT, ".")


def _pieces_of(text: str) -> list[bytes]:
    """Split a text into words, of which 7.2 is two."""
    return text.lower().encode("utf-8", "replace").translate(SPACES).split()


class Phrases:
    """Texts of one or several words, such as ids, that are looked for among words."""

    def __init__(self, texts: Iterable[str], *, joined: bool = False) -> None:
        """Take the words of texts, also `joined` by hyphens or with spaces instead of them, as ids may be."""
        self.texts: dict[tuple[bytes, ...], str] = {}
        lengths: dict[bytes, set[int]] = defaultdict(set)
        for text in texts:
            words = tuple(words_of(text)[:LONGEST_PHRASE])
            others = (
                [(b"-".join(words),), tuple(b" ".join(words).replace(b"-", b" ").split())] if joined else []
            )
            # A number as with a decimal comma.
            pieces = tuple(_pieces_of(text)[:LONGEST_PHRASE]) if "." in text else words
            for form in filter(None, dict.fromkeys([words, pieces, *others])):
                if any(form):
                    self.texts.setdefault(form, text)
                    lengths[form[0]].add(len(form))
        self.lengths = {word: sorted(those, reverse=True) for word, those in lengths.items()}

    def within(self, words: Sequence[bytes]) -> Iterator[tuple[int, int, str]]:
        """Find the phrases among some words: where each begins and ends, and its text."""
        end = 0
        for place, word in enumerate(words):
            for length in self.lengths.get(word, ()) if place >= end else ():
                text = self.texts.get(tuple(words[place : place + length]))
                if text is not None:
                    end = place + length
                    yield place, end, text
                    break

    def first_in(self, cell: str) -> str | None:
        """The first phrase in a cell, perhaps in the name of a file or in an address."""
        return next((text for _, _, text in self.within(words_of(cell[:200]))), None)

    def may_be_in(self, lines: Sequence[str]) -> bool:
        """Whether a phrase begins with one of the words in some lines."""
        firsts = self.lengths.keys()
        some = (lines[at : at + LINES_AT_ONCE] for at in range(0, len(lines), LINES_AT_ONCE))
        return any(not firsts.isdisjoint(_pieces_of(" ".join(each))) for each in some)  # 7 is in 7.0, too


class Ids:
    """The ids in a column of the solution."""

    def __init__(self, name: str, column: Coded) -> None:
        """Number the ids, and note the rows of each."""
        self.name, self.numbers, self.texts = (
            name,
            column.codes,
            column.texts,
        )  # the id of each row, by its number
        self.number_of = {text: number for number, text in enumerate(self.texts)}
        self.phrases = Phrases(self.texts, joined=True)
        self.rows = np.argsort(self.numbers, kind="stable")
        self.counts = np.bincount(self.numbers)
        self.starts = np.cumsum(self.counts) - self.counts

    @cached_property
    def by_name(self) -> Ints:
        """The place of each id, sorted by name."""
        return np.argsort(sorted(range(len(self.texts)), key=lambda number: natural(self.texts[number])))

    @cached_property
    def of_digits(self) -> dict[int, int]:
        """The ids by their numbers, if each has one and the same text before it."""
        parts = [re.fullmatch(r"(.*?)(?<!\d)(\d++)", each) for each in self.texts]
        numbers = {int(part[2]): number for number, part in enumerate(parts) if part}
        is_one = len({part and part[1] for part in parts}) == 1 and len(numbers) == len(parts)
        return numbers if is_one else {}

    def named_by(self, texts: Sequence[str]) -> list[int]:
        """The id that each text names, spelled as it is or else by its number; -1 if it names none."""
        if not self.number_of.keys().isdisjoint(texts):
            return [self.number_of.get(text, -1) for text in texts]
        if not all(map(BROKEN.fullmatch, texts[:50])):
            if self.phrases.may_be_in(texts):
                return [self.number_of.get(self.phrases.first_in(text) or "", -1) for text in texts]
            if all(text.isdecimal() and len(text) < 18 for text in texts):
                return [self.of_digits.get(int(text), -1) for text in texts]
        return [-1] * len(texts)

    def rows_of(self, numbers: Ints) -> Ints:
        """The rows of some ids in the solution; an id that comes again has its next row."""
        times = pd.Series(numbers).groupby(numbers).cumcount().to_numpy()
        return np.asarray(self.rows[self.starts[numbers] + np.minimum(times, self.counts[numbers] - 1)])
