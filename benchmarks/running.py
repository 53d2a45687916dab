"""How fair `podium run` measures: its overhead, the order of models of known cost, a machine slowed on purpose.

    python -m benchmarks.running [--seconds 1.0] [--rounds 8]

Needs bubblewrap; about four minutes on a quiet machine.
"""

import argparse
import contextlib
import itertools
import multiprocessing
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import machine, print_table
from podium.running import engines, rounds
from podium.running.engines import Settings
from podium.running.models import Model, find_model
from podium.running.reference import SLOWER, baseline, is_slow, limit_of, runs_needed
from podium.running.rounds import Result, Row

STEP = 1.02
MODELS = 5
REPEATS = 3
DRAWS = 1000
# Costs the same on every machine, however fast it is just now: what deviates is podium's doing.
CLOCK = "#!/bin/sh\nsleep {seconds:.6f}\n: > submission.csv\n"
# Work in many small parts; printing nothing and reading nothing, so that its cost is known.
WORK = """
import hashlib
for _ in range({parts}):
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 1000)
open("submission.csv", "w").write("a\\n")
"""
NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


Series = Callable[[np.random.Generator, int], np.ndarray]  # how slow a machine is, at so many moments


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1.0, help="of the shortest model")
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        settings = Settings(folder / "data", "bubblewrap", "", 600.0, 2**30, 2**28, 1, False)
        overhead(folder, settings)
        order(folder, settings, options.seconds, options.rounds)
        slowed(folder, settings, options.seconds)
    simulated()


def model(folder: Path, name: str, source: str, file: str = "run.py") -> Model:
    """A model of one file."""
    place = folder / "models" / name
    place.mkdir(parents=True)
    (place / file).write_text(source)
    (place / file).chmod(0o755)
    found = find_model(place, name)
    assert isinstance(found, Model)
    return found


