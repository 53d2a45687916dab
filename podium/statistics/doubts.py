"""Why an interval is missing or cannot be relied on: small groups decide, or hardly any item does.

The letters in shapes are those of `podium.statistics`.
"""

import enum
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from podium.common.arrays import Bools, Floats, Ints
from podium.metric.contract import Grouped, Measured
from podium.statistics.population import attributes_of, is_made_of_groups
from podium.statistics.sampling import contributions, is_close_to_none, slopes

# Groups of fewer items than these are small.
FEWEST_ITEMS = 10

# Where the teams of a board are compared, groups of fewer items than these are small. Such teams are chosen
# because they are close or lead, and part of that is luck.
FEWEST_ON_A_BOARD = 30

# Small groups are doubted if they decide more than this share of a value.
MOST_BY_SMALL_GROUPS = 0.2

# The model of the population moves small groups more than others, and differences there with them. So these do
# not show as often as the width of the interval suggests, unless a group has so many items.
FEWEST_TO_DETECT = 200

# Fewer items than these decide too little for an interval.
FEWEST_DECIDING = 2.0

# Items are large that change a score so many times as much as items do on average. They tell how heavy the
# tail is if there are so many of them, of so many items, and if nearly all change the score in one direction.
LARGE, FEWEST_LARGE, FEWEST_WITH_TAIL, ONE_SIDED = 3.0, 3, 200, 0.9
# With a tail of an index below this one, the largest items of a sample say too little about those of others.
HEAVIEST_TAIL = 1.7
# They also say too little if fewer than `FEWEST_LARGE` of them make the noise of so many items that differ.
FEWEST_DIFFERING = 10

# Shares and numbers of items are rounded to so many decimals, so that no rule depends on the last bit of a sum.
ROUNDED_TO = 9


class Reason(enum.Enum):
    """What is the matter with an interval, in the words of a `Doubt`."""

    UNDEFINED = "undefined"
    FEW_ITEMS = "about {items} items decide"
    SMALL_GROUPS = "groups of fewer than {fewest} items decide {share:.0%}"
    HEAVY_TAIL = "a few very large items decide, and others may be larger still"
    # Of half-samples:
    FAILED = "the metric fails on {share:.0%} of the halves of the items"
    FAR = "on halves of the items the score is another one on average, so they do not show how it varies"
    TOO_SLOW = "200 halves of the items take about {items:,} minutes"


class Doubt(NamedTuple):
    """Why an interval is missing or cannot be relied on."""

    reason: Reason
    # About how many items decide: those that count, or those in the small groups that do. If halves of the
    # items are too slow, the minutes that they take.
    items: int = 0
    share: float = 0.0  # the share of the value that small groups decide, or that of the draws that fail
    fewest: int = FEWEST_ITEMS  # groups of fewer items are small

    def __str__(self) -> str:
        if self.reason is Reason.FEW_ITEMS and self.items < 2:
            return "about 1 item decides" if self.items else "hardly any item decides"
        if self.reason is Reason.SMALL_GROUPS and self.share == 1:
            return f"fewer than {self.fewest} items"
        told = str(self.reason.value).format(**self._asdict())
        if self.reason is Reason.FAILED and self.share > 0.5:
            told += "; if rows belong together, such as those of a picture, give their column as items"
        return told


class Units(NamedTuple):
    """What is drawn: the items of a prepared solution, or what they belong to."""

    prepared: Grouped
    together: Ints | None = None  # what each item belongs to, (n,), by a number; without it each is drawn alone

    def cells(self, is_of_groups: bool = True) -> tuple[Ints, Ints]:
        """Number the units within each group, for each attribute and item, (attributes · n,).

        The second result is the group of each of these numbers. If the score is not made of groups, all items
        are in the first one.
        """
        groups = self.prepared.groups if is_of_groups else np.zeros((1, len(self.prepared.items)), np.int64)
        if self.together is None:
            return np.arange(groups.size), groups.ravel()
        number = int(self.together.max(initial=0)) + 1
        pairs, cell = np.unique(groups * number + self.together, return_inverse=True)
        return cell.ravel(), pairs // number

    def sizes(self, is_of_groups: bool = True) -> Ints:
        """Count the units of each group, (g,)."""
        return np.bincount(self.cells(is_of_groups)[1], minlength=len(self.prepared.labels))

    def sums(self, gains: Floats) -> Floats:
        """Add up what the items of each unit add, (n, ...)."""
        if self.together is None:
            return gains
        added = np.zeros((int(self.together.max(initial=-1)) + 1, *gains.shape[1:]))
        np.add.at(added, self.together, gains)
        return added


