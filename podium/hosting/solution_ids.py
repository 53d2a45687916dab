"""The ids in a column of a solution, and how cells and names of files may spell them."""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from podium.common.arrays import Ints
from podium.hosting.evidence import Coded, natural

LONGEST_NAME = 200  # characters of a cell or of a file's name; a longer one is a text
MOST_WORDS = 12  # of a file's name
SOME, LEAST_SHARE = 400, 0.05  # cells that are tried first, and how many of them name an id, if a column does
NAME = re.compile(r"(?=\S*[^\W\d_])\S+")  # finds in linear time that a letter is there
WORD = re.compile(r"[^\W_]+")
NUMBERED = re.compile(r"(.*?)(?<!\d)(\d{1,18})", re.DOTALL)
ONE_NUMBER = re.compile(r"(\D{0,100})(\d{1,18})(\D{0,100})")
# What of a path or of a number is an id: without folders, the ending of a file, and 7.0 is 7.
STEM = re.compile(r"(?:.*[/\\])?(.*?)(?:\.0+|\.[a-z]\w*)?", re.IGNORECASE | re.DOTALL)


def _stem(cell: str) -> str:
    """What of a cell may be an id."""
    match = STEM.fullmatch(cell[:LONGEST_NAME])
    return match[1] if match else cell


class Ids:
    """The ids in a column of the solution."""

    def __init__(self, name: str, column: Coded) -> None:
        """Number the ids, and note the rows of each."""
        self.name = name
        self.numbers, self.texts = column.codes, column.texts  # the id of each row, by its number
        self.number_of = {text: number for number, text in enumerate(self.texts)}
        self.rows = np.argsort(self.numbers, kind="stable")
        self.counts = np.bincount(self.numbers)
        self.starts = np.cumsum(self.counts) - self.counts

    @cached_property
    def by_name(self) -> Ints:
        """The place of each id, sorted by name."""
        return np.argsort(sorted(range(len(self.texts)), key=lambda number: natural(self.texts[number])))

    @cached_property
    def of_small_letters(self) -> dict[str, int]:
        """The ids, whatever their case."""
        return {text.casefold(): number for number, text in enumerate(self.texts)}

    @cached_property
    def of_digits(self) -> dict[int, int]:
        """The ids by their numbers, if each has one and the same text before it."""
        parts = [NUMBERED.fullmatch(each) for each in self.texts]
        numbers = {int(part[2]): number for number, part in enumerate(parts) if part}
        is_one = len({part and part[1] for part in parts}) == 1 and len(numbers) == len(parts)
        return numbers if is_one else {}

    @cached_property
    def are_numbers(self) -> bool:
        """Whether the ids are whole numbers, and no two are the same one."""
        return bool(self.of_digits) and self.texts[0].isdecimal()

    def named_by(self, cells: Sequence[str]) -> list[int]:
        """The id that each cell names: as it is, by the name of a file, or by its number; -1 if none."""
        if not self.number_of.keys().isdisjoint(cells):
            return [self.number_of.get(cell, -1) for cell in cells]
        stems = [*map(_stem, cells)]
        found = [self.of_small_letters.get(stem.casefold(), -1) for stem in stems]
        if max(found, default=-1) >= 0:
            return found
        said = [stem for stem in stems if stem]
        if all(stem.isdecimal() and len(stem) < 18 for stem in said):
            return [self.of_digits.get(int(stem), -1) if stem else -1 for stem in stems]
        return found

    def within(self, cells: Sequence[str]) -> list[int]:
        """The id within the name that each cell is, as r17 of "img_r17.jpg"; -1 if none.

        In texts of several words, in dates and in decimals, what is an id means something else.
        """
        some = [_stem(cell) for cell in cells[:: max(len(cells) // SOME, 1)] if cell]
        if not all(map(NAME.fullmatch, some)):
            return []
        if sum(self.in_name(stem)[0] >= 0 for stem in some) < LEAST_SHARE * len(some):
            return []
        return [self.in_name(_stem(cell))[0] for cell in cells]

    def in_name(self, name: str) -> tuple[int, str]:
        """The id among the words of a name and the rest, as r17 and "_left" of "R17_left"; -1 without an id.

        Where ids are numbers, that of the only number will do, such as 183 of "img00183".
        """
        words = [match.span() for match in WORD.finditer(name[:LONGEST_NAME])][:MOST_WORDS]
        for length in range(len(words), 0, -1):
            for (start, _), (_, end) in zip(words, words[length - 1 :]):
                number = self.of_small_letters.get(name[start:end].casefold())
                if number is not None:
                    return number, name[:start] + name[end:]
        if self.are_numbers and (only := ONE_NUMBER.fullmatch(name)):
            return self.of_digits.get(int(only[2]), -1), only[1] + only[3]
        return -1, name

    def rows_of(self, numbers: Ints) -> Ints:
        """The rows of some ids in the solution; an id that comes again has its next row."""
        times = pd.Series(numbers).groupby(numbers).cumcount().to_numpy()
        return np.asarray(self.rows[self.starts[numbers] + np.minimum(times, self.counts[numbers] - 1)])
