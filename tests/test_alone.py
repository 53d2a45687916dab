"""What a custom metric does while it scores one file does not stay for the next one."""

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from podium.child import clean, forked, limits
from podium.child.supervised import WorkerLostError
from podium.child.workers import Workers, alone, nothing, spread, start_workers
from podium.common.errors import MetricError, NotAFile, SubmissionRejected, ToolError
from podium.contest import pipeline
from podium.metric import hosted
from podium.metric.shapes import ContractError, failure
from podium.tables.formats import parse_table

linux_alone = pytest.mark.skipif(
    not os.path.isdir("/proc/self/task"), reason="other systems start new processes"
)

HEAD = """
import decimal, locale, os, signal, threading, time
import numpy as np
import pandas as pd

class ParticipantVisibleError(Exception):
    pass

def higher_is_better() -> bool:
    return True

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    is_first = bool((submission["label"] == "owl").any())
"""
SHARE = """
    return float((solution["label"] == submission["label"]).mean())
"""
# What a metric does to a library for a file with an owl, and how it counts.
STATES = {
    "precision of decimals": """
    if is_first:
        decimal.getcontext().prec = 1
    right = int((solution["label"] == submission["label"]).sum())
    return float(decimal.Decimal(right) / decimal.Decimal(len(solution)))
""",
    "a method of pandas": "    if is_first:\n        pd.Series.mean = lambda self: 1.0\n" + SHARE,
    "numpy's errors": """
    if is_first:
        np.seterr(all="raise")
    np.float64(1e-200) * np.float64(1e-200)
"""
    + SHARE,
    "its own memory": "    score.owls = getattr(score, 'owls', 0) + is_first\n    return 0.75 + score.owls\n",
    "the locale": """
    if is_first:
        locale.setlocale(locale.LC_ALL, "C")
    return 0.75 + (locale.setlocale(locale.LC_ALL) != BEFORE)
""",
    "the folder": """
    if is_first:
        os.chdir("/")
    return 0.75 + (os.getcwd() != HERE)
""",
}
POLARS = """
import polars
import pandas as pd

class ParticipantVisibleError(Exception):
    pass

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    both = polars.DataFrame({"a": solution["label"].tolist(), "b": submission["label"].tolist()})
    return float(both.lazy().select((polars.col("a") == polars.col("b")).mean()).collect().item())

def higher_is_better() -> bool:
    return True
"""
WITH_PREPARE = """
def prepare(solution: pd.DataFrame, row_id_column_name: str) -> object:
    from podium.statistics import item_wise
    polars.DataFrame({"a": list(range(1000))}).lazy().group_by(polars.col("a") % 7).len().collect()
    return item_wise(solution, row_id_column_name, right, lambda sums: sums[..., 0] / sums[..., 1])

def right(solution, submission):
    import numpy as np
    equal = polars.Series(solution["label"].tolist()) == polars.Series(submission["label"].tolist())
    return np.column_stack([equal.to_numpy(), np.ones(len(solution))])
"""


@pytest.fixture
def of_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process be that of a command in which no metric has had a submission."""
    monkeypatch.setattr(clean, "_is_of_command", True)
    monkeypatch.setattr(clean, "_is_clean", True)


def tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """A solution, a file with an owl, and one without."""
    solution = pd.DataFrame({"id": list("pqrs"), "label": ["cat", "owl", "cat", "dog"]})
    return solution, solution.copy(), solution.assign(label=["cat", "cat", "cat", "dog"])


def metric_of(folder: Path, text: str) -> hosted.Metric:
    """Load a metric from a file with this text."""
    (folder / "hosts.py").write_text(text)
    return hosted.load(folder / "hosts.py")


def score_of(solution: Any, submission: pd.DataFrame) -> float:
    """Score a submission in the process that is asked for."""
    return pipeline.unjudged(solution, submission).score


@linux_alone
@pytest.mark.usefixtures("of_command")
@pytest.mark.parametrize("body", STATES.values(), ids=STATES)
def test_a_file_changes_no_other_score(tmp_path: Path, body: str) -> None:
    names = "\nBEFORE, HERE = locale.setlocale(locale.LC_ALL), os.getcwd()\n"
    solution = pipeline.prepared(metric_of(tmp_path, HEAD + body + names), tables()[0], {})
    files = [tables()[2], tables()[1], tables()[2]]
    workers = Workers(None, 1, ready=nothing)
    scores = [answer for _, answer in spread(workers, partial(_numbered, solution, files), range(3))]
    assert scores[0] == scores[2] == 0.75
    assert clean.is_clean()


def _numbered(solution: Any, files: list[pd.DataFrame], number: int) -> float:
    """Score one of several files."""
    return score_of(solution, files[number])


@linux_alone
@pytest.mark.usefixtures("of_command")
def test_a_part_changes_no_other_part(tmp_path: Path) -> None:
    """Platforms score each part alone, too: here only the public one has an owl."""
    truth, _, guess = tables()
    truth["Usage"] = ["Public", "Public", "Private", "Private"]
    guess = guess.assign(label=["cat", "owl", "cat", "cat"])
    solution = pipeline.prepared(metric_of(tmp_path, HEAD + STATES["a method of pandas"]), truth, {})
    assert pipeline.unjudged(solution, guess).scores == {"All": 1.0, "Public": 1.0, "Private": 0.5}
    assert clean.is_clean()


@linux_alone
@pytest.mark.usefixtures("of_command")
@pytest.mark.parametrize("when", ["import", "prepare"])
def test_threads_that_a_metric_leaves_forbid_to_fork(tmp_path: Path, when: str) -> None:
    start = "threading.Thread(target=time.sleep, args=(2,), daemon=True).start()"
    prepare = """
