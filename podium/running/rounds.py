"""Run every model as often as asked for, and write the results.

Each model runs once without being measured, so that libraries and files are in memory for all alike. Then the
models run in rounds: each model once, in an order drawn by lot, then each once more.
"""

import contextlib
import hashlib
import json
import platform
import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from podium.common.errors import UsageError
from podium.common.options import as_option
from podium.common.progress import tell
from podium.common.statements import say
from podium.common.wording import printable
from podium.running import hardware, journal, machine, results
from podium.running.journal import WARM_UP, Row, by_model, predictions_of, submission_of
from podium.running.measuring import Log, Outcome, Run
from podium.running.models import Failure, Kind, Model, digest_of, with_digest, with_printed
from podium.running.results import Results, failure_of, results_of
from podium.running.settings import FAILED, FOLDER_OF_SUBMISSIONS, HARDWARE, RUNS, RUNTIMES, Settings
from podium.running.submission import table_in
from podium.tables.files import alone_in, below, write_atomically
from podium.tables.sameness import fingerprint, is_same

LOGS = "logs"
ONE_MODEL_LOG = "run"  # the name of the log of a team that has a single model

Turn = tuple[Model, int]  # a model with the number of its run


class Plan(NamedTuple):
    """How often the models run."""

    repeats: int = 3
    seed: int = 0  # for the order of the models in each round
    warm_up: bool = True  # whether a run that is not measured comes first


Execute = Callable[[list[Turn]], Iterable[Row]]  # runs models and yields the row of each run as it ends


def run_all(
    prepared: machine.ReadyMachine, failures: Sequence[Failure], out: Path, plan: Plan, execute: Execute
) -> Results:
    """Run the models of a prepared machine as planned and write all results, also of those that cannot run."""
    with alone_in(out):
        _note_hardware(out / HARDWARE, prepared, plan.seed)
        rows = journal.read_journal(out)
        models = _hashed(prepared.models, {row.key for row in rows if row.outcome is not Outcome.LOST})
        rows = _still_valid(rows, models, out)
        if rows:
            tell(say("going_on", runs=rows, file=out / RUNS))
        try:
            _run_turns(models, rows, out, plan, execute)
        except KeyboardInterrupt:
            tell(say("runs_are_kept"))
            raise
        said = results_of(models, rows, [*failures, *prepared.failures])
        failed = {failure[:2] for failure in said.failures}
        _remove_submissions([row for row in rows if (row.team, row.model) in failed], out)
        results.write_results(said, out / RUNTIMES, out / FAILED)
    for notice in said.notices:
        warnings.warn(notice, stacklevel=3)
    return said


def _hashed(models: list[Model], keys: set[str]) -> list[Model]:
    """Hash the files of the models with these keys, to see whether they are those of the earlier runs."""
    hashed = []
    for model in models:
        with contextlib.suppress(OSError):  # what cannot be read now has changed
            model = with_digest(model) if model.key in keys else model
        hashed.append(model)
    return hashed


def _run_turns(models: list[Model], rows: list[Row], out: Path, plan: Plan, execute: Execute) -> None:
    """Make all runs of a session, and note each in the journal and in `rows` as it ends."""
    session = 1 + max((row.session for row in rows), default=0)
    warm: set[str] = set()
    while turns := next_turns(models, rows, plan, warm):
        for name in (RUNTIMES, FAILED):  # of an earlier session: they are there if all has ended
            (out / name).unlink(missing_ok=True)
        for ended in execute(turns):
            earlier = [row for row in rows if row.key == ended.key]
            row = _recognized(ended, earlier, out)._replace(session=session)
            _save(row, earlier, out)
            rows.append(row._replace(content=b"", log=""))
            journal.write_journal(out, rows)
        warm |= {model.key for model, _ in turns}


def _waiting(models: Iterable[Model], rows: Iterable[Row], plan: Plan) -> dict[str, int]:
    """The models that are still to be measured, with how often they were."""
    runs_of = by_model(rows)
    going = {model.key: runs_of[model.key] for model in models if not failure_of(runs_of[model.key])}
    attempts = {key: sum(row.round != WARM_UP for row in runs) for key, runs in going.items()}
    return {key: number for key, number in attempts.items() if number < plan.repeats}


