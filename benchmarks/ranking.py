"""How much time and memory does the final ranking need?

    python -m benchmarks.ranking [FOLDER] [--teams 30] [--tiny 100000] [--stored 200] [--whole 0]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair.  Without it, made-up
essays of the same number and size are ranked.  The file of every team is a different part of the submission.
With ``--stored 2000``, as many teams are ranked again as `podium rank --again` is made for.  To make such a
store takes five minutes and a gigabyte.  With ``--whole 10000``, as many teams are ranked again once.
"""

import argparse
import functools
import hashlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.measure import machine, print_table
from podium import hosted, scoring
from podium.ranking import store, uncertainty, work
from podium.ranking.final import read_run
from podium.ranking.job import Job, content_digest, entry_name, make_job, solution_of
from podium.ranking.output import RUN, STORE
from podium.ranking.submissions import Submission
from tests.support.essays import make_competition

REAL_ESSAYS = 15_594
PROCESSES = (1, 2)
REPEATS = 9  # measurements of each stage of one submission
BLOCK = 25  # files in a block; the speed of a machine changes between blocks
SCALED_TO = 10_000  # files
# The page on `podium rank` advises the first two.  Dask itself sets the others for workers that have a nanny.
DASK_ENVIRONMENT = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
DASK_ADDRESS = "tcp://127.0.0.1:8799"
SECONDS_TO_START = 15  # of a cluster
TINY = """
import pandas as pd

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    return float(len(submission))
"""
# This program is a run in a process of its own.  Its memory is Linux's VmHWM, because that of getrusage would
# include the memory of the parent.
PROGRAM = """
import re, resource, sys, time
from podium import cli
if __name__ == "__main__":
    start = time.perf_counter()
    assert cli.main(sys.argv[1:]) == 0
    seconds = time.perf_counter() - start
    main, workers = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    megabytes = int(re.search(r"VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1]) / 1024
    print(seconds, megabytes, main.ru_utime + main.ru_stime, workers.ru_utime + workers.ru_stime)
"""


class Cost(NamedTuple):
    """The time and memory that a run needed.

    Attributes
    ----------
    seconds : float
        Seconds of wall time.
    megabytes : float
        The peak memory of the main process in MB.
    main, workers : float
        Seconds of processor time of the main process and of all others.
    """

    seconds: float
    megabytes: float
    main: float
    workers: float


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="What does the final ranking cost?")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--teams", type=int, default=30)
    parser.add_argument("--tiny", type=int, default=100_000)
    parser.add_argument("--stored", type=int, default=200)
    parser.add_argument("--whole", type=int, default=0)
    options = parser.parse_args()
    print(machine())
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        names = ("real", "tiny", "stored", "whole")
        real, tiny, stored, whole = (Path(temporary) / name for name in names)
        write_teams(real, options.folder, options.teams)
        to_score = show_one(real)
        show_many(real)
        show_runs(real, options.teams)
        show_dask(real)
        write_store(stored, real, options.stored)
        show_stored(stored, options.stored, to_score)
        if options.whole:
            write_store(whole, real, options.whole)
            show_whole(whole, options.whole)
        write_tiny(tiny, options.tiny)
        show_tiny(tiny, options.tiny)


def write_teams(to: Path, source: Path | None, teams: int) -> None:
    """Write a solution and one file per team, each without a few random rows.

    Parameters
    ----------
    to : Path
        The folder.
    source : Path or None
        The folder with the pair of files, or None for made-up essays.
    teams : int
        The number of teams.
    """
    (to / "teams").mkdir(parents=True)
    if source is None:
        solution, submission = make_competition(REAL_ESSAYS)
    else:
        names = ("solution.csv.gz", "submission.csv.gz")
        solution, submission = (pd.read_csv(source / name, keep_default_na=False) for name in names)
    solution.to_csv(to / "solution.csv", index=False)
    for team in range(teams):
        kept = np.random.default_rng(team).random(len(submission)) > 0.001 * (team % 50)
        submission[kept].to_csv(to / "teams" / f"team {team:04d}.csv", index=False)


def write_tiny(to: Path, teams: int) -> None:
    """Write a tiny metric, a tiny solution and a tiny file per team.

    Parameters
    ----------
    to : Path
        The folder.
    teams : int
        The number of teams.
    """
    (to / "teams").mkdir(parents=True)
    (to / "metric.py").write_text(TINY)
    (to / "solution.csv").write_text("id\n1\n")
    for team in range(teams):
        (to / "teams" / f"{team}.csv").write_text(f"id\n{team}\n")


