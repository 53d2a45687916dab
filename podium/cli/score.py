"""Score a submission and see where the score comes from.

    podium score solution_sample.csv sample_submission.csv
    podium score solution_sample.csv sample_submission.csv --report report.html

It prints the score, the scores of the parts and groups of the solution, and the metric's signature. Warnings
say what is unusual. If there are several submissions, the first one is compared with each of the others.
"""

import warnings
from dataclasses import replace

from podium.cli import arguments
from podium.cli.score_options import Options
from podium.common.errors import AccountWarning, UsageError


def run(options: Options) -> None:
    """Score, explain, and write what was asked for."""
    _check(options)
    from podium.cli import console, item_choice, score_output
    from podium.common import progress
    from podium.contest import recorded
    from podium.tables.files import is_table_name
    from podium.tables.formats import check_table_name

    if options.rows is not None:
        check_table_name(options.rows)
    metric, parameters, items = recorded.completed(options.solution, options.metric, options.set, options.items)
    options = replace(options, items=items)
    has_texts = metric.companion.add_texts is not None and is_table_name(options.texts or "")
    if options.texts is not None and options.report is None and not has_texts:
        raise UsageError("--texts needs --report")
    warn = (lambda notices: None) if options.json else console.warn
    with progress.shown("scoring") as show, warnings.catch_warnings():
        if not options.bare:  # which is told with the scores
            warnings.simplefilter("ignore", AccountWarning)
        done = item_choice.score_all(metric, parameters, options, warn, show)
    everything = [done.evaluation, *done.others.values()]
    if options.bare:
        mistakes = [mistake for each in everything for _, mistake in each.explanation.mistakes]
        console.warn([*done.chosen, *done.evaluation.other_ids, *dict.fromkeys(mistakes)])
    if not options.bare or (options.rows, options.report, options.table) != (None, None, None):
        score_output.show(done, options)
    if options.bare:
        print(*(each.score for each in everything), sep="\n")


def _check(options: Options) -> None:
    """Check the options before anything is read."""
    others = options.submission[1:]
    if repeated := [path for path in others if others.count(path) > 1]:
        raise UsageError(f"{repeated[0]} is given twice: name each submission to compare with once")
    if options.measures and options.table is None:
        raise UsageError("--measures needs --table")
    more = options.texts, options.essays, options.side
    inputs = [options.solution, *options.submission, options.metric, *more]
    arguments.check_outputs([options.rows, options.report, options.side_form, options.table], inputs)
