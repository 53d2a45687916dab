"""Create a competition on Kaggle from what `podium make` made, step by step.

    podium publish kaggle files --metric metric.py --title "Feedback on writing" --dry-run
    podium publish kaggle files --metric metric.py --title "Feedback on writing" --launch-at 2027-01-15T12:00Z

The step “metric” says what to click and waits for it. The step “launch” needs --launch-at or --step launch.
What was sent is sent again if it has changed, or if --step asks for it. Pages are in files/kaggle/pages. Pages
that you have edited are kept, and they are sent when the command is started again. Settings of your own go into
files/kaggle/host.json. If a public file reveals the solution, nothing is sent.
"""

import argparse
import re

from podium.cli import arguments
from podium.errors import UsageError

STEP_NAMES = ("create", "pages", "data", "solution", "settings", "metric", "sandbox", "benchmark", "launch")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium publish``."""
    parser.add_argument("site", choices=["kaggle"], help="the site that will host the competition")
    arguments.add_competition(parser)
    for name, what in (
        ("deadline", "closes, in UTC, such as 2027-04-15T23:59Z"),
        ("launch-at", "opens, in UTC (default: not yet)"),
    ):
        parser.add_argument(f"--{name}", type=arguments.moment, metavar="DATE", help=f"when it {what}")
    parser.add_argument(
        "--step",
        action="append",
        choices=STEP_NAMES,
        help="take only this step; may be repeated (default: all steps that are due)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, and send nothing")
    advanced = parser.add_argument_group("advanced")
    advanced.add_argument("--slug", help="the competition's address on the site (default: made from the title)")
    advanced.add_argument(
        "--template",
        type=int,
        metavar="ID",
        help="the number of a competition on the site whose settings and metric are copied (default: none)",
    )
    advanced.add_argument(
        "--no-benchmark",
        action="store_true",
        help="do not publish the score of the sample submission as a benchmark on the board",
    )
    advanced.add_argument(
        "--force",
        action="store_true",
        help="open the competition although something has changed since it was tried on the site",
    )
    advanced.add_argument(
        "--wait",
        type=float,
        default=60.0,
        metavar="MINUTES",
        help="how long to wait for what you have to do on the site, and for its scores (default: 60)",
    )


def run(options: argparse.Namespace) -> None:
    """Take the steps that are due."""
    from podium import hosted
    from podium.hosting.kaggle import publish

    if options.deadline and options.launch_at and options.deadline <= options.launch_at:
        raise UsageError("expected --launch-at before --deadline")
    slug = options.slug or re.sub("[^a-z0-9]+", "-", options.title.lower()).strip("-")
    if not slug:
        raise UsageError(f"the title {options.title!r} has no Latin letters to make an address of: give --slug")
    plan = publish.Publication(
        **arguments.competition(options, hosted.load(options.metric)),
        slug=slug,
        template=options.template,
        deadline=options.deadline,
        launch_at=options.launch_at,
        wait=options.wait * 60,
    )
    left_out = {"launch": not options.launch_at, "benchmark": options.no_benchmark}
    steps = options.step or [name for name in STEP_NAMES if not left_out.get(name)]
    if options.dry_run:
        print("\n".join(publish.commands(plan, steps)))
        return
    for line in publish.publish(plan, steps, bool(options.step), options.force):
        print(line, flush=True)
