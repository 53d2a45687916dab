"""Score a submission and see where the score comes from.

podium score solution_sample.csv sample_submission.csv
podium score solution_sample.csv sample_submission.csv --report report.html
"""

import argparse
from pathlib import Path
from typing import Any

from podium.cli import arguments
from podium.errors import HostError, SubmissionRejected, ToolError, UsageError

RESAMPLES = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("solution", help="the truth: .csv, .csv.gz, .parquet, a URL, or an official file")
    parser.add_argument(
        "submission",
        nargs="+",
        help="the predictions, or - for standard input; the first one is compared with each other one",
    )
    arguments.add_metric(parser)
    parser.add_argument("-b", "--bare", action="store_true", help="print the score and nothing else")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--rows",
        type=Path,
        metavar="FILE",
        help="write what became of every row into a table",
    )
    parser.add_argument(
        "--bootstrap", type=arguments.positive, metavar="N", help="print 95%% intervals from N resamples"
    )
    parser.add_argument(
        "--essays", type=Path, metavar="FILE", help="score only these essays or other items, one id per line"
    )
    parser.add_argument(
        "--only-predicted",
        action="store_true",
        help="score only the items with a prediction; this flatters the score, so prefer --essays",
    )
    parser.add_argument(
        "--effectiveness",
        type=arguments.share,
        metavar="P",
        help="probability of effective for every segment, to score the segmentation alone",
    )
    parser.add_argument(
        "--side", metavar="FILE", help="a table with what only the host can say, such as READ//ABLE's M7"
    )
    parser.add_argument(
        "--seed", type=arguments.natural, default=0, help="seed of the random numbers (default: 0)"
    )
    parser.add_argument("--report", type=Path, metavar="HTML", help="write everything as one page")
    parser.add_argument(
        "--texts",
        type=Path,
        metavar="FOLDER_OR_FILE",
        help="texts for the report: a folder of ID.txt files, a CSV with id and text, or an official file",
    )
    parser.add_argument(
        "--report-items",
        type=arguments.natural,
        default=200,
        metavar="N",
        help="show the N items that lost most in the report (default: %(default)s)",
    )
    parser.add_argument(
        "--random-items", action="store_true", help="show a random sample in the report instead"
    )


def run(options: argparse.Namespace) -> None:
    """Score, explain and write what is asked for."""
    if options.report is None and options.texts is not None:
        raise UsageError("--texts needs --report")
    inputs = [options.solution, *options.submission, options.metric]
    inputs += [options.texts, options.essays, options.side]
    arguments.check_outputs([options.rows, options.report], inputs)

    from podium import explain, hosted, progress, scoring, statistics
    from podium.files import check_table_name, write_table

    if options.rows is not None:
        check_table_name(options.rows)
    metric = hosted.load(options.metric)
    parameters = arguments.parameters(metric, options.set, options.solution)
    with progress.shown("scoring") as show:
        files = options.solution, options.submission[0]
        try:
            frame, solution, first = scoring.read_pair(metric, *files, parameters, show)
        except HostError:
            check_order(metric, files, parameters)
            raise
        first, notices = recognised(first, solution, options)
        if options.side is not None:
            first = scoring.add_side(solution, first, options.side)
        try:
            part = selected(frame, solution, first, options)
            evaluation = scoring.evaluate(part, first, show)
        except SubmissionRejected as problem:
            raise explain.with_cure(solution, first, problem) from problem
        others = {path: evaluate_other(path, part, parameters, options) for path in options.submission[1:]}
    if options.bare and options.rows is None and options.report is None:
        print_scores([evaluation, *others.values()])
        return
    check_offers(evaluation, options)

    resamples = options.bootstrap or RESAMPLES
    tables: dict[str, Any] = {}
    mine: Any = evaluation.statistics
    if options.bootstrap or (options.report and mine is not None):
        tables["intervals"] = statistics.intervals(evaluation.prepared, mine, resamples, options.seed)
    comparisons = {
        path: statistics.compare(evaluation.prepared, mine, other.statistics, resamples, options.seed)
        for path, other in others.items()
    }
    if len(others) == 1:
        tables["comparison"] = next(iter(comparisons.values()))
    elif others:
        tables["comparison"] = paired(comparisons)
    if options.rows:
        write_table(explain.rows(evaluation), options.rows)
    if options.report:
        write_report(evaluation, tables.get("intervals"), comparisons, others, options)
    if options.bare:
        print_scores([evaluation, *others.values()])
        return
    verdict = None
    if len(others) == 1:
        is_higher_better = hosted.higher_is_better(metric, evaluation.solution.arguments)
        mine_name, other_name = (Path(path).name for path in options.submission)
        verdict = statistics.verdict(tables["comparison"], is_higher_better, (mine_name, other_name))
    told = [
        *notices_on_selection(solution, evaluation, options),
        *evaluation.solution.notices,
        *evaluation.explanation.notices,
    ]
    if options.json:
        print_json(evaluation, tables | ({} if verdict is None else {"verdict": verdict}), notices + told)
    else:
        print_report(evaluation, tables, told, options, resamples, verdict)


