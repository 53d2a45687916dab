"""Runtimes have the right uncertainty, undecided orders are found, and a busy machine is noticed."""

import numpy as np
import pytest

from podium.running import fairness
from podium.running.fairness import (
    LEAST_NOISE,
    NOISE_OF_ONE_RUN,
    MachineNoise,
    Runtime,
    is_undecided,
    noise_of,
    state_of,
)
from podium.running.journal import Row
from tests.running.test_rounds import row


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
    assert noise_of([[1.0], [2.0]]) == MachineNoise(NOISE_OF_ONE_RUN, False)
    assert noise_of([[1.0, 1.0], [2.0, 2.0]]) == MachineNoise(LEAST_NOISE, True)
    assert MachineNoise(0.03, True).error_of([5.0]) == pytest.approx(0.03)


@pytest.mark.parametrize("runs", [1, 3, 5, 9, 40])
def test_the_error_of_a_median(runs: int) -> None:
    draw = np.random.default_rng(3)
    medians = np.median(np.exp(draw.normal(0, 0.02, (20_000, runs))), axis=1)
    assert MachineNoise(0.02, True).error_of([1.0] * runs) == pytest.approx(np.std(medians), rel=0.03)


def test_half_of_the_noise_of_nine_runs_is_their_own() -> None:
    """The logarithms of these runs have the standard deviation 1, and those of all models 0.1."""
    runs = np.exp([-1.0] * 4 + [0.0] + [1.0] * 4).tolist()
    variance = (0.1**2 + 1) / 2 * np.pi / (2 * 9 + np.pi - 2)
    assert MachineNoise(0.1, True).error_of(runs) == pytest.approx(np.sqrt(variance))


@pytest.mark.parametrize(
    ("one", "other", "errors", "undecided"),
    [(1.0, 1.03, 0.01, True), (1.04, 1.0, 0.01, False), (2.0, 2.0, 0.0, True), (20.0, 20.6, 0.2, True)],
)
def test_an_order_is_decided_beyond_two_and_a_half_errors(one, other, errors, undecided) -> None:
    assert is_undecided(Runtime(one, errors), Runtime(other, errors)) == undecided


QUIET = [row("A", number, others=0.01) for number in range(1, 10)]
UNKNOWN = row("A", 1, others=float("nan"))


@pytest.mark.parametrize(
    ("runs", "state"),
    [
        (QUIET, ("quiet", False)),
        ([*QUIET, row("A", 10, others=0.5)], ("quiet but for 1 of 10 runs", False)),
        ([one._replace(others=0.06) for one in QUIET], ("others took 6% of the cores all along", True)),
        ([*QUIET[::2], *[row("A", 2, others=0.5)] * 4], ("others used the cores in 4 of 9 runs", True)),
        ([UNKNOWN], ("unknown", True)),
        ([row("A", 0), UNKNOWN], ("unknown", True)),
        ([row("A", 1), UNKNOWN], ("unknown in 1 of 2 runs", True)),
    ],
)
def test_the_state_of_the_machine(runs: list[Row], state: tuple[str, bool]) -> None:
    """What is not known of it makes runtimes provisional, too."""
    assert state_of(runs) == state
