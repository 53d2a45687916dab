"""Does one column determine another, whatever words, codes, units or order it is written in?

A feature that merely predicts well does not. The functions take texts of the same rows; a number is the
evidence that a message shows, and 0.0 means that nothing is determined.
"""

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pandas as pd

LEAST_ROWS = 20  # fewer rows tell nothing
PURE = 0.98  # of the rows with a value have one class
MOST_CODES = 5  # values for each class
LEAST_CORRELATION = 0.99  # of what is possible with the ties of the column
LEAST_BINS = 0.95  # the correlation itself, which is small if a column has few values
LEAST_NUMBERS = 10  # different ones; fewer are classes
CLEARLY = 0.75  # of the way from chance to certainty
LEAST_EVIDENCE = math.log(1e6)  # the odds against chance
NOTHING = re.compile(r"|nan|NaN|null|NULL|None|NA|N/A|n/a|<NA>|NaT|-|\?|-1|-1\.0|-9+|-9+\.0")  # says nothing
COMMA = re.compile(r"-?\d+,\d+")  # a decimal comma


def classes_told(cells: Sequence[str], truths: Sequence[str], most_codes: int = MOST_CODES) -> float:
    """How pure the classes of the rows with the same value are, if nearly each value has one class.

    Rows that say nothing, and values of a single row, do not count. A class has at most so many codes.

    >>> classes_told(["a", "b", "c"] * 20, ["x", "y", "x"] * 20)
    1.0
    >>> classes_told(["a", "b", "a"] * 20, ["x", "y", "y"] * 20)
    0.0
    """
    of_value: dict[str, Counter[str]] = defaultdict(Counter)
    said = 0
    for cell, truth in zip(cells, truths):
        if not NOTHING.fullmatch(cell):
            of_value[cell][truth] += 1
            said += 1
    repeated = [each for each in of_value.values() if each.total() > 1]
    rows = sum(each.total() for each in repeated)
    together = sum(repeated, Counter[str]())
    # Many values, such as those of patients who have one diagnosis each, are groups and no codes.
    if rows < LEAST_ROWS or rows < said / 2 or len(repeated) > most_codes * len(together):
        return 0.0
    majority = [max(each.values()) for each in repeated]
    pure = sum(each.total() for each, most in zip(repeated, majority) if most >= PURE * each.total())
    # Of small groups, many are pure by chance: each row is told by the others of its group.
    told = sum(most for most in majority if most > 1) / rows
    is_evident = tells(told, _chance(repeated, together), rows - len(repeated))
    return told if pure >= PURE * rows and is_evident else 0.0


def _chance(groups: Sequence[Counter[str]], together: Counter[str]) -> float:
    """The share of rows in the most frequent class of their group, if classes are dealt out at random."""
    rows = together.total()
    dealt = np.random.default_rng(0).permutation(np.repeat(np.arange(len(together)), list(together.values())))
    ends = np.cumsum([each.total() for each in groups])[:-1]
    return float(sum(np.bincount(group).max() for group in np.split(dealt, ends)) / rows)


def numbers_told(cells: Sequence[str], truths: Sequence[str]) -> float:
    """How well the order of a column's numbers is that of others, if it is, up or down; ties do not count.

    >>> round(numbers_told([str(-(n**3)) for n in range(30)], [str(n) for n in range(30)]), 6)
    1.0
    """
    if len(set(truths)) <= LEAST_NUMBERS:
        return 0.0
    read = np.array([(number_of(cell), number_of(truth)) for cell, truth in zip(cells, truths)]).reshape(-1, 2)
    column, numbers = read[~np.isnan(read).any(axis=1)].T
    if len(column) < LEAST_ROWS or len(np.unique(numbers)) <= LEAST_NUMBERS or len(np.unique(column)) < 2:
        return 0.0
    ranks, truly = (pd.Series(each).rank().to_numpy() for each in (column, numbers))
    correlation = float(np.corrcoef(ranks, truly)[0, 1])
    possible = float(np.corrcoef(np.sort(ranks), np.sort(truly))[0, 1])
    is_told = abs(correlation) > LEAST_CORRELATION * possible and abs(correlation) > LEAST_BINS
    return abs(correlation) if is_told else 0.0


def number_of(cell: str) -> float:
    """The number in a cell, also with a decimal comma; NaN if there is none or it says nothing."""
    if NOTHING.fullmatch(cell):
        return math.nan
    try:
        number = float(cell.replace(",", ".") if COMMA.fullmatch(cell) else cell)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def order_told(truths: Sequence[str]) -> float:
    """The share of neighbors with the same class, or the correlation of neighbors, if truths are sorted.

    >>> order_told(["x"] * 15 + ["y"] * 15)
    0.9655172413793104
    """
    if len(truths) < LEAST_ROWS:
        return 0.0
    counts = Counter(truths)
    numbers = np.array([number_of(each) for each in truths])
    if len(counts) > LEAST_NUMBERS and not np.isnan(numbers).any():
        ranks = pd.Series(numbers).rank().to_numpy()
        correlation = float(np.corrcoef(ranks[:-1], ranks[1:])[0, 1])
        return correlation if correlation > LEAST_CORRELATION else 0.0
    equal = sum(one == other for one, other in itertools.pairwise(truths)) / (len(truths) - 1)
    chance = sum((number / len(truths)) ** 2 for number in counts.values())
    return equal if tells(equal, chance, len(truths) - 1) else 0.0


def natural(item: str) -> list[tuple[int, str]]:
    """The key by which ids are sorted so that x10 comes after x9."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", item)]


def tells(rate: float, chance: float, number: int, least: float = LEAST_EVIDENCE) -> bool:
    """Whether so many truths are told at a rate that chance does not explain."""
    if chance >= 1 or (rate - chance) / (1 - chance) < CLEARLY:
        return False
    # Chernoff's bound: the logarithm of the odds against this rate.
    evidence = number * rate * math.log(rate / max(chance, 1e-12))
    if rate < 1:
        evidence += number * (1 - rate) * math.log((1 - rate) / (1 - chance))
    return evidence >= least
