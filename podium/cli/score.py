"""Score a submission and see where the score comes from.

    podium score solution_sample.csv sample_submission.csv
    podium score solution_sample.csv sample_submission.csv --report report.html

It prints the score, the scores of the parts and groups of the solution, and the metric's signature. Warnings
say what is unusual. If there are several submissions, the first one is compared with each of the others.
"""

import argparse
import contextlib
from pathlib import Path
from typing import Any, NamedTuple

from podium.cli import arguments
from podium.errors import HostError, SubmissionRejected, ToolError, UsageError

RESAMPLES = 1000  # for a comparison or the report, unless --bootstrap gives a number
SWAPS_PER_OTHER = 40  # at least; the smallest corrected p-value of k comparisons is k / (1 + 40·k) or less


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium score``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of the command.
    """
    parser.add_argument(
        "solution", help="the right answers: .csv, .csv.gz, .parquet, a URL, or an official file"
    )
    parser.add_argument(
        "submission",
        nargs="+",
        help="the predictions, or - for standard input; the first one is compared with each of the others",
    )
    arguments.add_metric(parser)
    parser.add_argument(
        "-b",
        "--bare",
        action="store_true",
        help="print the score alone, without tables; a warning still says if only a part was scored",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--rows",
        type=Path,
        metavar="FILE",
        help="write what became of every row into this .csv, .csv.gz or .parquet",
    )
    parser.add_argument(
        "--bootstrap",
        type=arguments.positive,
        metavar="N",
        help="print 95%% intervals from N resamples (default: none; 1000 in the report)",
    )
    parser.add_argument(
        "--essays",
        type=Path,
        metavar="FILE",
        help="score only the essays, or other items, whose ids are in this file, one in each line",
    )
    parser.add_argument(
        "--only-predicted",
        action="store_true",
        help="score only the items that have a prediction; such a score is too good, so prefer --essays",
    )
    parser.add_argument(
        "--effectiveness",
        type=arguments.probability,
        metavar="P",
        help="give every segment this probability of effective, to score the segmentation alone (default: what "
        "the submission says)",
    )
    parser.add_argument(
        "--side",
        metavar="FILE",
        help="a table with what only the host can say of the submission, such as READ//ABLE's M7",
    )
    parser.add_argument(
        "--seed",
        type=arguments.natural,
        default=0,
        help="a number that decides what is drawn at random (default: 0)",
    )
    parser.add_argument(
        "--report", type=Path, metavar="HTML", help="write a report as one page that needs no other file"
    )
    parser.add_argument(
        "--texts",
        type=Path,
        metavar="FOLDER_OR_FILE",
        help="texts for the report: a folder with a file ID.txt for each id, a CSV with columns id and text, "
        "or an official file (default: no texts)",
    )
    parser.add_argument(
        "--report-items",
        type=arguments.natural,
        default=200,
        metavar="N",
        help="show in the report the N items that lost most (default: %(default)s)",
    )
    parser.add_argument(
        "--random-items", action="store_true", help="show in the report a random sample of N items instead"
    )


def run(options: argparse.Namespace) -> None:
    """Score, explain, and write what was asked for.

    Parameters
    ----------
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Raises
    ------
    UsageError
        The options contradict each other, the metric does not offer what was asked for, or a file cannot be
        read.
    SubmissionRejected
        A submission is wrong.
    HostError
        The solution, a parameter or the metric is wrong.
    """
    if options.report is None and options.texts is not None:
        raise UsageError("--texts needs --report")
    others = options.submission[1:]
    if repeated := [path for path in others if others.count(path) > 1]:
        raise UsageError(f"{repeated[0]} is given twice: name each submission to compare with once")
    inputs = [options.solution, *options.submission, options.metric]
    inputs += [options.texts, options.essays, options.side]
    arguments.check_outputs([options.rows, options.report], inputs)

    from podium import explain
    from podium.cli import console
    from podium.files import check_table_name, write_table

    if options.rows is not None:
        check_table_name(options.rows)
    solution, evaluation, others, notices = score_submissions(options)
    on_selection = notices_on_selection(solution, evaluation, options)
    if options.bare:
        console.warn(on_selection)  # a number alone does not tell that it is the score of some items
    if options.bare and options.rows is None and options.report is None:
        print_scores([evaluation, *others.values()])
        return
    check_offers(evaluation, options)

    tables, comparisons = resampled_tables(evaluation, others, options)
    if options.rows:
        write_table(explain.rows(evaluation), options.rows)
    if options.report:
        write_report(evaluation, tables.get("intervals"), comparisons, others, options)
    if options.bare:
        print_scores([evaluation, *others.values()])
        return
    verdicts = verdicts_of(evaluation, comparisons, options)
    told = [*on_selection, *evaluation.notices]
    if options.json:
        told_of_others = {"verdict": verdicts[0]} if len(others) == 1 else {"verdicts": verdicts}
        print_json(evaluation, tables | (told_of_others if others else {}), notices + told)
    else:
        print_report(evaluation, tables, told, options, verdicts)


class Scored(NamedTuple):
    """The scored submissions of a command line.

    Attributes
    ----------
    solution : podium.scoring.Solution
        The whole solution.
    evaluation : podium.scoring.Evaluation
        The first submission, scored on the chosen items.
    others : dict of str to podium.scoring.Evaluation
        The other submissions by their paths.
    notices : list of str
        What was changed in the first submission, such as names of columns.
    """

    solution: Any
    evaluation: Any
    others: dict[str, Any]
    notices: list[str]


def score_submissions(options: argparse.Namespace) -> Scored:
    """Read the solution and the submissions, and score them on the chosen items.

    Parameters
    ----------
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Returns
    -------
    Scored
        The scored submissions.

    Raises
    ------
    SubmissionRejected
        A submission is wrong. The message may say what to write instead.
    HostError
        The solution, a parameter or the metric is wrong.
    UsageError
        A file cannot be read, or no item is chosen.
    """
    from podium import explain, hosted, progress, scoring

    metric = hosted.load(options.metric)
    for path in (options.solution, *options.submission):
        if metric.companion.read_solution is None and path.endswith((".json", ".jsonl")):
            raise UsageError(
                f"{path}: expected a table, found JSON; write a CSV, or name the metric of such a file with "
                "--metric"
            )
    parameters = arguments.parameters(metric, options.set, options.solution)
    with progress.shown("scoring") as show:
        files = options.solution, options.submission[0]
        try:
            frame, solution, first = scoring.read_pair(metric, *files, parameters, show)
        except HostError:
            check_order(metric, files, parameters)
            raise
        first, notices = recognized(first, solution, options)
        if options.side is not None:
            first = scoring.add_side(solution, first, options.side)
        try:
            part = selected(frame, solution, first, options)
            evaluation = scoring.evaluate(part, first, show)
        except SubmissionRejected as problem:
            raise explain.with_cure(solution, first, problem) from problem
        others = {path: evaluate_other(path, part, parameters, options) for path in options.submission[1:]}
    return Scored(solution, evaluation, others, notices)


def resampled_tables(
    evaluation: Any, others: dict[str, Any], options: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Compute the intervals and the comparisons that were asked for.

    Parameters
    ----------
    evaluation : podium.scoring.Evaluation
        The first submission.
    others : dict of str to podium.scoring.Evaluation
        The other submissions by their paths.
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Returns
    -------
    tables : dict of str to DataFrame
        "intervals" and "comparison", if they were asked for.
    comparisons : dict of str to DataFrame
        The comparison with each other submission, by its path.

    Raises
    ------
    HostError
        The metric raises an exception on a draw.
    """
    from podium import hosted, statistics

    mine = evaluation.statistics
    resamples = resamples_of(options)
    tables: dict[str, Any] = {}
    metric = evaluation.solution.metric
    # A stranger's metric may fail on a draw, where a group may be empty for the first time.
    with contextlib.nullcontext() if metric.is_own else hosted.errors_explained(metric):
        if options.bootstrap or (options.report and mine is not None):
            tables["intervals"] = statistics.intervals(evaluation.prepared, mine, resamples, options.seed)
        comparisons = {
            path: statistics.compare(evaluation.prepared, mine, other.statistics, resamples, options.seed)
            for path, other in others.items()
        }
    if len(others) == 1:
        tables["comparison"] = next(iter(comparisons.values()))
    elif others:
        names = names_of(options.submission)[1:]
        tables["comparison"] = statistics.overview(dict(zip(names, comparisons.values())))
    return tables, comparisons