def write_report(
    evaluation: Any,
    intervals: Any,
    comparisons: dict[str, Any],
    others: dict[str, Any],
    options: argparse.Namespace,
) -> None:
    """Write the page; the first other submission, if there is one, is compared on it."""
    from podium.report import page

    html = page.render(
        evaluation,
        title=f"{Path(options.submission[0]).name} scored against {Path(options.solution).name}",
        texts=page.read_texts(options.texts, evaluation),
        most_items=options.report_items,
        intervals=intervals,
        random=options.seed if options.random_items else None,
        comparison=next(iter(comparisons.values()), None),
        other=next(((Path(path).name, other) for path, other in others.items()), None),
    )
    page.write(html, options.report)


def recognised(frame: Any, solution: Any, options: argparse.Namespace) -> Any:
    """A submission with other people's columns, and notices on them."""
    from podium.cli import console

    recognise = solution.metric.companion.recognise
    if recognise is None:
        if options.effectiveness is not None:
            raise UsageError(f"--effectiveness: {options.metric} knows none")
        return frame, []
    frame, notices = recognise(frame, solution.arguments["row_id_column_name"], options.effectiveness)
    if not options.json:  # said at once: what follows may reject the file
        console.warn(notices)
    return frame, notices


def check_order(metric: Any, files: tuple[str, str], parameters: dict[str, Any]) -> None:
    """Raise HostError if the solution stands where the submission belongs; the two may have been exchanged."""
    from podium import scoring

    if metric.prepare is None or "-" in files:
        return
    try:
        scoring.prepare(metric, scoring.read_solution(metric, files[1], parameters), parameters)
    except ToolError:
        return
    raise HostError(f"give the solution first, then the submission: {files[1]} is a solution")


def selected(frame: Any, solution: Any, submission: Any, options: argparse.Namespace) -> Any:
    """The solution of the items that are asked for."""
    if options.essays is None and not options.only_predicted:
        return solution
    import numpy as np

    from podium import hosted, scoring

    if not solution.prepared:
        raise UsageError(f"--essays, --only-predicted: {options.metric} defines no prepare() to name items")
    whole = solution.prepared["All"]
    kept = np.ones(len(whole.items), dtype=bool)
    if options.essays is not None:
        kept &= np.isin(whole.items, list(chosen_ids(options.essays)))
    if options.only_predicted:
        predicted = solution.metric.companion.predicted
        if predicted is None:
            raise UsageError(f"--only-predicted: every item of {options.metric} has a prediction")
        with hosted.errors_explained():
            kept &= predicted(whole, submission)
    if not kept.any():
        raise UsageError(f"none of the solution's {len(kept):,} ids is chosen")
    return scoring.solution_of_items(solution, frame, kept)


def chosen_ids(path: Path) -> set[str]:
    """The ids of a file with one in each line; empty lines are none."""
    from podium.files import read_text

    return {line.strip() for line in read_text(path, UsageError).splitlines()} - {""}


