"""Run the models on a Dask cluster of identical machines, one model at a time on each worker."""

import collections
import contextlib
import functools
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from podium.child.cluster import connected
from podium.common.errors import UsageError
from podium.common.progress import tell
from podium.common.statements import say
from podium.running import hardware
from podium.running.journal import WARM_UP, Row
from podium.running.machine import ReadyMachine, make_ready
from podium.running.measuring import Outcome
from podium.running.models import Model, digest_of
from podium.running.rounds import Execute, Turn, not_run, run_once, tell_end
from podium.running.settings import Settings

SECONDS_BETWEEN_LOOKS = 0.1
MOST_LOSSES = 2
SECONDS_TO_RETURN = 60  # so long may a cluster replace its last worker

OTHER_FILES = "expected the same files in {} as on the machine that runs podium"

# On a worker: the digest of each model that has run there, by podium's session and the model's key.
_digests: dict[tuple[str, str], str] = {}


@contextlib.contextmanager
def workers_of(
    address: str, engine: str, models: list[Model], settings: Settings
) -> Iterator[tuple[ReadyMachine, Execute]]:
    """Prepare the workers of a cluster, and yield the description that is common to most of them."""
    with connected(address) as client:
        ready = functools.partial(_ready, engine, models, settings, digest_of(settings.data))
        answers = client.run(ready, on_error="return")
        able = {worker: answer for worker, answer in answers.items() if isinstance(answer, ReadyMachine)}
        if not able:
            reasons = [f"{worker}: {answer}" for worker, answer in answers.items()] or ["there is none"]
            raise UsageError(f"no worker at {address} can run the models; {reasons[0]}")
        common = collections.Counter(map(repr, able.values())).most_common(1)[0][0]
        prepared = next(answer for answer in able.values() if repr(answer) == common)
        is_accepted: dict[str, bool] = {}

        def judge(answers: dict[str, Any]) -> None:
            for worker, answer in answers.items():
                is_accepted[worker] = isinstance(answer, ReadyMachine) and repr(answer) == common
                if not is_accepted[worker]:
                    why = _difference(prepared, answer) if isinstance(answer, ReadyMachine) else answer
                    warnings.warn(say("worker_refused", worker=worker, why=why), stacklevel=3)

        def crew() -> set[str]:
            there = set(client.nthreads())
            if new := sorted(there - is_accepted.keys()):
                judge(client.run(ready, workers=new, on_error="return"))
            return {worker for worker in there if is_accepted[worker]}

        judge(answers)
        yield prepared, functools.partial(_execute, client, crew, prepared.settings, uuid.uuid4().hex, {})


def _difference(prepared: ReadyMachine, other: ReadyMachine) -> str:
    """Say where two machines differ."""
    one, another = (
        {"hardware": each.hardware, **each.versions, **each.settings._asdict()} for each in (prepared, other)
    )
    return hardware.differences(one, another) or "its images or its view of the models differ"


def _ready(engine: str, models: list[Model], settings: Settings, data: str) -> ReadyMachine:
    """Check on a worker that it sees the data and the models' folders, then prepare it for runs."""
    for folder in (settings.data, *(model.folder for model in models)):
        if not folder.is_dir() or (folder == settings.data and digest_of(folder) != data):
            raise UsageError(OTHER_FILES.format(folder))
    return make_ready(engine, models, settings)


def _execute(
    client: Any,
    crew: Callable[[], set[str]],
    settings: Settings,
    session: str,
    digests: dict[str, str],
    turns: list[Turn],
) -> Iterator[Row]:
    """Give each idle worker the next model; if a worker is lost, another one repeats what it ran.

    `digests` keeps from round to round what the first worker has seen of each model.
    """
    waiting = collections.deque(turns)
    running: dict[Any, tuple[str, Turn]] = {}
    losses: collections.Counter[str] = collections.Counter()
    last_seen = time.monotonic()
    while waiting or running:
        there = crew()
        last_seen = time.monotonic() if there or running else last_seen
        if time.monotonic() - last_seen > SECONDS_TO_RETURN:
            raise UsageError(
                "the cluster has lost all its workers. Finished runs are kept: "
                "start the same command again to go on"
            )
        for worker, turn in zip(sorted(there - {worker for worker, _ in running.values()}), [*waiting]):
            waiting.popleft()
            tell(say("model_runs_on", model=turn[0].key, worker=worker))
            call = client.submit(_on_worker, turn, settings, session, workers=[worker], pure=False, retries=0)
            running[call] = worker, turn
        time.sleep(SECONDS_BETWEEN_LOOKS)
        for call, (worker, turn) in list(running.items()):
            if call.status == "pending" and worker in there:
                continue
            del running[call]
            if call.status == "finished":
                yield from _checked(call.result(), turn[0], digests)
            elif call.status == "error" and worker in crew():
                raise UsageError(f"worker {worker}: {call.exception()}")
            else:
                call.cancel()
                yield from _after_a_loss(worker, turn, losses, waiting)


def _checked(rows: Sequence[Row], model: Model, digests: dict[str, str]) -> Iterator[Row]:
    """Hand on what a worker has made of a model, if it saw the same files as all others."""
    for row in rows:
        if row.digest and digests.setdefault(row.key, model.digest or row.digest) != row.digest:
            raise UsageError(f"worker on {row.machine}: {OTHER_FILES.format(model.folder)}")
        tell_end(row)
        yield row


def _on_worker(turn: Turn, settings: Settings, session: str) -> list[Row]:
    """Run a model on a worker, and before it once without being measured if the model has not run there."""
    model, number = turn
    known = _digests.get((session, model.key), "")
    numbers = [number] if known or number == WARM_UP else [WARM_UP, number]
    rows: list[Row] = []
    for each in numbers:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            row = run_once(model._replace(digest=known), each, settings, log)
            text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        rows.append(row._replace(log=text))
        known = _digests[session, model.key] = row.digest
        if row.outcome is not Outcome.DONE:
            break
    return rows


def _after_a_loss(
    worker: str, turn: Turn, losses: "collections.Counter[str]", waiting: "collections.deque[Turn]"
) -> Iterator[Row]:
    """Let another worker repeat what a lost worker ran; a model that two were lost with is given up."""
    model, number = turn
    losses[model.key] += 1
    warnings.warn(say("worker_lost", worker=worker, model=model.key), stacklevel=2)
    if losses[model.key] < MOST_LOSSES:
        waiting.appendleft(turn)
    else:
        yield not_run(model, number, f"{MOST_LOSSES} workers were lost while they ran this model")