def resamples_of(options: argparse.Namespace) -> int:
    """Choose the number of draws and swaps.

    Parameters
    ----------
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Returns
    -------
    int
        What --bootstrap gives, or else enough for the smallest p-value to stay small once it is corrected for
        the number of comparisons.
    """
    return options.bootstrap or max(RESAMPLES, SWAPS_PER_OTHER * (len(options.submission) - 1))


def names_of(paths: list[str]) -> list[str]:
    """Name files by the last parts of their paths, or by their whole paths if two last parts are the same.

    Parameters
    ----------
    paths : list of str
        Paths or URLs, none of them twice.

    Returns
    -------
    list of str
        Their names, in the same order.
    """
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else paths


def verdicts_of(evaluation: Any, comparisons: dict[str, Any], options: argparse.Namespace) -> list[str]:
    """Say in a sentence for each other submission which one is better.

    Parameters
    ----------
    evaluation : podium.scoring.Evaluation
        The first submission.
    comparisons : dict of str to DataFrame
        The comparison with each other submission, by its path.
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Returns
    -------
    list of str
        The sentences; none if there is no other submission.
    """
    if not comparisons:
        return []
    from podium import hosted, statistics

    is_higher_better = hosted.higher_is_better(evaluation.solution.metric, evaluation.solution.arguments)
    mine, *others = names_of(options.submission)
    return statistics.verdicts(dict(zip(others, comparisons.values())), is_higher_better, mine)