def prepare(solution: pd.DataFrame, row_id_column_name: str) -> object:
    from podium.statistics import item_wise
    START
    return item_wise(solution, row_id_column_name, right, lambda sums: sums[..., 0] / sums[..., 1])

def right(solution, submission):
    return np.column_stack([solution["label"] == submission["label"], np.ones(len(solution))])
"""
    metric = metric_of(
        tmp_path, HEAD + SHARE + (start if when == "import" else prepare.replace("START", start))
    )
    assert clean.is_clean() == (when == "prepare")
    pipeline.prepared(metric, tables()[0], {})
    assert not clean.is_clean()


@linux_alone
def test_threads_that_end_themselves_for_a_fork_do_no_harm(tmp_path: Path) -> None:
    """Such as those of OpenBLAS, which SciPy loads; else each file would need a new process."""
    (tmp_path / "hosts.py").write_text("import scipy.linalg\n" + HEAD + SHARE)
    asks = (
        "from podium.child import clean; from podium.metric import hosted\n"
        "hosted.load('hosts.py'); print(clean.is_clean())"
    )
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "3"}
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", asks]
    done = subprocess.run(command, cwd=tmp_path, env=environment | path, capture_output=True, check=True)
    assert done.stdout.split() == [b"True"]


@pytest.mark.usefixtures("of_command")
def test_a_process_that_has_scored_does_not_fork(tmp_path: Path) -> None:
    solution = pipeline.prepared(metric_of(tmp_path, HEAD + SHARE), tables()[0], {})
    score_of(solution, tables()[1])
    assert not clean.is_clean()


@pytest.mark.usefixtures("of_command")
def test_podiums_own_metrics_soil_nothing() -> None:
    folder = hosted.folder("scifact") / "samples"
    solution = pipeline.opened(hosted.load("scifact"), str(folder / "solution.csv"), {})
    score_of(solution, pipeline.submitted(solution, str(folder / "submission.csv"))[0])
    assert clean.is_clean() == os.path.isdir("/proc/self/task")


@pytest.mark.slow
@pytest.mark.usefixtures("of_command")
@pytest.mark.skipif(importlib.util.find_spec("polars") is None, reason="polars is not installed")
@pytest.mark.parametrize("more", ["", WITH_PREPARE], ids=["score", "prepare"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_metric_with_polars_scores_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, jobs: int
) -> None:
    """Its threads do not survive a fork, so each file has a process that was not forked once it has some."""
    monkeypatch.setenv("_RJEM_MALLOC_CONF", "")  # which polars sets
    solution = pipeline.prepared(metric_of(tmp_path, POLARS + more), tables()[0], {})
    with start_workers(jobs, jobs, apart=True, idle=30, ready=nothing) as workers:
        work = partial(_numbered, solution, [tables()[1], tables()[2]])
        assert dict(spread(workers, work, range(2))) == {0: 1.0, 1: 0.75}


@linux_alone
@pytest.mark.usefixtures("of_command")
def test_a_metric_that_forks_and_returns_in_both_answers_once(tmp_path: Path) -> None:
    """The copy ends where it would go on, so processes do not double with every call."""
    (tmp_path / "log").touch()
    log = f"    open({str(tmp_path / 'log')!r}, 'a').write('x')\n"
    metric = metric_of(tmp_path, HEAD + "    os.fork()\n" + log + SHARE)
    solution = pipeline.prepared(metric, tables()[0], {})
    assert alone(partial(_three_times, solution), tables()[2]) == [0.75] * 3
    assert len((tmp_path / "log").read_text()) == 6


def _three_times(solution: Any, submission: pd.DataFrame) -> list[float]:
    """Score a submission three times."""
    return [score_of(solution, submission) for _ in range(3)]


def _die(number: int) -> None:
    os.kill(os.getpid(), number)


def _leave(path: Path) -> int:
    """Begin a process that stays, and return its number."""
    process = os.fork()
    if process == 0:
        time.sleep(60)
        os._exit(0)
    return process


@linux_alone
@pytest.mark.usefixtures("of_command")
def test_a_fork_that_ends_is_told_and_leaves_nothing() -> None:
    for number in (signal.SIGKILL, signal.SIGTERM):
        with pytest.raises(WorkerLostError, match=rf"signal {int(number)} "):
            alone(_die, number)
    with pytest.raises(WorkerLostError, match="exit code 7"):
        alone(os._exit, 7)
    left = alone(_leave, Path())
    until = time.monotonic() + 30
    while _runs(left) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _runs(left)


def _runs(process: int) -> bool:
    """Whether a process runs, and is not only waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _fail(_: object) -> None:
    try:
        raise MemoryError("much")
    except MemoryError as problem:
        raise ValueError("few") from problem


