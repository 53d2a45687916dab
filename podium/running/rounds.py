"""Run every model as often as asked for, and write the results.

The models run in rounds: each model once, in an order drawn by lot, then each once more.  After that, neighbors
whose order is undecided run again in pairs, one directly after the other.
"""

import contextlib
import hashlib
import json
import os
import platform
import random
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from podium.errors import UsageError
from podium.files import alone_in, write_atomically
from podium.progress import track
from podium.running import containers, engines, fairness, hardware, results
from podium.running.journal import DONE, Row, differ, predictions_of, read_journal, runs_of, write_table
from podium.running.models import Failure, Model, digest_of
from podium.running.reference import reference_seconds
from podium.running.results import TIME_LIMIT, Results, failure_of, results_of
from podium.running.settings import CLOSED, CLOSED_TO_USER, FILES, Settings, cores_used
from podium.running.supervisor import Measured
from podium.wording import printable

__all__ = [
    "Execute",
    "Plan",
    "Result",
    "Turn",
    "here",
    "next_turns",
    "not_run",
    "prepare",
    "run_all",
    "run_turn",
]

RUNS, RUNTIMES, FAILED, HARDWARE = "runs.csv", "runtimes.csv", "failed.csv", "hardware.json"
SUBMISSIONS, LOGS = "submissions", "logs"
ONE_MODEL, ONE_MODEL_LOG = "submission", "run"  # the names of the files of a team that has a single model

# So many lines and characters at the end of a log are quoted as the reason of a failure.
LAST_LINES, LONGEST_REASON = 5, 600

# The reason begins with these words if a run was stopped because the whole machine had no memory left.
MACHINE_FULL = "the machine ran out of memory"

# Models that run on one machine, one directly after the other; each with the number of its run.
Turn = list[tuple[Model, int]]


class Result(NamedTuple):
    """The result of a run: a row of the journal, and what is written beside it.

    Attributes
    ----------
    row : Row
        The row of the journal.
    log : str
        What the model printed.
    submission : bytes
        The content of the submission's file, empty if there is none.
    """

    row: Row
    log: str
    submission: bytes


Execute = Callable[[list[Turn]], Iterable[Result]]  # runs turns and yields a result for each run as it ends


class Plan(NamedTuple):
    """How often the models run.

    Attributes
    ----------
    repeats : int
        The number of undisturbed runs that each model should have.
    most_repeats : int
        The largest number of runs of a model.  Further runs are made if some were disturbed, or if the order of
        the model and its neighbor is undecided.
    seed : int
        The seed for the order of the models in each round.
    differing_fails : bool
        Whether a model fails if its predictions differ from run to run.  Otherwise its slowest run counts.
    """

    repeats: int = 3
    most_repeats: int = 5
    seed: int = 0
    differing_fails: bool = False


def run_all(
    models: list[Model],
    failures: list[Failure],
    settings: Settings,
    out: Path,
    plan: Plan,
    machine: dict[str, Any],
    execute: Execute,
) -> tuple[list[dict[str, Any]], Results]:
    """Run the models as planned and write all results.

    Parameters
    ----------
    models : list of Model
        The models to run.
    failures : list of Failure
        The models and folders that have failed without a run.
    settings : Settings
        How every model is run.
    out : Path
        The folder of the results.  Runs that it already has are not made again.
    plan : Plan
        How often the models run.
    machine : dict
        The description of the machine; see `podium.running.hardware.describe`.
    execute : function
        Runs turns, one at a time on each machine, and yields the results as they come.

    Returns
    -------
    table : list of dict
        The rows of ``runtimes.csv``.
    said : Results
        What these rows were made from.

    Raises
    ------
    UsageError
        If the machine fails, or if the runs in the folder were made on another machine or with other settings.

    Warns
    -----
    UserWarning
        For each notice of the results.
    """
    with alone_in(out):
        _note_hardware(out / HARDWARE, machine, settings, plan.seed)
        rows = _still_valid(read_journal(out / RUNS), models, out, plan)
        if rows:
            print(f"going on after {len(rows)} runs in {out / RUNS}", file=sys.stderr)
        while planned := next_turns(models, rows, plan):
            title, turns = planned
            for result in track(execute(turns), title, sum(map(len, turns))):
                rows.append(_kept(result, rows, out))
                disturbed = fairness.disturbed_runs(rows)
                write_table(out / RUNS, (*Row._fields, "slow"), ((*row, str(row in disturbed)) for row in rows))
        said = results_of(models, rows, failures, plan.differing_fails)
        if plan.differing_fails:
            _remove_submissions([row for model in models for row in _differing(model, rows)], out)
        table = results.write_results(said, rows, out / RUNTIMES, out / FAILED)
    for notice in said.notices:
        warnings.warn(notice, stacklevel=2)
    return table, said