def write_report(
    evaluation: Any,
    intervals: Any,
    comparisons: dict[str, Any],
    others: dict[str, Any],
    options: argparse.Namespace,
) -> None:
    """Write the report as a page in HTML.

    Parameters
    ----------
    evaluation : podium.scoring.Evaluation
        The submission.
    intervals : DataFrame or None
        The intervals of its measures.
    comparisons : dict of str to DataFrame
        The comparison with each other submission, by its path.
    others : dict of str to podium.scoring.Evaluation
        The other submissions by their paths.
    options : argparse.Namespace
        The arguments that `add_arguments` declares.
    """
    from podium.report import page

    names = names_of(options.submission)[1:]
    html = page.render(
        evaluation,
        title=f"{Path(options.submission[0]).name} scored against {Path(options.solution).name}",
        texts=page.read_texts(options.texts, evaluation),
        most_items=options.report_items,
        intervals=intervals,
        random=options.seed if options.random_items else None,
        others=dict(zip(names, zip(others.values(), comparisons.values()))),
    )
    page.write(html, options.report)


def recognized(frame: Any, solution: Any, options: argparse.Namespace, of_file: str = "") -> Any:
    """Rename the columns of a submission that has those of another competition.

    Parameters
    ----------
    frame : DataFrame
        The submission as it was read.
    solution : podium.scoring.Solution
        The solution. Its metric's companion knows the other names.
    options : argparse.Namespace
        The arguments that `add_arguments` declares.
    of_file : str
        How notices begin, such as "theirs.csv: ".

    Returns
    -------
    frame : DataFrame
        The submission with the metric's own columns.
    notices : list of str
        What was renamed.

    Raises
    ------
    UsageError
        --effectiveness was given for a metric that does not judge effectiveness.
    SubmissionRejected
        No column tells the effectiveness.
    """
    from podium.cli import console

    recognize = solution.metric.companion.recognize
    if recognize is None:
        if options.effectiveness is not None:
            raise UsageError(f"--effectiveness: {options.metric} does not judge effectiveness")
        return frame, []
    frame, notices = recognize(frame, solution.arguments["row_id_column_name"], options.effectiveness)
    if not options.json:  # The notices are printed at once, because the next step may reject the file.
        console.warn(f"{of_file}{notice}" for notice in notices)
    return frame, notices