def write_store(to: Path, ranked: Path, teams: int) -> None:
    """Write the folder of a run that ranked so many teams, each with words and probabilities of its own.

    Parameters
    ----------
    to : Path
        The folder.
    ranked : Path
        The folder that `write_teams` wrote, after a run.
    teams : int
        The number of teams.
    """
    to.mkdir(parents=True)
    job = make_job("unified", str(ranked / "solution.csv"), {})
    solution = solution_of(job)
    path = sorted((ranked / "teams").iterdir())[0]
    prepared = solution.prepared[scoring.ALL]
    given = prepared.read(scoring.parse_submission(solution.metric, path.read_bytes(), path.name, {}))
    submissions, runtimes = [], []
    with ProcessPoolExecutor(max(PROCESSES)) as pool:
        write = functools.partial(write_entry, to / STORE, job, given)
        for team, digest in enumerate(pool.map(write, range(teams), chunksize=16)):
            submissions.append({"team": f"team {team:05d}", "submission": f"{team:05d}.csv", "sha256": digest})
            random = np.random.default_rng(team)
            runs = 3000 * random.uniform(1, 1.4) * random.normal(1, 0.01, 3)
            runtimes.append([f"team {team:05d}", np.median(runs), " ".join(map(str, runs))])
    pd.DataFrame(runtimes, columns=["team", "runtime", "runs"]).to_csv(to / "runtimes.csv", index=False)
    facts = read_run(ranked / "out 1") | {"submissions": submissions}
    facts["inputs"]["solution"]["path"] = str(ranked / "solution.csv")
    digest = content_digest(str(to / "runtimes.csv"))
    facts["inputs"]["runtimes"] = {"path": "runtimes.csv", "sha256": digest}
    (to / RUN).write_text(json.dumps(facts), encoding="utf-8")


def write_entry(folder: Path, job: Job, given: Any, team: int) -> str:
    """Store the statistics of one team, which differ a little from the given ones.

    Parameters
    ----------
    folder : Path
        The folder of the store.
    job : Job
        The metric with its solution.
    given : object
        The predictions from which those of the team are made, as the metric reads them.
    team : int
        The number of the team, which decides the random numbers.

    Returns
    -------
    str
        The digest that stands for the team's file.
    """
    solution, number = solution_of(job), len(given.row)
    prepared = solution.prepared[scoring.ALL]
    random = np.random.default_rng(team)
    noise = random.uniform(0, 0.3)
    moved = given.first + random.integers(-2, 3, number) * (random.random(number) < noise)
    d1 = (given.d1 + random.normal(0, noise, number)).clip(0, 1)
    predictions = given._replace(first=moved.clip(0, given.last), d1=d1)
    numbers = prepared.count(prepared.compare(predictions.take(random.random(number) > noise / 10)))
    digest = hashlib.sha256(str(team).encode()).hexdigest()
    header = {"context": job.context, "sha256": digest, "measured": job.measured}
    entry = store.encode(header | {"scores": scoring.scores_of(solution, numbers)}, numbers)
    store.save(folder, entry_name(job.context, digest), entry)
    return digest


def show_one(folder: Path) -> float:
    """Print the processor seconds of each stage of one submission, and the size of its entry.

    Parameters
    ----------
    folder : Path
        The folder that `write_teams` wrote.

    Returns
    -------
    float
        The processor seconds to read, score and store the submission.
    """
    job = make_job("unified", str(folder / "solution.csv"), {})
    solution = solution_of(job)
    path = sorted((folder / "teams").iterdir())[0]
    runs: dict[str, list[float]] = {}

    def clocked(name: str, call: Any, *arguments: Any) -> Any:
        start = time.process_time()
        result = call(*arguments)
        runs.setdefault(name, []).append(time.process_time() - start)
        return result

    for _ in range(REPEATS):
        content = clocked("read", path.read_bytes)
        frame = clocked("parse", scoring.parse_submission, solution.metric, content, path.name, {})
        evaluation = clocked("score", scoring.evaluate, solution, frame)
        entry = clocked("store", store.encode, {}, evaluation.statistics)
        clocked("from the store", store.decode, entry)
        several = [(number, entry) for number in range(uncertainty.RESAMPLED_AT_ONCE)]
        clocked("1,000 resamples, variants", uncertainty.detail, job, solution.deciding, 1000, 0, several)
        runs["1,000 resamples, variants"][-1] /= len(several)
    seconds = {name: statistics.median(taken) for name, taken in runs.items()}
    print_table(
        f"A submission of real size: {len(content) / 1e6:.1f} MB, its entry {len(entry) / 1e6:.2f} MB",
        ["", "CPU seconds"],
        [[name, f"{taken:.3f}"] for name, taken in seconds.items()],
    )
    return sum(seconds[name] for name in ("read", "parse", "score", "store"))


