"""The reference workload: is the machine as fast as it was before?"""

import hashlib
import os
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

__all__ = ["reference_seconds"]

PASSES = 7
HASHES = 80_000
NUMBERS = 2**20  # 8 MB, more than a core's own cache
SUMS = 30


def reference_seconds(cores: Sequence[int]) -> float:
    """How long the same work takes on all cores at once.

    Parameters
    ----------
    cores : list of int
        The cores on which the models run.

    Returns
    -------
    float
        Seconds, the median of a few passes.
    """
    seconds = []
    with ThreadPoolExecutor(max(len(cores), 1)) as threads:
        for _ in range(PASSES):
            start = time.perf_counter()
            list(threads.map(_work, cores or [-1]))
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def _work(core: int) -> None:
    """Arithmetic and memory, on one core."""
    if core >= 0 and sys.platform == "linux":
        os.sched_setaffinity(0, [core])  # of this thread
    # Both leave Python's lock to the others.
    hashlib.pbkdf2_hmac("sha256", b"podium", b"reference", HASHES)
    numbers = np.ones(NUMBERS)
    for _ in range(SUMS):
        np.add(numbers, 1.0, out=numbers)