class Reaction(NamedTuple):
    """How a score reacts to its groups. If it is not made of groups, all items are in the first one."""

    shares: Floats  # how strongly it reacts to each group, (g,), as shares that add up to 1
    # The number of items on the rarer side of each group, (g,). Some items raise the score of their group, and
    # the others lower it. In a nearly perfect submission only a few lower it, and these few decide.
    deciding: Ints
    is_of_groups: bool = False  # whether the score is made of scores of groups
    tail: float = np.inf  # how heavy the tail of what items change is, see `tail_index`


def reaction(prepared: Measured, statistics: Floats, total: Floats, together: Ints | None = None) -> Reaction:
    """Measure how a score reacts to its groups, from statistics (n, k) and their sums over groups (g, k).

    An item changes the score through its group by the item's influence minus the mean influence in the group.
    The reaction to a group is the sum of the absolute changes, divided by the sum over all groups. Items that
    are drawn ``together``, (n,), count as one.
    """
    is_of_groups = is_made_of_groups(prepared, total)
    steepness = slopes(prepared, total)[0]
    if is_of_groups:
        of_item = contributions(prepared.groups, statistics, steepness).ravel()
    else:  # all groups of an attribute have the same slopes, but for rounding
        of_item = statistics @ sum(steepness[of].mean(axis=0) for of in attributes_of(prepared))
    members, number = Units(prepared).cells(is_of_groups)[1], len(prepared.labels)
    sizes = np.bincount(members, minlength=number)
    # The size of a group may count in a score, too. It is part of the mean, which is no item's merit.
    own: Floats = of_item - (np.bincount(members, of_item, minlength=number) / np.maximum(sizes, 1))[members]
    own[is_close_to_none(own)] = 0
    cell, members = Units(prepared, together).cells(is_of_groups)
    own = np.bincount(cell, own).astype(np.float64)
    sizes = np.bincount(members, minlength=number)
    changes = np.bincount(members, np.abs(own), minlength=number)
    raised, lowered = (np.bincount(members[side], minlength=number) for side in (own > 0, own < 0))
    shares = changes / changes.sum() if changes.any() else sizes / sizes.sum()
    return Reaction(shares, np.minimum(raised, lowered), is_of_groups, tail_index(own))


def tail_index(changes: Floats) -> float:
    """Estimate the index of the tail of what items change, (n,), or infinity if it is not one-sided.

    It is 0 if hardly more than two items make the noise. Else the estimator is that of B. Hill ("A Simple
    General Approach to Inference About the Tail of a Distribution", The Annals of Statistics 3, 1975). Where
    large items change a score in either direction, as with weights, those that a sample lacks do so, too, and
    the score is not wrong on average.
    """
    sizes = np.abs(changes)
    if _few_make_the_noise(changes):
        return 0.0
    is_large = sizes > LARGE * sizes.mean()
    number = int(is_large.sum())
    is_one_sided = abs(np.sign(changes[is_large]).sum()) >= ONE_SIDED * number
    if len(changes) < FEWEST_WITH_TAIL or number < FEWEST_LARGE or not is_one_sided:
        return np.inf
    # Rare mistakes of any size up to 1 are no tail, so the upper half of the large ones tells.
    middle = np.median(sizes[is_large])
    excess = float(np.log(sizes[sizes >= middle] / middle).mean())
    return 1 / excess if excess > 0 else np.inf


