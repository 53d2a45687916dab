"""Score every submission after the deadline, apply the runtime rewards, publish the final board.

    python rank.py solution.csv submissions/ runtimes.csv --out final/

Exit codes: 0 done, 2 wrong usage, 4 the solution, a parameter, the runtimes or the metric file is wrong.  A
submission that is rejected never stops the run: it is listed in rejected.csv with the reason.
"""

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from competition import console, metric_file, ranking
from competition.errors import HostError, UsageError, run
from competition.files import read_csv

TEAMS_SHOWN = 10


def main(arguments: list[str]) -> None:
    options = parse(arguments)
    if options.out.exists() and not options.out.is_dir():
        raise UsageError(f"--out {options.out} is not a folder")
    metric = metric_file.load(options.metric)
    job = ranking.make_job(
        options.metric.resolve(),
        options.solution.resolve(),
        metric_file.parse_parameters(metric, options.set),
    )
    runtimes = read_csv(options.runtimes, {"team", "submission", "submitted_at"}, HostError)
    selected = None if options.select is None else read_selected(options.select)
    submissions = ranking.find_submissions(options.submissions, selected)
    with cluster(options.dask):
        result = ranking.rank(
            job,
            submissions,
            runtimes,
            cache=options.out / ranking.CACHE,
            jobs=options.jobs,
            resamples=options.resamples,
            prizes=options.prizes,
            seed=options.seed,
        )
    ranking.write(result, options.out)
    print_report(result, options.out)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="rank.py",
        description="Score every submission, apply the runtime rewards, rank.",
        epilog="Exit codes: 0 done, 2 wrong usage, 4 solution, parameter, runtimes or metric file are wrong. "
        "Rejected submissions are listed in rejected.csv and never stop the run.",
    )
    parser.add_argument("solution", type=Path, help="the truth, .csv or .csv.gz")
    parser.add_argument("submissions", type=Path, help="a folder with a file per team, or a folder per team")
    parser.add_argument("runtimes", type=Path, help="CSV: team, runtime in seconds[, submission, submitted_at]")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where to write the results")
    parser.add_argument(
        "--metric",
        type=Path,
        default=Path(__file__).with_name("metric.py"),
        metavar="FILE",
        help="a Python file with a score() (default: metric.py beside this file)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the metric; may be repeated",
    )
    parser.add_argument(
        "--select", type=Path, metavar="CSV", help="team, submission: the files that count (default: the best)"
    )
    parser.add_argument("--jobs", type=process_count, default=-1, help="processes (default: one per core)")
    parser.add_argument("--dask", metavar="ADDRESS", help="work on this Dask cluster instead")
    parser.add_argument(
        "--resamples",
        type=whole_number,
        default=1000,
        help="bootstrap draws for the intervals; 0 for none (default: 1000)",
    )
    parser.add_argument(
        "--prizes", type=whole_number, default=3, help="places to give probabilities of (default: 3)"
    )
    parser.add_argument("--seed", type=whole_number, default=0, help="of the bootstrap (default: 0)")
    return parser.parse_args(arguments)


def whole_number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 0")
    return int(text)


def process_count(text: str) -> int:
    if not whole_number(text):
        raise argparse.ArgumentTypeError("there must be at least 1 process")
    return int(text)


def read_selected(path: Path) -> pd.DataFrame:
    selected = read_csv(path, {"team", "submission"}, HostError)
    for column in ("team", "submission"):
        if column not in selected:
            raise HostError(f"{path} lacks the column {column}; it has {', '.join(selected.columns)}")
    return selected


@contextlib.contextmanager
def cluster(address: str | None) -> Iterator[None]:
    """Send joblib's work to a Dask cluster, if one is named."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--dask needs the package distributed: pip install distributed") from None
    import joblib

    try:
        client: Any = Client(address, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as problem:
        raise UsageError(f"no Dask scheduler at {address}: {problem}") from None
    with client, joblib.parallel_config(backend="dask"):
        yield


def print_report(result: ranking.Ranking, out: Path) -> None:
    counts = result.run["counts"]
    print(
        f"{counts['submissions']:,} submissions, {counts['rejected']:,} rejected; teams on the board: "
        f"{counts['teams']:,}, eligible for a boost: {counts['eligible']:,}; "
        f"decided by the scores of {result.run['decided_by']}"
    )
    top = result.leaderboard.head(TEAMS_SHOWN)
    table = top[["rank", "team", "score", "runtime", "boost", "boosted_score", "rank_before"]]
    if result.intervals is not None:
        low, high = (result.intervals[name].head(TEAMS_SHOWN) for name in ("rank_low", "rank_high"))
        table = table.assign(ranks=[f"{a}-{b}" for a, b in zip(low, high)])
    console.print_table(f"The first {len(top)}", table)
    print(f"\nwritten to {out}", flush=True)
    if counts["rejected"]:
        print(
            f"warning: {counts['rejected']:,} rejected, see {ranking.REJECTED}; "
            f"teams without any score, not on the board: {counts['teams_without_score']:,}",
            file=sys.stderr,
        )
    noted = result.leaderboard[result.leaderboard["note"] != ""]
    for note, teams in noted.groupby("note")["team"]:
        print(f"warning: {note}: {ranking.shortened(list(teams))}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(run(main))
