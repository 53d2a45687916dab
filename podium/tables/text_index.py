"""The words of a text, which are what `str.split()` makes of it, and where their characters are."""

import functools

import numpy as np

from podium.common.arrays import Bools, Ints

__all__ = ["TextIndex"]

# Which characters are not white space for `str.split`. All white space is among the first 12,289 characters. A
# table of these is faster than a test of every character.
_VISIBLE = np.array([not chr(code).isspace() for code in range(0x3002)])


class TextIndex:
    """The words of a text by the positions of their characters.

    >>> index = TextIndex("I agree. Ban it.")
    >>> len(index), index.starts.tolist(), index.ends.tolist()
    (4, [0, 2, 9, 13], [1, 8, 12, 16])
    """

    def __init__(self, text: str) -> None:
        self.text = text
        characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        self._visible: Bools = _VISIBLE[np.minimum(characters, len(_VISIBLE) - 1)]
        before = np.append(False, self._visible)[:-1]
        self.starts: Ints = np.flatnonzero(self._visible & ~before)  # of the first character of each word

    def __len__(self) -> int:
        return len(self.starts)

    @functools.cached_property
    def ends(self) -> Ints:
        """The positions after the words' last characters, (words,)."""
        behind = np.append(self._visible, False)[1:]
        return np.flatnonzero(self._visible & ~behind) + 1

    @functools.cached_property
    def visible(self) -> Ints:
        """The positions of the characters that are not white space."""
        return np.flatnonzero(self._visible)

    @functools.cached_property
    def words(self) -> Ints:
        """The word of each character that is not white space; behind them stands -1, for none."""
        begins = np.zeros(len(self._visible), dtype=bool)
        begins[self.starts] = True
        return np.append(np.cumsum(begins)[self._visible] - 1, -1)

    def inner(self, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Number the visible characters of passages: the first one, and the one behind the last."""
        number = np.append(0, np.cumsum(self._visible))  # of visible characters before each one
        return number[start], number[end]

    def middle_word(self, start: Ints, end: Ints) -> Ints:
        """Find the word that has the middle visible character of each passage; -1 if there is none."""
        first, behind = self.inner(start, end)
        return np.where(behind > first, self.words[(first + behind) // 2], -1)

    def between(self, start: Ints, end: Ints, by_middle: bool = False) -> tuple[Ints, Ints]:
        """Find the first and the last word of passages, by the rule of the Feedback Prize.

        The first word is the first one that begins at or after the start of the passage. The number of words is
        the number of words that the passage touches. With `by_middle`, the words are instead those whose middle
        character is within. The last word is before the first one if there is none.
        """
        places = (self.starts + self.ends) // 2 if by_middle else self.starts
        first, behind = (np.searchsorted(places, position) for position in (start, end))
        if not by_middle:
            touched = behind - np.searchsorted(self.ends, start, side="right")
            behind = np.minimum(first + touched, len(self))
        return first, behind - 1

    def borders(self) -> list[tuple[int, int]]:
        """List where each word begins and ends."""
        return list(zip(self.starts.tolist(), self.ends.tolist()))
