"""Does a column tell the answers of a solution, whatever words, codes, units or order it is written in?

All evidence has one form. Rows that a column says the same of, or that are neighbors in its order, are
compared in pairs. If their answers are alike far more often than those of any two rows, the column tells them.
A feature that merely predicts them well does not. `_told` lists the ways to compare; whoever adds one writes a
generator of `Evidence` and names it there.

A column is compared with all answers at once: first some pairs with every answer, then all pairs with the few
answers that are left. So the time grows with the number of columns, and not with its square. Of a column, each
different cell is read once.
"""

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Ints
from podium.scoring.evaluating import USAGE

LEAST_ROWS = 20  # fewer rows tell nothing
MOST_ROWS = 2_000  # more would only take time
SOME_PAIRS = 256  # are compared first
PURE = 0.98  # of the rows that a column says the same of have one answer
ALIKE = PURE**2  # of their pairs
MOST_CODES = 5  # values for each answer
FEATURE = 0.9  # a number that is right so often is a good feature
NEAR = 0.9  # of how near the numbers of neighbors can be with the ties of a column
MONOTONE = 0.95  # the correlation of ranks, which is small if a column has few values
LEAST_NUMBERS = 10  # different ones; fewer are classes
MARK = 5  # times as often as the next value: a value that stands for nothing, as 0 where others were measured
CLEARLY = 0.75  # of the way from chance to certainty
LEAST_EVIDENCE = math.log(1e6)  # the odds against chance
NAMED_EVIDENCE = math.log(50)  # the same for a column that has the name of the answer
NOTHING = re.compile(r"|nan|NaN|null|NULL|None|NA|N/A|n/a|<NA>|NaT|-|\?|-1|-1\.0|-9+|-9+\.0")  # says nothing
COMMA = re.compile(r"-?\d+,\d+")  # a decimal comma

Compare = Callable[[Ints, Ints], Any]  # of pairs with answers, by their numbers


@dataclass(frozen=True)
class Coded:
    """The cells of a column, of which each different one is held once."""

    codes: Ints  # (n,) the text of each cell
    texts: Sequence[str]

    @classmethod
    def of(cls, cells: Any) -> "Coded":
        """Take cells, which are texts."""
        codes, texts = pd.factorize(np.asarray(cells, dtype=object))
        return cls(codes, texts.tolist())

    def taken(self, rows: Any) -> "Coded":
        """Take the cells in some rows."""
        return Coded(self.codes[rows], self.texts)

    def each(self, function: Callable[[str], Any], kind: Any = None) -> Any:
        """The value that a function has for each cell; each different cell is read once."""
        codes, occurring = pd.factorize(self.codes)
        return np.array([function(self.texts[code]) for code in occurring.tolist()], dtype=kind)[codes]

    def changed(self, function: Callable[[str], str]) -> "Coded":
        """The column with what a function makes of its cells."""
        return Coded.of(self.each(function, object))

    def cell(self, row: int) -> str:
        """The text in a row."""
        return self.texts[int(self.codes[row])]

    @property
    def different(self) -> int:
        """How many different cells there are."""
        return len(np.unique(self.codes))


def coded(table: pd.DataFrame) -> dict[str, Coded]:
    """The columns of a table, whose cells are texts."""
    return {str(name): Coded.of(cells) for name, cells in table.items()}


class Evidence(NamedTuple):
    """What a column tells."""

    answer: str  # a column of the solution
    form: str  # what of the cells tells it, such as "the length of "
    example: int  # the number of a row that shows it
    rate: float  # how often it is right
    chance: float  # how often anything would be
    rows: int  # how many rows were compared