def prepare(engine: str, models: list[Model], settings: Settings) -> tuple[dict[str, Any], Settings]:
    """Choose and try this machine's sandbox before any model runs, and describe the machine.

    Parameters
    ----------
    engine : str
        What isolates the models: "auto", "bubblewrap", "docker", "podman" or "none".
    models : list of Model
        The models that will run.
    settings : Settings
        How every model is run.

    Returns
    -------
    machine : dict
        The description of this machine; see `podium.running.hardware.describe`.
    settings : Settings
        The settings, completed with the engines that were chosen.

    Raises
    ------
    UsageError
        If this machine cannot run the models.
    """
    settings = engines.choose(engine, models, settings)
    there = len(cores_used(settings.cores))
    if there < settings.cores:
        raise UsageError(f"--cores: expected at most {there}, as this machine has, found {settings.cores}")
    engines.probe(settings, models)
    return hardware.describe(), settings


def here(settings: Settings) -> Execute:
    """Make the function that runs turns on this machine.

    It runs one model after the other, and the reference workload between them.

    Parameters
    ----------
    settings : Settings
        The settings that `prepare` returned.

    Returns
    -------
    function
        It takes a list of turns and yields a `Result` for each run.
    """
    reference: float | None = None

    def execute(turns: list[Turn]) -> Iterator[Result]:
        nonlocal reference
        for turn in turns:
            for result in run_turn(turn, settings, reference):
                reference = result.row.reference_after
                yield result

    return execute


def run_turn(turn: Turn, settings: Settings, before: float | None = None) -> Iterator[Result]:
    """Run the models of a turn, one directly after the other.

    Parameters
    ----------
    turn : list of (Model, int)
        The models, each with the number of its run.
    settings : Settings
        How every model is run.
    before : float, optional
        The seconds that the reference workload took just before.  If they are not given, it runs first.

    Yields
    ------
    Result
        The result of each run.
    """
    for model, number in turn:
        others = [other.key for other, _ in turn if other.key != model.key]
        result = _run_once(model, settings, number, before, "; ".join(others))
        before = result.row.reference_after
        yield result


def _run_once(
    model: Model, settings: Settings, number: int, before: float | None = None, paired_with: str = ""
) -> Result:
    """Run a model once, with the reference workload after it and, if it has not just run, before it."""
    cores = cores_used(settings.cores)
    before = reference_seconds(cores) if before is None else before
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    measured, others, log, submission = engines.run(model, settings)
    name = measured["submission"]
    row = Row(
        round=number,
        team=model.team,
        model=model.name,
        submission=_path_of(model, name.removeprefix("submission")) if name else "",
        outcome=_outcome(measured, log, settings),
        seconds=round(measured["seconds"], 6),
        cpu_seconds=round(measured["cpu_seconds"], 6),
        others=round(others, 4),
        peak_memory=measured["peak_memory"],
        exit_code=measured["exit_code"],
        reference_before=round(before, 6),
        reference_after=round(reference_seconds(cores), 6),
        sha256=_hash(submission, name) if name else "",
        machine=platform.node(),
        started_at=started_at,
        engine=settings.container_engine if model.kind == "container" else settings.sandbox,
        digest=model.digest,
        paired_with=paired_with,
    )
    return Result(row, log, submission)


