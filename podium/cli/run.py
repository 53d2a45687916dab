"""Run the submitted models on identical hardware, one at a time, and record their runtimes.

    podium run models --data data --out final/run
    podium rank solution.csv final/run --out final/board

MODELS has one folder per team, or several in a team's folder. Each has a notebook (*.ipynb), run, run.py,
run.sh or container.txt. A model finds the data in $PODIUM_DATA and leaves submission.csv (.csv.gz, .parquet)
in its current folder. A run that was stopped continues when it is started again.

    podium run --one FOLDER --data data --out try        a participant tries a model
"""

import warnings

from podium.common.errors import HostError, SubmissionRejected
from podium.common.statements import say
from podium.running.run import Options, of_options

FAILURES_SHOWN = 5  # with their reasons; all are in failed.csv
COLUMNS = ["team", "submission", "runtime", "runtime_error", "runs", "marks"]  # on the screen


def run(options: Options) -> None:
    """Run the models, print their runtimes, and say which failed; that all failed is an error."""
    from podium.cli import console
    from podium.running.models import Failure

    made = of_options(options)
    if len(made.runtimes):
        title = "Provisional runtimes in seconds" if made.provisional else "Runtimes in seconds"
        console.print_table(title, made.runtimes[COLUMNS])
    print(f"\n{made.counts}; written to {made.out}", flush=True)
    failures = [Failure(*texts) for texts in made.failed[list(Failure._fields)].itertuples(index=False)]
    if options.one and failures:
        raise SubmissionRejected(f"{failures[0].told} (its whole log is in {made.out / 'logs'})")
    if made.runtimes.empty:
        raise HostError(f"no model gave predictions; {failures[0].key}: {failures[0].told}")
    for failure in failures[:FAILURES_SHOWN]:
        warnings.warn(say("model_failed", model=failure.key, why=failure.told), stacklevel=1)
    if failures:
        warnings.warn(say("models_failed", failed=len(failures), file=made.out / "failed.csv"), stacklevel=1)
