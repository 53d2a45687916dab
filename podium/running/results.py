"""Make ``runtimes.csv``, ``failed.csv`` and the notices on the screen from the journal."""

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from podium.running import fairness
from podium.running.fairness import Noise, State
from podium.running.journal import DONE, Row, differ, is_known, predictions_of, runs_of, write_table
from podium.running.models import Failure, Model, key_of
from podium.wording import counted, listed

__all__ = ["RUNTIME_COLUMNS", "Results", "Timing", "failure_of", "results_of", "write_results"]

TIME_LIMIT = "time limit"
NAMES_SHOWN = 10  # in a notice
TELLING = 0.02  # the advice is a quieter machine if larger differences than this remain undecided
SLOWDOWN_LIMIT = 1.2  # the memo rewards no model that takes this many times the fastest one's runtime
RUNTIME_COLUMNS = (
    "team", "submission", "runtime", "runtime_low", "runtime_high", "runtime_error", "runs", "marks",
    "provisional", "state", "cpu_seconds", "reference_seconds", "seconds", "engine",
)  # fmt: skip


class Timing(NamedTuple):
    """The runtime of a model.

    Attributes
    ----------
    model : Model
        The model.
    predictions : Row
        The run whose predictions count.
    counting : list of Row
        The runs whose times count.
    runtime : float
        The median of these times, in seconds.
    error : float
        The standard error of the runtime, in seconds.
    marks : list of str
        What a reader of the runtime has to know, such as "measured once".
    """

    model: Model
    predictions: Row
    counting: list[Row]
    runtime: float
    error: float
    marks: list[str]

    @property
    def seconds(self) -> list[float]:
        """The times of the runs that count, in seconds."""
        return [row.seconds for row in self.counting]

    @property
    def cpu_seconds(self) -> float:
        """The median processor time of the runs that count, in seconds; NaN if unknown."""
        return statistics.median(row.cpu_seconds for row in self.counting)


class Results(NamedTuple):
    """Everything that follows from the runs.

    Attributes
    ----------
    timings : list of Timing
        The runtimes of the models with predictions.
    failures : list of Failure
        The models without predictions.
    undecided : list of (Timing, Timing)
        The neighbors whose order is undecided; the pairs with the smallest difference come first.
    noise : Noise
        How much equal runs vary.
    state : State
        How quiet the machine was.
    notices : list of str
        The warnings for the organizer.
    """

    timings: list[Timing]
    failures: list[Failure]
    undecided: list[tuple[Timing, Timing]]
    noise: Noise
    state: State
    notices: list[str]


def results_of(
    models: Sequence[Model],
    rows: Sequence[Row],
    failures: Iterable[Failure] = (),
    differing_fails: bool = False,
) -> Results:
    """Judge the runs.

    Parameters
    ----------
    models : list of Model
        The models that were run.
    rows : list of Row
        The journal: all runs until now.
    failures : iterable of Failure
        The models and folders that are known to have failed without a run.
    differing_fails : bool
        Whether a model fails if its predictions differ from run to run.  Otherwise its slowest run counts.

    Returns
    -------
    Results
        Runtimes, failures, undecided neighbors and notices.
    """
    out, failed, chosen = fairness.left_out(rows), list(failures), []
    state = fairness.state_of(rows)
    busy = set(rows) if state.is_provisional else fairness.disturbed_runs(rows)
    for model in models:
        runs = runs_of(model, rows)
        reason, predictions = failure_of(runs, out), predictions_of(runs)
        if differing_fails and differ(runs):
            reason = "predictions differ from run to run"
        if reason or predictions is None:
            failed.append(Failure(*model[:2], reason or runs[0].outcome))
        else:
            chosen.append((model, predictions, runs, *_counting(runs, predictions, out, busy)))
    references = [(row.reference_before, row.reference_after) for row in rows]
    noise = fairness.noise_of([[row.seconds for row in counting] for *_, counting, _ in chosen], references)
    timings = [
        _timing(model, predictions, runs, counting, marks, noise)
        for model, predictions, runs, counting, marks in chosen
    ]
    pairs = [
        (timings[faster], timings[slower])
        for faster, slower in fairness.undecided(
            [one.runtime for one in timings], [one.error / one.runtime for one in timings]
        )
    ]
    contrary = _contrary(timings)
    for which, mark in ((pairs, "order undecided"), (contrary, "other order by processor time")):
        for one, other in which:
            one.marks.append(f"{mark}: {_in_a_mark(other)}")
            other.marks.append(f"{mark}: {_in_a_mark(one)}")
    notices = _notices(timings, pairs, contrary, rows, out, noise, state)
    return Results(timings, failed, pairs, noise, state, notices)


