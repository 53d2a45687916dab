"""Decide which runs count, how uncertain a runtime is, and which models' order is undecided.

Wall-clock times of equal runs vary.  On a machine that nobody else uses they vary by a percent or less.  A
disturbance there is a short episode, so podium leaves out the few runs that it hit and repeats them.

On a machine that others use as well, every run is disturbed.  Keeping the better half of such runs would be a
matter of luck.  There, all runs count, and the standard error says how uncertain a runtime is.
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from podium.running.journal import Row, is_known

__all__ = ["Noise", "State", "disturbed_runs", "is_remembered", "noise_of", "state_of", "undecided"]

SLOWER = 1.05  # on a steady machine, a run is slow if the reference takes this many times its usual seconds
FEWEST_RUNS = 8  # with fewer runs a machine counts as steady

USUAL_CHANGE = 0.6  # the quantile of the changes; see "Three usual changes" in benchmarks/running.py
BEYOND = 3  # on an unsteady machine, a run is slow if the change is this many times the usual one

TICKS = 0.05  # seconds: less time taken by others is uncertain, as the kernel counts in steps of 10 ms

SHARED = 0.05  # a machine is shared if others take more than this share of its cores' time all along

FEW = 1 / 3  # disturbed runs are left out if their share of all runs is smaller
# A run is suspicious with less than this share of the deciding run's processor time.  On a busy machine, an
# honest program with two threads used 40% more in one run than in another.  Threads that wait for each other
# use processor time.
REMEMBERED, REMEMBERED_WHEN_BUSY = 0.8, 0.5

NORMAL = 1.4826  # the standard deviation of a normal distribution divided by its median absolute deviation

LEAST_NOISE = 0.002  # relative: equal runs are never assumed to vary by less
NOISE_OF_ONE_RUN = 0.02  # relative: the least that is assumed if no model ran twice

OWN_SHARE = 8  # with this many runs beyond the first, a model's own noise weighs as much as all models'
DECIDED = 2.6  # an order is decided if the runtimes differ by more standard errors


# ---- Which runs count ------------------------------------------------------------------------------------


def baseline(measured: Iterable[float]) -> float:
    """Estimate what is usual by the lower quartile.

    The least measurement may have been luck, and the median is too high if the machine was slow for half a day.

    Parameters
    ----------
    measured : iterable of float
        The measurements; NaN stands for an unknown one.

    Returns
    -------
    float
        The lower quartile of the known measurements, or 0 if none is known.

    Examples
    --------
    >>> baseline([1.0] * 10 + [1.5] * 20), baseline([1.0] * 10 + [0.5])
    (1.0, 1.0)
    """
    known = [one for one in measured if is_known(one)]
    return float(np.quantile(known, 0.25)) if known else 0.0


def limit_of(references: Sequence[tuple[float, float]]) -> float:
    """Find how many times slower than usual the machine has to be for a run to count as disturbed.

    Parameters
    ----------
    references : list of (float, float)
        The seconds of the reference workload before and after each run.

    Returns
    -------
    float
        1.05 on a steady machine.  On a machine whose speed changes by itself, three times its usual change.
    """
    if len(references) < FEWEST_RUNS:
        return SLOWER
    changes = np.diff(np.log(references))
    changes -= np.median(changes)  # a machine that grows hot slows down during every run alike
    return max(SLOWER, float(np.exp(BEYOND * np.quantile(np.abs(changes), USUAL_CHANGE))))


def is_slow(before: float, after: float, undisturbed: float, limit: float = SLOWER) -> bool:
    """Whether the machine was slow just before or just after a run.

    Parameters
    ----------
    before : float
        The seconds of the reference workload just before the run.
    after : float
        The seconds of the reference workload just after the run.
    undisturbed : float
        The usual seconds of the reference workload on this machine.
    limit : float
        How many times the usual seconds are slow; see `limit_of`.

    Returns
    -------
    bool
        True if one of the two took longer than the limit allows.

    Examples
    --------
    >>> is_slow(1.00, 1.04, 1.0), is_slow(1.00, 1.06, 1.0)
    (False, True)
    """
    return max(before, after) > limit * undisturbed


def is_shared(seconds: float, others: float, undisturbed: float = 0.0, limit: float = SLOWER) -> bool:
    """Whether other programs took the cores' time during a run, which the reference around it cannot show.

    Parameters
    ----------
    seconds : float
        The duration of the run.  In a short run the kernel's clock, with steps of 10 ms, is too coarse to tell.
    others : float
        The share of the cores' time, from 0 to 1, that others took during the run.
    undisturbed : float
        The share that others usually take.
    limit : float
        The same limit as in `is_slow`: 1.05 allows a share that is 5 percentage points above the usual one.

    Returns
    -------
    bool
        True if others took more than the limit allows.

    Examples
    --------
    >>> is_shared(1.0, 0.06), is_shared(0.5, 0.06), is_shared(1.0, 0.24, undisturbed=0.2)
    (True, False, False)
    """
    return others - undisturbed > limit - 1 and others * seconds > TICKS


def disturbed_runs(rows: Sequence[Row]) -> set[Row]:
    """Find the runs around which the machine was slower than usual, or during which others took the cores.

    Parameters
    ----------
    rows : list of Row
        All runs.  Each is compared with the runs on the same machine.

    Returns
    -------
    set of Row
        The disturbed runs.
    """
    limit, disturbed = limit_of(_references(rows)), set()
    for machine in {row.machine for row in rows if row.machine}:
        runs = [row for row in rows if row.machine == machine]
        usual = baseline(seconds for row in runs for seconds in (row.reference_before, row.reference_after))
        usual_others = baseline(row.others for row in runs)
        for row in runs:
            around = is_slow(row.reference_before, row.reference_after, usual, limit)
            if around or is_shared(row.seconds, row.others, usual_others, limit):
                disturbed.add(row)
    return disturbed


def left_out(rows: Sequence[Row]) -> set[Row]:
    """Find the runs whose times do not count because the machine was disturbed.

    If many runs were disturbed, all of them count: then there is no undisturbed state to compare with.

    Parameters
    ----------
    rows : list of Row
        All runs.

    Returns
    -------
    set of Row
        The disturbed runs if they are fewer than a third of all runs, or else nothing.
    """
    disturbed = disturbed_runs(rows)
    return disturbed if len(disturbed) < FEW * len(_ran(rows)) else set()


def is_remembered(run: Row, counting: Row, was_busy: bool = False) -> bool:
    """Whether a run used much less processor time than the run whose predictions count.

    Parameters
    ----------
    run : Row
        The run to judge.
    counting : Row
        The run of the same model whose predictions count.
    was_busy : bool
        Whether the machine was busy around the run whose predictions count.  That run may then have used more
        processor time than its work takes, which is no fault of the model.

    Returns
    -------
    bool
        True below 80%, or below 50% if the machine was busy.  Such a model seems to have remembered its
        results, so the run's time does not count.
    """
    return run.cpu_seconds < (REMEMBERED_WHEN_BUSY if was_busy else REMEMBERED) * counting.cpu_seconds


def _ran(rows: Iterable[Row]) -> list[Row]:
    """The runs that took place; a run that was given up belongs to no machine."""
    return [row for row in rows if row.machine]


def _references(rows: Iterable[Row]) -> list[tuple[float, float]]:
    """The reference before and after each run, on all machines together, since they are identical."""
    return [(row.reference_before, row.reference_after) for row in _ran(rows)]


# ---- How uncertain a runtime is --------------------------------------------------------------------------


class Noise(NamedTuple):
    """How much equal runs vary on this machine.

    Attributes
    ----------
    one_run : float
        The relative standard deviation of one run's seconds, pooled over the models.
    is_measured : bool
        False if no model ran twice, so that the noise had to be assumed.
    """

    one_run: float
    is_measured: bool

    def error_of(self, runs: Sequence[float]) -> float:
        """Compute the relative standard error of the median of a model's runs.

        Parameters
        ----------
        runs : list of float
            The seconds of the model's runs that count.

        Returns
        -------
        float
            The standard error as a share of the median.

        Notes
        -----
        The noise of one run is a mixture of the pooled noise and the model's own.  The more runs the model has,
        the more its own noise weighs.

        The variance of the median of n normal numbers is taken as π / (2n + π - 2) times the variance of one
        number.  This is exact for a single number and in the limit of many; for three numbers it is 2% too
        small.
        """
        number = len(runs)
        own = _scale(np.log(runs)) if number > 1 else 0.0
        weight = (number - 1) / (number - 1 + OWN_SHARE)
        variance = (1 - weight) * self.one_run**2 + weight * max(own, self.one_run) ** 2
        return math.sqrt(variance * math.pi / (2 * number + math.pi - 2))


def noise_of(runs: Iterable[Sequence[float]], references: Iterable[tuple[float, float]] = ()) -> Noise:
    """Estimate how much equal runs vary, robustly and over all models together.

    Parameters
    ----------
    runs : iterable of lists of float
        The seconds of the runs of each model.
    references : iterable of (float, float)
        The seconds of the reference workload before and after each run.  If no model ran twice, the noise is
        guessed from them.

    Returns
    -------
    Noise
        The noise of one run.

    Notes
    -----
    The estimate is the weighted median of the differences between two runs of the same model, on a logarithmic
    scale.  Each model weighs as much as it has runs beyond the first.  So neither a single model with a large
    spread nor a single slow run decides the estimate.

    Examples
    --------
    >>> honest = [[1.00, 1.01, 1.02]] * 4
    >>> round(noise_of(honest).one_run, 3) == round(noise_of([*honest, [1.0, 9.0, 0.1]]).one_run, 3)
    True
    """
    differences, weights = [], []
    for one in runs:
        for first, second in itertools.combinations(one, 2):
            differences.append(abs(math.log(first / second)))
            weights.append(2 / len(one))
    if differences:
        return Noise(max(LEAST_NOISE, NORMAL * _weighted_median(differences, weights) / math.sqrt(2)), True)
    changes = [abs(math.log(after / before)) for before, after in references if before > 0 and after > 0]
    guessed = NORMAL * statistics.median(changes) / math.sqrt(2) if changes else 0.0
    return Noise(max(NOISE_OF_ONE_RUN, guessed), False)


def _weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """The value at which the sum of the weights, in the order of the values, reaches one half."""
    order = np.argsort(values)
    sums = np.cumsum(np.array(weights)[order])
    return float(np.array(values)[order][np.searchsorted(sums, sums[-1] / 2)])


def _scale(numbers: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float:
    """The standard deviation of a model's own runs, on a logarithmic scale."""
    return float(np.std(numbers, ddof=1))


