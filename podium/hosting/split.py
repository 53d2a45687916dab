"""Draw the parts of a competition: the same for a seed on every machine, whatever the order of the rows."""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from podium.errors import HostError
from podium.scoring import PARTS

__all__ = ["TRAIN", "drawn", "split"]

TRAIN = "train"

Bools = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.object_]


def split(
    ids: Sequence[str],
    strata: Sequence[tuple[str, ...]],
    twins: Sequence[str],
    test_share: float,
    public_share: float,
    seed: int,
) -> Texts:
    """The part of each item, such as an essay, (n,): train, Public or Private.

    Parameters
    ----------
    ids : n distinct str
    strata : n tuples of str
        In each stratum the parts have the same shares, up to one item; so they have in all of those that start
        alike.
    twins : n str
        Items of the same text here go to the same part (and count as one of the first one's stratum).
    test_share : float in (0, 1]
        The share that is scored; of 1 nothing is for training.
    public_share : float in (0, 1)
        The Public share of what is scored.
    seed : int

    Raises
    ------
    HostError
        There are too few items: a part would be empty.
    """
    leaders: dict[str, int] = {}
    for item in sorted(range(len(ids)), key=ids.__getitem__):
        leaders.setdefault(twins[item], item)
    leader = list(leaders.values())
    part = np.full(len(leader), TRAIN, dtype=object)
    names = [ids[item] for item in leader]
    groups = [strata[item] for item in leader]
    test = np.flatnonzero(drawn(names, groups, test_share, f"{seed} test"))
    of_test = [names[item] for item in test], [groups[item] for item in test]
    part[test] = np.where(drawn(*of_test, public_share, f"{seed} public"), *PARTS)
    absent = [
        name for name in (TRAIN, *PARTS) if not (part == name).any() and (name != TRAIN or test_share < 1)
    ]
    if absent:
        raise HostError(f"{len(leader):,} items are too few to split: none is left for {' and '.join(absent)}")
    of_twins = dict(zip(leaders, part))
    return np.array([of_twins[twin] for twin in twins], dtype=object)


def drawn(ids: Sequence[str], strata: Sequence[tuple[str, ...]], share: float, seed: str) -> Bools:
    """Draw a share of the items, in every stratum the same up to one, (n,).

    What decides is the hash of the seed and the id: no library's random numbers, which may change.
    """

    def chance(text: str) -> bytes:
        return hashlib.sha256(f"{seed} {text}".encode("utf-8", "surrogatepass")).digest()

    order = sorted(range(len(ids)), key=lambda item: (strata[item], chance(ids[item])))
    start = int.from_bytes(chance("")[:6]) / 2**48
    # One item wherever the sum of shares passes a whole number.
    passed = np.floor(np.arange(len(ids) + 1) * share + start)
    chosen = np.zeros(len(ids), dtype=bool)
    chosen[order] = np.diff(passed) > 0
    return chosen