def failure_of(runs: Sequence[Row], out: set[Row]) -> str:
    """Say why a model has failed.

    Its first run decides.  There is one exception: a run that reached the time limit while the machine was
    disturbed is not held against the model.

    Parameters
    ----------
    runs : list of Row
        The runs of one model.
    out : set of Row
        The runs that are left out because the machine was disturbed.

    Returns
    -------
    str
        The reason, or "" if the model has not failed.
    """
    deciding = [row for row in runs if not (row in out and row.outcome.startswith(TIME_LIMIT))]
    return deciding[0].outcome.removeprefix(DONE) if deciding else ""


def _counting(
    runs: Sequence[Row], predictions: Row, out: set[Row], busy: set[Row]
) -> tuple[list[Row], list[str]]:
    """The runs of a model whose times count, and the marks that say why others do not.

    `out` are the runs that are left out, and `busy` all runs around which the machine was busy.
    """
    done = [row for row in runs if row.outcome == DONE]
    marks = []
    if len(done) < len(runs):
        marks.append(f"{counted(len(runs) - len(done), 'run')} without predictions")
    if differ(done):
        return [predictions], [*marks, "predictions differ: the slowest run counts"]
    working = [row for row in done if not fairness.is_remembered(row, predictions, predictions in busy)]
    if len(working) < len(done):
        marks.append(f"{_cached(len(done) - len(working))} not counted")
    if less := sum(fairness.is_remembered(row, predictions) for row in working):
        marks.append(f"{counted(less, 'run')} with less processor time")
    sound = [row for row in working if row not in out] or working
    if len(sound) < len(working):
        marks.append(f"{counted(len(working) - len(sound), 'disturbed run')} not counted")
    elif any(row in out for row in sound):
        marks.append("all runs were disturbed")
    if len(sound) == 1:
        marks.append("measured once")
    if len(done) > 1 and not is_known(predictions.cpu_seconds):
        marks.append("processor time unknown")
    return sound, marks


def _in_a_mark(timing: Timing) -> str:
    """A model's name without semicolons, because these separate the marks."""
    return timing.model.key.replace(";", ",")


def _cached(number: int) -> str:
    """The words "cached run" for one run, "2 cached runs" for two."""
    return "cached run" if number == 1 else counted(number, "cached run")


def _timing(
    model: Model, predictions: Row, runs: Sequence[Row], counting: list[Row], marks: list[str], noise: Noise
) -> Timing:
    """The runtime of a model whose counting runs are known."""
    seconds = [row.seconds for row in counting]
    runtime = round(statistics.median(seconds), 6)
    error = round(runtime * noise.error_of(seconds), 6)
    return Timing(model, predictions, counting, runtime, error, marks)


def _contrary(timings: Sequence[Timing]) -> list[tuple[Timing, Timing]]:
    """The neighbors whose order by processor time is clearly the opposite of their order by runtime.

    Only models that are fast enough for a reward are compared.
    """
    order = sorted(
        (one for one in timings if is_known(one.cpu_seconds) and one.cpu_seconds > 0),
        key=lambda one: one.runtime,
    )
    cpu = {id(one): [row.cpu_seconds for row in one.counting if row.cpu_seconds > 0] for one in order}
    noise = fairness.noise_of(cpu.values())
    pairs = []
    for one, other in itertools.pairwise(order):
        more = math.log(one.cpu_seconds / other.cpu_seconds)
        error = math.hypot(noise.error_of(cpu[id(one)]), noise.error_of(cpu[id(other)]))
        if one.runtime < SLOWDOWN_LIMIT * order[0].runtime and more > fairness.DECIDED * error:
            pairs.append((one, other))
    return pairs


