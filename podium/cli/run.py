"""Run the submitted models on identical hardware, one at a time, and record their runtimes.

    podium run models --data data --out final/run
    podium rank solution.csv final/run/submissions final/run/runtimes.csv --out final/board

MODELS has one folder per team, or several in a team's folder. Each has a notebook (*.ipynb), run, run.py,
run.sh or container.txt. A model finds the data in $PODIUM_DATA and leaves submission.csv (.csv.gz, .parquet)
in its current folder. A run that was stopped continues when it is started again.

    podium run --one FOLDER --data data --out try        a participant tries a model
"""

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from podium.cli.arguments import positive
from podium.errors import HostError, SubmissionRejected

if TYPE_CHECKING:
    from podium.running.run import Runs

ENGINES = ("auto", "bubblewrap", "docker", "podman", "none")
FAILURES_SHOWN = 5  # with their reasons; all are in failed.csv
COLUMNS = ["team", "submission", "runtime", "runtime_error", "runs", "marks"]  # on the screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium run``."""
    parser.add_argument("models", type=Path, help="a folder that has a folder for each team")
    parser.add_argument(
        "--data", type=Path, required=True, metavar="FOLDER", help="the folder that the models may read"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the folder for the results")
    parser.add_argument("--one", action="store_true", help="MODELS is the folder of one model: run it once")
    parser.add_argument(
        "--repeats", type=positive, default=3, metavar="N", help="how often each model is measured (default: 3)"
    )
    parser.add_argument(
        "--time-limit",
        default="9h",
        metavar="TIME",
        help="time limit of a run, such as 90s or 20m (default: 9h)",
    )
    parser.add_argument(
        "--memory-limit",
        default="16G",
        metavar="SIZE",
        help="memory limit of a model, such as 500M or 16G; --disk-limit is added if its files are in memory "
        "(default: 16G)",
    )
    parser.add_argument(
        "--gpus", action="store_true", help="let the models use the GPUs of this machine (default: none)"
    )
    advanced = parser.add_argument_group("advanced")
    advanced.add_argument(
        "--differing", choices=("slowest", "fail"), default="slowest",
        help="what becomes of a model whose predictions differ from run to run: its slowest run counts, or it "
        "fails (default: slowest)",
    )  # fmt: skip
    advanced.add_argument(
        "--disk-limit", default="2G", metavar="SIZE",
        help="limit on what a model writes, which bubblewrap keeps in memory (default: 2G)",
    )  # fmt: skip
    advanced.add_argument(
        "--folder-limit", default="64G", metavar="SIZE",
        help="limit on the files of a model's folder; a larger one fails (default: 64G)",
    )  # fmt: skip
    advanced.add_argument(
        "--cores", type=positive, default=0, metavar="N", help="how many cores a model may use (default: all)"
    )
    advanced.add_argument(
        "--engine", choices=ENGINES, default="auto",
        help="the sandbox; none is for your own models only (default: auto, which is docker or podman for "
        "containers and bubblewrap for all other models)",
    )  # fmt: skip
    advanced.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="run the models on the workers of the cluster whose Dask scheduler is at this address, one at a "
        "time on each (default: on this machine)",
    )
    advanced.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE",
        help="a variable that models find in their environment; may be given several times",
    )  # fmt: skip
    advanced.add_argument(
        "--seed", type=int, default=0, help="a number that decides the order of the models (default: 0)"
    )


def run(options: argparse.Namespace) -> None:
    """Run the models, print their runtimes, and say which failed."""
    from podium.running.run import run

    made = run(**vars(options))
    _report(made, options.one)


def _report(made: "Runs", one: bool) -> None:
    """Print the runtimes, and raise an error if no model gave predictions."""
    from podium.cli import console
    from podium.running.models import Failure, key_of

    if len(made.runtimes):
        title = "Provisional runtimes in seconds" if made.provisional else "Runtimes in seconds"
        console.print_table(title, made.runtimes[COLUMNS])
    counts = f"models with predictions: {len(made.runtimes):,}, failed: {len(made.failed):,}"
    print(f"\n{counts}; written to {made.out}", flush=True)
    failures = [Failure(*texts) for texts in made.failed[list(Failure._fields)].itertuples(index=False)]
    if one and failures:
        raise SubmissionRejected(f"{failures[0].told} (its whole log is in {made.out / 'logs'})")
    if made.runtimes.empty:
        raise HostError(f"no model gave predictions; {failures[0].team}: {failures[0].told}")
    for failure in failures[:FAILURES_SHOWN]:
        warnings.warn(f"{key_of(failure.team, failure.model)} failed: {failure.told}", stacklevel=1)
    if failures:
        warnings.warn(f"{len(failures):,} failed, see {made.out / 'failed.csv'}", stacklevel=1)