def not_run(model: Model, number: int, reason: str) -> Result:
    """Make the result of a run that did not take place.

    Parameters
    ----------
    model : Model
        The model.
    number : int
        The number that the run would have had.
    reason : str
        The reason that ``failed.csv`` will give.

    Returns
    -------
    Result
        A result without times, log and submission.
    """
    row = Row(number, *model[:2], "", reason, 0.0, 0.0, 0.0, 0, 0, 0.0, 0.0, "", "", "", "", model.digest)
    return Result(row, "", b"")


def _path_of(model: Model, suffix: str) -> str:
    """The path of a submission below ``submissions/``: each team has a folder, so that no names collide."""
    return f"{model.team}/{model.name or ONE_MODEL}{suffix}"


def _outcome(measured: Measured, log: str, settings: Settings) -> str:
    """The outcome of a run: the word "done", or why there are no predictions."""
    if measured["stopped"]:
        return {
            "time": f"{TIME_LIMIT} of {settings.time_limit:g} s",
            "memory": f"memory limit of {settings.memory_limit / 2**30:g} GB",
            "disk": f"disk limit of {settings.disk_limit / 2**30:g} GB",
            "files": f"more than {FILES:,} files",
            "machine": f"{MACHINE_FULL} before the model reached its limit of "
            f"{settings.memory_limit / 2**30:g} GB (--memory-limit)",
            "watch": "its processes could not be watched",
            "cores": f"it left the cores to which it was pinned ({settings.cores})",
        }[measured["stopped"]]
    code = measured["exit_code"]
    if code == 0:
        return measured["problem"] or DONE
    number = -code if code < 0 else code - 128
    by = f" ({signal.Signals(number).name})" if number in {*signal.Signals} else ""
    # Lines of nothing but ^ and ~ underline code in Python's tracebacks.
    lines = [line.strip() for line in log.splitlines() if line.strip(" ^~")]
    said = " | ".join(lines[-LAST_LINES:])[-LONGEST_REASON:]
    return f"exit code {code}{by}: {said}" if said else f"exit code {code}{by}"


def _hash(submission: bytes, name: str) -> str:
    """The SHA-256 of a submission."""
    if name.endswith(".gz"):  # leave out bytes 4 to 7, when the file was packed (RFC 1952)
        submission = submission[:4] + bytes(4) + submission[8:]
    return hashlib.sha256(submission).hexdigest()


def _note_hardware(path: Path, machine: dict[str, Any], settings: Settings, seed: int) -> None:
    """Write ``hardware.json``; if it exists, check that machine, settings and data are still the same."""
    described: dict[str, Any] = {
        "hardware": machine,
        "settings": settings._asdict() | {"data": printable(settings.data.name), "seed": seed},
        "data": digest_of(settings.data),
    }
    if path.exists():
        try:
            earlier = {name: json.loads(path.read_text(encoding="utf-8"))[name] for name in described}
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{path} is damaged; remove {path.parent} to begin anew") from None
        if differing := hardware.differences(earlier, described):
            raise UsageError(
                f"the runs in {path.parent} were made in another way: {differing}. "
                "Give another --out to begin anew"
            )
        return
    described["load"] = os.getloadavg() if hasattr(os, "getloadavg") else None
    content = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
    write_atomically(path, lambda part: part.write_text(content, encoding="utf-8"))


def _still_valid(rows: list[Row], models: list[Model], out: Path, plan: Plan) -> list[Row]:
    """The earlier runs that still count: their model has not changed, and its predictions are still there.

    A run also has to be made again if it failed for a reason that may not be the model's own.  That is so if
    an image could not be pulled, files were closed, the machine's memory was full, or no machine ended the run.
    """
    of_the_machine = (containers.NO_IMAGE, CLOSED, CLOSED_TO_USER, MACHINE_FULL)
    current = {model.key: model.digest for model in models}
    kept = [
        row
        for row in rows
        if current.get(row.key) == row.digest and row.machine and not row.outcome.startswith(of_the_machine)
    ]
    for key in {row.key for row in rows}:
        runs = [row for row in kept if row.key == key]
        predictions = predictions_of(runs)
        if plan.differing_fails and differ(runs):
            continue  # the model has failed, so there is no submission to look for
        if predictions is None or not _is_there(out / SUBMISSIONS / predictions.submission, predictions.sha256):
            _remove_submissions([row for row in rows if row.key == key], out)
            kept = [row for row in kept if row.key != key or predictions is None]
    return kept