def next_turns(models: list[Model], rows: list[Row], plan: Plan, warm: set[str]) -> list[Turn]:
    """Decide what to run next; `warm` has the keys of the models that have run since podium was started."""
    waiting = _waiting(models, rows, plan)
    if plan.warm_up and (cold := waiting.keys() - warm):
        number, due = WARM_UP, set(cold)
    else:
        fewest = min(waiting.values(), default=0)
        number, due = 1 + fewest, {key for key, runs in waiting.items() if runs == fewest}
    # Each round has an order of its own.
    order = random.Random(f"{plan.seed} {number}").sample(models, len(models))
    return [(model, number) for model in order if model.key in due]


def here(settings: Settings, out: Path) -> Execute:
    """Make the function that runs models on this machine, one after the other."""
    digests: dict[str, str] = {}  # of the models that have had a turn

    def execute(turns: list[Turn]) -> Iterator[Row]:
        for place, (model, number) in enumerate(turns, 1):
            name, title = printable(model.key), _title(number)
            tell(say("model_runs", round=title, place=place, number=len(turns), model=name))
            known = model._replace(digest=digests.get(model.key, model.digest))
            row = run_once(known, number, settings, below(out, log_of(model.team, model.name, number)))
            digests[model.key] = row.digest
            tell_end(row)
            yield row

    return execute


def run_once(model: Model, number: int, settings: Settings, log: Path) -> Row:
    """Run a model once; at its first turn its files are read, so that a large folder delays nobody before."""
    try:
        model = with_digest(model)
    except OSError as problem:
        return not_run(model, number, problem.strerror or str(problem))
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    engine = settings.container_engine if model.kind is Kind.CONTAINER else settings.sandbox
    run = machine.run_once(model, settings, Log(log, f"[{started_at}, {_title(number)}, engine {engine}]\n"))
    return _row(model, number, run, started_at, engine)


def _row(model: Model, number: int, run: Run, started_at: str, engine: str) -> Row:
    """The row of the journal for a run."""
    return Row(
        round=number,
        team=model.team,
        model=model.name,
        submission=submission_of(model.team, model.name, run.name) if run.name else "",
        outcome=run.outcome,
        reason=run.reason,
        seconds=round(run.seconds, 6),
        cpu_seconds=round(run.used.cpu_seconds, 6),
        others=round(run.others, 4),
        peak_memory=run.used.peak_memory,
        exit_code=run.exit_code,
        sha256=_sha256(run.submission) if run.name else "",
        fingerprint=_fingerprint(run.submission, run.name) if run.name else "",
        machine=platform.node() if run.outcome is not Outcome.LOST else "",
        started_at=started_at,
        engine=engine,
        image=model.image,
        digest=model.digest,
        printed=run.printed,
        content=run.submission,
    )


def not_run(model: Model, number: int, reason: str) -> Row:
    """The row of a run that no machine has ended."""
    return _row(model, number, Run(Outcome.LOST, reason), "", "")


def tell_end(row: Row) -> None:
    """Tell the organizer how a run has ended."""
    end = f"{row.seconds:.2f} s" if row.outcome is Outcome.DONE else with_printed(row.reason, row.printed)
    tell(f"    {printable(row.key)}: {end}")


def _title(number: int) -> str:
    """The name of a round in messages."""
    return say("round_not_measured") if number == WARM_UP else say("round_measured", number=number)


def log_of(team: str, model: str, number: int) -> str:
    """The path of a run's log among the results: each team has a folder, so that no names collide."""
    return f"{LOGS}/{team}/{model or ONE_MODEL_LOG}.{number}.txt"


def _place_of(row: Row, out: Path) -> Path:
    """The place of a run's submission among the results; a link that leads elsewhere is refused."""
    return below(out, f"{FOLDER_OF_SUBMISSIONS}/{row.submission}")


