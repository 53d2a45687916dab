"""What does the final ranking cost?

    python -m benchmarks.ranking [FOLDER] [--teams 30] [--tiny 100000]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair; without it, made-up
essays of the same number and size are ranked.  Every team's file is a different part of the submission.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import machine, print_table
from podium import hosted, scoring
from podium.ranking import store, uncertainty, work
from tests.support.essays import make_competition

REAL_ESSAYS = 15_594
PROCESSES = (1, 2)
TINY = """
import pandas as pd

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    return float(len(submission))
"""
# A run in a process of its own.  Its memory is Linux's VmHWM; getrusage's includes that of the parent.
PROGRAM = """
import re, sys, time
from podium import cli
if __name__ == "__main__":
    start = time.perf_counter()
    assert cli.main(sys.argv[1:]) == 0
    seconds = time.perf_counter() - start
    print(seconds, int(re.search(r"VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1]) / 1024)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="What does the final ranking cost?")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--teams", type=int, default=30)
    parser.add_argument("--tiny", type=int, default=100_000)
    options = parser.parse_args()
    print(machine())
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        real, tiny = Path(temporary) / "real", Path(temporary) / "tiny"
        write_teams(real, options.folder, options.teams)
        show_one(real)
        show_runs(real, options.teams)
        write_tiny(tiny, options.tiny)
        show_tiny(tiny, options.tiny)


def write_teams(to: Path, source: Path | None, teams: int) -> None:
    """A solution and one file per team, each without a few random rows."""
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
    (to / "teams").mkdir(parents=True)
    (to / "metric.py").write_text(TINY)
    (to / "solution.csv").write_text("id\n1\n")
    for team in range(teams):
        (to / "teams" / f"{team}.csv").write_text(f"id\n{team}\n")


def show_one(folder: Path) -> None:
    """CPU seconds of one submission, by stage, and the size of its entry."""
    job = work.make_job("unified", str(folder / "solution.csv"), {})
    solution = work.prepared(job)
    path = sorted((folder / "teams").iterdir())[0]
    seconds = {}

    def clocked(name: str, call: Any, *arguments: Any) -> Any:
        start = time.process_time()
        result = call(*arguments)
        seconds[name] = time.process_time() - start
        return result

    for _ in range(2):  # the second time counts
        content = clocked("read", path.read_bytes)
        frame = clocked("parse", scoring.parse_submission, solution.metric, content, path.name, {})
        evaluation = clocked("score", scoring.evaluate, solution, frame)
        entry = clocked("store", store.encode, {}, evaluation.statistics)
        clocked("from the store", store.decode, entry)
        several = [(number, entry) for number in range(uncertainty.RESAMPLED_AT_ONCE)]
        clocked("1,000 resamples, variants", uncertainty.detail, job, solution.deciding, 1000, 0, several)
        seconds["1,000 resamples, variants"] /= len(several)
    print_table(
        f"A submission of real size: {len(content) / 1e6:.1f} MB, its entry {len(entry) / 1e6:.2f} MB",
        ["", "CPU seconds"],
        [[name, f"{taken:.3f}"] for name, taken in seconds.items()],
    )


def show_runs(folder: Path, teams: int) -> None:
    """Wall seconds of whole runs, by one process and by two."""
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
                *(f"{seconds:.1f} s, {megabytes:.0f} MB" for seconds, megabytes in (first, second, again)),
            ]
        )
    print_table(
        f"{teams} submissions of real size, 1,000 resamples; memory of the main process",
        ["processes", "scored", "known from before", "--again with another temperature"],
        rows,
    )


def show_tiny(folder: Path, teams: int) -> None:
    metric = hosted.load(folder / "metric.py")
    job = work.make_job(str(folder / "metric.py"), str(folder / "solution.csv"), {})
    paths = sorted((folder / "teams").iterdir())[:1000]
    start = time.process_time()
    for path in paths:
        frame = scoring.parse_submission(metric, path.read_bytes(), path.name, {})
        scoring.evaluate(work.prepared(job), frame)
    scoring_alone = (time.process_time() - start) / len(paths)
    inputs = [str(folder / name) for name in ("solution.csv", "teams")]
    options = ["--metric", str(folder / "metric.py"), "--out", str(folder / "out"), "--jobs", "2"]
    rows = []
    for name in ("scored", "known from before"):
        seconds, megabytes = run("rank", *inputs, *options)
        rows.append([name, f"{seconds:.0f}", f"{seconds / teams * 1000:.2f}", f"{megabytes:.0f}"])
    print_table(
        f"{teams:,} tiny submissions, 2 processes; to score one takes {scoring_alone * 1000:.2f} ms of CPU",
        ["", "seconds", "ms per submission", "MB of the main process"],
        rows,
    )


def run(*arguments: str) -> tuple[float, float]:
    """Seconds and megabytes of a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], check=True, capture_output=True, text=True
    )
    seconds, megabytes = done.stdout.split()[-2:]
    return float(seconds), float(megabytes)


if __name__ == "__main__":
    main()
