"""Connect `podium rank` and `podium run` to a Dask cluster."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from podium.common.errors import UsageError, missing_extra

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


def check(client: Any, question: Callable[..., dict[str, str]], *arguments: Any) -> None:
    """Ask every worker a question before any work.

    A worker that raises an error, answers otherwise than this process does without arguments, or is silent for
    30 seconds ends the command.
    """
    deadline = time.monotonic() + PROBE_SECONDS
    try:
        client.wait_for_workers(1, timeout=PROBE_SECONDS)
    except TimeoutError:
        raise UsageError(f"the Dask cluster has no worker after {PROBE_SECONDS} seconds") from None
    futures = {
        name: client.submit(question, *arguments, workers=[name], allow_other_workers=False, pure=False)
        for name in client.nthreads()
    }
    said = {name: _said(future, question(), deadline) for name, future in futures.items()}
    if problems := [f"  {name}: {problem}" for name, problem in said.items() if problem]:
        client.cancel([*futures.values()])
        raise UsageError("\n".join(["Dask workers that cannot work:", *problems[:PROBLEMS_SHOWN]]))


def _said(future: Any, ours: dict[str, str], deadline: float) -> str:
    """Wait for the answer of a worker until a time, and say how it differs from ours, or what went wrong."""
    try:
        theirs = future.result(timeout=max(0.1, deadline - time.monotonic()))
    except TimeoutError:
        return f"no answer within {PROBE_SECONDS} seconds; can it import podium?"
    except Exception as problem:
        return f"{type(problem).__name__}: {' '.join(str(problem).split())}"
    return ", ".join(
        f"expected {name} {version}, found {theirs.get(name)}"
        for name, version in ours.items()
        if theirs.get(name) != version
    )
