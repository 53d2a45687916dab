"""Find the thresholds per type that maximise the Unified Metric on out-of-fold predictions.

podium tune solution.csv candidates.csv
podium tune solution.csv candidates.csv --out thresholds.csv

PREDICTIONS has a row per candidate segment, in the columns of a submission, and in the column probability how
sure the model is of it, which must not have seen the essay.  Nested is the score of essays whose thresholds
were found on others: what to expect of new ones.
"""

import argparse

from podium.cli import arguments

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("solution", help="the truth: .csv, .csv.gz, .parquet or a URL")
    parser.add_argument("predictions", help="the candidates, likewise; - for standard input")
    arguments.add_parameters(parser)
    parser.add_argument(
        "--folds", type=arguments.positive, default=5, metavar="N", help="of the nested score (default: 5)"
    )
    parser.add_argument("--seed", type=arguments.natural, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--out", metavar="CSV", help="write the thresholds, a row per type")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def run(options: argparse.Namespace) -> None:
    """Tune, print, write."""
    arguments.check_outputs([options.out], [options.solution, options.predictions])

    from podium import hosted, scoring, tuning
    from podium.cli import console
    from podium.files import write_table

    metric = hosted.load("unified")
    parameters = hosted.parse_parameters(metric, options.set)
    solution = scoring.prepare(metric, scoring.read_solution(metric, options.solution, parameters), parameters)
    candidates = scoring.read_submission(metric, options.predictions, parameters)
    tuned = tuning.tune(solution.prepared[scoring.ALL], candidates, options.folds, options.seed)
    notices = [*solution.notices, *tuned.notices]
    if options.json:
        values = {name: getattr(tuned, name) for name in ("before", "searches", "comparison", "thresholds")}
        console.print_json(values | {"signature": solution.signature, "warnings": notices})
    else:
        console.warn(notices)
        print(tuned)
        nested = f"Nested against before, {options.folds} folds, seed {options.seed}"
        tables = {"Searches": tuned.searches, nested: tuned.comparison, "Thresholds": tuned.thresholds}
        for title, table in tables.items():
            console.print_table(title, table)
        print("\nFor the notebook:\n")
        for name, thresholds in tuned.options.items():
            print(f"{name.upper()} = {thresholds}")
        print(f"\n{solution.signature}")
    if options.out is not None:
        write_table(tuned.thresholds, options.out)
        if not options.json:
            print(f"written to {options.out}")