class Secrets:
    """The columns of a solution that only the host knows, of which any two cells are quickly compared.

    Those with many numbers are there a second time, with the ranks of these.
    """

    def __init__(self, columns: Mapping[str, Coded], ids: Ints, places: Ints) -> None:
        """Take columns, and of each row the number of its id and its place among the rows of an id."""
        self.names, self.ids, self.places = list(columns), ids, places
        texts = Coded.of([text for column in columns.values() for text in column.texts])
        same = texts.changed(_canonical)
        self.code_of = {text: code for code, text in enumerate(same.texts)}
        self.codes = np.zeros((len(ids), len(columns)), dtype=np.int64)
        end = 0
        for number, column in enumerate(columns.values()):
            start, end = end, end + len(column.texts)
            self.codes[:, number] = same.codes[start:end][column.codes]
        self.sorted = self._sorted()
        self.numbers = np.array([number_of(text) for text in same.texts])
        self._chances = dict[int, float]()

    @functools.cached_property
    def numeric(self) -> list[int]:
        """The columns with many numbers."""
        columns = enumerate(self.codes.T)
        return [place for place, codes in columns if pd.Series(self.numbers[codes]).nunique() > LEAST_NUMBERS]

    @functools.cached_property
    def ranks(self) -> Any:
        """The ranks of these numbers, as shares."""
        ranks = np.zeros((len(self.codes), len(self.numeric)), dtype=np.float32)
        for place, column in enumerate(self.numeric):
            ranks[:, place] = pd.Series(self.numbers[self.codes[:, column]]).rank(pct=True)
        return ranks

    def chance(self, column: int) -> float:
        """How often an answer is that of any other row; about 0 for one by its ranks."""
        if column not in self._chances and column < len(self.names):
            own = self.codes[:, column]
            self._chances[column] = share_of(own, self.places, own, self.places)
        return self._chances.get(column, 0.0)

    def name(self, column: int) -> str:
        """The name of an answer, or of one by its ranks."""
        number = column - len(self.names)
        return self.names[column if number < 0 else self.numeric[number]]

    def alike(self, one: Ints, other: Ints, columns: Ints, step: float) -> Any:
        """How alike rows are: 1 if equal, or a step of ranks apart; about 0 for any two ranks."""
        secrets = columns[columns < len(self.names)]
        numbers = columns[len(secrets) :] - len(self.names)
        equal = self.codes[np.ix_(one, secrets)] == self.codes[np.ix_(other, secrets)]
        if not len(numbers):
            return equal
        # Two of n ranks differ by a third of n in the mean.
        apart = np.abs(self.ranks[np.ix_(one, numbers)] - self.ranks[np.ix_(other, numbers)])
        return np.hstack([equal, np.nan_to_num(1 - 3 * np.maximum(apart - step, 0))])

    def _sorted(self) -> Ints:
        """The codes, sorted within each id, whose rows may have any order."""
        if not self.places.any():
            return self.codes
        by_place, result = np.lexsort((self.places, self.ids)), self.codes.copy()
        for column, codes in enumerate(self.codes.T):
            result[by_place, column] = codes[np.lexsort((codes, self.ids))]
        return result


def _canonical(text: str) -> str:
    """A text whose case, spaces and ending zeros do not count."""
    number = number_of(text)
    return text.strip().casefold() if math.isnan(number) else f"{number:.12g}"


def share_of(codes: Ints, places: Ints, own: Ints, at: Ints) -> float:
    """The mean share that some codes have among those of the rows with the same place within their id.

    So an answer that the place tells, such as the first of five paragraphs, is told by chance.
    """
    if not len(own):
        return 1.0
    width = 1 + max(int(codes.max()), int(own.max()))
    keys = np.concatenate([places * width + codes, at * width + own])
    numbers = pd.factorize(keys)[0]
    counts = np.bincount(numbers[: len(codes)], minlength=numbers.max() + 1)
    return float((counts[numbers[len(codes) :]] / np.bincount(places)[at]).mean())


def number_of(cell: str) -> float:
    """The number in a cell, also with a decimal comma; NaN if there is none or it says nothing."""
    if NOTHING.fullmatch(cell):
        return math.nan
    try:
        number = float(cell.replace(",", ".") if COMMA.fullmatch(cell) else cell)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def tells(rate: float, chance: float, number: int, least: float = LEAST_EVIDENCE) -> bool:
    """Whether so many answers are told at a rate that chance does not explain."""
    if chance >= 1 or (rate - chance) / (1 - chance) < CLEARLY:
        return False
    # Chernoff's bound: the logarithm of the odds against this rate.
    surprise = number * rate * math.log(rate / max(chance, 1e-12))
    if rate < 1:
        surprise += number * (1 - rate) * math.log((1 - rate) / (1 - chance))
    return surprise >= least