def show_many(folder: Path) -> None:
    """Print what it costs to score each file as a worker does, and what very many files would cost.

    Parameters
    ----------
    folder : Path
        The folder that `write_teams` wrote.
    """
    job = make_job("unified", str(folder / "solution.csv"), {})
    solution_of(job)
    seconds = []
    for number, path in enumerate(sorted((folder / "teams").iterdir())):
        start = time.process_time()
        ((_, _, entry),) = work.visit(job, b"", [(number, Submission(path.stem, path.name, str(path)))])
        seconds.append(time.process_time() - start)
        assert isinstance(entry, bytes)
    of_blocks = [statistics.mean(seconds[at : at + BLOCK]) for at in range(0, len(seconds), BLOCK)]
    means = {"mean": statistics.mean(seconds), "least block": min(of_blocks), "greatest block": max(of_blocks)}
    print_table(
        f"{len(seconds)} files of real size scored one after the other, in blocks of {BLOCK}",
        ["", "CPU seconds each", f"CPU minutes for {SCALED_TO:,}"],
        [[name, f"{mean:.3f}", f"{mean * SCALED_TO / 60:.1f}"] for name, mean in means.items()],
    )


def show_runs(folder: Path, teams: int) -> None:
    """Print the wall seconds of whole runs, with one process and with two.

    Parameters
    ----------
    folder : Path
        The folder that `write_teams` wrote.
    teams : int
        The number of teams, for the title.
    """
    inputs = [str(folder / name) for name in ("solution.csv", "teams")]
    rows = []
    for processes in PROCESSES:
        out = folder / f"out {processes}"
        jobs = ["--jobs", str(processes)]
        first = run("rank", *inputs, "--out", str(out), *jobs)
        second = run("rank", *inputs, "--out", str(out), *jobs)
        again = run("rank", "--again", str(out), "--out", str(out) + " again", "--set", "temperature=50", *jobs)
        rows.append(
            [
                f"{processes}",
                *(f"{cost.seconds:.1f} s, {cost.megabytes:.0f} MB" for cost in (first, second, again)),
            ]
        )
    print_table(
        f"{teams} submissions of real size, 1,000 resamples; memory of the main process",
        ["processes", "scored", "from the store", "--again with another temperature"],
        rows,
    )


def show_stored(folder: Path, teams: int, to_score: float) -> None:
    """Print what `podium rank --again` needs for variants, similar teams and the page, then for draws, too.

    Parameters
    ----------
    folder : Path
        The folder that `write_store` wrote.
    teams : int
        The number of teams.
    to_score : float
        The processor seconds to read and score one submission.
    """
    rows = []
    for processes, resamples in itertools.product(PROCESSES, (0, 1000)):
        out = f"{folder} again {processes} {resamples}"
        options = ("--jobs", str(processes), "--resamples", str(resamples))
        cost = run("rank", "--again", str(folder), "--out", out, *options)
        rows.append(
            [
                f"{processes}, {resamples:,}",
                *(f"{seconds:.1f}" for seconds in (cost.seconds, cost.main, cost.workers)),
                f"{(cost.main + cost.workers) / (teams * to_score):.2f}",
                f"{cost.megabytes:.0f}",
            ]
        )
    print_table(
        f"{teams:,} stored teams of real size ranked again; to read and score their files would take "
        f"{teams * to_score:.0f} s of CPU",
        ["processes, resamples", "seconds", "CPU, main", "CPU, others", "CPU / that of scoring", "MB, main"],
        rows,
    )


