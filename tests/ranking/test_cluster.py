"""`podium rank --dask` tries the workers before any work, and gives the same board whatever happens to them."""

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from podium.ranking import store
from tests.ranking.test_faults import COMPLETE, ROWS
from tests.ranking.test_half_samples import ACCURACY
from tests.support.processes import SECONDS, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="distributed is not here"),
]

# What a worker does before it starts: it has no podium, or another one, or does not see the files.
PRELOADS = {
    "no package": (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'podium':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Without())\n"
    ),
    "another version": "import podium.common.version as of\nof.__version__ = '1.0.0'\n",
    "no files": (
        "import os\n"
        "def stat(path, real=os.stat, **options):\n"
        "    if str(path).endswith('00.csv'):\n"
        "        raise FileNotFoundError(2, 'No such file or directory', str(path))\n"
        "    return real(path, **options)\n"
        "os.stat = stat\n"
    ),
    "hangs": "import time\nimport podium.ranking.job as job\njob.solution_of = lambda job: time.sleep(60)\n",
}


@pytest.fixture
def folder(tmp_path):
    """A folder with submissions and a metric that notes which process scored them.

    Submissions of ten rows and more wait while there is no file "go".
    """
    metric = ROWS.replace("return float", "note(); wait(len(submission)); return float") + COMPLETE
    metric += f"""
import os, time

WORKER = os.getppid()  # of Dask, which has started this process; whoever loses it has another parent

def note():
    with open({str(tmp_path / "pids")!r}, "a") as file:
        print(WORKER, file=file)

def wait(rows):
    while rows >= 10 and not os.path.exists({str(tmp_path / "go")!r}):
        time.sleep(0.02)
"""
    (tmp_path / "go").touch()
    (tmp_path / "rows.py").write_text(metric)
    (tmp_path / "solution.csv").write_text("id\n1\n2\n")
    (tmp_path / "teams").mkdir()
    for team in range(40):
        (tmp_path / "teams" / f"{team:02}.csv").write_text("id\n" + "1\n" * team)
    return tmp_path