def _notices(
    timings: Sequence[Timing],
    pairs: Sequence[tuple[Timing, Timing]],
    contrary: Sequence[tuple[Timing, Timing]],
    rows: Sequence[Row],
    out: set[Row],
    noise: Noise,
    state: State,
) -> list[str]:
    """The warnings for the organizer, the most serious first."""
    said = []
    if state.is_provisional:
        said.append(
            f"the runtimes are provisional ({state.text}): "
            "measure them again on a machine that nobody else uses"
        )
    if out:
        marked = [f"{row.key} in round {row.round}" for row in rows if row in out]
        said.append(f"the machine was disturbed around these runs: {listed(marked, NAMES_SHOWN)}")
    if pairs:
        said.append(_of_undecided(pairs, noise))
    if contrary:
        named = [f"{one.model.key} and {other.model.key}" for one, other in contrary]
        said.append(f"by processor time these neighbors have the opposite order: {listed(named, NAMES_SHOWN)}")
    for what, mark in {
        "some runs used less than 80% of the first run's processor time, as if the model had remembered its "
        "results, and do not count": "cached run",
        "some runs used less than 80% of the first run's processor time. The machine was busy around that run, "
        "which may be the reason, so they count": "with less processor time",
        "the predictions differ from run to run, so the slowest run counts": "predictions differ",
        "some runs gave no predictions": "without predictions",
        "measured once, so the runtime is uncertain": "measured once",
    }.items():
        if named := [one.model.key for one in timings if any(mark in each for each in one.marks)]:
            said.append(f"{what}: {listed(named, NAMES_SHOWN)}")
    return said


def _of_undecided(pairs: Sequence[tuple[Timing, Timing]], noise: Noise) -> str:
    """The warning that names undecided neighbors and says what would help."""
    named = [
        f"{one.model.key} and {other.model.key} ({other.runtime / one.runtime - 1:.1%} apart)"
        for one, other in pairs
    ]
    runs = min(min(len(one.counting), len(other.counting)) for one, other in pairs)
    told = fairness.cannot_tell(noise, runs)
    known = "varies by" if noise.is_measured else "is assumed to vary by"
    cure = "A quieter machine helps most, then a higher --most-repeats"
    return (
        f"the measurements do not decide the order of {listed(named, NAMES_SHOWN)}. One run {known} "
        f"{noise.one_run:.1%}, so with {counted(runs, 'run')} of each model differences below {told:.1%} stay "
        f"undecided. {cure if told > TELLING else 'A higher --most-repeats helps'}"
    )


def write_results(results: Results, rows: Sequence[Row], runtimes: Path, failed: Path) -> list[dict[str, Any]]:
    """Write ``runtimes.csv`` and ``failed.csv``.

    Parameters
    ----------
    results : Results
        What `results_of` returned.
    rows : list of Row
        The journal: all runs.
    runtimes : Path
        The file for the runtimes.
    failed : Path
        The file for the models without predictions.

    Returns
    -------
    list of dict
        The rows of ``runtimes.csv``, with `RUNTIME_COLUMNS` as keys.
    """
    table = []
    for one in results.timings:
        seconds = one.seconds
        cells = (
            one.model.team,
            Path(one.predictions.submission).name,
            one.runtime,
            min(seconds),
            max(seconds),
            one.error,
            len(seconds),
            "; ".join(one.marks),
            results.state.is_provisional,
            results.state.text,
            _or_nothing(one.cpu_seconds),
            round(
                statistics.median([(row.reference_before + row.reference_after) / 2 for row in one.counting]), 6
            ),
            " ".join(map(str, seconds)),
            one.predictions.engine,
        )
        table.append(dict(zip(RUNTIME_COLUMNS, cells)))
    write_table(runtimes, RUNTIME_COLUMNS, (row.values() for row in table))
    engines = {row.key: row.engine for row in rows}
    write_table(
        failed,
        (*Failure._fields, "engine"),
        ((*one, engines.get(key_of(one.team, one.model), "")) for one in results.failures),
    )
    return table


def _or_nothing(seconds: float) -> float | str:
    """A number of seconds rounded to microseconds, or "" if it is unknown."""
    return round(seconds, 6) if is_known(seconds) else ""
