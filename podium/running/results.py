"""Make ``runtimes.csv``, ``failed.csv`` and the notices on the screen from the journal."""

import itertools
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium.common.options import as_option
from podium.common.statements import say
from podium.running import fairness, journal
from podium.running.fairness import MachineNoise, Runtime, State
from podium.running.journal import (
    Row,
    by_model,
    differ,
    is_known,
    measured,
    predictions_of,
    write_cells,
)
from podium.running.measuring import Outcome
from podium.running.models import Failure, Model

RUNTIME_COLUMNS = (
    "team", "submission", "runtime", "runtime_low", "runtime_high", "runtime_error", "runs", "marks",
    "provisional", "state", "cpu_seconds", "seconds", "engine",
)  # fmt: skip
FAILED_COLUMNS = ("team", "model", "reason", "engine")


@dataclass
class Timing:
    """A model with predictions, and its runtime as soon as it is compared with the others."""

    model: Model
    predictions: Row  # the run whose predictions count
    runs: list[Row]  # all runs
    counting: list[Row]  # the runs whose times count
    runtime: Runtime = field(init=False)
    marks: list[str] = field(default_factory=list)  # what a reader of the runtime has to know
    is_apart: bool = False  # whether it was measured in another session than most models

    @property
    def key(self) -> str:
        """The model's name in messages."""
        return self.model.key


class Results(NamedTuple):
    """Everything that follows from the runs."""

    timings: list[Timing]  # the runtimes of the models with predictions
    failures: list[Failure]  # the models without predictions, by their names
    state: State  # how quiet the machine was
    notices: list[str]  # the warnings for the organizer
    rows: Sequence[Row]  # the runs


def results_of(models: Sequence[Model], rows: Sequence[Row], failures: Iterable[Failure] = ()) -> Results:
    """Judge the runs."""
    state = fairness.state_of_sessions(rows)
    timings, failed = _timings(models, rows)
    notices = _compare(timings, state)
    return Results(timings, sorted([*failures, *failed]), state, notices, rows)


def _timings(models: Sequence[Model], rows: Sequence[Row]) -> tuple[list[Timing], list[Failure]]:
    """The models with predictions, and the other ones."""
    runs_of = by_model(rows)
    timings, failures = [], []
    for model in models:
        runs = runs_of[model.key]
        failed, predictions = failure_of(runs), predictions_of(runs)
        if failed or predictions is None:
            texts = (failed.reason, failed.printed) if failed else ("", "")
            failures.append(Failure(model.team, model.name, *texts))
        elif differ(runs):
            timings.append(Timing(model, predictions, runs, [predictions], marks=[say("mark_differing")]))
        else:
            timings.append(Timing(model, predictions, runs, measured(runs)))
    return timings, failures


def failure_of(runs: Sequence[Row]) -> Row | None:
    """The run by which a model has failed: the one that is not measured, the first that is, or a lost one."""
    deciding = (row for row in runs if row.round <= 1 or row.outcome is Outcome.LOST)
    return next((row for row in deciding if row.outcome is not Outcome.DONE), None)


def _compare(timings: Sequence[Timing], state: State) -> list[str]:
    """Compute the runtimes, mark what their comparison shows, and return the warnings for the organizer."""
    noise = fairness.noise_of([row.seconds for row in one.counting] for one in timings)
    main = fairness.main_session(one.counting for one in timings)
    for one in timings:
        _measure(one, main, noise)
    in_order = sorted(timings, key=lambda one: one.runtime.seconds)
    undecided = [pair for pair in itertools.pairwise(in_order) if _is_undecided(*pair)]
    least = fairness.MANY_TIMES if state.is_provisional else fairness.MUCH_SLOWER
    alike = _alike(timings, least)
    for kind, pairs in {"mark_undecided": undecided, "mark_same_predictions": alike}.items():
        for one, other in pairs:
            one.marks.append(say(kind, other=_in_a_mark(other)))
            other.marks.append(say(kind, other=_in_a_mark(one)))
    of_models = [[row.cpu_seconds for row in one.runs] for one in timings]
    slow_first = [timings[place] for place in fairness.slow_first_runs(of_models, least)]
    for one in slow_first:
        one.marks.append(say("mark_slow_first"))
    told = [say("measure_again", state=state.text)] if timings and state.is_provisional else []
    if undecided:
        varies = say("noise_measured" if noise.is_measured else "noise_not_measured", noise=noise.one_run)
        models, repeats = [_apart(*pair) for pair in undecided], as_option("repeats")
        told.append(say("order_not_decided", models=models, varies=varies, repeats=repeats))
    models_of = {
        "predictions_differ": [one.key for one in timings if differ(one.runs)],
        "same_predictions_in_another_time": [say("pair", one=one.key, other=other.key) for one, other in alike],
        "slow_first_run": [one.key for one in slow_first],
    }
    told += [say(kind, models=models) for kind, models in models_of.items() if models]
    if apart := [one.key for one in timings if one.is_apart]:
        told.append(say("measured_in_another_session", models=apart, out=as_option("out")))
    return told