def natural(item: str) -> tuple[tuple[int, str], ...]:
    """The key by which ids are sorted so that x10 comes after x9."""
    parts = re.split(r"(\d+)", item)
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)


# ---- A column ------------------------------------------------------------------------------------------------


def told(
    column: Coded, rows: Ints, secrets: Secrets, name: str = "", *, has_order: bool = True
) -> Evidence | None:
    """What a column with this name tells of these rows of the solution, in any of its forms."""
    if len(rows) and name not in secrets.names and len(column.texts) < 2:
        return None
    # Neighbors have nothing else in common, and of very many rows some are enough.
    order = mixed(len(rows))[: 10 * MOST_ROWS]
    found = next(_told(column.taken(order), rows[order], secrets, name, has_order), None)
    return None if found is None else found._replace(example=int(order[found.example]))


@functools.lru_cache(4)
def mixed(number: int) -> Ints:
    """A random order of so many rows."""
    return np.random.default_rng(0).permutation(number)


def _told(column: Coded, rows: Ints, secrets: Secrets, name: str, has_order: bool) -> Iterator[Evidence]:
    """The same for rows in a random order."""
    for form, values in _forms(column):
        if len(values.texts) < 2 and (form or name not in secrets.names):
            continue
        is_nothing = values.each(lambda text: NOTHING.fullmatch(text) is not None, bool)
        said = np.flatnonzero(~is_nothing)[:MOST_ROWS]
        some = values.taken(said)
        own = some.each(lambda text: secrets.code_of.get(_canonical(text), -1), np.int64)
        tests: list[tuple[Ints, Iterable[Evidence]]] = [
            (said, _as_they_are(own, rows[said], secrets, "" if form else name))
        ]
        if len(values.texts) > 1:
            once, first = _once(rows), said[_once(rows[said])]
            is_absent, absent = is_nothing | _stand_out(values.codes), "the missing cells of "
            if values.different == 2 and not is_nothing.any():  # such as yes for one answer alone
                is_absent, absent = values.codes == values.codes[0], ""
            tests += [
                (said, _by_groups(some.codes, rows[said], secrets)),
                (first, _by_order(values.taken(first), rows[first], secrets) if has_order else ()),
                (once, _by_absence(is_absent[once], rows[once], secrets, absent)),
            ]
        for at, test in tests:
            for found in test:
                yield found._replace(form=found.form + form, example=int(at[found.example]))


def told_by_number(counts: Ints, rows: Ints, secrets: Secrets) -> Evidence | None:
    """What is told by how often a file names the ids of some rows."""
    order = mixed(len(rows))
    counts, rows = counts[order], rows[order]
    absent = _by_absence(counts == 0, rows, secrets, "")
    return next(itertools.chain(absent, _by_groups(counts, rows, secrets)), None)


def told_by_order(rows: Ints, secrets: Secrets) -> Evidence | None:
    """What the order of some rows tells: neighbors have the same answer, or numbers rise or fall."""
    rows = rows[_once(rows)]
    rows = rows[secrets.places[rows] == 0]

    def by_neighbors(codes: Ints, rate: float) -> tuple[float, float]:
        """How many neighbors have the same answer, and any two rows."""
        return rate, share_of(codes, np.zeros_like(rows), codes, np.zeros_like(rows))

    return next(_along(rows, secrets, by_neighbors, by_rank=True), None) if len(rows) >= LEAST_ROWS else None


def _forms(column: Coded) -> Iterator[tuple[str, Coded]]:
    """A column, and what its cells may tell by their length, as many digits as letters."""
    yield "", column
    yield "the length of ", column.changed(lambda cell: str(len(cell)) if cell else "")


