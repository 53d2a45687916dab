"""The right runs count, runtimes have the right uncertainty, and undecided orders are found."""

import doctest
import itertools
import random
import statistics
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.running import fairness, models, results
from podium.running.fairness import (
    LEAST_NOISE,
    NOISE_OF_ONE_RUN,
    SLOWER,
    Noise,
    baseline,
    is_shared,
    is_slow,
    limit_of,
    noise_of,
    state_of,
    undecided,
)
from podium.running.journal import Row


def test_the_baseline_is_neither_luck_nor_half_a_day_of_slowness() -> None:
    assert baseline([1.0] * 10 + [0.5]) == 1.0
    assert baseline([1.0] * 10 + [1.5] * 20) == 1.0
    assert baseline([]) == 0.0
    assert [is_slow(before, after, 1.0) for before, after in itertools.product((1.0, 1.06), (1.05, 1.06))] == [
        False,
        True,
        True,
        True,
    ]


def series(seconds: list[float]) -> list[tuple[float, float]]:
    """Turn a series of references into pairs of those before and after each run."""
    return list(itertools.pairwise(seconds))


def share_slow(seconds: list[float]) -> float:
    """The share of runs during which a machine with these references counts as slow."""
    limit, undisturbed = limit_of(series(seconds)), baseline(seconds)
    return statistics.mean(is_slow(*pair, undisturbed, limit) for pair in series(seconds))


# Seconds of the reference on a virtual machine that others used as well, and the processor seconds of the same
# runs.  The cores of this machine change their speed by themselves.
BUSY = [
    0.065, 0.059, 0.072, 0.096, 0.081, 0.137, 0.134, 0.133, 0.124, 0.136, 0.201, 0.164, 0.228, 0.192,
    0.141, 0.136, 0.149, 0.185, 0.180, 0.215, 0.144, 0.123, 0.163, 0.105, 0.126, 0.103, 0.159, 0.176,
    0.180, 0.179,
]  # fmt: skip
OWN_SPEED = [
    0.0729, 0.0708, 0.0695, 0.0783, 0.0721, 0.0719, 0.0722, 0.0683, 0.0663, 0.0741, 0.0750, 0.0602,
    0.0691, 0.0717, 0.0754, 0.0729, 0.0520, 0.0727, 0.0757, 0.0692, 0.0727, 0.0700, 0.0742, 0.0543,
    0.0533, 0.0698, 0.0691, 0.0733, 0.0753, 0.0530, 0.0697, 0.0725, 0.0675, 0.0527, 0.0689, 0.0696,
    0.0662, 0.0697, 0.0702, 0.0691, 0.0727, 0.0693, 0.0481, 0.0610, 0.0726,
]  # fmt: skip


@pytest.mark.parametrize("seconds", [BUSY, OWN_SPEED], ids=["busy", "own speed"])
def test_on_a_machine_that_is_unsteady_by_itself_the_mark_is_rare(seconds: list[float]) -> None:
    low, high = (limit_of(series(seconds[start:])) for start in (0, 5))
    assert 1.15 < low < 2.5
    assert 1.15 < high < 2.5
    assert share_slow(seconds) < 0.2
    assert statistics.mean(max(pair) > SLOWER * baseline(seconds) for pair in series(seconds)) > 0.6


@given(
    runs=st.integers(8, 60), noise=st.floats(0, 0.008), begin=st.floats(0, 0.6), length=st.floats(0.1, 0.4),
    slower=st.floats(1.15, 3), draw=st.randoms(use_true_random=False),
)  # fmt: skip
def test_on_a_steady_machine_a_disturbance_is_seen_and_nothing_else(
    runs: int, noise: float, begin: float, length: float, slower: float, draw: random.Random
) -> None:
    first = round(begin * runs)
    disturbed = range(first, first + max(1, round(length * runs)))
    seconds = [
        draw.uniform(1 - noise, 1 + noise) * (slower if place in disturbed else 1) for place in range(runs + 1)
    ]
    limit, undisturbed = limit_of(series(seconds)), baseline(seconds)
    assert limit == SLOWER
    for place, pair in enumerate(series(seconds)):
        assert is_slow(*pair, undisturbed, limit) == (place in disturbed or place + 1 in disturbed)


