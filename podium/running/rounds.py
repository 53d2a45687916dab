"""Every model as often as asked, in rounds; runs.csv is the journal of which all other files are made."""

import csv
import hashlib
import json
import os
import platform
import random
import signal
import statistics
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from podium.errors import UsageError
from podium.files import alone_in, write_atomically
from podium.progress import track
from podium.running import engines, hardware
from podium.running.engines import Settings
from podium.running.models import Failure, Model, digest_of, key_of
from podium.running.reference import (
    BEYOND,
    SLOWER,
    baseline,
    is_shared,
    is_slow,
    limit_of,
    reference_seconds,
    runs_needed,
)
from podium.running.supervisor import Measured
from podium.wording import listed

RUNS, RUNTIMES, FAILED, HARDWARE = "runs.csv", "runtimes.csv", "failed.csv", "hardware.json"
SUBMISSIONS, LOGS = "submissions", "logs"
DONE, TIME_LIMIT = "done", "time limit"
MOST_EXTRA_RUNS = 2  # of a model, because the machine was slow
LAST_LINES, LONGEST_REASON = 5, 600
RUNTIME_COLUMNS = ("team", "submission", "runtime", "runtime_low", "runtime_high", "runs", "engine")
NAMES_SHOWN = 10


class Row(NamedTuple):
    """One run in the journal; `outcome` is "done" or why there are no predictions."""

    round: int
    team: str
    model: str
    submission: str
    outcome: str
    seconds: float
    cpu_seconds: float
    others: float
    peak_memory: int
    exit_code: int
    reference_before: float
    reference_after: float
    sha256: str
    machine: str
    started_at: str
    engine: str
    digest: str

    @property
    def key(self) -> str:
        return key_of(self.team, self.model)


class Result(NamedTuple):
    row: Row
    log: str
    submission: bytes


Execute = Callable[[list[Model], int], Iterable[Result]]


def measure(
    models: list[Model],
    failures: list[Failure],
    settings: Settings,
    out: Path,
    repeats: int,
    seed: int,
    machine: dict[str, Any],
    execute: Execute,
) -> tuple[list[dict[str, Any]], list[Failure]]:
    """Write all results and return those of runtimes.csv and failed.csv; `execute` runs models in a round."""
    with alone_in(out):
        _note_hardware(out / HARDWARE, machine, settings, seed)
        rows = _forget_others(_read(out / RUNS), models, out)
        if rows:
            print(f"going on after {len(rows)} runs in {out / RUNS}", file=sys.stderr)
        while waiting := _waiting(models, rows, repeats):
            number = 1 + min(len(_of(model, rows)) for model in waiting)
            order = random.Random(f"{seed} {number}").sample(models, len(models))
            chosen = [one for one in order if one in waiting and len(_of(one, rows)) == number - 1]
            for result in track(execute(chosen, number), f"round {number}", len(chosen)):
                rows.append(_kept(result, rows, out))
                slow = _slow(rows)
                _write(out / RUNS, (*Row._fields, "slow"), ((*row, row in slow) for row in rows))
        return _write_results(models, failures, rows, repeats, out)


def prepare(engine: str, models: list[Model], settings: Settings) -> tuple[dict[str, Any], Settings]:
    """This machine, and the settings with its engines."""
    sandbox, container_engine = engines.choose(engine, models)
    settings = settings._replace(sandbox=sandbox, container_engine=container_engine)
    there = len(engines.cores_used(settings.cores))
    if there < settings.cores:
        raise UsageError(f"--cores {settings.cores}, and there are {there}")
    engines.probe(settings, models)
    return hardware.describe(), settings


def here(settings: Settings) -> Execute:
    reference: float | None = None

    def execute(models: list[Model], number: int) -> Iterator[Result]:
        nonlocal reference
        for model in models:
            result = run_once(model, settings, number, reference)
            reference = result.row.reference_after
            yield result

    return execute


def run_once(model: Model, settings: Settings, number: int, before: float | None = None) -> Result:
    cores = engines.cores_used(settings.cores)
    before = reference_seconds(cores) if before is None else before
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    measured, log, submission = engines.run(model, settings)
    name = measured["submission"]
    row = Row(
        round=number,
        team=model.team,
        model=model.name,
        submission=f"{model.key}{name.removeprefix('submission')}" if name else "",
        outcome=_outcome(measured, log, settings),
        seconds=round(measured["seconds"], 6),
        cpu_seconds=round(measured["cpu_seconds"], 6),
        others=round(measured["others"], 4),
        peak_memory=measured["peak_memory"],
        exit_code=measured["exit_code"],
        reference_before=round(before, 6),
        reference_after=round(reference_seconds(cores), 6),
        sha256=_hash(submission, name) if name else "",
        machine=platform.node(),
        started_at=started_at,
        engine=settings.container_engine if model.kind == "container" else settings.sandbox,
        digest=model.digest,
    )
    return Result(row, log, submission)


