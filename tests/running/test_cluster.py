"""On a Dask cluster, each worker runs one model at a time, other hardware is refused, and lost workers are
replaced.
"""

import os
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from podium.common.errors import UsageError
from podium.running import remote, rounds
from podium.running.models import Model, find_model
from tests.running.support import SUBMIT, needs_sandbox, settings_for, write_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:the (machine|runtimes|measurements):UserWarning"),
    pytest.mark.filterwarnings("ignore:measured once:UserWarning"),
    pytest.mark.filterwarnings("ignore:by processor time:UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

ENGINES = [pytest.param("bubblewrap", marks=needs_sandbox), "none"]
NOTE = "import time\nstart = time.time()\ntime.sleep(0.5)\nprint(start, time.time())\n" + SUBMIT

# Without a sandbox a model reaches the process that runs it.
KILL_WORKER = """import os, time
os.kill(os.getppid(), 9)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _variables_of_dask_are_removed() -> Iterator[None]:
    """Take back the environment variables that Dask sets for the worker processes that it starts."""
    with mock.patch.dict(os.environ):
        yield


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    """A Dask cluster of three workers on this machine."""
    from distributed import LocalCluster

    with (
        mock.patch.dict(os.environ),
        LocalCluster(n_workers=3, threads_per_worker=4, dashboard_address=":0") as made,
    ):
        yield made


@pytest.fixture
def mortal_workers() -> Iterator[Any]:
    """A cluster of two workers that a test may lose."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=4, dashboard_address=":0") as made:
        yield made


def models_in(folder: Path, teams: str, source: str) -> list[Model]:
    """Models with this source, one for each letter."""
    models = [find_model(write_model(folder / "models" / team, source), team) for team in teams]
    return [model for model in models if isinstance(model, Model)]


def measure(
    folder: Path, address: str, engine: str, models: list[Model], repeats: int
) -> tuple[list[str], list[Any]]:
    """Run models on a cluster; the teams with a runtime, and the failures."""
    settings = settings_for(folder, sandbox="")
    with remote.workers_of(address, engine, models, settings) as (made, execute):
        results = rounds.run_all(made, [], folder / "out", rounds.Plan(repeats), execute)
    return [timing.model.team for timing in results.timings], results.failures


@pytest.mark.parametrize("engine", ENGINES)
def test_each_worker_runs_one_model_at_a_time(tmp_path: Path, workers: Any, engine: str) -> None:
    models = models_in(tmp_path, "ABCDEF", NOTE)
    assert measure(tmp_path, workers.scheduler_address, engine, models, 1) == (list("ABCDEF"), [])
    logs = (tmp_path / "out" / "logs").glob("*/*.1.txt")
    spans = [tuple(map(float, path.read_text().splitlines()[1].split())) for path in logs]
    assert max(sum(start <= moment < end for start, end in spans) for moment, _ in spans) <= 3


def test_a_model_runs_once_unmeasured_on_each_worker(tmp_path: Path) -> None:
    [model], given = models_in(tmp_path, "A", SUBMIT), settings_for(tmp_path)
    calls = (("one", 1), ("one", 2), ("another", 3))
    ran = [remote._on_worker((model, number), given, session) for session, number in calls]
    assert [[row.round for row in rows] for rows in ran] == [[0, 1], [2], [0, 3]]


def test_a_worker_that_sees_other_files_is_refused(tmp_path: Path, workers: Any) -> None:
    gone = models_in(tmp_path, "A", SUBMIT)[0]._replace(folder=tmp_path / "models" / "B")
    with pytest.raises(UsageError, match=r"can run the models; .*expected the same files in .*models/B"):
        measure(tmp_path, workers.scheduler_address, "none", [gone], 1)
    other = [model._replace(digest="other") for model in models_in(tmp_path, "A", SUBMIT)]
    with pytest.raises(UsageError, match=r"worker on .*: expected the same files in .*models/A as on"):
        measure(tmp_path, workers.scheduler_address, "none", other, 1)


def test_what_a_lost_worker_ran_runs_again_elsewhere_and_is_given_up_after_two(
    tmp_path: Path, mortal_workers: Any
) -> None:
    once = str(tmp_path / "once")
    source = f"import os\nif not os.path.exists({once!r}):\n    open({once!r}, 'w').close()\n"
    source += textwrap.indent(KILL_WORKER, "    ") + SUBMIT
    models = [*models_in(tmp_path, "AB", SUBMIT), *models_in(tmp_path, "C", source)]
    models += models_in(tmp_path, "D", KILL_WORKER)
    with pytest.warns(UserWarning, match="was lost while it ran [CD]$") as told:
        runtimes, failed = measure(tmp_path, mortal_workers.scheduler_address, "none", models, 1)
    lost = [str(one.message) for one in told if "was lost" in str(one.message)]
    assert sorted(text[-1] for text in lost) == list("CDD")
    assert sorted(runtimes) == list("ABC")
    assert [(one.team, one.reason) for one in failed] == [
        ("D", "2 workers were lost while they ran this model")
    ]


def _pretend(cores: int) -> None:
    """On a worker: from now on, describe this machine as another one."""
    from podium.running import hardware

    hardware.os.cpu_count = lambda: cores


def test_a_worker_with_other_hardware_is_refused(
    tmp_path: Path, workers: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from distributed import Client

    with Client(workers.scheduler_address) as client:
        client.wait_for_workers(3)
        odd = sorted(client.nthreads())[0]
        client.run(_pretend, 99, workers=[odd])
        with pytest.warns(
            UserWarning, match=f"worker {odd} is refused: hardware: .*, 99 cores, .* instead of "
        ):
            runtimes, _ = measure(
                tmp_path, workers.scheduler_address, "none", models_in(tmp_path, "AB", SUBMIT), 1
            )
        client.run(_pretend, os.cpu_count(), workers=[odd])
    assert runtimes == list("AB")
    assert f"runs on {odd}" not in capsys.readouterr().err


def test_a_cluster_without_workers(tmp_path: Path) -> None:
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as made,
        pytest.raises(UsageError, match=r"no worker at .* can run the models; there is none"),
    ):
        measure(tmp_path, made.scheduler_address, "none", models_in(tmp_path, "A", SUBMIT), 1)
