"""Recognize truths in disguise: translated labels, ids that tell the label, and rows in the order of the truth.

Each check compares two columns of texts of the same items.  One is public, the other one is known to the
solution alone.  A check answers yes only if chance is an implausible explanation.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

MOST_BY_CHANCE = 1e-9  # the largest probability with which chance may explain what is reported
FEWEST_NUMBERS = 20  # items: fewer numbers can be in the same order by chance
SAME_ORDER = 0.995  # the least rank correlation of numbers that tell each other
OUT_OF_PLACE = 0.05  # the largest share of rows that may interrupt an order
PARTS = re.compile(r"[0-9]+|[^\W\d_]+")  # an id such as "img17_cat" has the parts img, 17 and cat


def stands_for(public: Sequence[str], secret: Sequence[str]) -> bool:
    """Tell whether each value of one column stands for one value of the other, as in a translation.

    Parameters
    ----------
    public, secret : sequence of str
        The values of the same items.

    Returns
    -------
    bool
        True if the values correspond one to one, and chance is no explanation.

    Examples
    --------
    >>> labels = ["cat", "dog", "dog", "fox"] * 9
    >>> stands_for([{"cat": "7", "dog": "8", "fox": "9"}[label] for label in labels], labels)
    True
    >>> stands_for(sorted(labels), labels)
    False

    With an own value for each item, a column stands for every other one.  That is no disguise:

    >>> stands_for([str(number) for number in range(36)], [str(-number) for number in range(36)])
    False
    """
    values = len(set(public))
    if values < 2 or values != len(set(secret)) or len(set(zip(public, secret))) != values:
        return False
    return _chance(secret) + math.lgamma(values + 1) < math.log(MOST_BY_CHANCE)


def ranks_like(public: Sequence[str], secret: Sequence[str]) -> bool:
    """Tell whether the numbers of two columns have the same order, as after a multiplication or rounding.

    Parameters
    ----------
    public, secret : sequence of str
        The values of the same items.

    Returns
    -------
    bool
        True if both columns hold numbers, and their ranks have a correlation of at least `SAME_ORDER` or at
        most minus that.

    Examples
    --------
    >>> truth = [str(number * 37 % 101) for number in range(50)]
    >>> ranks_like([str(-1.5 * int(value)) for value in truth], truth)
    True
    >>> ranks_like(sorted(truth), truth)
    False
    """
    if len(secret) < FEWEST_NUMBERS:
        return False
    first, second = _numbers(public), _numbers(secret)
    if first is None or second is None:
        return False
    if min(len(np.unique(each)) for each in (first, second)) < FEWEST_NUMBERS / 2:
        return False
    return abs(_rank_correlation(first, second)) >= SAME_ORDER


def is_in_order(secret: Sequence[str]) -> bool:
    """Tell whether items stand in the order of their truths: sorted by a number, or one label after the other.

    Parameters
    ----------
    secret : sequence of str
        The values of the items in their public order.

    Returns
    -------
    bool
        True if hardly any item is out of place, and chance is no explanation.

    Examples
    --------
    >>> is_in_order(["cat"] * 30 + ["dog"] * 30)
    True
    >>> is_in_order(["cat", "dog"] * 30)
    False
    >>> is_in_order([str(number) for number in range(99)])
    True
    """
    values = len(set(secret))
    if values < 2:
        return False
    if values <= len(secret) / 4:
        changes = sum(before != after for before, after in itertools.pairwise(secret))
        is_probable = _chance(secret) + math.lgamma(values + 1) >= math.log(MOST_BY_CHANCE)
        return not is_probable and changes - (values - 1) <= OUT_OF_PLACE * len(secret) / 2
    numbers = _numbers(secret)
    if numbers is None or len(secret) < FEWEST_NUMBERS:
        return False
    return abs(_rank_correlation(np.arange(len(numbers)), numbers)) >= SAME_ORDER


def parts_of_ids(ids: Sequence[str]) -> list[tuple[str, ...]]:
    """Take ids apart into their words and numbers.

    Parameters
    ----------
    ids : sequence of str
        The ids.

    Returns
    -------
    list of tuple of str
        For each part, the texts of all ids; empty if the ids differ in their number of parts.

    Examples
    --------
    >>> parts_of_ids(["img17_1", "img4_0"])
    [('img', 'img'), ('17', '4'), ('1', '0')]
    >>> parts_of_ids(["a1", "a"])
    []
    """
    parts = [PARTS.findall(each) for each in ids]
    return [] if len({len(each) for each in parts}) != 1 else list(zip(*parts))


def order_of_id(item: str) -> list[tuple[bool, int, str]]:
    """Make a key that sorts ids as people do.

    Parameters
    ----------
    item : str
        An id.

    Returns
    -------
    list of tuple
        A key for `sorted`.

    Examples
    --------
    >>> sorted(["img10", "img9", "7"], key=order_of_id)
    ['7', 'img9', 'img10']
    """
    return [
        (not part.isdigit(), int(part) if part.isdigit() else 0, "" if part.isdigit() else part)
        for part in PARTS.findall(item)
    ]


def _chance(values: Sequence[str]) -> float:
    """The logarithm of the probability that a shuffled column has each value where it is."""
    counts = Counter(values).values()
    return sum(math.lgamma(count + 1) for count in counts) - math.lgamma(len(values) + 1)


def _numbers(values: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """The finite numbers that texts stand for; None if there is another text among them."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _rank_correlation(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Spearman's correlation; equal values share a rank."""
    ranks = [pd.Series(np.asarray(each)).rank().to_numpy() for each in (first, second)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