def not_run(model: Model, number: int, reason: str) -> Result:
    row = Row(number, *model[:2], "", reason, 0.0, 0.0, 0.0, 0, 0, 0.0, 0.0, "", "", "", "", model.digest)
    return Result(row, "", b"")


def _outcome(measured: Measured, log: str, settings: Settings) -> str:
    if measured["stopped"]:
        return {
            "time": f"{TIME_LIMIT} of {settings.time_limit:g} s",
            "memory": f"memory limit of {settings.memory_limit / 2**30:g} GB",
            "disk": f"disk limit of {settings.disk_limit / 2**30:g} GB",
            "machine": "the machine ran out of memory",
            "watch": "its processes could not be watched",
            "cores": f"it left the cores to which it was pinned ({settings.cores})",
        }[measured["stopped"]]
    code = measured["exit_code"]
    if code == 0:
        return measured["problem"] or DONE
    number = -code if code < 0 else code - 128
    by = f" ({signal.Signals(number).name})" if number in {*signal.Signals} else ""
    lines = [line.strip() for line in log.splitlines() if line.strip(" ^~")]  # Python underlines
    said = " | ".join(lines[-LAST_LINES:])[-LONGEST_REASON:]
    return f"exit code {code}{by}: {said}" if said else f"exit code {code}{by}"


def _hash(submission: bytes, name: str) -> str:
    if name.endswith(".gz"):  # without the time in its header
        submission = submission[:4] + bytes(4) + submission[8:]
    return hashlib.sha256(submission).hexdigest()


def _note_hardware(path: Path, machine: dict[str, Any], settings: Settings, seed: int) -> None:
    described: dict[str, Any] = {
        "hardware": machine,
        "settings": settings._asdict() | {"data": settings.data.name, "seed": seed},
        "data": digest_of(settings.data),
    }
    if path.exists():
        try:
            earlier = {name: json.loads(path.read_text(encoding="utf-8"))[name] for name in described}
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{path} is damaged; remove {path.parent} to begin anew") from None
        if differing := hardware.differences(earlier, described):
            raise UsageError(f"{path.parent} was measured in another way: {differing}")
        return
    described["load"] = os.getloadavg() if hasattr(os, "getloadavg") else None
    content = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
    write_atomically(path, lambda part: part.write_text(content, encoding="utf-8"))


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8", errors="surrogateescape") as file:
        try:
            header, *lines = csv.reader(file)
            places = {name: header.index(name) for name in Row._fields}
            return [
                Row(*(kind(line[places[name]]) for name, kind in Row.__annotations__.items())) for line in lines
            ]
        except (IndexError, ValueError, csv.Error):
            raise UsageError(f"{path} is damaged; remove it to begin anew") from None


