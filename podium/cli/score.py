"""Score a submission and see where the score comes from.

    podium score solution_sample.csv sample_submission.csv
    podium score solution_sample.csv sample_submission.csv --report report.html

It prints the score, the scores of the parts and groups of the solution, and the metric's signature. Warnings
say what is unusual. If there are several submissions, the first one is compared with each of the others.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podium.cli import arguments
from podium.cli.score_options import Options
from podium.words.errors import AccountWarning, UsageError


def run(options: Options) -> None:
    """Score, explain, and write what was asked for."""
    _check(options)
    from podium.cli import console, item_choice
    from podium.metric import hosted
    from podium.tables.files import is_table_name
    from podium.tables.formats import check_table_name
    from podium.words import progress

    if options.rows is not None:
        check_table_name(options.rows)
    metric = hosted.load(options.metric)
    given = hosted.parse_parameters(metric, options.set)
    has_texts = metric.companion.add_texts is not None and is_table_name(options.texts or "")
    if options.measures and options.table is None:
        raise UsageError("--measures needs --table")
    if options.texts is not None and options.report is None and not has_texts:
        raise UsageError("--texts needs --report")
    warn = (lambda notices: None) if options.json else console.warn
    with progress.shown("scoring") as show, warnings.catch_warnings():
        if not options.bare:  # which is told with the scores
            warnings.simplefilter("ignore", AccountWarning)
        done = item_choice.score_all(metric, given, options, warn, show)
    everything = [done.evaluation, *done.others.values()]
    if options.bare:
        mistakes = [told for each in everything for _, told in each.explanation.mistakes]
        console.warn([*done.chosen, *dict.fromkeys(mistakes)])
    if not options.bare or (options.rows, options.report, options.table) != (None, None, None):
        tell(done, options)
    if options.bare:
        print(*(each.score for each in everything), sep="\n")


def tell(done: Any, options: Options) -> None:
    """Write and print where the score comes from; a bare score is not printed here."""
    from podium.scoring import explain
    from podium.tables.formats import write_table

    if options.rows is not None:
        if done.evaluation.explanation.rows.columns.empty:
            raise UsageError(f"--rows: {options.metric} has no companion that explains rows")
        write_table(explain.rows(done.evaluation), options.rows)
    intervals, comparisons = resampled(done, options)
    if options.table is not None:
        write_table_for_a_paper(options.table, done, options)
    if options.report is not None:
        write_report(options.report, done, intervals, comparisons, options)
    if not options.bare:
        show = print_json if options.json else print_report
        show(done, intervals, comparisons, options)


def _check(options: Options) -> None:
    """Check the options before anything is read."""
    others = options.submission[1:]
    if repeated := [path for path in others if others.count(path) > 1]:
        raise UsageError(f"{repeated[0]} is given twice: name each submission to compare with once")
    more = options.texts, options.essays, options.side
    inputs = [options.solution, *options.submission, options.metric, *more]
    arguments.check_outputs([options.rows, options.report, options.side_form, options.table], inputs)


def resampled(done: Any, options: Options) -> tuple[Any, dict[str, Any]]:
    """Compute the intervals that were asked for, and the comparisons with the others by their names."""
    from podium import statistics

    evaluation, intervals = done.evaluation, None
    how = (options.bootstrap, options.seed)
    if options.bootstrap or (options.report and evaluation.statistics is not None):
        intervals = statistics.intervals(evaluation, *how, items=options.items)
    comparisons = [
        statistics.compare(evaluation, other, *how, items=options.items) for other in done.others.values()
    ]
    return intervals, dict(zip(names_of(options.submission)[1:], comparisons))


def resolution_of(done: Any, comparisons: dict[str, Any], options: Options) -> list[str]:
    """Say which true difference between the two submissions each part of the solution would show."""
    from podium.report import comparison
    from podium.scoring import explain

    solution = done.evaluation.solution
    sizes = {part: int(items.sum()) for part, items in solution.items.items()}
    if not sizes or options.items:
        sizes = {part: len(solution.items_of(part, options.items).stratum) for part in solution.rows}
    parts = compared_in_parts(done, comparisons, options)
    return comparison.resolution(parts, sizes, explain.item_noun(done.evaluation))


def compared_in_parts(done: Any, comparisons: dict[str, Any], options: Options) -> dict[str, Any]:
    """Compare the first submission with the only other one, on the whole solution and then on each part."""
    from podium import statistics
    from podium.statistics import halves

    (other,), (whole,) = done.others.values(), comparisons.values()
    number = options.bootstrap or (halves.FEWEST_DRAWS if done.evaluation.statistics is None else None)
    parts = {halves.WHOLE: whole.score}
    for part in list(done.evaluation.scores)[1:]:
        both = done.evaluation, other, number, options.seed
        parts[part] = statistics.compare(*both, items=options.items, part=part).score
    return parts


def names_of(paths: Sequence[str]) -> Sequence[str]:
    """Name files by the last parts of their paths, or by their whole paths if two last parts are the same."""
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else paths


def write_report(path: Path, done: Any, intervals: Any, comparisons: dict[str, Any], options: Options) -> None:
    """Write the report as a page in HTML."""
    from podium.report import page

    texts = page.read_texts(options.texts, done.evaluation)
    if options.texts is not None:
        done.chosen += page.notices_of_texts(done.evaluation, texts)
    html = page.render(
        done.evaluation,
        title=f"{Path(options.submission[0]).name} scored against {Path(options.solution).name}",
        texts=texts,
        most_items=options.report_items,
        intervals=intervals,
        others=dict(zip(comparisons, zip(done.others.values(), comparisons.values()))),
    )
    page.write(html, path)


def write_table_for_a_paper(path: Path, done: Any, options: Options) -> None:
    """Write the measures of all submissions as a table in LaTeX, Markdown or CSV."""
    from podium.report import paper

    scored = dict(zip(names_of(options.submission), [done.evaluation, *done.others.values()]))
    results = paper.of_evaluations(scored, options.measures, options.bootstrap, options.seed, options.items)
    paper.write(results, path)


def print_report(done: Any, intervals: Any, comparisons: dict[str, Any], options: Options) -> None:
    """Print notices, scores and tables."""
    from podium.cli import console
    from podium.report import comparison

    evaluation = done.evaluation
    notices = [*done.chosen, *evaluation.notices]  # if the companion is wrong, nothing is printed
    for line in read_by(evaluation):
        print(line)
    print(evaluation.score_lines)
    console.warn(notices)
    for title, table in evaluation.explanation.tables.items():
        console.print_table(title, table)
    if options.folds is not None:
        console.print_table(*of_folds(evaluation, options.folds))
    number = next((each.resamples for each in comparisons.values()), options.bootstrap or 0)
    kind = "resamples" if evaluation.statistics is not None else "halves of the items"
    drawn = f"{number:,} {kind}, seed {options.seed}"
    if options.bootstrap:
        console.print_table(f"95% intervals ({drawn})", intervals)
    if comparisons:
        mine, *others = names_of(options.submission)
        is_one = len(others) == 1
        told = comparison.sentences(evaluation, comparisons, mine)
        if is_one:
            table, name = comparison.measures(comparisons[others[0]]), others[0]
        else:
            better = evaluation.solution.higher_is_better
            table, name = comparison.overview(mine, comparisons, better), f"{len(others)} others"
        if told:
            print("", *told, sep="\n")
        if len(table):
            console.print_table(f"{mine} compared with {name} ({drawn})", table)
        if is_one and (resolution := resolution_of(done, comparisons, options)):
            print("", *resolution, sep="\n")
    print(f"\n{evaluation.signature}")
    for path in (options.rows, options.report, options.side_form, options.table):
        if path is not None:
            print(f"written to {path}")


def of_folds(evaluation: Any, path: Path) -> tuple[str, Any]:
    """The mean and the spread of the scores of folds, and their table."""
    from podium.cli import item_choice

    table = item_choice.by_fold(evaluation, path)
    mean, spread = table["score"].mean(), table["score"].std(ddof=1)
    return f"{len(table)} folds: mean {mean:.6f}, standard deviation {spread:.6f}", table


def read_by(evaluation: Any) -> list[str]:
    """What was read of files with markups."""
    from podium.contest import reading
    from podium.markups import files

    solution, submission = evaluation.solution.frame, evaluation.submission
    told = [files.account_of(each) for each in (solution, submission) if reading.READ in solution.attrs]
    return [*dict.fromkeys(told)]


def print_json(done: Any, intervals: Any, comparisons: dict[str, Any], options: Options) -> None:
    """Print scores, measures, tables and notices as JSON."""
    from podium.cli import console
    from podium.report import comparison

    evaluation = done.evaluation
    official = evaluation.solution.metric.companion.official_json
    values: dict[str, Any] = {
        "score" if part == "All" else part.lower(): score for part, score in evaluation.scores.items()
    }
    values |= {
        "signature": evaluation.signature,
        "measures": evaluation.measures,
        "tables": evaluation.explanation.tables,
        "warnings": [*done.renamed, *done.chosen, *evaluation.notices],
    }
    if told := read_by(evaluation):
        values["read"] = told
    if evaluation.explanation.details:
        values["details"] = evaluation.explanation.details
    if options.folds is not None:
        values["folds"] = of_folds(evaluation, options.folds)[1]
    if official is not None:
        values["official"] = official(evaluation.measures)
    if intervals is not None:
        values["intervals"] = intervals
    if len(comparisons) == 1:
        (one,) = comparisons.values()
        mine = names_of(options.submission)[0]
        values["comparison"] = one.table
        values["difference"] = comparison.summary(one)
        values["verdict"] = comparison.sentences(evaluation, comparisons, mine)[0]
        parts = compared_in_parts(done, comparisons, options)
        values["detectable"] = {part: each.detectable for part, each in parts.items()}
    elif comparisons:
        mine, better = names_of(options.submission)[0], evaluation.solution.higher_is_better
        values["comparison"] = comparison.overview(mine, comparisons, better)
    console.print_json(values)