def _likely(number: int, columns: int, secrets: Secrets, alike: Compare) -> list[tuple[int, float]]:
    """The answers, or those by their ranks, that are right in far more pairs than by chance, and how often."""
    some, rates = np.arange(columns), np.zeros(columns)
    for most, least in ((SOME_PAIRS, CLEARLY - 0.25), (number, CLEARLY)):
        pairs = np.linspace(0, number - 1, min(most, number)).astype(np.int64)
        rates = alike(pairs, some).mean(axis=0) if number else np.zeros(len(some))
        # Few answers come so far, and the chance of the others need not be known.
        some, rates = some[rates >= least], rates[rates >= least]
        chances = np.array([secrets.chance(column) for column in some.tolist()])
        is_kept = rates - chances >= least * (1 - chances)
        some, rates = some[is_kept], rates[is_kept]
    return list(zip(some.tolist(), rates.tolist()))


def _pairs(one: Ints, other: Ints, secrets: Secrets, *, by_rank: bool = False) -> list[tuple[int, float]]:
    """The answers that are alike in far more of these pairs of rows than in any two, also by their ranks."""
    columns = len(secrets.names) + (len(secrets.numeric) if by_rank else 0)

    def alike(some: Ints, columns: Ints) -> Any:
        """Compare the answers of some pairs."""
        return secrets.alike(one[some], other[some], columns, 1 / (len(one) + 1))

    return _likely(len(one), columns, secrets, alike)


def _as_they_are(own: Ints, rows: Ints, secrets: Secrets, name: str) -> Iterator[Evidence]:
    """The answers themselves; a column of their name may have errors."""
    order = np.lexsort((own, secrets.ids[rows]))
    own, rows = own[order], rows[np.lexsort((secrets.places[rows], secrets.ids[rows]))]

    def alike(some: Ints, columns: Ints) -> Any:
        """Compare some of the cells with the answers."""
        return np.equal(secrets.sorted[np.ix_(rows[some], columns)], own[some, np.newaxis])

    named = [secrets.names.index(name)] if name in secrets.names else []
    others = _likely(len(rows), len(secrets.names), secrets, alike) if len(np.unique(own)) > 1 else []
    for column in [*named, *(column for column, _ in others)]:
        right = secrets.sorted[rows, column] == own
        rate = float(right.mean()) if len(right) else 0.0
        enough, least = (CLEARLY, NAMED_EVIDENCE) if column in named else (PURE, LEAST_EVIDENCE)
        if rate < enough:
            continue
        chance = share_of(secrets.sorted[:, column], secrets.places, own, secrets.places[rows])
        if tells(rate, chance, len(_once(rows)), least):
            yield Evidence(secrets.names[column], "", int(order[np.argmax(right)]), rate, chance, len(rows))


def _by_groups(values: Ints, rows: Ints, secrets: Secrets) -> Iterator[Evidence]:
    """Nearly each value stands for one answer. Values of a single row do not count."""
    first = _once(rows, values)
    values, rows = values[first], rows[first]
    places = secrets.places[rows]
    keys = values * (1 + secrets.places.max(initial=0)) + places
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(np.diff(keys[order]) == 0)
    one, other = order[same], order[same + 1]
    repeated = np.union1d(one, other)
    # Many values, such as those of patients who have one diagnosis each, are groups and no codes.
    number = len(np.unique(values[repeated]))
    for column, rate in (
        _pairs(rows[one], rows[other], secrets) if len(repeated) >= max(LEAST_ROWS, len(rows) / 2) else ()
    ):
        own = secrets.codes[rows[repeated], column]
        chance = share_of(own, places[repeated], own, places[repeated])
        # What keeps rows together, such as a patient, determines their part, and does not tell which one it is.
        most = (1 if secrets.names[column] == USAGE else MOST_CODES) * len(np.unique(own))
        if number <= most and rate >= ALIKE and tells(rate, chance, len(one)):
            yield Evidence(secrets.names[column], "", int(first[one[0]]), rate, chance, len(rows))


