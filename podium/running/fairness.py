"""What runs say about runtimes: which of them count, how uncertain a runtime is, and what is undecided.

Wall-clock times of equal runs vary.  On a machine of its own they vary by a percent or less, and a disturbance
is an episode: the few runs that it hit are left out and repeated.  On a machine that others use as well no run
is undisturbed; whoever drops half of them and keeps the other half draws lots.  There all runs count, and the
standard error says how uncertain a runtime is.
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from podium.running.journal import Row, is_known

__all__ = ["Noise", "State", "disturbed_runs", "is_remembered", "noise_of", "state_of", "undecided"]

SLOWER = 1.05  # the limit of a steady machine
FEWEST_RUNS = 8  # that can show a machine to be unsteady
USUAL_CHANGE = 0.6  # quantile: see "Three usual changes" in benchmarks/running.py
BEYOND = 3
TICKS = 0.05  # the kernel's have up to 10 ms
FEW = 1 / 3  # of the runs: as many may be left out as disturbed
SHARED = 0.05  # of the cores' time, taken by others all along
REMEMBERED = 0.8  # of the processor time of the run whose predictions count
NORMAL = 1.4826  # the standard deviation of normal numbers, by their median absolute deviation
LEAST_NOISE = 0.002
NOISE_OF_ONE_RUN = 0.02  # assumed where no model ran twice
OWN_SHARE = 8  # runs of its own that weigh as much as what is known of the other models' noise
DECIDED = 2.6  # standard errors


# ---- Which runs count ------------------------------------------------------------------------------------


def baseline(measured: Iterable[float]) -> float:
    """What is usual: the lower quartile, neither one lucky measurement nor half a day of slowness.

    Parameters
    ----------
    measured : iterable of float
        NaN where nothing is known.

    Returns
    -------
    float
        0 where nothing is known at all.

    Examples
    --------
    >>> baseline([1.0] * 10 + [1.5] * 20), baseline([1.0] * 10 + [0.5])
    (1.0, 1.0)
    """
    known = [one for one in measured if is_known(one)]
    return float(np.quantile(known, 0.25)) if known else 0.0


def limit_of(references: Sequence[tuple[float, float]]) -> float:
    """How many times slower than usual is slow.

    Parameters
    ----------
    references : list of (float, float)
        The reference before and after each run.

    Returns
    -------
    float
        1.05 on a steady machine, three of the usual changes on one that changes its speed by itself.
    """
    if len(references) < FEWEST_RUNS:
        return SLOWER
    changes = np.diff(np.log(references))
    changes -= np.median(changes)  # heat slows every run alike
    return max(SLOWER, float(np.exp(BEYOND * np.quantile(np.abs(changes), USUAL_CHANGE))))


def is_slow(before: float, after: float, undisturbed: float, limit: float = SLOWER) -> bool:
    """Whether the machine was slow just before or just after a run.

    Parameters
    ----------
    before, after, undisturbed : float
        Seconds of the reference workload around the run, and as they are usual.
    limit : float
        How many times slower than usual is slow.
    """
    return max(before, after) > limit * undisturbed


def is_shared(seconds: float, others: float, undisturbed: float = 0.0, limit: float = SLOWER) -> bool:
    """Whether others took the cores' time during the run, which the reference cannot see.

    Parameters
    ----------
    seconds : float
        Of the run; in a short one the kernel's clock, of 10 ms, tells nothing.
    others, undisturbed : float
        The share of the cores' time that others took during the run, and that they usually take.
    limit : float
        As of `is_slow`: 1.05 is a share of 5% more than usual.

    Examples
    --------
    >>> is_shared(1.0, 0.06), is_shared(0.5, 0.06), is_shared(1.0, 0.24, undisturbed=0.2)
    (True, False, False)
    """
    return others - undisturbed > limit - 1 and others * seconds > TICKS


def disturbed_runs(rows: Sequence[Row]) -> set[Row]:
    """The runs around which the machine was slower than usual, or in which others took the cores.

    Parameters
    ----------
    rows : list of Row
        All runs; each is compared with those on the same machine.
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
    """The disturbed runs, if they are few; else none, since there is nothing to tell them from.

    Parameters
    ----------
    rows : list of Row
        All runs.

    Returns
    -------
    set of Row
        Fewer than a third of the runs.
    """
    disturbed = disturbed_runs(rows)
    return disturbed if len(disturbed) < FEW * len(_ran(rows)) else set()