def overhead(folder: Path, settings: Settings, repeats: int = 32) -> None:
    """What is measured of a model that does nothing."""
    nothing = model(folder, "nothing", "#!/bin/sh\n: > submission.csv\n", "run")
    wide = model(folder, "large", "#!/bin/sh\n: > submission.csv\n", "run")
    script = model(folder, "script", "")
    notebook = model(folder, "notebook", NOTEBOOK, "model.ipynb")
    for number in range(200):
        (wide.folder / f"{number}.bin").write_bytes(bytes(10_000))
    rows = []
    for title, one, sandbox, times in (
        ("a program, no sandbox", nothing, "none", repeats),
        ("a program, bubblewrap", nothing, "bubblewrap", repeats),
        ("a program in a folder of 200 files, bubblewrap", wide, "bubblewrap", repeats),
        ("run.py, bubblewrap", script, "bubblewrap", repeats),
        ("a notebook, bubblewrap", notebook, "bubblewrap", repeats // 8),
    ):
        chosen = settings._replace(sandbox=sandbox)
        taken = [1000 * engines.run(one, chosen).measured["seconds"] for _ in range(times)]
        low, middle, high = np.quantile(taken, [0.05, 0.5, 0.95])
        rows.append([title, f"{middle:.1f}", f"{low:.1f}", f"{high:.1f}"])
    print_table("A model that does nothing, milliseconds", ["", "median", "5%", "95%"], rows)


def order(folder: Path, settings: Settings, seconds: float, number: int) -> None:
    """How often models that differ by 2% in cost end in the right order: what podium adds, and the machine."""
    parts = _parts(seconds)
    costs = [STEP**n for n in range(MODELS)]
    table = []
    for title, models, columns in (
        ("clock", [_clock(folder, seconds * cost) for cost in costs], ["seconds"]),
        ("work", [_work(folder, parts * cost) for cost in costs], ["seconds", "cpu_seconds"]),
    ):
        rows = _measured(models, settings, folder / title, number, rounds.here(settings))
        slow = rounds._slow(rows)
        sound = [row for row in rows if row not in slow]
        changes = np.diff([(row.reference_before, row.reference_after) for row in rows]).ravel()
        machine_s = f"{np.median(np.abs(changes)) / np.median([row.reference_after for row in rows]):.1%}"
        for column in columns:
            for kind, chosen in (("", sound), (", marked runs too", rows)):
                taken = [[getattr(row, column) for row in chosen if row.team == one.team] for one in models]
                table.append(
                    [
                        f"{title}, {column.replace('_', ' ')}{kind}",
                        f"{len(chosen)}",
                        *_ordered(taken),
                        f"{runs_needed(taken) or '-'}",
                        machine_s,
                    ]
                )
    print_table(
        f"Models that differ by {STEP - 1:.0%} in cost, by the clock (they sleep) and by work; "
        f"medians of {REPEATS} runs of about {seconds:g} s",
        [
            "cost", "runs", "neighbours in order", "deviation of a median", "runs needed", "reference changes",
        ],
        table,
    )  # fmt: skip


def _clock(folder: Path, seconds: float) -> Model:
    return model(folder, f"clock {seconds:.4f}", CLOCK.format(seconds=seconds), "run")


def _work(folder: Path, parts: float) -> Model:
    return model(folder, f"work {parts:.0f}", WORK.format(parts=round(parts)))


def _measured(
    models: list[Model], settings: Settings, out: Path, repeats: int, execute: rounds.Execute
) -> list[Row]:
    """The runs that podium makes of these models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rounds.measure(models, [], settings, out, repeats, 0, {}, execute)
    return rounds._read(out / rounds.RUNS)


def _ordered(taken: list[list[float]]) -> list[str]:
    """Share of neighbours in order and relative deviation, of medians of a few of each model's runs."""
    if min(map(len, taken)) < REPEATS:
        return ["-", "-"]
    draw = np.random.default_rng(0)
    medians = np.array(
        [[np.median(draw.choice(one, REPEATS, replace=False)) for _ in range(DRAWS)] for one in taken]
    )
    right = np.diff(medians, axis=0) > 0
    spread = np.std(medians, axis=1) / np.mean(medians, axis=1)
    return [f"{right.mean():.1%}", f"{spread.mean():.2%}"]


def slowed(folder: Path, settings: Settings, seconds: float) -> None:
    """Other programs take the cores in the middle of a round; what they disturb is noticed and made up for."""
    parts = _parts(seconds)
    models = [model(folder, f"steady {n}", WORK.format(parts=parts)) for n in range(MODELS)]
    # The sixth to the eighth run with the reference after them, then three runs alone.
    burning = dict.fromkeys((5, 6, 7), (0.0, 1e9)) | dict.fromkeys((9, 10, 11), (0.3 * seconds, 0.7 * seconds))
    times = itertools.count()
    one_by_one = rounds.here(settings)

    def execute(chosen: list[Model], number: int) -> Iterator[Result]:
        for one in chosen:
            time_ = next(times)
            with _busy_cores(*burning[time_]) if time_ in burning else contextlib.nullcontext():
                yield from one_by_one([one], number)

    rows = _measured(models, settings, folder / "slowed", REPEATS, execute)
    slow = rounds._slow(rows)
    noticed = [row in slow for row in rows]
    print_table(
        f"A machine slowed on purpose: which of {len(rows)} runs were marked, by a limit of "
        f"{rounds._limit(rows) - 1:.0%}",
        ["disturbed", "runs", "marked"],
        [
            ["the run, or the reference beside it", "4", f"{sum(noticed[5:9])}"],
            ["the middle of the run alone", "3", f"{sum(noticed[9:12])}"],
            ["neither", f"{len(rows) - 7}", f"{sum(noticed) - sum(noticed[5:12])}"],
        ],
    )


def steady(draw: np.random.Generator, number: int) -> np.ndarray:
    """Half a percent of noise."""
    return np.exp(draw.normal(0, 0.005, number))


def noisy(draw: np.random.Generator, number: int) -> np.ndarray:
    """Ten percent of noise."""
    return np.exp(draw.normal(0, 0.1, number))


def drifting(draw: np.random.Generator, number: int) -> np.ndarray:
    """Fifteen percent of noise of which each moment keeps 80% of the last."""
    steps = draw.normal(0, 0.15 * np.sqrt(1 - 0.8**2), number)
    return np.exp(list(itertools.accumulate(steps, lambda before, step: 0.8 * before + step)))


def two_speeds(change: float) -> Series:
    """One 40% slower than the other, with this probability of a change at each moment."""
    return lambda draw, number: steady(draw, number) * (1 + 0.4 * (np.cumsum(draw.random(number) < change) % 2))


def simulated(draws: int = 100) -> None:
    """Which runs are marked on made-up machines, some of them disturbed: by 5% alone and by podium's rule."""
    half = slice(MODELS * REPEATS, None)
    fifth = slice(8, 8 + 2 * MODELS * REPEATS // 5)
    table = []
    for title, series, where, slower in (
        ("steady, 0.5% of noise", steady, None, 1.0),
        ("steady, 50% slower for a fifth of the time", steady, fifth, 1.5),
        ("steady, 8% slower from the middle on", steady, half, 1.08),
        ("10% of noise", noisy, None, 1.0),
        ("10% of noise, half as fast for a fifth of the time", noisy, fifth, 2.0),
        ("drifting by 15%", drifting, None, 1.0),
        ("two speeds, changing at random", two_speeds(0.5), None, 1.0),
        ("two speeds, changing every tenth run", two_speeds(0.05), None, 1.0),
    ):
        draw, found = np.random.default_rng(0), []
        for _ in range(draws):
            speeds, disturbed = series(draw, 2 * MODELS * REPEATS + 1), np.zeros(2 * MODELS * REPEATS + 1, bool)
            if where:
                disturbed[where] = True
            speeds[disturbed] *= slower
            touched = disturbed[:-2:2] | disturbed[1::2] | disturbed[2::2]
            pairs = list(itertools.pairwise(speeds[::2].tolist()))
            for limit in (SLOWER, limit_of(pairs)):
                marked = np.array([is_slow(*pair, baseline(speeds[::2]), limit) for pair in pairs])
                found.append((limit - 1, marked[~touched].mean(), marked[touched].mean() if where else np.nan))
        alone, rule = (np.mean(found[kind::2], axis=0) for kind in (0, 1))
        of_disturbed = [f"{alone[2]:.0%}", f"{rule[2]:.0%}"] if where else ["-", "-"]
        table.append([title, f"{alone[1]:.0%}", f"{rule[1]:.0%}", *of_disturbed, f"{rule[0]:.0%}"])
    print_table(
        f"Which runs are marked on made-up machines, {draws} of each kind, {MODELS} models of {REPEATS} runs",
        ["", "undisturbed, by 5%", "by the rule", "disturbed, by 5%", "by the rule", "the rule's limit"],
        table,
    )


def _parts(seconds: float) -> Any:
    """How many parts of the work take so many seconds here."""
    import hashlib

    start = time.perf_counter()
    for _ in range(300):
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 1000)
    return round(300 * seconds / (time.perf_counter() - start))


@contextlib.contextmanager
def _busy_cores(after: float, until: float) -> Iterator[None]:
    """Twice as many programs as cores, at work between these times in seconds, or until the block ends."""
    burners = [
        multiprocessing.Process(target=_burn, args=(after, until), daemon=True)
        for _ in range(2 * (os.cpu_count() or 1))
    ]
    for burner in burners:
        burner.start()
    yield
    for burner in burners:
        burner.terminate()
        burner.join()


def _burn(after: float, until: float) -> None:
    end = time.perf_counter() + until
    time.sleep(after)
    while time.perf_counter() < end:
        pass


if __name__ == "__main__":
    main()
