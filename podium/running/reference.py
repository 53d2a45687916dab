"""The reference workload: the same work before each run shows whether the machine became slower."""

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
HASHES = 80_000  # iterations of a hash function: arithmetic
NUMBERS = 2**20  # 8 MB, more than a core's own cache
SUMS = 30  # passes over these numbers: memory


def reference_seconds(cores: Sequence[int]) -> float:
    """Measure how long the reference workload takes on all cores at once."""
    seconds = []
    with ThreadPoolExecutor(max(len(cores), 1)) as threads:
        for _ in range(PASSES):
            start = time.perf_counter()
            list(threads.map(_work, cores or [-1]))
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def _work(core: int) -> None:
    """Do arithmetic and move memory on one core."""
    if core >= 0 and sys.platform == "linux":
        os.sched_setaffinity(0, [core])  # pins this thread alone
    # Both parts release Python's lock, so that all cores work at the same time.
    hashlib.pbkdf2_hmac("sha256", b"podium", b"reference", HASHES)
    numbers = np.ones(NUMBERS)
    for _ in range(SUMS):
        np.add(numbers, 1.0, out=numbers)
