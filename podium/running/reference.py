"""The reference workload: is the machine as fast as it was before?"""

import hashlib
import os
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

__all__ = ["SLOWER", "baseline", "is_shared", "is_slow", "reference_seconds"]

# Up to this factor the machine counts as equally fast.
SLOWER = 1.05
# The kernel counts in ticks of up to 10 ms.
TICKS = 0.05
PASSES = 7
HASHES = 80_000
NUMBERS = 2**20  # 8 MB a table: more than a core keeps to itself, so that memory counts, too
SUMS = 30


def reference_seconds(cores: Sequence[int]) -> float:
    """Seconds of the same work on each core at the same time, the median of a few passes.

    Both halves of the work, arithmetic and memory, leave Python's lock to the others.
    """
    with ThreadPoolExecutor(max(len(cores), 1)) as threads:
        return statistics.median(_pass(threads, cores or [-1]) for _ in range(PASSES))


def _pass(threads: ThreadPoolExecutor, cores: Sequence[int]) -> float:
    start = time.perf_counter()
    list(threads.map(_work, cores))
    return time.perf_counter() - start


def _work(core: int) -> None:
    if core >= 0 and sys.platform == "linux":
        os.sched_setaffinity(0, [core])  # of this thread
    hashlib.pbkdf2_hmac("sha256", b"podium", b"reference", HASHES)
    numbers = np.ones(NUMBERS)
    for _ in range(SUMS):
        np.add(numbers, 1.0, out=numbers)


def baseline(seconds: Sequence[float]) -> float:
    """What the reference takes when the machine is not disturbed: the lower quartile of all that was measured.

    The fastest would make one lucky measurement the rule; the median would hide half a day of slowness.
    """
    return float(np.quantile(seconds, 0.25)) if seconds else 0.0


def is_slow(before: float, after: float, undisturbed: float) -> bool:
    """Whether the machine was slow around a run."""
    return max(before, after) > SLOWER * undisturbed


def is_shared(seconds: float, others: float) -> bool:
    """Whether others took a part of the cores' time during a run that the reference beside it cannot see."""
    return others > SLOWER - 1 and others * seconds > TICKS