def _few_make_the_noise(changes: Floats) -> bool:
    """Tell whether one or two of many items make the noise, (n,): another sample may have none, or more.

    The number of items that make it is (Σg²)²/Σg⁴, as in `podium.statistics.inference.widening`. Where most
    items change nothing, as where a few of many answers are wrong, these few are counted by another rule.
    """
    differing = min(int((changes > 0).sum()), int((changes < 0).sum()))
    if differing < FEWEST_DIFFERING:
        return False
    squares = (changes / np.abs(changes).max()) ** 2
    return round(float(squares.sum() ** 2 / (squares**2).sum()), ROUNDED_TO) < FEWEST_LARGE


def doubt_of_score(units: Units, known: Reaction, fewest: int = FEWEST_ITEMS) -> Doubt | None:
    """Say why the interval of a score cannot be relied on, or None.

    The number of items that decide is the mean over the groups of the items on the rarer side, weighted with
    the reaction.
    """
    number, sizes = float(known.shares @ known.deciding), units.sizes(known.is_of_groups)
    return _doubt(number, known.shares, known.deciding, sizes, fewest) or _doubt_of_tail(known.tail)


def doubt_of_difference(
    units: Units, differing: Bools, mine: Reaction, theirs: Reaction, fewest: int = FEWEST_ITEMS
) -> Doubt | None:
    """Say why the interval of a difference between two scores cannot be relied on, or None.

    The number of items that decide is the mean over the groups of the items for which the submissions differ,
    weighted with the mean reaction of both scores. Of the two reactions to small groups, the larger
    one counts, and of the two tails, the heavier one.
    """
    if not differing.any():
        return None  # equal submissions differ by exactly 0 on the population, too
    cell, group_of = units.cells(mine.is_of_groups or theirs.is_of_groups)
    sizes = np.bincount(group_of, minlength=len(units.prepared.labels))
    changed = np.unique(cell.reshape(-1, len(differing))[:, differing])
    counts = np.bincount(group_of[changed], minlength=len(sizes))
    number = (mine.shares + theirs.shares) / 2 @ counts
    larger = max(mine.shares, theirs.shares, key=lambda shares: float(shares[sizes < fewest].sum()))
    doubt = _doubt(float(number), larger, counts, sizes, fewest)
    return doubt or _doubt_of_tail(min(mine.tail, theirs.tail))


def doubt_of_detecting(units: Units, mine: Reaction, theirs: Reaction) -> Doubt | None:
    """Say why the interval does not tell which true difference would show, or None.

    Groups are small here that have fewer than 200 items, and less than half as many as groups have on average.
    """
    if not (mine.is_of_groups or theirs.is_of_groups):
        return None
    sizes = units.sizes()
    small = sizes < min(FEWEST_TO_DETECT, sizes.mean() / 2)
    share = round(max(float(each.shares[small].sum()) for each in (mine, theirs)), ROUNDED_TO)
    if share <= MOST_BY_SMALL_GROUPS:
        return None
    return Doubt(Reason.SMALL_GROUPS, int(sizes[small].min()), share, FEWEST_TO_DETECT)


def _doubt(number: float, shares: Floats, counts: Ints, sizes: Ints, fewest: int) -> Doubt | None:
    """Apply both rules, to the number of items that decide, and to the shares of the groups."""
    small = sizes < fewest
    number, share = round(number, ROUNDED_TO), round(float(shares[small].sum()), ROUNDED_TO)
    if number < FEWEST_DECIDING:
        return Doubt(Reason.FEW_ITEMS, round(number), share, fewest)
    if share > MOST_BY_SMALL_GROUPS:
        return Doubt(Reason.SMALL_GROUPS, round(float(shares[small] @ counts[small]) / share), share, fewest)
    return None


def _doubt_of_tail(index: float) -> Doubt | None:
    """Apply the rule for the index of a tail."""
    return Doubt(Reason.HEAVY_TAIL) if round(index, ROUNDED_TO) < HEAVIEST_TAIL else None


def notes(doubts: Sequence[Doubt | None]) -> list[str]:
    """Write why intervals are missing or cannot be relied on, or empty texts."""
    return ["" if each is None else str(each) for each in doubts]