class Cluster:
    """A scheduler and workers in processes of their own."""

    def __init__(self, folder: Path, preload: str = "") -> None:
        self.folder, self.processes = folder, []
        self.file = folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)]
        self.start("distributed.cli.dask_scheduler", *options, *self.preloaded(preload))
        assert wait_until(self.is_written)
        self.address = json.loads(self.file.read_text())["address"]

    def is_written(self) -> bool:
        """Whether the scheduler has finished writing its file."""
        with contextlib.suppress(OSError, ValueError):
            return "address" in json.loads(self.file.read_text())
        return False

    def start(self, module: str, *options: str) -> subprocess.Popen:
        command = [sys.executable, "-m", module, *options]
        self.processes.append(subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL))
        return self.processes[-1]

    def preloaded(self, preload: str) -> list[str]:
        if not preload:
            return []
        path = self.folder / f"{preload.replace(' ', '_')}.py"
        path.write_text(PRELOADS[preload])
        return ["--preload", str(path)]

    def worker(self, preload: str = "") -> subprocess.Popen:
        options = ["--no-dashboard", "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1"]
        return self.start("distributed.cli.dask_worker", self.address, *options, *self.preloaded(preload))

    def wait_for_workers(self, number: int) -> dict[int, str]:
        """Wait until workers are there and have imported what they need; the address of each process."""
        from distributed import Client

        with Client(self.address, set_as_default=False, timeout=SECONDS) as client:
            client.wait_for_workers(number, timeout=SECONDS)
            client.run(importlib.import_module, "podium.ranking.passes", on_error="ignore")
            return {process: address for address, process in client.run(os.getpid).items()}

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()

    def rank(self, out: str, *more: str) -> subprocess.Popen:
        arguments = ["solution.csv", "teams", "--metric", "rows.py", "--out", out, *more]
        return subprocess.Popen(
            [sys.executable, "-m", "podium", "rank", *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def pids(folder: Path) -> set[int]:
    """The processes that have scored something."""
    path = folder / "pids"
    return set(map(int, path.read_text().split())) if path.exists() else set()


@pytest.fixture
def cluster(folder):
    """A Dask cluster that sees the folder."""
    cluster = Cluster(folder)
    yield cluster
    cluster.stop()


def tables(folder: Path) -> dict[str, bytes]:
    """The bytes of the tables in a folder by name."""
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


def test_a_cluster_that_loses_a_worker_gives_the_same_files(cluster, folder):
    """The paths are relative, and the workers run in another folder."""
    here = cluster.rank("here", "--jobs", "1")
    _, err = here.communicate(timeout=SECONDS)
    assert here.returncode == 0, err
    (folder / "pids").unlink()
    (folder / "go").unlink()
    workers = [cluster.worker(), cluster.worker()]
    cluster.wait_for_workers(2)
    there = cluster.rank("there", "--dask", cluster.address)
    both = {worker.pid for worker in workers}
    assert wait_until(lambda: len(store.names(folder / "there" / "store")) >= 5 and pids(folder) == both)
    workers[0].kill()
    assert len(store.names(folder / "there" / "store")) < 40  # in the middle
    (folder / "go").touch()
    _, err = there.communicate(timeout=SECONDS)
    assert there.returncode == 0, err
    assert tables(folder / "there") == tables(folder / "here")
    assert both <= pids(folder)  # a file that a lost worker had may get a process of its own


def test_a_cluster_draws_the_same_halves_of_the_items(cluster, folder):
    rows = range(12)
    (folder / "rows.py").write_text(ACCURACY)
    (folder / "solution.csv").write_text("id,y\n" + "".join(f"{row},{row % 2}\n" for row in rows))
    for team in range(40):
        answers = "".join(f"{row},{int(row % 2 == (row % 11 < team % 12))}\n" for row in rows)
        (folder / "teams" / f"{team:02}.csv").write_text("id,y\n" + answers)
    for _ in range(2):
        cluster.worker()
    cluster.wait_for_workers(2)
    for out, where in (("here", ["--jobs", "1"]), ("there", ["--dask", cluster.address])):
        ranked = cluster.rank(out, "--resamples", "20", *where)
        _, err = ranked.communicate(timeout=SECONDS)
        assert ranked.returncode == 0, err
    assert "intervals.csv" in tables(folder / "here")
    assert tables(folder / "there") == tables(folder / "here")


PROBLEMS = {
    "no package": "no answer within 30 seconds; can it import podium?",
    "another version": "expected podium",
    "no files": "00.csv: No such file or directory",
    "hangs": "no answer within 30 seconds; can it import podium?",
}


@pytest.mark.parametrize("preloads", [("no package", "no files", "hangs"), ("another version",)])
def test_workers_that_cannot_work_are_said_before_any_work(cluster, folder, preloads):
    cluster.worker()
    odd = {preload: cluster.worker(preload).pid for preload in preloads}
    addresses = cluster.wait_for_workers(1 + len(odd))
    there = cluster.rank("there", "--dask", cluster.address)
    out, err = there.communicate(timeout=SECONDS)
    assert (there.returncode, out) == (2, "")
    head, *lines = err.splitlines()
    assert head == "error: Dask workers that cannot work:"
    told = dict(line.strip().split(": ", 1) for line in lines)
    assert told.keys() == {addresses[process] for process in odd.values()}
    for preload, process in odd.items():
        assert PROBLEMS[preload] in told[addresses[process]]
    assert not list((folder / "there").glob("*.csv"))


def test_a_scheduler_without_the_package_is_said_before_any_work(folder):
    cluster = Cluster(folder, "no package")
    try:
        cluster.worker()
        cluster.wait_for_workers(1)
        there = cluster.rank("there", "--dask", cluster.address)
        out, err = there.communicate(timeout=SECONDS)
    finally:
        cluster.stop()
    assert (there.returncode, out) == (2, "")
    assert err.startswith("error: Dask workers that cannot work:")
    assert "different environments" in err
    assert not list((folder / "there").glob("*.csv"))


def test_a_cluster_without_workers_is_said(cluster):
    there = cluster.rank("there", "--dask", cluster.address)
    _, err = there.communicate(timeout=SECONDS)
    assert (there.returncode, err) == (2, "error: the Dask cluster has no worker after 30 seconds\n")