def _remove_submissions(rows: Iterable[Row], out: Path) -> None:
    """Remove the submissions that these runs left, and then the teams' folders that are empty."""
    for row in rows:
        if row.submission:
            path = out / SUBMISSIONS / row.submission
            path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # another submission of the team is in it, or it is gone
                path.parent.rmdir()


def _is_there(path: Path, sha256: str) -> bool:
    """Whether the file of a submission exists and is the one that a run left."""
    return path.is_file() and _hash(path.read_bytes(), path.name) == sha256


def _kept(result: Result, rows: list[Row], out: Path) -> Row:
    """Save a run's log, and its submission if its predictions count; return the row."""
    row = result.row
    head = f"[{row.started_at}, round {row.round}, engine {row.engine}]\n"
    write_atomically(
        out / LOGS / row.team / f"{row.model or ONE_MODEL_LOG}.{row.round}.txt",
        lambda part: part.write_text(head + result.log, encoding="utf-8", errors="replace"),
    )
    if row.outcome == DONE:
        earlier = [one for one in rows if one.key == row.key]
        before, now = predictions_of(earlier), predictions_of([*earlier, row])
        if now is row:
            write_atomically(
                out / SUBMISSIONS / row.submission, lambda part: part.write_bytes(result.submission)
            )
            if before is not None and before.submission != row.submission:
                (out / SUBMISSIONS / before.submission).unlink(missing_ok=True)
    return row


def _differing(model: Model, rows: list[Row]) -> list[Row]:
    """The runs of a model if its predictions differ from run to run, or else nothing."""
    runs = runs_of(model, rows)
    return runs if differ(runs) else []


def next_turns(models: list[Model], rows: list[Row], plan: Plan) -> tuple[str, list[Turn]] | None:
    """Decide what to run next.

    Parameters
    ----------
    models : list of Model
        All models.
    rows : list of Row
        The runs until now.
    plan : Plan
        How often the models run.

    Returns
    -------
    (str, list of Turn) or None
        A title and what to run.  This is a round of the models that lack runs.  If no model lacks runs, it is
        the pairs of undecided neighbors.  None if there is nothing left to run.
    """
    if waiting := _waiting(models, rows, plan):
        number = 1 + min(len(runs_of(model, rows)) for model in waiting)
        order = random.Random(f"{plan.seed} {number}").sample(models, len(models))
        turns: list[Turn] = [
            [(model, number)] for model in order if model in waiting and len(runs_of(model, rows)) == number - 1
        ]
        return f"round {number}", turns
    if pairs := _pairs(models, rows, plan):
        return "undecided pairs", pairs
    return None


def _waiting(models: list[Model], rows: list[Row], plan: Plan) -> list[Model]:
    """The models that have too few runs, not counting the disturbed ones, and may run again."""
    out = fairness.left_out(rows)

    def is_waiting(runs: Sequence[Row]) -> bool:
        sound = sum(row not in out for row in runs)
        return sound < plan.repeats and len(runs) < plan.most_repeats and not failure_of(runs, out)

    return [model for model in models if is_waiting(runs_of(model, rows))]


def _pairs(models: list[Model], rows: list[Row], plan: Plan) -> list[Turn]:
    """The pairs of undecided neighbors in which both models may run again.

    Each model is in one pair at most.  The two models take turns in going first.
    """
    taken: set[str] = set()
    turns = []
    for one, other in results_of(models, rows, (), plan.differing_fails).undecided:
        pair = [one.model, other.model]
        numbers = [1 + len(runs_of(model, rows)) for model in pair]
        if max(numbers) <= plan.most_repeats and not taken & {model.key for model in pair}:
            taken |= {model.key for model in pair}
            turn = list(zip(pair, numbers))
            turns.append(turn if sum(numbers) % 4 < 2 else turn[::-1])
    return turns