# ---- What is undecided -----------------------------------------------------------------------------------


def undecided(runtimes: Sequence[float], errors: Sequence[float]) -> list[tuple[int, int]]:
    """Find the neighbors whose order the measurements do not decide.

    Parameters
    ----------
    runtimes : list of float
        The runtime of each model in seconds.
    errors : list of float
        The relative standard error of each runtime.

    Returns
    -------
    list of (int, int)
        The positions of the faster and the slower model of each undecided pair.  The pairs with the smallest
        difference come first.

    Examples
    --------
    >>> undecided([1.00, 1.30, 1.01], [0.01, 0.01, 0.01])
    [(0, 2)]
    """
    order = sorted(range(len(runtimes)), key=lambda model: runtimes[model])
    pairs = []
    for faster, slower in itertools.pairwise(order):
        apart = math.log(runtimes[slower] / runtimes[faster])
        if apart <= DECIDED * math.hypot(errors[faster], errors[slower]):
            pairs.append((apart, faster, slower))
    return [(faster, slower) for _, faster, slower in sorted(pairs)]


def cannot_tell(noise: Noise, runs: int) -> float:
    """Compute the difference below which two runtimes cannot be told apart.

    Parameters
    ----------
    noise : Noise
        How much equal runs vary.
    runs : int
        The number of runs of each of the two models.

    Returns
    -------
    float
        The difference as a share of the faster model's runtime.

    Examples
    --------
    >>> round(cannot_tell(Noise(0.01, True), 5), 3)
    0.02
    """
    error = math.sqrt(noise.one_run**2 * math.pi / (2 * runs + math.pi - 2))
    return math.expm1(DECIDED * math.sqrt(2) * error)


# ---- The state of the machine ----------------------------------------------------------------------------


class State(NamedTuple):
    """How quiet the machine was during the runs.

    Attributes
    ----------
    text : str
        "quiet", or a description of what disturbed the machine.
    is_provisional : bool
        Whether the runtimes should be measured again on a quieter machine before they decide a board.
    """

    text: str
    is_provisional: bool


def state_of(rows: Sequence[Row]) -> State:
    """Describe how quiet the machine was during all these runs.

    Parameters
    ----------
    rows : list of Row
        All runs.

    Returns
    -------
    State
        Provisional if others took more than 5% of the cores' time all along, or if at least a third of the runs
        was disturbed.
    """
    ran = _ran(rows)
    if not any(is_known(row.others) for row in ran):
        return State("unknown", False)
    taken, disturbed = baseline(row.others for row in ran), len(disturbed_runs(ran))
    if taken > SHARED:
        return State(f"others took {taken:.0%} of the cores all along", True)
    if disturbed >= FEW * len(ran):
        return State(f"disturbed in {disturbed} of {len(ran)} runs", True)
    return State(f"quiet but for {disturbed} of {len(ran)} runs" if disturbed else "quiet", False)
