"""From a corpus to the files of a competition, in a new folder.

    podium make corpus.csv --out files
    podium make labels.json --metric trec_is --out files

    files/public/     train.csv, sample_submission.csv and, where the corpus has texts, those of the essays
    files/private/    solution.csv with Usage, perfect_submission.csv
    files/report.md   what was dropped, how large the parts are, the scores to compare with those on the site

The same seed gives the same files everywhere.  Nothing private is in public/: upload that folder as it is.
With another metric than the Unified one, the labels are its official file; all of it is the test.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from podium.cli.arguments import share
from podium.errors import UsageError

# Options that only corpora of the Unified Metric take, and their defaults.
OF_CORPORA: dict[str, Any] = {
    "essay_id": None,
    "subpopulations": "ell_status,economically_disadvantaged",
    "map": [],
    "test": 0.4,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "corpus",
        type=Path,
        help="one row per segment, as in PERSUADE or the Feedback Prize; or another metric's official labels",
    )
    parser.add_argument(
        "--metric", default="unified", metavar="NAME_OR_FILE", help="whose files to make (default: unified)"
    )
    parser.add_argument(
        "--sample",
        type=Path,
        metavar="FILE",
        help="another metric's sample submission, if it makes none itself",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where to write")
    parser.add_argument("--essay-id", metavar="COLUMN", help="names the essays")
    parser.add_argument(
        "--subpopulations",
        metavar="NAMES",
        help=f"columns whose values are scored apart (default: {OF_CORPORA['subpopulations']})",
    )
    parser.add_argument(
        "--map",
        action="append",
        metavar="THEIRS=OURS",
        help="what a discourse type or effectiveness of another spelling means; may be repeated",
    )
    parser.add_argument(
        "--test", type=share, metavar="SHARE", help="of the essays, to be scored (default: 0.4)"
    )
    parser.add_argument(
        "--public", type=share, default=0.3, metavar="SHARE", help="of those, Public (default: 0.3)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the drawing (default: 0)")


def run(options: argparse.Namespace) -> None:
    from podium import hosted
    from podium.hosting import corpus, folders, official

    metric = hosted.load(options.metric)
    given = {name: value for name in OF_CORPORA if (value := getattr(options, name)) is not None}
    if getattr(metric, "NAME", "") == "unified":
        if options.sample is not None:
            raise UsageError(
                "--sample is for another metric's labels: a corpus gives its own sample submission"
            )
        if options.corpus.is_dir() or options.corpus.suffix in (".json", ".jsonl"):
            raise UsageError(f"{options.corpus}: expected a table; say by --metric whose labels these are")
        chosen = OF_CORPORA | given
        attributes = [name.strip() for name in chosen["subpopulations"].split(",") if name.strip()]
        further = [*attributes, *([chosen["essay_id"]] if chosen["essay_id"] else [])]
        files = corpus.make(
            corpus.read_corpus(options.corpus, further),
            attributes,
            chosen["test"],
            options.public,
            options.seed,
            chosen["essay_id"],
            _spellings(chosen["map"]),
        )
    elif given:
        raise UsageError("--essay-id, --subpopulations, --map and --test are for corpora of the Unified Metric")
    else:
        files = official.make(metric, options.corpus, options.sample, options.public, options.seed)
    folders.write(files, options.out)
    print(files.report, end="")
    print(f"\nwritten to {options.out}")
    for warning in files.warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _spellings(assignments: list[str]) -> dict[str, str]:
    spellings = {}
    for assignment in assignments:
        theirs, equals, ours = assignment.partition("=")
        if not equals:
            raise UsageError(f"--map {assignment}: expected THEIRS=OURS")
        spellings[theirs] = ours
    return spellings