@given(st.lists(st.floats(0.01, 10), min_size=2, max_size=40), st.floats(0.01, 100))
def test_the_limit_depends_on_ratios_alone_and_never_falls_below_five_percent(
    seconds: list[float], unit: float
) -> None:
    limit = limit_of(series(seconds))
    assert limit >= SLOWER
    assert limit_of(series([unit * one for one in seconds])) == pytest.approx(limit)
    assert limit_of(series(seconds[::-1])) == pytest.approx(limit)
    assert len(seconds) > 8 or limit == SLOWER


@pytest.mark.parametrize("noise", [0.03, 0.1, 0.2])
def test_noise_of_the_machine_itself_is_no_disturbance(noise: float) -> None:
    draw = random.Random(1)
    shares = [share_slow([draw.lognormvariate(0, noise) for _ in range(19)]) for _ in range(100)]
    assert statistics.mean(shares) < 0.05
    of_two_speeds = [share_slow([draw.choice([1, 1.4]) for _ in range(19)]) for _ in range(100)]
    assert statistics.mean(of_two_speeds) < 0.25


def test_what_others_take_is_compared_with_what_they_always_take() -> None:
    assert [is_shared(seconds, 0.06) for seconds in (0.5, 1.0)] == [False, True]
    assert [is_shared(1.0, others, 0.2) for others in (0.24, 0.26)] == [False, True]


def a_run(**changed: Any) -> Row:
    """A row of the journal."""
    row = Row(1, "A", "", "", "done", 1.0, 0.9, 0.0, 0, 0, 0.04, 0.04, "", "here", "", "", "")
    return row._replace(**changed)


def test_disturbed_runs_are_left_out_only_if_they_are_few() -> None:
    quiet = [a_run(round=number) for number in range(10)]
    few, many = (
        [*quiet, *(a_run(round=number, reference_after=0.08) for number in range(10, 10 + more))]
        for more in (4, 5)
    )
    assert fairness.left_out(few) == {*few[10:]}
    assert fairness.disturbed_runs(many) == {*many[10:]}
    assert fairness.left_out(many) == set()


def test_if_all_runs_that_worked_were_disturbed_a_cached_one_still_does_not_count() -> None:
    worked = [a_run(round=number, seconds=2.0, reference_after=0.08) for number in (1, 2)]
    cached = a_run(round=3, seconds=0.1, cpu_seconds=0.1)
    counting, marks = results._counting([*worked, cached], worked[0], set(worked), set(worked))
    assert counting == worked
    assert marks == ["cached run not counted", "all runs were disturbed"]


@pytest.mark.parametrize("others", [0.0, 0.4])
@pytest.mark.parametrize("first", ["quiet", "disturbed"])
def test_threads_that_waited_on_a_busy_machine_are_no_memory(tmp_path: Path, others: float, first: str) -> None:
    """The first run used more processor time because of the machine, so the later runs count as well."""
    model = models.Model("A", "", tmp_path, "run.py", "script", "")
    slow = {"reference_before": 0.08} if first == "disturbed" else {}
    rows = [a_run(team="B", round=number, others=others) for number in range(1, 10)]
    rows += [a_run(seconds=3.0, cpu_seconds=3.0, others=others, **slow)]
    rows += [a_run(round=number, seconds=2.0, cpu_seconds=2.1, others=others) for number in (2, 3)]
    rows += [a_run(round=4, seconds=0.1, cpu_seconds=0.1, others=others)]
    said = results.results_of([model], rows)
    [timing] = said.timings
    if others or slow:
        assert timing.runtime == 2.0
        assert timing.marks[:2] == ["cached run not counted", "2 runs with less processor time"]
        assert any("so they count: A" in notice for notice in said.notices)
    else:
        assert timing.runtime == 3.0
        assert timing.marks == ["3 cached runs not counted", "measured once"]


@pytest.mark.parametrize("runs", [3, 5])
@pytest.mark.parametrize("noise", [0.005, 0.03, 0.2])
def test_the_pooled_noise_is_that_of_a_run(runs: int, noise: float) -> None:
    draw = np.random.default_rng(1)
    measured = cost_times_noise(draw, 200, runs, noise)
    assert noise_of(measured).one_run == pytest.approx(noise, rel=0.15)
    assert noise_of(measured).is_measured


def cost_times_noise(draw: np.random.Generator, models: int, runs: int, noise: float) -> list[list[float]]:
    """Runs of models with different costs, multiplied by noise."""
    costs = np.exp(draw.uniform(-3, 3, models))
    return (costs[:, None] * np.exp(draw.normal(0, noise, (models, runs)))).tolist()


