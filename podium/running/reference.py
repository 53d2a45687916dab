"""The reference workload: is the machine as fast as it was before?"""

import hashlib
import math
import os
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

SLOWER = 1.05  # the limit of a steady machine
FEWEST_RUNS = 8  # that can show a machine to be unsteady
USUAL_CHANGE = 0.6  # quantile: see “Three usual changes” in docs/running.md
BEYOND = 3
DIFFERENCE, CERTAINTY = 0.02, 1.645  # 2%, 95 times of 100
TICKS = 0.05  # the kernel's have up to 10 ms
PASSES = 7
HASHES = 80_000
NUMBERS = 2**20  # 8 MB, more than a core's own cache
SUMS = 30


def reference_seconds(cores: Sequence[int]) -> float:
    """Seconds of the same work on all cores at once, the median of a few passes."""
    seconds = []
    with ThreadPoolExecutor(max(len(cores), 1)) as threads:
        for _ in range(PASSES):
            start = time.perf_counter()
            list(threads.map(_work, cores or [-1]))
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def _work(core: int) -> None:
    if core >= 0 and sys.platform == "linux":
        os.sched_setaffinity(0, [core])  # of this thread
    # Both leave Python's lock to the others.
    hashlib.pbkdf2_hmac("sha256", b"podium", b"reference", HASHES)
    numbers = np.ones(NUMBERS)
    for _ in range(SUMS):
        np.add(numbers, 1.0, out=numbers)


def baseline(measured: Iterable[float]) -> float:
    """The lower quartile: neither one lucky measurement nor half a day of slowness."""
    known = [one for one in measured if not math.isnan(one)]
    return float(np.quantile(known, 0.25)) if known else 0.0


def limit_of(references: Sequence[tuple[float, float]]) -> float:
    """The factor that is slow: 1.05, or three of the usual changes."""
    if len(references) < FEWEST_RUNS:
        return SLOWER
    changes = np.diff(np.log(references))
    changes -= np.median(changes)  # heat slows every run alike
    return max(SLOWER, float(np.exp(BEYOND * np.quantile(np.abs(changes), USUAL_CHANGE))))


def is_slow(before: float, after: float, undisturbed: float, limit: float = SLOWER) -> bool:
    return max(before, after) > limit * undisturbed


def is_shared(seconds: float, others: float, undisturbed: float = 0.0, limit: float = SLOWER) -> bool:
    """Whether others took cores' time during the run, which the reference cannot see."""
    return others - undisturbed > limit - 1 and others * seconds > TICKS


def runs_needed(runs: Iterable[Sequence[float]]) -> int:
    """How many of each model put two that differ by 2% in order 95 times of 100.

    The median of n runs deviates by √(π / 2n) times as much as a run, a difference by √2 times that.
    """
    relative = [np.array(one) / np.mean(one) for one in runs if len(one) > 1 and min(one) > 0]
    freedom = sum(len(one) - 1 for one in relative)
    variance = sum(float(np.sum((one - 1) ** 2)) for one in relative) / max(freedom, 1)
    return math.ceil(math.pi * variance * (CERTAINTY / DIFFERENCE) ** 2)