def _sha256(content: bytes) -> str:
    """The SHA-256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


def _fingerprint(submission: bytes, name: str) -> str:
    """The fingerprint of the table in a submission; the SHA-256 of one that has none."""
    table = table_in(submission, name)
    return _sha256(submission) if table is None else fingerprint(table)


def _recognized(row: Row, earlier: Sequence[Row], out: Path) -> Row:
    """Give a run the fingerprint of the model's earlier predictions, if they are the same.

    Two fingerprints can differ where numbers lie on both sides of a border between two rounded ones.
    """
    before = predictions_of(earlier)
    if not (row.fingerprint and before and _is_there(out, before)) or before.fingerprint == row.fingerprint:
        return row
    other = table_in(_place_of(before, out).read_bytes(), before.submission)
    table = table_in(row.content, row.submission)
    is_known = table is not None and other is not None and is_same(other, table)
    return row._replace(fingerprint=before.fingerprint) if is_known else row


def _note_hardware(path: Path, prepared: machine.ReadyMachine, seed: int) -> None:
    """Write ``hardware.json``; if it exists, check that machine, settings and data are still the same."""
    settings = prepared.settings
    shown = {"data": printable(settings.data.name), "seed": seed}
    content: dict[str, Any] = {
        "hardware": prepared.hardware,
        "settings": settings._asdict() | shown,
        "data": digest_of(settings.data),
    }
    if not path.exists():
        if path.with_name(RUNS).exists():
            found = f"{path.parent} has {RUNS} without {HARDWARE}, so nothing says how the runs were made"
            raise UsageError(f"{found}; remove {RUNS} to start over")
        text = json.dumps(content | {"versions": prepared.versions}, indent=2, ensure_ascii=False) + "\n"
        write_atomically(path, lambda part: part.write_text(text, encoding="utf-8"))
        return
    try:
        earlier = json.loads(path.read_text(encoding="utf-8"))
        differing = hardware.differences({name: earlier[name] for name in content}, content)
        others = hardware.differences(earlier.get("versions", {}), prepared.versions)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{path} is damaged; remove {path.parent} to start over") from None
    if isinstance(earlier["hardware"], dict):
        raise UsageError(
            f"the runs in {path.parent} were made by podium 11.0: go on with that version, "
            f"or give another {as_option('out')} to start over"
        )
    if differing:
        raise UsageError(
            f"the runs in {path.parent} were made in another way: {differing}. "
            f"Give another {as_option('out')} to start over"
        )
    if others:
        warnings.warn(say("other_versions", folder=path.parent, differing=others), stacklevel=2)


def _still_valid(rows: list[Row], models: list[Model], out: Path) -> list[Row]:
    """The earlier runs that still count, and a line for each model whose runs do not."""
    kept = []
    of_key = {model.key: model for model in models}
    for key, runs in by_model(row for row in rows if row.outcome is not Outcome.LOST).items():
        predictions = predictions_of(runs)
        if key not in of_key:
            why = say("model_gone")
        elif any(row.digest != of_key[key].digest for row in runs):
            why = say("files_have_changed")
        elif predictions and not failure_of(runs) and not _is_there(out, predictions):
            why = say("submission_gone")
        else:
            kept += runs
            continue
        tell(say("runs_do_not_count", model=printable(key), why=why))
        _remove_submissions(runs, out)
    return kept


def _is_there(out: Path, row: Row) -> bool:
    """Whether the submission's file exists and is the one that this run left."""
    path = _place_of(row, out)
    return path.is_file() and _sha256(path.read_bytes()) == row.sha256


def _remove_submissions(rows: Iterable[Row], out: Path) -> None:
    """Remove the submissions that these runs left, and then the folders that are empty."""
    for row in filter(lambda row: row.submission, rows):
        path = _place_of(row, out)
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # another submission of the team is in it, or it is gone
            path.parent.rmdir()


def _save(row: Row, earlier: Sequence[Row], out: Path) -> None:
    """Save a run's submission if its predictions count, and the log of a run on another machine."""
    if row.log:
        path = below(out, log_of(row.team, row.model, row.round))
        write_atomically(path, lambda part: part.write_text(row.log, encoding="utf-8", errors="replace"))
    if row.outcome is not Outcome.DONE:
        return
    before, now = predictions_of(earlier), predictions_of([*earlier, row])
    if now is not row:
        return
    write_atomically(_place_of(row, out), lambda part: part.write_bytes(row.content))
    if before and before.submission != row.submission:
        _place_of(before, out).unlink(missing_ok=True)
