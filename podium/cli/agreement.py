"""Measure how well the experts of an annotation project agree.

    podium agreement --metric readable essays/
    podium agreement --metric markup_consistency solution.csv --plot agreement.svg

The metric must be one that compares experts' markups.
"""

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from podium.cli.arguments import OfParameters
from podium.common.errors import AccountWarning, UsageError


@dataclass(frozen=True)
class Options(OfParameters):
    """The options of ``podium agreement``.

    Parameters
    ----------
    solution : SOLUTION
        The experts' markups: a table, a folder of files, or an export of an annotation tool.
    metric : METRIC
        A metric that compares experts: markup_consistency, readable, or a folder with your own.
    leave_out : NAME
        Leave out the markups of this expert; may be repeated.
    texts : FILE
        A table with document_id and text, with which the places and quotes of markups are compared.
    json : bool
        Print JSON instead of tables.
    plot : FILE
        Draw a histogram of each criterion into this .svg.
    """

    solution: str
    _: KW_ONLY
    metric: str
    leave_out: Sequence[str] = ()
    texts: Path | None = None
    json: bool = False
    plot: Path | None = None


def run(options: Options) -> None:
    """Compare the experts, and print tables or JSON."""
    from podium.cli import console
    from podium.common import progress
    from podium.contest import pipeline, reading, recorded
    from podium.markups import files
    from podium.scoring import evaluating

    metric, given, _ = recorded.completed(options.solution, options.metric, options.set)
    agree = metric.companion.agreement
    if agree is None:
        raise UsageError(
            f"--metric {options.metric}: expected a metric whose companion compares experts, such as "
            "markup_consistency or readable"
        )
    parameters = {**metric.companion.agreement_parameters, **given}
    with progress.shown("comparing experts") as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", AccountWarning)  # which is told before the tables
        table = reading.read_solution(metric, options.solution, parameters, options.texts)
        if options.leave_out:
            if metric.companion.leave_out is None:
                raise UsageError(f"--leave-out: {metric.path.name} compares no experts")
            table = metric.companion.leave_out(table, options.leave_out)
        whole = pipeline.prepared(metric, table, parameters, show)
    prepared = whole.prepared[evaluating.ALL]
    agreement = agree(prepared, whole.frame[whole.rows[evaluating.ALL]])
    tables, notices = agreement.tables, agreement.notices
    if options.plot:
        from podium.report import histograms

        histograms.save(agreement, options.plot)
    read = files.account_of(whole.frame)
    if options.json:
        console.print_json(tables | {"Documents": agreement.documents, "read": read, "warnings": notices})
        return
    print(read)
    console.warn(notices)
    for title, table in tables.items():
        console.print_table(title, table)
    if options.plot:
        print(f"written to {options.plot}")
