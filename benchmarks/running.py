"""How fairly does `podium run` measure?  Its overhead, models of known cost, and its rules on recorded runs.

    python -m benchmarks.running [--seconds 1.0] [--rounds 8] [--recorded]
    python -m benchmarks.running --record FILE [--rounds 30]

With ``--recorded``, only the recordings are replayed.  This takes a few seconds and gives the same figures on
every machine.  Everything else needs bubblewrap and takes about three minutes on a quiet machine.
"""

import argparse
import csv
import itertools
import math
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measure import machine, print_table
from podium.running import engines, fairness, rounds
from podium.running.fairness import SLOWER, baseline, is_slow, limit_of
from podium.running.journal import Row, read_journal, runs_of
from podium.running.models import Model, find_model
from podium.running.results import results_of
from podium.running.rounds import Plan
from podium.running.settings import Settings

STEP = 1.02
MODELS = 5
REPEATS = 3
DRAWS = 1000
RECORDINGS = Path(__file__).parent / "recordings"
RECORDED = ("team", "round", "seconds", "cpu_seconds", "others", "reference_before", "reference_after")
COSTS = {"1.00": 1.0, "1.02": 1.02, "1.05": 1.05, "1.10": 1.1}  # relative costs of the recorded models

# This model takes the same time on every machine, however fast that is now.  So deviations come from podium.
CLOCK = "#!/bin/sh\nsleep {seconds:.6f}\n: > submission.csv\n"
# This model works in many small parts.  It prints nothing and reads nothing, so that its cost is known.
WORK = """
import hashlib
for _ in range({parts}):
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 1000)
open("submission.csv", "w").write("a\\n")
"""
NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'

Series = Callable[[np.random.Generator, int], np.ndarray]  # draws how slow a machine is at so many moments


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="of the shortest model")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--recorded", action="store_true", help="replay the recordings alone")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="run the models of COSTS and write such a recording"
    )
    options = parser.parse_args()
    if options.recorded:
        recorded()
        return
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        for path in (folder, folder / "data"):
            path.chmod(0o755)  # models that root starts run as the user nobody
        settings = Settings(folder / "data", "", "", 600.0, 2**30, 2**28, 1, False)
        settings = engines.choose("bubblewrap", [model(folder, "any", "")], settings)
        if options.record:
            record(options.record, folder, settings, options.seconds, options.rounds)
            return
        overhead(folder, settings)
        order(folder, settings, options.seconds, options.rounds)
    recorded()
    simulated()


def model(folder: Path, name: str, source: str, file: str = "run.py") -> Model:
    """Make a model that consists of one file.

    Parameters
    ----------
    folder : Path
        The folder of all models.
    name : str
        The name of the model.
    source, file : str
        The content and the name of the file.

    Returns
    -------
    Model
        The model as `podium run` finds it.
    """
    home = folder / "models" / name
    home.mkdir(parents=True)
    (home / file).write_text(source)
    (home / file).chmod(0o755)
    made = find_model(home, name)
    assert isinstance(made, Model)
    return made


# ---- What podium adds, and what the machine adds ----------------------------------------------------------


def overhead(folder: Path, settings: Settings, repeats: int = 32) -> None:
    """Print what is measured for a model that does nothing.

    Parameters
    ----------
    folder : Path
        A folder for models.
    settings : Settings
        How models run.
    repeats : int
        The number of runs of each model.
    """
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
    """Print how often models that differ by 2% in cost end in the right order.

    Models that sleep show what podium adds, and models that work show what the machine adds.

    Parameters
    ----------
    folder : Path
        A folder for models and runs.
    settings : Settings
        How models run.
    seconds : float
        The runtime of the shortest model.
    number : int
        The number of runs of each model.
    """
    parts = _parts(seconds)
    costs = [STEP**n for n in range(MODELS)]
    table = []
    for title, models, columns in (
        ("clock", [_clock(folder, seconds * cost) for cost in costs], ["seconds"]),
        ("work", [_work(folder, parts * cost) for cost in costs], ["seconds", "cpu_seconds"]),
    ):
        rows = _measured(models, settings, folder / title, number)
        changes = np.diff([(row.reference_before, row.reference_after) for row in rows]).ravel()
        machine_s = f"{np.median(np.abs(changes)) / np.median([row.reference_after for row in rows]):.1%}"
        for column in columns:
            taken = [[getattr(row, column) for row in runs_of(one, rows)] for one in models]
            noise = fairness.noise_of(taken).one_run
            table.append(
                [
                    f"{title}, {column.replace('_', ' ')}",
                    f"{len(rows)}",
                    *_ordered(taken),
                    f"{noise:.2%}",
                    machine_s,
                ]
            )
    print_table(
        f"Models that differ by {STEP - 1:.0%} in cost, by the clock (they sleep) and by work; "
        f"medians of {REPEATS} runs of about {seconds:g} s",
        ["cost", "runs", "neighbors in order", "deviation of a median", "noise of a run", "reference changes"],
        table,
    )


