"""From the journal to runtimes.csv and failed.csv, and to what is said about them."""

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
from podium.wording import counted, listed, spreadsheet_safe

__all__ = ["RUNTIME_COLUMNS", "Results", "Timing", "failure_of", "results_of", "write_results"]

TIME_LIMIT = "time limit"
NAMES_SHOWN = 10
TELLING = 0.02  # a machine that cannot tell so much apart is said to be noisy
SLOWDOWN_LIMIT = 1.2  # beyond it a model gets no reward for its speed, by the memo
RUNTIME_COLUMNS = (
    "team", "submission", "runtime", "runtime_low", "runtime_high", "runtime_error", "runs", "marks",
    "provisional", "state", "cpu_seconds", "reference_seconds", "seconds", "engine",
)  # fmt: skip


class Timing(NamedTuple):
    """The runtime of a model.

    Attributes
    ----------
    model : Model
    predictions : Row
        The run whose predictions count.
    counting : list of Row
        The runs whose times count.
    runtime : float
        Seconds, their median.
    error : float
        Its standard error, in seconds.
    marks : list of str
        What a reader of the runtime has to know.
    """

    model: Model
    predictions: Row
    counting: list[Row]
    runtime: float
    error: float
    marks: list[str]

    @property
    def seconds(self) -> list[float]:
        """Of the runs that count."""
        return [row.seconds for row in self.counting]

    @property
    def cpu_seconds(self) -> float:
        """Median processor time of the runs that count, NaN if unknown."""
        return statistics.median(row.cpu_seconds for row in self.counting)


class Results(NamedTuple):
    """All that the runs say.

    Attributes
    ----------
    timings : list of Timing
        Of the models with predictions.
    failures : list of Failure
    undecided : list of (Timing, Timing)
        Neighbors whose order is undecided, the nearest first.
    noise : Noise
    state : State
    notices : list of str
        What has to be said on the screen.
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
    """What the runs say.

    Parameters
    ----------
    models : list of Model
    rows : list of Row
        The journal.
    failures : iterable of Failure
        What is known to have failed without a run.
    differing_fails : bool
        Whether a model whose predictions differ from run to run has failed; if not, its slowest run counts.

    Returns
    -------
    Results
    """
    out, failed, chosen = fairness.left_out(rows), list(failures), []
    for model in models:
        runs = runs_of(model, rows)
        reason, predictions = failure_of(runs, out), predictions_of(runs)
        if differing_fails and differ(runs):
            reason = "predictions differ from run to run"
        if reason or predictions is None:
            failed.append(Failure(*model[:2], reason or runs[0].outcome))
        else:
            chosen.append((model, predictions, runs, *_counting(runs, predictions, out)))
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
    state = fairness.state_of(rows)
    notices = _notices(timings, pairs, contrary, rows, out, noise, state)
    return Results(timings, failed, pairs, noise, state, notices)


def failure_of(runs: Sequence[Row], out: set[Row]) -> str:
    """Why a model has failed, or "".

    Parameters
    ----------
    runs : list of Row
        Of one model.  Its first run decides, unless the machine was disturbed and time ran out.
    out : set of Row
        The runs that are left out as disturbed.
    """
    deciding = [row for row in runs if not (row in out and row.outcome.startswith(TIME_LIMIT))]
    return deciding[0].outcome.removeprefix(DONE) if deciding else ""


def _counting(runs: Sequence[Row], predictions: Row, out: set[Row]) -> tuple[list[Row], list[str]]:
    """The runs of a model whose times count, and the marks that say which do not."""
    done = [row for row in runs if row.outcome == DONE]
    marks = []
    if len(done) < len(runs):
        marks.append(f"{counted(len(runs) - len(done), 'run')} without predictions")
    if differ(done):
        return [predictions], [*marks, "predictions differ: the slowest run counts"]
    working = [row for row in done if not fairness.is_remembered(row, predictions)]
    if len(working) < len(done):
        marks.append(f"{_cached(len(done) - len(working))} not counted")
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
    """A model's name, which cannot look like the end of a mark."""
    return timing.model.key.replace(";", ",")


def _cached(number: int) -> str:
    """As in "cached run", "2 cached runs"."""
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
    """Neighbors near enough to the fastest for a reward whose order by processor time is clearly the other."""
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
    """What has to be said on the screen, the gravest first."""
    said = []
    if state.is_provisional:
        said.append(f"the runtimes are provisional ({state.text}): measure them again on a machine of its own")
    if out:
        marked = [f"{row.key} in round {row.round}" for row in rows if row in out]
        said.append(f"the machine was disturbed around these runs: {listed(marked, NAMES_SHOWN)}")
    if pairs:
        said.append(_of_undecided(pairs, noise))
    if contrary:
        named = [f"{one.model.key} and {other.model.key}" for one, other in contrary]
        said.append(f"by processor time these are in the other order: {listed(named, NAMES_SHOWN)}")
    for what, mark in {
        "runs used less than 80% of the processor time of the first, as if they remembered it, and do not "
        "count": "cached run",
        "predictions differ from run to run; the slowest run counts": "predictions differ",
        "not every run gave predictions": "without predictions",
        "measured once, which is no certainty": "measured once",
    }.items():
        if named := [one.model.key for one in timings if any(mark in each for each in one.marks)]:
            said.append(f"{what}: {listed(named, NAMES_SHOWN)}")
    return said


def _of_undecided(pairs: Sequence[tuple[Timing, Timing]], noise: Noise) -> str:
    """Which neighbors are undecided, and what would help."""
    named = [
        f"{one.model.key} and {other.model.key} ({other.runtime / one.runtime - 1:.1%} apart)"
        for one, other in pairs
    ]
    runs = min(min(len(one.counting), len(other.counting)) for one, other in pairs)
    told = fairness.cannot_tell(noise, runs)
    text = f"the order is undecided of {listed(named, NAMES_SHOWN)}"
    known = "varies by" if noise.is_measured else "is taken to vary by"
    text += f"; a run {known} {noise.one_run:.1%}, so {counted(runs, 'run')} each tell {told:.1%} apart"
    if told > TELLING:
        return f"{text}: a quieter machine helps most, then a higher --most-repeats"
    return f"{text}: a higher --most-repeats helps"


def write_results(results: Results, rows: Sequence[Row], runtimes: Path, failed: Path) -> list[dict[str, Any]]:
    """Write runtimes.csv and failed.csv.

    Parameters
    ----------
    results : Results
    rows : list of Row
        The journal.
    runtimes, failed : Path
        The files to write.

    Returns
    -------
    list of dict
        The rows of runtimes.csv.
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
        (
            (*map(spreadsheet_safe, one), engines.get(key_of(one.team, one.model), ""))
            for one in results.failures
        ),
    )
    return table


def _or_nothing(seconds: float) -> float | str:
    """A number of seconds, or "" if it is unknown."""
    return round(seconds, 6) if is_known(seconds) else ""
