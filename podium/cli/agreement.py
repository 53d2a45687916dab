"""How well the experts of an annotation project agree.

podium agreement --metric readable essays/
podium agreement --metric markup_consistency solution.csv --plot agreement.png
"""

import argparse
from pathlib import Path
from typing import Any

from podium.cli import arguments
from podium.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("solution", help="the experts' markups: a table, a folder of files, an export")
    arguments.add_metric(parser)
    parser.add_argument("--gamma", action="store_true", help="γ too, an agreement corrected for chance")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the criteria to a .png, .svg or .pdf")


def run(options: argparse.Namespace) -> None:
    import pandas as pd

    from podium import companions, hosted, progress, scoring
    from podium.cli import console

    metric = hosted.load(options.metric)
    companion: Any = companions.of(metric)
    if not hasattr(companion, "agreement"):
        raise UsageError(f"--metric {options.metric}: it knows no experts; markup_consistency and readable do")
    parameters = hosted.parse_parameters(metric, options.set)
    solution = scoring.read_solution(metric, options.solution, parameters)
    with progress.shown("comparing experts") as show:
        vars(metric)["progress"] = show
        whole = scoring.prepare(metric, solution, parameters)
    prepared = whole.prepared[scoring.ALL]
    agreement = companion.agreement(metric, prepared, whole.frame[whole.rows[scoring.ALL]])
    tables, documents = agreement.tables, agreement.documents
    if options.gamma:
        documents = documents.merge(companion.gamma(prepared), on="document_id")
        values = documents["gamma"].dropna()
        tables["γ"] = pd.DataFrame({"documents": [len(values)], "gamma": [values.mean()]})
    if options.plot:
        from podium.report import histograms

        histograms.save(agreement, options.plot)
    if options.json:
        console.print_json(tables | {"Documents": documents, "warnings": agreement.notices})
        return
    console.warn(agreement.notices)
    for title, table in tables.items():
        console.print_table(title, table)
    if options.plot:
        print(f"written to {options.plot}")
