"""Draw the parts of a competition, by seed alone, whatever the machine and the order of the rows."""

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
    """The part of each item, with the same shares in each stratum; items of equal `twins` count as one."""
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
        raise HostError(f"{len(names):,} items are too few to split: none is left for {' and '.join(absent)}")
    of_twins = dict(zip(leaders, part))
    return np.array([of_twins[twin] for twin in twins], dtype=object)


def drawn(ids: Sequence[str], strata: Strata, share: float, seed: str) -> npt.NDArray[np.bool_]:
    """Draw a share of each stratum by hashes: libraries' random numbers may change."""

    def chance(text: str) -> bytes:
        return hashlib.sha256(f"{seed} {text}".encode("utf-8", "surrogatepass")).digest()

    order = sorted(range(len(ids)), key=lambda item: (strata[item], chance(ids[item])))
    start = int.from_bytes(chance("")[:6]) / 2**48
    chosen = np.zeros(len(ids), dtype=bool)
    # One item wherever the sum of shares passes a whole number.
    chosen[order] = np.diff(np.floor(np.arange(len(ids) + 1) * share + start)) > 0
    return chosen