def is_remembered(run: Row, counting: Row) -> bool:
    """Whether a run used much less processor time than the run whose predictions count.

    Parameters
    ----------
    run, counting : Row

    Returns
    -------
    bool
        True below 80%: the model has not done its work again, so the run is no runtime.
    """
    return run.cpu_seconds < REMEMBERED * counting.cpu_seconds


def _ran(rows: Iterable[Row]) -> list[Row]:
    """Without those that no machine has run."""
    return [row for row in rows if row.machine]


def _references(rows: Iterable[Row]) -> list[tuple[float, float]]:
    """The reference before and after each run, of all machines, which are identical."""
    return [(row.reference_before, row.reference_after) for row in _ran(rows)]


# ---- How uncertain a runtime is --------------------------------------------------------------------------


class Noise(NamedTuple):
    """By how much equal runs vary on this machine.

    Attributes
    ----------
    one_run : float
        Relative standard deviation of one run, pooled over the models.
    is_measured : bool
        False where no model ran twice, so that it had to be assumed.
    """

    one_run: float
    is_measured: bool

    def error_of(self, runs: Sequence[float]) -> float:
        """Relative standard error of the median of a model's runs.

        Parameters
        ----------
        runs : list of float
            Seconds.

        Returns
        -------
        float
            Of the pooled noise, and of the model's own as far as it has many runs.  The variance of a median of
            n normal numbers is π / (2n + π - 2) of one's: exact for 1 and for many, 2% too small for 3.
        """
        number = len(runs)
        own = _scale(np.log(runs)) if number > 1 else 0.0
        weight = (number - 1) / (number - 1 + OWN_SHARE)
        variance = (1 - weight) * self.one_run**2 + weight * max(own, self.one_run) ** 2
        return math.sqrt(variance * math.pi / (2 * number + math.pi - 2))


def noise_of(runs: Iterable[Sequence[float]], references: Iterable[tuple[float, float]] = ()) -> Noise:
    """By how much equal runs vary, pooled robustly over the models.

    Parameters
    ----------
    runs : iterable of lists of float
        Seconds of the runs of each model.
    references : iterable of (float, float)
        The reference before and after each run, of which the noise is guessed where no model ran twice.

    Returns
    -------
    Noise
        From the median difference of two runs of a model (on a logarithmic scale), in which every model weighs
        as much as it has runs beyond the first.  So neither one model's spread nor one slow run decides it.

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
    """The value below and above which lies half of the weight."""
    order = np.argsort(values)
    sums = np.cumsum(np.array(weights)[order])
    return float(np.array(values)[order][np.searchsorted(sums, sums[-1] / 2)])


def _scale(numbers: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float:
    """The standard deviation of a model's own runs."""
    return float(np.std(numbers, ddof=1))


# ---- What is undecided -----------------------------------------------------------------------------------


def undecided(runtimes: Sequence[float], errors: Sequence[float]) -> list[tuple[int, int]]:
    """Neighbors whose order the measurements do not decide.

    Parameters
    ----------
    runtimes, errors : list of float
        Each model's seconds, and its relative standard error.

    Returns
    -------
    list of (int, int)
        The faster and the slower of each such pair; those that are nearest to each other come first.

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
    """The difference below which two runtimes cannot be told apart.

    Parameters
    ----------
    noise : Noise
    runs : int
        Of each of the two models.

    Returns
    -------
    float
        A share of the faster one's runtime.

    Examples
    --------
    >>> round(cannot_tell(Noise(0.01, True), 5), 3)
    0.02
    """
    error = math.sqrt(noise.one_run**2 * math.pi / (2 * runs + math.pi - 2))
    return math.expm1(DECIDED * math.sqrt(2) * error)


# ---- The state of the machine ----------------------------------------------------------------------------


class State(NamedTuple):
    """How quiet the machine was.

    Attributes
    ----------
    text : str
        "quiet", or what disturbed it.
    is_provisional : bool
        Whether runtimes that were measured on it have to be measured again elsewhere before they decide.
    """

    text: str
    is_provisional: bool


def state_of(rows: Sequence[Row]) -> State:
    """How quiet the machine was during all these runs.

    Parameters
    ----------
    rows : list of Row

    Returns
    -------
    State
        Provisional if others took more than 5% of the cores all along, or if a third of the runs was disturbed.
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
