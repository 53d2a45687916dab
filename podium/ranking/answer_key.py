"""Is the solution right? Items on which the best teams answer alike, and otherwise than the solution.

Weak teams are wrong by themselves, so the best ones are asked, each file once. An item is suspicious by three
*signs*, each of which is a share: how many answers are the same other one, how many are not the right one, and
how many probabilities speak against what else is true of it. No sign tells a wrong label from a mistake that
models share. So a sign is told only if many more items show it than the other items would lead one to expect.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Floats, Ints
from podium.scoring.answers import Answers
from podium.scoring.explain import ratio

MOST_FILES = 10  # distinct files, the best ones
FEWEST_FILES = 5  # with fewer, chance gives the same other answer too easily
# From this share on an item shows a sign. An item of several things has some that are easy to get right.
ALIKE, ALIKE_IN_SEVERAL, UNSOLVED, AGAINST = 0.8, 0.5, 1.0, 0.8
STEPS = 10, 40  # to which the shares of items of several things are rounded down: as many as an item has things
MATCHES_PER_FILE = 2  # with fewer, the probabilities of an item say little
FEWEST_ITEMS, MARGIN, RARE = 3, 1.5, 0.01  # a sign is told if chance gives so many items so rarely

# The beta-binomials of which the likeliest one is taken: their means, and variances beyond a binomial's.
MEANS, SPREADS = np.geomspace(1e-4, 0.9, 60), np.geomspace(1e-3, 50, 60)


class Suspicion(NamedTuple):
    """What may show that the solution is wrong about an item."""

    name: str  # the column of the table of items
    least: int  # how many of so many steps an item has at least that shows it
    steps: int
    shown: Bools  # the items that show it, (n,)
    expected: float  # how many of them the other items would lead one to expect
    is_single: bool  # whether an item is one thing, so that the steps are the files

    @property
    def is_told(self) -> bool:
        """Whether so many items show it that chance hardly explains it."""
        number = int(self.shown.sum())
        return number >= FEWEST_ITEMS and _at_least(number, MARGIN * self.expected) < RARE


def told(asked: pd.DataFrame, answers: Sequence[Answers], number: int) -> tuple[pd.DataFrame, Floats]:
    """Tell what some files answer to each of so many items, in shares of their answers.

    Where an item has several things, such as segments, the most suspicious one is named. Behind the table
    stands the share of right answers to each item in each file, (n, files).
    """
    labels, true = np.unique(asked["label"].to_numpy(dtype=object), return_inverse=True)
    item, given = asked["item"].to_numpy(), np.stack([each.codes for each in answers])
    same, other = _same_other(given, true)
    is_right = given == true
    size = np.bincount(item, minlength=number)

    def share(of_things: Any, most: int) -> Floats:
        return ratio(np.bincount(item, of_things, minlength=number), most * size)

    answered = [np.bincount(item, each.is_answered, minlength=number) > 0 for each in answers]
    things = asked[["item", "row"]].assign(label=labels[true], answer=np.append(labels, "")[other])
    worst = np.argsort(-(same * (len(answers) + 1) - is_right.sum(axis=0)), kind="stable")
    named = things.iloc[worst].drop_duplicates("item").set_index("item").astype(object)
    table = pd.DataFrame(
        {
            "answered": np.sum(answered, axis=0),
            "agree": share(same, len(answers)),
            "unsolved": 1 - share(is_right.sum(axis=0), len(answers)),
            "against": _against(item, answers, number),
            "things": size,
        }
    )
    table = table.join(named.reindex(range(number), fill_value=""))
    return table, np.stack([share(each, 1) for each in is_right], axis=1)


def _same_other(given: Ints, true: Ints) -> tuple[Ints, Ints]:
    """Count the commonest answer to each thing that is not the right one, and tell which one it is, (m,)."""
    most, which = np.zeros(len(true), dtype=np.int64), np.full(len(true), -1)
    for one in given:
        same = np.where((one >= 0) & (one != true), (given == one).sum(axis=0), 0)
        which = np.where(same > most, one, which)
        most = np.maximum(most, same)
    return most, which


def _against(item: Ints, answers: Sequence[Answers], number: int) -> Floats:
    """The share of an item's probabilities that make something else likelier than what is true."""
    given = np.stack([each.probabilities for each in answers])
    against, known = (
        np.bincount(item, each.sum(axis=0), minlength=number) for each in (given < 0.5, ~np.isnan(given))
    )
    return ratio(against, np.where(known >= MATCHES_PER_FILE * len(answers), known, 0))


def signs(table: pd.DataFrame, files: int) -> list[Suspicion]:
    """Find the items that show a sign, and how many would be expected to."""
    if files < FEWEST_FILES:
        return []
    is_single = bool((table["things"] <= 1).all())
    steps = files if is_single else int(np.clip(table["things"].median(), *STEPS))
    found = []
    for name, least in (
        ("agree", ALIKE if is_single else ALIKE_IN_SEVERAL),
        ("unsolved", UNSOLVED),
        ("against", AGAINST),
    ):
        is_known = table[name].notna().to_numpy()
        counts = np.floor(table[name].fillna(0.0).to_numpy() * steps + 1e-9).astype(np.int64)
        border = math.ceil(least * steps - 1e-9)
        shown = is_known & (counts >= border)
        often = expected(counts[is_known], steps, border)
        found.append(Suspicion(name, border, steps, shown, often, is_single))
    return found


def expected(counts: Ints, steps: int, border: int) -> float:
    """How many counts reach a border, as those below it would lead one to expect.

    A beta-binomial is fitted to those below: things differ in how hard they are, so a binomial is too narrow.
    Where most mistakes are shared, almost any number could be expected, and all counts are the most.
    """
    below = np.bincount(counts, minlength=steps + 1)[:border]
    likely = _beta_binomials(steps)
    share = likely[..., :border].sum(axis=-1)
    fit = (below * np.log(likely[..., :border])).sum(axis=-1) - below.sum() * np.log(share)
    best = np.unravel_index(np.argmax(fit), fit.shape)
    return min(float(below.sum() * max(1 - share[best], 0.0) / share[best]), float(len(counts)))


def _beta_binomials(steps: int) -> Floats:
    """The probabilities of 0 to so many steps for each mean and spread, (means, spreads, steps + 1)."""
    from scipy import special  # takes long to import

    mean, spread, number = np.meshgrid(MEANS, SPREADS, np.arange(steps + 1), indexing="ij")
    first, second = mean / spread, (1 - mean) / spread
    of_shares = special.betaln(first + number, second + steps - number) - special.betaln(first, second)
    likely: Floats = special.comb(steps, number) * np.exp(of_shares)
    return np.maximum(likely, 1e-300)


def _at_least(number: int, mean: float) -> float:
    """The probability that a Poisson variable reaches a number."""
    from scipy import special

    return float(special.pdtrc(number - 1, mean))
