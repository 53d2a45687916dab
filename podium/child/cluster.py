"""Connect `podium rank` and `podium run` to a Dask cluster."""

import contextlib
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from podium.words.errors import ToolError, UsageError, missing_extra

SECONDS_TO_CONNECT = 10
PROBE_SECONDS = 30
PROBLEMS_SHOWN = 20


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to the cluster whose scheduler is at an address, and disconnect at the end."""
    try:
        from distributed import Client
    except ImportError:
        raise missing_extra("--dask", "the package distributed", "dask") from None
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as problem:
        raise UsageError(f"no Dask scheduler at {address}: {problem}") from None
    with client:
        yield client


def probe(client: Any, question: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Ask every worker a question before any work, and return the answers by worker.

    A worker that raises an error, cannot import podium or is silent for 30 seconds ends the command.
    """
    deadline = time.monotonic() + PROBE_SECONDS
    try:
        client.wait_for_workers(1, timeout=PROBE_SECONDS)
    except TimeoutError:
        raise UsageError(f"the Dask cluster has no worker after {PROBE_SECONDS} seconds") from None

    def answer(packed: bytes) -> Any:
        # A function that no module defines is sent by value. So it answers even where podium is missing.
        try:
            question, arguments = pickle.loads(packed)
        except ImportError as problem:
            return ImportError(f"cannot import podium: {problem}")
        try:
            return question(*arguments)
        except Exception as problem:
            # The exception itself may be one that cannot be packed.
            name = "" if type(problem).__module__ == "podium.words.errors" else f"{type(problem).__name__}: "
            return RuntimeError(name + " ".join(str(problem).split()))

    packed = pickle.dumps((question, arguments))
    futures = {
        name: client.submit(answer, packed, workers=[name], allow_other_workers=False, pure=False, retries=0)
        for name in client.nthreads()
    }
    answers = {name: _answer_of(future, deadline) for name, future in futures.items()}
    problems = [f"  {name}: {said}" for name, said in answers.items() if isinstance(said, Exception)]
    if problems:
        for future in futures.values():
            future.cancel()
        more = len(problems) - PROBLEMS_SHOWN
        lines = problems[:PROBLEMS_SHOWN] + ([f"  and {more:,} more"] if more > 0 else [])
        raise UsageError("\n".join(["Dask workers that cannot work:", *lines]))
    try:
        # The scheduler unpacks the tasks that it hands out.
        client.submit(len, [ToolError], pure=False).result(timeout=PROBE_SECONDS)
    except Exception as problem:
        raise UsageError(
            f"the Dask scheduler cannot work; can it import podium? {type(problem).__name__}: {problem}"
        ) from None
    return answers


def _answer_of(future: Any, deadline: float) -> Any:
    """Wait for the answer of a worker until a time; what went wrong is an exception."""
    try:
        return future.result(timeout=max(0.1, deadline - time.monotonic()))
    except (TimeoutError, FutureTimeoutError):
        return RuntimeError(f"no answer within {PROBE_SECONDS} seconds")
    except Exception as problem:
        return RuntimeError(f"{type(problem).__name__}: {problem}")
