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
WORD = re.compile(r"[^\W_]+")
# What of a path or of a number is an id: without folders, the ending of a file, and 7.0 is 7.
STEM = re.compile(r"(?:.*[/\\])?(.*?)(?:\.0+|\.[a-z]\w*)?", re.IGNORECASE | re.DOTALL)


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
        parts = [re.fullmatch(r"(.*?)(?<!\d)(\d++)", each) for each in self.texts]
        numbers = {int(part[2]): number for number, part in enumerate(parts) if part}
        is_one = len({part and part[1] for part in parts}) == 1 and len(numbers) == len(parts)
        return numbers if is_one else {}

    def named_by(self, cells: Sequence[str]) -> list[int]:
        """The id that each cell names: as it is, by the name of a file, or by its number; -1 if none."""
        if not self.number_of.keys().isdisjoint(cells):
            return [self.number_of.get(cell, -1) for cell in cells]
        stems = [match[1] if (match := STEM.fullmatch(cell[:LONGEST_NAME])) else cell for cell in cells]
        found = [self.of_small_letters.get(stem.casefold(), -1) for stem in stems]
        if max(found, default=-1) < 0 and all(cell.isdecimal() and len(cell) < 18 for cell in cells):
            return [self.of_digits.get(int(cell), -1) for cell in cells]
        return found

    def in_name(self, name: str) -> tuple[int, str]:
        """The id among the words of a name and the rest, as r17 and "_left" of "R17_left"; -1 without an id."""
        words = [match.span() for match in WORD.finditer(name[:LONGEST_NAME])][:MOST_WORDS]
        for length in range(len(words), 0, -1):
            for (start, _), (_, end) in zip(words, words[length - 1 :]):
                number = self.of_small_letters.get(name[start:end].casefold())
                if number is not None:
                    return number, name[:start] + name[end:]
        return -1, name

    def rows_of(self, numbers: Ints) -> Ints:
        """The rows of some ids in the solution; an id that comes again has its next row."""
        times = pd.Series(numbers).groupby(numbers).cumcount().to_numpy()
        return np.asarray(self.rows[self.starts[numbers] + np.minimum(times, self.counts[numbers] - 1)])
