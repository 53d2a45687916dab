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

__all__ = [
    "BEYOND",
    "SLOWER",
    "baseline",
    "is_shared",
    "is_slow",
    "limit_of",
    "reference_seconds",
    "runs_needed",
]

# Up to this factor a steady machine counts as equally fast.
SLOWER = 1.05
# A machine counts as steady until so many runs have shown otherwise.
FEWEST_RUNS = 8
# One that changes between two speeds at random does so in every second run, so more than half; a disturbance
# changes it only where it begins and ends, so not much more.
USUAL_CHANGE = 0.6
BEYOND = 3
# What `runs_needed` is about: models that differ by 2%, in order 95 times of 100 (the normal deviate).
DIFFERENCE, CERTAINTY = 0.02, 1.645
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


def baseline(measured: Iterable[float]) -> float:
    """What the reference takes, or others take, when the machine is not disturbed: the lower quartile of all.

    The least would make one lucky measurement the rule; the median would hide half a day of slowness.
    """
    known = [one for one in measured if not math.isnan(one)]
    return float(np.quantile(known, 0.25)) if known else 0.0


def limit_of(references: Sequence[tuple[float, float]]) -> float:
    """The factor up to which a machine counts as equally fast: 1.05, or what its own unsteadiness makes of it.

    That is three times what usually changes between the references before and after a run: a machine that is
    disturbed for a while changes only twice, one that is unsteady by itself all the time.
    """
    if len(references) < FEWEST_RUNS:
        return SLOWER
    changes = np.diff(np.log(references))
    changes -= np.median(changes)  # to be a little slower after every run, from heat, is steady
    return max(SLOWER, float(np.exp(BEYOND * np.quantile(np.abs(changes), USUAL_CHANGE))))


def is_slow(before: float, after: float, undisturbed: float, limit: float = SLOWER) -> bool:
    """Whether the machine was slow around a run."""
    return max(before, after) > limit * undisturbed


def is_shared(seconds: float, others: float, undisturbed: float = 0.0, limit: float = SLOWER) -> bool:
    """Whether others took a part of the cores' time during a run that the reference beside it cannot see."""
    return others - undisturbed > limit - 1 and others * seconds > TICKS


def runs_needed(runs: Iterable[Sequence[float]]) -> int:
    """How many runs of each model it takes to put two that differ by 2% in order 95 times of 100.

    From the seconds of each model's runs so far; 0 where no model has two.  The median of n runs deviates by
    √(π / 2n) times as much as a run, the difference of two medians by √2 times that.
    """
    relative = [np.array(one) / np.mean(one) for one in runs if len(one) > 1 and min(one) > 0]
    freedom = sum(len(one) - 1 for one in relative)
    variance = sum(float(np.sum((one - 1) ** 2)) for one in relative) / max(freedom, 1)
    return math.ceil(math.pi * variance * (CERTAINTY / DIFFERENCE) ** 2)