def test_the_spread_of_cheats_does_not_count_for_the_others() -> None:
    draw = np.random.default_rng(2)
    honest = cost_times_noise(draw, 12, 5, 0.01)
    cheats = [[1.0, 9.0, 0.1, 5.0, 0.03]] * 3
    assert noise_of(honest + cheats).one_run < 1.5 * noise_of(honest).one_run
    alone = noise_of(honest)
    assert alone.error_of(cheats[0]) > 10 * alone.error_of(honest[0])


def test_a_model_weighs_as_much_as_it_has_runs_beyond_the_first() -> None:
    """Eight runs have 28 differences, and yet they weigh less than twelve pairs of runs."""
    noise = noise_of([[1.0, 1.1]] * 12 + [[1.0] * 8]).one_run
    assert noise == pytest.approx(fairness.NORMAL * np.log(1.1) / np.sqrt(2))


def test_one_run_is_never_certainty() -> None:
    assert noise_of([[1.0], [2.0]]) == Noise(NOISE_OF_ONE_RUN, False)
    unsteady = noise_of([[1.0], [2.0]], [(1.0, 1.2), (1.1, 1.0), (1.0, 1.3)])
    assert unsteady.one_run > 0.1
    assert noise_of([[1.0, 1.0], [2.0, 2.0]]) == Noise(LEAST_NOISE, True)
    assert Noise(0.03, True).error_of([5.0]) == pytest.approx(0.03)


@pytest.mark.parametrize("runs", [1, 3, 5, 9, 40])
def test_the_error_of_a_median(runs: int) -> None:
    draw = np.random.default_rng(3)
    medians = np.median(np.exp(draw.normal(0, 0.02, (20_000, runs))), axis=1)
    assert Noise(0.02, True).error_of([1.0] * runs) == pytest.approx(np.std(medians), rel=0.03)


def test_neighbors_are_decided_beyond_two_and_a_half_errors() -> None:
    assert undecided([1.0], [0.1]) == []
    assert undecided([2.0, 1.0, 1.03], [0.01, 0.01, 0.01]) == [(1, 2)]
    assert undecided([2.0, 1.0, 1.04], [0.01, 0.01, 0.01]) == []
    assert undecided([1.0, 1.02, 1.03], [0.01] * 3) == [(1, 2), (0, 1)]
    assert undecided([1.0, 1.0], [0.0, 0.0]) == [(0, 1)]


@pytest.mark.parametrize("runs", [3, 5])
def test_what_is_decided_is_seldom_wrong(runs: int) -> None:
    """Neighbors differ by 0.5% on a machine with 1% of noise: few orders are decided, and hardly any of them
    wrongly.
    """
    draw = np.random.default_rng(4)
    decided = wrong = 0
    for _ in range(2000):
        first, second = (list(cost * np.exp(draw.normal(0, 0.01, runs))) for cost in (1.0, 1.005))
        medians = [statistics.median(one) for one in (first, second)]
        noise = Noise(0.01, True)
        if not undecided(medians, [noise.error_of(first), noise.error_of(second)]):
            decided += 1
            wrong += medians[0] > medians[1]
    assert wrong < 0.01 * 2000
    assert decided < 0.2 * 2000


def test_what_cannot_be_told_apart() -> None:
    noise = Noise(0.01, True)
    told = fairness.cannot_tell(noise, 5)
    runs = [1.0] * 5
    errors = [noise.error_of(runs)] * 2
    assert undecided([1.0, 1 + 0.99 * told], errors)
    assert not undecided([1.0, 1 + 1.01 * told], errors)


def test_the_state_of_the_machine() -> None:
    quiet = [a_run(round=number, others=0.01) for number in range(9)]
    assert state_of(quiet) == ("quiet", False)
    assert state_of([*quiet, a_run(round=9, others=0.5)]) == ("quiet but for 1 of 10 runs", False)
    assert state_of([row._replace(others=0.06) for row in quiet]) == (
        "others took 6% of the cores all along",
        True,
    )
    shared = [row._replace(others=0.5) if row.round % 2 else row for row in quiet]
    assert state_of(shared) == ("disturbed in 4 of 9 runs", True)
    assert state_of([row._replace(others=float("nan")) for row in quiet]) == ("unknown", False)
    assert state_of([]) == ("unknown", False)


@pytest.mark.parametrize("module", [fairness, models])
def test_the_examples_in_docstrings(module: types.ModuleType) -> None:
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 0) == (0, True)
