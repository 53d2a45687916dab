"""How much time and memory does the final ranking need?

    python -m benchmarks.ranking [FOLDER] [--teams 30] [--tiny 100000]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair. Without it, made-up
essays of the same number and size are ranked. The file of every team is a different part of the submission.
With ``--teams 2000`` the files take 40 GB, and to score them takes minutes.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.measure import machine, print_table
from examples.essays import make_competition
from podium.contest import reading
from podium.ranking import store
from podium.ranking.job import make_job, solution_of
from podium.ranking.rules import Options
from podium.scoring import evaluating
from podium.tables.files import ReadFile

REAL_ESSAYS = 15_594
PROCESSES = (1, 2)
REPEATS = 9  # measurements of each stage of one submission
TINY = """
import pandas as pd

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    return float(len(submission))
"""
# This program is a run in a process of its own. Its memory is Linux's VmHWM, because that of getrusage would
# include the memory of the parent.
PROGRAM = """
import re, resource, sys, time
from podium import cli
start = time.perf_counter()
assert cli.main(sys.argv[1:]) == 0
seconds = time.perf_counter() - start
main, workers = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
megabytes = int(re.search(r"VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1]) / 1024
print(seconds, megabytes, main.ru_utime + main.ru_stime, workers.ru_utime + workers.ru_stime)
"""


class Cost(NamedTuple):
    """The time and memory that a run needed."""

    seconds: float  # wall time
    megabytes: float  # the peak memory of the main process
    main: float  # processor seconds of the main process
    workers: float  # processor seconds of all others

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.main + self.workers:.1f} s of CPU, {self.megabytes:,.0f} MB"


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="What does the final ranking cost?")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--teams", type=int, default=30)
    parser.add_argument("--tiny", type=int, default=100_000)
    options = parser.parse_args()
    print(machine())
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        real, tiny = Path(temporary, "real"), Path(temporary, "tiny")
        write_teams(real, options.folder, options.teams)
        show_one(real)
        show_runs(f"{options.teams:,} submissions of real size", real, "--set", "temperature=50")
        write_tiny(tiny, options.tiny)
        show_runs(f"{options.tiny:,} tiny submissions", tiny, metric=tiny / "metric.py")


def write_teams(to: Path, source: Path | None, teams: int) -> None:
    """Write a solution and one file per team, each without a few random rows."""
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
    """Write a tiny metric, a tiny solution and a tiny file per team."""
    (to / "teams").mkdir(parents=True)
    (to / "metric.py").write_text(TINY)
    (to / "solution.csv").write_text("id\n1\n")
    for team in range(teams):
        (to / "teams" / f"{team}.csv").write_text("id\n1\n")


def show_one(folder: Path) -> None:
    """Print the processor seconds of each stage of one submission, and the size of its entry."""
    job = make_job(Options(folder / "solution.csv", out=folder), ())
    solution = solution_of(job)
    path = sorted((folder / "teams").iterdir())[0]
    runs: dict[str, list[float]] = {}

    def clocked(name: str, call: Callable[..., Any], *arguments: Any) -> Any:
        start = time.process_time()
        result = call(*arguments)
        runs.setdefault(name, []).append(time.process_time() - start)
        return result

    for _ in range(REPEATS):
        content = clocked("read", path.read_bytes)
        frame = clocked("parse", reading.read_submission, solution.metric, ReadFile(path.name, content), {})
        evaluation = clocked("score", evaluating.evaluate, solution, frame)
        entry = clocked("store", store.encode, {}, evaluation.statistics)
        clocked("from the store", getattr, entry, "statistics")
    print_table(
        f"A submission of real size: {len(content) / 1e6:.1f} MB, its entry {len(entry.content) / 1e6:.2f} MB",
        ["", "CPU seconds"],
        [[name, f"{statistics.median(taken):.3f}"] for name, taken in runs.items()],
    )


def show_runs(title: str, folder: Path, *again: str, metric: Path | None = None) -> None:
    """Print the cost of whole runs: files are scored, come from the store, and are ranked again."""
    inputs = [str(folder / name) for name in ("solution.csv", "teams")]
    if metric is not None:
        inputs += ["--metric", str(metric)]
    rows = []
    for processes in PROCESSES:
        out = str(folder / f"out {processes}")
        jobs = ["--jobs", str(processes)]
        first = run("rank", *inputs, "--out", out, *jobs)
        second = run("rank", *inputs, "--out", out, *jobs)
        third = run("rank", "--again", out, "--out", f"{out} again", *again, *jobs)
        rows.append([f"{processes}", str(first), str(second), str(third)])
    print_table(
        f"{title}; seconds, processor seconds, memory of the main process",
        ["processes", "scored", "from the store", "--again"],
        rows,
    )


def run(*arguments: str) -> Cost:
    """Measure the time and memory of a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], check=True, capture_output=True, text=True
    )
    return Cost(*map(float, done.stdout.split()[-4:]))


if __name__ == "__main__":
    main()
