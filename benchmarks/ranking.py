"""How fast is the final ranking?

    python -m benchmarks.ranking [FOLDER]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair; without it, made-up
essays of the same number and size are ranked.  Every team's file is a different part of the submission.
"""

import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measure import machine, memory_of, print_table, seconds_of
from benchmarks.unified_metric import REAL_ESSAYS
from competition import metric_file, scoring
from tests.essays import make_competition

ROOT = Path(__file__).parent.parent
TEAMS = 30
SMALL_TEAMS, SMALL_ESSAYS = 2000, 40
TURNS = 3

# What a run of rank.py does, measured inside one process: seconds, then (by memory_of) the peak memory of it
# and, where it has worker processes, of the largest of them.
PROGRAM = """
import sys, time, warnings
sys.path.insert(0, {root!r})
warnings.simplefilter("ignore")
import contextlib, io
from pathlib import Path
import pandas as pd
from competition import ranking
folder = Path({folder!r})
job = ranking.make_job(Path({root!r}) / "metric.py", folder / "solution.csv.gz", {{}})
submissions = ranking.find_submissions(folder / "teams")[:{teams}]
runtimes = pd.DataFrame({{"team": [s.team for s in submissions], "runtime": 100.0}})
def rank(resamples, submissions):
    with contextlib.redirect_stderr(io.StringIO()):
        ranking.rank(job, submissions, runtimes[: len(submissions)], jobs={jobs}, resamples=resamples)
# Processes start, read and prepare the solution once, before the clock does.
rank(0, submissions[: 2 * {jobs}])
start = time.perf_counter()
rank({resamples}, submissions)
print(time.perf_counter() - start)
"""


def main(folder: Path | None) -> None:
    print(machine())
    with tempfile.TemporaryDirectory() as temporary:
        real = Path(temporary) / "real"
        write_teams(real, folder, REAL_ESSAYS, TEAMS)
        show_scoring(real)
        show_throughput(real)
        show_memory(real)
        show_bootstrap(real)
        small = Path(temporary) / "small"
        write_teams(small, None, SMALL_ESSAYS, SMALL_TEAMS)
        show_small(small)


def write_teams(to: Path, source: Path | None, essays: int, teams: int) -> None:
    """A solution and one file per team, each without a few random rows."""
    (to / "teams").mkdir(parents=True)
    if source is None:
        solution, submission = make_competition(essays)
    else:
        names = ("solution.csv.gz", "submission.csv.gz")
        solution, submission = (pd.read_csv(source / name, keep_default_na=False) for name in names)
    solution.to_csv(to / "solution.csv.gz", index=False, compression={"method": "gzip", "compresslevel": 1})
    for team in range(teams):
        kept = np.random.default_rng(team).random(len(submission)) > 0.001 * (team % 50)
        submission[kept].to_csv(to / "teams" / f"team {team:04d}.csv", index=False)


def seconds_and_memory(folder: Path, teams: int, jobs: int, resamples: int = 0) -> tuple[float, float]:
    return memory_of(
        PROGRAM.format(root=str(ROOT), folder=str(folder), teams=teams, jobs=jobs, resamples=resamples)
    )


def show_throughput(folder: Path) -> None:
    """Submissions per second of one and of two processes, in turns; reading the files included."""
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(TURNS):
        for jobs, taken in times.items():
            taken.append(seconds_and_memory(folder, TEAMS, jobs)[0])
    one, two = (TEAMS / float(np.median(times[jobs])) for jobs in (1, 2))
    print_table(
        f"{TEAMS} submissions of real size, read and scored whole, Public and Private",
        ["processes", "submissions per second", "times one process"],
        [["1", f"{one:.1f}", "1.00"], ["2", f"{two:.1f}", f"{two / one:.2f}"]],
    )


def show_scoring(folder: Path) -> None:
    """Submissions per second of one process, once read."""
    metric = metric_file.load(ROOT / "metric.py")
    warnings.simplefilter("ignore", metric.TruthOverlapWarning)
    prepared = scoring.prepare(metric, scoring.read_solution(metric, folder / "solution.csv.gz", {}), {})
    paths = sorted((folder / "teams").iterdir())[:5]
    frames = [scoring.read_submission(metric, path, {}) for path in paths]
    seconds = seconds_of(lambda: [scoring.evaluate(prepared, frame) for frame in frames], TURNS) / len(frames)
    print_table(
        "Submissions of real size once read, scored whole, Public and Private by one process",
        ["", "submissions per second"],
        [["scoring", f"{1 / seconds:.1f}"]],
    )


def show_memory(folder: Path) -> None:
    rows = [[f"{teams}", f"{seconds_and_memory(folder, teams, 1)[1]:.0f}"] for teams in (5, 15, TEAMS)]
    print_table("Peak memory of one process", ["submissions", "MB"], rows)


def show_bootstrap(folder: Path) -> None:
    without = seconds_and_memory(folder, TEAMS, 2)[0]
    seconds, megabytes = seconds_and_memory(folder, TEAMS, 2, resamples=1000)
    print_table(
        f"Intervals: 1,000 resamples for {TEAMS} teams of real size, 2 processes",
        ["", "seconds", "MB of the main process"],
        [
            ["scoring and resampling", f"{seconds:.1f}", f"{megabytes:.0f}"],
            ["of it resampling", f"{seconds - without:.1f}", ""],
        ],
    )


def show_small(folder: Path) -> None:
    start = time.perf_counter()
    seconds, _ = seconds_and_memory(folder, SMALL_TEAMS, 2)
    whole = time.perf_counter() - start
    print_table(
        f"{SMALL_TEAMS:,} submissions of {SMALL_ESSAYS} essays, 2 processes",
        ["", "seconds"],
        [["ranking", f"{seconds:.1f}"], ["with starting the processes", f"{whole:.1f}"]],
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