def _clock(folder: Path, seconds: float) -> Model:
    """Make a model that sleeps."""
    return model(folder, f"clock {seconds:.4f}", CLOCK.format(seconds=seconds), "run")


def _work(folder: Path, parts: float, name: str = "") -> Model:
    """Make a model that works."""
    return model(folder, name or f"work {parts:.0f}", WORK.format(parts=round(parts)))


def _measured(models: list[Model], settings: Settings, out: Path, repeats: int) -> list[Row]:
    """Run each model so many times, as podium does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rounds.run_all(models, [], settings, out, Plan(repeats, repeats), {}, rounds.here(settings))
    return read_journal(out / rounds.RUNS)


def _ordered(taken: list[list[float]]) -> list[str]:
    """Compute how often neighbors are in order, and the relative deviation of medians.

    Each median is that of a few runs of a model, which are drawn at random.
    """
    draw = np.random.default_rng(0)
    medians = np.array(
        [[np.median(draw.choice(one, REPEATS, replace=False)) for _ in range(DRAWS)] for one in taken]
    )
    right = np.diff(medians, axis=0) > 0
    spread = np.std(medians, axis=1) / np.mean(medians, axis=1)
    return [f"{right.mean():.1%}", f"{spread.mean():.2%}"]


# ---- Recorded runs, by the old rule and by the new one ----------------------------------------------------


def record(path: Path, folder: Path, settings: Settings, seconds: float, number: int) -> None:
    """Run models of known cost, and write their runs into a file.

    Parameters
    ----------
    path : Path
        The file.
    folder : Path
        A folder for models and runs.
    settings : Settings
        How models run.
    seconds : float
        The runtime of the shortest model.
    number : int
        The number of runs of each model.
    """
    parts = _parts(seconds)
    models = [_work(folder, parts * cost, name) for name, cost in COSTS.items()]
    rows = _measured(models, settings, folder / "recorded", number)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(RECORDED)
        writer.writerows([getattr(row, name) for name in RECORDED] for row in rows)


def read_recording(path: Path) -> list[list[Row]]:
    """Read the runs of a recording.

    Parameters
    ----------
    path : Path
        The file that `record` wrote.

    Returns
    -------
    list of list of Row
        The runs of each round in which all models ran.
    """
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    made: dict[int, list[Row]] = {}
    for line in lines:
        known: dict[str, Any] = {name: float(line[name]) for name in RECORDED[2:]}
        row = rounds.not_run(_named(line["team"]), int(line["round"]), "done").row._replace(
            machine="here", **known
        )
        made.setdefault(row.round, []).append(row)
    return [one for one in made.values() if {row.team for row in one} == {*COSTS}]


def _named(name: str) -> Model:
    """Make a model of which only the name is needed."""
    return Model(name, "", Path(name), "", "", "")


class Measured(NamedTuple):
    """What a rule concludes from the runs of one small competition.

    Attributes
    ----------
    runtimes : dict of str to float
        The runtime of each model in seconds, by name.
    errors : dict of str to float
        The relative standard error of each runtime.
    undecided : set of frozenset of str
        The pairs of models whose order is called undecided.
    runs : int
        The number of runs that the rule needed.
    """

    runtimes: dict[str, float]
    errors: dict[str, float]
    undecided: set[frozenset[str]]
    runs: int


def by_new_rule(recording: list[list[Row]], start: int, most: int) -> Measured:
    """Apply the rule of `podium run` to a recording that begins with this round.

    Parameters
    ----------
    recording : list of list of Row
        The runs of each round.
    start : int
        The number of the first round.
    most : int
        The largest number of runs of each model.

    Returns
    -------
    Measured
        What the rule concludes.
    """
    models = [_named(name) for name in COSTS]
    rows: list[Row] = []
    plan = Plan(REPEATS, most)
    while planned := rounds.next_turns(models, rows, plan):
        for one, number in itertools.chain.from_iterable(planned[1]):
            rows.append(_recorded_run(recording, start, one.team, number))
    results = results_of(models, rows)
    return Measured(
        {one.model.team: one.runtime for one in results.timings},
        {one.model.team: one.error / one.runtime for one in results.timings},
        {frozenset((one.model.team, other.model.team)) for one, other in results.undecided},
        len(rows),
    )


def by_old_rule(recording: list[list[Row]], start: int, most: int) -> Measured:
    """Apply the rule of versions up to 2.0: disturbed runs are repeated, and nothing is undecided.

    Parameters
    ----------
    recording : list of list of Row
        The runs of each round.
    start : int
        The number of the first round.
    most : int
        The largest number of runs of each model.

    Returns
    -------
    Measured
        What the rule concludes.
    """
    rows: list[Row] = []
    waiting = [*COSTS]
    while waiting:
        for name in waiting:
            number = 1 + sum(row.team == name for row in rows)
            rows.append(_recorded_run(recording, start, name, number))
        disturbed = fairness.disturbed_runs(rows)
        runs = {name: [row for row in rows if row.team == name] for name in COSTS}
        sound = {name: [row for row in taken if row not in disturbed] for name, taken in runs.items()}
        waiting = [name for name in COSTS if len(sound[name]) < REPEATS and len(runs[name]) < most]
    runtimes = {name: statistics.median(row.seconds for row in sound[name] or runs[name]) for name in COSTS}
    return Measured(runtimes, dict.fromkeys(COSTS, math.nan), set(), len(rows))


def _recorded_run(recording: list[list[Row]], start: int, name: str, number: int) -> Row:
    """Find the run of a model in a round after the start.  After the last round comes the first one again."""
    row = next(row for row in recording[(start + number - 1) % len(recording)] if row.team == name)
    return row._replace(round=number)


def recorded() -> None:
    """Print the errors of order and of ratios, for competitions that begin with each recorded round."""
    table = []
    for path in sorted(RECORDINGS.glob("*.csv")):
        recording = read_recording(path)
        noise = fairness.noise_of(
            [[row.seconds for one in recording for row in one if row.team == name] for name in COSTS]
        )
        for title, rule, most in (
            ("old, up to 5 runs", by_old_rule, 5),
            ("new, up to 5 runs", by_new_rule, 5),
            ("new, up to 15 runs", by_new_rule, 15),
        ):
            taken = [rule(recording, start, most) for start in range(len(recording))]
            table.append([f"{path.stem}, {noise.one_run:.0%} of noise", title, *_errors(taken)])
    print_table(
        "Recorded runs of models that cost 1, 1.02, 1.05 and 1.10: three neighbors in each competition",
        [
            "recording", "rule", "runs", "wrong order", "wrong and not said", "said to be undecided",
            "error of a ratio, median", "95%", "within two errors",
        ],
        table,
    )  # fmt: skip


def _errors(taken: Sequence[Measured]) -> list[str]:
    """Compute how often neighbors are in the wrong order, how often that is said, and how wrong ratios are."""
    pairs = [(one, *names) for one in taken for names in itertools.pairwise(COSTS)]
    wrong = [one.runtimes[first] >= one.runtimes[second] for one, first, second in pairs]
    said = [frozenset((first, second)) in one.undecided for one, first, second in pairs]
    # Only neighbors by runtime are called undecided.  A wrong pair that is not among them may still be noted,
    # because one of its models is in another undecided pair.
    noted = [
        is_said or any(first in pair or second in pair for pair in one.undecided)
        for is_said, (one, first, second) in zip(said, pairs)
    ]
    ratios, within = [], []
    cheapest = next(iter(COSTS))
    for one in taken:
        for name, cost in [*COSTS.items()][1:]:
            deviation = abs(math.log(one.runtimes[name] / one.runtimes[cheapest] / cost))
            ratios.append(deviation)
            within.append(deviation <= 2 * math.hypot(one.errors[name], one.errors[cheapest]))
    known = not math.isnan(taken[0].errors[cheapest])
    return [
        f"{np.mean([one.runs for one in taken]) / len(COSTS):.1f}",
        f"{np.mean(wrong):.0%}",
        f"{np.mean([a and not b for a, b in zip(wrong, noted)]):.1%}",
        f"{np.mean(said):.0%}",
        f"{np.median(ratios):.1%}",
        f"{np.quantile(ratios, 0.95):.1%}",
        f"{np.mean(within):.0%}" if known else "-",
    ]


# ---- Three usual changes ----------------------------------------------------------------------------------


def steady(draw: np.random.Generator, number: int) -> np.ndarray:
    """Draw half a percent of noise.

    Parameters
    ----------
    draw : numpy.random.Generator
        The source of random numbers.
    number : int
        The number of moments.

    Returns
    -------
    ndarray of float, shape (number,)
        How slow the machine is at each moment.
    """
    return np.exp(draw.normal(0, 0.005, number))


def noisy(draw: np.random.Generator, number: int) -> np.ndarray:
    """Draw ten percent of noise.

    Parameters
    ----------
    draw : numpy.random.Generator
        The source of random numbers.
    number : int
        The number of moments.

    Returns
    -------
    ndarray of float, shape (number,)
        How slow the machine is at each moment.
    """
    return np.exp(draw.normal(0, 0.1, number))


def drifting(draw: np.random.Generator, number: int) -> np.ndarray:
    """Draw fifteen percent of noise, of which each moment keeps 80% of the one before.

    Parameters
    ----------
    draw : numpy.random.Generator
        The source of random numbers.
    number : int
        The number of moments.

    Returns
    -------
    ndarray of float, shape (number,)
        How slow the machine is at each moment.
    """
    steps = draw.normal(0, 0.15 * np.sqrt(1 - 0.8**2), number)
    return np.exp(list(itertools.accumulate(steps, lambda before, step: 0.8 * before + step)))


def two_speeds(change: float) -> Series:
    """Make a machine with two speeds, of which one is 40% slower.

    Parameters
    ----------
    change : float
        The probability of a change at each moment.

    Returns
    -------
    function
        Draws how slow the machine is, as `steady` does.
    """
    return lambda draw, number: steady(draw, number) * (1 + 0.4 * (np.cumsum(draw.random(number) < change) % 2))


def simulated(draws: int = 100) -> None:
    """Print which runs are marked on made-up machines: by a limit of 5%, and by podium's rule.

    Parameters
    ----------
    draws : int
        The number of made-up machines of each kind.
    """
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
        draw, shares = np.random.default_rng(0), []
        for _ in range(draws):
            speeds, disturbed = series(draw, 2 * MODELS * REPEATS + 1), np.zeros(2 * MODELS * REPEATS + 1, bool)
            if where:
                disturbed[where] = True
            speeds[disturbed] *= slower
            touched = disturbed[:-2:2] | disturbed[1::2] | disturbed[2::2]
            pairs = list(itertools.pairwise(speeds[::2].tolist()))
            for limit in (SLOWER, limit_of(pairs)):
                marked = np.array([is_slow(*pair, baseline(speeds[::2]), limit) for pair in pairs])
                shares.append((limit - 1, marked[~touched].mean(), marked[touched].mean() if where else np.nan))
        alone, rule = (np.mean(shares[kind::2], axis=0) for kind in (0, 1))
        of_disturbed = [f"{alone[2]:.0%}", f"{rule[2]:.0%}"] if where else ["-", "-"]
        table.append([title, f"{alone[1]:.0%}", f"{rule[1]:.0%}", *of_disturbed, f"{rule[0]:.0%}"])
    print_table(
        f"Which runs are marked on made-up machines, {draws} of each kind, {MODELS} models of {REPEATS} runs",
        ["", "undisturbed, by 5%", "by the rule", "disturbed, by 5%", "by the rule", "the rule's limit"],
        table,
    )


def _parts(seconds: float) -> Any:
    """Find out how many parts of the work take so many seconds on this machine."""
    import hashlib

    start = time.perf_counter()
    for _ in range(300):
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 1000)
    return round(300 * seconds / (time.perf_counter() - start))


if __name__ == "__main__":
    main()