def check_order(metric: Any, files: tuple[str, str], parameters: dict[str, Any]) -> None:
    """Check whether the solution and the submission were exchanged.

    Parameters
    ----------
    metric : podium.contract.Metric
        The metric.
    files : (str, str)
        The file of the solution and that of the submission, as they were given.
    parameters : dict of str to object
        Parameters of the metric's ``score``.

    Raises
    ------
    HostError
        The second file is a solution.
    """
    from podium import scoring

    if metric.prepare is None or "-" in files:
        return
    try:
        scoring.prepare(metric, scoring.read_solution(metric, files[1], parameters), parameters)
    except ToolError:
        return
    raise HostError(f"give the solution first, then the submission: {files[1]} is a solution")


def selected(frame: Any, solution: Any, submission: Any, options: argparse.Namespace) -> Any:
    """Reduce the solution to the items that were asked for.

    Parameters
    ----------
    frame : DataFrame
        The solution as it was read.
    solution : podium.scoring.Solution
        The whole prepared solution.
    submission : DataFrame
        The submission, whose items --only-predicted chooses.
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Returns
    -------
    podium.scoring.Solution
        The solution of the chosen items; the whole one if all items are scored.

    Raises
    ------
    UsageError
        No item is chosen, or the metric does not tell items or predictions apart.
    """
    if options.essays is None and not options.only_predicted:
        return solution
    import numpy as np

    from podium import hosted, scoring

    if not solution.prepared:
        raise UsageError(f"--essays, --only-predicted: {options.metric} defines no prepare() to name items")
    whole = solution.prepared["All"]
    kept = np.ones(len(whole.items), dtype=bool)
    if options.essays is not None:
        ids = chosen_ids(options.essays)
        kept &= np.isin(whole.items, list(ids))
        if not kept.any():
            found = repr(min(ids)) if ids else "an empty file"
            raise UsageError(
                f"{options.essays}: expected ids of the solution, such as {whole.items[0]!r}, one per line; "
                f"found {found}"
            )
    if options.only_predicted:
        predicted = solution.metric.companion.predicted
        if predicted is None:
            raise UsageError(f"--only-predicted: every item of {options.metric} has a prediction")
        with hosted.errors_explained():
            kept &= predicted(whole, submission)
        if not kept.any():
            raise UsageError("--only-predicted: expected a submission with a prediction for what is scored")
    return scoring.solution_of_items(solution, frame, kept)


def chosen_ids(path: Path) -> set[str]:
    """Read the ids of a file with one id per line. Empty lines are skipped.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    set of str
        The ids.

    Raises
    ------
    UsageError
        The file cannot be read.
    """
    from podium.files import read_text

    return {line.strip() for line in read_text(path, UsageError).splitlines()} - {""}


def notices_on_selection(whole: Any, evaluation: Any, options: argparse.Namespace) -> list[str]:
    """Tell which of the chosen ids are unknown, and what a score of the items with a prediction hides.

    Parameters
    ----------
    whole : podium.scoring.Solution
        The whole solution.
    evaluation : podium.scoring.Evaluation
        The submission, scored on the chosen items.
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Returns
    -------
    list of str
        The notices.
    """
    from podium import explain
    from podium.wording import counted, listed, plural

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
        f"scored only {number:,} of {counted(total, item)}, those with a prediction; thresholds that leave an "
        f"{item} empty raise such a score, so better name the {plural(item)} of your fold by --essays FILE",
    ]


