"""Score a submission as Kaggle would, and show what the participant sees.

    podium emulate metric.py solution.csv submission.csv
    podium emulate files submission.csv     with the metric and the solution that podium make wrote there

Each part of the solution is scored in a fresh process.
"""

from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from podium.cli.arguments import OfTrial


@dataclass(frozen=True)
class Options(OfTrial):
    """The options of ``podium emulate``.

    Parameters
    ----------
    metric : METRIC
        A Python file with a score(), or a metric's name (default: the one for which podium make has made the
        files).
    solution : SOLUTION
        The right answers, with a column Usage, or the folder that podium make wrote.
    submission : SUBMISSION
        The predictions.
    complete_submission : bool
        Switch “Pass complete submission” on, as COMPLETE_SUBMISSION = True in the file does.
    """

    metric: str | None
    solution: Path
    submission: Path
    _: KW_ONLY
    complete_submission: bool = False


def run(options: Options) -> None:
    """Score each part in a fresh process, and print what the site would print."""
    from podium.cli.console import tell_further_calls, warn
    from podium.contest import pipeline, recorded
    from podium.hosting import round_trip
    from podium.hosting.kaggle import acceptance, emulate, fresh
    from podium.metric.shapes import demand
    from podium.scoring import misfits, verdicts
    from podium.tables.files import read_once

    metric, arguments, _ = recorded.completed(options.solution, options.metric, options.set)
    given = read_once(options.solution), read_once(options.submission)
    solution, submission, row_id = emulate.read_tables(metric, *given, arguments.get("row_id_column_name"))
    arguments["row_id_column_name"] = row_id
    complete = options.complete_submission or metric.complete_submission
    spent = []
    scored = emulate.emulate(metric, solution, submission, arguments, complete)
    for part, score, seconds in scored:
        print(f"{part:<8} {score:.6f}  {seconds:6.2f} s", flush=True)
        spent.append(seconds)
    print(f"{sum(spent):.2f} s of the {fresh.TIME_LIMIT / 60:.0f} minutes that Kaggle gives", flush=True)
    if options.quick:
        return
    metric = replace(metric, complete_submission=complete)
    prepared = pipeline.prepared(metric, solution, arguments)
    tell_further_calls(len(prepared.rows) + acceptance.most_calls(metric, submission), max(spent))
    # As for every command, no item may be in two parts, and the verdict must be good.
    evaluation = pipeline.unjudged(prepared, submission)
    demand(verdicts.verdict(evaluation, verdicts.Use.SCORE, acceptance.refusals), acceptance.PLATFORM)
    warn(filter(None, [misfits.explanation(evaluation.other_cells)]))
    both = round_trip.of_podium(metric, arguments, *given), round_trip.Seen(solution, submission)
    demand(round_trip.of_kaggle(metric, arguments, both, options.submission.name), acceptance.PLATFORM)
