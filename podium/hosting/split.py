"""Split a corpus into the parts of a competition.

The split depends on the seed and the ids alone. It is the same on every machine and for every order of the
rows.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from podium.errors import HostError
from podium.scoring import PARTS

TRAIN = "train"

Strata = Sequence[tuple[str, ...]]


def split(
    ids: Sequence[str],
    strata: Strata,
    twins: Sequence[str],
    test_share: float,
    public_share: float,
    seed: int,
) -> npt.NDArray[np.object_]:
    """Draw the part of each item, with the same shares in each stratum.

    Parameters
    ----------
    ids : (n,) sequence of str
        The ids of the items, each once.
    strata : (n,) sequence of tuple of str
        The stratum of each item, such as its sub-populations.
    twins : (n,) sequence of str
        Items with equal values here go to the same part, and count as one item.
    test_share : float from 0 to 1
        The share of the items that are scored.
    public_share : float from 0 to 1
        The share of the scored items that are Public; the others are Private.
    seed : int
        The seed of the draw.

    Returns
    -------
    (n,) object
        "train", "Public" or "Private" for each item.

    Raises
    ------
    HostError
        A part would be empty.
    """
    leaders: dict[str, int] = {}
    for item in sorted(range(len(ids)), key=ids.__getitem__):
        leaders.setdefault(twins[item], item)
    names = [ids[item] for item in leaders.values()]
    groups = [strata[item] for item in leaders.values()]
    part = np.full(len(names), TRAIN, dtype=object)
    test = np.flatnonzero(drawn(names, groups, test_share, f"{seed} test"))
    of_test = [names[item] for item in test], [groups[item] for item in test]
    part[test] = np.where(drawn(*of_test, public_share, f"{seed} public"), *PARTS)
    needed = [TRAIN, *PARTS] if test_share < 1 else PARTS
    absent = [name for name in needed if name not in part]
    if absent:
        raise HostError(
            f"expected enough items to split, found {len(names):,}: none is left for {' and '.join(absent)}; "
            "give more items, or another share by --public or --test"
        )
    of_twins = dict(zip(leaders, part))
    return np.array([of_twins[twin] for twin in twins], dtype=object)


def drawn(ids: Sequence[str], strata: Strata, share: float, seed: str) -> npt.NDArray[np.bool_]:
    """Draw a share of each stratum.

    Parameters
    ----------
    ids : (n,) sequence of str
        The ids of the items, each once.
    strata : (n,) sequence of tuple of str
        The stratum of each item.
    share : float from 0 to 1
        The share to draw.
    seed : str
        The seed of the draw.

    Returns
    -------
    (n,) bool
        Which items are drawn.

    Notes
    -----
    The items are ordered by hashes of their ids, because the random numbers of a library may change between
    versions.

    Examples
    --------
    >>> drawn(["a", "b", "c", "d"], [("x",), ("x",), ("y",), ("y",)], 0.5, "0").tolist()
    [True, False, False, True]
    """

    def chance(text: str) -> bytes:
        return hashlib.sha256(f"{seed} {text}".encode("utf-8", "surrogatepass")).digest()

    order = sorted(range(len(ids)), key=lambda item: (strata[item], chance(ids[item])))
    start = int.from_bytes(chance("")[:6]) / 2**48
    chosen = np.zeros(len(ids), dtype=bool)
    # Along this order the shares are added up, and each item at which the sum passes a whole number is drawn.
    # So every stratum gets its share, up to one item.
    chosen[order] = np.diff(np.floor(np.arange(len(ids) + 1) * share + start)) > 0
    return chosen
