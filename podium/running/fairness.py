"""Decide how uncertain a runtime is, whether two runtimes can be told apart, and how quiet the machine was.

Wall-clock times of equal runs vary, by a percent or less on a machine that nobody else uses. All runs count.
The runtime is their median, which a single disturbed run does not move, and its standard error says how
uncertain it is. A machine that others use as well makes every runtime provisional.
"""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from podium.common.statements import say
from podium.running.journal import Row, is_known, measured

SHARED = 0.05  # others may take this share of the cores' time
FEW = 1 / 3  # of the runs may be disturbed
TICKS = 0.05  # seconds: less time taken by others is uncertain, as the kernel counts in steps of 10 ms
NORMAL = 1.4826  # the standard deviation of a normal distribution divided by its median absolute deviation
LEAST_NOISE = 0.002  # relative: equal runs are never assumed to vary by less
NOISE_OF_ONE_RUN = 0.02  # relative: assumed if no model was measured twice
OWN_SHARE = 8  # with this many runs beyond the first, a model's own noise weighs as much as all models'
MUCH_SLOWER = 4 / 3  # times another runtime
MANY_TIMES = 5  # times another processor time, which no busy machine makes of it
UNUSUAL = 4  # standard deviations
COLD_START = 0.25  # seconds of processor time that a first run may lose because nothing is in memory yet
DECIDED = 2.6  # an order is decided if the runtimes differ by more standard errors


class MachineNoise(NamedTuple):
    """How much equal runs vary on this machine."""

    one_run: float  # the relative standard deviation of one run's seconds, pooled over the models
    is_measured: bool  # False if no model was measured twice, so that the noise had to be assumed

    def error_of(self, runs: Sequence[float]) -> float:
        """Compute the relative standard error of the median of a model's runs.

        The noise of one run is a mixture of the pooled noise and the model's own. The more runs the model has,
        the more its own noise weighs.

        The variance of the median of n normal numbers is taken as π / (2n + π - 2) times the variance of one
        number. This is exact for a single number and in the limit of many; for three numbers it is 2% too
        small.
        """
        number = len(runs)
        own = float(np.std(np.log(runs), ddof=1)) if number > 1 else 0.0
        weight = (number - 1) / (number - 1 + OWN_SHARE)
        variance = (1 - weight) * self.one_run**2 + weight * max(own, self.one_run) ** 2
        return math.sqrt(variance * math.pi / (2 * number + math.pi - 2))


def noise_of(runs: Iterable[Sequence[float]]) -> MachineNoise:
    """Estimate how much equal runs vary, robustly and over all models together.

    The estimate is the weighted median of the differences between two runs of the same model, on a logarithmic
    scale. Each model weighs as much as it has runs beyond the first. So neither a single model with a large
    spread nor a single slow run decides the estimate.

    >>> honest = [[1.00, 1.01, 1.02]] * 4
    >>> round(noise_of(honest).one_run, 3) == round(noise_of([*honest, [1.0, 9.0, 0.1]]).one_run, 3)
    True
    """
    differences, weights = [], []
    for one in runs:
        for first, second in itertools.combinations(one, 2):
            differences.append(abs(math.log(first / second)))
            weights.append(2 / len(one))
    if not differences:
        return MachineNoise(NOISE_OF_ONE_RUN, False)
    median = float(np.quantile(differences, 0.5, weights=weights, method="inverted_cdf"))
    return MachineNoise(max(LEAST_NOISE, NORMAL * median / math.sqrt(2)), True)


class Runtime(NamedTuple):
    """The runtime of a model."""

    seconds: float  # the median of its runs
    error: float  # the standard error of that, in seconds


def is_undecided(one: Runtime, other: Runtime) -> bool:
    """Whether the measurements do not decide which of two runtimes is shorter.

    >>> is_undecided(Runtime(1.0, 0.01), Runtime(1.01, 0.01))
    True
    """
    apart = abs(math.log(one.seconds / other.seconds))
    return apart <= DECIDED * math.hypot(one.error / one.seconds, other.error / other.seconds)


def slow_first_runs(models: Sequence[Sequence[float]], least: float = MUCH_SLOWER) -> list[int]:
    """Find the models whose first run was slower than their later ones by more than is usual for the others.

    Each model has the processor times of its runs. The first one is at least so many times (`least`) the median
    of the later ones.

    >>> slow_first_runs([[2.0, 1.2, 1.2], [1.1, 1.0, 1.0], [1.2, 1.1, 1.1]])
    [0]
    """
    known = {place: runs for place, runs in enumerate(models) if len(runs) > 1 and min(runs) > 0}
    laters = {place: statistics.median(later) for place, (_, *later) in known.items()}
    growths = {place: math.log(runs[0] / laters[place]) for place, runs in known.items()}
    found = []
    for place, growth in growths.items():
        others = [growths[other] for other in growths if other != place] or [0.0]
        usual = statistics.median(others)
        spread = NORMAL * statistics.median(abs(other - usual) for other in others)
        is_unusual = growth > max(usual, 0.0) + max(math.log(least), UNUSUAL * spread)
        if is_unusual and known[place][0] - laters[place] > COLD_START:
            found.append(place)
    return found


class State(NamedTuple):
    """How quiet the machine was during the runs."""

    text: str  # "quiet", or a description of what disturbed the machine
    is_provisional: bool  # whether the runtimes should be measured again before they decide a board


def state_of(rows: Sequence[Row]) -> State:
    """Describe how quiet the machine was during the measured runs."""
    runs = measured(rows)
    known = [row for row in runs if is_known(row.others)]
    if not known:
        return State(say("machine_unknown"), True)
    usual = statistics.quantiles([row.others for row in known] * 2, n=4)[0]
    if usual > SHARED:
        return State(say("machine_shared", share=usual), True)
    disturbed = sum(row.others > SHARED and row.others * row.seconds > TICKS for row in known)
    if disturbed >= FEW * len(known):
        return State(say("machine_disturbed", disturbed=disturbed, runs=len(known)), True)
    if len(known) < len(runs):
        return State(say("machine_partly_unknown", unknown=len(runs) - len(known), runs=len(runs)), True)
    if disturbed:
        return State(say("machine_nearly_quiet", disturbed=disturbed, runs=len(known)), False)
    return State(say("machine_quiet"), False)


def state_of_sessions(rows: Sequence[Row]) -> State:
    """How quiet the machine was: in the first session that was not, and else in all of them."""
    sessions = sorted({row.session for row in measured(rows)})
    states = [state_of([row for row in rows if row.session == session]) for session in sessions]
    return next((state for state in states if state.is_provisional), state_of(rows))


def main_session(runs_of_models: Iterable[Sequence[Row]]) -> int:
    """The session in which most runs of these models were made; the first of several.

    A machine is never the same on another day, so a model without a run in it is not compared with the others.
    """
    number = Counter(row.session for runs in runs_of_models for row in runs)
    return min(number, key=lambda session: (-number[session], session), default=1)
