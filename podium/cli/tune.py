"""Find the thresholds per type that maximize the Unified Metric on out-of-fold predictions.

    podium tune solution.csv candidates.csv
    podium tune solution.csv candidates.csv --out thresholds.csv

PREDICTIONS has one row for each candidate segment, with the columns of a submission. A further column,
probability, says how sure the model is of it; the model must not have seen the essay. For the nested score, the
thresholds of each essay were found on other essays. It is what to expect for new essays.
"""

import argparse

from podium.cli import arguments
from podium.errors import HostError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium tune``."""
    parser.add_argument("solution", help="the right answers: .csv, .csv.gz, .parquet or a URL")
    parser.add_argument("predictions", help="the candidate segments, in the same formats; - for standard input")
    arguments.add_parameters(parser)
    parser.add_argument(
        "--out", metavar="CSV", help="also write the thresholds into this CSV, one row for each type"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    advanced = arguments.advanced(parser)
    advanced.add_argument(
        "--folds",
        type=arguments.positive,
        default=5,
        metavar="N",
        help="how many folds the nested score has (default: 5)",
    )
    advanced.add_argument(
        "--effectiveness",
        type=arguments.probability,
        metavar="P",
        help="give every segment this probability of effective, to tune the segmentation alone (default: what "
        "the candidates say)",
    )
    advanced.add_argument(
        "--seed",
        type=arguments.natural,
        default=0,
        help="a number that decides what is drawn at random (default: 0)",
    )


def run(options: argparse.Namespace) -> None:
    """Find the thresholds, and print and write them."""
    arguments.check_outputs([options.out], [options.solution, options.predictions])

    from podium import hosted, reading, scoring, tuning
    from podium.cli import console
    from podium.files import check_table_name, write_table
    from podium.score_files import check_order

    if options.out is not None:
        check_table_name(options.out)

    metric = hosted.load("unified")
    parameters = hosted.parse_parameters(metric, options.set)
    try:
        frame = reading.read_solution(metric, options.solution, parameters)
        solution = scoring.prepare(metric, frame, parameters)
    except HostError:
        check_order(metric, (options.solution, options.predictions), parameters)
        raise
    candidates = reading.read_submission(metric, options.predictions, solution.arguments)
    tuned = tuning.tune(solution, candidates, options.folds, options.seed, effectiveness=options.effectiveness)
    notices = [*solution.notices, *tuned.notices]
    signature = hosted.signature(metric, solution.arguments, tuned.further)
    if options.out is not None:
        write_table(tuned.thresholds, options.out)
    if options.json:
        names = ("before", "join_gap", "searches", "folds", "comparison", "thresholds")
        values = {name: getattr(tuned, name) for name in names}
        console.print_json(values | {"signature": signature, "warnings": notices})
        return
    console.warn(notices)
    print(tuned)
    console.print_table("Searches", tuned.searches)
    console.print_table(f"Nested against before, {options.folds} folds, seed {options.seed}", tuned.comparison)
    console.print_table("Folds, each with the thresholds found on the others", tuned.folds)
    console.print_table("Thresholds", tuned.thresholds)
    print("\nFor the notebook:\n")
    for name, value in tuned.options.items():
        print(f"{name.upper()} = {value}")
    print(f"\n{signature}")
    if options.out is not None:
        print(f"written to {options.out}")