def _spin(_: object) -> None:
    while True:
        pass


@linux_alone
@pytest.mark.usefixtures("of_command")
def test_what_a_fork_had_to_load_is_loaded_before_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a library that `score()` imports would be loaded again for each file."""
    (tmp_path / "helper.py").write_text("")
    metric = "    import colorsys, helper\n" + SHARE
    thread = (
        "    import chunk_of_text\n    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n"
    )
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "chunk_of_text.py").write_text("")
    for folder in (tmp_path, installed):
        monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    for text in (HEAD + metric, HEAD + thread + SHARE):
        solution = pipeline.prepared(metric_of(tmp_path, text), tables()[0], {})
        for _ in range(2):
            assert alone(partial(score_of, solution), tables()[2]) == 0.75
    assert [name in sys.modules for name in ("colorsys", "helper", "chunk_of_text")] == [True, False, False]
    assert clean.is_clean()


@linux_alone
@pytest.mark.usefixtures("of_command")
def test_errors_come_with_what_led_to_them() -> None:
    with pytest.raises(ValueError, match="few") as caught:
        alone(_fail, None)
    assert isinstance(caught.value.__cause__, MemoryError)
    with pytest.raises(forked.CannotTravelError):
        alone(_lock, None)


@linux_alone
@pytest.mark.usefixtures("of_command")
@pytest.mark.parametrize(
    "error",
    [
        NotAFile("a.csv", "a pipe"),
        MetricError("TypeError", "; try another"),
        ContractError(failure("finite", "expected a finite float")),
    ],
)
def test_an_error_of_podium_stays_what_it_is(error: ToolError) -> None:
    with pytest.raises(type(error)) as caught:
        alone(_fail_with, error)
    assert (str(caught.value), vars(caught.value)) == (str(error), vars(error))


def _fail_with(error: ToolError) -> None:
    raise error


def _lock(_: object) -> Callable[[], None]:
    """What cannot travel."""
    return threading.Lock().release


@linux_alone
def test_an_error_while_a_lack_of_memory_is_handled_names_the_limit() -> None:
    limit = limits.within(limits.Limits(memory=2**20))
    with pytest.raises(limits.LimitExceededError, match=r"^takes more than 1 MB of memory$"), limit:
        _fail_to_handle()


def _fail_to_handle() -> None:
    try:
        raise MemoryError
    except MemoryError:
        {}["x"]


@linux_alone
@pytest.mark.usefixtures("of_command")
def test_the_time_of_a_fork_counts() -> None:
    limit = limits.within(limits.Limits(seconds=0.2))
    with pytest.raises(limits.LimitExceededError, match="processor time"), limit:
        alone(_spin, None)


def test_a_process_of_somebody_else_is_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean, "_is_of_command", False)
    assert alone(_pid, None) == os.getpid()


def _pid(_: object) -> int:
    return os.getpid()


def _read_within(content: bytes, memory: int) -> int:
    """Read a CSV within a limit of memory."""
    with limits.within(limits.Limits(memory=memory)):
        return len(parse_table(content, "the file", [], SubmissionRejected))


@linux_alone
@pytest.mark.usefixtures("of_command")
@pytest.mark.parametrize("row", ["{0},some long text of a label\n", "1,2\n"], ids=["texts", "numbers"])
def test_a_csv_that_exceeds_the_memory_names_the_limit(row: str) -> None:
    """Near the limit pyarrow would abort the process, and the metric would be told to have failed."""
    content = ("id,label\n" + "".join(map(row.format, range(150_000)))).encode()
    ended = set()
    for megabytes in (1, 4, 8, 12, 16, 20, 400):
        try:
            ended.add(alone(partial(_read_within, content), megabytes * 2**20))
        except limits.LimitExceededError as problem:
            ended.add(str(problem).partition(" than ")[0])
    assert {"takes more", 150_000} >= ended >= {150_000}
