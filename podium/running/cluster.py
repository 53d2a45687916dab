"""Run the models on a Dask cluster.

Each worker runs one model at a time.  Two models whose order is undecided run on the same worker, one directly
after the other.
"""

import collections
import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from podium.errors import UsageError, missing_extra
from podium.running import hardware, rounds
from podium.running.models import Model, digest_of
from podium.running.settings import Settings

__all__ = ["workers_of"]

SECONDS_TO_CONNECT = 10
SECONDS_BETWEEN_LOOKS = 0.5
MOST_LOSSES = 2


@contextlib.contextmanager
def workers_of(
    address: str, engine: str, models: list[Model], settings: Settings
) -> Iterator[tuple[dict[str, Any], Settings, rounds.Execute]]:
    """Prepare the workers of a cluster; they have to be identical machines.

    It does for a cluster what `rounds.prepare` and `rounds.here` do for a single machine.

    Parameters
    ----------
    address : str
        The address of the Dask scheduler, such as "tcp://10.0.0.1:8786".
    engine : str
        What isolates the models: "auto", "bubblewrap", "docker", "podman" or "none".
    models : list of Model
        The models that will run.
    settings : Settings
        How every model is run.

    Yields
    ------
    machine : dict
        The description that most workers share.
    settings : Settings
        The settings, completed with the workers' engines.
    execute : function
        Runs turns on the workers; see `rounds.Execute`.

    Raises
    ------
    UsageError
        If there is no such scheduler, or no worker that can run the models.

    Warns
    -----
    UserWarning
        For each worker that is refused, because it differs from most workers or cannot run the models.
    """
    client = _connected(address)
    from distributed.comm.core import CommClosedError

    with client:
        ready = functools.partial(_ready, engine, models, settings, digest_of(settings.data))
        answers = client.run(ready, on_error="return")
        able = [answer for answer in answers.values() if not isinstance(answer, Exception)]
        if not able:
            reasons = [f"{worker}: {answer}" for worker, answer in answers.items()] or ["there is none"]
            raise UsageError(f"no worker at {address} can run the models; {reasons[0]}")
        common = collections.Counter(map(repr, able)).most_common(1)[0][0]
        machine, settings = next(answer for answer in able if repr(answer) == common)
        crew: dict[str, bool] = {}

        def accept(answers: dict[str, Any]) -> None:
            for worker, answer in answers.items():
                if isinstance(answer, CommClosedError):  # this worker has just left the cluster
                    continue
                if isinstance(answer, Exception):
                    reason = str(answer)
                else:
                    reason = hardware.differences(machine, answer[0])
                    reason = reason or hardware.differences(settings._asdict(), answer[1]._asdict())
                if reason:
                    warnings.warn(f"worker {worker} is refused: {reason}", stacklevel=3)
                crew[worker] = not reason

        def workers() -> set[str]:
            there = set(client.nthreads())  # scheduler_info() sometimes lacks workers that are there
            if new := sorted(there - crew.keys()):
                accept(client.run(ready, workers=new, on_error="return"))
            return {worker for worker in there if crew.get(worker)}

        accept(answers)
        yield machine, settings, functools.partial(_execute, client, workers, settings)


def _connected(address: str) -> Any:
    """Connect to a scheduler; a UsageError if nothing answers at the address."""
    try:
        from distributed import Client
    except ImportError:
        raise missing_extra("--dask", "the package distributed", "dask") from None
    try:
        return Client(address, timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError) as problem:
        raise UsageError(f"no Dask scheduler at {address}: {problem}") from None


def _ready(engine: str, models: list[Model], settings: Settings, data: str) -> tuple[dict[str, Any], Settings]:
    """Check on a worker that it sees the same files as this machine, then prepare it for runs."""
    for folder, digest in [(settings.data, data), *((model.folder, model.digest) for model in models)]:
        if not folder.is_dir() or digest_of(folder) != digest:
            raise UsageError(f"expected the same files in {folder} as on the machine that runs podium")
    return rounds.prepare(engine, models, settings)


def _execute(
    client: Any, workers: Callable[[], set[str]], settings: Settings, turns: list[rounds.Turn]
) -> Iterator[rounds.Result]:
    """Give each idle worker the next turn; if a worker is lost, another one repeats what it ran."""
    from distributed import wait
    from distributed.scheduler import KilledWorker

    waiting = collections.deque(turns)
    running: dict[Any, tuple[str, rounds.Turn]] = {}
    losses: collections.Counter[str] = collections.Counter()
    while waiting or running:
        there = workers()
        for worker in sorted(there - {worker for worker, _ in running.values()}):
            if waiting:
                turn = waiting.popleft()
                future = client.submit(_turn_on_worker, turn, settings, workers=[worker], pure=False, retries=0)
                running[future] = worker, turn
        if not running:
            raise UsageError(
                "the cluster has lost all its workers. Finished runs are kept: "
                "start the same command again to go on"
            )
        with contextlib.suppress(TimeoutError):
            wait(list(running), SECONDS_BETWEEN_LOOKS, "FIRST_COMPLETED")
        for future, (worker, turn) in list(running.items()):
            problem = future.exception() if future.status == "error" else None
            if future.status == "finished":
                yield from future.result()
            elif problem is not None and not isinstance(problem, KilledWorker):
                raise UsageError(f"worker {worker}: {problem}")
            elif problem is None and future.status == "pending" and worker in there:
                continue
            else:
                future.cancel()
                yield from _after_a_loss(worker, turn, losses, waiting)
            del running[future]


def _turn_on_worker(turn: rounds.Turn, settings: Settings) -> list[rounds.Result]:
    """Run a turn; this function is what a worker executes."""
    return list(rounds.run_turn(turn, settings))


def _after_a_loss(
    worker: str,
    turn: rounds.Turn,
    losses: "collections.Counter[str]",
    waiting: "collections.deque[rounds.Turn]",
) -> Iterator[rounds.Result]:
    """Let another worker repeat what a lost worker ran.

    If two workers are lost while running the same model, podium gives up on that model: it may be the cause.
    """
    names = " and ".join(model.key for model, _ in turn)
    losses[names] += 1
    warnings.warn(f"worker {worker} was lost while it ran {names}", stacklevel=2)
    if losses[names] < MOST_LOSSES:
        waiting.appendleft(turn)
        return
    for model, number in turn:
        yield rounds.not_run(model, number, f"{MOST_LOSSES} workers were lost while they ran this model")
