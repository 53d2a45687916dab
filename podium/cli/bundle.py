"""Make a competition for another platform from what `podium make` made.

    podium bundle codabench files --title "Feedback on writing" --start 2027-01-15 --switch 2027-04-01 \\
        --end 2027-04-15 --out bundle

The Public part is scored from --start to --switch, the Private part from there to --end.  What each platform
gives is what `podium score` gives.
"""

import argparse
from pathlib import Path

from podium.cli.arguments import add_metric, moment
from podium.errors import UsageError

PLATFORM_NAMES = ("codabench", "evalai", "huggingface")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("platform", choices=PLATFORM_NAMES, help="where to")
    parser.add_argument("files", type=Path, help="the folder that podium make wrote")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where to write")
    parser.add_argument("--title", required=True, help="of the competition")
    parser.add_argument("--subtitle", help="one line under the title (default: the metric's first line)")
    for name, what in (("start", "it opens"), ("switch", "the Private phase begins"), ("end", "it closes")):
        parser.add_argument(
            f"--{name}", type=moment, required=True, metavar="DATE", help=f"when {what}, in UTC"
        )
    add_metric(parser)


def run(options: argparse.Namespace) -> None:
    from podium import hosted
    from podium.hosting import bundle
    from podium.hosting.folders import row_id
    from podium.hosting.pages import summary

    if not options.start < options.switch < options.end:
        raise UsageError("expected --start before --switch before --end")
    metric = hosted.load(options.metric)
    arguments = {"row_id_column_name": row_id(options.files)}
    arguments |= hosted.parse_parameters(metric, options.set)
    competition = bundle.Competition(
        options.files,
        metric,
        arguments,
        options.title,
        options.subtitle or summary(metric) or options.title,
        options.start,
        options.switch,
        options.end,
    )
    for path in bundle.bundle(options.platform, competition, options.out):
        print(f"written to {path}")