def _measure(timing: Timing, main: int, noise: MachineNoise) -> None:
    """Compute the runtime of a model, and the marks that follow from its own runs."""
    seconds = [row.seconds for row in timing.counting]
    failed = sum(row.outcome is not Outcome.DONE for row in timing.runs)
    timing.is_apart = main not in {row.session for row in timing.counting}
    timing.marks += [say("mark_failed", runs=failed)] if failed else []
    timing.marks += [say("mark_once")] if len(seconds) == 1 else []
    timing.marks += [say("mark_session")] if timing.is_apart else []
    median = round(statistics.median(seconds), 6)
    timing.runtime = Runtime(median, round(median * noise.error_of(seconds), 6))


def _is_undecided(one: Timing, other: Timing) -> bool:
    return fairness.is_undecided(one.runtime, other.runtime)


def _alike(timings: Sequence[Timing], least: float) -> list[tuple[Timing, Timing]]:
    """The pairs of a team's models that have the same predictions, and of which one takes so many times longer.

    The quick one could have found the slow one's results somewhere.
    """
    return [
        (one, other)
        for one, other in itertools.combinations(timings, 2)
        if one.model.team == other.model.team
        and one.predictions.fingerprint == other.predictions.fingerprint
        and max(share := one.runtime.seconds / other.runtime.seconds, 1 / share) > least
        and not _is_undecided(one, other)
    ]


def _apart(one: Timing, other: Timing) -> str:
    """Two models, and how far their runtimes are apart."""
    apart = other.runtime.seconds / one.runtime.seconds - 1
    return say("pair_apart", one=one.key, other=other.key, apart=apart)


def _in_a_mark(timing: Timing) -> str:
    """A model's name without semicolons, because these separate the marks."""
    return timing.key.replace(";", ",")


def write_results(results: Results, runtimes: Path, failed: Path) -> None:
    """Write ``runtimes.csv`` and ``failed.csv``."""
    write_cells(runtimes, RUNTIME_COLUMNS, [_cells(one, results.state) for one in results.timings])
    write_cells(failed, FAILED_COLUMNS, _rows_of_failures(results))


def frames_of(results: Results) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The same tables and that of all runs, for Python; the one of failures with what the models printed."""
    failed = pd.DataFrame(_rows_of_failures(results), columns=FAILED_COLUMNS)
    return (
        pd.DataFrame([_cells(one, results.state) for one in results.timings], columns=RUNTIME_COLUMNS),
        failed.assign(printed=[failure.printed for failure in results.failures]),
        pd.DataFrame([row[: len(journal.PUBLIC)] for row in results.rows], columns=journal.PUBLIC),
    )


def _rows_of_failures(results: Results) -> list[tuple[str, ...]]:
    """The rows of ``failed.csv``."""
    engines = {(row.team, row.model): row.engine for row in results.rows}
    return [(*one[:3], engines.get(one[:2], "")) for one in results.failures]


def _cells(timing: Timing, state: State) -> tuple[Any, ...]:
    """A row of ``runtimes.csv``."""
    model, predictions = timing.model, timing.predictions
    seconds = [row.seconds for row in timing.counting]
    cpu_seconds = statistics.median(row.cpu_seconds for row in timing.counting)
    return (
        model.team,
        Path(predictions.submission).name,
        timing.runtime.seconds,
        min(seconds),
        max(seconds),
        timing.runtime.error,
        len(seconds),
        "; ".join(timing.marks),
        state.is_provisional or timing.is_apart,
        say("mark_session") if timing.is_apart and not state.is_provisional else state.text,
        round(cpu_seconds, 6) if is_known(cpu_seconds) else None,
        " ".join(map(str, seconds)),
        predictions.engine,
    )