def _by_order(values: Coded, rows: Ints, secrets: Secrets) -> Iterator[Evidence]:
    """In the order of a column, other numbers rise or fall, or each answer has a range of its own."""
    if values.different <= LEAST_NUMBERS or len(rows) < LEAST_ROWS or secrets.places[rows].any():
        return
    numbers = values.each(number_of, float)
    is_number = ~np.isnan(numbers)
    if by_rank := bool(is_number.mean() > 0.5):
        order = np.flatnonzero(is_number)[np.argsort(numbers[is_number], kind="stable")]
    else:
        place = np.argsort(sorted(range(len(values.texts)), key=lambda code: natural(values.texts[code])))
        order = np.argsort(place[values.codes], kind="stable")
    ties = np.unique(values.codes[order], return_counts=True)[1] / len(order)
    near = NEAR * (1 - float((ties**2).sum()))
    for found in _along(rows[order], secrets, _by_ranges, by_rank=by_rank, near=near):
        yield found._replace(example=int(order[0]))


def _along(
    rows: Ints,
    secrets: Secrets,
    of_classes: Callable[[Ints, float], tuple[float, float]],
    *,
    by_rank: bool,
    near: float = NEAR,
) -> Iterator[Evidence]:
    """What an order of rows tells: classes as the function says, or numbers that rise or fall."""
    for column, alike in _pairs(rows[:-1], rows[1:], secrets, by_rank=by_rank):
        rate, chance = alike, 0.0
        if column < len(secrets.names):
            rate, chance = of_classes(secrets.codes[rows, column], alike)
        elif alike < near or not _is_monotone(rows, column, secrets):
            continue
        if tells(rate, chance, len(rows) - 1):
            yield Evidence(secrets.name(column), "", 0, rate, chance, len(rows))


def _by_ranges(codes: Ints, _rate: float) -> tuple[float, float]:
    """How many rows of an order lie in the range of their answer, and 1 if that may be a good feature."""
    _, own, counts = np.unique(codes, return_inverse=True, return_counts=True)
    middles = np.argsort([np.median(np.flatnonzero(own == each)) for each in range(len(counts))])
    rate = float((own == np.repeat(middles, counts[middles])).mean())
    return rate, max(FEATURE, float(counts.max()) / len(own)) if rate >= PURE else 1.0


def _is_monotone(rows: Ints, column: int, secrets: Secrets) -> bool:
    """Whether an answer by its ranks rises or falls along some rows; in a series, it may do both."""
    ranks = secrets.ranks[rows, column - len(secrets.names)]
    places = np.flatnonzero(~np.isnan(ranks))
    return len(places) > 1 and abs(np.corrcoef(places, ranks[places])[0, 1]) > MONOTONE


def _once(rows: Ints, values: Ints | int = 0) -> Ints:
    """The places of the first of equal rows with equal values; what is said again is no new evidence."""
    keys = values * (1 + rows.max(initial=0)) + rows
    return np.sort(np.unique(keys, return_index=True)[1])


def _by_absence(is_absent: Bools, rows: Ints, secrets: Secrets, form: str) -> Iterator[Evidence]:
    """The rows of one answer, and no others, say nothing, or are the only ones that say something."""
    for side in (is_absent, ~is_absent) if not secrets.places[rows].any() else ():
        members, chance = rows[side], max(float(side.mean()), float(1 - side.mean()))
        for column, _ in _pairs(members[:-1], members[1:], secrets) if len(members) < len(rows) else ():
            codes, counts = np.unique(secrets.codes[members, column], return_counts=True)
            rate = float(((secrets.codes[rows, column] == codes[counts.argmax()]) == side).mean())
            if rate >= PURE and tells(rate, chance, len(rows)):
                yield Evidence(secrets.names[column], form, int(np.argmax(side)), rate, chance, len(rows))


def _stand_out(codes: Ints) -> Bools:
    """The cells with a value that is far more frequent than all others, as 0 where others were measured."""
    counts = np.bincount(codes)
    first, second = np.sort(counts)[:-3:-1] if len(counts) > LEAST_NUMBERS else (0, 1)
    return np.asarray((codes == counts.argmax()) & bool(first >= MARK * second))