def show_whole(folder: Path, teams: int) -> None:
    """Print the cost of one run of `podium rank --again` with draws, rank sets and the page.

    Parameters
    ----------
    folder : Path
        The folder that `write_store` wrote.
    teams : int
        The number of teams, for the title.
    """
    cost = run("rank", "--again", str(folder), "--out", f"{folder} again", "--jobs", str(max(PROCESSES)))
    print_table(
        f"{teams:,} stored teams of real size ranked again, 1,000 resamples, {max(PROCESSES)} processes, once",
        ["seconds", "CPU, main", "CPU, others", "MB, main"],
        [[f"{cost.seconds:.0f}", f"{cost.main:.0f}", f"{cost.workers:.0f}", f"{cost.megabytes:,.0f}"]],
    )


def show_tiny(folder: Path, teams: int) -> None:
    """Print what very many tiny submissions need.

    Parameters
    ----------
    folder : Path
        The folder that `write_tiny` wrote.
    teams : int
        The number of teams.
    """
    metric = hosted.load(folder / "metric.py")
    job = make_job(str(folder / "metric.py"), str(folder / "solution.csv"), {})
    paths = sorted((folder / "teams").iterdir())[:1000]
    start = time.process_time()
    for path in paths:
        frame = scoring.parse_submission(metric, path.read_bytes(), path.name, {})
        scoring.evaluate(solution_of(job), frame)
    scoring_alone = (time.process_time() - start) / len(paths)
    inputs = [str(folder / name) for name in ("solution.csv", "teams")]
    options = ["--metric", str(folder / "metric.py"), "--out", str(folder / "out"), "--jobs", "2"]
    rows = []
    for name in ("scored", "from the store"):
        cost = run("rank", *inputs, *options)
        per_submission = cost.seconds / teams * 1000
        rows.append([name, f"{cost.seconds:.0f}", f"{per_submission:.2f}", f"{cost.megabytes:.0f}"])
    print_table(
        f"{teams:,} tiny submissions, 2 processes; to score one takes {scoring_alone * 1000:.2f} ms of CPU",
        ["", "seconds", "ms per submission", "MB of the main process"],
        rows,
    )


def show_dask(folder: Path) -> None:
    """Print what two workers of Dask, with the settings of `DASK_ENVIRONMENT`, cost beside two local processes.

    Parameters
    ----------
    folder : Path
        The folder that `write_teams` wrote.
    """
    inputs = [str(folder / name) for name in ("solution.csv", "teams")]
    options = ("--resamples", "0", "--out")
    local = run("rank", *inputs, "--jobs", str(max(PROCESSES)), *options, str(folder / "local"))
    environment = os.environ | DASK_ENVIRONMENT
    worker = ["worker", DASK_ADDRESS, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    scheduler = ["scheduler", "--host", DASK_ADDRESS, "--no-dashboard"]
    processes = []
    try:
        for name, *words in (scheduler, *[worker] * max(PROCESSES)):
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *words]
            silent = subprocess.DEVNULL
            processes.append(
                subprocess.Popen(command, stdout=silent, stderr=silent, env=environment, cwd=folder)
            )
        time.sleep(SECONDS_TO_START)
        before = [processor_seconds_of(each.pid) for each in processes]
        cost = run("rank", *inputs, "--dask", DASK_ADDRESS, *options, str(folder / "cluster"))
        after = [processor_seconds_of(each.pid) for each in processes]
    finally:
        for each in processes:
            each.kill()
            each.wait()
    cluster = [late - early for early, late in zip(before, after)]
    whole, of_dask = local.main + local.workers, cost.main + sum(cluster)
    print_table(
        "Processor seconds to score the files of real size by two workers",
        ["", "main", "scheduler", "workers", "all", "times local"],
        [
            ["local", f"{local.main:.1f}", "", f"{local.workers:.1f}", f"{whole:.1f}", "1.00"],
            [
                *("Dask", f"{cost.main:.1f}", f"{cluster[0]:.1f}", f"{sum(cluster[1:]):.1f}"),
                *(f"{of_dask:.1f}", f"{of_dask / whole:.2f}"),
            ],
        ],
    )


def processor_seconds_of(process: int) -> float:
    """Read how many processor seconds a running process has used, with all of its threads.

    Parameters
    ----------
    process : int
        The number of the process.

    Returns
    -------
    float
        Seconds of processor time.
    """
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(*arguments: str) -> Cost:
    """Measure the time and memory of a command in a process of its own.

    Parameters
    ----------
    *arguments : str
        The words after ``podium`` on the command line.

    Returns
    -------
    Cost
        What the command needed.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], check=True, capture_output=True, text=True
    )
    return Cost(*map(float, done.stdout.split()[-4:]))


if __name__ == "__main__":
    main()
