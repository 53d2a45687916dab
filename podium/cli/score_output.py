"""What `podium score` prints, and writes into files, of submissions that were scored."""

from pathlib import Path
from typing import Any

import pandas as pd

from podium import statistics
from podium.cli import console
from podium.cli.item_choice import Done
from podium.cli.score_options import Options
from podium.common.errors import UsageError
from podium.contest import reading
from podium.contest.folds import by_fold
from podium.markups import files
from podium.report import comparison, page, paper
from podium.scoring import explain
from podium.scoring.evaluating import ALL, Evaluation
from podium.statistics import Difference, halves
from podium.tables.formats import write_table


class ScoredFiles:
    """Submissions that were scored, with the intervals and the comparisons that were asked for."""

    def __init__(self, done: Done, options: Options) -> None:
        self.done, self.options = done, options
        self.name, self.evaluation = done.name, done.evaluation
        self.folds = None if options.folds is None else by_fold(self.evaluation, options.folds)
        how, self.intervals = (options.bootstrap, options.seed), None
        if options.bootstrap or (options.report and self.evaluation.statistics is not None):
            self.intervals = statistics.intervals(self.evaluation, *how, items=options.items)
        self.comparisons = {
            name: statistics.compare(self.evaluation, other, *how, items=options.items)
            for name, other in done.others.items()
        }

    def overview(self) -> pd.DataFrame:
        """How the first submission compares with each of several others."""
        better = self.evaluation.solution.higher_is_better
        return comparison.overview(self.name, self.comparisons, better)

    def in_parts(self) -> dict[str, Difference]:
        """Compare the first submission with the only other one, on the whole solution and then on each part."""
        ((name, whole),) = self.comparisons.items()
        number, seed = self.options.bootstrap, self.options.seed
        if number is None and self.evaluation.statistics is None:
            number = halves.FEWEST_DRAWS
        parts = {halves.WHOLE: whole.score}
        for part in list(self.evaluation.scores)[1:]:
            both = self.evaluation, self.done.others[name], number, seed
            parts[part] = statistics.compare(*both, items=self.options.items, part=part).score
        return parts

    def resolution(self) -> list[str]:
        """Say which true difference between the two submissions each part of the solution would show."""
        solution, column = self.evaluation.solution, self.options.items
        sizes = {part: int(items.sum()) for part, items in solution.items.items()}
        if not sizes or column:
            sizes = {part: len(solution.items_of(part, column).stratum) for part in solution.rows}
        return comparison.resolution(self.in_parts(), sizes, explain.item_noun(self.evaluation))


def show(done: Done, options: Options) -> None:
    """Write and print where the score comes from; a bare score is not printed here."""
    if options.rows is not None and done.evaluation.explanation.rows.columns.empty:
        metric = done.evaluation.solution.metric.path.name
        raise UsageError(f"--rows: {metric} has no companion that explains rows")
    results = ScoredFiles(done, options)
    if options.rows is not None:
        write_table(explain.rows(done.evaluation), options.rows)
    if options.table is not None:
        how = options.measures, options.bootstrap, options.seed, options.items
        paper.write(paper.of_evaluations({done.name: done.evaluation, **done.others}, *how), options.table)
    if options.report is not None:
        write_report(results, options.report)
    if not options.bare:
        printed = print_json if options.json else print_report
        printed(results)


def write_report(results: ScoredFiles, path: Path) -> None:
    """Write the report as a page in HTML."""
    done, options = results.done, results.options
    texts = page.read_texts(options.texts, done.evaluation)
    if options.texts is not None:
        done.chosen += page.notices_of_texts(done.evaluation, texts)
    html = page.render(
        done.evaluation,
        title=f"{Path(options.submission[0]).name} scored against {Path(options.solution).name}",
        texts=texts,
        most_items=options.report_items,
        intervals=results.intervals,
        others={name: (done.others[name], each) for name, each in results.comparisons.items()},
    )
    page.write(html, path)


def print_report(results: ScoredFiles) -> None:
    """Print notices and scores, what was asked beside them, and then where the score comes from."""
    evaluation, options, comparisons = results.evaluation, results.options, results.comparisons
    notices = [*results.done.chosen, *evaluation.notices]  # if the companion is wrong, nothing is printed
    for line in read_by(evaluation):
        print(line)
    print(evaluation.score_lines)
    console.warn(notices)
    if options.table is not None:
        print(f"written to {options.table}")
    if results.folds is not None:
        mean, spread = results.folds["score"].mean(), results.folds["score"].std(ddof=1)
        told = f"{len(results.folds)} folds: mean {mean:.6f}, standard deviation {spread:.6f}"
        console.print_table(told, results.folds)
    number = next((each.resamples for each in comparisons.values()), options.bootstrap or 0)
    kind = "resamples" if evaluation.statistics is not None else "halves of the items"
    drawn = f"{number:,} {kind}, seed {options.seed}"
    if results.intervals is not None and options.bootstrap:
        console.print_table(f"95% intervals ({drawn})", results.intervals)
    if comparisons:
        print_comparisons(results, drawn)
    for title, table in evaluation.explanation.tables.items():
        console.print_table(title, table)
    print(f"\n{evaluation.signature}")
    for path in (options.rows, options.report, options.side_form):
        if path is not None:
            print(f"written to {path}")


def print_comparisons(results: ScoredFiles, drawn: str) -> None:
    """Print how the first submission compares with the others."""
    comparisons = results.comparisons
    names = [*comparisons]
    if len(names) == 1:
        table, name = comparison.measures(comparisons[names[0]]), names[0]
    else:
        table, name = results.overview(), f"{len(names)} others"
    if told := comparison.sentences(results.evaluation, comparisons, results.name):
        print("", *told, sep="\n")
    if len(table):
        console.print_table(f"{results.name} compared with {name} ({drawn})", table)
    if len(names) == 1 and (resolution := results.resolution()):
        print("", *resolution, sep="\n")


def read_by(evaluation: Evaluation) -> list[str]:
    """What was read of files with markups."""
    solution, submission = evaluation.solution.frame, evaluation.submission
    told = [files.account_of(each) for each in (solution, submission) if reading.READ in solution.attrs]
    return [*dict.fromkeys(told)]


def print_json(results: ScoredFiles) -> None:
    """Print scores, measures, tables and notices as JSON."""
    evaluation, done = results.evaluation, results.done
    explanation, official = evaluation.explanation, evaluation.solution.metric.companion.official_json
    scores = {"score" if part == ALL else part.lower(): score for part, score in evaluation.scores.items()}
    values: dict[str, Any] = {
        **scores,
        "signature": evaluation.signature,
        "measures": evaluation.measures,
        "tables": explanation.tables,
        "warnings": [*done.renamed, *done.chosen, *evaluation.notices],
    }
    if told := read_by(evaluation):
        values["read"] = told
    if explanation.details:
        values["details"] = explanation.details
    if results.folds is not None:
        values["folds"] = results.folds
    if official is not None:
        values["official"] = official(evaluation.measures)
    if results.intervals is not None:
        values["intervals"] = results.intervals
    console.print_json(values | compared(results))


def compared(results: ScoredFiles) -> dict[str, Any]:
    """How the first submission compares with the others, for JSON."""
    comparisons = results.comparisons
    if len(comparisons) != 1:
        return {"comparison": results.overview()} if comparisons else {}
    (one,) = comparisons.values()
    return {
        "comparison": one.table,
        "difference": comparison.summary(one),
        "verdict": comparison.sentences(results.evaluation, comparisons, results.name)[0],
        "detectable": {part: each.detectable for part, each in results.in_parts().items()},
    }