def notices_on_selection(whole: Any, evaluation: Any, options: argparse.Namespace) -> list[str]:
    """Which of the chosen ids are unknown, and what a score of the items with a prediction does not tell."""
    from podium import explain
    from podium.wording import counted, listed

    notices = []
    if options.essays is not None:
        ids = chosen_ids(options.essays)
        unknown = sorted(ids.difference(map(str, whole.prepared["All"].items)))
        if unknown:
            notices.append(
                f"the solution lacks {len(unknown):,} of {counted(len(ids), 'id')} in {options.essays.name}: "
                f"{listed(unknown)}"
            )
    if not options.only_predicted:
        return notices
    column = explain.column(evaluation.explanation, "item") or "item"
    item = column.removesuffix("_id").replace("_", " ")
    number, total = len(evaluation.prepared.items), len(whole.prepared["All"].items)
    return [
        *notices,
        f"scored {number:,} of {counted(total, item)}, those with a prediction; thresholds that leave an "
        f"{item} empty raise such a score, so --essays FILE with the {item}s of a fold is honest",
    ]


def evaluate_other(path: str, solution: Any, parameters: dict[str, Any], options: argparse.Namespace) -> Any:
    """The evaluation of a further submission, whose name its rejection tells."""
    from podium import explain, scoring

    try:
        frame = scoring.read_submission(solution.metric, path, parameters)
        frame, _ = recognised(frame, solution, options)
    except SubmissionRejected as problem:
        raise SubmissionRejected(f"{path}: {problem}") from problem
    try:
        return scoring.evaluate(solution, frame)
    except SubmissionRejected as problem:
        raise SubmissionRejected(f"{path}: {explain.with_cure(solution, frame, problem)}") from problem


def paired(comparisons: dict[str, Any]) -> Any:
    """The first submission's lead over each other one."""
    import pandas as pd

    rows = pd.concat([table.head(1) for table in comparisons.values()], ignore_index=True)
    rows.insert(0, "submission", [Path(path).name for path in comparisons])
    return rows.drop(columns=["measure", "value"]).rename(columns={"other": "score"})


def check_offers(evaluation: Any, options: argparse.Namespace) -> None:
    """Raise UsageError where the metric does not offer what is asked for."""
    if evaluation.statistics is None and (options.bootstrap or len(options.submission) > 1):
        raise UsageError(f"{options.metric} defines no prepare(), whose statistics are compared or resampled")
    if options.rows is not None and evaluation.explanation.rows.columns.empty:
        raise UsageError(f"--rows: nothing explains the rows of {options.metric}")


def print_scores(evaluations: list[Any]) -> None:
    """Print the score of each submission alone, with all of its digits."""
    for each in evaluations:
        print(each.score)


def print_report(
    evaluation: Any,
    tables: dict[str, Any],
    notices: list[str],
    options: argparse.Namespace,
    resamples: int,
    verdict: str | None,
) -> None:
    """Print warnings, scores and tables."""
    from podium.cli import console

    console.warn(notices)
    print(evaluation.score_lines)
    for title, table in evaluation.explanation.tables.items():
        console.print_table(title, table)
    drawn = f"{resamples:,} resamples, seed {options.seed}"
    if options.bootstrap:
        console.print_table(f"95% intervals ({drawn})", tables["intervals"])
    if "comparison" in tables:
        others = [Path(path).name for path in options.submission[1:]]
        name = others[0] if len(others) == 1 else f"{len(others)} others"
        console.print_table(
            f"{Path(options.submission[0]).name} compared with {name} ({drawn})", tables["comparison"]
        )
    if verdict is not None:
        print(f"\n{verdict}")
    print(f"\n{evaluation.signature}")
    for path in (options.rows, options.report):
        if path is not None:
            print(f"written to {path}")


def print_json(evaluation: Any, tables: dict[str, Any], notices: list[str]) -> None:
    """Print scores, measures, tables and warnings as JSON."""
    from podium.cli import console

    official = evaluation.solution.metric.companion.official_json
    values: dict[str, Any] = {
        "score" if part == "All" else part.lower(): score for part, score in evaluation.scores.items()
    }
    values |= {
        "signature": evaluation.signature,
        "measures": evaluation.measures,
        "tables": evaluation.explanation.tables,
        "warnings": notices,
    }
    if evaluation.explanation.details:
        values["details"] = evaluation.explanation.details
    if official is not None:
        values["official"] = official(evaluation.measures)
    console.print_json(values | tables)
