"""Make a competition for another platform from what `podium make` made.

    podium bundle codabench files --title "Feedback on writing" --start 2027-01-15 --switch 2027-04-01 \\
        --end 2027-04-15 --out bundle

The Public part is scored from --start to --switch, the Private part from then to --end. Every public file is
checked once more: if one of them reveals the solution, nothing is written.
"""

import argparse
import itertools
from pathlib import Path

from podium.cli import arguments
from podium.errors import UsageError

PLATFORM_NAMES = ("codabench", "evalai")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium bundle``."""
    parser.add_argument("platform", choices=PLATFORM_NAMES, help="the platform that will host the competition")
    arguments.add_competition(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a new folder for the bundle")
    for name, what in (
        ("start", "it opens"),
        ("switch", "the Private phase begins (not if all rows are Public)"),
        ("end", "it closes"),
    ):
        is_needed = name != "switch"
        parser.add_argument(
            f"--{name}", type=arguments.moment, required=is_needed, metavar="DATE", help=f"when {what}, in UTC"
        )
    advanced = parser.add_argument_group("advanced")
    advanced.add_argument(
        "--per-day",
        type=arguments.positive,
        default=5,
        metavar="N",
        help="how many submissions a team may send each day of the Public phase (default: 5)",
    )
    advanced.add_argument(
        "--total",
        type=arguments.positive,
        metavar="N",
        help="how many submissions a team may send in the whole Public phase (default: the daily limit times "
        "the number of days)",
    )
    advanced.add_argument(
        "--approve-entrants",
        action="store_true",
        help="let you approve everybody who wants to take part (default: everybody may)",
    )


def run(options: argparse.Namespace) -> None:
    """Write the bundle, and tell where it is."""
    from podium import hosted
    from podium.hosting.bundles import bundle
    from podium.hosting.competition import Competition, Terms, keep_parameters

    dates = [date for date in (options.start, options.switch, options.end) if date is not None]
    if any(first >= second for first, second in itertools.pairwise(dates)):
        raise UsageError("expected --start before --switch before --end")
    competition = Competition(**arguments.competition(options, hosted.load(options.metric)))
    limits = options.per_day, options.total, options.approve_entrants
    terms = Terms(options.start, options.switch, options.end, *limits)
    for path in bundle.bundle(options.platform, competition, terms, options.out):
        size = f" ({path.stat().st_size / 1e6:.1f} MB)" if path.is_file() else ""
        print(f"written to {path}{size}")
    advice = bundle.advice(options.platform, competition)
    if advice:
        print(advice)
    kept = keep_parameters(competition)
    if kept:
        print(f"parameters: {kept}")