def evaluate_other(path: str, solution: Any, parameters: dict[str, Any], options: argparse.Namespace) -> Any:
    """Read and score a further submission.

    Parameters
    ----------
    path : str
        The file of the submission.
    solution : podium.scoring.Solution
        The solution of the chosen items.
    parameters : dict of str to object
        Parameters of the metric's ``score``.
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Returns
    -------
    podium.scoring.Evaluation
        The scored submission.

    Raises
    ------
    SubmissionRejected
        The submission is wrong. The message names its file.
    """
    from podium import explain, scoring

    try:
        frame = scoring.read_submission(solution.metric, path, parameters)
        frame, _ = recognized(frame, solution, options, f"{path}: ")
    except SubmissionRejected as problem:
        raise SubmissionRejected(f"{path}: {problem}") from problem
    try:
        return scoring.evaluate(solution, frame)
    except SubmissionRejected as problem:
        raise SubmissionRejected(f"{path}: {explain.with_cure(solution, frame, problem)}") from problem


def check_offers(evaluation: Any, options: argparse.Namespace) -> None:
    """Check that the metric offers what was asked for.

    Parameters
    ----------
    evaluation : podium.scoring.Evaluation
        The submission.
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Raises
    ------
    UsageError
        The metric has no statistics to resample, or no explanation of rows.
    """
    if evaluation.statistics is None and (options.bootstrap or len(options.submission) > 1):
        raise UsageError(
            f"{options.metric} defines no prepare(); without its statistics nothing can be compared or "
            "resampled"
        )
    if options.rows is not None and evaluation.explanation.rows.columns.empty:
        raise UsageError(f"--rows: {options.metric} has no companion that explains rows")


def print_scores(evaluations: list[Any]) -> None:
    """Print nothing but the score of each submission, with all of its digits.

    Parameters
    ----------
    evaluations : list of podium.scoring.Evaluation
        The submissions.
    """
    for each in evaluations:
        print(each.score)


def print_report(
    evaluation: Any,
    tables: dict[str, Any],
    notices: list[str],
    options: argparse.Namespace,
    verdicts: list[str],
) -> None:
    """Print notices, scores and tables.

    Parameters
    ----------
    evaluation : podium.scoring.Evaluation
        The first submission.
    tables : dict of str to DataFrame
        "intervals" and "comparison", if they were asked for.
    notices : list of str
        What a reader should know; printed on stderr.
    options : argparse.Namespace
        The arguments that `add_arguments` declares.
    verdicts : list of str
        Sentences about the comparison with other submissions.
    """
    from podium.cli import console

    console.warn(notices)
    print(evaluation.score_lines)
    for title, table in evaluation.explanation.tables.items():
        console.print_table(title, table)
    drawn = f"{resamples_of(options):,} resamples, seed {options.seed}"
    if options.bootstrap:
        console.print_table(f"95% intervals ({drawn})", tables["intervals"])
    if "comparison" in tables:
        mine, *others = names_of(options.submission)
        name = others[0] if len(others) == 1 else f"{len(others)} others"
        console.print_table(f"{mine} compared with {name} ({drawn})", tables["comparison"])
    if verdicts:
        print("", *verdicts, sep="\n")
    print(f"\n{evaluation.signature}")
    for path in (options.rows, options.report):
        if path is not None:
            print(f"written to {path}")


def print_json(evaluation: Any, tables: dict[str, Any], notices: list[str]) -> None:
    """Print scores, measures, tables and notices as JSON.

    Parameters
    ----------
    evaluation : podium.scoring.Evaluation
        The first submission.
    tables : dict of str to DataFrame, str or list of str
        "intervals", "comparison", and "verdict" or "verdicts", if they were asked for.
    notices : list of str
        What a reader should know; under "warnings".
    """
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