def _write(path: Path, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    def fill(part: Path) -> None:
        with part.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(rows)

    write_atomically(path, fill)


def _forget_others(rows: list[Row], models: list[Model], out: Path) -> list[Row]:
    """The runs of models that are still the same; submissions of others are removed."""
    current = {model.key: model.digest for model in models}
    kept = []
    for row in rows:
        if current.get(row.key) != row.digest:
            if row.submission:
                (out / SUBMISSIONS / row.submission).unlink(missing_ok=True)
        elif not row.outcome.startswith(engines.NO_IMAGE):  # perhaps the registry's fault
            kept.append(row)
    return kept


def _kept(result: Result, rows: list[Row], out: Path) -> Row:
    """Save a run's log and its model's first submission."""
    row = result.row
    head = f"[{row.started_at}, round {row.round}, engine {row.engine}]\n"
    write_atomically(
        out / LOGS / f"{row.key}.{row.round}.txt",
        lambda part: part.write_text(head + result.log, encoding="utf-8", errors="replace"),
    )
    if row.outcome == DONE and not any(one.outcome == DONE for one in rows if one.key == row.key):
        write_atomically(out / SUBMISSIONS / row.submission, lambda part: part.write_bytes(result.submission))
    return row


def _of(model: Model, rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.key == model.key]


def _slow(rows: list[Row]) -> set[Row]:
    """The runs around which the machine was slow, or in which it was shared."""
    limit, slow = _limit(rows), set()
    for machine in {row.machine for row in rows}:
        runs = [row for row in rows if row.machine == machine]
        usual = baseline(seconds for row in runs for seconds in (row.reference_before, row.reference_after))
        usual_others = baseline(row.others for row in runs)
        for row in runs:
            around = is_slow(row.reference_before, row.reference_after, usual, limit)
            if around or is_shared(row.seconds, row.others, usual_others, limit):
                slow.add(row)
    return slow


def _limit(rows: list[Row]) -> float:
    """One for all machines, which are identical; a row without one was not run."""
    return limit_of([(row.reference_before, row.reference_after) for row in rows if row.machine])


def _waiting(models: list[Model], rows: list[Row], repeats: int) -> list[Model]:
    """The models to be run again, also because of a slow machine."""
    slow = _slow(rows)
    most = repeats + MOST_EXTRA_RUNS if repeats > 1 else 1  # whoever asks for one run gets one

    def is_waiting(runs: list[Row]) -> bool:
        sound = sum(row not in slow for row in runs)
        return sound < repeats and len(runs) < most and not _failure(runs, slow)

    return [model for model in models if is_waiting(_of(model, rows))]


def _failure(runs: list[Row], slow: set[Row]) -> str:
    """Why a model has failed, or "": its first run decides, unless a slow machine took its time."""
    counted = [row for row in runs if not (row in slow and row.outcome.startswith(TIME_LIMIT))]
    return counted[0].outcome.removeprefix(DONE) if counted else ""


def _write_results(
    models: list[Model], failures: list[Failure], rows: list[Row], repeats: int, out: Path
) -> tuple[list[dict[str, Any]], list[Failure]]:
    slow, failed = _slow(rows), list(failures)
    runtimes: list[dict[str, Any]] = []
    unequal, incomplete, disturbed, measured = [], [], [], []
    for model in models:
        runs = _of(model, rows)
        done = [row for row in runs if row.outcome == DONE]
        if not done or _failure(runs, slow):
            failed.append(Failure(*model[:2], _failure(runs, slow) or runs[0].outcome))
            continue
        seconds = [row.seconds for row in done if row not in slow] or [row.seconds for row in done]
        measured.append(seconds)
        middle, every = round(statistics.median(seconds), 6), " ".join(map(str, seconds))
        name, engine = Path(done[0].submission).name, done[0].engine
        cells = (model.team, name, middle, min(seconds), max(seconds), every, engine)
        runtimes.append(dict(zip(RUNTIME_COLUMNS, cells)))
        if len({row.sha256 for row in done}) > 1:
            unequal.append(model.key)
        if len(done) < len(runs):
            incomplete.append(model.key)
        if sum(row not in slow for row in runs) < repeats:
            disturbed.append(model.key)
    _write(out / RUNTIMES, RUNTIME_COLUMNS, (row.values() for row in runtimes))
    used_engines = {row.key: row.engine for row in rows}
    failed_rows = ((*one, used_engines.get(key_of(one.team, one.model), "")) for one in failed)
    _write(out / FAILED, (*Failure._fields, "engine"), failed_rows)

    limit, needed, taken = _limit(rows), runs_needed(measured), baseline(row.others for row in rows)
    said = []
    if limit > SLOWER:
        own = (
            f"the machine's speed changes by {limit ** (1 / BEYOND) - 1:.0%} from run to run by itself; "
            f"marked are only runs around which it was more than {limit - 1:.0%} slower than usual"
        )
        if needed > repeats:
            own += (
                f". To tell models apart that differ by 2% takes about {needed:,} runs each, or another machine"
            )
        said.append(own)
    if taken > SLOWER - 1:
        said.append(f"the machine is shared: others take {taken:.0%} of the cores' time all along")
    marked = [f"{row.key} in round {row.round}" for row in rows if row in slow]
    too_few = f"fewer than {repeats} runs" if repeats > 1 else "not run"
    for what, names in {
        f"the machine was more than {limit - 1:.0%} slower than usual, or shared, around these runs": marked,
        f"{too_few} at the machine's usual speed": disturbed,
        "predictions differ from run to run; the first count": unequal,
        "not every run gave predictions": incomplete,
    }.items():
        if names:
            said.append(f"{what}: {listed(names, NAMES_SHOWN)}")
    for one in said:
        warnings.warn(one, stacklevel=2)
    return runtimes, failed
